//! Starts that the controller model predicts from the recorded past.
//!
//! In each scheduler cycle, the model predicts starts. Then the recorded starts are made instead of
//! the predicted ones. A cycle runs when the scheduler parameters require it, and whenever a
//! recorded start shows that a cycle ran.

use std::collections::{BTreeMap, BTreeSet};

use meshwork::alloc::shared::NearGpus;
use meshwork::geometry::NodeSet;

use crate::controller::cycles::Cycles;
use crate::controller::rules::SiteRules;
use crate::controller::{Controller, Recorded, Start};
use meshwork_lab::slurm::folder::SlurmMachine;
use meshwork_slurm::history::{JobRecord, Second, StartedBy};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PredictedStart {
    pub stay: usize,
    pub by: StartedBy,
    /// Predicted start; `None` if the model would still let the job wait at its recorded start.
    pub predicted: Option<Second>,
    /// Nodes that the placement rule chooses for the job at its recorded start.
    pub nodes: Option<NodeSet>,
    /// Whether the placement rule chooses the recorded nodes if the job is the next to start.
    pub is_alone: bool,
    /// Whether the placement rule can never start the job.
    pub is_never: bool,
}

/// Largest difference in seconds between two starts that count as starts in one scheduler cycle.
pub const SAME_CYCLE: Second = 3;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    End(usize),
    Cancel(usize),
    Queue(usize),
}

/// Seconds after a job's end in which its nodes may still be unavailable.
const COMPLETING: Second = 1;

/// Combinations of two flags, one for each of the two scheduler cycles that a second can have.
const WAYS: [[bool; 2]; 4] = [[false; 2], [true; 2], [false, true], [true, false]];

/// Maximum number of variations of an order of events that are tried for one clock second.
const MOST_MOVES: usize = 64;

/// Points that an order of events scores for each recorded start that it predicts.
///
/// The score is twice as high if the predicted nodes are the recorded ones, too.
const FOUND: usize = 8;
/// Points that an order of events scores if every start that it predicts was recorded.
///
/// Each predicted start without a record costs one of these points.
const UNWANTED: usize = 7;

/// Possible order of the events and scheduler cycles within one clock second.
#[derive(Clone, Debug)]
struct Order {
    main_first: bool,
    /// Whether priorities are computed before the cycles of the second, not after them.
    ticked: bool,
    /// Whether main cycles run both before and after killed jobs release their nodes.
    split: bool,
    /// For each scheduling cycle in the examined second, whether all other events come before it.
    all: [bool; 2],
    /// Whether scheduler cycles can use all nodes of jobs that have ended.
    ///
    /// The first flag is for the first cycle of a clock second, the other for the later cycles.
    all_back: [bool; 2],
    /// Moved events: index of a scheduler cycle, and index of the event. From this cycle on, an
    /// event that came before the cycles comes after them, or vice versa.
    moved: Vec<(usize, usize)>,
    /// Cycles before which a submission is repeated, because it changes the node weights
    /// ([`NearGpus`]).
    ///
    /// Each entry has the index of a cycle, and a flag. If the flag is true, the last submitted job
    /// with GPUs is submitted again, otherwise the last submitted job without GPUs.
    last_submitted: Vec<(usize, bool)>,
}

/// Result of trying one [`Order`] of the events in a second: the decisions of the scheduler cycles.
struct Tried {
    decided: Vec<(StartedBy, Start)>,
    near: Option<NearGpus>,
}

#[derive(Clone)]
struct Cycle {
    by: StartedBy,
    is_full: bool,
    starts: Vec<usize>,
    /// Nodes of killed jobs that become available only after the scheduler cycle.
    held: NodeSet,
}

pub(super) struct Given<'a> {
    stays: &'a [JobRecord],
    nodes: &'a [Option<NodeSet>],
    controller: Controller<'a>,
    events: Vec<(Second, Event)>,
    starts: BTreeMap<Second, Vec<usize>>,
    predicted: Vec<Option<Second>>,
    found: BTreeMap<usize, (StartedBy, Option<NodeSet>)>,
    /// Jobs to which the placement rule gives their recorded nodes.
    ///
    /// The rule is applied to each job as if it were the next to start.
    alone: BTreeSet<usize>,
    cycles: Cycles,
    /// Jobs that have just ended, each with its end and nodes. Each node becomes available
    /// separately.
    completing: Vec<(Second, usize, NodeSet)>,
    tick: Second,
}

