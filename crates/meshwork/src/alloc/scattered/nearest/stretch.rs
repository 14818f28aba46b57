//! Hops over all pairs of a centre's nearest nodes, computed for adjacent centres in one pass.

use crate::geometry::NodeSet;
use crate::topology::Grid;

use super::axes::{Axes, take_of_shell};
use super::balls::Reached;
use super::hops::hops_over_pairs;
use super::lanes::{LANES, Lanes, hops_side_by_side};
use super::planes::Planes;

/// Counts of the nearest free nodes of up to [`LANES`] centres, which are adjacent nodes of a
/// plane.
///
/// A plane extends along the lower dimensions of the grid. For each centre, the cost is **O(p)**
/// with *p* planes, plus one lookup for each coordinate of the lower dimensions. The nodes of all
/// planes are counted once for each distinct radius among the centres. If a centre may be the best,
/// one plane is also examined node by node.
pub(super) struct Stretch {
    /// For each plane and each centre, the number of nearest nodes of the centre in this plane.
    by_plane: Vec<Lanes<u16>>,
    /// For each centre, numbers of its nearest nodes by their coordinate along one upper dimension.
    along: Vec<Lanes<u16>>,
    /// For each coordinate along each lower dimension, the number of each centre's nearest nodes.
    ///
    /// In one plane, only some of the nodes at the largest distance are among the nearest nodes.
    /// These nodes are not counted here.
    lower: Vec<Vec<Lanes<u16>>>,
    /// For each centre, number of planes of which all nodes at the largest selected distance are
    /// taken.
    whole: Lanes<u16>,
    /// For each centre, the number of nodes taken at the largest distance in one plane.
    ///
    /// It is the plane of which some, but not all, nodes at the largest selected distance are
    /// taken.
    rest: Lanes<u16>,
    /// For each centre, the number of its nearest nodes that are counted, which is all but `rest`.
    ///
    /// Not counted are nodes at the largest distance in the plane that is only partly taken.
    counted: Lanes<u16>,
    /// For each centre, the hops along the upper dimensions, summed over all pairs of its nearest
    /// nodes.
    above: Lanes<u64>,
    /// For each centre, the hops along the lower dimensions, summed over pairs of its nearest
    /// nodes.
    ///
    /// In one plane, only some of the nodes at the largest distance are taken. These are left out
    /// of the sum.
    below: Lanes<u64>,
    /// For each coordinate of each lower dimension, the number of one centre's nearest nodes there.
    counts: Vec<Vec<u32>>,
}

impl Stretch {
    /// Creates buffers for a grid whose planes extend along the first `lower` dimensions.
    pub(super) fn new(grid: &Grid, lower: usize) -> Stretch {
        let (below, above) = grid.sides().split_at(lower);
        let rows = |count: u32| vec![[0; LANES]; count as usize];
        Stretch {
            by_plane: rows(above.iter().product()),
            along: rows(above.iter().max().copied().unwrap_or(0)),
            lower: below.iter().map(|&side| rows(side)).collect(),
            whole: [0; LANES],
            rest: [0; LANES],
            counted: [0; LANES],
            above: [0; LANES],
            below: [0; LANES],
            counts: below.iter().map(|&side| vec![0; side as usize]).collect(),
        }
    }

    /// Copy of equal size, whose contents are overwritten before they are read.
    pub(super) fn empty_copy(&self) -> Stretch {
        let Stretch { by_plane, along, lower, counts, .. } = self;
        let (by_plane, along) = (by_plane.clone(), along.clone());
        let (lower, counts) = (lower.clone(), counts.clone());
        Stretch { by_plane, along, lower, counts, ..*self }
    }

    /// Counts the `count` nearest free nodes around each of several adjacent centres.
    ///
    /// The centres belong to one [stretch](Planes::stretch). `planes` must have been computed for
    /// the plane in which they lie.
    pub(super) fn look_at(
        &mut self,
        planes: &Planes,
        axes: &Axes,
        centres: &[Reached],
        count: u32,
    ) {
        self.count_planes(planes, centres);
        self.counted = self.rest.map(|rest| (count as u16).wrapping_sub(rest));
        self.above = self.hops_above(planes, axes, &[count as u16; LANES]);
        self.below = [0; LANES];
        let nodes = planes.nodes;
        for (d, rows) in self.lower.iter_mut().enumerate() {
            let axis = &axes.axes[d];
            for reached in centres {
                let (here, node) = (axes.places(reached.centre)[d], planes.lane(reached.centre));
                let lane = node % LANES;
                let taken = planes.taken(d, self.whole[lane].into());
                let mut node = node - usize::from(here) * axis.stride;
                let farthest = (reached.shell as usize + 1) * nodes;
                for (row, &apart) in rows.iter_mut().zip(axis.apart(here)) {
                    row[lane] = taken[farthest.saturating_sub(apart as usize * nodes) + node];
                    node += axis.stride;
                }
            }
            let hops = hops_side_by_side(rows, &self.counted, axis.is_ring);
            self.below.iter_mut().zip(hops).for_each(|(sum, hops)| *sum += hops);
        }
    }

