//! Dragonflies: groups of routers, with a link between every two groups.

use std::sync::Arc;

use super::wires::{End, Leg, MAX_PORTS, Manner, Route, Router, Routing, Wires, below, mixed};
use super::{Grid, Node, Tiers, Topology, TopologyEntry, TopologyError, Wiring};
use crate::registry::{About, Kind, Param};

pub(crate) static ENTRY: TopologyEntry = TopologyEntry::new(
    About::new(
        "dragonfly",
        "groups of routers that all know each other, with one link between every two groups",
    )
    .definition(
        "A group has `a` routers, each with `p` nodes, a local link to every other router of the \
         group and `h` global links; there are a h + 1 groups, and between every two of them one \
         global link. Link j of group i, which is at its router j / h, leads to group j if that \
         comes before i and else to group j + 1. A packet takes at most one local link, the global \
         one, and another local one; or it goes by another group, of which see the network's \
         `routing`. The number of a node has three digits: its place at the router, the router in \
         the group, the group. It is no grid, and hands out processors by count.",
    )
    .complexity(
        "a p (a h + 1) nodes; the longest way of a packet that goes by no other group has 3 links.",
    )
    .source(
        "Kim, Dally, Scott & Abts, Technology-driven, highly-scalable dragonfly \
             topology, ISCA 2008",
    )
    .params(&[
        Param::new("p", Kind::Integer(1, u32::MAX as u64)).help("nodes of a router"),
        Param::new("a", Kind::Integer(1, u32::MAX as u64)).absent("2 p").help("routers of a group"),
        Param::new("h", Kind::Integer(1, u32::MAX as u64))
            .absent("p")
            .help("global links of a router"),
    ]),
    |params| {
        let p = params.integer("p") as u32;
        let a = params.get_integer("a").map_or(p.saturating_mul(2), |a| a as u32);
        let h = params.get_integer("h").map_or(p, |h| h as u32);
        let key = ["a", "h", "p"].into_iter().find(|key| params.has(key)).unwrap_or("p");
        Topology::dragonfly(p, a, h).map_err(|error| {
            params.problem(
                key,
                format!("{error} (p = {p}, a = {a} and h = {h} make a h + 1 groups of a p nodes)"),
            )
        })
    },
);

/// Routers of a dragonfly, numbered group by group, and their links.
///
/// On each router, ports to routers of its own group come first. Then come the ports of global
/// links, which lead to other groups.
#[derive(Clone, Copy, Debug)]
pub(super) struct Dragonfly {
    /// Number of nodes of a router. A group has `a` routers, and a router has `h` global links.
    p: u32,
    a: u32,
    h: u32,
    groups: u32,
}

impl Dragonfly {
    /// Port from a router to another router of its group. Both are given by their index in the
    /// group.
    fn local_port(from: u32, to: u32) -> u16 {
        (if to < from { to } else { to - 1 }) as u16
    }

    /// The router of group `from` that has the link to group `to`, and the port of this link.
    fn gateway(&self, from: u32, to: u32) -> (Router, u16) {
        let link = if to < from { to } else { to - 1 };
        (from * self.a + link / self.h, (self.a - 1 + link % self.h) as u16)
    }

    /// Extends a route from the router `at` to another group. Then sets `at` to the router reached.
    ///
    /// Only one router of a group has the global link to the other group. If `at` is not this
    /// router, the route first takes a local link to it. Then the route takes the global link.
    fn reach_group(&self, at: &mut Router, group: u32, local: u8, global: u8, route: &mut Route) {
        let (gateway, port) = self.gateway(*at / self.a, group);
        self.within_group(*at, gateway, local, route);
        route.push(Leg { port, class: global, hops: 1 });
        let end = self.link(gateway, usize::from(port)).expect("a gateway has its link");
        *at = end.router;
    }

    fn within_group(&self, from: Router, to: Router, class: u8, route: &mut Route) {
        if from != to {
            let port = Dragonfly::local_port(from % self.a, to % self.a);
            route.push(Leg { port, class, hops: 1 });
        }
    }
}

impl Wires for Dragonfly {
    fn routers(&self) -> u32 {
        self.a * self.groups
    }

    fn nodes_each(&self) -> u32 {
        self.p
    }

