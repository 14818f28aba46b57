//! Keeps the events of a run while it is in progress.

use std::collections::BTreeMap;

use meshwork::job::{Dims, Job, Request, Time};
use meshwork::machine::Placement;
use meshwork::observe::{Event, JobId, Observer};
use meshwork::topology::{Node, Topology};

use super::answers::Answers;
use super::{Columns, RecordedRequest};
use crate::watch::{EventKind, RunEvent};

/// Maximum number of blocks in a recording. Jobs that move often reach it before the limit on the
/// number of jobs.
const MAX_BLOCKS: usize = 1_000_000;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RecordingWindow {
    /// Beginning of the window. Jobs that wait or run at this time are recorded too.
    pub from: f64,
    /// Maximum number of arrivals in the window. After so many, the window ends.
    pub jobs: usize,
}

impl Default for RecordingWindow {
    fn default() -> RecordingWindow {
        RecordingWindow { from: 0.0, jobs: 50_000 }
    }
}

/// Observer that keeps the events of a window of time, and ends the run when the window ends.
#[derive(Default)]
pub struct Tape {
    window: RecordingWindow,
    /// Events before the recorded window, for each job in the system when the window begins.
    earlier: BTreeMap<JobId, Vec<(u64, RunEvent)>>,
    before: u64,
    /// Nodes that were already out of service when the window began.
    down: BTreeMap<(usize, Node), (u64, RunEvent)>,
    /// Events of the current instant that are not stored yet. They are stored or dropped together.
    instant: Vec<RunEvent>,
    begun: bool,
    known: usize,
    full: bool,
    until: Time,
    places: BTreeMap<JobId, u32>,
    asked: BTreeMap<Request, u32>,
    shapes: BTreeMap<Dims, u32>,
    users: BTreeMap<String, u32>,
    partitions: BTreeMap<String, u32>,
    columns: Columns,
    topologies: Vec<Topology>,
    sites: BTreeMap<JobId, usize>,
    answers: Option<Answers>,
    /// Last instant for which answers of allocators are recorded, if a limit ended their recording.
    /// `None` if the limit was not reached.
    answers_until: Option<Time>,
}

/// Recorded events as columns, with the lists into which some columns hold indices.
pub(super) struct Heard {
    pub(super) columns: Columns,
    pub(super) asked: Vec<RecordedRequest>,
    pub(super) shapes: Vec<Vec<u32>>,
    pub(super) users: Vec<String>,
    pub(super) partitions: Vec<String>,
    pub(super) held_up: Option<&'static str>,
    pub(super) answers_until: Option<Time>,
}

impl Tape {
    pub fn new(window: RecordingWindow) -> Tape {
        Tape { window, ..Tape::default() }
    }

    /// Empty recorder of events, for a run on sites with the given topologies. If `answers` is
    /// given, reasons for waiting are recorded too.
    pub(super) fn on(
        topologies: Vec<Topology>,
        window: RecordingWindow,
        answers: Option<Answers>,
    ) -> Tape {
        Tape { topologies, answers, ..Tape::new(window) }
    }

    pub fn take(&mut self, happening: RunEvent) {
        if self.full {
            return;
        }
        if happening.at < Time::new(self.window.from) {
            if let Some(answers) = &mut self.answers {
                answers.apply(&happening);
            }
            self.remember(happening);
            return;
        }
        self.begin();
        if self.instant.last().is_some_and(|last| last.at < happening.at) {
            self.keep_instant();
            self.full = self.columns.number.len() - self.known >= self.window.jobs
                || self.columns.base.len() >= MAX_BLOCKS;
        }
        if !self.full {
            if let Some(answers) = &mut self.answers {
                answers.apply(&happening);
            }
            self.instant.push(happening);
        }
    }

    pub(super) fn end(&mut self) {
        if !self.full {
            self.keep_instant();
        }
    }

    pub fn is_full(&self) -> bool {
        self.full
    }

