//! Vector environments: several environments that any number of threads step together.

use std::sync::atomic::{AtomicU8, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pyo3::prelude::*;
use rayon::prelude::*;

use super::allocation::Allocation;
use super::scheduling::Scheduling;
use super::{Env, Script, Step};
use crate::buffer::{Buffer, Memory};
use crate::error::{failed, wrong};
use crate::guard::guarded;
use crate::running::Active;
use crate::strategy::catalogue;

/// One environment, with whether its episode has ended and the number of its next episode.
struct Slot {
    env: Box<dyn Env>,
    is_over: bool,
    /// Number of the episode with which the next automatic reset begins.
    next: u64,
}

/// Environments of one kind, which write observations to arrays. Each has its own part of the
/// memory that the arrays view.
#[pyclass(frozen, module = "meshwork._meshwork")]
pub(crate) struct Envs {
    slots: Vec<Mutex<Slot>>,
    threads: Option<rayon::ThreadPool>,
    process: u32,
    masks: bool,
    /// Number of flags and number of numeric values in an observation, and number of actions.
    sizes: [usize; 3],
    flags: Arc<[AtomicU8]>,
    numbers: Arc<[AtomicU64]>,
    mask: Arc<[AtomicU8]>,
    /// Outcomes of the last decisions.
    ///
    /// An outcome is the reward, the current time, whether the episode has ended, and whether the
    /// action was invalid.
    outcome: Arc<[AtomicU64]>,
}

/// Number of values in an outcome: reward, time, end of the episode, and invalid action.
const OUTCOME: usize = 4;

impl Envs {
    /// Makes `count` environments.
    ///
    /// If `window` is given, these are scheduling environments, and `window` has the numbers of
    /// waiting and of running jobs that the agent observes. Otherwise these are allocation
    /// environments.
    pub(crate) fn new(
        script: &Script,
        count: usize,
        threads: usize,
        window: Option<(usize, usize)>,
        masks: bool,
    ) -> PyResult<Envs> {
        let catalogue = catalogue::current();
        let make = || -> Result<Box<dyn Env>, String> {
            Ok(match window {
                None => Box::new(Allocation::new(script.clone(), &catalogue)?),
                Some((window, seen)) => {
                    Box::new(Scheduling::new(script.clone(), window, seen, &catalogue)?)
                }
            })
        };
        let mut slots = Vec::with_capacity(count);
        for at in 0..count {
            let env = guarded(make)?.map_err(wrong)?;
            slots.push(Mutex::new(Slot { env, is_over: true, next: at as u64 }));
        }
        let sizes = slots.first().map_or([0; 3], |slot| locked(slot).env.sizes());
        let threads = (count > 1 && threads != 1)
            .then(|| rayon::ThreadPoolBuilder::new().num_threads(threads).build())
            .transpose()
            .map_err(|error| failed(format!("{threads} threads cannot be started ({error})")))?;
        let bytes = |len: usize| (0..len * count).map(|_| AtomicU8::new(0)).collect();
        let words = |len: usize| (0..len * count).map(|_| AtomicU64::new(0)).collect();
        Ok(Envs {
            flags: bytes(sizes[0]),
            numbers: words(sizes[1]),
            mask: bytes(if masks { sizes[2] } else { 0 }),
            outcome: words(OUTCOME),
            slots,
            threads,
            process: std::process::id(),
            masks,
            sizes,
        })
    }

    /// Writes the observation and the outcome of one environment to memory that is shared with
    /// arrays.
    fn show(&self, at: usize, slot: &mut Slot, step: Step) {
        let [flags, numbers, actions] = self.sizes;
        let (flag, number) = (&self.flags[at * flags..], &self.numbers[at * numbers..]);
        slot.env.observe(
            &mut |place, is| flag[place].store(u8::from(is), Relaxed),
            &mut |place, value| number[place].store(value.to_bits(), Relaxed),
        );
        if self.masks {
            let mask = &self.mask[at * actions..];
            slot.env.mask(&mut |place, can| mask[place].store(u8::from(can), Relaxed));
        }
        let truth = |is: bool| f64::from(u8::from(is));
        let outcome = [step.reward, slot.env.now(), truth(step.is_over), truth(step.was_invalid)];
        for (place, value) in outcome.into_iter().enumerate() {
            self.outcome[at * OUTCOME + place].store(value.to_bits(), Relaxed);
        }
    }

    fn reset_at(&self, at: usize, episode: u64) -> Result<(), String> {
        let mut slot = locked(&self.slots[at]);
        slot.env.reset(episode)?;
        slot.is_over = false;
        slot.next = episode.wrapping_add(self.slots.len() as u64);
        self.show(at, &mut slot, Step::default());
        Ok(())
    }

    /// Takes an action, or begins the next episode if the current one has ended.
    fn step_at(&self, at: usize, action: u32) -> Result<(), String> {
        let mut slot = locked(&self.slots[at]);
        if slot.is_over {
            let next = slot.next;
            drop(slot);
            return self.reset_at(at, next);
        }
        let step = slot.env.step(action)?;
        slot.is_over = step.is_over;
        self.show(at, &mut slot, step);
        Ok(())
    }

    /// Calls a function for each environment, on all threads of the vector environment.
    fn each(
        &self,
        py: Python<'_>,
        act: impl Fn(usize) -> Result<(), String> + Sync,
    ) -> PyResult<()> {
        if self.process != std::process::id() {
            return Err(failed(
                "this process is a fork of the one that made these environments, and their threads are not here: make \
                 them after the fork, or start processes by multiprocessing's \"spawn\"",
            ));
        }
        let _active = Active::begin()?;
        let Some(threads) = &self.threads else {
            let mut all = 0..self.slots.len();
            return guarded(|| all.try_for_each(act))?.map_err(failed);
        };

        py.detach(|| {
            // A strategy that raises in a thread unwinds there; pass its exception on.
            threads.install(|| {
                (0..self.slots.len())
                    .into_par_iter()
                    .map(|at| guarded(|| act(at)).and_then(|done| done.map_err(failed)))
                    .collect::<Result<(), PyErr>>()
            })
        })
    }

    fn check_count(&self, given: usize, what: &str) -> PyResult<()> {
        match self.slots.len() {
            count if count == given => Ok(()),
            count => Err(wrong(format!("there are {count} environments, and {given} {what}"))),
        }
    }

    fn check_action(&self, action: u32) -> PyResult<()> {
        let last = self.sizes[2] - 1;
        match action as usize <= last {
            true => Ok(()),
            false => Err(wrong(format!("the action is {action}, but must be from 0 to {last}"))),
        }
    }
}

fn locked(slot: &Mutex<Slot>) -> MutexGuard<'_, Slot> {
    slot.lock().unwrap_or_else(PoisonError::into_inner)
}

