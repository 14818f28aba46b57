//! Options of a job that may share nodes, and the needs that follow from them.

use crate::geometry::NodeSet;

use super::machine::SelectParams;

/// Requested number of GPUs, possibly of a given type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GpuCount {
    /// Number of GPUs, at least 1.
    pub count: u64,
    /// Index of the requested type of GPUs; `None` for any type.
    ///
    /// If the index is unknown, no GPU matches it.
    pub model: Option<u16>,
}

/// Order in which the sockets of a node provide the CPUs of a job.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SocketOrder {
    /// The order set in `slurm.conf`.
    #[default]
    Default,
    /// One socket after another: a socket is used up before the next one is used (`-m *:block`).
    Block,
    /// All sockets in turn: each provides one core at a time (`-m *:cyclic`, `-m *:fcyclic`).
    Cyclic,
}

/// Options of a job that may share nodes, named as in the command `salloc`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SharedRequest {
    /// Number of tasks (`-n`).
    pub tasks: Option<u32>,
    /// Minimum and maximum number of nodes (`-N`).
    pub nodes: Option<(u32, u32)>,
    /// Number of CPUs for each task (`-c`).
    pub cpus_per_task: Option<u32>,
    /// Number of tasks on each node (`--ntasks-per-node`).
    pub tasks_per_node: Option<u32>,
    /// Memory on each node in MB (`--mem`); 0 stands for all memory of a node.
    pub memory: Option<u64>,
    /// Memory for each CPU in MB (`--mem-per-cpu`).
    pub mem_per_cpu: Option<u64>,
    /// Memory for each GPU in MB (`--mem-per-gpu`).
    pub mem_per_gpu: Option<u64>,
    /// Number of GPUs on each node (`--gres=gpu:` or `--gpus-per-node`).
    pub gpus_per_node: Option<GpuCount>,
    /// Total number of GPUs of the job (`--gpus`).
    pub gpus: Option<GpuCount>,
    /// Number of GPUs for each task (`--gpus-per-task`).
    pub gpus_per_task: Option<GpuCount>,
    /// Number of CPUs for each GPU (`--cpus-per-gpu`).
    pub cpus_per_gpu: Option<u32>,
    /// Whether the job gets whole nodes, so that it shares none of them (`--exclusive`).
    pub exclusive: bool,
    /// Whether GPUs must be near the cores of the job (`--gres-flags=enforce-binding`).
    pub enforce_binding: bool,
    /// Feature that the nodes must have (`-C`).
    pub feature: Option<String>,
    /// Nodes that the job excludes (`-x`).
    pub exclude: Option<NodeSet>,
    /// Order in which the sockets of a node provide CPUs (`-m`, after the colon).
    pub order: SocketOrder,
}

/// Memory that a job needs, in MB, for each CPU, node or GPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Memory {
    Cpu(u64),
    /// Memory on each node; 0 stands for all memory of the node.
    Node(u64),
    /// Memory for each GPU; the amount is in [`Gpus::memory`].
    Gpu,
}

/// Numbers of GPUs that a job needs; a number that is not requested is 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Gpus {
    pub model: Option<u16>,
    pub per_node: u64,
    pub per_job: u64,
    pub per_task: u64,
    /// Requested number of CPUs for each GPU.
    pub cpus: u32,
    /// Default number of CPUs for each GPU, as set for the partition.
    pub default_cpus: u32,
    /// Memory for each GPU in MB: the requested amount, or else the default amount.
    pub memory: u64,
}

impl Gpus {
    /// Number of CPUs for each GPU: the requested number, or else the default number.
    pub(super) fn any_cpus(&self) -> u32 {
        if self.cpus > 0 { self.cpus } else { self.default_cpus }
    }

    /// Total number of GPUs of the job if it runs on `nodes` nodes.
    pub(super) fn for_job(&self, nodes: u64) -> u64 {
        if self.per_job > 0 { self.per_job } else { self.per_node.saturating_mul(nodes) }
    }
}

