//! Multiple Gray codes: a job gets a subcube that is a run of nodes in one of several Gray codes.

use std::ops::ControlFlow;
use std::sync::Arc;

use crate::alloc::{Allocator, AllocatorEntry, Ask};
use crate::form::{Asks, Finds};
use crate::geometry::NodeSet;
use crate::geometry::cube::{CubeSearch, GrayCode, Subcube, symmetric_chains};
use crate::job::Request;
use crate::machine::Placement;
use crate::registry::{About, Problem};
use crate::topology::Wiring;

/// Registry entry of the allocator `multiple_gray_code`.
pub static ENTRY: AllocatorEntry = AllocatorEntry::new(
    About::new(
        "multiple_gray_code",
        "the first of several Gray codes that has two neighbouring half-blocks free",
    )
    .aliases(&["multiple_gray_codes"])
    .definition(
        "As many Gray codes as it takes to recognise every subcube, C(n, ⌊n/2⌋) of them, are tried \
         in a fixed order, each as the single Gray code is. The first code that has two \
         neighbouring free half-blocks gives the first such pair. None is missed.",
    )
    .complexity(
        "O(2ⁿ) if the first code has a free pair; else that of a search of all \
             sets of k dimensions, and O(n) for each code before the one that is taken.",
    )
    .source(
        "Chen & Shin, Processor allocation in an n-cube multiprocessor using Gray \
             codes, IEEE TC 36(12), 1987",
    ),
    |params, topology| {
        let dimension = topology.grid().dimensions() as u32;
        if dimension > MAX_DIMENSIONS {
            let says = format!(
                "`multiple_gray_code` has C(n, n/2) codes and works up to dimension \
                 {MAX_DIMENSIONS}, this hypercube has dimension {dimension}"
            );
            return Err(Problem::new(params.path(), says));
        }
        Ok(Box::new(MultipleGrayCode {
            codes: symmetric_chains(dimension).into(),
            search: CubeSearch::new(dimension),
            has_a_free_cube: NodeSet::empty(1 << dimension),
            buffer: Vec::new(),
        }))
    },
)
.serves(&[Wiring::Hypercube])
.asks(Asks::Subcube)
.finds(Finds::EveryBlock)
.contiguous(true);

/// Largest supported dimension of a hypercube, for which 184,756 Gray codes are needed.
const MAX_DIMENSIONS: u32 = 20;

/// Multiple Gray codes strategy, which tries the codes in the order of [`symmetric_chains`].
///
/// For every set of dimensions, there is a code whose order of dimensions begins with this set. So
/// no subcube along these dimensions is missed. If the first code finds nothing, all sets of
/// dimensions along which a free subcube extends are found together. Codes that can find none of
/// these subcubes are skipped.
#[derive(Clone)]
struct MultipleGrayCode {
    codes: Arc<[GrayCode]>,
    search: CubeSearch,
    /// Sets of dimensions, as masks, along which at least one free subcube extends.
    has_a_free_cube: NodeSet,
    buffer: Vec<u64>,
}

impl MultipleGrayCode {
    fn first(&mut self, free: &NodeSet, k: u32) -> Option<Subcube> {
        let found = self.codes[0].first(free, k, &mut self.buffer);
        if found.is_some() || k > self.search.dimension() {
            return found;
        }
        let masks = &mut self.has_a_free_cube;
        masks.remove_range(0, masks.universe());
        self.search.for_each_mask(free, k, |bases| {
            masks.insert(bases.mask());
            ControlFlow::Continue(())
        });
        if masks.is_empty() {
            return None;
        }
        let half = k.saturating_sub(1);
        self.codes[1..].iter().find_map(|code| {
            let prefix = code.prefix(half);
            let others = code.order()[half as usize..].iter();
            let mut candidates = others.map(|d| prefix | 1 << d);
            if !candidates.any(|mask| masks.contains(mask)) {
                return None;
            }
            code.first(free, k, &mut self.buffer)
        })
    }
}

impl Allocator for MultipleGrayCode {
    fn choose(&mut self, ask: Ask<'_>) -> Option<Placement> {
        let Ask { request: &Request::Subcube(k), site, .. } = ask else { return None };
        let cube = self.first(site.free(), k)?;
        Some(cube.block(self.search.dimension()).into())
    }

    fn goes_by_free_nodes(&self) -> bool {
        true
    }

    fn fork(&self) -> Box<dyn Allocator> {
        Box::new(self.clone())
    }
}
