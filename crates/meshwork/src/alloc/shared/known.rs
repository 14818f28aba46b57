//! Stored results for one request: the amounts that the job could take of each node of a tree.

use std::collections::BTreeMap;

use crate::alloc::listed::tree::Tree;
use crate::geometry::NodeSet;

use super::candidates::Candidates;
use super::choose::{Attempt, Chosen, least_free, least_nodes};
use super::decide::{Wanted, is_available};
use super::fit::Fit;
use super::holdings::{Holdings, Least};
use super::machine::{Domains, SharedMachine};
use super::request::Needs;
use super::tree::fill;

/// Tree of switches with a single top switch, in which each node is below exactly one leaf switch.
#[derive(Clone, Debug)]
pub(super) struct SingleTree {
    leaf_of: Vec<u32>,
    root: usize,
}

impl SingleTree {
    /// Creates the tree of a machine; `None` if the machine has no tree with a single top switch.
    ///
    /// It is also `None` if a node is below no leaf switch or below two of them, or if a switch is
    /// directly below two switches.
    pub(super) fn of(machine: &SharedMachine) -> Option<SingleTree> {
        let Domains::Tree(list) = &machine.domains else { return None };
        let mut leaf_of = vec![u32::MAX; machine.count() as usize];
        let mut below = vec![0; list.switch_count()];
        let mut roots = list.leaves().iter().filter_map(|&leaf| list.up_from(leaf).last());
        let root = roots.next()?;
        if roots.any(|other| other != root) {
            return None;
        }
        for &leaf in list.leaves() {
            list.nodes(leaf).iter().for_each(|node| leaf_of[node as usize] = leaf as u32);
            list.up_from(leaf).for_each(|switch| below[switch] += list.nodes(leaf).count());
        }
        // Nodes of two leaves, and switches below two others, are counted twice or only by some.
        let is_plain = (0..list.switch_count()).all(|at| below[at] == list.nodes(at).count())
            && leaf_of.iter().all(|leaf| *leaf != u32::MAX);
        is_plain.then_some(SingleTree { leaf_of, root })
    }
}

/// CPUs and GPUs of a node that the job could take in one of two passes.
///
/// In the first pass, only cores near the GPUs are selected; in the second pass, any cores.
#[derive(Clone, Copy, Debug, Default)]
struct Pass {
    cpus: u32,
    gpus: u64,
}

/// Amounts that a job could take of one node, stored for later searches.
#[derive(Clone, Copy, Debug)]
struct KnownFit {
    weight: u64,
    /// Number of CPUs that the job could use on the node, before cores are selected.
    cpus: u32,
    passes: [Pass; 2],
}

/// Number of nodes on which a part of the job fits, and the CPUs and GPUs that it could take there.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    nodes: i64,
    cpus: i64,
    gpus: u64,
}

#[derive(Clone, Debug)]
struct KnownClass {
    /// Number of nodes with the weight of this class that the job may take.
    open: u32,
    /// Totals over the nodes of one weight: first with only the cores near GPUs, then with any
    /// cores.
    sums: [Sums; 2],
    /// Nodes of this class on which a part of the job fits with only the cores near the GPUs.
    usable: NodeSet,
    /// Number of usable nodes of one node weight below each switch.
    below: Vec<i64>,
}

/// For one request, the resources that the job could take on each node, with totals over nodes.
#[derive(Clone, Debug)]
pub(super) struct Known {
    least: Least,
    nodes: Vec<Option<KnownFit>>,
    classes: BTreeMap<u64, KnownClass>,
    cpus: Vec<u64>,
    open: u32,
    /// For each type of nodes, the amounts that the job could take of an idle node.
    ///
    /// The outer `None` stands for a type of which no idle node has been examined yet.
    idle: Vec<Option<Option<(Fit, KnownFit)>>>,
}

/// Result of choosing the nodes of a job from stored results alone.
pub(super) enum KnownChoice {
    Nodes(Chosen),
    Nothing,
    /// The stored results do not suffice, so all nodes must be examined.
    Unknown,
}

impl Known {
    /// Whether stored results can be used for a job, under the settings of the machine.
    pub(super) fn serves(machine: &SharedMachine, wanted: &Wanted) -> bool {
        let (params, needs) = (&machine.params, &wanted.needs);
        let from_the_end = params.serial_at_end && needs.min_cpus == 1 && needs.want == 1;
        needs.max_nodes != 1 && !params.is_older && !params.least_loaded && !from_the_end
    }

