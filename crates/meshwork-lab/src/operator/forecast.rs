//! What would have happened: the jobs of a history on a machine, by its rule and a scheduler like Slurm's.
//!
//! The main scheduler goes through the queue whenever something is submitted or nodes come back, in the order of
//! priority, and leaves a partition at the first job that cannot start; backfill goes through all of it now and then,
//! and starts whoever delays nobody that comes before, as far as limits tell.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use meshwork::geometry::NodeSet;

use super::desks::Desks;
use super::folder::Machine;
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
    Backfill,
}

/// Lets the stays of a history happen again. A stay runs as long as it did; one that never started waits, or runs, until it was
/// cancelled, and is left out if it was not.
///
/// # Complexity
/// For each event that of the rule for the jobs that are asked for, and for each coming of backfill that of a
/// [`Plan`].
#[must_use]
pub fn forecast(machine: &Machine, stays: &[Stay], conditions: &Conditions) -> Vec<Outcome> {
    let mut events: BinaryHeap<Reverse<(Second, Event)>> = BinaryHeap::new();
    let mut requests = Vec::with_capacity(stays.len());
    for (place, stay) in stays.iter().enumerate() {
        requests.push(Request::of(machine, machine.site(&stay.partition), stay));
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
    let outcomes = vec![Outcome::default(); stays.len()];
    let mut floor = Floor {
        machine,
        stays,
        requests,
        conditions,
        desks: Desks::new(machine, stays),
        queue: Vec::new(),
        running: Vec::new(),
        outcomes,
        now: 0,
        begun: Vec::new(),
    };
    let mut is_backfill_due = false;
    while let Some(Reverse((now, first))) = events.pop() {
        floor.now = now;
        let mut event = Some(first);
        let (mut has_news, mut backfill) = (false, false);
        while let Some(own) = event {
            match own {
                Event::Free(place) => floor.free(place),
                Event::Cancel(place) => floor.queue.retain(|&waiting| waiting != place),
                Event::Submit(place) => floor.queue.push(place),
                Event::Backfill => backfill = true,
            }
            has_news |= own != Event::Backfill;
            event = events
                .peek()
                .filter(|Reverse((time, _))| *time == now)
                .map(|Reverse((_, event))| *event);
            if event.is_some() {
                events.pop();
            }
        }
        conditions.order.sort(stays, &mut floor.queue, now);
        if has_news {
            floor.main();
        }
        if backfill {
            is_backfill_due = false;
            floor.backfill();
        }
        for place in std::mem::take(&mut floor.begun) {
            let end = stays[place].end.unwrap_or(now);
            // One that was cancelled while it waited is cancelled while it runs.
            let runs = (end - stays[place].start.unwrap_or(now)).max(0);
            events.push(Reverse((now + runs + conditions.cleanup, Event::Free(place))));
        }
        let every = conditions.backfill_every;
        if every > 0 && !floor.queue.is_empty() && !is_backfill_due {
            is_backfill_due = true;
            events.push(Reverse(((now.div_euclid(every) + 1) * every, Event::Backfill)));
        }
        // What is left may wait for ever: nothing but backfill would come.
        if events.len() == 1 && is_backfill_due && floor.running.is_empty() {
            break;
        }
    }
    floor.outcomes
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
}

impl Floor<'_> {
    fn free(&mut self, place: usize) {
        self.desks.release(place);
        self.running.retain(|&own| own != place);
    }

    fn begin(&mut self, place: usize, nodes: NodeSet, by: By) {
        self.desks.hold(place, &self.requests[place].asked, &nodes);
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

    fn backfill(&mut self) {
        let mut partitions: Vec<&str> =
            self.queue.iter().map(|&place| self.stays[place].partition.as_str()).collect();
        partitions.sort_unstable();
        partitions.dedup();
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
                let request = &self.requests[place];
                let kept = plan.kept_over(request.limit);
                let desk = self.desks.desk(&self.stays[place]);
                if let Told::Nodes(nodes) = desk.ask_without(&request.asked, Some(&kept)) {
                    plan.keep(self.now, request, &nodes);
                    self.begin(place, nodes, By::Backfill);
                } else {
                    plan.book(request);
                }
            }
        }
    }
}
