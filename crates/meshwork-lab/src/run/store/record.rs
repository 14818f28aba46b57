//! One stored run, its line in the file and its key.

use std::collections::BTreeMap;

use meshwork::observe::recorder::{By, Measured, OwnerClass};
use meshwork::scenario::{MODEL_VERSION, Outcome};
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use toml::Table;

use super::lines::digits;
use crate::findings::clock::Start;
use crate::findings::trend;

/// One metric of one run.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// Its name.
    pub name: String,
    /// Its value; `None` where there was nothing to measure.
    pub value: Option<f64>,
    /// Its value in each batch of the run, in order; empty where it has none.
    pub batches: Vec<f64>,
}

/// The jobs of one size in one run.
#[derive(Clone, Debug, PartialEq)]
pub struct SizeFindings {
    /// The size; the largest of its class.
    pub size: u64,
    /// How many of them finished.
    pub jobs: u64,
    /// Their metrics, without batches.
    pub metrics: Vec<Finding>,
}

/// The jobs of one owner in one run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OwnerFindings {
    /// What the workload calls them; `None` for the jobs of which it does not say.
    pub name: Option<String>,
    /// How many of their jobs finished.
    pub jobs: u64,
    /// Their metrics; `None` where there was nothing to measure.
    pub metrics: Vec<(String, Option<f64>)>,
}

impl OwnerFindings {
    fn of(class: &OwnerClass) -> OwnerFindings {
        let metric = |measured: &Measured| {
            (measured.name.to_owned(), measured.value.filter(|value| value.is_finite()))
        };
        OwnerFindings {
            name: class.name.clone(),
            jobs: class.jobs,
            metrics: class.metrics.iter().map(metric).collect(),
        }
    }
}

/// What one run gave, as it is stored.
#[derive(Clone, Debug, PartialEq)]
pub struct Findings {
    /// Every metric, in the order of the list.
    pub metrics: Vec<Finding>,
    /// The jobs of each size, where that was asked for.
    pub by_size: Vec<SizeFindings>,
    /// The jobs of each owner, by all of it that was asked for.
    pub by_owner: BTreeMap<By, Vec<OwnerFindings>>,
    /// Jobs that finished and were measured.
    pub finished: u64,
    /// Jobs that would not fit even the empty machine.
    pub refused: u64,
    /// Lines of the log that were no jobs.
    pub unusable: u64,
    /// The last instant of the run.
    pub end: f64,
    /// The speed of each site, where they were drawn; else empty.
    pub speeds: Vec<f64>,
    /// Jobs in a batch, counted in order of arrival; 0 where there are no batches.
    pub batch_jobs: u64,
    /// The batch of the run that is the first of those that metrics have: it begins with the job
    /// `first_batch · batch_jobs`, counted from 0.
    pub first_batch: u64,
    /// Kendall's τ of the queue that jobs met, batch by batch over the whole run: see [`trend`].
    pub queue_trend: Option<f64>,
}

impl Findings {
    /// What a run gave. Values that are no finite numbers count as not measured: they could not be
    /// stored, and a stored run must be the same as a fresh one.
    #[must_use]
    pub fn of(outcome: &Outcome) -> Findings {
        let finding = |measured: &Measured, with_batches: bool| Finding {
            name: measured.name.to_owned(),
            value: measured.value.filter(|value| value.is_finite()),
            batches: if with_batches && measured.batches.iter().all(|value| value.is_finite()) {
                measured.batches.clone()
            } else {
                Vec::new()
            },
        };
        let met = outcome.cut.jobs * outcome.cut.queue.len() as u64;
        let queue = if met < trend::MIN_JOBS { &[] } else { &outcome.cut.queue[..] };
        let has_batches = outcome.metrics.iter().any(|measured| !measured.batches.is_empty());
        Findings {
            batch_jobs: if has_batches { outcome.cut.jobs } else { 0 },
            first_batch: if has_batches { outcome.cut.first } else { 0 },
            queue_trend: trend::tau(queue),
            metrics: outcome.metrics.iter().map(|measured| finding(measured, true)).collect(),
            by_size: outcome
                .by_size
                .iter()
                .map(|class| SizeFindings {
                    size: class.size,
                    jobs: class.jobs,
                    metrics: class.metrics.iter().map(|m| finding(m, false)).collect(),
                })
                .collect(),
            by_owner: outcome
                .by_owner
                .iter()
                .map(|(by, classes)| (*by, classes.iter().map(OwnerFindings::of).collect()))
                .collect(),
            finished: outcome.finished,
            refused: outcome.refused,
            unusable: outcome.unusable,
            end: outcome.end.units().min(f64::MAX),
            speeds: outcome.speeds.clone(),
        }
    }

    /// The metric of this name.
    #[must_use]
    pub fn metric(&self, name: &str) -> Option<&Finding> {
        self.metrics.iter().find(|finding| finding.name == name)
    }
}

