//! Ranking of the nodes of a machine for one role of a job, that is, for one kind of its pieces.

use smallvec::SmallVec;

use super::orders::NodeOrder;
use crate::job::{Inside, Piece, Pieces};
use crate::machine::{Amounts, ChangeLog, NodeAmounts};
use crate::topology::Node;
use crate::topology::types::NodeTypes;

/// Range of nodes: its first node, and the node after its last one.
pub(super) type Span = (Node, Node);

const NONE: i64 = i64::MIN;

/// Ranking of nodes for one role of a job.
///
/// It has the number of pieces that fit on each node, and the node to be used first. In an update,
/// only nodes whose free amounts have changed are read again.
pub(super) struct Ranked {
    request: Pieces,
    role: usize,
    /// Sequence number of the last use of this ranking.
    pub(super) used: u64,
    /// For each node type, whether its nodes may hold pieces of the ranked role.
    suits: Vec<bool>,
    /// Number of the change log that was read last, and the position up to which it was read.
    ///
    /// `None` before the first read.
    followed: Option<(u64, usize)>,
    /// Number of the trial that was read last, and position in the log of changes that was reached.
    ///
    /// A trial consists of changes that are undone later.
    tried: Option<(u64, usize)>,
    /// Nodes that must be read again at the next update, in addition to those in the log of
    /// changes.
    doubted: Vec<Node>,
    fits: Vec<u32>,
    scores: Vec<i64>,
    /// Tournament tree of nodes: entry 1 is the best node, and the last entries are all nodes in
    /// order.
    winners: Vec<Node>,
    leaves: usize,
    /// Number of nodes of each leaf of the machine.
    leaf: u32,
    /// For each leaf of the machine, the number of pieces that fit on it.
    leaf_rooms: Vec<u32>,
    /// Number of pieces that fit on all nodes together.
    room: u64,
}

/// Number of pieces of a role that fit on a node. It does not exceed the total number of pieces.
///
/// The result is 0 if all pieces must be on one node or island, but do not all fit there. It is
/// also 0 if fewer pieces fit than a node must get at least. `suits` tells whether pieces may be on
/// this type of node.
pub(super) fn fits(node: &NodeAmounts<'_>, piece: &Piece, request: &Pieces, suits: bool) -> u32 {
    if !suits || (request.exclusive && !node.is_whole()) {
        return 0;
    }
    let by = |free: u32, own: u32| free.checked_div(own).unwrap_or(u32::MAX);
    let gpus = |shares: &[u32]| match piece.gpu {
        0 => u32::MAX,
        _ if piece.is_sharing() => shares.iter().map(|free| free / piece.share).sum(),
        _ => by(
            shares.iter().filter(|&&free| free == crate::job::WHOLE_SHARE).count() as u32,
            piece.gpu,
        ),
    };
    let amounts = by(node.mem(), piece.mem).min(by(node.other(), piece.other));
    let most = if request.inside == Inside::Island {
        let shares = node.gpu_shares();
        let each = shares.len() / node.islands().len();
        let on = |(at, &cores): (usize, &u32)| {
            by(cores, piece.cpu).min(gpus(&shares[at * each..(at + 1) * each]))
        };
        node.islands().iter().enumerate().map(on).max().unwrap_or(0)
    } else if piece.gpu > 0 && !piece.is_sharing() {
        by(node.cores, piece.cpu).min(node.gpus / piece.gpu)
    } else {
        by(node.cores, piece.cpu).min(gpus(node.gpu_shares()))
    };
    let most = most.min(amounts).min(piece.per_node.unwrap_or(u32::MAX)).min(piece.count);
    let least = match request.inside {
        Inside::Node | Inside::Island => piece.count,
        _ => piece.per_node_min.min(piece.count),
    };
    if most < least { 0 } else { most }
}

impl Ranked {
    pub(super) fn new(
        request: &Pieces,
        role: usize,
        types: &NodeTypes,
        [leaf, _, nodes]: [u32; 3],
    ) -> Ranked {
        let leaves = (nodes as usize).next_power_of_two();
        let piece = &request.roles[role];
        Ranked {
            request: request.clone(),
            role,
            used: 0,
            suits: types.types().iter().map(|kind| kind.suits(piece)).collect(),
            followed: None,
            tried: None,
            doubted: Vec::new(),
            fits: vec![0; nodes as usize],
            scores: vec![NONE; leaves],
            winners: vec![0; 2 * leaves],
            leaves,
            leaf,
            leaf_rooms: vec![0; nodes.div_ceil(leaf) as usize],
            room: 0,
        }
    }

