//! Tests of the hypercube allocators against slow reference implementations. These follow the
//! published definitions literally.

use std::collections::BTreeSet;

use crate::common::{build, set};
use crate::cube_twins::{
    BitmapBuddy, FreeLists, GrayCodes, GreedySubcubes, ListBuddy, MaximalSubcubes, ModifiedBuddy,
    Noncubic, PrimeCubes, SeveralCubes, TreeCollapsing, Twin, every_cube, free_cubes, partition,
};
use meshwork::alloc::{ALLOCATORS, Allocator, AllocatorEntry, Ask};
use meshwork::form::{Asks, Finds};
use meshwork::geometry::NodeSet;
use meshwork::geometry::cube::{CubeSearch, ExactPacking, Subcube};
use meshwork::job::{Request, Time};
use meshwork::machine::{Placement, Site};
use meshwork::pool::Pool;
use meshwork::rng::Stream;
use meshwork::topology::{Topology, Wiring};

/// Hypercube with an allocator such as "buddy form='bitmap'", and the placements held on it.
struct Machine {
    dimension: u32,
    asks: Asks,
    site: Site,
    allocator: Box<dyn Allocator>,
    held: Vec<Placement>,
}

impl Machine {
    fn new(named: &str, dimension: u32) -> Machine {
        let topology = Topology::hypercube(dimension).unwrap();
        let (entry, allocator) = build(named, &topology);
        let asks = allocator.asks().unwrap_or(entry.asks);
        Machine { dimension, asks, site: Site::new(topology, 1.0), allocator, held: Vec::new() }
    }

    fn with_busy(named: &str, dimension: u32, busy: &[u32]) -> Machine {
        let mut machine = Machine::new(named, dimension);
        for &base in busy {
            machine.claim_cubes(&[Subcube { base, mask: 0 }]);
        }
        machine
    }

    fn serve(&mut self, request: &Request) -> Option<Vec<Subcube>> {
        let mut rng = Stream::new(1, 0, "draws");
        let placed = self.allocator.choose(Ask::new(request, &self.site, Time::ZERO, &mut rng))?;
        assert_eq!(u64::from(placed.len()), request.nodes());
        Some(placed.blocks.iter().map(Subcube::of).collect())
    }

    fn choose(&mut self, k: u32) -> Option<Subcube> {
        let cubes = self.serve(&Request::Subcube(k))?;
        assert_eq!(cubes.len(), 1, "{cubes:?}");
        Some(cubes[0])
    }

    fn requests(&self) -> Vec<Request> {
        match self.asks {
            Asks::Nodes => (1..=1 << self.dimension).map(Request::Nodes).collect(),
            _ => (0..=self.dimension).map(Request::Subcube).collect(),
        }
    }

    /// Nodes of the proposed subcube of dimension `k`; empty if there is none.
    fn nodes(&mut self, k: u32) -> Vec<u32> {
        self.choose(k).into_iter().flat_map(Subcube::nodes).collect()
    }

    fn claim(&mut self, placement: Placement) {
        self.site.claim(&placement).unwrap();
        self.allocator.claimed(&placement, &self.site, Time::ZERO.into());
        self.held.push(placement);
    }

    fn claim_cubes(&mut self, cubes: &[Subcube]) {
        let blocks = cubes.iter().map(|cube| cube.block(self.dimension)).collect();
        self.claim(Placement { blocks, parts: None });
    }

    fn take(&mut self, k: u32) -> Vec<u32> {
        let cube = self.choose(k).unwrap();
        self.claim_cubes(&[cube]);
        cube.nodes().collect()
    }

    fn release(&mut self, placement: &Placement) {
        self.site.release(placement);
        self.allocator.released(placement, &self.site);
    }

    fn release_held(&mut self, index: usize) {
        let placement = self.held.remove(index);
        self.release(&placement);
    }
}

/// Parses a subcube in the notation of papers, such as `0*1`.
fn cube(text: &str) -> Subcube {
    let bits = |mark: char| text.chars().fold(0, |bits, c| bits << 1 | u32::from(c == mark));
    Subcube { base: bits('1'), mask: bits('*') }
}

// The worked examples.

#[test]
fn buddy_as_a_bitmap() {
    let mut machine = Machine::with_busy("buddy form='bitmap'", 3, &[0, 5]);
    assert_eq!(machine.nodes(1), [2, 3]);
    assert_eq!(machine.choose(2), None, "although *1* is free");
    assert!(cube("*1*").is_within(machine.site.free()));
}

