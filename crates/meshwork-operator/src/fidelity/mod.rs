//! Compares the model of a machine with the machine's recorded decisions.
//!
//! The controller model predicts each start in the recorded state, and the prediction is compared
//! with the recorded start. So earlier differences do not affect later ones. Waits are predicted by
//! a replay of all jobs ([`ControllerReplay`]), in which errors accumulate.

mod cleanup;
mod given;

pub use given::{PredictedStart, SAME_CYCLE};

use std::collections::BTreeMap;

use rayon::prelude::*;
use serde_json::{Value as Json, json};

use super::controller::rules::SiteRules;
use super::controller::{ControllerReplay, JobOutcome};
use meshwork_lab::slurm::folder::{Folder, SlurmMachine};

use super::paired;
use super::places::{PlaceKind, place_of};
use super::unmodelled::{self, Unmodelled};
use given::Given;
use meshwork::geometry::NodeSet;
use meshwork_lab::statistics::mean;
use meshwork_slurm::date;
use meshwork_slurm::history::{JobRecord, Second, StartedBy};
use meshwork_slurm::topology::Structure;

/// Fraction of decisions that must agree with the record for a site to count as modelled.
pub const ENOUGH_DECISIONS: f64 = 0.85;

/// Fraction of starts that must be in the right scheduler cycle for a site to count as modelled.
pub const ENOUGH_CYCLES: f64 = 0.9;

/// A site counts as modelled if its topology allows at least this fraction of the recorded node
/// lists.
pub const ENOUGH_PLACES: f64 = 0.95;

#[derive(Clone, Debug, PartialEq)]
pub struct Fidelity {
    /// Number of jobs. A requeued job counts once.
    pub jobs: usize,
    pub placed: usize,
    /// Number of records whose nodes form a placement that the topology allows. If a job is divided
    /// into segments, this holds for the nodes of each segment.
    pub placements: usize,
    /// Whether a table is missing that is needed to compute priorities.
    pub lacks_priorities: bool,
    /// For each scheduler, number of compared decisions, and number of decisions equal to the
    /// record.
    pub decisions: BTreeMap<&'static str, (usize, usize)>,
    pub differing: Vec<DifferingDecision>,
    /// Estimated clean-up time in seconds; `None` if the history does not show it.
    pub cleanup: Option<f64>,
    pub waits: Vec<PredictedWaits>,
    /// Number of records that start in the same second as another record.
    pub simultaneous: usize,
    pub starts: Vec<StartBeside>,
    /// Mean recorded wait and mean predicted wait in seconds, from a replay of all jobs.
    pub wait: Option<(f64, f64)>,
    /// Mean wait in seconds in each replayed copy of the history, in ascending order.
    pub copies: Vec<f64>,
    pub unmodelled: Vec<Unmodelled>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StartBeside {
    pub id: String,
    pub start: Second,
    /// Predicted start; `None` if the model would still let the job wait at its recorded start.
    pub predicted: Option<Second>,
    pub nodes: String,
    /// Nodes that the placement rule chooses; empty if it finds none.
    pub predicted_nodes: String,
    pub is_same_place: bool,
}

/// Number of starts, and of starts whose nodes or time the model predicts correctly.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StartCounts {
    pub total: usize,
    /// Number of starts that the model predicts on the recorded nodes.
    pub place: usize,
    /// Number of starts that the model predicts within [`SAME_CYCLE`] seconds of the recorded
    /// start.
    pub cycle: usize,
    /// Number of jobs that the model starts while Slurm lets them wait.
    pub early: usize,
    /// Number of jobs that Slurm starts while the model lets them wait.
    pub late: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DifferingDecision {
    pub id: String,
    /// Line of the job's record in the imported file.
    pub line: usize,
    pub start: Second,
    pub by: StartedBy,
    pub nodes: String,
    pub rule: String,
}

/// Keys by which jobs are grouped to compare recorded and predicted waits.
pub const WAIT_GROUPS: [&str; 4] = ["nodes", "partition", "user", "week"];

/// Recorded and predicted mean wait of a group of jobs, in seconds.
#[derive(Clone, Debug, PartialEq)]
pub struct PredictedWaits {
    pub by: &'static str,
    pub name: String,
    pub nodes: (u32, u32),
    pub count: usize,
    pub real: f64,
    pub predicted: f64,
    /// Half width of the 95 % interval of predicted minus recorded waits; `None` with too few jobs.
    pub half_width: Option<f64>,
}

impl Fidelity {
    /// Number of compared decisions of all schedulers, and number of decisions equal to the record.
    pub fn all(&self) -> (usize, usize) {
        self.decisions.values().fold((0, 0), |(all, same), own| (all + own.0, same + own.1))
    }

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

    pub fn is_modelled(&self) -> bool {
        self.doubts().is_empty()
    }

