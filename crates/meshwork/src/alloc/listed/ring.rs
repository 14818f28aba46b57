//! Rings: a job gets consecutive nodes of one of them.

use super::decide::{Attempt, Cause, Failure, Rule};
use super::{Nodes, Wanted};
use crate::geometry::NodeSet;
use crate::topology::Node;

/// A list of rings, each with its nodes in their order around it.
#[derive(Clone, Debug)]
pub struct Rings {
    rings: Vec<Vec<Node>>,
    sets: Vec<NodeSet>,
    covered: NodeSet,
}

/// Consecutive nodes of a ring; of two, the greater is the worse.
#[derive(Clone, Copy, Debug)]
struct Stretch {
    /// The weight of the heaviest node.
    weight: u32,
    /// How many nodes of the ring are free.
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
    /// Rings on a machine of so many nodes.
    #[must_use]
    pub fn new(count: u32, rings: Vec<Vec<Node>>) -> Rings {
        let set = |ring: &Vec<Node>| {
            let mut set = NodeSet::empty(count);
            ring.iter().for_each(|&node| set.insert(node));
            set
        };
        let sets: Vec<NodeSet> = rings.iter().map(set).collect();
        let mut covered = NodeSet::empty(count);
        sets.iter().for_each(|set| covered.unite(set));
        Rings { rings, sets, covered }
    }

    /// The first stretch of the least weight in one ring.
    fn best_in(&self, ring: usize, nodes: &Nodes, size: u32, free: &NodeSet) -> Option<Stretch> {
        let idle = self.sets[ring].count_shared(free);
        let around = &self.rings[ring];
        if (around.len() as u32) < size || idle < size {
            return None;
        }
        let mut best: Option<Stretch> = None;
        for start in 0..around.len() {
            let stretch = || around.iter().cycle().skip(start).take(size as usize);
            if !stretch().all(|&node| free.contains(node)) {
                continue;
            }
            let weight = stretch().map(|&node| nodes.weight(node)).max().unwrap_or(0);
            let found = Stretch { weight, idle, ring, start };
            if best.is_none_or(|best| best.is_worse_than(&found)) {
                best = Some(found);
            }
        }
        best
    }
}

impl Rule for Rings {
    fn attempt(
        &self,
        nodes: &Nodes,
        wanted: &Wanted,
        required: Option<&NodeSet>,
        available: &NodeSet,
    ) -> Attempt {
        let never = || Failure::Never(Cause::TopologyConfiguration);
        let (count, size) = wanted.segments().ok_or_else(never)?;
        let mut free = available.clone();
        if let Some(list) = required {
            if list.count() < wanted.nodes {
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
            return Err(Failure::of(Cause::NoUnit));
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

/// The best so many stretches, with the worst of them at the root.
struct Worst {
    heap: Vec<Stretch>,
    room: usize,
}

impl Worst {
    fn new(room: usize) -> Worst {
        Worst { heap: Vec::new(), room }
    }

    /// Keeps a stretch if there is room, or if it is better than the worst.
    fn offer(&mut self, found: Stretch) {
        if self.heap.len() < self.room {
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
        // The scheduler compares the children with what stands in the slot, not with what is on its way
        // down, so that below the first slot nothing moves on. Which stretch is replaced next hangs on it.
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