#[test]
fn buddy_as_lists() {
    for order in ["address", "recent"] {
        let mut machine = Machine::new(&format!("buddy order='{order}'"), 3);
        assert_eq!(machine.take(1), [0, 1]);
        assert_eq!(machine.take(1), [2, 3]);
        assert_eq!(machine.take(0), [4]);
        // The remaining free blocks are listed as {5} and {6, 7}, so there is no block of four. The
        // smallest sufficient block is taken first.
        assert_eq!(machine.choose(2), None);
        assert_eq!(machine.nodes(1), [6, 7]);
        assert_eq!(machine.nodes(0), [5]);
        // When {4} is released, it is merged with {5} and then with {6, 7}.
        machine.release_held(2);
        assert_eq!(machine.nodes(2), [4, 5, 6, 7]);
    }
}

#[test]
fn the_most_recently_freed_block_comes_first_if_that_is_the_order() {
    let hole = |order: &str| {
        let mut machine = Machine::new(&format!("buddy order='{order}'"), 3);
        (0..8).for_each(|node| assert_eq!(machine.take(0), [node]));
        machine.release_held(1);
        machine.release_held(5); // node 6
        machine.release_held(2); // node 3
        machine.nodes(0)
    };
    assert_eq!(hole("address"), [1]);
    assert_eq!(hole("recent"), [3]);
}

#[test]
fn modified_buddy() {
    let mut machine = Machine::with_busy("modified_buddy", 3, &[0, 5]);
    assert_eq!(machine.nodes(2), [2, 3, 6, 7]);
    assert_eq!(machine.nodes(0), [1]);
}

#[test]
fn gray_code() {
    let mut machine = Machine::with_busy("gray_code", 3, &[0, 5]);
    assert_eq!(machine.choose(2), Some(cube("*1*")));
    // The last half-block and the first one are neighbours.
    let mut machine = Machine::with_busy("gray_code", 3, &[2, 7]);
    assert_eq!(machine.choose(2), Some(cube("*0*")));
}

#[test]
fn free_list() {
    for strict in [false, true] {
        let mut machine = Machine::new(&format!("free_list strict_lists={strict}"), 3);
        for expected in [[0, 1], [2, 3], [4, 5], [6, 7]] {
            assert_eq!(machine.take(1), expected);
        }
        machine.release_held(0);
        machine.release_held(1); // {4, 5}
        assert_eq!(machine.choose(2), Some(cube("*0*")));
    }
    let mut buddy = Machine::with_busy("buddy", 3, &[2, 3, 6, 7]);
    assert_eq!(buddy.choose(2), None);
}

#[test]
fn a_free_subcube_across_several_lists_is_found_unless_lists_are_strict() {
    let across = |strict: bool| {
        let mut machine = Machine::new(&format!("free_list strict_lists={strict}"), 3);
        for _ in 0..8 {
            machine.take(0);
        }
        // 0 and 2 are merged to 0*0. Then 1 has no neighbour that is still single. 4 and 5 are
        // merged to 10*.
        for node in [0, 2, 1, 4, 5] {
            let at = machine.held.iter().position(|p| p.blocks[0].base == node).unwrap();
            machine.release_held(at);
        }
        assert!(cube("*0*").is_within(machine.site.free()));
        machine
    };
    assert_eq!(across(true).choose(2), None);
    let mut machine = across(false);
    assert_eq!(machine.choose(2), Some(cube("*0*")));
    machine.take(2);
    assert_eq!(machine.nodes(0), [2], "what is left is listed anew");
}

#[test]
fn tree_collapsing() {
    let busy = [0, 2, 4, 6];
    let odd = [1, 3, 5, 7];
    assert_eq!(Machine::with_busy("tree_collapsing", 3, &busy).nodes(2), odd);
    for misses in ["buddy", "buddy form='bitmap'", "gray_code", "modified_buddy"] {
        assert_eq!(Machine::with_busy(misses, 3, &busy).choose(2), None, "{misses}");
    }
    for finds in ["multiple_gray_code", "free_list", "maximal_subcubes", "prime_cube_graph"] {
        assert_eq!(Machine::with_busy(finds, 3, &busy).nodes(2), odd, "{finds}");
    }
}

