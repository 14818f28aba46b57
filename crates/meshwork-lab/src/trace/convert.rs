//! A cleaner log made of another, or the same jobs in another form.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use meshwork::job::{Job, Owner, Request};
use meshwork::registry::{LARGEST, Params};
use meshwork::topology::{Topology, TopologyError};
use meshwork::workload::swf::{Choice, Header, Line, Record, job, records};
use meshwork::workload::table::Listed;
use meshwork::workload::{FAMILY, Inputs, NoInputs, Submission, WorkloadContext, transformed};
use toml::{Table, Value};

use super::{Form, TraceError, on_the_clock_of, write};
use crate::run::inputs::Files;
use crate::standard::catalogue;

/// Parameters that say how jobs are replayed, for which a log has no fields.
const OF_REPLAYS: [&str; 2] = ["deadlines", "dependencies"];

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

/// Parameters of the workload `swf` that change nothing of a log that is written.
const CHANGE_NOTHING: [&str; 3] = ["path", "reorder", "shape"];

/// Writes a log again: without lines that are no jobs, in order of submission, and changed as the
/// workload `swf` changes it with the parameters `changes`, on a machine of the log's own size; `seed` is
/// that of a shuffle. A study without these parameters then has the jobs of the new log that it has of
/// the old one with them. The header stays in its order, with the number of jobs put right and a note of
/// what was done.
///
/// The names of `input` and `output` say what is read and written: a table of jobs where one ends in `.csv`, `.csv.gz` or
/// `.parquet`, else a log, compressed where it ends in `.gz`. A log has no blocks and no subcubes: jobs that ask for one ask for
/// as many processors there. `from` and `until` may be dates, of a log that says when it begins. All is held in memory.
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
    let form = Form::of(&output.display().to_string())?;
    let mut counted = changes.clone();
    on_the_clock_of(&Files::default(), &shown, Form::of(&shown)?, &mut counted)?;
    let params = parameters(&shown, &counted)?;
    let mut log = Log::read(&shown, &Choice::of(&params))?;
    let usable = log.kept.len();
    let jobs = usable as u64 + log.done.cut;
    let kept = changed(&log, &params, seed).map_err(|error| error.about(&shown))?;
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
    write(output, form, &log.header, &kept)?;
    Ok(log.done)
}

/// The parameters of the workload `swf` that `changes` are.
fn parameters(path: &str, changes: &Table) -> Result<Params, String> {
    if let Some(key) = CHANGE_NOTHING.iter().find(|key| changes.contains_key(**key)) {
        return Err(format!("`{key}` says how a log is read, and changes nothing of one"));
    }
    if let Some(key) = OF_REPLAYS.iter().find(|key| changes.contains_key(**key)) {
        return Err(format!("`{key}` says how jobs are replayed, and changes nothing of a log"));
    }
    let mut table = Table::new();
    table.insert("name".to_owned(), "swf".into());
    table.insert("path".to_owned(), path.into());
    table.extend(changes.clone());
    FAMILY.resolve_in(&catalogue(), "", &Value::Table(table)).map_err(|problem| problem.message)
}

/// A log in memory: its jobs with their lines, in order of submission.
pub(super) struct Log {
    pub(super) header: Header,
    pub(super) kept: Vec<(Record, Job)>,
    /// What was left out so far.
    done: Converted,
}

impl Log {
    pub(super) fn read(shown: &str, choice: &Choice) -> Result<Log, String> {
        match Form::of(shown).map_err(|refused| refused.0)? {
            Form::Log { .. } => Log::read_lines(shown, choice),
            _ => Log::read_table(shown, choice),
        }
    }

