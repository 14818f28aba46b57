//! Reservations of waiting jobs.

use crate::job::{Job, Request, Time};
use crate::machine::{CellLimits, Placement};
use crate::sizing::Size;

/// When and where a waiting job would start if running jobs ended at their estimates.
#[derive(Clone, Debug, PartialEq)]
pub struct Reservation {
    /// When the reservation starts.
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
    /// When the reserved nodes are free again, by the job's estimate. This instant is rounded like
    /// the end of a job that starts at the reserved instant. A job of no length holds its nodes
    /// until the next representable instant.
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
/// Where any nodes will do, only their number is reserved, as in textbook backfilling. Where shape
/// matters, a placement is reserved. If only a number and a start were promised, the job might not
/// find its block at that start: free nodes may have the wrong shape, or the allocator may miss a
/// free block.
#[derive(Clone, Debug, PartialEq)]
pub enum Hold {
    /// A fixed placement: exactly these nodes.
    Nodes(Placement),
    /// A number of nodes, for which any free nodes will do.
    ///
    /// It is given as a request of the size that is reserved, in the form that the site's allocator
    /// needs.
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

/// A protected reservation: other jobs start only if they do not delay it.
#[derive(Clone, Debug)]
pub struct Guard {
    /// The protected reservation; its start is EASY's *shadow time*.
    pub reservation: Reservation,
    /// EASY's *extra nodes*: nodes that are free at the shadow time and not needed by the reserved
    /// job.
    ///
    /// They are used only where only node counts matter.
    pub(super) extra_nodes: u64,
    /// Amount that the power cap leaves to other jobs from the reserved start on. `u64::MAX`
    /// without a cap.
    pub(super) headroom: u64,
    /// Limits for other jobs on the reserved nodes; `None` where jobs do not share nodes.
    pub(super) beside: Option<Box<BesideParts>>,
}

/// For each reserved node, the amounts that other jobs may hold beyond the reserved start.
///
/// For machines on which jobs share nodes. An amount is a number of processors or GPUs, or a size
/// of memory.
#[derive(Clone, Debug)]
pub(super) struct BesideParts {
    /// Index of the site of the reserved nodes.
    pub(super) site: usize,
    /// Identifier of the limits in this struct; copies have the same number.
    pub(super) number: u64,
    /// For each resource of a reserved node, the amount left for other jobs at the reserved start.
    pub(super) limits: CellLimits,
}

impl BesideParts {
    /// Lowers the limits by what a job holds of the reserved nodes.
    ///
    /// The caller has found that the job runs beyond the reserved start.
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
    /// Whether the reservation holds parts of nodes (some of their processors, memory or GPUs).
    pub(crate) fn is_of_parts(&self) -> bool {
        self.beside.is_some()
    }

    pub(super) fn of_nodes(reservation: Reservation) -> Guard {
        Guard { reservation, extra_nodes: 0, headroom: u64::MAX, beside: None }
    }

    /// Creates the guard of a reservation that reserves a number of nodes of a site from `at` on.
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

    /// Lowers the amount that the power cap leaves to other jobs at the reserved start.
    ///
    /// `draw` is the amount that another job holds beyond the reserved start.
    pub(super) fn take_headroom(&mut self, draw: u64) {
        if self.headroom < u64::MAX {
            self.headroom -= draw;
        }
    }
}
