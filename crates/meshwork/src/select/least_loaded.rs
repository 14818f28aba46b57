//! Least-loaded selector: the site with the smallest fraction of its processors held.

use super::{Best, SelectorEntry};
use crate::offer::SiteFit;
use crate::registry::About;

/// Registry entry of the selector `least_loaded`.
pub static ENTRY: SelectorEntry = SelectorEntry::new(
    About::new(
        "least_loaded",
        "the site of whose processors the smallest share is held; then the fastest, then the first",
    )
    .definition(
        "Of the sites that have room for the job, it goes to the one with the smallest share of \
         its processors held; of equal ones to the fastest, then to the first.",
    )
    .complexity("One question for each site.")
    .source("general: sharing load, for comparison"),
    |_| Ok(Box::new(Best(idlest))),
);

/// Site with the largest fraction of free processors; ties go to the faster, then to the first.
fn idlest(fits: &[SiteFit]) -> Option<SiteFit> {
    // Compares a.free / a.nodes and b.free / b.nodes without a division.
    let share = |a: &SiteFit, b: &SiteFit| u64::from(a.free) * u64::from(b.nodes);
    let idler = |a: &SiteFit, b: &SiteFit| share(b, a).cmp(&share(a, b));
    let faster = |a: &SiteFit, b: &SiteFit| b.speed.total_cmp(&a.speed);
    fits.iter().min_by(|a, b| idler(a, b).then_with(|| faster(a, b))).copied()
}