    pub(super) fn is_of(&self, request: &Pieces, role: usize) -> bool {
        self.role == role && self.request == *request
    }

    fn piece(&self) -> &Piece {
        &self.request.roles[self.role]
    }

    pub(super) fn keeps_together(&self) -> bool {
        matches!(self.request.inside, Inside::Node | Inside::Island)
    }

    /// Reads again the nodes that have changed, or all nodes if the changes are not known.
    ///
    /// `taken` has the nodes that other roles of the job use, with the amounts left on them.
    pub(super) fn follow(
        &mut self,
        amounts: &Amounts,
        order: &mut dyn NodeOrder,
        taken: &[(Node, Vec<u32>)],
    ) {
        let ChangeLog { nodes: log, number, settled, trial } = amounts.changes();
        match (self.followed, self.tried) {
            // The last trial goes on, so only its later changes are new.
            (Some((same, _)), Some((before, read)))
                if same == number && trial == Some(before) && taken.is_empty() =>
            {
                for &node in &log[read..] {
                    self.read(&amounts.of(node), order);
                }
                self.doubted.extend_from_slice(&log[read..]);
                self.tried = Some((before, log.len()));
                return;
            }
            (Some((same, read)), _) if same == number && read <= log.len() => {
                let doubted = std::mem::take(&mut self.doubted);
                for &node in doubted.iter().chain(&log[read..]) {
                    self.read(&amounts.of(node), order);
                }
                self.doubted = doubted;
                self.doubted.clear();
            }
            _ => {
                self.doubted.clear();
                for node in 0..self.fits.len() as Node {
                    let view = amounts.of(node);
                    (self.fits[node as usize], self.scores[node as usize]) =
                        self.judge(&view, order);
                }
                self.build();
            }
        }
        self.doubted.extend_from_slice(&log[settled..]);
        self.followed = Some((number, settled));
        self.tried = trial.map(|trial| (trial, log.len()));
        for (node, cells) in taken {
            let kind = amounts.types().of(*node);
            self.read(&NodeAmounts::new(*node, kind, cells), order);
        }
    }

    pub(super) fn doubt(&mut self, nodes: &[Node]) {
        if self.followed.is_some() && !nodes.is_empty() {
            self.doubted.extend_from_slice(nodes);
            self.tried = None;
        }
    }

    fn judge(&self, node: &NodeAmounts<'_>, order: &mut dyn NodeOrder) -> (u32, i64) {
        let piece = &self.request.roles[self.role];
        let suits = self.suits[0] && self.suits.len() == 1
            || self.suits.len() > 1 && node.kind.suits(piece);
        let fits = fits(node, piece, &self.request, suits);
        (fits, if fits > 0 { order.score(node, piece).max(NONE + 1) } else { NONE })
    }

    fn read(&mut self, node: &NodeAmounts<'_>, order: &mut dyn NodeOrder) {
        let (fits, score) = self.judge(node, order);
        let at = node.node as usize;
        let before = std::mem::replace(&mut self.fits[at], fits);
        if before != fits {
            let leaf = &mut self.leaf_rooms[at / self.leaf as usize];
            *leaf = *leaf - before + fits;
            self.room = self.room - u64::from(before) + u64::from(fits);
        }
        self.set_score(node.node, score);
    }

    fn build(&mut self) {
        self.room = self.fits.iter().map(|&fits| u64::from(fits)).sum();
        for (rooms, fits) in self.leaf_rooms.iter_mut().zip(self.fits.chunks(self.leaf as usize)) {
            *rooms = fits.iter().sum();
        }
        for at in 0..self.leaves {
            self.winners[self.leaves + at] = at as Node;
        }
        for at in (1..self.leaves).rev() {
            self.winners[at] = self.better(self.winners[2 * at], self.winners[2 * at + 1]);
        }
    }

    /// Of two nodes, the one with the higher score; if their scores are equal, the lower number.
    #[inline]
    fn better(&self, one: Node, other: Node) -> Node {
        let (a, b) = (self.scores[one as usize], self.scores[other as usize]);
        if a > b || (a == b && one < other) { one } else { other }
    }

