//! Examples in the manual: a study or a command for each catalogue entry.
//!
//! An example is derived from the description of the entry, so that a new strategy gets an example
//! without further work. The tests run all examples.

use meshwork::catalogue::Catalogue;
use meshwork::observe::metrics::{Features, usual};
use meshwork::registry::{About, DefaultValue, Family, Kind, Param};
use meshwork::topology::Wiring;

use crate::command::list::Listed;

const MESH: &str = "{ topology = \"mesh\", dims = [16, 8] }";
const CUBE: &str = "{ topology = \"hypercube\", dimension = 6 }";
/// Machine on whose nodes several jobs run at once, as TOML.
///
/// `VECTORS` has two requests for parts of a node, as TOML. Each job draws one of them.
const SHARED: &str = "{ topology = \"fat_tree\", arity = [4, 8], nodes = [{ type = \"dgx\" }] }";
const VECTORS: &str = "[\n    { share = 3, gpu = 1, cpu = 8, mem = 100000 },\n    \
     { share = 1, pieces = 4, gpu = 4, cpu = 32, mem = 400000 },\n]";
const SYNTHETIC: &str = "name = \"synthetic\"\nload = 0.5\nsizes = \"uniform\"\n\
     runtimes = { name = \"exponential\", mean = 5.0 }";

/// Sections of a study's TOML text, which are joined at the end.
struct Draft {
    description: String,
    machine: String,
    /// Top-level keys of the study, one per line.
    top: String,
    workload: String,
    metrics: String,
    sweep: String,
    compare: Option<String>,
}

/// Markdown section of an entry's page.
pub(super) fn of(catalogue: &Catalogue, kind: &Listed, about: &About) -> String {
    let name = about.name;
    let list = format!("`meshwork list {} {name}` says the same on the terminal.\n", kind.word());
    if kind.word() == "traffic" {
        // `next_group` needs a machine with groups.
        let machine = if name == "next_group" {
            "--topology dragonfly --p 2 --routing ugal"
        } else {
            "--topology torus --dims 8,8"
        };
        return format!(
            "```console\n$ meshwork traffic {machine} --traffic {name} --loads 0.05,0.1 --cycles 4000\n```\n\n{list}"
        );
    }
    let draft = draft(catalogue, kind, about);
    let folder = if draft.workload.contains("path = ") {
        " in the folder `examples`, where its jobs are,"
    } else {
        ""
    };
    format!(
        "Saved as `study.toml`{folder} this is run by `meshwork run study.toml`:\n\n```toml\n{}```\n\n{list}",
        draft.study()
    )
}

impl Draft {
    fn new() -> Draft {
        Draft {
            description: String::new(),
            machine: MESH.to_owned(),
            top: String::new(),
            workload: SYNTHETIC.to_owned(),
            metrics: quoted(&["turnaround", "wait", "utilization"]),
            sweep: "allocator = [\"first_fit\", \"naive\"]".to_owned(),
            compare: None,
        }
    }

    /// Draft of a study whose jobs consist of pieces. Pieces of different jobs share nodes.
    fn of_pieces() -> Draft {
        let sizes = format!("{{ name = \"vectors\", of = {VECTORS} }}");
        Draft {
            machine: SHARED.to_owned(),
            workload: SYNTHETIC.replace("0.5", "0.8").replace("\"uniform\"", &sizes),
            metrics: quoted(&["wait", "gpu_utilization", "gpu_frag_8"]),
            ..Draft::new()
        }
    }

    fn of_schedulers() -> Draft {
        Draft {
            sweep: "scheduler = [\"fcfs\", \"easy\"]".to_owned(),
            compare: Some("scheduler = \"fcfs\"".to_owned()),
            ..Draft::new()
        }
    }

