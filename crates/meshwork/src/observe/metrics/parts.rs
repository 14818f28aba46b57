//! Metrics for nodes that jobs share. They have values only on machines that declare node types.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::{Gauge, JobValue, Measure, MetricEntry};
use crate::gpus::{GpuNode, TypicalTasks};
use crate::job::{Inside, Job, Request, Time, WHOLE_SHARE};
use crate::machine::tasks::{put_into, task_of};
use crate::machine::{Amounts, NodeAmounts, Parts};
use crate::observe::{Event, JobId, MachineState, Observer, Running};
use crate::registry::About;
use crate::topology::Topology;
use crate::topology::types::{CORES, NodeTypes};

/// Function that returns what a node adds to a numerator and to a denominator, both sums over
/// nodes.
type OfNode = Box<dyn FnMut(&NodeAmounts<'_>) -> [f64; 2] + Send>;

/// Gauge: the mean over time of a sum over the nodes, or of a ratio of two such sums.
struct NodeRatio {
    /// Free amounts of each site; empty if jobs do not share nodes.
    sites: Vec<Amounts>,
    /// Types of nodes of all sites; `None` if jobs do not share nodes.
    types: Option<Arc<NodeTypes>>,
    of: OfNode,
    /// Contributions of each node to the two sums of a ratio, by site and node.
    nodes: Vec<Vec<[f64; 2]>>,
    sums: [f64; 2],
    is_sum: bool,
    area: f64,
    time: f64,
    /// Requests of the jobs that have arrived. From time to time, `of` is rebuilt from them.
    ///
    /// `None` if the function `of` does not depend on requests.
    typical: Option<Learned>,
}

struct Learned {
    jobs: Vec<crate::gpus::GpuTask>,
    /// Number of tasks in `jobs` at which the gauge's function `of` is next rebuilt from them.
    due: usize,
}

impl NodeRatio {
    fn new(machine: &[Topology], is_sum: bool, of: OfNode) -> NodeRatio {
        let types = machine.iter().filter_map(Topology::types);
        let sites = types.map(|types| Amounts::new(Arc::clone(types))).collect();
        let mut gauge = NodeRatio {
            sites,
            types: NodeTypes::of_sites(machine),
            of,
            nodes: Vec::new(),
            sums: [0.0; 2],
            is_sum,
            area: 0.0,
            time: 0.0,
            typical: None,
        };
        gauge.read_all();
        gauge
    }

    fn read_all(&mut self) {
        let NodeRatio { sites, of, .. } = self;
        let nodes = sites.iter().map(|amounts| {
            (0..amounts.types().nodes()).map(|node| of(&amounts.of(node))).collect()
        });
        self.nodes = nodes.collect();
        self.sums = [0, 1].map(|at| self.nodes.iter().flatten().map(|own| own[at]).sum());
    }

    fn change(&mut self, running: &Running, change: impl FnOnce(&mut Amounts, &Parts)) {
        let site = running.site;
        let (Some(amounts), Some(parts)) = (self.sites.get_mut(site), &running.placement.parts)
        else {
            return;
        };
        change(amounts, parts);
        for part in &parts.parts {
            let now = (self.of)(&amounts.of(part.node));
            let before = std::mem::replace(&mut self.nodes[site][part.node as usize], now);
            for at in 0..2 {
                self.sums[at] += now[at] - before[at];
            }
        }
    }

    fn learn(&mut self, job: &Job) {
        let (Some(types), Some(known)) = (&self.types, &mut self.typical) else { return };
        let Request::Pieces(request) = &job.request else { return };
        for piece in &request.roles {
            let task = task_of(piece, types);
            known.jobs.extend(std::iter::repeat_n(task, piece.count.min(64) as usize));
        }
        if known.jobs.len() >= known.due {
            known.due = 2 * known.jobs.len();
            self.of = unusable(TypicalTasks::of(&known.jobs));
            self.read_all();
        }
    }
}

impl Observer for NodeRatio {
    fn elapsed(&mut self, from: Time, to: Time, _state: &MachineState) {
        let [over, under] = self.sums;
        let value = if self.is_sum { over } else { over / under };
        if value.is_finite() {
            self.area += (to - from) * value;
            self.time += to - from;
        }
    }

    fn observe(&mut self, _now: Time, event: &Event<'_>) {
        match event {
            Event::Arrived(_, job) if self.typical.is_some() => self.learn(job),
            Event::Started(running) => {
                self.change(running, |amounts, parts| amounts.take(parts, &mut |_, _| {}));
            }
            Event::Finished(running) | Event::Interrupted(running) => {
                self.change(running, |amounts, parts| amounts.give_back(parts, &mut |_, _| {}));
            }
            _ => {}
        }
    }
}

impl Gauge for NodeRatio {
    fn value(&self) -> Option<f64> {
        (!self.sites.is_empty() && self.time > 0.0).then(|| self.area / self.time)
    }
}

/// Gauge of the share of a resource that jobs hold.
///
/// The function `kind` returns the free amount and the whole amount of the resource on a node.
fn allocated(machine: &[Topology], kind: fn(&NodeAmounts<'_>) -> (u32, u32)) -> Box<dyn Gauge> {
    let of = move |node: &NodeAmounts<'_>| {
        let (free, own) = kind(node);
        [f64::from(own) - f64::from(free), f64::from(own)]
    };
    Box::new(NodeRatio::new(machine, false, Box::new(of)))
}

fn cpu(node: &NodeAmounts<'_>) -> (u32, u32) {
    (node.cores, node.kind.cpu)
}

fn mem(node: &NodeAmounts<'_>) -> (u32, u32) {
    (node.mem(), node.kind.mem)
}

/// Free GPUs and all GPUs of a node, both in thousandths of a GPU.
fn gpu(node: &NodeAmounts<'_>) -> (u32, u32) {
    (node.gpu_shares().iter().sum(), node.kind.gpu * WHOLE_SHARE)
}

fn other(node: &NodeAmounts<'_>) -> (u32, u32) {
    (node.other(), node.kind.other)
}

macro_rules! allocation {
    ($name:ident, $word:literal, $what:literal, $kind:ident) => {
        pub(super) static $name: MetricEntry = MetricEntry::new(
            About::new(concat!($word, "_allocation"), concat!("share of all ", $what, " that jobs hold"))
                .definition(concat!(
                    "The mean over time since the first arrival, warm-up included, of the ", $what,
                    " that jobs hold, divided by those of the machine. A job with nodes of its own holds all of them."
                ))
                .complexity("O(1) for each part of a job that starts or ends.")
                .source("general"),
            "share",
            Measure::Watched(|_, machine| allocated(machine, $kind)),
        );
    };
}

allocation!(CPU_ALLOCATION, "cpu", "cores", cpu);
allocation!(MEM_ALLOCATION, "mem", "memory", mem);
allocation!(GPU_ALLOCATION, "gpu", "GPUs", gpu);
allocation!(OTHER_ALLOCATION, "other", "units of the fourth kind", other);

/// Gauge of the mean share of one resource of the machine that running jobs request.
struct Asked {
    kind: usize,
    own: f64,
    running: BTreeMap<JobId, f64>,
    asked: f64,
    area: f64,
    time: f64,
}

impl Asked {
    fn gauge(machine: &[Topology], kind: usize) -> Box<dyn Gauge> {
        let own = NodeTypes::totals_of(machine)[kind] as f64;
        let (running, asked) = (BTreeMap::new(), 0.0);
        Box::new(Asked { kind, own, running, asked, area: 0.0, time: 0.0 })
    }
}

impl Observer for Asked {
    fn elapsed(&mut self, from: Time, to: Time, _state: &MachineState) {
        self.area += (to - from) * self.asked;
        self.time += to - from;
    }

    fn observe(&mut self, _now: Time, event: &Event<'_>) {
        match event {
            Event::Started(running) => {
                let Request::Pieces(request) = &running.job.request else { return };
                let amount = |piece: &crate::job::Piece| {
                    let each = [
                        f64::from(piece.cpu),
                        f64::from(piece.mem),
                        f64::from(piece.gpu) * f64::from(piece.share) / f64::from(WHOLE_SHARE),
                        f64::from(piece.other),
                    ];
                    f64::from(piece.count) * each[self.kind]
                };
                let asked: f64 = request.roles.iter().map(amount).sum();
                self.running.insert(running.id, asked);
                self.asked += asked;
            }
            Event::Finished(running) | Event::Interrupted(running) => {
                self.asked -= self.running.remove(&running.id).unwrap_or(0.0);
            }
            _ => {}
        }
    }
}

impl Gauge for Asked {
    fn value(&self) -> Option<f64> {
        let under = self.own * self.time;
        (under > 0.0).then(|| self.area / under)
    }
}

macro_rules! utilization {
    ($name:ident, $word:literal, $what:literal, $kind:literal) => {
        pub(super) static $name: MetricEntry = MetricEntry::new(
            About::new(
                concat!($word, "_utilization"),
                concat!("share of all ", $what, " that the pieces of running jobs ask for"),
            )
            .definition(concat!(
                "The mean over time since the first arrival, warm-up included, of the ", $what,
                " that the pieces of running jobs ask for, divided by those of the machine. What a job holds \
                 beside, with nodes of its own, does not count; whole nodes ask for nothing in particular."
            ))
            .complexity("O(log r) for each start and end, with r running jobs.")
            .source("general"),
            "share",
            Measure::Watched(|_, machine| Asked::gauge(machine, $kind)),
        );
    };
}

utilization!(CPU_UTILIZATION, "cpu", "cores", 0);
utilization!(MEM_UTILIZATION, "mem", "memory", 1);
utilization!(GPU_UTILIZATION, "gpu", "GPUs", 2);
utilization!(OTHER_UTILIZATION, "other", "units of the fourth kind", 3);

pub(super) static UNALLOCATED_GPUS: MetricEntry = MetricEntry::new(
    About::new("unallocated_gpus", "number of GPUs that no job holds")
        .definition("The mean over time since the first arrival, warm-up included, of the GPUs that no job holds; of shared ones the rest.")
        .complexity("O(1) for each part of a job that starts or ends.")
        .source("Weng et al., USENIX ATC 2023"),
    "GPUs",
    Measure::Watched(|_, machine| {
        let of = |node: &NodeAmounts<'_>| [f64::from(gpu(node).0) / f64::from(WHOLE_SHARE), 0.0];
        Box::new(NodeRatio::new(machine, true, Box::new(of)))
    }),
);

macro_rules! frag {
    ($name:ident, $word:literal, $size:literal) => {
        pub(super) static $name: MetricEntry = MetricEntry::new(
            About::new(
                concat!("gpu_frag_", $word),
                concat!("share of the free GPUs that pieces of ", $word, " on one node could not take"),
            )
            .definition(concat!(
                "Frag(s) = 1 − s Σ⌊f / s⌋ / Σ f, with s = ", $word,
                " and f the wholly free GPUs of each node: the mean over the time in which any GPU is free, \
                 warm-up included."
            ))
            .complexity("O(1) for each part of a job that starts or ends.")
            .source("general"),
            "share",
            Measure::Watched(|_, machine| {
                let of = |node: &NodeAmounts<'_>| {
                    let free = node.gpus;
                    [f64::from(free - free / $size * $size), f64::from(free)]
                };
                Box::new(NodeRatio::new(machine, false, Box::new(of)))
            }),
        );
    };
}

