//! Reads a history from a log in the Standard Workload Format: requests and times, without nodes.

use meshwork_lab::slurm::folder::SlurmMachine;
use meshwork_slurm::FileProblem;
use meshwork_slurm::history::{History, JobRecord, Second};
use meshwork_slurm::sacct::{Imported, LOSSES, TimeFormat};

const FIELDS: usize = 18;

/// Reads a log for a machine, and converts processors to nodes.
///
/// Because the log has no node lists, waits can be compared, but not nodes and decisions.
///
/// ```
/// # use std::path::Path;
/// # let folder = std::env::temp_dir().join("meshwork-operator-swf");
/// # std::fs::create_dir_all(&folder).unwrap();
/// # let file = folder.join("topology.yaml");
/// # std::fs::write(&file, "- topology: t\n  ring:\n    rings:\n      - {ring: a, nodes: 'n[0-7]'}\n").unwrap();
/// use meshwork_lab::slurm::folder::SlurmMachine;
/// use meshwork_operator::swf;
/// let machine = SlurmMachine::read(Path::new(&file), None).unwrap();
/// let log = "; UnixStartTime: 1000\n1 5 10 60 4 -1 -1 4 90 -1 1 7 -1 -1 -1 -1 -1 -1\n";
/// let read = swf::read("log.swf", log, &machine).unwrap();
/// let stay = &read.history.stays[0];
/// assert_eq!((stay.submit, stay.wait(), stay.limit, stay.nodes), (Some(1005), Some(10), Some(90), 4));
/// ```
///
/// # Errors
/// A line does not have 18 numbers, or the log has no job. The error is a sentence that names the
/// line.
pub fn read(file: &str, text: &str, machine: &SlurmMachine) -> Result<Imported, FileProblem> {
    let site = machine.site("");
    let processors = site.whole.first().map_or(1, |node| site.nodes.processors(node)).max(1);
    let mut read = Imported::default();
    let mut began: Second = 0;
    let mut stays = Vec::new();
    for (line, record) in (1..).zip(text.lines()) {
        let record = record.trim();
        if let Some(comment) = record.strip_prefix(';') {
            let start = comment.trim().strip_prefix("UnixStartTime:");
            began = start.and_then(|start| start.trim().parse().ok()).unwrap_or(began);
            continue;
        }
        if record.is_empty() {
            continue;
        }
        let fields: Result<Vec<f64>, _> =
            record.split_whitespace().map(str::parse::<f64>).collect();
        let fields = fields.ok().filter(|fields| fields.len() == FIELDS).ok_or_else(|| {
            let says = format!("this line has not {FIELDS} numbers, as one of a log in the Standard Workload Format has");
            FileProblem::at(file, line, says)
        })?;
        read.tally.rows += 1;
        let known = |place: usize| Some(fields[place - 1]).filter(|&number| number >= 0.0);
        let second = |place: usize| known(place).map(|number| number as Second);
        let wanted = known(8).filter(|&count| count > 0.0).or(known(5)).unwrap_or(0.0) as u32;
        let submit = second(2).map(|submit| began + submit);
        let start = submit.zip(second(3)).map(|(submit, wait)| submit + wait);
        let end = start.zip(second(4)).map(|(start, runs)| start + runs);
        let state = match known(11).map(|status| status as i64) {
            Some(1) => "COMPLETED",
            Some(0) => "FAILED",
            Some(5) => "CANCELLED",
            _ => "",
        };
        let name =
            |place: usize| known(place).map_or_else(String::new, |number| format!("{number}"));
        // A job that never ran was cancelled while it waited.
        let ran = known(4).is_some_and(|runs| runs > 0.0) || state == "COMPLETED";
        stays.push(JobRecord {
            id: name(1),
            attempt: 1,
            user: name(12),
            account: name(13),
            state: state.to_owned(),
            submit,
            start: start.filter(|_| ran),
            end: if ran { end } else { start },
            limit: second(9).filter(|&limit| limit > 0),
            nodes: wanted.div_ceil(processors),
            exclusive: true,
            line,
            ..JobRecord::default()
        });
    }
    if stays.is_empty() {
        return Err(FileProblem::of(file, "there is no job in this history"));
    }
    stays.sort_by_key(|stay| (stay.submit, stay.line));
    read.tally.form = Some(TimeFormat::Epoch);
    let without = ["NodeList", "Priority", "Flags", "SegmentSize"];
    read.tally.losses = LOSSES
        .iter()
        .filter(|loss| !loss.is_fatal && without.contains(&loss.columns[0]))
        .copied()
        .collect();
    let says = "a log in the Standard Workload Format names no nodes: it cannot be said which nodes a job had, nor whether the rule gives the same";
    read.warnings.push(FileProblem::of(file, says));
    read.history = History { stays };
    Ok(read)
}
