//! Slow reference implementations of the hypercube allocators. They follow the published
//! definitions literally.

use std::collections::{BTreeMap, BTreeSet};

use meshwork::geometry::NodeSet;
use meshwork::geometry::cube::Subcube;
use meshwork::job::Request;

/// Slow reference implementation of a hypercube allocator with its state.
pub(crate) trait Twin {
    /// One free subcube of dimension `k`.
    fn choose(&mut self, _free: &NodeSet, _k: u32) -> Option<Subcube> {
        None
    }
    /// Subcubes that serve a request. A request for a subcube gets one. A request for a number of
    /// nodes gets one or several.
    fn serve(&mut self, free: &NodeSet, request: &Request) -> Option<Vec<Subcube>> {
        match request {
            Request::Subcube(k) => self.choose(free, *k).map(|cube| vec![cube]),
            _ => None,
        }
    }
    fn claimed(&mut self, _cubes: &[Subcube], _free: &NodeSet) {}
    fn released(&mut self, _cubes: &[Subcube], _free: &NodeSet) {}
}

fn dimension_of(free: &NodeSet) -> u32 {
    free.universe().trailing_zeros()
}

pub(crate) fn is_free(cube: Subcube, free: &NodeSet) -> bool {
    (0..free.universe())
        .filter(|node| node & !cube.mask == cube.base)
        .all(|node| free.contains(node))
}

pub(crate) fn every_cube(n: u32, k: u32) -> Vec<Subcube> {
    let mut cubes = Vec::new();
    for base in 0..1_u32 << n {
        for mask in (0..1_u32 << n).filter(|mask| mask.count_ones() == k && base & mask == 0) {
            cubes.push(Subcube { base, mask });
        }
    }
    cubes
}

/// Free subcubes of dimension *k*, ordered by base and then by mask.
pub(crate) fn free_cubes(free: &NodeSet, n: u32, k: u32) -> Vec<Subcube> {
    every_cube(n, k).into_iter().filter(|cube| is_free(*cube, free)).collect()
}

/// Takes the lowest free aligned block.
///
/// An aligned block of dimension *k* has the nodes from m 2ᵏ to (m + 1) 2ᵏ − 1.
pub(crate) struct BitmapBuddy;

impl Twin for BitmapBuddy {
    fn choose(&mut self, free: &NodeSet, k: u32) -> Option<Subcube> {
        let blocks = free.universe() >> k;
        let is_free = |m: &u32| (m << k..(m + 1) << k).all(|node| free.contains(node));
        (0..blocks).find(is_free).map(|m| Subcube { base: m << k, mask: (1 << k) - 1 })
    }
}

/// Buddy system that keeps the free blocks of each size in a vector.
///
/// A block that becomes free is appended to the vector of its size.
pub(crate) struct ListBuddy {
    lists: Vec<Vec<u32>>,
    recent: bool,
}

impl ListBuddy {
    pub(crate) fn new(n: u32, recent: bool) -> ListBuddy {
        let mut lists = vec![Vec::new(); n as usize + 1];
        lists[n as usize].push(0);
        ListBuddy { lists, recent }
    }

    fn blocks(cube: Subcube) -> (usize, Vec<u32>) {
        let mut k = 0;
        while cube.mask >> k & 1 == 1 {
            k += 1;
        }
        (k, cube.nodes().filter(|node| node & ((1 << k) - 1) == 0).collect())
    }

    fn release_block(&mut self, mut k: usize, mut base: u32) {
        while let Some(at) = self.lists[k].iter().position(|&other| other == base ^ (1 << k)) {
            self.lists[k].remove(at);
            base &= !(1 << k);
            k += 1;
        }
        self.lists[k].push(base);
    }
}

impl Twin for ListBuddy {
    fn choose(&mut self, _free: &NodeSet, k: u32) -> Option<Subcube> {
        let list = self.lists[k as usize..].iter().find(|list| !list.is_empty())?;
        let base = if self.recent { list.last() } else { list.iter().min() };
        base.map(|&base| Subcube { base, mask: (1 << k) - 1 })
    }

