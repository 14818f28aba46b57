//! Comparison of the modelled rule of a machine with its recorded decisions.
//!
//! Each recorded start is compared with the rule in the recorded state of the machine, so that a
//! differing decision does not affect later ones. Waits are predicted by a full replay
//! ([`ControllerReplay`]), in which errors accumulate.

mod cleanup;
mod given;
mod replay;

pub use given::{PredictedStart, SAME_CYCLE};
pub use replay::{ComparedDecision, RuleDecision};

use std::collections::{BTreeMap, BTreeSet};

use rayon::prelude::*;
use serde_json::{Value as Json, json};

use super::controller::{ControllerReplay, JobOutcome};
use super::controller::rules::SiteRules;
use super::folder::{Folder, SlurmMachine};

use super::history::{JobRecord, Second, StartedBy};
use super::paired;
use super::places::{PlaceKind, place_of};
use super::unmodelled::{self, Unmodelled};
use crate::findings::statistics::mean;
use crate::slurm::topology::Structure;
use given::Given;
use meshwork::geometry::NodeSet;
use replay::Replay;

/// The minimum share of equal decisions for a site to be considered modelled.
pub const ENOUGH_DECISIONS: f64 = 0.85;

/// The minimum share of starts in the right cycle for a site to be considered modelled.
pub const ENOUGH_CYCLES: f64 = 0.9;

/// The minimum share of node lists that are places.
pub const ENOUGH_PLACES: f64 = 0.95;

/// The agreement of the model with a history.
#[derive(Clone, Debug, PartialEq)]
pub struct Fidelity {
    /// The number of jobs, each counted once.
    pub jobs: usize,
    /// The number of records with a list of nodes.
    pub placed: usize,
    /// The number of those whose nodes are one place, or one for each segment.
    pub placements: usize,
    /// Whether tables are missing that are needed to compute priorities.
    pub lacks_priorities: bool,
    /// The number of decisions, and of equal ones, by scheduler.
    pub decisions: BTreeMap<&'static str, (usize, usize)>,
    /// The decisions that differ.
    pub differing: Vec<DifferingDecision>,
    /// The estimated clean-up time in seconds; `None` if nothing shows it.
    pub cleanup: Option<f64>,
    /// Real and predicted waits, by size.
    pub waits: Vec<PredictedWaits>,
    /// The number of records that start within the same second as another event.
    pub simultaneous: usize,
    /// Every recorded start with the predicted one, in the order of the history.
    pub starts: Vec<StartBeside>,
    /// The recorded and the predicted mean wait in seconds, the latter from a replay of all jobs.
    pub wait: Option<(f64, f64)>,
    /// Features of the site that the model leaves out.
    pub unmodelled: Vec<Unmodelled>,
}

/// A recorded start with the one that the modelled controller predicts from the recorded past.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StartBeside {
    pub id: String,
    pub start: Second,
    /// The predicted start; `None` if the model would let it wait longer.
    pub predicted: Option<Second>,
    /// The recorded nodes as a host list.
    pub nodes: String,
    /// The nodes by the rule; empty if it finds none.
    pub predicted_nodes: String,
    /// Whether the predicted nodes are the recorded ones.
    pub is_same_place: bool,
}

/// The number of starts that the model predicts correctly.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StartCounts {
    pub total: usize,
    /// Predicted on the recorded nodes.
    pub place: usize,
    /// Predicted in the recorded cycle, or within [`SAME_CYCLE`] seconds of it.
    pub cycle: usize,
    /// Started by the model while Slurm let them wait.
    pub early: usize,
    /// Started by Slurm while the model lets them wait.
    pub late: usize,
}

/// A decision that differs from that of the rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DifferingDecision {
    pub id: String,
    /// The line of its record in the imported file.
    pub line: usize,
    pub start: Second,
    /// The scheduler assumed to have started it.
    pub by: StartedBy,
    /// The recorded nodes.
    pub nodes: String,
    /// The decision of the rule: a host list, `wait` or `never`.
    pub rule: String,
}

