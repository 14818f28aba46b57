//! Published traces that can be read: their columns, and the conversions to a table of jobs.

use super::Source::{
    Always, Between, Hour, Id, If, IfSome, Limit, Of, Options, Product, Share, SlurmMemory, Times,
    Tres, Word,
};
use super::{Holds, MachineColumns, Mapped, Published};

const fn of(ours: &'static str, source: super::Source) -> Mapped {
    Mapped { ours, source }
}

/// Table with one row for each job.
const fn jobs(columns: &'static [Mapped]) -> Holds {
    Holds::Jobs { columns, one_per: None, skipped: &[] }
}

/// Format of tables that `sacct` wrote. A table has this format if it has all columns in `marks`.
const fn sacct(marks: &'static [&'static str]) -> Published {
    let no_place =
        &["state", "nodelist", "qos", "priority", "reason", "constraints", "reservation"];
    Published { name: "sacct of Slurm", marks, holds: jobs(SACCT_COLUMNS), no_place }
}

const HOUR: f64 = 3600.0;

pub(super) static FORMATS: [Published; 19] = [
    Published {
        name: "Alibaba openb 2023, pods",
        marks: &["cpu_milli", "memory_mib", "num_gpu", "gpu_milli", "creation_time"],
        holds: jobs(&[
            of("submit", Of("creation_time")),
            of("runtime", Between("scheduled_time", "deletion_time")),
            of("wait", Between("creation_time", "scheduled_time")),
            of("nodes", Always(1.0)),
            of("pieces", Always(1.0)),
            of("cpu", Times("cpu_milli", 1e-3)),
            of("mem", Of("memory_mib")),
            of("gpu", Product("num_gpu", "gpu_milli", 1e-3)),
            of("type", Of("gpu_spec")),
            of("type", IfSome("num_gpu", "*")),
        ]),
        no_place: &["name", "qos", "pod_phase"],
    },
    Published {
        name: "Alibaba openb 2023, nodes",
        marks: &["sn", "cpu_milli", "memory_mib", "gpu", "model"],
        holds: Holds::Nodes(MachineColumns {
            name: "sn",
            cpu: Some(("cpu_milli", 1e-3)),
            memory: Some("memory_mib"),
            gpus: Some("gpu"),
            model: Some("model"),
            above: &[],
        }),
        no_place: &[],
    },
    Published {
        name: "Alibaba spot GPU 2026, jobs",
        marks: &["job_name", "gpu_model", "gpu_request", "worker_num", "submit_time"],
        holds: jobs(&[
            of("job", Id("job_name")),
            of("submit", Of("submit_time")),
            of("runtime", Of("duration")),
            of("nodes", Of("worker_num")),
            of("pieces", Of("worker_num")),
            of("cpu", Of("cpu_request")),
            of("gpu", Of("gpu_request")),
            of("type", Of("gpu_model")),
            of("group", Of("organization")),
            of("priority", Word("job_type", &[("HP", "1"), ("Spot", "0")])),
        ]),
        no_place: &[],
    },
    Published {
        name: "Alibaba spot GPU 2026, nodes",
        marks: &["node_name", "gpu_model", "gpu_capacity_num", "cpu_num"],
        holds: Holds::Nodes(MachineColumns {
            name: "node_name",
            cpu: Some(("cpu_num", 1.0)),
            memory: None,
            gpus: Some("gpu_capacity_num"),
            model: Some("gpu_model"),
            above: &[],
        }),
        no_place: &[],
    },
    Published {
        name: "Alibaba GPU 2026, pods by hour",
        marks: &["pod_id", "state_public", "gpu_request", "day", "hour"],
        holds: Holds::Jobs {
            columns: &[
                of("submit", Hour("day", "hour")),
                of("runtime", Always(HOUR)),
                of("wait", Of("schedule_delay_sec")),
                of("nodes", Always(1.0)),
                of("pieces", Always(1.0)),
                of("cpu", Of("cpu_request_cores")),
                of("gpu", Of("gpu_request")),
                of("type", Of("gpu_spec_public")),
                of("group", Of("workload_id")),
                of("application", Of("job_type_public")),
                of("priority", Word("priority_class", &[("HP", "1"), ("LP", "0"), ("Other", "0")])),
            ],
            one_per: Some("pod_id"),
            skipped: &[("state_public", &["Pending", "Standby"])],
        },
        no_place: &[
            "server_id",
            "cluster_id",
            "gpu_mem_request",
            "model_type_public",
            "is_genai_request",
            "ready_status",
            "ready_delay_sec",
        ],
    },
    Published {
        name: "Alibaba GPU 2026, servers by hour",
        marks: &["server_id", "asw_id", "gpu_count", "cpu_capacity_cores"],
        holds: Holds::Nodes(MachineColumns {
            name: "server_id",
            cpu: Some(("cpu_capacity_cores", 1.0)),
            memory: None,
            gpus: Some("gpu_count"),
            model: Some("gpu_spec_public"),
            above: &["cluster_id", "asw_id"],
        }),
        no_place: &[],
    },
    Published {
        name: "Alibaba GPU 2026, summary of executions",
        marks: &["pod_id", "duration_hours", "schedule_status"],
        holds: Holds::Nothing(
            "it states no time of submission: convert asi_opensource_pod_hourly instead",
        ),
        no_place: &[],
    },
    Published {
        name: "Philly 2017, jobs",
        marks: &["jobid", "vc", "attempts", "submitted_time"],
        holds: jobs(&[
            of("job", Id("jobid")),
            of("submit", Of("submitted_time")),
            of("runtime", Of("seconds of all attempts")),
            of("wait", Between("submitted_time", "first start")),
            of("nodes", Of("machines")),
            of("pieces", Of("machines")),
            of("gpu", Share("GPUs", "machines")),
            of("roles", Of("unequal machines")),
            of("user", Of("user")),
            of("queue", Of("vc")),
        ]),
        no_place: &["status", "further attempts", "placement"],
    },
    Published {
        name: "Philly 2017, machines",
        marks: &["machineId", "number of GPUs", "single GPU mem"],
        holds: Holds::Nodes(MachineColumns {
            name: "machineId",
            cpu: None,
            memory: None,
            gpus: Some("number of GPUs"),
            model: Some("single GPU mem"),
            above: &[],
        }),
        no_place: &[],
    },
    Published {
        name: "Helios 2020",
        marks: &["job_id", "vc", "gpu_num", "cpu_num", "node_num", "submit_time"],
        holds: jobs(&[
            of("job", Id("job_id")),
            of("submit", Of("submit_time")),
            of("runtime", Between("start_time", "end_time")),
            of("runtime", Of("duration")),
            of("wait", Between("submit_time", "start_time")),
            of("nodes", Of("node_num")),
            of("pieces", Of("node_num")),
            of("cpu", Share("cpu_num", "node_num")),
            of("gpu", Share("gpu_num", "node_num")),
            of("user", Of("user")),
            of("queue", Of("vc")),
        ]),
        no_place: &["state"],
    },
    Published {
        name: "Acme 2023",
        marks: &["job_id", "node_num", "gpu_num", "cpu_num", "type", "submit_time"],
        holds: jobs(&[
            of("job", Id("job_id")),
            of("submit", Of("submit_time")),
            of("runtime", Between("start_time", "end_time")),
            of("runtime", Of("duration")),
            of("wait", Between("submit_time", "start_time")),
            of("nodes", Of("node_num")),
            of("pieces", Of("node_num")),
            of("cpu", Share("cpu_num", "node_num")),
            of("gpu", Share("gpu_num", "node_num")),
            of("mem", Times("mem_per_pod_GB", 1024.0)),
            of("user", Of("user")),
            of("application", Of("type")),
        ]),
        no_place: &["state", "shared_mem_per_pod", "fail_time", "stop_time"],
    },
    Published {
        name: "PM100 and M100, Marconi100",
        marks: &["job_id", "submit_time", "eligible_time", "time_limit", "user_id"],
        holds: jobs(&[
            of("job", Id("job_id")),
            of("submit", Of("submit_time")),
            of("runtime", Between("start_time", "end_time")),
            of("runtime", Of("run_time")),
            of("estimate", Times("time_limit", 60.0)),
            of("wait", Between("submit_time", "start_time")),
            of("nodes", Of("num_nodes_req")),
            of("nodes", Of("num_nodes_alloc")),
            of("nodes", Of("num_nodes")),
            of("pieces", Of("num_nodes_req")),
            of("pieces", Of("num_nodes_alloc")),
            of("pieces", Of("num_nodes")),
            of("cpu", Share("num_cores_req", "num_nodes_req")),
            of("cpu", Share("num_cpus_req", "num_nodes_req")),
            of("cpu", Share("num_cpus", "num_nodes")),
            of("gpu", Share("num_gpus_req", "num_nodes_req")),
            of("gpu", Share("num_gpus_alloc", "num_nodes_alloc")),
            // If `shared` is 0, the job shares its nodes with no other job.
            of("exclusive", If("shared", "0", "node")),
            of("user", Of("user_id")),
            of("group", Of("group_id")),
            of("queue", Of("partition")),
        ]),
        no_place: &[
            "eligible_time",
            "job_state",
            "nodes",
            "mem_req",
            "mem_alloc",
            "num_tasks",
            "priority",
            "qos",
            "req_nodes",
            "threads_per_core",
        ],
    },
    Published {
        name: "F-DATA, Fugaku",
        marks: &["jid", "usr", "nnumr", "adt", "elpl"],
        holds: jobs(&[
            of("job", Id("jid")),
            of("submit", Of("adt")),
            of("runtime", Between("sdt", "edt")),
            of("runtime", Of("duration")),
            of("estimate", Of("elpl")),
            of("wait", Between("adt", "sdt")),
            of("nodes", Of("nnumr")),
            of("nodes", Of("nnuma")),
            of("pieces", Of("nnumr")),
            of("pieces", Of("nnuma")),
            of("cpu", Share("cnumr", "nnumr")),
            of("user", Of("usr")),
            of("application", Of("jnam")),
        ]),
        no_place: &["pri", "mszl", "econ", "freq_req", "jobenv_req", "pclass", "exit state"],
    },
    sacct(&["submit", "start", "end", "alloctres"]),
    sacct(&["submit", "start", "end", "reqtres"]),
    Published {
        name: "Kueue, its workloads",
        marks: &["podSets"],
        holds: jobs(&[
            of("submit", Of("creationTimestamp")),
            of("runtime", Between("Admitted", "Finished")),
            of("estimate", Of("maximumExecutionTimeSeconds")),
            of("wait", Between("creationTimestamp", "Admitted")),
            of("roles", Of("podSets")),
            of("inside", Of("topologyRequest")),
            of("group", Of("namespace")),
            of("queue", Of("queueName")),
            of("priority", Of("priority")),
        ]),
        no_place: &[],
    },
    Published {
        name: "IN2P3 2024",
        marks: &["submit", "start", "end", "alloccpus"],
        holds: jobs(&[
            of("job", Id("jobidraw")),
            of("job", Id("jobid")),
            of("submit", Of("submit")),
            of("runtime", Between("start", "end")),
            of("estimate", Times("timelimitraw", 60.0)),
            of("estimate", Limit("timelimit")),
            of("wait", Between("submit", "start")),
            of("nodes", Of("alloccpus")),
            of("nodes", Of("reqcpus")),
            of("pieces", Always(1.0)),
            of("cpu", Of("alloccpus")),
            of("cpu", Of("reqcpus")),
            of("mem", SlurmMemory("reqmem")),
            of("user", Of("user")),
            of("group", Of("account")),
            of("queue", Of("partition")),
        ]),
        no_place: &["state", "maxrss", "totalcpu", "qos", "nodelist"],
    },
    sacct(&["submit", "start", "end", "reqcpus"]),
    Published {
        name: HISTORY,
        marks: &["id", "attempt", "submit", "nodelist", "by"],
        holds: jobs(HISTORY_COLUMNS),
        no_place: &[
            "processors",
            "state",
            "eligible",
            "priority",
            "reason",
            "line",
            "not_modelled",
        ],
    },
];

