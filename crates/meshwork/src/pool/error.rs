//! What a pool and a desk do not do, and why: one sentence each.

use super::Name;
use crate::alloc::RecallError;
use crate::job::Time;
use crate::machine::ClaimError;
use crate::scenario::MODEL_VERSION;

/// Why a pool does not do what it was asked to. It is unchanged.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PoolError {
    /// The instant has gone by.
    #[error("it is {now} already, and time does not go back to {to}")]
    GoneBy {
        /// The present instant.
        now: Time,
        /// The one that was asked for.
        to: Time,
    },
    /// A placement cannot be held.
    #[error(transparent)]
    Claim(#[from] ClaimError),
    /// Exactly this placement is not held.
    #[error("this placement is not held, so it cannot be released")]
    NotHeld,
    /// A placement without a block.
    #[error("a placement has at least one block, and this one has none")]
    NoBlocks,
    /// A block that does not lie on the machine.
    #[error("a block with base {base:?} and dims {dims:?} does not lie on {machine}")]
    Misplaced {
        /// Its base.
        base: Vec<u32>,
        /// Its sides.
        dims: Vec<u32>,
        /// The machine, with its article.
        machine: String,
    },
    /// A ratio of sides on a machine on which blocks have none to choose: which that is, with its article.
    #[error("a ratio is that of the sides of a block on a mesh or torus, and this is {0}")]
    NoRatio(String),
    /// A ratio that is none of this machine's blocks.
    #[error(
        "the ratio is {given:?}, but must have a whole number above 0 for each of the {dimensions} dimensions"
    )]
    Ratio {
        /// The ratio.
        given: Vec<u32>,
        /// How many dimensions the machine has.
        dimensions: usize,
    },
}

/// Why a pool or a desk does not become what a snapshot says. It is unchanged.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RestoreError {
    /// The snapshot is of another version of the model.
    #[error(
        "the snapshot is of model version {0}, and this is version {MODEL_VERSION}: the same questions may \
         have other answers"
    )]
    OtherVersion(u32),
    /// The snapshot is of a pool that was made of something else.
    #[error("the snapshot is of another pool: its `{key}` is {there}, and here {here}")]
    OtherPool {
        /// The first key in which they differ.
        key: String,
        /// What the snapshot has there.
        there: String,
        /// What this pool has there.
        here: String,
    },
    /// Its instants are not in order, or are none.
    #[error("the snapshot is damaged: it goes from the instant {from} to {to}")]
    Instants {
        /// The instant before.
        from: Time,
        /// The number that follows it.
        to: f64,
    },
    /// Something in it is no placement on this machine.
    #[error("the snapshot is damaged: {0}")]
    Placement(#[source] PoolError),
    /// Two of its placements are in each other's way.
    #[error("the snapshot is damaged: {0}, and yet it is held")]
    Held(#[source] PoolError),
    /// Its memory is none of such an allocator.
    #[error("the snapshot is damaged: {0}")]
    Memory(#[source] RecallError),
    /// It has not one name for each placement.
    #[error("the snapshot is damaged: it has {names} names for {placements} placements")]
    Names {
        /// How many names.
        names: usize,
        /// How many placements.
        placements: usize,
    },
    /// One name holds two placements.
    #[error("the snapshot is damaged: {0} is in it twice")]
    NameTwice(Name),
}

/// Why a desk does not do what it was asked to. It is unchanged, and no time has passed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum DeskError {
    /// The instant has gone by.
    #[error("`at` is {at}, but it is {now} already, and time does not go back")]
    GoneBy {
        /// The instant of the question.
        at: Time,
        /// The present instant.
        now: Time,
    },
    /// Somebody of this name holds something.
    #[error("{0} is held already: release it first")]
    HeldAlready(Name),
    /// Nobody of this name holds anything.
    #[error("{0} is not held, so it cannot be released")]
    NotHeld(Name),
    /// The pool does not do it.
    #[error(transparent)]
    Pool(#[from] PoolError),
    /// It does not become what the snapshot says.
    #[error(transparent)]
    Restore(#[from] RestoreError),
}
