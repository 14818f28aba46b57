//! Allocators that choose among units listed by a site: boxes, blocks, rings and switches.
//!
//! The operators of a production scheduler list the sets of nodes that belong together, and each
//! rule here selects one for a job. Rules are pure functions of the list, the free nodes and the
//! request, and return a [`Decision`]. They share [`Wanted`], [`decide`] (the steps before and
//! around each rule) and the reasons for rejection ([`Message`]).

pub mod anchors;
pub mod blocks;
pub mod criteria;
mod decide;
mod keeper;
pub mod ring;
pub mod runs;
pub mod tree;
mod wanted;

pub use decide::{Action, Attempt, Decision, Failure, Message, Rule, Wait, decide, find};
pub use wanted::{Ends, Nodes, Wanted};
