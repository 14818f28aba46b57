//! Energy: the power of busy, idle and sleeping processors, and a power cap.

mod keys;

pub use keys::PARAMS;

use crate::job::WHOLE_SHARE;
use crate::observe::MachineState;
use crate::registry::{Params, Problem};

/// Power model of a machine. Power is in watts for each processor, energy in joules, and time in
/// seconds.
#[derive(Clone, Debug, PartialEq)]
pub struct Energy {
    idle: f64,
    busy: f64,
    pub(crate) sleep: Option<Sleep>,
    /// Power of an idle and of a busy GPU, in watts; `None` if GPUs are not modelled.
    gpu: Option<(f64, f64)>,
    /// Amounts by which a held processor and a held GPU count towards the power cap.
    pub(crate) draws: Draws,
    /// Maximum of held processors and GPUs together under the power cap, in the unit of `draws`.
    /// `u64::MAX` without a power cap.
    pub(crate) most_held: u64,
}

/// Amounts by which held processors and GPUs count towards a power cap.
///
/// If only processors have a power, each held processor counts as 1. If GPUs have one too, amounts
/// are in microwatts, or in a larger unit on machines of more than 10⁹ watts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Draws {
    processor: u64,
    /// Amount by which a thousandth of a GPU counts towards the power cap.
    gpu: u64,
}

impl Draws {
    /// Power draws of 1 for each held processor and 0 for each held GPU, to count held processors.
    pub(crate) const COUNT: Draws = Draws { processor: 1, gpu: 0 };

    /// Amount by which held processors and thousandths of GPUs count towards the power cap.
    pub(crate) fn of(self, processors: u64, shares: u64) -> u64 {
        let gpus = shares.saturating_mul(self.gpu);
        processors.saturating_mul(self.processor).saturating_add(gpus)
    }

    /// Whether held GPUs count towards the power cap.
    pub(crate) fn counts_gpus(self) -> bool {
        self.gpu > 0
    }

    /// Maximum number of processors that, without GPUs, count at most `amount` under the power cap.
    pub(crate) fn processors_in(self, amount: u64) -> u64 {
        amount.checked_div(self.processor).unwrap_or(u64::MAX)
    }
}

