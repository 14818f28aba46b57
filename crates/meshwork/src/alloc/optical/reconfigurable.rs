//! Slices of a reconfigurable torus, as in TPU pods: several free cubes, or a box within one cube.

use super::cubes::{self, CUBE, Cubes};
use crate::alloc::block::first_fit::FirstFit;
use crate::alloc::listed::set_of;
use crate::alloc::{Allocator, AllocatorEntry, Ask};
use crate::form::{Asks, Finds};
use crate::geometry::NodeSet;
use crate::geometry::orientation::Rotation;
use crate::geometry::squarest::block_for;
use crate::job::{Dims, Request, sides_text};
use crate::machine::{Block, Placement};
use crate::registry::{About, Kind, Param, Params, Problem, Range, Words};
use crate::topology::{Grid, MAX_NODES, Topology, Wiring};

/// Registry entry of the allocator `reconfigurable`.
pub static ENTRY: AllocatorEntry = AllocatorEntry::new(
    About::new(
        "reconfigurable",
        "slices of cubes joined by optical switches: any free cubes, or an aligned part of one",
    )
    .aliases(&["tpu"])
    .definition(
        "The machine is cut into cubes of side `cube`. A slice whose sides are multiples of that \
         needs as many cubes as it holds, and with `joined = \"optical\"` any free ones will do: \
         the first in lexicographic order are taken. With `joined = \"static\"` they have to be a \
         block of cubes, in any orientation and around edges where there are rings, the first one. \
         A smaller slice is a part of one cube: a cube is halved along its longest side, the last \
         of equal ones, and so are its halves, down to single nodes; a part is asked for by its \
         sides in any order. It comes from the cube with the fewest free nodes that has such a \
         part free, the first among equals, and there from the smallest free part that holds one. \
         Other sides are refused, or with `shapes = \"rounded\"` rounded up to the next slice. A \
         count gets the smallest slice that holds it. Nodes in `failed` are never given out, nor \
         is anything that needs the whole of their cube. A slice of several cubes that are joined \
         optically is held for `reconfiguration_time` before its job begins to run, which no plan \
         made before its start takes into account.",
    )
    .complexity(
        "O(n) to look at n nodes; then O(c) for c cubes, or O(c log c + m) for a \
             part of one of m nodes.",
    )
    .source(
        "Jouppi et al., TPU v4, ISCA 2023, and the topologies that Google's xpk \
             supports; how small slices lie in a cube follows the labels of GKE's \
             nodes, and which cube is chosen is ours",
    )
    .params(&[
        CUBE,
        Param::new("joined", JOINED.kind())
            .is("\"optical\"")
            .help("whether any cubes can be joined, or only those that lie side by side"),
        Param::new("shapes", SHAPES.kind())
            .is("\"listed\"")
            .help("whether sides that no slice has are refused, or rounded up to the next slice"),
        Param::new("parts", Kind::Integers(1, MAX_NODES as u64))
            .absent("all halves of halves of a cube")
            .help("how many nodes the parts of a cube have that are handed out"),
        Param::new("failed", Kind::Integers(0, MAX_NODES as u64 - 1))
            .absent("none")
            .help("nodes that have failed, by their index"),
        Param::new("reconfiguration_time", Kind::Number(Range::NonNegative))
            .is("0.0")
            .help("how long switches take to join several cubes, during which the job holds them"),
    ]),
    |params, topology| Ok(Box::new(Reconfigurable::new(params, topology)?)),
)
.serves(&[Wiring::Mesh, Wiring::Torus])
.asks(Asks::BlockOrNodes)
.finds(Finds::SomeBlocks);

/// Values of the parameter `joined`; `true` means that the cubes of a job must be adjacent.
static JOINED: Words<bool, 2> = Words::new([("optical", false), ("static", true)]);

/// Values of the parameter `shapes`; `true` means that a shape that no slice has is rounded up.
static SHAPES: Words<bool, 2> = Words::new([("listed", false), ("rounded", true)]);

