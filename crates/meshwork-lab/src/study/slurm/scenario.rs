//! Converts a Slurm partition, or a topograph model, to a scenario's machine and allocator.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use meshwork::access;
use meshwork::alloc::listed::anchors::{Anchors, Entry};
use meshwork::alloc::shared::SlurmNodeType;
use meshwork::geometry::NodeSet;
use meshwork::registry::{Problem, did_you_mean};
use meshwork::topology::Node;
use toml::{Table, Value};

use super::given::{ALL, add_scheduler};
use crate::inputs::Files;
use crate::slurm::folder::{FLAT, TOPOLOGIES};
use crate::study::table;
use meshwork_slurm::hostlist::{in_order, names};
use meshwork_slurm::shared::{SharedSite, gres};
use meshwork_slurm::site::{self, Reading, SlurmSite};
use meshwork_slurm::topology::{SlurmTopology, Structure, TopologyKind};

/// Machine key that names Slurm's topology file. It is also the name of the allocator that places
/// jobs as Slurm does on that topology.
const SLURM: &str = "slurm";

/// Machine key for a model file of Nvidia's tool topograph.
const TOPOGRAPH: &str = "topograph";

/// Keys of machines read from files of Slurm, and keys of machines read from models of topograph.
pub(crate) const KEYS: [&[&str]; 2] =
    [&[SLURM, "conf", "partition", "qos", "gres"], &[TOPOGRAPH, "as"]];

/// Replaces a machine described by files of Slurm or topograph with an ordinary machine.
///
/// Such a machine is `machine = { slurm = "topology.yaml", conf = "slurm.conf" }`, or `machine = {
/// topograph = "model.yaml", as = "tree" }`, where `as` may also be `block`. The partition `*`
/// stands for the nodes of all partitions. The keys `partitions` and `reservations` may name nodes
/// by a host list. With a `gres.conf`, jobs share nodes, and the types of nodes are read from the
/// `slurm.conf` and the `gres.conf`. A scheduler `slurm` gets the parameters of the `slurm.conf`.
///
/// If the partition is exactly one torus without holes, the new machine is a torus, so that
/// strategies for grids can be used. It has one processor for each of Slurm's nodes. Any other
/// topology becomes a flat machine.
///
/// If the scenario names no allocator, or the allocator `slurm`, it gets an allocator that places
/// jobs as Slurm does. On a torus, this allocator refuses jobs of unlisted sizes, as Slurm does. If
/// jobs come from a table, it also gets the names of nodes and partitions that jobs may use.
pub fn lay_out(table: &mut Table, files: &Files) -> Result<(), Problem> {
    let Some(machine) = table.get("machine").and_then(Value::as_table) else { return Ok(()) };
    let named = KEYS.into_iter().find(|keys| machine.contains_key(keys[0]));
    let flat = || machine.contains_key("conf").then_some(KEYS[0]);
    let Some(keys) = named.or_else(flat) else {
        return match table.get("allocator") {
            Some(given) if names_slurm(given) => Err(Problem::new(
                "allocator",
                "the allocator `slurm` goes by the files of a machine: machine = { slurm = \"topology.yaml\", conf = \
                 \"slurm.conf\" }",
            )),
            _ => Ok(()),
        };
    };
    let known: Vec<&str> = keys.iter().copied().chain(access_keys()).collect();
    if let Some(unknown) = machine.keys().find(|key| !known.contains(&key.as_str())) {
        let says =
            format!("unknown key `{unknown}` in `machine` ({})", did_you_mean(unknown, &known));
        return Err(Problem::new(format!("machine.{unknown}"), says));
    }
    let text = |key: &str| match machine.get(key) {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(other) => {
            let says = format!("`machine.{key}` is {other}, but must be a text in quotes");
            Err(Problem::new(format!("machine.{key}"), says))
        }
    };
    let refused = |says: String| Problem::new(format!("machine.{}", keys[0]), says);
    let (topology, conf) = (text(keys[0])?, text("conf")?);
    let reading = read(files, topology.as_deref(), conf.as_deref()).map_err(refused)?;
    let site = match (text("as")?, text("partition")?) {
        (Some(name), _) => reading.site_with(&name),
        (None, Some(all)) if all == ALL => reading.cluster(),
        (None, partition) => reading.site(partition.as_deref()),
    };
    let site = site.map_err(refused)?;
    let qos = text("qos")?.map(|path| files.companion(&path, &files.locate_companion(&path)));
    let qos = qos.transpose().map_err(|error| Problem::new("machine.qos", error.to_string()))?;
    let found = reading.topologies.iter().find(|(topology, _)| topology.name == site.topology);
    let listed = found.map(|(topology, _)| topology);
    let (mut laid_out, mut allocator, order) = machine_of(&site, listed);
    for key in access_keys() {
        let given = machine.get(key).map(|given| (key.to_owned(), numbered(given, &site, &order)));
        laid_out.extend(given);
    }
    if let Some(path) = text("gres")? {
        let name = text("partition")?.filter(|name| name != ALL);
        let own = order.iter().copied().filter(|node| site.whole.contains(*node));
        let nodes = types_of(files, &path, (&reading, name.as_deref()), &own.collect::<Vec<_>>());
        let nodes = nodes.map_err(|says| Problem::new("machine.gres", says))?;
        laid_out.insert("nodes".to_owned(), nodes);
    }
    let machine = laid_out;
    if names_table(table.get("workload")) {
        insert_names(&mut allocator, &reading, &site, &order);
    }
    if machine.contains_key("partitions") {
        allocator.remove("partitions");
    }
    if let Some(conf) = &reading.conf {
        add_scheduler(table, conf, qos.as_deref());
    }
    match table.get("allocator") {
        None => {}
        Some(given) if names_slurm(given) => {
            let more = given.as_table().into_iter().flatten().filter(|(key, _)| *key != "name");
            allocator.extend(more.map(|(key, value)| (key.clone(), value.clone())));
        }
        Some(_) => {
            table.insert("machine".to_owned(), Value::Table(machine));
            return Ok(());
        }
    }
    table.insert("machine".to_owned(), Value::Table(machine));
    table.insert("allocator".to_owned(), Value::Table(allocator));
    Ok(())
}

