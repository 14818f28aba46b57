//! Free amounts of resources (cores, memory, GPUs) on nodes that jobs share.

use std::sync::Arc;

use crate::geometry::{NodePart, Parts};
use crate::job::WHOLE_SHARE;
use crate::topology::Node;
use crate::topology::types::{CORES, MEM, NodeType, NodeTypes, OTHER};

/// Length above which the log of changed nodes is dropped, so that readers read all nodes again.
const LONGEST_LOG: usize = 1 << 16;

/// Free amounts of resources on all nodes of a site that jobs share.
///
/// The free amount of one resource of a node is a cell, from 0 to its value on an idle node. In a
/// trial, amounts are changed to answer a query, and then restored.
#[derive(Clone, Debug)]
pub struct Amounts {
    types: Arc<NodeTypes>,
    cells: Vec<u32>,
    /// For each node, totals that are derived from its free amounts.
    sums: Vec<Sums>,
    free_cores: u64,
    log: Vec<Node>,
    /// Number of earlier logs of changes, each of which was dropped because it was too long.
    logs: u64,
    trial: Option<Trial>,
    trials: u64,
    /// Buffer that the next trial reuses.
    spare: Vec<(Node, u32, u32)>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Sums {
    cores: u32,
    gpus: u32,
}

#[derive(Clone, Debug)]
struct Trial {
    /// Length of the log of changes when the trial began.
    mark: usize,
    /// Former values of changed amounts: the node, the index among the amounts of all nodes, and
    /// the value.
    former: Vec<(Node, u32, u32)>,
}

/// Free amounts of resources on one node.
#[derive(Clone, Copy, Debug)]
pub struct NodeAmounts<'a> {
    /// Number of the node.
    pub node: Node,
    /// Type of the node.
    pub kind: &'a NodeType,
    /// Free amounts of the node's resources, in the order of [`NodeType::idle`].
    pub cells: &'a [u32],
    /// Number of free cores.
    pub cores: u32,
    /// Number of wholly free GPUs.
    pub gpus: u32,
}

impl<'a> NodeAmounts<'a> {
    /// Creates the record of a node from its type and its free amounts of resources.
    #[must_use]
    pub fn new(node: Node, kind: &'a NodeType, cells: &'a [u32]) -> NodeAmounts<'a> {
        let Sums { cores, gpus } = sums(kind, cells);
        NodeAmounts { node, kind, cells, cores, gpus }
    }

    /// Free memory of the node, in MiB.
    #[must_use]
    pub fn mem(&self) -> u32 {
        self.cells[MEM]
    }

    /// Free amount of the node's resource `other`, whose meaning the study defines.
    #[must_use]
    pub fn other(&self) -> u32 {
        self.cells[OTHER]
    }

    /// Free cores of each island (such as a socket) of the node.
    #[must_use]
    pub fn islands(&self) -> &'a [u32] {
        &self.cells[CORES..self.kind.gpus_from()]
    }

    /// Free thousandths of each GPU of the node.
    #[must_use]
    pub fn gpu_shares(&self) -> &'a [u32] {
        &self.cells[self.kind.gpus_from()..self.kind.tallies_from()]
    }

    /// Numbers of running pieces on the node, grouped by the GPUs of a piece. The first number
    /// counts pieces that share a GPU. The next numbers count pieces with 1, 2, … GPUs.
    pub fn tallies(&self) -> impl Iterator<Item = u32> + 'a {
        self.cells[self.kind.tallies_from()..].iter().map(|&cell| NodeType::tallied(cell))
    }

    /// Whether no core of the node is held.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.cores == self.kind.cpu
    }

    /// Whether no core of the node is held and all of its GPUs are wholly free.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.is_idle() && self.gpus == self.kind.gpu
    }
}

#[inline]
fn sums(kind: &NodeType, cells: &[u32]) -> Sums {
    let (gpus_from, to) = (kind.gpus_from(), kind.tallies_from());
    let cores = cells[CORES..gpus_from].iter().sum();
    let gpus = cells[gpus_from..to].iter().filter(|&&share| share == WHOLE_SHARE);
    Sums { cores, gpus: gpus.count() as u32 }
}

/// Amounts above 0, each with its index. Tallies, which count running pieces, are left out.
fn positive<C: FromIterator<(u16, u32)>>(kind: &NodeType, cells: &[u32]) -> C {
    let own = (0..).zip(&cells[..kind.tallies_from()]);
    own.filter(|(_, amount)| **amount > 0).map(|(cell, &amount)| (cell, amount)).collect()
}

