//! Fastest-first selector: the fastest site on which the job fits.

use super::{Selector, SelectorEntry};
use crate::job::Job;
use crate::offer::{Offers, Proposal, SiteFit};
use crate::registry::About;
use crate::rng::Stream;

/// Registry entry of the selector `fastest_first`.
pub static ENTRY: SelectorEntry = SelectorEntry::new(
    About::new("fastest_first", "the fastest site that has room; of equal ones the first")
        .aliases(&["fastest"])
        .definition(
            "Of the sites that have room for the job, it goes to the fastest; of equal \
             ones to the first.",
        )
        .complexity("One question for each site.")
        .source(
            "Shih, Huang & Chung, Improving processor allocation in heterogeneous computing grid \
             through considering both speed heterogeneity and resource fragmentation, section 2",
        ),
    |_| Ok(Box::new(FastestFirst)),
);

struct FastestFirst;

impl Selector for FastestFirst {
    fn select(
        &mut self,
        _job: &Job,
        offers: &mut Offers<'_>,
        _rng: &mut Stream,
    ) -> Option<Proposal> {
        let fit = fastest(&offers.fits())?;
        offers.at(fit.site)
    }

    fn fork(&self) -> Box<dyn Selector> {
        Box::new(FastestFirst)
    }
}

/// Site with the highest speed among those on which the job fits; ties go to the first.
#[must_use]
pub(super) fn fastest(fits: &[SiteFit]) -> Option<SiteFit> {
    fits.iter().min_by(|a, b| b.speed.total_cmp(&a.speed)).copied()
}
