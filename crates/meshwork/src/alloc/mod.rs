//! Allocators: strategies that select the free nodes of a site for a job.

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
use crate::geometry::orientation::Rotation;
use crate::job::{JobId, Request, Time};
use crate::machine::{Placement, Site};
use crate::registry::{About, Family, Named, Params, Problem, abouts};
use crate::rng::Stream;
use crate::topology::{Topology, Wiring};

/// Proposes placements for requests. Never changes the site.
pub trait Allocator: Send {
    /// Returns free nodes for a request, or `None` if this strategy finds none now.
    ///
    /// The request has the form that the entry [asks](AllocatorEntry::asks) for. The result is a
    /// proposal: the engine either claims it and then calls [`claimed`](Allocator::claimed), or
    /// drops it. Repeating the call gives the same result (from equal streams), and whether there
    /// is one depends neither on `now` nor on the stream.
    fn choose(&mut self, ask: Ask<'_>) -> Option<Placement>;

    /// The request form, if a parameter overrides the one of the [entry](AllocatorEntry::asks).
    fn asks(&self) -> Option<Asks> {
        None
    }

    /// The find guarantee, if a parameter weakens the one of the [entry](AllocatorEntry::finds).
    fn finds(&self) -> Option<Finds> {
        None
    }

    /// Returns why a request, in its form, can never be placed on this machine because of its
    /// rules.
    ///
    /// `None` if no rule beyond the size of the machine forbids it. The text is one sentence
    /// without a full stop.
    fn never(&self, _request: &Request) -> Option<String> {
        None
    }

    /// The time to wire the nodes of a placement, in clock units; they are held while the job
    /// waits.
    fn setup_time(&self, _placement: &Placement) -> f64 {
        0.0
    }

    /// The orientations tried for a block, if no parameter sets them.
    ///
    /// That parameter is [`rotation`](crate::geometry::orientation::Rotation::PARAM).
    fn rotation(&self) -> Rotation {
        Rotation::Never
    }

    /// Reports that free nodes have been claimed; `site` already shows them held.
    ///
    /// The claim gives the time, the holder and the reason. The nodes may be any free nodes, for
    /// instance a placement promised earlier, not only the last proposal.
    ///
    /// If decisions depend on the holder, the allocator must save it in its
    /// [memory](Allocator::memory): a saved state records only which nodes are held and since when.
    fn claimed(&mut self, _placement: &Placement, _site: &Site, _claim: Claim) {}

    /// Reports the estimated end of the job on the nodes just claimed.
    ///
    /// Not called for nodes that are claimed without a job or to look ahead.
    fn expected(&mut self, _placement: &Placement, _end: Time) {}

    /// Reports that nodes have been released; `site` already shows them free.
    ///
    /// They may be a part of one claimed placement.
    fn released(&mut self, _placement: &Placement, _site: &Site) {}

    /// State to save, beyond which placements hold which nodes and since when.
    ///
    /// To restore it, the held placements are [claimed](Allocator::claimed) again in their original
    /// order, each at its instant; then [`recall`](Allocator::recall) makes the allocator equal to
    /// the saved one from these numbers. Empty for most allocators.
    fn memory(&self) -> Vec<u64> {
        Vec::new()
    }

    /// Restores the [memory](Allocator::memory) of an equal allocator; `site` must be as it was
    /// then.
    ///
    /// Afterwards this allocator answers as that one does.
    ///
    /// # Errors
    /// If the numbers are not the memory of such an allocator on this site. Afterwards the
    /// allocator may only be dropped.
    fn recall(&mut self, memory: &[u64], _site: &Site) -> Result<(), RecallError> {
        nothing_to_recall(memory)
    }

    /// Whether the answer depends only on the request and on which nodes are free.
    ///
    /// If so, it does not depend on the holders, on times, or on the order of the claims.
    fn goes_by_free_nodes(&self) -> bool {
        false
    }

    /// The rule by which it divides a number of nodes among parts of a machine, if counts alone
    /// decide.
    ///
    /// On a machine with types of nodes, pieces are divided by this rule. `None`: the allocator is
    /// asked to place nodes, and a node counts as free if enough pieces fit on it.
    ///
    /// On a machine with types of nodes, pieces are then divided like that. `None`: it is asked
    /// for nodes on which enough pieces fit.
    fn domain(&self) -> Option<parts::Domain> {
        None
    }

    /// Returns an independent copy, for schedulers and selectors that look ahead.
    fn fork(&self) -> Box<dyn Allocator>;
}

/// The reason why given numbers are not a saved [memory](Allocator::memory) of an allocator.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RecallError {
    /// The allocator has no memory; the value is the count of the given numbers.
    #[error("this allocator remembers nothing, but {0} numbers are given")]
    NothingToRecall(usize),
    /// The lists of free blocks differ from the free nodes.
    #[error("its lists do not hold the free nodes, each once")]
    NotTheFreeNodes,
    /// A block in the lists is not aligned.
    #[error("its lists hold a block that is not aligned")]
    NotAligned,
    /// Any other reason, in one sentence.
    #[error("{0}")]
    Other(String),
}

