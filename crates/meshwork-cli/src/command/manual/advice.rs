//! Advice for authors of studies on when to use a catalogue entry, with related pages.

use std::fmt::Write;

use meshwork::catalogue::Catalogue;
use meshwork::registry::EntrySource;

use crate::command::list::{KINDS, Listed};

/// Kind and names of entries, when to use them, and related pages.
///
/// A related page is `kind/name`, or the name of a chapter.
struct Advice(&'static str, &'static [&'static str], &'static str, &'static [&'static str]);

/// Advice on an entry's page; empty if there is none.
pub(super) fn of(catalogue: &Catalogue, kind: &Listed, name: &str) -> String {
    let mut text = String::new();
    for Advice(of, names, when, related) in ADVICE {
        if *of != kind.word() || !names.contains(&name) {
            continue;
        }
        let beside = names.iter().filter(|&&other| other != name).map(|other| (kind, *other));
        let named = related.iter().filter_map(|page| page.split_once('/')).map(|(kind, name)| {
            let known = KINDS.iter().find(|known| known.word() == kind);
            (known.unwrap_or_else(|| panic!("{kind} is no kind")), name)
        });
        let mut links: Vec<String> = beside
            .chain(named)
            .map(|(kind, other)| {
                let is_there =
                    catalogue.entries(kind.family).iter().any(|about| about.name == other);
                assert!(is_there, "{other} is no {}", kind.word());
                format!("[`{other}`](../{}/{other}.md)", kind.plural())
            })
            .collect();
        let chapters = related.iter().filter(|page| !page.contains('/'));
        links.extend(chapters.map(|page| format!("[{}](../../{page}.md)", page.replace('-', " "))));
        let _ = write!(text, "**When to use it.** {when}\n\nSee also: {}.\n\n", links.join(", "));
    }
    text
}

