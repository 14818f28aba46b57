//! Positions, called peaks, at which a free block may have the most contact with held nodes.

use super::contact::Faces;
use crate::alloc::block::held::Span;
use crate::geometry::NodeSet;
use crate::topology::{Grid, Node};

/// For each dimension, the nodes at the low end and at the high end of the held blocks.
///
/// The sets may contain further nodes. Depending on how they are filled, nodes at borders between
/// touching held blocks belong to them or not.
#[derive(Clone, Debug)]
pub(super) struct Edges {
    pub(super) low: Vec<NodeSet>,
    pub(super) high: Vec<NodeSet>,
    /// For each dimension, the nodes with the coordinate 0.
    first: Vec<NodeSet>,
    /// For each dimension, the nodes with the highest coordinate.
    last: Vec<NodeSet>,
    held: NodeSet,
}

impl Edges {
    pub(super) fn new(grid: &Grid) -> Edges {
        let sets = || vec![NodeSet::empty(grid.nodes()); grid.dimensions()];
        let (mut first, mut last) = (sets(), sets());
        for d in 0..grid.dimensions() {
            let (stride, side) = (grid.strides()[d], grid.sides()[d]);
            for start in (0..grid.nodes()).step_by((stride * side) as usize) {
                first[d].insert_range(start, stride);
                last[d].insert_range(start + (side - 1) * stride, stride);
            }
        }
        Edges { low: sets(), high: sets(), first, last, held: NodeSet::empty(grid.nodes()) }
    }

    /// Finds the edges between held and free nodes; borders between two held blocks are not
    /// included.
    ///
    /// **O(d · n / 64)** for *n* nodes in *d* dimensions.
    pub(super) fn of_held(&mut self, grid: &Grid, free: &NodeSet) {
        self.held.assign_complement(free);
        for d in 0..grid.dimensions() {
            let stride = grid.strides()[d];
            self.low[d].assign_shifted_up(free, stride);
            self.high[d].assign_shifted_down(free, stride);
            // Shifts cross rows, so held nodes at the first and last coordinates are edges.
            self.low[d].unite(&self.first[d]);
            self.high[d].unite(&self.last[d]);
            self.low[d].intersect(&self.held);
            self.high[d].intersect(&self.held);
        }
    }

    /// Finds the edges of each held span, including borders between spans, which may differ in
    /// weight.
    ///
    /// **O(n / 64)** for *n* nodes, plus the number of nodes on the surfaces of the spans.
    pub(super) fn of_spans<'a>(&mut self, grid: &Grid, spans: impl Iterator<Item = &'a Span>) {
        self.low.iter_mut().chain(&mut self.high).for_each(NodeSet::clear);
        for span in spans {
            for d in 0..grid.dimensions() {
                let mut face = span.clone();
                face.high[d] = face.low[d] + 1;
                face.for_each_run(grid, |start, count| self.low[d].insert_range(start, count));
                face.low[d] = span.high[d] - 1;
                face.high[d] = span.high[d];
                face.for_each_run(grid, |start, count| self.high[d].insert_range(start, count));
            }
        }
    }
}