    pub(super) fn new(
        machine: &SharedMachine,
        list: &Tree,
        tree: &SingleTree,
        holdings: &Holdings,
        wanted: &Wanted,
    ) -> Known {
        let count = machine.count();
        let mut known = Known {
            least: least_free(machine, &wanted.needs),
            nodes: vec![None; count as usize],
            classes: BTreeMap::new(),
            cpus: vec![0; list.switch_count()],
            open: 0,
            idle: vec![None; machine.types.len()],
        };
        (0..count).for_each(|node| known.update(machine, list, tree, holdings, wanted, node));
        known
    }

    /// Updates what is known about a node after a change of the node.
    ///
    /// Takes **O(h + log w)** for *h* levels of switches and *w* distinct weights.
    pub(super) fn update(
        &mut self,
        machine: &SharedMachine,
        list: &Tree,
        tree: &SingleTree,
        holdings: &Holdings,
        wanted: &Wanted,
        node: u32,
    ) {
        let fit = self.examined(machine, holdings, wanted, node);
        let old = std::mem::replace(&mut self.nodes[node as usize], fit);
        let leaf = tree.leaf_of[node as usize] as usize;
        if let Some(old) = old {
            self.open -= 1;
            list.up_from(leaf).for_each(|switch| self.cpus[switch] -= u64::from(old.cpus));
            if let Some(class) = self.classes.get_mut(&old.weight) {
                class.count(&old, list, node, leaf, -1);
                if class.open == 0 {
                    self.classes.remove(&old.weight);
                }
            }
        }
        if let Some(new) = fit {
            self.open += 1;
            list.up_from(leaf).for_each(|switch| self.cpus[switch] += u64::from(new.cpus));
            let class = self.classes.entry(new.weight).or_insert_with(|| KnownClass {
                open: 0,
                sums: [Sums::default(); 2],
                usable: NodeSet::empty(machine.count()),
                below: vec![0; list.switch_count()],
            });
            class.count(&new, list, node, leaf, 1);
        }
    }

    fn examined(
        &mut self,
        machine: &SharedMachine,
        holdings: &Holdings,
        wanted: &Wanted,
        node: u32,
    ) -> Option<KnownFit> {
        let Wanted { needs, pool } = wanted;
        let is_open = holdings.has_free(node, &self.least)
            && pool.contains(node)
            && machine.up.contains(node)
            && is_available(machine, needs, holdings, node);
        if !is_open {
            return None;
        }
        if !holdings.is_untouched(machine, node) {
            return known_fit(machine, holdings, needs, node).map(|(_, known)| known);
        }
        let idle = &mut self.idle[machine.type_of[node as usize] as usize];
        let idle = idle.get_or_insert_with(|| known_fit(machine, holdings, needs, node));
        idle.as_ref().map(|(_, known)| *known)
    }

    /// Resources of a node that a job could take, after a first selection of cores.
    ///
    /// `None` if the job could take nothing.
    pub(super) fn fit(
        &self,
        machine: &SharedMachine,
        holdings: &Holdings,
        needs: &Needs,
        node: u32,
    ) -> Option<Fit> {
        if holdings.is_untouched(machine, node)
            && let Some(Some((fit, _))) = &self.idle[machine.type_of[node as usize] as usize]
        {
            return Some(fit.clone());
        }
        let mut fit = Fit::new(machine, needs, node, holdings.of(node))?;
        let is_older = machine.params.is_older;
        let nodes = i64::from(least_nodes(needs));
        fit.select_cores(machine.node(node), needs, 0, nodes, true, is_older);
        Some(fit)
    }

