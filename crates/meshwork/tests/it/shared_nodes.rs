//! Tests of nodes that several jobs share.
//!
//! Schedules are compared with a naive simulator and with cases made by hand.
#![expect(clippy::float_cmp, reason = "these instants are exact")]

use std::collections::{BTreeMap, BTreeSet};

use crate::common::{assert_near, observed, refusal, scenario, watched};
use meshwork::facility::Facility;
use meshwork::job::{Inside, Job, JobId, Piece, Pieces, Request, Time};
use meshwork::machine::Placement;
use meshwork::observe::{Event, Observer};
use meshwork::rng::Stream;
use meshwork::scenario::Scenario;

/// State of a node: its type and its free resources.
///
/// Cores are counted by island. Each GPU has a free share.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Node {
    pub(crate) kind: usize,
    pub(crate) mem: u32,
    pub(crate) other: u32,
    pub(crate) cores: Vec<u32>,
    pub(crate) gpus: Vec<u32>,
}

/// Name of each node type, and its amounts of cores, memory, GPUs, islands and `other`.
pub(crate) const TYPES: [(&str, [u32; 5]); 2] =
    [("a", [8, 100, 4, 2, 3]), ("b", [12, 60, 0, 1, 0])];

pub(crate) const NODES: usize = 12;

const LEAF: usize = 3;

pub(crate) fn idle() -> Vec<Node> {
    let kind = |at: usize| usize::from(at % 4 == 3);
    let node = |at: usize| {
        let [cpu, mem, gpu, islands, other] = TYPES[kind(at)].1;
        let cores = vec![cpu / islands; islands as usize];
        Node { kind: kind(at), mem, other, cores, gpus: vec![1000; gpu as usize] }
    };
    (0..NODES).map(node).collect()
}

impl Node {
    /// Subtracts one piece from the free amounts, as the allocator `lowest` does.
    ///
    /// Returns `false` if the piece does not fit; the node must then be discarded.
    fn take(&mut self, piece: &Piece, only: Option<usize>) -> bool {
        let suits = piece.types.as_deref().is_none_or(|types| types == TYPES[self.kind].0);
        let islands: Vec<usize> = match only {
            Some(at) => vec![at],
            None => (0..self.cores.len()).collect(),
        };
        let each = self.gpus.len() / self.cores.len();
        let mut order = Vec::new();
        let mut wanted = piece.gpu;
        if piece.share < 1000 && piece.gpu == 1 {
            let own = (0..self.gpus.len()).filter(|gpu| islands.contains(&(gpu / each)));
            let Some(gpu) =
                own.filter(|&gpu| self.gpus[gpu] >= piece.share).min_by_key(|&gpu| self.gpus[gpu])
            else {
                return false;
            };
            self.gpus[gpu] -= piece.share;
            order.push(gpu / each);
            wanted = 0;
        }
        for gpu in 0..self.gpus.len() {
            if wanted > 0 && self.gpus[gpu] == 1000 && islands.contains(&(gpu / each)) {
                self.gpus[gpu] = 0;
                wanted -= 1;
                order.push(gpu / each);
            }
        }
        let mut cores = piece.cpu;
        for at in order.into_iter().chain(islands) {
            let taken = self.cores[at].min(cores);
            self.cores[at] -= taken;
            cores -= taken;
        }
        let fits = suits
            && wanted == 0
            && cores == 0
            && self.mem >= piece.mem
            && self.other >= piece.other;
        self.mem = self.mem.saturating_sub(piece.mem);
        self.other = self.other.saturating_sub(piece.other);
        fits
    }

    /// State of the node with `count` more pieces of a request; `None` if the pieces do not fit.
    fn with(&self, request: &Pieces, piece: &Piece, count: u32) -> Option<Node> {
        if request.exclusive {
            let fresh = &idle()[if self.kind == 1 { 3 } else { 0 }];
            let shared = Pieces { exclusive: false, ..request.clone() };
            let fits = self == fresh && self.with(&shared, piece, count).is_some();
            return fits.then(|| nothing(self));
        }
        if request.inside == Inside::Island {
            return (0..self.cores.len()).find_map(|island| {
                let mut own = self.clone();
                (0..count).all(|_| own.take(piece, Some(island))).then_some(own)
            });
        }
        let mut own = self.clone();
        (0..count).all(|_| own.take(piece, None)).then_some(own)
    }

    /// Number of pieces of a request that the node can hold; 0 if it can hold fewer than required.
    fn fits(&self, request: &Pieces, piece: &Piece) -> u32 {
        let most = piece.per_node.unwrap_or(u32::MAX).min(piece.count);
        let fits = (1..=most).take_while(|&count| self.with(request, piece, count).is_some());
        let fits = fits.last().unwrap_or(0);
        let least = match request.inside {
            Inside::Node | Inside::Island => piece.count,
            _ => piece.per_node_min.min(piece.count),
        };
        if fits < least { 0 } else { fits }
    }

    fn score(&self, order: &str, piece: &Piece) -> i64 {
        let [cpu, mem, gpu, _, other] = TYPES[self.kind].1;
        let cores: u32 = self.cores.iter().sum();
        let shares: u32 = self.gpus.iter().sum();
        let kinds = [
            (cpu, cores, piece.cpu),
            (mem, self.mem, piece.mem),
            (gpu * 1000, shares, piece.gpu * piece.share),
            (other, self.other, piece.other),
        ];
        let kinds: Vec<_> = kinds.into_iter().filter(|kind| kind.0 > 0).collect();
        let of = |&(own, free, asked): &(u32, u32, u32)| {
            1000 * i64::from(own - free + asked) / i64::from(own)
        };
        let mean = kinds.iter().map(of).sum::<i64>() / kinds.len() as i64;
        match order {
            "most_allocated" => mean,
            "least_allocated" => -mean,
            _ => 0,
        }
    }
}

/// Distributes `wanted` pieces over the nodes `among`; the nodes are filled one after another.
///
/// Returns the number of pieces for each node that gets some; `None` if not all pieces fit.
fn fill(
    nodes: &[Node],
    among: &[usize],
    order: &str,
    request: &Pieces,
    piece: &Piece,
    wanted: u32,
) -> Option<Vec<(usize, u32)>> {
    let (mut left, mut picks) = (wanted, Vec::new());
    let mut open: Vec<usize> =
        among.iter().copied().filter(|&at| nodes[at].fits(request, piece) > 0).collect();
    open.sort_by_key(|&at| (-nodes[at].score(order, piece), at));
    for at in open {
        let fits = nodes[at].fits(request, piece).min(left);
        // No node gets fewer pieces than the minimum for one node.
        let least = piece.per_node_min;
        let own = (1..=fits)
            .rev()
            .find(|&own| own == left || (own >= least.min(piece.count) && left - own >= least));
        if let Some(own) = own.filter(|_| left > 0) {
            picks.push((at, own));
            left -= own;
        }
    }
    (left == 0).then_some(picks)
}

