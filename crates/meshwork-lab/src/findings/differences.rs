//! Differences of metrics between two scenarios, paired by replication or by batch of the same
//! jobs.

use std::collections::BTreeMap;

use crate::findings::means::Rule;
use crate::run::{Batches, Results, ScenarioRuns};
use crate::statistics::{Interval, Method, half_width_of_batches, mean};
use crate::study::{Baseline, Study, same};

/// Index of the scenario that differs from scenario `index` only in the baseline's key.
///
/// In this key it has the baseline's value. `None` if scenario `index` has this value itself, or if
/// no scenario has it.
pub fn partner(study: &Study, index: usize, baseline: &Baseline) -> Option<usize> {
    let at = study.sweep.iter().position(|axis| axis.key == baseline.key)?;
    let stride: usize = study.sweep[at + 1..].iter().map(|axis| axis.values.len()).product();
    let values = &study.sweep[at].values;
    let ours = index / stride % values.len();
    if same(&values[ours], &baseline.value) {
        return None;
    }
    let theirs = values.iter().position(|value| same(value, &baseline.value))?;
    Some(index - ours * stride + theirs * stride)
}

/// Ratio of a metric's mean in one scenario to its mean in another scenario with the same jobs.
///
/// By Fieller's method, the 95 % interval contains a ratio *r* if the difference between the first
/// mean and *r* times the second mean is not significant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ratio {
    pub mean: f64,
    /// Ends of the 95 % interval; `None` for too little data. The upper end may be infinite.
    pub ends: Option<[f64; 2]>,
    pub difference: Interval,
    pub base: f64,
}

impl Ratio {
    /// Whether the interval of the ratio is at most twice as wide as the interval of the
    /// difference.
    ///
    /// For this, the interval of the difference is divided by `base`.
    pub fn is_informative(&self) -> bool {
        let Some([low, high]) = self.ends else { return true };
        if high.is_infinite() {
            return low > 1.0;
        }
        let half = self.difference.half_width.unwrap_or(f64::INFINITY);
        high - low <= 4.0 * half / self.base
    }

    /// Change in percent, with the ends of its interval: a ratio of 1.2 is a change of 20 %.
    pub fn percent(&self) -> (f64, Option<f64>, Option<f64>) {
        let percent = |ratio: f64| 100.0 * (ratio - 1.0);
        let of_difference = || {
            let half = self.difference.half_width? / self.base;
            Some([(self.mean - half).max(0.0), self.mean + half])
        };
        let ends = if self.is_informative() { self.ends } else { of_difference() };
        let end = |which: usize| ends.map(|ends| percent(ends[which]));
        (percent(self.mean), end(0), end(1).filter(|end| end.is_finite()))
    }

    pub fn is_significant(&self) -> bool {
        self.difference.excludes_zero()
    }
}

pub const ROUNDING: f64 = 1e-12;

const HALVINGS: usize = 32;

/// Ratio of a non-negative metric's means in two scenarios, first to second. **O(n)** for *n* runs.
pub fn ratio(
    study: &Study,
    results: &Results,
    (ours, theirs): (usize, usize),
    metric: &str,
) -> Option<Ratio> {
    let ours = Side::of(results, ours)?;
    let theirs = Side::of(results, theirs)?;
    Pairs::of(ours, theirs, Rule::of(study), metric).ratio()
}

/// Differences of all metrics between two scenarios, which are given by index. Runs are paired.
/// **O(n)** per metric for *n* runs.
pub(super) fn paired(
    study: &Study,
    results: &Results,
    ours: usize,
    theirs: usize,
) -> Vec<(String, Interval, Option<f64>)> {
    match (Side::of(results, ours), Side::of(results, theirs)) {
        (Some(ours), Some(theirs)) => differences(ours, theirs, Rule::of(study)),
        _ => Vec::new(),
    }
}

pub(super) fn refuse_alike(results: &Results, ours: usize, theirs: usize) -> bool {
    let (Some(ours), Some(theirs)) = (Side::of(results, ours), Side::of(results, theirs)) else {
        return true;
    };
    let refused = |side: Side<'_>, run: usize| side.runs.refused().get(run).copied();
    pairs(ours, theirs).into_iter().all(|(a, b)| refused(ours, a) == refused(theirs, b))
}

