//! Runs a study and produces its results: the entry point of this crate.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use meshwork::registry::Problem;
use meshwork::workload::swf::header;
use meshwork::workload::table::Listed;
use meshwork::workload::{Inputs as _, Rows, WorkloadError};
use toml::Value;

use crate::files::{FileError, write_whole};
use crate::findings::claims::{self, Judgement};
use crate::findings::summary::Summary;
use crate::inputs::Files;
use crate::inputs::start::LogStart;
use crate::run::build::standard;
use crate::run::kept::Kept;
use crate::run::keys::PointKeys;
use crate::run::memory;
use crate::run::store::{RUNS, Store, StoreError, WHOLE};
use crate::run::stored::order;
use crate::run::{Results, RunProgress, Runner, Watcher, cuts, joboutput, simulated, windows};
use crate::study::asked::{EXPERIMENT, Span, StudyRequest};
use crate::study::clock::Clock;
use crate::study::expand::{self, Point, expand};
use crate::study::input::{Input, Trace};
use crate::study::sample::sample;
use crate::study::{Refused, Study};
use crate::text::label;

pub struct Options<'a> {
    pub out: Option<PathBuf>,
    pub threads: usize,
    pub max_memory: Option<u64>,
    pub progress: &'a (dyn Fn(RunProgress) + Sync),
    /// Observer of the events of all runs. It does not influence the results.
    pub watcher: Option<&'a dyn Watcher>,
    /// Identifier of the program's build, from [`build`](crate::run::build). Runs that another
    /// build has stored are repeated.
    pub build: String,
    /// Called before every run. If it returns `true`, the study stops. Finished runs stay stored,
    /// but no tables are written.
    pub stop: &'a (dyn Fn() -> bool + Sync),
    /// Whether to replace the tables of another study in the folder. The runs of that study are
    /// kept.
    pub replace: bool,
}

impl Default for Options<'_> {
    fn default() -> Self {
        Options {
            out: None,
            threads: 0,
            max_memory: None,
            progress: &|_| {},
            watcher: None,
            build: standard(),
            stop: &|| false,
            replace: false,
        }
    }
}

pub struct Finished {
    pub points: Vec<Point>,
    pub results: Results,
    pub summary: Summary,
    pub claims: Vec<Judgement>,
    /// Clock for the results of all scenarios, with the date at which it shows 0 if the logs have
    /// dates.
    pub clock: Clock,
    pub warnings: Vec<String>,
    /// Error messages of failed runs and of failed writes of results, one sentence each.
    pub failures: Vec<String>,
}

