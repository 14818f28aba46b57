//! Tori: grids in which every dimension is a ring.

use super::{PROCESSORS, SIDES, TopologyEntry, grid_of};
use crate::registry::{About, Kind, Param};

pub(crate) static ENTRY: TopologyEntry = TopologyEntry::new(
    About::new("torus", "a grid whose every dimension is a ring; with equal sides a k-ary n-cube")
        .definition(
            "A mesh in which the two ends of every line are neighbours too, so that \
             blocks go around the edge.",
        )
        .complexity(
            "2 d links at every node; the longest shortest way is the sum of the \
             halves of the sides.",
        )
        .source("Al-Kerboly, preliminaries")
        .params(&[
            SIDES,
            Param::new("wrap", Kind::Flags)
                .absent("true: every one does")
                .help("whether each dimension closes to a ring: one word for all, or one for each"),
            PROCESSORS,
        ]),
    |p| grid_of(p, true),
);
