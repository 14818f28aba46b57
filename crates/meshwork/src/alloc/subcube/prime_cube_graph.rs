//! Prime-cube graph: takes subcubes of primes, the free subcubes that lie in no larger free
//! subcube.

use crate::alloc::{Allocator, AllocatorEntry, Ask, up_to_dimension};
use crate::form::{Asks, Finds};
use crate::geometry::NodeSet;
use crate::geometry::cube::{CubeSearch, Subcube, lightest, neighbours};
use crate::job::Request;
use crate::machine::Placement;
use crate::registry::{About, Param, Words};
use crate::topology::{Node, Wiring};

/// Registry entry of the allocator `prime_cube_graph`.
pub static ENTRY: AllocatorEntry = AllocatorEntry::new(
    About::new(
        "prime_cube_graph",
        "a subcube of the smallest maximal free subcube that overlaps least with the others",
    )
    .aliases(&["pc_graph"])
    .definition(
        "Prime cubes are free subcubes that are part of no larger one; an edge joins two that \
         share nodes, and weighs as many. Of the primes that are large enough, one of the least \
         dimension is taken, of those the one whose edges weigh least together, and in it the \
         subcube that shares fewest nodes with other primes. What overlaps little goes first, so \
         that large cubes stay whole. With `cubes = \"several\"` a count gets a connected set of \
         subcubes.",
    )
    .complexity(
        "All prime cubes are found when the free nodes have changed; a request \
             then takes O(2ʲ) for each prime of the least sufficient dimension j, and \
             O(3ʲ) in the one that is taken. It works up to dimension 17.",
    )
    .source(
        "Yang & Wang, On the design and analysis of processor allocation in \
             hypercubes: the PC-graph approach, IEEE TPDS 4, 1993",
    )
    .params(&[Param::new("cubes", CUBES.kind()).is("\"one\"").help(
        "whether a job gets one subcube, or a connected set of subcubes with exactly as many \
             processors as it asks for; it then asks for a count",
    )]),
    |params, topology| {
        up_to_dimension(params, topology, MAX_DIMENSION)?;
        let dimension = topology.grid().dimensions() as u32;
        Ok(Box::new(PrimeCubeGraph {
            several: params.meaning("cubes", &CUBES),
            search: CubeSearch::new(dimension),
            of: NodeSet::empty(1 << dimension),
            primes: Vec::new(),
            covering: vec![0; 1 << dimension],
        }))
    },
)
.serves(&[Wiring::Hypercube])
.asks(Asks::Subcube)
.finds(Finds::EveryBlock)
.contiguous(true);

/// Values of the parameter `cubes`; `true` means that a job may get several subcubes.
static CUBES: Words<bool, 2> = Words::new([("one", false), ("several", true)]);

/// Largest supported dimension of a hypercube.
///
/// At this dimension, a hypercube with half of its nodes free has several hundred thousand primes
/// (free subcubes that lie in no larger free subcube).
const MAX_DIMENSION: u32 = 17;

/// The prime-cube graph strategy. A prime is a free subcube that lies in no larger free subcube.
///
/// With `cubes = "several"`, a job may get several subcubes. The first one lies in a connected
/// component of the free nodes that is large enough for the job, and is as large as possible. Each
/// further one is adjacent to the subcubes taken so far. It is the largest free subcube that does
/// not exceed the number of missing nodes. The request succeeds whenever a component is large
/// enough.
///
/// Primes are computed again when the free nodes have changed.
#[derive(Clone)]
struct PrimeCubeGraph {
    several: bool,
    search: CubeSearch,
    /// Free nodes at the time when the prime subcubes were last computed.
    of: NodeSet,
    primes: Vec<Subcube>,
    /// For each node, the number of primes (maximal free subcubes) that contain it.
    covering: Vec<u32>,
}

impl PrimeCubeGraph {
    fn find_primes(&mut self, free: &NodeSet) {
        if self.of == *free {
            return;
        }
        self.of.copy_from(free);
        self.primes = self.search.primes(free);
        self.covering.fill(0);
        for prime in &self.primes {
            prime.nodes().for_each(|node| self.covering[node as usize] += 1);
        }
    }

    /// For a node of a prime (maximal free subcube), the number of other primes that contain it.
    fn others(&self, node: Node) -> u32 {
        self.covering[node as usize] - 1
    }

