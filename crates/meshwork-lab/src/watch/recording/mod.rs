//! What happened in one run, small enough to travel in a page: who held which processors, and who waited, at
//! every instant.
//!
//! Some runs are kept whole while they run: see [`kept`]. Any other is a function of its scenario, its replication and its
//! inputs, and is run again when somebody wants to look at it, in the way in which [`check`](crate::run::check) runs it
//! again. Where that cannot be done, the rows that `[output] jobs` wrote stand in.
//!
//! The order of what happened is that of the engine. Whoever reads a recording puts the machine together from it as
//! [`Scene`] does, event by event.

mod answers;
mod columns;
mod error;
pub mod kept;
mod marked;
mod rows;
mod tape;
mod timeline;

use std::path::Path;

use meshwork::catalogue::Catalogue;
use meshwork::job::{Job, Time};
use meshwork::observe::{Event, JobId, Observer};
use meshwork::scenario::Scenario;
use meshwork::topology::{Topology, Wiring};
use serde::Serialize;
use toml::Table;

use crate::findings::clock::Clock;
use crate::findings::number::{count, significant};
use crate::run::caught;
use crate::run::check::{RepeatError, scenario_of};
use crate::run::inputs::Files;
use crate::run::store::Record;
use crate::watch::{Happening, NOBODY, Scene, What};

use answers::Answers;
pub use columns::Columns;
pub use error::RecordingError;
pub use marked::Marked;
use marked::{Sleep, of as marked};
pub use tape::{Tape, Window};
use timeline::Counts;
pub use timeline::{Timeline, Waits};

/// One site, as it is drawn.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Site {
    /// How it is wired, in words: `8 × 8 torus`.
    pub words: String,
    /// The name of its wiring, as it is drawn.
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
            wiring: drawn_as(topology).name(),
            sides: topology.grid().sides().to_vec(),
            speed,
        }
    }

    fn processors(&self) -> u64 {
        self.sides.iter().map(|&side| u64::from(side)).product()
    }
}

/// The wiring that a picture shows: of a torus it says that all edges are joined to the opposite ones, so where some
/// are not it is drawn as a mesh.
fn drawn_as(topology: &Topology) -> Wiring {
    let grid = topology.grid();
    let is_open = (0..grid.dimensions()).any(|d| !grid.is_ring(d) && grid.sides()[d] > 2);
    match topology.wiring() {
        Wiring::Torus if is_open => Wiring::Mesh,
        wiring => wiring,
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
    /// What its clock counts, and when it began: see [`Clock`]. Instants here are in units of the clock.
    pub clock: Clock,
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
    /// Who submitted jobs, each once; empty where nobody is known, and the name is where one is not.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub users: Vec<String>,
    /// The partitions that jobs name, each once; as with users.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub partitions: Vec<String>,
    /// Nodes that are for some only.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub marked: Vec<Marked>,
    /// What a job waits for that could start: `priority`, or `reserved` if its scheduler keeps nodes for others; none where
    /// it is not known why jobs wait.
    pub held_up: Option<&'static str>,
    /// The last instant at which it is known why jobs wait, if that is not the last of all.
    pub answers_until: Option<f64>,
    /// What happened.
    #[serde(flatten)]
    pub columns: Columns,
}

/// Which run is to be recorded, and what it is called.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    /// What its scenario may name.
    pub catalogue: &'a Catalogue,
    /// The stored run.
    pub record: &'a Record,
    /// What tells it from others; empty where there are none.
    pub title: &'a str,
    /// The number of its scenario, from 1.
    pub scenario: u64,
}

impl Recording {
    /// A stored run of a folder of results. If it was kept while it ran, that is read; else it is run again, up to the
    /// end of the window; where that is impossible, its per-job output is read instead, and a note says so.
    ///
    /// # Errors
    /// If nothing of this can be done, or the run ended before the window begins.
    ///
    /// # Complexity
    /// That of the run, unless it was kept: then **O(events)**. Memory **O(events)**.
    pub fn of(
        subject: Subject<'_>,
        folder: &Path,
        window: Window,
    ) -> Result<Recording, RecordingError> {
        Recording::with_timeline(subject, folder, window).map(|(recording, _)| recording)
    }

