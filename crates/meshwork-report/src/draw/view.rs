//! Points of a view of a figure, and the ranges of its scales.

use super::numbers::{percent, percent_of, ratio_of, rounded};
use crate::views::{FigureView, Scale, Style};

#[derive(Clone, Debug)]
pub(super) struct Point {
    /// Position of the point on the x axis of its view: a number, or the index of a name.
    pub(super) x: f64,
    pub(super) mean: f64,
    pub(super) half: Option<f64>,
    pub(super) low: f64,
    pub(super) high: f64,
    pub(super) replications: u64,
    /// Whether the scenario has only one run by design, so that no replications are missing.
    pub(super) once: bool,
    pub(super) colour: usize,
    pub(super) panel: usize,
}

pub(super) fn has_percent(view: &FigureView) -> bool {
    view.series.iter().any(|series| !series.percent.is_empty())
}

/// All points of a view, series by series. If `in_percent`, differences are in percent.
pub(super) fn points(view: &FigureView, in_percent: bool) -> Vec<Point> {
    let mut all = Vec::new();
    for series in &view.series {
        for i in 0..series.x.len() {
            let (mean, half, [low, high]) = match series.percent.get(i).filter(|_| in_percent) {
                // An interval without an upper end extends beyond every plot.
                Some(&(mean, Some(low), high)) => {
                    let high = high.unwrap_or(f64::INFINITY);
                    (mean, Some((high - low) / 2.0), [low, high])
                }
                Some(&(mean, None, _)) => (mean, None, [mean, mean]),
                None => {
                    let mean = series.mean[i];
                    let half = series.half.get(i).copied().flatten();
                    let wide = half.unwrap_or(0.0);
                    (mean, half, [mean - wide, mean + wide])
                }
            };
            all.push(Point {
                x: series.x[i],
                mean,
                half,
                low,
                high,
                replications: series.replications.get(i).copied().unwrap_or(0),
                once: series.once.get(i).copied().unwrap_or(false),
                colour: series.colour,
                panel: series.panel,
            });
        }
    }
    all
}

impl Point {
    pub(super) fn is_clear(&self) -> bool {
        self.half.is_some() && (self.low > 0.0 || self.high < 0.0)
    }

    pub(super) fn is_partial(&self, view: &FigureView) -> bool {
        !self.once
            && self.replications > 0
            && view.expected.is_some_and(|expected| self.replications < expected)
    }

    /// Whether the point's whisker extends below a range, and whether it extends above the range.
    ///
    /// If a range begins at 0, nothing counts as below it, unless the values are `differences`. The
    /// result is `None` if the point has no whisker, or if its whisker lies outside the range.
    pub(super) fn whisker(&self, [from, until]: [f64; 2], differences: bool) -> Option<[bool; 2]> {
        let is_there = self.half.is_some_and(|half| half > 0.0);
        (is_there && self.low <= until && self.high >= from)
            .then_some([self.low < from && (differences || from.abs() > 0.0), self.high > until])
    }

    pub(super) fn words(&self, in_percent: bool) -> String {
        if in_percent {
            percent(self.mean, self.half.map(|_| [self.low, self.high]))
        } else {
            rounded(self.mean, self.half)
        }
    }
}

pub(super) fn label(scale: &Scale) -> String {
    if scale.unit.is_empty() {
        scale.label.clone()
    } else {
        format!("{} ({})", scale.label, scale.unit)
    }
}

/// Whether the scale of measured values is logarithmic. In a step plot, this is the scale `x`.
pub(crate) fn is_log(view: &FigureView) -> bool {
    if view.style == Style::Steps { view.x.log } else { view.y.log }
}

/// Widens a range at both ends, except at an end that is 0. A range from 0 to 0 is widened upwards.
fn padded(low: f64, high: f64) -> [f64; 2] {
    let available = [(high - low) * 0.05, high.abs() * 0.1, 1.0]
        .into_iter()
        .find(|&available| available != 0.0);
    let available = available.unwrap_or(1.0);
    if low == 0.0 && high == 0.0 {
        return [0.0, available];
    }
    [
        if low == 0.0 { 0.0 } else { low - available },
        if high == 0.0 { 0.0 } else { high + available },
    ]
}

pub(super) fn extent(numbers: impl Iterator<Item = f64>) -> [f64; 2] {
    numbers.fold([f64::INFINITY, f64::NEG_INFINITY], |[least, most], number| {
        [least.min(number), most.max(number)]
    })
}

