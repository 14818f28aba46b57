//! Order of Slurm's queue: by tier of the partition, then by multifactor priority.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::params::{Named, partition, qos, span};
use crate::cluster::{Cluster, Departure, MemoryReader, MemoryWriter, RecallError, Ticket};
use crate::job::{Job, Time};
use crate::registry::{Params, Problem};
use crate::sched::shares::Shares;
use crate::sched::usage::{MachineSize, Usage, User};

/// Waiting jobs with their priorities, and the past usage of each user. The priority of a job is
/// computed when it joins the queue, and again at ticks. From the first pass on, there is a tick
/// every `PriorityCalcPeriod`.
pub(super) struct Order {
    weights: Weights,
    /// Seconds of wait at which the age factor, which grows linearly, reaches 1.
    max_age: f64,
    favors_small: bool,
    /// Seconds between two computations of the priorities.
    period: f64,
    next_tick: Option<Time>,
    machine: MachineSize,
    tiers: Named,
    job_factors: Named,
    qos: Named,
    usage: Usage,
    /// Fair-share factors as of the last tick, by index of the user.
    fair: Vec<f64>,
    waiting: BTreeMap<Ticket, Waiting>,
    partitions: BTreeMap<String, usize>,
}

struct Weights {
    age: f64,
    fair_share: f64,
    size: f64,
    partition: f64,
    qos: f64,
    site: f64,
}

#[derive(Clone, Copy)]
pub(super) struct Waiting {
    pub(super) user: User,
    pub(super) partition: usize,
    pub(super) arrival: Time,
    pub(super) priority: u64,
    tier: u64,
    /// Sum of the job's weighted priority factors that never change.
    fixed: f64,
}

impl Order {
    pub(super) fn new(params: &Params, machine: MachineSize) -> Result<Order, Problem> {
        let weight = |key: &str| params.integer(key) as f64;
        let half_life = match span(params, "PriorityDecayHalfLife", true)? {
            0.0 => f64::INFINITY,
            half_life => half_life,
        };
        let shares = Shares::read(params)?;
        let known: Vec<String> = shares.users().map(str::to_owned).collect();
        let mut usage = Usage::new(half_life, shares);
        // A user with a share counts among the users from the beginning.
        known.iter().for_each(|user| {
            usage.meet(user);
        });
        Ok(Order {
            weights: Weights {
                age: weight("PriorityWeightAge"),
                fair_share: weight("PriorityWeightFairshare"),
                size: weight("PriorityWeightJobSize"),
                partition: weight("PriorityWeightPartition"),
                qos: weight("PriorityWeightQOS"),
                site: weight("PriorityWeightSite"),
            },
            max_age: span(params, "PriorityMaxAge", false)?,
            favors_small: params.flag("PriorityFavorSmall"),
            period: span(params, "PriorityCalcPeriod", false)?,
            next_tick: None,
            machine,
            tiers: Named::read(params, "partitions", "PriorityTier", 1)?,
            job_factors: Named::read(params, "partitions", "PriorityJobFactor", 1)?,
            qos: Named::read(params, "qos", "Priority", 0)?,
            usage,
            fair: Vec::new(),
            waiting: BTreeMap::new(),
            partitions: BTreeMap::new(),
        })
    }

    pub(super) fn write(&self, memory: &mut MemoryWriter) {
        self.usage.write(memory);
        memory.number(self.fair.len() as u64);
        self.fair.iter().for_each(|factor| memory.real(*factor));
        memory.optional(self.next_tick, MemoryWriter::time);
        memory.number(self.waiting.len() as u64);
        for (ticket, job) in &self.waiting {
            memory.job(*ticket);
            memory.number(job.priority);
        }
    }

    pub(super) fn read(&mut self, memory: &mut MemoryReader<'_>) -> Result<(), RecallError> {
        self.usage.read(memory)?;
        let cluster = memory.cluster();
        cluster.waiting().for_each(|ticket| self.joins(ticket, cluster.job(ticket)));
        if memory.is_new() {
            return Ok(());
        }
        self.fair = (0..memory.count()?).map(|_| memory.real()).collect::<Result<_, _>>()?;
        self.next_tick = memory.optional(MemoryReader::time)?;
        for _ in 0..memory.count()? {
            let (ticket, priority) = (memory.job()?, memory.number()?);
            if let Some(job) = ticket.and_then(|ticket| self.waiting.get_mut(&ticket)) {
                job.priority = priority;
            }
        }
        Ok(())
    }

    fn is_moving(&self) -> bool {
        self.weights.age > 0.0 || self.weights.fair_share > 0.0
    }