    fn read_table(shown: &str, choice: &Choice) -> Result<Log, String> {
        let rows = Files::default().rows(shown).map_err(|error| error.0)?;
        let Listed { jobs, waits, origin } = Listed::read(rows, shown).map_err(|error| error.0)?;
        let done = Converted { lines: jobs.len() as u64, ..Converted::default() };
        let mut log = Log { header: Header::default(), kept: Vec::new(), done };
        let mut add =
            |label: &str, value: String| log.header.entries.push((label.to_owned(), value));
        add("Version", "2.2".to_owned());
        add("MaxJobs", jobs.len().to_string());
        add("MaxRecords", jobs.len().to_string());
        if let Some(origin) = origin {
            add("UnixStartTime", origin.to_string());
        }
        let mut above = f64::NEG_INFINITY;
        for ((job, has_estimate), wait) in jobs.into_iter().zip(waits) {
            let mut record = Record::of(&job);
            record.fields[2] = wait.unwrap_or(-1.0);
            if !has_estimate {
                record.fields[8] = -1.0;
            }
            log.done.out_of_order += u64::from(record.submit() < above);
            above = record.submit();
            if choice.takes(&record) {
                log.kept.push((record, job));
            } else {
                log.done.cut += 1;
            }
        }
        log.kept.sort_by_key(|(_, job)| job.arrival);
        Ok(log)
    }