#[derive(Clone)]
struct Reconfigurable {
    /// Cubes of the torus. The nodes of a cube are numbered so that each possible part of the cube,
    /// such as a half or a quarter, has consecutive numbers.
    cubes: Cubes,
    /// Sides of the whole cube, of its half, of its quarter, and so on.
    ///
    /// Each entry has the sides in the order of dimensions, and again in ascending order.
    parts: Vec<(Dims, Dims)>,
    /// For each size of part of a cube, such as a half or a quarter, whether jobs may get such a
    /// part.
    handed_out: Vec<bool>,
    /// Grid that has one node for each cube.
    grid: Grid,
    /// Search for a block of adjacent cubes; `None` if the cubes of a job need not be adjacent.
    blocks: Option<FirstFit>,
    is_rounded: bool,
    failed: Option<NodeSet>,
    reconfiguration_time: f64,
}

#[derive(Clone, Debug, PartialEq)]
enum Slice {
    /// Part of one cube, as an index in the list of parts.
    ///
    /// The list begins with the whole cube and ends with the smallest part.
    Part(usize),
    /// Whole cubes: their number along each dimension.
    Cubes(Dims),
}

impl Reconfigurable {
    fn new(params: &Params, topology: &Topology) -> Result<Reconfigurable, Problem> {
        let grid = topology.grid();
        let side = cubes::side(params, grid)?;
        let (parts, places) = halves(side, grid.dimensions());
        let counts: Dims = grid.sides().iter().map(|own| own / side).collect();
        let cube_grid =
            Grid::with_rings(&counts, grid.rings()).expect("fewer nodes than the machine");
        let volume = |sides: &Dims| sides.iter().product::<u32>();
        let mut handed_out = vec![true; parts.len()];
        if let Some(wanted) = params.get_integers("parts") {
            let there: Vec<u32> = parts.iter().map(|(sides, _)| volume(sides)).collect();
            if let Some(other) = wanted.iter().find(|wanted| !there.contains(wanted)) {
                let there: Vec<String> = there.iter().rev().map(u32::to_string).collect();
                let there = there.join(", ");
                let says = format!("has {other}, but the parts of a cube have {there} nodes");
                return Err(params.refusal("parts", says));
            }
            handed_out = there.iter().map(|own| wanted.contains(own)).collect();
            handed_out[0] = true;
        }
        let failed = params.get_integers("failed").map(|list| {
            if let Some(beyond) = list.iter().find(|&&node| node >= grid.nodes()) {
                let last = grid.nodes() - 1;
                let says = format!("has {beyond}, but the nodes of the machine are 0 to {last}");
                return Err(params.refusal("failed", says));
            }
            Ok(set_of(&list, grid.nodes()))
        });
        let is_static = params.meaning("joined", &JOINED);
        let time = params.number("reconfiguration_time");
        Ok(Reconfigurable {
            cubes: Cubes::in_order(grid, side, &places),
            parts,
            handed_out,
            blocks: is_static.then(|| FirstFit::new(&cube_grid, Rotation::IfNeeded)),
            grid: cube_grid,
            is_rounded: params.meaning("shapes", &SHAPES),
            failed: failed.transpose()?,
            reconfiguration_time: if is_static { 0.0 } else { time },
        })
    }

    fn volume(&self, part: usize) -> u32 {
        self.parts[part].0.iter().product()
    }

    /// Converts a request to a slice; `None` if the machine has no slice that can hold it.
    fn slice(&self, request: &Request) -> Option<Slice> {
        let side = self.cubes.side;
        match request {
            Request::Block(sides) => {
                let mut ascending = sides.clone();
                ascending.sort_unstable();
                let holds = |(part, (_, own)): &(usize, &(Dims, Dims))| {
                    self.handed_out[*part]
                        && if self.is_rounded {
                            own.iter().zip(&ascending).all(|(own, wanted)| own >= wanted)
                        } else {
                            *own == ascending
                        }
                };
                // A whole cube is treated as a slice of one cube.
                let part = self.parts.iter().enumerate().rev().find(holds).map(|(part, _)| part);
                if let Some(part) = part.filter(|&part| part > 0) {
                    return Some(Slice::Part(part));
                }
                let is_whole = self.is_rounded || sides.iter().all(|own| own % side == 0);
                let counts: Dims = sides.iter().map(|own| own.div_ceil(side)).collect();
                (is_whole && self.is_there(&counts)).then_some(Slice::Cubes(counts))
            }
            _ => {
                let nodes = u32::try_from(request.nodes()).ok()?;
                let parts = (1..self.parts.len()).rev();
                let mut parts = parts.filter(|&part| self.handed_out[part]);
                if let Some(part) = parts.find(|&part| self.volume(part) >= nodes) {
                    return Some(Slice::Part(part));
                }
                let cubes = nodes.div_ceil(self.cubes.volume());
                if self.blocks.is_some() {
                    return block_for(cubes, &self.grid).map(Slice::Cubes);
                }
                let mut counts = Dims::from_elem(1, self.grid.dimensions());
                counts[0] = cubes;
                self.is_there(&counts).then_some(Slice::Cubes(counts))
            }
        }
    }

