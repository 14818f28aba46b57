//! Search for the nodes with the fewest holders (jobs or outages), to reserve them for a job.

use super::Cluster;
use super::queue::Ticket;
use super::reservation::{Hold, Reservation};
use crate::form::{Asks, Finds};
use crate::geometry::orientation::{Rotation, orientations};
use crate::job::{Dims, Request, Time};
use crate::machine::{Block, Placement};
use crate::offer::Proposal;
use crate::topology::{Grid, Node};

/// Number of holders (jobs or outages) of a set of nodes, and the latest expected end among them.
type Busy = (u64, Time);

#[derive(Clone)]
struct Nodes {
    held: Vec<u64>,
    until: Vec<Time>,
}

/// Number added to the count of holders of a node that is kept for another job.
///
/// It is so large that the node is never chosen.
const KEPT: u64 = 1 << 32;

impl Cluster<'_> {
    /// Reservation of the least busy nodes for a waiting job, whether they are free or held now.
    ///
    /// The least busy placement is the one whose nodes have the fewest holders in total. Ties go to
    /// the placement whose last holder ends first, then to the first orientation, then to the
    /// lowest base. Nodes of `kept` are never used.
    ///
    /// Blocks are searched at every base and, in up to three dimensions, in every orientation.
    /// Subcubes and squares are searched at multiples of their size, where every allocator finds
    /// them. For a number of nodes, the nodes need not form a block.
    ///
    /// A job that requests pieces gets parts of the least busy nodes. To find them, nodes are
    /// sorted by their holders. The allocator then chooses parts among the first nodes of this
    /// order. It gets as few nodes as the job would need if no other job ran. Parts in `kept` are
    /// never used.
    ///
    /// # Complexity
    /// **O(N log N)** for each orientation on a site of *N* nodes. For a job of pieces, the
    /// allocator is asked **O(log N)** times, each time on a copy of the site.
    #[must_use]
    pub fn least_busy(&self, ticket: Ticket, kept: &[(usize, &Placement)]) -> Option<Reservation> {
        let outside = self.outside_of(ticket);
        let outside = outside.iter().map(|(site, placement)| (*site, placement));
        let kept: Vec<(usize, &Placement)> = kept.iter().copied().chain(outside).collect();
        (0..self.facility.sites().len())
            .filter_map(|site| self.least_busy_on(site, ticket, &kept))
            .min_by_key(|(busy, _)| *busy)
            .map(|(_, reservation)| reservation)
    }

    fn least_busy_on(
        &self,
        site: usize,
        ticket: Ticket,
        kept: &[(usize, &Placement)],
    ) -> Option<(Busy, Reservation)> {
        let job = self.queue.job(ticket);
        if self.facility.shares_nodes() {
            return self.least_busy_parts(site, ticket, kept);
        }
        let size = self.facility.sizes(site, job, self.now).into_iter().next()?;
        let grid = self.site(site).grid();
        let busy = self.busy(site, kept);
        let managed = &self.facility.sites()[site];
        let (found, placement) = match (&size.request, managed.asks()) {
            (request, _) if managed.finds() == Finds::AnyNodes => {
                loose(grid, &busy, request.nodes() as usize)
            }
            (Request::Block(sides), Asks::Square) => aligned(grid, &busy, sides),
            (Request::Block(sides), _) => {
                let turned =
                    if grid.dimensions() <= 3 { Rotation::IfNeeded } else { Rotation::Never };
                orientations(sides, turned)
                    .filter_map(|sides| anywhere(grid, &busy, &sides))
                    .reduce(|best, other| if other.0 < best.0 { other } else { best })
            }
            (Request::Subcube(dimension), _) => {
                let side = |d: usize| if d < *dimension as usize { 2 } else { 1 };
                aligned(grid, &busy, &(0..grid.dimensions()).map(side).collect::<Dims>())
            }
            (Request::Nodes(_) | Request::Constrained(_) | Request::Pieces(_), _) => {
                loose(grid, &busy, size.request.nodes() as usize)
            }
        }?;
        let at = found.1.max(self.now);
        let (span, stretch) = (job.estimate * size.stretch, size.stretch);
        let hold = Hold::Nodes(placement);
        Some((found, Reservation { at, span, stretch, site, hold }))
    }

    /// Variant of [`least_busy`](Cluster::least_busy) for one site on which jobs share nodes.
    fn least_busy_parts(
        &self,
        site: usize,
        ticket: Ticket,
        kept: &[(usize, &Placement)],
    ) -> Option<(Busy, Reservation)> {
        let job = self.queue.job(ticket);
        let grid = self.site(site).grid();
        let busy = self.busy(site, &[]);
        let mut nodes: Vec<Node> = (0..grid.nodes()).collect();
        nodes.sort_by_key(|&node| busy.of(node)); // stable: lower nodes first
        let mut empty = self.facility.fork_site(site);
        for holding in self.busy_nodes().filter(|holding| holding.site == site) {
            empty.release(holding.placement);
        }
        for (_, placement) in kept.iter().filter(|(on, _)| *on == site) {
            empty.take_what_is_free_of(placement, self.now).ok()?;
        }
        // What the allocator chooses among the first `count` nodes.
        let among = |count: usize| {
            let mut then = empty.fork();
            then.take_what_is_free_of(&singles(grid, &nodes[count..]), self.now).ok()?;
            then.propose(job, self.now)
        };
        let mut found = among(nodes.len())?;
        // Bisection: the job fits on the first `high` nodes, and not on the first `low`.
        let (mut low, mut high) = (0, nodes.len());
        while high - low > 1 {
            let middle = usize::midpoint(low, high);
            match among(middle) {
                Some(proposal) => (found, high) = (proposal, middle),
                None => low = middle,
            }
        }
        let Proposal { placement, stretch, .. } = found;
        let own = placement.nodes(grid).into_iter().map(|node| busy.of(node)).reduce(join)?;
        let (at, span) = (self.parts_free(site, &placement), job.estimate * stretch);
        let hold = Hold::Nodes(placement);
        Some((own, Reservation { at, span, stretch, site, hold }))
    }

    fn busy(&self, site: usize, kept: &[(usize, &Placement)]) -> Nodes {
        let grid = self.site(site).grid();
        let nodes = grid.nodes() as usize;
        let mut busy = Nodes { held: vec![0; nodes], until: vec![Time::ZERO; nodes] };
        let mut add = |placement: &Placement, count: u64, until: Time| {
            placement.for_each_run(grid, |start, run| {
                let run = start as usize..(start + run) as usize;
                busy.held[run.clone()].iter_mut().for_each(|held| *held += count);
                busy.until[run].iter_mut().for_each(|end| *end = until.max(*end));
            });
        };
        for holding in self.busy_nodes().filter(|holding| holding.site == site) {
            add(holding.placement, 1, holding.until.max(self.now));
        }
        for (_, placement) in kept.iter().filter(|(on, _)| *on == site) {
            add(placement, KEPT, Time::ZERO);
        }
        busy
    }
}