#[derive(Clone, Copy)]
struct Side<'a> {
    runs: &'a ScenarioRuns,
    constant: bool,
}

impl Side<'_> {
    fn of(results: &Results, scenario: usize) -> Option<Side<'_>> {
        let runs = results.runs.get(scenario)?;
        Some(Side { runs, constant: results.is_constant(scenario) })
    }
}

/// Pairs of successful runs of two scenarios with the same replication number, as indices. A run
/// that stands for all replications is paired with every run of the other scenario.
fn pairs(ours: Side<'_>, theirs: Side<'_>) -> Vec<(usize, usize)> {
    if ours.constant && ours.runs.ended() == 1 {
        return (0..theirs.runs.ended()).map(|b| (0, b)).collect();
    }
    if theirs.constant && theirs.runs.ended() == 1 {
        return (0..ours.runs.ended()).map(|a| (a, 0)).collect();
    }
    let (ours, theirs) = (ours.runs.replications(), theirs.runs.replications());
    let mut b = 0;
    let mut pairs = Vec::new();
    for (a, replication) in ours.iter().enumerate() {
        while theirs.get(b).is_some_and(|other| other < replication) {
            b += 1;
        }
        if theirs.get(b) == Some(replication) {
            pairs.push((a, b));
        }
    }
    pairs
}

struct Pairs {
    runs: Vec<(f64, f64)>,
    /// Values of paired batches of the same jobs, if one of the two scenarios has a single run.
    ///
    /// `None` if the values are windows of a log.
    batches: Option<Vec<(f64, f64)>>,
    rule: Rule,
}

impl Pairs {
    fn of(ours: Side<'_>, theirs: Side<'_>, rule: Rule, name: &str) -> Pairs {
        let pairs = pairs(ours, theirs);
        let by_batches = ours.constant || theirs.constant || pairs.len() == 1;
        let (a, b) = (ours.runs.column(name), theirs.runs.column(name));
        let runs = pairs
            .iter()
            .filter_map(|&(ours, theirs)| Some((*a.get(ours)?, *b.get(theirs)?)))
            .filter(|(a, b)| a.is_finite() && b.is_finite())
            .collect();
        let batches = match pairs.first().filter(|_| by_batches) {
            Some(&(a, b)) if matches!(rule, Rule::Replications) => {
                Some(paired_batches((ours.runs, a), (theirs.runs, b), name))
            }
            _ => None,
        };
        Pairs { runs, batches, rule }
    }

    fn bases(&self) -> Vec<f64> {
        self.runs.iter().map(|(_, b)| *b).collect()
    }

    fn interval(&self, ratio: f64) -> Interval {
        let minus = |pairs: &[(f64, f64)]| -> Vec<f64> {
            pairs.iter().map(|(a, b)| a - ratio * b).collect()
        };
        let values = minus(&self.runs);
        let Some(batches) = &self.batches else { return self.rule.interval(&values, &[]) };
        let half_width = half_width_of_batches(&minus(batches));
        let method = half_width.is_some().then_some(Method::BatchMeans);
        let replications = values.len() as u64;
        Interval { mean: mean(&values), half_width, replications, method }
    }

    /// Ratio of the mean in the first scenario to the mean in the second.
    ///
    /// `None` if the second mean is not positive, or if the first mean is negative.
    fn ratio(&self) -> Option<Ratio> {
        let (own, base) = (self.interval(0.0).mean?, mean(&self.bases())?);
        if base <= 0.0 || own < 0.0 {
            return None;
        }
        let (centre, is_in) = (own / base, |ratio: f64| !self.interval(ratio).excludes_zero());
        let difference = self.interval(1.0);
        let ends = difference.half_width.map(|_| {
            // Bisects on ratio / (1 + ratio), because the ratio may have no upper end.
            let share = |ratio: f64| ratio / (1.0 + ratio);
            let end = |beyond: f64| {
                let (mut inside, mut outside) = (share(centre), beyond);
                for _ in 0..HALVINGS {
                    let middle = f64::midpoint(inside, outside);
                    let end =
                        if is_in(middle / (1.0 - middle)) { &mut inside } else { &mut outside };
                    *end = middle;
                }
                inside / (1.0 - inside)
            };
            let most = 1.0 - 1e-9;
            let high = if is_in(most / (1.0 - most)) { f64::INFINITY } else { end(most) };
            [if is_in(0.0) { 0.0 } else { end(0.0) }, high]
        });
        Some(Ratio { mean: centre, ends, difference, base })
    }
}

