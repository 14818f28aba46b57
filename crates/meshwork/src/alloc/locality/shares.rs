//! Distribution of a job's nodes over the leaves or groups of a machine, and choice of nodes in
//! each.

use crate::alloc::parts::Domain;
use crate::alloc::{Allocator, Ask};
use crate::geometry::ranked::in_order;
use crate::geometry::{NodeSet, Placement};
use crate::machine::Site;
use crate::topology::{Node, Tiers, Topology};

/// Index of a leaf or group, with a number of its nodes: either free nodes, or nodes to be taken.
pub(crate) type Share = (u32, u32);

/// Allocator that distributes nodes over leaves or groups by the rule `domain`.
#[derive(Clone, Copy)]
pub(super) struct Local {
    tiers: Tiers,
    nodes: u32,
    domain: Domain,
}

impl Allocator for Local {
    fn choose(&mut self, ask: Ask<'_>) -> Option<Placement> {
        let Ask { request, site, .. } = ask;
        let wanted = site.count_if_free(request)?;
        if self.domain == Domain::Leaves {
            let mut nodes = Vec::with_capacity(wanted as usize);
            self.take_from_leaves(site.free(), 0, self.nodes, wanted, &mut nodes);
            return Some(in_order(site.grid(), nodes));
        }
        let groups = self.groups(site.free());
        let is_spread =
            self.domain == Domain::GroupOrSpread && groups.iter().all(|&(_, free)| free < wanted);
        let shares = if is_spread { evenly(&groups, wanted) } else { on_few(groups, wanted) };
        Some(self.in_groups(site, shares))
    }

    fn goes_by_free_nodes(&self) -> bool {
        true
    }

    fn domain(&self) -> Option<Domain> {
        Some(self.domain)
    }

    fn fork(&self) -> Box<dyn Allocator> {
        Box::new(*self)
    }
}

impl Local {
    pub(super) fn new(topology: &Topology, domain: Domain) -> Local {
        let tiers = topology.tiers().expect("only topologies with leaves are served");
        Local { tiers, nodes: topology.nodes(), domain }
    }

    /// Each leaf in a range of nodes, with its number of free nodes. The range must have whole
    /// leaves.
    fn leaves(&self, free: &NodeSet, start: Node, count: u32) -> Vec<Share> {
        let leaf = self.tiers.leaf;
        let free = |at: u32| free.count_range(at * leaf, leaf);
        (start / leaf..(start + count) / leaf).map(|at| (at, free(at))).collect()
    }

    fn groups(&self, free: &NodeSet) -> Vec<Share> {
        let group = self.tiers.group;
        (0..self.nodes / group).map(|at| (at, free.count_range(at * group, group))).collect()
    }

    /// Selects in each group the number of free nodes given by `shares`, on as few leaves as
    /// possible.
    fn in_groups(&self, site: &Site, mut shares: Vec<Share>) -> Placement {
        shares.sort_unstable();
        let mut nodes = Vec::new();
        for (group, wanted) in shares {
            let start = group * self.tiers.group;
            self.take_from_leaves(site.free(), start, self.tiers.group, wanted, &mut nodes);
        }
        in_order(site.grid(), nodes)
    }

    /// Selects `wanted` free nodes in a range on as few leaves as possible, and appends them to
    /// `nodes`.
    ///
    /// On each leaf, the lowest free nodes are taken. The nodes are in ascending order.
    fn take_from_leaves(
        &self,
        free: &NodeSet,
        start: Node,
        count: u32,
        wanted: u32,
        nodes: &mut Vec<Node>,
    ) {
        let mut shares = on_few(self.leaves(free, start, count), wanted);
        shares.sort_unstable();
        for (leaf, share) in shares {
            let mut from = leaf * self.tiers.leaf;
            for _ in 0..share {
                let node = free.first_from(from).expect("a leaf has the free nodes of its share");
                nodes.push(node);
                from = node + 1;
            }
        }
    }
}

/// Distributes `wanted` nodes over as few parts (leaves or groups) as possible.
///
/// The parts with the most free nodes are filled, until one part can hold all remaining nodes. Of
/// all parts that can hold them, the one with the fewest free nodes is then taken. Ties go to the
/// first part.
///
/// **O(p log p)** for *p* parts.
pub(crate) fn on_few(mut free: Vec<Share>, wanted: u32) -> Vec<Share> {
    // The filled parts are a prefix of this order.
    free.sort_unstable_by_key(|&(part, free)| (std::cmp::Reverse(free), part));
    let (mut shares, mut left, mut filled) = (Vec::new(), wanted, 0);
    while left > 0 {
        let rest = &free[filled..];
        let large_enough = rest.partition_point(|&(_, free)| free >= left);
        if large_enough > 0 {
            let least = rest[large_enough - 1].1;
            let first = rest.partition_point(|&(_, free)| free > least);
            shares.push((rest[first].0, left));
            break;
        }
        let (part, free) = rest[0];
        shares.push((part, free));
        left -= free;
        filled += 1;
    }
    shares
}

/// Distributes `wanted` nodes over all parts (leaves or groups), as evenly as the free nodes allow.
///
/// If the nodes cannot be divided evenly, the first parts that still have free nodes get one node
/// more.
///
/// **O(p log p)** for *p* parts.
pub(crate) fn evenly(free: &[Share], wanted: u32) -> Vec<Share> {
    let mut counts: Vec<u32> = free.iter().map(|&(_, count)| count).collect();
    counts.sort_unstable();
    // Parts with few free nodes give all of them, the others `level` each, and one more in some.
    let (mut left, mut sharing) = (wanted, counts.len() as u32);
    for &count in &counts {
        if count >= left.div_ceil(sharing) {
            break;
        }
        left -= count;
        sharing -= 1;
    }
    let (level, mut more) = (left / sharing.max(1), left % sharing.max(1));
    let mut shares = Vec::new();
    for &(part, count) in free {
        // A part without free nodes above the level gets no extra node.
        let extra = u32::from(more > 0 && count > level);
        more -= extra;
        let share = count.min(level) + extra;
        if share > 0 {
            shares.push((part, share));
        }
    }
    shares
}
