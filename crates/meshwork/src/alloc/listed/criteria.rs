//! Criteria of the allocator `anchors`, which decide between free boxes of equal size.
//!
//! Each criterion keeps the best of the boxes that the criteria before it have kept.

use crate::registry::{About, Family};

/// Criterion by which some of the free boxes for a job are preferred to others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Criterion {
    /// Prefers the box whose heaviest node has the lowest weight.
    Weight,
    /// Prefers the box that overlaps the fewest free boxes of the next larger size.
    ///
    /// This criterion does not compare boxes of different listed shapes.
    NextSizeDestroyed,
    /// Adds up the sizes of all larger free boxes that a box overlaps, and prefers the lowest sum.
    LargerSizesDestroyed,
    /// Prefers the box with the fewest free nodes beside its faces.
    Boundary,
    /// Prefers the box whose neighbouring nodes have the greatest total estimated remaining run
    /// time.
    NeighboursRemaining,
    /// Prefers boxes of the torus that has the fewest free nodes.
    FewestIdleTorus,
    /// Prefers boxes in the torus with the most free nodes.
    MostIdleTorus,
    /// Prefers the box that comes first in the list. This is always the last criterion.
    Order,
}

impl Criterion {
    /// All criteria for the selection of a box, each with its description.
    pub const ALL: [(&'static About, Criterion); 8] = [
        (&WEIGHT, Criterion::Weight),
        (&NEXT_SIZE_DESTROYED, Criterion::NextSizeDestroyed),
        (&LARGER_SIZES_DESTROYED, Criterion::LargerSizesDestroyed),
        (&BOUNDARY, Criterion::Boundary),
        (&NEIGHBOURS_REMAINING, Criterion::NeighboursRemaining),
        (&FEWEST_IDLE_TORUS, Criterion::FewestIdleTorus),
        (&MOST_IDLE_TORUS, Criterion::MostIdleTorus),
        (&ORDER, Criterion::Order),
    ];

    /// The criteria by which Slurm selects boxes, in the order in which Slurm applies them.
    pub const SLURM: [Criterion; 4] = [
        Criterion::Weight,
        Criterion::NextSizeDestroyed,
        Criterion::FewestIdleTorus,
        Criterion::Order,
    ];

    /// Returns the criterion for the selection of a box that has the given name.
    ///
    /// ```
    /// use meshwork::alloc::listed::criteria::Criterion;
    /// assert_eq!(Criterion::named("weight"), Some(Criterion::Weight));
    /// assert_eq!(Criterion::named("wait"), None);
    /// ```
    #[must_use]
    pub fn named(name: &str) -> Option<Criterion> {
        Criterion::ALL.iter().find(|(own, _)| own.name == name).map(|&(_, criterion)| criterion)
    }

    pub(super) fn compares_entries(self) -> bool {
        !matches!(
            self,
            Criterion::NextSizeDestroyed | Criterion::LargerSizesDestroyed | Criterion::Order
        )
    }

    /// Whether the criterion can prefer one box to another box of the same shape.
    pub(super) fn tells_places_apart(self) -> bool {
        !matches!(self, Criterion::FewestIdleTorus | Criterion::MostIdleTorus)
    }
}

/// The family of criteria that decide between free boxes. A study selects a criterion by its name.
pub static FAMILY: Family = Family {
    kind: "criterion",
    key: "name",
    entries: || Criterion::ALL.iter().map(|(about, _)| *about).collect(),
    common: &[],
};

const fn about(name: &'static str, summary: &'static str, definition: &'static str) -> About {
    About::new(name, summary).definition(definition).complexity("O(n) for n nodes.").source(
        "the choice of Slurm 26.05 in topology/torus3d, and what operators may try beside it",
    )
}

static WEIGHT: About =
    about("weight", "the lightest heaviest node", "A box is as heavy as its heaviest node.");
static NEXT_SIZE_DESTROYED: About = about(
    "next_size_destroyed",
    "the fewest boxes of the next larger size broken",
    "Free boxes of the first placement that is larger are counted that the box meets; boxes of one placement alone are compared.",
);
static LARGER_SIZES_DESTROYED: About = about(
    "larger_sizes_destroyed",
    "the fewest nodes of larger boxes broken",
    "Free boxes of all larger placements are counted that the box meets, each as often as it has nodes; boxes of one placement alone are compared.",
);
static BOUNDARY: About = about(
    "boundary",
    "the most held nodes around",
    "Free nodes at the faces of the box are counted, and the fewer the better.",
);
static NEIGHBOURS_REMAINING: About = about(
    "neighbours_remaining",
    "the longest remaining run times of the neighbours",
    "For each held node at the faces of the box the run time that is left to its job by its estimate is summed, and the \
     more the better: room between jobs that are about to end is kept for what is larger. Nodes of whom no end is known \
     count nothing.",
);
static FEWEST_IDLE_TORUS: About = about(
    "fewest_idle_torus",
    "the fullest torus",
    "The torus with the fewest free nodes is taken.",
);
static MOST_IDLE_TORUS: About =
    about("most_idle_torus", "the emptiest torus", "The torus with the most free nodes is taken.");
static ORDER: About = about(
    "order",
    "the earliest in the list",
    "What stands first is taken: this decides at last in any case.",
);
