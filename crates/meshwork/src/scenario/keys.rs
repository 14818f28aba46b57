//! Keys of a scenario, described as data.

use crate::alloc::parts::nodes::{ORDER, WITHIN};
use crate::engine::Passes;
use crate::observe::metrics;
use crate::observe::recorder::SizeClasses;
use crate::registry::{DefaultValue, Kind, Param, Range, Words};
use crate::{alloc, energy, failures, network, sched, select, sizing, workload};

pub(super) static PASSES: Words<Passes, 2> =
    Words::new([("instant", Passes::Instant), ("event", Passes::Event)]);

pub(super) static BY_SIZE: Words<Option<SizeClasses>, 3> = Words::new([
    ("no", None),
    ("exact", Some(SizeClasses::Exact)),
    ("power_of_two", Some(SizeClasses::PowerOfTwo)),
]);

/// Keys of a scenario, except `machine`.
pub static PARAMS: &[Param] = &[
    Param {
        name: "seed",
        kind: Kind::Integer(0, i64::MAX as u64),
        default: DefaultValue::Is("1"),
        help: "the seed of every stream of random numbers",
    },
    Param {
        name: "allocator",
        kind: Kind::Component(&alloc::FAMILY),
        default: DefaultValue::Absent(
            "first_fit on meshes, tori and hypercubes, naive on flat machines",
        ),
        help: "which free processors a job gets",
    },
    ORDER,
    WITHIN,
    Param {
        name: "scheduler",
        kind: Kind::Component(&sched::FAMILY),
        default: DefaultValue::Is("\"fcfs\""),
        help: "which waiting jobs start, and when",
    },
    Param {
        name: "passes",
        kind: PASSES.kind(),
        default: DefaultValue::Is("\"instant\""),
        help: "whether the scheduler is asked once for each instant, after all that end and arrive \
               then, or after each end and each arrival",
    },
    Param {
        name: "selector",
        kind: Kind::Component(&select::FAMILY),
        default: DefaultValue::Is("\"first_fit\""),
        help: "which site a job goes to",
    },
    Param {
        name: "sizing",
        kind: Kind::Component(&sizing::FAMILY),
        default: DefaultValue::Is("\"exact\""),
        help: "with how many processors a job may be started",
    },
    Param {
        name: "network",
        kind: Kind::Component(&network::FAMILY),
        default: DefaultValue::Is("\"ideal\""),
        help: "how long a placed job takes",
    },
    Param {
        name: "failures",
        kind: Kind::Table(failures::PARAMS),
        default: DefaultValue::Absent("no node ever fails"),
        help: "which nodes go out of service, when, and what becomes of the jobs on them",
    },
    Param {
        name: "energy",
        kind: Kind::Table(energy::PARAMS),
        default: DefaultValue::Absent("nobody asks what the machine takes"),
        help: "what processors take that are busy, idle or asleep, and what the machine may take",
    },
    Param {
        name: "workload",
        kind: Kind::Component(&workload::FAMILY),
        default: DefaultValue::Required,
        help: "where jobs come from",
    },
    Param {
        name: "measure",
        kind: Kind::Table(MEASURE),
        default: DefaultValue::Is("{}"),
        help: "which part of a run is measured, and what of it",
    },
];

/// Keys of the table `measure` of a scenario.
pub static MEASURE: &[Param] = &[
    Param {
        name: "warmup_jobs",
        kind: Kind::Integer(0, 1 << 53),
        default: DefaultValue::Is("0"),
        help: "jobs that finish before anything is measured",
    },
    Param {
        name: "warmup_time",
        kind: Kind::Number(Range::NonNegative),
        default: DefaultValue::Is("0.0"),
        help: "time after the first arrival before anything is measured",
    },
    Param {
        name: "jobs",
        kind: Kind::Integer(1, 1 << 53),
        default: DefaultValue::Absent("until the workload is done"),
        help: "jobs that finish before the run ends, those of the warm-up included",
    },
    Param {
        name: "time",
        kind: Kind::Number(Range::Positive),
        default: DefaultValue::Absent("until the workload is done"),
        help: "time after the first arrival at which the run ends",
    },
    Param {
        name: "metrics",
        kind: Kind::Names(&metrics::FAMILY),
        default: DefaultValue::Absent(
            "most of them: no quantiles, nor `slowdown`, `queue_seen` and `padding`; those of messages \
             only where jobs send some",
        ),
        help: "what is measured",
    },
    Param {
        name: "slowdown_threshold",
        kind: Kind::Number(Range::NonNegative),
        default: DefaultValue::Is("10.0"),
        help: "shorter run times count as this much in the bounded slowdown",
    },
    Param {
        name: "by_size",
        kind: BY_SIZE.kind(),
        default: DefaultValue::Is("\"no\""),
        help: "whether means and quantiles over jobs are also given for each size of job",
    },
    Param {
        name: "by_user",
        kind: Kind::Flag,
        default: DefaultValue::Is("false"),
        help: "whether means and quantiles over jobs are also given for each user: of logs and tables",
    },
    Param {
        name: "by_group",
        kind: Kind::Flag,
        default: DefaultValue::Is("false"),
        help: "whether means and quantiles over jobs are also given for each group of users: of logs and tables",
    },
    Param {
        name: "by_application",
        kind: Kind::Flag,
        default: DefaultValue::Is("false"),
        help: "whether means and quantiles over jobs are also given for each program that jobs run: of logs and tables",
    },
    Param {
        name: "by_queue",
        kind: Kind::Flag,
        default: DefaultValue::Is("false"),
        help: "whether means and quantiles over jobs are also given for each queue: of logs and tables",
    },
    Param {
        name: "by_partition",
        kind: Kind::Flag,
        default: DefaultValue::Is("false"),
        help: "whether means and quantiles over jobs are also given for each partition that jobs were submitted to: of \
               logs and tables",
    },
];
