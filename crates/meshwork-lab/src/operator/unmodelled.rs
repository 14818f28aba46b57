//! Resources, limits and rules that affected the jobs of a site but are not modelled.

use meshwork::geometry::NodeSet;
use serde_json::{Value as Json, json};

use super::folder::SlurmMachine;
use super::history::{History, JobRecord};
use crate::findings::number::{plural, significant};

/// Feature of a job's request other than nodes and processors, such as licences.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Beyond {
    Gres,
    /// The job requests features of nodes.
    Features,
    Licences,
    /// The job requests several partitions as alternatives.
    Partitions,
    Reservation,
    /// The job is a component of a heterogeneous job.
    Heterogeneous,
}

impl Beyond {
    /// All features of requests that are not modelled, in display order.
    pub const ALL: [Beyond; 6] = [
        Beyond::Gres,
        Beyond::Features,
        Beyond::Licences,
        Beyond::Partitions,
        Beyond::Reservation,
        Beyond::Heterogeneous,
    ];

    /// Word for the feature in a table of jobs.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Beyond::Gres => "gres",
            Beyond::Features => "features",
            Beyond::Licences => "licences",
            Beyond::Partitions => "partitions",
            Beyond::Reservation => "reservation",
            Beyond::Heterogeneous => "heterogeneous",
        }
    }

    fn says(self) -> &'static str {
        match self {
            Beyond::Gres => "generic resources (GRES)",
            Beyond::Features => "features of nodes (constraints)",
            Beyond::Licences => "licences",
            Beyond::Partitions => "requests for one of several partitions",
            Beyond::Reservation => "reservations",
            Beyond::Heterogeneous => "heterogeneous jobs",
        }
    }
}

/// Feature of a site that is not modelled.
#[derive(Clone, Debug, PartialEq)]
pub struct Unmodelled {
    /// Key of the feature in results.
    pub key: &'static str,
    /// Short description of the feature.
    pub what: String,
    /// Number of affected job records, if known.
    pub stays: Option<usize>,
    /// Node-seconds of the affected job records as a fraction of all node-seconds.
    pub share: Option<f64>,
}

impl Unmodelled {
    /// Feature of a site that is not modelled, as JSON.
    #[must_use]
    pub fn json(&self) -> Json {
        json!({ "key": self.key, "what": self.what, "stays": self.stays, "node_seconds_share": self.share })
    }
}

impl std::fmt::Display for Unmodelled {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.what)?;
        if let Some(stays) = self.stays {
            write!(f, ": {}", plural(stays as u64, "stay"))?;
        }
        if let Some(share) = self.share {
            write!(f, ", {} % of the node-seconds", significant(100.0 * share, 3))?;
        }
        Ok(())
    }
}

