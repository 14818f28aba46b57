//! Fragmentation of free GPUs: how much of them the tasks of a workload could not use.

use std::collections::BTreeMap;

use super::{GpuNode, GpuTask};

/// Fraction of a workload's tasks that its typical requests must cover.
const COVERED: f64 = 0.95;

/// Most frequent requests of a workload, by which Weng et al. (ATC 2023) measure fragmentation.
#[derive(Clone, Debug)]
pub struct TypicalTasks {
    requests: Vec<TypicalRequest>,
}

#[derive(Clone, Debug)]
struct TypicalRequest {
    task: GpuTask,
    popularity: f64,
}

impl TypicalTasks {
    /// Finds the typical requests: the most frequent ones that together cover 95 % of `tasks`.
    ///
    /// Equal requests agree in processors, GPUs, shares and allowed types; memory is ignored. Among
    /// equally frequent requests, the larger comes first.
    #[must_use]
    pub fn of(tasks: &[GpuTask]) -> TypicalTasks {
        let mut counts: BTreeMap<(u32, u32, u32, &str), (usize, &GpuTask)> = BTreeMap::new();
        for task in tasks {
            let key = (task.cpu, task.share, task.gpus, task.models.as_str());
            counts.entry(key).or_insert((0, task)).0 += 1;
        }
        let mut classes: Vec<(usize, &GpuTask)> = counts.into_values().rev().collect();
        classes.sort_by_key(|&(count, _)| std::cmp::Reverse(count));
        let (mut covered, enough) = (0, COVERED * tasks.len() as f64);
        classes.retain(|&(count, _)| {
            let is_needed = (covered as f64) < enough;
            covered += if is_needed { count } else { 0 };
            is_needed
        });
        let popularity = |count: usize| count as f64 / covered as f64;
        let requests = classes.into_iter().map(|(count, task)| TypicalRequest {
            task: task.clone(),
            popularity: popularity(count),
        });
        TypicalTasks { requests: requests.collect() }
    }

    /// Number of typical requests.
    #[must_use]
    pub fn len(&self) -> usize {
        self.requests.len()
    }

    /// Whether there are no typical requests, because the workload is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.requests.is_empty()
    }

    /// Expected thousandths of a node's free GPUs that a typical task could not use.
    ///
    /// # Complexity
    /// O(k g) for k typical requests and g GPUs of the node.
    #[must_use]
    pub fn fragmentation(&self, node: &GpuNode) -> f64 {
        self.wasted(node.cpu, &node.gpus, &node.model)
    }

    /// Fragmentation of a node with `cpu` free processors and the free amounts `gpus` of its GPUs.
    ///
    /// It is a sum of six amounts, one for each reason why a task cannot use a GPU. They are added
    /// in a fixed order, because another order would change truncated scores.
    pub(super) fn wasted(&self, cpu: u32, gpus: &[u32], model: &str) -> f64 {
        let free = f64::from(gpus.iter().sum::<u32>());
        let [mut lacks_both, mut lacks_gpu, mut lacks_cpu] = [0.0; 3];
        let [mut without_gpu, mut without_any, mut forbidden] = [0.0; 3];
        for TypicalRequest { task, popularity } in &self.requests {
            let fitting = gpus.iter().filter(|&&left| left >= task.share).count();
            let has_cpu = cpu >= task.cpu;
            let has_gpu = fitting >= task.gpus as usize;
            match (task.gpus, has_cpu, has_gpu) {
                (0, true, _) => without_gpu += popularity * free,
                (0, false, _) => without_any += popularity * free,
                _ if !task.allows(model) => forbidden += popularity * free,
                (_, false, false) => lacks_both += popularity * free,
                (_, true, false) => lacks_gpu += popularity * free,
                (_, false, true) => lacks_cpu += popularity * free,
                (_, true, true) => {
                    let small = gpus.iter().filter(|&&left| left < task.share);
                    lacks_gpu += popularity * f64::from(small.sum::<u32>());
                }
            }
        }
        lacks_both + lacks_gpu + lacks_cpu + without_gpu + without_any + forbidden
    }
}
