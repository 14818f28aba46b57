//! One plane of centres after the other: what is counted for all of them at once around them.

use crate::topology::{Grid, Node};

use super::axes::Axes;
use super::balls::{Balls, Source};
use super::lanes::{LANES, Lanes};

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
/// nodes are counted in a step. What is looked up here for a centre is added up in [stretches](super::stretch).
pub(super) struct Planes {
    /// How many dimensions a plane has.
    lower: usize,
    /// How many nodes it has, and how many all of them.
    nodes: usize,
    all: usize,
    /// For each of its dimensions, how many nodes are at exactly each distance in the others: all nodes of the grid for
    /// each distance.
    rings: Vec<Vec<u16>>,
    /// For each of its dimensions, numbers of planes of which all of the shell is taken, and radii, how many nodes
    /// around the centres of the present plane lie beside each node of the plane. Before those of no radius come as
    /// many noughts, for what is out of reach.
    taken: Vec<Vec<u16>>,
    /// For as many radii.
    radii: usize,
    /// How far each plane is from the present one.
    away: Vec<u32>,
    /// How many nodes around the nodes of all planes lie in their planes: all nodes of the grid for each radius, after
    /// those of none, which have nothing within, and before some noughts.
    within: Vec<u16>,
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
        Planes::of(lower, nodes)
    }

    /// As good as new.
    pub(super) fn empty_copy(&self) -> Planes {
        Planes::of(self.lower, self.nodes)
    }

    fn of(lower: usize, nodes: usize) -> Planes {
        let (rings, taken) = (vec![Vec::new(); lower], vec![Vec::new(); lower]);
        let (away, within) = (Vec::new(), Vec::new());
        Planes { lower, nodes, all: 0, rings, taken, radii: 0, away, within }
    }

    /// How many dimensions a plane has.
    pub(super) fn dimensions(&self) -> usize {
        self.lower
    }

    /// How many nodes a plane has.
    pub(super) fn nodes(&self) -> usize {
        self.nodes
    }

    /// Where in its plane a node is.
    pub(super) fn lane(&self, node: Node) -> usize {
        node as usize % self.nodes
    }

    /// The plane of a node, and in which stretch of it the node is, of as many nodes as there are lanes.
    pub(super) fn stretch(&self, node: Node) -> (usize, usize) {
        (node as usize / self.nodes, self.lane(node) / LANES)
    }

    /// Around the nodes of the present plane from one on, how many nodes of another plane lie within a distance, and
    /// how many nearer.
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

    /// What is counted beside each node of the present plane, if all of the last shell is taken of so many planes: the
    /// nodes of a plane for each radius, after as many noughts.
    pub(super) fn taken(&self, d: usize, whole: usize) -> &[u16] {
        let table = (self.radii + 1) * self.nodes;
        &self.taken[d][whole * table..][..table]
    }

    /// The first node of a plane, and what is left of a distance there.
    pub(super) fn after(&self, whole: usize, distance: u32) -> (usize, u32) {
        (whole * self.nodes, distance - self.away[whole])
    }

    /// Takes down what is free, as far as shells below this one.
    pub(super) fn look_at(&mut self, balls: &Balls, shells: u32) {
        self.all = balls.layer(Source::Free, 0).len();
        self.within.clear();
        self.within.resize(self.all, 0);
        self.within.extend_from_slice(balls.layers(balls.planes, shells));
        self.within.resize(self.within.len() + LANES, 0);
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
        let Planes { lower, nodes, all, radii, away, .. } = self;
        let (nodes, all, table) = (*nodes, *all, *nodes * (*radii + 1));
        for d in 0..*lower {
            let (taken, rings) = (&mut self.taken[d], &self.rings[d]);
            // What is there from before is all written over, and what is too much is never looked at.
            if taken.len() < table * (away.len() + 1) {
                taken.resize(table * (away.len() + 1), 0);
            }
            // Nothing is nearer than no distance.
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
}
