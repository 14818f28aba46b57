//! Looking at single runs: while they go on, or again from the store.

mod live;
pub mod recording;
mod scene;
mod spectator;

pub(crate) use live::NOBODY;
pub use live::{Happening, Live, Next, What};
pub use scene::{Held, Scene};
pub use spectator::{Spectator, View};

use meshwork::job::Dims;
use meshwork::machine::{Block, Placement};
use meshwork::topology::{Grid, Node};

/// A node by itself, as it is held while it is out of service.
pub(crate) fn single(grid: &Grid, node: Node) -> Placement {
    Block { base: node, sides: Dims::from_elem(1, grid.dimensions()) }.into()
}
