//! Forms of requests that allocators require, and their completeness.

/// The form in which an allocator requires a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asks {
    /// A number of processors.
    Nodes,
    /// A number of processors, with the job's constraints on them.
    Constrained,
    /// A block with one side for each dimension of the grid.
    Block,
    /// A block if the job requests one, however long, else a number of processors.
    BlockOrNodes,
    /// The dimension of a subcube.
    Subcube,
    /// Pieces with vectors of amounts, on nodes that jobs share.
    Pieces,
    /// A square block whose side is a power of two, on a grid of two dimensions.
    Square,
}

/// The condition under which an allocator finds a placement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finds {
    /// Whenever enough processors are free: any processors will do.
    AnyNodes,
    /// Whenever a free block exists, in the orientations it tries.
    EveryBlock,
    /// Not always: it may miss a free block.
    SomeBlocks,
}

/// The rule that turns a number of processors into a block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ShapeRule {
    /// Exactly the number if a fitting block has it and is not elongated. Else the block with the
    /// least sum of sides that holds the number.
    #[default]
    Squarest,
    /// Exactly the number, however long the block, in the factorization with the least sum of
    /// sides. If none fits the machine, `Squarest` applies.
    Exact,
}
