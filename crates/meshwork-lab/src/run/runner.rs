//! Runs every replication of a study, on any number of threads.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

use meshwork::catalogue::Catalogue;
use meshwork::observe::Observer;
use meshwork::scenario::{MODEL_VERSION, Scenario};

use crate::run::joboutput::{self, JobLog};
use crate::run::kept::{Kept, RunRecorder};
use crate::run::keys::PointKeys;
use crate::run::replications::{first, more};
use crate::run::results::Results;
use crate::run::round::Round;
use crate::run::runs::ScenarioRuns;
use crate::run::store::{RunFindings, RunRecord, Store, json, key};
use crate::run::ticker::Ticker;
use crate::run::{Run, RunProgress, Simulate, Watcher};
use crate::study::expand::Point;
use crate::study::input::Input;
use crate::study::{JobFormat, Replications};
use crate::threads::{NoThreads, Threads, into_inner, locked};

pub struct Runner<'a> {
    pub catalogue: &'a Catalogue,
    pub points: &'a [Point],
    pub inputs: &'a [Option<Input>],
    pub replications: &'a Replications,
    pub simulate: &'a Simulate<'a>,
    pub build: &'a str,
    pub store: Option<Mutex<Store>>,
    pub jobs: Option<(PathBuf, Vec<JobFormat>)>,
    pub kept: Option<Kept>,
    /// Function that is called after every run, and repeatedly during long runs.
    ///
    /// It may be called from any thread, but calls do not overlap.
    pub progress: &'a (dyn Fn(RunProgress) + Sync),
    /// Observer of the runs. It does not influence the results.
    pub watcher: Option<&'a dyn Watcher>,
    /// Called before every run, from any thread. `true` stops the study.
    pub stop: &'a (dyn Fn() -> bool + Sync),
}

impl Runner<'_> {
    /// Runs all replications on `threads` threads. If `threads` is 0, there is one per processor.
    ///
    /// The results do not depend on the number of threads. If a run fails, even by a panic, the
    /// other runs go on, but its scenario gets no further replications.
    pub fn run(&self, threads: usize) -> Result<Results, NoThreads> {
        let at_first = |point| first(self.replications, point);
        let wanted = self.points.iter().map(at_first).collect();
        let results = self.rounds(threads, wanted, &mut |runs, wanted| {
            for (wanted, runs) in wanted.iter_mut().zip(runs) {
                *wanted = more(self.replications, runs);
            }
        })?;
        let Results { runs, store_error, outdated, stopped, .. } = results;
        Ok(Results { store_error, outdated, stopped, ..Results::of(runs, self.replications) })
    }

    /// Runs the scenarios in rounds, until all of them have the replications that they need.
    ///
    /// In the first round, scenarios have the numbers of replications in `wanted`. After each
    /// round, `next` computes new numbers.
    pub(crate) fn rounds(
        &self,
        threads: usize,
        wanted: Vec<u64>,
        next: &mut dyn FnMut(&[ScenarioRuns], &mut [u64]),
    ) -> Result<Results, NoThreads> {
        let threads = Threads::of(threads)?;
        let shared = Shared::new(self);
        let runs = shared.rounds(&threads, wanted, next);
        let stopped = shared.stopped.load(Ordering::Relaxed);
        let store_error = into_inner(shared.store_error);
        let outdated = shared.outdated.into_inner();
        Ok(Results { runs, store_error, outdated, stopped, ..Results::default() })
    }
}

pub(super) struct Shared<'a, 'b> {
    pub(super) runner: &'a Runner<'b>,
    pub(super) progress: Mutex<RunProgress>,
    pub(super) store_error: Mutex<Option<String>>,
    outdated: AtomicU64,
    /// Number of jobs in each log, by the log's path, as counted by runs that have finished.
    pub(super) lengths: Mutex<BTreeMap<String, u64>>,
    pub(super) stopped: AtomicBool,
    /// Runs that were made in advance, by scenario and replication.
    ///
    /// A run whose entry is `None` is read from the store.
    ahead: Mutex<BTreeMap<(usize, u64), Option<Box<Run>>>>,
    are_counted: AtomicBool,
    /// Failed runs of [`Runner::work`]: index of the scenario, replication, and reason.
    pub(super) failures: Mutex<Vec<(usize, u64, String)>>,
}

