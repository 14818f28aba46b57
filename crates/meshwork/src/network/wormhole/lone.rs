//! A packet that is alone in the network: when it has left, when it has arrived, and where it passes.

use super::Cycle;
use super::fabric::{Fabric, Way};
use super::timing::Alone;
use super::{WormholeConfig, outline};
use crate::registry::Problem;
use crate::topology::{Node, Topology};

/// Times and ways of packets that meet nobody: what the cheap networks are made of.
pub(crate) struct Lone {
    fabric: Fabric,
    alone: Alone,
}

impl Lone {
    /// The packets of this network.
    ///
    /// # Errors
    /// As for [`Engine::new`](super::Engine::new).
    pub(crate) fn new(topology: &Topology, setting: &WormholeConfig) -> Result<Lone, Problem> {
        let fabric = outline(topology, setting)?.laid();
        Ok(Lone { fabric, alone: Alone::new(setting) })
    }

    /// The links between two nodes; the coins are thrown only where there are several ways.
    #[must_use]
    #[inline]
    pub(crate) fn way(&self, from: Node, to: Node, coins: impl FnOnce() -> u64) -> Way {
        self.fabric.way_between(from, to, coins)
    }

    /// Directed links of the machine.
    #[must_use]
    pub(crate) fn links(&self) -> usize {
        self.fabric.links()
    }

    /// Cycles until it has arrived over these links.
    #[must_use]
    pub(crate) fn arrives(&mut self, way: Way) -> Cycle {
        self.alone.arrives(way)
    }

    /// Cycles until it has left its node, and the next packet there can begin.
    ///
    /// # Complexity
    /// **O(D L)** for a way of *D* links and packets of *L* flits, the first time that it is asked for such
    /// a way.
    pub(crate) fn leaves(&mut self, way: Way) -> Cycle {
        self.alone.leaves(way)
    }

    /// The links on the way between two nodes, as numbers below [`places`](Lone::places).
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

    /// One more than the largest number of a link.
    #[must_use]
    pub(crate) fn places(&self) -> usize {
        self.fabric.routers() as usize * self.fabric.ports()
    }
}
