//! Sums of a run in batches of jobs that arrived one after the other.
//!
//! A batch holds equally many jobs in order of arrival, and the time from the arrival of its first job to
//! that of the next batch's first. Which jobs are in which batch depends on the workload alone, so that two
//! strategies that are given the same jobs can be compared batch by batch.

use super::JobId;
use super::areas::NAMED;

/// How many batches there are at most; when they are full, pairs are merged.
const MAX_BATCHES: u64 = 40;

/// Fewer batches than this say too little of their own spread to make an interval: of the whole run, and of
/// its measured part.
const MIN_BATCHES: usize = 20;
const MIN_KEPT: usize = 10;

/// A ratio of two sums.
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

/// What is summed up over a batch.
#[derive(Clone, Debug)]
pub(super) struct Sums {
    /// The integrals over time of the integrands that have a name.
    pub(super) areas: [f64; NAMED],
    /// Those of others.
    pub(super) further: Vec<f64>,
    /// One for each metric that is no ratio of such integrals.
    pub(super) ratios: Vec<Ratio>,
}

impl Sums {
    /// An integral over time, by its place: those that have a name come first.
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

/// One batch.
#[derive(Clone, Debug)]
struct Batch {
    sums: Sums,
    /// Jobs that have joined the queue.
    arrived: u64,
    /// Those of them that finished and count.
    measured: u64,
    /// The jobs that waited, summed over those instants at which one of its jobs arrived.
    seen: f64,
    /// Whether all of it lies in the measured part of the run.
    is_within: bool,
}

/// The batches of a run, 20 to 40 of them where that many jobs arrived: while the run goes on they are
/// merged in pairs, so that memory stays the same however long it is.
pub(super) struct Batches {
    metrics: usize,
    /// Integrands that have no name.
    further: usize,
    /// Jobs in a batch, as a power of two: batches are doubled, never more.
    doubled: u32,
    batches: Vec<Batch>,
    /// Jobs that wait.
    waiting: u64,
}

impl Batches {
    pub(super) fn new(metrics: usize, further: usize) -> Batches {
        Batches { metrics, further, doubled: 0, batches: Vec::new(), waiting: 0 }
    }

    /// Jobs in a batch.
    pub(super) fn jobs(&self) -> u64 {
        1 << self.doubled
    }

    /// A job joins the queue; `is_measuring` says whether the measured part has begun.
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

    /// A job leaves the queue, to run or for good.
    pub(super) fn left_queue(&mut self) {
        self.waiting = self.waiting.saturating_sub(1);
    }

    /// A job that had left the queue waits again.
    pub(super) fn waits_again(&mut self) {
        self.waiting += 1;
    }

    /// The sums of the batch of a job that has arrived.
    pub(super) fn of_job(&mut self, id: JobId) -> &mut [Ratio] {
        &mut self.batch(id, false).sums.ratios
    }

    /// A job has finished and counts: the sums of its batch.
    #[inline(always)]
    pub(super) fn measured(&mut self, id: JobId) -> &mut [Ratio] {
        let batch = self.batch(id, false);
        batch.measured += 1;
        &mut batch.sums.ratios
    }

    /// The sums of the batch of the job that arrived last: that of time as it passes.
    #[inline(always)]
    pub(super) fn of_time(&mut self) -> Option<&mut Sums> {
        self.batches.last_mut().map(|batch| &mut batch.sums)
    }

    /// A metric over the whole run; `of` reads it out of what is summed up.
    pub(super) fn whole(&self, of: impl Fn(&Sums) -> Ratio) -> Ratio {
        let mut whole = Ratio::default();
        for batch in &self.batches {
            let Ratio { over, under } = of(&batch.sums);
            whole.add(over, under);
        }
        whole
    }

    /// The batches that make intervals, as a range: those that lie wholly in the measured part, and of whose
    /// jobs at least half were measured. The last is never one of them: jobs of it may be missing, and what
    /// comes after the last arrival is in it. None where they are fewer than ten.
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

    /// A metric in each batch of that range; nothing where one of them has not measured it.
    pub(super) fn values(
        &self,
        of: impl Fn(&Sums) -> Ratio,
        kept: std::ops::Range<usize>,
    ) -> Vec<f64> {
        let values = self.batches[kept].iter().map(|batch| of(&batch.sums).value());
        values.collect::<Option<_>>().unwrap_or_default()
    }

    /// How many jobs waited as the jobs of each batch arrived, on average, over the whole run but for the last
    /// batch, which may not be full.
    pub(super) fn queue(&self) -> Vec<f64> {
        let full = self.batches.split_last().map_or(&[][..], |(_, full)| full);
        let met = full.iter().filter(|batch| batch.arrived > 0);
        met.map(|batch| batch.seen / batch.arrived as f64).collect()
    }

    /// The batch of a job. Jobs that were refused have none, so that one may have to be passed over.
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
                    // The second begins after the first: it is measured if that is.
                }
            }
        }
        self.batches = merged;
        self.doubled += 1;
    }
}
