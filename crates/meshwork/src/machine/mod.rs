//! The machine: its sites and their free nodes.

mod amounts;
pub mod tasks;

pub use amounts::{Amounts, NodeAmounts};
pub(crate) use amounts::{CellLimits, ChangeLog};

use std::borrow::Cow;

use crate::geometry::NodeSet;
use crate::geometry::cube::Subcube;
use crate::job::Request;
use crate::topology::{Grid, Node, Topology};

// Re-exported: the units in which a site is claimed.
pub use crate::geometry::{Block, NodePart, PartAmounts, Parts, Placement};

/// Reason why a placement cannot be claimed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ClaimError {
    /// Error: the placement has no blocks, or one of its blocks does not lie on the machine's grid.
    #[error("{placement} is no placement on a {machine}")]
    Misshapen {
        /// The placement, as its `Debug` text.
        placement: String,
        /// The topology, in words.
        machine: String,
    },
    /// Error: nodes or amounts in the placement are held, or the placement names a node twice.
    #[error("the placement {placement} is not free")]
    NotFree {
        /// The placement, in the notation of per-job output.
        placement: String,
    },
}

/// Part of a machine with its own topology, speed and free nodes. A job runs on one site.
///
/// Only the engine changes the sites of a run. Schedulers look ahead on copies.
#[derive(Clone, Debug)]
pub struct Site {
    topology: Topology,
    speed: f64,
    free: NodeSet,
    free_nodes: u32,
    /// Free amounts of the nodes' resources; `None` if jobs do not share nodes.
    ///
    /// If jobs share nodes, the field `free` has only the idle nodes.
    amounts: Option<Box<Amounts>>,
}

impl Site {
    /// Creates a site without jobs; a job's run time is divided by `speed`.
    #[must_use]
    pub fn new(topology: Topology, speed: f64) -> Site {
        let nodes = topology.grid().nodes();
        let amounts = topology.types().map(|types| Box::new(Amounts::new(types.clone())));
        let free_nodes = topology.processors();
        Site { topology, speed, free: NodeSet::full(nodes), free_nodes, amounts }
    }

    /// Free amounts of the site's nodes; `None` if jobs do not share nodes.
    #[must_use]
    #[inline]
    pub fn amounts(&self) -> Option<&Amounts> {
        self.amounts.as_deref()
    }

    /// Whether the nodes of a placement, or its amounts of shared nodes, are free.
    #[must_use]
    pub fn has_free(&self, placement: &Placement) -> bool {
        match &self.amounts {
            Some(amounts) => amounts.has(&parts_of(amounts, &self.topology, placement)),
            None => placement.is_within(&self.free, self.grid()),
        }
    }

    fn change(&mut self, change: impl FnOnce(&mut Amounts, &mut dyn FnMut(Node, bool))) {
        let Some(amounts) = &mut self.amounts else { return };
        let free = &mut self.free;
        change(amounts, &mut |node, is_idle| {
            if is_idle { free.insert(node) } else { free.remove(node) }
        });
        self.free_nodes = amounts.free_cores() as u32;
    }

    /// For each resource that the placement uses, the amount that a claim now would leave free.
    ///
    /// Counters of running pieces are left out.
    pub(crate) fn left_beside(&self, placement: &Placement) -> CellLimits {
        let (Some(amounts), Some(parts)) = (&self.amounts, &placement.parts) else {
            return CellLimits::new();
        };
        let mut left = CellLimits::new();
        for part in &parts.parts {
            let of = amounts.of(part.node);
            for &(cell, amount) in &part.cells {
                let known = left.iter_mut().find(|(node, at, _)| (*node, *at) == (part.node, cell));
                match known {
                    Some((_, _, left)) => *left -= amount.min(*left),
                    None if (cell as usize) < of.kind.tallies_from() => {
                        let rest = of.cells[cell as usize].saturating_sub(amount);
                        left.push((part.node, cell, rest));
                    }
                    None => {}
                }
            }
        }
        left
    }

    pub(crate) fn begin_trial(&mut self) {
        if let Some(amounts) = &mut self.amounts {
            amounts.begin_trial();
        }
    }

