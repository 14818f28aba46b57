//! Part of a report about a choice by `meshwork choose`: race, candidates, effects and trade-off.
//!
//! The outcome is in `choice.json`. Candidates that were dropped have fewer replications. So this
//! part replaces the usual figures, which assume equal numbers of replications.

use std::path::Path;

use serde::Deserialize;

use super::facts::notes_on_networks;
use super::finding::SummarySentence;
use super::views::{Figure, FigureChoice, FigureView, Key, Scale, Series, Style};
use super::{Content, ReportTable, Section, TableCell, figures};
use crate::caption::title;
use meshwork_lab::choose::CHOICE;
use meshwork_lab::files::{MAX_RECORDS, read_whole};
use meshwork_lab::findings::columns::Meanings;
use meshwork_lab::study::axes::PlotAxis;
use meshwork_lab::study::clock::Clock;
use meshwork_lab::text::number::{count, significant};

const MAX_LINES: usize = 6;

/// Minimum number of lines in a plot that leaves out the candidates that were dropped first.
const MIN_LINES: usize = 2;

/// Ratio of the largest to the smallest value above which an axis of the trade-off is logarithmic.
const SPREAD: f64 = 4.0;

const MAX_ROWS: usize = 500;

#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct StoredChoice {
    study: String,
    metric: String,
    second: Option<String>,
    scale: String,
    confidence: f64,
    within: Option<f64>,
    choice: Option<ChosenCandidate>,
    baseline: ChosenCandidate,
    looks: Vec<StoredLook>,
    candidates: Vec<StoredCandidate>,
    effects: Vec<StoredEffect>,
    sentences: Vec<String>,
    confirmed: Option<bool>,
    options: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
struct ChosenCandidate {
    scenario: usize,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
struct StoredLook {
    pairs: u64,
    racing: u64,
    bound: Option<f64>,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
struct StoredCandidate {
    scenario: usize,
    label: String,
    fate: String,
    says: String,
    replications: u64,
    mean: Option<f64>,
    second: Option<f64>,
    /// Comparisons with the chosen candidate. Each has the number of pairs of runs, the mean
    /// difference, and the two ends of its interval.
    course: Vec<(u64, Option<f64>, Option<f64>, Option<f64>)>,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
struct StoredEffect {
    key: String,
    value: String,
    effect: Option<f64>,
    low: Option<f64>,
    high: Option<f64>,
    /// Number of replications from which the mean effect was computed; 0 in a file of an older
    /// version.
    #[serde(default)]
    replications: u64,
}

impl StoredChoice {
    /// Reads the outcome of a choice; `None` if `folder` has no outcome for this study.
    pub(super) fn read(folder: &Path, study: &str) -> Option<StoredChoice> {
        let path = folder.join(CHOICE);
        let bytes = read_whole(&path.display().to_string(), &path, MAX_RECORDS).ok()?;
        serde_json::from_slice(&bytes).ok().filter(|own: &StoredChoice| own.study == study)
    }

    fn is_raw(&self) -> bool {
        self.scale == "raw"
    }

    fn kind_of_mean(&self) -> &'static str {
        if self.is_raw() { "mean" } else { "geometric mean" }
    }

    fn is_chosen(&self, candidate: &StoredCandidate) -> bool {
        self.choice.as_ref().is_some_and(|own| own.scenario == candidate.scenario)
    }

    /// Candidates from best to worst: the chosen one, others still in the race, then dropped
    /// candidates.
    fn ranked(&self) -> Vec<&StoredCandidate> {
        let fates = ["racing", "beaten", "unfit", "growing", "failed", "screened"];
        let rank = |own: &StoredCandidate| fates.iter().position(|fate| *fate == own.fate);
        let mut all: Vec<&StoredCandidate> = self.candidates.iter().collect();
        let last = |own: &StoredCandidate| own.course.last().and_then(|last| last.1);
        all.sort_by(|a, b| {
            (self.is_chosen(b).cmp(&self.is_chosen(a)))
                .then(rank(a).cmp(&rank(b)))
                .then(b.replications.cmp(&a.replications))
                .then(last(a).unwrap_or(f64::INFINITY).total_cmp(&last(b).unwrap_or(f64::INFINITY)))
                .then(a.scenario.cmp(&b.scenario))
        });
        all
    }