#[test]
fn maximal_subcubes() {
    for exact in [5, 0] {
        let named = format!("maximal_subcubes exact_up_to={exact}");
        let mut machine = Machine::with_busy(&named, 3, &[4, 5, 7]);
        // The maximal set is 0** and 110. A pair is half of the first cube, and a node is the
        // second cube.
        assert_eq!(machine.choose(2), Some(cube("0**")));
        assert_eq!(machine.choose(0), Some(cube("110")));
        assert_eq!(machine.take(1), [0, 1]);
        // The remaining nodes, {2, 3, 6}, give one pair and one node.
        assert_eq!(machine.choose(2), None);
        machine.take(1);
        assert_eq!(machine.site.free_nodes(), 1);
    }
}

#[test]
fn prime_cube_graph() {
    let mut machine = Machine::with_busy("prime_cube_graph", 3, &[0, 4]);
    let primes = CubeSearch::new(3).primes(machine.site.free());
    assert_eq!(primes, [cube("**1"), cube("*1*")]);
    assert_eq!(machine.take(1), [1, 5]);
    assert_eq!(machine.nodes(2), [2, 3, 6, 7], "a cube of four is left");
    // Tree collapsing takes the first free pair in order of masks, which breaks both cubes of four.
    let mut first = Machine::with_busy("tree_collapsing", 3, &[0, 4]);
    assert_eq!(first.take(1), [2, 3]);
    assert_eq!(first.choose(2), None);
}

#[test]
fn noncubic() {
    let mut machine = Machine::new("noncubic", 3);
    let cubes = machine.serve(&Request::Nodes(5)).unwrap();
    assert_eq!(cubes, [cube("0**"), cube("100")]);
    machine.claim_cubes(&cubes);
    assert_eq!(machine.serve(&Request::Nodes(3)), Some(vec![cube("11*"), cube("101")]));
    assert_eq!(machine.serve(&Request::Nodes(4)), None);
}

#[test]
fn prime_cubes_serve_counts_with_a_connected_set() {
    let several = "prime_cube_graph cubes='several'";
    let mut machine = Machine::new(several, 3);
    assert_eq!(machine.serve(&Request::Nodes(5)), Some(vec![cube("0**"), cube("100")]));
    // Of the free nodes 0, 3, 5, 6 and 7, four are connected with each other; node 0 is isolated.
    let mut machine = Machine::with_busy(several, 3, &[1, 2, 4]);
    let cubes = machine.serve(&Request::Nodes(4)).unwrap();
    assert_eq!(cubes, [cube("*11"), cube("101"), cube("110")]);
    assert_eq!(machine.serve(&Request::Nodes(5)), None);
    let gives_blocks = |cubes: &str| {
        let text = format!(
            "machine = 'hypercube:3'\nallocator = {{ name = 'prime_cube_graph', cubes = '{cubes}' }}"
        );
        Pool::read(&text.parse().unwrap()).unwrap().ahead().gives_blocks()
    };
    assert!(gives_blocks("one") && !gives_blocks("several"));
}

// Subcubes that each allocator recognises.

fn hypercube_entries() -> impl Iterator<Item = &'static AllocatorEntry> {
    ALLOCATORS
        .iter()
        .copied()
        .filter(|entry| entry.serves.contains(&Wiring::Hypercube) && entry.asks == Asks::Subcube)
}

fn binomial(n: u32, k: u32) -> u32 {
    (0..k).fold(1, |product, i| product * (n - i) / (i + 1))
}

/// Number of subcubes of dimension `k` in an `n`-cube that the allocator finds.
///
/// Each subcube is tested on a machine on which all other nodes are held.
fn recognised(named: &str, n: u32, k: u32) -> u32 {
    let found = every_cube(n, k).into_iter().filter(|&only| {
        let mut machine = Machine::new(named, n);
        let busy: Vec<Subcube> = (0..1 << n)
            .map(|base| Subcube { base, mask: 0 })
            .filter(|node| !only.holds(*node))
            .collect();
        if !busy.is_empty() {
            machine.claim_cubes(&busy);
        }
        let found = machine.choose(k);
        assert!(found.is_none_or(|found| found == only), "{named}: {found:?}, not {only:?}");
        found.is_some()
    });
    found.count() as u32
}

