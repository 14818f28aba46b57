//! Basic SVG shapes as text.

use std::fmt::Write as _;

pub type At = [f64; 2];

pub fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// Formats a length in pixels, rounded to hundredths.
pub fn at(length: f64) -> String {
    let rounded = (length * 100.0 + 0.5).floor() / 100.0;
    if rounded == 0.0 { "0".to_owned() } else { rounded.to_string() }
}

pub const SIZE: f64 = 12.0;

/// Approximate width of a text in a sans-serif font, in pixels.
pub fn wide(text: &str, size: f64) -> f64 {
    let of = |letter: char| match letter {
        _ if "ijl.,:;'|!()[]tfr -".contains(letter) => 0.36,
        _ if "mwMW—…%±−+=<>".contains(letter) => 0.92,
        'A'..='Z' => 0.72,
        _ => 0.63,
    };
    text.chars().map(of).sum::<f64>() * size
}

pub fn shortened(text: &str, available: f64, size: f64) -> String {
    if wide(text, size) <= available {
        return text.to_owned();
    }
    let mut letters = text.to_owned();
    while letters.chars().count() > 1 && wide(&format!("{letters}…"), size) > available {
        letters.pop();
    }
    format!("{}…", letters.trim_end())
}

pub fn line(out: &mut String, ends: [f64; 4], stroke: &str, width: f64, more: &str) {
    let [x1, y1, x2, y2] = ends.map(at);
    let width = at(width);
    let _ = writeln!(
        out,
        r#"<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" stroke="{stroke}" stroke-width="{width}"{more}/>"#
    );
}

pub fn rect(out: &mut String, [x, y, width, height]: [f64; 4], fill: &str, more: &str) {
    let [x, y, width, height] = [x, y, width.max(0.0), height.max(0.0)].map(at);
    let _ = writeln!(
        out,
        r#"<rect x="{x}" y="{y}" width="{width}" height="{height}" fill="{fill}"{more}/>"#
    );
}

/// Draws a text. `anchor` says whether `place` is the start, middle or end of the text.
pub fn text(out: &mut String, place: At, words: &str, fill: &str, anchor: &str, more: &str) {
    let [x, y] = place.map(at);
    let words = escaped(words);
    let _ = writeln!(
        out,
        r#"<text x="{x}" y="{y}" fill="{fill}" text-anchor="{anchor}"{more}>{words}</text>"#
    );
}

pub fn path(out: &mut String, pieces: &[Vec<At>], stroke: &str, width: f64, more: &str) {
    let mut d = String::new();
    for piece in pieces.iter().filter(|piece| piece.len() > 1) {
        for (i, place) in piece.iter().enumerate() {
            let letter = if i == 0 { 'M' } else { 'L' };
            let [x, y] = place.map(at);
            let _ = write!(d, "{letter}{x} {y}");
        }
    }
    if !d.is_empty() {
        let width = at(width);
        let _ = writeln!(
            out,
            r#"<path d="{d}" fill="none" stroke="{stroke}" stroke-width="{width}" stroke-linejoin="round"{more}/>"#
        );
    }
}

/// Draws an arrow head that points to a value outside the plotted range.
pub fn beyond(out: &mut String, [x, y]: At, [dx, dy]: At, stroke: &str) {
    let back = |side: f64| [x - 5.0 * dx + side * dy, y - 5.0 * dy + side * dx];
    path(out, &[vec![back(4.0), [x, y], back(-4.0)]], stroke, 1.5, "");
}

/// Dash pattern for each colour, so that lines can be told apart without seeing colours.
const DASHES: [&str; 10] =
    ["", "7 3", "2 2.5", "9 3 2 3", "12 4", "4 2", "1 3", "9 3 2 3 2 3", "14 3 4 3", "5 5"];

pub fn dashed(number: usize) -> String {
    match DASHES[number % DASHES.len()] {
        "" => String::new(),
        dashes => format!(r#" stroke-dasharray="{dashes}""#),
    }
}

pub fn sample(out: &mut String, number: usize, [x, y]: At, stroke: &str) {
    path(out, &[vec![[x - 13.0, y], [x + 13.0, y]]], stroke, 2.0, &dashed(number));
}

/// Corners of the mark of each colour. Marks have about equal areas; the first one is a circle.
const SHAPES: [&[At]; 10] = [
    &[],
    &[[-0.89, -0.89], [0.89, -0.89], [0.89, 0.89], [-0.89, 0.89]],
    &[[0.0, -1.25], [1.15, 0.8], [-1.15, 0.8]],
    &[[0.0, -1.35], [1.05, 0.0], [0.0, 1.35], [-1.05, 0.0]],
    &[[1.25, 0.0], [-0.8, 1.15], [-0.8, -1.15]],
    &[[0.0, 1.25], [1.15, -0.8], [-1.15, -0.8]],
    &[
        [-0.4, -1.2],
        [0.4, -1.2],
        [0.4, -0.4],
        [1.2, -0.4],
        [1.2, 0.4],
        [0.4, 0.4],
        [0.4, 1.2],
        [-0.4, 1.2],
        [-0.4, 0.4],
        [-1.2, 0.4],
        [-1.2, -0.4],
        [-0.4, -0.4],
    ],
    &[[0.6, -1.04], [1.2, 0.0], [0.6, 1.04], [-0.6, 1.04], [-1.2, 0.0], [-0.6, -1.04]],
    &[
        [-0.57, -1.13],
        [0.0, -0.57],
        [0.57, -1.13],
        [1.13, -0.57],
        [0.57, 0.0],
        [1.13, 0.57],
        [0.57, 1.13],
        [0.0, 0.57],
        [-0.57, 1.13],
        [-1.13, 0.57],
        [-0.57, 0.0],
        [-1.13, -0.57],
    ],
    &[[0.0, -1.2], [1.14, -0.37], [0.71, 0.97], [-0.71, 0.97], [-1.14, -0.37]],
];

pub const COLOURS: usize = SHAPES.len();

pub fn mark(
    out: &mut String,
    number: usize,
    [x, y]: At,
    radius: f64,
    [stroke, fill]: [&str; 2],
    more: &str,
) {
    let shape = SHAPES[number % COLOURS];
    if shape.is_empty() {
        let [x, y, radius] = [x, y, radius].map(at);
        let _ = write!(out, r#"<circle cx="{x}" cy="{y}" r="{radius}" "#);
    } else {
        let corner = |[dx, dy]: &At| format!("{},{}", at(x + dx * radius), at(y + dy * radius));
        let corners: Vec<String> = shape.iter().map(corner).collect();
        let _ = write!(out, r#"<polygon points="{}" "#, corners.join(" "));
    }
    let _ = writeln!(out, r#"fill="{fill}" stroke="{stroke}" stroke-width="1.5"{more}/>"#);
}
