//! Tests of allocators of meshes and tori against slow definitions, in states of long random
//! histories.
//!
//! The definitions look at every base, every node and every neighbour.

use crate::common::build;
use meshwork::alloc::Ask;
use meshwork::form::Asks;
use meshwork::geometry::NodeSet;
use meshwork::geometry::orientation::{Rotation, orientations};
use meshwork::job::{Dims, Request, Time};
use meshwork::machine::{Block, Placement, Site};
use meshwork::rng::Stream;
use meshwork::topology::{Grid, Node, Topology};

/// Grids of one to four dimensions, with and without wraparound. Some sides are 1 or 2.
fn grids(dimensions: &[usize]) -> Vec<Topology> {
    let sides: [&[u32]; 8] =
        [&[7], &[6, 5], &[9, 8], &[1, 6], &[2, 5], &[4, 3, 3], &[5, 4, 2], &[3, 2, 2, 3]];
    let mut all = Vec::new();
    for sides in sides.into_iter().filter(|sides| dimensions.contains(&sides.len())) {
        all.push(Topology::mesh(sides).unwrap());
        all.push(Topology::torus(sides).unwrap());
    }
    all
}

/// State of a machine, for slow reference implementations of allocators.
struct State {
    site: Site,
    /// For each node, the instant at which it was claimed; `None` if the node is free.
    since: Vec<Option<f64>>,
    /// For each held node, the number of blocks claimed before its block.
    number: Vec<u32>,
    now: f64,
}

impl State {
    fn grid(&self) -> &Grid {
        self.site.grid()
    }

    /// One step along a dimension; `None` beyond the edge of a mesh.
    fn step(&self, node: Node, d: usize, up: bool) -> Option<Node> {
        let grid = self.grid();
        let mut at = grid.coordinates(node);
        let side = grid.sides()[d];
        at[d] = match (up, at[d]) {
            (true, last) if last + 1 == side => grid.is_wrapped().then_some(0)?,
            (true, other) => other + 1,
            (false, 0) => grid.is_wrapped().then_some(side - 1)?,
            (false, other) => other - 1,
        };
        Some(grid.node(&at))
    }

    fn is_free(&self, base: Node, sides: &[u32]) -> bool {
        let grid = self.grid();
        let block = Block { base, sides: Dims::from_slice(sides) };
        grid.holds(base, sides) && Placement::from(block).is_within(self.site.free(), grid)
    }

    /// Free positions of a block, as base and sides, in the order that breaks ties.
    fn places(&self, sides: &[u32], rotation: Rotation) -> Vec<(Node, Dims)> {
        let mut places = Vec::new();
        for sides in orientations(sides, rotation) {
            let free = (0..self.grid().nodes()).filter(|&base| self.is_free(base, &sides));
            places.extend(free.map(|base| (base, sides.clone())));
            if rotation == Rotation::IfNeeded && !places.is_empty() {
                break;
            }
        }
        places
    }

    /// Weighted count of held neighbours of a block's nodes, with a separate weight for mesh edges.
    fn boundary(&self, base: Node, sides: &[u32], wall: u64, weight: impl Fn(Node) -> u64) -> u64 {
        let nodes =
            Placement::from(Block { base, sides: Dims::from_slice(sides) }).nodes(self.grid());
        let mut sum = 0;
        for node in nodes {
            for d in 0..sides.len() {
                for up in [false, true] {
                    sum += match self.step(node, d, up) {
                        None => wall,
                        Some(next) if self.site.free().contains(next) => 0,
                        Some(next) => weight(next),
                    };
                }
            }
        }
        sum
    }

    /// Held nodes next to the corners of a block, along a dimension or diagonally. Positions beyond
    /// the edge of the mesh count as held.
    fn corners(&self, base: Node, sides: &[u32]) -> u64 {
        let grid = self.grid();
        let d = sides.len();
        let mut sum = 0;
        for high in 0..1_u32 << d {
            let mut corner = grid.coordinates(base);
            for k in 0..d {
                if high >> k & 1 == 1 {
                    corner[k] = (corner[k] + sides[k] - 1) % grid.sides()[k];
                }
            }
            for beyond in 1..1_u32 << d {
                let steps = (0..d).filter(|k| beyond >> k & 1 == 1);
                let node = steps
                    .into_iter()
                    .try_fold(grid.node(&corner), |node, k| self.step(node, k, high >> k & 1 == 1));
                let held = node.is_none_or(|node| !self.site.free().contains(node));
                sum += u64::from(held);
            }
        }
        sum
    }

