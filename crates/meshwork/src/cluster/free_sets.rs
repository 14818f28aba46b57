//! Which processors are free, from now on.

use std::ops::Range;

use crate::geometry::NodeSet;
use crate::job::{Request, Time};
use crate::machine::Placement;
use crate::offer::implies;
use crate::topology::Grid;

/// A step function of time: the processors that will be free, if nothing else is started.
///
/// # Complexity
/// With *s* steps and *n* nodes, **O(s · n / 64)** at the worst for each operation, and as much space.
#[derive(Clone, Debug)]
pub(super) struct FreeSets {
    steps: Vec<Step>,
    /// Room to work in.
    throughout: Vec<NodeSet>,
}

/// From this instant on these are free.
#[derive(Clone, Debug)]
struct Step {
    from: Time,
    /// How many are free.
    count: u32,
    free: NodeSet,
    /// For what there is no place from here on up to some instant.
    blockers: Vec<Blocker>,
}

/// For this there is no place up to then, and so none for what contains it in a time that contains that.
#[derive(Clone, Debug)]
struct Blocker {
    request: Request,
    until: Time,
    /// Whether something has become free since: most likely there is still none.
    suspected: bool,
}

/// As many are kept for each step.
const MAX_BLOCKERS: usize = 64;

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
    pub(super) nodes: &'a NodeSet,
    /// How many they are.
    pub(super) count: u32,
}

impl Step {
    /// It begins later than it did: what has no place in a part of it has none in any.
    fn begin(&mut self, from: Time) {
        self.from = from;
        for blocker in &mut self.blockers {
            blocker.until = blocker.until.max(from.next());
        }
    }

    /// There is no place for this from here on up to then.
    fn block(&mut self, request: &Request, until: Time) {
        self.blockers
            .retain(|other| other.until < until || !implies(request, &other.request, true));
        if self.blockers.len() == MAX_BLOCKERS {
            self.blockers.remove(0);
        }
        self.blockers.push(Blocker { request: request.clone(), until, suspected: false });
    }
}

impl FreeSets {
    pub(super) fn new(now: Time, free: &NodeSet) -> FreeSets {
        let count = free.count();
        let first = Step { from: now, count, free: free.clone(), blockers: Vec::new() };
        FreeSets { steps: vec![first], throughout: Vec::new() }
    }

    /// The first step begins now: what lies before is forgotten.
    pub(super) fn advance(&mut self, now: Time) {
        let past = self.from(now.next()).saturating_sub(1);
        self.steps.drain(..past);
        let begin = self.steps[0].from.max(now);
        self.steps[0].begin(begin);
    }

    /// These are free for ever from an instant on, at which they were not.
    pub(super) fn release(&mut self, from: Time, placement: &Placement, grid: &Grid) {
        let first = self.cut(from);
        self.steps.iter_mut().for_each(|step| step.blockers.clear());
        for step in &mut self.steps[first..] {
            placement.add_to(&mut step.free, grid);
            step.count += placement.len();
        }
    }

    /// Takes what is held. `false` if some of it was not free.
    pub(super) fn hold(&mut self, held: Held<'_>) -> bool {
        let (first, last) = self.within(held);
        let mut all_free = true;
        for step in &mut self.steps[first..last] {
            all_free &= held.nodes.is_within(&step.free);
            step.free.subtract(held.nodes);
            step.count = step.count.saturating_sub(held.count);
        }
        // It may go on to be held, or have been.
        self.join(last);
        self.join(first);
        all_free
    }

    /// Gives back what was held. From when up to when any of these nodes is now free without a break, around
    /// the time for which they were held.
    pub(super) fn give_back(&mut self, held: Held<'_>) -> (Time, Time) {
        let (first, last) = self.within(held);
        for step in &mut self.steps[first..last] {
            step.free.unite(held.nodes);
            step.count += held.count;
        }
        let around = self.around(first, last, held.nodes);
        // Where there is a place now it has one of these nodes, all the time, and did not before.
        let touched = self.from(around.0)..last;
        for step in &mut self.steps[touched] {
            for blocker in &mut step.blockers {
                blocker.suspected |= held.from < blocker.until && blocker.until <= around.1;
            }
        }
        self.join(last);
        self.join(first);
        around
    }

    /// From when up to when any of these nodes is free without a break, if all of them are from one step up
    /// to another.
    fn around(&mut self, first: usize, last: usize, nodes: &NodeSet) -> (Time, Time) {
        let FreeSets { steps, throughout } = self;
        if throughout.is_empty() {
            throughout.push(nodes.clone());
        }
        let left = &mut throughout[0];
        left.copy_from(nodes);
        let after = steps[last..].iter().find(|step| {
            left.intersect(&step.free);
            left.is_empty()
        });
        let until = after.map_or(Time::new(f64::INFINITY), |step| step.from);
        left.copy_from(nodes);
        let mut from = steps[first].from;
        for step in steps[..first].iter().rev() {
            left.intersect(&step.free);
            if left.is_empty() {
                break;
            }
            from = step.from;
        }
        (from, until)
    }

