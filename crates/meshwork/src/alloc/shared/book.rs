//! Book of the cores, memory and GPUs that jobs hold, with stored results for recent requests.

use super::decide::{NOT_AVAILABLE, SharedDecision, Wanted, decide_shared, is_ever, wanted};
use super::give::give;
use super::holdings::{Holdings, SharedGrant};
use super::known::{Known, KnownChoice, SingleTree};
use super::machine::{Domains, SharedMachine};
use super::request::SharedRequest;

const MOST_KNOWN: usize = 32;

/// Maximum length of the log of changed nodes, as a multiple of the number of nodes.
///
/// If the log would grow longer, it is emptied. Then all nodes are examined again for each request.
const MOST_CHANGES: usize = 2;

/// Book of the cores, memory and GPUs that jobs hold on the nodes of a machine.
///
/// It makes the same decisions as [`decide_shared`], but faster. For each recent request, it stores
/// what the job needs, and whether it could ever start. If a request for several nodes is repeated
/// on a tree of switches, it also stores what the job could take of each node. For an equal request
/// later, only nodes that have changed since then are examined again.
#[derive(Clone, Debug)]
pub struct SharedBook {
    holdings: Holdings,
    tree: Option<SingleTree>,
    /// Nodes whose free amounts have changed, in the order of the changes.
    changes: Vec<u32>,
    /// Number of the oldest changes, which have been dropped from `changes`.
    forgotten: usize,
    /// Requests with stored results, with the most recently used one at the end.
    requests: Vec<KnownRequest>,
    slots: Vec<u32>,
}

#[derive(Clone, Debug)]
struct KnownRequest {
    request: SharedRequest,
    wanted: Result<Wanted, String>,
    /// Whether the job could start on the empty machine; `None` if not yet examined.
    is_ever: Option<bool>,
    known: Option<Known>,
    /// Number of the book's changes, since its creation, that the stored results take into account.
    seen: usize,
}

impl SharedBook {
    /// Creates the book of held resources for a machine on which no job runs.
    #[must_use]
    pub fn new(machine: &SharedMachine) -> SharedBook {
        SharedBook {
            holdings: Holdings::idle(machine),
            tree: SingleTree::of(machine),
            changes: Vec::new(),
            forgotten: 0,
            requests: Vec::new(),
            slots: vec![u32::MAX; machine.count() as usize],
        }
    }

    /// Cores, memory and GPUs of each node that jobs hold, and those that are free.
    #[must_use]
    pub fn holdings(&self) -> &Holdings {
        &self.holdings
    }

    /// Records that a job holds cores, memory and GPUs of a node from now on.
    pub fn take(&mut self, grant: &SharedGrant) {
        self.holdings.take(grant);
        self.note(grant.node);
    }

    /// Records that a job no longer holds cores, memory and GPUs of a node.
    pub fn give_back(&mut self, grant: &SharedGrant) {
        self.holdings.give_back(grant);
        self.note(grant.node);
    }

    fn note(&mut self, node: u32) {
        if self.changes.len() >= MOST_CHANGES * self.slots.len().max(1) {
            self.forgotten += self.changes.len();
            self.changes.clear();
        }
        self.changes.push(node);
    }

    /// Decides on a job, from the held resources in the book and the stored results of earlier
    /// requests.
    ///
    /// The cost is lower for a repeated request for several nodes, in a tree with one top switch.
    /// Let the tree have *n* nodes, *s* switches and *h* levels. Each node that has changed since
    /// the last equal request costs **O(h log n)**. Choosing nodes costs **O(s + n / 64)** if one
    /// leaf suffices, and **O(s h)** for each further leaf. Any other decision has the cost of
    /// [`decide_shared`].
    pub fn decide(&mut self, machine: &SharedMachine, request: &SharedRequest) -> SharedDecision {
        let place = self.requests.iter().rposition(|known| known.request == *request);
        let mut own = match place {
            Some(place) => self.requests.remove(place),
            None => {
                if self.requests.len() >= MOST_KNOWN {
                    self.requests.remove(0);
                }
                KnownRequest {
                    request: request.clone(),
                    wanted: wanted(machine, &self.holdings, request),
                    is_ever: None,
                    known: None,
                    seen: 0,
                }
            }
        };
        let decision = self.decide_known(machine, &mut own, place.is_some());
        self.requests.push(own);
        decision
    }