    fn study(&self) -> String {
        let Draft { description, machine, top, workload, metrics, sweep, compare } = self;
        let ends = if workload.contains("first_jobs") || workload.contains("path = ") {
            String::new()
        } else {
            "warmup_jobs = 50\njobs = 650\n".to_owned()
        };
        let compare = compare.as_ref().map_or_else(String::new, |c| format!("\n[compare]\n{c}\n"));
        format!(
            "description = \"{description}\"\nmachine = {machine}\n{top}\n[workload]\n{workload}\n\n[measure]\n{ends}\
             metrics = [{metrics}]\n\n[sweep]\n{sweep}\n{compare}"
        )
    }

    /// Makes the study compare a catalogue entry with the simpler entry `plain`.
    ///
    /// If both are one entry, the study varies the load instead.
    fn beside(mut self, key: &str, about: &About, plain: &str) -> Draft {
        let name = about.name;
        if name == plain {
            self.description = format!("{name}, as the load grows");
            self.top += &format!("{key} = {}\n", component(about, key));
            self.workload = self.workload.replace("load = 0.5\n", "");
            self.sweep = "\"workload.load\" = [0.2, 0.4, 0.6]".to_owned();
        } else {
            self.description = format!("{name} beside {plain}, on the same jobs");
            self.sweep = format!("{key} = [\"{plain}\", {}]", component(about, key));
            self.compare = Some(format!("{key} = \"{plain}\""));
        }
        self
    }
}

