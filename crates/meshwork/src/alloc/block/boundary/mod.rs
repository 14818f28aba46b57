//! Boundary searches: allocators that put a block where most of its boundary touches held nodes.
//!
//! The allocators share the search for the best base, the selection of candidate bases, and the
//! counts of contact with held nodes.

mod best_base;
mod contact;
mod peaks;
pub mod boundary_search;
pub mod corner_boundary_search;
pub mod weighted_boundary_search;
