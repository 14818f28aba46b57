//! What decides between places of one size: a list of criteria, each of which leaves the best of what those
//! before it have left.

/// One thing that makes a place better than another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Criterion {
    /// The lighter its heaviest node.
    Weight,
    /// The fewer free places of the next larger size it breaks. Places of different shapes are not compared by it.
    NextSizeDestroyed,
    /// The fewer nodes it costs the free places of all larger sizes: the sizes of those that it breaks, summed.
    /// Places of different shapes are not compared by it.
    LargerSizesDestroyed,
    /// The more of what it touches is held.
    Boundary,
    /// The fewer nodes are free in its torus.
    FewestIdleTorus,
    /// The more nodes are free in its torus.
    MostIdleTorus,
    /// The earlier it stands in the list; this always decides at last.
    Order,
}

impl Criterion {
    /// Every criterion, by its name in studies.
    pub const ALL: [(&'static str, Criterion); 7] = [
        ("weight", Criterion::Weight),
        ("next_size_destroyed", Criterion::NextSizeDestroyed),
        ("larger_sizes_destroyed", Criterion::LargerSizesDestroyed),
        ("boundary", Criterion::Boundary),
        ("fewest_idle_torus", Criterion::FewestIdleTorus),
        ("most_idle_torus", Criterion::MostIdleTorus),
        ("order", Criterion::Order),
    ];

    /// What Slurm goes by.
    pub const SLURM: [Criterion; 4] = [
        Criterion::Weight,
        Criterion::NextSizeDestroyed,
        Criterion::FewestIdleTorus,
        Criterion::Order,
    ];

    /// The criterion of this name.
    ///
    /// ```
    /// use meshwork::alloc::listed::criteria::Criterion;
    /// assert_eq!(Criterion::named("weight"), Some(Criterion::Weight));
    /// assert_eq!(Criterion::named("wait"), None);
    /// ```
    #[must_use]
    pub fn named(name: &str) -> Option<Criterion> {
        Criterion::ALL.iter().find(|(own, _)| *own == name).map(|&(_, criterion)| criterion)
    }

    /// Whether places of different entries of the list are compared by it.
    pub(super) fn compares_entries(self) -> bool {
        !matches!(
            self,
            Criterion::NextSizeDestroyed | Criterion::LargerSizesDestroyed | Criterion::Order
        )
    }

    /// Whether it tells places of one entry apart.
    pub(super) fn tells_places_apart(self) -> bool {
        !matches!(self, Criterion::FewestIdleTorus | Criterion::MostIdleTorus)
    }
}
