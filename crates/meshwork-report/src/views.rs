//! Data of a figure. The scripts in `assets/plot/` draw it in the page, the module `draw` in SVG
//! files.

use serde::Serialize;

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Figure {
    pub id: String,
    pub heading: String,
    pub choices: Vec<FigureChoice>,
    /// Views of the figure: one for each combination of selected values.
    pub views: Vec<FigureView>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(serde::Deserialize))]
pub struct Key {
    pub label: String,
    pub key: String,
}

impl Key {
    /// Creates a key whose label is equal to the key.
    pub fn of(key: &str) -> Key {
        Key { label: key.to_owned(), key: key.to_owned() }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FigureChoice {
    #[serde(flatten)]
    pub key: Key,
    pub values: Vec<String>,
    #[serde(skip_serializing_if = "is_zero")]
    pub first: usize,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(serde::Deserialize), serde(default))]
pub struct FigureView {
    /// Selected option of each selector; `None` if a selector does not affect the view.
    pub at: Vec<Option<usize>>,
    pub title: String,
    pub sentence: String,
    pub style: Style,
    /// Whether measured values are differences. There is then a line at 0, and dots of significant
    /// differences are full.
    #[serde(skip_serializing_if = "is_false")]
    pub differences: bool,
    #[serde(skip_serializing_if = "is_false")]
    pub sorted: bool,
    /// Whether the scale is fixed; otherwise the reader can switch it between linear and
    /// logarithmic.
    #[serde(skip_serializing_if = "is_false")]
    pub fixed: bool,
    /// Expected number of replications per point. Points with fewer replications are drawn faintly.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected: Option<u64>,
    pub x: Scale,
    pub y: Scale,
    /// Swept key whose values have one colour each, if there is one.
    pub colour: Option<Key>,
    /// Swept key whose values have one panel each, if there is one.
    pub panel: Option<Key>,
    /// Names of the panels; empty for a single panel without a name.
    pub panels: Vec<String>,
    pub series: Vec<Series>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub bounds: Vec<Bound>,
}

/// Bound on the value at one point of a view. A claim about the point holds on one side of the
/// bound.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(serde::Deserialize))]
pub struct Bound {
    /// Position of the point on the view's scale `x`: a number, or the index of a name.
    pub x: f64,
    pub y: f64,
    pub panel: usize,
    pub series: usize,
    /// Whether the claim holds below the bound, rather than above it.
    pub is_upper: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(serde::Deserialize))]
#[serde(rename_all = "snake_case")]
pub enum Style {
    /// Points joined by lines, with whiskers that show intervals.
    #[default]
    Lines,
    /// Scenarios as points with whiskers, placed by two metrics. No line joins the points.
    Points,
    /// Rows of bars with whiskers. For differences or on a logarithmic scale, rows have dots
    /// instead.
    Rows,
    /// Steps: a line keeps each value until the next point. Measured values are on the x axis.
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
    /// Names of the values on the axis, if they are not numbers. The position of a point is then
    /// the index of its name.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<String>,
    /// Index of the colour of each name; empty unless each name has its own colour.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub colours: Vec<usize>,
    /// All swept numbers of the axis, including numbers without a measured value.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub grid: Vec<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dates: Option<Dates>,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(serde::Deserialize))]
pub struct Dates {
    pub seconds: f64,
    /// Local time at the number 0 of the axis, in seconds since 1970.
    pub start: i64,
}

/// Separator between the names of values that share one line of a plot.
///
/// Values share a line if all their points are equal.
pub(super) const EQUAL: &str = "\u{a0}=\u{a0}";

/// Data of a panel of a plot: one line, or the bars of one colour.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(serde::Deserialize), serde(default))]
pub struct Series {
    /// Value of the key that is shown by colours; empty if no key is shown by colours.
    pub name: String,
    pub colour: usize,
    pub panel: usize,
    /// Positions of the points on the view's scale `x`: numbers, or indices of names.
    pub x: Vec<f64>,
    pub mean: Vec<f64>,
    /// Half widths of the confidence intervals of the means; empty if there are no intervals.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub half: Vec<Option<f64>>,
    /// Differences in percent with the ends of their intervals. If only the upper end is missing,
    /// it is infinite.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub percent: Vec<(f64, Option<f64>, Option<f64>)>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub replications: Vec<u64>,
    /// For each mean, whether its scenario has a single run by design; empty if no scenario does.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub once: Vec<bool>,
    /// Names of the points, written beside their marks if there is space; empty if points have no
    /// names.
    #[serde(skip_serializing_if = "Vec::is_empty")]
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
