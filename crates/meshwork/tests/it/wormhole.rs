//! Tests of the wormhole network: closed forms, a slow reference implementation, and invariants.

use std::collections::VecDeque;

use crate::wormhole_twin::{Sent, Twin};
use meshwork::network::wormhole::{
    ClassRule, Cycle, Delivery, Engine, Lanes, Load, Message, Preset, Routing, Turn, Upward,
    WormholeConfig,
};
use meshwork::topology::{Node, Topology};
use proptest::prelude::*;

/// Source of prepared packets. It also records when each packet was delivered.
struct Script {
    queues: Vec<VecDeque<Message>>,
    deliveries: Vec<Option<Delivery>>,
}

impl Load for Script {
    fn next(&mut self, node: Node, now: Cycle) -> Turn {
        let queue = &mut self.queues[node as usize];
        match queue.front().map(|message| message.created) {
            None => Turn::Nothing,
            Some(created) if created > now => Turn::At(created),
            Some(_) => Turn::Message(queue.pop_front().unwrap()),
        }
    }

    fn delivered(&mut self, delivery: &Delivery) -> Option<Node> {
        let before = self.deliveries[delivery.message.tag as usize].replace(*delivery);
        assert_eq!(before, None, "delivered twice");
        None
    }
}

/// Delivery of each packet, in order of creation.
///
/// If `is_told_ahead`, the network knows in advance when packets are created; otherwise it learns
/// of each packet when it is created.
fn arrivals(engine: &mut Engine, nodes: u32, sent: &[Sent], is_told_ahead: bool) -> Vec<Delivery> {
    let mut script = Script {
        queues: vec![VecDeque::new(); nodes as usize],
        deliveries: vec![None; sent.len()],
    };
    for (tag, packet) in sent.iter().enumerate() {
        if !is_told_ahead {
            engine.run(packet.created, &mut script).unwrap();
        }
        let Sent { created, from, to, coins } = *packet;
        let message = Message { to, created, coins, tag: tag as u64 };
        script.queues[from as usize].push_back(message);
        engine.wake(from);
    }
    engine.run(engine.now() + 10_000_000, &mut script).unwrap();
    assert_eq!(engine.in_flight(), 0, "the network is empty in the end");
    let counts = engine.counts();
    assert_eq!(counts.injected, counts.ejected);
    script.deliveries.into_iter().map(|delivery| delivery.expect("everything arrives")).collect()
}

fn small_machines() -> Vec<Topology> {
    vec![
        Topology::mesh(&[5]).unwrap(),
        Topology::mesh(&[4, 3]).unwrap(),
        Topology::mesh(&[3, 1, 2]).unwrap(),
        Topology::torus(&[5]).unwrap(),
        Topology::torus(&[4, 3]).unwrap(),
        Topology::torus(&[2, 3, 2]).unwrap(),
        Topology::torus(&[3, 4, 3]).unwrap(),
        Topology::hypercube(4).unwrap(),
    ]
}

/// Fat trees, dragonflies, grids with several processors per node, and grids with some rings.
///
/// A ring is a dimension whose ends are connected.
fn other_machines() -> Vec<Topology> {
    vec![
        Topology::with_rings(&[4, 3], &[true, false]).unwrap(),
        Topology::with_rings(&[3, 2, 5], &[false, true, true]).unwrap(),
        Topology::tofu(&[2]).unwrap(),
        Topology::mesh(&[3, 2]).unwrap().with_processors(2).unwrap(),
        Topology::torus(&[4]).unwrap().with_processors(3).unwrap(),
        Topology::fat_tree(&[2, 2, 2], 1.0).unwrap(),
        Topology::fat_tree(&[4, 3], 2.0).unwrap(),
        Topology::fat_tree(&[5], 1.0).unwrap(),
        Topology::dragonfly(1, 2, 1).unwrap(),
        Topology::dragonfly(2, 2, 1).unwrap(),
        Topology::dragonfly(1, 3, 1).unwrap(),
    ]
}

/// Published formula for the time of a packet in an idle network, in cycles.
fn closed_form(setting: &WormholeConfig, links: u64) -> u64 {
    let (inject, head, transfer, credit) = match setting.preset {
        Preset::Procsimity => (0, u64::from(setting.router_delay), 1, 1),
        Preset::Booksim => (2, 1, 3, 2),
    };
    let (body, buffer) = (u64::from(setting.packet_length) - 1, u64::from(setting.buffer));
    let slow = body / buffer * (transfer + credit) + body % buffer;
    let tail =
        if links == 0 && setting.preset == Preset::Procsimity { body } else { body.max(slow) };
    inject + (links + 1) * (head + transfer) + tail
}

