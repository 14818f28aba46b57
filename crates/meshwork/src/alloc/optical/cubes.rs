//! Division of a machine into equal cubes, with the free nodes of each cube as bits.

use smallvec::SmallVec;

use crate::geometry::NodeSet;
use crate::job::Dims;
use crate::machine::Block;
use crate::registry::{Kind, Param, Params, Problem};
use crate::topology::{Grid, MAX_NODES, Node};

pub(super) const CUBE: Param = Param::new("cube", Kind::Integer(1, MAX_NODES as u64))
    .absent("the largest number up to 4 that divides every side of the machine")
    .help("the side of a cube");

pub(super) fn side(params: &Params, grid: &Grid) -> Result<u32, Problem> {
    let divides = |side: &u32| grid.sides().iter().all(|own| own % side == 0);
    let Some(given) = params.get_integer("cube") else {
        return Ok((1..=4).rev().find(divides).unwrap_or(1));
    };
    let side = given as u32;
    if divides(&side) {
        return Ok(side);
    }
    let sides = crate::job::sides_text(grid.sides());
    let says = format!("is {side}, but must divide every side of the machine, which is {sides}");
    Err(params.refusal("cube", says))
}

/// Set of nodes of one cube, with one bit for each place (index of a node within its cube).
pub(super) type Bits = SmallVec<[u64; 1]>;

/// Machine divided into equal cubes, which are in lexicographic order: the last dimension runs
/// fastest.
///
/// The place of a node is its index within its cube. By default, the nodes of a cube are in
/// lexicographic order too.
#[derive(Clone, Debug)]
pub(super) struct Cubes {
    pub(super) side: u32,
    pub(super) dimensions: usize,
    nodes: Vec<Node>,
    free: Vec<Bits>,
    /// Number of free nodes of each cube.
    pub(super) idle: Vec<u32>,
}

impl Cubes {
    pub(super) fn new(grid: &Grid, side: u32) -> Cubes {
        let mut places = Vec::new();
        let within = Dims::from_elem(side, grid.dimensions());
        for_each_place(&within, |at| places.push(Dims::from_slice(at)));
        Cubes::in_order(grid, side, &places)
    }

    /// Divides a grid into cubes, with the nodes of each cube in the given order of coordinates.
    pub(super) fn in_order(grid: &Grid, side: u32, places: &[Dims]) -> Cubes {
        let count: Dims = grid.sides().iter().map(|own| own / side).collect();
        let dimensions = grid.dimensions();
        let mut nodes = Vec::with_capacity(grid.nodes() as usize);
        for_each_place(&count, |cube| {
            nodes.extend(places.iter().map(|at| {
                let place: Dims = (0..dimensions).map(|d| cube[d] * side + at[d]).collect();
                grid.node(&place)
            }));
        });
        let cubes: usize = count.iter().map(|&own| own as usize).product();
        Cubes { side, dimensions, nodes, free: vec![Bits::new(); cubes], idle: vec![0; cubes] }
    }

    /// Stores which nodes of each cube are free, for later queries, in **O(n)** for *n* nodes.
    pub(super) fn look_at(&mut self, free: &NodeSet) {
        let volume = self.volume() as usize;
        for (cube, nodes) in self.nodes.chunks(volume).enumerate() {
            let bits = &mut self.free[cube];
            bits.clear();
            bits.resize(volume.div_ceil(64), 0);
            for (place, &node) in nodes.iter().enumerate() {
                bits[place / 64] |= u64::from(free.contains(node)) << (place % 64);
            }
            self.idle[cube] = bits.iter().map(|word| word.count_ones()).sum();
        }
    }

    pub(super) fn len(&self) -> usize {
        self.free.len()
    }

    pub(super) fn volume(&self) -> u32 {
        self.side.pow(self.dimensions as u32)
    }

    pub(super) fn is_free(&self, cube: usize, place: usize) -> bool {
        self.free[cube][place / 64] >> (place % 64) & 1 == 1
    }

    pub(super) fn are_free(&self, cube: usize, wanted: &Bits) -> bool {
        self.free[cube].iter().zip(wanted).all(|(free, wanted)| free & wanted == *wanted)
    }

    pub(super) fn node(&self, cube: usize, place: usize) -> Node {
        self.nodes[cube * self.volume() as usize + place]
    }

    /// Index of a node within its cube, from its coordinates in the cube, in lexicographic order.
    pub(super) fn place(&self, corner: &[u32]) -> usize {
        corner.iter().fold(0, |place, &at| place * self.side as usize + at as usize)
    }

    /// Set of the places that a box occupies in its cube, one bit for each place.
    ///
    /// A place is the index of a node within its cube. `corner` is the lowest corner of the box
    /// within the cube.
    pub(super) fn bits_of(&self, corner: &[u32], sides: &[u32]) -> Bits {
        let mut bits = Bits::from_elem(0, (self.volume() as usize).div_ceil(64));
        for_each_place(sides, |at| {
            let at: Dims = at.iter().zip(corner).map(|(at, corner)| at + corner).collect();
            let place = self.place(&at);
            bits[place / 64] |= 1 << (place % 64);
        });
        bits
    }

    /// Converts a box within a cube to a block of the machine.
    ///
    /// `corner` is the lowest corner of the box within the cube.
    pub(super) fn block(&self, cube: usize, corner: &[u32], sides: &[u32]) -> Block {
        Block { base: self.node(cube, self.place(corner)), sides: Dims::from_slice(sides) }
    }
}

/// Visits the coordinates of all nodes of a box, in lexicographic order.
pub(super) fn for_each_place(sides: &[u32], mut visit: impl FnMut(&[u32])) {
    let mut at = Dims::from_elem(0, sides.len());
    if sides.contains(&0) {
        return;
    }
    loop {
        visit(&at);
        let Some(d) = (0..sides.len()).rev().find(|&d| at[d] + 1 < sides[d]) else { return };
        at[d] += 1;
        at[d + 1..].fill(0);
    }
}
