//! Study files in TOML, which are parsed strictly: an unknown or misplaced key is an error.

pub mod asked;
pub mod axes;
mod claims;
pub mod clock;
pub mod expand;
pub mod input;
mod keys;
mod lists;
pub mod locate;
pub mod papers;
pub mod sample;
pub mod schema;
pub mod set;
pub mod slurm;
pub mod words;

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use meshwork::catalogue::Catalogue;
use meshwork::registry::{self, Param, Problem, join, similar};
use meshwork::scenario;
use toml::{Table, Value};

use crate::files::{FileError, MAX_TEXT, read_whole};
use crate::inputs::{Companions, Files};
use crate::study::asked::{EXPERIMENT, StudyRequest};
use crate::study::locate::{Lines, line_at};
use crate::study::set::{assignment, plain, set};

pub use crate::refused::Refused;
pub(crate) use crate::text::table;
pub use claims::{ClaimCheck, Needed, PaperClaim, Relation, SweptValues, Test};
use keys::{MACHINE, job_formats, replications, take_table};
pub use keys::{MAX_REPLICATIONS, PARAMS, WINDOWS};

/// Keys that a study cannot have if it fixes the number of replications or uses windows of a log.
const PRECISION: [&str; 4] = ["precision", "precision_of", "min_replications", "max_replications"];

/// Keys of a study that are part of its scenario. All other keys control how scenarios are run.
pub const SCENARIO_KEYS: &[&str] = &[
    "seed",
    "allocator",
    "order",
    "within",
    "scheduler",
    "passes",
    "selector",
    "sizing",
    "network",
    "failures",
    "energy",
    "machine",
    "workload",
    "measure",
];

#[derive(Clone, Debug, PartialEq)]
pub enum Replications {
    Fixed(u64),
    /// Replications are added until the confidence interval of a metric's mean is narrow enough.
    Precision {
        /// Relative half width (half width divided by mean) at which no more replications are
        /// added.
        target: f64,
        /// Minimum number of replications, at least 2. With fewer, no interval is computed.
        least: u64,
        most: u64,
        of: String,
    },
    /// The replications are windows of a log. Each window is one run.
    Windows {
        length: f64,
        /// Time between the starts of consecutive windows, in the time unit of the log.
        stride: f64,
    },
}

