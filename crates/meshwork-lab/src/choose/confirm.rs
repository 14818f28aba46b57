//! Measures the winner of a race again, on data that the race has not used.
//!
//! The winner's lead in the race overestimates its true lead. So the winner is compared with the
//! baseline on other data. Fresh replications are a fixed number of pairs with the next seed. A
//! held-out part is the end of a log, which the race did not read: winner and baseline simulate it
//! once each, from an empty machine. The interval of this comparison comes from batches of jobs,
//! which are the same in both runs.

use std::sync::{Mutex, PoisonError};

use serde::Serialize;
use toml::Value;

use super::outcome::ChoiceOutcome;
use super::request::ChoiceRequest;
use super::{ChooseOptions, Raced, arrivals, clock, key_order, with};
use crate::findings::ratio;
use crate::inputs::Files;
use crate::run::{Results, Runner, ScenarioRuns};
use crate::statistics::{half_width, mean};
use crate::study::expand::Point;
use crate::study::input::Input;
use crate::study::{Refused, Replications, Study};

/// Number of fresh replications in which the winner of a race is measured again.
///
/// The baseline is measured in equally many.
const FRESH: u64 = 20;

/// Largest number of classes of job sizes for which the change from the baseline is reported.
pub const MAX_CLASSES: usize = 40;

pub(crate) struct Held {
    begins: Vec<f64>,
    whole: Vec<Point>,
}

