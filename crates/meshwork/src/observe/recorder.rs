//! Measurement of a run: metrics of the measured part, in batches and by classes of jobs.

use std::collections::BTreeMap;

use smallvec::SmallVec;

use super::areas;
use super::batches::{Batches, Ratio, Sums};
use super::evenness::Evenness;
pub use super::measured::{Batching, Measured, OwnerAttribute, OwnerClass, SizeClass, SizeClasses};
use super::metrics::{self, Integrand, JobValue, Measure, MetricEntry, Quantity, Rules, Totals};
use super::quantiles::{MAX_EXACT, Quantiles};
use super::reading::Reading;
use super::{Event, JobId, MachineState, Messages, Observer, Running};
use crate::job::{Cause, Time};
use crate::registry::Params;
use crate::topology::Topology;

/// Which part of a run is measured, and how results are grouped.
#[derive(Clone, Debug)]
pub struct Window {
    /// Number of jobs that must finish before the measurement begins.
    pub warmup_jobs: u64,
    /// Time from the first arrival to the beginning of the measurement.
    pub warmup_time: f64,
    /// Number of finished jobs at which the run ends; `None` for no limit. Jobs of the warm-up
    /// count.
    pub jobs: Option<u64>,
    /// Settings that all metrics share.
    pub rules: Rules,
    /// Grouping of jobs by size; `None` if results are not grouped by size.
    pub by_size: Option<SizeClasses>,
    /// Attributes of owners by which jobs are grouped, such as the user or the queue.
    pub by_owner: Vec<OwnerAttribute>,
}

type Classes<K> = BTreeMap<K, Class>;

#[derive(Clone, Debug)]
struct Class {
    jobs: u64,
    /// Numerator and denominator of each metric, summed over the jobs of the class.
    ratios: Vec<Ratio>,
    /// Values of each quantity whose quantiles are measured, for the jobs of the class.
    values: Vec<Quantiles>,
}

/// Maximum number of values that each class of jobs stores individually. There may be thousands of
/// classes.
const MAX_EXACT_OF_CLASS: usize = 1 << 16;

/// Minimum number of values of a batch that are expected above a quantile. If fewer are expected,
/// batches have no quantiles.
const FEWEST_BEYOND: f64 = 10.0;

#[derive(Default)]
struct Kinds {
    /// Metrics that leave out time wasted by interruptions.
    ///
    /// Fields: index of the metric, quantity that is integrated for its numerator, and function
    /// that returns the time wasted in a run of a job.
    net: Vec<(usize, Integrand, fn(&Running) -> f64)>,
    /// For each metric that is a rate, its index and a function. The function returns the amount
    /// that a finished job adds to the numerator.
    rates: Vec<(usize, fn(&Running) -> f64)>,
    means: Vec<(usize, Quantity)>,
    per_job: Vec<(usize, fn(&Running, Time, &Rules) -> f64, Rules)>,
    per_ratio: Vec<(usize, fn(&Running, Time, &Rules) -> (f64, f64), Rules)>,
    mean_by: Vec<(usize, JobValue)>,
    per_wait: Vec<(usize, Cause)>,
    per_message: Vec<(usize, fn(&Messages) -> f64)>,
    per_start: Vec<(usize, fn(&Running) -> f64)>,
    per_arrival: Vec<usize>,
    /// Index of each metric that is a ratio evaluated at each start and end of a job, and its
    /// function.
    per_event: Vec<(usize, fn(&MachineState) -> (f64, f64))>,
    power: Vec<usize>,
    /// Quantities whose quantiles are measured. Each entry also has the values of its quantity and,
    /// in the same order, the jobs to which the values belong.
    quantiles: Vec<(Quantity, Quantiles, Vec<JobId>)>,
    /// Metrics of evenness: index of the metric, quantity of a job, and sums of this quantity by
    /// user.
    evenness: Vec<(usize, Quantity, Evenness)>,
    /// Index of the metric, and function of a job's lateness. Lateness is known only after the run,
    /// so `judged` keeps the jobs until then.
    per_lateness: Vec<(usize, fn(f64) -> f64)>,
}

