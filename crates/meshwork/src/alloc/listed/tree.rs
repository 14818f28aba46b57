//! A tree of switches: a job gets nodes under few switches that are near one another.

use super::decide::{Action, Attempt, Cause, Failure, Rule};
use super::flat::Flat;
use super::{Nodes, Wanted};
use crate::geometry::NodeSet;

/// A switch of a tree.
#[derive(Clone, Debug)]
struct Switch {
    /// 0 for a leaf, else one more than the highest child.
    level: u32,
    /// The switch above it; a root has none.
    parent: Option<usize>,
    /// The nodes below it.
    nodes: NodeSet,
}

/// A list of switches, each with nodes or with other switches below it.
#[derive(Clone, Debug)]
pub struct Tree {
    switches: Vec<Switch>,
    /// How many links lie between two switches; `None` between two trees.
    hops: Vec<Vec<Option<u32>>>,
}

/// What lies below a switch of the list.
#[derive(Clone, Debug)]
pub enum Below {
    /// Nodes: it is a leaf.
    Nodes(NodeSet),
    /// Switches, by their places in the list.
    Switches(Vec<usize>),
}

impl Tree {
    /// The tree, or the trees, of this list. A switch that is below two others is below the later one.
    ///
    /// # Panics
    /// If a switch is below itself, or there is none of that place in the list.
    #[must_use]
    pub fn new(count: u32, list: &[Below]) -> Tree {
        let mut parent: Vec<Option<usize>> = vec![None; list.len()];
        for (i, below) in list.iter().enumerate() {
            if let Below::Switches(children) = below {
                children.iter().for_each(|&child| parent[child] = Some(i));
            }
        }
        let mut switches: Vec<Option<Switch>> = vec![None; list.len()];
        while switches.iter().any(Option::is_none) {
            let known = switches.iter().flatten().count();
            for (i, below) in list.iter().enumerate() {
                let (level, nodes) = match below {
                    Below::Nodes(nodes) => (0, nodes.clone()),
                    Below::Switches(children) => {
                        let children: Option<Vec<&Switch>> =
                            children.iter().map(|&child| switches[child].as_ref()).collect();
                        let Some(children) = children else { continue };
                        let mut nodes = NodeSet::empty(count);
                        children.iter().for_each(|child| nodes.unite(&child.nodes));
                        (children.iter().map(|child| child.level + 1).max().unwrap_or(0), nodes)
                    }
                };
                switches[i] = Some(Switch { level, parent: parent[i], nodes });
            }
            assert!(known < switches.iter().flatten().count(), "no switch is below itself");
        }
        let switches: Vec<Switch> = switches.into_iter().flatten().collect();
        let hops = hops(&switches);
        Tree { switches, hops }
    }

