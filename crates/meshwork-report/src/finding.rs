//! Summary sentences of a study: the best values, their lead over others, and its significance.

use serde::Serialize;

use super::caption::title;
use super::figures::{claimed, word};
use meshwork_lab::findings::columns::{HIGHEST, value};
use meshwork_lab::findings::notes::is_ideal;
use meshwork_lab::findings::summary::Summary;
use meshwork_lab::findings::{ROUNDING, Ratio, ratio};
use meshwork_lab::run::{Results, ScenarioRuns};
use meshwork_lab::study::Study;
use meshwork_lab::study::axes::{AxisKind, Layout, PlotAxis, every, index};
use meshwork_lab::study::clock::Clock;
use meshwork_lab::study::expand::Point;
use meshwork_lab::study::sample::{compared, held};
use meshwork_lab::text::number::{Rounded, plural, significant};

const MAX_NAMED: usize = 6;

const MAX_METRICS: usize = 4;

const MAX_SETTINGS: usize = 200;

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SummarySentence {
    pub text: String,
    pub is_clear: bool,
    /// Settings of the first figure for which the sentence holds: swept keys with their values.
    pub at: Vec<(String, String)>,
}

struct Lead {
    best: Vec<usize>,
    /// Scenario with the next best mean, and ratio of the best mean to this mean.
    ///
    /// `None` if all means are equal.
    next: Option<(usize, Ratio)>,
}

impl Lead {
    fn is_clear(&self) -> bool {
        self.next.is_none_or(|(_, ratio)| ratio.is_significant())
    }
}

struct Contest<'a> {
    study: &'a Study,
    results: &'a Results,
    summary: &'a Summary,
    clock: &'a Clock,
    metric: &'a str,
    is_highest: bool,
}

/// Summary sentences, one for each setting of the figure's selectors. The initial setting comes
/// first.
pub(super) fn findings(
    study: &Study,
    points: &[Point],
    summary: &Summary,
    results: &Results,
    (metrics, clock): (&[String], &Clock),
) -> Vec<SummarySentence> {
    let axes = PlotAxis::all(study);
    let layout = Layout::of(&axes, None);
    let Some(along) = compared(&axes).or(layout.along) else { return Vec::new() };
    let metric = claimed(study).into_iter().find(|metric| metrics.contains(metric));
    let Some(metric) = metric.as_ref().or_else(|| metrics.first()) else { return Vec::new() };
    let is_overloaded = |scenario: usize| summary.rows.get(scenario).is_some_and(|row| row.growing);
    let chosen: Vec<usize> = layout.chosen.into_iter().filter(|&axis| axis != along).collect();
    let question = Question { study, points, summary, results, metrics, clock, axes: &axes, along };
    let first = question.first_setting(metric, held(&axes, along, &is_overloaded), &chosen);
    let settings = every(&axes, &chosen).take(MAX_SETTINGS).map(|values| {
        let mut at = first.clone();
        chosen.iter().for_each(|&axis| at[axis] = values[axis]);
        at
    });
    let mut settings: Vec<Vec<usize>> = settings.collect();
    settings.sort_by_key(|at| *at != first);
    let nowhere = question.nowhere(metric);
    let finding = |at: &Vec<usize>| {
        let (text, is_clear) = question.answer(metric, at, nowhere.as_deref())?;
        let key = |&axis: &usize| (axes[axis].key.clone(), axes[axis].labels[at[axis]].clone());
        Some(SummarySentence { text, is_clear, at: chosen.iter().map(key).collect() })
    };
    settings.iter().filter_map(finding).collect()
}

/// Values that are written with their key, because alone they would read as plain words.
const PLAIN_WORDS: [&str; 10] =
    ["none", "never", "always", "true", "false", "first", "last", "all", "auto", "exact"];

struct Question<'a> {
    study: &'a Study,
    points: &'a [Point],
    summary: &'a Summary,
    results: &'a Results,
    metrics: &'a [String],
    clock: &'a Clock,
    axes: &'a [PlotAxis],
    along: usize,
}

