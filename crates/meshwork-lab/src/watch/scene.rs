//! State of a machine and its queue at one instant, with its utilization and fragmentation.

use std::collections::{BTreeMap, BTreeSet};

use meshwork::job::{Job, Time, WHOLE_SHARE};
use meshwork::machine::Placement;
use meshwork::observe::JobId;
use meshwork::topology::types::NodeTypes;
use meshwork::topology::{Node, Topology};

use super::{EventKind, RunEvent};

#[derive(Clone, Debug, PartialEq)]
pub struct Held {
    pub job: Job,
    pub site: usize,
    pub placement: Placement,
    pub since: Time,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct NodeUse {
    /// Amounts that jobs hold: cores, memory in MiB, thousandths of GPUs, and the resource `other`.
    pub held: [u64; 4],
    /// Share of the node that jobs hold, from 0 to 1: the largest share among all kinds of
    /// resources.
    pub share: f64,
    /// Job that holds the largest share of the node. `None` if no job holds anything. A job's share
    /// is that of the kind of resource of which it holds most. Of equal jobs, the oldest counts.
    pub most: Option<JobId>,
}

/// State of a machine and its queue, reconstructed from the events of a run.
///
/// The owner of a node is the job that holds it. If jobs share nodes, cores are counted instead,
/// and nodes have no owner. Processing an event takes **O(log n)** with *n* jobs in the system,
/// plus the number of nodes that change owner.
#[derive(Clone, Debug, Default)]
pub struct Scene {
    topologies: Vec<Topology>,
    owners: Vec<Vec<Option<JobId>>>,
    free: Vec<u32>,
    down: BTreeSet<(usize, Node)>,
    running: BTreeMap<JobId, Held>,
    waiting: BTreeMap<JobId, Job>,
    now: Time,
    began: Option<Time>,
    finished: u64,
    unserved: u64,
    events: u64,
    held_area: f64,
    fragmented_area: f64,
}

impl Scene {
    pub fn new(topologies: Vec<Topology>) -> Scene {
        let owners = topologies.iter().map(|t| vec![None; t.grid().nodes() as usize]).collect();
        let free = topologies.iter().map(|t| amount(t) as u32).collect();
        Scene { topologies, owners, free, ..Scene::default() }
    }

    pub fn advance(&mut self, to: Time) {
        if to <= self.now {
            return;
        }
        if self.began.is_some() {
            let span = to - self.now;
            self.held_area += span * self.held_nodes() as f64;
            self.fragmented_area += span * self.fragmented() as f64;
        }
        self.now = to;
    }

    pub fn apply(&mut self, happening: &RunEvent) {
        let RunEvent { at, id, what } = happening;
        self.advance(*at);
        self.events += 1;
        match what {
            EventKind::Arrived(job) => {
                self.began.get_or_insert(*at);
                self.waiting.insert(*id, job.clone());
            }
            EventKind::Refused(_) => self.unserved += 1,
            EventKind::TurnedAway => {
                self.unserved += 1;
                self.waiting.remove(id);
            }
            EventKind::Started { site, placement } => {
                let Some(job) = self.waiting.remove(id) else { return };
                let held = Held { job, site: *site, placement: placement.clone(), since: *at };
                self.give(*id, *site, placement);
                self.running.insert(*id, held);
            }
            EventKind::Moved { placement } => {
                let Some(held) = self.running.get_mut(id) else { return };
                let (site, from) = (held.site, held.placement.clone());
                held.placement = placement.clone();
                self.take_back(*id, site, &from);
                self.give(*id, site, placement);
            }
            EventKind::Finished => {
                let Some(held) = self.running.remove(id) else { return };
                self.take_back(*id, held.site, &held.placement);
                self.finished += 1;
            }
            EventKind::Interrupted => {
                let Some(held) = self.running.remove(id) else { return };
                self.take_back(*id, held.site, &held.placement);
                self.waiting.insert(*id, held.job);
            }
            EventKind::Down { site, node } => {
                if self.down.insert((*site, *node)) {
                    self.free[*site] -= self.has(*site, *node);
                }
            }
            EventKind::Up { site, node } => {
                if self.down.remove(&(*site, *node)) {
                    self.free[*site] += self.has(*site, *node);
                }
            }
        }
    }

