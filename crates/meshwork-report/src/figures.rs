//! Selects the figures of a report: means, jobs by size, and differences from baselines.

use std::collections::BTreeSet;

use super::caption;
use super::views::{Figure, FigureChoice, FigureView, Key, Scale, Series, Style};
use crate::caption::title;
use meshwork_lab::findings::columns::{Meanings, Shown, value};
use meshwork_lab::findings::summary::{Summary, SummaryRow};
use meshwork_lab::findings::{Ratio, partner, ratio};
use meshwork_lab::run::Results;
use meshwork_lab::statistics::Interval;
use meshwork_lab::study::axes::{AxisKind, Layout, PlotAxis, every, index};
use meshwork_lab::study::clock::Clock;
use meshwork_lab::study::expand::Point;
use meshwork_lab::study::sample::{compared, held};
use meshwork_lab::study::words::short;
use meshwork_lab::study::{ClaimCheck, Replications, Study};

const SPREAD: f64 = 20.0;

const MAX_CLAIMED: usize = 3;

const MAX_POINTS: usize = 100_000;

/// Maximum number of points of a report section in views with an alternative x axis.
const MAX_TURNED: usize = 8_000;

struct Plan<'a> {
    name: &'a str,
    clock: &'a Clock,
    meanings: &'a Meanings,
    id: String,
    heading: String,
    axes: &'a [PlotAxis],
    layout: Layout,
    /// Index of the axis whose values have one colour each, in all figures of the section.
    coloured: Option<usize>,
    expected: Option<u64>,
    metrics: Vec<String>,
    differences: Option<String>,
    /// Function that returns a scenario's ratio to the baseline. Its arguments are a metric, and
    /// the index of the scenario's value on each axis.
    ratio: &'a dyn Fn(&str, &[usize]) -> Option<Ratio>,
    /// For each axis, the index of the value that is selected at first.
    first: &'a [usize],
    /// Function that returns a scenario's mean or difference. Its arguments are a metric, and the
    /// index of the scenario's value on each axis.
    find: &'a dyn Fn(&str, &[usize]) -> Option<Interval>,
    once: &'a dyn Fn(&[usize]) -> bool,
}

