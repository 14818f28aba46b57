//! Requests of jobs for pieces of nodes, read from Slurm's resource lists and options of `salloc`.

use std::borrow::Cow;

use meshwork::alloc::shared::SharedMachine;
use meshwork::workload::table::Cell;

use super::megabytes;

/// Pieces (equal parts of nodes) that a job requests, as columns of a table of jobs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SlurmPieces {
    count: f64,
    cpu: f64,
    mem: Option<f64>,
    gpu: f64,
    per_node: Option<f64>,
    /// Model of the GPUs that the job requested, or feature that its nodes must have.
    kind: Option<String>,
    exclusive: bool,
}

/// Options that a user gave to `salloc` for a job. Their names say whether an amount is for a task,
/// a node or the job.
#[derive(Default)]
struct Options<'a> {
    tasks: Option<f64>,
    nodes: Option<f64>,
    cpus_per_task: Option<f64>,
    tasks_per_node: Option<f64>,
    mem: Option<f64>,
    mem_per_cpu: Option<f64>,
    mem_per_gpu: Option<f64>,
    gpus: Option<&'a str>,
    gpus_per_node: Option<&'a str>,
    gpus_per_task: Option<&'a str>,
    cpus_per_gpu: Option<f64>,
    feature: Option<&'a str>,
    exclusive: bool,
}

/// Parses a number of GPUs, with their model if it is given: `2`, `a100:2`, `gpu:a100:2`.
fn gpus(text: &str) -> Option<(f64, Option<String>)> {
    let text = text.strip_prefix("gpu:").unwrap_or(text);
    let (model, count) = match text.rsplit_once(':') {
        Some((model, count)) => (Some(model.to_owned()), count),
        None => (None, text),
    };
    count.parse().ok().map(|count| (count, model))
}

impl<'a> Options<'a> {
    fn read(text: &'a str) -> Options<'a> {
        let mut own = Options::default();
        for word in text.split_whitespace() {
            let (name, value) = match word.strip_prefix("--") {
                Some(long) => long.split_once('=').unwrap_or((long, "")),
                None => {
                    let short = word.strip_prefix('-').unwrap_or(word);
                    short.split_at(short.chars().next().map_or(0, char::len_utf8))
                }
            };
            // A range of nodes, such as `2-4`, counts as its minimum.
            let first = value.split('-').next().unwrap_or(value);
            let number = first.parse::<f64>().ok().filter(|number| *number > 0.0);
            let memory = megabytes(value).filter(|amount| *amount > 0.0);
            match name {
                "n" | "ntasks" => own.tasks = number,
                "N" | "nodes" => own.nodes = number,
                "c" | "cpus-per-task" => own.cpus_per_task = number,
                "ntasks-per-node" => own.tasks_per_node = number,
                "mem" => own.mem = memory,
                "mem-per-cpu" => own.mem_per_cpu = memory,
                "mem-per-gpu" => own.mem_per_gpu = memory,
                "G" | "gpus" => own.gpus = Some(value),
                "gpus-per-node" => own.gpus_per_node = Some(value),
                "gres" if value.starts_with("gpu") => own.gpus_per_node = Some(value),
                "gpus-per-task" => own.gpus_per_task = Some(value),
                "cpus-per-gpu" => own.cpus_per_gpu = number,
                "C" | "constraint" => own.feature = Some(value),
                "exclusive" => own.exclusive = true,
                _ => {}
            }
        }
        own
    }
}

impl SlurmPieces {
    /// Pieces that a job requested through options of `salloc`. `None` if the text is empty.
    ///
    /// The options decide whether a piece is a task, the job's part on one node, or one GPU.
    pub fn of_options(text: &str) -> Option<SlurmPieces> {
        if text.trim().is_empty() {
            return None;
        }
        let own = Options::read(text);
        let spread = own.tasks_per_node.zip(own.tasks).map(|(each, all)| (all / each).ceil());
        let nodes = own.nodes.or(spread);
        let tasks = own.tasks.or(own.tasks_per_node.zip(nodes).map(|(each, nodes)| each * nodes));
        let tasks = tasks.or(nodes).unwrap_or(1.0);
        let cpus = own.cpus_per_task.unwrap_or(1.0);
        let per_gpu = own.cpus_per_gpu.unwrap_or(0.0);
        let all = own.gpus.and_then(gpus);
        let each_node = own.gpus_per_node.and_then(gpus);
        let each_task = own.gpus_per_task.and_then(gpus);
        let divided = all.clone().zip(nodes).filter(|((all, _), nodes)| all % nodes == 0.0);
        let each_node = each_node.or(divided.map(|((all, model), nodes)| (all / nodes, model)));
        let (count, cpu, (gpu, model), per_node) = match (each_task, each_node, all) {
            (Some(gpu), ..) => (tasks, cpus.max(per_gpu * gpu.0), gpu, own.tasks_per_node),
            (_, Some(gpu), _) => {
                let nodes = nodes.unwrap_or(1.0);
                (nodes, (tasks * cpus / nodes).max(per_gpu * gpu.0), gpu, Some(1.0))
            }
            (.., Some((all, model))) => {
                (all, (tasks * cpus / all).max(per_gpu), (1.0, model), None)
            }
            _ if nodes.is_some() => {
                let nodes = nodes.unwrap_or(1.0);
                (nodes, tasks * cpus / nodes, (0.0, None), Some(1.0))
            }
            _ => (tasks, cpus, (0.0, None), None),
        };
        let cpu = cpu.ceil();
        // Memory of a node is divided among the pieces that it may have.
        let on_a_node = per_node.unwrap_or(count).min(count);
        let mem = own.mem.map(|mem| mem / on_a_node);
        let mem = mem.or(own.mem_per_cpu.map(|mem| mem * cpu));
        let mem = mem.or(own.mem_per_gpu.map(|mem| mem * gpu));
        let is_name = |text: &&str| {
            !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || "_.-".contains(c))
        };
        let feature = own.feature.filter(is_name).map(str::to_owned);
        let (kind, exclusive) = (model.or(feature), own.exclusive);
        Some(SlurmPieces { count, cpu, mem, gpu, per_node, kind, exclusive })
    }

