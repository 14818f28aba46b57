//! Decides how many replications a scenario needs.

use meshwork::catalogue::Catalogue;
use meshwork::scenario::Scenario;
use rayon::prelude::*;

use crate::run::Run;
use crate::run::keys::PointKeys;
use crate::run::results::Results;
use crate::run::runs::ScenarioRuns;
use crate::run::store::RunFindings;
use crate::statistics::CONFIDENCE;
use crate::statistics::sequence::RunningMoments;
use crate::study::expand::{Point, Windows};
use crate::study::{Replications, Study};

/// Results of a study's runs that are in the store, and the number of runs that are missing.
///
/// The function `find` returns a stored run.
pub fn known(
    catalogue: &Catalogue,
    points: &[Point],
    digests: &[Option<String>],
    replications: &Replications,
    build: &str,
    find: &(dyn Fn(usize, u64, &str) -> Option<Result<RunFindings, String>> + Sync),
) -> (Results, u64) {
    let of_point = |(index, point): (usize, &Point)| {
        let mut missing = 0;
        let mut runs = ScenarioRuns::default();
        let mut wanted = first(replications, point);
        let keys = PointKeys::of(catalogue, point, digests[index].clone(), build);
        let mut next = 0;
        while next < wanted {
            let Some(key) = keys.of_replication(next) else { break };
            let key = format!("{key:032x}");
            match find(index, next, &key) {
                Some(result) => runs.push(Run { key, replication: next, result }),
                None => missing += 1,
            }
            next += 1;
            if next == wanted && runs.len() as u64 == wanted {
                wanted = more(replications, &runs);
            }
        }
        (runs, missing)
    };
    let (runs, missing): (Vec<ScenarioRuns>, Vec<u64>) =
        points.par_iter().enumerate().map(of_point).unzip();
    (Results::of(runs, replications), missing.iter().sum())
}

/// Number of replications that a scenario needs before any result is known. It is at most two if
/// all replications have the same jobs.
pub(crate) fn first(replications: &Replications, point: &Point) -> u64 {
    let least = match replications {
        Replications::Fixed(count) => *count,
        Replications::Precision { least, .. } => *least,
        Replications::Windows { .. } => return point.windows.as_ref().map_or(0, Windows::count),
    };
    if has_same_jobs(&point.scenario) { least.min(2) } else { least }
}

/// Maximum number of replications of a scenario.
pub(crate) fn most(study: &Study, point: &Point) -> u64 {
    match study.replications {
        Replications::Windows { .. } => first(&study.replications, point),
        _ => study.most_replications(),
    }
}

/// Whether all replications have the same jobs, because a log is neither shuffled nor resampled.
pub fn has_same_jobs(scenario: &Scenario) -> bool {
    let workload = &scenario.table()["workload"];
    let is_shuffled = workload.get("shuffle").and_then(toml::Value::as_bool);
    scenario.input_path().is_some()
        && is_shuffled != Some(true)
        && workload.get("resample").is_none()
}

/// Mean of a scenario's metric `of`, and the half width of its interval. `None` if no run measured
/// the metric.
pub fn watched(of: &str, runs: &ScenarioRuns) -> Option<[f64; 2]> {
    let moments: RunningMoments = runs.measured(of).map(|(_, value)| value).collect();
    (moments.count() > 0).then(|| [moments.mean(), moments.half_width(1.0 - CONFIDENCE)])
}

/// Number of replications that a scenario needs, given the `runs` that it has so far.
///
/// With `precision`, it is estimated from the width of the interval. Because an early estimate is
/// poor, it is at most twice the present number of runs.
pub fn more(replications: &Replications, runs: &ScenarioRuns) -> u64 {
    let have = runs.len() as u64;
    if runs.all_same() {
        return have;
    }
    let (target, least, most, of) = match replications {
        Replications::Fixed(count) => return have.max(*count),
        Replications::Windows { .. } => return have,
        Replications::Precision { target, least, most, of } => (target, least, most, of),
    };
    // A scenario with a failed run is not replicated further.
    if runs.failures().len() > 0 {
        return have;
    }
    if have < *least {
        return *least;
    }
    let Some([mean, half_width]) = watched(of, runs).filter(|_| have < *most) else { return have };
    let allowed = target * mean.abs();
    if half_width <= allowed {
        return have;
    }
    let ratio = half_width / allowed;
    let guess = (have as f64 * ratio * ratio).ceil();
    let guess = if guess < (2 * have) as f64 { guess as u64 } else { 2 * have };
    guess.max(have + 1).min(*most)
}