fn draft(catalogue: &Catalogue, kind: &Listed, about: &About) -> Draft {
    let name = about.name;
    match kind.word() {
        "topology" => {
            let params: Vec<String> =
                required(about).map(|p| format!(", {} = {}", p.name, sample(p, name))).collect();
            Draft {
                description: format!("what backfilling gains on this machine: {name}"),
                machine: format!("{{ topology = \"{name}\"{} }}", params.concat()),
                ..Draft::of_schedulers()
            }
        }
        "machine" => {
            let sizes = if is_shared(catalogue, name) {
                "{ name = \"vectors\", of = [{ cpu = 16 }, { pieces = 8, cpu = 64, mem = 100000 }] }"
            } else {
                "{ name = \"uniform\", form = \"count\", max = 128 }"
            };
            Draft {
                description: format!("what backfilling gains on this machine: {name}"),
                machine: format!("\"{name}\""),
                workload: SYNTHETIC.replace("\"uniform\"", sizes),
                ..Draft::of_schedulers()
            }
        }
        "workload" => {
            let params: Vec<String> =
                required(about).map(|p| format!("{} = {}\n", p.name, sample(p, name))).collect();
            // A workload without the parameter `load` gets a limit on its number of jobs instead.
            let more = if about.params.iter().any(|param| param.name == "load") {
                "load = 0.5"
            } else {
                "first_jobs = 500"
            };
            Draft {
                description: format!("what backfilling gains on these jobs: {name}"),
                // Slices exist only on a machine that defines them.
                machine: if name == "slices" { "\"tpu_v4\"" } else { MESH }.to_owned(),
                workload: format!("name = \"{name}\"\n{}{more}", params.concat()),
                ..Draft::of_schedulers()
            }
        }
        "size" if name == "vectors" => Draft {
            description: "what backfilling gains where jobs share nodes: vectors".to_owned(),
            sweep: "scheduler = [\"fcfs\", \"easy\"]".to_owned(),
            compare: Some("scheduler = \"fcfs\"".to_owned()),
            ..Draft::of_pieces()
        },
        "order" => Draft::of_pieces().beside("order", about, "first"),
        "within" => Draft::of_pieces().beside("within", about, "lowest"),
        "size" | "runtime" => {
            let (sizes, runtimes) = if kind.word() == "size" {
                (component(about, "sizes"), "{ name = \"exponential\", mean = 5.0 }".to_owned())
            } else {
                ("\"uniform\"".to_owned(), component(about, "runtimes"))
            };
            Draft {
                description: format!("{} as the load grows: {name}", kind.plural()),
                workload: format!("name = \"synthetic\"\nsizes = {sizes}\nruntimes = {runtimes}"),
                sweep: "\"workload.load\" = [0.2, 0.4, 0.6]".to_owned(),
                ..Draft::new()
            }
        }
        "estimate" => {
            let other = match name {
                "exact" => "{ name = \"factor\", f = 5.0 }".to_owned(),
                _ => component(about, "estimates"),
            };
            Draft {
                description: format!("what estimates are worth to backfilling: {name}"),
                machine: "{ topology = \"flat\", processors = 128 }".to_owned(),
                top: "scheduler = \"easy\"\n".to_owned(),
                workload: "name = \"lublin\"\nfirst_jobs = 500\narrival_scale = 0.5".to_owned(),
                metrics: quoted(&["wait", "bounded_slowdown"]),
                sweep: format!("\"workload.estimates\" = [\"exact\", {other}]"),
                compare: Some("\"workload.estimates\" = \"exact\"".to_owned()),
            }
        }
        "dependency" => Draft {
            description: format!(
                "whether jobs wait for others on a machine that is twice as fast: {name}"
            ),
            machine: "{ topology = \"flat\", processors = 64 }".to_owned(),
            workload: "name = \"table\"\npath = \"sessions.csv\"\nruntime_scale = 0.5".to_owned(),
            metrics: quoted(&["wait", "throughput", "makespan"]),
            sweep: format!(
                "\"workload.dependencies\" = [\"none\", \"{}\"]",
                if name == "none" { "log" } else { name }
            ),
            compare: Some("\"workload.dependencies\" = \"none\"".to_owned()),
            ..Draft::new()
        },
        "resample" => Draft {
            description: format!("intervals over many logs made of one: {name}"),
            machine: "{ topology = \"flat\", processors = 64 }".to_owned(),
            workload: format!(
                "name = \"table\"\npath = \"sessions.csv\"\nresample = {}",
                if name == "shake" {
                    "\"shake\"".to_owned()
                } else {
                    format!("{{ by = \"{name}\", period = 3600.0 }}")
                }
            ),
            metrics: quoted(&["wait", "throughput"]),
            sweep: "scheduler = [\"fcfs\", \"easy\"]".to_owned(),
            ..Draft::new()
        },
        "scheduler" => Draft {
            machine: machine(catalogue.entry::<meshwork::sched::SchedulerEntry>(name).serves, None),
            ..Draft::new()
        }
        .beside("scheduler", about, "fcfs"),
        "selector" => Draft {
            machine: "{ sites = [\n    { topology = \"flat\", processors = 64 },\n    \
                      { topology = \"flat\", processors = 32, speed = 1.5 },\n    \
                      { topology = \"mesh\", dims = [8, 8], speed = 0.75 },\n] }"
                .to_owned(),
            workload: SYNTHETIC.replace("\"uniform\"", "{ name = \"uniform\", max = 32 }"),
            ..Draft::new()
        }
        .beside("selector", about, "first_fit"),
        "sizing" => {
            Draft { machine: CUBE.to_owned(), ..Draft::new() }.beside("sizing", about, "exact")
        }
        "allocator" => {
            let served = catalogue.entry::<meshwork::alloc::AllocatorEntry>(name);
            if served.serves.contains(&Wiring::FatTree) && !served.serves.contains(&Wiring::Mesh) {
                // Locality only matters if messages are sent.
                return Draft {
                    machine: "{ topology = \"fat_tree\", arity = 4 }".to_owned(),
                    top: "network = \"hops\"\n".to_owned(),
                    workload: SYNTHETIC
                        .replace("load = 0.5", "mean_interarrival = 400.0")
                        .replace("\"uniform\"", "{ name = \"uniform\", max = 16 }"),
                    metrics: quoted(&["turnaround", "packet_latency", "hops"]),
                    ..Draft::new()
                }
                .beside("allocator", about, "random");
            }
            Draft {
                machine: machine(served.serves, served.dimensions),
                metrics: quoted(&["turnaround", "utilization", "external_fragmentation"]),
                ..Draft::new()
            }
            .beside("allocator", about, "first_fit")
        }
        "network" | "pattern" => {
            let network = if kind.word() == "network" {
                component(about, "network")
            } else {
                format!("{{ name = \"hops\", pattern = {} }}", component(about, "pattern"))
            };
            Draft {
                description: format!("what scattered processors cost: {name}"),
                top: format!("network = {network}\n"),
                workload: SYNTHETIC.replace("load = 0.5", "mean_interarrival = 400.0").replace(
                    "\"uniform\"",
                    "{ name = \"constant\", form = \"count\", value = 16 }",
                ),
                metrics: if name == "ideal" {
                    quoted(&["turnaround", "service"])
                } else {
                    quoted(&["turnaround", "packet_latency", "hops"])
                },
                ..Draft::new()
            }
        }
        _ if is_of_parts(name) => Draft {
            description: format!("{name}, with nodes filled up and with nodes spread over"),
            metrics: quoted(&[name]),
            sweep: "order = [\"most_allocated\", \"least_allocated\"]".to_owned(),
            ..Draft::of_pieces()
        },
        _ if ["missed_deadlines", "tardiness"].contains(&name) => Draft {
            description: format!("{name}, in order of arrival and of deadlines"),
            workload: format!("{SYNTHETIC}\ndeadlines = {{ factor = 3.0 }}"),
            metrics: quoted(&[name]),
            sweep: "scheduler = [\"fcfs\", \"edf\"]".to_owned(),
            ..Draft::new()
        },
        _ if name.starts_with("jain_") || name.starts_with("unfair") => Draft {
            description: format!("{name}, where small jobs overtake and where nobody does"),
            machine: "{ topology = \"flat\", processors = 64 }".to_owned(),
            workload: "name = \"table\"\npath = \"sessions.csv\"".to_owned(),
            metrics: quoted(&["wait", name]),
            sweep: "scheduler = [\"fcfs\", \"sjf\", \"easy\"]".to_owned(),
            ..Draft::new()
        },
        _ => {
            let plain = Features::default();
            let is_usual = |run: Features| usual(&catalogue.list(), run).contains(&name);
            let (fails, draws) =
                (Features { fails: true, ..plain }, Features { draws: true, ..plain });
            let of_messages = !is_usual(fails) && !is_usual(draws);
            let top = if of_messages {
                "network = \"link_load\"\n"
            } else if is_usual(plain) {
                ""
            } else if is_usual(fails) {
                "failures = { mtbf = 500, repair = 20 }\n"
            } else {
                "energy = { idle = 100, busy = 300, sleep = 10, sleep_after = 5, wake = 0.5, wake_energy = 500 }\n"
            };
            let workload = if of_messages {
                SYNTHETIC
                    .replace("load = 0.5", "mean_interarrival = 400.0")
                    .replace("\"uniform\"", "{ name = \"uniform\", max = 4 }")
            } else {
                SYNTHETIC.to_owned()
            };
            Draft {
                description: format!("{name}, of blocks and of scattered processors"),
                top: top.to_owned(),
                workload,
                metrics: quoted(&[name]),
                ..Draft::new()
            }
        }
    }
}