    fn claimed(&mut self, cubes: &[Subcube], _free: &NodeSet) {
        for &cube in cubes {
            let (k, blocks) = ListBuddy::blocks(cube);
            for block in blocks {
                let (mut j, at) = (k..self.lists.len())
                    .find_map(|j| {
                        let holds = |base: &u32| block >> j == base >> j;
                        Some((j, self.lists[j].iter().position(holds)?))
                    })
                    .unwrap();
                self.lists[j].remove(at);
                while j > k {
                    j -= 1;
                    self.lists[j].push((block >> j << j) ^ (1 << j));
                }
            }
        }
    }

    fn released(&mut self, cubes: &[Subcube], _free: &NodeSet) {
        for &cube in cubes {
            let (k, blocks) = ListBuddy::blocks(cube);
            blocks.into_iter().for_each(|block| self.release_block(k, block));
        }
    }
}

/// Joins two aligned blocks of half the requested size that form a subcube.
///
/// The blocks are tried in ascending order. The first free block with a free partner is joined with
/// the first free one of its partners.
pub(crate) struct ModifiedBuddy;

impl Twin for ModifiedBuddy {
    fn choose(&mut self, free: &NodeSet, k: u32) -> Option<Subcube> {
        let n = dimension_of(free);
        if k == 0 {
            return free.first().map(|base| Subcube { base, mask: 0 });
        }
        let low = (1 << (k - 1)) - 1;
        let is_free =
            |alpha: u32| (alpha << (k - 1)..(alpha + 1) << (k - 1)).all(|node| free.contains(node));
        for alpha in 0..1_u32 << (n - k + 1) {
            for p in 1..=n - k + 1 {
                let partner = alpha ^ 1 << (p - 1);
                if is_free(alpha) && is_free(partner) {
                    let base = alpha.min(partner) << (k - 1);
                    return Some(Subcube { base, mask: low | 1 << (k + p - 2) });
                }
            }
        }
        None
    }
}

/// Tries the Gray codes one after the other, and in each code every position of the subcube.
pub(crate) struct GrayCodes {
    orders: Vec<Vec<u32>>,
}

impl GrayCodes {
    pub(crate) fn single(n: u32) -> GrayCodes {
        GrayCodes { orders: vec![(0..n).collect()] }
    }

    /// Creates the multiple Gray codes of a hypercube, each given by an order of its dimensions.
    ///
    /// Each code comes from a set of half of the dimensions. In a sequence of brackets, one for
    /// each dimension, the dimensions of the set are closing brackets and the others opening ones.
    /// The order begins with the matched closing brackets. The unmatched brackets follow, then the
    /// matched opening ones. This follows the publication literally.
    pub(crate) fn multiple(n: u32) -> GrayCodes {
        let mut sets: Vec<Vec<u32>> = (0..1_u32 << n)
            .filter(|mask| mask.count_ones() == n / 2)
            .map(|mask| (0..n).filter(|d| mask >> d & 1 == 1).collect())
            .collect();
        sets.sort();
        let order = |set: Vec<u32>| {
            let closes = |d: &u32| set.contains(d);
            // An opening bracket at a and a closing one at b match if the part in between is
            // balanced.
            let balanced = |a: u32, b: u32| {
                let mut depth = 0;
                let never_below = (a..b).all(|d| {
                    depth += if closes(&d) { -1 } else { 1 };
                    depth >= 0
                });
                never_below && depth == 0
            };
            let partner = |d: &u32| {
                (0..n).find(|other| match closes(d) {
                    true => other < d && !closes(other) && balanced(other + 1, *d),
                    false => other > d && closes(other) && balanced(d + 1, *other),
                })
            };
            let matched = |d: &u32| partner(d).is_some();
            let members = (0..n).filter(|d| closes(d) && matched(d));
            let unmatched = (0..n).filter(|d| !matched(d));
            let others = (0..n).filter(|d| !closes(d) && matched(d));
            members.chain(unmatched).chain(others).collect()
        };
        GrayCodes { orders: sets.into_iter().map(order).collect() }
    }
}

