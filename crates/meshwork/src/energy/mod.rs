//! Energy: the power of busy, idle and sleeping processors, and a power cap.

mod keys;

pub use keys::PARAMS;

use crate::job::WHOLE_SHARE;
use crate::observe::MachineState;
use crate::registry::{Params, Problem, join};

/// Power model of a machine: watts for each processor, joules, and therefore seconds.
#[derive(Clone, Debug, PartialEq)]
pub struct Energy {
    idle: f64,
    busy: f64,
    sleep: Option<Sleep>,
    /// Power of an idle and of a busy GPU, in watts; `None` if GPUs are not modelled.
    gpu: Option<(f64, f64)>,
    /// Number of processors that may be held at once under the power cap.
    most_held: u64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Sleep {
    power: f64,
    /// Idle time before a processor falls asleep, in seconds.
    pub(crate) after: f64,
    /// Time that a processor takes to wake, in seconds.
    pub(crate) wake: f64,
    /// Energy of waking one processor, in joules, in addition to the power of a held processor.
    pub(crate) wake_energy: f64,
}

impl Energy {
    /// Reads the table `energy`, for a machine with the given numbers of processors and GPUs.
    pub(crate) fn read(params: &Params, processors: u64, gpus: u64) -> Result<Energy, Problem> {
        let (idle, busy) = (params.number("idle"), params.number("busy"));
        let path = params.path();
        if busy < idle {
            let says = format!(
                "`{path}.busy` is {busy}, but a processor that works takes at least the {idle} of one that is idle"
            );
            return Err(params.problem("busy", says));
        }
        let sleep = sleep(params, idle)?;
        let mut energy = Energy { idle, busy, sleep, gpu: gpu(params)?, most_held: u64::MAX };
        if let Some(key) = ["gpu_idle", "gpu_busy"].into_iter().find(|key| params.has(key)) {
            if gpus == 0 {
                let says = format!(
                    "`{path}.{key}` is given, but the machine has no GPUs: give `machine.nodes`, such as \
                     [{{ type = \"dgx\" }}]"
                );
                return Err(params.problem(key, says));
            }
            if params.has("cap") {
                let says = format!(
                    "`{path}.cap` is a number of cores that may be held, and GPUs take what `{path}.{key}` says: \
                     leave out one of them"
                );
                return Err(params.problem(key, says));
            }
        }
        if let Some(cap) = params.get_number("cap") {
            energy.most_held = energy.most_under(cap, processors).ok_or_else(|| {
                let least = energy.of_machine(processors, 0);
                let key = join(path, "cap");
                params.problem(
                    "cap",
                    if cap < least {
                        format!("`{key}` is {cap}, but the {processors} processors take {least} when all are idle")
                    } else {
                        format!(
                            "`{key}` is {cap}, which lets no job start: with one processor busy and the others idle the \
                             machine takes {}",
                            energy.of_machine(processors, 1)
                        )
                    },
                )
            })?;
        }
        Ok(energy)
    }

    /// Power of the machine in watts, with numbers of idle and held GPUs in thousandths.
    pub(crate) fn total(&self, state: &MachineState, [idle, held]: [u64; 2]) -> f64 {
        let of_gpus = self.gpu.map_or(0.0, |(when_idle, when_busy)| {
            (when_idle * idle as f64 + when_busy * held as f64) / f64::from(WHOLE_SHARE)
        });
        self.power(state) + of_gpus
    }

    pub(crate) fn sleep(&self) -> Option<Sleep> {
        self.sleep
    }

    /// Number of processors that may be held at once; `u64::MAX` without a power cap.
    pub(crate) fn most_held(&self) -> u64 {
        self.most_held
    }

    pub(crate) fn is_capped(&self) -> bool {
        self.most_held < u64::MAX
    }

    /// Whether a job may have to wait until sleeping processors are awake.
    pub(crate) fn takes_time_to_wake(&self) -> bool {
        self.sleep.is_some_and(|sleep| sleep.wake > 0.0)
    }

    /// Power of the machine's processors, in watts; a processor out of service takes none.
    pub(crate) fn power(&self, state: &MachineState) -> f64 {
        let awake = state.nodes - state.held - state.down - state.asleep;
        let sleeping = self.sleep.map_or(0.0, |sleep| sleep.power * state.asleep as f64);
        self.idle * awake as f64 + self.busy * state.held as f64 + sleeping
    }

    /// Power in watts if `held` processors are held and all others idle.
    fn of_machine(&self, processors: u64, held: u64) -> f64 {
        self.power(&MachineState { nodes: processors, held, ..MachineState::default() })
    }

