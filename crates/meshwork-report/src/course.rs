//! Plots of single runs with a line for each run. They show waits, and utilization and queue over
//! time.

use std::collections::{BTreeMap, BTreeSet};

use super::figures::{is_wide, word};
use super::views::{Dates, EQUAL, Figure, FigureChoice, FigureView, Key, Scale, Series, Style};
use meshwork_lab::study::axes::PlotAxis;
use meshwork_lab::study::clock::Clock;
use meshwork_lab::study::sample::{self, along};
use meshwork_lab::watch::recording::Timeline;

const MAX_LINES: usize = sample::MAX;

/// Maximum number of time intervals of a line. With more intervals, noisy lines cover each other.
const MAX_SPANS: usize = 100;

const DAY: f64 = 86_400.0;

const MAX_SECONDS: f64 = 2.0 * DAY;

fn brief(number: f64) -> f64 {
    format!("{number:.5e}").parse().unwrap_or(number)
}

/// Points of the curve of a run: the start and the mean of each time interval, then the run's end.
fn spans(run: &Timeline, means: &[f64], factor: f64) -> (Vec<f64>, Vec<f64>) {
    let width = (run.until - run.from) / means.len().max(1) as f64;
    let together = means.len().div_ceil(MAX_SPANS).max(1);
    let begins = (0..means.len()).step_by(together).map(|i| run.from + width * i as f64);
    let begins = begins.chain([run.until]).map(|time| brief(time / factor));
    let means: Vec<f64> = means
        .chunks(together)
        .map(|chunk| brief(chunk.iter().sum::<f64>() / chunk.len() as f64))
        .collect();
    (begins.collect(), means.iter().chain(means.last()).copied().collect())
}

struct Lines<'a> {
    at: Vec<usize>,
    runs: Vec<&'a Timeline>,
    names: Vec<String>,
    colours: Vec<usize>,
}

struct Division<'a> {
    /// Key in which the runs of a plot differ; `None` for a single run.
    key: Option<Key>,
    shared: String,
    /// Number of values of the key in the study; `None` if the key is not swept.
    values: Option<usize>,
    choices: Vec<FigureChoice>,
    plots: Vec<Lines<'a>>,
}

