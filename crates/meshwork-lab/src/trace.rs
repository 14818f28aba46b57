//! Logs: what one is like, a cleaner one made of it, and one from a model.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::Path;

use flate2::{Compression, GzBuilder};
use meshwork::job::Job;
use meshwork::registry::{LARGEST, Params};
use meshwork::topology::{Topology, TopologyError};
use meshwork::workload::lublin;
use meshwork::workload::statistics::Statistics;
use meshwork::workload::swf::{
    Choice, Header, Line, Record, job, records, write_header, write_record,
};
use meshwork::workload::{
    FAMILY, Inputs, NoInputs, Submission, WorkloadContext, submissions, transformed,
};
use toml::{Table, Value};

use crate::run::inputs::Files;
use crate::run::store::write_whole;

/// The most jobs that are generated at once: they are held in memory.
pub const MAX_JOBS: u64 = 10_000_000;

/// What a conversion did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Converted {
    /// Lines of the log that are not comments.
    pub lines: u64,
    /// Lines left out because they are no jobs, by reason.
    pub no_run_time: u64,
    /// Lines without processors, among the others.
    pub no_processors: u64,
    /// Lines without a time of submission, among the others.
    pub no_submit_time: u64,
    /// Lines with a time of submission before that of the line above, among the jobs.
    pub out_of_order: u64,
    /// Jobs left out because the changes leave them out.
    pub cut: u64,
    /// Jobs written, the parts of one that was split each.
    pub jobs: u64,
}

impl Converted {
    /// Lines left out because they are no jobs.
    #[must_use]
    pub fn unusable(&self) -> u64 {
        self.no_run_time + self.no_processors + self.no_submit_time
    }
}

/// A log by the model of Lublin and Feitelson.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    /// How many jobs.
    pub jobs: u64,
    /// The size of the machine.
    pub processors: u32,
    /// The seed of the random numbers.
    pub seed: u64,
    /// Which fit: `typeless`, `batch`, `interactive` or `both`.
    pub classes: String,
    /// The share of the machine's work that the jobs ask for, from the first submission to the last;
    /// where it is given, times of submission are stretched until it holds.
    pub load: Option<f64>,
}

/// Why a log could not be made, in one sentence.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TraceError {
    /// What was asked for, or the log that is read, is wrong.
    #[error("{0}")]
    Wrong(String),
    /// The file cannot be written.
    #[error("{0}")]
    Unwritten(String),
}

impl From<TopologyError> for TraceError {
    fn from(error: TopologyError) -> TraceError {
        TraceError::Wrong(error.to_string())
    }
}

impl From<String> for TraceError {
    fn from(sentence: String) -> TraceError {
        TraceError::Wrong(sentence)
    }
}

/// The statistics of a log.
///
/// # Errors
/// One sentence, with file and line.
pub fn info(path: &Path) -> Result<Statistics, String> {
    let shown = path.display().to_string();
    let reader = Files::default().text(&shown).map_err(|error| error.0)?;
    Statistics::of(reader, &shown).map_err(|error| error.0)
}

/// Parameters of the workload `swf` that change nothing of a log that is written.
const CHANGE_NOTHING: [&str; 3] = ["path", "reorder", "shape"];

/// Writes a log again: without lines that are no jobs, in order of submission, and changed as the
/// workload `swf` changes it with the parameters `changes`, on a machine of the log's own size; `seed` is
/// that of a shuffle. A study without these parameters then has the jobs of the new log that it has of
/// the old one with them. The header stays in its order, with the number of jobs put right and a note of
/// what was done.
///
/// The name of `output` says what is written: a table of jobs where it ends in `.csv` (or
/// `.csv.gz`), compressed where it ends in `.gz`, else a log. The whole log is held in memory.
///
/// # Errors
/// One sentence: a parameter that is none, a line that cannot be read, a log that is left without jobs,
/// a file that cannot be written. Nothing is written then.
pub fn convert(
    input: &Path,
    output: &Path,
    changes: &Table,
    seed: u64,
) -> Result<Converted, TraceError> {
    let shown = input.display().to_string();
    let params = parameters(&shown, changes)?;
    let mut log = Log::read(&shown, &Choice::of(&params))?;
    let usable = log.kept.len();
    let jobs = usable as u64 + log.done.cut;
    let kept = changed(&log, &params, seed)?;
    log.done.cut +=
        (usable - kept.iter().map(|(index, ..)| index).collect::<BTreeSet<_>>().len()) as u64;
    log.done.jobs = kept.len() as u64;
    if kept.is_empty() {
        return Err(TraceError::Wrong(format!(
            "{shown}: no job is left to write: {jobs} of its {} lines are jobs",
            log.done.lines
        )));
    }
    let kept: Vec<(Record, Job)> = kept.into_iter().map(|(_, record, job)| (record, job)).collect();
    number_of_jobs(&mut log.header, log.done.jobs);
    note(&mut log.header, &story(changes, &log.done));
    write(output, &log.header, &kept)?;
    Ok(log.done)
}

