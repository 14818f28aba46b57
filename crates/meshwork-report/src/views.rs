//! Data of a figure, which `assets/plot/` (in the page) and `draw/` (in SVG files) draw alike.

use serde::Serialize;

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Figure {
    pub id: String,
    pub heading: String,
    pub choices: Vec<FigureChoice>,
    /// One view for each combination of selected values.
    pub views: Vec<FigureView>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(serde::Deserialize))]
pub struct Key {
    pub label: String,
    pub key: String,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FigureChoice {
    #[serde(flatten)]
    pub key: Key,
    pub values: Vec<String>,
    #[serde(skip_serializing_if = "is_zero")]
    pub first: usize,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(serde::Deserialize))]
pub struct FigureView {
    /// Selected option of each selector; `None` for a selector that does not affect the view.
    pub at: Vec<Option<usize>>,
    pub title: String,
    pub sentence: String,
    pub style: Style,
    /// Whether measured values are differences, with a line at 0 and full dots if significant.
    #[serde(skip_serializing_if = "is_false")]
    #[cfg_attr(test, serde(default))]
    pub differences: bool,
    #[serde(skip_serializing_if = "is_false")]
    #[cfg_attr(test, serde(default))]
    pub sorted: bool,
    /// Whether the scale cannot be switched between linear and logarithmic.
    #[serde(skip_serializing_if = "is_false")]
    #[cfg_attr(test, serde(default))]
    pub fixed: bool,
    /// Expected number of replications per point; points with fewer are drawn faintly.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected: Option<u64>,
    pub x: Scale,
    pub y: Scale,
    /// Swept key with a colour for each value, if there is one.
    pub colour: Option<Key>,
    /// Swept key with a panel for each value, if there is one.
    pub panel: Option<Key>,
    /// Names of the panels; empty for a single panel without a name.
    pub panels: Vec<String>,
    pub series: Vec<Series>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(test, serde(default))]
    pub bounds: Vec<Bound>,
}

/// Bound that a claim sets for one point of a view.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(serde::Deserialize))]
pub struct Bound {
    /// Position of the bounded point on the view's scale `x`: a number, or the index of a name.
    pub x: f64,
    pub y: f64,
    pub panel: usize,
    pub series: usize,
    /// Whether the claim holds below the bound, rather than above it.
    pub is_upper: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(serde::Deserialize))]
#[serde(rename_all = "snake_case")]
pub enum Style {
    /// Points joined by lines, with whiskers that show intervals.
    Lines,
    /// Scenarios as points with whiskers, placed by two metrics and not joined.
    Points,
    /// Rows of bars with whiskers, or of dots for differences and on a logarithmic scale.
    Rows,
    /// Steps, which keep each value until the next one, with measured values on the x axis.
    Steps,
}

/// Scale of a plot: `x` for the positions of points, or `y` for measured values.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(serde::Deserialize), serde(default))]
pub struct Scale {
    pub label: String,
    pub key: String,
    /// Unit of the scale; empty if it has none.
    pub unit: String,
    pub log: bool,
    /// Names of values that are no numbers; the position of a point is the index of its name.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<String>,
    /// Indices of the colours of the names, if each name has its own.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub colours: Vec<usize>,
    /// All swept numbers on this scale, even without a measured value.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub grid: Vec<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dates: Option<Dates>,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(serde::Deserialize))]
pub struct Dates {
    pub seconds: f64,
    /// Local time of the number 0 on the axis, in seconds since 1970.
    pub start: i64,
}

/// Separator between the values of the coloured key that share a line with equal points.
pub(super) const EQUAL: &str = "\u{a0}=\u{a0}";

/// Line, or the bars of one colour, in a panel of a plot.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(serde::Deserialize))]
pub struct Series {
    /// Value of the coloured key; empty if no key has colours.
    pub name: String,
    pub colour: usize,
    pub panel: usize,
    /// Positions of the points on the view's scale `x`: numbers, or indices of names.
    pub x: Vec<f64>,
    pub mean: Vec<f64>,
    /// Half widths of the intervals of the means; empty without intervals.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(test, serde(default))]
    pub half: Vec<Option<f64>>,
    /// Differences in percent with their intervals; a missing upper end alone is infinite.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(test, serde(default))]
    pub percent: Vec<(f64, Option<f64>, Option<f64>)>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(test, serde(default))]
    pub replications: Vec<u64>,
    /// Whether the scenario of each mean has a single run; empty if none has.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(test, serde(default))]
    pub once: Vec<bool>,
    /// Names of the points, written beside their marks where there is space; empty without names.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(test, serde(default))]
    pub labels: Vec<String>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
fn is_false(flag: &bool) -> bool {
    !flag
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
fn is_zero(number: &usize) -> bool {
    *number == 0
}

impl Figure {
    pub(super) fn file_name(&self, view: &FigureView) -> String {
        // The key along the plot is part of the name unless it is the default.
        let chosen = self.choices.iter().zip(&view.at).filter_map(|(choice, at)| {
            let is_said = |at: &usize| choice.key.key != "along" || *at > 0;
            at.filter(is_said).map(|at| &choice.values[at])
        });
        let name: Vec<&str> = std::iter::once(&self.id).chain(chosen).map(String::as_str).collect();
        let is_plain = |c: char| c.is_alphanumeric() || "._=".contains(c);
        let words = name.join("-").to_lowercase();
        let words: Vec<&str> =
            words.split(|c| !is_plain(c)).filter(|word| !word.is_empty()).collect();
        format!("{}.svg", words.join("-"))
    }
}