/// Nodes whose amounts have changed, in order of the changes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ChangeLog<'a> {
    pub(crate) nodes: &'a [Node],
    /// Number of earlier change logs. A reader of an earlier log must read all nodes again.
    pub(crate) number: u64,
    /// Number of logged changes before the current trial, whose changes will be undone.
    pub(crate) settled: usize,
    /// Number of the trial in progress, if any; changes made during a trial will be undone.
    pub(crate) trial: Option<u64>,
}

/// Amounts of resources. An entry has a node, the index of a resource on the node, and an amount.
pub(crate) type CellLimits = Vec<(Node, u16, u32)>;

impl Amounts {
    /// Creates the amounts of a site whose nodes are all idle.
    #[must_use]
    pub fn new(types: Arc<NodeTypes>) -> Amounts {
        let mut cells = Vec::new();
        let mut nodes = Vec::new();
        let idle: Vec<Vec<u32>> = types.types().iter().map(NodeType::idle).collect();
        for node in 0..types.nodes() {
            let own = &idle[types.index(node)];
            nodes.push(sums(types.of(node), own));
            cells.extend_from_slice(own);
        }
        Amounts {
            free_cores: types.cores(),
            types,
            cells,
            sums: nodes,
            log: Vec::new(),
            logs: 0,
            trial: None,
            trials: 0,
            spare: Vec::new(),
        }
    }

    /// Types of the nodes.
    #[must_use]
    pub fn types(&self) -> &Arc<NodeTypes> {
        &self.types
    }

