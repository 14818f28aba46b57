//! Tables of the keys of `failures` in a scenario: names, kinds and help texts.

use super::durations::DURATIONS;
use super::units::SCOPES;
use crate::registry::{DefaultValue, Kind, Param, Range, Words};

/// `true`: an interrupted job goes to the end of the queue. `false`: back to its former place.
pub(super) static ON_FAILURE: Words<bool, 2> =
    Words::new([("requeue_front", false), ("restart", true)]);

pub(super) const DALY: &str = "daly";

/// The keys of the table `failures` of a scenario.
pub static PARAMS: &[Param] = &[
    Param {
        name: "mtbf",
        kind: Kind::Component(&DURATIONS),
        default: DefaultValue::Absent("nothing fails by chance"),
        help: "the time that a unit stays up: a number is the mean of an exponential distribution, \"inf\" is never",
    },
    Param {
        name: "repair",
        kind: Kind::Component(&DURATIONS),
        default: DefaultValue::Absent("needed with `mtbf`"),
        help: "the time that its repair takes, written like `mtbf`",
    },
    Param {
        name: "scope",
        kind: SCOPES.kind(),
        default: DefaultValue::Is("\"node\""),
        help: "what fails as one: a node, an aligned block of them, all nodes of a switch, both ends of a link, or one GPU of a node that jobs share",
    },
    Param {
        name: "block",
        kind: Kind::Integers(1, 1 << 24),
        default: DefaultValue::Absent("needed for the scope \"block\""),
        help: "the sides of a block on a grid, the dimension of a subcube, or elsewhere a count of nodes",
    },
    Param {
        name: "trace",
        kind: Kind::Text,
        default: DefaultValue::Absent("no outages from a file"),
        help: "a file of outages: an event table of the Failure Trace Archive, or CSV with `node,down,up`",
    },
    Param {
        name: "trace_start",
        kind: Kind::Number(Range::NonNegative),
        default: DefaultValue::Absent("0 for CSV, the earliest start for an event table"),
        help: "the instant of the trace that is the instant 0 of the run",
    },
    Param {
        name: "first_node",
        kind: Kind::Integer(0, u32::MAX as u64),
        default: DefaultValue::Is("0"),
        help: "the number that the trace gives to the first node",
    },
    Param {
        name: "on_failure",
        kind: ON_FAILURE.kind(),
        default: DefaultValue::Is("\"requeue_front\""),
        help: "whether a job that was interrupted waits at its old place in the queue, or at its end",
    },
    Param {
        name: "checkpoint",
        kind: Kind::Table(CHECKPOINT),
        default: DefaultValue::Absent("an interrupted job begins anew"),
        help: "checkpoints, from the last of which an interrupted job goes on",
    },
    Param {
        name: "maintenance",
        kind: Kind::Tables(MAINTENANCE),
        default: DefaultValue::Absent("none is planned"),
        help: "windows in which nodes are out of service, known from the beginning",
    },
    Param {
        name: "drain",
        kind: Kind::Tables(DRAIN),
        default: DefaultValue::Absent("no node drains"),
        help: "nodes that take no new job from an instant on, while their job runs to its end",
    },
];

/// The keys of the table `failures.checkpoint`, which describes checkpoints of jobs.
pub static CHECKPOINT: &[Param] = &[
    Param {
        name: "every",
        kind: Kind::Or(&[DALY], &Kind::Number(Range::Positive)),
        default: DefaultValue::Required,
        help: "after how much work one is written; \"daly\" is the optimum for `cost` and the nodes of the job",
    },
    Param {
        name: "cost",
        kind: Kind::Number(Range::NonNegative),
        default: DefaultValue::Required,
        help: "what one takes, as so much more work",
    },
];

const NODES: Param = Param {
    name: "nodes",
    kind: Kind::Text,
    default: DefaultValue::Is("\"all\""),
    help: "which nodes: all, numbers such as 0-3,7, or blocks such as 0,0:2x4",
};

/// The keys of one table of `failures.maintenance`, which is a window of planned maintenance.
pub static MAINTENANCE: &[Param] = &[
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
];

/// The keys of one table of `failures.drain`. Each table takes some nodes out of service.
pub static DRAIN: &[Param] = &[
    Param {
        name: "from",
        kind: Kind::Number(Range::NonNegative),
        default: DefaultValue::Required,
        help: "from when on they take no new job",
    },
    Param {
        name: "until",
        kind: Kind::Number(Range::Positive),
        default: DefaultValue::Absent("for ever"),
        help: "from when on they take jobs again",
    },
    NODES,
];
