//! Events of a run that outlive it: kept on disk, or sent to another thread.

use meshwork::job::{Job, Time};
use meshwork::machine::Placement;
use meshwork::observe::{Event, JobId};
use meshwork::topology::Node;

/// Owned copy of an event of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct RunEvent {
    pub at: Time,
    /// Index of the job in order of arrival; `NOBODY` if the event concerns a node.
    pub id: JobId,
    pub what: EventKind,
}

#[derive(Clone, Debug, PartialEq)]
pub enum EventKind {
    Arrived(Job),
    /// The job would not fit even the empty machine, and never joins the queue.
    Refused(Job),
    /// The scheduler removed the waiting job from the queue for good.
    TurnedAway,
    Started {
        site: usize,
        placement: Placement,
    },
    Moved {
        placement: Placement,
    },
    Finished,
    /// An outage stopped the job. It waits in the queue again.
    Interrupted,
    Down {
        site: usize,
        node: Node,
    },
    Up {
        site: usize,
        node: Node,
    },
}

/// Job ID that stands for no job, in the events of nodes.
pub(crate) const NOBODY: JobId = JobId(u64::MAX);

impl RunEvent {
    /// Converts an event of the simulator. `None` if the event has no visible effect.
    pub fn of(now: Time, event: &Event<'_>) -> Option<RunEvent> {
        let (id, what) = match event {
            Event::Arrived(id, job) => (*id, EventKind::Arrived((*job).clone())),
            Event::Refused(id, job) => (*id, EventKind::Refused((*job).clone())),
            Event::TurnedAway(id, _) => (*id, EventKind::TurnedAway),
            Event::Started(run) => {
                (run.id, EventKind::Started { site: run.site, placement: run.placement.clone() })
            }
            Event::Moved { running, .. } => {
                (running.id, EventKind::Moved { placement: running.placement.clone() })
            }
            Event::Finished(run) => (run.id, EventKind::Finished),
            Event::Interrupted(run) => (run.id, EventKind::Interrupted),
            Event::Down { site, node } => (NOBODY, EventKind::Down { site: *site, node: *node }),
            Event::Up { site, node } => (NOBODY, EventKind::Up { site: *site, node: *node }),
            _ => return None,
        };
        Some(RunEvent { at: now, id, what })
    }
}
