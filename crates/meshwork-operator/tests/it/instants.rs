//! Tests of explanations why a job waits, and of moves of jobs that free a place for it.
//!
//! Answers for all allocators are compared with exhaustive search on small machines.

use std::collections::BTreeSet;

use meshwork::alloc::ALLOCATORS;
use meshwork::form::Finds;
use meshwork::job::{Cause, Dims, Request, Time};
use meshwork::machine::{Block, Placement};
use meshwork::pool::{Name, NamedPool, Operation, Pool, Question};
use meshwork::rng::Stream;
use meshwork_operator::defrag::Cost;
use meshwork_operator::instant::Instant;
use meshwork_operator::instant::defrag::{InstantPlan, InstantTarget};
use meshwork_operator::instant::explain::InstantReason;

const MACHINES: &[&str] = &[
    "topology = 'mesh', dims = [4, 4]",
    "topology = 'torus', dims = [4, 4]",
    "topology = 'mesh', dims = [12]",
    "topology = 'torus', dims = [4, 2, 2]",
    "topology = 'hypercube', dimension = 4",
    "topology = 'flat', processors = 16",
    "topology = 'fat_tree', arity = 4",
    "topology = 'dragonfly', p = 2, a = 2, h = 1",
];

/// Pools in which random jobs run, each with a title and a request that may have to wait.
fn pools() -> Vec<(String, NamedPool, Request)> {
    let mut all = Vec::new();
    for machine in MACHINES {
        for allocator in ALLOCATORS {
            for seed in 0..6 {
                let name = allocator.about.name;
                let text =
                    format!("machine = {{ {machine} }}\nallocator = '{name}'\nseed = {seed}");
                let Ok(pool) = Pool::read(&text.parse().unwrap()) else { continue };
                let mut rng = Stream::new(seed, 0, "desk");
                let dimensions = pool.site().grid().dimensions();
                let mut request = || match (rng.below(3), dimensions) {
                    (0, _) | (_, 1) => Request::Nodes(1 + rng.below(6) as u32),
                    (_, 2 | 3) => {
                        let side = |_| 1 + rng.below(3) as u32;
                        Request::Block((0..dimensions).map(side).collect())
                    }
                    _ => Request::Subcube(rng.below(4) as u32),
                };
                let wanted = request();
                let requests: Vec<Request> = (0..14).map(|_| request()).collect();
                let mut named = NamedPool::new(pool);
                let mut held: Vec<i64> = Vec::new();
                for (number, request) in (0..).zip(requests) {
                    let mut ask =
                        |operation| named.answer(Question { at: None, operation }).unwrap();
                    ask(Operation::Allocate(Name::Number(number), request));
                    if named.held_by(&Name::Number(number)).is_some() {
                        held.push(number);
                    }
                    if held.len() > 7 || number % 4 == 3 && !held.is_empty() {
                        let gone = held.remove(rng.below(held.len() as u64) as usize);
                        let operation = Operation::Release(Name::Number(gone));
                        named.answer(Question { at: None, operation }).unwrap();
                    }
                }
                all.push((format!("{text}: {wanted}"), named, wanted));
            }
        }
    }
    all
}

/// Instant of a pool at which every running job has an expected end.
fn instant(named: &NamedPool) -> Instant {
    let mut instant = Instant::of_desk(named);
    for (place, holder) in instant.running.iter_mut().enumerate() {
        holder.until = Some(Time::new([30.0, 10.0, 20.0, 10.0, 50.0, 40.0, 5.0][place % 7]));
    }
    instant
}

fn without(named: &NamedPool, instant: &Instant, gone: &[usize]) -> Pool {
    let mut pool = Pool::read(named.pool().table()).unwrap();
    pool.restore(&named.pool().snapshot()).unwrap();
    gone.iter().for_each(|&job| pool.release(&instant.running[job].placement).unwrap());
    pool
}

fn subsets(count: usize) -> Vec<Vec<usize>> {
    let of = |bits: u32| (0..count).filter(|job| bits >> job & 1 == 1).collect();
    let mut all: Vec<Vec<usize>> = (1..1_u32 << count).map(of).collect();
    all.sort_by_key(Vec::len);
    all
}

/// Whether a pool's allocator places each job as one block, and which free blocks it finds.
fn entry(named: &NamedPool) -> (bool, Finds) {
    let ahead = named.pool().ahead();
    (ahead.gives_blocks(), ahead.finds())
}

