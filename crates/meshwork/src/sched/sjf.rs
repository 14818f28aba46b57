//! SJF scheduling: smallest job first.

use super::SchedulerEntry;
use super::ordered::Ordered;
use crate::registry::About;

/// Registry entry of `sjf`: smallest job first.
pub static ENTRY: SchedulerEntry = SchedulerEntry::new(
    About::new(
        "sjf",
        "the job that asks for fewest processors first, ties by arrival; if it \
             cannot start, nothing does",
    )
    .aliases(&["smallest_job_first"])
    .definition(
        "Of the waiting jobs the one that asks for the fewest processors is next, and among equals \
         the one that arrived first; when it cannot start, nothing does. It goes by size and not \
         by time. Large jobs can starve: watch `max_wait`.",
    )
    .complexity("O(log q) for each arrival and each start, with q waiting jobs.")
    .source(
        "Al-Kerboly, The non-contiguous allocation strategies performance for k-ary n-cube \
         connected multicomputers using smallest job first scheduling strategy",
    ),
    |_, _| Ok(Box::new(Ordered::by(|job| job.request.nodes()))),
)
.shares(true);