/// Runs a study: expands it, runs what the store of `options.out` lacks, and writes the tables.
///
/// The folder gets the text of the study as `experiment.toml`, and its request as `asked.toml`. An
/// earlier version of the study is replaced with a warning, and keeps its runs. A study of another
/// name is refused unless `options.replace` is set.
///
/// ```
/// use std::path::Path;
/// use meshwork_lab::{Options, Study, run};
/// let text = "
///     machine = { topology = 'mesh', dims = [8, 8] }
///     replications = 3
///     [workload]
///     name = 'synthetic'
///     load = 0.4
///     sizes = 'uniform'
///     runtimes = { name = 'exponential', mean = 5.0 }
///     [measure]
///     jobs = 200
///     metrics = ['wait']
///     [sweep]
///     scheduler = ['fcfs', 'sjf']
/// ";
/// let study = Study::parse("text", text, Path::new(""), &[])?;
/// let finished = run(&study, &Options::default())?;
/// let wait = finished.summary.rows[1].metrics[0].1;
/// assert_eq!(wait.replications, 3);
/// assert!(wait.half_width.is_some());
/// # Ok::<(), meshwork_lab::Refused>(())
/// ```
pub fn run(study: &Study, options: &Options<'_>) -> Result<Finished, Refused> {
    let prepared = prepare(study, options.threads, options.max_memory, options.out.is_some())?;
    memory::check_results(study, &prepared.points, options.max_memory)?;
    let mut warnings = Vec::new();
    let open =
        |folder| prepared.open(study, folder, &options.build, options.replace, &mut warnings);
    let store = options.out.as_deref().map(open).transpose()?;
    let Prepared { points, inputs, files, .. } = prepared;
    let jobs = options.out.clone().filter(|_| !study.jobs.is_empty());
    if !study.jobs.is_empty() && jobs.is_none() {
        warnings.push(format!(
            "{}: `[output]` asks for one row per job, but there is no folder for it: give `--out DIR`",
            study.file
        ));
    }
    let kept =
        options.out.as_ref().and_then(|folder| Kept::of(folder, study.record, sample(study)));
    let mut runner = Runner {
        catalogue: &study.catalogue,
        points: &points,
        inputs: &inputs,
        replications: &study.replications,
        simulate: &|scenario, number, observer| simulated(scenario, number, &files, observer),
        build: &options.build,
        store,
        jobs: jobs.map(|folder| (folder, study.jobs.clone())),
        kept,
        progress: options.progress,
        watcher: options.watcher,
        stop: options.stop,
    };
    let results = runner.run(options.threads)?;
    let store = runner.store.take();
    warnings.extend(options.out.as_ref().and_then(|folder| outdated(folder, results.outdated)));
    let summary = Summary::of(study, &points, &results);
    let claims = claims::judge(study, &points, &results);
    let mut failures: Vec<String> = failed_runs(study, &summary).collect();
    failures.extend(results.store_error.clone());
    if let Some(folder) = options.out.as_ref().filter(|_| !results.stopped) {
        if let Some(store) = store {
            let settled = settle(study, &points, &inputs, &options.build, store);
            failures.extend(settled.err().map(|error| error.to_string()));
        }
        let written = [
            summary.write(folder),
            claims::write(&claims, folder),
            joboutput::write_index(folder, &study.jobs, &points, &results).map_err(Refused::from),
        ];
        failures.extend(written.into_iter().filter_map(|result| Some(result.err()?.0)));
    }
    let clock = Clock::shared(points.iter().zip(&inputs).map(|(point, input)| {
        Clock::of(study, &point.scenario, input.as_ref().and_then(|input| input.start.as_ref()))
    }));
    Ok(Finished { points, results, summary, claims, clock, warnings, failures })
}

/// Computes the results of a study whose runs have already ended. It runs nothing and writes
/// nothing.
pub fn again(study: &Study, results: Results) -> Result<Finished, Refused> {
    let mut points = expand(study)?;
    windows::open(study, &mut points, &Files::of(study))?;
    let summary = Summary::of(study, &points, &results);
    let claims = claims::judge(study, &points, &results);
    let failures = failed_runs(study, &summary).collect();
    let clock =
        points.first().map_or_else(Clock::default, |point| Clock::of(study, &point.scenario, None));
    Ok(Finished { points, results, summary, claims, clock, warnings: Vec::new(), failures })
}

/// Sorts the stored runs into their final order, and merges segment files into `runs.jsonl`.
fn settle(
    study: &Study,
    points: &[Point],
    inputs: &[Option<Input>],
    build: &str,
    store: Mutex<Store>,
) -> Result<(), StoreError> {
    let mut store = store.into_inner().unwrap_or_else(PoisonError::into_inner);
    if store.is_broken() {
        return Ok(());
    }
    let keys = |point: usize| {
        let digest = inputs[point].as_ref().map(Input::digest);
        PointKeys::of(&study.catalogue, &points[point], digest, build)
    };
    store.settle(order(study, points, keys))?;
    store.remove_segments();
    Ok(())
}

pub(crate) struct Prepared {
    pub(crate) points: Vec<Point>,
    pub(crate) inputs: Vec<Option<Input>>,
    pub(crate) files: Files,
    /// Logs that the study simulates in windows (periods), each with the time span of its jobs.
    pub(crate) spans: Vec<Span>,
}

impl Prepared {
    pub(crate) fn request(&self, study: &Study, build: &str) -> StudyRequest {
        StudyRequest {
            spans: self.spans.clone(),
            build: build.to_owned(),
            ..StudyRequest::of(study, &known_inputs(&self.points, &self.inputs))
        }
    }

    /// Opens the store of a results folder, and records there which study is run.
    pub(crate) fn open(
        &self,
        study: &Study,
        folder: &Path,
        build: &str,
        replace: bool,
        warnings: &mut Vec<String>,
    ) -> Result<Mutex<Store>, Refused> {
        if !replace {
            must_be_its_own(study, folder)?;
        }
        let store = Store::open(folder, build)?;
        warnings.extend_from_slice(store.warnings());
        warnings.extend(keep_study(study, folder)?);
        self.request(study, build).write(folder)?;
        Ok(Mutex::new(store))
    }
}

