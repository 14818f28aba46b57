//! Adaptive non-contiguous allocation: places the requested block, or else its halves separately.

use toml::{Table, Value};

use crate::alloc::{Allocator, AllocatorEntry, Ask, Claim, RecallError, block};
use crate::form::{Asks, Finds};
use crate::geometry::orientation::Rotation;
use crate::geometry::squarest::blocks_of;
use crate::job::{Dims, Request, Time};
use crate::machine::{Placement, Site};
use crate::registry::{About, Kind, Param, Params, Problem, Words, resolve};
use crate::rng::Stream;
use crate::topology::{Topology, Wiring};

/// Registry entry of the allocator `adaptive_noncontiguous`.
pub static ENTRY: AllocatorEntry = AllocatorEntry::new(
    About::new(
        "adaptive_noncontiguous",
        "the block asked for, or else its halves, and halves of those that find no place",
    )
    .aliases(&["anca"])
    .definition(
        "The block that the job asks for is placed by `search`, a strategy for blocks. If it finds \
         no place the block is cut into two along its longest side, the first of equal ones, the \
         larger half first where that is odd; then all pieces are placed anew, the largest first, \
         and those that find no place are cut again. Nothing is handed out until all pieces have a \
         place. With a limit of `levels` the job waits if that is not so after as many cuts; else \
         it fits whenever enough processors are free. A job that asks for a count begins with the \
         squarest block that holds it or, if that has processors to spare, with the largest part \
         of it that the count fills and blocks for the rest.",
    )
    .complexity(
        "That of `search`, for each piece on each of up to log r levels of \
             cutting, with r processors.",
    )
    .source(
        "Chang & Mohapatra, Performance improvement of allocation schemes for \
             mesh-connected computers, JPDC 52(1), 1998",
    )
    .params(&[
        Param::new("search", SEARCHES.kind())
            .is("\"first_fit\"")
            .help("the strategy that places each piece"),
        Rotation::PARAM,
        Param::new("levels", Kind::Integer(0, 64))
            .absent("until every piece has a place")
            .help("how many times pieces may be cut; 0 is the search alone"),
    ]),
    |params, topology| {
        let search = search(params, topology)?;
        Ok(Box::new(AdaptiveNoncontiguous { search, levels: params.get_integer("levels") }))
    },
)
.serves(&[Wiring::Mesh, Wiring::Torus, Wiring::Hypercube])
.asks(Asks::BlockOrNodes);

struct AdaptiveNoncontiguous {
    search: Box<dyn Allocator>,
    levels: Option<u64>,
}

static SEARCHES: Words<&'static AllocatorEntry, 4> = Words::new([
    ("first_fit", &block::first_fit::ENTRY),
    ("best_fit", &block::best_fit::ENTRY),
    ("frame_sliding", &block::frame_sliding::ENTRY),
    ("boundary_search", &block::boundary::boundary_search::ENTRY),
]);

fn search(params: &Params, topology: &Topology) -> Result<Box<dyn Allocator>, Problem> {
    let entry = params.meaning("search", &SEARCHES);
    let declared: Vec<&Param> = entry.about.params.iter().collect();
    let mut given = Table::new();
    given.insert("rotation".to_owned(), Value::String(params.text("rotation").to_owned()));
    (entry.build)(&resolve(params.path(), &declared, &given, &[])?, topology)
}

impl AdaptiveNoncontiguous {
    /// Places blocks one after another on free nodes; returns for each block whether it fits.
    fn place(
        &self,
        pieces: &[Dims],
        site: &Site,
        now: Time,
        rng: &mut Stream,
    ) -> (Placement, Vec<bool>) {
        // Pieces are claimed on copies, so that they do not overlap.
        let (mut site, mut search) = (site.clone(), self.search.fork());
        let mut all = Placement::default();
        let mut has_place = |piece: &Dims| {
            let request = Request::Block(piece.clone());
            let found = search.choose(Ask::new(&request, &site, now, rng));
            let found = found.filter(|placement| site.claim(placement).is_ok());
            if let Some(placement) = &found {
                search.claimed(placement, &site, now.into());
                all.blocks.extend(placement.blocks.iter().cloned());
            }
            found.is_some()
        };
        let placed = pieces.iter().map(&mut has_place).collect();
        (all, placed)
    }
}

/// Halves of a block across its longest side, the larger first; `None` for a single node.
fn halves(piece: &Dims) -> Option<[Dims; 2]> {
    let longest = (0..piece.len()).rev().max_by_key(|&d| piece[d]).filter(|&d| piece[d] > 1)?;
    let (mut larger, mut smaller) = (piece.clone(), piece.clone());
    larger[longest] = piece[longest].div_ceil(2);
    smaller[longest] = piece[longest] / 2;
    Some([larger, smaller])
}

impl Allocator for AdaptiveNoncontiguous {
    fn choose(&mut self, ask: Ask<'_>) -> Option<Placement> {
        let Ask { request, site, now, rng, .. } = ask;
        let count = site.count_if_free(request)?;
        let mut pieces = match request {
            Request::Block(sides) => vec![sides.clone()],
            _ => blocks_of(count, site.grid()),
        };
        for level in 0.. {
            // Stable: pieces of equal size stay in the order in which they were cut.
            pieces.sort_by_key(|piece| std::cmp::Reverse(piece.iter().product::<u32>()));
            let (placement, placed) = self.place(&pieces, site, now, rng);
            if placed.iter().all(|&placed| placed) {
                return Some(placement);
            }
            if self.levels == Some(level) {
                break;
            }
            let cut = |(piece, placed): (Dims, bool)| match halves(&piece) {
                Some(halves) if !placed => Vec::from(halves),
                _ => vec![piece],
            };
            let before = pieces.len();
            pieces = pieces.into_iter().zip(placed).flat_map(cut).collect();
            // Only single nodes lack a place, which happens only if the search misses free nodes.
            if pieces.len() == before {
                break;
            }
        }
        None
    }

    fn finds(&self) -> Option<Finds> {
        self.levels.map(|_| Finds::SomeBlocks)
    }

    fn claimed(&mut self, placement: &Placement, site: &Site, claim: Claim) {
        self.search.claimed(placement, site, claim);
    }

    fn released(&mut self, placement: &Placement, site: &Site) {
        self.search.released(placement, site);
    }

    fn memory(&self) -> Vec<u64> {
        self.search.memory()
    }

    fn recall(&mut self, memory: &[u64], site: &Site) -> Result<(), RecallError> {
        self.search.recall(memory, site)
    }

    fn fork(&self) -> Box<dyn Allocator> {
        Box::new(AdaptiveNoncontiguous { search: self.search.fork(), levels: self.levels })
    }
}