/// Nodes that a job gets from a slow reference implementation of the allocators for shared nodes.
///
/// Each item has the index of a role, the index of a node, and the number of the role's pieces on
/// this node. A role is a group of equal pieces of a job.
pub(crate) fn choose(
    nodes: &[Node],
    domain: &str,
    order: &str,
    request: &Pieces,
) -> Option<Vec<(usize, usize, u32)>> {
    let leaves: Vec<Vec<usize>> =
        (0..NODES / LEAF).map(|leaf| (leaf * LEAF..(leaf + 1) * LEAF).collect()).collect();
    let all: Vec<usize> = (0..NODES).collect();
    let in_range = |among: &[usize]| -> Option<Vec<(usize, usize, u32)>> {
        let mut then = nodes.to_vec();
        let mut picked = Vec::new();
        for (role, piece) in request.roles.iter().enumerate() {
            let own: Vec<&Vec<usize>> =
                leaves.iter().filter(|leaf| leaf.iter().all(|at| among.contains(at))).collect();
            let room = |leaf: &[usize]| -> u32 {
                leaf.iter().map(|&at| then[at].fits(request, piece)).sum()
            };
            let is_whole = matches!(request.inside, Inside::Node | Inside::Island);
            let picks = if domain == "fewest_leaves" && own.len() > 1 && !is_whole {
                let (mut left, mut picks) = (piece.count, Vec::new());
                let mut open: Vec<&Vec<usize>> = own;
                if open.iter().map(|leaf| room(leaf)).sum::<u32>() < left {
                    return None;
                }
                while left > 0 {
                    let enough = open.iter().filter(|leaf| room(leaf) >= left);
                    let leaf = match enough.min_by_key(|leaf| (room(leaf), leaf[0])) {
                        Some(leaf) => *leaf,
                        None => *open.iter().min_by_key(|leaf| (u32::MAX - room(leaf), leaf[0]))?,
                    };
                    let share = room(leaf).min(left);
                    picks.extend(fill(&then, leaf, order, request, piece, share)?);
                    left -= share;
                    open.retain(|other| *other != leaf);
                }
                picks
            } else {
                fill(&then, among, order, request, piece, piece.count)?
            };
            for (at, count) in picks {
                then[at] = then[at].with(request, piece, count)?;
                picked.push((role, at, count));
            }
        }
        Some(picked)
    };
    let has_room = |among: &[usize]| {
        request.roles.iter().all(|piece| {
            among.iter().map(|&at| nodes[at].fits(request, piece)).sum::<u32>() >= piece.count
        })
    };
    match request.inside {
        Inside::Leaf => {
            let mut open: Vec<&Vec<usize>> = leaves.iter().filter(|leaf| has_room(leaf)).collect();
            if domain == "fewest_leaves" {
                let first = &request.roles[0];
                let room = |leaf: &[usize]| -> u32 {
                    leaf.iter().map(|&at| nodes[at].fits(request, first)).sum()
                };
                open.sort_by_key(|leaf| (room(leaf), leaf[0]));
            }
            open.into_iter().find_map(|leaf| in_range(leaf))
        }
        _ => in_range(&all),
    }
}

pub(crate) type Held = Vec<(usize, Node, Node)>;

pub(crate) fn take(nodes: &mut [Node], picks: &[(usize, usize, u32)], request: &Pieces) -> Held {
    let mut held = Vec::new();
    for &(role, at, count) in picks {
        let before = nodes[at].clone();
        nodes[at] = before.with(request, &request.roles[role], count).expect("it fits");
        held.push((at, before, nodes[at].clone()));
    }
    held
}

/// Replaces each free amount of a node by a function of the free and the held amount.
///
/// The held amount is the difference between two states of the node.
pub(crate) fn apply(
    node: &mut Node,
    (before, after): (&Node, &Node),
    mut op: impl FnMut(u32, u32) -> u32,
) {
    let own =
        [&mut node.mem, &mut node.other].into_iter().chain(&mut node.cores).chain(&mut node.gpus);
    let each = |node: &Node| -> Vec<u32> {
        [node.mem, node.other]
            .into_iter()
            .chain(node.cores.clone())
            .chain(node.gpus.clone())
            .collect()
    };
    for ((cell, before), after) in own.zip(each(before)).zip(each(after)) {
        *cell = op(*cell, before - after);
    }
}

/// Interval in which nodes are kept for a user.
pub(crate) struct Window {
    pub(crate) from: f64,
    pub(crate) until: f64,
    pub(crate) nodes: Vec<usize>,
    pub(crate) user: &'static str,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Outage {
    pub(crate) from: f64,
    pub(crate) until: f64,
    pub(crate) node: usize,
    pub(crate) gpu: Option<usize>,
}

/// A job or an outage, with the resources that it holds on each node.
struct Running {
    end: f64,
    expected: f64,
    held: Held,
}

/// Simulator that computes everything anew in every pass.
pub(crate) struct Naive<'a> {
    jobs: &'a [Job],
    domain: &'a str,
    order: &'a str,
    pub(crate) partitions: BTreeMap<&'static str, Vec<usize>>,
    pub(crate) windows: Vec<Window>,
    pub(crate) outages: Vec<Outage>,
    nodes: Vec<Node>,
    queue: BTreeSet<usize>,
    running: BTreeMap<usize, Running>,
    starts: Vec<(usize, f64, Vec<usize>)>,
    /// Index of the first waiting job, its promised start, and its share of each node.
    promise: Option<(usize, f64, Held)>,
    /// Requests of several roles that were denied since the last end of a job.
    ///
    /// They may fit after another start, but are not tried again before the next end. The first
    /// list has requests for which all free resources were too few. For the second list, resources
    /// promised to the first waiting job did not count as free.
    denied: [Vec<Pieces>; 2],
}

/// First key of outages in the map of running jobs. Jobs have smaller keys.
const OUT: usize = 1 << 20;

fn request(job: &Job) -> &Pieces {
    let Request::Pieces(pieces) = &job.request else { panic!("pieces") };
    pieces
}

fn nothing(node: &Node) -> Node {
    let (cores, gpus) = (vec![0; node.cores.len()], vec![0; node.gpus.len()]);
    Node { mem: 0, other: 0, cores, gpus, kind: node.kind }
}

fn release(nodes: &mut [Node], held: &Held) {
    for (node, before, after) in held {
        apply(&mut nodes[*node], (before, after), |free, amount| free + amount);
    }
}

