//! Backfill candidates: jobs that may start ahead of a blocked job without delaying it.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::Cluster;
use super::forms::Form;
use super::queue::{FormQueues, ScanKey, Ticket};
use super::reservation::{Guard, Hold};
use crate::job::Time;

/// Backfill candidates: waiting jobs that may start ahead of a reserved job without delaying it.
///
/// Candidates wait behind the reserved job and are not known to be blocked. Each is returned once,
/// in queue order. Candidates are searched by form: the requested size or shape. If the allocator
/// finds every free block and has just found none for a form, jobs of this form are skipped until
/// nodes are released. If a form fits only on reserved nodes, its jobs must end by the reserved
/// start.
///
/// # Complexity
/// If the allocator finds every free block and particular nodes are reserved: **O(k)** to set up
/// and **O(log k)** for each candidate, with *k* forms. Otherwise the queue is searched in order.
/// Chunks of jobs that all need too many nodes are skipped.
pub struct Candidates {
    after: Ticket,
    by_form: Option<ByForm>,
}

/// Waiting jobs behind a given job that are not known to be blocked, in queue order, each once.
///
/// In contrast to [`Candidates`], no reservation is protected. The time taken is the same as for
/// [`Candidates`].
pub struct Startable {
    after: Ticket,
    by_form: Option<ByForm>,
}

/// Merge of the queues for each form of request (its size and shape) into one queue order.
struct ByForm {
    firsts: std::vec::IntoIter<(Ticket, Form)>,
    further: BinaryHeap<Reverse<(Ticket, Form)>>,
    /// The job returned last, and its form. The next job of this form has not been searched for
    /// yet.
    named: Option<(Ticket, Form)>,
}

#[derive(Clone, Copy, PartialEq)]
enum Chance {
    None,
    /// Only jobs that would end by this instant, the start of the protected reservation, may start.
    By(Time),
    Any,
}

#[derive(Clone, Copy)]
struct ChanceBeside {
    now: Time,
    most_free: u64,
    extra_nodes: u64,
    /// Speed of the only site; `None` if the speed is 1.
    speed: Option<f64>,
    by: Time,
}

/// Bit pattern of the speed 1.0, at which estimates need no scaling.
const ONE: u64 = 1.0_f64.to_bits();

impl ChanceBeside {
    #[inline(always)]
    fn has(self, key: ScanKey) -> bool {
        // Most jobs are too large. For the others the outcome is unpredictable, so both conditions
        // are evaluated without a branch.
        key.fewest <= self.most_free && {
            let span = self.speed.map_or(key.estimate, |speed| key.estimate / speed);
            (key.fewest <= self.extra_nodes) | (self.now + span <= self.by)
        }
    }
}

impl Cluster<'_> {
    /// The next job behind `ticket` that may start without delaying the reservation of `guard`.
    pub(super) fn next_beside(&self, ticket: Ticket, guard: &Guard) -> Option<Ticket> {
        if self.most_free == 0 {
            return None; // a full machine is the most common case
        }
        let chance = self.chance_beside(guard);
        self.queue.next_that(ticket, |key| chance.has(key))
    }

    /// Whether a waiting job is small or short enough not to delay the reservation of `guard`.
    #[must_use]
    pub fn may_start(&self, ticket: Ticket, guard: &Guard) -> bool {
        self.may_start_beside(self.queue.scan_key(ticket), guard)
    }

    pub(crate) fn is_small_enough(&self, ticket: Ticket) -> bool {
        self.queue.scan_key(ticket).fewest <= self.most_free
    }

    #[inline]
    pub(super) fn may_start_beside(&self, key: ScanKey, guard: &Guard) -> bool {
        self.chance_beside(guard).has(key)
    }

    /// Necessary conditions under which a job does not delay the reservation of `guard`.
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

    /// The backfill candidates behind the waiting job `after`. They do not delay the reservation of
    /// `guard`.
    #[must_use]
    pub fn candidates(&self, after: Ticket, guard: &Guard) -> Candidates {
        let nodes = matches!(guard.reservation.hold, Hold::Nodes(_));
        let by_form = (nodes && self.misses_no_block()).then(|| ByForm::of(self));
        Candidates { after, by_form }
    }

    /// The waiting jobs behind the job `after`, except those already known to be blocked.
    #[must_use]
    pub fn startable(&self, after: Ticket) -> Startable {
        let by_form = self.misses_no_block().then(|| ByForm::of(self));
        Startable { after, by_form }
    }

    /// The waiting jobs by form (requested size or shape). Only for a single site whose allocator
    /// finds every free block.
    pub(super) fn form_queues(&self) -> &FormQueues {
        self.queue.form_queues()
    }

    /// Next job behind `after` that may start and has the form `kind` (a requested size or shape).
    ///
    /// If there is a `guard`, the job does not delay the reservation of the guard.
    fn next_of(&self, kind: Form, after: Ticket, guard: Option<&Guard>) -> Option<Ticket> {
        if !self.form_queues().has_more(kind, after) {
            return None;
        }
        match self.chance(kind, guard) {
            Chance::None => None,
            Chance::Any => self.form_queues().next_that(kind, after, |_| true),
            Chance::By(end) => {
                self.form_queues().next_that(kind, after, |key| self.would_end(key) <= end)
            }
        }
    }

    fn chance(&self, kind: Form, guard: Option<&Guard>) -> Chance {
        if kind.nodes > self.most_free {
            return Chance::None;
        }
        let form = self.forms.request(kind);
        // Enough nodes are free, so only the cached failures of the allocator are left to check.
        if self.facility.sites()[0].is_known_denied(form) {
            Chance::None
        } else if let Some(guard) = guard.filter(|guard| self.is_denied_beside(form, guard)) {
            Chance::By(guard.reservation.at)
        } else {
            Chance::Any
        }
    }

    pub(super) fn would_end(&self, key: ScanKey) -> Time {
        self.now + key.estimate * (1.0 / self.facility.sites()[0].site().speed())
    }
}

impl Candidates {
    /// The next candidate behind the one returned last; `None` at the end of the queue.
    #[inline]
    pub fn next(&mut self, cluster: &Cluster<'_>, guard: &Guard) -> Option<Ticket> {
        self.after = match &mut self.by_form {
            None => cluster.next_beside(self.after, guard)?,
            Some(by_form) => by_form.next(self.after, cluster, Some(guard))?,
        };
        Some(self.after)
    }
}

impl Startable {
    /// The next startable job behind the one returned last; `None` at the end of the queue.
    #[inline]
    pub fn next(&mut self, cluster: &Cluster<'_>) -> Option<Ticket> {
        self.after = match &mut self.by_form {
            None => cluster.next_small_enough(self.after)?,
            Some(by_form) => by_form.next(self.after, cluster, None)?,
        };
        Some(self.after)
    }
}

impl ByForm {
    fn of(cluster: &Cluster<'_>) -> ByForm {
        let firsts =
            cluster.form_queues().firsts(cluster.most_free).collect::<Vec<_>>().into_iter();
        ByForm { firsts, further: BinaryHeap::new(), named: None }
    }

    fn next(
        &mut self,
        after: Ticket,
        cluster: &Cluster<'_>,
        guard: Option<&Guard>,
    ) -> Option<Ticket> {
        let ByForm { firsts, further, named } = self;
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
            // A request to the allocator in the meantime may have ruled out the form.
            let may_start = match cluster.chance(kind, guard) {
                Chance::None => continue,
                Chance::By(end) => cluster.would_end(cluster.queue.scan_key(ticket)) <= end,
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