#[test]
fn what_would_let_it_start_is_what_trying_everything_says() {
    let mut asked = BTreeSet::new();
    let (mut shapes, mut nodes) = (0, 0);
    for (text, named, wanted) in pools() {
        let instant = instant(&named);
        let explained = instant.explain_request(wanted.clone());
        let mut pool = without(&named, &instant, &[]);
        let now = pool.can(&wanted);
        asked.insert(text.lines().nth(1).unwrap().to_owned());
        assert_eq!(explained.now.is_some(), now.is_some(), "{text}");
        if !pool.could_hold(&wanted) {
            assert!(matches!(explained.reason, InstantReason::Never(_)), "{text}");
            continue;
        }
        if now.is_some() {
            assert_eq!(explained.reason, InstantReason::Nothing, "{text}");
            continue;
        }
        let free = u64::from(pool.site().free_nodes());
        let alone = Pool::read(pool.table()).unwrap().can(&wanted).unwrap().len();
        match explained.reason {
            InstantReason::WaitsFor(Cause::Nodes) => {
                assert!(free < u64::from(alone), "{text}");
                nodes += 1;
            }
            InstantReason::WaitsFor(Cause::Shape) => {
                assert!(free >= wanted.nodes(), "{text}");
                shapes += 1;
            }
            ref other => panic!("{text}: {other:?}"),
        }
        let count = instant.running.len();
        let would_do = |gone: &Vec<usize>| without(&named, &instant, gone).can(&wanted).is_some();
        let ends: Vec<usize> = (0..count).filter(|&job| would_do(&vec![job])).collect();
        assert_eq!(explained.ends, ends, "{text}");
        // Of the smallest sets of jobs whose ends make room, `soonest` is the one whose last end is
        // earliest. The nearest place must be the one that these ends free.
        let until = |gone: &Vec<usize>| gone.iter().map(|&job| instant.running[job].until).max();
        let all = subsets(count);
        let first = all.iter().find(|gone| would_do(gone)).unwrap();
        let fewest = all.iter().filter(|gone| gone.len() == first.len() && would_do(gone));
        let soonest = fewest.min_by_key(|gone| until(gone)).unwrap();
        let nearest = &explained.nearest;
        assert!(nearest.iter().all(|near| would_do(&near.jobs)), "{text}");
        assert!(nearest.is_sorted_by_key(|near| (near.jobs.len(), near.until)), "{text}");
        if entry(&named) == (true, Finds::SomeBlocks) {
            // If the allocator misses some free blocks, more jobs may have to end before it finds a
            // place than the smallest set has.
            assert!(nearest[0].jobs.len() >= soonest.len(), "{text}");
        } else {
            assert_eq!(nearest[0].jobs.len(), soonest.len(), "{text}");
            assert_eq!(nearest[0].until, until(soonest).flatten(), "{text}");
        }
        // Expected start of the job if it were first in the queue.
        let mut times: Vec<Time> = instant.running.iter().filter_map(|own| own.until).collect();
        times.sort();
        let ended = |at: &Time| {
            let mut ended: Vec<usize> = (0..count).collect();
            ended.retain(|&job| instant.running[job].until <= Some(*at));
            // Jobs leave in the order of their ends.
            ended.sort_by_key(|&job| instant.running[job].until);
            would_do(&ended)
        };
        let at = times.into_iter().find(ended);
        assert_eq!(explained.alone.map(|start| start.at), at, "{text}");
    }
    assert!(shapes > 60 && nodes > 60, "{shapes} {nodes}");
    assert_eq!(asked.len(), ALLOCATORS.len(), "{asked:?}");
}

/// Every block of the machine with the given sides in any order, as base and sides.
fn blocks(pool: &Pool, sides: &[u32]) -> BTreeSet<(u32, Vec<u32>)> {
    fn orders(rest: &[u32]) -> Vec<Vec<u32>> {
        if rest.is_empty() {
            return vec![Vec::new()];
        }
        let with = |i: usize| {
            let mut others = rest.to_vec();
            let own = others.remove(i);
            orders(&others).into_iter().map(move |order| [vec![own], order].concat())
        };
        (0..rest.len()).flat_map(with).collect()
    }
    let grid = pool.site().grid();
    let mut all = BTreeSet::new();
    for sides in orders(sides) {
        let bases = (0..grid.nodes()).filter(|&node| grid.holds(node, &sides));
        all.extend(bases.map(|base| (base, sides.clone())));
    }
    all
}

/// Fewest jobs that must move for the request, by exhaustive search.
fn cheapest_by_hand(named: &NamedPool, instant: &Instant, wanted: &Request) -> Option<usize> {
    let mut empty = Pool::read(named.pool().table()).unwrap();
    let alone = empty.can(wanted)?;
    let grid = named.pool().site().grid();
    let mut best: Option<usize> = None;
    for (base, sides) in blocks(named.pool(), &alone.blocks[0].sides) {
        let place = Placement::from(Block { base, sides: Dims::from_slice(&sides) });
        let in_the_way = |job: &usize| instant.running[*job].placement.meets(&place, grid);
        let mut jobs: Vec<usize> = (0..instant.running.len()).filter(in_the_way).collect();
        jobs.sort_by_key(|&job| (u32::MAX - instant.running[job].placement.len(), job));
        let mut pool = without(named, instant, &[]);
        let keep_off = |pool: &mut Pool| {
            let part = place.part_in(pool.site().free(), grid);
            if !part.is_empty() {
                pool.adopt(&part).unwrap();
            }
        };
        keep_off(&mut pool);
        let mut steps = Vec::new();
        let is_clear = jobs.iter().all(|&job| {
            let Some(to) = pool.allocate(&instant.running[job].job.request) else { return false };
            pool.release(&instant.running[job].placement).unwrap();
            keep_off(&mut pool);
            steps.push((job, to));
            true
        });
        if is_clear && room_after(named, instant, &steps, wanted) {
            best = Some(best.map_or(steps.len(), |best| best.min(steps.len())));
        }
    }
    best
}

