//! Tofu: the six-dimensional mesh and torus of the K computer and Fugaku.

use super::{PROCESSORS, SIDES, Topology, TopologyEntry, TopologyError, Wiring, several};
use crate::registry::About;

pub(crate) static ENTRY: TopologyEntry = TopologyEntry::new(
    About::new("tofu", "groups of 2 × 3 × 2 nodes inside a torus of three dimensions")
        .definition(
            "A grid of six dimensions: a group of 2 × 3 × 2 nodes, whose side of three is a ring, \
             at each point of a torus with the sides `dims`. Dimensions 0 to 2 are those of the \
             group, so its twelve nodes have numbers in a row. It is a grid, on which a block may \
             go around the edge of a ring, and every allocator for tori works.",
        )
        .complexity("10 links at every node where the outer sides are above 2.")
        .source(
            "Ajima, Sumimoto & Shimizu, Tofu: a 6D mesh/torus interconnect for \
             exascale computers, IEEE Computer 42(11), 2009",
        )
        .params(&[SIDES, PROCESSORS]),
    |p| {
        let tofu = Topology::tofu(&p.integers("dims"));
        several(p, tofu.map_err(|error| p.problem("dims", error.to_string()))?)
    },
);

impl Topology {
    /// A tofu: groups of 2 × 3 × 2 nodes at the points of a torus of up to three dimensions.
    /// `sides` are the sides of this torus.
    ///
    /// ```
    /// use meshwork::topology::Topology;
    /// let tofu = Topology::tofu(&[4, 3, 2]).unwrap();
    /// assert_eq!((tofu.nodes(), tofu.grid().dimensions()), (288, 6));
    /// ```
    ///
    /// # Errors
    /// If there are no sides or more than three, a side is 0, or there are too many nodes.
    pub fn tofu(sides: &[u32]) -> Result<Topology, TopologyError> {
        if sides.is_empty() || sides.len() > 3 {
            return Err(TopologyError::Tofu { given: sides.len() });
        }
        let mut all = vec![2, 3, 2];
        all.extend(sides.iter().chain(&[1, 1, 1]).take(3));
        let rings = [false, true, false, true, true, true];
        let text = all[3..].iter().map(u32::to_string).collect::<Vec<_>>().join(" × ");
        Topology::gridded(Wiring::Torus, &all, &rings, Some(format!("{text} tofu")))
    }
}
