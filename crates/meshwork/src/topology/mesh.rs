//! Meshes: grids without links around their edges.

use super::{PROCESSORS, SIDES, TopologyEntry, grid_of};
use crate::registry::{About, Kind, Param};

pub(crate) static ENTRY: TopologyEntry = TopologyEntry::new(
    About::new("mesh", "a grid of any number of dimensions")
        .aliases(&["grid"])
        .definition(
            "Nodes are the points of a grid with these sides; two are neighbours if they differ by \
             1 in one coordinate. Node numbers are in row-major order, dimension 0 fastest.",
        )
        .complexity(
            "2 d links at an inner node; the longest shortest way is the sum of the \
             sides less one each.",
        )
        .source("Chang & Mohapatra, section 2.1")
        .params(&[
            SIDES,
            Param::new("wrap", Kind::Flags)
                .absent("false: none does")
                .help("whether each dimension closes to a ring: one word for all, or one for each"),
            PROCESSORS,
        ]),
    |p| grid_of(p, false),
);