pub(super) fn figures(
    runs: &[Timeline],
    axes: &[PlotAxis],
    clock: &Clock,
    (section, name): (&str, &str),
) -> Vec<Figure> {
    let runs = &runs[..runs.len().min(MAX_LINES)];
    let division = Division::new(runs, axes);
    let parts = runs.iter().filter(|run| !run.whole).count();
    let view = |lines: &Lines<'_>,
                metric: Option<usize>,
                (title, words): (&str, &str),
                (x, y): (Scale, Scale),
                of: &dyn Fn(&Timeline) -> (Vec<f64>, Vec<f64>)| {
        let words_of = |(choice, at): (&FigureChoice, &usize)| {
            format!(", with {} = {}", choice.key.label, choice.values[*at])
        };
        let with: String = division.choices.iter().zip(&lines.at).map(words_of).collect();
        FigureView {
            at: metric.into_iter().chain(lines.at.iter().copied()).map(Some).collect(),
            title: format!("{name}: {title}"),
            sentence: format!(
                "{words}{}{with}{}. Each line is one run{}.{}",
                division.each(lines.runs.len()),
                division.shared,
                if parts > 0 { ", as far as it is shown here" } else { "" },
                if x.log { " The scale is logarithmic." } else { "" }
            ),
            style: Style::Steps,
            fixed: y.key != "share",
            x,
            y,
            colour: division.key.clone(),
            series: lines.series(of),
            ..FigureView::default()
        }
    };
    let mut figures = Vec::new();
    let longest = runs.iter().flat_map(|run| &run.waits.wait).copied().fold(0.0, f64::max);
    let wait = |run: &Timeline| {
        let waits = run.waits.wait.iter().map(|&wait| brief(wait / clock.factor));
        let mut waits: Vec<f64> = waits.collect();
        let mut shares: Vec<f64> = run.waits.share.iter().map(|&share| brief(share)).collect();
        if waits.last().is_some_and(|&wait| wait <= 0.0) {
            // A step needs a width to be visible.
            waits.push(if longest > 0.0 { brief(longest / clock.factor) } else { 1.0 });
            shares.push(1.0);
        }
        (waits, shares)
    };
    let waits: Vec<(Vec<f64>, Vec<f64>)> = runs.iter().map(wait).collect();
    if waits.iter().any(|(waits, _)| !waits.is_empty()) {
        // A logarithmic scale cannot show waits of 0: the line begins at the share of these waits.
        let log = is_wide(waits.iter().flat_map(|(waits, _)| waits).filter(|wait| **wait > 0.0));
        let heading = "How long jobs wait";
        let words = "Of the jobs that started, the share that waited no longer than this";
        let plot = |lines: &Lines<'_>| {
            let x = Scale {
                label: "Wait".to_owned(),
                unit: clock.on_axis("time"),
                log,
                ..Scale::default()
            };
            let y = Scale {
                label: "Share of the jobs that started".to_owned(),
                key: "share".to_owned(),
                ..Scale::default()
            };
            let mut plot = view(lines, None, (heading, words), (x, y), &wait);
            let is_zero = |run: &&Timeline| run.waits.wait.iter().all(|&wait| wait <= 0.0);
            if lines.runs.iter().all(is_zero) {
                plot.sentence += " No job waits.";
            }
            plot
        };
        figures.push(Figure {
            id: format!("{section}-waits"),
            heading: heading.to_owned(),
            choices: division.choices.clone(),
            views: division.plots.iter().map(plot).collect(),
        });
    }
    if runs.iter().any(|run| run.from < run.until) {
        let end = runs.iter().map(|run| run.until / clock.factor).fold(0.0, f64::max);
        // Long times are in days, as in the map of the machine.
        let in_days = clock.unit == Some("seconds") && end > MAX_SECONDS && clock.start.is_none();
        let factor = clock.factor * if in_days { DAY } else { 1.0 };
        let (unit, dates) = match &clock.start {
            _ if in_days => ("days".to_owned(), None),
            Some(start) => {
                let dates = clock.seconds().map(|(seconds, start)| Dates { seconds, start });
                (start.place(), dates)
            }
            None => (clock.unit.unwrap_or_default().to_owned(), None),
        };
        let time =
            || Scale { label: "Time".to_owned(), unit: unit.clone(), dates, ..Scale::default() };
        let both = [
            (
                "Utilization",
                "utilization",
                "share",
                "The share of the processors that is held, over time",
            ),
            ("Jobs that wait", "queue", "", "How many jobs wait, over time"),
        ];
        let views = both.iter().enumerate().flat_map(|(which, (label, metric, unit, words))| {
            let of = move |run: &Timeline| match which {
                0 => spans(run, &run.utilization, factor),
                _ => spans(run, &run.queue, factor),
            };
            let (view, time) = (&view, &time);
            division.plots.iter().map(move |lines| {
                let y = Scale {
                    label: (*label).to_owned(),
                    key: (*metric).to_owned(),
                    unit: (*unit).to_owned(),
                    ..Scale::default()
                };
                view(lines, Some(which), (label, words), (time(), y), &of)
            })
        });
        let metric = FigureChoice {
            key: Key::of("metric"),
            first: 0,
            values: both.iter().map(|(label, ..)| (*label).to_owned()).collect(),
        };
        figures.push(Figure {
            id: format!("{section}-course"),
            heading: "Over time".to_owned(),
            views: views.collect(),
            choices: std::iter::once(metric).chain(division.choices.iter().cloned()).collect(),
        });
    }
    figures
}

impl Lines<'_> {
    /// Lines of the plot. `of` returns the points of a run. Runs with equal points share a line.
    fn series(&self, of: &dyn Fn(&Timeline) -> (Vec<f64>, Vec<f64>)) -> Vec<Series> {
        let mut series: Vec<Series> = Vec::new();
        for (number, run) in self.runs.iter().enumerate() {
            let ((x, mean), name) = (of(run), &self.names[number]);
            if x.is_empty() {
                continue;
            }
            match series.iter_mut().find(|other| other.x == x && other.mean == mean) {
                Some(equal) => equal.name = [&*equal.name, name].join(EQUAL),
                None => series.push(Series {
                    name: name.clone(),
                    colour: self.colours[number],
                    x,
                    mean,
                    ..Series::default()
                }),
            }
        }
        series
    }
}

