//! Sets of free nodes over time, as a step function.

mod openings;
mod step;

use std::ops::Range;

pub(super) use openings::Openings;
use step::{Blocker, Step};

use crate::geometry::NodeSet;
use crate::job::{Request, Time};
use crate::machine::Placement;
use crate::offer::implies;
use crate::topology::Grid;

/// Free nodes at each time from now on, if no other job starts: a step function of time. With *s*
/// steps and *n* nodes, operations and memory are **O(s · n / 64)** in the worst case.
#[derive(Clone, Debug)]
pub(super) struct FreeSets {
    steps: Vec<Step>,
    /// Scratch buffer: the nodes that are free from each step to the end of the tried interval.
    throughout: Vec<NodeSet>,
}

/// A request, its number of nodes, and how long they must be free.
#[derive(Clone, Copy)]
pub(super) struct NodeRequest<'a> {
    pub(super) request: &'a Request,
    pub(super) count: u32,
    pub(super) span: f64,
}

/// Nodes that a reservation or job holds during an interval; a node may have several holders.
#[derive(Clone, Copy)]
pub(super) struct Held<'a> {
    pub(super) from: Time,
    pub(super) until: Time,
    pub(super) nodes: &'a NodeSet,
    pub(super) count: u32,
}

impl Held<'_> {
    fn is_held_at(&self, instant: Time) -> bool {
        self.from <= instant && instant < self.until
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Back {
    /// Start of the longest interval in which some released node may stay free; `until` is its end.
    pub(super) from: Time,
    pub(super) until: Time,
    /// Rise of the counts of free nodes in steps where some node had several holders before the
    /// release. `None` without such steps.
    pub(super) eased: Option<Eased>,
}

/// Increase of a plan's counts of free nodes, after nodes with several holders were released.
///
/// The count of a step is its number of free nodes, minus one for each further holder of a node
/// that has more than one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Eased {
    pub(super) at: Time,
    /// Minimum count before the release, over the steps in which a node had several holders.
    pub(super) least: i64,
    pub(super) most: i64,
}

impl FreeSets {
    pub(super) fn new(now: Time, free: &NodeSet) -> FreeSets {
        FreeSets { steps: vec![Step::new(now, free.clone())], throughout: Vec::new() }
    }

    pub(super) fn advance(&mut self, now: Time) {
        let past = self.from(now.next()).saturating_sub(1);
        self.steps.drain(..past);
        let begin = self.steps[0].from.max(now);
        self.steps[0].begin(begin);
    }

    pub(super) fn release(&mut self, from: Time, placement: &Placement, grid: &Grid) {
        let first = self.cut(from);
        self.steps.iter_mut().for_each(|step| step.blockers.clear());
        for step in &mut self.steps[first..] {
            placement.add_to(&mut step.free, grid);
            step.count += i64::from(placement.len());
        }
    }

    /// Adds a reservation or job as a holder of nodes, which need not be free.
    pub(super) fn hold(&mut self, held: Held<'_>) {
        let (first, last) = self.within(held);
        self.steps[first..last].iter_mut().for_each(|step| step.hold(held));
        // Steps may have become equal, if the same nodes are also held right before or after.
        self.join(last);
        self.join(first);
    }

    pub(super) fn give_back(&mut self, held: Held<'_>) -> Back {
        let (first, last) = self.within(held);
        let mut eased: Option<Eased> = None;
        for step in &mut self.steps[first..last] {
            let (overdrawn, before) = (step.is_overdrawn(), step.count);
            step.give_back(held);
            if overdrawn {
                let eased =
                    eased.get_or_insert(Eased { at: step.from, least: before, most: step.count });
                eased.least = eased.least.min(before);
                eased.most = eased.most.max(step.count);
            }
        }
        let (from, until) = self.around(first, last, held.nodes);
        // A placement that has become possible must use a released node throughout its interval.
        let touched = self.from(from)..last;
        for step in &mut self.steps[touched] {
            for blocker in &mut step.blockers {
                blocker.suspected |= held.from < blocker.until && blocker.until <= until;
            }
        }
        self.join(last);
        self.join(first);
        Back { from, until, eased }
    }

