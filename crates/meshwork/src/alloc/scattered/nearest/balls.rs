//! All centres at once: how many free nodes lie within each distance of each node.

use crate::geometry::NodeSet;
use crate::topology::{Grid, Node};

use super::hops::{hops_over_pairs, sum_distances};

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
    axes: Vec<Axis>,
    /// The coordinates of each node.
    places: Vec<u16>,
}

/// A dimension of the grid.
#[derive(Clone)]
struct Axis {
    stride: usize,
    is_ring: bool,
    /// How far each coordinate is from each other, a row for each.
    apart: Vec<u32>,
    /// The most that two nodes can be apart in the dimensions before.
    below: u32,
    /// The balls in all the others.
    slices: Source,
    /// Of the nodes around the present centre, how many have each coordinate.
    counts: Vec<u32>,
    /// How far they are from each coordinate, all of them together.
    from_all: Vec<u64>,
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
    /// One after the other.
    layers: Vec<u16>,
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
        let mut below = 0;
        let axes = (0..grid.dimensions()).map(|d| {
            let axis = Axis::new(grid, d, below);
            below += axis.apart.iter().max().copied().unwrap_or(0);
            axis
        });
        let axes = axes.collect();
        let places = |node| grid.coordinates(node).into_iter().map(|at| at as u16);
        let places = (0..grid.nodes()).flat_map(places).collect();
        let mut balls = Balls { free: Vec::new(), sums: Vec::new(), axes, places };
        let dimensions = grid.dimensions();
        balls.leave_out(0, dimensions, Source::Free);
        balls.push(balls.axes[dimensions - 1].slices, dimensions - 1);
        balls
    }

    /// Finds, for each of some dimensions, the sums over all the others, from those over all that are not
    /// among these.
    fn leave_out(&mut self, first: usize, end: usize, outside: Source) {
        if end - first == 1 {
            self.axes[first].slices = outside;
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
            let nodes = self.free.len();
            let layers = &self.sums[self.sums.len() - 1].layers;
            let (before, within) = layers.split_at(radius as usize * nodes);
            let nearer = before.rchunks_exact(nodes).next();
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
            let free = &self.free;
            let layer = |radius: usize| match sum[0].of {
                // A ball without any dimension is a node, whatever its radius.
                Source::Free => free.as_slice(),
                Source::Sum(of) => &before[of].layers[radius * free.len()..][..free.len()],
            };
            let radius = sum[0].layers.len() / free.len();
            let length = grid.sides()[sum[0].dimension] as usize;
            let (ahead, behind) = (length / 2 + 1, (length - 1) / 2 + 1);
            let sources = Sources {
                here: layer(radius),
                before: radius.checked_sub(1).map(layer),
                past_ahead: radius.checked_sub(ahead).map(layer),
                past_behind: radius.checked_sub(behind).map(layer),
            };
            sum[0].widen(grid, &sources);
        }
    }

    /// The centre with the fewest hops over all pairs of the nodes that are reached from it, the first of equals.
    ///
    /// What is certain without a look at the last shell comes first: the hops between those that are nearer, and
    /// what any so many of its places add to that at least.
    pub(super) fn best(&mut self, free: &NodeSet, reached: &[Reached]) -> Option<Node> {
        let mut best: Option<(u64, Node)> = None;
        for &reached in reached {
            let cannot_be = |least: u64| best.is_some_and(|best| best < (least, reached.centre));
            let nearer = self.hops_of_nearer(reached);
            let of_it = u64::from(reached.of_it);
            // From any place to so many nodes it is at least half as far as from one of them on average.
            let all: u64 = self.axes[0].counts.iter().map(|&count| u64::from(count)).sum();
            if cannot_be(nearer + (of_it * nearer).checked_div(all).unwrap_or(0)) {
                continue;
            }
            // And from each of themselves to each other one at least.
            let among_them = of_it * (of_it - 1) / 2;
            if cannot_be(nearer + of_it * self.least_from_all(reached) + among_them) {
                continue;
            }
            let score = (self.hops(free, reached), reached.centre);
            if best.is_none_or(|best| score < best) {
                best = Some(score);
            }
        }
        best.map(|(_, centre)| centre)
    }

    /// The hops over all pairs of the nodes that are nearer to a centre than the last shell, whose coordinates are
    /// counted.
    fn hops_of_nearer(&mut self, reached: Reached) -> u64 {
        let Balls { free, sums, axes, places, .. } = self;
        let (centre, dimensions) = (reached.centre as usize, axes.len());
        let places = &places[centre * dimensions..][..dimensions];
        let mut hops = 0;
        for (axis, &at) in axes.iter_mut().zip(places) {
            let (layers, step) = match axis.slices {
                Source::Free => (&*free, 0),
                Source::Sum(of) => (&sums[of].layers, free.len()),
            };
            let side = axis.counts.len();
            let apart = &axis.apart[usize::from(at) * side..][..side];
            let mut node = centre - usize::from(at) * axis.stride;
            for (count, &apart) in axis.counts.iter_mut().zip(apart) {
                let is_nearer = apart < reached.shell;
                *count = if is_nearer {
                    u32::from(layers[(reached.shell - 1 - apart) as usize * step + node])
                } else {
                    0
                };
                node += axis.stride;
            }
            hops += hops_over_pairs(&axis.counts, axis.is_ring);
        }
        hops
    }

    /// How far all that are counted are, together, from any place of the last shell at least.
    ///
    /// A place is as far from them as its coordinates are, one dimension after the other; and what its coordinates
    /// are away from the centre's comes to the distance of the shell. If each step away is credited with some
    /// amount, and what is credited in all is added again, then the least of each dimension by itself is a bound,
    /// whatever the amount; a good one is what the last of so many steps costs, if all dimensions share them.
    fn least_from_all(&mut self, reached: Reached) -> u64 {
        let Balls { axes, places, .. } = self;
        let (shell, dimensions) = (reached.shell as usize, axes.len());
        let places = &places[reached.centre as usize * dimensions..][..dimensions];
        let share = shell.div_ceil(dimensions).max(1);
        let (mut credit, mut sharing) = (0, 0);
        for (axis, &at) in axes.iter_mut().zip(places) {
            sum_distances(&axis.counts, axis.is_ring, &mut axis.from_all);
            let (here, side) = (usize::from(at), axis.counts.len());
            let at = |steps: usize| Some(here + steps).filter(|&at| at < side);
            if let (Some(last), Some(before)) = (at(share), at(share - 1)) {
                credit += axis.from_all[last] as i64 - axis.from_all[before] as i64;
                sharing += 1;
            }
        }
        let credit = if sharing > 0 { credit / sharing } else { 0 };
        let mut sum = credit * shell as i64;
        for (axis, &at) in axes.iter().zip(places) {
            let side = axis.counts.len();
            let apart = &axis.apart[usize::from(at) * side..][..side];
            let of_places = apart.iter().zip(&axis.from_all);
            let within = of_places.filter(|(apart, _)| **apart <= reached.shell);
            let least =
                within.map(|(&apart, &from_all)| from_all as i64 - credit * i64::from(apart));
            sum += least.min().unwrap_or(0);
        }
        u64::try_from(sum).unwrap_or(0)
    }

    /// The hops over all pairs of the nodes that are reached from a centre.
    pub(super) fn hops(&mut self, free: &NodeSet, reached: Reached) -> u64 {
        self.hops_of_nearer(reached);
        let Balls { axes, places, .. } = self;
        let dimensions = axes.len();
        let here = &places[reached.centre as usize * dimensions..][..dimensions];
        let mut left = reached.of_it;
        take_of_shell(axes, here, 0, free, reached.shell, &mut left);
        axes.iter().map(|axis| hops_over_pairs(&axis.counts, axis.is_ring)).sum()
    }

    /// As good as new: what is counted is counted anew for each question.
    pub(super) fn empty_copy(&self) -> Balls {
        let sums = self.sums.iter().map(|sum| Sum::new(sum.of, sum.dimension)).collect();
        let (axes, places) = (self.axes.clone(), self.places.clone());
        Balls { free: Vec::new(), sums, axes, places }
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
        Axis {
            stride: grid.strides()[d] as usize,
            is_ring,
            apart: apart.collect(),
            below,
            slices: Source::Free,
            counts: vec![0; side as usize],
            from_all: vec![0; side as usize],
        }
    }
}

