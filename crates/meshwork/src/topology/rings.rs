//! Links of a grid: each router has a link to each of its neighbours in the grid.

use super::wires::{ClassRule, End, Leg, Manner, Route, Router, Wires};
use super::{Grid, Node};

/// A dimension of a grid with a side of at least 2, and the ports of its links.
#[derive(Clone, Debug)]
struct Dimension {
    index: usize,
    side: u32,
    is_ring: bool,
    /// Port towards higher coordinates along the dimension. `down` is the port towards lower ones.
    up: u16,
    down: u16,
}

/// The links of a grid with a router at each point.
///
/// Every router has a port for each direction of each dimension. A packet that leaves through a
/// port enters the next router at the port of the same number. A dimension of side 2 has one port,
/// even if it is a ring, because a ring of two routers is one link. A dimension of side 1 has no
/// port.
#[derive(Clone, Debug)]
pub(super) struct GridWires {
    grid: Grid,
    nodes_each: u32,
    ports: usize,
    dimensions: Vec<Dimension>,
}

impl GridWires {
    pub(super) fn new(grid: &Grid, nodes_each: u32) -> GridWires {
        let mut dimensions = Vec::new();
        let mut ports = 0;
        for (index, &side) in grid.sides().iter().enumerate().filter(|&(_, &side)| side > 1) {
            let is_ring = grid.is_ring(index) && side > 2;
            let down = if side > 2 { ports + 1 } else { ports };
            dimensions.push(Dimension { index, side, is_ring, up: ports, down });
            ports = down + 1;
        }
        GridWires { grid: grid.clone(), nodes_each, ports: usize::from(ports), dimensions }
    }
}

impl Wires for GridWires {
    fn routers(&self) -> u32 {
        self.grid.nodes()
    }

    fn nodes_each(&self) -> u32 {
        self.nodes_each
    }

    fn ports(&self) -> usize {
        self.ports
    }

    fn link(&self, router: Router, port: usize) -> Option<End> {
        let of = |d: &&Dimension| [d.up, d.down].map(usize::from).contains(&port);
        let dimension = self.dimensions.iter().find(of)?;
        let Dimension { index, side, is_ring, up, .. } = *dimension;
        let (at, stride) = (self.grid.coordinate(router, index), self.grid.strides()[index]);
        let row = router - at * stride;
        let next = |at: u32| Some(End { router: row + at * stride, port });
        let goes_up = usize::from(up) == port && (side > 2 || at == 0);
        match (goes_up, is_ring) {
            (true, _) if at + 1 < side => next(at + 1),
            (false, _) if at > 0 => next(at - 1),
            (true, true) => next(0),
            (false, true) => next(side - 1),
            _ => None,
        }
    }

    /// Returns 2 if any dimension is a ring, otherwise 1. [`ClassRule`] explains why rings need
    /// two.
    fn classes(&self, _manner: &Manner) -> Option<usize> {
        Some(if self.dimensions.iter().any(|dimension| dimension.is_ring) { 2 } else { 1 })
    }

    fn most_legs(&self) -> usize {
        self.dimensions.iter().map(|dimension| if dimension.is_ring { 2 } else { 1 }).sum()
    }

    /// A shortest route, which takes one dimension after another, the lowest first.
    ///
    /// If both directions of a ring are equally long, a bit of `coins` chooses the direction. Bit
    /// *d* chooses for the *d*-th dimension that has links.
    fn route(&self, from: Node, to: Node, coins: u64, manner: &Manner, _detour: bool) -> Route {
        let (from, to) = (from / self.nodes_each, to / self.nodes_each);
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
            match manner.rings {
                ClassRule::Static => route.push(Leg { port, class: u8::from(wraps), hops }),
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

    fn distance(&self, a: Node, b: Node) -> u32 {
        self.grid.distance(a / self.nodes_each, b / self.nodes_each)
    }
}
