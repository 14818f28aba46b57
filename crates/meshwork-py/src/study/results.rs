//! Results of a study, as tables.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use arrow_array::ArrayRef;
use meshwork::observe::recorder::OwnerAttribute;
use meshwork::workload::Inputs;
use meshwork_lab::findings::summary::SummaryRow;
use meshwork_lab::inputs::Files;
use meshwork_lab::run::store::{RunRecord, Store, json, key};
use meshwork_lab::run::{Results as Ended, Run, ScenarioRuns};
use meshwork_lab::statistics::Interval;
use meshwork_lab::study::input::{Input, Trace};
use meshwork_lab::{Finished, Options, Refused, Study};
use meshwork_report::{Maps, Report};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::Value as Json;
use toml::Value;

use crate::error::{OrWrong, failed, refused, wrong};
use crate::guard::guarded;
use crate::jobs::Jobs;
use crate::place::Topology;
use crate::running::{Interrupt, apart, oversee};
use crate::study::Study as Asked;
use crate::table::{Table, numbers, swept, texts, wholes};
use crate::values::{self, from_json};

/// The results of a study.
#[pyclass(frozen, module = "meshwork._meshwork")]
pub(crate) struct Results {
    study: Study,
    /// Whether the study was built in Python.
    without_file: bool,
    finished: Finished,
    /// Scenario and replication of each run of which only the means are in memory.
    ///
    /// Such a run cannot be stored, since the store has whole runs.
    partial: BTreeSet<(usize, u64)>,
    build: String,
}

/// Runs of a scenario in the form in which they are passed to another process.
///
/// The first value is true if all replications are equal, so that one run stands for all. The
/// second has a line of the store for each finished run. The third has the replication and the
/// error message of each failed run.
type Packed = (bool, Vec<Cow<'static, [u8]>>, Vec<(u64, String)>);

impl Results {
    pub(crate) fn new(
        study: Study,
        without_file: bool,
        finished: Finished,
        build: String,
    ) -> Results {
        let mut partial = BTreeSet::new();
        for (at, runs) in finished.results.runs.iter().enumerate() {
            let whole: BTreeSet<u64> = runs.whole().map(|run| run.replication).collect();
            let ended = runs.keys().map(|(replication, _)| replication);
            partial.extend(ended.filter(|one| !whole.contains(one)).map(|one| (at, one)));
        }
        Results { study, without_file, finished, partial, build }
    }

    /// Record for the store of a results folder; `None` if the run failed.
    fn record(&self, run: Run, scenario: Json, input: Option<Input>) -> Option<RunRecord> {
        Some(RunRecord {
            key: run.key,
            scenario,
            input,
            replication: run.replication,
            findings: run.result.ok()?,
            model_version: meshwork::scenario::MODEL_VERSION,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            build: self.build.clone(),
        })
    }

    fn rows(&self) -> &[SummaryRow] {
        &self.finished.summary.rows
    }

    /// Table of results with one row for each item of `scenarios`.
    ///
    /// An item is the index of a scenario. The columns are the scenario number, the swept values,
    /// and then `columns`.
    fn table(&self, scenarios: &[usize], columns: Vec<(&str, ArrayRef)>) -> Table {
        let mut all =
            vec![("scenario".to_owned(), wholes(scenarios.iter().map(|&at| at as i64 + 1)))];
        let keys = self.rows().first().map_or(&[][..], |row| &row.swept);
        for (at, (name, _)) in keys.iter().enumerate() {
            let values: Vec<&Value> =
                scenarios.iter().map(|&row| &self.rows()[row].swept[at].1).collect();
            all.push((name.clone(), swept(&values)));
        }
        all.extend(columns.into_iter().map(|(name, array)| (name.to_owned(), array)));
        Table::of(all)
    }

    /// Rows that `of` returns for all scenarios, and for each row the index of its scenario.
    fn lines<'r, T>(&'r self, of: impl Fn(&'r SummaryRow) -> Vec<T>) -> (Vec<usize>, Vec<T>) {
        let lines = self.rows().iter().enumerate();
        lines.flat_map(|(at, row)| of(row).into_iter().map(move |line| (at, line))).unzip()
    }

    fn by(&self, by: OwnerAttribute) -> Option<Table> {
        let (scenarios, lines) = self.lines(|row| {
            let classes = row.owners(by).iter();
            classes
                .flat_map(|class| class.metrics.iter().map(move |metric| (class, metric)))
                .collect()
        });
        (!lines.is_empty()).then(|| {
            let intervals: Vec<&Interval> =
                lines.iter().map(|(_, (_, interval))| interval).collect();
            let mut columns = vec![
                (by.name(), texts(lines.iter().map(|(class, _)| Some(class.name.as_str())))),
                ("jobs", wholes(lines.iter().map(|(class, _)| class.jobs as i64))),
                ("metric", texts(lines.iter().map(|(_, (name, _))| Some(name.as_str())))),
            ];
            columns.extend(found("mean", &intervals));
            self.table(&scenarios, columns)
        })
    }

    fn run_at(&self, scenario: usize, replication: u64) -> PyResult<usize> {
        let count = self.finished.points.len();
        let at = scenario.checked_sub(1).filter(|&at| at < count).ok_or_else(|| {
            wrong(format!("the scenario is {scenario}, but this study has scenarios 1 to {count}"))
        })?;
        let runs = &self.finished.results.runs[at];
        if runs.iter().any(|run| run.replication == replication) {
            return Ok(at);
        }
        Err(wrong(format!(
            "the replication is {replication}, but scenario {scenario} has replications 0 to {}",
            runs.len().saturating_sub(1)
        )))
    }
}

/// Columns of intervals: means (named `middle`), half widths, and numbers of replications.
fn found<'n>(middle: &'n str, intervals: &[&Interval]) -> Vec<(&'n str, ArrayRef)> {
    vec![
        (middle, numbers(intervals.iter().map(|interval| interval.mean))),
        ("half_width", numbers(intervals.iter().map(|interval| interval.half_width))),
        ("replications", wholes(intervals.iter().map(|interval| interval.replications as i64))),
    ]
}

