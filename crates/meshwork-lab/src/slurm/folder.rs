//! Folder with the files of a Slurm machine and with its history of jobs.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use meshwork::alloc::listed::NodeRequest;
use meshwork::geometry::NodeSet;
use serde_json::{Value as Json, json};

use super::read_text;
use crate::files::{FileError, write_whole};
use meshwork_slurm::conf;
use meshwork_slurm::desk::SlurmRequest;
use meshwork_slurm::finding::LintFindings;
use meshwork_slurm::history::{History, JobRecord};
use meshwork_slurm::hostlist;
use meshwork_slurm::shared::{SharedSite, gres, options};
use meshwork_slurm::site::{self, Reading, SlurmFiles, SlurmSite};
use meshwork_slurm::topology::{SlurmTopology, build};

pub const JOBS: &str = "jobs.csv";
const QUALITY: &str = "quality.json";
pub const CONF: &str = "slurm.conf";
/// File that describes the GPUs of a site. It lies in the folder of the `slurm.conf`.
pub const GRES: &str = "gres.conf";
const DIGESTS: &str = "blake3";
/// Optional tables of a site: output of `sacctmgr show … -P`, or of `scontrol show res -o`.
pub const TABLES: [&str; 4] = ["qos.txt", "assoc.txt", "events.txt", "reservations.txt"];
/// Topology that is assumed for a machine without a topology file: a flat one.
pub const FLAT: &str = "- topology: flat\n  cluster_default: true\n  flat: true\n";
pub const TOPOLOGIES: [&str; 2] = ["topology.yaml", "topology.conf"];

#[derive(Clone, Debug)]
pub struct SlurmMachine {
    pub reading: Reading,
    /// Partitions by name. The field `default` is the partition of jobs that request none.
    partitions: BTreeMap<String, SlurmSite>,
    default: SlurmSite,
    texts: Vec<(PathBuf, String)>,
    /// Model of the shared nodes of each partition. Models are built when first needed.
    parts: OnceLock<Result<Arc<BTreeMap<String, SharedSite>>, String>>,
}

impl SlurmMachine {
    pub fn read(topology: &Path, conf: Option<&Path>) -> Result<SlurmMachine, String> {
        let text = |path: &Path| read_text(path).map_err(|trouble| trouble.to_string());
        let ends_in_conf = topology.extension().is_some_and(|end| end.eq_ignore_ascii_case("conf"));
        let own = TOPOLOGIES[usize::from(ends_in_conf)];
        let topology_text = text(topology)?;
        let conf_text = conf.map(text).transpose()?;
        let folder = conf.and_then(Path::parent).unwrap_or(Path::new("")).to_owned();
        let mut included = Vec::new();
        let mut include = |path: &str| {
            let found = text(&folder.join(path))?;
            included.push((PathBuf::from(path), found.clone()));
            Ok(found)
        };
        let name = |path: &Path| path.display().to_string();
        let files =
            SlurmFiles { topology: name(topology), conf: conf.map(name), ..SlurmFiles::default() };
        let reading = site::read_texts(files, &topology_text, conf_text.as_deref(), &mut include);
        let mut texts = vec![(PathBuf::from(own), topology_text)];
        texts.extend(conf_text.map(|text| (PathBuf::from(CONF), text)));
        texts.extend(included);
        let gres = conf.map(|_| folder.join(GRES)).filter(|file| file.is_file());
        texts.extend(gres.map(|file| text(&file)).transpose()?.map(|own| (GRES.into(), own)));
        SlurmMachine::of(reading, texts)
    }

    pub fn of_folder(path: &Path) -> Result<SlurmMachine, String> {
        let there = |name: &str| Some(path.join(name)).filter(|file| file.is_file());
        let conf = there(CONF);
        match (TOPOLOGIES.iter().find_map(|name| there(name)), &conf) {
            (Some(topology), _) => SlurmMachine::read(&topology, conf.as_deref()),
            (None, Some(conf)) => SlurmMachine::flat(conf),
            (None, None) => Err(format!(
                "{}: there is no {CONF} and no {}, so this is no machine of Slurm",
                path.display(),
                TOPOLOGIES[0]
            )),
        }
    }

