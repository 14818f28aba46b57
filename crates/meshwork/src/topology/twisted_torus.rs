//! Twisted tori: tori of sides k and 2k with offset links, which shorten the longest distances.

use std::sync::Arc;

use smallvec::SmallVec;

use super::wires::{End, Leg, Manner, Route, Router, Wires, mixed};
use super::{Grid, Node, SIDES, Topology, TopologyEntry, TopologyError, Wiring};
use crate::registry::About;

pub(crate) static ENTRY: TopologyEntry = TopologyEntry::new(
    About::new(
        "twisted_torus",
        "a torus of sides k and 2k, whose short rings are closed k steps further \
             along the long ones",
    )
    .definition(
        "The points of a grid whose sides are k or 2k, at least one of either. Links join \
         neighbours as on a torus, but a step across the edge of a side of k also leads k steps \
         along every side of 2k. In two dimensions it is the rectangular twisted torus of k × 2k, \
         in three k × k × 2k is the prismatic doubly twisted torus and k × 2k × 2k its counterpart \
         with two long sides. All nodes see the same machine. Blocks around the edges are not what \
         they are on a grid, so it hands out processors by count.",
    )
    .complexity(
        "2 d links at every node; the longest shortest way in two dimensions has k \
             links instead of the 3k/2 of the torus.",
    )
    .source(
        "Cámara, Moretó, Vallejo, Beivide, Miguel-Alonso, Martínez & Navaridas, Twisted torus \
         topologies for enhanced interconnection networks, IEEE TPDS 21(12), 2010",
    )
    .params(&[SIDES]),
    |p| {
        Topology::twisted_torus(&p.integers("dims"))
            .map_err(|error| p.problem("dims", error.to_string()))
    },
);

/// The links of a twisted torus.
///
/// Port 2 *d* leads to higher coordinates in dimension *d*. Port 2 *d* + 1 leads to lower ones.
#[derive(Clone, Debug)]
struct TwistedTorus {
    grid: Grid,
    /// Length k of the short sides.
    k: u32,
}

impl TwistedTorus {
    fn is_short(&self, dimension: usize) -> bool {
        self.grid.sides()[dimension] == self.k
    }

    /// All shortest routes between two nodes, each as the signed number of steps along each
    /// dimension.
    ///
    /// Short sides have length k, long sides 2k. Along a short side, a route can go up or down. If
    /// it crosses the edge of a short side, it is offset by k along every long side, so two
    /// crossings cancel out. It matters only whether the number of crossings is even or odd.
    fn shortest(&self, from: Node, to: Node) -> Vec<SmallVec<[i64; 4]>> {
        let k = i64::from(self.k);
        let (a, b) = (self.grid.coordinates(from), self.grid.coordinates(to));
        let dimensions = self.grid.dimensions();
        let apart = |d: usize| i64::from(b[d]) - i64::from(a[d]);
        let short: SmallVec<[usize; 4]> = (0..dimensions).filter(|&d| self.is_short(d)).collect();
        let mut found: Vec<SmallVec<[i64; 4]>> = Vec::new();
        let mut least = i64::MAX;
        let mut try_with = |steps: SmallVec<[i64; 4]>| {
            let links = steps.iter().map(|step| step.abs()).sum();
            if links < least {
                found.clear();
                least = links;
            }
            if links == least && !found.contains(&steps) {
                found.push(steps);
            }
        };
        for crossing in 0_u32..1 << short.len() {
            let mut steps: SmallVec<[i64; 4]> = (0..dimensions).map(apart).collect();
            for (bit, &d) in short.iter().enumerate().filter(|(bit, _)| crossing >> bit & 1 == 1) {
                let _ = bit;
                steps[d] -= if steps[d] > 0 { k } else { -k };
            }
            let off = if crossing.count_ones() % 2 == 1 { k } else { 0 };
            let mut halves: SmallVec<[usize; 4]> = SmallVec::new();
            for d in (0..dimensions).filter(|&d| !self.is_short(d)) {
                let up = (apart(d) + off).rem_euclid(2 * k);
                steps[d] = if up > k { up - 2 * k } else { up };
                if up == k {
                    halves.push(d);
                }
            }
            // Half way around a long ring, the two directions are equally short.
            for signs in 0_u32..1 << halves.len() {
                let mut steps = steps.clone();
                for (bit, &d) in halves.iter().enumerate() {
                    if signs >> bit & 1 == 1 {
                        steps[d] = -k;
                    }
                }
                try_with(steps);
            }
        }
        found
    }
}

