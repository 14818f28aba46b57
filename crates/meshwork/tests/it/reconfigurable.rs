//! Tests of slices of a reconfigurable torus: random cases and cases made by hand.
//!
//! Random machines are compared with a slow definition.

use crate::common::{job, run, scenario};
use meshwork::job::{Dims, Request};
use meshwork::machine::{Block, Placement};
use meshwork::pool::Pool;
use meshwork::rng::Stream;

fn pool(dims: &[u32], allocator: &str) -> Pool {
    let table = format!(
        "machine = {{ topology = 'torus', dims = {dims:?} }}\nallocator = {{ name = 'reconfigurable', {allocator} }}"
    );
    Pool::read(&table.parse().unwrap()).unwrap_or_else(|problem| panic!("{problem}"))
}

fn text(pool: &Pool, placed: Option<&Placement>) -> String {
    placed.map_or_else(|| "none".to_owned(), |placed| placed.text(pool.site().grid()))
}

/// Corners and sides of the parts of a cube, by level.
///
/// Level 0 has the whole cube. Each further level has the halves of the parts one level before.
fn parts(side: u32, dimensions: usize) -> Vec<Vec<(Vec<u32>, Vec<u32>)>> {
    let mut levels = vec![vec![(vec![0; dimensions], vec![side; dimensions])]];
    loop {
        let last = levels.last().unwrap();
        let sides = &last[0].1;
        let longest = *sides.iter().max().unwrap();
        if longest % 2 == 1 {
            return levels;
        }
        let d = sides.iter().rposition(|&own| own == longest).unwrap();
        let mut next = Vec::new();
        for (corner, sides) in last {
            let mut half = sides.clone();
            half[d] /= 2;
            let mut far = corner.clone();
            far[d] += half[d];
            next.push((corner.clone(), half.clone()));
            next.push((far, half));
        }
        levels.push(next);
    }
}

/// Expected nodes of a box, found by trying all cubes and parts of cubes. `None` if the box does
/// not fit.
fn by_definition(pool: &Pool, side: u32, is_static: bool, sides: &[u32]) -> Option<Vec<u32>> {
    let (site, grid) = (pool.site(), pool.site().grid());
    let dimensions = sides.len();
    let counts: Vec<u32> = grid.sides().iter().map(|own| own / side).collect();
    let mut cubes: Vec<Vec<u32>> = vec![Vec::new()];
    for &count in &counts {
        cubes = cubes
            .iter()
            .flat_map(|cube| (0..count).map(move |at| [cube.as_slice(), &[at * side]].concat()))
            .collect();
    }
    let nodes = |corner: &[u32], sides: &[u32]| {
        let block = Block { base: grid.node(corner), sides: Dims::from_slice(sides) };
        Placement::from(block).nodes(grid)
    };
    let is_free = |nodes: &[u32]| nodes.iter().all(|&node| site.free().contains(node));
    let whole = vec![side; dimensions];
    if sides.iter().all(|own| own % side == 0) {
        if is_static {
            let mut orders: Vec<Vec<usize>> = vec![Vec::new()];
            for _ in 0..dimensions {
                let all = 0..dimensions;
                orders = orders
                    .iter()
                    .flat_map(|order| {
                        all.clone()
                            .filter(|d| !order.contains(d))
                            .map(|d| [order.as_slice(), &[d]].concat())
                            .collect::<Vec<_>>()
                    })
                    .collect();
            }
            return orders.into_iter().find_map(|order| {
                let turned: Vec<u32> = order.iter().map(|&d| sides[d]).collect();
                if turned.iter().zip(grid.sides()).any(|(own, most)| own > most) {
                    return None;
                }
                let mut corners = cubes.clone();
                corners.sort_by_key(|corner| grid.node(corner));
                corners.into_iter().map(|corner| nodes(&corner, &turned)).find(|own| is_free(own))
            });
        }
        let number: u32 = sides.iter().map(|own| own / side).product();
        let free = cubes.iter().map(|corner| nodes(corner, &whole)).filter(|own| is_free(own));
        let found: Vec<Vec<u32>> = free.take(number as usize).collect();
        return (found.len() == number as usize).then(|| found.concat());
    }
    let mut wanted = sides.to_vec();
    wanted.sort_unstable();
    let levels = parts(side, dimensions);
    let level = levels.iter().position(|level| {
        let mut own = level[0].1.clone();
        own.sort_unstable();
        own == wanted
    })?;
    let mut best: Option<((usize, usize, usize, usize), Vec<u32>)> = None;
    for (index, cube) in cubes.iter().enumerate() {
        let at = |corner: &[u32]| -> Vec<u32> {
            corner.iter().zip(cube).map(|(own, cube)| own + cube).collect()
        };
        let idle = nodes(cube, &whole).iter().filter(|&&node| site.free().contains(node)).count();
        for (place, (corner, own)) in levels[level].iter().enumerate() {
            let these = nodes(&at(corner), own);
            if !is_free(&these) {
                continue;
            }
            // The largest free part that contains these nodes.
            let around = (0..=level)
                .find(|&larger| {
                    let run = place >> (level - larger);
                    let (corner, own) = &levels[larger][run];
                    is_free(&nodes(&at(corner), own))
                })
                .unwrap();
            let key = (idle, index, level - around, place);
            if best.as_ref().is_none_or(|(least, _)| key < *least) {
                best = Some((key, these));
            }
        }
    }
    best.map(|(_, nodes)| nodes)
}

