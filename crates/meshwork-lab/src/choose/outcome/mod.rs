//! Outcome of a choice among candidates: as data, as one JSON object, and as `sentences`.

mod sentences;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value as Json, json};
use toml::Value;

use super::race::{Fate, Look, Race, RaceRules};
use super::request::Constraint;
use super::winner::{slurm_lines, study_file};
use super::{Gain, Raced, Scale, clock};
use crate::findings::columns::Meanings;
use crate::findings::notes::under_overload;
use crate::run::ScenarioRuns;
use crate::statistics::sequence::{RunningMoments, Wins, factor};
use crate::statistics::{half_width, mean};
use crate::study::clock::Clock;
use crate::study::words::{short, short_label};
use crate::study::{Refused, Study, same};
use crate::text::swept_json;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RaceEnd {
    /// No candidate can beat the leader by more than the indifference zone.
    Decided,
    /// The budget of runs does not allow another round.
    Budget,
    /// The caller stopped the race, or its time budget was used up.
    Interrupted,
    /// The race has run the maximum number of replications.
    Most,
}

impl RaceEnd {
    pub fn name(self) -> &'static str {
        match self {
            RaceEnd::Decided => "decided",
            RaceEnd::Budget => "budget",
            RaceEnd::Interrupted => "interrupted",
            RaceEnd::Most => "replications",
        }
    }
}

#[derive(Clone, Copy)]
pub(crate) struct Parts<'a> {
    pub(crate) race: &'a Race,
    pub(crate) runs: &'a [ScenarioRuns],
    pub(crate) stopped: RaceEnd,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    pub swept: Vec<(String, Value)>,
    /// Label of the candidate in tables: swept keys with shortened values.
    pub label: String,
    pub fate: Fate,
    pub replications: u64,
    /// Geometric mean of the metric. If raw values are compared, the arithmetic mean. `None` if the
    /// candidate has no run.
    pub mean: Option<f64>,
    /// Mean of the second metric, which shows the trade-off. `None` if only one metric was
    /// requested.
    pub second: Option<f64>,
    /// Upper bound on how much worse the candidate is than the best one. `None` if unknown.
    ///
    /// The bound is on the scale on which candidates are compared.
    pub bound: Option<f64>,
    /// Course of the comparison with the winner, on the scale on which candidates are compared.
    ///
    /// Each entry has a number of pairs of replications, the mean difference, and the half width of
    /// the confidence interval.
    pub course: Vec<(u64, f64, f64)>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Effect {
    pub key: String,
    pub value: String,
    pub effect: f64,
    /// Half the width of the effect's 95 % interval. `None` if there are too few replications.
    pub half_width: Option<f64>,
    pub candidates: u64,
    pub replications: u64,
}

#[derive(Clone, Debug)]
pub struct ChoiceOutcome {
    pub study: String,
    pub metric: String,
    pub second: Option<String>,
    pub raw: bool,
    clock: Clock,
    meanings: Meanings,
    scale: Scale,
    pub confidence: f64,
    pub within: f64,
    pub stopped: RaceEnd,
    pub least_pairs: u64,
    pub pairs: u64,
    /// Number of replications that the screening before the race used; 0 without a screening.
    pub screening: u64,
    pub candidates: Vec<Candidate>,
    constraints: Vec<Constraint>,
    /// Index of the recommended candidate. `None` if no candidate has a value of the metric yet.
    pub recommended: Option<usize>,
    /// Reason why the candidate is recommended: `leader`, `baseline`, `simplest` or `none`.
    pub reason: &'static str,
    /// Upper bound on how much worse the recommended candidate is than the best one. It is on the
    /// scale on which candidates are compared.
    pub bound: Option<f64>,
    /// Indices of the surviving candidates that are certainly within the indifference zone of the
    /// best.
    pub equal: Vec<usize>,
    /// Index of the baseline, the candidate with which the winner is compared.
    pub reference: usize,
    /// Whether the user named the baseline. Otherwise it is the first candidate.
    pub has_baseline: bool,
    pub wins: Wins,
    pub effects: Vec<Effect>,
    pub looks: Vec<Look>,
    pub options: Vec<String>,
    /// Number of runs that the race has used, including runs that were read from the store.
    pub runs: u64,
    /// Number of runs that the study would have needed without a race. Every candidate would then
    /// have as many replications as the winner.
    pub full_grid: u64,
    /// Estimated number of runs that the two-stage procedure of Clark and Yang would have needed.
    pub clark_yang: Option<u64>,
    pub validation_runs: u64,
    pub gains: Vec<Gain>,
    /// Whether the caller stopped the choice before it was complete.
    ///
    /// The choice is complete once the race has ended and its winner has been measured again.
    pub is_stopped_early: bool,
    /// Whether runs are kept in a folder, so that the same command continues a stopped choice.
    pub is_kept: bool,
    /// Whether differences of raw values are so skewed that the confidence level may not hold.
    pub is_skewed: bool,
    pub study_file: String,
    pub slurm: Vec<String>,
    pub warnings: Vec<String>,
    pub failures: Vec<String>,
}

