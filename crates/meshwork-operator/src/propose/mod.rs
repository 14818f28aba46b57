//! Searches for better placement lists on the first half of a history, and tests them on the
//! second.

mod lists;
mod race;
mod search;
pub mod text;

pub use lists::{Box3, SearchSpace, TopologyLists};
pub use race::{ListRace, WITHIN};
pub use search::SearchProgress;

use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};

use super::compare::{ReplayOptions, jobs_that_ran};
use super::controller::rules::SiteRules;
use super::controller::{ControllerReplay, GivenStarts};
use super::unlisted::submitted;
use crate::paired;
use meshwork_lab::slurm::folder::Folder;
use meshwork_lab::statistics::{Interval, Method, half_width_of_batches_at, mean};
use meshwork_lab::threads::pool;
use meshwork_slurm::FileProblem;
use meshwork_slurm::history::JobRecord;
use meshwork_slurm::topology::SlurmTopology;
use search::{SearchEnd, Trial, Tried, search};

/// Confidence with which proposed lists must be better than the site's own.
pub const CONFIDENCE: f64 = 0.99;

/// Fraction of the time budget for the search. The remaining time is for the race on resampled
/// histories.
const SEARCH_PART: f64 = 0.6;

/// Share of the reduction of waits at which a change of the lists is undone.
///
/// If at least this share remains without the change, the change contributes too little.
const WORTH: f64 = 0.98;

pub const FEWEST: usize = 40;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SearchLimits {
    /// Longest duration of the search and of the test on the history's second half; `None` for no
    /// limit.
    pub budget: Option<Duration>,
    pub most: usize,
    pub seed: u64,
    /// Number of threads; 0 stands for one thread per processor.
    pub threads: usize,
}

#[derive(Clone, Debug)]
pub struct ListProposal {
    pub topology: SlurmTopology,
    /// Best placement lists for the first half of the history. `None` if the site's present lists
    /// are the best.
    pub best: Option<TopologyLists>,
    pub tried: usize,
    pub jobs: (usize, usize),
    /// Race of the best placement lists on resampled histories; `None` if none beat the site's own
    /// lists.
    pub race: Option<ListRace>,
    /// Reduction of the mean wait on the history's first half.
    ///
    /// The placement lists were chosen on this half.
    pub chosen_on: Option<Interval>,
    /// Reduction of the mean wait on the history's second half.
    ///
    /// The placement lists were not chosen on this half, so it tests them.
    pub held_against: Option<Interval>,
    /// Mean waits in seconds in the second half of the history.
    ///
    /// The first is under the site's own placement lists, the second under the best ones.
    pub waits: Option<(f64, f64)>,
    /// Mean spans of jobs in the second half of the history, and the unit of the spans.
    ///
    /// The span of a job tells how far apart its nodes lie. The first mean is under the site's own
    /// placement lists, the second under the best ones.
    pub spans: Option<(f64, f64, &'static str)>,
}

impl ListProposal {
    pub fn is_better(&self) -> bool {
        self.held_against
            .is_some_and(|gain| gain.excludes_zero() && gain.mean.is_some_and(|gain| gain > 0.0))
    }

