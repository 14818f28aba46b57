//! MM: takes the free nodes nearest to the best centre, which need not be free itself.
//!
//! Each coordinate of a centre must be the coordinate of some free node. The best centre is the one
//! for which the taken nodes have the fewest hops over all pairs.

use super::nearest::{Centres, MAX_NODES, NearestNodes};
use crate::alloc::{AllocatorEntry, up_to_nodes};
use crate::registry::About;
use crate::topology::Wiring;

/// Registry entry of the allocator `mm`.
pub static ENTRY: AllocatorEntry = AllocatorEntry::new(
    About::new(
        "mm",
        "the free processors nearest to a centre, free or not, with the fewest hops over all pairs",
    )
    .definition(
        "A centre is tried wherever each coordinate is that of some free processor; it need not be \
         free itself. Around it the free processors with the fewest hops to it are collected, as \
         many as the job asks for, of equally near ones the first in row-major order. Those with \
         the least sum of hops over all pairs are taken; among equals those around the first \
         centre. Ranks go by distance from the centre, then row-major. On a ring distances go the \
         shorter way. A job fits whenever enough processors are free.",
    )
    .complexity(
        "O(d log d · n r) for what is counted around all n processors at once, in d dimensions up \
         to a radius r; then, with p planes of l dimensions whose sides add up to s, O(n p r l) \
         for all centres and O(p + s) for each, and how many rows a plane has for those that a \
         bound does not exclude. Few free processors, and machines that are long and narrow, are \
         looked at from each centre in turn: O(c · (F + h)) for c centres, F free processors, and \
         h processors in two parts that span the machine, such as a row and a column. It works up \
         to 16,384 nodes.",
    )
    .source(
        "Bender, Bunde, Demaine, Fekete, Leung, Meijer & Phillips, \
             Communication-aware processor allocation for supercomputers, WADS 2005",
    ),
    |params, topology| {
        up_to_nodes(params, topology, MAX_NODES)?;
        let grid = topology.grid();
        Ok(Box::new(NearestNodes::new(grid, Centres::Crossings)))
    },
)
.serves(&[Wiring::Mesh, Wiring::Torus, Wiring::Hypercube]);
