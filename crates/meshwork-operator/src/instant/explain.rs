//! Explains why a job waits at an instant, by queries to the allocator itself.

use std::collections::BTreeSet;

use meshwork::facility::SiteAhead;
use meshwork::form::Finds;
use meshwork::job::{Cause, Job, Request, Time};
use meshwork::machine::{Block, Placement};
use serde_json::{Value as Json, json};

use super::defrag::{InstantMove, InstantPlan, InstantTarget, cheapest};
use super::ways::{CandidateBlock, CandidateSets, MOST_SETS, blocks};
use super::{Instant, WaitingJob};

/// Maximum number of possible placements that are reported for a waiting job.
const NEAREST: usize = 3;

/// Maximum number of blocks or sets of jobs that are tried in the search for jobs to move.
const MOST_MOVES: usize = 100;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InstantReason {
    /// The job would not fit the empty machine. The text is the rule that it violates, if any.
    Never(Option<String>),
    WaitsFor(Cause),
    /// Nothing prevents the start: the state has no scheduler that could delay the job.
    Nothing,
}

impl InstantReason {
    pub fn word(&self) -> &'static str {
        match self {
            InstantReason::Never(_) => "never",
            InstantReason::WaitsFor(cause) => cause.word(),
            InstantReason::Nothing => "nothing",
        }
    }
}

/// Possible placement of a job, and the running jobs that must end before it.
#[derive(Clone, Debug, PartialEq)]
pub struct NearestPlacement {
    pub site: usize,
    pub placement: Placement,
    pub jobs: Vec<usize>,
    pub until: Option<Time>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct PlannedStart {
    pub at: Time,
    pub site: usize,
    pub placement: Placement,
}

#[derive(Clone, Debug, PartialEq)]
pub struct InstantExplanation {
    pub job: WaitingJob,
    pub reason: InstantReason,
    /// Text on the cores, memory or GPUs that the job lacks; `None` if jobs do not share nodes.
    pub short: Option<String>,
    pub free: Vec<u32>,
    pub now: Option<(usize, Placement)>,
    /// Possible placements, sorted by the number of jobs that must end first, and then by time.
    pub nearest: Vec<NearestPlacement>,
    /// Earliest start of the job if it were first in the queue. Running jobs are assumed to end at
    /// their estimated ends.
    pub alone: Option<PlannedStart>,
    /// Earliest start of the job if jobs start in order of arrival and end at their estimated ends.
    pub in_order: Option<PlannedStart>,
    /// Indices of running jobs. If any single one of them ended, the waiting job could start.
    pub ends: Vec<usize>,
    /// Free block of the job's shape, in any orientation, that the allocator fails to find.
    pub overlooked: Option<(usize, Placement)>,
    /// Moves after which the job could start: the site, and the plan with the fewest moves.
    pub moves: Option<(usize, InstantPlan)>,
}

impl Instant {
    /// Explains why the waiting job with the name `name` waits.
    ///
    /// # Complexity
    /// At most one query to the allocator for each running job and for each waiting job ahead of
    /// this one, and a check of every block if the job requests a shape.
    pub fn explain(&self, name: &str) -> Result<InstantExplanation, String> {
        let Some(place) = self.waiting.iter().position(|waiter| waiter.name == name) else {
            let runs = self.running.iter().any(|holder| holder.name == name);
            let now = self.now.units();
            return Err(match (runs, self.held_up) {
                (true, _) => format!("job {name} runs, and does not wait"),
                (false, Some(_)) => format!("no job {name} waits at {now}"),
                (false, None) => format!(
                    "no job {name} waits: `meshwork place` has no queue; what a shape would wait for is asked with --shape"
                ),
            });
        };
        Ok(self.explain_waiter(&self.waiting[place], place))
    }

    /// Explains why a new job at the end of the queue could not start.
    pub fn explain_request(&self, request: Request) -> InstantExplanation {
        let job = self.job(request);
        let waiter = WaitingJob { name: job.request.to_string(), job, promised: None };
        self.explain_waiter(&waiter, self.waiting.len())
    }

