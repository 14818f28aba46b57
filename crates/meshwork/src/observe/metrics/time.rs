//! Metrics that are rates, or means over time.

use super::{Integrand, Measure, MetricEntry};
use crate::registry::About;

pub(super) static UTILIZATION: MetricEntry = MetricEntry::new(
    About::new("utilization", "share of all processors that jobs held, mean over time")
        .definition(
            "∫ held processors dt over ∫ all processors dt, of the measured part of the run.",
        )
        .complexity("O(1) for each span between two events.")
        .source("time average of allocated processors"),
    "share",
    Measure::OverTime(Integrand::Held, Integrand::Nodes),
);

pub(super) static UTILIZATION_ASKED: MetricEntry = MetricEntry::new(
    About::new(
        "utilization_asked",
        "processors that the running jobs had asked for, as a share of all: more \
             than 1 where jobs run on fewer, mean over time",
    )
    .definition(
        "∫ processors that the running jobs had asked for dt over ∫ all processors dt. It is below \
         `utilization` where allocators round up, and above it where jobs are folded.",
    )
    .complexity("O(1) for each span between two events.")
    .source("time average of requested processors: differs under rounding and folding"),
    "share",
    Measure::OverTime(Integrand::Asked, Integrand::Nodes),
);

pub(super) static UTILIZATION_AT_EVENTS: MetricEntry = MetricEntry::new(
    About::new(
        "utilization_at_events",
        "share of processors that jobs hold, mean over the instants just after a \
             job started or ended",
    )
    .definition(
        "The mean, over the starts and ends of jobs in the measured part of the run, of the \
         processors that are held just after it, as a share of all; those at the instant 0 are \
         left out. Starts and ends are most frequent while the machine is busy, so this is more \
         than `utilization` where it is not busy all the time: some simulators plot it in place of \
         an average over time.",
    )
    .complexity("O(1) for each job.")
    .source("what RFold's program records at each start and end"),
    "share",
    Measure::PerEvent(|state| (state.held as f64, state.nodes as f64)),
);

pub(super) static QUEUE_LENGTH: MetricEntry = MetricEntry::new(
    About::new("queue_length", "waiting jobs, mean over time")
        .definition("∫ waiting jobs dt over the measured time.")
        .complexity("O(1) for each span between two events.")
        .source("time average of the queue"),
    "jobs",
    Measure::OverTime(Integrand::Waiting, Integrand::Time),
);

pub(super) static PADDING: MetricEntry = MetricEntry::new(
    About::new(
        "padding",
        "share of all processors that jobs held beyond what they had asked for, mean over time",
    )
    .definition(
        "∫ (held − asked) dt over ∫ all processors dt: what rounding jobs up to the form of an \
         allocator's blocks takes from the machine. It is the difference of `utilization` and \
         `utilization_asked` where no job is folded; `internal_fragmentation` is the same as a \
         share of the processors that are held.",
    )
    .complexity("O(1) for each span between two events.")
    .source("time average of the processors held beyond those asked for"),
    "share",
    Measure::OverTime(Integrand::Surplus, Integrand::Nodes),
);

pub(super) static INTERNAL_FRAGMENTATION: MetricEntry = MetricEntry::new(
    About::new(
        "internal_fragmentation",
        "share of held processors that their jobs had not asked for, mean over time",
    )
    .definition(
        "∫ (held − asked) dt over ∫ held dt: processors that are held because of \
             the form of an allocator's blocks.",
    )
    .complexity("O(1) for each span between two events.")
    .source("Chang & Mohapatra, section 2.2"),
    "share",
    Measure::OverTime(Integrand::Surplus, Integrand::Held),
);

pub(super) static EXTERNAL_FRAGMENTATION: MetricEntry = MetricEntry::new(
    About::new(
        "external_fragmentation",
        "share of all processors that were free though the oldest waiting job \
             asked for no more, mean over time",
    )
    .definition(
        "∫ free processors dt, while the oldest waiting job asks for no more than are free, over ∫ \
         all processors dt. Processors stand idle because of their places, because other jobs have \
         reservations of them, or because the job's partition excludes them; in order of arrival and \
         without such rules, because of their places alone.",
    )
    .complexity("O(1) for each span between two events.")
    .source("Chang & Mohapatra, section 2.2, both kinds together"),
    "share",
    Measure::OverTime(Integrand::FreeInVain, Integrand::Nodes),
);

pub(super) static THROUGHPUT: MetricEntry = MetricEntry::new(
    About::new("throughput", "jobs finished for each unit of time")
        .definition("Jobs that finished in the measured part of the run, over its time.")
        .complexity("O(1) for each job.")
        .source("count over the measured time"),
    "jobs per time",
    Measure::Rate(|_| 1.0, Integrand::Time),
);

pub(super) static CARRIED_LOAD: MetricEntry = MetricEntry::new(
    About::new(
        "carried_load",
        "processor-time that finished jobs had asked for, as a share of the machine's; where the \
         queue never empties it is the load at which the machine saturates",
    )
    .definition(
        "Σ (processors asked for × run time) of the jobs that finished, over ∫ all processors dt. \
         Where the queue never empties it is the load at which the machine saturates. Where jobs \
         send messages they do not keep their run times, and it means nothing: compare \
         `throughput`.",
    )
    .complexity("O(1) for each job.")
    .source("Chang & Mohapatra, section 4: the load, measured where jobs leave"),
    "share",
    Measure::Rate(|job| job.asked as f64 * job.job.runtime, Integrand::Nodes),
);
