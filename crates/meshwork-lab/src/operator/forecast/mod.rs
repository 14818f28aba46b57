//! What would have happened: the jobs of a history on a machine, by its rule and a scheduler like Slurm's.
//!
//! The main scheduler goes through the queue whenever something is submitted or nodes come back, in the order of
//! priority, and leaves a partition at the first job that cannot start; backfill goes through all of it now and then,
//! and starts whoever delays nobody that comes before, as far as limits tell.

mod backfill;

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use meshwork::geometry::NodeSet;

use super::causes::{Causes, WaitsByCause};
use super::desks::SlurmAllocators;
use super::folder::SlurmMachine;
use super::history::{JobRecord, Second, StartedBy};
use super::order::PriorityOrder;
use super::plan::{ResolvedRequest, kinds};
use crate::slurm::conf;
use crate::slurm::desk::SlurmAnswer;

/// How often backfill comes, where a `slurm.conf` does not say.
const BACKFILL_EVERY: Second = 30;

/// How many jobs backfill looks at, where a `slurm.conf` does not say.
const BACKFILL_DEPTH: usize = 500;

/// How the scheduler goes about it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Conditions {
    /// The seconds after a job's end when its nodes are given out again.
    pub cleanup: Second,
    /// How often backfill comes, in seconds; 0 for never.
    pub backfill_every: Second,
    /// How many jobs it looks at.
    pub backfill_depth: usize,
    /// In which order jobs wait.
    pub order: PriorityOrder,
}

impl Conditions {
    /// What the `slurm.conf` of a machine says, with this time for clean-up.
    #[must_use]
    pub fn of(machine: &SlurmMachine, cleanup: Second) -> Conditions {
        let mut conditions = Conditions {
            cleanup,
            backfill_every: BACKFILL_EVERY,
            backfill_depth: BACKFILL_DEPTH,
            order: PriorityOrder::of(machine),
        };
        let Some(text) = machine.conf_text() else { return conditions };
        for line in conf::lines(text) {
            if line.get("SchedulerType").is_some_and(|kind| kind.ends_with("builtin")) {
                conditions.backfill_every = 0;
            }
            let parameters = line.get("SchedulerParameters").unwrap_or_default();
            for (name, value) in parameters.split(',').filter_map(|one| one.split_once('=')) {
                match (name.trim(), value.trim().parse::<u32>()) {
                    ("bf_interval", Ok(every)) if every > 0 => {
                        conditions.backfill_every = every.into();
                    }
                    ("bf_max_job_test", Ok(most)) => conditions.backfill_depth = most as usize,
                    _ => {}
                }
            }
        }
        conditions
    }
}

/// What became of a stay.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JobOutcome {
    /// When it started.
    pub start: Option<Second>,
    /// On which nodes.
    pub nodes: Option<NodeSet>,
    /// Who started it.
    pub by: StartedBy,
    /// Whether it could never have started.
    pub is_refused: bool,
}

/// What happens at a second, in the order in which it counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Free(usize),
    Cancel(usize),
    Submit(usize),
}

/// A machine in the middle of its history.
#[derive(Clone, Debug)]
pub struct InitialState {
    /// The instant.
    pub at: Second,
    /// Running stays by their places, with their starts and nodes; all others wait or come later.
    pub running: Vec<(usize, Second, NodeSet)>,
}

impl InitialState {
    /// The machine just before an instant, and the places of the stays that run or wait then.
    #[must_use]
    pub fn of(
        stays: &[JobRecord],
        outcomes: &[JobOutcome],
        conditions: &Conditions,
        at: Second,
    ) -> (Vec<usize>, InitialState) {
        let (mut present, mut running) = (Vec::new(), Vec::new());
        for (place, (stay, outcome)) in stays.iter().zip(outcomes).enumerate() {
            match (outcome.start.filter(|&start| start < at), &outcome.nodes) {
                (Some(start), Some(nodes)) if free_at(stay, start, conditions) >= at => {
                    running.push((present.len(), start, nodes.clone()));
                    present.push(place);
                }
                (None, _) if !outcome.is_refused => present.push(place),
                _ => {}
            }
        }
        (present, InitialState { at, running })
    }
}