/// Whether several jobs can run at once on a node of the named machine.
fn is_shared(catalogue: &Catalogue, name: &str) -> bool {
    catalogue.entry::<meshwork::presets::MachineEntry>(name).tables().0.contains_key("nodes")
}

/// Whether the metric needs a machine with shared nodes.
fn is_of_parts(name: &str) -> bool {
    let endings = ["_allocation", "_utilization", "_per_job"];
    let kinds = ["cpu", "mem", "gpu", "other", "islands", "nodes", "leaves", "blocks"];
    let is_of_kind = kinds
        .iter()
        .any(|kind| name.strip_prefix(kind).is_some_and(|rest| endings.contains(&rest)));
    let begins = |word: &&str| name.starts_with(word);
    is_of_kind
        || ["gpu_frag_", "stranded_", "unallocated_gpus", "fgd_fragmentation"].iter().any(begins)
}

fn quoted(names: &[&str]) -> String {
    names.iter().map(|name| format!("\"{name}\"")).collect::<Vec<_>>().join(", ")
}

/// TOML of a small machine on which a catalogue entry can be used.
///
/// The machine has one of the wirings in `serves`. Its number of dimensions is the first in
/// `dimensions`. If `dimensions` is `None`, any number is possible.
fn machine(serves: &[Wiring], dimensions: Option<&[usize]>) -> String {
    let dimensions = dimensions.and_then(|all| all.first().copied());
    let is_mesh = serves.contains(&Wiring::Mesh);
    match (is_mesh, dimensions) {
        (true, None | Some(2)) => MESH.to_owned(),
        (true, Some(dimensions)) => {
            let sides = vec!["4"; dimensions].join(", ");
            format!("{{ topology = \"mesh\", dims = [{sides}] }}")
        }
        (false, _) if serves.contains(&Wiring::Hypercube) => CUBE.to_owned(),
        (false, _) => {
            let sides = vec!["8"; dimensions.unwrap_or(2)].join(", ");
            format!("{{ topology = \"torus\", dims = [{sides}] }}")
        }
    }
}

