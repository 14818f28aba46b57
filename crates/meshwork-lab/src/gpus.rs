//! Repeats the experiment of Weng et al. (ATC 2023) on fragmented GPUs, with the authors' traces.

use std::path::Path;
use std::sync::Arc;

use meshwork::gpus::arrivals::{arrivals, shuffle};
use meshwork::gpus::curve::LoadCurve;
use meshwork::gpus::{GPU_RULES, GpuCluster, GpuNode, GpuTask, TypicalTasks, WHOLE_GPU};
use meshwork::rng::Stream;
use rayon::prelude::*;

use crate::inputs::Files;
use crate::statistics::{half_width, mean, t_quantile};
use crate::study::Refused;

/// Highest load in the experiment, in per cent of all GPUs. The load counts the GPUs that all tasks
/// so far have requested, even tasks that have ended.
pub const MOST_LOAD: usize = 130;

/// First of the consecutive seeds of the experiment. The published runs use the seeds 42 to 51.
const FIRST_SEED: u64 = 42;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AllocationPoint {
    /// Load: GPUs that all tasks so far have requested, in per cent of the cluster's GPUs.
    pub arrived: usize,
    /// Mean share of allocated GPUs over the seeds, in per cent.
    pub allocation: f64,
    /// Standard error of `allocation`. `None` if there was a single seed.
    pub se: Option<f64>,
    /// Mean amount of free GPUs that typical tasks cannot use, in per cent of all GPUs.
    pub fragmentation: f64,
}

/// Reads the nodes of a trace from a CSV file in the format of Weng et al. (ATC 2023). Nodes
/// without GPUs are left out.
///
/// The columns are `sn`, `cpu_milli`, `memory_mib`, `gpu` and `model`.
pub fn read_nodes(path: &str) -> Result<Vec<GpuNode>, Refused> {
    let mut nodes = Vec::new();
    rows(path, &["sn", "cpu_milli", "memory_mib", "gpu", "model"], &[], |row| {
        let gpus = row.number(3)?;
        if gpus > 0 {
            let (cpu, memory) = (row.number(1)?, row.number(2)?);
            nodes.push(GpuNode::new(row.text(0), cpu, memory, gpus, row.text(4)));
        }
        Ok(())
    })?;
    if nodes.is_empty() {
        return Err(Refused(format!("{path} has no node with a GPU")));
    }
    nodes.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(nodes)
}

/// Reads the tasks of a trace from a CSV file in the format of Weng et al. (ATC 2023). Times are
/// not read.
///
/// The columns are `name`, `cpu_milli`, `memory_mib`, `num_gpu`, `gpu_milli` and, optionally,
/// `gpu_spec`.
pub fn read_tasks(path: &str) -> Result<Vec<GpuTask>, Refused> {
    let mut tasks = Vec::new();
    let columns = ["name", "cpu_milli", "memory_mib", "num_gpu", "gpu_milli"];
    rows(path, &columns, &["gpu_spec"], |row| {
        let gpus = row.number(3)?;
        let share = if gpus == 0 { 0 } else { row.number(4)?.min(WHOLE_GPU) };
        if gpus > 1 && share < WHOLE_GPU {
            return row.wrong(&format!(
                "a task of {gpus} GPUs has gpu_milli = {share}; only a task of one GPU can share it"
            ));
        }
        tasks.push(GpuTask {
            name: row.text(0).to_owned(),
            cpu: row.number(1)?,
            memory: row.number(2)?,
            gpus,
            share,
            models: if gpus == 0 { String::new() } else { row.text(5).to_owned() },
        });
        Ok(())
    })?;
    if tasks.iter().all(|task| task.gpus == 0) {
        return Err(Refused(format!("{path} has no task with a GPU")));
    }
    Ok(tasks)
}

