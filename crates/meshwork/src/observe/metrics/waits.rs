//! Metrics that split the wait of jobs by its reason.

use super::{Measure, MetricEntry};
use crate::job::Cause;
use crate::registry::About;
const COMPLEXITY: &str = "After each change of the machine a question to the allocator for each form in which jobs wait, and O(1) for \
                          each waiting job and each span between two events. Nothing where it is not asked for.";

pub(super) static WAIT_FOR_NODES: MetricEntry = MetricEntry::new(
    About::new("wait_for_nodes", "waiting while too few processors were free, mean over jobs")
        .definition(
            "Σ time in which no site had as many free processors as the job needs at its smallest, \
             in the form of the site's allocator / jobs, over the jobs that finished in the \
             measured part of the run. Each job is looked at alone, wherever it stands in the \
             queue. The four parts of the wait, for nodes, shape, priority and what is reserved, \
             sum up to `wait`; jobs that never start are `refused`.",
        )
        .complexity(COMPLEXITY)
        .source("the wait, split by what the allocator would answer"),
    "time",
    Measure::PerWait(Cause::Nodes),
);

pub(super) static WAIT_FOR_SHAPE: MetricEntry = MetricEntry::new(
    About::new(
        "wait_for_shape",
        "waiting while enough processors were free but lay wrong, mean over jobs",
    )
    .definition(
        "Σ time in which some site had enough free processors, and no allocator found room for the \
         job / jobs, over the jobs that finished in the measured part of the run: what \
         fragmentation costs each of them, wherever it stands in the queue.",
    )
    .complexity(COMPLEXITY)
    .source("the wait, split by what the allocator would answer"),
    "time",
    Measure::PerWait(Cause::Shape),
);

pub(super) static WAIT_FOR_PRIORITY: MetricEntry = MetricEntry::new(
    About::new(
        "wait_for_priority",
        "waiting while others came before a job that had room, mean over jobs",
    )
    .definition(
        "Σ time in which an allocator had room for the job, and a scheduler that keeps no \
         processors for others did not start it / jobs, over the jobs that finished in the \
         measured part of the run: it was not its turn, or the selector waited for another site.",
    )
    .complexity(COMPLEXITY)
    .source("the wait, split by what the allocator would answer"),
    "time",
    Measure::PerWait(Cause::Priority),
);

pub(super) static WAIT_FOR_RESERVED: MetricEntry = MetricEntry::new(
    About::new(
        "wait_for_reserved",
        "waiting while processors with room were kept for others, mean over jobs",
    )
    .definition(
        "Σ time in which an allocator had room for the job, and a scheduler that \
             keeps processors for those that come before (`easy`, `conservative`, \
             `reservation`) did not start it / jobs, over the jobs that finished in \
             the measured part of the run: what promises cost those behind.",
    )
    .complexity(COMPLEXITY)
    .source("the wait, split by what the allocator would answer"),
    "time",
    Measure::PerWait(Cause::Reserved),
);
