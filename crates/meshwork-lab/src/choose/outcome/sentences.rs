//! Outcome of a choice as text: sentences, the rows of a table of candidates, and a summary row.

use super::{ChoiceOutcome, Effect, RaceEnd};
use crate::choose::confirm::Gain;
use crate::choose::race::Fate;
use crate::statistics::Interval;
use crate::statistics::sequence::Wins;
use crate::text::number::{count, plural, significant};

impl ChoiceOutcome {
    /// Text of a distance between candidates: `3.1 %`, or a plain number if raw values are
    /// compared.
    fn distance(&self, difference: f64) -> String {
        let distance = self.scale.distance(difference);
        if self.raw { significant(distance, 3) } else { percent(distance) }
    }

    fn change(&self, change: f64) -> String {
        if change == 0.0 {
            return "equal".to_owned();
        }
        let word = if change < 0.0 { "lower" } else { "higher" };
        let size = if self.raw { significant(change.abs(), 3) } else { percent(change.abs()) };
        format!("{size} {word}")
    }

    fn gain(&self, gain: &Gain) -> String {
        let ends = match gain.ends {
            Some([0.0, 0.0]) => String::new(),
            ends => interval(ends, |change| self.change(change)),
        };
        format!("on {} {} is {}{ends}", gain.on, self.metric, self.change(gain.change))
    }

    /// Cells of a table row: recommended candidate, bound, change on fresh data, and number of
    /// runs.
    ///
    /// The change is relative to the baseline.
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

