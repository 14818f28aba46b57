//! Conversion of logs: removal of unusable lines, changes of jobs, and output in other formats.

#[cfg(test)]
mod tests;

use std::path::Path;
use std::sync::Arc;

use meshwork::job::{Job, Owner, Request, Terms};
use meshwork::registry::{LARGEST, Params};
use meshwork::topology::{Topology, TopologyError};
use meshwork::workload::swf::{Choice, Header, LogLine, Record, job, records};
use meshwork::workload::table::Listed;
use meshwork::workload::{
    FAMILY, Inputs, NoInputs, Rows, Submission, WorkloadContext, transformed,
};
use toml::{Table, Value};

use super::form::without_place;
use super::{Form, TraceError, write};
use crate::files::write_whole;
use crate::inputs::Files;
use crate::inputs::form::{is_study, on_the_clock_of};
use crate::inputs::published::{self, PublishedJobs, machine_text};
use crate::standard::catalogue;
use crate::study::table;

/// Parameters of the workload `swf` that affect only its replay. A conversion refuses them.
const OF_REPLAYS: [&str; 2] = ["deadlines", "dependencies"];

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Converted {
    pub lines: u64,
    pub no_run_time: u64,
    pub no_processors: u64,
    pub no_submit_time: u64,
    /// Number of jobs with an earlier submission time than the previous job in the log.
    pub out_of_order: u64,
    pub cut: u64,
    pub jobs: u64,
    /// Number of nodes that were written, if the input is a list of nodes in a published trace.
    pub nodes: u64,
    pub lost: Vec<String>,
}

impl Converted {
    pub fn unusable(&self) -> u64 {
        self.no_run_time + self.no_processors + self.no_submit_time
    }
}

/// Parameters of the workload `swf` that select jobs by their time or place in the log.
const OF_CUTS: [&str; 3] = ["from", "until", "first_jobs"];

/// Parameters of the workload `swf` that do not change jobs, but only how the log is read.
const CHANGE_NOTHING: [&str; 3] = ["path", "reorder", "shape"];

/// Converts a log: writes its jobs to a file, in order of submission and with the requested
/// changes.
///
/// Lines that are not jobs are left out. The other jobs are changed as the workload `swf` with the
/// parameters `changes` would change them on a machine of the log's own size. `seed` and
/// `replication` determine the random numbers. The header is kept, with a note about the
/// conversion. All jobs are held in memory.
///
/// The endings of `input` and `output` decide their formats, as [`Form::of`](super::Form::of) says.
/// The input may also be a published trace; one that lists nodes becomes a study (`.toml`) with
/// their machine. After an error nothing is written.
pub fn convert(
    input: &Path,
    output: &Path,
    changes: &Table,
    (seed, replication): (u64, u64),
) -> Result<Converted, TraceError> {
    let shown = input.display().to_string();
    let written = output.display().to_string();
    if is_study(&written) && !matches!(Form::of(&shown)?, Form::Log { .. }) {
        return machine(&shown, output, changes);
    }
    let form = Form::of(&written)?;
    if form == Form::Foreign {
        return Err(TraceError::Wrong(format!(
            "{written}: tables are written as .csv or .parquet, and machines as .toml; .tsv and .json are only read"
        )));
    }
    let mut counted = changes.clone();
    on_the_clock_of(&Files::default(), &shown, Form::of(&shown)?, &mut counted)?;
    let params = parameters(&shown, &counted)?;
    let mut log = Log::read(&shown, &Choice::of(&params))?;
    let jobs = log.kept.len() as u64 + log.done.cut;
    let kept = changed(&log, &params, (seed, replication)).map_err(|error| error.about(&shown))?;
    log.done.cut += left_out_by_cut(&log, &shown, &counted)?;
    log.done.jobs = kept.len() as u64;
    if kept.is_empty() {
        return Err(TraceError::Wrong(format!(
            "{shown}: no job is left to write: {jobs} of its {} lines are jobs",
            log.done.lines
        )));
    }
    let mut kept: Vec<(Record, Job)> =
        kept.into_iter().map(|(_, record, job)| (record, job)).collect();
    log.done.lost.extend(without_place(form, log.is_of_lines, &log.header, &mut kept));
    number_of_jobs(&mut log.header, log.done.jobs);
    if !changes.is_empty() {
        // The last end is unknown after a change.
        log.header.entries.retain(|(label, _)| label != "EndTime");
    }
    note(&mut log.header, &story(changes, &log.done));
    write(output, form, &log.header, &kept)?;
    Ok(log.done)
}

