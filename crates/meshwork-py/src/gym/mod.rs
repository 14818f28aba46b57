//! Reinforcement learning environments: a machine, its queue and its clock.
//!
//! An episode is a simulation with an external scheduler: the agent decides between two steps, and
//! its decisions go through the cluster like those of any scheduler. A test compares episodes with
//! studies: an agent that acts like first fit has the waiting time of first fit.

mod allocation;
mod envs;
mod episode;
mod scheduling;

pub(crate) use envs::Envs;

use std::sync::Arc;

use meshwork::scenario::Scenario;
use meshwork_lab::run::inputs::Files;

/// The inputs of an episode.
#[derive(Clone)]
pub(crate) struct Script {
    pub(crate) scenario: Scenario,
    pub(crate) files: Arc<Files>,
    /// Number of jobs in an episode, from the start of the workload.
    pub(crate) jobs: u64,
}

/// The outcome of a decision.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Step {
    /// Minus the total waiting time of all jobs since the last decision.
    pub(crate) reward: f64,
    /// Whether the episode has ended.
    pub(crate) is_over: bool,
    /// Whether the action was impossible, and was treated as waiting.
    pub(crate) was_invalid: bool,
}

/// One environment.
pub(crate) trait Env: Send {
    /// Begins the episode with this number; each number has an episode of its own.
    fn reset(&mut self, episode: u64) -> Result<(), String>;

    /// Takes an action and advances to the next decision.
    fn step(&mut self, action: u32) -> Result<Step, String>;

    /// Writes the observation of the agent as flags and numbers, each with its index.
    fn observe(&self, flags: &mut dyn FnMut(usize, bool), numbers: &mut dyn FnMut(usize, f64));

    /// Writes for each action, by its index, whether it is possible.
    fn mask(&mut self, can: &mut dyn FnMut(usize, bool));

    /// Current time of the episode.
    fn now(&self) -> f64;

    /// Numbers of flags, of numbers and of actions of the environment.
    fn sizes(&self) -> [usize; 3];
}
