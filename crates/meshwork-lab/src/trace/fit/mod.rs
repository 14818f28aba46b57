//! Fits workload models to logs, and measures the distances between a model and its log.

mod distance;
mod models;

use std::path::Path;

use meshwork::job::Job;
use meshwork::topology::MAX_NODES;
use meshwork::workload::swf::Choice;
use toml::{Table, Value};

use super::TraceError;
use super::convert::Log;
use super::generate::draw;
use crate::inputs::start::LogStart;
use crate::standard::catalogue;
use crate::study::table;

pub use distance::{Distance, Spread};
pub use models::FitModel;

pub const MIN_JOBS: usize = 100;

#[derive(Clone, Debug, PartialEq)]
pub struct Fitted {
    /// Complete study for `meshwork run`. It simulates the model's jobs on a flat machine that has
    /// the log's size.
    pub study: Table,
    /// Number of jobs in the log. Equally many are drawn from the model to measure distances.
    pub jobs: u64,
    /// Distances between log and model in sizes, run times and interarrival times. If the log has
    /// requested times, there is a distance of these too.
    pub distances: Vec<Distance>,
    pub notes: Vec<String>,
}

struct Sample {
    sizes: Vec<u64>,
    arrivals: Vec<f64>,
    run_times: Vec<f64>,
    /// Requested times, each with the index of its job. Jobs that have none are left out.
    requests: Vec<(usize, f64)>,
    processors: u32,
    /// Local time, in seconds since midnight, at which the log's clock is 0. `None` if unknown.
    time_of_day: Option<f64>,
}

impl Sample {
    fn of(log: &Log, shown: &str) -> Result<Sample, TraceError> {
        let jobs = &log.kept;
        if jobs.len() < MIN_JOBS {
            return Err(TraceError::Wrong(format!(
                "{shown}: a model is fitted to {MIN_JOBS} jobs or more, but the log has {}",
                jobs.len()
            )));
        }
        let nodes = |(_, job): &(_, Job)| job.request.nodes();
        let sizes: Vec<u64> = jobs.iter().map(nodes).collect();
        let largest = sizes.iter().copied().max().unwrap_or(1);
        let processors = log.header.processors().unwrap_or(largest).max(largest);
        let processors = u32::try_from(processors).ok().filter(|&known| known <= MAX_NODES);
        let processors = processors.ok_or_else(|| {
            TraceError::Wrong(format!(
                "{shown}: the machine has more processors than the {MAX_NODES} that are simulated at most"
            ))
        })?;
        let requests = jobs.iter().enumerate().filter_map(|(place, (record, _))| {
            Some((place, record.requested_time().filter(|&time| time > 0.0)?))
        });
        let start = LogStart::of(&log.header);
        let sample = Sample {
            sizes,
            arrivals: jobs.iter().map(|(_, job)| job.arrival.units()).collect(),
            run_times: jobs.iter().map(|(_, job)| job.runtime).collect(),
            requests: requests.collect(),
            processors,
            time_of_day: start.map(|start| {
                start.unix.saturating_add(start.offset.unwrap_or(0)).rem_euclid(86_400) as f64
            }),
        };
        if sample.span() <= 0.0 || sample.run_times.iter().all(|&time| time <= 0.0) {
            return Err(TraceError::Wrong(format!(
                "{shown}: no model is fitted to jobs that all arrive at one instant, or never run"
            )));
        }
        Ok(sample)
    }

    fn span(&self) -> f64 {
        self.arrivals[self.arrivals.len() - 1] - self.arrivals[0]
    }
}

