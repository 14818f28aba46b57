//! Choice of the best of many candidates, with a guarantee, at a fraction of the runs.
//!
//! The scenarios of a study's `[sweep]` are the candidates of a [`race`] on one metric. Runs come
//! from and go to the study's ordinary store, made by the ordinary runner in rounds that the race
//! asks for, so a race that was stopped is resumed by the same command. The winner is then measured
//! anew: see [`confirm`]. [`outcome`] has all of it as data and as sentences.

pub mod confirm;
pub mod outcome;
pub mod race;
pub mod request;
pub mod sequence;
mod winner;

use std::path::PathBuf;
use std::sync::Mutex;

use meshwork::registry::Problem;
use toml::Value;

use crate::findings::clock::Clock;
use crate::findings::columns::HIGHEST;
use crate::findings::summary::label;
use crate::findings::trend::is_growing;
use crate::lab::{Prepared, keep_study, known_inputs, must_be_its_own, outdated, prepare};
use crate::run::build::standard;
use crate::run::file::write_whole;
use crate::run::store::{Input, Store};
use crate::run::{RunProgress, Runner, ScenarioRuns, has_same_jobs, windows};
use crate::study::asked::StudyRequest;
use crate::study::expand::{Point, count};
use crate::study::{Refused, Replications, Study};
use confirm::{Confirmation, Gain};
use outcome::{Choice, Parts, Stopped};
use race::{Field, MAX_REPLICATIONS, NoValue, Race, RaceRules};
use request::{Budget, ChoiceRequest, Constraint, Within, must_measure};

/// Name of the file with the outcome in a results folder.
pub const CHOICE: &str = "choice.json";

/// Name of the winner's study in a results folder.
pub const WINNER: &str = "winner.toml";

/// Pairs before anything is dropped, on logarithms and on the raw scale, where skewed values need
/// more.
pub const LEAST_PAIRS: [u64; 2] = [20, 40];

/// Options for making a choice.
pub struct ChooseOptions<'a> {
    pub request: ChoiceRequest,
    /// Folder for results; `None` writes nothing.
    pub out: Option<PathBuf>,
    /// Number of threads; 0 uses one per processor.
    pub threads: usize,
    /// Limit on the memory of concurrent runs in bytes; `None` refuses nothing.
    pub max_memory: Option<u64>,
    /// Called after every run.
    pub progress: &'a (dyn Fn(RunProgress) + Sync),
    /// Build of the program; runs stored by another build are repeated.
    pub build: String,
    /// Called before every run; `true` stops the race, whose outcome is then that of now.
    pub stop: &'a (dyn Fn() -> bool + Sync),
    /// Whether tables of another study in the folder may be replaced.
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

/// Scale on which candidates are compared; less is better on it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Scale {
    pub(crate) metric: String,
    /// Whether more of the metric is better.
    pub(crate) is_highest: bool,
    pub(crate) raw: bool,
}

impl Scale {
    /// Converts a value of the metric.
    ///
    /// # Errors
    /// On logarithms, if the value is not positive.
    pub(crate) fn of(&self, value: f64) -> Result<f64, NotPositive> {
        let value = match self.raw {
            true => value,
            false if value > 0.0 => libm::log(value),
            false => return Err(NotPositive(value)),
        };
        Ok(if self.is_highest { -value } else { value })
    }

    /// Distance on this scale as a share of the better value; on the raw scale it stays as it is.
    pub(crate) fn distance(&self, difference: f64) -> f64 {
        if self.raw { difference } else { libm::expm1(difference) }
    }
}

/// A value without a logarithm.
pub(crate) struct NotPositive(f64);

/// Everything that a race reads and writes.
pub(crate) struct Raced<'a> {
    pub(crate) study: &'a Study,
    pub(crate) points: &'a [Point],
    pub(crate) scale: Scale,
    pub(crate) second: Option<String>,
    pub(crate) constraints: Vec<Constraint>,
    pub(crate) baseline: Option<usize>,
    pub(crate) rules: RaceRules,
}

/// Results so far, as the race reads them.
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
            NoValue::Failed(format!("{metric} was not measured in replication {replication}"))
        })
    }
}

impl Field for Columns<'_> {
    fn value(&self, own: usize, replication: u64) -> Result<f64, NoValue> {
        let Raced { study, points, scale, .. } = self.raced;
        let value = self.measured(own, &scale.metric, replication)?;
        scale.of(value).map_err(|NotPositive(value)| {
            NoValue::OffScale(format!(
                "{}: {} is {value} in replication {replication} of {}, and has no logarithm there: race on its differences \
                 with `--raw` (from Python `raw=True`), or on another metric",
                study.file,
                scale.metric,
                label(&points[own].swept)
            ))
        })
    }

    fn excess(&self, own: usize, constraint: usize, replication: u64) -> Result<f64, NoValue> {
        let constraint = &self.raced.constraints[constraint];
        Ok(constraint.excess(self.measured(own, &constraint.metric, replication)?))
    }

    fn is_growing(&self, own: usize) -> bool {
        // Under overload this metric keeps its meaning.
        self.raced.scale.metric != "carried_load" && is_growing(&self.runs[own].trends())
    }
}