/// Search for the positions at which a free block may have the most contact with held nodes.
///
/// A position is the base (lowest corner) of the block. Of all positions with the most contact, the
/// lowest one is always found.
///
/// Consider a block that moves up along one dimension while all its nodes remain free. Ahead of it
/// and behind it, it touches held nodes only at the two ends of its range. In between, each step
/// adds the held neighbours beside its new front, and subtracts those beside its old back. Suppose
/// that one step raises the contact, but the next step does not. Then a held block beside the
/// moving block begins level with its back, or ends level with its front.
///
/// A base is therefore a candidate, called a peak, only if the following holds for each dimension.
/// The base is an end of its range, or a held block beside another face begins or ends in this way.
///
/// Das Sharma & Pradhan show this for lists of blocks. It also holds for sets of nodes, and for
/// held blocks of different weights, as long as no contact is negative.
///
/// If `corners` is set, ties go to the block with more held nodes around its corners. While the
/// contact remains equal, this number can rise only in one case. A held block must begin level with
/// the back or the front of the block, or one step beyond them. Bases with such a held block are
/// candidates too.
///
/// **O(d² · n / 64)** in two dimensions, otherwise **O(d³ · log s · n / 64)**, for sides up to *s*.
#[derive(Clone, Debug)]
pub(super) struct Peaks {
    peaks: NodeSet,
    words: Vec<usize>,
    /// For each dimension, the bases (lowest corners) from which the block cannot move one step
    /// down.
    ///
    /// The sets also contain nodes that are not bases. On a ring, they also contain bases at
    /// coordinate 0 from which the block can move.
    low: Vec<NodeSet>,
    /// For each dimension, the bases (lowest corners) from which the block cannot move one step up.
    ///
    /// The block has the requested size, and may only cover free nodes. The sets also contain nodes
    /// that are not bases.
    high: Vec<NodeSet>,
    /// Bases that satisfy the condition for a [peak](Peaks) in the current dimension.
    candidates: NodeSet,
    /// Bases at which a block begins or ends level with an edge of a held block.
    ///
    /// Only edges along the current dimension are considered.
    level: NodeSet,
    reached: NodeSet,
    spare: NodeSet,
}

impl Peaks {
    pub(super) fn new(grid: &Grid) -> Peaks {
        let set = || NodeSet::empty(grid.nodes());
        let sets = || vec![set(); grid.dimensions()];
        Peaks {
            peaks: set(),
            words: Vec::new(),
            low: sets(),
            high: sets(),
            candidates: set(),
            level: set(),
            reached: set(),
            spare: set(),
        }
    }

    /// Finds all bases at which a free block may have the most contact with held nodes.
    ///
    /// Some other bases may also be found.
    pub(super) fn find(
        &mut self,
        grid: &Grid,
        bases: &NodeSet,
        sides: &[u32],
        edges: &Edges,
        corners: bool,
    ) {
        // All sets end at the highest base, except `level`, which needs the nodes above this base.
        let Peaks { peaks, low, high, candidates, spare, .. } = self;
        peaks.fit_to(bases);
        let sets = [candidates, spare].into_iter().chain(low).chain(high);
        sets.for_each(|set| set.fit_as(peaks));
        self.peaks.assign_shifted_down(bases, 0);
        for d in 0..grid.dimensions() {
            let stride = grid.strides()[d];
            // Shifts cross rows, so all bases at the first and last coordinates count as ends.
            self.spare.assign_shifted_up(bases, stride);
            self.low[d].assign_complement(&self.spare);
            self.low[d].unite(&edges.first[d]);
            self.spare.assign_shifted_down(bases, stride);
            self.high[d].assign_complement(&self.spare);
            self.high[d].unite(&edges.last[d]);
            self.candidates.assign_union(&self.low[d], &self.high[d]);
            if grid.dimensions() > 1 {
                self.level_with(grid, d, sides[d], edges, corners);
                self.beside_faces(grid, d, sides, corners);
            }
            self.peaks.intersect(&self.candidates);
        }
        let words = self.peaks.words().iter().enumerate();
        self.words.clear();
        self.words.extend(words.filter(|(_, word)| **word != 0).map(|(index, _)| index));
    }

    /// Calls `visit` for each peak, lowest first, with the faces across which the block there
    /// cannot move.
    ///
    /// The block can touch held nodes only at these faces. If `all_sides` is set, only peaks at
    /// which the block cannot move in any direction are visited. Otherwise, only the other peaks
    /// are visited.
    pub(super) fn for_each(&self, all_sides: bool, mut visit: impl FnMut(Node, Faces)) {
        let faces = || self.low.iter().zip(&self.high);
        for &i in &self.words {
            let word = self.peaks.words()[i];
            let enclosed =
                faces().fold(word, |word, (low, high)| word & low.words()[i] & high.words()[i]);
            let mut rest = if all_sides { enclosed } else { word & !enclosed };
            while rest != 0 {
                let bit = rest.trailing_zeros();
                let mut blocked = Faces::default();
                for (d, (low, high)) in faces().enumerate() {
                    blocked.add(d, false, low.words()[i] >> bit & 1 == 1);
                    blocked.add(d, true, high.words()[i] >> bit & 1 == 1);
                }
                visit(i as Node * 64 + bit, blocked);
                rest &= rest - 1;
            }
        }
    }

