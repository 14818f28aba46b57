//! Assignment of swept keys to the dimensions of a plot.
//!
//! One key is the x axis (along the plot), one has a colour per value, and one a panel per value;
//! the others are selected in the page. The rules, explained in `DESIGN.md`:
//!
//! 1. *Contrasted* keys are those whose values the study compares, in a claim or in `[compare]`.
//! 2. A key with at least three numbers runs along the plot, or else a key with at least three
//!    blocks, such as `machine.dims`. Uncontrasted keys are preferred, then keys with more values,
//!    then later ones. Without such a key the plot has bars, along the uncontrasted key with most
//!    values.
//! 3. A key with more names than there are colours runs along the plot before any other key,
//!    because a plot can have any number of rows; a contrasted one is preferred. In this case, no
//!    key has colours.
//! 4. Of the remaining keys with up to ten values, one has colours: a contrasted key if possible,
//!    then the key with most values.
//! 5. Of the remaining keys with up to six values, one has panels, chosen in the same way.
//! 6. The reader of the page can select any other key to run along the plot. Colours and panels are
//!    then assigned by rules 4 and 5, with up to 24 panels if need be.

use toml::Value;

use super::{ClaimCheck, Relation, Study, SweptValues, number};
use crate::study::words::short;

const MAX_COLOURS: usize = 10;

const MAX_PANELS: usize = 6;

/// Maximum number of panels of a plot that is drawn over another x axis than its default one.
const MAX_TURNED: usize = 24;

/// Maximum ratio of the largest to the smallest absolute value on an axis that is not logarithmic.
/// With a larger ratio, the axis is not drawn to scale. An axis that has numbers up to 0 cannot be
/// logarithmic.
const MAX_RATIO: f64 = 50.0;

/// Minimum number of values on the x axis for which a plot joins points to a line.
const MIN_OF_A_LINE: usize = 3;

#[derive(Clone, Debug, PartialEq)]
pub struct PlotAxis {
    pub key: String,
    pub labels: Vec<String>,
    pub kind: AxisKind,
    /// Whether the study compares the key's values, in a claim or in `[compare]`.
    pub contrasted: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub enum AxisKind {
    Numbers(Vec<f64>),
    /// The values are lists, such as `machine.dims`. They have an order, but are not numbers.
    Ordered,
    Names,
}

/// Roles of a study's axes in a plot. Axes are given by index.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Layout {
    pub along: Option<usize>,
    /// Index of the axis that has one colour for each value.
    pub colour: Option<usize>,
    /// Index of the axis that has one panel for each of its values.
    pub panel: Option<usize>,
    /// Indices of the axes whose value is selected in the page.
    pub chosen: Vec<usize>,
}

impl PlotAxis {
    pub fn all(study: &Study) -> Vec<PlotAxis> {
        let contrasted = contrasted(study);
        let axis = |axis: &crate::study::Axis| {
            let values: Vec<&Value> = axis.values.iter().collect();
            PlotAxis {
                key: axis.key.clone(),
                labels: short(&axis.key, &values).into_iter().map(whole).collect(),
                kind: kind(&axis.values),
                contrasted: contrasted.contains(&axis.key),
            }
        };
        study.sweep.iter().map(axis).collect()
    }

    pub fn count(&self) -> usize {
        self.labels.len()
    }

    /// Index of a scenario's value on each axis. Scenarios are counted from 1.
    pub fn places(axes: &[PlotAxis], scenario: usize) -> Vec<usize> {
        let mut rest = scenario - 1;
        let mut places = vec![0; axes.len()];
        for (axis, place) in axes.iter().zip(&mut places).rev() {
            *place = rest % axis.count();
            rest /= axis.count();
        }
        places
    }

    /// Numeric values of an axis that is drawn to scale. `None` if the axis shows its values as
    /// categories.
    pub fn numbers(&self) -> Option<&[f64]> {
        let AxisKind::Numbers(numbers) = &self.kind else { return None };
        let sizes = || numbers.iter().map(|number| number.abs()).filter(|&size| size > 0.0);
        let is_far =
            sizes().fold(0.0, f64::max) > MAX_RATIO * sizes().fold(f64::INFINITY, f64::min);
        let has_others = numbers.iter().any(|&number| number <= 0.0);
        (self.is_line() && !(is_far && has_others)).then_some(numbers)
    }

    pub fn is_line(&self) -> bool {
        self.kind != AxisKind::Names && self.count() >= MIN_OF_A_LINE
    }
}

/// Writes a whole number without its decimals: `5.0` becomes `5`.
fn whole(label: String) -> String {
    match label.strip_suffix(".0") {
        Some(whole) if whole.parse::<i64>().is_ok() => whole.to_owned(),
        _ => label,
    }
}