impl Question<'_> {
    fn contest<'a>(&'a self, metric: &'a str) -> Contest<'a> {
        let Question { study, results, summary, clock, .. } = *self;
        Contest { study, results, summary, clock, metric, is_highest: HIGHEST.contains(&metric) }
    }

    /// Scenarios that differ only in the compared key. All other keys have the values `fixed`.
    fn scenarios(&self, fixed: &[usize]) -> Vec<usize> {
        let mut at = fixed.to_vec();
        let of = |value: usize| {
            at[self.along] = value;
            index(self.axes, &at)
        };
        (0..self.axes[self.along].count()).map(of).collect()
    }

    /// First setting of the keys at which the compared scenarios differ in a metric.
    ///
    /// The setting `at` is tried first. It is also returned if no setting is found.
    fn first_setting(&self, metric: &str, at: Vec<usize>, chosen: &[usize]) -> Vec<usize> {
        let differ = |at: &[usize]| {
            let lead = self.contest(metric).lead(&self.scenarios(at));
            lead.is_some_and(|lead| lead.next.is_some())
        };
        if differ(&at) {
            return at;
        }
        let others = (0..self.axes.len()).filter(|axis| *axis != self.along);
        let others: Vec<usize> = others.filter(|axis| !chosen.contains(axis)).collect();
        let mut settings = every(self.axes, &others).take(MAX_SETTINGS).map(|values| {
            let mut other = at.clone();
            others.iter().for_each(|&axis| other[axis] = values[axis]);
            other
        });
        settings.find(|other| differ(other)).unwrap_or_else(|| at.clone())
    }

    fn name(&self, among: &[usize], scenario: usize) -> String {
        let axis = &self.axes[self.along];
        let place = among.iter().position(|&other| other == scenario).unwrap_or_default();
        let label = &axis.labels[place];
        let is_number = matches!(axis.kind, AxisKind::Numbers(_)) || label.parse::<f64>().is_ok();
        match is_number || PLAIN_WORDS.contains(&label.as_str()) {
            true => format!("{} = {label}", word(&axis.key)),
            false => label.clone(),
        }
    }

    /// Indices of the swept keys other than the compared one, and a text on their values.
    ///
    /// The text is like `values of load`, or like `combinations of load and seed`.
    fn others(&self) -> (Vec<usize>, String) {
        let is_other = |&i: &usize| i != self.along && self.axes[i].count() > 1;
        let others: Vec<usize> = (0..self.axes.len()).filter(is_other).collect();
        let keys: Vec<String> = others.iter().map(|&axis| word(&self.axes[axis].key)).collect();
        let of = match &keys[..] {
            [key] => format!("values of {key}"),
            keys => format!("combinations of {}", joined(keys)),
        };
        (others, of)
    }

    /// Sentence on the best scenarios in one setting. The flag tells whether their lead is
    /// significant.
    fn answer(&self, metric: &str, at: &[usize], nowhere: Option<&str>) -> Option<(String, bool)> {
        let (axes, contest) = (self.axes, self.contest(metric));
        let axis = &axes[self.along];
        let among = self.scenarios(at);
        let name = |scenario: usize| self.name(&among, scenario);
        let (others, of) = self.others();
        let (lead, ranked) = (contest.lead(&among)?, contest.ranked(&among));
        let is_compared = compared(axes) == Some(self.along);
        let (mut text, is_clear) = if is_compared || lead.next.is_none() {
            (contest.sentence(&lead, &among, &name), lead.is_clear())
        } else {
            let (text, is_clear) = contest.span(&among, &name)?;
            let open = contest.not_worse(&lead, &ranked, &text, &name);
            (text + &open + &self.elsewhere_best(&contest, &among, &name), is_clear)
        };
        if is_compared {
            text += &self
                .compared_with_baseline(&contest, &lead, (&among, &name), &text)
                .unwrap_or_default();
            text += &contest.not_worse(&lead, &ranked, &text, &name);
        }
        let refusals = self.refusals(&lead, &among, &name);
        if let Some(nowhere) = nowhere {
            return Some((nowhere.to_owned() + &refusals, false));
        }
        let overload = contest.overload(&among, &name);
        let is_clear = is_clear && refusals.is_empty() && overload.is_empty();
        text += &refusals;
        text += &overload;
        let is_ideal = |&scenario: &usize| self.points.get(scenario).is_some_and(is_ideal);
        if lead.next.is_none() && axis.key == "allocator" && among.iter().all(is_ideal) {
            text += " On an ideal network the place of a job costs nothing.";
        }
        let place = self.place(&others, at);
        if !place.is_empty() {
            // A name at the beginning stays as it is.
            let is_name = text.starts_with(&listed(&lead.best, &name));
            let first = if is_name { text[..1].to_owned() } else { text[..1].to_lowercase() };
            text = format!("At {place}, {first}{}", &text[1..]);
        }
        if is_compared && !others.is_empty() {
            let settings = every(axes, &others).map(|at| self.scenarios(&at));
            text += &contest.elsewhere((&lead, &of), &among, &name, settings);
        }
        Some((text, is_clear))
    }

    /// Formats some swept keys with their values, such as `load = 0.4, scheduler = easy`.
    fn place(&self, others: &[usize], at: &[usize]) -> String {
        let word = |&axis: &usize| {
            let PlotAxis { key, labels, .. } = &self.axes[axis];
            format!("{} = {}", word(key), labels[at[axis]])
        };
        others.iter().map(word).collect::<Vec<_>>().join(", ")
    }

    /// Returns the sentence that no setting has a significant difference between the scenarios.
    ///
    /// The sentence names the largest difference. The result is `None` if the scenarios differ
    /// significantly in a setting.
    fn nowhere(&self, metric: &str) -> Option<String> {
        let (contest, (others, of)) = (self.contest(metric), self.others());
        if compared(self.axes) != Some(self.along) {
            return None;
        }
        let mut largest: Option<(Ratio, String)> = None;
        let mut settings = 0;
        for at in every(self.axes, &others) {
            let among = self.scenarios(&at);
            let ranked = contest.ranked(&among);
            if contest.differ(&ranked)? {
                return None;
            }
            let [best, .., last] = ranked[..] else { continue };
            settings += 1;
            let Some(ratio) = contest.ratio(best, last) else { continue };
            let size = |ratio: &Ratio| (ratio.mean - 1.0).abs();
            if largest.as_ref().is_none_or(|(found, _)| size(&ratio) > size(found)) {
                let (best, last) = (self.name(&among, best), self.name(&among, last));
                let (place, by) = (self.place(&others, &at), contest.apart(&ratio, &last));
                let undecided = contest.undecided(&ratio, &last);
                largest = Some((ratio, format!("{place}, where {best} is {by}.{undecided}")));
            }
        }
        let is_any = |(ratio, _): &(Ratio, String)| (ratio.mean - 1.0).abs() > ROUNDING;
        let (_, words) = largest.filter(|own| settings > 1 && is_any(own))?;
        let metric = title(metric).to_lowercase();
        Some(format!(
            "No significant difference in {metric} at any of {settings} {of}; the largest is at {words}"
        ))
    }

    fn compared_with_baseline(
        &self,
        contest: &Contest<'_>,
        lead: &Lead,
        (among, name): (&[usize], &dyn Fn(usize) -> String),
        text: &str,
    ) -> Option<String> {
        let key = &self.axes[self.along].key;
        let baseline = self.study.compare.iter().find(|own| own.key == *key)?;
        let axis = self.study.sweep.iter().find(|own| own.key == *key)?;
        let base = among[axis.values.iter().position(|value| *value == baseline.value)?];
        let words = name(base);
        let is_said =
            ["below", "above"].iter().any(|side| text.contains(&format!("{side} {words}")));
        if lead.next.is_none() || lead.best.contains(&base) || is_said {
            return None;
        }
        let verb = if lead.best.len() > 1 { "They are" } else { "It is" };
        let ratio = contest.ratio(lead.best[0], base)?;
        Some(format!(" {verb} {}.", contest.apart(&ratio, &format!("{words}, the baseline"))))
    }

    /// Sentence on jobs that one scenario refused and another ran. A mean without these jobs may be
    /// too low.
    fn refusals(&self, lead: &Lead, among: &[usize], name: &dyn Fn(usize) -> String) -> String {
        let refused = |scenario: usize| {
            let counts = self.results.runs.get(scenario).map_or(&[][..], ScenarioRuns::refused);
            counts.iter().sum::<u64>().div_ceil(counts.len().max(1) as u64)
        };
        let most = lead.best.iter().copied().max_by_key(|&scenario| refused(scenario));
        let least = among.iter().map(|&scenario| refused(scenario)).min().unwrap_or(0);
        match most.map(|scenario| (name(scenario), refused(scenario))) {
            Some((best, number)) if number > least => format!(
                " But {best} refused {} that another ran, so it has means of fewer jobs.",
                plural(number - least, "job")
            ),
            _ => match among.iter().copied().max_by_key(|&scenario| refused(scenario)) {
                Some(other) if refused(other) > least => format!(
                    " But {} refused {} that {} ran, so the means are not over the same jobs.",
                    name(other),
                    plural(refused(other) - least, "job"),
                    listed(&lead.best, name)
                ),
                _ => String::new(),
            },
        }
    }

    /// Sentence on metrics for which another value of the compared key is best.
    ///
    /// It names only metrics for which the same other value is best.
    fn elsewhere_best(
        &self,
        first: &Contest<'_>,
        among: &[usize],
        name: &dyn Fn(usize) -> String,
    ) -> String {
        let best = first.lead(among).map_or_else(Vec::new, |lead| lead.best);
        let found = self.metrics.iter().filter_map(|metric| {
            let contest = self.contest(metric);
            let own = contest.lead(among)?.best;
            let (_, is_clear) = contest.span(among, name)?;
            let is_elsewhere = is_clear && own.iter().all(|scenario| !best.contains(scenario));
            is_elsewhere.then(|| (own, contest.is_highest, title(metric).to_lowercase()))
        });
        let mut found: Vec<(Vec<usize>, bool, String)> = found.collect();
        let Some((place, ..)) = found.first().cloned() else { return String::new() };
        found.retain(|(own, ..)| *own == place);
        found.truncate(MAX_METRICS);
        let of = |is_highest: bool| -> Option<String> {
            let names = found.iter().filter(|(_, own, _)| *own == is_highest);
            let names: Vec<String> = names.map(|(.., name)| name.clone()).collect();
            let verb = if names.len() > 1 { "are" } else { "is" };
            let extreme = if is_highest { "highest" } else { "lowest" };
            (!names.is_empty()).then(|| format!("{} {verb} {extreme}", joined(&names)))
        };
        let said: Vec<String> = [of(false), of(true)].into_iter().flatten().collect();
        format!(" At {} {}.", listed(&place, name), said.join("; "))
    }
}