    /// Stores in `level` the bases at which a block is level with an edge along dimension `d`.
    ///
    /// Such a block begins at a low edge, or ends at a high edge. If `corners` is set, bases at
    /// which the block is one step off an edge are included.
    fn level_with(&mut self, grid: &Grid, d: usize, side: u32, edges: &Edges, corners: bool) {
        let (low, high) = (&edges.low[d], &edges.high[d]);
        self.level.copy_from(low);
        add_ahead(&mut self.level, grid, high, d, side - 1);
        if corners {
            add_behind(&mut self.level, grid, low, d);
            add_ahead(&mut self.level, grid, low, d, side - 1);
            add_ahead(&mut self.level, grid, low, d, side);
        }
    }

    /// Adds bases at which a block touches a held block, and is level with its edge along dimension
    /// `d`.
    ///
    /// Only faces across other dimensions than `d` count as touching.
    fn beside_faces(&mut self, grid: &Grid, d: usize, sides: &[u32], corners: bool) {
        for across in (0..sides.len()).filter(|&across| across != d) {
            if sides.len() == 2 {
                add_ahead(&mut self.candidates, grid, &self.level, across, sides[across]);
                add_behind(&mut self.candidates, grid, &self.level, across);
                continue;
            }
            self.reached.copy_from(&self.level);
            for along in (0..sides.len()).filter(|&along| along != d && along != across) {
                self.spread(grid, along, sides[along], corners);
            }
            add_ahead(&mut self.candidates, grid, &self.reached, across, sides[across]);
            add_behind(&mut self.candidates, grid, &self.reached, across);
        }
    }

    /// Replaces each node in `reached` by the bases of all blocks that contain it.
    ///
    /// The blocks extend over `side` nodes along the dimension `along`, and over one node
    /// otherwise. If `corners` is set, blocks that end just before the node or begin just after it
    /// are included.
    fn spread(&mut self, grid: &Grid, along: usize, side: u32, corners: bool) {
        let mut length = side;
        if corners {
            self.spare.copy_from(&self.reached);
            add_behind(&mut self.reached, grid, &self.spare, along);
            length = (side + 1).min(grid.sides()[along]);
        }
        let mut run = 1;
        while run < length {
            let step = run.min(length - run);
            self.spare.copy_from(&self.reached);
            add_ahead(&mut self.reached, grid, &self.spare, along, step);
            run += step;
        }
    }
}

/// Adds the nodes that lie `steps` below a node of `from` along dimension `d`. Some other nodes may
/// be added too.
fn add_ahead(to: &mut NodeSet, grid: &Grid, from: &NodeSet, d: usize, steps: u32) {
    let (stride, side) = (grid.strides()[d], grid.sides()[d]);
    let steps = if grid.is_ring(d) { steps % side } else { steps };
    to.unite_shifted_down(from, steps * stride);
    if grid.is_ring(d) && steps > 0 {
        to.unite_shifted_up(from, (side - steps) * stride);
    }
}

/// Adds the nodes that lie one step above a node of `from` along dimension `d`.
///
/// Some other nodes may be added too.
fn add_behind(to: &mut NodeSet, grid: &Grid, from: &NodeSet, d: usize) {
    let (stride, side) = (grid.strides()[d], grid.sides()[d]);
    to.unite_shifted_up(from, stride);
    if grid.is_ring(d) && side > 1 {
        to.unite_shifted_down(from, (side - 1) * stride);
    }
}
