//! Expected ends of running jobs.

use crate::job::Time;
use crate::network::{Ending, RunKey};
use crate::observe::{JobId, Running};

/// Expected end of a running job, and the number of nodes that it then releases. A walk along the
/// ends can therefore count free nodes without reading the jobs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct End {
    pub(super) at: Time,
    pub(super) key: RunKey,
    pub(super) site: u32,
    pub(super) held: u32,
}

/// Expected ends of all running jobs, along which scheduling passes walk.
pub(super) type Ends = crate::network::Ends<End>;

impl End {
    pub(super) fn of(slot: usize, ran: &Running) -> End {
        let key = RunKey { id: ran.id, slot: slot as u32 };
        End { at: ran.expected_end, key, site: ran.site as u32, held: ran.held }
    }
}

impl Ending for End {
    #[inline(always)]
    fn order(&self) -> (Time, JobId) {
        (self.at, self.key.id)
    }
}
