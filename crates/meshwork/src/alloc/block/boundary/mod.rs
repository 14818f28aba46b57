//! Boundary searches: allocators that put a block where most of its boundary touches held nodes.

mod best_base;
mod contact;
mod peaks;
pub mod boundary_search;
pub mod corner_boundary_search;
pub mod weighted_boundary_search;
