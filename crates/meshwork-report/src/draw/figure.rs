//! A whole figure as an SVG file: heading, legend and panels.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use super::panel::{Common, Theme};
use super::svg::{COLOURS, SIZE, at, escaped, mark, rect, sample, shortened, text, wide};
use super::view::is_log;
use crate::views::{FigureView, Style};

const PAPER: Theme = Theme {
    ink: "#23231f",
    soft: "#66655e",
    line: "#e4e1d9",
    paper: "#ffffff",
    colours: [
        "#2a6db3", "#c8501e", "#1a8468", "#9a4a9c", "#a97f00", "#3d9fcd", "#7c5a3a", "#6d7480",
        "#c12a63", "#5f7f1d",
    ],
};

const FONT: &str = "Helvetica, Arial, 'Liberation Sans', sans-serif";
const MARGIN: f64 = 12.0;
const GAP: f64 = 24.0;
const LINE: f64 = 20.0;

pub fn figure(view: &FigureView, log: bool, width: f64) -> String {
    let theme = &PAPER;
    let available = width - 2.0 * MARGIN;
    let mut svg = String::new();
    let mut y = MARGIN + 14.0;
    let bold = " font-size=\"15\" font-weight=\"600\"";
    text(&mut svg, [MARGIN, y], &shortened(&view.title, available, 15.0), theme.ink, "start", bold);
    y += 10.0;
    if let Some(colour) = &view.colour {
        y = names(&mut svg, &colour.label, view, y, width) + 12.0;
    }
    let shown: BTreeSet<usize> = view.series.iter().map(|series| series.panel).collect();
    let columns = if shown.len() > 1 && width >= 600.0 { 2 } else { 1 };
    let each = (available - GAP * (columns as f64 - 1.0)) / columns as f64;
    let common = Common::new(view, log);
    let mut tallest: f64 = 0.0;
    for (i, &panel) in shown.iter().enumerate() {
        if i % columns == 0 && i > 0 {
            y += tallest + 14.0;
            tallest = 0.0;
        }
        let x = MARGIN + (i % columns) as f64 * (each + GAP);
        let name = view.panel.as_ref().map(|key| format!("{} = {}", key.label, view.panels[panel]));
        let head = if name.is_some() { 18.0 } else { 0.0 };
        if let Some(name) = name {
            let name = shortened(&name, each, SIZE);
            text(&mut svg, [x, y + 13.0], &name, theme.ink, "start", " font-weight=\"600\"");
        }
        let drawn = common.panel(panel, each, theme);
        let (across, down) = (at(x), at(y + head));
        let _ = writeln!(svg, "<g transform=\"translate({across} {down})\">\n{}</g>", drawn.svg);
        tallest = tallest.max(head + drawn.height);
    }
    let height = y + tallest + MARGIN;
    let mut out = String::new();
    let (w, h) = (at(width), at(height));
    let _ = writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{w}\" height=\"{h}\" viewBox=\"0 0 {w} {h}\" \
         font-family=\"{FONT}\" font-size=\"12\">\n<title>{}</title>\n<desc>{}</desc>",
        escaped(&view.title),
        escaped(&view.sentence)
    );
    rect(&mut out, [0.0, 0.0, width, height], theme.paper, "");
    out + &svg + "</svg>\n"
}

const PAGE: Theme = Theme {
    ink: "var(--ink)",
    soft: "var(--soft)",
    line: "var(--line)",
    paper: "var(--paper)",
    colours: [
        "var(--c0)",
        "var(--c1)",
        "var(--c2)",
        "var(--c3)",
        "var(--c4)",
        "var(--c5)",
        "var(--c6)",
        "var(--c7)",
        "var(--c8)",
        "var(--c9)",
    ],
};

/// Draws a view with one panel at its default scale, for a page without a script.
pub fn panel(view: &FigureView, width: f64) -> String {
    let drawn = Common::new(view, is_log(view)).panel(0, width, &PAGE);
    let (w, h, label) = (at(width), at(drawn.height), escaped(&view.sentence));
    format!(
        "<svg viewBox=\"0 0 {w} {h}\" width=\"{w}\" height=\"{h}\" role=\"img\" aria-label=\"{label}\">\n{}</svg>\n",
        drawn.svg
    )
}

pub fn legend(number: usize) -> String {
    let mut out = String::new();
    let colour = PAGE.colours[number % COLOURS];
    mark(&mut out, number, [0.0, 0.0], 5.5, [colour, colour], "");
    format!("<svg viewBox=\"-9 -9 18 18\" aria-hidden=\"true\">{out}</svg>")
}

/// Draws the legend, and returns the y coordinate of its lower end.
fn names(out: &mut String, key: &str, view: &FigureView, from: f64, width: f64) -> f64 {
    let theme = &PAPER;
    let (mut x, mut y) = (MARGIN, from + LINE - 4.0);
    text(out, [x, y], key, theme.soft, "start", "");
    x += wide(key, SIZE) + 14.0;
    let names: BTreeMap<usize, &str> =
        view.series.iter().map(|series| (series.colour, series.name.as_str())).collect();
    // Lines without marks are distinguished by dashes.
    let is_steps = view.style == Style::Steps;
    let own = if is_steps { 34.0 } else { 16.0 };
    for (number, name) in names {
        let words = shortened(name, width - 2.0 * MARGIN - own - 4.0, SIZE);
        if x + own + wide(&words, SIZE) > width - MARGIN {
            x = MARGIN;
            y += LINE;
        }
        let colour = theme.colours[number % COLOURS];
        if is_steps {
            sample(out, number, [x + 14.0, y - 4.0], colour);
        } else {
            mark(out, number, [x + 6.0, y - 4.0], 4.0, [colour, colour], "");
        }
        text(out, [x + own, y], &words, theme.ink, "start", "");
        x += own + wide(&words, SIZE) + 16.0;
    }
    y
}
