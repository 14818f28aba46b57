//! Which job next? The allocator says where, and the agent says which of the oldest waiting jobs starts.

use meshwork::catalogue::Catalogue;
use meshwork::job::Job;
use meshwork::machine::Placement;
use meshwork::pool::Pool;
use toml::{Table, Value};

use super::world::{Running, World};
use super::{Env, Script, Step};

/// A machine with an allocator, and a window of the oldest waiting jobs. Of each the agent sees its
/// processors, its estimate and how long it has waited, and beside them the running jobs that are
/// expected to end first, of each its processors, for how long it is expected to go on and how long
/// it has run. An action is a place in the window; the one after the last is to wait for the next
/// arrival or departure. Where there will be none, the oldest job is started.
pub(super) struct Scheduling {
    world: World,
    pool: Pool,
    window: usize,
    /// How many running jobs the agent sees.
    seen: usize,
    /// What the pool is made of; each episode has a new one.
    table: Table,
    catalogue: Catalogue,
}

impl Scheduling {
    /// # Errors
    /// If the machine has several sites.
    pub(super) fn new(
        script: Script,
        window: usize,
        seen: usize,
        catalogue: &Catalogue,
    ) -> Result<Scheduling, String> {
        let given = script.scenario.table();
        let mut table = Table::new();
        for key in ["machine", "allocator", "seed"] {
            table.extend(given.get(key).map(|value| (key.to_owned(), value.clone())));
        }
        let rule = given.get("workload").and_then(|workload| workload.get("shape"));
        table.extend(rule.map(|rule| ("shape".to_owned(), rule.clone())));
        // The speed of a single site is part of its machine, and counts for the time that jobs take.
        let speed =
            given.get("machine").and_then(|machine| machine.get("speed")).and_then(Value::as_float);
        let pool = Pool::read_in(catalogue, &table).map_err(|problem| problem.message)?;
        let world = World::new(script, speed.unwrap_or(1.0));
        Ok(Scheduling { world, pool, window, seen, table, catalogue: catalogue.clone() })
    }
}

impl Env for Scheduling {
    fn reset(&mut self, episode: u64) -> Result<(), String> {
        self.pool =
            Pool::read_in(&self.catalogue, &self.table).map_err(|problem| problem.message)?;
        let pool = &mut self.pool;
        self.world.reset(episode, |job| pool.could_hold(&job.request))
    }

    fn step(&mut self, action: u32) -> Result<Step, String> {
        let at = action as usize;
        self.pool.advance(self.world.now).map_err(|error| error.to_string())?;
        let wanted = self.world.queue.get(at).filter(|_| at < self.window);
        let placement = wanted.and_then(|waiting| self.pool.allocate(&waiting.job.request));
        let placed = placement.is_some();
        if let Some(placement) = placement {
            self.world.start(at, placement);
        }
        let mut released: Vec<Placement> = Vec::new();
        // The pool is asked whether a job fits and told what is given back, and cannot be both at once.
        let pool = std::cell::RefCell::new(&mut self.pool);
        let fits = |job: &Job| pool.borrow_mut().could_hold(&job.request);
        let mut release = |placement: &Placement| {
            if pool.borrow_mut().release(placement).is_err() {
                released.push(placement.clone());
            }
        };
        if !placed && !self.world.pass(false, fits, &mut release)? {
            // Nobody may wait for ever: the oldest job has the empty machine.
            let oldest = self.world.queue.front().map(|waiting| waiting.job.request.clone());
            let placement = oldest.and_then(|request| pool.borrow_mut().allocate(&request));
            let placement = placement.ok_or("the allocator has no room on an empty machine")?;
            self.world.start(0, placement);
        }
        self.world.go_on(fits, &mut release)?;
        if let Some(placement) = released.first() {
            return Err(format!(
                "a placement of {} nodes could not be given back",
                placement.len()
            ));
        }
        Ok(Step {
            reward: -self.world.take_waited(),
            is_over: self.world.is_over(),
            was_invalid: !placed && at != self.window,
        })
    }

    fn observe(&self, _flags: &mut dyn FnMut(usize, bool), numbers: &mut dyn FnMut(usize, f64)) {
        for place in 0..self.window {
            let seen = self.world.queue.get(place).map_or([0.0; 3], |waiting| {
                let job = &waiting.job;
                [job.request.nodes() as f64, job.estimate, self.world.now - job.arrival]
            });
            for (column, value) in seen.into_iter().enumerate() {
                numbers(place * 3 + column, value);
            }
        }
        numbers(self.window * 3, f64::from(self.pool.site().free_nodes()));
        numbers(self.window * 3 + 1, self.world.queue.len() as f64);
        let mut running: Vec<&Running> = self.world.running().collect();
        running.sort_by_key(|one| (one.expected_end, one.start));
        for place in 0..self.seen {
            let seen = running.get(place).map_or([0.0; 3], |one| {
                let remaining = self.world.remaining(one);
                [f64::from(one.placement.len()), remaining, self.world.now - one.start]
            });
            for (column, value) in seen.into_iter().enumerate() {
                numbers(self.window * 3 + 2 + place * 3 + column, value);
            }
        }
    }

    fn mask(&mut self, can: &mut dyn FnMut(usize, bool)) {
        for place in 0..self.window {
            let waiting = self.world.queue.get(place);
            can(
                place,
                waiting.is_some_and(|waiting| self.pool.can(&waiting.job.request).is_some()),
            );
        }
        can(self.window, true);
    }

    fn now(&self) -> f64 {
        self.world.now.units()
    }

    fn sizes(&self) -> [usize; 3] {
        [0, self.window * 3 + 2 + self.seen * 3, self.window + 1]
    }
}
