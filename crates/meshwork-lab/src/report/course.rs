//! Plots of single runs, with a line per run: waits, and utilization and queue over time.

use super::axes::Axis;
use super::figures::{is_wide, word};
use super::sample;
use super::views::{Dates, Figure, FigureChoice, FigureView, Key, Scale, Series, Style};
use crate::findings::clock::Clock;
use crate::watch::recording::Timeline;

/// Largest number of lines of a plot, each in a colour of its own.
const MAX_LINES: usize = sample::MAX;

/// Largest number of time intervals of a line. With more, noise would hide the other lines.
const MAX_SPANS: usize = 100;

const DAY: f64 = 86_400.0;

/// Largest time that is shown in seconds: two days.
const MAX_SECONDS: f64 = 2.0 * DAY;

/// Rounds a number to six significant digits, as many as a plot can show.
fn brief(number: f64) -> f64 {
    format!("{number:.5e}").parse().unwrap_or(number)
}

/// Points of the line of a run: start and mean of each time interval, then the end of the run.
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

/// Plots of the waits in `runs`, and of utilization and queue over time; empty without data.
pub(super) fn figures(
    runs: &[Timeline],
    axes: &[Axis],
    clock: &Clock,
    (section, name): (&str, &str),
) -> Vec<Figure> {
    let all = sample::all(axes);
    let runs = &runs[..runs.len().min(MAX_LINES)];
    let (key, shared, names, colours) = lines(runs, axes);
    let key = (runs.len() > 1).then_some(key);
    let parts = runs.iter().filter(|run| !run.whole).count();
    let line = |number: usize, (x, mean): (Vec<f64>, Vec<f64>)| Series {
        name: names[number].clone(),
        colour: colours[number],
        panel: 0,
        x,
        mean,
        half: Vec::new(),
        percent: Vec::new(),
        replications: Vec::new(),
        once: Vec::new(),
        labels: Vec::new(),
    };
    let view = |at: Vec<Option<usize>>,
                title: &str,
                words: &str,
                x: Scale,
                y: Scale,
                series: Vec<Series>| {
        let each = key.as_ref().map_or_else(String::new, |key| each(&key.label, runs.len(), all));
        FigureView {
            at,
            title: format!("{name}: {title}"),
            sentence: format!(
                "{words}{each}{shared}. Each line is one run{}.{}",
                if parts > 0 { ", as far as it is shown here" } else { "" },
                if x.log { " The scale is logarithmic." } else { "" }
            ),
            style: Style::Steps,
            differences: false,
            sorted: false,
            fixed: y.key != "share",
            expected: None,
            x,
            y,
            colour: key.clone(),
            panel: None,
            panels: Vec::new(),
            series: series.into_iter().filter(|series| !series.x.is_empty()).collect(),
            bounds: Vec::new(),
        }
    };
    let mut figures = Vec::new();
    let wait = |run: &Timeline| {
        let waits = run.waits.wait.iter().map(|&wait| brief(wait / clock.factor));
        (waits.collect(), run.waits.share.iter().map(|&share| brief(share)).collect())
    };
    let shares: Vec<Series> = runs.iter().enumerate().map(|(i, run)| line(i, wait(run))).collect();
    if shares.iter().any(|series| !series.x.is_empty()) {
        // A logarithmic scale cannot show waits of 0: the line begins at the share of these waits.
        let log = is_wide(shares.iter().flat_map(|series| &series.x).filter(|wait| **wait > 0.0));
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
        let words = "Of the jobs that started, the share that waited no longer than this";
        let heading = "How long jobs wait";
        let view = view(Vec::new(), heading, words, x, y, shares);
        figures.push(Figure {
            id: format!("{section}-waits"),
            heading: heading.to_owned(),
            choices: Vec::new(),
            views: vec![view],
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
        let views = both.iter().enumerate().map(|(which, (label, metric, unit, words))| {
            let of = |run: &Timeline| match which {
                0 => spans(run, &run.utilization, factor),
                _ => spans(run, &run.queue, factor),
            };
            let series = runs.iter().enumerate().map(|(i, run)| line(i, of(run))).collect();
            let y = Scale {
                label: (*label).to_owned(),
                key: (*metric).to_owned(),
                unit: (*unit).to_owned(),
                ..Scale::default()
            };
            view(vec![Some(which)], label, words, time(), y, series)
        });
        let metric = Key { label: "metric".to_owned(), key: "metric".to_owned() };
        figures.push(Figure {
            id: format!("{section}-course"),
            heading: "Over time".to_owned(),
            views: views.collect(),
            choices: vec![FigureChoice {
                key: metric,
                first: 0,
                values: both.iter().map(|(label, ..)| (*label).to_owned()).collect(),
            }],
        });
    }
    figures
}

/// Part of a caption that says that each value of a key has a line, or how many values have one.
fn each(key: &str, shown: usize, all: usize) -> String {
    if key != "run" && shown < all {
        format!(", a line for {shown} of the {all} values of {key}")
    } else {
        format!(", a line for each {key}")
    }
}

/// Determines the key that distinguishes the runs, and how the plot labels and draws each run.
///
/// The key is a swept one if the runs differ in no other key; otherwise it is `run`. The result is
/// the key, the values that all runs share as a text, the name of each run, and the index of each
/// run's colour.
fn lines(runs: &[Timeline], axes: &[Axis]) -> (Key, String, Vec<String>, Vec<usize>) {
    let places: Vec<Vec<usize>> =
        runs.iter().map(|run| Axis::places(axes, run.scenario as usize)).collect();
    let varies = |&axis: &usize| places.iter().any(|place| place[axis] != places[0][axis]);
    let varying: Vec<usize> = (0..axes.len()).filter(varies).collect();
    let is_once =
        |run: &Timeline| runs.iter().filter(|other| other.scenario == run.scenario).count() == 1;
    if let (&[own], true) = (&varying[..], runs.iter().all(is_once)) {
        let shared = (0..axes.len()).filter(|&axis| axis != own && axes[axis].count() > 1);
        let shared = shared.map(|axis| {
            format!(", with {} = {}", word(&axes[axis].key), axes[axis].labels[places[0][axis]])
        });
        let names = places.iter().map(|place| axes[own].labels[place[own]].clone());
        let colours = places.iter().map(|place| place[own] % MAX_LINES);
        let key = Key { label: word(&axes[own].key), key: axes[own].key.clone() };
        return (key, shared.collect(), names.collect(), colours.collect());
    }
    let name = |run: &Timeline| {
        let title = if run.title.is_empty() { "the only scenario" } else { &run.title };
        if is_once(run) {
            title.to_owned()
        } else {
            format!("{title}, replication {}", run.replication)
        }
    };
    let key = Key { label: "run".to_owned(), key: "run".to_owned() };
    (key, String::new(), runs.iter().map(name).collect(), (0..runs.len()).collect())
}