impl<'a, 'b> Shared<'a, 'b> {
    pub(super) fn new(runner: &'a Runner<'b>) -> Shared<'a, 'b> {
        Shared {
            runner,
            progress: Mutex::default(),
            store_error: Mutex::default(),
            outdated: AtomicU64::new(0),
            lengths: Mutex::default(),
            stopped: AtomicBool::new(false),
            ahead: Mutex::default(),
            are_counted: AtomicBool::new(false),
            failures: Mutex::default(),
        }
    }

    pub(super) fn must_stop(&self) -> bool {
        let stops = (self.runner.stop)();
        if stops {
            self.stopped.store(true, Ordering::Relaxed);
        }
        stops
    }

    /// Makes the runs that the store lacks, before any stored run is read.
    ///
    /// If there is a watcher, it makes no runs, because the watcher must see stored runs first.
    fn ahead(&self, threads: &Threads, round: &Round) {
        self.are_counted.store(false, Ordering::Relaxed);
        let Some(store) = self.runner.store.as_ref().filter(|store| !locked(store).is_empty())
        else {
            return;
        };
        if self.runner.watcher.is_some() {
            return;
        }
        let of_point =
            |point| Some(self.missing(store, round, point).collect::<Vec<(usize, u64)>>());
        let missing = threads.map(0..self.runner.points.len(), of_point).concat();
        if missing.len() == round.len() {
            return;
        }
        let stored = (round.len() - missing.len()) as u64;
        self.advance(|progress| {
            progress.done += stored;
            progress.reused += stored;
        });
        threads.map(0..missing.len(), |number| {
            if self.must_stop() {
                return None;
            }
            let (point, replication) = missing[number];
            let run = self.replication(point, replication);
            let is_kept = run.result.is_ok()
                && u128::from_str_radix(&run.key, 16).is_ok_and(|key| locked(store).has(key));
            let kept = (!is_kept).then(|| Box::new(run));
            locked(&self.ahead).insert((point, replication), kept);
            None::<()>
        });
        self.are_counted.store(true, Ordering::Relaxed);
    }

    fn advance(&self, change: impl FnOnce(&mut RunProgress)) {
        let mut progress = locked(&self.progress);
        change(&mut progress);
        (self.runner.progress)(*progress);
    }

    fn missing(
        &self,
        store: &Mutex<Store>,
        round: &Round,
        point: usize,
    ) -> impl Iterator<Item = (usize, u64)> {
        let keys = self.runner.keys(point);
        let replications = round.replications(point);
        let is_there = move |replication| self.is_there(store, &keys, point, replication);
        replications.filter_map(move |number| (!is_there(number)).then_some((point, number)))
    }

    pub(super) fn is_there(
        &self,
        store: &Mutex<Store>,
        keys: &PointKeys<'_>,
        point: usize,
        replication: u64,
    ) -> bool {
        keys.of_replication(replication).is_some_and(|key| {
            let text = || format!("{key:032x}");
            locked(store).has(key)
                && (self.runner.jobs.is_none() || self.has_job_output(&text()))
                && self.has_recording(point, replication, text)
        })
    }

    fn rounds(
        &self,
        threads: &Threads,
        mut wanted: Vec<u64>,
        next: &mut dyn FnMut(&[ScenarioRuns], &mut [u64]),
    ) -> Vec<ScenarioRuns> {
        let mut runs = vec![ScenarioRuns::default(); self.runner.points.len()];
        loop {
            let round = Round::of(&runs, &wanted);
            if round.len() == 0 {
                return runs;
            }
            locked(&self.progress).total += round.len() as u64;
            self.ahead(threads, &round);
            for begin in (0..round.len()).step_by(AT_ONCE) {
                let part = threads.map(begin..round.len().min(begin + AT_ONCE), |number| {
                    let (point, replication) = round.run(number);
                    let is_over = self.stopped.load(Ordering::Relaxed) || self.must_stop();
                    (!is_over).then(|| (point, self.replication(point, replication)))
                });
                if self.stopped.load(Ordering::Relaxed) {
                    return runs;
                }
                for (point, run) in part {
                    runs[point].push(run);
                }
            }
            next(&runs, &mut wanted);
        }
    }

