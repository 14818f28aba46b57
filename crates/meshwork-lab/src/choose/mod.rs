//! Chooses the best of many candidates with a statistical guarantee, and with few runs.
//!
//! The scenarios of a study's `[sweep]` are the candidates of a [`race`] on one metric. The rounds
//! of the race are run as usual, and stored in the study's ordinary store, so the same command
//! resumes a stopped race. In [`confirm`], the winner is measured again. [`outcome`] has the
//! result.

pub mod confirm;
pub mod outcome;
pub mod race;
pub mod request;
mod rounds;
mod winner;

use std::path::PathBuf;
use std::sync::PoisonError;

use meshwork::registry::Problem;
use toml::Value;

use crate::files::write_whole;
use crate::findings::columns::HIGHEST;
use crate::findings::notes::{of_networks, under_overload};
use crate::lab::{Prepared, outdated, prepare};
use crate::run::build::standard;
use crate::run::{RunProgress, Runner, ScenarioRuns, has_same_jobs, simulated, windows};
use crate::statistics::trend::is_growing;
use crate::study::clock::Clock;
use crate::study::expand::{Point, count, measured};
use crate::study::{Axis, Refused, Replications, Study, is_within};
use crate::text::label;
use confirm::{Confirmation, Gain, Held};
use outcome::{ChoiceOutcome, Parts, RaceEnd};
use race::{Field, MAX_REPLICATIONS, NoValue, RaceRules};
use request::{Budget, ChoiceRequest, Constraint, Within, must_measure};
pub use rounds::{RaceRound, ShardOfRound, choose_shard, next_round};

pub const CHOICE: &str = "choice.json";

pub const WINNER: &str = "winner.toml";

/// Minimum number of run pairs before a candidate is dropped: on a logarithmic, then on a raw
/// scale.
pub const LEAST_PAIRS: [u64; 2] = [20, 40];

pub struct ChooseOptions<'a> {
    pub request: ChoiceRequest,
    pub out: Option<PathBuf>,
    pub threads: usize,
    pub max_memory: Option<u64>,
    pub progress: &'a (dyn Fn(RunProgress) + Sync),
    /// Identifier of the program's build. Runs that another build has stored are repeated.
    pub build: String,
    /// Called before every run. If it returns `true`, the race stops, with the outcome so far.
    pub stop: &'a (dyn Fn() -> bool + Sync),
    /// Whether result tables of another study in the folder may be replaced.
    pub replace: bool,
}

impl Default for ChooseOptions<'_> {
    fn default() -> Self {
        ChooseOptions {
            request: ChoiceRequest::default(),
            out: None,
            threads: 0,
            max_memory: None,
            progress: &|_| {},
            build: standard(),
            stop: &|| false,
            replace: false,
        }
    }
}

/// Scale on which candidates are compared: logarithms of the metric, or its raw values. Smaller
/// values are better.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Scale {
    pub(crate) metric: String,
    pub(crate) is_highest: bool,
    pub(crate) raw: bool,
}

impl Scale {
    /// Converts a value of the metric to the scale of the comparison. Smaller values are better
    /// there.
    pub(crate) fn of(&self, value: f64) -> Result<f64, NotPositive> {
        let value = match self.raw {
            true => value,
            false if value > 0.0 => libm::log(value),
            false => return Err(NotPositive(value)),
        };
        Ok(if self.is_highest { -value } else { value })
    }

    pub(crate) fn distance(&self, difference: f64) -> f64 {
        if self.raw { difference } else { libm::expm1(difference) }
    }

    /// Converts a difference between two values on this scale to a change of the metric.
    ///
    /// The change is relative if the scale is logarithmic, and absolute otherwise. It is positive
    /// if the metric increases.
    pub(crate) fn change(&self, difference: f64) -> f64 {
        // The sum turns a negative zero into zero.
        self.distance(if self.is_highest { -difference } else { difference }) + 0.0
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct NotPositive(f64);

pub(crate) struct Raced<'a> {
    pub(crate) study: &'a Study,
    pub(crate) points: &'a [Point],
    pub(crate) scale: Scale,
    pub(crate) second: Option<String>,
    pub(crate) constraints: Vec<Constraint>,
    pub(crate) baseline: Option<usize>,
    pub(crate) rules: RaceRules,
    pub(crate) options: Vec<String>,
    within: Within,
    /// Largest number of replications of a candidate; at most the number of windows of its log.
    most: u64,
}

/// Finished runs of all candidates, from which a race reads its results.
struct Columns<'a> {
    raced: &'a Raced<'a>,
    runs: &'a [ScenarioRuns],
}