/// Machine keys that decide which jobs may use which nodes.
pub(super) fn access_keys() -> impl Iterator<Item = &'static str> {
    access::PARAMS.iter().map(|param| param.name)
}

/// Copies tables of partitions or reservations, replacing host lists by node numbers.
fn numbered(tables: &Value, site: &SlurmSite, order: &[Node]) -> Value {
    let number = |name: &String| {
        let node = site.hosts.find(name)?;
        order.iter().position(|&own| own == node).map(|place| place.to_string())
    };
    let numbers = |list: &str| {
        let numbers: Option<Vec<String>> = names(list).ok()?.iter().map(number).collect();
        numbers.map(|numbers| numbers.join(","))
    };
    let mut tables = tables.clone();
    for table in tables.as_array_mut().into_iter().flatten() {
        if let Some(Value::String(nodes)) = table.get_mut("nodes") {
            *nodes = numbers(nodes).unwrap_or_else(|| nodes.clone());
        }
    }
    tables
}

/// Types of a partition's nodes, in the form of the machine key `nodes`.
///
/// The types come from a `slurm.conf` and, if it exists, from the `gres.conf` at `path`. `nodes`
/// has Slurm's nodes in the order in which the machine numbers them.
fn types_of(
    files: &Files,
    path: &str,
    (reading, partition): (&Reading, Option<&str>),
    nodes: &[Node],
) -> Result<Value, String> {
    if reading.conf.is_none() {
        return Err("`machine.gres` needs the slurm.conf of the nodes: give `machine.conf`".into());
    }
    let text = match path {
        "" => String::new(),
        path => files.companion(path, &files.locate_companion(path)).map_err(|e| e.to_string())?,
    };
    let lines = gres::read(&text).map_err(|says| format!("{path}, {says}"))?;
    let shared = SharedSite::new(reading, &lines, partition)?;
    let machine = &shared.machine;
    let mut tables = Vec::new();
    for (index, kind) in machine.types.iter().enumerate() {
        let is_one = |node: &Node| usize::from(machine.type_of[*node as usize]) == index;
        let own = nodes.iter().enumerate().filter(|(_, node)| is_one(node));
        let on: Vec<String> = own.map(|(place, _)| place.to_string()).collect();
        if on.is_empty() {
            continue;
        }
        let mut table = type_table(kind, &machine.models, index).ok_or_else(|| {
            format!(
                "{path}: a node has GPUs of several types, and a type of nodes in a study has one"
            )
        })?;
        table.insert("on".to_owned(), on.join(",").into());
        tables.push(Value::Table(table));
    }
    Ok(Value::Array(tables))
}

