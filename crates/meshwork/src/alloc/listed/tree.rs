//! Tree of switches: a job gets nodes below few switches that are close to each other.

use std::ops::Range;

use super::adapter::{
    HOSTS, PARTITIONS, RuleAllocator, WEIGHTS, consecutive, entry, nodes_of, set_of,
};
use super::decide::{Action, Failure, Rule, RuleResult, SlurmMessage};
use super::runs::Runs;
use super::{NodeRequest, Nodes};
use crate::alloc::AllocatorEntry;
use crate::geometry::{NodeSet, bits};
use crate::job::Inside;
use crate::registry::{About, Kind, Param, Params, Problem};
use crate::topology::Node;

/// Registry entry of the allocator `tree`.
pub static ENTRY: AllocatorEntry = entry(
    About {
        name: "tree",
        aliases: &[],
        summary: "nodes under few switches that are near one another",
        definition: "The machine is a list of switches, leaves with nodes and others with switches below them. A job \
                     lies below one switch, the last of the highest that have room and none lighter before them. There \
                     it takes leaves one by one: the one with the fewest free nodes that holds all that is still \
                     missing; if none does, the one under the smallest switch above that does; and of those equally far \
                     from the leaves that are used already, the one with the most free nodes; of equal ones the first. \
                     All free nodes of lighter weights are taken before heavier ones, wherever they lie. A job of one \
                     node gets the lightest node of lowest number.",
        complexity: "O(s h) for each leaf that is taken, with s switches in h levels, and O(s + w n / 64) before, with w \
                     weights on n nodes.",
        source: "Slurm 26.05, topology/tree, checked against its decisions",
        params: &[
            Param::new("radix", Kind::Integers(1, 1 << 24)).is("[8, 4]").help(
                "where no switches are listed: how many consecutive nodes a leaf has, then how \
                     many switches each one of the next level joins; one switch above all is the \
                     last",
            ),
            Param::new("switches", Kind::Tables(SWITCH))
                .absent("a tree by `radix`")
                .help("the switches, each with nodes or with switches below it"),
            Param::new("switches_at_most", Kind::Integer(1, 1 << 24))
                .absent("any number")
                .help("how many leaves a job may touch; it waits for fewer, for ever"),
            WEIGHTS,
            HOSTS,
            PARTITIONS,
        ],
    },
    |params, topology| {
        let mut universe = topology.grid().nodes();
        let list = match params.get_tables("switches") {
            Some(switches) => listed(&switches, &mut universe)?,
            None => regular(&params.integers("radix"), universe),
        };
        let allocator = RuleAllocator::new(Tree::new(universe, &list), params, topology, universe)?;
        let most = params.get_integer("switches_at_most").map(|most| most as u32);
        Ok(Box::new(allocator.with_common(|request| request.switches = most)))
    },
);

const SWITCH: &[Param] = &[
    Param::new("nodes", Kind::Integers(0, (1 << 24) - 1)).absent("none").help(
        "its nodes, by their numbers, if it is a leaf; one that the machine does not have is \
             never free",
    ),
    Param::new("children", Kind::Integers(0, (1 << 24) - 1))
        .absent("none")
        .help("the switches below it, by their places in the list, from 0"),
];

/// Reads a list of switches; an error if a switch is below itself, directly or through others.
fn listed(switches: &[Params], universe: &mut u32) -> Result<Vec<Below>, Problem> {
    let nodes: Vec<Vec<u32>> = switches.iter().map(|switch| nodes_of(switch, universe)).collect();
    let mut list = Vec::new();
    for (switch, nodes) in switches.iter().zip(&nodes) {
        let Some(children) = switch.get_integers("children").filter(|_| nodes.is_empty()) else {
            list.push(Below::Nodes(set_of(nodes, *universe)));
            continue;
        };
        if let Some(child) = children.iter().find(|&&child| child as usize >= switches.len()) {
            let says = format!("there is no switch {child}: {} are listed, from 0", switches.len());
            return Err(switch.problem("children", says));
        }
        list.push(Below::Switches(children.into_iter().map(|child| child as usize).collect()));
    }
    let mut is_known = vec![false; list.len()];
    upwards(&list).into_iter().for_each(|i| is_known[i] = true);
    let Some(mut place) = is_known.iter().position(|known| !known) else { return Ok(list) };
    // Unknown switches have an unknown child, so a path this long ends at one below itself.
    for _ in 0..list.len() {
        if let Below::Switches(children) = &list[place] {
            place = children.iter().copied().find(|child| !is_known[*child]).unwrap_or(place);
        }
    }
    Err(switches[place].problem("children", "this switch is below itself"))
}

