//! Distance between the nodes of a job in a topology.

use meshwork::alloc::listed::anchors::Torus;
use meshwork::geometry::NodeSet;
use meshwork::topology::Node;

use super::Structure;

impl Structure {
    /// Unit of the distance that [`span`](Structure::span) returns; `None` for a flat topology.
    pub fn span_unit(&self) -> Option<&'static str> {
        match self {
            Structure::Flat => None,
            Structure::Tree(..) => Some("leaf switches"),
            Structure::Block(..) => Some("base blocks"),
            Structure::Ring(..) => Some("ring positions"),
            Structure::Torus3d(..) => Some("hops"),
        }
    }

    /// How far a job's nodes are apart in the topology; `None` for a flat topology.
    ///
    /// The measure depends on the kind of topology:
    ///
    /// - tree or blocks: the number of leaf switches or base blocks that have nodes of the job;
    /// - rings: the length of the shortest arc around the job's nodes, summed over the rings;
    /// - tori: the most hops in the smallest box around the job's nodes, summed over the tori.
    ///
    /// # Complexity
    /// **O(s n)** for *n* nodes of the machine and *s* switches, blocks, rings or tori.
    pub fn span(&self, nodes: &NodeSet) -> Option<f64> {
        let met =
            |sets: &mut dyn Iterator<Item = &NodeSet>| sets.filter(|set| set.meets(nodes)).count();
        let span = match self {
            Structure::Flat => return None,
            Structure::Tree(tree, _) => {
                met(&mut tree.leaves().iter().map(|&leaf| tree.nodes(leaf)))
            }
            Structure::Block(blocks, ..) => met(&mut blocks.base_blocks().iter()),
            Structure::Ring(rings, _) => {
                let length = |ring: &Vec<Node>| {
                    arc(&ring.iter().map(|&node| nodes.contains(node)).collect::<Vec<bool>>())
                };
                rings.rings().iter().map(length).sum()
            }
            Structure::Torus3d(anchors, _) => {
                anchors.toruses().iter().map(|own| hops(own, nodes)).sum()
            }
        };
        Some(span as f64)
    }
}

fn arc(is_marked: &[bool]) -> usize {
    let Some(first) = is_marked.iter().position(|&own| own) else { return 0 };
    let (mut gap, mut longest) = (0, 0);
    // Find the longest gap, once around from a marked position.
    for step in 1..=is_marked.len() {
        if is_marked[(first + step) % is_marked.len()] {
            longest = gap.max(longest);
            gap = 0;
        } else {
            gap += 1;
        }
    }
    is_marked.len() - longest
}

/// Largest number of hops inside the smallest box around the nodes of a job in this torus.
fn hops(torus: &Torus, nodes: &NodeSet) -> usize {
    let grid = torus.grid();
    let mut is_marked: Vec<Vec<bool>> =
        grid.sides().iter().map(|&side| vec![false; side as usize]).collect();
    for (cell, node) in (0..).zip(torus.cells()) {
        if node.is_some_and(|node| nodes.contains(node)) {
            for (dimension, marked) in is_marked.iter_mut().enumerate() {
                marked[grid.coordinate(cell, dimension) as usize] = true;
            }
        }
    }
    let longest = |marked: &Vec<bool>| arc(marked).saturating_sub(1).min(marked.len() / 2);
    is_marked.iter().map(longest).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marked(text: &str) -> Vec<bool> {
        text.chars().map(|own| own == '#').collect()
    }

    #[test]
    fn an_arc_goes_around_the_longest_gap() {
        for (text, length) in [("....", 0), ("..#.", 1), ("#..#", 2), ("#.#.", 3), ("##.#", 3)] {
            assert_eq!(arc(&marked(text)), length, "{text}");
        }
        assert_eq!(arc(&marked("#..#..#")), 5);
        assert_eq!(arc(&marked("####")), 4);
    }

    #[test]
    fn spans_are_counted_in_the_units_of_each_topology() {
        let sites = [
            ("flat: true\n", None, None),
            (
                "ring:\n    rings:\n      - {ring: r, nodes: 'n[0-7]'}\n",
                Some("ring positions"),
                Some(4.0),
            ),
            (
                "tree:\n    switches:\n      - {switch: a, nodes: 'n[0-3]'}\n      - {switch: b, nodes: 'n[4-7]'}\n      - {switch: top, children: 'a,b'}\n",
                Some("leaf switches"),
                Some(2.0),
            ),
            (
                "block:\n    block_sizes: [4, 8]\n    blocks:\n      - {block: a, nodes: 'n[0-3]'}\n      - {block: b, nodes: 'n[4-7]'}\n",
                Some("base blocks"),
                Some(2.0),
            ),
            (
                "torus3d:\n    toruses:\n      - {name: t, dims: {x: 4, y: 2, z: 1}, nodes: 'n[0-7]', placements: [{dims: {x: 1, y: 1, z: 1}}]}\n",
                Some("hops"),
                Some(3.0),
            ),
        ];
        let conf = "NodeName=n[0-7]\nPartitionName=p Nodes=ALL Default=YES\n";
        for (kind, unit, span) in sites {
            let text = format!("- topology: t\n  cluster_default: true\n  {kind}");
            let files = crate::site::SlurmFiles {
                topology: "topology.yaml".to_owned(),
                conf: Some("slurm.conf".to_owned()),
                ..crate::site::SlurmFiles::default()
            };
            let reading =
                crate::site::read_texts(files, &text, Some(conf), &mut |_| Err(String::new()));
            let site = reading.site(None).unwrap();
            let mut nodes = NodeSet::empty(8);
            for name in ["n0", "n7", "n5"] {
                nodes.insert(site.hosts.find(name).unwrap());
            }
            assert_eq!(
                (site.structure.span_unit(), site.structure.span(&nodes)),
                (unit, span),
                "{kind}"
            );
        }
    }
}
