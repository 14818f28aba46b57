//! How many nodes of a job go to each of several parts of a machine, and which nodes of it those are.

use crate::geometry::ranked::in_order;
use crate::geometry::{NodeSet, Placement};
use crate::machine::Site;
use crate::topology::{Node, Tiers, Topology};

/// A part of a machine, by its number, and how many of its nodes are meant.
pub(super) type Share = (u32, u32);

/// The leaves and groups of a machine.
#[derive(Clone, Copy)]
pub(super) struct Parts {
    tiers: Tiers,
    nodes: u32,
}

impl Parts {
    /// Those of a topology that has some.
    pub(super) fn of(topology: &Topology) -> Parts {
        let tiers = topology.tiers().expect("only topologies with leaves are served");
        Parts { tiers, nodes: topology.nodes() }
    }

    /// The free nodes of each leaf among these nodes: `count` from `start` on, whole leaves.
    fn leaves(&self, free: &NodeSet, start: Node, count: u32) -> Vec<Share> {
        let leaf = self.tiers.leaf;
        let free = |at: u32| free.count_range(at * leaf, leaf);
        (start / leaf..(start + count) / leaf).map(|at| (at, free(at))).collect()
    }

    /// The free nodes of each group.
    pub(super) fn groups(&self, free: &NodeSet) -> Vec<Share> {
        let group = self.tiers.group;
        (0..self.nodes / group).map(|at| (at, free.count_range(at * group, group))).collect()
    }

    /// So many free nodes on as few leaves of the machine as can be.
    pub(super) fn on_few_leaves(&self, site: &Site, wanted: u32) -> Placement {
        let mut nodes = Vec::with_capacity(wanted as usize);
        self.take_from_leaves(site.free(), 0, self.nodes, wanted, &mut nodes);
        in_order(site.grid(), nodes)
    }

    /// So many free nodes of each of these groups, in each of them on as few leaves as can be.
    pub(super) fn in_groups(&self, site: &Site, mut shares: Vec<Share>) -> Placement {
        shares.sort_unstable();
        let mut nodes = Vec::new();
        for (group, wanted) in shares {
            let start = group * self.tiers.group;
            self.take_from_leaves(site.free(), start, self.tiers.group, wanted, &mut nodes);
        }
        in_order(site.grid(), nodes)
    }

    /// Adds the free nodes of lowest number of each leaf that has a share, in ascending order.
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

/// So many nodes on as few parts as can be, of which `free` says how many each has.
///
/// While no part has room for all that is left, the one with the most free nodes is filled; then the
/// one is taken that has the fewest of those with room. Of equals the first. No choice of fewer parts has
/// as many free nodes as the fullest ones.
///
/// # Complexity
/// **O(p log p)** for *p* parts.
pub(super) fn on_few(mut free: Vec<Share>, wanted: u32) -> Vec<Share> {
    // Most free first, of equals the first: what is filled is then a beginning of the list.
    free.sort_unstable_by_key(|&(part, free)| (std::cmp::Reverse(free), part));
    let (mut shares, mut left, mut filled) = (Vec::new(), wanted, 0);
    while left > 0 {
        let rest = &free[filled..];
        let with_room = rest.partition_point(|&(_, free)| free >= left);
        if with_room > 0 {
            let least = rest[with_room - 1].1;
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

/// So many nodes spread as evenly over all parts as their free nodes allow; the first parts have one more
/// where that does not come out even.
///
/// # Complexity
/// **O(p log p)** for *p* parts.
pub(super) fn evenly(free: &[Share], wanted: u32) -> Vec<Share> {
    let mut rooms: Vec<u32> = free.iter().map(|&(_, room)| room).collect();
    rooms.sort_unstable();
    // The smallest give all they have, until what is left can be shared by the others in whole nodes, each
    // at most `level` of them.
    let (mut left, mut sharing) = (wanted, rooms.len() as u32);
    for &room in &rooms {
        if room >= left.div_ceil(sharing) {
            break;
        }
        left -= room;
        sharing -= 1;
    }
    let (level, mut more) = (left / sharing.max(1), left % sharing.max(1));
    let mut shares = Vec::new();
    for &(part, room) in free {
        // A part with no room above the level gives what it has; those that give one more have it.
        let extra = u32::from(more > 0 && room > level);
        more -= extra;
        let share = room.min(level) + extra;
        if share > 0 {
            shares.push((part, share));
        }
    }
    shares
}