    fn signed(&self, change: f64) -> String {
        if self.raw { significant(change, 3) } else { percent_with_sign(change) }
    }

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
            let is_tie = self.equal.iter().all(|&own| self.candidates[own].bound == Some(0.0));
            let within = match is_tie {
                true => String::new(),
                false => format!(" within {}", self.distance(self.within)),
            };
            all.push(format!(
                "These {} are equal{within}: {}{more}.",
                self.equal.len(),
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
            all.push(
                match (self.is_stopped_early, self.is_kept) {
                    (true, true) => {
                        "The gain is not measured on fresh replications yet: the same command continues."
                    }
                    (true, false) => {
                        "The gain is not measured on fresh replications: nothing is kept without `--out`."
                    }
                    (false, _) => {
                        "The gain is not measured again: windows of a log have no fresh replications."
                    }
                }
                .to_owned(),
            );
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
                        let change = percent_with_sign(class.change);
                        format!("{} ({} {change})", class.words(), class.metric)
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
            let equal = match equal {
                0 => String::new(),
                equal => format!(" and equals {}", count(equal)),
            };
            all.push(format!(
                "Of the {} in the race, it wins {won}{equal} (anytime-valid sign test: p {}).",
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

    /// Sentence that states the guarantee, or the reason why there is none yet.
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
        let extreme = if self.scale.is_highest { "highest" } else { "lowest" };
        let within = match bound > 0.0 {
            true => format!("within {} of the {extreme}", self.distance(bound)),
            false => format!("the {extreme}"),
        };
        format!(
            "With {confidence} confidence, its {of} {} is {within} of {among}{limits}{except}{more}.",
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

    /// Heading of a metric's column in the table of candidates, with the unit: `wait, hours`.
    pub fn header(&self, metric: &str) -> String {
        match self.meanings.unit(metric) {
            unit @ ("time" | "jobs per time") if self.clock.unit.is_some() => {
                format!("{metric}, {}", self.clock.unit(unit))
            }
            _ => metric.to_owned(),
        }
    }

    /// Rows of the table of candidates, the recommended one first, then by state and mean.
    ///
    /// The cells are number, label, replications, mean of the metric, mean of the second metric,
    /// and state.
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
        let number = |mean: Option<f64>, metric: &str| {
            let unit = self.meanings.unit(metric);
            let own = Interval { mean, half_width: None, replications: 0, method: None };
            let shown = self.clock.shown(own, unit).mean;
            shown.map_or_else(|| "-".to_owned(), |mean| significant(mean, 4))
        };
        let second = self.second.as_deref().unwrap_or_default();
        let row = |own: usize| {
            let candidate = &self.candidates[own];
            [
                format!("#{}", own + 1),
                candidate.label.clone(),
                count(candidate.replications),
                number(candidate.mean, &self.metric),
                number(candidate.second, second),
                self.fate(own),
            ]
        };
        order.into_iter().map(row).collect()
    }

    pub(super) fn fate(&self, own: usize) -> String {
        let candidate = &self.candidates[own];
        match &candidate.fate {
            Fate::Racing if Some(own) == self.recommended => "chosen".to_owned(),
            Fate::Racing => match candidate.bound {
                Some(0.0) => "survives, and none is better".to_owned(),
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

    /// Ends of the confidence interval of an effect, lower end first, as changes of the metric.
    pub(super) fn effect_ends(&self, effect: &Effect) -> Option<[f64; 2]> {
        let half = effect.half_width?;
        let mut ends = [effect.effect - half, effect.effect + half].map(|at| self.scale.change(at));
        ends.sort_by(f64::total_cmp);
        Some(ends)
    }

    pub fn effect_lines(&self) -> Vec<String> {
        let line = |effect: &Effect| {
            let ends = self.effect_ends(effect).map_or_else(String::new, |[low, high]| {
                format!(" ({} to {})", self.signed(low), self.signed(high))
            });
            let change = self.signed(self.scale.change(effect.effect));
            format!("  {} = {}: {change}{ends}", effect.key, effect.value)
        };
        let Some(first) = self.effects.first() else { return Vec::new() };
        let sentence = format!(
            "mean effect of each value on {}, from the mean of all, over the first {} replications; 95 % intervals, each for \
             itself:",
            self.metric,
            count(first.replications)
        );
        std::iter::once(sentence).chain(self.effects.iter().map(line)).collect()
    }
}

/// Text of the 95 % interval of a change. If there are too few batches, an end may be infinite.
fn interval(ends: Option<[f64; 2]>, change: impl Fn(f64) -> String) -> String {
    match ends.map(|ends| ends.map(|end| Some(end).filter(|end| end.is_finite()))) {
        Some([Some(low), Some(high)]) => {
            format!(", 95 % interval {} to {}", change(low), change(high))
        }
        Some([Some(low), None]) => {
            format!(", 95 % interval from {} on, without an upper end", change(low))
        }
        Some([None, Some(high)]) => {
            format!(", 95 % interval up to {}, without a lower end", change(high))
        }
        _ => ", without an interval: too little data".to_owned(),
    }
}

fn percent(share: f64) -> String {
    format!("{} %", significant(100.0 * share, 2.max(digits(share))))
}

/// Significant digits of a percentage: 3 from 100 % on, otherwise 2.
fn digits(share: f64) -> i32 {
    if share.abs() >= 1.0 { 3 } else { 2 }
}

fn percent_with_sign(share: f64) -> String {
    let sign = match share {
        0.0 => "",
        _ if share < 0.0 => "-",
        _ => "+",
    };
    format!("{sign}{}", percent(share.abs()))
}

fn p_value(p: f64) -> String {
    if p < 1e-4 { "< 0.0001".to_owned() } else { format!("= {}", significant(p, 2)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_infinite_end_is_said_in_words() {
        let words = |ends| interval(ends, |change| format!("{change}"));
        assert_eq!(words(Some([-0.5, 0.25])), ", 95 % interval -0.5 to 0.25");
        let open = [(-0.5, f64::INFINITY), (f64::NEG_INFINITY, 0.25)];
        let open = open.map(|(low, high)| words(Some([low, high])));
        assert_eq!(open[0], ", 95 % interval from -0.5 on, without an upper end");
        assert_eq!(open[1], ", 95 % interval up to 0.25, without a lower end");
        assert!(words(None).ends_with("too little data"));
    }
}
