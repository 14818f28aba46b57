//! The first free block in row-major order of its base.

use super::orientation::{Rotation, orientations};
use super::{Allocator, AllocatorEntry, Asks, Finds, FreeBases};
use crate::job::{Dims, Request, Time};
use crate::machine::{Block, Placement, Site};
use crate::registry::About;
use crate::rng::Stream;
use crate::topology::{Node, Wiring};

/// The entry of `first_fit`.
pub static ENTRY: AllocatorEntry = AllocatorEntry {
    about: About {
        name: "first_fit",
        aliases: &["ff"],
        summary: "the first free block in row-major order of its base",
        source: "Zhu, Efficient processor allocation strategies for mesh-connected parallel \
                 computers, JPDC 16, 1992",
        params: &[Rotation::PARAM],
    },
    serves: &[Wiring::Mesh, Wiring::Torus, Wiring::Hypercube],
    dimensions: None,
    asks: Asks::Block,
    finds: Finds::EveryBlock,
    contiguous: true,
    build: |params, topology| {
        let rotation = Rotation::read(params);
        Ok(Box::new(FirstFit { rotation, bases: FreeBases::new(topology.grid()) }))
    },
};

/// First fit, on a grid of any number of dimensions, wrapped or not.
///
/// Among all bases at which the whole block is free it takes the one of lowest index. With
/// `rotation = "best"` the orientations compete on that index. It finds a block whenever there is
/// one in an orientation it tries; there is no internal fragmentation on a mesh.
///
/// # Complexity
/// **O(d · log s · n / 64)** for each orientation: see [`FreeBases`].
#[derive(Clone)]
struct FirstFit {
    rotation: Rotation,
    bases: FreeBases,
}

impl Allocator for FirstFit {
    fn choose(
        &mut self,
        request: &Request,
        site: &Site,
        _now: Time,
        _rng: &mut Stream,
    ) -> Option<Placement> {
        let Request::Block(sides) = request else { return None };
        let mut best: Option<(Node, Dims)> = None;
        for sides in orientations(sides, self.rotation) {
            let base = self.bases.first(site.grid(), site.free(), &sides);
            if let Some(base) = base
                && best.as_ref().is_none_or(|(lowest, _)| base < *lowest)
            {
                best = Some((base, sides));
                if self.rotation != Rotation::Best {
                    break;
                }
            }
        }
        best.map(|(base, sides)| Block { base, sides }.into())
    }

    fn fork(&self) -> Box<dyn Allocator> {
        Box::new(self.clone())
    }
}
