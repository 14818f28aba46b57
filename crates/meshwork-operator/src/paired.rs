//! Differences between two replays of the same jobs, with their intervals.
//!
//! A job that waits long delays the jobs behind it. So differences are taken job by job, and
//! intervals are computed from the means of batches of consecutive jobs.

use meshwork_lab::statistics::{Interval, Method, half_width, half_width_of_batches, mean};

pub const BATCHES: usize = 20;

/// Means of consecutive values in [`BATCHES`] batches of nearly equal length.
///
/// If there are fewer values than batches, each value is a batch.
///
/// ```
/// use meshwork_operator::paired::batches;
/// let values: Vec<f64> = (0..40).map(f64::from).collect();
/// assert_eq!(batches(&values)[..2], [0.5, 2.5]);
/// assert_eq!(batches(&[3.0, 1.0]), [3.0, 1.0]);
/// ```
pub fn batches(values: &[f64]) -> Vec<f64> {
    let count = values.len().min(BATCHES);
    let batch = |number: usize| {
        let range = number * values.len() / count..(number + 1) * values.len() / count;
        mean(&values[range]).unwrap_or(0.0)
    };
    (0..count).map(batch).collect()
}

/// Maximum number of jobs for which a history is replayed in [`MOST_COPIES`] copies.
const FEW_JOBS: usize = 1_000;
const MOST_COPIES: usize = 20;

/// Mean of a series of values, with its 95 % interval by batch means.
pub fn interval(values: &[f64]) -> Interval {
    interval_of_copies(&[values.to_vec()])
}

/// Number of copies in which a history is replayed. Copies differ in the fractions of a second that
/// are assumed for recorded times. Long histories have fewer copies.
pub fn copies(jobs: usize) -> u64 {
    (MOST_COPIES * FEW_JOBS / jobs.max(1)).clamp(1, MOST_COPIES) as u64
}

pub fn mean_of_copies(copies: &[Vec<f64>]) -> Vec<f64> {
    let count = copies.first().map_or(0, Vec::len);
    let at = |place: usize| copies.iter().map(|own| own[place]).sum::<f64>() / copies.len() as f64;
    (0..count).map(at).collect()
}

/// Mean of a sequence of values, with its 95 % interval, from replayed copies of a history.
///
/// The half width of the interval is the root of the sum of two squares. The first is the square of
/// the half width by batch means, from values averaged over the copies. The second is the square of
/// the half width of the mean of the copies' means.
///
/// ```
/// use meshwork_operator::paired::{interval, interval_of_copies};
/// let alone = interval(&[1.0, 3.0, 2.0, 4.0]);
/// let twice = interval_of_copies(&[vec![1.0, 3.0, 2.0, 4.0], vec![3.0, 5.0, 4.0, 6.0]]);
/// assert_eq!((alone.mean, twice.mean), (Some(2.5), Some(3.5)));
/// assert!(twice.half_width > alone.half_width, "the copies differ");
/// ```
pub fn interval_of_copies(copies: &[Vec<f64>]) -> Interval {
    let values = mean_of_copies(copies);
    let of_batches = half_width_of_batches(&batches(&values));
    combined(copies, mean(&values), of_batches)
}

/// Interval by batch means, widened to cover the differences between replayed copies of a history.
pub(super) fn combined(
    copies: &[Vec<f64>],
    mean_of_all: Option<f64>,
    of_batches: Option<f64>,
) -> Interval {
    let means: Vec<f64> = copies.iter().filter_map(|own| mean(own)).collect();
    let of_copies = half_width(&means).unwrap_or(0.0);
    let half_width = of_batches.map(|own| own.hypot(of_copies));
    Interval {
        mean: mean_of_all,
        half_width,
        replications: 1,
        method: half_width.is_some().then_some(Method::BatchMeans),
    }
}
