//! Open-loop traffic: every node creates packets at a given load, even if the network cannot carry
//! it.

use super::wormhole::{self, Cycle, Delivery, Engine, Load, Message, Stuck, Turn, WormholeConfig};
use crate::registry::{About, Family, Problem, abouts, named, with_article};
use crate::rng::{Stream, keyed};
use crate::topology::{Grid, Node, Topology};

/// Registry entry of a traffic pattern, which gives each packet of a node its destination.
pub struct TrafficEntry {
    /// Name, definition and parameters of the traffic pattern.
    pub about: About,
    /// Draws or computes the destination of a packet. The arguments include the sending node.
    to: fn(&Topology, Node, &mut Stream) -> Node,
    /// Checks that the pattern is defined on a machine; the error is one sentence.
    serves: fn(&Topology) -> Result<(), String>,
}

named!(TrafficEntry);

/// All traffic patterns of this crate.
pub static TRAFFIC: &[&TrafficEntry] =
    &[&UNIFORM, &TRANSPOSE, &BIT_COMPLEMENT, &TORNADO, &NEIGHBOUR, &NEXT_GROUP, &HOTSPOT];

/// The family of traffic patterns, which are selected by name.
pub static FAMILY: Family =
    Family { kind: "traffic", key: "name", entries: || abouts(TRAFFIC), common: &[] };

const BOOK: &str =
    "Dally & Towles, Principles and Practices of Interconnection Networks, section 3.2";

static UNIFORM: TrafficEntry = TrafficEntry {
    about: About::new("uniform", "every packet to any node, its own among them")
        .aliases(&["random"])
        .definition("Each packet goes to a node drawn from all nodes, the sender among them.")
        .complexity("One random number for each packet.")
        .source(BOOK),
    to: |machine, _, rng| rng.below(u64::from(machine.nodes())) as Node,
    serves: |_| Ok(()),
};

static TRANSPOSE: TrafficEntry = TrafficEntry {
    about: About::new(
        "transpose",
        "the coordinates in reverse order, as of a matrix; on a hypercube their halves exchanged",
    )
    .definition(
        "A node sends to the one whose coordinates are its own in reverse order; on a hypercube, \
         whose address has the two halves exchanged. Sides have to read the same backwards.",
    )
    .complexity("O(d) for each packet in d dimensions.")
    .source(BOOK),
    to: |machine, node, _| {
        let grid = machine.grid();
        let mut at = grid.coordinates(node);
        if is_cube(grid) {
            let half = at.len() / 2;
            at.rotate_left(half);
        } else {
            at.reverse();
        }
        grid.node(&at)
    },
    serves: |machine| {
        let grid = on_a_grid("transpose", machine)?;
        let sides = grid.sides();
        if is_cube(grid) && !sides.len().is_multiple_of(2) {
            return Err(format!(
                "`transpose` exchanges the halves of an address, and a hypercube of dimension {} has an odd \
                 number of bits",
                sides.len()
            ));
        }
        if sides.iter().eq(sides.iter().rev()) {
            return Ok(());
        }
        Err("`transpose` needs sides that read the same backwards, such as 8 × 8".to_owned())
    },
};

static BIT_COMPLEMENT: TrafficEntry = TrafficEntry {
    about: About::new(
        "bit_complement",
        "the complement of every bit of the address: the node opposite to the middle",
    )
    .aliases(&["bitcomp"])
    .definition(
        "Node i of n sends to node n − 1 − i. The number of nodes has to be a power of two.",
    )
    .complexity("O(1) for each packet.")
    .source(BOOK),
    to: |machine, node, _| machine.nodes() - 1 - node,
    serves: |machine| {
        if machine.nodes().is_power_of_two() {
            return Ok(());
        }
        Err(format!(
            "`bit_complement` needs a number of nodes that is a power of two, and the machine has {}",
            machine.nodes()
        ))
    },
};

static TORNADO: TrafficEntry = TrafficEntry {
    about: About::new("tornado", "nearly half way around every dimension, upwards")
        .definition(
            "In every dimension of side k, a node sends ⌈k/2⌉ − 1 steps upwards, around the edge.",
        )
        .complexity("O(d) for each packet in d dimensions.")
        .source(BOOK),
    to: |machine, node, _| shifted(machine.grid(), node, |side| side.div_ceil(2) - 1),
    serves: |machine| on_a_grid("tornado", machine).map(drop),
};

static NEIGHBOUR: TrafficEntry = TrafficEntry {
    about: About::new("neighbour", "one step up in every dimension, around the edge")
        .aliases(&["neighbor"])
        .definition("A node sends one step upwards in every dimension, around the edge.")
        .complexity("O(d) for each packet in d dimensions.")
        .source(BOOK),
    to: |machine, node, _| shifted(machine.grid(), node, |_| 1),
    serves: |machine| on_a_grid("neighbour", machine).map(drop),
};

