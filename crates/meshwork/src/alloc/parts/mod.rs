//! Allocation of parts of nodes to the pieces of a job.
//!
//! The domain divides the pieces among leaves or groups of the machine. The order ranks the nodes
//! on which a piece fits. A third rule chooses the cores and GPUs of a node.

pub mod nodes;
pub mod orders;
pub mod within;

mod carve;
mod ranked;
mod shortage;

use std::collections::BTreeMap;
use std::sync::Arc;

use smallvec::SmallVec;

use super::{Allocator, Ask};
use crate::alloc::locality::shares::{Share, evenly, on_few};
use crate::form::{Asks, Finds};
use crate::geometry::{NodePart, NodeSet, Parts, Placement};
use crate::job::{Inside, Piece, Pieces, Request, Time};
use crate::machine::{Amounts, NodeAmounts, Site};
use crate::rng::Stream;
use crate::topology::types::{NodeTypes, piece_in_words};
use crate::topology::{Node, Topology};

pub use shortage::{shortage, shortage_of, too_few_nodes, too_few_rooms};

use carve::carve;
use orders::NodeOrder;
use ranked::{Ranked, Span, fits};
use within::IslandRule;

/// Maximum number of stored rankings. Beyond it, the least recently used ranking is dropped.
const MOST_RANKED: usize = 48;

/// Rule that divides the nodes or pieces of a job among leaves or groups of the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Domain {
    /// The whole machine, without regard to leaves and groups.
    Machine,
    /// The fewest leaves on which the job fits.
    Leaves,
    /// The fewest groups in which the job fits, and in each group the fewest leaves.
    Groups,
    /// A single group if the job fits into one; otherwise all groups, as evenly as possible.
    GroupOrSpread,
}

/// Allocator of the pieces of jobs, for machines that have types of nodes.
///
/// # Complexity
/// A new request takes **O(n)** for *n* nodes. A repeated request takes **O(c log n)**, where *c*
/// is the number of nodes that it takes or that have changed since then. If pieces are divided
/// among *l* leaves, **O(l)** is added.
pub struct PiecesAllocator {
    topology: Topology,
    types: Arc<NodeTypes>,
    domain: Kept,
    order: Box<dyn NodeOrder>,
    within: &'static dyn IslandRule,
    ranked: Vec<Ranked>,
    /// Number of uses of rankings so far, which serves to find the least recently used ranking.
    asked: u64,
    /// Index of the listed leaf or block in which the current request must be placed, if any.
    within_part: Option<u32>,
    /// Nodes used by the current job so far, each with the amounts left on it.
    taken: Vec<(Node, Vec<u32>)>,
}

/// Function that converts a number of nodes to a request in the form that an allocator takes.
///
/// It returns `None` if the machine has no block of this size.
pub type FormOfNodes = Arc<dyn Fn(u32) -> Option<Request> + Send + Sync>;

/// Allocator of whole nodes, which chooses the nodes on which the pieces of a job are placed.
pub struct NodeAllocator {
    /// The allocator, as it is before any nodes are claimed.
    pub allocator: Box<dyn Allocator>,
    /// Function that converts a number of nodes to a request that the allocator accepts.
    pub form: FormOfNodes,
    /// Condition under which the allocator is sure to find a placement.
    pub finds: Finds,
}

impl NodeAllocator {
    /// A placement of `count` nodes among the nodes in `free`; `None` if the allocator finds none.
    ///
    /// The answer depends only on the present state of the machine. If the allocator considers only
    /// which nodes are free, exactly the nodes in `free` are made free on `site`. Otherwise, a copy
    /// of the allocator is told that all nodes outside `free` have just been claimed.
    fn choose(
        &mut self,
        count: u32,
        free: &NodeSet,
        site: &mut Site,
        now: Time,
        rng: &mut Stream,
    ) -> Option<Placement> {
        let request = (self.form)(count)?;
        if request.nodes() > u64::from(free.count()) {
            return None;
        }
        if self.allocator.goes_by_free_nodes() {
            show(self.allocator.as_mut(), site, free, now);
            return self.allocator.choose(Ask::new(&request, site, now, rng));
        }
        let (mut fresh, mut site) = (self.allocator.fork(), site.clone());
        show(fresh.as_mut(), &mut site, free, now);
        fresh.choose(Ask::new(&request, &site, now, rng))
    }
}