/// Number of jobs of a log that the options `from`, `until` and `first_jobs` leave out.
fn left_out_by_cut(log: &Log, shown: &str, changes: &Table) -> Result<u64, TraceError> {
    let cuts = changes.iter().filter(|(key, _)| OF_CUTS.contains(&key.as_str()));
    let cuts: Table = cuts.map(|(key, value)| (key.clone(), value.clone())).collect();
    if cuts.is_empty() {
        return Ok(0);
    }
    let left = changed(log, &parameters(shown, &cuts)?, (1, 0))?;
    Ok((log.kept.len() - left.len()) as u64)
}

fn machine(shown: &str, output: &Path, changes: &Table) -> Result<Converted, TraceError> {
    if let Some(key) = changes.keys().next() {
        return Err(TraceError::Wrong(format!("`{key}` changes jobs, and a machine has none")));
    }
    let machine = machine_text(shown)?;
    write_whole(output, machine.text.as_bytes())
        .map_err(|error| TraceError::Unwritten(error.to_string()))?;
    Ok(Converted { nodes: machine.nodes, lost: machine.lost, ..Converted::default() })
}

pub fn parameters(path: &str, changes: &Table) -> Result<Params, String> {
    if let Some(key) = CHANGE_NOTHING.iter().find(|key| changes.contains_key(**key)) {
        return Err(format!("`{key}` says how a log is read, and changes nothing of one"));
    }
    if let Some(key) = OF_REPLAYS.iter().find(|key| changes.contains_key(**key)) {
        return Err(format!("`{key}` says how jobs are replayed, and changes nothing of a log"));
    }
    let mut table = table([("name", "swf".into()), ("path", path.into())]);
    table.extend(changes.clone());
    FAMILY.resolve_in(&catalogue(), "", &Value::Table(table)).map_err(|problem| problem.message)
}

pub struct Log {
    pub(super) header: Header,
    pub kept: Vec<(Record, Job)>,
    is_of_lines: bool,
    done: Converted,
}

impl Log {
    pub fn read(shown: &str, choice: &Choice) -> Result<Log, String> {
        match Form::of(shown).map_err(|refused| refused.0)? {
            Form::Log { .. } => Log::read_lines(shown, choice),
            _ => Log::read_table(shown, choice),
        }
    }

