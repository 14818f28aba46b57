//! A wormhole network, simulated flit by flit.
//!
//! Packets of equal length go through routers that hold a few flits for each lane. The head of a
//! packet acquires one lane after another, the other flits follow, and every lane is held until the
//! tail of the packet has passed. Module `timing` has the delays, module `grants` the allocation of
//! lanes.
//!
//! Two engines compute identical results: the cycle engine, in which virtual channels share their
//! link flit by flit, and the worm engine, which is several times as fast and requires lanes that
//! do not share a link. [`Engine::new`] chooses.

mod bits;
mod calendar;
mod cycle;
mod fabric;
mod grants;
mod jobs;
mod lone;
mod message;
mod packets;
mod params;
mod switch;
mod timing;
mod turns;
mod wheel;
mod worm;

pub(crate) use fabric::{Fabric, Way};
pub(crate) use lone::Lone;
pub use message::{Delivery, Load, Message, Stuck, Turn};
pub(super) use params::{
    BUFFER, GLOBAL_LATENCY, LOCAL_LATENCY, OBLIVIOUS_ROUTING, PACKET_LENGTH, ROUTER_DELAY, TIMING,
    UPWARD, of_network,
};
pub use timing::Preset;

pub use super::Cycle;
use super::messaging::{self, Messaging};
use super::{NetworkContext, NetworkEntry};
use crate::registry::{About, Params, Problem};
use crate::topology::wires::Manner;
pub use crate::topology::wires::{ClassRule, Routing, Upward};
use crate::topology::{Node, Topology, Wiring};
use cycle::CycleEngine;
use timing::Timing;
use worm::WormEngine;

/// Registry entry of the network `wormhole`.
pub static ENTRY: NetworkEntry = NetworkEntry::new(
    About::new(
        "wormhole",
        "a job stays until its messages have arrived, in a network that is \
             simulated flit by flit; a unit of time is a cycle",
    )
    .aliases(&["flits"])
    .definition(
        "Messages are packets of flits on dimension-order ways. The head takes one \
             lane after another, the other flits follow, and each lane is held until \
             the tail has passed; a packet whose next lane is held stands where it is \
             and keeps its own. A job stays until all its messages have arrived, so \
             jobs that share links slow each other. A unit of time is a cycle.",
    )
    .complexity(
        "O(flits moved) with virtual channels that share a link, O(packets × \
             links) else; idle stretches cost nothing.",
    )
    .source(
        "Al-Kerboly, section III, after ProcSimity and NETSIM; router of Dally & \
             Towles for `booksim`",
    )
    .params(&[
        messaging::PATTERN,
        messaging::NUM_MESSAGES,
        messaging::QUOTA,
        messaging::ITERATIONS,
        messaging::THINK_TIME,
        messaging::SEND,
        messaging::DESTINATIONS,
        TIMING,
        ROUTER_DELAY,
        PACKET_LENGTH,
        BUFFER,
        params::VIRTUAL_CHANNELS,
        params::CLASS,
        params::LANES,
        UPWARD,
        params::ROUTING,
        params::UGAL_THRESHOLD,
        LOCAL_LATENCY,
        GLOBAL_LATENCY,
    ]),
    |params, machine| {
        let topology = only_site(params, machine)?;
        let NetworkContext { seed, replication, .. } = *machine;
        let setting = WormholeConfig::read(params, topology);
        let engine =
            Engine::new(topology, &setting).map_err(|problem| of_network(params, problem))?;
        let messaging = Messaging::new(params, seed, replication);
        let flits = setting.packet_length;
        Ok(Box::new(jobs::JobNetwork::new(engine, topology.grid(), flits, messaging)))
    },
)
.sends(true)
.shares(true)
.memory(|params, machine| {
    let topology = only_site(params, machine)?;
    let setting = WormholeConfig::read(params, topology);
    // Besides the network itself, the processes on each node are stored.
    let holders = 24 * u64::from(topology.nodes());
    let network = memory(topology, &setting).map_err(|problem| of_network(params, problem))?;
    Ok(network + holders)
});

