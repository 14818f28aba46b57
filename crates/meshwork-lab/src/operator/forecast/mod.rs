//! Replays of the jobs of a history on a machine, by its rule and a simplified Slurm scheduler.
//!
//! The main scheduler runs whenever a job is submitted or nodes become free. It goes through the
//! queue in order of priority, and skips a partition after the first of its jobs that cannot start.
//! Backfill runs at fixed intervals over the whole queue, and starts jobs that delay no job before
//! them, by their time limits.

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

/// The default interval of backfill (`bf_interval`), in seconds.
const BACKFILL_EVERY: Second = 30;

/// The default number of jobs that backfill considers (`bf_max_job_test`).
const BACKFILL_DEPTH: usize = 500;

/// The parameters of the scheduler.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Conditions {
    /// The seconds from the end of a job until its nodes can be allocated again.
    pub cleanup: Second,
    /// The interval of backfill in seconds; 0 for no backfill.
    pub backfill_every: Second,
    /// The number of jobs that backfill considers in each partition.
    pub backfill_depth: usize,
    /// The order of waiting jobs.
    pub order: PriorityOrder,
}

impl Conditions {
    /// The parameters in the `slurm.conf` of a machine, with the given clean-up time.
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

/// The outcome of one job record.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JobOutcome {
    /// The time of its start; `None` if it did not start.
    pub start: Option<Second>,
    /// The allocated nodes; `None` if it did not start.
    pub nodes: Option<NodeSet>,
    /// The scheduler that started it.
    pub by: StartedBy,
    /// Whether it was refused because it can never start.
    pub is_refused: bool,
}

/// The events of a second, in order of precedence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Free(usize),
    Cancel(usize),
    Submit(usize),
}

/// The jobs that hold nodes at an instant, with which a replay begins.
#[derive(Clone, Debug)]
pub struct InitialState {
    /// The instant, in seconds since 1970.
    pub at: Second,
    /// Indices of running jobs, with their starts and nodes. All other jobs wait or are submitted
    /// later.
    pub running: Vec<(usize, Second, NodeSet)>,
}

impl InitialState {
    /// The state just before an instant, and the indices of the records that have not ended by
    /// then.
    ///
    /// Records that were refused are left out. The state counts positions in that list.
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

/// The time from which the nodes of a job can be allocated again. If a job was cancelled while it
/// waited but starts in the replay, it runs until the time of its cancellation.
fn free_at(stay: &JobRecord, start: Second, conditions: &Conditions) -> Second {
    let runs = stay.end.unwrap_or(start) - stay.start.unwrap_or(start);
    start + runs.max(0) + conditions.cleanup
}

/// The input of a replay.
///
/// A job runs for its recorded run time. A job that never started waits, or runs, until its
/// recorded cancellation; without one it is left out. A job that can never start is refused at
/// submission.
#[derive(Clone, Copy)]
pub struct Forecast<'a> {
    pub machine: &'a SlurmMachine,
    /// The records to be replayed.
    pub stays: &'a [JobRecord],
    /// The parameters of the scheduler.
    pub conditions: &'a Conditions,
    /// The maximum total wait of all started jobs in seconds; beyond it the replay is aborted.
    pub most: Second,
    /// The initial state; `None` for an empty machine.
    pub cut: Option<&'a InitialState>,
    /// A callback that gets the number of starts so far, from time to time.
    pub report: &'a (dyn Fn(usize) + Sync),
}

impl<'a> Forecast<'a> {
    /// A replay from an empty machine, without a limit of waits and without a callback.
    #[must_use]
    pub fn new(
        machine: &'a SlurmMachine,
        stays: &'a [JobRecord],
        conditions: &'a Conditions,
    ) -> Forecast<'a> {
        Forecast { machine, stays, conditions, most: Second::MAX, cut: None, report: &|_| {} }
    }

    /// The outcome of each record; `None` if the total wait exceeds `most`.
    ///
    /// # Complexity
    /// For each event, that of the rule for the jobs considered. For each pass of backfill, that of
    /// a plan of the jobs up to the last one that might start. A pass is skipped if nothing can
    /// have changed since the last one, or if no job would find nodes even without reservations.
    #[must_use]
    pub fn run(self) -> Option<Vec<JobOutcome>> {
        happen(self, &ResolvedRequest::all(self.machine, self.stays), None)
    }

    /// The outcome of each record, with requests resolved beforehand.
    ///
    /// # Complexity
    /// That of [`Forecast::run`].
    pub(super) fn run_resolved(self, requests: &[ResolvedRequest]) -> Option<Vec<JobOutcome>> {
        happen(self, requests, None)
    }

    /// The outcome of each record, and its seconds of waiting by cause.
    ///
    /// # Complexity
    /// Beside that of [`Forecast::run`], that of the rule for each kind of waiting request at each
    /// event.
    #[must_use]
    pub fn run_with_waits(self) -> Option<(Vec<JobOutcome>, Vec<WaitsByCause>)> {
        let requests = ResolvedRequest::all(self.machine, self.stays);
        let mut causes = Causes::new(requests.len());
        let outcomes = happen(self, &requests, Some(&mut causes))?;
        Some((outcomes, causes.into_waited()))
    }
}

/// Replays a history from an empty machine; returns the outcome of each record.
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

/// Replays a history from an empty machine; also returns the seconds of waiting by cause.
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

/// The number of starts between two reports of progress.
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
    // The next pass of backfill, and the time until which it would start no job and plan the same.
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
                // The waiting jobs never start.
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

/// The state of a replay.
struct Replay<'a> {
    machine: &'a SlurmMachine,
    stays: &'a [JobRecord],
    requests: &'a [ResolvedRequest],
    /// The kind of each request: requests of a kind differ at most in their time limits.
    kind: Vec<usize>,
    /// For each kind, whether a job of it might start in this pass of backfill; `None` if unknown.
    fits: Vec<Option<bool>>,
    conditions: &'a Conditions,
    desks: SlurmAllocators<'a>,
    queue: Vec<usize>,
    running: Vec<usize>,
    outcomes: Vec<JobOutcome>,
    now: Second,
    begun: Vec<usize>,
    /// The last second in which backfill considered each job.
    looked: Vec<Second>,
    /// The last second in which nodes became free or a job was cancelled.
    room_since: Second,
    /// The number of allocations and releases so far.
    changes: u64,
    /// The total wait of all started jobs, in seconds.
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

    /// Whether the queue would still be in order at a later time.
    fn is_in_order(&self, now: Second) -> bool {
        if self.conditions.order.is_fixed() {
            return true;
        }
        self.conditions.order.is_sorted(self.stays, &self.queue, now)
    }

    /// Whether a waiting job is near enough to the head of the queue for backfill to consider it.
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