impl<'a> Naive<'a> {
    pub(crate) fn new(jobs: &'a [Job], domain: &'a str, order: &'a str) -> Naive<'a> {
        Naive {
            jobs,
            domain,
            order,
            partitions: BTreeMap::new(),
            windows: Vec::new(),
            outages: Vec::new(),
            nodes: idle(),
            queue: BTreeSet::new(),
            running: BTreeMap::new(),
            starts: Vec::new(),
            promise: None,
            denied: Default::default(),
        }
    }

    fn user(&self, job: usize) -> &str {
        self.jobs[job].owner.as_ref().and_then(|owner| owner.user.as_deref()).unwrap_or("")
    }

    /// Nodes reserved for other users, by reservations that begin before the job's estimated end.
    fn closed(&self, job: usize, at: f64) -> Vec<usize> {
        let end = at + self.jobs[job].estimate;
        let hinders = |window: &&Window| {
            window.user != self.user(job) && at < window.until && window.from < end
        };
        self.windows.iter().filter(hinders).flat_map(|window| window.nodes.clone()).collect()
    }

    /// Copy of the nodes with nothing free on the nodes that a job cannot use.
    ///
    /// These are the nodes outside of its partition and the nodes `closed`.
    fn without(&self, nodes: &[Node], job: usize, closed: &[usize]) -> Vec<Node> {
        let owner = self.jobs[job].owner.as_ref();
        let inside = owner
            .and_then(|owner| owner.partition.as_deref())
            .and_then(|name| self.partitions.get(name));
        let is_open =
            |at: &usize| inside.is_none_or(|inside| inside.contains(at)) && !closed.contains(at);
        let node = |(at, node): (usize, &Node)| {
            if is_open(&at) { node.clone() } else { nothing(node) }
        };
        nodes.iter().enumerate().map(node).collect()
    }

    fn choose(&self, nodes: &[Node], job: usize) -> Option<Vec<(usize, usize, u32)>> {
        choose(nodes, self.domain, self.order, request(&self.jobs[job]))
    }

    /// Nodes and numbers of pieces that a job gets.
    ///
    /// The first choice ignores reservations of other users. If it includes a reserved node, a
    /// second choice excludes all reserved nodes.
    fn place(&self, on: &[Node], job: usize, now: f64) -> Option<Vec<(usize, usize, u32)>> {
        let picks = self.choose(&self.without(on, job, &[]), job)?;
        let closed = self.closed(job, now);
        if !picks.iter().any(|(_, at, _)| closed.contains(at)) {
            return Some(picks);
        }
        self.choose(&self.without(on, job, &closed), job)
    }

    fn start(&mut self, job: usize, now: f64, on: &[Node], beside: bool) -> bool {
        let own = request(&self.jobs[job]);
        if self.denied[0].contains(own) || beside && self.denied[1].contains(own) {
            return false;
        }
        let Some(picks) = self.place(on, job, now) else {
            if own.roles.len() > 1 {
                self.denied[usize::from(beside)].push(own.clone());
            }
            return false;
        };
        // The nodes were chosen from what a promise leaves, but the pieces are taken from what is
        // free.
        let held = take(&mut on.to_vec(), &picks, own);
        for (node, before, after) in &held {
            apply(&mut self.nodes[*node], (before, after), |free, amount| free - amount);
        }
        self.begin(job, now, held);
        true
    }

    /// Records the start of a job that gets the resources `held`.
    fn begin(&mut self, job: usize, now: f64, held: Held) {
        let nodes: BTreeSet<usize> = held.iter().map(|(node, ..)| *node).collect();
        self.starts.push((job, now, nodes.into_iter().collect()));
        let (end, expected) = (now + self.jobs[job].runtime, now + self.jobs[job].estimate);
        self.running.insert(job, Running { end, expected, held });
        self.queue.remove(&job);
    }

    /// Amounts free on the nodes at time `by`, after the release of all jobs expected to end by
    /// then.
    fn then(&self, now: f64, by: f64) -> Vec<Node> {
        let mut nodes = self.nodes.clone();
        for running in self.running.values().filter(|running| running.expected.max(now) <= by) {
            release(&mut nodes, &running.held);
        }
        nodes
    }

    fn promised(&self, job: usize, now: f64) -> (usize, f64, Held) {
        let ends = self.running.values().map(|running| running.expected.max(now));
        let windows = self.windows.iter().filter(|window| window.user != self.user(job));
        let mut instants: Vec<f64> =
            ends.chain(windows.map(|window| window.until)).chain([now]).collect();
        instants.retain(|at| *at >= now);
        instants.sort_by(f64::total_cmp);
        for by in instants {
            let closed = self.closed(job, by);
            let mut nodes = self.without(&self.then(now, by), job, &closed);
            if let Some(picks) = self.choose(&nodes, job) {
                return (job, by, take(&mut nodes, &picks, request(&self.jobs[job])));
            }
        }
        panic!("it fits the empty machine")
    }

    /// Free resources for a job that would run beyond the promised start of another job.
    fn beside(&self, now: f64) -> Vec<Node> {
        let (_, by, promised) = self.promise.as_ref().unwrap();
        let mut then = self.then(now, *by);
        let mut on = self.nodes.clone();
        for (node, before, after) in promised {
            apply(&mut then[*node], (before, after), u32::saturating_sub);
        }
        for (node, before, after) in promised {
            let left = then[*node].clone();
            let limit = |free: &mut u32, left: u32, is_taken: bool| {
                if is_taken {
                    *free = left.min(*free);
                }
            };
            let own = &mut on[*node];
            limit(&mut own.mem, left.mem, before.mem > after.mem);
            limit(&mut own.other, left.other, before.other > after.other);
            for at in 0..left.cores.len() {
                limit(&mut own.cores[at], left.cores[at], before.cores[at] > after.cores[at]);
            }
            for at in 0..left.gpus.len() {
                limit(&mut own.gpus[at], left.gpus[at], before.gpus[at] > after.gpus[at]);
            }
        }
        on
    }

    /// Begins an outage: jobs that hold the failed node or GPU wait again.
    fn fails(&mut self, index: usize) {
        let Outage { until, node, gpu, .. } = self.outages[index];
        let is_hit = |(at, before, after): &(usize, Node, Node)| {
            *at == node && gpu.is_none_or(|gpu| before.gpus[gpu] > after.gpus[gpu])
        };
        let hit: Vec<usize> = self
            .running
            .iter()
            .filter(|(job, running)| **job < OUT && running.held.iter().any(is_hit))
            .map(|(job, _)| *job)
            .collect();
        for job in hit {
            let ran = self.running.remove(&job).unwrap();
            release(&mut self.nodes, &ran.held);
            self.queue.insert(job);
            self.denied = Default::default();
        }
        let before = self.nodes[node].clone();
        let mut after = before.clone();
        match gpu {
            Some(gpu) => after.gpus[gpu] = 0,
            None => after = nothing(&before),
        }
        self.nodes[node] = after.clone();
        let held = vec![(node, before, after)];
        self.running.insert(OUT + index, Running { end: until, expected: until, held });
    }

    pub(crate) fn run(mut self, backfills: bool) -> Vec<(usize, f64, Vec<usize>)> {
        let (mut next, mut now) = (0, 0.0);
        let mut failed = 0;
        loop {
            let arrival = self.jobs.get(next).map(|job| job.arrival.units());
            let ends = self.running.values().map(|running| running.end);
            let outage = self.outages.get(failed).map(|outage| outage.from);
            let edges = self.windows.iter().flat_map(|window| [window.from, window.until]);
            let edges = edges.filter(|edge| *edge > now && !self.queue.is_empty());
            let runs = self.running.keys().any(|key| *key < OUT);
            if arrival.is_none() && !runs && self.queue.is_empty() {
                break;
            }
            let all = arrival.into_iter().chain(ends).chain(outage).chain(edges);
            now = all.min_by(f64::total_cmp).unwrap();
            let mut keeps = true;
            let ended: Vec<usize> =
                self.running.iter().filter(|(_, own)| own.end <= now).map(|(at, _)| *at).collect();
            for at in ended {
                let own = self.running.remove(&at).unwrap();
                release(&mut self.nodes, &own.held);
                self.denied = Default::default();
                let by = self.promise.as_ref().map(|(_, by, _)| *by);
                keeps &= at < OUT && by.is_some_and(|by| own.expected < by);
            }
            while self.outages.get(failed).is_some_and(|outage| outage.from <= now) {
                self.fails(failed);
                failed += 1;
                keeps = false;
            }
            while self.jobs.get(next).is_some_and(|job| job.arrival.units() <= now) {
                if self.choose(&self.without(&idle(), next, &[]), next).is_some() {
                    self.queue.insert(next);
                }
                next += 1;
            }
            self.pass(now, backfills, keeps);
        }
        self.starts
    }

    fn pass(&mut self, now: f64, backfills: bool, keeps: bool) {
        while let Some(&head) = self.queue.first()
            && self.start(head, now, &self.nodes.clone(), false)
        {}
        let Some(&head) = self.queue.first().filter(|_| backfills) else { return };
        let late = self.running.values().any(|running| running.expected <= now);
        if !(keeps && !late && self.promise.as_ref().is_some_and(|own| own.0 == head)) {
            self.promise = Some(self.promised(head, now));
            self.denied[1].clear();
        }
        for job in self.queue.clone().into_iter().skip(1) {
            let by = self.promise.as_ref().unwrap().1;
            let is_beside = now + self.jobs[job].estimate > by;
            let on = if is_beside { self.beside(now) } else { self.nodes.clone() };
            self.start(job, now, &on, is_beside);
        }
    }
}

/// Index of the job, its planned start, and its share of each node.
type Planned = (usize, f64, Held);

impl Naive<'_> {
    /// Smallest free amounts under the plan, from `at` on for the time `span`.
    ///
    /// Jobs past their estimates count as ended if `ended` is true.
    fn least(&self, plan: &[Planned], now: f64, at: f64, span: f64, ended: bool) -> Vec<Node> {
        let until = at + span;
        let mut nodes = if ended { self.then(now, at) } else { self.nodes.clone() };
        let mut changes: Vec<(f64, bool, &Held)> = Vec::new();
        for (job, from, held) in plan {
            let to = from + self.jobs[*job].estimate;
            if to > at && *from < until {
                changes.push((from.max(at), true, held));
                changes.push((to, false, held));
            }
        }
        for running in self.running.values() {
            if running.expected.max(now) > at {
                changes.push((running.expected.max(now), false, &running.held));
            }
        }
        changes.retain(|change| change.0 < until);
        changes.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        // Amounts may be promised twice if a job is late; so sums are signed.
        let each = |node: &Node| -> Vec<i64> {
            let all = [node.mem, node.other].into_iter().chain(node.cores.clone());
            all.chain(node.gpus.clone()).map(i64::from).collect()
        };
        let mut sums: Vec<Vec<i64>> = nodes.iter().map(|node| vec![0; each(node).len()]).collect();
        let mut least = sums.clone();
        for (_, takes, held) in changes {
            for (node, before, after) in held {
                for (cell, (before, after)) in each(before).into_iter().zip(each(after)).enumerate()
                {
                    let amount = before - after;
                    sums[*node][cell] += if takes { -amount } else { amount };
                    least[*node][cell] = least[*node][cell].min(sums[*node][cell]);
                }
            }
        }
        for (node, least) in nodes.iter_mut().zip(least) {
            let cells = [&mut node.mem, &mut node.other].into_iter();
            for (cell, by) in cells.chain(&mut node.cores).chain(&mut node.gpus).zip(least) {
                *cell = cell.saturating_sub(-by as u32);
            }
        }
        nodes
    }