/// Resources that a job needs, derived from its request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Needs {
    /// Number of tasks of the job; 0 if unknown.
    pub tasks: u32,
    pub tasks_given: bool,
    pub min_nodes: u32,
    /// Maximum number of nodes of the job; `u32::MAX` without a limit.
    pub max_nodes: u32,
    /// Number of nodes that an attempt to choose nodes aims for.
    pub want: u32,
    pub min_cpus: u32,
    /// Minimum number of CPUs on each node of the job.
    pub node_cpus: u32,
    /// Number of CPUs for each task.
    pub cpt: u32,
    /// Number of tasks on each node; 0 if not requested.
    pub tpn: u32,
    pub whole: bool,
    pub memory: Memory,
    pub gpus: Option<Gpus>,
    pub enforce: bool,
    /// Minimum number of CPUs on each node, because of the GPUs that the job uses there.
    pub gpu_node_cpus: u32,
    /// Minimum total number of CPUs of the job, because of all its GPUs.
    pub gpu_job_cpus: u32,
}

impl SharedRequest {
    /// Derives what a job needs from its options and the parameters of the machine.
    ///
    /// # Errors
    /// If the options contradict one another.
    pub(super) fn needs(&self, params: &SelectParams) -> Result<Needs, String> {
        let (given, tpn) = (self.cpus_per_task, self.tasks_per_node.unwrap_or(0));
        let mut tasks = self.tasks;
        let mut range = self.nodes;
        if let (Some(n), Some((lo, hi))) = (tasks, range) {
            range = Some(if n < lo { (n, n) } else { (lo, hi.min(n)) });
        }
        let is_fixed = range.is_none_or(|(lo, hi)| lo == hi);
        let lo = range.map_or(1, |(lo, _)| lo);
        let c = given.unwrap_or(1).max(1);
        let estimate = match tasks {
            Some(n) => n,
            None if tpn > 0 && is_fixed => lo.saturating_mul(tpn),
            None if range.is_some() && is_fixed => lo,
            None => 1,
        };
        let mut min_cpus = estimate.saturating_mul(c);
        let min_nodes = match (range, tasks) {
            (Some((lo, _)), _) => lo,
            (None, Some(n)) if tpn > 0 => n.div_ceil(tpn),
            _ => 1,
        };
        let mut max_nodes = range.map(|(_, hi)| hi);
        let mut cpt = given;
        let mut gpus = self.gpus_wanted()?;
        if self.cpus_per_gpu.is_some() && given.is_some() {
            return Err("--cpus-per-gpu and -c exclude each other: give one of them".to_owned());
        }
        let fixed_nodes = range.filter(|(lo, hi)| lo == hi).map(|(lo, _)| lo);
        for pass in 0..2 {
            if let Some(gpus) = &mut gpus {
                self.gpu_step(gpus, &mut tasks, &mut cpt, fixed_nodes, tpn)?;
                if gpus.per_job > 0 {
                    if gpus.per_job < u64::from(min_nodes) {
                        return Err(format!(
                            "--gpus={} is less than the {min_nodes} nodes of -N: each node needs a GPU",
                            gpus.per_job
                        ));
                    }
                    max_nodes = max_nodes.map(|most| most.min(clip(gpus.per_job)));
                }
                let all = gpus.per_job.max(gpus.per_node.saturating_mul(u64::from(min_nodes)));
                min_cpus = min_cpus.max(clip(all.saturating_mul(u64::from(gpus.cpus))));
                if let (Some(cpt), Some(tasks)) = (cpt, tasks) {
                    min_cpus = min_cpus.max(cpt.saturating_mul(tasks));
                }
            }
            if pass == 0 {
                if tasks.is_none() && tpn > 0 {
                    tasks = Some(min_nodes.saturating_mul(tpn));
                }
                if let Some(tasks) = tasks.filter(|tasks| *tasks > min_cpus) {
                    min_cpus = tasks.saturating_mul(cpt.unwrap_or(1).max(1));
                }
            }
        }
        let tasks_given =
            self.tasks.is_some() || gpus.is_some_and(|gpus| gpus.per_task > 0) && tasks.is_some();
        let tasks = tasks.unwrap_or(0);
        let own_cpt = cpt;
        let mut cpt = cpt.unwrap_or(1).max(1);
        let mut node_cpus = cpt;
        if tpn > 0 && tasks > 1 {
            node_cpus = node_cpus.max(cpt.saturating_mul(tpn));
        }
        let want = max_nodes.unwrap_or(min_nodes);
        let max_nodes = max_nodes.or((tasks > 0).then_some(tasks)).unwrap_or(u32::MAX);
        if let Some(gpus) = &mut gpus {
            if own_cpt.is_none() && params.cpus_per_gpu > 0 {
                gpus.default_cpus = params.cpus_per_gpu;
                let brought = gpus.per_task.saturating_mul(u64::from(params.cpus_per_gpu));
                cpt = cpt.max(clip(brought));
            }
            gpus.memory = self.mem_per_gpu.unwrap_or(params.mem_per_gpu);
        }
        let memory = match (self.memory, self.mem_per_cpu, gpus) {
            (Some(memory), _, _) => Memory::Node(memory),
            (None, Some(memory), _) => Memory::Cpu(memory),
            (None, None, Some(gpus)) if gpus.memory > 0 => Memory::Gpu,
            _ if params.mem_per_node > 0 => Memory::Node(params.mem_per_node),
            _ if params.mem_per_cpu > 0 => Memory::Cpu(params.mem_per_cpu),
            _ => Memory::Node(0),
        };
        let (mut gpu_node_cpus, mut gpu_job_cpus) = (0, 0);
        if let Some(gpus) = &gpus {
            let each = u64::from(gpus.any_cpus());
            let on_node = match (gpus.per_node, gpus.per_task) {
                (0, 0) => 1,
                (0, per_task) => per_task * u64::from(tpn),
                (per_node, _) => per_node,
            };
            gpu_node_cpus = clip(each.saturating_mul(on_node));
            gpu_job_cpus = clip(each.saturating_mul(gpus.for_job(u64::from(min_nodes))));
        }
        Ok(Needs {
            tasks,
            tasks_given,
            min_nodes,
            max_nodes,
            want,
            min_cpus,
            node_cpus,
            cpt,
            tpn,
            whole: self.exclusive || params.exclusive,
            memory,
            gpus,
            enforce: self.enforce_binding && gpus.is_some(),
            gpu_node_cpus,
            gpu_job_cpus,
        })
    }

