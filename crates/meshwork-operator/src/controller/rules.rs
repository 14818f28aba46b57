//! Rules of a site: partitions, limits, priority weights and scheduler parameters.

use std::collections::BTreeMap;

use super::limits;
use meshwork::geometry::NodeSet;
use meshwork_lab::inputs::published::megabytes;
use meshwork_lab::slurm::folder::SlurmMachine;
use meshwork_slurm::conf;
use meshwork_slurm::history::Second;
use meshwork_slurm::lines::parsable_rows;
use meshwork_slurm::sacct::{LocalClock, span};
use meshwork_slurm::values::{SCHEDULER_OPTIONS, number};

#[derive(Clone, Debug)]
pub struct SiteRules {
    pub partitions: Vec<PartitionRules>,
    pub default_partition: usize,
    pub parameters: SchedulerParameters,
    pub weights: PriorityWeights,
    pub qos: Vec<QosRules>,
    /// Accounts and their users. Each account precedes its users and sub-accounts.
    pub associations: Vec<Association>,
    /// Whether limits of associations and QOS are enforced. Only then are ended jobs charged for
    /// their usage since the last computation of fair shares.
    pub enforces_limits: bool,
    pub preemption: Option<Preemption>,
    /// Whether some tables that are needed to compute the configured priorities are missing.
    pub lacks_priorities: bool,
    /// Outages and drains, each with its begin, end and nodes.
    pub outages: Vec<(Second, Second, NodeSet)>,
    pub reservations: Vec<SiteReservation>,
    /// Start of the controller. From this time on, priorities are computed at regular intervals.
    pub started: Option<Second>,
}

/// Reservation: nodes that only certain jobs may use for some time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SiteReservation {
    pub name: String,
    pub span: (Second, Second),
    pub nodes: Option<NodeSet>,
    pub processors: u64,
}

#[derive(Clone, Debug)]
pub struct PartitionRules {
    pub name: String,
    pub tier: u32,
    pub job_factor: f64,
    /// Largest time limit of a job in the partition, in seconds.
    pub max_time: Option<Second>,
    /// Time limit, in seconds, of jobs that request none.
    pub default_time: Option<Second>,
    pub least: u32,
    pub most: u32,
    pub qos: Option<usize>,
    pub is_up: bool,
    /// Whether jobs of the partition may be preempted if preemption is enabled.
    pub is_preemptable: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Preemption {
    /// Jobs may preempt jobs in partitions of a lower tier.
    Partitions,
    /// A job may preempt jobs of each QOS that its own QOS lists.
    Qos,
}

/// Parameters of the main scheduler and of the backfill scheduler, with times in seconds.
#[derive(Clone, Debug, PartialEq)]
pub struct SchedulerParameters {
    /// Seconds between backfill cycles; `None` if backfill never runs.
    pub bf_interval: Option<Second>,
    pub bf_window: Second,
    pub bf_resolution: Second,
    pub bf_max_job_test: usize,
    pub bf_max_job_user: usize,
    pub bf_max_job_part: usize,
    pub bf_min_age_reserve: Second,
    pub bf_min_prio_reserve: f64,
    pub default_queue_depth: usize,
    pub partition_job_depth: usize,
    /// Seconds between main passes over the whole queue; `None` if there are no such passes.
    pub sched_interval: Option<Second>,
    /// Shortest time in seconds between two passes of the main scheduler.
    pub main_delay: f64,
}

/// Weights of Slurm's multifactor priority. Times are in seconds.
#[derive(Clone, Debug, PartialEq)]
pub struct PriorityWeights {
    /// Whether jobs are ordered by multifactor priority. Otherwise they are ordered by submission.
    pub is_multifactor: bool,
    pub age: f64,
    pub fair_share: f64,
    pub size: f64,
    pub partition: f64,
    pub qos: f64,
    pub max_age: f64,
    pub half_life: f64,
    pub period: Second,
    pub favors_small: bool,
}

pub(super) const KINDS: usize = 5;

/// Limits on jobs, nodes, processors, memory and GPUs; `None` for no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LimitOf {
    pub jobs: Option<u64>,
    pub nodes: Option<u64>,
    pub processors: Option<u64>,
    /// Limit on memory, in MiB.
    pub memory: Option<u64>,
    pub gpus: Option<u64>,
}

