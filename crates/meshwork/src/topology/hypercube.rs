//! Hypercubes: grids with side 2 in every dimension.

use super::{PROCESSORS, Topology, TopologyEntry, several};
use crate::registry::{About, Kind, Param};

pub(crate) static ENTRY: TopologyEntry = TopologyEntry::new(
    About::new("hypercube", "a grid with side 2 in every dimension")
        .aliases(&["cube"])
        .definition(
            "Nodes are the numbers of n bits; two are neighbours if they differ in one bit.",
        )
        .complexity("n links at every node; the longest shortest way has n links.")
        .source("Mohapatra, Yu, Das & Kim, section 2")
        .params(&[
            Param::new("dimension", Kind::Integer(1, u32::MAX as u64))
                .help("the number of dimensions: 2 to this power nodes"),
            PROCESSORS,
        ]),
    |p| {
        let cube = Topology::hypercube(p.integer("dimension") as u32);
        several(p, cube.map_err(|error| p.problem("dimension", error.to_string()))?)
    },
);