    /// Looks for the first instant from `begin` on, and before `limit`, from which there is a place for
    /// `wanted` as long as it needs one: `place` is asked with the nodes that are free throughout, those
    /// of `own` counted as free. It misses no block. `None` if there is no such instant.
    ///
    /// Where there is none in all the time that is needed, the least part of it in which there is none is
    /// found by halves, and kept: whatever needs all of that part has no place either.
    pub(super) fn first_place<P>(
        &mut self,
        wanted: &Wanted<'_>,
        begin: Time,
        limit: Option<Time>,
        own: Option<Held<'_>>,
        mut place: impl FnMut(&NodeSet, &Request) -> Option<P>,
    ) -> Option<(Time, P)> {
        let mut at = self.from(begin.next()).saturating_sub(1);
        let Wanted { request, count, span } = *wanted;
        let own_count = own.map_or(0, |own| own.count);
        let is_own = |at: Time| own.is_some_and(|own| own.from <= at && at < own.until);
        let free = |step: &Step| step.count + if is_own(step.from) { own_count } else { 0 };
        let is_past = |at: Time| limit.is_some_and(|limit| at >= limit);
        // From the present start on up to here, enough are free at each step.
        let mut enough_up_to = 0;
        'starts: while let Some(first) = self.steps.get(at).filter(|step| !is_past(step.from)) {
            if free(first) < count {
                at += 1;
                continue;
            }
            let (from, until) = (first.from, (first.from + span).max(first.from.next()));
            let mut end = enough_up_to.max(at + 1);
            while let Some(step) = self.steps.get(end).filter(|step| step.from < until) {
                if free(step) < count {
                    at = end + 1;
                    continue 'starts;
                }
                end += 1;
            }
            enough_up_to = end;
            if let Some(blocked) = self.blocked(at..end, request, until, own, &mut place) {
                at = blocked + 1;
                continue;
            }
            // What is free from the first step to each; all the way is asked about first.
            let FreeSets { steps, throughout } = self;
            let parts = end - at;
            while throughout.len() < parts {
                throughout.push(NodeSet::empty(steps[at].free.universe()));
            }
            let with_own = |step: &Step| own.filter(|_| is_own(step.from)).map(|own| own.nodes);
            for part in 0..parts {
                let (before, here) = throughout.split_at_mut(part);
                let step = &steps[at + part];
                here[0].assign_shared(before.last(), &step.free, with_own(step));
            }
            let mut place =
                |free: &NodeSet| if free.has_at_least(count) { place(free, request) } else { None };
            if let Some(found) = place(&throughout[parts - 1]) {
                return Some((from, found));
            }
            // The least of it in which there is none: first where it ends, then where it begins.
            let ends = first_that(parts - 1, |part| place(&throughout[part]).is_none());
            let mut further = steps[at + 1..].iter().take_while(|step| !is_past(step.from));
            let next = further.position(|step| free(step) >= count);
            let mut begins = 0;
            if next.is_some() && ends > 0 {
                for part in (0..=ends).rev() {
                    let (here, later) = throughout.split_at_mut(part + 1);
                    let step = &steps[at + part];
                    let later = later.first().filter(|_| part < ends);
                    here[part].assign_shared(later, &step.free, with_own(step));
                }
                begins = first_that(ends, |part| place(&throughout[part + 1]).is_some());
            }
            let until = steps.get(at + ends + 1).map_or(until, |step| step.from.min(until));
            steps[at + begins].block(request, until);
            at += 1 + next?.max(begins);
        }
        None
    }

    /// The last of some steps from which there is known to be no place up to the end of a time; or one from
    /// which there was none before something became free, and still is none.
    fn blocked<P>(
        &mut self,
        steps: Range<usize>,
        request: &Request,
        until: Time,
        own: Option<Held<'_>>,
        place: &mut impl FnMut(&NodeSet, &Request) -> Option<P>,
    ) -> Option<usize> {
        let holds = |step: &Step, blocker: &Blocker| {
            blocker.until <= until
                // On its own processors it may have a place.
                && own.is_none_or(|own| blocker.until <= own.from || own.until <= step.from)
                && implies(&blocker.request, request, true)
        };
        let is_known = |step: &Step| step.blockers.iter().any(|b| !b.suspected && holds(step, b));
        let known = self.steps[steps.clone()].iter().rposition(is_known);
        if let Some(step) = known {
            return Some(steps.start + step);
        }
        for at in steps.rev() {
            while let Some(suspect) =
                self.steps[at].blockers.iter().position(|b| holds(&self.steps[at], b))
            {
                let Blocker { request, until, .. } = self.steps[at].blockers.swap_remove(suspect);
                let free = self.free_between(at, until);
                let count = u32::try_from(request.nodes()).unwrap_or(u32::MAX);
                if !free.has_at_least(count) || place(&free, &request).is_none() {
                    self.steps[at].block(&request, until);
                    return Some(at);
                }
            }
        }
        None
    }

    /// What is free from a step on up to an instant.
    fn free_between(&self, step: usize, until: Time) -> NodeSet {
        let mut free = self.steps[step].free.clone();
        for further in self.steps[step + 1..].iter().take_while(|further| further.from < until) {
            free.intersect(&further.free);
        }
        free
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
            // As much is free before it as after it, and so no more has a place.
            let end = self.steps.get(at).map(|step| step.from);
            let before = &mut self.steps[at - 1];
            let mut after = before.clone();
            after.begin(instant);
            for blocker in &mut before.blockers {
                if end.is_none_or(|end| blocker.until <= end) {
                    blocker.until = blocker.until.min(instant);
                }
            }
            self.steps.insert(at, after);
        }
        at
    }

    /// Where nothing changes there is no step.
    fn join(&mut self, at: usize) {
        if at > 0
            && let Some(step) = self.steps.get(at)
            && let before = &self.steps[at - 1]
            && step.count == before.count
            && step.free == before.free
        {
            self.steps.remove(at);
        }
    }
}