impl Nodes {
    fn of(&self, node: Node) -> Busy {
        (self.held[node as usize], self.until[node as usize])
    }
}

fn anywhere(grid: &Grid, busy: &Nodes, sides: &[u32]) -> Option<(Busy, Placement)> {
    let bases = 0..grid.nodes();
    least_of(grid, busy, sides, bases.filter(|&base| grid.holds(base, sides)))
}

/// The least busy block among those whose lowest corner has multiples of the sides as coordinates.
fn aligned(grid: &Grid, busy: &Nodes, sides: &[u32]) -> Option<(Busy, Placement)> {
    let on_lattice = |base: &Node| {
        let corner = grid.coordinates(*base);
        corner.iter().zip(sides).all(|(at, side)| at % side == 0) && grid.holds(*base, sides)
    };
    least_of(grid, busy, sides, (0..grid.nodes()).filter(on_lattice))
}

/// The block at one of `bases` with the fewest holders. Ties go to the block whose last holder ends
/// first.
///
/// Ends are computed only for the blocks with the fewest holders, and node by node if there are few
/// such blocks.
fn least_of(
    grid: &Grid,
    busy: &Nodes,
    sides: &[u32],
    bases: impl Iterator<Item = Node>,
) -> Option<(Busy, Placement)> {
    let held = over_blocks(grid, busy.held.clone(), sides, |a, b| a + b);
    let (mut fewest, mut least) = (KEPT, Vec::new());
    for base in bases {
        let held = held[base as usize];
        if held < fewest {
            least.clear();
            fewest = held;
        }
        if held == fewest && fewest < KEPT {
            least.push(base);
        }
    }
    let block = |base: Node| Placement::from(Block { base, sides: Dims::from_slice(sides) });
    let nodes: u32 = sides.iter().product();
    let until = if least.len() as u64 * u64::from(nodes) > u64::from(grid.nodes()) && fewest > 0 {
        over_blocks(grid, busy.until.clone(), sides, Time::max)
    } else {
        Vec::new()
    };
    let end = |&base: &Node| match until.get(base as usize) {
        _ if fewest == 0 => Time::ZERO,
        Some(&until) => until,
        None => {
            let mut latest = Time::ZERO;
            block(base).for_each_run(grid, |start, run| {
                let run = &busy.until[start as usize..(start + run) as usize];
                latest = run.iter().fold(latest, |latest, &end| latest.max(end));
            });
            latest
        }
    };
    let (until, base) = least.iter().map(|base| (end(base), *base)).min()?;
    Some(((fewest, until), block(base)))
}

fn loose(grid: &Grid, busy: &Nodes, count: usize) -> Option<(Busy, Placement)> {
    let mut nodes: Vec<Node> = (0..grid.nodes()).filter(|&node| busy.of(node).0 < KEPT).collect();
    nodes.sort_by_key(|&node| busy.of(node)); // stable: lower nodes first
    nodes.truncate(count);
    if nodes.len() < count {
        return None;
    }
    nodes.sort_unstable();
    let found = nodes.iter().map(|&node| busy.of(node)).reduce(join)?;
    Some((found, singles(grid, &nodes)))
}

