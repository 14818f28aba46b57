//! Differences between two courses of the same jobs, with their intervals.
//!
//! A job that waits long lets those behind it wait long, in both courses: so differences are taken job by job, and of
//! jobs that followed one another as one batch.

use crate::findings::statistics::{Interval, Method, half_width_of_batches, mean};

/// Into how many batches jobs are cut.
pub const BATCHES: usize = 20;

/// The means of values that follow one another, in as many batches of nearly equal length; of fewer values each is one.
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

/// The mean of values that follow one another, with its 95 % interval by batches.
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