static NEXT_GROUP: TrafficEntry = TrafficEntry {
    about: About::new(
        "next_group",
        "every packet to any node of the next group: on a dragonfly all of a group share one link",
    )
    .aliases(&["adversarial"])
    .definition(
        "A node sends to nodes drawn from the next group, the last group to the first. On a \
         dragonfly, where one link joins two groups, no minimal way can carry more than that link; \
         on a fat tree a group is a subtree below the top, so that every packet crosses it.",
    )
    .complexity("One random number for each packet.")
    .source(
        "Kim, Dally, Scott & Abts, Technology-driven, highly-scalable dragonfly \
             topology, ISCA 2008, section 4.2",
    ),
    to: |machine, node, rng| {
        let group = machine.tiers().map_or(1, |tiers| tiers.group);
        let next = (node / group + 1) % (machine.nodes() / group);
        next * group + rng.below(u64::from(group)) as Node
    },
    serves: |machine| match machine.tiers() {
        Some(tiers) if tiers.group < machine.nodes() => Ok(()),
        _ => Err(format!(
            "`next_group` needs groups of nodes, as a dragonfly and a fat tree have, and the machine is {}",
            with_article(machine)
        )),
    },
};

/// On average, one packet in this number goes to the fixed node of the pattern `hotspot`.
const HOT: u64 = 10;

static HOTSPOT: TrafficEntry = TrafficEntry {
    about: About::new(
        "hotspot",
        "every tenth packet to the node in the middle, all others to any node",
    )
    .definition(
        "One packet in ten, drawn at random, goes to the node in the middle; all \
             others go to a node drawn from all.",
    )
    .complexity("Two random numbers for each packet.")
    .source(
        "Pfister & Norton, Hot spot contention and combining, IEEE Trans. Computers 34(10), 1985",
    ),
    to: |machine, _, rng| {
        let grid = machine.grid();
        if rng.below(HOT) == 0 {
            let middle: Vec<u32> = grid.sides().iter().map(|side| side / 2).collect();
            return grid.node(&middle);
        }
        rng.below(u64::from(grid.nodes())) as Node
    },
    serves: |_| Ok(()),
};

/// Returns the grid along whose dimensions a machine's links run, or an error of one sentence.
fn on_a_grid<'a>(pattern: &str, machine: &'a Topology) -> Result<&'a Grid, String> {
    if machine.wiring().is_grid() {
        return Ok(machine.grid());
    }
    Err(format!(
        "`{pattern}` goes along the dimensions of a grid, and the machine is {}",
        with_article(machine)
    ))
}

fn is_cube(grid: &Grid) -> bool {
    grid.sides().iter().all(|&side| side == 2)
}

fn shifted(grid: &Grid, node: Node, by: impl Fn(u32) -> u32) -> Node {
    let mut at = grid.coordinates(node);
    for (at, &side) in at.iter_mut().zip(grid.sides()) {
        *at = (*at + by(side)) % side;
    }
    grid.node(&at)
}

impl Offered {
    /// Approximate memory of the simulation in bytes. Nothing is allocated.
    ///
    /// # Errors
    /// If the parameters of the network are invalid.
    pub fn memory(&self) -> Result<u64, Problem> {
        wormhole::memory(&self.topology, &self.setting)
    }
}

/// A simulation of open-loop traffic at one load.
#[derive(Clone, Debug)]
pub struct Offered {
    /// The machine whose network is simulated.
    pub topology: Topology,
    /// The parameters of the network.
    pub setting: WormholeConfig,
    /// The traffic pattern, which chooses destinations.
    pub traffic: &'static TrafficEntry,
    /// Mean number of flits that each node offers per cycle: above 0, at most 1.
    pub load: f64,
    /// Warm-up cycles before measurement begins.
    pub warmup: Cycle,
    /// Number of measured cycles, after the warm-up.
    pub cycles: Cycle,
    /// The seed of all random numbers of the simulation.
    pub seed: u64,
}

impl std::fmt::Debug for TrafficEntry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.about.name)
    }
}

/// Measurements of the traffic that a network carried.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Carried {
    /// Flits received, per node and measured cycle.
    pub accepted: f64,
    /// Mean cycles from the creation of a packet to the arrival of its tail. The mean is over
    /// packets that arrived in measured cycles; `None` if there were none.
    pub latency: Option<f64>,
    /// Mean cycles from when a packet is first in its node's queue until the tail of the packet
    /// arrives.
    pub network_latency: Option<f64>,
    /// Mean number of cycles in which a packet did not advance although it would have in an idle
    /// network.
    pub blocking: Option<f64>,
    /// Mean number of links on the route of a packet.
    pub hops: Option<f64>,
    /// Share of the measured cycles in which a link carried a flit, averaged over links.
    pub utilization: f64,
    /// Number of packets that arrived in measured cycles.
    pub packets: u64,
    /// Simulated cycles, including the warm-up.
    pub cycles: Cycle,
    /// Number of times that a flit crossed a router, over all flits and all simulated cycles.
    pub flit_hops: u64,
}

