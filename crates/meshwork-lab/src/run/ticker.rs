//! Reports on the progress of a run while it is running.

use std::time::{Duration, Instant};

use meshwork::job::Time;
use meshwork::observe::{Event, Observer};
use meshwork::scenario::Scenario;

use crate::run::runner::Shared;
use crate::threads::locked;

pub(super) struct Ticker<'a, 'b, 'c> {
    shared: &'a Shared<'b, 'c>,
    expected: Expected,
    first_arrival: Option<Time>,
    finished: u64,
    told: (f64, u64),
    last: Instant,
}

enum Expected {
    Jobs(u64),
    Time(f64),
    Unknown,
}

const JOBS_A_LOOK: u64 = 256;

const TELL_EVERY: Duration = Duration::from_millis(200);

impl<'a, 'b, 'c> Ticker<'a, 'b, 'c> {
    pub(super) fn new(shared: &'a Shared<'b, 'c>, scenario: &Scenario) -> Ticker<'a, 'b, 'c> {
        let table = scenario.table();
        let whole = |table: &str, key: &str| {
            let value = scenario.table()[table].get(key)?.as_integer()?;
            u64::try_from(value).ok()
        };
        let of_log = || locked(&shared.lengths).get(scenario.input_path()?).copied();
        let jobs = whole("measure", "jobs")
            .or_else(|| whole("workload", "first_jobs"))
            .or_else(|| whole("workload", "jobs"))
            .or_else(of_log);
        let time = table["measure"].get("time").and_then(toml::Value::as_float);
        let expected = match (jobs, time) {
            (Some(jobs), _) => Expected::Jobs(jobs),
            (None, Some(time)) => Expected::Time(time),
            (None, None) => Expected::Unknown,
        };
        Ticker {
            shared,
            expected,
            first_arrival: None,
            finished: 0,
            told: (0.0, 0),
            last: Instant::now(),
        }
    }

    fn tell(&mut self, share: f64) {
        let mut progress = locked(&self.shared.progress);
        progress.begun = (progress.begun + share - self.told.0).max(0.0);
        progress.jobs += self.finished - self.told.1;
        self.told = (share, self.finished);
        (self.shared.runner.progress)(*progress);
    }

    /// Ends the progress of an unfinished run, which then counts as finished.
    pub(super) fn end(&mut self) {
        let mut progress = locked(&self.shared.progress);
        progress.begun = (progress.begun - self.told.0).max(0.0);
        progress.jobs += self.finished - self.told.1;
    }
}

impl Observer for Ticker<'_, '_, '_> {
    fn asks_where_jobs_run(&self) -> bool {
        false
    }

    fn asks_what_blocks(&self) -> bool {
        false
    }

    fn observe(&mut self, now: Time, event: &Event<'_>) {
        match event {
            Event::Arrived(..) if self.first_arrival.is_none() => self.first_arrival = Some(now),
            Event::Finished(_) => {
                self.finished += 1;
                if self.finished.is_multiple_of(JOBS_A_LOOK) && self.last.elapsed() >= TELL_EVERY {
                    self.last = Instant::now();
                    let share = match self.expected {
                        Expected::Jobs(jobs) => self.finished as f64 / jobs.max(1) as f64,
                        Expected::Time(time) => {
                            self.first_arrival.map_or(0.0, |first| (now - first) / time)
                        }
                        Expected::Unknown => 0.0,
                    };
                    self.tell(share.min(0.99));
                }
            }
            _ => {}
        }
    }
}