    fn read_lines(shown: &str, choice: &Choice) -> Result<Log, String> {
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
    let indexed: Vec<Job> = (0..)
        .zip(&log.kept)
        .map(|(number, (record, job))| {
            let user = record.user().filter(|_| params.has("scale"));
            let owner = user
                .map(|user| Arc::new(Owner { user: Some(user.to_string()), ..Owner::default() }));
            // After which others they come stays as their lines say it.
            Job { number, owner, terms: None, ..job.clone() }
        })
        .collect();
    // A log from a machine that is too large to be simulated can still be changed, but not split or scaled to a load.
    let needs_machine = params.has("split_above") || params.has("scale");
    let machine = if needs_machine { log.machine()? } else { Topology::flat(1)? };
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
            let mut scale = params.number("runtime_scale");
            if params.has("scale") && original.runtime > 0.0 {
                scale = job.runtime / original.runtime;
            }
            let record = rewritten(record, original, &job, scale);
            // Read again, so that a table has what the log has.
            let mut read = self::job(&record, original.number)
                .map_err(|error| error.to_string())?
                .map_err(str::to_owned)?;
            if !matches!(job.request, Request::Nodes(_)) {
                read.request = job.request;
            }
            kept.push((index, record, read));
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

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::trace::{Model, generate, info};

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
                .contains("log.swf: `from` is 1000000000, which leaves no job: ")
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

    /// Every form into every form: what is written is read again, and has the same jobs.
    #[test]
    fn the_ending_decides_both_ways() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("log.swf"), LOG).unwrap();
        let forms: &[&str] = if cfg!(feature = "parquet") {
            &["swf", "swf.gz", "csv", "csv.gz", "parquet"]
        } else {
            &["swf", "swf.gz", "csv", "csv.gz"]
        };
        let none = Table::new();
        let jobs = |path: &Path| {
            let kept = Log::read(&path.display().to_string(), &Choice::default()).unwrap().kept;
            kept.into_iter().map(|(_, job)| job).collect::<Vec<Job>>()
        };
        let expected = jobs(&at("log.swf"));
        for from in forms {
            let first = at(&format!("first.{from}"));
            convert(&at("log.swf"), &first, &none, 1).unwrap();
            for &to in forms {
                let second = at(&format!("second.{to}"));
                assert_eq!(convert(&first, &second, &none, 1).unwrap().jobs, 3, "{from} {to}");
                assert_eq!(jobs(&second), expected, "{from} to {to}");
                assert_eq!(info(&second).unwrap().jobs, 3, "{from} to {to}");
                let starts_with = |bytes: &[u8]| fs::read(&second).unwrap().starts_with(bytes);
                assert_eq!(starts_with(b"PAR1"), to == "parquet");
                assert_eq!(starts_with(&[0x1f, 0x8b]), to.ends_with("gz"));
            }
        }
        let model =
            Model { jobs: 20, processors: 8, seed: 3, classes: "both".to_owned(), load: None };
        for form in forms {
            assert_eq!(generate(&at(&format!("made.{form}")), &model).unwrap().jobs, 20);
        }
        let refused =
            convert(&at("log.swf"), &at("a.parquet.gz"), &none, 1).unwrap_err().to_string();
        assert!(refused.ends_with("a.parquet.gz: Parquet compresses by itself: leave out .gz"));
    }

    /// A folder with this table as `jobs.csv`, and as `again.csv` what it is after it was converted to another form
    /// and back.
    fn there_and_back(text: &str) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("jobs.csv"), text).unwrap();
        let again = if cfg!(feature = "parquet") { "again.parquet" } else { "once.csv.gz" };
        for (from, to) in [("jobs.csv", again), (again, "again.csv")] {
            convert(&at(from), &at(to), &Table::new(), 1).unwrap();
        }
        folder
    }

    #[test]
    fn what_jobs_want_stays_in_a_table() {
        let folder = there_and_back(
            "submit,runtime,nodes,exclude,segment,contiguous\n0,10,8,,4,\n1,10,3,\"n[0-1,9]\",,1\n2,10,2,,,\n",
        );
        let at = |name: &str| folder.path().join(name);
        assert_eq!(
            fs::read_to_string(at("again.csv")).unwrap(),
            "job,submit,runtime,estimate,nodes,segment,contiguous,exclude\n1,0,10,10,8,4,,\n\
             2,1,10,10,3,,true,\"n[0-1,9]\"\n3,2,10,10,2,,,\n"
        );
    }

    #[test]
    fn blocks_stay_blocks_in_a_table_and_become_counts_in_a_log() {
        let folder = there_and_back(
            "submit,runtime,block,subcube\n2003-05-01,10,2x3,\n2003-05-01T00:01,20,,2\n",
        );
        let at = |name: &str| folder.path().join(name);
        assert_eq!(
            fs::read_to_string(at("again.csv")).unwrap(),
            "job,submit,runtime,estimate,nodes,block,subcube\n1,0,10,10,,2x3,\n2,60,20,20,,,2\n"
        );
        convert(&at("jobs.csv"), &at("jobs.swf"), &Table::new(), 1).unwrap();
        let log = fs::read_to_string(at("jobs.swf")).unwrap();
        assert!(log.contains("; UnixStartTime: 1051747200\n"), "{log}");
        assert!(log.contains("\n1 0 -1 10 6 -1 -1 6 -1 "), "{log}");
    }

    #[test]
    fn a_cut_may_be_a_date() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("log.swf"), format!("; UnixStartTime: 1000000000\n{LOG}")).unwrap();
        fs::write(at("bare.swf"), LOG).unwrap();
        let cut = |name: &str, changes: &str| {
            convert(&at(name), &at("out.swf"), &changes.parse().unwrap(), 1)
        };
        // 1000000000 is 2001-09-09 01:46:40; the jobs come 50, 100 and 150 seconds later.
        for changes in ["from = '2001-09-09T01:48:00Z'", "from = 2001-09-09T01:48:00Z"] {
            assert_eq!(cut("log.swf", changes).unwrap().jobs, 2);
        }
        assert_eq!(cut("log.swf", "until = '2001-09-09T01:48:00'").unwrap().jobs, 1);
        assert_eq!(cut("log.swf", "from = '1999-01-01'").unwrap().jobs, 3);
        assert!(cut("log.swf", "from = 'May'").unwrap_err().to_string().starts_with(
            "`from` is \"May\", but must be a number from 0 to 1e15, or a date such as 2003-05-01"
        ));
        let bare = cut("bare.swf", "from = '2001-09-09'").unwrap_err().to_string();
        assert!(bare.contains("bare.swf does not say when its clock begins"), "{bare}");
    }
}