impl Twin for GrayCodes {
    fn choose(&mut self, free: &NodeSet, k: u32) -> Option<Subcube> {
        let n = dimension_of(free);
        let nodes = 1_u32 << n;
        for order in &self.orders {
            let node = |position: u32| -> u32 {
                let i = position % nodes;
                let gray = i ^ i >> 1;
                order.iter().enumerate().map(|(j, d)| (gray >> j & 1) << d).sum()
            };
            if k == 0 {
                match (0..nodes).map(node).find(|&node| free.contains(node)) {
                    Some(base) => return Some(Subcube { base, mask: 0 }),
                    None => continue,
                }
            }
            let half = 1_u32 << (k - 1);
            let pairs = if k == n { 1 } else { nodes / half };
            for m in 0..pairs {
                let found: Vec<u32> = (m * half..(m + 2) * half).map(node).collect();
                if found.iter().all(|&node| free.contains(node)) {
                    let base = found.iter().fold(nodes - 1, |both, node| both & node);
                    let mask = found.iter().fold(0, |any, node| any | node) & !base;
                    let distinct: BTreeSet<u32> = found.into_iter().collect();
                    assert_eq!(distinct.len(), 1 << k, "a subcube");
                    assert_eq!(mask.count_ones(), k, "a subcube");
                    return Some(Subcube { base, mask });
                }
            }
        }
        None
    }
}

/// Searches subcubes by masks in increasing order (Gosper's hack), and bases in increasing order.
pub(crate) struct TreeCollapsing;

impl Twin for TreeCollapsing {
    fn choose(&mut self, free: &NodeSet, k: u32) -> Option<Subcube> {
        let nodes = free.universe();
        let mut mask = (1_u32 << k) - 1;
        while mask < nodes {
            let bases = (0..nodes).filter(|base| base & mask == 0);
            let mut cubes = bases.map(|base| Subcube { base, mask });
            if let Some(found) = cubes.find(|cube| is_free(*cube, free)) {
                return Some(found);
            }
            if mask == 0 {
                return None;
            }
            let lowest = mask & mask.wrapping_neg();
            let ripple = mask + lowest;
            mask = ripple | ((mask ^ ripple) / lowest) >> 2;
        }
        None
    }
}

/// Free lists of cubes, kept as one vector of disjoint free cubes that every step searches.
pub(crate) struct FreeLists {
    n: u32,
    cubes: Vec<Subcube>,
    strict: bool,
}

impl FreeLists {
    pub(crate) fn new(n: u32, strict: bool) -> FreeLists {
        FreeLists { n, cubes: vec![Subcube { base: 0, mask: (1 << n) - 1 }], strict }
    }
}

/// Disjoint cubes that cover the free nodes. The largest free cube is taken, again and again.
///
/// Ties go to the lowest base, then to the lowest mask.
pub(crate) fn form_anew(n: u32, free: &NodeSet) -> Vec<Subcube> {
    let mut rest = free.clone();
    let mut cubes = Vec::new();
    while let Some(cube) = (0..=n).rev().find_map(|k| free_cubes(&rest, n, k).first().copied()) {
        cube.nodes().for_each(|node| rest.remove(node));
        cubes.push(cube);
    }
    cubes
}

impl Twin for FreeLists {
    fn choose(&mut self, free: &NodeSet, k: u32) -> Option<Subcube> {
        let large = self.cubes.iter().filter(|cube| cube.dimension() >= k);
        match large.min_by_key(|cube| (cube.dimension(), cube.base)) {
            Some(&cube) => {
                let mut cube = cube;
                while cube.dimension() > k {
                    let highest = (0..self.n).rev().find(|d| cube.mask >> d & 1 == 1).unwrap();
                    cube.mask &= !(1 << highest);
                }
                Some(cube)
            }
            None if self.strict => None,
            None => TreeCollapsing.choose(free, k),
        }
    }

    fn claimed(&mut self, cubes: &[Subcube], free: &NodeSet) {
        for &part in cubes {
            let holds = |cube: &Subcube| part.nodes().all(|node| node & !cube.mask == cube.base);
            let Some(at) = self.cubes.iter().position(holds) else {
                self.cubes = form_anew(self.n, free);
                return;
            };
            let mut cube = self.cubes.remove(at);
            while cube != part {
                let fixed = |d: &u32| cube.mask >> d & 1 == 1 && part.mask >> d & 1 == 0;
                let highest = 1 << (0..self.n).rev().find(fixed).unwrap();
                let kept =
                    Subcube { base: cube.base | part.base & highest, mask: cube.mask & !highest };
                self.cubes.push(Subcube { base: kept.base ^ highest, ..kept });
                cube = kept;
            }
        }
    }

