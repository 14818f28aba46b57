//! Failure units: parts of a machine, such as nodes or switches, whose nodes fail together.

use crate::job::sides_text;
use crate::registry::{Params, Problem, Words, with_article};
use crate::topology::{Node, Topology, Wiring};

/// Kind of failure unit, such as a node, a switch or a link, which fails as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scope {
    Node,
    Block,
    Switch,
    Link,
    Gpu,
}

pub(super) static SCOPES: Words<Scope, 5> = Words::new([
    ("node", Scope::Node),
    ("block", Scope::Block),
    ("switch", Scope::Switch),
    ("link", Scope::Link),
    ("gpu", Scope::Gpu),
]);

#[derive(Clone, Debug)]
pub(super) struct Units {
    sites: Vec<OfSite>,
}

#[derive(Clone, Debug)]
struct OfSite {
    first: u32,
    count: u32,
    nodes: u32,
    processors: u32,
    kind: Kind,
}

#[derive(Clone, Debug)]
enum Kind {
    /// Each failure unit has this number of consecutive nodes.
    Row(u32),
    /// Each failure unit is a block with the given sides. The blocks tile the grid, `across[d]` of
    /// them along each dimension *d*.
    Blocks { sides: Vec<u32>, across: Vec<u32>, strides: Vec<u32> },
    /// Each failure unit is a link between two routers. Every router has `each` nodes.
    Links { ends: Vec<(u32, u32)>, each: u32 },
    /// GPUs of shared nodes. Entry *i* is the number of GPUs of all nodes before node *i*; a last
    /// entry counts all GPUs.
    Gpus(Vec<u32>),
}

impl Units {
    /// Creates the failure units of all sites, of the kind that the parameter `scope` names.
    pub(super) fn new(params: &Params, topologies: &[Topology]) -> Result<Units, Problem> {
        let scope = params.meaning("scope", &SCOPES);
        let block = params.get_integers("block");
        let sides = match (scope, &block) {
            (Scope::Block, Some(sides)) => sides.as_slice(),
            (Scope::Block, None) => {
                let says = format!(
                    "is \"block\", but `{}.block`, the sides of a block, is missing",
                    params.path()
                );
                return Err(params.refusal("scope", says));
            }
            (_, Some(_)) => {
                let word = params.text("scope");
                let says = format!(
                    "is given, but `{}.scope` is \"{word}\", and only the scope \"block\" has \
                     blocks",
                    params.path()
                );
                return Err(params.refusal("block", says));
            }
            (_, None) => &[],
        };
        let wrong = |key: &'static str| move |says: String| params.refusal(key, says);
        let mut first = 0;
        let mut sites = Vec::new();
        for topology in topologies {
            let kind = match scope {
                Scope::Node => Kind::Row(1),
                Scope::Block => blocks(sides, topology).map_err(wrong("block"))?,
                Scope::Switch => switches(topology).map_err(wrong("scope"))?,
                Scope::Gpu => gpus(topology).map_err(wrong("scope"))?,
                Scope::Link => links(topology).map_err(wrong("scope"))?,
            };
            let (nodes, processors) = (topology.nodes(), topology.processors());
            let count = match &kind {
                Kind::Row(nodes_each) => nodes.div_ceil(*nodes_each),
                Kind::Blocks { sides, .. } => nodes / sides.iter().product::<u32>(),
                Kind::Links { ends, .. } => ends.len() as u32,
                Kind::Gpus(firsts) => firsts.last().copied().unwrap_or(0),
            };
            sites.push(OfSite { first, count, nodes, processors, kind });
            first += count;
        }
        if scope == Scope::Gpu && first == 0 {
            return Err(wrong("scope")(
                "is \"gpu\", but no node of the machine has GPUs".to_owned(),
            ));
        }
        Ok(Units { sites })
    }

    pub(super) fn count(&self) -> u32 {
        self.sites.iter().map(|site| site.count).sum()
    }

    /// Number of failure units per processor, or per core if jobs share nodes. A failure unit is a
    /// part of the machine that fails as a whole.
    pub(super) fn per_processor(&self) -> f64 {
        let processors: f64 = self.sites.iter().map(|site| f64::from(site.processors)).sum();
        f64::from(self.count()) / processors
    }

