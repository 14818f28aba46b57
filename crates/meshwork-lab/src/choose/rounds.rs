//! Rounds of a race. A single process runs a round, or it is divided among the shards of a sweep.

use std::path::Path;
use std::sync::Mutex;

use super::race::{FIRST_LOOK, Race};
use super::request::{Budget, Within};
use super::{ChooseOptions, Columns, Raced, Setup};
use crate::lab::{Prepared, failure};
use crate::run::keys::PointKeys;
use crate::run::store::{Archive, Note, RunFindings, Store};
use crate::run::{Results, Run, Runner, ScenarioRuns, Unit, simulated};
use crate::study::input::Input;
use crate::study::{Refused, Study};
use crate::sweep::Shard;
use crate::sweep::cost::nominal;
use crate::sweep::deal::Deal;
use crate::sweep::name::attempt;
use crate::sweep::shard::begin;

impl Raced<'_> {
    /// Runs rounds until the race is decided or its budget is used up. Returns the reason of the
    /// end.
    pub(super) fn race(
        &self,
        runner: &Runner<'_>,
        threads: usize,
        budget: Option<Budget>,
    ) -> Result<(Race, Results, bool), Refused> {
        let mut race = Race::new(self.points.len(), self.rules);
        let mut is_over_budget = false;
        let allowed = match budget {
            Some(Budget::Runs(runs)) => runs,
            _ => u64::MAX,
        };
        let wanted = self.wanted(&race);
        let first: u64 = wanted.iter().sum();
        if first > allowed {
            return Err(Refused(format!(
                "--budget {allowed}: the first round of {} candidates takes {first} runs",
                self.points.len()
            )));
        }
        let results = runner.rounds(threads, wanted, &mut |runs, wanted| {
            self.advance(&mut race, runs);
            let next = self.wanted(&race);
            let all = next.iter().zip(runs).map(|(next, runs)| (*next).max(runs.len() as u64));
            if all.sum::<u64>() > allowed {
                is_over_budget = true;
            } else {
                wanted.copy_from_slice(&next);
            }
        })?;
        Ok((race, results, is_over_budget))
    }

    fn wanted(&self, race: &Race) -> Vec<u64> {
        race.wanted().into_iter().map(|next| next.min(self.most)).collect()
    }

    /// Passes results to the race, up to the last replication that every surviving candidate has
    /// run.
    fn advance(&self, race: &mut Race, runs: &[ScenarioRuns]) {
        let field = Columns { raced: self, runs };
        let have = race.racing().iter().map(|&own| runs[own].len() as u64).min().unwrap_or(0);
        if let (Within::Share(share), true) = (self.within, race.within().is_nan()) {
            // Only the first pairs determine the zone.
            while race.seen() < have && race.pairs() + 1 < race.least() {
                race.advance(&field, race.seen() + 1);
            }
            let pilot = race.screening() + race.least();
            if have < pilot {
                return;
            }
            race.fix_within(share * self.least_mean(race, runs, pilot));
        }
        race.advance(&field, have);
    }

    /// State of the race that follows from all stored runs, and the stored runs themselves. The
    /// function `find` finds a run by its key.
    fn known(
        &self,
        find: &mut dyn FnMut(&str) -> Option<RunFindings>,
        inputs: &[Option<Input>],
        build: &str,
    ) -> (Race, Vec<ScenarioRuns>) {
        let mut race = Race::new(self.points.len(), self.rules);
        let mut runs = vec![ScenarioRuns::default(); self.points.len()];
        loop {
            let before = race.seen();
            for (own, wanted) in self.wanted(&race).into_iter().enumerate() {
                let digest = inputs[own].as_ref().map(Input::digest);
                let keys = PointKeys::of(&self.study.catalogue, &self.points[own], digest, build);
                for replication in runs[own].len() as u64..wanted {
                    let Some(key) = keys.of_replication(replication) else { break };
                    let key = format!("{key:032x}");
                    let Some(findings) = find(&key) else { break };
                    runs[own].push(Run { key, replication, result: Ok(findings) });
                }
            }
            self.advance(&mut race, &runs);
            if race.seen() == before {
                return (race, runs);
            }
        }
    }

    /// Smallest absolute mean of the metric among the surviving candidates. Only the first `pilot`
    /// replications count.
    fn least_mean(&self, race: &Race, runs: &[ScenarioRuns], pilot: u64) -> f64 {
        let mean = |own: usize| {
            let column = runs[own].column(&self.scale.metric);
            let count = (pilot as usize).min(column.len()).max(1);
            (column[..count.min(column.len())].iter().sum::<f64>() / count as f64).abs()
        };
        race.racing().into_iter().map(mean).fold(f64::INFINITY, f64::min)
    }
}