/// The [`Allocator::recall`] of an allocator without memory.
fn nothing_to_recall(memory: &[u64]) -> Result<(), RecallError> {
    if memory.is_empty() { Ok(()) } else { Err(RecallError::NothingToRecall(memory.len())) }
}

/// The input of [`Allocator::choose`].
///
/// Later versions may add fields: destructure it with `..`, and build it with [`new`](Ask::new).
#[non_exhaustive]
pub struct Ask<'a> {
    /// The request, in the form that the entry [asks](AllocatorEntry::asks) for.
    pub request: &'a Request,
    /// The site, with its topology and its free nodes.
    pub site: &'a Site,
    /// The current time.
    pub now: Time,
    /// The allocator's own stream of random numbers.
    pub rng: &'a mut Stream,
}

impl<'a> Ask<'a> {
    /// Creates the query for this request, on this site, at this time.
    pub fn new(request: &'a Request, site: &'a Site, now: Time, rng: &'a mut Stream) -> Ask<'a> {
        Ask { request, site, now, rng }
    }
}

/// The time, holder and reason of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Claim {
    /// The time of the claim.
    pub now: Time,
    /// The holder of the nodes from now on.
    pub by: Holder,
}

/// The holder of claimed nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Holder {
    /// A job that starts or continues on the nodes; in a [pool](crate::pool::Pool), a request
    /// number.
    Job(JobId),
    /// No job yet; only on a fork used to look ahead.
    ///
    /// The nodes are kept for a job that starts later, for a window with restricted access, or as
    /// if a job had started.
    Reservation,
    /// An outage: the nodes are out of service.
    Outage,
    /// A placement made by hand, by another program, or before a pool was restored.
    Adoption,
}

impl Claim {
    /// Creates a claim by this holder at this time.
    #[must_use]
    pub fn new(now: Time, by: Holder) -> Claim {
        Claim { now, by }
    }
}

/// Creates an adoption at this time.
impl From<Time> for Claim {
    fn from(now: Time) -> Claim {
        Claim::new(now, Holder::Adoption)
    }
}

/// The registry entry of an allocator.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct AllocatorEntry {
    /// Name, definition, complexity, source and parameters.
    pub about: About,
    /// The supported wirings.
    pub serves: &'static [Wiring],
    /// The supported numbers of dimensions; `None` if any number is supported.
    pub dimensions: Option<&'static [usize]>,
    /// The request form, unless a parameter [changes](Allocator::asks) it.
    pub asks: Asks,
    /// The find guarantee, unless a parameter [changes](Allocator::finds) it.
    pub finds: Finds,
    /// Whether a placement is always one block of the requested shape, in the form of `asks`.
    pub contiguous: bool,
    /// Builds the strategy for one site.
    pub build: fn(&Params, &Topology) -> Result<Box<dyn Allocator>, Problem>,
}

