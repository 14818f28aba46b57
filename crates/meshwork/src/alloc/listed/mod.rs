//! Allocators that choose among units listed by a site: boxes, blocks, rings and switches.
//!
//! The operators of a production scheduler list the sets of nodes that belong together, and each
//! rule here selects one for a job. Rules are pure functions of the list, the free nodes and the
//! request, and return a [`Decision`]. They share [`NodeRequest`], [`decide`] (the steps before and
//! around each rule) and the reasons for rejection ([`SlurmMessage`]).

pub mod anchors;
pub mod blocks;
pub mod criteria;
mod decide;
mod adapter;
pub mod ring;
pub mod runs;
pub mod tree;
mod request;

pub use decide::{Action, Decision, Failure, Rule, RuleResult, SlurmMessage, Wait, decide, find};
pub use request::{Ends, NodeRequest, Nodes};
