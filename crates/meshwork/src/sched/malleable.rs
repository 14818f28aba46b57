//! Common parts of the schedulers that resize running jobs. A job of *n* nodes and run time *t* has
//! *n t* of work, and works at a rate in proportion to its nodes.

use crate::cluster::{Cluster, Place, Reshape, RunKey, StartOptions, Ticket};
use crate::job::Dims;
use crate::machine::{Block, Placement};
use crate::registry::{Kind, Param, Params, Range};
use crate::topology::Grid;

pub(super) const PARAMS: &[Param] = &[
    Param::new("max_jobs", Kind::Integer(1, 1 << 24))
        .absent("as many as there are processors")
        .help(
            "the multiprogramming level: how many jobs share the machine; others wait in order of \
             arrival",
        ),
    Param::new("migration_cost", Kind::Number(Range::NonNegative)).is("0.0").help(
        "the time that a job loses whenever its processors change while it runs, in units of \
             the clock",
    ),
];

#[derive(Clone, Copy)]
pub(super) struct Limits {
    pub(super) max_jobs: usize,
    migration_cost: f64,
}

impl Limits {
    pub(super) fn read(params: &Params) -> Limits {
        let max_jobs = params.get_integer("max_jobs").map_or(usize::MAX, |most| most as usize);
        Limits { max_jobs, migration_cost: params.number("migration_cost") }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Member {
    Running(RunKey),
    Waiting(Ticket),
}

/// Gives every job its block: moves running jobs in a single step, then starts waiting jobs.
pub(super) fn lay_out(cluster: &mut Cluster<'_>, members: &[(Member, Block)], limits: Limits) {
    let rate = |held: u32, asked: u64| f64::from(held) / asked as f64;
    let mut changes = Vec::new();
    for (member, block) in members {
        let Member::Running(key) = member else { continue };
        let running = cluster.run(*key).expect("a member of the machine runs");
        let placement = Placement::from(block.clone());
        if running.placement != placement {
            let rate = rate(block.len(), running.asked);
            // The work that the job would do at its new rate during the time that the move costs.
            let more = limits.migration_cost * rate;
            changes.push(Reshape { key: *key, placement, rate, more });
        }
    }
    cluster.reshape_all(changes).expect("the blocks of a partition do not overlap");
    for (member, block) in members {
        let Member::Waiting(ticket) = member else { continue };
        let rate = rate(block.len(), cluster.job(*ticket).request.nodes());
        let placement = Placement::from(block.clone());
        let place = Place::These(0, &placement);
        let started = cluster.start(*ticket, StartOptions { rate, ..StartOptions::at(place) });
        debug_assert!(started, "the blocks of a partition are free when all have moved");
    }
}

pub(super) fn whole(grid: &Grid) -> Block {
    Block { base: 0, sides: Dims::from_slice(grid.sides()) }
}

pub(super) fn longest(block: &Block) -> usize {
    let longest = block.sides.iter().max();
    block.sides.iter().position(|side| Some(side) == longest).unwrap_or(0)
}

/// Cuts a block in two along a dimension; the first block has the given length.
pub(super) fn cut(block: &Block, grid: &Grid, dimension: usize, length: u32) -> (Block, Block) {
    let (mut first, mut second) = (block.clone(), block.clone());
    first.sides[dimension] = length;
    second.sides[dimension] -= length;
    second.base += length * grid.strides()[dimension];
    (first, second)
}
