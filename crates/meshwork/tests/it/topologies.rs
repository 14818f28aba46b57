//! Compares topologies with breadth-first search, with counting, and with the theory of their
//! networks.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use meshwork::conformance::every_machine;
use meshwork::network::traffic::{Carried, Offered, TRAFFIC, carry};
use meshwork::network::wormhole::{Routing, Upward, WormholeConfig};
use meshwork::topology::wires::{Manner, Wires};
use meshwork::topology::{Topology, TopologyError};

/// Number of links on the shortest path from a router to each router, by breadth-first search.
///
/// A path may have up to `most_global` global links. The search is over pairs of a router and the
/// number of global links used so far.
fn links_from(wires: &dyn Wires, from: u32, most_global: usize) -> Vec<u32> {
    let routers = wires.routers() as usize;
    let mut found = vec![vec![u32::MAX; most_global + 1]; routers];
    let mut queue = VecDeque::from([(from, 0)]);
    found[from as usize][0] = 0;
    while let Some((at, used)) = queue.pop_front() {
        for port in 0..wires.ports() {
            let Some(end) = wires.link(at, port) else { continue };
            let used_then = used + usize::from(wires.is_global(port));
            if used_then <= most_global && found[end.router as usize][used_then] == u32::MAX {
                found[end.router as usize][used_then] = found[at as usize][used] + 1;
                queue.push_back((end.router, used_then));
            }
        }
    }
    found.into_iter().map(|links| links.into_iter().min().unwrap()).collect()
}

#[test]
fn distance_is_the_length_of_a_shortest_path() {
    let more = [
        Topology::fat_tree(&[2, 3, 2, 2], 1.0),
        Topology::fat_tree(&[6, 4], 3.0),
        Topology::dragonfly(1, 4, 2),
        Topology::dragonfly(3, 1, 4),
        Topology::twisted_torus(&[2, 4]),
        Topology::twisted_torus(&[8, 4]),
        Topology::twisted_torus(&[5, 10]),
        Topology::twisted_torus(&[3, 3, 6]),
        Topology::twisted_torus(&[4, 4, 8]),
        Topology::twisted_torus(&[3, 6, 6]),
        Topology::twisted_torus(&[4, 8, 8]),
        Topology::twisted_torus(&[2, 4, 2, 4]),
    ];
    let all = every_machine().into_iter().map(|(_, made)| made);
    for topology in all.chain(more.map(Result::unwrap)) {
        let Some(wires) = topology.wires() else { continue };
        let each = wires.nodes_each();
        for from in (0..topology.nodes()).step_by(each as usize) {
            // A packet that avoids other groups crosses at most one global link.
            let links = links_from(wires.as_ref(), from / each, 1);
            for to in 0..topology.nodes() {
                let expected = links[(to / each) as usize];
                assert_eq!(topology.distance(from, to), expected, "{topology}: {from} to {to}");
                for coins in 0..6 {
                    let manner = Manner::default();
                    let route = wires.route(from, to, coins, &manner, false);
                    assert_eq!(route.iter().map(|leg| leg.hops).sum::<u32>(), expected);
                    let mut at = from / each;
                    for leg in &route {
                        for _ in 0..leg.hops {
                            at = wires.link(at, usize::from(leg.port)).unwrap().router;
                        }
                    }
                    assert_eq!(at, to / each, "{topology}: {from} to {to} by {route:?}");
                }
            }
        }
    }
}

fn farthest_and_mean(topology: &Topology, from: u32) -> (u32, f64) {
    let all: Vec<u32> = (0..topology.nodes()).map(|to| topology.distance(from, to)).collect();
    let sum: u32 = all.iter().sum();
    (*all.iter().max().unwrap(), f64::from(sum) / f64::from(topology.nodes()))
}

