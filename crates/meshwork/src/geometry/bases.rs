//! Search by word shifts for the free bases of a block: the nodes at which it can be placed.

use std::sync::{Arc, OnceLock};

use crate::geometry::NodeSet;
use crate::topology::{Grid, Node};

/// Finds the free bases of a block: nodes at which its lowest corner can be placed.
///
/// Along each dimension, *log s* shifts and intersections reduce a set of free nodes to the first
/// nodes of free runs of length *s*. After all dimensions, the free bases are left. A run that
/// continues into the next row begins too near an edge, and is removed at the end. On a ring,
/// shifts wrap around.
///
/// # Complexity
/// Time **O(d · log s · n / 64)** for sides up to *s* in *d* dimensions and *n* nodes; space **O(n
/// / 64)**, and up to **O(d · s · n / 64)** for cached masks of edges.
#[derive(Clone, Debug)]
pub struct FreeBases {
    bases: NodeSet,
    shifted: NodeSet,
    around: NodeSet,
    /// `below_edge[d][k]`: nodes from which *k* steps up along dimension *d* cross no edge. Each
    /// set is computed when it is first needed.
    below_edge: Arc<EdgeMasks>,
}

impl FreeBases {
    /// Creates the search for blocks on a grid, with its buffers.
    #[must_use]
    pub fn new(grid: &Grid) -> FreeBases {
        let on_a_ring = if grid.is_wrapped() { grid.nodes() } else { 0 };
        FreeBases {
            bases: NodeSet::empty(grid.nodes()),
            shifted: NodeSet::empty(on_a_ring),
            around: NodeSet::empty(on_a_ring),
            below_edge: Arc::new(
                grid.sides().iter().map(|&side| vec![OnceLock::new(); side as usize]).collect(),
            ),
        }
    }

    /// The lowest node at which a free block with the given sides begins; `None` if there is none.
    /// `sides` has one side for each dimension.
    pub fn first(&mut self, grid: &Grid, free: &NodeSet, sides: &[u32]) -> Option<Node> {
        let end = self.narrow(grid, free, sides);
        if grid.is_all_rings() {
            return self.bases.first().filter(|&base| base < end);
        }
        let mut base = self.bases.first().filter(|&base| base < end)?;
        // Bases too near an edge are skipped, a row at a time.
        while let Some(d) = over_the_edge(grid, base, sides) {
            let (stride, side) = (grid.strides()[d], grid.sides()[d]);
            let next = (base / (stride * side) + 1) * (stride * side);
            base = self.bases.first_from(next).filter(|&base| base < end)?;
        }
        Some(base)
    }

    /// All nodes at which a free block with the given sides begins. `sides` has one side for each
    /// dimension.
    pub fn all(&mut self, grid: &Grid, free: &NodeSet, sides: &[u32]) -> &NodeSet {
        let end = self.narrow(grid, free, sides);
        self.bases.remove_range(end, grid.nodes() - end);
        if end > 0 && !grid.is_all_rings() {
            // `end` already excludes the bases too near the edge of the last dimension, unless it
            // is a ring.
            for (d, side) in sides.iter().enumerate().rev().skip(1) {
                if !grid.is_ring(d) {
                    self.bases.intersect(below_edge(&self.below_edge, grid, d, side - 1));
                }
            }
        }
        &self.bases
    }

    /// Stores in `bases` the candidates for bases of a free block with the given sides. Only the
    /// bits below the returned node are valid.
    fn narrow(&mut self, grid: &Grid, free: &NodeSet, sides: &[u32]) -> Node {
        if sides.iter().zip(grid.sides()).any(|(side, most)| side > most) {
            return 0;
        }
        // The first reduction along a ring reads `free` in place, without a copy.
        let mut unread = Some(free);
        let mut end = grid.nodes();
        let mut words = 0..free.words().len();
        // The last dimension is reduced first. If it has an edge, words past the last base that
        // fits are then left out of the reductions along all other dimensions.
        for (d, &side) in sides.iter().enumerate().rev() {
            let (mut run, is_ring) = (1, grid.is_ring(d));
            while run < side {
                let step = run.min(side - run);
                run += step;
                if is_ring {
                    if !self.keep_if_ahead_on_the_ring(grid, unread.take(), d, step) {
                        return 0;
                    }
                    continue;
                }
                if let Some(free) = unread.take() {
                    self.bases.copy_from(free);
                }
                if d + 1 == sides.len() {
                    end = (grid.sides()[d] - run + 1) * grid.strides()[d];
                    words.end = words.end.min(end.div_ceil(64) as usize);
                }
                words = self.bases.keep_if_above_within(words, step * grid.strides()[d]);
                if words.is_empty() {
                    return 0;
                }
            }
        }
        if let Some(free) = unread {
            self.bases.copy_from(free);
        }
        end.min(words.end as Node * 64)
    }

