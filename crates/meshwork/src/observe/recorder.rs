//! Turns a run into numbers: metrics over the measured part of it, in batches, and by size.

use std::collections::BTreeMap;

use super::batches::{Batches, Ratio};
use super::metrics::{METRICS, Measure, MetricEntry, Rules, Totals};
use super::{Event, Observer, Running, State};
use crate::job::Time;

/// Which part of a run is measured, and how.
#[derive(Clone, Debug)]
pub struct Window {
    /// Jobs that finish before anything is measured.
    pub warmup_jobs: u64,
    /// Units of time, from the first arrival, before anything is measured.
    pub warmup_time: f64,
    /// Jobs after which the run ends, those of the warm-up included.
    pub jobs: Option<u64>,
    /// What metrics share.
    pub rules: Rules,
    /// How jobs are grouped by size, if they are.
    pub by_size: Option<SizeClasses>,
}

/// How jobs are grouped by the processors they asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SizeClasses {
    /// Each size by itself.
    Exact,
    /// By the next power of two.
    PowerOfTwo,
}

/// One metric of one run.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Measured {
    /// Its name.
    pub name: &'static str,
    /// Its value; `None` where there was nothing to measure.
    pub value: Option<f64>,
    /// Its value in each batch of the run, in order; empty where it has none.
    pub batches: Vec<f64>,
}

/// How a run was cut into batches. Jobs are counted in order of arrival, those that were refused included.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cut {
    /// Jobs in a batch.
    pub jobs: u64,
    /// Which batch of the run is the first of those that metrics have: it begins with the job
    /// `first · jobs`, counted from 0.
    pub first: u64,
    /// Jobs that waited as those of a batch arrived, mean over its jobs: all batches but the last, those of
    /// the warm-up included. Nothing where all jobs arrive at one instant.
    pub queue: Vec<f64>,
}

/// The jobs of one size.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct SizeClass {
    /// Processors asked for; the largest of its class.
    pub size: u64,
    /// How many of them finished.
    pub jobs: u64,
    /// Each metric that is a mean over jobs.
    pub metrics: Vec<Measured>,
}

/// Measures a run: see [`Window`].
///
/// The measured part begins at the end of the warm-up, or at the first arrival, and ends with the
/// run. Means over jobs take the jobs that finish in it, means over time its whole length. Batches
/// hold equally many jobs each, one after the other in order of arrival, and the time between the arrival of
/// their first job and that of the next batch's first; there are 20 to 40 of them in the end, of which those
/// in the measured part are kept. There are none where fewer than 20 jobs arrived, or fewer than 10 batches
/// were measured.
pub struct Recorder {
    window: Window,
    metrics: Vec<&'static MetricEntry>,
    /// Which of them are integrals over time: what every span adds to.
    over_time: Vec<(usize, fn(&State) -> (f64, f64))>,
    /// Which of them are rates: what every span adds below the line.
    rates: Vec<(usize, fn(&State) -> f64)>,
    /// Which of them are means over the jobs that start.
    per_start: Vec<(usize, fn(&Running) -> f64)>,
    batches: Batches,
    by_size: BTreeMap<u64, (u64, Vec<Ratio>)>,
    totals: Totals,
    all_finished: u64,
    measuring_from: Option<Time>,
    last_arrival: Time,
}

impl Recorder {
    /// Measures the metrics with these names, in the order of the list.
    #[must_use]
    pub fn new(window: Window, names: &[&str]) -> Recorder {
        let metrics: Vec<&'static MetricEntry> =
            METRICS.iter().copied().filter(|m| names.contains(&m.about.name)).collect();
        let (mut over_time, mut rates, mut per_start) = (Vec::new(), Vec::new(), Vec::new());
        for (i, metric) in metrics.iter().enumerate() {
            match metric.measure {
                Measure::OverTime(integrands) => over_time.push((i, integrands)),
                Measure::Rate(_, under) => rates.push((i, under)),
                Measure::PerStart(value) => per_start.push((i, value)),
                Measure::PerJob(_) | Measure::PerMessage(_) | Measure::Total(_) => {}
            }
        }
        Recorder {
            window,
            over_time,
            rates,
            per_start,
            batches: Batches::new(metrics.len()),
            metrics,
            by_size: BTreeMap::new(),
            totals: Totals::default(),
            all_finished: 0,
            measuring_from: None,
            last_arrival: Time::ZERO,
        }
    }

    /// Counts of the run as a whole.
    #[must_use]
    pub fn totals(&self) -> &Totals {
        &self.totals
    }

    /// Every metric.
    #[must_use]
    pub fn measured(&self) -> Vec<Measured> {
        let kept = self.batches.kept();
        (0..self.metrics.len())
            .map(|i| {
                let metric = self.metrics[i];
                let (value, batches) = match metric.measure {
                    Measure::Total(total) => (total(&self.totals), Vec::new()),
                    Measure::PerJob(_)
                    | Measure::PerMessage(_)
                    | Measure::PerStart(_)
                    | Measure::OverTime(_)
                    | Measure::Rate(..) => {
                        (self.batches.whole(i).value(), self.batches.values(i, kept.clone()))
                    }
                };
                Measured { name: metric.about.name, value, batches }
            })
            .collect()
    }