#[test]
fn each_recognises_as_many_subcubes_as_published() {
    for n in 1..=6 {
        for k in 0..=n {
            let all = binomial(n, k) << (n - k);
            let aligned = 1 << (n - k);
            for buddy in ["buddy", "buddy order='recent'", "buddy form='bitmap'"] {
                assert_eq!(recognised(buddy, n, k), aligned, "{buddy} {n} {k}");
            }
            let gray = if 0 < k && k < n { 2 * aligned } else { aligned };
            assert_eq!(recognised("gray_code", n, k), gray, "gray_code {n} {k}");
            let modified = if k == 0 { aligned } else { (n - k + 1) * aligned };
            assert_eq!(recognised("modified_buddy", n, k), modified, "modified_buddy {n} {k}");
            for entry in hypercube_entries().filter(|entry| entry.finds == Finds::EveryBlock) {
                assert_eq!(recognised(entry.about.name, n, k), all, "{} {n} {k}", entry.about.name);
            }
        }
    }
    // The table for dimension 4, as printed.
    let table = ["buddy", "gray_code", "modified_buddy", "tree_collapsing"]
        .map(|named| [1, 2, 3].map(|k| recognised(named, 4, k)));
    assert_eq!(table, [[8, 4, 2], [16, 8, 4], [32, 12, 4], [32, 24, 8]]);
}

#[test]
fn all_subcubes_are_those_of_the_definition() {
    for n in 1..=7 {
        let mut rng = Stream::new(3, u64::from(n), "occupancy");
        let mut search = CubeSearch::new(n);
        for _ in 0..40 {
            let free = random_set(n, &mut rng);
            for k in 0..=n {
                let expected = free_cubes(&free, n, k);
                assert_eq!(search.all(&free, k), expected);
                let first = expected.iter().min_by_key(|cube| (cube.mask, cube.base)).copied();
                assert_eq!(search.first(&free, k), first);
            }
            let largest = (0..=n).rev().find(|&k| !free_cubes(&free, n, k).is_empty());
            assert_eq!(search.largest(&free), largest);
            let all: Vec<Subcube> = (0..=n).flat_map(|k| free_cubes(&free, n, k)).collect();
            let is_prime =
                |cube: &&Subcube| !all.iter().any(|other| other != *cube && other.holds(**cube));
            let mut primes: Vec<Subcube> = all.iter().filter(is_prime).copied().collect();
            primes.sort_unstable();
            assert_eq!(search.primes(&free), primes);
        }
    }
}

/// Compares the search for free cubes with its published form: one set of bases for each mask.
///
/// A mask is a set of dimensions. Its set of free bases is computed from the set for the mask
/// without its highest dimension.
#[test]
fn the_closure_over_all_masks_agrees() {
    for n in [5, 7, 8] {
        let mut rng = Stream::new(4, u64::from(n), "occupancy");
        let mut search = CubeSearch::new(n);
        for _ in 0..10 {
            let free = random_set(n, &mut rng);
            let mut sets: Vec<BTreeSet<u32>> = vec![free.iter().collect()];
            for mask in 1..1_u32 << n {
                let d = mask.ilog2();
                let smaller = &sets[(mask ^ 1 << d) as usize];
                let has_partner = |base: &&u32| smaller.contains(&(**base ^ 1 << d));
                sets.push(smaller.iter().filter(has_partner).copied().collect());
            }
            for k in 0..=n {
                let masks = (0..1_u32 << n).filter(|mask| mask.count_ones() == k);
                let mut cubes: Vec<Subcube> = masks
                    .flat_map(|mask| {
                        let bases = sets[mask as usize].iter().filter(move |&b| b & mask == 0);
                        bases.map(move |&base| Subcube { base, mask })
                    })
                    .collect();
                cubes.sort_unstable();
                assert_eq!(search.all(&free, k), cubes);
            }
        }
    }
}

/// Random set of nodes. Its size varies widely between calls, so that large subcubes occur in some.
fn random_set(n: u32, rng: &mut Stream) -> NodeSet {
    let share = 1 + rng.below(20);
    let mut set = NodeSet::full(1 << n);
    (0..1 << n).filter(|_| rng.below(20) >= share).for_each(|node| set.remove(node));
    set
}

// Histories.

