//! The links of a machine as tables: which router is behind each port, and how long each link is.

use std::sync::Arc;

use super::Cycle;
use super::WormholeConfig;
use crate::network::NetworkError;
use crate::topology::wires::{Leg, Manner, Route, Router, Routing};
use crate::topology::{Node, Topology, Wires};

/// Stands for the missing router behind a port without a link.
const NOWHERE: Router = Router::MAX;

/// Routers and the links between them. Every router has ports towards other routers, as the
/// topology says. After these ports, a router with nodes has one local port for each of its nodes,
/// through which packets enter and leave.
#[derive(Clone, Debug)]
pub(crate) struct Fabric {
    wires: Arc<dyn Wires>,
    manner: Manner,
    nodes: u32,
    nodes_each: u32,
    ports: usize,
    local: usize,
    classes: usize,
    /// Extra cycles of the links through each port, compared with a link of latency 1. `has_global`
    /// says whether any of these links is global (a link between groups of a dragonfly).
    length: Vec<Cycle>,
    has_global: bool,
    /// For each port of each router: the router at the other end of the port's link, and the port
    /// at that end.
    next: Vec<(Router, u16)>,
}

/// Properties of a route on which packet times depend: its number of links, and which are global.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Way {
    pub(crate) links: u32,
    /// Which links are global, one bit for each; the lowest bit is for the first link. A route with
    /// global links has at most eight links.
    pub(crate) global: u8,
}

impl Fabric {
    /// The links of a machine, for packets with the routing policy of `setting`. Fails if the
    /// machine is flat, because it then has no links to simulate. The error is one sentence.
    #[cfg(test)]
    pub(crate) fn new(
        topology: &Topology,
        setting: &WormholeConfig,
    ) -> Result<Fabric, NetworkError> {
        Ok(Fabric::outline(topology, setting)?.laid())
    }

    /// Builds the link tables that a fabric from [`outline`](Fabric::outline) lacks.
    pub(super) fn laid(mut self) -> Fabric {
        let links = self.wires.ports();
        self.next = vec![(NOWHERE, 0); self.routers() as usize * self.ports];
        for router in 0..self.routers() {
            for port in 0..links {
                if let Some(end) = self.wires.link(router, port) {
                    let place = router as usize * self.ports + port;
                    self.next[place] = (end.router, end.port as u16);
                }
            }
        }
        self
    }

    /// The fabric without link tables, with its ports, link lengths and classes of lanes only.
    ///
    /// # Errors
    /// [`NetworkError::NoLinks`] if the machine is flat, because it then has no links to simulate.
    pub(super) fn outline(
        topology: &Topology,
        setting: &WormholeConfig,
    ) -> Result<Fabric, NetworkError> {
        let Some(wires) = topology.wires() else {
            return Err(NetworkError::NoLinks { machine: topology.to_string() });
        };
        let manner = setting.manner();
        let local = wires.ports_beside_nodes();
        let nodes_each = wires.nodes_each();
        let ports = wires.ports().max(local + nodes_each as usize);
        let length = |port| {
            let is_global = port < wires.ports() && wires.is_global(port);
            Cycle::from(if is_global { setting.global_latency } else { setting.local_latency }) - 1
        };
        // Local ports lead to nodes, and their links have no extra cycles.
        let has_length = |port: &usize| *port < wires.ports();
        Ok(Fabric {
            manner,
            nodes: topology.nodes(),
            nodes_each,
            ports,
            local,
            classes: wires.classes(&manner).unwrap_or(1),
            has_global: (0..wires.ports()).any(|port| wires.is_global(port)),
            length: (0..ports)
                .map(|port| if has_length(&port) { length(port) } else { 0 })
                .collect(),
            next: Vec::new(),
            wires: Arc::clone(wires),
        })
    }

    /// A fabric with any number of classes of virtual channels, to test the effect of too few
    /// classes.
    #[cfg(test)]
    pub(super) fn with_classes(
        topology: &Topology,
        setting: &WormholeConfig,
        classes: usize,
    ) -> Result<Fabric, NetworkError> {
        Ok(Fabric { classes, ..Fabric::new(topology, setting)? })
    }

    pub(crate) fn nodes(&self) -> u32 {
        self.nodes
    }

    /// Number of routers; routers with nodes come first.
    pub(crate) fn routers(&self) -> u32 {
        self.wires.routers()
    }

