//! Closures: nodes that jobs may not use in an interval known in advance, such as maintenance.

use std::sync::Arc;

use super::Cluster;
use super::access::Gate;
use super::queue::Ticket;
use super::reservation::{Hold, Reservation};
use super::starts::Kept;
use crate::failures::Planned;
use crate::geometry::{Block, NodeSet, Placement};
use crate::job::{Dims, Job, Time};
use crate::offer::Proposal;
use crate::topology::Grid;

#[derive(Clone, Debug)]
pub(super) struct Closure {
    pub(super) site: usize,
    pub(super) nodes: NodeSet,
    pub(super) placement: Placement,
    pub(super) from: Time,
    pub(super) until: Time,
    /// Whether jobs that run on the nodes when the closure begins may continue to their ends.
    pub(super) drains: bool,
}

impl Closure {
    pub(super) fn new(planned: &Planned<'_>, grid: &Grid) -> Closure {
        let mut nodes = NodeSet::empty(grid.nodes());
        planned.nodes.iter().for_each(|&node| nodes.insert(node));
        let whole = Block { base: 0, sides: Dims::from_slice(grid.sides()) };
        let placement = Placement::from(whole).part_in(&nodes, grid);
        let Planned { site, from, until, drains, .. } = *planned;
        Closure { site, nodes, placement, from, until, drains }
    }

    pub(super) fn hinders(&self, from: Time, until: Time) -> bool {
        from < self.until && if self.drains { self.from <= from } else { self.from < until }
    }
}

/// Copy of the planned outages and access rules at one instant.
pub(super) struct Closures {
    planned: Vec<Closure>,
    gate: Option<Arc<Gate>>,
}

impl Closures {
    pub(super) fn new(planned: &[Closure], gate: Option<Arc<Gate>>) -> Closures {
        Closures { planned: planned.to_vec(), gate }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.planned.is_empty() && self.gate.is_none()
    }

    pub(super) fn to<'c>(&'c self, job: &'c Job) -> impl Iterator<Item = &'c Closure> {
        self.planned.iter().chain(self.gate.iter().flat_map(|gate| gate.closures(job)))
    }
}

impl Cluster<'_> {
    /// Planned outages and access rules that restrict a job. Outages already in effect are left
    /// out.
    fn closures_for<'c>(&'c self, job: &'c Job) -> impl Iterator<Item = &'c Closure> {
        let kept = self.gate.iter().flat_map(|gate| gate.closures(job));
        self.closures().iter().chain(kept)
    }

    /// Planned outages, sorted by begin. An outage is left out while all its nodes are out of
    /// service.
    pub(super) fn closures(&self) -> &[Closure] {
        self.service.as_ref().map_or(&[], |service| &service.closures)
    }

    /// Replaces a proposal that conflicts with closures by one that conflicts with none.
    ///
    /// A closure is a set of nodes that jobs may not use in an interval. While the proposal
    /// conflicts with closures, the allocator is asked again without the nodes of these closures.
    /// `None` if it then finds no placement.
    pub(super) fn clear_of_closures(
        &mut self,
        ticket: Ticket,
        kept: Kept<'_>,
        mut proposal: Proposal,
    ) -> Option<Proposal> {
        while self.runs_into_closure(ticket, &proposal) {
            let until = self.end_of(ticket, &proposal);
            let hinders = |closure: &&Closure| closure.hinders(self.now, until);
            let closed: Vec<(usize, Placement)> = self
                .closures_for(self.queue.job(ticket))
                .filter(hinders)
                .map(|closure| (closure.site, closure.placement.clone()))
                .collect();
            let closed = closed.iter().map(|(site, placement)| (*site, placement));
            let nodes: Vec<(usize, &Placement)> =
                kept.nodes.iter().copied().chain(closed).collect();
            proposal = self.ask_clear_of(ticket, Kept { nodes: &nodes, ..kept })?;
        }
        Some(proposal)
    }

    pub(super) fn runs_into_closure(&self, ticket: Ticket, proposal: &Proposal) -> bool {
        if self.closures().is_empty() && self.gate.is_none() {
            return false;
        }
        let mut closures = self.closures_for(self.queue.job(ticket));
        let (until, grid) = (self.end_of(ticket, proposal), self.site(proposal.site).grid());
        closures.any(|closure| {
            closure.site == proposal.site
                && closure.hinders(self.now, until)
                && !proposal.placement.is_clear_of(&closure.nodes, grid)
        })
    }

    fn end_of(&self, ticket: Ticket, proposal: &Proposal) -> Time {
        let span = self.queue.job(ticket).estimate * proposal.stretch;
        (self.now + span).max(self.now.next())
    }

    /// First instant, not before `from`, at which a reservation can start without withheld nodes.
    ///
    /// The reservation keeps its nodes. Planned outages and access rules withhold nodes.
    pub(super) fn clear_from(&self, ticket: Ticket, reservation: &Reservation, from: Time) -> Time {
        let Hold::Nodes(placement) = &reservation.hold else { return from };
        let grid = self.site(reservation.site).grid();
        let mut at = from;
        let all = self.closures_for(self.queue.job(ticket));
        let here = all.filter(|closure| {
            closure.site == reservation.site && !placement.is_clear_of(&closure.nodes, grid)
        });
        let here: Vec<&Closure> = here.collect();
        // A closure that begins later may end earlier, and conflict with the moved reservation
        // again.
        while let Some(closure) =
            here.iter().find(|closure| closure.hinders(at, reservation.moved_to(at).until()))
        {
            at = closure.until;
        }
        at
    }
}
