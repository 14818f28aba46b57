//! Tables of the keys `machine.partitions` and `machine.reservations`: names, kinds and help texts.

use crate::registry::{Kind, Param, Range};

const NODES: Param = Param::new("nodes", Kind::Text)
    .is("\"all\"")
    .help("which nodes: all, numbers such as 0-3,7, or blocks such as 0,0:2x4");

/// The keys that describe one partition, in a table of `machine.partitions`.
pub static PARTITION: &[Param] = &[
    Param::new("name", Kind::Text).help("what jobs call it that are submitted to it"),
    NODES,
    Param::new("max_nodes", Kind::Integer(1, u32::MAX as u64))
        .absent("no limit")
        .help("how many processors a job of it may ask for"),
    Param::new("max_time", Kind::Number(Range::Positive))
        .absent("no limit")
        .help("how long a job of it may take by its estimate"),
    Param::new("default", Kind::Flag).is("false").help("whether jobs are its that name none"),
];

/// The keys that describe one advance reservation, in a table of `machine.reservations`.
pub static RESERVATION: &[Param] = &[
    Param::new("name", Kind::Text).absent("it has none").help("what it is called"),
    Param::new("from", Kind::Number(Range::NonNegative)).help("when it begins"),
    Param::new("until", Kind::Number(Range::Positive)).help("when it ends"),
    NODES,
    Param::new("users", Kind::Texts)
        .help("for whom the nodes are reserved, by the names that the workload has for them"),
];

/// The keys `partitions` and `reservations` of a machine, which limit the nodes that jobs may use.
pub static PARAMS: &[Param] = &[
    Param::new("partitions", Kind::Tables(PARTITION))
        .absent("every job may have every node")
        .help("parts of the machine to which jobs are submitted; they may overlap"),
    Param::new("reservations", Kind::Tables(RESERVATION))
        .absent("none is made")
        .help("windows in which nodes are kept for some users"),
];
