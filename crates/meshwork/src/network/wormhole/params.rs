//! The parameters of the network in studies.

use super::{ClassRule, Lanes, MAX_FLITS, Preset, WormholeConfig};
use crate::registry::{DefaultValue as Left, Kind, Param, Params, Problem, Words};
use crate::topology::Topology;

static PRESETS: Words<Preset, 2> =
    Words::new([("procsimity", Preset::Procsimity), ("booksim", Preset::Booksim)]);

static CLASS_RULES: Words<ClassRule, 2> =
    Words::new([("static", ClassRule::Static), ("dateline", ClassRule::Dateline)]);

static LANE_RULES: Words<Lanes, 2> =
    Words::new([("shared", Lanes::Shared), ("independent", Lanes::Independent)]);

/// Whose router it is.
pub(crate) const TIMING: Param = Param {
    name: "timing",
    kind: PRESETS.kind(),
    default: Left::Is("\"procsimity\""),
    help: "whose router it is: what takes how many cycles, and who goes first",
};

/// How long a head is routed.
pub(crate) const ROUTER_DELAY: Param = Param {
    name: "router_delay",
    kind: Kind::Integer(0, MAX_FLITS as u64),
    default: Left::Is("3"),
    help: "cycles in which a router of `procsimity` routes a head",
};

/// Flits in a packet.
pub(crate) const PACKET_LENGTH: Param = Param {
    name: "packet_length",
    kind: Kind::Integer(1, MAX_FLITS as u64),
    default: Left::Is("8"),
    help: "flits in a packet, which is one message",
};

/// Flits in a buffer.
pub(crate) const BUFFER: Param = Param {
    name: "buffer",
    kind: Kind::Integer(1, MAX_FLITS as u64),
    default: Left::Is("2"),
    help: "flits that the buffer of a lane holds",
};

/// Lanes of a link.
pub(super) const VIRTUAL_CHANNELS: Param = Param {
    name: "virtual_channels",
    kind: Kind::Integer(1, 64),
    default: Left::Absent("2 where there are rings, 1 elsewhere"),
    help: "lanes of each link",
};

/// Which class of them a packet uses.
pub(super) const CLASS: Param = Param {
    name: "class",
    kind: CLASS_RULES.kind(),
    default: Left::Is("\"static\""),
    help: "which class of lanes a packet uses on a ring: one for all of its way, or another from the edge on",
};

/// Whether they share the link.
pub(super) const LANES: Param = Param {
    name: "lanes",
    kind: LANE_RULES.kind(),
    default: Left::Is("\"shared\""),
    help: "whether the lanes of a link take turns on it, or each has wires of its own",
};

impl WormholeConfig {
    /// What a study says; networks without lanes do not say how many there are.
    pub(crate) fn read(params: &Params, topology: &Topology) -> WormholeConfig {
        let grid = topology.grid();
        let has_rings = grid.is_wrapped() && grid.sides().iter().any(|&side| side > 2);
        let usual = if has_rings { 2 } else { 1 };
        WormholeConfig {
            preset: params.meaning(TIMING.name, &PRESETS),
            router_delay: params.integer("router_delay") as u32,
            packet_length: params.integer("packet_length") as u32,
            buffer: params.integer("buffer") as u32,
            virtual_channels: params.get_integer("virtual_channels").map_or(usual, |n| n as u32),
            class_rule: params.get_meaning(CLASS.name, &CLASS_RULES).unwrap_or(ClassRule::Static),
            lanes: params.get_meaning(LANES.name, &LANE_RULES).unwrap_or(Lanes::Shared),
        }
    }
}

/// A problem with a network as one with the key of the study that says it.
pub(crate) fn of_network(params: &Params, problem: Problem) -> Problem {
    if problem.path.is_empty() {
        return Problem::new(params.path(), problem.message);
    }
    params.problem(&problem.path, problem.message)
}
