//! Free space of a pool: its number of free nodes, and its largest free block.

use super::{PlacedBlock, Pool, PoolError};
use crate::geometry::cube::CubeSearch;
use crate::geometry::{Block, FreeBases};
use crate::machine::Amounts;
use crate::registry::with_article;
use crate::topology::Wiring;

/// Free space of a pool: its number of free nodes, and its largest free block.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct FreeSpace {
    /// Number of free nodes, or of free cores if jobs share nodes.
    pub free: u32,
    /// Number of nodes of the machine, or of its cores if jobs share nodes.
    pub nodes: u32,
    /// Largest free block with sides in the requested ratio, or largest free subcube.
    ///
    /// Ties go to the lowest base. `None` without a free block, such as on a flat machine.
    pub largest: Option<PlacedBlock>,
    /// Free cores, MiB of memory, wholly free GPUs and `other`; `None` if jobs do not share nodes.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub amounts: Option<[u64; 4]>,
}

impl Pool {
    /// Counts the free nodes and finds the largest free block with sides in the given ratio.
    ///
    /// Without a ratio all sides are equal. The result does not depend on the allocator, which may
    /// miss this block, or may place larger requests.
    ///
    /// ```
    /// use meshwork::job::Request;
    /// use meshwork::pool::Pool;
    ///
    /// let mut pool = Pool::read(&toml::toml! { machine = { topology = "mesh", dims = [8, 4] } })?;
    /// pool.allocate(&Request::block(&[2, 2]));
    /// let space = pool.free_space(Some(&[2, 1]))?;
    /// assert_eq!((space.free, space.nodes), (28, 32));
    /// assert_eq!(space.largest.map(|block| block.dims), Some(vec![6, 3]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the ratio does not have one whole number above 0 for each dimension, or is given for a
    /// machine other than a mesh or torus.
    ///
    /// # Complexity
    /// **O(log s)** searches for a free block, for sides up to *s*. On a hypercube, one search for
    /// a subcube.
    pub fn free_space(&self, ratio: Option<&[u32]>) -> Result<FreeSpace, PoolError> {
        let site = self.site();
        let (topology, grid) = (site.topology(), site.grid());
        let is_grid = matches!(topology.wiring(), Wiring::Mesh | Wiring::Torus);
        if ratio.is_some() && !is_grid {
            return Err(PoolError::NoRatio(with_article(topology)));
        }
        let (free, nodes) = (site.free_nodes(), site.nodes());
        let amounts = site.amounts().map(Amounts::free);
        let mut space = FreeSpace { free, nodes, largest: None, amounts };
        if topology.wiring() == Wiring::Hypercube {
            let mut search = CubeSearch::new(grid.dimensions() as u32);
            let largest = search.largest(site.free());
            let cube = largest.and_then(|dimension| search.first(site.free(), dimension));
            let block = cube.map(|cube| cube.block(grid.dimensions() as u32));
            space.largest = block.map(|block| PlacedBlock::of(&block, grid));
        }
        if !is_grid {
            return Ok(space);
        }
        let ratio = ratio.map_or_else(|| vec![1; grid.dimensions()], <[u32]>::to_vec);
        if ratio.len() != grid.dimensions() || ratio.contains(&0) {
            return Err(PoolError::Ratio { given: ratio, dimensions: grid.dimensions() });
        }
        let common = ratio.iter().copied().reduce(divisor).unwrap_or(1);
        let ratio: Vec<u32> = ratio.iter().map(|part| part / common).collect();
        let most = grid.sides().iter().zip(&ratio).map(|(side, part)| side / part).min();
        // A free block contains smaller free blocks of equal ratio, so the size can be bisected.
        let mut bases = FreeBases::new(grid);
        let mut best: Option<Block> = None;
        let (mut fits, mut least_that_does_not) = (0, most.unwrap_or(0) + 1);
        while fits + 1 < least_that_does_not {
            let times = fits + (least_that_does_not - fits) / 2;
            let sides: Vec<u32> = ratio.iter().map(|part| part * times).collect();
            match bases.first(grid, site.free(), &sides) {
                Some(base) => {
                    best = Some(Block { base, sides: sides.as_slice().into() });
                    fits = times;
                }
                None => least_that_does_not = times,
            }
        }
        space.largest = best.map(|block| PlacedBlock::of(&block, grid));
        Ok(space)
    }
}

fn divisor(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { divisor(b, a % b) }
}