fn differences(
    ours: Side<'_>,
    theirs: Side<'_>,
    rule: Rule,
) -> Vec<(String, Interval, Option<f64>)> {
    let of = |name: &str| {
        let pairs = Pairs::of(ours, theirs, rule, name);
        let base = mean(&pairs.bases());
        let mut difference = pairs.interval(1.0);
        let is_noise = |size: f64| base.is_some_and(|base| size.abs() <= ROUNDING * base.abs());
        if difference.mean.is_some_and(is_noise) && difference.half_width.is_none_or(is_noise) {
            difference.mean = Some(0.0);
            difference.half_width = difference.half_width.map(|_| 0.0);
        }
        let relative = match (difference.mean, base) {
            (Some(difference), Some(base)) if base.abs() > 0.0 => Some(difference / base),
            _ => None,
        };
        (difference, relative)
    };
    let metrics = ours.runs.metrics().map(|name| {
        let (difference, relative) = of(name);
        (name.to_owned(), difference, relative)
    });
    metrics.collect()
}

/// Values of a metric in two runs, as pairs of values for batches with the same jobs.
/// If the batch sizes of the two runs differ, the larger size is used for both.
fn paired_batches(
    ours: (&ScenarioRuns, usize),
    theirs: (&ScenarioRuns, usize),
    name: &str,
) -> Vec<(f64, f64)> {
    let own = |(runs, row): (&ScenarioRuns, usize)| runs.batches(row).cloned().unwrap_or_default();
    let (ours, theirs) = (own(ours), own(theirs));
    let jobs = ours.jobs.max(theirs.jobs);
    let batches = |batches: &Batches| -> BTreeMap<u64, f64> {
        if batches.jobs == 0 {
            return BTreeMap::new();
        }
        let each = jobs / batches.jobs;
        let mut merged: BTreeMap<u64, (f64, u64)> = BTreeMap::new();
        for (index, value) in (batches.first..).zip(batches.metric(name)) {
            let (sum, count) = merged.entry(index / each).or_default();
            *sum += value;
            *count += 1;
        }
        let whole = merged.into_iter().filter(|(_, (_, count))| *count == each);
        whole.map(|(index, (sum, count))| (index, sum / count as f64)).collect()
    };
    let (ours, theirs) = (batches(&ours), batches(&theirs));
    ours.iter().filter_map(|(index, a)| Some((*a, *theirs.get(index)?))).collect()
}

#[cfg(test)]
mod tests {
    use meshwork::rng::Stream;

    use super::*;
    use crate::run::Run;
    use crate::run::store::{RunFindings, RunMetric};
    use crate::statistics::t_quantile;

    /// Ends of Fieller's interval, the roots of a quadratic equation; `None` if it is unbounded.
    fn roots(runs: &[(f64, f64)]) -> Option<[f64; 2]> {
        let count = runs.len() as f64;
        let mean = |of: &dyn Fn(&(f64, f64)) -> f64| runs.iter().map(of).sum::<f64>() / count;
        let (a, b) = (mean(&|pair| pair.0), mean(&|pair| pair.1));
        let spread = |of: &dyn Fn(&(f64, f64)) -> f64| {
            let t = t_quantile(runs.len() as u64 - 1);
            t * t * runs.iter().map(of).sum::<f64>() / (count * (count - 1.0))
        };
        let (aa, ab, bb) = (
            a * a - spread(&|pair| (pair.0 - a) * (pair.0 - a)),
            a * b - spread(&|pair| (pair.0 - a) * (pair.1 - b)),
            b * b - spread(&|pair| (pair.1 - b) * (pair.1 - b)),
        );
        let inside = ab * ab - aa * bb;
        let root = |sign: f64| (ab + sign * inside.max(0.0).sqrt()) / bb;
        (bb > 0.0).then(|| [root(-1.0).max(0.0), root(1.0)])
    }