    /// The most processors that may be held under a cap in watts; `None` if not even one.
    /// `u64::MAX` if all may be held.
    fn most_under(&self, cap: f64, processors: u64) -> Option<u64> {
        let fits = |held: u64| self.of_machine(processors, held) <= cap;
        if fits(processors) {
            return Some(u64::MAX);
        }
        // Bisection: `low` processors fit under the cap, `high` do not.
        let (mut low, mut high) = (0, processors);
        while high - low > 1 {
            let middle = u64::midpoint(low, high);
            if fits(middle) {
                low = middle;
            } else {
                high = middle;
            }
        }
        (low > 0).then_some(low)
    }
}

fn gpu(params: &Params) -> Result<Option<(f64, f64)>, Problem> {
    let (idle, busy) = (params.get_number("gpu_idle"), params.get_number("gpu_busy"));
    if idle.is_none() && busy.is_none() {
        return Ok(None);
    }
    let idle = idle.unwrap_or(0.0);
    let busy = busy.unwrap_or(idle);
    if busy < idle {
        let says = format!(
            "`{}.gpu_busy` is {busy}, but a GPU that works takes at least the {idle} of one that is idle",
            params.path()
        );
        return Err(params.problem("gpu_busy", says));
    }
    Ok(Some((idle, busy)))
}

fn sleep(params: &Params, idle: f64) -> Result<Option<Sleep>, Problem> {
    let path = params.path();
    let Some(power) = params.get_number("sleep") else {
        let given = |key: &&str| match *key {
            "sleep_after" => params.has(key),
            key => params.number(key) > 0.0,
        };
        return match ["sleep_after", "wake", "wake_energy"].into_iter().find(given) {
            None => Ok(None),
            Some(key) => Err(params.problem(
                key,
                format!("`{path}.{key}` is given, but no `{path}.sleep`, what a processor takes that sleeps"),
            )),
        };
    };
    if power > idle {
        let says = format!(
            "`{path}.sleep` is {power}, but a processor that sleeps takes at most the {idle} of one that is idle"
        );
        return Err(params.problem("sleep", says));
    }
    let after = params.get_number("sleep_after").ok_or_else(|| {
        Problem::new(
            path,
            format!(
                "`{path}.sleep_after` is missing: after how long an idle time a processor falls asleep"
            ),
        )
    })?;
    let (wake, wake_energy) = (params.number("wake"), params.number("wake_energy"));
    Ok(Some(Sleep { power, after, wake, wake_energy }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::{Param, resolve};

    fn read(text: &str, processors: u64) -> Result<Energy, Problem> {
        let params: Vec<&Param> = PARAMS.iter().collect();
        Energy::read(&resolve("energy", &params, &text.parse().unwrap(), &[])?, processors, 8)
    }

    #[test]
    fn a_cap_is_a_count_of_processors() {
        let most = |cap: f64| {
            read(&format!("idle = 100\nbusy = 300\ncap = {cap:?}"), 10).unwrap().most_held()
        };
        assert_eq!((most(1200.0), most(1399.9), most(1400.0)), (1, 1, 2));
        assert_eq!((most(2999.0), most(3000.0)), (9, u64::MAX));
        // Sums that are not exact: the largest count by the formula itself.
        let odd = read("idle = 0.1\nbusy = 0.3\ncap = 1.6", 10).unwrap();
        let held = odd.most_held();
        assert!(odd.of_machine(10, held) <= 1.6 && odd.of_machine(10, held + 1) > 1.6);
        let alike = read("idle = 5\nbusy = 5\ncap = 50", 10).unwrap();
        assert!(!alike.is_capped());
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (text, part) in [
            ("busy = 3", "energy.idle"),
            ("idle = 3\nbusy = 2", "takes at least the 3 of one that is idle"),
            ("idle = -1\nbusy = 2", "a number from 0"),
            ("idle = 3\nbusy = 4\nsleep = 3.5\nsleep_after = 1", "takes at most the 3"),
            ("idle = 3\nbusy = 4\nsleep = 1", "`energy.sleep_after` is missing"),
            (
                "idle = 3\nbusy = 4\nsleep_after = 1",
                "`energy.sleep_after` is given, but no `energy.sleep`",
            ),
            ("idle = 3\nbusy = 4\nwake = 1", "`energy.wake` is given, but no `energy.sleep`"),
            ("idle = 3\nbusy = 4\nwake_energy = 1", "`energy.wake_energy` is given, but no"),
            ("idle = 3\nbusy = 4\ncap = 29", "the 10 processors take 30 when all are idle"),
            ("idle = 3\nbusy = 4\ncap = 30.5", "lets no job start"),
            ("idle = 3\nbusy = 4\nsleep = 1\nsleep_after = -2", "a number from 0"),
            (
                "idle = 3\nbusy = 4\ngpu_idle = 5\ngpu_busy = 4",
                "takes at least the 5 of one that is idle",
            ),
            ("idle = 3\nbusy = 4\ngpu_busy = 4\ncap = 35", "leave out one of them"),
        ] {
            let refused = read(text, 10).unwrap_err().message;
            assert!(refused.contains(part), "{text}: {refused}");
        }
    }
}
