//! A policy beside a running Slurm: observed with [`shadow`], run by the [`agent`].
//!
//! Slurm holds all state. Each [`look`] begins from the output of its commands, a [`policy`]
//! decides by [`plan`](crate::plan), and one update per job moves it from a closed parking
//! partition to a partition in which it starts on the chosen nodes. [`process`] runs the commands;
//! [`ends`] expects the ends of jobs, [`replay`] repeats the decisions of a log, and [`metrics`]
//! counts them.

pub mod agent;
pub mod ends;
pub mod look;
pub mod metrics;
pub mod policy;
pub mod process;
pub mod replay;
pub mod shadow;

/// Slurm's commands, and the clock.
pub trait SlurmCommands {
    /// The output of `squeue` or `sinfo`.
    ///
    /// # Errors
    /// One sentence, if there is no answer.
    fn ask(&mut self, program: &str, arguments: &[String]) -> Result<String, String>;

    /// The answer of a long-lived `scontrol` to one line; an update that is accepted has none.
    ///
    /// # Errors
    /// One sentence, if there is no answer.
    fn control(&mut self, line: &str) -> Result<String, String>;

    /// Seconds since 1970.
    fn now(&mut self) -> f64;

    /// A text that no user can have known before.
    fn token(&mut self) -> String;
}
