//! Broken contracts of components (allocator, scheduler and others), found during a run.

use std::borrow::Cow;

use super::{Cluster, JobId, Ticket};
use crate::job::Time;
use crate::machine::Placement;
use crate::offer::{ManagedSite, Proposal};
use crate::registry::Origin;

/// Breach of contract by a component, which ends the run.
#[derive(Clone, Debug)]
pub(crate) struct Breach {
    pub(crate) by: Culprit,
    pub(crate) job: Option<JobId>,
    pub(crate) at: Time,
    pub(crate) what: String,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Culprit {
    Allocator(Origin),
    Scheduler,
    Selector,
    Sizing,
    Network,
    Workload,
    /// Meshwork itself. A contract that it breaks is a bug.
    Meshwork,
}

impl Cluster<'_> {
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
        self.note(Culprit::Scheduler, Some(ticket), what.to_owned());
    }

    #[cold]
    pub(super) fn note(&mut self, by: Culprit, ticket: Option<Ticket>, what: String) {
        let job = ticket.map(|ticket| ticket.id);
        self.breach.get_or_insert_with(|| Box::new(Breach { by, job, at: self.now, what }));
    }

    /// The component to blame for a proposal that breaks a contract.
    ///
    /// If the proposed site does not exist, the selector is to blame. Otherwise it is the allocator
    /// of this site, with one exception. On several sites, a built-in allocator is asked again. If
    /// it now proposes something else, the selector is to blame.
    #[cold]
    pub(super) fn proposer(&self, ticket: Ticket, proposal: &Proposal) -> Culprit {
        let sites = self.facility.sites();
        let Some(site) = sites.get(proposal.site) else { return Culprit::Selector };
        let origin = site.origin();
        if sites.len() > 1 && origin.is_standard {
            let job = self.queue.job(ticket);
            let own = self.facility.fork().propose_at(proposal.site, job, self.now);
            if own.as_ref() != Some(proposal) {
                return Culprit::Selector;
            }
        }
        Culprit::Allocator(origin)
    }

    /// Describes how a proposal deviates from the job's request; `None` if it does not deviate.
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
            // The sizing chose among several sizes, of which only the smallest is known here.
            let fewest = self.queue.scan_key(ticket).fewest;
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

    /// The component to blame for a startable job that keeps waiting, and what the component does.
    /// The second is a phrase such as "gives it no size".
    #[cold]
    fn idler(&self, ticket: Ticket) -> (Culprit, &'static str) {
        let job = self.queue.job(ticket);
        let sites = self.facility.sites();
        if (0..sites.len()).all(|site| self.facility.sizes(site, job, self.now).is_empty()) {
            return (Culprit::Sizing, "gives it no size");
        }
        let mut ahead = self.facility.fork();
        if ahead.lacks(job, self.now).is_some() {
            let origins = || sites.iter().map(ManagedSite::origin);
            let origin = origins().find(|origin| !origin.is_standard).or(origins().next());
            let by = origin.map_or(Culprit::Meshwork, Culprit::Allocator);
            return (by, "finds no room for it");
        }
        let around = self.queue.around(ticket, self.now);
        match ahead.propose(job, self.now, &around) {
            None => (Culprit::Selector, "takes no site for it"),
            Some(_) => (Culprit::Scheduler, "does not start it"),
        }
    }

    /// Breach of contract: jobs wait for ever although the machine is idle. `None` if no job waits.
    ///
    /// The component to blame is the one that keeps the first waiting job from starting.
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

    /// Whether jobs wait on an idle machine: no job runs, and no node out of service is expected
    /// back.
    ///
    /// If `ever` is set, the result is true only if also no node was ever claimed or released.
    #[inline]
    pub(crate) fn is_idle(&self, ever: bool) -> bool {
        self.queue.len() > 0
            && self.running.is_empty()
            && self.out.is_empty()
            && (!ever || self.changes == 0)
    }
}

fn unlike(managed: &ManagedSite, asked: &str, placement: &Placement) -> String {
    let (grid, count) = (managed.site().grid(), placement.len());
    format!("it gives {count} nodes ({}) where {asked} is asked for", placement.text(grid))
}
