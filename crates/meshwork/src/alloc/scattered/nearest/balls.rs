//! All centres at once: how many free nodes lie within each distance of each node.

use crate::geometry::NodeSet;
use crate::topology::{Grid, Node};

use super::hops::hops_over_pairs;

/// Counts of free nodes in balls, made one radius after the other, as far as they are needed.
///
/// A ball is the sum, over the places along one dimension, of balls of the dimensions before it, which are the
/// smaller the further away they are. From one radius to the next such a sum, taken on either side of the centre, is
/// the next place's own sum of before: so each count is made of a few others, all centres side by side. What is kept
/// for each dimension are balls in all the others, for how many nodes of the ball of a centre have a coordinate is the
/// ball, in the other dimensions, around the centre moved there.
pub(super) struct Balls {
    /// 1 for each free node.
    free: Vec<u16>,
    /// Each after that of which it is made.
    sums: Vec<Sum>,
    /// For each dimension, the balls in all the others.
    slices: Vec<Source>,
    /// How far each coordinate is from each other, dimension after dimension.
    apart: Vec<Vec<Vec<u32>>>,
    /// The most that two nodes can be apart in the dimensions before each.
    below: Vec<u32>,
    /// Of the nodes around the present centre, how many have each coordinate.
    counts: Vec<Vec<u32>>,
}

/// Counts by radius, and at each radius by centre.
#[derive(Clone, Copy)]
enum Source {
    /// The free nodes themselves: a ball without any dimension.
    Free,
    Sum(usize),
}

/// Balls with one dimension more than those that it is made of.
struct Sum {
    of: Source,
    dimension: usize,
    layers: Vec<Vec<u16>>,
    /// The part of the last layer from the centre on, and that behind it.
    ahead: Vec<u16>,
    behind: Vec<u16>,
    spare: Vec<u16>,
}

/// A centre, and how far so many of the nodes nearest to it reach: all within a distance below `shell`, and the
/// first so many of those that are as far as that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Reached {
    pub(super) centre: Node,
    pub(super) shell: u32,
    pub(super) of_it: u32,
}

/// As many counts are kept: on a long and narrow machine there may be thousands of radii.
const MAX_COUNTS: usize = 1 << 23;

impl Balls {
    pub(super) fn new(grid: &Grid) -> Balls {
        let dimensions = grid.dimensions();
        let mut balls = Balls {
            free: Vec::new(),
            sums: Vec::new(),
            slices: vec![Source::Free; dimensions],
            apart: Vec::new(),
            below: Vec::new(),
            counts: Vec::new(),
        };
        balls.leave_out(0, dimensions, Source::Free);
        balls.push(balls.slices[dimensions - 1], dimensions - 1);
        let mut below = 0;
        for (&side, &is_ring) in grid.sides().iter().zip(grid.rings()) {
            let from = |here: u32| {
                let along = |there: u32| {
                    let straight = here.abs_diff(there);
                    if is_ring { straight.min(side - straight) } else { straight }
                };
                (0..side).map(along).collect()
            };
            balls.apart.push((0..side).map(from).collect());
            balls.below.push(below);
            balls.counts.push(vec![0; side as usize]);
            below += if is_ring { side / 2 } else { side - 1 };
        }
        balls
    }

    /// Finds, for each of some dimensions, the sums over all the others, from those over all that are not
    /// among these.
    fn leave_out(&mut self, first: usize, end: usize, outside: Source) {
        if end - first == 1 {
            self.slices[first] = outside;
            return;
        }
        let middle = usize::midpoint(first, end);
        let with_upper = (middle..end).fold(outside, |of, dimension| self.push(of, dimension));
        self.leave_out(first, middle, with_upper);
        let with_lower = (first..middle).fold(outside, |of, dimension| self.push(of, dimension));
        self.leave_out(middle, end, with_lower);
    }

    fn push(&mut self, of: Source, dimension: usize) -> Source {
        self.sums.push(Sum::new(of, dimension));
        Source::Sum(self.sums.len() - 1)
    }

