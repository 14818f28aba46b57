//! Shared nodes: nodes of several types, and jobs that take a part of each node.
//!
//! A [`NodeType`] describes equal nodes by an integer vector of at most four kinds ([`Amounts`])
//! and the islands inside a node; a [`Piece`] is the part of one node that a job takes at a time;
//! [`NodeState`] is the free part of a node, and a [`Grant`] the part that a job was given. Rules
//! that order nodes see only these four.

mod types;

pub use types::{Amounts, Grant, Inside, NodeState, NodeType, Piece, ResourceKind, WHOLE_GPU};
