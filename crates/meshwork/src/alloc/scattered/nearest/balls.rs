//! Numbers of free nodes within each distance of a node, counted for all nodes together.

use crate::geometry::NodeSet;
use crate::topology::{Grid, Node};

/// Numbers of free nodes in balls around all nodes, computed radius by radius as far as needed.
///
/// A ball is the set of nodes within a radius of a centre. A ball *over* some dimensions has only
/// nodes that agree with the centre in all other dimensions.
///
/// The count of a ball is a sum of counts of balls over one dimension fewer, one for each position
/// along the dropped dimension. The radius of each of these balls is smaller by the distance of its
/// position from the centre. For the next radius, the sum on one side of a centre is the previous
/// sum of the adjacent centre, plus the count of one ball.
///
/// Balls over all dimensions but one give the number of nodes of a ball that have a given
/// coordinate in this dimension. For this, the centre is moved to the coordinate, and the radius is
/// reduced by the length of the move. Counts of balls over the lower dimensions, which lie within
/// planes, are also stored.
pub(super) struct Balls {
    /// 1 for each free node, 0 for each held node.
    free: Vec<u16>,
    /// Tables of counts, each computed from the table `free` or from an earlier table in this list.
    sums: Vec<Sum>,
    /// For each dimension, the table of balls that extend along all other dimensions.
    pub(super) slices: Vec<Source>,
    /// For each dimension of a plane, table of the balls over all other dimensions of the plane.
    pub(super) slices_of_planes: Vec<Source>,
    /// Table of the numbers of free nodes in balls that lie within one plane.
    ///
    /// These balls extend along every dimension of the plane, and along no other dimension.
    pub(super) planes: Source,
    /// Table of the numbers of free nodes in balls that extend along all dimensions.
    ///
    /// A ball has all nodes within some distance of a node.
    all: Source,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    /// The free nodes: a table with 1 for each free node and 0 for each held node. It is a table of
    /// balls that extend along no dimension, so that a ball is a single node.
    Free,
    Sum(usize),
}

/// Table of the numbers of free nodes in balls.
///
/// It is computed from the table `of`, whose balls extend along one dimension fewer.
struct Sum {
    of: Source,
    dimension: usize,
    /// For each radius in ascending order, the number of free nodes in the ball around each node.
    layers: Vec<u16>,
    /// For each ball, the number of its free nodes that do not lie below the centre along
    /// `dimension`.
    ///
    /// The balls have the largest radius computed so far.
    ahead: Vec<u16>,
    /// For each ball, number of its free nodes on the lower side of the centre along `dimension`.
    behind: Vec<u16>,
    spare: Vec<u16>,
}

/// Smallest ball around a centre that contains enough free nodes.
///
/// All free nodes nearer than the radius are taken, and at the radius as many as are still needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Reached {
    pub(super) centre: Node,
    pub(super) shell: u32,
    pub(super) of_it: u32,
}

/// Maximum number of stored counts of free nodes. Larger tables would be needed for a long and
/// narrow machine, which has thousands of radii.
const MAX_COUNTS: usize = 1 << 24;

impl Balls {
    /// Creates the tables for a grid whose planes extend along the first `lower` dimensions.
    pub(super) fn new(grid: &Grid, lower: usize) -> Balls {
        let (free, sums) = (Vec::new(), Vec::new());
        let (planes, all) = (Source::Free, Source::Free);
        let (slices, slices_of_planes) = (Vec::new(), Vec::new());
        let mut balls = Balls { free, sums, slices, slices_of_planes, planes, all };
        balls.slices = balls.each_left_out(0, grid.dimensions(), Source::Free);
        balls.slices_of_planes = balls.each_left_out(0, lower, Source::Free);
        balls.planes = balls.push(balls.slices_of_planes[lower - 1], lower - 1);
        let last = grid.dimensions() - 1;
        balls.all = balls.push(balls.slices[last], last);
        balls
    }

