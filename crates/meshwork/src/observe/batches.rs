//! Sums over a run, in batches of consecutive arrivals.
//!
//! Every batch contains equally many jobs, in order of arrival. A batch also contains the time from
//! the arrival of its first job to the arrival of the next batch's first job. The workload alone
//! decides which jobs are in which batch. So two strategies can be compared batch by batch.

use super::JobId;
use super::areas::NAMED;

/// Maximum number of batches. When more are needed, batches are merged in pairs.
const MAX_BATCHES: u64 = 40;

/// Minimum number of batches for a confidence interval. At least `MIN_KEPT` of them must lie in the
/// measured part of the run.
const MIN_BATCHES: usize = 20;
const MIN_KEPT: usize = 10;

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Ratio {
    pub(super) over: f64,
    pub(super) under: f64,
}

impl Ratio {
    pub(super) fn add(&mut self, over: f64, under: f64) {
        self.over += over;
        self.under += under;
    }

    pub(super) fn value(self) -> Option<f64> {
        (self.under > 0.0).then(|| self.over / self.under)
    }
}

#[derive(Clone, Debug)]
pub(super) struct Sums {
    /// Integrals over time of the named state variables, in the order of [`Integrand::place`].
    pub(super) areas: [f64; NAMED],
    /// Integrals over time of further functions of the machine's state, apart from the named
    /// variables.
    pub(super) further: Vec<f64>,
    /// Sums of numerator and denominator for each metric that is not a ratio of two integrals.
    pub(super) ratios: Vec<Ratio>,
}

impl Sums {
    /// Integral over time of the state variable or function with the index `place`. Named state
    /// variables have the lowest indices. Other functions follow.
    pub(super) fn area(&self, place: usize) -> f64 {
        self.areas.get(place).copied().unwrap_or_else(|| self.further[place - NAMED])
    }

    fn add(&mut self, other: &Sums) {
        let areas = self.areas.iter_mut().chain(&mut self.further);
        areas.zip(other.areas.iter().chain(&other.further)).for_each(|(a, b)| *a += b);
        for (a, b) in self.ratios.iter_mut().zip(&other.ratios) {
            a.add(b.over, b.under);
        }
    }
}

#[derive(Clone, Debug)]
struct Batch {
    sums: Sums,
    /// Number of jobs of the batch that have joined the queue.
    arrived: u64,
    /// Number of jobs of the batch that have finished in the measured part of the run.
    measured: u64,
    /// Sum, over the jobs of the batch, of the number of jobs that waited when the job arrived.
    seen: f64,
    /// Whether the whole batch lies in the measured part of the run.
    is_within: bool,
}

/// Batches of a run. If enough jobs arrived, there are 20 to 40 of them. At more than 40, batches
/// are merged in pairs, so that memory is constant.
pub(super) struct Batches {
    metrics: usize,
    /// Number of functions that are integrated over time in addition to the named state variables.
    further: usize,
    /// Base-2 logarithm of the number of jobs in a batch. This number changes only by doubling.
    doubled: u32,
    batches: Vec<Batch>,
    waiting: u64,
}

impl Batches {
    pub(super) fn new(metrics: usize, further: usize) -> Batches {
        Batches { metrics, further, doubled: 0, batches: Vec::new(), waiting: 0 }
    }

    pub(super) fn jobs(&self) -> u64 {
        1 << self.doubled
    }

    /// Records that a job arrived. `is_measuring` says whether the measured part of the run has
    /// begun.
    pub(super) fn arrived(&mut self, id: JobId, is_measuring: bool) {
        while id.0 >> self.doubled >= MAX_BATCHES {
            self.merge();
        }
        let waiting = self.waiting as f64;
        let batch = self.batch(id, is_measuring);
        batch.arrived += 1;
        batch.seen += waiting;
        self.waiting += 1;
    }

    /// Records that a job left the queue, because it started or was turned away.
    pub(super) fn left_queue(&mut self) {
        self.waiting = self.waiting.saturating_sub(1);
    }
    pub(super) fn waits_again(&mut self) {
        self.waiting += 1;
    }

    /// Numerator and denominator of each metric, summed over the batch that contains the job `id`.
    pub(super) fn of_job(&mut self, id: JobId) -> &mut [Ratio] {
        &mut self.batch(id, false).sums.ratios
    }

