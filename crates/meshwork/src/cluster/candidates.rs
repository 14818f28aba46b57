//! Who may start out of turn.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::Cluster;
use super::forms::Form;
use super::queue::{Glance, Kinds, Ticket};
use super::reservation::{Guard, Hold};
use crate::job::Time;

/// The waiting jobs behind one of them of which it is not clear, without asking anyone, that they
/// cannot start beside a guard; in order of arrival, each named once.
///
/// Where the allocator finds every free block, jobs of a form for which it has just had no room are
/// passed over together: there is none until something is given back. Of a form for which there is
/// none beside the promised processors only jobs that would end in time are named.
///
/// # Complexity
/// With *k* forms among the waiting jobs **O(k)** to begin with, without a look at any job, and **O(log k)** for
/// each job named, if the allocator finds every free block and processors were promised; else that of a walk along the
/// queue which passes over chunks of jobs that need too much.
pub struct Candidates {
    after: Ticket,
    by_kind: Option<ByKind>,
}

/// The waiting jobs behind one of them of which it is not clear, without asking anyone, that they cannot start; in
/// order of arrival, each named once. As [`Candidates`], where nothing is promised to anyone.
///
/// # Complexity
/// As that of [`Candidates`].
pub struct Hopeful {
    after: Ticket,
    by_kind: Option<ByKind>,
}

/// The first job of each form, in order of arrival, and further jobs of those that have had their turn.
struct ByKind {
    firsts: std::vec::IntoIter<(Ticket, Form)>,
    further: BinaryHeap<Reverse<(Ticket, Form)>>,
    /// The job named last, whose successor has not been looked for.
    named: Option<(Ticket, Form)>,
}

/// What is known of the jobs of a form.
#[derive(Clone, Copy, PartialEq)]
enum Chance {
    None,
    /// Only those may start that would end by then, the promised start.
    By(Time),
    Any,
}

/// What a job has to be to have a chance beside a guard: small enough, or quick enough.
#[derive(Clone, Copy)]
struct ChanceBeside {
    now: Time,
    most_free: u64,
    extra_nodes: u64,
    /// How fast the only site is, if estimates are not of its speed already.
    speed: Option<f64>,
    by: Time,
}

/// The speed at which a job takes its run time: nothing has to be divided.
const ONE: u64 = 1.0_f64.to_bits();

impl ChanceBeside {
    #[inline(always)]
    fn has(self, glance: Glance) -> bool {
        // Most are too large. Which of the others are small or quick enough cannot be foretold: they are asked for both.
        glance.fewest <= self.most_free && {
            let span = self.speed.map_or(glance.estimate, |speed| glance.estimate / speed);
            (glance.fewest <= self.extra_nodes) | (self.now + span <= self.by)
        }
    }
}

