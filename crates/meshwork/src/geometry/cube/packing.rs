//! The maximal set of disjoint free subcubes, found by complete search.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::Subcube;
use crate::geometry::NodeSet;

/// Number of subcubes of each dimension, packed into one word with six bits for each dimension.
/// Larger dimensions have higher bits.
type Vector = u64;

/// Finds the maximal set of disjoint free subcubes of a small hypercube, by complete search.
///
/// Sets of disjoint free subcubes are compared by their number of subcubes of the largest
/// dimension, then of the next lower dimension, and so on. If several sets are maximal, one of them
/// is built step by step. Each step takes the largest subcube that some maximal set has in addition
/// to all subcubes taken so far. Ties go to the lowest base, then to the lowest mask.
///
/// # Complexity
/// Exponential. Few branches remain, because the search often reaches an upper bound soon. The
/// bound uses a property of every subcube of two or more nodes: equally many of its nodes have an
/// even and an odd number of set bits. Subcubes of two nodes are found by matching neighbours.
/// Clones share a cache of results.
#[derive(Clone, Debug)]
pub struct ExactPacking {
    /// For each dimension, all subcubes of this dimension in order, each with its nodes as bits.
    cubes: Arc<[Vec<(Subcube, u32)>]>,
    known: Arc<Mutex<BTreeMap<u32, Vector>>>,
}

/// Nodes whose numbers have an even number of set bits, as a mask of 32 nodes.
const EVEN: u32 = 0x6996_9669;

/// Maximum number of results in the cache, of about 24 bytes each.
const MAX_KNOWN: usize = 1 << 18;

impl ExactPacking {
    /// The largest dimension of a hypercube that can be searched.
    pub const MAX_DIMENSIONS: u32 = 5;

    /// Creates a search for a hypercube of dimension `dimension`.
    ///
    /// # Panics
    /// If the dimension exceeds [`MAX_DIMENSIONS`](Self::MAX_DIMENSIONS).
    #[must_use]
    pub fn new(dimension: u32) -> ExactPacking {
        assert!(dimension <= Self::MAX_DIMENSIONS, "a set of nodes has 32 bits");
        let mut cubes = vec![Vec::new(); dimension as usize + 1];
        for base in 0..1_u32 << dimension {
            for mask in (0..1_u32 << dimension).filter(|mask| base & mask == 0) {
                let cube = Subcube { base, mask };
                let nodes = cube.nodes().map(|node| 1 << node).sum();
                cubes[cube.dimension() as usize].push((cube, nodes));
            }
        }
        ExactPacking { cubes: cubes.into(), known: Arc::default() }
    }

    /// The maximal set of disjoint free subcubes, as defined at [`ExactPacking`], largest first.
    #[must_use]
    pub fn set(&self, free: &NodeSet) -> Vec<Subcube> {
        let mut rest = free.words()[0] as u32;
        let mut set = Vec::new();
        while let Some(k) = self.largest(rest) {
            let unit = 1 << (6 * k);
            let greatest = self.greatest(rest);
            let mut free = self.cubes[k].iter().filter(|(_, nodes)| nodes & !rest == 0);
            let next = free.find(|(_, nodes)| unit + self.greatest(rest & !nodes) == greatest);
            let &(cube, nodes) = next.expect("one of the cubes reaches the greatest");
            set.push(cube);
            rest &= !nodes;
        }
        set
    }

    /// Number of subcubes of each dimension in the maximal set for the free nodes outside `taken`.
    /// The number for each dimension takes six bits. Larger dimensions have higher bits, so that
    /// results can be compared as integers.
    #[must_use]
    pub fn vector_without(&self, free: &NodeSet, taken: Subcube) -> Vector {
        let nodes: u32 = taken.nodes().map(|node| 1 << node).sum();
        self.greatest(free.words()[0] as u32 & !nodes)
    }

    fn largest(&self, free: u32) -> Option<usize> {
        let has_one =
            |cubes: &Vec<(Subcube, u32)>| cubes.iter().any(|(_, nodes)| nodes & !free == 0);
        self.cubes.iter().rposition(has_one)
    }

    fn known(&self) -> MutexGuard<'_, BTreeMap<u32, Vector>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn greatest(&self, free: u32) -> Vector {
        let Some(k) = self.largest(free) else { return 0 };
        if k <= 1 {
            let pairs = u64::from(self.most_pairs(free));
            let left = u64::from(free.count_ones()) - 2 * pairs;
            return pairs << 6 | left;
        }
        if let Some(&known) = self.known().get(&free) {
            return known;
        }
        let (bound, unit) = (bound(free, k as u32), 1 << (6 * k));
        let mut greatest = 0;
        for (_, nodes) in self.cubes[k].iter().filter(|(_, nodes)| nodes & !free == 0) {
            greatest = greatest.max(unit + self.greatest(free & !nodes));
            if greatest == bound {
                break;
            }
        }
        let mut known = self.known();
        if known.len() >= MAX_KNOWN {
            known.clear();
        }
        known.insert(free, greatest);
        greatest
    }

    /// The largest number of disjoint pairs of neighbouring free nodes, found by augmenting paths.
    fn most_pairs(&self, free: u32) -> u32 {
        let dimensions = self.cubes.len() - 1;
        let mut partner = [None; 32];
        let mut pairs = 0;
        for even in (0..32).filter(|node| free & EVEN & 1 << node != 0) {
            let mut seen = 0;
            pairs += u32::from(augment(even, free, dimensions, &mut seen, &mut partner));
        }
        pairs
    }
}

/// Finds a partner for the node `even`, whose number has an even number of set bits. If necessary,
/// nodes that are already matched get new partners. Returns whether a partner was found.
fn augment(
    even: usize,
    free: u32,
    dimensions: usize,
    seen: &mut u32,
    partner: &mut [Option<usize>; 32],
) -> bool {
    for odd in (0..dimensions).map(|d| even ^ 1 << d) {
        if free & !*seen & 1 << odd == 0 {
            continue;
        }
        *seen |= 1 << odd;
        let is_free =
            partner[odd].is_none_or(|other| augment(other, free, dimensions, seen, partner));
        if is_free {
            partner[odd] = Some(even);
            return true;
        }
    }
    false
}

/// Upper bound on the [`Vector`] of a set of disjoint subcubes of the nodes `free`. Each subcube
/// has at most `k` dimensions.
fn bound(free: u32, k: u32) -> Vector {
    let (even, odd) = ((free & EVEN).count_ones(), (free & !EVEN).count_ones());
    let mut paired = 2 * even.min(odd);
    let mut vector = u64::from(even.abs_diff(odd));
    for j in (1..=k).rev() {
        vector |= u64::from(paired >> j) << (6 * j);
        paired &= (1 << j) - 1;
    }
    vector
}