    /// The same, with the run at a glance: all of it, if it was kept, else up to the end of the window.
    ///
    /// # Errors
    /// The same.
    pub fn with_timeline(
        subject: Subject<'_>,
        folder: &Path,
        window: Window,
    ) -> Result<(Recording, Timeline), RecordingError> {
        if let Ok(scenario) = scenario_as_it_was(subject.catalogue, subject.record)
            && kept::path(folder, &subject.record.key).is_file()
        {
            let mut heard = Heard::of(window, &scenario, subject.record.replication);
            let replayed = kept::replay(folder, &subject.record.key, &mut |happening| {
                heard.take(happening);
                true
            });
            if replayed.is_ok() {
                let end = subject.record.findings.end;
                let sites = sites(&scenario, subject.record.replication)?;
                let (recording, timeline) = heard.seen(subject, sites, end, true)?;
                return Ok((recording.with_what_is_not_kept(subject, folder, window), timeline));
            }
        }
        let files = Files::beside(folder);
        match repeatable(subject.catalogue, subject.record, &files) {
            Ok(scenario) => again(subject, &scenario, &files, window),
            Err(why) => rows::read(subject, folder, window, why),
        }
    }

    /// The same with the users and partitions of its jobs and the nodes that sleep, which are not kept while it runs:
    /// where there may be any, the run is made again up to the end of the window, if it can be.
    fn with_what_is_not_kept(
        self,
        subject: Subject<'_>,
        folder: &Path,
        window: Window,
    ) -> Recording {
        let files = Files::beside(folder);
        let Ok(scenario) = repeatable(subject.catalogue, subject.record, &files) else {
            return self;
        };
        if scenario.input_path().is_none() && !scenario.table().contains_key("energy") {
            return self;
        }
        let mut heard = Heard { marked: marked(&scenario), ..Heard::new(window) };
        let replication = subject.record.replication;
        let outcome = caught(|| {
            let outcome = scenario.run(replication, &files, &mut heard);
            outcome.map_err(|error| error.to_string())
        });
        heard.tape.end();
        let (marked, asleep) = (heard.marked, heard.asleep.spans);
        let tape::Heard { columns, users, partitions, .. } = heard.tape.heard();
        if outcome.is_err() || columns.number != self.columns.number {
            return self;
        }
        let Columns { user, partition, .. } = columns;
        let columns = Columns { user, partition, asleep, ..self.columns };
        Recording { users, partitions, marked, columns, ..self }
    }

    /// A machine as it is now, in the form in which a page draws it: all jobs that run, and the first so many of those that
    /// wait. What a page shows of a run that goes on is so drawn by what draws one that is over.
    ///
    /// The number of the scenario is 0, and speeds of sites are not told.
    ///
    /// # Complexity
    /// **O(n log n)** for *n* jobs.
    #[must_use]
    pub fn still(title: &str, replication: u64, scene: &Scene, most_waiting: usize) -> Recording {
        let mut happenings = Vec::new();
        let arrived = |id: &JobId, job: &Job| {
            let (id, what) = (*id, What::Arrived(job.clone()));
            (0, Happening { at: job.arrival, id, what })
        };
        for (id, held) in scene.running() {
            let what = What::Started { site: held.site, placement: held.placement.clone() };
            happenings.push(arrived(id, &held.job));
            happenings.push((1, Happening { at: held.since, id: *id, what }));
        }
        happenings
            .extend(scene.waiting().iter().take(most_waiting).map(|(id, job)| arrived(id, job)));
        for &(site, node) in scene.down() {
            let what = What::Down { site, node };
            happenings.push((0, Happening { at: scene.now(), id: NOBODY, what }));
        }
        happenings.sort_by_key(|(order, happening)| (happening.at, *order, happening.id));
        let mut tape = Tape::new(Window { from: 0.0, jobs: usize::MAX });
        for (_, happening) in happenings {
            tape.take(happening);
        }
        tape.end();
        let tape::Heard { columns, asked, shapes, .. } = tape.heard();
        let now = scene.now().units();
        Recording {
            clock: Clock::default(),
            title: title.to_owned(),
            scenario: 0,
            replication: replication + 1,
            sites: scene.topologies().iter().map(|topology| Site::new(topology, 1.0)).collect(),
            from: now,
            until: now,
            notes: Vec::new(),
            asked,
            shapes,
            users: Vec::new(),
            partitions: Vec::new(),
            marked: Vec::new(),
            held_up: None,
            answers_until: None,
            columns,
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
            clock: Clock::default(),
            sites,
            from: window.from,
            until: window.from,
            notes: Vec::new(),
            asked: Vec::new(),
            shapes: Vec::new(),
            users: Vec::new(),
            partitions: Vec::new(),
            marked: Vec::new(),
            held_up: None,
            answers_until: None,
            columns: Columns::default(),
        }
    }