enum Kept {
    Shares(Domain),
    /// Allocator of whole nodes, and the separate site on which it places them.
    ///
    /// On this site, a node counts as free if enough pieces fit on it.
    Asked(NodeAllocator, Box<Site>),
}

impl PiecesAllocator {
    /// Creates the allocator of pieces for a machine that has types of nodes.
    ///
    /// # Panics
    /// If the topology has no types of nodes.
    #[must_use]
    pub fn new(
        topology: &Topology,
        domain: NodeAllocator,
        order: Box<dyn NodeOrder>,
        within: &'static dyn IslandRule,
    ) -> PiecesAllocator {
        let types = Arc::clone(topology.types().expect("a machine with types of nodes"));
        let domain = match domain.allocator.domain() {
            Some(domain) => Kept::Shares(domain),
            None => Kept::Asked(domain, Box::new(Site::new(topology.clone().without_types(), 1.0))),
        };
        PiecesAllocator::of(topology.clone(), types, domain, order, within)
    }

    fn of(
        topology: Topology,
        types: Arc<NodeTypes>,
        domain: Kept,
        order: Box<dyn NodeOrder>,
        within: &'static dyn IslandRule,
    ) -> PiecesAllocator {
        let (ranked, taken) = (Vec::new(), Vec::new());
        let (asked, within_part) = (0, None);
        PiecesAllocator {
            topology,
            types,
            domain,
            order,
            within,
            ranked,
            asked,
            within_part,
            taken,
        }
    }

    /// Number of nodes of a leaf, of a group, and of the whole machine.
    fn spans(&self) -> [u32; 3] {
        let all = self.topology.nodes();
        self.topology.tiers().map_or([all; 3], |tiers| [tiers.leaf, tiers.group, all])
    }

    /// Updates the ranking of nodes for one role of a request, and returns the index of the
    /// ranking.
    fn rank(&mut self, request: &Pieces, role: usize, amounts: &Amounts) -> usize {
        self.asked += 1;
        let known = self.ranked.iter().position(|one| one.is_of(request, role));
        let at = known.unwrap_or_else(|| {
            let new = Ranked::new(request, role, &self.types, self.spans());
            if self.ranked.len() < MOST_RANKED {
                self.ranked.push(new);
                return self.ranked.len() - 1;
            }
            let oldest = (0..MOST_RANKED).min_by_key(|&at| self.ranked[at].used).unwrap_or(0);
            self.ranked[oldest] = new;
            oldest
        });
        let PiecesAllocator { ranked, order, taken, asked, .. } = self;
        let one = &mut ranked[at];
        one.used = *asked;
        one.follow(amounts, order.as_mut(), taken);
        at
    }

    /// Places a request now; returns the parts of nodes that it gets, or `None` if it does not fit.
    fn place(
        &mut self,
        request: &Pieces,
        amounts: &Amounts,
        now: Time,
        rng: &mut Stream,
    ) -> Option<Vec<NodePart>> {
        let [leaf, group, all] = self.spans();
        let size = match request.inside {
            Inside::Leaf | Inside::Block if self.topology.tiers().is_none() => {
                return self.place_in_listed(request, amounts, now, rng);
            }
            Inside::Leaf => leaf,
            Inside::Block => group,
            Inside::Node | Inside::Island if request.roles.len() > 1 => 1,
            _ => return self.place_in(request, amounts, (0, all), now, rng),
        };
        // Spans with enough nodes for every role by itself, those with the least room for the first
        // role first if the domain prefers full spans.
        let mut spans: Vec<(u64, Span)> =
            (0..all / size).map(|at| (0, (at * size, (at + 1) * size))).collect();
        for role in 0..request.roles.len() {
            let at = self.rank(request, role, amounts);
            let count = u64::from(request.roles[role].count);
            spans.retain_mut(|(room, span)| {
                let fits = self.ranked[at].room(*span);
                if role == 0 {
                    *room = fits;
                }
                fits >= count
            });
        }
        if !matches!(self.domain, Kept::Shares(Domain::Machine)) {
            spans.sort_by_key(|&(room, (from, _))| (room, from));
        }
        spans.into_iter().find_map(|(_, span)| self.place_in(request, amounts, span, now, rng))
    }

