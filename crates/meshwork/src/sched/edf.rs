//! EDF scheduling: earliest deadline first.

use super::SchedulerEntry;
use super::ordered::Ordered;
use crate::job::{Job, Time};
use crate::registry::About;

/// Registry entry of `edf`: earliest deadline first.
pub static ENTRY: SchedulerEntry = SchedulerEntry::new(
    About::new(
        "edf",
        "the job with the earliest deadline first, those without one last, ties by \
             arrival; if it cannot start, nothing does",
    )
    .aliases(&["earliest_deadline_first"])
    .definition(
        "Of the waiting jobs the one with the earliest deadline is next, and among equals the one \
         that arrived first; jobs without a deadline come after all that have one. When it cannot \
         start, nothing does. Running jobs are not interrupted. Deadlines come from the column \
         `deadline` of a table, or from `workload.deadlines`.",
    )
    .complexity("O(log q) for each arrival and each start, with q waiting jobs.")
    .source(
        "Liu & Layland, Scheduling algorithms for multiprogramming in a hard-real-time \
         environment, Journal of the ACM 20(1), 1973, without preemption",
    ),
    |_, _| Ok(Box::new(Ordered::by(deadline))),
)
.shares(true);

/// Sort key by which jobs with a deadline come first, in order of their deadlines.
fn deadline(job: &Job) -> (bool, Time) {
    let deadline = job.deadline();
    (deadline.is_none(), deadline.unwrap_or_default())
}
