//! Adaptive selector: best fit or fastest first, whichever lets more waiting jobs start.

use super::best_fit::tightest;
use super::fastest_first::fastest;
use super::lookahead::{LOOKAHEAD, LookAhead};
use super::{Selector, SelectorEntry};
use crate::job::Job;
use crate::offer::{Offers, Proposal};
use crate::registry::About;
use crate::rng::Stream;

/// Registry entry of the selector `adaptive`.
pub static ENTRY: SelectorEntry = SelectorEntry::new(
    About::new(
        "adaptive",
        "best fit or fastest first, whichever lets more of the other waiting jobs \
             start now; of equals fastest first",
    )
    .aliases(&["ad"])
    .definition(
        "Best fit and fastest first both name a site. Where they differ, the rest \
             of the queue is placed by best fit beside either choice, and the choice \
             beside which more jobs could start is taken; of equals fastest first.",
    )
    .complexity(
        "Where the choices differ, twice a walk along the queue: O(q) looks at \
             each site for q waiting jobs.",
    )
    .source(
        "Huang, Shih & Chung, Towards feasible and effective load sharing in a \
             heterogeneous computational grid, GPC 2007",
    )
    .params(&[LOOKAHEAD]),
    |params| Ok(Box::new(Adaptive { lookahead: LookAhead::of(params) })),
);

/// Selector that uses best fit or fastest first, whichever lets more of the other waiting jobs
/// start. Ties go to fastest first.
#[derive(Clone)]
struct Adaptive {
    lookahead: LookAhead,
}

impl Selector for Adaptive {
    fn select(&mut self, job: &Job, offers: &mut Offers<'_>, _: &mut Stream) -> Option<Proposal> {
        let fits = offers.fits();
        let (tight, fast) = (tightest(&fits)?, fastest(&fits)?);
        if tight.site == fast.site {
            return offers.at(tight.site);
        }
        let mut others = |fit| self.lookahead.beside(offers, job, fit).jobs;
        let more_beside_tight = others(&tight) > others(&fast);
        offers.at(if more_beside_tight { tight.site } else { fast.site })
    }

    fn fork(&self) -> Box<dyn Selector> {
        Box::new(self.clone())
    }
}