/// All features of a machine and its history that a placement rule alone does not model.
///
/// # Complexity
/// **O(n)** for *n* records, and **O(p²)** comparisons of node sets for *p* partitions.
#[must_use]
pub fn of(machine: &SlurmMachine, history: &History) -> Vec<Unmodelled> {
    let stays = &history.stays;
    let seconds = |stay: &JobRecord| {
        let runs = stay.start.zip(stay.end).map_or(0, |(start, end)| (end - start).max(0));
        f64::from(stay.nodes) * runs as f64
    };
    let whole: f64 = stays.iter().map(seconds).sum();
    let mut found = Vec::new();
    let mut touched = |key: &'static str, what: &str, is: &dyn Fn(&JobRecord) -> bool| {
        let own: Vec<&JobRecord> = stays.iter().filter(|stay| is(stay)).collect();
        let share: f64 = own.iter().map(|stay| seconds(stay)).sum();
        let share = (whole > 0.0).then(|| share / whole);
        if !own.is_empty() {
            let (what, stays) = (what.to_owned(), Some(own.len()));
            found.push(Unmodelled { key, what, stays, share });
        }
        !own.is_empty()
    };
    let shares =
        touched("shared_nodes", "nodes shared by several jobs", &|stay| machine.shares_nodes(stay));
    for beyond in Beyond::ALL {
        touched(beyond.word(), beyond.says(), &|stay| stay.beyond.contains(&beyond));
    }
    let overlapping = overlapping(machine);
    touched("overlapping_partitions", "partitions that share nodes, and their tiers", &|stay| {
        overlapping.contains(&stay.partition.as_str())
    });
    touched("qos", "a quality of service (QOS), with its limits and priority", &|stay| {
        !matches!(stay.qos.as_str(), "" | "normal")
    });
    let has_hit =
        touched("limits_hit", "jobs that a limit of a user, account or QOS held up", &|stay| {
            stay.reason.contains("Limit")
        });
    touched("preempted", "preemption", &|stay| stay.state == "PREEMPTED");
    touched("node_failures", "nodes that fail", &|stay| stay.state == "NODE_FAIL");
    let mut rule = |key, what: &str, is: bool| {
        let rule = Unmodelled { key, what: what.to_owned(), stays: None, share: None };
        found.extend(is.then_some(rule));
    };
    let names = |key: &str, words: &[&str]| {
        let value = machine.setting(key).unwrap_or_default().to_lowercase();
        words.iter().any(|word| value.contains(word))
    };
    let enforced = names("AccountingStorageEnforce", &["limits", "safe", "all"]);
    let what = "limits of users, accounts and QOS (AccountingStorageEnforce)";
    rule("limits", what, enforced && !has_hit);
    rule("preemption", "preemption (PreemptType)", names("PreemptType", &["partition", "qos"]));
    let fair = machine.setting("PriorityWeightFairshare").unwrap_or_default();
    rule("fair_share", "fair shares (PriorityWeightFairshare)", !matches!(&*fair, "" | "0"));
    let what = "memory (SelectTypeParameters)";
    rule("memory", what, shares && names("SelectTypeParameters", &["memory"]));
    if shares && machine.parts().is_ok() {
        // The controller model allocates parts of nodes.
        found.retain(|own| !matches!(own.key, "shared_nodes" | "gres" | "features" | "memory"));
        let unread = stays.iter().filter(|stay| !machine.reads_options(stay)).count();
        let what = "options for parts of nodes that are not read".to_owned();
        let unread = Unmodelled { key: "options", what, stays: Some(unread), share: None };
        found.extend(unread.stays.is_some_and(|count| count > 0).then_some(unread));
    }
    found
}

/// Features that the [controller model](super::controller) ignores.
///
/// # Complexity
/// The time of [`of`], which tests all features.
#[must_use]
pub fn by_controller(machine: &SlurmMachine, history: &History) -> Vec<Unmodelled> {
    let has = |table: &str| machine.table(table).is_some();
    let is_left_out = |own: &Unmodelled| match own.key {
        "partitions" | "overlapping_partitions" | "heterogeneous" => false,
        "reservation" => !has("reservations.txt"),
        "qos" | "limits_hit" | "limits" => !(has("qos.txt") && has("assoc.txt")),
        "fair_share" => !has("assoc.txt"),
        _ => true,
    };
    of(machine, history).into_iter().filter(is_left_out).collect()
}

/// Sentences above the results of a site: doubts about the model, and features that it ignores.
#[must_use]
pub fn caveats(doubts: &[String], unmodelled: &[Unmodelled]) -> Vec<String> {
    let doubt = |doubt: &String| format!("The site is not modelled well enough to go on: {doubt}.");
    let mut says: Vec<String> = doubts.iter().map(doubt).collect();
    let all: Vec<String> = unmodelled.iter().map(Unmodelled::to_string).collect();
    says.extend((!all.is_empty()).then(|| format!("Not modelled are: {}.", all.join("; "))));
    says
}

/// Names of the partitions that share nodes with another partition.
fn overlapping(machine: &SlurmMachine) -> Vec<&str> {
    let conf = machine.reading.conf.iter().flat_map(|conf| &conf.partitions);
    let sets: Vec<(&str, &NodeSet)> =
        conf.map(|own| (own.name.as_str(), &machine.site(&own.name).whole)).collect();
    let meets = |(name, set): &&(&str, &NodeSet)| {
        sets.iter().any(|(other, whole)| name != other && set.meets(whole))
    };
    sets.iter().filter(meets).map(|(name, _)| *name).collect()
}
