//! Reads studies, runs them in parallel, stores the runs, and summarises the results.
//!
//! The crate `meshwork` models the machines: meshes, tori, hypercubes, fat trees, dragonflies, pods
//! of TPU slices, flat machines, and machines of several sites. [`slurm`] reads the folder of a
//! site under Slurm or Kueue, which a study can use as its machine and its jobs. The crate
//! `meshwork-report` makes a page of the results, and `meshwork-operator` answers the questions of
//! the command `meshwork ops`.
//!
//! A study file becomes results in four steps, each in its own module:
//!
//! 1. [`study`] reads the file strictly, and [`set`](study::set) applies `--set` and `[sweep]` to
//!    it;
//! 2. [`expand`](study::expand) makes the scenarios of the cross product;
//! 3. [`run`](mod@run) runs each replication once, on any number of threads, and
//!    [`store`](run::store) keeps every finished run, so that nothing is computed twice;
//! 4. [`summary`](findings::summary) groups the runs by scenario and computes means with intervals.
//!
//! [`lab::run`] does all of this, and [`watch`] shows a run while it is in progress. Nothing in
//! this crate prints: progress goes to a callback, and errors are returned as sentences. **No
//! result depends on the number of threads, or on how often a sweep was interrupted.**
#![allow(missing_docs, reason = "only the command and the Python package use it")]

pub mod choose;
pub mod files;
pub mod findings;
pub mod gpus;
pub mod inputs;
pub mod lab;
pub mod node_parts;
pub mod plan;
mod refused;
pub mod run;
pub mod slurm;
mod standard;
pub mod statistics;
pub mod study;
pub mod sweep;
#[cfg(test)]
mod tests;
pub mod text;
pub mod threads;
pub mod trace;
pub mod traffic;
pub mod watch;

pub use lab::{Finished, Options, run};
pub use study::{Refused, Study};