    /// The present, and all later instants at which a job or a promise begins or ends.
    fn instants(&self, plan: &[Planned], now: f64) -> Vec<f64> {
        let running = self.running.values().map(|running| running.expected.max(now));
        let planned = plan.iter().flat_map(|(job, at, _)| [*at, at + self.jobs[*job].estimate]);
        let mut all: Vec<f64> =
            running.chain(planned).chain([now]).filter(|at| *at >= now).collect();
        all.sort_by(f64::total_cmp);
        all.dedup();
        all
    }

    fn earliest(&self, plan: &[Planned], job: usize, now: f64, by: f64) -> Option<(f64, Held)> {
        let own = request(&self.jobs[job]);
        let at = |at: f64, ended: bool| {
            let mut nodes = self.least(plan, now, at, self.jobs[job].estimate, ended);
            let picks = choose(&nodes, self.domain, self.order, own)?;
            Some((at, take(&mut nodes, &picks, own)))
        };
        let first = at(now, false);
        first.or_else(|| {
            self.instants(plan, now).into_iter().filter(|at| *at <= by).find_map(|t| at(t, true))
        })
    }

    fn conservative(mut self) -> Vec<(usize, f64, Vec<usize>)> {
        let (mut plan, mut next, mut now): (Vec<Planned>, _, f64) = (Vec::new(), 0, 0.0);
        loop {
            let arrival = self.jobs.get(next).map(|job| job.arrival.units());
            let end = self.running.values().map(|running| running.end).min_by(f64::total_cmp);
            let Some(at) = arrival.into_iter().chain(end).min_by(f64::total_cmp) else { break };
            now = f64::max(now, at);
            let ended: Vec<usize> =
                self.running.iter().filter(|(_, own)| own.end <= now).map(|(at, _)| *at).collect();
            for at in &ended {
                let own = self.running.remove(at).unwrap();
                release(&mut self.nodes, &own.held);
            }
            plan.iter_mut().for_each(|promise| promise.1 = promise.1.max(now));
            let late = self.running.values().any(|running| running.expected <= now);
            if late || !ended.is_empty() {
                for index in 0..plan.len() {
                    let (job, at, held) = plan.remove(index);
                    let fits = |t: &f64| {
                        let mut nodes = self.least(&plan, now, *t, self.jobs[job].estimate, true);
                        held.iter().all(|(node, before, after)| {
                            let mut fits = true;
                            let own = nodes[*node].clone();
                            apply(&mut nodes[*node], (before, after), u32::saturating_sub);
                            let mut again = nodes[*node].clone();
                            apply(&mut again, (before, after), |free, amount| free + amount);
                            fits &= again == own;
                            fits
                        })
                    };
                    let sooner = self.instants(&plan, now).into_iter().find(|t| *t < at && fits(t));
                    let kept = sooner.unwrap_or(at);
                    let fresh = self.earliest(&plan, job, now, kept);
                    let promise = match fresh {
                        Some((t, fresh)) if t < kept || t == now => (job, t, fresh),
                        _ => (job, kept, held),
                    };
                    plan.insert(index, promise);
                }
            }
            while self.jobs.get(next).is_some_and(|job| job.arrival.units() <= now) {
                if choose(&idle(), self.domain, self.order, request(&self.jobs[next])).is_some() {
                    let (at, held) = self.earliest(&plan, next, now, f64::INFINITY).unwrap();
                    plan.push((next, at, held));
                }
                next += 1;
            }
            let due = std::mem::take(&mut plan);
            for (job, at, held) in due {
                let mut free = true;
                let mut nodes = self.nodes.clone();
                for (node, before, after) in &held {
                    apply(&mut nodes[*node], (before, after), |cell, amount| {
                        free &= cell >= amount;
                        cell.saturating_sub(amount)
                    });
                }
                if at > now || !free {
                    plan.push((job, at, held));
                    continue;
                }
                self.nodes = nodes;
                self.begin(job, now, held);
            }
        }
        self.starts
    }
}

#[test]
fn conservative_plans_are_those_of_a_naive_planner() {
    let mut rng = Stream::new(39, 0, "planned");
    for round in 0..24 {
        let domain = ["naive", "fewest_leaves"][round % 2];
        let order = ["first", "most_allocated", "least_allocated"][round % 3];
        let mut jobs = random_jobs(&mut rng, 50);
        for job in &mut jobs {
            // A job of several roles may fit nowhere at one instant, but fit when less is free.
            if let Request::Pieces(pieces) = &mut job.request {
                pieces.roles.truncate(1);
            }
        }
        let scenario = shared(&format!(
            "allocator = '{domain}'\norder = '{order}'\nscheduler = 'conservative'\n"
        ));
        let (_, seen) = observed(&scenario, jobs.clone(), Starts::default());
        let naive = Naive::new(&jobs, domain, order);
        for (own, other) in seen.starts.iter().zip(&naive.conservative()) {
            assert_eq!(own, other, "round {round}: {domain}, {order}: {}", jobs[other.0].request);
        }
    }
}

#[test]
fn every_scheduler_of_shared_nodes_serves_every_job() {
    let mut rng = Stream::new(40, 0, "schedulers");
    let jobs = random_jobs(&mut rng, 100);
    let mut outcomes = Vec::new();
    for entry in meshwork::sched::SCHEDULERS.iter().filter(|entry| entry.shares) {
        let scenario = shared(&format!("scheduler = '{}'\n", entry.about.name));
        let (outcome, _) = observed(&scenario, jobs.clone(), Starts::default());
        if entry.serves_all {
            assert_eq!(outcome.finished + outcome.refused, 100, "{}", entry.about.name);
            outcomes.push(outcome.finished);
        } else {
            assert!(outcome.finished > 20, "{} ends {}", entry.about.name, outcome.finished);
        }
    }
    assert!(outcomes.len() > 5 && outcomes.iter().all(|finished| *finished == outcomes[0]));
}

