//! Torus of the allocator `anchors`, with its cells, its listed shapes of boxes, and its free
//! boxes.

mod narrow;

use super::overlap::grids_overlap;
use crate::alloc::listed::{Ends, Nodes};
use crate::geometry::{FreeBases, NodeSet};
use crate::topology::{Grid, Node, TopologyError};

/// Listed shape of boxes: the sides of a box, and the positions at which it may lie in a torus.
///
/// Lengths are numbers of nodes along x, y and z. If `spacing` is 0 along an axis, positions are
/// one side of the box apart. The parameters call a shape a placement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Sides of the box along x, y and z.
    pub sides: [u32; 3],
    /// Distance from one position of the box to the next, along each axis.
    pub spacing: [u32; 3],
    /// First position of the box, along each axis.
    pub seed: [u32; 3],
}

impl Shape {
    /// Creates a shape whose box can begin at every multiple of its own sides, along each axis.
    ///
    /// ```
    /// use meshwork::alloc::listed::anchors::Shape;
    /// assert_eq!(Shape::aligned([2, 2, 1]).positions(0, 4), [0, 2]);
    /// assert_eq!(Shape::aligned([2, 1, 1]).positions(0, 5), [0, 2, 4, 1, 3], "all around the ring");
    /// ```
    #[must_use]
    pub fn aligned(sides: [u32; 3]) -> Shape {
        Shape { sides, spacing: sides, seed: [0; 3] }
    }

    /// Positions of the box along `axis`, in the order in which they are tried.
    ///
    /// `length` is the side of the torus along this axis.
    #[must_use]
    pub fn positions(&self, axis: usize, length: u32) -> Vec<u32> {
        let step = if self.spacing[axis] == 0 { self.sides[axis] } else { self.spacing[axis] };
        let mut positions = vec![self.seed[axis] % length];
        loop {
            let next = (positions[positions.len() - 1] + step) % length;
            if next == positions[0] {
                return positions;
            }
            positions.push(next);
        }
    }

    /// Number of nodes of a box of this shape.
    #[must_use]
    pub fn size(&self) -> u32 {
        self.sides.iter().product()
    }
}

/// Maximum number of cells of a torus that stores its boxes in order.
///
/// A larger torus would need too much memory for this.
const MOST_IN_ORDER: u32 = 1 << 16;

/// Maximum number of free boxes among which the first one is found by comparing their ranks. With
/// more free boxes, searching the list `in_order` is faster.
const FEW: u32 = 32;

/// Listed shape of a torus, with the boxes of this shape at all positions.
#[derive(Clone, Debug)]
pub struct Entry {
    shape: Shape,
    /// For each axis, the rank of each coordinate in the order in which boxes are tried. `None` if
    /// no box begins at the coordinate.
    order: [Vec<Option<u32>>; 3],
    /// Corner cells of all boxes of the shape.
    bases: NodeSet,
    /// Corner cells of all boxes, in the order in which they are tried; empty on a large torus.
    in_order: Vec<u32>,
    /// Corner cells of the complete boxes, which have no hole and contain no node twice.
    complete: NodeSet,
    overlaps_others: bool,
}

impl Entry {
    /// The shape as it was given in the list.
    #[must_use]
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// Number of nodes of each box of the shape.
    #[must_use]
    pub fn size(&self) -> u32 {
        self.shape.size()
    }

    /// Number of boxes of the shape, whether or not they can be allocated.
    ///
    /// Boxes with a hole, or in which a node occurs twice, cannot be allocated.
    #[must_use]
    pub fn anchors(&self) -> u32 {
        self.bases.count()
    }

    /// Number of boxes that can be allocated, because they have no hole and no node occurs twice in
    /// them.
    #[must_use]
    pub fn complete_anchors(&self) -> u32 {
        self.complete.count()
    }

    /// Whether some box of this shape overlaps another box with as many nodes, of any shape.
    #[must_use]
    pub fn overlaps_others(&self) -> bool {
        self.overlaps_others
    }

    /// Corner cells of all boxes, in the order in which they are tried, where x changes slowest.
    pub fn corners<'a>(&'a self, grid: &'a Grid) -> impl Iterator<Item = u32> + 'a {
        let sides = grid.sides();
        let [xs, ys, zs] = [0, 1, 2].map(|axis| self.shape.positions(axis, sides[axis]));
        let mut corners = Vec::with_capacity(xs.len() * ys.len() * zs.len());
        for &x in &xs {
            for &y in &ys {
                corners.extend(zs.iter().map(|&z| grid.node(&[x, y, z])));
            }
        }
        corners.into_iter()
    }

