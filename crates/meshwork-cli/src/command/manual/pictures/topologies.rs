//! Pictures of topologies for the manual. Each is a small machine drawn with its links.

use std::collections::{BTreeMap, BTreeSet};
use std::f64::consts::TAU;

use meshwork::topology::{Node, Topology, Wiring};
use meshwork_report::markup::capitalized;

use super::canvas::Canvas;
use crate::picture::{Cell, Map};
use crate::wrap::wrapped;

/// Pixels between neighbouring nodes.
const STEP: i32 = 52;
const RADIUS: i32 = 14;
/// Pixels around the nodes, for links that wrap around.
const EDGE: i32 = 58;

pub(super) fn all() -> Vec<(&'static str, String)> {
    let right = "a topology that is written right";
    let grids = [
        ("mesh", Topology::mesh(&[6, 4]), "a 6 × 4 mesh: links end at the edges"),
        (
            "torus",
            Topology::torus(&[6, 4]),
            "a 6 × 4 torus: links go on at the opposite edge, to the node whose number stands there",
        ),
        (
            "hypercube",
            Topology::hypercube(4),
            "a hypercube of dimension 4 as a Karnaugh map: neighbours differ in one bit",
        ),
        (
            "twisted_torus",
            Topology::twisted_torus(&[8, 4]),
            "an 8 × 4 twisted torus: links across the upper and lower edge also lead four nodes along",
        ),
        (
            "tofu",
            Topology::tofu(&[2, 1, 1]),
            "two groups of a tofu, each of 2 × 3 × 2 nodes; of the links only those within a layer",
        ),
    ];
    let mut all: Vec<(&str, String)> = grids
        .into_iter()
        .map(|(name, topology, words)| (name, grid(&topology.expect(right), words)))
        .collect();
    all.push(("flat", flat(16)));
    all.push(("fat_tree", tree(&Topology::fat_tree(&[4, 4], 1.0).expect(right))));
    all.push(("dragonfly", groups(&Topology::dragonfly(2, 4, 1).expect(right))));
    all
}

/// Picture of a grid that has each node at its place in the drawing on a terminal.
///
/// A link that wraps around is a short line with the number of the node at its other end. Links
/// between layers are left out.
fn grid(topology: &Topology, words: &str) -> String {
    let map = Map::new(topology, 80);
    let (columns, rows) = map.size();
    let mut canvas = Canvas::default();
    let mut places: BTreeMap<Node, [i32; 2]> = BTreeMap::new();
    // Columns without nodes, which separate layers, are narrower than columns of nodes.
    let narrow = if topology.wiring() == Wiring::Hypercube { STEP / 2 } else { STEP / 6 };
    let mut across = EDGE;
    let mut least = [i32::MAX; 2];
    for x in 0..columns {
        let is_blank = (0..rows).all(|y| !matches!(map.cell(x, y), Cell::Node(_)));
        for y in 0..rows {
            let at = [across, EDGE + STEP * y as i32];
            match map.cell(x, y) {
                Cell::Node(node) => {
                    places.insert(node, at);
                    least = [least[0].min(at[0]), least[1].min(at[1])];
                }
                // Draw the bits of a Karnaugh map. Layers need no labels, as the nodes are
                // numbered.
                Cell::Label(label) if topology.wiring() == Wiring::Hypercube => {
                    let outward =
                        [at[0] - 30 * i32::from(y >= 2), at[1] + 5 - 30 * i32::from(y < 2)];
                    canvas.text(outward, &label.to_string(), "soft", "middle");
                }
                Cell::Label(_) | Cell::Blank => {}
            }
        }
        across += if is_blank { narrow } else { STEP };
    }
    let is_layered = topology.wiring() != Wiring::Hypercube && topology.grid().dimensions() > 2;
    let most = places.values().fold([0; 2], |most, at| [most[0].max(at[0]), most[1].max(at[1])]);
    for (&node, &[x, y]) in &places {
        for (&other, &[ox, oy]) in &places {
            if topology.distance(node, other) != 1 {
                continue;
            }
            let (dx, dy) = (ox - x, oy - y);
            if dx.abs() + dy.abs() == STEP {
                if node < other {
                    canvas.line([x, y], [ox, oy], "line");
                }
                continue;
            }
            // Draw a link that wraps around as a stub at each of its two ends.
            let to = if dy != 0 && (dx == 0 || !is_layered) && [least[1], most[1]].contains(&y) {
                [x, y - 34 * dy.signum()]
            } else if dy == 0 && !is_layered && [least[0], most[0]].contains(&x) {
                [x - 34 * dx.signum(), y]
            } else {
                continue;
            };
            canvas.line([x, y], to, "far");
            let beyond = match dy {
                0 => [to[0] - 8 * dx.signum(), to[1] + 4],
                1.. => [to[0], to[1] - 4],
                _ => [to[0], to[1] + 12],
            };
            canvas.text(beyond, &other.to_string(), "soft small", "middle");
        }
    }
    for (node, &[x, y]) in &places {
        canvas.circle([x, y], RADIUS, "j0");
        canvas.text([x, y + 5], &node.to_string(), "on", "middle");
    }
    let size = [most[0] + EDGE, most[1] + EDGE];
    finished(canvas, size, words)
}