    pub(super) fn has_begun(&self) -> bool {
        self.begun
    }

    pub(super) fn until(&self) -> Time {
        self.until
    }

    pub(super) fn jobs(&self) -> usize {
        self.columns.number.len()
    }

    pub(super) fn heard(mut self) -> Heard {
        for (names, column) in [
            (&mut self.users, &mut self.columns.user),
            (&mut self.partitions, &mut self.columns.partition),
        ] {
            if names.keys().all(String::is_empty) {
                names.clear();
                column.clear();
            }
        }
        let asked = |request: &Request| RecordedRequest {
            text: request.to_string(),
            nodes: request.nodes(),
        };
        Heard {
            columns: self.columns,
            asked: in_place(&self.asked).map(asked).collect(),
            shapes: in_place(&self.shapes).map(|sides| sides.to_vec()).collect(),
            users: in_place(&self.users).cloned().collect(),
            partitions: in_place(&self.partitions).cloned().collect(),
            held_up: self.answers.map(|answers| answers.held_up().word()),
            answers_until: self.answers_until,
        }
    }

    /// Stores an event that precedes the recorded window, as long as its job is in the system.
    ///
    /// An outage of a node is stored until the node returns.
    fn remember(&mut self, happening: RunEvent) {
        let id = happening.id;
        self.before += 1;
        match happening.what {
            EventKind::Refused(_) => return,
            EventKind::TurnedAway | EventKind::Finished => {
                self.earlier.remove(&id);
                return;
            }
            EventKind::Moved { .. } => {
                let is_other =
                    |(_, h): &(u64, RunEvent)| !matches!(h.what, EventKind::Moved { .. });
                self.earlier.entry(id).or_default().retain(is_other);
            }
            EventKind::Interrupted => {
                let has_arrived =
                    |(_, h): &(u64, RunEvent)| matches!(h.what, EventKind::Arrived(_));
                self.earlier.entry(id).or_default().retain(has_arrived);
                return;
            }
            EventKind::Down { site, node } => {
                self.down.insert((site, node), (self.before, happening));
                return;
            }
            EventKind::Up { site, node } => {
                self.down.remove(&(site, node));
                return;
            }
            EventKind::Arrived(_) | EventKind::Started { .. } => {}
        }
        self.earlier.entry(id).or_default().push((self.before, happening));
    }

    fn begin(&mut self) {
        if std::mem::replace(&mut self.begun, true) {
            return;
        }
        let mut earlier: Vec<_> =
            std::mem::take(&mut self.earlier).into_values().flatten().collect();
        earlier.extend(std::mem::take(&mut self.down).into_values());
        earlier.sort_by_key(|(order, _)| *order);
        for (_, happening) in earlier {
            if self.instant.last().is_some_and(|last| last.at < happening.at) {
                self.keep_happenings();
            }
            self.instant.push(happening);
        }
        // `answers` has applied all of these events.
        self.keep_instant();
        self.known = self.columns.number.len();
    }

    fn keep_instant(&mut self) {
        if !self.keep_happenings() {
            return;
        }
        let Some(answers) = &mut self.answers else { return };
        if answers.is_silent() {
            return;
        }
        for (request, answer) in answers.changes(self.until) {
            let Some(&place) = self.asked.get(&request) else { continue };
            self.columns.answered.push(place);
            self.columns.answer.push(answer);
            if let Some(count) = self.columns.answers.last_mut() {
                *count += 1;
            }
        }
        if answers.is_silent() {
            self.answers_until = Some(self.until);
        }
    }

    /// Stores the events of the current instant. Returns whether there were any.
    fn keep_happenings(&mut self) -> bool {
        let instant = std::mem::take(&mut self.instant);
        let Some(first) = instant.first() else { return false };
        self.until = first.at;
        self.columns.at.push(first.at.units());
        self.columns.count.push(instant.len() as u32);
        if self.answers.is_some() {
            self.columns.answers.push(0);
        }
        for happening in &instant {
            self.keep(happening);
        }
        true
    }

