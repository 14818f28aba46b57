//! Square shells around a centre: MC1x1.

use super::nearest::{Centres, Distance, MAX_NODES, NearestNodes, Score};
use crate::alloc::{AllocatorEntry, up_to_nodes};
use crate::form::{Asks, Finds};
use crate::registry::About;
use crate::topology::Wiring;

/// The entry of `mc1x1`.
pub static ENTRY: AllocatorEntry = AllocatorEntry {
    about: About {
        name: "mc1x1",
        aliases: &[],
        summary: "the nearest free processors around a free one, in square shells, that lie closest to it",
        definition: "Around each free processor the nearest free ones are collected, as many as the \
                     job asks for, by the largest of their distances along the dimensions, and of \
                     equally near ones the first in row-major order. Those with the least sum of \
                     these distances are taken; among equals those around the first centre. Ranks \
                     go by distance from the centre, then row-major. On a ring distances go the \
                     shorter way. A job fits whenever enough processors are free.",
        complexity: "O(F · (F + h)) for F free processors, and h processors in two parts that \
                     span the machine, such as a row and a column. It works up to 16,384 nodes.",
        source: "Bender, Bunde, Demaine, Fekete, Leung, Meijer & Phillips, Communication-aware \
                     processor allocation for supercomputers, WADS 2005; after Mache, Lo & \
                     Windisch, Minimizing message-passing contention in fragmentation-free \
                     processor allocation, PDCS 1997",
        params: &[],
    },
    serves: &[Wiring::Mesh, Wiring::Torus, Wiring::Hypercube],
    dimensions: None,
    asks: Asks::Nodes,
    finds: Finds::AnyNodes,
    contiguous: false,
    build: |params, topology| {
        up_to_nodes(params, topology, MAX_NODES)?;
        let grid = topology.grid();
        Ok(Box::new(NearestNodes::new(grid, Distance::Largest, Centres::Free, Score::ToCentre)))
    },
};
