//! Partitions whose jobs share nodes. `slurm.conf` and `gres.conf` give the cores, memory and GPUs.

pub mod desk;
pub mod gres;
pub mod options;
pub mod traps;

use meshwork::alloc::shared::{
    Domains, GpuRecord, MAX_CORES, MAX_GPUS, MAX_SOCKETS, SelectParams, SharedMachine,
    SlurmNodeType,
};

use crate::conf::{Conf, ConfLine, Partition};
use crate::site::Reading;
use crate::topology::{Hosts, Structure};
use gres::GresLine;

/// A partition whose nodes jobs share, with the cores, memory and GPUs of each node.
#[derive(Clone, Debug)]
pub struct SharedSite {
    pub hosts: Hosts,
    /// Nodes with their cores, memory and GPUs, for the rules of the crate `meshwork`.
    pub machine: SharedMachine,
}

impl SharedSite {
    /// Index of a type of GPUs; `u16::MAX` if no node has such GPUs.
    pub(crate) fn model(&self, name: &str) -> u16 {
        let models = &self.machine.models;
        let found = models.iter().position(|own| own.eq_ignore_ascii_case(name));
        found.map_or(u16::MAX, |found| found as u16)
    }

    /// Site of the named partition. Without a name, it is the site of the default or only
    /// partition.
    ///
    /// # Errors
    /// One sentence, in each of these cases:
    ///
    /// - [`Reading::site`] returns an error, or there is no `slurm.conf`.
    /// - The partition's topology is a ring or a torus, for which parts of nodes have no rules.
    /// - A node has no `NodeName` line, or its description is invalid or too large.
    pub fn new(
        reading: &Reading,
        gres: &[GresLine],
        partition: Option<&str>,
    ) -> Result<SharedSite, String> {
        let site = reading.site(partition)?;
        let conf = reading
            .conf
            .as_ref()
            .ok_or("parts of nodes are described in a slurm.conf: give it with --conf")?;
        let name = reading.files.conf.as_deref().unwrap_or("slurm.conf");
        let own = conf.partition(partition);
        let at = |says: String| format!("{name}: {says}");
        let domains = match site.structure {
            Structure::Flat => Domains::Flat,
            Structure::Tree(tree, _) => Domains::Tree(tree),
            Structure::Block(blocks, ..) => Domains::Block(blocks),
            Structure::Ring(..) | Structure::Torus3d(..) => {
                return Err(format!(
                    "{}: parts of nodes are not modelled on rings and toruses: ask for whole nodes \
                     with `nodes`",
                    reading.files.topology
                ));
            }
        };
        let params = params(conf, own).map_err(at)?;
        let mut models = Vec::new();
        let mut types: Vec<SlurmNodeType> = Vec::new();
        let mut type_of = Vec::new();
        for (node, host) in (0..site.hosts.count()).map(|node| (node, site.hosts.name(node))) {
            let own = conf.nodes.iter().find(|own| own.name == host);
            let own = own.ok_or_else(|| at(format!("the node {host} has no NodeName line")))?;
            let line = &conf.node_lines[own.given];
            let kind = node_type(line, host, gres, &mut models).map_err(at)?;
            let place = types.iter().position(|other| *other == kind);
            let place = place.unwrap_or_else(|| {
                types.push(kind);
                types.len() - 1
            });
            debug_assert_eq!(type_of.len(), node as usize);
            type_of.push(place as u16);
        }
        let (up, whole) = (site.up, site.whole);
        let machine = SharedMachine { types, type_of, models, up, whole, domains, params };
        Ok(SharedSite { hosts: site.hosts, machine })
    }
}

fn number(line: &ConfLine, key: &str) -> Result<Option<u64>, String> {
    let Some(text) = line.get(key) else { return Ok(None) };
    let number = text.parse::<u64>().ok().filter(|number| *number < 1 << 40);
    let says = "but must be a whole number below 2^40";
    number.ok_or_else(|| format!("line {}: {key} is {text}, {says}", line.number)).map(Some)
}