    /// Selects the nodes of a set from which `step` steps along a ring lead to a node of the set.
    /// The set is `other`, or `bases` if `other` is `None`. The selected nodes become the new
    /// `bases`. Returns whether any node was selected.
    fn keep_if_ahead_on_the_ring(
        &mut self,
        grid: &Grid,
        other: Option<&NodeSet>,
        d: usize,
        step: u32,
    ) -> bool {
        let ring = grid.strides()[d] * grid.sides()[d];
        let by = step * grid.strides()[d];
        // Several rings within a word are rotated at once, and so is a ring that is the whole grid.
        let is_turned = 64 % ring == 0 || ring == grid.nodes() && ring.is_multiple_of(64);
        let bases = other.unwrap_or(&self.bases);
        let any = if is_turned {
            self.shifted.assign_kept_if_ahead(bases, ring, by)
        } else {
            let straight_on = below_edge(&self.below_edge, grid, d, step);
            self.shifted.assign_kept_if_ahead_or_back(bases, by, ring - by, straight_on)
        };
        std::mem::swap(&mut self.bases, &mut self.shifted);
        any
    }

    /// Stores in `to` the nodes from which `step` steps upwards along dimension `d` lead into
    /// `from`.
    pub(crate) fn assign_ahead(
        &mut self,
        grid: &Grid,
        from: &NodeSet,
        d: usize,
        step: u32,
        to: &mut NodeSet,
    ) {
        let (stride, side) = (grid.strides()[d], grid.sides()[d]);
        let (ring, is_ring) = (stride * side, grid.is_ring(d));
        if is_ring && (ring.is_multiple_of(64) || 64 % ring == 0) {
            to.assign_rotated_down(from, ring, step % side * stride);
            return;
        }
        to.assign_shifted_down(from, step * stride);
        let straight_on = below_edge(&self.below_edge, grid, d, step);
        to.intersect(straight_on);
        if is_ring {
            self.around.assign_shifted_up(from, (side - step) * stride);
            self.around.subtract(straight_on);
            to.unite(&self.around);
        }
    }
}

/// The first dimension along which a block at `base` would cross an edge of the grid. A ring has no
/// edge.
fn over_the_edge(grid: &Grid, base: Node, sides: &[u32]) -> Option<usize> {
    let crosses =
        |&d: &usize| !grid.is_ring(d) && grid.coordinate(base, d) + sides[d] > grid.sides()[d];
    (0..sides.len()).find(crosses)
}

type EdgeMasks = Vec<Vec<OnceLock<NodeSet>>>;

fn below_edge<'a>(kept: &'a EdgeMasks, grid: &Grid, d: usize, margin: u32) -> &'a NodeSet {
    kept[d][margin as usize].get_or_init(|| {
        let (stride, side) = (grid.strides()[d], grid.sides()[d]);
        let mut nodes = NodeSet::empty(grid.nodes());
        for row in (0..grid.nodes()).step_by((stride * side) as usize) {
            nodes.insert_range(row, (side - margin) * stride);
        }
        nodes
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::geometry::Block;
    use crate::job::Dims;

    fn bases_by_search(grid: &Grid, free: &NodeSet, sides: &[u32]) -> Vec<Node> {
        (0..grid.nodes())
            .filter(|&base| {
                let corner = grid.coordinates(base);
                let inside = (0..sides.len()).all(|d| corner[d] + sides[d] <= grid.sides()[d]);
                let fits = (0..sides.len()).all(|d| sides[d] <= grid.sides()[d]);
                if !(inside || grid.is_wrapped() && fits) {
                    return false;
                }
                let mut all_free = true;
                Block { base, sides: Dims::from_slice(sides) }.for_each_run(
                    grid,
                    |start, count| {
                        all_free &= (start..start + count).all(|node| free.contains(node));
                    },
                );
                all_free
            })
            .collect()
    }

    proptest! {
        #[test]
        fn shifting_words_agrees_with_looking_at_every_node(
            sides in prop::collection::vec(1_u32..8, 1..5),
            wrapped in any::<bool>(),
            ask in prop::collection::vec(1_u32..6, 5),
            words in prop::collection::vec(any::<u64>(), 65),
            denser in prop::collection::vec(any::<u64>(), 65),
        ) {
            let grid = Grid::new(&sides, wrapped).unwrap();
            let mut free = NodeSet::empty(grid.nodes());
            for node in 0..grid.nodes() {
                let bit = |w: &[u64]| w[node as usize / 64] >> (node % 64) & 1 == 1;
                if bit(&words) || bit(&denser) {
                    free.insert(node);
                }
            }
            let ask = &ask[..sides.len()];
            let expected = bases_by_search(&grid, &free, ask);
            let mut bases = FreeBases::new(&grid);
            prop_assert_eq!(bases.first(&grid, &free, ask), expected.first().copied());
            prop_assert!(bases.all(&grid, &free, ask).iter().eq(expected));
        }
    }
}
