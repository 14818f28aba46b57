//! Allocators: strategies that select free nodes of a site for a job.

pub mod block;
pub mod listed;
pub mod locality;
pub mod optical;
pub mod partitions;
pub mod parts;
pub mod scattered;
pub mod shared;
pub mod subcube;

use crate::form::{Asks, Finds};
use crate::geometry::NodeSet;
use crate::geometry::orientation::Rotation;
use crate::job::{Inside, JobId, Request, Time};
use crate::machine::{Placement, Site};
use crate::registry::{About, DefaultValue, Family, Kind, Param, Params, Problem, abouts, named};
use crate::rng::Stream;
use crate::topology::{Topology, Wiring};

/// Allocator: proposes placements for requests, and never changes the site.
pub trait Allocator: Send {
    /// Returns free nodes for a request, or `None` if this allocator finds none now.
    ///
    /// The request has the form that the registry entry [asks](AllocatorEntry::asks) for. The
    /// result is a proposal: the engine either [claims](Allocator::claimed) it or drops it. A
    /// repeated call with an equal random stream gives an equal result. Neither `now` nor the
    /// stream determines whether a placement is found.
    fn choose(&mut self, ask: Ask<'_>) -> Option<Placement>;

    /// Form of requests that a parameter sets; `None` if the form in the registry entry applies.
    fn asks(&self) -> Option<Asks> {
        None
    }

    /// Condition for finding a placement, if a parameter of the allocator makes it stricter.
    ///
    /// `None` if [`finds`](AllocatorEntry::finds) of the registry entry applies.
    fn finds(&self) -> Option<Finds> {
        None
    }

    /// Nodes of each leaf or block of the machine that the parameters of the allocator list.
    ///
    /// A job that requests pieces (parts of nodes) can require that all of them lie in one of these
    /// leaves or blocks. The result is empty without such parameters. It is also empty for every
    /// allocator that has a [`domain`](Allocator::domain).
    fn parts(&self, _inside: Inside) -> Vec<NodeSet> {
        Vec::new()
    }

    /// Returns the reason why the rules of the machine never permit a request.
    ///
    /// The reason is one sentence without a full stop. `None` if the rules permit the request, or
    /// if only the size of the machine forbids it.
    fn never(&self, _request: &Request) -> Option<String> {
        None
    }

    /// Time needed to set the switches for the nodes of a placement, in units of the clock.
    ///
    /// The job holds the nodes during this time, and begins to run after it.
    fn setup_time(&self, _placement: &Placement) -> f64 {
        0.0
    }

    /// Orientations (orders of sides) in which a block is tried if no parameter `rotation` is
    /// given.
    fn rotation(&self) -> Rotation {
        Rotation::Never
    }

    /// Tells the allocator that free nodes have been claimed; `site` already shows them as held.
    ///
    /// The nodes may be any free nodes, not only the last proposal. A saved state of the machine
    /// records only which nodes are held, and since when. If decisions depend on the holder, the
    /// allocator must therefore save it in its [memory](Allocator::memory).
    fn claimed(&mut self, _placement: &Placement, _site: &Site, _claim: Claim) {}

    /// Tells the allocator the estimated end of the job on the nodes that were claimed last.
    ///
    /// It is not called if nodes are claimed without a job, nor on a copy that is used for
    /// look-ahead.
    fn expected(&mut self, _placement: &Placement, _end: Time) {}

    /// Tells the allocator that nodes have been released; `site` already shows them as free.
    ///
    /// The nodes may be a part of a placement that was claimed as a whole.
    fn released(&mut self, _placement: &Placement, _site: &Site) {}

    /// Returns the state to be saved, beside the held placements and the times of their claims.
    ///
    /// To restore an allocator, the held placements are first [claimed](Allocator::claimed) again
    /// in their original order, each at its original time. Then [`recall`](Allocator::recall)
    /// restores this state.
    fn memory(&self) -> Vec<u64> {
        Vec::new()
    }

    /// Restores a state that an allocator with equal parameters returned by
    /// [memory](Allocator::memory).
    ///
    /// The held nodes of `site` must be the same as when the state was saved. Afterwards, both
    /// allocators give equal answers.
    ///
    /// # Errors
    /// If the numbers are not a state of such an allocator. After an error, the allocator must not
    /// be used.
    fn recall(&mut self, memory: &[u64], _site: &Site) -> Result<(), RecallError> {
        nothing_to_recall(memory)
    }

    /// Whether the answers of the allocator depend only on the request and on which nodes are free.
    ///
    /// If not, they also depend on the holders of nodes, on times, or on the order of claims.
    fn goes_by_free_nodes(&self) -> bool {
        false
    }

    /// Rule that divides the nodes of a job among leaves or groups of nodes. `None` if the
    /// allocator has no such rule.
    ///
    /// The rule considers only the number of free nodes of each leaf or group. On a machine with
    /// types of nodes, it also divides the pieces (parts of nodes) of jobs. On such a machine, an
    /// allocator without a rule chooses whole nodes, and a node counts as free if enough pieces fit
    /// on it.
    fn domain(&self) -> Option<parts::Domain> {
        None
    }

    /// Returns an independent copy of the allocator, which schedulers and selectors use for
    /// look-ahead.
    fn fork(&self) -> Box<dyn Allocator>;
}

/// Reason why numbers cannot be restored as the state, or [memory](Allocator::memory), of an
/// allocator.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RecallError {
    /// Error: the saved state of an allocator without a state is not empty.
    ///
    /// The value is the number of saved numbers.
    #[error("this allocator remembers nothing, but {0} numbers are given")]
    NothingToRecall(usize),
    /// Error: the saved lists of free blocks do not match the free nodes.
    #[error("its lists do not hold the free nodes, each once")]
    NotTheFreeNodes,
    /// Error: a block in the saved lists of free blocks is not aligned.
    #[error("its lists hold a block that is not aligned")]
    NotAligned,
    /// Any other error, described by one sentence.
    #[error("{0}")]
    Other(String),
}

