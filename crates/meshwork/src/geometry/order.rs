//! Orders in which the nodes of a grid are traversed: row-major, snake, shuffled, Hilbert.

use std::sync::Arc;

use crate::geometry::NodeSet;
use crate::job::Dims;
use crate::topology::{Grid, Node};

/// Order in which the nodes of a grid of any number of dimensions are traversed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Nodes in ascending order of their numbers.
    RowMajor,
    /// Nodes along lines that run back and forth. Along a dimension, a line runs backwards where
    /// the sum of the coordinates in higher dimensions is odd.
    Snake,
    /// Nodes in order of the interleaved bits of their coordinates. Bits of higher dimensions come
    /// first.
    ShuffledRowMajor,
    /// Nodes in order of interleaved bits, with coordinates that run back and forth as in
    /// [`Order::Snake`].
    ShuffledSnake,
    /// Nodes in the order of a Hilbert curve. It runs through the smallest cube that contains the
    /// grid and has a power of two as side. Positions off the grid are skipped.
    Hilbert,
}

impl Order {
    /// Returns all nodes of a grid, in the order given by `self`.
    ///
    /// ```
    /// use meshwork::geometry::order::Order;
    /// use meshwork::topology::Grid;
    /// let grid = Grid::new(&[3, 2], false).unwrap();
    /// assert_eq!(Order::Snake.nodes(&grid), [0, 1, 2, 5, 4, 3]);
    /// assert_eq!(Order::Hilbert.nodes(&grid), [0, 1, 4, 3, 5, 2]);
    /// ```
    ///
    /// # Complexity
    /// **O(n log n + n d b)** for *n* nodes, *d* dimensions and sides of *b* bits.
    #[must_use]
    pub fn nodes(self, grid: &Grid) -> Vec<Node> {
        let mut nodes: Vec<Node> = (0..grid.nodes()).collect();
        let bits = grid.sides().iter().map(|side| 32 - (side - 1).leading_zeros()).max();
        let bits = bits.unwrap_or(0);
        // A dimension with a side of 1 adds no information, and its bits would take space in the
        // sort key.
        let wide: Vec<usize> = (0..grid.dimensions()).filter(|&d| grid.sides()[d] > 1).collect();
        let upwards = |at: &Dims| -> Dims { wide.iter().map(|&d| at[d]).collect() };
        let downwards = |at: &Dims| -> Dims { wide.iter().rev().map(|&d| at[d]).collect() };
        match self {
            Order::RowMajor => {}
            Order::Snake => {
                nodes.sort_by_cached_key(|&node| grid.node(&back_and_forth(grid, node)));
            }
            Order::ShuffledRowMajor => nodes
                .sort_by_cached_key(|&node| interleaved(&downwards(&grid.coordinates(node)), bits)),
            Order::ShuffledSnake => nodes.sort_by_cached_key(|&node| {
                interleaved(&downwards(&back_and_forth(grid, node)), bits)
            }),
            Order::Hilbert => nodes.sort_by_cached_key(|&node| {
                let mut at = upwards(&grid.coordinates(node));
                along_hilbert(&mut at, bits);
                interleaved(&at, bits)
            }),
        }
        nodes
    }
}

/// The coordinates of a node, some of them counted from the far edge. A coordinate is counted from
/// the far edge if the sum of the coordinates in higher dimensions is odd.
fn back_and_forth(grid: &Grid, node: Node) -> Dims {
    let mut at = grid.coordinates(node);
    let mut higher = 0;
    for d in (0..at.len()).rev() {
        let here = at[d];
        if higher % 2 == 1 {
            at[d] = grid.sides()[d] - 1 - here;
        }
        higher += here;
    }
    at
}

/// Interleaves the lowest `bits` bits of numbers, at most 192 bits in all.
///
/// The highest bit of each number comes first, then the next bit of each number, and so on.
fn interleaved(numbers: &[u32], bits: u32) -> [u64; 3] {
    let mut key = [0; 3];
    for bit in (0..bits).rev() {
        for number in numbers {
            key[0] = key[0] << 1 | key[1] >> 63;
            key[1] = key[1] << 1 | key[2] >> 63;
            key[2] = key[2] << 1 | u64::from(number >> bit & 1);
        }
    }
    key
}

/// Transforms coordinates so that their interleaved bits are the index on the Hilbert curve.
///
/// Source: Skilling, Programming the Hilbert curve, AIP Conference Proceedings 707, 2004.
fn along_hilbert(at: &mut [u32], bits: u32) {
    for bit in (1..bits).rev() {
        let (set, below) = (1 << bit, (1 << bit) - 1);
        for d in 0..at.len() {
            if at[d] & set != 0 {
                at[0] ^= below;
            } else {
                let swapped = (at[0] ^ at[d]) & below;
                at[0] ^= swapped;
                at[d] ^= swapped;
            }
        }
    }
    for d in 1..at.len() {
        at[d] ^= at[d - 1];
    }
    let last = at.last().copied().unwrap_or(0);
    let turned =
        (1..bits).filter(|bit| last >> bit & 1 == 1).fold(0, |t, bit| t ^ ((1 << bit) - 1));
    at.iter_mut().for_each(|part| *part ^= turned);
}