    /// Whether the machine has enough cubes for a slice. If cubes must be adjacent, they must form
    /// a block.
    fn is_there(&self, counts: &[u32]) -> bool {
        let number: u64 = counts.iter().map(|&own| u64::from(own)).product();
        let (mut wanted, mut there) =
            (Dims::from_slice(counts), Dims::from_slice(self.grid.sides()));
        wanted.sort_unstable();
        there.sort_unstable();
        let fits = wanted.iter().zip(&there).all(|(wanted, there)| wanted <= there);
        number <= self.cubes.len() as u64 && (self.blocks.is_none() || fits)
    }

    fn of_cubes(&mut self, counts: &Dims, grid: &Grid) -> Option<Placement> {
        let volume = self.cubes.volume();
        let side = self.cubes.side;
        let is_free = |&cube: &usize| self.cubes.idle[cube] == volume;
        let whole = Dims::from_elem(side, self.grid.dimensions());
        let corner = |cube: usize| self.cubes.node(cube, 0);
        let Some(search) = &mut self.blocks else {
            let number = counts.iter().product::<u32>() as usize;
            let blocks = (0..self.cubes.len()).filter(is_free).take(number);
            let blocks = blocks.map(|cube| Block { base: corner(cube), sides: whole.clone() });
            let placement = Placement { blocks: blocks.collect(), parts: None };
            return (placement.blocks.len() == number).then_some(placement);
        };
        let mut free = NodeSet::empty(self.grid.nodes());
        for cube in (0..self.cubes.len()).filter(is_free) {
            let at = grid.coordinates(corner(cube));
            free.insert(self.grid.node(&at.iter().map(|at| at / side).collect::<Dims>()));
        }
        let found = search.first(&self.grid, &free, counts, false)?;
        let at: Dims = self.grid.coordinates(found.base).iter().map(|at| at * side).collect();
        let sides = found.sides.iter().map(|own| own * side).collect();
        Some(Block { base: grid.node(&at), sides }.into())
    }

    /// Places a slice within one cube: of all cubes that can hold it, the one with the fewest free
    /// nodes.
    fn of_one(&self, part: usize) -> Option<Placement> {
        let volume = self.volume(part);
        let mut cubes: Vec<usize> =
            (0..self.cubes.len()).filter(|&cube| self.cubes.idle[cube] >= volume).collect();
        cubes.sort_by_key(|&cube| self.cubes.idle[cube]); // stable
        cubes.into_iter().find_map(|cube| {
            let first = self.first_place(cube, part)?;
            let (base, sides) = (self.cubes.node(cube, first as usize), self.parts[part].0.clone());
            Some(Block { base, sides }.into())
        })
    }

    /// Index of the first node of the best free part of a cube, among all parts of one size.
    ///
    /// `None` if no part of this size is free. Each part lies in one larger part of each larger
    /// size. The best free part is the one that lies in the fewest free larger parts, so that as
    /// many larger parts as possible remain free. Ties go to the first part.
    fn first_place(&self, cube: usize, part: usize) -> Option<u32> {
        let is_free = |part: usize, place: u32| {
            let volume = self.volume(part);
            let first = place / volume * volume;
            (first..first + volume).all(|place| self.cubes.is_free(cube, place as usize))
        };
        let places = (0..self.cubes.volume()).step_by(self.volume(part) as usize);
        let around =
            |place: u32| (0..part).rev().take_while(|&larger| is_free(larger, place)).count();
        places.filter(|&place| is_free(part, place)).min_by_key(|&place| around(place))
    }
}

