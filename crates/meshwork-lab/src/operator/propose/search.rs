//! Trying lists on some jobs: many on few of them, and the better ones on more.

use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Instant;

use meshwork::rng::Stream;
use rayon::prelude::*;

use super::lists::{Lists, Space};
use crate::findings::statistics::mean;
use crate::operator::folder::Machine;
use crate::operator::forecast::{Conditions, Cut, Forecast};
use crate::operator::history::{Second, Stay};
use crate::slurm::topology::Topology;

/// How many lists begin a round.
const LISTS_OF_A_ROUND: usize = 64;

/// Of so many lists one goes on to more jobs.
const ONE_OF: usize = 4;

/// On how many times fewer jobs a round begins than it ends.
const FEWER: [usize; 3] = [16, 4, 1];

/// The fewest jobs on which lists are told apart.
const FEWEST_JOBS: usize = 100;

/// From how many of the best lists others are made.
const PARENTS: usize = 8;

/// Beyond so many times the wait under the site's own list nobody waits for the end.
const PATIENCE: f64 = 1.5;

/// What lists are tried on.
pub(super) struct Trial<'a> {
    pub(super) machine: &'a Machine,
    pub(super) topology: &'a Topology,
    pub(super) conditions: Conditions,
    /// Jobs in the order of submission.
    pub(super) stays: &'a [Stay],
    /// In which state it begins, and how many jobs are only there because of that; none where it
    /// begins empty.
    pub(super) cut: Option<(&'a Cut, usize)>,
}

/// The waits of jobs in their order; `None` if one of them never starts, or all take too long.
pub(super) type Waits = Option<Vec<f64>>;

impl Trial<'_> {
    /// The waits of the jobs that ran, of some in succession, if they happen again by themselves.
    /// Nobody waits for waits that sum up to more than this.
    pub(super) fn waits(&self, lists: &Lists, jobs: Range<usize>, most: f64) -> Waits {
        let machine = self.machine.with_topology(&lists.put_into(self.topology))?;
        let stays = &self.stays[jobs];
        let own = Forecast::new(&machine, stays, &self.conditions);
        let cut = self.cut.map(|(cut, _)| cut);
        let outcomes = Forecast { most: most as Second, cut, ..own }.run()?;
        let judged = stays.iter().zip(&outcomes).skip(self.cut.map_or(0, |(_, present)| present));
        let ran = judged.filter(|(stay, _)| stay.start.is_some());
        ran.map(|(stay, outcome)| Some((outcome.start? - stay.queued()?) as f64)).collect()
    }
}

/// A list with the waits of all jobs under it, and their mean.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Tried {
    pub(super) lists: Lists,
    pub(super) waits: Vec<f64>,
    pub(super) wait: f64,
}

impl Tried {
    fn new(lists: Lists, waits: Vec<f64>) -> Tried {
        let wait = mean(&waits).unwrap_or(0.0);
        Tried { lists, waits, wait }
    }

    /// In the order in which lists are preferred.
    fn is_before(&self, other: &Tried) -> Ordering {
        self.wait.total_cmp(&other.wait).then_with(|| self.lists.cmp(&other.lists))
    }
}

/// How far a search is.
#[derive(Clone, Debug, PartialEq)]
pub struct Progress {
    /// How many lists have been tried.
    pub tried: usize,
    /// The mean wait under the site's own list, in seconds, on the jobs on which lists are tried.
    pub own: f64,
    /// That under the best so far.
    pub best: f64,
}

/// When a search ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ends {
    /// At this time.
    pub(super) at: Option<Instant>,
    /// When so many lists have been tried.
    pub(super) after: usize,
}

impl Ends {
    fn is_over(&self) -> bool {
        self.at.is_some_and(|at| Instant::now() >= at)
    }
}

/// Searches lists, in rounds. A round makes new lists of the best ones so far, tries them on some of the jobs, keeps a
/// quarter, tries those on more, keeps a quarter, and tries what is left on all. What comes out is the site's own list,
/// the best ones, the best first, and how many were tried.
///
/// # Complexity
/// For a round of 64 lists some twelve times that of all jobs.
pub(super) fn search(
    trial: &Trial<'_>,
    own: &Lists,
    space: &Space,
    seed: u64,
    ends: Ends,
    report: &(dyn Fn(&Progress) + Sync),
) -> Option<(Tried, Vec<Tried>, usize)> {
    let jobs = trial.stays.len();
    let waits = trial.waits(own, 0..jobs, f64::MAX)?;
    let own_tried = Tried::new(own.clone(), waits);
    let mut best = vec![own_tried.clone()];
    let mut seen: BTreeSet<Lists> = BTreeSet::from([own.clone()]);
    let mut waiting = space.first(own);
    waiting.retain(|lists| seen.insert(lists.clone()));
    waiting.reverse();
    let mut tried = 1;
    for round in 0_u64.. {
        let mut stream = Stream::new(seed, round, "propose");
        let room = LISTS_OF_A_ROUND.min(ends.after.saturating_sub(tried));
        let mut lists: Vec<Lists> = waiting.split_off(waiting.len().saturating_sub(room));
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
            // Alone the jobs of a window may wait longer or shorter than in the course of all.
            let most = PATIENCE * own_sum + 600.0 * (take - skip) as f64;
            let mut scored: Vec<Tried> = lists
                .into_par_iter()
                .filter(|_| !ends.is_over())
                .filter_map(|lists| {
                    // Those that come further count once, and those for which there was no time do not.
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
        report(&Progress { tried, own: own_tried.wait, best: best[0].wait });
    }
    best.retain(|tried| tried.lists != *own);
    Some((own_tried, best, tried))
}
