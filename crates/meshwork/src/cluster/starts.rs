//! The ways in which a scheduler starts a waiting job. Each says at once whether it happened.

use super::Cluster;
use super::queue::Ticket;
use super::reservation::{Guard, Hold, Reservation};
use crate::geometry::NodeSet;
use crate::machine::Placement;
use crate::network::{RunKey, Work};
use crate::observe::{Event, Messages, Running};
use crate::offer::Proposal;
use crate::sizing::Size;

impl Cluster<'_> {
    /// Starts a waiting job now, if selector, sizing and allocator find a place for it.
    pub fn start(&mut self, ticket: Ticket) -> bool {
        if self.queue.fewest(ticket) > self.most_free {
            return false;
        }
        let around = self.queue.around(ticket, self.now);
        let proposal = self.facility.propose(self.queue.job(ticket), self.now, &around);
        proposal.is_some_and(|proposal| self.begin(ticket, proposal))
    }

    /// Starts a waiting job now on the processors that were promised to it, if they are free.
    pub fn start_at(&mut self, ticket: Ticket, promised: &Reservation) -> bool {
        let (site, stretch) = (promised.site, promised.stretch);
        let placement = match &promised.hold {
            // In the size that was promised, though there may be room for a larger one now: what is
            // planned for others counts on that.
            Hold::Count(request) => self.facility.place(site, request, self.now),
            Hold::Nodes(placement) => {
                let site = self.site(site);
                placement.is_within(site.free(), site.grid()).then(|| placement.clone())
            }
        };
        placement.is_some_and(|placement| self.begin(ticket, Proposal { site, placement, stretch }))
    }

    /// Starts a waiting job now if that delays nothing that the guard protects: it would end by
    /// the promised start, or it leaves the promised processors alone.
    pub fn start_beside(&mut self, ticket: Ticket, guard: &mut Guard) -> bool {
        if !self.may_start_beside(self.queue.glance(ticket), guard) {
            return false;
        }
        let job = self.queue.job(ticket);
        let promised = &guard.reservation;
        let around = self.queue.around(ticket, self.now);
        let Some(proposal) = self.facility.propose(job, self.now, &around) else { return false };
        let in_time = self.now + job.estimate * proposal.stretch <= promised.at;
        if in_time || proposal.site != promised.site {
            return self.begin(ticket, proposal);
        }
        match &promised.hold {
            Hold::Count(_) => {
                let held = u64::from(proposal.placement.len());
                if held > guard.extra_nodes {
                    return false;
                }
                guard.extra_nodes -= held;
                self.begin(ticket, proposal)
            }
            Hold::Nodes(kept) => {
                let site = self.facility.sites()[promised.site].site();
                let mut kept_nodes = NodeSet::empty(site.nodes());
                kept.add_to(&mut kept_nodes, site.grid());
                if proposal.placement.is_clear_of(&kept_nodes, site.grid()) {
                    return self.begin(ticket, proposal);
                }
                // Asked again where the promised nodes are taken, the allocator may know another
                // place.
                let mut without = self.facility.fork_site(promised.site);
                if let Err(error) = without.take_what_is_free_of(kept, self.now) {
                    self.bug.get_or_insert(error.to_string());
                    return false;
                }
                let other = without.propose(job, self.now);
                other.is_some_and(|proposal| self.begin(ticket, proposal))
            }
        }
    }

    /// Starts a waiting job now if there is a place for it that leaves other processors alone:
    /// `kept` names these by their site.
    pub fn start_clear_of(&mut self, ticket: Ticket, kept: &[(usize, &Placement)]) -> bool {
        if self.queue.fewest(ticket) > self.most_free {
            return false;
        }
        let job = self.queue.job(ticket);
        let around = self.queue.around(ticket, self.now);
        let Some(proposal) = self.facility.propose(job, self.now, &around) else { return false };
        let is_kept = kept.iter().any(|(on, kept)| {
            let grid = self.site(*on).grid();
            let mut nodes = NodeSet::empty(grid.nodes());
            kept.add_to(&mut nodes, grid);
            *on == proposal.site && !proposal.placement.is_clear_of(&nodes, grid)
        });
        if !is_kept {
            return self.begin(ticket, proposal);
        }
        // Asked again where they are taken, selector and allocator may know another place.
        let mut without = self.facility.fork();
        for (on, kept) in kept {
            if let Err(error) = without.take_what_is_free_of(*on, kept, self.now) {
                self.bug.get_or_insert(error.to_string());
                return false;
            }
        }
        let other = without.propose(job, self.now, &around);
        other.is_some_and(|proposal| self.begin(ticket, proposal))
    }

    /// Starts a waiting job now on these processors, if they are free: for schedulers that divide a
    /// machine themselves. Nobody is asked whether they suit the job.
    pub fn start_on(&mut self, ticket: Ticket, site: usize, placement: &Placement) -> bool {
        let on = self.site(site);
        let stretch = 1.0 / on.speed();
        let free = placement.is_within(on.free(), on.grid());
        free && self.begin(ticket, Proposal { site, placement: placement.clone(), stretch })
    }

    /// Starts a waiting job now on these processors, if they are free, working at this rate: for
    /// schedulers that resize jobs. At rate 1 it takes its run time.
    pub fn start_at_rate(
        &mut self,
        ticket: Ticket,
        site: usize,
        placement: &Placement,
        rate: f64,
    ) -> bool {
        let on = self.site(site);
        let stretch = 1.0 / on.speed();
        let free = placement.is_within(on.free(), on.grid());
        let proposal = Proposal { site, placement: placement.clone(), stretch };
        free && self.begin_at_rate(ticket, proposal, rate)
    }

    /// Starts a waiting job now on the processors that a job has just given back, the one at this
    /// index of [`departures`](Cluster::departures): if they are free, and if both jobs ask for the
    /// same and would get the same size.
    pub fn start_in_place_of(&mut self, ticket: Ticket, departure: usize) -> bool {
        let ran = &self.departures[departure].ran;
        let (site, job) = (ran.site, self.queue.job(ticket));
        let on = &self.facility.sites()[site];
        let alike = on
            .in_form(&job.request)
            .is_some_and(|form| on.in_form(&ran.job.request).is_some_and(|other| other == form));
        let sizes = self.facility.sizes(site, job, self.now);
        let same = |size: &&Size| size.stretch.to_bits() == ran.stretch.to_bits();
        let Some(size) = sizes.first().filter(|size| alike && same(size)) else {
            return false;
        };
        let free = ran.placement.is_within(on.site().free(), on.site().grid());
        let (placement, stretch) = (ran.placement.clone(), size.stretch);
        free && self.begin(ticket, Proposal { site, placement, stretch })
    }

    fn begin(&mut self, ticket: Ticket, proposal: Proposal) -> bool {
        self.begin_at_rate(ticket, proposal, 1.0)
    }

    /// Claims the place, tells everyone, and lets the job run.
    fn begin_at_rate(&mut self, ticket: Ticket, proposal: Proposal, rate: f64) -> bool {
        if self.bug.is_some() {
            return false;
        }
        let Proposal { site, placement, stretch } = proposal;
        if let Err(error) = self.facility.claim(site, &placement, self.now) {
            self.bug = Some(error.to_string());
            return false;
        }
        self.most_free = self.facility.most_free();
        let job = self.queue.remove(ticket);
        self.facility.crowd.waiting -= 1;
        self.facility.crowd.running += 1;
        let work = if self.kill_at_estimate { job.runtime.min(job.estimate) } else { job.runtime };
        let expected_end = self.now + job.estimate * stretch / rate;
        let (asked, held) = (job.request.nodes(), placement.len());
        let dispersal = placement.dispersal(self.facility.sites()[site].site().grid());
        let entry = self.running.vacant_entry();
        let key = RunKey { id: ticket.id, slot: entry.key() as u32 };
        let running = entry.insert(Running {
            id: ticket.id,
            job,
            site,
            placement,
            asked,
            held,
            rate,
            start: self.now,
            expected_end,
            stretch,
            dispersal,
            messages: Messages::default(),
        });
        let work = Work { left: work * stretch, rate };
        let started = self.network.start(self.now, key, work, site, &running.placement);
        if let Err(error) = started {
            self.unfit.get_or_insert(error);
        }
        if let Some(ends) = self.ends.get_mut() {
            ends.insert((expected_end, key));
        }
        self.state.held += u64::from(held);
        self.state.asked += asked;
        self.state.surplus += u64::from(held).saturating_sub(asked);
        self.observer.observe(self.now, &Event::Started(running));
        true
    }
}