#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// Dotted path of the key, as in `workload.load`.
    pub key: String,
    /// Values of the swept key. There is at least one.
    pub values: Vec<Value>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Baseline {
    pub key: String,
    pub value: Value,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum JobFormat {
    Csv,
    Parquet,
    /// CSV with the columns of Batsim's `jobs.csv`, in the file `jobs/<key>.batsim.csv`.
    Batsim,
}

impl JobFormat {
    pub fn name(self) -> &'static str {
        match self {
            JobFormat::Csv => "csv",
            JobFormat::Parquet => "parquet",
            JobFormat::Batsim => "batsim",
        }
    }

    pub fn ending(self) -> &'static str {
        match self {
            JobFormat::Batsim => "batsim.csv",
            JobFormat::Csv | JobFormat::Parquet => self.name(),
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Setting {
    pub text: String,
    pub key: String,
    pub value: Value,
}

/// Parsed study, whose scenario keys are checked only when scenarios are built from them.
#[derive(Clone, Debug)]
pub struct Study {
    pub file: String,
    pub source: String,
    /// Folder of the study file, in which relative paths are looked up first.
    pub folder: PathBuf,
    pub name: String,
    pub description: Option<String>,
    pub replications: Replications,
    pub scenario: Table,
    pub sweep: Vec<Axis>,
    /// Baselines of the study: values of swept keys with which the other values are compared.
    pub compare: Vec<Baseline>,
    pub jobs: Vec<JobFormat>,
    /// Whether the first replication of every scenario is recorded, so that it can be replayed.
    ///
    /// If `false`, no run is recorded. If `None`, only a sample of up to ten scenarios is recorded.
    pub record: Option<bool>,
    /// Paper that the study partly reproduces, by its name on the command line.
    pub paper: Option<String>,
    /// Figures or tables of the paper that the study reproduces, separated by `, `.
    pub figure: Option<String>,
    /// Advice, for error messages, on where to obtain the log that the study reads.
    pub obtain: Option<String>,
    /// Unit in which times are shown, if the study sets it: see [`clock`].
    pub time_unit: Option<String>,
    /// Settings in the table `[quick]` of the study, which make its runs shorter.
    pub quick: Vec<String>,
    pub claims: Vec<PaperClaim>,
    /// Possible paths of each input file, if the study is the `experiment.toml` of a results
    /// folder.
    pub found: BTreeMap<String, Vec<PathBuf>>,
    pub settings: Vec<Setting>,
    /// Catalogue of the strategies that scenarios of the study may name.
    pub catalogue: Catalogue,
    /// Texts of files, such as a topology, that become part of scenarios when they are built.
    pub(crate) companions: Companions,
    lines: Lines,
}

impl Files {
    /// Gives access to the files that a study names. The study may lie in a results folder.
    pub fn of(study: &Study) -> Files {
        Files::with(&study.folder, study.found.clone(), Arc::clone(&study.companions))
    }
}

impl Study {
    /// Reads a study file with names from a catalogue, and applies `KEY=VALUE` settings.
    pub fn read_in(
        catalogue: &Catalogue,
        path: &Path,
        settings: &[String],
    ) -> Result<Study, Refused> {
        let file = path.display().to_string();
        let bytes = read_whole(&file, path, MAX_TEXT).map_err(|error| unread(path, &error))?;
        if let Some(command) = command_for(path) {
            return Err(Refused(format!(
                "{file}: this is no study, but a log: `{command} {file}`"
            )));
        }
        let source = String::from_utf8(bytes).map_err(|error| {
            let line = 1 + error.as_bytes()[..error.utf8_error().valid_up_to()]
                .iter()
                .filter(|&&byte| byte == b'\n')
                .count();
            Refused(format!("{file}:{line}: a study is text in UTF-8, and this line is not"))
        })?;
        let folder = path.parent().unwrap_or(Path::new("")).to_path_buf();
        let mut study = Study::parse_in(catalogue, &file, &source, &folder, settings)?;
        if path.file_name().is_some_and(|name| name == EXPERIMENT) {
            study.came_from(&StudyRequest::read(&folder)?.unwrap_or_default());
        }
        Ok(study)
    }

    /// Parses the text of a study, whose strategies come from `catalogue`. Error messages call the
    /// text `file`.
    pub fn parse_in(
        catalogue: &Catalogue,
        file: &str,
        source: &str,
        folder: &Path,
        settings: &[String],
    ) -> Result<Study, Refused> {
        let mut document: Table = source.parse().map_err(|e| not_toml(file, source, &e))?;
        let mut study = Study {
            file: file.to_owned(),
            source: source.to_owned(),
            folder: folder.to_path_buf(),
            name: Path::new(file)
                .file_stem()
                .map_or_else(|| file.to_owned(), |stem| stem.to_string_lossy().into_owned()),
            description: None,
            replications: Replications::Fixed(1),
            scenario: Table::new(),
            sweep: Vec::new(),
            compare: Vec::new(),
            jobs: Vec::new(),
            record: None,
            paper: None,
            figure: None,
            obtain: None,
            time_unit: None,
            quick: Vec::new(),
            claims: Vec::new(),
            found: BTreeMap::new(),
            settings: Vec::new(),
            catalogue: catalogue.clone(),
            companions: Companions::default(),
            lines: Lines::of(source),
        };
        for text in settings {
            let (key, value) = assignment(text)?;
            // The command line overrides a key of the file that excludes this one.
            let excluded: &[&str] = match key.as_str() {
                "replications" => &[&PRECISION[..], &["windows"]].concat(),
                "precision" => &["replications", "windows"],
                "windows" | "windows.length" | "windows.stride" => {
                    &[&PRECISION[..], &["replications"]].concat()
                }
                _ => &[],
            };
            document.retain(|key, _| !excluded.contains(&key));
            // For most workloads, `load` and `scale.load` mean the same.
            if key == "workload.load" {
                let scale = document.get_mut("workload").and_then(|own| own.get_mut("scale"));
                scale.and_then(Value::as_table_mut).map(|scale| scale.remove("load"));
            }
            // In `[sweep]` and `[compare]`, a dotted path is a single key, so it is quoted.
            let plain = plain(&key);
            let path = ["sweep", "compare"]
                .iter()
                .find_map(|table| {
                    let inner = plain.strip_prefix(table)?.strip_prefix('.')?;
                    Some(format!("{table}.\"{inner}\""))
                })
                .unwrap_or_else(|| key.clone());
            set(&mut document, &path, value.clone())
                .map_err(|problem| Refused(format!("--set {text}: {problem}")))?;
            study.settings.push(Setting { text: text.clone(), key, value });
        }
        study.fill(document).map_err(|problem| study.refused(&problem))?;
        Ok(study)
    }

    /// Maximum number of replications of a scenario. For windows of a log, it is
    /// [`MAX_REPLICATIONS`], because the log may not have been read yet.
    pub fn most_replications(&self) -> u64 {
        match self.replications {
            Replications::Fixed(number) => number,
            Replications::Precision { most, .. } => most,
            Replications::Windows { .. } => MAX_REPLICATIONS,
        }
    }

    /// Names of the figures or tables of a paper that the study reproduces.
    ///
    /// ```
    /// use meshwork_lab::Study;
    /// let text = "figure = '1, 4'\nmachine = { topology = 'mesh', dims = [4] }\nworkload = { name = 'lublin', jobs = 9 }";
    /// let study = Study::parse("study.toml", text, "".as_ref(), &[]).unwrap();
    /// assert_eq!(study.figures().collect::<Vec<_>>(), ["1", "4"]);
    /// ```
    pub fn figures(&self) -> impl Iterator<Item = &str> {
        self.figure.iter().flat_map(|figures| figures.split(", "))
    }

    /// Converts a problem of a key into a sentence. It begins with the place where the key was set.
    pub fn refused(&self, problem: &Problem) -> Refused {
        let hint = hint(problem);
        Refused(match self.setting(&problem.path) {
            Some(setting) => format!("--set {}: {problem}{hint}", setting.text),
            None => self.at_line(&problem.path, problem) + hint,
        })
    }

    /// Converts a problem to a sentence that begins with the study file's name and a line number.
    ///
    /// The line is the one of the key at `path`.
    pub(crate) fn at_line(&self, path: &str, problem: &Problem) -> String {
        match self.lines.line(path) {
            Some(line) => format!("{}:{line}: {problem}", self.file),
            None => format!("{}: {problem}", self.file),
        }
    }

    /// The last `--set` option that sets the key at `path`, either directly or as part of a table.
    pub(crate) fn setting(&self, path: &str) -> Option<&Setting> {
        self.settings.iter().rev().find(|setting| is_within(path, &plain(&setting.key)))
    }

    /// Restores the name of a study that is read from a results folder, and the paths of its input
    /// files.
    fn came_from(&mut self, asked: &StudyRequest) {
        self.found = asked.found(&self.folder);
        let names_itself =
            self.source.parse::<Table>().is_ok_and(|table| table.contains_key("name"))
                || self.setting("name").is_some();
        let stem = || Some(Path::new(&asked.file).file_stem()?.to_string_lossy().into_owned());
        if let Some(name) = asked.name.clone().or_else(stem).filter(|_| !names_itself) {
            self.name = name;
        }
    }

    fn fill(&mut self, mut document: Table) -> Result<(), Problem> {
        let tables = ["sweep", "compare", "output", "quick", "claim"];
        let params: Vec<&Param> =
            PARAMS.iter().copied().chain(scenario::PARAMS).chain([&MACHINE]).collect();
        registry::refuse_unknown(&self.catalogue, "", &params, &document, &tables)?;
        for &key in SCENARIO_KEYS {
            if let Some(value) = document.remove(key) {
                self.scenario.insert(key.to_owned(), value);
            }
        }
        let sweep = take_table(&mut document, "sweep")?;
        let compare = take_table(&mut document, "compare")?;
        let output = take_table(&mut document, "output")?;
        let quick = take_table(&mut document, "quick")?;
        let claims = document.remove("claim");
        let params = registry::resolve("", PARAMS, &document, &[])?;
        if let Some(name) = params.get_text("name") {
            name.clone_into(&mut self.name);
        }
        self.description = params.get_text("description").map(str::to_owned);
        self.paper = params.get_text("paper").map(str::to_owned);
        self.figure = params.get_text("figure").map(str::to_owned);
        self.obtain = params.get_text("obtain").map(str::to_owned);
        self.time_unit = params.get_text("time_unit").map(str::to_owned);
        self.quick = quick.iter().map(|(key, value)| format!("{key}={value}")).collect();
        self.record = params.has("record").then(|| params.flag("record"));
        self.replications = replications(&params, &self.scenario)?;
        self.read_sweep("", &sweep)?;
        for axis in &mut self.sweep {
            let pinned = self.settings.iter().rev().find(|setting| plain(&setting.key) == axis.key);
            if let Some(setting) = pinned {
                axis.values = vec![setting.value.clone()];
            }
        }
        self.read_compare("", &compare)?;
        self.jobs = job_formats(output)?;
        self.claims =
            claims::read(&self.catalogue, claims, &self.sweep, !self.settings.is_empty())?;
        Ok(())
    }

    /// Reads `[sweep]`: `"workload.load" = […]` and `workload.load = […]` are equivalent.
    fn read_sweep(&mut self, path: &str, table: &Table) -> Result<(), Problem> {
        for (key, value) in table {
            let key = join(path, key);
            let at = join("sweep", &key);
            match value {
                Value::Table(inner) => self.read_sweep(&key, inner)?,
                Value::Array(values) if !values.is_empty() => {
                    if self.sweep.iter().any(|axis| axis.key == key) {
                        return Err(Problem::new(at, format!("`{key}` is swept twice")));
                    }
                    self.sweep.push(Axis { key, values: values.clone() });
                }
                other => {
                    let message =
                        format!("`{at}` is {other}, but must be a list of at least one value");
                    return Err(Problem::new(at, message));
                }
            }
        }
        Ok(())
    }

    /// Whether settings such as those of `[quick]` change the swept values.
    pub fn sets_sweep(&self) -> bool {
        self.settings
            .iter()
            .map(|setting| plain(&setting.key))
            .any(|key| is_within(&key, "sweep") || self.sweep.iter().any(|axis| axis.key == key))
    }

    /// Whether a `--set` option on the command line changes the study's table `[compare]`.
    fn sets_compare(&self) -> bool {
        self.settings.iter().any(|setting| is_within(&plain(&setting.key), "compare"))
    }

    fn read_compare(&mut self, path: &str, table: &Table) -> Result<(), Problem> {
        for (key, value) in table {
            let key = join(path, key);
            let at = join("compare", &key);
            if let Some(axis) = self.sweep.iter().find(|axis| axis.key == key) {
                if !axis.values.iter().any(|swept| same(swept, value)) {
                    // A setting that replaces the swept values leaves nothing to compare.
                    let mut set = self.settings.iter().map(|setting| plain(&setting.key));
                    if set.any(|set| set == axis.key) && !self.sets_compare() {
                        continue;
                    }
                    let values: Vec<String> = axis.values.iter().map(Value::to_string).collect();
                    let message = format!(
                        "`{at}` is {value}, but must be one of the swept values of `{key}`: {}",
                        values.join(", ")
                    );
                    return Err(Problem::new(at, message));
                }
                self.compare.push(Baseline { key, value: value.clone() });
            } else if let Value::Table(inner) = value {
                self.read_compare(&key, inner)?;
            } else {
                let swept: Vec<&str> = self.sweep.iter().map(|axis| axis.key.as_str()).collect();
                let known = if swept.is_empty() { "nothing".to_owned() } else { swept.join(", ") };
                let message = format!("`{key}` is compared but not swept: `[sweep]` holds {known}");
                return Err(Problem::new(at, message));
            }
        }
        Ok(())
    }
}

impl fmt::Display for Study {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

/// Whether a dotted path equals another one, or leads to a key inside the value at the other one.
pub(crate) fn is_within(path: &str, around: &str) -> bool {
    path.strip_prefix(around).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
}

pub(crate) fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Integer(n) => Some(*n as f64),
        Value::Float(n) => Some(*n),
        _ => None,
    }
}

/// Whether two values in a study are equal. The values `1` and `1.0` are equal.
pub fn same(a: &Value, b: &Value) -> bool {
    match (number(a), number(b)) {
        (Some(a), Some(b)) => a.total_cmp(&b).is_eq(),
        _ => a == b,
    }
}

/// Command that can read a file, guessed from the file's name. `None` if the file may be a study.
///
/// ```
/// use meshwork_lab::study::command_for;
/// assert_eq!(command_for("log.swf.gz".as_ref()), Some("meshwork replay"));
/// assert_eq!(command_for("sacct.txt".as_ref()), Some("meshwork ops import --sacct"));
/// assert_eq!(command_for("study.toml".as_ref()), None);
/// ```
pub fn command_for(path: &Path) -> Option<&'static str> {
    let name = path.file_name()?.to_string_lossy().to_lowercase();
    let plain = name.strip_suffix(".gz").unwrap_or(&name);
    let ends_with = |endings: &[&str]| endings.iter().any(|ending| plain.ends_with(ending));
    if ends_with(&[".swf", ".csv", ".parquet"]) {
        return Some("meshwork replay");
    }
    (plain.contains("sacct") && !ends_with(&[".toml"])).then_some("meshwork ops import --sacct")
}

