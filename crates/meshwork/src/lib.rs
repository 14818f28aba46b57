//! Meshwork: which processors should this job get, and when?
//!
//! This crate is the model of machines whose processors are wired as a mesh, a torus, a hypercube,
//! a k-ary n-cube, a flat machine or a grid of such sites, and of the strategies that hand those
//! processors out. It is pure: it opens no file, starts no thread, reads no clock and prints
//! nothing; the same scenario gives the same result, bit for bit.
//!
//! A scenario is one table. Here jobs of random shapes arrive at a mesh, and are served in order of
//! arrival by the first free block:
//!
//! ```
//! use meshwork::scenario::Scenario;
//! use meshwork::workload::NoInputs;
//!
//! let scenario = Scenario::read(&toml::toml! {
//!     seed = 1
//!     allocator = "first_fit"
//!     scheduler = "fcfs"
//!     machine = { topology = "mesh", dims = [16, 16] }
//!     workload = { name = "synthetic", load = 0.4, sizes = "uniform",
//!                  runtimes = { name = "exponential", mean = 5.0 } }
//!     measure = { warmup_jobs = 100, jobs = 2000, metrics = ["wait", "utilization"] }
//! })
//! .expect("the scenario is right");
//! let outcome = scenario.run(0, &NoInputs, &mut ()).expect("nothing is read that could fail");
//! let [wait, utilization] = &outcome.metrics[..] else { panic!("two metrics were asked for") };
//! assert!(wait.value.unwrap() > 0.0 && utilization.value.unwrap() < 1.0);
//! ```
//!
//! The modules in reading order are the table of contents below; `ARCHITECTURE.md` in the
//! repository says who may know whom.

// In reading order: what a machine is, what a job is, who decides, and the loop that lets them.
pub mod topology;
pub mod geometry;
pub mod job;
pub mod machine;
pub mod rng;
pub mod registry;
pub mod workload;
pub mod speeds;
pub mod form;
pub mod alloc;
pub mod shape;
pub mod sizing;
pub mod offer;
pub mod select;
pub mod facility;
pub mod network;
pub mod observe;
pub mod cluster;
pub mod sched;
pub mod engine;
pub mod scenario;
pub mod pool;
