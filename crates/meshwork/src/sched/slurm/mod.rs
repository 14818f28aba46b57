//! Slurm's two schedulers: a main pass after events, and a backfill pass by a timer.

mod order;
mod params;

use std::collections::{BTreeMap, BTreeSet};

use order::{Order, Waiting};
use params::{PARAMS, Settings};

use super::{Scheduler, SchedulerEntry};
use crate::cluster::{
    Cluster, MemoryReader, MemoryWriter, Place, RecallError, Reservation, StartOptions, Ticket,
};
use crate::job::Time;
use crate::machine::Placement;
use crate::plan;
use crate::registry::About;

/// Registry entry of `slurm`: the main scheduler and the backfill of Slurm.
pub static ENTRY: SchedulerEntry = SchedulerEntry::new(
    About::new(
        "slurm",
        "the main scheduler of Slurm and its backfill by timer, with the parameters of slurm.conf",
    )
    .aliases(&["sched_backfill"])
    .definition(
        "Jobs are ordered by the tier of their partition, then by their multifactor priority, then \
         by arrival. The main scheduler runs after a submission or an end, not sooner than \
         `batch_sched_delay` after it ran last, and considers the first `default_queue_depth` \
         jobs; every `sched_interval` it considers all. It starts jobs in order; the first of a \
         partition that cannot start stops that partition, and its nodes are left alone for the \
         rest of the pass. Backfill runs `bf_interval` after it ran last, if anything has changed \
         since. It plans each job in order at the earliest start that neither limits of running \
         jobs nor reservations made before in the same pass forbid, starts it if that is now, and \
         else reserves its nodes up to the end of its limit, rounded to `bf_resolution`, unless \
         the start lies beyond `bf_window`. The next pass makes all reservations anew. Passes take \
         no time.",
    )
    .complexity(
        "O(q log q) in each pass with q waiting jobs, a question to the allocator for each that is \
         considered by the main scheduler; in a backfill pass, up to the last job that is small \
         enough to start, what a plan of each takes as in `conservative`.",
    )
    .source(
        "SchedMD, Slurm workload manager 22.05 and 26.05: slurm.conf, scheduling configuration \
         guide, multifactor priority plugin, and the behaviour of recorded controllers",
    )
    .params(PARAMS),
    |params, sites| {
        Ok(Box::new(Slurm {
            settings: Settings::read(params),
            order: Order::new(params, super::usage::MachineSize::of(sites))?,
            last_main: None,
            is_main_due: false,
            first_full: None,
            full_at: None,
            last_backfill: None,
            is_backfill_due: false,
        }))
    },
)
.shares(true)
.by_owner(true);

struct Slurm {
    settings: Settings,
    order: Order,
    last_main: Option<Time>,
    /// Whether an event has occurred since the last main pass.
    is_main_due: bool,
    /// Time of the first main pass. From then on, a pass over all jobs is due every
    /// `sched_interval`.
    first_full: Option<Time>,
    /// Time of the next main pass over all jobs; `None` if it would only repeat the last pass.
    full_at: Option<Time>,
    last_backfill: Option<Time>,
    /// Whether an event or a change of priorities has occurred since the last backfill pass.
    is_backfill_due: bool,
}

impl Scheduler for Slurm {
    fn memory(&self, memory: &mut MemoryWriter) -> bool {
        self.order.write(memory);
        for at in [self.last_main, self.first_full, self.full_at, self.last_backfill] {
            memory.optional(at, MemoryWriter::time);
        }
        memory.number(u64::from(self.is_main_due));
        memory.number(u64::from(self.is_backfill_due));
        true
    }

    fn recall(&mut self, memory: &mut MemoryReader<'_>) -> Result<(), RecallError> {
        self.order.read(memory)?;
        if !memory.is_new() {
            let times = [
                &mut self.last_main,
                &mut self.first_full,
                &mut self.full_at,
                &mut self.last_backfill,
            ];
            for at in times {
                *at = memory.optional(MemoryReader::time)?;
            }
            (self.is_main_due, self.is_backfill_due) = (memory.flag()?, memory.flag()?);
        }
        Ok(())
    }

    fn reserves(&self) -> bool {
        self.settings.bf_interval.is_some()
    }

    fn looks_at_nodes(&self) -> bool {
        false
    }

    fn schedule(&mut self, cluster: &mut Cluster<'_>) {
        let now = cluster.now();
        if self.order.is_empty() {
            self.pass_over_nothing(now);
        }
        if self.order.tick(now) {
            (self.full_at, self.is_backfill_due) = (self.next_full(now), true);
        }
        for departure in cluster.departures() {
            self.order.ends(departure, now);
        }
        for &ticket in cluster.arrivals() {
            self.order.joins(ticket, cluster.job(ticket));
        }
        self.order.keep_waiting(cluster);
        let has_news = !cluster.departures().is_empty()
            || !cluster.arrivals().is_empty()
            || cluster.is_disturbed()
            || cluster.is_edge();
        if has_news {
            (self.is_main_due, self.is_backfill_due) = (true, true);
        }
        if self.full_at.is_some_and(|at| at <= now) {
            self.main(cluster, true);
        } else if self.main_at().is_some_and(|at| at <= now) {
            self.main(cluster, false);
        }
        if self.backfill_at().is_some_and(|at| at <= now) {
            self.backfill(cluster);
        }
    }

    fn wake_at(&self, now: Time) -> Option<Time> {
        if self.order.is_empty() {
            return None;
        }
        let times = [self.main_at(), self.full_at, self.backfill_at(), self.order.next_tick()];
        times.into_iter().flatten().filter(|at| *at > now).min()
    }
}

