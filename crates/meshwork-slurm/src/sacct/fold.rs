//! Converts `sacct` records: steps are merged into their jobs, and attempts are numbered.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::columns::LOSSES;
use super::rows::{Row, Table};
use super::submitted::Submitted;
use super::when::{LocalClock, NotATime, TimeFormat, is_none, minutes, span};
use super::{Imported, Tally};
use crate::FileProblem;
use crate::history::Beyond;
use crate::history::{History, JobRecord, Second, StartedBy};
use crate::hostlist;

struct Columns {
    raw: Option<usize>,
    id: Option<usize>,
    times: [(&'static str, Option<usize>); 4],
    state: Option<usize>,
    limit_raw: Option<usize>,
    limit: Option<usize>,
    req_nodes: Option<usize>,
    n_nodes: Option<usize>,
    nodelist: Option<usize>,
    segment: Option<usize>,
    exclusive: Option<usize>,
    tres: Option<usize>,
    cpus: Option<usize>,
    priority: Option<usize>,
    flags: Option<usize>,
    line: Option<usize>,
    req_tres: Option<usize>,
    constraints: Option<usize>,
    suspended: Option<usize>,
    reservation: Option<usize>,
    texts: [Option<usize>; 5],
}

impl Columns {
    fn of(table: &Table<'_>) -> Columns {
        let column = |name: &str| table.column(name);
        Columns {
            raw: column("JobIDRaw"),
            id: column("JobID"),
            times: ["Submit", "Eligible", "Start", "End"].map(|name| (name, column(name))),
            state: column("State"),
            limit_raw: column("TimelimitRaw"),
            limit: column("Timelimit"),
            req_nodes: column("ReqNodes"),
            n_nodes: column("NNodes").or(column("AllocNodes")),
            nodelist: column("NodeList"),
            segment: column("SegmentSize"),
            exclusive: column("Exclusive"),
            tres: column("AllocTRES"),
            cpus: column("AllocCPUS").or(column("NCPUS")),
            priority: column("Priority"),
            flags: column("Flags"),
            line: column("SubmitLine"),
            req_tres: column("ReqTRES"),
            constraints: column("Constraints"),
            suspended: column("Suspended"),
            reservation: column("Reservation"),
            texts: ["User", "Account", "Partition", "QOS", "Reason"].map(column),
        }
    }

    fn job<'a>(&self, row: &Row<'a>) -> Option<&'a str> {
        let id = row.field(self.id.or(self.raw));
        (!id.contains('.')).then_some(id)
    }
}

pub(super) fn fold(table: &Table<'_>, clock: LocalClock) -> Result<Imported, FileProblem> {
    let mut read = Imported::default();
    for loss in
        LOSSES.iter().filter(|loss| !loss.columns.iter().any(|name| table.column(name).is_some()))
    {
        if loss.is_fatal {
            return Err(FileProblem::at(table.file, 1, loss.sentence()));
        }
        read.warnings.push(FileProblem::at(table.file, 1, loss.sentence()));
        read.tally.losses.push(*loss);
    }
    let columns = Columns::of(table);
    let mut folder =
        Folder { table, columns, clock, forms: BTreeMap::new(), lengths: HashMap::new() };
    let mut arrays: BTreeSet<&str> = BTreeSet::new();
    let mut stays: Vec<(&str, JobRecord)> = Vec::new();
    let mut torn = table.torn.clone();
    for row in &table.rows {
        let mut found = folder.record(row);
        if found.is_err() && !row.others.is_empty() {
            let other = row.others.iter().find_map(|other| folder.record(other).ok());
            read.tally.repaired += usize::from(other.is_some());
            match other {
                Some(other) => found = Ok(other),
                None => {
                    let says = "this record has a | in a text, and cannot be read in any one way";
                    torn.push(FileProblem::at(table.file, row.line, says));
                    continue;
                }
            }
        }
        read.tally.rows += 1;
        let Some((id, stay)) = found? else {
            read.tally.steps += 1;
            continue;
        };
        if let Some((array, _)) = id.split_once('_') {
            read.tally.array_tasks += 1;
            arrays.insert(array);
        }
        stays.push((id, stay));
    }
    if stays.is_empty() && read.tally.steps == 0 && !torn.is_empty() {
        return Err(torn.remove(0));
    }
    leave_out(torn, &mut read);
    read.tally.arrays = arrays.len();
    if stays.is_empty() {
        let says = "there is no job in this history: sacct -a -S with a time before the first of them gives some";
        return Err(FileProblem::at(table.file, 1, says));
    }
    number_the_stays(&mut stays, &mut read.tally);
    let mut stays: Vec<JobRecord> = stays.into_iter().map(|(_, stay)| stay).collect();
    stays.sort_by_key(|stay| (stay.submit, stay.line));
    look_for_backward_times(table, &mut stays, &mut read);
    look_at_the_clock(table, &folder, &mut read);
    read.history = History { stays };
    warn_of_long_jobs(table, &mut read);
    Ok(read)
}