    /// Among all free positions, the first one with the greatest score.
    fn best<S: Ord>(
        &self,
        sides: &[u32],
        rotation: Rotation,
        score: impl Fn(Node, &[u32]) -> S,
    ) -> Option<Placement> {
        let mut best: Option<(S, Node, Dims)> = None;
        for (base, sides) in self.places(sides, rotation) {
            let score = score(base, &sides);
            if best.as_ref().is_none_or(|(most, ..)| score > *most) {
                best = Some((score, base, sides));
            }
        }
        best.map(|(_, base, sides)| Block { base, sides }.into())
    }
}

fn rotation_in(named: &str, default: Rotation) -> Rotation {
    match named {
        n if n.contains("'never'") => Rotation::Never,
        n if n.contains("'if_needed'") => Rotation::IfNeeded,
        n if n.contains("'best'") => Rotation::Best,
        _ => default,
    }
}

fn random_sides(grid: &Grid, rng: &mut Stream) -> Dims {
    grid.sides().iter().map(|&side| 1 + rng.below(u64::from(side)) as u32).collect()
}

fn random_block(grid: &Grid, rng: &mut Stream, most: f64) -> Placement {
    let sides = grid.sides().iter();
    let most = |side: u32| ((f64::from(side) * most) as u64).max(1);
    let sides: Dims = sides.map(|&side| 1 + rng.below(most(side)) as u32).collect();
    let corner: Dims = grid.sides().iter().map(|&s| rng.below(u64::from(s)) as u32).collect();
    let mut block = Block { base: grid.node(&corner), sides };
    if !grid.is_wrapped() {
        for d in 0..corner.len() {
            block.sides[d] = block.sides[d].min(grid.sides()[d] - corner[d]);
        }
    }
    block.into()
}

/// Runs a check in each state of long random histories.
///
/// Placements chosen by the allocator and arbitrary free nodes are claimed, and released whole or
/// in part.
fn in_random_histories(
    named: &str,
    topologies: &[Topology],
    mut check: impl FnMut(&State, &Dims, Option<Placement>),
) {
    for (turn, topology) in topologies.iter().enumerate() {
        let mut rng = Stream::new(turn as u64, 0, named);
        let (entry, mut allocator) = build(named, topology);
        let nodes = topology.grid().nodes() as usize;
        let site = Site::new(topology.clone(), 1.0);
        let mut state = State { site, since: vec![None; nodes], number: vec![0; nodes], now: 0.0 };
        let mut number = 0;
        let mut held: Vec<Placement> = Vec::new();
        if entry.asks == Asks::Block {
            // Every block on the empty machine, for some of which the answer needs no search.
            for largest in 0..topology.grid().nodes() {
                let sides: Dims =
                    topology.grid().coordinates(largest).iter().map(|at| at + 1).collect();
                let request = Request::Block(sides.clone());
                let mut draws = rng.clone();
                let ask = Ask::new(&request, &state.site, Time::ZERO, &mut draws);
                check(&state, &sides, allocator.choose(ask));
            }
        }
        for _ in 0..250 {
            state.now += rng.below(5) as f64;
            let grid = topology.grid().clone();
            let mut sides = random_sides(&grid, &mut rng);
            if entry.asks == Asks::Square {
                let largest = grid.sides().iter().min().map_or(0, |side| side.ilog2());
                let side = 1 << rng.below(u64::from(largest) + 1);
                sides.iter_mut().for_each(|s| *s = side);
            }
            let request = Request::Block(sides.clone());
            let now = Time::new(state.now);
            let answer = allocator.choose(Ask::new(&request, &state.site, now, &mut rng.clone()));
            check(&state, &sides, answer.clone());
            let claim = match rng.below(8) {
                0..3 => answer,
                3 => {
                    // The free part of two blocks that may overlap, in rows.
                    let mut wanted = NodeSet::empty(grid.nodes());
                    random_block(&grid, &mut rng, 0.6).add_to(&mut wanted, &grid);
                    random_block(&grid, &mut rng, 0.4).add_to(&mut wanted, &grid);
                    wanted.intersect(state.site.free());
                    let all = Block { base: 0, sides: Dims::from_slice(grid.sides()) };
                    Some(Placement::from(all).part_in(&wanted, &grid)).filter(|p| !p.is_empty())
                }
                4 => {
                    let block = random_block(&grid, &mut rng, 0.5);
                    block.is_within(state.site.free(), &grid).then_some(block)
                }
                choice => {
                    if !held.is_empty() {
                        let at = rng.below(held.len() as u64) as usize;
                        let placement = held.swap_remove(at);
                        let mut back = placement.clone();
                        if choice == 5 {
                            let mut cut = NodeSet::empty(grid.nodes());
                            random_block(&grid, &mut rng, 0.7).add_to(&mut cut, &grid);
                            back = placement.part_in(&cut, &grid);
                            let mut kept = NodeSet::full(grid.nodes());
                            kept.subtract(&cut);
                            held.push(placement.part_in(&kept, &grid));
                            held.retain(|placement| !placement.is_empty());
                        }
                        if !back.is_empty() {
                            state.site.release(&back);
                            allocator.released(&back, &state.site);
                            back.nodes(&grid).iter().for_each(|&n| state.since[n as usize] = None);
                        }
                    }
                    None
                }
            };
            if let Some(placement) = claim {
                state.site.claim(&placement).unwrap();
                allocator.claimed(&placement, &state.site, now.into());
                for block in &placement.blocks {
                    for node in Placement::from(block.clone()).nodes(&grid) {
                        state.since[node as usize] = Some(state.now);
                        state.number[node as usize] = number;
                    }
                    number += 1;
                }
                held.push(placement);
            }
        }
    }
}

