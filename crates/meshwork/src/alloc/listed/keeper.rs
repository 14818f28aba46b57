//! The allocators of studies: a rule, and what is the same for every job of a machine.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::alloc::{Allocator, AllocatorEntry, Ask, RecallError, nothing_to_recall};
use crate::form::{Asks, Finds};
use crate::geometry::NodeSet;
use crate::geometry::ranked::of_set;
use crate::job::{Request, Time, Wants, hostlist};
use crate::machine::{Placement, Site};
use crate::registry::{About, DefaultValue, Kind, Param, Params, Problem};
use crate::topology::{Grid, Node, Topology, Wiring};

use super::{Decision, Ends, Message, Nodes, Rule, Wanted, decide, find};

/// The largest weight of a node.
const HEAVIEST: u64 = u32::MAX as u64;

/// The size of segments, of those who have it.
pub(super) const SEGMENT: Param = Param {
    name: "segment",
    kind: Kind::Integer(1, 1 << 24),
    default: DefaultValue::Absent("every job in one piece"),
    help: "the size of the pieces that may lie apart; a job that is no whole number of them never starts",
};

/// The weights of nodes, of all.
pub(super) const WEIGHTS: Param = Param {
    name: "weights",
    kind: Kind::Integers(0, HEAVIEST),
    default: DefaultValue::Absent("all alike"),
    help: "the weight of each node: lighter ones are taken first",
};

/// The names of nodes, of all.
pub(super) const HOSTS: Param = Param {
    name: "hosts",
    kind: Kind::Text,
    default: DefaultValue::Absent("their numbers"),
    help: "the names of the nodes in the order of their numbers, as a list such as n[0-63], by which jobs require and \
           exclude nodes",
};

/// The partitions of the machine, of all.
pub(super) const PARTITIONS: Param = Param {
    name: "partitions",
    kind: Kind::Tables(&[
        Param {
            name: "name",
            kind: Kind::Text,
            default: DefaultValue::Required,
            help: "its name, as jobs have it",
        },
        NODES,
    ]),
    default: DefaultValue::Absent("every partition is the whole machine"),
    help: "the partitions that jobs may name, each with its nodes; a job of any other never starts",
};

/// The nodes of one unit of a list.
pub(super) const NODES: Param = Param {
    name: "nodes",
    kind: Kind::Integers(0, (1 << 24) - 1),
    default: DefaultValue::Required,
    help: "its nodes, by their numbers; one that the machine does not have is never free",
};

/// A rule as an allocator: it goes by what is free and by what a job asks for, and remembers nothing.
#[derive(Clone)]
pub(super) struct Keeper {
    rule: Arc<dyn Rule>,
    nodes: Arc<Nodes>,
    grid: Grid,
    /// What every job wants, but for its size.
    wanted: Wanted,
    /// The sizes to which jobs are rounded up, ascending; none if they are not.
    sizes: Arc<[u32]>,
    names: Arc<Names>,
    /// Whether it heeds what jobs want beside a count, where its entry says that it does not.
    heeds_wants: bool,
    /// When the jobs on nodes end, where a criterion looks at that.
    ends: Option<Arc<Vec<Time>>>,
}

/// What jobs call the nodes of a machine.
struct Names {
    /// How many nodes the machine has; others that are listed are never free.
    machine: u32,
    /// The number of each node; `None` where nodes go by their numbers.
    hosts: Option<BTreeMap<String, Node>>,
    /// The nodes of each partition; `None` where each is the whole machine.
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

    /// The nodes of a list; `None` if one of them is not there.
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

impl Keeper {
    /// A rule on a machine, or on more nodes than it has.
    pub(super) fn new(
        rule: impl Rule + 'static,
        params: &Params,
        machine: &Topology,
        universe: u32,
    ) -> Result<Keeper, Problem> {
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
        let wanted = Wanted { segment, ..Wanted::default() };
        let names = Names::read(params, machine.grid().nodes(), count)?;
        let (rule, nodes, names) = (Arc::new(rule), Arc::new(nodes), Arc::new(names));
        let sizes = Arc::new([]);
        let grid = machine.grid().clone();
        Ok(Keeper { rule, nodes, grid, wanted, sizes, names, heeds_wants: false, ends: None })
    }

    /// What every job wants, but for its size.
    pub(super) fn wanting(mut self, wanted: impl FnOnce(&mut Wanted)) -> Keeper {
        wanted(&mut self.wanted);
        self
    }

    /// Heeds what jobs want beside a count, so that free nodes alone do not say whether there is room.
    pub(super) fn heeding_wants(mut self) -> Keeper {
        self.heeds_wants = true;
        self
    }

    /// Remembers when the jobs on nodes end by their estimates.
    pub(super) fn remembering_ends(mut self) -> Keeper {
        self.ends = Some(Arc::new(vec![Time::ZERO; self.nodes.count() as usize]));
        self
    }

    /// Notes when the job on some nodes ends.
    fn note(&mut self, placement: &Placement, grid: &Grid, end: Time) {
        if let Some(ends) = &mut self.ends {
            let ends = Arc::make_mut(ends);
            placement.for_each_run(grid, |start, run| {
                ends[start as usize..(start + run) as usize].fill(end);
            });
        }
    }

    /// Rounds jobs up to these sizes, or without segments whole numbers of them.
    pub(super) fn rounding_up_to(mut self, mut sizes: Vec<u32>) -> Keeper {
        sizes.sort_unstable();
        sizes.dedup();
        self.sizes = sizes.into();
        self
    }