    fn rank(&self, grid: &Grid, base: u32) -> u64 {
        let along = |axis: usize| {
            let place = self.order[axis][grid.coordinate(base, axis) as usize];
            u64::from(place.unwrap_or(u32::MAX))
        };
        let count = |axis: usize| self.order[axis].iter().flatten().count() as u64;
        (along(0) * count(1) + along(1)) * count(2) + along(2)
    }
}

/// Torus of three dimensions, each cell of which is a node or a hole.
#[derive(Clone, Debug)]
pub struct Torus {
    grid: Grid,
    cells: Vec<Option<Node>>,
    /// Runs of consecutive cells of the torus with consecutive nodes: first cell, first node,
    /// length.
    runs: Vec<(u32, Node, u32)>,
    holes: NodeSet,
    /// Whether every node is in at most one cell of the torus.
    is_plain: bool,
    /// Listed shapes, sorted by the size of their boxes; equal sizes are in the order of the list.
    entries: Vec<Entry>,
    free_bases: FreeBases,
}

/// State of a torus during one decision, with its free nodes as a set of cells.
#[derive(Clone)]
pub(super) struct View {
    free: NodeSet,
    /// For each weight in ascending order, the free cells of at most this weight. Empty if all
    /// cells have equal weights.
    by_weight: Vec<(u32, NodeSet)>,
    required: Option<NodeSet>,
    holds_required: bool,
    ends: Option<Ends>,
}

impl View {
    pub(super) fn idle(&self) -> u32 {
        self.free.count()
    }
}

impl Torus {
    /// Creates a torus from the nodes of its cells; `None` stands for a hole, and x changes
    /// fastest.
    ///
    /// # Errors
    /// If there is no grid with the given sides.
    ///
    /// # Panics
    /// If the number of cells does not match the sides, or a listed shape is larger than the torus.
    pub fn new(
        sides: [u32; 3],
        cells: Vec<Option<Node>>,
        shapes: &[Shape],
    ) -> Result<Torus, TopologyError> {
        let grid = Grid::new(&sides, true)?;
        assert_eq!(cells.len(), grid.nodes() as usize, "one entry for each cell");
        let mut holes = NodeSet::empty(grid.nodes());
        let mut seen: Vec<Node> = cells.iter().copied().flatten().collect();
        seen.sort_unstable();
        let is_plain = seen.windows(2).all(|pair| pair[0] != pair[1]);
        for (cell, node) in (0..).zip(&cells) {
            if node.is_none() {
                holes.insert(cell);
            }
        }
        let mut shapes = shapes.to_vec();
        shapes.sort_by_key(Shape::size);
        let mut torus = Torus {
            free_bases: FreeBases::new(&grid),
            runs: runs_of(&cells),
            grid,
            cells,
            holes,
            is_plain,
            entries: Vec::new(),
        };
        torus.entries = shapes.iter().map(|shape| torus.entry(shape, &shapes)).collect();
        Ok(torus)
    }

    fn entry(&self, shape: &Shape, all: &[Shape]) -> Entry {
        let sides = self.grid.sides();
        let order = [0, 1, 2].map(|axis| {
            assert!(shape.sides[axis] <= sides[axis], "a placement is no larger than its torus");
            let mut order = vec![None; sides[axis] as usize];
            for (place, position) in (0..).zip(shape.positions(axis, sides[axis])) {
                order[position as usize] = Some(place);
            }
            order
        });
        let mut bases = NodeSet::empty(self.grid.nodes());
        for base in 0..self.grid.nodes() {
            let along = |axis: usize| order[axis][self.grid.coordinate(base, axis) as usize];
            if (0..3).all(|axis| along(axis).is_some()) {
                bases.insert(base);
            }
        }
        let mut nodes = NodeSet::empty(self.grid.nodes());
        nodes.assign_complement(&self.holes);
        let mut complete = self.free_bases.clone().all(&self.grid, &nodes, &shape.sides).clone();
        complete.intersect(&bases);
        if !self.is_plain {
            let twice: Vec<u32> =
                complete.iter().filter(|&base| self.has_a_node_twice(base, shape)).collect();
            twice.into_iter().for_each(|base| complete.remove(base));
        }
        let same_size = all.iter().filter(|other| other.size() == shape.size());
        let overlaps_others = grids_overlap(sides, shape, same_size);
        let mut entry =
            Entry { shape: *shape, order, bases, in_order: Vec::new(), complete, overlaps_others };
        if self.grid.nodes() <= MOST_IN_ORDER {
            entry.in_order = entry.corners(&self.grid).collect();
        }
        entry
    }

