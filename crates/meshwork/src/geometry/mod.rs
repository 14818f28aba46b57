//! Blocks, placements, sets and orders of nodes, independent of any strategy.

mod bases;
mod block;
pub(crate) mod cells;
pub mod cube;
pub(crate) mod largest;
mod nodeset;
pub mod order;
pub mod orientation;
mod parts;
pub(crate) mod places;
pub(crate) mod ranked;
pub(crate) mod ranks;
pub(crate) mod reversed;
pub(crate) mod squarest;

pub use bases::FreeBases;
pub use block::{Block, Placement};
pub use nodeset::NodeSet;
pub(crate) use nodeset::bits;
pub use parts::{NodePart, PartAmounts, Parts};
