//! Data of a stored run, the line of `runs.jsonl` in which they are stored, and the run's key.

use std::collections::BTreeMap;

use meshwork::observe::recorder::{Measured, OwnerAttribute, OwnerClass};
use meshwork::scenario::{MODEL_VERSION, Outcome};
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use toml::Table;

use super::lines::digits;
use crate::statistics::trend;
use crate::study::asked::StudyRequest;
use crate::study::input::Input;

#[derive(Clone, Debug, PartialEq)]
pub struct RunMetric {
    pub name: String,
    pub value: Option<f64>,
    /// Values of the metric by batch of consecutive jobs; empty if the run has no batches.
    pub batches: Vec<f64>,
}

impl RunMetric {
    pub fn new(name: &str, value: Option<f64>, batches: Vec<f64>) -> RunMetric {
        RunMetric { name: name.to_owned(), value, batches }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct SizeFindings {
    pub size: u64,
    pub jobs: u64,
    pub metrics: Vec<RunMetric>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OwnerFindings {
    /// Name of the owner of the jobs. `None` for jobs of unknown owners.
    pub name: Option<String>,
    pub jobs: u64,
    /// Values by name of the metric; `None` if there was nothing to measure.
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

#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunFindings {
    pub metrics: Vec<RunMetric>,
    pub by_size: Vec<SizeFindings>,
    pub by_owner: BTreeMap<OwnerAttribute, Vec<OwnerFindings>>,
    pub finished: u64,
    /// Number of jobs that were not run. They would not fit even the empty machine, or the
    /// scheduler turned them away.
    pub refused: u64,
    pub unusable: u64,
    pub end: f64,
    /// Speed of each site. Empty unless speeds were drawn at random.
    pub speeds: Vec<f64>,
    /// Number of consecutive arrivals that form a batch. It is 0 if the run has no batches.
    pub batch_jobs: u64,
    /// Index of the first batch after the warm-up. Metrics are measured from this batch on.
    pub first_batch: u64,
    /// Kendall's τ of the queue length over batches of the whole run: see [`trend`].
    pub queue_trend: Option<f64>,
}

impl RunFindings {
    /// Measured results of a run. A value that is not finite counts as not measured.
    pub fn of(outcome: &Outcome) -> RunFindings {
        let finding = |measured: &Measured, batches: &[f64]| {
            let batches = if batches.iter().all(|value| value.is_finite()) { batches } else { &[] };
            let value = measured.value.filter(|value| value.is_finite());
            RunMetric::new(measured.name, value, batches.to_vec())
        };
        let met = outcome.cut.jobs * outcome.cut.queue.len() as u64;
        let queue = if met < trend::MIN_JOBS { &[] } else { &outcome.cut.queue[..] };
        let has_batches = outcome.metrics.iter().any(|measured| !measured.batches.is_empty());
        RunFindings {
            batch_jobs: if has_batches { outcome.cut.jobs } else { 0 },
            first_batch: if has_batches { outcome.cut.first } else { 0 },
            queue_trend: trend::tau(queue),
            metrics: outcome.metrics.iter().map(|own| finding(own, &own.batches)).collect(),
            by_size: outcome
                .by_size
                .iter()
                .map(|class| SizeFindings {
                    size: class.size,
                    jobs: class.jobs,
                    metrics: class.metrics.iter().map(|own| finding(own, &[])).collect(),
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

    pub fn metric(&self, name: &str) -> Option<&RunMetric> {
        self.metrics.iter().find(|finding| finding.name == name)
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct RunRecord {
    pub key: String,
    pub scenario: Value,
    pub input: Option<Input>,
    pub replication: u64,
    pub findings: RunFindings,
    pub model_version: u32,
    pub version: String,
    pub build: String,
}

impl RunRecord {
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

    /// Parses a line of `runs.jsonl`; `None` if it is unreadable.
    pub fn read(line: &[u8]) -> Option<RunRecord> {
        let mut line: Line<Value> = serde_json::from_slice(line).ok()?;
        Some(RunRecord {
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

impl RunFindings {
    /// Reads only the measured results of a stored run, and skips its scenario. This takes half as
    /// long as reading the whole line. `None` if the line is unreadable.
    pub(super) fn read(line: &[u8]) -> Option<RunFindings> {
        let mut line: Line<IgnoredAny> = serde_json::from_slice(line).ok()?;
        line.findings()
    }
}

impl<S> Line<S> {
    fn findings(&mut self) -> Option<RunFindings> {
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
        Some(RunFindings {
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

/// Key of a run: the first 32 hexadecimal digits of a BLAKE3 digest.
pub fn key(scenario: &Table, input: Option<&str>, replication: u64, build: &str) -> String {
    format!("{:032x}", Keys::of(scenario, input, build).key(replication))
}

/// Keys of all replications of one scenario. The parts that they share are digested once.
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
    pub fn of(scenario: &Table, input: Option<&str>, build: &str) -> Keys {
        let mut hasher = blake3::Hasher::new();
        hasher.update(digested(json(scenario), input).as_bytes());
        Keys { scenario: hasher, rest: format!("\n{MODEL_VERSION}\n{build}\n") }
    }

    /// Store key of a replication, as a number. **O(1)**: the digest of the scenario is reused.
    pub fn key(&self, replication: u64) -> u128 {
        let mut request = self.scenario.clone();
        request.update(format!("{replication}\n").as_bytes());
        let request = short(&request.finalize());
        let key = blake3::hash(format!("{request}{}", self.rest).as_bytes());
        let (half, _) = key.as_bytes().split_at(16);
        u128::from_be_bytes(half.try_into().expect("half of 32 bytes"))
    }
}

/// Digest of scenario, input files and replication. It does not depend on the program's build.
pub(super) fn request(scenario: Value, input: Option<&str>, replication: u64) -> String {
    let text = format!("{}{replication}\n", digested(scenario, input));
    short(&blake3::hash(text.as_bytes()))
}

/// Text of a scenario for its digest, with digests of input files instead of paths.
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

fn short(hash: &blake3::Hash) -> String {
    hash.to_hex()[..32].to_owned()
}

pub fn json(table: &Table) -> Value {
    serde_json::to_value(table).expect("a table has texts for keys")
}

/// Parsed line of `runs.jsonl`. If the scenario is not needed, the type `S` skips its content.
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
    by_owner: BTreeMap<OwnerAttribute, Vec<OwnerFindings>>,
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

fn values(findings: &[RunMetric]) -> Map<String, Value> {
    findings.iter().map(|f| (f.name.clone(), Value::from(f.value))).collect()
}

fn findings(values: &Map<String, Value>) -> Option<Vec<RunMetric>> {
    let finding = |(name, value): (&String, &Value)| {
        let value = if value.is_null() { None } else { Some(value.as_f64()?) };
        Some(RunMetric::new(name, value, Vec::new()))
    };
    values.iter().map(finding).collect()
}

impl StudyRequest {
    /// Adds the input files of a stored run to the record. If a path has several digests, the last
    /// one is kept.
    pub fn learn(&mut self, record: &RunRecord) {
        let Some(input) = &record.input else { return };
        let of = |key: &str| record.scenario.pointer(key).and_then(|path| path.as_str());
        if let Some(path) = of("/workload/path") {
            self.know(path, &input.blake3, &input.path, input.start.clone());
        }
        if let (Some(path), Some(trace)) = (of("/failures/trace"), &input.trace) {
            self.know(path, &trace.blake3, &trace.path, None);
        }
    }
}