    pub(super) fn replication(&self, point: usize, replication: u64) -> Run {
        let ahead = match &mut *locked(&self.ahead) {
            ahead if ahead.is_empty() => None,
            ahead => ahead.remove(&(point, replication)),
        };
        let was_ahead = ahead.is_some();
        if let Some(Some(run)) = ahead {
            return *run;
        }
        let input = self.runner.inputs[point].as_ref();
        let scenario = self.runner.points[point].scenario_of(self.runner.catalogue, replication);
        let digest = input.map(Input::digest);
        let key = scenario.as_ref().map_or_else(
            |_| String::new(),
            |scenario| key(scenario.table(), digest.as_deref(), replication, self.runner.build),
        );
        let stored = self.runner.store.as_ref().and_then(|store| locked(store).get(&key));
        let stored = stored.filter(|_| {
            self.has_job_output(&key) && self.has_recording(point, replication, || key.clone())
        });
        let reused = stored.is_some();
        let result = match stored {
            Some(findings) => Ok(findings),
            None => scenario
                .map_err(|problem| problem.message)
                .and_then(|scenario| self.fresh(point, &scenario, replication, &key)),
        };
        let run = Run { key, replication, result };
        if was_ahead {
            return run;
        }
        if let Some(watcher) = self.runner.watcher {
            watcher.ended(point, &run);
        }
        let is_counted = self.are_counted.load(Ordering::Relaxed);
        self.advance(|progress| {
            if is_counted {
                // A run that was counted as stored may turn out to be unreadable.
                progress.reused -= u64::from(!reused);
            } else {
                progress.done += 1;
                progress.reused += u64::from(reused);
            }
            progress.failed += u64::from(run.result.is_err());
        });
        run
    }

    /// Whether all requested files of per-job output of a run exist. If not, a stored run is
    /// repeated.
    fn has_job_output(&self, key: &str) -> bool {
        self.runner.jobs.as_ref().is_none_or(|(folder, formats)| {
            formats.iter().all(|&format| joboutput::path(folder, key, format).is_file())
        })
    }

    /// Whether a run has its recording, or needs none. If a requested recording is missing, the run
    /// is repeated.
    fn has_recording(&self, point: usize, replication: u64, key: impl FnOnce() -> String) -> bool {
        let asked = self.runner.kept.as_ref().filter(|kept| kept.is_asked_for());
        asked.is_none_or(|kept| !kept.has(point, replication) || kept.path(&key()).is_file())
    }

    /// Observer that records a run. `None` if no recording is wanted, or if it cannot be created.
    fn recorder(&self, point: usize, replication: u64, key: &str) -> Option<RunRecorder> {
        let kept = self.runner.kept.as_ref().filter(|kept| kept.has(point, replication))?;
        kept.begin(key).map_err(|error| self.no_recording(error.to_string())).ok()
    }

    fn no_recording(&self, message: String) {
        if self.runner.kept.as_ref().is_some_and(Kept::is_asked_for) {
            *locked(&self.store_error) = Some(message);
        }
    }