/// Compares the diameters of twisted toruses with closed forms for even k.
///
/// With the twist, the diameter of k × 2k nodes is k instead of 3k/2. For k × k × 2k it is 3k/2
/// instead of 2k. For k × 2k × 2k it is 3k/2 instead of 5k/2.
#[test]
fn a_twisted_torus_is_shorter_and_the_same_from_everywhere() {
    for (k, sides, diameter) in [
        (4, vec![4, 8], 4),
        (6, vec![6, 12], 6),
        (4, vec![4, 4, 8], 6),
        (6, vec![6, 6, 12], 9),
        (4, vec![4, 8, 8], 6),
        (6, vec![6, 12, 12], 9),
    ] {
        let twisted = Topology::twisted_torus(&sides).unwrap();
        let torus = Topology::torus(&sides).unwrap();
        let (far, mean) = farthest_and_mean(&twisted, 0);
        let (torus_far, torus_mean) = farthest_and_mean(&torus, 0);
        assert_eq!(far, diameter, "{twisted} of k = {k}");
        assert_eq!(torus_far, sides.iter().sum::<u32>() / 2);
        assert!(mean < torus_mean, "{twisted}: {mean} for {torus_mean}");
        for from in (0..twisted.nodes()).step_by(7) {
            assert_eq!(farthest_and_mean(&twisted, from), (far, mean));
        }
    }
}

/// Maximum flow by augmenting paths. Each link carries one unit in each direction.
fn flow(wires: &dyn Wires, from: &BTreeSet<u32>, to: &BTreeSet<u32>) -> u32 {
    let mut used = BTreeMap::<(u32, usize), bool>::new();
    let mut sum = 0;
    loop {
        let mut before = BTreeMap::<u32, (u32, usize)>::new();
        let mut queue: VecDeque<u32> = from.iter().copied().collect();
        let mut end = None;
        while let Some(at) = queue.pop_front() {
            if to.contains(&at) {
                end = Some(at);
                break;
            }
            for port in 0..wires.ports() {
                let Some(next) = wires.link(at, port) else { continue };
                let is_used = used.get(&(at, port)).copied().unwrap_or(false);
                if !is_used && !from.contains(&next.router) && !before.contains_key(&next.router) {
                    before.insert(next.router, (at, port));
                    queue.push_back(next.router);
                }
            }
        }
        let Some(mut at) = end else { return sum };
        sum += 1;
        while !from.contains(&at) {
            let (router, port) = before[&at];
            let back = wires.link(router, port).unwrap();
            // A flow back over a used link cancels it.
            if used.remove(&(back.router, back.port)).is_none() {
                used.insert((router, port), true);
            }
            at = router;
        }
    }
}

/// If a fat tree has no taper, as many links connect its halves as a half has nodes.
///
/// The taper is the number of nodes of a leaf switch, divided by the number of its upward links. It
/// divides the number of links between the halves.
#[test]
fn a_fat_tree_has_full_bisection_and_a_taper_divides_it() {
    for (arity, taper) in [
        (vec![4, 4], 1.0),
        (vec![4, 4, 4], 1.0),
        (vec![4, 4, 4], 2.0),
        (vec![4, 4, 4], 4.0),
        (vec![6, 2, 2], 3.0),
        (vec![3, 3, 2], 1.0),
        (vec![2, 2, 2, 2], 1.0),
        (vec![8, 6], 4.0),
    ] {
        let tree = Topology::fat_tree(&arity, taper).unwrap();
        let wires = tree.wires().unwrap();
        let half = tree.nodes() / 2;
        let leaves = |nodes: std::ops::Range<u32>| -> BTreeSet<u32> {
            nodes.map(|node| node / arity[0]).collect()
        };
        let found = flow(wires.as_ref(), &leaves(0..half), &leaves(half..2 * half));
        assert!((f64::from(found) - f64::from(half) / taper).abs() < 1e-9, "{tree}: {found}");
    }
}