    fn set_score(&mut self, node: Node, score: i64) {
        if std::mem::replace(&mut self.scores[node as usize], score) == score {
            return;
        }
        let mut at = (self.leaves + node as usize) / 2;
        while at > 0 {
            self.winners[at] = self.better(self.winners[2 * at], self.winners[2 * at + 1]);
            at /= 2;
        }
    }

    /// Node to be used first in a range of nodes; `None` if a piece of the job fits on none of
    /// them.
    fn best(&self, (from, to): Span) -> Option<Node> {
        let found = if from == 0 && to as usize == self.fits.len() {
            self.winners[1]
        } else {
            let (mut low, mut high) = (self.leaves + from as usize, self.leaves + to as usize);
            let mut found = from;
            while low < high {
                if low % 2 == 1 {
                    found = self.better(found, self.winners[low]);
                    low += 1;
                }
                if high % 2 == 1 {
                    high -= 1;
                    found = self.better(found, self.winners[high]);
                }
                (low, high) = (low / 2, high / 2);
            }
            found
        };
        (self.scores[found as usize] > NONE).then_some(found)
    }

    /// Number of pieces that fit on the nodes of a range together.
    pub(super) fn room(&self, (from, to): Span) -> u64 {
        if self.keeps_together() && to - from > 1 {
            // The span holds none of the pieces or all.
            return self.best((from, to)).map_or(0, |node| self.fits[node as usize].into());
        }
        if from == 0 && to as usize == self.fits.len() {
            return self.room;
        }
        if (to - from) % self.leaf == 0 && from % self.leaf == 0 {
            let leaves = (from / self.leaf) as usize..(to / self.leaf) as usize;
            return self.leaf_rooms[leaves].iter().map(|&room| u64::from(room)).sum();
        }
        self.fits[from as usize..to as usize].iter().map(|&fits| u64::from(fits)).sum()
    }

    pub(super) fn fits_on(&self, node: Node) -> u32 {
        self.fits[node as usize]
    }

    pub(super) fn most_on_a_node(&self, (from, to): Span) -> u32 {
        self.fits[from as usize..to as usize].iter().copied().max().unwrap_or(0)
    }

    /// Of all leaves in a range on which at least `wanted` pieces fit, the one on which the fewest
    /// fit.
    ///
    /// Ties go to the first leaf.
    pub(super) fn tightest_leaf(&self, (from, to): Span, wanted: u32) -> Option<u32> {
        let first = from / self.leaf;
        let rooms = &self.leaf_rooms[first as usize..(to / self.leaf) as usize];
        // Too small a room wraps around and exceeds all others. Two passes without branches are
        // faster than one with branches.
        let left = |room: &u32| room.wrapping_sub(wanted);
        let least = rooms.iter().map(left).min().filter(|&least| least <= u32::MAX - wanted)?;
        let at = rooms.iter().position(|room| left(room) == least)?;
        Some(first + at as u32)
    }

    /// Number of pieces to be placed on a node on which `fits` of the `left` remaining pieces fit.
    ///
    /// A node may have to get a minimum number of pieces. If the remaining pieces would be too few
    /// for another node, the result is reduced, possibly to 0.
    pub(super) fn share_of(&self, fits: u32, left: u32) -> u32 {
        let least = self.piece().per_node_min;
        let share = fits.min(left);
        if share == left || left - share >= least {
            return share;
        }
        let less = left.saturating_sub(least);
        if less >= least { less } else { 0 }
    }

    /// Picks nodes in a range for `wanted` pieces, the best node first; returns whether all pieces
    /// fit.
    pub(super) fn fill(
        &mut self,
        span: Span,
        wanted: u32,
        picks: &mut SmallVec<[(Node, u32); 8]>,
    ) -> bool {
        let mut left = wanted;
        let mut hidden: SmallVec<[(Node, i64); 8]> = SmallVec::new();
        while left > 0 {
            let Some(node) = self.best(span) else { break };
            let pieces = self.share_of(self.fits[node as usize], left);
            if pieces > 0 {
                picks.push((node, pieces));
                left -= pieces;
                if left == 0 {
                    break;
                }
            }
            hidden.push((node, self.scores[node as usize]));
            self.set_score(node, NONE);
        }
        for (node, score) in hidden {
            self.set_score(node, score);
        }
        left == 0
    }
}
