//! The order in which the tasks of a trace arrive at a GPU cluster, up to a given total demand.

use super::GpuTask;
use crate::rng::Stream;

/// Tasks of a trace in random order, whose total demand is about `load` times the GPU capacity.
///
/// The tasks are sorted by name and shuffled. If they demand less than the target, further tasks
/// are drawn with replacement. Drawing ends at the first task whose share of one GPU would exceed
/// the target. If the tasks of the trace demand more than the target, random tasks are removed.
/// `capacity` is in thousandths of a GPU. This is the protocol of Weng et al. (ATC 2023), with a
/// load of 1.3.
///
/// # Complexity
/// O(n log n) for n tasks of the trace; each removal is O(n).
#[must_use]
pub fn arrivals(tasks: &[GpuTask], capacity: u64, load: f64, stream: &mut Stream) -> Vec<GpuTask> {
    let mut trace: Vec<&GpuTask> = tasks.iter().collect();
    trace.sort_by(|a, b| a.name.cmp(&b.name));
    let mut arriving = trace.clone();
    shuffle(&mut arriving, stream);
    let limit = (load * capacity as f64).round() as u64;
    let mut asked: u64 = trace.iter().map(|task| task.demand()).sum();
    if asked > limit {
        while asked > limit {
            let at = stream.below(arriving.len() as u64) as usize;
            asked -= arriving.remove(at).demand();
        }
    } else if (1..limit).contains(&asked) {
        loop {
            let task = trace[stream.below(trace.len() as u64) as usize];
            if asked + u64::from(task.share) > limit {
                break;
            }
            asked += task.demand();
            arriving.push(task);
        }
    }
    arriving.into_iter().cloned().collect()
}

/// Puts items into a uniformly random order (Fisher and Yates).
pub fn shuffle<T>(items: &mut [T], stream: &mut Stream) {
    for last in (1..items.len()).rev() {
        items.swap(last, stream.below(last as u64 + 1) as usize);
    }
}
