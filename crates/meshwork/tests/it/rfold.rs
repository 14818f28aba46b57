//! Compares the five placement methods of RFold with recorded runs of its own program, job by job.
//!
//! Further cases are made by hand. The recorded runs are not part of the project; without them the
//! tests that need them print a note and pass.

use std::path::Path;

use crate::common::{job, positions, run, scenario, starts};
use crate::rfold_program::{Program, Submitted, Way};
use meshwork::alloc::optical::rfold::Rfold;
use meshwork::alloc::optical::{Ties, cubes_needed, folded_for_cubes, folded_for_torus};
use meshwork::job::Request;
use meshwork::machine::{Block, Placement, Site};
use meshwork::pool::Pool;
use meshwork::rng::Stream;
use meshwork::topology::{Grid, Topology};
use serde_json::Value as Json;

/// Recorded runs of RFold's program; prints a note and returns `None` if there is no copy of them.
#[expect(clippy::print_stderr, reason = "a test that is skipped says so")]
fn recorded() -> Option<Json> {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/placement/rfold-cases.json");
    let Ok(text) = std::fs::read_to_string(&path) else {
        eprintln!("SKIPPED: the recorded runs of RFold's program are not here");
        return None;
    };
    Some(serde_json::from_str(&text).expect("the record is JSON"))
}

fn numbers(text: &str) -> Vec<u32> {
    text.split(['x', ',']).map(|number| number.parse().unwrap()).collect()
}

fn triple(text: &str) -> [u32; 3] {
    numbers(text).try_into().unwrap()
}

fn trace(record: &Json, name: &str) -> Vec<Submitted> {
    let rows = record["traces"][name].as_array().unwrap();
    let job = |row: &Json| Submitted {
        id: row[0].as_u64().unwrap(),
        arrival: row[1].as_u64().unwrap(),
        duration: row[2].as_u64().unwrap(),
        shape: triple(row[3].as_str().unwrap()),
    };
    rows.iter().map(job).collect()
}

fn way(run: &Json) -> Way {
    match run["policy"].as_str().unwrap() {
        "firstfit" => Way::FirstFit,
        "folding" => Way::Folding,
        "reconfig" => Way::Reconfigurable,
        "rfold" => Way::Rfold,
        "slurm_hilbert" => Way::Hilbert,
        other => panic!("no way is called {other}"),
    }
}

/// Ties are broken as in RFold's program.
///
/// Where the program broke off a search at its time limit, the model's search is made to find
/// nothing.
#[test]
fn every_job_of_every_recorded_run_goes_where_it_went() {
    let Some(record) = recorded() else { return };
    let runs = record["runs"].as_array().unwrap();
    let mut jobs = 0;
    for run in runs {
        let name = run["name"].as_str().unwrap();
        let dims = triple(run["dim"].as_str().unwrap());
        let side = run["rsize"].as_u64().unwrap() as u32;
        let failed: Vec<[u32; 3]> = run["failed"].as_array().unwrap().iter().map(node).collect();
        let searches = run["paths"].as_array().unwrap().iter();
        let mut searches = searches.map(|search| {
            let number = |at: usize| search[at].as_u64().unwrap();
            let cube: Vec<u64> =
                search[2].as_array().unwrap().iter().map(|at| at.as_u64().unwrap()).collect();
            let counts = dims.map(|own| u64::from(own / side));
            let cube = (cube[0] * counts[1] + cube[1]) * counts[2] + cube[2];
            let asked = (cube as usize, number(3) as u32, number(4) as usize);
            let is_cut = number(5) == 0 && number(7) == 1;
            (asked, if is_cut { 0 } else { u64::MAX })
        });
        let mut budget = |search: meshwork::alloc::optical::PathSearch| {
            let (asked, budget) = searches.next().expect("no search that was not made");
            assert_eq!(asked, (search.cube, search.nodes, search.axis), "{name}");
            budget
        };
        let trace = trace(&record, run["trace"].as_str().unwrap());
        let program = Program::new(dims, side, way(run), &failed, Ties::Original, trace);
        let rows = program.run(&mut budget);
        assert!(searches.next().is_none(), "{name}: searches are left");
        let recorded = run["jobs"].as_array().unwrap();
        assert_eq!(recorded.len(), rows.len(), "{name}");
        for (row, own) in recorded.iter().zip(rows) {
            jobs += 1;
            assert_eq!(row[0].as_u64(), Some(own.id), "{name}");
            let Some(started) = own.started else {
                assert!(row[1].is_null(), "{name}: job {} is dropped", own.id);
                continue;
            };
            let ended = started.start + own.duration;
            assert_eq!(row[1].as_u64(), Some(started.start), "{name}: start of {}", own.id);
            assert_eq!(row[2].as_u64(), Some(ended), "{name}: end of {}", own.id);
            let mut shape = triple(row[3].as_str().unwrap());
            shape.sort_unstable();
            assert_eq!(shape, started.shape, "{name}: shape of {}", own.id);
            assert_eq!(row[6].as_u64(), Some(started.crc), "{name}: nodes of {}", own.id);
            let waits = (row[7].as_u64(), row[8].as_u64());
            assert_eq!(waits, (Some(own.waits[0]), Some(own.waits[1])), "{name}: {}", own.id);
        }
    }
    assert!(runs.len() >= 10 && jobs > 3000, "{} runs, {jobs} jobs", runs.len());
}