    fn explain_waiter(&self, waiter: &WaitingJob, place: usize) -> InstantExplanation {
        let job = &waiter.job;
        let free = self.sites.iter().map(|site| site.site().free_nodes()).collect();
        let mut explained = InstantExplanation {
            job: waiter.clone(),
            reason: InstantReason::Nothing,
            short: None,
            free,
            now: start_on(&mut self.copy(), job, self.now),
            nearest: Vec::new(),
            alone: self.starts_alone(job),
            in_order: None,
            ends: Vec::new(),
            overlooked: None,
            moves: None,
        };
        let Some(lacks) = self.lacks(job) else {
            explained.reason = self.held_up.map_or(InstantReason::Nothing, InstantReason::WaitsFor);
            explained.in_order = self.starts_in_order(job, place);
            return explained;
        };
        if start_on(&mut self.copy_of_empty(), job, self.now).is_none() {
            let never = self.empty.iter().find_map(|site| site.never(&job.request));
            explained.reason = InstantReason::Never(never);
            return explained;
        }
        explained.reason = InstantReason::WaitsFor(lacks);
        explained.short = self.sites.iter().find_map(|site| site.shortage(&job.request));
        explained.in_order = self.starts_in_order(job, place);
        explained.ends = self.ends(job);
        let ways: Vec<Option<Vec<CandidateBlock>>> =
            (0..self.sites.len()).map(|site| blocks(self, site, job)).collect();
        explained.nearest = self.nearest(job, &ways);
        explained.overlooked = self.overlooked(job);
        let target = |site| InstantTarget { site, ..InstantTarget::of(job.clone()) };
        let moves = ways.iter().enumerate().filter_map(|(site, ways)| {
            let plans = cheapest(self, &target(site), ways.as_deref(), 1, MOST_MOVES);
            plans.into_iter().next().map(|moves| (site, moves))
        });
        explained.moves = moves.min_by_key(|(_, moves)| moves.cost);
        explained
    }

    fn copy(&self) -> Vec<SiteAhead> {
        self.sites.iter().map(SiteAhead::fork).collect()
    }

    fn copy_of_empty(&self) -> Vec<SiteAhead> {
        self.empty.iter().map(SiteAhead::fork).collect()
    }

    /// Reason why a job can start on none of the sites; `None` if it can start on one of them.
    fn lacks(&self, job: &Job) -> Option<Cause> {
        let mut lacks = Cause::Nodes;
        for site in &self.sites {
            lacks = lacks.max(site.fork().lacks(job, self.now)?);
        }
        Some(lacks)
    }

    /// Running jobs such that the end of any one of them would let the waiting job start.
    fn ends(&self, job: &Job) -> Vec<usize> {
        let would_do = |&place: &usize| {
            let holder = &self.running[place];
            let site = &self.sites[holder.site];
            let free = u64::from(site.site().free_nodes() + holder.placement.len());
            let fewest = site.fewest(job).unwrap_or(u64::MAX);
            free >= fewest
                && (site.finds() == Finds::AnyNodes
                    || self.without(holder.site, &[place]).propose(job, self.now).is_some())
        };
        (0..self.running.len()).filter(would_do).collect()
    }

    /// Sort key of a possible placement: number of jobs that must end, then the last of their ends.
    fn rank(&self, jobs: &[usize]) -> (usize, Time) {
        const NEVER: f64 = f64::MAX;
        let until = |&job: &usize| self.running[job].until.unwrap_or(Time::new(NEVER));
        (jobs.len(), jobs.iter().map(until).max().unwrap_or(self.now))
    }

    fn by_end(&self, site: usize) -> Vec<usize> {
        let here = |&place: &usize| self.running[place].site == site;
        let mut by_end: Vec<usize> = (0..self.running.len()).filter(here).collect();
        by_end.sort_by_key(|&place| (self.rank(&[place]), place));
        by_end
    }

    fn near(&self, site: usize, jobs: &[usize], job: &Job) -> Option<NearestPlacement> {
        let proposal = self.without(site, jobs).propose(job, self.now)?;
        let until = jobs
            .iter()
            .map(|&job| self.running[job].until)
            .min_by_key(|end| std::cmp::Reverse(end.unwrap_or(Time::new(f64::MAX))));
        let (placement, jobs) = (proposal.placement, jobs.to_vec());
        Some(NearestPlacement { site, placement, jobs, until: until.flatten() })
    }

    fn nearest(&self, job: &Job, ways: &[Option<Vec<CandidateBlock>>]) -> Vec<NearestPlacement> {
        let mut all: Vec<NearestPlacement> = Vec::new();
        for site in 0..self.sites.len() {
            if self.empty[site].fork().propose(job, self.now).is_none() {
                continue;
            }
            all.extend(match &ways[site] {
                Some(ways) => {
                    let sets: BTreeSet<&Vec<usize>> = ways.iter().map(|way| &way.jobs).collect();
                    self.nearest_of(site, sets.into_iter().collect(), job)
                }
                None if self.sites[site].finds() == Finds::AnyNodes => self.by_count(site, job),
                None => self.by_sets(site, job),
            });
        }
        all.sort_by_key(|near| self.rank(&near.jobs));
        all.truncate(NEAREST);
        all
    }

