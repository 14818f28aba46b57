//! Allocators that choose among units listed by a site: boxes, blocks, rings and switches.
//!
//! A unit is a set of nodes that belong together. The operators of a production machine list its
//! units, and each rule here selects units for a job. Rules are pure functions of the list, the
//! free nodes and the request, and return a [`Decision`]. They share [`NodeRequest`], the function
//! that applies a rule ([`decide`]) and the reasons why jobs do not start ([`SlurmMessage`]).

pub mod anchors;
pub mod blocks;
pub mod criteria;
mod decide;
mod adapter;
pub mod ring;
pub mod runs;
mod spans;
pub mod tree;
mod request;

pub use decide::{Action, Decision, Failure, Rule, RuleResult, SlurmMessage, Wait, decide, find};
pub use request::{Ends, NodeRequest, Nodes};
pub use spans::{NodeSpans, SpanSearch};
