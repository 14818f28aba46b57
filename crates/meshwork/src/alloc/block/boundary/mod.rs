//! Boundary searches: allocators that put a block where most of its boundary touches held nodes.
//!
//! They share the search for the best base, its candidate bases, and the counts of contact.

mod best_base;
mod contact;
mod peaks;
pub mod boundary_search;
pub mod corner_boundary_search;
pub mod weighted_boundary_search;
