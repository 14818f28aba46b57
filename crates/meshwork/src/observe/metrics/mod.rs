//! Metrics: what is measured, as data.
//!
//! Nearly every metric is a ratio of two sums, over jobs or over time: a mean wait is waits over
//! jobs, a utilization is processor-time held over processor-time there was. So one accumulator
//! serves them all, for the whole run, for each batch of it, and for each size of job.

mod quantiles;

use super::{Messages, Running, State};
use crate::job::Time;
use crate::registry::{About, Family, Named, abouts};

/// A metric in the list.
pub struct MetricEntry {
    /// What it says of itself.
    pub about: About,
    /// In what it is measured.
    pub unit: &'static str,
    /// How it is measured.
    pub measure: Measure,
}

impl Named for MetricEntry {
    fn about(&self) -> &About {
        &self.about
    }
}

/// How a metric is measured.
pub enum Measure {
    /// The mean of this over the jobs that finished; jobs of which it is not a number have none.
    PerJob(fn(&Running, Time, &Rules) -> f64),
    /// The mean of this over the jobs that started.
    PerStart(fn(&Running) -> f64),
    /// A ratio of two integrals over time: what each span adds to both, for each unit of time.
    OverTime(fn(&State) -> (f64, f64)),
    /// What each job that finished adds, over what each unit of time does.
    Rate(fn(&Running) -> f64, fn(&State) -> f64),
    /// The mean over the jobs that arrived of the jobs that waited when each did.
    PerArrival,
    /// The mean of this share, what is over what is under, over the instants just after a job has started or ended.
    PerEvent(fn(&State) -> (f64, f64)),
    /// The quantile at this share of a quantity of the jobs that finished.
    Quantile(Quantity, f64),
    /// The mean of this over the messages of the jobs that finished: what each job adds to a sum.
    PerMessage(fn(&Messages) -> f64),
    /// Something that only the run as a whole has.
    Total(fn(&Totals) -> Option<f64>),
}

/// What quantiles are taken of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// Start less arrival.
    Wait,
    /// Finish less arrival.
    Turnaround,
    /// Turnaround over service; a job that took no time has none.
    Slowdown,
    /// Turnaround over service, both at least a threshold.
    BoundedSlowdown,
}

impl Quantity {
    /// Its value for a job that has finished; not a number where the job has none.
    #[must_use]
    pub fn of(self, job: &Running, finish: Time, rules: &Rules) -> f64 {
        match self {
            Quantity::Wait => job.start - job.job.arrival,
            Quantity::Turnaround => finish - job.job.arrival,
            Quantity::Slowdown => slowdown(job, finish),
            Quantity::BoundedSlowdown => bounded_slowdown(job, finish, rules),
        }
    }
}

/// Parameters that metrics share.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// Run times below this count as this much in the bounded slowdown.
    pub slowdown_threshold: f64,
}

/// Counts of a run as a whole.
#[derive(Clone, Copy, Debug, Default)]
pub struct Totals {
    /// When the first job arrived.
    pub first_arrival: Option<Time>,
    /// When the last job that finished did so.
    pub last_finish: Option<Time>,
    /// The longest wait of a job that counts.
    pub max_wait: Option<f64>,
    /// Jobs that finished and count.
    pub finished: u64,
    /// Jobs that would not fit the empty machine.
    pub refused: u64,
    /// Lines of the log that were no jobs.
    pub unusable: u64,
}