impl Contest<'_> {
    fn mean(&self, scenario: usize) -> Option<f64> {
        value(&self.summary.rows.get(scenario)?.metrics, self.metric).mean
    }

    /// Ratio between the means of the metric in two scenarios, computed from pairs of runs.
    fn ratio(&self, one: usize, other: usize) -> Option<Ratio> {
        let found = ratio(self.study, self.results, (one, other), self.metric)?;
        let is_below = self.mean(one)? < self.mean(other)?;
        (is_below == (found.mean < 1.0)).then_some(found)
    }

    /// Whether any two scenarios differ significantly; `None` if there are too few runs to tell.
    fn differ(&self, scenarios: &[usize]) -> Option<bool> {
        for (place, &one) in scenarios.iter().enumerate() {
            for &other in &scenarios[place + 1..] {
                let Some(ratio) = self.ratio(one, other) else { continue };
                ratio.ends?;
                if ratio.is_significant() && !self.is_equal(one, other) {
                    return Some(true);
                }
            }
        }
        Some(false)
    }

    fn is_equal(&self, one: usize, other: usize) -> bool {
        let (Some(one), Some(other)) = (self.mean(one), self.mean(other)) else { return false };
        (one - other).abs() <= ROUNDING * one.abs().max(other.abs())
    }

    /// Scenarios among the given ones that have a mean, from best to worst.
    fn ranked(&self, among: &[usize]) -> Vec<usize> {
        let mut ranked: Vec<(f64, usize)> =
            among.iter().filter_map(|&scenario| Some((self.mean(scenario)?, scenario))).collect();
        let sign = if self.is_highest { -1.0 } else { 1.0 };
        ranked.sort_by(|a, b| (sign * a.0).total_cmp(&(sign * b.0)));
        ranked.into_iter().map(|(_, scenario)| scenario).collect()
    }

    /// Lead of the best of the given scenarios over the next best one.
    ///
    /// It is `None` if fewer than two scenarios have a mean, or if the best ones cannot be
    /// compared.
    fn lead(&self, among: &[usize]) -> Option<Lead> {
        let ranked = self.ranked(among);
        let (&first, _) = ranked.split_first().filter(|(_, rest)| !rest.is_empty())?;
        let is_best = |&scenario: &usize| self.is_equal(first, scenario);
        let mut best: Vec<usize> = ranked.iter().copied().take_while(is_best).collect();
        let next = match ranked.get(best.len()) {
            Some(&next) => Some((next, self.ratio(first, next)?)),
            None => None,
        };
        best.sort_unstable();
        Some(Lead { best, next })
    }

    /// Text that compares a mean to that of `other`: `12 % below easy (95 % interval: 9 to 15 %)`.
    ///
    /// The percentages are computed from the ratio of the means. If its interval is not
    /// informative, the text has the difference of the means in place of the interval.
    fn apart(&self, ratio: &Ratio, other: &str) -> String {
        let side = |ratio: f64| if ratio > 1.0 { "above" } else { "below" };
        let by = format!("{} % {} {other}", percent(ratio.mean), side(ratio.mean));
        let Some([low, high]) = ratio.ends else { return by };
        if !ratio.is_informative() {
            let unit = self.summary.meanings.unit(self.metric);
            let difference = self.clock.shown(ratio.difference, unit);
            let difference = Rounded::new(difference.mean, difference.half_width).signed();
            let half = difference.half_width.unwrap_or_default();
            let unit = match self.clock.unit(unit) {
                shown if shown == unit => String::new(),
                shown => format!(" {shown}"),
            };
            return format!("{by} (difference: {} ± {half}{unit})", difference.mean);
        }
        let interval = match (low > 1.0, high > 1.0) {
            (true, _) if high.is_infinite() => format!("at least {} %", percent(low)),
            (true, _) => format!("{} to {} %", percent(low), percent(high)),
            (false, false) => format!("{} to {} %", percent(high), percent(low)),
            (false, true) => format!("from {} % below to {} % above", percent(low), percent(high)),
        };
        format!("{by} (95 % interval: {interval})")
    }

    /// Sentence that the runs do not decide which of two means is larger; empty if they do.
    fn undecided(&self, ratio: &Ratio, other: &str) -> String {
        let is_bounded = ratio.ends.is_none_or(|[_, high]| high.is_finite());
        let metric = title(self.metric).to_lowercase();
        match is_bounded || ratio.is_significant() {
            true => String::new(),
            false => format!(
                " These runs do not decide: the mean {metric} with {other} is smaller than its own ±."
            ),
        }
    }

    /// Sentence on the scenarios that are not significantly worse than the best scenario.
    ///
    /// It is empty if there are no such scenarios, or if no two of the scenarios `ranked` differ
    /// significantly. If `text` already gives the difference of a scenario, such as the next best
    /// one, this scenario is left out.
    fn not_worse(
        &self,
        lead: &Lead,
        ranked: &[usize],
        text: &str,
        name: &dyn Fn(usize) -> String,
    ) -> String {
        if self.differ(ranked) != Some(true) {
            return String::new();
        }
        let is_said = |other: usize| {
            let places = ["next", "last", "highest", "lowest"];
            places.iter().any(|place| text.contains(&format!(" {}, the {place}", name(other))))
        };
        let is_open = |other: &usize| {
            let ratio = self.ratio(lead.best[0], *other);
            ratio.is_none_or(|ratio| !ratio.is_significant()) && !is_said(*other)
        };
        let open: Vec<usize> =
            ranked.iter().skip(lead.best.len()).copied().filter(is_open).collect();
        match open.len() {
            0 => String::new(),
            1 => format!(" {} is not significantly worse.", name(open[0])),
            _ => format!(" {} are not significantly worse.", listed(&open, name)),
        }
    }

    /// Sentence on the scenarios whose queue grows until the end of the run.
    ///
    /// The sentence is empty if there are no such scenarios, or if the metric is not a time, a
    /// slowdown or a queue length.
    fn overload(&self, among: &[usize], name: &dyn Fn(usize) -> String) -> String {
        let is_growing =
            |scenario: &usize| self.summary.rows.get(*scenario).is_some_and(|row| row.growing);
        let growing: Vec<usize> = among.iter().copied().filter(is_growing).collect();
        let unit = self.summary.meanings.unit(self.metric);
        if growing.is_empty() || !["time", "ratio", "jobs"].contains(&unit) {
            return String::new();
        }
        let machine = match growing.len() == among.len() {
            true => "The machine".to_owned(),
            false => format!("With {} the machine", listed(&growing, name)),
        };
        format!(
            " {machine} is overloaded: the queue grows to the end, so waits depend on the length of the run."
        )
    }

    fn extreme(&self) -> &'static str {
        if self.is_highest { "highest" } else { "lowest" }
    }

    fn sentence(&self, lead: &Lead, among: &[usize], name: &dyn Fn(usize) -> String) -> String {
        let metric = title(self.metric).to_lowercase();
        let best = listed(&lead.best, name);
        let Some((next_best, ratio)) = &lead.next else {
            return match lead.best.len() {
                count @ MAX_NAMED.. => format!("Equal {metric} with all {count}: {best}."),
                _ => format!("Equal {metric} with {best}."),
            };
        };
        let extreme = self.extreme();
        let has = if lead.best.len() > 1 { ", equal to each other, have" } else { " has" };
        let after = if among.len() > lead.best.len() + 1 { ", the next" } else { "" };
        let next = format!("{}{after}", name(*next_best));
        let by = self.apart(ratio, &next);
        if ratio.ends.is_none() {
            return format!(
                "{best}{has} the {extreme} mean {metric}: {by}. There are too few runs or jobs to say how certain that is."
            );
        }
        if ratio.is_significant() {
            return format!("{best}{has} the {extreme} {metric}: {by}.");
        }
        let ranked = self.ranked(among);
        let rest = ranked.get(lead.best.len() + 1..).unwrap_or_default();
        let is_apart =
            |&&own: &&usize| lead.next.as_ref().is_some_and(|(next, _)| !self.is_equal(own, *next));
        if self.differ(&ranked) == Some(false) {
            let last = rest.last().filter(is_apart).and_then(|&last| {
                let ratio = self.ratio(lead.best[0], last)?;
                Some(format!(", and {}", self.apart(&ratio, &format!("{}, the last", name(last)))))
            });
            return format!(
                "No significant difference in {metric}: {best}{has} the {extreme} mean, {by}{}.{}",
                last.unwrap_or_default(),
                self.undecided(ratio, &name(*next_best))
            );
        }
        // Sentence on the first scenario from which the best scenarios differ significantly.
        let significant = |&other: &usize| {
            let ratio = self.ratio(lead.best[0], other)?;
            ratio.is_significant().then(|| {
                let verb = if lead.best.len() > 1 { "They are" } else { "It is" };
                format!(" {verb} {}.", self.apart(&ratio, &name(other)))
            })
        };
        // If there is no such scenario: sentence on the difference from the last scenario.
        let last = |&other: &usize| {
            let last = self
                .apart(&self.ratio(lead.best[0], other)?, &format!("{}, the last", name(other)));
            let verb = if lead.best.len() > 1 { "They are" } else { "It is" };
            Some(format!(" {verb} {last}, not significantly either."))
        };
        let beaten = (rest.iter().find_map(significant))
            .or_else(|| rest.last().filter(is_apart).and_then(last));
        format!(
            "{best}{has} the {extreme} mean {metric}, but not significantly: {by}.{}",
            beaten.unwrap_or_default()
        )
    }

    /// Sentence on the best and the worst value of a numeric key. The flag tells if they differ
    /// clearly.
    fn span(&self, among: &[usize], name: &dyn Fn(usize) -> String) -> Option<(String, bool)> {
        let ranked = self.ranked(among);
        let [best, .., worst] = ranked[..] else { return None };
        let ratio = self.ratio(best, worst)?;
        let of = |end: usize| -> Vec<usize> {
            let mut own: Vec<usize> =
                ranked.iter().copied().filter(|&other| self.is_equal(end, other)).collect();
            own.sort_unstable();
            own
        };
        let (extreme, other) =
            if self.is_highest { ("highest", "lowest") } else { ("lowest", "highest") };
        let at_worst = listed(&of(worst), name);
        let by = self.apart(&ratio, &format!("that at {at_worst}, the {other}"));
        let (metric, best) = (title(self.metric), listed(&of(best), name));
        if self.differ(&ranked) == Some(false) {
            let text = format!(
                "No significant difference in {}: it is {extreme} at {best}, {by}.{}",
                metric.to_lowercase(),
                self.undecided(&ratio, &at_worst)
            );
            return Some((text, false));
        }
        let but = match ratio.ends {
            Some(_) if !ratio.is_significant() => ", but not significantly so:",
            _ => ",",
        };
        let few = match ratio.ends {
            None => " There are too few runs or jobs to say how certain that is.",
            Some(_) => "",
        };
        let text = format!("{metric} is {extreme} at {best}{but} {by}.{few}");
        Some((text, ratio.is_significant()))
    }

    fn elsewhere(
        &self,
        (lead, of): (&Lead, &str),
        among: &[usize],
        name: &dyn Fn(usize) -> String,
        settings: impl Iterator<Item = Vec<usize>>,
    ) -> String {
        let places = |among: &[usize], lead: &Lead| -> Vec<Option<usize>> {
            let place = |own| among.iter().position(|&scenario| scenario == own);
            lead.best.iter().map(|&own| place(own)).collect()
        };
        let (mut all, mut own, mut clear) = (0, 0, 0);
        for scenarios in settings {
            let Some(other) = self.lead(&scenarios) else { continue };
            all += 1;
            let is_same = places(&scenarios, &other) == places(among, lead);
            own += usize::from(is_same);
            clear += usize::from(is_same && other.is_clear());
        }
        if all < 2 {
            return String::new();
        }
        let at = match (own, all) {
            (2, 2) => format!("both {of}"),
            (own, all) if own == all => format!("all {all} {of}"),
            (own, all) => format!("{own} of {all} {of}"),
        };
        if lead.next.is_none() {
            return format!(" They are equal at {at}.");
        }
        let certain = match clear {
            0 => ", nowhere significantly different from the next best".to_owned(),
            _ if clear == own => ", significantly".to_owned(),
            _ => format!(", significantly at {clear}"),
        };
        let (extreme, best) = (self.extreme(), listed(&lead.best, name));
        let verb = if lead.best.len() > 1 { "have" } else { "has" };
        format!(" {best} {verb} the {extreme} mean at {at}{certain}.")
    }
}