/// Columns of a table that `sacct` wrote. An amount is taken from the first column that has it.
/// Allocated amounts come before requested ones, and trackable resources (TRES) before nodes and
/// tasks.
const SACCT_COLUMNS: &[Mapped] = &[
    of("job", Id("jobidraw")),
    of("job", Id("jobid")),
    of("submit", Of("submit")),
    of("runtime", Between("start", "end")),
    of("estimate", Times("timelimitraw", 60.0)),
    of("estimate", Limit("timelimit")),
    of("wait", Between("submit", "start")),
    of("pieces", Tres("alloctres", "pieces")),
    of("cpu", Tres("alloctres", "cpu")),
    of("mem", Tres("alloctres", "mem")),
    of("gpu", Tres("alloctres", "gpu")),
    of("per_node", Tres("alloctres", "per_node")),
    of("type", Tres("alloctres", "type")),
    of("pieces", Tres("reqtres", "pieces")),
    of("cpu", Tres("reqtres", "cpu")),
    of("mem", Tres("reqtres", "mem")),
    of("gpu", Tres("reqtres", "gpu")),
    of("per_node", Tres("reqtres", "per_node")),
    of("type", Tres("reqtres", "type")),
    of("pieces", Of("nnodes")),
    of("cpu", Share("reqcpus", "nnodes")),
    of("pieces", Of("ntasks")),
    of("cpu", Share("reqcpus", "ntasks")),
    of("user", Of("user")),
    of("group", Of("account")),
    of("queue", Of("partition")),
];

