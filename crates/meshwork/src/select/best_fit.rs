//! Best-fit selector: the site on which the job leaves the fewest processors free.

use super::{Best, SHIH, SelectorEntry};
use crate::offer::SiteFit;
use crate::registry::About;

/// Registry entry of the selector `best_fit`.
pub static ENTRY: SelectorEntry = SelectorEntry::new(
    About::new(
        "best_fit",
        "the site on which the job leaves the fewest processors free; then the \
             fastest, then the first",
    )
    .aliases(&["bf"])
    .definition(
        "Of the sites that have room for the job, it goes to the one with the fewest processors \
         left free beside it; of equal ones to the fastest, then to the first.",
    )
    .complexity("One question for each site.")
    .source(SHIH),
    |_| Ok(Box::new(Best(tightest))),
);

/// Site on which the job would leave the fewest processors free. Ties go to the site with the
/// higher speed, then to the first one.
pub(super) fn tightest(fits: &[SiteFit]) -> Option<SiteFit> {
    let faster = |a: &SiteFit, b: &SiteFit| b.speed.total_cmp(&a.speed);
    fits.iter().min_by(|a, b| a.left().cmp(&b.left()).then_with(|| faster(a, b))).copied()
}
