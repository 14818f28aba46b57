//! Starting of waiting jobs. Each attempt tells the scheduler at once whether the job started.

use super::ends::End;
use super::forms::Form;
use super::queue::Ticket;
use super::reservation::{BesideParts, Guard, Hold, Reservation};
use super::{Cluster, Culprit};
use crate::alloc::{Claim, Holder};
use crate::facility::Facility;
use crate::job::{Request, Time};
use crate::machine::{ClaimError, Placement, Site};
use crate::network::{RunKey, Work};
use crate::observe::{Event, Running};
use crate::offer::Proposal;

/// Copy of the machine in which nodes that are kept for other jobs are busy. It is cached, so that
/// several requests to allocators can use it.
pub(super) struct Without {
    kept: Vec<(usize, Placement)>,
    /// Number of a reservation of parts of nodes. The copy applies the limits of this reservation.
    /// `None` if there is none.
    beside: Option<u64>,
    at: Time,
    changes: u64,
    releases: u64,
    facility: Facility,
}

impl Without {
    fn keeps(&self, kept: Kept<'_>) -> bool {
        self.beside == kept.beside.map(|beside| beside.number)
            && self
                .kept
                .iter()
                .map(|(on, placement)| (*on, placement))
                .eq(kept.nodes.iter().copied())
    }
}

/// Resources that are kept for other jobs: placements, and parts of nodes for a reservation.
///
/// Each placement comes with the index of its site.
#[derive(Clone, Copy)]
pub(super) struct Kept<'k> {
    pub(super) nodes: &'k [(usize, &'k Placement)],
    pub(super) beside: Option<&'k BesideParts>,
}

impl<'k> Kept<'k> {
    fn of(nodes: &'k [(usize, &'k Placement)]) -> Kept<'k> {
        Kept { nodes, beside: None }
    }

    /// Marks the resources that are kept for other jobs on the site with index `on` as busy.
    fn leave_on(self, on: usize, site: &mut Site) {
        if let Some(beside) = self.beside.filter(|beside| beside.site == on) {
            site.limit(&beside.limits);
        }
        for (_, kept) in self.nodes.iter().filter(|(site, _)| *site == on) {
            site.take_what_is_free_of(kept);
        }
    }

    fn owned_nodes(self) -> Vec<(usize, Placement)> {
        self.nodes.iter().map(|&(on, kept)| (on, kept.clone())).collect()
    }
}

/// Number of cores that a job counts as having requested, on a machine where jobs share nodes. If
/// the job has nodes of its own, these are all cores that it holds.
fn asked_of_parts(request: &Request, held: u32) -> u64 {
    match request {
        Request::Pieces(pieces) if !pieces.exclusive => pieces.cores(),
        _ => u64::from(held),
    }
}

/// Options for starting a waiting job. By default, selector, sizing and allocator choose the nodes.
pub struct StartOptions<'o> {
    /// The nodes on which the job is to start.
    pub place: Place<'o>,
    /// A guard: the reservation of another job, which the started job must not delay.
    pub beside: Option<&'o mut Guard>,
    /// Placements whose nodes must not be used, even if they are free. Each comes with the index of
    /// its site.
    pub clear_of: &'o [(usize, &'o Placement)],
    /// Rate of work of the job. It is 1 unless the scheduler resizes jobs. At rate 1, the job takes
    /// its run time.
    pub rate: f64,
}

/// The nodes on which a job is to start.
#[derive(Clone, Copy, Debug, Default)]
pub enum Place<'o> {
    /// Nodes that selector, sizing and allocator choose.
    #[default]
    Sought,
    /// The nodes of the job's own reservation. If they are not free, the job does not start.
    Promised(&'o Reservation),
    /// Nodes of one site, given by the site's index and the placement. If the nodes are not free,
    /// the job does not start.
    ///
    /// No component checks whether the nodes suit the job. This is for schedulers that partition a
    /// machine.
    These(usize, &'o Placement),
    /// The nodes of a job that has just ended. The value is the index of this job in
    /// [`departures`](Cluster::departures).
    ///
    /// The nodes must be free. The ended job and the job to be started must have equal requests to
    /// the allocator, and equal `stretch`.
    LeftBy(usize),
}

impl Default for StartOptions<'_> {
    fn default() -> Self {
        StartOptions { place: Place::Sought, beside: None, clear_of: &[], rate: 1.0 }
    }
}