/// What a layer is made of: the layers of what it is the sum of, of its own radius, of the one before, and of those
/// that are no longer added on a ring.
struct Sources<'a> {
    here: &'a [u16],
    before: Option<&'a [u16]>,
    past_ahead: Option<&'a [u16]>,
    past_behind: Option<&'a [u16]>,
}

impl Sum {
    fn new(of: Source, dimension: usize) -> Sum {
        let (ahead, behind, spare) = (Vec::new(), Vec::new(), Vec::new());
        Sum { of, dimension, layers: Vec::new(), ahead, behind, spare }
    }

    /// Makes the next layer.
    fn widen(&mut self, grid: &Grid, sources: &Sources<'_>) {
        let Sum { dimension, layers, ahead, behind, spare, .. } = self;
        let (side, stride) =
            (grid.sides()[*dimension] as usize, grid.strides()[*dimension] as usize);
        let lines = Lines { length: side * stride, stride, is_ring: grid.is_ring(*dimension) };
        spare.clear();
        spare.extend_from_slice(sources.here);
        if sources.before.is_some() {
            lines.ahead(spare, ahead, 1, |to, from| *to += from);
            // What lies further ahead on a ring is nearer from behind.
            if let Some(past) = sources.past_ahead.filter(|_| lines.is_ring) {
                lines.ahead(spare, past, side / 2 + 1, |to, from| *to -= from);
            }
        }
        std::mem::swap(ahead, spare);
        spare.clear();
        spare.resize(ahead.len(), 0);
        if let Some(before) = sources.before {
            lines.behind(spare, behind, 1, |to, from| *to += from);
            lines.behind(spare, before, 1, |to, from| *to += from);
            if let Some(past) = sources.past_behind.filter(|_| lines.is_ring) {
                lines.behind(spare, past, (side - 1) / 2 + 1, |to, from| *to -= from);
            }
        }
        std::mem::swap(behind, spare);
        layers.extend(ahead.iter().zip(behind.iter()).map(|(ahead, behind)| ahead + behind));
    }
}

