//! Hops over all pairs of the nodes nearest to each of several adjacent centres.

use crate::geometry::NodeSet;
use crate::topology::Grid;

use super::axes::{Axes, take_of_shell};
use super::balls::Reached;
use super::hops::hops_over_pairs;
use super::lanes::{LANES, Lanes, hops_side_by_side};
use super::planes::Planes;

/// Up to [`LANES`] adjacent nodes of a plane as centres, and counts of the nearest nodes of each.
///
/// # Complexity
/// The cost for each centre is **O(p)** with *p* planes, and one lookup for each coordinate of the
/// lower dimensions. The nodes of all planes are counted once for each distinct largest distance
/// among the centres. One plane is examined for each centre that may be the best.
pub(super) struct Stretch {
    /// For each plane and each centre, how many of the centre's nearest nodes lie in the plane.
    by_plane: Vec<Lanes<u16>>,
    /// For each coordinate of an upper dimension, how many of each centre's nearest nodes have it.
    ///
    /// An upper dimension is one in which planes differ. The list is overwritten for each upper
    /// dimension.
    along: Vec<Lanes<u16>>,
    /// For each coordinate of each lower dimension, how many of each centre's nearest nodes have
    /// it.
    ///
    /// A lower dimension is one along which planes extend. In one plane, only some of the nodes at
    /// the largest distance are taken. These are not counted.
    lower: Vec<Vec<Lanes<u16>>>,
    /// For each centre, the number of planes in which all nodes at the largest distance are taken.
    whole: Lanes<u16>,
    /// For each centre, the number of nodes at the largest distance that are taken in one more
    /// plane.
    ///
    /// It is the plane after those counted in `whole`. Only some of its nodes at this distance are
    /// taken.
    rest: Lanes<u16>,
    /// Number of each centre's nearest nodes that are counted in `lower`.
    counted: Lanes<u16>,
    /// Hops along the upper dimensions over all pairs of nearest nodes, for each centre.
    above: Lanes<u64>,
    /// Hops along the lower dimensions over all pairs of the nodes counted in `lower`, by centre.
    below: Lanes<u64>,
    /// For each coordinate of each lower dimension, how many nearest nodes of one centre have it.
    counts: Vec<Vec<u32>>,
}

impl Stretch {
    /// Creates a stretch (several adjacent centres) for a grid whose planes have `lower`
    /// dimensions.
    ///
    /// Planes extend along the first `lower` dimensions of the grid.
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

    /// A copy of equal size; its contents are overwritten before use.
    pub(super) fn empty_copy(&self) -> Stretch {
        let Stretch { by_plane, along, lower, counts, .. } = self;
        let (by_plane, along) = (by_plane.clone(), along.clone());
        let (lower, counts) = (lower.clone(), counts.clone());
        Stretch { by_plane, along, lower, counts, ..*self }
    }

    /// Counts the `count` nearest nodes around each centre of one [stretch](Planes::stretch).
    ///
    /// The centres must be in the plane for which `planes` was computed last.
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
        let nodes = planes.nodes();
        for (d, rows) in self.lower.iter_mut().enumerate() {
            let axis = &axes.axes[d];
            for reached in centres {
                let (here, node) = (axes.places(reached.centre)[d], planes.lane(reached.centre));
                let lane = node % LANES;
                let taken = planes.taken(d, self.whole[lane].into());
                let mut node = node - usize::from(here) * axis.stride;
                // The first row of `taken` is for nodes out of reach.
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

    /// Hops over all pairs of the nodes nearest to one of the centres.
    ///
    /// `None` if `may_be` rejects a lower bound of the hops: then another centre is known to be
    /// better.
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
        // Each further node adds at least half the mean of the counted nodes' distance sums, which
        // is below / counted.
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

    /// Counts, for each centre and each plane, how many of the centre's nearest nodes are in the
    /// plane.
    ///
    /// All centres with the same largest distance are handled at once.
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
            // How much of the shell is left to take, and whether all of it was taken in all planes
            // so far.
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
                    // No nodes remain after the partly taken plane.
                    rest[lane] |= some & !all[lane] & these[lane];
                }
            }
        }
    }

    /// Hops along the upper dimensions over all pairs of the nearest nodes, for each centre.
    ///
    /// They are computed from the counts of nodes in each plane, which are overwritten.
    fn hops_above(&mut self, planes: &Planes, axes: &Axes, all: &Lanes<u16>) -> Lanes<u64> {
        let (mut by_plane, mut sums) = (&mut self.by_plane[..], [0; LANES]);
        for axis in axes.axes[planes.dimensions()..].iter().rev() {
            let length = by_plane.len() / axis.side;
            let along = &mut self.along[..axis.side];
            for (count, planes) in along.iter_mut().zip(by_plane.chunks_exact(length)) {
                *count = planes[0];
                planes[1..].iter().for_each(|planes| add(count, planes));
            }
            let hops = hops_side_by_side(along, all, axis.is_ring);
            sums.iter_mut().zip(hops).for_each(|(sum, hops)| *sum += hops);
            // The lower dimensions need the counts summed over this dimension.
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
