//! In which form an allocator wants requests, and when it finds room.

/// The form in which an allocator wants a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asks {
    /// A count of processors.
    Nodes,
    /// A count of processors, with whatever else the job wants of them.
    Wants,
    /// A block with one side for each dimension of the grid.
    Block,
    /// Such a block where the job asks for one, however long, or else a count.
    BlockOrNodes,
    /// The dimension of a subcube.
    Subcube,
    /// A square block whose side is a power of two, on a grid of two dimensions.
    Square,
}

/// When an allocator finds room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finds {
    /// Whenever enough processors are free: any processors will do.
    AnyNodes,
    /// Whenever a free block exists, in the orientations it tries.
    EveryBlock,
    /// It may miss a free block.
    SomeBlocks,
}

/// How a count of processors becomes a block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ShapeRule {
    /// Exactly the count where a block has it that fits the machine and is not absurdly long; else
    /// the block with the least sum of sides that holds the count.
    #[default]
    Squarest,
    /// Exactly the count, as the factorisation with the least sum of sides that fits the machine,
    /// however long it is; where none fits, as `Squarest`.
    Exact,
}