    /// Records that a job holds its nodes. A node may still belong to another job, which moves away
    /// at the same instant.
    fn give(&mut self, id: JobId, site: usize, placement: &Placement) {
        let (owners, free) = (&mut self.owners[site], &mut self.free[site]);
        if let Some(parts) = &placement.parts {
            *free -= parts.cores;
            return;
        }
        placement.for_each_run(self.topologies[site].grid(), |start, count| {
            for owner in &mut owners[start as usize..(start + count) as usize] {
                *free -= u32::from(owner.is_none());
                *owner = Some(id);
            }
        });
    }

    fn take_back(&mut self, id: JobId, site: usize, placement: &Placement) {
        let (owners, free) = (&mut self.owners[site], &mut self.free[site]);
        if let Some(parts) = &placement.parts {
            *free += parts.cores;
            return;
        }
        placement.for_each_run(self.topologies[site].grid(), |start, count| {
            for owner in &mut owners[start as usize..(start + count) as usize] {
                if *owner == Some(id) {
                    *free += 1;
                    *owner = None;
                }
            }
        });
    }

    pub fn topologies(&self) -> &[Topology] {
        &self.topologies
    }

    pub fn owner(&self, site: usize, node: Node) -> Option<JobId> {
        self.owners[site][node as usize]
    }

    pub fn is_down(&self, site: usize, node: Node) -> bool {
        self.down.contains(&(site, node))
    }

    pub fn down(&self) -> &BTreeSet<(usize, Node)> {
        &self.down
    }

    /// Number of processors of a node: 1, or the number of its cores if jobs share nodes.
    fn has(&self, site: usize, node: Node) -> u32 {
        self.topologies[site].types().map_or(1, |types| types.of(node).cpu)
    }

    /// Free nodes of a site (cores, where jobs share nodes).
    pub fn free_on(&self, site: usize) -> u32 {
        self.free[site]
    }

    /// Use of each node of a site, computed anew at each call. `None` if jobs do not share the
    /// site's nodes.
    pub fn node_uses(&self, site: usize) -> Option<Vec<NodeUse>> {
        let types = self.topologies[site].types()?;
        let mut uses = vec![NodeUse::default(); types.nodes() as usize];
        // Largest share of each node that one job holds.
        let mut largest = vec![0.0; uses.len()];
        for (&id, held) in self.running.iter().filter(|(_, held)| held.site == site) {
            let mut own: BTreeMap<Node, [u64; 4]> = BTreeMap::new();
            for part in held.placement.parts.iter().flat_map(|parts| &parts.parts) {
                let kind = types.of(part.node);
                let amounts = part.amounts(kind);
                let cores = amounts.cores.iter().map(|&cores| u64::from(cores)).sum();
                let gpus = kind.gpu_shares(&part.cells);
                let all = [cores, amounts.mem.into(), gpus, amounts.other.into()];
                add(own.entry(part.node).or_default(), all);
            }
            for (node, amounts) in own {
                let (used, largest) = (&mut uses[node as usize], &mut largest[node as usize]);
                add(&mut used.held, amounts);
                let share = largest_share(types, node, amounts);
                if share > *largest {
                    (*largest, used.most) = (share, Some(id));
                }
            }
        }
        for (node, used) in (0..).zip(&mut uses) {
            used.share = largest_share(types, node, used.held);
        }
        Some(uses)
    }

    /// Running jobs, in the order of their arrival.
    pub fn running(&self) -> &BTreeMap<JobId, Held> {
        &self.running
    }

    pub fn waiting(&self) -> &BTreeMap<JobId, Job> {
        &self.waiting
    }

