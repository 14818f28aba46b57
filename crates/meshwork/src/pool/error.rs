//! Errors of pools and their front ends, one sentence each.

use super::Name;
use crate::alloc::RecallError;
use crate::job::Time;
use crate::machine::ClaimError;
use crate::scenario::MODEL_VERSION;

/// Reason for which a pool refuses an operation. The pool is unchanged.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PoolError {
    /// The given instant is in the past.
    #[error("it is {now} already, and time does not go back to {to}")]
    GoneBy {
        /// Present instant of the pool.
        now: Time,
        /// Instant that was given.
        to: Time,
    },
    /// A placement cannot be claimed.
    #[error(transparent)]
    Claim(#[from] ClaimError),
    /// No held placement is identical to this one.
    #[error("this placement is not held, so it cannot be released")]
    NotHeld,
    /// A placement has no blocks.
    #[error("a placement has at least one block, and this one has none")]
    NoBlocks,
    /// A block does not lie on the machine.
    #[error("a block with base {base:?} and dims {dims:?} does not lie on {machine}")]
    Misplaced {
        /// Coordinates of the block's lowest corner.
        base: Vec<u32>,
        /// Sides of the block.
        dims: Vec<u32>,
        /// The machine, with its article.
        machine: String,
    },
    /// A ratio was given for a machine without blocks of chosen sides, named with its article.
    #[error("a ratio is that of the sides of a block on a mesh or torus, and this is {0}")]
    NoRatio(String),
    /// A ratio of sides does not match the machine's dimensions.
    #[error(
        "the ratio is {given:?}, but must have a whole number above 0 for each of the {dimensions} dimensions"
    )]
    Ratio {
        /// Ratio that was given.
        given: Vec<u32>,
        /// Number of dimensions of the machine.
        dimensions: usize,
    },
}

/// Reason for which a snapshot is refused. The pool or front end is unchanged.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RestoreError {
    /// The snapshot was taken with another version of the model.
    #[error(
        "the snapshot is of model version {0}, and this is version {MODEL_VERSION}: the same questions may \
         have other answers"
    )]
    OtherVersion(u32),
    /// The snapshot was taken from a pool with another configuration.
    #[error("the snapshot is of another pool: its `{key}` is {there}, and here {here}")]
    OtherPool {
        /// First key in which they differ.
        key: String,
        /// Value of the key in the snapshot.
        there: String,
        /// Value of the key in this pool.
        here: String,
    },
    /// Instants of the snapshot are out of order or invalid.
    #[error("the snapshot is damaged: it goes from the instant {from} to {to}")]
    Instants {
        /// Preceding instant.
        from: Time,
        /// Following instant in the snapshot, as read.
        to: f64,
    },
    /// An entry is not a placement on this machine.
    #[error("the snapshot is damaged: {0}")]
    Placement(#[source] PoolError),
    /// Two placements overlap.
    #[error("the snapshot is damaged: {0}, and yet it is held")]
    Held(#[source] PoolError),
    /// The allocator rejects the stored memory.
    #[error("the snapshot is damaged: {0}")]
    Memory(#[source] RecallError),
    /// The number of names differs from the number of placements.
    #[error("the snapshot is damaged: it has {names} names for {placements} placements")]
    Names {
        /// Number of names.
        names: usize,
        /// Number of placements.
        placements: usize,
    },
    /// One name occurs twice.
    #[error("the snapshot is damaged: {0} is in it twice")]
    NameTwice(Name),
}

/// Reason for which a front end refuses an operation. Neither it nor the clock has changed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum NamedPoolError {
    /// The given instant is in the past.
    #[error("`at` is {at}, but it is {now} already, and time does not go back")]
    GoneBy {
        /// Instant of the operation.
        at: Time,
        /// Present instant of the pool.
        now: Time,
    },
    /// The name is already in use.
    #[error("{0} is held already: release it first")]
    HeldAlready(Name),
    /// A name occurs twice in the list of placements to hold.
    #[error("{0} is in `held` twice")]
    Twice(Name),
    /// A node is not on the machine.
    #[error("there is no node {node}, they count from 0 to {}", .nodes - 1)]
    NoNode {
        /// Number that was given.
        node: u32,
        /// Number of nodes.
        nodes: u32,
    },
    /// No placement is held under this name.
    #[error("{0} is not held, so it cannot be released")]
    NotHeld(Name),
    /// The pool refuses the operation.
    #[error(transparent)]
    Pool(#[from] PoolError),
    /// The snapshot is refused.
    #[error(transparent)]
    Restore(#[from] RestoreError),
}
