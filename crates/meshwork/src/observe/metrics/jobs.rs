//! Metrics that are means over jobs.

use super::{Measure, MetricEntry, Quantity};
use crate::registry::About;

pub(super) static WAIT: MetricEntry = MetricEntry::new(
    About::new("wait", "time from arrival to start, mean over jobs")
        .aliases(&["waiting_time", "wait_time", "queue_time"])
        .definition(
            "Σ (start − arrival) / jobs, over the jobs that finished in the measured \
             part of the run.",
        )
        .complexity("O(1) for each job.")
        .source("Zhu & Lin, section 4"),
    "time",
    Measure::Mean(Quantity::Wait),
);

pub(super) static QUEUEING_DELAY: MetricEntry = MetricEntry::new(
    About::new(
        "queueing_delay",
        "time from arrival to start, mean over jobs that started, also those still \
             running at the end",
    )
    .definition(
        "Σ (start − arrival) / jobs, over all jobs that started, whether they have finished or \
         not: in a machine that is saturated, `wait` leaves out those that wait longest.",
    )
    .complexity("O(1) for each job.")
    .source("Mohapatra, Yu, Das & Kim, section 5"),
    "time",
    Measure::PerStart(|job| job.start - job.job.arrival),
);

pub(super) static TURNAROUND: MetricEntry = MetricEntry::new(
    About::new("turnaround", "time from arrival to finish, mean over jobs")
        .aliases(&["turnaround_time", "response_time"])
        .definition(
            "Σ (finish − arrival) / jobs, over the jobs that finished: wait and service together.",
        )
        .complexity("O(1) for each job.")
        .source("Chang & Mohapatra, section 4"),
    "time",
    Measure::Mean(Quantity::Turnaround),
);

pub(super) static SERVICE: MetricEntry = MetricEntry::new(
    About::new("service", "time from start to finish, mean over jobs")
        .aliases(&["service_time"])
        .definition(
            "Σ (finish − start) / jobs, over the jobs that finished: the run time, as \
             stretched by size, speed and messages.",
        )
        .complexity("O(1) for each job.")
        .source("the run time, as stretched by size, speed and messages"),
    "time",
    Measure::Mean(Quantity::Service),
);

pub(super) static SLOWDOWN: MetricEntry = MetricEntry::new(
    About::new("slowdown", "turnaround over service, mean over jobs")
        .definition(
            "The mean over jobs of (finish − arrival) / (finish − start): how many times longer a \
             job took than it would have without waiting. A job that took no time has none. Short \
             jobs count for much: `bounded_slowdown` is the measure in which they do not.",
        )
        .complexity("O(1) for each job.")
        .source(
            "Feitelson & Rudolph, Metrics and benchmarking for parallel job scheduling, JSSPP 1998",
        ),
    "ratio",
    Measure::Mean(Quantity::Slowdown),
);

pub(super) static BOUNDED_SLOWDOWN: MetricEntry = MetricEntry::new(
    About::new(
        "bounded_slowdown",
        "turnaround over run time, both at least a threshold, mean over jobs",
    )
    .aliases(&["bsld"])
    .definition(
        "The mean over jobs of max(1, (finish − arrival) / max(finish − start, threshold)), where \
         the threshold is `measure.slowdown_threshold`: how many times longer a job took than it \
         would have alone, short jobs not counting for more than they are.",
    )
    .complexity("O(1) for each job.")
    .source(
        "Feitelson & Rudolph, Metrics and benchmarking for parallel job scheduling, JSSPP 1998",
    ),
    "ratio",
    Measure::Mean(Quantity::BoundedSlowdown),
);

pub(super) static QUEUE_SEEN: MetricEntry = MetricEntry::new(
    About::new("queue_seen", "jobs that wait as a job arrives, mean over arrivals")
        .definition(
            "Σ jobs that waited when a job arrived / jobs that arrived, over the measured part of \
             the run; the job itself does not count, jobs that came before it at the same instant \
             do. Where arrivals are a Poisson process it is `queue_length`; where they come in \
             bursts they see longer queues than an observer who looks at the clock.",
        )
        .complexity("O(1) for each job.")
        .source("Wolff, Poisson arrivals see time averages, Operations Research 30(2), 1982"),
    "jobs",
    Measure::PerArrival,
);

pub(super) static SIZE: MetricEntry = MetricEntry::new(
    About::new("size", "processors asked for, mean over jobs")
        .definition("Σ processors asked for / jobs, over the jobs that finished.")
        .complexity("O(1) for each job.")
        .source("Shih, Huang & Chung, table IV"),
    "processors",
    Measure::Mean(Quantity::Size),
);