    pub fn flat(conf: &Path) -> Result<SlurmMachine, String> {
        let text = read_text(conf).map_err(|trouble| trouble.to_string())?;
        let mut made = vec![(TOPOLOGIES[0], FLAT.to_owned()), (CONF, text)];
        let gres = conf.with_file_name(GRES);
        if gres.is_file() {
            let text = read_text(&gres).map_err(|trouble| trouble.to_string())?;
            made.push((GRES, text));
        }
        SlurmMachine::made(made).map_err(|says| {
            let lacks = says.contains("asks for the topology");
            let then = if lacks { ": give the file of this topology with --topology" } else { "" };
            format!("{}: {says}{then}", conf.display())
        })
    }

    pub fn with_tables(mut self, tables: impl IntoIterator<Item = (&'static str, String)>) -> Self {
        self.texts.extend(tables.into_iter().map(|(name, text)| (PathBuf::from(name), text)));
        self
    }

    /// Adds the tables and the `gres.conf` of another machine, each only if this machine lacks it.
    pub fn with_tables_of(mut self, other: &SlurmMachine) -> Self {
        for (name, text) in &other.texts {
            let is_table = TABLES.iter().any(|table| name == Path::new(table));
            let is_kept = is_table || name == Path::new(GRES);
            if is_kept && !self.texts.iter().any(|own| own.0 == *name) {
                self.texts.push((name.clone(), text.clone()));
            }
        }
        self.parts = OnceLock::new();
        self
    }

    pub fn table(&self, table: &str) -> Option<&str> {
        self.texts().find_map(|(name, text)| (name == table).then_some(text))
    }

    /// Makes a machine from texts of the files `topology.yaml` and, optionally, `slurm.conf`.
    pub fn made<N: Into<PathBuf>, T: Into<String>>(
        texts: impl IntoIterator<Item = (N, T)>,
    ) -> Result<SlurmMachine, String> {
        let texts: Vec<(PathBuf, String)> =
            texts.into_iter().map(|(name, text)| (name.into(), text.into())).collect();
        let text = |own: &str| {
            texts.iter().find_map(|(name, text)| (name == Path::new(own)).then_some(text.as_str()))
        };
        let conf = text(CONF);
        let files = SlurmFiles {
            topology: TOPOLOGIES[0].to_owned(),
            conf: conf.map(|_| CONF.to_owned()),
            ..SlurmFiles::default()
        };
        let mut include = |path: &str| Err(format!("{path}: this file was not made"));
        let topology = text(TOPOLOGIES[0]).unwrap_or_default();
        let reading = site::read_texts(files, topology, conf, &mut include);
        SlurmMachine::of(reading, texts)
    }

    fn of(reading: Reading, texts: Vec<(PathBuf, String)>) -> Result<SlurmMachine, String> {
        let names: Vec<String> = reading
            .conf
            .iter()
            .flat_map(|conf| conf.partitions.iter().map(|own| own.name.clone()))
            .collect();
        let site = |name: &String| Ok((name.clone(), reading.site(Some(name))?));
        let partitions = names.iter().map(site).collect::<Result<BTreeMap<_, _>, String>>()?;
        // Without a default partition, jobs that name no partition use the first one.
        let default = match reading.site(None) {
            Ok(site) => site,
            Err(says) => match names.first() {
                Some(first) if reading.refusal().is_none() => reading.site(Some(first))?,
                _ => return Err(says),
            },
        };
        Ok(SlurmMachine { reading, partitions, default, texts, parts: OnceLock::new() })
    }

    /// Partition with the name `partition`. If there is none, the default partition.
    pub fn site(&self, partition: &str) -> &SlurmSite {
        let first = partition.split(',').next().unwrap_or(partition);
        self.partitions.get(first).unwrap_or(&self.default)
    }

    pub fn texts(&self) -> impl Iterator<Item = (&str, &str)> {
        self.texts.iter().filter_map(|(name, text)| Some((name.to_str()?, text.as_str())))
    }

    pub fn topology_text(&self) -> &str {
        self.texts()
            .find_map(|(name, text)| TOPOLOGIES.contains(&name).then_some(text))
            .unwrap_or_default()
    }

    pub fn conf_text(&self) -> Option<&str> {
        self.table(CONF)
    }

    pub fn setting(&self, key: &str) -> Option<String> {
        let lines = conf::lines(self.conf_text()?);
        lines.iter().rev().find_map(|line| line.get(key)).map(str::to_owned)
    }

    pub fn shares_nodes(&self, stay: &JobRecord) -> bool {
        let shares = !stay.whole_blocks && asked(stay).share.is_some();
        shares && !self.site(&stay.partition).is_exclusive
    }

    /// Machine of a site folder. `None` if jobs do not share nodes in its history.
    pub fn of_sharing_site(folder: &Path) -> Option<SlurmMachine> {
        let machine = SlurmMachine::of_folder(folder).ok()?;
        if machine.sites().all(|site| site.is_exclusive) {
            return None;
        }
        let history = History::read(JOBS, &read_text(&folder.join(JOBS)).ok()?).ok()?;
        let leaves_some = |stay: &JobRecord| {
            let site = machine.site(&stay.partition);
            let all = site.whole.first().map(|node| site.nodes.processors(node));
            machine.shares_nodes(stay) && asked(stay).share < all
        };
        history.stays.iter().any(leaves_some).then_some(machine)
    }

    /// Partitions by name, with models for nodes that several jobs share. A machine without
    /// partitions has a single one, whose name is empty.
    ///
    /// # Errors
    /// The reason why shared nodes are not modelled on this machine.
    pub fn parts(&self) -> Result<Arc<BTreeMap<String, SharedSite>>, String> {
        let read = || {
            let lines = gres::read(self.table(GRES).unwrap_or_default());
            let lines = lines.map_err(|says| format!("{GRES}, {says}"))?;
            let alone = self.partitions.is_empty().then_some("");
            let site = |name: &str| {
                let named = Some(name).filter(|name| !name.is_empty());
                let mut site = SharedSite::new(&self.reading, &lines, named)?;
                let own = self.site(name);
                site.machine.params.is_older = own.fits_single;
                site.machine.up.clone_from(&own.up);
                Ok((name.to_owned(), site))
            };
            let names = self.partitions.keys().map(String::as_str).chain(alone);
            names.map(site).collect::<Result<BTreeMap<_, _>, String>>().map(Arc::new)
        };
        self.parts.get_or_init(read).clone()
    }

    pub fn reads_options(&self, stay: &JobRecord) -> bool {
        let name = stay.partition.split(',').next().unwrap_or_default();
        let parts = self.parts().ok();
        let site = parts.as_ref().and_then(|parts| parts.get(name).or(parts.values().next()));
        site.is_none_or(|site| options::read(&stay.options, site).is_ok())
    }

    /// Copy of the machine in which the topology of the same name is replaced. `None` if Slurm
    /// would not start with the new topology.
    pub fn with_topology(&self, topology: &SlurmTopology) -> Option<SlurmMachine> {
        let mut findings = LintFindings::default();
        let structure = build(topology, &self.reading.hosts, &mut findings).ok()?;
        let mut machine = self.clone();
        let own = machine.reading.topologies.iter_mut().find(|(own, _)| own.name == topology.name);
        *own? = (topology.clone(), structure.clone());
        machine.parts = OnceLock::new();
        let sites = machine.partitions.values_mut().chain(std::iter::once(&mut machine.default));
        for site in sites.filter(|site| site.topology == topology.name) {
            site.structure = structure.clone();
        }
        Some(machine)
    }

    /// Sets whether a flat machine places single-node jobs by the rule for larger jobs. Only some
    /// versions of Slurm do so.
    pub fn fit_single_nodes(&mut self, fits: bool) {
        let sites = self.partitions.values_mut().chain(std::iter::once(&mut self.default));
        sites.for_each(|site| site.fits_single = fits);
        self.parts = OnceLock::new();
    }

    /// Number of nodes that at least one partition lets jobs use.
    pub fn nodes_up(&self) -> u32 {
        let mut up = NodeSet::empty(self.reading.hosts.count());
        self.sites().for_each(|site| up.unite(&site.up));
        up.count()
    }

    pub fn take_down(&mut self, nodes: &NodeSet) {
        self.partitions.values_mut().for_each(|site| site.up.subtract(nodes));
        self.default.up.subtract(nodes);
        self.parts = OnceLock::new();
    }

    pub fn has_partition(&self, partition: &str) -> bool {
        self.partitions.contains_key(partition) || self.reading.conf.is_none()
    }

    pub fn sites(&self) -> impl Iterator<Item = &SlurmSite> {
        let alone = self.partitions.is_empty().then_some(&self.default);
        self.partitions.values().chain(alone)
    }

    /// Set of the nodes that a host list such as `n[0-7]` names. A node that the machine does not
    /// have is an error.
    pub fn nodes(&self, list: &str) -> Result<NodeSet, String> {
        let mut set = NodeSet::empty(self.reading.hosts.count());
        for name in hostlist::names(list)? {
            let node = self.reading.hosts.find(&name);
            set.insert(node.ok_or_else(|| format!("the machine has no node {name}"))?);
        }
        Ok(set)
    }
}

pub fn asked(stay: &JobRecord) -> SlurmRequest {
    let text = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
    let share = (!stay.exclusive && stay.processors > 0 && stay.nodes > 0)
        .then(|| stay.processors.div_ceil(stay.nodes));
    SlurmRequest {
        wanted: NodeRequest {
            nodes: stay.least.unwrap_or(stay.nodes),
            most: stay.nodes,
            segment: stay.segment,
            spread: stay.spread,
            consolidate: stay.consolidate,
            switches: stay.switches,
            contiguous: stay.contiguous,
            listed: None,
            ends: None,
        },
        require: text(&stay.require),
        exclude: text(&stay.exclude),
        whole_blocks: stay.whole_blocks,
        share,
    }
}

/// Digest of each file that the last import into the folder has written, by file name. `None` if
/// nothing was imported.
fn known(path: &Path) -> Option<BTreeMap<String, String>> {
    let quality = read_text(&path.join(QUALITY)).ok()?;
    let quality: Json = serde_json::from_str(&quality).ok()?;
    let digests = quality.as_object()?.get(DIGESTS).and_then(Json::as_object);
    let digest =
        |(name, digest): (&String, &Json)| Some((name.clone(), digest.as_str()?.to_owned()));
    Some(digests.into_iter().flatten().filter_map(digest).collect())
}

#[derive(Clone, Debug)]
pub struct Folder {
    pub path: PathBuf,
    pub machine: SlurmMachine,
    pub history: History,
}

fn topology_in(folder: &Path) -> PathBuf {
    let files = TOPOLOGIES.map(|name| folder.join(name));
    files.iter().find(|file| file.is_file()).unwrap_or(&files[0]).clone()
}

impl Folder {
    /// Writes a machine, its history and a report on data quality into a folder.
    ///
    /// # Errors
    /// If the folder cannot be written, or contains files that no import has written.
    pub fn write(
        path: &Path,
        machine: &SlurmMachine,
        history: &History,
        quality: &Json,
    ) -> Result<(), String> {
        let shown = path.display();
        let unmade = |error: std::io::Error| FileError::making(path, &error).to_string();
        if path.is_file() {
            return Err(format!(
                "{shown}: this is a file, where a folder for the site would be made"
            ));
        }
        let is_empty = path.read_dir().map_or(true, |mut entries| entries.next().is_none());
        let known = known(path);
        if !is_empty && known.is_none() {
            return Err(format!(
                "{shown}: this folder has something else in it: a site goes into a folder of its own"
            ));
        }
        std::fs::create_dir_all(path).map_err(unmade)?;
        let mut files: Vec<(PathBuf, String)> = Vec::new();
        for (name, text) in &machine.texts {
            if name.is_absolute() || name.components().any(|part| part.as_os_str() == "..") {
                return Err(format!(
                    "{}: this file is included from elsewhere, and cannot be kept in {shown}",
                    name.display()
                ));
            }
            files.push((name.clone(), text.clone()));
        }
        files.push((PathBuf::from(JOBS), history.table()));
        let digest = |text: &[u8]| blake3::hash(text).to_hex().to_string();
        let mut digests = BTreeMap::new();
        for (name, text) in &files {
            let name = name.display().to_string();
            let there = std::fs::read(path.join(&name)).ok();
            let now = digest(text.as_bytes());
            let before = there.map(|bytes| digest(&bytes)).filter(|before| *before != now);
            // Older versions did not record digests at an import.
            let noted = known.as_ref().filter(|known| !known.is_empty());
            if before
                .is_some_and(|before| noted.is_some_and(|known| known.get(&name) != Some(&before)))
            {
                return Err(format!(
                    "{shown}: {name} in this folder is not as an import wrote it, and would be \
                     lost: give another folder, \
                     or move it away"
                ));
            }
            digests.insert(name, now);
        }
        let mut quality = quality.clone();
        quality[DIGESTS] = json!(digests);
        files.push((PathBuf::from(QUALITY), format!("{quality:#}\n")));
        for (name, text) in files {
            let whole = path.join(name);
            if let Some(folder) = whole.parent() {
                std::fs::create_dir_all(folder).map_err(unmade)?;
            }
            write_whole(&whole, text.as_bytes()).map_err(|error| error.to_string())?;
        }
        // Remove files of an earlier import that are not written again.
        for other in TOPOLOGIES
            .iter()
            .chain(&TABLES)
            .chain([&GRES])
            .filter(|own| !machine.texts.iter().any(|(name, _)| name == Path::new(own)))
        {
            let _ = std::fs::remove_file(path.join(other));
        }
        Ok(())
    }

