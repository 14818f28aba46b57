//! Jobs that could start next: the estimate with which `adaptive` and `intelligent` compare sites.

use super::best_fit::tightest;
use crate::job::Job;
use crate::offer::{Offers, SiteFit};
use crate::registry::{DefaultValue, Param, Params, Words};

/// How far along the queue the estimate looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LookAhead {
    /// Up to the first job that fits nowhere: under first come, first served none behind it starts.
    Stop,
    /// To the end of the queue, past jobs that fit nowhere.
    Skip,
    /// To the end of the queue, each job as if it alone came next.
    Independent,
}

static LOOK_AHEADS: Words<LookAhead, 3> = Words::new([
    ("stop", LookAhead::Stop),
    ("skip", LookAhead::Skip),
    ("independent", LookAhead::Independent),
]);

/// The parameter `lookahead`.
pub(super) const LOOKAHEAD: Param = Param {
    name: "lookahead",
    kind: LOOK_AHEADS.kind(),
    default: DefaultValue::Is("\"stop\""),
    help: "which of the other waiting jobs count as started next: those up to the first that fits \
           nowhere, all that fit one after another, or all that would fit if each alone came next",
};

impl LookAhead {
    pub(super) fn of(params: &Params) -> LookAhead {
        params.meaning(LOOKAHEAD.name, &LOOK_AHEADS)
    }

    /// The other waiting jobs that could start next if `job` were started with the offer `fit`.
    /// They are tried in order of arrival, each placed by best fit.
    ///
    /// # Complexity
    /// One evaluation of each site for each job that is tried: at most **O(q)** for *q* waiting
    /// jobs, and with `Stop` no further than the first that cannot start.
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

/// The jobs that could start next beside a job.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Beside {
    /// Number of such jobs.
    pub jobs: u64,
    /// The computing capacity that they consume: processors times their speed, summed.
    pub capacity: f64,
}
