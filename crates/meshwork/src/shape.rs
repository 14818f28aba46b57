//! Conversion of requests to the form that an allocator requires, such as node counts to blocks.

use crate::form::Asks;
pub use crate::form::ShapeRule;
use crate::geometry::squarest::{block_for, block_of};
use crate::job::{Dims, Pieces, Request};
use crate::topology::{Grid, Topology, Wiring};

/// Converts a request to the form that an allocator requires; `None` if the machine cannot hold it.
///
/// ```
/// use meshwork::form::Asks;
/// use meshwork::job::Request;
/// use meshwork::shape::{ShapeRule, shaped};
/// use meshwork::topology::Topology;
/// let mesh = Topology::mesh(&[16, 8]).unwrap();
/// let block = |n| shaped(&Request::Nodes(n), Asks::Block, &mesh, ShapeRule::Squarest);
/// assert_eq!(block(7), Some(Request::block(&[4, 2])));
/// assert_eq!(block(128), Some(Request::block(&[16, 8])));
/// assert_eq!(block(129), None);
/// let cube = Topology::hypercube(7).unwrap();
/// let subcube = shaped(&Request::Nodes(9), Asks::Subcube, &cube, ShapeRule::Squarest);
/// assert_eq!(subcube, Some(Request::Subcube(4)));
/// ```
#[must_use]
pub fn shaped(
    request: &Request,
    asks: Asks,
    topology: &Topology,
    rule: ShapeRule,
) -> Option<Request> {
    let grid = topology.grid();
    if let Request::Pieces(_) = request {
        // Whole nodes cannot stand for pieces, which are parts of nodes.
        return (asks == Asks::Pieces).then(|| request.clone());
    }
    let nodes = u32::try_from(request.nodes()).ok().filter(|&n| n >= 1 && n <= grid.nodes())?;
    match asks {
        Asks::Pieces => Some(Request::pieces(Pieces::whole_nodes(nodes))),
        Asks::Nodes => Some(Request::Nodes(nodes)),
        Asks::Constrained => Some(match request {
            Request::Constrained(_) => request.clone(),
            _ => Request::Nodes(nodes),
        }),
        Asks::Subcube => Some(Request::Subcube(nodes.next_power_of_two().trailing_zeros())),
        Asks::Square => squared(request, nodes, grid).map(Request::Block),
        Asks::Block => match request {
            Request::Block(sides) => padded(sides, grid.dimensions()).map(Request::Block),
            _ if topology.wiring() == Wiring::Hypercube => {
                block_of(nodes, grid, false).map(Request::Block)
            }
            _ => block_by(rule, nodes, grid).map(Request::Block),
        },
        Asks::BlockOrNodes => match request {
            Request::Block(sides) => {
                Some(padded(sides, grid.dimensions()).map_or(Request::Nodes(nodes), Request::Block))
            }
            _ => Some(Request::Nodes(nodes)),
        },
    }
}

/// Smallest square with a power-of-two side that can hold the requested nodes or block.
fn squared(request: &Request, nodes: u32, grid: &Grid) -> Option<Dims> {
    let [width, height] = *grid.sides() else { return None };
    let least = match request {
        Request::Block(sides) => padded(sides, 2)?.into_iter().max()?,
        // The least power of two whose square is at least the requested number.
        _ => 1 << nodes.next_power_of_two().trailing_zeros().div_ceil(2),
    };
    let side = least.checked_next_power_of_two()?;
    (side <= width.min(height)).then(|| Dims::from_elem(side, 2))
}

/// Adds or removes sides of length 1 at the end, so that the block has a side for each dimension.
fn padded(sides: &[u32], dimensions: usize) -> Option<Dims> {
    let mut sides = Dims::from_slice(sides);
    while sides.len() > dimensions && sides.last() == Some(&1) {
        sides.pop();
    }
    if sides.len() > dimensions {
        return None;
    }
    sides.resize(dimensions, 1);
    Some(sides)
}

