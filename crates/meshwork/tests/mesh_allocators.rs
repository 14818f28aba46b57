//! Allocators of meshes and tori against their definitions, written the obvious way: every base, every
//! node, every neighbour, in states that long random histories lead to.

use meshwork::alloc::orientation::{Rotation, orientations};
use meshwork::alloc::{ALLOCATORS, Allocator, AllocatorEntry, Asks};
use meshwork::job::{Dims, Request, Time};
use meshwork::machine::{Block, Placement, Site};
use meshwork::nodeset::NodeSet;
use meshwork::registry::{entry, resolve};
use meshwork::rng::Stream;
use meshwork::topology::{Grid, Node, Topology};
use toml::Table;

/// An allocator, from its name and parameters as in "first_fit rotation='best'".
fn build(named: &str, topology: &Topology) -> (&'static AllocatorEntry, Box<dyn Allocator>) {
    let (name, params) = named.split_once(' ').unwrap_or((named, ""));
    let given: Table = params.replace(' ', "\n").parse().unwrap();
    let entry: &AllocatorEntry = entry(ALLOCATORS, name);
    let declared: Vec<_> = entry.about.params.iter().collect();
    let params = resolve("allocator", &declared, &given, &[]).unwrap();
    let allocator = (entry.build)(&params, topology).unwrap();
    (entry, allocator)
}

/// Small grids of one to four dimensions, wrapped and not, with sides of 1 and 2 among them.
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

/// A state of a machine, as the definitions see it.
struct State {
    site: Site,
    /// When each node was claimed, if it is held.
    since: Vec<Option<f64>>,
    now: f64,
}

impl State {
    fn grid(&self) -> &Grid {
        self.site.grid()
    }

    /// The node one step away, or `None` off the mesh.
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

    /// Every free place, in the order in which ties are broken.
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

    /// The sum over all nodes of a block and all sides of a node of what lies on that side.
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

    /// The sum over all corners of a block of the held nodes next to it, off the mesh counted in.
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

    /// The first of the places with the greatest score.
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

/// Calls `check(state, sides, answer)` in each state of long random histories: claims of what the
/// allocator chose and of whatever else is free, releases of all and of parts of what was claimed.
fn in_random_histories(
    named: &str,
    topologies: &[Topology],
    mut check: impl FnMut(&State, &Dims, Option<Placement>),
) {
    for (turn, topology) in topologies.iter().enumerate() {
        let mut rng = Stream::new(turn as u64, 0, named);
        let (entry, mut allocator) = build(named, topology);
        assert_eq!(entry.asks, Asks::Block);
        let nodes = topology.grid().nodes() as usize;
        let site = Site::new(topology.clone(), 1.0);
        let mut state = State { site, since: vec![None; nodes], now: 0.0 };
        let mut held: Vec<Placement> = Vec::new();
        for _ in 0..250 {
            state.now += rng.below(5) as f64;
            let grid = topology.grid().clone();
            let sides: Dims =
                grid.sides().iter().map(|&side| 1 + rng.below(u64::from(side)) as u32).collect();
            let request = Request::Block(sides.clone());
            let now = Time::new(state.now);
            let answer = allocator.choose(&request, &state.site, now, &mut rng.clone());
            check(&state, &sides, answer.clone());
            let claim = match rng.below(8) {
                0..3 => answer,
                3 => {
                    // Whatever is free of two blocks that may overlap, in rows.
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
                allocator.claimed(&placement, &state.site, now);
                for node in placement.nodes(&grid) {
                    state.since[node as usize] = Some(state.now);
                }
                held.push(placement);
            }
        }
    }
}

/// Holds an allocator to a definition with a score, and to having met enough free places and enough
/// of none.
fn is_its_definition<S: Ord>(
    named: &str,
    dimensions: &[usize],
    default: Rotation,
    score: impl Fn(&State, Node, &[u32]) -> S,
) {
    let rotation = rotation_in(named, default);
    let (mut found, mut missed) = (0, 0);
    in_random_histories(named, &grids(dimensions), |state, sides, answer| {
        let expected = state.best(sides, rotation, |base, sides| score(state, base, sides));
        *if expected.is_some() { &mut found } else { &mut missed } += 1;
        let drawing = state.site.drawing();
        assert_eq!(answer, expected, "{named} {sides:?} {}\n{drawing}", state.site.topology());
    });
    assert!(found > 200 && missed > 100, "{named}: {found} found, {missed} not");
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
        "boundary_search rotation='never'",
        "boundary_search rotation='if_needed'",
    ] {
        is_its_definition(named, ANY, Rotation::Best, |state, base, sides| {
            state.boundary(base, sides, 1, |_| 1)
        });
    }
}

#[test]
fn corner_boundary_search_breaks_ties_by_corners() {
    for named in [
        "corner_boundary_search",
        "corner_boundary_search rotation='never'",
        "corner_boundary_search rotation='if_needed'",
    ] {
        is_its_definition(named, ANY, Rotation::Best, |state, base, sides| {
            (state.boundary(base, sides, 1, |_| 1), state.corners(base, sides))
        });
    }
}