pub struct RaceRound {
    pub deal: Deal,
    pub is_over: bool,
}

impl Raced<'_> {
    /// Next round of the race, computed from the stored runs. The function `find` finds a run by
    /// its key.
    ///
    /// The round adds half as many replications as the survivors have. So there are fewer and
    /// larger rounds than in a single process.
    fn round(
        &self,
        inputs: &[Option<Input>],
        build: &str,
        find: &mut dyn FnMut(&str) -> Option<RunFindings>,
    ) -> RaceRound {
        let (race, runs) = self.known(find, inputs, build);
        let next = if race.is_screening() {
            (2 * race.seen()).max(FIRST_LOOK)
        } else if race.pairs() < race.least() {
            race.seen() + race.least() - race.pairs()
        } else {
            race.seen() + race.seen().div_ceil(2)
        };
        let mut units: Vec<(Unit, f64)> = Vec::new();
        if !race.is_decided() {
            for own in race.racing() {
                let cost = nominal(&self.points[own].scenario);
                let missing = runs[own].len() as u64..next.min(self.most);
                let unit = |number| (Unit { scenario: own, replication: Some(number) }, cost);
                units.extend(missing.map(unit));
            }
        }
        RaceRound { is_over: units.is_empty(), deal: Deal { units } }
    }
}

/// Plans the next round of a race. If `writes` is true, the results folder is created and prepared,
/// unless this was done before.
pub fn next_round(
    study: &Study,
    options: &ChooseOptions<'_>,
    folder: &Path,
    writes: bool,
) -> Result<RaceRound, Refused> {
    let setup = Setup::of(study, options)?;
    if writes {
        begin(study, folder, &setup.prepared, &options.build)?;
    }
    let archive = Archive::of_sweep(folder)?;
    let raced = setup.raced(study, &options.request);
    Ok(raced.round(&setup.prepared.inputs, &options.build, &mut |key| archive.findings(key)))
}

pub struct ShardOfRound {
    pub shard: Shard,
    /// Whether the race has ended. It is decided, or the store already has all replications that
    /// the race may use.
    pub is_over: bool,
    pub round: u64,
    /// Number of successful runs of this shard.
    pub done: u64,
    pub stopped: bool,
    pub warnings: Vec<String>,
    /// Error messages of failed runs and of failed writes of results, one sentence each.
    pub failures: Vec<String>,
}

/// Runs one shard of the next round of a race. The stored runs in `runs.jsonl` determine what the
/// round consists of.
pub fn choose_shard(
    study: &Study,
    options: &ChooseOptions<'_>,
    shard: Shard,
) -> Result<ShardOfRound, Refused> {
    let setup = Setup::of(study, options)?;
    let Some(folder) = &options.out else {
        return Err(Refused(format!("--shard {shard}: give `--out DIR`, the same for all shards")));
    };
    let Prepared { points, inputs, files, .. } = &setup.prepared;
    begin(study, folder, &setup.prepared, &options.build)?;
    let environment = |name: &str| std::env::var(name).ok();
    let mut store =
        Store::for_shard(folder, &shard.label(Some("choose")), &attempt(environment), true)?;
    let raced = setup.raced(study, &options.request);
    let round = raced.round(inputs, &options.build, &mut |key| store.get(key));
    let RaceRound { deal, is_over } = round;
    let warnings = store.warnings().to_vec();
    let own = deal.hand(shard);
    store.note(|_| Note::Segment {
        shard: shard.index,
        of: shard.of,
        host: crate::files::host(),
        threads: options.threads,
        runs: own.len() as u64,
    })?;
    let runner = Runner {
        catalogue: &study.catalogue,
        points,
        inputs,
        replications: &setup.replications,
        simulate: &|scenario, number, observer| simulated(scenario, number, files, observer),
        build: &options.build,
        store: Some(Mutex::new(store)),
        jobs: None,
        kept: None,
        progress: options.progress,
        watcher: None,
        stop: options.stop,
    };
    let worked = runner.work(options.threads, &own)?;
    let failure = |failed: &(usize, u64, String)| {
        failure(study, &points[failed.0].swept, failed.1, &failed.2)
    };
    let mut failures: Vec<String> = worked.failures.iter().map(failure).collect();
    let mut store = runner.store.map(Mutex::into_inner).and_then(Result::ok);
    let finished = store.as_mut().map_or(Ok(()), |store| store.finish(worked.stopped));
    failures.extend(
        worked.store_error.into_iter().chain(finished.err().map(|error| error.to_string())),
    );
    Ok(ShardOfRound {
        shard,
        is_over,
        round: deal.units.len() as u64,
        done: worked.progress.done - worked.progress.failed,
        stopped: worked.stopped,
        warnings,
        failures,
    })
}
