//! Rules that choose a node and GPUs for a task; each is a single function.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{GpuCluster, GpuNode, GpuPlacement, GpuTask, TypicalTasks, WHOLE_GPU};
use crate::rng::Stream;

/// Processors of the largest node, in thousandths; rules divide amounts of processors by it.
const MOST_CPU: f64 = 128_000.0;

/// Number of GPUs of the largest node, in thousandths. Rules divide amounts of GPUs by this number.
const MOST_GPU: f64 = 8_000.0;

/// Rule that chooses, for a task, a node and GPUs of this node.
pub trait GpuRule {
    /// Chooses the placement of a task; `None` if the task fits on no node.
    fn choose(&mut self, cluster: &GpuCluster, task: &GpuTask) -> Option<GpuPlacement>;
}

/// Score of a node for a task, and the GPU that the task would get there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NodeScore {
    /// Score of the node. The node with the highest score is chosen; ties go to the first node.
    pub score: i64,
    /// Index of the GPU for a task that uses part of one GPU; `None` for the fullest GPU that fits.
    pub gpu: Option<usize>,
}

/// Rule that scores each node by the state of that node alone.
pub trait ScoreRule {
    /// Scores a node on which the task fits.
    fn score(&self, node: &GpuNode, task: &GpuTask) -> NodeScore;
}

/// Registry entry of a rule for GPU clusters.
#[derive(Debug)]
pub struct GpuRuleEntry {
    /// Name of the rule in the results that Weng et al. published.
    pub name: &'static str,
    /// Summary of how the rule chooses, in one line.
    pub summary: &'static str,
    /// Function that builds the rule from the typical tasks of a workload and a random stream.
    pub build: fn(Arc<TypicalTasks>, Stream) -> Box<dyn GpuRule>,
}

/// The rules that Weng et al. compare, under the names of their published results.
pub static GPU_RULES: &[GpuRuleEntry] = &[
    GpuRuleEntry {
        name: "01-Random",
        summary: "a random node among those on which the task fits, and a random GPU on it",
        build: |_, stream| Box::new(RandomNode { stream }),
    },
    GpuRuleEntry {
        name: "02-DotProd",
        summary: "the smallest product of free and requested amounts, so that nodes are filled up",
        build: |typical, _| ByScore::named("02-DotProd", typical),
    },
    GpuRuleEntry {
        name: "03-GpuClustering",
        summary: "nodes that hold tasks of the same kind, the fuller first",
        build: |typical, _| ByScore::named("03-GpuClustering", typical),
    },
    GpuRuleEntry {
        name: "04-GpuPacking",
        summary: "shared GPUs before free ones, and used nodes before idle ones",
        build: |typical, _| ByScore::named("04-GpuPacking", typical),
    },
    GpuRuleEntry {
        name: "05-BestFit",
        summary: "the node with the least left",
        build: |typical, _| ByScore::named("05-BestFit", typical),
    },
    GpuRuleEntry {
        name: "06-FGD",
        summary: "the smallest growth of fragmentation as typical tasks see it",
        build: |typical, _| ByScore::named("06-FGD", typical),
    },
];

/// The scoring rule with this name in the results of Weng et al.; for an unknown name, `06-FGD`.
#[must_use]
pub fn score_rules(name: &str, typical: Arc<TypicalTasks>) -> Arc<dyn ScoreRule + Send + Sync> {
    match name {
        "02-DotProd" => Arc::new(DotProduct),
        "03-GpuClustering" => Arc::new(Clustering),
        "04-GpuPacking" => Arc::new(Packing),
        "05-BestFit" => Arc::new(BestFitNode),
        _ => Arc::new(FragmentationDescent { typical }),
    }
}

struct RandomNode {
    stream: Stream,
}

impl GpuRule for RandomNode {
    fn choose(&mut self, cluster: &GpuCluster, task: &GpuTask) -> Option<GpuPlacement> {
        let nodes = cluster.nodes();
        let fitting: Vec<usize> = (0..nodes.len()).filter(|&at| nodes[at].fits(task)).collect();
        let node = self.draw(&fitting)?;
        let gpus = if task.is_sharing() {
            let free = nodes[node].gpus.iter().enumerate();
            let fitting: Vec<usize> =
                free.filter(|&(_, &left)| left >= task.share).map(|(gpu, _)| gpu).collect();
            self.draw(&fitting).into_iter().collect()
        } else {
            nodes[node].whole_gpus(task)
        };
        Some(GpuPlacement { node, gpus })
    }
}

impl RandomNode {
    fn draw(&mut self, among: &[usize]) -> Option<usize> {
        (!among.is_empty()).then(|| among[self.stream.below(among.len() as u64) as usize])
    }
}

/// Takes the node with the highest score, and caches the scores of nodes until they change.
struct ByScore {
    rule: Arc<dyn ScoreRule + Send + Sync>,
    kept: BTreeMap<RequestKey, Vec<KeptScore>>,
}

/// Key of stored scores: processors, memory, number of GPUs, share and GPU types of a task.
///
/// Scores depend on no other property of the task.
type RequestKey = (u32, u32, u32, u32, String);

/// Score of a node, with the number of changes of the node before the score was computed.
///
/// The score is `None` if the task does not fit.
#[derive(Clone, Copy)]
struct KeptScore {
    changes: u32,
    score: Option<NodeScore>,
}