fn method(intervals: &[&Interval]) -> (&'static str, ArrayRef) {
    ("method", texts(intervals.iter().map(|interval| interval.method.map(|method| method.name()))))
}

#[pymethods]
impl Results {
    /// The study that produced these results.
    fn study(&self) -> PyResult<Asked> {
        Asked::of(Ok(self.study.clone()), self.without_file)
    }

    /// State for pickling, without the study.
    ///
    /// It consists of the build, the warnings, the runs of each scenario, and the list of the runs
    /// of which only the means are kept.
    fn state(&self) -> (&str, &[String], Vec<Packed>, Vec<(usize, u64)>) {
        let Finished { results, warnings, .. } = &self.finished;
        let packed = |(at, runs): (usize, &ScenarioRuns)| {
            let records = runs.iter().filter_map(|run| self.record(run, Json::Null, None));
            let failed = runs.failures().map(|(at, why)| (at, why.to_owned()));
            (
                results.is_constant(at),
                records.map(|record| record.line().into()).collect(),
                failed.collect(),
            )
        };
        let runs = results.runs.iter().enumerate().map(packed).collect();
        (&self.build, warnings, runs, self.partial.iter().copied().collect())
    }

    /// Restores pickled results.
    #[staticmethod]
    fn of_state(
        study: &Bound<'_, Asked>,
        build: String,
        warnings: Vec<String>,
        packed: Vec<(bool, Vec<Vec<u8>>, Vec<(u64, String)>)>,
        partial: Vec<(usize, u64)>,
    ) -> PyResult<Results> {
        let garbled = || wrong("these are no results, or those of another version of Meshwork");
        let (mut runs, mut constant) = (Vec::new(), Vec::new());
        for (is_constant, lines, failed) in packed {
            let mut all = failed
                .into_iter()
                .map(|(replication, why)| Run { key: String::new(), replication, result: Err(why) })
                .collect::<Vec<Run>>();
            for line in lines {
                let RunRecord { key, replication, findings, .. } =
                    RunRecord::read(&line).ok_or_else(garbled)?;
                all.push(Run { key, replication, result: Ok(findings) });
            }
            all.sort_by_key(|run| run.replication);
            runs.push(all.into_iter().collect());
            constant.push(is_constant);
        }
        let (study, without_file) = (study.get().copy(), study.get().without_file());
        let all = Ended { runs, constant, ..Ended::default() };
        let finished = guarded(|| meshwork_lab::lab::again(&study, all))?;
        let mut finished = finished.map_err(|error| refused(&error, None))?;
        if finished.points.len() != finished.results.runs.len() {
            return Err(garbled());
        }
        finished.warnings = warnings;
        let partial = partial.into_iter().collect();
        Ok(Results { study, without_file, finished, partial, build })
    }

