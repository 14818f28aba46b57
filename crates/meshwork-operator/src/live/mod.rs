//! Applies a policy to a running Slurm, either as an observer or as a placement agent.
//!
//! A [`shadow`] only observes, and compares Slurm's starts with those of the policy. An [`agent`]
//! places jobs itself. Slurm holds all state: each [`look`] reads it, and a [`policy`] decides by
//! [`plan`](meshwork_lab::plan) which jobs start on which nodes. The agent sends one update for each of
//! these jobs, which moves it from a closed parking partition to one in which it starts on the
//! chosen nodes. [`process`] runs the commands, [`ends`] predicts the ends of jobs, [`replay`]
//! repeats the decisions in a log, and [`metrics`] counts events.

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
    /// Output of the program `squeue` or `sinfo`.
    fn ask(&mut self, program: &str, arguments: &[String]) -> Result<String, String>;

    /// Sends one line to a long-lived `scontrol`. The answer to an accepted update is empty.
    fn control(&mut self, line: &str) -> Result<String, String>;

    /// In seconds since 1970.
    fn now(&mut self) -> f64;

    /// Text that no user can predict, which separates columns of `squeue`.
    fn token(&mut self) -> String;
}