/// Compares an allocator with its definition in random histories.
///
/// The test fails if the allocator hardly ever finds a block, or hardly ever finds none.
fn answers(
    named: &str,
    topologies: &[Topology],
    definition: impl Fn(&State, &[u32]) -> Option<Placement>,
) {
    let (mut found, mut missed) = (0, 0);
    in_random_histories(named, topologies, |state, sides, answer| {
        let expected = definition(state, sides);
        *if expected.is_some() { &mut found } else { &mut missed } += 1;
        let (topology, drawing) = (state.site.topology(), state.site.drawing());
        assert_eq!(answer, expected, "{named} {sides:?} {topology}\n{drawing}");
    });
    assert!(found > 200 && missed > 100, "{named}: {found} found, {missed} not");
}

/// Compares an allocator with its definition: the free position with the greatest score.
fn is_its_definition<S: Ord>(
    named: &str,
    dimensions: &[usize],
    default: Rotation,
    score: impl Fn(&State, Node, &[u32]) -> S,
) {
    let rotation = rotation_in(named, default);
    answers(named, &grids(dimensions), |state, sides| {
        state.best(sides, rotation, |base, sides| score(state, base, sides))
    });
}

const ANY: &[usize] = &[1, 2, 3, 4];

#[test]
fn best_fit_has_the_most_held_neighbours() {
    for named in ["best_fit", "best_fit rotation='if_needed'", "best_fit rotation='best'"] {
        is_its_definition(named, ANY, Rotation::Never, |state, base, sides| {
            state.boundary(base, sides, 0, |_| 1)
        });
    }
    is_its_definition("best_fit count_walls=true", ANY, Rotation::Never, |state, base, sides| {
        state.boundary(base, sides, 1, |_| 1)
    });
}

#[test]
fn best_fit_by_the_base_alone_has_the_most_neighbours_where_the_block_is_not_free() {
    for (named, wall) in [
        ("best_fit base_only=true", false),
        ("best_fit base_only=true rotation='if_needed'", false),
        ("best_fit base_only=true rotation='best' count_walls=true", true),
    ] {
        is_its_definition(named, ANY, Rotation::Never, |state, base, sides| {
            let next = |d, up| match state.step(base, d, up) {
                None => wall,
                Some(next) if !state.grid().holds(next, sides) => wall,
                Some(next) => !state.is_free(next, sides),
            };
            (0..sides.len())
                .map(|d| u32::from(next(d, false)) + u32::from(next(d, true)))
                .sum::<u32>()
        });
    }
}

#[test]
fn boundary_search_has_the_greatest_boundary_value() {
    for named in [
        "boundary_search",
        "boundary_search rotation='best'",
        "boundary_search rotation='if_needed'",
    ] {
        is_its_definition(named, ANY, Rotation::Never, |state, base, sides| {
            state.boundary(base, sides, 1, |_| 1)
        });
    }
}

