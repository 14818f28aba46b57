//! What happened on a machine: who wanted which nodes when, and which nodes it got.

use std::fmt::Write;

use super::Trouble;
use super::unmodelled::Beyond;
use crate::cell::{plain, written};

/// Seconds since the beginning of 1970 in UTC.
pub type Second = i64;

/// One stay of a job in the queue and on the machine. A job that is queued again has one for each time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stay {
    /// The name under which people know the job, as `1173_7`.
    pub id: String,
    /// Which stay of the job it is, from 1.
    pub attempt: u32,
    /// Who submitted it.
    pub user: String,
    /// Who is charged.
    pub account: String,
    /// The partition.
    pub partition: String,
    /// The quality of service.
    pub qos: String,
    /// How it ended, in one word of the scheduler.
    pub state: String,
    /// When it was submitted.
    pub submit: Option<Second>,
    /// When it might have started, but for the machine and for others.
    pub eligible: Option<Second>,
    /// When it started, if it did.
    pub start: Option<Second>,
    /// When it ended, if it did.
    pub end: Option<Second>,
    /// The seconds after which it would have been stopped, if it has a limit.
    pub limit: Option<Second>,
    /// How many nodes it asked for.
    pub nodes: u32,
    /// The nodes that it had, as a list of hosts; nothing if it had none.
    pub nodelist: String,
    /// The processors that it had, on all of its nodes; 0 if it is not known.
    pub processors: u32,
    /// Whether it took nodes whole.
    pub exclusive: bool,
    /// Whether no other job might run in its blocks.
    pub whole_blocks: bool,
    /// The size of the parts that might lie apart.
    pub segment: Option<u32>,
    /// Whether each part had blocks of its own.
    pub spread: bool,
    /// Whether all parts lay in one aggregated block.
    pub consolidate: bool,
    /// The most leaf switches that it might touch.
    pub switches: Option<u32>,
    /// Whether its nodes followed one another.
    pub contiguous: bool,
    /// Nodes that it had to have.
    pub require: String,
    /// Nodes that it must not have.
    pub exclude: String,
    /// Its priority at last.
    pub priority: Option<i64>,
    /// Which part of the scheduler started it.
    pub by: By,
    /// Why it waited, as the scheduler keeps it.
    pub reason: String,
    /// Its requests that are not modelled, in the order of the list.
    pub beyond: Vec<Beyond>,
    /// Where it stands in the file that it was read from.
    pub line: usize,
}

/// Which part of the scheduler started a job.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum By {
    /// It is not known, or none did.
    #[default]
    Unknown,
    /// The one that goes through the queue in the order of priority.
    Main,
    /// The one that lets jobs pass others where they delay none.
    Backfill,
}

impl By {
    /// As it is written in a table.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            By::Unknown => "",
            By::Main => "main",
            By::Backfill => "backfill",
        }
    }
}

impl Stay {
    /// Whether it had nodes, and for how long is known.
    #[must_use]
    pub fn ran(&self) -> bool {
        self.start.is_some() && !self.nodelist.is_empty()
    }

    /// How long it waited for the machine and for others, if it started.
    #[must_use]
    pub fn wait(&self) -> Option<Second> {
        Some((self.start? - self.queued()?).max(0))
    }

    /// Since when it could have started.
    #[must_use]
    pub fn queued(&self) -> Option<Second> {
        self.eligible.or(self.submit)
    }

    /// Whether it was refused at once: it has ended, and never started nor waited.
    #[must_use]
    pub fn is_rejected(&self) -> bool {
        self.state == "FAILED" && self.start.is_none()
    }
}

/// All stays, in the order of their submission.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct History {
    /// The stays.
    pub stays: Vec<Stay>,
}

/// The columns of a history as a table.
const COLUMNS: [&str; 28] = [
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
];

impl History {
    /// How many jobs there are, each counted once.
    #[must_use]
    pub fn jobs(&self) -> usize {
        self.stays.iter().filter(|stay| stay.attempt == 1).count()
    }

    /// The first and the last second of which it says anything.
    #[must_use]
    pub fn span(&self) -> Option<(Second, Second)> {
        let times = |stay: &Stay| [stay.submit, stay.eligible, stay.start, stay.end];
        let first = self.stays.iter().filter_map(|stay| stay.submit.or(stay.start)).min()?;
        let last = self.stays.iter().flat_map(times).flatten().max()?;
        Some((first, last))
    }

    /// As a table of comma-separated values, one line for each stay.
    ///
    /// # Complexity
    /// **O(n)** for *n* stays.
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
            let _ = writeln!(text, "{},{}", stay.line, beyond.join(" "));
        }
        text
    }

    /// Reads such a table; columns that it does not have are empty, and their order is free.
    ///
    /// # Errors
    /// With the file and the line: a cell that is no number, or a column that must be there and is not.
    pub fn read(file: &str, text: &str) -> Result<History, Trouble> {
        let mut reader = csv::ReaderBuilder::new().flexible(true).from_reader(text.as_bytes());
        let wrong = |line: usize, says: String| Trouble::at(file, line, says);
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
            stays.push(Stay {
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
                    "main" => By::Main,
                    "backfill" => By::Backfill,
                    _ => By::Unknown,
                },
                reason: text("reason"),
                beyond: Beyond::ALL
                    .into_iter()
                    .filter(|own| cell("not_modelled").split(' ').any(|word| word == own.word()))
                    .collect(),
                line: count("line")?.unwrap_or(0) as usize,
            });
        }
        Ok(History { stays })
    }
}

/// A cell, in quotes where it needs them, and the comma behind it.
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
        let stay = Stay {
            id: "7_[1-3%2]".to_owned(),
            attempt: 2,
            partition: "a,b".to_owned(),
            state: "COMPLETED".to_owned(),
            submit: Some(1),
            start: Some(-5),
            nodes: 4,
            nodelist: "n[0-1,4-5]".to_owned(),
            exclusive: true,
            segment: Some(2),
            contiguous: true,
            priority: Some(4_294_901_759),
            by: By::Backfill,
            reason: "says \"no\"".to_owned(),
            user: "=HYPERLINK(\"x\")".to_owned(),
            account: "-7".to_owned(),
            qos: "'@high".to_owned(),
            beyond: vec![Beyond::Gres, Beyond::Reservation],
            line: 9,
            ..Stay::default()
        };
        let history = History { stays: vec![stay, Stay { attempt: 1, ..Stay::default() }] };
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