    fn pairs(runs: &[(f64, f64)]) -> Pairs {
        Pairs { runs: runs.to_vec(), batches: None, rule: Rule::Replications }
    }

    #[test]
    fn ratios_are_those_of_fieller_and_agree_with_the_differences() {
        let mut draws = Stream::new(7, 0, "ratios");
        let (mut bounded, mut significant) = (0, 0);
        for case in 0..400 {
            let size = 3 + case % 9;
            let noise = 0.05 * f64::from(1 + case % 7);
            let mut draw = |mean: f64| (mean * (1.0 + noise * (draws.unit() - 0.5) * 6.0)).max(0.0);
            let runs: Vec<(f64, f64)> = (0..size).map(|_| (draw(0.8), draw(1.0))).collect();
            let ratio = pairs(&runs).ratio().unwrap();
            let [low, high] = ratio.ends.unwrap();
            assert!(low <= ratio.mean && ratio.mean <= high);
            assert_eq!(ratio.is_significant(), low > 1.0 || high < 1.0, "{runs:?}");
            significant += usize::from(ratio.is_significant());
            if let Some([least, most]) = roots(&runs)
                && high.is_finite()
            {
                let is_near = |a: f64, b: f64| (a - b).abs() < 1e-5 * (1.0 + b * b);
                assert!(is_near(low, least) && is_near(high, most), "{runs:?}");
                bounded += 1;
            }
        }
        assert!(bounded > 200 && significant > 20 && significant < 380, "{bounded} {significant}");
    }

    #[test]
    fn differences_that_are_noise_of_rounding_are_zero() {
        let value = |at, value| Run {
            key: String::new(),
            replication: at,
            result: Ok(RunFindings {
                metrics: vec![RunMetric::new("share", Some(value), vec![])],
                ..RunFindings::default()
            }),
        };
        let runs = |values: [f64; 3]| -> ScenarioRuns {
            (0..).zip(values).map(|(at, own)| value(at, own)).collect()
        };
        let found = |ours, theirs| {
            let (ours, theirs) = (runs(ours), runs(theirs));
            let side = |runs| Side { runs, constant: false };
            let (_, found, share) =
                differences(side(&ours), side(&theirs), Rule::Replications).swap_remove(0);
            (found.mean, found.half_width, share)
        };
        let noisy = found([0.1 + 0.2, 0.5, 0.6], [0.3, 0.5, 0.6]);
        assert_eq!(noisy, (Some(0.0), Some(0.0), Some(0.0)));
        let (mean, half, _) = found([0.3 + 1e-9, 0.5, 0.6], [0.3, 0.5, 0.6]);
        assert!(mean > Some(1e-10) && half > Some(1e-10));
    }

    #[test]
    fn a_base_that_is_hardly_known_bounds_nothing() {
        let [low, high] = pairs(&[(1.0, 0.1), (1.0, 9.0)]).ratio().unwrap().ends.unwrap();
        assert!(low < 1.0 && high.is_infinite(), "{low} {high}");
        // The difference is 1 in every run, and 0.2 to 50 % of the base.
        let known = pairs(&[(0.0, 1.0), (19.0, 20.0), (0.0, 1.1)]).ratio().unwrap();
        assert!(known.is_significant() && !known.is_informative(), "{known:?}");
        let wide = pairs(&[(1.0, 2.0), (1.1, 2.3), (0.9, 1.7)]).ratio().unwrap();
        assert!(wide.is_informative(), "{wide:?}");
        assert!(pairs(&[(1.0, 0.0), (1.0, 0.0)]).ratio().is_none(), "no multiple of nothing");
        assert_eq!(pairs(&[(1.0, 2.0)]).ratio().unwrap().ends, None, "one run says nothing");
    }
}
