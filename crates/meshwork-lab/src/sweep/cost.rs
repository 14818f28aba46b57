//! Estimates of how long the runs of a scenario take. By these estimates, all shards get equal
//! amounts of work.

use meshwork::scenario::Scenario;

/// Estimated cost of a run: jobs times nodes times load. Only ratios of costs are meaningful.
pub fn nominal(scenario: &Scenario) -> f64 {
    let number = |table: &str, key: &str| {
        let value = scenario.table().get(table)?.get(key)?;
        value.as_float().or_else(|| value.as_integer().map(|whole| whole as f64))
    };
    let jobs = number("measure", "jobs")
        .or_else(|| number("workload", "first_jobs"))
        .or_else(|| number("workload", "jobs"))
        .unwrap_or(JOBS_OF_A_LOG);
    let load = number("workload", "load").unwrap_or(1.0);
    let machine: f64 = scenario.topologies().iter().map(|t| f64::from(t.grid().nodes())).sum();
    (jobs * machine * load).clamp(1.0, 1e15)
}

/// Number of jobs that is assumed for a log, because the true number is known only after reading
/// it.
const JOBS_OF_A_LOG: f64 = 100_000.0;

/// Estimates the duration of one run of each scenario, in seconds, from runs measured so far.
pub fn refined(nominal: &[f64], measured: &[(u64, f64)]) -> Vec<f64> {
    let mut known = (0.0, 0.0);
    for (nominal, (count, seconds)) in nominal.iter().zip(measured) {
        known.0 += seconds;
        known.1 += *count as f64 * nominal;
    }
    let speed = if known.1 > 0.0 { known.0 / known.1 } else { 1.0 };
    let of = |(nominal, (count, seconds)): (&f64, &(u64, f64))| {
        if *count > 0 { seconds / *count as f64 } else { nominal * speed }
    };
    nominal.iter().zip(measured).map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_measured_counts_and_the_rest_is_scaled_by_hand() {
        let costs = refined(&[10.0, 20.0, 40.0], &[(2, 6.0), (0, 0.0), (1, 9.0)]);
        // Measured are 15 seconds for a cost of 2 × 10 + 40 = 60: a quarter of a second per unit.
        assert_eq!(costs, [3.0, 5.0, 9.0]);
        assert_eq!(refined(&[10.0, 20.0], &[(0, 0.0), (0, 0.0)]), [10.0, 20.0]);
    }
}
