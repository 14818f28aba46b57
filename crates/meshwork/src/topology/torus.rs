//! A grid whose every dimension is a ring.

use super::{SIDES, Topology, TopologyEntry};
use crate::registry::About;

/// Its entry in the list.
pub(crate) static ENTRY: TopologyEntry = TopologyEntry {
    about: About {
        name: "torus",
        aliases: &[],
        summary: "a grid whose every dimension is a ring; with equal sides a k-ary n-cube",
        definition: "A mesh in which the two ends of every line are neighbours too, so that \
                     blocks go around the edge.",
        complexity: "2 d links at every node; the longest shortest way is the sum of the halves \
                     of the sides.",
        source: "Al-Kerboly, preliminaries",
        params: &[SIDES],
    },
    build: |p| {
        Topology::torus(&p.integers("dims")).map_err(|error| p.problem("dims", error.to_string()))
    },
};
