//! Snapshots of a pool, which can be restored in another process.

use std::collections::BTreeMap;

use toml::{Table, Value};

use super::{Held, Pool, PoolError, RestoreError};
use crate::geometry::{Block, Parts};
use crate::job::{Dims, Time};
use crate::machine::Placement;
use crate::registry::{join, with_article};
use crate::scenario::MODEL_VERSION;
use crate::topology::{Grid, Topology};

/// State of a pool at one instant, from which [`Pool::restore`] recreates the pool.
///
/// With the feature `serde`, a snapshot can be written in any format.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct Snapshot {
    /// Version of the model. Pools of another version may return other placements.
    pub model_version: u32,
    /// Configuration of the pool, with every default.
    pub pool: Table,
    /// Instant of the snapshot, in units of the clock.
    pub now: f64,
    /// Position in the allocator's random stream.
    pub drawn: u64,
    /// Held placements, in the order of allocation.
    pub held: Vec<Tenure>,
    /// Further state of the allocator: [`Allocator::memory`](crate::alloc::Allocator::memory).
    pub memory: Vec<u64>,
}

/// Held placement of a snapshot, with the instant of its allocation.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct Tenure {
    /// Instant at which the placement was allocated, in units of the clock.
    pub since: f64,
    /// Blocks of the placement, in the order in which the job's processes are placed on them.
    pub blocks: Vec<PlacedBlock>,
    /// Amounts held of each resource of the nodes; `None` if the nodes are held as a whole.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub parts: Option<Box<Parts>>,
}

/// Block of nodes, given by coordinates instead of node numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct PlacedBlock {
    /// Coordinates of the block's lowest corner, one per dimension.
    pub base: Vec<u32>,
    /// Sides of the block, one per dimension.
    pub dims: Vec<u32>,
}

impl PlacedBlock {
    /// Converts a block of a grid to coordinates.
    #[must_use]
    pub fn of(block: &Block, grid: &Grid) -> PlacedBlock {
        PlacedBlock { base: grid.coordinates(block.base).to_vec(), dims: block.sides.to_vec() }
    }

    /// Converts all blocks of a placement to coordinates.
    #[must_use]
    pub fn all_of(placement: &Placement, grid: &Grid) -> Vec<PlacedBlock> {
        placement.blocks.iter().map(|block| PlacedBlock::of(block, grid)).collect()
    }

    /// Converts blocks given by coordinates to a placement.
    ///
    /// # Errors
    /// If there are no blocks, or one of them does not lie on the machine.
    pub fn placement(blocks: &[PlacedBlock], topology: &Topology) -> Result<Placement, PoolError> {
        if blocks.is_empty() {
            return Err(PoolError::NoBlocks);
        }
        let blocks = blocks.iter().map(|block| block.on(topology));
        Ok(Placement { blocks: blocks.collect::<Result<_, PoolError>>()?, parts: None })
    }

    fn on(&self, topology: &Topology) -> Result<Block, PoolError> {
        let grid = topology.grid();
        let is_on_it = self.base.len() == grid.dimensions()
            && self.base.iter().zip(grid.sides()).all(|(at, side)| at < side);
        if is_on_it {
            let block = Block { base: grid.node(&self.base), sides: Dims::from_slice(&self.dims) };
            if grid.holds(block.base, &block.sides) {
                return Ok(block);
            }
        }
        Err(PoolError::Misplaced {
            base: self.base.clone(),
            dims: self.dims.clone(),
            machine: with_article(topology),
        })
    }
}

impl Pool {
    /// Returns the complete state of the pool.
    ///
    /// # Complexity
    /// **O(h log h)** for *h* placements held, and the cost of
    /// [`Allocator::memory`](crate::alloc::Allocator::memory).
    #[must_use]
    pub fn snapshot(&self) -> Snapshot {
        let grid = self.site().grid();
        let held = self.in_order().into_iter().map(|held| Tenure {
            since: held.since.units(),
            blocks: PlacedBlock::all_of(&held.placement, grid),
            parts: held.placement.parts.clone(),
        });
        Snapshot {
            model_version: MODEL_VERSION,
            pool: self.table.clone(),
            now: self.now.units(),
            drawn: self.managed.drawn(),
            held: held.collect(),
            memory: self.managed.memory(),
        }
    }

