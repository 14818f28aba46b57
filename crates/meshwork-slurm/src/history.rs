//! History of a machine: requests of jobs with their times, and the allocated nodes.

use std::fmt::Write;

use crate::FileProblem;
use crate::cell::{plain, written};

/// Seconds since the beginning of 1970 in UTC.
pub type Second = i64;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JobRecord {
    pub id: String,
    /// Number of the attempt, counted from 1. A requeued job has one record for each attempt.
    pub attempt: u32,
    pub user: String,
    pub account: String,
    pub partition: String,
    /// Requested partitions, separated by commas; empty if the job names at most one.
    pub partitions: String,
    pub qos: String,
    /// Final state, such as `COMPLETED`.
    pub state: String,
    pub submit: Option<Second>,
    /// Time from which the job could start if nothing else delayed it.
    pub eligible: Option<Second>,
    pub start: Option<Second>,
    pub end: Option<Second>,
    /// Time limit of the job, in seconds.
    pub limit: Option<Second>,
    pub nodes: u32,
    pub nodelist: String,
    /// Number of processors allocated to the job on all of its nodes; 0 if unknown.
    pub processors: u32,
    pub exclusive: bool,
    /// Whether the job was allocated whole base blocks (the smallest blocks).
    pub whole_blocks: bool,
    /// Size of a segment: the number of nodes that must be placed together. `None` if the job has
    /// no segments.
    pub segment: Option<u32>,
    /// Whether no two segments may use the same base block.
    pub spread: bool,
    /// Whether all segments must be in one aggregated block.
    pub consolidate: bool,
    /// Most leaf switches that the job may use.
    pub switches: Option<u32>,
    pub contiguous: bool,
    pub require: String,
    pub exclude: String,
    /// Points that are subtracted from the job's priority.
    pub nice: i64,
    pub reservation: String,
    pub throttle: Option<u32>,
    /// Options for parts of nodes (cores, memory, GPUs), as arguments of `salloc`.
    pub options: String,
    /// Lower end of a requested range of node counts, of which `nodes` is the upper end.
    pub least: Option<u32>,
    /// Total seconds for which the job was suspended.
    pub suspended: Second,
    pub priority: Option<i64>,
    pub by: StartedBy,
    /// Last reason of the wait, as recorded by Slurm.
    pub reason: String,
    /// Further parts of the request, such as licences, in the order of [`Beyond::ALL`].
    pub beyond: Vec<Beyond>,
    pub line: usize,
}

/// Part of a request other than nodes and processors, such as licences.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Beyond {
    Gres,
    Features,
    Licences,
    /// Several partitions, any of which may run the job.
    Partitions,
    Reservation,
    /// Component of a heterogeneous job.
    Heterogeneous,
}

impl Beyond {
    pub const ALL: [Beyond; 6] = [
        Beyond::Gres,
        Beyond::Features,
        Beyond::Licences,
        Beyond::Partitions,
        Beyond::Reservation,
        Beyond::Heterogeneous,
    ];

    pub fn word(self) -> &'static str {
        match self {
            Beyond::Gres => "gres",
            Beyond::Features => "features",
            Beyond::Licences => "licences",
            Beyond::Partitions => "partitions",
            Beyond::Reservation => "reservation",
            Beyond::Heterogeneous => "heterogeneous",
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StartedBy {
    #[default]
    Unknown,
    Main,
    Backfill,
}

impl StartedBy {
    pub fn word(self) -> &'static str {
        match self {
            StartedBy::Unknown => "",
            StartedBy::Main => "main",
            StartedBy::Backfill => "backfill",
        }
    }
}

impl JobRecord {
    pub fn ran(&self) -> bool {
        self.start.is_some() && !self.nodelist.is_empty()
    }

    /// Seconds from [`queued`](JobRecord::queued) to the start, if the job started.
    pub fn wait(&self) -> Option<Second> {
        Some((self.start? - self.queued()?).max(0))
    }

    /// Time at which the job became eligible or, if this is unknown, was submitted.
    pub fn queued(&self) -> Option<Second> {
        self.eligible.or(self.submit)
    }

    /// Whether the job was ended from outside. The main scheduler then runs without delay.
    pub fn was_killed(&self) -> bool {
        ["PREEMPTED", "REQUEUED", "CANCELLED", "NODE_FAIL", "TIMEOUT"]
            .contains(&self.state.as_str())
    }

