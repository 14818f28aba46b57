//! What would have happened: the jobs of a history on a machine, by its rule and a scheduler like Slurm's.
//!
//! The main scheduler goes through the queue whenever something is submitted or nodes come back, in the order of
//! priority, and leaves a partition at the first job that cannot start; backfill goes through all of it now and then,
//! and starts whoever delays nobody that comes before, as far as limits tell.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use meshwork::geometry::NodeSet;

use super::causes::{Causes, Waited};
use super::desks::Desks;
use super::folder::{Machine, asked};
use super::history::{By, Second, Stay};
use super::order::Order;
use super::plan::{Plan, Request};
use crate::slurm::conf;
use crate::slurm::desk::Told;

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
    pub order: Order,
}

impl Conditions {
    /// What the `slurm.conf` of a machine says, with this time for clean-up.
    #[must_use]
    pub fn of(machine: &Machine, cleanup: Second) -> Conditions {
        let mut conditions = Conditions {
            cleanup,
            backfill_every: BACKFILL_EVERY,
            backfill_depth: BACKFILL_DEPTH,
            order: Order::of(machine),
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
pub struct Outcome {
    /// When it started.
    pub start: Option<Second>,
    /// On which nodes.
    pub nodes: Option<NodeSet>,
    /// Who started it.
    pub by: By,
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

/// Lets the stays of a history happen again. A stay runs as long as it did; one that never started waits, or runs, until it was
/// cancelled, and is left out if it was not. What the whole machine could not give is refused when it is submitted.
///
/// # Complexity
/// For each event that of the rule for the jobs that are asked for, and for each coming of backfill that of a
/// [`Plan`]; where nothing can have changed since it came before, it is not made.
#[must_use]
pub fn forecast(machine: &Machine, stays: &[Stay], conditions: &Conditions) -> Vec<Outcome> {
    happen(machine, stays, conditions, Second::MAX, None).unwrap_or_default()
}

/// The same, as long as the waits of all that start sum up to no more than this; else `None`.
///
/// # Complexity
/// At most that of [`forecast`].
#[must_use]
pub fn forecast_within(
    machine: &Machine,
    stays: &[Stay],
    conditions: &Conditions,
    most: Second,
) -> Option<Vec<Outcome>> {
    happen(machine, stays, conditions, most, None)
}

/// The same, with the seconds that each stay waits for each cause.
///
/// # Complexity
/// Beside that of [`forecast`], that of the rule for each kind of job that waits at each event.
#[must_use]
pub fn forecast_with_waits(
    machine: &Machine,
    stays: &[Stay],
    conditions: &Conditions,
) -> (Vec<Outcome>, Vec<Waited>) {
    let mut causes = Causes::new(stays);
    let outcomes = happen(machine, stays, conditions, Second::MAX, Some(&mut causes));
    (outcomes.unwrap_or_default(), causes.into_waited())
}

fn happen(
    machine: &Machine,
    stays: &[Stay],
    conditions: &Conditions,
    most: Second,
    mut causes: Option<&mut Causes>,
) -> Option<Vec<Outcome>> {
    let mut events: BinaryHeap<Reverse<(Second, Event)>> = BinaryHeap::new();
    let requests = requests(machine, stays);
    for (place, stay) in stays.iter().enumerate() {
        let Some(queued) = stay.queued() else { continue };
        match (stay.start, stay.end) {
            (Some(_), Some(_)) => events.push(Reverse((queued, Event::Submit(place)))),
            (None, Some(end)) if end > queued => {
                events.push(Reverse((queued, Event::Submit(place))));
                events.push(Reverse((end, Event::Cancel(place))));
            }
            _ => {}
        }
    }
    let mut floor = Floor {
        machine,
        stays,
        requests,
        conditions,
        desks: Desks::new(machine, stays),
        queue: Vec::new(),
        running: Vec::new(),
        outcomes: vec![Outcome::default(); stays.len()],
        now: 0,
        begun: Vec::new(),
        looked: vec![Second::MIN; stays.len()],
        room_since: Second::MIN,
        changes: 0,
        waited: 0,
    };
    let every = conditions.backfill_every;
    // When backfill comes next, and from when on it might find something that it did not find when it came last.
    let mut due: Option<Second> = None;
    let mut settled_until = Second::MIN;
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
        let mut has_news = false;
        while let Some(&Reverse((time, event))) = events.peek()
            && time == now
        {
            events.pop();
            has_news = true;
            match event {
                Event::Free(place) => floor.free(place),
                Event::Cancel(place) => floor.cancel(place),
                Event::Submit(place) => floor.submit(place),
            }
        }
        conditions.order.sort(stays, &mut floor.queue, now);
        if has_news {
            floor.main();
            settled_until = Second::MIN;
        }
        if is_backfill {
            due = None;
            settled_until = floor.backfill();
        }
        for place in std::mem::take(&mut floor.begun) {
            let end = stays[place].end.unwrap_or(now);
            // One that was cancelled while it waited is cancelled while it runs.
            let runs = (end - stays[place].start.unwrap_or(now)).max(0);
            events.push(Reverse((now + runs + conditions.cleanup, Event::Free(place))));
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
            causes.look(&floor.queue, floor.changes, &ask, &has_looked);
        }
    }
    Some(floor.outcomes)
}

/// What each stay asks for; what is asked for alike is looked up once.
fn requests(machine: &Machine, stays: &[Stay]) -> Vec<Request> {
    let mut known: Vec<(&str, Request)> = Vec::new();
    let mut requests = Vec::with_capacity(stays.len());
    for stay in stays {
        let own = asked(stay);
        let is_alike = |(partition, request): &&(&str, Request)| {
            *partition == stay.partition && request.asked == own
        };
        if let Some((_, request)) = known.iter().find(is_alike) {
            requests.push(request.for_another(stay));
            continue;
        }
        let request = Request::of(machine, machine.site(&stay.partition), stay);
        known.push((&stay.partition, request.clone()));
        requests.push(request);
    }
    requests
}

/// The machine and its queue.
struct Floor<'a> {
    machine: &'a Machine,
    stays: &'a [Stay],
    requests: Vec<Request>,
    conditions: &'a Conditions,
    desks: Desks<'a>,
    queue: Vec<usize>,
    running: Vec<usize>,
    outcomes: Vec<Outcome>,
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

impl Floor<'_> {
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
        let mut sorted = self.queue.clone();
        self.conditions.order.sort(self.stays, &mut sorted, now);
        sorted == self.queue
    }

    fn begin(&mut self, place: usize, nodes: NodeSet, by: By) {
        self.desks.hold(place, &self.requests[place].asked, &nodes);
        self.changes += 1;
        self.waited += self.now - self.stays[place].queued().unwrap_or(self.now);
        self.running.push(place);
        self.begun.push(place);
        self.queue.retain(|&waiting| waiting != place);
        self.outcomes[place] =
            Outcome { start: Some(self.now), nodes: Some(nodes), by, is_refused: false };
    }

    fn main(&mut self) {
        let mut blocked: Vec<&str> = Vec::new();
        for place in self.queue.clone() {
            let stay = &self.stays[place];
            let partition = stay.partition.as_str();
            if blocked.contains(&partition) {
                continue;
            }
            match self.desks.desk(stay).ask(&self.requests[place].asked) {
                Told::Nodes(nodes) => self.begin(place, nodes, By::Main),
                Told::Wait(..) => blocked.push(partition),
                Told::Never(_) => {
                    self.outcomes[place].is_refused = true;
                    self.queue.retain(|&waiting| waiting != place);
                }
            }
        }
    }

    /// Goes through all of the queue, and says from when on it might find something else if nothing happens.
    fn backfill(&mut self) -> Second {
        let mut partitions: Vec<&str> =
            self.queue.iter().map(|&place| self.stays[place].partition.as_str()).collect();
        partitions.sort_unstable();
        partitions.dedup();
        let mut settled_until = Second::MAX;
        for partition in partitions {
            let running = self.running.iter().filter_map(|&place| {
                let outcome = &self.outcomes[place];
                let end = outcome.start?.saturating_add(self.requests[place].limit);
                Some((end, outcome.nodes.as_ref()?, self.stays[place].whole_blocks))
            });
            let mut plan = Plan::new(self.machine.site(partition), self.now, running);
            let of_this = |place: &usize| self.stays[*place].partition == partition;
            let queue: Vec<usize> = self
                .queue
                .iter()
                .copied()
                .filter(of_this)
                .take(self.conditions.backfill_depth)
                .collect();
            for place in queue {
                self.looked[place] = self.now;
                let request = &self.requests[place];
                let kept = plan.kept_over(request.limit);
                let desk = self.desks.desk(&self.stays[place]);
                if let Some(nodes) = desk.find_without(&request.asked, &kept) {
                    plan.keep(self.now, request, &nodes);
                    self.begin(place, nodes, By::Backfill);
                } else {
                    plan.book(request);
                }
            }
            settled_until = settled_until.min(plan.settled_until());
        }
        // What begins now runs when it comes next, and is no longer planned.
        if self.begun.is_empty() { settled_until } else { Second::MIN }
    }
}