    /// Restores a snapshot of a pool with equal machine, allocator, seed and shape.
    ///
    /// From then on, the pool gives the placements that the original pool would give.
    ///
    /// ```
    /// use meshwork::job::Request;
    /// use meshwork::pool::Pool;
    ///
    /// let text = "machine = { topology = 'torus', dims = [8, 8] }\nallocator = 'random'".parse()?;
    /// let (mut one, mut other) = (Pool::read(&text)?, Pool::read(&text)?);
    /// one.allocate(&Request::Nodes(7));
    /// other.restore(&one.snapshot())?;
    /// assert_eq!(other.allocate(&Request::Nodes(5)), one.allocate(&Request::Nodes(5)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// The placements are claimed again in their original order, each at its instant; then the
    /// allocator restores its memory.
    ///
    /// # Errors
    /// If the snapshot is damaged, from a pool of another configuration, or from another version of
    /// the model. Nothing is changed then.
    pub fn restore(&mut self, snapshot: &Snapshot) -> Result<(), RestoreError> {
        if snapshot.model_version != MODEL_VERSION {
            return Err(RestoreError::OtherVersion(snapshot.model_version));
        }
        if let Some(difference) = difference("", &snapshot.pool, &self.table) {
            return Err(difference);
        }
        let mut restored = Pool {
            managed: self.empty.fork(),
            empty: self.empty.fork(),
            held: BTreeMap::new(),
            count: 0,
            now: Time::ZERO,
            table: self.table.clone(),
        };
        for tenure in &snapshot.held {
            let mut placement = PlacedBlock::placement(&tenure.blocks, self.site().topology())
                .map_err(RestoreError::Placement)?;
            placement.parts.clone_from(&tenure.parts);
            restored.now = instant(tenure.since, restored.now)?;
            restored.adopt(&placement).map_err(RestoreError::Held)?;
        }
        restored.now = instant(snapshot.now, restored.now)?;
        restored.managed.recall(&snapshot.memory).map_err(RestoreError::Memory)?;
        restored.managed.draw_again_from(snapshot.drawn);
        *self = restored;
        Ok(())
    }

    pub(super) fn in_order(&self) -> Vec<&Held> {
        let mut held: Vec<&Held> = self.held.values().collect();
        held.sort_by_key(|held| held.number);
        held
    }

    /// Start and number of each held placement that equals `placement`.
    ///
    /// There are several if they hold equal parts of the same node.
    pub(super) fn tenures(&self, placement: &Placement) -> impl Iterator<Item = (Time, u64)> {
        self.equal(placement).map(|held| (held.since, held.number))
    }
}

/// Reads an instant of a snapshot; an instant before `earliest` is an error.
fn instant(units: f64, earliest: Time) -> Result<Time, RestoreError> {
    if !(earliest.units()..=f64::MAX).contains(&units) {
        return Err(RestoreError::Instants { from: earliest, to: units });
    }
    Ok(Time::new(units))
}

fn difference(path: &str, snapshot: &Table, here: &Table) -> Option<RestoreError> {
    let keys = here.keys().chain(snapshot.keys().filter(|key| !here.contains_key(key.as_str())));
    for key in keys {
        let key_path = join(path, key);
        let said = |value: Option<&Value>| value.map_or("not given".to_owned(), Value::to_string);
        match (snapshot.get(key), here.get(key)) {
            (Some(Value::Table(there)), Some(Value::Table(here))) => {
                if let Some(difference) = difference(&key_path, there, here) {
                    return Some(difference);
                }
            }
            (there, here) if there == here => {}
            (there, here) => {
                let (there, here) = (said(there), said(here));
                return Some(RestoreError::OtherPool { key: key_path, there, here });
            }
        }
    }
    None
}
