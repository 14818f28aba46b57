//! Metrics: what is measured, as data.
//!
//! Nearly every metric is a ratio of two sums, over jobs or over time: a mean wait is waits over
//! jobs, a utilization is processor-time held over processor-time there was. So one accumulator
//! serves them all, for the whole run, for each batch of it, and for each size of job.

mod deadlines;
mod energy;
mod failures;
mod fairness;
mod jobs;
mod messages;
mod quantiles;
mod time;
mod totals;
mod waits;

pub use super::areas::Integrand;
use super::{Messages, Observer, Running, State};
use crate::job::{Cause, Time};
use crate::registry::{About, DefaultValue, Family, Named, Params, abouts};
use crate::topology::Topology;
use deadlines::{MISSED_DEADLINES, TARDINESS};
use energy::{ASLEEP, ENERGY, ENERGY_DELAY, MEAN_POWER, WAKE_UPS};
use failures::{AVAILABILITY, GOODPUT, INTERRUPTIONS, LOST_NODE_HOURS};
use fairness::{JAIN_SLOWDOWN, JAIN_WAIT, UNFAIR_JOBS, UNFAIRNESS};
use jobs::{
    BOUNDED_SLOWDOWN, QUEUE_SEEN, QUEUEING_DELAY, SERVICE, SIZE, SLOWDOWN, TURNAROUND, WAIT,
};
use messages::{
    BLOCKING_TIME, DISPERSAL, HOPS, LINK_UTILIZATION, NETWORK_LATENCY, PACKET_LATENCY,
    WEIGHTED_DISPERSAL,
};
use time::{
    CARRIED_LOAD, EXTERNAL_FRAGMENTATION, INTERNAL_FRAGMENTATION, PADDING, QUEUE_LENGTH,
    THROUGHPUT, UTILIZATION, UTILIZATION_ASKED, UTILIZATION_AT_EVENTS,
};
use totals::{FINISHED, MAKESPAN, MAX_WAIT, REFUSED, UNUSABLE};
use waits::{WAIT_FOR_NODES, WAIT_FOR_PRIORITY, WAIT_FOR_RESERVED, WAIT_FOR_SHAPE};

/// A metric in the list.
pub struct MetricEntry {
    /// What it says of itself.
    pub about: About,
    /// In what it is measured.
    pub unit: &'static str,
    /// How it is measured. Its parameters reach what is called for each job, as [`Rules::params`].
    pub measure: Measure,
}

impl MetricEntry {
    /// Whether a parameter has to be given: it is then measured only where a study names it.
    fn must_be_named(&self) -> bool {
        self.about.params.iter().any(|param| matches!(param.default, DefaultValue::Required))
    }
}

impl Named for MetricEntry {
    fn about(&self) -> &About {
        &self.about
    }
}