    #[getter]
    fn name(&self) -> &str {
        &self.study.name
    }

    /// Names of the swept keys of the study.
    #[getter]
    fn sweep(&self) -> Vec<String> {
        self.study.sweep.iter().map(|axis| axis.key.clone()).collect()
    }

    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.finished.warnings.clone()
    }

    #[getter]
    fn failures(&self) -> Vec<String> {
        self.finished.failures.clone()
    }

    #[getter]
    fn growing(&self) -> Vec<usize> {
        let rows = self.rows().iter().enumerate();
        rows.filter(|(_, row)| row.growing).map(|(at, _)| at + 1).collect()
    }

    #[getter]
    fn scenarios<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        self.finished.points.iter().map(|point| values::swept(py, &point.swept)).collect()
    }

    #[getter]
    fn claims<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        self.finished.claims.iter().map(|claim| from_json(py, &claim.json())).collect()
    }

    fn summary(&self) -> Table {
        let (scenarios, lines) = self.lines(|row| row.metrics.iter().collect());
        let intervals: Vec<&Interval> = lines.iter().map(|(_, interval)| interval).collect();
        let mut columns =
            vec![("metric", texts(lines.iter().map(|(name, _)| Some(name.as_str()))))];
        columns.extend(found("mean", &intervals));
        columns.push(method(&intervals));
        self.table(&scenarios, columns)
    }

    fn by_size(&self) -> Option<Table> {
        let (scenarios, lines) = self.lines(|row| {
            let classes = row.by_size.iter();
            classes
                .flat_map(|class| class.metrics.iter().map(move |metric| (class, metric)))
                .collect()
        });
        (!lines.is_empty()).then(|| {
            let intervals: Vec<&Interval> =
                lines.iter().map(|(_, (_, interval))| interval).collect();
            let mut columns = vec![
                ("size", wholes(lines.iter().map(|(class, _)| class.size as i64))),
                ("jobs", wholes(lines.iter().map(|(class, _)| class.jobs as i64))),
                ("metric", texts(lines.iter().map(|(_, (name, _))| Some(name.as_str())))),
            ];
            columns.extend(found("mean", &intervals));
            self.table(&scenarios, columns)
        })
    }

    fn by_user(&self) -> Option<Table> {
        self.by(OwnerAttribute::User)
    }

    fn by_group(&self) -> Option<Table> {
        self.by(OwnerAttribute::Group)
    }

    fn by_application(&self) -> Option<Table> {
        self.by(OwnerAttribute::Application)
    }

    fn by_queue(&self) -> Option<Table> {
        self.by(OwnerAttribute::Queue)
    }

    fn by_partition(&self) -> Option<Table> {
        self.by(OwnerAttribute::Partition)
    }

    fn comparison(&self) -> Option<Table> {
        let (scenarios, lines) = self.lines(|row| {
            let all = row.differences.iter();
            all.flat_map(|all| all.metrics.iter().map(move |metric| (&all.baseline, metric)))
                .collect()
        });
        (!lines.is_empty()).then(|| {
            let intervals: Vec<&Interval> =
                lines.iter().map(|(_, (_, interval, _))| interval).collect();
            let baselines: Vec<&Value> =
                lines.iter().map(|(baseline, _)| &baseline.value).collect();
            let mut columns = vec![
                ("compared", texts(lines.iter().map(|(baseline, _)| Some(baseline.key.as_str())))),
                ("baseline", swept(&baselines)),
                ("metric", texts(lines.iter().map(|(_, (name, ..))| Some(name.as_str())))),
            ];
            columns.extend(found("difference", &intervals));
            columns
                .push(("relative", numbers(lines.iter().map(|(_, (_, _, relative))| *relative))));
            columns.push(method(&intervals));
            self.table(&scenarios, columns)
        })
    }

    /// The metrics of all runs, as a table with one row for each run and metric.
    fn runs(&self) -> Table {
        let runs = self.finished.results.runs.iter().enumerate();
        let ended = runs.flat_map(|(at, runs)| {
            runs.iter().filter_map(move |run| Some((at, run.replication, run.result.ok()?)))
        });
        let lines: Vec<_> = ended
            .flat_map(|(at, replication, findings)| {
                findings.metrics.into_iter().map(move |metric| (at, replication, metric))
            })
            .collect();
        let scenarios: Vec<usize> = lines.iter().map(|line| line.0).collect();
        let columns = vec![
            ("replication", wholes(lines.iter().map(|line| line.1 as i64))),
            ("metric", texts(lines.iter().map(|line| Some(line.2.name.as_str())))),
            ("value", numbers(lines.iter().map(|line| line.2.value))),
        ];
        self.table(&scenarios, columns)
    }

    fn topologies(&self, scenario: usize) -> PyResult<Vec<Topology>> {
        let point = &self.finished.points[self.run_at(scenario, 0)?];
        Ok(point.scenario.topologies().into_iter().map(|one| Topology(Arc::new(one))).collect())
    }

    /// The jobs of a run as a table. The run is repeated, since results do not keep jobs.
    fn jobs(&self, py: Python<'_>, scenario: usize, replication: u64) -> PyResult<Table> {
        let point = &self.finished.points[self.run_at(scenario, replication)?];
        let study = &self.study;
        let (run, raised) = oversee(py, Interrupt::AtOnce, study, None, None, |overseer, _| {
            let files = Files::of(study);
            let scenario = point
                .scenario_of(&study.catalogue, replication)
                .map_err(|problem| problem.message)?;
            let mut jobs = Jobs::new(scenario.topologies());
            let mut watch = overseer.watch(point, replication);
            scenario
                .run(replication, &files as &dyn Inputs, &mut (&mut jobs, &mut watch))
                .map_err(|error| error.to_string())?;
            Ok::<Table, String>(jobs.table())
        })?;
        raised.map_or(Ok(()), Err)?;
        run.map_err(failed)
    }

    /// Writes the results to a folder, in the layout in which the command writes them.
    fn save(&self, py: Python<'_>, folder: PathBuf) -> PyResult<()> {
        let study = &self.study;
        let (run, raised) = oversee(py, Interrupt::AtOnce, study, None, None, |overseer, _| {
            self.keep(&folder)?;
            let options = Options {
                out: Some(folder),
                build: self.build.clone(),
                watcher: Some(overseer),
                ..Options::default()
            };
            meshwork_lab::run(study, &options)
        })?;
        raised.map_or(Ok(()), Err)?;
        run.map(drop).map_err(|error| refused(&error, None))
    }
}