    fn fresh(
        &self,
        point: usize,
        scenario: &Scenario,
        replication: u64,
        key: &str,
    ) -> Result<RunFindings, String> {
        let at = &self.runner.points[point];
        let began = Instant::now();
        let mut ticker = Ticker::new(self, scenario);
        // Attach only the observers that are needed, since every event passes all of them.
        let mut watched = |log: Option<&mut dyn Observer>| {
            let simulate =
                |all: &mut dyn Observer| (self.runner.simulate)(scenario, replication, all);
            let watching = self.runner.watcher.and_then(|w| w.observer(at, replication));
            match (log, watching) {
                (None, None) => simulate(&mut ticker),
                (Some(log), None) => simulate(&mut (log, &mut ticker)),
                (None, Some(mut other)) => simulate(&mut (&mut ticker, &mut *other)),
                (Some(log), Some(mut other)) => {
                    simulate(&mut (log, &mut (&mut ticker, &mut *other)))
                }
            }
        };
        let mut simulate = |log: Option<&mut dyn Observer>| {
            let Some(mut recorder) = self.recorder(point, replication, key) else {
                return watched(log);
            };
            let outcome = match log {
                None => watched(Some(&mut recorder)),
                Some(log) => watched(Some(&mut (log, &mut recorder))),
            }?;
            recorder.finish().unwrap_or_else(|error| self.no_recording(error.to_string()));
            Ok(outcome)
        };
        let outcome = caught(|| match &self.runner.jobs {
            None => simulate(None),
            Some((folder, formats)) => {
                let topologies = scenario.topologies();
                let mut log = JobLog::create(folder, key, formats, topologies)
                    .map_err(|error| error.to_string())?;
                let outcome = simulate(Some(&mut log))?;
                log.finish().map_err(|error| error.to_string())?;
                Ok(outcome)
            }
        });
        let took = began.elapsed();
        ticker.end();
        let outcome = outcome?;
        if let Some(path) = scenario.input_path() {
            let jobs = outcome.finished + outcome.refused;
            locked(&self.lengths).insert(path.to_owned(), jobs);
        }
        let findings = RunFindings::of(&outcome);
        if let Some(store) = &self.runner.store {
            let record = RunRecord {
                key: key.to_owned(),
                scenario: json(scenario.table()),
                input: self.runner.inputs[point].clone(),
                replication,
                findings: findings.clone(),
                model_version: MODEL_VERSION,
                version: env!("CARGO_PKG_VERSION").to_owned(),
                build: self.runner.build.to_owned(),
            };
            let mut store = locked(store);
            if store.is_known_elsewhere(&record) {
                self.outdated.fetch_add(1, Ordering::Relaxed);
            }
            let differs = store.get(key).is_some_and(|known| known != findings);
            match store.append(&record, took) {
                Err(error) if differs => return Err(error.to_string()),
                Err(error) => *locked(&self.store_error) = Some(error.to_string()),
                Ok(()) => {}
            }
        }
        Ok(findings)
    }
}

impl Runner<'_> {
    pub(super) fn keys(&self, point: usize) -> PointKeys<'_> {
        let digest = self.inputs[point].as_ref().map(Input::digest);
        PointKeys::of(self.catalogue, &self.points[point], digest, self.build)
    }
}

/// Number of runs in a parallel loop. It is so large that the time for which threads are idle at
/// the loop's end is negligible.
const AT_ONCE: usize = 1 << 14;

/// Panic payload that ends a run with a message. A strategy or an observer from outside of this
/// crate may panic with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stopped(pub String);

/// Converts a panic inside a run to an error, so that other runs go on.
pub fn caught<T>(run: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|panic| {
        if let Some(Stopped(sentence)) = panic.downcast_ref() {
            return Err(sentence.clone());
        }
        let text = panic
            .downcast_ref::<String>()
            .map(String::as_str)
            .or_else(|| panic.downcast_ref::<&str>().copied())
            .unwrap_or("without a word");
        Err(format!("a fault of the program stopped the run: {}", text.replace('\n', "; ")))
    })
}

#[cfg(test)]
mod tests {
    use meshwork::observe::recorder::Measured;
    use meshwork::rng::Stream;
    use meshwork::scenario::{Outcome, Scenario};

    use super::*;
    use crate::run::replications::watched;
    use crate::run::store::load;
    use crate::statistics::{half_width, mean};
    use crate::tests::synthetic;

    #[test]
    fn what_stops_a_run_on_purpose_is_its_own_sentence() {
        let stopped =
            caught::<()>(|| std::panic::resume_unwind(Box::new(Stopped("enough".into()))));
        assert_eq!(stopped, Err("enough".to_owned()));
    }

    fn points(loads: &[f64]) -> Vec<Point> {
        let point = |&load: &f64| {
            let head = "machine = { topology = 'flat', processors = 4 }\nmeasure = { jobs = 10 }";
            let table = synthetic(head, load, "");
            Point {
                swept: vec![("workload.load".to_owned(), toml::Value::Float(load))],
                scenario: Scenario::read(&table.parse().unwrap()).unwrap(),
                windows: None,
            }
        };
        loads.iter().map(point).collect()
    }

    fn outcome(value: Option<f64>) -> Outcome {
        let mut outcome = Outcome::default();
        outcome.metrics = vec![Measured { name: "wait", value, batches: vec![] }];
        outcome.finished = 1;
        outcome
    }

    fn ended(replication: u64, wait: Option<f64>) -> Run {
        let result = Ok(RunFindings::of(&outcome(wait)));
        Run { key: String::new(), replication, result }
    }

