//! Reads Kueue workloads from several snapshots of `kubectl get workloads,nodes -A -o json`.
//!
//! The server forgets ended workloads, so snapshots are merged, workload by workload. `cluster`
//! makes a machine from the labels of the nodes, `assignment` reads the nodes of the pods, and
//! `workload` makes the job records of one workload.

mod assignment;
mod cluster;
mod workload;

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::Value as Json;

use self::cluster::Cluster;
pub use self::cluster::NAME;
use crate::FileProblem;
use crate::history::History;
use crate::sacct::{Imported, LOSSES, TimeFormat};

const HOST: &str = "kubernetes.io/hostname";

struct Snapshot<'a> {
    file: &'a str,
    text: &'a str,
    workloads: Vec<Json>,
    nodes: Vec<Json>,
}

/// Workloads and nodes at several instants, from one file for each instant, in this order.
///
/// The last file shows whether a node accepts pods, and whether a workload is active.
pub struct Snapshots<'a> {
    all: Vec<Snapshot<'a>>,
    cluster: Cluster,
}

fn text<'a>(object: &'a Json, path: &[&str]) -> Option<&'a str> {
    path.iter().try_fold(object, |inner, key| inner.get(key))?.as_str()
}

impl<'a> Snapshots<'a> {
    /// Reads files written by `kubectl get workloads,nodes -A -o json`.
    ///
    /// ```
    /// use meshwork_slurm::kueue::Snapshots;
    /// let text = r#"{"items": [
    ///   {"kind": "Node", "metadata": {"name": "a0"}, "status": {"allocatable": {"cpu": "8"}}},
    ///   {"kind": "Workload", "metadata": {"namespace": "ml", "name": "train", "uid": "u1",
    ///     "creationTimestamp": "1970-01-01T00:01:00Z"},
    ///     "spec": {"podSets": [{"count": 1}]}}]}"#;
    /// let snapshots = Snapshots::read(&[("first.json", text)]).unwrap();
    /// let read = snapshots.history().unwrap();
    /// assert_eq!((read.history.stays[0].id.as_str(), read.history.stays[0].submit), ("ml/train", Some(60)));
    /// ```
    ///
    /// # Errors
    /// One sentence with the file: it is not JSON, it has no list of objects, or no file has a
    /// workload.
    pub fn read(files: &[(&'a str, &'a str)]) -> Result<Snapshots<'a>, FileProblem> {
        let read = files.iter().map(|(file, text)| Snapshot::read(file, text));
        let all = read.collect::<Result<Vec<Snapshot<'a>>, FileProblem>>()?;
        if all.iter().all(|snapshot| snapshot.workloads.is_empty()) {
            let file = files.first().map_or("", |(file, _)| file);
            let says = "there is no object of the kind Workload here: `kubectl get workloads,nodes -A -o json` writes \
                        them";
            return Err(FileProblem::of(file, says));
        }
        let cluster = Cluster::of(
            all.iter().flat_map(|snapshot| &snapshot.nodes),
            all.iter().flat_map(|snapshot| &snapshot.workloads),
        );
        Ok(Snapshots { all, cluster })
    }

    /// Slurm files that describe the cluster: the file name in a site folder, and the text.
    ///
    /// The machine is a tree of the levels that workloads use. The number of processors of a node
    /// is the node's amount of the resource that counts as processors, such as GPUs.
    pub fn machine(&self) -> Result<Vec<(PathBuf, String)>, FileProblem> {
        self.cluster.files().ok_or_else(|| {
            let says = "no snapshot has an object of the kind Node: ask for workloads,nodes, or say --topology";
            FileProblem::of(self.file(), says)
        })
    }

    /// Name of the first file, for messages that concern all files; empty if there are no files.
    fn file(&self) -> &str {
        self.all.first().map_or("", |snapshot| snapshot.file)
    }

    /// Requests of all workloads, by the workload's ID in the history.
    ///
    /// They have two parts: the resources of the pods, as in the column `roles` of tables of jobs,
    /// and `node` or `leaf` (the lowest level above the nodes) if all pods must lie in one such
    /// domain. The second part is `None` otherwise, or if there are several sets of pods.
    pub fn pods(&self) -> Vec<(String, (String, Option<&'static str>))> {
        let all = self.all.iter().flat_map(|own| own.workloads.iter().map(|one| (own.file, one)));
        let seen = all.map(|(file, object)| workload::Seen { file, line: 1, object });
        seen.map(|seen| seen.pods(&self.cluster)).collect()
    }

    pub fn history(&self) -> Result<Imported, FileProblem> {
        let mut read = Imported::default();
        let mut merged: BTreeMap<&str, Vec<workload::Seen<'_>>> = BTreeMap::new();
        for snapshot in &self.all {
            let lines = snapshot.lines();
            for object in &snapshot.workloads {
                let uid = text(object, &["metadata", "uid"])
                    .or_else(|| text(object, &["metadata", "name"]))
                    .unwrap_or_default();
                let line = lines.get(uid).copied().unwrap_or(1);
                merged.entry(uid).or_default().push(workload::Seen {
                    file: snapshot.file,
                    line,
                    object,
                });
                read.tally.rows += 1;
            }
        }
        let mut stays = Vec::new();
        let mut notes = workload::Notes::default();
        for seen in merged.values() {
            let of = workload::stays(seen, &self.cluster, &mut notes)?;
            read.tally.requeued += of.len().saturating_sub(1);
            stays.extend(of);
        }
        stays.sort_by(|a, b| (a.submit, &a.id, a.attempt).cmp(&(b.submit, &b.id, b.attempt)));
        read.tally.form = Some(TimeFormat::Zoned);
        read.tally.losses = LOSSES
            .iter()
            .filter(|loss| !loss.is_fatal && loss.columns == ["Flags"])
            .copied()
            .collect();
        let sentences = notes.sentences().into_iter().chain(self.cluster.sentences());
        read.warnings.extend(sentences.map(|says| FileProblem::of(self.file(), says)));
        read.history = History { stays };
        Ok(read)
    }
}

impl<'a> Snapshot<'a> {
    fn read(file: &'a str, text: &'a str) -> Result<Snapshot<'a>, FileProblem> {
        let mut value: Json = serde_json::from_str(text).map_err(|error| {
            FileProblem::at(file, error.line().max(1), format!("this is no JSON ({error})"))
        })?;
        let Some(Json::Array(items)) = value.get_mut("items").map(Json::take) else {
            let says = "there is no list `items` here, as `kubectl get workloads,nodes -A -o json` writes one";
            return Err(FileProblem::of(file, says));
        };
        let mut snapshot = Snapshot { file, text, workloads: Vec::new(), nodes: Vec::new() };
        // In a list of one kind, the items may omit their kind.
        let list = value.get("kind").and_then(Json::as_str).unwrap_or_default().to_owned();
        for item in items {
            match item.get("kind").and_then(Json::as_str).unwrap_or(&list) {
                "Workload" | "WorkloadList" => snapshot.workloads.push(item),
                "Node" | "NodeList" => snapshot.nodes.push(item),
                _ => {}
            }
        }
        Ok(snapshot)
    }

    /// Line in which each value of `uid` or `name` first occurs, for messages.
    fn lines(&self) -> BTreeMap<&'a str, usize> {
        let mut lines = BTreeMap::new();
        for (line, text) in (1..).zip(self.text.lines()) {
            let Some((key, value)) = text.split_once(':') else { continue };
            if matches!(key.trim(), "\"uid\"" | "\"name\"") {
                let value = value.trim().trim_end_matches(',').trim_matches('"');
                lines.entry(value).or_insert(line);
            }
        }
        lines
    }
}