/// Observer that records the start and the nodes of each job.
///
/// It panics if jobs together hold more of a resource than a node has.
#[derive(Default)]
pub(crate) struct Starts {
    pub(crate) starts: Vec<(usize, f64, Vec<usize>)>,
    free: BTreeMap<(u32, u16), i64>,
    running: BTreeMap<JobId, Vec<(u32, u16, u32)>>,
}

impl Observer for Starts {
    fn observe(&mut self, now: Time, event: &Event<'_>) {
        match event {
            Event::Started(running) => {
                let parts = &running.placement.parts.as_ref().expect("parts").parts;
                let mut nodes: Vec<usize> = parts.iter().map(|part| part.node as usize).collect();
                nodes.sort_unstable();
                nodes.dedup();
                self.starts.push((running.job.number as usize, now.units(), nodes));
                for part in parts {
                    for &(cell, amount) in &part.cells {
                        let capacity = capacity(part.node as usize, cell as usize);
                        let free = self.free.entry((part.node, cell)).or_insert(capacity);
                        *free -= i64::from(amount);
                        assert!(*free >= 0, "cell {cell} of node {} is given twice", part.node);
                        self.running.entry(running.id).or_default().push((part.node, cell, amount));
                    }
                }
            }
            Event::Finished(running) | Event::Interrupted(running) => {
                for (node, cell, amount) in self.running.remove(&running.id).unwrap_or_default() {
                    *self.free.get_mut(&(node, cell)).unwrap() += i64::from(amount);
                }
            }
            _ => {}
        }
    }
}

fn capacity(node: usize, cell: usize) -> i64 {
    let [cpu, mem, gpu, islands, other] = TYPES[idle()[node].kind].1;
    let (cores, gpus) = (2 + islands as usize, 2 + (islands + gpu) as usize);
    match cell {
        0 => mem.into(),
        1 => other.into(),
        _ if cell < cores => (cpu / islands).into(),
        _ if cell < gpus => 1000,
        _ => 1 << 30,
    }
}

pub(crate) fn machine() -> String {
    "machine = { topology = 'fat_tree', arity = [3, 4], nodes = [\n\
     { type = 'a', cpu = 8, mem = 100, gpu = 4, islands = 2, other = 3, on = '0-2,4-6,8-10' },\n\
     { type = 'b', cpu = 12, mem = 60 } ] }\n"
        .to_owned()
}

pub(crate) fn shared(rest: &str) -> Scenario {
    scenario(&format!("{}{rest}", machine()))
}

fn random_piece(rng: &mut Stream, count: u64) -> Piece {
    let mut below = |most: u64| rng.below(most) as u32;
    let gpu = [0, 0, 1, 1, 2, 4][below(6) as usize];
    Piece {
        count: 1 + below(count),
        cpu: 1 + below(4),
        mem: [0, 5, 20, 40][below(4) as usize],
        gpu,
        share: if gpu == 1 && below(2) == 0 { [250, 400, 500][below(3) as usize] } else { 1000 },
        other: [0, 0, 0, 1][below(4) as usize],
        per_node_min: 1,
        per_node: [None, None, Some(1), Some(2)][below(4) as usize],
        types: [None, None, None, Some("a".to_owned())][below(4) as usize].clone(),
    }
}

pub(crate) fn random_jobs(rng: &mut Stream, jobs: u64) -> Vec<Job> {
    let mut at = 0.0;
    (0..jobs)
        .map(|number| {
            at += rng.below(4) as f64;
            let inside = match rng.below(8) {
                0 => Inside::Node,
                1 => Inside::Leaf,
                2 => Inside::Island,
                _ => Inside::Anywhere,
            };
            let most = if inside == Inside::Anywhere { 10 } else { 3 };
            let mut pieces = Pieces { inside, ..Pieces::of(random_piece(rng, most)) };
            if rng.below(12) == 0 {
                pieces.exclusive = true;
            } else if rng.below(8) == 0 && matches!(inside, Inside::Anywhere | Inside::Leaf) {
                pieces.roles.push(random_piece(rng, 3));
            }
            let runtime = 1.0 + rng.below(30) as f64;
            let estimate = match rng.below(3) {
                0 => runtime,
                1 => runtime + rng.below(20) as f64,
                _ => (runtime - rng.below(5) as f64).max(1.0),
            };
            Job { estimate, ..Job::new(number, Time::new(at), Request::pieces(pieces), runtime) }
        })
        .collect()
}

#[test]
fn schedules_are_those_of_a_naive_simulator() {
    let mut rng = Stream::new(38, 0, "shared");
    let mut backfilled = 0;
    for round in 0..60 {
        let domain = ["naive", "fewest_leaves"][round % 2];
        let order = ["first", "most_allocated", "least_allocated"][round % 3];
        let scheduler = ["easy", "fcfs", "easy"][round / 6 % 3];
        let jobs = random_jobs(&mut rng, 80);
        let scenario = shared(&format!(
            "allocator = '{domain}'\norder = '{order}'\nscheduler = '{scheduler}'\n"
        ));
        let (_, seen) = observed(&scenario, jobs.clone(), Starts::default());
        let naive = Naive::new(&jobs, domain, order);
        let expected = naive.run(scheduler == "easy");
        for (own, other) in seen.starts.iter().zip(&expected) {
            assert_eq!(
                own, other,
                "round {round}: {domain}, {order}, {scheduler}: {} with {} to {}",
                jobs[other.0].request, jobs[other.0].runtime, jobs[other.0].estimate
            );
        }
        assert_eq!(seen.starts.len(), expected.len());
        backfilled += seen.starts.windows(2).filter(|pair| pair[0].0 > pair[1].0).count();
    }
    assert!(backfilled > 200, "only {backfilled} jobs were passed");
}

pub(crate) fn of_pieces(number: u64, at: f64, pieces: Pieces, runtime: f64) -> Job {
    Job::new(number, Time::new(at), Request::pieces(pieces), runtime)
}

/// Jobs numbered from 0. Each job is given as a tuple of arrival, request and run time.
fn numbered(jobs: &[(f64, Pieces, f64)]) -> Vec<Job> {
    let job = |((at, pieces, runtime), number): (&(f64, Pieces, f64), u64)| {
        of_pieces(number, *at, pieces.clone(), *runtime)
    };
    jobs.iter().zip(0..).map(job).collect()
}

/// Runs jobs, and returns the job number, the start and the nodes of each start.
///
/// A job is given as a tuple of arrival, request and run time.
fn starts(rest: &str, jobs: &[(f64, Pieces, f64)]) -> Vec<(usize, f64, Vec<usize>)> {
    observed(&shared(rest), numbered(jobs), Starts::default()).1.starts
}

pub(crate) fn gpus(count: u32, gpu: u32) -> Pieces {
    Pieces::of(Piece { count, gpu, ..Piece::default() })
}