    pub(super) fn is_overdrawn(&self) -> bool {
        self.steps.iter().any(Step::is_overdrawn)
    }

    /// Start and end of the time around a range of steps in which one of the `nodes` stays free.
    ///
    /// Each end may come from another node. All `nodes` count as free within the range, so the time
    /// may be too long if some of them are still held there.
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

    /// Finds the first step, within `openings` and before `limit`, from which `wanted` can be
    /// placed.
    ///
    /// `place` searches for a placement on the nodes that are free during the whole requested time
    /// span. It must find a free block if there is one. Nodes of the job's reservation `own` count
    /// as free. If `own` is set, the requested span must be no longer than the span of `own`, and
    /// `limit` must be at most the start of `own` or the end of the present instant, whichever is
    /// later.
    ///
    /// If a search fails, a blocker is stored: the request, and an interval throughout which it has
    /// no placement. The begin of this interval is found by bisection. Later searches skip each
    /// span that contains the interval.
    pub(super) fn first_place<P>(
        &mut self,
        wanted: &NodeRequest<'_>,
        openings: &Openings,
        limit: Option<Time>,
        own: Option<Held<'_>>,
        mut place: impl FnMut(&NodeSet, &Request) -> Option<P>,
    ) -> Option<(Time, P)> {
        let mut openings = openings.iter();
        let mut opening = openings.next()?;
        let mut at = self.from(opening.start);
        let NodeRequest { request, count, span } = *wanted;
        let wanted_count = i64::from(count);
        let own_count = own.map_or(0, |own| i64::from(own.count));
        let is_own = |at: Time| own.is_some_and(|own| own.is_held_at(at));
        let free = |step: &Step| step.count + if is_own(step.from) { own_count } else { 0 };
        let is_past = |at: Time| limit.is_some_and(|limit| at >= limit);
        // From the current start up to this step, each step has enough free nodes.
        let mut enough_up_to = 0;
        'starts: while let Some(first) = self.steps.get(at).filter(|step| !is_past(step.from)) {
            if first.from >= opening.end {
                opening = openings.next()?;
                continue;
            }
            // A linear scan, since the next opening usually begins near.
            if first.from < opening.start {
                at += 1;
                continue;
            }
            if free(first) < wanted_count {
                at += 1;
                continue;
            }
            let (from, until) = (first.from, (first.from + span).max(first.from.next()));
            let mut end = enough_up_to.max(at + 1);
            while let Some(step) = self.steps.get(end).filter(|step| step.from < until) {
                if free(step) < wanted_count {
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
            // The nodes that are free from each step to the last one; the whole span is tried
            // first.
            let FreeSets { steps, throughout } = self;
            let parts = end - at;
            while throughout.len() < parts {
                throughout.push(NodeSet::empty(steps[at].free.universe()));
            }
            for part in (0..parts).rev() {
                let (here, later) = throughout.split_at_mut(part + 1);
                let step = &steps[at + part];
                let alone = own.filter(|_| is_own(step.from)).map(|own| step.held_alone(own.nodes));
                here[part].assign_shared(
                    later.first().filter(|_| part + 1 < parts),
                    &step.free,
                    alone.as_deref(),
                );
            }
            if let Some(found) = place(&throughout[0], request) {
                return Some((from, found));
            }
            // The last of these steps from which there is no placement; no earlier start has one
            // either.
            let mut further = steps[at + 1..].iter().take_while(|step| !is_past(step.from));
            let next = further.position(|step| free(step) >= wanted_count);
            let mut begins = 0;
            if next.is_some() {
                begins =
                    first_that(parts - 1, |part| place(&throughout[part + 1], request).is_some());
            }
            steps[at + begins].block(request, until);
            at += 1 + next?.max(begins);
        }
        None
    }

    /// Finds a placement on nodes of `among` that stay free from now on for the run time of
    /// `wanted`.
    ///
    /// Nodes of the job's own reservation `own` count as free.
    pub(super) fn place_now<P>(
        &self,
        wanted: &NodeRequest<'_>,
        among: &NodeSet,
        own: Option<Held<'_>>,
        place: impl FnOnce(&NodeSet, &Request) -> Option<P>,
    ) -> Option<P> {
        let now = self.steps[0].from;
        let until = (now + wanted.span).max(now.next());
        let mut free = among.clone();
        for step in self.steps.iter().take_while(|step| step.from < until) {
            match own.filter(|own| own.is_held_at(step.from)) {
                Some(own) => {
                    let mut here = step.free.clone();
                    here.unite(&step.held_alone(own.nodes));
                    free.intersect(&here);
                }
                None => free.intersect(&step.free),
            }
        }
        place(&free, wanted.request)
    }

    /// Earlier start for the reservation `own`: first instant from which its nodes are free for
    /// `span`.
    ///
    /// The result is `None` if there is no such instant before the start of `own`. The time `span`
    /// is at most the span of `own`. A node also counts as free while only `own` holds it.
    pub(super) fn sooner(&self, own: Held<'_>, span: f64) -> Option<Time> {
        let mut at = 0;
        'starts: while let Some(first) = self.steps.get(at).filter(|step| step.from < own.from) {
            let until = (first.from + span).max(first.from.next());
            let meanwhile = self.steps[at..].iter().take_while(|step| step.from < until);
            for (further, step) in meanwhile.enumerate() {
                if !step.is_left_to(own.nodes, own.is_held_at(step.from)) {
                    at += further + 1;
                    continue 'starts;
                }
            }
            return Some(first.from);
        }
        None
    }

