//! Observes single runs, in progress or from the store.

mod live;
pub mod recording;
mod scene;
mod spectator;

pub use crate::run::event::{EventKind, RunEvent};
pub use live::{Live, Next};
pub use scene::{Held, NodeUse, Scene};
pub use spectator::{RunSnapshot, Spectator};

use meshwork::job::Dims;
use meshwork::machine::{Block, Placement};
use meshwork::topology::{Grid, Node};

pub(crate) fn single(grid: &Grid, node: Node) -> Placement {
    Block { base: node, sides: Dims::from_elem(1, grid.dimensions()) }.into()
}
