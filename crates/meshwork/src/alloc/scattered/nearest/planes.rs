//! Numbers of free nodes around centres, computed together for all centres in a plane of the grid.

use crate::topology::{Grid, Node};

use super::axes::Axes;
use super::balls::{Balls, Source};
use super::lanes::{LANES, Lanes};

/// For each centre in one plane, counts of its nearest free nodes by their coordinates.
///
/// A plane extends along the lower dimensions, so its nodes have consecutive numbers. The nearest
/// nodes of a centre are all free nodes below some distance, and some free nodes at exactly this
/// distance. Nearest nodes that have the same coordinate in a lower dimension form a ball over the
/// other dimensions. These balls are counted once for all centres of a plane.
///
/// **O(l · r / 8)** for each pair of a node and a plane, with *l* lower dimensions and radii up to
/// *r*.
pub(super) struct Planes {
    /// Number of dimensions of a plane.
    pub(super) lower: usize,
    pub(super) nodes: usize,
    /// Number of nodes of the grid.
    all: usize,
    /// For each dimension of a plane, the number of free nodes at each distance from each node.
    ///
    /// Only nodes in the plane of the node and with its coordinate in the dimension count. An inner
    /// list has the numbers for distance 0 in order of nodes, then those for distance 1, and so on.
    rings: Vec<Vec<u16>>,
    /// For each lower dimension *d*, numbers of nearest nodes with the centre's coordinate in *d*.
    ///
    /// The first index is the number of planes from which all nodes at the largest distance are
    /// taken. The second index is the radius plus 1. The third is the centre, a node of the current
    /// plane. Counts at radius index 0 stand for coordinates out of reach, so they are 0.
    taken: Vec<Vec<u16>>,
    radii: usize,
    /// Distance of each plane from the plane that contains the centres.
    away: Vec<u32>,
    /// For each radius and each node, the number of free nodes within the radius in the node's
    /// plane.
    ///
    /// The entry for radius *r* of a node is in block *r* + 1 of the list; block 0 is all zeros.
    /// After the last block follow [`LANES`] zeros, so that [`LANES`] entries can be read from any
    /// position.
    within: Vec<u16>,
}

impl Planes {
    /// Number of dimensions of a plane for which the estimated cost of the search is lowest.
    pub(super) fn lower(grid: &Grid) -> usize {
        // `lower + 1` lookups for each plane, and about ten for each row of the plane examined.
        let cost = |&lower: &usize| {
            let sides = grid.sides();
            let nodes: u32 = sides[..lower].iter().product();
            u64::from(grid.nodes() / nodes) * (lower as u64 + 1) + 10 * u64::from(nodes / sides[0])
        };
        (1..=grid.dimensions()).min_by_key(cost).unwrap_or(1)
    }

    pub(super) fn new(grid: &Grid, lower: usize) -> Planes {
        let nodes = grid.sides()[..lower].iter().product::<u32>() as usize;
        Planes::of(lower, nodes)
    }

    pub(super) fn empty_copy(&self) -> Planes {
        Planes::of(self.lower, self.nodes)
    }

    fn of(lower: usize, nodes: usize) -> Planes {
        let (rings, taken) = (vec![Vec::new(); lower], vec![Vec::new(); lower]);
        let (away, within) = (Vec::new(), Vec::new());
        Planes { lower, nodes, all: 0, rings, taken, radii: 0, away, within }
    }

    pub(super) fn lane(&self, node: Node) -> usize {
        node as usize % self.nodes
    }

    /// Index of the plane of a node, and index of the group of [`LANES`] nodes in this plane.
    pub(super) fn stretch(&self, node: Node) -> (usize, usize) {
        (node as usize / self.nodes, self.lane(node) / LANES)
    }

    /// For each of [`LANES`] centres, the number of free nodes of a plane within `distance`.
    ///
    /// The second result counts only nodes at less than `distance`. The centres are consecutive
    /// nodes of the current plane, from `first` on.
    pub(super) fn within(
        &self,
        plane: usize,
        distance: u32,
        first: usize,
    ) -> (&Lanes<u16>, &Lanes<u16>) {
        let radius_and_one = (distance + 1).saturating_sub(self.away[plane]) as usize;
        let lanes = |radius_and_one: usize| {
            let from = radius_and_one * self.all + plane * self.nodes + first;
            self.within[from..].first_chunk().expect("as many noughts at the end")
        };
        (lanes(radius_and_one), lanes(radius_and_one.saturating_sub(1)))
    }

    /// Slice of the table `taken` for the lower dimension `d`, with `whole` as the first index.
    pub(super) fn taken(&self, d: usize, whole: usize) -> &[u16] {
        let table = (self.radii + 1) * self.nodes;
        &self.taken[d][whole * table..][..table]
    }

    /// First node of the plane with index `whole`, and the search radius within it.
    ///
    /// The radius is `distance` minus the distance to the plane.
    pub(super) fn after(&self, whole: usize, distance: u32) -> (usize, u32) {
        (whole * self.nodes, distance - self.away[whole])
    }

    /// Copies the number of free nodes within each distance below `shells`, in the plane of each
    /// node.
    pub(super) fn look_at(&mut self, balls: &Balls, shells: u32) {
        self.all = balls.layer(Source::Free, 0).len();
        self.within.clear();
        self.within.resize(self.all, 0);
        self.within.extend_from_slice(balls.layers(balls.planes, shells));
        self.within.resize(self.within.len() + LANES, 0);
        for (rings, &slices) in self.rings.iter_mut().zip(&balls.slices_of_planes) {
            rings.clear();
            rings.extend_from_slice(balls.layer(slices, 0));
            for radius in 1..if slices == Source::Free { 1 } else { shells } {
                let within = balls.layer(slices, radius).iter();
                let nearer = balls.layer(slices, radius - 1);
                rings.extend(within.zip(nearer).map(|(within, nearer)| within - nearer));
            }
        }
    }

    /// Counts the free nodes around each centre in one plane, for each distance below `shells`.
    pub(super) fn look_from(&mut self, balls: &Balls, axes: &Axes, plane: usize, shells: u32) {
        self.find_away(axes, plane);
        self.radii = shells as usize;
        let Planes { lower, nodes, all, radii, away, .. } = self;
        let (nodes, all, table) = (*nodes, *all, *nodes * (*radii + 1));
        for d in 0..*lower {
            let (taken, rings) = (&mut self.taken[d], &self.rings[d]);
            // Old values are overwritten, and excess ones are never read.
            if taken.len() < table * (away.len() + 1) {
                taken.resize(table * (away.len() + 1), 0);
            }
            // No node is nearer than distance 0.
            taken[..2 * nodes].fill(0);
            for radius in 1..*radii {
                let nearer = balls.layer(balls.slices[d], radius as u32 - 1);
                taken[(radius + 1) * nodes..][..nodes]
                    .copy_from_slice(&nearer[plane * nodes..][..nodes]);
            }
            for (p, &away) in away.iter().enumerate() {
                let (before, after) = taken.split_at_mut((p + 1) * table);
                let (before, after) = (&before[p * table..], &mut after[..table]);
                let reach = (away as usize).min(*radii) + 1;
                // A radius that does not reach this plane takes no node of it.
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
}
