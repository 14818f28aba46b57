//! Compares topologies or configurations by replays of the machine's own jobs. Differences are
//! taken job by job.

mod groups;
mod maps;
mod measures;
mod page;
mod usage;

pub use groups::JobGroup;
pub use maps::Layer;
pub use measures::ReplayMeasure;
pub use page::page;

use std::borrow::Cow;
use std::path::Path;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;

use rayon::prelude::*;
use serde_json::{Map, Value as Json, json};

use super::causes::WaitsByCause;
use super::controller::rules::SiteRules;
use super::controller::{ControllerReplay, JobOutcome};
use super::paired;
use super::unlisted::{Unlisted, submitted};
use super::unmodelled::{self, Unmodelled};
use measures::Ground;
use meshwork_lab::slurm::folder::{CONF, Folder, SlurmMachine};
use meshwork_lab::statistics::Interval;
use meshwork_lab::text::diff::difference;
use meshwork_slurm::FileProblem;
use meshwork_slurm::history::{JobRecord, Second};
use meshwork_slurm::site::SlurmFiles;

#[derive(Clone, Debug)]
pub struct Contender {
    pub name: String,
    pub machine: SlurmMachine,
}

impl Contender {
    pub fn of_site(folder: &Folder) -> Contender {
        let name = folder.machine.reading.files.topology.clone();
        Contender { name, machine: folder.machine.clone() }
    }

    /// Configuration to compare: another topology file, with the site's `slurm.conf` and tables.
    ///
    /// # Errors
    /// The file cannot be read, Slurm would not start with it, or it belongs to another machine.
    pub fn read(folder: &Folder, file: &Path) -> Result<Contender, String> {
        let conf = folder.conf_path();
        let machine = SlurmMachine::read(file, conf.as_deref())?.with_tables_of(&folder.machine);
        let name = file.display().to_string();
        same_nodes(&folder.machine, &machine, &name)?;
        Ok(Contender { name, machine })
    }

    /// Configuration to compare: another `slurm.conf`, with the site's topology and tables.
    ///
    /// # Errors
    /// The file cannot be read, Slurm would not start with it, it belongs to another machine, or it
    /// lacks a partition with jobs.
    pub fn read_conf(folder: &Folder, file: &Path) -> Result<Contender, String> {
        let machine = SlurmMachine::read(&folder.topology_path(), Some(file))?;
        let machine = machine.with_tables_of(&folder.machine);
        let name = file.display().to_string();
        let (own, other) = (&folder.machine.reading.hosts, &machine.reading.hosts);
        for (from, to, says) in [
            (own, other, "this does not name the node {}, which the site has"),
            (other, own, "this names the node {}, which the site does not have"),
        ] {
            let missing = (0..from.count()).map(|node| from.name(node));
            if let Some(node) = missing.into_iter().find(|name| to.find(name).is_none()) {
                let says = says.replace("{}", node);
                let says = format!("{says}: it is the slurm.conf of another machine");
                return Err(FileProblem::of(&name, says).to_string());
            }
        }
        let is_lost = |stay: &&JobRecord| {
            folder.machine.has_partition(&stay.partition) && !machine.has_partition(&stay.partition)
        };
        if let Some(first) = folder.history.stays.iter().find(is_lost) {
            let says = format!(
                "this has no partition {}, in which job {} ran or waited",
                first.partition, first.id
            );
            return Err(FileProblem::of(&name, says).to_string());
        }
        Ok(Contender { name, machine })
    }
}

