//! Studies: expand, run in parallel, store, summarise.
//!
//! A study file becomes results in four steps, and each has a module of its own:
//!
//! 1. [`study`] reads the file, strictly, and [`set`] lays `--set` and `[sweep]` over it;
//! 2. [`expand`] makes the scenarios of the cross product;
//! 3. [`runs`] runs them, each replication once, on any number of threads, and [`store`] keeps
//!    every run that has ended, so that nothing is ever computed twice;
//! 4. [`summary`] groups the runs by scenario and gives means with intervals.
//!
//! [`lab::run`] does all of it, and [`live`] lets one run be looked at while it goes on. Nothing here prints: progress goes to a callback, and what is wrong
//! comes back as sentences. **No result depends on the number of threads, or on how often a sweep
//! was interrupted.**

pub mod asked;
pub mod check;
pub mod claims;
pub mod columns;
pub mod date;
pub mod expand;
pub mod inputs;
pub mod joboutput;
pub mod lab;
pub mod live;
pub mod locate;
pub mod number;
pub mod papers;
pub mod recording;
pub mod report;
pub mod runs;
pub mod set;
pub mod statistics;
pub mod store;
pub mod study;
pub mod summary;
pub mod trace;
pub mod traffic;
pub mod visible;
pub mod words;

pub use lab::{Finished, Options, run};
pub use study::{Refused, Study};