    pub fn now(&self) -> Time {
        self.now
    }

    pub fn finished(&self) -> u64 {
        self.finished
    }

    /// Number of jobs that were refused or turned away.
    pub fn unserved(&self) -> u64 {
        self.unserved
    }

    pub fn events(&self) -> u64 {
        self.events
    }

    fn nodes(&self) -> u64 {
        self.topologies.iter().map(amount).sum()
    }

    fn free_nodes(&self) -> u64 {
        self.free.iter().map(|&free| u64::from(free)).sum()
    }

    fn held_nodes(&self) -> u64 {
        let down = self.down.iter().map(|&(site, node)| u64::from(self.has(site, node)));
        self.nodes() - self.free_nodes() - down.sum::<u64>()
    }

    /// Number of free nodes if the oldest waiting job is blocked. Otherwise 0.
    ///
    /// The job is blocked if it waits although one site has enough free nodes.
    fn fragmented(&self) -> u64 {
        let asked = self.waiting.first_key_value().map(|(_, job)| job.request.nodes());
        let is_blocked =
            asked.is_some_and(|asked| self.free.iter().any(|&free| u64::from(free) >= asked));
        if is_blocked { self.free_nodes() } else { 0 }
    }

    /// Current share of all nodes that jobs hold. Nodes out of service do not count as used.
    pub fn utilization(&self) -> f64 {
        self.held_nodes() as f64 / self.nodes() as f64
    }

    /// Current share of free nodes if the oldest waiting job is blocked. Otherwise 0. The job is
    /// blocked if it waits although one site has enough free nodes.
    pub fn fragmentation(&self) -> f64 {
        self.fragmented() as f64 / self.nodes() as f64
    }

    /// Mean utilization and mean fragmentation from the first arrival to the current instant.
    pub fn means(&self) -> Option<(f64, f64)> {
        let area = (self.now - self.began?) * self.nodes() as f64;
        (area > 0.0).then(|| (self.held_area / area, self.fragmented_area / area))
    }
}

fn add(sums: &mut [u64; 4], amounts: [u64; 4]) {
    sums.iter_mut().zip(amounts).for_each(|(sum, amount)| *sum += amount);
}

/// Largest of the shares that `amounts` take up of the cores, memory, GPUs and `other` of a node.
///
/// GPUs are given in thousandths.
fn largest_share(types: &NodeTypes, node: Node, amounts: [u64; 4]) -> f64 {
    let kind = types.of(node);
    let all = [kind.cpu, kind.mem, kind.gpu * WHOLE_SHARE, kind.other];
    let shares = amounts.iter().zip(all).filter(|(_, all)| *all > 0);
    shares.map(|(&held, all)| held as f64 / f64::from(all)).fold(0.0, f64::max)
}

/// Number of nodes of a site (of cores, if jobs share nodes).
fn amount(topology: &Topology) -> u64 {
    topology.types().map_or(u64::from(topology.grid().nodes()), |types| types.cores())
}

#[cfg(test)]
mod tests {
    use meshwork::job::Time;
    use meshwork::observe::metrics::METRICS;
    use meshwork::topology::Topology;

    use crate::run::event::NOBODY;
    use crate::tests::{study, synthetic};
    use crate::watch::live::tests::all;
    use crate::watch::{EventKind, Live, RunEvent, Scene};

