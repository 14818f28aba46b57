//! Which swept key becomes what in a plot.
//!
//! One key runs along the plot, one has a colour for each value, one a panel for each; whatever is
//! left is chosen in the page. The rules, which `DESIGN.md` gives reasons for:
//!
//! 1. *Contrasted* keys are those that the study sets against each other: what its claims compare, and
//!    what `[compare]` names.
//! 2. Along the plot runs a key with at least three numbers, or else three blocks such as
//!    `machine.dims`: one that is not contrasted before one that is, of these the one with most values,
//!    of these the last. If there is none the plot has bars, and along it stands a key that is not
//!    contrasted, of these the one with most values.
//! 3. A key with more names than there are colours runs along the plot before any of these, as rows serve any
//!    number: a contrasted one before another. No key has colours then.
//! 4. A colour for each value has a contrasted key before another, of these the one with most values
//!    up to ten.
//! 5. A panel for each value has the one of the rest with most values up to six.
//! 6. Any other key can be chosen to run along the plot. The rest then get colours and panels by
//!    rules 4 and 5; where none has so few values, up to 24 have a panel each.

use toml::Value;

use crate::findings::words::short;
use crate::study::{Check, Choice, Relation, Study};

/// The most values that have a colour each.
const MAX_COLOURS: usize = 10;

/// The most values that have a panel each.
const MAX_PANELS: usize = 6;

/// The most values that have a panel each where somebody chose what runs along the plot.
const MAX_TURNED: usize = 24;

/// The largest ratio of numbers, some of which are not positive, that a line still shows.
const MAX_RATIO: f64 = 50.0;

/// The least values that make a line.
const MIN_OF_A_LINE: usize = 3;

/// A swept key.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Axis {
    /// The key, as in `workload.load`.
    pub(super) key: String,
    /// Its values in words.
    pub(super) labels: Vec<String>,
    /// What they are.
    pub(super) kind: Kind,
    /// Whether the study sets its values against each other.
    pub(super) contrasted: bool,
}

/// What the values of an axis are.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Kind {
    /// Numbers.
    Numbers(Vec<f64>),
    /// Blocks, or the like, in an order of their own.
    Ordered,
    /// Names.
    Names,
}

/// What each axis, by its index, is in a plot.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Layout {
    /// What runs along the plot; `None` where nothing is swept.
    pub(super) along: Option<usize>,
    /// What the colours are.
    pub(super) colour: Option<usize>,
    /// What the panels are.
    pub(super) panel: Option<usize>,
    /// What is chosen in the page.
    pub(super) chosen: Vec<usize>,
}

impl Axis {
    /// The swept keys of a study.
    pub(super) fn all(study: &Study) -> Vec<Axis> {
        let contrasted = contrasted(study);
        let axis = |axis: &crate::study::Axis| {
            let values: Vec<&Value> = axis.values.iter().collect();
            Axis {
                key: axis.key.clone(),
                labels: short(&axis.key, &values),
                kind: kind(&axis.values),
                contrasted: contrasted.contains(&axis.key),
            }
        };
        study.sweep.iter().map(axis).collect()
    }

    pub(super) fn count(&self) -> usize {
        self.labels.len()
    }

    /// Its values along a line of numbers; none where they stand side by side, as names do, and as numbers do of which
    /// some are far from others and a logarithmic scale has no place for 0.
    pub(super) fn numbers(&self) -> Option<&[f64]> {
        let Kind::Numbers(numbers) = &self.kind else { return None };
        let sizes = || numbers.iter().map(|number| number.abs()).filter(|&size| size > 0.0);
        let is_far =
            sizes().fold(0.0, f64::max) > MAX_RATIO * sizes().fold(f64::INFINITY, f64::min);
        let has_others = numbers.iter().any(|&number| number <= 0.0);
        (self.is_line() && !(is_far && has_others)).then_some(numbers)
    }

    /// Whether its values make a line.
    pub(super) fn is_line(&self) -> bool {
        self.kind != Kind::Names && self.count() >= MIN_OF_A_LINE
    }
}

