//! Look-ahead of the selectors `adaptive` and `intelligent`: which waiting jobs could start next.

use super::best_fit::tightest;
use crate::job::Job;
use crate::offer::{Offers, SiteFit};
use crate::registry::{Param, Params, Words};

/// Extent of the look-ahead along the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LookAhead {
    /// The look-ahead ends at the first job that fits on no site.
    Stop,
    /// The look-ahead covers the whole queue, and passes over jobs that fit on no site.
    Skip,
    /// The look-ahead covers the whole queue, and treats each job as if no other waiting job
    /// started.
    Independent,
}

static LOOK_AHEADS: Words<LookAhead, 3> = Words::new([
    ("stop", LookAhead::Stop),
    ("skip", LookAhead::Skip),
    ("independent", LookAhead::Independent),
]);

pub(super) const LOOKAHEAD: Param =
    Param::new("lookahead", LOOK_AHEADS.kind()).is("\"stop\"").help(
        "which of the other waiting jobs count as started next: those up to the first that fits \
         nowhere, all that fit one after another, or all that would fit if each alone came next",
    );

impl LookAhead {
    pub(super) fn of(params: &Params) -> LookAhead {
        params.meaning(LOOKAHEAD.name, &LOOK_AHEADS)
    }

    /// Counts the waiting jobs that could start by best fit after `job`, and sums their capacity.
    ///
    /// It is assumed that `job` starts on the site of `fit`. The cost is one evaluation of each
    /// site for each waiting job that is tried.
    pub(super) fn beside(self, offers: &mut Offers<'_>, job: &Job, fit: &SiteFit) -> Beside {
        let queue = offers.queue();
        let mut ahead = offers.ahead();
        let mut beside = Beside { jobs: 0, capacity: 0.0 };
        if !ahead.start(job, fit) {
            return beside;
        }
        for other in queue.others() {
            if ahead.is_full() {
                break;
            }
            let Some(fit) = tightest(&ahead.fits(other)) else {
                if self == LookAhead::Stop {
                    break;
                }
                continue;
            };
            if self != LookAhead::Independent && !ahead.start(other, &fit) {
                break;
            }
            beside.jobs += 1;
            beside.capacity += fit.capacity();
        }
        beside
    }
}

/// Number and computing capacity of the waiting jobs that could start after a given job.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Beside {
    pub jobs: u64,
    /// Total computing capacity of the waiting jobs that could start. The capacity of a job is its
    /// number of processors times the speed of its site.
    pub capacity: f64,
}
