//! The backfill scheduler of a replay: it starts jobs that delay no job before them.

use std::collections::VecDeque;

use meshwork::geometry::NodeSet;

use super::Replay;
use crate::operator::history::{Second, StartedBy};
use crate::operator::plan::BackfillPlan;

impl Replay<'_> {
    /// Runs a pass over the queue; returns the time until which another one would find nothing new.
    pub(super) fn backfill(&mut self) -> Second {
        let mut settled_until = Second::MAX;
        let partitions: Vec<&str> = self.desks.partitions().collect();
        for partition in partitions {
            let of_this = |place: &usize| self.stays[*place].partition == partition;
            let queue = self.queue.iter().copied().filter(of_this);
            let queue: Vec<usize> = queue.take(self.conditions.backfill_depth).collect();
            settled_until = settled_until.min(self.backfill_of(partition, &queue));
        }
        // A job that starts in this pass is running in the next one, which may plan differently.
        if self.begun.is_empty() { settled_until } else { Second::MIN }
    }

    /// Runs a pass over the queue of a partition, up to the last job that might start.
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
        let mut plan = BackfillPlan::new(self.machine.site(partition), self.now, running);
        let idle = plan.free_now().clone();
        // The last reservation, with its start.
        let mut last: Option<(Second, NodeSet)> = None;
        for (rank, &place) in queue.iter().enumerate() {
            // Reservations only grow within a pass: a job that finds no nodes beside some of them
            // finds none beside all.
            open.retain_mut(|own| {
                let has_passed = own.pass(rank);
                let Some(&(_, limit)) = own.least.front() else { return false };
                let until = self.now.saturating_add(limit);
                let is_less =
                    last.as_ref().is_some_and(|(start, kept)| *start < until && kept.meets(&idle));
                if !has_passed && !is_less {
                    return true;
                }
                let fits = self.find(own.place, &plan.kept_over(limit)).is_some();
                self.fits[self.kind[own.place]] = Some(fits);
                fits
            });
            if open.is_empty() {
                break;
            }
            let request = &self.requests[place];
            let found = (self.fits[self.kind[place]] == Some(true))
                .then(|| self.find(place, &plan.kept_over(request.limit)))
                .flatten();
            last = match found {
                Some(nodes) => {
                    plan.keep(self.now, request, &nodes);
                    self.begin(place, nodes.clone(), StartedBy::Backfill);
                    Some((self.now, nodes))
                }
                None => plan.book(request),
            };
        }
        plan.settled_until()
    }

    /// The nodes that a job would get now, without the reserved ones.
    fn find(&self, place: usize, kept: &NodeSet) -> Option<NodeSet> {
        self.desks.desk(&self.stays[place]).find_without(&self.requests[place].asked, kept)
    }

    /// The kinds of requests in a queue that would find nodes now if none were reserved.
    fn open(&mut self, partition: &str, queue: &[usize]) -> Vec<Open> {
        let nothing = NodeSet::empty(self.machine.site(partition).hosts.count());
        let mut open: Vec<Open> = Vec::new();
        self.fits.fill(None);
        for (rank, &place) in queue.iter().enumerate() {
            let (kind, limit) = (self.kind[place], self.requests[place].limit);
            if self.fits[kind].is_none() {
                let fits = self.find(place, &nothing).is_some();
                self.fits[kind] = Some(fits);
                open.extend(fits.then(|| Open { place, least: VecDeque::new() }));
            }
            if self.fits[kind] == Some(true)
                && let Some(own) = open.iter_mut().find(|own| self.kind[own.place] == kind)
            {
                while own.least.back().is_some_and(|(_, own)| *own >= limit) {
                    own.least.pop_back();
                }
                own.least.push_back((rank, limit));
            }
        }
        open
    }
}

/// A kind of request that might still start in this pass.
struct Open {
    /// The index of a job of this kind.
    place: usize,
    /// Ranks and limits of jobs of this kind, both ascending. The first has the lowest limit of the
    /// jobs not yet planned.
    least: VecDeque<(usize, Second)>,
}

impl Open {
    /// Removes the jobs before a rank; returns whether the lowest limit may have changed.
    fn pass(&mut self, rank: usize) -> bool {
        let before = self.least.len();
        while self.least.front().is_some_and(|(own, _)| *own < rank) {
            self.least.pop_front();
        }
        self.least.len() < before
    }
}
