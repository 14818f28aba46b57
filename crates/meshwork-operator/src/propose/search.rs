//! Successive halving: many placement lists are tried on few jobs, the better ones on more jobs.

use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Instant;

use meshwork::rng::Stream;
use rayon::prelude::*;

use super::lists::{SearchSpace, TopologyLists};
use crate::controller::rules::SiteRules;
use crate::controller::{ControllerReplay, GivenStarts, JobOutcome};
use meshwork_lab::slurm::folder::SlurmMachine;
use meshwork_lab::statistics::mean;
use meshwork_slurm::history::{JobRecord, Second};
use meshwork_slurm::topology::SlurmTopology;

const LISTS_OF_A_ROUND: usize = 64;

/// Factor by which the number of tried lists falls from one stage to the next.
const ONE_OF: usize = 4;

/// For each stage of a search, the number by which the number of jobs is divided.
///
/// Placement lists are tried on the resulting number of jobs.
const FEWER: [usize; 3] = [16, 4, 1];

pub(super) const FEWEST_JOBS: usize = 100;

const PARENTS: usize = 8;

/// Limit of a trial's waits, as a multiple of the waits under the site's placement lists. A trial
/// with longer waits is aborted.
const PATIENCE: f64 = 1.5;

pub(super) struct Trial<'a> {
    pub(super) machine: &'a SlurmMachine,
    pub(super) topology: &'a SlurmTopology,
    pub(super) rules: &'a SiteRules,
    /// Seconds from the end of a job until its nodes can be allocated again.
    pub(super) cleanup: Second,
    pub(super) stays: &'a [JobRecord],
    /// Starts of earlier jobs, which a trial repeats before it makes decisions. Only the waits of
    /// later jobs count.
    pub(super) given: Option<GivenStarts<'a>>,
}

/// Wait of each job, in the order of the records. `None` if some job never starts, or if the trial
/// was aborted.
pub(super) type Waits = Option<Vec<f64>>;

impl Trial<'_> {
    /// Waits in a replay of a range of jobs; `None` if the sum of the waits exceeds `most`.
    pub(super) fn waits(&self, lists: &TopologyLists, jobs: Range<usize>, most: f64) -> Waits {
        self.outcomes(lists, jobs, most, |stay, outcome| {
            Some((outcome.start? - stay.queued()?) as f64)
        })
    }

    /// Wait of each job that ran, and its span: how far apart its nodes lie. Both come from a
    /// replay.
    pub(super) fn costs(&self, lists: &TopologyLists) -> Option<(Vec<f64>, Vec<f64>)> {
        let of = |stay: &JobRecord, outcome: &JobOutcome| {
            let structure = &self.machine.site(&stay.partition).structure;
            let span = structure.span(outcome.nodes.as_ref()?).unwrap_or(0.0);
            Some(((outcome.start? - stay.queued()?) as f64, span))
        };
        let all = self.outcomes(lists, 0..self.stays.len(), f64::MAX, of)?;
        Some(all.into_iter().unzip())
    }

    /// Value of each job in `jobs` that ran, computed by `of` from its record and its replay. The
    /// whole result is `None` if a value is missing, if the replay fails, or if the waits exceed
    /// `most` seconds in total.
    fn outcomes<T>(
        &self,
        lists: &TopologyLists,
        jobs: Range<usize>,
        most: f64,
        of: impl Fn(&JobRecord, &JobOutcome) -> Option<T>,
    ) -> Option<Vec<T>> {
        let machine = &self.machine.with_topology(&lists.put_into(self.topology))?;
        let (rules, cleanup, stays) = (self.rules, self.cleanup as f64, &self.stays[jobs]);
        let replay =
            ControllerReplay { machine, rules, stays, cleanup, copy: None, report: &|_| {} };
        // The conversion turns infinity into the largest whole number.
        let outcomes = replay.run_within(most as Second, self.given).ok()??;
        let judged = stays.iter().zip(&outcomes);
        let judged = judged.skip(self.given.map_or(0, |given| given.outcomes.len()));
        let ran = judged.filter(|(stay, _)| stay.start.is_some());
        ran.map(|(stay, outcome)| of(stay, outcome)).collect()
    }
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Tried {
    pub(super) lists: TopologyLists,
    pub(super) waits: Vec<f64>,
    pub(super) wait: f64,
}

impl Tried {
    fn new(lists: TopologyLists, waits: Vec<f64>) -> Tried {
        let wait = mean(&waits).unwrap_or(0.0);
        Tried { lists, waits, wait }
    }

