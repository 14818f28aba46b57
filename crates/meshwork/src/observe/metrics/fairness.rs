//! Metrics of fairness between users and between jobs.

use super::{Measure, MetricEntry, Quantity};
use crate::registry::About;

const JAIN: &str = "Jain, Chiu & Hawe, A quantitative measure of fairness and discrimination for resource allocation in shared \
                    computer systems, DEC-TR-301, 1984";

pub(super) static JAIN_SLOWDOWN: MetricEntry = MetricEntry::new(
    About::new(
        "jain_slowdown",
        "fairness, as Jain's index of the users' mean bounded slowdowns: 1 where all are alike",
    )
    .definition(
        "(Σ x)² / (n Σ x²), where x is the mean bounded slowdown of the jobs of each of n users, \
         over the jobs that finished: 1 where all users are slowed down alike, 1/n where one bears \
         it all. Jobs of which no user is known count nowhere.",
    )
    .complexity("O(log u) for each job of u users.")
    .source(JAIN),
    "ratio",
    Measure::Evenness(Quantity::BoundedSlowdown),
);

pub(super) static JAIN_WAIT: MetricEntry = MetricEntry::new(
    About::new(
        "jain_wait",
        "fairness, as Jain's index of the users' mean waits: 1 where all are alike",
    )
    .definition(
        "(Σ x)² / (n Σ x²), where x is the mean wait of the jobs of each of n users, over the jobs \
         that finished: 1 where all users wait alike, or nobody waits, 1/n where one alone waits. \
         Jobs of which no user is known count nowhere.",
    )
    .complexity("O(log u) for each job of u users.")
    .source(JAIN),
    "ratio",
    Measure::Evenness(Quantity::Wait),
);

pub(super) static UNFAIR_JOBS: MetricEntry = MetricEntry::new(
    About::new(
        "unfair_jobs",
        "share of jobs that started later than they would have if nobody had come after them",
    )
    .definition(
        "The fair start of a job is when it starts in a run of the jobs that arrived no later than \
         it, and of no others: with the same strategies, machine and run times. Jobs with start > \
         fair start / jobs, over the jobs that finished. Where nobody ever overtakes, it is 0.",
    )
    .complexity(
        "For each instant at which a job arrives that is not started before the \
             next arrival, a run of all jobs up to then: O(j²) events for j jobs.",
    )
    .source(
        "Sabin & Sadayappan, Unfairness metrics for space-sharing parallel job \
             schedulers, JSSPP 2005: the strict fair start time",
    ),
    "ratio",
    Measure::PerLateness(|late| f64::from(u8::from(late > 0.0))),
);

pub(super) static UNFAIRNESS: MetricEntry = MetricEntry::new(
    About::new(
        "unfairness",
        "time by which jobs started later than they would have if nobody had come \
             after them, mean over jobs",
    )
    .definition(
        "Σ max(0, start − fair start) / jobs, over the jobs that finished, those \
             treated fairly too; for fair starts see `unfair_jobs`.",
    )
    .complexity("As `unfair_jobs`, and both together cost no more.")
    .source(
        "Sabin & Sadayappan, Unfairness metrics for space-sharing parallel job \
             schedulers, JSSPP 2005",
    ),
    "time",
    Measure::PerLateness(|late| late),
);