/// Creates a regular tree of switches.
///
/// `radix[0]` is the number of nodes below each leaf. The other entries are the numbers of children
/// on each higher level.
fn regular(radix: &[u32], count: u32) -> Vec<Below> {
    let leaves = consecutive(count, radix[0]);
    let mut list: Vec<Below> =
        leaves.iter().map(|nodes| Below::Nodes(set_of(nodes, count))).collect();
    let mut level = 0..list.len();
    for &joined in &radix[1..] {
        let places: Vec<usize> = level.clone().collect();
        if places.len() == 1 {
            return list;
        }
        let above = places.chunks(joined as usize).map(|part| Below::Switches(part.to_vec()));
        list.extend(above);
        level = level.end..list.len();
    }
    if level.len() > 1 {
        list.push(Below::Switches(level.collect()));
    }
    list
}

#[derive(Clone, Debug)]
struct Switch {
    /// Level of the switch: 0 for a leaf, otherwise one more than the level of its highest child.
    level: u32,
    /// Switch directly above this switch; `None` if there is none.
    parent: Option<usize>,
    depth: u32,
    nodes: NodeSet,
    /// Range of words of a node set that contains all nodes below the switch.
    words: Range<usize>,
    /// Switches directly below this switch; `None` for a leaf, or if two of them share a node.
    parts: Option<Vec<usize>>,
}

/// Placement rule of the allocator `tree`: a job gets nodes below few switches close to each other.
#[derive(Clone, Debug)]
pub struct Tree {
    switches: Vec<Switch>,
    leaves: Vec<usize>,
    /// Indices of all switches, in an order in which each switch follows those below it.
    upwards: Vec<usize>,
}

/// Nodes or switches that lie directly below a switch.
#[derive(Clone, Debug)]
pub enum Below {
    /// Nodes of a leaf switch.
    Nodes(NodeSet),
    /// Indices of the switches directly below a switch, in the list of all switches.
    Switches(Vec<usize>),
}

impl Tree {
    /// Creates a tree of switches from a list of what lies directly below each switch.
    ///
    /// The result may have several top switches. If a switch is listed below two others, the later
    /// one is its parent.
    ///
    /// # Panics
    /// If a switch is below itself, or an index is not in the list.
    #[must_use]
    pub fn new(count: u32, list: &[Below]) -> Tree {
        let mut parent: Vec<Option<usize>> = vec![None; list.len()];
        for (i, below) in list.iter().enumerate() {
            if let Below::Switches(children) = below {
                children.iter().for_each(|&child| parent[child] = Some(i));
            }
        }
        let upwards = upwards(list);
        assert_eq!(upwards.len(), list.len(), "no switch is below itself");
        let switch = |(below, parent): (&Below, Option<usize>)| {
            let nodes = match below {
                Below::Nodes(nodes) => nodes.clone(),
                Below::Switches(_) => NodeSet::empty(count),
            };
            Switch { level: 0, parent, depth: 0, nodes, words: 0..0, parts: None }
        };
        let mut switches: Vec<Switch> = list.iter().zip(parent).map(switch).collect();
        for &i in &upwards {
            if let Below::Switches(children) = &list[i] {
                let mut all = NodeSet::empty(count);
                children.iter().for_each(|&child| all.unite(&switches[child].nodes));
                let sum: u32 = children.iter().map(|&child| switches[child].nodes.count()).sum();
                switches[i].parts = (sum == all.count()).then(|| children.clone());
                switches[i].nodes = all;
                let levels = children.iter().map(|&child| switches[child].level + 1);
                switches[i].level = levels.max().unwrap_or(0);
            }
            let words = switches[i].nodes.words();
            let first = words.iter().position(|&word| word != 0).unwrap_or(0);
            let end = words.iter().rposition(|&word| word != 0).map_or(first, |last| last + 1);
            switches[i].words = first..end;
        }
        for &i in upwards.iter().rev() {
            let above = switches[i].parent.map(|parent| switches[parent].depth + 1);
            switches[i].depth = above.unwrap_or(0);
        }
        let leaves = (0..switches.len()).filter(|&i| switches[i].level == 0).collect();
        Tree { switches, leaves, upwards }
    }

