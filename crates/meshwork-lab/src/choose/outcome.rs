//! The outcome of a choice, as data and as sentences.

use std::collections::BTreeSet;

use serde_json::{Map, Value as Json, json};
use toml::Value;

use super::race::{Fate, Look, Race, RaceRules};
use super::request::Constraint;
use super::sequence::{RunningMoments, Wins, factor};
use super::winner::{slurm_lines, study_file};
use super::{Gain, Raced, Scale};
use crate::findings::number::{count, plural, significant};
use crate::findings::statistics::{half_width, mean};
use crate::findings::words::{short, short_label};
use crate::run::ScenarioRuns;
use crate::study::{Refused, Study, same};

/// Reason for which a race ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RaceEnd {
    /// No candidate can beat the leader by more than the indifference zone.
    Decided,
    /// The budget of runs does not allow another round.
    Budget,
    /// The caller stopped it, or its time ran out.
    Interrupted,
    /// There are no more replications.
    Most,
}

impl RaceEnd {
    /// Name in results.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            RaceEnd::Decided => "decided",
            RaceEnd::Budget => "budget",
            RaceEnd::Interrupted => "interrupted",
            RaceEnd::Most => "replications",
        }
    }
}

/// A race that has ended, and its runs.
#[derive(Clone, Copy)]
pub(crate) struct Parts<'a> {
    pub(crate) race: &'a Race,
    pub(crate) runs: &'a [ScenarioRuns],
    pub(crate) stopped: RaceEnd,
}

/// A candidate at the end.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// Swept keys and their values.
    pub swept: Vec<(String, Value)>,
    /// Swept keys with short values, as a label.
    pub label: String,
    pub fate: Fate,
    /// Replications that it ran.
    pub replications: u64,
    /// Geometric mean of the metric, arithmetic on the raw scale; `None` without a run.
    pub mean: Option<f64>,
    /// Mean of the second metric.
    pub second: Option<f64>,
    /// Certain bound on its distance from the best; `None` if there is none.
    pub bound: Option<f64>,
    /// Difference from the winner after some numbers of pairs, with the half width of its interval.
    /// Both are on the scale of the race.
    pub course: Vec<(u64, f64, f64)>,
}

/// Mean effect of one value of a swept key.
#[derive(Clone, Debug, PartialEq)]
pub struct Effect {
    pub key: String,
    pub value: String,
    /// Distance of the mean of its candidates from the mean of all, on the scale of the race.
    pub effect: f64,
    /// Half the width of its 95 % interval.
    pub half_width: Option<f64>,
    pub candidates: u64,
}

/// Outcome of a choice.
#[derive(Clone, Debug)]
pub struct ChoiceOutcome {
    pub study: String,
    pub metric: String,
    pub second: Option<String>,
    pub raw: bool,
    scale: Scale,
    pub confidence: f64,
    /// Indifference zone on the scale of the race.
    pub within: f64,
    pub stopped: RaceEnd,
    pub least_pairs: u64,
    pub pairs: u64,
    /// Replications of the screening; 0 without one.
    pub screening: u64,
    pub candidates: Vec<Candidate>,
    constraints: Vec<Constraint>,
    /// The recommended candidate; `None` while there is no value of any.
    pub recommended: Option<usize>,
    /// Reason for it, in words.
    pub reason: &'static str,
    /// Certain bound of the recommended candidate, on the scale of the race.
    pub bound: Option<f64>,
    /// Survivors that are certainly within the indifference zone of the best.
    pub equal: Vec<usize>,
    /// Candidate that the winner is compared with.
    pub reference: usize,
    /// Whether the reference was named as the baseline.
    pub has_baseline: bool,
    pub wins: Wins,
    pub effects: Vec<Effect>,
    pub looks: Vec<Look>,
    /// Options of the choice, as words of a command.
    pub options: Vec<String>,
    /// Runs of the race, including stored ones.
    pub runs: u64,
    /// Runs if each candidate ran as often as the winner.
    pub full_grid: u64,
    /// Runs of Clark and Yang's procedure, estimated.
    pub clark_yang: Option<u64>,
    pub validation_runs: u64,
    pub gains: Vec<Gain>,
    /// Whether the winner could not be measured again because of a stop.
    pub is_stopped_early: bool,
    /// Whether raw differences are so skewed that the level may not hold.
    pub is_skewed: bool,
    pub study_file: String,
    pub slurm: Vec<String>,
    /// Warnings that did not stop it, one sentence each.
    pub warnings: Vec<String>,
    /// Failures of writing results, one sentence each.
    pub failures: Vec<String>,
}

