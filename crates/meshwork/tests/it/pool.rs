//! Tests of a pool of nodes after long random histories, against a naive model of the owners of
//! nodes.

use crate::common;
use std::collections::BTreeMap;

use crate::common::machines;
use meshwork::alloc::ALLOCATORS;
use meshwork::job::{Request, Time};
use meshwork::machine::{Block, Placement};
use meshwork::pool::Pool;
use meshwork::topology::{Grid, Node, Topology};
use proptest::prelude::*;

#[derive(Clone, Debug)]
enum Op {
    Allocate(Request),
    Release(prop::sample::Index),
    /// Releases a placement a second time, or a part of a held placement. Both must fail.
    ReleaseWrongly(prop::sample::Index),
    Advance(u32),
}

fn ops() -> impl Strategy<Value = Op> {
    prop_oneof![
        4 => prop::collection::vec(0_u32..5, 1..4).prop_map(|sides| Op::Allocate(Request::block(&sides))),
        2 => (0_u32..25).prop_map(|count| Op::Allocate(Request::Nodes(count))),
        1 => (0_u32..6).prop_map(|dimension| Op::Allocate(Request::Subcube(dimension))),
        4 => any::<prop::sample::Index>().prop_map(Op::Release),
        1 => any::<prop::sample::Index>().prop_map(Op::ReleaseWrongly),
        1 => (0_u32..100).prop_map(Op::Advance),
    ]
}

/// Pool of every allocator on every machine that it serves, each with its text in TOML.
fn pools() -> Vec<(String, Pool)> {
    let mut all = Vec::new();
    for (machine, topology) in machines() {
        for allocator in ALLOCATORS.iter().filter(|a| a.works_on(&topology)) {
            let text = format!("machine = {{ {machine} }}\nallocator = '{}'", allocator.about.name);
            all.push((text.clone(), Pool::read(&text.parse().unwrap()).unwrap()));
        }
    }
    all
}

#[derive(Default)]
struct Owners {
    of: BTreeMap<Node, usize>,
    held: Vec<(usize, Placement)>,
    gone: Vec<Placement>,
    next: usize,
}

impl Owners {
    fn take(&mut self, placement: Placement, grid: &Grid) {
        for node in placement.nodes(grid) {
            assert_eq!(self.of.insert(node, self.next), None, "node {node} was given twice");
        }
        self.held.push((self.next, placement));
        self.next += 1;
    }

    fn agree_with(&self, pool: &Pool) {
        let site = pool.site();
        for node in 0..site.nodes() {
            assert_eq!(site.free().contains(node), !self.of.contains_key(&node), "node {node}");
        }
        assert_eq!(site.free_nodes() as usize + self.of.len(), site.nodes() as usize);
        let mut held: Vec<&Placement> = self.held.iter().map(|(_, placement)| placement).collect();
        held.sort_by_key(|placement| placement.blocks[0].base);
        assert!(pool.held().eq(held));
    }
}

