//! What a view holds, as points, and how far its scales reach.

use super::numbers::{percent, rounded};
use crate::report::views::{Scale, Style, View};

/// One measured value, and where it stands.
#[derive(Clone, Debug)]
pub(super) struct Point {
    /// A number, or the index of a name.
    pub(super) x: f64,
    pub(super) mean: f64,
    pub(super) half: Option<f64>,
    pub(super) low: f64,
    pub(super) high: f64,
    /// How many replications it is of; 0 where that means nothing.
    pub(super) replications: u64,
    /// Whether it is of a run that is made once by design.
    pub(super) once: bool,
    pub(super) colour: usize,
    pub(super) panel: usize,
}

/// Whether differences are known as shares of what they are differences from.
pub(super) fn has_percent(view: &View) -> bool {
    view.series.iter().any(|series| !series.percent.is_empty())
}

/// Every point of a view, series by series; of differences in percent, if that is wanted.
pub(super) fn points(view: &View, in_percent: bool) -> Vec<Point> {
    let mut all = Vec::new();
    for series in &view.series {
        for i in 0..series.x.len() {
            let (mean, half, [low, high]) = match series.percent.get(i).filter(|_| in_percent) {
                // An interval without an upper end reaches beyond every plot.
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
    /// Whether its interval excludes 0.
    pub(super) fn is_clear(&self) -> bool {
        self.half.is_some() && (self.low > 0.0 || self.high < 0.0)
    }

    /// Whether it is of fewer replications than were asked for.
    pub(super) fn is_partial(&self, view: &View) -> bool {
        !self.once
            && self.replications > 0
            && view.expected.is_some_and(|expected| self.replications < expected)
    }

    /// Whether an interval can be drawn, and whether it goes on beyond either end of the plot; none where it cannot.
    pub(super) fn whisker(&self, [from, until]: [f64; 2]) -> Option<[bool; 2]> {
        let is_there = self.half.is_some_and(|half| half > 0.0);
        (is_there && self.low <= until && self.high >= from)
            .then_some([self.low < from, self.high > until])
    }

    /// What stands beside it.
    pub(super) fn words(&self, in_percent: bool) -> String {
        if in_percent {
            percent(self.mean, self.half.map(|_| [self.low, self.high]))
        } else {
            rounded(self.mean, self.half)
        }
    }
}

/// A scale with its unit.
pub(super) fn label(scale: &Scale) -> String {
    if scale.unit.is_empty() {
        scale.label.clone()
    } else {
        format!("{} ({})", scale.label, scale.unit)
    }
}

/// Whether what is measured is drawn on a logarithmic scale: of steps, what runs along is measured.
pub(in crate::report) fn is_log(view: &View) -> bool {
    if view.style == Style::Steps { view.x.log } else { view.y.log }
}

/// Room at both ends, but not below 0 where all is above.
fn padded(low: f64, high: f64) -> [f64; 2] {
    let room = [(high - low) * 0.05, high.abs() * 0.1, 1.0].into_iter().find(|&room| room != 0.0);
    let room = room.unwrap_or(1.0);
    [if low == 0.0 { 0.0 } else { low - room }, if high == 0.0 { 0.0 } else { high + room }]
}

/// The least and the most of some numbers.
pub(super) fn extent(numbers: impl Iterator<Item = f64>) -> [f64; 2] {
    numbers.fold([f64::INFINITY, f64::NEG_INFINITY], |[least, most], number| {
        [least.min(number), most.max(number)]
    })
}

/// From where to where the measured values go. Wide intervals may leave the plot: the means may not.
pub(super) fn measured(view: &View, points: &[Point], log: bool) -> [f64; 2] {
    let bounds = view.bounds.iter().map(|bound| bound.y).filter(|&y| !log || y > 0.0);
    let [least, most] = extent(points.iter().map(|point| point.mean).chain(bounds));
    if view.style == Style::Steps {
        let top = match most * 1.05 {
            _ if most > 0.0 && most <= 1.0 => 1.0,
            0.0 => 1.0,
            top => top,
        };
        return [least.min(0.0), top];
    }
    let low = extent(points.iter().map(|point| point.low))[0].min(least);
    let high = extent(points.iter().map(|point| point.high))[1].max(most);
    if log {
        let positive = |point: &Point| if point.low > 0.0 { point.low } else { point.mean };
        let positive = extent(points.iter().map(positive))[0];
        return [positive.min(least).max(least / 3.0) / 1.1, high.min(most * 3.0) * 1.1];
    }
    let spread = [most.max(0.0) - least.min(0.0), most.abs(), 1.0];
    let spread = spread.into_iter().find(|&spread| spread != 0.0).unwrap_or(1.0);
    // What is never negative is not shown to be so by a wide interval.
    let floor = if least >= 0.0 && !view.differences { 0.0 } else { f64::NEG_INFINITY };
    let from = low.max(least - spread / 2.0).max(floor);
    let until = high.min(most + spread / 2.0);
    if view.differences || view.style == Style::Rows {
        return padded(from.min(0.0), until.max(0.0));
    }
    // A line may leave 0 out where all of it is far above.
    if from > 0.0 && least < 0.6 * most { padded(0.0, until) } else { padded(from, until) }
}

/// From where to where the plot goes along.
pub(super) fn along(view: &View, points: &[Point], log: bool) -> [f64; 2] {
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

/// A point of the page for a number of a domain.
pub(super) fn scale(
    [from, until]: [f64; 2],
    [first, last]: [f64; 2],
    log: bool,
) -> impl Fn(f64) -> f64 {
    let of = move |number: f64| if log { number.log10() } else { number };
    move |number| {
        let inside = number.max(from).min(until);
        first + (last - first) * (of(inside) - of(from)) / (of(until) - of(from))
    }
}