    fn has_a_node_twice(&self, base: u32, shape: &Shape) -> bool {
        let mut nodes: Vec<Option<Node>> =
            self.cells_of(base, shape).map(|cell| self.cells[cell as usize]).collect();
        nodes.sort_unstable();
        nodes.windows(2).any(|pair| pair[0] == pair[1])
    }

    fn cells_of<'a>(&'a self, base: u32, shape: &Shape) -> impl Iterator<Item = u32> + use<'a> {
        let [x, y, z] = [0, 1, 2].map(|axis| self.grid.coordinate(base, axis));
        let [dx, dy, dz] = shape.sides;
        let [width, height, depth] = [0, 1, 2].map(|axis| self.grid.sides()[axis]);
        let around = |at: u32, length: u32| if at < length { at } else { at - length };
        (0..dz).flat_map(move |k| {
            let layer = around(z + k, depth) * height;
            (0..dy).flat_map(move |j| {
                let row = (layer + around(y + j, height)) * width;
                (0..dx).map(move |i| row + around(x + i, width))
            })
        })
    }

    /// Grid of the cells, in which every dimension wraps around.
    #[must_use]
    pub fn grid(&self) -> &Grid {
        &self.grid
    }

    /// Listed shapes with their boxes, sorted by the size of the boxes.
    #[must_use]
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Nodes of all cells. If a node is in two cells, it is returned twice.
    pub fn nodes(&self) -> impl Iterator<Item = Node> + '_ {
        self.cells.iter().copied().flatten()
    }

    /// Node of each cell of the torus; `None` for a hole.
    #[must_use]
    pub fn cells(&self) -> &[Option<Node>] {
        &self.cells
    }

    /// Cells of one box, which is given by its corner cell and the index of its listed shape.
    pub fn cells_of_box(&self, entry: usize, corner: u32) -> impl Iterator<Item = u32> + '_ {
        self.cells_of(corner, &self.entries[entry].shape)
    }

    /// Number of boxes of a listed shape, where boxes with equal nodes are counted once.
    #[must_use]
    pub fn distinct_boxes(&self, entry: usize) -> u32 {
        let shape = &self.entries[entry].shape;
        let sides = self.grid.sides();
        // Boxes that differ only along an axis that they fill have equal nodes.
        let mut boxes: Vec<u32> = self.entries[entry].bases.iter().collect();
        if self.holes.is_empty() {
            let along =
                |axis: usize| if shape.sides[axis] == sides[axis] { 0 } else { sides[axis] };
            let place =
                |base: u32| [0, 1, 2].map(|axis| self.grid.coordinate(base, axis).min(along(axis)));
            let mut places: Vec<[u32; 3]> = boxes.into_iter().map(place).collect();
            places.sort_unstable();
            places.dedup();
            return places.len() as u32;
        }
        let nodes = |base: u32| {
            let cells = self.cells_of(base, shape).filter_map(|cell| self.cells[cell as usize]);
            let mut nodes: Vec<Node> = cells.collect();
            nodes.sort_unstable();
            nodes
        };
        boxes.sort_by_cached_key(|&base| nodes(base));
        boxes.dedup_by_key(|base| nodes(*base));
        boxes.len() as u32
    }

    /// Smallest and largest number of boxes of shape `other` that a box of shape `entry` overlaps.
    ///
    /// All nodes of the machine are taken to be free. Only boxes of `entry` without holes are
    /// considered; `None` if there are none.
    #[must_use]
    pub fn breaks(&self, entry: usize, other: usize) -> Option<(u32, u32)> {
        let mut free = NodeSet::empty(self.grid.nodes());
        free.assign_complement(&self.holes);
        let view =
            View { free, by_weight: Vec::new(), required: None, holds_required: true, ends: None };
        let own = &self.entries[entry].complete;
        let counts = self.meeting::<u32>(&view, entry, other, own);
        let counts = || own.iter().map(|base| counts[base as usize]);
        counts().min().zip(counts().max())
    }

    fn cells_in(&self, set: &NodeSet) -> NodeSet {
        let mut cells = NodeSet::empty(self.grid.nodes());
        for &(cell, node, count) in &self.runs {
            cells.copy_range(cell, set, node, count);
        }
        cells
    }

    pub(super) fn view(
        &self,
        nodes: &Nodes,
        available: &NodeSet,
        required: Option<&NodeSet>,
        ends: Option<&Ends>,
    ) -> View {
        let free = self.cells_in(available);
        let mut by_weight = Vec::new();
        if nodes.classes().len() > 1 {
            let mut so_far = NodeSet::empty(self.grid.nodes());
            for (weight, class) in nodes.classes() {
                let mut class = self.cells_in(class);
                class.intersect(&free);
                so_far.unite(&class);
                by_weight.push((*weight, so_far.clone()));
            }
        }
        let holds_required =
            required.is_none_or(|list| list.iter().all(|node| self.cells.contains(&Some(node))));
        let required = required.map(|list| self.cells_in(list));
        View { free, by_weight, required, holds_required, ends: ends.cloned() }
    }

    /// Corner cells of all free boxes of a listed shape; `None` if no box is free.
    ///
    /// If the job requires nodes, only boxes that contain all of them are returned.
    pub(super) fn free_bases(&self, view: &View, entry: usize) -> Option<NodeSet> {
        if !view.holds_required {
            return None;
        }
        let own = &self.entries[entry];
        let mut bases =
            self.free_bases.clone().all(&self.grid, &view.free, &own.shape.sides).clone();
        bases.intersect(&own.complete);
        if let Some(required) = &view.required {
            let mut inside = NodeSet::empty(self.grid.nodes());
            for base in bases.iter() {
                let mut missing = required.clone();
                self.cells_of(base, &own.shape).for_each(|cell| missing.remove(cell));
                // A node in two cells is covered if the box has either cell.
                let is_had = |cell: u32| {
                    let node = self.cells[cell as usize];
                    self.cells_of(base, &own.shape).any(|own| self.cells[own as usize] == node)
                };
                if missing.iter().all(|cell| !self.is_plain && is_had(cell)) {
                    inside.insert(base);
                }
            }
            bases = inside;
        }
        (!bases.is_empty()).then_some(bases)
    }

    /// Of the corner cells in `bases`, the first one in the order in which boxes are tried.
    pub(super) fn first_in_order(&self, entry: usize, bases: &NodeSet) -> Option<u32> {
        let in_order = &self.entries[entry].in_order;
        if !in_order.is_empty() && bases.count() > FEW {
            return in_order.iter().copied().find(|&base| bases.contains(base));
        }
        bases.iter().min_by_key(|&base| self.entries[entry].rank(&self.grid, base))
    }

    pub(super) fn box_at(&self, entry: usize, base: u32, universe: u32) -> NodeSet {
        self.set_of(base, &self.entries[entry].shape, universe)
    }

    fn set_of(&self, base: u32, shape: &Shape, universe: u32) -> NodeSet {
        let mut set = NodeSet::empty(universe);
        if let &[(0, first, count)] = self.runs.as_slice()
            && count == self.grid.nodes()
        {
            // Consecutive cells have consecutive nodes, so whole rows can be inserted.
            let mut column = *shape;
            column.sides[0] = 1;
            let [width, side] = [self.grid.sides()[0], shape.sides[0]];
            let x = self.grid.coordinate(base, 0);
            let before_the_edge = side.min(width - x);
            for cell in self.cells_of(base, &column) {
                set.insert_range(first + cell, before_the_edge);
                set.insert_range(first + cell - x, side - before_the_edge);
            }
            return set;
        }
        for cell in self.cells_of(base, shape) {
            if let Some(node) = self.cells[cell as usize] {
                set.insert(node);
            }
        }
        set
    }

    pub(super) fn fragmentation(&self, available: &NodeSet) -> u64 {
        let mut free = self.cells_in(available);
        free.unite(&self.holes);
        let broken = |entry: &Entry| {
            let mut whole =
                self.free_bases.clone().all(&self.grid, &free, &entry.shape.sides).clone();
            whole.intersect(&entry.bases);
            u64::from(entry.bases.count() - whole.count()) * u64::from(entry.size())
        };
        self.entries.iter().map(broken).sum()
    }
}

/// Runs of consecutive cells that have consecutive nodes: first cell, first node and length.
fn runs_of(cells: &[Option<Node>]) -> Vec<(u32, Node, u32)> {
    let mut runs: Vec<(u32, Node, u32)> = Vec::new();
    for (cell, node) in (0..).zip(cells) {
        let Some(node) = *node else { continue };
        match runs.last_mut() {
            Some((start, first, count)) if *start + *count == cell && *first + *count == node => {
                *count += 1;
            }
            _ => runs.push((cell, node, 1)),
        }
    }
    runs
}