/// Makes a study's scenarios, and checks input files, the used parts of logs, and needed memory.
pub(crate) fn prepare(
    study: &Study,
    threads: usize,
    max_memory: Option<u64>,
    is_stored: bool,
) -> Result<Prepared, Refused> {
    memory::check_count(study, max_memory)?;
    let mut points = expand(study)?;
    memory::check_runs(study, &points, threads, max_memory)?;
    let files = Files::of(study);
    let inputs = inputs(study, &points, &files, is_stored)?;
    memory::check_inputs(study, &points, &files, threads, max_memory)?;
    check_tables(study, &points, &files)?;
    let spans = windows::open(study, &mut points, &files)?;
    cuts::check(study, &points, &files)?;
    Ok(Prepared { points, inputs, files, spans })
}

/// Warning that stored runs of another build cannot be used; `None` if `count` is 0.
pub(crate) fn outdated(folder: &Path, count: u64) -> Option<String> {
    let runs = match count {
        0 => return None,
        1 => "1 run of this study was made".to_owned(),
        count => format!("{} runs of this study were made", crate::text::number::count(count)),
    };
    Some(format!(
        "{}: {runs} by another build of the program, whose code differs: what it gave is kept there, but is not used, \
         and was run again",
        folder.join(RUNS).display()
    ))
}

/// Input file of each scenario, with its digest only if results are stored.
fn inputs(
    study: &Study,
    points: &[Point],
    files: &Files,
    stored: bool,
) -> Result<Vec<Option<Input>>, Refused> {
    let mut known: BTreeMap<&str, Input> = BTreeMap::new();
    let mut inputs = Vec::with_capacity(points.len());
    for (index, point) in points.iter().enumerate() {
        let trace = trace(study, index, point, files, stored)?;
        let Some(path) = point.scenario.input_path() else {
            let of_trace = |trace| Input {
                path: String::new(),
                blake3: String::new(),
                start: None,
                trace: Some(trace),
            };
            inputs.push(trace.map(of_trace));
            continue;
        };
        if !known.contains_key(path) {
            let read =
                if stored { files.digest(path) } else { files.check(path).map(|()| String::new()) };
            let blake3 =
                read.map_err(|error| expand::missing_input(study, index, error.to_string()))?;
            let located = files.locate(path);
            let whole = std::path::absolute(&located).unwrap_or(located);
            let name = point.scenario.table()["workload"]["name"].as_str();
            // A file that cannot be read is reported when the study is run.
            let start = match name {
                Some("swf") => files
                    .text(path)
                    .and_then(|text| header(text, path))
                    .map(|header| LogStart::of(&header)),
                Some("table") => files.rows(path).map(|rows| first_date(rows).map(LogStart::at)),
                _ => Ok(None),
            };
            let start = start.ok().flatten();
            let path_of = whole.display().to_string();
            known.insert(path, Input { path: path_of, blake3, start, trace: None });
        }
        inputs.push(known.get(path).map(|input| Input { trace, ..input.clone() }));
    }
    Ok(inputs)
}

/// Checks that at least one table of jobs is readable, if the study has no other jobs.
///
/// If all tables are wrong, no run can finish. If only some of them are wrong, the others are run.
///
/// # Errors
/// The first problem that was found in a table.
fn check_tables(study: &Study, points: &[Point], files: &Files) -> Result<(), Refused> {
    let (mut seen, mut first) = (BTreeSet::new(), None);
    for (index, point) in points.iter().enumerate() {
        let is_table = point.scenario.table()["workload"]["name"].as_str() == Some("table");
        let Some(path) = point.scenario.input_path().filter(|_| is_table) else { return Ok(()) };
        if !seen.insert(path) {
            continue;
        }
        match files.rows(path).and_then(|rows| Listed::read(rows, path)) {
            Ok(_) => return Ok(()),
            Err(WorkloadError(says)) => first = first.or(Some((index, says))),
        }
    }
    first.map_or(Ok(()), |(index, says)| {
        Err(expand::refused(study, index, &Problem::new("workload.path", says)))
    })
}

/// Date of the earliest submission in a table of jobs; `None` unless all rows have dates.
fn first_date(rows: Rows) -> Option<f64> {
    let mut first = None;
    for row in rows {
        let submit = row.ok()?.submit.filter(|submit| submit.is_date)?;
        first = first.into_iter().chain([submit.at]).reduce(f64::min);
    }
    first
}

