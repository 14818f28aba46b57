//! Metrics, described as data.
//!
//! Nearly every metric is a ratio of two sums, over jobs or over time. For example, the mean wait
//! is the sum of waits divided by the number of jobs. Utilization is held processor-time divided by
//! available processor-time. One kind of accumulator therefore serves all metrics that are ratios:
//! for the whole run, for each batch, and for each class of jobs.

mod deadlines;
mod energy;
mod failures;
mod fairness;
mod jobs;
mod messages;
mod parts;
mod quantiles;
mod time;
mod totals;
mod waits;

pub use super::areas::Integrand;
use super::{MachineState, Messages, Observer, Running};
use crate::job::{Cause, Time};
use crate::registry::{About, DefaultValue, Family, Params, abouts, named};
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

/// Registry entry of a metric.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct MetricEntry {
    /// Name, description and parameters of the metric, for lists of metrics and for the manual.
    pub about: About,
    /// Unit of the metric's values.
    pub unit: &'static str,
    /// How the metric is measured. Functions in this field get the metric's parameters as
    /// [`Rules::params`].
    pub measure: Measure,
}

impl MetricEntry {
    /// Creates the registry entry of a metric.
    #[must_use]
    pub const fn new(about: About, unit: &'static str, measure: Measure) -> MetricEntry {
        MetricEntry { about, unit, measure }
    }

    /// Replaces name, description and parameters of this entry.
    #[must_use]
    pub const fn described(mut self, about: About) -> MetricEntry {
        self.about = about;
        self
    }
}

impl MetricEntry {
    /// Whether the metric has a parameter without default. If so, it is measured only if a study
    /// names it.
    fn must_be_named(&self) -> bool {
        self.about.params.iter().any(|param| matches!(param.default, DefaultValue::Required))
    }
}

named!(MetricEntry);