struct Folder<'t, 'a> {
    table: &'t Table<'a>,
    columns: Columns,
    clock: LocalClock,
    /// Time formats found in the records, each with the first line that uses it.
    forms: BTreeMap<u8, (TimeFormat, usize)>,
    /// Number of hosts in each host list, cached because host lists recur.
    lengths: HashMap<&'a str, u32>,
}

/// Warns of skipped records, and names the first few.
fn leave_out(mut torn: Vec<FileProblem>, read: &mut Imported) {
    torn.sort_by_key(|trouble| trouble.line);
    read.tally.skipped = torn.len();
    let more = torn.len().saturating_sub(MOST_NAMED);
    torn.truncate(MOST_NAMED);
    let last = torn.len().saturating_sub(1);
    for (place, mut trouble) in torn.into_iter().enumerate() {
        trouble.says.push_str("; it is left out");
        if place == last && more > 0 {
            trouble.says.push_str(&format!(", and {more} more like these"));
        }
        read.warnings.push(trouble);
    }
}

const MOST_NAMED: usize = 5;

impl<'a> Folder<'_, 'a> {
    fn record(&mut self, row: &Row<'a>) -> Result<Option<(&'a str, JobRecord)>, FileProblem> {
        let Some(id) = self.columns.job(row) else { return Ok(None) };
        Ok(Some((id, self.stay(row, id)?)))
    }

    fn stay(&mut self, row: &Row<'a>, id: &str) -> Result<JobRecord, FileProblem> {
        let (file, line) = (self.table.file, row.line);
        let wrong = |name: &str, text: &str, right: &str| {
            FileProblem::at(file, line, format!("{name} is `{text}`, but must be {right}"))
        };
        let mut times: [Option<Second>; 4] = [None; 4];
        for (time, (name, column)) in times.iter_mut().zip(self.columns.times) {
            let text = row.field(column);
            let found = self.clock.time(text).map_err(|NotATime| {
                wrong(name, text, "seconds since 1970 or a date, as 2026-01-31T23:59:59")
            })?;
            if let Some((second, form)) = found {
                self.forms.entry(form as u8).or_insert((form, line));
                *time = Some(second);
            }
        }
        let [submit, eligible, start, end] = times;
        let columns = &self.columns;
        let limit = match (columns.limit_raw, columns.limit) {
            (Some(_), _) => {
                let text = row.field(columns.limit_raw);
                minutes(text).map_err(|NotATime| wrong("TimelimitRaw", text, "whole minutes"))?
            }
            (None, _) => {
                let text = row.field(columns.limit);
                span(text).map_err(|NotATime| wrong("Timelimit", text, "a time, as 1-12:00:00"))?
            }
        };
        let nodelist = row.field(columns.nodelist);
        let nodelist = if is_none(nodelist) { "" } else { nodelist };
        let had = match self.lengths.get(nodelist) {
            Some(&had) => had,
            None => {
                let names =
                    hostlist::names(nodelist).map_err(|says| FileProblem::at(file, line, says))?;
                self.lengths.insert(nodelist, names.len() as u32);
                names.len() as u32
            }
        };
        let count = |name: &str, text: &str| match text {
            "" => Ok(None),
            text => text.parse::<u32>().map(Some).map_err(|_| wrong(name, text, "a whole number")),
        };
        let mut submitted = Submitted::read(row.field(columns.line));
        let asked = count("ReqNodes", row.field(columns.req_nodes))?;
        let asked = asked.filter(|&nodes| nodes > 0).or(submitted.nodes);
        // If a range was requested, the number of nodes that the job got is used.
        let asked = asked.filter(|_| !submitted.is_range || had == 0);
        let nodes = match asked {
            Some(nodes) => nodes,
            None if had > 0 => had,
            None => count("NNodes", row.field(columns.n_nodes))?.unwrap_or(0),
        };
        let priority = row.field(columns.priority);
        let priority = match priority {
            "" => None,
            text => Some(text.parse().map_err(|_| wrong("Priority", text, "a whole number"))?),
        };
        let flags = row.field(columns.flags);
        let exclusive = row.field(columns.exclusive);
        let texts = columns.texts.map(|column| row.field(column).to_owned());
        let [user, account, partition, qos, reason] = texts;
        let reservation = row.field(columns.reservation);
        let mut beyond = std::mem::take(&mut submitted.beyond);
        if row.field(columns.line).is_empty() {
            submitted.options = parts(row.field(columns.req_tres), had);
        }
        let tres = [row.field(columns.tres), row.field(columns.req_tres)];
        for (own, is) in [
            (Beyond::Gres, tres.iter().any(|tres| tres.contains("gres/"))),
            (Beyond::Licences, tres.iter().any(|tres| tres.contains("license/"))),
            (Beyond::Features, !is_none(row.field(columns.constraints))),
            (Beyond::Reservation, !is_none(reservation)),
            (Beyond::Partitions, partition.contains(',')),
            (Beyond::Heterogeneous, id.contains('+')),
        ] {
            beyond.extend(is.then_some(own));
        }
        beyond.sort_unstable();
        beyond.dedup();
        Ok(JobRecord {
            id: id.to_owned(),
            attempt: 1,
            user,
            account,
            partition,
            qos,
            state: row.field(columns.state).split(' ').next().unwrap_or_default().to_owned(),
            submit,
            eligible,
            start: start.filter(|_| columns.nodelist.is_none() || had > 0),
            end,
            limit,
            nodes,
            nodelist: nodelist.to_owned(),
            processors: processors(row.field(columns.tres), row.field(columns.cpus)),
            exclusive: matches!(exclusive, "NODE" | "TOPO") || submitted.is_exclusive,
            whole_blocks: exclusive == "TOPO" || submitted.whole_blocks,
            segment: count("SegmentSize", row.field(columns.segment))?
                .filter(|&size| size > 0)
                .or(submitted.segment),
            spread: submitted.spread,
            consolidate: submitted.consolidate,
            switches: submitted.switches,
            contiguous: submitted.contiguous,
            require: submitted.require.unwrap_or_default(),
            exclude: submitted.exclude.unwrap_or_default(),
            priority,
            by: match flags {
                flags if flags.contains("SchedMain") => StartedBy::Main,
                flags if flags.contains("SchedBackfill") => StartedBy::Backfill,
                _ => StartedBy::Unknown,
            },
            reason: if is_none(&reason) { String::new() } else { reason },
            beyond,
            line,
            partitions: submitted.partitions,
            nice: submitted.nice,
            // The column is empty for a job that waited for the beginning of its reservation.
            reservation: if is_none(reservation) {
                submitted.reservation
            } else {
                reservation.to_owned()
            },
            throttle: submitted.throttle,
            // Jobs with whole nodes need no options for parts.
            options: match exclusive {
                "NODE" | "TOPO" if !submitted.is_exclusive => String::new(),
                _ => submitted.options,
            },
            suspended: span(row.field(columns.suspended)).ok().flatten().unwrap_or(0),
            least: submitted.nodes.filter(|least| submitted.is_range && *least < nodes),
        })
    }
}