    /// Number of ports of a router, including local ports.
    pub(crate) fn ports(&self) -> usize {
        self.ports
    }

    /// Index of the first local port (a port to a node) of a router that has nodes.
    pub(crate) fn local(&self) -> usize {
        self.local
    }

    /// The router of a node, and the local port of this router that leads to the node.
    pub(crate) fn home(&self, node: Node) -> (Router, usize) {
        if self.nodes_each == 1 {
            return (node, self.local);
        }
        (node / self.nodes_each, self.local + (node % self.nodes_each) as usize)
    }

    pub(super) fn node_at(&self, router: Router, port: usize) -> Node {
        router * self.nodes_each + (port - self.local) as Node
    }

    pub(super) fn is_local(&self, router: Router, port: usize) -> bool {
        let at = port.wrapping_sub(self.local);
        at < self.nodes_each as usize && router < self.homes()
    }

    /// Number of routers with nodes.
    pub(super) fn homes(&self) -> u32 {
        self.nodes / self.nodes_each
    }

    /// Number of classes of virtual channels, such as 2 on a grid with rings.
    pub(crate) fn classes(&self) -> usize {
        self.classes
    }

    /// The smallest number of virtual channels with which packets cannot deadlock. `None` if no
    /// such number is known.
    pub(super) fn safe_classes(&self) -> Option<usize> {
        self.wires.classes(&self.manner)
    }

    /// Whether a packet stays in its class of lanes on the way from its last router to the node.
    pub(super) fn keeps_classes(&self) -> bool {
        self.wires.class_at_home(&self.manner).is_some()
    }

    /// The class of virtual channels that a packet uses from the last router of its route to its
    /// node.
    pub(super) fn last_class(&self, route: &[Leg]) -> u8 {
        let at_home = || self.wires.class_at_home(&self.manner).unwrap_or(0);
        route.last().map_or_else(at_home, |leg| leg.class)
    }

    /// Number of directed links between routers.
    pub(crate) fn links(&self) -> usize {
        self.next.iter().filter(|&&(next, _)| next != NOWHERE).count()
    }

    /// The router behind a port, and the port of that router at the other end of the link.
    pub(super) fn next(&self, router: Router, port: usize) -> (Router, usize) {
        let (next, there) = self.next[router as usize * self.ports + port];
        (next, usize::from(there))
    }

    /// Output lane and input lane at the two ends of each channel of each link.
    ///
    /// Channel `c` of port `p` of router `r` has index `r << shift | p · channels + c`.
    pub(super) fn lanes(
        &self,
        shift: u32,
        channels: usize,
    ) -> impl Iterator<Item = (usize, usize)> {
        let ends = (0..self.routers()).flat_map(move |router| {
            (0..self.ports).map(move |port| ((router, port), self.next(router, port)))
        });
        let lane =
            move |(router, port): (Router, usize)| (router as usize) << shift | (port * channels);
        ends.filter(|(_, (next, _))| *next != NOWHERE).flat_map(move |(from, to)| {
            (0..channels).map(move |channel| (lane(from) + channel, lane(to) + channel))
        })
    }

    /// Extra cycles on every link through the ports of index `port`, compared with a link of
    /// latency 1.
    pub(super) fn length(&self, port: usize) -> Cycle {
        self.length[port]
    }

    /// Largest number of extra cycles of any link, compared with a link of latency 1.
    pub(super) fn longest(&self) -> Cycle {
        self.length.iter().copied().max().unwrap_or(0)
    }

    /// The largest number of legs of a route. A leg is a sequence of links through ports of equal
    /// index.
    pub(super) fn most_legs(&self) -> usize {
        self.wires.most_legs()
    }

    /// Whether the engine decides for each packet, by the lengths of queues, if the packet takes a
    /// detour.
    pub(super) fn adapts(&self) -> bool {
        self.manner.routing == Routing::Ugal && self.wires.classes(&self.manner) > Some(2)
    }

    /// The route between two nodes. If `detour` is set, it passes through another group of routers.
    /// `detour` matters only if the fabric [adapts](Fabric::adapts).
    pub(super) fn route(&self, from: Node, to: Node, coins: u64, detour: bool) -> Route {
        let detour = detour || self.manner.routing == Routing::Valiant;
        let mut route = self.wires.route(from, to, coins, &self.manner, detour);
        if self.classes == 1 {
            route.iter_mut().for_each(|leg| leg.class = 0);
        }
        route
    }