impl ByScore {
    fn named(name: &str, typical: Arc<TypicalTasks>) -> Box<dyn GpuRule> {
        Box::new(ByScore { rule: score_rules(name, typical), kept: BTreeMap::new() })
    }
}

impl GpuRule for ByScore {
    fn choose(&mut self, cluster: &GpuCluster, task: &GpuTask) -> Option<GpuPlacement> {
        let key = (task.cpu, task.memory, task.gpus, task.share, task.models.clone());
        let unseen = KeptScore { changes: u32::MAX, score: None };
        let kept = self.kept.entry(key).or_insert_with(|| vec![unseen; cluster.nodes.len()]);
        let mut best: Option<(usize, NodeScore)> = None;
        for (at, node) in cluster.nodes.iter().enumerate() {
            let known = &mut kept[at];
            if known.changes != cluster.changes[at] {
                known.changes = cluster.changes[at];
                known.score = node.fits(task).then(|| self.rule.score(node, task));
            }
            if let Some(found) = known.score
                && best.is_none_or(|(_, best)| found.score > best.score)
            {
                best = Some((at, found));
            }
        }
        let (node, NodeScore { gpu, .. }) = best?;
        let gpus = if task.is_sharing() {
            gpu.or_else(|| cluster.nodes[node].tightest_gpu(task)).into_iter().collect()
        } else {
            cluster.nodes[node].whole_gpus(task)
        };
        Some(GpuPlacement { node, gpus })
    }
}

fn only(score: i64) -> NodeScore {
    NodeScore { score, gpu: None }
}

struct DotProduct;

impl ScoreRule for DotProduct {
    fn score(&self, node: &GpuNode, task: &GpuTask) -> NodeScore {
        let cpu = f64::from(node.cpu) / MOST_CPU * (f64::from(task.cpu) / MOST_CPU);
        let gpu = f64::from(node.free()) / MOST_GPU * (task.demand() as f64 / MOST_GPU);
        only((100.0 * (1.0 - (cpu + gpu) / 2.0)) as i64)
    }
}

struct BestFitNode;

impl ScoreRule for BestFitNode {
    fn score(&self, node: &GpuNode, task: &GpuTask) -> NodeScore {
        let cpu = f64::from(node.cpu - task.cpu) / MOST_CPU;
        let gpu = (f64::from(node.free()) - task.demand() as f64) / MOST_GPU;
        only((100.0 * (1.0 - (0.5 * cpu + 0.5 * gpu))) as i64)
    }
}

struct Clustering;

impl ScoreRule for Clustering {
    fn score(&self, node: &GpuNode, task: &GpuTask) -> NodeScore {
        let Some(kind) = task.kind() else { return only(0) };
        let is_held = |kind: usize| node.held[kind] > 0;
        let kinds = (0..node.held.len()).filter(|&kind| is_held(kind)).count();
        let base = match (is_held(kind), kinds) {
            (true, 1) => 75,
            (true, _) => 50,
            (false, 0) => 25,
            (false, _) => 0,
        };
        // Free GPUs are compared with the largest node, so an idle node with half as many GPUs
        // counts as half full.
        only(base + (25.0 * (MOST_GPU - f64::from(node.free())) / MOST_GPU).floor() as i64)
    }
}

struct Packing;

impl ScoreRule for Packing {
    fn score(&self, node: &GpuNode, task: &GpuTask) -> NodeScore {
        if task.gpus == 0 {
            return only(0);
        }
        let whole = node.gpus.iter().filter(|&&left| left == WHOLE_GPU).count() as i64;
        if whole == node.gpus.len() as i64 {
            return only((33 - whole).max(whole));
        }
        let mut fitting: Vec<u32> =
            node.gpus.iter().copied().filter(|&left| left >= task.share).collect();
        fitting.sort_unstable();
        fitting.truncate(task.gpus as usize);
        match fitting.iter().filter(|&&left| left == WHOLE_GPU).count() as i64 {
            0 => {
                let left: i64 = fitting.iter().map(|&left| i64::from(left / 10)).sum();
                only((100 - left / 10).max(50))
            }
            opened => only((50 - opened).max(33)),
        }
    }
}

struct FragmentationDescent {
    typical: Arc<TypicalTasks>,
}

impl FragmentationDescent {
    /// Score of a node for a task, from 0 to 100: above 50 if the task lowers its fragmentation.
    ///
    /// The score is truncated to an integer; 50 means no change.
    fn grade(&self, node: &GpuNode, before: f64, cpu: u32, gpus: &[u32]) -> i64 {
        let gain = before - self.typical.wasted(cpu, gpus, &node.model);
        (100.0 / (1.0 + libm::exp(-gain / 1000.0))) as i64
    }
}

impl ScoreRule for FragmentationDescent {
    fn score(&self, node: &GpuNode, task: &GpuTask) -> NodeScore {
        let before = self.typical.fragmentation(node);
        let cpu = node.cpu - task.cpu;
        let mut left = node.gpus.clone();
        if !task.is_sharing() {
            for gpu in node.whole_gpus(task) {
                left[gpu] = 0;
            }
            return only(self.grade(node, before, cpu, &left));
        }
        let mut best = NodeScore { score: i64::MIN, gpu: None };
        for gpu in 0..left.len() {
            if left[gpu] < task.share {
                continue;
            }
            left[gpu] -= task.share;
            let score = self.grade(node, before, cpu, &left);
            left[gpu] += task.share;
            if score > best.score {
                best = NodeScore { score, gpu: Some(gpu) };
            }
        }
        best
    }
}
