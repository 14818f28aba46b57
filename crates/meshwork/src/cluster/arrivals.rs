//! How jobs join the queue.

use super::Cluster;
use super::fits::fits_on;
use super::forms::Form;
use crate::form::Finds;
use crate::job::Job;
use crate::observe::{Event, JobId, Running};

impl Cluster<'_> {
    /// A job joins the queue, or is refused, and `false`, if it would not fit the empty machine.
    #[inline(always)]
    pub(crate) fn arrive(&mut self, mut room: Box<Running>) -> bool {
        let id = JobId(self.arrived);
        self.arrived += 1;
        room.id = id;
        let Some((fewest, form)) = self.let_in(&room.job) else {
            self.observer.observe(self.now, &Event::Refused(id, &room.job));
            self.spare.push(room);
            return false;
        };
        self.observer.observe(self.now, &Event::Arrived(id, &room.job));
        self.facility.arrived(&room.job);
        self.facility.crowd.waiting += 1;
        if let Some(service) = &mut self.service {
            room.job = service.careers.arrives(id, room.job);
        }
        let ticket = self.queue.push(room, fewest, form);
        self.arrivals.push(ticket);
        true
    }

    /// Where a job stands from now on. What is said there of which it is holds once it has arrived, and of how it runs once it
    /// does.
    #[inline(always)]
    pub(crate) fn room_for(&mut self, job: Job) -> Box<Running> {
        match self.spare.pop() {
            Some(mut room) => {
                let Job { number, arrival, request, runtime, estimate, owner, terms } = job;
                (room.job.number, room.job.arrival, room.job.request) = (number, arrival, request);
                (room.job.runtime, room.job.estimate) = (runtime, estimate);
                (room.job.owner, room.job.terms) = (owner, terms);
                (room.messages, room.wear) = (None, None);
                room
            }
            None => Box::new(Running::waiting(JobId(self.arrived), job)),
        }
    }

    /// What a job that is let in and fits the empty machine needs at its smallest, and its form where requests have one.
    #[inline(always)]
    fn let_in(&mut self, job: &Job) -> Option<(u64, Option<Form>)> {
        let (fewest, form) = self.need(job)?;
        let is_let_in = fewest <= self.most_held && (self.gate.is_none() || self.is_admitted(job));
        if !is_let_in {
            return None;
        }
        let fits = match form.and_then(|_| self.forms.known(&job.request)?.fits) {
            Some(fits) => fits,
            None => self.fits_empty(job, form),
        };
        fits.then_some((fewest, form))
    }

    /// The fewest processors with which a job could ever be started, and its form where requests have one; `None` if no
    /// site can hold the job.
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

    /// Whether any site would take a job of which some site can hold the form, if the machine were
    /// empty: the allocators' answer, asked once for each request.
    #[inline(never)]
    fn fits_empty(&mut self, job: &Job, form: Option<Form>) -> bool {
        let mut sites = self.facility.sites().iter();
        let is_any = sites.all(|site| site.finds() == Finds::AnyNodes);
        if is_any && form.is_none() {
            return true;
        }
        if form.is_some() {
            let fits = is_any || fits_on(&mut self.empty, job, self.now, self.most_held);
            self.forms.learn_fit(&job.request, fits);
            return fits;
        }
        if let Some(fits) = self.fits.known(&job.request) {
            return fits;
        }
        let fits = fits_on(&mut self.empty, job, self.now, self.most_held);
        self.fits.insert(&job.request, fits);
        fits
    }
}
