//! Benchmarks of searches for a free block, and of the bit-set shifts that make up these searches.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use meshwork::alloc::Ask;
use meshwork::job::Time;
use meshwork::rng::Stream;
use meshwork::topology::Topology;
use meshwork_benches::{allocator_of, half_full, requests_to, works_on};

/// Names of allocators for meshes and tori.
///
/// Each allocator is measured on those machines of the benchmark that it supports.
const NAMES: [&str; 11] = [
    "first_fit",
    "best_fit",
    "frame_sliding",
    "boundary_search",
    "corner_boundary_search",
    "weighted_boundary_search",
    "adaptive_scan",
    "quick_allocation",
    "busy_list",
    "turning_busy_list",
    "buddy_2d",
];

/// Measures a search for a free block on a half-full machine, cycling through random requests.
fn search(criterion: &mut Criterion) {
    let machines = [
        Topology::mesh(&[200, 200]),
        Topology::mesh(&[32, 32]),
        Topology::torus(&[200, 200]),
        Topology::torus(&[8, 8, 8]),
    ];
    for topology in machines.map(|made| made.expect("these sides are right")) {
        let (site, held) = half_full(&topology, 0.1);
        for name in NAMES.into_iter().filter(|name| works_on(name, &topology)) {
            for (sizes, share) in [("a tenth", 0.1), ("a half", 0.5), ("all", 1.0)] {
                let mut allocator = allocator_of(name, &topology, &held);
                let requests = requests_to(name, &topology, share, 64);
                let mut turn = requests.iter().cycle();
                let mut rng = Stream::new(1, 0, "search");
                let now = Time::new(held.len() as f64);
                criterion.bench_function(&format!("{name}/{topology}/sides up to {sizes}"), |b| {
                    b.iter(|| {
                        let request = turn.next().expect("a cycle never ends");
                        allocator.choose(Ask::new(black_box(request), &site, now, &mut rng))
                    });
                });
            }
        }
    }
}

/// Measures a shift of a bit set, the basic operation of searches for free blocks.
///
/// The bit set has the free nodes of a 200 × 200 mesh. The shift keeps node *i* if node *i* + `by`
/// is free too.
fn shifts(criterion: &mut Criterion) {
    let topology = Topology::mesh(&[200, 200]).expect("these sides are right");
    let free = half_full(&topology, 0.1).0.free().clone();
    let mut work = free.clone();
    for by in [1, 64, 200, 1600] {
        criterion.bench_function(&format!("node set/keep_if_above/{by}"), |b| {
            b.iter(|| {
                work.copy_from(black_box(&free));
                work.keep_if_above(by);
            });
        });
    }
    criterion.bench_function("node set/assign_shifted_down/200", |b| {
        b.iter(|| work.assign_shifted_down(black_box(&free), 200));
    });
}

/// Measures how the cost of a search grows with the machine. Held and requested blocks have sides
/// up to a quarter of the machine's sides, so that the number of held blocks hardly grows.
fn growth(criterion: &mut Criterion) {
    let squares = [50, 100, 200, 400].map(|side| Topology::mesh(&[side, side]));
    let cubes = [16, 32, 64].map(|side| Topology::mesh(&[side, side, side]));
    for topology in squares.into_iter().chain(cubes) {
        let topology = topology.expect("these sides are right");
        let (site, held) = half_full(&topology, 0.25);
        let now = Time::new(held.len() as f64);
        for name in NAMES.into_iter().filter(|name| works_on(name, &topology)) {
            let mut allocator = allocator_of(name, &topology, &held);
            let requests = requests_to(name, &topology, 0.25, 64);
            let mut turn = requests.iter().cycle();
            let mut rng = Stream::new(1, 0, "search");
            criterion.bench_function(&format!("growth/{name}/{topology}"), |b| {
                b.iter(|| {
                    let request = turn.next().expect("a cycle never ends");
                    allocator.choose(Ask::new(black_box(request), &site, now, &mut rng))
                });
            });
        }
    }
}

criterion_group!(benches, search, growth, shifts);
criterion_main!(benches);
