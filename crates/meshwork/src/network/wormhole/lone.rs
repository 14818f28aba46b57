//! Times and routes of packets that do not wait for other packets in the network.

use super::Cycle;
use super::fabric::{Fabric, Way};
use super::timing::Alone;
use super::{WormholeConfig, outline};
use crate::registry::Problem;
use crate::topology::{Node, Topology};

/// Times and routes of packets without contention, used by the networks `hops` and `link_load`.
pub(crate) struct Lone {
    fabric: Fabric,
    alone: Alone,
}

impl Lone {
    /// Creates the packet model of a network for one machine.
    ///
    /// # Errors
    /// The errors of [`Engine::new`](super::Engine::new), except errors about lanes.
    pub(crate) fn new(topology: &Topology, setting: &WormholeConfig) -> Result<Lone, Problem> {
        let fabric = outline(topology, setting)?.laid();
        Ok(Lone { fabric, alone: Alone::new(setting) })
    }

    /// Number of links of a route, and which of them are global. If different routes between the
    /// two nodes can differ in these properties, `coins` is called for random bits that choose the
    /// route.
    #[must_use]
    #[inline]
    pub(crate) fn way(&self, from: Node, to: Node, coins: impl FnOnce() -> u64) -> Way {
        self.fabric.way_between(from, to, coins)
    }

    /// Number of directed links of the machine.
    pub(crate) fn links(&self) -> usize {
        self.fabric.links()
    }

    /// Cycles from when a packet is first in its sender's queue until it arrives, on a route `way`.
    pub(crate) fn arrives(&mut self, way: Way) -> Cycle {
        self.alone.arrives(way)
    }

    /// Cycles until the packet has left its node, so that the next packet of the node can begin.
    /// Time: **O(D L)** for a route of *D* links and packets of *L* flits, on the first call for
    /// such a route.
    pub(crate) fn leaves(&mut self, way: Way) -> Cycle {
        self.alone.leaves(way)
    }

    /// Calls a function with the index of every link on the route between two nodes. Indices are
    /// below [`places`](Lone::places).
    pub(crate) fn for_each_link(
        &self,
        from: Node,
        to: Node,
        coins: u64,
        mut visit: impl FnMut(usize),
    ) {
        let mut at = self.fabric.home(from).0;
        for leg in self.fabric.route(from, to, coins, false) {
            for _ in 0..leg.hops {
                let port = usize::from(leg.port);
                visit(at as usize * self.fabric.ports() + port);
                at = self.fabric.next(at, port).0;
            }
        }
    }

    /// Upper bound of the indices of links. Some indices below the bound stand for no link.
    pub(crate) fn places(&self) -> usize {
        self.fabric.routers() as usize * self.fabric.ports()
    }
}