/// Number of processors from the column `AllocTRES`, or else from the column of CPUs.
fn processors(tres: &str, cpus: &str) -> u32 {
    let listed = tres.split(',').find_map(|part| part.strip_prefix("cpu="));
    listed.unwrap_or(cpus).parse().unwrap_or(0)
}

/// Options of `salloc` that request the parts of nodes in `tres`, the field `ReqTRES` of a job.
/// `had` is the number of nodes that the job got. The options are empty if `tres` lacks the number
/// of processors or of nodes.
fn parts(tres: &str, had: u32) -> String {
    let of = |kind: &str| tres.split(',').find_map(|part| part.strip_prefix(kind));
    let count = |kind: &str| of(kind).and_then(|text| text.parse::<u64>().ok());
    let (Some(cpus), Some(nodes)) = (count("cpu="), count("node=").filter(|own| *own > 0)) else {
        return String::new();
    };
    // The number of tasks is not recorded: each is assumed to have one processor.
    let is_open = u64::from(had) > nodes;
    let mut options = match (is_open, nodes) {
        (true, _) => format!("-n{cpus}"),
        (false, 1) => format!("-N1 -n1 -c{cpus}"),
        _ => format!("-N{nodes} -n{cpus}"),
    };
    let megabytes = |text: &str| {
        let number = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        let scale = match text[number.len()..].chars().next() {
            Some('K') => 1.0 / 1024.0,
            Some('G') => 1024.0,
            Some('T') => 1024.0 * 1024.0,
            _ => 1.0,
        };
        number.parse::<f64>().ok().map(|number| number * scale)
    };
    if let Some(memory) = of("mem=").and_then(megabytes) {
        let (option, over) = if is_open { ("mem-per-cpu", cpus) } else { ("mem", nodes) };
        options.push_str(&format!(" --{option}={}", (memory / over.max(1) as f64).ceil()));
    }
    if let Some(gpus) = count("gres/gpu=").filter(|own| *own > 0) {
        options.push_str(&match gpus % nodes {
            0 if !is_open => format!(" --gpus-per-node={}", gpus / nodes),
            _ => format!(" --gpus={gpus}"),
        });
    }
    options
}

