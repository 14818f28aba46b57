//! Distances between coordinates along each dimension of a grid, stored as tables.

use crate::geometry::NodeSet;
use crate::topology::{Grid, Node};

/// Tables of distances and coordinates of a grid, independent of which nodes are free.
#[derive(Clone)]
pub(super) struct Axes {
    pub(super) axes: Vec<Axis>,
    /// Coordinates of all nodes: those of node 0, then those of node 1, and so on.
    places: Vec<u16>,
}

#[derive(Clone)]
pub(super) struct Axis {
    pub(super) side: usize,
    pub(super) stride: usize,
    pub(super) is_ring: bool,
    /// Distances between all pairs of coordinates of this dimension, one row for each coordinate.
    apart: Vec<u32>,
    /// Largest distance between two nodes that differ only in the lower dimensions.
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

    /// Distance of each coordinate from the coordinate `here`.
    pub(super) fn apart(&self, here: u16) -> &[u32] {
        &self.apart[usize::from(here) * self.side..][..self.side]
    }
}

/// Takes the first free nodes of a shell, at most `left`; returns the number of taken nodes.
///
/// The shell has the nodes at `distance` from the centre `here`, along the dimensions in `axes`.
/// Along all other dimensions, its nodes have the coordinates of the node `row`. `count` is called
/// with a dimension, a coordinate and the number of nodes taken there.
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

/// Takes the free nodes of a row that lie at a given distance from a centre: at most two nodes.
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
    // A position off the line is larger than any position on it.
    take(below.min(above));
    if below != above {
        take(below.max(above));
    }
    taken
}
