//! Environments for agents that learn: the machine, its queue and its clock, one decision at a time.
//!
//! An episode is a simulation whose scheduler is outside: between two steps the agent decides, and what it wants goes through
//! the cluster as any scheduler's wishes do. A test holds it to studies: an agent that does what first fit does waits as long
//! as first fit.

mod allocation;
mod envs;
mod episode;
mod scheduling;

pub(crate) use envs::Envs;

use std::sync::Arc;

use meshwork::scenario::Scenario;
use meshwork_lab::run::inputs::Files;

/// What an episode is made of.
#[derive(Clone)]
pub(crate) struct Script {
    pub(crate) scenario: Scenario,
    pub(crate) files: Arc<Files>,
    /// How many jobs an episode has: the first of the workload.
    pub(crate) jobs: u64,
}

/// What came of a decision.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Step {
    /// Minus the time that all waiting jobs together waited since the last decision.
    pub(crate) reward: f64,
    /// Whether the episode has ended.
    pub(crate) is_over: bool,
    /// Whether what was wanted could not be: it counted as waiting.
    pub(crate) was_invalid: bool,
}

/// One environment.
pub(crate) trait Env: Send {
    /// Begins an episode; each number gives one of its own.
    fn reset(&mut self, episode: u64) -> Result<(), String>;

    /// Does what is wanted, and lets time pass until the next decision.
    fn step(&mut self, action: u32) -> Result<Step, String>;

    /// Writes what an agent sees: truth values, and numbers.
    fn observe(&self, flags: &mut dyn FnMut(usize, bool), numbers: &mut dyn FnMut(usize, f64));

    /// Writes which actions are possible now.
    fn mask(&mut self, can: &mut dyn FnMut(usize, bool));

    /// The instant.
    fn now(&self) -> f64;

    /// How many truth values, numbers and actions there are.
    fn sizes(&self) -> [usize; 3];
}
