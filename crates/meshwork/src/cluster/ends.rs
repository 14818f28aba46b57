//! Expected ends of running jobs and of outages.

use slab::Slab;

use crate::job::Time;
use crate::machine::Placement;
use crate::network::{Ending, RunKey};
use crate::observe::{JobId, Running};

/// Expected end of a running job or an outage. The number of nodes is stored too, so that searches
/// need not read the job.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct End {
    pub(super) at: Time,
    /// The job's identifier, or the index of the outage.
    number: u64,
    /// Index of the job in the list of running jobs, or of the outage in the list of nodes out of
    /// service.
    pub(super) slot: u32,
    pub(super) site: u32,
    pub(super) held: u32,
    pub(super) is_outage: bool,
}

pub(super) type Ends = crate::network::Ends<End>;

/// A node or GPU that is out of service and expected back.
pub(super) struct OutOfService {
    pub(super) site: usize,
    pub(super) placement: Placement,
    pub(super) since: Time,
    pub(super) until: Time,
}

/// Nodes that are busy until an expected instant, and the job or outage that holds them.
#[derive(Clone, Copy, Debug)]
pub struct BusyNodes<'a> {
    /// Index of the site of the nodes.
    pub site: usize,
    /// Nodes that a job holds, or that are out of service.
    pub placement: &'a Placement,
    /// Instant at which the job started or the outage began.
    pub since: Time,
    /// When the nodes are expected to be free. This instant may already have passed.
    pub until: Time,
    /// The job that holds the nodes; `None` if they are out of service.
    pub job: Option<RunKey>,
}

impl End {
    pub(super) fn of(slot: usize, ran: &Running) -> End {
        End {
            at: ran.expected_end,
            number: ran.id.0,
            slot: slot as u32,
            site: ran.site as u32,
            held: ran.held,
            is_outage: false,
        }
    }

    pub(super) fn of_outage(slot: usize, out: &OutOfService) -> End {
        End {
            at: out.until,
            number: slot as u64,
            slot: slot as u32,
            site: out.site as u32,
            held: out.placement.len(),
            is_outage: true,
        }
    }

    /// Key of the running job that ends. It has no meaning for an outage.
    pub(super) fn key(&self) -> RunKey {
        RunKey { id: JobId(self.number), slot: self.slot }
    }
}

pub(super) fn held_at<'a>(
    running: &'a Slab<Box<Running>>,
    out: &'a Slab<OutOfService>,
    end: &End,
) -> &'a Placement {
    match end.is_outage {
        true => &out[end.slot as usize].placement,
        false => &running[end.slot as usize].placement,
    }
}

impl Ending for End {
    /// Key by which expected ends are sorted: by time, then ends of jobs before ends of outages.
    #[inline(always)]
    fn order(&self) -> (Time, u64) {
        (self.at, self.number | u64::from(self.is_outage) << 63)
    }
}
