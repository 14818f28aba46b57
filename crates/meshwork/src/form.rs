//! Forms of requests that allocators require, and conditions under which they find placements.

/// Form in which an allocator requires a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asks {
    /// A number of processors.
    Nodes,
    /// A number of processors, with the job's constraints on them.
    Constrained,
    /// A block with one side for each dimension of the grid.
    Block,
    /// A block, however long, if the job requests one; else a number of processors.
    BlockOrNodes,
    /// The dimension of a subcube.
    Subcube,
    /// Pieces, each with amounts of several resources, on nodes that jobs share.
    Pieces,
    /// A square block whose side is a power of two, on a grid of two dimensions.
    Square,
}

/// Condition under which an allocator finds a placement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finds {
    /// Finds a placement whenever enough processors are free, since any of them will do.
    AnyNodes,
    /// Finds a placement whenever a block is free in one of the orientations that it tries.
    EveryBlock,
    /// May find no placement although a block is free.
    SomeBlocks,
}

/// Rule that turns a number of processors into a block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ShapeRule {
    /// A block of exactly the requested number, if one fits and is not elongated.
    ///
    /// Otherwise the block with the least sum of sides that holds the number.
    #[default]
    Squarest,
    /// A block of exactly the requested number, however long, with the least sum of sides.
    ///
    /// If no such block fits the machine, `Squarest` applies.
    Exact,
}
