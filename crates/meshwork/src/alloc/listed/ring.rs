//! Rings of nodes: a job gets consecutive nodes of one ring.

use super::adapter::{
    HOSTS, NODES, PARTITIONS, RuleAllocator, SEGMENT, WEIGHTS, entry, set_of, units,
};
use super::decide::{Failure, Rule, RuleResult, SlurmMessage};
use super::{NodeRequest, Nodes};
use crate::alloc::AllocatorEntry;
use crate::geometry::NodeSet;
use crate::registry::{About, Kind, Param};
use crate::topology::Node;

/// Registry entry of the allocator `ring`.
pub static ENTRY: AllocatorEntry = entry(
    About::new("ring", "consecutive nodes of one of the rings that are listed")
        .definition(
            "The machine is a list of rings, each with its nodes in their order around it. A job \
             gets as many consecutive nodes of one ring as it asks for: in each ring the first \
             stretch whose heaviest node is lightest, then of all rings the lightest stretch, and \
             of these the one in the ring with the fewest free nodes; of equal ones the first. A \
             job of several segments gets one stretch in each of as many rings. A job of one node \
             gets the lightest node of lowest number; one that no ring holds never starts.",
        )
        .complexity("O(n) for n nodes; O(n r) where weights differ, in rings of up to r.")
        .source("Slurm 26.05, topology/ring, checked against its decisions")
        .params(&[
            Param::new("length", Kind::Integer(1, 1 << 24))
                .absent("all nodes")
                .help("how many consecutive nodes a ring has, where no rings are listed"),
            Param::new("rings", Kind::Tables(&[NODES]))
                .absent("rings of `length` consecutive nodes")
                .help("the rings, each with its nodes in their order around it"),
            SEGMENT,
            WEIGHTS,
            HOSTS,
            PARTITIONS,
        ]),
    |params, topology| {
        let mut universe = topology.grid().nodes();
        let rings = units(params, "rings", &mut universe, |all| {
            params.get_integer("length").map_or(all, |length| length as u32)
        });
        Ok(Box::new(RuleAllocator::new(Rings::new(universe, rings), params, topology, universe)?))
    },
);

/// Placement rule of the allocator `ring`: a job gets consecutive free nodes of one ring.
#[derive(Clone, Debug)]
pub struct Rings {
    rings: Vec<Vec<Node>>,
    sets: Vec<NodeSet>,
    covered: NodeSet,
}

/// Stretch of consecutive free nodes of a ring.
///
/// Stretches are compared by their heaviest node, then by the number of free nodes of the ring.
#[derive(Clone, Copy, Debug)]
struct Stretch {
    weight: u32,
    /// Number of free nodes of the whole ring.
    idle: u32,
    ring: usize,
    start: usize,
}

impl Stretch {
    fn is_worse_than(&self, other: &Stretch) -> bool {
        (self.weight, self.idle) > (other.weight, other.idle)
    }
}

impl Rings {
    /// Creates the allocation rule of a machine of `count` nodes, given the nodes along each ring.
    #[must_use]
    pub fn new(count: u32, rings: Vec<Vec<Node>>) -> Rings {
        let sets: Vec<NodeSet> = rings.iter().map(|ring| set_of(ring, count)).collect();
        let mut covered = NodeSet::empty(count);
        sets.iter().for_each(|set| covered.unite(set));
        Rings { rings, sets, covered }
    }

    /// The rings of the machine, each with its nodes in their order around the ring.
    #[must_use]
    pub fn rings(&self) -> &[Vec<Node>] {
        &self.rings
    }

    /// Of all stretches of `size` consecutive free nodes, the first one whose heaviest node is
    /// lightest.
    fn best_in(&self, ring: usize, nodes: &Nodes, size: u32, free: &NodeSet) -> Option<Stretch> {
        let idle = self.sets[ring].count_shared(free);
        let around = &self.rings[ring];
        if (around.len() as u32) < size || idle < size {
            return None;
        }
        // Free nodes in succession from each position, around the ring.
        let mut run = vec![0; around.len()];
        let mut length = 0;
        for place in (0..2 * around.len()).rev() {
            let place = place % around.len();
            length = if free.contains(around[place]) { length + 1 } else { 0 };
            run[place] = length;
        }
        let mut best: Option<Stretch> = None;
        for start in (0..around.len()).filter(|&start| run[start] >= size) {
            let stretch = around.iter().cycle().skip(start).take(size as usize);
            let weight = stretch.map(|&node| nodes.weight(node)).max().unwrap_or(0);
            let found = Stretch { weight, idle, ring, start };
            if best.is_none_or(|best| best.is_worse_than(&found)) {
                best = Some(found);
            }
            if nodes.classes().len() < 2 {
                break;
            }
        }
        best
    }
}

impl Rule for Rings {
    fn attempt(
        &self,
        nodes: &Nodes,
        request: &NodeRequest,
        required: Option<&NodeSet>,
        available: &NodeSet,
    ) -> RuleResult {
        let never = || Failure::Never(SlurmMessage::TopologyConfiguration);
        let (count, size) = request.segments().ok_or_else(never)?;
        let mut free = available.clone();
        if let Some(list) = required {
            if list.count() < request.nodes {
                return Err(never());
            }
            free.intersect(list);
        }
        let mut worst_first = Worst::new(count as usize);
        for ring in 0..self.rings.len() {
            if let Some(found) = self.best_in(ring, nodes, size, &free) {
                worst_first.offer(found);
            }
        }
        if worst_first.heap.len() < count as usize {
            return Err(Failure::of(SlurmMessage::NoUnit));
        }
        let mut chosen = NodeSet::empty(nodes.count());
        for stretch in &worst_first.heap {
            let around = self.rings[stretch.ring].iter().cycle().skip(stretch.start);
            around.take(size as usize).for_each(|&node| chosen.insert(node));
        }
        Ok(chosen)
    }

    fn covered(&self) -> Option<&NodeSet> {
        Some(&self.covered)
    }
}

/// Heap of the best stretches of ring nodes found so far, with the worst at the root.
///
/// A stretch consists of consecutive free nodes. The heap has at most `capacity` stretches.
struct Worst {
    heap: Vec<Stretch>,
    capacity: usize,
}

impl Worst {
    fn new(capacity: usize) -> Worst {
        Worst { heap: Vec::new(), capacity }
    }

    /// Inserts a stretch into the heap.
    ///
    /// If the heap is full, the stretch replaces the worst one, but only if it is better.
    fn offer(&mut self, found: Stretch) {
        if self.heap.len() < self.capacity {
            self.heap.push(found);
            let mut at = self.heap.len() - 1;
            while at > 0 && self.heap[at].is_worse_than(&self.heap[(at - 1) / 2]) {
                self.heap.swap(at, (at - 1) / 2);
                at = (at - 1) / 2;
            }
            return;
        }
        if self.heap.first().is_none_or(|worst| !worst.is_worse_than(&found)) {
            return;
        }
        self.heap[0] = found;
        // Slurm compares the children with the present content of the slot, not with the stretch
        // that moves down, so nothing moves below the first level.
        let mut at = 0;
        loop {
            let mut worst = at;
            for child in [2 * at + 1, 2 * at + 2] {
                if child < self.heap.len() && self.heap[child].is_worse_than(&self.heap[worst]) {
                    worst = child;
                }
            }
            if worst == at {
                break;
            }
            self.heap[at] = self.heap[worst];
            at = worst;
        }
        self.heap[at] = found;
    }
}