impl ChoiceOutcome {
    /// The outcome of a race that has ended.
    ///
    /// # Errors
    /// If no candidate can be chosen: one sentence with the reason, and the nearest.
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
        let level = rules.alpha * if rules.constraints > 0 { 0.5 } else { 1.0 };
        let raced_count =
            race.fates().iter().filter(|fate| !matches!(fate, Fate::Screened(_))).count();
        let level = level / (raced_count.max(2) - 1) as f64;
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
            full_grid: raced.points.len() as u64 * race.seen(),
            clark_yang: race.clark_yang(),
            validation_runs: 0,
            gains: Vec::new(),
            is_stopped_early: stopped == RaceEnd::Interrupted,
            is_skewed,
            study_file: study_file(raced.study, &raced.points[winner]),
            slurm: slurm_lines(raced, winner, reference),
            warnings: Vec::new(),
            failures: Vec::new(),
        })
    }

    /// Whether the gain is confirmed by all that was measured anew; `None` if nothing was.
    #[must_use]
    pub fn is_confirmed(&self) -> Option<bool> {
        (!self.gains.is_empty()).then(|| self.gains.iter().all(|gain| gain.is_clear))
    }

    /// Distance on the scale of the race in words: `3.1 %`, or units of the metric.
    fn distance(&self, difference: f64) -> String {
        let distance = self.scale.distance(difference);
        if self.raw { significant(distance, 3) } else { percent(distance) }
    }

    /// Change of the metric in words, such as `3.1 % lower`.
    fn change(&self, change: f64) -> String {
        let word = if change < 0.0 { "lower" } else { "higher" };
        let size = if self.raw { significant(change.abs(), 3) } else { percent(change.abs()) };
        format!("{size} {word}")
    }

    fn gain(&self, gain: &Gain) -> String {
        let ends = match gain.ends {
            Some([low, high]) => {
                format!(", 95 % interval {} to {}", self.change(low), self.change(high))
            }
            None => ", without an interval: too little data".to_owned(),
        };
        format!("on {} {} is {}{ends}", gain.on, self.metric, self.change(gain.change))
    }

    /// The outcome in a line: the choice, the certain bound, the change from the baseline on fresh
    /// data, and the runs.
    #[must_use]
    pub fn line(&self) -> [String; 4] {
        let label = self.recommended.map(|own| self.candidates[own].label.clone());
        let bound = self.bound.map(|bound| format!("at most {}", self.distance(bound)));
        let change = self.gains.last().map(|gain| match gain.ends {
            Some([low, high]) => format!(
                "{} ({} to {})",
                self.signed(gain.change),
                self.signed(low),
                self.signed(high)
            ),
            None => self.signed(gain.change),
        });
        let or = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
        [or(label), or(bound), or(change), count(self.runs + self.validation_runs)]
    }

    /// A change of the metric with its sign.
    fn signed(&self, change: f64) -> String {
        if self.raw { significant(change, 3) } else { percent_with_sign(change) }
    }

    /// The sentences of the outcome, most important first.
    #[must_use]
    pub fn sentences(&self) -> Vec<String> {
        let mut all = Vec::new();
        let Some(own) = self.recommended else {
            all.push(
                "There is no result yet: no replication of all candidates has ended.".to_owned(),
            );
            return all;
        };
        let (winner, reference) = (&self.candidates[own], &self.candidates[self.reference]);
        let of_baseline = if self.has_baseline { "the baseline" } else { "the first candidate" };
        if self.is_confirmed() == Some(false) {
            let failing: Vec<String> = self
                .gains
                .iter()
                .filter(|gain| !gain.is_clear)
                .map(|gain| self.gain(gain))
                .collect();
            all.push(format!(
                "The gain over {of_baseline} ({}) is not confirmed: {}.",
                reference.label,
                failing.join("; ")
            ));
        }
        if self.equal.len() > 1 && self.stopped == RaceEnd::Decided {
            let labels: Vec<&str> =
                self.equal.iter().take(6).map(|&own| &*self.candidates[own].label).collect();
            let more = self.equal.len().saturating_sub(labels.len());
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            all.push(format!(
                "These {} are equal within {}: {}{more}.",
                self.equal.len(),
                self.distance(self.within),
                labels.join("; ")
            ));
        }
        let why = match self.reason {
            "baseline" => ", the baseline",
            "simplest" => ", the simplest of them",
            _ => "",
        };
        all.push(format!("Choice: {}{why}.", winner.label));
        all.push(self.guarantee());
        if own == self.reference {
            all.push(format!("It is {of_baseline}, so there is no gain to confirm."));
        } else if self.gains.is_empty() {
            all.push(if self.is_stopped_early {
                "The gain is not measured on fresh replications yet: the same command continues."
                    .to_owned()
            } else {
                "The gain is not measured again: windows of a log have no fresh replications."
                    .to_owned()
            });
        } else {
            for gain in &self.gains {
                all.push(format!(
                    "Against {of_baseline} ({}), {}.",
                    reference.label,
                    self.gain(gain)
                ));
                let losing: Vec<String> = gain
                    .classes
                    .iter()
                    .filter(|class| class.loses)
                    .map(|class| {
                        format!(
                            "jobs of {} and more processors ({} {})",
                            class.size,
                            class.metric,
                            percent_with_sign(class.change)
                        )
                    })
                    .collect();
                if !losing.is_empty() {
                    all.push(format!("These lose: {}.", losing.join("; ")));
                } else if !gain.classes.is_empty() {
                    all.push("No class of job sizes certainly loses.".to_owned());
                }
            }
        }
        if own != self.reference {
            let Wins { won, lost, equal } = self.wins;
            let all_pairs = won + lost + equal;
            all.push(format!(
                "It wins in {won} of {} (anytime-valid sign test: p {}).",
                plural(all_pairs, "replication"),
                p_value(self.wins.p_value())
            ));
        }
        if self.is_skewed {
            all.push(
                "Warning: differences are so skewed that the confidence may not be reached; race on logarithms if \
                 you can."
                    .to_owned(),
            );
        }
        all.push(self.cost());
        all
    }

    /// The sentence that says what is guaranteed now.
    #[must_use]
    pub fn guarantee(&self) -> String {
        let confidence = percent(self.confidence);
        let Some(bound) = self.bound else {
            if self.pairs < self.least_pairs {
                return format!(
                    "There is no guarantee yet: {} of {} pairs have been measured.",
                    self.pairs, self.least_pairs
                );
            }
            return "There is no guarantee yet: the intervals are too wide, or no candidate certainly meets the \
                    constraints."
                .to_owned();
        };
        let fates = |is: fn(&Fate) -> bool| {
            self.candidates.iter().filter(|own| is(&own.fate)).count() as u64
        };
        let screened = fates(|fate| matches!(fate, Fate::Screened(_)));
        let without = [
            (fates(|fate| matches!(fate, Fate::Growing)), "whose queue grows"),
            (fates(|fate| matches!(fate, Fate::Failed(_))), "of which a run failed"),
        ];
        let without: Vec<String> = without
            .iter()
            .filter(|(number, _)| *number > 0)
            .map(|(number, why)| format!("{} {why}", count(*number)))
            .collect();
        let except = if without.is_empty() {
            String::new()
        } else {
            format!(", apart from {}", without.join(" and "))
        };
        let among = if screened > 0 {
            let finalists = self.candidates.len() as u64 - screened;
            format!(
                "the {} that a screening left of {} candidates (the {} that it left out are not covered)",
                count(finalists),
                count(self.candidates.len() as u64),
                count(screened)
            )
        } else {
            format!("{} candidates", count(self.candidates.len() as u64))
        };
        let of = if self.raw { "mean" } else { "typical (geometric mean)" };
        let limits = match self.constraints.len() {
            0 => String::new(),
            _ => " that meet the constraints".to_owned(),
        };
        let more = match self.stopped {
            RaceEnd::Decided => "",
            _ => "; the race was not finished, and this holds now",
        };
        let is_best = if bound > 0.0 {
            format!("Within {} of the best", self.distance(bound))
        } else {
            "The best".to_owned()
        };
        format!(
            "{is_best}, {confidence}: of the {of} {} of {among}{limits}{except}{more}.",
            self.metric
        )
    }

    fn cost(&self) -> String {
        let share = |of: u64| percent(self.runs as f64 / of.max(1) as f64);
        let two_stages = self.clark_yang.map_or_else(String::new, |runs| {
            format!(
                ", and {} of the {} that Clark and Yang's procedure needs",
                share(runs),
                count(runs)
            )
        });
        let again = match self.validation_runs {
            0 => String::new(),
            runs => format!("; {} to measure the winner again", plural(runs, "run")),
        };
        format!(
            "Cost: {}, {} of the {} of the full grid{two_stages}{again}.",
            plural(self.runs, "run"),
            share(self.full_grid),
            count(self.full_grid)
        )
    }

    /// Rows of a table of candidates: number, label, replications, mean of the metric and of the
    /// second one, and what became of it. Survivors come first, then by mean.
    #[must_use]
    pub fn rows(&self) -> Vec<[String; 6]> {
        let mut order: Vec<usize> = (0..self.candidates.len()).collect();
        let rank = |own: &usize| match self.candidates[*own].fate {
            Fate::Racing => 0,
            Fate::Beaten { .. } => 1,
            Fate::Unfit { .. } => 2,
            Fate::Growing => 3,
            Fate::Failed(_) => 4,
            Fate::Screened(_) => 5,
        };
        let by = |own: &usize| {
            let mean = self.candidates[*own].mean.unwrap_or(f64::INFINITY);
            if self.scale.is_highest { -mean } else { mean }
        };
        order.sort_by(|a, b| {
            (Some(*b) == self.recommended)
                .cmp(&(Some(*a) == self.recommended))
                .then(rank(a).cmp(&rank(b)))
                .then(by(a).total_cmp(&by(b)))
                .then(a.cmp(b))
        });
        let number =
            |mean: Option<f64>| mean.map_or_else(|| "-".to_owned(), |mean| significant(mean, 4));
        let row = |own: usize| {
            let candidate = &self.candidates[own];
            [
                format!("#{}", own + 1),
                candidate.label.clone(),
                count(candidate.replications),
                number(candidate.mean),
                number(candidate.second),
                self.fate(own),
            ]
        };
        order.into_iter().map(row).collect()
    }

    fn fate(&self, own: usize) -> String {
        let candidate = &self.candidates[own];
        match &candidate.fate {
            Fate::Racing if Some(own) == self.recommended => "chosen".to_owned(),
            Fate::Racing => match candidate.bound {
                Some(bound) => format!("survives, within {} of the best", self.distance(bound)),
                None => "survives".to_owned(),
            },
            Fate::Beaten { by, pairs, difference, least } => format!(
                "dropped after {pairs} pairs by #{}: {} worse, at least {}",
                by + 1,
                self.distance(*difference),
                self.distance(*least)
            ),
            Fate::Growing => "dropped: its queue grows to the end".to_owned(),
            Fate::Unfit { constraint, pairs, excess } => format!(
                "dropped after {pairs} runs: {} is {}",
                self.constraints[*constraint].text,
                self.constraints[*constraint].shown(*excess)
            ),
            Fate::Failed(message) => format!("dropped: a run failed: {message}"),
            Fate::Screened(after) => {
                format!("left out by the screening after {after} replications")
            }
        }
    }

    /// Lines of the mean effects of swept values.
    #[must_use]
    pub fn effect_lines(&self) -> Vec<String> {
        let signed = |difference: f64| {
            // Less is better on the scale; the effect is shown on the metric.
            let at = if self.scale.is_highest { -difference } else { difference };
            let at = if self.raw { at } else { libm::expm1(at) };
            if self.raw { significant(at, 3) } else { percent_with_sign(at) }
        };
        let line = |effect: &Effect| {
            let ends = effect.half_width.map_or_else(String::new, |half| {
                format!(" ({} to {})", signed(effect.effect - half), signed(effect.effect + half))
            });
            format!("  {} = {}: {}{ends}", effect.key, effect.value, signed(effect.effect))
        };
        self.effects.iter().map(line).collect()
    }

    /// The outcome as one object.
    #[must_use]
    pub fn json(&self) -> Json {
        let distance = |difference: f64| {
            let distance = self.scale.distance(difference);
            if distance.is_finite() { json!(distance) } else { Json::Null }
        };
        let swept = |own: usize| -> Map<String, Json> {
            let swept = &self.candidates[own].swept;
            let word = |value: &Value| serde_json::to_value(value).unwrap_or(Json::Null);
            swept.iter().map(|(key, value)| (key.clone(), word(value))).collect()
        };
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
            "effects": self.effects.iter().map(|effect| json!({
                "key": effect.key, "value": effect.value, "effect": distance(effect.effect),
                "low": effect.half_width.map(|half| distance(effect.effect - half)),
                "high": effect.half_width.map(|half| distance(effect.effect + half)),
                "candidates": effect.candidates,
            })).collect::<Vec<_>>(),
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

/// The sentence if no candidate can be chosen.
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
        // Nearest: least largest excess relative to the limit.
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
             `--metric carried_load`"
        ),
    })
}