/// The first number below `end` of which this holds, if it holds of all from some number on; or else `end`.
fn first_that(end: usize, mut holds: impl FnMut(usize) -> bool) -> usize {
    let (mut low, mut high) = (0, end);
    while low < high {
        let middle = usize::midpoint(low, high);
        if holds(middle) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    low
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
            questions in prop::collection::vec(
                (1_u32..6, 0_u32..25, prop::option::of(1_u32..60), 0_u32..30), 1..8,
            ),
            back in prop::collection::vec(any::<prop::sample::Index>(), 40),
        ) {
            let topology = Topology::mesh(&[24]).unwrap();
            let grid = topology.grid();
            let time = |t: u32| Time::new(f64::from(t));
            let mut sets = FreeSets::new(time(0), &NodeSet::full(24));
            let mut all: Vec<(u32, u32, Placement)> = Vec::new();
            let held = |(from, until, placement): &(u32, u32, Placement)| {
                let mut nodes = NodeSet::empty(24);
                placement.add_to(&mut nodes, grid);
                (time(*from), time(*until), nodes)
            };
            let at = |all: &[(u32, u32, Placement)], t: u32| {
                let mut free = NodeSet::full(24);
                let here = all.iter().filter(|(from, until, _)| (*from..*until).contains(&t));
                here.for_each(|(.., placement)| {
                    placement.for_each_run(grid, |start, count| free.remove_range(start, count));
                });
                free
            };
            for ((from, length, base, width), back) in changes.into_iter().zip(back) {
                let block = Block { base, sides: [width.min(24 - base)].as_slice().into() };
                let new = (from, from + length, Placement::from(block));
                let free = (from..from + length).all(|t| new.2.is_within(&at(&all, t), grid));
                if free {
                    let (from, until, nodes) = held(&new);
                    let of_it = Held { from, until, nodes: &nodes, count: nodes.count() };
                    prop_assert!(sets.hold(of_it), "what is free can be held");
                    all.push(new);
                }
                if back.index(3) == 0 && !all.is_empty() {
                    let gone = all.swap_remove(back.index(all.len()));
                    let (from, until, nodes) = held(&gone);
                    let of_it = Held { from, until, nodes: &nodes, count: nodes.count() };
                    let (begin, end) = sets.give_back(of_it);
                    // Around it, as long as any of its nodes goes on to be free.
                    let nodes = gone.2.nodes(grid);
                    let free = |node: &u32, t: u32| at(&all, t).contains(*node);
                    let after = |node: &u32| (gone.1..99).find(|&t| !free(node, t)).unwrap_or(99);
                    let last = nodes.iter().map(after).max().unwrap();
                    prop_assert_eq!(end, if last == 99 { Time::new(f64::INFINITY) } else { time(last) });
                    let before =
                        |node: &u32| (0..gone.0).rev().find(|&t| !free(node, t)).map_or(0, |t| t + 1);
                    prop_assert_eq!(begin, time(nodes.iter().map(before).min().unwrap()));
                }
                // Asked in between, so that what is remembered has to stay true.
                for &(width, span, limit, begin) in &questions {
                    let run = |free: &NodeSet| (0..=24 - width).find(|&b| free.contains_range(b, width));
                    let place = |free: &NodeSet, request: &Request| {
                        let width = request.nodes() as u32;
                        (0..=24 - width).find(|&b| free.contains_range(b, width))
                    };
                    let request = Request::block(&[width]);
                    let wanted = Wanted { request: &request, count: width, span: f64::from(span) };
                    let found =
                        sets.first_place(&wanted, time(begin), limit.map(time), None, place);
                    let expected = (0..limit.unwrap_or(99)).find_map(|start| {
                        let mut free = at(&all, start);
                        (start..start + span.max(1)).for_each(|t| free.intersect(&at(&all, t)));
                        run(&free).map(|base| (time(start), base))
                    });
                    // None begins before the step in which the search begins.
                    let step = sets.steps[sets.from(time(begin).next()) - 1].from;
                    if expected.is_none_or(|(at, _)| at >= step) {
                        prop_assert_eq!(found, expected);
                    }
                }
            }
        }
    }
}