    fn released(&mut self, cubes: &[Subcube], free: &NodeSet) {
        if free.count() == free.universe() {
            *self = FreeLists::new(self.n, self.strict);
            return;
        }
        for &cube in cubes {
            let mut cube = cube;
            let partner = |cubes: &[Subcube], cube: Subcube| {
                (0..self.n).find_map(|d| {
                    let other = Subcube { base: cube.base ^ 1 << d, ..cube };
                    cubes.iter().position(|listed| *listed == other)
                })
            };
            while let Some(at) = partner(&self.cubes, cube) {
                let other = self.cubes.remove(at);
                let changes = cube.base ^ other.base;
                cube = Subcube { base: cube.base & !changes, mask: cube.mask | changes };
            }
            self.cubes.push(cube);
        }
    }
}

/// Numbers of cubes by dimension, the largest dimension first.
fn vector(cubes: &[Subcube]) -> Vec<usize> {
    (0..=24).rev().map(|k| cubes.iter().filter(|cube| cube.dimension() == k).count()).collect()
}

/// Greatest dimension vector of all partitions of the free nodes into disjoint cubes.
///
/// A dimension vector has the number of cubes of each dimension, the largest dimension first. All
/// cubes whose lowest node is the lowest free node are tried, each with all partitions of the
/// remaining nodes.
fn greatest(free: &NodeSet, known: &mut BTreeMap<Vec<u64>, Vec<usize>>) -> Vec<usize> {
    let Some(base) = free.first() else { return vector(&[]) };
    if let Some(vector) = known.get(free.words()) {
        return vector.clone();
    }
    let cubes = (0..free.universe())
        .filter(|mask| mask & base == 0)
        .map(|mask| Subcube { base, mask })
        .filter(|cube| is_free(*cube, free));
    let best = cubes
        .map(|cube| {
            let mut rest = free.clone();
            cube.nodes().for_each(|node| rest.remove(node));
            add(&vector(&[cube]), &greatest(&rest, known))
        })
        .max()
        .unwrap();
    known.insert(free.words().to_vec(), best.clone());
    best
}

fn add(a: &[usize], b: &[usize]) -> Vec<usize> {
    a.iter().zip(b).map(|(a, b)| a + b).collect()
}

/// The maximal set of disjoint subcubes, built cube by cube.
///
/// The dimension vector of a set has its numbers of cubes by dimension, the largest dimension
/// first. The maximal set has the greatest vector. Each step adds one of the largest free cubes:
/// the first one with which the maximum can still be reached.
pub(crate) fn partition(free: &NodeSet) -> Vec<Subcube> {
    let n = dimension_of(free);
    let mut known = BTreeMap::new();
    let mut rest = free.clone();
    let mut set = Vec::new();
    while !rest.is_empty() {
        let largest = (0..=n).rev().find(|&k| !free_cubes(&rest, n, k).is_empty()).unwrap();
        let best = greatest(&rest, &mut known);
        let next = free_cubes(&rest, n, largest).into_iter().find(|cube| {
            let mut without = rest.clone();
            cube.nodes().for_each(|node| without.remove(node));
            add(&vector(&[*cube]), &greatest(&without, &mut known)) == best
        });
        next.unwrap().nodes().for_each(|node| rest.remove(node));
        set.extend(next);
    }
    set
}

/// Subcubes of dimension *k* inside a cube, ordered by base and then by mask.
fn subcubes(cube: Subcube, n: u32, k: u32) -> Vec<Subcube> {
    every_cube(n, k).into_iter().filter(|part| cube.holds(*part)).collect()
}

/// Takes the smallest sufficient cube of the maximal set of disjoint subcubes.
pub(crate) struct MaximalSubcubes;

impl Twin for MaximalSubcubes {
    fn choose(&mut self, free: &NodeSet, k: u32) -> Option<Subcube> {
        let large = partition(free).into_iter().filter(|cube| cube.dimension() >= k);
        let cube = large.min_by_key(|cube| (cube.dimension(), *cube))?;
        let mut known = BTreeMap::new();
        let left = |part: &Subcube| {
            let mut rest = free.clone();
            part.nodes().for_each(|node| rest.remove(node));
            greatest(&rest, &mut known)
        };
        // `max_by_key` would take the last of several greatest items, but the first is needed.
        subcubes(cube, dimension_of(free), k).into_iter().rev().max_by_key(left)
    }
}