/// Waits of jobs within a range of sizes.
#[derive(Clone, Debug, PartialEq)]
pub struct PredictedWaits {
    /// The minimum and maximum number of nodes.
    pub nodes: (u32, u32),
    /// The number of jobs.
    pub count: usize,
    /// The recorded mean wait in seconds.
    pub real: f64,
    /// The predicted mean wait in seconds.
    pub predicted: f64,
    /// The half-width of the 95 % interval of the difference; `None` for too few jobs.
    pub half_width: Option<f64>,
}

impl Fidelity {
    /// The number of compared decisions, and of equal ones.
    #[must_use]
    pub fn all(&self) -> (usize, usize) {
        self.decisions.values().fold((0, 0), |(all, same), own| (all + own.0, same + own.1))
    }

    /// The number of starts, and the number of those that the model predicts correctly.
    #[must_use]
    pub fn start_counts(&self) -> StartCounts {
        let mut counts = StartCounts { total: self.starts.len(), ..StartCounts::default() };
        for own in &self.starts {
            counts.place += usize::from(own.is_same_place);
            match own.predicted.map(|predicted| predicted - own.start) {
                Some(late) if late < -SAME_CYCLE => counts.early += 1,
                Some(late) if late <= SAME_CYCLE => counts.cycle += 1,
                _ => counts.late += 1,
            }
        }
        counts
    }

    /// Whether enough places and times of starts are predicted correctly to rely on the model.
    #[must_use]
    pub fn is_modelled(&self) -> bool {
        self.doubts().is_empty()
    }

    /// All starts as CSV, with times in seconds since 1970.
    #[must_use]
    pub fn starts_table(&self) -> String {
        let mut text = "job,start,predicted,nodes,predicted_nodes\n".to_owned();
        let cell = |text: &str| match text.contains(',') {
            true => format!("\"{text}\""),
            false => text.to_owned(),
        };
        for own in &self.starts {
            let predicted = own.predicted.map(|own| own.to_string()).unwrap_or_default();
            let (nodes, rule) = (cell(&own.nodes), cell(&own.predicted_nodes));
            text.push_str(&format!("{},{},{predicted},{nodes},{rule}\n", own.id, own.start));
        }
        text
    }

    /// Reasons not to rely on the model, one sentence each; empty if it is good enough.
    #[must_use]
    pub fn doubts(&self) -> Vec<String> {
        let (all, same) = self.all();
        let percent =
            |part: usize, all: usize| format!("{:.1} %", 100.0 * part as f64 / all as f64);
        let mut doubts = Vec::new();
        if all == 0 {
            doubts.push(
                "no job has both a start and a list of nodes, so no decision can be looked at"
                    .to_owned(),
            );
            return doubts;
        }
        // The controller's rule may fit where the rule for one partition alone does not.
        let counts = self.start_counts();
        let are_placed =
            counts.total > 0 && counts.place as f64 >= ENOUGH_PLACES * counts.total as f64;
        if (same as f64) < ENOUGH_DECISIONS * all as f64 && !are_placed {
            doubts.push(format!(
                "{} of the decisions are those of the rule, and {} % would be enough",
                percent(same, all),
                100.0 * ENOUGH_DECISIONS
            ));
        }
        if (self.placements as f64) < ENOUGH_PLACES * self.placed as f64 {
            doubts.push(format!(
                "{} of the node lists are places of the lists, and {} % would be enough",
                percent(self.placements, self.placed),
                100.0 * ENOUGH_PLACES
            ));
        }
        if (counts.cycle as f64) < ENOUGH_CYCLES * counts.total as f64 {
            let missing = match self.lacks_priorities {
                true => "; the priorities of jobs are not known without `ops import --assoc --qos`",
                false => "",
            };
            doubts.push(format!(
                "{} of the starts are in the cycle of the modelled scheduler, and {} % would be enough{missing}",
                percent(counts.cycle, counts.total),
                100.0 * ENOUGH_CYCLES
            ));
        }
        doubts
    }

