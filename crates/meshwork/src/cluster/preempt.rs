//! Running jobs that make room for a waiting one.

use super::queue::Ticket;
use super::service::{Hopeless, Service};
use super::starts::Place;
use super::{By, Cluster};
use crate::geometry::{NodeSet, Placement};
use crate::network::RunKey;
use crate::offer::Proposal;

/// What becomes of a job that is preempted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Preempted {
    /// It waits at its old place in the queue, and begins anew or at its last checkpoint.
    Requeued,
    /// It waits there too, and goes on from where it was, but on the nodes that it had and no others.
    Suspended,
}

impl Cluster<'_> {
    /// Starts a waiting job at once in the room that some running jobs make for it, and returns the tickets under
    /// which those wait that had to; `None` if all of them would not make room.
    ///
    /// Those named first make room first. Only those go that hold nodes of the place which the allocator then finds.
    ///
    /// # Complexity
    /// A fork of the machine and a question to the allocator for each of those named, until it finds room.
    pub fn preempt(
        &mut self,
        ticket: Ticket,
        victims: &[RunKey],
        become_of: Preempted,
    ) -> Option<Vec<Ticket>> {
        let mut proposal = self.room_without(ticket, victims)?;
        if self.runs_into_closure(ticket, &proposal) {
            return None;
        }
        let grid = self.site(proposal.site).grid();
        let mut nodes = NodeSet::empty(grid.nodes());
        proposal.placement.add_to(&mut nodes, grid);
        let in_the_way = |key: &&RunKey| {
            let ran = &self.running[key.slot as usize];
            ran.site == proposal.site && !ran.placement.is_clear_of(&nodes, grid)
        };
        let hit: Vec<RunKey> = victims.iter().filter(in_the_way).copied().collect();
        // Nobody goes for power, but with the room comes what was taken there.
        let back: u64 = hit.iter().map(|key| u64::from(self.running[key.slot as usize].held)).sum();
        if self.is_capped() && u64::from(proposal.placement.len()) > self.headroom() + back {
            return None;
        }
        let mut service = match self.service.take() {
            Some(service) => service,
            None => Box::new(Service::of_a_sound_machine(self.kill_at_estimate)),
        };
        let stopped = self.make_room(&mut service, &hit, become_of);
        self.service = Some(service);
        match stopped {
            Ok(again) => self.begin(ticket, &mut proposal, 1.0, Place::Sought).then_some(again),
            Err(error) => {
                self.note(By::Ourselves, None, error.to_string());
                None
            }
        }
    }

    fn make_room(
        &mut self,
        service: &mut Service,
        hit: &[RunKey],
        become_of: Preempted,
    ) -> Result<Vec<Ticket>, Hopeless> {
        let mut again = Vec::new();
        for &key in hit {
            let ran = self.stop(key, |ran, setup, now| match become_of {
                Preempted::Requeued => drop(service.careers.interrupts(ran, setup, now)),
                Preempted::Suspended => service.careers.suspends(ran, setup, now),
            });
            again.push(self.wait_again(service, &ran, false)?);
        }
        Ok(again)
    }

    /// Where a waiting job would start if as few of these as possible were gone, those named first first.
    fn room_without(&self, ticket: Ticket, victims: &[RunKey]) -> Option<Proposal> {
        let fewest = self.queue.glance(ticket).fewest;
        let around = self.queue.around(ticket, self.now);
        let mut ahead = self.facility.fork();
        let outside = self.outside_of(ticket);
        for (site, placement) in &outside {
            ahead.take_what_is_free_of(*site, placement, self.now).ok()?;
        }
        for key in victims {
            let ran = &self.running[key.slot as usize];
            let is_outside = |(site, kept): &(usize, Placement)| {
                *site == ran.site && kept.meets(&ran.placement, self.site(*site).grid())
            };
            // What is not wholly for the job is no room for it.
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
                    its.placement.is_within(site.free(), site.grid()).then(|| its.proposal())
                }
            };
            if found.is_some() {
                return found;
            }
        }
        None
    }
}
