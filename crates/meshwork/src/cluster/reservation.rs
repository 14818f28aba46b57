//! Reservations of waiting jobs.

use crate::job::{Job, Request, Time};
use crate::machine::{CellLimits, Placement};
use crate::sizing::Size;

/// When and where a waiting job would start if running jobs ended at their estimates.
#[derive(Clone, Debug, PartialEq)]
pub struct Reservation {
    /// Instant at which the reservation starts.
    pub at: Time,
    /// Run time of the job on the reserved nodes: its estimate times `stretch`.
    pub span: f64,
    /// Run time of the job on the reserved site, divided by its estimate.
    pub stretch: f64,
    /// Index of the site of the reserved nodes.
    pub site: usize,
    /// The reserved nodes, or their number.
    pub hold: Hold,
}

impl Reservation {
    /// Instant at which the reserved nodes are free again if the job runs for its estimate.
    ///
    /// The instant is rounded like the end of a job. A job of zero length holds its nodes until the
    /// next representable instant.
    #[must_use]
    pub fn until(&self) -> Time {
        (self.at + self.span).max(self.at.next())
    }

    /// Returns a copy of this reservation that starts at another instant.
    #[must_use]
    pub fn moved_to(&self, at: Time) -> Reservation {
        Reservation { at, ..self.clone() }
    }
}

/// The nodes of a reservation.
///
/// If the job can run on any free nodes, only their number is reserved, as in textbook backfilling.
/// If shape matters, a placement is reserved. A number of free nodes would then not be enough.
#[derive(Clone, Debug, PartialEq)]
pub enum Hold {
    /// A fixed placement: exactly its nodes are reserved.
    Nodes(Placement),
    /// A number of nodes, any of which will do. The request is in the form that the site's
    /// allocator uses.
    Count(Request),
}

impl Hold {
    /// Number of reserved nodes.
    #[must_use]
    pub fn nodes(&self) -> u64 {
        match self {
            Hold::Count(request) => request.nodes(),
            Hold::Nodes(placement) => u64::from(placement.len()),
        }
    }
}

/// A protected reservation. Other jobs start only if they do not delay it.
#[derive(Clone, Debug)]
pub struct Guard {
    /// The protected reservation. Its start is EASY's *shadow time*.
    pub reservation: Reservation,
    /// EASY's *extra nodes*: nodes free at the shadow time that the reserved job does not need.
    pub(super) extra_nodes: u64,
    /// Amount that the power cap leaves to other jobs from the reserved start on; `u64::MAX`
    /// without a cap.
    pub(super) headroom: u64,
    pub(super) beside: Option<Box<BesideParts>>,
}

/// Limits on the amounts of each reserved node that other jobs may hold after the reserved start.
#[derive(Clone, Debug)]
pub(super) struct BesideParts {
    pub(super) site: usize,
    /// Identifier of these limits. A copy of the limits has the same number.
    pub(super) number: u64,
    pub(super) limits: CellLimits,
}

impl BesideParts {
    /// Subtracts the amounts in `placement` from what further jobs may hold of the reserved nodes.
    ///
    /// A job holds the amounts in `placement` beyond the reserved start.
    pub(super) fn take(&mut self, placement: &Placement) {
        let parts = placement.parts.as_deref().map_or(&[][..], |parts| &parts.parts);
        for part in parts {
            for (node, cell, left) in &mut self.limits {
                let held = part.cells.iter().filter(|(at, _)| *node == part.node && at == cell);
                *left -= held.map(|(_, amount)| amount).sum::<u32>().min(*left);
            }
        }
    }
}

impl Guard {
    pub(crate) fn is_of_parts(&self) -> bool {
        self.beside.is_some()
    }

    pub(super) fn of_nodes(reservation: Reservation) -> Guard {
        Guard { reservation, extra_nodes: 0, headroom: u64::MAX, beside: None }
    }

    #[inline]
    pub(super) fn of_count(
        job: &Job,
        site: usize,
        size: Size,
        extra_nodes: u64,
        at: Time,
    ) -> Guard {
        let Size { request, stretch } = size;
        let (span, hold) = (job.estimate * stretch, Hold::Count(request));
        let reservation = Reservation { at, span, stretch, site, hold };
        Guard { reservation, extra_nodes, headroom: u64::MAX, beside: None }
    }

    /// Reduces the amount that the power cap leaves to other jobs from the reserved start on.
    ///
    /// `draw` is the amount that a newly started job will still hold then. Without a power cap,
    /// nothing changes.
    pub(super) fn take_headroom(&mut self, draw: u64) {
        if self.headroom < u64::MAX {
            self.headroom -= draw;
        }
    }
}