frag!(GPU_FRAG_2, "2", 2);
frag!(GPU_FRAG_4, "4", 4);
frag!(GPU_FRAG_8, "8", 8);

pub(super) static FGD_FRAGMENTATION: MetricEntry = MetricEntry::new(
    About::new("fgd_fragmentation", "share of all GPUs that are free but of no use to a typical piece")
        .definition(
            "The expected part of the free GPUs of a node that a typical piece cannot use there, \
             summed over the nodes and divided by all GPUs: the mean over time, warm-up \
             included. Typical are the pieces of the jobs that have arrived, renewed as their \
             number doubles, the most frequent up to 95 %.",
        )
        .complexity("O(k g) for each part of a job that starts or ends, with k typical pieces and g GPUs of a node.")
        .source("Weng et al., Beware of fragmentation, USENIX ATC 2023"),
    "share",
    Measure::Watched(|_, machine| {
        let mut gauge = NodeRatio::new(machine, false, unusable(TypicalTasks::of(&[])));
        gauge.typical = Some(Learned { jobs: Vec::new(), due: 1 });
        Box::new(gauge)
    }),
);

/// Function that returns, for a node, the free GPUs useless to a typical task, and all GPUs.
///
/// Both are in thousandths of a GPU. The first is an expected value over the typical tasks.
fn unusable(typical: TypicalTasks) -> OfNode {
    let mut known = GpuNode::new("", 0, 0, 0, "");
    Box::new(move |node| {
        put_into(node, &mut known);
        [typical.fragmentation(&known), f64::from(node.kind.gpu * WHOLE_SHARE)]
    })
}