#[test]
fn corner_boundary_search_breaks_ties_by_corners() {
    for named in [
        "corner_boundary_search",
        "corner_boundary_search rotation='best'",
        "corner_boundary_search rotation='if_needed'",
    ] {
        is_its_definition(named, ANY, Rotation::Never, |state, base, sides| {
            (state.boundary(base, sides, 1, |_| 1), state.corners(base, sides))
        });
    }
}

/// Weight of a held neighbour: the published floating-point value, in units of 2⁻³² and rounded.
fn weight(weighting: &str, alpha: f64, age: f64) -> u64 {
    let share = match weighting {
        "linear" => f64::max(0.0, 1.0 - age / alpha),
        "step" => f64::from(u8::from(age < alpha)),
        _ => libm::exp(-(age / alpha)),
    };
    (share * 4_294_967_296.0).round() as u64
}

#[test]
fn weighted_boundary_search_weighs_neighbours_by_age() {
    for (rotation, weighting, alpha, corners) in [
        ("best", "linear", 3.0, false),
        ("best", "linear", 40.0, false),
        ("never", "linear", 40.0, true),
        ("if_needed", "step", 40.0, false),
        ("best", "step", 15.0, true),
        ("best", "exponential", 15.0, false),
        ("best", "exponential", 1e15, true),
    ] {
        let named = format!(
            "weighted_boundary_search rotation='{rotation}' weighting='{weighting}' \
             alpha={alpha:.1} corners={corners}"
        );
        is_its_definition(&named, ANY, Rotation::Never, |state, base, sides| {
            let weight = |node: Node| {
                let since = state.since[node as usize].unwrap();
                weight(weighting, alpha, state.now - since)
            };
            let corners = if corners { state.corners(base, sides) } else { 0 };
            (state.boundary(base, sides, 1 << 32, weight), corners)
        });
    }
}

#[test]
fn with_weights_that_never_fade_it_is_boundary_search() {
    let (plain, corner) = ("boundary_search", "corner_boundary_search");
    for (corners, twin) in [(false, plain), (true, corner)] {
        for topology in grids(ANY) {
            let twin = format!("{twin} rotation='best'");
            let named =
                format!("weighted_boundary_search rotation='best' alpha=1e15 corners={corners}");
            let mut rng = Stream::new(3, 0, "twins");
            let (_, mut weighted) = build(&named, &topology);
            let (_, mut twin) = build(&twin, &topology);
            let mut site = Site::new(topology.clone(), 1.0);
            let mut held: Vec<Placement> = Vec::new();
            for step in 0..300 {
                let now = Time::new(f64::from(step));
                let request = Request::Block(random_sides(site.grid(), &mut rng));
                let answer = weighted.choose(Ask::new(&request, &site, now, &mut rng.clone()));
                assert_eq!(answer, twin.choose(Ask::new(&request, &site, now, &mut rng.clone())));
                if let Some(placement) = answer.filter(|_| rng.below(5) < 3) {
                    site.claim(&placement).unwrap();
                    weighted.claimed(&placement, &site, now.into());
                    twin.claimed(&placement, &site, now.into());
                    held.push(placement);
                } else if !held.is_empty() {
                    let placement = held.swap_remove(rng.below(held.len() as u64) as usize);
                    site.release(&placement);
                    weighted.released(&placement, &site);
                    twin.released(&placement, &site);
                }
            }
        }
    }
}

fn two_dimensional_meshes() -> Vec<Topology> {
    [[6, 5], [9, 8], [1, 6], [12, 4], [2, 5]].map(|sides| Topology::mesh(&sides).unwrap()).to_vec()
}

#[test]
fn adaptive_scan_and_quick_allocation_answer_as_first_fit() {
    for name in ["adaptive_scan", "quick_allocation"] {
        for rotation in ["", " rotation='never'", " rotation='if_needed'", " rotation='best'"] {
            let named = format!("{name}{rotation}");
            let rotation = rotation_in(&named, Rotation::IfNeeded);
            answers(&named, &two_dimensional_meshes(), |state, sides| {
                let mut places = state.places(sides, rotation);
                if rotation == Rotation::Best {
                    places.sort_by_key(|(base, _)| *base); // stable: the first orientation first
                }
                let (base, sides) = places.into_iter().next()?;
                Some(Block { base, sides }.into())
            });
        }
    }
}