#[test]
fn a_slice_is_its_definition_on_random_machines() {
    let machines: [(&[u32], u32); 5] =
        [(&[8, 8, 8], 4), (&[8, 4, 12], 4), (&[16, 16], 8), (&[6, 4], 2), (&[6, 12], 6)];
    let mut placed = 0;
    for joined in ["optical", "static"] {
        for (dims, side) in machines {
            let mut rng = Stream::new(8, u64::from(side), joined);
            let mut pool = pool(dims, &format!("cube = {side}, joined = '{joined}'"));
            let mut held: Vec<Placement> = Vec::new();
            for _ in 0..150 {
                let sides: Vec<u32> = if rng.below(3) == 0 {
                    dims.iter()
                        .map(|own| side * (1 + rng.below(u64::from(own / side)) as u32))
                        .collect()
                } else {
                    let levels = parts(side, dims.len());
                    let level = &levels[rng.below(levels.len() as u64) as usize];
                    let mut sides = level[0].1.clone();
                    sides.rotate_left(rng.below(dims.len() as u64) as usize);
                    sides
                };
                let expected = by_definition(&pool, side, joined == "static", &sides);
                if rng.below(5) < 3 || held.is_empty() {
                    let found = pool.allocate(&Request::block(&sides));
                    let nodes = found.as_ref().map(|placed| {
                        let mut nodes = placed.nodes(pool.site().grid());
                        nodes.sort_unstable();
                        nodes
                    });
                    let expected = expected.map(|mut nodes| {
                        nodes.sort_unstable();
                        nodes
                    });
                    assert_eq!(nodes, expected, "{joined} {sides:?} on\n{}", pool.site().drawing());
                    placed += u32::from(found.is_some());
                    held.extend(found);
                } else {
                    let gone = held.swap_remove(rng.below(held.len() as u64) as usize);
                    pool.release(&gone).unwrap();
                }
            }
        }
    }
    assert!(placed > 300, "{placed}");
}

#[test]
fn any_free_cubes_make_a_slice_but_not_where_they_must_lie_side_by_side() {
    for (joined, expected) in [("optical", "0,4,0:4x4x4;4,0,0:4x4x4"), ("static", "none")] {
        let mut pool = pool(&[8, 8, 4], &format!("cube = 4, joined = '{joined}'"));
        let cube = |base| Placement::from(Block { base, sides: [4, 4, 4].as_slice().into() });
        pool.adopt(&cube(0)).unwrap();
        pool.adopt(&cube(4 + 8 * 4)).unwrap();
        let found = pool.allocate(&Request::block(&[8, 4, 4]));
        assert_eq!(text(&pool, found.as_ref()), expected);
    }
}

#[test]
fn small_slices_share_a_cube_before_a_free_one_is_opened() {
    let mut pool = pool(&[8, 4, 4], "cube = 4");
    let mut take = |sides: [u32; 3]| {
        let found = pool.allocate(&Request::block(&sides));
        text(&pool, found.as_ref())
    };
    assert_eq!(take([2, 2, 1]), "0,0,0:2x2x1");
    assert_eq!(take([2, 4, 4]), "0,0,2:4x4x2");
    assert_eq!(
        take([2, 2, 2]),
        "2,0,0:2x2x2",
        "the smallest part that is free, not half of a larger"
    );
    assert_eq!(take([2, 2, 1]), "0,0,1:2x2x1");
    assert_eq!(take([4, 4, 4]), "4,0,0:4x4x4");
    assert_eq!(take([4, 4, 4]), "none");
    assert_eq!(take([4, 2, 2]), "0,2,0:4x2x2");
}