    /// Requested numbers of GPUs; `None` if the job has no option for GPUs.
    ///
    /// # Errors
    /// If more than one option gives a number of GPUs. Also if an option needs a number of GPUs,
    /// but none is given.
    fn gpus_wanted(&self) -> Result<Option<Gpus>, String> {
        let all = [self.gpus_per_node, self.gpus, self.gpus_per_task];
        let mut models = all.iter().flatten().map(|gpus| gpus.model);
        let Some(model) = models.next() else {
            if self.cpus_per_gpu.is_some() || self.mem_per_gpu.is_some() {
                let says = "--cpus-per-gpu and --mem-per-gpu need a number of GPUs: give --gpus, \
                            --gpus-per-node or --gpus-per-task";
                return Err(says.to_owned());
            }
            return Ok(None);
        };
        if all.iter().flatten().count() > 1 {
            let says = "more than one number of GPUs in one request is not modelled: give one of \
                        --gpus, --gpus-per-node (--gres) and --gpus-per-task";
            return Err(says.to_owned());
        }
        let count = |gpus: Option<GpuCount>| gpus.map_or(0, |gpus| gpus.count);
        Ok(Some(Gpus {
            model,
            per_node: count(self.gpus_per_node),
            per_job: count(self.gpus),
            per_task: count(self.gpus_per_task),
            cpus: self.cpus_per_gpu.unwrap_or(0),
            ..Gpus::default()
        }))
    }

    /// If the job requests GPUs for each task, derives its number of tasks and its total number of
    /// GPUs.
    fn gpu_step(
        &self,
        gpus: &mut Gpus,
        tasks: &mut Option<u32>,
        cpt: &mut Option<u32>,
        fixed_nodes: Option<u32>,
        tpn: u32,
    ) -> Result<(), String> {
        let per_task = gpus.per_task;
        if per_task == 0 {
            return Ok(());
        }
        if tasks.is_none()
            && let Some(nodes) = fixed_nodes
        {
            if tpn > 0 {
                *tasks = Some(nodes.saturating_mul(tpn));
            } else if cpt.is_none() {
                *tasks = Some(nodes);
            }
        }
        let Some(tasks) = *tasks else {
            return Err("--gpus-per-task needs a number of tasks: give -n, or -N alone".to_owned());
        };
        gpus.per_job = u64::from(tasks).saturating_mul(per_task);
        if gpus.cpus > 0 && cpt.is_none() && gpus.model.is_none() {
            *cpt = Some(clip(per_task.saturating_mul(u64::from(gpus.cpus))));
        }
        Ok(())
    }
}

fn clip(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
