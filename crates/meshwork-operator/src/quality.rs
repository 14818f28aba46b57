//! Quality of a history: which data are present, and whether jobs ran on nodes as the topology
//! allows.

use std::collections::{BTreeMap, HashMap};

use meshwork::alloc::listed::Wait;
use meshwork::geometry::NodeSet;
use serde_json::{Value as Json, json};

use super::controller::Controller;
use super::controller::rules::SiteRules;
use super::places::{PlaceKind, place_of};
use super::unmodelled::{self, Unmodelled};
use meshwork_lab::slurm::folder::SlurmMachine;
use meshwork_slurm::FileProblem;
use meshwork_slurm::desk::SlurmAnswer;
use meshwork_slurm::history::{History, JobRecord, Second};
use meshwork_slurm::sacct::{Loss, Tally, TimeFormat};

/// Maximum number of waits whose cause is examined.
const MOST_WAITS: usize = 400;

const MOST_INSTANTS: u32 = 16;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Quality {
    pub tally: Tally,
    pub jobs: usize,
    /// Number of job records. Each attempt of a job has one record.
    pub stays: usize,
    /// Number of records by final state.
    pub states: BTreeMap<String, usize>,
    pub rejected: usize,
    pub cancelled_waiting: usize,
    pub placed: usize,
    /// Number of records whose nodes form a single set of nodes that the topology allows for a job.
    pub single: usize,
    /// Number of job records in which the nodes of each segment of the job form an allowed set of
    /// nodes.
    pub unions: usize,
    pub elsewhere: Vec<FileProblem>,
    /// For each field, number of records that lack it.
    pub missing: BTreeMap<&'static str, usize>,
    pub waited: usize,
    /// Number of examined waits, and number of these with enough free nodes but no suitable place.
    pub shape: (usize, usize),
    pub span: Option<(Second, Second)>,
    pub unmodelled: Vec<Unmodelled>,
    pub warnings: Vec<FileProblem>,
}

impl Quality {
    pub fn placements(&self) -> usize {
        self.single + self.unions
    }

    pub fn json(&self) -> Json {
        let tally = &self.tally;
        let share = |part: usize, all: usize| (all > 0).then(|| part as f64 / all as f64);
        let lost = |loss: &Loss| json!({ "columns": loss.columns, "without_them": loss.question });
        let losses: Vec<Json> = tally.losses.iter().map(lost).collect();
        let warning =
            |own: &FileProblem| json!({ "file": own.file, "line": own.line, "says": own.says });
        let warnings: Vec<Json> = self.warnings.iter().map(warning).collect();
        json!({
            "rows": tally.rows, "skipped": tally.skipped, "repaired": tally.repaired, "steps": tally.steps, "jobs": self.jobs, "stays": self.stays,
            "requeued": tally.requeued, "arrays": tally.arrays, "array_tasks": tally.array_tasks,
            "states": self.states, "rejected": self.rejected, "cancelled_waiting": self.cancelled_waiting,
            "backwards": tally.backwards,
            "placed": self.placed, "placements": self.placements(), "single": self.single, "unions": self.unions,
            "placements_share": share(self.placements(), self.placed),
            "missing_columns": losses, "missing_fields": self.missing,
            "times": tally.form.map(TimeFormat::words), "zone_is_assumed": tally.zone_is_assumed,
            "first": self.span.map(|(first, _)| first), "last": self.span.map(|(_, last)| last),
            "waited": self.waited, "waits_looked_at": self.shape.0, "waited_for_shape": self.shape.1,
            "waited_for_shape_share": share(self.shape.1, self.shape.0),
            "not_modelled": self.unmodelled.iter().map(Unmodelled::json).collect::<Vec<Json>>(),
            "warnings": warnings,
        })
    }
}