/// Gauge: share of one resource that is free on nodes where another resource is used up.
fn stranded(machine: &[Topology], kind: usize) -> Box<dyn Gauge> {
    let of = move |node: &NodeAmounts<'_>| {
        let all = [cpu(node), mem(node), gpu(node)];
        let (free, own) = all[kind];
        let is_used_up =
            |&(at, &(free, own)): &(usize, &(u32, u32))| at != kind && own > 0 && free == 0;
        let is_stranded = all.iter().enumerate().any(|one| is_used_up(&one));
        [if is_stranded { f64::from(free) } else { 0.0 }, f64::from(own)]
    };
    Box::new(NodeRatio::new(machine, false, Box::new(of)))
}

macro_rules! stranded {
    ($name:ident, $word:literal, $what:literal, $kind:literal) => {
        pub(super) static $name: MetricEntry = MetricEntry::new(
            About::new(
                concat!("stranded_", $word),
                concat!("share of all ", $what, " that are free on nodes of which another kind is used up"),
            )
            .definition(concat!(
                "The ", $what, " that are free on nodes with no free core, memory or GPU left of another kind \
                 that they have, divided by those of the machine: the mean over time, warm-up included."
            ))
            .complexity("O(1) for each part of a job that starts or ends.")
            .source("general"),
            "share",
            Measure::Watched(|_, machine| stranded(machine, $kind)),
        );
    };
}

