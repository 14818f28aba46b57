//! The starts that the modelled controller makes, given the recorded past.
//!
//! The state follows the recording: the controller only says which jobs it would start at each of
//! its cycles, and then those start that did. Cycles run when the parameters say so, and when a
//! recorded start shows that one ran.

use std::collections::{BTreeMap, BTreeSet};

use meshwork::geometry::NodeSet;

use crate::operator::controller::cycles::Cycles;
use crate::operator::controller::rules::SiteRules;
use crate::operator::controller::{Controller, Recorded, Start};
use crate::operator::folder::SlurmMachine;
use crate::operator::history::{JobRecord, Second, StartedBy};

/// A recorded start beside the model's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PredictedStart {
    /// The index of the record in the history.
    pub stay: usize,
    /// The scheduler taken to have made it.
    pub by: StartedBy,
    /// When the model would start it; `None` if it would let it wait longer.
    pub predicted: Option<Second>,
    /// The nodes by the rule at its start; `None` if it finds none.
    pub nodes: Option<NodeSet>,
}

/// The largest distance in seconds of starts in the same cycle.
pub const SAME_CYCLE: Second = 3;

/// An event of the recording other than a start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    End(usize),
    Cancel(usize),
    Queue(usize),
}

/// A cycle: whose it is, whether it considers the whole queue, and its recorded starts.
type Cycle<'c> = (StartedBy, bool, &'c [usize]);

