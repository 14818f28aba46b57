//! What a figure of a page is: data that `assets/plot/` and `draw/` draw alike.

use serde::Serialize;

/// One place in the page where something is drawn, with its choosers.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Figure {
    /// Its name, unique in the page.
    pub id: String,
    /// What stands above it.
    pub heading: String,
    /// What can be chosen.
    pub choices: Vec<Choice>,
    /// What is drawn for each choice.
    pub views: Vec<View>,
}

/// A swept key, for reading.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(serde::Deserialize))]
pub struct Key {
    /// What it is called: `load`.
    pub label: String,
    /// The key itself: `workload.load`.
    pub key: String,
}

/// Something that can be chosen.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Choice {
    /// What it is.
    #[serde(flatten)]
    pub key: Key,
    /// What can be chosen.
    pub values: Vec<String>,
    /// The index of what is chosen at first.
    #[serde(skip_serializing_if = "is_zero")]
    pub first: usize,
}

/// One drawing.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(serde::Deserialize))]
pub struct View {
    /// For each chooser of the figure, the index of its value; none where it means nothing here.
    pub at: Vec<Option<usize>>,
    /// What it is called where it stands alone, as in a file.
    pub title: String,
    /// What the drawing shows.
    pub sentence: String,
    /// How it is drawn.
    pub style: Style,
    /// Whether values are differences: with a line at 0, and full dots where an interval excludes it.
    #[serde(skip_serializing_if = "is_false")]
    #[cfg_attr(test, serde(default))]
    pub differences: bool,
    /// Whether rows stand in the order of what is measured.
    #[serde(skip_serializing_if = "is_false")]
    #[cfg_attr(test, serde(default))]
    pub sorted: bool,
    /// Whether the scale is as it is, linear or not.
    #[serde(skip_serializing_if = "is_false")]
    #[cfg_attr(test, serde(default))]
    pub fixed: bool,
    /// Of how many replications each point should be; points of fewer are drawn faintly.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected: Option<u64>,
    /// What runs along it.
    pub x: Scale,
    /// What is measured.
    pub y: Scale,
    /// The swept key that has a colour for each value.
    pub colour: Option<Key>,
    /// The swept key that has a panel for each value.
    pub panel: Option<Key>,
    /// The panels, in order; empty where there is one without a name.
    pub panels: Vec<String>,
    /// The lines, or groups of bars.
    pub series: Vec<Series>,
    /// The bounds that claims set.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(test, serde(default))]
    pub bounds: Vec<Bound>,
}

/// A bound that a claim sets for one point.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(serde::Deserialize))]
pub struct Bound {
    /// Where along the plot: a number, or the index of a name.
    pub x: f64,
    /// What is not to be passed.
    pub y: f64,
    /// In which panel.
    pub panel: usize,
    /// The index of the line, or of the bars, that the point is of.
    pub series: usize,
    /// Whether the point is to be below it.
    pub is_upper: bool,
}

/// How a view is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(serde::Deserialize))]
#[serde(rename_all = "snake_case")]
pub enum Style {
    /// Points joined by lines, with whiskers.
    Lines,
    /// Bars from 0, with whiskers, a row for each name; points where bars cannot begin at 0: of differences, and on a
    /// logarithmic scale.
    Rows,
    /// A value that holds until the next one. What is measured runs along it where it is a distribution.
    Steps,
}

/// One of the two directions of a plot.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(serde::Deserialize), serde(default))]
pub struct Scale {
    /// What it is, in words.
    pub label: String,
    /// The key or the metric that it is.
    pub key: String,
    /// Its unit; empty where it has none.
    pub unit: String,
    /// Whether it is logarithmic.
    pub log: bool,
    /// Its values by name, where they are no numbers: points then have their indices.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<String>,
    /// The colours of the names, where each has its own.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub colours: Vec<usize>,
    /// All numbers that were swept, measured or not.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub grid: Vec<f64>,
    /// Which dates its numbers are, where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dates: Option<Dates>,
}

/// Which date a number of an axis is.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(serde::Deserialize))]
pub struct Dates {
    /// How many seconds 1 is.
    pub seconds: f64,
    /// Which second 0 is, counted from the beginning of 1970 in the time of the place.
    pub start: i64,
}

/// One line, or the bars of one colour, in one panel.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(serde::Deserialize))]
pub struct Series {
    /// Its value of the key that has colours; empty where none has.
    pub name: String,
    /// Which colour, counted from 0.
    pub colour: usize,
    /// Which panel, counted from 0.
    pub panel: usize,
    /// Where along the plot: a number, or the index of a name.
    pub x: Vec<f64>,
    /// The means.
    pub mean: Vec<f64>,
    /// Half the widths of the intervals, where there are intervals.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(test, serde(default))]
    pub half: Vec<Option<f64>>,
    /// Differences in percent of what they are from, with the ends of their intervals, those of the ratio: an upper end
    /// that is missing is infinite, and both are where there is no interval. Empty where one is not known.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(test, serde(default))]
    pub percent: Vec<(f64, Option<f64>, Option<f64>)>,
    /// How many replications each mean is of; empty where that means nothing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(test, serde(default))]
    pub replications: Vec<u64>,
    /// Whether each mean is of a run that is made once by design, because nothing in its replications differs; empty
    /// where none is.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(test, serde(default))]
    pub once: Vec<bool>,
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
    /// The name of a drawing of it as a file.
    pub(super) fn file_name(&self, view: &View) -> String {
        // What runs along it is named where it is not what does so at first.
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
