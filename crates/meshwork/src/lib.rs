//! Meshwork: which processors should this job get, and when?
//!
//! This crate models machines, and the strategies that allocate their processors, such as the
//! placement rules of Slurm. The processors of a site are wired as a mesh, torus, hypercube, fat
//! tree, dragonfly, pod of TPU slices or flat switch, and a machine may have several sites. The
//! crate is pure: it opens no file, starts no thread, reads no clock and prints nothing. Equal
//! scenarios give equal results, bit for bit. The command `meshwork ops` (crates `meshwork-cli` and
//! `meshwork-operator`) reads the configuration and history of clusters under Slurm or Kueue.
//!
//! # Simulate one scenario
//!
//! Jobs of random shapes arrive at a mesh, and are served in order of arrival by the first free
//! block:
//!
//! ```
//! use meshwork::{Component, NoInputs, Scenario};
//!
//! let scenario = Scenario::builder()
//!     .mesh([16, 16])
//!     .allocator("first_fit")
//!     .scheduler("fcfs")
//!     .workload(
//!         Component::new("synthetic")
//!             .with("load", 0.4)
//!             .with("sizes", "uniform")
//!             .with("runtimes", Component::new("exponential").with("mean", 5.0)),
//!     )
//!     .warmup_jobs(100)
//!     .jobs(2000)
//!     .metrics(["wait", "utilization"])
//!     .build()
//!     .expect("the scenario is right");
//! let outcome = scenario.run(0, &NoInputs, &mut ()).expect("nothing is read that could fail");
//! let [wait, utilization] = ["wait", "utilization"].map(|name| outcome.metric(name));
//! assert!(wait > Some(0.0) && utilization < Some(1.0));
//! ```
//!
//! A builder makes the table that a study in TOML would contain. [`Scenario::read`] takes such a
//! table. The same scenario, replication and inputs give the same outcome.
//!
//! # Allocate and release
//!
//! A pool is an allocator alone, for your own scheduler. A pool has no queue and no jobs: you
//! request processors, and release them.
//!
//! ```
//! use meshwork::{Pool, Request};
//!
//! let mut pool = Pool::builder().mesh([8, 8]).allocator("first_fit").build()?;
//! let block = pool.allocate(&Request::block(&[3, 5])).expect("an empty mesh has room for 3 × 5");
//! assert_eq!(pool.site().free_nodes(), 49);
//! assert_eq!(pool.allocate(&Request::block(&[8, 6])), None, "there is no room for it now");
//! pool.release(&block)?;
//! assert!(pool.allocate(&Request::block(&[8, 6])).is_some());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Add a strategy
//!
//! A scheduler is called at each instant at which a job arrived or ended, and starts any jobs it
//! chooses. The scheduler below starts the smallest job first. Its registry entry describes the
//! scheduler, and gives it a name in a catalogue:
//!
//! ```
//! use meshwork::strategy::*;
//! use meshwork::{Component, NoInputs, Scenario};
//!
//! static SMALLEST_FIRST: SchedulerEntry = SchedulerEntry::new(
//!     About::new("smallest_first", "the job with the fewest processors first, past those that do not fit")
//!         .definition("Waiting jobs are tried in the order of their processors, among equals in that of arrival.")
//!         .complexity("O(q log q) for each pass over q waiting jobs.")
//!         .source("an example"),
//!     |_params, _sites| Ok(Box::new(SmallestFirst::default())),
//! );
//!
//! #[derive(Default)]
//! struct SmallestFirst(Vec<Ticket>);
//!
//! impl Scheduler for SmallestFirst {
//!     fn schedule(&mut self, cluster: &mut Cluster<'_>) {
//!         self.0.extend(cluster.arrivals());
//!         self.0.sort_by_key(|&ticket| cluster.job(ticket).request.nodes());
//!         self.0.retain(|&ticket| !cluster.start(ticket, StartOptions::default()));
//!     }
//! }
//!
//! let catalogue = Catalogue::standard().with(&SMALLEST_FIRST)?;
//! let outcome = Scenario::builder()
//!     .catalogue(&catalogue)
//!     .mesh([16, 16])
//!     .scheduler("smallest_first")
//!     .workload(Component::new("lublin").with("jobs", 500))
//!     .metrics(["wait"])
//!     .build()?
//!     .run(0, &NoInputs, &mut ())?;
//! assert_eq!(outcome.finished, 500);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! An allocator is a type that implements [`alloc::Allocator`]; the manual explains an example line
//! by line. With the crate `meshwork-cli`, `meshwork_cli::main_with(catalogue)` runs the whole
//! command with the entries of your catalogue. With the feature `conformance`, entries can be
//! tested against the rules that this crate's own entries keep.
//!
//! # Where to read on
//!
//! The modules below are listed in the order in which they build on one another; `ARCHITECTURE.md`
//! in the repository lists the permitted dependencies. What most programs need is at the top:
//! [`Scenario`] and its [`Outcome`], [`Pool`], [`Catalogue`], [`Job`], [`Request`] and
//! [`Placement`], [`Observer`] and [`Event`], and [`Problem`], the error about user input.
//!
//! Features, off by default: `serde`, for all types that pass through an interface; `conformance`,
//! the rules that registry entries keep, as functions for your own tests.

// Modules in reading order: machines, jobs, strategies, and the engine.
pub mod topology;
pub mod geometry;
pub mod job;
pub mod machine;
pub mod rng;
pub mod registry;
pub mod presets;
pub mod workload;
pub mod speeds;
pub mod form;
pub mod access;
pub mod alloc;
pub mod shape;
pub mod sizing;
pub mod offer;
pub mod select;
pub mod facility;
pub mod failures;
pub mod network;
pub mod observe;
pub mod cluster;
pub mod plan;
pub mod sched;
pub mod energy;
pub mod engine;
pub mod catalogue;
pub mod strategy;
pub mod scenario;
pub mod pool;
pub mod gpus;
pub mod builder;
#[cfg(feature = "conformance")]
pub mod conformance;

pub use builder::Component;
pub use catalogue::Catalogue;
pub use engine::RunError;
pub use job::{Job, Request, Time};
pub use machine::{Block, Placement};
pub use observe::{Event, Observer};
pub use pool::Pool;
pub use registry::Problem;
pub use scenario::{Outcome, Scenario};
pub use workload::NoInputs;

// Re-exported because types of these crates appear in signatures, and callers must use the same
// version.
pub use {smallvec, toml};