/// Numbers the attempts of each job in order of submission.
fn number_the_stays(stays: &mut [(&str, JobRecord)], tally: &mut Tally) {
    let mut places: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (place, (id, _)) in stays.iter().enumerate() {
        places.entry(id).or_default().push(place);
    }
    for places in places.values_mut().filter(|places| places.len() > 1) {
        places.sort_by_key(|&place| (stays[place].1.submit, stays[place].1.start, place));
        tally.requeued += places.len() - 1;
        for (attempt, &place) in (1..).zip(places.iter()) {
            stays[place].1.attempt = attempt;
        }
    }
}

/// Warns of jobs whose times are in the wrong order. They are not replayed.
fn look_for_backward_times(table: &Table<'_>, stays: &mut [JobRecord], read: &mut Imported) {
    let mut first: Option<(usize, String)> = None;
    for stay in stays {
        let Some(start) = stay.start else { continue };
        let says = match (stay.end, stay.submit) {
            (Some(end), _) if end < start => {
                format!(
                    "the times of job {} run backwards: it starts at {start} and ends at {end}",
                    stay.id
                )
            }
            (_, Some(submit)) if start < submit => format!(
                "the times of job {} run backwards: it is submitted at {submit} and starts at {start}",
                stay.id
            ),
            _ => continue,
        };
        read.tally.backwards += 1;
        if first.as_ref().is_none_or(|(line, _)| stay.line < *line) {
            first = Some((stay.line, says));
        }
        (stay.start, stay.end) = (None, None);
        stay.nodelist.clear();
    }
    let Some((line, says)) = first else { return };
    let others = match read.tally.backwards - 1 {
        0 => "it is left out".to_owned(),
        1 => "it is left out, and another one like it".to_owned(),
        others => format!("it is left out, and {others} others like it"),
    };
    let says =
        format!("{says}; {others} (a clock that is put back does not touch SLURM_TIME_FORMAT=%s)");
    read.warnings.push(FileProblem::at(table.file, line, says));
}

fn look_at_the_clock(table: &Table<'_>, folder: &Folder<'_, '_>, read: &mut Imported) {
    read.tally.form = folder.forms.values().next_back().map(|(form, _)| *form);
    let local = folder.forms.values().find(|(form, _)| *form == TimeFormat::Local);
    if let Some((_, line)) = local
        && !folder.clock.is_known()
    {
        read.tally.zone_is_assumed = true;
        let says = "dates are written without a time zone, and taken to be in UTC: say which with --time-zone, as Europe/Berlin or +01:00, or write them by SLURM_TIME_FORMAT=%s sacct";
        read.warnings.push(FileProblem::at(table.file, *line, says));
    }
    if folder.forms.len() > 1
        && let Some((_, line)) = folder.forms.values().max_by_key(|(_, line)| line)
    {
        let says = "times are written in another form from here on than above: are these two histories in one file?";
        read.warnings.push(FileProblem::at(table.file, *line, says));
    }
}

/// Warns of jobs that ran longer than the whole period that the shorter jobs cover.
///
/// The period is from the first submission to the last end of the shorter jobs. Jobs that waited
/// for the ends of the long jobs are then missing from the history.
fn warn_of_long_jobs(table: &Table<'_>, read: &mut Imported) {
    let mut ran: Vec<(Second, &JobRecord)> = read
        .history
        .stays
        .iter()
        .filter_map(|stay| Some((stay.end? - stay.start?, stay)))
        .collect();
    ran.sort_by_key(|(length, stay)| (*length, stay.line));
    let mut span: Option<(Second, Second)> = None;
    let mut longer: Vec<(Second, &JobRecord)> = Vec::new();
    for (place, (length, stay)) in ran.iter().enumerate() {
        let enough = place >= 2 && 2 * place >= ran.len();
        if enough && span.is_some_and(|(first, last)| *length > last - first) {
            longer.push((*length, stay));
            continue;
        }
        let first = stay.submit.or(stay.start).unwrap_or(0);
        let last = stay.end.unwrap_or(first);
        span = Some(span.map_or((first, last), |(a, b)| (a.min(first), b.max(last))));
    }
    let Some(((length, stay), (first, last))) = longer.first().zip(span) else { return };
    let others = match longer.len() {
        1 => String::new(),
        count => format!(" (and {} others)", count - 1),
    };
    let says = format!(
        "job {}{others} runs for {length} s, longer than the rest of the history, {} s: whoever waited for its end is not in it",
        stay.id,
        last - first
    );
    let trouble = FileProblem::at(table.file, stay.line, says);
    read.warnings.push(trouble);
}
