//! Selection of those free boxes of a listed shape that are best by one criterion.

use super::super::overlap::{Count, count_meeting, extremes};
use super::{Shape, Torus, View};
use crate::alloc::listed::criteria::Criterion;
use crate::geometry::NodeSet;

impl Torus {
    /// Keeps those of the given free boxes that are best by one criterion, and returns their cost.
    ///
    /// A lower cost is better.
    pub(in super::super) fn narrow(
        &self,
        view: &View,
        entry: usize,
        criterion: Criterion,
        bases: &mut NodeSet,
    ) -> i64 {
        match criterion {
            Criterion::Weight => self.narrow_to_lightest(view, entry, bases),
            Criterion::NextSizeDestroyed => {
                let size = self.entries[entry].size();
                let next = self.entries.iter().position(|other| other.size() > size);
                let Some(next) = next else { return 0 };
                if self.grid.nodes() <= u32::from(u16::MAX) {
                    keep_cheapest(bases, &self.meeting::<u16>(view, entry, next, bases))
                } else {
                    keep_cheapest(bases, &self.meeting::<u32>(view, entry, next, bases))
                }
            }
            Criterion::LargerSizesDestroyed => {
                let size = self.entries[entry].size();
                let mut sum = vec![0_u32; self.grid.nodes() as usize];
                for (other, larger) in self.entries.iter().enumerate() {
                    if larger.size() > size {
                        let costs = self.meeting::<u32>(view, entry, other, bases);
                        for (sum, cost) in sum.iter_mut().zip(costs) {
                            *sum += cost * larger.size();
                        }
                    }
                }
                keep_cheapest(bases, &sum)
            }
            Criterion::Boundary => {
                let is_free = |cell: &u32| view.free.contains(*cell);
                let around = |base: u32| self.cells_around(base, &self.entries[entry].shape);
                let contact = |base: u32| around(base).filter(is_free).count() as u32;
                let mut costs = vec![0_u32; self.grid.nodes() as usize];
                bases.iter().for_each(|base| costs[base as usize] = contact(base));
                keep_cheapest(bases, &costs)
            }
            Criterion::NeighboursRemaining => self.narrow_to_lasting(view, entry, bases),
            Criterion::FewestIdleTorus | Criterion::MostIdleTorus | Criterion::Order => 0,
        }
    }

    fn narrow_to_lightest(&self, view: &View, entry: usize, bases: &mut NodeSet) -> i64 {
        let sides = &self.entries[entry].shape.sides;
        for (weight, free) in &view.by_weight {
            let mut light = self.free_bases.clone().all(&self.grid, free, sides).clone();
            light.intersect(bases);
            if !light.is_empty() {
                bases.copy_from(&light);
                return i64::from(*weight);
            }
        }
        0
    }

    /// For each free box of shape `entry`, counts the free boxes of shape `other` that overlap it.
    pub(super) fn meeting<C: Count>(
        &self,
        view: &View,
        entry: usize,
        other: usize,
        bases: &NodeSet,
    ) -> Vec<C> {
        let (own, other) = (&self.entries[entry], &self.entries[other]);
        let mut free = view.free.clone();
        // A box with holes counts as free if all of its nodes are.
        free.unite(&self.holes);
        let mut others = self.free_bases.clone().all(&self.grid, &free, &other.shape.sides).clone();
        others.intersect(&other.bases);
        if self.is_plain {
            return count_meeting(&self.grid, &others, &own.shape.sides, &other.shape.sides);
        }
        let universe = self.cells.iter().flatten().max().map_or(0, |&last| last + 1);
        let set = |base, shape| self.set_of(base, shape, universe);
        let others: Vec<NodeSet> = others.iter().map(|base| set(base, &other.shape)).collect();
        let mut counts = vec![C::ZERO; self.grid.nodes() as usize];
        for base in bases.iter() {
            let own = set(base, &own.shape);
            let met = others.iter().filter(|other| other.meets(&own)).count();
            counts[base as usize] = C::of(met as u32);
        }
        counts
    }

    /// Keeps the boxes whose neighbours have the greatest total remaining run time; returns their
    /// cost.
    ///
    /// The longer the time, the lower the cost.
    fn narrow_to_lasting(&self, view: &View, entry: usize, bases: &mut NodeSet) -> i64 {
        let Some(ends) = &view.ends else { return 0 };
        let lasting = |base: u32| -> f64 {
            let around = self.cells_around(base, &self.entries[entry].shape);
            around
                .filter(|&cell| !view.free.contains(cell))
                .filter_map(|cell| self.cells[cell as usize])
                .map(|node| ends.remaining(node))
                .sum()
        };
        let all: Vec<(u32, f64)> = bases.iter().map(|base| (base, lasting(base))).collect();
        let longest = all.iter().fold(0.0, |longest: f64, (_, sum)| longest.max(*sum));
        for (base, _) in all.into_iter().filter(|(_, sum)| *sum < longest) {
            bases.remove(base);
        }
        // The bits of non-negative numbers are ordered like their values.
        -(longest.to_bits() as i64)
    }

    /// Cells beside the faces of a box; a cell beside two faces is returned twice.
    ///
    /// Along an axis that the box fills completely, there are no such cells.
    fn cells_around(&self, base: u32, shape: &Shape) -> impl Iterator<Item = u32> + '_ {
        let at = [0, 1, 2].map(|axis| self.grid.coordinate(base, axis));
        let shape = *shape;
        let faces = (0..3).flat_map(|axis| [(axis, false), (axis, true)]);
        let faces = faces.filter(move |&(axis, _)| shape.sides[axis] < self.grid.sides()[axis]);
        faces.flat_map(move |(axis, is_far)| {
            let length = self.grid.sides()[axis];
            let (mut face, mut corner) = (shape, at);
            face.sides[axis] = 1;
            let step = if is_far { shape.sides[axis] } else { length - 1 };
            corner[axis] = (at[axis] + step) % length;
            self.cells_of(self.grid.node(&corner), &face)
        })
    }
}

fn keep_cheapest<C: Count>(bases: &mut NodeSet, costs: &[C]) -> i64 {
    let (mut least, mut most) = (C::MOST, C::ZERO);
    let mut least_of_word = Vec::with_capacity(bases.words().len());
    for (&word, costs) in bases.words().iter().zip(costs.chunks(64)) {
        let (own_least, own_most) =
            if word == 0 { (C::MOST, C::ZERO) } else { extremes(word, costs) };
        (least, most) = (least.min(own_least), most.max(own_most));
        least_of_word.push(own_least);
    }
    if least < most {
        let words = bases.words_mut().iter_mut().zip(costs.chunks(64));
        for ((word, costs), own_least) in words.zip(least_of_word) {
            if own_least > least {
                *word = 0;
            } else if *word != 0 {
                let cheap =
                    costs.iter().rev().fold(0, |bits, &cost| bits << 1 | u64::from(cost == least));
                *word &= cheap;
            }
        }
    }
    i64::from(least.into())
}