    /// Level of a switch: 0 for a leaf, otherwise one more than the level of its highest child.
    #[must_use]
    pub fn level(&self, switch: usize) -> u32 {
        self.switches[switch].level
    }

    pub(crate) fn depth(&self, switch: usize) -> u32 {
        self.switches[switch].depth
    }

    pub(crate) fn parent(&self, switch: usize) -> Option<usize> {
        self.switches[switch].parent
    }

    /// Number of switches of the tree.
    #[must_use]
    pub fn switch_count(&self) -> usize {
        self.switches.len()
    }

    /// Indices of the leaf switches, in the order of the list of switches.
    #[must_use]
    pub fn leaves(&self) -> &[usize] {
        &self.leaves
    }

    /// Nodes below a switch, directly or through other switches.
    #[must_use]
    pub fn nodes(&self, switch: usize) -> &NodeSet {
        &self.switches[switch].nodes
    }

    /// Nodes of `set` below a switch, as 64-bit words. Only the words that can contain nodes below
    /// the switch are returned.
    fn words<'a>(&'a self, i: usize, set: &'a NodeSet) -> impl Iterator<Item = u64> + 'a {
        let switch = &self.switches[i];
        let own = &switch.nodes.words()[switch.words.clone()];
        own.iter().zip(&set.words()[switch.words.clone()]).map(|(own, other)| own & other)
    }

    /// For each switch, the sum of `of(node)` over those nodes of `set` that lie below the switch.
    pub(crate) fn sums(&self, set: &NodeSet, of: impl Fn(Node) -> u64) -> Vec<u64> {
        let mut sums = vec![0; self.switches.len()];
        for &i in &self.upwards {
            sums[i] = match &self.switches[i].parts {
                Some(parts) => parts.iter().map(|&part| sums[part]).sum(),
                None => {
                    let first = self.switches[i].words.start as u32;
                    let words = (first..).zip(self.words(i, set));
                    words
                        .flat_map(|(at, word)| bits(word).map(move |bit| at * 64 + bit))
                        .map(&of)
                        .sum()
                }
            };
        }
        sums
    }

    /// For each switch, the number of nodes of `set` that lie below the switch.
    pub(crate) fn counts(&self, set: &NodeSet) -> Vec<u32> {
        let mut counts = vec![0; self.switches.len()];
        for &i in &self.upwards {
            counts[i] = match &self.switches[i].parts {
                Some(parts) => parts.iter().map(|&part| counts[part]).sum(),
                None => self.words(i, set).map(u64::count_ones).sum(),
            };
        }
        counts
    }

    /// For each switch, the lowest weight of the nodes of `set` below the switch.
    fn lightest(&self, nodes: &Nodes, set: &NodeSet) -> Vec<Option<u32>> {
        let mut lightest = vec![None; self.switches.len()];
        for (weight, class) in nodes.classes().iter().rev() {
            let mut class = class.clone();
            class.intersect(set);
            for (lightest, count) in lightest.iter_mut().zip(self.counts(&class)) {
                if count > 0 {
                    *lightest = Some(*weight);
                }
            }
        }
        lightest
    }

    /// For each switch, the sum of its distances to all used switches, in links.
    ///
    /// `None` if a used switch lies in another tree.
    pub(crate) fn distances(&self, used: &[bool]) -> Vec<Option<u32>> {
        let mut below: Vec<u32> = used.iter().map(|&used| u32::from(used)).collect();
        let (mut total, mut depths) = (0, 0);
        for &i in &self.upwards {
            if used[i] {
                (total, depths) = (total + 1, depths + self.switches[i].depth);
            }
            if let Some(parent) = self.switches[i].parent {
                below[parent] += below[i];
            }
        }
        // Links that the path of each switch to the root shares with those of used ones.
        let mut shared = vec![0; used.len()];
        let mut distances = vec![None; used.len()];
        for &i in self.upwards.iter().rev() {
            let Switch { parent, depth, .. } = self.switches[i];
            let is_reached = match parent {
                None => below[i] == total,
                Some(parent) => {
                    shared[i] = shared[parent] + below[i];
                    distances[parent].is_some()
                }
            };
            distances[i] = is_reached.then(|| total * depth + depths - 2 * shared[i]);
        }
        distances
    }

