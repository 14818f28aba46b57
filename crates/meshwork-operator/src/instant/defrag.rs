//! Finds moves of running jobs after which a request fits, for any allocator.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use meshwork::facility::SiteAhead;
use meshwork::form::Finds;
use meshwork::job::{Job, Time};
use meshwork::machine::Placement;
use serde_json::{Value as Json, json};

use super::Instant;
use super::ways::{CandidateBlock, CandidateSets, MOST_SETS, blocks};
use crate::defrag::Cost;

#[derive(Clone, Debug, PartialEq)]
pub struct InstantMove {
    pub job: usize,
    pub from: Placement,
    /// New placement of the moved job: nodes that are free after the earlier moves and not held by
    /// it.
    pub to: Placement,
}

/// Moves of running jobs after which a request fits.
#[derive(Clone, Debug, PartialEq)]
pub struct InstantPlan {
    pub placement: Placement,
    pub steps: Vec<InstantMove>,
    pub cost: i64,
}

#[derive(Clone, Debug, PartialEq)]
pub struct InstantTarget {
    pub site: usize,
    pub job: Job,
    pub exempt: BTreeSet<String>,
    pub cost: Cost,
}

impl InstantTarget {
    /// Creates a target: the job is to start on the first site, and all running jobs may be moved.
    pub fn of(job: Job) -> InstantTarget {
        InstantTarget { site: 0, job, exempt: BTreeSet::new(), cost: Cost::default() }
    }
}

impl Instant {
    /// Finds plans of moves after which the job of `target` fits: the cheapest, at most `most` of
    /// them.
    ///
    /// For a possible placement of this job, the running jobs on its nodes are moved, the largest
    /// first. The allocator chooses their new nodes among the nodes that are free after the earlier
    /// moves and lie outside of the placement. Nodes that a move frees are not used before the next
    /// move.
    ///
    /// If all placements of the allocator are single blocks, all blocks are considered. If the job
    /// needs only a number of free nodes, no move helps. Otherwise at most 2,000 sets of running
    /// jobs are tried, in order of their costs.
    ///
    /// # Errors
    /// The job of `target` would not fit the empty site, or it does not fit now and no job on the
    /// site may be moved.
    pub fn defrag(&self, target: &InstantTarget, most: usize) -> Result<Vec<InstantPlan>, String> {
        let (job, site) = (&target.job, target.site);
        if self.empty[site].fork().propose(job, self.now).is_none() {
            let says = self.empty[site].never(&job.request);
            let why = says.unwrap_or_else(|| {
                format!("it would not fit {}", self.empty[site].site().topology())
            });
            return Err(format!("there is never room for {}: {why}", job.request));
        }
        let here = |own: &&super::PlacedJob| own.site == site;
        let mut holders = self.running.iter().filter(here).peekable();
        let ways = blocks(self, site, job);
        let plans = cheapest(self, target, ways.as_deref(), most, usize::MAX);
        let has_none = plans.is_empty() && holders.peek().is_some();
        if has_none && holders.all(|own| target.exempt.contains(&own.name)) {
            return Err("no job may be moved: all are exempt".to_owned());
        }
        Ok(plans)
    }
}

/// Finds the cheapest plans of moves for [`Instant::defrag`], at most `most` of them.
///
/// At most `tries` candidates for a plan are examined.
pub(super) fn cheapest(
    instant: &Instant,
    target: &InstantTarget,
    ways: Option<&[CandidateBlock]>,
    most: usize,
    tries: usize,
) -> Vec<InstantPlan> {
    let InstantTarget { site, job, .. } = target;
    let mut plans: Vec<InstantPlan> = Vec::new();
    if let Some(proposal) = instant.sites[*site].fork().propose(job, instant.now) {
        return vec![InstantPlan { placement: proposal.placement, steps: Vec::new(), cost: 0 }];
    }
    let cost = |place: usize| cost(instant, target.cost, place);
    let may_move = |&place: &usize| {
        let holder = &instant.running[place];
        holder.site == *site && !target.exempt.contains(&holder.name)
    };
    let mut keep = |plan: Option<InstantPlan>| {
        plans.extend(plan.filter(|plan| !plans.iter().any(|other| other.steps == plan.steps)));
        plans.len() >= most
    };
    match ways {
        Some(ways) => {
            let ways = ways.iter().filter(|way| way.jobs.iter().all(&may_move));
            let mut ways: Vec<_> =
                ways.map(|way| (way.jobs.iter().map(|&job| cost(job)).sum::<i64>(), way)).collect();
            ways.sort_by(|(a, one), (b, other)| {
                (a, one.block.base, &one.block.sides).cmp(&(
                    b,
                    other.block.base,
                    &other.block.sides,
                ))
            });
            for (_, way) in ways.into_iter().take(tries) {
                let place = Placement::from(way.block.clone());
                if keep(clear(instant, target, &place, &way.jobs)) {
                    break;
                }
            }
        }
        None if instant.sites[*site].finds() == Finds::AnyNodes => {}
        None => {
            let jobs = (0..instant.running.len()).filter(may_move).map(|job| (cost(job), job));
            for (_, jobs) in CandidateSets::new(jobs.collect()).take(MOST_SETS.min(tries)) {
                let mut without = instant.without(*site, &jobs);
                let Some(proposal) = without.propose(job, instant.now) else { continue };
                if keep(clear(instant, target, &proposal.placement, &jobs)) {
                    break;
                }
            }
        }
    }
    plans
}

