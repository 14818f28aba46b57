//! Benchmark of one search for a free box of a listed shape, at several occupancies.
//!
//! The machine has 16 × 16 × 16 nodes. It lists 20 shapes, each with a box at every position.

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use meshwork::alloc::{ALLOCATORS, Ask};
use meshwork::job::{Dims, Request, Time};
use meshwork::machine::{Block, Placement, Site};
use meshwork::registry::{entry, resolve};
use meshwork::rng::Stream;
use meshwork::topology::Topology;

use std::hint::black_box;

/// Listed shapes of 1 to 4096 nodes, up to three of each size.
const SHAPES: [[u32; 3]; 20] = [
    [1, 1, 1],
    [2, 1, 1],
    [2, 2, 1],
    [2, 2, 2],
    [4, 2, 2],
    [4, 4, 2],
    [4, 4, 4],
    [2, 4, 4],
    [4, 2, 4],
    [8, 4, 4],
    [4, 8, 4],
    [4, 4, 8],
    [8, 8, 4],
    [8, 4, 8],
    [4, 8, 8],
    [8, 8, 8],
    [16, 8, 8],
    [8, 16, 8],
    [16, 16, 8],
    [16, 16, 16],
];

fn decisions(c: &mut Criterion) {
    let topology = Topology::torus(&[16, 16, 16]).unwrap();
    let placements: Vec<String> = SHAPES
        .iter()
        .map(|[x, y, z]| format!("{{ dims = [{x}, {y}, {z}], spacing = [1, 1, 1] }}"))
        .collect();
    let table = format!("placements = [{}]", placements.join(", ")).parse().unwrap();
    let anchors = entry(ALLOCATORS, "anchors");
    let params: Vec<_> = anchors.about.params.iter().collect();
    let params = resolve("allocator", &params, &table, &[]).unwrap();
    let mut group = c.benchmark_group("anchors_16x16x16");
    for held in [0, 1, 5, 20, 50, 80] {
        let mut site = Site::new(topology.clone(), 1.0);
        let mut allocator = (anchors.build)(&params, &topology).unwrap();
        let mut rng = Stream::new(7, 0, "held");
        for node in (0..4096).filter(|_| rng.below(100) < held).collect::<Vec<u32>>() {
            let block = Block { base: node, sides: Dims::from_slice(&[1, 1, 1]) };
            site.claim(&Placement::from(block)).unwrap();
        }
        for nodes in [8, 64, 512] {
            let request = Request::Nodes(nodes);
            let name = format!("{nodes} nodes");
            group.bench_function(BenchmarkId::new(name, format!("{held} % held")), |b| {
                b.iter(|| {
                    let ask = Ask::new(&request, &site, Time::ZERO, &mut rng);
                    black_box(allocator.choose(black_box(ask)))
                });
            });
        }
    }
    group.finish();
}

criterion_group!(benches, decisions);
criterion_main!(benches);
