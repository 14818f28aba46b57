//! Which processors are free, from now on.

use crate::geometry::NodeSet;
use crate::job::{Request, Time};
use crate::machine::Placement;
use crate::offer::Denied;
use crate::topology::Grid;

/// A step function of time: the processors that will be free, if nothing else is started.
///
/// # Complexity
/// With *s* steps and *n* nodes, **O(s · n / 64)** at the worst for each operation, and as much space.
#[derive(Clone, Debug)]
pub(super) struct FreeSets {
    steps: Vec<Step>,
    /// Room to work in.
    from_then_on: Vec<NodeSet>,
    own_nodes: NodeSet,
}

/// From this instant on these are free.
#[derive(Clone, Debug)]
struct Step {
    from: Time,
    free: NodeSet,
    count: u32,
    /// For what there is no place among these.
    denied: Denied,
}

/// What a place is looked for: in which form, of how many nodes, for how long.
#[derive(Clone, Copy)]
pub(super) struct Wanted<'a> {
    pub(super) request: &'a Request,
    pub(super) count: u32,
    pub(super) span: f64,
}

/// What somebody holds, from an instant up to another.
#[derive(Clone, Copy)]
pub(super) struct Held<'a> {
    pub(super) from: Time,
    pub(super) until: Time,
    pub(super) placement: &'a Placement,
}

impl Step {
    fn give_back(&mut self, placement: &Placement, grid: &Grid) {
        placement.add_to(&mut self.free, grid);
        self.count += placement.len();
        self.denied.forget();
    }
}

impl FreeSets {
    pub(super) fn new(now: Time, free: &NodeSet) -> FreeSets {
        let first =
            Step { from: now, free: free.clone(), count: free.count(), denied: Denied::new(true) };
        FreeSets {
            steps: vec![first],
            from_then_on: Vec::new(),
            own_nodes: NodeSet::empty(free.universe()),
        }
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
            step.give_back(placement, grid);
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
            step.give_back(held.placement, grid);
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

    /// Looks for the first instant before `limit` from which there is a place for `wanted` as long as it
    /// needs one: `place` is asked with the nodes that are free throughout, those of `own` counted as
    /// free. It misses no block. `None` if there is no such instant.
    ///
    /// Where there is none in all the time that is needed, the last part of it in which there is none is
    /// found by halves: whatever starts before that part begins needs all of it.
    pub(super) fn first_place<P>(
        &mut self,
        wanted: &Wanted<'_>,
        limit: Option<Time>,
        own: Option<Held<'_>>,
        grid: &Grid,
        mut place: impl FnMut(&NodeSet) -> Option<P>,
    ) -> Option<(Time, P)> {
        let FreeSets { steps, from_then_on, own_nodes } = self;
        let Wanted { request, count, span } = *wanted;
        own_nodes.clear();
        let mut own_count = 0;
        if let Some(own) = own {
            own.placement.add_to(own_nodes, grid);
            own_count = own.placement.len();
        }
        let is_own = |at: Time| own.is_some_and(|own| own.from <= at && at < own.until);
        let free = |step: &Step| step.count + if is_own(step.from) { own_count } else { 0 };
        let mut at = 0;
        'starts: while let Some(first) = steps.get(at) {
            if limit.is_some_and(|limit| first.from >= limit) {
                return None;
            }
            if free(first) < count || !is_own(first.from) && first.denied.is_known(request) {
                at += 1;
                continue;
            }
            let until = (first.from + span).max(first.from.next());
            let mut end = at + 1;
            while let Some(step) = steps.get(end).filter(|step| step.from < until) {
                if free(step) < count {
                    at = end + 1;
                    continue 'starts;
                }
                end += 1;
            }
            // For each step what is free from it to the end.
            let parts = end - at;
            while from_then_on.len() < parts {
                from_then_on.push(NodeSet::empty(grid.nodes()));
            }
            for part in (0..parts).rev() {
                let (here, later) = from_then_on.split_at_mut(part + 1);
                let (here, step) = (&mut here[part], &steps[at + part]);
                here.copy_from(&step.free);
                if is_own(step.from) {
                    here.unite(own_nodes);
                }
                if part + 1 < parts {
                    here.intersect(&later[0]);
                }
            }
            let mut place_from = |part: usize| {
                let free = &from_then_on[part];
                if free.count() < count { None } else { place(free) }
            };
            if let Some(found) = place_from(0) {
                return Some((steps[at].from, found));
            }
            let (mut none, mut some) = (0, parts);
            while some - none > 1 {
                let middle = usize::midpoint(none, some);
                match place_from(middle) {
                    Some(_) => some = middle,
                    None => none = middle,
                }
            }
            // What has no place at one step has none in whatever time that is a part of.
            for step in [at, at + none] {
                let step = &mut steps[step];
                if !is_own(step.from)
                    && !step.denied.is_known(request)
                    && (parts == 1 || place(&step.free).is_none())
                {
                    step.denied.note(request);
                }
            }
            at += none + 1;
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::machine::Block;
    use crate::topology::Topology;

    proptest! {
        /// Against one set for each unit of time, and every start.
        #[test]
        fn the_first_place_is_the_first(
            changes in prop::collection::vec((0_u32..40, 1_u32..20, 0_u32..20, 1_u32..6), 0..40),
            questions in prop::collection::vec((1_u32..6, 0_u32..25, prop::option::of(1_u32..60)), 1..8),
            back in prop::collection::vec(any::<bool>(), 40),
        ) {
            let topology = Topology::mesh(&[24]).unwrap();
            let grid = topology.grid();
            let time = |t: u32| Time::new(f64::from(t));
            let mut sets = FreeSets::new(time(0), &NodeSet::full(24));
            let mut array = vec![NodeSet::full(24); 200];
            for ((from, length, base, width), back) in changes.into_iter().zip(back) {
                let block = Block { base, sides: [width.min(24 - base)].as_slice().into() };
                let (placement, until) = (Placement::from(block), from + length);
                let held = Held { from: time(from), until: time(until), placement: &placement };
                let span = from as usize..until as usize;
                let free = array[span.clone()].iter().all(|set| placement.is_within(set, grid));
                prop_assert_eq!(sets.hold(held, grid), free);
                if free && back {
                    sets.give_back(held, grid);
                } else if free {
                    array[span].iter_mut().for_each(|set| set.remove_range(base, placement.len()));
                }
                // Asked in between, so that what is remembered has to stay true.
                for &(width, span, limit) in &questions {
                    let run = |free: &NodeSet| (0..=24 - width).find(|&b| free.contains_range(b, width));
                    let request = Request::block(&[width]);
                    let wanted = Wanted { request: &request, count: width, span: f64::from(span) };
                    let found = sets.first_place(&wanted, limit.map(time), None, grid, run);
                    let expected = (0..limit.unwrap_or(99)).find_map(|start| {
                        let mut free = array[start as usize].clone();
                        array[start as usize..(start + span.max(1)) as usize]
                            .iter()
                            .for_each(|set| free.intersect(set));
                        run(&free).map(|base| (time(start), base))
                    });
                    prop_assert_eq!(found, expected);
                }
            }
        }
    }
}