    /// Places a request within one listed leaf or block.
    ///
    /// Only leaves or blocks in which every role fits are tried. Those with room for the fewest
    /// pieces of the first role come first.
    fn place_in_listed(
        &mut self,
        request: &Pieces,
        amounts: &Amounts,
        now: Time,
        rng: &mut Stream,
    ) -> Option<Vec<NodePart>> {
        let all = self.topology.nodes();
        let mut parts: BTreeMap<u32, Vec<u64>> = BTreeMap::new();
        for role in 0..request.roles.len() {
            let at = self.rank(request, role, amounts);
            for node in 0..all {
                let Some(part) = self.topology.part_of(request.inside, node) else { continue };
                let rooms = parts.entry(part).or_insert_with(|| vec![0; request.roles.len()]);
                rooms[role] += u64::from(self.ranked[at].fits_on(node));
            }
        }
        let has_room = |rooms: &Vec<u64>| {
            rooms.iter().zip(&request.roles).all(|(room, piece)| *room >= u64::from(piece.count))
        };
        let enough = parts.into_iter().filter(|(_, rooms)| has_room(rooms));
        let mut enough: Vec<(u64, u32)> = enough.map(|(part, rooms)| (rooms[0], part)).collect();
        enough.sort_unstable();
        let found = enough.into_iter().find_map(|(_, part)| {
            self.within_part = Some(part);
            self.place_in(request, amounts, (0, all), now, rng)
        });
        self.within_part = None;
        found
    }

    /// Places a request on nodes within a range of node numbers.
    fn place_in(
        &mut self,
        request: &Pieces,
        amounts: &Amounts,
        span: Span,
        now: Time,
        rng: &mut Stream,
    ) -> Option<Vec<NodePart>> {
        self.taken.clear();
        let mut parts = Vec::new();
        let mut is_placed = true;
        for role in 0..request.roles.len() {
            let at = self.rank(request, role, amounts);
            let mut picks: SmallVec<[(Node, u32); 8]> = SmallVec::new();
            if !self.pick(at, request, role, span, now, rng, &mut picks) {
                is_placed = false;
                break;
            }
            for (node, pieces) in picks {
                let found = self.taken.iter().position(|(on, _)| *on == node);
                let cells = found.map_or(amounts.of(node).cells, |at| &self.taken[at].1);
                let view = NodeAmounts::new(node, self.types.of(node), cells);
                let (part, left) =
                    carve(request, role, pieces, &view, self.order.as_mut(), self.within);
                parts.push(part);
                if request.roles.len() > 1 {
                    match found {
                        Some(at) => self.taken[at].1 = left,
                        None => self.taken.push((node, left)),
                    }
                }
            }
        }
        // Later queries ignore what these roles took.
        let changed: Vec<Node> = self.taken.drain(..).map(|(node, _)| node).collect();
        self.ranked.iter_mut().for_each(|one| one.doubt(&changed));
        is_placed.then_some(parts)
    }

