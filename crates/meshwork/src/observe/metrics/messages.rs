//! Metrics of messages and of the dispersal of a job's processors.

use super::{Integrand, Measure, MetricEntry};
use crate::registry::About;

pub(super) static PACKET_LATENCY: MetricEntry = MetricEntry::new(
    About::new(
        "packet_latency",
        "time of a message from entering the queue of its processor to arrival, mean over messages",
    )
    .definition(
        "Σ (arrival of the tail − entry into the queue of its processor) / \
             messages, over the messages of the jobs that finished.",
    )
    .complexity("O(1) for each message.")
    .source("Bani-Mohammad, Ould-Khaoua & Ababneh, as ProcSimity reports it"),
    "time",
    Measure::PerMessage(|messages| messages.latency),
);

pub(super) static NETWORK_LATENCY: MetricEntry = MetricEntry::new(
    About::new(
        "network_latency",
        "time of a message from leaving the queue of its processor to arrival, mean over messages",
    )
    .definition(
        "Σ (arrival of the tail − exit from the queue of its processor) / \
             messages, over the messages of the jobs that finished.",
    )
    .complexity("O(1) for each message.")
    .source("Dally & Towles, Principles and Practices of Interconnection Networks"),
    "time",
    Measure::PerMessage(|messages| messages.network_latency),
);

pub(super) static BLOCKING_TIME: MetricEntry = MetricEntry::new(
    About::new(
        "blocking_time",
        "latency of a message beyond that in an idle network, mean over messages",
    )
    .definition(
        "Σ (packet latency − what the same way takes in an empty network) / \
             messages: waiting in queues, and standing still in the network.",
    )
    .complexity("O(1) for each message.")
    .source("as ProcSimity and NETSIM report it"),
    "time",
    Measure::PerMessage(|messages| messages.blocking),
);

pub(super) static HOPS: MetricEntry = MetricEntry::new(
    About::new("hops", "links on the way of a message, mean over messages")
        .definition("Σ links on the way / messages, over the messages of the jobs that finished.")
        .complexity("O(1) for each message.")
        .source("a count"),
    "links",
    Measure::PerMessage(|messages| messages.hops as f64),
);

pub(super) static LINK_UTILIZATION: MetricEntry = MetricEntry::new(
    About::new(
        "link_utilization",
        "share of the cycles of all links in which they carried a flit of a job that finished",
    )
    .definition("Σ (flits × links) of the jobs that finished, over links × cycles.")
    .complexity("O(1) for each job.")
    .source("flits times links over links times cycles"),
    "share",
    Measure::Rate(|job| job.messages().link_flits, Integrand::Of(|state| state.links as f64)),
);

pub(super) static DISPERSAL: MetricEntry = MetricEntry::new(
    About::new(
        "dispersal",
        "share of the smallest enclosing block that a job does not hold, mean over jobs",
    )
    .definition(
        "For each job, 1 − held processors / processors of the smallest block that \
             encloses them: 0 for a block. The mean over jobs.",
    )
    .complexity("O(held processors) for each job.")
    .source("Lo, Windisch, Liu & Nitzberg, IEEE TPDS 8(7), 1997"),
    "share",
    Measure::PerJob(|job, _, _| job.dispersal),
);

pub(super) static WEIGHTED_DISPERSAL: MetricEntry = MetricEntry::new(
    About::new("weighted_dispersal", "dispersal times the number of processors, mean over jobs")
        .definition("For each job, its dispersal times its processors. The mean over jobs.")
        .complexity("O(held processors) for each job.")
        .source("Lo, Windisch, Liu & Nitzberg, IEEE TPDS 8(7), 1997"),
    "processors",
    Measure::PerJob(|job, _, _| job.dispersal * f64::from(job.held)),
);