#[test]
fn every_two_groups_of_a_dragonfly_share_one_link() {
    for (p, a, h) in [(2, 4, 2), (1, 2, 1), (1, 3, 2), (2, 1, 3)] {
        let dragonfly = Topology::dragonfly(p, a, h).unwrap();
        let wires = dragonfly.wires().unwrap();
        let groups = a * h + 1;
        assert_eq!(dragonfly.nodes(), groups * a * p);
        let mut joined = BTreeMap::<(u32, u32), u32>::new();
        for router in 0..wires.routers() {
            let mut within = BTreeSet::new();
            for port in 0..wires.ports() {
                let end = wires.link(router, port).unwrap();
                let back = wires.link(end.router, end.port).unwrap();
                assert_eq!((back.router, back.port), (router, port));
                if wires.is_global(port) {
                    *joined.entry((router / a, end.router / a)).or_default() += 1;
                } else {
                    assert!(end.router / a == router / a && within.insert(end.router));
                }
            }
            assert_eq!(within.len() as u32, a - 1);
        }
        assert_eq!(joined.len() as u32, groups * (groups - 1));
        assert!(joined.iter().all(|(pair, &links)| pair.0 != pair.1 && links == 1));
    }
}

/// Every node sends to every node. If the destination fixes the path, all links carry equal loads.
///
/// If paths are random, the loads are nearly equal.
#[test]
fn ways_up_a_tree_spread_over_all_links() {
    for arity in [&[4, 4, 4][..], &[4, 4], &[2, 2, 2, 2]] {
        let tree = Topology::fat_tree(arity, 1.0).unwrap();
        for upward in [Upward::Random, Upward::Fixed] {
            let wires = tree.wires().unwrap();
            let manner = Manner { upward, ..Manner::default() };
            let mut loads = BTreeMap::<(u32, usize), u32>::new();
            let mut packets = 0_u64;
            for from in 0..tree.nodes() {
                for to in 0..tree.nodes() {
                    packets += 1;
                    let mut at = from / arity[0];
                    for leg in wires.route(from, to, packets * 0x9e37_79b9, &manner, false) {
                        let port = usize::from(leg.port);
                        *loads.entry((at, port)).or_default() += 1;
                        at = wires.link(at, port).unwrap().router;
                    }
                }
            }
            let links = (0..wires.routers())
                .flat_map(|router| (0..wires.ports()).map(move |port| (router, port)))
                .filter(|&(router, port)| wires.link(router, port).is_some());
            assert_eq!(loads.len(), links.count(), "{tree}: every link carries something");
            // For each level, all traffic that crosses it is spread evenly over its links. In each
            // direction, a level has as many links as the tree has nodes.
            let levels = arity.len() - 1;
            let mut counted: Vec<u32> = loads.into_values().collect();
            counted.sort_unstable();
            let nodes = tree.nodes() as usize;
            let below = |level: usize| arity[..level].iter().product::<u32>();
            for (i, chunk) in counted.chunks(2 * nodes).enumerate() {
                // Links of the highest level carry the least traffic.
                let expected = tree.nodes() - below(levels - i);
                let near = |load: &u32| {
                    let off = f64::from(load.abs_diff(expected));
                    if upward == Upward::Fixed {
                        off == 0.0
                    } else {
                        off < 6.0 * f64::from(expected).sqrt()
                    }
                };
                assert!(chunk.iter().all(near), "{tree}, {upward:?}, {expected}: {chunk:?}");
            }
        }
    }
}

fn full_load(topology: &Topology, traffic: &str, setting: WormholeConfig) -> Carried {
    // Two virtual channels of each class, so that not every packet waits for the one ahead of it.
    let channels = 2 * setting.usual_channels(topology);
    let setting = WormholeConfig { virtual_channels: channels, router_delay: 0, ..setting };
    carry(&Offered {
        topology: topology.clone(),
        setting: WormholeConfig { buffer: 16, ..setting },
        traffic: TRAFFIC.iter().find(|entry| entry.about.name == traffic).unwrap(),
        load: 1.0,
        warmup: 4_000,
        cycles: 8_000,
        seed: 1,
    })
    .unwrap()
}

/// Traffic across the top of a fat tree reaches at least half of the taper's limit.
#[test]
fn a_taper_bounds_what_crosses_the_top() {
    let usual = WormholeConfig::default();
    let mut before = 1.0;
    for taper in [2.0, 4.0, 8.0] {
        let tree = Topology::fat_tree(&[8, 4], taper).unwrap();
        let accepted = full_load(&tree, "next_group", usual).accepted;
        assert!(accepted <= 1.0 / taper + 0.01, "{tree}: {accepted}");
        assert!(accepted >= 0.5 / taper && accepted < before, "{tree}: {accepted}");
        before = accepted;
    }
}