#[test]
fn a_gang_waits_for_one_node_although_enough_gpus_are_free_in_all() {
    let whole = |at: f64, runtime: f64| (at, gpus(1, 4), runtime);
    // Of nine nodes with four GPUs each, six are full. The others have one, two and three free
    // GPUs.
    let mut jobs: Vec<_> = (0..6).map(|_| whole(0.0, 100.0)).collect();
    for taken in [3, 2, 1] {
        jobs.push((0.0, Pieces { inside: Inside::Node, ..gpus(1, taken) }, 10.0));
    }
    jobs.push((1.0, Pieces { inside: Inside::Node, ..gpus(4, 1) }, 5.0));
    let all = starts("order = 'least_allocated'", &jobs);
    assert_eq!(all.last().unwrap().1, 10.0, "six free GPUs are not four on one node");
    let spread: Vec<_> = jobs[..9].iter().cloned().chain([(1.0, gpus(4, 1), 5.0)]).collect();
    assert_eq!(starts("order = 'least_allocated'", &spread).last().unwrap().1, 1.0);
}

/// Places a job with the requested `pieces` on the only site; `None` if it does not fit now.
///
/// The site then holds the returned placement.
fn claimed(facility: &mut Facility, pieces: Pieces) -> Option<Placement> {
    let job = of_pieces(1, 0.0, pieces, 1.0);
    let placement = facility.propose_at(0, &job, Time::ZERO)?.placement;
    facility.claim(0, &placement, Time::ZERO).unwrap();
    Some(placement)
}

/// Places as many of `jobs` jobs as fit, each on one to four GPUs of one node.
///
/// Returns the node and the number of GPUs of each placed job.
fn filled(facility: &mut Facility, rng: &mut Stream, jobs: u64) -> Vec<(usize, u32)> {
    let mut one = |_| {
        let taken = 1 + rng.below(4) as u32;
        let placement = claimed(facility, Pieces { inside: Inside::Node, ..gpus(1, taken) })?;
        Some((placement.parts?.parts[0].node as usize, taken))
    };
    (0..jobs).filter_map(&mut one).collect()
}

#[test]
fn what_is_short_is_said() {
    use meshwork::alloc::parts::shortage;
    let text = "machine = { topology = 'fat_tree', arity = [1, 2], nodes = [{ type = 'a', cpu = 16, mem = 100, gpu = 8 }] }";
    let mut facility = scenario(text).setup(0).unwrap().facility;
    let mut claim = |pieces: Pieces| claimed(&mut facility, pieces).unwrap();
    for taken in [2, 6] {
        claim(Pieces { inside: Inside::Node, ..gpus(1, taken) });
    }
    // Both jobs are on the first node, so eight GPUs of the other node are free; two of these are
    // taken next.
    let two = claim(gpus(1, 2));
    let first = facility.fork_site(0);
    assert_eq!(first.site().amounts().unwrap().free(), [29, 200, 6, 0]);
    let says = |pieces: &Pieces| shortage(pieces, facility.sites()[0].site().amounts().unwrap());
    assert_eq!(says(&gpus(1, 8)), "it asks for 8 GPUs, and 6 are free where it may run");
    facility.release(0, &two);
    claimed(&mut facility, gpus(1, 1)).unwrap();
    let says = |pieces: &Pieces| shortage(pieces, facility.sites()[0].site().amounts().unwrap());
    assert_eq!(
        says(&gpus(7, 1)),
        "enough in total, but the allocator does not give nodes with enough together"
    );
    assert_eq!(says(&gpus(2, 4)), "it asks for 8 GPUs, and 7 are free where it may run");
    let large = Pieces::of(Piece { cpu: 16, gpu: 1, ..Piece::default() });
    assert_eq!(says(&large), "enough in total, but no node has 16 cores and 1 GPU free");
    let both = Piece { count: 2, per_node: Some(1), gpu: 3, ..Piece::default() };
    assert_eq!(
        says(&Pieces::of(both)),
        "2 nodes with 1 core and 3 GPUs free are needed, and only 1 has them"
    );
    let three = Pieces::of(Piece { count: 3, cpu: 9, ..Piece::default() });
    assert_eq!(
        says(&three),
        "enough in total, but the nodes have room for only 2 of its 3 pieces with 9 cores"
    );
    assert_eq!(says(&Pieces::whole_nodes(2)), "2 free nodes are needed, and none is free");
}

#[test]
fn six_and_two_free_gpus_are_not_eight_on_one_node() {
    use meshwork::alloc::parts::shortage;
    let text = "order = 'least_allocated'\nmachine = { topology = 'fat_tree', arity = [1, 2], \
         nodes = [{ type = 'a', cpu = 16, mem = 100, gpu = 8 }] }";
    let mut facility = scenario(text).setup(0).unwrap().facility;
    for taken in [2, 6] {
        claimed(&mut facility, gpus(1, taken)).unwrap();
    }
    let amounts = facility.sites()[0].site().amounts().unwrap();
    let sentence = "enough in total, but 6 + 2 free GPUs are not 8 on one node";
    assert_eq!(shortage(&gpus(1, 8), amounts), sentence);
    let together = Pieces { inside: Inside::Node, ..gpus(8, 1) };
    assert_eq!(shortage(&together, amounts), sentence);
}

#[test]
fn orders_take_the_node_of_their_definition() {
    let one = |gpu: u32, cpu: u32| Pieces::of(Piece { gpu, cpu, ..Piece::default() });
    let jobs = [(0.0, one(2, 2), 50.0), (0.0, one(1, 1), 50.0), (0.0, one(1, 1), 50.0)];
    for (order, nodes) in [
        ("first", [0, 0, 0]),
        ("most_allocated", [0, 0, 0]),
        ("least_allocated", [0, 1, 2]),
        ("best_fit", [0, 0, 0]),
        ("packing", [0, 0, 0]),
        ("slurm", [0, 0, 0]),
        // A piece of another kind goes to another node, and an equal piece joins the pieces of its
        // kind.
        ("clustering", [0, 1, 1]),
    ] {
        let all = starts(&format!("order = '{order}'"), &jobs);
        let own: Vec<usize> = all.iter().map(|(_, _, on)| on[0]).collect();
        assert_eq!(own, nodes, "{order}");
    }
}

#[test]
fn every_order_and_choice_gives_whole_runs() {
    use meshwork::alloc::parts::{orders::NODE_ORDERS, within::WITHIN};
    let mut rng = Stream::new(5, 0, "orders");
    let jobs = random_jobs(&mut rng, 120);
    for order in NODE_ORDERS {
        for within in WITHIN {
            let scenario = shared(&format!(
                "workload = {{ name = 'lublin' }}\nscheduler = 'easy'\norder = '{}'\nwithin = '{}'\n",
                order.about.name, within.about.name
            ));
            let (outcome, _) = observed(&scenario, jobs.clone(), Starts::default());
            assert_eq!(outcome.finished + outcome.refused, 120, "{}", order.about.name);
        }
    }
}

#[test]
fn other_allocators_are_asked_for_nodes_on_which_pieces_fit() {
    // The allocator `curve` takes consecutive nodes. Pieces that do not fit on a full node go
    // elsewhere.
    let full = (0.0, gpus(1, 4), 50.0);
    let jobs = [full, (0.0, gpus(4, 2), 50.0)];
    let text = "machine = { topology = 'mesh', dims = [4, 3], nodes = [{ type = 'a', cpu = 8, mem = 100, gpu = 4 }] }\n\
                allocator = 'curve'";
    let mut counts = Vec::new();
    watched(&scenario(text), numbered(&jobs), |_, event| {
        if let Event::Started(running) = event {
            counts.push(running.placement.node_count());
        }
    });
    assert_eq!(counts, [1, 2]);
}

