//! Preemption of running jobs, to start a waiting job.

use std::collections::BTreeMap;

use super::queue::Ticket;
use super::service::{Service, Unsatisfiable};
use super::starts::Place;
use super::{Cluster, Culprit};
use crate::geometry::{NodePart, Parts, Placement};
use crate::network::RunKey;
use crate::offer::Proposal;
use crate::topology::Node;

/// How a running job that is preempted continues later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Preempted {
    /// The job is requeued at its old position. Later it restarts from its last checkpoint, or from
    /// the beginning if there is none.
    Requeued,
    /// The job is requeued at its old position. Later it resumes where it stopped, but only on the
    /// same nodes.
    Suspended,
}

impl Cluster<'_> {
    /// Starts a waiting job at once, on nodes that become free by preempting some running jobs.
    ///
    /// The `victims` are removed from a copy of the machine, one after the other in the given
    /// order, until the waiting job has a placement there. Victims on nodes that the job may never
    /// use are skipped. Then the victims that hold nodes of the placement are preempted, and their
    /// new tickets are returned. `None` if there is no placement, or if it conflicts with a planned
    /// outage, an access rule or the power cap.
    ///
    /// # Complexity
    /// A copy of the machine, and one query to the allocator for each victim until one succeeds.
    pub fn preempt(
        &mut self,
        ticket: Ticket,
        victims: &[RunKey],
        become_of: Preempted,
    ) -> Option<Vec<Ticket>> {
        let mut proposal = self.propose_without(ticket, victims)?;
        if self.runs_into_closure(ticket, &proposal) {
            return None;
        }
        let hit = match &proposal.placement.parts {
            Some(parts) => self.in_the_way_of_parts(proposal.site, parts, victims),
            None => {
                let grid = self.site(proposal.site).grid();
                let nodes = proposal.placement.node_set(grid);
                let in_the_way = |key: &&RunKey| {
                    let ran = &self.running[key.slot as usize];
                    ran.site == proposal.site && !ran.placement.is_clear_of(&nodes, grid)
                };
                victims.iter().filter(in_the_way).copied().collect()
            }
        };
        // No job is preempted to save power, but nodes of the preempted jobs count as free for the
        // cap.
        let back = hit.iter().map(|key| &self.running[key.slot as usize]);
        let back: u64 = back.map(|ran| self.draw_of(ran.site, &ran.placement)).sum();
        let draw = self.draw_of(proposal.site, &proposal.placement);
        if self.is_capped() && draw > self.headroom() + back {
            return None;
        }
        let mut service = match self.service.take() {
            Some(service) => service,
            None => Box::new(Service::without_outages(self.kill_at_estimate)),
        };
        let stopped = self.stop_all(&mut service, &hit, become_of);
        self.service = Some(service);
        match stopped {
            Ok(again) => self.begin(ticket, &mut proposal, 1.0, Place::Sought).then_some(again),
            Err(error) => {
                self.note(Culprit::Meshwork, None, error.to_string());
                None
            }
        }
    }

    /// Jobs among `victims` that must stop to free what the parts of a placement still lack.
    ///
    /// The victims are tried in the order of the list. A victim is selected if it holds some of the
    /// resources that are lacking at its turn.
    fn in_the_way_of_parts(&self, site: usize, parts: &Parts, victims: &[RunKey]) -> Vec<RunKey> {
        let Some(amounts) = self.site(site).amounts() else { return Vec::new() };
        // Amount of each cell that is missing.
        let mut lack: BTreeMap<(Node, u16), i64> = BTreeMap::new();
        for part in &parts.parts {
            for &(cell, amount) in &part.cells {
                *lack.entry((part.node, cell)).or_default() += i64::from(amount);
            }
        }
        for (&(node, cell), lack) in &mut lack {
            *lack -= i64::from(amounts.of(node).cells[cell as usize]);
        }
        let mut hit = Vec::new();
        for &key in victims {
            let ran = &self.running[key.slot as usize];
            let Some(held) = ran.placement.parts.as_ref().filter(|_| ran.site == site) else {
                continue;
            };
            let cells = || {
                let each = |part: &NodePart| (part.node, part.cells.clone());
                held.parts.iter().map(each).flat_map(|(node, cells)| {
                    cells.into_iter().map(move |(cell, amount)| ((node, cell), amount))
                })
            };
            if cells().any(|(cell, _)| lack.get(&cell).is_some_and(|&lack| lack > 0)) {
                for (cell, amount) in cells() {
                    lack.entry(cell).and_modify(|lack| *lack -= i64::from(amount));
                }
                hit.push(key);
            }
        }
        hit
    }

    fn stop_all(
        &mut self,
        service: &mut Service,
        hit: &[RunKey],
        become_of: Preempted,
    ) -> Result<Vec<Ticket>, Unsatisfiable> {
        let mut again = Vec::new();
        for &key in hit {
            let ran = self.stop(key, |ran, setup, now| match become_of {
                Preempted::Requeued => drop(service.interruptions.interrupts(ran, setup, now)),
                Preempted::Suspended => service.interruptions.suspends(ran, setup, now),
            });
            again.push(self.requeue(service, &ran, false)?);
        }
        Ok(again)
    }

    /// Removes victims from a copy of the machine, in order, until a waiting job has a placement
    /// there. Returns this placement as a proposal.
    fn propose_without(&self, ticket: Ticket, victims: &[RunKey]) -> Option<Proposal> {
        let fewest = self.queue.scan_key(ticket).fewest;
        let around = self.queue.around(ticket, self.now);
        let mut ahead = self.facility.fork();
        let outside = self.outside_of(ticket);
        for (site, placement) in &outside {
            ahead.site_mut(*site).take_what_is_free_of(placement, self.now).ok()?;
        }
        for key in victims {
            let ran = &self.running[key.slot as usize];
            let is_outside = |(site, kept): &(usize, Placement)| {
                *site == ran.site && kept.meets(&ran.placement, self.site(*site).grid())
            };
            // The release of a victim that holds nodes closed to the job does not help the job.
            if outside.iter().any(is_outside) {
                continue;
            }
            ahead.release(ran.site, &ran.placement);
            if ahead.most_free() < fewest {
                continue;
            }
            let found = match self.suspended(ticket) {
                None => ahead.propose(self.queue.job(ticket), self.now, &around),
                Some(its) => {
                    let site = ahead.sites()[its.site].site();
                    site.has_free(&its.placement).then(|| its.proposal())
                }
            };
            if found.is_some() {
                return found;
            }
        }
        None
    }
}
