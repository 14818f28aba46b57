//! Allocators: which free processors of a site a job gets.

mod bases;
mod best_base;
mod cells;
mod contact;
mod largest;
mod held;
mod nearest;
mod peaks;
mod ranked;
pub mod first_fit;
pub mod best_fit;
pub mod frame_sliding;
pub mod buddy_2d;
pub mod boundary_search;
pub mod corner_boundary_search;
pub mod weighted_boundary_search;
pub mod adaptive_scan;
pub mod quick_allocation;
pub mod busy_list;
pub mod turning_busy_list;
pub mod buddy;
pub mod free_list;
pub mod gray_code;
pub mod maximal_subcubes;
pub mod modified_buddy;
pub mod multiple_gray_code;
pub mod tree_collapsing;
pub mod naive;
pub mod noncubic;
pub mod order;
pub mod orientation;
pub mod random;
pub mod paging;
pub mod multiple_buddy;
pub mod multiple_partner;
pub mod curve;
pub mod mc1x1;
pub mod mm;
pub mod gen_alg;
pub mod adaptive_noncontiguous;
pub mod greedy_available;
pub mod squarest;
pub mod prime_cube_graph;
pub mod subcube;

pub use bases::FreeBases;

use crate::job::{Request, Time};
use crate::machine::{Placement, Site};
use crate::registry::{About, Family, Named, Params, Problem, abouts};
use crate::rng::Stream;
use crate::topology::{Topology, Wiring};

/// Decides where a job goes. Changes nothing.
pub trait Allocator {
    /// Free nodes for a request in the form that the entry [asks](AllocatorEntry::asks) for, or
    /// `None` if this strategy finds none now.
    ///
    /// A proposal: the engine claims it and then calls [`claimed`](Allocator::claimed), or drops
    /// it. Asking twice gives the same answer twice (from equal streams), and whether there is one
    /// depends neither on `now` nor on the stream.
    fn choose(
        &mut self,
        request: &Request,
        site: &Site,
        now: Time,
        rng: &mut Stream,
    ) -> Option<Placement>;

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

    /// These nodes, free until now, have been claimed; `site` shows them held. They may be any
    /// free nodes, for instance a placement promised earlier, not only the last proposal.
    fn claimed(&mut self, _placement: &Placement, _site: &Site, _now: Time) {}

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
    /// One sentence, if these numbers are not the memory of such an allocator on this site; it may be
    /// dropped then, and nothing else.
    fn recall(&mut self, memory: &[u64], _site: &Site) -> Result<(), String> {
        nothing_to_recall(memory)
    }

    /// An independent copy, for schedulers and selectors that look ahead.
    fn fork(&self) -> Box<dyn Allocator>;
}

/// The memory of an allocator that has none.
fn nothing_to_recall(memory: &[u64]) -> Result<(), String> {
    if memory.is_empty() {
        return Ok(());
    }
    Err(format!("this allocator remembers nothing, but {} numbers are given", memory.len()))
}

/// The form in which an allocator wants a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asks {
    /// A count of processors.
    Nodes,
    /// A block with one side for each dimension of the grid.
    Block,
    /// Such a block where the job asks for one, however long, or else a count.
    BlockOrNodes,
    /// The dimension of a subcube.
    Subcube,
    /// A square block whose side is a power of two, on a grid of two dimensions.
    Square,
}

/// When an allocator finds room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finds {
    /// Whenever enough processors are free: any processors will do.
    AnyNodes,
    /// Whenever a free block exists, in the orientations it tries.
    EveryBlock,
    /// It may miss a free block.
    SomeBlocks,
}

/// An allocator in the list.
pub struct AllocatorEntry {
    /// What it says of itself.
    pub about: About,
    /// The wirings it works on.
    pub serves: &'static [Wiring],
    /// The only number of dimensions it works in; `None` if it works in any.
    pub dimensions: Option<usize>,
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
            && self.dimensions.is_none_or(|only| only == topology.grid().dimensions())
    }
}

impl Named for AllocatorEntry {
    fn about(&self) -> &About {
        &self.about
    }
}

/// Every allocator.
pub static ALLOCATORS: &[&AllocatorEntry] = &[
    &first_fit::ENTRY,
    &best_fit::ENTRY,
    &frame_sliding::ENTRY,
    &buddy_2d::ENTRY,
    &boundary_search::ENTRY,
    &corner_boundary_search::ENTRY,
    &weighted_boundary_search::ENTRY,
    &adaptive_scan::ENTRY,
    &quick_allocation::ENTRY,
    &busy_list::ENTRY,
    &turning_busy_list::ENTRY,
    &buddy::ENTRY,
    &modified_buddy::ENTRY,
    &gray_code::ENTRY,
    &multiple_gray_code::ENTRY,
    &free_list::ENTRY,
    &maximal_subcubes::ENTRY,
    &tree_collapsing::ENTRY,
    &prime_cube_graph::ENTRY,
    &noncubic::ENTRY,
    &naive::ENTRY,
    &random::ENTRY,
    &paging::ENTRY,
    &multiple_buddy::ENTRY,
    &multiple_partner::ENTRY,
    &adaptive_noncontiguous::ENTRY,
    &greedy_available::ENTRY,
    &curve::ENTRY,
    &mc1x1::ENTRY,
    &mm::ENTRY,
    &gen_alg::ENTRY,
];

/// Allocators, as a family of names.
pub static FAMILY: Family =
    Family { kind: "allocator", key: "name", entries: || abouts(ALLOCATORS), common: &[] };

/// The allocator of a site for which a study names none.
#[must_use]
pub fn default_for(wiring: Wiring) -> &'static str {
    match wiring {
        Wiring::Mesh | Wiring::Torus | Wiring::Hypercube => "first_fit",
        Wiring::Flat => "naive",
    }
}
