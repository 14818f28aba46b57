//! Allocators: which free processors of a site a job gets.

pub mod block;
pub mod listed;
pub mod locality;
pub mod optical;
pub mod partitions;
pub mod scattered;
pub mod subcube;

use crate::form::{Asks, Finds};
use crate::geometry::orientation::Rotation;
use crate::job::{JobId, Request, Time};
use crate::machine::{Placement, Site};
use crate::registry::{About, Family, Named, Params, Problem, abouts};
use crate::rng::Stream;
use crate::topology::{Topology, Wiring};

/// Decides where a job goes. Changes nothing.
pub trait Allocator: Send {
    /// Free nodes for a request in the form that the entry [asks](AllocatorEntry::asks) for, or
    /// `None` if this strategy finds none now.
    ///
    /// A proposal: the engine claims it and then calls [`claimed`](Allocator::claimed), or drops
    /// it. Asking twice gives the same answer twice (from equal streams), and whether there is one
    /// depends neither on `now` nor on the stream.
    fn choose(&mut self, ask: Ask<'_>) -> Option<Placement>;

    /// The form in which it wants requests, where a parameter makes that another one than its entry
    /// [says](AllocatorEntry::asks).
    fn asks(&self) -> Option<Asks> {
        None
    }

    /// When it finds room, where a parameter makes that less than its entry
    /// [says](AllocatorEntry::finds).
    fn finds(&self) -> Option<Finds> {
        None
    }

    /// Why a request in its form can never be placed on this machine, if a rule of the machine says so and not
    /// only its size: one sentence without a full stop.
    fn never(&self, _request: &Request) -> Option<String> {
        None
    }

    /// How long the processors of a placement are held before the job on them begins to run, in units of the
    /// clock: the time that it takes to wire them.
    fn setup_time(&self, _placement: &Placement) -> f64 {
        0.0
    }

    /// The orientations in which it looks for a block, where no parameter
    /// [`rotation`](crate::geometry::orientation::Rotation::PARAM) says so.
    fn rotation(&self) -> Rotation {
        Rotation::Never
    }

    /// These nodes, free until now, have been claimed; `site` shows them held, and the claim says when, for whom and
    /// why. They may be any free nodes, for instance a placement promised earlier, not only the last proposal.
    ///
    /// Who decides by the holder [remembers](Allocator::memory) it: what is saved and restored says only which nodes are held,
    /// and since when.
    fn claimed(&mut self, _placement: &Placement, _site: &Site, _claim: Claim) {}

    /// The job on these nodes, which have just been claimed, ends then by its estimate. Nobody says so of
    /// nodes that are claimed without a job, or to look ahead.
    fn expected(&mut self, _placement: &Placement, _end: Time) {}

    /// These nodes have been given back; `site` shows them free. They may be a part of what was
    /// claimed at once.
    fn released(&mut self, _placement: &Placement, _site: &Site) {}

    /// What it remembers beside which nodes are held, by which placements, and since when: numbers from
    /// which [`recall`](Allocator::recall) makes an equal allocator of one to which the held placements
    /// have been [claimed](Allocator::claimed) again, each at its instant, in the order in which they
    /// were. Most remember no more than that, and give nothing.
    fn memory(&self) -> Vec<u64> {
        Vec::new()
    }

    /// Takes on what an equal allocator [remembered](Allocator::memory); `site` is as it was then.
    /// From then on it answers as that one does.
    ///
    /// # Errors
    /// If these numbers are not the memory of such an allocator on this site; it may be
    /// dropped then, and nothing else.
    fn recall(&mut self, memory: &[u64], _site: &Site) -> Result<(), RecallError> {
        nothing_to_recall(memory)
    }

    /// Whether its answer depends on the request and on which nodes are free, and on nothing else: not on
    /// who holds the others, since when, or in which order they were claimed.
    fn goes_by_free_nodes(&self) -> bool {
        false
    }

    /// An independent copy, for schedulers and selectors that look ahead.
    fn fork(&self) -> Box<dyn Allocator>;
}

/// Why numbers are not the [memory](Allocator::memory) of an allocator.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RecallError {
    /// It has no memory.
    #[error("this allocator remembers nothing, but {0} numbers are given")]
    NothingToRecall(usize),
    /// Lists of free blocks that are not what is free.
    #[error("its lists do not hold the free nodes, each once")]
    NotTheFreeNodes,
    /// Lists of aligned blocks with one that is not.
    #[error("its lists hold a block that is not aligned")]
    NotAligned,
    /// What any other allocator has to say, in one sentence.
    #[error("{0}")]
    Other(String),
}