/// Advice on every kind and entry of the catalogue. A test checks that none is missing.
#[rustfmt::skip]
const ADVICE: &[Advice] = &[
    Advice("topology", &["mesh"],
        "Your machine is a grid whose links end at its edges, or you want the classic setting \
        of the papers on block allocation.",
        &["topology/torus", "allocator/first_fit", "which-allocator"]),
    Advice("topology", &["torus"],
        "Links close around the edges, as on most machines with direct networks. A single \
        dimension may stay open (`wrap`).",
        &["topology/mesh", "topology/twisted_torus", "topology/tofu", "which-allocator"]),
    Advice("topology", &["hypercube"],
        "You reproduce a paper on hypercubes, or study subcubes: the one shape for which buddy \
        systems are exact.",
        &["allocator/buddy", "allocator/tree_collapsing", "papers"]),
    Advice("topology", &["flat"],
        "Nodes hang on a network that never limits a job, or you want the price of shape: run \
        the same jobs on a flat machine and on the real one.",
        &["allocator/naive", "compare"]),
    Advice("topology", &["fat_tree"],
        "Your cluster has leaf and spine switches, as most InfiniBand and Ethernet clusters do. \
        Set `taper` where leaves have fewer uplinks than nodes.",
        &["topology/dragonfly", "allocator/fewest_leaves", "gpu-cluster"]),
    Advice("topology", &["dragonfly"],
        "Your machine has groups of routers with links between all groups, such as a Slingshot \
        system.",
        &["topology/fat_tree", "allocator/fewest_groups", "allocator/group_or_spread", "networks"]),
    Advice("topology", &["twisted_torus"],
        "Two sides of a torus differ by a factor of two and the wiring makes up for it, as on \
        some TPU slices. Jobs are placed by count.",
        &["topology/torus", "networks"]),
    Advice("topology", &["tofu"],
        "Your machine is wired as Fugaku or the K computer is.",
        &["machine/fugaku", "topology/torus"]),
    Advice("machine", &["tpu_v4", "tpu_v5p", "tpu7x"],
        "Jobs ask for slices of a pod whose cubes are joined by optical switches.",
        &["allocator/reconfigurable", "workload/slices", "machines"]),
    Advice("machine", &["tpu_v5e", "tpu_v6e"],
        "Jobs ask for slices of a pod that is one torus of 16 × 16 chips.",
        &["machines"]),
    Advice("machine", &["intrepid", "mira"],
        "Jobs get whole partitions of a fixed list, as on Blue Gene.",
        &["allocator/partitions", "machines"]),
    Advice("machine", &["blue_waters", "fugaku"],
        "You want a large torus with the placement rule of its production.",
        &["topology/torus", "machines"]),
    Advice("machine", &["irregular_gpus"],
        "You want to know what a rule is worth where racks are filled unevenly, as in most \
        clusters that grew.",
        &["allocator/tree", "gpu-cluster", "machines"]),
    Advice("workload", &["synthetic"],
        "You vary one thing at a time (load, sizes, run times) and want independent \
        replications.",
        &["workload/lublin", "workloads"]),
    Advice("workload", &["swf"],
        "You have a log in the Standard Workload Format.",
        &["workload/table", "your-log"]),
    Advice("workload", &["table"],
        "Your jobs are a CSV or Parquet file, or ask for more than a number of nodes (shapes, \
        users, deadlines, constraints).",
        &["workload/swf", "your-log"]),
    Advice("workload", &["lublin"],
        "You need many independent histories that look like those of a batch machine.",
        &["workload/jann", "workload/cirne_berman", "workloads"]),
    Advice("workload", &["jann"],
        "You fit a model to your own log and want its moments right, class by class.",
        &["workload/lublin", "workloads"]),
    Advice("workload", &["cirne_berman"],
        "The accuracy of requested times and the daily cycle matter, as for backfilling.",
        &["workload/lublin", "estimate/tsafrir", "workloads"]),
    Advice("workload", &["slices"],
        "You study pods or other machines that hand out blocks, with shapes as production has \
        them.",
        &["machine/tpu_v4", "allocator/reconfigurable"]),
    Advice("workload", &["deep_learning"],
        "Jobs train networks on 1, 2, 4 or 8 GPUs for seconds to weeks.",
        &["gpu-cluster", "workloads"]),
    Advice("scheduler", &["fcfs"],
        "You need the baseline: every paper has it, and the gain of all others is told against \
        it.",
        &["scheduler/easy", "compare"]),
    Advice("scheduler", &["easy"],
        "You model a production batch system with backfilling: most of them come close to this.",
        &["scheduler/conservative", "scheduler/fcfs", "estimate/tsafrir"]),
    Advice("scheduler", &["conservative"],
        "Every job must have a promised start that later jobs cannot delay. It costs more time \
        to simulate than EASY.",
        &["scheduler/easy", "scheduler/reservation"]),
    Advice("scheduler", &["sjf"],
        "You want a bound on the mean wait without estimates, and accept that large jobs may \
        starve.",
        &["scheduler/fcfs", "metric/max_wait"]),
    Advice("scheduler", &["edf"],
        "Jobs have deadlines.",
        &["metric/missed_deadlines", "jobs"]),
    Advice("scheduler", &["priority"],
        "Your site weighs age, size, fair share, queue and the job's own priority, as Slurm's \
        multifactor plugin does, or preempts jobs of low queues.",
        &["scheduler/fair_share", "priority"]),
    Advice("scheduler", &["fair_share"],
        "The only thing that counts is how much each user has had.",
        &["scheduler/priority", "metric/jain_wait"]),
    Advice("scheduler", &["slurm"],
        "You model a site that runs Slurm, and want to know what its own parameters do: when \
        backfill runs, how far it looks, how priorities are weighed.",
        &["scheduler/easy", "scheduler/priority", "your-machine"]),
    Advice("scheduler", &["window"],
        "You want some overtaking without estimates: only the front of the queue is looked at.",
        &["scheduler/fcfs", "scheduler/reservation"]),
    Advice("scheduler", &["reservation"],
        "Jobs need certain nodes, and those that were overtaken often enough must get theirs.",
        &["scheduler/conservative", "scheduler/window"]),
    Advice("scheduler", &["scan"],
        "You reproduce the SCAN scheduler for hypercubes, with one queue for each size class.",
        &["scheduler/lazy", "papers"]),
    Advice("scheduler", &["static_partitioning"],
        "You reproduce a hypercube that is divided for good.",
        &["scheduler/lazy", "papers"]),
    Advice("scheduler", &["lazy"],
        "You reproduce lazy scheduling on hypercubes.",
        &["scheduler/scan", "papers"]),
    Advice("scheduler", &["equipartition"],
        "Jobs are malleable: they can be resized and moved while they run.",
        &["scheduler/folding", "sizing/rsr"]),
    Advice("scheduler", &["folding"],
        "Jobs are malleable and can be folded onto half of their processors.",
        &["scheduler/equipartition", "sizing/rsr"]),
    Advice("scheduler", &["giving_up"],
        "You reproduce a simulator that turns away long blocks; compare with `fcfs` to see what \
        that hides.",
        &["scheduler/fcfs", "metric/refused"]),
    Advice("selector", &["first_fit", "least_loaded", "random"],
        "You need a plain baseline for several sites.",
        &["selector/adaptive"]),
    Advice("selector", &["best_fit"],
        "Sites differ in size and hardly in speed.",
        &["selector/fastest_first", "selector/adaptive"]),
    Advice("selector", &["fastest_first"],
        "Sites differ in speed and jobs are short.",
        &["selector/best_fit", "selector/intelligent"]),
    Advice("selector", &["adaptive", "intelligent"],
        "Sites differ in size and speed, and the rest of the queue should count.",
        &["selector/best_fit", "selector/fastest_first", "papers"]),
    Advice("sizing", &["exact"],
        "Jobs are rigid. It is the default.",
        &["sizing/rsr"]),
    Advice("sizing", &["rsr", "greedy_limit"],
        "Jobs are moldable: they may start on fewer processors and run longer when there is no \
        room.",
        &["sizing/exact", "papers"]),
    Advice("sizing", &["limit", "average_limit"],
        "A bound on the size of jobs is the policy to be studied.",
        &["sizing/rsr", "papers"]),
    Advice("allocator", &["first_fit"],
        "You need a baseline for blocks on a mesh or torus. It is fast, and finds a block \
        whenever one is free in an orientation that it may use.",
        &["allocator/best_fit", "allocator/boundary_search", "which-allocator"]),
    Advice("allocator", &["best_fit", "boundary_search", "corner_boundary_search"],
        "Jobs need blocks, and you want less fragmentation than first fit leaves. These press \
        blocks against what is held and cost a few microseconds more for each job.",
        &["allocator/first_fit", "allocator/weighted_boundary_search", "which-allocator"]),
    Advice("allocator", &["weighted_boundary_search"],
        "As the other boundary searches, where neighbours that came at the same time also leave \
        at the same time.",
        &["allocator/boundary_search", "weighted-boundary-search"]),
    Advice("allocator", &["frame_sliding"],
        "You compare with an old and quick strategy that misses free blocks.",
        &["allocator/first_fit", "allocator/buddy_2d"]),
    Advice("allocator", &["buddy_2d"],
        "You want the price of powers of two: squares only, on multiples of their side.",
        &["allocator/multiple_buddy", "allocator/first_fit", "metric/internal_fragmentation"]),
    Advice("allocator", &["adaptive_scan", "quick_allocation", "busy_list", "turning_busy_list"],
        "You reproduce a paper on the search itself. They place as first fit does, up to the \
        rotation, by other data structures.",
        &["allocator/first_fit", "performance"]),
    Advice("allocator", &["buddy", "modified_buddy"],
        "You need the baseline for hypercubes: aligned subcubes only, in constant time.",
        &["allocator/gray_code", "allocator/tree_collapsing"]),
    Advice("allocator", &["gray_code", "multiple_gray_code"],
        "You compare how many more subcubes a Gray code, or several, recognise than the buddy \
        system.",
        &["allocator/buddy", "allocator/tree_collapsing"]),
    Advice("allocator", &["free_list", "maximal_subcubes", "tree_collapsing", "prime_cube_graph"],
        "Every free subcube of a hypercube should be recognised.",
        &["allocator/buddy", "allocator/gray_code"]),
    Advice("allocator", &["noncubic"],
        "Jobs on a hypercube ask for counts that are no powers of two, and should waste \
        nothing.",
        &["allocator/multiple_partner", "allocator/buddy"]),
    Advice("allocator", &["naive"],
        "Any free processors will do: a flat machine, or the lowest cost that scattering could \
        have.",
        &["allocator/random", "allocator/paging", "contention"]),
    Advice("allocator", &["random"],
        "You want the worst case for messages: processors without any locality.",
        &["allocator/naive", "contention"]),
    Advice("allocator", &["paging", "multiple_buddy"],
        "Jobs on a grid may be scattered, and messages should stay short: rows of pages, or \
        squares.",
        &["allocator/naive", "allocator/curve", "contention", "blocks-or-scattered"]),
    Advice("allocator", &["multiple_partner"],
        "Jobs on a k-ary n-cube may be scattered over subcubes.",
        &["allocator/multiple_buddy", "allocator/noncubic"]),
    Advice("allocator", &["adaptive_noncontiguous", "greedy_available"],
        "A job should have its block if one is free, and pieces of it otherwise.",
        &["allocator/multiple_buddy", "blocks-or-scattered"]),
    Advice("allocator", &["curve", "mc1x1", "mm", "gen_alg"],
        "Jobs may be scattered, and each should lie as close together as possible; the last \
        three search longer for it.",
        &["allocator/paging", "metric/dispersal", "blocks-or-scattered"]),
    Advice("allocator", &["fewest_leaves"],
        "A fat tree or nodes with several processors: keep each job under as few leaf switches, \
        or on as few nodes, as possible.",
        &["allocator/fewest_groups", "topology/fat_tree", "gpu-cluster"]),
    Advice("allocator", &["fewest_groups", "group_or_spread"],
        "A dragonfly, or subtrees of a fat tree: keep a job in one group; spread it over all \
        groups where it does not fit.",
        &["allocator/fewest_leaves", "topology/dragonfly", "networks"]),
    Advice("allocator", &["folding", "reconfigurable_blocks", "rfold"],
        "A torus or a pod whose jobs may be folded, or laid in pieces over cubes with optical \
        switches.",
        &["allocator/reconfigurable", "workload/slices", "papers"]),
    Advice("allocator", &["reconfigurable"],
        "A TPU pod: slices of cubes that optical switches join, or that must lie side by side \
        (`joined`).",
        &["machine/tpu_v4", "allocator/reconfigurable_blocks", "machines"]),
    Advice("allocator", &["partitions"],
        "A machine that gives out whole partitions of a fixed list, as Blue Gene machines do.",
        &["machine/mira", "machines"]),
    Advice("allocator", &["anchors"],
        "Slurm with `topology: torus3d`: boxes of listed shapes at listed places.",
        &["allocator/blocks", "your-machine", "your-lists"]),
    Advice("allocator", &["blocks"],
        "Slurm with `topology/block`, such as racks of NVL72: jobs stay in blocks of joined \
        base blocks.",
        &["allocator/tree", "your-machine", "gpu-cluster"]),
    Advice("allocator", &["ring"],
        "Slurm with `topology: ring`.",
        &["allocator/anchors", "your-machine"]),
    Advice("allocator", &["tree"],
        "Slurm with `topology/tree`: leaf switches and those above them.",
        &["allocator/blocks", "allocator/fewest_leaves", "your-machine", "gpu-cluster"]),
    Advice("allocator", &["runs"],
        "Slurm without a topology: runs of consecutive nodes.",
        &["allocator/tree", "your-machine"]),
    Advice("network", &["ideal"],
        "Placement costs nothing: you study waiting and fragmentation alone. Do not compare \
        contiguous with scattered allocators under it: scattering then always wins.",
        &["network/hops", "contention"]),
    Advice("network", &["hops"],
        "Distance matters and contention does not, or you need a first answer quickly.",
        &["network/link_load", "networks"]),
    Advice("network", &["link_load"],
        "Jobs slow each other on shared links, and flits are more detail than you need.",
        &["network/wormhole", "network/hops", "networks"]),
    Advice("network", &["wormhole"],
        "The answer depends on contention itself, or you reproduce a paper that simulated \
        flits. It is the slowest of the four.",
        &["network/link_load", "networks", "blocks-or-scattered"]),
    Advice("metric", &[
        "wait", "median_wait", "p90_wait", "p95_wait", "p99_wait", "max_wait", "queueing_delay"],
        "You ask what users feel first. Give a quantile beside the mean: a mean can improve \
        while a few jobs starve.",
        &["metric/bounded_slowdown", "intervals"]),
    Advice("metric", &[
        "wait_for_nodes", "wait_for_shape", "wait_for_priority", "wait_for_reserved"],
        "You want to know *why* jobs wait: these four sum to `wait`.",
        &["metric/wait", "why-it-waits"]),
    Advice("metric", &[
        "turnaround", "median_turnaround", "p90_turnaround", "p99_turnaround", "service"],
        "A policy changes run times too (messages, folding, speeds of sites), so that the wait \
        alone would mislead.",
        &["metric/wait"]),
    Advice("metric", &[
        "slowdown", "bounded_slowdown", "median_slowdown", "p90_slowdown", "p95_slowdown",
        "p99_slowdown", "median_bounded_slowdown", "p90_bounded_slowdown", "p95_bounded_slowdown",
        "p99_bounded_slowdown"],
        "Waits should count in proportion to how long a job runs. Prefer the bounded form: very \
        short jobs dominate the plain one.",
        &["metric/wait"]),
    Advice("metric", &[
        "utilization", "utilization_asked", "utilization_at_events", "carried_load", "throughput",
        "makespan"],
        "You ask what the owner of the machine gets. Below saturation `utilization` is just the \
        load offered; on an overloaded machine compare `carried_load`, or `throughput` where jobs \
        send messages.",
        &["metric/wait", "intervals"]),
    Advice("metric", &["queue_length", "queue_seen"],
        "You check that a run is stable, or compare with queueing theory.",
        &["metric/carried_load"]),
    Advice("metric", &[
        "padding", "internal_fragmentation", "external_fragmentation", "unusable", "refused",
        "finished", "size"],
        "You ask what is lost, or check that two rows are about the same jobs.",
        &["metric/utilization", "problems"]),
    Advice("metric", &[
        "packet_latency", "network_latency", "blocking_time", "hops", "link_utilization",
        "dispersal", "weighted_dispersal"],
        "Jobs send messages, and you want to see where their time goes.",
        &["network/wormhole", "networks"]),
    Advice("metric", &["goodput", "availability", "interruptions", "lost_node_hours"],
        "Nodes fail, or jobs are preempted or write checkpoints.",
        &["failures"]),
    Advice("metric", &["missed_deadlines", "tardiness"],
        "Jobs have deadlines.",
        &["scheduler/edf", "jobs"]),
    Advice("metric", &["jain_slowdown", "jain_wait", "unfair_jobs", "unfairness"],
        "You ask who pays: between users, or against a job's place in the queue.",
        &["scheduler/fair_share", "jobs"]),
    Advice("metric", &["energy", "mean_power", "energy_delay", "asleep", "wake_ups"],
        "The study has an `[energy]` table.",
        &["energy"]),
    Advice("size", &["uniform", "normal"],
        "No size is known: `uniform` has many large jobs, `normal` few very small or very large ones. The papers \
        on meshes and hypercubes use both.",
        &["workload/synthetic", "workloads"]),
    Advice("size", &["vectors"],
        "Jobs share nodes: each takes some cores, memory or GPUs of one.",
        &["workload/synthetic", "order/first", "shared-nodes"]),
    Advice("order", &["first", "slurm"],
        "Your scheduler goes by node numbers (`first`), or by weights as Slurm does (`slurm`).",
        &["order/best_fit", "allocator/fewest_leaves", "shared-nodes"]),
    Advice("order", &["best_fit", "most_allocated", "least_allocated", "dot_product"],
        "You want to keep nodes whole for large pieces (`most_allocated`, `best_fit`, `dot_product`), or to spread jobs \
        over nodes (`least_allocated`).",
        &["order/fgd", "shared-nodes"]),
    Advice("order", &["fgd", "packing", "clustering"],
        "Jobs share GPUs, and what is left of them must still serve typical jobs (`fgd`), or the rules that it was \
        compared with.",
        &["order/best_fit", "metric/fgd_fragmentation", "shared-nodes"]),
    Advice("within", &["lowest", "together", "spread"],
        "Nodes have islands, such as sockets: `together` keeps a piece on one, `spread` balances them, `lowest` is \
        what a list of numbers gives.",
        &["order/first", "shared-nodes"]),
    Advice("metric", &["cpu_allocation", "mem_allocation", "gpu_allocation", "other_allocation",
        "cpu_utilization", "mem_utilization", "gpu_utilization", "other_utilization"],
        "Jobs share nodes, and you ask how much of each kind they hold (`allocation`) or asked for (`utilization`).",
        &["metric/unallocated_gpus", "shared-nodes"]),
    Advice("metric", &["unallocated_gpus", "gpu_frag_2", "gpu_frag_4", "gpu_frag_8", "fgd_fragmentation",
        "stranded_cpu", "stranded_mem", "stranded_gpu"],
        "Jobs share nodes, and you ask what is free and yet of no use.",
        &["order/fgd", "shared-nodes"]),
    Advice("metric", &["islands_per_job", "nodes_per_job", "leaves_per_job", "blocks_per_job"],
        "Jobs share nodes, and you ask how far apart their pieces are.",
        &["allocator/fewest_leaves", "shared-nodes"]),
    Advice("machine", &["dgx_superpod", "nvl72", "cpu_cluster"],
        "Jobs share the nodes of your machine, and you want one to begin with.",
        &["order/first", "shared-nodes"]),
    Advice("size", &["exponential", "discrete", "constant"],
        "Most jobs are small (`exponential`), the sizes of your site are known (`discrete`), or all jobs have one \
        size (`constant`).",
        &["workload/synthetic", "workload/lublin", "workloads"]),
    Advice("runtime", &["exponential", "constant", "uniform"],
        "Run times are not the question: `exponential` is what most papers take, `constant` takes chance away.",
        &["runtime/hyperexponential", "workload/synthetic", "workloads"]),
    Advice("runtime", &["hyperexponential", "gamma", "weibull", "truncated_normal"],
        "Run times were fitted, or vary more (`hyperexponential`) or less (`truncated_normal`) than exponential \
        ones. A log or `lublin` is closer to a real machine.",
        &["runtime/exponential", "workload/lublin", "workloads"]),
    Advice("estimate", &["exact", "factor", "tsafrir"],
        "The scheduler plans with estimates (backfilling), and you ask what better ones would be worth: `tsafrir` \
        is close to what users give, `exact` and `factor` are bounds.",
        &["scheduler/easy", "scheduler/conservative", "jobs"]),
    Advice("dependency", &["none", "log", "user"],
        "You replay a log and ask whether users would have submitted later if their jobs had ended later: \
        `user` and `log` let submissions wait for the jobs before them.",
        &["workload/swf", "workload/table", "jobs"]),
    Advice("resample", &["users"],
        "You replay a log, and want intervals: `users` keeps what users do, and asks how another month of the same \
        users would be.",
        &["resample/weeks", "workload/swf", "intervals"]),
    Advice("resample", &["weeks", "shake"],
        "The log does not say whose its jobs are (`weeks`), or you ask whether a result hangs on coincidences of the log \
        (`shake`).",
        &["resample/users", "workload/swf", "intervals"]),
    Advice("pattern", &["all_to_all", "one_to_all", "random"],
        "You do not know how the jobs communicate: `all_to_all` loads the network most, `one_to_all` a single \
        node, `random` in between.",
        &["network/hops", "network/wormhole", "networks", "blocks-or-scattered"]),
    Advice("pattern", &["near_neighbour", "ring", "fft", "divide_and_conquer", "nas_multigrid"],
        "You know the algorithm: stencils (`near_neighbour`), pipelines and all-reduce (`ring`), transforms \
        (`fft`), trees (`divide_and_conquer`), multigrid solvers (`nas_multigrid`).",
        &["pattern/all_to_all", "network/wormhole", "networks"]),
    Advice("traffic", &["uniform", "neighbour"],
        "You compare with published curves, or look for the best that the network can do: both spread the load \
        evenly over the links.",
        &["traffic/tornado", "networks"]),
    Advice("traffic", &["transpose", "bit_complement", "tornado", "next_group", "hotspot"],
        "You look for the worst that the network can do: each of them loads a few links or nodes much more than \
        the others.",
        &["traffic/uniform", "networks"]),
];