/// The model breaks ties by order, and limits searches by steps.
///
/// RFold's program breaks ties by the iteration order of sets, and limits searches by the clock. So
/// schedules differ.
#[test]
fn with_the_stated_order_and_a_budget_of_steps_jobs_take_about_as_long() {
    let Some(record) = recorded() else { return };
    let mut compared = 0;
    for run in record["runs"].as_array().unwrap() {
        let name = run["name"].as_str().unwrap();
        let way = way(run);
        if matches!(way, Way::FirstFit | Way::Hilbert)
            || !run["failed"].as_array().unwrap().is_empty()
        {
            continue;
        }
        let dims = triple(run["dim"].as_str().unwrap());
        let side = run["rsize"].as_u64().unwrap() as u32;
        let trace = trace(&record, run["trace"].as_str().unwrap());
        let program = Program::new(dims, side, way, &[], Ties::Listed, trace.clone());
        let rows = program.run(&mut |_| 200_000);
        let times: Vec<f64> = rows
            .iter()
            .zip(&trace)
            .filter_map(|(row, job)| {
                let started = row.started.as_ref()?;
                Some((started.start + job.duration - job.arrival) as f64)
            })
            .collect();
        let mean = times.iter().sum::<f64>() / times.len() as f64;
        let ratio = mean / run["jct_mean"].as_f64().unwrap();
        let done = run["n_done"].as_u64().unwrap() as f64;
        assert!((0.75..1.3).contains(&ratio), "{name}: {ratio}");
        assert!((times.len() as f64 - done).abs() <= 0.05 * done, "{name}: {}", times.len());
        compared += 1;
    }
    assert!(compared >= 7, "{compared}");
}

/// Coordinates from a node name such as `x1-y2-z3`.
fn node(name: &Json) -> [u32; 3] {
    let name = name.as_str().unwrap();
    let parts: Vec<u32> = name.split('-').map(|part| part[1..].parse().unwrap()).collect();
    parts.try_into().unwrap()
}

/// If two jobs end at one instant, RFold's program may notice only the first end.
///
/// In the logs of this test, no two jobs end at one instant.
#[test]
fn in_studies_every_job_starts_when_it_does_in_the_program() {
    let mut rng = Stream::new(7, 0, "traces");
    for way in [Way::FirstFit, Way::Hilbert, Way::Reconfigurable, Way::FirstFit, Way::Hilbert] {
        let mut now = 0;
        let trace: Vec<Submitted> = (0..150)
            .map(|id| {
                now += 1 + rng.below(2_000_000_000);
                let shape = random_shape(12, &mut rng);
                Submitted { id, arrival: now, duration: 1 + rng.below(40_000_000_000), shape }
            })
            // As in the program's generator; it has no answer for a job that no machine of cubes
            // could hold.
            .filter(|job| {
                job.shape.iter().product::<u32>() <= 512 && cubes_needed(&job.shape, 4) <= 8
            })
            .collect();
        let jobs: Vec<_> = trace
            .iter()
            .map(|own| job(own.arrival as f64, Request::block(&own.shape), own.duration as f64))
            .collect();
        let scheduler = if way == Way::Reconfigurable { "fcfs" } else { "giving_up" };
        let text = format!(
            "machine = {{ topology = 'torus', dims = [8, 8, 8] }}\nallocator = {{ {} }}\nscheduler = '{scheduler}'",
            way.allocator(4, "original")
        );
        let found = starts(scenario(&text).setup(0).unwrap(), jobs);
        let program = Program::new([8, 8, 8], 4, way, &[], Ties::Original, trace.clone());
        let rows = program.run(&mut |_| u64::MAX);
        let (mut waited, mut dropped) = (0, 0);
        for ((row, own), job) in rows.iter().zip(found).zip(&trace) {
            let start = row.started.as_ref().map(|started| started.start as f64);
            assert_eq!(start, own, "{way:?}: job {}", job.id);
            waited += u32::from(start.is_some_and(|start| start > job.arrival as f64));
            dropped += u32::from(start.is_none());
        }
        assert!(
            waited > 10 && (dropped > 0 || way == Way::Reconfigurable),
            "{way:?} {waited} {dropped}"
        );
    }
}

