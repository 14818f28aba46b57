//! Drawings of topologies in plain text: the layers of a torus, or the switches of a tree.

use meshwork::alloc::listed::anchors::Torus;

use crate::topology::{SlurmTopology, Structure, Switch, TopologyKind};

const MOST: usize = 200;

/// Letters for the boxes of nodes in the drawing of a torus, in the order of the boxes.
const LETTERS: &[u8; 52] = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

/// Lines of a drawing of the topology; empty if there is nothing to draw, or too much.
pub(super) fn of(topology: &SlurmTopology, structure: &Structure) -> Vec<String> {
    let mut lines = Vec::new();
    match (structure, &topology.kind) {
        (Structure::Torus3d(anchors, named), _) => {
            for (torus, named) in anchors.toruses().iter().zip(named) {
                lines.extend(layers(torus, &named.name));
            }
        }
        (Structure::Block(_, named, base, levels), _) => {
            let joined =
                levels.iter().copied().find(|&level| level > 0).map_or(1, |level| 1 << level);
            let width = named.iter().map(|block| block.name.len()).max().unwrap_or(0);
            for (place, block) in named.iter().enumerate() {
                if place > 0 && place % joined == 0 {
                    lines.push(String::new());
                }
                let count = block.nodes.count() as usize;
                let (own, more) = (count.min(*base as usize), count.saturating_sub(*base as usize));
                let short = (*base as usize).saturating_sub(count);
                lines.push(format!(
                    "{:width$}  {}{}{}",
                    block.name,
                    "#".repeat(own),
                    "+".repeat(more),
                    ".".repeat(short)
                ));
            }
        }
        (_, TopologyKind::Ring(rings)) => {
            for ring in rings {
                let nodes = ring.nodes.as_ref().map_or("", |nodes| &nodes.text);
                lines.push(format!("{}  ({nodes})", ring.name.as_deref().unwrap_or_default()));
            }
        }
        (_, TopologyKind::Tree(switches)) => tree(switches, &mut lines),
        _ => {}
    }
    let is_wide = lines.iter().any(|line| line.chars().count() > MOST);
    if is_wide || lines.len() > MOST { Vec::new() } else { lines }
}

/// Draws the layers of a torus from z = 0 on, with x to the right and y downwards. Each letter
/// stands for one box of the first listed placement whose boxes fill the torus. Cells without a
/// node are dashes.
fn layers(torus: &Torus, name: &str) -> Vec<String> {
    let sides = torus.grid().sides();
    let tiles = torus.entries().iter().position(|entry| {
        let shape = entry.shape();
        entry.size() > 1
            && (0..3).all(|axis| {
                let step = shape.spacing[axis];
                step == shape.sides[axis] && sides[axis].is_multiple_of(step)
            })
    });
    let mut letters = vec![b'#'; torus.grid().nodes() as usize];
    if let Some(tiles) = tiles {
        for (place, corner) in torus.entries()[tiles].corners(torus.grid()).enumerate() {
            for cell in torus.cells_of_box(tiles, corner) {
                letters[cell as usize] = LETTERS[place % LETTERS.len()];
            }
        }
    }
    for (cell, node) in torus.cells().iter().enumerate() {
        if node.is_none() {
            letters[cell] = b'-';
        }
    }
    let of_tiles = tiles.map_or_else(String::new, |tiles| {
        let [x, y, z] = torus.entries()[tiles].shape().sides;
        format!(", boxes of {x}x{y}x{z}")
    });
    let mut lines = Vec::new();
    for (z, layer) in letters.chunks((sides[0] * sides[1]) as usize).enumerate() {
        lines.push(format!("{name}, z = {z}{of_tiles}"));
        let row = |row: &[u8]| String::from_utf8_lossy(row).into_owned();
        lines.extend(layer.chunks(sides[0] as usize).map(row));
    }
    lines
}

fn tree(switches: &[Switch], lines: &mut Vec<String>) {
    let children = |switch: &Switch| -> Vec<usize> {
        let list = switch.children.as_ref().filter(|_| switch.nodes.is_none());
        let names = list.map(|list| meshwork::job::hostlist::names(&list.text).unwrap_or_default());
        let named =
            |name: String| switches.iter().position(|other| other.name.as_ref() == Some(&name));
        names.unwrap_or_default().into_iter().filter_map(named).collect()
    };
    let below: Vec<Vec<usize>> = switches.iter().map(children).collect();
    let roots = (0..switches.len()).filter(|root| !below.iter().any(|list| list.contains(root)));
    // A switch with several parents is drawn below each; the limit on lines ends the drawing.
    let mut open: Vec<(usize, usize)> = roots.map(|root| (root, 0)).collect();
    open.reverse();
    while let Some((switch, depth)) = open.pop() {
        let nodes = switches[switch].nodes.as_ref().map_or("", |nodes| &nodes.text);
        let name = switches[switch].name.as_deref().unwrap_or_default();
        lines.push(format!("{}{name}  {nodes}", "  ".repeat(depth)).trim_end().to_owned());
        if lines.len() > MOST {
            return;
        }
        open.extend(below[switch].iter().rev().map(|&child| (child, depth + 1)));
    }
}
