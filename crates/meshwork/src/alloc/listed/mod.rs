//! Allocators that choose among units listed by a site: boxes, blocks, rings and switches.
//!
//! A unit is a set of nodes, listed by the operators of a production machine. Each rule is a pure
//! function of the list, the free nodes and the request, and returns a [`Decision`]. All rules
//! share [`NodeRequest`], [`decide`] and the reasons why jobs do not start ([`SlurmMessage`]).

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

pub(crate) use adapter::set_of;
pub use decide::{Action, Decision, Failure, Rule, RuleResult, SlurmMessage, Wait, decide, find};
pub use request::{Ends, NodeRequest, Nodes};
pub use spans::{NodeSpans, SpanSearch};
