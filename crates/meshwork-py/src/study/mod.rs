//! Studies that are read from a file, a text or a mapping.

pub(crate) mod results;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use meshwork_lab::inputs::Files;
use meshwork_lab::study::expand::{Point, count, expand};
use meshwork_lab::study::set;
use meshwork_lab::{Options, Refused, Study as Lab};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use toml::Value;

use crate::error::{failed, refused, wrong};
use crate::guard::guarded;
use crate::gym::{Envs, Script};
use crate::running::{self, apart};
use crate::strategy::catalogue;
use crate::study::results::Results;
use crate::sweep;
use crate::values::{from_table, swept, to_table, to_toml};

/// Name, used in messages, of a study that has no file.
const NAMELESS: &str = "study";

/// A study that has been read.
#[pyclass(frozen, module = "meshwork._meshwork")]
pub(crate) struct Study {
    study: Mutex<Lab>,
    /// Whether the study has no file, so that messages omit its name.
    without_file: bool,
    running: AtomicUsize,
}

impl Study {
    pub(crate) fn of(read: Result<Lab, Refused>, without_file: bool) -> PyResult<Study> {
        let study = read.map_err(|error| refused(&error, without_file.then_some(NAMELESS)))?;
        Ok(Study { study: Mutex::new(study), without_file, running: AtomicUsize::new(0) })
    }

    pub(crate) fn copy(&self) -> Lab {
        self.study.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn without_file(&self) -> bool {
        self.without_file
    }

    fn refused(&self, error: &Refused) -> PyErr {
        refused(error, self.without_file.then_some(NAMELESS))
    }

    fn points(&self, study: &Lab) -> PyResult<Vec<Point>> {
        guarded(|| expand(study))?.map_err(|error| self.refused(&error))
    }

    /// Kinds and names of the registered strategies that a study uses, and the build with them.
    fn strategies(&self, study: &Lab) -> PyResult<(Vec<(&'static str, &'static str)>, String)> {
        let points = self.points(study)?;
        let named = catalogue::named(points.iter().map(|point| point.scenario.table()));
        let build = catalogue::build_with(named.iter().map(|(_, _, digest)| digest.as_str()));
        Ok((named.into_iter().map(|(kind, name, _)| (kind, name)).collect(), build))
    }
}

/// Text of a setting such as `workload.load=0.7`, as on the command line.
fn setting(key: &str, value: &Value) -> String {
    format!("{key}={value}")
}

fn settings(given: &Bound<'_, PyDict>) -> PyResult<Vec<String>> {
    let mut settings = Vec::new();
    for (key, value) in given {
        let key: String = key.extract()?;
        settings.push(setting(&key, &to_toml(&value, &key)?));
    }
    Ok(settings)
}

#[pymethods]
impl Study {
    /// Reads a study file.
    #[staticmethod]
    fn read(path: PathBuf, set: &Bound<'_, PyDict>) -> PyResult<Study> {
        Study::of(Lab::read_in(&catalogue::current(), &path, &settings(set)?), false)
    }

    /// Reads the text of a study; relative paths in it refer to `folder`.
    #[staticmethod]
    fn parse(text: &str, folder: PathBuf, set: &Bound<'_, PyDict>) -> PyResult<Study> {
        Study::of(
            Lab::parse_in(&catalogue::current(), NAMELESS, text, &folder, &settings(set)?),
            true,
        )
    }

    /// Reads a study from a mapping. `found` has, for each input file, the paths that it may have.
    #[staticmethod]
    fn from_mapping(
        document: &Bound<'_, PyDict>,
        folder: PathBuf,
        found: BTreeMap<String, Vec<PathBuf>>,
    ) -> PyResult<Study> {
        let table = to_table(document, "a study")?;
        // In TOML, a plain key after a table would belong to that table.
        let (tables, plain): (Vec<_>, Vec<_>) =
            table.into_iter().partition(|(_, value)| is_table(value));
        let ordered: toml::Table = plain.into_iter().chain(tables).collect();
        let text = ordered.to_string();
        let mut read = Lab::parse_in(&catalogue::current(), NAMELESS, &text, &folder, &[]);
        if let Ok(study) = &mut read {
            study.found = found;
        }
        Study::of(read, true)
    }

    /// State for pickling.
    ///
    /// It consists of the name of the file, whether there is no file, the study's text, its folder,
    /// the settings, and the possible paths of each input file.
    #[expect(clippy::type_complexity, reason = "it goes to `of_state` as it is")]
    fn state(
        &self,
    ) -> (String, bool, String, PathBuf, Vec<String>, BTreeMap<String, Vec<PathBuf>>) {
        let study = self.copy();
        let settings = study.settings.into_iter().map(|setting| setting.text).collect();
        (study.file, self.without_file, study.source, study.folder, settings, study.found)
    }

    /// Restores a pickled study.
    #[staticmethod]
    fn of_state(
        file: &str,
        without_file: bool,
        source: &str,
        folder: PathBuf,
        settings: Vec<String>,
        found: BTreeMap<String, Vec<PathBuf>>,
    ) -> PyResult<Study> {
        let mut read = Lab::parse_in(&catalogue::current(), file, source, &folder, &settings);
        if let Ok(study) = &mut read {
            study.found = found;
        }
        Study::of(read, without_file)
    }