    fn ports(&self) -> usize {
        (self.a - 1 + self.h) as usize
    }

    fn link(&self, router: Router, port: usize) -> Option<End> {
        let (group, own, port) = (router / self.a, router % self.a, port as u32);
        if port < self.a - 1 {
            let other = if port < own { port } else { port + 1 };
            let back = usize::from(Dragonfly::local_port(other, own));
            return Some(End { router: group * self.a + other, port: back });
        }
        let link = own * self.h + (port - (self.a - 1));
        let there = if link < group { link } else { link + 1 };
        let (router, back) = self.gateway(there, group);
        Some(End { router, port: usize::from(back) })
    }

    fn is_global(&self, port: usize) -> bool {
        port as u32 >= self.a - 1
    }

    fn classes(&self, manner: &Manner) -> Option<usize> {
        Some(if manner.routing == Routing::Minimal { 2 } else { 3 })
    }

    fn class_at_home(&self, manner: &Manner) -> Option<u8> {
        Some(if manner.routing == Routing::Minimal { 0 } else { 2 })
    }

    fn most_legs(&self) -> usize {
        5
    }

    /// Route on which the classes of virtual channels never decrease, which rules out deadlock.
    ///
    /// Without detours, the class is 0 up to the link between groups, and 1 from this link on. If
    /// packets may take detours, the class is 0 up to the intermediate group, 1 up to the link that
    /// leaves this group, and 2 from this link on. Within one class, a global link comes after all
    /// local links or before all of them.
    fn route(&self, from: Node, to: Node, coins: u64, manner: &Manner, detour: bool) -> Route {
        let mut route = Route::new();
        let (mut at, end) = (from / self.p, to / self.p);
        let (source, group) = (at / self.a, end / self.a);
        let last = if manner.routing == Routing::Minimal { 1 } else { 2 };
        if source == group {
            // The route has one local link and none after it, so that any class will do.
            let class = self.class_at_home(manner).unwrap_or(0);
            self.within_group(at, end, class, &mut route);
            return route;
        }
        if detour {
            let by = below(mixed(coins), self.groups);
            if by != source && by != group {
                self.reach_group(&mut at, by, 0, 0, &mut route);
            }
        }
        self.reach_group(&mut at, group, last - 1, last, &mut route);
        self.within_group(at, end, last, &mut route);
        route
    }

    fn distance(&self, a: Node, b: Node) -> u32 {
        let (at, end) = (a / self.p, b / self.p);
        let (source, group) = (at / self.a, end / self.a);
        if source == group {
            return u32::from(at != end);
        }
        let (leaves, arrives) = (self.gateway(source, group).0, self.gateway(group, source).0);
        u32::from(at != leaves) + 1 + u32::from(arrives != end)
    }
}

impl Topology {
    /// A dragonfly of `a h + 1` groups with `a` routers each. A router has `p` nodes and `h` global
    /// links.
    ///
    /// ```
    /// use meshwork::topology::Topology;
    /// let dragonfly = Topology::dragonfly(2, 4, 2).unwrap();
    /// assert_eq!(dragonfly.nodes(), 2 * 4 * 9);
    /// assert_eq!((dragonfly.distance(0, 1), dragonfly.distance(0, 71)), (0, 3));
    /// ```
    ///
    /// # Errors
    /// If a number is 0, if there are too many nodes, or if a router has too many links.
    pub fn dragonfly(p: u32, a: u32, h: u32) -> Result<Topology, TopologyError> {
        let groups = u64::from(a) * u64::from(h) + 1;
        let ports = u64::from(p) + u64::from(a) + u64::from(h);
        if ports > MAX_PORTS {
            return Err(TopologyError::TooManyPorts);
        }
        if h == 0 {
            return Err(TopologyError::EmptySide);
        }
        let groups = u32::try_from(groups).map_err(|_| TopologyError::TooManyNodes)?;
        let grid = Grid::new(&[p, a, groups], false)?;
        let text = format!("dragonfly of {groups} groups of {a} routers with {p} nodes");
        let tiers = Tiers { leaf: p, group: p * a };
        let wires = Arc::new(Dragonfly { p, a, h, groups });
        Ok(Topology::bare(Wiring::Dragonfly, grid, text, Some(tiers), Some(wires)))
    }
}