/// The parameters of the workload `swf` that `changes` are.
fn parameters(path: &str, changes: &Table) -> Result<Params, String> {
    if let Some(key) = CHANGE_NOTHING.iter().find(|key| changes.contains_key(**key)) {
        return Err(format!("`{key}` says how a log is read, and changes nothing of one"));
    }
    let mut table = Table::new();
    table.insert("name".to_owned(), "swf".into());
    table.insert("path".to_owned(), path.into());
    table.extend(changes.clone());
    FAMILY.resolve("", &Value::Table(table)).map_err(|problem| problem.message)
}

/// A log in memory: its jobs with their lines, in order of submission.
struct Log {
    header: Header,
    kept: Vec<(Record, Job)>,
    /// What was left out so far.
    done: Converted,
}

impl Log {
    fn read(shown: &str, choice: &Choice) -> Result<Log, String> {
        let reader = Files::default().text(shown).map_err(|error| error.0)?;
        let mut log =
            Log { header: Header::default(), kept: Vec::new(), done: Converted::default() };
        let done = &mut log.done;
        let mut above = f64::NEG_INFINITY;
        for line in records(reader, shown) {
            let (number, record) = match line.map_err(|error| error.0)? {
                Line::Comment(comment) => {
                    log.header.add(&comment);
                    continue;
                }
                Line::Record { line, record } => (line, record),
            };
            done.lines += 1;
            let job =
                job(&record, done.lines).map_err(|what| format!("{shown}:{number}: {what}"))?;
            match job {
                Ok(_) if !choice.takes(&record) => done.cut += 1,
                Ok(job) => {
                    done.out_of_order += u64::from(record.submit() < above);
                    above = record.submit();
                    log.kept.push((record, job));
                }
                Err("no run time") => done.no_run_time += 1,
                Err("no processors") => done.no_processors += 1,
                Err(_) => done.no_submit_time += 1,
            }
        }
        log.kept.sort_by_key(|(_, job)| job.arrival);
        Ok(log)
    }

    /// The machine that the log is from: by its header, or of the size of its largest job.
    fn machine(&self) -> Result<Topology, TopologyError> {
        let largest = self.kept.iter().map(|(_, job)| job.request.nodes()).max().unwrap_or(1);
        let processors = self.header.processors().unwrap_or(largest);
        Topology::flat(u32::try_from(processors).unwrap_or(u32::MAX))
    }
}

/// The jobs of a log after the changes, each with its line and the index of the line that it comes from.
fn changed(log: &Log, params: &Params, seed: u64) -> Result<Vec<(usize, Record, Job)>, TraceError> {
    // While they are changed, jobs go by their index: numbers may come twice.
    let indexed: Vec<Job> =
        (0..).zip(&log.kept).map(|(number, (_, job))| Job { number, ..job.clone() }).collect();
    // A log from a machine that is too large to be simulated can still be changed, but not split.
    let machine = if params.has("split_above") { log.machine()? } else { Topology::flat(1)? };
    let sites = [(machine, 1.0)];
    let setting =
        WorkloadContext { sites: &sites, seed, replication: 0, owners: false, inputs: &NoInputs };
    let jobs = Box::new(indexed.into_iter().map(|job| Ok(Submission::Job(job))));
    let jobs = transformed(true, jobs, params, &setting).map_err(|problem| problem.message)?;
    let mut kept = Vec::new();
    for item in jobs {
        if let Submission::Job(job) = item.map_err(|error| error.0)? {
            let index = job.number as usize;
            let (record, original) = &log.kept[index];
            let record = rewritten(record, original, &job, params.number("runtime_scale"));
            // Read again, so that a table has what the log has.
            let job = self::job(&record, original.number)
                .map_err(|error| error.to_string())?
                .map_err(str::to_owned)?;
            kept.push((index, record, job));
        }
    }
    Ok(kept)
}

