//! Forms in which allocators require requests, and conditions under which they find placements.

/// Form in which an allocator requires a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asks {
    /// A number of processors.
    Nodes,
    /// A number of processors, and the job's constraints on their choice.
    Constrained,
    /// A block with one side for each dimension of the grid.
    Block,
    /// A block, even an elongated one, if the job requests a block; otherwise a number of
    /// processors.
    BlockOrNodes,
    /// The dimension of a subcube.
    Subcube,
    /// Pieces of a job, each of which takes several resources of one node that jobs share.
    Pieces,
    /// A square block whose side is a power of two, on a grid of two dimensions.
    Square,
}

/// Condition under which an allocator finds a placement for a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finds {
    /// Finds a placement whenever enough processors are free, because any of them will do.
    AnyNodes,
    /// Finds a placement whenever a block is free in one of the orientations that are tried.
    EveryBlock,
    /// Does not always find a placement, even if a block is free.
    SomeBlocks,
}

/// Rule that turns a requested number of processors into the sides of a block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ShapeRule {
    /// The block of exactly the requested size with the least sum of sides, unless it is elongated.
    ///
    /// It is compared with the block of at least the requested size that has the least sum of
    /// sides. If its diagonal is more than a quarter longer, it is elongated, and the other block
    /// is used.
    #[default]
    Squarest,
    /// The block of exactly the requested size with the least sum of sides, even if elongated.
    ///
    /// If no such block fits the machine, `Squarest` applies.
    Exact,
}
