//! Looking at single runs: while they go on, or again from the store.

mod live;
pub mod recording;
mod scene;
mod spectator;

pub use live::{Happening, Live, Next, What};
pub use scene::{Held, Scene};
pub use spectator::{Spectator, View};
