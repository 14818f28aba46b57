//! Flat machines: all processors behind one switch.

use super::{Topology, TopologyEntry};
use crate::registry::{About, Kind, Param};

pub(crate) static ENTRY: TopologyEntry = TopologyEntry::new(
    About::new("flat", "a switch: any processors will do")
        .aliases(&["switch"])
        .definition(
            "Processors behind one switch: none is nearer to any other, and any free ones will do.",
        )
        .complexity("No links: networks with messages refuse it.")
        .source("Shih, Huang & Chung, section 2")
        .params(&[Param::new("processors", Kind::Integer(1, u32::MAX as u64))
            .help("how many processors there are")]),
    |p| {
        Topology::flat(p.integer("processors") as u32)
            .map_err(|error| p.problem("processors", error.to_string()))
    },
);