fn step(pool: &mut Pool, owners: &mut Owners, op: &Op) {
    let grid = pool.site().grid().clone();
    match op {
        Op::Allocate(request) => {
            let free = u64::from(pool.site().free_nodes());
            let could = pool.could_hold(request);
            match pool.allocate(request) {
                Some(placement) => {
                    assert!(could, "{request} was held, but never could be");
                    assert!((request.nodes()..=free).contains(&u64::from(placement.len())));
                    owners.take(placement, &grid);
                }
                None => assert!(!(could && owners.held.is_empty()), "{request} does not fit"),
            }
        }
        Op::Release(which) if !owners.held.is_empty() => {
            let (owner, placement) = owners.held.swap_remove(which.index(owners.held.len()));
            pool.release(&placement).unwrap();
            owners.of.retain(|_, other| *other != owner);
            owners.gone.push(placement);
        }
        Op::ReleaseWrongly(which) => {
            let is_held = |placement: &Placement| owners.held.iter().any(|(_, h)| h == placement);
            let mut wrong: Vec<Placement> = owners.gone.clone();
            for (_, placement) in &owners.held {
                let mut part = placement.clone();
                part.blocks[0].sides[0] -= 1;
                wrong.push(part);
            }
            wrong.retain(|placement| !is_held(placement));
            if !wrong.is_empty() {
                assert!(pool.release(&wrong[which.index(wrong.len())]).is_err());
            }
        }
        Op::Release(_) => {}
        Op::Advance(tenths) => {
            let now = pool.now();
            pool.advance(now + f64::from(*tenths) * 0.1).unwrap();
            if *tenths > 0 {
                assert!(pool.advance(now).is_err());
                assert!(pool.now() > now, "the clock stays");
            }
        }
    }
    owners.agree_with(pool);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    #[test]
    fn a_pool_never_gives_a_node_twice(ops in prop::collection::vec(ops(), 1..120)) {
        for (_, mut pool) in pools() {
            let mut owners = Owners::default();
            for op in &ops {
                step(&mut pool, &mut owners, op);
            }
            for (_, placement) in std::mem::take(&mut owners.held) {
                pool.release(&placement).unwrap();
            }
            prop_assert_eq!(pool.site().free_nodes(), pool.site().nodes());
        }
    }
}

/// Allocators with parameters that change what they remember between requests.
const OTHERS: [&str; 6] = [
    "{ name = 'buddy', order = 'recent' }",
    "{ name = 'free_list', strict_lists = true }",
    "{ name = 'adaptive_noncontiguous', search = 'frame_sliding' }",
    "{ name = 'weighted_boundary_search', corners = true, alpha = 3.0 }",
    "{ name = 'buddy_2d', form = 'lists' }",
    "{ name = 'paging', page = 1 }",
];

/// Two equal pools for each allocator on each machine on which it can be used.
fn pairs() -> Vec<(String, Pool, Pool)> {
    let mut texts: Vec<String> = pools().into_iter().map(|(text, _)| text).collect();
    let pool = |text: &str| Pool::read(&text.parse().unwrap()).ok();
    for allocator in OTHERS {
        let on = |(machine, _): (String, Topology)| {
            format!("machine = {{ {machine} }}\nallocator = {allocator}")
        };
        let served = machines().into_iter().map(on).filter(|text| pool(text).is_some());
        let before = texts.len();
        texts.extend(served);
        assert!(texts.len() > before, "{allocator} serves no machine");
    }
    let pair = |text: String| Some((text.clone(), pool(&text)?, pool(&text)?));
    texts.into_iter().filter_map(pair).collect()
}