fn params(conf: &Conf, partition: Option<&Partition>) -> Result<SelectParams, String> {
    let select = conf.setting("SelectTypeParameters").unwrap_or("CR_Core_Memory").to_lowercase();
    let plugin = conf.setting("SelectType").unwrap_or("select/cons_tres").to_lowercase();
    if !plugin.ends_with("cons_tres") {
        return Err(format!("SelectType is {plugin}, but only select/cons_tres shares nodes"));
    }
    let words: Vec<&str> = select.split([',', ' ']).filter(|word| !word.is_empty()).collect();
    for word in &words {
        if word.starts_with("cr_socket") || *word == "cr_one_task_per_core" {
            return Err(format!(
                "SelectTypeParameters has {word}, which is not modelled: CR_Core, CR_CPU, both also \
                 with _Memory, CR_LLN and CR_CORE_DEFAULT_DIST_BLOCK are"
            ));
        }
    }
    let has = |word: &str| words.contains(&word);
    let line = partition.map(|partition| &partition.given);
    let yes = |key: &str| {
        line.and_then(|line| line.get(key)).is_some_and(|value| value.eq_ignore_ascii_case("yes"))
    };
    let whole = |key: &str| -> Result<Option<u64>, String> {
        let own = line.map(|line| number(line, key)).transpose()?.flatten();
        if own.is_some() {
            return Ok(own);
        }
        let all = conf.settings.iter().rev().find(|line| line.get(key).is_some());
        Ok(all.map(|line| number(line, key)).transpose()?.flatten())
    };
    let own = |key: &str| line.is_some_and(|line| line.get(key).is_some());
    let scheduler = conf.setting("SchedulerParameters").unwrap_or_default().to_lowercase();
    // A default of the partition overrides both defaults of the machine.
    let (mut per_cpu, mut per_node) = (whole("DefMemPerCPU")?, whole("DefMemPerNode")?);
    if own("DefMemPerCPU") && !own("DefMemPerNode") {
        per_node = None;
    } else if own("DefMemPerNode") && !own("DefMemPerCPU") {
        per_cpu = None;
    }
    let mut per_gpu = whole("DefMemPerGPU")?;
    if own("DefMemPerCPU") && !own("DefMemPerGPU") {
        per_gpu = None;
    }
    if let Some(partition) = partition {
        let shares = partition.given.get("OverSubscribe").unwrap_or("NO").to_lowercase();
        if shares.starts_with("yes") || shares.starts_with("force") {
            return Err(format!(
                "line {}: OverSubscribe={shares} runs jobs over the same cores, which is not \
                 modelled: NO and EXCLUSIVE are",
                partition.line
            ));
        }
    }
    Ok(SelectParams {
        by_core: has("cr_core") || has("cr_core_memory"),
        memory: words.iter().any(|word| word.ends_with("_memory")),
        least_loaded: has("cr_lln") || yes("LLN"),
        by_socket: has("cr_core_default_dist_block"),
        serial_at_end: scheduler.contains("pack_serial_at_end"),
        exclusive: partition.is_some_and(|partition| partition.is_exclusive),
        is_older: false,
        mem_per_cpu: per_cpu.unwrap_or(0),
        mem_per_node: per_node.unwrap_or(0),
        cpus_per_gpu: whole("DefCpuPerGPU")?.unwrap_or(0).min(1 << 20) as u32,
        mem_per_gpu: per_gpu.unwrap_or(0),
    })
}