    /// The result as JSON.
    #[must_use]
    pub fn json(&self) -> Json {
        let doubts = self.doubts();
        let (decisions, matching) = self.all();
        let by: serde_json::Map<String, Json> = self
            .decisions
            .iter()
            .map(|(by, (all, same))| ((*by).to_owned(), json!({ "decisions": all, "match": same })))
            .collect();
        let differing: Vec<Json> = self
            .differing
            .iter()
            .map(|own| {
                json!({
                    "job": own.id, "line": own.line, "start": own.start, "by": own.by.word(),
                    "nodes": own.nodes, "rule": own.rule
                })
            })
            .collect();
        let waits: Vec<Json> = self
            .waits
            .iter()
            .map(|own| {
                json!({
                    "nodes": [own.nodes.0, own.nodes.1], "count": own.count, "real": own.real,
                    "predicted": own.predicted, "difference": own.predicted - own.real, "half_width": own.half_width
                })
            })
            .collect();
        let counts = self.start_counts();
        let wait = self.wait.unzip();
        let left_out: Vec<Json> = self
            .unmodelled
            .iter()
            .map(|own| json!({ "what": own.what, "share": own.share }))
            .collect();
        json!({
            "starts": {
                "total": counts.total, "place": counts.place, "cycle": counts.cycle,
                "early": counts.early, "late": counts.late
            },
            "wait": { "real": wait.0, "predicted": wait.1 },
            "unmodelled": left_out, "modelled": self.is_modelled(),
            "jobs": self.jobs, "placed": self.placed, "placements": self.placements, "decisions": decisions,
            "match": matching, "cleanup_seconds": self.cleanup, "by": by, "simultaneous": self.simultaneous,
            "waits": waits, "differing": differing, "doubts": doubts,
        })
    }
}

/// A callback with the number of decisions or starts so far, and the total.
pub type ProgressCallback<'a> = &'a (dyn Fn(usize, usize) + Sync);

/// Compares the decisions, the starts and the waits of a history with the model.
///
/// `report` covers all three parts together.
///
/// # Complexity
/// That of [`verdict`], and that of [`ControllerReplay::run`] for each copy of the history.
#[must_use]
pub fn of(folder: &Folder, report: ProgressCallback<'_>) -> Fidelity {
    let all = folder.history.stays.len();
    let stays = &folder.history.stays;
    let (found, machine) = judged(folder, &|done, whole| report(done, 3 * whole / 2));
    let cleanup = found.cleanup.unwrap_or(0.0);
    let pairs =
        predicted_waits(&machine, stays, cleanup, &|started| report(2 * all + started, 3 * all));
    let of = |own: fn(&(Second, u32, f64, f64)) -> f64| {
        mean(&pairs.iter().map(own).collect::<Vec<f64>>())
    };
    let wait = of(|pair| pair.2).zip(of(|pair| pair.3));
    let unmodelled = unmodelled::by_controller(&machine, &folder.history);
    Fidelity { waits: waits(pairs), wait, unmodelled, ..found }
}

/// Compares the decisions and the starts of a history with the model, but not the waits.
///
/// # Complexity
/// For each start, that of the rule; for starts by backfill, that of a plan of the jobs before it;
/// and that of both schedulers at each of their cycles in the recorded state.
#[must_use]
pub fn verdict(folder: &Folder, report: ProgressCallback<'_>) -> Fidelity {
    judged(folder, report).0
}