impl Layout {
    /// Assigns a role to each axis that has several values. If `along` is given, it is the x axis.
    pub fn of(axes: &[PlotAxis], along: Option<usize>) -> Layout {
        let mut rest: Vec<usize> =
            (0..axes.len()).filter(|&i| axes[i].count() > 1 && Some(i) != along).collect();
        let contrasted = |i: usize| (axes[i].contrasted, axes[i].count());
        let many = |&i: &usize| {
            along.is_none() && axes[i].kind == AxisKind::Names && axes[i].count() > MAX_COLOURS
        };
        let many = take(&mut rest, many, contrasted);
        let along = along.or(many).or_else(|| {
            let uncontrasted = |i: usize| (!axes[i].contrasted, axes[i].count());
            let is_line = |&i: &usize| axes[i].is_line();
            let is_of_numbers =
                |i: &usize| is_line(i) && matches!(axes[*i].kind, AxisKind::Numbers(_));
            take(&mut rest, is_of_numbers, uncontrasted)
                .or_else(|| take(&mut rest, is_line, uncontrasted))
                .or_else(|| take(&mut rest, |_| true, uncontrasted))
        });
        let few = |&i: &usize| many.is_none() && axes[i].count() <= MAX_COLOURS;
        let colour = take(&mut rest, few, contrasted);
        let panel = take(&mut rest, |&i| axes[i].count() <= MAX_PANELS, contrasted);
        Layout { along, colour, panel, chosen: rest }
    }

    /// Layouts of the plot with another x axis, one for each key that is not on the x axis now.
    pub fn turned(&self, axes: &[PlotAxis]) -> Vec<Layout> {
        let drawn = [self.along, self.colour, self.panel].into_iter().flatten();
        let all: Vec<usize> = drawn.chain(self.chosen.iter().copied()).collect();
        let turned = |&along: &usize| {
            let mut rest: Vec<usize> = all.iter().copied().filter(|&i| i != along).collect();
            let few = |most: usize| move |&i: &usize| axes[i].count() <= most;
            let rank = |i: usize| (axes[i].contrasted, axes[i].count());
            let colour = take(&mut rest, few(MAX_COLOURS), rank);
            let panel = take(&mut rest, few(MAX_PANELS), rank)
                .or_else(|| take(&mut rest, few(MAX_TURNED), rank));
            Layout { along: Some(along), colour, panel, chosen: rest }
        };
        all.iter().skip(1).map(turned).collect()
    }

    /// Index of the axis whose values have colours in every plot of a study. `None` if there is
    /// none.
    pub fn coloured(&self, axes: &[PlotAxis]) -> Option<usize> {
        let few = |&i: &usize| axes[i].count() <= MAX_COLOURS && !axes[i].is_line();
        self.colour.or(self.along.filter(few))
    }
}

/// Removes from `rest` the axis of highest rank that `will_do` accepts, and returns it. Ties go to
/// the last.
fn take<R: Ord>(
    rest: &mut Vec<usize>,
    will_do: impl Fn(&usize) -> bool,
    rank: impl Fn(usize) -> R,
) -> Option<usize> {
    let best = rest.iter().copied().filter(will_do).max_by_key(|&i| rank(i))?;
    rest.retain(|&i| i != best);
    Some(best)
}

fn kind(values: &[Value]) -> AxisKind {
    let numbers: Option<Vec<f64>> = values.iter().map(number).collect();
    match numbers {
        Some(numbers) => AxisKind::Numbers(numbers),
        None if values.iter().all(Value::is_array) => AxisKind::Ordered,
        None => AxisKind::Names,
    }
}

fn contrasted(study: &Study) -> Vec<String> {
    let mut keys: Vec<String> = study.compare.iter().map(|compare| compare.key.clone()).collect();
    for claim in &study.claims {
        let ClaimCheck::Cells(test) = &claim.check else { continue };
        let nothing = SweptValues::new();
        let (of, to, along) = match &test.relation {
            Relation::Bounds { of, to, .. } => (of, to.as_ref(), None),
            Relation::Extreme { of, .. } => (of, None, None),
            Relation::Trend { of, to, along, .. } => (of, to.as_ref(), Some(along)),
        };
        let named = of.iter().chain(to.unwrap_or(&nothing)).map(|(key, _)| key);
        keys.extend(named.filter(|&key| Some(key) != along).cloned());
    }
    keys
}

/// Index of a scenario in the order of the sweep, computed from its value's index on each axis.
pub fn index(axes: &[PlotAxis], at: &[usize]) -> usize {
    axes.iter().zip(at).fold(0, |index, (axis, &at)| index * axis.count() + at)
}