    /// Lowers free amounts, but not below 0. Each item is a node, the index of a resource, and an
    /// amount.
    pub(crate) fn lower(&mut self, by: impl Iterator<Item = (Node, u16, u32)>) {
        let by: CellLimits = by.collect();
        self.change(|amounts, mut changed| amounts.lower(&by, &mut changed));
    }

    pub(crate) fn limit(&mut self, limits: &CellLimits) {
        self.change(|amounts, mut changed| amounts.limit(limits, &mut changed));
    }

    pub(crate) fn end_trial(&mut self) {
        self.change(|amounts, mut changed| amounts.end_trial(&mut changed));
    }

    pub(crate) fn set_free(&mut self, free: &NodeSet) {
        self.free.copy_from(free);
        self.free_nodes = free.count();
    }

    /// Copies the free nodes and amounts of `original`, of which this site is a copy.
    pub(crate) fn become_like(&mut self, original: &Site) {
        self.free.copy_from(&original.free);
        self.free_nodes = original.free_nodes;
        self.amounts.clone_from(&original.amounts);
    }

    /// Claims the free nodes of a placement or, if jobs share nodes, as much of its amounts as is
    /// free.
    pub(crate) fn take_what_is_free_of(&mut self, placement: &Placement) {
        if let Some(amounts) = &self.amounts {
            let parts = parts_of(amounts, &self.topology, placement);
            self.change(|amounts, mut changed| amounts.take_what_is_free_of(&parts, &mut changed));
            return;
        }
        placement.for_each_run(self.topology.grid(), |start, count| {
            self.free.remove_range(start, count);
        });
        self.free_nodes = self.free.count();
    }

    /// Topology of the site.
    #[must_use]
    pub fn topology(&self) -> &Topology {
        &self.topology
    }

    /// Grid of the site's node numbers.
    #[must_use]
    pub fn grid(&self) -> &Grid {
        self.topology.grid()
    }

    /// Speed of the site, relative to the machine on which the workload's run times were measured.
    #[must_use]
    pub fn speed(&self) -> f64 {
        self.speed
    }

    /// Set of free nodes.
    #[must_use]
    pub fn free(&self) -> &NodeSet {
        &self.free
    }

    /// Number of free nodes, or of free cores if jobs share nodes. **O(1)**.
    #[must_use]
    pub fn free_nodes(&self) -> u32 {
        self.free_nodes
    }

    /// Number of all nodes of the site, or of all cores if jobs share nodes.
    #[must_use]
    pub fn nodes(&self) -> u32 {
        self.topology.processors()
    }

    /// Number of nodes (or cores) that a request asks for; `None` if it is 0 or fewer are free.
    ///
    /// An allocator that can give a job any free nodes needs no other check. **O(1)**.
    #[inline]
    #[must_use]
    pub fn count_if_free(&self, request: &Request) -> Option<u32> {
        let count = u32::try_from(request.nodes()).ok()?;
        (1..=self.free_nodes).contains(&count).then_some(count)
    }

    /// Claims the nodes of a placement, if all of them exist, are free and distinct.
    ///
    /// # Errors
    /// If the placement is invalid or not free. The site is unchanged then.
    pub fn claim(&mut self, placement: &Placement) -> Result<(), ClaimError> {
        if self.amounts.is_some() {
            return self.claim_parts(placement);
        }
        if self.claim_row(placement) {
            return Ok(());
        }
        let grid = self.topology.grid();
        if let [block] = &placement.blocks[..]
            && let Some(cube) = Subcube::on(block, grid)
        {
            if !cube.take_if_within(&mut self.free) {
                return Err(ClaimError::NotFree { placement: placement.text(grid) });
            }
            self.free_nodes -= block.len();
            return Ok(());
        }
        let ill_shaped = !placement.blocks.iter().all(|block| grid.holds(block.base, &block.sides));
        if ill_shaped || placement.blocks.is_empty() {
            let (placement, machine) = (format!("{placement:?}"), self.topology.to_string());
            return Err(ClaimError::Misshapen { placement, machine });
        }
        let mut taken = true;
        let (mut runs, mut nodes) = (0, 0);
        placement.for_each_run(grid, |start, count| {
            taken = taken && self.free.contains_range(start, count);
            if taken {
                self.free.remove_range(start, count);
                runs += 1;
                nodes += count;
            }
        });
        if !taken {
            placement.for_each_run(grid, |start, count| {
                if runs > 0 {
                    self.free.insert_range(start, count);
                    runs -= 1;
                }
            });
            return Err(ClaimError::NotFree { placement: placement.text(grid) });
        }
        self.free_nodes -= nodes;
        Ok(())
    }