    /// What a job wants of the rule; `None` if there is no such size, or it names what is not there.
    fn wanted(&self, request: &Request) -> Option<Wanted> {
        let mut wanted = self.wanted.clone();
        wanted.nodes = u32::try_from(request.nodes()).ok()?;
        let mut most = wanted.nodes;
        if let Request::Wanting(wants) = request {
            if wants.segment.is_some() {
                wanted.segment = wants.segment;
                wanted.spread = wants.spread_segments;
                wanted.consolidate = wants.consolidate_segments;
            }
            wanted.switches = wants.switches.or(wanted.switches);
            wanted.contiguous = wants.contiguous;
            if let Some(list) = &wants.require {
                wanted.listed = Some(self.names.set(list, self.nodes.count())?);
            }
            most = wants.nodes_max.unwrap_or(most);
        }
        let is_cut = wanted.is_cut();
        if !self.sizes.is_empty() && !is_cut {
            wanted.nodes = self.sizes.iter().copied().find(|&size| size >= wanted.nodes)?;
        }
        wanted.most = most.max(wanted.nodes);
        Some(wanted)
    }

    /// Leaves of these nodes those that a job may have; `None` if it names what is not there.
    fn confine(&self, wants: &Wants, nodes: &mut NodeSet) -> Option<()> {
        if let Some(list) = &wants.exclude {
            nodes.subtract(&self.names.set(list, self.nodes.count())?);
        }
        if let (Some(name), Some(partitions)) = (&wants.partition, &self.names.partitions) {
            nodes.intersect(partitions.get(name)?);
        }
        Some(())
    }

    /// Leaves of these nodes those in base blocks without any job.
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

    /// Adds to these nodes all others of their base blocks: nobody else may have them meanwhile.
    fn fill_blocks(&self, site: &Site, nodes: &mut NodeSet) {
        let mut all = nodes.clone();
        for block in self.rule.base_blocks().iter().filter(|block| block.meets(nodes)) {
            all.unite(block);
        }
        nodes.copy_range(0, &all, 0, site.nodes());
    }

    fn never_on(&self, request: &Request) -> Option<Message> {
        let mut whole = NodeSet::empty(self.nodes.count());
        whole.insert_range(0, self.names.machine);
        if let Request::Wanting(wants) = request
            && self.confine(wants, &mut whole).is_none()
        {
            return Some(Message::NodeConfiguration);
        }
        let Some(wanted) = self.wanted(request) else {
            return Some(Message::TopologyConfiguration);
        };
        match decide(&*self.rule, &self.nodes, &wanted, &whole, &whole) {
            Decision::Never(message) => Some(message),
            Decision::Wait(_, message) if self.rule.waits_in_vain(&wanted) => Some(message),
            Decision::Start(_) | Decision::Wait(..) => None,
        }
    }
}

impl Allocator for Keeper {
    fn choose(&mut self, ask: Ask<'_>) -> Option<Placement> {
        let Ask { request, site, now, .. } = ask;
        site.count_with_room(request)?;
        let mut wanted = self.wanted(request)?;
        wanted.ends = self.ends.clone().map(|of| Ends { of, now });
        let is_plain =
            self.nodes.count() == site.nodes() && !matches!(request, Request::Wanting(_));
        let mut chosen = if is_plain {
            find(&*self.rule, &self.nodes, &wanted, site.free())
        } else {
            let mut free = NodeSet::empty(self.nodes.count());
            free.copy_range(0, site.free(), 0, site.nodes());
            if let Request::Wanting(wants) = request {
                self.confine(wants, &mut free)?;
                if wants.whole_blocks {
                    self.keep_idle_blocks(site, &mut free);
                }
            }
            find(&*self.rule, &self.nodes, &wanted, &free)
        }?;
        if let Request::Wanting(wants) = request
            && wants.whole_blocks
        {
            self.fill_blocks(site, &mut chosen);
        }
        Some(of_set(site.grid(), &chosen))
    }

    fn asks(&self) -> Option<Asks> {
        self.heeds_wants.then_some(Asks::Wants)
    }

    fn finds(&self) -> Option<Finds> {
        self.heeds_wants.then_some(Finds::SomeBlocks)
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

/// An allocator that goes by a list of units on any machine.
pub(super) const fn entry(
    about: About,
    build: fn(&Params, &Topology) -> Result<Box<dyn Allocator>, Problem>,
) -> AllocatorEntry {
    AllocatorEntry {
        about,
        serves: &[Wiring::Mesh, Wiring::Torus, Wiring::Hypercube, Wiring::Flat],
        dimensions: None,
        asks: Asks::Wants,
        finds: Finds::SomeBlocks,
        contiguous: false,
        build,
    }
}

/// The nodes of each unit of the list of this name, or of units of `length` consecutive nodes where there is none.
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

/// The nodes of a unit of a list, and one more than the largest number so far.
pub(super) fn nodes_of(unit: &Params, universe: &mut u32) -> Vec<Node> {
    let nodes = unit.get_integers("nodes").unwrap_or_default();
    nodes.iter().for_each(|&node| *universe = (*universe).max(node + 1));
    nodes
}

/// The set of some nodes.
pub(super) fn set_of(nodes: &[Node], universe: u32) -> NodeSet {
    let mut set = NodeSet::empty(universe);
    nodes.iter().for_each(|&node| set.insert(node));
    set
}

/// Consecutive nodes in runs of this length, the last perhaps shorter.
pub(super) fn consecutive(count: u32, length: u32) -> Vec<Vec<Node>> {
    let starts = (0..count).step_by(length.max(1) as usize);
    starts.map(|start| (start..count.min(start.saturating_add(length))).collect()).collect()
}
