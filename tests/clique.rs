//! A topology defined outside of Meshwork: a clique, in which every two routers share a link.

use std::sync::Arc;

use meshwork::registry::{About, DefaultValue, Kind, Param};
use meshwork::topology::wires::{End, Leg, Manner, Route, Router, Wires};
use meshwork::topology::{Node, Tiers, Topology, TopologyEntry, Wiring};

pub(crate) static CLIQUE: TopologyEntry = TopologyEntry::new(
    About::new("clique", "every router has a link to every other one")
        .definition("Each of `routers` routers has `nodes` nodes and a link to every other router.")
        .complexity("r (r − 1) / 2 links between r routers.")
        .source("this test")
        .params(&[
            Param {
                name: "routers",
                kind: Kind::Integer(2, 64),
                default: DefaultValue::Required,
                help: "how many routers there are",
            },
            Param {
                name: "nodes",
                kind: Kind::Integer(1, 16),
                default: DefaultValue::Is("1"),
                help: "how many nodes each has",
            },
        ]),
    |params| {
        let clique = Clique {
            routers: params.integer("routers") as u32,
            nodes: params.integer("nodes") as u32,
        };
        let sides = [clique.nodes, clique.routers];
        let text = format!("clique of {} routers with {} nodes each", sides[1], sides[0]);
        let tiers = Tiers { leaf: sides[0], group: sides[0] * sides[1] };
        Topology::with_wires(Wiring::FatTree, &sides, text, tiers, Arc::new(clique))
            .map_err(|error| params.problem("routers", error.to_string()))
    },
);

#[derive(Debug)]
pub(crate) struct Clique {
    pub(crate) routers: u32,
    pub(crate) nodes: u32,
}

/// Port of a router that leads to another router.
///
/// The ports of a router lead to the other routers in ascending order, so port 0 leads to the other
/// router with the lowest number.
fn port(from: Router, to: Router) -> usize {
    (to - u32::from(to > from)) as usize
}

impl Wires for Clique {
    fn routers(&self) -> u32 {
        self.routers
    }

    fn nodes_each(&self) -> u32 {
        self.nodes
    }

    fn ports(&self) -> usize {
        self.routers as usize - 1
    }

    fn link(&self, router: Router, port: usize) -> Option<End> {
        let other = port as u32 + u32::from(port as u32 >= router);
        (other < self.routers).then(|| End { router: other, port: self::port(other, router) })
    }

    fn classes(&self, _manner: &Manner) -> Option<usize> {
        Some(1)
    }

    fn most_legs(&self) -> usize {
        1
    }

    fn route(&self, from: Node, to: Node, _coins: u64, _manner: &Manner, _detour: bool) -> Route {
        let (from, to) = (from / self.nodes, to / self.nodes);
        let leg = Leg { port: port(from, to) as u16, class: 0, hops: 1 };
        (from != to).then_some(leg).into_iter().collect()
    }

    fn distance(&self, a: Node, b: Node) -> u32 {
        u32::from(a / self.nodes != b / self.nodes)
    }
}