    /// CSV table of all starts, with times in seconds since 1970.
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

    pub fn doubts(&self) -> Vec<String> {
        let (all, same) = self.all();
        let percent =
            |part: usize, all: usize| format!("{:.1} %", 100.0 * part as f64 / all as f64);
        let mut doubts = Vec::new();
        if all == 0 {
            let says =
                "no job has both a start and a list of nodes, so no decision can be looked at";
            return vec![says.to_owned()];
        }
        let counts = self.start_counts();
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

    /// Lowest and highest mean wait in the replayed copies; `None` if at most one was replayed.
    pub fn range(&self) -> Option<(f64, f64)> {
        let (lowest, highest) = self.copies.first().zip(self.copies.last())?;
        (self.copies.len() > 1).then_some((*lowest, *highest))
    }

    pub fn json(&self) -> Json {
        let doubts = self.doubts();
        let (decisions, matching) = self.all();
        let by: serde_json::Map<String, Json> = self
            .decisions
            .iter()
            .map(|(by, (all, same))| ((*by).to_owned(), json!({ "decisions": all, "match": same })))
            .collect();
        let differs = |own: &DifferingDecision| {
            json!({
                "job": own.id, "line": own.line, "start": own.start, "by": own.by.word(),
                "nodes": own.nodes, "rule": own.rule
            })
        };
        let differing: Vec<Json> = self.differing.iter().map(differs).collect();
        let shown = |own: &PredictedWaits| {
            json!({
                "name": own.name, "nodes": [own.nodes.0, own.nodes.1], "count": own.count, "real": own.real,
                "predicted": own.predicted, "difference": own.predicted - own.real, "half_width": own.half_width
            })
        };
        let waits = |by: &str| -> Vec<Json> {
            self.waits.iter().filter(|own| own.by == by).map(shown).collect()
        };
        let groups = WAIT_GROUPS.iter().skip(1).map(|by| ((*by).to_owned(), json!(waits(by))));
        let groups: serde_json::Map<String, Json> = groups.collect();
        let counts = self.start_counts();
        let (wait, range) = (self.wait.unzip(), self.range().unzip());
        let left_out = |own: &Unmodelled| json!({ "what": own.what, "share": own.share });
        let left_out: Vec<Json> = self.unmodelled.iter().map(left_out).collect();
        json!({
            "starts": {
                "total": counts.total, "place": counts.place, "cycle": counts.cycle,
                "early": counts.early, "late": counts.late
            },
            "wait": {
                "real": wait.0, "predicted": wait.1, "lowest": range.0, "highest": range.1
            },
            "unmodelled": left_out, "modelled": self.is_modelled(),
            "jobs": self.jobs, "placed": self.placed, "placements": self.placements, "decisions": decisions,
            "match": matching, "cleanup_seconds": self.cleanup, "by": by, "simultaneous": self.simultaneous,
            "waits": waits(WAIT_GROUPS[0]), "waits_by": groups, "differing": differing, "doubts": doubts,
        })
    }
}

/// Progress callback: it gets the number of decisions or starts so far, and their total number.
pub type ProgressCallback<'a> = &'a (dyn Fn(usize, usize) + Sync);

/// Compares recorded decisions, starts and waits of jobs with those of the controller model.
///
/// `report` is called with the progress, which goes up to twice the number of job records. Each
/// record counts once in the comparison of decisions, and once in the replay. If the history has no
/// decisions, waits are not compared.
///
/// # Complexity
/// The time of [`verdict`], plus that of [`ControllerReplay::run`] for each copy of the history.
pub fn of(folder: &Folder, report: ProgressCallback<'_>) -> Fidelity {
    let all = folder.history.stays.len();
    let stays = &folder.history.stays;
    let (found, machine) = judged(folder, &|done, whole| report(done, 2 * whole));
    if found.all().0 == 0 {
        // Without any decision the model cannot be judged, and a replay may take long.
        return found;
    }
    let cleanup = found.cleanup.unwrap_or(0.0);
    let (pairs, copies) =
        predicted_waits(&machine, stays, cleanup, &|started| report(all + started, 2 * all));
    let of = |own: fn(&JobWait<'_>) -> f64| mean(&pairs.iter().map(own).collect::<Vec<f64>>());
    let wait = of(|own| own.real).zip(of(|own| own.predicted));
    let unmodelled = unmodelled::of(&machine, &folder.history);
    Fidelity { waits: waits(pairs), wait, copies, unmodelled, ..found }
}

/// Compares the decisions and the starts of a history with the model, but not the waits.
///
/// # Complexity
/// The time of both schedulers in each cycle, for each tried order of a second's events.
pub fn verdict(folder: &Folder, report: ProgressCallback<'_>) -> Fidelity {
    judged(folder, report).0
}

/// Result of [`verdict`], and the machine with the placement rule that [`given`] selects.
fn judged(folder: &Folder, report: ProgressCallback<'_>) -> (Fidelity, SlurmMachine) {
    let stays = &folder.history.stays;
    let nodes = |stay: &JobRecord| {
        let nodes = folder.machine.nodes(&stay.nodelist).ok();
        nodes.filter(|nodes| stay.ran() && !nodes.is_empty())
    };
    let nodes: Vec<Option<NodeSet>> = stays.iter().map(nodes).collect();
    let cleanup = cleanup::of(&folder.machine, stays, &nodes);
    // A history without nodes, such as a log, shows no decision.
    let (machine, given) = match nodes.iter().any(Option::is_some) {
        true => given(folder, &nodes, cleanup.unwrap_or(0.0), &|done| report(done, stays.len())),
        false => (folder.machine.clone(), Vec::new()),
    };
    let hosts = &machine.reading.hosts;
    let mut decisions: BTreeMap<&'static str, (usize, usize)> = BTreeMap::new();
    let mut seconds: BTreeMap<Second, usize> = BTreeMap::new();
    let (mut starts, mut differing) = (Vec::new(), Vec::new());
    for own in &given {
        let stay = &stays[own.stay];
        let (id, start) = (stay.id.clone(), stay.start.unwrap_or(0));
        let is_same_place = own.nodes.is_some() && own.nodes == nodes[own.stay];
        let predicted_nodes = own.nodes.as_ref().map(|own| hosts.listed(own)).unwrap_or_default();
        *seconds.entry(start).or_default() += 1;
        let counted = decisions.entry(own.by.word()).or_default();
        counted.0 += 1;
        if is_same_place || own.is_alone {
            counted.1 += 1;
        } else {
            let rule = match own.nodes {
                Some(_) => predicted_nodes.clone(),
                None if own.is_never => "never".to_owned(),
                None => "wait".to_owned(),
            };
            let (line, by, nodes) = (stay.line, own.by, stay.nodelist.clone());
            differing.push(DifferingDecision { id: id.clone(), line, start, by, nodes, rule });
        }
        starts.push(StartBeside {
            id,
            start,
            predicted: own.predicted,
            nodes: stay.nodelist.clone(),
            predicted_nodes,
            is_same_place,
        });
    }
    let (mut placed, mut placements) = (0, 0);
    for (stay, nodes) in stays.iter().zip(&nodes).filter(|(stay, _)| !stay.nodelist.is_empty()) {
        placed += 1;
        let site = folder.machine.site(&stay.partition);
        let is_place = nodes
            .as_ref()
            .is_some_and(|nodes| place_of(site, nodes, stay.segment) != PlaceKind::None);
        placements += usize::from(is_place);
    }
    let found = Fidelity {
        jobs: folder.history.jobs(),
        placed,
        placements,
        decisions,
        differing,
        cleanup,
        waits: Vec::new(),
        starts,
        wait: None,
        copies: Vec::new(),
        unmodelled: Vec::new(),
        lacks_priorities: SiteRules::of(&machine).lacks_priorities,
        simultaneous: seconds.values().filter(|&&count| count > 1).sum(),
    };
    (found, machine)
}

/// Starts predicted from the recorded past, and the machine model that predicted them.
///
/// Versions of Slurm have two rules for the placement of single-node jobs. The rule that fits the
/// history better is used.
fn given(
    folder: &Folder,
    nodes: &[Option<NodeSet>],
    cleanup: f64,
    report: &dyn Fn(usize),
) -> (SlurmMachine, Vec<PredictedStart>) {
    let stays = &folder.history.stays;
    let run = |fits: bool| {
        let mut machine = folder.machine.clone();
        machine.fit_single_nodes(fits);
        let rules = SiteRules::of(&machine);
        let found = Given::new(&machine, &rules, stays, nodes, cleanup).run(report);
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

struct JobWait<'a> {
    stay: &'a JobRecord,
    queued: Second,
    real: f64,
    predicted: f64,
}

/// Recorded wait of each job, and its predicted wait, averaged over several replays.
///
/// The second part of the result has the mean wait of the jobs in each replay, in ascending order.
fn predicted_waits<'a>(
    machine: &SlurmMachine,
    stays: &'a [JobRecord],
    cleanup: f64,
    report: &(dyn Fn(usize) + Sync),
) -> (Vec<JobWait<'a>>, Vec<f64>) {
    let rules = &SiteRules::of(machine);
    let copies = paired::copies(stays.len());
    let of = |copy: u64| {
        let report = |started: usize| {
            if copy == 0 {
                report(started);
            }
        };
        let copy = Some(copy);
        let replay = ControllerReplay { machine, rules, stays, cleanup, copy, report: &report };
        let wait = |(outcome, stay): (JobOutcome, &JobRecord)| {
            let (queued, _) = stay.queued().zip(stay.wait())?;
            Some((outcome.start? - queued) as f64)
        };
        Some(replay.run().ok()?.into_iter().zip(stays).map(wait).collect())
    };
    let found: Vec<Vec<Option<f64>>> = (0..copies).into_par_iter().filter_map(of).collect();
    let one = |(place, stay): (usize, &'a JobRecord)| {
        let (queued, real) = stay.queued().zip(stay.wait())?;
        let predicted: Vec<f64> = found.iter().filter_map(|waits| waits[place]).collect();
        Some(JobWait { stay, queued, real: real as f64, predicted: mean(&predicted)? })
    };
    let of_copy =
        |waits: &Vec<Option<f64>>| mean(&waits.iter().flatten().copied().collect::<Vec<f64>>());
    let mut means: Vec<f64> = found.iter().filter_map(of_copy).collect();
    means.sort_by(f64::total_cmp);
    (stays.iter().enumerate().filter_map(one).collect(), means)
}

fn monday(second: Second) -> String {
    // The first day of 1970 was a Thursday.
    let day = second.div_euclid(86_400);
    let monday = day - (day + 3).rem_euclid(7);
    date::written(monday * 86_400).chars().take(10).collect()
}

/// Waits of all jobs, and of groups of jobs by size (if sizes differ), partition, user and week.
fn waits(mut all: Vec<JobWait<'_>>) -> Vec<PredictedWaits> {
    all.sort_by_key(|own| own.queued);
    let mut sizes: Vec<u32> = all.iter().map(|own| own.stay.nodes).collect();
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
    let name = |(least, most): (u32, u32)| match least == most {
        true => least.to_string(),
        false => format!("{least}-{most}"),
    };
    let mut groups: Vec<(&'static str, String, Vec<&JobWait<'_>>)> = Vec::new();
    for (least, most) in classes {
        let is_own = |own: &&JobWait<'_>| (least..=most).contains(&own.stay.nodes);
        groups.push(("nodes", name((least, most)), all.iter().filter(is_own).collect()));
    }
    let keys: [fn(&JobWait<'_>) -> String; 3] =
        [|own| own.stay.partition.clone(), |own| own.stay.user.clone(), |own| monday(own.queued)];
    for (by, key) in WAIT_GROUPS.into_iter().skip(1).zip(keys) {
        let mut own: BTreeMap<String, Vec<&JobWait<'_>>> = BTreeMap::new();
        for wait in &all {
            own.entry(key(wait)).or_default().push(wait);
        }
        groups.extend(own.into_iter().map(|(name, own)| (by, name, own)));
    }
    let group = |(by, name, own): (&'static str, String, Vec<&JobWait<'_>>)| {
        let values =
            |of: fn(&JobWait<'_>) -> f64| -> Vec<f64> { own.iter().map(|own| of(own)).collect() };
        let nodes = own.iter().map(|own| own.stay.nodes);
        Some(PredictedWaits {
            by,
            name,
            nodes: nodes.clone().min().zip(nodes.max())?,
            count: own.len(),
            real: mean(&values(|own| own.real))?,
            predicted: mean(&values(|own| own.predicted))?,
            half_width: paired::interval(&values(|own| own.predicted - own.real)).half_width,
        })
    };
    groups.into_iter().filter_map(group).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_are_grouped_by_size_partition_user_and_week() {
        // Monday, 5 January 2026.
        let monday = 1_767_571_200;
        let stay = |place: i64| JobRecord {
            user: ["ada", "bo"][place as usize % 2].to_owned(),
            partition: "p".to_owned(),
            nodes: 1 + place as u32 % 2,
            submit: Some(monday - 1 + 7 * 86_400 * (place / 2)),
            ..JobRecord::default()
        };
        let stays: Vec<JobRecord> = (0..4).map(stay).collect();
        let all = stays.iter().enumerate().map(|(place, stay)| JobWait {
            stay,
            queued: stay.submit.unwrap(),
            real: 10.0 * place as f64,
            predicted: 10.0 * place as f64 + 5.0,
        });
        let found = waits(all.collect());
        let of = |by: &str| -> Vec<(&str, usize, f64)> {
            let own = found.iter().filter(|own| own.by == by);
            own.map(|own| (own.name.as_str(), own.count, own.real)).collect()
        };
        assert_eq!(of("nodes"), [("1", 2, 10.0), ("2", 2, 20.0), ("1-2", 4, 15.0)]);
        assert_eq!(of("partition"), [("p", 4, 15.0)]);
        assert_eq!(of("user"), [("ada", 2, 10.0), ("bo", 2, 20.0)]);
        assert_eq!(of("week"), [("2025-12-29", 2, 5.0), ("2026-01-05", 2, 25.0)]);
        assert!(found.iter().all(|own| (own.predicted - own.real - 5.0).abs() < 1e-9));
    }
}
