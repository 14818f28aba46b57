//! The wires of a machine: ports, links, and the legs of a packet's way.

use smallvec::SmallVec;

use crate::network::NetworkError;
use crate::topology::{Grid, Node, Topology, Wiring};

/// No node: what lies behind a port at the edge of a mesh.
pub(super) const NOWHERE: Node = Node::MAX;

/// Which of its ring's two classes of virtual channels a packet uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClassRule {
    /// Class 1 on the whole ring if the way crosses the edge of the ring, else class 0. Class 0 never
    /// uses the wrapping link and class 1 never the link opposite to it, so neither can close a circle.
    Static,
    /// Class 0 up to the edge of the ring, class 1 from the wrapping link on.
    Dateline,
}

/// A straight part of a packet's way: so many hops through one port, in one class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Leg {
    pub(super) port: u8,
    pub(super) class: u8,
    pub(super) hops: u32,
}

/// The legs of a way, in order.
pub(super) type Route = SmallVec<[Leg; 4]>;

/// One dimension with more than one node.
#[derive(Clone, Debug)]
struct Dimension {
    index: usize,
    side: u32,
    is_ring: bool,
    /// The port towards higher coordinates, and the one towards lower ones.
    up: u8,
    down: u8,
}

/// Routers and the links between them.
///
/// Every router has a port for each direction of each dimension and, as its last one, a local port, to
/// and from its own processor. What leaves through a port enters the next router at the port of the
/// same number. A dimension of side 2 has one port, also where it is wrapped: a ring of two is one
/// link. A dimension of side 1 has none.
#[derive(Clone, Debug)]
pub struct Fabric {
    grid: Grid,
    ports: usize,
    classes: usize,
    dimensions: Vec<Dimension>,
    /// The node behind each port of each node.
    next: Vec<Node>,
}

impl Fabric {
    /// The wires of a machine.
    ///
    /// # Errors
    /// One sentence if it is flat: a switch has no links to simulate.
    pub fn new(topology: &Topology) -> Result<Fabric, NetworkError> {
        Ok(Fabric::outline(topology)?.laid())
    }

    /// An outline with its wires.
    pub(super) fn laid(self) -> Fabric {
        let Fabric { grid, ports, dimensions, .. } = &self;
        let (ports, grid) = (*ports, grid);
        let mut next = vec![NOWHERE; grid.nodes() as usize * ports];
        for node in 0..grid.nodes() {
            for dimension in dimensions {
                let (at, side) = (grid.coordinate(node, dimension.index), dimension.side);
                let stride = grid.strides()[dimension.index];
                let row = node - at * stride;
                let place = |port: u8| node as usize * ports + usize::from(port);
                if at + 1 < side || dimension.is_ring {
                    next[place(dimension.up)] = row + (at + 1) % side * stride;
                }
                if at > 0 || dimension.is_ring {
                    next[place(dimension.down)] = row + (at + side - 1) % side * stride;
                }
            }
        }
        Fabric { next, ..self }
    }

    /// What is known of the wires without laying them: how many ports a router has, and in which classes.
    ///
    /// # Errors
    /// [`NetworkError::NoLinks`] if it is flat: a switch has no links to simulate.
    pub(super) fn outline(topology: &Topology) -> Result<Fabric, NetworkError> {
        if topology.wiring() == Wiring::Flat {
            return Err(NetworkError::NoLinks { machine: topology.to_string() });
        }
        let grid = topology.grid().clone();
        let mut dimensions = Vec::new();
        let mut ports = 0;
        for (index, &side) in grid.sides().iter().enumerate().filter(|&(_, &side)| side > 1) {
            let is_ring = grid.is_wrapped() && side > 2;
            let down = if side > 2 { ports + 1 } else { ports };
            dimensions.push(Dimension { index, side, is_ring, up: ports, down });
            ports = down + 1;
        }
        let ports = usize::from(ports) + 1;
        let classes = if dimensions.iter().any(|dimension| dimension.is_ring) { 2 } else { 1 };
        Ok(Fabric { grid, ports, classes, dimensions, next: Vec::new() })
    }

    /// The same with as many classes as one likes, to see what becomes of it.
    #[cfg(test)]
    pub(super) fn with_classes(
        topology: &Topology,
        classes: usize,
    ) -> Result<Fabric, NetworkError> {
        Ok(Fabric { classes, ..Fabric::new(topology)? })
    }

    /// How many nodes there are.
    #[must_use]
    pub fn nodes(&self) -> u32 {
        self.grid.nodes()
    }

    /// The geometry.
    #[must_use]
    pub fn grid(&self) -> &Grid {
        &self.grid
    }

    /// How many ports a router has, the local one included.
    #[must_use]
    pub fn ports(&self) -> usize {
        self.ports
    }

    /// The port to and from a router's own processor.
    #[must_use]
    pub fn local(&self) -> usize {
        self.ports - 1
    }

    /// How many classes of virtual channels there have to be: 2 where there are rings.
    #[must_use]
    pub fn classes(&self) -> usize {
        self.classes
    }

    /// Directed links between routers.
    #[must_use]
    pub fn links(&self) -> usize {
        self.next.iter().filter(|&&next| next != NOWHERE).count()
    }

    /// The node behind a port.
    pub(super) fn next(&self, node: Node, port: usize) -> Node {
        self.next[node as usize * self.ports + port]
    }

    /// The most legs that a way has.
    pub(super) fn most_legs(&self) -> usize {
        self.dimensions.iter().map(|dimension| if dimension.is_ring { 2 } else { 1 }).sum()
    }

