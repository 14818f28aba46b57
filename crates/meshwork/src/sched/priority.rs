//! Priority scheduling by a weighted sum of factors.

use std::collections::BTreeMap;

use super::ranked::{BACKFILL_PARAM, Rank, Ranked, backfills};
use super::shares::{HALF_LIFE, SHARES, Shares, half_life};
use super::usage::{MachineSize, Usage, User};
use super::{Scheduler, SchedulerEntry};
use crate::cluster::{Cluster, MemoryReader, MemoryWriter, Preempted, RecallError, RunKey, Ticket};
use crate::job::{Job, Time};
use crate::registry::{About, DefaultValue, Kind, Param, Params, Problem, Range, Words};
use crate::topology::Topology;

/// Registry entry of `priority`: multifactor priority.
pub static ENTRY: SchedulerEntry = SchedulerEntry::new(
    About::new(
        "priority",
        "jobs by a weighted sum of age, size, their user's fair share, their queue \
             and their own priority; jobs of low queues may be preempted",
    )
    .aliases(&["multifactor"])
    .definition(
        "Each factor is from 0 to 1. Age: how long the job has waited, over `max_age`. Size: its \
         part of the machine, or 1 less that with `favor_small`. Fair share: 2^(-(U/S)/damping), \
         where U is what the user has had of all that was used, as far as it is remembered, and S \
         the user's share of all shares. Queue: the priority of the job's queue over the highest \
         of a queue. Job: the priority that the log or table gives it. The job with the highest \
         sum is next, and among equals the one that arrived first. When it cannot start, running \
         jobs of lower queues make room for it, if `preempt` says so: those of the lowest queue \
         first, and of one queue the youngest first, as few as that takes. Else it holds up the \
         others or, as in `easy`, those that would delay it.",
    )
    .complexity(
        "O(q + u) in each pass with q waiting jobs of u users, and a question to \
             the allocator for each that is small enough; with preemption O(r) more \
             for r running jobs, and up to as many questions.",
    )
    .source(
        "the multifactor priority of Slurm, with its classic fair share (SchedMD, \
             Slurm workload manager: Multifactor priority plugin)",
    )
    .params(PARAMS),
    |params, sites| Ok(Box::new(Priority::new(params, sites)?)),
)
.shares(true)
.by_owner(true);

static PREEMPT: Words<Option<Preempted>, 3> = Words::new([
    ("none", None),
    ("requeue", Some(Preempted::Requeued)),
    ("suspend", Some(Preempted::Suspended)),
]);

static PARAMS: &[Param] = &[
    Param::new("weights", Kind::Table(WEIGHTS)).is("{}").help("what each factor counts"),
    Param::new("max_age", Kind::Number(Range::Positive))
        .is("604800")
        .help("the wait from which on the factor of age is 1: a week of a log's seconds"),
    Param::new("favor_small", Kind::Flag)
        .is("false")
        .help("whether small jobs have the larger factor of size"),
    HALF_LIFE,
    Param::new("damping", Kind::Number(Range::Positive)).is("1").help(
        "how much less the factor of the fair share falls when a user has had more than the \
             share",
    ),
    SHARES,
    Param::new(
        "queues",
        Kind::Tables(&[
            Param::new("name", Kind::Text).help("the queue, as the log or the table has it"),
            Param::new("priority", Kind::Number(Range::NonNegative))
                .help("its priority; that of queues which are not named is 0"),
        ]),
    )
    .absent("all queues have the priority 0")
    .help("the priorities of queues"),
    Param::new("preempt", PREEMPT.kind()).is("\"none\"").help(
        "whether running jobs make room for those of queues with a higher priority: they wait \
             again and begin anew, or are suspended and go on where they were",
    ),
    BACKFILL_PARAM,
];

const WEIGHTS: &[Param] = &[
    weight("age", "1", "the weight of how long a job has waited"),
    weight("size", "0", "the weight of how large it is"),
    weight("fair_share", "1", "the weight of its user's fair share"),
    weight("queue", "1", "the weight of its queue's priority"),
    weight("job", "1", "the weight of its own priority"),
];

