//! Tables of the keys of `failures` in a scenario: names, kinds and help texts.

use super::durations::DURATIONS;
use super::units::SCOPES;
use crate::registry::{Kind, Param, Range, Words};

/// New place of an interrupted job: the end of the queue (`true`) or its former place (`false`).
pub(super) static ON_FAILURE: Words<bool, 2> =
    Words::new([("requeue_front", false), ("restart", true)]);

pub(super) const DALY: &str = "daly";

/// The keys of the table `failures` of a scenario.
pub static PARAMS: &[Param] = &[
    Param::new("mtbf", Kind::Component(&DURATIONS)).absent("nothing fails by chance").help(
        "the time that a unit stays up: a number is the mean of an exponential distribution, \
             \"inf\" is never",
    ),
    Param::new("repair", Kind::Component(&DURATIONS))
        .absent("needed with `mtbf`")
        .help("the time that its repair takes, written like `mtbf`"),
    Param::new("scope", SCOPES.kind()).is("\"node\"").help(
        "what fails as one: a node, an aligned block of them, all nodes of a switch, both ends \
             of a link, or one GPU of a node that jobs share",
    ),
    Param::new("block", Kind::Integers(1, 1 << 24)).absent("needed for the scope \"block\"").help(
        "the sides of a block on a grid, the dimension of a subcube, or elsewhere a count of \
             nodes",
    ),
    Param::new("trace", Kind::Text).absent("no outages from a file").help(
        "a file of outages: an event table of the Failure Trace Archive, or CSV with \
             `node,down,up`",
    ),
    Param::new("trace_start", Kind::Number(Range::NonNegative))
        .absent("0 for CSV, the earliest start for an event table")
        .help("the instant of the trace that is the instant 0 of the run"),
    Param::new("first_node", Kind::Integer(0, u32::MAX as u64))
        .is("0")
        .help("the number that the trace gives to the first node"),
    Param::new("on_failure", ON_FAILURE.kind()).is("\"requeue_front\"").help(
        "whether a job that was interrupted waits at its old place in the queue, or at its end",
    ),
    Param::new("checkpoint", Kind::Table(CHECKPOINT))
        .absent("an interrupted job begins anew")
        .help("checkpoints, from the last of which an interrupted job goes on"),
    Param::new("maintenance", Kind::Tables(MAINTENANCE))
        .absent("none is planned")
        .help("windows in which nodes are out of service, known from the beginning"),
    Param::new("drain", Kind::Tables(DRAIN))
        .absent("no node drains")
        .help("nodes that take no new job from an instant on, while their job runs to its end"),
];

/// The keys of the table `failures.checkpoint`, which describes checkpoints of jobs.
pub static CHECKPOINT: &[Param] = &[
    Param::new("every", Kind::Or(&[DALY], &Kind::Number(Range::Positive))).help(
        "after how much work one is written; \"daly\" is the optimum for `cost` and the nodes \
             of the job",
    ),
    Param::new("cost", Kind::Number(Range::NonNegative))
        .help("what one takes, as so much more work"),
];

const NODES: Param = Param::new("nodes", Kind::Text)
    .is("\"all\"")
    .help("which nodes: all, numbers such as 0-3,7, or blocks such as 0,0:2x4");

/// The keys of one table of `failures.maintenance`, which is a window of planned maintenance.
pub static MAINTENANCE: &[Param] = &[
    Param::new("from", Kind::Number(Range::NonNegative)).help("when it begins"),
    Param::new("until", Kind::Number(Range::Positive)).help("when it ends"),
    NODES,
];

/// The keys of one table of `failures.drain`. Each table takes some nodes out of service.
pub static DRAIN: &[Param] = &[
    Param::new("from", Kind::Number(Range::NonNegative)).help("from when on they take no new job"),
    Param::new("until", Kind::Number(Range::Positive))
        .absent("for ever")
        .help("from when on they take jobs again"),
    NODES,
];
