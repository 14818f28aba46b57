//! The parameters of the wormhole network in studies.

use super::{ClassRule, Lanes, MAX_FLITS, Preset, Routing, Upward, WormholeConfig};
use crate::registry::{Kind, Param, Params, Problem, Words};
use crate::topology::Topology;

static PRESETS: Words<Preset, 2> =
    Words::new([("procsimity", Preset::Procsimity), ("booksim", Preset::Booksim)]);

static CLASS_RULES: Words<ClassRule, 2> =
    Words::new([("static", ClassRule::Static), ("dateline", ClassRule::Dateline)]);

static LANE_RULES: Words<Lanes, 2> =
    Words::new([("shared", Lanes::Shared), ("independent", Lanes::Independent)]);

static UPWARDS: Words<Upward, 2> =
    Words::new([("random", Upward::Random), ("fixed", Upward::Fixed)]);

static ROUTINGS: Words<Routing, 3> = Words::new([
    ("minimal", Routing::Minimal),
    ("valiant", Routing::Valiant),
    ("ugal", Routing::Ugal),
]);

pub(crate) const TIMING: Param = Param::new("timing", PRESETS.kind())
    .is("\"procsimity\"")
    .help("whose router it is: what takes how many cycles, and who goes first");

pub(crate) const ROUTER_DELAY: Param =
    Param::new("router_delay", Kind::Integer(0, MAX_FLITS as u64))
        .is("3")
        .help("cycles in which a router of `procsimity` routes a head");

pub(crate) const PACKET_LENGTH: Param =
    Param::new("packet_length", Kind::Integer(1, MAX_FLITS as u64))
        .is("8")
        .help("flits in a packet, which is one message");

pub(crate) const BUFFER: Param = Param::new("buffer", Kind::Integer(1, MAX_FLITS as u64))
    .is("2")
    .help("flits that the buffer of a lane holds");

pub(super) const VIRTUAL_CHANNELS: Param = Param::new("virtual_channels", Kind::Integer(1, 64))
    .absent(
        "2 where there are rings, 2 on a dragonfly, or 3 where packets may take a detour, 1 \
         elsewhere",
    )
    .help("lanes of each link");

pub(super) const CLASS: Param = Param::new("class", CLASS_RULES.kind()).is("\"static\"").help(
    "which class of lanes a packet uses on a ring: one for all of its way, or another from the \
         edge on",
);

pub(super) const LANES: Param = Param::new("lanes", LANE_RULES.kind())
    .is("\"shared\"")
    .help("whether the lanes of a link take turns on it, or each has wires of its own");

pub(crate) const UPWARD: Param = Param::new("upward", UPWARDS.kind()).absent("\"random\"").help(
    "through which port a packet goes up a fat tree: one that is drawn, or one that its \
         destination says",
);

pub(super) const ROUTING: Param =
    Param::new("routing", ROUTINGS.kind()).absent("\"minimal\"").help(
        "ways between groups of a dragonfly: the direct link, by a group that is drawn, or the one \
         of both whose first link is less full",
    );

/// Parameter for the routing in the networks `hops` and `link_load`. These networks have no queues,
/// so their routing cannot adapt to the lengths of queues.
pub(crate) const OBLIVIOUS_ROUTING: Param =
    Param::new("routing", Kind::Choice(&["minimal", "valiant"]))
        .absent("\"minimal\"")
        .help("ways between groups of a dragonfly: the direct link, or by a group that is drawn");

pub(super) const UGAL_THRESHOLD: Param =
    Param::new("ugal_threshold", Kind::Integer(0, MAX_FLITS as u64))
        .absent("30 with `timing = \"booksim\"`, else 0")
        .help(
            "flits by which the first link of the direct way has to hold more than twice that of \
             the other way before `ugal` takes the other",
        );

pub(crate) const LOCAL_LATENCY: Param =
    Param::new("local_latency", Kind::Integer(1, MAX_FLITS as u64)).absent("1").help(
        "cycles in which a flit crosses a link, or a credit on its way back; on a dragonfly one \
         within a group",
    );

pub(crate) const GLOBAL_LATENCY: Param =
    Param::new("global_latency", Kind::Integer(1, MAX_FLITS as u64))
        .absent("1")
        .help("the same for a link between groups of a dragonfly");

impl WormholeConfig {
    /// Reads the configuration of a network. Without parameters for lanes, the defaults are used.
    pub(crate) fn read(params: &Params, topology: &Topology) -> WormholeConfig {
        let whole = |key| params.get_integer(key).map(|number| number as u32);
        let mut setting = WormholeConfig {
            preset: params.meaning(TIMING.name, &PRESETS),
            router_delay: params.integer("router_delay") as u32,
            packet_length: params.integer("packet_length") as u32,
            buffer: params.integer("buffer") as u32,
            virtual_channels: 1,
            class_rule: params.get_meaning(CLASS.name, &CLASS_RULES).unwrap_or_default(),
            lanes: params.get_meaning(LANES.name, &LANE_RULES).unwrap_or(Lanes::Shared),
            upward: params.get_meaning(UPWARD.name, &UPWARDS).unwrap_or_default(),
            routing: params.get_meaning(ROUTING.name, &ROUTINGS).unwrap_or_default(),
            ugal_threshold: whole("ugal_threshold"),
            local_latency: whole("local_latency").unwrap_or(1),
            global_latency: whole("global_latency").unwrap_or(1),
        };
        setting.virtual_channels =
            whole("virtual_channels").unwrap_or_else(|| setting.usual_channels(topology));
        setting
    }

    /// The smallest number of virtual channels that avoids deadlock; 1 if no such number is known.
    #[must_use]
    pub fn usual_channels(&self, topology: &Topology) -> u32 {
        let classes = topology.wires().and_then(|wires| wires.classes(&self.manner()));
        classes.unwrap_or(1) as u32
    }
}

/// Adds the path of the faulty key in the study to an error about the configuration of a network.
pub(crate) fn of_network(params: &Params, problem: Problem) -> Problem {
    if problem.path.is_empty() || problem.path == "topology" {
        return Problem::new(params.path(), problem.message);
    }
    params.problem(&problem.path, problem.message)
}