/// The memory of an allocator that has none.
fn nothing_to_recall(memory: &[u64]) -> Result<(), RecallError> {
    if memory.is_empty() { Ok(()) } else { Err(RecallError::NothingToRecall(memory.len())) }
}

/// What an allocator is told when it is asked for a place.
///
/// More may be known in a later version: take it apart with `..`, and make one with
/// [`new`](Ask::new).
#[non_exhaustive]
pub struct Ask<'a> {
    /// What is asked for, in the form that the entry [asks](AllocatorEntry::asks) for.
    pub request: &'a Request,
    /// The site: its topology, and which of its nodes are free.
    pub site: &'a Site,
    /// The present instant.
    pub now: Time,
    /// The allocator's own stream of random numbers.
    pub rng: &'a mut Stream,
}

impl<'a> Ask<'a> {
    /// A question for this request, on this site, now.
    pub fn new(request: &'a Request, site: &'a Site, now: Time, rng: &'a mut Stream) -> Ask<'a> {
        Ask { request, site, now, rng }
    }
}

/// When, for whom and why nodes were claimed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Claim {
    /// The present instant.
    pub now: Time,
    /// Who holds the nodes from now on.
    pub by: Holder,
}

/// Who holds nodes that were claimed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Holder {
    /// A job, which begins to run on them or goes on there; in a [pool](crate::pool::Pool) a request, by its number.
    Job(JobId),
    /// Nobody yet: on a copy, on which somebody looks ahead, they are kept for a job that is to start later, for a
    /// window in which they are not for everyone, or as if a job had started.
    Reservation,
    /// An outage: they are out of service.
    Outage,
    /// Whatever was placed by others: by hand, by another program, or before a pool was restored.
    Adoption,
}

impl Claim {
    /// A claim of this holder, now.
    #[must_use]
    pub fn new(now: Time, by: Holder) -> Claim {
        Claim { now, by }
    }
}

/// An adoption at that instant.
impl From<Time> for Claim {
    fn from(now: Time) -> Claim {
        Claim::new(now, Holder::Adoption)
    }
}

/// An allocator in the list.
pub struct AllocatorEntry {
    /// What it says of itself.
    pub about: About,
    /// The wirings it works on.
    pub serves: &'static [Wiring],
    /// The numbers of dimensions that it works in; `None` if it works in any.
    pub dimensions: Option<&'static [usize]>,
    /// The form in which it wants a request, unless a parameter [changes](Allocator::asks) that.
    pub asks: Asks,
    /// When it finds room, unless a parameter [changes](Allocator::finds) that.
    pub finds: Finds,
    /// Whether a placement is always one block of the requested shape, in that form.
    pub contiguous: bool,
    /// The strategy, for one site.
    pub build: fn(&Params, &Topology) -> Result<Box<dyn Allocator>, Problem>,
}

impl AllocatorEntry {
    /// Whether it works on a machine of this topology.
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

/// Refuses a hypercube on which an answer would take longer than about a second.
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

/// Refuses a machine of so many nodes that an answer would take longer than about a second.
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

/// Allocators, as a family of names.
pub static FAMILY: Family =
    Family { kind: "allocator", key: "name", entries: || abouts(ALLOCATORS), common: &[] };

/// Whether to this allocator any nodes of such a site are as good as any others: the wiring tells none apart, and it is the one that the
/// site has unless a study names another. Any other may go by more than that there are enough.
pub(crate) fn takes_any(entry: &AllocatorEntry, topology: &Topology) -> bool {
    let wiring = topology.wiring();
    let usual = ALLOCATORS.iter().find(|usual| usual.about.name == default_for(wiring));
    wiring == Wiring::Flat && usual.is_some_and(|usual| std::ptr::eq(*usual, entry))
}

/// The allocator of a site for which a study names none.
#[must_use]
pub fn default_for(wiring: Wiring) -> &'static str {
    match wiring {
        Wiring::Mesh | Wiring::Torus | Wiring::Hypercube => "first_fit",
        _ => "naive",
    }
}