    /// How far the `count` nearest nodes reach from each centre, the nearest reach first; `None` if that would
    /// take more room than is spent on it.
    pub(super) fn reach(
        &mut self,
        grid: &Grid,
        free: &NodeSet,
        centres: &NodeSet,
        count: u32,
    ) -> Option<Vec<Reached>> {
        self.free.clear();
        self.free.resize(grid.nodes() as usize, 0);
        free.iter().for_each(|node| self.free[node as usize] = 1);
        self.sums.iter_mut().for_each(|sum| sum.layers.clear());
        let (mut reached, mut open) = (Vec::new(), centres.iter().collect::<Vec<Node>>());
        for radius in 0_u32.. {
            if open.is_empty() {
                break;
            }
            if (radius as usize + 1) * self.sums.len() * self.free.len() > MAX_COUNTS {
                return None;
            }
            self.widen(grid);
            let layers = &self.sums[self.sums.len() - 1].layers;
            let (within, nearer) = (&layers[radius as usize], radius.checked_sub(1));
            let nearer = nearer.map(|radius| &layers[radius as usize]);
            open.retain(|&centre| {
                let is_open = u32::from(within[centre as usize]) < count;
                if !is_open {
                    let nearer = nearer.map_or(0, |nearer| nearer[centre as usize]);
                    let of_it = count - u32::from(nearer);
                    reached.push(Reached { centre, shell: radius, of_it });
                }
                is_open
            });
        }
        Some(reached)
    }

    /// Makes all balls for one radius more.
    fn widen(&mut self, grid: &Grid) {
        for index in 0..self.sums.len() {
            let (before, sum) = self.sums.split_at_mut(index);
            let source: &[Vec<u16>] = match sum[0].of {
                Source::Free => &[],
                Source::Sum(of) => &before[of].layers,
            };
            // A ball without any dimension is a node, whatever its radius.
            let layer = |radius: usize| source.get(radius).unwrap_or(&self.free).as_slice();
            sum[0].widen(grid, layer);
        }
    }

    /// The hops over all pairs of the nodes that are reached from a centre.
    pub(super) fn hops(&mut self, grid: &Grid, free: &NodeSet, reached: Reached) -> u64 {
        let Reached { centre, shell, of_it } = reached;
        let Balls { free: nodes, sums, slices, apart, below, counts } = self;
        for (d, counts) in counts.iter_mut().enumerate() {
            let at = grid.coordinate(centre, d);
            let (stride, apart) = (grid.strides()[d] as usize, &apart[d][at as usize]);
            let row = centre as usize - at as usize * stride;
            let layers: &[Vec<u16>] = match slices[d] {
                Source::Free => &[],
                Source::Sum(of) => &sums[of].layers,
            };
            for (there, (count, &apart)) in counts.iter_mut().zip(apart).enumerate() {
                *count = if apart < shell {
                    let layer = layers.get((shell - 1 - apart) as usize).unwrap_or(nodes);
                    u32::from(layer[row + there * stride])
                } else {
                    0
                };
            }
        }
        let here = grid.coordinates(centre);
        let from_here: Vec<&[u32]> =
            here.iter().zip(apart.iter()).map(|(&at, apart)| apart[at as usize].as_slice()).collect();
        let mut left = of_it;
        let mut shell_of = Shell { grid, free, here: &here, apart: &from_here, below, counts };
        shell_of.take(here.len() - 1, 0, shell, &mut left);
        counts.iter().zip(grid.rings()).map(|(counts, &ring)| hops_over_pairs(counts, ring)).sum()
    }

    /// As good as new: what is counted is counted anew for each question.
    pub(super) fn empty_copy(&self) -> Balls {
        let Balls { sums, slices, apart, below, counts, .. } = self;
        let sums = sums.iter().map(|sum| Sum::new(sum.of, sum.dimension)).collect();
        let (slices, apart) = (slices.clone(), apart.clone());
        Balls { free: Vec::new(), sums, slices, apart, below: below.clone(), counts: counts.clone() }
    }
}

impl Sum {
    fn new(of: Source, dimension: usize) -> Sum {
        let (ahead, behind, spare) = (Vec::new(), Vec::new(), Vec::new());
        Sum { of, dimension, layers: Vec::new(), ahead, behind, spare }
    }

    /// The next layer, of the layers up to it of what it is the sum of.
    fn widen<'a>(&mut self, grid: &Grid, layer: impl Fn(usize) -> &'a [u16]) {
        let Sum { dimension, layers, ahead, behind, spare, .. } = self;
        let (radius, d) = (layers.len(), *dimension);
        let (side, stride) = (grid.sides()[d] as usize, grid.strides()[d] as usize);
        let lines = Lines { length: side * stride, stride, is_ring: grid.is_ring(d) };
        spare.clear();
        spare.extend_from_slice(layer(radius));
        if radius > 0 {
            lines.add_ahead(spare, ahead, 1);
            // What lies further ahead on a ring is nearer from behind.
            if lines.is_ring
                && let Some(past) = radius.checked_sub(side / 2 + 1)
            {
                lines.subtract_ahead(spare, layer(past), side / 2 + 1);
            }
        }
        std::mem::swap(ahead, spare);
        spare.clear();
        spare.resize(ahead.len(), 0);
        if radius > 0 {
            lines.add_behind(spare, behind, 1);
            lines.add_behind(spare, layer(radius - 1), 1);
            let most = (side - 1) / 2;
            if lines.is_ring
                && let Some(past) = radius.checked_sub(most + 1)
            {
                lines.subtract_behind(spare, layer(past), most + 1);
            }
        }
        std::mem::swap(behind, spare);
        let both = ahead.iter().zip(behind.iter()).map(|(ahead, behind)| ahead + behind);
        layers.push(both.collect());
    }
}