const MAX_SHOWN: usize = 60;

fn not_toml(file: &str, source: &str, error: &toml::de::Error) -> Refused {
    let breaks: Vec<usize> = source.match_indices('\n').map(|(at, _)| at).collect();
    let place = error.span().map_or_else(
        || file.to_owned(),
        |span| format!("{file}:{}", line_at(span.start.min(source.len()), &breaks)),
    );
    let message = error.message().trim().replace('\n', "; ");
    let shown = error.span().map_or_else(String::new, |span| {
        let at = source.floor_char_boundary(span.start);
        let begin = source[..at].rfind('\n').map_or(0, |newline| newline + 1);
        let line = source[begin..].lines().next().unwrap_or_default();
        let column = source[begin..at].chars().count() + 1;
        let text: String = line.chars().take(MAX_SHOWN).collect();
        let rest = if text.len() < line.len() { "…" } else { "" };
        format!(", at column {column} of `{}{rest}`", text.trim_end())
    });
    Refused(format!("{place}: this is not TOML: {message}{shown}"))
}

/// Advice on where lists of values belong, which follows the sentence on a problem. It may be
/// empty.
pub(crate) fn hint(problem: &Problem) -> &'static str {
    let is_list = problem.message.starts_with(&format!("`{}` is [", problem.path));
    let is_one = problem.message.contains("but must be") && !problem.message.contains("list");
    if is_list && is_one { "; lists of values to compare belong below `[sweep]`" } else { "" }
}

