//! Benchmarks of allocators that may give a job several separate pieces of the machine.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use meshwork::alloc::Ask;
use meshwork::job::{Request, Time};
use meshwork::rng::Stream;
use meshwork::topology::Topology;
use meshwork_benches::{allocator_of, half_full};

const NAMES: [&str; 11] = [
    "naive",
    "random",
    "paging",
    "multiple_buddy",
    "multiple_partner",
    "adaptive_noncontiguous",
    "greedy_available",
    "curve",
    "mc1x1",
    "mm",
    "gen_alg",
];

/// Measures one placement on a half-full machine.
///
/// Each request is for a random count of processors, up to a given share of the free processors.
fn scattered(criterion: &mut Criterion) {
    let machines =
        [Topology::mesh(&[32, 32]), Topology::torus(&[8, 8, 8]), Topology::hypercube(10)];
    for topology in machines.map(|made| made.expect("these sides are right")) {
        let (site, held) = half_full(&topology, 0.25);
        for name in NAMES {
            for (counts, share) in [("a tenth", 0.1), ("all", 1.0)] {
                let mut allocator = allocator_of(name, &topology, &held);
                let mut rng = Stream::new(1, 0, "counts");
                let most = (f64::from(site.free_nodes()) * share) as u64;
                let requests: Vec<Request> =
                    (0..64).map(|_| Request::Nodes(1 + rng.below(most) as u32)).collect();
                let mut turn = requests.iter().cycle();
                let now = Time::new(held.len() as f64);
                criterion.bench_function(&format!("{name}/{topology}/up to {counts}"), |b| {
                    b.iter(|| {
                        let request = turn.next().expect("a cycle never ends");
                        allocator.choose(Ask::new(black_box(request), &site, now, &mut rng))
                    });
                });
            }
        }
    }
}

criterion_group!(benches, scattered);
criterion_main!(benches);