impl ChoiceOutcome {
    pub(crate) fn of(raced: &Raced<'_>, parts: Parts<'_>) -> Result<ChoiceOutcome, Refused> {
        let Parts { race, runs, stopped } = parts;
        let rules = RaceRules { within: race.within(), ..raced.rules };
        let racing = race.racing();
        if let Some(sentence) = nobody(raced, race, stopped) {
            return Err(Refused(sentence));
        }
        let equal = race.equals();
        let leader = race.looks().last().map(|look| look.leader);
        let is_decided = stopped == RaceEnd::Decided;
        let baseline = raced.baseline.filter(|own| equal.contains(own));
        let (recommended, reason) = match (leader, baseline) {
            (Some(leader), _) if equal.len() < 2 || !is_decided => (Some(leader), "leader"),
            (Some(_), Some(baseline)) => (Some(baseline), "baseline"),
            (Some(leader), None) => {
                let simplest = equal.iter().copied().min_by_key(|&own| (words(raced, own), own));
                (simplest.or(Some(leader)), "simplest")
            }
            (None, _) => (None, "none"),
        };
        let reference = raced.baseline.unwrap_or(0);
        let bound = recommended.map(|own| race.bound(own)).filter(|bound| bound.is_finite());
        let winner = recommended.unwrap_or(reference);
        let offset = race.screening() as usize;
        let evidence = |own: usize| race.values(own).get(offset..).unwrap_or_default();
        let mut wins = Wins::default();
        for (ours, theirs) in evidence(winner).iter().zip(evidence(reference)) {
            wins.push(*ours, *theirs);
        }
        let level = race.level();
        let shown = checkpoints(race);
        let candidate = |own: usize| {
            let point = &raced.points[own];
            let values = race.values(own);
            let centre = mean(values).map(|mean| {
                let mean = if raced.scale.is_highest { -mean } else { mean };
                if raced.scale.raw { mean } else { libm::exp(mean) }
            });
            let second = raced.second.as_ref().and_then(|second| {
                mean(&runs[own].measured(second).map(|(_, value)| value).collect::<Vec<_>>())
            });
            Candidate {
                swept: point.swept.clone(),
                label: short_label(raced.study, &point.swept),
                fate: race.fates()[own].clone(),
                replications: runs[own].len() as u64,
                mean: centre,
                second,
                bound: Some(race.bound(own))
                    .filter(|bound| bound.is_finite() && racing.contains(&own)),
                course: course(evidence(own), evidence(winner), level, &shown),
            }
        };
        let skew = |own: usize| {
            let differences: Vec<f64> =
                evidence(winner).iter().zip(evidence(own)).map(|(a, b)| a - b).collect();
            skewness(&differences).abs()
        };
        let is_skewed = raced.scale.raw && racing.iter().any(|&own| skew(own) > 1.0);
        Ok(ChoiceOutcome {
            study: raced.study.name.clone(),
            metric: raced.scale.metric.clone(),
            second: raced.second.clone(),
            raw: raced.scale.raw,
            clock: clock(raced.study, &raced.points[0]),
            meanings: Meanings::of(&raced.study.catalogue),
            scale: raced.scale.clone(),
            confidence: 1.0 - rules.alpha,
            within: rules.within,
            stopped,
            least_pairs: rules.least,
            pairs: race.pairs(),
            screening: race.screening(),
            candidates: (0..raced.points.len()).map(candidate).collect(),
            constraints: raced.constraints.clone(),
            recommended,
            reason,
            bound,
            equal,
            reference,
            has_baseline: raced.baseline.is_some(),
            wins,
            effects: effects(raced, race),
            looks: race.looks().to_vec(),
            options: raced.options.clone(),
            runs: runs.iter().map(|runs| runs.len() as u64).sum(),
            full_grid: (raced.points.len() * runs[winner].len()) as u64,
            clark_yang: race.clark_yang(),
            validation_runs: 0,
            gains: Vec::new(),
            is_stopped_early: stopped == RaceEnd::Interrupted,
            is_kept: true,
            is_skewed,
            study_file: study_file(raced.study, &raced.points[winner]),
            slurm: slurm_lines(raced, winner, reference),
            warnings: Vec::new(),
            failures: Vec::new(),
        })
    }

