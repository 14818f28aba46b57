//! Queue of the controller model at one instant: order, planned starts and wait reasons.

use std::collections::BTreeMap;

use meshwork::geometry::NodeSet;

use super::plan::{Planned, blocks_around};
use super::rules::SiteRules;
use super::{Controller, Test};
use crate::operator::folder::SlurmMachine;
use crate::operator::history::{JobRecord, Second};

/// Slurm's wait reason for a job whose partition has too few open nodes.
pub(in crate::operator) const RESERVED_NODES: &str =
    "Nodes required for job are DOWN, DRAINED or reserved for jobs in higher priority partitions";

/// Seconds after submission in which the main scheduler may not yet have considered a job.
const NEW: Second = 1;

impl<'a> Controller<'a> {
    /// Controller model with running jobs on their nodes, and with waiting jobs.
    ///
    /// The recorded priority of a waiting job is assumed to be the one at its recorded start or
    /// end.
    pub(in crate::operator) fn at(
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

    /// Indices of the waiting jobs in queue order. A job in several partitions occurs once, at its
    /// first place.
    pub(in crate::operator) fn order(&self) -> Vec<usize> {
        let mut order: Vec<usize> = Vec::new();
        for pair in &self.pairs {
            if !order.contains(&pair.job) {
                order.push(pair.job);
            }
        }
        order
    }

    /// Earliest start of a waiting job by time limits, with its nodes.
    ///
    /// If `is_first` is true, the job is planned as the first in the queue, otherwise behind all
    /// jobs before it. The result is `None` if the job does not start within the window of
    /// backfill, or if limits hold it back.
    ///
    /// # Complexity
    /// A plan for each job before it in the queue.
    pub(in crate::operator) fn planned(
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
            if !self.is_admitted(pair, request)
                || !is_allowed(Test::Before)
                || !is_allowed(Test::After)
            {
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

    /// Wait reason of each waiting job in Slurm's words.
    ///
    /// It is the reason that a pass of the main scheduler over the whole queue would give now.
    ///
    /// # Complexity
    /// That of a pass of the main scheduler.
    pub(in crate::operator) fn reasons(&self, now: Second) -> BTreeMap<usize, &'static str> {
        let near = self.near();
        let (mut kept, mut taken) = (self.closed(now), self.no_nodes());
        let mut failed = vec![false; self.desks.len()];
        let mut reasons = BTreeMap::new();
        for pair in &self.pairs {
            let job = &self.jobs[pair.job];
            let request = &job.requests[pair.request];
            let rules = &self.rules.partitions[request.partition];
            let limit = |test| self.sums.exceeded(self.rules, job, rules.qos, test);
            let is_outside = |own: u64| own < u64::from(rules.least) || own > u64::from(rules.most);
            let mut busy = kept.clone();
            busy.unite(&taken);
            self.keep(pair.job, now, (now, request.limit), &mut busy);
            let reason = if !rules.is_up {
                "PartitionDown"
            } else if rules.max_time.is_some_and(|most| request.limit > most) {
                "PartitionTimeLimit"
            } else if is_outside(job.nodes) {
                "PartitionNodeLimit"
            } else if self.is_throttled(pair.job) {
                "JobArrayTaskLimit"
            } else if let Some(limit) = limit(Test::Before).or_else(|| limit(Test::After)) {
                limit
            } else if now - job.eligible <= NEW {
                "None"
            } else if failed[request.partition] {
                "Priority"
            } else {
                let mut open = self.desks[request.partition].site().whole.clone();
                open.subtract(&kept);
                let are_enough = open.count() >= request.wanted().nodes;
                match self.find(request, &busy).filter(|_| are_enough) {
                    // The job starts in the next pass, so other jobs do not get its nodes.
                    Some(nodes) => {
                        taken.unite(&nodes);
                        "Priority"
                    }
                    None => {
                        failed[request.partition] = true;
                        kept.unite(&self.desks[request.partition].site().whole);
                        if are_enough { "Resources" } else { RESERVED_NODES }
                    }
                }
            };
            reasons.insert(pair.job, reason);
        }
        self.set_near(near);
        reasons
    }
}