/// All nodes of each group send to the next group.
///
/// On minimal paths the a p nodes of a group (a routers with p nodes each) share one link, so each
/// node gets 1/(a p) of the link's bandwidth. On paths over other groups each node gets up to half
/// the bandwidth of a link (Kim et al. 2008, section 4).
#[test]
fn adversarial_traffic_saturates_a_dragonfly_where_theory_says() {
    let dragonfly = Topology::dragonfly(2, 4, 2).unwrap();
    let usual = WormholeConfig::default();
    let of = |traffic: &str, routing| {
        full_load(&dragonfly, traffic, WormholeConfig { routing, ..usual }).accepted
    };
    let minimal = of("next_group", Routing::Minimal);
    assert!((0.9 * 0.125..=0.1255).contains(&minimal), "{minimal}");
    let valiant = of("next_group", Routing::Valiant);
    assert!((0.25..=0.5).contains(&valiant), "{valiant}");
    let ugal = of("next_group", Routing::Ugal);
    assert!((2.0 * minimal..=0.5).contains(&ugal), "{ugal}");
    // On uniform traffic a node has one global link to itself. Of nine packets one stays in its
    // group, and of the others seven of nine take two global links on a Valiant path, which bounds
    // the throughput.
    let [minimal, valiant, ugal] =
        [Routing::Minimal, Routing::Valiant, Routing::Ugal].map(|r| of("uniform", r));
    let most = 1.0 / (8.0 / 9.0 * (1.0 + 7.0 / 9.0));
    assert!((0.5 * most..=most).contains(&valiant), "{valiant} of {most}");
    // Under this traffic, minimal paths carry more than Valiant paths, and UGAL nearly as much.
    assert!(minimal > 1.2 * valiant && ugal > 0.85 * minimal, "{minimal}, {valiant}, {ugal}");
}

#[test]
fn machines_that_cannot_be_are_refused_in_a_sentence() {
    let sentence = |made: Result<Topology, TopologyError>| made.unwrap_err().to_string();
    for (made, expected) in [
        (Topology::fat_tree(&[], 1.0), "a machine needs at least one side"),
        (
            Topology::fat_tree(&[4, 0], 1.0),
            "every side of a machine is at least 1, this one has a side of 0",
        ),
        (
            Topology::fat_tree(&[4, 4], 3.0),
            "with a taper of 3 a leaf switch of 4 nodes would not have a whole number of links upwards, 1 or more",
        ),
        (
            Topology::fat_tree(&[1 << 12, 1 << 13], 1.0),
            "a site has at most 16777216 processors, this one has more",
        ),
        (
            Topology::fat_tree(&[4096, 1, 4096], 1.0),
            "a site has at most 16777216 switches, this one has more",
        ),
        (
            Topology::fat_tree(&[1, 40_000], 1.0),
            "a router has at most 32768 ports, this one has more",
        ),
        (Topology::dragonfly(2, 40_000, 1), "a router has at most 32768 ports, this one has more"),
        (
            Topology::dragonfly(0, 4, 2),
            "every side of a machine is at least 1, this one has a side of 0",
        ),
        (
            Topology::dragonfly(30, 300, 300),
            "a site has at most 16777216 processors, this one has more",
        ),
        (
            Topology::twisted_torus(&[4, 4, 9]),
            "a twisted torus has sides of k and of 2k, at least one of either and k from 2, in up to 8 \
             dimensions, such as 4 × 4 × 8; this one has 4 × 4 × 9",
        ),
        (
            Topology::tofu(&[2, 2, 2, 2]),
            "the groups of a tofu stand in a torus of one to three sides, this one has 4",
        ),
        (
            Topology::with_rings(&[4, 4], &[true]),
            "there are 1 words on which sides are rings, but 2 sides: one for each",
        ),
        (
            Topology::flat(4).and_then(|flat| flat.with_processors(2)),
            "several processors share the nodes of a grid, and this is a flat machine of 4 processors",
        ),
    ] {
        assert_eq!(sentence(made), expected);
    }
}