impl<'a> Division<'a> {
    /// Divides runs into plots. The runs of one plot differ only in the compared key.
    fn new(runs: &'a [Timeline], axes: &[PlotAxis]) -> Division<'a> {
        let places: Vec<Vec<usize>> =
            runs.iter().map(|run| PlotAxis::places(axes, run.scenario as usize)).collect();
        let values =
            |axis: usize| -> BTreeSet<usize> { places.iter().map(|place| place[axis]).collect() };
        let varying: Vec<usize> = (0..axes.len()).filter(|axis| values(*axis).len() > 1).collect();
        let along = along(axes).filter(|own| varying.contains(own)).or(varying.first().copied());
        let combinations: usize = varying.iter().map(|axis| values(*axis).len()).product();
        let different: BTreeSet<u64> = runs.iter().map(|run| run.scenario).collect();
        let is_whole = different.len() == runs.len() && combinations == runs.len();
        let Some(own) = along.filter(|_| is_whole) else {
            return Division::in_one(runs);
        };
        let others: Vec<usize> = varying.into_iter().filter(|axis| *axis != own).collect();
        let choice = |axis: &usize| FigureChoice {
            key: Key { label: word(&axes[*axis].key), key: axes[*axis].key.clone() },
            values: values(*axis).iter().map(|own| axes[*axis].labels[*own].clone()).collect(),
            first: 0,
        };
        let mut plots: BTreeMap<Vec<usize>, Lines<'_>> = BTreeMap::new();
        for (run, place) in runs.iter().zip(&places) {
            let at = others.iter().map(|axis| values(*axis).range(..place[*axis]).count());
            let at: Vec<usize> = at.collect();
            let plot = plots.entry(at.clone()).or_insert_with(|| Lines::empty(at));
            plot.runs.push(run);
            plot.names.push(axes[own].labels[place[own]].clone());
            plot.colours.push(place[own] % MAX_LINES);
        }
        let is_shared =
            |axis: &usize| *axis != own && !others.contains(axis) && axes[*axis].count() > 1;
        let shared = (0..axes.len()).filter(is_shared).map(|axis| {
            format!(", with {} = {}", word(&axes[axis].key), axes[axis].labels[places[0][axis]])
        });
        Division {
            key: Some(Key { label: word(&axes[own].key), key: axes[own].key.clone() }),
            shared: shared.collect(),
            values: Some(axes[own].count()),
            choices: others.iter().map(choice).collect(),
            plots: plots.into_values().collect(),
        }
    }

    fn in_one(runs: &'a [Timeline]) -> Division<'a> {
        let name = |run: &Timeline| {
            let of_scenario = runs.iter().filter(|other| other.scenario == run.scenario);
            match (&*run.title, of_scenario.count()) {
                ("", 1) => "the only scenario".to_owned(),
                ("", _) => format!("replication {}", run.replication),
                (title, 1) => title.to_owned(),
                (title, _) => format!("{title}, replication {}", run.replication),
            }
        };
        let plot = Lines {
            runs: runs.iter().collect(),
            names: runs.iter().map(name).collect(),
            colours: (0..runs.len()).collect(),
            ..Lines::empty(Vec::new())
        };
        Division {
            key: (runs.len() > 1).then(|| Key::of("run")),
            shared: String::new(),
            values: None,
            choices: Vec::new(),
            plots: vec![plot],
        }
    }

    fn each(&self, shown: usize) -> String {
        match (&self.key, self.values) {
            (Some(key), Some(all)) if shown < all => {
                format!(", a line for {shown} of the {all} values of {}", key.label)
            }
            (Some(key), _) => format!(", a line for each {}", key.label),
            (None, _) => String::new(),
        }
    }
}

impl Lines<'_> {
    fn empty(at: Vec<usize>) -> Self {
        Lines { at, runs: Vec::new(), names: Vec::new(), colours: Vec::new() }
    }
}
