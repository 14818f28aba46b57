//! Orders in which the nodes on which a piece fits are used.

use std::sync::Arc;

use crate::gpus::{GpuNode, GpuTask, ScoreRule, TypicalTasks, score_rules};
use crate::job::{Piece, Pieces, WHOLE_SHARE};
use crate::machine::NodeAmounts;
use crate::machine::tasks::{put_into, task_of};
use crate::registry::{About, Family, Named, Params, Problem, abouts};
use crate::topology::types::NodeTypes;

/// Order of nodes for a piece, by a score of each node.
pub trait NodeOrder: Send {
    /// Scores a node on which a piece fits.
    ///
    /// The node with the highest score is used first; ties go to the lowest number. The score
    /// depends only on the amounts of this node and on the piece.
    fn score(&mut self, node: &NodeAmounts<'_>, piece: &Piece) -> i64;

    /// Chooses the GPU for a piece that takes a part of one. `None` leaves the choice to the key
    /// `within`.
    fn gpu(&mut self, _node: &NodeAmounts<'_>, _piece: &Piece) -> Option<usize> {
        None
    }

    /// Returns an independent copy of the order, for look-ahead.
    fn fork(&self) -> Box<dyn NodeOrder>;
}

/// Data available to an order of nodes when it is built.
#[derive(Clone, Copy)]
pub struct OrderContext<'a> {
    /// Types of the machine's nodes.
    pub types: &'a Arc<NodeTypes>,
    /// Requests of the first jobs of the workload, as examples of typical requests.
    ///
    /// Empty unless the registry entry [learns](NodeOrderEntry::learns).
    pub typical: &'a [Pieces],
}

/// Registry entry of an order of nodes.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct NodeOrderEntry {
    /// Name, description and parameters of the order.
    pub about: About,
    /// Whether the order is built with requests that are typical of the workload.
    pub learns: bool,
    /// Builds the order for a machine.
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

    /// Sets whether the order is built with requests that are typical of the workload.
    #[must_use]
    pub const fn learns(mut self, learns: bool) -> NodeOrderEntry {
        self.learns = learns;
        self
    }
}

impl Named for NodeOrderEntry {
    fn about(&self) -> &About {
        &self.about
    }
}

/// All orders of nodes.
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

/// The family of orders of nodes, by name.
pub static FAMILY: Family =
    Family { kind: "node order", key: "name", entries: || abouts(NODE_ORDERS), common: &[] };

/// Order of nodes by a function of the node and the piece.
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
            "The node whose kinds (cores, memory, GPUs and the fourth, as far as it has them) \
             are allocated most with the piece on it, in the mean over its kinds and in \
             thousandths.",
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

/// Mean over a node's resources of the fraction allocated after a piece is added, in thousandths.
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

/// Order of nodes by a scoring rule of GPU clusters.
///
/// The rule works on a copy of the node in the types of GPU clusters.
struct ByRule {
    types: Arc<NodeTypes>,
    rule: Arc<dyn ScoreRule + Send + Sync>,
    node: GpuNode,
    task: (Piece, GpuTask),
}

impl ByRule {
    fn build(name: &'static str, context: OrderContext<'_>) -> Result<Box<dyn NodeOrder>, Problem> {
        let pieces = context.typical.iter().flat_map(|request| &request.roles);
        let tasks: Vec<GpuTask> = pieces
            .flat_map(|piece| {
                std::iter::repeat_n(task_of(piece, context.types), piece.count as usize)
            })
            .collect();
        let rule = score_rules(name, Arc::new(TypicalTasks::of(&tasks)));
        let task = (Piece::default(), task_of(&Piece::default(), context.types));
        let node = GpuNode::new("", 0, 0, 0, "");
        Ok(Box::new(ByRule { types: Arc::clone(context.types), rule, node, task }))
    }

    /// Converts a node and a piece to the node and task types of the rule.
    fn put(&mut self, node: &NodeAmounts<'_>, piece: &Piece) {
        if self.task.0 != *piece {
            self.task = (piece.clone(), task_of(piece, &self.types));
        }
        put_into(node, &mut self.node);
    }
}

impl NodeOrder for ByRule {
    fn score(&mut self, node: &NodeAmounts<'_>, piece: &Piece) -> i64 {
        self.put(node, piece);
        self.rule.score(&self.node, &self.task.1).score
    }

    fn gpu(&mut self, node: &NodeAmounts<'_>, piece: &Piece) -> Option<usize> {
        self.put(node, piece);
        self.rule.score(&self.node, &self.task.1).gpu
    }

    fn fork(&self) -> Box<dyn NodeOrder> {
        Box::new(ByRule {
            types: Arc::clone(&self.types),
            rule: Arc::clone(&self.rule),
            node: self.node.clone(),
            task: self.task.clone(),
        })
    }
}