fn node_type(
    line: &ConfLine,
    host: &str,
    gres: &[GresLine],
    models: &mut Vec<String>,
) -> Result<SlurmNodeType, String> {
    let of = |key: &str| number(line, key);
    let at = |says: String| format!("line {}: {says}", line.number);
    let threads = of("ThreadsPerCore")?.unwrap_or(1).max(1);
    let boards = of("Boards")?.unwrap_or(1).max(1);
    let sockets = match (of("Sockets")?, of("SocketsPerBoard")?) {
        (Some(sockets), _) => sockets,
        (None, Some(sockets)) => sockets * boards,
        (None, None) => boards,
    };
    let cpus = of("CPUs")?.or(of("Procs")?);
    let cores = match (of("CoresPerSocket")?, cpus) {
        (Some(cores), _) => cores,
        (None, Some(cpus)) => (cpus / (sockets.max(1) * threads)).max(1),
        (None, None) => 1,
    };
    // As in Slurm, `CPUs` may also be the number of cores; then only one thread per core is used.
    let threads = if cpus == Some(sockets * cores) { 1 } else { threads };
    if let Some(cpus) = cpus.filter(|cpus| *cpus != sockets * cores * threads) {
        return Err(at(format!(
            "{host} has CPUs={cpus}, but {sockets} sockets of {cores} cores of {threads} threads: \
             write their product, or the number of cores"
        )));
    }
    if threads > 256 {
        return Err(at(format!(
            "{host} has {threads} threads per core, but at most 256 are modelled"
        )));
    }
    if sockets > u64::from(MAX_SOCKETS)
        || sockets * cores > u64::from(MAX_CORES)
        || sockets * cores == 0
    {
        return Err(at(format!(
            "{host} has {sockets} sockets of {cores} cores, but at most {MAX_SOCKETS} sockets and \
             {MAX_CORES} cores in all are modelled"
        )));
    }
    let features = line.get("Features").or_else(|| line.get("Feature")).unwrap_or_default();
    let mut kind = SlurmNodeType {
        sockets: sockets as u32,
        cores: cores as u32,
        threads: threads as u32,
        memory: of("RealMemory")?.unwrap_or(1),
        weight: of("Weight")?.unwrap_or(1).min(u64::from(u32::MAX)) as u32,
        features: features.split(',').filter(|word| !word.is_empty()).map(str::to_owned).collect(),
        ..SlurmNodeType::default()
    };
    let wanted = gpus_of(line.get("Gres").unwrap_or_default()).map_err(at)?;
    let all: u32 = wanted.iter().map(|(_, count)| count).sum();
    if all == 0 {
        return Ok(kind);
    }
    if all > MAX_GPUS {
        return Err(at(format!("{host} has {all} GPUs, but at most {MAX_GPUS} are modelled")));
    }
    let is_own = |own: &&GresLine| {
        own.nodes.as_ref().is_none_or(|nodes| nodes.iter().any(|node| node == host))
    };
    let own: Vec<&GresLine> = gres.iter().filter(is_own).collect();
    let described: u32 = own.iter().map(|line| line.count).sum();
    if !own.is_empty() && described != all {
        return Err(at(format!(
            "{host} has {all} GPUs by Gres, but {described} by gres.conf: both must agree"
        )));
    }
    let mut index = |name: &str| -> u16 {
        let found = models.iter().position(|own| own.eq_ignore_ascii_case(name));
        found.unwrap_or_else(|| {
            models.push(name.to_owned());
            models.len() - 1
        }) as u16
    };
    let mut next = 0;
    let bits = |first: u32, count: u32| (u64::MAX >> (64 - count)) << first;
    if own.is_empty() {
        for (model, count) in &wanted {
            let model = model.as_deref().map(&mut index);
            kind.gpus.push(GpuRecord { model, gpus: bits(next, *count), near: None });
            next += count;
        }
        kind.is_counted = true;
        return Ok(kind);
    }
    kind.is_counted = own.iter().all(|line| line.model.is_none() && line.cores.is_none());
    let mut links = Vec::new();
    for line in own {
        let model = line.model.as_deref().map(&mut index);
        let near = line.cores.as_ref().map(|cores| near(cores, &kind)).transpose();
        let near = near.map_err(|says| format!("gres.conf, line {}: {says}", line.line))?;
        let near = near.filter(|near| near.count_ones() < kind.sockets);
        kind.gpus.push(GpuRecord { model, gpus: bits(next, line.count), near });
        next += line.count;
        if let Some(own) = &line.links {
            links.push(own.clone());
        }
    }
    if links.len() == all as usize && links.iter().all(|row| row.len() == all as usize) {
        kind.links = links;
    } else if !links.is_empty() {
        return Err(format!(
            "gres.conf: Links= of {host} must be given for each of its {all} GPUs on a line of its \
             own, with {all} numbers"
        ));
    }
    Ok(kind)
}

/// The sockets to which the given cores belong, one bit for each socket.
fn near(cores: &[u32], kind: &SlurmNodeType) -> Result<u32, String> {
    let mut near = 0;
    for &core in cores {
        if core >= kind.all_cores() {
            return Err(format!(
                "Cores names the core {core}, but the node has the cores 0 to {}",
                kind.all_cores() - 1
            ));
        }
        near |= 1 << (core / kind.cores);
    }
    Ok(near)
}

/// The GPUs that a list such as `gpu:a100:4,gpu:v100:4` names, each as a type and a number.
fn gpus_of(list: &str) -> Result<Vec<(Option<String>, u32)>, String> {
    let mut all = Vec::new();
    for item in list.split(',').filter(|item| !item.is_empty()) {
        let item = item.split('(').next().unwrap_or(item);
        let mut parts = item.split(':');
        if !parts.next().is_some_and(|name| name.eq_ignore_ascii_case("gpu")) {
            continue;
        }
        let parts: Vec<&str> =
            parts.filter(|part| !part.eq_ignore_ascii_case("no_consume")).collect();
        let number = |text: &str| {
            text.parse::<u32>()
                .map_err(|_| format!("Gres has {item}, but must be like gpu:4 or gpu:a100:4"))
        };
        all.push(match parts[..] {
            [] => (None, 1),
            [count] => match count.parse() {
                Ok(count) => (None, count),
                Err(_) => (Some(count.to_lowercase()), 1),
            },
            [model, count] => (Some(model.to_lowercase()), number(count)?),
            _ => return Err(format!("Gres has {item}, but must be like gpu:4 or gpu:a100:4")),
        });
    }
    Ok(all)
}

impl Conf {
    /// Partition with the given name or, without a name, the default partition.
    ///
    /// If there is only one partition and no default, it is taken as the default.
    pub fn partition(&self, name: Option<&str>) -> Option<&Partition> {
        match name {
            Some(name) => self.partitions.iter().find(|own| own.name == name),
            None => {
                let default = self.partitions.iter().rfind(|own| own.is_default);
                default.or_else(|| self.partitions.first().filter(|_| self.partitions.len() == 1))
            }
        }
    }
}