/// Lines along a dimension, in stretches of the nodes that have all that is above it in common.
struct Lines {
    length: usize,
    stride: usize,
    is_ring: bool,
}

impl Lines {
    /// Changes each place by what is so many places ahead.
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

    /// Changes each place by what is so many places behind.
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

/// Counts the first free nodes, up to `left`, that have this distance from a centre in the dimensions of these axes,
/// and the coordinates of `row` in those above. How many they are.
fn take_of_shell(
    axes: &mut [Axis],
    here: &[u16],
    row: usize,
    free: &NodeSet,
    distance: u32,
    left: &mut u32,
) -> u32 {
    let Some((axis, lower)) = axes.split_last_mut() else { return 0 };
    let (side, at) = (axis.counts.len(), usize::from(here[lower.len()]));
    let apart = &axis.apart[at * side..][..side];
    let mut taken = 0;
    if lower.is_empty() {
        // Of a row there are two at most.
        let distance = distance as usize;
        let (mut first, mut second) = (at.checked_sub(distance), Some(at + distance));
        if axis.is_ring {
            first = first.or_else(|| (at + side).checked_sub(distance));
            second = second.map(|place| if place >= side { place - side } else { place });
        }
        second = second.filter(|&place| place < side && first != Some(place));
        if first > second && second.is_some() {
            std::mem::swap(&mut first, &mut second);
        }
        for place in [first, second].into_iter().flatten() {
            if *left > 0 && free.contains((row + place) as Node) {
                axis.counts[place] += 1;
                *left -= 1;
                taken += 1;
            }
        }
        return taken;
    }
    for (place, &apart) in apart.iter().enumerate() {
        if apart > distance || distance - apart > axis.below {
            continue;
        }
        let row = row + place * axis.stride;
        let here = take_of_shell(lower, here, row, free, distance - apart, left);
        axis.counts[place] += here;
        taken += here;
        if *left == 0 {
            break;
        }
    }
    taken
}
