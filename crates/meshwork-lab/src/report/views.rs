//! Data of a figure, which `assets/plot/` (in the page) and `draw/` (in SVG files) draw alike.

use serde::Serialize;

/// A figure in the page, with its selectors.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Figure {
    /// HTML id of the figure, unique in the page.
    pub id: String,
    /// Heading above the figure.
    pub heading: String,
    /// Selectors of the figure.
    pub choices: Vec<FigureChoice>,
    /// Drawings of the figure, one for each combination of selected values.
    pub views: Vec<FigureView>,
}

/// A swept key with its label.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(serde::Deserialize))]
pub struct Key {
    /// Short label of the key: `load`.
    pub label: String,
    /// Dotted path of the key: `workload.load`.
    pub key: String,
}

/// A selector of a figure.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FigureChoice {
    #[serde(flatten)]
    pub key: Key,
    /// Options of the selector.
    pub values: Vec<String>,
    /// Index of the option selected at first.
    #[serde(skip_serializing_if = "is_zero")]
    pub first: usize,
}

/// A drawing of a figure, for one combination of selected values.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(serde::Deserialize))]
pub struct FigureView {
    /// Index of the selected value of each selector. `None` for a selector that does not affect the
    /// view.
    pub at: Vec<Option<usize>>,
    /// Title of the view for use outside the page, such as in an SVG file.
    pub title: String,
    /// Caption of the view.
    pub sentence: String,
    pub style: Style,
    /// Whether the measured values are differences. These are drawn with a line at 0, and with a
    /// full dot if their interval excludes 0.
    #[serde(skip_serializing_if = "is_false")]
    #[cfg_attr(test, serde(default))]
    pub differences: bool,
    /// Whether the rows of bars or dots are sorted by the measured value.
    #[serde(skip_serializing_if = "is_false")]
    #[cfg_attr(test, serde(default))]
    pub sorted: bool,
    /// Whether the scale of measured values cannot be switched between linear and logarithmic.
    #[serde(skip_serializing_if = "is_false")]
    #[cfg_attr(test, serde(default))]
    pub fixed: bool,
    /// Expected number of replications per point; points with fewer are drawn faintly.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected: Option<u64>,
    /// Scale of the points' positions, such as values of a swept key.
    pub x: Scale,
    /// Scale of the measured values.
    pub y: Scale,
    /// Swept key with a colour for each value, if there is one.
    pub colour: Option<Key>,
    /// Swept key with a panel for each value, if there is one.
    pub panel: Option<Key>,
    /// Names of the panels in order; empty for a single panel without a name.
    pub panels: Vec<String>,
    /// Lines of the view, or sets of bars with one colour each.
    pub series: Vec<Series>,
    /// Bounds that claims set for points of the view.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(test, serde(default))]
    pub bounds: Vec<Bound>,
}

/// A bound that a claim sets for one point of a view.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(serde::Deserialize))]
pub struct Bound {
    /// Position of the bounded point on the view's scale `x`: a number, or the index of a name.
    pub x: f64,
    /// Value of the bound on the view's scale `y`.
    pub y: f64,
    /// Index of the panel of the bound.
    pub panel: usize,
    /// Index of the series to which the bounded point belongs.
    pub series: usize,
    /// Whether the point must be below the bound for the claim to hold; otherwise it must be above.
    pub is_upper: bool,
}

/// Way in which a view draws its points.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(serde::Deserialize))]
#[serde(rename_all = "snake_case")]
pub enum Style {
    /// Points joined by lines, with whiskers that show intervals.
    Lines,
    /// Points with whiskers, not joined by lines. Each point is a scenario; its position shows the
    /// scenario's values of two metrics.
    Points,
    /// Rows of bars that begin at 0, with whiskers, one row per name. Dots replace bars that cannot
    /// begin at 0: bars of differences, and bars on a logarithmic scale.
    Rows,
    /// Steps, which keep each value until the next one. In a plot of distributions, measured values
    /// are on the x axis.
    Steps,
}

/// Scale of a plot: `x` for the positions of points, or `y` for measured values.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(serde::Deserialize), serde(default))]
pub struct Scale {
    pub label: String,
    /// Key or metric that the scale shows.
    pub key: String,
    /// Unit of the scale; empty if it has none.
    pub unit: String,
    /// Whether the scale is logarithmic.
    pub log: bool,
    /// Names of the values on the scale, if these are not numbers. The position of a point is then
    /// the index of a name.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<String>,
    /// Indices of the colours of the names, if each name has a colour of its own.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub colours: Vec<usize>,
    /// All numbers that the study sweeps on this scale, even if they have no measured value.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub grid: Vec<f64>,
    /// Conversion of the numbers of the scale to dates, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dates: Option<Dates>,
}

/// Conversion from numbers of an axis to dates.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(serde::Deserialize))]
pub struct Dates {
    /// Seconds per unit of the axis.
    pub seconds: f64,
    /// Local time that the number 0 on the axis stands for, in seconds since 1970.
    pub start: i64,
}

/// Separator between the values of the coloured key that share one line, in the line's name.
///
/// Values share a line if their points are equal. No value has the separator in its name.
pub(super) const EQUAL: &str = "\u{a0}=\u{a0}";

/// A line, or the bars of one colour, in a panel of a plot.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(serde::Deserialize))]
pub struct Series {
    /// Value of the coloured key that the series shows; empty if no key has colours.
    pub name: String,
    /// Index of the colour of the series.
    pub colour: usize,
    /// Index of the panel of the series.
    pub panel: usize,
    /// Positions of the points on the view's scale `x`: numbers, or indices of names.
    pub x: Vec<f64>,
    pub mean: Vec<f64>,
    /// Half widths of the intervals of the means; empty without intervals.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(test, serde(default))]
    pub half: Vec<Option<f64>>,
    /// Relative differences in percent, each followed by the lower and upper end of its interval.
    ///
    /// If only the upper end is `None`, it is infinite. If both ends are `None`, there is no
    /// interval. The list is empty if any difference is unknown.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(test, serde(default))]
    pub percent: Vec<(f64, Option<f64>, Option<f64>)>,
    /// Number of replications of each mean; empty if not applicable.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(test, serde(default))]
    pub replications: Vec<u64>,
    /// For each mean, whether its scenario has a single run because replications are identical.
    ///
    /// Empty if no scenario has a single run for this reason.
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
    /// Name of the SVG file of a view of this figure.
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