/// Number of parameters in the swept values of a candidate; candidates with fewer count as simpler.
fn words(raced: &Raced<'_>, own: usize) -> usize {
    fn parameters(value: &Value) -> usize {
        match value {
            Value::Table(table) => table.values().map(|inner| 1 + parameters(inner)).sum(),
            _ => 0,
        }
    }
    raced.points[own].swept.iter().map(|(_, value)| parameters(value)).sum()
}

/// Numbers of pairs at which the race is shown: a few, those at which a candidate is dropped, and
/// its end.
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

/// Differences from the winner at some numbers of pairs, where the interval is finite.
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

/// Mean effect of each value of each swept key, over the replications that all candidates have.
fn effects(raced: &Raced<'_>, race: &Race) -> Vec<Effect> {
    let counts = |fate: &Fate| !matches!(fate, Fate::Growing | Fate::Failed(_));
    let fit: Vec<usize> =
        (0..raced.points.len()).filter(|&own| counts(&race.fates()[own])).collect();
    let shared = fit.iter().map(|&own| race.values(own).len()).min().unwrap_or(0);
    let study: &Study = raced.study;
    let mut effects = Vec::new();
    for axis in study.sweep.iter().filter(|axis| axis.values.len() > 1) {
        let names = short(&axis.key, &axis.values.iter().collect::<Vec<_>>());
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
            let each: Vec<f64> =
                (0..shared).map(|row| centre(&with, row) - centre(&fit, row)).collect();
            let Some(effect) = mean(&each) else { continue };
            effects.push(Effect {
                key: axis.key.clone(),
                value: name,
                effect,
                half_width: half_width(&each),
                candidates: with.len() as u64,
            });
        }
    }
    effects
}

/// Standardised third moment.
fn skewness(values: &[f64]) -> f64 {
    let Some(mean) = mean(values) else { return 0.0 };
    let n = values.len() as f64;
    let moment = |power: i32| values.iter().map(|x| (x - mean).powi(power)).sum::<f64>() / n;
    let variance = moment(2);
    if variance > 0.0 { moment(3) / variance.powf(1.5) } else { 0.0 }
}

fn percent(share: f64) -> String {
    format!("{} %", significant(100.0 * share, 2.max(digits(share))))
}

/// Digits of a share that show whole percents.
fn digits(share: f64) -> i32 {
    if share.abs() >= 1.0 { 3 } else { 2 }
}

fn percent_with_sign(share: f64) -> String {
    let sign = if share < 0.0 { "-" } else { "+" };
    format!("{sign}{}", percent(share.abs()))
}

fn p_value(p: f64) -> String {
    if p < 1e-4 { "< 0.0001".to_owned() } else { format!("= {}", significant(p, 2)) }
}
