//! Queue of the controller model at one instant: order, planned starts and wait reasons.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use meshwork::alloc::listed::{SlurmMessage, Wait};
use meshwork::geometry::NodeSet;

use super::plan::{Planned, blocks_around};
use super::request::ResolvedRequest;
use super::rules::SiteRules;
use super::{Controller, Pair, Queue, Test, limits};
use meshwork_lab::slurm::folder::SlurmMachine;
use meshwork_slurm::desk::SlurmAnswer;
use meshwork_slurm::history::{JobRecord, Second};

/// Slurm's wait reason if nodes that a job needs are down or kept for other jobs.
pub(crate) const RESERVED_NODES: &str =
    "Nodes required for job are DOWN, DRAINED or reserved for jobs in higher priority partitions";

/// Wait reasons that Slurm gives to jobs before they are eligible.
const BEGIN_TIME: &str = "BeginTime";
const DEPENDENCY: &str = "Dependency";

/// Age in seconds up to which the main scheduler may not yet have considered a job.
const NEW: Second = 1;

/// Free resources on the nodes a waiting job may use, and running jobs whose end would let it
/// start.
#[derive(Default)]
pub(crate) struct LackingParts {
    /// Whether the job could start now; `None` if it could not even start on the idle machine.
    pub(crate) fits: Option<bool>,
    /// Free CPUs, memory in MB and GPUs of each node that the job may use.
    pub(crate) free: Vec<[u64; 3]>,
    pub(crate) idle: u32,
    /// Running jobs: the end of any one of them would let the waiting job start.
    pub(crate) ends: Vec<usize>,
}

impl LackingParts {
    pub(crate) fn answer(&self) -> SlurmAnswer {
        match self.fits {
            Some(true) => SlurmAnswer::Nodes(NodeSet::empty(0)),
            Some(false) => SlurmAnswer::Wait(Wait::Nodes, SlurmMessage::Busy),
            None => SlurmAnswer::Never(SlurmMessage::NodeConfiguration.to_string()),
        }
    }
}

