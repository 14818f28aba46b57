//! Recording of one run for replay in a page: running and waiting jobs at every instant.
//!
//! Some runs are recorded completely while they run: see [`kept`]. Any other run is repeated, as by
//! [`check`](crate::run::check), because it depends only on its scenario, its replication and its
//! inputs. If that is impossible, the per-job output is used. Events are in the order of the
//! engine, and a reader applies them like [`Scene`].

mod answers;
mod columns;
mod error;
mod marked;
mod rows;
mod tape;
mod timeline;

use std::path::Path;

use meshwork::catalogue::Catalogue;
use meshwork::job::{Job, Time};
use meshwork::observe::{Event, JobId, Observer};
use meshwork::scenario::Scenario;
use meshwork::topology::types::{NodeType, NodeTypes};
use meshwork::topology::{Topology, Wiring};
use serde::Serialize;
use toml::Table;

use crate::inputs::Files;
use crate::run::check::{RepeatError, scenario_of};
use crate::run::event::{EventKind, NOBODY, RunEvent};
pub use crate::run::kept;
use crate::run::store::RunRecord;
use crate::run::{caught, simulated};
use crate::study::clock::Clock;
use crate::text::number::{count, significant};
use crate::watch::Scene;

use answers::Answers;
pub use columns::{Columns, PartColumns};
pub use error::RecordingError;
pub use marked::Marked;
use marked::{Sleep, gpu_down, gpu_up, of as marked};
pub use tape::{RecordingWindow, Tape};
use timeline::Counts;
pub use timeline::{Timeline, WaitDistribution};

/// Site of a machine, as a page draws it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RecordedSite {
    pub words: String,
    /// Wiring with which the site is drawn, such as `mesh`.
    pub wiring: &'static str,
    /// Lengths of the sides of the grid of nodes, in order of dimensions.
    pub sides: Vec<u32>,
    /// Speed of the site. At speed 1, jobs take the run times of the workload.
    pub speed: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shared: Option<RecordedNodes>,
}

/// Resources of nodes that several jobs may share.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RecordedNodes {
    pub types: Vec<RecordedType>,
    /// Groups of consecutive nodes of one type. Each has the number of nodes and the index of the
    /// type.
    pub of: Vec<(u32, u32)>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RecordedType {
    pub name: String,
    pub cpu: u32,
    /// Memory of a node, in MiB.
    pub mem: u32,
    pub gpu: u32,
    pub other: u32,
}

impl RecordedNodes {
    fn new(types: &NodeTypes) -> RecordedNodes {
        let indices: Vec<u32> = (0..types.nodes()).map(|node| types.index(node) as u32).collect();
        let of = indices.chunk_by(u32::eq).map(|run| (run.len() as u32, run[0])).collect();
        let kind = |own: &NodeType| RecordedType {
            name: own.name.clone(),
            cpu: own.cpu,
            mem: own.mem,
            gpu: own.gpu,
            other: own.other,
        };
        RecordedNodes { types: types.types().iter().map(kind).collect(), of }
    }
}

impl RecordedSite {
    fn new(topology: &Topology, speed: f64) -> RecordedSite {
        RecordedSite {
            words: topology.to_string(),
            wiring: drawn_as(topology).name(),
            sides: topology.grid().sides().to_vec(),
            speed,
            shared: topology.types().map(|types| RecordedNodes::new(types)),
        }
    }

    fn processors(&self) -> u64 {
        if let Some(RecordedNodes { types, of }) = &self.shared {
            let cores =
                |&(count, own): &(u32, u32)| u64::from(count) * u64::from(types[own as usize].cpu);
            return of.iter().map(cores).sum();
        }
        self.sides.iter().map(|&side| u64::from(side)).product()
    }
}

