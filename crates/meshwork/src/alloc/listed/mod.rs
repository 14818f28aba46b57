//! Allocators that choose among what a site has written down: lists of places, blocks, rings and switches.
//!
//! A production scheduler is told by its operators which sets of nodes belong together, and each rule here
//! says which of them a job gets. The rules are pure: what is written down, what is free and what is wanted go
//! in, a [`Decision`] comes out. What a rule shares with the others lies beside it: [`Wanted`], [`decide`] (what
//! happens before and around each rule) and the words in which it says why not ([`Message`]).

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
