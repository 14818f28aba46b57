//! The scheduling environment: the agent selects a waiting job, and the allocator places it.

use meshwork::catalogue::Catalogue;
use meshwork::observe::Running;
use meshwork::scenario::Scenario;

use super::episode::{Episode, machine};
use super::{Env, Script, Step};

/// The state of a scheduling environment.
///
/// The agent observes a window of the oldest waiting jobs, each with its processors, estimate and
/// waiting time, and the running jobs that are expected to end first, each with its processors,
/// expected remaining time and elapsed time. An action is a position in the window. The action
/// after the last position waits for the next arrival or departure; if there will be neither, the
/// oldest job starts.
pub(super) struct Scheduling {
    script: Script,
    machine: Scenario,
    episode: Episode,
    window: usize,
    /// Number of running jobs that the agent observes.
    seen: usize,
}

impl Scheduling {
    /// Returns an error if the machine has several sites.
    pub(super) fn new(
        script: Script,
        window: usize,
        seen: usize,
        catalogue: &Catalogue,
    ) -> Result<Scheduling, String> {
        let machine = machine(&script, None, catalogue)?;
        let episode = Episode::none(&machine)?;
        Ok(Scheduling { script, machine, episode, window, seen })
    }
}

impl Env for Scheduling {
    fn reset(&mut self, episode: u64) -> Result<(), String> {
        self.episode = Episode::begin(&self.script, &self.machine, episode)?;
        Ok(())
    }

    fn step(&mut self, action: u32) -> Result<Step, String> {
        let (at, episode) = (action as usize, &mut self.episode);
        let placed = at < self.window && episode.start(at, None)?;
        // No job may wait forever: start the oldest job on the empty machine.
        if !placed && !episode.pass(false)? && !episode.start(0, None)? {
            return Err("the allocator has no room on an empty machine".to_owned());
        }
        episode.go_on()?;
        Ok(Step {
            reward: -episode.take_waited(),
            is_over: episode.is_over(),
            was_invalid: !placed && at != self.window,
        })
    }

    fn observe(&self, _flags: &mut dyn FnMut(usize, bool), numbers: &mut dyn FnMut(usize, f64)) {
        let cluster = self.episode.cluster();
        let now = cluster.now();
        let mut row = |first: usize, seen: Option<[f64; 3]>| {
            for (column, value) in seen.unwrap_or_default().into_iter().enumerate() {
                numbers(first + column, value);
            }
        };
        let mut waiting = cluster.waiting().map(|ticket| cluster.job(ticket));
        for place in 0..self.window {
            let job = waiting.next();
            let seen = job.map(|job| [job.request.nodes() as f64, job.estimate, now - job.arrival]);
            row(place * 3, seen);
        }
        let mut running: Vec<&Running> = cluster.running().map(|(_, running)| running).collect();
        running.sort_by_key(|one| (one.expected_end, one.start));
        for place in 0..self.seen {
            let seen = running.get(place).map(|one| {
                [f64::from(one.held), (one.expected_end - now).max(0.0), now - one.start]
            });
            row(self.window * 3 + 2 + place * 3, seen);
        }
        numbers(self.window * 3, f64::from(cluster.site(0).free_nodes()));
        numbers(self.window * 3 + 1, cluster.waiting_jobs() as f64);
    }

    fn mask(&mut self, can: &mut dyn FnMut(usize, bool)) {
        let cluster = self.episode.cluster();
        let mut site = cluster.facility().fork_site(0);
        let mut waiting = cluster.waiting().map(|ticket| cluster.job(ticket));
        for place in 0..self.window {
            let job = waiting.next();
            can(place, job.is_some_and(|job| site.propose(job, cluster.now()).is_some()));
        }
        can(self.window, true);
    }

    fn now(&self) -> f64 {
        self.episode.cluster().now().units()
    }

    fn sizes(&self) -> [usize; 3] {
        [0, self.window * 3 + 2 + self.seen * 3, self.window + 1]
    }
}
