//! Differences between two replays of the same jobs, with their intervals.
//!
//! Waits of consecutive jobs depend on each other, because a job that waits long delays the jobs
//! behind it. So differences are taken job by job, and intervals are computed from the means of
//! batches of consecutive jobs.

use crate::findings::statistics::{Interval, Method, half_width_of_batches, mean};

/// Number of batches into which consecutive jobs are grouped.
pub const BATCHES: usize = 20;

/// The means of consecutive values in [`BATCHES`] batches of nearly equal length.
///
/// If there are fewer values, each is a batch.
///
/// ```
/// use meshwork_lab::operator::paired::batches;
/// let values: Vec<f64> = (0..40).map(f64::from).collect();
/// assert_eq!(batches(&values)[..2], [0.5, 2.5]);
/// assert_eq!(batches(&[3.0, 1.0]), [3.0, 1.0]);
/// ```
#[must_use]
pub fn batches(values: &[f64]) -> Vec<f64> {
    let count = values.len().min(BATCHES);
    let batch = |number: usize| {
        let range = number * values.len() / count..(number + 1) * values.len() / count;
        mean(&values[range]).unwrap_or(0.0)
    };
    (0..count).map(batch).collect()
}

/// The mean of consecutive values, with its 95 % interval by batch means.
///
/// # Complexity
/// **O(n)** for *n* values.
#[must_use]
pub fn interval(values: &[f64]) -> Interval {
    let half_width = half_width_of_batches(&batches(values));
    Interval {
        mean: mean(values),
        half_width,
        replications: 1,
        method: half_width.is_some().then_some(Method::BatchMeans),
    }
}
