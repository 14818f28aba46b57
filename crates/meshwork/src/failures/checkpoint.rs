//! Checkpoints of jobs: the interval between them, and the work saved at an interruption.

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Every {
    Work(f64),
    /// Daly's optimum interval between checkpoints. `mtbf` is the mean time between failures of one
    /// failure unit (nodes that fail together).
    Daly {
        mtbf: f64,
        units_per_node: f64,
    },
}

/// Rule by which every job writes checkpoints, after every interval of work except at the end.
///
/// Writing counts as work, so that jobs take longer, and schedulers plan with this longer time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Checkpoint {
    pub(super) every: Every,
    pub(super) cost: f64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Saved {
    /// Work of the interrupted run up to its last checkpoint.
    pub(crate) work: f64,
    /// Time for writing the checkpoints of the saved work, in units of work.
    pub(crate) overhead: f64,
}

impl Checkpoint {
    fn interval(&self, nodes: u64) -> f64 {
        match self.every {
            Every::Work(work) => work,
            Every::Daly { mtbf, units_per_node } => {
                let units = libm::ceil(nodes as f64 * units_per_node).max(1.0);
                daly(self.cost, mtbf / units)
            }
        }
    }

    /// Total time for writing the checkpoints of a job, in units of work.
    pub(crate) fn overhead(&self, work: f64, nodes: u64) -> f64 {
        let written = (libm::ceil(work / self.interval(nodes)) - 1.0).max(0.0);
        if written > 0.0 { written * self.cost } else { 0.0 }
    }

    /// Work saved by checkpoints if a run with the total work `work` is interrupted.
    ///
    /// `done` is the time for work and checkpoints up to the interruption, in units of work.
    pub(crate) fn saved(&self, work: f64, done: f64, nodes: u64) -> Saved {
        let interval = self.interval(nodes);
        if !interval.is_finite() {
            return Saved { work: 0.0, overhead: 0.0 };
        }
        let most = (libm::ceil(work / interval) - 1.0).max(0.0);
        let written = libm::floor(done / (interval + self.cost)).clamp(0.0, most);
        Saved { work: written * interval, overhead: written * self.cost }
    }
}

/// Daly's higher-order estimate of the optimal work between two checkpoints.
///
/// `cost` is the time for writing a checkpoint, and `mtbf` the mean time between failures. Both are
/// in the unit of the result.
///
/// ```
/// use meshwork::failures::daly;
/// assert!((daly(0.5, 100.0) - 9.67).abs() < 0.01);
/// assert_eq!(daly(30.0, 10.0), 10.0, "a checkpoint takes longer than the machine stays up");
/// ```
///
/// Source: J. T. Daly, A higher order estimate of the optimum checkpoint interval for restart
/// dumps, Future Generation Computer Systems 22(3), 2006, equation 37.
#[must_use]
pub fn daly(cost: f64, mtbf: f64) -> f64 {
    if cost >= 2.0 * mtbf {
        return mtbf;
    }
    if mtbf == f64::INFINITY {
        return f64::INFINITY;
    }
    let ratio = cost / (2.0 * mtbf);
    (2.0 * cost * mtbf).sqrt() * (1.0 + ratio.sqrt() / 3.0 + ratio / 9.0) - cost
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_job_is_no_checkpoint() {
        let each = Checkpoint { every: Every::Work(10.0), cost: 2.0 };
        let overheads = [10.0, 10.5, 35.0, 0.0].map(|work| each.overhead(work, 1).to_bits());
        assert_eq!(overheads, [0.0, 2.0, 6.0, 0.0].map(f64::to_bits));
        // Interrupted in the second checkpoint, and just after it.
        assert_eq!(each.saved(35.0, 23.0, 1), Saved { work: 10.0, overhead: 2.0 });
        assert_eq!(each.saved(35.0, 24.0, 1), Saved { work: 20.0, overhead: 4.0 });
        // The third checkpoint is the last, however long the job then runs.
        assert_eq!(each.saved(40.0, 47.9, 1), Saved { work: 30.0, overhead: 6.0 });
    }

    #[test]
    fn larger_jobs_write_more_often() {
        let each = |nodes| {
            Checkpoint { every: Every::Daly { mtbf: 1e4, units_per_node: 0.25 }, cost: 1.0 }
                .interval(nodes)
        };
        assert_eq!(each(1).to_bits(), daly(1.0, 1e4).to_bits());
        assert_eq!(each(4).to_bits(), each(1).to_bits(), "one unit of four nodes");
        assert_eq!(each(5).to_bits(), daly(1.0, 5e3).to_bits());
        let never = Checkpoint {
            every: Every::Daly { mtbf: f64::INFINITY, units_per_node: 1.0 },
            cost: 1.0,
        };
        let nothing = [never.overhead(1e12, 7), never.saved(1e12, 1e6, 7).work];
        assert_eq!(nothing.map(f64::to_bits), [0, 0]);
    }

    /// Compares Daly's optimum with the interval of the least expected time in the exact model.
    /// There, a unit of work takes M exp(R/M) (exp((τ + δ)/M) − 1) / τ, with mean time between
    /// failures M, restart time R, interval τ and checkpoint time δ.
    #[test]
    fn the_optimum_is_where_least_is_wasted() {
        for (cost, mtbf) in [(0.1, 100.0), (1.0, 100.0), (5.0, 100.0), (20.0, 100.0)] {
            let time = |every: f64| mtbf * (libm::exp((every + cost) / mtbf) - 1.0) / every;
            let best = (1..20_000).map(|i| f64::from(i) * 0.01).map(time).fold(f64::MAX, f64::min);
            let daly = time(daly(cost, mtbf));
            assert!(daly < best * 1.0005, "{cost}: {daly} and {best}");
        }
    }
}
