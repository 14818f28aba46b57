//! Maps of machines with the jobs on them, for the manual.
//!
//! They show a half-free torus, and the placements of an allocator.

use meshwork::catalogue::Catalogue;
use meshwork::job::Request;
use meshwork::machine::Placement;
use meshwork::pool::Pool;
use meshwork::topology::{Node, Topology};

use super::canvas::Canvas;
use crate::picture::{Cell, Map};

/// Side in pixels of the square that stands for a processor.
///
/// `PITCH` is the distance between the left edges of neighbouring squares.
const CELL: i32 = 22;
const PITCH: i32 = 24;
const MARGIN: i32 = 16;
const COLOURS: usize = 10;

/// Job drawn on a map, with its placement if it was placed.
pub(in super::super) struct Held {
    pub(in super::super) letter: char,
    pub(in super::super) placement: Option<Placement>,
    /// Whether the job ended before the last jobs arrived. Its processors are then drawn dashed.
    pub(in super::super) has_gone: bool,
}

/// Positions of nodes in pixels, size of the map, and labels with their positions.
fn places(topology: &Topology) -> (Vec<[i32; 2]>, [i32; 2], Vec<([i32; 2], char)>) {
    let map = Map::new(topology, 80);
    let (width, height) = map.size();
    let (mut nodes, mut labels) = (vec![[0; 2]; topology.nodes() as usize], Vec::new());
    for (x, y) in (0..height).flat_map(|y| (0..width).map(move |x| (x, y))) {
        let at = [MARGIN + PITCH * x as i32, MARGIN + PITCH * y as i32];
        match map.cell(x, y) {
            Cell::Node(node) => nodes[node as usize] = at,
            Cell::Label(label) => labels.push((at, label)),
            Cell::Blank => {}
        }
    }
    (nodes, [PITCH * width as i32, PITCH * height as i32], labels)
}

/// Draws the map of a machine with its jobs, and returns the size of the map in pixels.
fn drawn(canvas: &mut Canvas, pool: &Pool, jobs: &[Held]) -> [i32; 2] {
    let site = pool.site();
    let (places, size, labels) = places(site.topology());
    for (at, label) in labels {
        canvas.text([at[0] + CELL / 2, at[1] + 15], &label.to_string(), "soft", "middle");
    }
    let nodes = |job: &Held| -> Vec<Node> {
        job.placement.iter().flat_map(|placement| placement.nodes(site.grid())).collect()
    };
    for node in site.free().iter() {
        let [x, y] = places[node as usize];
        canvas.rect([x, y, CELL, CELL], "free");
    }
    for job in jobs.iter().filter(|job| job.has_gone) {
        for node in nodes(job) {
            let [x, y] = places[node as usize];
            canvas.rect([x + 3, y + 3, CELL - 6, CELL - 6], "gone");
        }
    }
    for (number, job) in jobs.iter().enumerate().filter(|(_, job)| !job.has_gone) {
        for node in nodes(job) {
            let [x, y] = places[node as usize];
            canvas.rect([x, y, CELL, CELL], &format!("j{}", number % COLOURS));
            canvas.text([x + CELL / 2, y + 16], &job.letter.to_string(), "on", "middle");
        }
    }
    size
}

/// Picture of the machine after an allocator has placed the jobs of a fixed example.
///
/// The pictures of all allocators show the same jobs.
pub(in super::super) fn story(name: &str, pool: &Pool, jobs: &[Held]) -> String {
    let mut canvas = Canvas::default();
    let [width, height] = drawn(&mut canvas, pool, jobs);
    let waiting: Vec<String> = jobs
        .iter()
        .filter(|job| job.placement.is_none())
        .map(|job| job.letter.to_string())
        .collect();
    let mut title = format!("Where {name} places the jobs of the story");
    if !waiting.is_empty() {
        title += &format!("; no room for {}", waiting.join(", "));
    }
    canvas.finished([width + 2 * MARGIN, height + 2 * MARGIN], &title)
}