impl Columns<'_> {
    fn measured(&self, own: usize, metric: &str, replication: u64) -> Result<f64, NoValue> {
        let runs = &self.runs[own];
        if let Some((_, message)) = runs.failures().find(|(failed, _)| *failed == replication) {
            return Err(NoValue::Failed(message.to_owned()));
        }
        let row = runs.replications().binary_search(&replication).ok();
        let value = row.and_then(|row| runs.column(metric).get(row).copied());
        value.filter(|value| value.is_finite()).ok_or_else(|| {
            NoValue::Failed(format!("{metric} was not measured in replication {}", replication + 1))
        })
    }
}

impl Field for Columns<'_> {
    fn value(&self, own: usize, replication: u64) -> Result<f64, NoValue> {
        let Raced { study, points, scale, .. } = self.raced;
        let value = self.measured(own, &scale.metric, replication)?;
        scale.of(value).map_err(|NotPositive(value)| {
            NoValue::OffScale(format!(
                "{}: {} is {value} in replication {} of {}, and has no logarithm there: race on its differences \
                 with `--raw` (from Python `raw=True`), or on another metric",
                study.file,
                scale.metric,
                replication + 1,
                label(&points[own].swept)
            ))
        })
    }

    fn excess(&self, own: usize, constraint: usize, replication: u64) -> Result<f64, NoValue> {
        let constraint = &self.raced.constraints[constraint];
        Ok(constraint.excess(self.measured(own, &constraint.metric, replication)?))
    }

    fn is_growing(&self, own: usize) -> bool {
        let meaningful = ["carried_load", under_overload(&self.raced.points[own..=own])];
        !meaningful.contains(&&*self.raced.scale.metric) && is_growing(&self.runs[own].trends())
    }
}

struct Setup {
    prepared: Prepared,
    replications: Replications,
    within: Within,
    budget: Option<Budget>,
    held: Option<Held>,
    scale: Scale,
    constraints: Vec<Constraint>,
    baseline: Option<usize>,
    rules: RaceRules,
}

impl Setup {
    fn of(study: &Study, options: &ChooseOptions<'_>) -> Result<Setup, Refused> {
        let request = &options.request;
        let (within, alpha) = (request.within()?, request.alpha()?);
        let (budget, hold_out) = (request.budget()?, request.hold_out()?);
        must_have_candidates(study)?;
        let least = LEAST_PAIRS[usize::from(request.raw)];
        let mut rounds = study.clone();
        if !matches!(study.replications, Replications::Windows { .. }) {
            rounds.replications = Replications::Fixed(least);
        }
        let mut prepared =
            prepare(&rounds, options.threads, options.max_memory, options.out.is_some())?;
        let first = &prepared.points[0].scenario;
        let metric = match &request.metric {
            Some(metric) => metric.clone(),
            None => measured(first)
                .and_then(|named| named.first().map(|name| (*name).to_owned()))
                .unwrap_or_else(|| "turnaround".to_owned()),
        };
        for (option, metric) in [("metric", Some(&metric)), ("second", request.second.as_ref())] {
            let Some(metric) = metric else { continue };
            must_measure(study, first, metric)
                .map_err(|error| Refused(format!("--{option} {metric}: {}", error.0)))?;
        }
        let read = |text: &String| Constraint::read(text, study, first);
        let constraints =
            request.constraints.iter().map(read).collect::<Result<Vec<Constraint>, Refused>>()?;
        let baseline = request.baseline(study, &prepared.points)?;
        let held = match hold_out {
            Some(length) => {
                let Prepared { points, files, .. } = &mut prepared;
                let held = confirm::hold_out(study, request, points, files, length)?;
                // Take the windows from the remaining part of the log.
                prepared.spans = windows::open(study, points, files)?;
                Some(held)
            }
            None => None,
        };
        must_differ_by_replication(study, &prepared.points)?;
        let scale = Scale { is_highest: HIGHEST.contains(&&*metric), raw: request.raw, metric };
        let rules = RaceRules {
            alpha,
            within: match within {
                Within::Share(share) if !request.raw => libm::log1p(share),
                // On the raw scale, the share is converted to units after the first pairs.
                Within::Share(_) => f64::NAN,
                Within::Units(units) => units,
            },
            least,
            screen_above: request.screen_above,
            constraints: constraints.len(),
        };
        let replications = rounds.replications;
        Ok(Setup {
            prepared,
            replications,
            within,
            budget,
            held,
            scale,
            constraints,
            baseline,
            rules,
        })
    }

