//! Curves of allocation and fragmentation in a GPU cluster while more and more tasks arrive.

use super::{GpuCluster, GpuRule, GpuTask, TypicalTasks};

/// Percentages of allocated and of fragmented GPUs, as functions of the load of all arrived tasks.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LoadCurve {
    /// Mean percentage of allocated GPUs at each per cent of arrived load. It is `None` if no task
    /// arrived near this load.
    pub allocation: Vec<Option<f64>>,
    /// Mean percentage of fragmented GPUs at each per cent of arrived load. It is `None` if no task
    /// arrived near this load.
    pub fragmentation: Vec<Option<f64>>,
}

impl LoadCurve {
    /// Measures allocation and fragmentation while tasks arrive one after the other and never
    /// leave.
    ///
    /// A task that fits on no node is dropped. After each arrival, allocation and fragmentation are
    /// recorded under the arrived load in whole per cent. At each per cent up to `most`, the curve
    /// has the mean of the records there, rounded to two decimal places. If there are no records,
    /// it has the mean of the records at the neighbours.
    ///
    /// # Complexity
    /// For each task, the cost of the rule that places it, and O(n) for n nodes.
    #[must_use]
    pub fn measure(
        mut cluster: GpuCluster,
        tasks: &[GpuTask],
        rule: &mut dyn GpuRule,
        typical: &TypicalTasks,
        most: usize,
    ) -> LoadCurve {
        let capacity: f64 = cluster.nodes().iter().map(|node| f64::from(node.free())).sum();
        let mut wasted: Vec<f64> =
            cluster.nodes().iter().map(|node| typical.fragmentation(node)).collect();
        let mut allocated: Vec<(f64, u32)> = vec![(0.0, 0); most + 2];
        let mut fragmented = allocated.clone();
        let (mut arrived, mut used) = (0, 0);
        for task in tasks {
            arrived += task.demand();
            if let Some(placement) = cluster.place(task, rule) {
                used += task.demand();
                let node = &cluster.nodes()[placement.node];
                wasted[placement.node] = typical.fragmentation(node);
            }
            let load = (100.0 * arrived as f64 / capacity).round_ties_even() as usize;
            let Some(bin) = allocated.get_mut(load) else { continue };
            *bin = (bin.0 + to_places(100.0 * used as f64 / capacity), bin.1 + 1);
            let bin = &mut fragmented[load];
            *bin = (bin.0 + wasted.iter().sum::<f64>(), bin.1 + 1);
        }
        let points = |bins: &[(f64, u32)], scale: f64| {
            (0..=most).map(|at| mean(bins, at).map(|mean| to_places(mean * scale))).collect()
        };
        LoadCurve {
            allocation: points(&allocated, 1.0),
            fragmentation: points(&fragmented, 100.0 / capacity),
        }
    }
}

/// Mean of the bin `at` or, if it is empty, of its neighbours. A bin is a sum and a number of
/// records.
fn mean(bins: &[(f64, u32)], at: usize) -> Option<f64> {
    let of = |bins: &[(f64, u32)]| {
        let (sum, count) = bins.iter().fold((0.0, 0), |all, bin| (all.0 + bin.0, all.1 + bin.1));
        (count > 0).then(|| sum / f64::from(count))
    };
    of(&bins[at..=at]).or_else(|| of(&bins[at.saturating_sub(1)..bins.len().min(at + 2)]))
}

fn to_places(value: f64) -> f64 {
    (value * 100.0).round_ties_even() / 100.0
}