    /// Whether the job failed without a start.
    pub fn is_rejected(&self) -> bool {
        self.state == "FAILED" && self.start.is_none()
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct History {
    pub stays: Vec<JobRecord>,
}

const COLUMNS: &str = "id,attempt,user,account,partition,qos,state,submit,eligible,start,end,limit,\
    nodes,nodelist,processors,exclusive,segment,spread,consolidate,switches,contiguous,require,\
    exclude,priority,by,reason,line,not_modelled,partitions,nice,reservation,throttle,min_nodes,\
    suspended,options";

impl History {
    pub fn jobs(&self) -> usize {
        self.stays.iter().filter(|stay| stay.attempt == 1).count()
    }

    pub fn span(&self) -> Option<(Second, Second)> {
        let times = |stay: &JobRecord| [stay.submit, stay.eligible, stay.start, stay.end];
        let first = self.stays.iter().filter_map(|stay| stay.submit.or(stay.start)).min()?;
        let last = self.stays.iter().flat_map(times).flatten().max()?;
        Some((first, last))
    }

    pub fn table(&self) -> String {
        let mut text = format!("{COLUMNS}\n");
        for stay in &self.stays {
            let number = |number: Option<i64>| number.map(|number| number.to_string());
            let flag = |is: bool| if is { "yes" } else { "" };
            let exclusive = match (stay.whole_blocks, stay.exclusive) {
                (true, _) => "topo",
                (_, true) => "node",
                _ => "",
            };
            for text_of in [&stay.id, &stay.attempt.to_string(), &stay.user, &stay.account] {
                cell(&mut text, text_of);
            }
            for text_of in [&stay.partition, &stay.qos, &stay.state] {
                cell(&mut text, text_of);
            }
            for at in [stay.submit, stay.eligible, stay.start, stay.end, stay.limit] {
                cell(&mut text, &number(at).unwrap_or_default());
            }
            let _ = write!(text, "{},", stay.nodes);
            cell(&mut text, &stay.nodelist);
            let _ = write!(text, "{},{exclusive},", stay.processors);
            cell(&mut text, &number(stay.segment.map(i64::from)).unwrap_or_default());
            cell(&mut text, flag(stay.spread));
            cell(&mut text, flag(stay.consolidate));
            cell(&mut text, &number(stay.switches.map(i64::from)).unwrap_or_default());
            cell(&mut text, flag(stay.contiguous));
            cell(&mut text, &stay.require);
            cell(&mut text, &stay.exclude);
            cell(&mut text, &number(stay.priority).unwrap_or_default());
            cell(&mut text, stay.by.word());
            cell(&mut text, &stay.reason);
            let beyond: Vec<&str> = stay.beyond.iter().map(|own| own.word()).collect();
            let _ = write!(text, "{},{},", stay.line, beyond.join(" "));
            cell(&mut text, &stay.partitions);
            let nice = number(Some(stay.nice).filter(|&own| own != 0)).unwrap_or_default();
            cell(&mut text, &nice);
            cell(&mut text, &stay.reservation);
            let throttle = number(stay.throttle.map(i64::from)).unwrap_or_default();
            cell(&mut text, &throttle);
            let least = number(stay.least.map(i64::from)).unwrap_or_default();
            cell(&mut text, &least);
            let suspended = number(Some(stay.suspended).filter(|&own| own != 0));
            cell(&mut text, &suspended.unwrap_or_default());
            cell(&mut text, &stay.options);
            text.pop();
            text.push('\n');
        }
        text
    }

    /// Reads a history from CSV. Columns may have any order, and optional columns may be missing.
    pub fn read(file: &str, text: &str) -> Result<History, FileProblem> {
        let mut reader = csv::ReaderBuilder::new().flexible(true).from_reader(text.as_bytes());
        let wrong = |line: usize, says: String| FileProblem::at(file, line, says);
        let header = reader.headers().map_err(|error| wrong(1, error.to_string()))?.clone();
        let place = |name: &str| header.iter().position(|own| own == name);
        for needed in ["id", "submit", "start", "end", "nodes", "nodelist"] {
            if place(needed).is_none() {
                let says =
                    format!("the column `{needed}` is missing: this is no table of a history");
                return Err(wrong(1, says));
            }
        }
        let mut stays = Vec::new();
        for record in reader.records() {
            let record = record.map_err(|error| {
                let line = error.position().map_or(1, |position| position.line() as usize);
                wrong(line, error.to_string())
            })?;
            let line = record.position().map_or(1, |position| position.line() as usize);
            if record.len() != header.len() {
                let fields = if record.len() == 1 { "field" } else { "fields" };
                let (has, names) = (record.len(), header.len());
                return Err(wrong(
                    line,
                    format!("this line has {has} {fields}, but the header has {names}"),
                ));
            }
            let cell = |name: &str| {
                place(name).and_then(|place| record.get(place)).map(plain).unwrap_or_default()
            };
            let number = |name: &str| match cell(name) {
                "" => Ok(None),
                text => text.parse::<i64>().map(Some).map_err(|_| {
                    wrong(line, format!("`{name}` is `{text}`, but must be a whole number"))
                }),
            };
            let count = |name: &str| {
                let count = number(name)?.map(u32::try_from).transpose();
                count.map_err(|_| wrong(line, format!("`{name}` is {}: too large", cell(name))))
            };
            let text = |name: &str| cell(name).to_owned();
            stays.push(JobRecord {
                id: text("id"),
                attempt: count("attempt")?.unwrap_or(1),
                user: text("user"),
                account: text("account"),
                partition: text("partition"),
                qos: text("qos"),
                state: text("state"),
                submit: number("submit")?,
                eligible: number("eligible")?,
                start: number("start")?,
                end: number("end")?,
                limit: number("limit")?,
                nodes: count("nodes")?.unwrap_or(0),
                nodelist: text("nodelist"),
                processors: count("processors")?.unwrap_or(0),
                exclusive: !cell("exclusive").is_empty(),
                whole_blocks: cell("exclusive") == "topo",
                segment: count("segment")?,
                spread: !cell("spread").is_empty(),
                consolidate: !cell("consolidate").is_empty(),
                switches: count("switches")?,
                contiguous: !cell("contiguous").is_empty(),
                require: text("require"),
                exclude: text("exclude"),
                priority: number("priority")?,
                by: match cell("by") {
                    "main" => StartedBy::Main,
                    "backfill" => StartedBy::Backfill,
                    _ => StartedBy::Unknown,
                },
                reason: text("reason"),
                beyond: Beyond::ALL
                    .into_iter()
                    .filter(|own| cell("not_modelled").split(' ').any(|word| word == own.word()))
                    .collect(),
                line: count("line")?.unwrap_or(0) as usize,
                partitions: text("partitions"),
                nice: number("nice")?.unwrap_or(0),
                reservation: text("reservation"),
                throttle: count("throttle")?,
                options: text("options"),
                least: count("min_nodes")?,
                suspended: number("suspended")?.unwrap_or(0),
            });
        }
        Ok(History { stays })
    }
}

fn cell(table: &mut String, text: &str) {
    let text = written(text);
    if text.contains([',', '"', '\n', '\r']) {
        let _ = write!(table, "\"{}\",", text.replace('"', "\"\""));
    } else {
        table.push_str(&text);
        table.push(',');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_read_as_it_was_written() {
        let stay = JobRecord {
            id: "7_[1-3%2]".to_owned(),
            attempt: 2,
            partition: "a,b".to_owned(),
            partitions: "b,a".to_owned(),
            nice: -7,
            reservation: "night".to_owned(),
            throttle: Some(2),
            options: "-n2 --gpus=a,b".to_owned(),
            least: Some(3),
            suspended: 5,
            state: "COMPLETED".to_owned(),
            submit: Some(1),
            start: Some(-5),
            nodes: 4,
            nodelist: "n[0-1,4-5]".to_owned(),
            exclusive: true,
            segment: Some(2),
            contiguous: true,
            priority: Some(4_294_901_759),
            by: StartedBy::Backfill,
            reason: "says \"no\"".to_owned(),
            user: "=HYPERLINK(\"x\")".to_owned(),
            account: "-7".to_owned(),
            qos: "'@high".to_owned(),
            beyond: vec![Beyond::Gres, Beyond::Reservation],
            line: 9,
            ..JobRecord::default()
        };
        let history =
            History { stays: vec![stay, JobRecord { attempt: 1, ..JobRecord::default() }] };
        assert_eq!(History::read("jobs.csv", &history.table()), Ok(history));
    }

    #[test]
    fn what_is_wrong_with_a_table_is_said_with_its_line() {
        let says = |text: &str| History::read("jobs.csv", text).unwrap_err().to_string();
        assert_eq!(
            says("id,submit\n"),
            "jobs.csv, line 1: the column `start` is missing: this is no table of a history"
        );
        assert_eq!(
            says("id,submit,start,end,nodes,nodelist\na,1,2,3,4,n0\nb,x,2,3,4,n0\n"),
            "jobs.csv, line 3: `submit` is `x`, but must be a whole number"
        );
        assert_eq!(
            says("id,submit,start,end,nodes,nodelist\na,1,2,3,4,n0\ngarbage\n"),
            "jobs.csv, line 3: this line has 1 field, but the header has 6"
        );
    }
}