#[test]
fn an_idle_network_delivers_in_the_closed_form_time() {
    let mut pairs = 0;
    for topology in small_machines() {
        for (preset, router_delay) in [
            (Preset::Procsimity, 3),
            (Preset::Procsimity, 0),
            (Preset::Procsimity, 1),
            (Preset::Booksim, 3),
        ] {
            for (packet_length, buffer) in [
                (8, 1),
                (8, 2),
                (8, 3),
                (8, 4),
                (8, 8),
                (1, 1),
                (1, 4),
                (2, 1),
                (5, 2),
                (17, 16),
                (300, 6),
            ] {
                let base = WormholeConfig {
                    preset,
                    router_delay,
                    packet_length,
                    buffer,
                    ..WormholeConfig::default()
                };
                for engine in engines(&topology, &base) {
                    let mut engine = engine;
                    let grid = topology.grid();
                    let all =
                        (0..grid.nodes()).flat_map(|a| (0..grid.nodes()).map(move |b| (a, b)));
                    let sent: Vec<Sent> = all
                        .enumerate()
                        .map(|(i, (from, to))| Sent {
                            created: i as u64 * 5000,
                            from,
                            to,
                            coins: i as u64 * 0x9e37_79b9,
                        })
                        .collect();
                    for (packet, delivery) in
                        sent.iter().zip(arrivals(&mut engine, grid.nodes(), &sent, true))
                    {
                        assert_eq!(delivery.alone, delivery.at - packet.created);
                        let links = grid.distance(packet.from, packet.to);
                        assert_eq!(
                            delivery.at - packet.created,
                            closed_form(&base, links.into()),
                            "{packet:?} on a {topology}, {base:?}"
                        );
                        assert_eq!(engine.zero_load(links), closed_form(&base, links.into()));
                        assert_eq!((delivery.hops, delivery.started), (links, packet.created));
                        pairs += 1;
                    }
                }
            }
        }
    }
    assert!(pairs > 100_000, "{pairs}");
}

#[test]
fn a_processor_that_waits_can_be_woken() {
    let mesh = Topology::mesh(&[4, 3]).unwrap();
    for mut engine in engines(&mesh, &WormholeConfig::default()) {
        let alone = engine.zero_load(2);
        let mut script = Script { queues: vec![VecDeque::new(); 12], deliveries: vec![None; 4] };
        // The processor is told of packets in the order 1000, 300, 305, 310.
        for (tag, created) in [(0, 1000), (1, 300), (2, 305), (3, 310)] {
            let message = Message { to: 2, created, coins: 0, tag };
            let queue = &mut script.queues[0];
            let place = queue.iter().take_while(|own| own.created < created).count();
            queue.insert(place, message);
            engine.wake(0);
            engine.run(engine.now() + 50, &mut script).unwrap();
        }
        engine.run(10_000, &mut script).unwrap();
        let at: Vec<Cycle> = script.deliveries.iter().map(|own| own.unwrap().at).collect();
        assert_eq!([at[0], at[1]], [1000 + alone, 300 + alone]);
        // Later packets leave one after the other.
        assert!(at[1] < at[2] && at[2] < at[3] && at[3] < 500, "{at:?}");
    }
}

/// Engines that can simulate the settings, each with several numbers of virtual channels.
fn engines(topology: &Topology, base: &WormholeConfig) -> Vec<Engine> {
    let has_rings = topology.grid().is_wrapped() && topology.grid().sides().iter().any(|&s| s > 2);
    let mut engines = Vec::new();
    for virtual_channels in if has_rings { vec![2, 4] } else { vec![1, 2] } {
        let shared = WormholeConfig { virtual_channels, ..*base };
        engines.push(Engine::by_cycles(topology, &shared).unwrap());
        let independent = WormholeConfig { lanes: Lanes::Independent, ..shared };
        if base.preset == Preset::Procsimity || virtual_channels == 1 {
            engines.push(Engine::new(topology, &independent).unwrap());
        }
    }
    engines
}

#[derive(Clone, Debug)]
struct Case {
    topology: Topology,
    setting: WormholeConfig,
    sent: Vec<Sent>,
}