    /// Possible placements of a job, by number of jobs that must end first, then by their last end.
    ///
    /// The jobs that must end are one of the `sets`, or more jobs if the allocator finds no
    /// placement after any set.
    fn nearest_of(
        &self,
        site: usize,
        mut sets: Vec<&Vec<usize>>,
        job: &Job,
    ) -> Vec<NearestPlacement> {
        sets.sort_by_cached_key(|jobs| self.rank(jobs));
        let mut found: Vec<NearestPlacement> = Vec::new();
        for jobs in sets {
            // A set that contains an earlier set is not a new place.
            if found.iter().any(|near| near.jobs.iter().all(|job| jobs.contains(job))) {
                continue;
            }
            found.extend(self.near(site, jobs, job));
            if found.len() == NEAREST {
                break;
            }
        }
        if found.is_empty() {
            // An allocator that misses some blocks may need the ends of more jobs.
            found.extend(self.soonest(site, job));
        }
        found
    }

    /// Possible placements of a job that can use any free nodes.
    ///
    /// One placement needs the fewest ends of jobs, the other is the earliest.
    fn by_count(&self, site: usize, job: &Job) -> Vec<NearestPlacement> {
        let by_end = self.by_end(site);
        let held = |place: usize| u64::from(self.running[place].placement.len());
        let free = u64::from(self.sites[site].site().free_nodes());
        let missing = self.sites[site].fewest(job).unwrap_or(u64::MAX).saturating_sub(free);
        // Smallest set among the first `ended` jobs to end that frees enough nodes.
        let fewest = |ended: usize| {
            let mut largest = by_end[..ended].to_vec();
            largest.sort_by_key(|&place| std::cmp::Reverse(held(place)));
            let mut sum = 0;
            let enough = largest.iter().position(|&place| {
                sum += held(place);
                sum >= missing
            });
            enough.map(|last| {
                largest.truncate(last + 1);
                largest.sort_unstable();
                largest
            })
        };
        let all = by_end.len();
        let Some(least) = fewest(all).map(|jobs| jobs.len()) else { return Vec::new() };
        let has = |most: usize| move |jobs: &Vec<usize>| jobs.len() <= most;
        let first = |most: usize| (1..=all).find_map(|ended| fewest(ended).filter(has(most)));
        let mut sets: Vec<Vec<usize>> = first(least).into_iter().chain(first(all)).collect();
        sets.dedup();
        sets.iter().filter_map(|jobs| self.near(site, jobs, job)).collect()
    }

    /// Possible placements of a job that cannot use just any free nodes.
    ///
    /// Placements for which the fewest jobs must end come first. The earliest placement comes last.
    fn by_sets(&self, site: usize, job: &Job) -> Vec<NearestPlacement> {
        let by_end = self.by_end(site);
        let free = u64::from(self.sites[site].site().free_nodes());
        let fewest = self.sites[site].fewest(job).unwrap_or(u64::MAX);
        let places = (0..by_end.len()).map(|place| (1, place)).collect();
        let mut found: Vec<NearestPlacement> = Vec::new();
        for (_, set) in CandidateSets::new(places).take(MOST_SETS) {
            if found.first().is_some_and(|near| near.jobs.len() < set.len()) {
                break;
            }
            let mut jobs: Vec<usize> = set.into_iter().map(|place| by_end[place]).collect();
            jobs.sort_unstable();
            let held = |&job: &usize| u64::from(self.running[job].placement.len());
            if free + jobs.iter().map(held).sum::<u64>() >= fewest {
                found.extend(self.near(site, &jobs, job));
            }
        }
        found.sort_by_key(|near| self.rank(&near.jobs));
        found.truncate(NEAREST - 1);
        if let Some(soonest) = self.soonest(site, job)
            && !found.contains(&soonest)
        {
            found.push(soonest);
        }
        found
    }

    /// Earliest placement that becomes possible as running jobs end, with the jobs that must end
    /// for it.
    fn soonest(&self, site: usize, job: &Job) -> Option<NearestPlacement> {
        let by_end = self.by_end(site);
        let mut ahead = self.sites[site].fork();
        let enough = by_end.iter().position(|&place| {
            ahead.release(&self.running[place].placement);
            ahead.propose(job, self.now).is_some()
        })?;
        let mut jobs = by_end[..=enough].to_vec();
        for place in by_end[..=enough].iter().rev() {
            let rest: Vec<usize> = jobs.iter().copied().filter(|job| job != place).collect();
            if self.without(site, &rest).propose(job, self.now).is_some() {
                jobs = rest;
            }
        }
        jobs.sort_unstable();
        self.near(site, &jobs, job)
    }

    /// Earliest start of a job if no other waiting job starts. Running jobs end at their estimated
    /// ends.
    fn starts_alone(&self, job: &Job) -> Option<PlannedStart> {
        let mut machine = SimulatedMachine::of(self);
        machine.start(job, self.now)
    }

    /// Earliest start of a job if all jobs ahead of it in the queue start first, in order.
    fn starts_in_order(&self, job: &Job, place: usize) -> Option<PlannedStart> {
        let mut machine = SimulatedMachine::of(self);
        let mut now = self.now;
        for before in &self.waiting[..place] {
            now = machine.start(&before.job, now)?.at;
        }
        machine.start(job, now)
    }

