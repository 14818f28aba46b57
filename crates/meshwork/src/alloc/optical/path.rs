//! Search for a path through the free nodes of a cube, by which a line of nodes winds through it.
//!
//! The path has a given number of nodes, and begins and ends on faces of the cube.

use super::cubes::{Cubes, for_each_place};

/// Description of a path search in a cube, for a function that limits the number of its steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PathSearch {
    /// Index of the cube; cubes are in lexicographic order of their coordinates.
    pub cube: usize,
    /// Number of nodes of the path to be found.
    pub nodes: u32,
    /// Dimension perpendicular to the two faces on which the path may begin and end.
    pub axis: usize,
}

/// For each position in a cube, the positions of its neighbours. The cube is treated as a small
/// torus.
///
/// Neighbours at lower positions come first, in ascending order. Neighbours at higher positions
/// follow, dimension by dimension.
pub(super) fn neighbours(side: u32, dimensions: usize) -> Vec<Vec<usize>> {
    let sides = vec![side; dimensions];
    let place = |at: &[u32]| at.iter().fold(0, |place, &own| place * side as usize + own as usize);
    let mut all = Vec::new();
    for_each_place(&sides, |at| {
        let own = place(at);
        let (mut before, mut behind) = (Vec::new(), Vec::new());
        for d in 0..dimensions {
            let mut along: Vec<u32> = vec![(at[d] + 1) % side, (at[d] + side - 1) % side];
            along.sort_unstable();
            along.dedup();
            for next in along.into_iter().filter(|&next| next != at[d]) {
                let mut there = at.to_vec();
                there[d] = next;
                let there = place(&there);
                if there < own { before.push(there) } else { behind.push(there) }
            }
        }
        before.sort_unstable();
        before.append(&mut behind);
        all.push(before);
    });
    all
}

/// The first path of free nodes that a depth-first search finds in a cube.
///
/// The ends of the path lie on faces of the cube across the dimension `axis`. `None` if no path is
/// found within `budget` steps, where one step is a search for the next node. Without a budget, the
/// number of steps may be exponential in the number of nodes of the cube.
pub(super) fn find(
    cubes: &Cubes,
    neighbours: &[Vec<usize>],
    search: PathSearch,
    budget: u64,
) -> Option<Vec<usize>> {
    let PathSearch { cube, nodes, axis, .. } = search;
    if nodes < 2 || budget == 0 {
        return None;
    }
    let on_face = |place: usize| {
        let below = cubes.dimensions - 1 - axis;
        let at = place / (cubes.side as usize).pow(below as u32) % cubes.side as usize;
        at == 0 || at + 1 == cubes.side as usize
    };
    let is_free: Vec<bool> =
        (0..neighbours.len()).map(|place| cubes.is_free(cube, place)).collect();
    let ends: Vec<usize> =
        (0..neighbours.len()).filter(|&place| is_free[place] && on_face(place)).collect();
    let longest = nodes as usize - 1;
    let mut left = budget;
    let mut on_path = vec![false; neighbours.len()];
    // The path, with the index of the next neighbour to try at each node.
    let mut path: Vec<(usize, usize)> = Vec::new();
    for &from in &ends {
        for &to in ends.iter().filter(|&&to| to != from) {
            path.push((from, 0));
            on_path[from] = true;
            while let Some((last, looked)) = path.last_mut() {
                left = left.checked_sub(1)?;
                let mut further = neighbours[*last][*looked..].iter().copied();
                let next = further.position(|next| is_free[next] && !on_path[next]);
                let Some(ahead) = next else {
                    on_path[*last] = false;
                    path.pop();
                    continue;
                };
                let next = neighbours[*last][*looked + ahead];
                *looked += ahead + 1;
                if next == to {
                    if path.len() == longest {
                        let mut found: Vec<usize> = path.iter().map(|(place, _)| *place).collect();
                        found.push(to);
                        return Some(found);
                    }
                } else if path.len() < longest {
                    on_path[next] = true;
                    path.push((next, 0));
                }
            }
        }
    }
    None
}
