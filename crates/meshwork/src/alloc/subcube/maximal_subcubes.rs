//! Allocation from the maximal set of subcubes: disjoint free subcubes that are as large as
//! possible.

use std::collections::BTreeSet;

use crate::alloc::{Allocator, AllocatorEntry, Ask, up_to_dimension};
use crate::form::{Asks, Finds};
use crate::geometry::NodeSet;
use crate::geometry::cube::{CubeSearch, ExactPacking, Subcube, lightest, parts};
use crate::job::Request;
use crate::machine::Placement;
use crate::registry::{About, Kind, Param};
use crate::topology::{Node, Wiring};

/// Registry entry of the allocator `maximal_subcubes`.
pub static ENTRY: AllocatorEntry = AllocatorEntry::new(
    About::new(
        "maximal_subcubes",
        "the smallest sufficient cube of the greatest set of disjoint free subcubes",
    )
    .aliases(&["mss"])
    .definition(
        "The maximal set of subcubes is the set of disjoint free subcubes that is greatest when \
         their sizes are compared from the largest down. Of its cubes that are large enough, one \
         of the least dimension is taken, and of that the subcube without which the maximal set of \
         the rest is greatest. Ties go to the lowest base, then to the lowest mask. No free \
         subcube is missed.",
    )
    .complexity(
        "Exponential in the worst case: a branch and bound over the free subcubes, up to dimension \
         `exact_up_to`; beyond that largest cubes are taken greedily. It works up to dimension 20.",
    )
    .source("Dutt & Hayes, Subcube allocation in hypercube computers, IEEE TC 40(3), 1991")
    .params(&[Param::new(
        "exact_up_to",
        Kind::Integer(0, ExactPacking::MAX_DIMENSIONS as u64),
    )
    .is("5")
    .help(
        "the largest dimension of a hypercube on which the greatest set is searched for \
             completely, instead of taking the largest cube again and again",
    )]),
    |params, topology| {
        up_to_dimension(params, topology, MAX_DIMENSION)?;
        let dimension = topology.grid().dimensions() as u32;
        if u64::from(dimension) <= params.integer("exact_up_to") {
            return Ok(Box::new(Exact { dimension, packing: ExactPacking::new(dimension) }));
        }
        Ok(Box::new(Greedy { search: CubeSearch::new(dimension) }))
    },
)
.serves(&[Wiring::Hypercube])
.asks(Asks::Subcube)
.finds(Finds::EveryBlock)
.contiguous(true);

const MAX_DIMENSION: u32 = 20;

/// The exact maximal set of disjoint free subcubes, as defined by [`ExactPacking`].
///
/// The set always contains a subcube of the largest free dimension. So a request fails only if no
/// subcube of its dimension is free.
#[derive(Clone)]
struct Exact {
    dimension: u32,
    packing: ExactPacking,
}

impl Allocator for Exact {
    fn choose(&mut self, ask: Ask<'_>) -> Option<Placement> {
        let Ask { request: &Request::Subcube(k), site, .. } = ask else { return None };
        let set = self.packing.set(site.free());
        let large_enough = set.into_iter().filter(|cube| cube.dimension() >= k);
        let cube = large_enough.min_by_key(|cube| (cube.dimension(), *cube))?;
        let mut best: Option<(u64, Subcube)> = None;
        for base in parts(cube.mask).map(|part| cube.base | part) {
            let masks = parts(cube.mask & !base).filter(|mask| mask.count_ones() == k);
            for part in masks.map(|mask| Subcube { base, mask }) {
                let left = self.packing.vector_without(site.free(), part);
                if best.is_none_or(|(most, _)| left > most) {
                    best = Some((left, part));
                }
            }
        }
        Some(best?.1.block(self.dimension).into())
    }

    fn goes_by_free_nodes(&self) -> bool {
        true
    }

    fn fork(&self) -> Box<dyn Allocator> {
        Box::new(self.clone())
    }
}

/// Greedy approximation of the maximal set of disjoint free subcubes.
///
/// The dimensions are processed in descending order. Of each dimension, the free subcube that
/// overlaps the fewest other ones is taken repeatedly. Therefore, no request fails if a subcube of
/// its dimension is free. A request gets a part of the smallest subcube that can hold it: the part
/// with the fewest free neighbours outside this subcube.
///
/// Let a dimension have *c* free subcubes. The cost is the smaller of two values. One is **O(c²)**.
/// The other is the sum over all nodes of the squared number of these subcubes that contain the
/// node.
#[derive(Clone)]
struct Greedy {
    search: CubeSearch,
}