impl AllocatorEntry {
    /// Creates an entry that serves every wiring, and gives any free nodes for a count.
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

    /// Replaces the description.
    #[must_use]
    pub const fn described(mut self, about: About) -> AllocatorEntry {
        self.about = about;
        self
    }

    /// Replaces the function that builds it.
    #[must_use]
    pub const fn build(
        mut self,
        build: fn(&Params, &Topology) -> Result<Box<dyn Allocator>, Problem>,
    ) -> AllocatorEntry {
        self.build = build;
        self
    }

    /// Sets the supported wirings.
    #[must_use]
    pub const fn serves(mut self, serves: &'static [Wiring]) -> AllocatorEntry {
        self.serves = serves;
        self
    }

    /// Sets the supported numbers of dimensions; `None` for any.
    #[must_use]
    pub const fn dimensions(mut self, dimensions: Option<&'static [usize]>) -> AllocatorEntry {
        self.dimensions = dimensions;
        self
    }

    /// Sets the request form.
    #[must_use]
    pub const fn asks(mut self, asks: Asks) -> AllocatorEntry {
        self.asks = asks;
        self
    }

    /// Sets the find guarantee.
    #[must_use]
    pub const fn finds(mut self, finds: Finds) -> AllocatorEntry {
        self.finds = finds;
        self
    }

    /// Sets whether a placement is always one block of the requested shape.
    #[must_use]
    pub const fn contiguous(mut self, contiguous: bool) -> AllocatorEntry {
        self.contiguous = contiguous;
        self
    }
}

impl AllocatorEntry {
    /// Whether the allocator supports machines of this topology.
    #[must_use]
    pub fn works_on(&self, topology: &Topology) -> bool {
        self.serves.contains(&topology.wiring())
            && self.dimensions.is_none_or(|all| all.contains(&topology.grid().dimensions()))
    }
}

impl Named for AllocatorEntry {
    fn about(&self) -> &About {
        &self.about
    }
}

/// Rejects a hypercube on which an answer would take longer than about a second.
fn up_to_dimension(params: &Params, topology: &Topology, most: u32) -> Result<(), Problem> {
    let dimension = topology.grid().dimensions() as u32;
    if dimension <= most {
        return Ok(());
    }
    Err(Problem::new(
        params.path(),
        format!(
            "`{}` works up to dimension {most}, beyond which an answer may take longer than a second, and this \
             hypercube has dimension {dimension}",
            params.name()
        ),
    ))
}

/// Rejects a machine that is so large that an answer would take longer than about a second.
fn up_to_nodes(params: &Params, topology: &Topology, most: u32) -> Result<(), Problem> {
    let nodes = topology.grid().nodes();
    if nodes <= most {
        return Ok(());
    }
    Err(Problem::new(
        params.path(),
        format!(
            "`{}` works up to {most} nodes, beyond which an answer may take longer than a second, and this \
             {} has {nodes}",
            params.name(),
            topology.wiring().name()
        ),
    ))
}

/// Every allocator.
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

/// The family of allocator names.
pub static FAMILY: Family =
    Family { kind: "allocator", key: "name", entries: || abouts(ALLOCATORS), common: &[] };

/// Whether the allocator may take any nodes of the site, because they are all equivalent. True for
/// the default allocator of flat wiring. Other allocators may consider more than the number of free
/// nodes.
pub(crate) fn takes_any(entry: &AllocatorEntry, topology: &Topology) -> bool {
    let wiring = topology.wiring();
    let usual = ALLOCATORS.iter().find(|usual| usual.about.name == default_for(wiring));
    wiring == Wiring::Flat && usual.is_some_and(|usual| std::ptr::eq(*usual, entry))
}

/// The allocator of a site if the study names none.
#[must_use]
pub fn default_for(wiring: Wiring) -> &'static str {
    match wiring {
        Wiring::Mesh | Wiring::Torus | Wiring::Hypercube => "first_fit",
        _ => "naive",
    }
}
