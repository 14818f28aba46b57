//! Access rules: nodes that partitions and reservations withhold from jobs.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::closures::Closure;
use super::fits::fits_on;
use super::queue::Ticket;
use super::{Cluster, Culprit};
use crate::access::{Access, Reserved};
use crate::failures::Planned;
use crate::geometry::{Block, NodeSet};
use crate::job::{Dims, Job, Request, Time};
use crate::machine::Placement;

/// Access rules as closures: sets of nodes, each with an interval in which jobs may not use them.
pub(super) struct Gate {
    access: Access,
    /// For each partition, the nodes outside it. They are closed for ever to jobs of the partition.
    outside: Vec<Vec<Closure>>,
    reserved: Vec<(Closure, Reserved)>,
    /// Begin and end times of all reservations, in ascending order.
    edges: Vec<Time>,
}

#[derive(Default)]
pub(super) struct Seen {
    /// Cached answers to whether a request fits a partition in which all nodes are free. A key is
    /// the number of the partition and the request.
    fits: BTreeMap<(usize, Request), bool>,
    /// Number of past begins and ends of reservations, used as an index into `Gate::edges`.
    edges: usize,
    /// Whether a reservation begins or ends at the current instant. If so, further jobs may start.
    pub(super) is_edge: bool,
}

impl Gate {
    /// Closures that apply to a job, now or later: intervals in which nodes are withheld from it.
    /// They come from its partition and from reservations for other jobs.
    pub(super) fn closures<'g>(&'g self, job: &'g Job) -> impl Iterator<Item = &'g Closure> {
        let bars = move |(closure, reserved): &'g (Closure, Reserved)| {
            reserved.bars(job).then_some(closure)
        };
        self.outside_of(job).iter().chain(self.reserved.iter().filter_map(bars))
    }

    fn outside_of(&self, job: &Job) -> &[Closure] {
        self.access.home(job).map_or(&[], |home| &self.outside[home])
    }

    pub(super) fn is_open(&self) -> bool {
        self.outside.iter().all(Vec::is_empty) && self.reserved.is_empty()
    }
}

impl Cluster<'_> {
    /// Installs the access rules, without reservations that have ended by `now`.
    #[cold]
    pub(crate) fn enable_access(&mut self, mut access: Access, now: Time) {
        access.reservations.retain(|reserved| reserved.until > now);
        let closure = |(site, nodes): &(usize, Vec<_>), from, until| {
            let planned = Planned { site: *site, nodes, from, until, drains: false };
            Closure::new(&planned, self.facility.sites()[*site].site().grid())
        };
        let never = Time::new(f64::INFINITY);
        let outside = access.partitions.iter().map(|partition| {
            partition.outside.iter().map(|nodes| closure(nodes, Time::ZERO, never)).collect()
        });
        let outside = outside.collect();
        let reserved = access.reservations.iter().map(|reserved| {
            (closure(&reserved.nodes, reserved.from, reserved.until), reserved.clone())
        });
        let reserved = reserved.collect();
        let mut edges: Vec<Time> =
            access.reservations.iter().flat_map(|one| [one.from, one.until]).collect();
        edges.sort_unstable();
        edges.dedup();
        self.gate = Some(Arc::new(Gate { access, outside, reserved, edges }));
    }

    /// Whether a job's partition admits the job, and could hold it while no other job runs there.
    #[cold]
    pub(super) fn is_admitted(&mut self, job: &Job) -> bool {
        let Some(gate) = &self.gate else { return true };
        if !gate.access.admits(job) {
            return false;
        }
        let outside = gate.outside_of(job);
        let Some(home) = gate.access.home(job).filter(|_| !outside.is_empty()) else { return true };
        let key = (home, job.request.clone());
        if let Some(&known) = self.seen.fits.get(&key) {
            return known;
        }
        let mut empty = self.empty.fork();
        for closure in outside {
            let site = empty.site_mut(closure.site);
            if let Err(error) = site.take_what_is_free_of(&closure.placement, self.now) {
                self.note(Culprit::Meshwork, None, error.to_string());
                return false;
            }
        }
        let fits = fits_on(&mut empty, job, self.now, (self.draws, self.most_held));
        self.seen.fits.insert(key, fits);
        fits
    }

    /// The nodes outside a waiting job's partition, which it may never use. Each placement comes
    /// with the index of its site.
    pub(super) fn outside_of(&self, ticket: Ticket) -> Vec<(usize, Placement)> {
        let Some(gate) = &self.gate else { return Vec::new() };
        let outside = gate.outside_of(self.queue.job(ticket)).iter();
        outside.map(|closure| (closure.site, closure.placement.clone())).collect()
    }

    /// The nodes of a waiting job's partition, by site; `None` if the partition has every node.
    pub(crate) fn nodes_of_partition(&self, ticket: Ticket) -> Option<Vec<(usize, Placement)>> {
        let gate = self.gate.as_ref()?;
        let outside = gate.outside_of(self.queue.job(ticket));
        if outside.is_empty() {
            return None;
        }
        let sites = self.facility.sites().iter().enumerate().map(|(site, managed)| {
            let grid = managed.site().grid();
            let mut nodes = NodeSet::full(grid.nodes());
            let closed = outside.iter().filter(|closure| closure.site == site);
            closed.for_each(|closure| nodes.subtract(&closure.nodes));
            let whole = Block { base: 0, sides: Dims::from_slice(grid.sides()) };
            (site, Placement::from(whole).part_in(&nodes, grid))
        });
        Some(sites.collect())
    }

    pub(crate) fn is_edge(&self) -> bool {
        self.seen.is_edge
    }

    /// The next instant at which a reservation of nodes begins or ends; `None` if no job waits.
    #[cold]
    pub(super) fn next_edge(&self) -> Option<Time> {
        let gate = self.gate.as_ref().filter(|_| self.queue.len() > 0)?;
        gate.edges[self.seen.edges..].iter().copied().find(|edge| *edge >= self.now)
    }

    /// Marks all begin and end times of reservations up to now as passed.
    ///
    /// Returns `true` if one of them is now and was not marked before.
    #[cold]
    pub(super) fn pass_edge(&mut self) -> bool {
        let Some(gate) = &self.gate else { return false };
        let passed = gate.edges.partition_point(|edge| *edge <= self.now);
        let is_now = passed > self.seen.edges && gate.edges[passed - 1] == self.now;
        self.seen.edges = self.seen.edges.max(passed);
        self.seen.is_edge |= is_now;
        is_now
    }
}
