//! Who may start out of turn.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::Cluster;
use super::queue::{Glance, Kind, Ticket};
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
/// With *k* forms among the waiting jobs **O(k)** to begin with and **O(log k)** for each job named, if
/// the allocator finds every free block and processors were promised; else that of a walk along the
/// queue which passes over chunks of jobs that need too much.
pub struct Candidates {
    after: Ticket,
    by_kind: Option<ByKind>,
}

/// The next job of each form, the one that arrived first on top.
struct ByKind {
    kinds: Vec<Kind>,
    next: BinaryHeap<Reverse<(Ticket, usize)>>,
    /// The job named last, whose successor has not been looked for.
    named: Option<(Ticket, usize)>,
}

/// What is known of the jobs of a form.
#[derive(Clone, Copy, PartialEq)]
enum Chance {
    None,
    /// Only those may start that would end by the promised start.
    InTime,
    Any,
}

impl Cluster<'_> {
    /// The waiting jobs behind this one that may start beside the guard.
    #[must_use]
    pub fn candidates(&self, after: Ticket, guard: &Guard) -> Candidates {
        let nodes = matches!(guard.reservation.hold, Hold::Nodes(_));
        let by_kind = (nodes && self.misses_no_block()).then(|| {
            let kinds: Vec<Kind> = self.queue.kinds(self.most_free).cloned().collect();
            let next = (0..kinds.len())
                .filter_map(|kind| Some(Reverse((self.next_of(&kinds[kind], after, guard)?, kind))))
                .collect();
            ByKind { kinds, next, named: None }
        });
        Candidates { after, by_kind }
    }

    /// The next job of a form after this one that may start beside the guard.
    fn next_of(&self, kind: &Kind, after: Ticket, guard: &Guard) -> Option<Ticket> {
        match self.chance(kind, guard) {
            Chance::None => None,
            Chance::Any => self.queue.next_of_kind(kind, after, |_| true),
            Chance::InTime => self
                .queue
                .next_of_kind(kind, after, |glance| self.would_end(glance) <= guard.reservation.at),
        }
    }

    fn chance(&self, (nodes, form): &Kind, guard: &Guard) -> Chance {
        let site = &self.facility.sites()[0];
        if *nodes > self.most_free || site.is_denied(form) {
            Chance::None
        } else if self.is_denied_beside(form, guard) {
            Chance::InTime
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
    pub fn next(&mut self, cluster: &Cluster<'_>, guard: &Guard) -> Option<Ticket> {
        let Some(ByKind { kinds, next, named }) = &mut self.by_kind else {
            self.after = cluster.next_beside(self.after, guard)?;
            return Some(self.after);
        };
        if let Some((ticket, kind)) = named.take()
            && let Some(ticket) = cluster.next_of(&kinds[kind], ticket, guard)
        {
            next.push(Reverse((ticket, kind)));
        }
        loop {
            let Reverse((ticket, kind)) = next.pop()?;
            // What was asked for meanwhile may have closed the form.
            match cluster.chance(&kinds[kind], guard) {
                Chance::None => {}
                Chance::InTime
                    if cluster.would_end(cluster.queue.glance(ticket)) > guard.reservation.at =>
                {
                    let later = cluster.next_of(&kinds[kind], ticket, guard);
                    next.extend(later.map(|later| Reverse((later, kind))));
                }
                Chance::InTime | Chance::Any => {
                    *named = Some((ticket, kind));
                    return Some(ticket);
                }
            }
        }
    }
}
