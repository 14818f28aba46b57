//! Boundary search: the free block with the most held neighbours, where walls count as held.

use super::best_base::BestBase;
use super::contact::Contact;
use crate::alloc::{Allocator, AllocatorEntry, Ask, Claim};
use crate::form::{Asks, Finds};
use crate::geometry::orientation::Rotation;
use crate::job::Request;
use crate::machine::{Placement, Site};
use crate::registry::{About, Params};
use crate::topology::{Topology, Wiring};

/// Registry entry of the allocator `boundary_search`.
pub static ENTRY: AllocatorEntry = AllocatorEntry::new(
    About::new("boundary_search", "the free block with the most held neighbours, walls included")
        .aliases(&["bsm"])
        .definition(
            "Of all free places of the block, the one with the most held nodes and edges of the \
             machine beside its faces is taken: blocks are pressed into corners and against each \
             other. Ties go to the lowest base. On a torus there are no edges to press against.",
        )
        .complexity(
            "Three or four times a first fit for each orientation, and O(1) for each \
             corner of what is held.",
        )
        .source(
            "Das Sharma & Pradhan, A fast and efficient strategy for submesh \
             allocation in mesh-connected parallel computers, SPDP 1993",
        )
        .params(&[Rotation::PARAM]),
    |params, topology| Ok(Box::new(BoundarySearch::new(params, topology, true, false))),
)
.serves(&[Wiring::Mesh, Wiring::Torus])
.asks(Asks::Block)
.finds(Finds::EveryBlock)
.contiguous(true);

#[derive(Clone)]
pub(crate) struct BoundarySearch {
    best: BestBase,
    contact: Contact,
}

impl BoundarySearch {
    pub(crate) fn new(
        params: &Params,
        topology: &Topology,
        count_walls: bool,
        corners: bool,
    ) -> BoundarySearch {
        let grid = topology.grid();
        BoundarySearch {
            best: BestBase::new(grid, Rotation::read(params), corners),
            contact: Contact::new(grid, count_walls),
        }
    }
}

impl Allocator for BoundarySearch {
    fn choose(&mut self, ask: Ask<'_>) -> Option<Placement> {
        let Ask { request: Request::Block(sides), site, .. } = ask else { return None };
        let (grid, free) = (site.grid(), site.free());
        let block = self.best.search(
            site,
            sides,
            1,
            |edges| edges.of_held(grid, free),
            |corner, sides, blocked| self.contact.boundary(grid, free, corner, sides, blocked),
        );
        block.map(Placement::from)
    }

    fn claimed(&mut self, placement: &Placement, site: &Site, _claim: Claim) {
        self.contact.claimed(placement, site.grid());
    }

    fn released(&mut self, placement: &Placement, site: &Site) {
        self.contact.released(placement, site.grid());
    }

    fn fork(&self) -> Box<dyn Allocator> {
        Box::new(self.clone())
    }
}