/// Observer that measures a run, in the way that a [`Window`] describes.
///
/// The measured part begins at the end of the warm-up, or at the first arrival if there is no
/// warm-up. It ends with the run. Means over jobs include the jobs that finish in the measured
/// part. Means over time include the whole length of the measured part.
///
/// The run is divided into batches. Each batch contains the same number of consecutive arrivals. It
/// also contains the time from the arrival of its first job to the arrival of the next batch's
/// first job. At the end there are 20 to 40 batches. Batches in the measured part have values. If
/// fewer than 20 jobs arrived, or fewer than 10 batches were measured, there are no values.
pub struct Recorder {
    window: Window,
    metrics: Vec<&'static MetricEntry>,
    /// Whether some metric uses integrals over time. If so, all state variables are integrated.
    sums_over_time: bool,
    further: Vec<fn(&MachineState) -> f64>,
    /// For each metric, where its numerator and denominator are stored.
    readings: Vec<Reading>,
    kinds: Kinds,
    /// For each job in the system, the time that it has waited for each reason, if this is
    /// measured.
    waits: BTreeMap<JobId, [f64; Cause::ALL.len()]>,
    /// Whether some metric depends on energy.
    sums_energy: bool,
    /// Whether finished jobs are added only to sums, not to classes or quantiles. This is the usual
    /// case.
    is_plain: bool,
    /// The machine's state as last reported, but with the present number of held processors.
    ///
    /// The state is kept up to date only if a metric is evaluated at each event.
    state: MachineState,
    waiting: u64,
    judged: Vec<JobId>,
    batches: Batches,
    by_size: Classes<u64>,
    by_owner: Vec<(OwnerAttribute, Classes<Option<String>>)>,
    totals: Totals,
    all_finished: u64,
    measuring_from: Option<Time>,
    last_arrival: Time,
}