impl<'a> Controller<'a> {
    /// Controller model with running jobs on their nodes, and with waiting jobs. A job's recorded
    /// priority counts as its priority at its recorded start. Without a start, it counts as the
    /// priority at the recorded end, or else at `now`.
    pub(crate) fn at(
        machine: &'a SlurmMachine,
        rules: &'a SiteRules,
        running: &[(JobRecord, NodeSet)],
        waiting: &[JobRecord],
        now: Second,
    ) -> Controller<'a> {
        let waits = |stay: &JobRecord| JobRecord {
            start: None,
            end: stay.start.or(stay.end).or(Some(now)),
            ..stay.clone()
        };
        let runs = running.iter().map(|own| own.0.clone());
        let stays: Vec<JobRecord> = runs.chain(waiting.iter().map(waits)).collect();
        let mut controller = Controller::new(machine, rules, stays);
        for (job, (stay, nodes)) in running.iter().enumerate() {
            let partition = controller.partition_of(job);
            controller.start(job, partition, nodes.clone(), stay.start.unwrap_or(now));
        }
        for job in running.len()..controller.stays.len() {
            controller.submit(job);
        }
        controller.ran(true);
        controller.tick(now);
        controller
    }

    pub(crate) fn order(&self) -> Vec<usize> {
        let mut order: Vec<usize> = Vec::new();
        for pair in &self.pairs {
            if !order.contains(&pair.job) {
                order.push(pair.job);
            }
        }
        order
    }

    /// Earliest start of a waiting job, with its nodes, if all jobs run for their time limits. If
    /// `is_first`, the job is planned before all others. Otherwise it is planned after all jobs
    /// ahead of it. The result is `None` if it does not start within backfill's window, or if
    /// limits hold it back.
    pub(crate) fn planned(
        &self,
        job: usize,
        is_first: bool,
        now: Second,
    ) -> Option<(Second, NodeSet)> {
        let (closed, near) = (self.closed(now), self.near());
        let mut plan = self.plan(now, &closed);
        let mut best: Option<(Second, NodeSet)> = None;
        let last = self.pairs.iter().rposition(|own| own.job == job)?;
        for pair in self.pairs[..=last].iter().filter(|own| own.job == job || !is_first) {
            let request = &self.jobs[pair.job].requests[pair.request];
            let is_allowed = |test| self.allows(pair.job, request.partition, test);
            if !self.is_admitted(pair) || !is_allowed(Test::Before) || !is_allowed(Test::After) {
                continue;
            }
            let site = self.desks[request.partition].site();
            let gone = self.preemptable((request.partition, self.jobs[pair.job].qos));
            let reserved =
                |from, kept: &mut NodeSet| self.keep(pair.job, now, (from, request.limit), kept);
            let found = plan.plan(site, request, (&gone, self.parts.as_ref()), &reserved, |kept| {
                let mut kept = kept.clone();
                kept.unite(&closed);
                self.begin(request, &kept)
            });
            let (start, nodes) = match found {
                Some(Planned::Now(nodes)) => (now, nodes),
                Some(Planned::Later(start, nodes)) => (start, nodes),
                Some(Planned::Never) | None => continue,
            };
            if pair.job != job {
                let around = blocks_around(site, &nodes, request.asked.whole_blocks);
                plan.reserve(start, request.limit, &around);
            } else if best.as_ref().is_none_or(|own| start < own.0) {
                best = Some((start, nodes));
            }
        }
        self.set_near(near);
        best
    }

    /// Nodes withheld from a job by outages, or by reservations that begin before its time limit
    /// ends.
    pub(crate) fn withheld(&self, job: usize, now: Second) -> NodeSet {
        let mut withheld = self.closed(now);
        self.keep(job, now, (now, self.jobs[job].requests[0].limit), &mut withheld);
        withheld
    }

    /// Free parts of nodes for a waiting job; `None` if jobs do not share nodes.
    ///
    /// On request, the result also has each running job whose end alone would let the waiting job
    /// start.
    pub(crate) fn lacks(&self, job: usize, now: Second, with_ends: bool) -> Option<LackingParts> {
        let (near, closed) = (self.near(), self.closed(now));
        let request = &self.jobs[job].requests[0];
        let mut desk = self.parts.clone()?;
        let (partition, hopeless) = (request.partition, request.is_hopeless());
        let Some(asked) = request.parts.as_ref().filter(|_| !hopeless) else {
            return Some(LackingParts::default());
        };
        let (free, idle) = desk.free(partition, asked, &closed);
        let fits = desk.find(partition, asked, &closed).is_some();
        let mut ends = Vec::new();
        for &holder in self.running.keys().filter(|_| with_ends && !fits) {
            let grants = desk.release(holder);
            if desk.find(partition, asked, &closed).is_some() {
                ends.push(holder);
            }
            desk.take(holder, grants);
        }
        self.set_near(near);
        Some(LackingParts { fits: Some(fits), free, idle, ends })
    }

    /// Slurm's wait reason for each waiting job after a first main pass, without earlier passes. A
    /// job that would start in this pass has the reason `Priority`.
    pub(crate) fn reasons(&self, now: Second) -> BTreeMap<usize, &'static str> {
        let mut reasons = WaitReasons::default();
        for pair in &self.pairs {
            reasons.note(self, pair.job, self.limit(pair, Test::Before));
            reasons.note(self, pair.job, self.limit(pair, Test::After));
        }
        let is_old = |pair: &&Pair| now - self.jobs[pair.job].eligible > NEW;
        let queue = Queue(self.pairs.iter().filter(is_old).copied().collect());
        self.note_main(&queue, now, (true, true), &mut reasons);
        self.pairs.iter().map(|own| (own.job, reasons.of(self, own.job))).collect()
    }

    fn limit(&self, pair: &Pair, test: Test) -> Option<&'static str> {
        let (job, rules) = (&self.jobs[pair.job], self.rules);
        let partition = &rules.partitions[job.requests[pair.request].partition];
        self.sums.exceeded(rules, job, partition.qos, test)
    }

    /// Notes the limit of a partition as a job's wait reason, unless another partition admits the
    /// job.
    fn note_barred(&self, queue: &[Pair], reasons: &mut WaitReasons) {
        for pair in queue {
            let is_named = reasons.of(self, pair.job).starts_with("Partition");
            let reason = self.barred(pair).or(is_named.then_some("None"));
            reasons.note(self, pair.job, reason);
        }
    }

    /// Records the wait reasons that queued jobs have after the starts of a main scheduling pass.
    ///
    /// If the model still finds nodes for a job, and `starts` is true, the job gets the reason
    /// `Priority`, and later jobs cannot use these nodes. Otherwise the job blocks its partition,
    /// like a job without nodes. For later jobs of a blocked partition, the reasons `None`,
    /// [`RESERVED_NODES`] and those from [`Self::lack_of`] become `Priority`. A job that the pass
    /// does not reach keeps its reason.
    pub(super) fn note_main(
        &self,
        queue: &Queue,
        now: Second,
        (is_full, starts): (bool, bool),
        reasons: &mut WaitReasons,
    ) {
        let near = self.near();
        let parameters = &self.rules.parameters;
        let depth = if is_full { usize::MAX } else { parameters.default_queue_depth };
        let (mut kept, mut taken) = (self.closed(now), self.completing.clone());
        let mut failed = vec![false; self.desks.len()];
        let (mut tested, mut considered) = (0_usize, vec![0_usize; self.desks.len()]);
        self.note_eligible(&queue.0, reasons);
        self.note_barred(&queue.0, reasons);
        for pair in &queue.0 {
            let request = &self.jobs[pair.job].requests[pair.request];
            let partition = request.partition;
            if self.barred(pair).is_some() {
                continue;
            }
            if self.is_throttled(pair.job) {
                reasons.note(self, pair.job, Some("JobArrayTaskLimit"));
                continue;
            }
            considered[partition] += 1;
            if considered[partition] > parameters.partition_job_depth {
                if reasons.of(self, pair.job) == "None" {
                    reasons.note(self, pair.job, Some("Priority"));
                }
                continue;
            }
            tested += 1;
            if tested > depth.saturating_add(1) {
                break;
            }
            if self.running.contains_key(&pair.job) {
                continue;
            }
            let is_reserved = !self.jobs[pair.job].reservation.is_empty();
            if failed[partition] && !is_reserved {
                let last = reasons.of(self, pair.job);
                if matches!(last, "None" | "Resources" | RESERVED_NODES) || is_of_shape(last) {
                    reasons.note(self, pair.job, Some("Priority"));
                }
                continue;
            }
            if let Some(limit) = self.limit(pair, Test::Before) {
                reasons.note(self, pair.job, Some(limit));
                continue;
            }
            let mut open = self.desks[partition].site().whole.clone();
            open.subtract(&kept);
            let are_enough = open.count() >= request.wanted().nodes;
            if let Some(limit) = self.limit(pair, Test::After).filter(|_| are_enough) {
                reasons.note(self, pair.job, Some(limit));
                continue;
            }
            let mut busy = kept.clone();
            busy.unite(&taken);
            self.keep(pair.job, now, (now, request.limit), &mut busy);
            let found = self.find(request, &busy).filter(|_| are_enough);
            match found {
                Some(nodes) if starts => {
                    taken.unite(&nodes);
                    reasons.note(self, pair.job, Some("Priority"));
                }
                _ => {
                    let reason = match are_enough {
                        true => self.lack_of(request, &busy),
                        false => RESERVED_NODES,
                    };
                    failed[partition] = true;
                    kept.unite(&self.desks[partition].site().whole);
                    reasons.note(self, pair.job, Some(reason));
                }
            }
        }
        self.set_near(near);
    }

    /// Slurm's wait reason for the first job in the queue that finds no nodes.
    fn lack_of(&self, request: &ResolvedRequest, busy: &NodeSet) -> &'static str {
        let ask = || self.desks[request.partition].ask_without(&request.asked, Some(busy));
        match self.parts.is_none().then(ask) {
            Some(SlurmAnswer::Wait(Wait::Shape, message)) => message.text(),
            _ => "Resources",
        }
    }

    /// Notes the wait reason of an arriving job. If the job becomes eligible only after its
    /// submission, its reason is `BeginTime` or `Dependency` until a pass reaches it. All tasks of
    /// an array share one reason. An arriving task changes this reason only if it is `None`.
    pub(super) fn note_arrival(&self, job: usize, now: Second, reasons: &mut WaitReasons) {
        let stay = &self.stays[job];
        let is_task = WaitReasons::array(self, job).is_some();
        if is_task || stay.submit >= stay.eligible {
            return self.note_submission(job, now, reasons);
        }
        let is_dependent = stay.reason.starts_with("Dependency");
        reasons.note(self, job, Some(if is_dependent { DEPENDENCY } else { BEGIN_TIME }));
    }

    /// Notes the wait reason of an arriving job that can never start.
    pub(super) fn note_refusal(&self, job: usize, reasons: &mut WaitReasons) {
        let own = &self.jobs[job];
        let size = |request: &ResolvedRequest| {
            u64::from(self.desks[request.partition].site().whole.count())
        };
        let is_too_large = own.requests.iter().all(|request| own.nodes > size(request));
        reasons.note(self, job, is_too_large.then_some("PartitionNodeLimit"));
    }

    /// Removes the reasons `BeginTime` and `Dependency` from queued jobs that have become eligible.
    fn note_eligible(&self, queue: &[Pair], reasons: &mut WaitReasons) {
        for pair in queue {
            let was_held = matches!(reasons.of(self, pair.job), BEGIN_TIME | DEPENDENCY);
            reasons.note(self, pair.job, was_held.then_some("None"));
        }
    }

    /// Notes the wait reason of a job at its submission. Slurm then tests at once whether the job
    /// finds nodes and comes first in the queue. The test is for the partition of the highest tier.
    /// If jobs share nodes, only nodes that jobs hold as a whole count as busy in this test.
    fn note_submission(&self, job: usize, now: Second, reasons: &mut WaitReasons) {
        let own = &self.jobs[job];
        let mut pairs = self.pairs.iter().filter(|pair| pair.job == job);
        let tier = |request: &ResolvedRequest| self.rules.partitions[request.partition].tier;
        let Some(request) = own.requests.iter().min_by_key(|own| Reverse(tier(own))) else {
            return;
        };
        let mut busy = self.closed(now);
        self.keep(job, now, (now, request.limit), &mut busy);
        let is_shared = request.parts.as_ref().is_some_and(|own| !own.lookup.takes_whole_nodes());
        let finds = if is_shared {
            for (&other, held) in &self.running {
                let parts = &self.request(other, held.partition).parts;
                if parts.as_ref().is_some_and(|own| own.lookup.takes_whole_nodes()) {
                    busy.unite(&held.nodes);
                }
            }
            let mut open = request.may().clone();
            open.subtract(&busy);
            !request.is_hopeless() && open.count() >= request.wanted().nodes
        } else {
            busy.unite(&self.completing);
            // A submission comes before an end in the same second.
            if let Some((_, nodes)) = reasons.freed.as_ref().filter(|own| own.0 == now) {
                busy.unite(nodes);
            }
            let near = self.near();
            let found = self.find(request, &busy);
            self.set_near(near);
            found.is_some()
        };
        let priority = pairs.next().map_or(f64::MAX, |pair| pair.priority);
        let is_higher = |pair: &Pair| match self.rules.weights.is_multifactor {
            true => pair.priority > priority,
            false => pair.rank < own.rank,
        };
        let is_first = !self.pairs.iter().any(|pair| {
            pair.job != job && is_higher(pair) && !limits::is_name(reasons.of(self, pair.job))
        });
        let reason = match (finds, is_first) {
            (false, _) => "Resources",
            (true, false) => "Priority",
            (true, true) => return,
        };
        if reasons.of(self, job) == "None" {
            reasons.note(self, job, Some(reason));
        }
    }

    pub(super) fn note_backfill(&self, reasons: &mut WaitReasons) {
        self.note_eligible(&self.pairs, reasons);
        self.note_barred(&self.pairs, reasons);
        let most = self.rules.parameters.bf_max_job_test;
        for pair in self.pairs.iter().filter(|own| self.barred(own).is_none()).take(most) {
            let last = reasons.of(self, pair.job);
            if self.is_throttled(pair.job) {
                reasons.note(self, pair.job, Some("JobArrayTaskLimit"));
            } else if let Some(limit) = self.limit(pair, Test::Before) {
                reasons.note(self, pair.job, Some(limit));
            } else {
                let cleared = limits::is_name(last).then_some("None");
                reasons.note(self, pair.job, self.limit(pair, Test::After).or(cleared));
            }
        }
    }
}