impl LimitOf {
    pub(super) fn all(&self) -> [Option<u64>; KINDS] {
        [self.jobs, self.nodes, self.processors, self.memory, self.gpus]
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LimitSet {
    pub group: LimitOf,
    pub user: LimitOf,
    pub account: LimitOf,
    pub job: LimitOf,
    /// Largest time limit of a job, in seconds.
    pub wall: Option<Second>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct QosRules {
    pub name: String,
    pub priority: f64,
    pub limits: LimitSet,
    /// Names of the QOS that jobs of this QOS may preempt.
    pub preempts: Vec<String>,
}

/// Association: an account, or a user in an account.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Association {
    pub account: String,
    pub user: String,
    pub parent: Option<usize>,
    pub shares: f64,
    pub limits: LimitSet,
}

impl SiteRules {
    /// Whether the model applies the limit that the wait reason `reason` names.
    ///
    /// It does if the site enforces limits, and if the table with the limit (associations or QOS)
    /// is known.
    pub(crate) fn models_limit(&self, reason: &str) -> bool {
        let has_table = match reason.starts_with("Assoc") {
            true => !self.associations.is_empty(),
            false => !self.qos.is_empty(),
        };
        self.enforces_limits && has_table && limits::is_name(reason)
    }

    pub fn of(machine: &SlurmMachine) -> SiteRules {
        let lines = machine.conf_text().map(conf::lines).unwrap_or_default();
        let value = |key: &str| lines.iter().rev().find_map(|line| line.get(key));
        let partitions = partitions(machine, &lines);
        let enforced = value("AccountingStorageEnforce").unwrap_or_default().to_lowercase();
        let enforces = |words: &[&str]| words.iter().any(|word| enforced.contains(word));
        let is_default = |own: &&conf::Partition| own.is_default;
        let mut conf = machine.reading.conf.iter().flat_map(|conf| &conf.partitions);
        let default = conf.rfind(is_default).map(|own| &own.name);
        let default = partitions.iter().position(|own| Some(&own.name) == default);
        let mut rules = SiteRules {
            partitions,
            default_partition: default.unwrap_or(0),
            parameters: SchedulerParameters::of(&lines),
            weights: PriorityWeights::of(&lines),
            qos: Vec::new(),
            associations: Vec::new(),
            enforces_limits: enforces(&["limits", "safe", "all"]),
            preemption: match value("PreemptType").unwrap_or_default().to_lowercase().as_str() {
                "preempt/partition_prio" => Some(Preemption::Partitions),
                "preempt/qos" => Some(Preemption::Qos),
                _ => None,
            },
            lacks_priorities: false,
            outages: Vec::new(),
            reservations: Vec::new(),
            started: None,
        };
        let table = |name: &str| machine.table(name).unwrap_or_default();
        rules.read_tables(&lines, table("qos.txt"), table("assoc.txt"));
        rules.read_events(machine, table("events.txt"));
        rules.read_reservations(machine, table("reservations.txt"));
        let weights = &rules.weights;
        rules.lacks_priorities = weights.fair_share > 0.0 && rules.associations.is_empty()
            || weights.qos > 0.0 && rules.qos.is_empty();
        rules
    }

    /// The site's rules as they are known at the second `at`, without outages that begin later.
    ///
    /// An outage that has begun and not ended is assumed to last for as long again as it has
    /// lasted.
    pub fn known_at(&self, at: Second) -> SiteRules {
        let outages = self.outages.iter().filter(|own| own.0 <= at).map(|own| {
            let (from, until, nodes) = own.clone();
            let until = if until <= at { until } else { at + (at - from).max(1) };
            (from, until, nodes)
        });
        SiteRules { outages: outages.collect(), ..self.clone() }
    }

    /// Nodes that are down or drained at a second, one set for each outage.
    pub(crate) fn closed(&self, at: Second) -> impl Iterator<Item = &NodeSet> {
        let is_closed = move |own: &&(Second, Second, NodeSet)| (own.0..own.1).contains(&at);
        self.outages.iter().filter(is_closed).map(|own| &own.2)
    }

    /// Whether a waiting job may preempt a running job. Each job is given by its partition and QOS.
    pub fn may_preempt(
        &self,
        (partition, qos): (usize, Option<usize>),
        (its_partition, its_qos): (usize, Option<usize>),
    ) -> bool {
        let its = &self.partitions[its_partition];
        match self.preemption {
            None => false,
            Some(Preemption::Partitions) => {
                its.is_preemptable && its.tier < self.partitions[partition].tier
            }
            Some(Preemption::Qos) => qos.zip(its_qos).is_some_and(|(qos, its_qos)| {
                its.is_preemptable && self.qos[qos].preempts.contains(&self.qos[its_qos].name)
            }),
        }
    }

    /// Adds outages, drains, and the start of the controller, from a table of events.
    fn read_events(&mut self, machine: &SlurmMachine, events: &str) {
        let time = |text: &str| {
            let read = LocalClock::utc().time(text).ok().flatten();
            read.map(|(second, _)| second)
        };
        for row in parsable_rows(events) {
            let get = |key: &str| row.get(key).copied().unwrap_or_default();
            let Some(from) = time(get("TimeStart")) else { continue };
            if get("NodeName").is_empty() {
                self.started = self.started.or(Some(from));
            } else if let Ok(nodes) = machine.nodes(get("NodeName")) {
                let until = time(get("TimeEnd")).unwrap_or(Second::MAX);
                self.outages.push((from, until, nodes));
            }
        }
    }

    /// Adds reservations from output of `scontrol` or `sacctmgr`. If a reservation has several
    /// rows, the last one counts.
    fn read_reservations(&mut self, machine: &SlurmMachine, text: &str) {
        let is_shown = text.lines().any(|line| line.starts_with("ReservationName="));
        let words = |line| str::split_whitespace(line).filter_map(|word| word.split_once('='));
        let found: Vec<BTreeMap<&str, &str>> = match is_shown {
            true => text.lines().map(|line| words(line).collect()).collect(),
            false => parsable_rows(text).collect(),
        };
        for row in found {
            let get = |keys: [&str; 2]| {
                keys.iter().find_map(|key| row.get(key).copied()).unwrap_or_default()
            };
            let time = |keys| LocalClock::utc().time(get(keys)).ok().flatten().map(|own| own.0);
            let begin = time(["StartTime", "TimeStart"]);
            let Some(span) = begin.zip(time(["EndTime", "TimeEnd"])) else { continue };
            let name = get(["ReservationName", "Name"]).to_owned();
            let named = Some(get(["Nodes", "NodeList"])).filter(|own| !own.is_empty());
            let nodes = named.and_then(|own| machine.nodes(own).ok());
            let processors = limit_of("", get(["TRES", "Assocs"])).processors.unwrap_or(0);
            let is_again = |own: &SiteReservation| own.name == name && own.span.0 == span.0;
            self.reservations.retain(|own| !is_again(own));
            self.reservations.push(SiteReservation { name, span, nodes, processors });
        }
    }

    fn read_tables(&mut self, lines: &[conf::ConfLine], qos: &str, associations: &str) {
        self.qos = parsable_rows(qos).map(|row| qos_of(&row)).collect();
        let mut known: BTreeMap<String, usize> = BTreeMap::new();
        for row in parsable_rows(associations) {
            let get = |key: &str| row.get(key).copied().unwrap_or_default();
            let (account, user) = (get("Account").to_owned(), get("User").to_owned());
            let parent = if user.is_empty() {
                known.insert(account.clone(), self.associations.len());
                known.get("root").copied().filter(|_| account != "root")
            } else {
                known.get(&account).copied()
            };
            let limits = LimitSet {
                group: limit_of(get("GrpJobs"), get("GrpTRES")),
                user: limit_of(get("MaxJobs"), ""),
                job: limit_of("", get("MaxTRES")),
                account: LimitOf::default(),
                wall: span(get("MaxWall")).ok().flatten(),
            };
            let shares = get("Share").parse().unwrap_or(1.0);
            self.associations.push(Association { account, user, parent, shares, limits });
        }
        for line in
            lines.iter().filter(|line| line.pairs[0].0.eq_ignore_ascii_case("partitionname"))
        {
            let place = self.partitions.iter().position(|own| own.name == line.pairs[0].1);
            let qos =
                line.get("QOS").and_then(|name| self.qos.iter().position(|own| own.name == name));
            if let Some(place) = place {
                self.partitions[place].qos = qos;
            }
        }
    }
}

fn qos_of(row: &BTreeMap<&str, &str>) -> QosRules {
    let get = |keys: &[&str]| keys.iter().find_map(|key| row.get(key).copied()).unwrap_or_default();
    QosRules {
        name: get(&["Name"]).to_owned(),
        priority: get(&["Priority"]).parse().unwrap_or(0.0),
        limits: LimitSet {
            group: limit_of(get(&["GrpJobs"]), get(&["GrpTRES"])),
            user: limit_of(
                get(&["MaxJobsPU", "MaxJobsPerUser"]),
                get(&["MaxTRESPU", "MaxTRESPerUser"]),
            ),
            account: limit_of(
                get(&["MaxJobsPA", "MaxJobsPerAccount"]),
                get(&["MaxTRESPA", "MaxTRESPerAccount"]),
            ),
            job: limit_of("", get(&["MaxTRES", "MaxTRESPerJob"])),
            wall: span(get(&["MaxWall"])).ok().flatten(),
        },
        preempts: get(&["Preempt"])
            .split(',')
            .filter(|name| !name.is_empty())
            .map(str::to_owned)
            .collect(),
    }
}

fn limit_of(jobs: &str, tres: &str) -> LimitOf {
    let text = |key: &str| {
        let mut pairs = tres.split(',').filter_map(|pair| pair.split_once('='));
        pairs.find_map(|(name, amount)| (name == key).then_some(amount))
    };
    let of = |key: &str| text(key).and_then(|amount| amount.parse().ok());
    LimitOf {
        jobs: jobs.parse().ok(),
        nodes: of("node"),
        processors: of("cpu"),
        memory: text("mem").and_then(megabytes).map(|amount| amount.ceil() as u64),
        gpus: of("gres/gpu"),
    }
}

fn partitions(machine: &SlurmMachine, lines: &[conf::ConfLine]) -> Vec<PartitionRules> {
    let conf = machine.reading.conf.as_ref();
    let mut found: Vec<PartitionRules> = Vec::new();
    let mut defaults: Vec<(String, String)> = Vec::new();
    // Only a line that begins with this key is global.
    let is_global = |line: &&conf::ConfLine| line.pairs[0].0.eq_ignore_ascii_case("preemptmode");
    let mode = lines.iter().rfind(is_global).map_or("off", |line| line.pairs[0].1.as_str());
    for line in lines {
        let Some((key, name)) = line.pairs.first() else { continue };
        if !key.eq_ignore_ascii_case("partitionname") {
            continue;
        }
        if name.eq_ignore_ascii_case("default") {
            defaults.extend(line.pairs[1..].iter().cloned());
            continue;
        }
        let pairs = defaults.iter().cloned().chain(line.pairs.iter().cloned()).collect();
        let line = conf::ConfLine { number: line.number, pairs };
        let time = |key: &str| span(line.get(key)?).ok().flatten();
        let count = |key: &str| line.get(key).and_then(|text| text.parse::<u32>().ok());
        let read = conf.and_then(|conf| conf.partitions.iter().find(|own| own.name == *name));
        found.push(PartitionRules {
            name: name.clone(),
            tier: count("PriorityTier").or(count("Priority")).unwrap_or(1),
            job_factor: f64::from(count("PriorityJobFactor").or(count("Priority")).unwrap_or(1)),
            max_time: time("MaxTime"),
            default_time: time("DefaultTime"),
            least: read.map_or(0, |own| own.least),
            most: read.map_or(u32::MAX, |own| own.most),
            qos: None,
            is_up: line.get("State").is_none_or(|state| state.eq_ignore_ascii_case("up")),
            is_preemptable: !line.get("PreemptMode").unwrap_or(mode).eq_ignore_ascii_case("off"),
        });
    }
    if found.is_empty() {
        found.push(PartitionRules {
            name: String::new(),
            tier: 1,
            job_factor: 1.0,
            max_time: None,
            default_time: None,
            least: 0,
            most: u32::MAX,
            qos: None,
            is_up: true,
            is_preemptable: false,
        });
    }
    found
}

impl SchedulerParameters {
    /// Reads scheduler parameters, with Slurm's defaults for those that are missing or invalid.
    pub fn of(lines: &[conf::ConfLine]) -> SchedulerParameters {
        let value = |key: &str| lines.iter().rev().find_map(|line| line.get(key));
        let parameters = value("SchedulerParameters").unwrap_or_default();
        let seconds = |key: &str| -> Second {
            let option = SCHEDULER_OPTIONS.iter().find(|own| own.name == key);
            option.map_or(0, |own| own.value(parameters))
        };
        let count = |key: &str| match seconds(key) {
            most if most > 0 => most as usize,
            _ => usize::MAX,
        };
        let every = |key: &str| Some(seconds(key)).filter(|own| *own > 0);
        let is_backfill = !value("SchedulerType").is_some_and(|kind| kind.ends_with("builtin"));
        SchedulerParameters {
            bf_interval: every("bf_interval").filter(|_| is_backfill),
            bf_window: seconds("bf_window") * 60,
            bf_resolution: seconds("bf_resolution"),
            bf_max_job_test: count("bf_max_job_test"),
            bf_max_job_user: count("bf_max_job_user"),
            bf_max_job_part: count("bf_max_job_part"),
            bf_min_age_reserve: seconds("bf_min_age_reserve"),
            bf_min_prio_reserve: seconds("bf_min_prio_reserve") as f64,
            default_queue_depth: count("default_queue_depth"),
            partition_job_depth: count("partition_job_depth"),
            sched_interval: every("sched_interval"),
            main_delay: (seconds("batch_sched_delay") as f64)
                .max(seconds("sched_min_interval") as f64 / 1e6),
        }
    }
}

impl PriorityWeights {
    fn of(lines: &[conf::ConfLine]) -> PriorityWeights {
        let value = |key: &str| lines.iter().rev().find_map(|line| line.get(key));
        let weight = |key: &str| {
            let read = value(key).and_then(|own| number(own, u32::MAX.into()));
            read.unwrap_or(0) as f64
        };
        let time = |key: &str, default: Second| {
            value(key).and_then(|own| span(own).ok().flatten()).unwrap_or(default)
        };
        let half_life = time("PriorityDecayHalfLife", 7 * 86_400) as f64;
        let kind = value("PriorityType").unwrap_or("priority/multifactor");
        PriorityWeights {
            is_multifactor: kind.ends_with("multifactor"),
            age: weight("PriorityWeightAge"),
            fair_share: weight("PriorityWeightFairshare"),
            size: weight("PriorityWeightJobSize"),
            partition: weight("PriorityWeightPartition"),
            qos: weight("PriorityWeightQOS"),
            max_age: time("PriorityMaxAge", 7 * 86_400).max(1) as f64,
            half_life: if half_life > 0.0 { half_life } else { f64::INFINITY },
            period: time("PriorityCalcPeriod", 300).max(1),
            favors_small: value("PriorityFavorSmall")
                .is_some_and(|own| own.eq_ignore_ascii_case("yes")),
        }
    }
}