/// Whether a request fits after a sequence of moves of running jobs.
///
/// The moves are made one after the other. Each must go to nodes that are free at that point.
fn room_after(
    named: &NamedPool,
    instant: &Instant,
    steps: &[(usize, Placement)],
    wanted: &Request,
) -> bool {
    let mut pool = without(named, instant, &[]);
    for (job, to) in steps {
        pool.adopt(to).expect("each goes to what is free");
        pool.release(&instant.running[*job].placement).unwrap();
    }
    pool.can(wanted).is_some()
}

#[test]
fn the_cheapest_moves_are_those_that_trying_everything_finds() {
    let (mut moved, mut none, mut sets) = (0, 0, 0);
    for (text, named, wanted) in pools() {
        let instant = instant(&named);
        let target = InstantTarget::of(instant.job(wanted.clone()));
        let mut pool = without(&named, &instant, &[]);
        let plans = match instant.defrag(&target, 3) {
            Ok(plans) => plans,
            Err(says) => {
                assert!(!pool.could_hold(&wanted), "{text}: {says}");
                assert!(says.starts_with("there is never room for"), "{says}");
                continue;
            }
        };
        assert!(plans.is_sorted_by_key(|plan| plan.cost), "{text}");
        if pool.can(&wanted).is_some() {
            assert_eq!(plans.iter().map(|plan| plan.cost).collect::<Vec<_>>(), [0], "{text}");
            continue;
        }
        for plan in &plans {
            let steps: Vec<(usize, Placement)> =
                plan.steps.iter().map(|step| (step.job, step.to.clone())).collect();
            assert!(room_after(&named, &instant, &steps, &wanted), "{text}");
            assert_eq!(plan.cost, steps.len() as i64, "{text}");
        }
        let fewest = plans.first().map(|plan| plan.steps.len());
        match entry(&named) {
            (true, _) => {
                assert_eq!(fewest, cheapest_by_hand(&named, &instant, &wanted), "{text}");
                *(if fewest.is_some() { &mut moved } else { &mut none }) += 1;
            }
            (_, Finds::AnyNodes) => assert_eq!(fewest, None, "moves free no nodes: {text}"),
            _ => {
                // A plan moves at least as many jobs as would have to end to make room.
                let would_do =
                    |gone: &Vec<usize>| without(&named, &instant, gone).can(&wanted).is_some();
                let least =
                    subsets(instant.running.len()).into_iter().find(would_do).unwrap().len();
                assert!(fewest.is_none_or(|fewest| fewest >= least), "{text}");
                sets += usize::from(fewest.is_some());
            }
        }
    }
    assert!(moved > 20 && none > 20, "{moved} moved, {none} not, {sets} where placements are sets");
}

#[test]
fn exempt_jobs_stay_and_costs_count() {
    let text = "machine = { topology = 'mesh', dims = [4, 2] }\nallocator = 'first_fit'";
    let mut named = NamedPool::new(Pool::read(&text.parse().unwrap()).unwrap());
    let mut ask = |operation| named.answer(Question { at: None, operation }).unwrap();
    // One node at 1,0 and two from 2,1 on are held: no block of 2 x 2 is free.
    for (name, base, dims) in [("a", [1, 0], [1, 1]), ("b", [2, 1], [2, 1])] {
        let blocks = vec![meshwork::pool::PlacedBlock { base: base.to_vec(), dims: dims.to_vec() }];
        ask(Operation::Adopt(Name::Text(name.to_owned()), blocks));
    }
    let instant = instant(&named);
    let target = InstantTarget::of(instant.job(Request::block(&[2, 2])));
    let names = |plans: &[InstantPlan]| -> Vec<String> {
        let of = |plan: &InstantPlan| instant.running[plan.steps[0].job].name.clone();
        plans.iter().map(of).collect()
    };
    let plans = instant.defrag(&target, 1).unwrap();
    assert_eq!((names(&plans), plans[0].cost), (vec!["a".to_owned()], 1));
    let nodes = InstantTarget {
        cost: Cost::Nodes,
        exempt: BTreeSet::from(["a".to_owned()]),
        ..target.clone()
    };
    let plans = instant.defrag(&nodes, 1).unwrap();
    assert_eq!((names(&plans), plans[0].cost), (vec!["b".to_owned()], 2));
    let both = BTreeSet::from(["a".to_owned(), "b".to_owned()]);
    let says = instant.defrag(&InstantTarget { exempt: both, ..target }, 1).unwrap_err();
    assert_eq!(says, "no job may be moved: all are exempt");
}