    fn decide_known(
        &mut self,
        machine: &SharedMachine,
        own: &mut KnownRequest,
        is_again: bool,
    ) -> SharedDecision {
        let wanted = match &own.wanted {
            Ok(wanted) => wanted,
            Err(reason) => return SharedDecision::Never(reason.clone()),
        };
        if let (Domains::Tree(list), Some(tree)) = (&machine.domains, &self.tree)
            && is_again
            && Known::serves(machine, wanted)
        {
            let now = self.forgotten + self.changes.len();
            let known = match &mut own.known {
                Some(known) if own.seen >= self.forgotten => {
                    for &node in &self.changes[own.seen - self.forgotten..] {
                        known.update(machine, list, tree, &self.holdings, wanted, node);
                    }
                    known
                }
                known => known.insert(Known::new(machine, list, tree, &self.holdings, wanted)),
            };
            own.seen = now;
            let holdings = &self.holdings;
            match known.choose(machine, list, tree, holdings, wanted, &mut self.slots) {
                KnownChoice::Nodes(chosen) => {
                    let order = own.request.order;
                    if let Some((tasks, grants)) =
                        give(machine, &wanted.needs, order, holdings, &chosen)
                    {
                        return SharedDecision::Start { tasks, grants };
                    }
                    return own.later(machine, holdings);
                }
                KnownChoice::Nothing => return own.later(machine, holdings),
                KnownChoice::Unknown => {}
            }
        }
        let decision = decide_shared(machine, &self.holdings, &own.request);
        match decision {
            SharedDecision::Wait => own.is_ever = Some(true),
            SharedDecision::Never(_) => own.is_ever = Some(false),
            SharedDecision::Start { .. } => {}
        }
        decision
    }
}

impl KnownRequest {
    /// Decision on a job that cannot start now: it waits, or it can never start.
    fn later(&mut self, machine: &SharedMachine, holdings: &Holdings) -> SharedDecision {
        let is_ever = match (&self.wanted, self.is_ever) {
            (_, Some(known)) => known,
            (Ok(wanted), None) => is_ever(machine, holdings, &wanted.needs, &wanted.pool),
            (Err(_), None) => false,
        };
        self.is_ever = Some(is_ever);
        if is_ever { SharedDecision::Wait } else { SharedDecision::Never(NOT_AVAILABLE.to_owned()) }
    }
}

#[cfg(test)]
mod tests {
    use super::super::machine::{GpuRecord, SelectParams, SlurmNodeType};
    use super::super::request::GpuCount;
    use super::*;
    use crate::alloc::listed::tree::{Below, Tree};
    use crate::geometry::NodeSet;
    use crate::rng::Stream;

    fn one_of<T: Copy>(rng: &mut Stream, of: &[T]) -> T {
        of[rng.below(of.len() as u64) as usize]
    }

    fn node_type(rng: &mut Stream) -> SlurmNodeType {
        let sockets = one_of(rng, &[1, 2]);
        let gpus = one_of(rng, &[0, 2, 4, 8_u32]);
        let records = match (gpus, rng.below(3)) {
            (0, _) => Vec::new(),
            (_, 0) => vec![GpuRecord { model: Some(0), gpus: (1 << gpus) - 1, near: None }],
            _ => (0..sockets)
                .map(|socket| {
                    let each = gpus / sockets;
                    let own = ((1_u64 << each) - 1) << (socket * each);
                    GpuRecord { model: Some(0), gpus: own, near: Some(1 << socket) }
                })
                .collect(),
        };
        SlurmNodeType {
            sockets,
            cores: one_of(rng, &[4, 8]),
            threads: one_of(rng, &[1, 1, 2]),
            memory: one_of(rng, &[20_000, 64_000]),
            weight: one_of(rng, &[1, 1, 1, 5]),
            gpus: records,
            ..SlurmNodeType::default()
        }
    }