const fn weight(name: &'static str, default: &'static str, help: &'static str) -> Param {
    let (kind, default) = (Kind::Number(Range::NonNegative), DefaultValue::Is(default));
    Param { name, kind, default, help }
}

struct Priority {
    weights: Weights,
    max_age: f64,
    favor_small: bool,
    damping: f64,
    machine: MachineSize,
    queues: Queues,
    preempt: Option<Preempted>,
    usage: Usage,
    waiting: BTreeMap<Ticket, Waiting>,
    ranked: Ranked,
}

struct Weights {
    age: f64,
    size: f64,
    fair_share: f64,
    queue: f64,
    job: f64,
}

/// Priorities of the named queues, and the highest priority, by which each priority is divided.
struct Queues {
    named: BTreeMap<String, f64>,
    highest: f64,
}

#[derive(Clone, Copy)]
struct Waiting {
    user: User,
    arrival: Time,
    /// Priority of the job's queue; 0 if the parameters do not name it.
    queue: f64,
    /// Sum of the terms of a job's priority that do not change while the job waits.
    fixed: f64,
}

impl Queues {
    fn of(params: &Params) -> Result<Queues, Problem> {
        let mut queues = Queues { named: BTreeMap::new(), highest: 0.0 };
        for given in params.get_tables("queues").unwrap_or_default() {
            let (name, priority) = (given.text("name"), given.number("priority"));
            queues.highest = queues.highest.max(priority);
            if queues.named.insert(name.to_owned(), priority).is_some() {
                return Err(
                    given.problem("name", format!("the queue \"{name}\" has two priorities"))
                );
            }
        }
        Ok(queues)
    }

    fn priority(&self, job: &Job) -> f64 {
        let queue = job.owner.as_ref().and_then(|owner| owner.queue.as_deref());
        queue.and_then(|queue| self.named.get(queue)).copied().unwrap_or(0.0)
    }

    fn factor(&self, priority: f64) -> f64 {
        if self.highest > 0.0 { priority / self.highest } else { 0.0 }
    }
}

impl Priority {
    fn new(params: &Params, sites: &[Topology]) -> Result<Priority, Problem> {
        let weights = params.nested("weights");
        let weight = |name: &str| weights.number(name);
        Ok(Priority {
            weights: Weights {
                age: weight("age"),
                size: weight("size"),
                fair_share: weight("fair_share"),
                queue: weight("queue"),
                job: weight("job"),
            },
            max_age: params.number("max_age"),
            favor_small: params.flag("favor_small"),
            damping: params.number("damping"),
            machine: MachineSize::of(sites),
            queues: Queues::of(params)?,
            preempt: params.meaning("preempt", &PREEMPT),
            usage: Usage::new(half_life(params), Shares::read(params)?),
            waiting: BTreeMap::new(),
            ranked: Ranked::new(backfills(params)),
        })
    }

    fn joins(&mut self, ticket: Ticket, job: &Job) {
        let user = self.usage.user(job);
        let part = self.machine.share(&job.request);
        let size = if self.favor_small { 1.0 - part } else { part };
        let queue = self.queues.priority(job);
        let own = job.terms.as_ref().map_or(0.0, |terms| terms.priority);
        let Weights { size: by_size, queue: by_queue, job: by_job, .. } = self.weights;
        let fixed = by_size * size + by_queue * self.queues.factor(queue) + by_job * own;
        let waiting = Waiting { user, arrival: job.arrival, queue, fixed };
        self.waiting.insert(ticket, waiting);
    }

