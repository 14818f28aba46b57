//! Tests whether the nodes of a job are a *place*: nodes that the topology allows for a job.

use meshwork::geometry::NodeSet;
use meshwork::topology::Node;

use meshwork_slurm::site::SlurmSite;
use meshwork_slurm::topology::{Structure, by};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlaceKind {
    One,
    /// The job's nodes form one allowed set of nodes for each segment of the job.
    Union,
    None,
}

/// Relation of a job's nodes to the places of the topology.
///
/// Places of a torus are its listed boxes. Places of a ring are the sequences of consecutive nodes.
/// In a topology of blocks, a place is any set of nodes within one aggregated block of the smallest
/// size that holds the job. Trees and flat machines list no places, so any nodes are a place. A
/// single node is a place everywhere but on a torus.
///
/// # Complexity
/// **O(a k)** on a torus, for *a* boxes of the job's size and *k* segments. **O(n)** for *n* nodes
/// on other topologies.
pub fn place_of(site: &SlurmSite, nodes: &NodeSet, segment: Option<u32>) -> PlaceKind {
    let count = nodes.count();
    if count == 0 || !nodes.is_within(&site.whole) {
        return PlaceKind::None;
    }
    if is_one(site, nodes, count) {
        return PlaceKind::One;
    }
    match segment {
        Some(size) if size < count && count.is_multiple_of(size) => {
            if is_union(site, nodes, size) {
                PlaceKind::Union
            } else {
                PlaceKind::None
            }
        }
        _ => PlaceKind::None,
    }
}

fn is_one(site: &SlurmSite, nodes: &NodeSet, count: u32) -> bool {
    match &site.structure {
        Structure::Flat | Structure::Tree(..) => true,
        Structure::Torus3d(..) => boxes_within(site, nodes, count).next().is_some(),
        Structure::Ring(rings, _) => {
            count == 1
                || rings.rings().iter().any(|ring| {
                    windows(ring, count).any(|own| own.iter().all(|&node| nodes.contains(node)))
                })
        }
        Structure::Block(..) => {
            count == 1 || groups(site, count).iter().any(|group| nodes.is_within(group))
        }
    }
}

/// Whether a set of nodes can be divided into sets of `size` nodes that the topology allows for a
/// job.
fn is_union(site: &SlurmSite, nodes: &NodeSet, size: u32) -> bool {
    match &site.structure {
        // Aggregated blocks of one size do not overlap.
        Structure::Block(..) => {
            let groups = groups(site, size);
            let shared: Vec<u32> = groups.iter().map(|group| group.count_shared(nodes)).collect();
            shared.iter().sum::<u32>() == nodes.count()
                && shared.iter().all(|count| count.is_multiple_of(size))
        }
        _ => falls_apart(site, nodes, size),
    }
}

/// Whether a set of nodes can be divided into placements of one size, by exhaustive search.
fn falls_apart(site: &SlurmSite, nodes: &NodeSet, size: u32) -> bool {
    let Some(first) = nodes.first() else { return true };
    let places: Vec<NodeSet> = match &site.structure {
        Structure::Ring(rings, _) => {
            let all = rings.rings().iter().flat_map(|ring| windows(ring, size));
            let set = |window: Vec<Node>| {
                let mut set = NodeSet::empty(nodes.universe());
                window.into_iter().for_each(|node| set.insert(node));
                set
            };
            all.map(set).filter(|place| place.is_within(nodes)).collect()
        }
        _ => boxes_within(site, nodes, size).collect(),
    };
    places.into_iter().filter(|place| place.contains(first)).any(|place| {
        let mut rest = nodes.clone();
        rest.subtract(&place);
        falls_apart(site, &rest, size)
    })
}

/// All places of a size, with their names. A place is a set of nodes that the topology allows.
///
/// Boxes have no holes. If `sides` is given, only boxes with these sides count. Aggregated blocks
/// hold at least `size` nodes, and are returned whole.
///
/// # Complexity
/// **O(a n)** for *a* places of *n* nodes.
pub fn places(site: &SlurmSite, size: u32, sides: Option<[u32; 3]>) -> Vec<(String, NodeSet)> {
    let count = site.hosts.count();
    let mut found = Vec::new();
    match &site.structure {
        Structure::Flat | Structure::Tree(..) => {}
        Structure::Block(..) => {
            let groups = groups(site, size).into_iter().filter(|group| group.count() >= size);
            found.extend(groups.map(|group| (site.hosts.listed(&group), group)));
        }
        Structure::Ring(rings, named) => {
            for (ring, name) in rings.rings().iter().zip(named) {
                for window in windows(ring, size) {
                    let mut set = NodeSet::empty(count);
                    window.iter().for_each(|&node| set.insert(node));
                    found.push((format!("{} from {}", name.name, site.hosts.name(window[0])), set));
                }
            }
        }
        Structure::Torus3d(anchors, _) => {
            for torus in anchors.toruses() {
                let own = torus.entries().iter().enumerate().filter(|(_, entry)| {
                    entry.size() == size && sides.is_none_or(|sides| entry.shape().sides == sides)
                });
                for (place, entry) in own {
                    for corner in entry.corners(torus.grid()) {
                        let mut set = NodeSet::empty(count);
                        let nodes = torus
                            .cells_of_box(place, corner)
                            .map(|cell| torus.cells()[cell as usize]);
                        nodes.flatten().for_each(|node| set.insert(node));
                        if set.count() == size {
                            found.push((by(entry.shape().sides), set));
                        }
                    }
                }
            }
        }
    }
    found.retain(|(_, set)| set.count_shared(&site.whole) >= size);
    found
}

