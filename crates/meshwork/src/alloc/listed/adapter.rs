//! Adapter that makes an allocator of a placement rule, with parameters that all rules have in
//! common.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::alloc::{Allocator, AllocatorEntry, Ask, RecallError, nothing_to_recall};
use crate::form::{Asks, Finds};
use crate::geometry::NodeSet;
use crate::geometry::ranked::of_set;
use crate::job::{Constraints, Inside, Request, Time, hostlist};
use crate::machine::{Placement, Site};
use crate::registry::{About, Kind, Param, Params, Problem};
use crate::topology::{Grid, Node, Topology, Wiring};

use super::{Decision, Ends, NodeRequest, Nodes, Rule, SlurmMessage, decide, find};

const HEAVIEST: u64 = u32::MAX as u64;

pub(super) const SEGMENT: Param =
    Param::new("segment", Kind::Integer(1, 1 << 24)).absent("every job in one piece").help(
        "the size of the pieces that may lie apart; a job that is no whole number of them never \
         starts",
    );

pub(super) const WEIGHTS: Param = Param::new("weights", Kind::Integers(0, HEAVIEST))
    .absent("all alike")
    .help("the weight of each node: lighter ones are taken first");

pub(super) const HOSTS: Param = Param::new("hosts", Kind::Text).absent("their numbers").help(
    "the names of the nodes in the order of their numbers, as a list such as n[0-63], by which \
         jobs require and exclude nodes",
);

pub(super) const PARTITIONS: Param = Param::new(
    "partitions",
    Kind::Tables(&[Param::new("name", Kind::Text).help("its name, as jobs have it"), NODES]),
)
.absent("every partition is the whole machine")
.help("the partitions that jobs may name, each with its nodes; a job of any other never starts");

pub(super) const NODES: Param = Param::new("nodes", Kind::Integers(0, (1 << 24) - 1))
    .help("its nodes, by their numbers; one that the machine does not have is never free");

/// Adapter that makes an [`Allocator`] of a placement [`Rule`].
///
/// Between requests it remembers only the estimated ends of running jobs.
#[derive(Clone)]
pub(super) struct RuleAllocator {
    rule: Arc<dyn Rule>,
    nodes: Arc<Nodes>,
    grid: Grid,
    /// Constraints that apply to all jobs. The constraints of one job are added to a copy of them.
    common: NodeRequest,
    /// Sizes to which the sizes of jobs are rounded up, in ascending order; may be empty.
    sizes: Arc<[u32]>,
    names: Arc<Names>,
    /// Whether jobs may have constraints although the registry entry declares only numbers of
    /// nodes.
    heeds_constraints: bool,
    /// For each node, the estimated end of the job on it; `None` if no criterion needs these times.
    ends: Option<Arc<Vec<Time>>>,
}

struct Names {
    /// Number of nodes of the machine. If a study lists nodes with this number or a higher one,
    /// they are never free.
    machine: u32,
    /// Number of each node by its name; `None` if nodes are named by their numbers.
    hosts: Option<BTreeMap<String, Node>>,
    /// Nodes of each partition by its name; `None` if every partition is the whole machine.
    partitions: Option<BTreeMap<String, NodeSet>>,
}

impl Names {
    fn read(params: &Params, machine: u32, universe: u32) -> Result<Names, Problem> {
        let hosts = params.get_text("hosts").map(|list| {
            let names = hostlist::names(list).map_err(|says| params.problem("hosts", says))?;
            if names.len() < machine as usize {
                let given = names.len();
                let says = format!("`hosts` names {given} nodes, but the machine has {machine}");
                return Err(params.problem("hosts", says));
            }
            Ok(names.into_iter().zip(0..).collect())
        });
        let partition = |table: &Params| {
            let mut beyond = universe;
            let nodes = nodes_of(table, &mut beyond);
            if beyond > universe {
                let says = format!("the node {} is in no list of this machine", beyond - 1);
                return Err(table.problem("nodes", says));
            }
            Ok((table.text("name").to_owned(), set_of(&nodes, universe)))
        };
        let partitions = params.get_tables("partitions");
        let partitions = partitions.map(|tables| tables.iter().map(partition).collect());
        Ok(Names { machine, hosts: hosts.transpose()?, partitions: partitions.transpose()? })
    }