/// Wiring with which a topology is drawn. A torus whose edges do not all wrap around is drawn as a
/// mesh.
fn drawn_as(topology: &Topology) -> Wiring {
    let grid = topology.grid();
    let is_open = (0..grid.dimensions()).any(|d| !grid.is_ring(d) && grid.sides()[d] > 2);
    match topology.wiring() {
        Wiring::Torus if is_open => Wiring::Mesh,
        wiring => wiring,
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RecordedRequest {
    /// Request in the syntax of the `table` workload, such as `7`, `3x5` or `2^3`.
    pub text: String,
    pub nodes: u64,
}

/// Recorded run or part of it. In JSON, the columns are packed: see [`Columns`].
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Recording {
    /// Swept values of the scenario.
    pub title: String,
    /// Number of the scenario, counted from 1.
    pub scenario: u64,
    /// Number of the replication, counted from 1.
    pub replication: u64,
    /// Unit of all times in the recording, and date at which the clock shows 0.
    pub clock: Clock,
    pub sites: Vec<RecordedSite>,
    pub from: f64,
    pub until: f64,
    /// Sentences for the reader, such as the reason why the recording is not of the whole run.
    pub notes: Vec<String>,
    /// Distinct requests, to which columns refer by index.
    pub asked: Vec<RecordedRequest>,
    /// Distinct shapes of allocated blocks, as lengths of their sides. Columns refer to them by
    /// index.
    pub shapes: Vec<Vec<u32>>,
    /// Names of users. Jobs without a user have an empty name. The list is empty if no user is
    /// known.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub users: Vec<String>,
    /// Names of requested partitions. Jobs that request none have an empty name. The list is empty
    /// if no job requests a partition.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub partitions: Vec<String>,
    /// Marks of nodes: those in partitions and reservations, and those with a failed GPU.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub marked: Vec<Marked>,
    /// Reason for which a job waits although it could start. `None` if unknown. It is `priority`,
    /// or `reserved` if the scheduler makes reservations.
    pub held_up: Option<&'static str>,
    /// Last instant with recorded reasons for waiting; `None` if they cover the whole recording.
    pub answers_until: Option<f64>,
    #[serde(flatten)]
    pub columns: Columns,
}

/// Stored run that is to be replayed or drawn, with its label.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    pub catalogue: &'a Catalogue,
    pub record: &'a RunRecord,
    /// Label of the run. It is empty if only one run is shown.
    pub title: &'a str,
    /// Number of the scenario, counted from 1.
    pub scenario: u64,
}

impl Recording {
    /// Reads the recording of a stored run in a results folder, for a window of time.
    ///
    /// If there is no valid recording file, the run is repeated up to the end of the window. If
    /// that is impossible, the recording is made from the run's per-job output, and a note says so.
    /// This does not work if jobs share nodes.
    ///
    /// # Errors
    /// If the run cannot be replayed in any of these ways, or ended before the window begins.
    pub fn of(
        subject: Subject<'_>,
        folder: &Path,
        window: RecordingWindow,
    ) -> Result<Recording, RecordingError> {
        Recording::with_timeline(subject, folder, window).map(|(recording, _)| recording)
    }

    /// Reads a stored run as [`of`](Recording::of) does, and also makes its timeline.
    ///
    /// If the run has a recording file, the timeline covers the whole run. Otherwise it ends at the
    /// end of the window.
    pub fn with_timeline(
        subject: Subject<'_>,
        folder: &Path,
        window: RecordingWindow,
    ) -> Result<(Recording, Timeline), RecordingError> {
        let as_it_was = scenario_as_it_was(subject.catalogue, subject.record);
        let is_shared = as_it_was.as_ref().is_ok_and(Scenario::shares_nodes);
        if let Ok(scenario) = as_it_was
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
            Err(why) if is_shared => Err(RecordingError::Failed(format!(
                "{why}; and per-job output does not say which parts of nodes jobs held"
            ))),
            Err(why) => rows::read(subject, folder, window, why),
        }
    }

    /// Adds data that the file of a recording lacks: users, partitions, sleeping nodes and GPU
    /// outages.
    ///
    /// If the scenario can have any of them, the run is repeated up to the end of the window.
    fn with_what_is_not_kept(
        self,
        subject: Subject<'_>,
        folder: &Path,
        window: RecordingWindow,
    ) -> Recording {
        let files = Files::beside(folder);
        let Ok(scenario) = repeatable(subject.catalogue, subject.record, &files) else {
            return self;
        };
        let has_key = |key: &str| scenario.table().contains_key(key);
        let may_lose_gpus = scenario.shares_nodes() && has_key("failures");
        if scenario.input_path().is_none() && !has_key("energy") && !may_lose_gpus {
            return self;
        }
        let mut heard = Heard { marked: marked(&scenario), ..Heard::new(window) };
        let replication = subject.record.replication;
        let outcome = caught(|| simulated(&scenario, replication, &files, &mut heard));
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

    /// Current state of a machine as a recording, by which a page draws a run in progress.
    ///
    /// It has all running jobs and the first `most_waiting` waiting jobs. The number of the
    /// scenario is 0, and sites have speed 1.
    pub fn still(title: &str, replication: u64, scene: &Scene, most_waiting: usize) -> Recording {
        let mut happenings = Vec::new();
        let arrived = |id: &JobId, job: &Job| {
            let (id, what) = (*id, EventKind::Arrived(job.clone()));
            (0, RunEvent { at: job.arrival, id, what })
        };
        for (id, held) in scene.running() {
            let what = EventKind::Started { site: held.site, placement: held.placement.clone() };
            happenings.push(arrived(id, &held.job));
            happenings.push((1, RunEvent { at: held.since, id: *id, what }));
        }
        happenings
            .extend(scene.waiting().iter().take(most_waiting).map(|(id, job)| arrived(id, job)));
        for &(site, node) in scene.down() {
            let what = EventKind::Down { site, node };
            happenings.push((0, RunEvent { at: scene.now(), id: NOBODY, what }));
        }
        happenings.sort_by_key(|(order, happening)| (happening.at, *order, happening.id));
        let window = RecordingWindow { from: 0.0, jobs: usize::MAX };
        let mut tape = Tape::on(scene.topologies().to_vec(), window, None);
        for (_, happening) in happenings {
            tape.take(happening);
        }
        tape.end();
        let tape::Heard { columns, asked, shapes, .. } = tape.heard();
        let now = scene.now().units();
        let sites = scene.topologies().iter().map(|topology| RecordedSite::new(topology, 1.0));
        let empty = Recording::empty(title, (0, replication), sites.collect(), now);
        Recording { asked, shapes, columns, ..empty }
    }

    pub fn jobs(&self) -> usize {
        self.columns.number.len()
    }

    fn part(record: &RunRecord, tape: &Tape, window: RecordingWindow) -> Option<String> {
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

    /// Creates a recording without events. The parameter `replication` counts from 0.
    fn empty(
        title: &str,
        (scenario, replication): (u64, u64),
        sites: Vec<RecordedSite>,
        at: f64,
    ) -> Recording {
        Recording {
            title: title.to_owned(),
            scenario,
            replication: replication + 1,
            clock: Clock::default(),
            sites,
            from: at,
            until: at,
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
        let window = RecordingWindow { from: self.from, ..RecordingWindow::default() };
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

fn repeatable(
    catalogue: &Catalogue,
    record: &RunRecord,
    files: &Files,
) -> Result<Scenario, RepeatError> {
    let (scenario, key) = scenario_of(catalogue, record, files)?;
    if key == record.key {
        Ok(scenario)
    } else {
        Err(RepeatError::OtherKey { stored: record.key.clone(), own: key })
    }
}

/// Scenario of a stored run. It is returned even if the run cannot be repeated.
fn scenario_as_it_was(catalogue: &Catalogue, record: &RunRecord) -> Result<Scenario, RepeatError> {
    let table = Table::try_from(&record.scenario)
        .map_err(|error| RepeatError::Unreadable(error.to_string()))?;
    Ok(Scenario::read_in(catalogue, &table)?)
}

/// Observer that collects the timeline of a run, and records the events in a window of time.
struct Heard {
    window: RecordingWindow,
    tape: Tape,
    counts: Counts,
    marked: Vec<Marked>,
    asleep: Sleep,
}

impl Heard {
    fn new(window: RecordingWindow) -> Heard {
        let (marked, asleep) = (Vec::new(), Sleep::default());
        Heard { window, tape: Tape::new(window), counts: Counts::default(), marked, asleep }
    }

    /// Creates an observer that also collects the reasons why jobs wait.
    fn of(window: RecordingWindow, scenario: &Scenario, replication: u64) -> Heard {
        let answers = Answers::of(scenario, replication);
        let tape = Tape::on(scenario.topologies(), window, answers);
        Heard { tape, marked: marked(scenario), ..Heard::new(window) }
    }

    fn take(&mut self, happening: RunEvent) {
        self.counts.take(&happening);
        self.tape.take(happening);
    }

    /// Makes the recording and the timeline of a run that ended at `end`. `whole` says whether the
    /// whole run was observed.
    fn seen(
        self,
        subject: Subject<'_>,
        sites: Vec<RecordedSite>,
        end: f64,
        whole: bool,
    ) -> Result<(Recording, Timeline), RecordingError> {
        let processors = sites.iter().map(RecordedSite::processors).sum();
        let whole = whole || !self.tape.is_full();
        let until = if whole { end } else { self.tape.until().units() };
        let timeline = self.counts.timeline(processors, until, whole).of_run(subject);
        let run = (subject.scenario, subject.record.replication);
        let begun = Recording::empty(subject.title, run, sites, self.window.from);
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
            Event::GpuDown { site, node, gpu } => {
                gpu_down(&mut self.marked, now, (*site, *node), *gpu);
            }
            Event::GpuUp { site, node, gpu } => {
                gpu_up(&mut self.marked, now, (*site, *node), *gpu);
            }
            _ => {}
        }
        if let Some(happening) = RunEvent::of(now, event) {
            self.take(happening);
        }
    }

    fn is_done(&self) -> bool {
        self.tape.is_full()
    }
}

fn again(
    subject: Subject<'_>,
    scenario: &Scenario,
    files: &Files,
    window: RecordingWindow,
) -> Result<(Recording, Timeline), RecordingError> {
    let record = subject.record;
    let sites = sites(scenario, record.replication)?;
    let mut heard = Heard::of(window, scenario, record.replication);
    let outcome = caught(|| simulated(scenario, record.replication, files, &mut heard))
        .map_err(RecordingError::Failed)?;
    heard.seen(subject, sites, outcome.end.units().min(f64::MAX), false)
}

fn sites(scenario: &Scenario, replication: u64) -> Result<Vec<RecordedSite>, RecordingError> {
    let setup = scenario
        .setup_ideal(replication)
        .map_err(|error| RecordingError::Failed(error.to_string()))?;
    let sites = setup.facility.sites().iter().map(|managed| managed.site());
    Ok(sites.map(|site| RecordedSite::new(site.topology(), site.speed())).collect())
}

#[cfg(test)]
mod tests;