/// Type of nodes as an entry of the machine key `nodes`, but without node numbers.
///
/// `None` if a node has GPUs of several types. An island is a group of cores and GPUs. If all
/// sockets have equally many GPUs, each socket is an island; otherwise the node is.
fn type_table(kind: &SlurmNodeType, models: &[String], index: usize) -> Option<Table> {
    let own: BTreeSet<Option<u16>> = kind.gpus.iter().map(|gpus| gpus.model).collect();
    if own.len() > 1 {
        return None;
    }
    let model = own.into_iter().flatten().next().map(|model| models[model as usize].clone());
    let gpus: u32 = kind.gpus.iter().map(|gpus| gpus.gpus.count_ones()).sum();
    let near = |socket: u32| {
        let own = kind.gpus.iter().filter(|gpus| gpus.near == Some(1 << socket));
        own.map(|gpus| gpus.gpus.count_ones()).sum::<u32>()
    };
    let divides = (0..kind.sockets).all(|socket| near(socket) * kind.sockets == gpus);
    let name = model.unwrap_or_else(|| format!("nodes{}", index + 1));
    let mut own = table([("type", name.into())]);
    let numbers = [
        ("cpu", u64::from(kind.cpus())),
        ("mem", kind.memory),
        ("gpu", u64::from(gpus)),
        ("islands", u64::from(if divides { kind.sockets } else { 1 })),
        ("weight", u64::from(kind.weight)),
    ];
    own.extend(table(numbers.map(|(key, number)| (key, Value::Integer(number as i64)))));
    if !kind.features.is_empty() {
        let features = kind.features.iter().map(|word| Value::from(word.as_str()));
        own.insert("features".to_owned(), list(features));
    }
    Some(own)
}

/// Slurm's nodes of a partition, in the order of the machine's node numbers.
pub fn node_order(reading: &Reading, site: &SlurmSite) -> Vec<Node> {
    let found = reading.topologies.iter().find(|(topology, _)| topology.name == site.topology);
    machine_of(site, found.map(|(topology, _)| topology)).2
}

/// Reads the topology file and the `slurm.conf` of a machine.
///
/// Without a topology file, the machine is flat. The texts are recorded, so that they can be copied
/// to the results folder. Paths of included files are relative to the `slurm.conf`.
fn read(files: &Files, topology: Option<&str>, conf: Option<&str>) -> Result<Reading, String> {
    let text =
        |path: &str, place: &Path| files.companion(path, place).map_err(|error| error.to_string());
    let name = |place: &Path| place.display().to_string();
    let topology_place = topology.map(|path| files.locate_companion(path));
    let topology = match (topology, &topology_place) {
        (Some(topology), Some(place)) => text(topology, place)?,
        _ => FLAT.to_owned(),
    };
    let conf_place = conf.map(|conf| files.locate_companion(conf));
    let conf_text = match (conf, &conf_place) {
        (Some(conf), Some(place)) => Some(text(conf, place)?),
        _ => None,
    };
    let beside = |own: &Path, path: &str| own.parent().unwrap_or(Path::new("")).join(path);
    let mut include = |path: &str| {
        let own = name(&beside(Path::new(conf.unwrap_or_default()), path));
        let kept = Some(files.locate_companion(&own)).filter(|place| place.exists());
        let place = beside(conf_place.as_deref().unwrap_or(Path::new("")), path);
        text(&own, kept.as_ref().unwrap_or(&place))
    };
    let names = site::SlurmFiles {
        topology: topology_place.as_deref().map_or_else(|| TOPOLOGIES[0].to_owned(), name),
        conf: conf_place.as_deref().map(name),
        gres: None,
    };
    Ok(site::read_texts(names, &topology, conf_text.as_deref(), &mut include))
}

