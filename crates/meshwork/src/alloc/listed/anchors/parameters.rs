//! Parameters of the allocator `anchors`: tori, and listed shapes of boxes with their positions.

use super::super::adapter::{RuleAllocator, nodes_of};
use super::super::criteria::Criterion;
use super::{Anchors, Entry, Shape, Torus};
use crate::registry::{Kind, Param, Params, Problem};
use crate::topology::{Grid, MAX_NODES, Node, Topology};

const LONGEST: u64 = 65_535;

pub(super) const PLACEMENT: &[Param] = &[
    Param::new("dims", Kind::Integers(1, LONGEST)).help("the sides of its boxes along x, y and z"),
    Param::new("spacing", Kind::Integers(0, LONGEST))
        .absent("its sides")
        .help("how far one box stands from the next along x, y and z; 0 is its side"),
    Param::new("seed", Kind::Integers(0, LONGEST))
        .absent("the corner")
        .help("where the first box stands along x, y and z"),
];

pub(super) const TORUS: &[Param] = &[
    Param::new("dims", Kind::Integers(1, LONGEST)).help("its sides along x, y and z"),
    Param::new("nodes", Kind::Integers(0, (1 << 24) - 1))
        .absent("the nodes behind those of the torus before it")
        .help(
            "the node of each cell, x fastest, by number; one that the machine does not have is \
             never free",
        ),
    Param::new("holes", Kind::Integers(0, (1 << 24) - 1))
        .absent("none")
        .help("the cells without a node, whatever `nodes` says of them"),
    Param::new("placements", Kind::Tables(PLACEMENT))
        .absent("those of all toruses")
        .help("the boxes that jobs may get on it"),
];

pub(super) fn build(params: &Params, machine: &Topology) -> Result<RuleAllocator, Problem> {
    let mut universe = machine.grid().nodes();
    let common = params.get_tables("placements");
    let toruses = match params.get_tables("toruses") {
        None => vec![of_machine(params, machine.grid(), common.as_deref())?],
        Some(listed) => {
            let mut toruses = Vec::new();
            let mut next = 0;
            for torus in &listed {
                toruses.push(torus_of(torus, &mut next, &mut universe, common.as_deref())?);
            }
            for (place, torus) in toruses.iter().enumerate() {
                let mut nodes: Vec<Node> = torus.nodes().collect();
                nodes.sort_unstable();
                let shared = toruses[..place].iter().flat_map(Torus::nodes);
                if let Some(shared) =
                    shared.into_iter().find(|node| nodes.binary_search(node).is_ok())
                {
                    let says = format!("the node {shared} lies in two toruses, but may lie in one");
                    return Err(listed[place].problem("nodes", says));
                }
            }
            toruses
        }
    };
    let names = params.get_names("criteria").unwrap_or_default();
    let criteria: Vec<Criterion> = names.into_iter().filter_map(Criterion::named).collect();
    let sizes =
        || toruses.iter().flat_map(|torus| torus.entries().iter().map(Entry::size)).collect();
    let sizes = if params.text("unlisted") == "refuse" { Vec::new() } else { sizes() };
    let anchors = Anchors::new(universe, toruses, &criteria);
    let allocator = RuleAllocator::new(anchors, params, machine, universe)?.rounding_up_to(sizes);
    let looks = criteria.contains(&Criterion::NeighboursRemaining);
    Ok(if looks { allocator.remembering_ends() } else { allocator })
}

/// The machine as one torus of three dimensions, whose third axis also stands for all further ones.
fn of_machine(params: &Params, grid: &Grid, listed: Option<&[Params]>) -> Result<Torus, Problem> {
    let side = |axis: usize| grid.sides().get(axis).copied().unwrap_or(1);
    let sides = [side(0), side(1), grid.sides().iter().skip(2).product()];
    let cells = (0..grid.nodes()).map(Some).collect();
    torus(params, sides, cells, listed)
}

