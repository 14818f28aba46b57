//! Power use during a run: nodes that fall asleep and are woken, and the power cap.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use super::Cluster;
use super::reservation::{Hold, Reservation};
use crate::energy::{Draws, Energy, Sleep};
use crate::geometry::{Block, NodePart, NodeSet, Placement};
use crate::job::{Dims, Time, WHOLE_SHARE};
use crate::machine;
use crate::observe::{Event, JobId};
use crate::offer::{ManagedSite, Proposal};
use crate::topology::types::NodeTypes;
use crate::topology::{Grid, Node};

pub(super) struct Power {
    energy: Energy,
    sleep_states: Option<SleepStates>,
    /// Amount of free GPUs, and amount of held GPUs, in thousandths of a GPU. Only nodes that are
    /// in service and awake count.
    gpus: [u64; 2],
}

struct SleepStates {
    sleep: Sleep,
    sites: Vec<Site>,
    /// Idle nodes, in the order in which they will fall asleep.
    idle: VecDeque<IdleNodes>,
    /// Running jobs whose start waited for nodes to wake.
    delayed: BTreeSet<JobId>,
}

struct Site {
    grid: Grid,
    /// Types of the nodes, with their processors and GPUs; `None` if jobs do not share nodes.
    types: Option<Arc<NodeTypes>>,
    /// For each node with GPUs out of service, the amount of these GPUs in thousandths of a GPU.
    out: BTreeMap<Node, u64>,
    asleep: NodeSet,
    /// When each node falls asleep if it stays idle. Infinite for a node that is not idle.
    due: Vec<Time>,
}

struct IdleNodes {
    at: Time,
    site: usize,
    placement: Placement,
}

const NEVER: f64 = f64::INFINITY;

impl SleepStates {
    fn mark_idle(&mut self, site: usize, placement: Placement, now: Time) {
        let at = now + self.sleep.after;
        let Site { grid, due, .. } = &mut self.sites[site];
        placement.for_each_run(grid, |start, count| {
            due[start as usize..(start + count) as usize].fill(at);
        });
        self.idle.push_back(IdleNodes { at, site, placement });
    }

    /// Marks the nodes of a placement as busy. Returns the nodes that were asleep, in ascending
    /// order.
    fn mark_busy(&mut self, site: usize, placement: &Placement) -> Vec<Node> {
        let Site { grid, asleep, due, .. } = &mut self.sites[site];
        let mut woken = Vec::new();
        placement.for_each_run(grid, |start, count| {
            due[start as usize..(start + count) as usize].fill(Time::new(NEVER));
            woken.extend((start..start + count).filter(|&node| asleep.contains(node)));
        });
        woken.iter().for_each(|&node| asleep.remove(node));
        woken.sort_unstable();
        woken
    }

    /// Puts to sleep the nodes that are due next; `None` if none are due before `by`. The list is
    /// empty if all of these nodes were used in the meantime.
    fn next_asleep(&mut self, by: Time) -> Option<(Time, usize, Vec<Node>)> {
        self.idle.front().filter(|idle| idle.at < by)?;
        let IdleNodes { at, site, placement } = self.idle.pop_front()?;
        let Site { grid, asleep, due, .. } = &mut self.sites[site];
        let mut fallen = Vec::new();
        placement.for_each_run(grid, |start, count| {
            // A node that was used in the meantime is due at another instant.
            let idle = |node: &Node| due[*node as usize] == at && !asleep.contains(*node);
            fallen.extend((start..start + count).filter(idle));
        });
        fallen.iter().for_each(|&node| asleep.insert(node));
        fallen.sort_unstable();
        Some((at, site, fallen))
    }
}

