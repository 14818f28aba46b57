//! Power use during a run: nodes that sleep and are woken, and the power cap.

use std::collections::{BTreeSet, VecDeque};

use super::Cluster;
use super::reservation::Reservation;
use crate::energy::{Energy, Sleep};
use crate::geometry::{Block, NodeSet, Placement};
use crate::job::{Dims, Time};
use crate::observe::{Event, JobId};
use crate::offer::ManagedSite;
use crate::topology::{Grid, Node};

/// Energy model and sleep states.
pub(super) struct Power {
    energy: Energy,
    sleep_states: Option<SleepStates>,
}

/// Sleep states of nodes.
struct SleepStates {
    sleep: Sleep,
    sites: Vec<Site>,
    /// Idle placements in the order in which they became idle, and so in which they fall asleep.
    idle: VecDeque<IdleNodes>,
    /// Running jobs that had to wait for nodes to wake.
    delayed: BTreeSet<JobId>,
}

struct Site {
    grid: Grid,
    asleep: NodeSet,
    /// When each node falls asleep if it stays idle; infinite for nodes that are not idle.
    due: Vec<Time>,
}

/// Nodes that fall asleep at `at` unless used before.
struct IdleNodes {
    at: Time,
    site: usize,
    placement: Placement,
}

const NEVER: f64 = f64::INFINITY;

impl SleepStates {
    /// Marks nodes as idle from now on.
    fn mark_idle(&mut self, site: usize, placement: Placement, now: Time) {
        let at = now + self.sleep.after;
        let Site { grid, due, .. } = &mut self.sites[site];
        placement.for_each_run(grid, |start, count| {
            due[start as usize..(start + count) as usize].fill(at);
        });
        self.idle.push_back(IdleNodes { at, site, placement });
    }

    /// Marks nodes as not idle; returns those that slept, sorted.
    fn mark_busy(&mut self, site: usize, placement: &Placement) -> Vec<Node> {
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

    /// Puts the next due nodes to sleep, if due before `by`: when, on which site, and which. The
    /// list is empty if all of them were used meanwhile.
    fn next_asleep(&mut self, by: Time) -> Option<(Time, usize, Vec<Node>)> {
        self.idle.front().filter(|idle| idle.at < by)?;
        let IdleNodes { at, site, placement } = self.idle.pop_front()?;
        let Site { grid, asleep, due } = &mut self.sites[site];
        let mut fallen = Vec::new();
        placement.for_each_run(grid, |start, count| {
            // Nodes used in the meantime are due at another instant.
            let idle = |node: &Node| due[*node as usize] == at && !asleep.contains(*node);
            fallen.extend((start..start + count).filter(idle));
        });
        fallen.iter().for_each(|&node| asleep.insert(node));
        fallen.sort_unstable();
        Some((at, site, fallen))
    }
}

impl Cluster<'_> {
    /// Installs the energy model; all nodes are idle at first.
    #[cold]
    pub(crate) fn enable_power(&mut self, energy: Energy, now: Time) {
        self.most_held = energy.most_held();
        self.count_free();
        let sleep_states = energy.sleep().map(|sleep| {
            let site = |managed: &ManagedSite| {
                let grid = managed.site().grid().clone();
                let asleep = NodeSet::empty(grid.nodes());
                let due = vec![Time::new(NEVER); grid.nodes() as usize];
                Site { grid, asleep, due }
            };
            let sites: Vec<Site> = self.facility.sites().iter().map(site).collect();
            let (idle, delayed) = (VecDeque::new(), BTreeSet::new());
            let mut sleep_states = SleepStates { sleep, sites, idle, delayed };
            for site in 0..sleep_states.sites.len() {
                let sides = Dims::from_slice(sleep_states.sites[site].grid.sides());
                sleep_states.mark_idle(site, Block { base: 0, sides }.into(), now);
            }
            sleep_states
        });
        self.power = Some(Box::new(Power { energy, sleep_states }));
    }

    /// Updates `most_free`.
    pub(super) fn count_free(&mut self) {
        self.most_free = self.facility.most_free().min(self.headroom());
    }

    /// Number of further nodes that may be held.
    pub(super) fn headroom(&self) -> u64 {
        self.most_held.saturating_sub(self.state.held)
    }

    /// Whether there is a power cap.
    pub(super) fn is_capped(&self) -> bool {
        self.most_held < u64::MAX
    }