    /// Kinds and names of the strategies registered in Python that the study uses.
    fn named(&self) -> PyResult<Vec<(&'static str, &'static str)>> {
        Ok(self.strategies(&self.copy())?.0)
    }

    #[getter]
    fn name(&self) -> String {
        self.copy().name
    }

    #[getter]
    fn description(&self) -> Option<String> {
        self.copy().description
    }

    #[getter]
    fn toml(&self) -> String {
        self.copy().source
    }

    fn __len__(&self) -> PyResult<usize> {
        let count = count(&self.copy()).map_err(|error| self.refused(&error))?;
        usize::try_from(count).map_err(wrong)
    }

    /// All scenarios, each as a pair of mappings.
    ///
    /// The first has the swept values. The second is the whole scenario, with every default filled
    /// in.
    fn scenarios<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let list = PyList::empty(py);
        for point in self.points(&self.copy())? {
            list.append((swept(py, &point.swept)?, from_table(py, point.scenario.table())?))?;
        }
        Ok(list)
    }

    /// Overrides a key of the study, as `--set` does.
    fn set(&self, key: &str, value: &Bound<'_, PyAny>) -> PyResult<()> {
        if self.running.load(Ordering::SeqCst) > 0 {
            return Err(failed(format!(
                "the study runs, so `{key}` cannot be set now: wait until it has ended, or set it on a copy of the study"
            )));
        }
        let text = setting(key, &to_toml(value, key)?);
        set::assignment(&text).map_err(wrong)?;
        let mut study = self.study.lock().unwrap_or_else(PoisonError::into_inner);
        let mut texts: Vec<String> =
            study.settings.iter().map(|setting| setting.text.clone()).collect();
        texts.push(text);
        let read =
            Lab::parse_in(&catalogue::current(), &study.file, &study.source, &study.folder, &texts);
        let mut new = read.map_err(|error| self.refused(&error))?;
        new.found = std::mem::take(&mut study.found);
        *study = new;
        Ok(())
    }

    /// Makes reinforcement learning environments for the only scenario of the study.
    fn envs(
        &self,
        count: usize,
        threads: usize,
        jobs: u64,
        window: Option<(usize, usize)>,
        masks: bool,
    ) -> PyResult<Envs> {
        let study = self.copy();
        let points = self.points(&study)?;
        let [point] = &points[..] else {
            return Err(wrong(format!(
                "an environment is one scenario, and this study has {}",
                points.len()
            )));
        };
        let files = Arc::new(Files::of(&study));
        let script = Script { scenario: point.scenario.clone(), files, jobs };
        Envs::new(&script, count, threads, window, masks)
    }

    /// Begins a sweep in a folder, or resumes it.
    ///
    /// Returns three values. The first is the path of the file that assigns the unfinished runs to
    /// shards; it is `None` if no run is unfinished. The second is the number of units in this
    /// file: a unit is a run, or all runs of a scenario. The third has the kinds and names of the
    /// Python strategies that the study needs.
    fn begin_sweep(
        &self,
        py: Python<'_>,
        folder: PathBuf,
        max_memory: Option<u64>,
    ) -> PyResult<(Option<PathBuf>, usize, Vec<(&'static str, &'static str)>)> {
        let mut study = self.copy();
        study.catalogue = catalogue::current();
        let (named, build) = self.strategies(&study)?;
        let begun = py.detach(|| apart(|| sweep::begin(&study, &folder, &build, max_memory)))?;
        let (deal, parts) = begun.map_err(|error| self.refused(&Refused(error)))?;
        Ok((deal, parts, named))
    }

    fn __copy__(&self) -> Study {
        Study {
            study: Mutex::new(self.copy()),
            without_file: self.without_file,
            running: AtomicUsize::new(0),
        }
    }

    /// Runs the study, and returns its results.
    #[allow(clippy::too_many_arguments, reason = "they are keywords in Python")]
    fn run(
        &self,
        py: Python<'_>,
        threads: usize,
        out: Option<PathBuf>,
        replace: bool,
        max_memory: Option<u64>,
        tell: Option<Py<PyAny>>,
        observer: Option<Py<PyAny>>,
    ) -> PyResult<Results> {
        let mut study = self.copy();
        // Strategies may have been registered again since the study was read.
        study.catalogue = catalogue::current();
        let (_, build) = self.strategies(&study)?;
        self.running.fetch_add(1, Ordering::SeqCst);
        let options = Options {
            out,
            replace,
            threads,
            max_memory,
            build: build.clone(),
            ..Options::default()
        };
        let finished = running::run(py, &study, options, tell.as_ref(), observer.as_ref());
        self.running.fetch_sub(1, Ordering::SeqCst);
        let finished = finished?.map_err(|error| self.refused(&error))?;
        Ok(Results::new(study, self.without_file, finished, build))
    }
}

fn is_table(value: &Value) -> bool {
    match value {
        Value::Table(_) => true,
        Value::Array(items) => items.iter().any(Value::is_table),
        _ => false,
    }
}