/// Races the scenarios of a study, measures the winner again, and writes the outcome to the folder.
///
/// # Errors
/// If the study, its inputs or the folder are invalid; if it has no candidates, if a value has no
/// place on the scale, or if no candidate can be chosen. Finished runs are kept.
pub fn choose(study: &Study, options: &ChooseOptions<'_>) -> Result<Choice, Refused> {
    let request = &options.request;
    let (within, alpha) = (request.within()?, request.alpha()?);
    let (budget, hold_out) = (request.budget()?, request.hold_out()?);
    must_have_candidates(study)?;
    let mut prepared_study = study.clone();
    if !matches!(study.replications, Replications::Windows { .. }) {
        prepared_study.replications = Replications::Fixed(LEAST_PAIRS[usize::from(request.raw)]);
    }
    let Prepared { mut points, inputs, files, spans } =
        prepare(&prepared_study, options.threads, options.max_memory, options.out.is_some())?;
    let first = &points[0].scenario;
    let metric = match &request.metric {
        Some(metric) => metric.clone(),
        None => request::measured(first)
            .and_then(|named| named.first().map(|name| (*name).to_owned()))
            .unwrap_or_else(|| "turnaround".to_owned()),
    };
    for (option, metric) in [("metric", Some(&metric)), ("second", request.second.as_ref())] {
        let Some(metric) = metric else { continue };
        must_measure(study, first, metric)
            .map_err(|error| Refused(format!("--{option} {metric}: {}", error.0)))?;
    }
    let constraints = request
        .constraints
        .iter()
        .map(|text| Constraint::read(text, study, first))
        .collect::<Result<Vec<Constraint>, Refused>>()?;
    let baseline = request.baseline(study, &points)?;
    let held = match hold_out {
        Some(length) => Some(confirm::hold_out(study, request, &mut points, &files, length)?),
        None => None,
    };
    must_differ_by_replication(study, &points)?;
    let scale = Scale { is_highest: HIGHEST.contains(&&*metric), raw: request.raw, metric };
    let rules = RaceRules {
        alpha,
        within: match within {
            Within::Share(share) if !request.raw => libm::log1p(share),
            // A share of the raw scale is fixed after the first pairs.
            Within::Share(_) => f64::NAN,
            Within::Units(units) => units,
        },
        least: LEAST_PAIRS[usize::from(request.raw)],
        screen_above: request.screen_above,
        constraints: constraints.len(),
    };
    let mut warnings = Vec::new();
    let store = match &options.out {
        None => None,
        Some(folder) => {
            if !options.replace {
                must_be_its_own(study, folder)?;
            }
            let store = Store::open(folder, &options.build)?;
            warnings.extend_from_slice(store.warnings());
            warnings.extend(keep_study(study, folder)?);
            StudyRequest {
                spans,
                build: options.build.clone(),
                ..StudyRequest::of(study, &known_inputs(&points, &inputs))
            }
            .write(folder)?;
            Some(Mutex::new(store))
        }
    };
    let raced = Raced {
        study,
        points: &points,
        scale,
        second: request.second.clone(),
        constraints,
        baseline,
        rules,
    };
    let mut runner = Runner {
        catalogue: &study.catalogue,
        points: &points,
        inputs: &inputs,
        replications: &prepared_study.replications,
        simulate: &|scenario, replication, observer| {
            scenario.run(replication, &files, observer).map_err(|error| error.to_string())
        },
        build: &options.build,
        store,
        jobs: None,
        kept: None,
        progress: options.progress,
        watcher: None,
        stop: options.stop,
    };
    // Windows of a log are as many pairs as there can be.
    let most = points.iter().filter_map(|point| Some(point.windows.as_ref()?.count())).min();
    let most = most.unwrap_or(MAX_REPLICATIONS);
    let (race, results, is_over_budget) =
        raced.race(&runner, options.threads, within, budget, most)?;
    warnings.extend(options.out.as_ref().and_then(|folder| outdated(folder, results.outdated)));
    let mut failures: Vec<String> = results.trouble.iter().cloned().collect();
    if let Some(sentence) = race.trouble() {
        return Err(Refused(sentence.to_owned()));
    }
    let stopped = match () {
        () if results.stopped => Stopped::Interrupted,
        () if race
            .looks()
            .last()
            .is_some_and(|look| look.bound <= raced.rules_of(&race).within) =>
        {
            Stopped::Decided
        }
        () if is_over_budget => Stopped::Budget,
        () => Stopped::Most,
    };
    let mut choice = Choice::of(&raced, Parts { race: &race, runs: &results.runs, stopped })?;
    choice.warnings = warnings;
    let mut keys: Vec<u128> = key_order(&results.runs);
    if !matches!(stopped, Stopped::Interrupted) {
        let inputs: Vec<Option<Input>> = inputs.clone();
        let confirmation = Confirmation { raced: &raced, inputs: &inputs, held: held.as_ref() };
        let more = confirmation.run(&mut runner, options, &mut choice)?;
        keys.extend(more);
    }
    if let Some(folder) = &options.out {
        if let Some(store) = runner.store.take() {
            let mut store = store.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
            if !store.is_broken() && !matches!(stopped, Stopped::Interrupted) {
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

/// Keys of runs in their final order: by scenario, then by replication.
pub(crate) fn key_order(runs: &[ScenarioRuns]) -> Vec<u128> {
    let keys = runs.iter().flat_map(ScenarioRuns::keys);
    keys.filter_map(|(_, key)| u128::from_str_radix(&key, 16).ok()).collect()
}

impl Raced<'_> {
    /// Runs the rounds of the race until it is decided, or the budget does not allow the next.
    fn race(
        &self,
        runner: &Runner<'_>,
        threads: usize,
        within: Within,
        budget: Option<Budget>,
        most: u64,
    ) -> Result<(Race, crate::run::Results, bool), Refused> {
        let mut race = Race::new(self.points.len(), self.rules);
        let mut is_over_budget = false;
        let allowed = match budget {
            Some(Budget::Runs(runs)) => runs,
            _ => u64::MAX,
        };
        let mut wanted = race.wanted(1);
        wanted.iter_mut().for_each(|wanted| *wanted = (*wanted).min(most));
        if wanted.iter().sum::<u64>() > allowed {
            return Err(Refused(format!(
                "--budget {allowed}: one run of each of {} candidates takes more",
                self.points.len()
            )));
        }
        let results = runner.rounds(threads, wanted, &mut |runs, wanted| {
            let field = Columns { raced: self, runs };
            let have = race.racing().iter().map(|&own| runs[own].len() as u64).min().unwrap_or(0);
            if let (Within::Share(share), true) = (within, self.scale.raw) {
                // Fixed from the first pairs, so that it does not depend on later results.
                let pilot = race.screening() + self.rules.least;
                race.advance(&field, have.min(pilot.saturating_sub(1)));
                if have >= pilot && race.within().is_nan() {
                    race.fix_within(share * self.least_mean(&race, runs, pilot));
                }
            }
            race.advance(&field, have);
            let next: Vec<u64> = race.wanted(1).into_iter().map(|next| next.min(most)).collect();
            let sum: u64 =
                next.iter().zip(runs).map(|(next, runs)| (*next).max(runs.len() as u64)).sum();
            if sum > allowed {
                is_over_budget = true;
                return;
            }
            wanted.copy_from_slice(&next);
        })?;
        Ok((race, results, is_over_budget))
    }

    /// Least mean of the metric among the survivors over the first replications, without its sign.
    fn least_mean(&self, race: &Race, runs: &[ScenarioRuns], pilot: u64) -> f64 {
        let mean = |own: usize| {
            let column = runs[own].column(&self.scale.metric);
            let count = (pilot as usize).min(column.len()).max(1);
            (column[..count.min(column.len())].iter().sum::<f64>() / count as f64).abs()
        };
        race.racing().into_iter().map(mean).fold(f64::INFINITY, f64::min)
    }

    /// The rules of a race, whose indifference zone may have been fixed on the way.
    pub(crate) fn rules_of(&self, race: &Race) -> RaceRules {
        RaceRules { within: race.within(), ..self.rules }
    }
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

/// Refuses logs that give every replication the same jobs: they are one observation.
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
                "every replication has the same jobs of {path}, and one log is one observation: give `workload.resample = \
                 \"users\"` or \"weeks\", or `windows`"
            ),
        ),
    ))
}

/// Sets a key of a scenario's table and reads it again.
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
                crate::study::set::set(&mut table, key, value.clone()).map_err(refused)?
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

/// The clock of a scenario, for showing times.
pub(crate) fn clock(study: &Study, point: &Point) -> Clock {
    Clock::of(study, &point.scenario, None)
}

/// Arrivals of the log of a scenario, for the time that is held out.
pub(crate) use windows::arrivals;