/// When the nodes of a stay are given out again. One that was cancelled while it waited is
/// cancelled while it runs.
fn free_at(stay: &JobRecord, start: Second, conditions: &Conditions) -> Second {
    let runs = stay.end.unwrap_or(start) - stay.start.unwrap_or(start);
    start + runs.max(0) + conditions.cleanup
}

/// Stays of a history that are to happen again.
///
/// A stay runs as long as it did; one that never started waits, or runs, until it was cancelled,
/// and is left out if it was not. What the whole machine could not give is refused when it is
/// submitted.
#[derive(Clone, Copy)]
pub struct Forecast<'a> {
    /// The machine.
    pub machine: &'a SlurmMachine,
    /// The stays.
    pub stays: &'a [JobRecord],
    /// The way in which they are scheduled.
    pub conditions: &'a Conditions,
    /// The most that the waits of all who start may sum up to.
    pub most: Second,
    /// The state in which it begins; none for an empty machine.
    pub cut: Option<&'a InitialState>,
    /// A listener that is told now and then how many have started.
    pub report: &'a (dyn Fn(usize) + Sync),
}

impl<'a> Forecast<'a> {
    /// A forecast from the beginning, whatever the waits, of which nobody is told.
    #[must_use]
    pub fn new(
        machine: &'a SlurmMachine,
        stays: &'a [JobRecord],
        conditions: &'a Conditions,
    ) -> Forecast<'a> {
        Forecast { machine, stays, conditions, most: Second::MAX, cut: None, report: &|_| {} }
    }

    /// The outcome of each stay; `None` if they wait longer than they may.
    ///
    /// # Complexity
    /// For each event that of the rule for the jobs that are asked for, and for each coming of
    /// backfill that of a plan of the jobs in front of the last that might start; where nothing can
    /// have changed since it came before, or nobody would find nodes though none were kept, it is
    /// not made.
    #[must_use]
    pub fn run(self) -> Option<Vec<JobOutcome>> {
        happen(self, &ResolvedRequest::all(self.machine, self.stays), None)
    }

    /// The outcome of each stay, if its request is resolved already.
    ///
    /// # Complexity
    /// That of [`Forecast::run`].
    pub(super) fn run_resolved(self, requests: &[ResolvedRequest]) -> Option<Vec<JobOutcome>> {
        happen(self, requests, None)
    }

    /// The outcome of each stay, with the seconds that it waits for each cause.
    ///
    /// # Complexity
    /// Beside that of [`Forecast::run`], that of the rule for each kind of job that waits at each
    /// event.
    #[must_use]
    pub fn run_with_waits(self) -> Option<(Vec<JobOutcome>, Vec<WaitsByCause>)> {
        let requests = ResolvedRequest::all(self.machine, self.stays);
        let mut causes = Causes::new(requests.len());
        let outcomes = happen(self, &requests, Some(&mut causes))?;
        Some((outcomes, causes.into_waited()))
    }
}

/// The outcome of each stay of a history that happens again from the beginning.
///
/// # Complexity
/// That of [`Forecast::run`].
#[must_use]
pub fn forecast(
    machine: &SlurmMachine,
    stays: &[JobRecord],
    conditions: &Conditions,
) -> Vec<JobOutcome> {
    Forecast::new(machine, stays, conditions).run().unwrap_or_default()
}

/// The outcome of each stay from the beginning, with the seconds that it waits for each cause.
///
/// # Complexity
/// That of [`Forecast::run_with_waits`].
#[must_use]
pub fn forecast_with_waits(
    machine: &SlurmMachine,
    stays: &[JobRecord],
    conditions: &Conditions,
) -> (Vec<JobOutcome>, Vec<WaitsByCause>) {
    Forecast::new(machine, stays, conditions).run_with_waits().unwrap_or_default()
}

/// The number of starts after which they are reported again.
const REPORT_EVERY: usize = 500;