    /// Claims a placement on shared nodes: its amounts, or whole nodes if the placement has no
    /// amounts.
    fn claim_parts(&mut self, placement: &Placement) -> Result<(), ClaimError> {
        let Some(amounts) = &self.amounts else { return Ok(()) };
        let is_on_grid = |node: u32| node < self.topology.grid().nodes();
        let is_placed = match &placement.parts {
            Some(parts) => parts.parts.iter().all(|part| is_on_grid(part.node)),
            None => {
                placement.blocks.iter().all(|block| self.grid().holds(block.base, &block.sides))
            }
        };
        if !is_placed || placement.blocks.is_empty() {
            let (placement, machine) = (format!("{placement:?}"), self.topology.to_string());
            return Err(ClaimError::Misshapen { placement, machine });
        }
        let parts = parts_of(amounts, &self.topology, placement);
        if !amounts.has(&parts) {
            return Err(ClaimError::NotFree { placement: placement.text(self.grid()) });
        }
        self.change(|amounts, mut changed| amounts.take(&parts, &mut changed));
        Ok(())
    }

    /// Fast path of [`claim`](Site::claim) for a machine of one dimension. If it returns `false`,
    /// it has claimed nothing.
    #[inline]
    fn claim_row(&mut self, placement: &Placement) -> bool {
        let grid = self.topology.grid();
        if grid.dimensions() > 1 || grid.is_wrapped() || placement.blocks.is_empty() {
            return false;
        }
        let mut nodes = 0;
        for (taken, block) in placement.blocks.iter().enumerate() {
            let run = match block.sides[..] {
                [count] if count > 0 && block.base < grid.nodes() => count,
                _ => 0,
            };
            let is_free = (1..=grid.nodes().saturating_sub(block.base)).contains(&run)
                && self.free.contains_range(block.base, run);
            if !is_free {
                for block in &placement.blocks[..taken] {
                    self.free.insert_range(block.base, block.sides[0]);
                }
                return false;
            }
            self.free.remove_range(block.base, run);
            nodes += run;
        }
        self.free_nodes -= nodes;
        true
    }

    /// Claims `count` nodes of which only the number is recorded.
    ///
    /// The site must not have nodes that were claimed by a placement.
    pub(crate) fn claim_count(&mut self, count: u32) -> Result<(), ClaimError> {
        let left = self.free_nodes.checked_sub(count);
        let not_free = || ClaimError::NotFree { placement: format!("of {count} processors") };
        self.free_nodes = left.ok_or_else(not_free)?;
        Ok(())
    }

    pub(crate) fn release_count(&mut self, count: u32) {
        self.free_nodes += count;
        debug_assert!(self.free_nodes <= self.nodes(), "released twice");
    }

    /// Releases the nodes of a claimed placement.
    pub fn release(&mut self, placement: &Placement) {
        if let Some(amounts) = &self.amounts {
            let parts = parts_of(amounts, &self.topology, placement);
            self.change(|amounts, mut changed| amounts.give_back(&parts, &mut changed));
            return;
        }
        debug_assert!(placement.is_clear_of(&self.free, self.grid()), "released twice");
        if let [block] = &placement.blocks[..]
            && let Some(cube) = Subcube::on(block, self.topology.grid())
        {
            cube.add_to(&mut self.free);
            self.free_nodes += block.len();
            return;
        }
        placement.for_each_run(self.topology.grid(), |start, count| {
            self.free.insert_range(start, count);
            self.free_nodes += count;
        });
    }