    /// The nodes of a host list, such as `n[1-4]`; `None` if one of the names belongs to no node.
    fn set(&self, list: &str, universe: u32) -> Option<NodeSet> {
        let mut set = NodeSet::empty(universe);
        for name in hostlist::names(list).ok()? {
            let node = match &self.hosts {
                Some(hosts) => hosts.get(&name).copied(),
                None => name.parse().ok(),
            };
            set.insert(node.filter(|&node| node < universe)?);
        }
        Some(set)
    }
}

impl RuleAllocator {
    /// Creates the allocator of a rule from its parameters.
    ///
    /// `universe` is the number of nodes that lists name. It may exceed the number of nodes of the
    /// machine.
    pub(super) fn new(
        rule: impl Rule + 'static,
        params: &Params,
        machine: &Topology,
        universe: u32,
    ) -> Result<RuleAllocator, Problem> {
        let count = universe.max(machine.grid().nodes());
        let weights = params.get_integers("weights").unwrap_or_default();
        if !weights.is_empty() && weights.len() != count as usize {
            let given = weights.len();
            let says = format!(
                "`weights` has {given} numbers, but must have one for each of {count} nodes"
            );
            return Err(params.problem("weights", says));
        }
        let nodes = match weights.is_empty() {
            true => Nodes::alike(count),
            false => Nodes::new(weights, vec![1; count as usize]),
        };
        let segment = params.get_integer("segment").map(|size| size as u32);
        let common = NodeRequest { segment, ..NodeRequest::default() };
        let names = Names::read(params, machine.grid().nodes(), count)?;
        Ok(RuleAllocator {
            rule: Arc::new(rule),
            nodes: Arc::new(nodes),
            grid: machine.grid().clone(),
            common,
            sizes: Arc::new([]),
            names: Arc::new(names),
            heeds_constraints: false,
            ends: None,
        })
    }

    pub(super) fn with_common(mut self, adjust: impl FnOnce(&mut NodeRequest)) -> RuleAllocator {
        adjust(&mut self.common);
        self
    }

    pub(super) fn heeding_constraints(mut self) -> RuleAllocator {
        self.heeds_constraints = true;
        self
    }

    pub(super) fn remembering_ends(mut self) -> RuleAllocator {
        self.ends = Some(Arc::new(vec![Time::ZERO; self.nodes.count() as usize]));
        self
    }

    fn note(&mut self, placement: &Placement, grid: &Grid, end: Time) {
        if let Some(ends) = &mut self.ends {
            let ends = Arc::make_mut(ends);
            placement.for_each_run(grid, |start, run| {
                ends[start as usize..(start + run) as usize].fill(end);
            });
        }
    }

    /// Makes the allocator round up the size of each job to one of `sizes`. Jobs with segments keep
    /// their size.
    pub(super) fn rounding_up_to(mut self, mut sizes: Vec<u32>) -> RuleAllocator {
        sizes.sort_unstable();
        sizes.dedup();
        self.sizes = sizes.into();
        self
    }

    /// Converts a request to the form that placement rules take.
    ///
    /// `None` if the request names an unknown node, or is larger than the sizes that the topology
    /// lists.
    fn node_request(&self, request: &Request) -> Option<NodeRequest> {
        let mut node_request = self.common.clone();
        node_request.nodes = u32::try_from(request.nodes()).ok()?;
        let mut most = node_request.nodes;
        if let Request::Constrained(constraints) = request {
            if constraints.segment.is_some() {
                node_request.segment = constraints.segment;
                node_request.spread = constraints.spread_segments;
                node_request.consolidate = constraints.consolidate_segments;
            }
            node_request.switches = constraints.switches.or(node_request.switches);
            node_request.contiguous = constraints.contiguous;
            if let Some(list) = &constraints.require {
                node_request.listed = Some(self.names.set(list, self.nodes.count())?);
            }
            most = constraints.nodes_max.unwrap_or(most);
        }
        let is_cut = node_request.is_cut();
        if !self.sizes.is_empty() && !is_cut {
            node_request.nodes =
                self.sizes.iter().copied().find(|&size| size >= node_request.nodes)?;
        }
        node_request.most = most.max(node_request.nodes);
        Some(node_request)
    }