fn only_site<'a>(params: &Params, machine: &NetworkContext<'a>) -> Result<&'a Topology, Problem> {
    let [topology] = machine.topologies else {
        let says = format!(
            "the network `wormhole` simulates the links of one site, and the machine has {}",
            machine.topologies.len()
        );
        return Err(Problem::new(params.path(), says));
    };
    Ok(topology)
}

/// How the virtual channels of a link use its bandwidth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lanes {
    /// All virtual channels of a link share its wires: one flit crosses the link in a cycle.
    Shared,
    /// Each virtual channel has wires of its own.
    Independent,
}

/// The parameters of a wormhole network.
///
/// ```
/// use meshwork::network::wormhole::{Engine, WormholeConfig};
/// use meshwork::topology::Topology;
/// let torus = Topology::torus(&[8, 8, 8]).unwrap();
/// let setting = WormholeConfig { virtual_channels: 2, ..WormholeConfig::default() };
/// let engine = Engine::new(&torus, &setting).unwrap();
/// assert_eq!(engine.zero_load(3), 4 * 3 + 11);
/// let one = Engine::new(&torus, &WormholeConfig { virtual_channels: 1, ..setting });
/// assert!(one.is_err_and(|problem| problem.message.contains("deadlock")));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WormholeConfig {
    /// Simulator, ProcSimity or BookSim, whose router timing is used.
    pub preset: Preset,
    /// Number of cycles that a router of ProcSimity takes to route the head of a packet.
    pub router_delay: u32,
    /// Flits in a packet, including the head and the tail.
    pub packet_length: u32,
    /// Flits that the buffer of each lane holds.
    pub buffer: u32,
    /// Number of virtual channels (lanes) of each link.
    pub virtual_channels: u32,
    /// Rule by which a packet chooses its class of virtual channels on a ring.
    pub class_rule: ClassRule,
    /// How the virtual channels of a link use its bandwidth.
    pub lanes: Lanes,
    /// How a packet chooses among the upward ports of a switch in a fat tree.
    pub upward: Upward,
    /// How packets are routed between groups of a dragonfly.
    pub routing: Routing,
    /// Threshold, in flits, at which [`Routing::Ugal`] takes a detour instead of the direct route.
    ///
    /// A packet takes the detour if the first link of the direct route holds more flits than this
    /// number plus twice the flits that the first link of the detour holds. `None` is 30 for
    /// BookSim's router, otherwise 0.
    pub ugal_threshold: Option<u32>,
    /// Latency of a link in cycles, for flits and for credits on their way back; at least 1.
    pub local_latency: u32,
    /// Latency of a link between groups in cycles, for flits and for credits; at least 1.
    pub global_latency: u32,
}

/// The router in the paper on ProcSimity.
///
/// It takes 3 cycles to route a head. Packets have 8 flits, and buffers hold 2 flits.
impl Default for WormholeConfig {
    fn default() -> WormholeConfig {
        WormholeConfig {
            preset: Preset::Procsimity,
            router_delay: 3,
            packet_length: 8,
            buffer: 2,
            virtual_channels: 2,
            class_rule: ClassRule::Static,
            lanes: Lanes::Shared,
            upward: Upward::Random,
            routing: Routing::Minimal,
            ugal_threshold: None,
            local_latency: 1,
            global_latency: 1,
        }
    }
}

/// Upper limit of three parameters: flits of a packet, flits of a buffer, cycles to route a head.
pub const MAX_FLITS: u32 = 1 << 16;

/// Largest number of lanes of a router. Sets of lanes are stored as words of 64 bits.
const MAX_LANES: usize = 64;

/// Maximum total size of all buffers of a network, in flits.
const MAX_PLACES: u64 = 1 << 28;

impl WormholeConfig {
    fn timing(&self) -> Timing {
        let links = [self.local_latency, self.global_latency];
        Timing::new(self.preset, Cycle::from(self.router_delay), links)
    }

