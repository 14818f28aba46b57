//! What happened in one run, small enough to travel in a page: who held which processors, and who waited, at
//! every instant.
//!
//! A run is a function of its scenario, its replication and its inputs, so it is not kept: it is run again when
//! somebody wants to look at it, in the way in which [`check`](crate::run::check) runs it again. Where that cannot be
//! done, the rows that `[output] jobs` wrote stand in.
//!
//! The order of what happened is that of the engine. Whoever reads a recording puts the machine together from it as
//! [`Scene`](crate::watch::Scene) does, event by event.

mod columns;
mod rows;
mod tape;

use std::path::Path;

use meshwork::scenario::Scenario;
use meshwork::topology::Topology;
use serde::Serialize;

use crate::findings::number::{count, significant};
use crate::run::caught;
use crate::run::check::scenario_of;
use crate::run::inputs::Files;
use crate::run::store::Record;

pub use columns::Columns;
pub use tape::{Tape, Window};

/// The script that draws recordings: a call of `drawMachine(element, recordings)` in a page.
pub const SCRIPT: &str = concat!(
    include_str!("../../../assets/machine/run.js"),
    include_str!("../../../assets/machine/layout.js"),
    include_str!("../../../assets/machine/paint.js"),
    include_str!("../../../assets/machine/map.js"),
    include_str!("../../../assets/machine/plots.js"),
    include_str!("../../../assets/machine/gantt.js"),
    include_str!("../../../assets/machine/words.js"),
    include_str!("../../../assets/machine/player.js"),
);

/// The style sheet that goes with it.
pub const STYLE: &str = include_str!("../../../assets/machine/machine.css");

/// One site, as it is drawn.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Site {
    /// How it is wired, in words: `8 × 8 torus`.
    pub words: String,
    /// The name of its wiring.
    pub wiring: &'static str,
    /// The side of each dimension, dimension 0 first.
    pub sides: Vec<u32>,
    /// How many times faster than the workload's own machine it runs a job.
    pub speed: f64,
}

impl Site {
    fn new(topology: &Topology, speed: f64) -> Site {
        Site {
            words: topology.to_string(),
            wiring: topology.wiring().name(),
            sides: topology.grid().sides().to_vec(),
            speed,
        }
    }
}

/// Something that jobs asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Asked {
    /// As the `table` workload writes it: `7`, `3x5`, `2^3`.
    pub text: String,
    /// How many processors that is.
    pub nodes: u64,
}

/// One run, to be looked at.
///
/// As JSON it is these fields, with the columns packed: see [`Columns`].
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Recording {
    /// What tells the run from others: the swept values of its scenario.
    pub title: String,
    /// The number of its scenario, from 1.
    pub scenario: u64,
    /// The number of its replication, from 1.
    pub replication: u64,
    /// Its sites.
    pub sites: Vec<Site>,
    /// The first instant that is shown.
    pub from: f64,
    /// The last instant that is shown.
    pub until: f64,
    /// Why this is not the whole run, and the like: one sentence each.
    pub notes: Vec<String>,
    /// Everything that was asked for, each once.
    pub asked: Vec<Asked>,
    /// The sides of every block that was held, each once.
    pub shapes: Vec<Vec<u32>>,
    /// What happened.
    #[serde(flatten)]
    pub columns: Columns,
}

/// Which run is to be recorded, and what it is called.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    /// The stored run.
    pub record: &'a Record,
    /// What tells it from others; empty where there are none.
    pub title: &'a str,
    /// The number of its scenario, from 1.
    pub scenario: u64,
}

impl Recording {
    /// A stored run of a folder of results. It is run again, up to the end of the window; where that is
    /// impossible, its per-job output is read instead, and a note says so.
    ///
    /// # Errors
    /// One sentence, if neither can be done, or the run ended before the window begins.
    ///
    /// # Complexity
    /// That of the run. Memory **O(events in the window)**, besides the jobs in the system.
    pub fn of(subject: Subject<'_>, folder: &Path, window: Window) -> Result<Recording, String> {
        let files = Files::beside(folder);
        match repeatable(subject.record, &files) {
            Ok(scenario) => again(subject, &scenario, &files, window),
            Err(why) => rows::read(subject, folder, window, &why),
        }
    }

    /// How many jobs are in it.
    #[must_use]
    pub fn jobs(&self) -> usize {
        self.columns.number.len()
    }

    /// The first of its notes: which part of a run it is.
    fn part(record: &Record, tape: &Tape, window: Window) -> Option<String> {
        let time = |time: f64| significant(time, 6);
        let (jobs, until) = (count(tape.jobs() as u64), time(tape.until().units()));
        let (from, end) = (time(window.from), time(record.findings.end));
        match (tape.is_full(), window.from > 0.0) {
            (true, false) => Some(format!(
                "Shown are the first {jobs} jobs, until time {until}; the run went on until time {end}."
            )),
            (true, true) => Some(format!(
                "Shown is a part of the run, from time {from} to time {until}, with {jobs} jobs; the run ended \
                 at time {end}."
            )),
            (false, true) => Some(format!("Shown is the run from time {from} on.")),
            (false, false) => None,
        }
    }

    fn begin(subject: Subject<'_>, sites: Vec<Site>, window: Window) -> Recording {
        Recording {
            title: subject.title.to_owned(),
            scenario: subject.scenario,
            replication: subject.record.replication + 1,
            sites,
            from: window.from,
            until: window.from,
            notes: Vec::new(),
            asked: Vec::new(),
            shapes: Vec::new(),
            columns: Columns::default(),
        }
    }

    /// What a tape holds, of a run that ended then.
    fn filled(
        mut self,
        subject: Subject<'_>,
        mut tape: Tape,
        end: f64,
    ) -> Result<Recording, String> {
        tape.end();
        if !tape.has_begun() && self.from > 0.0 {
            let [end, from] = [end, self.from].map(|time| significant(time, 6));
            return Err(format!(
                "the run ended at time {end}, and so has no time {from} to be shown"
            ));
        }
        let window = Window { from: self.from, ..Window::default() };
        self.notes.extend(Recording::part(subject.record, &tape, window));
        self.until = if tape.is_full() { tape.until().units() } else { end };
        let tape::Heard { columns, asked, shapes } = tape.heard();
        self.columns = columns;
        self.asked = asked;
        self.shapes = shapes;
        Ok(self)
    }
}

/// The scenario of a run, if it can be run again.
fn repeatable(record: &Record, files: &Files) -> Result<Scenario, String> {
    let (scenario, key) = scenario_of(record, files)?;
    if key == record.key {
        Ok(scenario)
    } else {
        Err(format!("its key is {}, but should be {key}", record.key))
    }
}

/// Runs it again.
fn again(
    subject: Subject<'_>,
    scenario: &Scenario,
    files: &Files,
    window: Window,
) -> Result<Recording, String> {
    let record = subject.record;
    let begun = Recording::begin(subject, sites(scenario, record.replication)?, window);
    let mut tape = Tape::new(window);
    let outcome = caught(|| {
        let outcome = scenario.run(record.replication, files, &mut tape);
        outcome.map_err(|error| error.to_string())
    })?;
    begun.filled(subject, tape, outcome.end.units().min(f64::MAX))
}

fn sites(scenario: &Scenario, replication: u64) -> Result<Vec<Site>, String> {
    let setup = scenario.setup(replication).map_err(|error| error.to_string())?;
    let sites = setup.facility.sites().iter().map(|managed| managed.site());
    Ok(sites.map(|site| Site::new(site.topology(), site.speed())).collect())
}

#[cfg(test)]
mod tests;
