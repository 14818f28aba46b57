//! Gen-Alg: takes the free nodes nearest to the best centre, which is itself a free node.
//!
//! The best centre is the free node for which the taken nodes have the fewest hops over all pairs.

use super::nearest::{Centres, MAX_NODES, NearestNodes};
use crate::alloc::{AllocatorEntry, up_to_nodes};
use crate::registry::About;
use crate::topology::Wiring;

/// Registry entry of the allocator `gen_alg`.
pub static ENTRY: AllocatorEntry = AllocatorEntry::new(
    About::new(
        "gen_alg",
        "the free processors nearest to a free one, with the fewest hops over all pairs",
    )
    .definition(
        "Around each free processor those with the fewest hops to it are collected, as many as the \
         job asks for, of equally near ones the first in row-major order. Those with the least sum \
         of hops over all pairs are taken; among equals those around the first centre. Ranks go by \
         distance from the centre, then row-major. On a ring distances go the shorter way. A job \
         fits whenever enough processors are free.",
    )
    .complexity(
        "O(d log d · n r) for what is counted around all n processors at once, in d dimensions up \
         to a radius r; then, with p planes of l dimensions whose sides add up to s, O(n p r l) \
         for all centres and O(p + s) for each, and how many rows a plane has for those that a \
         bound does not exclude. Few free processors, and machines that are long and narrow, are \
         looked at from each centre in turn: O(F · (F + h)) for F free processors, and h \
         processors in two parts that span the machine, such as a row and a column. It works up to \
         16,384 nodes.",
    )
    .source(
        "Krumke, Marathe, Noltemeier, Radhakrishnan, Ravi & Rosenkrantz, Compact location \
         problems, Theoretical Computer Science 181, 1997; Bender, Bunde, Demaine, Fekete, Leung, \
         Meijer & Phillips, Communication-aware processor allocation for supercomputers, WADS 2005",
    ),
    |params, topology| {
        up_to_nodes(params, topology, MAX_NODES)?;
        let grid = topology.grid();
        Ok(Box::new(NearestNodes::new(grid, Centres::Free)))
    },
)
.serves(&[Wiring::Mesh, Wiring::Torus, Wiring::Hypercube]);
