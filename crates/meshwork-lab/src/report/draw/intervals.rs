//! Intervals around zero, one below the other: how much several things differ from one.

use std::fmt::Write as _;

use super::svg::{SIZE, at, line, shortened, text, wide};
use crate::findings::number::Rounded;
use crate::findings::statistics::Interval;

/// The height of a row.
const ROW: f64 = 22.0;

/// The room beside a plot in which numbers stand.
const NUMBERS: f64 = 140.0;

/// Intervals as a drawing of this width, in the colours of the page; a dot that is filled stands for one that excludes 0.
pub(in crate::report) fn intervals(rows: &[(String, Interval)], width: f64) -> String {
    let names = rows.iter().map(|(name, _)| wide(name, SIZE)).fold(0.0, f64::max);
    let names = names.min(width * 0.35) + 10.0;
    let (left, right) = (names, width - NUMBERS);
    let ends = |own: &Interval| {
        let (mean, half) = (own.mean.unwrap_or(0.0), own.half_width.unwrap_or(0.0));
        [mean - half, mean + half]
    };
    let reach = rows.iter().flat_map(|(_, own)| ends(own)).map(f64::abs).fold(0.0, f64::max);
    let reach = if reach > 0.0 { reach * 1.08 } else { 1.0 };
    let x = |value: f64| left + (right - left) * (value + reach) / (2.0 * reach);
    let height = ROW * rows.len() as f64 + 6.0;
    let mut out = String::new();
    let _ = writeln!(
        out,
        r#"<svg viewBox="0 0 {0} {1}" width="{0}" height="{1}" role="img">"#,
        at(width),
        at(height)
    );
    line(&mut out, [x(0.0), 0.0, x(0.0), height], "var(--soft)", 1.0, "");
    for (number, (name, own)) in rows.iter().enumerate() {
        let y = ROW * (number as f64 + 0.5) + 3.0;
        let label = shortened(name, names - 10.0, SIZE);
        text(&mut out, [names - 10.0, y + 4.0], &label, "var(--ink)", "end", "");
        let colour = format!("var(--c{})", number % 10);
        let [low, high] = ends(own);
        line(&mut out, [x(low), y, x(high), y], &colour, 2.0, "");
        let fill = if own.excludes_zero() { colour.as_str() } else { "var(--paper)" };
        let (cx, cy) = (at(x(own.mean.unwrap_or(0.0))), at(y));
        let _ = writeln!(
            out,
            r#"<circle cx="{cx}" cy="{cy}" r="4" fill="{fill}" stroke="{colour}" stroke-width="2"/>"#
        );
        let rounded = Rounded::new(own.mean, own.half_width).signed();
        let half = rounded.half_width.map_or_else(String::new, |half| format!(" ± {half}"));
        let shown = format!("{}{half}", rounded.mean);
        text(&mut out, [right + 12.0, y + 4.0], &shown, "var(--soft)", "start", "");
    }
    out.push_str("</svg>\n");
    out
}