    /// Free amounts of a node.
    #[must_use]
    #[inline]
    pub fn of(&self, node: Node) -> NodeAmounts<'_> {
        let Sums { cores, gpus } = self.sums[node as usize];
        let cells = &self.cells[self.types.cells(node)];
        NodeAmounts { node, kind: self.types.of(node), cells, cores, gpus }
    }

    /// Number of free cores of all nodes.
    #[must_use]
    pub fn free_cores(&self) -> u64 {
        self.free_cores
    }

    /// Total free amounts of all nodes: cores, memory in MiB, wholly free GPUs, and `other`.
    ///
    /// **O(n)** for *n* nodes.
    #[must_use]
    pub fn free(&self) -> [u64; 4] {
        let mut free = [self.free_cores, 0, 0, 0];
        for node in 0..self.types.nodes() {
            let of = self.of(node);
            free[1] += u64::from(of.mem());
            free[2] += u64::from(of.gpus);
            free[3] += u64::from(of.other());
        }
        free
    }

    pub(crate) fn changes(&self) -> ChangeLog<'_> {
        let settled = self.trial.as_ref().map_or(self.log.len(), |trial| trial.mark);
        let trial = self.trial.as_ref().map(|_| self.trials);
        ChangeLog { nodes: &self.log, number: self.logs, settled, trial }
    }

    /// Whether all amounts of resources in `parts` are free.
    #[must_use]
    pub fn has(&self, parts: &Parts) -> bool {
        // If several parts are of one node, the sum of their amounts is compared.
        let mut seen: Vec<(Node, u16, u32)> = Vec::new();
        let several = parts.parts.windows(2).any(|pair| pair[0].node >= pair[1].node);
        parts.parts.iter().all(|part| {
            let cells = &self.cells[self.types.cells(part.node)];
            part.cells.iter().all(|&(cell, amount)| {
                let mut wanted = amount;
                if several {
                    let before = seen.iter().filter(|(on, at, _)| (*on, *at) == (part.node, cell));
                    wanted += before.map(|(_, _, amount)| amount).sum::<u32>();
                    seen.push((part.node, cell, amount));
                }
                cells.get(cell as usize).is_some_and(|&free| free >= wanted)
            })
        })
    }

    /// Claims the resources of a job on its nodes. For each node that was idle before, calls
    /// `changed` with the node and `false`.
    pub(crate) fn take(&mut self, parts: &Parts, changed: &mut impl FnMut(Node, bool)) {
        self.change_parts(parts, changed, |free, amount| free - amount);
    }

    /// Releases the resources of a job on its nodes. If a node becomes idle, calls `changed` with
    /// the node and `true`.
    pub(crate) fn give_back(&mut self, parts: &Parts, changed: &mut impl FnMut(Node, bool)) {
        self.change_parts(parts, changed, |free, amount| free + amount);
    }

    /// Claims amounts of resources on nodes. If less than an amount is free, all that is free is
    /// claimed.
    pub(crate) fn take_what_is_free_of(
        &mut self,
        parts: &Parts,
        changed: &mut impl FnMut(Node, bool),
    ) {
        self.change_parts(parts, changed, u32::saturating_sub);
    }

    #[inline]
    fn change_parts(
        &mut self,
        parts: &Parts,
        changed: &mut impl FnMut(Node, bool),
        new: impl Fn(u32, u32) -> u32,
    ) {
        for part in &parts.parts {
            self.change(part.node, changed, |at| part.cells[at], part.cells.len(), &new);
        }
    }

    /// Lowers each free amount by a given amount, but not below 0.
    pub(crate) fn lower(&mut self, by: &CellLimits, changed: &mut impl FnMut(Node, bool)) {
        for group in by.chunk_by(|a, b| a.0 == b.0) {
            let cell = |at: usize| (group[at].1, group[at].2);
            self.change(group[0].0, changed, cell, group.len(), u32::saturating_sub);
        }
    }

    /// Lowers each free amount to at most the given limit.
    pub(crate) fn limit(&mut self, limits: &CellLimits, changed: &mut impl FnMut(Node, bool)) {
        for group in limits.chunk_by(|a, b| a.0 == b.0) {
            let cell = |at: usize| (group[at].1, group[at].2);
            self.change(group[0].0, changed, cell, group.len(), u32::min);
        }
    }

    /// Changes free amounts of a node, each by a function of the former amount and an operand.
    #[inline]
    fn change(
        &mut self,
        node: Node,
        changed: &mut impl FnMut(Node, bool),
        cell: impl Fn(usize) -> (u16, u32),
        cells: usize,
        new: impl Fn(u32, u32) -> u32,
    ) {
        let range = self.types.cells(node);
        for at in 0..cells {
            let (cell, amount) = cell(at);
            let place = range.start + cell as usize;
            let former = self.cells[place];
            if let Some(trial) = &mut self.trial {
                trial.former.push((node, place as u32, former));
            }
            self.cells[place] = new(former, amount);
        }
        self.log.push(node);
        self.resum(node, changed);
    }

    fn resum(&mut self, node: Node, changed: &mut impl FnMut(Node, bool)) {
        let kind = self.types.of(node);
        let now = sums(kind, &self.cells[self.types.cells(node)]);
        let before = std::mem::replace(&mut self.sums[node as usize], now);
        self.free_cores = self.free_cores + u64::from(now.cores) - u64::from(before.cores);
        let is_idle = now.cores == kind.cpu;
        if is_idle != (before.cores == kind.cpu) {
            changed(node, is_idle);
        }
        if self.log.len() > LONGEST_LOG && self.trial.is_none() {
            self.log.clear();
            self.logs += 1;
        }
    }

    pub(crate) fn begin_trial(&mut self) {
        debug_assert!(self.trial.is_none(), "trials are not nested");
        let former = std::mem::take(&mut self.spare);
        self.trials += 1;
        self.trial = Some(Trial { mark: self.log.len(), former });
    }

    /// Ends a trial and restores the amounts as they were before it.
    pub(crate) fn end_trial(&mut self, changed: &mut impl FnMut(Node, bool)) {
        let Some(Trial { mark, mut former }) = self.trial.take() else { return };
        for &(_, cell, value) in former.iter().rev() {
            self.cells[cell as usize] = value;
        }
        former.dedup_by_key(|(node, ..)| *node);
        for (node, ..) in former.drain(..) {
            self.resum(node, changed);
        }
        self.spare = former;
        self.log.truncate(mark);
    }

    /// Whether no core of a node is held.
    #[must_use]
    pub fn is_idle(&self, node: Node) -> bool {
        self.of(node).is_idle()
    }

    /// All free amounts of a node, in the form in which they can be claimed.
    pub(crate) fn rest(&self, node: Node) -> Parts {
        let of = self.of(node);
        let cells = positive(of.kind, of.cells);
        Parts { parts: vec![NodePart { node, pieces: 0, cells }], cores: of.cores }
    }

    /// A whole GPU of a node as amounts to claim; `None` if it is not wholly free.
    pub(crate) fn whole_gpu(&self, node: Node, gpu: u32) -> Option<Parts> {
        let of = self.of(node);
        let cell = of.kind.gpus_from() + gpu as usize;
        (of.cells[cell] == WHOLE_SHARE).then(|| {
            let cells = [(cell as u16, WHOLE_SHARE)].into_iter().collect();
            Parts { parts: vec![NodePart { node, pieces: 0, cells }], cores: 0 }
        })
    }

    /// Amounts that a job holds on a node if it has the whole node.
    #[must_use]
    pub fn whole(&self, node: Node) -> NodePart {
        let kind = self.types.of(node);
        NodePart { node, pieces: 1, cells: positive(kind, &kind.idle()) }
    }
}