fn names_slurm(allocator: &Value) -> bool {
    let name = allocator.as_str().or_else(|| allocator.get("name").and_then(Value::as_str));
    name == Some(SLURM)
}

/// Whether jobs come from a table, and may have constraints.
fn names_table(workload: Option<&Value>) -> bool {
    let name = workload.and_then(|workload| workload.get("name").or(Some(workload)));
    name.and_then(Value::as_str) == Some("table")
}

/// Gives an allocator the names of the machine's nodes, and of partitions wholly within the
/// machine.
fn insert_names(allocator: &mut Table, reading: &Reading, site: &SlurmSite, order: &[Node]) {
    let name = |&node: &Node| site.hosts.name(node);
    allocator.insert("hosts".to_owned(), in_order(order.iter().map(name)).into());
    if matches!(site.structure, Structure::Flat) {
        allocator.insert("wants".to_owned(), true.into());
    }
    let first = reading.topologies.first().map(|(topology, _)| topology.name.as_str());
    let places: BTreeMap<Node, u32> = order.iter().copied().zip(0..).collect();
    let partitions = reading.conf.iter().flat_map(|conf| &conf.partitions);
    let partitions = partitions
        .filter(|partition| partition.topology.as_deref().or(first) == Some(site.topology.as_str()))
        .filter_map(|partition| {
            let place =
                |node: Node| places.get(&node).copied().filter(|_| site.whole.contains(node));
            let nodes: Option<Vec<u32>> = partition.nodes.iter().map(place).collect();
            let mut table = named(&partition.name);
            table.insert("nodes".to_owned(), integers(nodes?));
            Some(Value::Table(table))
        });
    let partitions: Vec<Value> = partitions.collect();
    if !partitions.is_empty() {
        allocator.insert("partitions".to_owned(), Value::Array(partitions));
    }
}

/// Machine, allocator, and Slurm's nodes in the order of the machine's node numbers.
fn machine_of(site: &SlurmSite, listed: Option<&SlurmTopology>) -> (Table, Table, Vec<Node>) {
    if let Structure::Torus3d(anchors, _) = &site.structure
        && let [torus] = anchors.toruses()
        && is_all_of(site, anchors)
    {
        let sides = torus.grid().sides().iter().copied();
        let machine = table([("topology", "torus".into()), ("dims", integers(sides))]);
        let mut allocator = named("anchors");
        insert_placements(&mut allocator, torus.entries());
        let order: Vec<Node> = torus.nodes().collect();
        insert_weights(&mut allocator, site, &order);
        allocator.insert("unlisted".to_owned(), "refuse".into());
        return (machine, allocator, order);
    }
    // Nodes outside of the partition come last, and are never free.
    let mut order: Vec<Node> = site.whole.iter().collect();
    let count = Value::Integer(order.len() as i64);
    let machine = table([("topology", "flat".into()), ("processors", count)]);
    let mut others = NodeSet::empty(site.hosts.count());
    site.structure.named().iter().for_each(|unit| others.unite(&unit.nodes));
    others.subtract(&site.whole);
    order.extend(others.iter());
    let mut number = vec![0; site.hosts.count() as usize];
    (0..).zip(&order).for_each(|(place, &node): (u32, &Node)| number[node as usize] = place);
    let renumbered =
        |nodes: &mut dyn Iterator<Item = Node>| integers(nodes.map(|node| number[node as usize]));
    let mut allocator = match &site.structure {
        Structure::Flat => named("runs"),
        Structure::Ring(rings, _) => {
            let rings = rings.rings().iter().filter(|ring| !ring.is_empty());
            let ring = |ring: &Vec<Node>| unit("nodes", renumbered(&mut ring.iter().copied()));
            table([("name", "ring".into()), ("rings", list(rings.map(ring)))])
        }
        Structure::Block(_, named_blocks, base, levels) => {
            let sizes = integers(levels.iter().map(|&level| base << level));
            let blocks = named_blocks.iter().filter(|block| !block.nodes.is_empty());
            let blocks = blocks.map(|block| unit("nodes", renumbered(&mut block.nodes.iter())));
            table([("name", "blocks".into()), ("sizes", sizes), ("blocks", list(blocks))])
        }
        Structure::Tree(_, named_switches) => {
            let switches = named_switches.iter().enumerate().map(|(place, switch)| {
                let children = children(listed, place);
                if children.is_empty() {
                    unit("nodes", renumbered(&mut switch.nodes.iter()))
                } else {
                    unit("children", integers(children))
                }
            });
            table([("name", "tree".into()), ("switches", list(switches))])
        }
        Structure::Torus3d(anchors, _) => {
            let toruses = anchors.toruses().iter().filter(|torus| !torus.entries().is_empty());
            let torus = |torus: &meshwork::alloc::listed::anchors::Torus| {
                let cells = torus.cells();
                let sides = torus.grid().sides().iter().copied();
                let nodes = &mut cells.iter().map(|node| node.unwrap_or(order[0]));
                let mut table = table([("dims", integers(sides)), ("nodes", renumbered(nodes))]);
                let holes: Vec<u32> = (0..)
                    .zip(cells)
                    .filter(|(_, node)| node.is_none())
                    .map(|(cell, _)| cell)
                    .collect();
                if !holes.is_empty() {
                    table.insert("holes".to_owned(), integers(holes));
                }
                insert_placements(&mut table, torus.entries());
                Value::Table(table)
            };
            let toruses = ("toruses", list(toruses.map(torus)));
            table([("name", "anchors".into()), ("unlisted", "refuse".into()), toruses])
        }
    };
    insert_weights(&mut allocator, site, &order);
    (machine, allocator, order)
}