impl Greedy {
    /// First of the subcubes of the maximal set with the smallest dimension that is at least `k`.
    ///
    /// `None` if the set has no subcube of at least dimension `k`.
    fn smallest(&mut self, free: &NodeSet, k: u32) -> Option<Subcube> {
        self.search.first(free, k)?;
        let largest = self.search.largest(free)?;
        let mut rest = free.clone();
        let mut smallest = None;
        for dimension in (k..=largest).rev() {
            let cubes = self.search.all(&rest, dimension);
            let taken = independent(&cubes, free.universe());
            taken.iter().for_each(|cube| cube.take_from(&mut rest));
            smallest = taken.into_iter().min().or(smallest);
        }
        smallest
    }
}

impl Allocator for Greedy {
    fn choose(&mut self, ask: Ask<'_>) -> Option<Placement> {
        let Ask { request: &Request::Subcube(k), site, .. } = ask else { return None };
        let (free, whole) = (site.free(), self.search.dimension());
        let cube = self.smallest(free, k)?;
        let outside = |node: Node| {
            let others = (0..whole).filter(|d| cube.mask >> d & 1 == 0);
            others.filter(|d| free.contains(node ^ 1 << d)).count() as u32
        };
        Some(lightest(cube, k, outside).block(whole).into())
    }

    fn fork(&self) -> Box<dyn Allocator> {
        Box::new(self.clone())
    }
}

/// Selects disjoint subcubes, by repeatedly taking the first one that overlaps the fewest others.
fn independent(cubes: &[Subcube], nodes: u32) -> Vec<Subcube> {
    let mut neighbours = Neighbours::new(cubes, nodes);
    let mut degree: Vec<usize> = (0..cubes.len()).map(|i| neighbours.of(i).len()).collect();
    let mut left: BTreeSet<(usize, usize)> =
        degree.iter().enumerate().map(|(i, &degree)| (degree, i)).collect();
    let mut taken = Vec::new();
    while let Some((_, least)) = left.pop_first() {
        taken.push(cubes[least]);
        let dropped: Vec<usize> = neighbours.of(least).to_vec();
        for &i in &dropped {
            left.remove(&(degree[i], i));
        }
        neighbours.forget(least);
        dropped.iter().for_each(|&i| neighbours.forget(i));
        for i in dropped {
            for &j in neighbours.of(i) {
                left.remove(&(degree[j], j));
                degree[j] -= 1;
                left.insert((degree[j], j));
            }
        }
    }
    taken
}

/// Graph whose edges join overlapping subcubes. Edges are computed only when they are needed.
struct Neighbours<'a> {
    cubes: &'a [Subcube],
    is_there: Vec<bool>,
    /// For each node, the subcubes that contain it; `None` if comparing all pairs of subcubes is
    /// cheaper.
    at_node: Option<Vec<Vec<usize>>>,
    found: Vec<usize>,
}

impl<'a> Neighbours<'a> {
    fn new(cubes: &'a [Subcube], nodes: u32) -> Neighbours<'a> {
        // c subcubes of 2ᵏ among N nodes make (c 2ᵏ)² / N pairs by node, c² directly.
        let by_node = |cube: &Subcube| 2 * cube.dimension() < nodes.ilog2();
        let at_node = cubes.first().is_some_and(by_node).then(|| {
            let mut at_node = vec![Vec::new(); nodes as usize];
            for (i, cube) in cubes.iter().enumerate() {
                cube.nodes().for_each(|node| at_node[node as usize].push(i));
            }
            at_node
        });
        Neighbours { cubes, is_there: vec![true; cubes.len()], at_node, found: Vec::new() }
    }

    /// Indices of the remaining subcubes that overlap a given one, in ascending order.
    fn of(&mut self, i: usize) -> &[usize] {
        let (cube, found) = (self.cubes[i], &mut self.found);
        found.clear();
        match &self.at_node {
            Some(at_node) => {
                let there = cube.nodes().flat_map(|node| &at_node[node as usize]);
                found.extend(there.filter(|&&j| j != i && self.is_there[j]));
                found.sort_unstable();
                found.dedup();
            }
            None => {
                let meets = |j: &usize| *j != i && self.is_there[*j] && self.cubes[*j].meets(cube);
                found.extend((0..self.cubes.len()).filter(meets));
            }
        }
        found
    }

    fn forget(&mut self, i: usize) {
        self.is_there[i] = false;
    }
}
