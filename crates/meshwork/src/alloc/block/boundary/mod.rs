//! Boundary searches: allocators that put a block where most of its boundary touches held nodes.
//!
//! The allocators share the search for the best position of a block, the selection of candidate
//! positions, and the counting of held nodes that a block touches.

mod best_base;
mod contact;
mod peaks;
pub mod boundary_search;
pub mod corner_boundary_search;
pub mod weighted_boundary_search;