    /// Compares the mean utilization and fragmentation of a scene with the metrics of its run. Also
    /// checks the scene's counts of nodes.
    fn agree(scheduler: &str) -> f64 {
        let head = format!(
            "scheduler = '{scheduler}'\nmachine = {{ topology = 'mesh', dims = [8, 6] }}\n\
             measure = {{ time = 800.0 }}"
        );
        let study = study(&synthetic(&head, 0.7, ""));
        let (point, mut live) = Live::start(&study, 0, 0).unwrap();
        let mut scene = Scene::new(point.scenario.topologies());
        let (seen, outcome) = all(&mut live);
        let outcome = outcome.unwrap();
        for happening in &seen {
            scene.apply(happening);
            // During moves of one instant, jobs may hold nodes that others have yet to leave.
            if matches!(happening.what, EventKind::Moved { .. }) {
                continue;
            }
            let held: u32 = scene.running().values().map(|held| held.placement.len()).sum();
            assert_eq!(scene.free_on(0) + held, 48);
            for (&id, held) in scene.running() {
                for node in held.placement.nodes(scene.topologies()[0].grid()) {
                    assert_eq!(scene.owner(0, node), Some(id));
                }
            }
        }
        scene.advance(outcome.end);
        let metric = |name: &str| {
            assert!(METRICS.iter().any(|metric| metric.about.name == name));
            outcome.metrics.iter().find(|m| m.name == name).unwrap().value.unwrap()
        };
        let (utilization, fragmentation) = scene.means().unwrap();
        assert!((utilization - metric("utilization")).abs() < 1e-9);
        assert!((fragmentation - metric("external_fragmentation")).abs() < 1e-9);
        assert_eq!((scene.finished(), scene.unserved()), (outcome.finished, outcome.refused));
        fragmentation
    }

    #[test]
    fn nodes_out_of_service_are_not_used() {
        let mut scene = Scene::new(vec![Topology::mesh(&[4]).unwrap()]);
        let event = |at, what| RunEvent { at: Time::new(at), id: NOBODY, what };
        scene.apply(&event(0.0, EventKind::Down { site: 0, node: 3 }));
        assert!(scene.utilization().abs() < 1e-9 && scene.free_on(0) == 3);
        scene.apply(&event(1.0, EventKind::Up { site: 0, node: 3 }));
        assert!(scene.utilization().abs() < 1e-9 && scene.free_on(0) == 4);
    }

    #[test]
    fn shared_nodes_are_used_by_what_jobs_hold() {
        let text = "machine = { topology = 'flat', processors = 4, nodes = [{ type = 'a', cpu = 8, gpu = 2 }] }\n\
                    measure = { jobs = 200 }\n[workload]\nname = 'synthetic'\nload = 0.7\n\
                    sizes = { name = 'vectors', of = [{ gpu = 1, cpu = 2 }, { cpu = 3 }] }\n\
                    runtimes = { name = 'exponential', mean = 5.0 }\n";
        let (point, mut live) = Live::start(&study(text), 0, 0).unwrap();
        let mut scene = Scene::new(point.scenario.topologies());
        let grid = scene.topologies()[0].grid().clone();
        let mut full = 0;
        let (seen, outcome) = all(&mut live);
        outcome.unwrap();
        for happening in &seen {
            scene.apply(happening);
            let uses = scene.node_uses(0).unwrap();
            let cores: u64 = uses.iter().map(|used| used.held[0]).sum();
            assert_eq!(cores + u64::from(scene.free_on(0)), 32);
            for (node, used) in (0..).zip(&uses) {
                let [cores, _, gpus, _] = used.held;
                let share = (cores as f64 / 8.0).max(gpus as f64 / 2000.0);
                assert!((used.share - share).abs() < 1e-9 && share <= 1.0);
                full += u32::from(share >= 1.0);
                let is_there = |id| scene.running()[&id].placement.nodes(&grid).contains(&node);
                assert_eq!(used.most.is_some_and(is_there), share > 0.0);
            }
        }
        assert!(full > 50, "{full} times a node was full");
        let untyped = Scene::new(vec![Topology::mesh(&[4]).unwrap()]);
        assert_eq!(untyped.node_uses(0), None);
    }

    #[test]
    fn its_means_are_the_metrics_of_the_run() {
        assert!(agree("fcfs") > 0.05, "there is something to measure");
        assert!(agree("equipartition") < 1e-9, "all of the machine is held");
        agree("folding");
    }
}