    /// What a tape holds, of a run that ended then.
    fn filled(
        mut self,
        subject: Subject<'_>,
        mut tape: Tape,
        end: f64,
    ) -> Result<Recording, RecordingError> {
        tape.end();
        if !tape.has_begun() && self.from > 0.0 {
            let [end, from] = [end, self.from].map(|time| significant(time, 6));
            return Err(RecordingError::Over { end, from });
        }
        let window = Window { from: self.from, ..Window::default() };
        self.notes.extend(Recording::part(subject.record, &tape, window));
        self.until = if tape.is_full() { tape.until().units() } else { end };
        let tape::Heard { columns, asked, shapes, users, partitions, held_up, answers_until } =
            tape.heard();
        self.columns = columns;
        self.users = users;
        self.partitions = partitions;
        self.asked = asked;
        self.shapes = shapes;
        self.held_up = held_up;
        self.answers_until = answers_until.map(Time::units);
        self.notes.extend(self.answers_until.map(|until| {
            format!("Reasons for waiting were recorded up to time {}.", significant(until, 6))
        }));
        Ok(self)
    }
}

/// The scenario of a run, if it can be run again.
fn repeatable(
    catalogue: &Catalogue,
    record: &Record,
    files: &Files,
) -> Result<Scenario, RepeatError> {
    let (scenario, key) = scenario_of(catalogue, record, files)?;
    if key == record.key {
        Ok(scenario)
    } else {
        Err(RepeatError::OtherKey { stored: record.key.clone(), own: key })
    }
}

/// The scenario of a run, whether or not it can be run again.
fn scenario_as_it_was(catalogue: &Catalogue, record: &Record) -> Result<Scenario, RepeatError> {
    let table = Table::try_from(&record.scenario)
        .map_err(|error| RepeatError::Unreadable(error.to_string()))?;
    Ok(Scenario::read_in(catalogue, &table)?)
}

/// What is kept of a run that goes by: a part of it event by event, and all of it at a glance.
struct Heard {
    window: Window,
    tape: Tape,
    counts: Counts,
    /// Partitions and reservations.
    marked: Vec<Marked>,
    asleep: Sleep,
}

impl Heard {
    fn new(window: Window) -> Heard {
        let (marked, asleep) = (Vec::new(), Sleep::default());
        Heard { window, tape: Tape::new(window), counts: Counts::default(), marked, asleep }
    }

    /// The same of a run of a scenario, with why jobs wait in it.
    fn of(window: Window, scenario: &Scenario, replication: u64) -> Heard {
        let tape = Tape::with_answers(window, Answers::of(scenario, replication));
        Heard { tape, marked: marked(scenario), ..Heard::new(window) }
    }

    fn take(&mut self, happening: Happening) {
        self.counts.take(&happening);
        self.tape.take(happening);
    }

    /// What came of it, of a run that ended then; `whole` says whether it went by up to its end.
    fn seen(
        self,
        subject: Subject<'_>,
        sites: Vec<Site>,
        end: f64,
        whole: bool,
    ) -> Result<(Recording, Timeline), RecordingError> {
        let processors = sites.iter().map(Site::processors).sum();
        let whole = whole || !self.tape.is_full();
        let until = if whole { end } else { self.tape.until().units() };
        let timeline = self.counts.timeline(processors, until, whole).of_run(subject);
        let begun = Recording::begin(subject, sites, self.window);
        let filled = begun.filled(subject, self.tape, end)?;
        let columns = Columns { asleep: self.asleep.spans, ..filled.columns };
        Ok((Recording { marked: self.marked, columns, ..filled }, timeline))
    }
}

impl Observer for Heard {
    fn observe(&mut self, now: Time, event: &Event<'_>) {
        match event {
            Event::Asleep { site, nodes } => self.asleep.begin(now, *site, nodes),
            Event::Awake { site, nodes, .. } => self.asleep.end(now, *site, nodes),
            _ => {}
        }
        if let Some(happening) = Happening::of(now, event) {
            self.take(happening);
        }
    }

    fn is_done(&self) -> bool {
        self.tape.is_full()
    }
}

/// Runs it again.
fn again(
    subject: Subject<'_>,
    scenario: &Scenario,
    files: &Files,
    window: Window,
) -> Result<(Recording, Timeline), RecordingError> {
    let record = subject.record;
    let sites = sites(scenario, record.replication)?;
    let mut heard = Heard::of(window, scenario, record.replication);
    let outcome = caught(|| {
        let outcome = scenario.run(record.replication, files, &mut heard);
        outcome.map_err(|error| error.to_string())
    })
    .map_err(RecordingError::Failed)?;
    heard.seen(subject, sites, outcome.end.units().min(f64::MAX), false)
}

fn sites(scenario: &Scenario, replication: u64) -> Result<Vec<Site>, RecordingError> {
    let setup =
        scenario.sound(replication).map_err(|error| RecordingError::Failed(error.to_string()))?;
    let sites = setup.facility.sites().iter().map(|managed| managed.site());
    Ok(sites.map(|site| Site::new(site.topology(), site.speed())).collect())
}

#[cfg(test)]
mod tests;
