//! Strategies that put a block where most of its boundary touches held nodes.
//!
//! They share the search for the best base, its candidate bases, and the contact counts.

mod best_base;
mod contact;
mod peaks;
pub mod boundary_search;
pub mod corner_boundary_search;
pub mod weighted_boundary_search;