    /// Hops over all pairs of the nodes nearest to a centre; `None` if the centre cannot be the
    /// best.
    ///
    /// It cannot be the best if `may_be` rejects a lower bound of the hops.
    pub(super) fn hops(
        &mut self,
        planes: &Planes,
        axes: &Axes,
        free: &NodeSet,
        reached: Reached,
        may_be: impl Fn(u64) -> bool,
    ) -> Option<u64> {
        let lane = planes.lane(reached.centre) % LANES;
        let (above, below) = (self.above[lane], self.below[lane]);
        let mut left = u32::from(self.rest[lane]);
        if left == 0 {
            return may_be(above + below).then_some(above + below);
        }
        // Each further node adds at least half the mean distance sum, below / counted.
        let more = u64::from(left) * below;
        let more = more.checked_div(self.counted[lane].into()).unwrap_or(0);
        if !may_be(above + below + more) {
            return None;
        }
        for (counts, rows) in self.counts.iter_mut().zip(&self.lower) {
            counts.iter_mut().zip(rows).for_each(|(count, row)| *count = row[lane].into());
        }
        let whole = usize::from(self.whole[lane]);
        let (row, distance) = planes.after(whole, reached.shell);
        let (counts, lower) = (&mut self.counts, self.lower.len());
        let mut count = |d: usize, place: usize, more: u32| counts[d][place] += more;
        let (here, of_lower) = (&axes.places(reached.centre)[..lower], &axes.axes[..lower]);
        take_of_shell(of_lower, here, row, free, distance, &mut left, &mut count);
        let of_lower = self.counts.iter().zip(of_lower);
        let below = of_lower.map(|(counts, axis)| hops_over_pairs(counts, axis.is_ring));
        Some(above + below.sum::<u64>())
    }

    /// Counts the nearest nodes of each centre in each plane. Centres with equal radii are served
    /// by one pass over the planes.
    fn count_planes(&mut self, planes: &Planes, centres: &[Reached]) {
        let Stretch { by_plane, whole, rest, .. } = self;
        by_plane.fill([0; LANES]);
        (*whole, *rest) = ([0; LANES], [0; LANES]);
        let first = centres.first().map_or(0, |reached| planes.lane(reached.centre));
        let first = first - first % LANES;
        let mut shells = Lanes::from([u32::MAX; LANES]);
        let mut of_it = [0; LANES];
        for reached in centres {
            let lane = planes.lane(reached.centre) - first;
            (shells[lane], of_it[lane]) = (reached.shell, reached.of_it as u16);
        }
        let mut next = shells.iter().min().copied();
        while let Some(shell) = next.filter(|&shell| shell < u32::MAX) {
            next = shells.iter().filter(|&&other| other > shell).min().copied();
            let these = shells.map(|other| if other == shell { u16::MAX } else { 0 });
            // The part of the shell left to take, and whether all of it was taken so far.
            let (mut left, mut all) = (of_it, these);
            for (p, counts) in by_plane.iter_mut().enumerate() {
                let (within, nearer) = planes.within(p, shell, first);
                for lane in 0..LANES {
                    let ring = within[lane].wrapping_sub(nearer[lane]);
                    let some = ring.min(left[lane]);
                    left[lane] -= some;
                    counts[lane] |= nearer[lane].wrapping_add(some) & these[lane];
                    all[lane] &= if some == ring { u16::MAX } else { 0 };
                    whole[lane] += all[lane] & 1;
                    rest[lane] |= some & !all[lane] & these[lane];
                }
            }
        }
    }

    /// For each centre, the hops along upper dimensions, summed over pairs of its nearest nodes.
    ///
    /// The sum is computed from the counts in `by_plane`, which are overwritten.
    fn hops_above(&mut self, planes: &Planes, axes: &Axes, all: &Lanes<u16>) -> Lanes<u64> {
        let (mut by_plane, mut sums) = (&mut self.by_plane[..], [0; LANES]);
        for axis in axes.axes[planes.lower..].iter().rev() {
            let length = by_plane.len() / axis.side;
            let along = &mut self.along[..axis.side];
            for (count, planes) in along.iter_mut().zip(by_plane.chunks_exact(length)) {
                *count = planes[0];
                planes[1..].iter().for_each(|planes| add(count, planes));
            }
            let hops = hops_side_by_side(along, all, axis.is_ring);
            sums.iter_mut().zip(hops).for_each(|(sum, hops)| *sum += hops);
            let (below, others) = by_plane.split_at_mut(length);
            for planes in others.chunks_exact(length) {
                below.iter_mut().zip(planes).for_each(|(sums, counts)| add(sums, counts));
            }
            by_plane = below;
        }
        sums
    }
}

fn add(to: &mut Lanes<u16>, more: &Lanes<u16>) {
    to.iter_mut().zip(more).for_each(|(to, more)| *to += more);
}