/// Claims `held` random blocks, as far as their nodes are free.
fn random_site(topology: &Topology, held: u32, rng: &mut Stream) -> Site {
    let mut site = Site::new(topology.clone(), 1.0);
    for _ in 0..held {
        let grid = site.grid().clone();
        let base = rng.below(u64::from(grid.nodes())) as u32;
        let sides: Vec<u32> =
            grid.sides().iter().map(|&side| 1 + rng.below(u64::from(side / 2)) as u32).collect();
        let block = Block { base, sides: sides.as_slice().into() };
        let free = Placement::from(block).part_in(site.free(), &grid);
        if !free.is_empty() {
            site.claim(&free).unwrap();
        }
    }
    site
}

fn random_shape(most: u64, rng: &mut Stream) -> [u32; 3] {
    let flat = rng.below(3);
    [0, 1, 2].map(|d| if d < flat { 1 } else { 1 + rng.below(most) as u32 })
}

/// Placement that an allocator chooses in a pool with the free nodes of `site`.
fn chosen(site: &Site, allocator: &str, request: &Request) -> Option<Placement> {
    let table = format!(
        "machine = {{ topology = 'torus', dims = {:?} }}\nallocator = {allocator}",
        site.grid().sides()
    );
    let mut pool = Pool::read(&table.parse().unwrap()).unwrap();
    let mut held = site.free().clone();
    held.assign_complement(site.free());
    for node in held.iter() {
        let one = Block { base: node, sides: [1, 1, 1].as_slice().into() };
        pool.adopt(&one.into()).unwrap();
    }
    pool.allocate(request)
}

const ORDERS: [[usize; 3]; 6] = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];

/// Pieces in cubes of the given side, computed from coordinates by their definition.
fn pieces_by_definition(site: &Site, shape: [u32; 3], side: u32) -> Option<Vec<Vec<u32>>> {
    let grid = site.grid();
    let counts = [0, 1, 2].map(|d| grid.sides()[d] / side);
    let cubes: Vec<[u32; 3]> = positions(counts).map(|at| at.map(|own| own * side)).collect();
    let nodes = |cube: [u32; 3], at: [u32; 3], piece: [u32; 3]| -> Vec<u32> {
        let [x, y, z] = piece;
        // The first dimension is the fastest one.
        let all = positions([z, y, x]);
        all.map(|[z, y, x]| {
            grid.node(&[cube[0] + at[0] + x, cube[1] + at[1] + y, cube[2] + at[2] + z])
        })
        .collect()
    };
    ORDERS.iter().find_map(|order| {
        let s = order.map(|index| shape[index]);
        let (full, part) = (s.map(|own| own / side), s.map(|own| own % side));
        let r = side;
        let kinds = [
            (full[0] * full[1] * full[2], [r, r, r]),
            (full[0] * full[1], [r, r, part[2]]),
            (full[0] * full[2], [r, part[1], r]),
            (full[1] * full[2], [part[0], r, r]),
            (full[0], [r, part[1], part[2]]),
            (full[1], [part[0], r, part[2]]),
            (full[2], [part[0], part[1], r]),
            (1, part),
        ];
        let mut left = cubes.clone();
        let mut all = Vec::new();
        for (number, piece) in kinds {
            if number == 0 || piece.contains(&0) {
                continue;
            }
            let [a, b, c] = piece.map(|own| side - own);
            let places = if kinds[0].0 == 0 {
                positions([a + 1, b + 1, c + 1]).collect()
            } else {
                vec![
                    [0, 0, 0],
                    [a, 0, 0],
                    [0, b, 0],
                    [0, 0, c],
                    [a, b, 0],
                    [a, 0, c],
                    [0, b, c],
                    [a, b, c],
                ]
            };
            let found = places.into_iter().find_map(|at| {
                let free = |cube: &&[u32; 3]| {
                    nodes(**cube, at, piece).iter().all(|&node| site.free().contains(node))
                };
                let found: Vec<[u32; 3]> =
                    left.iter().filter(free).take(number as usize).copied().collect();
                (found.len() == number as usize).then_some((at, found))
            });
            let (at, found) = found?;
            for cube in found {
                left.retain(|other| *other != cube);
                all.push(nodes(cube, at, piece));
            }
        }
        Some(all)
    })
}

