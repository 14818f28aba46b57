//! When running jobs end, by their estimates.

use crate::job::Time;
use crate::network::{Ending, RunKey};
use crate::observe::{JobId, Running};

/// The end of a running job that its estimate promises, and what is given back then. Whoever counts processors along
/// these looks at no job.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct End {
    pub(super) at: Time,
    pub(super) key: RunKey,
    pub(super) site: u32,
    pub(super) held: u32,
}

/// Those of all running jobs: they are walked along in every pass.
pub(super) type Ends = crate::network::Ends<End>;

impl End {
    /// That of the job in this slot.
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
