//! Integration tests of the crate `meshwork`, linked into one program.

#[path = "../../../../tests/skip.rs"]
mod skip;
#[path = "../../../../tests/clique.rs"]
mod clique;

mod access;
mod anchors;
mod architecture;
mod booksim;
mod common;
mod conformance;
mod contracts;
mod corpus;
mod cube_twins;
mod cubes;
mod data_entries;
mod dependencies;
mod disciplines;
mod energy;
mod failures;
mod fairness;
mod golden;
mod list_twins;
mod listed;
mod listed_twins;
mod locality;
mod logs;
mod malleable;
mod manual;
mod measures;
mod mesh_allocators;
mod messages;
mod metamorphic;
mod own_draws;
mod own_topologies;
mod partitions;
mod plan;
mod pool;
mod priority;
mod reconfigurable;
mod reservations;
mod rfold;
mod rfold_program;
mod scattered;
mod selectors;
mod shared_nodes;
mod shared_service;
mod shared_sites;
#[cfg(feature = "serde")]
mod serialization;
mod simulation;
mod slurm;
mod speeds;
mod theory;
mod topologies;
mod twins;
mod waits;
mod wording;
mod wormhole;
mod wormhole_twin;

// The strategies of the manual are written as in the crate, where `crate` is the model and `super`
// the folder of their kind.
use meshwork::{cluster, form, geometry, job, machine, registry, topology};

#[expect(unreachable_pub, reason = "what is public in the crate is not in a test")]
mod alloc {
    pub(crate) use meshwork::alloc::*;

    pub(crate) mod block {
        pub(crate) mod two_ends;
    }
}

#[expect(unreachable_pub, reason = "what is public in the crate is not in a test")]
mod sched {
    pub(crate) use meshwork::sched::*;

    pub(crate) mod shortest_first;
}
