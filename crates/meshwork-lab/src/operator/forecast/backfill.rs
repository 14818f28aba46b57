//! The part of the scheduler that lets jobs pass others where they delay none.

use meshwork::geometry::NodeSet;

use super::Floor;
use crate::operator::history::{By, Second};
use crate::operator::plan::Plan;

impl Floor<'_> {
    /// Goes through all of the queue, and says from when on it might find something else if nothing happens.
    pub(super) fn backfill(&mut self) -> Second {
        let mut settled_until = Second::MAX;
        let partitions: Vec<&str> = self.desks.partitions().collect();
        for partition in partitions {
            let of_this = |place: &usize| self.stays[*place].partition == partition;
            let queue = self.queue.iter().copied().filter(of_this);
            let queue: Vec<usize> = queue.take(self.conditions.backfill_depth).collect();
            settled_until = settled_until.min(self.backfill_of(partition, &queue));
        }
        // What begins now runs when it comes next, and is no longer planned.
        if self.begun.is_empty() { settled_until } else { Second::MIN }
    }

    /// Goes through the queue of a partition as far as anybody in it might start.
    fn backfill_of(&mut self, partition: &str, queue: &[usize]) -> Second {
        queue.iter().for_each(|&place| self.looked[place] = self.now);
        let mut open = self.open(partition, queue);
        if open.is_empty() {
            return Second::MAX;
        }
        let running = self.running.iter().filter_map(|&place| {
            let outcome = &self.outcomes[place];
            let end = outcome.start?.saturating_add(self.requests[place].limit);
            Some((end, outcome.nodes.as_ref()?, self.stays[place].whole_blocks))
        });
        let mut plan = Plan::new(self.machine.site(partition), self.now, running);
        for (rank, &place) in queue.iter().enumerate() {
            // What is kept only grows: who finds nothing beside some of it finds nothing beside all.
            if rank.is_power_of_two() {
                open.retain(|own| {
                    let kept = plan.kept_over(own.limit);
                    let fits = own.last >= rank && self.find(own.place, &kept).is_some();
                    self.fits[self.kind[own.place]] = Some(fits);
                    fits
                });
            }
            if open.iter().all(|own| own.last < rank) {
                break;
            }
            let request = &self.requests[place];
            let found = (self.fits[self.kind[place]] == Some(true))
                .then(|| self.find(place, &plan.kept_over(request.limit)))
                .flatten();
            if let Some(nodes) = found {
                plan.keep(self.now, request, &nodes);
                self.begin(place, nodes, By::Backfill);
            } else {
                plan.book(request);
            }
        }
        plan.settled_until()
    }

    /// The nodes that a stay would get now, beside what is kept.
    fn find(&self, place: usize, kept: &NodeSet) -> Option<NodeSet> {
        self.desks.desk(&self.stays[place]).find_without(&self.requests[place].asked, kept)
    }

    /// The kinds in a queue of which one would find nodes now, if none were kept.
    fn open(&mut self, partition: &str, queue: &[usize]) -> Vec<Open> {
        let nothing = NodeSet::empty(self.machine.site(partition).hosts.count());
        let mut open: Vec<Open> = Vec::new();
        self.fits.fill(None);
        for (last, &place) in queue.iter().enumerate() {
            let (kind, limit) = (self.kind[place], self.requests[place].limit);
            match self.fits[kind] {
                Some(false) => {}
                Some(true) => {
                    for own in open.iter_mut().filter(|own| self.kind[own.place] == kind) {
                        (own.limit, own.last) = (own.limit.min(limit), last);
                    }
                }
                None => {
                    let fits = self.find(place, &nothing).is_some();
                    self.fits[kind] = Some(fits);
                    open.extend(fits.then_some(Open { place, limit, last }));
                }
            }
        }
        open
    }
}

/// A kind of job that might start.
struct Open {
    /// One of them.
    place: usize,
    /// Their least limit.
    limit: Second,
    /// The rank of the last of them.
    last: usize,
}