    fn manner(&self) -> Manner {
        Manner { rings: self.class_rule, upward: self.upward, routing: self.routing }
    }

    /// Extra flits that must be queued on the direct route before a packet takes a detour (UGAL).
    fn threshold(&self) -> u64 {
        let usual = if self.preset == Preset::Booksim { 30 } else { 0 };
        self.ugal_threshold.unwrap_or(usual).into()
    }

    fn check(&self) -> Result<(), Problem> {
        for (key, number, least) in [
            ("packet_length", self.packet_length, 1),
            ("buffer", self.buffer, 1),
            ("router_delay", self.router_delay, 0),
            ("virtual_channels", self.virtual_channels, 1),
            ("local_latency", self.local_latency, 1),
            ("global_latency", self.global_latency, 1),
        ] {
            if number < least || number > MAX_FLITS {
                let says = format!(
                    "`{key}` is {number}, but must be a whole number from {least} to {MAX_FLITS}"
                );
                return Err(Problem::new(key, says));
            }
        }
        Ok(())
    }

    /// Checks that the lanes of a network avoid deadlock, and that lanes and buffers are within the
    /// limits.
    fn check_lanes(&self, topology: &Topology, fabric: &Fabric) -> Result<(), Problem> {
        let refuse = |key: &str, message: String| Err(Problem::new(key, message));
        let Some(classes) = fabric.safe_classes() else {
            return refuse(
                "topology",
                format!(
                    "no virtual channels are known here that keep packets on a {topology} out of a deadlock: \
                     the networks `hops` and `link_load` work on it"
                ),
            );
        };
        let channels = self.virtual_channels as usize;
        if fabric.classes() > 1 && !channels.is_multiple_of(classes) {
            let plural = if channels == 1 { "" } else { "s" };
            return refuse(
                "virtual_channels",
                if topology.wiring() == Wiring::Dragonfly {
                    format!(
                        "a dragonfly with {channels} virtual channel{plural} can deadlock, since packets between groups can \
                         wait for each other in a circle: with this `routing`, give a multiple of {classes} virtual \
                         channels"
                    )
                } else {
                    format!(
                        "a torus with {channels} virtual channel{plural} can deadlock, since packets on a ring can wait for each other in \
                         a circle: give an even number of virtual channels, 2 or more"
                    )
                },
            );
        }
        if fabric.ports() * channels > MAX_LANES {
            return refuse(
                "virtual_channels",
                format!(
                    "a router here has {} ports, which with {channels} virtual channels each makes more than \
                     {MAX_LANES} lanes",
                    fabric.ports()
                ),
            );
        }
        let lanes =
            u64::from(fabric.routers()) * (fabric.ports() * channels).next_power_of_two() as u64;
        if lanes * u64::from(self.buffer) > MAX_PLACES {
            return refuse(
                "buffer",
                format!(
                    "{} routers with buffers of {} flits need more memory than there is: at most \
                     {MAX_PLACES} flits in all",
                    fabric.routers(),
                    self.buffer
                ),
            );
        }
        if self.preset == Preset::Booksim && self.lanes == Lanes::Independent && channels > 1 {
            return refuse(
                "lanes",
                "in the router of `booksim` virtual channels share their link: independent lanes need \
                 `timing = \"procsimity\"`, or 1 virtual channel"
                    .to_owned(),
            );
        }
        if fabric.adapts() && self.lanes == Lanes::Independent {
            return refuse(
                "lanes",
                "`routing = \"ugal\"` looks at how full links are, which is watched where lanes share them: \
                 independent lanes need another routing"
                    .to_owned(),
            );
        }
        Ok(())
    }
}

/// Numbers of flits that moved, since the beginning of the simulation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Flits that have entered the network.
    pub injected: u64,
    /// Flits that have left the network.
    pub ejected: u64,
    /// Sum over all flits of the number of routers that each has crossed, including the last
    /// router.
    pub flit_hops: u64,
}

