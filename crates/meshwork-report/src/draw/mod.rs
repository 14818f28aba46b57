//! Figures as SVG files for papers.
//!
//! The scripts in `assets/plot/` draw the same figures in the browser. Each script has the name of
//! its counterpart here; only `parts` has none. The tests of both implementations compare their
//! output with the drawings in `assets/test/figures/`.

mod dates;
mod figure;
mod numbers;
mod panel;
mod parts;
pub mod svg;
mod view;

pub use figure::figure;
pub use figure::{legend, panel};
pub use parts::parts;
pub(super) use view::is_log;

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::figure;
    use crate::views::FigureView;

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