    /// Draws the site for tests and terminals: `.` for a free node, `#` for a held one.
    ///
    /// There is one line for each row; layers of two dimensions follow one another.
    #[must_use]
    pub fn drawing(&self) -> String {
        let grid = self.grid();
        let (width, height) = (grid.sides()[0], grid.sides().get(1).copied().unwrap_or(1));
        let mut text = String::new();
        for node in 0..grid.nodes() {
            text.push(if self.free.contains(node) { '.' } else { '#' });
            if (node + 1) % width == 0 {
                text.push('\n');
            }
            if (node + 1) % (width * height) == 0 && node + 1 < grid.nodes() {
                text.push('\n');
            }
        }
        text
    }
}

/// Amounts that a placement claims: its named parts or, if it names none, all amounts of its nodes.
fn parts_of<'p>(
    amounts: &Amounts,
    topology: &Topology,
    placement: &'p Placement,
) -> Cow<'p, Parts> {
    match &placement.parts {
        Some(parts) => Cow::Borrowed(parts),
        None => {
            let nodes = placement.nodes(topology.grid());
            let parts = nodes.into_iter().map(|node| amounts.whole(node)).collect();
            Cow::Owned(Parts { parts, cores: 0 })
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use smallvec::smallvec;

    use super::*;
    use crate::job::Dims;

    fn block(grid: &Grid, corner: &[u32], sides: &[u32]) -> Block {
        Block { base: grid.node(corner), sides: Dims::from_slice(sides) }
    }

    #[test]
    fn a_claim_is_whole_or_not_at_all() {
        let mut site = Site::new(Topology::mesh(&[4, 3]).unwrap(), 1.0);
        let grid = site.grid().clone();
        site.claim(&block(&grid, &[0, 0], &[2, 2]).into()).unwrap();
        assert_eq!(site.drawing(), "##..\n##..\n....\n");
        let before = site.free().clone();
        let refused = site.claim(&block(&grid, &[1, 1], &[2, 2]).into()).unwrap_err();
        assert_eq!(refused.to_string(), "the placement 1,1:2x2 is not free");
        assert_eq!((site.free(), site.free_nodes()), (&before, 8));
        let twice = Placement {
            blocks: smallvec![block(&grid, &[2, 0], &[1, 1]), block(&grid, &[2, 0], &[1, 1])],
            ..Placement::default()
        };
        assert!(site.claim(&twice).is_err());
        assert_eq!((site.free(), site.free_nodes()), (&before, 8));
        assert!(site.claim(&block(&grid, &[3, 0], &[2, 1]).into()).is_err(), "over the edge");
        site.release(&block(&grid, &[0, 0], &[2, 2]).into());
        assert_eq!(site.free_nodes(), 12);
    }

    proptest! {
        /// Compares two machines after equal claims: a row of nodes, and a mesh of one such row.
        ///
        /// The code for rows is separate from the general code for meshes.
        #[test]
        fn a_row_is_claimed_as_a_mesh_of_one_row(
            claims in prop::collection::vec(prop::collection::vec((0_u32..72, 0_u32..40), 0..4), 1..20),
        ) {
            let mut row = Site::new(Topology::flat(70).unwrap(), 1.0);
            let mut mesh = Site::new(Topology::mesh(&[70, 1]).unwrap(), 1.0);
            for claim in claims {
                let blocks = |rest: &[u32]| -> Placement {
                    let block = |&(base, count): &(u32, u32)| {
                        let sides = [count].into_iter().chain(rest.iter().copied()).collect();
                        Block { base, sides }
                    };
                    Placement { blocks: claim.iter().map(block).collect(), parts: None }
                };
                let (taken, expected) = (row.claim(&blocks(&[])), mesh.claim(&blocks(&[1])));
                prop_assert_eq!(
                    taken.map_err(|error| std::mem::discriminant(&error)),
                    expected.map_err(|error| std::mem::discriminant(&error))
                );
                prop_assert_eq!(row.free(), mesh.free());
                prop_assert_eq!(row.free_nodes(), mesh.free_nodes());
            }
        }
    }
}