/// Sides of the requested blocks in a picture of a torus of 16 × 16 processors.
///
/// All jobs are placed first. Then the jobs with the indices `ENDING` end.
const COMING: [[u32; 2]; 15] = [
    [5, 5],
    [2, 4],
    [6, 5],
    [5, 4],
    [5, 4],
    [6, 3],
    [6, 3],
    [4, 3],
    [2, 6],
    [4, 6],
    [6, 3],
    [4, 2],
    [2, 4],
    [4, 2],
    [6, 2],
];
const ENDING: [usize; 7] = [1, 3, 5, 7, 9, 11, 13];
/// Sides of a block that fits nowhere, although more than four times as many nodes are free.
const WAITING: [u32; 2] = [5, 5];

/// Torus that is half free and yet has no free block of 5 × 5.
pub(super) fn half_free(catalogue: &Catalogue) -> String {
    let table = "machine = { topology = 'torus', dims = [16, 16] }\nallocator = 'first_fit'";
    let table = table.parse().expect("it is written right");
    let mut pool = Pool::read_in(catalogue, &table).expect("first fit serves a torus");
    let placed: Vec<Placement> = COMING
        .iter()
        .map(|sides| pool.allocate(&Request::block(sides)).expect("there is room for it"))
        .collect();
    for ended in ENDING {
        pool.release(&placed[ended]).expect("it is held");
    }
    let jobs: Vec<Held> = placed
        .iter()
        .zip('A'..)
        .enumerate()
        .filter(|(number, _)| !ENDING.contains(number))
        .map(|(_, (placement, letter))| Held {
            letter,
            placement: Some(placement.clone()),
            has_gone: false,
        })
        .collect();
    let mut canvas = Canvas::default();
    let [width, height] = drawn(&mut canvas, &pool, &jobs);
    assert!(pool.can(&Request::block(&WAITING)).is_none(), "the picture is of a job without room");
    let (corner, in_the_way) = nearest(&pool, &jobs);
    let [x, y] = corner.map(|side| MARGIN + PITCH * side as i32 - 2);
    let [across, down] = WAITING.map(|side| PITCH * side as i32 + 2);
    canvas.rect([x, y, across, down], "ghost");
    let (free, all) = (pool.site().free_nodes(), pool.site().nodes());
    let [a, b] = WAITING;
    let under = MARGIN + height + 14;
    canvas.text([MARGIN, under], &format!("{free} of {all} nodes are free."), "ink head", "start");
    canvas.text(
        [MARGIN, under + 20],
        &format!("A job for {a} × {b} fits nowhere: even there job {in_the_way} is in the way."),
        "ink",
        "start",
    );
    let title = format!(
        "A torus of 16 × 16 nodes, {free} of them free, and a job for {a} × {b} that fits nowhere; dashed the place \
         where only job {in_the_way} is in its way"
    );
    canvas.finished([width + 2 * MARGIN, height + 2 * MARGIN + 34], &title)
}

/// Corner of the block with the fewest held nodes, and the letters of the jobs that hold them.
///
/// The compared blocks have the sides `WAITING`, and do not wrap around.
fn nearest(pool: &Pool, jobs: &[Held]) -> ([u32; 2], String) {
    let grid = pool.site().grid();
    let mut best: Option<(usize, [u32; 2], String)> = None;
    let [width, height] = [0, 1].map(|side| grid.sides()[side]);
    for (x, y) in
        (0..=height - WAITING[1]).flat_map(|y| (0..=width - WAITING[0]).map(move |x| (x, y)))
    {
        let is_inside = |node: Node| {
            let at = grid.coordinates(node);
            (x..x + WAITING[0]).contains(&at[0]) && (y..y + WAITING[1]).contains(&at[1])
        };
        let held = |job: &Held| {
            let nodes = job.placement.iter().flat_map(|placement| placement.nodes(grid));
            nodes.filter(|&node| is_inside(node)).count()
        };
        let names: Vec<String> =
            jobs.iter().filter(|job| held(job) > 0).map(|job| job.letter.to_string()).collect();
        let nodes = jobs.iter().map(held).sum();
        if best.as_ref().is_none_or(|(least, ..)| nodes < *least) {
            best = Some((nodes, [x, y], names.join(" and ")));
        }
    }
    let (_, corner, names) = best.expect("the job is smaller than the machine");
    (corner, names)
}