fn happen(
    asked: Forecast<'_>,
    requests: &[ResolvedRequest],
    mut causes: Option<&mut Causes>,
) -> Option<Vec<JobOutcome>> {
    let Forecast { machine, stays, conditions, most, cut, report } = asked;
    let mut events: BinaryHeap<Reverse<(Second, Event)>> = BinaryHeap::new();
    let (kind, kinds) = kinds(requests);
    let mut floor = Replay {
        machine,
        stays,
        requests,
        kind,
        fits: vec![None; kinds],
        conditions,
        desks: SlurmAllocators::new(machine, stays),
        queue: Vec::new(),
        running: Vec::new(),
        outcomes: vec![JobOutcome::default(); stays.len()],
        now: 0,
        begun: Vec::new(),
        looked: vec![Second::MIN; stays.len()],
        room_since: Second::MIN,
        changes: 0,
        waited: 0,
    };
    for (place, start, nodes) in cut.iter().flat_map(|cut| &cut.running) {
        floor.now = *start;
        floor.begin(*place, nodes.clone(), StartedBy::Unknown);
        let free = free_at(&stays[*place], *start, conditions);
        events.push(Reverse((free, Event::Free(*place))));
    }
    floor.begun.clear();
    let from = cut.map_or(Second::MIN, |cut| cut.at);
    let mut has_waited = false;
    for (place, stay) in stays.iter().enumerate() {
        let Some(queued) = stay.queued().filter(|_| floor.outcomes[place].start.is_none()) else {
            continue;
        };
        let since = queued.max(from);
        match (stay.start, stay.end) {
            (Some(_), Some(_)) => events.push(Reverse((since, Event::Submit(place)))),
            (None, Some(end)) if end > since => {
                events.push(Reverse((since, Event::Submit(place))));
                events.push(Reverse((end, Event::Cancel(place))));
            }
            _ => continue,
        }
        has_waited |= queued < from;
    }
    let every = conditions.backfill_every;
    // When backfill comes next, and from when on it might find something that it did not find when it came last.
    let mut due: Option<Second> =
        (has_waited && every > 0).then(|| (from - 1).div_euclid(every) * every + every);
    let mut settled_until = Second::MIN;
    let mut started: usize = 0;
    loop {
        let next = events.peek().map(|Reverse((time, _))| *time);
        let now = match (next, due) {
            (None, None) => break,
            (Some(next), Some(due)) => next.min(due),
            (Some(next), None) => next,
            (None, Some(due)) => due,
        };
        let is_backfill = due == Some(now);
        let is_quiet = is_backfill && next != Some(now) && now < settled_until;
        if is_quiet && floor.is_in_order(now) {
            if next.is_none() && settled_until == Second::MAX {
                // Whoever waits now waits for ever.
                break;
            }
            let same_until = if conditions.order.is_fixed() {
                settled_until
            } else {
                settled_until.min(now + 1)
            };
            let until = next.unwrap_or(Second::MAX).min(same_until);
            due = Some((until - 1).div_euclid(every) * every + every);
            continue;
        }
        if let Some(causes) = causes.as_deref_mut() {
            causes.pass(now);
        }
        floor.now = now;
        let (mut has_news, mut has_room) = (false, false);
        let mut submitted = Vec::new();
        while let Some(&Reverse((time, event))) = events.peek()
            && time == now
        {
            events.pop();
            has_news = true;
            has_room |= !matches!(event, Event::Submit(_));
            match event {
                Event::Free(place) => floor.free(place),
                Event::Cancel(place) => floor.cancel(place),
                Event::Submit(place) => {
                    floor.submit(place);
                    submitted.push(place);
                }
            }
        }
        if !submitted.is_empty() || !conditions.order.is_fixed() {
            conditions.order.sort(stays, &mut floor.queue, now);
        }
        if has_news {
            floor.main();
            has_room |= !floor.begun.is_empty();
            if has_room || submitted.iter().any(|&place| floor.is_looked_at(place)) {
                settled_until = Second::MIN;
            }
        }
        if is_backfill {
            due = None;
            settled_until = floor.backfill();
        }
        for place in std::mem::take(&mut floor.begun) {
            let free = free_at(&stays[place], now, conditions);
            events.push(Reverse((free, Event::Free(place))));
            started += 1;
            if started.is_multiple_of(REPORT_EVERY) {
                report(started);
            }
        }
        if floor.waited > most {
            return None;
        }
        if every > 0 && !floor.queue.is_empty() && due.is_none() {
            due = Some((now.div_euclid(every) + 1) * every);
        }
        if let Some(causes) = causes.as_deref_mut() {
            let has_looked = |place: usize| floor.looked[place] >= floor.room_since;
            let ask =
                |place: usize| floor.desks.desk(&stays[place]).ask(&floor.requests[place].asked);
            let waiting = floor.queue.iter().map(|&place| (place, floor.kind[place]));
            causes.look(waiting, floor.changes, &ask, &has_looked);
        }
    }
    Some(floor.outcomes)
}