    pub(super) fn sample(&self) -> Vec<usize> {
        let choice = self.choice.as_ref().map(|own| own.scenario);
        let mut both: Vec<usize> = choice.into_iter().chain([self.baseline.scenario]).collect();
        both.dedup();
        both.into_iter().filter_map(|scenario| scenario.checked_sub(1)).collect()
    }

    pub(super) fn put_into(&self, section: &mut Section, content: &Content) {
        let (id, clock) = (section.id.clone(), section.clock.clone());
        let meanings = Meanings::of(&content.study.catalogue);
        let axes = PlotAxis::all(&content.study);
        section.figures = [
            self.race(&id, &axes),
            self.left(&id),
            self.effects(&id),
            self.trade_off(&id, &axes, &clock, &meanings),
        ]
        .into_iter()
        .flatten()
        .collect();
        section.tables = vec![self.table(&clock, &meanings)];
        let mut sentences = self.sentences.iter();
        let result: Vec<&str> = sentences.by_ref().take(2).map(String::as_str).collect();
        section.findings = vec![SummarySentence {
            text: result.join(" "),
            is_clear: self.confirmed != Some(false),
            at: Vec::new(),
        }];
        section.notes = sentences.cloned().collect();
        section.notes.splice(..0, notes_on_networks(content));
        section.warnings.clear();
        section.growing.clear();
        if let (Some(runs), Some(cost)) = (section.facts.first_mut(), section.notes.pop()) {
            runs.text = cost;
        }
        let words: Vec<String> =
            self.options.iter().map(|word| super::facts::quoted(word)).collect();
        let command = section.command.replacen("meshwork run ", "meshwork choose ", 1);
        section.command = [command, words.join(" ")].join(" ").trim_end().to_owned();
    }

    /// Figure of the differences of the best candidates from the chosen one, with intervals.
    fn race(&self, section: &str, axes: &[PlotAxis]) -> Option<Figure> {
        let mut shown: Vec<&StoredCandidate> = self
            .ranked()
            .into_iter()
            .filter(|own| !self.is_chosen(own) && own.course.len() > 1)
            .take(MAX_LINES)
            .collect();
        // Candidates that are dropped first are far off: they would flatten all other lines.
        let end = |own: &&StoredCandidate| own.course.last().map_or(0, |last| last.0);
        let first = self.candidates.iter().map(|own| end(&own)).filter(|&end| end > 0).min();
        if shown.iter().filter(|own| Some(end(own)) > first).count() >= MIN_LINES {
            shown.retain(|own| Some(end(own)) > first);
        }
        let line = |(colour, own): (usize, &&StoredCandidate)| {
            let mut line = Series { name: name(own, axes), colour, ..Series::default() };
            for &(pairs, mean, low, high) in &own.course {
                let (Some(mean), Some(low)) = (mean, low) else { continue };
                line.x.push(pairs as f64);
                line.mean.push(mean);
                if self.is_raw() {
                    line.half.push(high.map(|high| (high - low) / 2.0));
                } else {
                    line.percent.push((
                        100.0 * mean,
                        Some(100.0 * low),
                        high.map(|high| 100.0 * high),
                    ));
                }
            }
            line
        };
        let series: Vec<Series> = shown.iter().enumerate().map(line).collect();
        let mut grid: Vec<f64> = series.iter().flat_map(|line| line.x.clone()).collect();
        grid.sort_by(f64::total_cmp);
        grid.dedup();
        let others = self.candidates.len() - 1;
        let which = if shown.len() < others {
            format!(
                ", of the {} of {} others that lasted longest",
                shown.len(),
                count(others as u64)
            )
        } else {
            String::new()
        };
        let sentence = format!(
            "How much worse than the choice each candidate is{which}, after each number of pairs. Whiskers are intervals \
             that all hold at once and at every number, with {} % confidence. A line ends, at its last mark, \
             where its candidate was dropped.",
            significant(100.0 * self.confidence, 4)
        );
        let y = Scale {
            label: "Worse than the choice".to_owned(),
            key: self.metric.clone(),
            ..Scale::default()
        };
        let view = FigureView {
            differences: true,
            colour: Some(Key { label: keys(axes), key: "candidate".to_owned() }),
            series,
            fixed: true,
            ..self.view("The race", &sentence, Style::Lines, pairs(grid), y)
        };
        let is_empty = view.series.is_empty();
        (!is_empty).then(|| figure(section, "race", "The race", Vec::new(), vec![view]))
    }

