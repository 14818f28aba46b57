//! Whether a machine's rule, as it is known here, is the rule by which the machine went.
//!
//! Each recorded start is held against the rule in the state that the history itself says the machine was in, so that
//! one decision that differs does not make others differ. Waits are predicted in the other way: all jobs happen again
//! from the beginning ([`Forecast`]), and errors add up.

mod cleanup;
mod replay;

pub use replay::{Decision, Instead};

use std::collections::BTreeMap;

use serde_json::{Value as Json, json};

use super::folder::Folder;
use super::forecast::{Conditions, Forecast};
use super::history::{By, Second};
use super::paired;
use super::places::{Place, place_of};
use crate::findings::statistics::mean;
use replay::Replay;

/// The share of decisions that must be the rule's own before a site is a ground for further questions.
pub const ENOUGH_DECISIONS: f64 = 0.85;

/// The share of node lists that must be places.
pub const ENOUGH_PLACES: f64 = 0.95;

/// How true the rule is to a history.
#[derive(Clone, Debug, PartialEq)]
pub struct Fidelity {
    /// Jobs, each counted once.
    pub jobs: usize,
    /// Stays with a list of nodes.
    pub placed: usize,
    /// Of those, how many are places of the lists, or one for each segment.
    pub placements: usize,
    /// All decisions, and those that are the rule's, by who made them.
    pub decisions: BTreeMap<&'static str, (usize, usize)>,
    /// Decisions that differ.
    pub differing: Vec<Differing>,
    /// The clean-up time that fits best, in seconds; `None` if nothing shows it.
    pub cleanup: Option<f64>,
    /// Real waits beside predicted ones, by size.
    pub waits: Vec<Waits>,
    /// How many stays started within a second in which something else happened.
    pub simultaneous: usize,
}

/// A decision that is not the rule's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Differing {
    /// The job.
    pub id: String,
    /// The line of its record in the file from which it was imported.
    pub line: usize,
    /// When it started.
    pub start: Second,
    /// Who is taken to have started it.
    pub by: By,
    /// On which nodes.
    pub nodes: String,
    /// What the rule says instead.
    pub rule: String,
}

/// Waits of jobs of one size or of some.
#[derive(Clone, Debug, PartialEq)]
pub struct Waits {
    /// The least and the largest number of nodes.
    pub nodes: (u32, u32),
    /// How many.
    pub count: usize,
    /// Their mean wait in seconds, as it was.
    pub real: f64,
    /// As it is predicted.
    pub predicted: f64,
    /// Half the width of the 95 % interval of the difference; `None` for too few.
    pub half_width: Option<f64>,
}

impl Fidelity {
    /// How many decisions were looked at, and how many are the rule's.
    #[must_use]
    pub fn all(&self) -> (usize, usize) {
        self.decisions.values().fold((0, 0), |(all, same), own| (all + own.0, same + own.1))
    }

    /// What is against going on with this site, one sentence each; nothing if it is modelled well enough.
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
        if (same as f64) < ENOUGH_DECISIONS * all as f64 {
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
        doubts
    }

    /// All of it as one object.
    #[must_use]
    pub fn json(&self) -> Json {
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
        json!({
            "jobs": self.jobs, "placed": self.placed, "placements": self.placements, "decisions": decisions,
            "match": matching, "cleanup_seconds": self.cleanup, "by": by, "simultaneous": self.simultaneous,
            "waits": waits, "differing": differing, "doubts": self.doubts(),
        })
    }
}

/// A listener that is told now and then how many decisions or starts there are, of how many.
pub type Report<'a> = &'a (dyn Fn(usize, usize) + Sync);

/// Holds a history against the rule of its machine, and its waits beside predicted ones.
/// `report` is told of both parts together.
///
/// # Complexity
/// That of [`decisions`] and of [`Forecast::run`].
#[must_use]
pub fn of(folder: &Folder, report: Report<'_>) -> Fidelity {
    let found = decisions(folder, &|done, all| report(done, 2 * all));
    let all = folder.history.stays.len();
    let waits =
        waits(folder, found.cleanup.unwrap_or(0.0), &|started| report(all + started, 2 * all));
    Fidelity { waits, ..found }
}

/// Holds a history against the rule of its machine; of waits nothing is said.
///
/// # Complexity
/// For each start that of the rule, and for starts by backfill that of a plan of the jobs that come before; within a
/// second up to 160 states of what happened are tried.
#[must_use]
pub fn decisions(folder: &Folder, report: Report<'_>) -> Fidelity {
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
        differing.push(Differing {
            id: stay.id.clone(),
            line: stay.line,
            start: stay.start.unwrap_or(0),
            by: decision.by,
            nodes: stay.nodelist.clone(),
            rule: match instead {
                Instead::Nodes(nodes) => hosts.listed(nodes),
                Instead::Wait => "wait".to_owned(),
                Instead::Never => "never".to_owned(),
            },
        });
    }
    let (mut placed, mut placements) = (0, 0);
    for (stay, nodes) in
        stays.iter().zip(&replay.nodes).filter(|(stay, _)| !stay.nodelist.is_empty())
    {
        placed += 1;
        let site = folder.machine.site(&stay.partition);
        let is_place =
            nodes.as_ref().is_some_and(|nodes| place_of(site, nodes, stay.segment) != Place::None);
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
        simultaneous: seconds.values().filter(|&&count| count > 1).sum(),
    }
}

/// Predicted waits beside real ones: of all jobs, and by size if there is more than one.
fn waits(folder: &Folder, cleanup: f64, report: &(dyn Fn(usize) + Sync)) -> Vec<Waits> {
    let stays = &folder.history.stays;
    let conditions = Conditions::of(&folder.machine, cleanup.round() as Second);
    let forecast = Forecast { report, ..Forecast::new(&folder.machine, stays, &conditions) };
    let outcomes = forecast.run().unwrap_or_default();
    let mut pairs: Vec<(Second, u32, f64, f64)> = Vec::new();
    for (stay, outcome) in stays.iter().zip(&outcomes) {
        let Some(((queued, real), start)) = stay.queued().zip(stay.wait()).zip(outcome.start)
        else {
            continue;
        };
        pairs.push((queued, stay.nodes, real as f64, (start - queued) as f64));
    }
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
            Some(Waits {
                nodes: (least, most),
                count: own.len(),
                real: mean(&values(|pair| pair.2))?,
                predicted: mean(&values(|pair| pair.3))?,
                half_width: paired::interval(&differences).half_width,
            })
        })
        .collect()
}
