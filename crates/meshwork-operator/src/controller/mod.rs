//! Model of Slurm's controller: its queue, its two schedulers and its limits.
//!
//! The model has no clock: the caller reports events, and decides when each scheduler runs.

pub(super) mod cycles;
pub(super) mod future;
mod limits;
pub(super) mod moment;
mod parts;
mod plan;
mod priority;
mod replay;
mod request;
mod reserved;
pub mod rules;
#[cfg(test)]
mod twins;

pub use replay::{ControllerReplay, GivenStarts, JobOutcome};

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use meshwork::alloc::listed::{SlurmMessage, Wait, find};
use meshwork::geometry::NodeSet;

use limits::{RunningSums, Test};
use meshwork::alloc::shared::{NearGpus, SharedGrant};
use meshwork_lab::slurm::folder::SlurmMachine;
use meshwork_slurm::desk::{SlurmAllocator, SlurmAnswer};
use meshwork_slurm::history::{JobRecord, Second};
use parts::{PartsDesk, PartsRequest};
use plan::{BackfillPlan, BusyNodes, Planned, Reach, blocks_around};
use priority::{FairTree, SeenBy};
use request::{ControlledJob, ResolvedRequest};
use reserved::Reserved;
use rules::SiteRules;

/// Entry of the queue: a waiting job in one of its partitions.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Pair {
    /// Sort keys that come before the priority: tier of the partition, and use of a reservation.
    standing: (u32, u32),
    priority: f64,
    rank: u64,
    job: usize,
    request: usize,
}

impl Pair {
    fn before(&self, other: &Pair) -> std::cmp::Ordering {
        let by_standing = other.standing.cmp(&self.standing);
        by_standing
            .then_with(|| other.priority.total_cmp(&self.priority))
            .then_with(|| self.rank.cmp(&other.rank))
    }
}

#[derive(Clone, Debug)]
pub(super) struct Held {
    pub(super) partition: usize,
    pub(super) nodes: NodeSet,
    pub(super) start: Second,
    /// Parts of nodes that an ended job held, so that its end can be undone; empty while it runs.
    parts: Vec<SharedGrant>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Start {
    pub(super) job: usize,
    pub(super) partition: usize,
    /// Nodes on which the job starts; `None` if the model would let the job wait.
    pub(super) nodes: Option<NodeSet>,
}

#[derive(Clone)]
pub(super) struct Queue(Vec<Pair>);

/// Numbers of jobs that a backfill pass has considered, of each user and in each partition.
#[derive(Clone, Default)]
struct BackfillCounts {
    of_user: BTreeMap<usize, usize>,
    of_partition: BTreeMap<usize, usize>,
}

/// Recorded starts in one pass: for each job, the index of its partition and its nodes. When a job
/// is decided, the recorded starts of all jobs ahead of it in the queue count as made.
pub(super) type Recorded = BTreeMap<usize, (usize, NodeSet)>;

fn starts_here(recorded: &Recorded, job: usize, partition: usize) -> bool {
    recorded.get(&job).is_some_and(|own| own.0 == partition)
}

fn starts_at_once(recorded: Option<&Recorded>, job: usize) -> bool {
    recorded.is_some_and(|own| own.contains_key(&job))
}

#[derive(Clone)]
pub(super) struct Controller<'a> {
    machine: &'a SlurmMachine,
    pub(super) rules: &'a SiteRules,
    stays: Cow<'a, [JobRecord]>,
    jobs: Vec<ControlledJob>,
    kinds: usize,
    desks: Vec<SlurmAllocator<usize>>,
    /// Parts of nodes that running jobs hold; `None` if jobs do not share nodes.
    parts: Option<PartsDesk>,
    pairs: Vec<Pair>,
    seen: Vec<SeenBy>,
    pub(super) running: BTreeMap<usize, Held>,
    /// Nodes of ended jobs that other jobs cannot get yet.
    pub(super) completing: NodeSet,
    /// Whether a scheduling pass with recorded starts gives nodes to no other jobs. If not, jobs
    /// that only the model starts get nodes too.
    pub(super) leaves_others: bool,
    sums: RunningSums,
    tasks: BTreeMap<u64, u32>,
    arrays: BTreeMap<u64, SeenBy>,
    reserved: Vec<Reserved>,
    fair: FairTree,
    last_tick: Option<Second>,
    size: (f64, f64),
}