/// Simulates a network under one load.
///
/// # Errors
/// If the network or the load is invalid, or the pattern is not defined on the machine.
/// Configurations that could deadlock are refused, so a deadlock is reported as a bug.
///
/// # Complexity
/// Time grows with the flits that move. Memory grows with the network but not with the queues of
/// its nodes, whose packets are drawn when they are due.
pub fn carry(offered: &Offered) -> Result<Carried, Problem> {
    let Offered { topology, setting, traffic, load, warmup, cycles, seed } = offered;
    if !(*load > 0.0 && *load <= 1.0) {
        let says = format!(
            "a load is {load}, but must be a number above 0 and at most 1, flits per node and \
             cycle"
        );
        return Err(Problem::new("load", says));
    }
    let mut engine = Engine::new(topology, setting)?;
    (traffic.serves)(topology).map_err(|message| Problem::new("traffic", message))?;
    let chance = load / f64::from(setting.packet_length);
    let mut open = OpenLoop {
        topology,
        traffic,
        seed: *seed,
        log_of_none: libm::log1p(-chance),
        nodes: Vec::new(),
        seen: Seen::default(),
    };
    for node in 0..topology.nodes() {
        let rng = Stream::new(*seed, 0, &format!("traffic.{node}"));
        open.nodes.push(Source { rng, sent: 0, next: 0 });
        open.nodes[node as usize].next = open.gap(node) - 1;
        engine.wake(node);
    }
    let stuck =
        |stuck: Stuck| Problem::new("", format!("a bug in Meshwork, please report it: {stuck}"));
    engine.run(*warmup, &mut open).map_err(stuck)?;
    open.seen = Seen::default();
    let before = engine.counts();
    engine.run(warmup + cycles, &mut open).map_err(stuck)?;
    let after = engine.counts();
    let Seen { packets, latency, network_latency, alone, hops } = open.seen;
    let mean = |sum: u64| (packets > 0).then(|| sum as f64 / packets as f64);
    let (measured, nodes) = (*cycles as f64, f64::from(topology.nodes()));
    let over_links = after.flit_hops - before.flit_hops - (after.ejected - before.ejected);
    let flits = packets * u64::from(setting.packet_length);
    let blocking = mean(latency - alone);
    Ok(Carried {
        accepted: flits as f64 / nodes / measured,
        latency: mean(latency),
        network_latency: mean(network_latency),
        blocking,
        hops: mean(hops),
        utilization: over_links as f64 / (engine.links().max(1) as f64 * measured),
        packets,
        cycles: warmup + cycles,
        flit_hops: after.flit_hops,
    })
}

/// A node that creates packets: its random stream, packet count, and cycle of the next packet.
struct Source {
    rng: Stream,
    sent: u64,
    next: Cycle,
}

struct OpenLoop<'a> {
    topology: &'a Topology,
    traffic: &'a TrafficEntry,
    seed: u64,
    /// The logarithm of the probability that a node creates no packet in a given cycle.
    log_of_none: f64,
    nodes: Vec<Source>,
    seen: Seen,
}

/// Sums over the packets that have arrived since measurement began.
#[derive(Default)]
struct Seen {
    packets: u64,
    latency: u64,
    network_latency: u64,
    alone: u64,
    hops: u64,
}

impl OpenLoop<'_> {
    /// Cycles from one packet of a node to its next, geometrically distributed.
    fn gap(&mut self, node: Node) -> Cycle {
        let unit = self.nodes[node as usize].rng.unit();
        1 + (libm::log(unit) / self.log_of_none) as Cycle
    }
}

impl Load for OpenLoop<'_> {
    fn next(&mut self, node: Node, now: Cycle) -> Turn {
        let source = &mut self.nodes[node as usize];
        let created = source.next;
        if created > now {
            return Turn::At(created);
        }
        source.sent += 1;
        let coins = keyed(self.seed, u64::from(node), source.sent);
        let to = (self.traffic.to)(self.topology, node, &mut source.rng);
        self.nodes[node as usize].next = created + self.gap(node);
        Turn::Message(Message { to, created, coins, tag: 0 })
    }

    fn delivered(&mut self, delivery: &Delivery) -> Option<Node> {
        self.seen.packets += 1;
        self.seen.latency += delivery.at - delivery.message.created;
        self.seen.network_latency += delivery.at - delivery.started;
        self.seen.alone += delivery.alone;
        self.seen.hops += u64::from(delivery.hops);
        None
    }
}