fn torus_of(
    params: &Params,
    next: &mut Node,
    universe: &mut u32,
    common: Option<&[Params]>,
) -> Result<Torus, Problem> {
    let sides = three(params, "dims")?.unwrap_or([1; 3]);
    let count: u64 = sides.iter().copied().map(u64::from).product();
    if count > u64::from(MAX_NODES) {
        let says = format!("a torus has at most {MAX_NODES} cells, this one has {count}");
        return Err(params.problem("dims", says));
    }
    let count = count as u32;
    let given = nodes_of(params, universe);
    let nodes: Vec<Node> =
        if params.has("nodes") { given } else { (*next..*next + count).collect() };
    if nodes.len() != count as usize {
        let says = format!("{} nodes are listed for the {count} cells of this torus", nodes.len());
        return Err(params.problem("nodes", says));
    }
    *next = nodes.iter().copied().max().map_or(*next, |last| last + 1);
    *universe = (*universe).max(*next);
    if *universe > MAX_NODES {
        return Err(params.problem("nodes", format!("a machine has at most {MAX_NODES} nodes")));
    }
    let mut cells: Vec<Option<Node>> = nodes.into_iter().map(Some).collect();
    for hole in params.get_integers("holes").unwrap_or_default() {
        let cell = cells.get_mut(hole as usize).ok_or_else(|| {
            let says = format!("there is no cell {hole}: this torus has {count}, from 0");
            params.problem("holes", says)
        })?;
        *cell = None;
    }
    let own = params.get_tables("placements");
    torus(params, sides, cells, own.as_deref().or(common))
}

fn torus(
    params: &Params,
    sides: [u32; 3],
    cells: Vec<Option<Node>>,
    listed: Option<&[Params]>,
) -> Result<Torus, Problem> {
    let shapes = match listed {
        None => nested(sides),
        Some(listed) => listed.iter().map(|given| shape(given, sides)).collect::<Result<_, _>>()?,
    };
    Torus::new(sides, cells, &shapes).map_err(|error| params.problem("dims", error.to_string()))
}

fn shape(params: &Params, sides: [u32; 3]) -> Result<Shape, Problem> {
    let mut shape = Shape::aligned(three(params, "dims")?.unwrap_or([1; 3]));
    shape.spacing = three(params, "spacing")?.unwrap_or(shape.spacing);
    shape.seed = three(params, "seed")?.unwrap_or([0; 3]);
    let given = [("dims", shape.sides, 0), ("spacing", shape.spacing, 0), ("seed", shape.seed, 1)];
    for (key, numbers, less) in given {
        if (0..3).any(|axis| numbers[axis] + less > sides[axis]) {
            let says = format!(
                "`{key}` is {numbers:?}, which a torus of {sides:?} does not have room for"
            );
            return Err(params.problem(key, says));
        }
    }
    for axis in 0..3 {
        if shape.spacing[axis] == 0 {
            shape.spacing[axis] = shape.sides[axis];
        }
    }
    Ok(shape)
}

fn three(params: &Params, key: &str) -> Result<Option<[u32; 3]>, Problem> {
    let Some(given) = params.get_integers(key) else { return Ok(None) };
    let three = <[u32; 3]>::try_from(given.as_slice());
    three.map(Some).map_err(|_| {
        let says = format!("`{key}` has {} numbers, but must have 3: x, y and z", given.len());
        params.problem(key, says)
    })
}

/// Shapes from a single node to the whole torus. Each shape doubles the previous one along one
/// axis.
fn nested(sides: [u32; 3]) -> Vec<Shape> {
    let mut shapes = vec![Shape::aligned([1; 3])];
    let mut dims = [1; 3];
    while dims != sides {
        for axis in 0..3 {
            if dims[axis] < sides[axis] {
                dims[axis] = (2 * dims[axis]).min(sides[axis]);
                shapes.push(Shape::aligned(dims));
            }
        }
    }
    shapes
}