#[pymethods]
impl Envs {
    /// Begins an episode in each environment.
    fn reset(&self, py: Python<'_>, episodes: Vec<u64>) -> PyResult<()> {
        self.check_count(episodes.len(), "episodes")?;
        self.each(py, |at| self.reset_at(at, episodes[at]))
    }

    /// Takes an action in each environment.
    fn step(&self, py: Python<'_>, actions: Vec<u32>) -> PyResult<()> {
        self.check_count(actions.len(), "actions")?;
        actions.iter().try_for_each(|&action| self.check_action(action))?;
        self.each(py, |at| self.step_at(at, actions[at]))
    }

    /// Takes an action if there is only one environment.
    ///
    /// Returns the reward, whether the episode has ended, and whether the action was invalid.
    fn step_one(&self, action: u32) -> PyResult<(f64, bool, bool)> {
        self.check_action(action)?;
        guarded(|| {
            let mut slot = locked(&self.slots[0]);
            if slot.is_over {
                return Err("the episode has ended: reset the environment".to_owned());
            }
            let step = slot.env.step(action)?;
            slot.is_over = step.is_over;
            self.show(0, &mut slot, step);
            Ok((step.reward, step.is_over, step.was_invalid))
        })?
        .map_err(failed)
    }

    /// Arrays of flags, numbers, masks and outcomes, with a row for each environment.
    ///
    /// The arrays share memory with the environments, so they show every change.
    fn arrays(&self, py: Python<'_>) -> PyResult<[Py<PyAny>; 4]> {
        let [flags, numbers, actions] = self.sizes;
        Ok([
            Buffer::rows(Memory::Flags(Arc::clone(&self.flags)), flags).array(py)?,
            Buffer::rows(Memory::Numbers(Arc::clone(&self.numbers)), numbers).array(py)?,
            Buffer::rows(Memory::Flags(Arc::clone(&self.mask)), actions).array(py)?,
            Buffer::rows(Memory::Numbers(Arc::clone(&self.outcome)), OUTCOME).array(py)?,
        ])
    }
}
