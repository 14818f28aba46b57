//! Tables of the keys `machine.partitions` and `machine.reservations`: names, kinds and help texts.

use crate::registry::{DefaultValue, Kind, Param, Range};

const NODES: Param = Param {
    name: "nodes",
    kind: Kind::Text,
    default: DefaultValue::Is("\"all\""),
    help: "which nodes: all, numbers such as 0-3,7, or blocks such as 0,0:2x4",
};

/// The keys that describe one partition, in a table of `machine.partitions`.
pub static PARTITION: &[Param] = &[
    Param {
        name: "name",
        kind: Kind::Text,
        default: DefaultValue::Required,
        help: "what jobs call it that are submitted to it",
    },
    NODES,
    Param {
        name: "max_nodes",
        kind: Kind::Integer(1, u32::MAX as u64),
        default: DefaultValue::Absent("no limit"),
        help: "how many processors a job of it may ask for",
    },
    Param {
        name: "max_time",
        kind: Kind::Number(Range::Positive),
        default: DefaultValue::Absent("no limit"),
        help: "how long a job of it may take by its estimate",
    },
    Param {
        name: "default",
        kind: Kind::Flag,
        default: DefaultValue::Is("false"),
        help: "whether jobs are its that name none",
    },
];

/// The keys that describe one advance reservation, in a table of `machine.reservations`.
pub static RESERVATION: &[Param] = &[
    Param {
        name: "name",
        kind: Kind::Text,
        default: DefaultValue::Absent("it has none"),
        help: "what it is called",
    },
    Param {
        name: "from",
        kind: Kind::Number(Range::NonNegative),
        default: DefaultValue::Required,
        help: "when it begins",
    },
    Param {
        name: "until",
        kind: Kind::Number(Range::Positive),
        default: DefaultValue::Required,
        help: "when it ends",
    },
    NODES,
    Param {
        name: "users",
        kind: Kind::Texts,
        default: DefaultValue::Required,
        help: "for whom the nodes are reserved, by the names that the workload has for them",
    },
];

/// The keys `partitions` and `reservations` of a machine, which limit the nodes that jobs may use.
pub static PARAMS: &[Param] = &[
    Param {
        name: "partitions",
        kind: Kind::Tables(PARTITION),
        default: DefaultValue::Absent("every job may have every node"),
        help: "parts of the machine to which jobs are submitted; they may overlap",
    },
    Param {
        name: "reservations",
        kind: Kind::Tables(RESERVATION),
        default: DefaultValue::Absent("none is made"),
        help: "windows in which nodes are kept for some users",
    },
];
