//! Figures as SVG files for papers.
//!
//! A page draws the same figures in the browser, with the scripts in `assets/plot/`, because it
//! must redraw when it is resized or a selection changes. Each of these scripts has the name of its
//! counterpart in this module. `assets/test/figures/` holds views and their exact drawings, with
//! which the tests of both implementations compare. `parts` and `usage` are drawn only in this
//! module, for pages without a script.

mod dates;
mod figure;
mod numbers;
mod panel;
mod parts;
mod svg;
mod usage;
mod view;

pub use figure::figure;
pub(super) use figure::{legend, panel};
pub(super) use parts::parts;
pub(super) use usage::usage;
pub(super) use view::is_log;

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::figure;
    use crate::report::views::FigureView;

    /// Test case of a drawing, with which the scripts of the page are tested too.
    #[derive(serde::Deserialize)]
    struct Case {
        view: FigureView,
        log: bool,
        width: f64,
    }

    #[test]
    fn figures_are_those_of_the_page() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/test/figures");
        let mut count = 0;
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_none_or(|ending| ending != "json") {
                continue;
            }
            let Case { view, log, width } =
                serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
            let expected = fs::read_to_string(path.with_extension("svg")).unwrap();
            let drawn = figure(&view, log, width);
            for (number, (ours, theirs)) in drawn.lines().zip(expected.lines()).enumerate() {
                assert_eq!(ours, theirs, "{}, line {}", path.display(), number + 1);
            }
            assert!(drawn == expected, "{}", path.display());
            count += 1;
        }
        assert!(count >= 8);
    }
}
