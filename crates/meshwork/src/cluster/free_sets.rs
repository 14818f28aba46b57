//! Which processors are free, from now on.

use crate::geometry::NodeSet;
use crate::job::Time;
use crate::machine::Placement;
use crate::topology::Grid;

/// A step function of time: the processors that will be free, if nothing else is started.
///
/// # Complexity
/// With *s* steps and *n* nodes, **O(s · n / 64)** at the worst for each operation, and as much space.
#[derive(Clone, Debug)]
pub(super) struct FreeSets {
    steps: Vec<Step>,
}

/// From this instant on these are free.
#[derive(Clone, Debug)]
struct Step {
    from: Time,
    free: NodeSet,
    count: u32,
}

/// What somebody holds, from an instant up to another.
#[derive(Clone, Copy)]
pub(super) struct Held<'a> {
    pub(super) from: Time,
    pub(super) until: Time,
    pub(super) placement: &'a Placement,
}

impl FreeSets {
    pub(super) fn new(now: Time, free: &NodeSet) -> FreeSets {
        FreeSets { steps: vec![Step { from: now, free: free.clone(), count: free.count() }] }
    }

    /// The first step begins now: what lies before is forgotten.
    pub(super) fn advance(&mut self, now: Time) {
        let past = self.from(now.next()).saturating_sub(1);
        self.steps.drain(..past);
        self.steps[0].from = self.steps[0].from.max(now);
    }

    /// These are free for ever from an instant on, at which they were not.
    pub(super) fn release(&mut self, from: Time, placement: &Placement, grid: &Grid) {
        let first = self.cut(from);
        for step in &mut self.steps[first..] {
            placement.add_to(&mut step.free, grid);
            step.count += placement.len();
        }
    }

    /// Takes what is held. `false`, and nothing is changed, if some of it is not free.
    pub(super) fn hold(&mut self, held: Held<'_>, grid: &Grid) -> bool {
        let (first, last) = self.within(held);
        let mut steps = self.steps[first..last].iter();
        if !steps.all(|step| held.placement.is_within(&step.free, grid)) {
            return false;
        }
        for step in &mut self.steps[first..last] {
            let free = &mut step.free;
            held.placement.for_each_run(grid, |start, count| free.remove_range(start, count));
            step.count -= held.placement.len();
        }
        true
    }

    /// Gives back what was held.
    pub(super) fn give_back(&mut self, held: Held<'_>, grid: &Grid) {
        let (first, last) = self.within(held);
        for step in &mut self.steps[first..last] {
            held.placement.add_to(&mut step.free, grid);
            step.count += held.placement.len();
        }
        // Where nothing changes any more there is no step.
        for step in [last, first] {
            if step > 0
                && step < self.steps.len()
                && self.steps[step].count == self.steps[step - 1].count
                && self.steps[step].free == self.steps[step - 1].free
            {
                self.steps.remove(step);
            }
        }
    }

    /// Looks for the first instant before `limit` from which for `span` enough is free in the right
    /// places: at each that has `count` processors for so long, `place` is asked with those that are
    /// free throughout, those of `own` counted as free. `None` if there is none.
    pub(super) fn first_place<P>(
        &self,
        (count, span): (u32, f64),
        limit: Option<Time>,
        own: Option<Held<'_>>,
        grid: &Grid,
        mut place: impl FnMut(&NodeSet) -> Option<P>,
    ) -> Option<(Time, P)> {
        let is_own = |step: &Step| own.is_some_and(|own| own.from <= step.from && step.from < own.until);
        let free = |step: &Step| step.count + if is_own(step) { own.map_or(0, |own| own.placement.len()) } else { 0 };
        let mut at = 0;
        let mut throughout = NodeSet::empty(grid.nodes());
        let mut own_nodes = NodeSet::empty(grid.nodes());
        if let Some(own) = own {
            own.placement.add_to(&mut own_nodes, grid);
        }
        'starts: while let Some(first) = self.steps.get(at) {
            if limit.is_some_and(|limit| first.from >= limit) {
                return None;
            }
            if free(first) < count {
                at += 1;
                continue;
            }
            let until = (first.from + span).max(first.from.next());
            let mut end = at + 1;
            while let Some(step) = self.steps.get(end).filter(|step| step.from < until) {
                if free(step) < count {
                    at = end + 1;
                    continue 'starts;
                }
                end += 1;
            }
            throughout.copy_from(&first.free);
            if is_own(first) {
                throughout.unite(&own_nodes);
            }
            for step in &self.steps[at + 1..end] {
                if is_own(step) {
                    throughout.intersect_union(&step.free, &own_nodes);
                } else {
                    throughout.intersect(&step.free);
                }
            }
            if throughout.count() >= count
                && let Some(found) = place(&throughout)
            {
                return Some((first.from, found));
            }
            at += 1;
        }
        None
    }

    /// The steps while something is held; they are made to begin and to end with it.
    fn within(&mut self, held: Held<'_>) -> (usize, usize) {
        let first = self.cut(held.from);
        let last = self.cut(held.until);
        (first, last.max(first))
    }

    /// The first step that begins at this instant or later.
    fn from(&self, instant: Time) -> usize {
        self.steps.partition_point(|step| step.from < instant)
    }

    /// The step that begins at this instant, which is made if there is none; the first for an instant
    /// before it.
    fn cut(&mut self, instant: Time) -> usize {
        let at = self.from(instant);
        let is_there = self.steps.get(at).is_some_and(|step| step.from == instant);
        if at > 0 && !is_there {
            let before = self.steps[at - 1].clone();
            self.steps.insert(at, Step { from: instant, ..before });
        }
        at
    }
}