/// All combinations of value indices on the axes in `of`. The index on all other axes is 0.
pub fn every<'a>(axes: &'a [PlotAxis], of: &'a [usize]) -> impl Iterator<Item = Vec<usize>> + 'a {
    let count: usize = of.iter().map(|&axis| axes[axis].count()).product();
    (0..count).map(move |mut number| {
        let mut at = vec![0; axes.len()];
        for &axis in of.iter().rev() {
            at[axis] = number % axes[axis].count();
            number /= axes[axis].count();
        }
        at
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::study;

    fn layout(text: &str) -> (Vec<PlotAxis>, Layout) {
        let axes = PlotAxis::all(&study(text));
        let layout = Layout::of(&axes, None);
        (axes, layout)
    }

    fn named(text: &str) -> [String; 4] {
        let (axes, layout) = layout(text);
        let name = |axis: Option<usize>| axis.map_or(String::new(), |axis| axes[axis].key.clone());
        let chosen: Vec<&str> = layout.chosen.iter().map(|&axis| &*axes[axis].key).collect();
        [name(layout.along), name(layout.colour), name(layout.panel), chosen.join(" ")]
    }

    #[test]
    fn numbers_run_along_and_what_is_compared_has_colours() {
        assert_eq!(
            named(
                "[sweep]\n'sizing.max_folds' = [0, 1, 2, 3, 5]\n'workload.load' = [0.1, 0.3, 0.4]\n\
                 [[claim]]\ntext = 'a'\nof = { 'sizing.max_folds' = 1 }\nto = { 'sizing.max_folds' = 0 }\n\
                 below = 1.0"
            ),
            ["workload.load", "sizing.max_folds", "", ""]
        );
        assert_eq!(
            named("[sweep]\nscheduler = ['fcfs', 'easy']\n'workload.load' = [0.1, 0.2]"),
            ["workload.load", "scheduler", "", ""],
            "two numbers make no line, but bars"
        );
        assert_eq!(
            named("[sweep]\nallocator = ['a', 'b']\n'machine.dims' = [[5, 5], [10, 10], [20, 20]]"),
            ["machine.dims", "allocator", "", ""]
        );
        assert_eq!(
            named(
                "[compare]\nscheduler = 'fcfs'\n[sweep]\nscheduler = ['fcfs', 'easy', 'sjf']\nmachine = \
                 ['a', 'b']"
            ),
            ["machine", "scheduler", "", ""]
        );
    }

    #[test]
    fn what_is_left_has_panels_and_then_is_chosen() {
        assert_eq!(
            named(
                "[sweep]\na = ['a', 'b', 'c', 'd']\nb = [1, 2, 3, 4, 5]\nc = [1, 2, 3, 4, 5]\nd = ['a', \
                 'b', 'c', 'd']\ne = [7]"
            ),
            ["c", "b", "d", "a"]
        );
        let many = (0..12).map(|i| format!("'n{i}'")).collect::<Vec<_>>().join(", ");
        assert_eq!(
            named(&format!("[sweep]\na = [{many}]\nb = [{many}]\nc = ['x', 'y']")),
            ["b", "", "c", "a"]
        );
    }

    #[test]
    fn any_key_of_a_plot_can_run_along_it() {
        let turned = |text: &str| {
            let (axes, layout) = layout(text);
            let name = |axis: Option<usize>| axis.map_or("", |axis| &axes[axis].key).to_owned();
            let turned = layout.turned(&axes);
            let names =
                turned.iter().map(|own| [own.along, own.colour, own.panel].map(name).join(" "));
            names.collect::<Vec<String>>()
        };
        assert_eq!(
            turned(
                "[compare]\na = 'x'\n[sweep]\na = ['x', 'y']\nb = [1, 2, 3, 4]\nc = [1, 2, 3, 4, 5]"
            ),
            ["a c b", "b a c"],
            "c runs along at first"
        );
        let many = (0..12).map(|i| format!("'n{i}'")).collect::<Vec<_>>().join(", ");
        assert_eq!(turned(&format!("[sweep]\na = [{many}]\nb = [1, 2, 3]")), ["b  a"]);
        let more = (0..30).map(|i| i.to_string()).collect::<Vec<_>>().join(", ");
        assert_eq!(turned(&format!("[sweep]\na = [{more}]\nb = [1, 2]")), ["b  "], "a is chosen");
        assert_eq!(
            turned(&format!(
                "[compare]\ns = 'x'\n[sweep]\na = [{many}]\ns = ['x', 'y']\nb = [1, 2, 3]"
            )),
            ["s b a", "b s a"]
        );
        assert_eq!(turned("[sweep]\na = ['x', 'y']"), Vec::<String>::new());
    }

    #[test]
    fn one_scenario_has_no_plot() {
        assert_eq!(layout("seed = 1").1, Layout::default());
        assert_eq!(layout("[sweep]\nscheduler = ['fcfs']").1, Layout::default());
    }
}
