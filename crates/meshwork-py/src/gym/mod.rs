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
use meshwork_lab::inputs::Files;

/// Settings that all episodes of an environment share: scenario, files and number of jobs.
#[derive(Clone)]
pub(crate) struct Script {
    pub(crate) scenario: Scenario,
    pub(crate) files: Arc<Files>,
    /// Number of jobs in an episode. An episode has the first jobs of the workload.
    pub(crate) jobs: u64,
}

/// Outcome of one decision.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Step {
    /// Reward: the total time that jobs have waited since the last decision, as a negative number.
    pub(crate) reward: f64,
    pub(crate) is_over: bool,
    /// Whether the action was impossible. It was then treated as the action to wait.
    pub(crate) was_invalid: bool,
}

pub(crate) trait Env: Send {
    /// Begins an episode. Its number determines its random numbers.
    fn reset(&mut self, episode: u64) -> Result<(), String>;

    fn step(&mut self, action: u32) -> Result<Step, String>;

    /// Passes the values of the observation to `flags` or `numbers`, each with its index.
    fn observe(&self, flags: &mut dyn FnMut(usize, bool), numbers: &mut dyn FnMut(usize, f64));

    /// Calls `can` with the index of each action, and with whether the action is possible now.
    fn mask(&mut self, can: &mut dyn FnMut(usize, bool));

    fn now(&self) -> f64;

    /// Number of flags and number of numbers in an observation, and number of actions.
    fn sizes(&self) -> [usize; 3];
}
