//! What is drawn: means against what is swept, jobs by size, differences from a baseline.

use std::collections::BTreeSet;

use serde::Serialize;

use super::axes::{Axis, Kind, Layout};
use super::sample::{compared, held};
use crate::findings::clock::Clock;
use crate::findings::columns::{Meanings, Shown, value};
use crate::findings::number::plural;
use crate::findings::statistics::Interval;
use crate::findings::summary::{Row, Summary};
use crate::findings::words::short;
use crate::findings::{Ratio, partner, ratio};
use crate::run::Results;
use crate::study::expand::Point;
use crate::study::{Check, Replications, Study};

/// From this ratio of the largest to the smallest on, a scale is logarithmic.
const SPREAD: f64 = 20.0;

/// The most metrics of claims that have a figure each.
const MAX_CLAIMED: usize = 3;

/// The most points that the figures of a section have in all, so that a page stays a page.
const MAX_POINTS: usize = 100_000;

/// One place in the page where something is drawn, with its choosers.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Figure {
    /// Its name, unique in the page.
    pub id: String,
    /// What stands above it.
    pub heading: String,
    /// What can be chosen.
    pub choices: Vec<Choice>,
    /// What is drawn for each choice.
    pub views: Vec<View>,
}

/// A swept key, for reading.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(serde::Deserialize))]
pub struct Key {
    /// What it is called: `load`.
    pub label: String,
    /// The key itself: `workload.load`.
    pub key: String,
}

/// Something that can be chosen.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Choice {
    /// What it is.
    #[serde(flatten)]
    pub key: Key,
    /// What can be chosen.
    pub values: Vec<String>,
    /// The index of what is chosen at first.
    #[serde(skip_serializing_if = "is_zero")]
    pub first: usize,
}

/// One drawing.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(serde::Deserialize))]
pub struct View {
    /// For each chooser of the figure, the index of its value.
    pub at: Vec<usize>,
    /// What it is called where it stands alone, as in a file.
    pub title: String,
    /// What the drawing shows.
    pub sentence: String,
    /// How it is drawn.
    pub style: Style,
    /// Whether values are differences: with a line at 0, and full dots where an interval excludes it.
    #[serde(skip_serializing_if = "is_false")]
    #[cfg_attr(test, serde(default))]
    pub differences: bool,
    /// Whether rows stand in the order of what is measured.
    #[serde(skip_serializing_if = "is_false")]
    #[cfg_attr(test, serde(default))]
    pub sorted: bool,
    /// Whether the scale is as it is, linear or not.
    #[serde(skip_serializing_if = "is_false")]
    #[cfg_attr(test, serde(default))]
    pub fixed: bool,
    /// Of how many replications each point should be; points of fewer are drawn faintly.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected: Option<u64>,
    /// What runs along it.
    pub x: Scale,
    /// What is measured.
    pub y: Scale,
    /// The swept key that has a colour for each value.
    pub colour: Option<Key>,
    /// The swept key that has a panel for each value.
    pub panel: Option<Key>,
    /// The panels, in order; empty where there is one without a name.
    pub panels: Vec<String>,
    /// The lines, or groups of bars.
    pub series: Vec<Series>,
    /// The bounds that claims set.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(test, serde(default))]
    pub bounds: Vec<Bound>,
}

/// A bound that a claim sets for one point.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(serde::Deserialize))]
pub struct Bound {
    /// Where along the plot: a number, or the index of a name.
    pub x: f64,
    /// What is not to be passed.
    pub y: f64,
    /// In which panel.
    pub panel: usize,
    /// The index of the line, or of the bars, that the point is of.
    pub series: usize,
    /// Whether the point is to be below it.
    pub is_upper: bool,
}

/// How a view is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(serde::Deserialize))]
#[serde(rename_all = "snake_case")]
pub enum Style {
    /// Points joined by lines, with whiskers.
    Lines,
    /// Bars from 0, with whiskers, a row for each name; points where bars cannot begin at 0: of differences, and on a
    /// logarithmic scale.
    Rows,
    /// A value that holds until the next one. What is measured runs along it where it is a distribution.
    Steps,
}

