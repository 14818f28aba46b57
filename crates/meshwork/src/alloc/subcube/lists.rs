//! Lists of disjoint free subcubes.

use std::collections::{BTreeMap, BTreeSet};

use super::{free_subcubes, number};
use crate::alloc::RecallError;
use crate::geometry::NodeSet;
use crate::geometry::cube::{CubeSearch, Subcube};
use crate::machine::{Placement, Site};

/// Which free dimension a cube is halved along: the cube, the dimensions that may be taken, and the
/// masks of all listed cubes, each with their number.
pub(super) type SplitRule = fn(Subcube, u32, &BTreeMap<u32, u32>) -> u32;

/// The free nodes of a hypercube as disjoint subcubes, a list for each dimension, ordered by base.
///
/// # Complexity
/// **O(log c)** for each cube put in or taken out, of *c* in the lists.
#[derive(Clone, Debug)]
pub(crate) struct CubeLists {
    whole: u32,
    split: SplitRule,
    lists: Vec<BTreeSet<Subcube>>,
    /// How many listed cubes there are with each mask.
    masks: BTreeMap<u32, u32>,
}

impl CubeLists {
    /// The lists of an empty machine of this dimension: the whole cube.
    #[must_use]
    pub(crate) fn new(dimension: u32, split: SplitRule) -> CubeLists {
        let lists = vec![BTreeSet::new(); dimension as usize + 1];
        let mut new = CubeLists { whole: dimension, split, lists, masks: BTreeMap::new() };
        new.insert(Subcube::whole(dimension));
        new
    }

    /// The listed cubes of this dimension.
    pub(crate) fn of_dimension(&self, dimension: u32) -> impl Iterator<Item = Subcube> {
        self.lists.get(dimension as usize).into_iter().flatten().copied()
    }

    /// The least dimension of a listed cube that is at least this one.
    #[must_use]
    pub(crate) fn smallest_from(&self, dimension: u32) -> Option<u32> {
        (dimension..=self.whole).find(|&j| !self.lists[j as usize].is_empty())
    }

    /// Puts a cube into its list, as it is.
    pub(crate) fn insert(&mut self, cube: Subcube) {
        self.lists[cube.dimension() as usize].insert(cube);
        *self.masks.entry(cube.mask).or_default() += 1;
    }

    /// Takes a listed cube out of its list.
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

    /// The listed cube that holds all of this one.
    fn holder(&self, cube: Subcube) -> Option<Subcube> {
        let masks = self.masks.keys().filter(|&mask| cube.mask & !mask == 0);
        masks
            .map(|&mask| Subcube { base: cube.base & !mask, mask })
            .find(|found| self.lists(*found))
    }

    fn lists(&self, cube: Subcube) -> bool {
        self.lists[cube.dimension() as usize].contains(&cube)
    }

    /// Takes a part out of a listed cube: halves it until the part is left, and lists the other halves.
    fn carve(&mut self, cube: Subcube, part: Subcube) {
        self.remove(cube);
        let mut rest = cube;
        while rest != part {
            let among = rest.mask & !part.mask;
            let upper = |halves: [Subcube; 2]| halves[1].holds(part);
            rest = self.halve(rest, among, upper).0;
        }
    }

    /// Halves a cube that is not listed along one of the dimensions of `among`, and lists one half:
    /// the lower one if the upper is to be kept. The half that is kept, and the one that is listed.
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

    /// Lists a cube that has become free, merged with neighbours: as long as a listed cube has the same
    /// mask and a base that differs in one bit, the lowest such bit first, the two become one.
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

    /// Takes claimed nodes out. What lies within one listed cube is carved out of it; if something
    /// does not, the lists are formed anew.
    pub(crate) fn claimed(&mut self, placement: &Placement, site: &Site, search: &mut CubeSearch) {
        for block in &placement.blocks {
            let part = Subcube::of(block);
            match self.holder(part) {
                Some(cube) => self.carve(cube, part),
                None => return self.form_anew(site.free(), search),
            }
        }
    }

    /// Lists nodes that have been given back. An empty machine has the lists that it began with:
    /// otherwise cubes that cannot be merged in pairs would stay apart for ever.
    pub(crate) fn released(&mut self, placement: &Placement, site: &Site) {
        if site.free_nodes() == site.nodes() {
            *self = CubeLists::new(self.whole, self.split);
            return;
        }
        for block in &placement.blocks {
            self.give_back(Subcube::of(block));
        }
    }

    /// The listed cubes as numbers: which they are depends on all that has happened.
    pub(super) fn memory(&self) -> Vec<u64> {
        self.lists.iter().flatten().copied().map(number).collect()
    }

    /// Lists what was listed once, on a site that is as it was then.
    ///
    /// # Errors
    /// If these are not the free nodes of the site, each once.
    pub(super) fn recall(&mut self, memory: &[u64], site: &Site) -> Result<(), RecallError> {
        let cubes = free_subcubes(memory, site)?;
        self.lists.iter_mut().for_each(BTreeSet::clear);
        self.masks.clear();
        cubes.into_iter().for_each(|cube| self.insert(cube));
        Ok(())
    }

    /// Forms the lists anew: the largest free cube first, of those the one with the lowest base, and
    /// then with the lowest mask.
    pub(crate) fn form_anew(&mut self, free: &NodeSet, search: &mut CubeSearch) {
        self.lists.iter_mut().for_each(BTreeSet::clear);
        self.masks.clear();
        let mut rest = free.clone();
        for dimension in (0..=self.whole).rev() {
            // What is taken leaves no new cube free, so those that there are now are all there will be.
            for cube in search.all(&rest, dimension) {
                if cube.is_within(&rest) {
                    cube.take_from(&mut rest);
                    self.insert(cube);
                }
            }
        }
    }
}