/// The line of a job that has become another one.
fn rewritten(record: &Record, original: &Job, job: &Job, runtime_scale: f64) -> Record {
    let mut record = *record;
    let fields = &mut record.fields;
    let within = |number: f64| number.min(LARGEST);
    // A job without a number has that of its line, which may become another line.
    fields[0] = original.number as f64;
    fields[1] = within(job.arrival.units());
    fields[3] = within(job.runtime);
    // Field 6, processor time, is a run time too.
    if fields[5] > 0.0 {
        fields[5] = within(fields[5] * runtime_scale);
    }
    if fields[8] > 0.0 {
        fields[8] = within(job.estimate);
    }
    if job.request != original.request {
        let nodes = job.request.nodes() as f64;
        for field in [4, 7] {
            if fields[field] > 0.0 {
                fields[field] = nodes;
            }
        }
    }
    record
}

/// Writes a log by the model of Lublin and Feitelson. Nothing but the arguments says what is in it;
/// its requested times are its run times.
///
/// # Errors
/// One sentence: arguments that the model has no jobs for, or a file that cannot be written.
pub fn generate(output: &Path, model: &Model) -> Result<Statistics, TraceError> {
    let mut kept = generated(model)?;
    if let Some(load) = model.load {
        stretch(&mut kept, load, model.processors)?;
    }
    let mut header = Header::default();
    let mut add = |label: &str, value: String| header.entries.push((label.to_owned(), value));
    add("Version", "2.2".to_owned());
    add("Computer", "none: drawn from the model of Lublin and Feitelson (2003)".to_owned());
    add("MaxJobs", kept.len().to_string());
    add("MaxRecords", kept.len().to_string());
    add("MaxNodes", model.processors.to_string());
    add("MaxProcs", model.processors.to_string());
    let load = model.load.map_or_else(String::new, |load| format!(" --load {load}"));
    add(
        "Note",
        format!(
            "made by meshwork {} with: trace generate --jobs {} --processors {} --seed {} --classes {}{load}",
            env!("CARGO_PKG_VERSION"),
            model.jobs,
            model.processors,
            model.seed,
            model.classes
        ),
    );
    add("Note", "requested times are run times".to_owned());
    write(output, &header, &kept)?;
    Ok(info(output)?)
}

fn generated(model: &Model) -> Result<Vec<(Record, Job)>, String> {
    if !(1..=MAX_JOBS).contains(&model.jobs) {
        return Err(format!("{} jobs are asked for, but must be from 1 to {MAX_JOBS}", model.jobs));
    }
    let mut table = Table::new();
    let whole = |number: u64| i64::try_from(number).unwrap_or(i64::MAX).into();
    table.insert("name".to_owned(), "lublin".into());
    table.insert("jobs".to_owned(), whole(model.jobs));
    table.insert("processors".to_owned(), whole(u64::from(model.processors)));
    table.insert("classes".to_owned(), model.classes.as_str().into());
    let params =
        FAMILY.resolve("lublin", &Value::Table(table)).map_err(|problem| problem.message)?;
    let machine = Topology::flat(model.processors).map_err(|error| error.to_string())?;
    let sites = [(machine, 1.0)];
    let setting = WorkloadContext {
        sites: &sites,
        seed: model.seed,
        replication: 0,
        owners: false,
        inputs: &NoInputs,
    };
    let jobs = submissions(&lublin::ENTRY, &params, &setting).map_err(|error| error.to_string())?;
    let mut kept = Vec::new();
    for item in jobs {
        if let Submission::Job(job) = item.map_err(|error| error.0)? {
            kept.push((record(&job), job));
        }
    }
    Ok(kept)
}

/// A line for a job of which nothing else is known; it ended well.
fn record(job: &Job) -> Record {
    let mut fields = [-1.0; 18];
    let nodes = job.request.nodes() as f64;
    fields[0] = job.number as f64;
    // Logs count whole seconds.
    fields[1] = job.arrival.units().floor();
    fields[3] = job.runtime;
    fields[4] = nodes;
    fields[7] = nodes;
    fields[8] = job.estimate;
    fields[10] = 1.0;
    Record { fields }
}

