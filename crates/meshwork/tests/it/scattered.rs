//! Tests of non-contiguous allocators against slow definitions, in states of long random histories.

use crate::common::{build, random_jobs, run, scenario, set, try_build};
use meshwork::alloc::{Allocator, Ask};
use meshwork::form::{Asks, Finds};
use meshwork::geometry::NodeSet;
use meshwork::geometry::order::Order;
use meshwork::geometry::orientation::{Rotation, orientations};
use meshwork::job::{Dims, Request, Time};
use meshwork::machine::{Block, Placement, Site};
use meshwork::registry::Problem;
use meshwork::rng::Stream;
use meshwork::sched::SCHEDULERS;
use meshwork::shape::{ShapeRule, shaped};
use meshwork::topology::{Grid, Node, Topology, Wiring};

/// Machines of one to four dimensions with sides of 1, powers of two, and other numbers.
fn machines() -> Vec<Topology> {
    let sides: [&[u32]; 9] = [
        &[11],
        &[8, 8],
        &[6, 5],
        &[1, 9],
        &[3, 3, 3],
        &[4, 4, 4],
        &[5, 1, 4],
        &[4, 3, 3],
        &[3, 2, 2, 3],
    ];
    let mut all = Vec::new();
    for sides in sides {
        all.push(Topology::mesh(sides).unwrap());
        all.push(Topology::torus(sides).unwrap());
    }
    all.push(Topology::hypercube(5).unwrap());
    all
}

struct Question<'a> {
    site: &'a Site,
    request: &'a Request,
    answer: Option<Placement>,
    draws: Stream,
}

impl Question<'_> {
    fn grid(&self) -> &Grid {
        self.site.grid()
    }

    fn free(&self) -> Vec<Node> {
        self.site.free().iter().collect()
    }

    fn count(&self) -> usize {
        self.request.nodes() as usize
    }
}

/// Placement in which each node is a block of its own.
fn singles(nodes: &[Node], grid: &Grid) -> Placement {
    let one =
        |&base: &Node| Block { base, sides: std::iter::repeat_n(1, grid.dimensions()).collect() };
    Placement { blocks: nodes.iter().map(one).collect(), parts: None }
}