fn cost(instant: &Instant, cost: Cost, place: usize) -> i64 {
    let holder = &instant.running[place];
    let nodes = i64::from(holder.placement.len());
    match cost {
        Cost::Moves => 1,
        Cost::Nodes => nodes,
        Cost::NodeSeconds => (nodes as f64 * (instant.now - holder.since)).round().max(0.0) as i64,
    }
}

/// Plan that moves jobs off the nodes in `place`, so that the job of `target` can start there.
///
/// `None` if no such plan exists.
fn clear(
    instant: &Instant,
    target: &InstantTarget,
    place: &Placement,
    jobs: &[usize],
) -> Option<InstantPlan> {
    let InstantTarget { site, job: wanted, .. } = target;
    let now = instant.now;
    let grid = instant.sites[*site].site().grid();
    let mut jobs = jobs.to_vec();
    jobs.sort_by_key(|&job| (Reverse(instant.running[job].placement.len()), job));
    // The largest job moves first, and needs as many free nodes outside of the place.
    let outside = instant.sites[*site].site().free_nodes()
        - place.part_in(instant.sites[*site].site().free(), grid).len();
    let largest = jobs.first().map_or(0, |&job| instant.running[job].placement.len());
    if instant.empty[*site].gives_blocks() && largest > outside {
        return None;
    }
    let mut ahead = instant.sites[*site].fork();
    let mut rest = place.clone();
    keep(&mut ahead, &mut rest, now)?;
    let mut steps: Vec<InstantMove> = Vec::new();
    for job in jobs {
        let holder = &instant.running[job];
        let to = ahead.propose(&holder.job, now)?.placement;
        ahead.take_what_is_free_of(&to, now).ok()?;
        ahead.release(&holder.placement);
        keep(&mut ahead, &mut rest, now)?;
        steps.push(InstantMove { job, from: holder.placement.clone(), to });
    }
    let placement = carried_out(instant, *site, &steps)?.propose(wanted, now)?.placement;
    let cost = steps.iter().map(|step| cost(instant, target.cost, step.job)).sum();
    Some(InstantPlan { placement, steps, cost })
}

/// Occupies the free nodes (or parts of nodes) of `rest`, so that moved jobs do not get them.
fn keep(ahead: &mut SiteAhead, rest: &mut Placement, now: Time) -> Option<()> {
    let Some(amounts) = ahead.site().amounts().filter(|_| rest.parts.is_some()) else {
        // Whole nodes that were taken before are no longer free.
        return ahead.take_what_is_free_of(rest, now).ok();
    };
    let mut taken = rest.clone();
    if let (Some(rest), Some(taken)) = (&mut rest.parts, &mut taken.parts) {
        // Several parts of one node may share its free amounts.
        let mut used: BTreeMap<(u32, u16), u32> = BTreeMap::new();
        for (rest, taken) in rest.parts.iter_mut().zip(&mut taken.parts) {
            let free = amounts.of(rest.node).cells;
            for (left, own) in rest.cells.iter_mut().zip(&mut taken.cells) {
                let used = used.entry((rest.node, own.0)).or_default();
                own.1 = own.1.min(free[own.0 as usize] - *used);
                *used += own.1;
                left.1 -= own.1;
            }
        }
    }
    ahead.take_what_is_free_of(&taken, now).ok()
}

/// Copy of the site after moves; `None` if a move goes to nodes that are not free.
fn carried_out(instant: &Instant, site: usize, steps: &[InstantMove]) -> Option<SiteAhead> {
    let mut ahead = instant.sites[site].fork();
    for step in steps {
        if !ahead.site().has_free(&step.to) {
            return None;
        }
        ahead.take_what_is_free_of(&step.to, instant.now).ok()?;
        ahead.release(&step.from);
    }
    Some(ahead)
}

pub fn json(instant: &Instant, site: usize, plans: &[InstantPlan]) -> Json {
    let text = |placement: &Placement| instant.text(site, placement);
    let plan = |plan: &InstantPlan| {
        let step = |step: &InstantMove| {
            json!({
                "job": instant.running[step.job].name, "from": text(&step.from), "to": text(&step.to)
            })
        };
        json!({
            "site": site + 1, "place": text(&plan.placement), "nodes": plan.placement.node_count(), "cost": plan.cost,
            "steps": plan.steps.iter().map(step).collect::<Vec<Json>>()
        })
    };
    let plans: Vec<Json> = plans.iter().map(plan).collect();
    json!({ "now": instant.now.units(), "plans": plans })
}