/// Cuts the end off each candidate's log, so that the race does not read it.
pub(crate) fn hold_out(
    study: &Study,
    request: &ChoiceRequest,
    points: &mut [Point],
    files: &Files,
    seconds: f64,
) -> Result<Held, Refused> {
    let given = request.hold_out.as_deref().unwrap_or_default();
    let wrong = |why: String| Refused(format!("--hold-out {given}: {why}"));
    let whole = points.to_vec();
    let mut begins: Vec<f64> = Vec::with_capacity(points.len());
    let mut known: Vec<(String, f64)> = Vec::new();
    for point in points.iter_mut() {
        let workload = point.scenario.table()["workload"].clone();
        if point.scenario.input_path().is_none() {
            let name = workload["name"].as_str().unwrap_or_default();
            return Err(wrong(format!(
                "the end of a log can be kept back, but the workload `{name}` reads none: leave the option out"
            )));
        }
        let text = workload.to_string();
        let begin = match known.iter().find(|(own, _)| *own == text) {
            Some((_, begin)) => *begin,
            None => {
                let per_unit = clock(study, point).unit_seconds().ok_or_else(|| {
                    wrong("the unit of the log's clock is not known: give `time_unit`".to_owned())
                })?;
                let length = seconds / per_unit;
                let all = arrivals(&study.catalogue, &point.scenario, files).map_err(wrong)?;
                let (first, last) = (all.first(), all.last());
                let (Some(&first), Some(&last)) = (first, last) else {
                    return Err(wrong("the log has no jobs".to_owned()));
                };
                let begin = last - length;
                if begin <= first {
                    let days = (last - first) * per_unit / 86_400.0;
                    return Err(wrong(format!(
                        "the log has only {} days, so nothing is left to choose by: hold out less",
                        crate::text::number::significant(days, 3)
                    )));
                }
                known.push((text, begin));
                begin
            }
        };
        begins.push(begin);
        *point = with(study, point, &[("workload.until", Some(Value::Float(begin)))])?;
    }
    Ok(Held { begins, whole })
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Gain {
    /// Data on which winner and baseline were compared: `fresh replications` or `held-out weeks`.
    pub on: &'static str,
    /// Change of the metric as a fraction of the baseline's metric. If raw values are compared, the
    /// change is in the metric's unit.
    pub change: f64,
    /// Ends of the change's 95 % interval. `None` if there are too few values for an interval.
    pub ends: Option<[f64; 2]>,
    pub pairs: u64,
    /// Whether all changes within the 95 % interval are in favour of the winner.
    pub is_clear: bool,
    /// Changes of metrics for each class of job sizes. Empty if the comparison is on a held-out
    /// part of a log.
    pub classes: Vec<ClassChange>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClassChange {
    /// Smallest and largest job size in the class, in processors.
    pub sizes: [u64; 2],
    pub metric: String,
    /// Change as a fraction of the baseline's metric. `ends` are the ends of its 95 % interval.
    pub change: f64,
    pub ends: [f64; 2],
    pub loses: bool,
}

impl ClassChange {
    /// The size class in words: `jobs of 5 to 8 processors`.
    pub fn words(&self) -> String {
        match self.sizes {
            [1, 1] => "jobs of 1 processor".to_owned(),
            [least, most] if least == most => format!("jobs of {most} processors"),
            [least, most] => format!("jobs of {least} to {most} processors"),
        }
    }
}

pub(crate) struct Confirmation<'a> {
    pub(crate) raced: &'a Raced<'a>,
    pub(crate) inputs: &'a [Option<Input>],
    pub(crate) held: Option<&'a Held>,
}

impl Confirmation<'_> {
    /// Compares winner and baseline again, and adds the measured gains to `choice`. Returns the
    /// store keys of the runs that this took.
    pub(crate) fn run(
        &self,
        runner: &mut Runner<'_>,
        options: &ChooseOptions<'_>,
        choice: &mut ChoiceOutcome,
    ) -> Result<Vec<u128>, Refused> {
        let Some(winner) = choice.recommended.filter(|&own| own != choice.reference) else {
            return Ok(Vec::new());
        };
        let (study, sides) = (self.raced.study, [winner, choice.reference]);
        let mut keys = Vec::new();
        if !matches!(study.replications, Replications::Windows { .. }) {
            let fresh = |&own: &usize| {
                let point = &self.raced.points[own];
                let seed = point.scenario.table().get("seed").and_then(Value::as_integer);
                let by_size = point.scenario.table()["measure"].get("by_size");
                let by_size = match by_size.and_then(Value::as_str) {
                    None | Some("no") => "power_of_two",
                    Some(given) => given,
                };
                let next = seed.unwrap_or(1).wrapping_add(1).max(0);
                let keys = [
                    ("seed", Some(Value::Integer(next))),
                    ("measure.by_size", Some(by_size.into())),
                ];
                with(study, point, &keys)
            };
            let points = sides.iter().map(fresh).collect::<Result<Vec<Point>, Refused>>()?;
            let results = self.measure(runner, options, &points, sides, FRESH)?;
            keys.extend(key_order(&results.runs));
            choice.validation_runs +=
                results.runs.iter().map(|runs| runs.len() as u64).sum::<u64>();
            choice.is_stopped_early |= results.stopped;
            choice.gains.extend(self.fresh(&results));
        }
        if let Some(held) = self.held.filter(|_| !choice.is_stopped_early) {
            let later = |&own: &usize| {
                let from = Some(Value::Float(held.begins[own]));
                let keys = [("workload.from", from), ("workload.resample", None)];
                let point = with(study, &held.whole[own], &keys)?;
                Ok(Point { windows: None, ..point })
            };
            let points = sides.iter().map(later).collect::<Result<Vec<Point>, Refused>>()?;
            let results = self.measure(runner, options, &points, sides, 1)?;
            keys.extend(key_order(&results.runs));
            choice.validation_runs +=
                results.runs.iter().map(|runs| runs.len() as u64).sum::<u64>();
            choice.is_stopped_early |= results.stopped;
            choice.gains.extend(self.held_out(&results));
        }
        Ok(keys)
    }

    fn measure(
        &self,
        runner: &mut Runner<'_>,
        options: &ChooseOptions<'_>,
        points: &[Point],
        sides: [usize; 2],
        count: u64,
    ) -> Result<Results, Refused> {
        let inputs = sides.map(|own| self.inputs[own].clone());
        let again = Runner {
            points,
            inputs: &inputs,
            replications: &Replications::Fixed(count),
            store: runner.store.take(),
            jobs: None,
            kept: None,
            ..*runner
        };
        let results = again.rounds(options.threads, vec![count; 2], &mut |_, _| {})?;
        runner.store = again
            .store
            .map(|store| Mutex::new(store.into_inner().unwrap_or_else(PoisonError::into_inner)));
        Ok(results)
    }

    fn fresh(&self, results: &Results) -> Option<Gain> {
        let scale = &self.raced.scale;
        let [ours, theirs] = [&results.runs[0], &results.runs[1]];
        let values =
            |runs: &ScenarioRuns| -> Vec<(u64, f64)> { runs.measured(&scale.metric).collect() };
        let differences: Vec<f64> = paired(&values(ours), &values(theirs))
            .into_iter()
            .filter_map(|(a, b)| Some(scale.of(a).ok()? - scale.of(b).ok()?))
            .collect();
        let (centre, half) = (mean(&differences)?, half_width(&differences));
        let mut ends = half.map(|half| [scale.change(centre - half), scale.change(centre + half)]);
        if let Some(ends) = &mut ends {
            ends.sort_by(f64::total_cmp);
        }
        Some(Gain {
            on: "fresh replications",
            change: scale.change(centre),
            ends,
            pairs: differences.len() as u64,
            is_clear: half.is_some_and(|half| centre + half < 0.0),
            classes: self.classes(ours, theirs),
        })
    }

    /// Compares the winner with the baseline on the end of the log, which the race did not read.
    /// Values are compared by batch; a batch has the same jobs in both runs.
    fn held_out(&self, results: &Results) -> Option<Gain> {
        let scale = &self.raced.scale;
        // Neither run stands for all replications.
        let results = Results { constant: vec![false; 2], ..results.clone() };
        let ratio = ratio(self.raced.study, &results, (0, 1), &scale.metric)?;
        let base = results.runs[1].measured(&scale.metric).next()?.1;
        let unit = if scale.raw { base } else { 1.0 };
        let ends = ratio.ends.map(|[low, high]| [(low - 1.0) * unit, (high - 1.0) * unit]);
        let is_clear = ends.is_some_and(|[low, high]| match scale.is_highest {
            true => low > 0.0,
            false => high < 0.0,
        });
        let change = (ratio.mean - 1.0) * unit;
        Some(Gain { on: "held-out weeks", change, ends, pairs: 1, is_clear, classes: Vec::new() })
    }

    /// Change of the metric for each class of job sizes. Only pairs of replications that have jobs
    /// of the class count.
    fn classes(&self, ours: &ScenarioRuns, theirs: &ScenarioRuns) -> Vec<ClassChange> {
        let sizes = theirs.sizes();
        let named: Vec<&str> =
            sizes.first().map(|class| class.names().collect()).unwrap_or_default();
        let own = &*self.raced.scale.metric;
        let Some(&metric) =
            [own, "wait", "turnaround"].iter().find(|metric| named.contains(metric))
        else {
            return Vec::new();
        };
        let is_highest = metric == own && self.raced.scale.is_highest;
        let mut kinds: Vec<u64> = sizes.iter().map(|class| *class.kind).collect();
        kinds.sort_unstable();
        let by_size = self.raced.points[0].scenario.table()["measure"].get("by_size");
        let is_exact = by_size.and_then(Value::as_str) == Some("exact");
        let change = |size: u64| {
            let of = |runs: &ScenarioRuns| runs.measured_of_size(size, metric);
            let pairs = paired(&of(ours), &of(theirs));
            let base = mean(&pairs.iter().map(|pair| pair.1).collect::<Vec<_>>())?;
            let differences: Vec<f64> = pairs.iter().map(|(a, b)| (a - b) / base).collect();
            let (centre, half) = (mean(&differences)?, half_width(&differences)?);
            let ends = [centre - half, centre + half];
            let loses = if is_highest { ends[1] < 0.0 } else { ends[0] > 0.0 };
            let metric = metric.to_owned();
            // A class is named by its largest size, a power of two unless sizes are exact.
            let sizes = [if is_exact { size } else { size / 2 + 1 }, size];
            (base > 0.0).then_some(ClassChange { sizes, metric, change: centre, ends, loses })
        };
        kinds.into_iter().take(MAX_CLASSES).filter_map(change).collect()
    }
}

/// Pairs of values with the same replication number. Both lists must be sorted by this number.
fn paired(ours: &[(u64, f64)], theirs: &[(u64, f64)]) -> Vec<(f64, f64)> {
    let other = |replication: u64| {
        let at = theirs.binary_search_by_key(&replication, |pair| pair.0).ok()?;
        Some(theirs[at].1)
    };
    ours.iter().filter_map(|&(replication, value)| Some((value, other(replication)?))).collect()
}