impl Wires for TwistedTorus {
    fn routers(&self) -> u32 {
        self.grid.nodes()
    }

    fn ports(&self) -> usize {
        2 * self.grid.dimensions()
    }

    fn link(&self, router: Router, port: usize) -> Option<End> {
        let d = port / 2;
        let side = self.grid.sides()[d];
        let mut at = self.grid.coordinates(router);
        let crosses = if port.is_multiple_of(2) { at[d] + 1 == side } else { at[d] == 0 };
        at[d] = (at[d] + if port.is_multiple_of(2) { 1 } else { side - 1 }) % side;
        if crosses && self.is_short(d) {
            for long in (0..self.grid.dimensions()).filter(|&long| !self.is_short(long)) {
                at[long] = (at[long] + self.k) % (2 * self.k);
            }
        }
        Some(End { router: self.grid.node(&at), port })
    }

    /// Returns `None`: no number of classes of virtual channels is known to avoid deadlock. Packets
    /// can block each other in a cycle that goes through rings of several dimensions.
    fn classes(&self, _manner: &Manner) -> Option<usize> {
        None
    }

    fn most_legs(&self) -> usize {
        self.grid.dimensions()
    }

    /// Shortest route through one dimension after another; random bits choose among several.
    fn route(&self, from: Node, to: Node, coins: u64, _manner: &Manner, _detour: bool) -> Route {
        let ways = self.shortest(from, to);
        let steps = &ways[mixed(coins) as usize % ways.len()];
        let moves = steps.iter().enumerate().filter(|(_, step)| **step != 0);
        moves
            .map(|(d, &step)| Leg {
                port: (2 * d + usize::from(step < 0)) as u16,
                class: 0,
                hops: step.unsigned_abs() as u32,
            })
            .collect()
    }

    fn distance(&self, a: Node, b: Node) -> u32 {
        let ways = self.shortest(a, b);
        ways[0].iter().map(|step| step.unsigned_abs() as u32).sum()
    }
}

impl Topology {
    /// A twisted torus. Its sides have the two lengths k and 2k, and each length occurs.
    ///
    /// ```
    /// use meshwork::topology::Topology;
    /// let twisted = Topology::twisted_torus(&[4, 8]).unwrap();
    /// let farthest = (0..32).map(|node| twisted.distance(0, node)).max();
    /// assert_eq!(farthest, Some(4)); // 6 on a torus
    /// ```
    ///
    /// # Errors
    /// If the sides are not k and 2k, k is 1, there are more than eight sides, or too many nodes.
    pub fn twisted_torus(sides: &[u32]) -> Result<Topology, TopologyError> {
        let grid = Grid::new(sides, false)?;
        let (k, long) = (sides.iter().copied().min(), sides.iter().copied().max());
        let (k, long) = (k.unwrap_or(0), long.unwrap_or(0));
        let given = sides.iter().map(u32::to_string).collect::<Vec<_>>().join(" × ");
        let is_one_of = |&side: &u32| side == k || side == long;
        if k < 2
            || Some(long) != k.checked_mul(2)
            || !sides.iter().all(is_one_of)
            || sides.len() > 8
        {
            return Err(TopologyError::Twisted { given });
        }
        let text = format!("{given} twisted torus");
        let wires = Arc::new(TwistedTorus { grid: grid.clone(), k });
        Ok(Topology::bare(Wiring::TwistedTorus, grid, text, None, Some(wires)))
    }
}