/// A recording on its way through a controller.
pub(super) struct Given<'a> {
    stays: &'a [JobRecord],
    nodes: &'a [Option<NodeSet>],
    controller: Controller<'a>,
    events: Vec<(Second, Event)>,
    starts: BTreeMap<Second, Vec<usize>>,
    predicted: Vec<Option<Second>>,
    found: BTreeMap<usize, (StartedBy, Option<NodeSet>)>,
    cycles: Cycles,
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
            cycles: Cycles::default(),
        }
    }

    /// Compares every recorded start with the model.
    pub(super) fn run(mut self, report: &dyn Fn(usize)) -> Vec<PredictedStart> {
        let Some(first) = self.first() else { return Vec::new() };
        let rules = self.controller.rules;
        let period = rules.weights.period;
        let origin = rules.started.unwrap_or(first);
        let mut tick = origin + (first - origin).div_euclid(period) * period + period;
        // The first event that may not have happened, and those behind it that have.
        let (mut next, mut happened) = (0, BTreeSet::new());
        let mut at = first;
        while next < self.events.len() || self.starts.range(at..).next().is_some() {
            // What was recorded in earlier seconds has happened.
            while let Some((_, event)) = self.events.get(next).filter(|own| own.0 < at).copied() {
                if !happened.remove(&next) {
                    self.happen(event, at);
                }
                next += 1;
            }
            while tick < at {
                self.cycles.change(self.controller.tick(tick));
                tick += period;
            }
            let recorded = self.starts.get(&at).cloned().unwrap_or_default();
            let within = self.events[next..].iter().take_while(|own| own.0 == at).count();
            let before = self.found.len();
            self.second(at, &recorded, next..next + within, &mut happened);
            if self.found.len() / REPORT_EVERY > before / REPORT_EVERY {
                report(self.found.len());
            }
            let due = [
                self.events.get(next).map(|own| own.0.max(at) + 1),
                self.starts.range(at + 1..).next().map(|own| *own.0),
                self.main_at(),
                self.full_at(),
                self.backfill_at(),
                Some(tick + 1),
            ];
            at = due.into_iter().flatten().map(|own| own.max(at + 1)).min().unwrap_or(at + 1);
        }
        let Given { predicted, found, .. } = self;
        let one =
            |(stay, (by, nodes))| PredictedStart { stay, by, predicted: predicted[stay], nodes };
        found.into_iter().map(one).collect()
    }

    fn first(&self) -> Option<Second> {
        let start = self.starts.keys().next().copied();
        self.events.first().map(|own| own.0).into_iter().chain(start).min()
    }

    fn happen(&mut self, event: Event, now: Second) {
        match event {
            Event::End(job) => drop(self.controller.end(job, now)),
            Event::Cancel(job) => self.controller.withdraw(job),
            Event::Queue(job) if self.controller.is_hopeless(job) => {}
            Event::Queue(job) => self.controller.submit(job),
        }
        self.cycles.news();
    }

    /// The second in which the main scheduler runs next after an event.
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

    /// Runs the cycles of a second. Events of the same second may come before or after them: of
    /// the possible orders the one counts with which most recorded starts agree.
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
        let runs_backfill = !backfill.is_empty() || is_due(self.backfill_at());
        if !runs_main && !runs_backfill {
            return;
        }
        let unclear: Vec<usize> = unclear.filter(|own| !happened.contains(own)).collect();
        let needed: Vec<usize> = unclear
            .iter()
            .copied()
            .filter(|&own| match self.events[own].1 {
                Event::Queue(job) => recorded.contains(&job),
                Event::End(job) => recorded.iter().any(|&start| self.shares(job, start)),
                Event::Cancel(_) => false,
            })
            .collect();
        let mut orders = vec![(needed.clone(), true)];
        if !recorded.is_empty() {
            if unclear.len() > needed.len() {
                orders.push((unclear, true));
            }
            if runs_main && runs_backfill {
                orders.extend(orders.clone().into_iter().map(|(own, _)| (own, false)));
            }
        }
        let passes = |main_first: bool| {
            let main = runs_main.then_some((StartedBy::Main, is_full, &main[..]));
            let backfill = runs_backfill.then_some((StartedBy::Backfill, false, &backfill[..]));
            let both = if main_first { [main, backfill] } else { [backfill, main] };
            both.into_iter().flatten().collect::<Vec<Cycle<'_>>>()
        };
        let mut best: Option<(usize, usize, Vec<(StartedBy, Start)>)> = None;
        for (order, (before, main_first)) in orders.iter().enumerate() {
            let tried = self.try_order(at, before, &passes(*main_first), recorded);
            let score = self.score(recorded, &tried);
            if best.as_ref().is_none_or(|own| score > own.0) {
                best = Some((score, order, tried));
            }
        }
        let Some((_, order, decided)) = best else { return };
        for &own in &orders[order].0 {
            self.happen(self.events[own].1, at);
            happened.insert(own);
        }
        self.settle(at, recorded, &decided);
        if runs_main {
            self.cycles.ran_main(at as f64, is_full);
        }
        if runs_backfill {
            self.cycles.ran_backfill(at as f64);
        }
        self.cycles.change(!recorded.is_empty());
    }

    /// The decisions of the cycles of a second behind some of its events; the state stays.
    fn try_order(
        &mut self,
        at: Second,
        before: &[usize],
        cycles: &[Cycle<'_>],
        recorded: &[usize],
    ) -> Vec<(StartedBy, Start)> {
        let queue = self.controller.queue();
        let mut ended = Vec::new();
        for &own in before {
            match self.events[own].1 {
                Event::End(job) => {
                    ended.extend(self.controller.end(job, at).map(|held| (job, held)));
                }
                event => self.happen(event, at),
            }
        }
        let mut decided = Vec::new();
        for (by, is_full, starts) in cycles {
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
        }
        self.controller.retract(recorded, queue);
        for (job, held) in ended.into_iter().rev() {
            self.controller.unend(job, held, at);
        }
        decided
    }

    /// How well decisions agree with the starts of a second.
    fn score(&self, recorded: &[usize], decided: &[(StartedBy, Start)]) -> usize {
        let found = decided.iter().filter(|own| own.1.nodes.is_some());
        let (right, early): (Vec<_>, Vec<_>) = found.partition(|own| recorded.contains(&own.1.job));
        let same = right.iter().filter(|own| own.1.nodes == self.nodes[own.1.job]).count();
        8 * (right.len() + same) + 7_usize.saturating_sub(early.len())
    }

    /// Notes the decisions of a second and makes its recorded starts.
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
        for &job in recorded {
            let partition = self.controller.partition_of(job);
            if !self.found.contains_key(&job) {
                let nodes = self.controller.place(job, partition, at);
                self.found.insert(job, (self.stays[job].by, nodes));
            }
            if let Some(nodes) = &self.nodes[job] {
                self.controller.start(job, partition, nodes.clone(), at);
            }
        }
    }

    fn shares(&self, one: usize, other: usize) -> bool {
        matches!((&self.nodes[one], &self.nodes[other]), (Some(a), Some(b)) if a.meets(b))
    }
}

/// The first full second at or after a time.
fn full_second(time: f64) -> Second {
    time.ceil() as Second
}

/// The number of starts between two progress reports.
const REPORT_EVERY: usize = 500;
