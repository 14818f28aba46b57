//! Allocators of subcubes of a hypercube.

mod lists;
pub mod buddy;
pub mod modified_buddy;
pub mod gray_code;
pub mod multiple_gray_code;
pub mod free_list;
pub mod maximal_subcubes;
pub mod tree_collapsing;
pub mod prime_cube_graph;
pub mod noncubic;

use lists::CubeLists;

use crate::alloc::RecallError;
use crate::geometry::cube::Subcube;
use crate::machine::Site;
use crate::topology::Node;

/// Encodes a subcube as a number, to save the state of an allocator.
pub(super) fn number(cube: Subcube) -> u64 {
    u64::from(cube.base) << 32 | u64::from(cube.mask)
}

/// Decodes free subcubes from [numbers](number); an error unless they contain each free node once.
pub(super) fn free_subcubes(memory: &[u64], site: &Site) -> Result<Vec<Subcube>, RecallError> {
    let mut rest = site.free().clone();
    let mut cubes = Vec::with_capacity(memory.len());
    for &number in memory {
        let cube = Subcube { base: (number >> 32) as Node, mask: number as u32 };
        let is_one = cube.base & cube.mask == 0 && cube.base | cube.mask < site.nodes();
        if !is_one || !cube.is_within(&rest) {
            return Err(RecallError::NotTheFreeNodes);
        }
        cube.take_from(&mut rest);
        cubes.push(cube);
    }
    if rest.is_empty() { Ok(cubes) } else { Err(RecallError::NotTheFreeNodes) }
}
