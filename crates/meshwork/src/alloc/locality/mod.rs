//! Allocators that place jobs on few leaf switches or in few groups of leaf switches.

pub(crate) mod shares;
pub mod fewest_leaves;
pub mod fewest_groups;
pub mod group_or_spread;
