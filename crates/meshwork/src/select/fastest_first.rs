//! Fastest-first selector: the fastest site on which the job fits.

use super::{Best, SHIH, SelectorEntry};
use crate::offer::SiteFit;
use crate::registry::About;

/// Registry entry of the selector `fastest_first`.
pub static ENTRY: SelectorEntry = SelectorEntry::new(
    About::new("fastest_first", "the fastest site that has room; of equal ones the first")
        .aliases(&["fastest"])
        .definition(
            "Of the sites that have room for the job, it goes to the fastest; of equal \
             ones to the first.",
        )
        .complexity("One question for each site.")
        .source(SHIH),
    |_| Ok(Box::new(Best(fastest))),
);

/// Site with the highest speed among those on which the job fits; ties go to the first.
pub(super) fn fastest(fits: &[SiteFit]) -> Option<SiteFit> {
    fits.iter().min_by(|a, b| b.speed.total_cmp(&a.speed)).copied()
}
