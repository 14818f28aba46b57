//! Errors of pools and of named pools. The message of each error is one sentence.

use super::Name;
use crate::alloc::RecallError;
use crate::job::Time;
use crate::machine::ClaimError;
use crate::scenario::MODEL_VERSION;

/// Reason why a pool refuses an operation. The pool is then unchanged.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PoolError {
    /// Error: the instant to which the clock should advance is in the past.
    #[error("it is {now} already, and time does not go back to {to}")]
    GoneBy {
        /// Instant that the clock of the pool shows.
        now: Time,
        /// Instant before `now`, to which the caller wanted to set the clock.
        to: Time,
    },
    /// Error: a placement cannot be claimed.
    #[error(transparent)]
    Claim(#[from] ClaimError),
    /// Error: no held placement is equal to the placement to be released.
    #[error("this placement is not held, so it cannot be released")]
    NotHeld,
    /// Error: a placement has no blocks.
    #[error("a placement has at least one block, and this one has none")]
    NoBlocks,
    /// Error: a block does not lie on the machine.
    #[error("a block with base {base:?} and dims {dims:?} does not lie on {machine}")]
    Misplaced {
        /// Coordinates of the block's lowest corner.
        base: Vec<u32>,
        /// Sides of the block.
        dims: Vec<u32>,
        /// Name of the machine with its article, such as "a torus".
        machine: String,
    },
    /// Error: a ratio of sides was given for a machine on which blocks have no sides to choose.
    #[error("a ratio is that of the sides of a block on a mesh or torus, and this is {0}")]
    NoRatio(String),
    /// Error: a ratio of sides does not have one whole number above 0 for each dimension.
    #[error(
        "the ratio is {given:?}, but must have a whole number above 0 for each of the {dimensions} dimensions"
    )]
    Ratio {
        /// The refused ratio of a block's sides, as the caller stated it.
        given: Vec<u32>,
        /// Number of dimensions of the machine.
        dimensions: usize,
    },
}

/// Reason why a snapshot is refused. The pool or named pool is then unchanged.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RestoreError {
    /// Error: the snapshot was taken with another version of the model.
    #[error(
        "the snapshot is of model version {0}, and this is version {MODEL_VERSION}: the same questions may \
         have other answers"
    )]
    OtherVersion(u32),
    /// Error: the snapshot was taken from a pool with another configuration.
    #[error("the snapshot is of another pool: its `{key}` is {there}, and here {here}")]
    OtherPool {
        /// First key in which the configurations of the snapshot and of the pool differ.
        key: String,
        /// Value of the differing key in the snapshot's configuration.
        there: String,
        /// Value of the differing key in the configuration of the pool that refuses the snapshot.
        here: String,
    },
    /// Error: the instants in the snapshot are out of order or invalid, so the snapshot is damaged.
    #[error("the snapshot is damaged: it goes from the instant {from} to {to}")]
    Instants {
        /// Earliest instant that would be valid in place of the wrong instant in the snapshot.
        from: Time,
        /// The wrong instant in the snapshot, in units of the clock.
        to: f64,
    },
    /// Error: an entry of the snapshot is not a placement on the machine.
    #[error("the snapshot is damaged: {0}")]
    Placement(#[source] PoolError),
    /// Error: two placements of the snapshot overlap.
    #[error("the snapshot is damaged: {0}, and yet it is held")]
    Held(#[source] PoolError),
    /// Error: the allocator rejects the memory that the snapshot stores for it.
    #[error("the snapshot is damaged: {0}")]
    Memory(#[source] RecallError),
    /// Error: the snapshot has different numbers of names and of placements.
    #[error("the snapshot is damaged: it has {names} names for {placements} placements")]
    Names {
        /// Number of names of placements in the snapshot.
        names: usize,
        /// Number of placements in the snapshot.
        placements: usize,
    },
    /// Error: one name occurs twice in the snapshot.
    #[error("the snapshot is damaged: {0} is in it twice")]
    NameTwice(Name),
}

/// Reason why a named pool refuses an operation. The pool and its clock are then unchanged.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum NamedPoolError {
    /// Error: the instant of the operation is in the past.
    #[error("`at` is {at}, but it is {now} already, and time does not go back")]
    GoneBy {
        /// Instant at which the operation was to be carried out.
        at: Time,
        /// Instant that the clock of the pool shows.
        now: Time,
    },
    /// Error: the name under which to hold a placement is already in use.
    #[error("{0} is held already: release it first")]
    HeldAlready(Name),
    /// Error: a name occurs twice in the list of placements to hold.
    #[error("{0} is in `held` twice")]
    Twice(Name),
    /// Error: a node to be held does not exist on the machine.
    #[error("there is no node {node}, they count from 0 to {}", .nodes - 1)]
    NoNode {
        /// Number of the node that does not exist.
        node: u32,
        /// Number of nodes of the machine.
        nodes: u32,
    },
    /// Error: no placement is held under the name to be released.
    #[error("{0} is not held, so it cannot be released")]
    NotHeld(Name),
    /// Error: the underlying pool refuses the operation.
    #[error(transparent)]
    Pool(#[from] PoolError),
    /// Error: the snapshot to be restored is refused.
    #[error(transparent)]
    Restore(#[from] RestoreError),
}