    /// The way between two nodes: shortest, lowest dimension first. Where both directions of a ring
    /// are equally long, bit *d* of `coins` decides for dimension *d*.
    ///
    /// # Complexity
    /// **O(d)** for *d* dimensions.
    pub(super) fn route(&self, from: Node, to: Node, coins: u64, rule: ClassRule) -> Route {
        let mut route = Route::new();
        for (d, dimension) in self.dimensions.iter().enumerate() {
            let Dimension { index, side, is_ring, up, down } = *dimension;
            let (a, b) = (self.grid.coordinate(from, index), self.grid.coordinate(to, index));
            if a == b {
                continue;
            }
            if !is_ring {
                let port = if b > a { up } else { down };
                route.push(Leg { port, class: 0, hops: a.abs_diff(b) });
                continue;
            }
            let hops_up = if b > a { b - a } else { b + side - a };
            let hops_down = side - hops_up;
            let goes_up = hops_up < hops_down || (hops_up == hops_down && coins >> d & 1 == 0);
            let (port, hops) = if goes_up { (up, hops_up) } else { (down, hops_down) };
            let before_the_edge = if goes_up { side - 1 - a } else { a };
            let wraps = hops > before_the_edge;
            match rule {
                ClassRule::Static => {
                    route.push(Leg { port, class: u8::from(wraps && self.classes > 1), hops });
                }
                ClassRule::Dateline => {
                    if before_the_edge > 0 {
                        route.push(Leg { port, class: 0, hops: hops.min(before_the_edge) });
                    }
                    if wraps {
                        route.push(Leg { port, class: 1, hops: hops - before_the_edge });
                    }
                }
            }
        }
        route
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn fabrics() -> impl Strategy<Value = Fabric> {
        (prop::collection::vec(1_u32..6, 1..4), any::<bool>()).prop_map(|(sides, wrapped)| {
            let made = if wrapped { Topology::torus(&sides) } else { Topology::mesh(&sides) };
            Fabric::new(&made.unwrap()).unwrap()
        })
    }

    proptest! {
        /// A way leads where it should, along a shortest path, dimension by dimension.
        #[test]
        fn a_route_is_a_shortest_path(
            fabric in fabrics(), from in any::<u32>(), to in any::<u32>(), coins in any::<u64>(),
        ) {
            let (from, to) = (from % fabric.nodes(), to % fabric.nodes());
            for rule in [ClassRule::Static, ClassRule::Dateline] {
                let route = fabric.route(from, to, coins, rule);
                prop_assert!(route.len() <= fabric.most_legs());
                prop_assert!(route.windows(2).all(|legs| legs[0].port <= legs[1].port));
                let (mut at, mut hops) = (from, 0);
                for leg in &route {
                    prop_assert!(leg.hops > 0 && usize::from(leg.class) < fabric.classes());
                    for _ in 0..leg.hops {
                        at = fabric.next(at, usize::from(leg.port));
                        prop_assert_ne!(at, NOWHERE);
                        hops += 1;
                    }
                }
                prop_assert_eq!(at, to);
                prop_assert_eq!(hops, fabric.grid().distance(from, to));
            }
        }

        /// The proof of freedom from deadlock, checked: on every ring, the links that follow one
        /// another on some way within one class make no circle.
        #[test]
        fn no_class_of_a_ring_closes_a_circle(side in 3_u32..12, dateline in any::<bool>()) {
            let fabric = Fabric::new(&Topology::torus(&[side]).unwrap()).unwrap();
            let rule = if dateline { ClassRule::Dateline } else { ClassRule::Static };
            // (port, class, node) of a link → those that a packet holds next.
            let index = |port: u8, class: u8, node: Node| {
                (usize::from(port) * 2 + usize::from(class)) * side as usize + node as usize
            };
            let mut follows = vec![Vec::new(); 4 * side as usize];
            for (from, to, coins) in (0..side * side * 2).map(|i| (i / 2 % side, i / 2 / side, i % 2)) {
                let mut at = from;
                let mut before = None;
                for leg in fabric.route(from, to, u64::from(coins), rule) {
                    for _ in 0..leg.hops {
                        let link = index(leg.port, leg.class, at);
                        if let Some(before) = before.replace(link) {
                            let list: &mut Vec<usize> = &mut follows[before];
                            list.push(link);
                        }
                        at = fabric.next(at, usize::from(leg.port));
                    }
                }
            }
            // Take away links that nothing follows, until none is left.
            let mut left: Vec<usize> = (0..follows.len()).collect();
            loop {
                let kept: Vec<usize> = left
                    .iter()
                    .copied()
                    .filter(|&link| follows[link].iter().any(|next| left.contains(next)))
                    .collect();
                if kept.len() == left.len() {
                    break;
                }
                left = kept;
            }
            prop_assert_eq!(left, Vec::<usize>::new());
        }
    }

    #[test]
    fn the_coin_decides_half_way_around() {
        let fabric = Fabric::new(&Topology::torus(&[4, 4]).unwrap()).unwrap();
        let ports = |coins| -> Vec<u8> {
            fabric.route(0, 10, coins, ClassRule::Static).iter().map(|leg| leg.port).collect()
        };
        assert_eq!(
            [ports(0), ports(1), ports(2), ports(3)],
            [[0, 2], [1, 2], [0, 3], [1, 3]].map(Vec::from)
        );
    }

    #[test]
    fn sides_of_two_have_one_link() {
        let cube = Fabric::new(&Topology::hypercube(3).unwrap()).unwrap();
        assert_eq!((cube.ports(), cube.links(), cube.classes()), (4, 24, 1));
        let torus = Fabric::new(&Topology::torus(&[2, 2, 2]).unwrap()).unwrap();
        assert_eq!((torus.links(), torus.classes()), (24, 1));
        let torus = Fabric::new(&Topology::torus(&[4, 1, 3]).unwrap()).unwrap();
        assert_eq!((torus.ports(), torus.links(), torus.classes()), (5, 48, 2));
    }
}