/// A network under simulation: its flits and its clock.
///
/// [`run`](Engine::run) simulates up to a given cycle, or until the [`Load`] pauses the network.
/// Within one cycle, messages arrive, the load may pause, messages begin, lanes are granted and
/// flits move. The preset determines whether lanes are granted before or after flits move. A node
/// whose queue was empty must be [woken](Engine::wake) when it has a message.
pub struct Engine {
    kind: Kind,
    timing: Timing,
    setting: WormholeConfig,
    links: usize,
}

enum Kind {
    Cycle(Box<CycleEngine>),
    Worm(Box<WormEngine>),
}

impl Engine {
    /// An empty network, simulated by the fastest engine that supports it.
    ///
    /// # Errors
    /// One sentence if the machine has no links, a number is out of bounds, or the network could
    /// deadlock.
    pub fn new(topology: &Topology, setting: &WormholeConfig) -> Result<Engine, Problem> {
        let by_worms = setting.virtual_channels == 1 || setting.lanes == Lanes::Independent;
        Engine::made(topology, setting, by_worms)
    }

    /// An empty network, simulated by the cycle engine, in which lanes share links. With one
    /// virtual channel, its results can be compared with those of the worm engine.
    ///
    /// # Errors
    /// The errors of [`new`](Engine::new).
    pub fn by_cycles(topology: &Topology, setting: &WormholeConfig) -> Result<Engine, Problem> {
        Engine::made(topology, setting, false)
    }

    fn made(
        topology: &Topology,
        setting: &WormholeConfig,
        by_worms: bool,
    ) -> Result<Engine, Problem> {
        let fabric = wires(topology, setting)?;
        let links = fabric.links();
        let kind = if by_worms {
            Kind::Worm(Box::new(WormEngine::new(fabric, setting)))
        } else {
            Kind::Cycle(Box::new(CycleEngine::new(fabric, setting)))
        };
        Ok(Engine { kind, timing: setting.timing(), setting: *setting, links })
    }

    /// The current cycle, in which no flit has moved yet.
    #[must_use]
    pub fn now(&self) -> Cycle {
        match &self.kind {
            Kind::Cycle(engine) => engine.now,
            Kind::Worm(engine) => engine.now,
        }
    }

    /// Numbers of flits that moved. The worm engine counts a flit as soon as the time of its move
    /// is known.
    #[must_use]
    pub fn counts(&self) -> Counts {
        match &self.kind {
            Kind::Cycle(engine) => engine.counts,
            Kind::Worm(engine) => engine.counts,
        }
    }

    /// Number of packets that have left their node's queue and have not arrived.
    #[must_use]
    pub fn in_flight(&self) -> usize {
        match &self.kind {
            Kind::Cycle(engine) => engine.packets.len(),
            Kind::Worm(engine) => engine.packets.len(),
        }
    }

    /// Number of directed links between routers.
    #[must_use]
    pub fn links(&self) -> usize {
        self.links
    }

    /// Cycles that a packet takes over `links` local (not global) links of an otherwise empty
    /// network.
    ///
    /// If a packet takes longer, it was blocked in the additional cycles.
    #[must_use]
    pub fn zero_load(&self, links: u32) -> Cycle {
        let way = Way { links, global: 0 };
        self.timing.zero_load(way, self.setting.packet_length, self.setting.buffer)
    }

    /// Signals that a node has a message to send from the current cycle on.
    pub fn wake(&mut self, node: Node) {
        match &mut self.kind {
            Kind::Cycle(engine) => engine.wake(node),
            Kind::Worm(engine) => engine.wake(node),
        }
    }

    /// Advances the network to cycle `until`, or until the load pauses it.
    ///
    /// Messages that arrive at the last cycle are delivered. Nothing else has happened in that
    /// cycle yet.
    ///
    /// # Errors
    /// If packets wait for each other so that none will ever move.
    pub fn run(&mut self, until: Cycle, load: &mut impl Load) -> Result<(), Stuck> {
        match &mut self.kind {
            Kind::Cycle(engine) => engine.run(until, load),
            Kind::Worm(engine) => engine.run(until, load),
        }
    }
}