    /// Next instant at which priorities are computed anew; `None` if this cannot change the order.
    pub(super) fn next_tick(&self) -> Option<Time> {
        self.next_tick.filter(|_| self.waiting.len() > 1 && self.is_moving())
    }

    /// Computes priorities as of the last due time at or before `now`; returns whether any changed.
    /// Must be called before the events of this instant are handled.
    pub(super) fn tick(&mut self, now: Time) -> bool {
        let next = *self.next_tick.get_or_insert(now + self.period);
        if now < next {
            return false;
        }
        let periods = ((now - next) / self.period).floor();
        let tick = next + periods * self.period;
        self.next_tick = Some(tick + self.period);
        if !self.is_moving() {
            return false;
        }
        if self.weights.fair_share > 0.0 {
            self.fair = fair_tree(self.usage.all(tick));
        }
        let mut changed = false;
        for job in self.waiting.values_mut() {
            let age = ((tick - job.arrival) / self.max_age).clamp(0.0, 1.0);
            let priority = sum(&self.weights, &self.fair, job, age);
            changed |= priority != job.priority;
            job.priority = priority;
        }
        changed
    }

    pub(super) fn joins(&mut self, ticket: Ticket, job: &Job) {
        let user = self.usage.user(job);
        let size = self.machine.share(&job.request).min(1.0);
        let size = if self.favors_small { 1.0 - size } else { size };
        let own = job.terms.as_ref().map_or(0.0, |terms| terms.priority);
        let of_partition = self.job_factors.factor(partition(job));
        let weights = &self.weights;
        let fixed = weights.size * size
            + weights.partition * of_partition
            + weights.qos * self.qos.factor(qos(job))
            + weights.site * own;
        let known = self.partitions.len();
        let name = partition(job).unwrap_or_default();
        let partition_index = match self.partitions.get(name) {
            Some(&index) => index,
            None => *self.partitions.entry(name.to_owned()).or_insert(known),
        };
        let mut waiting = Waiting {
            user,
            partition: partition_index,
            arrival: job.arrival,
            priority: 0,
            tier: self.tiers.of(partition(job)),
            fixed,
        };
        waiting.priority = sum(weights, &self.fair, &waiting, 0.0);
        self.waiting.insert(ticket, waiting);
    }

    pub(super) fn starts(&mut self, ticket: Ticket, asked: u64, now: Time) {
        if let Some(Waiting { user, .. }) = self.waiting.remove(&ticket) {
            self.usage.begins(user, asked, now);
        }
    }

    pub(super) fn ends(&mut self, departure: &Departure, now: Time) {
        self.usage.ends(departure, now);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Waiting jobs by tier, then priority, then arrival.
    pub(super) fn queue(&self) -> Vec<(Ticket, Waiting)> {
        let mut queue: Vec<(Ticket, Waiting)> =
            self.waiting.iter().map(|(&ticket, &job)| (ticket, job)).collect();
        // The sort is stable, and tickets are in order of arrival.
        queue.sort_by_key(|(_, job)| Reverse((job.tier, job.priority)));
        queue
    }

    /// Forgets waiting jobs that have left the queue without starting.
    pub(super) fn keep_waiting(&mut self, cluster: &Cluster<'_>) {
        if self.waiting.len() > cluster.waiting_jobs() {
            let waiting: BTreeSet<Ticket> = cluster.waiting().collect();
            self.waiting.retain(|ticket, _| waiting.contains(ticket));
        }
    }
}

/// Sum of all weighted factors, truncated to an integer as in Slurm.
fn sum(weights: &Weights, fair: &[f64], job: &Waiting, age: f64) -> u64 {
    // A user who first appeared after the last tick has used nothing.
    let fair = fair.get(job.user.index()).copied().unwrap_or(1.0);
    (job.fixed + weights.age * age + weights.fair_share * fair) as u64
}

/// Fair Tree factors of sibling users, ranked by share / usage. The factor is 1 for the first of
/// *u* users, and 1 / *u* for the last. Users with equal quotients have equal factors.
fn fair_tree(users: impl Iterator<Item = (f64, f64)>) -> Vec<f64> {
    let used: Vec<f64> = users.map(|(used, share)| used / share).collect();
    let mut sorted = used.clone();
    sorted.sort_unstable_by(f64::total_cmp);
    let count = used.len() as f64;
    let rank = |own: f64| sorted.partition_point(|other| *other < own) as f64;
    used.iter().map(|&own| (count - rank(own)) / count).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fair_tree_ranks_users_by_share_over_usage() {
        let users = [(30.0, 1.0), (0.0, 1.0), (30.0, 3.0), (30.0, 1.0)];
        assert_eq!(fair_tree(users.into_iter()), [0.5, 1.0, 0.75, 0.5]);
    }
}
