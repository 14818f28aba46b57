//! Orders in which nodes are used for the pieces of jobs.

use std::sync::Arc;

use crate::gpus::{GpuNode, GpuTask, ScoreRule, TypicalTasks, score_rules};
use crate::job::{Piece, Pieces, WHOLE_SHARE};
use crate::machine::NodeAmounts;
use crate::machine::tasks::{put_into, task_of};
use crate::registry::{About, Family, Params, Problem, abouts, named};
use crate::topology::types::NodeTypes;

/// Order in which nodes are used for a piece of a job, by a score of each node on which it fits.
pub trait NodeOrder: Send {
    /// Scores a node on which a piece fits, from the free amounts of the node and the needs of the
    /// piece.
    ///
    /// The node with the highest score is used first. Ties go to the node with the lowest number.
    fn score(&mut self, node: &NodeAmounts<'_>, piece: &Piece) -> i64;

    /// Chooses the GPU for a piece that shares a GPU; `None` leaves the choice to the key `within`.
    fn gpu(&mut self, _node: &NodeAmounts<'_>, _piece: &Piece) -> Option<usize> {
        None
    }

    /// Returns an independent copy of the order, which can be used for look-ahead.
    fn fork(&self) -> Box<dyn NodeOrder>;
}

/// Data available to an order of nodes when it is built.
#[derive(Clone, Copy)]
pub struct OrderContext<'a> {
    /// Types of the nodes of the machine.
    pub types: &'a Arc<NodeTypes>,
    /// Requests of the first jobs of the workload.
    ///
    /// Empty unless the order [learns](NodeOrderEntry::learns) from them.
    pub typical: &'a [Pieces],
}

/// Registry entry of an order of nodes.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct NodeOrderEntry {
    /// Name, description and parameters of the order.
    pub about: About,
    /// Whether the order of nodes depends on the first requests of the workload.
    ///
    /// These requests are taken as typical of the workload.
    pub learns: bool,
    /// Function that builds the order of the nodes of a machine.
    pub build: fn(&Params, OrderContext<'_>) -> Result<Box<dyn NodeOrder>, Problem>,
}