    #[test]
    fn the_runs_of_a_round_are_those_that_a_list_would_have() {
        let run = || Run { key: String::new(), replication: 0, result: Err(String::new()) };
        for (have, wanted) in
            [(vec![], vec![]), (vec![0, 0, 0], vec![3, 0, 2]), (vec![2, 5, 1, 4], vec![4, 5, 0, 9])]
        {
            let runs: Vec<ScenarioRuns> =
                have.iter().map(|&have| (0..have).map(|_| run()).collect()).collect();
            let round = Round::of(&runs, &wanted);
            let listed: Vec<(usize, u64)> = (0..have.len())
                .flat_map(|point| (have[point]..wanted[point]).map(move |of| (point, of)))
                .collect();
            let numbered: Vec<(usize, u64)> = (0..round.len()).map(|n| round.run(n)).collect();
            assert_eq!(numbered, listed);
        }
    }

    /// Fake simulation with mean 10. Load 3 fails once; load 4 panics.
    fn fake(
        scenario: &Scenario,
        replication: u64,
        _: &mut dyn Observer,
    ) -> Result<Outcome, String> {
        let load = scenario.table()["workload"]["load"].as_float().unwrap();
        if load > 3.5 {
            panic!("at the disco");
        }
        if load > 2.5 && replication == 1 {
            return Err("no log".to_owned());
        }
        let mut stream = Stream::new(1, replication, "fake");
        Ok(outcome(Some(10.0 + load * (stream.unit() - 0.5))))
    }

    fn run(
        points: &[Point],
        replications: &Replications,
        store: Option<Store>,
        threads: usize,
        progress: &(dyn Fn(RunProgress) + Sync),
    ) -> Results {
        let inputs = vec![None; points.len()];
        Runner {
            catalogue: &Catalogue::standard(),
            points,
            inputs: &inputs,
            replications,
            simulate: &fake,
            build: "b",
            store: store.map(Mutex::new),
            jobs: None,
            kept: None,
            progress,
            watcher: None,
            stop: &|| false,
        }
        .run(threads)
        .unwrap()
    }

    fn precision() -> Replications {
        Replications::Precision { target: 0.02, least: 3, most: 60, of: "wait".to_owned() }
    }

    #[test]
    fn threads_change_nothing() {
        let points = points(&[0.5, 1.0, 2.0, 3.0, 4.0]);
        for replications in [Replications::Fixed(4), precision()] {
            let one = run(&points, &replications, None, 1, &|_| {});
            for threads in [2, 5] {
                assert_eq!(one, run(&points, &replications, None, threads, &|_| {}));
            }
        }
    }

    #[test]
    fn a_failed_run_stops_no_other() {
        let points = points(&[3.0, 4.0, 0.5]);
        let results = run(&points, &Replications::Fixed(3), None, 2, &|_| {});
        let failures = |point: usize| -> Vec<&str> {
            results.runs[point].failures().map(|(_, message)| message).collect()
        };
        assert_eq!(failures(0), ["no log"]);
        assert_eq!(failures(1), ["a fault of the program stopped the run: at the disco"; 3]);
        assert!(failures(2).is_empty());
        let stopped = run(&points, &precision(), None, 2, &|_| {});
        assert_eq!(stopped.runs[0].len(), 3, "a scenario that fails is not replicated further");
    }

    #[test]
    fn what_is_stored_is_not_run_again() {
        let folder = tempfile::tempdir().unwrap();
        let points = points(&[0.5, 3.0]);
        let open = || Some(Store::open(folder.path(), "b").unwrap());
        let first = run(&points, &Replications::Fixed(2), open(), 2, &|_| {});
        assert_eq!(load(folder.path()).unwrap().records.len(), 3, "a failed run is not stored");
        let said = Mutex::new(Vec::new());
        let keep = |progress| said.lock().unwrap().push(progress);
        let again = run(&points, &Replications::Fixed(2), open(), 2, &keep);
        assert_eq!(first, again);
        let stored = RunProgress { done: 3, total: 4, reused: 3, ..RunProgress::default() };
        let all = RunProgress { done: 4, failed: 1, ..stored };
        let said = said.into_inner().unwrap();
        assert_eq!((said.first(), said.last()), (Some(&stored), Some(&all)));
        assert_eq!(load(folder.path()).unwrap().records.len(), 3);
    }