/// The file that a run read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Input {
    /// Where it was.
    pub path: String,
    /// The BLAKE3 digest of its bytes, in hexadecimal.
    pub blake3: String,
    /// When the clock of a log begins, where its header says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<Start>,
    /// The trace of outages, where the machine fails by one. Then there need be no other file: its path and digest are
    /// empty.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<Trace>,
}

/// The trace of outages that a run read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trace {
    /// Where it was.
    pub path: String,
    /// The BLAKE3 digest of its bytes, in hexadecimal.
    pub blake3: String,
}

impl Input {
    /// The digest of all that was read, for the [key](key()) of a run: that of the workload's file, and behind a colon that
    /// of the trace, if there is one.
    #[must_use]
    pub fn digest(&self) -> String {
        digest_of(Some(&self.blake3), self.trace.as_ref().map(|trace| trace.blake3.as_str()))
            .unwrap_or_default()
    }
}

/// The digest of the file of a workload and of a trace; `None` where neither is read.
#[must_use]
pub fn digest_of(workload: Option<&str>, trace: Option<&str>) -> Option<String> {
    match (workload, trace) {
        (workload, Some(trace)) => Some(format!("{}:{trace}", workload.unwrap_or_default())),
        (workload, None) => workload.map(str::to_owned),
    }
}

/// One stored run.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// What says what was run; see [`key`].
    pub key: String,
    /// The scenario, with every default filled in.
    pub scenario: Value,
    /// The file that it read, if it read one.
    pub input: Option<Input>,
    /// Which replication it is, from 0.
    pub replication: u64,
    /// What it gave.
    pub findings: Findings,
    /// The version of the model that ran it.
    pub model_version: u32,
    /// The version of Meshwork that ran it.
    pub version: String,
    /// The build of the program that ran it: see [`build`](crate::run::build).
    pub build: String,
}

impl Record {
    /// The line of `runs.jsonl`, with its line break.
    #[must_use]
    pub fn line(&self) -> Vec<u8> {
        let findings = &self.findings;
        let batches = findings.metrics.iter().filter(|finding| !finding.batches.is_empty());
        let line = Line {
            key: self.key.clone(),
            scenario: self.scenario.clone(),
            input: self.input.clone(),
            replication: self.replication,
            metrics: values(&findings.metrics),
            batches: batches.map(|f| (f.name.clone(), Value::from(f.batches.clone()))).collect(),
            by_size: findings
                .by_size
                .iter()
                .map(|class| SizeLine {
                    size: class.size,
                    jobs: class.jobs,
                    metrics: values(&class.metrics),
                })
                .collect(),
            by_owner: findings.by_owner.clone(),
            finished: findings.finished,
            refused: findings.refused,
            unusable: findings.unusable,
            end: findings.end,
            speeds: findings.speeds.clone(),
            batch_jobs: findings.batch_jobs,
            first_batch: findings.first_batch,
            queue_trend: findings.queue_trend,
            model_version: self.model_version,
            version: self.version.clone(),
            build: self.build.clone(),
        };
        let mut bytes = serde_json::to_vec(&line).expect("a record is plain data");
        bytes.push(b'\n');
        bytes
    }

    /// Reads a line of `runs.jsonl`; `None` where it is garbled.
    #[must_use]
    pub fn read(line: &[u8]) -> Option<Record> {
        let mut line: Line<Value> = serde_json::from_slice(line).ok()?;
        Some(Record {
            findings: line.findings()?,
            key: line.key,
            scenario: line.scenario,
            input: line.input,
            replication: line.replication,
            model_version: line.model_version,
            version: line.version,
            build: line.build,
        })
    }
}

impl Findings {
    /// What a line of `runs.jsonl` gave, without what was run: half the work of reading all of it. `None` where the line is
    /// garbled.
    pub(super) fn read(line: &[u8]) -> Option<Findings> {
        let mut line: Line<IgnoredAny> = serde_json::from_slice(line).ok()?;
        line.findings()
    }
}

impl<S> Line<S> {
    /// Takes out what the run gave; `None` where that, or the key, is garbled.
    fn findings(&mut self) -> Option<Findings> {
        digits(&self.key)?;
        let mut metrics = findings(&self.metrics)?;
        for finding in &mut metrics {
            if let Some(batches) = self.batches.remove(&finding.name) {
                finding.batches =
                    batches.as_array()?.iter().map(Value::as_f64).collect::<Option<_>>()?;
            }
        }
        let by_size = self.by_size.iter().map(|class| {
            Some(SizeFindings {
                size: class.size,
                jobs: class.jobs,
                metrics: findings(&class.metrics)?,
            })
        });
        Some(Findings {
            metrics,
            by_size: by_size.collect::<Option<_>>()?,
            by_owner: std::mem::take(&mut self.by_owner),
            finished: self.finished,
            refused: self.refused,
            unusable: self.unusable,
            end: self.end,
            speeds: std::mem::take(&mut self.speeds),
            batch_jobs: self.batch_jobs,
            first_batch: self.first_batch,
            queue_trend: self.queue_trend,
        })
    }
}