/// One of the two directions of a plot.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(serde::Deserialize), serde(default))]
pub struct Scale {
    /// What it is, in words.
    pub label: String,
    /// The key or the metric that it is.
    pub key: String,
    /// Its unit; empty where it has none.
    pub unit: String,
    /// Whether it is logarithmic.
    pub log: bool,
    /// Its values by name, where they are no numbers: points then have their indices.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<String>,
    /// The colours of the names, where each has its own.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub colours: Vec<usize>,
    /// All numbers that were swept, measured or not.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub grid: Vec<f64>,
    /// Which dates its numbers are, where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dates: Option<Dates>,
}

/// Which date a number of an axis is.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(serde::Deserialize))]
pub struct Dates {
    /// How many seconds 1 is.
    pub seconds: f64,
    /// Which second 0 is, counted from the beginning of 1970 in the time of the place.
    pub start: i64,
}

/// One line, or the bars of one colour, in one panel.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(serde::Deserialize))]
pub struct Series {
    /// Its value of the key that has colours; empty where none has.
    pub name: String,
    /// Which colour, counted from 0.
    pub colour: usize,
    /// Which panel, counted from 0.
    pub panel: usize,
    /// Where along the plot: a number, or the index of a name.
    pub x: Vec<f64>,
    /// The means.
    pub mean: Vec<f64>,
    /// Half the widths of the intervals, where there are intervals.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(test, serde(default))]
    pub half: Vec<Option<f64>>,
    /// Differences in percent of what they are from, with the ends of their intervals, those of the ratio: an upper end
    /// that is missing is infinite, and both are where there is no interval. Empty where one is not known.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(test, serde(default))]
    pub percent: Vec<(f64, Option<f64>, Option<f64>)>,
    /// How many replications each mean is of; empty where that means nothing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(test, serde(default))]
    pub replications: Vec<u64>,
    /// Whether each mean is of a run that is made once by design, because nothing in its replications differs; empty
    /// where none is.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(test, serde(default))]
    pub once: Vec<bool>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
fn is_false(flag: &bool) -> bool {
    !flag
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
fn is_zero(number: &usize) -> bool {
    *number == 0
}

/// What is asked of a figure.
struct Plan<'a> {
    /// What the section is called.
    name: &'a str,
    clock: &'a Clock,
    meanings: &'a Meanings,
    id: String,
    heading: String,
    axes: &'a [Axis],
    layout: Layout,
    /// The axis whose values have a colour each wherever they are, if one has.
    coloured: Option<usize>,
    expected: Option<u64>,
    metrics: Vec<String>,
    differences: Option<String>,
    /// The ratio to the baseline, where there is one.
    ratio: &'a dyn Fn(&str, &[usize]) -> Option<Ratio>,
    /// The values of the axes that are chosen at first.
    first: &'a [usize],
    /// The interval of a metric with these values of the axes.
    find: &'a dyn Fn(&str, &[usize]) -> Option<Interval>,
    /// Whether the scenario with these values of the axes is run once by design.
    once: &'a dyn Fn(&[usize]) -> bool,
}

/// Every figure of a study: of each metric that a claim is about, of all others behind a chooser, of
/// the jobs by size, and of the differences from each baseline.
pub(super) fn all(
    study: &Study,
    points: &[Point],
    (summary, results): (&Summary, &Results),
    clock: &Clock,
    (section, name): (&str, &str),
) -> Vec<Figure> {
    let rows = &summary.rows;
    let shown = Shown::of(summary, points.first().map(|point| &point.scenario)).names;
    let axes = Axis::all(study);
    let layout = Layout::of(&axes, None);
    let coloured = layout.coloured(&axes);
    let expected = match study.replications {
        Replications::Fixed(number) => Some(number),
        Replications::Precision { .. } | Replications::Windows { .. } => None,
    };
    let row = |at: &[usize]| rows.get(index(&axes, at));
    let once = |at: &[usize]| row(at).is_some_and(|row| row.constant);
    let first = compared(&axes).or(layout.along).map_or_else(Vec::new, |i| held(&axes, i));
    let no_ratio = |_: &str, _: &[usize]| None;
    let mut plans = Vec::new();
    let mean = |metric: &str, at: &[usize]| Some(value(&row(at)?.metrics, metric));
    if layout.along.is_some() {
        let claimed: Vec<String> = claimed(study)
            .into_iter()
            .filter(|metric| shown.contains(metric))
            .take(MAX_CLAIMED)
            .collect();
        let others: Vec<String> =
            shown.iter().filter(|metric| !claimed.contains(metric)).cloned().collect();
        let heading = if claimed.is_empty() { "Results" } else { "Other metrics" };
        let plan = |part: &str, heading: &str, metrics: Vec<String>| Plan {
            name,
            clock,
            meanings: &summary.meanings,
            id: format!("{section}-{part}"),
            heading: heading.to_owned(),
            axes: &axes,
            layout: layout.clone(),
            coloured,
            expected,
            metrics,
            differences: None,
            ratio: &no_ratio,
            first: &first,
            find: &mean,
            once: &once,
        };
        for metric in claimed {
            plans.push(plan(&metric, &title(&metric), vec![metric.clone()]));
        }
        plans.push(plan("means", heading, others));
    }
    // The sizes are one more axis, and what runs along the plot.
    let sizes: BTreeSet<u64> =
        rows.iter().flat_map(|row| &row.by_size).map(|class| class.size).collect();
    let sizes: Vec<u64> = sizes.into_iter().collect();
    let mut with_sizes = axes.clone();
    with_sizes.push(Axis {
        key: "size".to_owned(),
        labels: sizes.iter().map(u64::to_string).collect(),
        kind: Kind::Numbers(sizes.iter().map(|&size| size as f64).collect()),
        contrasted: false,
    });
    let of_size = |metric: &str, at: &[usize]| {
        let (size, at) = at.split_last()?;
        let class = row(at)?.by_size.iter().find(|class| class.size == sizes[*size])?;
        Some(value(&class.metrics, metric))
    };
    if !sizes.is_empty() {
        plans.push(Plan {
            name,
            clock,
            meanings: &summary.meanings,
            id: format!("{section}-sizes"),
            heading: "By size of the jobs".to_owned(),
            axes: &with_sizes,
            layout: Layout::of(&with_sizes, Some(axes.len())),
            coloured: None,
            // Not every replication has jobs of every size.
            expected: None,
            metrics: claimed_first(study, rows),
            differences: None,
            ratio: &no_ratio,
            first: &first,
            find: &of_size,
            once: &|_| false,
        });
    }
    let differences: Vec<_> = (0..study.compare.len())
        .map(|number| {
            let (baseline, axes) = (&study.compare[number], &axes);
            move |metric: &str, at: &[usize]| {
                let row: &Row = rows.get(index(axes, at))?;
                let found = row.differences.iter().find(|other| other.baseline == *baseline)?;
                found.metrics.iter().find(|(name, ..)| name == metric).map(|(_, found, _)| *found)
            }
        })
        .collect();
    let ratios: Vec<_> = (0..study.compare.len())
        .map(|number| {
            let (baseline, axes) = (&study.compare[number], &axes);
            move |metric: &str, at: &[usize]| {
                let own = index(axes, at);
                ratio(study, results, (own, partner(study, own, baseline)?), metric)
            }
        })
        .collect();
    for (number, (find, ratio)) in differences.iter().zip(&ratios).enumerate() {
        let baseline = &study.compare[number];
        let value = short(&baseline.key, &[&baseline.value]).concat();
        plans.push(Plan {
            name,
            clock,
            meanings: &summary.meanings,
            id: format!("{section}-differences-{number}"),
            heading: format!("Differences from {} = {value}", word(&baseline.key)),
            axes: &axes,
            layout: layout.clone(),
            coloured,
            expected,
            metrics: shown.clone(),
            differences: Some(value),
            ratio,
            first: &first,
            find,
            once: &once,
        });
    }
    let mut left = MAX_POINTS;
    plans.iter().filter_map(|plan| figure(plan, &mut left)).collect()
}

/// The metrics of claims, those of most claims first.
pub(super) fn claimed(study: &Study) -> Vec<String> {
    let mut counts: Vec<(String, usize)> = Vec::new();
    for claim in &study.claims {
        let Check::Cells(test) = &claim.check else { continue };
        match counts.iter_mut().find(|(metric, _)| *metric == test.metric) {
            Some((_, count)) => *count += 1,
            None => counts.push((test.metric.clone(), 1)),
        }
    }
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    counts.into_iter().map(|(metric, _)| metric).collect()
}

/// The metrics of jobs of one size, those of claims first.
fn claimed_first(study: &Study, rows: &[Row]) -> Vec<String> {
    let claimed = claimed(study);
    let first = rows.iter().flat_map(|row| &row.by_size).next();
    let mut names: Vec<String> =
        first.map_or_else(Vec::new, |class| class.metrics.iter().map(|m| m.0.clone()).collect());
    names.sort_by_key(|name| {
        claimed.iter().position(|claimed| claimed == name).unwrap_or(claimed.len())
    });
    names
}

/// Where a scenario stands in the order of the sweep.
pub(super) fn index(axes: &[Axis], at: &[usize]) -> usize {
    axes.iter().zip(at).fold(0, |index, (axis, &at)| index * axis.count() + at)
}

/// A name with its first letter large and spaces between its words.
pub(super) fn title(name: &str) -> String {
    let words = name.replace('_', " ");
    let mut letters = words.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// A heading within a sentence.
fn lowered(heading: &str) -> String {
    let mut letters = heading.chars();
    letters.next().map_or_else(String::new, |first| first.to_lowercase().chain(letters).collect())
}

/// Draws up a figure; none where there is nothing to draw.
fn figure(plan: &Plan<'_>, left: &mut usize) -> Option<Figure> {
    let chosen = &plan.layout.chosen;
    let layouts: Vec<Layout> =
        std::iter::once(plan.layout.clone()).chain(plan.layout.turned(plan.axes)).collect();
    let mut choices = Vec::new();
    let metrics: Vec<&String> = plan
        .metrics
        .iter()
        .filter(|metric| {
            every(plan.axes, &(0..plan.axes.len()).collect::<Vec<_>>())
                .any(|at| found(plan, metric, &at).is_some())
        })
        .collect();
    if metrics.len() > 1 {
        let values = metrics.iter().map(|metric| title(metric)).collect();
        let key = Key { label: "metric".to_owned(), key: "metric".to_owned() };
        choices.push(Choice { key, values, first: 0 });
    }
    if layouts.len() > 1 {
        let key = Key { label: "along".to_owned(), key: "along".to_owned() };
        let along = layouts.iter().filter_map(|layout| layout.along);
        choices.push(Choice { key, values: along.map(|i| plan.key(i).label).collect(), first: 0 });
    }
    for &axis in chosen {
        let first = plan.first.get(axis).copied().unwrap_or(0);
        let values = plan.axes[axis].labels.clone();
        choices.push(Choice { key: plan.key(axis), values, first });
    }
    let mut views = Vec::new();
    for (number, metric) in metrics.iter().enumerate() {
        let count = layouts.len();
        let settings = layouts
            .iter()
            .enumerate()
            .flat_map(|layout| every(plan.axes, chosen).map(move |fixed| (layout, fixed)));
        for ((which, layout), fixed) in settings {
            let mut view = view(plan, layout, metric, &fixed);
            view.title = match &plan.differences {
                Some(_) => format!("{}: {}, {}", plan.name, title(metric), lowered(&plan.heading)),
                None => format!("{}: {}", plan.name, title(metric)),
            };
            let points: usize = view.series.iter().map(|series| series.x.len()).sum();
            if points == 0 || points > *left {
                continue;
            }
            *left -= points;
            view.at = if metrics.len() > 1 { vec![number] } else { Vec::new() };
            if count > 1 {
                view.at.push(which);
            }
            view.at.extend(chosen.iter().map(|&axis| fixed[axis]));
            views.push(view);
        }
    }
    offer_what_is_there(&mut choices, &mut views);
    let (id, heading) = (plan.id.clone(), plan.heading.clone());
    let heading = match &metrics[..] {
        [one] if plan.differences.is_none() && heading.starts_with("Other") => title(one),
        _ => heading,
    };
    (!views.is_empty()).then_some(Figure { id, heading, choices, views })
}

/// Takes out of the choices what no view has, as a baseline has no differences from itself.
fn offer_what_is_there(choices: &mut [Choice], views: &mut [View]) {
    for (place, choice) in choices.iter_mut().enumerate() {
        let there: BTreeSet<usize> = views.iter().map(|view| view.at[place]).collect();
        for view in &mut *views {
            view.at[place] = there.range(..view.at[place]).count();
        }
        choice.values = there.iter().map(|&value| choice.values[value].clone()).collect();
        choice.first = there.range(..choice.first).count().min(there.len().saturating_sub(1));
    }
}

impl Plan<'_> {
    /// An axis in words; by its key where another has the same words.
    fn key(&self, axis: usize) -> Key {
        let key = &self.axes[axis].key;
        let label = word(key);
        let is_clear = self.axes.iter().filter(|other| word(&other.key) == label).count() == 1;
        Key { label: if is_clear { label } else { key.clone() }, key: key.clone() }
    }
}

/// A swept key in words: what it sets, and not where it stands.
pub(super) fn word(key: &str) -> String {
    match key {
        "machine.dims" => "machine size".to_owned(),
        "measure.jobs" => "measured jobs".to_owned(),
        _ => {
            let inner = ["workload.", "machine.", "measure.", "network."];
            let inner = inner.iter().find_map(|room| key.strip_prefix(room)).unwrap_or(key);
            inner.replace(['.', '_'], " ")
        }
    }
}

/// All combinations of the values of some axes; 0 in all others.
pub(super) fn every<'a>(
    axes: &'a [Axis],
    of: &'a [usize],
) -> impl Iterator<Item = Vec<usize>> + 'a {
    let count: usize = of.iter().map(|&axis| axes[axis].count()).product();
    (0..count).map(move |mut number| {
        let mut at = vec![0; axes.len()];
        for &axis in of.iter().rev() {
            at[axis] = number % axes[axis].count();
            number /= axes[axis].count();
        }
        at
    })
}

