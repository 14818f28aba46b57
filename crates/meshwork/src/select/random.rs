//! Random selector: draws one of the sites on which the job fits, all equally likely.

use super::{Selector, SelectorEntry};
use crate::job::Job;
use crate::offer::{Offers, Proposal};
use crate::registry::About;
use crate::rng::Stream;

/// Registry entry of the selector `random`.
pub static ENTRY: SelectorEntry = SelectorEntry::new(
    About::new("random", "any site that has room, all with the same probability")
        .definition(
            "Of the sites that have room for the job, it goes to any, all with the \
             same probability, drawn from a stream of its own.",
        )
        .complexity("One question for each site.")
        .source("general: a floor for comparison"),
    |_| Ok(Box::new(Random)),
);

struct Random;

impl Selector for Random {
    fn select(&mut self, _: &Job, offers: &mut Offers<'_>, rng: &mut Stream) -> Option<Proposal> {
        let fits = offers.fits();
        match fits.as_slice() {
            [] => None,
            [only] => offers.at(only.site),
            several => offers.at(several[rng.below(several.len() as u64) as usize].site),
        }
    }

    fn fork(&self) -> Box<dyn Selector> {
        Box::new(Random)
    }
}
