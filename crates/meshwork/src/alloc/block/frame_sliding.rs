//! Frame sliding: tries frames (blocks of the requested sides) in steps of their own sides.

use crate::alloc::{Allocator, AllocatorEntry, Ask};
use crate::form::{Asks, Finds};
use crate::geometry::orientation::{Rotation, orientations};
use crate::job::{Dims, Request};
use crate::machine::{Block, Placement, Site};
use crate::registry::{About, Param, Words};
use crate::topology::{Grid, Node, Wiring};

/// Registry entry of the allocator `frame_sliding`.
pub static ENTRY: AllocatorEntry = AllocatorEntry::new(
    About::new(
        "frame_sliding",
        "the first free frame of those that tile the machine from its lowest free node on",
    )
    .aliases(&["fs"])
    .definition(
        "Frames of the requested shape are laid over the machine a whole side apart in each \
         dimension, so that they never overlap; the lattice goes through the lowest free node, or \
         through node 0 with `start = \"origin\"`. The first frame that is wholly free, in \
         row-major order, is taken. A free block that lies between two frames is missed.",
    )
    .complexity(
        "O(n / v) frames of v nodes on n nodes, each left at its first held row: \
             O(n) at the worst.",
    )
    .source(
        "Chuang & Tzeng, An efficient submesh allocation strategy for mesh \
             computer systems, ICDCS 1991",
    )
    .params(&[
        Rotation::PARAM,
        Param::new("start", STARTS.kind())
            .is("\"lowest_free\"")
            .help("where the first frame lies: on the lowest free node, or on node 0"),
    ]),
    |params, _| {
        Ok(Box::new(FrameSliding {
            rotation: Rotation::read(params),
            from_origin: params.meaning("start", &STARTS),
        }))
    },
)
.serves(&[Wiring::Mesh, Wiring::Torus, Wiring::Hypercube])
.asks(Asks::Block)
.finds(Finds::SomeBlocks)
.contiguous(true);

/// Words for the parameter `start`. Each word stands for whether the first frame lies at node 0.
static STARTS: Words<bool, 2> = Words::new([("lowest_free", false), ("origin", true)]);

/// The frame sliding strategy, in which frames follow one another without gaps along each
/// dimension.
///
/// A frame of width *w* begins at the coordinate x₀ of the start node, and others at multiples of
/// *w* from it. On a mesh, later rows begin with the frame at `x₀ mod w`. On a ring, frames go once
/// around from x₀, as long as they do not overlap the first frame.
#[derive(Clone)]
struct FrameSliding {
    rotation: Rotation,
    from_origin: bool,
}

impl Allocator for FrameSliding {
    fn choose(&mut self, ask: Ask<'_>) -> Option<Placement> {
        let Ask { request: Request::Block(sides), site, .. } = ask else { return None };
        let start = if self.from_origin { 0 } else { site.free().first()? };
        let mut best: Option<(usize, Block)> = None;
        for sides in orientations(sides, self.rotation) {
            let fits = sides.iter().zip(site.grid().sides()).all(|(side, most)| side <= most);
            let Some(found) = fits.then(|| first_free_frame(site, start, &sides)).flatten() else {
                continue;
            };
            if best.as_ref().is_none_or(|(tried, _)| found.0 < *tried) {
                best = Some(found);
                if self.rotation != Rotation::Best {
                    break;
                }
            }
        }
        best.map(|(_, block)| block.into())
    }

    fn fork(&self) -> Box<dyn Allocator> {
        Box::new(self.clone())
    }
}