    fn ranks(&self, now: Time) -> Vec<Rank> {
        let users = || self.usage.all(now);
        let (all, whole) = users().fold((0.0, 0.0), |sum, user| (sum.0 + user.0, sum.1 + user.1));
        let factor =
            |(used, share): (f64, f64)| fair_share(used / all, share / whole, self.damping);
        let fair: Vec<f64> = users().map(factor).collect();
        let Weights { age, fair_share, .. } = self.weights;
        let rank = |(&ticket, its): (&Ticket, &Waiting)| {
            let waited = ((now - its.arrival) / self.max_age).min(1.0);
            let by = its.fixed + age * waited + fair_share * fair[its.user.index()];
            Rank { by, ticket }
        };
        self.waiting.iter().map(rank).collect()
    }

    /// Preempts running jobs of lower queues so that a waiting job starts. Returns whether the
    /// waiting job has started.
    fn preempts(&mut self, cluster: &mut Cluster<'_>, ticket: Ticket) -> bool {
        let (Some(become_of), Some(&head)) = (self.preempt, self.waiting.get(&ticket)) else {
            return false;
        };
        let now = cluster.now();
        let mut lower: Vec<(f64, Time, RunKey)> = cluster
            .running()
            .filter(|(_, ran)| ran.start < now)
            .map(|(key, ran)| (self.queues.priority(&ran.job), ran.start, key))
            .filter(|(queue, ..)| *queue < head.queue)
            .collect();
        if lower.is_empty() {
            return false;
        }
        lower.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)).then(b.2.cmp(&a.2)));
        let victims: Vec<RunKey> = lower.into_iter().map(|(.., key)| key).collect();
        let ended = cluster.departures().len();
        let Some(again) = cluster.preempt(ticket, &victims, become_of) else { return false };
        starts(&mut self.waiting, &mut self.usage, (ticket, cluster.last_asked()), now);
        for departure in &cluster.departures()[ended..] {
            self.usage.ends(departure, now);
        }
        for ticket in again {
            self.joins(ticket, cluster.job(ticket));
        }
        self.ranked.forget();
        true
    }
}

fn starts(
    waiting: &mut BTreeMap<Ticket, Waiting>,
    usage: &mut Usage,
    (ticket, asked): (Ticket, u64),
    now: Time,
) {
    if let Some(Waiting { user, .. }) = waiting.remove(&ticket) {
        usage.begins(user, asked, now);
    }
}

/// Classic fair-share factor of a user, from fractions of all users' use and of all shares.
fn fair_share(used: f64, share: f64, damping: f64) -> f64 {
    // NaN if nothing has been used yet.
    let used = if used.is_nan() { 0.0 } else { used };
    libm::exp2(-used / share / damping)
}

impl Scheduler for Priority {
    fn memory(&self, memory: &mut MemoryWriter) -> bool {
        self.usage.write(memory);
        self.ranked.write(memory);
        true
    }

    fn recall(&mut self, memory: &mut MemoryReader<'_>) -> Result<(), RecallError> {
        self.usage.read(memory)?;
        let cluster = memory.cluster();
        cluster.waiting().for_each(|ticket| self.joins(ticket, cluster.job(ticket)));
        self.ranked.read(memory)
    }

    fn reserves(&self) -> bool {
        self.ranked.reserves()
    }

    fn suspends(&self) -> bool {
        self.preempt == Some(Preempted::Suspended)
    }

    fn schedule(&mut self, cluster: &mut Cluster<'_>) {
        let now = cluster.now();
        for departure in cluster.departures() {
            self.usage.ends(departure, now);
        }
        for &ticket in cluster.arrivals() {
            self.joins(ticket, cluster.job(ticket));
        }
        loop {
            let ranks = self.ranks(now);
            let Priority { usage, waiting, ranked, .. } = self;
            let started = |ticket, asked| starts(waiting, usage, (ticket, asked), now);
            let Some((head, behind)) = ranked.serve(cluster, ranks, started) else { return };
            if self.preempts(cluster, head) {
                continue;
            }
            let Priority { usage, waiting, ranked, .. } = self;
            let started = |ticket, asked| starts(waiting, usage, (ticket, asked), now);
            ranked.backfill(cluster, head, behind, started);
            return;
        }
    }
}
