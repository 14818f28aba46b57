//! First-fit selector: the first site on which the job fits, in the order of the study.

use super::{Selector, SelectorEntry};
use crate::job::Job;
use crate::offer::{Offers, Proposal};
use crate::registry::About;
use crate::rng::Stream;

/// Registry entry of the selector `first_fit`.
pub static ENTRY: SelectorEntry = SelectorEntry::new(
    About::new(
        "first_fit",
        "the first site, in the order of the study, whose allocator finds room",
    )
    .aliases(&["ff"])
    .definition(
        "Sites are asked in the order of the study, and the first whose allocator \
             finds room for the job gets it.",
    )
    .complexity("At most one question for each site.")
    .source(
        "Shih, Huang & Chung, Improving processor allocation in heterogeneous computing grid \
         through considering both speed heterogeneity and resource fragmentation, section 3",
    ),
    |_| Ok(Box::new(FirstFit)),
);

struct FirstFit;

impl Selector for FirstFit {
    fn select(&mut self, _: &Job, offers: &mut Offers<'_>, _: &mut Stream) -> Option<Proposal> {
        (0..offers.sites()).find_map(|site| offers.at(site))
    }

    fn fork(&self) -> Box<dyn Selector> {
        Box::new(FirstFit)
    }
}