fn cases() -> impl Strategy<Value = Case> {
    let ways = (any::<bool>(), 0_u32..3, 1_u32..4, 1_u32..7, 0_u32..4);
    let settings = (
        any::<bool>(),
        0_u32..5,
        prop_oneof![1_u32..10, Just(20)],
        1_u32..6,
        1_u32..4,
        any::<bool>(),
    );
    let packets =
        prop::collection::vec((0_u64..12, any::<u32>(), any::<u32>(), any::<u64>()), 1..60);
    let machines = || [small_machines(), other_machines()].concat();
    (0..machines().len(), settings, ways, packets, 0_u32..3).prop_map(
        move |(
            machine,
            (is_booksim, delay, length, buffer, channels, shares),
            (is_fixed, routing, local_latency, global_latency, threshold),
            packets,
            spread,
        )| {
            let topology = machines().swap_remove(machine);
            let nodes = topology.nodes();
            let routing = [Routing::Minimal, Routing::Valiant, Routing::Ugal][routing as usize];
            let is_ugal = routing == Routing::Ugal;
            let base = WormholeConfig {
                upward: if is_fixed { Upward::Fixed } else { Upward::Random },
                routing,
                ugal_threshold: Some(threshold),
                local_latency,
                global_latency,
                ..WormholeConfig::default()
            };
            let classes = base.usual_channels(&topology);
            let virtual_channels = if classes > 1 { classes * channels.min(2) } else { channels };
            let setting = WormholeConfig {
                preset: if is_booksim { Preset::Booksim } else { Preset::Procsimity },
                router_delay: delay,
                packet_length: length,
                buffer,
                virtual_channels,
                class_rule: ClassRule::Static,
                lanes: if shares || is_booksim || is_ugal {
                    Lanes::Shared
                } else {
                    Lanes::Independent
                },
                ..base
            };
            let mut created = 0;
            let sent = packets
                .into_iter()
                .map(|(gap, from, to, coins)| {
                    created += gap * u64::from(spread);
                    Sent { created, from: from % nodes, to: to % nodes, coins }
                })
                .collect();
            Case { topology, setting, sent }
        },
    )
}

/// Links have different lengths, and buffers are shorter than a credit's path.
#[test]
fn an_idle_network_of_long_links_delivers_when_it_says() {
    let mut pairs = 0;
    for topology in other_machines() {
        for preset in [Preset::Procsimity, Preset::Booksim] {
            for (packet_length, buffer) in [(8, 1), (8, 3), (1, 1), (17, 4), (9, 64)] {
                for routing in [Routing::Minimal, Routing::Valiant] {
                    let base = WormholeConfig {
                        preset,
                        packet_length,
                        buffer,
                        routing,
                        local_latency: 3,
                        global_latency: 10,
                        ..WormholeConfig::default()
                    };
                    let channels = base.usual_channels(&topology);
                    let shared = WormholeConfig { virtual_channels: channels, ..base };
                    let nodes = topology.nodes();
                    let all = (0..nodes).flat_map(|a| (0..nodes).map(move |b| (a, b)));
                    let sent: Vec<Sent> = all
                        .enumerate()
                        .map(|(i, (from, to))| {
                            let (created, coins) = (i as u64 * 5000, i as u64 * 0x9e37_79b9);
                            Sent { created, from, to, coins }
                        })
                        .collect();
                    let mut engines = vec![Engine::by_cycles(&topology, &shared).unwrap()];
                    if preset == Preset::Procsimity || channels == 1 {
                        let lanes = Lanes::Independent;
                        engines.push(
                            Engine::new(&topology, &WormholeConfig { lanes, ..shared }).unwrap(),
                        );
                    }
                    for mut engine in engines {
                        let deliveries = arrivals(&mut engine, nodes, &sent, true);
                        for (packet, delivery) in sent.iter().zip(deliveries) {
                            assert_eq!(
                                delivery.at - packet.created,
                                delivery.alone,
                                "{packet:?} on a {topology}, {shared:?}"
                            );
                            pairs += 1;
                        }
                    }
                }
            }
        }
    }
    assert!(pairs > 10_000, "{pairs}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// All engines deliver packets like the slow reference, and none sooner than in an idle
    /// network.
    #[test]
    fn engines_and_the_twin_agree_packet_by_packet(case in cases(), told_ahead in any::<bool>()) {
        let Case { topology, setting, sent } = case;
        let mut twin = Twin::new(&topology, setting, &sent);
        twin.run();
        let mut engines = vec![Engine::new(&topology, &setting).unwrap()];
        if setting.virtual_channels == 1 {
            engines.push(Engine::by_cycles(&topology, &setting).unwrap());
        }
        for mut engine in engines {
            let deliveries = arrivals(&mut engine, topology.nodes(), &sent, told_ahead);
            let at: Vec<Cycle> = deliveries.iter().map(|delivery| delivery.at).collect();
            prop_assert_eq!(&at, &twin.arrived);
            for (delivery, packet) in deliveries.iter().zip(&sent) {
                let distance = topology.distance(packet.from, packet.to);
                prop_assert!(delivery.hops == distance || setting.routing != Routing::Minimal);
                prop_assert!(delivery.started >= packet.created);
                prop_assert!(delivery.at >= delivery.started + delivery.alone);
            }
        }
    }
}
