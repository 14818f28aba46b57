//! What the machine takes while a run goes on: processors that fall asleep and are woken, and how many more may be held.

use std::collections::{BTreeSet, VecDeque};

use super::Cluster;
use super::reservation::Reservation;
use crate::energy::{Energy, Sleep};
use crate::geometry::{Block, NodeSet, Placement};
use crate::job::{Dims, Time};
use crate::observe::{Event, JobId};
use crate::offer::ManagedSite;
use crate::topology::{Grid, Node};

/// What is known of the machine's processors where somebody asks what they take.
pub(super) struct Power {
    energy: Energy,
    beds: Option<Beds>,
}

/// Who sleeps, and who is about to.
struct Beds {
    sleep: Sleep,
    sites: Vec<Site>,
    /// Processors that became idle, in the order in which they did, and so in that in which they fall asleep.
    tired: VecDeque<Tired>,
    /// Running jobs that had to wait for processors to wake.
    delayed: BTreeSet<JobId>,
}

struct Site {
    grid: Grid,
    asleep: NodeSet,
    /// When each falls asleep if it stays idle; never, for those that are not idle.
    due: Vec<Time>,
}

/// Processors of which those fall asleep then that have been idle all the time.
struct Tired {
    at: Time,
    site: usize,
    placement: Placement,
}

const NEVER: f64 = f64::INFINITY;

impl Beds {
    /// They are idle from now on.
    fn lie_down(&mut self, site: usize, placement: Placement, now: Time) {
        let at = now + self.sleep.after;
        let Site { grid, due, .. } = &mut self.sites[site];
        placement.for_each_run(grid, |start, count| {
            due[start as usize..(start + count) as usize].fill(at);
        });
        self.tired.push_back(Tired { at, site, placement });
    }

    /// They are idle no more: which of them slept.
    fn get_up(&mut self, site: usize, placement: &Placement) -> Vec<Node> {
        let Site { grid, asleep, due } = &mut self.sites[site];
        let mut woken = Vec::new();
        placement.for_each_run(grid, |start, count| {
            due[start as usize..(start + count) as usize].fill(Time::new(NEVER));
            woken.extend((start..start + count).filter(|&node| asleep.contains(node)));
        });
        woken.iter().for_each(|&node| asleep.remove(node));
        woken.sort_unstable();
        woken
    }

    /// The next of whom some may fall asleep before this instant: when, on which site, and which of them do.
    fn next_asleep(&mut self, by: Time) -> Option<(Time, usize, Vec<Node>)> {
        self.tired.front().filter(|tired| tired.at < by)?;
        let Tired { at, site, placement } = self.tired.pop_front()?;
        let Site { grid, asleep, due } = &mut self.sites[site];
        let mut fallen = Vec::new();
        placement.for_each_run(grid, |start, count| {
            // Whoever was held since then is due at another instant.
            let idle = |node: &Node| due[*node as usize] == at && !asleep.contains(*node);
            fallen.extend((start..start + count).filter(idle));
        });
        fallen.iter().for_each(|&node| asleep.insert(node));
        fallen.sort_unstable();
        Some((at, site, fallen))
    }
}