/// Lowest corner of the free position on the first plane that has one.
///
/// Planes across dimension 0 are tried: the lower edge of the mesh, and the plane behind each held
/// block. They are ordered by coordinate, then by the claims of their blocks.
fn first_on_planes(state: &State, sides: &[u32]) -> Option<Node> {
    let grid = state.grid();
    // A base is on the plane behind a block if a node of its block touches that block's low face
    // across dimension 0.
    let plane = |base: Node| {
        let x = grid.coordinate(base, 0);
        if x == 0 {
            return Some((0, 0));
        }
        let mut face = Dims::from_slice(sides);
        face[0] = 1;
        let face = Placement::from(Block { base: base - 1, sides: face }).nodes(grid);
        let held = face.into_iter().filter(|&node| !state.site.free().contains(node));
        held.map(|node| (x, state.number[node as usize])).min()
    };
    (0..grid.nodes())
        .filter(|&base| state.is_free(base, sides))
        .filter_map(|base| Some((plane(base)?, base)))
        .min()
        .map(|(_, base)| base)
}

#[test]
fn busy_lists_find_the_first_base_on_the_first_plane_that_has_one() {
    for (named, rotation) in
        [("busy_list", Rotation::Never), ("turning_busy_list", Rotation::IfNeeded)]
    {
        let meshes: Vec<Topology> =
            grids(ANY).into_iter().filter(|topology| !topology.grid().is_wrapped()).collect();
        answers(named, &meshes, |state, sides| {
            orientations(sides, rotation).find_map(|sides| {
                let base = first_on_planes(state, &sides)?;
                Some(Block { base, sides }.into())
            })
        });
    }
}

/// Bases of the free squares of a given side whose base coordinates are multiples of the side.
fn aligned_squares(state: &State, side: u32) -> Vec<Node> {
    let grid = state.grid();
    let aligned = |base: Node| grid.coordinates(base).iter().all(|at| at % side == 0);
    let free = |base: Node| state.is_free(base, &[side, side]);
    (0..grid.nodes()).filter(|&base| aligned(base) && free(base)).collect()
}

#[test]
fn buddies_in_two_dimensions_are_aligned_squares() {
    let square = |base, side| Block { base, sides: Dims::from_elem(side, 2) }.into();
    let mut meshes = two_dimensional_meshes();
    meshes.extend([[8, 8], [16, 16]].map(|sides| Topology::mesh(&sides).unwrap()));
    answers("buddy_2d", &meshes, |state, sides| {
        aligned_squares(state, sides[0]).first().map(|&base| square(base, sides[0]))
    });
    // Lists hold maximal free squares; the first of the smallest sufficient size is taken.
    answers("buddy_2d form='lists'", &meshes, |state, sides| {
        let powers = (0..5).map(|power| 1 << power).filter(|power| *power >= sides[0]);
        powers.into_iter().find_map(|side| {
            let larger = aligned_squares(state, 2 * side);
            let within = |base: Node| {
                let parent: Dims =
                    state.grid().coordinates(base).iter().map(|at| at - at % (2 * side)).collect();
                larger.contains(&state.grid().node(&parent))
            };
            let mut alone = aligned_squares(state, side).into_iter().filter(|&b| !within(b));
            alone.next().map(|base| square(base, sides[0]))
        })
    });
}

#[test]
fn a_square_split_into_buddies_is_whole_again_at_the_end() {
    let topology = Topology::mesh(&[8, 8]).unwrap();
    let (_, mut lists) = build("buddy_2d form='lists'", &topology);
    let mut site = Site::new(topology, 1.0);
    let mut rng = Stream::new(1, 0, "lists");
    let mut held = Vec::new();
    // 3 × 3, 2 × 1 and 1 × 1 as squares; then 5 × 2, for which 43 free nodes do not suffice.
    for (side, corner) in [(4, [0, 0]), (2, [4, 0]), (1, [6, 0])] {
        let request = Request::block(&[side, side]);
        let placed = lists.choose(Ask::new(&request, &site, Time::ZERO, &mut rng)).unwrap();
        assert_eq!(placed.blocks[0].base, site.grid().node(&corner));
        site.claim(&placed).unwrap();
        lists.claimed(&placed, &site, Time::ZERO.into());
        held.push(placed);
    }
    assert_eq!(site.free_nodes(), 43);
    let whole = Request::block(&[8, 8]);
    assert_eq!(lists.choose(Ask::new(&whole, &site, Time::ZERO, &mut rng)), None);
    for placed in held {
        site.release(&placed);
        lists.released(&placed, &site);
    }
    assert_eq!(lists.choose(Ask::new(&whole, &site, Time::ZERO, &mut rng)).unwrap().len(), 64);
}