pub fn of(
    file: &str,
    machine: &SlurmMachine,
    history: &History,
    tally: Tally,
    warnings: Vec<FileProblem>,
) -> Quality {
    let mut quality = Quality {
        tally,
        warnings,
        unmodelled: unmodelled::of(machine, history),
        jobs: history.jobs(),
        stays: history.stays.len(),
        span: history.span(),
        ..Quality::default()
    };
    let mut sets: HashMap<(&str, &str, Option<u32>), (Option<NodeSet>, PlaceKind)> = HashMap::new();
    let mut nodes: Vec<Option<NodeSet>> = Vec::with_capacity(history.stays.len());
    let mut unknown: Option<(usize, String)> = None;
    let mut no_partition: Option<(usize, &str)> = None;
    for stay in &history.stays {
        quality.count(stay);
        if !stay.partition.is_empty()
            && !machine.has_partition(&stay.partition)
            && no_partition.is_none()
        {
            no_partition = Some((stay.line, &stay.partition));
        }
        if stay.nodelist.is_empty() {
            nodes.push(None);
            continue;
        }
        quality.placed += 1;
        let key = (stay.partition.as_str(), stay.nodelist.as_str(), stay.segment);
        let (set, place) = sets.entry(key).or_insert_with(|| match machine.nodes(&stay.nodelist) {
            Ok(set) => {
                let place = place_of(machine.site(&stay.partition), &set, stay.segment);
                (Some(set), place)
            }
            Err(says) => {
                unknown.get_or_insert((stay.line, says));
                (None, PlaceKind::None)
            }
        });
        match place {
            PlaceKind::One => quality.single += 1,
            PlaceKind::Union => quality.unions += 1,
            PlaceKind::None if quality.elsewhere.len() < 10 => {
                let says = format!(
                    "the nodes of job {}, {}, are no place of the lists",
                    stay.id, stay.nodelist
                );
                quality.elsewhere.push(FileProblem::at(file, stay.line, says));
            }
            PlaceKind::None => {}
        }
        nodes.push(set.clone());
    }
    if let Some((line, says)) = unknown {
        let says = format!("{says}: is this the history of another machine?");
        quality.warnings.push(FileProblem::at(file, line, says));
    }
    if let Some((line, name)) = no_partition {
        let says = format!(
            "the machine has no partition {name}: its jobs are taken to run in the default one"
        );
        quality.warnings.push(FileProblem::at(file, line, says));
    }
    quality.shape = waits_for_shape(machine, history, &nodes);
    quality
}

impl Quality {
    fn count(&mut self, stay: &JobRecord) {
        if !stay.state.is_empty() {
            *self.states.entry(stay.state.clone()).or_default() += 1;
        }
        self.rejected += usize::from(stay.is_rejected());
        let waiting = stay.state.starts_with("CANCELLED") && stay.start.is_none();
        self.cancelled_waiting += usize::from(waiting);
        self.waited += usize::from(stay.wait().is_some_and(|wait| wait > 0));
        let mut lacks = |name: &'static str, is: bool| {
            *self.missing.entry(name).or_default() += usize::from(is);
        };
        lacks("submit", stay.submit.is_none());
        lacks("limit", stay.limit.is_none());
        lacks("nodes", stay.nodes == 0);
        lacks("partition", stay.partition.is_empty());
        lacks("user", stay.user.is_empty());
        lacks("end", stay.start.is_some() && stay.end.is_none());
    }
}

/// Number of examined waits, and number of waits for a place although enough nodes were free.
///
/// A place is a set of nodes that the topology allows for a job. Slurm's recorded reasons do not
/// show waits for a place. So the machine is examined when waits begin and when jobs end.
fn waits_for_shape(
    machine: &SlurmMachine,
    history: &History,
    nodes: &[Option<NodeSet>],
) -> (usize, usize) {
    let stays = &history.stays;
    let waited: Vec<usize> = (0..stays.len())
        .filter(|&place| stays[place].wait().is_some_and(|wait| wait > 0))
        .collect();
    let step = waited.len().div_ceil(MOST_WAITS).max(1);
    let looked: Vec<usize> = waited.into_iter().step_by(step).collect();
    // Events sorted within an instant: ends (0), begins of waits (1), starts (2).
    let mut events: Vec<(Second, u8, usize)> = Vec::new();
    for (place, stay) in stays.iter().enumerate().filter(|(place, _)| nodes[*place].is_some()) {
        events.extend(stay.start.map(|start| (start, 2, place)));
        events.extend(stay.end.filter(|_| stay.start.is_some()).map(|end| (end, 0, place)));
    }
    for &place in &looked {
        events.extend(stays[place].queued().map(|queued| (queued, 1, place)));
    }
    events.sort_unstable();
    let rules = SiteRules::of(machine);
    let mut controller = Controller::new(machine, &rules, stays);
    let mut left: BTreeMap<usize, u32> = BTreeMap::new();
    let mut for_shape = 0;
    for group in events.chunk_by(|a, b| a.0 == b.0) {
        let mut has_news = false;
        for &(_, kind, place) in group {
            match kind {
                0 => {
                    drop(controller.end(place, group[0].0));
                    has_news = true;
                }
                1 => {
                    left.insert(place, MOST_INSTANTS);
                    has_news = true;
                }
                _ => {}
            }
        }
        if has_news {
            left.retain(|&place, instants| {
                *instants -= 1;
                let told = controller.ask(place);
                let is_shape = matches!(told, SlurmAnswer::Wait(Wait::Shape, _));
                for_shape += usize::from(is_shape);
                !is_shape && *instants > 0
            });
        }
        for &(_, _, place) in group.iter().filter(|(_, kind, _)| *kind == 2) {
            left.remove(&place);
            // Such a job has already released its nodes.
            if stays[place].end == stays[place].start {
                continue;
            }
            if let Some(set) = &nodes[place] {
                controller.start(place, controller.partition_of(place), set.clone(), group[0].0);
            }
        }
    }
    (looked.len(), for_shape)
}