impl<'a> Given<'a> {
    pub(super) fn new(
        machine: &'a SlurmMachine,
        rules: &'a SiteRules,
        stays: &'a [JobRecord],
        nodes: &'a [Option<NodeSet>],
        cleanup: f64,
    ) -> Given<'a> {
        let (mut events, mut starts) = (Vec::new(), BTreeMap::<Second, Vec<usize>>::new());
        for (place, stay) in stays.iter().enumerate() {
            let Some(queued) = stay.queued().filter(|_| !stay.is_rejected()) else { continue };
            if let Some(start) = stay.start {
                if nodes[place].is_none() {
                    continue;
                }
                starts.entry(start).or_default().push(place);
                let free = |end: Second| (end as f64 + cleanup).floor() as Second;
                events.extend(stay.end.map(|end| (free(end), Event::End(place))));
            } else {
                // A job that is cancelled before it is eligible never enters the queue.
                if stay.end.is_some_and(|end| end <= queued) {
                    continue;
                }
                events.extend(stay.end.map(|end| (end, Event::Cancel(place))));
            }
            events.push((queued, Event::Queue(place)));
        }
        events.sort_unstable();
        Given {
            stays,
            nodes,
            controller: Controller::new(machine, rules, stays),
            events,
            starts,
            predicted: vec![None; stays.len()],
            found: BTreeMap::new(),
            alone: BTreeSet::new(),
            cycles: Cycles::default(),
            completing: Vec::new(),
            tick: Second::MAX,
        }
    }

    /// Predicts all starts. `report` is called with the number of starts predicted so far.
    pub(super) fn run(mut self, report: &dyn Fn(usize)) -> Vec<PredictedStart> {
        let Some(first) = self.first() else { return Vec::new() };
        let rules = self.controller.rules;
        let period = rules.weights.period;
        let origin = rules.started.unwrap_or(first);
        self.tick = origin + (first - origin).div_euclid(period) * period + period;
        // First event that may not have been applied, and later events that have been applied.
        let (mut next, mut happened) = (0, BTreeSet::new());
        let mut at = first;
        while next < self.events.len() || self.starts.range(at..).next().is_some() {
            while let Some((_, event)) = self.events.get(next).filter(|own| own.0 < at).copied() {
                if !happened.remove(&next) {
                    self.happen(event, at);
                }
                next += 1;
            }
            while self.tick < at {
                self.compute_priorities();
            }
            let mut recorded = self.starts.get(&at).cloned().unwrap_or_default();
            let within = self.events[next..].iter().take_while(|own| own.0 == at).count();
            let before = self.found.len();
            let mut submitted = Vec::new();
            if self.controller.shares_nodes() {
                let is_at_once = |job: &usize| self.is_at_once(*job);
                submitted = recorded.extract_if(.., |job| is_at_once(job)).collect();
                for event in next..next + within {
                    if let Event::Queue(job) = self.events[event].1
                        && submitted.contains(&job)
                    {
                        happened.insert(event);
                    }
                }
                submitted.retain(|&job| !self.start_at_once(job, at, false));
            }
            self.second(at, &recorded, next..next + within, &mut happened);
            for job in submitted {
                self.start_at_once(job, at, true);
            }
            if self.found.len() / REPORT_EVERY > before / REPORT_EVERY {
                report(self.found.len());
            }
            let due = [
                self.events.get(next).map(|own| own.0.max(at) + 1),
                self.starts.range(at + 1..).next().map(|own| *own.0),
                self.main_at(),
                self.full_at(),
                self.backfill_at(),
                Some(self.tick + 1),
            ];
            at = due.into_iter().flatten().map(|own| own.max(at + 1)).min().unwrap_or(at + 1);
        }
        let Given { controller, predicted, found, alone, .. } = self;
        let one = |(stay, (by, nodes))| PredictedStart {
            stay,
            by,
            predicted: predicted[stay],
            nodes,
            is_alone: alone.contains(&stay),
            is_never: controller.is_hopeless(stay),
        };
        found.into_iter().map(one).collect()
    }

    /// Whether a job was started by its submission, not by a scheduler.
    fn is_at_once(&self, job: usize) -> bool {
        let stay = &self.stays[job];
        stay.by == StartedBy::Unknown && stay.start == stay.queued()
    }

    /// Starts a job at its submission if it gets its recorded nodes, or in any case if `is_last`.
    ///
    /// Returns whether the job started.
    fn start_at_once(&mut self, job: usize, at: Second, is_last: bool) -> bool {
        let partition = self.controller.partition_of(job);
        let nodes = self.controller.place(job, partition, at);
        let starts = is_last || nodes.is_some() && nodes == self.nodes[job];
        if starts {
            self.predicted[job] = nodes.is_some().then_some(at);
            if nodes == self.nodes[job] {
                self.alone.insert(job);
            }
            self.found.insert(job, (StartedBy::Unknown, nodes));
            if let Some(own) = self.nodes[job].clone() {
                self.controller.start(job, partition, own, at);
            }
            self.cycles.change(true);
        }
        starts
    }

    fn compute_priorities(&mut self) {
        self.cycles.change(self.controller.tick(self.tick));
        self.tick += self.controller.rules.weights.period;
    }

    fn first(&self) -> Option<Second> {
        let start = self.starts.keys().next().copied();
        self.events.first().map(|own| own.0).into_iter().chain(start).min()
    }

    fn happen(&mut self, event: Event, now: Second) {
        match event {
            Event::End(job) => {
                let held = self.controller.end(job, now);
                if self.stays[job].was_killed() {
                    self.cycles.killed();
                }
                let end = self.stays[job].end.unwrap_or(now);
                self.completing.extend(held.map(|held| (end, job, held.nodes)));
            }
            Event::Cancel(job) => self.controller.withdraw(job),
            Event::Queue(job) => self.submit(job),
        }
        self.cycles.news();
    }

    fn submit(&mut self, job: usize) {
        if !self.controller.is_hopeless(job) {
            self.controller.submit(job);
        }
    }

    /// Clock second of the main scheduler's next cycle; `None` if no event requires a cycle.
    fn main_at(&self) -> Option<Second> {
        self.cycles.main_at(&self.controller.rules.parameters).map(full_second)
    }

    fn full_at(&self) -> Option<Second> {
        let at = self.cycles.full_at(&self.controller.rules.parameters).map(full_second);
        at.filter(|_| self.controller.waiting() > 0)
    }

    fn backfill_at(&self) -> Option<Second> {
        let at = self.cycles.backfill_at(&self.controller.rules.parameters).map(full_second);
        at.filter(|_| self.controller.waiting() > 0)
    }

    /// Runs the main and backfill cycles of a second, in the order that fits recorded starts best.
    fn second(
        &mut self,
        at: Second,
        recorded: &[usize],
        unclear: std::ops::Range<usize>,
        happened: &mut BTreeSet<usize>,
    ) {
        let of = |by: &[StartedBy]| -> Vec<usize> {
            let own = recorded.iter().copied();
            own.filter(|&place| by.contains(&self.stays[place].by)).collect()
        };
        let main = of(&[StartedBy::Main, StartedBy::Unknown]);
        let backfill = of(&[StartedBy::Backfill, StartedBy::Unknown]);
        let is_due = |time: Option<Second>| time.is_some_and(|time| time <= at);
        let is_full = is_due(self.full_at());
        let runs_main = !main.is_empty() || is_full || is_due(self.main_at());
        // A cycle takes a while, so a cycle that is due may have made starts in the next second.
        let next = self.starts.get(&(at + 1)).into_iter().flatten();
        let is_next = self.controller.shares_nodes()
            && next.into_iter().any(|&job| self.stays[job].by == StartedBy::Backfill);
        let runs_backfill = !backfill.is_empty() || is_due(self.backfill_at()) && !is_next;
        if !runs_main && !runs_backfill {
            return;
        }
        self.give_up(at, recorded);
        let unclear: Vec<usize> = unclear.filter(|own| !happened.contains(own)).collect();
        self.completing.retain(|own| own.0 >= at - COMPLETING);
        let cycle = |by, is_full, starts: &[usize]| {
            let (starts, held) = (starts.to_vec(), self.controller.no_nodes());
            Cycle { by, is_full, starts, held }
        };
        let single = runs_main.then(|| cycle(StartedBy::Main, is_full, &main));
        let split = self.split(&main, is_full, &unclear);
        let is_split = split.len() > 1;
        let backfill = runs_backfill.then(|| cycle(StartedBy::Backfill, false, &backfill));
        let cycles = |order: &Order| {
            let main = if order.split { split.clone() } else { Vec::from_iter(single.clone()) };
            let backfill = backfill.clone().into_iter();
            let first = order.main_first;
            let (early, late) = if first { (main, vec![]) } else { (vec![], main) };
            early.into_iter().chain(backfill).chain(late).collect::<Vec<Cycle>>()
        };
        let are_two = runs_main && runs_backfill;
        let mut orders = self.orders(at, &unclear, are_two, recorded.is_empty());
        if is_split {
            let split: Vec<Order> =
                orders.iter().map(|own| Order { split: true, ..own.clone() }).collect();
            orders.splice(..0, split);
        }
        let perfect = UNWANTED + 2 * FOUND * recorded.len();
        let mut best: Option<(usize, Order, Tried)> = None;
        for order in orders {
            let tried = self.try_order(at, &order, &unclear, &cycles(&order), recorded);
            let score = self.score(recorded, &tried.decided);
            if best.as_ref().is_none_or(|own| score > own.0) {
                best = Some((score, order, tried));
            }
            if score >= perfect {
                break;
            }
        }
        // Slurm did not make unrecorded starts. Without them, the recorded ones may be predicted.
        if let Some((score, order, tried)) = &best
            && tried.decided.iter().any(|own| !recorded.contains(&own.1.job))
        {
            self.controller.leaves_others = true;
            let mut again = self.try_order(at, order, &unclear, &cycles(order), recorded);
            self.controller.leaves_others = false;
            let is_recorded = |own: &(StartedBy, Start)| recorded.contains(&own.1.job);
            again.decided.retain(is_recorded);
            again.decided.extend(tried.decided.iter().filter(|own| !is_recorded(own)).cloned());
            let better = self.score(recorded, &again.decided);
            if better > *score {
                best = Some((better, order.clone(), again));
            }
        }
        let Some(best) = best else { return };
        let (order, Tried { decided, near }) =
            match self.controller.shares_nodes() && best.0 < perfect {
                true => self.move_events(at, best, &unclear, &cycles, recorded),
                false => (best.1, best.2),
            };
        if order.ticked {
            self.compute_priorities();
        }
        let cycles = cycles(&order);
        for own in self.before(cycles.len() - 1, &order, &unclear, &cycles) {
            self.happen(self.events[own].1, at);
            happened.insert(own);
        }
        self.settle(at, recorded, &decided);
        self.controller.set_near(near);
        if runs_main {
            self.cycles.ran_main(at as f64, is_full, &self.controller.rules.parameters);
            self.controller.ran(false);
        }
        if runs_backfill {
            self.cycles.ran_backfill(at as f64);
            self.controller.ran(true);
        }
        self.cycles.change(!recorded.is_empty());
    }

    /// Divides recorded starts among main scheduler cycles, between which killed jobs release
    /// nodes.
    fn split(&self, main: &[usize], is_full: bool, unclear: &[usize]) -> Vec<Cycle> {
        let ends = unclear.iter().filter_map(|own| match self.events[*own].1 {
            Event::End(job) => Some(job),
            _ => None,
        });
        let ended = self.completing.iter().map(|own| own.1).chain(ends);
        let mut killed: Vec<usize> = ended.filter(|&job| self.stays[job].was_killed()).collect();
        if killed.is_empty() {
            return Vec::new();
        }
        let mut starts = main.to_vec();
        // A start comes last if it needs nodes of a job that starts and is killed in this second.
        let needs = |start: usize, killed: usize| start != killed && self.shares(start, killed);
        let follows = |start| killed.iter().any(|job| main.contains(job) && needs(start, *job));
        starts.sort_by_cached_key(|&job| (follows(job), self.controller.place_in_queue(job)));
        let mut cycles: Vec<Cycle> = Vec::new();
        for start in starts {
            let waits = killed.iter().any(|job| needs(start, *job));
            if cycles.is_empty() || waits {
                killed.retain(|job| !needs(start, *job));
                let mut held = self.controller.no_nodes();
                let ended = killed.iter().filter(|job| !main.contains(job));
                let nodes = ended.filter_map(|job| self.nodes[*job].as_ref());
                nodes.for_each(|nodes| held.unite(nodes));
                let is_full = is_full && cycles.is_empty();
                cycles.push(Cycle { by: StartedBy::Main, is_full, starts: Vec::new(), held });
            }
            cycles.last_mut().into_iter().for_each(|own| own.starts.push(start));
        }
        cycles
    }

    /// Frees nodes of running jobs that were suspended for some time, if recorded starts need the
    /// nodes.
    fn give_up(&mut self, at: Second, recorded: &[usize]) {
        let is_suspended = |&job: &usize| {
            let stay = &self.stays[job];
            let has_ended = stay.end.is_some_and(|end| end <= at);
            stay.suspended > 0 && !has_ended && recorded.iter().any(|own| self.shares(*own, job))
        };
        let running = self.controller.running.keys().copied();
        for job in running.filter(is_suspended).collect::<Vec<usize>>() {
            self.controller.end(job, at);
        }
    }

    /// Orders in which the events and scheduler cycles of one clock second may have happened.
    ///
    /// If `is_quiet` is true, there is only one order. In it, an event precedes a scheduler cycle
    /// only if a recorded start requires it.
    fn orders(&self, at: Second, unclear: &[usize], are_two: bool, is_quiet: bool) -> Vec<Order> {
        let (no, split) = ([false; 2], false);
        let first = Order {
            main_first: true,
            ticked: false,
            split,
            all: no,
            all_back: no,
            moved: Vec::new(),
            last_submitted: Vec::new(),
        };
        if is_quiet {
            return vec![first];
        }
        let ends = unclear.iter().any(|own| matches!(self.events[*own].1, Event::End(_)));
        let is_completing = ends || !self.completing.is_empty();
        let both = if are_two { &WAYS[..] } else { &WAYS[..2] };
        let either = |is_open: bool| if is_open { both } else { &WAYS[..1] };
        let mut orders = Vec::new();
        for &ticked in if self.tick == at { &[false, true][..] } else { &[false] } {
            for &main_first in if are_two { &[true, false][..] } else { &[true] } {
                for &all in either(!unclear.is_empty()).iter().filter(|own| **own != [true, false])
                {
                    for &all_back in either(is_completing) {
                        orders.push(Order { main_first, ticked, all, all_back, ..first.clone() });
                    }
                }
            }
        }
        orders
    }

    /// Events among `unclear` that happen before a scheduler cycle, for the order `order`.
    ///
    /// These are all events, or only those that recorded starts up to this cycle require. Events
    /// that `order` moves to the other side of the cycle are exceptions.
    fn before(
        &self,
        cycle: usize,
        order: &Order,
        unclear: &[usize],
        cycles: &[Cycle],
    ) -> Vec<usize> {
        let starts = || cycles[..=cycle].iter().flat_map(|own| own.starts.iter().copied());
        let is_needed = |own: &usize| match self.events[*own].1 {
            Event::Queue(job) => starts().any(|start| start == job),
            Event::End(job) => starts().any(|start| self.shares(job, start)),
            Event::Cancel(_) => false,
        };
        let all = order.all[..=cycle.min(1)].contains(&true);
        // A job cannot end before its start in this second.
        let is_possible = |own: &usize| match self.events[*own].1 {
            Event::End(job) => self.controller.running.contains_key(&job),
            _ => true,
        };
        let is_moved = |own: &usize| {
            let moves = order.moved.iter().filter(|(from, event)| *from <= cycle && event == own);
            moves.count() % 2 == 1
        };
        let may_be = unclear.iter().copied().filter(is_possible);
        may_be.filter(|own| (all || is_needed(own)) != is_moved(own)).collect()
    }

    /// Improves an order of events by moving single events to the other side of a scheduler cycle.
    ///
    /// Moves continue as long as more predictions agree with the record. If jobs share nodes, a job
    /// may start although another job still runs on its nodes.
    fn move_events(
        &mut self,
        at: Second,
        (mut score, mut order, mut best): (usize, Order, Tried),
        unclear: &[usize],
        cycles: &impl Fn(&Order) -> Vec<Cycle>,
        recorded: &[usize],
    ) -> (Order, Tried) {
        let cycles = cycles(&order);
        let is_end = |own: &usize| matches!(self.events[*own].1, Event::End(_));
        let every = |cycle: usize| {
            let ends = self.before(cycle, &order, unclear, &cycles).into_iter().filter(is_end);
            ends.map(|own| (cycle, own)).collect()
        };
        let mut moves: Vec<Vec<(usize, usize)>> = (0..cycles.len()).map(every).collect();
        let single = |cycle| unclear.iter().map(move |&own| vec![(cycle, own)]);
        moves.extend((0..cycles.len()).flat_map(single));
        let mut left = MOST_MOVES;
        loop {
            let before = score;
            let submitted = (0..cycles.len()).flat_map(|cycle| [(cycle, false), (cycle, true)]);
            let moved = moves.iter().map(|own| (&own[..], None));
            for (own, submitted) in moved.chain(submitted.map(|own| (&[][..], Some(own)))) {
                if left == 0 {
                    return (order, best);
                }
                left -= 1;
                let mut other = order.clone();
                other.moved.extend(own);
                other.last_submitted.extend(submitted);
                let tried = self.try_order(at, &other, unclear, &cycles, recorded);
                let found = self.score(recorded, &tried.decided);
                if found > score {
                    (score, order, best) = (found, other, tried);
                }
            }
            if score == before {
                return (order, best);
            }
        }
    }

    /// Decisions of the scheduler cycles of one second, for the order `order` of its events.
    ///
    /// The state of the model stays unchanged.
    fn try_order(
        &mut self,
        at: Second,
        order: &Order,
        unclear: &[usize],
        cycles: &[Cycle],
        recorded: &[usize],
    ) -> Tried {
        let (queue, near) = (self.controller.queue(), self.controller.near());
        let shares = order.ticked.then(|| self.controller.shares());
        if order.ticked {
            self.controller.tick(at);
        }
        let (mut ended, mut done) = (Vec::new(), BTreeSet::new());
        let mut completing = self.controller.no_nodes();
        self.completing.iter().for_each(|own| completing.unite(&own.2));
        let mut decided = Vec::new();
        for (cycle, Cycle { by, is_full, starts, held }) in cycles.iter().enumerate() {
            for own in self.before(cycle, order, unclear, cycles) {
                if !done.insert(own) {
                    continue;
                }
                match self.events[own].1 {
                    Event::End(job) => {
                        let held = self.controller.end(job, at);
                        held.iter().for_each(|held| completing.unite(&held.nodes));
                        ended.extend(held.map(|held| (job, held)));
                    }
                    Event::Cancel(job) => self.controller.withdraw(job),
                    Event::Queue(job) => self.submit(job),
                }
            }
            for (_, with_gpus) in order.last_submitted.iter().filter(|own| own.0 == cycle) {
                self.controller.submit_again(*with_gpus);
            }
            for nodes in starts.iter().filter_map(|own| self.nodes[*own].as_ref()) {
                completing.subtract(nodes);
            }
            let are_back = order.all_back[cycle.min(1)];
            let mut busy = if are_back { self.controller.no_nodes() } else { completing.clone() };
            busy.unite(held);
            self.controller.completing = busy;
            let nodes = |&place: &usize| {
                let partition = self.controller.partition_of(place);
                Some((place, (partition, self.nodes[place].clone()?)))
            };
            let is_left = |place: &&usize| !self.controller.running.contains_key(place);
            let own: Recorded = starts.iter().filter(is_left).filter_map(nodes).collect();
            let found = match by {
                StartedBy::Main => self.controller.main(at, *is_full, Some(&own)),
                _ => self.controller.backfill(at, Some(&own)),
            };
            decided.extend(found.into_iter().map(|own| (*by, own)));
            // Later cycles of the second see the recorded starts, not the predicted ones.
            for (job, (partition, nodes)) in own {
                if !self.controller.running.contains_key(&job) {
                    self.controller.start(job, partition, nodes, at);
                }
            }
        }
        self.controller.completing = self.controller.no_nodes();
        self.controller.retract(recorded, queue);
        let left = self.controller.near();
        self.controller.set_near(near);
        for (job, held) in ended.into_iter().rev() {
            // A job that has started in this second is not yet running.
            match recorded.contains(&job) {
                true => self.controller.uncharge(job, &held, at),
                false => self.controller.unend(job, held, at),
            }
        }
        shares.into_iter().for_each(|own| self.controller.restore(own));
        Tried { decided, near: left }
    }

    /// Score of the decisions that the model makes in one second.
    ///
    /// The better the decisions agree with the recorded starts, the higher the score is.
    fn score(&self, recorded: &[usize], decided: &[(StartedBy, Start)]) -> usize {
        let (mut score, mut unwanted) = (UNWANTED, 0);
        for (by, start) in decided.iter().filter(|own| own.1.nodes.is_some()) {
            let recorded = recorded.contains(&start.job).then(|| self.stays[start.job].by);
            if recorded.is_some_and(|own| own == *by || own == StartedBy::Unknown) {
                let is_same = start.nodes == self.nodes[start.job];
                score += FOUND * (1 + usize::from(is_same));
            } else {
                unwanted += 1;
            }
        }
        score - unwanted.min(UNWANTED)
    }

    fn settle(&mut self, at: Second, recorded: &[usize], decided: &[(StartedBy, Start)]) {
        for (by, own) in decided {
            let is_found = own.nodes.is_some();
            if is_found {
                self.predicted[own.job].get_or_insert(at);
            }
            if recorded.contains(&own.job) && (is_found || !self.found.contains_key(&own.job)) {
                let nodes = own.nodes.clone();
                let nodes = nodes.or_else(|| self.controller.place(own.job, own.partition, at));
                self.found.insert(own.job, (*by, nodes));
            }
        }
        // Their order is unknown, so starts that agree with the rule come first.
        let mut left: Vec<usize> = Vec::new();
        for job in decided.iter().map(|own| own.1.job).chain(recorded.iter().copied()) {
            if recorded.contains(&job) && !left.contains(&job) {
                left.push(job);
            }
        }
        while !left.is_empty() {
            // On shared nodes the parts that a job gets depend on the order, so the order is kept.
            let first = if self.controller.shares_nodes() { 1 } else { left.len() };
            let next = left[..first].iter().position(|job| self.agrees(*job, at));
            let job = left.remove(next.unwrap_or(0));
            let partition = self.controller.partition_of(job);
            if next.is_some() {
                self.alone.insert(job);
            }
            if !self.found.contains_key(&job) {
                let nodes = self.controller.place(job, partition, at);
                self.found.insert(job, (self.stays[job].by, nodes));
            }
            if let Some(nodes) = &self.nodes[job] {
                self.controller.start(job, partition, nodes.clone(), at);
            }
        }
    }

    /// Whether the placement rule gives a job its recorded nodes in at least one of three ways.
    ///
    /// The job is placed in its scheduler cycle, or as the first of the queue, or after the planned
    /// starts of all jobs before it. The second way is tried with and without the nodes of jobs
    /// that just ended.
    fn agrees(&mut self, job: usize, at: Second) -> bool {
        let recorded = self.nodes[job].clone();
        if self.found.get(&job).is_some_and(|found| found.1 == recorded) {
            return true;
        }
        let partition = self.controller.partition_of(job);
        let none = self.controller.no_nodes();
        let mut completing = none.clone();
        self.completing.iter().for_each(|own| completing.unite(&own.2));
        let is_same = [none.clone(), completing].into_iter().any(|completing| {
            self.controller.completing = completing;
            self.controller.place(job, partition, at) == recorded
        });
        self.controller.completing = none;
        let planned = || self.controller.planned(job, false, at);
        is_same || planned().is_some_and(|(start, nodes)| start == at && Some(nodes) == recorded)
    }

    fn shares(&self, one: usize, other: usize) -> bool {
        matches!((&self.nodes[one], &self.nodes[other]), (Some(a), Some(b)) if a.meets(b))
    }
}

fn full_second(time: f64) -> Second {
    time.ceil() as Second
}

/// Number of starts between two reports of progress.
const REPORT_EVERY: usize = 500;
