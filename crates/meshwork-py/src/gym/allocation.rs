//! Where does the next job go? Jobs are served in order of arrival, and the agent says where.

use meshwork::form::Asks;
use meshwork::geometry::FreeBases;
use meshwork::job::{Dims, Job, Request};
use meshwork::machine::{Block, Placement, Site};
use meshwork::shape::{ShapeRule, shaped};
use meshwork::topology::{Topology, Wiring};

use super::world::World;
use super::{Env, Script, Step};

/// A machine whose free nodes the agent sees, and a job to place. It sees too what block the oldest
/// waiting job asks for, and for how long each node is expected to be held. An action is the number
/// of the node at which the block begins; the one after the last node is to wait until something is
/// given back, and where nothing will be, until a job arrives. Where none will, the job is started
/// at the first node.
pub(super) struct Allocation {
    world: World,
    site: Site,
    bases: FreeBases,
    /// The block of the oldest waiting job.
    wanted: Option<Dims>,
}

impl Allocation {
    /// # Errors
    /// If the machine is not one that has blocks.
    pub(super) fn new(script: Script) -> Result<Allocation, String> {
        let topologies = script.scenario.topologies();
        let [topology] = &topologies[..] else {
            return Err(format!(
                "an environment has one site, and this machine has {}",
                topologies.len()
            ));
        };
        if topology.wiring() == Wiring::Flat {
            return Err(
                "on a flat machine any processors will do: there is nothing to learn about where"
                    .to_owned(),
            );
        }
        let bases = FreeBases::new(topology.grid());
        let site = Site::new(topology.clone(), 1.0);
        Ok(Allocation { world: World::new(script, 1.0), site, bases, wanted: None })
    }

    fn look(&mut self) {
        let topology = self.site.topology();
        self.wanted = self.world.queue.front().and_then(|waiting| block(&waiting.job, topology));
    }
}

/// The block that a job asks for, if the empty machine has room for it.
fn block(job: &Job, topology: &Topology) -> Option<Dims> {
    let Some(Request::Block(sides)) =
        shaped(&job.request, Asks::Block, topology, ShapeRule::Squarest)
    else {
        return None;
    };
    sides.iter().zip(topology.grid().sides()).all(|(side, all)| side <= all).then_some(sides)
}

impl Env for Allocation {
    fn reset(&mut self, episode: u64) -> Result<(), String> {
        let topology = self.site.topology().clone();
        self.world.reset(episode, |job| block(job, &topology).is_some())?;
        self.site = Site::new(topology, 1.0);
        self.look();
        Ok(())
    }

    fn step(&mut self, action: u32) -> Result<Step, String> {
        let topology = self.site.topology().clone();
        let nodes = self.site.nodes();
        let fits = |job: &Job| block(job, &topology).is_some();
        let mut placed = false;
        if action < nodes
            && let Some(sides) = &self.wanted
            && topology.grid().holds(action, sides)
        {
            let placement = Placement::from(Block { base: action, sides: sides.clone() });
            placed = self.site.claim(&placement).is_ok();
            if placed {
                self.world.start(0, placement);
            }
        }
        let site = &mut self.site;
        let mut release = |placement: &Placement| site.release(placement);
        let is_stuck = !placed && !self.world.pass(true, fits, &mut release)?;
        // Nobody may wait for ever: on an empty machine any base is as good as any other.
        if is_stuck && let Some(sides) = &self.wanted {
            let placement = Placement::from(Block { base: 0, sides: sides.clone() });
            self.site.claim(&placement).map_err(|error| error.to_string())?;
            self.world.start(0, placement);
        }
        let site = &mut self.site;
        let mut release = |placement: &Placement| site.release(placement);
        self.world.go_on(fits, &mut release)?;
        self.look();
        Ok(Step {
            reward: -self.world.take_waited(),
            is_over: self.world.is_over(),
            was_invalid: !placed && action != nodes,
        })
    }

    fn observe(&self, flags: &mut dyn FnMut(usize, bool), numbers: &mut dyn FnMut(usize, f64)) {
        let free = self.site.free();
        for node in 0..self.site.nodes() {
            flags(node as usize, free.contains(node));
        }
        let dimensions = self.site.grid().dimensions();
        for axis in 0..dimensions {
            numbers(axis, self.wanted.as_ref().map_or(0.0, |sides| f64::from(sides[axis])));
        }
        numbers(dimensions, self.world.queue.len() as f64);
        let first = dimensions + 1;
        (0..self.site.nodes() as usize).for_each(|node| numbers(first + node, 0.0));
        for running in self.world.running() {
            let remaining = self.world.remaining(running);
            running.placement.for_each_run(self.site.grid(), |start, count| {
                for node in start..start + count {
                    numbers(first + node as usize, remaining);
                }
            });
        }
    }

    fn mask(&mut self, can: &mut dyn FnMut(usize, bool)) {
        let nodes = self.site.nodes();
        let wanted = self.wanted.as_ref();
        let free = wanted.map(|sides| self.bases.all(self.site.grid(), self.site.free(), sides));
        for node in 0..nodes {
            can(node as usize, free.is_some_and(|free| free.contains(node)));
        }
        can(nodes as usize, true);
    }

    fn now(&self) -> f64 {
        self.world.now.units()
    }

    fn sizes(&self) -> [usize; 3] {
        let nodes = self.site.nodes() as usize;
        [nodes, self.site.grid().dimensions() + 1 + nodes, nodes + 1]
    }
}