impl Cluster<'_> {
    /// From now on it is told what the machine takes, and all its processors are idle.
    #[cold]
    pub(crate) fn draw(&mut self, energy: Energy, now: Time) {
        self.most_held = energy.most_held();
        self.count_free();
        let beds = energy.sleep().map(|sleep| {
            let site = |managed: &ManagedSite| {
                let grid = managed.site().grid().clone();
                let asleep = NodeSet::empty(grid.nodes());
                let due = vec![Time::new(NEVER); grid.nodes() as usize];
                Site { grid, asleep, due }
            };
            let sites: Vec<Site> = self.facility.sites().iter().map(site).collect();
            let (tired, delayed) = (VecDeque::new(), BTreeSet::new());
            let mut beds = Beds { sleep, sites, tired, delayed };
            for site in 0..beds.sites.len() {
                let sides = Dims::from_slice(beds.sites[site].grid.sides());
                beds.lie_down(site, Block { base: 0, sides }.into(), now);
            }
            beds
        });
        self.power = Some(Box::new(Power { energy, beds }));
    }

    /// As many processors as a job may have now at most, of those of one site.
    pub(super) fn count_free(&mut self) {
        self.most_free = self.facility.most_free().min(self.headroom());
    }

    /// How many more processors may be held.
    pub(super) fn headroom(&self) -> u64 {
        self.most_held.saturating_sub(self.state.held)
    }

    /// Whether there is a cap on what the machine takes.
    pub(super) fn is_capped(&self) -> bool {
        self.most_held < u64::MAX
    }

    /// Whether a start on so many processors would take a machine above its cap, if those that are kept for others were
    /// held too.
    pub(super) fn is_too_much(&self, held: u32, kept: &[(usize, &Placement)]) -> bool {
        u64::from(held) + self.free_of(kept) > self.headroom()
    }

    /// How many of some processors are free.
    fn free_of(&self, kept: &[(usize, &Placement)]) -> u64 {
        let sites = self.facility.sites().iter().enumerate();
        let free = sites.map(|(index, managed)| {
            let site = managed.site();
            let mut nodes = NodeSet::empty(site.grid().nodes());
            let here = kept.iter().filter(|(on, _)| *on == index);
            here.for_each(|(_, placement)| placement.add_to(&mut nodes, site.grid()));
            nodes.intersect(site.free());
            u64::from(nodes.count())
        });
        if kept.is_empty() { 0 } else { free.sum() }
    }

    /// How many processors may be held besides a reservation when it begins, if all who run end at their estimates.
    pub(super) fn headroom_beside(&self, reservation: &Reservation) -> u64 {
        if !self.is_capped() {
            return u64::MAX;
        }
        self.headroom_at(reservation.at).saturating_sub(reservation.hold.nodes())
    }

    /// How many processors more may be held at an instant, if all who run end at their estimates.
    fn headroom_at(&self, at: Time) -> u64 {
        let ended = self.running().take_while(|(_, ran)| ran.expected_end.max(self.now) <= at);
        let jobs = ended.filter(|(_, ran)| !ran.is_stand_in());
        self.headroom() + jobs.map(|(_, ran)| u64::from(ran.held)).sum::<u64>()
    }

    /// The first instant from one on at which a reservation's processors may be held besides those of all who run.
    pub(super) fn held_from(&self, reservation: &Reservation, from: Time) -> Time {
        let count = reservation.hold.nodes();
        let ends = self.running().map(|(_, ran)| ran.expected_end.max(from));
        let mut instants = std::iter::once(from).chain(ends);
        instants.find(|&at| self.headroom_at(at) >= count).unwrap_or(from)
    }

    /// Lets time pass up to the last instant before this one at which processors fall asleep, and notes what the machine
    /// takes from then on.
    #[cold]
    pub(super) fn pass_with_power(&mut self, to: Time) {
        let Some(mut power) = self.power.take() else { return };
        if let Some(beds) = &mut power.beds {
            while let Some((at, site, nodes)) = beds.next_asleep(to) {
                if nodes.is_empty() {
                    continue;
                }
                if at > self.now {
                    self.state.power = power.energy.power(&self.state);
                    self.observer.elapsed(self.now, at, &self.state);
                    self.now = at;
                }
                self.state.asleep += nodes.len() as u64;
                self.observer.observe(self.now, &Event::Asleep { site, nodes: &nodes });
            }
        }
        self.state.power = power.energy.power(&self.state);
        self.power = Some(power);
    }

    /// A job takes these processors: how long it waits for those of them that sleep.
    #[cold]
    pub(super) fn wake(&mut self, id: JobId, site: usize, placement: &Placement) -> f64 {
        let Some(beds) = self.power.as_mut().and_then(|power| power.beds.as_mut()) else {
            return 0.0;
        };
        let nodes = beds.get_up(site, placement);
        if nodes.is_empty() {
            return 0.0;
        }
        let Sleep { wake, wake_energy, .. } = beds.sleep;
        beds.delayed.insert(id);
        self.state.asleep -= nodes.len() as u64;
        let energy = wake_energy * nodes.len() as f64;
        self.observer.observe(self.now, &Event::Awake { site, nodes: &nodes, energy });
        wake
    }

    /// A job has given its processors back.
    #[cold]
    pub(super) fn leave_idle(&mut self, id: JobId, site: usize, placement: &Placement) {
        if let Some(beds) = self.power.as_mut().and_then(|power| power.beds.as_mut()) {
            beds.delayed.remove(&id);
            beds.lie_down(site, placement.clone(), self.now);
        }
    }

    /// How long a running job waited for processors to wake.
    pub(super) fn woke_for(&self, id: JobId) -> f64 {
        let beds = self.power.as_ref().and_then(|power| power.beds.as_ref());
        beds.filter(|beds| beds.delayed.contains(&id)).map_or(0.0, |beds| beds.sleep.wake)
    }

    /// A processor goes out of service, asleep or not.
    pub(super) fn switch_off(&mut self, site: usize, placement: &Placement) {
        if let Some(beds) = self.power.as_mut().and_then(|power| power.beds.as_mut()) {
            self.state.asleep -= beds.get_up(site, placement).len() as u64;
        }
    }

    /// A processor is in service again, and idle.
    pub(super) fn switch_on(&mut self, site: usize, placement: &Placement) {
        if let Some(beds) = self.power.as_mut().and_then(|power| power.beds.as_mut()) {
            beds.lie_down(site, placement.clone(), self.now);
        }
    }
}