    /// Whether every measurement on fresh data confirms that the winner is better. `None` if
    /// nothing was measured on fresh data.
    pub fn is_confirmed(&self) -> Option<bool> {
        (!self.gains.is_empty()).then(|| self.gains.iter().all(|gain| gain.is_clear))
    }

    pub fn json(&self) -> Json {
        let distance = |difference: f64| {
            let distance = self.scale.distance(difference);
            if distance.is_finite() { json!(distance) } else { Json::Null }
        };
        let swept = |own: usize| swept_json(&self.candidates[own].swept);
        let candidate = |own: usize| {
            let candidate = &self.candidates[own];
            let mut object = json!({
                "scenario": own + 1,
                "label": candidate.label,
                "swept": swept(own),
                "fate": match candidate.fate {
                    Fate::Racing => "racing",
                    Fate::Beaten { .. } => "beaten",
                    Fate::Growing => "growing",
                    Fate::Unfit { .. } => "unfit",
                    Fate::Failed(_) => "failed",
                    Fate::Screened(_) => "screened",
                },
                "replications": candidate.replications,
                "mean": candidate.mean,
                "bound": candidate.bound.map(distance),
                "says": self.fate(own),
                "course": candidate.course.iter().map(|(pairs, centre, half)| {
                    json!([pairs, distance(*centre), distance(centre - half), distance(centre + half)])
                }).collect::<Vec<_>>(),
            });
            if let Some(fields) = object.as_object_mut() {
                if let Fate::Beaten { by, pairs, difference, least } = &candidate.fate {
                    fields.insert("pairs".to_owned(), json!(pairs));
                    fields.insert("by".to_owned(), json!(by + 1));
                    fields.insert("difference".to_owned(), distance(*difference));
                    fields.insert("at_least".to_owned(), distance(*least));
                }
                if let Some(second) = candidate.second {
                    fields.insert("second".to_owned(), json!(second));
                }
            }
            object
        };
        let numbers = |indices: &[usize]| indices.iter().map(|own| own + 1).collect::<Vec<_>>();
        json!({
            "study": self.study,
            "metric": self.metric,
            "second": self.second,
            "scale": if self.raw { "raw" } else { "log" },
            "options": self.options,
            "confidence": self.confidence,
            "within": distance(self.within),
            "stopped": self.stopped.name(),
            "choice": self.recommended.map(|own| json!({
                "scenario": own + 1, "swept": swept(own), "reason": self.reason,
            })),
            "bound": self.bound.map(distance),
            "guarantee": self.guarantee(),
            "equal": numbers(&self.equal),
            "survivors": (0..self.candidates.len())
                .filter(|&own| self.candidates[own].fate == Fate::Racing)
                .map(|own| own + 1)
                .collect::<Vec<_>>(),
            "pairs": self.pairs,
            "screening": self.screening,
            "baseline": json!({
                "scenario": self.reference + 1, "swept": swept(self.reference), "given": self.has_baseline,
            }),
            "confirmed": self.is_confirmed(),
            "gains": self.gains,
            "wins": json!({
                "won": self.wins.won, "lost": self.wins.lost, "equal": self.wins.equal,
                "p": self.wins.p_value(),
            }),
            "cost": json!({
                "runs": self.runs, "full_grid": self.full_grid, "clark_yang": self.clark_yang,
                "validation": self.validation_runs,
            }),
            "effects": self.effects.iter().map(|effect| {
                let [low, high] = self.effect_ends(effect).map_or([None; 2], |ends| ends.map(Some));
                json!({
                    "key": effect.key, "value": effect.value,
                    "effect": self.scale.change(effect.effect), "low": low, "high": high,
                    "candidates": effect.candidates, "replications": effect.replications,
                })
            }).collect::<Vec<_>>(),
            "looks": self.looks.iter().map(|look| json!({
                "pairs": look.pairs, "racing": look.racing, "leader": look.leader + 1,
                "bound": distance(look.bound),
            })).collect::<Vec<_>>(),
            "candidates": (0..self.candidates.len()).map(candidate).collect::<Vec<_>>(),
            "sentences": self.sentences(),
            "slurm": self.slurm,
            "study_file": self.study_file,
        })
    }
}

