//! Drawing of a panel of a plot.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::dates::date_ticks;
use super::numbers::{linear_ticks, log_ticks, ratio_ticks, tick};
use super::svg::{
    At, COLOURS, SIZE, at, beyond, dashed, escaped, line, mark, path, rect, shortened, text, wide,
};
use super::view::{Point, along, extent, has_percent, label, measured, points, scale};
use crate::views::{Bound, FigureView, Scale, Style};

const SMALL: f64 = 11.0;

/// Font size in pixels at which plain text is about as wide as bold text of the usual font size.
const BOLD: f64 = 13.0;
const SMALLER: &str = " font-size=\"11\"";

/// Minimum width in pixels of a panel in which the name of each line stands at the line's end.
const NAMED: f64 = 420.0;

/// Maximum fraction of a panel's width that the names at the ends of its lines may take.
const NAME: f64 = 0.4;

/// Minimum vertical distance of names at the ends of lines, in pixels.
const BETWEEN: f64 = 13.0;

/// Minimum distance in pixels between the centre of a point's mark and the point's name.
const CLEAR: f64 = 5.0;

pub(super) struct Theme {
    pub(super) ink: &'static str,
    pub(super) soft: &'static str,
    pub(super) line: &'static str,
    pub(super) paper: &'static str,
    pub(super) colours: [&'static str; COLOURS],
}

pub(super) struct Common<'a> {
    pub(super) view: &'a FigureView,
    points: Vec<Point>,
    domain: [f64; 2],
    log: bool,
    in_percent: bool,
    /// For each name on the x axis, the mean of its values over all panels. Names can be sorted by
    /// it.
    order: BTreeMap<usize, f64>,
}

pub(super) struct Drawn {
    pub(super) svg: String,
    pub(super) height: f64,
}

impl<'a> Common<'a> {
    pub(super) fn new(view: &'a FigureView, log: bool) -> Common<'a> {
        let in_percent = has_percent(view);
        let points = points(view, in_percent);
        let mut sums: BTreeMap<usize, (f64, f64)> = BTreeMap::new();
        for point in &points {
            let (sum, count) = sums.entry(point.x as usize).or_default();
            *sum += point.mean;
            *count += 1.0;
        }
        let order = sums.into_iter().map(|(place, (sum, count))| (place, sum / count)).collect();
        Common { domain: measured(view, &points, log), view, points, log, in_percent, order }
    }

    pub(super) fn panel(&self, panel: usize, width: f64, theme: &Theme) -> Drawn {
        let points: Vec<&Point> = self.points.iter().filter(|point| point.panel == panel).collect();
        match self.view.style {
            Style::Rows => self.rows(panel, &points, width, theme),
            Style::Lines | Style::Points | Style::Steps => {
                self.curves(panel, &points, width, theme)
            }
        }
    }

    fn look<'b>(
        &self,
        point: &Point,
        colour: &'b str,
        theme: &'b Theme,
    ) -> (&'b str, &'static str) {
        let is_open = self.view.differences && !point.is_clear();
        let more = if point.is_partial(self.view) { " opacity=\"0.45\"" } else { "" };
        (if is_open { theme.paper } else { colour }, more)
    }

    fn measure(&self) -> String {
        let scale = &self.view.y;
        if self.in_percent { format!("{} (%)", scale.label) } else { label(scale) }
    }

    /// Ticks of the horizontal axis: dates, or swept values if they fit, or else round numbers.
    fn ticks_along(&self, log: bool, domain: [f64; 2], width: f64) -> Vec<(f64, String)> {
        let about = (width / 90.0).floor().max(2.0);
        let dates = self.view.x.dates.filter(|_| !log);
        let dated = dates.map(|dates| date_ticks(dates, domain[0], domain[1], about));
        dated.filter(|dated| !dated.is_empty()).unwrap_or_else(|| {
            let numbers = self.numbers_along(log, domain, width);
            numbers.into_iter().map(|number| (number, tick(number))).collect()
        })
    }