/// Parts of a cube made by repeated halving, and the coordinates of the cube's nodes.
///
/// The nodes are in an order in which the nodes of each part are consecutive.
fn halves(side: u32, dimensions: usize) -> (Vec<(Dims, Dims)>, Vec<Dims>) {
    let mut parts = Vec::new();
    let mut sides = Dims::from_elem(side, dimensions);
    let mut cuts = Vec::new();
    loop {
        let mut ascending = sides.clone();
        ascending.sort_unstable();
        parts.push((sides.clone(), ascending));
        let longest = sides.iter().copied().max().unwrap_or(1);
        let last = sides.iter().rposition(|&own| own == longest).unwrap_or(0);
        if longest % 2 == 1 {
            break;
        }
        sides[last] /= 2;
        cuts.push((last, sides[last]));
    }
    // Order the smallest parts by the cuts, and their places lexicographically.
    let mut corners = vec![Dims::from_elem(0, dimensions)];
    for (d, half) in cuts {
        let both = |corner: &Dims| {
            let mut far = corner.clone();
            far[d] += half;
            [corner.clone(), far]
        };
        corners = corners.iter().flat_map(both).collect();
    }
    let mut places = Vec::new();
    for corner in corners {
        cubes::for_each_place(&sides, |at| {
            places.push(at.iter().zip(&corner).map(|(at, corner)| at + corner).collect());
        });
    }
    (parts, places)
}

impl Allocator for Reconfigurable {
    fn choose(&mut self, ask: Ask<'_>) -> Option<Placement> {
        let Ask { request, site, .. } = ask;
        let slice = self.slice(request)?;
        match &self.failed {
            None => self.cubes.look_at(site.free()),
            Some(failed) => {
                let mut healthy = site.free().clone();
                healthy.subtract(failed);
                self.cubes.look_at(&healthy);
            }
        }
        match slice {
            Slice::Part(part) => self.of_one(part),
            Slice::Cubes(counts) => self.of_cubes(&counts, site.grid()),
        }
    }

    fn never(&self, request: &Request) -> Option<String> {
        if self.slice(request).is_some() {
            return None;
        }
        let smaller = (1..self.parts.len()).rev().filter(|&part| self.handed_out[part]);
        let parts: Vec<String> = smaller.map(|part| sides_text(&self.parts[part].1)).collect();
        let (side, count) = (self.cubes.side, self.cubes.len());
        let multiples = match (count, &self.blocks) {
            (1, _) => sides_text(&self.parts[0].1),
            (_, None) => format!("sides that are multiples of {side}, of at most {count} cubes"),
            (_, Some(_)) => {
                let all = sides_text(self.grid.sides());
                format!("sides that are multiples of {side}, of a block of {all} cubes")
            }
        };
        let or = if parts.is_empty() { "" } else { ", or " };
        Some(format!(
            "{request} is no slice of this machine, which are {}{or}{multiples}",
            parts.join(", ")
        ))
    }

    fn setup_time(&self, placement: &Placement) -> f64 {
        if placement.blocks.len() > 1 { self.reconfiguration_time } else { 0.0 }
    }

    fn fork(&self) -> Box<dyn Allocator> {
        Box::new(self.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cube_of_four_is_halved_as_hosts_are_named() {
        let (parts, places) = halves(4, 3);
        let sides: Vec<String> = parts.iter().map(|(_, ascending)| sides_text(ascending)).collect();
        assert_eq!(sides, ["4x4x4", "2x4x4", "2x2x4", "2x2x2", "1x2x2", "1x1x2", "1x1x1"]);
        let mut distinct = places.clone();
        distinct.sort_unstable();
        distinct.dedup();
        assert_eq!((places.len(), distinct.len()), (64, 64));
        // Every part is a run of places, which form a box with the sides of the part.
        for (own, _) in &parts {
            let volume = own.iter().product::<u32>() as usize;
            for run in places.chunks(volume) {
                for d in 0..3 {
                    let along = run.iter().map(|at| at[d]);
                    let (low, high) = (along.clone().min().unwrap(), along.max().unwrap());
                    assert_eq!(high - low + 1, own[d]);
                    assert_eq!(run[0][d], low, "the first place is the lowest corner");
                }
            }
        }
        assert_eq!(halves(3, 2).0.len(), 1, "what has no half is whole");
        assert_eq!(halves(6, 1).1.len(), 6);
    }
}