impl<'a> Controller<'a> {
    pub(super) fn new(
        machine: &'a SlurmMachine,
        rules: &'a SiteRules,
        stays: impl Into<Cow<'a, [JobRecord]>>,
    ) -> Controller<'a> {
        let stays = stays.into();
        let parts = PartsDesk::of(machine, rules, &stays);
        let (jobs, kinds) = request::jobs(machine, rules, &stays, parts.as_ref());
        let site =
            |own: &rules::PartitionRules| SlurmAllocator::new(machine.site(&own.name).clone());
        let desks: Vec<SlurmAllocator<usize>> = rules.partitions.iter().map(site).collect();
        let mut all = NodeSet::empty(machine.reading.hosts.count());
        desks.iter().for_each(|desk| all.unite(&desk.site().whole));
        let processors = |node| f64::from(desks[0].site().nodes.processors(node));
        let size = (f64::from(all.count()), all.iter().map(processors).sum());
        let reserved = reserved::of(machine, rules, &stays);
        Controller {
            machine,
            rules,
            seen: vec![SeenBy::default(); stays.len()],
            stays,
            jobs,
            kinds,
            desks,
            parts,
            pairs: Vec::new(),
            running: BTreeMap::new(),
            completing: NodeSet::empty(machine.reading.hosts.count()),
            leaves_others: false,
            sums: RunningSums::default(),
            tasks: BTreeMap::new(),
            arrays: BTreeMap::new(),
            reserved,
            fair: FairTree::new(rules),
            last_tick: None,
            size,
        }
    }

    pub(super) fn waiting(&self) -> usize {
        self.pairs.len()
    }

    pub(super) fn shares_nodes(&self) -> bool {
        self.parts.is_some()
    }

    /// Waiting jobs in queue order, each with the kind of its request in its first partition.
    ///
    /// Requests of one kind differ at most in their time limits.
    pub(super) fn waiting_kinds(&self) -> impl Iterator<Item = (usize, usize)> {
        let first = self.pairs.iter().filter(|pair| pair.request == 0);
        first.map(|pair| (pair.job, self.jobs[pair.job].requests[0].kind))
    }

    /// Allocator's answer to a job's request in the first of the job's partitions.
    pub(super) fn ask(&self, job: usize) -> SlurmAnswer {
        let request = &self.jobs[job].requests[0];
        if self.parts.is_some() {
            let found = self.place(job, request.partition, Second::MIN);
            let busy = SlurmAnswer::Wait(Wait::Nodes, SlurmMessage::Busy);
            return found.map_or(busy, SlurmAnswer::Nodes);
        }
        self.desks[request.partition].ask(&request.asked)
    }

    /// Position of a job in the queue, and whether it is queued. If it is not, the position is the
    /// one that it would get.
    pub(super) fn place_in_queue(&self, job: usize) -> (usize, bool) {
        match self.pairs.iter().position(|own| own.job == job) {
            Some(place) => (place, true),
            None => {
                let pair = self.pair(job, 0, None);
                (self.pairs.partition_point(|own| own.before(&pair).is_lt()), false)
            }
        }
    }

    /// Whether a job could run in none of its partitions, even on an otherwise empty machine.
    pub(super) fn is_hopeless(&self, job: usize) -> bool {
        self.jobs[job].requests.iter().all(ResolvedRequest::is_hopeless)
    }

    pub(super) fn submit(&mut self, job: usize) {
        // A further task of a waiting array is no new job.
        let array = self.jobs[job].array.filter(|_| self.stays[job].attempt == 1);
        let before = array.and_then(|(array, _)| self.arrays.get(&array).copied());
        self.seen[job] = before.unwrap_or(self.seen[job]);
        let tick = self.last_tick.filter(|_| before.is_some());
        for request in 0..self.jobs[job].requests.len() {
            let own = &self.jobs[job].requests[request];
            if let (Some(desk), Some(parts)) = (&mut self.parts, &own.parts) {
                desk.submit(own.partition, parts);
            }
            let pair = self.pair(job, request, tick);
            let place = self.pairs.partition_point(|own| own.before(&pair).is_lt());
            self.pairs.insert(place, pair);
        }
    }

    fn pair(&self, job: usize, request: usize, tick: Option<Second>) -> Pair {
        let own = &self.jobs[job];
        let partition = own.requests[request].partition;
        let (rules, seen) = (self.rules, self.seen[job]);
        let priority = priority::priority(rules, &self.fair, own, partition, tick, seen, self.size);
        let tier = self.rules.partitions[partition].tier;
        let is_reserved = u32::from(!own.reservation.is_empty());
        // A job that may preempt others comes before jobs that may not.
        let standing = match rules.preemption {
            Some(rules::Preemption::Partitions) => (tier, is_reserved),
            _ => (is_reserved, tier),
        };
        Pair { standing, priority, rank: own.rank, job, request }
    }

    pub(super) fn withdraw(&mut self, job: usize) {
        self.pairs.retain(|own| own.job != job);
    }

    pub(super) fn start(&mut self, job: usize, partition: usize, nodes: NodeSet, now: Second) {
        self.withdraw(job);
        self.hold(job, partition, nodes, now);
    }

    fn hold(&mut self, job: usize, partition: usize, nodes: NodeSet, now: Second) {
        let request = self.request(job, partition);
        let (partition_asked, parts) = (request.partition, request.parts.clone());
        if let (Some(desk), Some(parts)) = (&mut self.parts, parts) {
            desk.hold(job, partition_asked, &parts, &nodes);
        }
        self.count(job, partition, nodes, now);
    }

    /// Registers a running job with its nodes, limits and job array, but not with parts of nodes.
    fn count(&mut self, job: usize, partition: usize, nodes: NodeSet, now: Second) {
        let asked = &*self.request(job, partition).asked.clone();
        self.desks.iter_mut().for_each(|desk| desk.hold(&job, asked, nodes.clone()));
        self.sums.count(&self.jobs[job], self.rules.partitions[partition].qos, true);
        if let Some((array, _)) = self.jobs[job].array {
            *self.tasks.entry(array).or_default() += 1;
        }
        self.running.insert(job, Held { partition, nodes, start: now, parts: Vec::new() });
    }

    fn request(&self, job: usize, partition: usize) -> &ResolvedRequest {
        let requests = &self.jobs[job].requests;
        requests.iter().find(|own| own.partition == partition).unwrap_or(&requests[0])
    }

    pub(super) fn retract(&mut self, jobs: &[usize], queue: Queue) {
        for &job in jobs {
            self.release(job);
        }
        self.pairs = queue.0;
    }

    /// Present node weights ([`NearGpus`]). Every search for parts of nodes changes them.
    pub(super) fn near(&self) -> Option<NearGpus> {
        self.parts.as_ref().map(PartsDesk::near)
    }

    /// Changes the node weights as if a job were submitted again.
    ///
    /// The job is the last submitted one with GPUs or, if `with_gpus` is false, the last one
    /// without GPUs.
    pub(super) fn submit_again(&mut self, with_gpus: bool) {
        self.parts.iter_mut().for_each(|desk| desk.submit_again(with_gpus));
    }

    pub(super) fn set_near(&self, near: Option<NearGpus>) {
        if let Some((desk, near)) = self.parts.as_ref().zip(near) {
            desk.set_near(near);
        }
    }

    pub(super) fn queue(&self) -> Queue {
        Queue(self.pairs.clone())
    }

    fn release(&mut self, job: usize) -> Option<Held> {
        let mut held = self.running.remove(&job)?;
        held.parts = self.parts.as_mut().map(|desk| desk.release(job)).unwrap_or_default();
        self.desks.iter_mut().for_each(|desk| {
            desk.release(&job);
        });
        self.sums.count(&self.jobs[job], self.rules.partitions[held.partition].qos, false);
        if let Some((array, _)) = self.jobs[job].array {
            self.tasks.entry(array).and_modify(|count| *count = count.saturating_sub(1));
        }
        Some(held)
    }

    pub(super) fn end(&mut self, job: usize, now: Second) -> Option<Held> {
        let held = self.release(job)?;
        self.charge(job, held.start, now, 1.0);
        Some(held)
    }

    pub(super) fn unend(&mut self, job: usize, held: Held, now: Second) {
        self.uncharge(job, &held, now);
        if let Some(desk) = &mut self.parts {
            desk.take(job, held.parts);
        }
        self.count(job, held.partition, held.nodes, held.start);
    }

    pub(super) fn uncharge(&mut self, job: usize, held: &Held, now: Second) {
        self.charge(job, held.start, now, -1.0);
    }

    fn charge(&mut self, job: usize, start: Second, now: Second, sign: f64) {
        if self.rules.enforces_limits {
            let since = self.last_tick.map_or(start, |tick| tick.max(start));
            self.fair.end(&self.jobs[job], (now - since) as f64, sign);
        }
    }

    pub(super) fn partition_of(&self, job: usize) -> usize {
        let name = &self.stays[job].partition;
        let own = self.rules.partitions.iter().position(|own| own.name == *name);
        own.unwrap_or_else(|| self.jobs[job].requests[0].partition)
    }

    pub(super) fn ran(&mut self, is_backfill: bool) {
        for pair in &self.pairs {
            let seen = &mut self.seen[pair.job];
            *seen = SeenBy { any: true, backfill: seen.backfill || is_backfill };
            let array = self.jobs[pair.job].array.filter(|_| self.stays[pair.job].attempt == 1);
            array.into_iter().for_each(|own| _ = self.arrays.insert(own.0, *seen));
        }
    }

    pub(super) fn tick(&mut self, now: Second) -> bool {
        if !self.rules.weights.is_multifactor {
            return false;
        }
        let weights = &self.rules.weights;
        let period = self.last_tick.map_or(weights.period, |last| now - last) as f64;
        let since = |held: &Held| self.last_tick.map_or(held.start, |last| last.max(held.start));
        if weights.fair_share > 0.0 {
            let running = self
                .running
                .iter()
                .map(|(job, held)| (&self.jobs[*job], (now - since(held)) as f64));
            self.fair.tick(&self.rules.associations, period, running);
        }
        self.last_tick = Some(now);
        let pairs = std::mem::take(&mut self.pairs);
        let mut moved: Vec<Pair> =
            pairs.iter().map(|own| self.pair(own.job, own.request, Some(now))).collect();
        let is_sorted = moved.is_sorted_by(|a, b| a.before(b).is_le());
        if !is_sorted {
            moved.sort_by(Pair::before);
        }
        self.pairs = moved;
        !is_sorted
    }

    pub(super) fn no_nodes(&self) -> NodeSet {
        NodeSet::empty(self.machine.reading.hosts.count())
    }

    pub(super) fn shares(&self) -> (FairTree, Option<Second>) {
        (self.fair.clone(), self.last_tick)
    }

    /// Restores the fair shares and the time of their computation, but not the queue.
    pub(super) fn restore(&mut self, shares: (FairTree, Option<Second>)) {
        (self.fair, self.last_tick) = shares;
    }

    fn closed(&self, now: Second) -> NodeSet {
        let mut closed = self.no_nodes();
        self.rules.closed(now).for_each(|nodes| closed.unite(nodes));
        closed
    }

    /// Finds nodes for a job as backfill does. Nodes in `kept` are excluded.
    fn begin(&self, request: &ResolvedRequest, kept: &NodeSet) -> Option<NodeSet> {
        match (&self.parts, &request.parts) {
            (Some(desk), Some(parts)) => desk.begin(request.partition, parts, kept),
            _ => self.find(request, kept),
        }
    }

    /// Whether a job fits on nodes outside of the set `kept`. Node weights are left unchanged.
    fn fits(&self, request: &ResolvedRequest, kept: &NodeSet) -> bool {
        let near = self.near();
        let fits = self.find(request, kept).is_some();
        self.set_near(near);
        fits
    }

    /// Finds nodes for a job as the main scheduler does. Nodes in `kept` are excluded.
    fn select(&self, request: &ResolvedRequest, kept: &NodeSet) -> Option<NodeSet> {
        match (&self.parts, &request.parts) {
            (Some(desk), Some(parts)) => desk.select(request.partition, parts, kept),
            _ => self.find(request, kept),
        }
    }

    fn find(&self, request: &ResolvedRequest, kept: &NodeSet) -> Option<NodeSet> {
        if let Some(desk) = &self.parts {
            return desk.find(request.partition, request.parts.as_ref()?, kept);
        }
        self.desks[request.partition].find_without(&request.asked, kept)
    }

    /// Adds to the set `kept` the nodes that reservations withhold from a job. The job runs for
    /// `limit` seconds from the time `from`. Returns the earliest end of these reservations.
    fn keep(
        &self,
        job: usize,
        now: Second,
        (from, limit): (Second, Second),
        kept: &mut NodeSet,
    ) -> Option<Second> {
        if self.reserved.is_empty() {
            return None;
        }
        let span = (from, from.saturating_add(limit));
        reserved::kept(&self.reserved, now, &self.jobs[job].reservation, span, kept)
    }

    fn is_throttled(&self, job: usize) -> bool {
        let array = self.jobs[job].array;
        array.is_some_and(|(own, most)| self.tasks.get(&own).is_some_and(|runs| *runs >= most))
    }

    /// Nodes that a job would get in a partition if it were the first of the queue.
    pub(super) fn place(&self, job: usize, partition: usize, now: Second) -> Option<NodeSet> {
        let mut kept = self.closed(now);
        kept.unite(&self.completing);
        let request = self.request(job, partition);
        self.keep(job, now, (now, request.limit), &mut kept);
        let near = self.near();
        let found = self.select(request, &kept);
        self.set_near(near);
        found
    }

    fn is_admitted(&self, pair: &Pair) -> bool {
        self.barred(pair).is_none() && !self.is_throttled(pair.job)
    }

    /// Slurm's wait reason if a partition's state or limit bars a job from main scheduler and
    /// backfill.
    fn barred(&self, pair: &Pair) -> Option<&'static str> {
        let job = &self.jobs[pair.job];
        let request = &job.requests[pair.request];
        let rules = &self.rules.partitions[request.partition];
        let is_outside = |own: u64| own < u64::from(rules.least) || own > u64::from(rules.most);
        if !rules.is_up {
            Some("PartitionDown")
        } else if rules.max_time.is_some_and(|most| request.limit > most) {
            Some("PartitionTimeLimit")
        } else if is_outside(job.nodes) {
            Some("PartitionNodeLimit")
        } else {
            None
        }
    }

    fn allows(&self, job: usize, partition: usize, test: Test) -> bool {
        let qos = self.rules.partitions[partition].qos;
        self.sums.allow(self.rules, &self.jobs[job], qos, test)
    }

    /// Runs the main scheduler, and returns the starts that it makes. If `recorded` is given, the
    /// recorded starts are made instead. Started jobs hold their nodes immediately.
    pub(super) fn main(
        &mut self,
        now: Second,
        is_full: bool,
        recorded: Option<&Recorded>,
    ) -> Vec<Start> {
        let parameters = &self.rules.parameters;
        let depth = if is_full { usize::MAX } else { parameters.default_queue_depth };
        let part_depth = parameters.partition_job_depth;
        // Completing nodes count as open, but no job starts on them.
        let (mut kept, completing) = (self.closed(now), self.completing.clone());
        let mut failed = vec![false; self.desks.len()];
        let mut considered = vec![0_usize; self.desks.len()];
        let mut open = self.open_partitions();
        let (mut tested, mut decided, mut done) = (0_usize, Vec::new(), BTreeSet::new());
        // Unrecorded starts, which are undone after the pass.
        let mut tried = Vec::new();
        let pairs = std::mem::take(&mut self.pairs);
        for pair in &pairs {
            if done.contains(&pair.job) {
                continue;
            }
            if open == 0 && recorded.is_none() {
                break;
            }
            let request = self.jobs[pair.job].requests[pair.request].clone();
            let partition = request.partition;
            let fail = |failed: &mut [bool], kept: &mut NodeSet| {
                kept.unite(&self.desks[partition].site().whole);
                usize::from(!std::mem::replace(&mut failed[partition], true))
            };
            if self.jobs[pair.job].group.is_some() && !starts_at_once(recorded, pair.job) {
                open -= fail(&mut failed, &mut kept);
                continue;
            }
            considered[partition] += 1;
            if considered[partition] > part_depth {
                continue;
            }
            tested += 1;
            if tested > depth.saturating_add(1) {
                break;
            }
            let is_reserved = !self.jobs[pair.job].reservation.is_empty();
            if failed[partition] && !is_reserved || !self.is_admitted(pair) {
                continue;
            }
            if !self.allows(pair.job, partition, Test::Before) {
                continue;
            }
            let mut open_nodes = self.desks[partition].site().whole.clone();
            open_nodes.subtract(&kept);
            let are_enough = open_nodes.count() >= request.wanted().nodes;
            let mut busy = kept.clone();
            busy.unite(&completing);
            self.keep(pair.job, now, (now, request.limit), &mut busy);
            let found = if are_enough { self.select(&request, &busy) } else { None };
            // A job beyond its limits does not block its partition if enough nodes are free.
            let is_allowed = self.allows(pair.job, partition, Test::After);
            let found_or_over = found.is_some() || (are_enough && !is_allowed);
            let nodes = found.filter(|_| is_allowed);
            match (recorded, nodes) {
                (None, Some(nodes)) => {
                    self.hold(pair.job, partition, nodes.clone(), now);
                    done.insert(pair.job);
                    decided.push(Start { job: pair.job, partition, nodes: Some(nodes) });
                }
                (Some(recorded), nodes)
                    if nodes.is_some() || starts_here(recorded, pair.job, partition) =>
                {
                    match recorded.get(&pair.job) {
                        Some((own, held)) if *own == partition => {
                            self.hold(pair.job, partition, held.clone(), now);
                            done.insert(pair.job);
                        }
                        Some(_) => {}
                        None => {
                            let held = nodes.clone().filter(|_| !self.leaves_others);
                            if let Some(nodes) = held {
                                self.hold(pair.job, partition, nodes, now);
                                tried.push(pair.job);
                            }
                            done.insert(pair.job);
                        }
                    }
                    decided.push(Start { job: pair.job, partition, nodes });
                }
                _ if found_or_over || (are_enough && request.is_hopeless()) => {}
                _ => match &request.wanted().listed {
                    Some(named) if are_enough && named.count() >= request.wanted().nodes => {
                        kept.unite(named);
                    }
                    _ if are_enough && self.reserves_not(pair, now) => {}
                    _ if are_enough && is_reserved => {}
                    _ => open -= fail(&mut failed, &mut kept),
                },
            }
        }
        self.end_pass(pairs, tried, &decided);
        decided
    }

    /// Undoes the starts in `tried`, and removes the started jobs from the queue.
    fn end_pass(&mut self, pairs: Vec<Pair>, tried: Vec<usize>, decided: &[Start]) {
        tried.into_iter().for_each(|job| drop(self.release(job)));
        self.pairs = pairs;
        if !decided.is_empty() {
            self.pairs.retain(|own| !self.running.contains_key(&own.job));
        }
    }

    /// Whether a job is too young, or its priority too low, for it to reserve nodes.
    fn reserves_not(&self, pair: &Pair, now: Second) -> bool {
        let parameters = &self.rules.parameters;
        let waited = now - self.jobs[pair.job].eligible;
        waited < parameters.bf_min_age_reserve || pair.priority < parameters.bf_min_prio_reserve
    }

    fn open_partitions(&self) -> usize {
        let mut waits = BTreeSet::new();
        for pair in &self.pairs {
            if waits.len() == self.desks.len() {
                break;
            }
            waits.insert(self.jobs[pair.job].requests[pair.request].partition);
        }
        waits.len()
    }

    /// Runs the backfill scheduler, and returns its starts. If `recorded` is given, the recorded
    /// starts are made instead, as in [`main`](Controller::main).
    pub(super) fn backfill(&mut self, now: Second, recorded: Option<&Recorded>) -> Vec<Start> {
        let closed = self.closed(now);
        let mut fits: Vec<Option<bool>> = vec![None; self.kinds];
        // Limits as in [`Self::leaves_nodes`].
        let mut blocked = vec![Second::MAX; self.kinds];
        let mut plan = self.plan(now, &closed);
        let mut preemptable: BTreeMap<(usize, Option<usize>), NodeSet> = BTreeMap::new();
        let mut together: BTreeMap<u64, Vec<(usize, usize, NodeSet)>> = BTreeMap::new();
        let (mut decided, mut done) = (Vec::new(), BTreeSet::new());
        // Unrecorded starts, which are undone after the pass.
        let mut tried = Vec::new();
        let mut last_start: Option<(NodeSet, Second)> = None;
        let pairs = std::mem::take(&mut self.pairs);
        let mut counts = BackfillCounts::default();
        let busy = self.bounds_reach(&plan, recorded).then(|| plan.busy());
        let mut reach = self.reach(&pairs, &done, &counts, &[], busy.as_ref());
        // Jobs from this position on cannot start. `last_start` belongs to the job before it.
        let mut last = reach.end();
        for (place, pair) in pairs.iter().enumerate() {
            if last > reach.end() {
                (last, last_start) = (reach.end(), None);
            }
            // Reservations last for one pass: none is needed if no later job can start.
            while last_start.is_none() && last > place {
                let pair = &pairs[last - 1];
                let request = &self.jobs[pair.job].requests[pair.request];
                last_start = if starts_at_once(recorded, pair.job) {
                    Some((self.no_nodes(), now))
                } else if *fits[request.kind].get_or_insert_with(|| self.fits(request, &closed)) {
                    self.leaves_nodes(&plan, pair, now, &mut blocked)
                } else {
                    None
                };
                last -= usize::from(last_start.is_none());
            }
            if last <= place {
                break;
            }
            if done.contains(&pair.job) {
                continue;
            }
            let request = self.jobs[pair.job].requests[pair.request].clone();
            let partition = request.partition;
            if !self.takes_part(pair, &mut counts) {
                continue;
            }
            let is_allowed = self.allows(pair.job, partition, Test::After);
            let fits = *fits[request.kind].get_or_insert_with(|| self.fits(&request, &closed));
            let site = self.machine.site(&self.rules.partitions[partition].name);
            let reserved =
                |from, kept: &mut NodeSet| self.keep(pair.job, now, (from, request.limit), kept);
            let its = (partition, self.jobs[pair.job].qos);
            let gone = preemptable.entry(its).or_insert_with(|| self.preemptable(its));
            let gone = (&*gone, self.parts.as_ref());
            let planned = plan.plan(site, &request, gone, &reserved, |kept| {
                let mut kept = kept.clone();
                kept.unite(&closed);
                if fits { self.begin(&request, &kept) } else { None }
            });
            if planned.is_some() {
                reach.note(place);
            }
            let Some(planned) = planned.filter(|_| is_allowed) else { continue };
            // A job waits for completing nodes.
            let planned = match planned {
                Planned::Now(nodes) if nodes.meets(&self.completing) => {
                    Planned::Later(now + 1, nodes)
                }
                planned => planned,
            };
            let around = |nodes: &NodeSet| blocks_around(site, nodes, request.asked.whole_blocks);
            let mine = recorded.and_then(|own| own.get(&pair.job));
            // Components of a heterogeneous job start together after the pass.
            let planned = match (planned, self.jobs[pair.job].group) {
                (Planned::Now(nodes), Some(group)) if mine.is_none() => {
                    together.entry(group).or_default().push((pair.job, partition, nodes.clone()));
                    Planned::Later(now, nodes)
                }
                (planned, _) => planned,
            };
            let here = mine.filter(|own| own.0 == partition).map(|own| &own.1);
            let nodes = if let Planned::Now(nodes) = &planned { Some(nodes.clone()) } else { None };
            if nodes.is_some() || here.is_some() {
                if mine.is_none() || here.is_some() {
                    done.insert(pair.job);
                }
                let own = || nodes.clone().filter(|_| !self.leaves_others);
                if let Some(start) = if mine.is_none() { own() } else { here.cloned() } {
                    let around = around(&start);
                    // Jobs that may be preempted or that share nodes reserve nothing.
                    let is_whole = |own: &Arc<PartsRequest>| own.lookup.takes_whole_nodes();
                    if !self.is_preemptable(partition)
                        && request.parts.as_ref().is_none_or(is_whole)
                    {
                        plan.reserve(now, request.limit, &around);
                    }
                    plan.run(request.limit, pair.job, around);
                    self.hold(pair.job, partition, start, now);
                    tried.extend((recorded.is_some() && mine.is_none()).then_some(pair.job));
                }
                decided.push(Start { job: pair.job, partition, nodes });
                // The start may have changed which later jobs are tested.
                let known = &reach.tests()[..=place];
                reach = self.reach(&pairs, &done, &counts, known, busy.as_ref());
                (last, last_start) = (reach.end(), None);
                continue;
            }
            if self.reserves_not(pair, now) {
                continue;
            }
            if let Planned::Later(start, nodes) = planned {
                let nodes = around(&nodes);
                plan.reserve(start, request.limit, &nodes);
                let are_left =
                    |own: &(NodeSet, Second)| plan.floor(start) > own.1 || !own.0.meets(&nodes);
                last_start = last_start.filter(are_left);
            }
        }
        for (group, parts) in together {
            let waits = |pair: &&Pair| self.jobs[pair.job].group == Some(group);
            let waiting: BTreeSet<usize> = pairs.iter().filter(waits).map(|own| own.job).collect();
            let found: BTreeSet<usize> = parts.iter().map(|own| own.0).collect();
            if found != waiting {
                continue;
            }
            for (job, partition, nodes) in parts {
                if !self.running.contains_key(&job) {
                    self.hold(job, partition, nodes.clone(), now);
                    tried.extend(recorded.is_some().then_some(job));
                    decided.push(Start { job, partition, nodes: Some(nodes) });
                }
            }
        }
        self.end_pass(pairs, tried, &decided);
        decided
    }

    /// Whether a backfill pass considers a job after those in `counts`. If so, it is counted too.
    fn takes_part(&self, pair: &Pair, counts: &mut BackfillCounts) -> bool {
        let parameters = &self.rules.parameters;
        let job = &self.jobs[pair.job];
        let partition = job.requests[pair.request].partition;
        if !self.is_admitted(pair) || !self.allows(pair.job, partition, Test::Before) {
            return false;
        }
        let of_user = counts.of_user.entry(job.user).or_default();
        let of_partition = counts.of_partition.entry(partition).or_default();
        let is_considered =
            *of_user < parameters.bf_max_job_user && *of_partition < parameters.bf_max_job_part;
        *of_user += usize::from(is_considered);
        *of_partition += usize::from(is_considered);
        is_considered
    }

    /// Whether nodes of running jobs stay unreserved in a plan until these jobs end.
    fn bounds_reach(&self, plan: &BackfillPlan, recorded: Option<&Recorded>) -> bool {
        self.parts.is_none()
            && self.reserved.is_empty()
            && self.rules.preemption.is_none()
            && !self.running.keys().any(|job| self.stays[*job].whole_blocks)
            && recorded.is_none_or(|own| own.values().all(|own| plan.is_idle(&own.1)))
    }

    /// Bound on how far a backfill pass gets in the queue, if no further job starts.
    ///
    /// `known` tells for each job that the pass has reached whether it counts as tested. `counts`
    /// has the numbers of jobs considered so far. If `busy` is `None`, there is no bound.
    fn reach(
        &self,
        pairs: &[Pair],
        done: &BTreeSet<usize>,
        counts: &BackfillCounts,
        known: &[bool],
        busy: Option<&BusyNodes>,
    ) -> Reach {
        let most = self.rules.parameters.bf_max_job_test;
        let (mut tests, mut counts) = (known.to_vec(), counts.clone());
        let mut tested = tests.iter().filter(|own| **own).count();
        for pair in &pairs[known.len()..] {
            let Some(busy) = busy.filter(|_| tested < most) else { break };
            let is_tested = !done.contains(&pair.job)
                && self.takes_part(pair, &mut counts)
                && busy.are_enough(&self.jobs[pair.job].requests[pair.request]);
            tested += usize::from(is_tested);
            tests.push(is_tested);
        }
        tests.resize(pairs.len(), false);
        Reach::new(most, tests)
    }

    /// Nodes that a plan leaves to a job for its whole time limit, with the end of this limit.
    ///
    /// The result is `None` if the job cannot start. On shared nodes, the set is empty, because a
    /// job can also use nodes of running jobs. A kind of request for which no nodes were found is
    /// not tried again with an equal or longer limit, because the plan leaves ever fewer nodes.
    fn leaves_nodes(
        &self,
        plan: &BackfillPlan,
        pair: &Pair,
        now: Second,
        blocked: &mut [Second],
    ) -> Option<(NodeSet, Second)> {
        let request = &self.jobs[pair.job].requests[pair.request];
        let (until, wanted) = (now.saturating_add(request.limit), request.wanted());
        let is_allowed = |test| self.allows(pair.job, request.partition, test);
        if request.limit >= blocked[request.kind]
            || !self.is_admitted(pair)
            || !is_allowed(Test::Before)
            || !is_allowed(Test::After)
        {
            return None;
        }
        if self.parts.is_some() {
            return Some((self.no_nodes(), until));
        }
        let mut left = plan.left_until(until);
        left.intersect(request.may());
        let site = self.desks[request.partition].site();
        let are_enough = left.count() >= wanted.nodes;
        let found = if are_enough && !request.needs_only_count() {
            find(site.rule(), &site.nodes, wanted, &left)
        } else {
            are_enough.then_some(left)
        };
        if found.is_none() {
            blocked[request.kind] = request.limit;
        }
        Some((found?, until))
    }

    /// Nodes of the running jobs that a job may preempt, given the job's partition and QOS.
    fn preemptable(&self, job: (usize, Option<usize>)) -> NodeSet {
        let mut nodes = self.no_nodes();
        if self.rules.preemption.is_some() {
            let may = |own: &(&usize, &Held)| {
                self.rules.may_preempt(job, (own.1.partition, self.jobs[*own.0].qos))
            };
            self.running.iter().filter(may).for_each(|own| nodes.unite(&own.1.nodes));
        }
        nodes
    }

    fn is_preemptable(&self, partition: usize) -> bool {
        self.rules.preemption.is_some() && self.rules.partitions[partition].is_preemptable
    }

    fn plan(&self, now: Second, closed: &NodeSet) -> BackfillPlan {
        let mut up = NodeSet::full(self.machine.reading.hosts.count());
        up.subtract(closed);
        let running = self.running.iter().map(|(job, held)| {
            let site = self.desks[held.partition].site();
            let nodes = blocks_around(site, &held.nodes, self.stays[*job].whole_blocks);
            (held.start.saturating_add(self.jobs[*job].limit), *job, nodes)
        });
        let rules::SchedulerParameters { bf_window, bf_resolution, .. } = self.rules.parameters;
        BackfillPlan::new(now, bf_window, bf_resolution, up, running)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use meshwork_lab::slurm::folder::FLAT;

    /// Machine of 16 nodes, made from lines of a `slurm.conf` and tables of QOS and associations.
    fn machine(conf: &str, qos: &str, associations: &str) -> SlurmMachine {
        let conf = format!("NodeName=n[0-15] CPUs=1\n{conf}");
        let tables = [("qos.txt", qos.to_owned()), ("assoc.txt", associations.to_owned())];
        let machine = SlurmMachine::made([("topology.yaml", FLAT), ("slurm.conf", &conf)]);
        machine.unwrap().with_tables(tables)
    }

    fn job(id: &str, partition: &str, nodes: u32) -> JobRecord {
        JobRecord {
            id: id.to_owned(),
            partition: partition.split(',').next().unwrap_or_default().to_owned(),
            partitions: if partition.contains(',') { partition.to_owned() } else { String::new() },
            user: "u".to_owned(),
            account: "a".to_owned(),
            qos: "q".to_owned(),
            submit: Some(100),
            eligible: Some(100),
            limit: Some(60),
            nodes,
            exclusive: true,
            ..JobRecord::default()
        }
    }

    /// Starts of a main pass, and of a backfill pass after it, as indices of job and partition.
    fn passes(machine: &SlurmMachine, jobs: &[JobRecord]) -> [Vec<(usize, usize)>; 2] {
        let of = |starts: Vec<Start>| starts.iter().map(|own| (own.job, own.partition)).collect();
        both(machine, jobs).map(of)
    }

    fn both(machine: &SlurmMachine, jobs: &[JobRecord]) -> [Vec<Start>; 2] {
        let rules = SiteRules::of(machine);
        let mut controller = Controller::new(machine, &rules, jobs);
        (0..jobs.len()).for_each(|own| controller.submit(own));
        let main = controller.main(100, false, None);
        [main, controller.backfill(100, None)]
    }

    #[test]
    fn a_job_that_does_not_fit_takes_the_nodes_of_its_partition() {
        let conf = "PartitionName=low Nodes=n[0-15] Default=YES\n\
                    PartitionName=high Nodes=n[0-7] PriorityTier=5\n\
                    PartitionName=other Nodes=n[8-15]\n";
        let machine = machine(conf, "", "");
        // Job 3 of the higher tier finds no nodes, but leaves n[8-15] to other partitions.
        let jobs = [
            job("1", "low", 9),
            job("2", "high", 5),
            job("3", "high", 8),
            job("4", "low", 1),
            job("5", "other", 2),
        ];
        let [main, backfill] = passes(&machine, &jobs);
        assert_eq!(main, [(1, 1)]);
        assert_eq!(backfill, [(3, 0), (4, 2)]);
    }

    #[test]
    fn a_job_stands_in_the_queue_once_for_each_partition() {
        let conf = "PartitionName=low Nodes=n[0-15] Default=YES\n\
                    PartitionName=high Nodes=n[0-3] PriorityTier=5 MaxNodes=2\n";
        let machine = machine(conf, "", "");
        let jobs = [job("1", "low,high", 2), job("2", "low,high", 4)];
        assert_eq!(passes(&machine, &jobs)[0], [(0, 1), (1, 0)]);
    }

    #[test]
    fn a_job_over_its_limits_holds_up_nobody() {
        let conf = "AccountingStorageEnforce=limits\nPartitionName=p Nodes=n[0-15] Default=YES\n";
        let qos = "Name|Priority|GrpTRES|MaxJobsPU\nq|0|node=10|\nr|0||1\n";
        let associations = "Account|User|Share|GrpJobs|GrpTRES|MaxJobs\n\
                            root||1|||\na||1|||\na|u|1||node=4|\n";
        let machine = machine(conf, qos, associations);
        let own =
            |id: &str, nodes, qos: &str| JobRecord { qos: qos.to_owned(), ..job(id, "p", nodes) };
        // The QOS q replaces the limit of 4 nodes by 10. The QOS r allows one job.
        let jobs = [
            own("1", 8, "q"),
            own("2", 3, "q"),
            own("3", 2, "q"),
            own("4", 1, "r"),
            own("5", 1, "q"),
        ];
        assert_eq!(passes(&machine, &jobs)[0], [(0, 0), (2, 0)]);
    }

    #[test]
    fn limits_count_memory_and_gpus() {
        let conf = "AccountingStorageEnforce=limits\nPartitionName=p Nodes=n[0-15] Default=YES\n";
        let qos = "Name|Priority|GrpTRES|MaxTRESPU|MaxTRES\n\
                   q|0|gres/gpu=4|mem=10G|\nr|0||cpu=9|mem=3G,gres/gpu=1\n";
        let machine = machine(conf, qos, "");
        let own = |id: &str, qos: &str, options: &str| JobRecord {
            qos: qos.to_owned(),
            options: options.to_owned(),
            ..job(id, "p", 1)
        };
        let jobs = [
            own("1", "q", "-N1 --mem=6G --gres=gpu:2"),
            own("2", "q", "-N1 --mem=6G"),
            own("3", "q", "-N1 --mem=2G --gpus-per-node=3"),
            own("4", "q", "-N1 --gres=gpu:2"),
            own("5", "r", "-N1 --mem=4G"),
            own("6", "r", "-N1 --mem=3G --gpus=2"),
            own("7", "r", "-N1 --mem=3G --gpus=1"),
        ];
        assert_eq!(passes(&machine, &jobs)[0], [(0, 0), (3, 0), (6, 0)]);
        let rules = SiteRules::of(&machine);
        let mut controller = Controller::new(&machine, &rules, &jobs);
        (0..jobs.len()).for_each(|own| controller.submit(own));
        controller.main(100, false, None);
        let reason = |own: usize| {
            let job = &controller.jobs[own];
            controller.sums.exceeded(&rules, job, None, Test::After)
        };
        assert_eq!([1, 2].map(reason), [Some("QOSMaxMemoryPerUser"), Some("QOSGrpGRES")]);
        assert_eq!([4, 5].map(reason), [Some("QOSMaxMemoryPerJob"), Some("QOSMaxGRESPerJob")]);
    }

    #[test]
    fn components_of_a_heterogeneous_job_start_together_and_by_backfill() {
        let conf = "PartitionName=p Nodes=n[0-7] Default=YES\n\
                    PartitionName=other Nodes=n[8-15]\n";
        let machine = machine(conf, "", "");
        let pair = [job("1+0", "p", 3), job("1+1", "p", 4)];
        let jobs = [pair, [job("2", "p", 1), job("3", "other", 2)]].concat();
        let [main, backfill] = passes(&machine, &jobs);
        assert_eq!(main, [(3, 1)]);
        assert_eq!(backfill, [(2, 0), (0, 0), (1, 0)]);
        // If one component has to wait, the other does too, and both reserve their nodes.
        let jobs = [job("1+0", "p", 3), job("1+1", "p", 6), job("2", "p", 1), job("3", "p", 5)];
        let [main, backfill] = passes(&machine, &jobs);
        assert_eq!((main, backfill), (vec![], vec![(2, 0)]));
    }

    #[test]
    fn a_plan_counts_on_the_nodes_of_jobs_that_may_be_preempted() {
        let conf = "PreemptType=preempt/partition_prio\nPreemptMode=REQUEUE\n\
                    PartitionName=low Nodes=n[0-15] Default=YES PriorityTier=1\n\
                    PartitionName=high Nodes=n[0-15] PriorityTier=2 PreemptMode=OFF\n";
        let machine = machine(conf, "", "");
        let rules = SiteRules::of(&machine);
        assert!(rules.may_preempt((1, None), (0, None)));
        assert!(!rules.may_preempt((0, None), (1, None)));
        // The job that would preempt the first job withholds all nodes from the last job at once.
        let short = JobRecord { limit: Some(10), ..job("3", "low", 5) };
        let jobs = [job("1", "low", 10), job("2", "high", 12), short];
        let starts = |machine: &SlurmMachine| {
            let rules = SiteRules::of(machine);
            let mut controller = Controller::new(machine, &rules, &jobs);
            controller.submit(0);
            controller.start(0, 0, machine.nodes("n[0-9]").unwrap(), 100);
            (1..3).for_each(|own| controller.submit(own));
            controller.backfill(100, None).iter().map(|own| own.job).collect::<Vec<_>>()
        };
        assert!(starts(&machine).is_empty());
        let conf = conf.replace("PreemptType=preempt/partition_prio\n", "");
        assert_eq!(starts(&self::machine(&conf, "", "")), [2]);
    }

    #[test]
    fn the_limit_of_an_array_is_as_large_as_the_record_shows() {
        let machine = machine("PartitionName=p Nodes=n[0-15] Default=YES\n", "", "");
        let task = |id: &str, span: Option<(Second, Second)>| JobRecord {
            throttle: Some(1),
            start: span.map(|own| own.0),
            end: span.map(|own| own.1),
            ..job(id, "p", 1)
        };
        let both = [task("7_1", Some((100, 200))), task("7_2", Some((200, 300)))];
        assert_eq!(passes(&machine, &both)[0], [(0, 0)]);
        let both = [task("7_1", Some((100, 200))), task("7_2", Some((150, 300)))];
        assert_eq!(passes(&machine, &both)[0], [(0, 0), (1, 0)]);
    }

    #[test]
    fn a_job_with_a_reservation_comes_first() {
        let conf = "NodeName=unused CPUs=1\nPartitionName=p Nodes=n[0-15] Default=YES\n";
        let mut machine = machine(conf, "", "");
        let text = "ReservationName=r StartTime=0 EndTime=6000 Nodes=n[0-3]\n".to_owned();
        machine = machine.with_tables([("reservations.txt", text)]);
        // The first job closes the partition for all jobs except the reserved one.
        let reserved = JobRecord { reservation: "r".to_owned(), ..job("3", "p", 2) };
        let jobs = [job("1", "p", 13), job("2", "p", 1), reserved];
        assert_eq!(passes(&machine, &jobs)[0], [(2, 0)]);
    }

    /// Flat machine of four shared nodes, each with 2 x 4 cores. The last two nodes have GPUs.
    fn shared(partitions: &str) -> SlurmMachine {
        let node = "CPUs=8 SocketsPerBoard=2 CoresPerSocket=4 RealMemory=16000";
        let conf = format!(
            "SelectType=select/cons_tres\nSelectTypeParameters=CR_Core_Memory\nDefMemPerCPU=1000\n\
             NodeName=n[0-1] {node}\nNodeName=n[2-3] {node} Gres=gpu:2\n{partitions}"
        );
        let gres = "NodeName=n[2-3] Name=gpu File=/dev/g[0-1]\n";
        let texts = [("topology.yaml", FLAT), ("slurm.conf", &conf), ("gres.conf", gres)];
        let mut machine = SlurmMachine::made(texts).unwrap();
        machine.fit_single_nodes(true);
        machine
    }

    fn part(id: &str, partition: &str, processors: u32, options: &str) -> JobRecord {
        JobRecord {
            processors,
            options: options.to_owned(),
            exclusive: options.contains("--exclusive"),
            ..job(id, partition, 1)
        }
    }

    /// Starts that a main pass and a backfill pass of the scheduler make, as job and node list.
    fn places(machine: &SlurmMachine, jobs: &[JobRecord]) -> [Vec<(usize, String)>; 2] {
        let listed = |nodes: &NodeSet| machine.reading.hosts.listed(nodes);
        let of = |starts: Vec<Start>| {
            starts.iter().map(|own| (own.job, listed(own.nodes.as_ref().unwrap()))).collect()
        };
        both(machine, jobs).map(of)
    }

    #[test]
    fn jobs_take_cores_memory_and_gpus() {
        let machine = shared("PartitionName=p Nodes=n[0-3] Default=YES\n");
        // The second and third jobs lack memory and GPUs. The fourth takes the node that fits best.
        // The fifth takes the cores for which three nodes have memory.
        let jobs = [
            part("1", "p", 2, "-n2 --mem=12000"),
            part("2", "p", 2, "-n2 --mem=6000"),
            part("3", "p", 1, "-n1 --gres=gpu:2"),
            part("4", "p", 1, "-n1"),
            part("5", "p", 12, "-n12"),
        ];
        let [main, _] = places(&machine, &jobs);
        let nodes: Vec<&str> = main.iter().map(|own| own.1.as_str()).collect();
        assert_eq!(nodes, ["n0", "n1", "n2", "n0", "n[0-2]"]);
    }

    #[test]
    fn a_job_that_waits_for_gpus_keeps_its_partition_and_plans_whole_nodes() {
        let machine = shared(
            "SchedulerParameters=bf_resolution=10\n\
             PartitionName=p Nodes=n[0-3] Default=YES\nPartitionName=gpu Nodes=n[2-3]\n",
        );
        let long = |stay: JobRecord| JobRecord { limit: Some(600), ..stay };
        let jobs = [
            part("1", "gpu", 1, "-n1 --gres=gpu:2"),
            part("2", "gpu", 1, "-n1 --gres=gpu:1"),
            part("3", "gpu", 2, "-n1 -c2 --gres=gpu:2"),
            part("4", "p", 16, "-N2 --exclusive"),
            long(part("5", "p", 1, "-n1")),
            JobRecord { limit: Some(30), ..part("6", "p", 7, "-n1 -c7") },
        ];
        let [main, backfill] = places(&machine, &jobs);
        // The third job waits for the first, and withholds n[2-3] in the main pass.
        let of = |job: usize, nodes: &str| (job, nodes.to_owned());
        assert_eq!(main, [of(0, "n2"), of(1, "n3"), of(3, "n[0-1]")]);
        // The plan for the third job takes n2 from a minute on: only the short job may use it.
        assert_eq!(backfill, [of(4, "n3"), of(5, "n2")]);
    }

    #[test]
    fn weights_of_a_plan_outlast_it() {
        let machine =
            shared("PartitionName=p Nodes=n[0-3] Default=YES\nPartitionName=gpu Nodes=n[2-3]\n");
        let rules = SiteRules::of(&machine);
        let jobs = [part("1", "gpu", 1, "-n1 --gres=gpu:1"), part("2", "p", 1, "-n1")];
        let mut controller = Controller::new(&machine, &rules, &jobs);
        controller.submit(0);
        let none = controller.no_nodes();
        let request = controller.jobs[1].requests[0].clone();
        // Nodes with GPUs have a lower weight until a job without GPUs is submitted or started.
        let asked = |controller: &Controller<'_>| controller.find(&request, &none).unwrap().first();
        assert_eq!(asked(&controller), Some(2));
        controller.submit(1);
        assert_eq!(asked(&controller), Some(0));
    }
}