pub(super) fn all(
    study: &Study,
    points: &[Point],
    (summary, results): (&Summary, &Results),
    clock: &Clock,
    (section, name): (&str, &str),
) -> Vec<Figure> {
    let rows = &summary.rows;
    let shown = Shown::of(summary, points.first().map(|point| &point.scenario)).names;
    let axes = PlotAxis::all(study);
    let layout = Layout::of(&axes, None);
    let coloured = layout.coloured(&axes);
    let expected = match study.replications {
        Replications::Fixed(number) => Some(number),
        Replications::Precision { .. } | Replications::Windows { .. } => None,
    };
    let row = |at: &[usize]| rows.get(index(&axes, at));
    let once = |at: &[usize]| row(at).is_some_and(|row| row.constant);
    let first = compared(&axes).or(layout.along).map_or_else(Vec::new, |i| {
        held(&axes, i, &|scenario| rows.get(scenario).is_some_and(|row| row.growing))
    });
    let no_ratio = |_: &str, _: &[usize]| None;
    let mut plans = Vec::new();
    let mean = |metric: &str, at: &[usize]| Some(value(&row(at)?.metrics, metric));
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
    if layout.along.is_some() {
        let claimed: Vec<String> = claimed(study)
            .into_iter()
            .filter(|metric| shown.contains(metric))
            .take(MAX_CLAIMED)
            .collect();
        let others: Vec<String> =
            shown.iter().filter(|metric| !claimed.contains(metric)).cloned().collect();
        let heading = if claimed.is_empty() { "Results" } else { "Other metrics" };
        for metric in claimed {
            plans.push(plan(&metric, &title(&metric), vec![metric.clone()]));
        }
        plans.push(plan("means", heading, others));
    }
    // The size of jobs is an additional axis, which runs along the plot.
    let sizes: BTreeSet<u64> =
        rows.iter().flat_map(|row| &row.by_size).map(|class| class.size).collect();
    let sizes: Vec<u64> = sizes.into_iter().collect();
    let mut with_sizes = axes.clone();
    with_sizes.push(PlotAxis {
        key: "size".to_owned(),
        labels: sizes.iter().map(u64::to_string).collect(),
        kind: AxisKind::Numbers(sizes.iter().map(|&size| size as f64).collect()),
        contrasted: false,
    });
    let of_size = |metric: &str, at: &[usize]| {
        let (size, at) = at.split_last()?;
        let class = row(at)?.by_size.iter().find(|class| class.size == sizes[*size])?;
        Some(value(&class.metrics, metric))
    };
    if !sizes.is_empty() {
        plans.push(Plan {
            axes: &with_sizes,
            layout: Layout::of(&with_sizes, Some(axes.len())),
            coloured: None,
            // Not every replication has jobs of every size.
            expected: None,
            find: &of_size,
            once: &|_| false,
            ..plan("sizes", "By size of the jobs", claimed_first(study, rows))
        });
    }
    let differences: Vec<_> = (0..study.compare.len())
        .map(|number| {
            let (baseline, axes) = (&study.compare[number], &axes);
            move |metric: &str, at: &[usize]| {
                let row: &SummaryRow = rows.get(index(axes, at))?;
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
        let heading = format!("Differences from {} = {value}", word(&baseline.key));
        let part = format!("differences-{number}");
        plans.push(Plan {
            differences: Some(value),
            ratio,
            find,
            ..plan(&part, &heading, shown.clone())
        });
    }
    let (mut left, mut turned) = (MAX_POINTS, MAX_TURNED);
    plans.iter().filter_map(|plan| figure(plan, &mut left, &mut turned)).collect()
}

/// Metrics that claims are about, in descending order of the number of their claims.
pub(super) fn claimed(study: &Study) -> Vec<String> {
    let mut counts: Vec<(String, usize)> = Vec::new();
    for claim in &study.claims {
        let ClaimCheck::Cells(test) = &claim.check else { continue };
        match counts.iter_mut().find(|(metric, _)| *metric == test.metric) {
            Some((_, count)) => *count += 1,
            None => counts.push((test.metric.clone(), 1)),
        }
    }
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    counts.into_iter().map(|(metric, _)| metric).collect()
}

fn claimed_first(study: &Study, rows: &[SummaryRow]) -> Vec<String> {
    let claimed = claimed(study);
    let first = rows.iter().flat_map(|row| &row.by_size).next();
    let mut names: Vec<String> =
        first.map_or_else(Vec::new, |class| class.metrics.iter().map(|m| m.0.clone()).collect());
    names.sort_by_key(|name| {
        claimed.iter().position(|claimed| claimed == name).unwrap_or(claimed.len())
    });
    names
}

fn lowered(heading: &str) -> String {
    let mut letters = heading.chars();
    letters.next().map_or_else(String::new, |first| first.to_lowercase().chain(letters).collect())
}

/// Makes a figure within a budget of points; `None` if there is nothing to draw.
///
/// `left` is the number of points that the section may still draw, and `turned` is the number for
/// views whose x axis is not the default one. The points of the figure are subtracted from both.
fn figure(plan: &Plan<'_>, left: &mut usize, turned: &mut usize) -> Option<Figure> {
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
        choices.push(FigureChoice { key: Key::of("metric"), values, first: 0 });
    }
    let mut layouts = plan.layout.turned(plan.axes);
    layouts.insert(0, plan.layout.clone());
    // The first metrics get views with each key along the plot, for half of the remaining points;
    // the other half is left to later figures.
    let points: usize =
        plan.axes.iter().map(PlotAxis::count).product::<usize>() * (layouts.len() - 1);
    let all_ways = metrics.len().min((*turned / 2).checked_div(points).unwrap_or(0));
    *turned -= all_ways * points;
    if all_ways == 0 {
        layouts.truncate(1);
    }
    if layouts.len() > 1 {
        let along = layouts.iter().filter_map(|layout| layout.along);
        let values = along.map(|i| plan.key(i).label).collect();
        choices.push(FigureChoice { key: Key::of("along"), values, first: 0 });
    }
    let mut chosen: Vec<usize> = Vec::new();
    for &axis in layouts.iter().flat_map(|layout| &layout.chosen) {
        if !chosen.contains(&axis) {
            chosen.push(axis);
        }
    }
    for &axis in &chosen {
        let first = plan.first.get(axis).copied().unwrap_or(0);
        let values = plan.axes[axis].labels.clone();
        choices.push(FigureChoice { key: plan.key(axis), values, first });
    }
    let mut views = Vec::new();
    for (number, metric) in metrics.iter().enumerate() {
        let count = layouts.len();
        let settings = layouts[..if number < all_ways { count } else { 1 }]
            .iter()
            .enumerate()
            .flat_map(|own| every(plan.axes, &own.1.chosen).map(move |fixed| (own, fixed)));
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
            view.at = if metrics.len() > 1 { vec![Some(number)] } else { Vec::new() };
            if count > 1 {
                view.at.push(Some(which));
            }
            let is_own = |axis: &usize| layout.chosen.contains(axis);
            view.at.extend(chosen.iter().map(|axis| is_own(axis).then(|| fixed[*axis])));
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

/// Removes from the selectors of a figure each option for which there is no view.
///
/// For example, there is no view of the difference between a baseline and itself.
fn offer_what_is_there(choices: &mut [FigureChoice], views: &mut [FigureView]) {
    for (place, choice) in choices.iter_mut().enumerate() {
        let there: BTreeSet<usize> = views.iter().filter_map(|view| view.at[place]).collect();
        for at in views.iter_mut().filter_map(|view| view.at[place].as_mut()) {
            *at = there.range(..*at).count();
        }
        choice.values = there.iter().map(|&value| choice.values[value].clone()).collect();
        choice.first = there.range(..choice.first).count().min(there.len().saturating_sub(1));
    }
}

impl Plan<'_> {
    /// Short label of an axis, or its whole key if the short label is ambiguous.
    fn key(&self, axis: usize) -> Key {
        let key = &self.axes[axis].key;
        let label = word(key);
        let is_clear = self.axes.iter().filter(|other| word(&other.key) == label).count() == 1;
        Key { label: if is_clear { label } else { key.clone() }, key: key.clone() }
    }
}

/// Label of a swept key, such as `load` for `workload.load`, or `allocator rotation`.
pub(super) fn word(key: &str) -> String {
    match key {
        "machine.dims" => "machine size".to_owned(),
        "measure.jobs" => "measured jobs".to_owned(),
        _ => {
            let inner = ["workload.", "machine.", "measure.", "network.", "energy.", "failures."];
            let inner = inner.iter().find_map(|outer| key.strip_prefix(outer)).unwrap_or(key);
            inner.replace(['.', '_'], " ")
        }
    }
}

fn found(plan: &Plan<'_>, metric: &str, at: &[usize]) -> Option<Interval> {
    (plan.find)(metric, at).filter(|interval| interval.mean.is_some())
}

/// Makes a view of a metric for the values that the figure's selectors set.
fn view(plan: &Plan<'_>, layout: &Layout, metric: &str, fixed: &[usize]) -> FigureView {
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
                labels: Vec::new(),
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
            // A view is either entirely in percent or not at all.
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
    // Percentages are on the scale of the ratio to the baseline.
    let ratios: Vec<f64> = series
        .iter()
        .flat_map(|line| &line.percent)
        .map(|(percent, ..)| 1.0 + percent / 100.0)
        .chain([1.0])
        .collect();
    let y_log = match differences {
        true => is_in_percent && is_wide(ratios.iter()),
        false => is_wide(series.iter().flat_map(|line| &line.mean)),
    };
    let x_log = is_wide(series.iter().flat_map(|line| &line.x));
    let grid = numbers.map_or_else(Vec::new, <[f64]>::to_vec);
    let is_number = !grid.is_empty();
    let has_colours = colour.is_none() && plan.coloured == Some(along) && !axis.is_line();
    let mut view = FigureView {
        style: if axis.is_line() { Style::Lines } else { Style::Rows },
        differences,
        sorted: colour.is_none() && axis.kind == AxisKind::Names,
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
            unit: plan.clock.on_axis(plan.meanings.unit(metric)),
            log: y_log,
            ..Scale::default()
        },
        colour: colour.map(|axis| plan.key(axis)),
        panel: panel.map(|axis| plan.key(axis)),
        panels: panel.map_or_else(Vec::new, |axis| plan.axes[axis].labels.clone()),
        series,
        ..FigureView::default()
    };
    let with = |&axis: &usize| {
        format!(", with {} = {}", plan.key(axis).label, plan.axes[axis].labels[fixed[axis]])
    };
    let with: String = layout.chosen.iter().map(with).collect();
    view.sentence =
        caption::sentence(plan.meanings, plan.differences.as_deref(), (metric, &view), &with);
    view
}

/// Whether a linear scale would hide the smallest of the numbers.
pub(super) fn is_wide<'a>(numbers: impl Iterator<Item = &'a f64> + Clone) -> bool {
    let least = numbers.clone().copied().fold(f64::INFINITY, f64::min);
    let most = numbers.copied().fold(0.0, f64::max);
    least > 0.0 && most.is_finite() && most / least >= SPREAD
}