fn wires(topology: &Topology, setting: &WormholeConfig) -> Result<Fabric, Problem> {
    let fabric = outline(topology, setting)?;
    setting.check_lanes(topology, &fabric)?;
    Ok(fabric.laid())
}

/// The fabric without its link tables, which takes little time for a machine of any size.
fn outline(topology: &Topology, setting: &WormholeConfig) -> Result<Fabric, Problem> {
    setting.check()?;
    Fabric::outline(topology, setting).map_err(|error| Problem::new("", error.to_string()))
}

/// Approximate memory of the link tables in bytes, with `each_port` extra bytes for each port.
pub(super) fn wires_memory(
    topology: &Topology,
    setting: &WormholeConfig,
    each_port: u64,
) -> Result<u64, Problem> {
    let fabric = outline(topology, setting)?;
    Ok(u64::from(fabric.routers()) * fabric.ports() as u64 * (8 + each_port))
}

/// Approximate memory of a network in bytes when most of its buffers are full. Measured on networks
/// of 65,536 to 262,144 nodes, with one to four dimensions and up to 64 lanes a router. Nothing is
/// allocated.
///
/// ```
/// use meshwork::network::wormhole::{WormholeConfig, memory};
/// use meshwork::topology::Topology;
/// let mesh = Topology::mesh(&[512, 512]).unwrap();
/// let bytes = memory(&mesh, &WormholeConfig::default()).unwrap();
/// assert!((200 << 20..300 << 20).contains(&bytes));
/// ```
///
/// # Errors
/// The errors of [`Engine::new`].
pub fn memory(topology: &Topology, setting: &WormholeConfig) -> Result<u64, Problem> {
    let fabric = outline(topology, setting)?;
    setting.check_lanes(topology, &fabric)?;
    let (channels, routers) = (setting.virtual_channels as usize, u64::from(fabric.routers()));
    let lanes = (fabric.ports() * channels).next_power_of_two() as u64;
    // In the worm engine, a lane also stores the arrival times of the flits in its buffer.
    let is_worm = setting.virtual_channels == 1 || setting.lanes == Lanes::Independent;
    let lane = if is_worm { 78 + 8 * u64::from(setting.buffer) } else { 37 };
    // Each further node of a router has its own source and queue.
    let more_nodes = u64::from(fabric.nodes()).saturating_sub(routers);
    Ok(routers.saturating_mul(430 + lanes * lane) + 200 * more_nodes)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::rng::Stream;

    /// A load in which every node always has a message for another node, up to a total number of
    /// messages.
    struct Flood {
        nodes: u32,
        left: u32,
        arrived: u32,
        rng: Stream,
    }

    impl Flood {
        fn new(nodes: u32, messages: u32, seed: u64) -> Flood {
            Flood { nodes, left: messages, arrived: 0, rng: Stream::new(seed, 0, "flood") }
        }
    }

    impl Load for Flood {
        fn next(&mut self, _: Node, now: Cycle) -> Turn {
            let Some(left) = self.left.checked_sub(1) else { return Turn::Nothing };
            self.left = left;
            let to = self.rng.below(self.nodes.into()) as Node;
            Turn::Message(Message { to, created: now, coins: self.rng.bits(), tag: 0 })
        }

        fn delivered(&mut self, _: &Delivery) -> Option<Node> {
            self.arrived += 1;
            None
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]

        /// Checks every cycle of a network at full load. Flits that have entered and not left must
        /// be in a buffer or on a link. For every buffer, credits, flits and free space must add up
        /// to its size.
        #[test]
        fn flits_and_credits_are_conserved_in_every_cycle(
            sides in prop::collection::vec(1_u32..5, 1..4),
            wrapped in any::<bool>(),
            is_booksim in any::<bool>(),
            dateline in any::<bool>(),
            packet_length in 1_u32..10,
            buffer in 1_u32..5,
            seed in any::<u64>(),
        ) {
            let made = if wrapped { Topology::torus(&sides) } else { Topology::mesh(&sides) };
            let topology = made.unwrap();
            let nodes = topology.nodes();
            let setting = WormholeConfig {
                preset: if is_booksim { Preset::Booksim } else { Preset::Procsimity },
                class_rule: if dateline { ClassRule::Dateline } else { ClassRule::Static },
                packet_length,
                buffer,
                ..WormholeConfig::default()
            };
            let mut engine = CycleEngine::new(wires(&topology, &setting).unwrap(), &setting);
            let mut load = Flood::new(nodes, 6 * nodes, seed);
            (0..nodes).for_each(|node| engine.wake(node));
            while engine.packets.len() > 0 || load.left > 0 {
                let next = engine.now + 1;
                engine.run(next, &mut load).unwrap();
                engine.audit(buffer);
            }
            prop_assert_eq!(load.arrived, 6 * nodes);
            prop_assert_eq!(engine.counts.ejected, u64::from(6 * nodes * packet_length));
        }
    }

    /// Simulates a configuration that users cannot choose: a ring with one class of lanes. The ring
    /// fills up and stops, and both engines report the deadlock.
    #[test]
    fn a_torus_with_one_virtual_channel_stops_and_says_so() {
        let torus = Topology::torus(&[8]).unwrap();
        let setting =
            WormholeConfig { virtual_channels: 1, packet_length: 32, ..WormholeConfig::default() };
        let refused = Engine::new(&torus, &setting).err().unwrap();
        assert_eq!(refused.path, "virtual_channels");
        assert!(refused.message.starts_with("a torus with 1 virtual channel can deadlock"));
        let fabric = || Fabric::with_classes(&torus, &setting, 1).unwrap();
        let mut cycle = CycleEngine::new(fabric(), &setting);
        let mut worm = WormEngine::new(fabric(), &setting);
        (0..8).for_each(|node| {
            cycle.wake(node);
            worm.wake(node);
        });
        for stuck in [
            cycle.run(1_000_000, &mut Flood::new(8, 800, 1)).unwrap_err(),
            worm.run(1_000_000, &mut Flood::new(8, 800, 1)).unwrap_err(),
        ] {
            let sentence = stuck.to_string();
            assert!(sentence.contains("which is a deadlock: router "), "{sentence}");
            assert!(stuck.packets >= 4 && stuck.since < 100_000);
        }
    }

    #[test]
    fn what_cannot_be_is_refused_in_a_sentence() {
        let mesh = Topology::mesh(&[4, 4]).unwrap();
        let torus = Topology::torus(&[4, 4]).unwrap();
        let usual = WormholeConfig::default();
        for (topology, setting, key, sentence) in [
            (
                &mesh,
                WormholeConfig { packet_length: 0, ..usual },
                "packet_length",
                "`packet_length` is 0, but must be a whole number from 1 to 65536",
            ),
            (
                &mesh,
                WormholeConfig { buffer: 0, ..usual },
                "buffer",
                "`buffer` is 0, but must be a whole number from 1 to 65536",
            ),
            (
                &torus,
                WormholeConfig { virtual_channels: 1, ..usual },
                "virtual_channels",
                "a torus with 1 virtual channel can deadlock, since packets on a ring can wait for \
                 each other in a circle: give an even number of virtual channels, 2 or more",
            ),
            (
                &torus,
                WormholeConfig { virtual_channels: 16, ..usual },
                "virtual_channels",
                "a router here has 5 ports, which with 16 virtual channels each makes more than 64 lanes",
            ),
            (
                &Topology::flat(9).unwrap(),
                usual,
                "",
                "messages need links between processors, and the machine is a flat machine of 9 \
                 processors: a mesh, torus or hypercube has them",
            ),
        ] {
            let refused = Engine::new(topology, &setting).err().unwrap();
            assert_eq!((refused.path.as_str(), refused.message.as_str()), (key, sentence));
        }
    }
}
