//! Applies a policy to a running Slurm, either as an observer or as a placement agent.
//!
//! A [`shadow`] only observes, and compares Slurm's starts with the starts that the policy would
//! make. An [`agent`] places jobs itself. Slurm holds all state: each [`look`] reads it, and a
//! [`policy`] decides by [`plan`](meshwork_lab::plan) which jobs start on which nodes. For each of
//! these jobs, the agent sends one update, which moves the job from a closed parking partition to
//! one in which it starts on the chosen nodes. [`process`] runs the commands, [`ends`] predicts the
//! ends of jobs, [`replay`] repeats the decisions in a log, and [`metrics`] counts events.

pub mod agent;
pub mod ends;
pub mod look;
pub mod metrics;
pub mod policy;
pub mod process;
pub mod replay;
pub mod shadow;

/// Interface to Slurm's commands and to the clock, which a test can replace.
pub trait SlurmCommands {
    /// Runs the program `squeue` or `sinfo`, and returns its output.
    fn ask(&mut self, program: &str, arguments: &[String]) -> Result<String, String>;

    /// Sends one line to an `scontrol` that stays open. The answer to an accepted update is empty.
    fn control(&mut self, line: &str) -> Result<String, String>;

    /// Present time, in seconds since 1970.
    fn now(&mut self) -> f64;

    /// Text that separates the columns of `squeue`. No user can predict it.
    fn token(&mut self) -> String;
}