fn boxes_within<'a>(
    site: &'a SlurmSite,
    nodes: &'a NodeSet,
    size: u32,
) -> Box<dyn Iterator<Item = NodeSet> + 'a> {
    let Structure::Torus3d(anchors, _) = &site.structure else {
        return Box::new(std::iter::empty());
    };
    Box::new(anchors.toruses().iter().flat_map(move |torus| {
        let entries =
            torus.entries().iter().enumerate().filter(move |(_, entry)| entry.size() == size);
        entries.flat_map(move |(place, entry)| {
            let corners: Vec<u32> = entry.corners(torus.grid()).collect();
            corners.into_iter().filter_map(move |corner| {
                let mut set = NodeSet::empty(nodes.universe());
                for cell in torus.cells_of_box(place, corner) {
                    let node = torus.cells()[cell as usize].filter(|&node| nodes.contains(node))?;
                    set.insert(node);
                }
                Some(set)
            })
        })
    }))
}

fn windows(ring: &[Node], length: u32) -> impl Iterator<Item = Vec<Node>> + '_ {
    let length = length as usize;
    let starts = if length <= ring.len() { ring.len() } else { 0 };
    (0..starts).map(move |start| (start..start + length).map(|at| ring[at % ring.len()]).collect())
}

/// Aggregated blocks of the smallest listed size that holds `count` nodes.
fn groups(site: &SlurmSite, count: u32) -> Vec<NodeSet> {
    let Structure::Block(blocks, _, base, levels) = &site.structure else { return Vec::new() };
    let needed = count.div_ceil((*base).max(1)).next_power_of_two().trailing_zeros();
    let level = levels.iter().copied().filter(|&level| level >= needed).min();
    let per = level.map_or(blocks.base_blocks().len(), |level| 1_usize << level.min(31)).max(1);
    let group = |own: &[NodeSet]| {
        let mut all = NodeSet::empty(site.hosts.count());
        own.iter().for_each(|block| all.unite(block));
        all
    };
    blocks.base_blocks().chunks(per).map(group).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use meshwork_slurm::site::{SlurmFiles, read_texts};

    fn site(topology: &str) -> SlurmSite {
        let files = SlurmFiles { topology: "topology.yaml".to_owned(), ..SlurmFiles::default() };
        let reading = read_texts(files, topology, None, &mut |_| Err(String::new()));
        reading.site(None).unwrap()
    }

    fn place(site: &SlurmSite, numbers: &[u32], segment: Option<u32>) -> PlaceKind {
        let count = site.hosts.count();
        let mut set = NodeSet::empty(count);
        for number in numbers {
            let named = |node: &Node| site.hosts.name(*node) == format!("n{number}");
            set.insert((0..count).find(named).unwrap());
        }
        place_of(site, &set, segment)
    }

    #[test]
    fn a_place_of_a_torus_is_a_listed_box() {
        let site = site(
            "- topology: t\n  torus3d:\n    toruses:\n      - name: a\n        dims: {x: 4, y: 2, z: 1}\n        nodes: n[0-7]\n        placements:\n          - dims: {x: 2, y: 1, z: 1}\n            anchor_spacing: {x: 1, y: 1, z: 1}\n",
        );
        assert_eq!(place(&site, &[1, 2], None), PlaceKind::One);
        assert_eq!(place(&site, &[3, 0], None), PlaceKind::One, "around the ring");
        assert_eq!(place(&site, &[0, 4], None), PlaceKind::None, "never turned");
        assert_eq!(place(&site, &[0, 1, 2], None), PlaceKind::None);
        assert_eq!(place(&site, &[0, 3, 5, 6], Some(2)), PlaceKind::Union);
        assert_eq!(place(&site, &[0, 3, 5, 6], None), PlaceKind::None);
        assert_eq!(place(&site, &[0, 1, 4, 7], Some(2)), PlaceKind::Union);
        assert_eq!(place(&site, &[0, 2, 4, 5], Some(2)), PlaceKind::None);
    }

    #[test]
    fn a_place_of_blocks_lies_in_one_of_the_least_that_hold_it() {
        let site = site(
            "- topology: t\n  block:\n    block_sizes: [2, 4]\n    blocks:\n      - {block: a, nodes: 'n[0-1]'}\n      - {block: b, nodes: 'n[2-3]'}\n      - {block: c, nodes: 'n[4-5]'}\n      - {block: d, nodes: 'n[6-7]'}\n",
        );
        assert_eq!(place(&site, &[2, 3], None), PlaceKind::One);
        assert_eq!(place(&site, &[1, 2], None), PlaceKind::None);
        assert_eq!(place(&site, &[0, 1, 3], None), PlaceKind::One);
        assert_eq!(place(&site, &[3, 4, 5], None), PlaceKind::None);
        assert_eq!(place(&site, &[0, 1, 4, 5], Some(2)), PlaceKind::Union);
        assert_eq!(place(&site, &[0, 2, 4, 6], Some(2)), PlaceKind::None);
    }

    #[test]
    fn a_place_of_a_ring_is_a_run_of_it() {
        let site = site(
            "- topology: t\n  ring:\n    rings:\n      - {ring: a, nodes: 'n[0,2,1,3]'}\n      - {ring: b, nodes: 'n[4-7]'}\n",
        );
        assert_eq!(place(&site, &[0, 2], None), PlaceKind::One);
        assert_eq!(place(&site, &[0, 1], None), PlaceKind::None);
        assert_eq!(place(&site, &[3, 0], None), PlaceKind::One);
        assert_eq!(place(&site, &[0, 2, 4, 5], Some(2)), PlaceKind::Union);
    }
}