fn finished(mut canvas: Canvas, [width, height]: [i32; 2], words: &str) -> String {
    let title = capitalized(words);
    // Wrap the caption to the width of the picture.
    let lines = wrapped(&title, (width as usize - 32) / 7 + 1, "");
    for (number, line) in (0..).zip(&lines) {
        canvas.text([16, height + 6 + 18 * number], line, "ink", "start");
    }
    canvas.finished([width, height + 18 * lines.len() as i32], &title)
}

/// Picture of nodes at one switch. All distances between two nodes are equal.
fn flat(nodes: i32) -> String {
    let mut canvas = Canvas::default();
    let step = 40;
    let width = step * nodes;
    for node in 0..nodes {
        let x = 16 + step / 2 + step * node;
        canvas.line([x, 46], [x, 96], "line");
        canvas.circle([x, 100], RADIUS, "j0");
        canvas.text([x, 105], &node.to_string(), "on", "middle");
    }
    canvas.labelled([16, 16, width, 34], "one switch that is never full", &[]);
    finished(
        canvas,
        [width + 32, 140],
        "a flat machine of 16 processors: all equally near, so only their number counts",
    )
}

/// Picture of a tree: switches in rows, by their distance from the leaf switches.
fn tree(topology: &Topology) -> String {
    let wires = topology.wires().expect("a tree has links");
    let (step, each) = (40, wires.nodes_each());
    let leaves = topology.nodes() / each;
    let mut level: Vec<Option<i32>> =
        (0..wires.routers()).map(|router| (router < leaves).then_some(0)).collect();
    let mut links: BTreeSet<(u32, u32)> = BTreeSet::new();
    let mut next: Vec<u32> = (0..leaves).collect();
    while !next.is_empty() {
        let here = std::mem::take(&mut next);
        for router in here {
            for end in (0..wires.ports()).filter_map(|port| wires.link(router, port)) {
                links.insert((router.min(end.router), router.max(end.router)));
                if level[end.router as usize].is_none() {
                    level[end.router as usize] = level[router as usize].map(|level| level + 1);
                    next.push(end.router);
                }
            }
        }
    }
    let top = level.iter().flatten().max().copied().unwrap_or(0);
    let width = step * topology.nodes() as i32;
    let at = |router: u32| {
        let own = level[router as usize];
        let same: Vec<u32> =
            (0..wires.routers()).filter(|&other| level[other as usize] == own).collect();
        let place = same.iter().position(|&other| other == router).unwrap_or(0) as i32;
        let x = 16 + width * (2 * place + 1) / (2 * same.len() as i32);
        [x, 40 + 90 * (top - own.unwrap_or(0))]
    };
    let mut canvas = Canvas::default();
    for &(one, other) in &links {
        canvas.line(at(one), at(other), "line");
    }
    let lowest = 40 + 90 * top + 80;
    for node in 0..topology.nodes() {
        let x = 16 + step / 2 + step * node as i32;
        canvas.line(at(node / each), [x, lowest], "line");
        canvas.circle([x, lowest], RADIUS, "j0");
        canvas.text([x, lowest + 5], &node.to_string(), "on", "middle");
    }
    for router in 0..wires.routers() {
        let [x, y] = at(router);
        canvas.rect([x - 22, y - 13, 44, 26], "box");
    }
    finished(
        canvas,
        [width + 32, lowest + 38],
        "a 4 × 4 fat tree: nodes of one leaf switch are one switch apart, all others three",
    )
}

/// Picture of a dragonfly: groups of routers around a circle, each router with its nodes.
fn groups(topology: &Topology) -> String {
    let wires = topology.wires().expect("a dragonfly has links");
    let tiers = topology.tiers().expect("a dragonfly has groups");
    let each = wires.nodes_each();
    let in_group = tiers.group / tiers.leaf;
    let all = wires.routers() / in_group;
    let around = |middle: [i32; 2], radius: f64, share: f64| -> [i32; 2] {
        let angle = TAU * share;
        [
            middle[0] + (radius * angle.sin()).round() as i32,
            middle[1] - (radius * angle.cos()).round() as i32,
        ]
    };
    let middle = [250, 240];
    let group = |group: u32| around(middle, 165.0, f64::from(group) / f64::from(all));
    let at = |router: u32| {
        around(
            group(router / in_group),
            34.0,
            f64::from(router % in_group) / f64::from(in_group) + 0.125,
        )
    };
    let mut canvas = Canvas::default();
    for place in 0..all {
        canvas.circle(group(place), 68, "box");
    }
    for router in 0..wires.routers() {
        for port in 0..wires.ports() {
            let Some(end) = wires.link(router, port).filter(|end| end.router > router) else {
                continue;
            };
            canvas.line(
                at(router),
                at(end.router),
                if wires.is_global(port) { "far" } else { "line" },
            );
        }
    }
    for router in 0..wires.routers() {
        let [x, y] = at(router);
        canvas.rect([x - 7, y - 7, 14, 14], "j7");
        for node in 0..each {
            let share = f64::from(router % in_group) / f64::from(in_group)
                + 0.125
                + 0.11 * (f64::from(node) - 0.5);
            canvas.circle(around(group(router / in_group), 56.0, share), 6, "j0");
        }
    }
    finished(
        canvas,
        [500, 500],
        "a dragonfly of 5 groups: 4 routers (squares) with 2 nodes each, all linked within a group, and one link between \
         every two groups",
    )
}