    /// Figure of the race: the number of remaining candidates, and the guaranteed bound.
    ///
    /// The x axis has the number of pairs of replications.
    fn left(&self, section: &str) -> Option<Figure> {
        let steps = |value: &dyn Fn(&StoredLook) -> Option<f64>| {
            let mut line = Series::default();
            for look in &self.looks {
                if let Some(value) = value(look) {
                    line.x.push(look.pairs as f64);
                    line.mean.push(value);
                }
            }
            line
        };
        let unit = if self.is_raw() { 1.0 } else { 100.0 };
        let lines = [
            (
                "Candidates left",
                "",
                "How many candidates are in the race after each number of pairs.".to_owned(),
                steps(&|look| Some(look.racing as f64)),
            ),
            (
                "Certain bound",
                if self.is_raw() { "" } else { "%" },
                format!(
                    "How much worse than the best the leader is, at most, with {} % confidence: what was guaranteed \
                     after each number of pairs.",
                    significant(100.0 * self.confidence, 4)
                ),
                steps(&|look| look.bound.map(|bound| unit * bound)),
            ),
        ];
        let mut views = Vec::new();
        let mut values = Vec::new();
        for (title, unit, sentence, line) in lines {
            if line.x.len() < 2 {
                continue;
            }
            let y = Scale {
                label: title.to_owned(),
                key: title.to_owned(),
                unit: unit.to_owned(),
                ..Scale::default()
            };
            let at = vec![Some(values.len())];
            let series = vec![line];
            let view = self.view(title, &sentence, Style::Steps, pairs(Vec::new()), y);
            views.push(FigureView { at, series, ..view });
            values.push(title.to_owned());
        }
        let choices = vec![FigureChoice { key: Key::of("shown"), values, first: 0 }];
        (!views.is_empty())
            .then(|| figure(section, "left", "The course of the race", choices, views))
    }