/// Every metric, in the order of tables.
pub static METRICS: &[&MetricEntry] = &[
    &WAIT,
    &QUEUEING_DELAY,
    &TURNAROUND,
    &SERVICE,
    &SLOWDOWN,
    &BOUNDED_SLOWDOWN,
    &UTILIZATION,
    &UTILIZATION_ASKED,
    &UTILIZATION_AT_EVENTS,
    &QUEUE_LENGTH,
    &QUEUE_SEEN,
    &PADDING,
    &INTERNAL_FRAGMENTATION,
    &EXTERNAL_FRAGMENTATION,
    &THROUGHPUT,
    &CARRIED_LOAD,
    &MAKESPAN,
    &MAX_WAIT,
    &quantiles::MEDIAN_WAIT,
    &quantiles::P90_WAIT,
    &quantiles::P95_WAIT,
    &quantiles::P99_WAIT,
    &quantiles::MEDIAN_TURNAROUND,
    &quantiles::P90_TURNAROUND,
    &quantiles::P99_TURNAROUND,
    &quantiles::MEDIAN_SLOWDOWN,
    &quantiles::P90_SLOWDOWN,
    &quantiles::P95_SLOWDOWN,
    &quantiles::P99_SLOWDOWN,
    &quantiles::MEDIAN_BOUNDED_SLOWDOWN,
    &quantiles::P90_BOUNDED_SLOWDOWN,
    &quantiles::P95_BOUNDED_SLOWDOWN,
    &quantiles::P99_BOUNDED_SLOWDOWN,
    &SIZE,
    &PACKET_LATENCY,
    &NETWORK_LATENCY,
    &BLOCKING_TIME,
    &HOPS,
    &LINK_UTILIZATION,
    &DISPERSAL,
    &WEIGHTED_DISPERSAL,
    &FINISHED,
    &REFUSED,
    &UNUSABLE,
];

/// Metrics of messages and of where they go: measured where jobs send messages, unless asked for.
static OF_MESSAGES: &[&MetricEntry] = &[
    &PACKET_LATENCY,
    &NETWORK_LATENCY,
    &BLOCKING_TIME,
    &HOPS,
    &LINK_UTILIZATION,
    &DISPERSAL,
    &WEIGHTED_DISPERSAL,
];

/// Measured only where a study asks for it, besides all quantiles, which keep a number for each job.
static ON_REQUEST: &[&MetricEntry] = &[&SLOWDOWN, &UTILIZATION_AT_EVENTS, &QUEUE_SEEN, &PADDING];