/// Range of the axis for measured values. It contains all means, but intervals may extend beyond
/// it.
pub(super) fn measured(view: &FigureView, points: &[Point], log: bool) -> [f64; 2] {
    if log && view.differences {
        let ratio = |point: &Point| Point {
            mean: ratio_of(point.mean),
            low: ratio_of(point.low),
            high: ratio_of(point.high),
            ..point.clone()
        };
        let ratios: Vec<Point> = points.iter().map(ratio).collect();
        let [from, until] = on_log_scale(&ratios, &[]);
        return [percent_of(from.min(1.0)), percent_of(until.max(1.0))];
    }
    let bounds = view.bounds.iter().map(|bound| bound.y).filter(|&y| !log || y > 0.0);
    let bounds: Vec<f64> = bounds.collect();
    let means = points.iter().map(|point| point.mean);
    let [least, most] = extent(means.chain(bounds.iter().copied()));
    if view.style == Style::Steps {
        let top = match most * 1.05 {
            _ if most > 0.0 && most <= 1.0 => 1.0,
            0.0 => 1.0,
            top => top,
        };
        return [least.min(0.0), top];
    }
    if log {
        return on_log_scale(points, &bounds);
    }
    let low = extent(points.iter().map(|point| point.low))[0].min(least);
    let high = extent(points.iter().map(|point| point.high))[1].max(most);
    let spread = [most.max(0.0) - least.min(0.0), most.abs(), 1.0];
    let spread = spread.into_iter().find(|&spread| spread != 0.0).unwrap_or(1.0);
    // For non-negative values, a wide interval does not extend the range below 0.
    let minimum = if least >= 0.0 && !view.differences { 0.0 } else { f64::NEG_INFINITY };
    let from = cut(low, least, -spread).max(minimum);
    let until = cut(high, most, spread);
    if view.differences {
        // An interval that contains 0 is seen on both sides of it.
        let margin = 0.1 * spread;
        return padded(from.min(0.0).min(low.max(-margin)), until.max(0.0).max(high.min(margin)));
    }
    if view.style == Style::Rows {
        return padded(from.min(0.0), until.max(0.0));
    }
    // The scale begins above 0 if all values are far above 0.
    if from > 0.0 && least < 0.6 * most { padded(0.0, until) } else { padded(from, until) }
}

/// End of a scale that shows intervals up to `bound` and means up to `mean`.
///
/// The scale ends at `bound`. If `bound` is farther from `mean` than `spread`, it ends at `mean`
/// plus half of `spread` instead.
fn cut(bound: f64, mean: f64, spread: f64) -> f64 {
    if (bound - mean).abs() <= spread.abs() { bound } else { mean + spread / 2.0 }
}

fn on_log_scale(points: &[Point], bounds: &[f64]) -> [f64; 2] {
    let means = points.iter().map(|point| point.mean);
    let [least, most] = extent(means.chain(bounds.iter().copied()));
    let high = extent(points.iter().map(|point| point.high))[1].max(most);
    let positive = |point: &Point| if point.low > 0.0 { point.low } else { point.mean };
    let positive = extent(points.iter().map(positive))[0];
    [positive.min(least).max(least / 3.0) / 1.1, high.min(most * 3.0) * 1.1]
}

pub(super) fn along(view: &FigureView, points: &[Point], log: bool) -> [f64; 2] {
    let all: Vec<f64> = if view.x.grid.is_empty() {
        points.iter().map(|point| point.x).collect()
    } else {
        view.x.grid.clone()
    };
    let [least, most] = extent(all.into_iter().filter(|&x| !log || x > 0.0));
    if least < most {
        [least, most]
    } else if log {
        [least / 2.0, most * 2.0]
    } else {
        [least - 0.5, most + 0.5]
    }
}

/// Function that maps a range of numbers to coordinates. Numbers outside of the range map to its
/// ends.
pub(super) fn scale(
    [from, until]: [f64; 2],
    [first, last]: [f64; 2],
    (log, is_ratio): (bool, bool),
) -> impl Fn(f64) -> f64 {
    let of = move |number: f64| match log {
        true if is_ratio => ratio_of(number).log10(),
        true => number.log10(),
        false => number,
    };
    move |number| {
        let inside = number.max(from).min(until);
        first + (last - first) * (of(inside) - of(from)) / (of(until) - of(from))
    }
}