    fn effects(&self, section: &str) -> Option<Figure> {
        let mut keys: Vec<&str> = Vec::new();
        for effect in &self.effects {
            if !keys.contains(&&*effect.key) {
                keys.push(&effect.key);
            }
        }
        let mut views = Vec::new();
        for (number, key) in keys.iter().enumerate() {
            let own: Vec<&StoredEffect> =
                self.effects.iter().filter(|effect| effect.key == **key).collect();
            let mut line = Series::default();
            for (place, effect) in own.iter().enumerate() {
                let Some(mean) = effect.effect else { continue };
                line.x.push(place as f64);
                line.mean.push(mean);
                if self.is_raw() {
                    let half =
                        effect.low.zip(effect.high).map(|(low, high)| (high - low).abs() / 2.0);
                    line.half.push(half);
                } else {
                    let [low, high] =
                        [effect.low, effect.high].map(|end| end.map(|end| 100.0 * end));
                    line.percent.push((100.0 * mean, low, high));
                }
            }
            let replications = match own.iter().map(|effect| effect.replications).max() {
                Some(first @ 1..) => format!("the first {} replications, which", count(first)),
                _ => "the replications that".to_owned(),
            };
            let sentence = format!(
                "{}: how far the {} of the candidates with each value of {} is from that of all values, over {replications} \
                 all candidates have. Whiskers are ordinary 95 % intervals over these replications, one for each value: \
                 unlike those of the race they need not hold at once, nor at every number of replications. Combinations \
                 in which a value makes the queue grow are left out.",
                title(&self.metric),
                self.kind_of_mean(),
                figures::word(key)
            );
            let x = Scale {
                label: figures::word(key),
                key: (*key).to_owned(),
                names: own.iter().map(|effect| effect.value.clone()).collect(),
                ..Scale::default()
            };
            let y =
                Scale { label: title(&self.metric), key: self.metric.clone(), ..Scale::default() };
            let view = self.view("Effects", &sentence, Style::Rows, x, y);
            views.push(FigureView {
                at: vec![Some(number)],
                differences: true,
                series: vec![line],
                ..view
            });
        }
        let values = keys.iter().map(|key| figures::word(key)).collect();
        let choices = vec![FigureChoice { key: Key::of("key"), values, first: 0 }];
        (!views.is_empty())
            .then(|| figure(section, "effects", "What each value does on average", choices, views))
    }

    fn trade_off(
        &self,
        section: &str,
        axes: &[PlotAxis],
        clock: &Clock,
        meanings: &Meanings,
    ) -> Option<Figure> {
        let second = self.second.as_ref()?;
        let states = ["the choice", "survives", "dropped"];
        let mut series: Vec<Series> = states
            .iter()
            .enumerate()
            .map(|(colour, name)| Series { name: (*name).to_owned(), colour, ..Series::default() })
            .collect();
        for own in self.ranked() {
            let (Some(mean), Some(other)) = (own.mean, own.second) else { continue };
            let state = match own.fate.as_str() {
                _ if self.is_chosen(own) => 0,
                "racing" => 1,
                _ => 2,
            };
            series[state].x.push(shown(other, second, clock, meanings));
            series[state].mean.push(shown(mean, &self.metric, clock, meanings));
            series[state].labels.push(name(own, axes));
        }
        series.retain(|line| !line.x.is_empty());
        let scale = |metric: &str, numbers: Vec<f64>| Scale {
            label: title(metric),
            key: metric.to_owned(),
            unit: clock.on_axis(meanings.unit(metric)),
            log: is_spread(&numbers),
            ..Scale::default()
        };
        let x = scale(second, series.iter().flat_map(|line| line.x.clone()).collect());
        let y = scale(&self.metric, series.iter().flat_map(|line| line.mean.clone()).collect());
        let kind = self.kind_of_mean();
        let sentence = format!(
            "Each mark is a candidate: the {kind} of {} and the mean of {}, over its replications. Marks have the values of \
             {} beside them where there is space.",
            title(&self.metric),
            title(second),
            keys(axes)
        );
        let view = FigureView {
            colour: Some(Key { label: "candidate".to_owned(), key: "fate".to_owned() }),
            series,
            ..self.view("The trade-off", &sentence, Style::Points, x, y)
        };
        let is_empty = view.series.is_empty();
        (!is_empty).then(|| figure(section, "trade-off", "The trade-off", Vec::new(), vec![view]))
    }

    fn view(&self, title: &str, sentence: &str, style: Style, x: Scale, y: Scale) -> FigureView {
        FigureView {
            title: format!("{}: {}", self.study, title.to_lowercase()),
            sentence: sentence.to_owned(),
            style,
            x,
            y,
            ..FigureView::default()
        }
    }