    #[test]
    fn a_full_disk_costs_no_result() {
        let points = points(&[0.5, 1.0]);
        let store = Some(Store::with_room_for(2000));
        let results = run(&points, &Replications::Fixed(3), store, 2, &|_| {});
        let full = "out/runs.jsonl: this file cannot be written, the disk is full";
        assert_eq!(results.store_error.as_deref(), Some(full));
        assert_eq!(results.runs, run(&points, &Replications::Fixed(3), None, 1, &|_| {}).runs);
    }

    #[test]
    fn replications_go_on_until_the_interval_is_narrow() {
        let results = run(&points(&[0.1, 2.0]), &precision(), None, 2, &|_| {});
        let counts: Vec<usize> = results.runs.iter().map(ScenarioRuns::len).collect();
        assert_eq!(counts[0], 6, "three have no interval; a spread of 0.1 is narrow at once");
        let values: Vec<f64> = results.runs[1].measured("wait").map(|(_, value)| value).collect();
        assert!(counts[1] > 3 && half_width(&values).unwrap() <= 0.02 * mean(&values).unwrap());
    }

    #[test]
    fn an_interval_that_is_narrow_enough_rarely_misses() {
        let rule =
            Replications::Precision { target: 0.02, least: 5, most: 2000, of: "wait".to_owned() };
        let mut missed = 0;
        for seed in 0..1000 {
            let mut draws = Stream::new(seed, 0, "precision");
            let mut runs = ScenarioRuns::default();
            while more(&rule, &runs) > runs.len() as u64 {
                let normal = (0..12).map(|_| draws.unit()).sum::<f64>() - 6.0;
                runs.push(ended(runs.len() as u64, Some(1.0 + 0.05 * normal)));
            }
            let [mean, half_width] = watched("wait", &runs).unwrap();
            assert!(half_width <= 0.02 * mean);
            missed += u32::from((mean - 1.0).abs() > half_width);
        }
        assert!(missed <= 50, "{missed} of 1000, at a level of 5 %");
    }

    #[test]
    fn the_rule_by_hand() {
        let runs = |values: &[Option<f64>]| -> ScenarioRuns {
            (0..).zip(values).map(|(i, &value)| ended(i, value)).collect()
        };
        let rule = precision();
        // Three values have an infinite interval, so their number is doubled.
        assert_eq!(more(&rule, &runs(&[Some(9.0), Some(10.0), Some(11.0)])), 6);
        assert_eq!(more(&rule, &runs(&[Some(10.0); 3])), 3, "no spread, no more");
        assert_eq!(more(&rule, &runs(&[None; 3])), 3, "nothing to measure, nothing to gain");
        assert_eq!(more(&rule, &runs(&[Some(9.0), Some(10.0)])), 3, "the first look comes later");
        assert_eq!(more(&rule, &runs(&[Some(1.0), None, None])), 6);
        // A half width of 1 is allowed. It is 1.42 √(2/3) = 1.16 for nine values, so 9 × 1.16² =
        // 12.1 values are needed; for twelve it is 1.11 √(2/3) = 0.91.
        let tenth = Replications::Precision { target: 0.1, least: 3, most: 60, of: "wait".into() };
        let repeated = |count: usize| -> Vec<Option<f64>> {
            (0..count).map(|i| Some(9.0 + (i % 3) as f64)).collect()
        };
        assert_eq!(more(&tenth, &runs(&repeated(9))), 13);
        assert_eq!(more(&tenth, &runs(&repeated(12))), 12);
        let wide: Vec<Option<f64>> = (0..60).map(|i| Some(f64::from(i))).collect();
        assert_eq!(more(&rule, &runs(&wide)), 60, "given up");
        assert_eq!(more(&rule, &runs(&wide[..50])), 60);
        assert_eq!(more(&rule, &runs(&[Some(-1.0), Some(1.0), Some(0.0)])), 6, "a mean of 0");
        assert_eq!(more(&Replications::Fixed(3), &runs(&[Some(1.0), Some(2.0)])), 3);
        assert_eq!(more(&Replications::Fixed(3), &runs(&[Some(1.0); 2])), 2, "nothing differs");
    }
}