/// Variant of [`MaximalSubcubes`] that builds the set of subcubes greedily.
pub(crate) struct GreedySubcubes;

impl Twin for GreedySubcubes {
    fn choose(&mut self, free: &NodeSet, k: u32) -> Option<Subcube> {
        let n = dimension_of(free);
        let mut rest = free.clone();
        let mut set: Vec<Subcube> = Vec::new();
        for j in (k..=n).rev() {
            loop {
                let cubes = free_cubes(&rest, n, j);
                let meets =
                    |cube: &Subcube| cubes.iter().filter(|other| other.meets(*cube)).count();
                let Some(next) = cubes.iter().min_by_key(|cube| (meets(cube), **cube)) else {
                    break;
                };
                next.nodes().for_each(|node| rest.remove(node));
                set.push(*next);
            }
        }
        let cube = set.into_iter().min_by_key(|cube| (cube.dimension(), *cube))?;
        let free_neighbours = |part: &Subcube| {
            let outside = |node: u32| {
                let others = (0..n).map(move |d| node ^ 1 << d);
                others
                    .filter(|other| other & !cube.mask != cube.base && free.contains(*other))
                    .count()
            };
            part.nodes().map(outside).sum::<usize>()
        };
        subcubes(cube, n, k).into_iter().min_by_key(free_neighbours)
    }
}

/// Free cubes that are in no larger free cube, found by comparing all pairs.
fn primes(free: &NodeSet) -> Vec<Subcube> {
    let n = dimension_of(free);
    let all: Vec<Subcube> = (0..=n).flat_map(|k| free_cubes(free, n, k)).collect();
    let is_prime = |cube: &&Subcube| {
        !all.iter().any(|other| {
            other != *cube && cube.nodes().all(|node| node & !other.mask == other.base)
        })
    };
    all.iter().filter(is_prime).copied().collect()
}

fn shared(a: Subcube, b: Subcube) -> usize {
    a.nodes().filter(|node| node & !b.mask == b.base).count()
}

/// Subcube that the prime-cube graph chooses in a selection of the prime cubes.
///
/// All edges of the graph are computed anew.
fn by_the_graph(
    free: &NodeSet,
    primes: &[Subcube],
    k: u32,
    among: impl Fn(Subcube) -> bool,
) -> Option<Subcube> {
    let edges = |prime: Subcube| -> usize {
        primes.iter().filter(|other| **other != prime).map(|other| shared(prime, *other)).sum()
    };
    let large = primes.iter().filter(|prime| prime.dimension() >= k && among(**prime));
    let prime = *large.min_by_key(|prime| (prime.dimension(), edges(**prime), **prime))?;
    let touched = |part: &Subcube| -> usize {
        primes.iter().filter(|other| **other != prime).map(|other| shared(*part, *other)).sum()
    };
    subcubes(prime, dimension_of(free), k).into_iter().min_by_key(touched)
}

pub(crate) struct PrimeCubes;

impl Twin for PrimeCubes {
    fn choose(&mut self, free: &NodeSet, k: u32) -> Option<Subcube> {
        by_the_graph(free, &primes(free), k, |_| true)
    }
}

/// Prime-cube graph for counts of nodes, which get a connected set of cubes.
pub(crate) struct SeveralCubes;

impl Twin for SeveralCubes {
    fn serve(&mut self, free: &NodeSet, request: &Request) -> Option<Vec<Subcube>> {
        let Request::Nodes(count) = *request else { return None };
        let n = dimension_of(free);
        // Number of free nodes reachable from each, node by node.
        let reached = |from: u32| {
            let mut seen = BTreeSet::from([from]);
            let mut queue = vec![from];
            while let Some(node) = queue.pop() {
                let next = (0..n).map(|d| node ^ 1 << d).filter(|next| free.contains(*next));
                queue.extend(next.filter(|next| seen.insert(*next)));
            }
            seen.len() as u32
        };
        let primes = primes(free);
        let among = |prime: Subcube| reached(prime.base) >= count;
        let largest = primes.iter().filter(|p| among(**p)).map(|p| p.dimension()).max()?;
        let first = by_the_graph(free, &primes, largest.min(count.ilog2()), among)?;
        let mut cubes = vec![first];
        let mut rest = free.clone();
        first.nodes().for_each(|node| rest.remove(node));
        loop {
            let taken: Vec<u32> = cubes.iter().flat_map(|cube| cube.nodes()).collect();
            let wanted = count - taken.len() as u32;
            if wanted == 0 {
                return Some(cubes);
            }
            let is_near = |cube: &Subcube| {
                let links = |node: u32| taken.iter().any(|other| (node ^ other).count_ones() == 1);
                cube.nodes().any(links)
            };
            let next = (0..=n)
                .rev()
                .filter(|k| 1 << k <= wanted)
                .find_map(|k| free_cubes(&rest, n, k).into_iter().find(is_near))
                .unwrap();
            next.nodes().for_each(|node| rest.remove(node));
            cubes.push(next);
        }
    }
}