/// Whether the partition consists of one torus in which no node is missing.
fn is_all_of(site: &SlurmSite, anchors: &Anchors) -> bool {
    let torus = &anchors.toruses()[0];
    let cells = torus.cells();
    let mut nodes = NodeSet::empty(site.hosts.count());
    cells.iter().flatten().for_each(|&node| nodes.insert(node));
    cells.len() == nodes.count() as usize && nodes == site.whole && !torus.entries().is_empty()
}

fn children(listed: Option<&SlurmTopology>, place: usize) -> Vec<u32> {
    let Some(TopologyKind::Tree(switches)) = listed.map(|topology| &topology.kind) else {
        return Vec::new();
    };
    let switch = &switches[place];
    let Some(list) = switch.children.as_ref().filter(|_| switch.nodes.is_none()) else {
        return Vec::new();
    };
    let names = names(&list.text).unwrap_or_default();
    let place = |name: &String| switches.iter().position(|other| other.name.as_ref() == Some(name));
    names.iter().filter_map(place).map(|place| place as u32).collect()
}

fn named(name: &str) -> Table {
    table([("name", name.into())])
}

fn unit(key: &str, value: Value) -> Value {
    // Without nodes, a ring, block or switch gets no list, and is never used.
    let is_used = value.as_array().is_some_and(|list| !list.is_empty());
    Value::Table(table(is_used.then_some((key, value))))
}

fn integers(numbers: impl IntoIterator<Item = u32>) -> Value {
    list(numbers.into_iter().map(|number| Value::Integer(i64::from(number))))
}

fn list(items: impl Iterator<Item = Value>) -> Value {
    Value::Array(items.collect())
}

fn insert_placements(table: &mut Table, entries: &[Entry]) {
    let placement = |entry: &Entry| {
        let shape = entry.shape();
        let keys = [("dims", shape.sides), ("spacing", shape.spacing), ("seed", shape.seed)];
        Value::Table(self::table(keys.map(|(key, three)| (key, integers(three)))))
    };
    if !entries.is_empty() {
        table.insert("placements".to_owned(), list(entries.iter().map(placement)));
    }
}

fn insert_weights(allocator: &mut Table, site: &SlurmSite, order: &[Node]) {
    let weights: Vec<u32> = order.iter().map(|&node| site.nodes.weight(node)).collect();
    if weights.windows(2).any(|pair| pair[0] != pair[1]) {
        allocator.insert("weights".to_owned(), integers(weights));
    }
}
