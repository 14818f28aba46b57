//! Test for a queue that grows over the whole run, so that means mostly reflect the run's length.
//!
//! The statistic is Kendall's τ of a run (Mann, *Nonparametric tests against trend*, Econometrica
//! 13, 1945), over the queue lengths that the run's batches of jobs met on arrival. As the batches
//! are correlated, τ is compared with its distribution at critical load, where exactly as much work
//! arrives as can be done. There, an initially empty queue of any jobs tends to reflected Brownian
//! motion, so this distribution is the same for all machines. Below critical load, fewer queues are
//! reported to grow.

/// Threshold for Kendall's τ over 20 batches. At critical load, one of twenty runs exceeds it.
const LIMIT: f64 = 0.87;

/// Mean of Kendall's τ over runs at critical load. The standard deviation of τ is `DEVIATION`.
const MEAN: f64 = 0.37;
const DEVIATION: f64 = 0.345;

const NORMAL: f64 = 1.645;

/// Number of jobs up to which every queue seems to grow, because the machine is empty at the start.
pub const MIN_JOBS: u64 = 100;

const MIN_BATCHES: usize = 10;

/// Kendall's τ of a series, from −1 (always falling) to 1 (always rising). `None` for fewer than
/// ten values.
///
/// Equal values count as neither rising nor falling. **O(n²)** for *n* values, of which there are
/// some 40.
///
/// ```
/// use meshwork_lab::statistics::trend::tau;
/// let rising: Vec<f64> = (0..20).map(f64::from).collect();
/// assert_eq!(tau(&rising), Some(1.0));
/// assert_eq!(tau(&rising[..5]), None);
/// ```
pub fn tau(series: &[f64]) -> Option<f64> {
    if series.len() < MIN_BATCHES {
        return None;
    }
    let mut balance = 0_i64;
    for (index, early) in series.iter().enumerate() {
        for late in &series[index + 1..] {
            balance += match late.total_cmp(early) {
                std::cmp::Ordering::Greater => 1,
                std::cmp::Ordering::Less => -1,
                std::cmp::Ordering::Equal => 0,
            };
        }
    }
    let pairs = series.len() * (series.len() - 1) / 2;
    Some(balance as f64 / pairs as f64)
}

/// Whether the queue of a scenario grows over the run. At critical load, the answer is yes with a
/// probability of 5 %.
pub fn is_growing(taus: &[f64]) -> bool {
    match taus {
        [] => false,
        [one] => *one >= LIMIT,
        several => {
            let count = several.len() as f64;
            let mean = several.iter().sum::<f64>() / count;
            mean >= MEAN + NORMAL * DEVIATION / count.sqrt()
        }
    }
}

#[cfg(test)]
mod tests {
    use meshwork::rng::Stream;

    use super::*;

    /// Simulates a queue with one server, and computes Kendall's τ of its mean length by batch.
    fn run(stream: &mut Stream, load: f64, jobs: usize, batches: usize) -> f64 {
        let (mut in_system, mut met) = (0_u32, Vec::with_capacity(jobs));
        while met.len() < jobs {
            let rate = if in_system > 0 { 1.0 } else { 0.0 };
            if stream.unit() < load / (load + rate) {
                met.push(f64::from(in_system.saturating_sub(1)));
                in_system += 1;
            } else {
                in_system -= 1;
            }
        }
        let size = jobs / batches;
        let means: Vec<f64> =
            met.chunks_exact(size).map(|batch| batch.iter().sum::<f64>() / size as f64).collect();
        tau(&means).unwrap()
    }

    fn raised(load: f64, jobs: usize, replications: usize, scenarios: usize) -> usize {
        let mut stream = Stream::new(1, replications as u64, "trend");
        let mut scenario = || {
            let taus: Vec<f64> =
                (0..replications).map(|_| run(&mut stream, load, jobs, 20)).collect();
            is_growing(&taus)
        };
        (0..scenarios).filter(|_| scenario()).count()
    }

    #[test]
    fn the_edge_is_where_the_level_is_kept() {
        let mut stream = Stream::new(1, 0, "edge");
        let taus: Vec<f64> = (0..1000).map(|_| run(&mut stream, 1.0, 2000, 20)).collect();
        let mean = taus.iter().sum::<f64>() / 1000.0;
        let squares: f64 = taus.iter().map(|tau| (tau - mean) * (tau - mean)).sum();
        let deviation = (squares / 999.0).sqrt();
        let is_near = (mean - MEAN).abs() < 0.04 && (deviation - DEVIATION).abs() < 0.03;
        assert!(is_near, "{mean} ± {deviation}");
        let over = taus.iter().filter(|&&tau| tau >= LIMIT).count();
        assert!((25..=80).contains(&over), "{over} of 1000, at a level of 5 %");
    }

    #[test]
    fn machines_that_can_do_their_work_are_rarely_accused() {
        for (replications, scenarios) in [(1, 300), (5, 100)] {
            let accused = raised(0.9, 1000, replications, scenarios);
            assert!(accused * 100 <= scenarios, "{accused} of {scenarios} at a load of 0.9");
            let short = raised(0.9, 200, replications, scenarios);
            assert!(short * 40 <= scenarios, "{short} of {scenarios}, of 200 jobs");
        }
    }

    #[test]
    fn machines_that_cannot_are_found_out() {
        assert_eq!(raised(3.0, 200, 1, 50), 50);
        assert_eq!(raised(1.5, 1000, 1, 50), 50);
        assert!(raised(1.1, 1000, 5, 50) >= 45);
        assert!(raised(1.2, 1000, 1, 50) >= 40);
    }

    #[test]
    fn a_queue_that_is_never_there_does_not_grow() {
        assert_eq!(tau(&[0.0; 30]), Some(0.0));
        assert!(!is_growing(&[]) && !is_growing(&[0.0]) && !is_growing(&[-1.0, 0.5]));
    }
}