    /// For each dimension in `first..end`, finds or creates the table of balls that do not extend
    /// along it.
    ///
    /// The balls extend along all other dimensions in `first..end`, and along the dimensions of the
    /// table `outside`, none of which is in `first..end`.
    fn each_left_out(&mut self, first: usize, end: usize, outside: Source) -> Vec<Source> {
        if end - first == 1 {
            return vec![outside];
        }
        let middle = usize::midpoint(first, end);
        let with_upper = (middle..end).fold(outside, |of, dimension| self.push(of, dimension));
        let mut each = self.each_left_out(first, middle, with_upper);
        let with_lower = (first..middle).fold(outside, |of, dimension| self.push(of, dimension));
        each.extend(self.each_left_out(middle, end, with_lower));
        each
    }

    /// Finds or creates the table of balls that extend along `dimension` and the dimensions of
    /// table `of`.
    fn push(&mut self, of: Source, dimension: usize) -> Source {
        let made = self.sums.iter().position(|sum| sum.of == of && sum.dimension == dimension);
        Source::Sum(made.unwrap_or_else(|| {
            self.sums.push(Sum::new(of, dimension));
            self.sums.len() - 1
        }))
    }

    /// For each node, the number of free nodes within `radius`. The balls of this radius must have
    /// been counted before.
    pub(super) fn layer(&self, source: Source, radius: u32) -> &[u16] {
        let nodes = self.free.len();
        match source {
            Source::Free => &self.free,
            Source::Sum(of) => &self.sums[of].layers[radius as usize * nodes..][..nodes],
        }
    }

    /// Numbers of free nodes around every node, for each radius below `radii` in ascending order.
    pub(super) fn layers(&self, source: Source, radii: u32) -> &[u16] {
        match source {
            Source::Free => &self.free,
            Source::Sum(of) => &self.sums[of].layers[..radii as usize * self.free.len()],
        }
    }

    /// For each centre, the radius within which its `count` nearest free nodes lie.
    ///
    /// `None` if too many radii would be needed, or if a count may exceed 16 bits.
    pub(super) fn reach(
        &mut self,
        grid: &Grid,
        free: &NodeSet,
        centres: &NodeSet,
        count: u32,
    ) -> Option<Vec<Reached>> {
        let count = u16::try_from(count).ok()?;
        let may_be_more = free.count() > u32::from(u16::MAX);
        self.free.clear();
        self.free.resize(grid.nodes() as usize, 0);
        free.iter().for_each(|node| self.free[node as usize] = 1);
        self.sums.iter_mut().for_each(|sum| sum.layers.clear());
        // Radii with fewer than `count` nodes within, and the nodes within the largest.
        let (mut shells, mut nearer) = (vec![0_u16; self.free.len()], vec![0_u16; self.free.len()]);
        let mut is_centre = vec![0_u16; self.free.len()];
        centres.iter().for_each(|centre| is_centre[centre as usize] = u16::MAX);
        for radius in 0_usize.. {
            if (radius + 1) * self.sums.len() * self.free.len() > MAX_COUNTS {
                return None;
            }
            // With more free nodes than 16 bits can count, the volume of a ball is limited.
            let across = 2 * radius as u64 + 1;
            let most = across.saturating_pow(grid.dimensions() as u32);
            if may_be_more && most > u64::from(u16::MAX) {
                return None;
            }
            self.widen(grid);
            let within = self.layer(self.all, radius as u32);
            let mut open = 0;
            let so_far = shells.iter_mut().zip(&mut nearer);
            for ((&within, &is_centre), (shell, nearer)) in
                within.iter().zip(&is_centre).zip(so_far)
            {
                // All bits or none, so that the loop vectorizes without branches.
                let is_open = if within < count { u16::MAX } else { 0 };
                *shell += is_open & 1;
                *nearer = (*nearer).max(within & is_open);
                open |= is_open & is_centre;
            }
            if open == 0 {
                break;
            }
        }
        let reached = centres.iter().map(|centre| Reached {
            centre,
            shell: shells[centre as usize].into(),
            of_it: u32::from(count - nearer[centre as usize]),
        });
        Some(reached.collect())
    }