    fn numbers_along(&self, log: bool, domain: [f64; 2], width: f64) -> Vec<f64> {
        if self.view.style == Style::Lines {
            let mut values: Vec<f64> = if self.view.x.grid.is_empty() {
                self.points.iter().map(|point| point.x).collect()
            } else {
                self.view.x.grid.clone()
            };
            values.sort_by(f64::total_cmp);
            values.dedup();
            let place = scale(domain, [0.0, width], (log, false));
            let available = values.windows(2).map(|pair| {
                let need =
                    f64::midpoint(wide(&tick(pair[0]), SMALL), wide(&tick(pair[1]), SMALL)) + 8.0;
                place(pair[1]) - place(pair[0]) - need
            });
            if available.fold(f64::INFINITY, f64::min) >= 0.0 {
                return values;
            }
        }
        if log {
            log_ticks(domain[0], domain[1], (width / 60.0).floor().max(2.0))
        } else {
            linear_ticks(domain[0], domain[1], (width / 80.0).floor().max(2.0))
        }
    }

    fn curves(&self, panel: usize, points: &[&Point], width: f64, theme: &Theme) -> Drawn {
        let Common { view, domain, .. } = *self;
        let is_steps = view.style == Style::Steps;
        let up_log = self.log && !is_steps;
        let along_log = if is_steps { self.log } else { view.x.log };
        let names = &view.x.names;
        let height = (width * 0.6).clamp(230.0, 380.0).floor();
        let up = if up_log {
            self.log_ticks(domain, 8.0)
        } else {
            linear_ticks(domain[0], domain[1], 6.0)
        };
        let left = up.iter().map(|&number| wide(&tick(number), SMALL) + 14.0).fold(30.0, f64::max);
        let colours = in_order(points.iter().map(|point| point.colour));
        let titles: BTreeMap<usize, &str> =
            view.series.iter().map(|series| (series.colour, series.name.as_str())).collect();
        let is_named = view.style == Style::Lines && colours.len() > 1 && width >= NAMED;
        let widths = colours.iter().map(|number| wide(titles[number], SMALL));
        let name = if is_named { extent(widths)[1].min(NAME * width) } else { 0.0 };
        let (top, bottom, right) = (26.0, height - 42.0, width - 18.0 - name);
        let y = scale(domain, [bottom, top], (up_log, self.in_percent));
        let step = (right - left) / (names.len().max(1) as f64);
        let reach = along(view, &self.points, along_log);
        let numbers = scale(reach, [left + 8.0, right - 8.0], (along_log, false));
        let x = |place: f64| {
            if names.is_empty() { numbers(place) } else { left + (place + 0.5) * step }
        };
        let mut svg = String::new();
        for &number in &up {
            line(&mut svg, [left, y(number), right, y(number)], theme.line, 1.0, "");
            text(
                &mut svg,
                [left - 7.0, y(number) + 4.0],
                &tick(number),
                theme.soft,
                "end",
                SMALLER,
            );
        }
        line(&mut svg, [left, bottom, right, bottom], theme.soft, 1.0, "");
        if names.is_empty() {
            for (number, words) in self.ticks_along(along_log, reach, right - left - 16.0) {
                let x = x(number);
                line(&mut svg, [x, bottom, x, bottom + 5.0], theme.soft, 1.0, "");
                tick_below(&mut svg, [x, bottom + 17.0], &words, width, theme);
            }
        } else {
            let widest = extent(names.iter().map(|name| wide(name, SMALL)))[1];
            let every = ((widest + 8.0).min(90.0) / step).ceil().max(1.0);
            for (place, name) in names.iter().enumerate().step_by(every as usize) {
                let name = shortened(name, step * every - 4.0, SMALL);
                let at = [x(place as f64), bottom + 17.0];
                text(&mut svg, at, &name, theme.soft, "middle", SMALLER);
            }
        }
        text(&mut svg, [0.0, 12.0], &self.measure(), theme.ink, "start", "");
        label_below(&mut svg, &view.x, [f64::midpoint(left, right), height - 6.0], theme);
        if domain[0] < 0.0 && domain[1] > 0.0 {
            line(&mut svg, [left, y(0.0), right, y(0.0)], theme.ink, 1.0, "");
        }
        let mut ends = Vec::new();
        for (order, &number) in colours.iter().enumerate() {
            let own: Vec<&Point> =
                points.iter().copied().filter(|point| point.colour == number).collect();
            let colour = theme.colours[number % COLOURS];
            let place = |point: &Point| [x(point.x), y(point.mean)];
            ends.extend(own.last().map(|point| (place(point), titles[&number], colour)));
            let _ = writeln!(svg, r#"<g data-series="{number}">"#);
            if is_steps {
                let places: Vec<At> = own.iter().map(|point| place(point)).collect();
                path(&mut svg, &[steps(&places)], colour, 1.75, &dashed(number));
                svg.push_str("</g>\n");
                continue;
            }
            // Whiskers at one position are offset sideways, so that all are visible.
            let beside = 2.0 * (order as f64 - (colours.len() as f64 - 1.0) / 2.0);
            for point in &own {
                let Some([is_below, is_above]) = point.whisker(domain, view.differences) else {
                    continue;
                };
                let at = x(point.x) + beside;
                let ends = [at, y(point.low), at, y(point.high)];
                line(&mut svg, ends, colour, 1.5, " stroke-opacity=\"0.55\"");
                if is_below {
                    beyond(&mut svg, [at, y(point.low)], [0.0, 1.0], colour);
                }
                if is_above {
                    beyond(&mut svg, [at, y(point.high)], [0.0, -1.0], colour);
                }
            }
            let runs: Vec<Vec<At>> = runs(view, &own)
                .iter()
                .map(|run| run.iter().map(|point| place(point)).collect())
                .collect();
            if view.style == Style::Lines {
                path(&mut svg, &runs, colour, 1.75, "");
            }
            for point in own {
                let (fill, more) = self.look(point, colour, theme);
                mark(&mut svg, number, place(point), 3.4, [colour, fill], more);
            }
            svg.push_str("</g>\n");
        }
        if is_named {
            names_of_lines(&mut svg, ends, bottom, [right, name], theme);
        }
        let labelled = view.series.iter().filter(|series| series.panel == panel).flat_map(|own| {
            let place = |i: usize| [x(own.x[i]), y(own.mean[i])];
            (0..own.x.len()).map(move |i| (place(i), own.labels.get(i).map_or("", |own| &**own)))
        });
        labels(&mut svg, &labelled.collect::<Vec<_>>(), [left, right, top, bottom], theme);
        for (bound, number) in self.bounds(panel) {
            let (at, up) = ([x(bound.x), y(bound.y)], if bound.is_upper { 1.0 } else { -1.0 });
            draw_bound(&mut svg, at, [0.0, up], theme.colours[number % COLOURS]);
        }
        Drawn { svg, height }
    }

    /// Bounds of claims in a panel, each with the index of the colour of its series.
    ///
    /// Bounds that are not positive are left out on a logarithmic scale.
    fn bounds(&self, panel: usize) -> impl Iterator<Item = (&Bound, usize)> {
        let here = self.view.bounds.iter().filter(move |bound| bound.panel == panel);
        here.filter(|bound| !self.log || bound.y > 0.0)
            .map(|bound| (bound, self.view.series[bound.series].colour))
    }

    /// Draws a panel with a row of bars or dots for each name. The x axis shows the means.
    fn rows(&self, panel: usize, points: &[&Point], width: f64, theme: &Theme) -> Drawn {
        let Common { view, domain, log, .. } = *self;
        let names = &view.x.names;
        let mut colours = in_order(points.iter().map(|point| point.colour));
        colours.sort_unstable();
        let is_one = view.colour.is_none();
        let places = self.places(points, is_one);
        let bar = match (is_one, colours.len()) {
            (true, _) => 20.0,
            (false, 5..) => 14.0,
            (false, _) => 17.0,
        };
        let widest = extent(places.iter().map(|&place| wide(&names[place], SIZE)))[1] + 10.0;
        // A name too long to stand beside its bar stands above it.
        let is_beside = is_one && widest <= width * 0.42;
        let head = match (is_beside, is_one) {
            (true, _) => 4.0,
            (false, true) => 18.0,
            (false, false) => 24.0,
        };
        let step = bar * (if is_one { 1.0 } else { colours.len() as f64 }) + head;
        let left = if is_beside { widest } else { 8.0 };
        let said = if width - left >= 260.0 {
            let words = points.iter().map(|point| wide(&point.words(self.in_percent), SMALL));
            extent(words)[1] + 10.0
        } else {
            0.0
        };
        let right = width - said.max(22.0);
        let top = 6.0;
        let bottom = top + places.len() as f64 * step + 4.0;
        let height = bottom + 42.0;
        let x = scale(domain, [left, right], (log, self.in_percent));
        let is_bars = !log && !view.differences;
        let has_zero = !log || self.in_percent;
        let zero = if has_zero { x(0.0) } else { left };
        let ticks = if log {
            self.roomy_log_ticks(domain, right - left, &x)
        } else {
            linear_ticks(domain[0], domain[1], ((right - left) / 70.0).floor().max(2.0))
        };
        let mut svg = String::new();
        for number in ticks {
            let x = x(number);
            line(&mut svg, [x, top, x, bottom], theme.line, 1.0, "");
            tick_below(&mut svg, [x, bottom + 15.0], &tick(number), width, theme);
        }
        if has_zero {
            line(&mut svg, [zero, top, zero, bottom], theme.ink, 1.0, "");
        }
        for (row, &place) in places.iter().enumerate() {
            let begin = top + row as f64 * step + head;
            if is_beside {
                let at = [left - 10.0, begin + bar / 2.0 + 2.0];
                text(&mut svg, at, &names[place], theme.ink, "end", "");
            } else {
                let (size, weight) =
                    if is_one { (SIZE, "") } else { (BOLD, " font-weight=\"600\"") };
                let name = shortened(&names[place], width - left - 12.0, size);
                // Lines behind the name end before its letters.
                let more = format!(
                    r#"{weight} paint-order="stroke" stroke="{}" stroke-width="5""#,
                    theme.paper
                );
                text(&mut svg, [left + 4.0, begin - 6.0], &name, theme.ink, "start", &more);
            }
            for point in points.iter().filter(|point| point.x as usize == place) {
                let index = if is_one {
                    0
                } else {
                    colours.iter().position(|&colour| colour == point.colour).unwrap_or(0)
                };
                let number = match view.x.colours.get(place) {
                    Some(&number) if is_one => number,
                    _ => point.colour,
                };
                let colour = theme.colours[number % COLOURS];
                let (fill, more) = self.look(point, colour, theme);
                let y = begin + (index as f64 + 0.5) * bar - (if is_one { 2.0 } else { 0.0 });
                let end = x(point.mean);
                if is_bars {
                    let place = [zero.min(end), y - bar / 2.0 + 2.0, (end - zero).abs(), bar - 4.0];
                    rect(&mut svg, place, colour, more);
                }
                if let Some([is_below, is_above]) = point.whisker(domain, view.differences) {
                    let stroke = if is_bars { theme.ink } else { colour };
                    line(&mut svg, [x(point.low), y, x(point.high), y], stroke, 1.5, "");
                    if is_below {
                        beyond(&mut svg, [x(point.low), y], [-1.0, 0.0], stroke);
                    }
                    if is_above {
                        beyond(&mut svg, [x(point.high), y], [1.0, 0.0], stroke);
                    }
                }
                if !is_bars {
                    mark(&mut svg, number, [end, y], 4.0, [colour, fill], more);
                }
                for (bound, number) in self.bounds(panel) {
                    if bound.x as usize == place && number == point.colour {
                        let to = if bound.is_upper { -1.0 } else { 1.0 };
                        draw_bound(&mut svg, [x(bound.y), y], [to, 0.0], theme.ink);
                    }
                }
                if said > 0.0 {
                    let at = [right + 8.0, y + 4.0];
                    let words = point.words(self.in_percent);
                    text(&mut svg, at, &words, theme.soft, "start", SMALLER);
                }
            }
        }
        let measure = self.measure();
        let middle = inside(f64::midpoint(left, right), wide(&measure, SIZE) / 2.0, width);
        text(&mut svg, [middle, height - 8.0], &measure, theme.ink, "middle", "");
        Drawn { svg, height }
    }

    /// Ticks of a logarithmic axis. On an axis in percent, positions are logarithms of ratios.
    fn log_ticks(&self, [from, until]: [f64; 2], most: f64) -> Vec<f64> {
        let ticks = if self.in_percent { ratio_ticks } else { log_ticks };
        ticks(from, until, most)
    }

    /// Ticks of a logarithmic axis whose labels do not overlap.
    fn roomy_log_ticks(
        &self,
        domain: [f64; 2],
        available: f64,
        x: &dyn Fn(f64) -> f64,
    ) -> Vec<f64> {
        let half = |number: f64| wide(&tick(number), SMALL) / 2.0;
        let mut most = (available / 40.0).floor().max(3.0);
        loop {
            let ticks = self.log_ticks(domain, most);
            let is_apart =
                |pair: &[f64]| x(pair[1]) - x(pair[0]) >= half(pair[1]) + half(pair[0]) + 6.0;
            if most <= 2.0 || ticks.windows(2).all(is_apart) {
                return ticks;
            }
            most -= 1.0;
        }
    }

    /// Indices of the names that have a row of bars or dots, from top to bottom.
    fn places(&self, points: &[&Point], is_one: bool) -> Vec<usize> {
        let mut places: Vec<usize> = points.iter().map(|point| point.x as usize).collect();
        places.sort_unstable();
        places.dedup();
        if self.view.sorted && is_one {
            let mean = |place: &usize| self.order[place];
            places.sort_by(|a, b| mean(a).total_cmp(&mean(b)).then(a.cmp(b)));
        }
        places
    }
}

/// Draws a bound of a claim as a stroke, with an arrow that points to where the claim holds.
fn draw_bound(svg: &mut String, [x, y]: At, [dx, dy]: At, colour: &str) {
    line(svg, [x - 9.0 * dy, y - 9.0 * dx, x + 9.0 * dy, y + 9.0 * dx], colour, 2.5, "");
    line(svg, [x, y, x + 9.0 * dx, y + 9.0 * dy], colour, 1.5, "");
    beyond(svg, [x + 9.0 * dx, y + 9.0 * dy], [dx, dy], colour);
}

/// Writes the names of lines at their right ends. Names that would overlap are moved apart.
fn names_of_lines(
    svg: &mut String,
    mut ends: Vec<(At, &str, &str)>,
    bottom: f64,
    [left, width]: [f64; 2],
    theme: &Theme,
) {
    ends.sort_by(|([_, a], ..), ([_, b], ..)| a.total_cmp(b));
    let mut places: Vec<f64> = ends.iter().map(|&([_, y], ..)| y).collect();
    for i in 1..places.len() {
        places[i] = places[i].max(places[i - 1] + BETWEEN);
    }
    let mut lowest = bottom;
    for place in places.iter_mut().rev() {
        *place = place.min(lowest);
        lowest = *place - BETWEEN;
    }
    for (([x, y], name, colour), place) in ends.into_iter().zip(places) {
        line(svg, [x + 5.0, y, left + 4.0, place], colour, 1.0, " stroke-opacity=\"0.6\"");
        let name = shortened(name, width + 8.0, SMALL);
        text(svg, [left + 7.0, place + 4.0], &name, theme.ink, "start", SMALLER);
    }
}

/// Writes the name of each point at the first free place beside its mark, above it or below it.
fn labels(
    svg: &mut String,
    points: &[(At, &str)],
    [left, right, top, bottom]: [f64; 4],
    theme: &Theme,
) {
    let mut taken: Vec<[f64; 4]> =
        points.iter().map(|([x, y], _)| [x - CLEAR, x + CLEAR, y - CLEAR, y + CLEAR]).collect();
    for &([x, y], label) in points.iter().filter(|(_, label)| !label.is_empty()) {
        let width = wide(label, SMALL);
        let beside = [[x + 8.0, y + 4.0], [x - 8.0 - width, y + 4.0]];
        let others = [y - 8.0, y + 17.0].into_iter().flat_map(|level| {
            [x - width / 2.0, x - 4.0, x + 4.0 - width].map(|begin| [begin, level])
        });
        let free = beside.into_iter().chain(others).find_map(|place| {
            let [x, y] = place;
            let own = [x, x + width, y - 9.0, y + 2.0];
            let [from, until, above, below] = own;
            let is_inside = from >= left && until <= right && above >= top && below <= bottom;
            let is_clear = |other: &[f64; 4]| {
                until <= other[0] || from >= other[1] || below <= other[2] || above >= other[3]
            };
            (is_inside && taken.iter().all(is_clear)).then_some((place, own))
        });
        if let Some((place, own)) = free {
            taken.push(own);
            text(svg, place, label, theme.ink, "start", SMALLER);
        }
    }
}

fn in_order(numbers: impl Iterator<Item = usize>) -> Vec<usize> {
    let mut seen = Vec::new();
    for number in numbers {
        if !seen.contains(&number) {
            seen.push(number);
        }
    }
    seen
}

/// Position of the centre of a text: `x`, shifted so that the whole text is visible.
fn inside(x: f64, half: f64, width: f64) -> f64 {
    x.min(width - half).max(half)
}

fn tick_below(out: &mut String, [x, y]: At, words: &str, width: f64, theme: &Theme) {
    let place = [inside(x, wide(words, SMALL) / 2.0, width), y];
    text(out, place, words, theme.soft, "middle", SMALLER);
}

fn label_below(out: &mut String, scale: &Scale, place: At, theme: &Theme) {
    let [x, y] = place.map(at);
    let (ink, soft, words) = (theme.ink, theme.soft, label(scale));
    let _ = write!(
        out,
        r#"<text x="{x}" y="{y}" fill="{ink}" text-anchor="middle">{}"#,
        escaped(&words)
    );
    if scale.key.contains('.') {
        let key = escaped(&scale.key);
        let _ = write!(out, r#"<tspan dx="7" font-size="9.5" fill="{soft}">{key}</tspan>"#);
    }
    let _ = writeln!(out, "</text>");
}

/// Splits a line at each swept value without a point, so that no line crosses a gap.
fn runs<'a>(view: &FigureView, points: &[&'a Point]) -> Vec<Vec<&'a Point>> {
    let place = |x: f64| {
        if view.x.grid.is_empty() {
            return x;
        }
        let found = view.x.grid.iter().position(|other| other.total_cmp(&x).is_eq());
        found.map_or(-2.0, |place| place as f64)
    };
    let mut runs: Vec<Vec<&Point>> = Vec::new();
    let mut before = -2.0;
    for &point in points {
        let place = place(point.x);
        match runs.last_mut() {
            Some(run) if (place - before - 1.0).abs() < 1e-9 => run.push(point),
            _ => runs.push(vec![point]),
        }
        before = place;
    }
    runs
}

/// Corners of a step curve, which keeps each value until the next point.
fn steps(places: &[At]) -> Vec<At> {
    let mut corners = Vec::new();
    for (i, &[x, y]) in places.iter().enumerate() {
        if i > 0 {
            corners.push([x, places[i - 1][1]]);
        }
        corners.push([x, y]);
    }
    corners
}