stranded!(STRANDED_CPU, "cpu", "cores", 0);
stranded!(STRANDED_MEM, "mem", "units of memory", 1);
stranded!(STRANDED_GPU, "gpu", "GPUs", 2);

/// Function that returns how many islands, nodes, leaves or blocks the cores of a job span.
///
/// `place` maps a node and the index of a resource on it to an island, node, leaf or block.
fn spread(machine: &[Topology], place: fn(&Topology, u32, u16) -> Option<u32>) -> JobValue {
    let machine = machine.to_vec();
    Box::new(move |running, _, _| {
        let (Some(topology), Some(parts)) = (machine.get(running.site), &running.placement.parts)
        else {
            return f64::NAN;
        };
        let mut places = BTreeSet::new();
        for part in &parts.parts {
            places.extend(
                part.cells.iter().filter_map(|(cell, _)| place(topology, part.node, *cell)),
            );
        }
        if places.is_empty() { f64::NAN } else { places.len() as f64 }
    })
}

macro_rules! spread {
    ($name:ident, $word:literal, $what:literal, $place:expr) => {
        pub(super) static $name: MetricEntry = MetricEntry::new(
            About::new(
                concat!($word, "_per_job"),
                concat!("mean number of ", $what, " over which a job is spread"),
            )
            .definition(concat!(
                "The number of ",
                $what,
                " on which a finished job had cores, in the mean over jobs."
            ))
            .complexity("O(p log p) for each job of p parts.")
            .source("general"),
            $what,
            Measure::MeanBy(|_, machine| spread(machine, $place)),
        );
    };
}

/// Number of the island whose cores a cell counts, unique among the islands of all nodes.
///
/// A cell is an entry in the list of a node's resources, and an island is a group of the node's
/// cores. The number is `None` if the cell does not count the cores of an island.
fn island(topology: &Topology, node: u32, cell: u16) -> Option<u32> {
    let islands = topology.types()?.of(node).islands;
    let own = (cell as usize).checked_sub(CORES)? as u32;
    (own < islands).then_some(node * 64 + own)
}

spread!(ISLANDS_PER_JOB, "islands", "islands", island);
spread!(NODES_PER_JOB, "nodes", "nodes", |_, node, _| Some(node));
spread!(LEAVES_PER_JOB, "leaves", "leaves", |topology, node, _| topology
    .part_of(Inside::Leaf, node));
spread!(BLOCKS_PER_JOB, "blocks", "blocks", |topology, node, _| topology
    .part_of(Inside::Block, node));