fn found(plan: &Plan<'_>, metric: &str, at: &[usize]) -> Option<Interval> {
    (plan.find)(metric, at).filter(|interval| interval.mean.is_some())
}

/// One drawing: everything but what is fixed.
fn view(plan: &Plan<'_>, layout: &Layout, metric: &str, fixed: &[usize]) -> View {
    let Layout { along, colour, panel, .. } = *layout;
    let along = along.unwrap_or_default();
    let axis = &plan.axes[along];
    let numbers = axis.numbers();
    let values = |of: Option<usize>| 0..of.map_or(1, |axis| plan.axes[axis].count());
    let mut series: Vec<Series> = Vec::new();
    let mut is_in_percent = true;
    for in_panel in values(panel) {
        for in_colour in values(colour) {
            let mut line = Series {
                name: colour.map_or_else(String::new, |a| plan.axes[a].labels[in_colour].clone()),
                colour: in_colour,
                panel: in_panel,
                x: Vec::new(),
                mean: Vec::new(),
                half: Vec::new(),
                percent: Vec::new(),
                replications: Vec::new(),
                once: Vec::new(),
            };
            for number in 0..axis.count() {
                let mut at = fixed.to_vec();
                at[along] = number;
                if let Some(colour) = colour {
                    at[colour] = in_colour;
                }
                if let Some(panel) = panel {
                    at[panel] = in_panel;
                }
                let Some(interval) = found(plan, metric, &at) else { continue };
                line.x.push(numbers.map_or(number as f64, |numbers| numbers[number]));
                line.percent.extend((plan.ratio)(metric, &at).map(|ratio| ratio.percent()));
                line.mean.extend(interval.mean);
                line.half.push(interval.half_width);
                line.replications.push(interval.replications);
                line.once.push(interval.replications == 1 && (plan.once)(&at));
            }
            if !line.once.contains(&true) {
                line.once.clear();
            }
            // In percent is all of a line or nothing.
            if line.percent.len() < line.x.len() {
                is_in_percent = false;
            }
            if !line.x.is_empty() {
                series.push(line);
            }
        }
    }
    if !is_in_percent {
        series.iter_mut().for_each(|line| line.percent.clear());
    }
    let differences = plan.differences.is_some();
    let y_log = !differences && is_wide(series.iter().flat_map(|line| &line.mean));
    let x_log = is_wide(series.iter().flat_map(|line| &line.x));
    let grid = numbers.map_or_else(Vec::new, <[f64]>::to_vec);
    let is_number = !grid.is_empty();
    let has_colours = colour.is_none() && plan.coloured == Some(along) && !axis.is_line();
    let mut view = View {
        at: Vec::new(),
        title: String::new(),
        sentence: String::new(),
        style: if axis.is_line() { Style::Lines } else { Style::Rows },
        differences,
        sorted: colour.is_none() && axis.kind == Kind::Names,
        fixed: false,
        expected: plan.expected.filter(|_| series.iter().any(|line| !line.x.is_empty())),
        x: Scale {
            label: plan.key(along).label,
            key: axis.key.clone(),
            unit: if axis.key == "size" { "processors".to_owned() } else { String::new() },
            log: is_number && x_log,
            names: if is_number { Vec::new() } else { axis.labels.clone() },
            colours: if has_colours { (0..axis.count()).collect() } else { Vec::new() },
            grid,
            dates: None,
        },
        y: Scale {
            label: title(metric),
            key: metric.to_owned(),
            unit: plan.clock.unit(plan.meanings.unit(metric)),
            log: y_log,
            ..Scale::default()
        },
        colour: colour.map(|axis| plan.key(axis)),
        panel: panel.map(|axis| plan.key(axis)),
        panels: panel.map_or_else(Vec::new, |axis| plan.axes[axis].labels.clone()),
        series,
        bounds: Vec::new(),
    };
    let with = |&axis: &usize| {
        format!(", with {} = {}", plan.key(axis).label, plan.axes[axis].labels[fixed[axis]])
    };
    let with: String = layout.chosen.iter().map(with).collect();
    view.sentence = sentence(plan, metric, &view, &with);
    view
}

