//! Observation of a run: events and time spans are reported to observers, which cannot influence
//! it.

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

/// Something that happens at one instant of a run.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum Event<'a> {
    /// A line of a log was read that describes no usable job.
    Unusable(&'a Unusable),
    /// A job joined the queue.
    Arrived(JobId, &'a Job),
    /// An arriving job does not fit even the empty machine. It never joins the queue.
    Refused(JobId, &'a Job),
    /// The scheduler turned away a waiting job. The job left the queue without a start.
    TurnedAway(JobId, &'a Job),
    /// The scheduler promised a waiting job a start at the given instant or earlier. The promise
    /// assumes that all estimates hold.
    Promised(JobId, Time),
    /// A job left the queue and started.
    Started(&'a Running),
    /// The processors or the rate of a running job changed.
    ///
    /// If several jobs change at one instant, each is reported by an event. Between two of these
    /// events, two jobs may hold the same processor.
    Moved {
        /// The running job, with its processors and rate after the change.
        running: &'a Running,
        /// Processors that the job held before the change.
        from: &'a Placement,
    },
    /// A job ended and released its processors.
    Finished(&'a Running),
    /// A running job was stopped by an outage or preempted. It released its processors and waits
    /// again.
    Interrupted(&'a Running),
    /// A node went out of service.
    Down {
        /// Index of the node's site.
        site: usize,
        /// Number of the node on its site.
        node: Node,
    },
    /// A node returned to service.
    Up {
        /// Index of the node's site.
        site: usize,
        /// Number of the node on its site.
        node: Node,
    },
    /// A GPU went out of service, on a node that jobs share.
    GpuDown {
        /// Index of the site of the GPU's node.
        site: usize,
        /// Index, within its site, of the node that holds the GPU.
        node: Node,
        /// Number of the GPU on its node.
        gpu: u32,
    },
    /// A GPU returned to service, on a node that jobs share.
    GpuUp {
        /// Index of the site of the GPU's node.
        site: usize,
        /// Index, within its site, of the node that holds the GPU.
        node: Node,
        /// Number of the GPU on its node.
        gpu: u32,
    },
    /// Idle nodes fell asleep.
    Asleep {
        /// Index of the site of the nodes.
        site: usize,
        /// Numbers of the nodes on their site, in ascending order.
        nodes: &'a [Node],
    },
    /// Nodes were woken for a job. The start of this job is the next event.
    Awake {
        /// Index of the site of the nodes.
        site: usize,
        /// Numbers of the nodes on their site, in ascending order.
        nodes: &'a [Node],
        /// Energy of the wake-up in joules.
        energy: f64,
    },
}

/// A job that is running or has just ended.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Running {
    /// Index of the job in order of arrival, from 0.
    pub id: JobId,
    /// The job as it was submitted.
    pub job: Job,
    /// Index of the site on which the job runs.
    pub site: usize,
    /// Processors that the job holds.
    pub placement: Placement,
    /// Number of processors that the job requested.
    pub asked: u64,
    /// Number of processors that the job holds.
    pub held: u32,
    /// Expected run time, divided by the run time that the job requested. It depends on the size of
    /// the job's placement and on the speed of its site.
    pub stretch: f64,
    /// Progress of the job per unit of time; 1 unless the scheduler resizes the job.
    pub rate: f64,
    /// Instant at which the current run of the job started. An interrupted job has several runs.
    pub start: Time,
    /// End of the job by its user's estimate. The actual end may be earlier or later.
    pub expected_end: Time,
    /// Dispersal of the job's processors: see [`Placement::dispersal`].
    pub dispersal: f64,
    /// Sums over all messages that the running job has sent.
    ///
    /// `None` before the job ends, or if jobs send no messages.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub messages: Option<Box<Messages>>,
    /// Interruptions and checkpoints of the job; `None` if it had neither.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub wear: Option<Box<Wear>>,
}

/// Number of a job's interruptions, and the time that outages and checkpoints cost it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Wear {
    /// Number of interruptions of the job. If the current run was interrupted, its interruption
    /// counts too.
    pub interruptions: u32,
    /// Time for which the job held processors in earlier runs, which were interrupted.
    pub earlier: f64,
    /// Time in the current run whose work is lost by an interruption. It is 0 until the run is
    /// interrupted.
    pub lost: f64,
    /// Time in the current run that was spent on useful checkpoints. It is 0 until the run ends.
    pub overhead: f64,
}

impl Running {
    /// Sums over the job's messages. All are 0 if the job sent none.
    #[must_use]
    pub fn messages(&self) -> Messages {
        self.messages.as_deref().copied().unwrap_or_default()
    }

    /// Cost of outages and checkpoints to the job. All fields are 0 if there were none.
    #[must_use]
    pub fn wear(&self) -> Wear {
        self.wear.as_deref().copied().unwrap_or_default()
    }

    /// Time from the job's arrival to the start of its current run. Time for which earlier,
    /// interrupted runs held processors is left out.
    #[must_use]
    pub fn wait(&self) -> f64 {
        let wait = self.start - self.job.arrival;
        self.wear.as_ref().map_or(wait, |wear| wait - wear.earlier)
    }

    /// Time for which the job holds processors in all its runs, if the current run ends at
    /// `finish`.
    #[must_use]
    pub fn service(&self, finish: Time) -> f64 {
        let service = finish - self.start;
        self.wear.as_ref().map_or(service, |wear| service + wear.earlier)
    }
}

/// Sums over all messages of a job.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Messages {
    /// Number of messages. Each message is one packet.
    pub packets: u64,
    /// Sum, over messages, of the time from entering the sender's queue to arrival.
    pub latency: f64,
    /// Sum, over messages, of the time from leaving the queue of the sending processor to arrival.
    pub network_latency: f64,
    /// Part of `latency` that is due to other traffic: it would not occur in an idle network.
    pub blocking: f64,
    /// Sum, over messages, of the number of links that the message traverses.
    pub hops: u64,
    /// Sum, over messages, of the number of flits times the number of links that they traverse.
    pub link_flits: f64,
}

/// State of the machine during a time span in which no event happens.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct MachineState {
    /// Number of processors of the whole machine.
    pub nodes: u64,
    /// Number of directed links between routers; 0 in networks without messages.
    pub links: u64,
    /// Number of processors held by jobs.
    pub held: u64,
    /// Number of processors requested by the running jobs.
    pub asked: u64,
    /// Number of processors that jobs hold in excess of the number that they requested.
    pub surplus: u64,
    /// Number of processors out of service.
    #[cfg_attr(feature = "serde", serde(default))]
    pub down: u64,
    /// Number of processors asleep.
    #[cfg_attr(feature = "serde", serde(default))]
    pub asleep: u64,
    /// Power that the machine uses, in watts; 0 without an energy model.
    #[cfg_attr(feature = "serde", serde(default))]
    pub power: f64,
    /// Number of waiting jobs.
    pub waiting: u64,
    /// Number of running jobs.
    pub running: u64,
    /// Whether some site has at least as many free processors as the oldest waiting job requests.
    /// The job then waits because of the shape of the free processors, or because of the scheduler.
    pub blocked_by_shape: bool,
}

/// Receiver of the events and time spans of a run.
///
/// `()` observes nothing. A pair of observers is an observer. So is a mutable reference to an
/// observer.
pub trait Observer: Send {
    /// Reports that time passed from `from` to `to`, with the machine in state `state`.
    fn elapsed(&mut self, _from: Time, _to: Time, _state: &MachineState) {}

    /// Whether the observer needs [`waited`](Observer::waited) to be called.
    ///
    /// If no observer needs these calls, they are not made. They are costly: after each change of
    /// the machine, the allocator is asked once for each different request of waiting jobs.
    fn asks_why_jobs_wait(&self) -> bool {
        false
    }

    /// Whether the observer depends on which nodes jobs hold, not only on how many.
    ///
    /// Node numbers in placements are arbitrary if no observer and no strategy depends on them, and
    /// if processors are interchangeable.
    fn asks_where_jobs_run(&self) -> bool {
        true
    }

    /// Whether the observer uses [`MachineState::blocked_by_shape`]. If no observer uses this
    /// field, the field is always `false`.
    fn asks_what_blocks(&self) -> bool {
        true
    }

    /// Reports that a job waited from `from` to `to` for the reason `cause`.
    ///
    /// Called for each waiting job before [`elapsed`](Observer::elapsed), but only if an observer
    /// returns `true` from [`asks_why_jobs_wait`](Observer::asks_why_jobs_wait).
    fn waited(&mut self, _from: Time, _to: Time, _id: JobId, _cause: Cause) {}

    /// Reports an event that happens at the instant `now`.
    fn observe(&mut self, _now: Time, _event: &Event<'_>) {}

    /// Whether the observer needs no further events, so that the run can end at this instant.
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