/// Placement on the given nodes, in which each node is a block by itself.
fn singles(grid: &Grid, nodes: &[Node]) -> Placement {
    let one = |&base: &Node| Block { base, sides: Dims::from_elem(1, grid.dimensions()) };
    Placement { blocks: nodes.iter().map(one).collect(), parts: None }
}

fn join(a: Busy, b: Busy) -> Busy {
    (a.0 + b.0, a.1.max(b.1))
}

/// For each node, joins the values of all nodes of the block whose lowest corner is this node.
///
/// Blocks reach around all edges of the grid. Along each dimension, values are joined over windows
/// whose lengths are powers of two. Windows that add up to the side make a block.
fn over_blocks<T: Copy>(
    grid: &Grid,
    mut values: Vec<T>,
    sides: &[u32],
    join: impl Fn(T, T) -> T,
) -> Vec<T> {
    for (d, &side) in sides.iter().enumerate() {
        let (stride, length) = (grid.strides()[d] as usize, grid.sides()[d] as usize);
        // Joins `left` with the values of `right` shifted by `by` along the dimension.
        let joined = |left: Option<&[T]>, right: &[T], by: usize| -> Vec<T> {
            let mut sums = Vec::with_capacity(right.len());
            for lane in (0..right.len()).step_by(stride * length) {
                let (before, after) =
                    right[lane..][..stride * length].split_at(by % length * stride);
                match left {
                    None => [after, before].iter().for_each(|part| sums.extend_from_slice(part)),
                    Some(left) => {
                        let (front, back) = left[lane..][..stride * length].split_at(after.len());
                        for (left, right) in [(front, after), (back, before)] {
                            sums.extend(left.iter().zip(right).map(|(&a, &b)| join(a, b)));
                        }
                    }
                }
            }
            sums
        };
        let (mut done, mut sums) = (0, None);
        let mut power = values;
        for bit in 0..u32::BITS - side.leading_zeros() {
            if side >> bit & 1 == 1 {
                sums = Some(joined(sums.as_deref(), &power, done));
                done += 1 << bit;
            }
            if side >> bit > 1 {
                power = joined(Some(&power), &power, 1 << bit);
            }
        }
        values = sums.unwrap_or(power);
    }
    values
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn blocks_are_as_busy_as_their_nodes(
            sides in prop::collection::vec(1_u32..6, 1..4),
            wanted in prop::collection::vec(1_u32..6, 3),
            seed in prop::collection::vec((0_u64..3, 0_u32..20), 125),
            wrapped: bool,
        ) {
            let grid = Grid::new(&sides, wrapped).unwrap();
            let block: Dims = sides.iter().zip(&wanted).map(|(&a, &b)| a.min(b)).collect();
            // A free node has no holder and no end.
            let node = |n: u32| match seed[n as usize] {
                (0, _) => (0, Time::ZERO),
                (held, until) => (held, Time::new(f64::from(until))),
            };
            let (held, until) = (0..grid.nodes()).map(node).unzip();
            let busy = Nodes { held, until };
            let held = over_blocks(&grid, busy.held.clone(), &block, |a, b| a + b);
            let until = over_blocks(&grid, busy.until.clone(), &block, Time::max);
            let of = |base: Node| {
                let placed = Placement::from(Block { base, sides: block.clone() });
                placed.nodes(&grid).into_iter().map(node).reduce(join).unwrap()
            };
            let bases: Vec<Node> = (0..grid.nodes()).filter(|&b| grid.holds(b, &block)).collect();
            for &base in &bases {
                prop_assert_eq!((held[base as usize], until[base as usize]), of(base));
            }
            let best = bases.into_iter().min_by_key(|&base| (of(base), base)).unwrap();
            let (found, placement) = anywhere(&grid, &busy, &block).unwrap();
            prop_assert_eq!(found, of(best));
            prop_assert_eq!(placement.blocks[0].base, best);
        }
    }

    #[test]
    fn nodes_that_are_kept_are_taken_by_nobody_else() {
        let grid = Grid::new(&[4], false).unwrap();
        let busy = |held: [u64; 4]| Nodes { held: held.to_vec(), until: vec![Time::ZERO; 4] };
        let base = |found: Option<(Busy, Placement)>| found.map(|(_, p)| p.blocks[0].base);
        assert_eq!(base(anywhere(&grid, &busy([0, KEPT, 1, 1]), &[2])), Some(2));
        assert_eq!(base(anywhere(&grid, &busy([0, KEPT, 1, 1]), &[3])), None);
        assert_eq!(base(aligned(&grid, &busy([1, 0, 0, 1]), &[2])), Some(0));
        let (found, placed) = loose(&grid, &busy([1, KEPT, 0, 0]), 3).unwrap();
        assert_eq!((found.0, placed.nodes(&grid)), (1, vec![0, 2, 3]));
        assert_eq!(loose(&grid, &busy([1, KEPT, 0, 0]), 4), None);
    }
}