#[test]
fn pieces_are_their_definition() {
    let mut rng = Stream::new(3, 0, "pieces");
    let mut placed = 0;
    for round in 0..300_u32 {
        let (sides, side) =
            [([8, 8, 8], 4), ([8, 4, 12], 4), ([6, 6, 6], 2), ([6, 9, 3], 3)][round as usize % 4];
        let topology = Topology::torus(&sides).unwrap();
        let site = random_site(&topology, round % 7, &mut rng);
        let shape = random_shape(10, &mut rng);
        let allocator = format!("{{ name = 'reconfigurable_blocks', cube = {side} }}");
        let found = chosen(&site, &allocator, &Request::block(&shape)).map(|placed| {
            let one = |block: &Block| Placement::from(block.clone()).nodes(site.grid());
            placed.blocks.iter().map(one).collect::<Vec<_>>()
        });
        placed += u32::from(found.is_some());
        let expected = pieces_by_definition(&site, shape, side);
        assert_eq!(found, expected, "{shape:?} on\n{}", site.drawing());
    }
    assert!((50..290).contains(&placed), "{placed}");
}

/// Path of free nodes, found by trying every simple path in the order of neighbours.
fn path_by_definition(
    free: &dyn Fn([u32; 3]) -> bool,
    side: u32,
    nodes: usize,
    axis: usize,
) -> Option<Vec<[u32; 3]>> {
    let is_end = |at: &[u32; 3]| free(*at) && (at[axis] == 0 || at[axis] == side - 1);
    let ends: Vec<[u32; 3]> = positions([side; 3]).filter(is_end).collect();
    fn neighbours(at: [u32; 3], side: u32) -> Vec<[u32; 3]> {
        let (mut before, mut behind) = (Vec::new(), Vec::new());
        for d in 0..3 {
            for next in 0..side {
                let ring = (next + 1) % side == at[d] || (at[d] + 1) % side == next;
                let mut there = at;
                there[d] = next;
                if ring && there < at {
                    before.push(there);
                } else if ring && there > at {
                    behind.push(there);
                }
            }
        }
        before.sort_unstable();
        before.extend(behind);
        before
    }
    fn go_on(
        path: &mut Vec<[u32; 3]>,
        to: [u32; 3],
        nodes: usize,
        side: u32,
        free: &dyn Fn([u32; 3]) -> bool,
    ) -> bool {
        for next in neighbours(path[path.len() - 1], side) {
            if !free(next) || path.contains(&next) || (next == to) != (path.len() + 1 == nodes) {
                continue;
            }
            path.push(next);
            if next == to || go_on(path, to, nodes, side, free) {
                return true;
            }
            path.pop();
        }
        false
    }
    if nodes < 2 {
        return None;
    }
    for &from in &ends {
        for &to in ends.iter().filter(|&&to| to != from) {
            let mut path = vec![from];
            if go_on(&mut path, to, nodes, side, free) {
                return Some(path);
            }
        }
    }
    None
}