    pub fn json(&self) -> Json {
        let gain = |gain: &Option<Interval>| {
            gain.map(|own| json!({ "mean": own.mean, "half_width": own.half_width }))
        };
        let lists = match self.best.as_ref().filter(|_| self.is_better()) {
            None => Json::Null,
            Some(TopologyLists::Blocks(sizes)) => json!({ "block_sizes": sizes }),
            Some(TopologyLists::Boxes(toruses)) => {
                let placement = |own: &Box3| json!({ "dims": own.dims, "anchor_spacing": own.spacing, "anchor_seed": own.seed });
                let list = |own: &Vec<Box3>| own.iter().map(placement).collect::<Vec<Json>>();
                json!({ "placements": toruses.iter().map(list).collect::<Vec<_>>() })
            }
        };
        json!({
            "topology": self.topology.name, "tried": self.tried, "is_better": self.is_better(), "confidence": CONFIDENCE,
            "jobs": [self.jobs.0, self.jobs.1], "gain_where_chosen": gain(&self.chosen_on),
            "gain": gain(&self.held_against), "wait": self.waits.map(|(own, _)| own),
            "wait_proposed": self.waits.map(|(_, best)| best), "lists": lists,
            "span": self.spans.map(|own| own.0), "span_proposed": self.spans.map(|own| own.1),
            "span_unit": self.spans.map(|own| own.2),
            "race": self.race.map(|race| json!({
                "finalists": race.finalists, "survivors": race.survivors, "histories": race.histories,
                "stretch_seconds": race.stretch, "bound": race.bound,
            })),
        })
    }
}

/// Searches for placement lists under which the jobs of a site would wait less.
///
/// Once `stop` returns `true`, the search ends, and the best lists found so far are judged.
///
/// # Errors
/// The topology has no lists that could change, there are too few jobs, or threads cannot be
/// started.
///
/// # Complexity
/// The time that `effort` allows, and the memory of one history for each thread.
pub fn propose(
    folder: &Folder,
    terms: ReplayOptions,
    effort: SearchLimits,
    report: &(dyn Fn(&SearchProgress) + Sync),
    stop: &(dyn Fn() -> bool + Sync),
) -> Result<ListProposal, String> {
    let began = Instant::now();
    let machine = &folder.machine;
    let (topology, own) = searched(folder)?;
    let stays = submitted(machine, &folder.history.stays, terms.unlisted);
    let site = |stay: &JobRecord| machine.site(&stay.partition).topology == topology.name;
    // A job that never ran still queues until it is cancelled.
    let happens = |stay: &&JobRecord| {
        stay.queued().is_some() && stay.nodes > 0 && stay.end.is_some() && site(stay)
    };
    let mut stays: Vec<JobRecord> = stays.iter().filter(happens).cloned().collect();
    stays.sort_by_key(JobRecord::queued);
    let (first, second) = stays.split_at(stays.len() / 2);
    let (rules, cleanup) = (&SiteRules::of(machine), terms.cleanup);
    let space = SearchSpace::of(&topology, &own);
    let pool = pool(effort.threads).map_err(|error| error.to_string())?;
    let topology = &topology;
    let chosen = Trial { machine, topology, rules, cleanup, stays: first, given: None };
    // Reserve time for the later steps, as a multiple of one trial on the first half.
    let one = Instant::now();
    let _ = chosen.waits(&own, 0..first.len(), f64::MAX);
    let one = one.elapsed();
    let kept = one * (3 + 2 * own.sizes().len() as u32);
    let after = effort.most.max(2);
    let race_ends = effort.budget.map(|budget| began + budget.saturating_sub(kept));
    let race_ends = SearchEnd { at: race_ends, after, stop };
    // A race can stop at any time, so it gets a part of the remaining time.
    let at = effort.budget.map(|budget| began + budget.saturating_sub(kept).mul_f64(SEARCH_PART));
    let ends = SearchEnd { at, after, stop };
    let found = pool.install(|| search(&chosen, &own, &space, effort.seed, ends, report));
    let ran = |stays: &[JobRecord]| stays.iter().filter(|stay| stay.start.is_some()).count();
    let mut proposal = ListProposal {
        jobs: (ran(first), ran(second)),
        best: None,
        race: None,
        tried: found.as_ref().map_or(0, |(.., tried)| *tried),
        chosen_on: None,
        held_against: None,
        waits: None,
        spans: None,
        topology: topology.clone(),
    };
    let Some((own_tried, best, _)) = found else { return Ok(proposal) };
    let mut finalists = vec![&own];
    finalists
        .extend(best.iter().filter(|tried| tried.wait < own_tried.wait).map(|tried| &tried.lists));
    if finalists.len() < 2 {
        return Ok(proposal);
    }
    let raced = pool.install(|| race::race(&chosen, &finalists, effort.seed, race_ends));
    let leader = match raced {
        Some((leader, outcome)) => {
            proposal.race = Some(outcome);
            leader
        }
        // The later jobs judge the first finalist of a search that was stopped before the race.
        None if stop() => 1,
        None => return Ok(proposal),
    };
    if leader == 0 {
        return Ok(proposal);
    }
    let lists = finalists[leader];
    let at = effort.budget.map(|budget| began + budget.saturating_sub(3 * one));
    let ends = SearchEnd { at, after, stop };
    let (lists, waits) = pool.install(|| simplified(&chosen, &own_tried, lists, &space, ends));
    let lists = &lists;
    proposal.chosen_on = waits.map(|waits| gain(&own_tried.waits, &waits));
    proposal.best = Some(lists.clone());
    // Both replays begin with the jobs at the cut under the site's own lists.
    let until = second.first().and_then(JobRecord::queued).unwrap_or_default();
    let before = ControllerReplay {
        machine,
        rules,
        stays: first,
        cleanup: cleanup as f64,
        copy: None,
        report: &|_| {},
    };
    let outcomes = &before.run()?[..];
    let given = Some(GivenStarts { outcomes, until });
    let judged = Trial { stays: &stays, given, ..chosen };
    let (own, other) = pool.install(|| rayon::join(|| judged.costs(&own), || judged.costs(lists)));
    if let Some(((own, own_spans), (other, spans))) = own.zip(other) {
        proposal.held_against = Some(gain(&own, &other));
        proposal.waits = mean(&own).zip(mean(&other));
        let unit = machine.site("").structure.span_unit();
        let spans = mean(&own_spans).zip(mean(&spans)).zip(unit);
        proposal.spans = spans.map(|((own, best), unit)| (own, best, unit));
    }
    Ok(proposal)
}

/// Undoes changes of placement lists that have little effect, and drops boxes that shorten no wait.
fn simplified(
    trial: &Trial<'_>,
    own: &Tried,
    lists: &TopologyLists,
    space: &SearchSpace,
    ends: SearchEnd<'_>,
) -> (TopologyLists, Option<Vec<f64>>) {
    let jobs = 0..trial.stays.len();
    let mut lists = lists.clone();
    let mut waits = trial.waits(&lists, jobs.clone(), f64::MAX);
    let gained = |waits: &[f64]| own.wait - mean(waits).unwrap_or(own.wait);
    let mut sizes = [own.lists.sizes(), lists.sizes()].concat();
    sizes.sort_unstable();
    sizes.dedup();
    let least = WORTH * waits.as_deref().map_or(0.0, gained);
    for size in sizes {
        let simpler = lists.with_size_of(size, &own.lists);
        if simpler == lists || simpler == own.lists {
            continue;
        }
        let tried = trial.waits(&simpler, jobs.clone(), f64::MAX);
        if tried.as_deref().is_some_and(|waits| gained(waits) >= least) {
            (lists, waits) = (simpler, tried);
        }
    }
    let lists = space.shortened(&lists, &own.lists, |shorter| {
        let tried = Some(shorter).filter(|_| !ends.is_over());
        let tried = tried.and_then(|lists| trial.waits(lists, jobs.clone(), f64::MAX));
        let now = waits.as_deref().map_or(0.0, gained);
        let is_as_good = tried.as_deref().is_some_and(|tried| gained(tried) >= now);
        if is_as_good {
            waits = tried;
        }
        is_as_good
    });
    (lists, waits)
}

/// Mean amount by which the waits `other` are shorter than the waits `own`, job by job. The
/// interval has the level [`CONFIDENCE`].
fn gain(own: &[f64], other: &[f64]) -> Interval {
    let gains: Vec<f64> = own.iter().zip(other).map(|(own, other)| own - other).collect();
    let half_width = half_width_of_batches_at(&paired::batches(&gains), CONFIDENCE);
    let method = half_width.is_some().then_some(Method::BatchMeans);
    Interval { mean: mean(&gains), half_width, replications: 1, method }
}

/// Topology whose partitions have the most job records, with its placement lists.
pub fn searched(folder: &Folder) -> Result<(SlurmTopology, TopologyLists), String> {
    let (topology, lists) = listing(folder)?;
    let count = jobs_that_ran(folder)?.len();
    if count < 2 * FEWEST {
        let says = format!(
            "{count} jobs ran, and {} would be the fewest on which lists can be chosen and judged",
            2 * FEWEST
        );
        let file = folder.path.join("jobs.csv").display().to_string();
        return Err(FileProblem::of(&file, says).to_string());
    }
    Ok((topology, lists))
}

fn listing(folder: &Folder) -> Result<(SlurmTopology, TopologyLists), String> {
    let machine = &folder.machine;
    let file = &machine.reading.files.topology;
    let uses = |topology: &SlurmTopology| {
        let of_this = |stay: &&JobRecord| machine.site(&stay.partition).topology == topology.name;
        folder.history.stays.iter().filter(of_this).count()
    };
    let topologies = machine.reading.topologies.iter().map(|(topology, _)| topology);
    // The first of equal topologies is used.
    let topology = topologies.rev().max_by_key(|topology| uses(topology));
    let topology = topology.ok_or_else(|| format!("{file}: this file lists no topology"))?;
    match TopologyLists::of(topology) {
        Some(lists) => Ok((topology.clone(), lists)),
        None => {
            let says = format!(
                "the topology {} is of the kind {}, which lists no places, so no other list can be proposed",
                topology.name,
                topology.kind.name()
            );
            Err(FileProblem::at(file, topology.line, says).to_string())
        }
    }
}