    /// Whether holding `held` more nodes besides all of `kept` would exceed the power cap.
    pub(super) fn is_too_much(&self, held: u32, kept: &[(usize, &Placement)]) -> bool {
        u64::from(held) + self.free_of(kept) > self.headroom()
    }

    /// Number of free nodes among some kept placements.
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

    /// Number of further nodes that may be held beside a reservation when it begins. Running jobs
    /// are assumed to end at their estimates.
    pub(super) fn headroom_beside(&self, reservation: &Reservation) -> u64 {
        if !self.is_capped() {
            return u64::MAX;
        }
        self.headroom_at(reservation.at).saturating_sub(reservation.hold.nodes())
    }

    /// Number of further nodes that may be held at an instant, if running jobs end at their
    /// estimates.
    fn headroom_at(&self, at: Time) -> u64 {
        let ended = self.running().take_while(|(_, ran)| ran.expected_end.max(self.now) <= at);
        let jobs = ended.filter(|(_, ran)| !ran.is_stand_in());
        self.headroom() + jobs.map(|(_, ran)| u64::from(ran.held)).sum::<u64>()
    }

    /// First instant at or after `from` when the cap permits a reservation beside the running jobs.
    pub(super) fn held_from(&self, reservation: &Reservation, from: Time) -> Time {
        let count = reservation.hold.nodes();
        let ends = self.running().map(|(_, ran)| ran.expected_end.max(from));
        let mut instants = std::iter::once(from).chain(ends);
        instants.find(|&at| self.headroom_at(at) >= count).unwrap_or(from)
    }

    /// Advances to the last time before `to` at which nodes fall asleep; sets the power from then
    /// on.
    #[cold]
    pub(super) fn pass_with_power(&mut self, to: Time) {
        let Some(mut power) = self.power.take() else { return };
        if let Some(sleep_states) = &mut power.sleep_states {
            while let Some((at, site, nodes)) = sleep_states.next_asleep(to) {
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

    /// Wakes the nodes that a job takes; returns how long it waits for them.
    #[cold]
    pub(super) fn wake(&mut self, id: JobId, site: usize, placement: &Placement) -> f64 {
        let Some(sleep_states) = self.power.as_mut().and_then(|power| power.sleep_states.as_mut())
        else {
            return 0.0;
        };
        let nodes = sleep_states.mark_busy(site, placement);
        if nodes.is_empty() {
            return 0.0;
        }
        let Sleep { wake, wake_energy, .. } = sleep_states.sleep;
        sleep_states.delayed.insert(id);
        self.state.asleep -= nodes.len() as u64;
        let energy = wake_energy * nodes.len() as f64;
        self.observer.observe(self.now, &Event::Awake { site, nodes: &nodes, energy });
        wake
    }

    /// Marks the nodes of a stopped job as idle.
    #[cold]
    pub(super) fn leave_idle(&mut self, id: JobId, site: usize, placement: &Placement) {
        if let Some(sleep_states) =
            self.power.as_mut().and_then(|power| power.sleep_states.as_mut())
        {
            sleep_states.delayed.remove(&id);
            sleep_states.mark_idle(site, placement.clone(), self.now);
        }
    }

    /// How long a running job waited for nodes to wake.
    pub(super) fn woke_for(&self, id: JobId) -> f64 {
        let sleep_states = self.power.as_ref().and_then(|power| power.sleep_states.as_ref());
        sleep_states
            .filter(|sleep_states| sleep_states.delayed.contains(&id))
            .map_or(0.0, |sleep_states| sleep_states.sleep.wake)
    }

    /// Marks a node that goes out of service as not idle.
    pub(super) fn switch_off(&mut self, site: usize, placement: &Placement) {
        if let Some(sleep_states) =
            self.power.as_mut().and_then(|power| power.sleep_states.as_mut())
        {
            self.state.asleep -= sleep_states.mark_busy(site, placement).len() as u64;
        }
    }

    /// Marks a node that is back in service as idle.
    pub(super) fn switch_on(&mut self, site: usize, placement: &Placement) {
        if let Some(sleep_states) =
            self.power.as_mut().and_then(|power| power.sleep_states.as_mut())
        {
            sleep_states.mark_idle(site, placement.clone(), self.now);
        }
    }
}
