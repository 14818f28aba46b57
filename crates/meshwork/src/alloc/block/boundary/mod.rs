//! Strategies that put a block where most of its boundary lies against what is taken.
//!
//! They share a search for the best base, which bases can be best, and what touches what.

mod best_base;
mod contact;
mod peaks;
pub mod boundary_search;
pub mod corner_boundary_search;
pub mod weighted_boundary_search;
