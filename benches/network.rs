//! Benchmark of a simulated network under random traffic.
//!
//! Throughput is in flit-hops, where one flit-hop is one flit through one router.

use criterion::{Criterion, SamplingMode, Throughput, criterion_group, criterion_main};
use meshwork::network::traffic::{Offered, TRAFFIC, carry};
use meshwork::network::wormhole::{Lanes, Preset, WormholeConfig};
use meshwork::topology::Topology;

/// A case of the benchmark: one network under one load.
///
/// The fields are a name, the topology, the virtual channels per link, the flits per buffer,
/// whether virtual channels share their link, the timing of the router, the load, and the number of
/// cycles.
type Case = (&'static str, Topology, u32, u32, Lanes, Preset, f64, u64);

fn cases() -> Vec<Case> {
    let torus = || Topology::torus(&[8, 8, 8]).expect("a torus");
    let mesh = || Topology::mesh(&[8, 8]).expect("a mesh");
    let (shared, independent) = (Lanes::Shared, Lanes::Independent);
    let (booksim, procsimity) = (Preset::Booksim, Preset::Procsimity);
    vec![
        ("cycle/8x8x8 torus/booksim/0.2", torus(), 2, 8, shared, booksim, 0.2, 6_000),
        ("cycle/8x8x8 torus/procsimity/0.1", torus(), 2, 2, shared, procsimity, 0.1, 6_000),
        ("cycle/8x8x8 torus/procsimity/full", torus(), 2, 2, shared, procsimity, 1.0, 6_000),
        ("cycle/8x8x8 torus/procsimity/0.005", torus(), 2, 2, shared, procsimity, 0.005, 20_000),
        ("worm/8x8x8 torus/procsimity/0.1", torus(), 2, 2, independent, procsimity, 0.1, 6_000),
        ("worm/8x8x8 torus/procsimity/full", torus(), 2, 2, independent, procsimity, 1.0, 6_000),
        ("worm/8x8 mesh/procsimity/0.15", mesh(), 1, 8, shared, procsimity, 0.15, 50_000),
        ("worm/8x8 mesh/booksim/0.15", mesh(), 1, 8, shared, booksim, 0.15, 50_000),
    ]
}

fn network(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("network");
    group.sampling_mode(SamplingMode::Flat).sample_size(10);
    for (name, topology, virtual_channels, buffer, lanes, preset, load, cycles) in cases() {
        let setting =
            WormholeConfig { preset, buffer, virtual_channels, lanes, ..WormholeConfig::default() };
        let offered = Offered {
            topology,
            setting,
            traffic: TRAFFIC[0],
            load,
            warmup: cycles / 4,
            cycles: cycles - cycles / 4,
            seed: 1,
        };
        let flit_hops = carry(&offered).expect("the network is right").flit_hops;
        group.throughput(Throughput::Elements(flit_hops));
        group.bench_function(name, |b| b.iter(|| carry(&offered)));
    }
    group.finish();
}

criterion_group!(benches, network);
criterion_main!(benches);