impl Cluster<'_> {
    /// The next waiting job after this one of which it is not clear, without asking anyone, that it
    /// cannot start beside the guard.
    #[must_use]
    pub(super) fn next_beside(&self, ticket: Ticket, guard: &Guard) -> Option<Ticket> {
        if self.most_free == 0 {
            return None; // a full machine is the commonest case of all
        }
        let chance = self.chance_beside(guard);
        self.queue.next_that(ticket, |glance| chance.has(glance))
    }

    /// Whether it is not clear, without asking anyone, that a waiting job cannot start beside the guard.
    #[must_use]
    pub fn may_start(&self, ticket: Ticket, guard: &Guard) -> bool {
        self.may_start_beside(self.queue.glance(ticket), guard)
    }

    /// Whether a waiting job is small enough, at its smallest, for the free nodes of some site.
    pub(crate) fn is_small_enough(&self, ticket: Ticket) -> bool {
        self.queue.glance(ticket).fewest <= self.most_free
    }

    /// Whether a job may have a chance beside the guard: at its smallest it is small enough, or at
    /// its quickest quick enough.
    #[inline]
    pub(super) fn may_start_beside(&self, glance: Glance, guard: &Guard) -> bool {
        self.chance_beside(guard).has(glance)
    }

    /// What a job has to be to have a chance beside the guard.
    #[inline]
    fn chance_beside(&self, guard: &Guard) -> ChanceBeside {
        let (now, most_free) = (self.now, self.most_free);
        match (&guard.reservation.hold, self.facility.sites()) {
            (Hold::Count(_), [only]) => {
                let (extra_nodes, by) = (guard.extra_nodes, guard.reservation.at);
                let speed = Some(only.site().speed()).filter(|speed| speed.to_bits() != ONE);
                ChanceBeside { now, most_free, extra_nodes, speed, by }
            }
            _ => ChanceBeside { now, most_free, extra_nodes: u64::MAX, speed: None, by: now },
        }
    }

    /// The waiting jobs behind this one that may start beside the guard.
    #[must_use]
    pub fn candidates(&self, after: Ticket, guard: &Guard) -> Candidates {
        let nodes = matches!(guard.reservation.hold, Hold::Nodes(_));
        let by_kind = (nodes && self.misses_no_block()).then(|| ByKind::of(self));
        Candidates { after, by_kind }
    }

    /// The waiting jobs behind this one of which it is not clear, without asking anyone, that they cannot start.
    #[must_use]
    pub fn hopeful(&self, after: Ticket) -> Hopeful {
        let by_kind = self.misses_no_block().then(|| ByKind::of(self));
        Hopeful { after, by_kind }
    }

    /// The waiting jobs of each form, on a machine whose only site is complete.
    pub(super) fn kinds(&self) -> &Kinds {
        self.queue.kinds()
    }

    /// The next job of a form after this one that may start beside the guard.
    fn next_of(&self, kind: Form, after: Ticket, guard: Option<&Guard>) -> Option<Ticket> {
        if !self.kinds().has_more(kind, after) {
            return None;
        }
        match self.chance(kind, guard) {
            Chance::None => None,
            Chance::Any => self.kinds().next_that(kind, after, |_| true),
            Chance::By(end) => {
                self.kinds().next_that(kind, after, |glance| self.would_end(glance) <= end)
            }
        }
    }

    fn chance(&self, kind: Form, guard: Option<&Guard>) -> Chance {
        if kind.nodes > self.most_free {
            return Chance::None;
        }
        let form = self.forms.request(kind);
        if self.facility.sites()[0].is_denied(form) {
            Chance::None
        } else if let Some(guard) = guard.filter(|guard| self.is_denied_beside(form, guard)) {
            Chance::By(guard.reservation.at)
        } else {
            Chance::Any
        }
    }

    /// When a job would end if it started now on the only site, by its estimate.
    pub(super) fn would_end(&self, glance: Glance) -> Time {
        self.now + glance.estimate * (1.0 / self.facility.sites()[0].site().speed())
    }
}

impl Candidates {
    /// The next of them.
    #[inline]
    pub fn next(&mut self, cluster: &Cluster<'_>, guard: &Guard) -> Option<Ticket> {
        self.after = match &mut self.by_kind {
            None => cluster.next_beside(self.after, guard)?,
            Some(by_kind) => by_kind.next(self.after, cluster, Some(guard))?,
        };
        Some(self.after)
    }
}

impl Hopeful {
    /// The next of them.
    #[inline]
    pub fn next(&mut self, cluster: &Cluster<'_>) -> Option<Ticket> {
        self.after = match &mut self.by_kind {
            None => cluster.next_small_enough(self.after)?,
            Some(by_kind) => by_kind.next(self.after, cluster, None)?,
        };
        Some(self.after)
    }
}

impl ByKind {
    fn of(cluster: &Cluster<'_>) -> ByKind {
        let firsts = cluster.kinds().firsts(cluster.most_free).collect::<Vec<_>>().into_iter();
        ByKind { firsts, further: BinaryHeap::new(), named: None }
    }

    /// The next of those behind this job.
    fn next(
        &mut self,
        after: Ticket,
        cluster: &Cluster<'_>,
        guard: Option<&Guard>,
    ) -> Option<Ticket> {
        let ByKind { firsts, further, named } = self;
        if let Some((ticket, kind)) = named.take()
            && let Some(ticket) = cluster.next_of(kind, ticket, guard)
        {
            further.push(Reverse((ticket, kind)));
        }
        loop {
            let first = firsts.as_slice().first();
            let (ticket, kind) = match (first, further.peek()) {
                (Some(first), Some(Reverse(next))) if next < first => further.pop()?.0,
                (Some(_), _) => firsts.next()?,
                (None, _) => further.pop()?.0,
            };
            // What was asked for meanwhile may have closed the form.
            let may_start = match cluster.chance(kind, guard) {
                Chance::None => continue,
                Chance::By(end) => cluster.would_end(cluster.queue.glance(ticket)) <= end,
                Chance::Any => true,
            };
            if may_start && ticket > after {
                *named = Some((ticket, kind));
                return Some(ticket);
            }
            let later = cluster.next_of(kind, ticket, guard);
            further.extend(later.map(|later| Reverse((later, kind))));
        }
    }
}