    fn keep(&mut self, happening: &RunEvent) {
        let kind = match &happening.what {
            EventKind::Arrived(job) => {
                self.add(happening.id, job);
                0
            }
            EventKind::Refused(job) => {
                self.add(happening.id, job);
                1
            }
            EventKind::TurnedAway => 2,
            EventKind::Started { site, placement } => {
                self.columns.site.push(*site as u32);
                self.sites.insert(happening.id, *site);
                self.place(*site, placement);
                3
            }
            EventKind::Moved { placement } => {
                let site = self.sites.get(&happening.id).copied().unwrap_or_default();
                self.place(site, placement);
                4
            }
            EventKind::Finished => 5,
            EventKind::Interrupted => 6,
            EventKind::Down { site, .. } | EventKind::Up { site, .. } => {
                self.columns.site.push(*site as u32);
                if matches!(happening.what, EventKind::Down { .. }) { 7 } else { 8 }
            }
        };
        self.columns.kind.push(kind);
        self.columns.job.push(match happening.what {
            EventKind::Down { node, .. } | EventKind::Up { node, .. } => node,
            _ => self.places.get(&happening.id).copied().unwrap_or(u32::MAX),
        });
        if matches!(kind, 1 | 2 | 5) {
            self.places.remove(&happening.id);
            self.sites.remove(&happening.id);
        }
    }

    fn add(&mut self, id: JobId, job: &Job) {
        self.places.insert(id, self.columns.number.len() as u32);
        // Without job numbers, the position in the order of arrival is used.
        let number = if job.number > 0 { job.number } else { id.0 + 1 };
        self.columns.number.push(number as f64);
        let next = self.asked.len() as u32;
        self.columns.request.push(*self.asked.entry(job.request.clone()).or_insert(next));
        let owner = job.owner.as_deref();
        let place = |names: &mut BTreeMap<String, u32>, name: Option<&String>| {
            let next = names.len() as u32;
            *names.entry(name.cloned().unwrap_or_default()).or_insert(next)
        };
        let user = place(&mut self.users, owner.and_then(|owner| owner.user.as_ref()));
        let partition = owner.and_then(|owner| owner.partition.as_ref());
        let partition = place(&mut self.partitions, partition);
        self.columns.user.push(user);
        self.columns.partition.push(partition);
    }

    fn place(&mut self, site: usize, placement: &Placement) {
        if let Some(types) = self.topologies.get(site).and_then(Topology::types) {
            let columns = &mut self.columns.parts;
            let parts = placement.parts.iter().flat_map(|own| &own.parts);
            columns.count.push(parts.clone().count() as u32);
            for part in parts {
                let amounts = part.amounts(types.of(part.node));
                columns.node.push(part.node);
                columns.cpu.push(amounts.cores.iter().sum());
                columns.mem.push(amounts.mem);
                columns.gpu.push(amounts.gpus.iter().map(|(_, share)| share).sum());
                columns.other.push(amounts.other);
            }
        }
        self.columns.blocks.push(placement.blocks.len() as u32);
        for block in &placement.blocks {
            self.columns.base.push(block.base);
            let next = self.shapes.len() as u32;
            self.columns.shape.push(*self.shapes.entry(block.sides.clone()).or_insert(next));
        }
    }
}

fn in_place<K>(map: &BTreeMap<K, u32>) -> impl Iterator<Item = &K> {
    let mut keys: Vec<(&K, &u32)> = map.iter().collect();
    keys.sort_by_key(|(_, place)| **place);
    keys.into_iter().map(|(key, _)| key)
}

impl Observer for Tape {
    fn observe(&mut self, now: Time, event: &Event<'_>) {
        if let Some(happening) = RunEvent::of(now, event) {
            self.take(happening);
        }
    }

    fn is_done(&self) -> bool {
        self.full
    }
}
