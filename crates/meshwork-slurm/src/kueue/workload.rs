//! Job records of one workload, merged from several snapshots.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value as Json;

use super::assignment;
use super::cluster::{Cluster, pod_sets};
use super::{HOST, text};
use crate::FileProblem;
use crate::date;
use crate::history::{JobRecord, Second};
use crate::hostlist;

pub(super) struct Seen<'a> {
    pub(super) file: &'a str,
    pub(super) line: usize,
    pub(super) object: &'a Json,
}

/// Counts of incomplete or unmodelled workloads, for warnings.
///
/// An attempt of a workload lasts from its admission to its eviction or end.
#[derive(Default)]
pub(super) struct Notes {
    /// Number of attempts whose end lies between two snapshots, so that its time is unknown.
    unseen_ends: usize,
    /// Number of evictions that ended an attempt that no snapshot shows.
    unseen_starts: usize,
    nowhere: usize,
    /// Number of workloads whose pods must be together on a topology level above the lowest.
    higher: usize,
}

impl Notes {
    pub(super) fn sentences(&self) -> Vec<String> {
        let nowhere = format!(
            "have no topology assignment down to {HOST}: it cannot be said on which nodes they were"
        );
        let said = [
            (
                self.unseen_ends,
                "stay",
                "ended between two snapshots, and none says when: each is taken to have lasted until its workload was \
                 admitted again",
            ),
            (
                self.unseen_starts,
                "eviction",
                "ended a stay that no snapshot shows: take them more often",
            ),
            (self.nowhere, "stay", &nowhere),
            (
                self.higher,
                "workload",
                "must be together on a level above the lowest, which is left out: they are taken to want as \
                 many nodes anywhere",
            ),
        ];
        let said = said.into_iter().filter(|(count, ..)| *count > 0);
        let sentence = |(count, what, says)| match count {
            1 => format!("1 {what} {says}"),
            count => format!("{count} {what}s {says}"),
        };
        said.map(sentence).collect()
    }
}

struct Condition<'a> {
    is_true: bool,
    since: Second,
    reason: &'a str,
}

