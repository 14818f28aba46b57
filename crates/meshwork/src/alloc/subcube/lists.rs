//! Lists of disjoint free subcubes of a hypercube.

use std::collections::{BTreeMap, BTreeSet};

use super::{free_subcubes, number};
use crate::alloc::RecallError;
use crate::geometry::NodeSet;
use crate::geometry::cube::{CubeSearch, Subcube};
use crate::machine::{Placement, Site};

/// Rule that selects the dimension along which a subcube is halved.
///
/// Its arguments are the subcube, the eligible dimensions as bits, and a map with numbers of
/// subcubes in the lists. A key of the map is a mask, the set of dimensions along which a subcube
/// extends. Its value is the number of listed subcubes that extend along these dimensions.
pub(super) type SplitRule = fn(Subcube, u32, &BTreeMap<u32, u32>) -> u32;

/// Free nodes of a hypercube, stored as disjoint subcubes.
///
/// There is one list for each dimension of subcubes, ordered by base. To insert or remove a subcube
/// takes **O(log c)** with *c* subcubes in the lists.
#[derive(Clone, Debug)]
pub(crate) struct CubeLists {
    whole: u32,
    split: SplitRule,
    lists: Vec<BTreeSet<Subcube>>,
    /// For each mask of dimensions, the number of listed subcubes that extend along these
    /// dimensions.
    masks: BTreeMap<u32, u32>,
}

impl CubeLists {
    pub(crate) fn new(dimension: u32, split: SplitRule) -> CubeLists {
        let lists = vec![BTreeSet::new(); dimension as usize + 1];
        let mut new = CubeLists { whole: dimension, split, lists, masks: BTreeMap::new() };
        new.insert(Subcube::whole(dimension));
        new
    }

    pub(crate) fn of_dimension(&self, dimension: u32) -> impl Iterator<Item = Subcube> {
        self.lists.get(dimension as usize).into_iter().flatten().copied()
    }

    /// The smallest dimension, not below `dimension`, of which the lists contain a subcube.
    pub(crate) fn smallest_from(&self, dimension: u32) -> Option<u32> {
        (dimension..=self.whole).find(|&j| !self.lists[j as usize].is_empty())
    }

    /// Inserts a subcube into its list, without merging it with others.
    pub(crate) fn insert(&mut self, cube: Subcube) {
        self.lists[cube.dimension() as usize].insert(cube);
        *self.masks.entry(cube.mask).or_default() += 1;
    }

    pub(crate) fn remove(&mut self, cube: Subcube) {
        let was_there = self.lists[cube.dimension() as usize].remove(&cube);
        debug_assert!(was_there, "{cube:?} is not listed");
        if let Some(count) = self.masks.get_mut(&cube.mask) {
            *count -= 1;
            if *count == 0 {
                self.masks.remove(&cube.mask);
            }
        }
    }

    /// Subcube in the lists that contains the whole of a given subcube; `None` if no single one
    /// does.
    fn holder(&self, cube: Subcube) -> Option<Subcube> {
        let masks = self.masks.keys().filter(|&mask| cube.mask & !mask == 0);
        masks
            .map(|&mask| Subcube { base: cube.base & !mask, mask })
            .find(|found| self.lists(*found))
    }

    fn lists(&self, cube: Subcube) -> bool {
        self.lists[cube.dimension() as usize].contains(&cube)
    }

    /// Halves the subcube `cube` of the lists until `part` is left; the other halves are put in the
    /// lists.
    fn carve(&mut self, cube: Subcube, part: Subcube) {
        self.remove(cube);
        let mut rest = cube;
        while rest != part {
            let among = rest.mask & !part.mask;
            let upper = |halves: [Subcube; 2]| halves[1].holds(part);
            rest = self.halve(rest, among, upper).0;
        }
    }

    /// Halves a subcube along one of the dimensions in `among`; the subcube itself must be in no
    /// list.
    ///
    /// Returns the half that is kept, and the other half, which is put in the lists.
    pub(crate) fn halve(
        &mut self,
        cube: Subcube,
        among: u32,
        keep_upper: impl Fn([Subcube; 2]) -> bool,
    ) -> (Subcube, Subcube) {
        let [lower, upper] = cube.halves((self.split)(cube, among, &self.masks));
        let (kept, other) =
            if keep_upper([lower, upper]) { (upper, lower) } else { (lower, upper) };
        self.insert(other);
        (kept, other)
    }

    /// Puts a subcube that has become free in the lists, after merging it with neighbours in the
    /// lists.
    ///
    /// Two subcubes can be merged if they extend along equal dimensions, and their bases differ in
    /// one bit. Lower bits are tried first.
    pub(crate) fn give_back(&mut self, cube: Subcube) {
        let mut cube = cube;
        while let Some((d, partner)) = (0..self.whole)
            .filter(|d| cube.mask >> d & 1 == 0)
            .map(|d| (d, Subcube { base: cube.base ^ 1 << d, ..cube }))
            .find(|(_, partner)| self.lists(*partner))
        {
            self.remove(partner);
            cube = Subcube { base: cube.base & !(1 << d), mask: cube.mask | 1 << d };
        }
        self.insert(cube);
    }

    /// Removes a placement from the lists; subcubes that contain its blocks are divided.
    ///
    /// If a block does not lie in a single subcube of the lists, the lists are rebuilt.
    pub(crate) fn claimed(&mut self, placement: &Placement, site: &Site, search: &mut CubeSearch) {
        for block in &placement.blocks {
            let part = Subcube::of(block);
            match self.holder(part) {
                Some(cube) => self.carve(cube, part),
                None => return self.form_anew(site.free(), search),
            }
        }
    }

    /// Puts the nodes of a released placement into the lists of free subcubes.
    ///
    /// If the machine is then empty, the lists are reset. Without the reset, subcubes that cannot
    /// be merged in pairs would be separate for ever.
    pub(crate) fn released(&mut self, placement: &Placement, site: &Site) {
        if site.free_nodes() == site.nodes() {
            *self = CubeLists::new(self.whole, self.split);
            return;
        }
        for block in &placement.blocks {
            self.give_back(Subcube::of(block));
        }
    }

    /// Subcubes in the lists, to be saved, because they depend on all earlier claims and releases.
    pub(super) fn memory(&self) -> Vec<u64> {
        self.lists.iter().flatten().copied().map(number).collect()
    }

    /// Restores saved lists of free subcubes. The free nodes of the site must be the same as when
    /// the lists were saved.
    ///
    /// # Errors
    /// If the saved subcubes do not contain each free node exactly once.
    pub(super) fn recall(&mut self, memory: &[u64], site: &Site) -> Result<(), RecallError> {
        let cubes = free_subcubes(memory, site)?;
        self.lists.iter_mut().for_each(BTreeSet::clear);
        self.masks.clear();
        cubes.into_iter().for_each(|cube| self.insert(cube));
        Ok(())
    }

    /// Rebuilds the lists from the free nodes.
    ///
    /// The largest free subcube is always taken next. Among equally large ones, subcubes are taken
    /// by base, then by mask.
    pub(crate) fn form_anew(&mut self, free: &NodeSet, search: &mut CubeSearch) {
        self.lists.iter_mut().for_each(BTreeSet::clear);
        self.masks.clear();
        let mut rest = free.clone();
        for dimension in (0..=self.whole).rev() {
            // The subcubes found now are the only candidates.
            for cube in search.all(&rest, dimension) {
                if cube.is_within(&rest) {
                    cube.take_from(&mut rest);
                    self.insert(cube);
                }
            }
        }
    }
}