/// Sentence with the reason why no candidate can be chosen; `None` if one can be chosen.
fn nobody(raced: &Raced<'_>, race: &Race, stopped: RaceEnd) -> Option<String> {
    let file = &raced.study.file;
    let racing = race.racing();
    let label = |own: usize| short_label(raced.study, &raced.points[own].swept);
    let fates = race.fates();
    let breaks = |own: usize| (0..raced.constraints.len()).any(|k| race.excess(own, k).0 > 0.0);
    let has_unfit = fates.iter().any(|fate| matches!(fate, Fate::Unfit { .. }));
    let is_over = stopped != RaceEnd::Interrupted && race.pairs() >= raced.rules.least;
    if racing.is_empty() && has_unfit
        || is_over && !racing.is_empty() && racing.iter().all(|&own| breaks(own))
    {
        // The nearest candidate has the smallest maximum of excesses, each relative to its limit.
        let excess = |own: usize| {
            (0..raced.constraints.len())
                .map(|k| (race.excess(own, k).0 / raced.constraints[k].limit.abs().max(1e-300), k))
                .max_by(|a, b| a.0.total_cmp(&b.0))
        };
        let measured = (0..fates.len()).filter(|&own| !race.values(own).is_empty() && breaks(own));
        let nearest = measured
            .filter_map(|own| Some((own, excess(own)?)))
            .min_by(|a, b| a.1.0.total_cmp(&b.1.0))?;
        let (own, (_, k)) = nearest;
        let texts: Vec<String> =
            raced.constraints.iter().map(|own| format!("`{}`", own.text)).collect();
        return Some(format!(
            "{file}: no candidate meets {}: the nearest is {} with {}",
            texts.join(" and "),
            label(own),
            raced.constraints[k].shown(race.excess(own, k).0)
        ));
    }
    if !racing.is_empty() {
        return None;
    }
    let failed = fates.iter().enumerate().find_map(|(own, fate)| match fate {
        Fate::Failed(message) => Some((own, message)),
        _ => None,
    });
    Some(match failed {
        Some((own, message)) => {
            format!("{file}: no candidate is left, because runs failed: {}: {message}", label(own))
        }
        None => format!(
            "{file}: the queue of every candidate grows to the end, so none has a mean: lower the load, or race on \
             `--metric {}`",
            under_overload(raced.points)
        ),
    })
}

/// Number of parameters of a candidate.
///
/// Of equally good candidates, the one with the fewest parameters counts as the simplest.
fn words(raced: &Raced<'_>, own: usize) -> usize {
    fn parameters(value: &Value) -> usize {
        match value {
            Value::Table(table) => table.values().map(|inner| 1 + parameters(inner)).sum(),
            _ => 0,
        }
    }
    raced.points[own].swept.iter().map(|(_, value)| parameters(value)).sum()
}

