//! Compares simulated traffic in networks with results of the simulator BookSim 2.
//!
//! BookSim ran its router `iq` with routes in dimension order, look-ahead routing and the allocator
//! iSLIP with one iteration. Buffers and packets had 8 flits. Traffic was uniform, with the sender
//! among the destinations, and injected by a Bernoulli process. Each result is one run of 30,000
//! cycles of warm-up and at least 30,000 measured cycles. Both simulators are compared at the load
//! that BookSim carried.

use meshwork::network::traffic::{Carried, Offered, TRAFFIC, carry};
use meshwork::network::wormhole::{Preset, WormholeConfig};
use meshwork::topology::Topology;

/// Results of BookSim at one load. They are the carried load, the latency with and without the
/// source queue, and the number of routers that a packet visits.
type Point = (f64, f64, f64, f64);

struct Network {
    topology: Topology,
    /// Network configuration. The field `buffer` replaces its buffer size.
    setting: WormholeConfig,
    buffer: u32,
    /// Offered load at which saturation is measured. At this load BookSim carried the load
    /// `saturation`.
    full: f64,
    saturation: f64,
    points: &'static [Point],
    cycles: u64,
}

fn offered(network: &Network, load: f64, buffer: u32, cycles: u64) -> Carried {
    let setting = WormholeConfig { buffer, ..network.setting };
    carry(&Offered {
        topology: network.topology.clone(),
        setting,
        traffic: TRAFFIC.iter().find(|entry| entry.about.name == "uniform").unwrap(),
        load,
        warmup: cycles / 3,
        cycles,
        seed: 1,
    })
    .unwrap()
}

fn near(ours: f64, theirs: f64, share: f64, what: &str) {
    let off = ours / theirs - 1.0;
    assert!(off.abs() <= share, "{what}: {ours:.4} for {theirs:.4}, off by {:.2} %", 100.0 * off);
}

/// Checks that latencies agree with those of BookSim, within tolerances.
///
/// The tolerance is 2 % up to 70 % of the saturation load, 3 % up to 80 %, and 4 % up to 90 %. At
/// higher loads, source queues settle very slowly. There only the latency without source queues is
/// compared, within 6 %.
fn agrees(network: &Network) {
    for &(load, latency, network_latency, routers) in network.points {
        let carried = offered(network, load, network.buffer, network.cycles);
        let place = format!("{} at load {load}", network.topology);
        let part = load / network.saturation;
        near(carried.accepted, load, 0.02, &format!("{place}, accepted"));
        near(carried.hops.unwrap() + 1.0, routers, 0.02, &format!("{place}, routers visited"));
        let share = match part {
            ..=0.7 => 0.02,
            ..=0.8 => 0.03,
            ..=0.9 => 0.04,
            _ => 0.06,
        };
        let ours = carried.network_latency.unwrap();
        near(ours, network_latency, share, &format!("{place}, network latency"));
        if part <= 0.9 {
            near(carried.latency.unwrap(), latency, share, &format!("{place}, latency"));
        }
    }
    let full = offered(network, network.full, network.buffer, network.cycles / 2);
    near(full.accepted, network.saturation, 0.02, &format!("{}, saturation", network.topology));
}

fn network(
    topology: Topology,
    channels: u32,
    saturation: f64,
    points: &'static [Point],
) -> Network {
    let setting = WormholeConfig {
        preset: Preset::Booksim,
        virtual_channels: channels,
        ..WormholeConfig::default()
    };
    Network { topology, setting, buffer: 8, full: 1.0, saturation, points, cycles: 60_000 }
}

fn mesh(virtual_channels: u32, saturation: f64, points: &'static [Point]) -> Network {
    network(Topology::mesh(&[8, 8]).unwrap(), virtual_channels, saturation, points)
}

fn torus(saturation: f64, points: &'static [Point]) -> Network {
    network(Topology::torus(&[8, 8]).unwrap(), 2, saturation, points)
}

#[test]
fn a_mesh_with_one_virtual_channel() {
    agrees(&mesh(
        1,
        0.2631,
        &[
            (0.0105, 34.22, 34.17, 6.237),
            (0.0505, 35.38, 35.19, 6.251),
            (0.1006, 37.37, 36.92, 6.257),
            (0.1505, 40.94, 40.10, 6.282),
            (0.2005, 47.78, 45.62, 6.238),
            (0.2505, 142.39, 66.36, 6.247),
        ],
    ));
}

