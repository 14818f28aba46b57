//! One plane of centres after the other: the hops over all pairs of the nodes nearest to each of them.

use crate::geometry::NodeSet;
use crate::topology::Grid;

use super::axes::{Axes, take_of_shell};
use super::balls::{Balls, Reached, Source};
use super::hops::hops_over_pairs;

/// How many of the nodes around the centres of a plane have each coordinate.
///
/// A plane is the nodes that have all but the lower dimensions in common, so that in row-major order it comes whole
/// before the next one. Of the last shell around a centre the first so many nodes are, therefore, all of the shell in
/// some planes, some of it in one, and none in the planes after that. How many there are in each plane is known from
/// the balls of planes. How many of them have some coordinate along a lower dimension, with all that is nearer, is
/// kept for each number of planes of which all of the shell is taken: it depends on the radius that is left there and
/// on where in the plane that is, and not on the centre. So it is made once for all centres of a plane, each number of
/// planes from the one before; and only in the one plane of which some is taken has anyone to look at nodes.
///
/// # Complexity
/// With *p* planes and *l* lower dimensions: **O(l · r / 8)** for each node and plane up to a radius *r*, as eight
/// nodes are counted in a step; and for each centre **O(p)**, the sides of the lower dimensions, and for those that
/// may be the best what it costs to look at a plane.
pub(super) struct Planes {
    /// How many dimensions a plane has.
    lower: usize,
    /// How many nodes.
    nodes: usize,
    /// For each of its dimensions, how many nodes are at exactly each distance in the others: all nodes of the grid for
    /// each distance.
    rings: Vec<Vec<u16>>,
    /// For each of its dimensions, numbers of planes of which all of the shell is taken, and radii, how many nodes
    /// around the centres of the present plane lie beside each node of the plane.
    taken: Vec<Vec<u16>>,
    /// For as many radii.
    radii: usize,
    /// How far each plane is from the present one.
    away: Vec<u32>,
    /// Of the nodes around the present centre, how many have each coordinate of each dimension.
    counts: Vec<Vec<u32>>,
}

impl Planes {
    /// How many of the dimensions are best taken as the lower ones.
    pub(super) fn lower(grid: &Grid) -> usize {
        // A node and plane costs about a look at a count in all, and a row of the plane that is looked at some ten.
        let cost = |&lower: &usize| {
            let sides = grid.sides();
            let nodes: u32 = sides[..lower].iter().product();
            u64::from(grid.nodes() / nodes) * (lower as u64 + 1) + 10 * u64::from(nodes / sides[0])
        };
        (1..=grid.dimensions()).min_by_key(cost).unwrap_or(1)
    }

    pub(super) fn new(grid: &Grid, lower: usize) -> Planes {
        let nodes = grid.sides()[..lower].iter().product::<u32>() as usize;
        let (rings, taken) = (vec![Vec::new(); lower], vec![Vec::new(); lower]);
        let counts = grid.sides().iter().map(|&side| vec![0; side as usize]).collect();
        Planes { lower, nodes, rings, taken, radii: 0, away: Vec::new(), counts }
    }

    /// As good as new.
    pub(super) fn empty_copy(&self) -> Planes {
        let (lower, nodes, counts) = (self.lower, self.nodes, self.counts.clone());
        let (rings, taken) = (vec![Vec::new(); lower], vec![Vec::new(); lower]);
        Planes { lower, nodes, rings, taken, radii: 0, away: Vec::new(), counts }
    }

    /// How many nodes a plane has.
    pub(super) fn nodes(&self) -> usize {
        self.nodes
    }

    /// Takes down what is free, as far as shells below this one.
    pub(super) fn look_at(&mut self, balls: &Balls, shells: u32) {
        for (rings, &slices) in self.rings.iter_mut().zip(&balls.slices_of_planes) {
            rings.clear();
            rings.extend_from_slice(balls.layer(slices, 0));
            // In no dimension at all, nothing is further away than that.
            for radius in 1..if slices == Source::Free { 1 } else { shells } {
                let within = balls.layer(slices, radius).iter();
                let nearer = balls.layer(slices, radius - 1);
                rings.extend(within.zip(nearer).map(|(within, nearer)| within - nearer));
            }
        }
    }

    /// Counts for the centres of a plane, as far as shells below this one.
    pub(super) fn look_from(&mut self, balls: &Balls, axes: &Axes, plane: usize, shells: u32) {
        self.find_away(axes, plane);
        self.radii = shells as usize;
        let Planes { lower, nodes, radii, away, .. } = self;
        let (nodes, row) = (*nodes, *nodes * *radii);
        let all = balls.layer(Source::Free, 0).len();
        for d in 0..*lower {
            let (taken, rings) = (&mut self.taken[d], &self.rings[d]);
            // What is there from before is all written over.
            taken.resize(row * (away.len() + 1), 0);
            taken[..nodes].fill(0);
            for radius in 1..*radii {
                let nearer = balls.layer(balls.slices[d], radius as u32 - 1);
                taken[radius * nodes..][..nodes].copy_from_slice(&nearer[plane * nodes..][..nodes]);
            }
            for (p, &away) in away.iter().enumerate() {
                let (before, after) = taken.split_at_mut((p + 1) * row);
                let (before, after) = (&before[p * row..], &mut after[..row]);
                let reach = (away as usize).min(*radii);
                // What does not reach as far as this plane has none of it.
                let (near, far) = after.split_at_mut(reach * nodes);
                near.copy_from_slice(&before[..reach * nodes]);
                let far = far.chunks_exact_mut(nodes);
                let before = before[reach * nodes..].chunks_exact(nodes);
                for (radius, (to, from)) in far.zip(before).enumerate() {
                    match rings.get(radius * all + p * nodes..) {
                        Some(ring) if radius * all < rings.len() => {
                            let both = from.iter().zip(&ring[..nodes]);
                            to.iter_mut()
                                .zip(both)
                                .for_each(|(to, (from, ring))| *to = from + ring);
                        }
                        _ => to.copy_from_slice(from),
                    }
                }
            }
        }
    }