impl Cluster<'_> {
    #[cold]
    pub(crate) fn enable_power(&mut self, energy: Energy, now: Time) {
        (self.draws, self.most_held) = (energy.draws, energy.most_held);
        self.count_free();
        let sleep_states = energy.sleep.map(|sleep| {
            let site = |managed: &ManagedSite| {
                let grid = managed.site().grid().clone();
                let asleep = NodeSet::empty(grid.nodes());
                let due = vec![Time::new(NEVER); grid.nodes() as usize];
                let types = managed.site().topology().types().cloned();
                Site { grid, types, out: BTreeMap::new(), asleep, due }
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
        let types = self.facility.sites().iter().filter_map(|m| m.site().topology().types());
        let gpus: u64 = types.map(|types| types.totals()[2]).sum();
        let gpus = [gpus * u64::from(WHOLE_SHARE), 0];
        self.power = Some(Box::new(Power { energy, sleep_states, gpus }));
    }

    pub(super) fn count_free(&mut self) {
        let is_capped = self.is_capped();
        let permitted =
            if is_capped { self.draws.processors_in(self.headroom()) } else { u64::MAX };
        self.most_free = self.facility.most_free().min(permitted);
    }

    /// Amount that may be held under the power cap in addition to what is held now.
    ///
    /// The unit is the one of [`Draws`]: processors, unless GPUs count too.
    pub(super) fn headroom(&self) -> u64 {
        let held = |power: &Power| self.draws.of(self.state.held, power.gpus[1]);
        self.most_held.saturating_sub(self.power.as_deref().map_or(0, held))
    }

    pub(super) fn draw_of(&self, site: usize, placement: &Placement) -> u64 {
        draw_of(self.draws, self.site(site), placement)
    }

    pub(super) fn is_capped(&self) -> bool {
        self.most_held < u64::MAX
    }

    /// Whether the power cap forbids a job to start as proposed.
    ///
    /// Free nodes in the placements `kept` count as held, because they are kept for other jobs.
    pub(super) fn is_too_much(&self, proposal: &Proposal, kept: &[(usize, &Placement)]) -> bool {
        self.draw_of(proposal.site, &proposal.placement) + self.free_of(kept) > self.headroom()
    }

    /// Amount by which the free part of the placements `kept` counts towards the power cap.
    ///
    /// Nodes, or parts of nodes, that are held now do not count.
    fn free_of(&self, kept: &[(usize, &Placement)]) -> u64 {
        if self.facility.shares_nodes() {
            return kept.iter().map(|(site, placement)| self.free_parts_of(*site, placement)).sum();
        }
        let sites = self.facility.sites().iter().enumerate();
        let free = sites.map(|(index, managed)| {
            let site = managed.site();
            let mut nodes = NodeSet::empty(site.grid().nodes());
            let here = kept.iter().filter(|(on, _)| *on == index);
            here.for_each(|(_, placement)| placement.add_to(&mut nodes, site.grid()));
            nodes.intersect(site.free());
            u64::from(nodes.count())
        });
        if kept.is_empty() { 0 } else { self.draws.of(free.sum(), 0) }
    }

    /// Amount by which a placement counts towards the power cap, as far as it is free now.
    ///
    /// A placement without parts of nodes counts in full.
    fn free_parts_of(&self, site: usize, placement: &Placement) -> u64 {
        let on = self.site(site);
        let (Some(amounts), Some(parts)) = (on.amounts(), &placement.parts) else {
            return self.draw_of(site, placement);
        };
        let of_part = |part: &NodePart| {
            let of = amounts.of(part.node);
            let free = |&(cell, amount): &(u16, u32)| (cell, amount.min(of.cells[cell as usize]));
            let cells = part.cells.iter().map(free).collect();
            let part = NodePart { node: part.node, pieces: part.pieces, cells };
            let cores: u32 = part.amounts(of.kind).cores.iter().sum();
            self.draws.of(cores.into(), of.kind.gpu_shares(&part.cells))
        };
        parts.parts.iter().map(of_part).sum()
    }

    /// Amount that other jobs may hold under the power cap once a reservation has begun.
    ///
    /// The reserved nodes are already subtracted, and so are the nodes of jobs that are expected to
    /// run then. `u64::MAX` without a power cap.
    pub(super) fn headroom_beside(&self, reservation: &Reservation) -> u64 {
        if !self.is_capped() {
            return u64::MAX;
        }
        self.headroom_at(reservation.at).saturating_sub(self.draw_of_hold(reservation))
    }

    fn draw_of_hold(&self, reservation: &Reservation) -> u64 {
        draw_of_hold(self.draws, self.site(reservation.site), reservation)
    }

    /// Amount that the power cap permits at an instant, in addition to what running jobs hold then.
    /// Running jobs are assumed to end at their estimates.
    fn headroom_at(&self, at: Time) -> u64 {
        let ended = self.running().take_while(|(_, ran)| ran.expected_end.max(self.now) <= at);
        let back = ended.map(|(_, ran)| self.draw_of(ran.site, &ran.placement));
        self.headroom().saturating_add(back.sum())
    }

    /// First instant, not before `from`, at which the power cap permits a reservation. If it never
    /// does, returns `from`.
    pub(super) fn held_from(&self, reservation: &Reservation, from: Time) -> Time {
        let amount = self.draw_of_hold(reservation);
        let ends = self.busy_nodes().map(|holding| holding.until.max(from));
        let mut instants = std::iter::once(from).chain(ends);
        instants.find(|&at| self.headroom_at(at) >= amount).unwrap_or(from)
    }

    /// Puts to sleep all nodes that are due before `to`. Advances the clock to each of these
    /// instants, and updates the power use.
    #[cold]
    pub(super) fn pass_with_power(&mut self, to: Time) {
        let Some(mut power) = self.power.take() else { return };
        if let Some(sleep_states) = &mut power.sleep_states {
            while let Some((at, site, nodes)) = sleep_states.next_asleep(to) {
                if nodes.is_empty() {
                    continue;
                }
                if at > self.now {
                    self.state.power = power.energy.total(&self.state, power.gpus);
                    self.observer.elapsed(self.now, at, &self.state);
                    self.now = at;
                }
                let (processors, shares) = sleep_states.sites[site].has(&nodes);
                self.state.asleep += processors;
                power.gpus[0] -= shares;
                self.observer.observe(self.now, &Event::Asleep { site, nodes: &nodes });
            }
        }
        self.state.power = power.energy.total(&self.state, power.gpus);
        self.power = Some(power);
    }

    /// Wakes those nodes of a job that are asleep. Returns how long the job waits for them.
    #[cold]
    pub(super) fn wake(&mut self, id: JobId, site: usize, placement: &Placement) -> f64 {
        let held = self.gpu_shares(site, placement);
        let Some(Power { gpus, sleep_states, .. }) = self.power.as_deref_mut() else { return 0.0 };
        let nodes = match sleep_states {
            Some(sleep_states) => sleep_states.mark_busy(site, placement),
            None => Vec::new(),
        };
        let Some(sleep_states) = sleep_states.as_mut().filter(|_| !nodes.is_empty()) else {
            *gpus = [gpus[0] - held, gpus[1] + held];
            return 0.0;
        };
        let Sleep { wake, wake_energy, .. } = sleep_states.sleep;
        sleep_states.delayed.insert(id);
        let (processors, shares) = sleep_states.sites[site].has(&nodes);
        *gpus = [gpus[0] + shares - held, gpus[1] + held];
        self.state.asleep -= processors;
        let energy = wake_energy * processors as f64;
        self.observer.observe(self.now, &Event::Awake { site, nodes: &nodes, energy });
        wake
    }

    #[cold]
    pub(super) fn leave_idle(&mut self, id: JobId, site: usize, placement: &Placement) {
        let given_back = self.gpu_shares(site, placement);
        let idle = self.idle_part(site, placement);
        let Some(power) = self.power.as_mut() else { return };
        power.gpus = [power.gpus[0] + given_back, power.gpus[1] - given_back];
        if let Some(sleep_states) = power.sleep_states.as_mut() {
            sleep_states.delayed.remove(&id);
            sleep_states.mark_idle(site, idle, self.now);
        }
    }

    fn gpu_shares(&self, site: usize, placement: &Placement) -> u64 {
        gpu_shares(self.site(site), placement)
    }

    /// Part of a placement on nodes without other running jobs; all of it if jobs do not share
    /// nodes.
    fn idle_part(&self, site: usize, placement: &Placement) -> Placement {
        let site = self.site(site);
        match site.amounts() {
            Some(_) => placement.part_in(site.free(), site.grid()),
            None => placement.clone(),
        }
    }

    pub(super) fn woke_for(&self, id: JobId) -> f64 {
        let sleep_states = self.power.as_ref().and_then(|power| power.sleep_states.as_ref());
        sleep_states
            .filter(|sleep_states| sleep_states.delayed.contains(&id))
            .map_or(0.0, |sleep_states| sleep_states.sleep.wake)
    }

    pub(super) fn switch_off(&mut self, site: usize, placement: &Placement) {
        let out = self.gpu_shares(site, placement);
        let is_gpu = placement.is_empty();
        let Some(Power { gpus, sleep_states, .. }) = self.power.as_deref_mut() else { return };
        let Some(sleep_states) = sleep_states else {
            gpus[0] -= out;
            return;
        };
        if is_gpu {
            gpus[0] -= sleep_states.sites[site].mark_out(placement, out);
            return;
        }
        let nodes = sleep_states.mark_busy(site, placement);
        let (processors, shares) = sleep_states.sites[site].has(&nodes);
        self.state.asleep -= processors;
        gpus[0] = gpus[0] + shares - out;
    }

    pub(super) fn switch_on(&mut self, site: usize, placement: &Placement) {
        let back = self.gpu_shares(site, placement);
        let is_gpu = placement.is_empty();
        let idle = self.idle_part(site, placement);
        let Some(Power { gpus, sleep_states, .. }) = self.power.as_deref_mut() else { return };
        match sleep_states {
            Some(sleep_states) if is_gpu => {
                gpus[0] += sleep_states.sites[site].mark_in(placement, back);
            }
            Some(sleep_states) => {
                gpus[0] += back;
                sleep_states.mark_idle(site, idle, self.now);
            }
            None => gpus[0] += back,
        }
    }
}

/// Amount of GPUs that a placement holds, in thousandths of a GPU; 0 if jobs do not share nodes.
fn gpu_shares(site: &machine::Site, placement: &Placement) -> u64 {
    match (site.topology().types(), &placement.parts) {
        (Some(types), Some(parts)) => {
            parts.parts.iter().map(|part| types.of(part.node).gpu_shares(&part.cells)).sum()
        }
        _ => 0,
    }
}

/// Amount by which a placement on a site counts towards the power cap.
pub(super) fn draw_of(draws: Draws, site: &machine::Site, placement: &Placement) -> u64 {
    let shares = if draws.counts_gpus() { gpu_shares(site, placement) } else { 0 };
    draws.of(placement.len().into(), shares)
}

/// Amount by which a reservation's nodes on one site count towards the power cap.
pub(super) fn draw_of_hold(draws: Draws, site: &machine::Site, reservation: &Reservation) -> u64 {
    match &reservation.hold {
        Hold::Nodes(placement) => draw_of(draws, site, placement),
        Hold::Count(request) => draws.of(request.nodes(), 0),
    }
}

impl Site {
    /// Number of processors in service on the given nodes, and their GPUs in thousandths of a GPU.
    fn has(&self, nodes: &[Node]) -> (u64, u64) {
        let Some(types) = &self.types else { return (nodes.len() as u64, 0) };
        nodes.iter().fold((0, 0), |(processors, gpus), &node| {
            let kind = types.of(node);
            let own = u64::from(kind.gpu * WHOLE_SHARE) - self.out.get(&node).unwrap_or(&0);
            (processors + u64::from(kind.cpu), gpus + own)
        })
    }

    /// Marks a GPU, or `shares` thousandths of it, as out of service.
    ///
    /// Returns the share that is no longer awake, in thousandths of a GPU: `shares`, or 0 if the
    /// node already sleeps.
    fn mark_out(&mut self, gpu: &Placement, shares: u64) -> u64 {
        let Some(block) = gpu.blocks.first() else { return 0 };
        *self.out.entry(block.base).or_default() += shares;
        if self.asleep.contains(block.base) { 0 } else { shares }
    }

    /// Puts a GPU, or a share of it, back into service.
    ///
    /// Returns the share that is now awake, in thousandths of a GPU: `shares`, or 0 if the node
    /// sleeps.
    fn mark_in(&mut self, gpu: &Placement, shares: u64) -> u64 {
        let Some(block) = gpu.blocks.first() else { return 0 };
        self.out.entry(block.base).and_modify(|out| *out -= shares);
        if self.asleep.contains(block.base) { 0 } else { shares }
    }
}
