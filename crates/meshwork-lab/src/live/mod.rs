//! Applies a policy to a running Slurm, either as an observer or as a placement agent.
//!
//! A [`shadow`] only observes, and compares Slurm's starts with those of the policy. An [`agent`]
//! places jobs itself.
//!
//! Slurm holds all state. Each [`look`] reads the state from Slurm's commands, and a [`policy`]
//! decides by [`plan`](crate::plan) which jobs start on which nodes. For each of these jobs, the
//! agent sends one update to Slurm. It moves the job from a closed parking partition to a partition
//! in which it starts on the chosen nodes. [`process`] runs the commands, [`ends`] predicts the
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
    /// Output of the program `squeue` or `sinfo` with these arguments.
    ///
    /// # Errors
    /// One sentence, if the program does not answer.
    fn ask(&mut self, program: &str, arguments: &[String]) -> Result<String, String>;

    /// Sends one line to a long-lived `scontrol`, and returns the answer.
    ///
    /// The answer to an accepted update is empty.
    ///
    /// # Errors
    /// One sentence, if there is no answer.
    fn control(&mut self, line: &str) -> Result<String, String>;

    /// Present time in seconds since 1970.
    fn now(&mut self) -> f64;

    /// Random text that no user can predict. It separates the columns in the output of `squeue`.
    fn token(&mut self) -> String;
}