#[test]
fn a_chip_that_failed_spoils_its_cube_for_all_that_needs_it_whole() {
    let mut pool = pool(&[8, 4, 4], "cube = 4, failed = [0]");
    let two = Request::block(&[8, 4, 4]);
    assert!(!pool.could_hold(&two));
    let one = pool.allocate(&Request::block(&[4, 4, 4]));
    assert_eq!(text(&pool, one.as_ref()), "4,0,0:4x4x4");
    let host = pool.allocate(&Request::block(&[1, 2, 2]));
    assert_eq!(text(&pool, host.as_ref()), "0,0,1:2x2x1", "beside the one that failed");
    let half = pool.allocate(&Request::block(&[2, 4, 4]));
    assert_eq!(text(&pool, half.as_ref()), "0,0,2:4x4x2");
}

#[test]
fn what_is_no_slice_is_refused_in_a_sentence_or_rounded_up() {
    let mut listed = pool(&[8, 8, 4], "cube = 4, parts = [4, 8, 16, 32]");
    let odd = Request::block(&[3, 3, 4]);
    assert!(!listed.could_hold(&odd));
    assert_eq!(
        listed.never(&odd).unwrap(),
        "3x3x4 is no slice of this machine, which are 1x2x2, 2x2x2, 2x2x4, 2x4x4, or sides that are multiples of 4, \
         of at most 4 cubes"
    );
    assert!(listed.never(&Request::block(&[1, 1, 1])).is_some(), "a part that is not handed out");
    assert_eq!(listed.never(&Request::block(&[4, 4, 16])), None, "any four cubes");
    assert!(listed.never(&Request::block(&[4, 4, 20])).is_some());
    let found = listed.allocate(&Request::Nodes(3));
    assert_eq!(
        text(&listed, found.as_ref()),
        "0,0,0:2x2x1",
        "a count gets the smallest that holds it"
    );
    let mut rounded = pool(&[8, 8, 4], "cube = 4, shapes = 'rounded'");
    let found = rounded.allocate(&odd);
    assert_eq!(text(&rounded, found.as_ref()), "0,0,0:4x4x4");
    let found = rounded.allocate(&Request::block(&[5, 1, 1]));
    assert_eq!(text(&rounded, found.as_ref()), "0,4,0:4x4x4;4,0,0:4x4x4");
}

#[test]
fn parameters_that_do_not_suit_the_machine_are_one_sentence() {
    let refused = |allocator: &str| {
        let table = format!(
            "machine = {{ topology = 'torus', dims = [8, 4] }}\nallocator = {{ name = 'reconfigurable', {allocator} }}"
        );
        Pool::read(&table.parse().unwrap()).err().unwrap().message
    };
    assert_eq!(
        refused("cube = 3"),
        "`allocator.cube` is 3, but must divide every side of the machine, which is 8x4"
    );
    assert_eq!(
        refused("cube = 4, parts = [3]"),
        "`allocator.parts` has 3, but the parts of a cube have 1, 2, 4, 8, 16 nodes"
    );
    assert_eq!(
        refused("failed = [32]"),
        "`allocator.failed` has 32, but the nodes of the machine are 0 to 31"
    );
}

#[test]
fn joining_cubes_takes_its_time_before_the_job_begins() {
    let text = "machine = { topology = 'torus', dims = [8, 4, 4] }\nscheduler = 'easy'\n\
                allocator = { name = 'reconfigurable', cube = 4, reconfiguration_time = 10.0 }\n\
                measure = { metrics = ['turnaround'] }";
    let jobs = vec![
        job(0.0, Request::block(&[8, 4, 4]), 100.0),
        job(1.0, Request::block(&[4, 4, 4]), 100.0),
    ];
    let (_, transcript) = run(&scenario(text), jobs);
    let ends: Vec<&str> = transcript.lines().filter(|line| line.contains("finished")).collect();
    assert_eq!(ends, ["110 finished 0", "210 finished 1"], "one cube needs no joining");
}