/// The key of a run: 32 hexadecimal digits of the BLAKE3 digest of the resolved scenario, the
/// replication, the version of the model and the build of the program. In place of the path of an input file stands the
/// digest of its content, so that a log may be moved, and a changed log is another run.
#[must_use]
pub fn key(scenario: &Table, input: Option<&str>, replication: u64, build: &str) -> String {
    format!("{:032x}", Keys::of(scenario, input, build).key(replication))
}

/// The keys of all replications of one scenario: what they have in common is digested once.
///
/// ```
/// use meshwork_lab::run::store::{Keys, key};
/// let scenario: toml::Table = "seed = 1".parse().unwrap();
/// let keys = Keys::of(&scenario, None, "build");
/// assert_eq!(format!("{:032x}", keys.key(7)), key(&scenario, None, 7, "build"));
/// ```
pub struct Keys {
    scenario: blake3::Hasher,
    rest: String,
}

impl Keys {
    /// Those of a scenario, the digest of what it reads, and a build.
    #[must_use]
    pub fn of(scenario: &Table, input: Option<&str>, build: &str) -> Keys {
        let mut hasher = blake3::Hasher::new();
        hasher.update(digested(json(scenario), input).as_bytes());
        Keys { scenario: hasher, rest: format!("\n{MODEL_VERSION}\n{build}\n") }
    }

    /// The key of a replication as the number that its digits are. **O(1)**: the scenario is not read again.
    #[must_use]
    pub fn key(&self, replication: u64) -> u128 {
        let mut request = self.scenario.clone();
        request.update(format!("{replication}\n").as_bytes());
        let request = short(&request.finalize());
        let key = blake3::hash(format!("{request}{}", self.rest).as_bytes());
        let (half, _) = key.as_bytes().split_at(16);
        u128::from_be_bytes(half.try_into().expect("half of 32 bytes"))
    }
}

/// What was asked for, whoever ran it: the same for two builds of the program, of which each has its own key for it.
pub(super) fn request(scenario: Value, input: Option<&str>, replication: u64) -> String {
    let text = format!("{}{replication}\n", digested(scenario, input));
    short(&blake3::hash(text.as_bytes()))
}

/// A scenario as it is digested, with the line break after it.
fn digested(mut scenario: Value, input: Option<&str>) -> String {
    let Some(digest) = input else { return format!("{scenario}\n") };
    let (workload, trace) = digest.split_once(':').unwrap_or((digest, ""));
    for (digest, place) in [(workload, "/workload/path"), (trace, "/failures/trace")] {
        if let Some(path) = scenario.pointer_mut(place).filter(|_| !digest.is_empty()) {
            *path = Value::String(format!("blake3:{digest}"));
        }
    }
    format!("{scenario}\n")
}

/// 128 bits of a digest in hexadecimal.
fn short(hash: &blake3::Hash) -> String {
    hash.to_hex()[..32].to_owned()
}

/// A table of a study as JSON, keys in the same order.
#[must_use]
pub fn json(table: &Table) -> Value {
    serde_json::to_value(table).expect("a table has texts for keys")
}

/// A line; `S` is what its scenario is read as.
#[derive(Serialize, Deserialize)]
struct Line<S> {
    key: String,
    scenario: S,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    input: Option<Input>,
    replication: u64,
    metrics: Map<String, Value>,
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    batches: Map<String, Value>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    by_size: Vec<SizeLine>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    by_owner: BTreeMap<By, Vec<OwnerFindings>>,
    finished: u64,
    refused: u64,
    unusable: u64,
    end: f64,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    speeds: Vec<f64>,
    #[serde(default, skip_serializing_if = "is_zero")]
    batch_jobs: u64,
    #[serde(default, skip_serializing_if = "is_zero")]
    first_batch: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    queue_trend: Option<f64>,
    model_version: u32,
    version: String,
    #[serde(default)]
    build: String,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature is serde's")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

#[derive(Serialize, Deserialize)]
struct SizeLine {
    size: u64,
    jobs: u64,
    metrics: Map<String, Value>,
}

fn values(findings: &[Finding]) -> Map<String, Value> {
    findings.iter().map(|f| (f.name.clone(), Value::from(f.value))).collect()
}

fn findings(values: &Map<String, Value>) -> Option<Vec<Finding>> {
    let finding = |(name, value): (&String, &Value)| {
        let value = if value.is_null() { None } else { Some(value.as_f64()?) };
        Some(Finding { name: name.clone(), value, batches: Vec::new() })
    };
    values.iter().map(finding).collect()
}