    fn read_table(shown: &str, choice: &Choice) -> Result<Log, String> {
        let (rows, done) = rows(shown)?;
        let Listed { jobs, waits, idle_thinks, origin } =
            Listed::read(rows, shown).map_err(|error| error.0)?;
        let Converted { lines, mut lost, .. } = done.clone();
        if idle_thinks > 0 {
            lost.push(format!("left out, because `after` is empty: think, of {idle_thinks} jobs"));
        }
        let done = Converted { lines: lines.max(jobs.len() as u64), lost, ..done };
        let mut log = Log { header: Header::default(), kept: Vec::new(), is_of_lines: false, done };
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
        let mut log = Log {
            header: Header::default(),
            kept: Vec::new(),
            is_of_lines: true,
            done: Converted::default(),
        };
        let done = &mut log.done;
        let mut above = f64::NEG_INFINITY;
        for line in records(reader, shown) {
            let (number, record) = match line.map_err(|error| error.0)? {
                LogLine::Comment(comment) => {
                    log.header.add(&comment);
                    continue;
                }
                LogLine::Record { line, record } => (line, record),
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

    /// Flat machine of the size that the log's header states. If the header states none, the
    /// machine has the size of the largest job.
    fn machine(&self) -> Result<Topology, TopologyError> {
        let largest = self.kept.iter().map(|(_, job)| job.request.nodes()).max().unwrap_or(1);
        let processors = self.header.processors().unwrap_or(largest);
        Topology::flat(u32::try_from(processors).unwrap_or(u32::MAX))
    }
}

/// Reads the rows of a job table or a published trace, and counts the skipped lines by reason.
fn rows(shown: &str) -> Result<(Rows, Converted), String> {
    if let Some(PublishedJobs { rows, lines, no_run_time, no_processors, no_submit_time, lost }) =
        published::jobs(shown)?
    {
        if rows.is_empty() {
            return Err(format!(
                "{shown}: no row of this table is a job with times and processors ({})",
                lost.join("; ")
            ));
        }
        let done = Converted {
            lines,
            no_run_time,
            no_processors,
            no_submit_time,
            lost,
            ..Converted::default()
        };
        return Ok((Box::new(rows.into_iter().map(Ok)), done));
    }
    let files = Files::default();
    let rows = files.rows(shown).map_err(|error| error.0)?;
    let unread = files.unread_columns(shown).map_err(|error| error.0)?.join(", ");
    let lost = format!("left out, because no column of jobs is called so: {unread}");
    let lost = Some(lost).filter(|_| !unread.is_empty()).into_iter().collect();
    Ok((rows, Converted { lost, ..Converted::default() }))
}

/// Applies the requested changes to the jobs of a log. Each result has the index of the original
/// job, the new line and the new job.
pub fn changed(
    log: &Log,
    params: &Params,
    (seed, replication): (u64, u64),
) -> Result<Vec<(usize, Record, Job)>, TraceError> {
    // During the changes a job's number is its index, because numbers may occur twice in a log.
    let indexed: Vec<Job> = (0..)
        .zip(&log.kept)
        .map(|(number, (record, job))| {
            let user = record.user().filter(|_| params.has("scale") || params.has("resample"));
            let owner = user
                .map(|user| Arc::new(Owner { user: Some(user.to_string()), ..Owner::default() }));
            let owner = job.owner.clone().or(owner);
            // A job's predecessor is restored from its line afterwards.
            let terms = job.terms.clone().map(|terms| Box::new(Terms { after: None, ..*terms }));
            Job { number, owner, terms, ..job.clone() }
        })
        .collect();
    // Jobs from a machine too large for a simulation cannot be split or scaled to a load.
    let needs_machine = params.has("split_above") || params.has("scale");
    let machine = if needs_machine { log.machine()? } else { Topology::flat(1)? };
    let sites = [(machine, 1.0)];
    let setting =
        WorkloadContext { sites: &sites, seed, replication, owners: false, inputs: &NoInputs };
    let jobs = Box::new(indexed.into_iter().map(|job| Ok(Submission::Job(job))));
    let jobs = transformed(true, jobs, params, &setting).map_err(|problem| problem.message)?;
    let mut kept = Vec::new();
    for item in jobs {
        if let Submission::Job(job) = item.map_err(|error| error.0)? {
            let index = job.number as usize;
            let (record, original) = &log.kept[index];
            let mut scale = params.number("runtime_scale");
            if (params.has("scale") || params.has("resample")) && original.runtime > 0.0 {
                scale = job.runtime / original.runtime;
            }
            let record = rewritten(record, original, &job, scale);
            // Parse the new line, so that a table gets the same values as a log.
            let mut read = self::job(&record, original.number)
                .map_err(|error| error.to_string())?
                .map_err(str::to_owned)?;
            if !matches!(job.request, Request::Nodes(_)) {
                read.request = job.request;
            }
            // A table may state an estimate of 0, which in a log would mean an unknown time.
            if !log.is_of_lines {
                read.estimate = within(job.estimate);
            }
            read.owner = original.owner.clone();
            read.terms = job.terms;
            let after = record.after().map_err(|error| error.to_string())?;
            if let Some(after) = original.after().or(after) {
                read.terms.get_or_insert_default().after = Some(after);
            }
            kept.push((index, record, read));
        }
    }
    Ok(kept)
}

fn within(number: f64) -> f64 {
    number.min(LARGEST)
}

fn rewritten(record: &Record, original: &Job, job: &Job, runtime_scale: f64) -> Record {
    let mut record = *record;
    let fields = &mut record.fields;
    // A job without a number has the number of its original line.
    fields[0] = original.number as f64;
    fields[1] = within(job.arrival.units());
    fields[3] = within(job.runtime);
    // Field 6, the processor time, is scaled like the run time.
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

fn number_of_jobs(header: &mut Header, jobs: u64) {
    for (label, value) in &mut header.entries {
        if label == "MaxJobs" || label == "MaxRecords" {
            *value = jobs.to_string();
        }
    }
}

fn note(header: &mut Header, text: &str) {
    header.entries.push(("Note".to_owned(), text.to_owned()));
}

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