    fn raced<'a>(&'a self, study: &'a Study, request: &ChoiceRequest) -> Raced<'a> {
        // If windows of a log are the replications, their number limits the pairs.
        let points = &self.prepared.points;
        let windows = points.iter().filter_map(|point| Some(point.windows.as_ref()?.count()));
        Raced {
            study,
            points,
            scale: self.scale.clone(),
            second: request.second.clone(),
            constraints: self.constraints.clone(),
            baseline: self.baseline,
            rules: self.rules,
            options: request.words(),
            within: self.within,
            most: windows.min().unwrap_or(MAX_REPLICATIONS),
        }
    }
}

/// Runs a race of a study's scenarios, measures the winner again, and writes the outcome.
pub fn choose(study: &Study, options: &ChooseOptions<'_>) -> Result<ChoiceOutcome, Refused> {
    let setup = Setup::of(study, options)?;
    let Prepared { points, inputs, files, .. } = &setup.prepared;
    let mut warnings = Vec::new();
    let open =
        |folder| setup.prepared.open(study, folder, &options.build, options.replace, &mut warnings);
    let store = options.out.as_deref().map(open).transpose()?;
    let raced = setup.raced(study, &options.request);
    let mut runner = Runner {
        catalogue: &study.catalogue,
        points,
        inputs,
        replications: &setup.replications,
        simulate: &|scenario, number, observer| simulated(scenario, number, files, observer),
        build: &options.build,
        store,
        jobs: None,
        kept: None,
        progress: options.progress,
        watcher: None,
        stop: options.stop,
    };
    let (race, results, is_over_budget) = raced.race(&runner, options.threads, setup.budget)?;
    warnings.extend(options.out.as_ref().and_then(|folder| outdated(folder, results.outdated)));
    let mut failures: Vec<String> = results.store_error.iter().cloned().collect();
    if let Some(sentence) = race.problem() {
        return Err(Refused(sentence.to_owned()));
    }
    let is_certain = race.looks().last().is_some_and(|look| look.bound <= race.within());
    let stopped = match () {
        () if results.stopped => RaceEnd::Interrupted,
        () if is_certain => RaceEnd::Decided,
        () if is_over_budget => RaceEnd::Budget,
        () => RaceEnd::Most,
    };
    let mut choice =
        ChoiceOutcome::of(&raced, Parts { race: &race, runs: &results.runs, stopped })?;
    warnings.extend(of_different_jobs(study));
    warnings.extend(of_networks(study, points));
    choice.warnings = warnings;
    choice.is_kept = options.out.is_some();
    let mut keys: Vec<u128> = key_order(&results.runs);
    if stopped != RaceEnd::Interrupted {
        let confirmation = Confirmation { raced: &raced, inputs, held: setup.held.as_ref() };
        keys.extend(confirmation.run(&mut runner, options, &mut choice)?);
    }
    if let Some(folder) = &options.out {
        if let Some(store) = runner.store.take() {
            let mut store = store.into_inner().unwrap_or_else(PoisonError::into_inner);
            if !store.is_broken() && !choice.is_stopped_early {
                let settled = store.settle(keys.into_iter());
                failures.extend(settled.err().map(|error| error.to_string()));
                store.remove_segments();
            }
        }
        if choice.recommended.is_some() {
            write_whole(&folder.join(WINNER), choice.study_file.as_bytes())?;
        }
        let text = serde_json::to_string_pretty(&choice.json()).unwrap_or_default() + "\n";
        write_whole(&folder.join(CHOICE), text.as_bytes())?;
    }
    choice.failures = failures;
    Ok(choice)
}

