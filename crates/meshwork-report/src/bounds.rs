//! Marks the bounds that claims set for a metric in the plots of this metric.

use toml::Value;

use super::views::{Bound, Figure, FigureView, Series, Style};
use meshwork_lab::findings::claims::{ClaimCell, Judgement};
use meshwork_lab::findings::columns::Meanings;
use meshwork_lab::statistics::Interval;
use meshwork_lab::study::axes::PlotAxis;
use meshwork_lab::study::clock::Clock;
use meshwork_lab::study::{ClaimCheck, Relation, Test, same};

pub(super) fn mark(
    figures: &mut [Figure],
    judgements: &[Judgement],
    study: &meshwork_lab::study::Study,
    (clock, meanings): (&Clock, &Meanings),
) {
    let axes = PlotAxis::all(study);
    for figure in figures {
        let keys: Vec<(String, Vec<String>)> = figure
            .choices
            .iter()
            .map(|choice| (choice.key.key.clone(), choice.values.clone()))
            .collect();
        for view in figure.views.iter_mut().filter(|view| !view.differences) {
            let unit = meanings.unit(&view.y.key);
            let mut found = Vec::new();
            for judgement in judgements {
                let ClaimCheck::Cells(test) = &judgement.claim.check else { continue };
                if test.metric != view.y.key || !test.sizes.is_empty() || view.x.key == "size" {
                    continue;
                }
                for cell in &judgement.cells {
                    for (bound, is_upper) in bounds(test, cell) {
                        let own = Own { study, axes: &axes, test, cell };
                        let shown = clock.shown(Interval { mean: Some(bound), ..NOTHING }, unit);
                        found.extend(own.bound(view, &keys, shown.mean, is_upper));
                    }
                }
            }
            if !found.is_empty() && view.style != Style::Steps {
                view.sentence += " A stroke with an arrow is the bound of a claim, on the side on which it holds.";
                view.bounds = found;
            }
        }
    }
}

const NOTHING: Interval = Interval { mean: None, half_width: None, replications: 0, method: None };

/// Bounds that a claim sets for one combination of swept values, in the unit of the claim's metric.
///
/// The flag marks upper bounds.
fn bounds(test: &Test, cell: &ClaimCell) -> Vec<(f64, bool)> {
    match (&test.relation, cell.to) {
        (Relation::Bounds { to, above, below, by_difference, .. }, base) => {
            let base =
                if to.is_some() { base } else { Some(if *by_difference { 0.0 } else { 1.0 }) };
            let Some(base) = base else { return Vec::new() };
            let of = |bound: f64| if *by_difference { base + bound } else { base * bound };
            let above = above.map(|bound| (of(bound), false));
            above.into_iter().chain(below.map(|bound| (of(bound), true))).collect()
        }
        (Relation::Extreme { lowest, within, .. }, Some(best)) => {
            let slack = if *lowest { 1.0 + within } else { 1.0 - within };
            vec![(slack * best, *lowest)]
        }
        _ => Vec::new(),
    }
}

struct Own<'a> {
    study: &'a meshwork_lab::study::Study,
    axes: &'a [PlotAxis],
    test: &'a Test,
    cell: &'a ClaimCell,
}

impl Own<'_> {
    /// Index of the value of a swept key in the tested cell of a claim. `None` if neither the claim
    /// nor the cell fixes the value.
    fn place(&self, key: &str) -> Option<usize> {
        let at = self.study.sweep.iter().position(|axis| axis.key == key)?;
        let (Relation::Bounds { of, .. } | Relation::Extreme { of, .. }) = &self.test.relation
        else {
            return None;
        };
        let only = self.test.only.iter().filter(|(_, values)| values.len() == 1);
        let only = only.map(|(own, values)| (own, &values[0]));
        let mut all = of.iter().chain(&self.cell.at).map(|(own, value)| (own, value)).chain(only);
        let value: &Value = all.find(|(own, _)| *own == key)?.1;
        self.study.sweep[at].values.iter().position(|other| same(other, value))
    }

    fn label(&self, key: &str) -> Option<&str> {
        let axis = self.axes.iter().find(|axis| axis.key == key)?;
        let place = self.place(key).or((axis.count() == 1).then_some(0))?;
        Some(&axis.labels[place])
    }

    fn bound(
        &self,
        view: &FigureView,
        choices: &[(String, Vec<String>)],
        y: Option<f64>,
        is_upper: bool,
    ) -> Option<Bound> {
        for ((key, values), &at) in choices.iter().zip(&view.at) {
            let is_key = self.axes.iter().any(|axis| axis.key == *key);
            if is_key && at.is_some_and(|at| self.label(key) != Some(&values[at])) {
                return None;
            }
        }
        let axis = self.axes.iter().find(|axis| axis.key == view.x.key)?;
        let place = self.place(&view.x.key)?;
        let x = axis.numbers().map_or(place as f64, |numbers| numbers[place]);
        let panel = match &view.panel {
            Some(key) => view.panels.iter().position(|own| Some(&**own) == self.label(&key.key))?,
            None => 0,
        };
        let name = match &view.colour {
            Some(key) => self.label(&key.key)?,
            None => "",
        };
        let is_own = |own: &Series| own.name == name && own.panel == panel;
        let series = view.series.iter().position(is_own)?;
        Some(Bound { x, y: y?, panel, series, is_upper })
    }
}