    /// Counts a finished job, and returns the sums of its batch, to which the caller adds the job.
    #[inline(always)]
    pub(super) fn measured(&mut self, id: JobId) -> &mut [Ratio] {
        let batch = self.batch(id, false);
        batch.measured += 1;
        &mut batch.sums.ratios
    }

    /// Sums of the batch to which the latest arrived job belongs; `None` before the first arrival.
    ///
    /// Integrals over time are added to the sums of this batch while time passes.
    #[inline(always)]
    pub(super) fn of_time(&mut self) -> Option<&mut Sums> {
        self.batches.last_mut().map(|batch| &mut batch.sums)
    }

    /// Numerator and denominator of a metric, summed over all batches. `of` returns both for the
    /// sums of one batch.
    pub(super) fn whole(&self, of: impl Fn(&Sums) -> Ratio) -> Ratio {
        let mut whole = Ratio::default();
        for batch in &self.batches {
            let Ratio { over, under } = of(&batch.sums);
            whole.add(over, under);
        }
        whole
    }

    /// Range of the batches that confidence intervals use.
    ///
    /// These batches lie wholly in the measured part of the run, and at least half of their jobs
    /// were measured. The last batch may lack jobs, and is excluded. The range is empty if there
    /// are fewer than 20 batches, or if fewer than ten of them can be used.
    pub(super) fn kept(&self) -> std::ops::Range<usize> {
        let last = self.batches.len().saturating_sub(1);
        if self.batches.len() < MIN_BATCHES {
            return 0..0;
        }
        let is_whole = |batch: &Batch| batch.is_within && 2 * batch.measured >= batch.arrived;
        let first = self.batches[..last].iter().take_while(|batch| !is_whole(batch)).count();
        let count = self.batches[first..last].iter().take_while(|batch| is_whole(batch)).count();
        if count < MIN_KEPT { 0..0 } else { first..first + count }
    }

    /// Values of a metric in the batches of a range. Empty if the metric has no value in some
    /// batch.
    pub(super) fn values(
        &self,
        of: impl Fn(&Sums) -> Ratio,
        kept: std::ops::Range<usize>,
    ) -> Vec<f64> {
        let values = self.batches[kept].iter().map(|batch| of(&batch.sums).value());
        values.collect::<Option<_>>().unwrap_or_default()
    }

    /// For each batch, the mean number of waiting jobs that its jobs found when they arrived.
    /// Covers the whole run except the last batch, which may be incomplete.
    pub(super) fn queue(&self) -> Vec<f64> {
        let full = self.batches.split_last().map_or(&[][..], |(_, full)| full);
        let met = full.iter().filter(|batch| batch.arrived > 0);
        met.map(|batch| batch.seen / batch.arrived as f64).collect()
    }

    /// Batch to which a job belongs by its arrival index. Refused jobs have an index too, but are
    /// not added to a batch. So a batch may stay empty.
    #[inline(always)]
    fn batch(&mut self, id: JobId, is_measuring: bool) -> &mut Batch {
        let index = (id.0 >> self.doubled) as usize;
        if self.batches.len() <= index {
            self.begin(index, is_measuring);
        }
        &mut self.batches[index]
    }

    #[cold]
    fn begin(&mut self, index: usize, is_measuring: bool) {
        let ratios = vec![Ratio::default(); self.metrics];
        let sums = Sums { areas: [0.0; NAMED], further: vec![0.0; self.further], ratios };
        let batch = Batch { sums, arrived: 0, measured: 0, seen: 0.0, is_within: is_measuring };
        self.batches.resize(index + 1, batch);
    }

    fn merge(&mut self) {
        let mut merged: Vec<Batch> = Vec::with_capacity(MAX_BATCHES as usize);
        for (index, batch) in self.batches.drain(..).enumerate() {
            match merged.last_mut().filter(|_| index % 2 == 1) {
                None => merged.push(batch),
                Some(first) => {
                    first.sums.add(&batch.sums);
                    first.arrived += batch.arrived;
                    first.measured += batch.measured;
                    first.seen += batch.seen;
                    // The second batch begins after the first, so it lies in the measured part if
                    // the first does.
                }
            }
        }
        self.batches = merged;
        self.doubled += 1;
    }
}