/// Items in a fixed order, each of them free or held. Items are nodes, or pages (equal blocks of
/// nodes).
#[derive(Clone)]
pub struct OrderedSet {
    things: Arc<[u32]>,
    places: Arc<[u32]>,
    free: NodeSet,
}

impl OrderedSet {
    /// Creates the set of all nodes of a grid, in the order `order`. All nodes are free.
    #[must_use]
    pub fn new(grid: &Grid, order: Order) -> OrderedSet {
        let things = order.nodes(grid);
        let mut places = vec![0; things.len()];
        for (place, &thing) in things.iter().enumerate() {
            places[thing as usize] = place as u32;
        }
        let free = NodeSet::full(grid.nodes());
        OrderedSet { things: things.into(), places: places.into(), free }
    }

    /// The item (node or page) at index `place` of the order.
    #[must_use]
    pub fn at(&self, place: u32) -> u32 {
        self.things[place as usize]
    }

    /// The free items (nodes or pages) of the order, as a set of their indices.
    #[must_use]
    pub fn free(&self) -> &NodeSet {
        &self.free
    }

    /// Marks an item (a node or page) as held.
    pub fn hold(&mut self, thing: u32) {
        self.free.remove(self.places[thing as usize]);
    }

    /// Marks an item (a node or page) as free.
    pub fn give_back(&mut self, thing: u32) {
        self.free.insert(self.places[thing as usize]);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const ALL: [Order; 5] = [
        Order::RowMajor,
        Order::Snake,
        Order::ShuffledRowMajor,
        Order::ShuffledSnake,
        Order::Hilbert,
    ];

    fn places(order: Order) -> Vec<u32> {
        let grid = Grid::new(&[4, 4], false).unwrap();
        OrderedSet::new(&grid, order).places.to_vec()
    }

    #[test]
    fn the_orders_on_four_by_four() {
        let expected: [(Order, [u32; 16]); 5] = [
            (Order::RowMajor, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]),
            (Order::Snake, [0, 1, 2, 3, 7, 6, 5, 4, 8, 9, 10, 11, 15, 14, 13, 12]),
            (Order::ShuffledRowMajor, [0, 1, 4, 5, 2, 3, 6, 7, 8, 9, 12, 13, 10, 11, 14, 15]),
            (Order::ShuffledSnake, [0, 1, 4, 5, 7, 6, 3, 2, 8, 9, 12, 13, 15, 14, 11, 10]),
            (Order::Hilbert, [0, 1, 14, 15, 3, 2, 13, 12, 4, 7, 8, 11, 5, 6, 9, 10]),
        ];
        for (order, expected) in expected {
            assert_eq!(places(order), expected, "{order:?}");
        }
    }

    #[test]
    fn hilbert_steps_to_a_neighbour_on_every_cube_of_a_power_of_two() {
        for (side, dimensions) in [(2, 1), (8, 1), (2, 2), (16, 2), (2, 3), (8, 3), (4, 4), (2, 7)]
        {
            let grid = Grid::new(&vec![side; dimensions], false).unwrap();
            let nodes = Order::Hilbert.nodes(&grid);
            assert!(nodes.windows(2).all(|pair| grid.distance(pair[0], pair[1]) == 1), "{grid:?}");
        }
    }

    #[test]
    fn long_thin_grids_have_room_for_their_bits() {
        let mut sides = vec![2; 9];
        sides.push(1 << 7);
        let grid = Grid::new(&sides, false).unwrap();
        for order in ALL {
            let mut nodes = order.nodes(&grid);
            nodes.sort_unstable();
            assert!(nodes.into_iter().eq(0..grid.nodes()), "{order:?}");
        }
    }

    proptest! {
        #[test]
        fn every_order_has_every_node_once_and_a_snake_never_jumps(
            sides in prop::collection::vec(1_u32..7, 1..5),
        ) {
            let grid = Grid::new(&sides, false).unwrap();
            for order in ALL {
                let mut nodes = order.nodes(&grid);
                if order == Order::Snake {
                    prop_assert!(nodes.windows(2).all(|pair| grid.distance(pair[0], pair[1]) == 1));
                }
                nodes.sort_unstable();
                prop_assert!(nodes.into_iter().eq(0..grid.nodes()));
            }
        }

        #[test]
        fn hilbert_on_a_smaller_grid_leaves_nodes_out(
            sides in prop::collection::vec(1_u32..9, 1..4),
        ) {
            let grid = Grid::new(&sides, false).unwrap();
            let wide: Vec<usize> = (0..sides.len()).filter(|&d| sides[d] > 1).collect();
            let side = sides.iter().map(|side| side.next_power_of_two()).max().unwrap();
            let cube = Grid::new(&vec![side; wide.len().max(1)], false).unwrap();
            let inside = Order::Hilbert.nodes(&cube).into_iter().filter_map(|node| {
                let at = cube.coordinates(node);
                let mut own = vec![0; sides.len()];
                wide.iter().zip(&at).for_each(|(&d, &at)| own[d] = at);
                own.iter().zip(&sides).all(|(at, side)| at < side).then(|| grid.node(&own))
            });
            let inside: Vec<Node> = inside.collect();
            prop_assert_eq!(Order::Hilbert.nodes(&grid), inside);
        }
    }
}