/// Numbers of paired replications for which the outcome reports the state of the race.
fn checkpoints(race: &Race) -> BTreeSet<u64> {
    let mut shown: BTreeSet<u64> = BTreeSet::from([race.pairs()]);
    let mut next = 4;
    while next < race.pairs() {
        shown.insert(next);
        next += 1 + next / 6;
    }
    shown.extend(race.fates().iter().filter_map(|fate| match fate {
        Fate::Beaten { pairs, .. } | Fate::Unfit { pairs, .. } => Some(*pairs),
        _ => None,
    }));
    shown
}

/// Mean difference from the winner, and half width of its interval, after certain numbers of run
/// pairs.
fn course(ours: &[f64], winner: &[f64], level: f64, shown: &BTreeSet<u64>) -> Vec<(u64, f64, f64)> {
    let (mut moments, mut course) = (RunningMoments::default(), Vec::new());
    for (number, (a, b)) in (1..).zip(ours.iter().zip(winner)) {
        moments.push(a - b);
        if !shown.contains(&number) {
            continue;
        }
        let half = moments.half_width_by(factor(number as f64, level));
        if half.is_finite() {
            course.push((number, moments.mean(), half));
        }
    }
    course
}

/// Mean effect of each value of each swept key on the metric.
///
/// Candidates with growing queues or failed runs are left out. Candidates that differ only in the
/// key form a group. A group counts only if it has all values of the key. If incomplete groups
/// counted, a value would look too good if its worst candidates were missing.
fn effects(raced: &Raced<'_>, race: &Race) -> Vec<Effect> {
    let counts = |fate: &Fate| !matches!(fate, Fate::Growing | Fate::Failed(_));
    let fit: Vec<usize> =
        (0..raced.points.len()).filter(|&own| counts(&race.fates()[own])).collect();
    let shared = fit.iter().map(|&own| race.values(own).len()).min().unwrap_or(0);
    let study: &Study = raced.study;
    let mut effects = Vec::new();
    for axis in study.sweep.iter().filter(|axis| axis.values.len() > 1) {
        let names = short(&axis.key, &axis.values.iter().collect::<Vec<_>>());
        let mut groups: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for &own in &fit {
            let swept = raced.points[own].swept.iter();
            let others: Vec<_> = swept.filter(|(key, _)| *key != axis.key).collect();
            groups.entry(format!("{others:?}")).or_default().push(own);
        }
        let fit: Vec<usize> =
            groups.into_values().filter(|own| own.len() == axis.values.len()).flatten().collect();
        for (value, name) in axis.values.iter().zip(names) {
            let has = |own: &&usize| {
                let swept = raced.points[**own].swept.iter();
                swept.into_iter().any(|(key, other)| *key == axis.key && same(other, value))
            };
            let with: Vec<usize> = fit.iter().filter(has).copied().collect();
            if with.is_empty() {
                continue;
            }
            let centre = |own: &[usize], replication: usize| {
                let sum: f64 = own.iter().map(|&own| race.values(own)[replication]).sum();
                sum / own.len() as f64
            };
            let difference = |row: usize| {
                let difference = centre(&with, row) - centre(&fit, row);
                // The means of equal values differ only by rounding errors, up to this bound.
                let largest =
                    fit.iter().map(|&own| race.values(own)[row].abs()).fold(0.0, f64::max);
                let is_rounding = difference.abs() <= fit.len() as f64 * f64::EPSILON * largest;
                if is_rounding { 0.0 } else { difference }
            };
            let each: Vec<f64> = (0..shared).map(difference).collect();
            let Some(effect) = mean(&each) else { continue };
            effects.push(Effect {
                key: axis.key.clone(),
                value: name,
                effect,
                half_width: half_width(&each),
                candidates: with.len() as u64,
                replications: shared as u64,
            });
        }
    }
    effects
}

fn skewness(values: &[f64]) -> f64 {
    let Some(mean) = mean(values) else { return 0.0 };
    let n = values.len() as f64;
    let moment = |power: i32| values.iter().map(|x| (x - mean).powi(power)).sum::<f64>() / n;
    let variance = moment(2);
    if variance > 0.0 { moment(3) / variance.powf(1.5) } else { 0.0 }
}
