//! What can be seen of a run: events and spans of time, told to observers that never answer.

mod areas;
mod batches;
mod evenness;
mod gauges;
pub mod ledger;
mod measured;
pub mod metrics;
mod quantiles;
mod reading;
pub mod recorder;

pub(crate) use gauges::Gauges;

use crate::job::{Cause, Job, Time};
use crate::machine::Placement;
use crate::topology::Node;
use crate::workload::Unusable;

// The name of a job in events.
pub use crate::job::JobId;

impl JobId {
    /// That of what stands among the running jobs for a node that is out of service: no job has it.
    pub(crate) fn stand_in(slot: usize) -> JobId {
        JobId(STAND_INS + slot as u64)
    }
}

/// From here on a number is no job's: 2⁵² of them would take centuries.
const STAND_INS: u64 = 1 << 52;

/// Something that happened at an instant.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum Event<'a> {
    /// A line of a log was no job.
    Unusable(&'a Unusable),
    /// A job joined the queue.
    Arrived(JobId, &'a Job),
    /// A job arrived that would not fit even the empty machine; it never joins the queue.
    Refused(JobId, &'a Job),
    /// A waiting job left the queue unserved: its scheduler does not want it.
    TurnedAway(JobId, &'a Job),
    /// A waiting job was promised a start by this instant, if all estimates hold.
    Promised(JobId, Time),
    /// A job left the queue and began to run.
    Started(&'a Running),
    /// A running job now holds other processors, or works at another rate. Where several are moved at
    /// one instant, one may be told to hold what another, told later, is still to leave.
    Moved {
        /// The job, as it now runs.
        running: &'a Running,
        /// What it held before.
        from: &'a Placement,
    },
    /// A job ended and gave its processors back.
    Finished(&'a Running),
    /// An outage stopped a running job, which gave its processors back and waits again.
    Interrupted(&'a Running),
    /// A node went out of service.
    Down {
        /// The index of its site.
        site: usize,
        /// Its number there.
        node: Node,
    },
    /// A node is in service again.
    Up {
        /// The index of its site.
        site: usize,
        /// Its number there.
        node: Node,
    },
    /// Nodes fell asleep that no job had held for a while.
    Asleep {
        /// The index of their site.
        site: usize,
        /// Their numbers there, in order.
        nodes: &'a [Node],
    },
    /// Nodes were woken for the job that starts next.
    Awake {
        /// The index of their site.
        site: usize,
        /// Their numbers there, in order.
        nodes: &'a [Node],
        /// What that takes, in joules.
        energy: f64,
    },
}

/// A job that runs, or has just ended.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Running {
    /// Its place in the order of arrival.
    pub id: JobId,
    /// The job.
    pub job: Job,
    /// The index of its site.
    pub site: usize,
    /// The processors it holds.
    pub placement: Placement,
    /// How many processors it asked for.
    pub asked: u64,
    /// How many it holds.
    pub held: u32,
    /// How many times longer than it asked for it was to run when it started: its size and the speed
    /// of its site count.
    pub stretch: f64,
    /// How fast it works: 1, but for schedulers that resize jobs.
    pub rate: f64,
    /// When it started.
    pub start: Time,
    /// When its scheduler expects it to end, by its estimate; it may end earlier or run on.
    pub expected_end: Time,
    /// How far its processors are spread: see [`Placement::dispersal`].
    pub dispersal: f64,
    /// What became of its messages: nothing before it has ended, nor where jobs send none.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub messages: Option<Box<Messages>>,
    /// What it has been through, if it was interrupted before or writes checkpoints.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub wear: Option<Box<Wear>>,
}

/// What outages and checkpoints have done to a job.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Wear {
    /// How often it was interrupted, this run included if it was.
    pub interruptions: u32,
    /// For how long it held processors before this run.
    pub earlier: f64,
    /// How much of the time of this run was in vain, because it was interrupted; 0 until then.
    pub lost: f64,
    /// How much of the time of this run went into checkpoints that are good; 0 until it ends.
    pub overhead: f64,
}

impl Running {
    /// Where a job will stand when it runs: it waits, and nothing is known but the job.
    pub(crate) fn waiting(id: JobId, job: Job) -> Running {
        Running {
            id,
            job,
            site: 0,
            placement: Placement::default(),
            asked: 0,
            held: 0,
            stretch: 1.0,
            rate: 1.0,
            start: Time::ZERO,
            expected_end: Time::ZERO,
            dispersal: 0.0,
            messages: None,
            wear: None,
        }
    }

    /// What became of its messages: none were sent, in most runs.
    #[must_use]
    pub fn messages(&self) -> Messages {
        self.messages.as_deref().copied().unwrap_or_default()
    }

    /// What it has been through: nothing, for most.
    #[must_use]
    pub fn wear(&self) -> Wear {
        self.wear.as_deref().copied().unwrap_or_default()
    }

    /// Whether it is no job, but holds a node that is out of service: in the list of [running
    /// jobs](crate::cluster::Cluster::running), for those who look ahead.
    #[must_use]
    pub fn is_stand_in(&self) -> bool {
        self.id.0 >= STAND_INS
    }

    /// For how long it waited up to this run, the time of earlier runs left out.
    #[must_use]
    pub fn wait(&self) -> f64 {
        let wait = self.start - self.job.arrival;
        self.wear.as_ref().map_or(wait, |wear| wait - wear.earlier)
    }

    /// For how long it has held processors if it ends then, in all its runs.
    #[must_use]
    pub fn service(&self, finish: Time) -> f64 {
        let service = finish - self.start;
        self.wear.as_ref().map_or(service, |wear| service + wear.earlier)
    }
}

/// What became of a job's messages: sums over them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Messages {
    /// How many there were; one message is one packet.
    pub packets: u64,
    /// Time from entering the queue of their processor to arrival.
    pub latency: f64,
    /// Time from leaving that queue to arrival.
    pub network_latency: f64,
    /// The part of the latency that an idle network would not have cost.
    pub blocking: f64,
    /// Links on their ways.
    pub hops: u64,
    /// Flits times links.
    pub link_flits: f64,
}

/// What was so during a span of time in which nothing happened.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct State {
    /// Processors of the whole machine.
    pub nodes: u64,
    /// Directed links between them, in a network with messages.
    pub links: u64,
    /// Processors that jobs held.
    pub held: u64,
    /// Processors that those jobs had asked for.
    pub asked: u64,
    /// Processors that jobs held beyond what they had asked for.
    pub surplus: u64,
    /// Processors that were out of service.
    #[cfg_attr(feature = "serde", serde(default))]
    pub down: u64,
    /// Processors that were asleep.
    #[cfg_attr(feature = "serde", serde(default))]
    pub asleep: u64,
    /// What the machine took, in watts, where a scenario says what processors take; else 0.
    #[cfg_attr(feature = "serde", serde(default))]
    pub power: f64,
    /// Jobs that waited.
    pub waiting: u64,
    /// Jobs that ran.
    pub running: u64,
    /// Whether the oldest waiting job asked for no more processors than were free on some site:
    /// only their shape, or the discipline, kept it waiting.
    pub blocked_by_shape: bool,
}

/// Learns what happens. `()` observes nothing; a pair of observers is an observer, and so is one that is borrowed.
pub trait Observer: Send {
    /// Time passed from `from` to `to`, and all the while the machine was in this state.
    fn elapsed(&mut self, _from: Time, _to: Time, _state: &State) {}

    /// Whether it wants to be told what jobs wait for. That costs a question to the allocator for each form in which
    /// somebody waits, after each change of the machine; where nobody wants it, it costs nothing.
    fn asks_why_jobs_wait(&self) -> bool {
        false
    }

    /// Whether it looks at which nodes jobs hold. Where nobody does, neither observer nor strategy, and any processors are as
    /// good as any others, they are counted and none is named: what is told of a job then holds as many, but not the right
    /// ones.
    fn asks_where_jobs_run(&self) -> bool {
        true
    }

    /// Whether it looks at [`State::blocked_by_shape`]: where nobody does, that is not looked for, and never so.
    fn asks_what_blocks(&self) -> bool {
        true
    }

    /// Time passed from `from` to `to`, and all the while this job waited for that. Told for each job that waits, before
    /// [`elapsed`](Observer::elapsed), where [somebody asks](Observer::asks_why_jobs_wait).
    fn waited(&mut self, _from: Time, _to: Time, _id: JobId, _cause: Cause) {}

    /// Something happened now.
    fn observe(&mut self, _now: Time, _event: &Event<'_>) {}

    /// Whether enough has been seen: the run ends at this instant.
    fn is_done(&self) -> bool {
        false
    }
}

impl Observer for () {
    fn asks_where_jobs_run(&self) -> bool {
        false
    }

    fn asks_what_blocks(&self) -> bool {
        false
    }
}

impl<A: Observer, B: Observer> Observer for (A, B) {
    fn elapsed(&mut self, from: Time, to: Time, state: &State) {
        self.0.elapsed(from, to, state);
        self.1.elapsed(from, to, state);
    }

    fn asks_why_jobs_wait(&self) -> bool {
        self.0.asks_why_jobs_wait() || self.1.asks_why_jobs_wait()
    }

    fn asks_where_jobs_run(&self) -> bool {
        self.0.asks_where_jobs_run() || self.1.asks_where_jobs_run()
    }

    fn asks_what_blocks(&self) -> bool {
        self.0.asks_what_blocks() || self.1.asks_what_blocks()
    }

    fn waited(&mut self, from: Time, to: Time, id: JobId, cause: Cause) {
        self.0.waited(from, to, id, cause);
        self.1.waited(from, to, id, cause);
    }

    fn observe(&mut self, now: Time, event: &Event<'_>) {
        self.0.observe(now, event);
        self.1.observe(now, event);
    }

    fn is_done(&self) -> bool {
        self.0.is_done() || self.1.is_done()
    }
}

impl<O: Observer + ?Sized> Observer for &mut O {
    fn elapsed(&mut self, from: Time, to: Time, state: &State) {
        (**self).elapsed(from, to, state);
    }

    fn asks_why_jobs_wait(&self) -> bool {
        (**self).asks_why_jobs_wait()
    }

    fn asks_where_jobs_run(&self) -> bool {
        (**self).asks_where_jobs_run()
    }

    fn asks_what_blocks(&self) -> bool {
        (**self).asks_what_blocks()
    }

    fn waited(&mut self, from: Time, to: Time, id: JobId, cause: Cause) {
        (**self).waited(from, to, id, cause);
    }

    fn observe(&mut self, now: Time, event: &Event<'_>) {
        (**self).observe(now, event);
    }

    fn is_done(&self) -> bool {
        (**self).is_done()
    }
}