/// Job records: one for each run, and one for a last wait that led to no run. A run lasts from an
/// admission to the next eviction or the end.
pub(super) fn stays(
    seen: &[Seen<'_>],
    cluster: &Cluster,
    notes: &mut Notes,
) -> Result<Vec<JobRecord>, FileProblem> {
    let mut admitted: BTreeMap<Second, Option<BTreeMap<String, u64>>> = BTreeMap::new();
    let mut evicted: BTreeMap<Second, &str> = BTreeMap::new();
    let mut finished: Option<(Second, &str)> = None;
    for one in seen {
        let condition = |kind: &str| one.condition(kind);
        // Without admission checks, a cluster may report only that quota is reserved.
        let start = match condition("Admitted")? {
            Some(own) => Some(own),
            None => condition("QuotaReserved")?,
        };
        if let Some(start) = start.filter(|own| own.is_true) {
            let entry = admitted.entry(start.since).or_default();
            *entry = one.hosts()?.or(entry.take());
        }
        if let Some(eviction) = condition("Evicted")?.filter(|own| own.is_true) {
            evicted.insert(eviction.since, eviction.reason);
        }
        if let Some(end) = condition("Finished")?.filter(|own| own.is_true) {
            finished = Some((end.since, end.reason));
        }
    }
    let Some(last) = seen.last() else { return Ok(Vec::new()) };
    let template = last.wanted(cluster, notes)?;
    let starts: Vec<Second> = admitted.keys().copied().collect();
    let mut ends_seen = BTreeSet::new();
    let mut stays = Vec::new();
    let mut queued = template.submit;
    for (place, (&start, hosts)) in admitted.iter().enumerate() {
        let next = starts.get(place + 1).copied();
        let eviction = evicted.range(start..next.unwrap_or(Second::MAX)).next();
        let (end, state) = match (eviction, next, finished) {
            (Some((&at, &reason)), ..) => {
                ends_seen.insert(at);
                (Some(at), if reason == "NodeFailures" { "NODE_FAIL" } else { "REQUEUED" })
            }
            (None, Some(next), _) => {
                notes.unseen_ends += 1;
                (Some(next), "REQUEUED")
            }
            (None, None, Some((at, reason))) => {
                (Some(at), if reason == "Failed" { "FAILED" } else { "COMPLETED" })
            }
            (None, None, None) => (None, "RUNNING"),
        };
        notes.nowhere += usize::from(hosts.is_none());
        let mut stay = JobRecord {
            attempt: stays.len() as u32 + 1,
            state: state.to_owned(),
            submit: queued,
            start: Some(start),
            end,
            ..template.clone()
        };
        if let Some(hosts) = hosts {
            last.lie_on(&mut stay, hosts, cluster);
        }
        queued = end.or(queued);
        stays.push(stay);
    }
    notes.unseen_starts += evicted.keys().filter(|at| !ends_seen.contains(at)).count();
    // The workload still waits, or was removed while it waited.
    let waits = stays.last().is_none_or(|stay| matches!(&*stay.state, "REQUEUED" | "NODE_FAIL"));
    if waits {
        let is_active = last.object.pointer("/spec/active").and_then(Json::as_bool) != Some(false);
        let evicted = evicted.last_key_value().map(|(&at, _)| at);
        let ended = finished.map(|(at, _)| at).or(evicted.filter(|_| !is_active));
        let state = if ended.is_some() || !is_active { "CANCELLED" } else { "PENDING" };
        stays.push(JobRecord {
            attempt: stays.len() as u32 + 1,
            state: state.to_owned(),
            submit: queued,
            end: ended,
            ..template
        });
    }
    Ok(stays)
}

impl Seen<'_> {
    fn wrong(&self, says: &str) -> FileProblem {
        FileProblem::at(self.file, self.line, format!("{says} of the workload {}", self.name()))
    }

    fn name(&self) -> String {
        let own = |key: &str| text(self.object, &["metadata", key]).unwrap_or_default();
        format!("{}/{}", own("namespace"), own("name"))
    }

    fn second(&self, time: &str) -> Result<Second, FileProblem> {
        let second = date::unix_seconds(time).map(|second| second.floor() as Second);
        second.ok_or_else(|| {
            self.wrong(&format!(
                "`{time}` is no time, such as 2026-05-01T12:30:15Z, in a condition"
            ))
        })
    }

    fn condition(&self, kind: &str) -> Result<Option<Condition<'_>>, FileProblem> {
        let all = self.object.pointer("/status/conditions").and_then(Json::as_array);
        let of_kind = |own: &&Json| text(own, &["type"]) == Some(kind);
        let Some(found) = all.into_iter().flatten().find(of_kind) else { return Ok(None) };
        let since = self.second(text(found, &["lastTransitionTime"]).unwrap_or_default())?;
        let is_true = text(found, &["status"]) == Some("True");
        Ok(Some(Condition { is_true, since, reason: text(found, &["reason"]).unwrap_or_default() }))
    }

    fn hosts(&self) -> Result<Option<BTreeMap<String, u64>>, FileProblem> {
        let sets = self.object.pointer("/status/admission/podSetAssignments");
        let mut all: Option<BTreeMap<String, u64>> = None;
        for set in sets.and_then(Json::as_array).into_iter().flatten() {
            let Some(assignment) = set.get("topologyAssignment") else { continue };
            let hosts = assignment::hosts(assignment).map_err(|says| {
                let says =
                    format!("the topology assignment of the workload {} {says}", self.name());
                FileProblem::at(self.file, self.line, says)
            })?;
            for (host, pods) in hosts.into_iter().flatten() {
                *all.get_or_insert_default().entry(host).or_default() += pods;
            }
        }
        Ok(all)
    }

    /// Name of the workload, resources of its pods, and the topology level within which the pods
    /// must be.
    ///
    /// The level is `node`, or `leaf` for the lowest level above the nodes, such as a rack. It is
    /// `None` if no level or a higher one is required, or if there are several sets of pods.
    pub(super) fn pods(&self, cluster: &Cluster) -> (String, (String, Option<&'static str>)) {
        let sets: Vec<&Json> = pod_sets(self.object).collect();
        let role = |set: &&Json| {
            let count = set.get("count").and_then(Json::as_u64).unwrap_or(1);
            format!("{count}*{}", cluster.pod(set))
        };
        let roles: Vec<String> = sets.iter().map(role).collect();
        let required = match sets[..] {
            [only] => text(only, &["topologyRequest", "required"]),
            _ => None,
        };
        let inside = match required {
            Some(HOST) => Some("node"),
            Some(label) if cluster.is_leaf(label) => Some("leaf"),
            _ => None,
        };
        (self.name(), (roles.join("+"), inside))
    }

    /// Converts the request of the workload to a job record without times.
    fn wanted(&self, cluster: &Cluster, notes: &mut Notes) -> Result<JobRecord, FileProblem> {
        let own = |path: &[&str]| text(self.object, path).unwrap_or_default().to_owned();
        let created = text(self.object, &["metadata", "creationTimestamp"]);
        let mut stay = JobRecord {
            id: self.name(),
            attempt: 1,
            account: own(&["metadata", "namespace"]),
            qos: own(&["spec", "queueName"]),
            submit: created.map(|time| self.second(time)).transpose()?,
            limit: self.object.pointer("/spec/maximumExecutionTimeSeconds").and_then(Json::as_i64),
            priority: self.object.pointer("/spec/priority").and_then(Json::as_i64),
            line: self.line,
            ..JobRecord::default()
        };
        let (mut pods, mut asked, mut sets, mut below, mut is_higher) = (0, 0.0, 0, 0, false);
        for set in pod_sets(self.object) {
            let count = set.get("count").and_then(Json::as_u64).unwrap_or(1);
            pods += count;
            sets += 1;
            asked += count as f64 * cluster.asked(set);
            let wants = |key: &str| text(set, &["topologyRequest", key]);
            // Each of *n* sets in one leaf domain needs a switch.
            match wants("required") {
                Some(label) if cluster.is_leaf(label) => below += 1,
                Some(label) if label != HOST => is_higher = true,
                _ => {}
            }
            let slice = set.pointer("/topologyRequest/podSetSliceSize").and_then(Json::as_u64);
            stay.segment = slice.and_then(|size| u32::try_from(size).ok()).or(stay.segment);
        }
        notes.higher += usize::from(is_higher);
        stay.switches = Some(below).filter(|&below| below > 0 && below == sets);
        // If the amount per pod is unknown, each pod has its own node.
        let nodes =
            if asked > 0.0 { (asked / f64::from(cluster.largest())).ceil() as u64 } else { pods };
        stay.nodes = u32::try_from(nodes.max(1)).unwrap_or(u32::MAX);
        stay.processors = asked.ceil() as u32;
        stay.exclusive = asked <= 0.0 || asked >= nodes as f64 * f64::from(cluster.largest());
        // Segments are counted in nodes: they need one pod per node.
        stay.segment = stay.segment.filter(|_| pods == nodes);
        Ok(stay)
    }

    fn lie_on(&self, stay: &mut JobRecord, hosts: &BTreeMap<String, u64>, cluster: &Cluster) {
        let pods: u64 = hosts.values().sum();
        let each = f64::from(stay.processors) / pods.max(1) as f64;
        let is_full = |(host, &pods): (&String, &u64)| {
            pods as f64 * each >= f64::from(cluster.processors(host))
        };
        stay.exclusive = stay.processors == 0 || hosts.iter().all(is_full);
        stay.segment = stay.segment.filter(|_| hosts.values().all(|&pods| pods == 1));
        stay.nodes = hosts.len() as u32;
        stay.nodelist = hostlist::compressed(hosts.keys().map(String::as_str));
    }
}