    fn table(&self, clock: &Clock, meanings: &Meanings) -> ReportTable {
        let names = std::iter::once(&self.metric).chain(&self.second);
        let mut columns =
            vec![("candidate".to_owned(), String::new()), ("runs".to_owned(), String::new())];
        columns.extend(names.clone().map(|name| {
            let unit = clock.unit(meanings.unit(name));
            let name_and_unit = if unit.is_empty() || unit == "time" {
                name.clone()
            } else {
                format!("{name} ({unit})")
            };
            (name_and_unit, meanings.summary(name).to_owned())
        }));
        columns.push(("fate".to_owned(), String::new()));
        let all = self.ranked();
        let row = |own: &&StoredCandidate| {
            // The outcomes refer to candidates by these numbers.
            let label = format!("#{} {}", own.scenario, own.label);
            let mut row =
                vec![TableCell::of(label, false), TableCell::of(count(own.replications), true)];
            let values = [own.mean, own.second];
            row.extend(names.clone().zip(values).map(|(name, value)| {
                let text = value.map(|value| significant(shown(value, name, clock, meanings), 4));
                TableCell::of(text.unwrap_or_else(|| "-".to_owned()), true)
            }));
            row.push(TableCell::of(own.says.clone(), false));
            row
        };
        let within = match self.within {
            Some(within) if !self.is_raw() => {
                format!(", with an indifference zone of {} %", significant(100.0 * within, 2))
            }
            _ => String::new(),
        };
        ReportTable {
            title: "Candidates".to_owned(),
            caption: format!(
                "The candidates and what became of them{within}; {}s",
                self.kind_of_mean()
            ),
            file: CHOICE,
            columns,
            keys: 1,
            rows: all.iter().take(MAX_ROWS).map(row).collect(),
            more: all.len().saturating_sub(MAX_ROWS),
        }
    }
}

/// Whether a linear scale would hide the smallest of the numbers.
fn is_spread(numbers: &[f64]) -> bool {
    let least = numbers.iter().copied().fold(f64::INFINITY, f64::min);
    least > 0.0 && numbers.iter().any(|&number| number > SPREAD * least)
}

/// Short name of a candidate: its values of all keys that have several values in the study.
fn name(own: &StoredCandidate, axes: &[PlotAxis]) -> String {
    let places = PlotAxis::places(axes, own.scenario);
    let values = axes.iter().zip(places).filter(|(axis, _)| axis.count() > 1);
    let values: Vec<&str> =
        values.filter_map(|(axis, place)| axis.labels.get(place)).map(String::as_str).collect();
    if values.is_empty() { own.label.clone() } else { values.join(", ") }
}

/// Names of the swept keys whose values form the [`name`] of a candidate, in the order of the
/// values.
fn keys(axes: &[PlotAxis]) -> String {
    let keys = axes.iter().filter(|axis| axis.count() > 1).map(|axis| figures::word(&axis.key));
    keys.collect::<Vec<_>>().join(", ")
}

fn shown(value: f64, metric: &str, clock: &Clock, meanings: &Meanings) -> f64 {
    value * clock.scale(meanings.unit(metric))
}

fn pairs(grid: Vec<f64>) -> Scale {
    Scale {
        label: "Pairs of replications".to_owned(),
        key: "pairs".to_owned(),
        grid,
        ..Scale::default()
    }
}

fn figure(
    section: &str,
    name: &str,
    heading: &str,
    choices: Vec<FigureChoice>,
    views: Vec<FigureView>,
) -> Figure {
    Figure { id: format!("{section}-{name}"), heading: heading.to_owned(), choices, views }
}

#[cfg(test)]
mod tests {
    use meshwork::catalogue::Catalogue;

    use super::*;

    #[test]
    fn times_and_rates_are_shown_in_the_unit_of_the_page() {
        let clock = Clock { unit: Some("hours"), factor: 3600.0, start: None };
        let meanings = Meanings::of(&Catalogue::standard());
        let shown = |value, metric| shown(value, metric, &clock, &meanings);
        assert!((shown(7200.0, "wait") - 2.0).abs() < 1e-9);
        assert!((shown(0.5, "throughput") - 1800.0).abs() < 1e-9);
        assert!((shown(0.5, "utilization") - 0.5).abs() < 1e-9);
    }
}