    /// Removes from `nodes` the nodes outside the job's partition and the nodes that the job
    /// excludes.
    ///
    /// `None` if the job names an unknown partition or node.
    fn confine(&self, constraints: &Constraints, nodes: &mut NodeSet) -> Option<()> {
        if let Some(list) = &constraints.exclude {
            nodes.subtract(&self.names.set(list, self.nodes.count())?);
        }
        if let (Some(name), Some(partitions)) = (&constraints.partition, &self.names.partitions) {
            nodes.intersect(partitions.get(name)?);
        }
        Some(())
    }

    /// Removes from `nodes` every base block (such as a rack) in which at least one node is held.
    fn keep_idle_blocks(&self, site: &Site, nodes: &mut NodeSet) {
        let mut held = NodeSet::empty(self.nodes.count());
        held.insert_range(0, site.nodes());
        let mut free = NodeSet::empty(self.nodes.count());
        free.copy_range(0, site.free(), 0, site.nodes());
        held.subtract(&free);
        for block in self.rule.base_blocks().iter().filter(|block| block.meets(&held)) {
            nodes.subtract(block);
        }
    }

    fn fill_blocks(&self, site: &Site, nodes: &mut NodeSet) {
        let mut all = nodes.clone();
        for block in self.rule.base_blocks().iter().filter(|block| block.meets(nodes)) {
            all.unite(block);
        }
        nodes.copy_range(0, &all, 0, site.nodes());
    }

    fn never_on(&self, request: &Request) -> Option<SlurmMessage> {
        let mut whole = NodeSet::empty(self.nodes.count());
        whole.insert_range(0, self.names.machine);
        if let Request::Constrained(constraints) = request
            && self.confine(constraints, &mut whole).is_none()
        {
            return Some(SlurmMessage::NodeConfiguration);
        }
        let Some(node_request) = self.node_request(request) else {
            return Some(SlurmMessage::TopologyConfiguration);
        };
        match decide(&*self.rule, &self.nodes, &node_request, &whole, &whole) {
            Decision::Never(message) => Some(message),
            Decision::Wait(_, message) if self.rule.waits_in_vain(&node_request) => Some(message),
            Decision::Start(_) | Decision::Wait(..) => None,
        }
    }
}

impl Allocator for RuleAllocator {
    fn parts(&self, inside: Inside) -> Vec<NodeSet> {
        self.rule.parts(inside)
    }

    fn choose(&mut self, ask: Ask<'_>) -> Option<Placement> {
        let Ask { request, site, now, .. } = ask;
        site.count_if_free(request)?;
        let mut node_request = self.node_request(request)?;
        node_request.ends = self.ends.clone().map(|of| Ends { of, now });
        let is_plain =
            self.nodes.count() == site.nodes() && !matches!(request, Request::Constrained(_));
        let mut chosen = if is_plain {
            find(&*self.rule, &self.nodes, &node_request, site.free())
        } else {
            let mut free = NodeSet::empty(self.nodes.count());
            free.copy_range(0, site.free(), 0, site.nodes());
            if let Request::Constrained(constraints) = request {
                self.confine(constraints, &mut free)?;
                if constraints.whole_blocks {
                    self.keep_idle_blocks(site, &mut free);
                }
            }
            find(&*self.rule, &self.nodes, &node_request, &free)
        }?;
        if let Request::Constrained(constraints) = request
            && constraints.whole_blocks
        {
            self.fill_blocks(site, &mut chosen);
        }
        Some(of_set(site.grid(), &chosen))
    }