/// Lines along a dimension, in stretches of the nodes that have all that is above it in common.
struct Lines {
    length: usize,
    stride: usize,
    is_ring: bool,
}

impl Lines {
    /// Adds to each place what is so many places ahead.
    fn add_ahead(&self, to: &mut [u16], from: &[u16], places: usize) {
        self.ahead(to, from, places, |to, from| *to += from);
    }

    fn subtract_ahead(&self, to: &mut [u16], from: &[u16], places: usize) {
        self.ahead(to, from, places, |to, from| *to -= from);
    }

    /// Adds to each place what is so many places behind.
    fn add_behind(&self, to: &mut [u16], from: &[u16], places: usize) {
        self.behind(to, from, places, |to, from| *to += from);
    }

    fn subtract_behind(&self, to: &mut [u16], from: &[u16], places: usize) {
        self.behind(to, from, places, |to, from| *to -= from);
    }

    #[inline]
    fn ahead(&self, to: &mut [u16], from: &[u16], places: usize, change: impl Fn(&mut u16, u16)) {
        let by = places * self.stride % self.length;
        let gone = !self.is_ring && places * self.stride >= self.length;
        for (to, from) in to.chunks_exact_mut(self.length).zip(from.chunks_exact(self.length)) {
            if gone {
                continue;
            }
            let (near, around) = to.split_at_mut(self.length - by);
            near.iter_mut().zip(&from[by..]).for_each(|(to, &from)| change(to, from));
            if self.is_ring {
                around.iter_mut().zip(&from[..by]).for_each(|(to, &from)| change(to, from));
            }
        }
    }

    #[inline]
    fn behind(&self, to: &mut [u16], from: &[u16], places: usize, change: impl Fn(&mut u16, u16)) {
        let by = places * self.stride % self.length;
        let gone = !self.is_ring && places * self.stride >= self.length;
        for (to, from) in to.chunks_exact_mut(self.length).zip(from.chunks_exact(self.length)) {
            if gone {
                continue;
            }
            let (around, near) = to.split_at_mut(by);
            let (first, last) = from.split_at(self.length - by);
            near.iter_mut().zip(first).for_each(|(to, &from)| change(to, from));
            if self.is_ring {
                around.iter_mut().zip(last).for_each(|(to, &from)| change(to, from));
            }
        }
    }
}

/// The free nodes at one distance from a centre, in row-major order.
struct Shell<'a> {
    grid: &'a Grid,
    free: &'a NodeSet,
    here: &'a [u32],
    /// How far each coordinate is from the centre's.
    apart: &'a [&'a [u32]],
    below: &'a [u32],
    counts: &'a mut [Vec<u32>],
}

impl Shell<'_> {
    /// Counts the first of them, up to `left`, that have this distance in the dimensions up to `d`, and the
    /// coordinates of `row` in the others. How many they are.
    fn take(&mut self, d: usize, row: Node, distance: u32, left: &mut u32) -> u32 {
        if d == 0 {
            return self.take_of_row(row, distance, left);
        }
        let (apart, stride, below) = (self.apart[d], self.grid.strides()[d], self.below[d]);
        let mut taken = 0;
        for (at, &apart) in apart.iter().enumerate() {
            if apart > distance || distance - apart > below {
                continue;
            }
            let here = self.take(d - 1, row + at as Node * stride, distance - apart, left);
            self.counts[d][at] += here;
            taken += here;
            if *left == 0 {
                break;
            }
        }
        taken
    }

    /// Of a row there are two at most.
    #[inline]
    fn take_of_row(&mut self, row: Node, distance: u32, left: &mut u32) -> u32 {
        let (side, here) = (self.grid.sides()[0], self.here[0]);
        let (mut below, mut above) = (here.checked_sub(distance), Some(here + distance));
        if self.grid.is_ring(0) {
            below = below.or_else(|| (here + side).checked_sub(distance));
            above = above.map(|at| if at >= side { at - side } else { at });
        }
        let mut places = [below, above.filter(|&at| at < side && below != Some(at))];
        if places[0].is_none() || places[1].is_some_and(|at| Some(at) < places[0]) {
            places.swap(0, 1);
        }
        let mut taken = 0;
        for at in places.into_iter().flatten() {
            if *left > 0 && self.free.contains(row + at) {
                self.counts[0][at as usize] += 1;
                *left -= 1;
                taken += 1;
            }
        }
        taken
    }
}