    /// Site of a failure unit, the nodes that fail with it, and the index of the GPU if the unit is
    /// a GPU.
    pub(super) fn nodes(&self, unit: u32) -> (usize, Vec<Node>, Option<u32>) {
        let at = self.sites.partition_point(|site| site.first <= unit) - 1;
        let OfSite { first, nodes, kind, .. } = &self.sites[at];
        let place = unit - first;
        let mut gpu = None;
        let list = match kind {
            Kind::Row(each) => (place * each..((place + 1) * each).min(*nodes)).collect(),
            Kind::Blocks { sides, across, strides } => {
                let mut list = vec![0];
                let mut rest = place;
                for d in 0..sides.len() {
                    let corner = rest % across[d] * sides[d];
                    rest /= across[d];
                    list = (0..sides[d])
                        .flat_map(|at| {
                            list.iter().map(move |node| node + (corner + at) * strides[d])
                        })
                        .collect();
                }
                list
            }
            Kind::Links { ends, each } => {
                let (a, b) = ends[place as usize];
                let of = |router: u32| router * each..(router + 1) * each;
                if a == b { of(a).collect() } else { of(a.min(b)).chain(of(a.max(b))).collect() }
            }
            Kind::Gpus(firsts) => {
                let node = firsts.partition_point(|&first| first <= place) - 1;
                gpu = Some(place - firsts[node]);
                vec![node as Node]
            }
        };
        (at, list, gpu)
    }
}

/// Failure units that are blocks of nodes. A block is given by its sides on a mesh or torus, by its
/// dimension on a hypercube, and otherwise by its number of consecutive nodes.
fn blocks(sides: &[u32], topology: &Topology) -> Result<Kind, String> {
    let grid = topology.grid();
    let has_sides =
        matches!(topology.wiring(), Wiring::Mesh | Wiring::Torus | Wiring::TwistedTorus);
    if has_sides && (grid.dimensions() > 1 || sides.len() > 1) {
        let tiles = sides.len() == grid.dimensions()
            && sides.iter().zip(grid.sides()).all(|(side, whole)| whole % side == 0);
        if !tiles {
            return Err(format!(
                "is {}, but blocks of one size must tile the {topology}: give one side for each dimension, each a \
                 divisor of the machine's",
                sides_text(sides)
            ));
        }
        return Ok(Kind::Blocks {
            across: sides.iter().zip(grid.sides()).map(|(side, whole)| whole / side).collect(),
            sides: sides.to_vec(),
            strides: grid.strides().to_vec(),
        });
    }
    let [one] = *sides else {
        return Err(format!(
            "is {}, but on {} it is one number: {}",
            sides_text(sides),
            with_article(topology),
            if topology.wiring() == Wiring::Hypercube {
                "the dimension of a subcube"
            } else {
                "a count of nodes"
            }
        ));
    };
    if topology.wiring() == Wiring::Hypercube {
        if one as usize > grid.dimensions() {
            return Err(format!(
                "is {one}, but must be the dimension of a subcube of the {topology}"
            ));
        }
        return Ok(Kind::Row(1 << one));
    }
    if !topology.nodes().is_multiple_of(one) {
        return Err(format!(
            "is {one}, but must be a count of nodes that divides those of the {topology}, which are {}",
            topology.nodes()
        ));
    }
    Ok(Kind::Row(one))
}

/// The leaf switches or routers of one site; on grids, each node has its own router.
fn switches(topology: &Topology) -> Result<Kind, String> {
    match topology.wires() {
        Some(wires) => Ok(Kind::Row(wires.nodes_each())),
        None => Err(format!(
            "is \"switch\", but the machine is {}, of whose switches nothing is known: \"node\" or \"block\" would do",
            with_article(topology)
        )),
    }
}

fn gpus(topology: &Topology) -> Result<Kind, String> {
    let Some(types) = topology.types() else {
        return Err("is \"gpu\", but the nodes of the machine have no types, and so no GPUs that anybody knows of: give \
                    `machine.nodes`, such as [{ type = \"dgx\" }]"
            .to_owned());
    };
    let mut firsts = vec![0];
    for node in 0..types.nodes() {
        firsts.push(firsts[node as usize] + types.of(node).gpu);
    }
    Ok(Kind::Gpus(firsts))
}