    fn asks(&self) -> Option<Asks> {
        self.heeds_constraints.then_some(Asks::Constrained)
    }

    fn finds(&self) -> Option<Finds> {
        self.heeds_constraints.then_some(Finds::SomeBlocks)
    }

    fn never(&self, request: &Request) -> Option<String> {
        let message = self.never_on(request)?;
        Some(format!("no place that is listed ever holds {request} (Slurm says: {message})"))
    }

    fn expected(&mut self, placement: &Placement, end: Time) {
        if self.ends.is_some() {
            let grid = self.grid.clone();
            self.note(placement, &grid, end);
        }
    }

    fn released(&mut self, placement: &Placement, site: &Site) {
        self.note(placement, site.grid(), Time::ZERO);
    }

    fn memory(&self) -> Vec<u64> {
        let known = self.ends.iter().flat_map(|ends| (0..).zip(ends.iter()));
        let known = known.filter(|(_, end)| **end > Time::ZERO);
        known.flat_map(|(node, end)| [node, end.units().to_bits()]).collect()
    }

    fn recall(&mut self, memory: &[u64], site: &Site) -> Result<(), RecallError> {
        let Some(ends) = &mut self.ends else { return nothing_to_recall(memory) };
        let ends = Arc::make_mut(ends);
        ends.fill(Time::ZERO);
        let wrong =
            || RecallError::Other("its ends are not those of jobs on held nodes".to_owned());
        for pair in memory.chunks(2) {
            let &[node, bits] = pair else { return Err(wrong()) };
            let node = u32::try_from(node).ok().filter(|&node| node < site.nodes());
            let node = node.filter(|&node| !site.free().contains(node)).ok_or_else(wrong)?;
            ends[node as usize] = Time::try_from(f64::from_bits(bits)).map_err(|_| wrong())?;
        }
        Ok(())
    }

    fn goes_by_free_nodes(&self) -> bool {
        self.ends.is_none()
    }

    fn fork(&self) -> Box<dyn Allocator> {
        Box::new(self.clone())
    }
}

pub(super) const fn entry(
    about: About,
    build: fn(&Params, &Topology) -> Result<Box<dyn Allocator>, Problem>,
) -> AllocatorEntry {
    AllocatorEntry {
        about,
        serves: &[Wiring::Mesh, Wiring::Torus, Wiring::Hypercube, Wiring::Flat],
        dimensions: None,
        asks: Asks::Constrained,
        finds: Finds::SomeBlocks,
        contiguous: false,
        build,
    }
}

/// Reads the nodes of each unit (ring or base block) from the parameter `name`. If it is omitted,
/// each unit has `length` consecutive nodes.
pub(super) fn units(
    params: &Params,
    name: &str,
    universe: &mut u32,
    length: impl FnOnce(u32) -> u32,
) -> Vec<Vec<Node>> {
    match params.get_tables(name) {
        Some(units) => units.iter().map(|unit| nodes_of(unit, universe)).collect(),
        None => consecutive(*universe, length(*universe)),
    }
}

/// Returns the node numbers in a table of the study, and raises `universe` above all of them.
pub(super) fn nodes_of(unit: &Params, universe: &mut u32) -> Vec<Node> {
    let nodes = unit.get_integers("nodes").unwrap_or_default();
    nodes.iter().for_each(|&node| *universe = (*universe).max(node + 1));
    nodes
}

pub(crate) fn set_of(nodes: &[Node], universe: u32) -> NodeSet {
    let mut set = NodeSet::empty(universe);
    nodes.iter().for_each(|&node| set.insert(node));
    set
}

/// Divides the nodes into runs of `length` consecutive nodes; the last run may be shorter.
pub(super) fn consecutive(count: u32, length: u32) -> Vec<Vec<Node>> {
    let starts = (0..count).step_by(length.max(1) as usize);
    starts.map(|start| (start..count.min(start.saturating_add(length))).collect()).collect()
}
