//! A pool as data: put down, and taken up again by another process.

use std::collections::BTreeMap;

use toml::{Table, Value};

use super::{Held, Pool, PoolError, RestoreError, first};
use crate::geometry::Block;
use crate::job::{Dims, Time};
use crate::machine::Placement;
use crate::registry::{join, with_article};
use crate::scenario::MODEL_VERSION;
use crate::topology::{Grid, Topology};

/// A pool at one instant: what [`Pool::restore`] makes an equal one of.
///
/// It holds what the pool was made of, what is held and since when, how far its random numbers have
/// come, and what its allocator remembers beside that. With the feature `serde` it can be written in any format.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct Snapshot {
    /// The version of the model: another one may answer otherwise.
    pub model_version: u32,
    /// What the pool was made of, with every default.
    pub pool: Table,
    /// The instant.
    pub now: f64,
    /// How far the allocator's random numbers have come.
    pub drawn: u64,
    /// What is held, in the order in which it was taken.
    pub held: Vec<Tenure>,
    /// What the allocator remembers beside that: [`Allocator::memory`](crate::alloc::Allocator::memory).
    pub memory: Vec<u64>,
}

/// A placement that is held, and since when.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct Tenure {
    /// The instant at which it was taken.
    pub since: f64,
    /// Its blocks, in rank order.
    pub blocks: Vec<PlacedBlock>,
}

/// A block by its coordinates, for those who do not count nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct PlacedBlock {
    /// Its lowest corner, a coordinate for each dimension.
    pub base: Vec<u32>,
    /// Its sides, one for each dimension.
    pub dims: Vec<u32>,
}

impl PlacedBlock {
    /// A block of this grid.
    #[must_use]
    pub fn of(block: &Block, grid: &Grid) -> PlacedBlock {
        PlacedBlock { base: grid.coordinates(block.base).to_vec(), dims: block.sides.to_vec() }
    }

    /// The blocks of a placement.
    #[must_use]
    pub fn all_of(placement: &Placement, grid: &Grid) -> Vec<PlacedBlock> {
        placement.blocks.iter().map(|block| PlacedBlock::of(block, grid)).collect()
    }

    /// The placement that these blocks are on a machine.
    ///
    /// # Errors
    /// If there are none, or one does not lie on the machine.
    pub fn placement(blocks: &[PlacedBlock], topology: &Topology) -> Result<Placement, PoolError> {
        if blocks.is_empty() {
            return Err(PoolError::NoBlocks);
        }
        let blocks = blocks.iter().map(|block| block.on(topology));
        Ok(Placement { blocks: blocks.collect::<Result<_, PoolError>>()? })
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
    /// All that there is to know of it now.
    ///
    /// # Complexity
    /// **O(h log h)** for *h* placements held, and what the allocator remembers.
    #[must_use]
    pub fn snapshot(&self) -> Snapshot {
        let grid = self.site().grid();
        let held = self.in_order().into_iter().map(|held| Tenure {
            since: held.since.units(),
            blocks: PlacedBlock::all_of(&held.placement, grid),
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

    /// Becomes what another pool of the same machine, allocator, seed and shape was when its snapshot was
    /// taken: to every question it answers from now on as that one did.
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
    /// The placements are claimed again, each at its instant, in the order in which they were, and then the allocator
    /// recalls what it remembered beside them.
    ///
    /// # Errors
    /// If it is the snapshot of another pool, of another version of the model, or none that a
    /// pool could have made; nothing is changed then.
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
            let placement = PlacedBlock::placement(&tenure.blocks, self.site().topology())
                .map_err(RestoreError::Placement)?;
            restored.now = instant(tenure.since, restored.now)?;
            restored.adopt(&placement).map_err(RestoreError::Held)?;
        }
        restored.now = instant(snapshot.now, restored.now)?;
        restored.managed.recall(&snapshot.memory).map_err(RestoreError::Memory)?;
        restored.managed.draw_again_from(snapshot.drawn);
        *self = restored;
        Ok(())
    }

    /// What is held, in the order in which it was taken.
    pub(super) fn in_order(&self) -> Vec<&Held> {
        let mut held: Vec<&Held> = self.held.values().collect();
        held.sort_by_key(|held| held.number);
        held
    }

    /// When a placement that is held was taken, and how many were before it.
    pub(super) fn tenure(&self, placement: &Placement) -> Option<(Time, u64)> {
        self.held.get(&first(placement)).map(|held| (held.since, held.number))
    }
}

/// An instant of a snapshot that is not before another one.
fn instant(units: f64, earliest: Time) -> Result<Time, RestoreError> {
    if !(earliest.units()..=f64::MAX).contains(&units) {
        return Err(RestoreError::Instants { from: earliest, to: units });
    }
    Ok(Time::new(units))
}

/// The first key that two tables do not have in common.
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