/// An allocator of blocks finds a block if a piece of the job fits on each of its nodes.
#[test]
fn blocks_are_made_of_nodes_on_which_pieces_fit() {
    let machine = "machine = { topology = 'mesh', dims = [4, 3], nodes = [{ type = 'a', cpu = 8, mem = 100, gpu = 4 }] }";
    let mut rng = Stream::new(7, 0, "blocks");
    let (mut found, mut missed) = (0, 0);
    for round in 0..40 {
        let mut facility =
            scenario(&format!("{machine}\nallocator = 'first_fit'")).setup(0).unwrap().facility;
        let mut free = [4_u32; 12];
        let count = rng.below(12);
        for (node, taken) in filled(&mut facility, &mut rng, count) {
            free[node] -= taken;
        }
        // Four nodes with two free GPUs each: a block of 2 × 2, or none.
        let piece = Piece { count: 4, gpu: 2, per_node: Some(1), ..Piece::default() };
        let own = claimed(&mut facility, Pieces::of(piece));
        let fits = |x: usize, y: usize| free[x + 4 * y] >= 2;
        let bases = (0..2).flat_map(|y| (0..3).map(move |x| (x, y)));
        let first = bases
            .map(|(x, y)| [(x, y), (x + 1, y), (x, y + 1), (x + 1, y + 1)])
            .find(|nodes| nodes.iter().all(|&(x, y)| fits(x, y)));
        let expected = first.map(|nodes| nodes.map(|(x, y)| (x + 4 * y) as u32).to_vec());
        let given = own.map(|own| {
            let parts = &own.parts.as_ref().unwrap().parts;
            let mut nodes: Vec<u32> = parts.iter().map(|part| part.node).collect();
            nodes.sort_unstable();
            nodes
        });
        assert_eq!(given, expected, "round {round}: {free:?}");
        if expected.is_some() { found += 1 } else { missed += 1 }
    }
    assert!(found > 5 && missed > 5, "{found} and {missed}");
}

#[test]
fn pieces_inside_a_leaf_are_on_a_listed_one() {
    let text = "machine = { topology = 'flat', processors = 8, nodes = [{ type = 'a', cpu = 8, mem = 100, gpu = 4 }] }\n\
                allocator = { name = 'tree', switches = [{ nodes = [0, 1] }, { nodes = [2, 3, 4] }, { nodes = [5, 6, 7] }, \
                { children = [0, 1] }, { children = [2, 3] }] }";
    let leaf_of = [0_usize, 0, 1, 1, 1, 2, 2, 2];
    let mut rng = Stream::new(9, 0, "leaves");
    let (mut found, mut missed) = (0, 0);
    for round in 0..60 {
        let mut facility = scenario(text).setup(0).unwrap().facility;
        let mut free = [8, 12, 12];
        let count = rng.below(10);
        for (node, taken) in filled(&mut facility, &mut rng, count) {
            free[leaf_of[node]] -= taken;
        }
        let count = 1 + rng.below(14) as u32;
        let wanted = Pieces { inside: Inside::Leaf, ..gpus(count, 1) };
        let own = claimed(&mut facility, wanted);
        let fits = free.iter().any(|&room| room >= count);
        assert_eq!(own.is_some(), fits, "round {round}: {count} pieces, {free:?}");
        let parts = own.map(|own| own.parts.unwrap().parts).unwrap_or_default();
        let leaves: Vec<usize> = parts.iter().map(|part| leaf_of[part.node as usize]).collect();
        assert!(leaves.iter().all(|leaf| *leaf == leaves[0]), "{leaves:?}");
        if fits { found += 1 } else { missed += 1 }
    }
    assert!(found > 10 && missed > 5, "{found} and {missed}");
}

/// Pieces are placed whenever they fit, even if some nodes must get more pieces than others.
#[test]
fn pieces_that_fit_unevenly_are_placed_by_every_allocator_of_counts() {
    let machine = "machine = { topology = 'mesh', dims = [4, 3], nodes = [{ type = 'a', cpu = 8, mem = 100, gpu = 4 }] }";
    let mut rng = Stream::new(8, 0, "uneven");
    let (mut found, mut missed) = (0, 0);
    for allocator in
        ["random", "curve", "paging", "mc1x1", "greedy_available", "tree", "runs", "naive"]
    {
        for round in 0..30 {
            let text = format!("{machine}\nallocator = '{allocator}'");
            let mut facility = scenario(&text).setup(0).unwrap().facility;
            let count = 10 + rng.below(8);
            let taken = filled(&mut facility, &mut rng, count);
            let free = 48 - taken.iter().map(|(_, taken)| taken).sum::<u32>();
            let count = 1 + rng.below(24) as u32;
            let own = claimed(&mut facility, gpus(count, 1));
            assert_eq!(
                own.is_some(),
                count <= free,
                "{allocator}, round {round}: {count} of {free}"
            );
            let placed = |part: &meshwork::machine::NodePart| part.pieces;
            let pieces = own.map(|own| own.parts.unwrap().parts.iter().map(placed).sum());
            assert_eq!(pieces.unwrap_or(count), count);
            if count <= free { found += 1 } else { missed += 1 }
        }
    }
    assert!(found > 30 && missed > 30, "{found} and {missed}");
}

#[test]
fn whole_nodes_are_pieces_of_their_own() {
    let scenario = shared("order = 'first'");
    let jobs = vec![
        Job::new(0, Time::ZERO, Request::pieces(gpus(1, 1)), 10.0),
        Job::new(1, Time::ZERO, Request::Nodes(11), 10.0),
        Job::new(2, Time::ZERO, Request::Nodes(1), 10.0),
    ];
    let (_, seen) = observed(&scenario, jobs, Starts::default());
    let nodes: Vec<Vec<usize>> = seen.starts.iter().map(|(_, _, on)| on.clone()).collect();
    assert_eq!(nodes, [vec![0], (1..12).collect(), vec![0]]);
    assert_eq!(seen.starts[2].1, 10.0, "no idle node was left");
}

#[test]
fn bad_types_of_nodes_get_one_sentence() {
    let read = |nodes: &str| {
        refusal(&format!(
            "machine = {{ topology = 'flat', processors = 4, nodes = {nodes} }}\nworkload = {{ name = 'lublin', jobs = 1 }}"
        ))
    };
    for (nodes, sentence) in [
        (
            "[{ type = 'dgx', islands = 3 }]",
            "`machine.nodes[0].islands` is 3, which does not divide the 112 cores of `dgx`: islands are equal, so `cpu` is a \
             multiple of them",
        ),
        (
            "[{ type = 'x', cpu = 8, gpu = 3, islands = 2 }]",
            "`machine.nodes[0].islands` is 2, which does not divide the 3 GPUs of `x`: islands are equal, so `gpu` is a multiple \
             of them",
        ),
        (
            "[{ type = 'dgy' }]",
            "`machine.nodes[0].type` is `dgy`, which is no known type (did you mean `dgx`? known: dgx, nvl72, cpu): give `cpu`, \
             `mem` and `gpu` of a type of your own",
        ),
        (
            "[{ type = 'x', cpu = -1 }]",
            "`machine.nodes[0].cpu` is -1, but must be a whole number from 1 to 1048576",
        ),
        (
            "[{ type = 'x', cpu = 1.5 }]",
            "`machine.nodes[0].cpu` is 1.5, but must be a whole number from 1 to 1048576",
        ),
        (
            "[{ type = 'dgx', on = '0-1' }]",
            "node 2 has no type in `machine.nodes`: a type without `on` is on all that is left",
        ),
        (
            "[{ type = 'dgx', on = '0-1' }, { type = 'cpu', on = '1-3' }]",
            "node 1 has two types in `machine.nodes`",
        ),
        (
            "[{ type = 'dgx', on = '7' }]",
            "`machine.nodes[0].on` names node 7, but the machine has the nodes 0 to 3",
        ),
        (
            "[{ type = 'dgx' }, { type = 'cpu' }]",
            "two types of nodes have no `on`, and both would be on all that is left",
        ),
    ] {
        assert_eq!(read(nodes), sentence);
    }
    let unknown = read("[{ type = 'x', cpu = 8, gpus = 4 }]");
    assert!(unknown.starts_with("unknown key `gpus` in `machine.nodes[0]`"), "{unknown}");
}

