//! Sample of a study's scenarios, for plots that cannot show all of them.

use super::Study;
use super::axes::{AxisKind, Layout, PlotAxis, every, index};

/// Maximum number of scenarios in a sample; in a plot, each has its own colour.
pub const MAX: usize = 10;

/// Selects at most [`MAX`] scenarios whose runs are recorded and drawn together.
///
/// The scenarios differ in the compared key. While the limit allows, they also differ in further
/// keys whose values are names. If no key is compared, they are spread over the longest axis.
pub fn sample(study: &Study) -> Vec<usize> {
    let axes = PlotAxis::all(study);
    let Some(along) = along(&axes) else { return vec![0] };
    let mut at = held(&axes, along, &|_| false);
    let count = axes[along].count();
    let values: Vec<usize> = if axes[along].kind == AxisKind::Names || count <= MAX {
        (0..count.min(MAX)).collect()
    } else {
        (0..MAX).map(|i| i * (count - 1) / (MAX - 1)).collect()
    };
    let (mut others, mut total) = (Vec::new(), values.len());
    for (own, axis) in axes.iter().enumerate() {
        if own != along && axis.kind == AxisKind::Names && total * axis.count() <= MAX {
            others.push(own);
            total *= axis.count();
        }
    }
    let mut scenarios = Vec::new();
    for fixed in every(&axes, &others) {
        others.iter().for_each(|own| at[*own] = fixed[*own]);
        for value in &values {
            at[along] = *value;
            scenarios.push(index(&axes, &at));
        }
    }
    scenarios
}

/// Index of the axis along which [`sample`] selects scenarios. It is the axis that the study
/// compares, or else the longest one.
pub fn along(axes: &[PlotAxis]) -> Option<usize> {
    let several = (0..axes.len()).filter(|&i| axes[i].count() > 1);
    compared(axes).or_else(|| several.max_by_key(|&i| axes[i].count()))
}

/// Index of the axis whose values the study compares, in a claim or in `[compare]`. If there is
/// none, an axis whose values are names.
pub fn compared(axes: &[PlotAxis]) -> Option<usize> {
    let several = |&i: &usize| axes[i].count() > 1;
    let contrasted = (0..axes.len()).filter(several).filter(|&i| axes[i].contrasted);
    let drawn = Layout::of(axes, None).coloured(axes).filter(|&i| axes[i].kind == AxisKind::Names);
    let names = (0..axes.len()).filter(several).find(|&i| axes[i].kind == AxisKind::Names);
    contrasted.max_by_key(|&i| axes[i].count()).or(drawn).or(names)
}

/// For each axis, the index of the value at which it is fixed while the axis `but` varies.
///
/// An axis of names is fixed at its first value, and any other axis at its last value. If possible,
/// scenarios for which `is_overloaded` is true are avoided, because their waits depend on the
/// length of the run.
pub fn held(axes: &[PlotAxis], but: usize, is_overloaded: &dyn Fn(usize) -> bool) -> Vec<usize> {
    let value = |(i, axis): (usize, &PlotAxis)| match axis.kind {
        _ if i == but => 0,
        AxisKind::Names => 0,
        AxisKind::Ordered | AxisKind::Numbers(_) => axis.count() - 1,
    };
    let hardest: Vec<usize> = axes.iter().enumerate().map(value).collect();
    let is_stable = |at: &[usize]| {
        let mut at = at.to_vec();
        (0..axes[but].count()).all(|own| {
            at[but] = own;
            !is_overloaded(index(axes, &at))
        })
    };
    for (i, axis) in axes.iter().enumerate() {
        if i == but || axis.kind == AxisKind::Names {
            continue;
        }
        let mut at = hardest.clone();
        let found = (0..axis.count()).rev().find(|&own| {
            at[i] = own;
            is_stable(&at)
        });
        if let Some(own) = found {
            at[i] = own;
            return at;
        }
    }
    hardest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{study, synthetic};

    fn sampled(sweep: &str) -> Vec<usize> {
        let head = "machine = { topology = 'mesh', dims = [4, 4] }\nmeasure = { jobs = 5 }";
        sample(&study(&synthetic(head, 0.5, sweep)))
    }

    #[test]
    fn what_is_compared_is_looked_at_where_it_is_hardest() {
        assert_eq!(sampled(""), [0]);
        assert_eq!(sampled("[sweep]\nscheduler = ['fcfs', 'sjf', 'easy']\n"), [0, 1, 2]);
        // With loads 0.2, 0.5 and 0.8, the sample has all schedulers at 0.8.
        let loads = "[sweep]\n'workload.load' = [0.2, 0.5, 0.8]\nscheduler = ['fcfs', 'sjf']\n";
        assert_eq!(sampled(loads), [4, 5]);
        let turned = "[sweep]\nscheduler = ['fcfs', 'sjf']\n'workload.load' = [0.2, 0.5, 0.8]\n";
        assert_eq!(sampled(turned), [2, 5]);
        // A key in `[compare]` takes precedence.
        let compare = "[sweep]\nallocator = ['first_fit', 'best_fit', 'random']\nscheduler = ['fcfs', 'sjf']\n\
             [compare]\nscheduler = 'fcfs'\n";
        assert_eq!(sampled(compare), [0, 1, 2, 3, 4, 5]);
        // With more than ten scenarios, the other keys have one value each.
        let many = compare.replace("'first_fit', ", "'first_fit', 'naive', 'paging', 'curve', ");
        assert_eq!(sampled(&many), [0, 1]);
    }

    #[test]
    fn where_nothing_is_compared_both_ends_are_looked_at() {
        let loads: Vec<String> = (1..=28).map(|i| (f64::from(i) / 40.0).to_string()).collect();
        let seen = sampled(&format!("[sweep]\n'workload.load' = [{}]\n", loads.join(", ")));
        assert_eq!((seen.len(), seen[0], seen[9]), (10, 0, 27));
        assert!(seen.windows(2).all(|pair| pair[1] - pair[0] == 3));
    }
}
