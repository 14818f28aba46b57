//! Draws stacked bars on a common scale.

use std::fmt::Write as _;

use super::numbers::{linear_ticks, tick};
use super::svg::{COLOURS, SIZE, at, escaped, line, rect, shortened, text, wide};
use super::view::extent;

/// Height in pixels of a bar together with the name above it.
const ROW: f64 = 44.0;

/// Draws stacked bars: each has its name above it, a text to its right, and parts of given sizes.
pub fn parts(bars: &[(String, String, Vec<f64>)], unit: &str, label: &str, width: f64) -> String {
    let most = bars.iter().map(|(.., own)| own.iter().sum::<f64>()).fold(0.0, f64::max);
    let most = if most > 0.0 { most } else { 1.0 };
    let said = bars.iter().map(|(_, words, _)| wide(words, SIZE));
    let right = width - extent(said)[1] - 10.0;
    let x = |value: f64| 2.0 + (right - 2.0) * value / most;
    let bottom = ROW * bars.len() as f64 + 4.0;
    let mut out = String::new();
    let (w, h) = (at(width), at(bottom + 38.0));
    let _ = writeln!(
        out,
        r#"<svg viewBox="0 0 {w} {h}" width="{w}" height="{h}" role="img" aria-label="{}">"#,
        escaped(label)
    );
    for number in linear_ticks(0.0, most, 4.0) {
        line(&mut out, [x(number), 0.0, x(number), bottom], "var(--line)", 1.0, "");
        let anchor = if number > 0.0 { "middle" } else { "start" };
        let place = [x(number), bottom + 15.0];
        text(&mut out, place, &tick(number), "var(--soft)", anchor, r#" font-size="11""#);
    }
    for (number, (name, words, own)) in bars.iter().enumerate() {
        let y = ROW * number as f64;
        let name = shortened(name, width - 10.0, SIZE);
        text(&mut out, [6.0, y + 14.0], &name, "var(--ink)", "start", r#" font-weight="600""#);
        let mut from = 0.0;
        for (part, &size) in own.iter().enumerate().filter(|(_, size)| **size > 0.0) {
            let place = [x(from), y + 20.0, x(from + size) - x(from), 16.0];
            let colour = format!("var(--c{})", part % COLOURS);
            rect(&mut out, place, &colour, r#" stroke="var(--paper)""#);
            from += size;
        }
        text(&mut out, [x(from) + 6.0, y + 32.0], words, "var(--soft)", "start", "");
    }
    line(&mut out, [x(0.0), 0.0, x(0.0), bottom], "var(--ink)", 1.0, "");
    text(&mut out, [x(most / 2.0), bottom + 32.0], unit, "var(--ink)", "middle", "");
    out + "</svg>\n"
}