/// Reference implementation of noncubic allocation, which keeps one vector of disjoint free cubes.
pub(crate) struct Noncubic {
    n: u32,
    cubes: Vec<Subcube>,
}

impl Noncubic {
    pub(crate) fn new(n: u32) -> Noncubic {
        Noncubic { n, cubes: vec![Subcube { base: 0, mask: (1 << n) - 1 }] }
    }

    /// Chooses the dimension along which to halve a cube.
    ///
    /// `allowed` has a bit for each dimension that may be chosen. A mask is the set of dimensions
    /// of a cube. For each choice, the distinct masks of `cubes` and of the resulting half are
    /// counted. The choice with the fewest is taken; ties go to the half with the lowest mask.
    fn split(cubes: &[Subcube], cube: Subcube, allowed: u32) -> u32 {
        let masks_with = |d: &u32| {
            let half = cube.mask & !(1 << d);
            let masks: BTreeSet<u32> = cubes.iter().map(|c| c.mask).chain([half]).collect();
            (masks.len(), half)
        };
        (0..24).filter(|d| allowed >> d & 1 == 1).min_by_key(masks_with).unwrap()
    }
}

impl Twin for Noncubic {
    fn serve(&mut self, _free: &NodeSet, request: &Request) -> Option<Vec<Subcube>> {
        let Request::Nodes(count) = *request else { return None };
        let mut cubes = self.cubes.clone();
        let mut taken: Vec<Subcube> = Vec::new();
        for k in (0..=self.n).rev().filter(|k| count >> k & 1 == 1) {
            let near = |cube: Subcube| {
                taken.iter().any(|other| {
                    let apart = |a: u32| other.nodes().any(|b| (a ^ b).count_ones() == 1);
                    cube.nodes().any(apart)
                })
            };
            let large = cubes.iter().filter(|cube| cube.dimension() >= k);
            let mut cube = *large.min_by_key(|c| (c.dimension(), !near(**c), **c))?;
            cubes.retain(|other| *other != cube);
            while cube.dimension() > k {
                let d = Noncubic::split(&cubes, cube, cube.mask);
                let lower = Subcube { mask: cube.mask & !(1 << d), ..cube };
                let upper = Subcube { base: lower.base | 1 << d, ..lower };
                let (kept, other) =
                    if near(upper) && !near(lower) { (upper, lower) } else { (lower, upper) };
                cubes.push(other);
                cube = kept;
            }
            taken.push(cube);
        }
        Some(taken)
    }

    fn claimed(&mut self, parts: &[Subcube], free: &NodeSet) {
        for &part in parts {
            let holds = |cube: &Subcube| part.nodes().all(|node| node & !cube.mask == cube.base);
            let Some(at) = self.cubes.iter().position(holds) else {
                self.cubes = form_anew(self.n, free);
                return;
            };
            let mut cube = self.cubes.remove(at);
            while cube != part {
                let d = Noncubic::split(&self.cubes, cube, cube.mask & !part.mask);
                let kept =
                    Subcube { base: cube.base | part.base & 1 << d, mask: cube.mask & !(1 << d) };
                self.cubes.push(Subcube { base: kept.base ^ 1 << d, ..kept });
                cube = kept;
            }
        }
    }

    fn released(&mut self, cubes: &[Subcube], free: &NodeSet) {
        let mut lists =
            FreeLists { n: self.n, cubes: std::mem::take(&mut self.cubes), strict: true };
        lists.released(cubes, free);
        self.cubes = lists.cubes;
    }
}
