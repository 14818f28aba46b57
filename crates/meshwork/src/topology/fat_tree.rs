//! Fat trees: levels of switches, joined by links that lead up and down.
//!
//! Without a taper, the links between two neighbouring levels can together carry all that the nodes
//! send. With a taper, each leaf switch has fewer links upwards than nodes, and its links carry
//! less than its nodes can send.

use std::sync::Arc;

use super::wires::{End, Leg, MAX_PORTS, Manner, Route, Router, Upward, Wires, below, mixed};
use super::{Grid, MAX_NODES, Node, Tiers, Topology, TopologyEntry, TopologyError, Wiring};
use crate::registry::{About, Kind, Param, Params, Problem, Range};

pub(crate) static ENTRY: TopologyEntry = TopologyEntry::new(
    About::new(
        "fat_tree",
        "a tree of switches: a k-ary n-tree, or a Clos network of any number of \
             levels, with a taper",
    )
    .aliases(&["clos", "fattree"])
    .definition(
        "Switches stand in levels. A switch of the lowest level, a leaf, has as many nodes as \
         `arity` says, one of any other level as many switches of the level below. Every switch \
         but those at the top has as many links upwards as downwards, a leaf fewer by the taper, \
         each to another switch; those of the top are reached from every node by as many ways as \
         the links upwards have choices. With one number for all levels it is the k-ary n-tree. \
         Packets go up to a switch above both nodes, then down. The number of a node has one digit \
         for each level, the place below its leaf first; it is no grid, and hands out processors \
         by count.",
    )
    .complexity(
        "n kⁿ⁻¹ switches for kⁿ nodes; the longest shortest way has 2 (n − 1) \
             links between switches.",
    )
    .source(
        "Petrini & Vanneschi, k-ary n-trees, IPPS 1997; Leiserson, Fat-trees, IEEE \
             Trans. Computers 34(10), 1985",
    )
    .params(&[
        Param::new("arity", Kind::Integers(1, MAX_NODES as u64)).help(
            "nodes of a leaf switch and children of every other, or a list: one number for \
                 each level, the leaves first",
        ),
        Param::new("levels", Kind::Integer(1, 24))
            .absent("3, or as many as `arity` has numbers")
            .help("levels of switches"),
        Param::new("taper", Kind::Number(Range::AtLeastOne)).is("1.0").help(
            "how many times more nodes than links upwards a leaf switch has; the links are a \
                 whole number",
        ),
    ]),
    build,
);

fn build(p: &Params) -> Result<Topology, Problem> {
    let mut arity = p.integers("arity");
    let levels = p.get_integer("levels").map(|levels| levels as usize);
    if let [one] = arity[..] {
        arity = vec![one; levels.unwrap_or(3)];
    }
    if let Some(levels) = levels.filter(|&levels| levels != arity.len()) {
        let says = format!(
            "is {levels}, but must be {}, as many as `arity` has numbers; or give one number for \
             all levels",
            arity.len()
        );
        return Err(p.refusal("levels", says));
    }
    Topology::fat_tree(&arity, p.number("taper")).map_err(|error| {
        let key = if matches!(error, TopologyError::Taper { .. }) { "taper" } else { "arity" };
        p.problem(key, error.to_string())
    })
}

/// Switches of one level of the tree, which are all alike.
#[derive(Clone, Copy, Debug)]
struct Level {
    /// Number of downward links of each switch of the level. They lead to switches of the next
    /// lower level, or to nodes if the switch is a leaf.
    down: u32,
    /// Number of links upwards from a switch of the level; 0 at the top.
    up: u32,
    /// Index, among all switches, of the first switch of this level. On this level, `copies`
    /// switches are above the same nodes.
    first: Router,
    copies: u32,
    /// Number of nodes below a switch of the level.
    nodes: u32,
}

/// Switches of a fat tree, and their links.
///
/// Switches of one level that are above the same nodes are called copies. A route upwards is
/// determined by the copies that it passes. If each copy has *w* upward links, link *u* of copy *c*
/// leads to copy *c w + u* of the next level. So exactly one route leads down from a top switch to
/// each node. Upward ports have the lowest numbers. Downward ports begin at the largest number of
/// upward ports of any level.
#[derive(Clone, Debug)]
pub(super) struct FatTree {
    levels: Vec<Level>,
    switches: u32,
    /// Largest number of upward links of a switch. This is also the index of the first downward
    /// port.
    most_up: u32,
}

impl FatTree {
    /// Creates the tree in which a switch of level *l* has `arity[l]` children. Level 0 has the
    /// leaf switches.
    fn new(arity: &[u32], taper: f64) -> Result<FatTree, TopologyError> {
        let leaf = arity[0];
        let upward = f64::from(leaf) / taper;
        if arity.len() > 1 && (upward < 1.0 || upward.fract() != 0.0) {
            return Err(TopologyError::Taper { taper: taper.to_string(), leaf });
        }
        let mut levels = Vec::new();
        let (mut switches, mut copies, mut below) = (0_u64, 1_u64, 1_u64);
        let nodes: u64 = arity.iter().map(|&down| u64::from(down)).product();
        for (at, &down) in arity.iter().enumerate() {
            let up = match at {
                _ if at + 1 == arity.len() => 0,
                0 => upward as u32,
                _ => down,
            };
            below *= u64::from(down);
            let level = Level {
                down,
                up,
                first: switches as Router,
                copies: copies as u32,
                nodes: below as u32,
            };
            levels.push(level);
            switches = switches.saturating_add((nodes / below).saturating_mul(copies));
            if switches > u64::from(MAX_NODES) {
                return Err(TopologyError::TooManySwitches);
            }
            copies = copies.saturating_mul(u64::from(up.max(1)));
        }
        let most_up = levels.iter().map(|level| level.up).max().unwrap_or(0);
        let most_down = arity.iter().copied().max().unwrap_or(0);
        if u64::from(most_up) + u64::from(most_down) > MAX_PORTS {
            return Err(TopologyError::TooManyPorts);
        }
        Ok(FatTree { levels, switches: switches as u32, most_up })
    }