/// Store keys of runs in the order in which the store has them: by scenario, then by replication.
pub(crate) fn key_order(runs: &[ScenarioRuns]) -> Vec<u128> {
    let keys = runs.iter().flat_map(ScenarioRuns::keys);
    keys.filter_map(|(_, key)| u128::from_str_radix(&key, 16).ok()).collect()
}

fn must_have_candidates(study: &Study) -> Result<(), Refused> {
    if study.sweep.is_empty() {
        return Err(Refused(format!(
            "{}: there is nothing to choose from, because the study has no `[sweep]`: sweep a key, such as scheduler = \
             [\"fcfs\", \"easy\"]",
            study.file
        )));
    }
    if count(study)? < 2 {
        return Err(study.refused(&Problem::new(
            "sweep",
            "`[sweep]` makes one candidate, and a choice needs two: give a key another value",
        )));
    }
    Ok(())
}

/// Keys of a workload that describe or split its jobs, but do not replace them by other jobs.
const OF_SAME_JOBS: [&str; 3] = ["workload.estimates", "workload.shape", "workload.split_above"];

/// Warning that candidates simulate different jobs; `None` if they do not.
///
/// Such a comparison favours the candidate with the lightest jobs.
fn of_different_jobs(study: &Study) -> Option<String> {
    let makes_jobs = |key: &str| {
        is_within(key, "workload") && !OF_SAME_JOBS.iter().any(|kept| is_within(key, kept))
    };
    let differ = |axis: &&Axis| axis.values.len() > 1 && makes_jobs(&axis.key);
    let Axis { key, values } = study.sweep.iter().find(differ)?;
    Some(format!(
        "candidates differ in `{key}`, which changes the jobs, so the lightest jobs win: choose for one value, as with \
         --set '{key}={}', and run a race for each",
        values[0]
    ))
}

/// Refuses a study in which every replication has the same jobs. Such replications count as a
/// single observation.
fn must_differ_by_replication(study: &Study, points: &[Point]) -> Result<(), Refused> {
    let same = |point: &Point| point.windows.is_none() && has_same_jobs(&point.scenario);
    let Some(index) = points.iter().position(same) else { return Ok(()) };
    let path = points[index].scenario.input_path().unwrap_or_default();
    Err(crate::study::expand::refused(
        study,
        index,
        &Problem::new(
            "workload",
            format!(
                "every replication has the same jobs of {path}, and one log is one observation: give `windows`, or \
                 `workload.resample`, which is \"users\" or \"weeks\" for a log of two weeks or more, and \"shake\" for \
                 any"
            ),
        ),
    ))
}

/// Copy of a scenario in which some keys have other values or are removed.
pub(crate) fn with(
    study: &Study,
    point: &Point,
    keys: &[(&str, Option<Value>)],
) -> Result<Point, Refused> {
    let mut table = point.scenario.table().clone();
    for (key, value) in keys {
        let refused = |problem: Problem| Refused(format!("{}: {problem}", study.file));
        match value {
            Some(value) => {
                crate::study::set::set(&mut table, key, value.clone()).map_err(refused)?;
            }
            None => {
                let (outer, inner) = key.split_once('.').unwrap_or((key, ""));
                if let Some(own) = table.get_mut(outer).and_then(Value::as_table_mut) {
                    own.remove(inner);
                }
            }
        }
    }
    let scenario = meshwork::scenario::Scenario::read_in(&study.catalogue, &table)
        .map_err(|problem| Refused(format!("{}: {problem}", study.file)))?;
    Ok(Point { swept: point.swept.clone(), scenario, windows: point.windows.clone() })
}

pub(crate) fn clock(study: &Study, point: &Point) -> Clock {
    Clock::of(study, &point.scenario, None)
}

pub(crate) use windows::arrivals;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zero_and_negative_values_have_no_logarithm_and_have_differences() {
        let scale = |raw, is_highest| Scale { metric: "wait".to_owned(), is_highest, raw };
        for value in [0.0, -0.0, -3.0] {
            assert_eq!(scale(false, false).of(value), Err(NotPositive(value)));
            assert_eq!(scale(true, false).of(value), Ok(value));
        }
        assert_eq!(scale(false, false).of(1.0), Ok(0.0));
        assert_eq!(scale(true, true).of(-3.0), Ok(3.0), "less is better");
    }
}