    pub(super) fn way(&self, route: &[Leg]) -> Way {
        let mut way = Way::default();
        if !self.has_global {
            way.links = route.iter().map(|leg| leg.hops).sum();
            return way;
        }
        for leg in route {
            if self.wires.is_global(usize::from(leg.port)) {
                way.global |= 1 << way.links;
            }
            way.links += leg.hops;
        }
        way
    }

    /// The links of the route between two nodes. Calls `coins` for random bits only if the machine
    /// has global links.
    #[inline]
    pub(super) fn way_between(&self, from: Node, to: Node, coins: impl FnOnce() -> u64) -> Way {
        if self.has_global {
            return self.way(&self.route(from, to, coins(), false));
        }
        Way { links: self.wires.distance(from, to), global: 0 }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::network::wormhole::{ClassRule, Upward};

    fn ringed(rule: ClassRule) -> WormholeConfig {
        WormholeConfig { class_rule: rule, ..WormholeConfig::default() }
    }

    fn grids() -> impl Strategy<Value = Topology> {
        prop::collection::vec((1_u32..6, any::<bool>()), 1..4).prop_map(|dimensions| {
            let (sides, rings): (Vec<u32>, Vec<bool>) = dimensions.into_iter().unzip();
            Topology::with_rings(&sides, &rings).unwrap()
        })
    }

    /// Small topologies of every wiring that can be simulated flit by flit, each with every routing
    /// policy.
    fn networks() -> Vec<(Topology, WormholeConfig)> {
        let mut all = Vec::new();
        let usual = WormholeConfig::default();
        for rings in [[true, true], [true, false], [false, true]] {
            for rule in [ClassRule::Static, ClassRule::Dateline] {
                all.push((Topology::with_rings(&[5, 4], &rings).unwrap(), ringed(rule)));
            }
        }
        all.push((Topology::tofu(&[3]).unwrap(), usual));
        all.push((Topology::torus(&[3, 4]).unwrap().with_processors(3).unwrap(), usual));
        for arity in [&[3, 3, 3][..], &[4, 2, 3], &[6, 4], &[2, 2, 2, 2], &[5]] {
            for upward in [Upward::Random, Upward::Fixed] {
                let setting = WormholeConfig { upward, ..usual };
                all.push((Topology::fat_tree(arity, 1.0).unwrap(), setting));
            }
        }
        all.push((Topology::fat_tree(&[4, 2, 2], 2.0).unwrap(), usual));
        for (p, a, h) in [(1, 2, 1), (2, 3, 1), (1, 2, 2), (1, 1, 3)] {
            for routing in [Routing::Minimal, Routing::Valiant, Routing::Ugal] {
                let setting = WormholeConfig { routing, ..usual };
                all.push((Topology::dragonfly(p, a, h).unwrap(), setting));
            }
        }
        all
    }

    /// Calls `visit` with the router, port and class of each link of a route; returns the last
    /// router.
    fn walk(
        fabric: &Fabric,
        from: Node,
        route: &[Leg],
        mut visit: impl FnMut(Router, usize, u8),
    ) -> Router {
        let mut at = fabric.home(from).0;
        for leg in route {
            assert!(leg.hops > 0 && usize::from(leg.class) < fabric.classes());
            for _ in 0..leg.hops {
                visit(at, usize::from(leg.port), leg.class);
                at = fabric.next(at, usize::from(leg.port)).0;
                assert_ne!(at, NOWHERE);
            }
        }
        at
    }

    proptest! {
        #[test]
        fn a_route_is_a_shortest_path(
            topology in grids(), from in any::<u32>(), to in any::<u32>(), coins in any::<u64>(),
        ) {
            for rule in [ClassRule::Static, ClassRule::Dateline] {
                let fabric = Fabric::new(&topology, &ringed(rule)).unwrap();
                let (from, to) = (from % fabric.nodes(), to % fabric.nodes());
                let route = fabric.route(from, to, coins, false);
                prop_assert!(route.len() <= fabric.most_legs());
                prop_assert!(route.windows(2).all(|legs| legs[0].port <= legs[1].port));
                let mut hops = 0;
                prop_assert_eq!(walk(&fabric, from, &route, |_, _, _| hops += 1), to);
                prop_assert_eq!(hops, topology.grid().distance(from, to));
            }
        }
    }

    /// Checks that no packets can wait for each other in a cycle. Lanes are the vertices of a
    /// graph. An edge leads from each lane on a route to the next lane on this route. The graph
    /// must have no cycle.
    #[test]
    fn no_packets_can_wait_for_each_other_in_a_circle() {
        let rings = (3_u32..12).flat_map(|side| {
            [ClassRule::Static, ClassRule::Dateline]
                .map(|rule| (Topology::torus(&[side]).unwrap(), ringed(rule)))
        });
        for (topology, setting) in rings.chain(networks()) {
            let fabric = Fabric::new(&topology, &setting).unwrap();
            let lanes = fabric.ports() * fabric.classes();
            let mut follows =
                vec![std::collections::BTreeSet::new(); fabric.routers() as usize * lanes];
            for from in 0..fabric.nodes() {
                for to in 0..fabric.nodes() {
                    for coins in 0..24 {
                        for detour in [false, true] {
                            let route = fabric.route(from, to, coins, detour && fabric.adapts());
                            let mut before: Option<usize> = None;
                            let end = walk(&fabric, from, &route, |router, port, class| {
                                let lane = router as usize * lanes
                                    + port * fabric.classes()
                                    + usize::from(class);
                                if let Some(before) = before.replace(lane) {
                                    follows[before].insert(lane);
                                }
                            });
                            assert_eq!(end, fabric.home(to).0, "{topology} {from} {to}");
                            assert!(route.len() <= fabric.most_legs());
                        }
                    }
                }
            }
            // Links without successors are removed until no such link is left.
            let mut left: Vec<bool> = vec![true; follows.len()];
            loop {
                let ends =
                    |&lane: &usize| left[lane] && follows[lane].iter().all(|&next| !left[next]);
                let ending: Vec<usize> = (0..left.len()).filter(ends).collect();
                if ending.is_empty() {
                    break;
                }
                ending.into_iter().for_each(|lane| left[lane] = false);
            }
            assert!(!left.contains(&true), "{topology}, {setting:?}");
        }
    }

    #[test]
    fn the_coin_decides_half_way_around() {
        let torus = Topology::torus(&[4, 4]).unwrap();
        let fabric = Fabric::new(&torus, &WormholeConfig::default()).unwrap();
        let ports = |coins| -> Vec<u16> {
            fabric.route(0, 10, coins, false).iter().map(|leg| leg.port).collect()
        };
        assert_eq!(
            [ports(0), ports(1), ports(2), ports(3)],
            [[0, 2], [1, 2], [0, 3], [1, 3]].map(Vec::from)
        );
    }

    #[test]
    fn sides_of_two_have_one_link() {
        let of = |topology: Topology| Fabric::new(&topology, &WormholeConfig::default()).unwrap();
        let cube = of(Topology::hypercube(3).unwrap());
        assert_eq!((cube.ports(), cube.links(), cube.classes()), (4, 24, 1));
        let torus = of(Topology::torus(&[2, 2, 2]).unwrap());
        assert_eq!((torus.links(), torus.classes()), (24, 1));
        let torus = of(Topology::torus(&[4, 1, 3]).unwrap());
        assert_eq!((torus.ports(), torus.links(), torus.classes()), (5, 48, 2));
    }

    /// Checks that every link has an opposite link of equal length. Checks also that no two ports
    /// lead to one node.
    #[test]
    fn links_go_both_ways() {
        for (topology, setting) in networks() {
            let fabric = Fabric::new(&topology, &setting).unwrap();
            let mut entered = std::collections::BTreeSet::new();
            let mut joined = std::collections::BTreeMap::<(Router, Router), i32>::new();
            for router in 0..fabric.routers() {
                for port in 0..fabric.ports() {
                    let (next, there) = fabric.next(router, port);
                    if next != NOWHERE {
                        assert!(entered.insert((next, there)), "{topology}: {router} {port}");
                        assert!(!fabric.is_local(router, port) && !fabric.is_local(next, there));
                        assert_eq!(fabric.length(port), fabric.length(there));
                        let sign = if router < next { 1 } else { -1 };
                        *joined.entry((router.min(next), router.max(next))).or_default() += sign;
                    }
                }
            }
            assert!(joined.values().all(|&balance| balance == 0), "{topology}");
            for node in 0..fabric.nodes() {
                let (router, port) = fabric.home(node);
                assert!(fabric.is_local(router, port) && fabric.node_at(router, port) == node);
            }
        }
    }
}