#[test]
fn a_line_is_wound_through_cubes_as_defined() {
    let mut rng = Stream::new(4, 0, "lines");
    let (mut wound, mut in_pieces) = (0, 0);
    for round in 0..240_u32 {
        let (sides, side) = [([4, 4, 4], 2), ([6, 3, 6], 3)][round as usize % 2];
        let topology = Topology::torus(&sides).unwrap();
        let mut site = random_site(&topology, round % 5, &mut rng);
        // Scattered single nodes leave cubes with few free nodes.
        for _ in 0..rng.below(30) {
            let base = rng.below(u64::from(site.nodes())) as u32;
            drop(site.claim(&Block { base, sides: [1, 1, 1].as_slice().into() }.into()));
        }
        let nodes = 2 + rng.below(20) as u32;
        let grid = site.grid().clone();
        let cube = |at: [u32; 3]| {
            let corner = at.map(|own| own * side);
            let node = |at: &[u32; 3]| grid.node(&[0, 1, 2].map(|d| corner[d] + at[d]));
            let is_free = |at: &[u32; 3]| site.free().contains(node(at));
            (corner, positions([side; 3]).filter(is_free).collect())
        };
        let cubes: Vec<([u32; 3], Vec<[u32; 3]>)> =
            positions(sides.map(|own| own / side)).map(cube).collect();
        let whole = side.pow(3) as usize;
        let mut used: Vec<_> =
            cubes.iter().filter(|(_, free)| free.len() > 1 && free.len() < whole).collect();
        let mut empty: Vec<_> = cubes.iter().filter(|(_, free)| free.len() == whole).collect();
        while used.iter().map(|(_, free)| free.len()).sum::<usize>() < nodes as usize {
            let Some(last) = empty.pop() else { break };
            used.push(last);
        }
        used.sort_by_key(|(_, free)| std::cmp::Reverse(free.len()));
        let mut expected: Option<Vec<u32>> = None;
        let mut line: Vec<u32> = Vec::new();
        for (corner, free) in &used {
            let missing = nodes as usize - line.len();
            let node = |at: &[u32; 3]| grid.node(&[0, 1, 2].map(|d| corner[d] + at[d]));
            if free.len() < missing {
                line.extend(free.iter().map(node));
                continue;
            }
            let is_free = |at: [u32; 3]| free.contains(&at);
            let end = [2, 1, 0]
                .into_iter()
                .find_map(|axis| path_by_definition(&is_free, side, missing, axis));
            expected = end.map(|end| {
                line.extend(end.iter().map(node));
                line.clone()
            });
            break;
        }
        let mut rfold = Rfold::new(&grid, side, Ties::Listed);
        let found = rfold.place([1, nodes, 1], &site, &mut |_| u64::MAX);
        let found = found.map(|placed| placed.nodes(&grid));
        match expected {
            Some(expected) => {
                wound += 1;
                assert_eq!(found, Some(expected), "{nodes} on\n{}", site.drawing());
            }
            None => {
                in_pieces += 1;
                let pieces = pieces_by_definition(&site, [1, nodes, 1], side);
                assert_eq!(found, pieces.map(|pieces| pieces.concat()));
            }
        }
        // With no steps there is no path, and the line comes in pieces.
        let cut = rfold.place([1, nodes, 1], &site, &mut |_| 0);
        let pieces = pieces_by_definition(&site, [1, nodes, 1], side);
        assert_eq!(cut.map(|placed| placed.nodes(&grid)), pieces.map(|pieces| pieces.concat()));
    }
    assert!(wound > 60 && in_pieces > 10, "{wound} {in_pieces}");
}

#[test]
fn folding_is_first_fit_of_the_folded_shape_and_rfold_pieces_of_it() {
    let mut rng = Stream::new(5, 0, "folds");
    let topology = Topology::torus(&[8, 8, 8]).unwrap();
    let mut folded = 0;
    for round in 0..120 {
        let site = random_site(&topology, round % 5, &mut rng);
        let shape = random_shape(16, &mut rng);
        let fold = folded_for_torus(shape, 8, Ties::Listed);
        let first_fit = "{ name = 'first_fit', rotation = 'if_needed', scan = 'last_dimension' }";
        let expected = chosen(&site, first_fit, &Request::block(&fold));
        assert_eq!(chosen(&site, "'folding'", &Request::block(&shape)), expected, "{shape:?}");
        if shape.iter().filter(|&&side| side > 1).count() == 1 {
            continue;
        }
        let fold = folded_for_cubes(shape, 4, Ties::Listed);
        folded += u32::from(fold != shape);
        let expected =
            chosen(&site, "{ name = 'reconfigurable_blocks', cube = 4 }", &Request::block(&fold));
        let found = chosen(&site, "{ name = 'rfold', cube = 4 }", &Request::block(&shape));
        assert_eq!(found, expected, "{shape:?}");
    }
    assert!(folded > 10, "{folded}");
}

/// Lowest position of a box in its first fitting orientation, as in RFold's program.
///
/// The lowest position has the lowest index of the corner; the last dimension runs fastest.
#[test]
fn first_fit_of_the_program_is_boxes_in_lexicographic_order() {
    let mut rng = Stream::new(6, 0, "boxes");
    let topology = Topology::torus(&[4, 6, 5]).unwrap();
    let mut found = 0;
    for round in 0..150 {
        let site = random_site(&topology, 2 + round % 6, &mut rng);
        let shape = random_shape(6, &mut rng);
        let grid: &Grid = site.grid();
        let expected = ORDERS.iter().find_map(|order| {
            let sides = order.map(|index| shape[index]);
            if sides.iter().zip(grid.sides()).any(|(own, most)| own > most) {
                return None;
            }
            let mut corners: Vec<_> =
                (0..grid.nodes()).map(|node| grid.coordinates(node)).collect();
            corners.sort_unstable();
            corners.into_iter().find_map(|corner| {
                let block = Block { base: grid.node(&corner), sides: sides.as_slice().into() };
                let placed = Placement::from(block);
                let free = placed.nodes(grid).iter().all(|&node| site.free().contains(node));
                free.then_some(placed)
            })
        });
        found += u32::from(expected.is_some());
        let allocator = format!("{{ {} }}", Way::FirstFit.allocator(4, "listed"));
        assert_eq!(chosen(&site, &allocator, &Request::block(&shape)), expected, "{shape:?}");
    }
    assert!((30..148).contains(&found), "{found}");
}

