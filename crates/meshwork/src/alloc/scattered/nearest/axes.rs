//! The dimensions of a grid, as they look from a centre.

use crate::geometry::NodeSet;
use crate::topology::{Grid, Node};

/// What is known of a grid, whatever is free.
#[derive(Clone)]
pub(super) struct Axes {
    pub(super) axes: Vec<Axis>,
    /// The coordinates of each node.
    places: Vec<u16>,
}

/// A dimension of the grid.
#[derive(Clone)]
pub(super) struct Axis {
    pub(super) side: usize,
    pub(super) stride: usize,
    pub(super) is_ring: bool,
    /// How far each coordinate is from each other, a row for each.
    apart: Vec<u32>,
    /// The most that two nodes can be apart in the dimensions before.
    below: u32,
}

impl Axes {
    pub(super) fn new(grid: &Grid) -> Axes {
        let mut below = 0;
        let axes = (0..grid.dimensions()).map(|d| {
            let axis = Axis::new(grid, d, below);
            below += axis.apart.iter().max().copied().unwrap_or(0);
            axis
        });
        let axes = axes.collect();
        let places = |node| grid.coordinates(node).into_iter().map(|at| at as u16);
        Axes { axes, places: (0..grid.nodes()).flat_map(places).collect() }
    }

    /// The coordinates of a node.
    pub(super) fn places(&self, node: Node) -> &[u16] {
        &self.places[node as usize * self.axes.len()..][..self.axes.len()]
    }
}

impl Axis {
    fn new(grid: &Grid, d: usize, below: u32) -> Axis {
        let (side, is_ring) = (grid.sides()[d], grid.is_ring(d));
        let along = |here: u32, there: u32| {
            let straight = here.abs_diff(there);
            if is_ring { straight.min(side - straight) } else { straight }
        };
        let apart = (0..side).flat_map(|here| (0..side).map(move |there| along(here, there)));
        let (apart, stride) = (apart.collect(), grid.strides()[d] as usize);
        Axis { side: side as usize, stride, is_ring, apart, below }
    }

    /// How far each coordinate is from one.
    pub(super) fn apart(&self, here: u16) -> &[u32] {
        &self.apart[usize::from(here) * self.side..][..self.side]
    }
}

/// Finds the first free nodes, up to `left`, that have this distance from a centre in the dimensions of these axes,
/// and the coordinates of `row` in those above. `count` is told how many of them have each coordinate: the dimension,
/// the coordinate, and how many more. How many they are.
pub(super) fn take_of_shell(
    axes: &[Axis],
    here: &[u16],
    row: usize,
    free: &NodeSet,
    distance: u32,
    left: &mut u32,
    count: &mut impl FnMut(usize, usize, u32),
) -> u32 {
    let Some((axis, lower)) = axes.split_last() else { return 0 };
    let at = here[lower.len()];
    if lower.is_empty() {
        return take_of_row(axis, at, row, free, distance, left, count);
    }
    let mut taken = 0;
    for (place, &apart) in axis.apart(at).iter().enumerate() {
        if apart > distance || distance - apart > axis.below {
            continue;
        }
        let (row, distance) = (row + place * axis.stride, distance - apart);
        let here = match lower {
            [first] => take_of_row(first, here[0], row, free, distance, left, count),
            _ => take_of_shell(lower, here, row, free, distance, left, count),
        };
        if here > 0 {
            count(lower.len(), place, here);
            taken += here;
            if *left == 0 {
                break;
            }
        }
    }
    taken
}

/// Of a row there are two at most.
#[inline(always)]
fn take_of_row(
    axis: &Axis,
    at: u16,
    row: usize,
    free: &NodeSet,
    distance: u32,
    left: &mut u32,
    count: &mut impl FnMut(usize, usize, u32),
) -> u32 {
    let (side, at, distance) = (axis.side, usize::from(at), distance as usize);
    let (mut below, mut above) = (at.wrapping_sub(distance), at + distance);
    if axis.is_ring {
        below = if distance > at { below.wrapping_add(side) } else { below };
        above = if above >= side { above - side } else { above };
    }
    let mut taken = 0;
    let mut take = |place: usize| {
        if *left > 0 && place < side && free.contains((row + place) as Node) {
            count(0, place, 1);
            *left -= 1;
            taken += 1;
        }
    };
    // One that is off the line is larger than any place.
    take(below.min(above));
    if below != above {
        take(below.max(above));
    }
    taken
}