/// Whether numbers are spread so far that a linear scale would hide the small ones.
pub(super) fn is_wide<'a>(numbers: impl Iterator<Item = &'a f64> + Clone) -> bool {
    let least = numbers.clone().copied().fold(f64::INFINITY, f64::min);
    let most = numbers.copied().fold(0.0, f64::max);
    least > 0.0 && most.is_finite() && most / least >= SPREAD
}

/// What a view shows.
fn sentence(plan: &Plan<'_>, metric: &str, view: &View, with: &str) -> String {
    let mut text = match plan.meanings.entry(metric) {
        Some(entry) => format!("{}: {}", title(metric), entry.about.summary),
        None => title(metric),
    };
    if let Some(baseline) = &plan.differences {
        text = format!("{text}; each scenario minus the one with {baseline} on the same jobs");
    }
    let (along, what) = match view.style {
        Style::Lines | Style::Steps => ("against", "a line"),
        Style::Rows => ("for each", "a row"),
    };
    text += &format!(", {along} {}", view.x.label);
    if let Some(colour) = &view.colour {
        text += &format!(", {what} for each {}", colour.label);
    }
    if let Some(panel) = &view.panel {
        text += &format!(", a panel for each {}", panel.label);
    }
    text += with;
    text.push('.');
    if view.series.iter().any(|line| line.half.iter().any(Option::is_some)) {
        text += " Whiskers are 95 % intervals";
        text += if view.differences { "; a mark is full where they exclude 0." } else { "." };
    }
    let fewer = |expected: u64| {
        let of = |line: &Series| {
            let is_once = |i: usize| line.once.get(i).copied().unwrap_or(false);
            let numbers = line.replications.iter().enumerate();
            numbers.filter(|&(i, &number)| number > 0 && number < expected && !is_once(i)).count()
        };
        view.series.iter().map(of).sum::<usize>() as u64
    };
    if let Some(expected) = view.expected
        && let number @ 1.. = fewer(expected)
    {
        let (are, marks) = if number == 1 { ("is", "mark") } else { ("are", "marks") };
        text += &format!(
            " {} {are} of fewer than the {} asked for so far: the faint {marks}.",
            plural(number, "mean"),
            plural(expected, "replication"),
        );
    }
    let is_alone = |line: &Series| {
        line.half.iter().all(Option::is_none) && line.replications.iter().all(|&number| number < 2)
    };
    if view.differences && view.series.iter().all(is_alone) {
        text += " With one replication a difference has no interval.";
    }
    if view.y.log {
        text += " The scale is logarithmic.";
    }
    if view.series.iter().any(|line| !line.percent.is_empty()) {
        text += " In percent, with intervals of the ratio.";
    }
    text
}

impl Figure {
    /// The name of a drawing of it as a file.
    pub(super) fn file_name(&self, view: &View) -> String {
        let chosen = self.choices.iter().zip(&view.at).map(|(choice, &at)| &choice.values[at]);
        let name: Vec<&str> = std::iter::once(&self.id).chain(chosen).map(String::as_str).collect();
        let is_plain = |c: char| c.is_alphanumeric() || "._=".contains(c);
        let words = name.join("-").to_lowercase();
        let words: Vec<&str> =
            words.split(|c| !is_plain(c)).filter(|word| !word.is_empty()).collect();
        format!("{}.svg", words.join("-"))
    }
}