/// TOML value that selects an entry: its name, or a table with its name and required parameters.
fn component(about: &About, key: &str) -> String {
    let name = about.name;
    let params: Vec<String> =
        required(about).map(|param| format!(", {} = {}", param.name, sample(param, key))).collect();
    if params.is_empty() {
        return format!("\"{name}\"");
    }
    format!("{{ name = \"{name}\"{} }}", params.concat())
}

fn required(about: &About) -> impl Iterator<Item = &Param> {
    about.params.iter().filter(|param| matches!(param.default, DefaultValue::Required))
}

fn sample(param: &Param, of: &str) -> String {
    match (param.name, &param.kind) {
        ("path", _) if of == "table" => "\"shapes.csv\"".to_owned(),
        ("path", _) => "\"lublin.swf.gz\"".to_owned(),
        ("dims", _) if of == "twisted_torus" => "[4, 4, 8]".to_owned(),
        ("dims", _) if of == "tofu" => "[2, 2, 2]".to_owned(),
        ("dims", _) => "[16, 8]".to_owned(),
        ("p", _) => "2".to_owned(),
        ("max", _) if of.contains("estimates") => "64800.0".to_owned(),
        ("processors", _) => "128".to_owned(),
        ("dimension", Kind::Integer(1, _)) => "7".to_owned(),
        (_, Kind::Integer(least, most) | Kind::Integers(least, most)) => {
            4.clamp(*least, *most).to_string()
        }
        (_, Kind::Numbers(_)) => "[0.5, 0.3, 0.2]".to_owned(),
        (_, Kind::Number(range)) if range.to_string().contains("below 1") => "0.5".to_owned(),
        (_, Kind::Number(_)) => "5.0".to_owned(),
        (_, Kind::Flag | Kind::Flags) => "true".to_owned(),
        (_, Kind::Choice(words) | Kind::Or(words, _)) => format!("\"{}\"", words[0]),
        (name, Kind::Component(family)) => first_of(family, name),
        (name, Kind::Components(family)) => format!("[{}]", first_of(family, name)),
        (_, Kind::Names(family)) => format!("[\"{}\"]", (family.entries)()[0].name),
        (_, Kind::Text) => "\"text\"".to_owned(),
        (_, Kind::Texts) => "[\"text\"]".to_owned(),
        (_, Kind::Table(_)) => "{}".to_owned(),
        (_, Kind::Tables(_)) => "[{}]".to_owned(),
    }
}

fn first_of(family: &'static Family, key: &str) -> String {
    component((family.entries)()[0], key)
}