    /// Random machine with leaf switches of unequal size, in most cases below a single top switch.
    fn machine(rng: &mut Stream) -> SharedMachine {
        let sizes: Vec<u32> = (0..2 + rng.below(8)).map(|_| 1 + rng.below(9) as u32).collect();
        let count = sizes.iter().sum();
        let mut first = 0;
        let mut list = Vec::new();
        for &size in &sizes {
            let mut nodes = NodeSet::empty(count);
            nodes.insert_range(first, size);
            first += size;
            list.push(Below::Nodes(nodes));
        }
        let leaves: Vec<usize> = (0..list.len()).collect();
        list.extend(leaves.chunks(3).map(|part| Below::Switches(part.to_vec())));
        if rng.below(8) > 0 {
            list.push(Below::Switches((leaves.len()..list.len()).collect()));
        }
        let types: Vec<SlurmNodeType> = (0..=rng.below(2)).map(|_| node_type(rng)).collect();
        let type_of = (0..count).map(|_| rng.below(types.len() as u64) as u16).collect();
        let mut up = NodeSet::full(count);
        (0..rng.below(3)).for_each(|_| up.remove(rng.below(count.into()) as u32));
        SharedMachine {
            types,
            type_of,
            models: vec!["a".to_owned()],
            up,
            whole: NodeSet::full(count),
            domains: Domains::Tree(Tree::new(count, &list)),
            params: SelectParams {
                by_core: rng.below(3) > 0,
                memory: rng.below(3) > 0,
                least_loaded: rng.below(10) == 0,
                mem_per_cpu: one_of(rng, &[0, 500, 1000]),
                cpus_per_gpu: one_of(rng, &[0, 0, 2]),
                ..SelectParams::default()
            },
        }
    }

    fn request(rng: &mut Stream) -> SharedRequest {
        let mut request = SharedRequest::default();
        match rng.below(4) {
            0 => request.tasks = Some(1 + rng.below(12) as u32),
            1 => {
                let nodes = 1 + rng.below(4) as u32;
                request.nodes = Some((nodes, nodes + one_of(rng, &[0, 0, 2])));
            }
            2 => {
                request.nodes = Some((2, 2));
                request.tasks_per_node = Some(1 + rng.below(3) as u32);
            }
            _ => {}
        }
        if rng.below(2) == 0 {
            request.cpus_per_task = Some(1 + rng.below(4) as u32);
        }
        let count =
            GpuCount { count: 1 + rng.below(4), model: one_of(rng, &[None, None, Some(0)]) };
        match rng.below(5) {
            0 => request.gpus_per_node = Some(count),
            1 | 2 => request.gpus = Some(GpuCount { count: count.count * 3, ..count }),
            3 if request.tasks.is_some() => request.gpus_per_task = Some(count),
            _ => {}
        }
        match rng.below(6) {
            0 => request.memory = Some(one_of(rng, &[0, 4000])),
            1 => request.mem_per_cpu = Some(1500),
            _ => {}
        }
        request.exclusive = rng.below(10) == 0;
        request.enforce_binding = rng.below(6) == 0;
        request
    }

    #[test]
    fn a_book_is_the_definition() {
        let mut rng = Stream::new(38, 0, "books");
        let (mut known, mut unknown) = ([0, 0], 0);
        for _ in 0..300 {
            let machine = machine(&mut rng);
            let mut book = SharedBook::new(&machine);
            let mut jobs: Vec<Vec<SharedGrant>> = Vec::new();
            let requests: Vec<SharedRequest> = (0..6).map(|_| request(&mut rng)).collect();
            for _ in 0..60 {
                let asked = &requests[rng.below(6) as usize];
                let expected = decide_shared(&machine, book.holdings(), asked);
                let decision = book.decide(&machine, asked);
                assert_eq!(decision, expected, "{asked:?} on {machine:?}");
                let last = book.requests.last().unwrap().clone();
                if let (Some(own), Ok(wanted), Domains::Tree(list), Some(tree)) =
                    (&last.known, &last.wanted, &machine.domains, &book.tree)
                {
                    let holdings = &book.holdings;
                    match own.choose(&machine, list, tree, holdings, wanted, &mut book.slots) {
                        KnownChoice::Nodes(_) => known[0] += 1,
                        KnownChoice::Nothing => known[1] += 1,
                        KnownChoice::Unknown => unknown += 1,
                    }
                    assert!(book.slots.iter().all(|slot| *slot == u32::MAX));
                }
                if let SharedDecision::Start { grants, .. } = decision {
                    grants.iter().for_each(|grant| book.take(grant));
                    jobs.push(grants);
                }
                if jobs.len() > 4 + rng.below(8) as usize {
                    let ended = jobs.swap_remove(rng.below(jobs.len() as u64) as usize);
                    ended.iter().for_each(|grant| book.give_back(grant));
                }
            }
        }
        assert!(known[0] > 1000 && known[1] > 1000, "{known:?} known, {unknown} unknown");
        assert!(unknown * 3 < known[0] + known[1], "{known:?} known, {unknown} unknown");
    }
}