    /// Last of the steps at which an earlier failure shows that the new request cannot be placed.
    ///
    /// `None` if there is no such step. If nodes became free since that failure, the failed request
    /// is tried again first. It is tried again only if no other failure rules out the new request.
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
                // A job may have a placement on the nodes that it holds itself.
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
                if place(&free, &request).is_none() {
                    self.steps[at].block(&request, until);
                    return Some(at);
                }
            }
        }
        None
    }

    fn free_between(&self, step: usize, until: Time) -> NodeSet {
        let mut free = self.steps[step].free.clone();
        for further in self.steps[step + 1..].iter().take_while(|further| further.from < until) {
            free.intersect(&further.free);
        }
        free
    }

    /// Range of the indices of the steps within the interval of `held`. If necessary, steps are
    /// split at the ends of the interval.
    fn within(&mut self, held: Held<'_>) -> (usize, usize) {
        let first = self.cut(held.from);
        let last = self.cut(held.until);
        (first, last.max(first))
    }

    fn from(&self, instant: Time) -> usize {
        self.steps.partition_point(|step| step.from < instant)
    }

    /// Splits a step so that a step begins at `instant`, and returns the index of this step.
    ///
    /// If `instant` is before all steps, nothing is split, and the index is 0.
    fn cut(&mut self, instant: Time) -> usize {
        let at = self.from(instant);
        let is_there = self.steps.get(at).is_some_and(|step| step.from == instant);
        if at > 0 && !is_there {
            // The same nodes are free before and after the split, so no placement is added.
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

    /// Removes the step with index `at` if it has the same free nodes and holders as the step
    /// before it.
    fn join(&mut self, at: usize) {
        if at > 0
            && let Some(step) = self.steps.get(at)
            && let before = &self.steps[at - 1]
            && step.count == before.count
            && step.free == before.free
            && step.again == before.again
        {
            self.steps.remove(at);
        }
    }
}

/// First number below `end` for which a monotonic condition holds; `end` if there is none.
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

    type Holds = Vec<(u32, u32, Placement)>;

    const NODES: u32 = 24;

    fn time(t: u32) -> Time {
        Time::new(f64::from(t))
    }

    fn held(grid: &Grid, hold: &(u32, u32, Placement)) -> (Time, Time, NodeSet) {
        (time(hold.0), time(hold.1), hold.2.node_set(grid))
    }

    /// Free nodes in a unit of time, and the number of nodes minus the sizes of all placements.
    ///
    /// A node is subtracted once for each of its holders, so the number may be negative.
    fn at(grid: &Grid, all: &Holds, t: u32) -> (NodeSet, i64) {
        let (mut free, mut count) = (NodeSet::full(NODES), i64::from(NODES));
        for (.., placement) in all.iter().filter(|(from, until, _)| (*from..*until).contains(&t)) {
            placement.for_each_run(grid, |start, count| free.remove_range(start, count));
            count -= i64::from(placement.len());
        }
        (free, count)
    }

    fn throughout(grid: &Grid, all: &Holds, time: Range<u32>) -> (NodeSet, i64) {
        let (mut free, mut least) = (NodeSet::full(NODES), i64::MAX);
        for t in time {
            let (here, count) = at(grid, all, t);
            free.intersect(&here);
            least = least.min(count);
        }
        (free, least)
    }

    fn place(free: &NodeSet, request: &Request) -> Option<u32> {
        let width = request.nodes() as u32;
        (0..=NODES - width).find(|&base| free.contains_range(base, width))
    }

    proptest! {
        #[test]
        fn the_first_place_is_the_first(
            changes in prop::collection::vec((0_u32..40, 1_u32..20, 0_u32..20, 1_u32..6), 0..40),
            questions in prop::collection::vec(
                (
                    (1_u32..6, 0_u32..25, prop::option::of(1_u32..60), 0_u32..30),
                    prop::collection::vec((0_u32..60, 0_u32..20), 0..5),
                ),
                1..8,
            ),
            picks in prop::collection::vec(any::<prop::sample::Index>(), 40),
            may_cross in any::<bool>(),
        ) {
            let topology = Topology::mesh(&[NODES]).unwrap();
            let grid = topology.grid();
            let mut sets = FreeSets::new(time(0), &NodeSet::full(NODES));
            let mut all: Holds = Vec::new();
            for ((from, length, base, width), pick) in changes.into_iter().zip(picks) {
                let block = Block { base, sides: [width.min(NODES - base)].as_slice().into() };
                let new = (from, from + length, Placement::from(block));
                let (from, until, nodes) = held(grid, &new);
                if may_cross || nodes.is_within(&throughout(grid, &all, new.0..new.1).0) {
                    sets.hold(Held { from, until, nodes: &nodes, count: nodes.count() });
                    all.push(new);
                }
                if pick.index(3) == 0 && !all.is_empty() {
                    let gone = all.swap_remove(pick.index(all.len()));
                    let (from, until, nodes) = held(grid, &gone);
                    let back =
                        sets.give_back(Held { from, until, nodes: &nodes, count: nodes.count() });
                    let len = i64::from(gone.2.len());
                    let overdrawn = (gone.0..gone.1).filter(|&t| {
                        let (free, count) = at(grid, &all, t);
                        let more = free.count_shared(&nodes);
                        count - len < i64::from(free.count() - more)
                    });
                    let counts: Vec<(u32, i64)> =
                        overdrawn.map(|t| (t, at(grid, &all, t).1)).collect();
                    let eased = counts.first().map(|first| Eased {
                        at: time(first.0),
                        least: counts.iter().map(|(_, count)| count - len).min().unwrap(),
                        most: counts.iter().map(|(_, count)| *count).max().unwrap(),
                    });
                    prop_assert_eq!(back.eased, eased);
                    // The interval around the release in which any of the released nodes remains
                    // free.
                    let free = |node: u32, t: u32| at(grid, &all, t).0.contains(node);
                    let (mut begin, mut end) = (Time::new(f64::INFINITY), time(0));
                    for (node, t) in nodes.iter().flat_map(|n| (gone.0..gone.1).map(move |t| (n, t))) {
                        if free(node, t) {
                            let first = (0..t).rev().find(|&t| !free(node, t)).map_or(0, |t| t + 1);
                            let last = (t..99).find(|&t| !free(node, t));
                            begin = begin.min(time(first));
                            end = end.max(last.map_or(Time::new(f64::INFINITY), time));
                        }
                    }
                    if counts.is_empty() {
                        prop_assert_eq!((back.from, back.until), (begin, end));
                    }
                    prop_assert!(back.from <= begin && end <= back.until);
                }
                // Queries between the changes check that blockers stay true.
                for ((width, span, limit, begin), within) in questions.iter().cloned() {
                    let request = Request::block(&[width]);
                    let wanted = NodeRequest { request: &request, count: width, span: f64::from(span) };
                    // The holder of `own` asks for at most the span of `own`, and for an earlier
                    // start or one at once: a later start need not be the begin of a step.
                    let own = (!all.is_empty()).then(|| pick.index(all.len()));
                    let own = own.filter(|&own| span.max(1) <= all[own].1 - all[own].0);
                    let no_later = own.map_or(99, |own| all[own].0.max(1));
                    let limit = limit.map(|limit| limit.min(no_later)).or(own.map(|_| no_later));
                    let others: Holds = {
                        let others = all.iter().enumerate().filter(|(i, _)| Some(*i) != own);
                        others.map(|(_, hold)| hold.clone()).collect()
                    };
                    let of_own = own.map(|own| held(grid, &all[own]));
                    let of_own = of_own.as_ref().map(|(from, until, nodes)| {
                        Held { from: *from, until: *until, nodes, count: nodes.count() }
                    });
                    let meanwhile = |start: u32| {
                        throughout(grid, &others, start..start + span.max(1))
                    };
                    let is_place = |start: u32| {
                        let (free, least) = meanwhile(start);
                        let base = place(&free, &request).filter(|_| least >= i64::from(width));
                        base.map(|base| (time(start), base))
                    };
                    let mut openings = Openings::default();
                    openings.begin(time(begin));
                    let found = sets.first_place(&wanted, &openings, limit.map(time), of_own, place);
                    let expected = (0..limit.unwrap_or(99)).find_map(is_place);
                    if expected.is_none_or(|(at, _)| at >= time(begin)) {
                        prop_assert_eq!(found, expected);
                    }
                    // If intervals are given, only steps that begin in one of them are possible
                    // starts.
                    openings.assign(within.iter().map(|(from, length)| time(*from)..time(from + length)));
                    let found = sets.first_place(&wanted, &openings, limit.map(time), of_own, place);
                    let is_within = |start: &u32| {
                        within.iter().any(|(from, length)| (*from..from + length).contains(start))
                    };
                    let is_begin = |start: &u32| sets.steps.iter().any(|step| step.from == time(*start));
                    let mut starts = (0..limit.unwrap_or(99)).filter(is_within).filter(is_begin);
                    prop_assert_eq!(found, starts.find_map(is_place));
                    let mut among = NodeSet::full(NODES);
                    among.remove_range(begin % NODES, width.min(NODES - begin % NODES));
                    let mut now = meanwhile(0).0;
                    now.intersect(&among);
                    prop_assert_eq!(sets.place_now(&wanted, &among, of_own, place), place(&now, &request));
                    if let Some(own) = of_own {
                        let until = all[pick.index(all.len())].0;
                        let sooner = (0..until).find(|&t| own.nodes.is_within(&meanwhile(t).0));
                        prop_assert_eq!(sets.sooner(own, f64::from(span)), sooner.map(time));
                    }
                }
            }
        }
    }
}
