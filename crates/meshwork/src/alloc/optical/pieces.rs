//! Division of a job's shape into pieces of at most one cube, each placed in a cube of its own.
//!
//! Pieces that are smaller than a cube lie at the far sides of the shape.

use super::cubes::{Bits, Cubes, for_each_place};
use super::set_order::Ties;
use crate::geometry::orientation::{Rotation, orientations};
use crate::job::Dims;
use crate::machine::Placement;

/// All subsets of the dimensions, ordered by size and then lexicographically.
fn subsets(dimensions: usize) -> Vec<Vec<usize>> {
    let mut all: Vec<Vec<usize>> = (0_u32..1 << dimensions)
        .map(|mask| (0..dimensions).filter(|d| mask >> d & 1 == 1).collect())
        .collect();
    all.sort_by(|one: &Vec<usize>, other| (one.len(), one).cmp(&(other.len(), other)));
    all
}

/// Kinds of pieces into which cubes divide a shape: the number of pieces of each kind, and their
/// sides.
///
/// Kinds that fill a cube along more dimensions come first.
fn kinds(shape: &[u32], side: u32) -> Vec<(usize, Dims)> {
    let mut full_along = subsets(shape.len());
    full_along.sort_by_key(|along| std::cmp::Reverse(along.len())); // stable
    let kind = |along: Vec<usize>| {
        let is_full = |d: usize| along.contains(&d);
        let own = |d: usize| if is_full(d) { side } else { shape[d] % side };
        let sides: Dims = (0..shape.len()).map(own).collect();
        let number: usize = along.iter().map(|&d| (shape[d] / side) as usize).product();
        (number, sides)
    };
    let there = |(number, sides): &(usize, Dims)| *number > 0 && !sides.contains(&0);
    full_along.into_iter().map(kind).filter(there).collect()
}

/// Positions within a cube at which the lowest corner of a piece can lie, in the order of trial.
///
/// If the shape also contains whole cubes (`beside_cubes`), the piece must lie in a corner of its
/// cube.
fn corners(piece: &[u32], side: u32, beside_cubes: bool, ties: Ties) -> Vec<Dims> {
    let slack: Dims = piece.iter().map(|own| side - own).collect();
    let mut all: Vec<Dims> = Vec::new();
    if !beside_cubes {
        let places: Dims = slack.iter().map(|slack| slack + 1).collect();
        for_each_place(&places, |at| all.push(Dims::from_slice(at)));
        return all;
    }
    for far in subsets(piece.len()) {
        let corner: Dims =
            (0..piece.len()).map(|d| if far.contains(&d) { slack[d] } else { 0 }).collect();
        if !all.contains(&corner) {
            all.push(corner);
        }
    }
    match (ties, piece.len()) {
        (Ties::Original, 3) => {
            let triples = all.iter().map(|at| [at[0], at[1], at[2]]);
            ties.sort(triples).iter().map(|at| Dims::from_slice(at)).collect()
        }
        _ => all,
    }
}

/// Places the pieces of a shape on free nodes of cubes, in the first orientation that fits.
///
/// **O(p · c · m)** for each orientation, with *p* kinds of pieces, *c* cubes and *m* nodes of a
/// cube.
pub(super) fn place(cubes: &Cubes, shape: &[u32], ties: Ties) -> Option<Placement> {
    orientations(shape, Rotation::IfNeeded).find_map(|sides| place_as(cubes, &sides, ties))
}

fn place_as(cubes: &Cubes, shape: &[u32], ties: Ties) -> Option<Placement> {
    let (side, kinds) = (cubes.side, kinds(shape, cubes.side));
    // Most shapes that do not fit need more cubes than there are.
    if kinds.iter().map(|(number, _)| number).sum::<usize>() > cubes.len() {
        return None;
    }
    let beside_cubes = kinds.first().is_some_and(|(_, piece)| piece.iter().all(|&own| own == side));
    let mut taken = vec![false; cubes.len()];
    let mut placement = Placement::default();
    for (number, piece) in kinds {
        let nodes = piece.iter().product();
        let open: Vec<usize> =
            (0..cubes.len()).filter(|&cube| !taken[cube] && cubes.idle[cube] >= nodes).collect();
        if open.len() < number {
            return None;
        }
        let (corner, chosen) =
            corners(&piece, side, beside_cubes, ties).into_iter().find_map(|corner| {
                let wanted = cubes.bits_of(&corner, &piece);
                let found = first_free(cubes, &open, &wanted, number)?;
                Some((corner, found))
            })?;
        for cube in chosen {
            taken[cube] = true;
            placement.blocks.push(cubes.block(cube, &corner, &piece));
        }
    }
    Some(placement)
}

/// First `number` cubes of the list `open` in which all nodes of the set `wanted` are free.
///
/// `None` if there are fewer such cubes.
fn first_free(cubes: &Cubes, open: &[usize], wanted: &Bits, number: usize) -> Option<Vec<usize>> {
    let free = open.iter().copied().filter(|&cube| cubes.are_free(cube, wanted));
    let found: Vec<usize> = free.take(number).collect();
    (found.len() == number).then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shape_is_cubes_faces_edges_and_a_corner() {
        let of = |shape: &[u32]| -> Vec<(usize, Vec<u32>)> {
            kinds(shape, 4).into_iter().map(|(number, piece)| (number, piece.to_vec())).collect()
        };
        assert_eq!(of(&[8, 4, 4]), [(2, vec![4, 4, 4])]);
        let all = of(&[9, 10, 7]);
        let expected = [
            (4, [4, 4, 4]), // 2 x 2 x 1
            (4, [4, 4, 3]),
            (2, [4, 2, 4]),
            (2, [1, 4, 4]),
            (2, [4, 2, 3]),
            (2, [1, 4, 3]),
            (1, [1, 2, 4]),
            (1, [1, 2, 3]),
        ];
        assert_eq!(all, expected.map(|(number, piece)| (number, piece.to_vec())));
        assert_eq!(of(&[1, 1, 6]), [(1, vec![1, 1, 4]), (1, vec![1, 1, 2])]);
        // In two dimensions there are whole squares, two kinds of edges, and corners.
        assert_eq!(of(&[6, 4]), [(1, vec![4, 4]), (1, vec![2, 4])]);
    }

    #[test]
    fn the_number_of_pieces_is_that_of_the_cubes_that_are_touched() {
        for a in 1..10 {
            for b in 1..10 {
                for c in 1..10 {
                    let pieces: usize = kinds(&[a, b, c], 4).iter().map(|(number, _)| number).sum();
                    assert_eq!(pieces as u64, super::super::cubes_needed(&[a, b, c], 4));
                    let nodes: u32 = kinds(&[a, b, c], 4)
                        .iter()
                        .map(|(number, piece)| *number as u32 * piece.iter().product::<u32>())
                        .sum();
                    assert_eq!(nodes, a * b * c);
                }
            }
        }
    }
}