fn listed(scenarios: &[usize], name: &dyn Fn(usize) -> String) -> String {
    let mut names: Vec<String> = scenarios.iter().map(|&scenario| name(scenario)).collect();
    if names.len() > MAX_NAMED {
        let more = names.len() - MAX_NAMED + 1;
        names.truncate(MAX_NAMED - 1);
        names.push(format!("{more} more"));
    }
    joined(&names)
}

fn joined(names: &[String]) -> String {
    match names {
        [all @ .., last] if !all.is_empty() => format!("{} and {last}", all.join(", ")),
        names => names.concat(),
    }
}

/// Formats how far a ratio is from 1, in percent. Values just below 100 % get more digits.
fn percent(ratio: f64) -> String {
    let percent = 100.0 * (ratio - 1.0).abs();
    let left = 100.0 - percent;
    match ratio {
        0.0 => "100".to_owned(),
        _ if ratio < 1.0 && left < 0.005 => "more than 99.99".to_owned(),
        _ if ratio < 1.0 && left < 0.5 => format!("{percent:.2}"),
        _ if ratio < 1.0 && left < 5.0 => format!("{percent:.1}"),
        _ if percent >= 100.0 => significant(percent, 3),
        _ => significant(percent, 2),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use meshwork_lab::statistics::{Interval, interval};

    #[test]
    fn ratios_are_told_in_percent_that_no_interval_leaves() {
        let text = "time_unit = 'hours'\nworkload = { name = 'lublin', jobs = 5 }\n\
                    machine = { topology = 'flat', processors = 8 }\nmeasure.jobs = 9";
        let study = Study::parse("a.toml", text, "".as_ref(), &[]).unwrap();
        let points = meshwork_lab::study::expand::expand(&study).unwrap();
        let results = Results { runs: vec![ScenarioRuns::default()], ..Results::default() };
        let summary = Summary::of(&study, &points, &results);
        let contest = Contest {
            study: &study,
            results: &results,
            summary: &summary,
            clock: &Clock { unit: Some("hours"), factor: 3600.0, start: None },
            metric: "wait",
            is_highest: false,
        };
        let told = |mean, ends, half| {
            let (base, half_width) = (7200.0, Some(half));
            let difference = base * (mean - 1.0);
            let difference = Interval { half_width, ..interval(&[difference], &[]) };
            contest.apart(&Ratio { mean, ends, difference, base }, "easy")
        };
        assert_eq!(
            told(0.88, Some([0.85, 0.912]), 300.0),
            "12 % below easy (95 % interval: 8.8 to 15 %)"
        );
        assert_eq!(
            told(0.02, Some([0.0, f64::INFINITY]), 9000.0),
            "98.0 % below easy (difference: -2.0 ± 2.5 hours)"
        );
        assert_eq!(
            told(0.93, Some([0.29, 0.976]), 240.0),
            "7 % below easy (difference: -0.140 ± 0.067 hours)"
        );
        assert_eq!(
            told(0.98, Some([0.8, 1.3]), 1800.0),
            "2 % below easy (95 % interval: from 20 % below to 30 % above)"
        );
        assert_eq!(
            told(3.5, Some([2.0, f64::INFINITY]), 7200.0),
            "250 % above easy (95 % interval: at least 100 %)"
        );
        assert_eq!(told(0.000_01, None, 0.0), "more than 99.99 % below easy");
    }
}
