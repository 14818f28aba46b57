//! Draws, layer by layer, how much each node of a torus was used.

use std::fmt::Write as _;

use super::Layer;
use meshwork_report::draw::svg::{at, escaped, rect, text};

const CELL: f64 = 22.0;

const GAP: f64 = 14.0;

/// Draws the layers of a torus side by side, in rows at most `width` pixels wide.
///
/// The more a node was used, the darker its square. A position without a node stays empty. `label`
/// is a text for screen readers.
pub(super) fn usage(layers: &[Layer], label: &str, width: f64) -> String {
    let widest = layers.iter().map(|layer| layer.row).max().unwrap_or(1).max(1) as f64;
    let cell = CELL.min(width / widest);
    let mut out = String::new();
    let (mut x, mut y, mut below) = (0.0, 0.0, 0.0_f64);
    for Layer { name, row, cells } in layers {
        let row = (*row).max(1);
        let (own, high) = (row as f64 * cell, cells.len().div_ceil(row) as f64 * cell);
        if x > 0.0 && x + own > width {
            (x, y, below) = (0.0, y + below + GAP, 0.0);
        }
        text(&mut out, [x, y + 11.0], name, "var(--soft)", "start", "");
        for (place, share) in cells.iter().enumerate() {
            let corner = [x + (place % row) as f64 * cell, y + 16.0 + (place / row) as f64 * cell];
            let square = [corner[0], corner[1], cell - 1.0, cell - 1.0];
            match share {
                Some(share) => {
                    let more = format!(
                        r#" fill-opacity="{}" stroke="var(--line)""#,
                        at(share.clamp(0.0, 1.0))
                    );
                    rect(&mut out, square, "var(--c0)", &more);
                }
                None => rect(&mut out, square, "none", r#" stroke="var(--line)""#),
            }
        }
        x += own + GAP;
        below = below.max(high + 16.0);
    }
    let (width, height) = (at(width), at(y + below + 2.0));
    let mut whole = String::new();
    let _ = writeln!(
        whole,
        r#"<svg viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img" aria-label="{}">"#,
        escaped(label)
    );
    whole + &out + "</svg>\n"
}