impl<'o> StartOptions<'o> {
    /// Options for a start on the given nodes. If they are not free, the job does not start.
    #[must_use]
    pub fn at(place: Place<'o>) -> StartOptions<'o> {
        StartOptions { place, ..StartOptions::default() }
    }

    /// Options to start a job on any nodes, if it does not delay the reservation of `guard`.
    #[must_use]
    pub fn beside(guard: &'o mut Guard) -> StartOptions<'o> {
        StartOptions { beside: Some(guard), ..StartOptions::default() }
    }

    /// Options to start a job on any nodes outside the placements `kept`. Each placement comes with
    /// the index of its site.
    #[must_use]
    pub fn clear_of(kept: &'o [(usize, &'o Placement)]) -> StartOptions<'o> {
        StartOptions { clear_of: kept, ..StartOptions::default() }
    }
}

impl Cluster<'_> {
    /// Starts a waiting job now if some placement satisfies the options. Returns whether it
    /// started.
    #[inline]
    pub fn start(&mut self, ticket: Ticket, options: StartOptions<'_>) -> bool {
        // Most attempts to start a job are ruled out here, at no further cost.
        let is_sought = matches!(options.place, Place::Sought);
        let too_many = self.queue.scan_key(ticket).fewest > self.most_free;
        !(is_sought && too_many) && self.start_if_placed(ticket, options)
    }

    fn start_if_placed(&mut self, ticket: Ticket, options: StartOptions<'_>) -> bool {
        let StartOptions { place, beside, clear_of, rate } = options;
        // Nearly all jobs start without conditions on the nodes.
        if matches!(place, Place::Sought) && beside.is_none() && clear_of.is_empty() {
            let mut found = self.ask(ticket, &[]);
            let Some(proposal) = &mut found else { return false };
            if self.is_capped() && self.is_too_much(proposal, &[]) {
                return false;
            }
            return self.begin(ticket, proposal, rate, Place::Sought);
        }
        let mut found = match place {
            Place::Sought => self.sought(ticket, clear_of, beside.as_deref()),
            Place::Promised(promised) => self.promised(promised),
            Place::These(site, placement) => self.these(site, placement),
            Place::LeftBy(departure) => self.left_by(departure, ticket),
        };
        // The proposal is large and slow to move, so it is passed by reference.
        let Some(proposal) = &mut found else { return false };
        if self.is_capped() && self.is_too_much(proposal, clear_of) {
            return false;
        }
        let named = !matches!(place, Place::Sought);
        if named && self.runs_into_closure(ticket, proposal) {
            return false;
        }
        if named && !self.is_left_beside(proposal, Kept::of(clear_of)) {
            return false;
        }
        if let Some(guard) = beside
            && !self.is_in_time(ticket, proposal, guard)
        {
            let draw = self.draw_of(proposal.site, &proposal.placement);
            if draw > guard.headroom {
                return false;
            }
            match &guard.reservation.hold {
                Hold::Count(_) => {
                    let held = u64::from(proposal.placement.len());
                    if held > guard.extra_nodes {
                        return false;
                    }
                    guard.extra_nodes -= held;
                }
                Hold::Nodes(_) if guard.beside.is_some() => {
                    // Under a power cap, jobs on other sites come here too.
                    let here = |beside: &&mut Box<BesideParts>| beside.site == proposal.site;
                    if let Some(beside) = guard.beside.as_mut().filter(here) {
                        beside.take(&proposal.placement);
                    }
                }
                Hold::Nodes(kept) => {
                    if named && self.meets(proposal, (guard.reservation.site, kept)) {
                        return false;
                    }
                }
            }
            guard.take_headroom(draw);
        }
        self.begin(ticket, proposal, rate, place)
    }

    fn sought(
        &mut self,
        ticket: Ticket,
        clear_of: &[(usize, &Placement)],
        guard: Option<&Guard>,
    ) -> Option<Proposal> {
        let key = self.queue.scan_key(ticket);
        if guard.is_some_and(|guard| !self.may_start_beside(key, guard)) {
            return None;
        }
        if let Some(guard) = guard
            && let Some(beside) = &guard.beside
            && self.queue.form(ticket).is_some()
        {
            if self.would_end(key) <= guard.reservation.at {
                return self.ask(ticket, clear_of);
            }
            return self.ask_in_service(ticket, Kept { nodes: clear_of, beside: Some(beside) });
        }
        // If an allocator that misses no block fails without kept nodes, it also fails with them,
        // so that one request is enough.
        if let Some(guard) = guard
            && let Hold::Nodes(kept) = &guard.reservation.hold
            && self.misses_no_block()
            && clear_of.is_empty()
        {
            if self.would_end(key) <= guard.reservation.at {
                return self.ask(ticket, &[]);
            }
            return self.ask(ticket, &[(guard.reservation.site, kept)]);
        }
        let found = self.ask(ticket, clear_of);
        if let Some(guard) = guard
            && let Hold::Nodes(kept) = &guard.reservation.hold
            && found.as_ref().is_some_and(|proposal| !self.is_in_time(ticket, proposal, guard))
        {
            if guard.beside.is_some() {
                let kept = Kept { nodes: clear_of, beside: guard.beside.as_deref() };
                return self.ask_in_service(ticket, kept);
            }
            let promised = std::iter::once((guard.reservation.site, kept));
            let kept: Vec<_> = clear_of.iter().copied().chain(promised).collect();
            return self.ask(ticket, &kept);
        }
        found
    }

    /// Proposes a placement, outside the placements `kept`, for a waiting job.
    ///
    /// The placement also avoids nodes that close before the job would end.
    #[inline(always)]
    fn ask(&mut self, ticket: Ticket, kept: &[(usize, &Placement)]) -> Option<Proposal> {
        if self.service.is_none() && self.gate.is_none() {
            return self.ask_clear_of(ticket, Kept::of(kept));
        }
        self.ask_in_service(ticket, Kept::of(kept))
    }

    /// Proposes a start for a job in runs with outages, access rules or reserved parts of nodes.
    #[inline(never)]
    fn ask_in_service(&mut self, ticket: Ticket, kept: Kept<'_>) -> Option<Proposal> {
        if let Some(its) = self.suspended(ticket) {
            let proposal = its.proposal();
            let is_free = self.site(its.site).has_free(&proposal.placement);
            let is_open = is_free && !self.runs_into_closure(ticket, &proposal);
            return (is_open && self.is_left_beside(&proposal, kept)).then_some(proposal);
        }
        let outside = self.outside_of(ticket);
        let outside = outside.iter().map(|(site, placement)| (*site, placement));
        let nodes: Vec<(usize, &Placement)> = kept.nodes.iter().copied().chain(outside).collect();
        let kept = Kept { nodes: &nodes, ..kept };
        let proposal = self.ask_clear_of(ticket, kept)?;
        self.clear_of_closures(ticket, kept, proposal)
    }

    /// Proposes a placement for a waiting job, outside of the resources kept for other jobs.
    #[inline(always)]
    pub(super) fn ask_clear_of(&mut self, ticket: Ticket, kept: Kept<'_>) -> Option<Proposal> {
        if kept.beside.is_some() || !kept.nodes.is_empty() {
            return match self.queue.form(ticket) {
                Some(form) if self.facility.shares_nodes() => self.ask_for_parts(form, kept),
                _ => self.ask_without(ticket, kept),
            };
        }
        match self.queue.form(ticket) {
            Some(form) => self.facility.propose_form(self.forms.request(form), self.now),
            None => {
                let around = self.queue.around(ticket, self.now);
                self.facility.propose(self.queue.job(ticket), self.now, &around)
            }
        }
    }

    fn ask_for_parts(&mut self, form: Form, kept: Kept<'_>) -> Option<Proposal> {
        let (form, now) = (self.forms.request(form), self.now);
        let found = self.facility.in_trial(0, |site| {
            kept.leave_on(0, site.site_mut());
            site.choose_in_trial(form, now, true)
        });
        let Some(placement) = found else {
            if let Some(beside) = kept.beside.filter(|_| kept.nodes.is_empty()) {
                let stamp = (beside.number, self.releases);
                if (self.denied_beside.0, self.denied_beside.1) != stamp {
                    self.denied_beside = (stamp.0, stamp.1, Vec::new());
                }
                self.denied_beside.2.push(form.clone());
            }
            return None;
        };
        let stretch = 1.0 / self.facility.sites()[0].site().speed();
        Some(Proposal { site: 0, placement, stretch })
    }

    /// Whether a proposed placement leaves free everything that `kept` withholds for other jobs.
    fn is_left_beside(&mut self, proposal: &Proposal, kept: Kept<'_>) -> bool {
        if !self.facility.shares_nodes() {
            return !kept.nodes.iter().any(|&kept| self.meets(proposal, kept));
        }
        self.facility.in_trial(proposal.site, |site| {
            kept.leave_on(proposal.site, site.site_mut());
            site.site().has_free(&proposal.placement)
        })
    }

    #[inline(never)]
    fn ask_without(&mut self, ticket: Ticket, kept: Kept<'_>) -> Option<Proposal> {
        if let Err(error) = self.take_without(kept) {
            self.without = None;
            self.note(Culprit::Meshwork, Some(ticket), error.to_string());
            return None;
        }
        let there = &mut self.without.as_mut()?.facility;
        // Random draws on the fork advance the original too; otherwise the next request would
        // repeat them.
        there.sync_streams_with(&self.facility);
        let proposal = match self.queue.form(ticket) {
            Some(form) => there.propose_form(self.forms.request(form), self.now),
            None => {
                let around = self.queue.around(ticket, self.now);
                there.propose(self.queue.job(ticket), self.now, &around)
            }
        };
        self.facility.sync_streams_with(there);
        proposal
    }

    /// Updates the cached copy of the machine in which the resources kept for other jobs are busy.
    fn take_without(&mut self, kept: Kept<'_>) -> Result<(), ClaimError> {
        let beside = kept.beside.map(|beside| beside.number);
        let keeps = self.without.as_ref().is_some_and(|last| last.keeps(kept));
        let same = keeps && self.facility.sizes_are_fixed();
        let stamp = (self.now, self.changes, self.releases);
        let without = match &mut self.without {
            // At another instant the machine is forked again, because an allocator may depend on
            // how long blocks have been held.
            Some(last) if (last.at, last.changes) == (self.now, self.changes) && same => {
                return Ok(());
            }
            Some(last) => {
                let still_true = last.releases == self.releases && same;
                // If the allocator depends only on the set of free nodes, only that set is copied.
                if self.facility.only_plain_site().is_some() {
                    last.facility.become_like(&self.facility, still_true);
                } else {
                    let mut facility = self.facility.fork();
                    facility.learn_from(&mut last.facility, still_true);
                    last.facility = facility;
                }
                if !keeps {
                    (last.kept, last.beside) = (kept.owned_nodes(), beside);
                }
                (last.at, last.changes, last.releases) = stamp;
                last
            }
            none => {
                let (at, changes, releases) = stamp;
                let (kept, facility) = (kept.owned_nodes(), self.facility.fork());
                none.insert(Without { kept, beside, at, changes, releases, facility })
            }
        };
        if let Some(beside) = kept.beside {
            without.facility.site_mut(beside.site).site_mut().limit(&beside.limits);
        }
        for (on, kept) in kept.nodes {
            without.facility.site_mut(*on).take_what_is_free_of(kept, self.now)?;
        }
        Ok(())
    }

    pub(super) fn is_denied_beside(&self, form: &Request, guard: &Guard) -> bool {
        if let Some(beside) = &guard.beside {
            let (number, releases, denied) = &self.denied_beside;
            return (*number, *releases) == (beside.number, self.releases) && denied.contains(form);
        }
        let Hold::Nodes(kept) = &guard.reservation.hold else { return false };
        let kept = [(guard.reservation.site, kept)];
        self.without.as_ref().is_some_and(|without| {
            // Since the fork was made, nodes can only have been claimed.
            without.releases == self.releases
                && without.facility.sites()[0].is_denied(form)
                && without.keeps(Kept::of(&kept))
        })
    }

    /// Whether a proposed start is certain not to delay the reservation of `guard`.
    ///
    /// This is so if the job ends by the reserved start. Without a power cap, it is also so if the
    /// job runs on another site than the reserved one.
    fn is_in_time(&self, ticket: Ticket, proposal: &Proposal, guard: &Guard) -> bool {
        let promised = &guard.reservation;
        let end = self.now + self.queue.job(ticket).estimate * proposal.stretch;
        // The power cap applies to all sites together, so that a job on another site can cause
        // delay too.
        end <= promised.at || (proposal.site != promised.site && guard.headroom == u64::MAX)
    }

    fn meets(&self, proposal: &Proposal, (site, kept): (usize, &Placement)) -> bool {
        let grid = self.site(site).grid();
        let nodes = kept.node_set(grid);
        site == proposal.site && !proposal.placement.is_clear_of(&nodes, grid)
    }

    fn promised(&mut self, promised: &Reservation) -> Option<Proposal> {
        let (site, stretch) = (promised.site, promised.stretch);
        let placement = match &promised.hold {
            // The job gets the reserved size, even if a larger one fits now, because plans for
            // other jobs rely on it.
            Hold::Count(request) => self.facility.site_mut(site).choose(request, self.now),
            Hold::Nodes(placement) => {
                self.site(site).has_free(placement).then(|| placement.clone())
            }
        };
        placement.map(|placement| Proposal { site, placement, stretch })
    }

    fn these(&self, site: usize, placement: &Placement) -> Option<Proposal> {
        let on = self.facility.sites().get(site)?.site();
        let free = on.has_free(placement);
        free.then(|| Proposal { site, placement: placement.clone(), stretch: 1.0 / on.speed() })
    }

    fn left_by(&self, departure: usize, ticket: Ticket) -> Option<Proposal> {
        let ran = &self.departures.get(departure)?.ran;
        let (site, job) = (ran.site, self.queue.job(ticket));
        let on = &self.facility.sites()[site];
        let form = on.in_form(&job.request)?;
        let is_alike = job.request == ran.job.request
            || on.in_form(&ran.job.request).is_some_and(|other| other == form);
        if !is_alike {
            return None;
        }
        let stretch = if self.facility.sizes_are_fixed() {
            1.0 / on.site().speed()
        } else {
            self.facility.sizes(site, job, self.now).first()?.stretch
        };
        let is_free =
            stretch.to_bits() == ran.stretch.to_bits() && on.site().has_free(&ran.placement);
        is_free.then(|| Proposal { site, placement: ran.placement.clone(), stretch })
    }

    /// Claims the proposed placement and runs the job there. If the proposal breaks its contract,
    /// records this and returns `false`.
    pub(super) fn begin(
        &mut self,
        ticket: Ticket,
        proposal: &mut Proposal,
        rate: f64,
        place: Place<'_>,
    ) -> bool {
        if self.breach.is_some() || self.queue.stale_ticket().is_some() {
            return false;
        }
        let is_promised = matches!(place, Place::Promised(_));
        let is_sought = is_promised || matches!(place, Place::Sought);
        if is_sought && let Some(what) = self.unlike_asked(ticket, proposal, is_promised) {
            self.note(self.proposer(ticket, proposal), Some(ticket), what);
            return false;
        }
        let Proposal { site, ref mut placement, stretch } = *proposal;
        let claim = Claim::new(self.now, Holder::Job(ticket.id));
        if let Err(error) = self.facility.site_mut(site).claim(placement, claim) {
            let by = if is_sought { self.proposer(ticket, proposal) } else { Culprit::Scheduler };
            self.note(by, Some(ticket), format!("it gives what cannot be claimed: {error}"));
            return false;
        }
        self.changes += 1;
        let Some(job) = self.queue.remove(ticket) else { return false };
        self.facility.counts.waiting -= 1;
        self.facility.counts.running += 1;
        let work = if self.kill_at_estimate { job.runtime.min(job.estimate) } else { job.runtime };
        let mut setup = self.facility.sites()[site].setup_time(placement);
        if self.power.is_some() {
            setup += self.wake(ticket.id, site, placement);
        }
        let pace = stretch / rate;
        if !(pace > 0.0 && pace.is_finite() && setup >= 0.0 && setup.is_finite()) {
            return self.cannot_be_timed(ticket, site, rate, setup);
        }
        let expected_end = self.now + (setup + job.estimate * stretch / rate);
        self.facility.site_mut(site).expect(placement, expected_end);
        let held = placement.len();
        let asked = if placement.parts.is_none() {
            job.request.nodes()
        } else {
            asked_of_parts(&job.request, held)
        };
        let dispersal = placement.dispersal(self.facility.sites()[site].site().grid());
        let running = Running {
            id: ticket.id,
            job,
            site,
            placement: std::mem::take(placement),
            asked,
            held,
            stretch,
            rate,
            start: self.now,
            expected_end,
            dispersal,
            messages: None,
            wear: None,
        };
        let running = match self.recycled.pop() {
            Some(mut record) => {
                *record = running;
                record
            }
            None => Box::new(running),
        };
        let entry = self.running.vacant_entry();
        let key = RunKey { id: ticket.id, slot: entry.key() as u32 };
        let running = entry.insert(running);
        if let Some(service) = &mut self.service {
            service.starts(running);
        }
        let work = Work { left: setup * rate + work * stretch, rate };
        let started = self.network.start(self.now, key, work, site, &running.placement);
        if let Err(error) = started {
            self.unfit.get_or_insert(error);
        }
        if let Some(ends) = self.ends.get_mut() {
            ends.insert(End::of(key.slot as usize, running));
        }
        self.state.held += u64::from(held);
        self.last_asked = asked;
        self.state.asked += asked;
        self.state.surplus += u64::from(held).saturating_sub(asked);
        self.observer.observe(self.now, &Event::Started(running));
        self.count_free();
        true
    }

    /// Records a breach: the job's start or end time would be invalid. Finds the component to
    /// blame, and returns `false`.
    #[cold]
    fn cannot_be_timed(&mut self, ticket: Ticket, site: usize, rate: f64, setup: f64) -> bool {
        let is_right = |number: f64| number > 0.0 && number.is_finite();
        let (by, what) = if !(setup == 0.0 || is_right(setup)) {
            let by = Culprit::Allocator(self.facility.sites()[site].origin());
            (by, format!("it gives {setup} as the time before the job begins to run"))
        } else if !is_right(rate) {
            (Culprit::Scheduler, format!("it lets the job work at rate {rate}"))
        } else {
            (
                Culprit::Sizing,
                "it lets the job run a number of times as long that is not above 0 and finite"
                    .to_owned(),
            )
        };
        self.note(by, Some(ticket), what);
        false
    }
}