#[test]
fn bad_pieces_get_one_sentence() {
    let read = |nodes: &str, of: &str| {
        refusal(&format!(
            "machine = {{ topology = 'flat', processors = 4{nodes} }}\nmeasure = {{ jobs = 9 }}\n\
             workload = {{ name = 'synthetic', load = 0.5, runtimes = {{ name = 'constant', value = 1.0 }}, \
             sizes = {{ name = 'vectors', of = {of} }} }}"
        ))
    };
    let two = "[{ type = 'dgx', on = '0-1' }, { type = 'nvl72' }]";
    for (nodes, of, sentence) in [
        (
            "[{ type = 'dgx' }]",
            "[{ gpu = 9, cpu = 4 }]",
            "`workload.sizes.of[0]` can never start: no node has 4 cores and 9 GPUs: the nearest type, `dgx`, has 112 cores, \
             2097152 MiB and 8 GPUs",
        ),
        (
            "[{ type = 'dgx' }]",
            "[{ gpu = 1.5 }]",
            "in `workload.sizes.of[0]`, gpu is 1.5, but must be a whole number, or a part of one GPU, from 0.001 to 1",
        ),
        (
            "[{ type = 'dgx' }]",
            "[{ gpu = -1 }]",
            "`workload.sizes.of[0].gpu` is -1, but must be a number from 0 to 1e15",
        ),
        (
            "[{ type = 'dgx' }]",
            "[{ cpu = 2.5 }]",
            "`workload.sizes.of[0].cpu` is 2.5, but must be a whole number from 1 to 1073741824",
        ),
        (
            two,
            "[{ gpu = 1 }]",
            "`workload.sizes.of[0]` wants GPUs and does not say which, but there are gb200 and h100: give their `type`, or several \
             as in `gb200|h100`",
        ),
        (
            two,
            "[{ gpu = 1, type = 'a100' }]",
            "`workload.sizes.of[0]` wants nodes of type `a100`, which no node has (did you mean `h100`? \
             known: dgx, nvl72, h100, gb200)",
        ),
        (
            "[{ type = 'dgx' }]",
            "[{ per_node = '0' }]",
            "in `workload.sizes.of[0]`, per_node is `0`, but must be a count from 1 on, such as 4, or two, such as 2-4",
        ),
    ] {
        assert_eq!(read(&format!(", nodes = {nodes}"), of), sentence);
    }
    assert_eq!(
        read("", "[{ gpu = 1 }]"),
        "`workload.sizes.of[0]` asks for cores, memory or GPUs, but the nodes of the machine have no types: give \
         `machine.nodes`, such as [{ type = \"dgx\" }]"
    );
}

#[test]
fn what_does_not_know_of_parts_is_refused_by_name() {
    for (rest, what) in [
        ("scheduler = 'equipartition'", "the scheduler `equipartition`"),
        ("sizing = { name = 'limit', dimension = 2 }", "the sizing `limit`"),
    ] {
        let text = format!("{}{rest}\nworkload = {{ name = 'lublin', jobs = 1 }}", machine());
        let sentence = format!(
            "{what} cannot be combined with types of `nodes` yet, whose cores, memory and GPUs jobs share"
        );
        assert_eq!(refusal(&text), sentence);
    }
    let text = "machine = 'flat:4'\norder = 'fgd'\nworkload = { name = 'lublin', jobs = 1 }";
    assert_eq!(
        refusal(text),
        "`order` is for machines whose nodes jobs share, and this one has no types of them: give `machine.nodes`, such as \
         [{ type = \"dgx\" }]"
    );
}

#[test]
fn metrics_of_parts_by_hand() {
    // Two nodes of four GPUs and eight cores: three GPUs for 10, then all of the other node for 5.
    let text = "machine = { topology = 'fat_tree', arity = [1, 2], nodes = [{ type = 'a', cpu = 8, mem = 100, gpu = 4, islands = 2 }] }\n\
         measure = { metrics = ['cpu_allocation', 'mem_allocation', 'gpu_allocation', 'cpu_utilization', 'gpu_utilization', \
         'unallocated_gpus', 'gpu_frag_2', 'gpu_frag_4', 'stranded_cpu', 'stranded_gpu', 'islands_per_job', 'nodes_per_job', \
         'leaves_per_job', 'utilization'] }";
    let scenario = scenario(text);
    let three = Pieces::of(Piece { count: 3, gpu: 1, mem: 10, ..Piece::default() });
    // The time before the first arrival does not count.
    for first in [0.0, 1000.0] {
        let jobs = vec![
            Job::new(0, Time::new(first), Request::pieces(three.clone()), 10.0),
            Job::new(1, Time::new(first + 5.0), Request::Nodes(1), 5.0),
        ];
        let (outcome, ()) = observed(&scenario, jobs, ());
        let near = |name: &str, value: f64| assert_near(&outcome, name, value);
        near("cpu_allocation", (3.0 * 10.0 + 8.0 * 5.0) / 160.0);
        near("utilization", (3.0 * 10.0 + 8.0 * 5.0) / 160.0);
        near("mem_allocation", (30.0 * 10.0 + 100.0 * 5.0) / 2000.0);
        near("gpu_allocation", (3.0 * 10.0 + 4.0 * 5.0) / 80.0);
        near("cpu_utilization", 30.0 / 160.0);
        near("gpu_utilization", 30.0 / 80.0);
        near("unallocated_gpus", (5.0 * 5.0 + 1.0 * 5.0) / 10.0);
        // One of five free GPUs, then the only one.
        near("gpu_frag_2", (0.2 * 5.0 + 1.0 * 5.0) / 10.0);
        near("gpu_frag_4", (0.2 * 5.0 + 1.0 * 5.0) / 10.0);
        near("stranded_cpu", 0.0);
        near("stranded_gpu", 0.0);
        near("islands_per_job", 2.0);
        near("nodes_per_job", 1.0);
        near("leaves_per_job", 1.0);
    }
}

#[test]
fn an_order_from_outside_is_named_in_a_study() {
    use meshwork::Catalogue;
    use meshwork::alloc::parts::orders::{NodeOrder, NodeOrderEntry};
    use meshwork::machine::NodeAmounts;
    use meshwork::registry::About;
    struct Last;
    impl NodeOrder for Last {
        fn score(&mut self, node: &NodeAmounts<'_>, _piece: &Piece) -> i64 {
            node.node.into()
        }

        fn fork(&self) -> Box<dyn NodeOrder> {
            Box::new(Last)
        }
    }
    static LAST: NodeOrderEntry = NodeOrderEntry::new(
        About::new("last", "the highest number")
            .definition("Nodes are taken from the highest number down.")
            .complexity("O(1) for each node.")
            .source("an example"),
        |_, _| Ok(Box::new(Last)),
    );
    let catalogue = Catalogue::standard().with(&LAST).unwrap();
    let text = format!("{}order = 'last'\nworkload = {{ name = 'lublin', jobs = 1 }}", machine());
    let scenario = Scenario::read_in(&catalogue, &text.parse().unwrap()).unwrap();
    let job = Job::new(0, Time::ZERO, Request::pieces(gpus(1, 1)), 1.0);
    let (_, seen) = observed(&scenario, vec![job], Starts::default());
    assert_eq!(seen.starts[0].2, [10], "the last node with GPUs");
}