/// The verdict, and the machine with the rule for single-node jobs that fits the history better.
fn judged(folder: &Folder, report: ProgressCallback<'_>) -> (Fidelity, SlurmMachine) {
    let all = folder.history.stays.len();
    let found = decisions(folder, &|done, all| report(done, 2 * all));
    let cleanup = found.cleanup.unwrap_or(0.0);
    let (machine, given) = given(folder, cleanup, &|done| report(all + done, 2 * all));
    let stays = &folder.history.stays;
    let hosts = &machine.reading.hosts;
    let beside = |own: &PredictedStart| {
        let stay = &stays[own.stay];
        let same = own.nodes.as_ref().is_some_and(|nodes| {
            machine.nodes(&stay.nodelist).is_ok_and(|recorded| recorded == *nodes)
        });
        StartBeside {
            id: stay.id.clone(),
            start: stay.start.unwrap_or(0),
            predicted: own.predicted,
            nodes: stay.nodelist.clone(),
            predicted_nodes: own.nodes.as_ref().map(|own| hosts.listed(own)).unwrap_or_default(),
            is_same_place: same,
        }
    };
    let starts: Vec<StartBeside> = given.iter().map(beside).collect();
    // A decision predicted by the controller counts as that of the rule, whatever the plan of one
    // partition says.
    let same = starts.iter().filter(|own| own.is_same_place);
    let same: BTreeSet<(&str, Second)> = same.map(|own| (own.id.as_str(), own.start)).collect();
    let mut decisions = found.decisions;
    let (equal, differing): (Vec<_>, Vec<_>) =
        found.differing.into_iter().partition(|own| same.contains(&(own.id.as_str(), own.start)));
    for own in equal {
        decisions.entry(own.by.word()).and_modify(|counts| counts.1 += 1);
    }
    let lacks_priorities = SiteRules::of(&machine).lacks_priorities;
    (Fidelity { starts, lacks_priorities, decisions, differing, ..found }, machine)
}

/// The starts predicted from the recorded past, and the machine with which they were predicted.
///
/// The rule for single-node jobs differs between versions of Slurm; the one that fits the history
/// better is used.
fn given(
    folder: &Folder,
    cleanup: f64,
    report: &dyn Fn(usize),
) -> (SlurmMachine, Vec<PredictedStart>) {
    let stays = &folder.history.stays;
    let nodes = |stay: &JobRecord| {
        let nodes = folder.machine.nodes(&stay.nodelist).ok();
        nodes.filter(|nodes| stay.ran() && !nodes.is_empty())
    };
    let nodes: Vec<Option<NodeSet>> = stays.iter().map(nodes).collect();
    let run = |fits: bool| {
        let mut machine = folder.machine.clone();
        machine.fit_single_nodes(fits);
        let rules = SiteRules::of(&machine);
        let found = Given::new(&machine, &rules, stays, &nodes, cleanup).run(report);
        let is_same =
            |own: &&PredictedStart| stays[own.stay].nodes == 1 && own.nodes == nodes[own.stay];
        (found.iter().filter(is_same).count(), machine, found)
    };
    let is_flat = folder.machine.sites().any(|site| matches!(site.structure, Structure::Flat));
    let has_single = is_flat && stays.iter().any(|stay| stay.nodes == 1 && stay.ran());
    let plain = run(false);
    let fitted = has_single.then(|| run(true)).filter(|own| own.0 > plain.0);
    let (_, machine, found) = fitted.unwrap_or(plain);
    (machine, found)
}

/// Compares the decisions of a history with the rule of its machine, without waits.
///
/// # Complexity
/// For each start, that of the rule; for starts by backfill, that of a plan of the jobs before it.
/// Within a second up to 160 states are tried.
fn decisions(folder: &Folder, report: ProgressCallback<'_>) -> Fidelity {
    let replay = Replay::new(folder);
    let cleanup = cleanup::of(&replay);
    let all = folder.history.stays.len();
    let made = replay.run(cleanup.unwrap_or(0.0), &|done| report(done, all));
    let stays = &folder.history.stays;
    let hosts = &folder.machine.reading.hosts;
    let mut decisions: BTreeMap<&'static str, (usize, usize)> = BTreeMap::new();
    let mut differing = Vec::new();
    let mut seconds: BTreeMap<Second, usize> = BTreeMap::new();
    for decision in &made {
        let stay = &stays[decision.stay];
        *seconds.entry(stay.start.unwrap_or(0)).or_default() += 1;
        let counted = decisions.entry(decision.by.word()).or_default();
        counted.0 += 1;
        let Some(instead) = &decision.instead else {
            counted.1 += 1;
            continue;
        };
        differing.push(DifferingDecision {
            id: stay.id.clone(),
            line: stay.line,
            start: stay.start.unwrap_or(0),
            by: decision.by,
            nodes: stay.nodelist.clone(),
            rule: match instead {
                RuleDecision::Nodes(nodes) => hosts.listed(nodes),
                RuleDecision::Wait => "wait".to_owned(),
                RuleDecision::Never => "never".to_owned(),
            },
        });
    }
    let (mut placed, mut placements) = (0, 0);
    for (stay, nodes) in
        stays.iter().zip(&replay.nodes).filter(|(stay, _)| !stay.nodelist.is_empty())
    {
        placed += 1;
        let site = folder.machine.site(&stay.partition);
        let is_place = nodes
            .as_ref()
            .is_some_and(|nodes| place_of(site, nodes, stay.segment) != PlaceKind::None);
        placements += usize::from(is_place);
    }
    Fidelity {
        jobs: folder.history.jobs(),
        placed,
        placements,
        decisions,
        differing,
        cleanup,
        waits: Vec::new(),
        starts: Vec::new(),
        wait: None,
        unmodelled: Vec::new(),
        lacks_priorities: false,
        simultaneous: seconds.values().filter(|&&count| count > 1).sum(),
    }
}