#[test]
fn a_mesh_with_two_virtual_channels() {
    agrees(&mesh(
        2,
        0.3622,
        &[
            (0.0105, 34.23, 34.18, 6.237),
            (0.1006, 37.19, 36.79, 6.272),
            (0.2004, 42.25, 41.39, 6.255),
            (0.2504, 46.29, 45.09, 6.254),
            (0.3006, 53.84, 52.08, 6.238),
            (0.3502, 102.08, 76.95, 6.259),
        ],
    ));
}

#[test]
fn a_torus_of_two_dimensions() {
    agrees(&torus(
        0.3592,
        &[
            (0.0105, 29.17, 29.12, 4.987),
            (0.1006, 31.36, 30.96, 4.970),
            (0.2005, 35.45, 34.57, 5.013),
            (0.2504, 38.60, 37.36, 4.997),
            (0.3007, 44.01, 42.10, 5.005),
            (0.3505, 67.03, 53.68, 4.999),
        ],
    ));
}

#[test]
fn a_torus_of_three_dimensions() {
    let torus = network(
        Topology::torus(&[8, 8, 8]).unwrap(),
        2,
        0.3344,
        &[
            (0.0100, 37.15, 37.11, 6.973),
            (0.1002, 40.21, 39.82, 7.009),
            (0.2002, 45.63, 44.74, 7.002),
            (0.3000, 60.99, 57.84, 6.999),
        ],
    );
    agrees(&Network { cycles: 12_000, ..torus });
}

#[test]
fn a_hypercube() {
    let cube = network(
        Topology::hypercube(6).unwrap(),
        2,
        0.7998,
        &[
            (0.0105, 25.18, 25.13, 4.008),
            (0.2004, 28.24, 27.36, 3.986),
            (0.4006, 33.22, 30.85, 3.998),
            (0.6009, 43.04, 37.34, 4.003),
            (0.7019, 55.22, 44.21, 4.001),
        ],
    );
    agrees(&Network { cycles: 40_000, ..cube });
}

#[test]
fn a_fat_tree() {
    let tree = network(
        Topology::fat_tree(&[4, 4, 4], 1.0).unwrap(),
        1,
        0.3645,
        &[
            (0.0101, 26.65, 26.61, 4.347),
            (0.1000, 29.03, 28.59, 4.386),
            (0.1998, 33.23, 31.96, 4.390),
            (0.3005, 45.16, 39.36, 4.385),
        ],
    );
    agrees(&Network { full: 0.4, ..tree });
}

/// Dragonfly of 9 groups of 4 routers with 2 nodes each, on minimal paths.
///
/// Links and credits take 10 cycles within a group and 100 cycles between groups; buffers have 256
/// flits.
#[test]
fn a_dragonfly() {
    let dragonfly = network(
        Topology::dragonfly(2, 4, 2).unwrap(),
        2,
        0.5630,
        &[
            (0.0101, 122.79, 122.74, 3.307),
            (0.0995, 125.21, 124.84, 3.306),
            (0.1997, 128.74, 127.87, 3.308),
            (0.2997, 134.67, 133.16, 3.304),
            (0.3986, 147.17, 144.82, 3.308),
            (0.4995, 182.40, 178.90, 3.307),
        ],
    );
    let setting = WormholeConfig { local_latency: 10, global_latency: 100, ..dragonfly.setting };
    agrees(&Network { setting, buffer: 256, full: 0.6, ..dragonfly });
}

#[test]
fn saturation_with_buffers_of_other_sizes() {
    let (mesh, torus) = (mesh(1, 0.0, &[]), torus(0.0, &[]));
    for (network, buffer, saturation) in [
        (&mesh, 1, 0.0438),
        (&mesh, 2, 0.0835),
        (&mesh, 4, 0.1738),
        (&mesh, 16, 0.2988),
        (&torus, 1, 0.0789),
        (&torus, 2, 0.1489),
        (&torus, 4, 0.2745),
        (&torus, 16, 0.4127),
    ] {
        let carried = offered(network, 1.0, buffer, 30_000);
        let place = format!("{} with buffers of {buffer}", network.topology);
        near(carried.accepted, saturation, 0.02, &place);
    }
}
