//! The history of a machine: requests of jobs with their times, and the allocated nodes.

use std::fmt::Write;

use super::FileProblem;
use super::unmodelled::Beyond;
use crate::cell::{plain, written};

/// Seconds since the beginning of 1970 in UTC.
pub type Second = i64;

/// One scheduling attempt of a job. A requeued job has several.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JobRecord {
    /// The job ID shown to users, such as `1173_7`.
    pub id: String,
    /// The number of the attempt, from 1.
    pub attempt: u32,
    pub user: String,
    /// The charged account.
    pub account: String,
    pub partition: String,
    /// The partitions that it named, separated by commas, if there are several.
    pub partitions: String,
    /// The quality of service.
    pub qos: String,
    /// The final state, in one word of the scheduler.
    pub state: String,
    /// The time of submission.
    pub submit: Option<Second>,
    /// The time from which it could start but for the machine and other jobs.
    pub eligible: Option<Second>,
    /// The time of its start, if it started.
    pub start: Option<Second>,
    /// The time of its end, if it ended.
    pub end: Option<Second>,
    /// The time limit in seconds, if it has one.
    pub limit: Option<Second>,
    /// The number of requested nodes.
    pub nodes: u32,
    /// The allocated nodes as a host list; empty if there are none.
    pub nodelist: String,
    /// The processors allocated on all nodes; 0 if unknown.
    pub processors: u32,
    /// Whether it was allocated whole nodes.
    pub exclusive: bool,
    /// Whether it was allocated whole base blocks.
    pub whole_blocks: bool,
    /// The segment size: the number of nodes that must be placed together.
    pub segment: Option<u32>,
    /// Whether each segment had blocks of its own.
    pub spread: bool,
    /// Whether all segments were in one aggregated block.
    pub consolidate: bool,
    /// The maximum number of leaf switches.
    pub switches: Option<u32>,
    /// Whether its nodes were contiguous.
    pub contiguous: bool,
    /// The required nodes, as a host list.
    pub require: String,
    /// The excluded nodes, as a host list.
    pub exclude: String,
    /// The nice value: the points subtracted from its priority.
    pub nice: i64,
    /// The name of its reservation; empty for none.
    pub reservation: String,
    /// The maximum number of tasks of its array that may run at once.
    pub throttle: Option<u32>,
    /// The options for parts of nodes in its request, in the form that `salloc` takes.
    pub options: String,
    /// The minimum of the requested range of node counts, if it is less than `nodes`.
    pub least: Option<u32>,
    /// The total time for which it was suspended, in seconds.
    pub suspended: Second,
    /// The last priority.
    pub priority: Option<i64>,
    /// The scheduler that started it.
    pub by: StartedBy,
    /// The last reason of its wait, as recorded by the scheduler.
    pub reason: String,
    /// Requests that are not modelled, in the order of [`Beyond::ALL`].
    pub beyond: Vec<Beyond>,
    /// The line in the file it was read from.
    pub line: usize,
}

/// The scheduler that started a job.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StartedBy {
    /// Unknown, or not started.
    #[default]
    Unknown,
    /// The main scheduler, which goes through the queue by priority.
    Main,
    /// The backfill scheduler, which starts jobs early if they delay no other.
    Backfill,
}

impl StartedBy {
    /// The word in a table.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            StartedBy::Unknown => "",
            StartedBy::Main => "main",
            StartedBy::Backfill => "backfill",
        }
    }
}

impl JobRecord {
    /// Whether it started and has a node list.
    #[must_use]
    pub fn ran(&self) -> bool {
        self.start.is_some() && !self.nodelist.is_empty()
    }

    /// The seconds from `queued` to its start, if it started.
    #[must_use]
    pub fn wait(&self) -> Option<Second> {
        Some((self.start? - self.queued()?).max(0))
    }

    /// The time from which it could start.
    #[must_use]
    pub fn queued(&self) -> Option<Second> {
        self.eligible.or(self.submit)
    }

    /// Whether it was killed before its end. Its nodes are available again once its processes have
    /// ended; the main scheduler then runs without delay.
    #[must_use]
    pub fn was_killed(&self) -> bool {
        ["PREEMPTED", "REQUEUED", "CANCELLED", "NODE_FAIL"].contains(&self.state.as_str())
    }

    /// Whether it was refused at submission: failed without a start.
    #[must_use]
    pub fn is_rejected(&self) -> bool {
        self.state == "FAILED" && self.start.is_none()
    }
}

/// All records, in order of submission.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct History {
    pub stays: Vec<JobRecord>,
}

/// The columns of a history as a table.
const COLUMNS: [&str; 35] = [
    "id",
    "attempt",
    "user",
    "account",
    "partition",
    "qos",
    "state",
    "submit",
    "eligible",
    "start",
    "end",
    "limit",
    "nodes",
    "nodelist",
    "processors",
    "exclusive",
    "segment",
    "spread",
    "consolidate",
    "switches",
    "contiguous",
    "require",
    "exclude",
    "priority",
    "by",
    "reason",
    "line",
    "not_modelled",
    "partitions",
    "nice",
    "reservation",
    "throttle",
    "min_nodes",
    "suspended",
    "options",
];

impl History {
    /// The number of jobs, each counted once.
    #[must_use]
    pub fn jobs(&self) -> usize {
        self.stays.iter().filter(|stay| stay.attempt == 1).count()
    }

    /// The first and the last second in the history.
    #[must_use]
    pub fn span(&self) -> Option<(Second, Second)> {
        let times = |stay: &JobRecord| [stay.submit, stay.eligible, stay.start, stay.end];
        let first = self.stays.iter().filter_map(|stay| stay.submit.or(stay.start)).min()?;
        let last = self.stays.iter().flat_map(times).flatten().max()?;
        Some((first, last))
    }

    /// The history as CSV, one line per record.
    ///
    /// # Complexity
    /// **O(n)** for *n* records.
    #[must_use]
    pub fn table(&self) -> String {
        let mut text = COLUMNS.join(",");
        text.push('\n');
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

    /// Reads a history from CSV; missing columns are empty, and the order of columns is free.
    ///
    /// # Errors
    /// With the file and the line: a cell that is no number, or a missing required column.
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
        let places = COLUMNS.map(place);
        let mut stays = Vec::new();
        for record in reader.records() {
            let record = record.map_err(|error| {
                let line = error.position().map_or(1, |position| position.line() as usize);
                wrong(line, error.to_string())
            })?;
            let line = record.position().map_or(1, |position| position.line() as usize);
            let cell = |name: &str| {
                let place = COLUMNS.iter().position(|own| *own == name).and_then(|own| places[own]);
                place.and_then(|place| record.get(place)).map(plain).unwrap_or_default()
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

/// Appends a cell, quoted if needed, and a comma.
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
    }
}