    pub(crate) fn up_from(&self, switch: usize) -> impl Iterator<Item = usize> + '_ {
        std::iter::successors(Some(switch), |&i| self.switches[i].parent)
    }

    /// Index of the switch below which all nodes of the job are chosen.
    ///
    /// `enough` tells whether a number of free nodes suffices.
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
            return top
                .filter(holds_all)
                .ok_or(Failure::Never(SlurmMessage::TopologyConfiguration));
        }
        let (counts, weights) = (self.counts(available), self.lightest(nodes, available));
        let mut lowest = 0;
        for (i, switch) in self.switches.iter().enumerate() {
            let Some(weight) = weights[i].filter(|_| enough(counts[i])) else { continue };
            if top.is_none_or(|top| switch.level >= self.switches[top].level && weight <= lowest) {
                (top, lowest) = (Some(i), weight);
            }
        }
        top.ok_or(Failure::of(SlurmMessage::UnitTooFull))
    }

    /// Compares the switches `i` and `j` as sources of the missing nodes; the better one is the
    /// greater.
    ///
    /// `holds` tells whether a switch has enough free nodes. A switch with enough is better than
    /// one without. If both have enough, the one with fewer free nodes is better. If neither has
    /// enough, the switches above them are compared, and so on upwards. The second result tells
    /// whether the last switch that was compared for `i` has enough.
    pub(crate) fn compare<T: Copy + Ord>(
        &self,
        i: usize,
        j: usize,
        free: &[T],
        holds: impl Fn(usize) -> bool,
    ) -> (std::cmp::Ordering, bool) {
        use std::cmp::Ordering::{Equal, Greater, Less};
        let (mut i, mut j) = (i, j);
        let fits = loop {
            let (i_fits, j_fits) = (holds(i), holds(j));
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

    /// Attempts to select `want` nodes, or at least `request.nodes` nodes if fewer are available.
    ///
    /// The caller begins with `request.most` as `want`, and lowers it while the nodes lie on too
    /// many leaves. If the required nodes alone suffice for the lowered `want`, one more node is
    /// taken, if available.
    fn gather(
        &self,
        nodes: &Nodes,
        request: &NodeRequest,
        want: u32,
        required: Option<&NodeSet>,
        available: &NodeSet,
    ) -> RuleResult {
        let mut chosen = required.cloned().unwrap_or_else(|| NodeSet::empty(nodes.count()));
        let mut missing = want.saturating_sub(chosen.count());
        let mut spare = want - request.nodes;
        let top = self.top(nodes, required, available, |free| free + spare >= want)?;
        if missing == 0 && want >= request.most {
            return Ok(chosen);
        }
        let mut inside = self.switches[top].nodes.clone();
        inside.intersect(available);
        let mut candidates = NodeSet::empty(nodes.count());
        let mut forced = chosen.clone();
        let mut found = 0;
        // Weights of which no node is available are ignored.
        let classes = nodes.classes().iter().filter(|(_, class)| class.meets(available));
        for (_, class) in classes {
            forced.unite(&candidates);
            let mut class = class.clone();
            class.intersect(&inside);
            class.subtract(&chosen);
            candidates.unite(&class);
            found = candidates.count();
            if found >= missing {
                break;
            }
        }
        if missing == 0 {
            (missing, spare) = (1, spare + 1);
        }
        if found + spare < missing {
            return Err(Failure::now(SlurmMessage::UnitTooFull, Action::Without(inside)));
        }
        missing = missing.saturating_sub(forced.count() - chosen.count());
        chosen.unite(&forced);
        candidates.unite(&chosen);
        let mut free = self.counts(&candidates);
        let mut used = vec![false; self.switches.len()];
        if !chosen.is_empty() {
            used = self.counts(&chosen).into_iter().map(|count| count > 0).collect();
            let before = missing;
            for &leaf in &self.leaves {
                if missing == 0 {
                    break;
                }
                if used[leaf] {
                    self.take(leaf, &candidates, &mut chosen, &mut missing);
                    // Like Slurm, this subtracts all nodes taken so far, from whichever leaf.
                    for i in self.up_from(leaf) {
                        free[i] = free[i].saturating_sub(before - missing);
                    }
                }
            }
        }
        let mut open = self.leaves.clone();
        while missing > 0 {
            let distances = self.distances(&used);
            open.retain(|&leaf| !used[leaf] && free[leaf] > 0 && distances[leaf].is_some());
            let best = open.iter().copied().reduce(|best, leaf| {
                let holds = |switch: usize| free[switch] >= missing;
                let (order, fits) = self.compare(leaf, best, &free, holds);
                let is_better = distances[leaf] < distances[best] && fits
                    || distances[leaf] == distances[best] && order.is_gt();
                if is_better { leaf } else { best }
            });
            let Some(leaf) = best else { break };
            used[leaf] = true;
            self.take(leaf, &candidates, &mut chosen, &mut missing);
            let gone = free[leaf];
            for i in self.up_from(leaf) {
                free[i] = free[i].saturating_sub(gone);
            }
        }
        if missing > spare {
            return Err(Failure::now(SlurmMessage::UnitTooFull, Action::WithoutOneOf(chosen)));
        }
        Ok(chosen)
    }

    /// Takes the lowest candidate nodes below a leaf switch, until the job has enough nodes.
    fn take(&self, leaf: usize, candidates: &NodeSet, chosen: &mut NodeSet, missing: &mut u32) {
        for (word, mut bits) in
            (self.switches[leaf].words.start..).zip(self.words(leaf, candidates))
        {
            bits &= !chosen.words()[word];
            while bits != 0 && *missing > 0 {
                chosen.insert(word as u32 * 64 + bits.trailing_zeros());
                bits &= bits - 1;
                *missing -= 1;
            }
        }
    }

    fn leaves_touched(&self, chosen: &NodeSet) -> u32 {
        let counts = self.counts(chosen);
        self.leaves.iter().filter(|&&leaf| counts[leaf] > 0).count() as u32
    }
}

impl Rule for Tree {
    fn parts(&self, inside: Inside) -> Vec<NodeSet> {
        let level = match inside {
            Inside::Leaf => 0,
            Inside::Block => 1,
            _ => return Vec::new(),
        };
        let own = self.switches.iter().filter(|switch| switch.level == level);
        own.map(|switch| switch.nodes.clone()).collect()
    }

    fn attempt(
        &self,
        nodes: &Nodes,
        request: &NodeRequest,
        required: Option<&NodeSet>,
        available: &NodeSet,
    ) -> RuleResult {
        if request.contiguous {
            return Runs.attempt(nodes, request, required, available);
        }
        let mut want = request.most.max(request.nodes);
        loop {
            let chosen = self.gather(nodes, request, want, required, available)?;
            let is_near = request.switches.is_none_or(|most| self.leaves_touched(&chosen) <= most);
            if is_near {
                return Ok(chosen);
            }
            if want <= request.nodes {
                return Err(Failure::of(SlurmMessage::Busy));
            }
            want -= 1;
        }
    }

    fn needs_only_count(&self, nodes: &Nodes, request: &NodeRequest, among: &NodeSet) -> bool {
        let is_plain = request.switches.is_none() && Runs.needs_only_count(nodes, request, among);
        let joins_all = |switch: &Switch| among.is_within(&switch.nodes);
        is_plain && nodes.classes().len() == 1 && self.switches.iter().any(joins_all)
    }
}

/// Indices of the switches, in an order in which each switch follows those below it.
///
/// Switches on a cycle, and all switches above a cycle, are left out.
fn upwards(list: &[Below]) -> Vec<usize> {
    let mut above: Vec<Vec<usize>> = vec![Vec::new(); list.len()];
    let mut unknown = vec![0; list.len()];
    for (i, below) in list.iter().enumerate() {
        if let Below::Switches(children) = below {
            children.iter().for_each(|&child| above[child].push(i));
            unknown[i] = children.len();
        }
    }
    let mut upwards: Vec<usize> = (0..list.len()).filter(|&i| unknown[i] == 0).collect();
    let mut next = 0;
    while let Some(&known) = upwards.get(next) {
        for &i in &above[known] {
            unknown[i] -= 1;
            if unknown[i] == 0 {
                upwards.push(i);
            }
        }
        next += 1;
    }
    upwards
}