    pub fn conf_path(&self) -> Option<PathBuf> {
        Some(self.path.join(CONF)).filter(|file| file.is_file())
    }

    pub fn topology_path(&self) -> PathBuf {
        topology_in(&self.path)
    }

    pub fn read(path: &Path) -> Result<Folder, String> {
        let shown = path.display();
        let jobs = path.join(JOBS);
        if !path.exists() {
            let says = "there is no such folder: `meshwork ops import` makes the folder of a site";
            return Err(format!("{shown}: {says}"));
        }
        if path.is_file() {
            let says = "this is a file, but the folder of a site is needed, as `meshwork ops import` writes it";
            return Err(format!("{shown}: {says}"));
        }
        if !jobs.is_file() {
            return Err(format!(
                "{shown}: there is no {JOBS}, so this is no site: `meshwork ops import` makes one"
            ));
        }
        let topology = topology_in(path);
        if !topology.is_file() {
            return Err(format!("{shown}: there is no {}", TOPOLOGIES[0]));
        }
        let conf = Some(path.join(CONF)).filter(|file| file.is_file());
        let mut tables = Vec::new();
        for name in TABLES {
            let file = path.join(name);
            if file.is_file() {
                tables.push((name, read_text(&file).map_err(|trouble| trouble.to_string())?));
            }
        }
        let machine = SlurmMachine::read(&topology, conf.as_deref())?.with_tables(tables);
        let text = read_text(&jobs).map_err(|trouble| trouble.to_string())?;
        let history = History::read(&jobs.display().to_string(), &text);
        let history = history.map_err(|trouble| trouble.to_string())?;
        Ok(Folder { path: path.to_owned(), machine, history })
    }
}

pub fn check_table(name: &str, text: &str) -> Result<(), String> {
    let (prints, needed): (&str, &[&str]) = match name {
        "qos.txt" => ("sacctmgr show qos -P", &["Name"]),
        "assoc.txt" => ("sacctmgr show assoc -P", &["Account", "User"]),
        "events.txt" => ("sacctmgr show event -P", &["NodeName", "TimeStart", "TimeEnd"]),
        // Past reservations are only known to the accounting database.
        _ if text.contains('|') => {
            ("sacctmgr show reservation -P", &["Name", "TimeStart", "TimeEnd"])
        }
        _ => {
            let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
            let is_one = |line: &str| {
                line.starts_with("ReservationName=") || line.starts_with("No reservations")
            };
            return match lines.find(|line| !is_one(line)) {
                Some(line) => Err(format!(
                    "a line begins with `{}`; this must be what `sacctmgr show reservation -P` or \
                     `scontrol show res -o` prints",
                    line.chars().take(30).collect::<String>()
                )),
                None => Ok(()),
            };
        }
    };
    let header: Vec<&str> = text.lines().next().unwrap_or_default().split('|').collect();
    match needed.iter().find(|name| !header.contains(name)) {
        Some(missing) => Err(format!(
            "the first line has no column `{missing}`; this must be what `{prints}` prints"
        )),
        None => Ok(()),
    }
}
