//! Observation of a run: events and time spans, reported to observers that cannot influence it.

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

// Identifier of a job in events.
pub use crate::job::JobId;

impl JobId {
    /// Id of the stand-in that occupies an out-of-service node in the list of running jobs.
    pub(crate) fn stand_in(slot: usize) -> JobId {
        JobId(STAND_INS + slot as u64)
    }
}

/// First id that is never a job's: 2⁵² jobs would take centuries.
const STAND_INS: u64 = 1 << 52;

/// Something that happened at an instant.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum Event<'a> {
    /// A line of a log is not a job.
    Unusable(&'a Unusable),
    /// A job joined the queue.
    Arrived(JobId, &'a Job),
    /// An arriving job does not fit even the empty machine; it never joins the queue.
    Refused(JobId, &'a Job),
    /// The scheduler turned away a waiting job, which left the queue unserved.
    TurnedAway(JobId, &'a Job),
    /// A waiting job was promised a start by this instant, provided all estimates hold.
    Promised(JobId, Time),
    /// A job left the queue and started.
    Started(&'a Running),
    /// A running job changed its processors or its rate. If several jobs move at one instant, a job
    /// may be reported on processors that a later event of the same instant reports as left.
    Moved {
        /// Job in its new state.
        running: &'a Running,
        /// Placement before the move.
        from: &'a Placement,
    },
    /// A job ended and released its processors.
    Finished(&'a Running),
    /// An outage stopped a running job, which released its processors and waits again.
    Interrupted(&'a Running),
    /// A node went out of service.
    Down {
        /// Index of the site.
        site: usize,
        /// Number of the node at the site.
        node: Node,
    },
    /// A node returned to service.
    Up {
        /// Index of the site.
        site: usize,
        /// Number of the node at the site.
        node: Node,
    },
    /// A GPU of a node that jobs share went out of service.
    GpuDown {
        /// Index of the site.
        site: usize,
        /// Number of the node at the site.
        node: Node,
        /// Number of the GPU on its node.
        gpu: u32,
    },
    /// A GPU returned to service.
    GpuUp {
        /// Index of the site.
        site: usize,
        /// Number of the node at the site.
        node: Node,
        /// Number of the GPU on its node.
        gpu: u32,
    },
    /// Idle nodes fell asleep.
    Asleep {
        /// Index of the site.
        site: usize,
        /// Numbers of the nodes at the site, in order.
        nodes: &'a [Node],
    },
    /// Nodes were woken for the job that starts next.
    Awake {
        /// Index of the site.
        site: usize,
        /// Numbers of the nodes at the site, in order.
        nodes: &'a [Node],
        /// Energy of the wake-up in joules.
        energy: f64,
    },
}

/// A running job, or one that has just ended.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Running {
    /// Index of the job in the order of arrival.
    pub id: JobId,
    /// Job as submitted.
    pub job: Job,
    /// Index of the site on which it runs.
    pub site: usize,
    /// Processors that the job holds.
    pub placement: Placement,
    /// Number of requested processors.
    pub asked: u64,
    /// Number of held processors.
    pub held: u32,
    /// Expected over requested run time at the start, as changed by size and site speed.
    pub stretch: f64,
    /// Relative speed of the work: 1 unless the scheduler resizes jobs.
    pub rate: f64,
    /// Instant of the start of this run.
    pub start: Time,
    /// End expected by the scheduler from the estimate; the job may end earlier or run on.
    pub expected_end: Time,
    /// Spread of the processors: see [`Placement::dispersal`].
    pub dispersal: f64,
    /// Sums over the job's messages; `None` before its end, or if jobs send none.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub messages: Option<Box<Messages>>,
    /// Interruptions and checkpoints; `None` without any.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub wear: Option<Box<Wear>>,
}

/// Effects of outages and checkpoints on a job.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Wear {
    /// Number of interruptions, including that of this run.
    pub interruptions: u32,
    /// Time for which the job held processors in earlier runs.
    pub earlier: f64,
    /// Time of this run that was wasted by its interruption; 0 until then.
    pub lost: f64,
    /// Time of this run spent on useful checkpoints; 0 until it ends.
    pub overhead: f64,
}

impl Running {
    /// Returns the record of a waiting job; whatever is known only at its start is a placeholder.
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

    /// Sums over the job's messages; all 0 if it sent none.
    #[must_use]
    pub fn messages(&self) -> Messages {
        self.messages.as_deref().copied().unwrap_or_default()
    }

    /// Effects of outages and checkpoints; all 0 if there are none.
    #[must_use]
    pub fn wear(&self) -> Wear {
        self.wear.as_deref().copied().unwrap_or_default()
    }

    /// Whether this is not a job but a stand-in for a node that is out of service. Stand-ins appear
    /// among the [running jobs](crate::cluster::Cluster::running) so that planners see them.
    #[must_use]
    pub fn is_stand_in(&self) -> bool {
        self.id.0 >= STAND_INS
    }

    /// Time spent waiting before this run, without the time of earlier runs.
    #[must_use]
    pub fn wait(&self) -> f64 {
        let wait = self.start - self.job.arrival;
        self.wear.as_ref().map_or(wait, |wear| wait - wear.earlier)
    }

    /// Time for which the job has held processors in all its runs, if this one ends at `finish`.
    #[must_use]
    pub fn service(&self, finish: Time) -> f64 {
        let service = finish - self.start;
        self.wear.as_ref().map_or(service, |wear| service + wear.earlier)
    }
}

/// Sums over a job's messages.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Messages {
    /// Number of messages; each message is one packet.
    pub packets: u64,
    /// Time from entering the queue of the sending processor to arrival.
    pub latency: f64,
    /// Time from leaving that queue to arrival.
    pub network_latency: f64,
    /// Part of the latency that would not occur in an idle network.
    pub blocking: f64,
    /// Number of links traversed.
    pub hops: u64,
    /// Number of flits multiplied by the number of links that they traverse.
    pub link_flits: f64,
}

/// State of the machine during a time span without events.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct MachineState {
    /// Number of processors of the whole machine.
    pub nodes: u64,
    /// Number of directed links between them; 0 in networks without messages.
    pub links: u64,
    /// Processors held by jobs.
    pub held: u64,
    /// Processors requested by the running jobs.
    pub asked: u64,
    /// Processors held in excess of the request.
    pub surplus: u64,
    /// Processors out of service.
    #[cfg_attr(feature = "serde", serde(default))]
    pub down: u64,
    /// Processors asleep.
    #[cfg_attr(feature = "serde", serde(default))]
    pub asleep: u64,
    /// Power of the machine in watts; 0 without an energy model.
    #[cfg_attr(feature = "serde", serde(default))]
    pub power: f64,
    /// Waiting jobs.
    pub waiting: u64,
    /// Running jobs.
    pub running: u64,
    /// Whether the oldest waiting job requests no more processors than are free on some site. Only
    /// their shape, or the queueing discipline, keeps it waiting then.
    pub blocked_by_shape: bool,
}

/// Receiver of a run's events and time spans.
///
/// `()` observes nothing; a pair of observers is an observer, and so is a borrowed one.
pub trait Observer: Send {
    /// Reports that time passed from `from` to `to` with the machine in this state.
    fn elapsed(&mut self, _from: Time, _to: Time, _state: &MachineState) {}

    /// Whether the observer needs [`waited`](Observer::waited). This costs an allocator query for
    /// each form with waiting jobs after each change of the machine, and nothing if no observer
    /// needs it.
    fn asks_why_jobs_wait(&self) -> bool {
        false
    }

    /// Whether the observer uses the identities of the nodes that jobs hold. If no observer and no
    /// strategy does, and processors are interchangeable, node numbers in placements are arbitrary.
    fn asks_where_jobs_run(&self) -> bool {
        true
    }

    /// Whether the observer uses [`MachineState::blocked_by_shape`], which is otherwise always
    /// `false`.
    fn asks_what_blocks(&self) -> bool {
        true
    }

    /// Reports that a job waited for this cause from `from` to `to`. Called for each waiting job
    /// before [`elapsed`](Observer::elapsed), if an observer returns `true` from
    /// [`asks_why_jobs_wait`](Observer::asks_why_jobs_wait).
    fn waited(&mut self, _from: Time, _to: Time, _id: JobId, _cause: Cause) {}

    /// Reports an event at the present instant.
    fn observe(&mut self, _now: Time, _event: &Event<'_>) {}

    /// Whether the run can end at this instant.
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
    fn elapsed(&mut self, from: Time, to: Time, state: &MachineState) {
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
    fn elapsed(&mut self, from: Time, to: Time, state: &MachineState) {
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
