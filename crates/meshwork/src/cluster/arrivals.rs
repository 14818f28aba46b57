//! Arrival of jobs in the queue.

use super::Cluster;
use super::fits::fits_on;
use super::forms::Form;
use crate::form::Finds;
use crate::job::{Job, Request};
use crate::observe::{Event, JobId};

impl Cluster<'_> {
    /// Puts an arriving job into the queue. If the job can never start, refuses it and returns
    /// `false`.
    #[inline(always)]
    pub(crate) fn arrive(&mut self, mut job: Job) -> bool {
        let id = JobId(self.arrived);
        self.arrived += 1;
        let Some((fewest, form)) = self.admit(&job) else {
            self.observer.observe(self.now, &Event::Refused(id, &job));
            return false;
        };
        self.observer.observe(self.now, &Event::Arrived(id, &job));
        self.facility.arrived(&job);
        self.facility.counts.waiting += 1;
        if let Some(service) = &mut self.service {
            job = service.interruptions.arrives(id, job);
        }
        let ticket = self.queue.push(id, job, fewest, form);
        self.arrivals.push(ticket);
        true
    }

    /// Reason why no site ever holds a request; `None` if it is unknown for some site.
    pub(crate) fn never(&self, request: &Request) -> Option<String> {
        let reasons = self.facility.sites().iter().map(|site| site.never(request));
        reasons.collect::<Option<Vec<String>>>()?.into_iter().next()
    }

    /// Minimum number of nodes and form of an arriving job; `None` if the job can never start. The
    /// form is the size and shape in which its request is put to the allocator.
    #[inline(always)]
    fn admit(&mut self, job: &Job) -> Option<(u64, Option<Form>)> {
        let (fewest, form) = self.need(job)?;
        let is_let_in = self.draws.of(fewest, 0) <= self.most_held
            && (self.gate.is_none() || self.is_admitted(job));
        if !is_let_in {
            return None;
        }
        let fits = match form.and_then(|_| self.forms.known(&job.request)?.fits) {
            Some(fits) => fits,
            None => self.fits_empty(job, form),
        };
        fits.then_some((fewest, form))
    }

    /// Minimum number of nodes of a job, and the form in which its request is put to the allocator.
    ///
    /// The form is `None` on several sites, or if the size may differ from the requested one. The
    /// whole result is `None` if no site can hold the job.
    #[inline(always)]
    pub(super) fn need(&mut self, job: &Job) -> Option<(u64, Option<Form>)> {
        if self.facility.only_fixed_site().is_none() {
            return Some((self.facility.fewest(job)?, None));
        }
        if let Some(known) = self.forms.known(&job.request) {
            return Some((known.fewest, Some(known.form)));
        }
        let (fewest, form) = self.facility.only_form(&job.request)?;
        Some((fewest, Some(self.forms.learn(&job.request, fewest, form))))
    }

    /// Whether some allocator would place the job on the empty machine. The result is cached. The
    /// job must already be known to fit some site by its size.
    #[inline(never)]
    fn fits_empty(&mut self, job: &Job, form: Option<Form>) -> bool {
        let mut sites = self.facility.sites().iter();
        let is_any = sites.all(|site| site.finds() == Finds::AnyNodes);
        if is_any && form.is_none() {
            return true;
        }
        if form.is_some() {
            let fits =
                is_any || fits_on(&mut self.empty, job, self.now, (self.draws, self.most_held));
            self.forms.learn_fit(&job.request, fits);
            return fits;
        }
        if let Some(fits) = self.fits.known(&job.request) {
            return fits;
        }
        let fits = fits_on(&mut self.empty, job, self.now, (self.draws, self.most_held));
        self.fits.insert(&job.request, fits);
        fits
    }
}