impl Slurm {
    /// Records main and backfill passes that were due before `now`, while the queue was empty.
    /// Later intervals between passes are counted from these times.
    fn pass_over_nothing(&mut self, now: Time) {
        if let Some(at) = self.main_at().filter(|at| *at < now) {
            (self.last_main, self.is_main_due) = (Some(at), false);
        }
        if let Some(at) = self.backfill_at().filter(|at| *at < now) {
            (self.last_backfill, self.is_backfill_due) = (Some(at), false);
        }
    }

    /// Earliest time of the next main pass; `None` if no event has occurred since the last main
    /// pass.
    fn main_at(&self) -> Option<Time> {
        let last = self.last_main.map(|last| last + self.settings.main_delay);
        self.is_main_due.then(|| last.unwrap_or(Time::new(f64::NEG_INFINITY)))
    }

    fn next_full(&self, now: Time) -> Option<Time> {
        let (interval, first) = (self.settings.sched_interval?, self.first_full?);
        let passed = ((now - first) / interval).floor();
        Some(first + (passed + 1.0) * interval)
    }

    fn backfill_at(&self) -> Option<Time> {
        let interval = self.settings.bf_interval.filter(|_| self.is_backfill_due)?;
        Some(self.last_backfill.map_or(Time::new(f64::NEG_INFINITY), |last| last + interval))
    }

    /// Main pass: starts jobs in queue order. A job that cannot start, but may reserve nodes,
    /// blocks all later jobs of its partition.
    fn main(&mut self, cluster: &mut Cluster<'_>, is_full: bool) {
        let now = cluster.now();
        (self.last_main, self.is_main_due) = (Some(now), false);
        self.first_full.get_or_insert(now);
        let depth = match is_full {
            true => usize::MAX,
            // One job more than the parameter says is considered.
            false => {
                usize::try_from(self.settings.default_queue_depth).map_or(usize::MAX, |n| n + 1)
            }
        };
        let queue = self.order.queue();
        self.full_at = if queue.len() > depth { self.next_full(now) } else { None };
        let mut stopped: BTreeSet<usize> = BTreeSet::new();
        let mut considered: BTreeMap<usize, u64> = BTreeMap::new();
        let mut kept: Vec<(usize, Placement)> = Vec::new();
        for &(ticket, job) in queue.iter().take(depth) {
            let of_partition = considered.entry(job.partition).or_default();
            *of_partition += 1;
            if *of_partition > self.settings.partition_job_depth || stopped.contains(&job.partition)
            {
                continue;
            }
            let clear_of: Vec<(usize, &Placement)> =
                kept.iter().map(|(site, nodes)| (*site, nodes)).collect();
            if cluster.start(ticket, StartOptions::clear_of(&clear_of)) {
                self.order.starts(ticket, cluster.last_asked(), now);
                self.is_backfill_due = true;
                continue;
            }
            if !self.may_reserve(&job, now) {
                continue;
            }
            let Some(nodes) = cluster.nodes_of_partition(ticket) else { return };
            stopped.insert(job.partition);
            kept.extend(nodes);
        }
    }

    /// Whether `job` is old and important enough to reserve nodes.
    fn may_reserve(&self, job: &Waiting, now: Time) -> bool {
        let Settings { bf_min_age_reserve, bf_min_prio_reserve, .. } = self.settings;
        now - job.arrival >= bf_min_age_reserve && job.priority >= bf_min_prio_reserve
    }

    fn backfill(&mut self, cluster: &mut Cluster<'_>) {
        let now = cluster.now();
        (self.last_backfill, self.is_backfill_due) = (Some(now), false);
        let queue = self.order.queue();
        // Reservations last for one pass, so jobs behind the last one that may start need none.
        let may_start = |(ticket, _): &(Ticket, Waiting)| cluster.is_small_enough(*ticket);
        let Some(last) = queue.iter().rposition(may_start) else { return };
        let mut plan = plan::forks(cluster);
        let (mut of_user, mut of_partition) = (BTreeMap::new(), BTreeMap::new());
        let mut planned = 0;
        for &(ticket, job) in &queue[..=last] {
            if planned >= self.settings.bf_max_job_test {
                break;
            }
            let user: &mut u64 = of_user.entry(job.user).or_default();
            let partition: &mut u64 = of_partition.entry(job.partition).or_default();
            if *user >= self.settings.bf_max_job_user || *partition >= self.settings.bf_max_job_part
            {
                continue;
            }
            (*user, *partition, planned) = (*user + 1, *partition + 1, planned + 1);
            let reserves = self.may_reserve(&job, now);
            let by = if reserves { now + self.settings.bf_window } else { now };
            let Some(found) = plan.earliest(cluster, ticket, Some(by)) else { continue };
            let place = StartOptions::at(Place::Promised(&found));
            if found.at > now || !cluster.start(ticket, place) {
                plan.hold(cluster, ticket, self.rounded(found, now));
                continue;
            }
            self.order.starts(ticket, cluster.last_asked(), now);
            plan.hold(cluster, ticket, found);
            self.is_backfill_due = true;
        }
    }

    /// Rounds the start and the end of a reservation to multiples of `bf_resolution`.
    ///
    /// The start is not before `now`. The end is at least one multiple after the rounded start.
    fn rounded(&self, found: Reservation, now: Time) -> Reservation {
        let Settings { bf_resolution: step, rounds_up, .. } = self.settings;
        let end = (found.at + found.span).units() / step;
        let end = if rounds_up { end.ceil() } else { end.floor() } * step;
        let begin = (found.at.units() / step).floor() * step;
        let at = Time::new(begin).max(now);
        let until = Time::new(end.max(begin + step)).max(at.next());
        Reservation { span: until - at, at, ..found }
    }
}
