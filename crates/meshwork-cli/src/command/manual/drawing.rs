//! What an allocator does, as a drawing: a fixed history on a small machine.

use meshwork::catalogue::Catalogue;
use meshwork::job::{Request, Time};
use meshwork::pool::Pool;
use meshwork::registry::{About, entry};
use meshwork::topology::Wiring;

use crate::picture::{Cell, Letters, Map};

/// What the drawings have in common, for the page of all allocators.
pub(super) const HISTORY: &str = "On the page of each is a drawing, made by the allocator itself. It is always the same story. On a \
    mesh of 16 × 8 the jobs A to H ask for 5 × 3, 4 × 4, 3 × 2, 6 × 2, 2 × 5, 4 × 3, 3 × 3 and 5 × 2 processors; B, D and F \
    end; and I, J and K ask for 2 × 3, 4 × 2 and 5 × 2. On a hypercube of dimension 6, which is drawn as a Karnaugh map, they ask for \
    subcubes of dimension 3, 2, 1, 3, 0, 2, 1 and 3; B, D and F end; and I, J and K ask for dimension 1, 2 and 2. A dot is a \
    free processor; a job that is not there has found no room.\n\n";

/// Jobs that come, jobs that go (by their place), and jobs that come then.
const BLOCKS: [&[[u32; 2]]; 2] =
    [&[[5, 3], [4, 4], [3, 2], [6, 2], [2, 5], [4, 3], [3, 3], [5, 2]], &[[2, 3], [4, 2], [5, 2]]];
const CUBES: [&[u32]; 2] = [&[3, 2, 1, 3, 0, 2, 1, 3], &[1, 2, 2]];
const GOING: [usize; 3] = [1, 3, 5];

/// The drawing, with what stands around it; nothing for an allocator that the machine does not suit.
pub(super) fn of(catalogue: &Catalogue, about: &About) -> String {
    let serves = entry(catalogue.allocators(), about.name).serves;
    let is_cube = !serves.contains(&Wiring::Mesh);
    let machine = if is_cube {
        "topology = 'hypercube', dimension = 6"
    } else {
        "topology = 'mesh', dims = [16, 8]"
    };
    let table = format!("machine = {{ {machine} }}\nallocator = '{}'", about.name);
    let table = table.parse().expect("it is written right");
    let Ok(pool) = Pool::read_in(catalogue, &table) else { return String::new() };
    let (first, then): (Vec<Request>, Vec<Request>) = if is_cube {
        let [first, then] =
            CUBES.map(|cubes| cubes.iter().map(|&k| Request::Subcube(k)).collect::<Vec<_>>());
        (first, then)
    } else {
        let [first, then] = BLOCKS
            .map(|blocks| blocks.iter().map(|sides| Request::block(sides)).collect::<Vec<_>>());
        (first, then)
    };
    let caption = "What it makes of [the story that all of them are told](README.md):";
    format!("{caption}\n\n```text\n{}```\n\n", drawn(pool, &first, &then))
}

fn drawn(mut pool: Pool, first: &[Request], then: &[Request]) -> String {
    let mut letters = Letters::default();
    let mut holders = Vec::new();
    let mut instant = 0.0;
    let mut come = |pool: &mut Pool, requests: &[Request], holders: &mut Vec<_>| {
        for request in requests {
            instant += 1.0;
            pool.advance(Time::new(instant)).expect("time goes on");
            let letter = letters.take();
            holders.push((letter, pool.allocate(request)));
        }
    };
    come(&mut pool, first, &mut holders);
    for place in GOING {
        if let Some(placement) = holders[place].1.take() {
            pool.release(&placement).expect("it is held");
        }
    }
    come(&mut pool, then, &mut holders);
    let site = pool.site();
    let mut owner = vec!['.'; site.nodes() as usize];
    for (letter, placement) in &holders {
        for node in placement.iter().flat_map(|placement| placement.nodes(site.grid())) {
            owner[node as usize] = *letter;
        }
    }
    let map = Map::new(site.topology(), 80);
    let (width, height) = map.size();
    let mut text = String::new();
    for y in 0..height {
        let row: String = (0..width)
            .flat_map(|x| match map.cell(x, y) {
                Cell::Node(node) => [owner[node as usize], ' '],
                Cell::Label(label) => [label, ' '],
                Cell::Blank => [' ', ' '],
            })
            .collect();
        text += row.trim_end();
        text.push('\n');
    }
    text
}