/// Error for the file of a study that cannot be read, with a hint at what was meant.
fn unread(path: &Path, error: &FileError) -> Refused {
    let meant = match error {
        FileError::IsFolder(file) if path.join(EXPERIMENT).is_file() => {
            return Refused(format!(
                "{file}: this is a folder of results, but must be the file of a study: `meshwork report {file}` \
                 writes a page of the results"
            ));
        }
        FileError::Missing(_) => neighbour(path),
        _ => None,
    };
    let meant =
        meant.map_or_else(String::new, |meant| format!(" (did you mean `{}`?)", meant.display()));
    Refused(format!("{error}{meant}"))
}

/// Study with the name most similar to the name of a missing file, in the same folder.
fn neighbour(path: &Path) -> Option<PathBuf> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let files = std::fs::read_dir(folder.unwrap_or(Path::new("."))).ok()?.flatten();
    let studies = files
        .map(|file| file.path())
        .filter(|file| file.extension().is_some_and(|own| own == "toml"));
    let mut stems: Vec<String> =
        studies.filter_map(|file| Some(file.file_stem()?.to_str()?.to_owned())).collect();
    stems.sort_unstable();
    let stems: Vec<&str> = stems.iter().map(String::as_str).collect();
    let meant = similar(path.file_stem()?.to_str()?, &stems)?;
    Some(path.with_file_name(format!("{meant}.toml")))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parse(source: &str, settings: &[&str]) -> Result<Study, Refused> {
        let settings: Vec<String> = settings.iter().map(|&text| text.to_owned()).collect();
        Study::parse("dir/a.toml", source, Path::new("dir"), &settings)
    }

    fn refusal(source: &str, settings: &[&str]) -> String {
        parse(source, settings).unwrap_err().0
    }

    #[test]
    fn a_setting_of_a_swept_key_leaves_nothing_to_compare() {
        let source = "[sweep]\nscheduler = ['fcfs', 'easy']\n[compare]\nscheduler = 'fcfs'";
        let study = parse(source, &["scheduler=conservative"]).unwrap();
        assert_eq!((study.sweep[0].values.len(), study.compare.len()), (1, 0));
        assert_eq!(parse(source, &["scheduler=fcfs"]).unwrap().compare.len(), 1);
        let refused = refusal(source, &["scheduler=easy", "compare.scheduler=fcfs"]);
        assert!(refused.contains("must be one of the swept values"), "{refused}");
    }

    #[test]
    #[cfg(not(feature = "parquet"))]
    fn parquet_is_refused_by_a_program_that_was_built_without_it() {
        let refused = parse("[output]\njobs = ['csv', 'parquet']\n", &[]).unwrap_err();
        assert!(
            refused.0.ends_with(
                "`output.jobs` has \"parquet\", and this program was built without the feature \
                 `parquet`: it can be csv or batsim"
            ),
            "{refused}"
        );
    }

    #[test]
    #[cfg(feature = "parquet")]
    fn everything_is_read() {
        let study = parse(
            "name = 'n'\ndescription = 'd'\nprecision = 0.02\nmin_replications = 4\nseed = 3\n\
             [measure]\nmetrics = ['wait', 'turnaround']\n\
             [sweep]\nscheduler = ['fcfs', 'easy']\n'workload.load' = [1, 2.0]\n\
             machine.dims = [[4, 4], [8, 8]]\n\
             [compare]\nscheduler = 'fcfs'\n'workload.load' = 1.0\n\
             [output]\njobs = ['parquet', 'csv']\n\
             [[claim]]\ntext = 't'\nunchecked = 'why'\n\
             [quick]\n'measure.jobs' = 10\n\"sweep.'workload.load'\" = [1]\n",
            &[],
        )
        .unwrap();
        assert_eq!((study.name.as_str(), study.description.as_deref()), ("n", Some("d")));
        assert_eq!(
            study.replications,
            Replications::Precision { target: 0.02, least: 4, most: 300, of: "wait".to_owned() }
        );
        let keys: Vec<&str> = study.sweep.iter().map(|axis| axis.key.as_str()).collect();
        assert_eq!(keys, ["scheduler", "workload.load", "machine.dims"]);
        assert_eq!(study.compare.len(), 2);
        assert_eq!(study.jobs, [JobFormat::Csv, JobFormat::Parquet]);
        assert_eq!(study.claims[0].check, ClaimCheck::No("why".to_owned()));
        assert_eq!(study.quick, ["measure.jobs=10", "sweep.'workload.load'=[1]"]);
        assert_eq!(study.scenario["seed"].as_integer(), Some(3));
        let plain = parse("", &[]).unwrap();
        assert_eq!((plain.name.as_str(), plain.replications), ("a", Replications::Fixed(1)));
    }

    #[test]
    fn every_problem_is_one_sentence_with_its_line() {
        for (source, sentence) in [
            (
                "\nreplication = 3",
                "dir/a.toml:2: unknown key `replication` (did you mean `replications`? known: replications, \
                 max_replications, description, precision, min_replications, precision_of, selector, allocator, record, \
                 workload and 22 more)",
            ),
            (
                "replications = 2.5",
                "dir/a.toml:1: `replications` is 2.5, but must be a whole number from 1 to 1000000",
            ),
            (
                "replications = 2\nprecision = 0.1",
                "dir/a.toml:1: both `replications` and `precision` are given, but the one excludes \
                 the other",
            ),
            (
                "precision = nan",
                "dir/a.toml:1: `precision` is nan, but must be a number above 0 and below 1",
            ),
            (
                "precision = 0.1\nmax_replications = 3",
                "dir/a.toml:2: `max_replications` is 3, but must be at least `min_replications`, 5",
            ),
            (
                "precision_of = 'wait'",
                "dir/a.toml:1: `precision_of` means something only with `precision`, which is not \
                 given",
            ),
            (
                "[sweep]\nseed = 3",
                "dir/a.toml:2: `sweep.seed` is 3, but must be a list of at least one value",
            ),
            (
                "[sweep]\nseed = []",
                "dir/a.toml:2: `sweep.seed` is [], but must be a list of at least one value",
            ),
            ("sweep = 3", "dir/a.toml:1: `sweep` is 3, but must be a table `[sweep]`"),
            (
                "[sweep]\n'machine.dims' = [1]\nmachine.dims = [1]",
                "dir/a.toml:3: `machine.dims` is swept twice",
            ),
            (
                "[compare]\nscheduler = 'fcfs'",
                "dir/a.toml:2: `scheduler` is compared but not swept: `[sweep]` holds nothing",
            ),
            (
                "[sweep]\nscheduler = ['easy']\n[compare]\nscheduler = 'fcfs'",
                "dir/a.toml:4: `compare.scheduler` is \"fcfs\", but must be one of the swept values of \
                 `scheduler`: \"easy\"",
            ),
            (
                "[output]\njob = ['csv']",
                "dir/a.toml:2: unknown key `job` in `output` (did you mean `jobs`? known: jobs)",
            ),
            (
                "[output]\njobs = ['xml']",
                "dir/a.toml:2: `output.jobs` has \"xml\", but must be a list of csv, parquet and batsim",
            ),
            (
                "[[claim]]\nmetric = 'wait'",
                "dir/a.toml:1: a `[[claim]]` has no `text`: it must say in words what is claimed",
            ),
        ] {
            assert_eq!(refusal(source, &[]), sentence, "{source}");
        }
        let broken = refusal("seed = 1\nname = = 3\n", &[]);
        assert!(broken.starts_with("dir/a.toml:2: this is not TOML: "), "{broken}");
        assert!(!broken.contains('\n'));
    }

    #[test]
    fn the_command_line_overrules_the_file() {
        let source = "precision = 0.1\nmin_replications = 3\n[sweep]\nscheduler = ['fcfs', 'easy']";
        let study =
            parse(source, &["replications=7", "scheduler=sjf", "workload.load=0.5"]).unwrap();
        assert_eq!(study.replications, Replications::Fixed(7));
        assert_eq!(study.sweep[0].values, [Value::from("sjf")], "the column stays, with one value");
        assert_eq!(study.scenario["workload"]["load"].as_float(), Some(0.5));
        assert_eq!(
            refusal(source, &["replications=-1"]),
            "--set replications=-1: `replications` is -1, but must be a whole number from 1 to 1000000"
        );
        let wider = "[sweep]\n'workload.load' = [1]";
        let wider = parse(wider, &["sweep.workload.load=[2, 3]", "sweep.seed=[4]"]).unwrap();
        assert_eq!((wider.sweep.len(), wider.sweep[0].values.len()), (2, 2));
        assert_eq!(
            refusal(source, &["sweep.seed=1"]),
            "--set sweep.seed=1: `sweep.seed` is 1, but must be a list of at least one value"
        );
    }

    #[test]
    fn a_file_that_cannot_be_read_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::write(at("first.toml"), "").unwrap();
        std::fs::create_dir(at("results")).unwrap();
        std::fs::write(at("results").join(EXPERIMENT), "").unwrap();
        std::fs::write(at("binary.toml"), b"seed = 1\n\xff").unwrap();
        let shown = folder.path().display();
        for (name, sentence) in [
            ("none.toml", ": there is no such file".to_owned()),
            ("", ": this is a directory, but must be a file".to_owned()),
            ("frist.toml", format!(": there is no such file (did you mean `{shown}/first.toml`?)")),
            (
                "results",
                format!(
                    ": this is a folder of results, but must be the file of a study: \
                     `meshwork report {shown}/results` writes a page of the results"
                ),
            ),
            ("binary.toml", ":2: a study is text in UTF-8, and this line is not".to_owned()),
        ] {
            let refused = Study::read(&at(name), &[]).unwrap_err().0;
            assert_eq!(refused, format!("{}{sentence}", at(name).display()));
        }
    }

    fn toml_like() -> impl Strategy<Value = String> {
        let words = "seed sweep [sweep] [[claim]] [output] [compare] jobs text precision \
                     replications = = = [ ] \n \n { } , . 1 0.1 -1 nan 1e308 'csv' \
                     \"workload.load\" name machine";
        let words: Vec<&str> = words.split(' ').collect();
        prop::collection::vec(prop::sample::select(words), 0..40).prop_map(|words| words.join(" "))
    }

    proptest! {
        #[test]
        fn no_text_panics(source in ".{0,60}", like in toml_like()) {
            for text in [source, like] {
                if let Err(refused) = parse(&text, &[]) {
                    prop_assert!(refused.0.starts_with("dir/a.toml:"));
                }
            }
        }
    }
}
