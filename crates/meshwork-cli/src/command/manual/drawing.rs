//! Pictures of allocators in the manual. Every allocator places the same sequence of jobs on a
//! small machine.

use meshwork::catalogue::Catalogue;
use meshwork::job::{Request, Time};
use meshwork::machine::Placement;
use meshwork::pool::Pool;
use meshwork::registry::About;
use meshwork::topology::Wiring;

use super::pictures::{Held, story};
use crate::picture::Letters;

/// Text on the jobs in the pictures of allocators, for the page that lists all allocators.
pub(super) const HISTORY: &str = "On the page of each is a picture, made by the allocator itself. It is always the same story. On a \
    mesh of 16 × 8 the jobs A to H ask for 5 × 3, 4 × 4, 3 × 2, 6 × 2, 2 × 5, 4 × 3, 3 × 3 and 5 × 2 processors; B, D and F \
    end; and I, J and K ask for 2 × 3, 4 × 2 and 5 × 2. On a hypercube of dimension 6, which is drawn as a Karnaugh map, they ask for \
    subcubes of dimension 3, 2, 1, 3, 0, 2, 1 and 3; B, D and F end; and I, J and K ask for dimension 1, 2 and 2. Grey squares are \
    free processors, dashed ones were those of B, D and F; a job without a letter in the picture found no room.\n\n";

/// Sides of the jobs in pictures of allocators on a mesh: first the early jobs, then the late ones.
///
/// Some early jobs end before the late jobs arrive; `GOING` has their indices. For pictures of
/// hypercubes, `CUBES` has the dimensions of the early jobs and of the late ones.
const BLOCKS: [&[[u32; 2]]; 2] =
    [&[[5, 3], [4, 4], [3, 2], [6, 2], [2, 5], [4, 3], [3, 3], [5, 2]], &[[2, 3], [4, 2], [5, 2]]];
const CUBES: [&[u32]; 2] = [&[3, 2, 1, 3, 0, 2, 1, 3], &[1, 2, 2]];
const GOING: [usize; 3] = [1, 3, 5];

/// SVG picture of an allocator; `None` if the allocator does not serve the pictured machine.
pub(super) fn of(catalogue: &Catalogue, about: &About) -> Option<String> {
    let serves = catalogue.entry::<meshwork::alloc::AllocatorEntry>(about.name).serves;
    let is_cube = !serves.contains(&Wiring::Mesh);
    let machine = if is_cube {
        "topology = 'hypercube', dimension = 6"
    } else {
        "topology = 'mesh', dims = [16, 8]"
    };
    let table = format!("machine = {{ {machine} }}\nallocator = '{}'", about.name);
    let table = table.parse().expect("it is written right");
    let pool = Pool::read_in(catalogue, &table).ok()?;
    let [first, then]: [Vec<Request>; 2] = if is_cube {
        CUBES.map(|cubes| cubes.iter().map(|&k| Request::Subcube(k)).collect())
    } else {
        BLOCKS.map(|blocks| blocks.iter().map(|sides| Request::block(sides)).collect())
    };
    Some(drawn(about.name, pool, &first, &then))
}

fn drawn(name: &str, mut pool: Pool, first: &[Request], then: &[Request]) -> String {
    let mut letters = Letters::default();
    let mut jobs: Vec<(char, Option<Placement>)> = Vec::new();
    let mut instant = 0.0;
    let mut come = |pool: &mut Pool, requests: &[Request], jobs: &mut Vec<_>| {
        for request in requests {
            instant += 1.0;
            pool.advance(Time::new(instant)).expect("time goes on");
            jobs.push((letters.take(), pool.allocate(request)));
        }
    };
    come(&mut pool, first, &mut jobs);
    for place in GOING {
        if let Some(placement) = &jobs[place].1 {
            pool.release(placement).expect("it is held");
        }
    }
    come(&mut pool, then, &mut jobs);
    let held = |(number, (letter, placement)): (usize, &(char, Option<Placement>))| Held {
        letter: *letter,
        placement: placement.clone(),
        has_gone: GOING.contains(&number),
    };
    story(name, &pool, &jobs.iter().enumerate().map(held).collect::<Vec<_>>())
}
