//! Search for the best centre of a job's nodes.
//!
//! The free nodes around all possible centres are counted together.

use crate::geometry::NodeSet;
use crate::topology::{Grid, Node};

use super::axes::Axes;
use super::balls::{Balls, Reached};
use super::planes::Planes;
use super::stretch::Stretch;

pub(super) struct BestOfAll {
    axes: Axes,
    balls: Balls,
    planes: Planes,
    stretch: Stretch,
}

impl BestOfAll {
    pub(super) fn new(grid: &Grid) -> BestOfAll {
        let (axes, lower) = (Axes::new(grid), Planes::lower(grid));
        let (planes, stretch) = (Planes::new(grid, lower), Stretch::new(grid, lower));
        BestOfAll { axes, balls: Balls::new(grid, lower), planes, stretch }
    }

    pub(super) fn empty_copy(&self) -> BestOfAll {
        let BestOfAll { axes, balls, planes, stretch } = self;
        let (axes, balls) = (axes.clone(), balls.empty_copy());
        BestOfAll { axes, balls, planes: planes.empty_copy(), stretch: stretch.empty_copy() }
    }

    /// The first centre whose `count` nearest free nodes have the fewest hops over all pairs.
    ///
    /// `None` if [`Balls::reach`] exceeds its limits.
    pub(super) fn best(
        &mut self,
        grid: &Grid,
        free: &NodeSet,
        centres: &NodeSet,
        count: u32,
    ) -> Option<Node> {
        let BestOfAll { axes, balls, planes, stretch } = self;
        let reached = balls.reach(grid, free, centres, count)?;
        planes.look_at(balls, reached.iter().map(|reached| reached.shell + 1).max()?);
        let mut best = (u64::MAX, Node::MAX);
        let nodes = planes.nodes;
        let plane = |reached: &Reached| reached.centre as usize / nodes;
        for group in reached.chunk_by(|a, b| plane(a) == plane(b)) {
            let shells = group.iter().map(|reached| reached.shell + 1).max().unwrap_or(0);
            planes.look_from(balls, axes, plane(&group[0]), shells);
            let is_one =
                |a: &Reached, b: &Reached| planes.stretch(a.centre) == planes.stretch(b.centre);
            for side_by_side in group.chunk_by(is_one) {
                stretch.look_at(planes, axes, side_by_side, count);
                for &reached in side_by_side {
                    let may_be = |least: u64| (least, reached.centre) < best;
                    if let Some(hops) = stretch.hops(planes, axes, free, reached, may_be) {
                        best = (hops, reached.centre).min(best);
                    }
                }
            }
        }
        Some(best.1)
    }
}