    fn is_before(&self, other: &Tried) -> Ordering {
        let by_wait = self.wait.total_cmp(&other.wait);
        let by_length = || self.lists.entries().cmp(&other.lists.entries());
        by_wait.then_with(by_length).then_with(|| self.lists.cmp(&other.lists))
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct SearchProgress {
    pub tried: usize,
    /// Mean wait under the site's own placement lists, in seconds.
    pub own: f64,
    /// Mean wait under the best placement lists so far, in seconds.
    pub best: f64,
}

#[derive(Clone, Copy)]
pub(super) struct SearchEnd<'a> {
    pub(super) at: Option<Instant>,
    pub(super) after: usize,
    pub(super) stop: &'a (dyn Fn() -> bool + Sync),
}

impl SearchEnd<'_> {
    pub(super) fn is_over(&self) -> bool {
        (self.stop)() || self.at.is_some_and(|at| Instant::now() >= at)
    }
}

/// Searches for better placement lists in rounds.
///
/// A round makes new lists from the best lists so far, and tries them on some of the jobs. The
/// better quarter of the new lists is tried on more jobs. The better quarter of these lists is
/// tried on all jobs. The result has the site's own lists, the best lists in order, and the number
/// of tried lists.
pub(super) fn search(
    trial: &Trial<'_>,
    own: &TopologyLists,
    space: &SearchSpace,
    seed: u64,
    ends: SearchEnd<'_>,
    report: &(dyn Fn(&SearchProgress) + Sync),
) -> Option<(Tried, Vec<Tried>, usize)> {
    let jobs = trial.stays.len();
    let waits = trial.waits(own, 0..jobs, f64::MAX)?;
    let own_tried = Tried::new(own.clone(), waits);
    let mut best = vec![own_tried.clone()];
    let mut seen: BTreeSet<TopologyLists> = BTreeSet::from([own.clone()]);
    let mut waiting = space.first(own);
    waiting.retain(|lists| seen.insert(lists.clone()));
    waiting.reverse();
    let mut tried = 1;
    for round in 0_u64.. {
        let mut stream = Stream::new(seed, round, "propose");
        let room = LISTS_OF_A_ROUND.min(ends.after.saturating_sub(tried));
        let mut lists: Vec<TopologyLists> = waiting.split_off(waiting.len().saturating_sub(room));
        lists.reverse();
        for attempt in 0..16 * LISTS_OF_A_ROUND {
            if lists.len() >= room {
                break;
            }
            let near = space.near(&best[attempt % best.len()].lists, &mut stream);
            if seen.insert(near.clone()) {
                lists.push(near);
            }
        }
        if lists.is_empty() || ends.is_over() {
            break;
        }
        let begun = AtomicUsize::new(0);
        for fewer in FEWER {
            let length = (jobs / fewer).max(FEWEST_JOBS).min(jobs);
            let windows = (jobs / length).max(1);
            let from = (round as usize % windows) * length;
            let window = from..if fewer == 1 { jobs } else { from + length };
            let is_last = window == (0..jobs);
            let ran_before =
                |end: usize| trial.stays[..end].iter().filter(|stay| stay.start.is_some());
            let (skip, take) = (ran_before(window.start).count(), ran_before(window.end).count());
            let own_sum: f64 = own_tried.waits[skip..take].iter().sum();
            // Waits may differ in a replay of only some of the jobs.
            let most = PATIENCE * own_sum + 600.0 * (take - skip) as f64;
            let mut scored: Vec<Tried> = lists
                .into_par_iter()
                .filter(|_| !ends.is_over())
                .filter_map(|lists| {
                    // Lists count in their first stage, if there was time to try them.
                    begun.fetch_add(usize::from(fewer == FEWER[0]), Relaxed);
                    let waits = trial.waits(&lists, window.clone(), most)?;
                    Some(Tried::new(lists, waits))
                })
                .collect();
            scored.sort_by(Tried::is_before);
            if is_last {
                best.append(&mut scored);
                break;
            }
            scored.truncate(scored.len().div_ceil(ONE_OF));
            lists = scored.into_iter().map(|tried| tried.lists).collect();
        }
        best.sort_by(Tried::is_before);
        best.truncate(PARENTS);
        tried += begun.into_inner();
        report(&SearchProgress { tried, own: own_tried.wait, best: best[0].wait });
    }
    best.retain(|tried| tried.lists != *own);
    Some((own_tried, best, tried))
}