fn same_nodes(site: &SlurmMachine, other: &SlurmMachine, file: &str) -> Result<(), String> {
    let own = site.reading.listed_hosts();
    let named = other.reading.listed_hosts();
    let is_listed = |hosts: &[(String, usize)], name: &str| {
        hosts.binary_search_by(|(host, _)| host.as_str().cmp(name)).is_ok()
    };
    if own.is_empty() || named.is_empty() {
        return Ok(());
    }
    if let Some((name, line)) = named.iter().find(|(name, _)| !is_listed(&own, name)) {
        let says = format!(
            "this names the node {name}, which the site does not have: it is the topology of another machine"
        );
        return Err(FileProblem::at(file, *line, says).to_string());
    }
    if let Some((name, _)) = own.iter().find(|(name, _)| !is_listed(&named, name)) {
        let line = other.reading.topologies.first().map_or(1, |(topology, _)| topology.line);
        let says = format!(
            "this topology does not name {name}, which the site's own does: it is that of another machine"
        );
        return Err(FileProblem::at(file, line, says).to_string());
    }
    Ok(())
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReplayOptions {
    /// Seconds from the end of a job until its nodes are free again.
    pub cleanup: Second,
    pub unlisted: Unlisted,
    /// Number of replayed copies of the history; if `None`, [`paired::copies`] decides.
    pub copies: Option<u64>,
    /// Whether recorded priorities are used, even if they could be computed.
    pub keeps_priorities: bool,
}

#[derive(Clone, Debug)]
pub struct TopologyReplay {
    pub submitted: Vec<JobRecord>,
    pub outcomes: Vec<JobOutcome>,
    pub waited: Vec<WaitsByCause>,
    /// For each job, whether it leaves processors of its nodes to other jobs.
    shares: Vec<bool>,
    /// For each job, how far apart its nodes lie on the site's own topology; 0 if undefined.
    spans: Vec<f64>,
    pub nodes: u32,
}

impl TopologyReplay {
    /// Replays one copy of a site's jobs on `machine`. How far apart a job's nodes lie is measured
    /// on the topology of `site`.
    pub fn of(
        machine: &SlurmMachine,
        site: &SlurmMachine,
        stays: &[JobRecord],
        terms: ReplayOptions,
        copy: Option<u64>,
        report: &(dyn Fn(usize) + Sync),
    ) -> TopologyReplay {
        let submitted: Cow<'_, [JobRecord]> = submitted(machine, stays, terms.unlisted);
        let (mut rules, cleanup) = (SiteRules::of(machine), terms.cleanup as f64);
        rules.lacks_priorities |= terms.keeps_priorities;
        let rules = &rules;
        let replay = ControllerReplay { machine, rules, stays: &submitted, cleanup, copy, report };
        let (outcomes, waited) = replay.run_with_waits().unwrap_or_default();
        let shares = submitted.iter().map(|stay| machine.shares_nodes(stay)).collect();
        let span = |(stay, outcome): (&JobRecord, &JobOutcome)| {
            let nodes = outcome.nodes.as_ref()?;
            site.site(&stay.partition).structure.span(nodes)
        };
        let spans = stays.iter().zip(&outcomes).map(|own| span(own).unwrap_or(0.0)).collect();
        let nodes = machine.nodes_up();
        TopologyReplay { submitted: submitted.into_owned(), outcomes, waited, shares, spans, nodes }
    }

    fn by_start(&self) -> Vec<usize> {
        let start = |place: &usize| self.outcomes[*place].start;
        let mut places: Vec<usize> =
            (0..self.outcomes.len()).filter(|place| start(place).is_some()).collect();
        places.sort_by_key(start);
        places
    }
}

#[derive(Clone, Debug)]
pub struct Comparison {
    pub names: Vec<String>,
    pub jobs: usize,
    /// Number of jobs that ran in the history and start in the replay of every topology.
    pub common: usize,
    pub terms: ReplayOptions,
    pub copies: usize,
    pub span: (Second, Second),
    /// Values of all measures for each topology, in the order of [`ReplayMeasure::ALL`].
    pub values: Vec<Vec<Option<f64>>>,
    /// For each further topology, the differences of all measures from the first topology.
    pub differences: Vec<Vec<Interval>>,
    pub doubts: Vec<String>,
    pub unmodelled: Vec<Unmodelled>,
    /// Unit of [`ReplayMeasure::Span`]; `None` if the site's topology is flat.
    pub span_unit: Option<&'static str>,
    /// Maps of each topology: how much each node of its tori was used.
    pub maps: Vec<Vec<Layer>>,
    pub groups: Vec<JobGroup>,
    pub changes: Vec<String>,
}

/// Indices of the jobs that ran, in order of submission. It is an error if no job ran.
pub fn jobs_that_ran(folder: &Folder) -> Result<Vec<usize>, String> {
    let stays = &folder.history.stays;
    let ran = |place: &usize| {
        let stay = &stays[*place];
        stay.start.is_some() && stay.end.is_some() && stay.queued().is_some() && stay.nodes > 0
    };
    let mut all: Vec<usize> = (0..stays.len()).filter(ran).collect();
    if all.is_empty() {
        let says = "no job in this history has nodes, a start and an end, so none can happen again";
        let file = folder.path.join("jobs.csv").display().to_string();
        return Err(FileProblem::at(&file, 1, says).to_string());
    }
    all.sort_by_key(|&place| (stays[place].queued(), place));
    Ok(all)
}

/// Replays copies of the jobs of a site under each topology, with one thread per processor.
///
/// `report` gets the number of jobs started so far, and the number of all jobs. Both are sums over
/// all topologies and copies.
///
/// # Complexity
/// The time of [`ControllerReplay::run_with_waits`] for each topology and copy.
pub fn compare(
    folder: &Folder,
    contenders: &[Contender],
    terms: ReplayOptions,
    report: &(dyn Fn(usize, usize) + Sync),
) -> Result<Comparison, String> {
    let stays = &folder.history.stays;
    let all = jobs_that_ran(folder)?;
    let copies = terms.copies.unwrap_or_else(|| paired::copies(all.len())).max(1);
    // Computed priorities of one contender cannot be compared with recorded ones of another.
    let lacks = |own: &Contender| SiteRules::of(&own.machine).lacks_priorities;
    let terms = ReplayOptions { keeps_priorities: contenders.iter().any(lacks), ..terms };
    let runs = contenders.len() * copies as usize;
    let (started, whole) = (AtomicUsize::new(0), all.len() * runs);
    let course = |(own, copy): (&Contender, u64)| {
        let copy = (copy > 0).then_some(copy);
        let mut last = AtomicUsize::new(0);
        let count = |now: usize| {
            let more = now - last.swap(now, Relaxed);
            report(started.fetch_add(more, Relaxed) + more, whole);
        };
        let course = TopologyReplay::of(&own.machine, &folder.machine, stays, terms, copy, &count);
        started.fetch_add(all.len().saturating_sub(*last.get_mut()), Relaxed);
        course
    };
    let each = |own: &Contender| -> Vec<TopologyReplay> {
        (0..copies).into_par_iter().map(|copy| course((own, copy))).collect()
    };
    let courses: Vec<Vec<TopologyReplay>> = contenders.par_iter().map(each).collect();
    let unmodelled = unmodelled::of(&folder.machine, &folder.history);
    let span_unit = folder.machine.site("").structure.span_unit();
    Ok(Comparison { unmodelled, span_unit, ..beside(stays, all, contenders, &courses, terms) })
}

fn beside(
    stays: &[JobRecord],
    all: Vec<usize>,
    contenders: &[Contender],
    courses: &[Vec<TopologyReplay>],
    terms: ReplayOptions,
) -> Comparison {
    let starts =
        |place: &usize| courses.iter().flatten().all(|own| own.outcomes[*place].start.is_some());
    let common: Vec<usize> = all.iter().copied().filter(starts).collect();
    let queued =
        |place: Option<&usize>| place.and_then(|&place| stays[place].queued()).unwrap_or(0);
    let span = (queued(all.first()), queued(all.last()));
    let (jobs, shared) = (all.len(), common.len());
    let ground = Ground { history: stays, all, common, span: span.0..span.1 };
    let values = |own: &Vec<TopologyReplay>| {
        ReplayMeasure::ALL.iter().map(|&one| ground.value(one, own)).collect()
    };
    let differences = |own: &Vec<TopologyReplay>| {
        ReplayMeasure::ALL.iter().map(|&one| ground.difference(one, own, &courses[0])).collect()
    };
    let maps = contenders.iter().zip(courses);
    let maps = maps.map(|(own, course)| maps::layers(&own.machine, &course[0], &ground.span));
    let first = &contenders[0];
    let change = |own: &Contender| {
        let [old, new] = [&first.machine, &own.machine];
        let [from, to] = [old, new].map(|machine| &machine.reading.files);
        let conf = |files: &SlurmFiles| files.conf.clone().unwrap_or_else(|| CONF.to_owned());
        let [old_conf, new_conf] =
            [old, new].map(|machine| machine.conf_text().unwrap_or_default());
        difference(old.topology_text(), new.topology_text(), &from.topology, &to.topology)
            + &difference(old_conf, new_conf, &conf(from), &conf(to))
    };
    let changes = contenders.iter().skip(1).map(change);
    Comparison {
        groups: groups::groups(&ground, courses),
        changes: changes.collect(),
        maps: maps.collect(),
        doubts: Vec::new(),
        unmodelled: Vec::new(),
        span_unit: None,
        names: contenders.iter().map(|own| own.name.clone()).collect(),
        jobs,
        common: shared,
        terms,
        copies: courses[0].len(),
        span,
        values: courses.iter().map(values).collect(),
        differences: courses.iter().skip(1).map(differences).collect(),
    }
}

impl Comparison {
    /// Indices and titles of the measures to show.
    ///
    /// On a flat site, the span of jobs over the topology is left out.
    pub fn titles(&self) -> impl Iterator<Item = (usize, String)> {
        let unit = self.span_unit;
        ReplayMeasure::ALL.iter().enumerate().filter_map(move |(place, &measure)| match measure {
            ReplayMeasure::Span => Some((place, format!("{}, {}", measure.title(), unit?))),
            _ => Some((place, measure.title().to_owned())),
        })
    }

    /// Weeks of further history after which the interval of a difference would exclude 0.
    ///
    /// It is `None` if the interval already excludes 0, or if the difference is 0 or has no
    /// interval.
    pub fn weeks_to_decide(&self, difference: &Interval) -> Option<f64> {
        let weeks = (self.span.1 - self.span.0) as f64 / (7.0 * 86_400.0);
        difference.factor_to_decide().map(|factor| (factor - 1.0) * weeks)
    }

    pub fn json(&self) -> Json {
        let topologies: Vec<Json> = self
            .names
            .iter()
            .zip(&self.values)
            .enumerate()
            .map(|(number, (name, values))| {
                let values: Map<String, Json> = ReplayMeasure::ALL
                    .iter()
                    .zip(values)
                    .map(|(measure, value)| (measure.key().to_owned(), json!(value)))
                    .collect();
                let mut topology = json!({ "name": name, "values": values });
                if number > 0 {
                    let differences: Map<String, Json> = ReplayMeasure::ALL
                        .iter()
                        .zip(&self.differences[number - 1])
                        .map(|(measure, difference)| {
                            let own = json!({
                                "mean": difference.mean, "half_width": difference.half_width,
                                "excludes_zero": difference.excludes_zero(),
                                "weeks_to_decide": self.weeks_to_decide(difference)
                            });
                            (measure.key().to_owned(), own)
                        })
                        .collect();
                    topology["differences"] = json!(differences);
                }
                topology
            })
            .collect();
        let measures: Map<String, Json> = ReplayMeasure::ALL
            .iter()
            .map(|measure| (measure.key().to_owned(), json!(measure.definition())))
            .collect();
        json!({
            "jobs": self.jobs, "common": self.common, "cleanup_seconds": self.terms.cleanup,
            "copies": self.copies,
            "unlisted": if self.terms.unlisted == Unlisted::RoundUp { "round_up" } else { "refuse" },
            "first": self.span.0, "last": self.span.1, "baseline": self.names.first(),
            "span_unit": self.span_unit,
            "topologies": topologies, "measures": measures, "doubts": self.doubts,
            "not_modelled": self.unmodelled.iter().map(Unmodelled::json).collect::<Vec<Json>>(),
        })
    }
}
