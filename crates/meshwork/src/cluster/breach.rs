//! What broke its contract during a run, and how a run notices.

use std::borrow::Cow;

use super::{Cluster, JobId, Ticket};
use crate::job::Time;
use crate::machine::Placement;
use crate::offer::{ManagedSite, Proposal};
use crate::registry::Origin;

/// A broken contract: the run ends with it.
#[derive(Clone, Debug)]
pub(crate) struct Breach {
    pub(crate) by: By,
    pub(crate) job: Option<JobId>,
    pub(crate) at: Time,
    /// One sentence without a full stop.
    pub(crate) what: String,
}

/// Who broke it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum By {
    Allocator(Origin),
    Scheduler,
    Selector,
    Sizing,
    Network,
    Workload,
    /// Nobody from outside.
    Ourselves,
}

impl Cluster<'_> {
    /// What broke its contract in this pass, if anything did.
    #[inline]
    pub(crate) fn take_breach(&mut self) -> Option<Box<Breach>> {
        if let Some(ticket) = self.queue.stale_ticket() {
            self.note_stale(ticket);
        }
        self.breach.take()
    }

    #[cold]
    fn note_stale(&mut self, ticket: Ticket) {
        let what = "it uses the ticket of a job that does not wait: a ticket is good until its job starts or is \
                    turned away, and a job that waits again has another";
        self.note(By::Scheduler, Some(ticket), what.to_owned());
    }

    /// Notes what broke its contract; the first counts.
    #[cold]
    pub(super) fn note(&mut self, by: By, ticket: Option<Ticket>, what: String) {
        let job = ticket.map(|ticket| ticket.id);
        self.breach.get_or_insert_with(|| Box::new(Breach { by, job, at: self.now, what }));
    }

    /// Who proposed what cannot be: the site's allocator, unless that would say otherwise and is one of ours.
    #[cold]
    pub(super) fn proposer(&self, ticket: Ticket, proposal: &Proposal) -> By {
        let sites = self.facility.sites();
        let Some(site) = sites.get(proposal.site) else { return By::Selector };
        let origin = site.origin();
        if sites.len() > 1 && origin.is_standard {
            let job = self.queue.job(ticket);
            let own = self.facility.fork().propose_at(proposal.site, job, self.now);
            if own.as_ref() != Some(proposal) {
                return By::Selector;
            }
        }
        By::Allocator(origin)
    }

    /// What is wrong with the size or the form of a proposal, as far as the job and the entry of the allocator settle them.
    #[inline]
    pub(super) fn unlike_asked(
        &self,
        ticket: Ticket,
        proposal: &Proposal,
        is_promised: bool,
    ) -> Option<String> {
        let placement = &proposal.placement;
        let Some(managed) = self.facility.sites().get(proposal.site) else {
            return Some(format!("it names the site {}, which there is not", proposal.site));
        };
        if managed.is_counted() {
            return None;
        }
        if !self.facility.sizes_are_fixed() {
            // The sizing has chosen among several sizes: of those that it may choose the least is known.
            let fewest = self.queue.glance(ticket).fewest;
            let is_less = u64::from(placement.len()) < fewest;
            return is_less
                .then(|| unlike(managed, &format!("at least {fewest} nodes"), placement));
        }
        let form = match self.queue.form(ticket) {
            Some(form) => Cow::Borrowed(self.forms.request(form)),
            None => managed.in_form(&self.queue.job(ticket).request)?,
        };
        let is_as_asked = managed.gives_what_is_asked(&form, placement, is_promised);
        (!is_as_asked).then(|| unlike(managed, &form.to_string(), placement))
    }

    /// Who leaves a job waiting though nothing is in its way.
    #[cold]
    fn idler(&self, ticket: Ticket) -> (By, &'static str) {
        let job = self.queue.job(ticket);
        let sites = self.facility.sites();
        if (0..sites.len()).all(|site| self.facility.sizes(site, job, self.now).is_empty()) {
            return (By::Sizing, "gives it no size");
        }
        let mut ahead = self.facility.fork();
        if ahead.lacks(job, self.now).is_some() {
            let origins = || sites.iter().map(ManagedSite::origin);
            let origin = origins().find(|origin| !origin.is_standard).or(origins().next());
            let by = origin.map_or(By::Ourselves, By::Allocator);
            return (by, "finds no room for it");
        }
        let around = self.queue.around(ticket, self.now);
        match ahead.propose(job, self.now, &around) {
            None => (By::Selector, "takes no site for it"),
            Some(_) => (By::Scheduler, "does not start it"),
        }
    }

    /// Who leaves jobs waiting for ever on a machine of which all is free.
    #[cold]
    pub(crate) fn left_waiting(&self) -> Option<Box<Breach>> {
        let ticket = self.head()?;
        let (by, how) = self.idler(ticket);
        let what = format!(
            "it {how}, though the machine is idle; {} jobs wait, and none will ever start",
            self.waiting_jobs()
        );
        Some(Box::new(Breach { by, job: Some(ticket.id), at: self.now, what }))
    }

    /// Whether nothing is held while jobs wait; and whether nothing ever was.
    #[inline]
    pub(crate) fn is_idle(&self, ever: bool) -> bool {
        self.queue.len() > 0 && self.running.is_empty() && (!ever || self.changes == 0)
    }
}

fn unlike(managed: &ManagedSite, asked: &str, placement: &Placement) -> String {
    let (grid, count) = (managed.site().grid(), placement.len());
    format!("it gives {count} nodes ({}) where {asked} is asked for", placement.text(grid))
}