    fn leaves(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.switches.len()).filter(|&i| self.switches[i].level == 0)
    }

    /// A switch and all above it.
    fn up_from(&self, switch: usize) -> impl Iterator<Item = usize> + '_ {
        std::iter::successors(Some(switch), |&i| self.switches[i].parent)
    }

    /// The switch below which all is chosen.
    fn top(
        &self,
        nodes: &Nodes,
        required: Option<&NodeSet>,
        available: &NodeSet,
        enough: impl Fn(u32) -> bool,
    ) -> Result<usize, Failure> {
        let mut top: Option<usize> = None;
        if let Some(list) = required {
            for (i, switch) in self.switches.iter().enumerate() {
                let is_higher = top.is_none_or(|top| switch.level > self.switches[top].level);
                if is_higher && switch.nodes.meets(list) {
                    top = Some(i);
                }
            }
            let holds_all = |&top: &usize| list.is_within(&self.switches[top].nodes);
            return top.filter(holds_all).ok_or(Failure::Never(Cause::TopologyConfiguration));
        }
        let mut lowest = 0;
        for (i, switch) in self.switches.iter().enumerate() {
            let mut free = switch.nodes.clone();
            free.intersect(available);
            let Some(weight) = nodes.lightest(&free).filter(|_| enough(free.count())) else {
                continue;
            };
            if top.is_none_or(|top| switch.level >= self.switches[top].level && weight <= lowest) {
                (top, lowest) = (Some(i), weight);
            }
        }
        top.ok_or(Failure::of(Cause::UnitTooFull))
    }

    /// Whether one switch is a better place than another for so many nodes, and whether it, or what it was
    /// compared by above it, has them all.
    fn compare(
        &self,
        i: usize,
        j: usize,
        free: &[u32],
        missing: u32,
    ) -> (std::cmp::Ordering, bool) {
        use std::cmp::Ordering::{Equal, Greater, Less};
        let (mut i, mut j) = (i, j);
        let fits = loop {
            let (i_fits, j_fits) = (free[i] >= missing, free[j] >= missing);
            match (i_fits, j_fits) {
                (true, true) if free[i] != free[j] => return (free[j].cmp(&free[i]), true),
                (true, true) => break true,
                (true, false) => return (Greater, true),
                (false, true) => return (Less, false),
                (false, false) => {}
            }
            let above = |i: usize| self.switches[i].parent.unwrap_or(i);
            if above(i) == above(j) || above(i) == i && above(j) == j {
                break false;
            }
            (i, j) = (above(i), above(j));
        };
        let level = |i: usize| self.switches[i].level;
        let order = match free[i].cmp(&free[j]) {
            Equal => level(j).cmp(&level(i)),
            other => other,
        };
        (order, fits)
    }

    /// One attempt to get `want` nodes, or if they run out no fewer than the least.
    fn gather(
        &self,
        nodes: &Nodes,
        least: u32,
        want: u32,
        required: Option<&NodeSet>,
        available: &NodeSet,
    ) -> Attempt {
        let mut chosen = required.cloned().unwrap_or_else(|| NodeSet::empty(nodes.count()));
        let mut missing = want.saturating_sub(chosen.count());
        let spare = want - least;
        let top = self.top(nodes, required, available, |free| free + spare >= want)?;
        if missing == 0 {
            return Ok(chosen);
        }
        let mut inside = self.switches[top].nodes.clone();
        inside.intersect(available);
        let mut candidates = NodeSet::empty(nodes.count());
        let mut forced = chosen.clone();
        let mut found = 0;
        for (_, class) in nodes.classes() {
            if found >= missing {
                break;
            }
            forced.unite(&candidates);
            let mut class = class.clone();
            class.intersect(&inside);
            class.subtract(&chosen);
            candidates.unite(&class);
            found = candidates.count();
        }
        if found + spare < missing {
            return Err(Failure::Now {
                cause: Cause::UnitTooFull,
                action: Action::Without(inside),
            });
        }
        missing = missing.saturating_sub(forced.count() - chosen.count());
        chosen.unite(&forced);
        candidates.unite(&chosen);
        let mut free: Vec<u32> =
            self.switches.iter().map(|switch| switch.nodes.count_shared(&candidates)).collect();
        let mut used = vec![false; self.switches.len()];
        if !chosen.is_empty() {
            for (i, switch) in self.switches.iter().enumerate() {
                used[i] = switch.nodes.meets(&chosen);
            }
            let before = missing;
            for leaf in self.leaves() {
                if missing == 0 {
                    break;
                }
                if used[leaf] {
                    self.take(leaf, &candidates, &mut chosen, &mut missing);
                    // All that has been taken so far, from whichever leaf: as the scheduler does it.
                    for i in self.up_from(leaf) {
                        free[i] = free[i].saturating_sub(before - missing);
                    }
                }
            }
        }
        let distance = |i: usize| {
            let far = (0..used.len()).filter(|&j| used[j]).map(|j| self.hops[i][j]);
            far.sum::<Option<u32>>()
        };
        let mut distances: Vec<Option<u32>> = (0..used.len()).map(distance).collect();
        while missing > 0 {
            let mut best: Option<usize> = None;
            for leaf in self.leaves() {
                if used[leaf] || free[leaf] == 0 || distances[leaf].is_none() {
                    continue;
                }
                let is_better = best.is_none_or(|best| {
                    let (order, fits) = self.compare(leaf, best, &free, missing);
                    distances[leaf] < distances[best] && fits
                        || distances[leaf] == distances[best] && order.is_gt()
                });
                if is_better {
                    best = Some(leaf);
                }
            }
            let Some(leaf) = best else { break };
            used[leaf] = true;
            self.take(leaf, &candidates, &mut chosen, &mut missing);
            if missing > 0 {
                let gone = free[leaf];
                for i in self.up_from(leaf) {
                    free[i] = free[i].saturating_sub(gone);
                }
                for (sum, hops) in distances.iter_mut().zip(&self.hops[leaf]) {
                    *sum = sum.zip(*hops).map(|(sum, hops)| sum + hops);
                }
            }
        }
        if missing > spare {
            return Err(Failure::Now {
                cause: Cause::UnitTooFull,
                action: Action::WithoutOneOf(chosen),
            });
        }
        Ok(chosen)
    }

    /// Takes the candidates of a leaf, lowest first, until none is missing.
    fn take(&self, leaf: usize, candidates: &NodeSet, chosen: &mut NodeSet, missing: &mut u32) {
        for node in self.switches[leaf].nodes.iter() {
            if *missing > 0 && candidates.contains(node) && !chosen.contains(node) {
                chosen.insert(node);
                *missing -= 1;
            }
        }
    }

    fn leaves_touched(&self, chosen: &NodeSet) -> u32 {
        self.leaves().filter(|&leaf| self.switches[leaf].nodes.meets(chosen)).count() as u32
    }
}

impl Rule for Tree {
    fn attempt(
        &self,
        nodes: &Nodes,
        wanted: &Wanted,
        required: Option<&NodeSet>,
        available: &NodeSet,
    ) -> Attempt {
        if wanted.contiguous {
            return Flat.attempt(nodes, wanted, required, available);
        }
        let mut want = wanted.most.max(wanted.nodes);
        loop {
            let chosen = self.gather(nodes, wanted.nodes, want, required, available)?;
            let is_near = wanted.switches.is_none_or(|most| self.leaves_touched(&chosen) <= most);
            if is_near {
                return Ok(chosen);
            }
            if want <= wanted.nodes {
                return Err(Failure::of(Cause::Busy));
            }
            want -= 1;
        }
    }
}

/// How many links lie between each two switches.
fn hops(switches: &[Switch]) -> Vec<Vec<Option<u32>>> {
    let path = |i: usize| -> Vec<usize> {
        std::iter::successors(Some(i), |&i| switches[i].parent).collect()
    };
    let paths: Vec<Vec<usize>> = (0..switches.len()).map(path).collect();
    let between = |a: &Vec<usize>, b: &Vec<usize>| {
        let meeting = a.iter().position(|i| b.contains(i))?;
        let other = b.iter().position(|&i| i == a[meeting])?;
        Some((meeting + other) as u32)
    };
    paths.iter().map(|a| paths.iter().map(|b| between(a, b)).collect()).collect()
}