pub(crate) fn nothing_to_recall(memory: &[u64]) -> Result<(), RecallError> {
    if memory.is_empty() { Ok(()) } else { Err(RecallError::NothingToRecall(memory.len())) }
}

/// Input of [`Allocator::choose`].
///
/// Later versions may add fields. So destructure it with `..`, and build it with [`new`](Ask::new).
#[non_exhaustive]
pub struct Ask<'a> {
    /// The request, in the form that [`asks`](AllocatorEntry::asks) of the registry entry declares.
    pub request: &'a Request,
    /// State of the machine, with its topology and its free nodes.
    pub site: &'a Site,
    /// Instant at which the allocator is asked for a placement.
    pub now: Time,
    /// Stream of random numbers that only this allocator uses.
    pub rng: &'a mut Stream,
}

impl<'a> Ask<'a> {
    /// Creates the input of an allocator from a request, a site, an instant and a random stream.
    pub fn new(request: &'a Request, site: &'a Site, now: Time, rng: &'a mut Stream) -> Ask<'a> {
        Ask { request, site, now, rng }
    }
}

/// Time and holder of a claim of nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Claim {
    /// Time of the claim.
    pub now: Time,
    /// Holder of the nodes after the claim.
    pub by: Holder,
}

/// Kind of holder of claimed nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Holder {
    /// A job, by its number. In a [pool](crate::pool::Pool), this is the number of earlier
    /// placements.
    Job(JobId),
    /// A future use of the nodes, on a copy of a site that serves to look ahead.
    ///
    /// The use is a later job, an advance reservation, or a start that is being examined.
    Reservation,
    /// An outage, because the nodes are out of service.
    Outage,
    /// A placement made by the user or by another program, or held by a restored pool.
    Adoption,
}

impl Claim {
    /// Creates a claim of the holder `by` at the time `now`.
    #[must_use]
    pub fn new(now: Time, by: Holder) -> Claim {
        Claim { now, by }
    }
}