/// The number of jobs up to which a history is replayed in [`MOST_COPIES`] copies.
const FEW_JOBS: usize = 1_000;
/// The maximum number of copies with other fractions of seconds.
const MOST_COPIES: usize = 20;

/// The recorded and the predicted waits of all jobs.
///
/// Each pair of waits comes after the time from which the job could start and its number of nodes.
/// The prediction is the mean of several replays of all jobs.
fn predicted_waits(
    machine: &SlurmMachine,
    stays: &[JobRecord],
    cleanup: f64,
    report: &(dyn Fn(usize) + Sync),
) -> Vec<(Second, u32, f64, f64)> {
    let rules = &SiteRules::of(machine);
    let copies = (MOST_COPIES * FEW_JOBS / stays.len().max(1)).clamp(1, MOST_COPIES) as u64;
    let of = |copy: u64| {
        let report = |started: usize| {
            if copy == 0 {
                report(started);
            }
        };
        let copy = Some(copy);
        ControllerReplay { machine, rules, stays, cleanup, copy, report: &report }.run().ok()
    };
    let found: Vec<Vec<JobOutcome>> = (0..copies).into_par_iter().filter_map(of).collect();
    let one = |(place, stay): (usize, &JobRecord)| {
        let (queued, real) = stay.queued().zip(stay.wait())?;
        let starts = found.iter().filter_map(|outcomes| outcomes[place].start);
        let predicted: Vec<f64> = starts.map(|start| (start - queued) as f64).collect();
        Some((queued, stay.nodes, real as f64, mean(&predicted)?))
    };
    stays.iter().enumerate().filter_map(one).collect()
}

/// Recorded and predicted waits of all jobs, and by size if there are several sizes.
fn waits(mut pairs: Vec<(Second, u32, f64, f64)>) -> Vec<PredictedWaits> {
    pairs.sort_by_key(|pair| pair.0);
    let mut sizes: Vec<u32> = pairs.iter().map(|pair| pair.1).collect();
    sizes.sort_unstable();
    sizes.dedup();
    let mut classes: Vec<(u32, u32)> = match sizes.len() {
        0 | 1 => Vec::new(),
        2..=10 => sizes.iter().map(|&size| (size, size)).collect(),
        _ => (0..32)
            .map(|power| (1_u32 << power, (1_u32 << power) + ((1_u32 << power) - 1)))
            .filter(|(least, most)| sizes.iter().any(|size| (least..=most).contains(&size)))
            .collect(),
    };
    classes.extend(sizes.first().zip(sizes.last()).map(|(&least, &most)| (least, most)));
    classes
        .into_iter()
        .filter_map(|(least, most)| {
            let own: Vec<_> =
                pairs.iter().filter(|pair| (least..=most).contains(&pair.1)).collect();
            let values = |of: fn(&(Second, u32, f64, f64)) -> f64| {
                own.iter().map(|pair| of(pair)).collect::<Vec<f64>>()
            };
            let differences = values(|pair| pair.3 - pair.2);
            Some(PredictedWaits {
                nodes: (least, most),
                count: own.len(),
                real: mean(&values(|pair| pair.2))?,
                predicted: mean(&values(|pair| pair.3))?,
                half_width: paired::interval(&differences).half_width,
            })
        })
        .collect()
}