    /// Finds how far each plane is from one.
    fn find_away(&mut self, axes: &Axes, plane: usize) {
        let here = axes.places((plane * self.nodes) as u32);
        self.away.clear();
        self.away.push(0);
        for (axis, &at) in axes.axes[self.lower..].iter().zip(&here[self.lower..]) {
            let before = self.away.len();
            for &apart in &axis.apart(at)[1..] {
                for i in 0..before {
                    self.away.push(self.away[i] + apart);
                }
            }
            let apart = axis.apart(at)[0];
            self.away[..before].iter_mut().for_each(|away| *away += apart);
        }
    }

    /// The hops over all pairs of the nodes that are reached from a centre of the present plane, if they may be as few
    /// as that: `may_be` is asked what they come to at least.
    pub(super) fn hops(
        &mut self,
        balls: &Balls,
        axes: &Axes,
        free: &NodeSet,
        reached: Reached,
        may_be: impl Fn(u64) -> bool,
    ) -> Option<u64> {
        let (whole, left) = self.count_planes(balls, axes, reached);
        let (lower, upper) = self.counts.split_at_mut(self.lower);
        let here = axes.places(reached.centre);
        let of_upper = upper.iter().zip(&axes.axes[lower.len()..]);
        let above: u64 = of_upper.map(|(counts, axis)| hops_over_pairs(counts, axis.is_ring)).sum();
        let lane = reached.centre as usize % self.nodes;
        let row = whole * self.radii * self.nodes;
        let (mut below, mut counted) = (0, 0);
        for (d, counts) in lower.iter_mut().enumerate() {
            let (axis, taken) = (&axes.axes[d], &self.taken[d][row..]);
            let mut node = lane - usize::from(here[d]) * axis.stride;
            for (count, &apart) in counts.iter_mut().zip(axis.apart(here[d])) {
                *count = match reached.shell.checked_sub(apart) {
                    Some(radius) => u32::from(taken[radius as usize * self.nodes + node]),
                    None => 0,
                };
                node += axis.stride;
            }
            below += hops_over_pairs(counts, axis.is_ring);
            counted = counts.iter().sum();
        }
        if left == 0 {
            return may_be(above + below).then_some(above + below);
        }
        // From any place to so many nodes it is at least half as far as from one of them on average.
        let more = (u64::from(left) * below).checked_div(u64::from(counted)).unwrap_or(0);
        if !may_be(above + below + more) {
            return None;
        }
        let distance = reached.shell - self.away[whole];
        let mut count = |d: usize, place: usize, more: u32| lower[d][place] += more;
        let (here, of_lower) = (&here[..self.lower], &axes.axes[..self.lower]);
        let mut left = left;
        let row = whole * self.nodes;
        take_of_shell(of_lower, here, row, free, distance, &mut left, &mut count);
        let of_lower = lower.iter().zip(of_lower);
        let below = of_lower.map(|(counts, axis)| hops_over_pairs(counts, axis.is_ring));
        Some(above + below.sum::<u64>())
    }

    /// Counts how many nodes around a centre have each coordinate of the upper dimensions. Of how many planes all of
    /// the last shell is taken, and how many nodes of the plane after those.
    fn count_planes(&mut self, balls: &Balls, axes: &Axes, reached: Reached) -> (usize, u32) {
        let upper = &mut self.counts[self.lower..];
        upper.iter_mut().for_each(|counts| counts.fill(0));
        let lane = reached.centre as usize % self.nodes;
        let (mut left, mut whole) = (reached.of_it, None);
        let (layers, step) = balls.layers(balls.planes);
        for (p, &away) in self.away.iter().enumerate() {
            let Some(radius) = reached.shell.checked_sub(away) else { continue };
            let node = p * self.nodes + lane;
            let within = |radius: u32| u32::from(layers[radius as usize * step + node]);
            let mut count = radius.checked_sub(1).map_or(0, within);
            if whole.is_none() {
                let ring = within(radius) - count;
                if ring <= left {
                    (count, left) = (count + ring, left - ring);
                } else {
                    (count, whole) = (count + left, Some(p));
                }
            }
            match upper {
                [counts] => counts[p] = count,
                _ => {
                    for (counts, axis) in upper.iter_mut().zip(&axes.axes[self.lower..]) {
                        counts[node / axis.stride % axis.side] += count;
                    }
                }
            }
        }
        (whole.unwrap_or(self.away.len()), if whole.is_some() { left } else { 0 })
    }
}