/// Applies an operation to the pool, and returns the result as text.
///
/// The number in `Release` selects one of the held placements.
fn answer(pool: &mut Pool, op: &Op) -> String {
    let held: Vec<Placement> = pool.held().cloned().collect();
    match op {
        Op::Allocate(request) => {
            let would = pool.can(request);
            let placement = pool.allocate(request);
            assert_eq!(placement, would, "`can` says what `allocate` does");
            format!("{placement:?} {}", pool.could_hold(request))
        }
        Op::Release(which) if !held.is_empty() => {
            let placement = &held[which.index(held.len())];
            pool.release(placement).unwrap();
            format!("{placement:?}")
        }
        Op::ReleaseWrongly(which) => {
            // Adopts one node instead: the first free one from there on.
            let nodes = pool.site().nodes();
            let from = which.index(nodes as usize) as u32;
            let Some(base) = pool.site().free().first_from(from) else { return String::new() };
            let sides = vec![1; pool.site().grid().dimensions()];
            let block = Block { base, sides: sides.as_slice().into() };
            pool.adopt(&Placement::from(block)).unwrap();
            format!("{base}")
        }
        Op::Release(_) => String::new(),
        Op::Advance(tenths) => {
            let then = pool.now() + f64::from(*tenths) * 0.1;
            pool.advance(then).unwrap();
            String::new()
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(5))]
    #[test]
    fn what_was_restored_answers_as_the_original(
        before in prop::collection::vec(ops(), 1..80),
        after in prop::collection::vec(ops(), 1..60),
    ) {
        for (text, mut original, mut other) in pairs() {
            for op in &before {
                answer(&mut original, op);
            }
            // The history of the restored pool does not matter.
            answer(&mut other, &after[0]);
            let snapshot = original.snapshot();
            other.restore(&snapshot).unwrap_or_else(|sentence| panic!("{text}: {sentence}"));
            prop_assert_eq!(&other.snapshot(), &snapshot, "{}", text);
            for op in &after {
                prop_assert_eq!(answer(&mut other, op), answer(&mut original, op), "{}", text);
            }
            prop_assert_eq!(other.snapshot(), original.snapshot(), "{}", text);
        }
    }

    /// A damaged snapshot is refused with an error, or gives a pool that works without a panic.
    #[test]
    fn a_snapshot_that_no_pool_has_made_is_refused_without_a_change(
        before in prop::collection::vec(ops(), 1..60),
        memory in prop::collection::vec(any::<u64>(), 0..4),
        which in any::<prop::sample::Index>(),
        at in any::<u32>(),
    ) {
        for (text, mut pool, mut other) in pairs() {
            for op in &before {
                answer(&mut pool, op);
            }
            let snapshot = pool.snapshot();
            let mut damaged = snapshot.clone();
            damaged.memory.extend(&memory);
            if !damaged.memory.is_empty() {
                let place = which.index(damaged.memory.len());
                damaged.memory.remove(place);
            }
            if damaged != snapshot {
                let then = other.snapshot();
                prop_assert!(other.restore(&damaged).is_err(), "{}", text);
                prop_assert_eq!(other.snapshot(), then);
            }
            let mut damaged = snapshot.clone();
            if !damaged.held.is_empty() {
                let place = which.index(damaged.held.len());
                damaged.held[place].blocks[0].base[0] ^= at;
                if let Ok(()) = other.restore(&damaged) {
                    for op in &before {
                        answer(&mut other, op);
                    }
                }
            }
        }
    }
}

/// A pool and a run choose the same placements for the same claims and releases.
#[test]
fn a_pool_and_a_run_place_alike() {
    for (text, mut pool) in pools() {
        let study = common::scenario(&text);
        let topology = pool.site().topology().clone();
        let jobs = common::random_jobs(&topology, 60, 0.5, 21);
        let (_, transcript) = common::run(&study, jobs.clone());
        let mut held = BTreeMap::new();
        let mut started = 0;
        for line in transcript.lines() {
            let words: Vec<&str> = line.splitn(6, ' ').collect();
            pool.advance(Time::new(words[0].parse().unwrap())).unwrap();
            match words[1] {
                "started" => {
                    let request = &jobs[words[2].parse::<usize>().unwrap()].request;
                    let placement = pool.allocate(request).unwrap();
                    assert_eq!(format!("{:?}", placement.blocks), words[5], "{text}");
                    held.insert(words[2].to_owned(), placement);
                    started += 1;
                }
                "finished" => pool.release(&held[words[2]]).unwrap(),
                "refused" => {
                    let request = &jobs[words[2].parse::<usize>().unwrap()].request;
                    assert!(!pool.could_hold(request), "{text}: {request}");
                }
                _ => {}
            }
        }
        assert!(started > 20, "{text}");
        assert_eq!(pool.held().count(), 0);
    }
}

#[test]
fn four_jobs_of_1024_fill_a_torus_of_4096() {
    let mut pool = Pool::read(&toml::toml! {
        machine = { topology = "torus", dims = [16, 16, 16] }
    })
    .unwrap();
    for _ in 0..4 {
        assert_eq!(pool.allocate(&Request::Nodes(1024)).unwrap().len(), 1024);
    }
    assert_eq!(pool.site().free_nodes(), 0);
}
