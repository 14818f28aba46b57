//! Keys of a scenario, described as data.

use crate::alloc::parts::nodes::{ORDER, WITHIN};
use crate::engine::Passes;
use crate::observe::metrics;
use crate::observe::recorder::SizeClasses;
use crate::registry::{Kind, Param, Range, Words};
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
    Param::new("seed", Kind::Integer(0, i64::MAX as u64))
        .is("1")
        .help("the seed of every stream of random numbers"),
    Param::new("allocator", Kind::Component(&alloc::FAMILY))
        .absent("first_fit on meshes, tori and hypercubes, naive on flat machines")
        .help("which free processors a job gets"),
    ORDER,
    WITHIN,
    Param::new("scheduler", Kind::Component(&sched::FAMILY))
        .is("\"fcfs\"")
        .help("which waiting jobs start, and when"),
    Param::new("passes", PASSES.kind()).is("\"instant\"").help(
        "whether the scheduler is asked once for each instant, after all that end and arrive \
             then, or after each end and each arrival",
    ),
    Param::new("selector", Kind::Component(&select::FAMILY))
        .is("\"first_fit\"")
        .help("which site a job goes to"),
    Param::new("sizing", Kind::Component(&sizing::FAMILY))
        .is("\"exact\"")
        .help("with how many processors a job may be started"),
    Param::new("network", Kind::Component(&network::FAMILY))
        .is("\"ideal\"")
        .help("how long a placed job takes"),
    Param::new("failures", Kind::Table(failures::PARAMS))
        .absent("no node ever fails")
        .help("which nodes go out of service, when, and what becomes of the jobs on them"),
    Param::new("energy", Kind::Table(energy::PARAMS))
        .absent("nobody asks what the machine takes")
        .help("what processors take that are busy, idle or asleep, and what the machine may take"),
    Param::new("workload", Kind::Component(&workload::FAMILY)).help("where jobs come from"),
    Param::new("measure", Kind::Table(MEASURE))
        .is("{}")
        .help("which part of a run is measured, and what of it"),
];

/// Keys of the table `measure` of a scenario.
pub static MEASURE: &[Param] = &[
    Param::new("warmup_jobs", Kind::Integer(0, 1 << 53))
        .is("0")
        .help("jobs that finish before anything is measured"),
    Param::new("warmup_time", Kind::Number(Range::NonNegative))
        .is("0.0")
        .help("time after the first arrival before anything is measured"),
    Param::new("jobs", Kind::Integer(1, 1 << 53))
        .absent("until the workload is done")
        .help("jobs that finish before the run ends, those of the warm-up included"),
    Param::new("time", Kind::Number(Range::Positive))
        .absent("until the workload is done")
        .help("time after the first arrival at which the run ends"),
    Param::new("metrics", Kind::Names(&metrics::FAMILY))
        .absent(
            "most of them: no quantiles, nor `slowdown`, `queue_seen` and `padding`; those of \
             messages only where jobs send some",
        )
        .help("what is measured"),
    Param::new("slowdown_threshold", Kind::Number(Range::NonNegative)).is("10.0").help(
        "shorter run times count as this much in the bounded slowdown, in the unit of the jobs' \
             times: 10 seconds in a log, and 10 hours where the times of a model are in hours",
    ),
    Param::new("by_size", BY_SIZE.kind())
        .is("\"no\"")
        .help("whether means and quantiles over jobs are also given for each size of job"),
    Param::new("by_user", Kind::Flag).is("false").help(
        "whether means and quantiles over jobs are also given for each user: of logs and \
             tables",
    ),
    Param::new("by_group", Kind::Flag).is("false").help(
        "whether means and quantiles over jobs are also given for each group of users: of logs \
             and tables",
    ),
    Param::new("by_application", Kind::Flag).is("false").help(
        "whether means and quantiles over jobs are also given for each program that jobs run: \
             of logs and tables",
    ),
    Param::new("by_queue", Kind::Flag).is("false").help(
        "whether means and quantiles over jobs are also given for each queue: of logs and \
             tables",
    ),
    Param::new("by_partition", Kind::Flag).is("false").help(
        "whether means and quantiles over jobs are also given for each partition that jobs \
             were submitted to: of logs and tables",
    ),
];