    /// Chooses the nodes of a job like [`choose`](super::choose::choose), but from stored results.
    pub(super) fn choose(
        &self,
        machine: &SharedMachine,
        list: &Tree,
        tree: &SingleTree,
        holdings: &Holdings,
        wanted: &Wanted,
        slots: &mut Vec<u32>,
    ) -> KnownChoice {
        let needs = &wanted.needs;
        let mut attempt = Attempt::new(machine, needs, NodeSet::empty(machine.count()));
        attempt.min_nodes = least_nodes(needs);
        if self.open < attempt.min_nodes {
            return KnownChoice::Nothing;
        }
        attempt.limit_first();
        let missing = attempt.missing(false);
        if !attempt.enough_nodes(i64::from(self.open), missing.nodes)
            || missing.cpus > self.cpus[tree.root] as i64
        {
            return KnownChoice::Nothing;
        }
        let counts = attempt.counts_gpus();
        // Count the classes that `Candidates::collect` would need, the lightest first.
        let suffice = |pass: usize| {
            let (mut sum, mut seen, mut are_enough) = (Sums::default(), 0, false);
            let mut light = 0;
            for class in self.classes.values() {
                if sum.nodes > 0 {
                    light = seen;
                }
                let own = &class.sums[pass];
                sum.nodes += own.nodes;
                sum.cpus += own.cpus;
                sum.gpus += if counts { own.gpus } else { 0 };
                seen += 1;
                let rest = sum.cpus >= missing.cpus && (!counts || attempt.gpus_suffice(sum.gpus));
                are_enough = are_enough || rest && attempt.enough_nodes(sum.nodes, missing.nodes);
                if rest && sum.nodes >= missing.nodes {
                    break;
                }
            }
            (are_enough, seen, light)
        };
        let (are_enough, seen, light) = suffice(0);
        if !are_enough {
            // The second attempt considers all nodes too, and there is no third attempt.
            let is_enough_later = suffice(1).0;
            return if is_enough_later { KnownChoice::Unknown } else { KnownChoice::Nothing };
        }
        let found = self.candidates(machine, seen, light);
        attempt.unexamined = Some((self, holdings));
        attempt.slots = std::mem::take(slots);
        let placed = fill(&mut attempt, list, found, &self.cpus, missing);
        let chosen = placed.is_ok().then(|| {
            attempt.clip();
            attempt.leave_out_empty();
            attempt.chosen()
        });
        *slots = std::mem::take(&mut attempt.slots);
        attempt.examined.iter().for_each(|&node| slots[node as usize] = u32::MAX);
        chosen.map_or(KnownChoice::Unknown, KnownChoice::Nodes)
    }

    /// Candidates for the job: all usable nodes with one of the `seen` lowest weights.
    ///
    /// Nodes with one of the `light` lowest weights must be taken first.
    fn candidates(&self, machine: &SharedMachine, seen: usize, light: usize) -> Candidates {
        let mut classes = self.classes.values().take(seen);
        let mut forced = NodeSet::empty(machine.count());
        let (mut all, mut below) = match classes.next() {
            Some(first) => (first.usable.clone(), first.below.clone()),
            None => (forced.clone(), Vec::new()),
        };
        if light > 0 {
            forced.unite(&all);
        }
        for (at, class) in (1..).zip(classes) {
            all.unite(&class.usable);
            below.iter_mut().zip(&class.below).for_each(|(own, other)| *own += other);
            if at < light {
                forced.unite(&class.usable);
            }
        }
        Candidates { all, forced, below: Some(below), are_enough: true }
    }
}

/// Computes what a job could take on one node, and the amounts to store for later searches.
///
/// The first result is the state after the first of two passes that select the node's cores.
fn known_fit(
    machine: &SharedMachine,
    holdings: &Holdings,
    needs: &Needs,
    node: u32,
) -> Option<(Fit, KnownFit)> {
    let kind = machine.node(node);
    let mut fit = Fit::new(machine, needs, node, holdings.of(node))?;
    let (cpus, cores) = (fit.cpus, fit.cores);
    let select = |fit: &mut Fit, first_pass| {
        let (nodes, is_older) = (i64::from(least_nodes(needs)), machine.params.is_older);
        let cpus = fit.select_cores(kind, needs, 0, nodes, first_pass, is_older);
        Pass { cpus, gpus: fit.gpus }
    };
    let first = select(&mut fit, true);
    let mut second = first;
    if needs.gpus.is_some() {
        // The second pass begins with the state after the first one, but with all cores.
        let mut fit = fit.clone();
        fit.cores = cores;
        second = select(&mut fit, false);
    }
    let known = KnownFit { weight: fit.weight, cpus, passes: [first, second] };
    Some((fit, known))
}

impl KnownClass {
    /// Adds the amounts that a job could take on a node to the totals; subtracts them if `sign` is
    /// −1.
    fn count(&mut self, fit: &KnownFit, list: &Tree, node: u32, leaf: usize, sign: i64) {
        self.open = self.open.wrapping_add_signed(sign as i32);
        for (sums, pass) in self.sums.iter_mut().zip(fit.passes) {
            if pass.cpus > 0 {
                sums.nodes += sign;
                sums.cpus += sign * i64::from(pass.cpus);
                sums.gpus = sums.gpus.wrapping_add_signed(sign * pass.gpus as i64);
            }
        }
        if fit.passes[0].cpus > 0 {
            list.up_from(leaf).for_each(|switch| self.below[switch] += sign);
            if sign > 0 {
                self.usable.insert(node);
            } else {
                self.usable.remove(node);
            }
        }
    }
}
