//! Reinforcement learning environments: an agent decides how a simulated machine serves its queue.
//!
//! An episode is a simulation whose scheduler is external: the agent decides between two steps of
//! the simulation, and its decisions are checked and carried out like the decisions of any
//! scheduler. A test compares episodes with studies: an agent that acts like first fit has the
//! waiting time of first fit.

mod allocation;
mod envs;
mod episode;
mod scheduling;

pub(crate) use envs::Envs;

use std::sync::Arc;

use meshwork::scenario::Scenario;
use meshwork_lab::run::inputs::Files;

/// Inputs of all episodes of an environment: the scenario, its files, and the number of jobs.
#[derive(Clone)]
pub(crate) struct Script {
    pub(crate) scenario: Scenario,
    pub(crate) files: Arc<Files>,
    /// Number of jobs in an episode, from the start of the workload.
    pub(crate) jobs: u64,
}

/// The outcome of one decision of the agent.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Step {
    /// Minus the total waiting time of all jobs since the last decision.
    pub(crate) reward: f64,
    /// Whether the episode has ended.
    pub(crate) is_over: bool,
    /// Whether the action was impossible, and was treated as waiting.
    pub(crate) was_invalid: bool,
}

/// One environment, in which an agent takes actions.
pub(crate) trait Env: Send {
    /// Begins the episode with this number, which determines the random numbers of its workload.
    fn reset(&mut self, episode: u64) -> Result<(), String>;

    /// Takes an action and advances to the next decision.
    fn step(&mut self, action: u32) -> Result<Step, String>;

    /// Calls `flags` for each flag and `numbers` for each number of the observation, with its
    /// index.
    fn observe(&self, flags: &mut dyn FnMut(usize, bool), numbers: &mut dyn FnMut(usize, f64));

    /// Calls `can` with the index of each action, and whether the action is possible.
    fn mask(&mut self, can: &mut dyn FnMut(usize, bool));

    /// Current time of the episode.
    fn now(&self) -> f64;

    /// How many flags and how many numbers an observation has, and how many actions there are.
    fn sizes(&self) -> [usize; 3];
}