/// Creates the claim of an adopted placement, one that the user or another program has made.
impl From<Time> for Claim {
    fn from(now: Time) -> Claim {
        Claim::new(now, Holder::Adoption)
    }
}

/// Registry entry of an allocator.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct AllocatorEntry {
    /// Name, definition, complexity, source and parameters of the allocator.
    pub about: About,
    /// Wirings of machines (such as mesh or torus) on which the allocator can be used.
    pub serves: &'static [Wiring],
    /// Numbers of dimensions of machines on which the allocator can be used; `None` for all.
    pub dimensions: Option<&'static [usize]>,
    /// Form in which the allocator takes requests. A parameter may [change](Allocator::asks) it.
    pub asks: Asks,
    /// Condition under which the allocator is sure to find a placement for a request.
    ///
    /// A parameter may [change](Allocator::finds) this.
    pub finds: Finds,
    /// Whether a placement is always one block with the requested sides, in any order.
    pub contiguous: bool,
    /// Function that builds the allocator for one site.
    pub build: fn(&Params, &Topology) -> Result<Box<dyn Allocator>, Problem>,
}

impl AllocatorEntry {
    /// Creates the entry of an allocator that grants a number of nodes whenever as many are free.
    ///
    /// The allocator serves every wiring.
    #[must_use]
    pub const fn new(
        about: About,
        build: fn(&Params, &Topology) -> Result<Box<dyn Allocator>, Problem>,
    ) -> AllocatorEntry {
        AllocatorEntry {
            about,
            build,
            serves: &Wiring::ALL,
            dimensions: None,
            asks: Asks::Nodes,
            finds: Finds::AnyNodes,
            contiguous: false,
        }
    }

    /// Replaces the description of the allocator.
    #[must_use]
    pub const fn described(mut self, about: About) -> AllocatorEntry {
        self.about = about;
        self
    }

    /// Replaces the function that builds the allocator.
    #[must_use]
    pub const fn build(
        mut self,
        build: fn(&Params, &Topology) -> Result<Box<dyn Allocator>, Problem>,
    ) -> AllocatorEntry {
        self.build = build;
        self
    }

    /// Sets the wirings of machines (such as mesh or torus) on which the allocator can be used.
    #[must_use]
    pub const fn serves(mut self, serves: &'static [Wiring]) -> AllocatorEntry {
        self.serves = serves;
        self
    }

    /// Sets the numbers of dimensions of machines on which the allocator can be used; `None` for
    /// all.
    #[must_use]
    pub const fn dimensions(mut self, dimensions: Option<&'static [usize]>) -> AllocatorEntry {
        self.dimensions = dimensions;
        self
    }

    /// Sets the form in which the allocator takes requests, such as node counts or blocks.
    #[must_use]
    pub const fn asks(mut self, asks: Asks) -> AllocatorEntry {
        self.asks = asks;
        self
    }

    /// Sets the condition under which the allocator is sure to find a placement.
    #[must_use]
    pub const fn finds(mut self, finds: Finds) -> AllocatorEntry {
        self.finds = finds;
        self
    }

    /// Sets whether a placement is always one block with the requested sides, in any order.
    #[must_use]
    pub const fn contiguous(mut self, contiguous: bool) -> AllocatorEntry {
        self.contiguous = contiguous;
        self
    }

    /// Whether the allocator supports machines of the given topology.
    #[must_use]
    pub fn works_on(&self, topology: &Topology) -> bool {
        self.serves.contains(&topology.wiring())
            && self.dimensions.is_none_or(|all| all.contains(&topology.grid().dimensions()))
    }
}

named!(AllocatorEntry);

/// Rejects a hypercube of more than `most` dimensions, where an allocation could take over a
/// second.
fn up_to_dimension(params: &Params, topology: &Topology, most: u32) -> Result<(), Problem> {
    let dimension = topology.grid().dimensions() as u32;
    if dimension <= most {
        return Ok(());
    }
    let name = params.name();
    let says = format!(
        "`{name}` works up to dimension {most}, beyond which an answer may take longer than a \
         second, and this hypercube has dimension {dimension}"
    );
    Err(Problem::new(params.path(), says))
}

