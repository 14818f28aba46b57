//! Allocators for machines of equal cubes whose faces are joined by optical switches.
//!
//! The module also has the allocator `folding`, which works on a static torus, for comparison.

mod cubes;
mod fold;
pub mod folding;
mod path;
mod pieces;
pub mod reconfigurable;
pub mod reconfigurable_blocks;
pub mod rfold;
mod set_order;

pub use fold::{cubes_needed, folded_for_cubes, folded_for_torus};
pub use path::PathSearch;
pub use set_order::Ties;
