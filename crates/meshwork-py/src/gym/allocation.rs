//! The allocation environment: jobs are served in order of arrival, and the agent places them.

use meshwork::alloc::{Allocator, AllocatorEntry, Ask, block::first_fit};
use meshwork::catalogue::Catalogue;
use meshwork::form::{Asks, Finds};
use meshwork::geometry::FreeBases;
use meshwork::job::{Dims, Request};
use meshwork::machine::{Block, Placement, Site};
use meshwork::scenario::Scenario;
use meshwork::shape::{ShapeRule, shaped};
use meshwork::topology::{Topology, Wiring};

use super::episode::{Episode, machine};
use super::{Env, Script, Step};

/// The state of an allocation environment.
///
/// The agent observes the free nodes, the block requested by the oldest waiting job, and the
/// expected remaining time for which each node is held. An action is the number of a node, at which
/// the block for the oldest job begins. The action after the last node waits for the next release
/// of nodes or, if no job runs, for the next arrival. If no job will arrive either, it starts the
/// oldest job at the first node.
pub(super) struct Allocation {
    script: Script,
    machine: Scenario,
    episode: Episode,
    topology: Topology,
    bases: FreeBases,
    wanted: Option<Dims>,
}

impl Allocation {
    /// Creates an environment; an error if the machine is flat, since such a machine has no blocks.
    pub(super) fn new(script: Script, catalogue: &Catalogue) -> Result<Allocation, String> {
        let catalogue = catalogue.with(&AGENT).map_err(|error| error.to_string())?;
        let machine = machine(&script, Some(AGENT.about.name), &catalogue)?;
        let topology = machine.topologies().swap_remove(0);
        if topology.wiring() == Wiring::Flat {
            return Err(
                "on a flat machine any processors will do: there is nothing to learn about where"
                    .to_owned(),
            );
        }
        let (bases, episode) = (FreeBases::new(topology.grid()), Episode::none(&machine)?);
        Ok(Allocation { script, machine, episode, topology, bases, wanted: None })
    }

    fn look(&mut self) {
        let cluster = self.episode.cluster();
        let head = cluster.head().map(|head| &cluster.job(head).request);
        self.wanted = head.and_then(|request| block(request, &self.topology));
    }

    fn site(&self) -> &Site {
        self.episode.cluster().site(0)
    }
}

/// Sides of the block that an allocator of blocks would place for a request.
fn block(request: &Request, topology: &Topology) -> Option<Dims> {
    match shaped(request, Asks::Block, topology, ShapeRule::Squarest)? {
        Request::Block(sides) => Some(sides),
        _ => None,
    }
}

/// Allocator of an environment, in which the agent chooses the nodes.
///
/// The allocator only tells which blocks fit the empty machine.
static AGENT: AllocatorEntry = first_fit::ENTRY
    .described(first_fit::ENTRY.about.renamed("Agent").params(&[]))
    .serves(&Wiring::ALL)
    .finds(Finds::SomeBlocks)
    .build(|_, _| Ok(Box::new(AtFirstNode)));

struct AtFirstNode;

impl Allocator for AtFirstNode {
    fn choose(&mut self, ask: Ask<'_>) -> Option<Placement> {
        let Request::Block(sides) = ask.request else { return None };
        let placement = Placement::from(Block { base: 0, sides: sides.clone() });
        let fits = ask.site.grid().holds(0, sides);
        (fits && placement.is_within(ask.site.free(), ask.site.grid())).then_some(placement)
    }

    fn fork(&self) -> Box<dyn Allocator> {
        Box::new(AtFirstNode)
    }
}

impl Env for Allocation {
    fn reset(&mut self, episode: u64) -> Result<(), String> {
        self.episode = Episode::begin(&self.script, &self.machine, episode)?;
        self.look();
        Ok(())
    }

    fn step(&mut self, action: u32) -> Result<Step, String> {
        let nodes = self.site().nodes();
        let mut placed = false;
        if action < nodes
            && let Some(sides) = &self.wanted
            && self.topology.grid().holds(action, sides)
        {
            let placement = Placement::from(Block { base: action, sides: sides.clone() });
            placed = self.episode.start(0, Some(&placement))?;
        }
        // No job may wait forever. On an empty machine, all bases are equally good.
        if !placed && !self.episode.pass(true)? {
            self.episode.start(0, None)?;
        }
        self.episode.go_on()?;
        self.look();
        Ok(Step {
            reward: -self.episode.take_waited(),
            is_over: self.episode.is_over(),
            was_invalid: !placed && action != nodes,
        })
    }

    fn observe(&self, flags: &mut dyn FnMut(usize, bool), numbers: &mut dyn FnMut(usize, f64)) {
        let (cluster, site) = (self.episode.cluster(), self.site());
        let free = site.free();
        for node in 0..site.nodes() {
            flags(node as usize, free.contains(node));
        }
        let dimensions = site.grid().dimensions();
        for axis in 0..dimensions {
            numbers(axis, self.wanted.as_ref().map_or(0.0, |sides| f64::from(sides[axis])));
        }
        numbers(dimensions, cluster.waiting_jobs() as f64);
        let first = dimensions + 1;
        (0..site.nodes() as usize).for_each(|node| numbers(first + node, 0.0));
        for holding in cluster.busy_nodes() {
            let remaining = (holding.until - cluster.now()).max(0.0);
            holding.placement.for_each_run(site.grid(), |start, count| {
                for node in start..start + count {
                    numbers(first + node as usize, remaining);
                }
            });
        }
    }

    fn mask(&mut self, can: &mut dyn FnMut(usize, bool)) {
        let site = self.episode.cluster().site(0);
        let wanted = self.wanted.as_ref();
        let free = wanted.map(|sides| self.bases.all(site.grid(), site.free(), sides));
        for node in 0..site.nodes() {
            can(node as usize, free.is_some_and(|free| free.contains(node)));
        }
        can(site.nodes() as usize, true);
    }

    fn now(&self) -> f64 {
        self.episode.cluster().now().units()
    }

    fn sizes(&self) -> [usize; 3] {
        let nodes = self.site().nodes() as usize;
        [nodes, self.site().grid().dimensions() + 1 + nodes, nodes + 1]
    }
}