/// The machine and its queue.
struct Replay<'a> {
    machine: &'a SlurmMachine,
    stays: &'a [JobRecord],
    requests: &'a [ResolvedRequest],
    /// Requests that are alike but for their limits are of one kind.
    kind: Vec<usize>,
    /// Whether one of each kind might start in this pass of backfill, where that is known.
    fits: Vec<Option<bool>>,
    conditions: &'a Conditions,
    desks: SlurmAllocators<'a>,
    queue: Vec<usize>,
    running: Vec<usize>,
    outcomes: Vec<JobOutcome>,
    now: Second,
    begun: Vec<usize>,
    /// When backfill looked at each last, and when nodes or an earlier job went last.
    looked: Vec<Second>,
    room_since: Second,
    /// How often nodes were given out or came back.
    changes: u64,
    /// The waits of those that have started, summed.
    waited: Second,
}

impl Replay<'_> {
    fn submit(&mut self, place: usize) {
        if self.requests[place].is_hopeless() {
            self.outcomes[place].is_refused = true;
        } else {
            self.queue.push(place);
        }
    }

    fn free(&mut self, place: usize) {
        self.desks.release(place);
        self.running.retain(|&own| own != place);
        self.room_since = self.now;
        self.changes += 1;
    }

    fn cancel(&mut self, place: usize) {
        self.queue.retain(|&waiting| waiting != place);
        self.room_since = self.now;
    }

    /// Whether those who wait still come in the same order at a later time.
    fn is_in_order(&self, now: Second) -> bool {
        if self.conditions.order.is_fixed() {
            return true;
        }
        self.conditions.order.is_sorted(self.stays, &self.queue, now)
    }

    /// Whether one that waits comes so early that backfill looks at it.
    fn is_looked_at(&self, place: usize) -> bool {
        let of_this = |own: &&usize| self.stays[**own].partition == self.stays[place].partition;
        let depth = self.conditions.backfill_depth;
        self.queue.len() <= depth
            || self.queue.iter().filter(of_this).take(depth).any(|&own| own == place)
    }

    fn begin(&mut self, place: usize, nodes: NodeSet, by: StartedBy) {
        self.desks.hold(place, &self.requests[place].asked, &nodes);
        self.changes += 1;
        self.waited += self.now - self.stays[place].queued().unwrap_or(self.now);
        self.running.push(place);
        self.begun.push(place);
        self.queue.retain(|&waiting| waiting != place);
        self.outcomes[place] =
            JobOutcome { start: Some(self.now), nodes: Some(nodes), by, is_refused: false };
    }

    fn main(&mut self) {
        let mut blocked: Vec<&str> = Vec::new();
        let partitions = self.desks.partitions().count();
        for place in self.queue.clone() {
            if blocked.len() == partitions {
                break;
            }
            let stay = &self.stays[place];
            let partition = stay.partition.as_str();
            if blocked.contains(&partition) {
                continue;
            }
            match self.desks.desk(stay).ask(&self.requests[place].asked) {
                SlurmAnswer::Nodes(nodes) => self.begin(place, nodes, StartedBy::Main),
                SlurmAnswer::Wait(..) => blocked.push(partition),
                SlurmAnswer::Never(_) => {
                    self.outcomes[place].is_refused = true;
                    self.queue.retain(|&waiting| waiting != place);
                }
            }
        }
    }
}