fn block_by(rule: ShapeRule, nodes: u32, grid: &Grid) -> Option<Dims> {
    let exact = (rule == ShapeRule::Exact).then(|| block_of(nodes, grid, true)).flatten();
    exact.or_else(|| block_for(nodes, grid))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn squarest(nodes: u32, sides: &[u32]) -> Option<Vec<u32>> {
        let grid = Grid::new(sides, false).unwrap();
        block_by(ShapeRule::Squarest, nodes, &grid).map(|dims| dims.to_vec())
    }

    /// Finds the default block for a number of nodes by a search of all blocks that fit.
    ///
    /// The best block is the one with the least sum of sides. The result is the best block of
    /// exactly `nodes` nodes, if its diameter is at most 1.25 times that of the best block of at
    /// least `nodes` nodes. Otherwise the latter block is the result.
    fn by_search(nodes: u32, machine: [u32; 3]) -> Option<Vec<u32>> {
        let [width, height, depth] = machine;
        let of = |(w, h, d): (u32, u32, u32)| w * h * d;
        let best = |holds: &dyn Fn(u32) -> bool| {
            let mut blocks: Vec<(u32, u32, u32)> = (1..=width)
                .flat_map(|w| (1..=height).flat_map(move |h| (1..=depth).map(move |d| (w, h, d))))
                .filter(|&block| holds(of(block)))
                .collect();
            blocks.sort_by_key(|&(w, h, d)| {
                let along = w * width + h * height + d * depth;
                (w + h + d, w * h * d, std::cmp::Reverse(along), std::cmp::Reverse((w, h, d)))
            });
            blocks.first().copied()
        };
        let steps = |(w, h, d): (u32, u32, u32)| f64::from(w + h + d - 3);
        let padded = best(&|own| own >= nodes)?;
        let exact = best(&|own| own == nodes).filter(|&own| steps(own) <= 1.25 * steps(padded));
        let (w, h, d) = exact.unwrap_or(padded);
        Some(vec![w, h, d])
    }

    #[test]
    fn the_squarest_block_is_the_best_of_all_blocks() {
        for machine in [[16, 8, 1], [8, 16, 1], [7, 7, 1], [1, 9, 1], [12, 5, 1], [6, 4, 5]] {
            for nodes in 1..=machine.iter().product::<u32>() + 1 {
                assert_eq!(squarest(nodes, &machine), by_search(nodes, machine), "{nodes}");
            }
        }
    }

    #[test]
    fn powers_of_two_are_never_padded_where_they_fit() {
        for sides in [&[16, 16, 16][..], &[32, 32], &[8, 8, 8, 8], &[64, 4], &[16, 8, 4]] {
            let all: u32 = sides.iter().product();
            for nodes in (0..).map(|k| 1 << k).take_while(|&nodes| nodes <= all) {
                let block = squarest(nodes, sides).unwrap();
                assert_eq!(block.iter().product::<u32>(), nodes, "{block:?}");
            }
        }
        assert_eq!(squarest(1024, &[16, 16, 16]).unwrap(), [16, 8, 8]);
    }

    #[test]
    fn an_exact_block_wastes_nothing_where_it_can() {
        let grid = Grid::new(&[16, 8], false).unwrap();
        let exact = |n| block_by(ShapeRule::Exact, n, &grid).unwrap().to_vec();
        assert_eq!(exact(12), [4, 3]);
        assert_eq!(exact(13), [13, 1]);
        assert_eq!(exact(17), squarest(17, &[16, 8]).unwrap(), "17 is prime and too long");
    }

    #[test]
    fn a_square_is_the_least_that_holds_the_block_or_the_count() {
        let mesh = Topology::mesh(&[16, 8]).unwrap();
        let square = |request: Request| shaped(&request, Asks::Square, &mesh, ShapeRule::Squarest);
        let side = |side: u32| Some(Request::block(&[side, side]));
        for (sides, expected) in [([3, 3], 4), ([2, 1], 2), ([1, 1], 1), ([5, 2], 8), ([2, 8], 8)] {
            assert_eq!(square(Request::block(&sides)), side(expected), "{sides:?}");
        }
        assert_eq!(square(Request::block(&[9, 1])), None, "a side of 16 is too tall");
        assert_eq!(square(Request::block(&[2, 2, 2])), None);
        assert_eq!(square(Request::block(&[3, 2, 1])), side(4));
        for nodes in 1..=128 {
            let by_search = (0..=3).map(|i| 1 << i).find(|&side: &u32| side * side >= nodes);
            assert_eq!(square(Request::Nodes(nodes)), by_search.and_then(side), "{nodes}");
        }
        assert_eq!(square(Request::Subcube(3)), side(4));
        let cube = Topology::mesh(&[4, 4, 4]).unwrap();
        let no_square = shaped(&Request::Nodes(4), Asks::Square, &cube, ShapeRule::Squarest);
        assert_eq!(no_square, None, "only a grid of two dimensions has squares");
    }

    #[test]
    fn three_dimensions() {
        assert_eq!(squarest(27, &[8, 8, 8]).unwrap(), [3, 3, 3]);
        assert_eq!(squarest(512, &[8, 8, 8]).unwrap(), [8, 8, 8]);
        assert_eq!(squarest(5, &[8, 8, 8]).unwrap(), [3, 2, 1]);
    }

    #[test]
    fn a_block_of_fewer_sides_lies_in_a_plane() {
        let mesh = Topology::mesh(&[4, 4, 4]).unwrap();
        let shape =
            |sides: &[u32]| shaped(&Request::block(sides), Asks::Block, &mesh, ShapeRule::Squarest);
        assert_eq!(shape(&[2, 3]), Some(Request::block(&[2, 3, 1])));
        assert_eq!(shape(&[2, 3, 2, 1]), Some(Request::block(&[2, 3, 2])));
        assert_eq!(shape(&[2, 3, 2, 2]), None);
    }
}
