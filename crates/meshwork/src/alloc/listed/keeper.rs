//! The allocators of studies: a rule, and what is the same for every job of a machine.

use std::sync::Arc;

use crate::alloc::{Allocator, Ask};
use crate::geometry::NodeSet;
use crate::geometry::ranked::in_order;
use crate::machine::Placement;
use crate::registry::{DefaultValue, Kind, Param, Params, Problem};
use crate::topology::{Node, Topology};

use super::{Nodes, Rule, Wanted, find};

/// The largest weight of a node.
const HEAVIEST: u64 = u32::MAX as u64;

/// The size of segments, of those who have it.
pub(super) const SEGMENT: Param = Param {
    name: "segment",
    kind: Kind::Integer(1, 1 << 24),
    default: DefaultValue::Absent("every job in one piece"),
    help: "the size of the pieces that may lie apart; a job that is no whole number of them never starts",
};

/// The weights of nodes, of all.
pub(super) const WEIGHTS: Param = Param {
    name: "weights",
    kind: Kind::Integers(0, HEAVIEST),
    default: DefaultValue::Absent("all alike"),
    help: "the weight of each node: lighter ones are taken first",
};

/// The nodes of one unit of a list.
pub(super) const NODES: Param = Param {
    name: "nodes",
    kind: Kind::Integers(0, (1 << 24) - 1),
    default: DefaultValue::Required,
    help: "its nodes, by their numbers; one that the machine does not have is never free",
};

/// A rule as an allocator: it goes by what is free and by what a job asks for, and remembers nothing.
#[derive(Clone)]
pub(super) struct Keeper {
    rule: Arc<dyn Rule>,
    nodes: Arc<Nodes>,
    /// What every job wants, but for its size.
    wanted: Wanted,
    /// The sizes to which jobs are rounded up, ascending; none if they are not.
    sizes: Arc<[u32]>,
}

impl Keeper {
    /// A rule on a machine, or on more nodes than it has.
    pub(super) fn new(
        rule: impl Rule + 'static,
        params: &Params,
        machine: &Topology,
        universe: u32,
    ) -> Result<Keeper, Problem> {
        let count = universe.max(machine.grid().nodes());
        let weights = params.get_integers("weights").unwrap_or_default();
        if !weights.is_empty() && weights.len() != count as usize {
            let given = weights.len();
            let says = format!(
                "`weights` has {given} numbers, but must have one for each of {count} nodes"
            );
            return Err(params.problem("weights", says));
        }
        let nodes = match weights.is_empty() {
            true => Nodes::alike(count),
            false => Nodes::new(weights, vec![1; count as usize]),
        };
        let segment = params.get_integer("segment").map(|size| size as u32);
        let wanted = Wanted { segment, ..Wanted::default() };
        Ok(Keeper { rule: Arc::new(rule), nodes: Arc::new(nodes), wanted, sizes: Arc::new([]) })
    }

    /// What every job wants, but for its size.
    pub(super) fn wanting(mut self, wanted: impl FnOnce(&mut Wanted)) -> Keeper {
        wanted(&mut self.wanted);
        self
    }

    /// Rounds jobs up to these sizes, or without segments whole numbers of them.
    pub(super) fn rounding_up_to(mut self, mut sizes: Vec<u32>) -> Keeper {
        sizes.sort_unstable();
        sizes.dedup();
        self.sizes = sizes.into();
        self
    }

    /// How many nodes a job of this size gets.
    fn size_for(&self, count: u32) -> Option<u32> {
        if self.sizes.is_empty() || self.wanted.segment.is_some_and(|segment| segment <= count) {
            return Some(count);
        }
        self.sizes.iter().copied().find(|&size| size >= count)
    }
}

impl Allocator for Keeper {
    fn choose(&mut self, ask: Ask<'_>) -> Option<Placement> {
        let Ask { request, site, .. } = ask;
        let count = self.size_for(site.count_with_room(request)?)?;
        let mut wanted = self.wanted.clone();
        (wanted.nodes, wanted.most) = (count, count);
        let chosen = if self.nodes.count() == site.nodes() {
            find(&*self.rule, &self.nodes, &wanted, site.free())
        } else {
            let mut free = NodeSet::empty(self.nodes.count());
            free.copy_range(0, site.free(), 0, site.nodes());
            find(&*self.rule, &self.nodes, &wanted, &free)
        }?;
        Some(in_order(site.grid(), chosen.iter()))
    }

    fn goes_by_free_nodes(&self) -> bool {
        true
    }

    fn fork(&self) -> Box<dyn Allocator> {
        Box::new(self.clone())
    }
}

/// The nodes of a unit of a list, and one more than the largest number so far.
pub(super) fn nodes_of(unit: &Params, universe: &mut u32) -> Vec<Node> {
    let nodes = unit.get_integers("nodes").unwrap_or_default();
    nodes.iter().for_each(|&node| *universe = (*universe).max(node + 1));
    nodes
}

/// The set of some nodes.
pub(super) fn set_of(nodes: &[Node], universe: u32) -> NodeSet {
    let mut set = NodeSet::empty(universe);
    nodes.iter().for_each(|&node| set.insert(node));
    set
}

/// Consecutive nodes in runs of this length, the last perhaps shorter.
pub(super) fn consecutive(count: u32, length: u32) -> Vec<Vec<Node>> {
    let starts = (0..count).step_by(length.max(1) as usize);
    starts.map(|start| (start..count.min(start.saturating_add(length))).collect()).collect()
}
