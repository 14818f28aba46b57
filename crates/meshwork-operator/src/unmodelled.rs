//! Resources, limits and rules that affected the jobs of a site but are not modelled.

use serde_json::{Value as Json, json};

use super::controller::rules::{Preemption, SiteRules};
use meshwork_lab::slurm::folder::SlurmMachine;
use meshwork_lab::text::number::{plural, significant};
use meshwork_slurm::history::{Beyond, History, JobRecord};
use meshwork_slurm::kueue;

#[derive(Clone, Debug, PartialEq)]
pub struct Unmodelled {
    pub key: &'static str,
    pub what: String,
    /// Number of job records that the unmodelled feature affects, if known.
    pub stays: Option<usize>,
    pub share: Option<f64>,
}

impl Unmodelled {
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

/// Features of a machine and its history that the [controller model](super::controller) leaves out.
///
/// Reservations, QOS, limits and fair shares are modelled if the site has their tables. Without a
/// table, the feature is left out.
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
    let rules = SiteRules::of(machine);
    let lacks = |table: &str| machine.table(table).is_none();
    let [no_qos, no_associations] = ["qos.txt", "assoc.txt"].map(lacks);
    let requests = [
        (Beyond::Gres, "generic resources (GRES)", true),
        (Beyond::Features, "features of nodes (constraints)", true),
        (Beyond::Licences, "licences", true),
        (
            Beyond::Reservation,
            "reservations, without their table (--reservations)",
            lacks("reservations.txt"),
        ),
    ];
    for (beyond, what, is_left_out) in requests {
        touched(beyond.word(), what, &|stay| is_left_out && stay.beyond.contains(&beyond));
    }
    let weighs = |weight: f64| rules.weights.is_multifactor && weight > 0.0;
    // Without a site's slurm.conf, it is unknown whether a QOS, or a queue of Kueue, has an effect.
    let what = match machine.setting("PartitionName").filter(|name| name != kueue::NAME) {
        None => Some("limits and priorities of queues (QOS)"),
        Some(_) => (rules.enforces_limits
            || weighs(rules.weights.qos)
            || rules.preemption == Some(Preemption::Qos))
        .then_some("limits and priorities of qualities of service, without their table (--qos)"),
    };
    if let Some(what) = what.filter(|_| no_qos) {
        touched("qos", what, &|stay| !matches!(stay.qos.as_str(), "" | "normal"));
    }
    let tables = match (no_associations, no_qos) {
        (true, true) => "their tables (--assoc, --qos)",
        (true, false) => "the table of users and accounts (--assoc)",
        _ => "the table of QOS (--qos)",
    };
    let lacks_limits = no_associations || no_qos;
    let what = format!("jobs that a limit of a user, account or QOS held up, without {tables}");
    let is_held = |stay: &JobRecord| {
        let reason = &stay.reason;
        reason.contains("Limit")
            && !reason.starts_with("Partition")
            && reason != "JobArrayTaskLimit"
    };
    let has_hit = touched("limits_hit", &what, &|stay| lacks_limits && is_held(stay));
    let what = "preemption (jobs end as recorded)";
    touched("preempted", what, &|stay| stay.state == "PREEMPTED");
    let what = "failures of nodes (jobs end as recorded)";
    touched("node_failures", what, &|stay| stay.state == "NODE_FAIL");
    let mut rule = |key, what: &str, is: bool| {
        let rule = Unmodelled { key, what: what.to_owned(), stays: None, share: None };
        found.extend(is.then_some(rule));
    };
    let what = format!("limits of users, accounts and QOS, without {tables}");
    rule("limits", &what, rules.enforces_limits && lacks_limits && !has_hit);
    rule("preemption", "jobs that preempt others (PreemptType)", rules.preemption.is_some());
    let what = "fair shares, without the table of users and accounts (--assoc)";
    rule("fair_share", what, weighs(rules.weights.fair_share) && no_associations);
    let selects = machine.setting("SelectTypeParameters").unwrap_or_default().to_lowercase();
    rule("memory", "memory (SelectTypeParameters)", shares && selects.contains("memory"));
    if shares && machine.parts().is_ok() {
        found.retain(|own| !matches!(own.key, "shared_nodes" | "gres" | "features" | "memory"));
        let unread = stays.iter().filter(|stay| !machine.reads_options(stay)).count();
        let what = "options for parts of nodes that are not read".to_owned();
        let unread = Unmodelled { key: "options", what, stays: Some(unread), share: None };
        found.extend(unread.stays.is_some_and(|count| count > 0).then_some(unread));
    }
    found
}

/// Sentences above the results of a site: doubts about the model, and unmodelled features.
pub fn caveats(doubts: &[String], unmodelled: &[Unmodelled]) -> Vec<String> {
    let doubt = |doubt: &String| format!("The site is not modelled well enough to go on: {doubt}.");
    let mut says: Vec<String> = doubts.iter().map(doubt).collect();
    let all: Vec<String> = unmodelled.iter().map(Unmodelled::to_string).collect();
    says.extend((!all.is_empty()).then(|| format!("Not modelled are: {}.", all.join("; "))));
    says
}