/// Whether a wait reason is that enough nodes are free, but in no allowed shape.
fn is_of_shape(reason: &str) -> bool {
    use SlurmMessage::{NoUnit, NoUnitForSegment, UnitTooFull, Weights};
    [NoUnit, NoUnitForSegment, UnitTooFull, Weights].iter().any(|own| own.text() == reason)
}

/// Current wait reason of each job. All tasks of an array share one reason.
#[derive(Clone, Debug, Default)]
pub(super) struct WaitReasons {
    jobs: BTreeMap<usize, &'static str>,
    arrays: BTreeMap<u64, &'static str>,
    freed: Option<(Second, NodeSet)>,
}

impl WaitReasons {
    fn array(controller: &Controller<'_>, job: usize) -> Option<u64> {
        let array = controller.jobs[job].array;
        array.filter(|_| controller.stays[job].attempt == 1).map(|own| own.0)
    }

    fn note(&mut self, controller: &Controller<'_>, job: usize, reason: Option<&'static str>) {
        let Some(reason) = reason else { return };
        match WaitReasons::array(controller, job) {
            Some(array) => self.arrays.insert(array, reason),
            None => self.jobs.insert(job, reason),
        };
    }

    pub(super) fn note_end(&mut self, nodes: NodeSet, now: Second) {
        match &mut self.freed {
            Some((at, freed)) if *at == now => freed.unite(&nodes),
            freed => *freed = Some((now, nodes)),
        }
    }

    /// Current wait reason of a job. If the job has had no reason so far, this is Slurm's word
    /// `None`.
    pub(super) fn of(&self, controller: &Controller<'_>, job: usize) -> &'static str {
        let own = match WaitReasons::array(controller, job) {
            Some(array) => self.arrays.get(&array),
            None => self.jobs.get(&job),
        };
        own.copied().unwrap_or("None")
    }
}