impl Results {
    /// Appends the finished runs to the store of a results folder.
    ///
    /// Runs of which only the means are in memory are skipped here, and repeated when the tables
    /// are written.
    fn keep(&self, folder: &Path) -> Result<(), Refused> {
        let mut store = Store::open(folder, &self.build)?;
        let files = Files::of(&self.study);
        let all = self.finished.points.iter().zip(&self.finished.results.runs);
        for (at, (point, runs)) in all.enumerate() {
            let read = |path: Option<&str>| -> Result<Option<Trace>, Refused> {
                let Some(path) = path else { return Ok(None) };
                let located = files.locate(path);
                let whole = std::path::absolute(&located).unwrap_or(located);
                let path_of = whole.display().to_string();
                Ok(Some(Trace { path: path_of, blake3: files.digest(path)? }))
            };
            let trace = read(point.scenario.trace_path())?;
            let input = match read(point.scenario.input_path())? {
                Some(Trace { path, blake3 }) => Some(Input { path, blake3, start: None, trace }),
                None => trace.map(|trace| Input {
                    path: String::new(),
                    blake3: String::new(),
                    start: None,
                    trace: Some(trace),
                }),
            };
            let is_whole = |run: &Run| !self.partial.contains(&(at, run.replication));
            for run in runs.iter().filter(|run| run.result.is_ok()).filter(is_whole) {
                let scenario = point
                    .scenario_of(&self.study.catalogue, run.replication)
                    .map_err(|problem| Refused(problem.message))?;
                let table = scenario.table();
                let digest = input.as_ref().map(Input::digest);
                let key = key(table, digest.as_deref(), run.replication, &self.build);
                let run = Run { key, ..run };
                let Some(record) = self.record(run, json(table), input.clone()) else { continue };
                store.append(&record, Duration::ZERO)?;
            }
        }
        Ok(())
    }
}

/// Figures of the report on a results folder: the name and the text of each file.
#[pyfunction]
pub(crate) fn figures(py: Python<'_>, folder: PathBuf) -> PyResult<Vec<(String, String)>> {
    let catalogue = crate::strategy::catalogue::current();
    let read = py.detach(|| apart(|| Report::with_maps_in(&catalogue, &folder, &Maps::none())));
    Ok(read?.or_wrong()?.figure_files())
}