    /// Selects a subcube of dimension `k` inside one of the prime subcubes for which `among` is
    /// true.
    ///
    /// A prime subcube is free and lies in no larger free subcube.
    fn choose_one(&self, k: u32, among: impl Fn(&Subcube) -> bool) -> Option<Subcube> {
        let eligible = || self.primes.iter().filter(|p| p.dimension() >= k && among(p));
        let least = eligible().map(|prime| prime.dimension()).min()?;
        let smallest = eligible().filter(|prime| prime.dimension() == least);
        let edges = |prime: Subcube| prime.nodes().map(|node| self.others(node)).sum::<u32>();
        let prime = *smallest.min_by_key(|prime| (edges(**prime), **prime))?;
        Some(lightest(prime, k, |node| self.others(node)))
    }

    fn choose_several(&mut self, count: u32, free: &NodeSet) -> Option<Placement> {
        if count == 0 {
            return None;
        }
        let whole = self.search.dimension();
        let mut rest = parts_of_at_least(count, free, whole);
        let first = {
            let among = |prime: &Subcube| rest.contains(prime.base);
            let largest = self.primes.iter().filter(|p| among(p)).map(|p| p.dimension()).max()?;
            self.choose_one(largest.min(count.ilog2()), among)?
        };
        let mut placement = Placement::from(first.block(whole));
        first.take_from(&mut rest);
        let mut taken = NodeSet::empty(1 << whole);
        first.add_to(&mut taken);
        let mut wanted = count - (1 << first.dimension());
        while wanted > 0 {
            let beside = beside(&taken, whole);
            let next = (0..=wanted.ilog2())
                .rev()
                .find_map(|k| self.first_that_meets(&beside, &rest, k))?;
            next.take_from(&mut rest);
            next.add_to(&mut taken);
            wanted -= 1 << next.dimension();
            placement.blocks.push(next.block(whole));
        }
        Some(placement)
    }

    /// First free subcube of dimension `k` with at least one node of a given set.
    fn first_that_meets(&mut self, near: &NodeSet, free: &NodeSet, k: u32) -> Option<Subcube> {
        let mut best: Option<Subcube> = None;
        self.search.for_each_mask(free, k, |bases| {
            let found = bases
                .iter()
                .take_while(|cube| best.is_none_or(|best| *cube < best))
                .find(|cube| !cube.is_clear_of(near));
            best = found.or(best);
            std::ops::ControlFlow::Continue(())
        });
        best
    }
}

/// Union of those connected components of the free nodes that have at least `count` nodes.
fn parts_of_at_least(count: u32, free: &NodeSet, whole: u32) -> NodeSet {
    let mut rest = free.clone();
    let mut large = NodeSet::empty(free.universe());
    while let Some(seed) = rest.first() {
        let mut part = NodeSet::empty(free.universe());
        part.insert(seed);
        loop {
            let mut grown = beside(&part, whole);
            grown.unite(&part);
            grown.intersect(&rest);
            if grown == part {
                break;
            }
            part = grown;
        }
        rest.subtract(&part);
        if part.count() >= count {
            large.unite(&part);
        }
    }
    large
}

/// Nodes with at least one neighbour in the set `nodes`. They may be in this set themselves.
fn beside(nodes: &NodeSet, whole: u32) -> NodeSet {
    let mut beside = NodeSet::empty(nodes.universe());
    neighbours(nodes.words(), 0..whole, beside.words_mut());
    beside
}

impl Allocator for PrimeCubeGraph {
    fn asks(&self) -> Option<Asks> {
        self.several.then_some(Asks::Nodes)
    }

    fn choose(&mut self, ask: Ask<'_>) -> Option<Placement> {
        let Ask { request, site, .. } = ask;
        self.find_primes(site.free());
        match request {
            Request::Subcube(k) => {
                let cube = self.choose_one(*k, |_| true)?;
                Some(cube.block(self.search.dimension()).into())
            }
            Request::Nodes(count) => self.choose_several(*count, site.free()),
            Request::Block(_) | Request::Constrained(_) | Request::Pieces(_) => None,
        }
    }

    fn fork(&self) -> Box<dyn Allocator> {
        Box::new(self.clone())
    }
}