    /// Picks nodes for one role of a request, with the number of pieces on each.
    ///
    /// Returns `false` if the role does not fit. `at` is the index of the ranking for this role.
    #[expect(clippy::too_many_arguments, reason = "one question, passed on")]
    fn pick(
        &mut self,
        at: usize,
        request: &Pieces,
        role: usize,
        span: Span,
        now: Time,
        rng: &mut Stream,
        picks: &mut SmallVec<[(Node, u32); 8]>,
    ) -> bool {
        let piece = &request.roles[role];
        let wanted = piece.count;
        if self.ranked[at].room(span) < u64::from(wanted) {
            return false;
        }
        let [leaf, group, _] = self.spans();
        let PiecesAllocator { ranked, domain, topology, within_part, .. } = self;
        let one = &mut ranked[at];
        let is_within = |node: Node| {
            within_part.is_none() || topology.part_of(request.inside, node) == *within_part
        };
        let in_groups = |one: &mut Ranked, shares: Vec<Share>, picks: &mut SmallVec<_>| {
            shares.into_iter().all(|(part, count)| {
                let span = (part * group, (part + 1) * group);
                on_leaves(one, span, leaf, count, picks)
            })
        };
        match domain {
            Kept::Shares(Domain::Machine) => one.fill(span, wanted, picks),
            Kept::Shares(_) if span.1 - span.0 <= leaf || one.keeps_together() => {
                one.fill(span, wanted, picks)
            }
            Kept::Shares(Domain::Leaves) => on_leaves(one, span, leaf, wanted, picks),
            Kept::Shares(rule) => {
                let groups = rooms(one, span, group);
                let is_spread =
                    *rule == Domain::GroupOrSpread && groups.iter().all(|&(_, room)| room < wanted);
                let shares =
                    if is_spread { evenly(&groups, wanted) } else { on_few(groups, wanted) };
                in_groups(one, shares, picks)
            }
            Kept::Asked(own, site) => {
                // Puts at most `most` pieces on each node of a placement, in order of the nodes.
                let grid = site.grid().clone();
                let mut put = |found: Placement, most: u32| {
                    let mut left = wanted;
                    picks.clear();
                    for node in found.nodes(&grid) {
                        let pieces = one.share_of(one.fits_on(node).min(most), left);
                        if pieces > 0 {
                            picks.push((node, pieces));
                            left -= pieces;
                        }
                    }
                    left == 0
                };
                // Equally many pieces are put on each node, as many as nodes are found for.
                let most = one.most_on_a_node(span).min(wanted);
                let mut any = NodeSet::empty(site.grid().nodes());
                for each in (1..=most).rev() {
                    let mut free = NodeSet::empty(site.grid().nodes());
                    let has_room = |node: &Node| one.fits_on(*node) >= each && is_within(*node);
                    (span.0..span.1).filter(has_room).for_each(|node| free.insert(node));
                    let found = own.choose(wanted.div_ceil(each), &free, site, now, rng);
                    any = free;
                    if found.is_some_and(|found| put(found, each)) {
                        return true;
                    }
                }
                // Then different numbers: the fewest sufficient nodes first, all nodes last.
                let mut rooms: Vec<u32> = any.iter().map(|node| one.fits_on(node)).collect();
                rooms.sort_unstable_by_key(|&room| std::cmp::Reverse(room));
                let mut sum = 0_u64;
                let enough = rooms.iter().position(|&room| {
                    sum += u64::from(room);
                    sum >= u64::from(wanted)
                });
                let (Some(fewest), all) = (enough, rooms.len()) else { return false };
                let doublings = (0..).map(|k| fewest + (1 << k)).take_while(|&count| count < all);
                doublings.chain([all]).any(|count| {
                    let found = own.choose(count as u32, &any, site, now, rng);
                    found.is_some_and(|found| put(found, u32::MAX))
                })
            }
        }
    }
}

/// Claims and releases nodes on the site of an allocator, until exactly the nodes in `free` are
/// free.
fn show(allocator: &mut dyn Allocator, site: &mut Site, free: &NodeSet, now: Time) {
    let (mut held, mut freed) = (site.free().clone(), free.clone());
    held.subtract(free);
    freed.subtract(site.free());
    if !held.is_empty() {
        let nodes = Placement::of_nodes(site.grid(), held.iter());
        if site.claim(&nodes).is_ok() {
            allocator.claimed(&nodes, site, now.into());
        }
    }
    if !freed.is_empty() {
        let nodes = Placement::of_nodes(site.grid(), freed.iter());
        site.release(&nodes);
        allocator.released(&nodes, site);
    }
}

/// Each leaf or group in a range of nodes, with the number of pieces that fit there.
///
/// `size` is the number of nodes of a leaf or group.
fn rooms(one: &Ranked, (from, to): Span, size: u32) -> Vec<Share> {
    let room = |at: u32| one.room((at * size, (at + 1) * size)).min(u32::MAX.into()) as u32;
    (from / size..to / size).map(|at| (at, room(at))).collect()
}