impl Layout {
    /// Says what each axis becomes. An axis with one value becomes nothing. `along` is what must run
    /// along the plot, if something must.
    pub(super) fn of(axes: &[Axis], along: Option<usize>) -> Layout {
        let mut rest: Vec<usize> =
            (0..axes.len()).filter(|&i| axes[i].count() > 1 && Some(i) != along).collect();
        let is_given = along.is_some();
        let many = |&i: &usize| axes[i].kind == Kind::Names && axes[i].count() > MAX_COLOURS;
        let many = if is_given {
            None
        } else {
            take(&mut rest, many, |i| (axes[i].contrasted, axes[i].count()))
        };
        let along = along.or(many).or_else(|| {
            let numbers =
                |&i: &usize| axes[i].is_line() && matches!(axes[i].kind, Kind::Numbers(_));
            take(&mut rest, numbers, |i| (!axes[i].contrasted, axes[i].count()))
                .or_else(|| {
                    let is_line = |&i: &usize| axes[i].is_line();
                    take(&mut rest, is_line, |i| (!axes[i].contrasted, axes[i].count()))
                })
                .or_else(|| take(&mut rest, |_| true, |i| (!axes[i].contrasted, axes[i].count())))
        });
        let few = |most: usize| move |&i: &usize| axes[i].count() <= most;
        let colour = if many.is_some() {
            None
        } else {
            take(&mut rest, few(MAX_COLOURS), |i| (axes[i].contrasted, axes[i].count()))
        };
        let panel = take(&mut rest, few(MAX_PANELS), |i| (axes[i].contrasted, axes[i].count()));
        Layout { along, colour, panel, chosen: rest }
    }

    /// The ways to draw it with another key along the plot.
    pub(super) fn turned(&self, axes: &[Axis]) -> Vec<Layout> {
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

    /// The axis whose values have a colour each, in every plot of a study.
    pub(super) fn coloured(&self, axes: &[Axis]) -> Option<usize> {
        let few = |&i: &usize| axes[i].count() <= MAX_COLOURS && !axes[i].is_line();
        self.colour.or(self.along.filter(few))
    }
}

/// Takes the axis with the highest rank out of those that will do; of equals the last.
fn take<R: Ord>(
    rest: &mut Vec<usize>,
    will_do: impl Fn(&usize) -> bool,
    rank: impl Fn(usize) -> R,
) -> Option<usize> {
    let best = rest.iter().copied().filter(will_do).max_by_key(|&i| rank(i))?;
    rest.retain(|&i| i != best);
    Some(best)
}

fn kind(values: &[Value]) -> Kind {
    let number = |value: &Value| match value {
        Value::Integer(n) => Some(*n as f64),
        Value::Float(n) => Some(*n),
        _ => None,
    };
    let numbers: Option<Vec<f64>> = values.iter().map(number).collect();
    match numbers {
        Some(numbers) => Kind::Numbers(numbers),
        None if values.iter().all(Value::is_array) => Kind::Ordered,
        None => Kind::Names,
    }
}

/// The keys whose values the study sets against each other.
fn contrasted(study: &Study) -> Vec<String> {
    let mut keys: Vec<String> = study.compare.iter().map(|compare| compare.key.clone()).collect();
    for claim in &study.claims {
        let Check::Cells(test) = &claim.check else { continue };
        let nothing = Choice::new();
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

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn layout(text: &str) -> (Vec<String>, Layout) {
        let study = Study::parse("a.toml", text, Path::new(""), &[]).unwrap();
        let axes = Axis::all(&study);
        let layout = Layout::of(&axes, None);
        (axes.into_iter().map(|axis| axis.key).collect(), layout)
    }

    fn named(text: &str) -> [String; 4] {
        let (keys, layout) = layout(text);
        let name = |axis: Option<usize>| axis.map_or(String::new(), |axis| keys[axis].clone());
        let chosen: Vec<String> = layout.chosen.iter().map(|&axis| keys[axis].clone()).collect();
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
            let (keys, layout) = layout(text);
            let study = Study::parse("a.toml", text, Path::new(""), &[]).unwrap();
            let name = |axis: Option<usize>| axis.map_or("", |axis| &keys[axis]).to_owned();
            let turned = layout.turned(&Axis::all(&study));
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
