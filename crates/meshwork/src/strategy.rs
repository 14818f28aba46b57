//! Prelude for strategies in other crates: the names that most strategies need.
//!
//! ```
//! use meshwork::strategy::*;
//!
//! static LAST: SelectorEntry = SelectorEntry::new(
//!     About::new("random_again", "another name for the random selector"),
//!     meshwork::select::random::ENTRY.build,
//! );
//! assert!(Catalogue::standard().with(&LAST).is_ok());
//! ```

pub use crate::alloc::{Allocator, AllocatorEntry, Ask, Claim};
pub use crate::catalogue::Catalogue;
pub use crate::cluster::{Cluster, StartOptions, Ticket};
pub use crate::form::{Asks, Finds};
pub use crate::job::{Dims, Job, Request, Time};
pub use crate::machine::{Block, Placement, Site};
pub use crate::registry::{About, DefaultValue, Kind, Param, Params, Problem, Range};
pub use crate::rng::Stream;
pub use crate::sched::{Scheduler, SchedulerEntry};
pub use crate::select::{Selector, SelectorEntry};
pub use crate::sizing::{Sizing, SizingEntry};
pub use crate::topology::{Topology, TopologyEntry, Wiring};