impl Recorder {
    /// Creates a recorder of the given metrics and their parameters. `machine` has the topology of
    /// each site.
    #[must_use]
    pub fn new(
        window: Window,
        metrics: Vec<(&'static MetricEntry, Params)>,
        machine: &[Topology],
    ) -> Recorder {
        let (metrics, params): (Vec<&'static MetricEntry>, Vec<Params>) =
            metrics.into_iter().unzip();
        let mut rules = params.into_iter().map(|params| Rules { params, ..window.rules.clone() });
        let (mut further, mut readings) = (Vec::new(), Vec::new());
        let mut kinds = Kinds::default();
        let by_owner = window.by_owner.iter().map(|&by| (by, Classes::new())).collect();
        for (i, metric) in metrics.iter().enumerate() {
            readings.push(Reading::of(&metric.measure, i, &mut further));
            let own = rules.next();
            match metric.measure {
                Measure::Net(over, _, in_vain) => kinds.net.push((i, over, in_vain)),
                Measure::Rate(over, _) => kinds.rates.push((i, over)),
                Measure::Mean(quantity) => kinds.means.push((i, quantity)),
                Measure::PerJob(value) => kinds.per_job.extend(own.map(|rules| (i, value, rules))),
                Measure::Ratio(sums) => kinds.per_ratio.extend(own.map(|rules| (i, sums, rules))),
                Measure::MeanBy(make) => kinds.mean_by.push((i, make(&metric.about, machine))),
                Measure::PerMessage(sum) => kinds.per_message.push((i, sum)),
                Measure::PerWait(cause) => kinds.per_wait.push((i, cause)),
                Measure::PerStart(value) => kinds.per_start.push((i, value)),
                Measure::PerArrival => kinds.per_arrival.push(i),
                Measure::PerEvent(share) => kinds.per_event.push((i, share)),
                Measure::Power => kinds.power.push(i),
                Measure::Quantile(quantity, _) => {
                    if kinds.quantiles.iter().all(|(known, ..)| *known != quantity) {
                        kinds.quantiles.push((quantity, Quantiles::default(), Vec::new()));
                    }
                }
                Measure::Evenness(quantity) => {
                    kinds.evenness.push((i, quantity, Evenness::default()));
                }
                Measure::PerLateness(value) => kinds.per_lateness.push((i, value)),
                Measure::OverTime(..)
                | Measure::Watched(_)
                | Measure::Total(_)
                | Measure::Energy(_) => {}
            }
        }
        let is_of_energy =
            |metric: &&MetricEntry| matches!(metric.measure, Measure::Power | Measure::Energy(_));
        let sums_energy = metrics.iter().any(is_of_energy);
        let is_over_time = |reading: &Reading| !matches!(reading, Reading::Ratio(_));
        let sums_over_time = readings.iter().any(is_over_time);
        let has_classes = window.by_size.is_some() || !window.by_owner.is_empty();
        let is_plain = !has_classes
            && kinds.quantiles.is_empty()
            && kinds.evenness.is_empty()
            && kinds.per_lateness.is_empty()
            && kinds.per_wait.is_empty()
            && kinds.per_ratio.is_empty()
            && kinds.per_message.is_empty();
        Recorder {
            window,
            sums_over_time,
            readings,
            kinds,
            waits: BTreeMap::new(),
            sums_energy,
            state: MachineState::default(),
            waiting: 0,
            judged: Vec::new(),
            batches: Batches::new(metrics.len(), further.len()),
            further,
            is_plain,
            metrics,
            by_size: BTreeMap::new(),
            by_owner,
            totals: Totals::default(),
            all_finished: 0,
            measuring_from: None,
            last_arrival: Time::ZERO,
        }
    }

    /// Counts and sums over the run as a whole.
    #[must_use]
    pub fn totals(&self) -> &Totals {
        &self.totals
    }

    /// Values of all metrics, in the order in which the metrics were given.
    #[must_use]
    pub fn measured(&self) -> Vec<Measured> {
        let kept = self.batches.kept();
        (0..self.metrics.len())
            .map(|i| {
                let metric = self.metrics[i];
                let (value, batches) = match metric.measure {
                    Measure::Total(total) | Measure::Energy(total) => {
                        (total(&self.totals), Vec::new())
                    }
                    Measure::Quantile(quantity, share) => self.quantile(quantity, share),
                    Measure::Evenness(_) => (self.evenness(i), Vec::new()),
                    // The value of a gauge is filled in later, by the owner of the gauges.
                    Measure::Watched(_) => (None, Vec::new()),
                    _ => {
                        let read = |sums: &Sums| self.readings[i].read(sums);
                        (self.batches.whole(read).value(), self.batches.values(read, kept.clone()))
                    }
                };
                Measured { name: metric.about.name, value, batches }
            })
            .collect()
    }

    fn evenness(&self, metric: usize) -> Option<f64> {
        self.kinds.evenness.iter().find(|(own, ..)| *own == metric)?.2.index()
    }

    /// Measured jobs in order of their ends. The list is empty if no metric depends on lateness.
    #[must_use]
    pub fn judged(&self) -> &[JobId] {
        &self.judged
    }

    /// Adds the lateness of each measured job to the metrics. Called once, after the run.
    ///
    /// `late` returns the lateness of a job.
    pub fn judge(&mut self, late: impl Fn(JobId) -> f64) {
        for &id in &self.judged {
            let sums = self.batches.of_job(id);
            for &(i, value) in &self.kinds.per_lateness {
                sums[i].add(value(late(id)), 1.0);
            }
        }
    }

    /// Division of the run into batches. For each batch, it has the mean queue length seen by
    /// arriving jobs.
    #[must_use]
    pub fn cut(&self) -> Batching {
        let (jobs, first) = (self.batches.jobs(), self.batches.kept().start);
        // If all jobs arrive at one instant, each job meets one more waiting job than the job
        // before it. The queue does not grow over time, so no lengths are given.
        let queue = match self.totals.first_arrival {
            Some(first) if self.last_arrival > first => self.batches.queue(),
            _ => Vec::new(),
        };
        Batching { jobs, first: first as u64, queue }
    }

    /// Quantile of a quantity over the whole run, and its quantile in each batch.
    ///
    /// The list of quantiles of batches is empty if, on average, fewer than [`FEWEST_BEYOND`] jobs
    /// of a batch lie above the quantile.
    fn quantile(&self, quantity: Quantity, share: f64) -> (Option<f64>, Vec<f64>) {
        let values = self.kinds.quantiles.iter().find(|(own, ..)| *own == quantity);
        let Some((_, values, ids)) = values else { return (None, Vec::new()) };
        let (jobs, kept) = (self.batches.jobs(), self.batches.kept());
        let has_batches = jobs as f64 * (1.0 - share) >= FEWEST_BEYOND;
        let batches = if has_batches && !kept.is_empty() {
            let batch = |id: &JobId| (id.0 / jobs) as usize;
            let groups =
                ids.iter().map(|id| kept.contains(&batch(id)).then(|| batch(id) - kept.start));
            values.in_groups(groups, kept.len(), share)
        } else {
            Vec::new()
        };
        (values.quantile(share), batches)
    }

    /// Metrics of each size class of jobs. Empty if grouping by size was not requested.
    #[must_use]
    pub fn by_size(&self) -> Vec<SizeClass> {
        let class = |(&size, class): (&u64, &Class)| SizeClass {
            size,
            jobs: class.jobs,
            metrics: self.of_class(class),
        };
        self.by_size.iter().map(class).collect()
    }

    /// Metrics of each owner, for each requested attribute of owners.
    ///
    /// The owners with numeric names come first, in ascending order. Owners with other names
    /// follow. The jobs without the attribute come last.
    #[must_use]
    pub fn by_owner(&self) -> BTreeMap<OwnerAttribute, Vec<OwnerClass>> {
        let asked_for = self.by_owner.iter().filter(|(_, classes)| !classes.is_empty());
        asked_for.map(|(by, classes)| (*by, self.owners(classes))).collect()
    }

    fn owners(&self, classes: &Classes<Option<String>>) -> Vec<OwnerClass> {
        let class = |(name, class): (&Option<String>, &Class)| OwnerClass {
            name: name.clone(),
            jobs: class.jobs,
            metrics: self.of_class(class),
        };
        let mut classes: Vec<OwnerClass> = classes.iter().map(class).collect();
        let number = |name: &str| name.parse::<u64>().unwrap_or(u64::MAX);
        classes.sort_by_key(|class| {
            class.name.as_ref().map_or((true, 0), |name| (false, number(name)))
        });
        classes
    }

    /// Values, for one class of jobs, of all metrics that are means or quantiles over jobs.
    fn of_class(&self, class: &Class) -> Vec<Measured> {
        let quantile = |quantity: Quantity, share: f64| {
            let place = self.kinds.quantiles.iter().position(|(own, ..)| *own == quantity);
            place.and_then(|place| class.values[place].quantile(share))
        };
        let measured = |(metric, ratio): (&&'static MetricEntry, &Ratio)| {
            let value = match metric.measure {
                Measure::Mean(_)
                | Measure::PerJob(_)
                | Measure::Ratio(_)
                | Measure::MeanBy(_)
                | Measure::PerMessage(_)
                | Measure::PerWait(_) => ratio.value(),
                Measure::Quantile(quantity, share) => quantile(quantity, share),
                _ => return None,
            };
            Some(Measured { name: metric.about.name, value, batches: Vec::new() })
        };
        self.metrics.iter().zip(&class.ratios).filter_map(measured).collect()
    }

    #[inline(always)]
    fn measure_job(&mut self, now: Time, job: &Running) {
        self.totals.finished += 1;
        let wait = job.wait();
        if self.sums_energy {
            self.totals.turnarounds += now - job.job.arrival;
        }
        self.totals.max_wait = Some(self.totals.max_wait.map_or(wait, |most| most.max(wait)));
        if !self.is_plain {
            self.measure_in_classes(now, job);
            return;
        }
        let quantities = Quantity::all(job, now, &self.window.rules);
        let sums = self.batches.measured(job.id);
        let mut add = |i: usize, value: f64| {
            if !value.is_nan() {
                sums[i].add(value, 1.0);
            }
        };
        for &(i, quantity) in &self.kinds.means {
            add(i, quantities[quantity as usize]);
        }
        for (i, value, rules) in &self.kinds.per_job {
            add(*i, value(job, now, rules));
        }
        for (i, value) in &mut self.kinds.mean_by {
            add(*i, value(job, now, &self.window.rules));
        }
        // Sums over time are added to the batch of the last arrival.
        let Some(sums) = self.batches.of_time() else { return };
        for &(i, value) in &self.kinds.rates {
            sums.ratios[i].over += value(job);
        }
    }

    /// Slow path of `measure_job`, used if there are classes of jobs, quantiles or other costly
    /// metrics.
    fn measure_in_classes(&mut self, now: Time, job: &Running) {
        let mut quantities: SmallVec<[f64; 4]> = SmallVec::new();
        for (quantity, values, ids) in &mut self.kinds.quantiles {
            let value = quantity.of(job, now, &self.window.rules);
            quantities.push(value);
            if !value.is_nan() {
                values.add(value);
                // When there are more jobs, values are no longer stored individually.
                if ids.len() < MAX_EXACT {
                    ids.push(job.id);
                }
            }
        }
        let count = self.metrics.len();
        let none = || Class {
            jobs: 0,
            ratios: vec![Ratio::default(); count],
            values: vec![Quantiles::default(); quantities.len()],
        };
        let mut classes: SmallVec<[&mut Class; 3]> = SmallVec::new();
        if let Some(sizes) = self.window.by_size {
            let size = match sizes {
                SizeClasses::Exact => job.asked,
                SizeClasses::PowerOfTwo => job.asked.next_power_of_two(),
            };
            classes.push(self.by_size.entry(size).or_insert_with(none));
        }
        let owner = job.job.owner.as_deref();
        if let Some(user) = owner.and_then(|owner| owner.user.as_ref()) {
            for (_, quantity, evenness) in &mut self.kinds.evenness {
                evenness.add(user, quantity.of(job, now, &self.window.rules));
            }
        }
        if !self.kinds.per_lateness.is_empty() {
            self.judged.push(job.id);
        }
        for (by, own) in &mut self.by_owner {
            let name = owner.and_then(|owner| by.of(owner)).map(str::to_owned);
            classes.push(own.entry(name).or_insert_with(none));
        }
        for class in &mut classes {
            class.jobs += 1;
            for (values, &value) in class.values.iter_mut().zip(&quantities) {
                if !value.is_nan() {
                    values.add_up_to(value, MAX_EXACT_OF_CLASS);
                }
            }
        }
        // Most runs do not measure causes of waits.
        let waits = match self.kinds.per_wait[..] {
            [] => Default::default(),
            _ => self.waits.remove(&job.id).unwrap_or_default(),
        };
        let sums = self.batches.measured(job.id);
        let mut add = |i: usize, over: f64, under: f64| {
            sums[i].add(over, under);
            for class in &mut classes {
                class.ratios[i].add(over, under);
            }
        };
        let mut add_known = |i: usize, over: f64, under: f64| {
            if !over.is_nan() && !under.is_nan() {
                add(i, over, under);
            }
        };
        for &(i, quantity) in &self.kinds.means {
            add_known(i, quantity.of(job, now, &self.window.rules), 1.0);
        }
        for (i, value, rules) in &self.kinds.per_job {
            add_known(*i, value(job, now, rules), 1.0);
        }
        for (i, sums, rules) in &self.kinds.per_ratio {
            let (over, under) = sums(job, now, rules);
            add_known(*i, over, under);
        }
        for (i, value) in &mut self.kinds.mean_by {
            add_known(*i, value(job, now, &self.window.rules), 1.0);
        }
        for &(i, cause) in &self.kinds.per_wait {
            add(i, waits[cause as usize], 1.0);
        }
        for &(i, sum) in &self.kinds.per_message {
            let messages = job.messages();
            add(i, sum(&messages), messages.packets as f64);
        }
        // Sums over time are added to the batch of the last arrival.
        let Some(sums) = self.batches.of_time() else { return };
        for &(i, value) in &self.kinds.rates {
            let value = value(job);
            sums.ratios[i].over += value;
            for class in &mut classes {
                class.ratios[i].add(value, 0.0);
            }
        }
    }
}

impl Recorder {
    #[cold]
    fn took(&mut self, power: f64, span: f64) {
        self.totals.energy += power * span;
        let Some(sums) = self.batches.of_time() else { return };
        for &i in &self.kinds.power {
            sums.ratios[i].add(power * span, span);
        }
    }

    /// Subtracts the wasted time of a run of a job from the metrics of [`Measure::Net`]. The run
    /// has ended or was interrupted.
    fn take_from_net(&mut self, job: &Running) {
        let Some(sums) = self.batches.of_time() else { return };
        for &(i, _, in_vain) in &self.kinds.net {
            sums.ratios[i].over += -in_vain(job);
        }
    }

    /// Counts woken processors, and adds the energy of waking them. Both count at the instant at
    /// which waking begins.
    #[cold]
    fn wake(&mut self, count: u64, energy: f64) {
        self.totals.woken += count;
        self.totals.energy += energy;
        let Some(sums) = self.batches.of_time() else { return };
        for &i in &self.kinds.power {
            sums.ratios[i].add(energy, 0.0);
        }
    }

    /// Evaluates the metrics of [`Measure::PerEvent`] after a start or end of a job. The values are
    /// added to this job's batch.
    #[inline(always)]
    fn look_at_events(&mut self, id: JobId) {
        for &(i, share) in &self.kinds.per_event {
            let (over, under) = share(&self.state);
            if under > 0.0 {
                self.batches.of_job(id)[i].add(over / under, 1.0);
            }
        }
    }
}

// `elapsed` and `observe` are inlined into the callers, which call them for each instant and event.
impl Observer for Recorder {
    #[inline(always)]
    fn elapsed(&mut self, from: Time, to: Time, state: &MachineState) {
        if !self.kinds.per_event.is_empty() {
            self.state = *state;
        }
        let Some(begin) = self.measuring_from else { return };
        let span = to - from.max(begin);
        if span <= 0.0 {
            return;
        }
        if self.sums_energy {
            self.took(state.power, span);
        }
        if !self.sums_over_time {
            return;
        }
        let Some(sums) = self.batches.of_time() else { return };
        let values = areas::values(state);
        for (area, value) in sums.areas.iter_mut().zip(values) {
            *area += value * span;
        }
        for (area, value) in sums.further.iter_mut().zip(&self.further) {
            *area += value(state) * span;
        }
        for &(i, over, _) in &self.kinds.net {
            let over = over.place().map_or_else(|value| value(state), |place| values[place]);
            sums.ratios[i].over += over * span;
        }
    }

    fn asks_why_jobs_wait(&self) -> bool {
        !self.kinds.per_wait.is_empty()
    }

    fn asks_where_jobs_run(&self) -> bool {
        self.metrics.iter().any(|metric| metrics::goes_by_place(metric))
    }

    fn asks_what_blocks(&self) -> bool {
        self.metrics.iter().any(|metric| metric.measure.looks_at_what_blocks())
    }

    fn waited(&mut self, from: Time, to: Time, id: JobId, cause: Cause) {
        if !self.kinds.per_wait.is_empty() {
            self.waits.entry(id).or_default()[cause as usize] += to - from;
        }
    }

    #[inline(always)]
    fn observe(&mut self, now: Time, event: &Event<'_>) {
        match event {
            Event::Unusable(_) => self.totals.unusable += 1,
            Event::Refused(..) => self.totals.refused += 1,
            Event::TurnedAway(id, _) => {
                self.totals.refused += 1;
                self.waits.remove(id);
                self.waiting = self.waiting.saturating_sub(1);
                self.batches.left_queue();
            }
            Event::Arrived(id, _) => {
                self.last_arrival = now;
                if self.totals.first_arrival.is_none() {
                    self.totals.first_arrival = Some(now);
                    if self.window.warmup_jobs == 0 {
                        self.measuring_from = Some(now + self.window.warmup_time);
                    }
                }
                let is_measuring = self.measuring_from.is_some_and(|from| now >= from);
                self.batches.arrived(*id, is_measuring);
                if is_measuring && !self.is_done() {
                    for &i in &self.kinds.per_arrival {
                        self.batches.of_job(*id)[i].add(self.waiting as f64, 1.0);
                    }
                }
                self.waiting += 1;
            }
            Event::Started(job) => {
                self.waiting = self.waiting.saturating_sub(1);
                self.batches.left_queue();
                if self.measuring_from.is_some_and(|from| now >= from) && !self.is_done() {
                    // A job counts as started once, however often it is interrupted.
                    let is_first = job.wear.as_ref().is_none_or(|wear| wear.interruptions == 0);
                    for &(i, value) in self.kinds.per_start.iter().filter(|_| is_first) {
                        self.batches.of_job(job.id)[i].add(value(job), 1.0);
                    }
                    self.state.held += u64::from(job.held);
                    self.look_at_events(job.id);
                }
            }
            Event::Interrupted(job) => {
                self.waiting += 1;
                self.batches.waits_again();
                if self.measuring_from.is_some_and(|from| now >= from) && !self.is_done() {
                    self.state.held = self.state.held.saturating_sub(u64::from(job.held));
                    self.look_at_events(job.id);
                    self.totals.lost += job.wear().lost * f64::from(job.held);
                    if job.wear.is_some() {
                        self.take_from_net(job);
                    }
                }
            }
            Event::Awake { nodes, energy, .. } => {
                let is_measured = self.measuring_from.is_some_and(|from| now >= from);
                if self.sums_energy && is_measured && !self.is_done() {
                    self.wake(nodes.len() as u64, *energy);
                }
            }
            Event::Finished(job) => {
                if self.is_done() {
                    return;
                }
                self.all_finished += 1;
                self.totals.last_finish = Some(now);
                if self.measuring_from.is_some_and(|from| now >= from) {
                    self.state.held = self.state.held.saturating_sub(u64::from(job.held));
                    self.look_at_events(job.id);
                    if job.wear.is_some() {
                        self.take_from_net(job);
                    }
                    self.measure_job(now, job);
                } else {
                    self.waits.remove(&job.id);
                }
                if self.all_finished == self.window.warmup_jobs {
                    self.measuring_from = Some(now);
                }
            }
            _ => {}
        }
    }

    fn is_done(&self) -> bool {
        self.window.jobs.is_some_and(|jobs| self.all_finished >= jobs)
    }
}
