//! Promises to waiting jobs.

use crate::job::{Job, Request, Time};
use crate::machine::Placement;
use crate::sizing::Size;

/// When and where a waiting job would start if running jobs ended at their estimates.
#[derive(Clone, Debug, PartialEq)]
pub struct Reservation {
    /// When it would start.
    pub at: Time,
    /// How long it would run, by its estimate, stretched as there.
    pub span: f64,
    /// How many times longer than it asked for it would run there.
    pub stretch: f64,
    /// On which site.
    pub site: usize,
    /// On which processors.
    pub hold: Hold,
}

impl Reservation {
    /// When its processors are free again, by the job's estimate: the same sum, bit for bit, as
    /// when the job starts then. A job of no time needs them for as long as can be told.
    #[must_use]
    pub fn until(&self) -> Time {
        (self.at + self.span).max(self.at.next())
    }

    /// The same reservation at another instant.
    #[must_use]
    pub fn moved_to(&self, at: Time) -> Reservation {
        Reservation { at, ..self.clone() }
    }
}

/// The processors of a reservation.
///
/// A promise of a time alone is broken by an allocator that can miss a free block, or that needs
/// one shape free among many; so where shape matters the promise is a placement. Where any
/// processors will do a placement is as good as any other of its size, and the promise is a count:
/// this is the backfilling of the textbooks.
#[derive(Clone, Debug, PartialEq)]
pub enum Hold {
    /// These nodes.
    Nodes(Placement),
    /// As many as this, whichever they are: one of the job's sizes, in the form that the site's
    /// allocator asks for.
    Count(Request),
}

impl Hold {
    /// How many processors it holds.
    pub(super) fn nodes(&self) -> u64 {
        match self {
            Hold::Count(request) => request.nodes(),
            Hold::Nodes(placement) => u64::from(placement.len()),
        }
    }
}

/// A reservation that other jobs are started beside.
#[derive(Clone, Debug)]
pub struct Guard {
    /// What was promised; its instant is EASY's *shadow time*.
    pub reservation: Reservation,
    /// EASY's *extra nodes*: how many would be left over at the shadow time, where only their number matters.
    pub(super) extra_nodes: u64,
    /// How many processors besides may be held from the promised start on, under a cap on what the machine takes.
    pub(super) headroom: u64,
}

impl Guard {
    /// Protects the nodes of a reservation.
    pub(super) fn of_nodes(reservation: Reservation) -> Guard {
        Guard { reservation, extra_nodes: 0, headroom: u64::MAX }
    }

    /// Protects the processors of this size on a site from then on, when so many are left over.
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
        Guard { reservation, extra_nodes, headroom: u64::MAX }
    }

    /// So many processors more are held beyond the promised start.
    pub(super) fn take_headroom(&mut self, held: u32) {
        if self.headroom < u64::MAX {
            self.headroom -= u64::from(held);
        }
    }
}