/// Sleep of idle processors: its power, the times to fall asleep and to wake, and the energy to
/// wake.
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
        if busy < idle {
            let says = format!(
                "is {busy}, but a processor that works takes at least the {idle} of one that is \
                 idle"
            );
            return Err(params.refusal("busy", says));
        }
        let sleep = sleep(params, idle)?;
        let gpu = gpu(params)?;
        let mut energy =
            Energy { idle, busy, sleep, gpu, draws: Draws::COUNT, most_held: u64::MAX };
        let mut of_gpus = ["gpu_idle", "gpu_busy"].into_iter();
        if let Some(key) = of_gpus.find(|key| gpus == 0 && params.has(key)) {
            let says = "is given, but the machine has no GPUs: give `machine.nodes`, such as \
                        [{ type = \"dgx\" }]";
            return Err(params.refusal(key, says));
        }
        if let Some(cap) = params.get_number("cap") {
            let most = match energy.gpu {
                Some(gpu) => energy.most_with_gpus(cap, processors, gpu, gpus),
                None => energy.most_under(cap, processors).map(|most| (Draws::COUNT, most)),
            };
            (energy.draws, energy.most_held) = most.ok_or_else(|| {
                let of_gpus = energy.gpu.map_or(0.0, |(when_idle, _)| when_idle * gpus as f64);
                let what = match energy.gpu {
                    Some(_) => format!("{processors} processors and {gpus} GPUs"),
                    None => format!("{processors} processors"),
                };
                let least = energy.of_machine(processors, 0) + of_gpus;
                let says = if cap < least {
                    format!("is {cap}, but the {what} take {least} when all are idle")
                } else {
                    format!(
                        "is {cap}, which lets no job start: with one processor busy and the others \
                         idle the machine takes {}",
                        energy.of_machine(processors, 1) + of_gpus
                    )
                };
                params.refusal("cap", says)
            })?;
        }
        Ok(energy)
    }

    /// Power of the machine in watts. The numbers of idle and of held GPUs are given in
    /// thousandths.
    pub(crate) fn total(&self, state: &MachineState, [idle, held]: [u64; 2]) -> f64 {
        let of_gpus = self.gpu.map_or(0.0, |(when_idle, when_busy)| {
            (when_idle * idle as f64 + when_busy * held as f64) / f64::from(WHOLE_SHARE)
        });
        self.power(state) + of_gpus
    }

    /// Whether the power cap limits the processors or GPUs that may be held.
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

    /// Maximum number of processors that may be held under a cap in watts. It is `None` if the cap
    /// forbids even one, and `u64::MAX` if all may be held.
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

    /// Weights of held processors and GPUs, and the largest weighted sum that a power cap permits.
    ///
    /// `gpu` is the power of an idle and of a busy GPU, and `gpus` the number of GPUs. The sum is
    /// `u64::MAX` if everything may be held. The result is `None` if the cap is too low even for
    /// one held processor.
    fn most_with_gpus(
        &self,
        cap: f64,
        processors: u64,
        (gpu_idle, gpu_busy): (f64, f64),
        gpus: u64,
    ) -> Option<(Draws, u64)> {
        let least = self.of_machine(processors, 0) + gpu_idle * gpus as f64;
        let most = self.of_machine(processors, processors) + gpu_busy * gpus as f64;
        if most <= cap {
            return Some((Draws::COUNT, u64::MAX));
        }
        // A coarser unit on very large machines keeps all sums below 2⁶³.
        let scale = (1e15 / (most - least)).min(1e6);
        let units = |watts: f64| (watts * scale).round() as u64;
        let draws = Draws {
            processor: units(self.busy - self.idle),
            gpu: units((gpu_busy - gpu_idle) / f64::from(WHOLE_SHARE)),
        };
        let held = units(cap - least);
        (cap >= least && held >= draws.processor).then_some((draws, held))
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
            "is {busy}, but a GPU that works takes at least the {idle} of one that is idle"
        );
        return Err(params.refusal("gpu_busy", says));
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
            Some(key) => Err(params.refusal(
                key,
                format!("is given, but no `{path}.sleep`, what a processor takes that sleeps"),
            )),
        };
    };
    if power > idle {
        let says = format!(
            "is {power}, but a processor that sleeps takes at most the {idle} of one that is idle"
        );
        return Err(params.refusal("sleep", says));
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
            read(&format!("idle = 100\nbusy = 300\ncap = {cap:?}"), 10).unwrap().most_held
        };
        assert_eq!((most(1200.0), most(1399.9), most(1400.0)), (1, 1, 2));
        assert_eq!((most(2999.0), most(3000.0)), (9, u64::MAX));
        // Sums that are not exact: the largest count by the formula itself.
        let odd = read("idle = 0.1\nbusy = 0.3\ncap = 1.6", 10).unwrap();
        let held = odd.most_held;
        assert!(odd.of_machine(10, held) <= 1.6 && odd.of_machine(10, held + 1) > 1.6);
        let alike = read("idle = 5\nbusy = 5\ncap = 50", 10).unwrap();
        assert!(!alike.is_capped());
    }

    #[test]
    fn a_cap_counts_gpus_by_their_power() {
        let of = |cap: f64| {
            let text = format!("idle = 1\nbusy = 3\ngpu_idle = 50\ngpu_busy = 400\ncap = {cap:?}");
            let energy = read(&text, 10).unwrap();
            (energy.draws, energy.most_held)
        };
        // All idle: 10 + 400 watts. All busy: 30 + 3200 watts.
        let (draws, most) = of(410.0 + 2.0 * 4.0 + 350.0 * 1.5);
        assert_eq!(draws.of(4, 1500), most);
        assert!(draws.of(5, 1500) > most && draws.of(4, 1501) > most);
        assert_eq!((draws.processors_in(most), draws.counts_gpus()), (266, true));
        assert_eq!(of(3230.0), (Draws::COUNT, u64::MAX));
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
            (
                "idle = 3\nbusy = 4\ngpu_idle = 2\ngpu_busy = 4\ncap = 45",
                "the 10 processors and 8 GPUs take 46 when all are idle",
            ),
            (
                "idle = 3\nbusy = 4\ngpu_idle = 2\ncap = 46.5",
                "with one processor busy and the others idle the machine takes 47",
            ),
        ] {
            let refused = read(text, 10).unwrap_err().message;
            assert!(refused.contains(part), "{text}: {refused}");
        }
    }
}