/// Calls `check` in each state of a long random history.
///
/// Chosen placements and other free nodes are claimed, and released whole or in part.
fn in_random_histories(
    named: &str,
    topology: &Topology,
    steps: u32,
    mut ask: impl FnMut(&Grid, &mut Stream) -> Request,
    mut check: impl FnMut(Question<'_>),
) {
    let mut rng = Stream::new(3, 0, named);
    let (_, mut allocator) = build(named, topology);
    let mut site = Site::new(topology.clone(), 1.0);
    let grid = topology.grid().clone();
    let mut held: Vec<Vec<Node>> = Vec::new();
    for step in 0..steps {
        let now = Time::new(f64::from(step));
        let request = ask(&grid, &mut rng);
        let draws = Stream::new(u64::from(step), 0, "draws");
        let answer = allocator.choose(Ask::new(&request, &site, now, &mut draws.clone()));
        check(Question { site: &site, request: &request, answer: answer.clone(), draws });
        let claim = match rng.below(8) {
            0..3 => answer,
            3 => {
                let some = site.free().iter().filter(|_| rng.below(4) == 0).collect::<Vec<Node>>();
                Some(singles(&some, &grid)).filter(|placement| !placement.is_empty())
            }
            choice => {
                if !held.is_empty() {
                    let mut back = held.swap_remove(rng.below(held.len() as u64) as usize);
                    if choice == 4 {
                        let (kept, cut) = back.into_iter().partition(|_| rng.below(2) == 0);
                        back = cut;
                        held.push(kept);
                        held.retain(|nodes| !nodes.is_empty());
                    }
                    if !back.is_empty() {
                        let back = singles(&back, &grid);
                        site.release(&back);
                        allocator.released(&back, &site);
                    }
                }
                None
            }
        };
        if let Some(placement) = claim {
            site.claim(&placement).unwrap();
            allocator.claimed(&placement, &site, now.into());
            held.push(placement.nodes(&grid));
        }
    }
}

fn any_count(grid: &Grid, rng: &mut Stream) -> Request {
    Request::Nodes(1 + rng.below(u64::from(grid.nodes())) as u32)
}

/// Compares an allocator with a slow definition, which returns the nodes in order of rank.
fn is_its_definition(
    named: &str,
    machines: &[Topology],
    definition: impl Fn(&Question<'_>) -> Option<Vec<Node>>,
) {
    is_its_definition_for(named, machines, any_count, definition);
}

/// Compares an allocator with a slow definition on random requests.
fn is_its_definition_for(
    named: &str,
    machines: &[Topology],
    ask: fn(&Grid, &mut Stream) -> Request,
    definition: impl Fn(&Question<'_>) -> Option<Vec<Node>>,
) {
    let (mut found, mut missed) = (0, 0);
    for topology in machines {
        in_random_histories(named, topology, 150, ask, |question| {
            let expected = definition(&question);
            *if expected.is_some() { &mut found } else { &mut missed } += 1;
            let answer = question.answer.as_ref().map(|placed| placed.nodes(question.grid()));
            let (request, drawing) = (question.request, question.site.drawing());
            assert_eq!(answer, expected, "{named} {request} on a {topology}\n{drawing}");
        });
    }
    assert!(found > 30 * machines.len() && missed > 10, "{named}: {found} found, {missed} not");
}

#[test]
fn random_shuffles_the_free_nodes() {
    is_its_definition("random", &machines(), |question| {
        let (mut free, mut draws) = (question.free(), question.draws.clone());
        if question.count() > free.len() {
            return None;
        }
        let mut drawn = Vec::new();
        for first in 0..question.count() {
            let pick = first + draws.below((free.len() - first) as u64) as usize;
            free.swap(first, pick);
            drawn.push(free[first]);
        }
        Some(drawn)
    });
}

#[test]
fn all_sets_of_free_nodes_are_equally_likely() {
    let topology = Topology::mesh(&[4, 2]).unwrap();
    let mut site = Site::new(topology.clone(), 1.0);
    site.claim(&singles(&[1, 6], site.grid())).unwrap();
    let (_, mut allocator) = build("random", &topology);
    let mut rng = Stream::new(1, 0, "allocator");
    let mut counts = std::collections::BTreeMap::new();
    let draws = 20_000;
    for _ in 0..draws {
        let placed =
            allocator.choose(Ask::new(&Request::Nodes(3), &site, Time::ZERO, &mut rng)).unwrap();
        let mut nodes = placed.nodes(site.grid());
        nodes.sort_unstable();
        *counts.entry(nodes).or_insert(0_u32) += 1;
    }
    assert_eq!(counts.len(), 20, "6 over 3");
    // Each set is expected 1000 times. Five standard deviations are 154.
    assert!(counts.values().all(|count| count.abs_diff(draws / 20) < 154), "{counts:?}");
}

/// Snake order of a grid: along each dimension, the direction alternates from line to line.
fn walked_back_and_forth(sides: &[u32]) -> Vec<Vec<u32>> {
    let Some((&last, others)) = sides.split_last() else { return vec![vec![]] };
    let mut walk = walked_back_and_forth(others);
    let mut all = Vec::new();
    for at in 0..last {
        all.extend(walk.iter().map(|node| {
            let mut node = node.clone();
            node.push(at);
            node
        }));
        walk.reverse();
    }
    all
}

fn pages_in_order(order: &str, counts: &[u32]) -> Vec<Vec<u32>> {
    let grid = Grid::new(counts, false).unwrap();
    let coordinates = |node: Node| grid.coordinates(node).to_vec();
    let snake = walked_back_and_forth(counts);
    let interleaved = |at: &[u32]| -> Vec<u32> {
        (0..32).rev().flat_map(|bit| at.iter().rev().map(move |c| c >> bit & 1)).collect()
    };
    let mut pages: Vec<Vec<u32>> = (0..grid.nodes()).map(coordinates).collect();
    match order {
        "row_major" => {}
        "snake" => pages = snake,
        "shuffled_row_major" => pages.sort_by_key(|page| interleaved(page)),
        "shuffled_snake" => pages.sort_by_key(|page| {
            let place = snake.iter().position(|other| other == page).unwrap() as u32;
            // Its position on the curve is the index of the reflected coordinates.
            interleaved(&grid.coordinates(place))
        }),
        _ => pages = Order::Hilbert.nodes(&grid).into_iter().map(coordinates).collect(),
    }
    pages
}

const ORDERS: [&str; 5] = ["row_major", "snake", "shuffled_row_major", "shuffled_snake", "hilbert"];

#[test]
fn paging_takes_the_first_free_pages() {
    for (page, kind) in
        [(0, "squares"), (1, "squares"), (2, "squares"), (1, "subcubes"), (2, "subcubes")]
    {
        for order in ORDERS {
            let named = format!("paging page={page} pages='{kind}' order='{order}'");
            let holds_a_page = |topology: &Topology| try_build(&named, topology).is_ok();
            let machines: Vec<Topology> = machines().into_iter().filter(holds_a_page).collect();
            is_its_definition(&named, &machines, |question| {
                let grid = question.grid();
                let page_side = |d: usize| match kind {
                    "squares" => 1_u32 << page,
                    _ if d < page => grid.sides()[d],
                    _ => 1,
                };
                let counts: Vec<u32> = (0..grid.dimensions())
                    .map(|d| grid.sides()[d].div_ceil(page_side(d)))
                    .collect();
                let mut taken = Vec::new();
                for at in pages_in_order(order, &counts) {
                    if taken.len() >= question.count() {
                        break;
                    }
                    let is_on_it = |node: &Node| {
                        (0..at.len()).all(|d| grid.coordinate(*node, d) / page_side(d) == at[d])
                    };
                    let nodes: Vec<Node> = (0..grid.nodes()).filter(is_on_it).collect();
                    if nodes.iter().all(|&node| question.site.free().contains(node)) {
                        taken.extend(nodes);
                    }
                }
                (taken.len() >= question.count()).then_some(taken)
            });
        }
    }
}

#[test]
fn larger_pages_say_that_they_may_fail_and_hold_more_than_was_asked_for() {
    let mesh = Topology::mesh(&[4, 4]).unwrap();
    assert_eq!(build("paging", &mesh).1.finds(), None, "any nodes will do, as the entry says");
    let (_, mut paging) = build("paging page=1", &mesh);
    assert_eq!(paging.finds(), Some(Finds::SomeBlocks));
    let mut site = Site::new(mesh, 1.0);
    let mut draws = Stream::new(1, 0, "draws");
    let mut ask = |paging: &mut Box<dyn Allocator>, site: &Site, count| {
        paging.choose(Ask::new(&Request::Nodes(count), site, Time::ZERO, &mut draws))
    };
    let placed = ask(&mut paging, &site, 5).unwrap();
    assert_eq!(placed.text(site.grid()), "0,0:2x2;2,0:2x2", "two pages, three nodes wasted");
    let corners = singles(&[0, 3, 12, 15], site.grid());
    site.claim(&corners).unwrap();
    paging.claimed(&corners, &site, Time::ZERO.into());
    assert_eq!(ask(&mut paging, &site, 1), None, "twelve nodes are free, and no page");
}

#[test]
fn a_page_larger_than_the_machine_is_refused_in_a_sentence() {
    for (named, topology, sentence) in [
        (
            "paging page=3",
            Topology::mesh(&[16, 6]),
            "a page with a side of 8 is larger than the machine, a 16 × 6 mesh: `page` is at most 2 \
             here, a side of 4",
        ),
        (
            "paging page=4",
            Topology::torus(&[8, 8, 8]),
            "a page of dimension 4 is larger than the machine, an 8 × 8 × 8 torus: `page` is at most \
             3 here",
        ),
        (
            "paging page=6 pages='subcubes'",
            Topology::hypercube(5),
            "a page of dimension 6 is larger than the machine, a hypercube of dimension 5: `page` is \
             at most 5 here",
        ),
        (
            "paging page=2 pages='squares'",
            Topology::hypercube(5),
            "a page with a side of 4 is larger than the machine, a hypercube of dimension 5: `page` \
             is at most 1 here, a side of 2",
        ),
    ] {
        let Err(problem) = try_build(named, &topology.unwrap()) else { panic!("{named}") };
        assert_eq!(problem, Problem::new("allocator.page", sentence));
    }
}

/// Checks that runs of two allocators are equal, on the same jobs under every scheduler.
fn are_one(one: &str, other: &str) {
    for machine in ["topology = 'mesh', dims = [6, 5]", "topology = 'torus', dims = [4, 3, 3]"] {
        let topology = Topology::mesh(&[6, 6]).unwrap();
        for scheduler in SCHEDULERS.iter().filter(|s| s.serves.contains(&Wiring::Torus)) {
            let transcript = |allocator: &str| {
                let text = format!(
                    "machine = {{ {machine} }}\nallocator = {allocator}\nscheduler = '{}'",
                    scheduler.about.name
                );
                run(&scenario(&text), random_jobs(&topology, 80, 3.0, 7)).1
            };
            assert_eq!(transcript(one), transcript(other), "{}", scheduler.about.name);
        }
    }
}

#[test]
fn naive_is_paging_by_single_nodes_in_rows() {
    are_one("'naive'", "'paging'");
}

/// Random count, or random block with at most as many nodes as the machine.
///
/// A side of the block may be longer than the machine's side.
fn any_shape(grid: &Grid, rng: &mut Stream) -> Request {
    if rng.below(2) == 0 {
        return any_count(grid, rng);
    }
    loop {
        let side = |&side: &u32| 1 + rng.below(u64::from(side) + 1) as u32;
        let block = Request::Block(grid.sides().iter().map(side).collect());
        if block.nodes() <= u64::from(grid.nodes()) {
            return block;
        }
    }
}

/// First free position of a block: orientations are tried in order, and in each the lowest base
/// first.
fn first_place(free: &NodeSet, grid: &Grid, sides: &Dims, rotation: Rotation) -> Option<Block> {
    orientations(sides, rotation).find_map(|sides| {
        let at = |base| Block { base, sides: sides.clone() };
        let is_free = |base: &Node| {
            grid.holds(*base, &sides) && Placement::from(at(*base)).is_within(free, grid)
        };
        (0..grid.nodes()).find(is_free).map(at)
    })
}

/// Sides of every block that fits within the given sides without rotation.
fn sides_up_to(most: &[u32]) -> Vec<Dims> {
    most.iter().fold(vec![Dims::new()], |all, &most| {
        let longer = |sides: &Dims, side: u32| sides.iter().copied().chain([side]).collect();
        all.iter().flat_map(|sides| (1..=most).map(move |side| longer(sides, side))).collect()
    })
}

fn nodes_of(sides: &Dims) -> u32 {
    sides.iter().product()
}

/// Squarest block of the machine that holds a count of nodes.
fn squarest(count: u32, topology: &Topology) -> Dims {
    match shaped(&Request::Nodes(count), Asks::Block, topology, ShapeRule::Squarest) {
        Some(Request::Block(sides)) => sides,
        other => panic!("{other:?}"),
    }
}

/// Blocks into which `adaptive_noncontiguous` first divides a count of nodes.
fn parts_of_a_count(mut count: u32, topology: &Topology) -> Vec<Dims> {
    let mut parts = Vec::new();
    while count > 0 {
        let all = sides_up_to(&squarest(count, topology));
        let fits = all.into_iter().filter(|sides| nodes_of(sides) <= count);
        let part = fits.max_by_key(|sides| (nodes_of(sides), sides.clone())).unwrap();
        count -= nodes_of(&part);
        parts.push(part);
    }
    parts
}

/// Halves blocks that fit nowhere, until all parts fit or `levels` halvings have been made.
fn by_halves(question: &Question<'_>, rotation: Rotation, levels: usize) -> Option<Vec<Node>> {
    let grid = question.grid();
    if question.count() > question.free().len() {
        return None;
    }
    let mut pieces = match question.request {
        Request::Block(sides) => vec![sides.clone()],
        _ => parts_of_a_count(question.count() as u32, question.site.topology()),
    };
    for _ in 0..=levels {
        pieces.sort_by_key(|piece| std::cmp::Reverse(nodes_of(piece)));
        let (mut free, mut taken, mut next) =
            (question.site.free().clone(), Vec::new(), Vec::new());
        let mut missed = false;
        for piece in &pieces {
            if let Some(block) = first_place(&free, grid, piece, rotation) {
                let nodes = Placement::from(block).nodes(grid);
                nodes.iter().for_each(|&node| free.remove(node));
                taken.extend(nodes);
                next.push(piece.clone());
                continue;
            }
            missed = true;
            let longest = *piece.iter().max().unwrap();
            let d = piece.iter().position(|&side| side == longest).unwrap();
            for half in [longest.div_ceil(2), longest / 2] {
                let mut piece = piece.clone();
                piece[d] = half;
                next.push(piece);
            }
        }
        if !missed {
            return Some(taken);
        }
        pieces = next;
    }
    None
}

#[test]
fn adaptive_noncontiguous_cuts_what_finds_no_place() {
    let machines = small_machines();
    for (named, rotation, levels) in [
        ("adaptive_noncontiguous", Rotation::Never, 64),
        ("adaptive_noncontiguous rotation='if_needed'", Rotation::IfNeeded, 64),
        ("adaptive_noncontiguous levels=0", Rotation::Never, 0),
        ("adaptive_noncontiguous levels=2", Rotation::Never, 2),
    ] {
        is_its_definition_for(named, &machines, any_shape, |question| {
            by_halves(question, rotation, levels)
        });
    }
}

#[test]
fn a_limit_of_levels_is_declared() {
    let mesh = Topology::mesh(&[4, 4]).unwrap();
    assert_eq!(build("adaptive_noncontiguous", &mesh).1.finds(), None);
    let (_, limited) = build("adaptive_noncontiguous levels=3", &mesh);
    assert_eq!(limited.finds(), Some(Finds::SomeBlocks));
}

/// Repeatedly takes the largest free block whose sides do not exceed those of the block before.
///
/// All bases and shapes are tried.
fn by_greed(question: &Question<'_>, rotation: Rotation) -> Option<Vec<Node>> {
    let (grid, mut free) = (question.grid(), question.site.free().clone());
    let mut rest = question.count() as u32;
    if rest > free.count() {
        return None;
    }
    let mut most = match question.request {
        Request::Block(sides) => sides.clone(),
        _ => squarest(rest, question.site.topology()),
    };
    if nodes_of(&most) == rest
        && let Some(block) = first_place(&free, grid, &most, rotation)
    {
        return Some(Placement::from(block).nodes(grid));
    }
    let mut taken = Vec::new();
    while rest > 0 {
        let shapes = sides_up_to(&most).into_iter().filter(|sides| nodes_of(sides) <= rest);
        let places = shapes.filter_map(|sides| first_place(&free, grid, &sides, Rotation::Never));
        let best = places
            .max_by_key(|block| (block.len(), std::cmp::Reverse(block.base), block.sides.clone()));
        let block = best.expect("a single node is free");
        most = block.sides.clone();
        rest -= block.len();
        let nodes = Placement::from(block).nodes(grid);
        nodes.iter().for_each(|&node| free.remove(node));
        taken.extend(nodes);
    }
    Some(taken)
}

#[test]
fn greedy_available_takes_the_largest_blocks_inside_the_last() {
    let machines = small_machines();
    for (named, rotation) in [
        ("greedy_available", Rotation::IfNeeded),
        ("greedy_available rotation='never'", Rotation::Never),
    ] {
        is_its_definition_for(named, &machines, any_shape, |question| by_greed(question, rotation));
    }
}

/// Multiple buddy strategy that finds free squares by exhaustive search.
fn by_buddies(question: &Question<'_>) -> Option<Vec<Node>> {
    let mut rest = question.count() as u32;
    if rest > question.site.free_nodes() {
        return None;
    }
    let is_cube = question.grid().sides().iter().all(|&side| side == 2);
    let line = Grid::new(&[question.grid().nodes()], false).unwrap();
    let grid = if is_cube { &line } else { question.grid() };
    let d = grid.dimensions();
    let highest = grid.sides().iter().min().unwrap().ilog2();
    let cell = |corner: Node, level: u32| {
        let sides = std::iter::repeat_n(1 << level, d).collect();
        Placement::from(Block { base: corner, sides })
            .nodes(&Grid::new(grid.sides(), false).unwrap())
    };
    let mut free = question.site.free().clone();
    let is_free = |free: &NodeSet, corner: Node, level: u32| {
        (0..d).all(|k| {
            let at = grid.coordinate(corner, k);
            at % (1 << level) == 0 && at + (1 << level) <= grid.sides()[k]
        }) && cell(corner, level).iter().all(|&node| free.contains(node))
    };
    let mut wanted = vec![0; highest as usize + 1];
    for level in (0..=highest).rev() {
        let nodes = 1 << (level * d as u32);
        wanted[level as usize] = rest / nodes;
        rest %= nodes;
    }
    let mut taken = Vec::new();
    for level in (0..=highest).rev() {
        while wanted[level as usize] > 0 {
            wanted[level as usize] -= 1;
            // The smallest sufficient free block, which is part of no larger free one.
            let corner = (level..=highest).find_map(|larger| {
                (0..grid.nodes()).find(|&corner| {
                    let inside = |above: u32| {
                        (0..grid.nodes()).any(|other| {
                            is_free(&free, other, above) && cell(other, above).contains(&corner)
                        })
                    };
                    is_free(&free, corner, larger) && !(larger + 1..=highest).any(inside)
                })
            });
            match corner {
                Some(corner) => {
                    cell(corner, level).iter().for_each(|&node| free.remove(node));
                    taken.extend(cell(corner, level));
                }
                None => wanted[level as usize - 1] += 1 << d,
            }
        }
    }
    Some(taken)
}

#[test]
fn multiple_buddy_takes_the_smallest_blocks_that_are_large_enough() {
    is_its_definition("multiple_buddy", &machines(), by_buddies);
}

#[test]
fn multiple_buddy_by_hand() {
    // 13 nodes are three squares of 4 nodes and one node.
    let mesh = Topology::mesh(&[8, 8]).unwrap();
    let thirteen = placed("multiple_buddy", &mesh, &[], 13);
    assert_eq!(thirteen, "0,0:2x2;2,0:2x2;0,2:2x2;2,2:1x1");
    // One node of each quarter is held: no square of side 4 is free, so four of side 2 are used.
    let sixteen = placed("multiple_buddy", &mesh, &[0, 4, 32, 36], 16);
    assert_eq!(sixteen, "2,0:2x2;6,0:2x2;0,2:2x2;2,2:2x2");
    // On a hypercube, there is a subcube for each binary digit 1 of the number.
    let cube = Topology::hypercube(4).unwrap();
    assert_eq!(
        placed("multiple_buddy", &cube, &[], 11),
        "0,0,0,0:2x2x2x1;0,0,0,1:2x1x1x1;0,1,0,1:1x1x1x1"
    );
}

/// Multiple partner strategy that follows the published steps literally.
fn by_partners(question: &Question<'_>) -> Option<Vec<Node>> {
    let (grid, mut free) = (question.grid(), question.site.free().clone());
    let (n, sides) = (grid.dimensions(), grid.sides());
    let mut rest = question.count() as u32;
    if rest > free.count() {
        return None;
    }
    let length = |m: usize| -> u32 { sides[..m].iter().product() };
    // Number of subcubes of each dimension.
    let mut wanted = vec![0; n + 1];
    for m in (0..=n).rev() {
        wanted[m] = rest / length(m);
        rest %= length(m);
    }
    let mut taken = Vec::new();
    for m in (1..=n).rev() {
        while wanted[m] > 0 {
            let blocks = 0..grid.nodes() / length(m - 1);
            let partners = blocks.flat_map(|alpha| (0..=n - m).map(move |p| (alpha, p)));
            let nodes = partners.into_iter().find_map(|(alpha, p)| {
                if sides[m - 1 + p] != sides[m - 1] {
                    return None;
                }
                let stride: u32 = sides[m - 1..m - 1 + p].iter().product();
                let digit = alpha / stride % sides[m - 1];
                let nodes: Vec<Node> = (0..sides[m - 1])
                    .map(|other| alpha - digit * stride + other * stride)
                    .flat_map(|block| block * length(m - 1)..(block + 1) * length(m - 1))
                    .collect();
                nodes.iter().all(|&node| free.contains(node)).then_some(nodes)
            });
            wanted[m] -= 1;
            match nodes {
                Some(nodes) => {
                    nodes.iter().for_each(|&node| free.remove(node));
                    taken.extend(nodes);
                }
                None => wanted[m - 1] += sides[m - 1],
            }
        }
    }
    taken.extend(free.iter().take(wanted[0] as usize));
    Some(taken)
}

#[test]
fn multiple_partner_takes_a_block_and_its_partners_for_each_digit() {
    is_its_definition("multiple_partner", &machines(), by_partners);
}

/// Tries every stretch of free nodes along the given order of nodes, and every part of such a
/// stretch.
fn along_the_curve(question: &Question<'_>, order: Order, fit: &str) -> Option<Vec<Node>> {
    let line = order.nodes(question.grid());
    let count = question.count();
    let is_free = |place: &usize| question.site.free().contains(line[*place]);
    let free: Vec<usize> = (0..line.len()).filter(is_free).collect();
    if count > free.len() {
        return None;
    }
    // The free node to be taken first, as a place on the curve.
    let windows: Vec<&[usize]> = free.windows(count).collect();
    let run_from = |place: usize| (place..line.len()).take_while(is_free).count();
    let begins = |place: &usize| *place == 0 || !is_free(&(place - 1));
    let runs: Vec<usize> =
        free.iter().copied().filter(begins).filter(|&place| run_from(place) >= count).collect();
    let start = match fit {
        "free_list" => Some(free[0]),
        "first_fit" => runs.first().copied(),
        _ => runs.iter().copied().min_by_key(|&place| (run_from(place), place)),
    };
    let tightest = || {
        let least = windows.iter().min_by_key(|window| window[count - 1] - window[0]);
        least.map(|window| window[0])
    };
    let start = start.or_else(tightest)?;
    let taken = free.iter().filter(|&&place| place >= start).take(count);
    Some(taken.map(|&place| line[place]).collect())
}

#[test]
fn curve_fits_runs_of_a_line() {
    for (curve, order) in
        [("hilbert", Order::Hilbert), ("snake", Order::Snake), ("row_major", Order::RowMajor)]
    {
        for fit in ["best_fit", "first_fit", "free_list"] {
            let named = format!("curve curve='{curve}' fit='{fit}'");
            is_its_definition(&named, &machines(), |question| {
                along_the_curve(question, order, fit)
            });
        }
    }
}

#[test]
fn a_free_list_along_the_rows_is_naive() {
    are_one("'naive'", "{ name = 'curve', curve = 'row_major', fit = 'free_list' }");
}

/// Free nodes nearest to the best centre, by exhaustive search.
fn nearest_to_a_centre(
    question: &Question<'_>,
    may_be: impl Fn(Node) -> bool,
    apart: impl Fn(Node, Node) -> u32,
    score: impl Fn(Node, &[Node]) -> u32,
) -> Option<Vec<Node>> {
    if question.count() > question.free().len() {
        return None;
    }
    let mut best: Option<(u32, Vec<Node>)> = None;
    for centre in (0..question.grid().nodes()).filter(|&node| may_be(node)) {
        let mut nodes = question.free();
        nodes.sort_by_key(|&node| (apart(centre, node), node));
        nodes.truncate(question.count());
        let score = score(centre, &nodes);
        if best.as_ref().is_none_or(|(least, _)| score < *least) {
            best = Some((score, nodes));
        }
    }
    best.map(|(_, nodes)| nodes)
}

fn hops(grid: &Grid) -> Vec<Vec<u32>> {
    (0..grid.nodes()).map(|a| (0..grid.nodes()).map(|b| grid.distance(a, b)).collect()).collect()
}

fn over_all_pairs(nodes: &[Node], hops: &[Vec<u32>]) -> u32 {
    let to_later = |(i, &a): (usize, &Node)| {
        nodes[i..].iter().map(|&b| hops[a as usize][b as usize]).sum::<u32>()
    };
    nodes.iter().enumerate().map(to_later).sum()
}

/// Machines that are small enough to try all centres, nodes and pairs of nodes.
fn small_machines() -> Vec<Topology> {
    machines().into_iter().filter(|topology| topology.grid().nodes() <= 40).collect()
}

#[test]
fn mc1x1_has_the_closest_shells() {
    is_its_definition("mc1x1", &small_machines(), |question| {
        let grid = question.grid();
        let apart = |a: Node, b: Node| {
            let along = |d: usize| {
                let straight = grid.coordinate(a, d).abs_diff(grid.coordinate(b, d));
                if grid.is_wrapped() { straight.min(grid.sides()[d] - straight) } else { straight }
            };
            (0..grid.dimensions()).map(along).max().unwrap()
        };
        let is_free = |node| question.site.free().contains(node);
        nearest_to_a_centre(question, is_free, apart, |centre, nodes| {
            nodes.iter().map(|&node| apart(centre, node)).sum()
        })
    });
}

#[test]
fn mm_tries_every_crossing_of_occupied_coordinates() {
    is_its_definition("mm", &small_machines(), |question| {
        let (grid, free) = (question.grid(), question.free());
        let occurs = |node| {
            (0..grid.dimensions()).all(|d| {
                free.iter().any(|&other| grid.coordinate(other, d) == grid.coordinate(node, d))
            })
        };
        let hops = hops(grid);
        let apart = |a: Node, b: Node| hops[a as usize][b as usize];
        nearest_to_a_centre(question, occurs, apart, |_, nodes| over_all_pairs(nodes, &hops))
    });
}

#[test]
fn gen_alg_tries_every_free_node() {
    is_its_definition("gen_alg", &small_machines(), |question| {
        let hops = hops(question.grid());
        let apart = |a: Node, b: Node| hops[a as usize][b as usize];
        let is_free = |node| question.site.free().contains(node);
        nearest_to_a_centre(question, is_free, apart, |_, nodes| over_all_pairs(nodes, &hops))
    });
}

/// The average distance of the chosen nodes is at most 2 − 1/(2d) times the minimum.
///
/// The minimum is found by trying all sets of free nodes.
#[test]
fn mm_stays_within_its_bound_of_the_best_of_all_sets() {
    for (sides, bound) in [(&[4, 3][..], 7.0 / 4.0), (&[2, 3, 2][..], 11.0 / 6.0)] {
        let topology = Topology::mesh(sides).unwrap();
        let hops = hops(topology.grid());
        let mut rng = Stream::new(6, 0, "bound");
        let mut worst = 1.0_f64;
        for _ in 0..150 {
            let mut site = Site::new(topology.clone(), 1.0);
            let held: Vec<Node> = (0..12).filter(|_| rng.below(5) < 2).collect();
            if held.is_empty() || held.len() > 8 {
                continue;
            }
            site.claim(&singles(&held, site.grid())).unwrap();
            let free: Vec<Node> = site.free().iter().collect();
            let count = 2 + rng.below(free.len() as u64 - 2) as u32;
            let all_sets = (0_u32..1 << free.len()).filter(|set| set.count_ones() == count);
            let least = all_sets
                .map(|set| {
                    let chosen = (0..free.len()).filter(|i| set >> i & 1 == 1).map(|i| free[i]);
                    over_all_pairs(&chosen.collect::<Vec<Node>>(), &hops)
                })
                .min()
                .unwrap();
            let (_, mut mm) = build("mm", &topology);
            let placed =
                mm.choose(Ask::new(&Request::Nodes(count), &site, Time::ZERO, &mut rng)).unwrap();
            let found = over_all_pairs(&placed.nodes(site.grid()), &hops);
            worst = worst.max(f64::from(found) / f64::from(least));
        }
        assert!((1.0..=bound).contains(&worst), "{sides:?}: {worst}");
        assert!(worst > 1.0, "it is no exact search, and the test would not notice one");
    }
}

/// Drawing of a placement for a count of nodes on a torus with held nodes.
fn placed(named: &str, topology: &Topology, held: &[Node], count: u32) -> String {
    let mut site = Site::new(topology.clone(), 1.0);
    let (_, mut allocator) = build(named, topology);
    for &node in held {
        let held = singles(&[node], site.grid());
        site.claim(&held).unwrap();
        allocator.claimed(&held, &site, Time::ZERO.into());
    }
    let mut draws = Stream::new(1, 0, "draws");
    let answer = allocator.choose(Ask::new(&Request::Nodes(count), &site, Time::ZERO, &mut draws));
    answer.map_or("none".to_owned(), |placement| placement.text(site.grid()))
}

#[test]
fn multiple_partner_by_hand() {
    // 100 is 1·64 + 4·8 + 4 in base 8.
    let torus = Topology::torus(&[8, 8, 8]).unwrap();
    assert_eq!(
        placed("multiple_partner", &torus, &[], 100),
        "0,0,0:8x8x1;0,0,1:8x1x1;0,1,1:8x1x1;0,2,1:8x1x1;0,3,1:8x1x1;0,4,1:4x1x1"
    );
    // No row is free, but a column is.
    let small = Topology::torus(&[3, 3]).unwrap();
    assert_eq!(placed("multiple_partner", &small, &[1, 4, 8], 5), "0,0:1x3;2,0:1x1;2,1:1x1");
    // No plane through the row of the held node is free. The next row and its partners form a
    // plane.
    let torus = Topology::torus(&[3, 3, 3]).unwrap();
    assert_eq!(placed("multiple_partner", &torus, &[0], 9), "0,1,0:3x1x3");
    // No plane at all is free, so three lines are used.
    let planes = placed("multiple_partner", &torus, &[0, 4, 17, 19], 9);
    assert_eq!(planes, "2,0,0:1x3x1;0,1,0:1x1x3;0,2,0:1x1x3");
}

#[test]
fn a_set_that_is_free_of_what_was_drawn_stays_whole() {
    // Forks do not share their random stream.
    let topology = Topology::mesh(&[4, 4]).unwrap();
    let site = Site::new(topology.clone(), 1.0);
    let (_, mut allocator) = build("random", &topology);
    let mut fork = allocator.fork();
    let ask = |allocator: &mut Box<dyn Allocator>| {
        let mut draws = Stream::new(2, 0, "draws");
        let placed =
            allocator.choose(Ask::new(&Request::Nodes(16), &site, Time::ZERO, &mut draws)).unwrap();
        assert_eq!(set(16, placed.nodes(site.grid())).count(), 16);
        placed
    };
    assert_eq!(ask(&mut allocator), ask(&mut fork));
}
