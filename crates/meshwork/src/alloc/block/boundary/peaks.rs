//! Which free bases can be the best ones, when what counts is contact with held nodes.

use super::contact::Faces;
use crate::alloc::block::held::Span;
use crate::geometry::NodeSet;
use crate::topology::{Grid, Node};

/// The nodes at the edges of what is held: for each dimension those whose neighbour below is not
/// held, or is held by another block, and the same above.
///
/// There may be more nodes in the sets than that, but not fewer.
#[derive(Clone, Debug)]
pub(super) struct Edges {
    pub(super) low: Vec<NodeSet>,
    pub(super) high: Vec<NodeSet>,
    /// For each dimension the nodes at its first coordinate, and those at its last.
    first: Vec<NodeSet>,
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

    /// The edges of all that is held, whoever holds it. **O(d · n / 64)**.
    pub(super) fn of_held(&mut self, grid: &Grid, free: &NodeSet) {
        self.held.assign_complement(free);
        for d in 0..grid.dimensions() {
            let stride = grid.strides()[d];
            self.low[d].assign_shifted_up(free, stride);
            self.high[d].assign_shifted_down(free, stride);
            // Shifts lead astray at the first and last coordinates: there every node will do.
            self.low[d].unite(&self.first[d]);
            self.high[d].unite(&self.last[d]);
            self.low[d].intersect(&self.held);
            self.high[d].intersect(&self.held);
        }
    }

    /// The edges of each of these spans, where one of another weight may begin. **O(n / 64)**, and
    /// the nodes on the surfaces.
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

/// Finds, among the free bases of a block, those that can have the most contact and the lowest
/// index of all that have as much.
///
/// Move a block along one dimension, as far as its nodes stay free. Only at the two ends of the way
/// is there contact across that dimension. Between them contact is what the other faces
/// meet, and that changes with each step by what comes in at the front of the face less what
/// goes out at its back. Where it has risen and does not rise further, some held node ends:
/// one with nothing of its own before it has come level with the back of the block, or one with
/// nothing behind it with the front. So a base is a peak only if along each dimension it is an end
/// of its way, or an edge of something held lies there, in a face across another dimension. This is
/// the argument that the best place lies at the corners of the held blocks (Das Sharma &
/// Pradhan), for sets of nodes instead of lists of blocks; it uses only that no contact is
/// negative, so that blocks may have weights.
///
/// With `corners`, ties in contact go to the block with more held nodes about its corners. That
/// number can rise along the way without a change in contact where a held node begins level
/// with the back or the front of the block, or one step before or beyond.
///
/// # Complexity
/// **O(d² · n / 64)** in two dimensions, and **O(d³ · log s · n / 64)** in *d*, for *n* nodes and sides
/// up to *s*.
#[derive(Clone, Debug)]
pub(super) struct Peaks {
    peaks: NodeSet,
    /// The words of those that have any.
    words: Vec<usize>,
    /// For each dimension the bases that cannot be moved down along it, and those not up, among
    /// nodes that are no bases at all. Around a ring some are here that can be moved.
    low: Vec<NodeSet>,
    high: Vec<NodeSet>,
    /// The ends of the way along one dimension, and the bases beside an edge along it.
    candidates: NodeSet,
    /// For each base, whether an edge lies level with it.
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

    /// Finds the peaks among all free `bases` of a block of these sides, and perhaps a few more
    /// bases.
    pub(super) fn find(
        &mut self,
        grid: &Grid,
        bases: &NodeSet,
        sides: &[u32],
        edges: &Edges,
        corners: bool,
    ) {
        // Nothing is done for nodes above the highest base. (`level` looks further than that.)
        let Peaks { peaks, low, high, candidates, spare, .. } = self;
        peaks.fit_to(bases);
        let sets = [candidates, spare].into_iter().chain(low).chain(high);
        sets.for_each(|set| set.fit_as(peaks));
        self.peaks.assign_shifted_down(bases, 0);
        for d in 0..grid.dimensions() {
            let stride = grid.strides()[d];
            // Shifts lead astray at the first and last coordinates: there every base is an end.
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

    /// Calls `visit` for every peak found that is blocked on all sides, lowest first, or for all the
    /// others, with the faces across which it is blocked: only there it has contact.
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

    /// Brings every edge along `d` to the coordinates of the bases that are level with it.
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

    /// Adds to the candidates the bases of blocks with a level edge in a face across another
    /// dimension than `d`.
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

    /// Brings what lies within a block along a dimension to its base; with `corners`, what lies
    /// one step before it or beyond it too.
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

/// Adds every node that has one of `from` so many steps ahead of it along a dimension, and perhaps
/// others.
fn add_ahead(to: &mut NodeSet, grid: &Grid, from: &NodeSet, d: usize, steps: u32) {
    let (stride, side) = (grid.strides()[d], grid.sides()[d]);
    let steps = if grid.is_ring(d) { steps % side } else { steps };
    to.unite_shifted_down(from, steps * stride);
    if grid.is_ring(d) && steps > 0 {
        to.unite_shifted_up(from, (side - steps) * stride);
    }
}

/// Adds every node that has one of `from` one step behind it along a dimension, and perhaps others.
fn add_behind(to: &mut NodeSet, grid: &Grid, from: &NodeSet, d: usize) {
    let (stride, side) = (grid.strides()[d], grid.sides()[d]);
    to.unite_shifted_up(from, stride);
    if grid.is_ring(d) && side > 1 {
        to.unite_shifted_down(from, (side - 1) * stride);
    }
}