/// What of these metrics is measured where nothing is asked for, in a network whose jobs send messages or do not.
#[must_use]
pub fn usual(metrics: &[&'static MetricEntry], sends: bool) -> Vec<&'static str> {
    let is_in = |list: &[&MetricEntry], metric: &MetricEntry| {
        list.iter().any(|other| other.about.name == metric.about.name)
    };
    let is_usual = |metric: &&&MetricEntry| {
        !matches!(metric.measure, Measure::Quantile(..))
            && !is_in(ON_REQUEST, metric)
            && (sends || !is_in(OF_MESSAGES, metric))
    };
    metrics.iter().filter(is_usual).map(|metric| metric.about.name).collect()
}

/// Metrics, as a family of names.
pub static FAMILY: Family =
    Family { kind: "metric", key: "name", entries: || abouts(METRICS), common: &[] };

static WAIT: MetricEntry = MetricEntry {
    about: About {
        name: "wait",
        aliases: &[],
        summary: "time from arrival to start, mean over jobs",
        definition: "Σ (start − arrival) / jobs, over the jobs that finished in the measured \
                     part of the run.",
        complexity: "O(1) for each job.",
        source: "Zhu & Lin, section 4",
        params: &[],
    },
    unit: "time",
    measure: Measure::PerJob(|job, _, _| job.start - job.job.arrival),
};

static QUEUEING_DELAY: MetricEntry = MetricEntry {
    about: About {
        name: "queueing_delay",
        aliases: &[],
        summary: "time from arrival to start, mean over jobs that started, also those still running at the end",
        definition: "Σ (start − arrival) / jobs, over all jobs that started, whether they have \
                     finished or not: in a machine that is saturated, `wait` leaves out those \
                     that wait longest.",
        complexity: "O(1) for each job.",
        source: "Mohapatra, Yu, Das & Kim, section 5",
        params: &[],
    },
    unit: "time",
    measure: Measure::PerStart(|job| job.start - job.job.arrival),
};

static TURNAROUND: MetricEntry = MetricEntry {
    about: About {
        name: "turnaround",
        aliases: &[],
        summary: "time from arrival to finish, mean over jobs",
        definition: "Σ (finish − arrival) / jobs, over the jobs that finished: wait and service \
                     together.",
        complexity: "O(1) for each job.",
        source: "Chang & Mohapatra, section 4",
        params: &[],
    },
    unit: "time",
    measure: Measure::PerJob(|job, finish, _| finish - job.job.arrival),
};

static SERVICE: MetricEntry = MetricEntry {
    about: About {
        name: "service",
        aliases: &[],
        summary: "time from start to finish, mean over jobs",
        definition: "Σ (finish − start) / jobs, over the jobs that finished: the run time, as \
                     stretched by size, speed and messages.",
        complexity: "O(1) for each job.",
        source: "the run time, as stretched by size, speed and messages",
        params: &[],
    },
    unit: "time",
    measure: Measure::PerJob(|job, finish, _| finish - job.start),
};

static SLOWDOWN: MetricEntry = MetricEntry {
    about: About {
        name: "slowdown",
        aliases: &[],
        summary: "turnaround over service, mean over jobs",
        definition: "The mean over jobs of (finish − arrival) / (finish − start): how many times longer \
                     a job took than it would have without waiting. A job that took no time has none. \
                     Short jobs count for much: `bounded_slowdown` is the measure in which they do not.",
        complexity: "O(1) for each job.",
        source: "Feitelson & Rudolph, Metrics and benchmarking for parallel job scheduling, JSSPP 1998",
        params: &[],
    },
    unit: "ratio",
    measure: Measure::PerJob(|job, finish, _| slowdown(job, finish)),
};

static BOUNDED_SLOWDOWN: MetricEntry = MetricEntry {
    about: About {
        name: "bounded_slowdown",
        aliases: &[],
        summary: "turnaround over run time, both at least a threshold, mean over jobs",
        definition: "The mean over jobs of max(1, (finish − arrival) / max(finish − start, \
                     threshold)), where the threshold is `measure.slowdown_threshold`: how many \
                     times longer a job took than it would have alone, short jobs not counting \
                     for more than they are.",
        complexity: "O(1) for each job.",
        source: "Feitelson & Rudolph, Metrics and benchmarking for parallel job scheduling, JSSPP 1998",
        params: &[],
    },
    unit: "ratio",
    measure: Measure::PerJob(bounded_slowdown),
};

static UTILIZATION: MetricEntry = MetricEntry {
    about: About {
        name: "utilization",
        aliases: &[],
        summary: "share of all processors that jobs held, mean over time",
        definition: "∫ held processors dt over ∫ all processors dt, of the measured part of the \
                     run.",
        complexity: "O(1) for each span between two events.",
        source: "time average of allocated processors",
        params: &[],
    },
    unit: "share",
    measure: Measure::OverTime(|state| (state.held as f64, state.nodes as f64)),
};

static UTILIZATION_ASKED: MetricEntry = MetricEntry {
    about: About {
        name: "utilization_asked",
        aliases: &[],
        summary: "processors that the running jobs had asked for, as a share of all: more than 1 where \
                  jobs run on fewer, mean over time",
        definition: "∫ processors that the running jobs had asked for dt over ∫ all processors \
                     dt. It is below `utilization` where allocators round up, and above it where \
                     jobs are folded.",
        complexity: "O(1) for each span between two events.",
        source: "time average of requested processors: differs under rounding and folding",
        params: &[],
    },
    unit: "share",
    measure: Measure::OverTime(|state| (state.asked as f64, state.nodes as f64)),
};

static UTILIZATION_AT_EVENTS: MetricEntry = MetricEntry {
    about: About {
        name: "utilization_at_events",
        aliases: &[],
        summary: "share of processors that jobs hold, mean over the instants just after a job started or ended",
        definition: "The mean, over the starts and ends of jobs in the measured part of the run, of the processors that are \
                     held just after it, as a share of all; those at the instant 0 are left out. Starts and ends are most frequent while the machine is \
                     busy, so this is more than `utilization` where it is not busy all the time: some simulators plot \
                     it in place of an average over time.",
        complexity: "O(1) for each job.",
        source: "what RFold's program records at each start and end",
        params: &[],
    },
    unit: "share",
    measure: Measure::PerEvent(|state| (state.held as f64, state.nodes as f64)),
};

static QUEUE_LENGTH: MetricEntry = MetricEntry {
    about: About {
        name: "queue_length",
        aliases: &[],
        summary: "waiting jobs, mean over time",
        definition: "∫ waiting jobs dt over the measured time.",
        complexity: "O(1) for each span between two events.",
        source: "time average of the queue",
        params: &[],
    },
    unit: "jobs",
    measure: Measure::OverTime(|state| (state.waiting as f64, 1.0)),
};

static QUEUE_SEEN: MetricEntry = MetricEntry {
    about: About {
        name: "queue_seen",
        aliases: &[],
        summary: "jobs that wait as a job arrives, mean over arrivals",
        definition: "Σ jobs that waited when a job arrived / jobs that arrived, over the measured part of \
                     the run; the job itself does not count, jobs that came before it at the same \
                     instant do. Where arrivals are a Poisson process it is `queue_length`; where they \
                     come in bursts they see longer queues than an observer who looks at the clock.",
        complexity: "O(1) for each job.",
        source: "Wolff, Poisson arrivals see time averages, Operations Research 30(2), 1982",
        params: &[],
    },
    unit: "jobs",
    measure: Measure::PerArrival,
};

static PADDING: MetricEntry = MetricEntry {
    about: About {
        name: "padding",
        aliases: &[],
        summary: "share of all processors that jobs held beyond what they had asked for, mean over time",
        definition: "∫ (held − asked) dt over ∫ all processors dt: what rounding jobs up to the form of \
                     an allocator's blocks takes from the machine. It is the difference of `utilization` and \
                     `utilization_asked` where no job is folded; `internal_fragmentation` is the same \
                     as a share of the processors that are held.",
        complexity: "O(1) for each span between two events.",
        source: "time average of the processors held beyond those asked for",
        params: &[],
    },
    unit: "share",
    measure: Measure::OverTime(|state| (state.surplus as f64, state.nodes as f64)),
};

static INTERNAL_FRAGMENTATION: MetricEntry = MetricEntry {
    about: About {
        name: "internal_fragmentation",
        aliases: &[],
        summary: "share of held processors that their jobs had not asked for, mean over time",
        definition: "∫ (held − asked) dt over ∫ held dt: processors that are held because of the \
                     form of an allocator's blocks.",
        complexity: "O(1) for each span between two events.",
        source: "Chang & Mohapatra, section 2.2",
        params: &[],
    },
    unit: "share",
    measure: Measure::OverTime(|state| (state.surplus as f64, state.held as f64)),
};

static EXTERNAL_FRAGMENTATION: MetricEntry = MetricEntry {
    about: About {
        name: "external_fragmentation",
        aliases: &[],
        summary: "share of all processors that were free though the oldest waiting job asked for no more, mean over time",
        definition: "∫ free processors dt, while the oldest waiting job asks for no more than \
                     are free, over ∫ all processors dt: processors that stand idle because of \
                     their shape alone.",
        complexity: "O(1) for each span between two events.",
        source: "Chang & Mohapatra, section 2.2, both kinds together",
        params: &[],
    },
    unit: "share",
    measure: Measure::OverTime(blocked_by_shape),
};

static THROUGHPUT: MetricEntry = MetricEntry {
    about: About {
        name: "throughput",
        aliases: &[],
        summary: "jobs finished for each unit of time",
        definition: "Jobs that finished in the measured part of the run, over its time.",
        complexity: "O(1) for each job.",
        source: "count over the measured time",
        params: &[],
    },
    unit: "jobs per time",
    measure: Measure::Rate(|_| 1.0, |_| 1.0),
};

static CARRIED_LOAD: MetricEntry = MetricEntry {
    about: About {
        name: "carried_load",
        aliases: &[],
        summary: "processor-time that finished jobs had asked for, as a share of the machine's; where the \
                  queue never empties it is the load at which the machine saturates",
        definition: "Σ (processors asked for × run time) of the jobs that finished, over ∫ all \
                     processors dt. Where the queue never empties it is the load at which the \
                     machine saturates.",
        complexity: "O(1) for each job.",
        source: "Chang & Mohapatra, section 4: the load, measured where jobs leave",
        params: &[],
    },
    unit: "share",
    measure: Measure::Rate(|job| job.asked as f64 * job.job.runtime, |state| state.nodes as f64),
};

static MAKESPAN: MetricEntry = MetricEntry {
    about: About {
        name: "makespan",
        aliases: &[],
        summary: "time from the first arrival to the last finish",
        definition: "The last finish less the first arrival, of the whole run, warm-up included.",
        complexity: "O(1) for each job.",
        source: "of the whole run, warm-up included",
        params: &[],
    },
    unit: "time",
    measure: Measure::Total(|t| Some(t.last_finish? - t.first_arrival?)),
};

static MAX_WAIT: MetricEntry = MetricEntry {
    about: About {
        name: "max_wait",
        aliases: &[],
        summary: "longest wait of any job",
        definition: "The longest start − arrival of any measured job: it shows starvation, which \
                     a mean hides.",
        complexity: "O(1) for each job.",
        source: "shows starvation, which a mean hides",
        params: &[],
    },
    unit: "time",
    measure: Measure::Total(|t| t.max_wait),
};

static SIZE: MetricEntry = MetricEntry {
    about: About {
        name: "size",
        aliases: &[],
        summary: "processors asked for, mean over jobs",
        definition: "Σ processors asked for / jobs, over the jobs that finished.",
        complexity: "O(1) for each job.",
        source: "Shih, Huang & Chung, table IV",
        params: &[],
    },
    unit: "processors",
    measure: Measure::PerJob(|job, _, _| job.asked as f64),
};

static FINISHED: MetricEntry = MetricEntry {
    about: About {
        name: "finished",
        aliases: &[],
        summary: "jobs that finished and were measured",
        definition: "The number of jobs that finished and were measured.",
        complexity: "O(1) for each job.",
        source: "a count",
        params: &[],
    },
    unit: "jobs",
    measure: Measure::Total(|t| Some(t.finished as f64)),
};

static REFUSED: MetricEntry = MetricEntry {
    about: About {
        name: "refused",
        aliases: &[],
        summary: "jobs that would not fit even the empty machine, or that their scheduler turned away",
        definition: "The number of jobs that would not fit even the empty machine, or that their \
                     scheduler turned away.",
        complexity: "O(1) for each job.",
        source: "a count",
        params: &[],
    },
    unit: "jobs",
    measure: Measure::Total(|t| Some(t.refused as f64)),
};

static UNUSABLE: MetricEntry = MetricEntry {
    about: About {
        name: "unusable",
        aliases: &[],
        summary: "lines of the log that were no jobs",
        definition: "The number of lines of the log that were no jobs.",
        complexity: "O(1) for each line.",
        source: "a count",
        params: &[],
    },
    unit: "jobs",
    measure: Measure::Total(|t| Some(t.unusable as f64)),
};

static PACKET_LATENCY: MetricEntry = MetricEntry {
    about: About {
        name: "packet_latency",
        aliases: &[],
        summary: "time of a message from entering the queue of its processor to arrival, mean over messages",
        definition: "Σ (arrival of the tail − entry into the queue of its processor) / messages, \
                     over the messages of the jobs that finished.",
        complexity: "O(1) for each message.",
        source: "Bani-Mohammad, Ould-Khaoua & Ababneh, as ProcSimity reports it",
        params: &[],
    },
    unit: "time",
    measure: Measure::PerMessage(|messages| messages.latency),
};

static NETWORK_LATENCY: MetricEntry = MetricEntry {
    about: About {
        name: "network_latency",
        aliases: &[],
        summary: "time of a message from leaving the queue of its processor to arrival, mean over messages",
        definition: "Σ (arrival of the tail − exit from the queue of its processor) / messages, \
                     over the messages of the jobs that finished.",
        complexity: "O(1) for each message.",
        source: "Dally & Towles, Principles and Practices of Interconnection Networks",
        params: &[],
    },
    unit: "time",
    measure: Measure::PerMessage(|messages| messages.network_latency),
};

static BLOCKING_TIME: MetricEntry = MetricEntry {
    about: About {
        name: "blocking_time",
        aliases: &[],
        summary: "latency of a message beyond that in an idle network, mean over messages",
        definition: "Σ (packet latency − what the same way takes in an empty network) / \
                     messages: waiting in queues, and standing still in the network.",
        complexity: "O(1) for each message.",
        source: "as ProcSimity and NETSIM report it",
        params: &[],
    },
    unit: "time",
    measure: Measure::PerMessage(|messages| messages.blocking),
};

static HOPS: MetricEntry = MetricEntry {
    about: About {
        name: "hops",
        aliases: &[],
        summary: "links on the way of a message, mean over messages",
        definition: "Σ links on the way / messages, over the messages of the jobs that finished.",
        complexity: "O(1) for each message.",
        source: "a count",
        params: &[],
    },
    unit: "links",
    measure: Measure::PerMessage(|messages| messages.hops as f64),
};

static LINK_UTILIZATION: MetricEntry = MetricEntry {
    about: About {
        name: "link_utilization",
        aliases: &[],
        summary: "share of the cycles of all links in which they carried a flit of a job that finished",
        definition: "Σ (flits × links) of the jobs that finished, over links × cycles.",
        complexity: "O(1) for each job.",
        source: "flits times links over links times cycles",
        params: &[],
    },
    unit: "share",
    measure: Measure::Rate(|job| job.messages.link_flits, |state| state.links as f64),
};

static DISPERSAL: MetricEntry = MetricEntry {
    about: About {
        name: "dispersal",
        aliases: &[],
        summary: "share of the smallest enclosing block that a job does not hold, mean over jobs",
        definition: "For each job, 1 − held processors / processors of the smallest block that \
                     encloses them: 0 for a block. The mean over jobs.",
        complexity: "O(held processors) for each job.",
        source: "Lo, Windisch, Liu & Nitzberg, IEEE TPDS 8(7), 1997",
        params: &[],
    },
    unit: "share",
    measure: Measure::PerJob(|job, _, _| job.dispersal),
};

static WEIGHTED_DISPERSAL: MetricEntry = MetricEntry {
    about: About {
        name: "weighted_dispersal",
        aliases: &[],
        summary: "dispersal times the number of processors, mean over jobs",
        definition: "For each job, its dispersal times its processors. The mean over jobs.",
        complexity: "O(held processors) for each job.",
        source: "Lo, Windisch, Liu & Nitzberg, IEEE TPDS 8(7), 1997",
        params: &[],
    },
    unit: "processors",
    measure: Measure::PerJob(|job, _, _| job.dispersal * f64::from(job.held)),
};

fn slowdown(job: &Running, finish: Time) -> f64 {
    let service = finish - job.start;
    if service > 0.0 { (finish - job.job.arrival) / service } else { f64::NAN }
}

fn bounded_slowdown(job: &Running, finish: Time, rules: &Rules) -> f64 {
    let service = (finish - job.start).max(rules.slowdown_threshold);
    ((finish - job.job.arrival) / service).max(1.0)
}

fn blocked_by_shape(state: &State) -> (f64, f64) {
    let free = if state.blocked_by_shape { state.nodes - state.held } else { 0 };
    (free as f64, state.nodes as f64)
}
