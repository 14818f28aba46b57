//! Answers questions of a machine's operators, from the history of the machine's own jobs.
//!
//! The crate `meshwork-slurm` reads accounting records, and [`swf`] reads a log without nodes.
//! [`quality`] reports how reliable the resulting history is. [`unmodelled`] lists the features of
//! a site that a replay ignores. [`places`] tests whether the topology allows a job to have certain
//! nodes.
//!
//! [`controller`] models Slurm's controller with its two schedulers, and replays histories.
//! [`causes`] records what jobs wait for during a replay. [`fidelity`] compares the model with
//! recorded starts. [`when`] predicts the starts of waiting jobs from sampled futures.
//!
//! [`compare`] replays a history under several topologies. [`paired`] computes intervals of the
//! differences, and [`unlisted`] treats job sizes that a topology does not list. [`propose`]
//! searches for a better topology. A [`state`] is a Slurm machine at one instant: [`explain`] finds
//! why a job waits, and [`defrag`] finds moves of jobs that free nodes for the job. An [`instant`]
//! is the state of a simulated run, or of a pool with any allocator. [`live`] works beside a
//! running Slurm.
//!
//! Nothing in this crate prints: progress goes to a callback, and errors are returned as sentences.
#![allow(missing_docs, reason = "only the command and the Python package use it")]

pub mod causes;
pub mod compare;
pub mod controller;
pub mod defrag;
pub mod explain;
pub mod fidelity;
pub mod instant;
pub mod live;
pub mod paired;
pub mod places;
pub mod propose;
pub mod quality;
pub mod state;
pub mod swf;
pub mod unlisted;
pub mod unmodelled;
pub mod when;