/// Multiplies times of submission until the jobs ask for this share of the machine.
fn stretch(kept: &mut [(Record, Job)], load: f64, processors: u32) -> Result<(), String> {
    let work: f64 = kept.iter().map(|(record, _)| record.run_time() * record.processors()).sum();
    let (first, last) = (kept[0].0.submit(), kept[kept.len() - 1].0.submit());
    let scale = work / (load * f64::from(processors) * (last - first));
    if !(scale > 0.0 && last * scale <= LARGEST) {
        return Err(format!("{} jobs cannot be spread to a load of {load}", kept.len()));
    }
    for (record, _) in kept {
        record.fields[1] = (record.fields[1] * scale).floor();
    }
    Ok(())
}

/// Puts the counts of the header right, where it has them.
fn number_of_jobs(header: &mut Header, jobs: u64) {
    for (label, value) in &mut header.entries {
        if label == "MaxJobs" || label == "MaxRecords" {
            *value = jobs.to_string();
        }
    }
}

/// Adds a note behind the last label, so that the lines of the header that belong together stay so.
fn note(header: &mut Header, text: &str) {
    header.entries.push(("Note".to_owned(), text.to_owned()));
}

/// What was done, in one line.
fn story(changes: &Table, done: &Converted) -> String {
    let mut steps = vec![format!("converted by meshwork {}", env!("CARGO_PKG_VERSION"))];
    if done.unusable() > 0 {
        steps.push(format!("{} lines that were no jobs left out", done.unusable()));
    }
    if done.out_of_order > 0 {
        steps.push("sorted by time of submission".to_owned());
    }
    steps.extend(changes.iter().map(|(key, value)| format!("{key} = {value}")));
    steps.join("; ")
}

fn write(output: &Path, header: &Header, kept: &[(Record, Job)]) -> Result<(), TraceError> {
    let name = output.to_string_lossy().to_lowercase();
    let in_memory = "writing to memory cannot fail";
    let text = if name.trim_end_matches(".gz").ends_with(".csv") {
        table(kept)
    } else {
        let mut text = Vec::new();
        write_header(&mut text, header).expect(in_memory);
        for (record, _) in kept {
            write_record(&mut text, record).expect(in_memory);
        }
        text
    };
    let is_compressed = name.ends_with(".gz");
    let bytes = if is_compressed {
        // No time and no name: the same log gives the same bytes.
        let mut packed = GzBuilder::new().mtime(0).write(Vec::new(), Compression::best());
        packed.write_all(&text).expect(in_memory);
        packed.finish().expect(in_memory)
    } else {
        text
    };
    write_whole(output, &bytes).map_err(TraceError::Unwritten)
}

