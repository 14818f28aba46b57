//! When running jobs end, by their estimates.

use std::collections::BTreeSet;

use crate::job::Time;
use crate::network::RunKey;
use crate::observe::Running;

/// The end of a running job that its estimate promises, and what is given back then. Whoever counts processors along
/// these looks at no job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct End {
    pub(super) at: Time,
    pub(super) key: RunKey,
    pub(super) site: u32,
    pub(super) held: u32,
}

/// The ends of all running jobs, in order of time.
pub(super) type Ends = BTreeSet<End>;

impl End {
    /// That of the job in this slot.
    pub(super) fn of(slot: usize, ran: &Running) -> End {
        let key = RunKey { id: ran.id, slot: slot as u32 };
        End { at: ran.expected_end, key, site: ran.site as u32, held: ran.held }
    }
}