pub(super) const HISTORY: &str = "a Meshwork site, its history";

/// Columns of a site's job history.
///
/// The first [`SHARED_COLUMNS`] of them describe requests for parts of nodes.
pub(super) static HISTORY_COLUMNS: &[Mapped] = &[
    of("pieces", Options("options", "pieces")),
    of("cpu", Options("options", "cpu")),
    of("mem", Options("options", "mem")),
    of("gpu", Options("options", "gpu")),
    of("per_node", Options("options", "per_node")),
    of("type", Options("options", "type")),
    of("exclusive", Options("options", "exclusive")),
    of("submit", Of("submit")),
    of("runtime", Between("start", "end")),
    of("estimate", Of("limit")),
    of("wait", Between("submit", "start")),
    of("nodes", Of("nodes")),
    of("exclusive", If("exclusive", "topo", "topo")),
    of("segment", Of("segment")),
    of("spread_segments", If("spread", "yes", "true")),
    of("consolidate_segments", If("consolidate", "yes", "true")),
    of("switches", Of("switches")),
    of("contiguous", If("contiguous", "yes", "true")),
    of("require", Of("require")),
    of("exclude", Of("exclude")),
    of("user", Of("user")),
    of("group", Of("account")),
    of("queue", Of("qos")),
    of("queue", Of("partition")),
    of("partition", Of("partition")),
];

/// Number of columns that describe requests for parts of nodes.
pub(super) const SHARED_COLUMNS: usize = 7;