/// Compares an allocator with its reference implementation in each state of a random history.
///
/// Subcubes and arbitrary free nodes are claimed, and released as a whole or in part.
fn in_a_history(named: &str, n: u32, steps: u32, twin: &mut dyn Twin) {
    let mut rng = Stream::new(7, u64::from(n), named);
    let mut machine = Machine::new(named, n);
    let requests = machine.requests();
    for step in 0..steps {
        for request in &requests {
            let found = machine.serve(request);
            let expected = twin.serve(machine.site.free(), request);
            assert_eq!(found, expected, "{named}, dimension {n}, step {step}, request {request}");
        }
        match rng.below(10) {
            0..5 => {
                let request = &requests[rng.below(requests.len() as u64 - 1) as usize];
                if let Some(cubes) = machine.serve(request) {
                    machine.claim_cubes(&cubes);
                    twin.claimed(&cubes, machine.site.free());
                }
            }
            5 => {
                let cubes = arbitrary_free_cubes(machine.site.free(), n, &mut rng);
                if !cubes.is_empty() {
                    machine.claim_cubes(&cubes);
                    twin.claimed(&cubes, machine.site.free());
                }
            }
            _ if machine.held.is_empty() => {}
            _ => {
                let index = rng.below(machine.held.len() as u64) as usize;
                let placement = machine.held.swap_remove(index);
                let cubes: Vec<Subcube> = placement.blocks.iter().map(Subcube::of).collect();
                // Release all of it, or one half of each block.
                let (given, kept) = if rng.below(4) > 0 {
                    (cubes, Vec::new())
                } else {
                    let halves = cubes.iter().flat_map(|&cube| match cube.dimensions().next() {
                        Some(d) => cube.halves(d).to_vec(),
                        None => vec![cube],
                    });
                    let halves: Vec<Subcube> = halves.collect();
                    let (given, kept) = halves.split_at(halves.len().div_ceil(2));
                    (given.to_vec(), kept.to_vec())
                };
                let as_placement = |cubes: &[Subcube]| Placement {
                    blocks: cubes.iter().map(|cube| cube.block(n)).collect(),
                    parts: None,
                };
                machine.release(&as_placement(&given));
                twin.released(&given, machine.site.free());
                if !kept.is_empty() {
                    machine.held.push(as_placement(&kept));
                }
            }
        }
    }
}

/// Disjoint subcubes at any position and along any dimensions.
fn arbitrary_free_cubes(free: &NodeSet, n: u32, rng: &mut Stream) -> Vec<Subcube> {
    let mut rest = free.clone();
    let mut cubes = Vec::new();
    for _ in 0..1 + rng.below(4) {
        let mask = rng.below(1 << n) as u32 & rng.below(1 << n) as u32;
        let cube = Subcube { base: rng.below(1 << n) as u32 & !mask, mask };
        if cube.is_within(&rest) {
            cube.take_from(&mut rest);
            cubes.push(cube);
        }
    }
    cubes
}

#[test]
fn buddy_is_its_definition() {
    for n in 1..=7 {
        in_a_history("buddy form='bitmap'", n, 400, &mut BitmapBuddy);
        in_a_history("buddy", n, 400, &mut ListBuddy::new(n, false));
        in_a_history("buddy order='recent'", n, 400, &mut ListBuddy::new(n, true));
    }
}

#[test]
fn modified_buddy_is_its_definition() {
    (1..=7).for_each(|n| in_a_history("modified_buddy", n, 300, &mut ModifiedBuddy));
}

#[test]
fn gray_codes_are_their_definition() {
    for n in 1..=7 {
        in_a_history("gray_code", n, 300, &mut GrayCodes::single(n));
        in_a_history("multiple_gray_code", n, 200, &mut GrayCodes::multiple(n));
    }
}

#[test]
fn tree_collapsing_is_its_definition() {
    (1..=7).for_each(|n| in_a_history("tree_collapsing", n, 200, &mut TreeCollapsing));
}

#[test]
fn free_list_is_its_definition() {
    for n in 1..=7 {
        in_a_history("free_list", n, 200, &mut FreeLists::new(n, false));
        in_a_history("free_list strict_lists=true", n, 200, &mut FreeLists::new(n, true));
    }
}

#[test]
fn maximal_subcubes_are_their_definition() {
    for n in 1..=4 {
        in_a_history("maximal_subcubes", n, 150, &mut MaximalSubcubes);
    }
    for n in 1..=7 {
        in_a_history("maximal_subcubes exact_up_to=0", n, 150, &mut GreedySubcubes);
    }
}

