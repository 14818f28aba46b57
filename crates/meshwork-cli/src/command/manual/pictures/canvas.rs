//! SVG drawings in whole pixels, which suit light and dark pages.

use std::fmt::Write;

/// Colours of the report in light and dark; `j0` to `j9` are the colours of jobs.
const STYLE: &str = "\
.paper{fill:#fdfcfa}.ink{fill:#23231f}.soft{fill:#66655e}.on{fill:#fff;font-weight:600}.free{fill:#ebe8e0}\
.line{stroke:#8d8b82}.far{stroke:#c8501e}.ghost{fill:none;stroke:#23231f;stroke-width:2;stroke-dasharray:6 4}\
.gone{fill:none;stroke:#a3a097;stroke-width:1.5;stroke-dasharray:3 3}.box{fill:#f5f3ee;stroke:#8d8b82}\
.j0{fill:#2a6db3}.j1{fill:#c8501e}.j2{fill:#1a8468}.j3{fill:#9a4a9c}.j4{fill:#a97f00}\
.j5{fill:#257fa8}.j6{fill:#7c5a3a}.j7{fill:#6d7480}.j8{fill:#c12a63}.j9{fill:#5f7f1d}\
.s0{stroke:#2a6db3}.s1{stroke:#c8501e}\
@media(prefers-color-scheme:dark){\
.paper{fill:#191a1c}.ink{fill:#e6e3dc}.soft{fill:#a3a097}.on{fill:#16171a}.free{fill:#2c2d31}\
.line{stroke:#77756d}.far{stroke:#f08a57}.ghost{stroke:#e6e3dc}.gone{stroke:#77756d}.box{fill:#222326;stroke:#77756d}\
.j0{fill:#69a8e6}.j1{fill:#f08a57}.j2{fill:#4fc4a2}.j3{fill:#cf8fd0}.j4{fill:#dcb43c}\
.j5{fill:#7fd0f5}.j6{fill:#c39b76}.j7{fill:#a6adb8}.j8{fill:#f27ba4}.j9{fill:#a9c95b}\
.s0{stroke:#69a8e6}.s1{stroke:#f08a57}}";

const FONT: &str = "system-ui, 'Segoe UI', 'Liberation Sans', Arial, sans-serif";

#[derive(Debug, Default)]
pub(super) struct Canvas {
    body: String,
}

impl Canvas {
    pub(super) fn rect(&mut self, [x, y, width, height]: [i32; 4], class: &str) {
        let _ = writeln!(
            self.body,
            r#"<rect class="{class}" x="{x}" y="{y}" width="{width}" height="{height}" rx="3"/>"#
        );
    }

    pub(super) fn circle(&mut self, [x, y]: [i32; 2], radius: i32, class: &str) {
        let _ = writeln!(self.body, r#"<circle class="{class}" cx="{x}" cy="{y}" r="{radius}"/>"#);
    }

    pub(super) fn line(&mut self, [x1, y1]: [i32; 2], [x2, y2]: [i32; 2], class: &str) {
        let _ = writeln!(
            self.body,
            r#"<line class="{class}" x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}"/>"#
        );
    }

    pub(super) fn arrow(&mut self, from: [i32; 2], to: [i32; 2]) {
        self.line(from, to, "line");
        let (dx, dy) = ((to[0] - from[0]).signum(), (to[1] - from[1]).signum());
        for side in [-1, 1] {
            let back = [to[0] - 7 * dx - 4 * side * dy, to[1] - 7 * dy - 4 * side * dx];
            self.line(back, to, "line");
        }
    }

    /// Draws a text. `anchor` tells which part of it is at the position: `start`, `middle` or
    /// `end`.
    pub(super) fn text(&mut self, [x, y]: [i32; 2], words: &str, class: &str, anchor: &str) {
        let words = escaped(words);
        let _ = writeln!(
            self.body,
            r#"<text class="{class}" x="{x}" y="{y}" text-anchor="{anchor}">{words}</text>"#
        );
    }

    /// Box with a heading and lines of text, all centred.
    pub(super) fn labelled(&mut self, [x, y, width, height]: [i32; 4], head: &str, lines: &[&str]) {
        self.rect([x, y, width, height], "box");
        let (middle, top) = (
            x + width / 2,
            y + height / 2 - 8 * lines.len() as i32 + if lines.is_empty() { 5 } else { 4 },
        );
        self.text([middle, top], head, "ink head", "middle");
        for (line, words) in (1..).zip(lines) {
            self.text([middle, top + 17 * line], words, "soft", "middle");
        }
    }

    /// SVG file with a title for screen readers.
    pub(super) fn finished(self, [width, height]: [i32; 2], title: &str) -> String {
        let (title, body) = (escaped(title), self.body);
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\" role=\"img\" font-family=\"{FONT}\" font-size=\"13\">\n\
             <title>{title}</title>\n<style>{STYLE}.head{{font-weight:600}}.small{{font-size:10px}}</style>\n\
             <rect class=\"paper\" width=\"{width}\" height=\"{height}\"/>\n{body}</svg>\n"
        )
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