/// How a metric is measured.
pub enum Measure {
    /// The mean of a quantity over the jobs that finished; jobs of which it is not a number have none.
    Mean(Quantity),
    /// The same of anything else.
    PerJob(fn(&Running, Time, &Rules) -> f64),
    /// The ratio of two sums over the jobs that finished, of what is given for each: over what it stands, and under. A job for
    /// which either is not a number adds nothing.
    Ratio(fn(&Running, Time, &Rules) -> (f64, f64)),
    /// The mean over the jobs that finished of the time that each waited for this.
    PerWait(Cause),
    /// The mean of this over the jobs that started.
    PerStart(fn(&Running) -> f64),
    /// A ratio of two integrals over time.
    OverTime(Integrand, Integrand),
    /// What the machine took over all time, with what waking took, in watts.
    Power,
    /// The same ratio as over time, less what each run did in vain that ended or was interrupted.
    Net(Integrand, Integrand, fn(&Running) -> f64),
    /// What each job that finished adds, over an integral over time.
    Rate(fn(&Running) -> f64, Integrand),
    /// The mean over the jobs that arrived of the jobs that waited when each did.
    PerArrival,
    /// The mean of this share, what is over what is under, over the instants just after a job has started or ended.
    PerEvent(fn(&State) -> (f64, f64)),
    /// The quantile at this share of a quantity of the jobs that finished.
    Quantile(Quantity, f64),
    /// The mean of this over the messages of the jobs that finished: what each job adds to a sum.
    PerMessage(fn(&Messages) -> f64),
    /// Jain's index of the users' means of a quantity of the jobs that finished: how alike they are served.
    Evenness(Quantity),
    /// The mean over the jobs that finished of this of the time by which each started later than it would have if nobody
    /// had arrived after it.
    PerLateness(fn(f64) -> f64),
    /// The mean over the jobs that finished of the value that a function gives each. It is made for
    /// the run and its machine; jobs of which it is not a number have none.
    MeanBy(fn(&'static About, &[Topology]) -> JobValue),
    /// The number that a gauge shows in the end. It is made for the run and its machine, and sees
    /// all of it, its warm-up too.
    Watched(fn(&'static About, &[Topology]) -> Box<dyn Gauge>),
    /// Something that only the run as a whole has.
    Total(fn(&Totals) -> Option<f64>),
    /// The same, of what the machine took.
    Energy(fn(&Totals) -> Option<f64>),
}

impl Measure {
    /// Whether it goes by what blocks the oldest waiting job, or may.
    pub(super) fn looks_at_what_blocks(&self) -> bool {
        match self {
            Measure::OverTime(over, under) | Measure::Net(over, under, _) => {
                over.looks_at_what_blocks() || under.looks_at_what_blocks()
            }
            Measure::Rate(_, under) => under.looks_at_what_blocks(),
            Measure::PerEvent(_) => true,
            Measure::Mean(_)
            | Measure::PerJob(_)
            | Measure::Ratio(_)
            | Measure::PerWait(_)
            | Measure::PerStart(_)
            | Measure::Power
            | Measure::PerArrival
            | Measure::Quantile(..)
            | Measure::PerMessage(_)
            | Measure::Evenness(_)
            | Measure::PerLateness(_)
            | Measure::MeanBy(_)
            | Measure::Watched(_)
            | Measure::Total(_)
            | Measure::Energy(_) => false,
        }
    }
}

/// Gives each job that finishes a value; made anew for each run.
pub type JobValue = Box<dyn FnMut(&Running, Time, &Rules) -> f64 + Send>;

/// Watches one run, and shows a number at its end.
///
/// ```
/// use meshwork::catalogue::Catalogue;
/// use meshwork::job::Time;
/// use meshwork::observe::metrics::{Gauge, Measure, MetricEntry};
/// use meshwork::observe::{Event, Observer};
/// use meshwork::registry::About;
/// use meshwork::scenario::Scenario;
/// use meshwork::workload::NoInputs;
///
/// /// The longest queue.
/// #[derive(Default)]
/// struct Longest { waiting: u64, most: u64 }
///
/// impl Observer for Longest {
///     fn observe(&mut self, _now: Time, event: &Event<'_>) {
///         match event {
///             Event::Arrived(..) => self.waiting += 1,
///             Event::Started(_) => self.waiting -= 1,
///             _ => {}
///         }
///         self.most = self.most.max(self.waiting);
///     }
/// }
///
/// impl Gauge for Longest {
///     fn value(&self) -> Option<f64> { Some(self.most as f64) }
/// }
///
/// static LONGEST: MetricEntry = MetricEntry {
///     about: About {
///         name: "longest_queue", aliases: &[], summary: "the longest queue",
///         definition: "The most jobs that waited at once.", complexity: "O(1) for each event.",
///         source: "general", params: &[],
///     },
///     unit: "jobs",
///     measure: Measure::Watched(|_, _| Box::new(Longest::default())),
/// };
///
/// let catalogue = Catalogue::standard().with_metric(&LONGEST)?;
/// let scenario = Scenario::read_in(&catalogue, &toml::toml! {
///     machine = { topology = "flat", processors = 16 }
///     workload = { name = "lublin", jobs = 50 }
///     measure = { metrics = ["longest_queue"] }
/// })?;
/// assert!(scenario.run(0, &NoInputs, &mut ())?.metrics[0].value > Some(0.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Gauge: Observer + Send {
    /// The number; nothing where there was nothing to measure.
    fn value(&self) -> Option<f64>;
}

/// What means and quantiles are taken of.
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
    /// For how long it held processors.
    Service,
    /// How many processors it asked for.
    Size,
}

impl Quantity {
    /// Its value for a job that has finished; not a number where the job has none.
    #[must_use]
    pub fn of(self, job: &Running, finish: Time, rules: &Rules) -> f64 {
        Quantity::all(job, finish, rules)[self as usize]
    }

    /// The values of all of them, each in its place: they are so few, and have so much in common, that whoever wants
    /// several finds all at once.
    #[inline]
    pub(super) fn all(job: &Running, finish: Time, rules: &Rules) -> [f64; 6] {
        let (turnaround, service) = (finish - job.job.arrival, job.service(finish));
        let slowdown = if service > 0.0 { turnaround / service } else { f64::NAN };
        let bounded_slowdown = (turnaround / service.max(rules.slowdown_threshold)).max(1.0);
        [job.wait(), turnaround, slowdown, bounded_slowdown, service, job.asked as f64]
    }
}

/// What a study says of how metrics are measured.
#[derive(Clone, Debug)]
pub struct Rules {
    /// Run times below this count as this much in the bounded slowdown.
    pub slowdown_threshold: f64,
    /// The parameters of the metric that is asked, with every default: none for most.
    pub params: Params,
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
    /// Processor-time of which interruptions left nothing.
    pub lost: f64,
    /// What the machine took, in joules, where that is measured.
    pub energy: f64,
    /// Processors that were woken, where that is measured.
    pub woken: u64,
    /// Turnarounds of the jobs that count, where what the machine took is measured.
    pub turnarounds: f64,
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
    &WAIT_FOR_NODES,
    &WAIT_FOR_SHAPE,
    &WAIT_FOR_PRIORITY,
    &WAIT_FOR_RESERVED,
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
    &GOODPUT,
    &AVAILABILITY,
    &INTERRUPTIONS,
    &LOST_NODE_HOURS,
    &MISSED_DEADLINES,
    &TARDINESS,
    &JAIN_SLOWDOWN,
    &JAIN_WAIT,
    &UNFAIR_JOBS,
    &UNFAIRNESS,
    &ENERGY,
    &MEAN_POWER,
    &ENERGY_DELAY,
    &ASLEEP,
    &WAKE_UPS,
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

/// Measured only where a study asks for it, besides all quantiles, which keep a number for each
/// job, and whatever is made anew for each run, which may cost anything: what jobs wait for costs
/// questions, fair starts cost runs, and most jobs have neither deadlines nor users.
static ON_REQUEST: &[&MetricEntry] = &[
    &WAIT_FOR_NODES,
    &WAIT_FOR_SHAPE,
    &WAIT_FOR_PRIORITY,
    &WAIT_FOR_RESERVED,
    &SLOWDOWN,
    &UTILIZATION_AT_EVENTS,
    &QUEUE_SEEN,
    &PADDING,
    &MISSED_DEADLINES,
    &TARDINESS,
    &JAIN_SLOWDOWN,
    &JAIN_WAIT,
    &UNFAIR_JOBS,
    &UNFAIRNESS,
];

/// Metrics that go by which nodes a job holds.
static OF_PLACES: &[&MetricEntry] = &[&DISPERSAL, &WEIGHTED_DISPERSAL];

/// Whether a metric goes by which nodes a job holds, and not only by how many: of those from outside, each that is shown
/// jobs may.
pub(super) fn goes_by_place(metric: &'static MetricEntry) -> bool {
    let is_in = |list: &[&MetricEntry]| list.iter().any(|own| std::ptr::eq(*own, metric));
    let is_shown_jobs = matches!(
        metric.measure,
        Measure::PerJob(_)
            | Measure::Ratio(_)
            | Measure::PerStart(_)
            | Measure::Net(..)
            | Measure::Rate(..)
    );
    is_in(OF_PLACES) || (is_shown_jobs && !is_in(METRICS))
}

/// Metrics of what outages cost: measured where nodes may fail, unless asked for.
static OF_FAILURES: &[&MetricEntry] = &[&GOODPUT, &AVAILABILITY, &INTERRUPTIONS, &LOST_NODE_HOURS];

/// Metrics of what the machine takes: measured where a scenario says what processors take, unless asked for.
static OF_ENERGY: &[&MetricEntry] = &[&ENERGY, &MEAN_POWER, &ENERGY_DELAY, &ASLEEP, &WAKE_UPS];

/// Whether a metric is of what the machine takes, which is said nowhere but under `energy`.
pub(crate) fn is_of_energy(metric: &MetricEntry) -> bool {
    matches!(metric.measure, Measure::Energy(_) | Measure::Power)
        || OF_ENERGY.iter().any(|own| own.about.name == metric.about.name)
}

/// What of a run decides which metrics it has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Features {
    /// Whether its jobs send messages.
    pub sends: bool,
    /// Whether nodes may fail.
    pub fails: bool,
    /// Whether it is said what processors take.
    pub draws: bool,
}

/// What of these metrics is measured in such a run where nothing is asked for.
#[must_use]
pub fn usual(metrics: &[&'static MetricEntry], run: Features) -> Vec<&'static str> {
    let is_in = |list: &[&MetricEntry], metric: &MetricEntry| {
        list.iter().any(|other| other.about.name == metric.about.name)
    };
    let is_usual = |metric: &&&MetricEntry| {
        !matches!(metric.measure, Measure::Quantile(..) | Measure::MeanBy(_) | Measure::Watched(_))
            && !metric.must_be_named()
            && !is_in(ON_REQUEST, metric)
            && (run.sends || !is_in(OF_MESSAGES, metric))
            && (run.fails || !is_in(OF_FAILURES, metric))
            && (run.draws || !is_of_energy(metric))
    };
    metrics.iter().filter(is_usual).map(|metric| metric.about.name).collect()
}

/// Metrics, as a family of names.
pub static FAMILY: Family =
    Family { kind: "metric", key: "name", entries: || abouts(METRICS), common: &[] };