    /// Index of the lowest level that has a switch above both nodes.
    fn meeting(&self, a: Node, b: Node) -> usize {
        let meets = |level: &Level| a / level.nodes == b / level.nodes;
        self.levels.iter().position(meets).expect("all nodes are below the top")
    }

    fn level_of(&self, switch: Router) -> usize {
        self.levels.partition_point(|level| level.first <= switch) - 1
    }
}

impl Wires for FatTree {
    fn routers(&self) -> u32 {
        self.switches
    }

    fn nodes_each(&self) -> u32 {
        self.levels[0].down
    }

    fn ports(&self) -> usize {
        let down = self.levels.iter().skip(1).map(|level| level.down).max().unwrap_or(0);
        (self.most_up + down) as usize
    }

    fn ports_beside_nodes(&self) -> usize {
        self.most_up as usize
    }

    fn link(&self, switch: Router, port: usize) -> Option<End> {
        let (at, port) = (self.level_of(switch), port as u32);
        let level = self.levels[at];
        let (place, copy) =
            ((switch - level.first) / level.copies, (switch - level.first) % level.copies);
        if port < self.most_up {
            let above = self.levels.get(at + 1).filter(|_| port < level.up)?;
            let place_there = place / above.down;
            let copy_there = copy * level.up + port;
            return Some(End {
                router: above.first + place_there * above.copies + copy_there,
                port: (self.most_up + place % above.down) as usize,
            });
        }
        let child = Some(port - self.most_up).filter(|&child| child < level.down)?;
        let below = self.levels[at.checked_sub(1)?];
        Some(End {
            router: below.first + (place * level.down + child) * below.copies + copy / below.up,
            port: (copy % below.up) as usize,
        })
    }

    /// Returns 1: packets never go up after going down, so one class of virtual channels is enough.
    fn classes(&self, _manner: &Manner) -> Option<usize> {
        Some(1)
    }

    fn most_legs(&self) -> usize {
        2 * (self.levels.len() - 1)
    }

    fn route(&self, from: Node, to: Node, coins: u64, manner: &Manner, _detour: bool) -> Route {
        let mut route = Route::new();
        let top = self.meeting(from, to);
        let mut choices = coins;
        for level in &self.levels[..top] {
            let port = match manner.upward {
                Upward::Random => {
                    choices = mixed(choices);
                    below(choices, level.up)
                }
                // The digits of the destination, from the leaf up, choose the port, so that
                // neighbouring nodes have distinct routes.
                Upward::Fixed => to / (level.nodes / level.down) % level.up,
            };
            route.push(Leg { port: port as u16, class: 0, hops: 1 });
        }
        for at in (1..=top).rev() {
            let (level, below) = (self.levels[at], self.levels[at - 1]);
            let child = to / below.nodes % level.down;
            route.push(Leg { port: (self.most_up + child) as u16, class: 0, hops: 1 });
        }
        route
    }

    fn distance(&self, a: Node, b: Node) -> u32 {
        2 * self.meeting(a, b) as u32
    }
}

impl Topology {
    /// A fat tree in which switches of level *l* have `arity[l]` children. Level 0 has the leaf
    /// switches.
    ///
    /// The number of upward links of a leaf switch is its number of nodes divided by `taper`.
    ///
    /// # Errors
    /// If there is no level, a number is 0, there are too many nodes or switches, or the number of
    /// upward links of a leaf switch is not whole.
    ///
    /// ```
    /// use meshwork::topology::Topology;
    /// let tree = Topology::fat_tree(&[4, 4, 4], 1.0).unwrap();
    /// assert_eq!((tree.nodes(), tree.distance(0, 3), tree.distance(0, 63)), (64, 0, 4));
    /// assert!(Topology::fat_tree(&[4, 4], 3.0).is_err());
    /// ```
    pub fn fat_tree(arity: &[u32], taper: f64) -> Result<Topology, TopologyError> {
        let grid = Grid::new(arity, false)?;
        let tree = FatTree::new(arity, taper)?;
        let group = match arity.last() {
            Some(&top) if arity.len() > 1 => grid.nodes() / top,
            _ => grid.nodes(),
        };
        let widths = arity.iter().map(u32::to_string).collect::<Vec<_>>().join(" × ");
        let tapered =
            if taper <= 1.0 { String::new() } else { format!(" with a taper of {taper}") };
        let text = format!("{widths} fat tree{tapered}");
        let tiers = Tiers { leaf: arity[0], group };
        Ok(Topology::bare(Wiring::FatTree, grid, text, Some(tiers), Some(Arc::new(tree))))
    }
}
