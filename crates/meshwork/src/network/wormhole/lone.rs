//! A packet that is alone in the network: when it has left, when it has arrived, and where it passes.

use std::collections::BTreeMap;

use super::Cycle;
use super::fabric::{ClassRule, Fabric};
use super::timing::Timing;
use super::{WormholeConfig, wires};
use crate::registry::Problem;
use crate::topology::{Node, Topology};

/// Times and ways of packets that meet nobody: what the cheap networks are made of.
pub(crate) struct Lone {
    fabric: Fabric,
    timing: Timing,
    setting: WormholeConfig,
    left: BTreeMap<u32, Cycle>,
}

impl Lone {
    /// The packets of this network.
    ///
    /// # Errors
    /// As for [`Engine::new`](super::Engine::new).
    pub(crate) fn new(topology: &Topology, setting: &WormholeConfig) -> Result<Lone, Problem> {
        let fabric = wires(topology, setting)?;
        Ok(Lone { fabric, timing: setting.timing(), setting: *setting, left: BTreeMap::new() })
    }

    /// Links between two nodes.
    #[must_use]
    pub(crate) fn distance(&self, from: Node, to: Node) -> u32 {
        self.fabric.grid().distance(from, to)
    }

    /// Directed links of the machine.
    #[must_use]
    pub(crate) fn links(&self) -> usize {
        self.fabric.links()
    }

    /// Cycles until it has arrived over so many links.
    #[must_use]
    pub(crate) fn arrives(&self, links: u32) -> Cycle {
        self.timing.zero_load(links, self.setting.packet_length, self.setting.buffer)
    }

    /// Cycles until it has left its node, and the next packet there can begin.
    ///
    /// # Complexity
    /// **O(D L)** for a way of *D* links and packets of *L* flits, the first time that it is asked for such
    /// a way.
    pub(crate) fn leaves(&mut self, links: u32) -> Cycle {
        let WormholeConfig { packet_length, buffer, .. } = self.setting;
        *self.left.entry(links).or_insert_with(|| self.timing.leaves(links, packet_length, buffer))
    }

    /// The links on the way between two nodes, as numbers below [`places`](Lone::places).
    pub(crate) fn for_each_link(
        &self,
        from: Node,
        to: Node,
        coins: u64,
        mut visit: impl FnMut(usize),
    ) {
        let mut at = from;
        for leg in self.fabric.route(from, to, coins, ClassRule::Static) {
            for _ in 0..leg.hops {
                let port = usize::from(leg.port);
                visit(at as usize * self.fabric.ports() + port);
                at = self.fabric.next(at, port);
            }
        }
    }

    /// One more than the largest number of a link.
    #[must_use]
    pub(crate) fn places(&self) -> usize {
        self.fabric.nodes() as usize * self.fabric.ports()
    }
}
