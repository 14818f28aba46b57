//! Tables of the switches, block sizes, rings or placements that a topology lists.

use meshwork::alloc::listed::anchors::Anchors;
use serde_json::{Map, Value as Json};

use crate::topology::{NamedNodes, Structure, by};

pub type PlacementRow = Vec<Json>;

#[derive(Clone, Debug, PartialEq)]
pub struct PlacementTable {
    pub columns: Vec<&'static str>,
    pub rows: Vec<PlacementRow>,
}

impl PlacementTable {
    pub fn json(&self) -> Json {
        let object = |row: &PlacementRow| {
            let pairs = self.columns.iter().zip(row);
            Json::Object(
                pairs.map(|(key, value)| ((*key).to_owned(), value.clone())).collect::<Map<_, _>>(),
            )
        };
        self.rows.iter().map(object).collect()
    }
}

pub(super) fn of(structure: &Structure) -> PlacementTable {
    match structure {
        Structure::Flat => PlacementTable { columns: Vec::new(), rows: Vec::new() },
        Structure::Tree(tree, named) => PlacementTable {
            columns: vec!["switch", "line", "level", "nodes"],
            rows: named
                .iter()
                .enumerate()
                .map(|(place, switch)| {
                    let (level, nodes) = (tree.level(place), tree.nodes(place).count());
                    vec![switch.name.clone().into(), switch.line.into(), level.into(), nodes.into()]
                })
                .collect(),
        },
        Structure::Block(blocks, named, base, levels) => {
            let row = |&level: &u32| {
                let joined = 1_usize << level;
                let parts = blocks.base_blocks().chunks(joined);
                let nodes: Vec<u32> =
                    parts.map(|part| part.iter().map(|block| block.count()).sum()).collect();
                let size = u64::from(*base) << level;
                let (least, most) = (nodes.iter().min().copied(), nodes.iter().max().copied());
                vec![size.into(), joined.into(), nodes.len().into(), least.into(), most.into()]
            };
            let listed = levels.iter().filter(|&&level| 1_usize << level < 2 * named.len());
            PlacementTable {
                columns: vec!["size", "base_blocks", "blocks", "least_nodes", "most_nodes"],
                rows: listed.map(row).collect(),
            }
        }
        Structure::Ring(_, named) => {
            let row = |ring: &NamedNodes| {
                vec![ring.name.clone().into(), ring.line.into(), ring.nodes.count().into()]
            };
            PlacementTable {
                columns: vec!["ring", "line", "nodes"],
                rows: named.iter().map(row).collect(),
            }
        }
        Structure::Torus3d(anchors, named) => placements(anchors, named),
    }
}

/// Table of the placements of tori, with a row for each placement.
///
/// `anchors` is the number of positions of a placement's boxes. A job in a box makes all larger
/// boxes that overlap the box unavailable. On an otherwise empty machine, one job of this placement
/// makes `breaks_least` to `breaks_most` boxes of the next larger placement unavailable.
fn placements(anchors: &Anchors, named: &[NamedNodes]) -> PlacementTable {
    let mut rows = Vec::new();
    for (torus, named) in anchors.toruses().iter().zip(named) {
        for (place, entry) in torus.entries().iter().enumerate() {
            let shape = entry.shape();
            let next = torus.entries().iter().position(|other| other.size() > entry.size());
            let breaks = next.and_then(|next| torus.breaks(place, next));
            let (least, most) = breaks.unzip();
            rows.push(vec![
                named.name.clone().into(),
                by(shape.sides).into(),
                entry.size().into(),
                by(shape.spacing).into(),
                by(shape.seed).into(),
                entry.anchors().into(),
                torus.distinct_boxes(place).into(),
                entry.complete_anchors().into(),
                entry.overlaps_others().into(),
                next.map(|next| by(torus.entries()[next].shape().sides)).into(),
                least.into(),
                most.into(),
            ]);
        }
    }
    let columns = "torus dims size spacing seed anchors distinct complete overlap next \
                   breaks_least breaks_most";
    PlacementTable { columns: columns.split(' ').collect(), rows }
}