/// A line of 16 nodes does not fit on a torus with sides of 8 unless it is folded or split.
#[test]
fn each_way_starts_what_the_one_before_could_not() {
    let submitted = |id, arrival, duration, shape| Submitted { id, arrival, duration, shape };
    let trace = vec![
        submitted(0, 0, 100, [8, 8, 4]),
        submitted(1, 1, 100, [16, 1, 1]),
        submitted(2, 2, 100, [16, 4, 1]),
        submitted(3, 3, 50, [8, 8, 8]),
        submitted(4, 4, 50, [24, 1, 1]),
    ];
    let run = |way| {
        let program = Program::new([8, 8, 8], 4, way, &[], Ties::Listed, trace.clone());
        let rows = program.run(&mut |_| u64::MAX);
        rows.iter().map(|row| row.started.as_ref().map(|own| own.start)).collect::<Vec<_>>()
    };
    // Lines and sheets that are too long for the torus are dropped.
    assert_eq!(run(Way::FirstFit), [Some(0), None, None, Some(100), None]);
    // The last job would fit folded or scattered, but at its first try the machine is full.
    assert_eq!(run(Way::Folding), [Some(0), Some(1), Some(2), Some(102), None]);
    assert_eq!(run(Way::Hilbert), [Some(0), Some(1), Some(2), Some(102), None]);
    // Methods that join cubes drop no job.
    assert_eq!(run(Way::Reconfigurable), [Some(0), Some(1), Some(2), Some(102), Some(152)]);
    assert_eq!(run(Way::Rfold), [Some(0), Some(1), Some(2), Some(102), Some(152)]);
}

#[test]
fn long_jobs_are_given_up_when_the_machine_is_too_full_at_first() {
    let text = "machine = { topology = 'torus', dims = [4, 4, 4] }\nscheduler = 'giving_up'\n\
                allocator = { name = 'curve', fit = 'first_fit' }";
    let jobs = vec![
        job(0.0, Request::block(&[4, 4, 3]), 10.0),
        job(1.0, Request::block(&[20, 1, 1]), 10.0), // too long, and 16 are free
        job(2.0, Request::block(&[4, 4, 2]), 10.0),  // not long: it waits
        job(3.0, Request::block(&[5, 1, 1]), 10.0),  // long; when it is tried first, there is room
    ];
    let (outcome, transcript) = run(&scenario(text), jobs.clone());
    let told: Vec<&str> = transcript
        .lines()
        .filter(|line| !line.contains("arrived"))
        .map(|line| &line[..12])
        .collect();
    assert_eq!(told[..3], ["0 started 0 ", "1 turned awa", "10 finished "], "{transcript}");
    assert_eq!((outcome.finished, outcome.refused), (3, 1));
    // First come, first served turns no job away.
    let (outcome, _) = run(&scenario(&text.replace("giving_up", "fcfs")), jobs);
    assert_eq!((outcome.finished, outcome.refused), (4, 0));
}

/// The metric `utilization_at_events` is a mean over starts and ends of jobs, not over time.
#[test]
fn utilization_at_events_is_that_of_instants() {
    let text = "machine = { topology = 'flat', processors = 10 }\n\
                measure = { metrics = ['utilization', 'utilization_at_events', 'median_turnaround'] }";
    let jobs = vec![job(1.0, Request::Nodes(5), 10.0), job(2.0, Request::Nodes(5), 2.0)];
    let (outcome, _) = run(&scenario(text), jobs);
    let found: Vec<Option<f64>> = outcome.metrics.iter().map(|metric| metric.value).collect();
    // Half of the machine is held after the first start, all of it after the second start, half
    // after the first end, and none after the second end.
    assert_eq!(found, [Some(0.6), Some(0.5), Some(6.0)]);
}