/// Rejects a machine of more than `most` nodes, where an allocation could take over a second.
fn up_to_nodes(params: &Params, topology: &Topology, most: u32) -> Result<(), Problem> {
    let nodes = topology.grid().nodes();
    if nodes <= most {
        return Ok(());
    }
    let (name, wiring) = (params.name(), topology.wiring().name());
    let says = format!(
        "`{name}` works up to {most} nodes, beyond which an answer may take longer than a second, \
         and this {wiring} has {nodes}"
    );
    Err(Problem::new(params.path(), says))
}

/// Declaration of a parameter that is `true` or `false`, by default `false`.
const fn flag(name: &'static str, help: &'static str) -> Param {
    Param { name, kind: Kind::Flag, default: DefaultValue::Is("false"), help }
}

/// All allocators of this crate.
pub static ALLOCATORS: &[&AllocatorEntry] = &[
    &block::first_fit::ENTRY,
    &block::best_fit::ENTRY,
    &block::frame_sliding::ENTRY,
    &block::buddy_2d::ENTRY,
    &block::boundary::boundary_search::ENTRY,
    &block::boundary::corner_boundary_search::ENTRY,
    &block::boundary::weighted_boundary_search::ENTRY,
    &block::adaptive_scan::ENTRY,
    &block::quick_allocation::ENTRY,
    &block::busy_list::ENTRY,
    &block::turning_busy_list::ENTRY,
    &subcube::buddy::ENTRY,
    &subcube::modified_buddy::ENTRY,
    &subcube::gray_code::ENTRY,
    &subcube::multiple_gray_code::ENTRY,
    &subcube::free_list::ENTRY,
    &subcube::maximal_subcubes::ENTRY,
    &subcube::tree_collapsing::ENTRY,
    &subcube::prime_cube_graph::ENTRY,
    &subcube::noncubic::ENTRY,
    &scattered::naive::ENTRY,
    &scattered::random::ENTRY,
    &scattered::paging::ENTRY,
    &scattered::multiple_buddy::ENTRY,
    &scattered::multiple_partner::ENTRY,
    &scattered::adaptive_noncontiguous::ENTRY,
    &scattered::greedy_available::ENTRY,
    &scattered::curve::ENTRY,
    &scattered::mc1x1::ENTRY,
    &scattered::mm::ENTRY,
    &scattered::gen_alg::ENTRY,
    &locality::fewest_leaves::ENTRY,
    &locality::fewest_groups::ENTRY,
    &locality::group_or_spread::ENTRY,
    &optical::folding::ENTRY,
    &optical::reconfigurable_blocks::ENTRY,
    &optical::rfold::ENTRY,
    &optical::reconfigurable::ENTRY,
    &partitions::ENTRY,
    &listed::anchors::ENTRY,
    &listed::blocks::ENTRY,
    &listed::ring::ENTRY,
    &listed::tree::ENTRY,
    &listed::runs::ENTRY,
];

/// The family of allocators. A study selects an allocator by its name.
pub static FAMILY: Family =
    Family { kind: "allocator", key: "name", entries: || abouts(ALLOCATORS), common: &[] };

/// Whether `entry` is the default allocator of a flat machine, which takes any free nodes alike.
pub(crate) fn takes_any(entry: &AllocatorEntry, topology: &Topology) -> bool {
    let wiring = topology.wiring();
    let usual = ALLOCATORS.iter().find(|usual| usual.about.name == default_for(wiring));
    wiring == Wiring::Flat && usual.is_some_and(|usual| std::ptr::eq(*usual, entry))
}

/// Name of the allocator that is used if a study names none.
#[must_use]
pub fn default_for(wiring: Wiring) -> &'static str {
    match wiring {
        Wiring::Mesh | Wiring::Torus | Wiring::Hypercube => "first_fit",
        _ => "naive",
    }
}