/// Fits a model to a log or a table of jobs. Compares it with equally many jobs drawn from the
/// model.
///
/// If the model has no requested times, they are drawn from `tsafrir` with the log's 20 most
/// frequent requested times. This is done only if at least half of the log's jobs have a requested
/// time, and if these are not just the run times.
pub fn fit(log: &Path, model: FitModel) -> Result<Fitted, TraceError> {
    let shown = log.display().to_string();
    let read = Log::read(&shown, &Choice::default())?;
    let sample = Sample::of(&read, &shown)?;
    let mut notes = Vec::new();
    let mut workload = model.fitted(&sample, &shown, &mut notes)?;
    let known = sample.requests.len();
    let is_run_time =
        |&&(place, time): &&(usize, f64)| (time - sample.run_times[place]).abs() < 1.0;
    let exact = sample.requests.iter().filter(is_run_time).count();
    let are_exact = known > 0 && 10 * exact >= 9 * known;
    let has_requests = 2 * known >= sample.sizes.len() && (model.has_requests() || !are_exact);
    if has_requests && !model.has_requests() {
        let estimates = models::estimates(&sample);
        workload.insert("estimates".to_owned(), Value::Table(estimates));
    }
    let jobs = match drawn(&workload, sample.processors) {
        Ok(jobs) => jobs,
        // The model may draw a run time that is longer than every requested time of the log.
        Err(sentence) if workload.remove("estimates").is_some() => {
            notes.push(format!("estimates are left out: {sentence}"));
            drawn(&workload, sample.processors)?
        }
        Err(sentence) => return Err(TraceError::Wrong(sentence)),
    };
    let has_estimates =
        has_requests && (model.has_requests() || workload.contains_key("estimates"));
    if !has_requests {
        let why = if are_exact {
            "requested times of the log are run times"
        } else {
            "the log has few requested times"
        };
        notes.push(format!("{why}: estimates of the model are exact"));
    }
    let distances = compared(&sample, &jobs, has_estimates);
    let study = study(&workload, &sample);
    Ok(Fitted { study, jobs: sample.sizes.len() as u64, distances, notes })
}

fn study(workload: &Table, sample: &Sample) -> Table {
    let processors = i64::from(sample.processors).into();
    let machine = table([("topology", "flat".into()), ("processors", processors)]);
    let metrics = ["wait", "bounded_slowdown", "utilization"].map(Value::from);
    table([
        ("scheduler", "easy".into()),
        ("machine", machine.into()),
        ("workload", workload.clone().into()),
        ("measure", table([("metrics", metrics.to_vec().into())]).into()),
    ])
}

/// Seed for drawing jobs from the model. It is unusual, so that a log that was drawn from the model
/// is not compared with itself.
const SEED: u64 = 20_051_997;

fn drawn(workload: &Table, processors: u32) -> Result<Vec<Job>, String> {
    let mut drawn = Vec::new();
    let keep = |job| drawn.push(job);
    draw(&catalogue(), ("workload", workload.clone()), processors, SEED, keep)?;
    Ok(drawn)
}

fn gaps(arrivals: impl Iterator<Item = f64>) -> Vec<f64> {
    let arrivals: Vec<f64> = arrivals.collect();
    arrivals.windows(2).map(|pair| pair[1] - pair[0]).collect()
}

fn compared(sample: &Sample, jobs: &[Job], has_estimates: bool) -> Vec<Distance> {
    let of = |what: fn(&Job) -> f64| jobs.iter().map(what).collect::<Vec<f64>>();
    let sizes = sample.sizes.iter().map(|&size| size as f64).collect();
    let requests = sample.requests.iter().map(|&(_, time)| time).collect();
    let mut distances = vec![
        Distance::between("processors", sizes, of(|job| job.request.nodes() as f64)),
        Distance::between("run time, s", sample.run_times.clone(), of(|job| job.runtime)),
        Distance::between(
            "time between submissions, s",
            gaps(sample.arrivals.iter().copied()),
            gaps(jobs.iter().map(|job| job.arrival.units())),
        ),
    ];
    if has_estimates {
        distances.push(Distance::between("requested time, s", requests, of(|job| job.estimate)));
    }
    distances
}

#[cfg(test)]
mod tests;