fn trace(
    study: &Study,
    index: usize,
    point: &Point,
    files: &Files,
    stored: bool,
) -> Result<Option<Trace>, Refused> {
    let Some(path) = point.scenario.trace_path() else { return Ok(None) };
    let read = if stored { files.digest(path) } else { files.check(path).map(|()| String::new()) };
    let blake3 = read.map_err(|error| expand::missing_trace(study, index, error.to_string()))?;
    let located = files.locate(path);
    let whole = std::path::absolute(&located).unwrap_or(located);
    Ok(Some(Trace { path: whole.display().to_string(), blake3 }))
}

/// Records in a results folder that a study cannot be run, and why. The report shows the reason.
pub fn leave_out(study: &Study, folder: &Path, why: &str) -> Result<(), Refused> {
    if folder.join(RUNS).exists() {
        return Ok(());
    }
    must_be_its_own(study, folder)?;
    std::fs::create_dir_all(folder).map_err(|error| FileError::making(folder, &error))?;
    keep_study(study, folder)?;
    let left_out = Some(why.to_owned());
    StudyRequest { left_out, ..StudyRequest::of(study, &BTreeMap::new()) }.write(folder)
}

fn known_inputs(points: &[Point], inputs: &[Option<Input>]) -> BTreeMap<String, Input> {
    let mut known = BTreeMap::new();
    for (point, input) in points.iter().zip(inputs) {
        let Some(input) = input else { continue };
        if let Some(path) = point.scenario.input_path() {
            known.insert(path.to_owned(), Input { trace: None, ..input.clone() });
        }
        if let (Some(path), Some(Trace { path: place, blake3 })) =
            (point.scenario.trace_path(), input.trace.clone())
        {
            known.insert(path.to_owned(), Input { path: place, blake3, start: None, trace: None });
        }
    }
    known
}

/// Start of an error message if the folder holds a study with another name; `None` otherwise.
pub(crate) fn another(study: &Study, folder: &Path) -> Result<Option<String>, Refused> {
    let other = StudyRequest::name_in(folder)?.filter(|other| *other != study.name);
    let (shown, own) = (folder.display(), &study.name);
    Ok(other.map(|other| {
        format!("{shown}: this folder holds the study `{other}`, and this one is `{own}`")
    }))
}

/// Fails if the results folder holds another study, or tables without a study.
fn must_be_its_own(study: &Study, folder: &Path) -> Result<(), Refused> {
    if let Some(says) = another(study, folder)? {
        return Err(Refused(format!(
            "{says}: give another folder, or `--replace` (from Python `replace=True`) to have the \
             tables of this one there and keep all runs"
        )));
    }
    if folder.join(EXPERIMENT).exists() || folder.join(RUNS).exists() {
        return Ok(());
    }
    match WHOLE.iter().find(|name| folder.join(name).exists()) {
        Some(name) => Err(Refused(format!(
            "{}: the file {name} in this folder is of no study: give another folder, or \
             `--replace` (from Python `replace=True`) to lose it",
            folder.display()
        ))),
        None => Ok(()),
    }
}

/// Writes the text of the study to `experiment.toml`. Returns a warning if this replaces another
/// study, or an earlier text of the same study.
fn keep_study(study: &Study, folder: &Path) -> Result<Option<String>, Refused> {
    let path = folder.join(EXPERIMENT);
    let before = std::fs::read(&path).ok();
    if before.as_deref() == Some(study.source.as_bytes()) {
        return Ok(None);
    }
    write_whole(&path, study.source.as_bytes())?;
    Ok(before.map(|_| {
        format!(
            "{}: this folder held another study, or an earlier form of this one: its runs are kept, and \
             the tables now show {}",
            folder.display(),
            study.file
        )
    }))
}

fn failed_runs(study: &Study, summary: &Summary) -> impl Iterator<Item = String> {
    summary.rows.iter().flat_map(|row| {
        let failed = row.failures.iter();
        failed.map(|(replication, message)| failure(study, &row.swept, *replication, message))
    })
}

/// Sentence on a failed run: its scenario, its replication from 1, and the error message.
pub(crate) fn failure(
    study: &Study,
    swept: &[(String, Value)],
    replication: u64,
    message: &str,
) -> String {
    let swept = label(swept);
    let place = if swept.is_empty() { String::new() } else { format!("{swept}, ") };
    let number = replication + 1;
    format!("{}: the run of {place}replication {number} failed: {message}", study.file)
}