/// Failure units that are the links of one site. The nodes at both ends of a link fail with it.
///
/// Every router must have nodes, and messages between two routers must have only one path.
fn links(topology: &Topology) -> Result<Kind, String> {
    let has_links =
        !matches!(topology.wiring(), Wiring::Flat | Wiring::FatTree | Wiring::Dragonfly);
    let Some(wires) = topology.wires().filter(|_| has_links) else {
        return Err(format!(
            "is \"link\", but the machine is {}, where no node is lost with a link: \"node\", \"switch\" or \"block\" \
             would do",
            with_article(topology)
        ));
    };
    let mut ends = Vec::new();
    for router in 0..wires.routers() {
        for port in 0..wires.ports() {
            let Some(end) = wires.link(router, port) else { continue };
            // The link is visited once in each direction. Both directions fail together, so only
            // one is kept.
            if (router, port) <= (end.router, end.port) {
                ends.push((router, end.router));
            }
        }
    }
    if ends.is_empty() {
        return Err(format!("is \"link\", but the {topology} has no link"));
    }
    Ok(Kind::Links { ends, each: wires.nodes_each() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failures::keys::PARAMS;
    use crate::registry::{Param, resolve};

    fn units(text: &str, topology: Topology) -> Result<Units, String> {
        let params: Vec<&Param> = PARAMS.iter().collect();
        let params = resolve("failures", &params, &text.parse().unwrap(), &[]).unwrap();
        Units::new(&params, &[topology]).map_err(|problem| problem.message)
    }

    fn all(units: &Units) -> Vec<Vec<Node>> {
        (0..units.count()).map(|unit| units.nodes(unit).1).collect()
    }

    #[test]
    fn units_of_each_scope() {
        let mesh = || Topology::mesh(&[4, 2]).unwrap();
        assert_eq!(all(&units("", mesh()).unwrap()).len(), 8);
        let blocks = units("scope = 'block'\nblock = [2, 2]", mesh()).unwrap();
        assert_eq!(all(&blocks), [vec![0, 1, 4, 5], vec![2, 3, 6, 7]]);
        let cubes = units("scope = 'block'\nblock = 2", Topology::hypercube(3).unwrap()).unwrap();
        assert_eq!(all(&cubes), [[0, 1, 2, 3], [4, 5, 6, 7]]);
        let leaves = units("scope = 'switch'", Topology::fat_tree(&[3, 2], 1.0).unwrap()).unwrap();
        assert_eq!(all(&leaves), [[0, 1, 2], [3, 4, 5]]);
        let routers = units("scope = 'switch'", Topology::dragonfly(2, 4, 2).unwrap()).unwrap();
        assert_eq!((routers.count(), routers.nodes(35).1), (36, vec![70, 71]));
        // No node is in two units of a list, and together the units have all nodes.
        for units in [blocks, cubes, leaves, routers] {
            let mut nodes: Vec<Node> = all(&units).concat();
            nodes.sort_unstable();
            let count = nodes.len() as u32;
            assert_eq!(nodes, (0..count).collect::<Vec<Node>>());
        }
    }

    #[test]
    fn links_are_the_pairs_of_neighbours() {
        for topology in [
            Topology::mesh(&[4, 3]).unwrap(),
            Topology::torus(&[5, 3]).unwrap(),
            Topology::hypercube(4).unwrap(),
        ] {
            let units = units("scope = 'link'", topology.clone()).unwrap();
            let mut found = all(&units);
            found.sort_unstable();
            let grid = topology.grid();
            let mut pairs: Vec<Vec<Node>> = (0..grid.nodes())
                .flat_map(|a| {
                    let further = grid.neighbors(a).into_iter().filter(move |&b| a < b);
                    further.map(move |b| vec![a, b]).collect::<Vec<_>>()
                })
                .collect();
            pairs.sort_unstable();
            assert_eq!(found, pairs, "{topology}");
        }
    }

    #[test]
    fn what_a_topology_has_not_is_refused_in_a_sentence() {
        let mesh = || Topology::mesh(&[4, 2]).unwrap();
        let flat = || Topology::flat(10).unwrap();
        for (text, topology, part) in [
            ("scope = 'block'", mesh(), "`failures.block`, the sides of a block, is missing"),
            ("block = [2, 2]", mesh(), "only the scope \"block\" has blocks"),
            (
                "scope = 'block'\nblock = [3, 2]",
                mesh(),
                "is 3x2, but blocks of one size must tile the 4 × 2 mesh",
            ),
            ("scope = 'block'\nblock = 2", mesh(), "one side for each dimension"),
            (
                "scope = 'block'\nblock = 4",
                flat(),
                "that divides those of the flat machine of 10 processors",
            ),
            ("scope = 'block'\nblock = [2, 5]", flat(), "it is one number: a count of nodes"),
            (
                "scope = 'block'\nblock = 4",
                Topology::hypercube(3).unwrap(),
                "the dimension of a subcube",
            ),
            ("scope = 'switch'", flat(), "of whose switches nothing is known"),
            ("scope = 'link'", flat(), "where no node is lost with a link"),
            (
                "scope = 'link'",
                Topology::fat_tree(&[2, 2], 1.0).unwrap(),
                "where no node is lost with a link",
            ),
        ] {
            let refused = units(text, topology).unwrap_err();
            assert!(refused.contains(part), "{text}: {refused}");
        }
    }
}