/// Picks nodes for `wanted` pieces on as few leaves as possible; returns whether all pieces fit.
fn on_leaves(
    one: &mut Ranked,
    span: Span,
    leaf: u32,
    wanted: u32,
    picks: &mut SmallVec<[(Node, u32); 8]>,
) -> bool {
    // Most jobs fit on a leaf, which is found without a sorted list.
    if let Some(at) = one.tightest_leaf(span, wanted) {
        return one.fill((at * leaf, (at + 1) * leaf), wanted, picks);
    }
    on_few(rooms(one, span, leaf), wanted)
        .into_iter()
        .all(|(at, count)| one.fill((at * leaf, (at + 1) * leaf), count, picks))
}

impl Allocator for PiecesAllocator {
    fn choose(&mut self, ask: Ask<'_>) -> Option<Placement> {
        let Ask { request, site, now, rng, .. } = ask;
        let Request::Pieces(request) = request else { return None };
        let parts = self.place(request, site.amounts()?, now, rng)?;
        let grid = site.grid();
        let mut nodes: SmallVec<[Node; 8]> = parts.iter().map(|part| part.node).collect();
        if parts.len() > 1 {
            // One node may serve several roles.
            let mut seen: SmallVec<[Node; 8]> = SmallVec::new();
            nodes.retain(|node| {
                let is_new = !seen.contains(node);
                seen.push(*node);
                is_new
            });
        }
        let cores = parts.iter().map(|part| carve::cores(self.types.of(part.node), part)).sum();
        let mut placement = crate::geometry::ranked::in_order(grid, nodes.into_vec());
        placement.parts = Some(Box::new(Parts { parts, cores }));
        Some(placement)
    }

    fn asks(&self) -> Option<Asks> {
        Some(Asks::Pieces)
    }

    fn finds(&self) -> Option<Finds> {
        match &self.domain {
            Kept::Asked(own, _) if own.finds == Finds::SomeBlocks => Some(Finds::SomeBlocks),
            _ => Some(Finds::EveryBlock),
        }
    }

    fn never(&self, request: &Request) -> Option<String> {
        let Request::Pieces(request) = request else { return None };
        if let Some(never) = self.types.never(request) {
            return Some(never);
        }
        let idle = Amounts::new(Arc::clone(&self.types));
        let fits = |piece: &Piece, node: Node| {
            u64::from(fits(&idle.of(node), piece, request, self.types.of(node).suits(piece)))
        };
        let most = |piece: &Piece| {
            let mut rooms: BTreeMap<u32, u64> = BTreeMap::new();
            for node in 0..self.topology.nodes() {
                if let Some(part) = self.topology.part_of(request.inside, node) {
                    *rooms.entry(part).or_default() += fits(piece, node);
                }
            }
            rooms.into_values().max().unwrap_or(0)
        };
        let mut roles = request.roles.iter().map(|piece| (piece, most(piece)));
        let Some((role, most)) = roles.find(|(piece, most)| *most < u64::from(piece.count)) else {
            // Its pieces fit one role at a time, but perhaps not together, or not by this domain.
            let site = Site::new(self.topology.clone(), 1.0);
            let wanted = Request::Pieces(request.clone());
            let mut draws = Stream::new(0, 0, "never");
            let found = self.fork().choose(Ask::new(&wanted, &site, Time::ZERO, &mut draws));
            let says = "the allocator finds no nodes for all pieces, even if all are idle";
            return found.is_none().then(|| says.to_owned());
        };
        let pieces = piece_in_words(role);
        Some(match request.inside.word() {
            Some(word @ ("node" | "island")) => {
                format!("no {word} holds {} pieces with {pieces}", role.count)
            }
            Some(word) => {
                format!("no {word} holds more than {most} pieces with {pieces}, not {}", role.count)
            }
            None => format!("the machine holds {most} pieces with {pieces}, not {}", role.count),
        })
    }

    fn fork(&self) -> Box<dyn Allocator> {
        let domain = match &self.domain {
            Kept::Shares(domain) => Kept::Shares(*domain),
            Kept::Asked(own, site) => {
                let (allocator, form) = (own.allocator.fork(), Arc::clone(&own.form));
                Kept::Asked(NodeAllocator { allocator, form, finds: own.finds }, site.clone())
            }
        };
        let (topology, types) = (self.topology.clone(), Arc::clone(&self.types));
        Box::new(PiecesAllocator::of(topology, types, domain, self.order.fork(), self.within))
    }
}
