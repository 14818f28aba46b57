//! A pool after long random histories, against a naive model of who owns what.

mod common;

use std::collections::BTreeMap;

use common::machines;
use meshwork::alloc::ALLOCATORS;
use meshwork::job::{Request, Time};
use meshwork::machine::Placement;
use meshwork::pool::Pool;
use meshwork::topology::{Grid, Node};
use proptest::prelude::*;

#[derive(Clone, Debug)]
enum Op {
    Allocate(Request),
    Release(prop::sample::Index),
    /// A placement that was released before, or a part of one that is held.
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

/// Every allocator on every machine that it serves.
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

/// The naive model: the owner of every node, as a number that is counted up.
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

/// A scheduler's author and a simulation ask an allocator in the same way.
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