/// Method by which a metric is measured.
#[derive(Clone, Copy)]
pub enum Measure {
    /// Mean of a quantity over the finished jobs. Jobs for which the quantity is NaN are skipped.
    Mean(Quantity),
    /// Mean of a function of a job, over the finished jobs. Jobs for which the function returns NaN
    /// are skipped.
    PerJob(fn(&Running, Time, &Rules) -> f64),
    /// Ratio of two sums over the finished jobs. The function returns what a job adds to the
    /// numerator and to the denominator. If one of the two is NaN, the job is skipped.
    Ratio(fn(&Running, Time, &Rules) -> (f64, f64)),
    /// Mean, over the finished jobs, of the time for which the job waited for the given reason.
    PerWait(Cause),
    /// Mean, over all jobs that started, of a function of the job.
    PerStart(fn(&Running) -> f64),
    /// Ratio of two integrals over time.
    OverTime(Integrand, Integrand),
    /// Mean power of the machine in watts, including the energy of waking processors.
    Power,
    /// Ratio of two integrals over time, where wasted amounts are subtracted from the first
    /// integral.
    ///
    /// The function gets a run of a job that ended or was interrupted. It returns the amount that
    /// this run wasted, in the unit of the first integral, such as processor-time.
    Net(Integrand, Integrand, fn(&Running) -> f64),
    /// Sum over the finished jobs of a function of the job, divided by an integral over time.
    Rate(fn(&Running) -> f64, Integrand),
    /// Mean number of waiting jobs that arriving jobs find.
    PerArrival,
    /// Mean of a ratio over starts and ends of jobs, where the ratio is taken right after the
    /// event. The function returns its numerator and denominator.
    PerEvent(fn(&MachineState) -> (f64, f64)),
    /// Quantile of a quantity over the finished jobs, for the given probability from 0 to 1.
    Quantile(Quantity, f64),
    /// Mean over the messages of all finished jobs. The function gets the messages of a job, and
    /// returns the sum of the measured values over them.
    PerMessage(fn(&Messages) -> f64),
    /// Jain's fairness index of the users. For each user, it uses the mean of a quantity over the
    /// user's finished jobs.
    Evenness(Quantity),
    /// Mean, over the finished jobs, of a function of the job's lateness.
    ///
    /// Lateness is how much later the job started than in a run without the jobs that arrived after
    /// it.
    PerLateness(fn(f64) -> f64),
    /// Mean over the finished jobs of a function that is created anew for each run. It is created
    /// from the metric's description and the machine. Jobs for which its value is NaN are skipped.
    MeanBy(fn(&'static About, &[Topology]) -> JobValue),
    /// Final value of a gauge that is created anew for each run. It is created from the metric's
    /// description and the machine. It observes the whole run, including the warm-up.
    Watched(fn(&'static About, &[Topology]) -> Box<dyn Gauge>),
    /// Value computed from the totals of the run, for metrics that do not depend on energy.
    Total(fn(&Totals) -> Option<f64>),
    /// Value computed from the totals of the run, for metrics that depend on energy.
    Energy(fn(&Totals) -> Option<f64>),
}

impl Measure {
    /// Whether the metric depends, or may depend, on [`MachineState::blocked_by_shape`]. This field
    /// is costly to compute. So it is kept up to date only if some metric needs it.
    pub(super) fn looks_at_what_blocks(&self) -> bool {
        match self {
            Measure::OverTime(over, under) | Measure::Net(over, under, _) => {
                over.looks_at_what_blocks() || under.looks_at_what_blocks()
            }
            Measure::Rate(_, under) => under.looks_at_what_blocks(),
            Measure::PerEvent(_) => true,
            _ => false,
        }
    }
}

/// Function that gives each finished job its value for a metric. It is created anew for each run.
pub type JobValue = Box<dyn FnMut(&Running, Time, &Rules) -> f64 + Send>;

/// Metric that observes a run itself, and has a value at the end of the run.
///
/// Time spans before the first arrival of a job are not reported to the metric.
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
/// static LONGEST: MetricEntry = MetricEntry::new(
///     About::new("longest_queue", "the longest queue")
///         .definition("The most jobs that waited at once.")
///         .complexity("O(1) for each event.")
///         .source("general"),
///     "jobs",
///     Measure::Watched(|_, _| Box::new(Longest::default())),
/// );
///
/// let catalogue = Catalogue::standard().with(&LONGEST)?;
/// let scenario = Scenario::read_in(&catalogue, &toml::toml! {
///     machine = { topology = "flat", processors = 16 }
///     workload = { name = "lublin", jobs = 50 }
///     measure = { metrics = ["longest_queue"] }
/// })?;
/// assert!(scenario.run(0, &NoInputs, &mut ())?.metrics[0].value > Some(0.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Gauge: Observer + Send {
    /// Final value of the gauge; `None` if nothing was measured.
    fn value(&self) -> Option<f64>;
}

/// Quantity of a job over which metrics take means and quantiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// Time from arrival to start. Time for which earlier, interrupted runs held processors is left
    /// out.
    Wait,
    /// Time from arrival to finish.
    Turnaround,
    /// Turnaround divided by service time. NaN for a job that held processors for no time.
    Slowdown,
    /// Turnaround divided by service time, at least 1. Service times below the threshold in
    /// [`Rules`] are raised to it.
    BoundedSlowdown,
    /// Service time: the time for which the job held processors.
    Service,
    /// Number of processors that the job requested.
    Size,
}

impl Quantity {
    /// Value of the quantity for a finished job; NaN if the quantity is undefined for this job.
    #[must_use]
    pub fn of(self, job: &Running, finish: Time, rules: &Rules) -> f64 {
        Quantity::all(job, finish, rules)[self as usize]
    }

    /// Values of all quantities for a finished job, in the order in which [`Quantity`] lists them.
    /// The quantities share most of their computation. So it is cheaper to compute all at once than
    /// one by one.
    #[inline]
    pub(super) fn all(job: &Running, finish: Time, rules: &Rules) -> [f64; 6] {
        let (turnaround, service) = (finish - job.job.arrival, job.service(finish));
        let slowdown = if service > 0.0 { turnaround / service } else { f64::NAN };
        let bounded_slowdown = (turnaround / service.max(rules.slowdown_threshold)).max(1.0);
        [job.wait(), turnaround, slowdown, bounded_slowdown, service, job.asked as f64]
    }
}

/// Settings of a study that metrics use.
#[derive(Clone, Debug)]
pub struct Rules {
    /// Threshold of the bounded slowdown, in units of the clock. Shorter service times are raised
    /// to it.
    pub slowdown_threshold: f64,
    /// Parameters of the metric, including defaults; empty for most metrics.
    pub params: Params,
}

/// Counts and sums over a run as a whole.
#[derive(Clone, Copy, Debug, Default)]
pub struct Totals {
    /// Instant of the first arrival of a job.
    pub first_arrival: Option<Time>,
    /// Instant of the last finish of a job.
    pub last_finish: Option<Time>,
    /// Longest wait of a measured job.
    pub max_wait: Option<f64>,
    /// Processor-time lost through interruptions.
    pub lost: f64,
    /// Energy used by the machine, in joules, if energy is measured.
    pub energy: f64,
    /// Number of processors woken from sleep, if energy is measured.
    pub woken: u64,
    /// Sum of the turnarounds of the measured jobs, if energy is measured.
    pub turnarounds: f64,
    /// Number of measured jobs.
    pub finished: u64,
    /// Number of refused jobs: jobs that do not fit the empty machine, or that the scheduler turned
    /// away.
    pub refused: u64,
    /// Number of lines of the workload's log that describe no usable job.
    pub unusable: u64,
}

/// All metrics of this crate, in the order in which tables list them.
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
    &parts::CPU_ALLOCATION,
    &parts::MEM_ALLOCATION,
    &parts::GPU_ALLOCATION,
    &parts::OTHER_ALLOCATION,
    &parts::CPU_UTILIZATION,
    &parts::MEM_UTILIZATION,
    &parts::GPU_UTILIZATION,
    &parts::OTHER_UTILIZATION,
    &parts::UNALLOCATED_GPUS,
    &parts::GPU_FRAG_2,
    &parts::GPU_FRAG_4,
    &parts::GPU_FRAG_8,
    &parts::FGD_FRAGMENTATION,
    &parts::STRANDED_CPU,
    &parts::STRANDED_MEM,
    &parts::STRANDED_GPU,
    &parts::ISLANDS_PER_JOB,
    &parts::NODES_PER_JOB,
    &parts::LEAVES_PER_JOB,
    &parts::BLOCKS_PER_JOB,
    &FINISHED,
    &REFUSED,
    &UNUSABLE,
];

/// Metrics of messages and dispersal. They are measured by default only if jobs send messages.
static OF_MESSAGES: &[&MetricEntry] = &[
    &PACKET_LATENCY,
    &NETWORK_LATENCY,
    &BLOCKING_TIME,
    &HOPS,
    &LINK_UTILIZATION,
    &DISPERSAL,
    &WEIGHTED_DISPERSAL,
];

/// Metrics that are measured only if a study names them, because they are costly or often
/// undefined.
///
/// Reasons for waits need a query to the allocator for each waiting job. Fair starts need
/// additional runs. Most jobs have neither deadlines nor users. Quantiles, gauges and functions
/// created for each run are measured only on request too, but are not in this list. Quantiles store
/// a number for each job, and the other two may be slow.
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

/// Metrics of this crate that depend on which nodes a job holds, not only on how many.
static OF_PLACES: &[&MetricEntry] = &[&DISPERSAL, &WEIGHTED_DISPERSAL];

/// Whether a metric may depend on which nodes jobs hold. For a metric of another crate, this is
/// assumed if its functions can see the nodes of jobs.
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

/// Metrics that show what outages cost. They are measured by default only if nodes may fail.
static OF_FAILURES: &[&MetricEntry] = &[&GOODPUT, &AVAILABILITY, &INTERRUPTIONS, &LOST_NODE_HOURS];

/// Metrics of energy. They are measured by default only if the scenario has an energy model.
static OF_ENERGY: &[&MetricEntry] = &[&ENERGY, &MEAN_POWER, &ENERGY_DELAY, &ASLEEP, &WAKE_UPS];

/// Whether a metric needs the energy model of a scenario. The key `energy` defines this model.
pub(crate) fn is_of_energy(metric: &MetricEntry) -> bool {
    matches!(metric.measure, Measure::Energy(_) | Measure::Power)
        || OF_ENERGY.iter().any(|own| own.about.name == metric.about.name)
}

/// Properties of a run that decide which metrics are measured by default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Features {
    /// Whether jobs send messages.
    pub sends: bool,
    /// Whether nodes may fail.
    pub fails: bool,
    /// Whether the scenario has an energy model.
    pub draws: bool,
}

/// Names of the metrics that are measured by default in a run with the given features.
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

/// Registry family of all metrics. A study selects metrics by name.
pub static FAMILY: Family =
    Family { kind: "metric", key: "name", entries: || abouts(METRICS), common: &[] };
