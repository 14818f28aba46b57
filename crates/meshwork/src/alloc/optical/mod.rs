//! Machines cut into equal cubes whose faces optical switches join at will, and what is compared with them: a
//! torus on which jobs are folded.

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
