//! Strategies for machines whose nodes stand behind leaf switches and in groups, which place jobs on few of
//! them; `shares` is what they have in common.

mod shares;
pub mod fewest_leaves;
pub mod fewest_groups;
pub mod group_or_spread;