pub fn fragmentation_experiment(
    nodes: &[GpuNode],
    tasks: &[GpuTask],
    seeds: u64,
) -> Vec<(&'static str, Vec<AllocationPoint>)> {
    let typical = Arc::new(TypicalTasks::of(tasks));
    let runs: Vec<(usize, u64)> =
        (0..GPU_RULES.len()).flat_map(|rule| (0..seeds).map(move |seed| (rule, seed))).collect();
    let curves: Vec<LoadCurve> = runs
        .into_par_iter()
        .map(|(rule, seed)| one_curve(nodes, tasks, &typical, rule, FIRST_SEED + seed))
        .collect();
    GPU_RULES
        .iter()
        .zip(curves.chunks(seeds as usize))
        .map(|(entry, curves)| (entry.name, points(curves)))
        .collect()
}

fn one_curve(
    nodes: &[GpuNode],
    tasks: &[GpuTask],
    typical: &Arc<TypicalTasks>,
    rule: usize,
    seed: u64,
) -> LoadCurve {
    // Every rule sees the same arrivals and the same order among equal nodes.
    let capacity = nodes.iter().map(|node| u64::from(node.free())).sum();
    let load = MOST_LOAD as f64 / 100.0;
    let tasks = arrivals(tasks, capacity, load, &mut Stream::new(seed, 0, "arrivals"));
    let mut nodes = nodes.to_vec();
    shuffle(&mut nodes, &mut Stream::new(seed, 0, "nodes"));
    let mut rule = (GPU_RULES[rule].build)(Arc::clone(typical), Stream::new(seed, 0, "rule"));
    LoadCurve::measure(GpuCluster::new(nodes), &tasks, rule.as_mut(), typical, MOST_LOAD)
}

fn points(curves: &[LoadCurve]) -> Vec<AllocationPoint> {
    (0..=MOST_LOAD)
        .filter_map(|arrived| {
            let values = |of: fn(&LoadCurve) -> &Vec<Option<f64>>| -> Vec<f64> {
                curves.iter().filter_map(|curve| of(curve)[arrived]).collect()
            };
            let allocation = values(|curve| &curve.allocation);
            let quantile = || t_quantile(allocation.len() as u64 - 1);
            Some(AllocationPoint {
                arrived,
                allocation: mean(&allocation)?,
                se: half_width(&allocation).map(|width| width / quantile()),
                fragmentation: mean(&values(|curve| &curve.fragmentation))?,
            })
        })
        .collect()
}

struct TraceRow<'a> {
    path: &'a str,
    line: u64,
    names: &'a [&'a str],
    cells: Vec<Option<&'a str>>,
}

impl TraceRow<'_> {
    fn text(&self, column: usize) -> &str {
        self.cells[column].unwrap_or("")
    }

    fn number(&self, column: usize) -> Result<u32, Refused> {
        let text = self.text(column);
        text.parse().or_else(|_| {
            self.wrong(&format!(
                "{} is `{text}`; it must be a whole number from 0 to {}",
                self.names[column],
                u32::MAX
            ))
        })
    }

    fn wrong<T>(&self, what: &str) -> Result<T, Refused> {
        Err(Refused(format!("{}:{}: {what}", self.path, self.line)))
    }
}

/// Calls a function for each row of a CSV file, with the cells of its `needed` and `optional`
/// columns.
fn rows(
    path: &str,
    needed: &[&str],
    optional: &[&str],
    mut take: impl FnMut(&TraceRow<'_>) -> Result<(), Refused>,
) -> Result<(), Refused> {
    let text = Files::default().companion(path, Path::new(path))?;
    let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(text.as_bytes());
    let refused = |error: csv::Error| Refused(format!("{path}: {error}"));
    let header = reader.headers().map_err(refused)?.clone();
    let place = |name: &str| header.iter().position(|column| column == name);
    if let Some(missing) = needed.iter().find(|name| place(name).is_none()) {
        return Err(Refused(format!(
            "{path} has no column `{missing}`; needed are {}",
            needed.join(", ")
        )));
    }
    let names: Vec<&str> = needed.iter().chain(optional).copied().collect();
    let places: Vec<Option<usize>> = names.iter().map(|name| place(name)).collect();
    let mut record = csv::StringRecord::new();
    while reader.read_record(&mut record).map_err(refused)? {
        let cells = places.iter().map(|place| record.get((*place)?)).collect();
        let line = record.position().map_or(0, csv::Position::line);
        take(&TraceRow { path, line, names: &names, cells })?;
    }
    Ok(())
}