    /// Which jobs are in which batch, and how the queue grew from batch to batch.
    #[must_use]
    pub fn cut(&self) -> Cut {
        let (jobs, first) = (self.batches.jobs(), self.batches.kept().start);
        // Of jobs that all come at one instant, each finds one more before it: that is no growth.
        let queue = match self.totals.first_arrival {
            Some(first) if self.last_arrival > first => self.batches.queue(),
            _ => Vec::new(),
        };
        Cut { jobs, first: first as u64, queue }
    }

    /// The jobs of each size, where that was asked for.
    #[must_use]
    pub fn by_size(&self) -> Vec<SizeClass> {
        let class = |(&size, (jobs, ratios)): (&u64, &(u64, Vec<Ratio>))| SizeClass {
            size,
            jobs: *jobs,
            metrics: self
                .metrics
                .iter()
                .zip(ratios)
                .filter(|(metric, _)| {
                    matches!(metric.measure, Measure::PerJob(_) | Measure::PerMessage(_))
                })
                .map(|(metric, ratio)| Measured {
                    name: metric.about.name,
                    value: ratio.value(),
                    batches: Vec::new(),
                })
                .collect(),
        };
        self.by_size.iter().map(class).collect()
    }

    fn measure_job(&mut self, now: Time, job: &Running) {
        self.totals.finished += 1;
        let wait = job.start - job.job.arrival;
        self.totals.max_wait = Some(self.totals.max_wait.map_or(wait, |most| most.max(wait)));
        let mut class = self.window.by_size.map(|classes| {
            let size = match classes {
                SizeClasses::Exact => job.asked,
                SizeClasses::PowerOfTwo => job.asked.next_power_of_two(),
            };
            let none = || (0, vec![Ratio::default(); self.metrics.len()]);
            self.by_size.entry(size).or_insert_with(none)
        });
        if let Some((jobs, _)) = &mut class {
            *jobs += 1;
        }
        for (i, metric) in self.metrics.iter().enumerate() {
            let (over, under) = match metric.measure {
                Measure::PerJob(value) => (value(job, now, &self.window.rules), 1.0),
                Measure::PerMessage(sum) => (sum(&job.messages), job.messages.packets as f64),
                Measure::Rate(value, _) => (value(job), 0.0),
                Measure::PerStart(_) | Measure::OverTime(_) | Measure::Total(_) => continue,
            };
            // What is counted over time belongs to the time at which it happens.
            let is_rate = matches!(metric.measure, Measure::Rate(..));
            let sums = if is_rate { self.batches.of_time() } else { None };
            match sums {
                Some(sums) => sums[i].add(over, under),
                None => self.batches.of_job(job.id)[i].add(over, under),
            }
            if let Some((_, ratios)) = &mut class {
                ratios[i].add(over, under);
            }
        }
        self.batches.measured(job.id);
    }
}

impl Observer for Recorder {
    fn elapsed(&mut self, from: Time, to: Time, state: &State) {
        let Some(begin) = self.measuring_from else { return };
        let span = to - from.max(begin);
        if span <= 0.0 {
            return;
        }
        let Some(sums) = self.batches.of_time() else { return };
        for &(i, rates) in &self.over_time {
            let (over, under) = rates(state);
            sums[i].add(over * span, under * span);
        }
        for &(i, under) in &self.rates {
            sums[i].add(0.0, under(state) * span);
        }
    }

    fn observe(&mut self, now: Time, event: &Event<'_>) {
        match event {
            Event::Unusable(_) => self.totals.unusable += 1,
            Event::Refused(..) => self.totals.refused += 1,
            Event::TurnedAway(..) => {
                self.totals.refused += 1;
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
                self.batches.arrived(*id, self.measuring_from.is_some_and(|from| now >= from));
            }
            Event::Started(job) => {
                self.batches.left_queue();
                if self.measuring_from.is_some_and(|from| now >= from) && !self.is_done() {
                    for &(i, value) in &self.per_start {
                        self.batches.of_job(job.id)[i].add(value(job), 1.0);
                    }
                }
            }
            Event::Promised(..) | Event::Moved { .. } => {}
            Event::Finished(job) => {
                if self.is_done() {
                    return;
                }
                self.all_finished += 1;
                self.totals.last_finish = Some(now);
                if self.measuring_from.is_some_and(|from| now >= from) {
                    self.measure_job(now, job);
                }
                if self.all_finished == self.window.warmup_jobs {
                    self.measuring_from = Some(now);
                }
            }
        }
    }

    fn is_done(&self) -> bool {
        self.window.jobs.is_some_and(|jobs| self.all_finished >= jobs)
    }
}