impl NodeOrderEntry {
    /// Creates the registry entry of an order of nodes.
    #[must_use]
    pub const fn new(
        about: About,
        build: fn(&Params, OrderContext<'_>) -> Result<Box<dyn NodeOrder>, Problem>,
    ) -> NodeOrderEntry {
        NodeOrderEntry { about, learns: false, build }
    }

    /// Replaces the description of the order.
    #[must_use]
    pub const fn described(mut self, about: About) -> NodeOrderEntry {
        self.about = about;
        self
    }

    /// Sets whether the order is built from requests that are typical of the workload.
    #[must_use]
    pub const fn learns(mut self, learns: bool) -> NodeOrderEntry {
        self.learns = learns;
        self
    }
}

named!(NodeOrderEntry);

/// All orders of nodes that the key `order` can name.
pub static NODE_ORDERS: &[&NodeOrderEntry] = &[
    &FIRST,
    &BEST_FIT,
    &MOST_ALLOCATED,
    &LEAST_ALLOCATED,
    &DOT_PRODUCT,
    &PACKING,
    &CLUSTERING,
    &FGD,
    &SLURM,
];

/// The family of orders of nodes. A study selects an order by its name.
pub static FAMILY: Family =
    Family { kind: "node order", key: "name", entries: || abouts(NODE_ORDERS), common: &[] };

#[derive(Clone, Copy)]
struct By(fn(&NodeAmounts<'_>, &Piece) -> i64);

impl NodeOrder for By {
    fn score(&mut self, node: &NodeAmounts<'_>, piece: &Piece) -> i64 {
        (self.0)(node, piece)
    }

    fn fork(&self) -> Box<dyn NodeOrder> {
        Box::new(*self)
    }
}

static FIRST: NodeOrderEntry = NodeOrderEntry::new(
    About::new("first", "the lowest number")
        .definition("Nodes are taken in the order of their numbers.")
        .complexity("O(1) for each node.")
        .source("first fit"),
    |_, _| Ok(Box::new(By(|_, _| 0))),
);

static MOST_ALLOCATED: NodeOrderEntry = NodeOrderEntry::new(
    About::new("most_allocated", "the node that is fullest with the piece")
        .definition(
            "The node whose kinds (cores, memory, GPUs and the fourth, as far as it has them) are \
             allocated most with the piece on it, in the mean over its kinds and in thousandths.",
        )
        .complexity("O(1) for each node.")
        .source("the MostAllocated strategy of the Kubernetes scheduler"),
    |_, _| Ok(Box::new(By(allocated))),
);

static LEAST_ALLOCATED: NodeOrderEntry = NodeOrderEntry::new(
    About::new("least_allocated", "the node that is emptiest with the piece")
        .definition("The reverse of `most_allocated`; equals again by number.")
        .complexity("O(1) for each node.")
        .source("the LeastAllocated strategy of the Kubernetes scheduler"),
    |_, _| Ok(Box::new(By(|node, piece| -allocated(node, piece)))),
);

/// Fraction of a node's resources, in thousandths, that is allocated once the piece is on it.
///
/// This is the mean of the fractions of all resources that the node has.
fn allocated(node: &NodeAmounts<'_>, piece: &Piece) -> i64 {
    let kind = node.kind;
    let free_shares: u32 = node.gpu_shares().iter().sum();
    let all = [
        (kind.cpu, node.cores, piece.cpu),
        (kind.mem, node.mem(), piece.mem),
        (kind.gpu * WHOLE_SHARE, free_shares, piece.gpu * piece.share),
        (kind.other, node.other(), piece.other),
    ];
    let (mut sum, mut kinds) = (0, 0);
    for (own, free, asked) in all.into_iter().filter(|(own, ..)| *own > 0) {
        sum += 1000 * (i64::from(own) - i64::from(free) + i64::from(asked)) / i64::from(own);
        kinds += 1;
    }
    sum / kinds.max(1)
}

static SLURM: NodeOrderEntry = NodeOrderEntry::new(
    About::new("slurm", "the lightest node, of those the one with most free GPUs up to what is asked")
        .definition(
            "The weight of a node's type times 256, plus 255 less the GPUs that it has free, \
             counted up to those of the piece and only on islands with a free core: the \
             smallest first, of equals the lowest number.",
        )
        .complexity("O(g) for g GPUs of the node.")
        .source("the node weights of select/cons_tres of Slurm 26.05; `meshwork place --slurm` has its whole rule"),
    |_, _| {
        Ok(Box::new(By(|node, piece| {
            let shares = node.gpu_shares();
            let each = shares.len() / node.islands().len();
            let on = |(at, &cores): (usize, &u32)| {
                let own = &shares[at * each..(at + 1) * each];
                let free = own.iter().filter(|&&share| share >= piece.share).count();
                if cores > 0 { free } else { 0 }
            };
            let near: usize = node.islands().iter().enumerate().map(on).sum();
            let near = near.min(piece.gpu as usize).min(255) as i64;
            -((i64::from(node.kind.weight) << 8) + 255 - near)
        })))
    },
);

static BEST_FIT: NodeOrderEntry = NodeOrderEntry::new(
    About::new("best_fit", "the node with the least left")
        .definition(
            "The mean of the free cores of 128 and the free GPUs of 8 that the piece would \
             leave, the smallest first, as a score in whole per cent.",
        )
        .complexity("O(g) for g GPUs of the node.")
        .source("Best-fit of Weng et al., USENIX ATC 2023"),
    |_, context| ByRule::build("05-BestFit", context),
);

static DOT_PRODUCT: NodeOrderEntry = NodeOrderEntry::new(
    About::new("dot_product", "the smallest product of free and requested amounts")
        .definition(
            "Free cores of 128 times those of the piece plus free GPUs of 8 times those of the \
             piece, the smallest first, as a score in whole per cent.",
        )
        .complexity("O(g) for g GPUs of the node.")
        .source("Dot-product of Weng et al., USENIX ATC 2023"),
    |_, context| ByRule::build("02-DotProd", context),
);

static PACKING: NodeOrderEntry = NodeOrderEntry::new(
    About::new("packing", "shared GPUs before free ones, and used nodes before idle ones")
        .definition(
            "A piece goes first where it needs no GPU that is wholly free, then to nodes in \
             use, where it opens the fewest, and last to nodes whose GPUs are all free.",
        )
        .complexity("O(g log g) for g GPUs of the node.")
        .source("GPU Packing of Weng et al., USENIX ATC 2023, after MLaaS in the wild, NSDI 2022"),
    |_, context| ByRule::build("04-GpuPacking", context),
);

static CLUSTERING: NodeOrderEntry = NodeOrderEntry::new(
    About::new("clustering", "nodes that hold pieces of the same kind, the fuller first")
        .definition(
            "The kind of a piece is that it shares a GPU, or its number of GPUs. Nodes with \
             that kind alone come first, then those with others too, then idle ones, then the \
             rest; of these the fuller.",
        )
        .complexity("O(g) for g GPUs of the node.")
        .source("GPU Clustering of Weng et al., USENIX ATC 2023, after Gandiva, OSDI 2018"),
    |_, context| ByRule::build("03-GpuClustering", context),
);

static FGD: NodeOrderEntry = NodeOrderEntry::new(
    About::new("fgd", "the smallest growth of fragmentation, as typical pieces see it")
        .definition(
            "Fragmentation of a node is the expected part of its free GPUs that a typical piece \
             cannot use there. The node on which it grows least is taken, and of its GPUs, for \
             a piece that shares one, that with which it grows least. Typical are the pieces \
             of the first 1,000 jobs of the workload, the most frequent up to 95 %.",
        )
        .complexity("O(k g) for k typical pieces and g GPUs of the node.")
        .source("Weng et al., Beware of fragmentation, USENIX ATC 2023"),
    |_, context| ByRule::build("06-FGD", context),
)
.learns(true);

/// Number of positions of the hash table of scores, a power of two.
const REMEMBERED: usize = 1 << 12;

/// Number of distinct pieces above which all stored pieces and scores are discarded.
const MOST_TASKS: usize = 64;

/// Key of a stored score: index of the piece, type of the node, free cores, and free GPUs as bits.
type ScoreKey = (u16, u16, u32, u64);

/// Order of nodes by a rule for GPU clusters. Each node is converted to the form that the rule
/// takes.
struct ByRule {
    types: Arc<NodeTypes>,
    rule: Arc<dyn ScoreRule + Send + Sync>,
    node: GpuNode,
    /// Pieces that have been scored, each with the task into which it is converted for the rule.
    ///
    /// The field `task` is the index of the piece that was scored last.
    tasks: Vec<(Piece, GpuTask)>,
    task: usize,
    /// Whether computed scores are stored, because the rule is slow.
    remembers: bool,
    /// Hash table of scores, in which each index holds the score that was last stored there.
    ///
    /// It is empty until the first score is stored.
    known: Vec<(ScoreKey, i64)>,
}

impl ByRule {
    fn build(name: &'static str, context: OrderContext<'_>) -> Result<Box<dyn NodeOrder>, Problem> {
        // Jobs may ask for types of nodes that only other sites have.
        let suits = |piece: &&Piece| context.types.types().iter().any(|kind| kind.suits(piece));
        let pieces = context.typical.iter().flat_map(|request| &request.roles).filter(suits);
        let tasks: Vec<GpuTask> = pieces
            .flat_map(|piece| {
                std::iter::repeat_n(task_of(piece, context.types), piece.count as usize)
            })
            .collect();
        let rule = score_rules(name, Arc::new(TypicalTasks::of(&tasks)));
        // Only this rule is slow, and it does not look at running pieces.
        let is_slow = name == "06-FGD";
        Ok(Box::new(ByRule::new(Arc::clone(context.types), rule, is_slow)))
    }

    fn new(
        types: Arc<NodeTypes>,
        rule: Arc<dyn ScoreRule + Send + Sync>,
        remembers: bool,
    ) -> ByRule {
        let node = GpuNode::new("", 0, 0, 0, "");
        ByRule { types, rule, node, tasks: Vec::new(), task: 0, remembers, known: Vec::new() }
    }

    /// Makes a piece the current one, after adding it to the list of pieces if it is new.
    fn turn_to(&mut self, piece: &Piece) {
        let is_it = |(own, _): &(Piece, GpuTask)| own == piece;
        if self.tasks.get(self.task).is_some_and(is_it) {
            return;
        }
        if self.tasks.len() == MOST_TASKS {
            self.tasks.clear();
            self.known.clear();
        }
        self.task = self.tasks.iter().position(is_it).unwrap_or(self.tasks.len());
        if self.task == self.tasks.len() {
            self.tasks.push((piece.clone(), task_of(piece, &self.types)));
        }
    }

    /// Key under which the score of a node is stored.
    ///
    /// `None` if a GPU of the node is in shared use, or if the node has more GPUs than a key has
    /// bits.
    fn key(&self, node: &NodeAmounts<'_>) -> Option<ScoreKey> {
        let shares = node.gpu_shares();
        let bit = |free: &u32| match *free {
            0 => Some(0),
            WHOLE_SHARE => Some(1),
            _ => None,
        };
        let add = |bits: u64, free: &u32| Some(bits << 1 | bit(free)?);
        let gpus = (shares.len() <= 64).then(|| shares.iter().try_fold(0, add))??;
        Some((self.task as u16, self.types.index(node.node) as u16, node.cores, gpus))
    }
}

fn place_of((task, kind, cores, gpus): ScoreKey) -> usize {
    let small = u64::from(task) << 48 | u64::from(kind) << 32 | u64::from(cores);
    let mixed = (gpus.rotate_left(40) ^ small).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (mixed >> 52) as usize % REMEMBERED
}

impl NodeOrder for ByRule {
    fn score(&mut self, node: &NodeAmounts<'_>, piece: &Piece) -> i64 {
        self.turn_to(piece);
        let key = if self.remembers { self.key(node) } else { None };
        let known = key.map(|key| (key, place_of(key)));
        if let Some((key, place)) = known
            && let Some((own, score)) = self.known.get(place)
            && *own == key
        {
            return *score;
        }
        put_into(node, &mut self.node);
        let score = self.rule.score(&self.node, &self.tasks[self.task].1).score;
        if let Some((key, place)) = known {
            // No task has this number.
            self.known.resize(REMEMBERED, ((u16::MAX, 0, 0, 0), 0));
            self.known[place] = (key, score);
        }
        score
    }

    fn gpu(&mut self, node: &NodeAmounts<'_>, piece: &Piece) -> Option<usize> {
        self.turn_to(piece);
        put_into(node, &mut self.node);
        self.rule.score(&self.node, &self.tasks[self.task].1).gpu
    }

    fn fork(&self) -> Box<dyn NodeOrder> {
        let (types, rule) = (Arc::clone(&self.types), Arc::clone(&self.rule));
        Box::new(ByRule::new(types, rule, self.remembers))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::alloc::parts::ranked::fits;
    use crate::rng::Stream;
    use crate::topology::types::NodeType;

    fn kind(name: &str, cpu: u32, gpu: u32) -> NodeType {
        let name = name.to_owned();
        NodeType { name, cpu, mem: 1000, gpu, islands: 2, weight: 1, ..NodeType::default() }
    }

    #[test]
    fn remembered_scores_are_computed_ones() {
        let types = NodeTypes::new(vec![kind("a", 64, 8), kind("b", 32, 4)], vec![0, 1]);
        let pieces: Vec<Piece> =
            [(1, 1, 1000), (4, 2, 1000), (2, 1, 300), (8, 0, 1000), (32, 8, 1000)]
                .map(|(cpu, gpu, share)| Piece { count: 1, cpu, gpu, share, ..Piece::default() })
                .to_vec();
        let typical: Vec<Pieces> = pieces.iter().cloned().map(Pieces::of).collect();
        let context = OrderContext { types: &types, typical: &typical };
        let mut order = ByRule::build("06-FGD", context).unwrap();
        let mut draws = Stream::new(5, 0, "nodes");
        let mut seen = std::collections::BTreeSet::new();
        for _ in 0..20_000 {
            let node = draws.below(2) as u32;
            let kind = types.of(node);
            let mut cells = kind.idle();
            for cell in &mut cells[2..kind.gpus_from()] {
                *cell = draws.below(u64::from(*cell) + 1) as u32;
            }
            for gpu in &mut cells[kind.gpus_from()..kind.tallies_from()] {
                *gpu = [0, 1000, 1000, 700][draws.below(4) as usize];
            }
            let view = NodeAmounts::new(node, kind, &cells);
            let piece = &pieces[draws.below(5) as usize];
            if fits(&view, piece, &Pieces::of(piece.clone()), true) == 0 {
                continue;
            }
            let score = order.score(&view, piece);
            // A copy has seen no node.
            assert_eq!(score, order.fork().score(&view, piece));
            seen.insert(score);
        }
        assert!(seen.len() > 20, "{seen:?}");
    }
}