    /// Increases the radius by one, and counts the free nodes in the ball of this radius around
    /// each node.
    fn widen(&mut self, grid: &Grid) {
        for index in 0..self.sums.len() {
            let (before, sum) = self.sums.split_at_mut(index);
            let free = &self.free;
            let layer = |radius: usize| match sum[0].of {
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

    /// Copy with empty tables, because the counts are computed again for each request.
    pub(super) fn empty_copy(&self) -> Balls {
        let sums = self.sums.iter().map(|sum| Sum::new(sum.of, sum.dimension)).collect();
        let (slices, slices_of_planes) = (self.slices.clone(), self.slices_of_planes.clone());
        let Balls { planes, all, .. } = *self;
        Balls { free: Vec::new(), sums, slices, slices_of_planes, planes, all }
    }
}

/// Counts of free nodes in smaller balls, from which a [`Sum`] computes its next counts.
///
/// The smaller balls extend along one dimension fewer. Balls in `here` have the next radius, and
/// balls in `before` the radius before it. On a ring, a node may be reached on both sides of a
/// centre. To count it only once, the counts `past_ahead` and `past_behind` of smaller radii are
/// subtracted.
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

    fn widen(&mut self, grid: &Grid, sources: &Sources<'_>) {
        let Sum { dimension, layers, ahead, behind, spare, .. } = self;
        let (side, stride) =
            (grid.sides()[*dimension] as usize, grid.strides()[*dimension] as usize);
        let lines = Lines { length: side * stride, stride, is_ring: grid.is_ring(*dimension) };
        spare.clear();
        spare.extend_from_slice(sources.here);
        if sources.before.is_some() {
            lines.shifted(spare, ahead, 1, false, |to, from| *to += from);
            // On a ring, positions further ahead are nearer from behind.
            if let Some(past) = sources.past_ahead.filter(|_| lines.is_ring) {
                lines.shifted(spare, past, side / 2 + 1, false, |to, from| *to -= from);
            }
        }
        std::mem::swap(ahead, spare);
        spare.clear();
        spare.resize(ahead.len(), 0);
        if let Some(before) = sources.before {
            lines.shifted(spare, behind, 1, true, |to, from| *to += from);
            lines.shifted(spare, before, 1, true, |to, from| *to += from);
            if let Some(past) = sources.past_behind.filter(|_| lines.is_ring) {
                lines.shifted(spare, past, (side - 1) / 2 + 1, true, |to, from| *to -= from);
            }
        }
        std::mem::swap(behind, spare);
        layers.extend(ahead.iter().zip(behind.iter()).map(|(ahead, behind)| ahead + behind));
    }
}

/// Lines of nodes along one dimension. Each chunk of `length` nodes consists of whole lines.
struct Lines {
    length: usize,
    stride: usize,
    is_ring: bool,
}

impl Lines {
    /// Calls `change` on each entry of `to`, with the entry of `from` that is `places` positions
    /// away.
    ///
    /// The entry of `from` lies behind if `is_behind` is set, otherwise ahead.
    #[inline]
    fn shifted(
        &self,
        to: &mut [u16],
        from: &[u16],
        places: usize,
        is_behind: bool,
        change: impl Fn(&mut u16, u16),
    ) {
        let by = places * self.stride % self.length;
        if !self.is_ring && places * self.stride >= self.length {
            return;
        }
        let cut = if is_behind { self.length - by } else { by };
        for (to, from) in to.chunks_exact_mut(self.length).zip(from.chunks_exact(self.length)) {
            let ((first, last), (start, end)) =
                (from.split_at(cut), to.split_at_mut(self.length - cut));
            let (near, around) = if is_behind {
                ((end, first), (start, last))
            } else {
                ((start, last), (end, first))
            };
            near.0.iter_mut().zip(near.1).for_each(|(to, &from)| change(to, from));
            if self.is_ring {
                around.0.iter_mut().zip(around.1).for_each(|(to, &from)| change(to, from));
            }
        }
    }
}