/// The first free frame, and the number of frames tried before it; `None` if no frame is free.
fn first_free_frame(site: &Site, start: Node, sides: &Dims) -> Option<(usize, Block)> {
    let grid = site.grid();
    let axes: Vec<Axis> = (0..sides.len()).map(|d| Axis::new(grid, start, d, sides[d])).collect();
    let mut at: Dims = axes.iter().map(|axis| axis.begin).collect();
    let mut tried = 0;
    loop {
        // On a mesh, the first row may begin too near the edge for any frame.
        if at.iter().zip(&axes).all(|(&i, axis)| i < axis.frames) {
            let corner: Dims = at.iter().zip(&axes).map(|(&i, axis)| axis.position(i)).collect();
            let block = Block { base: grid.node(&corner), sides: sides.clone() };
            let mut free = true;
            block.for_each_run(grid, |run, count| {
                free = free && site.free().contains_range(run, count);
            });
            if free {
                return Some((tried, block));
            }
            tried += 1;
        }
        let d = (0..axes.len()).find(|&d| at[d] + 1 < axes[d].frames)?;
        at[d] += 1;
        at[..d].fill(0);
    }
}

struct Axis {
    first: u32,
    step: u32,
    side: u32,
    frames: u32,
    /// Index of the frame that begins at the start node. The search begins with this frame.
    begin: u32,
}

impl Axis {
    fn new(grid: &Grid, start: Node, d: usize, step: u32) -> Axis {
        let (side, start) = (grid.sides()[d], grid.coordinate(start, d));
        if grid.is_ring(d) {
            return Axis { first: start, step, side, frames: side / step, begin: 0 };
        }
        let first = start % step;
        let frames = if first + step <= side { (side - first - step) / step + 1 } else { 0 };
        Axis { first, step, side, frames, begin: start / step }
    }

    fn position(&self, frame: u32) -> u32 {
        (self.first + frame * self.step) % self.side
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::Time;
    use crate::registry::resolve;
    use crate::rng::Stream;
    use crate::topology::Topology;

    fn site(sides: &[u32], busy: &[(&[u32], &[u32])]) -> Site {
        let mut site = Site::new(Topology::mesh(sides).unwrap(), 1.0);
        for (corner, sides) in busy {
            let block = Block { base: site.grid().node(corner), sides: Dims::from_slice(sides) };
            site.claim(&block.into()).unwrap();
        }
        site
    }

    fn choose(name: &str, site: &Site, sides: &[u32]) -> Option<Dims> {
        let entry = crate::registry::entry(crate::alloc::ALLOCATORS, name);
        let params: Vec<&Param> = entry.about.params.iter().collect();
        let params = resolve("", &params, &toml::Table::new(), &[]).unwrap();
        let mut allocator = (entry.build)(&params, site.topology()).unwrap();
        let mut rng = Stream::new(1, 0, "test");
        let placed =
            allocator.choose(Ask::new(&Request::block(sides), site, Time::ZERO, &mut rng))?;
        Some(site.grid().coordinates(placed.blocks[0].base))
    }

    #[test]
    fn the_lowest_free_node_decides_which_frames_there_are() {
        let site = site(&[6, 4], &[(&[0, 0], &[2, 1]), (&[4, 0], &[1, 1])]);
        assert_eq!(choose("frame_sliding", &site, &[3, 2]).unwrap().as_slice(), [2, 2]);
        assert_eq!(choose("first_fit", &site, &[3, 2]).unwrap().as_slice(), [0, 1]);
    }

    #[test]
    fn a_block_between_two_frames_is_missed() {
        let site = site(&[4, 2], &[(&[0, 1], &[1, 1]), (&[3, 1], &[1, 1])]);
        assert_eq!(choose("frame_sliding", &site, &[2, 2]), None);
        assert_eq!(choose("first_fit", &site, &[2, 2]).unwrap().as_slice(), [1, 0]);
    }

    #[test]
    fn one_dimension_too_many_frames_is_not_tried() {
        let axis = Axis::new(&Grid::new(&[7], false).unwrap(), 2, 0, 3);
        assert_eq!((axis.frames, axis.begin, axis.position(0), axis.position(1)), (1, 0, 2, 5));
        let ring = Axis::new(&Grid::new(&[7], true).unwrap(), 5, 0, 3);
        assert_eq!((ring.frames, ring.position(0), ring.position(1)), (2, 5, 1));
    }
}
