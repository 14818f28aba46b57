//! Keys of a study that describe one type of nodes, in a table under the machine's key `nodes`.

use super::{orders, within};
use crate::registry::{Kind, Param};

/// The key `order`: the order in which nodes are used for a piece of a job.
pub const ORDER: Param = Param::new("order", Kind::Component(&orders::FAMILY))
    .absent("first, where the machine has types of `nodes`")
    .help("which of the nodes that have room for a piece is taken first");

/// The key `within`: the order in which islands (such as sockets) provide cores and GPUs for a
/// piece.
pub const WITHIN: Param = Param::new("within", Kind::Component(&within::FAMILY))
    .absent("lowest, where the machine has types of `nodes`")
    .help("which cores and GPUs of a node a piece gets");

/// The key `nodes` of a machine, with a list of its types of nodes.
pub static TYPES: &[Param] = &[Param::new("nodes", Kind::Tables(NODES))
    .absent("each node is one processor, held or free as a whole")
    .help("the types of its nodes, which jobs share: cores, memory and GPUs of each")];

/// Maximum amount of one resource on a node.
const MOST: u64 = 1 << 30;

/// The keys that describe one type of nodes.
pub static NODES: &[Param] = &[
    Param::new("type", Kind::Text)
        .help("the name of the type: dgx, nvl72 and cpu are known, others give what they have"),
    Param::new("on", Kind::Text)
        .absent("all nodes that no other type is on")
        .help("the nodes of the type, such as `0-63`"),
    Param::new("cpu", Kind::Integer(1, 1 << 20))
        .absent("that of the known type")
        .help("cores of a node"),
    Param::new("mem", Kind::Integer(0, MOST))
        .absent("that of the known type, or 0")
        .help("memory of a node in MiB"),
    Param::new("gpu", Kind::Integer(0, 64))
        .absent("that of the known type, or 0")
        .help("how many GPUs a node has"),
    Param::new("other", Kind::Integer(0, MOST))
        .absent("0")
        .help("what a node has of a fourth kind, such as network cards"),
    Param::new("islands", Kind::Integer(1, 64))
        .absent("that of the known type, or 1")
        .help("equal islands of a node, such as sockets, which divide its cores and GPUs"),
    Param::new("gpu_type", Kind::Text)
        .absent("that of the known type, or the name of the type")
        .help("what its GPUs are called"),
    Param::new("features", Kind::Texts)
        .absent("none")
        .help("words by which jobs ask for such nodes"),
    Param::new("weight", Kind::Integer(0, 1 << 20))
        .absent("0")
        .help("how late the order `slurm` takes such nodes"),
];