/// As the `table` workload reads it.
fn table(kept: &[(Record, Job)]) -> Vec<u8> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let in_memory = "a table in memory can always be written";
    writer.write_record(["job", "submit", "runtime", "estimate", "nodes"]).expect(in_memory);
    for (_, job) in kept {
        let cells = [
            job.number.to_string(),
            job.arrival.to_string(),
            job.runtime.to_string(),
            job.estimate.to_string(),
            job.request.to_string(),
        ];
        writer.write_record(&cells).expect(in_memory);
    }
    writer.into_inner().expect(in_memory)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    const LOG: &str = "; Version: 2.2\n; MaxJobs: 9\n; MaxProcs: 16\n;   and more\n\
        1 100 5 10 4 7.5 -1 4 20 -1 1 5 -1 -1 -1 -1 -1 -1\n\
        2 50 -1 30 3 -1 -1 -1 -1 -1 1 5 -1 -1 -1 -1 -1 -1\n\
        3 60 -1 -1 3 -1 -1 -1 -1 -1 5 5 -1 -1 -1 -1 -1 -1\n\
        4 150 -1 8 1 -1 -1 1 5 -1 1 6 -1 -1 -1 -1 -1 -1\n";

    fn converted(changes: &str, name: &str) -> (Result<Converted, TraceError>, String) {
        let folder = tempfile::tempdir().unwrap();
        let (input, output) = (folder.path().join("log.swf"), folder.path().join(name));
        fs::write(&input, LOG).unwrap();
        let done = convert(&input, &output, &changes.parse().unwrap(), 1);
        let mut text = String::new();
        if output.exists() {
            let name = output.display().to_string();
            std::io::Read::read_to_string(&mut Files::default().text(&name).unwrap(), &mut text)
                .unwrap();
        }
        (done, text)
    }

    #[test]
    fn a_log_is_cleaned_and_sorted() {
        let (done, text) = converted("", "out.swf");
        let expected = Converted {
            lines: 4,
            no_run_time: 1,
            out_of_order: 1,
            jobs: 3,
            ..Converted::default()
        };
        assert_eq!(done, Ok(expected));
        let version = env!("CARGO_PKG_VERSION");
        assert_eq!(
            text,
            format!(
                "; Version: 2.2\n; MaxJobs: 3\n; MaxProcs: 16\n;   and more\n; Note: converted by \
                 meshwork {version}; 1 lines that were no jobs left out; sorted by time of submission\n\
                 2 50 -1 30 3 -1 -1 -1 -1 -1 1 5 -1 -1 -1 -1 -1 -1\n\
                 1 100 5 10 4 7.5 -1 4 20 -1 1 5 -1 -1 -1 -1 -1 -1\n\
                 4 150 -1 8 1 -1 -1 1 5 -1 1 6 -1 -1 -1 -1 -1 -1\n"
            )
        );
    }

    #[test]
    fn a_cut_comes_before_a_scale() {
        let changes = "from = 60\nfirst_jobs = 1\nruntime_scale = 2.0\narrival_scale = 0.5";
        let (done, text) = converted(changes, "out.swf.gz");
        assert_eq!(done.map(|done| (done.cut, done.jobs)), Ok((2, 1)));
        assert!(text.ends_with("\n1 50 5 20 4 15 -1 4 40 -1 1 5 -1 -1 -1 -1 -1 -1\n"), "{text}");
        let (until, _) = converted("until = 100", "out.swf");
        assert_eq!(until.unwrap().jobs, 1);
        let (nothing, text) = converted("from = 1e9", "out.swf");
        assert!(
            nothing
                .unwrap_err()
                .to_string()
                .ends_with("log.swf: no job is left to write: 3 of its 4 lines are jobs")
        );
        assert_eq!(text, "");
    }

    #[test]
    fn a_table_has_the_jobs_that_a_log_has() {
        for name in ["out.csv", "out.csv.gz"] {
            let (_, text) = converted("", name);
            assert_eq!(
                text,
                "job,submit,runtime,estimate,nodes\n2,50,30,30,3\n1,100,10,20,4\n4,150,8,5,1\n"
            );
        }
    }

    #[test]
    fn the_same_arguments_give_the_same_log_with_the_load_asked_for() {
        let folder = tempfile::tempdir().unwrap();
        let (a, b) = (folder.path().join("a.swf.gz"), folder.path().join("b.swf.gz"));
        let mut model = Model {
            jobs: 500,
            processors: 64,
            seed: 3,
            classes: "both".to_owned(),
            load: Some(0.7),
        };
        let statistics = generate(&a, &model).unwrap();
        assert_eq!(generate(&b, &model).unwrap(), statistics);
        assert_eq!(fs::read(&a).unwrap(), fs::read(&b).unwrap());
        assert_eq!((statistics.jobs, statistics.machine()), (500, Some(64)));
        assert!((statistics.load.unwrap() - 0.7).abs() < 1e-3, "{:?}", statistics.load);
        assert!(statistics.largest_job.unwrap() <= 64);
        model.seed = 4;
        generate(&b, &model).unwrap();
        assert_ne!(fs::read(&a).unwrap(), fs::read(&b).unwrap());
        model.load = Some(1e-14);
        assert_eq!(
            generate(&b, &model).unwrap_err().to_string(),
            "500 jobs cannot be spread to a load of 0.00000000000001"
        );
        model.jobs = 1 << 40;
        assert_eq!(
            generate(&b, &model).unwrap_err().to_string(),
            "1099511627776 jobs are asked for, but must be from 1 to 10000000"
        );
        model.jobs = 500;
        model.processors = 0;
        assert!(generate(&b, &model).is_err());
        model.processors = 1 << 30;
        assert!(generate(&b, &model).is_err());
    }
}
