//! Shared nodes: nodes of several types, and jobs that take a part of each node.
//!
//! A [`NodeType`] describes equal nodes by an integer vector of at most four kinds ([`Amounts`]) and
//! the islands inside a node; a [`Piece`] is what a job takes of one node at a time; [`NodeState`]
//! is what is free of a node, and a [`Grant`] what was given of it. Rules that order nodes see only
//! these four.

mod types;

pub use types::{Amounts, Grant, Inside, Kind, NodeState, NodeType, Piece, WHOLE_GPU};