    /// Pieces that a recorded job requested. `None` if it held whole nodes and gave no options.
    ///
    /// If the job gave no options, a piece is its part on one node. All pieces are equal, and have
    /// `cpus` CPUs in total. If the memory is not stated, it is the default of the `slurm.conf`, or
    /// else all that the smallest node has.
    pub fn of_job(
        options: &str,
        (nodes, cpus): (f64, f64),
        is_whole: bool,
        machine: &SharedMachine,
    ) -> Option<SlurmPieces> {
        let params = &machine.params;
        let is_whole = is_whole || params.exclusive;
        let plain = || {
            let is_shared = !is_whole && nodes > 0.0 && cpus > 0.0;
            let cpu = (cpus / nodes).ceil();
            is_shared.then(|| SlurmPieces {
                count: nodes,
                cpu,
                per_node: Some(1.0),
                ..SlurmPieces::default()
            })
        };
        let mut own = SlurmPieces::of_options(options).or_else(plain)?;
        own.exclusive |= is_whole;
        if own.mem.is_some() || own.exclusive || !params.memory {
            return Some(own);
        }
        let is_alone = own.count < 1.5 || own.per_node.is_some_and(|most| most < 1.5);
        let of_gpus = params.mem_per_gpu as f64 * own.gpu;
        let all = || machine.types.iter().map(|kind| kind.memory).min().unwrap_or(0);
        let mem = match (params.mem_per_node, params.mem_per_cpu) {
            _ if of_gpus > 0.0 => of_gpus,
            (1.., _) if is_alone => params.mem_per_node as f64,
            (0, 0) if is_alone => all() as f64,
            (_, each) => each as f64 * own.cpu,
        };
        own.mem = Some(mem).filter(|mem| *mem > 0.0);
        Some(own)
    }

    /// Whether the job excludes all other jobs from its nodes.
    pub fn exclusive(&self) -> bool {
        self.exclusive
    }

    /// Number of pieces, maximum number of pieces on a node, and amounts of each piece. The amounts
    /// are cores, memory in MB, and GPUs.
    pub fn amounts(&self) -> (u64, Option<u64>, [u64; 3]) {
        let each = [self.cpu, self.mem.unwrap_or(0.0), self.gpu];
        let whole = |number: f64| number.ceil() as u64;
        (whole(self.count), self.per_node.map(whole), each.map(whole))
    }

    /// Pieces that a list of trackable resources describes. `None` if the list has no processors.
    ///
    /// A piece is the job's part on one node. If nodes have unequal numbers of GPUs, a piece is one
    /// GPU.
    pub fn of_tres(text: &str) -> Option<SlurmPieces> {
        let of = |kind: &str| {
            let mut pairs = text.split(',').filter_map(|part| part.trim().split_once('='));
            pairs.find(|(name, _)| *name == kind).map(|(_, value)| value)
        };
        let number = |kind: &str| of(kind).and_then(|value| value.parse::<f64>().ok());
        let cpus = number("cpu")?;
        let nodes = number("node").filter(|nodes| *nodes > 0.0).unwrap_or(1.0);
        let models = text.split(',').filter_map(|part| part.trim().strip_prefix("gres/gpu:"));
        let mut models = models.filter_map(|part| part.split_once('=')).map(|(model, _)| model);
        let kind = models.next().filter(|_| models.next().is_none()).map(str::to_owned);
        let gpus = number("gres/gpu").unwrap_or(0.0);
        let is_even = gpus % nodes == 0.0;
        let count = if is_even { nodes } else { gpus };
        Some(SlurmPieces {
            count,
            cpu: cpus / count,
            mem: of("mem").and_then(megabytes).map(|mem| mem / count),
            gpu: gpus / count,
            per_node: is_even.then_some(1.0),
            kind,
            exclusive: false,
        })
    }

    /// Total memory of all pieces, in MB, and total number of their GPUs.
    pub fn totals(&self) -> [u64; 2] {
        [self.mem.unwrap_or(0.0), self.gpu].map(|each| (self.count * each).round() as u64)
    }

    /// Cell of a column in a table of jobs. `None` if the cell is empty.
    pub(super) fn cell(&self, column: &str) -> Option<Cell<'static>> {
        let number = match column {
            "pieces" => Some(self.count),
            "cpu" => Some(self.cpu),
            "mem" => self.mem.map(f64::ceil),
            "gpu" => Some(self.gpu),
            "per_node" => self.per_node,
            _ => None,
        };
        match column {
            "type" => self.kind.clone().map(|kind| Cell::Text(Cow::Owned(kind))),
            "exclusive" => self.exclusive.then_some(Cell::Text(Cow::Borrowed("node"))),
            _ => number.filter(|number| *number > 0.0).map(Cell::Number),
        }
    }
}