#[test]
fn the_maximal_set_is_the_greatest_of_all() {
    let compare = |free: &NodeSet, n: u32| {
        let set = ExactPacking::new(n).set(free);
        assert_eq!(set, partition(free), "{free:?}");
    };
    for bits in 0..256_u32 {
        compare(&set(8, (0..8).filter(|node| bits >> node & 1 == 1)), 3);
    }
    let mut rng = Stream::new(6, 0, "occupancy");
    for _ in 0..150 {
        compare(&random_set(4, &mut rng), 4);
        compare(&set(32, (0..18).map(|_| rng.below(32) as u32)), 5);
    }
}

#[test]
fn prime_cube_graph_is_its_definition() {
    for n in 1..=6 {
        in_a_history("prime_cube_graph", n, 150, &mut PrimeCubes);
    }
    for n in 1..=5 {
        in_a_history("prime_cube_graph cubes='several'", n, 100, &mut SeveralCubes);
    }
}

/// Tests that after a claim in a prime cube, the largest subcubes of its other nodes replace it.
///
/// A prime cube is a free cube that lies in no larger free cube. So a subcube that lies in another
/// prime cube is dropped.
#[test]
fn a_claim_changes_the_primes_as_published() {
    for n in 2..=7 {
        let mut rng = Stream::new(8, u64::from(n), "occupancy");
        let mut search = CubeSearch::new(n);
        for _ in 0..40 {
            let mut free = random_set(n, &mut rng);
            let primes = search.primes(&free);
            let Some(&claimed) = primes.get(rng.below(primes.len().max(1) as u64) as usize) else {
                continue;
            };
            let k = rng.below(u64::from(claimed.dimension()) + 1) as u32;
            let claimed = claimed.first_of_dimension(k);
            let mut parts: Vec<Subcube> = Vec::new();
            for prime in primes {
                if !prime.meets(claimed) {
                    parts.push(prime);
                    continue;
                }
                for d in prime.dimensions().filter(|d| claimed.mask >> d & 1 == 0) {
                    parts.extend(prime.halves(d).iter().filter(|half| !half.meets(claimed)));
                }
            }
            parts.sort_unstable();
            parts.dedup();
            let largest: Vec<Subcube> = parts
                .iter()
                .filter(|part| !parts.iter().any(|other| other != *part && other.holds(**part)))
                .copied()
                .collect();
            claimed.take_from(&mut free);
            assert_eq!(search.primes(&free), largest);
        }
    }
}

#[test]
fn noncubic_is_its_definition() {
    for n in 1..=6 {
        in_a_history("noncubic", n, 250, &mut Noncubic::new(n));
    }
}

/// Compares the forms `lists` and `bitmap` of the buddy system.
///
/// If the smallest sufficient free block is also the lowest, both choose the same block.
#[test]
fn the_two_forms_of_the_buddy_system_agree() {
    let (mut same, mut apart) = (0, 0);
    for n in 2..=7 {
        let mut rng = Stream::new(9, u64::from(n), "forms");
        let mut lists = Machine::new("buddy", n);
        let mut bitmap = Machine::new("buddy form='bitmap'", n);
        for _ in 0..400 {
            for k in 0..=n {
                bitmap.site = lists.site.clone();
                let (a, b) = (lists.choose(k), bitmap.choose(k));
                assert_eq!(a.is_some(), b.is_some());
                let Some((a, b)) = a.zip(b) else { continue };
                assert!(b.base <= a.base, "the bitmap takes the lowest");
                // Each choice lies in a block of the free lists, which is the largest aligned free
                // block around it. The choices are equal exactly if these blocks are equal.
                let around = |cube: Subcube| {
                    let block = |j: u32| Subcube { base: cube.base >> j << j, mask: (1 << j) - 1 };
                    (k..=n).rev().find(|&j| block(j).is_within(lists.site.free()))
                };
                assert_eq!(a == b, around(a) == around(b));
                if a == b { same += 1 } else { apart += 1 }
            }
            let k = rng.below(u64::from(n)) as u32;
            match lists.choose(k) {
                Some(cube) if rng.below(5) < 3 => lists.claim_cubes(&[cube]),
                _ if !lists.held.is_empty() => {
                    let index = rng.below(lists.held.len() as u64) as usize;
                    lists.release_held(index);
                }
                _ => {}
            }
        }
    }
    assert!(same > 2000 && apart > 100, "{same} {apart}");
}