    fn overlooked(&self, job: &Job) -> Option<(usize, Placement)> {
        (0..self.sites.len()).find_map(|site| {
            let proposal = self.empty[site].fork().propose(job, self.now)?;
            let [block] = &proposal.placement.blocks[..] else { return None };
            if !self.empty[site].gives_blocks() {
                return None;
            }
            let grid = self.sites[site].site().grid();
            let free = self.sites[site].site().free();
            let mut orders = super::ways::orders(&block.sides);
            orders.sort_by_key(|sides| *sides != block.sides);
            orders.into_iter().find_map(|sides| {
                let mut bases = meshwork::geometry::FreeBases::new(grid);
                let base = bases.first(grid, free, &sides)?;
                Some((site, Placement::from(Block { base, sides })))
            })
        })
    }
}

fn start_on(sites: &mut [SiteAhead], job: &Job, now: Time) -> Option<(usize, Placement)> {
    let find =
        |(index, site): (usize, &mut SiteAhead)| Some((index, site.propose(job, now)?.placement));
    sites.iter_mut().enumerate().find_map(find)
}

/// Copy of the machine on which running jobs end at their estimated ends.
struct SimulatedMachine {
    sites: Vec<SiteAhead>,
    ends: Vec<(Time, usize, Placement)>,
}

impl SimulatedMachine {
    fn of(instant: &Instant) -> SimulatedMachine {
        let end = |holder: &super::PlacedJob| {
            Some((holder.until?, holder.site, holder.placement.clone()))
        };
        let ends = instant.running.iter().filter_map(end).collect();
        let mut machine = SimulatedMachine { sites: instant.copy(), ends };
        machine.sort();
        machine
    }

    fn sort(&mut self) {
        self.ends.sort_by_key(|(end, ..)| std::cmp::Reverse(*end));
    }

    fn start(&mut self, job: &Job, now: Time) -> Option<PlannedStart> {
        let mut at = now;
        loop {
            while let Some((_, site, placement)) = self.ends.pop_if(|(end, ..)| *end <= at) {
                self.sites[site].release(&placement);
            }
            let proposals = self.sites.iter_mut().map(|site| site.propose(job, at));
            if let Some((site, proposal)) =
                proposals.enumerate().find_map(|(site, proposal)| Some((site, proposal?)))
            {
                let placement = proposal.placement;
                self.sites[site].take_what_is_free_of(&placement, at).ok()?;
                self.ends.push((at + job.estimate * proposal.stretch, site, placement.clone()));
                self.sort();
                return Some(PlannedStart { at, site, placement });
            }
            at = self.ends.last()?.0;
        }
    }
}

impl InstantExplanation {
    pub fn json(&self, instant: &Instant) -> Json {
        let name = |place: &usize| instant.running[*place].name.clone();
        let place = |site: usize, placement: &Placement| json!({ "site": site + 1, "nodes": placement.len(), "place": instant.text(site, placement) });
        let nearest: Vec<Json> = self
            .nearest
            .iter()
            .map(|near| {
                let until = |job: &usize| instant.running[*job].until.map(Time::units);
                let jobs: Vec<Json> =
                    near.jobs.iter().map(|job| json!({ "job": name(job), "until": until(job) })).collect();
                json!({
                    "place": place(near.site, &near.placement), "jobs": jobs, "until": near.until.map(Time::units)
                })
            })
            .collect();
        let start = |start: &Option<PlannedStart>| {
            start.as_ref().map(|start| {
                json!({ "at": start.at.units(), "place": place(start.site, &start.placement) })
            })
        };
        let says = match &self.reason {
            InstantReason::Never(says) => says.clone(),
            _ => self.short.clone(),
        };
        let moves = self.moves.as_ref().map(|(site, moves)| {
            let step = |step: &InstantMove| {
                json!({ "job": name(&step.job), "from": place(*site, &step.from), "to": place(*site, &step.to) })
            };
            moves.steps.iter().map(step).collect::<Vec<Json>>()
        });
        let at =
            |own: &Option<(usize, Placement)>| own.as_ref().map(|(site, own)| place(*site, own));
        json!({
            "job": self.job.name, "now": instant.now.units(), "request": self.job.job.request.to_string(),
            "nodes": self.job.job.request.nodes(), "free": self.free, "reason": self.reason.word(), "says": says,
            "could_start_on": at(&self.now), "nearest": nearest, "starts_alone": start(&self.alone),
            "starts_in_order": start(&self.in_order), "promised": self.job.promised.map(Time::units),
            "ends_that_would_do": self.ends.iter().map(name).collect::<Vec<String>>(),
            "free_block_not_given": at(&self.overlooked), "moves_that_would_do": moves,
        })
    }
}
