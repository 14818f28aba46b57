//! What else could start: the question that `adaptive` and `intelligent` ask of either choice.

use super::best_fit::tightest;
use crate::job::Job;
use crate::offer::{Offers, Room};
use crate::registry::{DefaultValue, Param, Params, Words};

/// How far the walk along the queue goes.
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

/// The parameter that says so.
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

    /// What could start next if `job` were started in this room: the other waiting jobs, in order of
    /// arrival, each by best fit.
    ///
    /// # Complexity
    /// A look at each site for each job that the walk comes to: at most **O(q)** for *q* waiting
    /// jobs, and with `Stop` no further than the first that cannot start.
    pub(super) fn beside(self, offers: &mut Offers<'_>, job: &Job, room: &Room) -> Beside {
        let queue = offers.queue();
        let mut ahead = offers.ahead();
        let mut beside = Beside { jobs: 0, capacity: 0.0 };
        if !ahead.start(job, room) {
            return beside;
        }
        for other in queue.others() {
            if ahead.is_full() {
                break;
            }
            let Some(room) = tightest(&ahead.rooms(other)) else {
                if self == LookAhead::Stop {
                    break;
                }
                continue;
            };
            if self != LookAhead::Independent && !ahead.start(other, &room) {
                break;
            }
            beside.jobs += 1;
            beside.capacity += room.capacity();
        }
        beside
    }
}

/// What could start next beside a job.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Beside {
    /// How many jobs.
    pub jobs: u64,
    /// The computing capacity that they consume: processors times their speed, summed.
    pub capacity: f64,
}
