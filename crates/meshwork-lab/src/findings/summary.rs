//! Means with intervals, by scenario; differences from a baseline; the tables they make.
//!
//! Every table is tidy: one row for each scenario and metric, so that a column has one meaning.
//!
//! | file | columns, after those of the swept keys |
//! |---|---|
//! | `summary.csv` | `metric, mean, half_width, replications, method` |
//! | `by_size.csv` | `size, jobs, metric, mean, half_width, replications` |
//! | `by_user.csv` | `user, jobs, metric, mean, half_width, replications` |
//! | `by_group.csv` | `group, jobs, metric, mean, half_width, replications` |
//! | `comparison.csv` | `compared, baseline, metric, difference, half_width, relative, replications, method` |
//! | `speeds.csv` | `replication, site, speed` |
//! | `failures.csv` | `replication, message` |
//!
//! An empty cell is what was not measured. Half widths are those of 95 % intervals; `method` says where they
//! come from: `replications` with jobs or draws of their own; `windows` of one log, which `replications` then counts;
//! or, of a single run, `batch_means`: batches of jobs that arrived one after the other. Differences are paired,
//! replication by replication, window by window, or batch by batch of the same jobs.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Map, Value as Json, json};
use toml::Value;

use crate::findings::statistics::{
    Interval, Method, half_width_of_batches, half_width_of_windows, interval, mean,
};
use crate::findings::trend::is_growing;
use crate::run::Results;
use crate::run::store::{Findings, OwnerFindings, write_whole};
use crate::study::expand::Point;
use crate::study::{Baseline, Refused, Replications, Study, same};
use crate::visible::visible;

/// A metric and what was found of it.
pub type Means = Vec<(String, Interval)>;

/// One scenario.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The swept keys and their values, as written.
    pub swept: Vec<(String, Value)>,
    /// Each metric, in the order of the list.
    pub metrics: Means,
    /// The jobs of each size, where that was asked for.
    pub by_size: Vec<SizeRow>,
    /// The jobs of each user, where that was asked for.
    pub by_user: Vec<OwnerRow>,
    /// The jobs of each group of users, where that was asked for.
    pub by_group: Vec<OwnerRow>,
    /// The speed of each site, replication by replication, where they were drawn.
    pub speeds: Vec<(u64, Vec<f64>)>,
    /// How it differs from each baseline, where that was asked for.
    pub differences: Vec<Difference>,
    /// Why runs failed: replication and sentence.
    pub failures: Vec<(u64, String)>,
    /// Whether the queue grows over the whole run: see [`trend`](crate::findings::trend).
    pub growing: bool,
    /// Whether its one run stands for all replications, because nothing in them differs.
    pub constant: bool,
}

/// The jobs of one size of one scenario.
#[derive(Clone, Debug, PartialEq)]
pub struct SizeRow {
    /// The size; the largest of its class.
    pub size: u64,
    /// How many of them finished, in all replications together.
    pub jobs: u64,
    /// Their metrics.
    pub metrics: Means,
}

/// The jobs of one user, or of one group, of one scenario.
#[derive(Clone, Debug, PartialEq)]
pub struct OwnerRow {
    /// What the workload calls them; `unknown` for the jobs of which it does not say.
    pub name: String,
    /// How many of their jobs finished, in all replications together.
    pub jobs: u64,
    /// Their metrics.
    pub metrics: Means,
}

/// How one scenario differs from the one that has the baseline's value instead of its own.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// What is compared with what.
    pub baseline: Baseline,
    /// Each metric: this scenario minus the baseline, replication by replication, and the difference
    /// as a share of the baseline's mean.
    pub metrics: Vec<(String, Interval, Option<f64>)>,
}

/// Every scenario of a study, in the order of the sweep.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Summary {
    /// The scenarios.
    pub rows: Vec<Row>,
}

impl Summary {
    /// Groups the runs of a study by scenario.
    #[must_use]
    pub fn of(study: &Study, points: &[Point], results: &Results) -> Summary {
        let findings: Vec<Vec<(u64, &Findings)>> = results
            .runs
            .iter()
            .map(|runs| {
                runs.iter().filter_map(|r| Some((r.replication, r.result.as_ref().ok()?))).collect()
            })
            .collect();
        let rule = Rule::of(study);
        let order = |index: usize| asked_order(&points[index]);
        let rows = points.iter().enumerate().map(|(index, point)| Row {
            swept: point.swept.clone(),
            metrics: in_order(means(&findings[index], rule), &order(index), |(name, _)| name),
            by_size: by_size(&findings[index], rule)
                .into_iter()
                .map(|row| SizeRow {
                    metrics: in_order(row.metrics, &order(index), |(name, _)| name),
                    ..row
                })
                .collect(),
            by_user: by_owner(&findings[index], rule, |findings| &findings.by_user),
            by_group: by_owner(&findings[index], rule, |findings| &findings.by_group),
            speeds: findings[index]
                .iter()
                .filter(|(_, findings)| !findings.speeds.is_empty())
                .map(|(replication, findings)| (*replication, findings.speeds.clone()))
                .collect(),
            differences: study
                .compare
                .iter()
                .filter_map(|baseline| {
                    let against = partner(study, index, baseline)?;
                    Some(Difference {
                        baseline: baseline.clone(),
                        metrics: in_order(
                            differences(
                                (&findings[index], results.is_constant(index)),
                                (&findings[against], results.is_constant(against)),
                                rule,
                            ),
                            &order(index),
                            |(name, ..)| name,
                        ),
                    })
                })
                .collect(),
            failures: results.runs[index]
                .iter()
                .filter_map(|run| Some((run.replication, run.result.as_ref().err()?.clone())))
                .collect(),
            constant: results.is_constant(index),
            growing: {
                let trends = findings[index].iter().filter_map(|(_, found)| found.queue_trend);
                is_growing(&trends.collect::<Vec<f64>>())
            },
        });
        Summary { rows: rows.collect() }
    }

    /// `summary.csv`.
    #[must_use]
    pub fn csv(&self) -> String {
        let columns = ["metric", "mean", "half_width", "replications", "method"];
        self.table(&columns, |row, add| {
            for (name, interval) in &row.metrics {
                add(vec![
                    name.clone(),
                    number(interval.mean),
                    number(interval.half_width),
                    interval.replications.to_string(),
                    method(interval).to_owned(),
                ]);
            }
        })
    }

    /// `by_size.csv`, where that was asked for.
    #[must_use]
    pub fn by_size_csv(&self) -> Option<String> {
        if self.rows.iter().all(|row| row.by_size.is_empty()) {
            return None;
        }
        let columns = ["size", "jobs", "metric", "mean", "half_width", "replications"];
        Some(self.table(&columns, |row, add| {
            for class in &row.by_size {
                for (name, interval) in &class.metrics {
                    add(vec![
                        class.size.to_string(),
                        class.jobs.to_string(),
                        name.clone(),
                        number(interval.mean),
                        number(interval.half_width),
                        interval.replications.to_string(),
                    ]);
                }
            }
        }))
    }

    /// `by_user.csv`, where that was asked for.
    #[must_use]
    pub fn by_user_csv(&self) -> Option<String> {
        self.by_owner_csv("user", |row| &row.by_user)
    }

    /// `by_group.csv`, where that was asked for.
    #[must_use]
    pub fn by_group_csv(&self) -> Option<String> {
        self.by_owner_csv("group", |row| &row.by_group)
    }

    fn by_owner_csv(&self, owner: &str, of: fn(&Row) -> &[OwnerRow]) -> Option<String> {
        if self.rows.iter().all(|row| of(row).is_empty()) {
            return None;
        }
        let columns = [owner, "jobs", "metric", "mean", "half_width", "replications"];
        Some(self.table(&columns, |row, add| {
            for class in of(row) {
                for (name, interval) in &class.metrics {
                    add(vec![
                        class.name.clone(),
                        class.jobs.to_string(),
                        name.clone(),
                        number(interval.mean),
                        number(interval.half_width),
                        interval.replications.to_string(),
                    ]);
                }
            }
        }))
    }

    /// `comparison.csv`, where that was asked for.
    #[must_use]
    pub fn comparison_csv(&self) -> Option<String> {
        if self.rows.iter().all(|row| row.differences.is_empty()) {
            return None;
        }
        let columns = [
            "compared",
            "baseline",
            "metric",
            "difference",
            "half_width",
            "relative",
            "replications",
            "method",
        ];
        Some(self.table(&columns, |row, add| {
            for difference in &row.differences {
                for (name, interval, relative) in &difference.metrics {
                    add(vec![
                        difference.baseline.key.clone(),
                        shown(&difference.baseline.value),
                        name.clone(),
                        number(interval.mean),
                        number(interval.half_width),
                        number(*relative),
                        interval.replications.to_string(),
                        method(interval).to_owned(),
                    ]);
                }
            }
        }))
    }

    /// `speeds.csv`, where speeds were drawn.
    #[must_use]
    pub fn speeds_csv(&self) -> Option<String> {
        if self.rows.iter().all(|row| row.speeds.is_empty()) {
            return None;
        }
        Some(self.table(&["replication", "site", "speed"], |row, add| {
            for (replication, speeds) in &row.speeds {
                for (site, speed) in speeds.iter().enumerate() {
                    add(vec![replication.to_string(), site.to_string(), speed.to_string()]);
                }
            }
        }))
    }

    /// `failures.csv`, where runs failed.
    #[must_use]
    pub fn failures_csv(&self) -> Option<String> {
        if self.rows.iter().all(|row| row.failures.is_empty()) {
            return None;
        }
        Some(self.table(&["replication", "message"], |row, add| {
            for (replication, message) in &row.failures {
                add(vec![replication.to_string(), message.clone()]);
            }
        }))
    }

    /// Writes the tables into a folder, each whole or not at all; one that an earlier study left and
    /// this one has not is removed.
    ///
    /// # Errors
    /// One sentence that names the file.
    pub fn write(&self, folder: &Path) -> Result<(), Refused> {
        let tables = [
            ("summary.csv", Some(self.csv())),
            ("by_size.csv", self.by_size_csv()),
            ("comparison.csv", self.comparison_csv()),
            ("by_user.csv", self.by_user_csv()),
            ("by_group.csv", self.by_group_csv()),
            ("speeds.csv", self.speeds_csv()),
            ("failures.csv", self.failures_csv()),
        ];
        for (name, table) in tables {
            let path = folder.join(name);
            match table {
                Some(text) => write_whole(&path, text.as_bytes()).map_err(Refused)?,
                None => drop(std::fs::remove_file(path)),
            }
        }
        Ok(())
    }

    /// One object for each scenario: the swept keys under `scenario`, and under `metrics` each
    /// metric's `mean`, `half_width`, `replications` and `method`; `null` is what was not measured. `growing`
    /// says whether the queue grows over the whole run. Where they
    /// were asked for, `by_size` and `differences`; where speeds of sites were drawn, `speeds`, a list
    /// for each replication; where runs failed, `failures`.
    #[must_use]
    pub fn json(&self) -> Vec<Json> {
        self.rows.iter().map(Row::json).collect()
    }

    fn table(&self, columns: &[&str], fill: impl Fn(&Row, &mut dyn FnMut(Vec<String>))) -> String {
        let mut writer = csv::Writer::from_writer(Vec::new());
        let keys = self.rows.first().map_or(&[][..], |row| &row.swept[..]);
        let header = keys.iter().map(|(key, _)| visible(key));
        let header = header.chain(columns.iter().copied().map(Cow::Borrowed));
        let to_memory = "a table in memory can always be written";
        writer.write_record(header.map(|name| name.into_owned())).expect(to_memory);
        for row in &self.rows {
            let shown = |(_, value): &(String, Value)| visible(&shown(value)).into_owned();
            let swept: Vec<String> = row.swept.iter().map(shown).collect();
            fill(row, &mut |cells| {
                writer.write_record(swept.iter().chain(&cells)).expect(to_memory);
            });
        }
        String::from_utf8(writer.into_inner().expect(to_memory)).expect("cells are text")
    }
}

impl Row {
    fn json(&self) -> Json {
        let scenario: Map<String, Json> = self
            .swept
            .iter()
            .map(|(key, value)| (key.clone(), serde_json::to_value(value).unwrap_or(Json::Null)))
            .collect();
        let mut object = Map::new();
        object.insert("scenario".to_owned(), Json::Object(scenario));
        object.insert("metrics".to_owned(), means_json(&self.metrics));
        object.insert("growing".to_owned(), Json::Bool(self.growing));
        if !self.by_size.is_empty() {
            let class = |class: &SizeRow| {
                json!({
                    "size": class.size, "jobs": class.jobs, "metrics": means_json(&class.metrics)
                })
            };
            object.insert("by_size".to_owned(), self.by_size.iter().map(class).collect());
        }
        for (key, name, classes) in
            [("by_user", "user", &self.by_user), ("by_group", "group", &self.by_group)]
        {
            let class = |class: &OwnerRow| {
                json!({
                    name: class.name, "jobs": class.jobs, "metrics": means_json(&class.metrics)
                })
            };
            if !classes.is_empty() {
                object.insert(key.to_owned(), classes.iter().map(class).collect());
            }
        }
        if !self.speeds.is_empty() {
            let speeds: Vec<&Vec<f64>> = self.speeds.iter().map(|(_, speeds)| speeds).collect();
            object.insert("speeds".to_owned(), json!(speeds));
        }
        if !self.differences.is_empty() {
            object.insert(
                "differences".to_owned(),
                self.differences.iter().map(Difference::json).collect(),
            );
        }
        if !self.failures.is_empty() {
            let failure = |(replication, message): &(u64, String)| json!({ "replication": replication, "message": message });
            object.insert("failures".to_owned(), self.failures.iter().map(failure).collect());
        }
        Json::Object(object)
    }
}

impl Difference {
    fn json(&self) -> Json {
        let metrics: Map<String, Json> = self
            .metrics
            .iter()
            .map(|(name, interval, relative)| {
                let value = json!({
                    "difference": interval.mean,
                    "half_width": interval.half_width,
                    "relative": relative,
                    "replications": interval.replications,
                    "method": interval.method.map(Method::name),
                });
                (name.clone(), value)
            })
            .collect();
        let baseline = serde_json::to_value(&self.baseline.value).unwrap_or(Json::Null);
        json!({ "compared": self.baseline.key, "baseline": baseline, "metrics": metrics })
    }
}

/// A value of a study as a cell or a label: texts without their quotes, all else as TOML.
///
/// ```
/// use meshwork_lab::findings::summary::shown;
/// assert_eq!(shown(&toml::Value::from("fcfs")), "fcfs");
/// assert_eq!(shown(&toml::Value::from(0.1)), "0.1");
/// ```
#[must_use]
pub fn shown(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// A scenario in words, for messages: its swept keys and their values.
#[must_use]
pub fn label(swept: &[(String, Value)]) -> String {
    let words: Vec<String> =
        swept.iter().map(|(key, value)| format!("{key} = {}", shown(value))).collect();
    words.join(", ")
}

fn number(value: Option<f64>) -> String {
    value.map_or_else(String::new, |value| value.to_string())
}

fn means_json(means: &Means) -> Json {
    let value = |interval: &Interval| {
        json!({
            "mean": interval.mean,
            "half_width": interval.half_width,
            "replications": interval.replications,
            "method": interval.method.map(Method::name),
        })
    };
    Json::Object(means.iter().map(|(name, interval)| (name.clone(), value(interval))).collect())
}

fn method(interval: &Interval) -> &'static str {
    interval.method.map_or("", Method::name)
}

/// The metrics that a study names, in its order; nothing where it names none.
fn asked_order(point: &Point) -> Vec<String> {
    let names = point.scenario.table()["measure"].get("metrics").and_then(Value::as_array);
    let text = |name: &Value| name.as_str().map(str::to_owned);
    names.into_iter().flatten().filter_map(text).collect()
}

/// Metrics in the order in which the study names them; those that it does not name come last, as they are.
fn in_order<T>(mut metrics: Vec<T>, order: &[String], name: impl Fn(&T) -> &String) -> Vec<T> {
    let place = |metric: &T| order.iter().position(|own| own == name(metric));
    metrics.sort_by_key(|metric| place(metric).unwrap_or(order.len()));
    metrics
}

/// How an interval over replications is made.
#[derive(Clone, Copy)]
enum Rule {
    /// They are independent.
    Replications,
    /// They are windows of a log, the next of which begins after this share of one.
    Windows(f64),
}

impl Rule {
    fn of(study: &Study) -> Rule {
        match study.replications {
            Replications::Windows { length, stride } => Rule::Windows(stride / length),
            _ => Rule::Replications,
        }
    }

    /// An interval of these values; where there is one and it has batches, theirs.
    fn interval(self, values: &[f64], batches: &[f64]) -> Interval {
        let Rule::Windows(stride) = self else { return interval(values, batches) };
        let half_width = half_width_of_windows(values, stride);
        let method = half_width.is_some().then_some(Method::Windows);
        Interval { mean: mean(values), half_width, replications: values.len() as u64, method }
    }
}

fn means(findings: &[(u64, &Findings)], rule: Rule) -> Means {
    let Some((_, first)) = findings.first() else { return Vec::new() };
    let of = |name: &str| {
        let measured: Vec<_> = findings
            .iter()
            .filter_map(|(_, findings)| findings.metric(name).filter(|f| f.value.is_some()))
            .collect();
        let values: Vec<f64> = measured.iter().filter_map(|finding| finding.value).collect();
        // Batches speak for a run only where it is the only one.
        let batches = if findings.len() == 1 {
            measured.first().map_or(&[][..], |finding| &finding.batches[..])
        } else {
            &[]
        };
        rule.interval(&values, batches)
    };
    first.metrics.iter().map(|finding| (finding.name.clone(), of(&finding.name))).collect()
}

fn by_size(findings: &[(u64, &Findings)], rule: Rule) -> Vec<SizeRow> {
    // A size that no job of a replication had says nothing in that replication.
    let mut classes: BTreeMap<u64, Vec<&crate::run::store::SizeFindings>> = BTreeMap::new();
    for (_, findings) in findings {
        for class in &findings.by_size {
            classes.entry(class.size).or_default().push(class);
        }
    }
    let row = |(size, classes): (u64, Vec<&crate::run::store::SizeFindings>)| {
        let of = |name: &str| {
            let values: Vec<f64> = classes
                .iter()
                .filter_map(|class| class.metrics.iter().find(|f| f.name == name)?.value)
                .collect();
            rule.interval(&values, &[])
        };
        SizeRow {
            size,
            jobs: classes.iter().map(|class| class.jobs).sum(),
            metrics: classes[0].metrics.iter().map(|f| (f.name.clone(), of(&f.name))).collect(),
        }
    };
    classes.into_iter().map(row).collect()
}

/// The jobs of each user or group, in the order in which the runs have them, those of nobody known last.
fn by_owner(
    findings: &[(u64, &Findings)],
    rule: Rule,
    of: fn(&Findings) -> &[OwnerFindings],
) -> Vec<OwnerRow> {
    let number = |name: &str| name.parse::<u64>().unwrap_or(u64::MAX);
    let mut classes: BTreeMap<_, Vec<&OwnerFindings>> = BTreeMap::new();
    for class in findings.iter().flat_map(|(_, findings)| of(findings)) {
        let name = class.name.as_deref();
        let key = (name.is_none(), name.map_or(u64::MAX, number), name);
        classes.entry(key).or_default().push(class);
    }
    let row = |((_, _, name), classes): ((_, _, Option<&str>), Vec<&OwnerFindings>)| {
        let mean = |metric: usize| {
            let value = |class: &&OwnerFindings| class.metrics.get(metric)?.1;
            rule.interval(&classes.iter().filter_map(value).collect::<Vec<f64>>(), &[])
        };
        let metrics = classes[0].metrics.iter().enumerate();
        OwnerRow {
            name: name.unwrap_or("unknown").to_owned(),
            jobs: classes.iter().map(|class| class.jobs).sum(),
            metrics: metrics.map(|(i, (name, _))| (name.clone(), mean(i))).collect(),
        }
    };
    classes.into_iter().map(row).collect()
}

/// The scenario that has the baseline's value where this one has another, and is else the same.
/// Scenarios stand in the order of the cross product, so its index is a matter of strides.
fn partner(study: &Study, index: usize, baseline: &Baseline) -> Option<usize> {
    let at = study.sweep.iter().position(|axis| axis.key == baseline.key)?;
    let stride: usize = study.sweep[at + 1..].iter().map(|axis| axis.values.len()).product();
    let values = &study.sweep[at].values;
    let ours = index / stride % values.len();
    if same(&values[ours], &baseline.value) {
        return None;
    }
    let theirs = values.iter().position(|value| same(value, &baseline.value))?;
    Some(index - ours * stride + theirs * stride)
}

/// Each metric of one scenario minus that of another, by their indices, run by run.
#[must_use]
pub(crate) fn paired(
    study: &Study,
    results: &Results,
    ours: usize,
    theirs: usize,
) -> Vec<(String, Interval, Option<f64>)> {
    let findings = |scenario: usize| -> Vec<(u64, &Findings)> {
        let runs = results.runs.get(scenario).into_iter().flatten();
        runs.filter_map(|run| Some((run.replication, run.result.as_ref().ok()?))).collect()
    };
    differences(
        (&findings(ours), results.is_constant(ours)),
        (&findings(theirs), results.is_constant(theirs)),
        Rule::of(study),
    )
}

/// Runs of a scenario, and whether the one that there is stands for all replications.
type Side<'a> = (&'a [(u64, &'a Findings)], bool);

fn differences(
    (ours, ours_constant): Side<'_>,
    (baseline, baseline_constant): Side<'_>,
    rule: Rule,
) -> Vec<(String, Interval, Option<f64>)> {
    let Some((_, first)) = ours.first() else { return Vec::new() };
    // A run that stands for all replications is that of each.
    let pairs: Vec<(&Findings, &Findings)> = match (ours, baseline) {
        ([(_, one)], _) if ours_constant => baseline.iter().map(|(_, b)| (*one, *b)).collect(),
        (_, [(_, one)]) if baseline_constant => ours.iter().map(|(_, a)| (*a, *one)).collect(),
        _ => {
            let partner = |(replication, _): &(u64, &'_ Findings)| {
                baseline.iter().find(|(other, _)| other == replication).map(|(_, b)| *b)
            };
            ours.iter().filter_map(|run| Some((run.1, partner(run)?))).collect()
        }
    };
    // Of one log, batches of the same jobs tell more than what the strategies of one side draw.
    let by_batches = ours_constant || baseline_constant || pairs.len() == 1;
    let of = |name: &str| {
        let value = |findings: &Findings| findings.metric(name).and_then(|finding| finding.value);
        let measured: Vec<(f64, f64)> =
            pairs.iter().filter_map(|(a, b)| Some((value(a)?, value(b)?))).collect();
        let values: Vec<f64> = measured.iter().map(|(a, b)| a - b).collect();
        let base: Vec<f64> = measured.iter().map(|(_, b)| *b).collect();
        let difference = match pairs.first().filter(|_| by_batches) {
            Some((a, b)) if matches!(rule, Rule::Replications) => {
                let half_width = half_width_of_batches(&paired_batches(a, b, name));
                let method = half_width.is_some().then_some(Method::BatchMeans);
                let replications = values.len() as u64;
                Interval { mean: mean(&values), half_width, replications, method }
            }
            _ => rule.interval(&values, &[]),
        };
        let relative = match (difference.mean, mean(&base)) {
            (Some(difference), Some(base)) if base.abs() > 0.0 => Some(difference / base),
            _ => None,
        };
        (difference, relative)
    };
    let metrics = first.metrics.iter().map(|finding| {
        let (difference, relative) = of(&finding.name);
        (finding.name.clone(), difference, relative)
    });
    metrics.collect()
}

/// The differences of a metric between two runs on the same jobs, batch by batch of those jobs.
///
/// One run may have met so many jobs more that its batches were merged once more: those of the other are then merged
/// alike. Batches that only one of them has are left out.
fn paired_batches(ours: &Findings, theirs: &Findings, name: &str) -> Vec<f64> {
    let jobs = ours.batch_jobs.max(theirs.batch_jobs);
    let batches = |findings: &Findings| -> BTreeMap<u64, f64> {
        let Some(finding) = findings.metric(name) else { return BTreeMap::new() };
        if findings.batch_jobs == 0 {
            return BTreeMap::new();
        }
        let each = jobs / findings.batch_jobs;
        let mut merged: BTreeMap<u64, (f64, u64)> = BTreeMap::new();
        for (index, value) in (findings.first_batch..).zip(&finding.batches) {
            let (sum, count) = merged.entry(index / each).or_default();
            *sum += value;
            *count += 1;
        }
        let whole = merged.into_iter().filter(|(_, (_, count))| *count == each);
        whole.map(|(index, (sum, count))| (index, sum / count as f64)).collect()
    };
    let (ours, theirs) = (batches(ours), batches(theirs));
    ours.iter().filter_map(|(index, a)| Some(a - theirs.get(index)?)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::Run;
    use crate::run::store::{Finding, SizeFindings};

    const STUDY: &str = "[machine]\ntopology = 'flat'\nprocessors = 4\n\
        [workload]\nname = 'synthetic'\nsizes = 'uniform'\n\
        runtimes = { name = 'exponential', mean = 5.0 }\n[measure]\njobs = 10\n\
        [sweep]\nscheduler = ['fcfs', { name = 'sjf' }]\n'workload.load' = [0.5, 1]\n\
        [compare]\nscheduler = 'fcfs'\n";

    fn findings(wait: Option<f64>) -> Findings {
        let finding = |name: &str, value, batches: &[f64]| Finding {
            name: name.to_owned(),
            value,
            batches: batches.to_vec(),
        };
        Findings {
            metrics: vec![finding("wait", wait, &[4.0, 8.0]), finding("throughput", None, &[])],
            by_size: vec![SizeFindings {
                size: 16,
                jobs: 2,
                metrics: vec![finding("wait", wait, &[])],
            }],
            by_user: [(Some("10"), 3), (Some("9"), 1), (None, 2)]
                .map(|(name, jobs)| OwnerFindings {
                    name: name.map(str::to_owned),
                    jobs,
                    metrics: vec![("wait".to_owned(), wait)],
                })
                .to_vec(),
            by_group: vec![],
            finished: 1,
            refused: 0,
            unusable: 0,
            end: 1.0,
            speeds: vec![],
            batch_jobs: 0,
            first_batch: 0,
            queue_trend: None,
        }
    }

    fn summary(waits: [&[Result<Option<f64>, &str>]; 4]) -> Summary {
        let study = Study::parse("a.toml", STUDY, Path::new(""), &[]).unwrap();
        let points = crate::study::expand::expand(&study).unwrap();
        let run = |(i, result): (usize, &Result<Option<f64>, &str>)| Run {
            key: String::new(),
            replication: i as u64,
            result: result.map(findings).map_err(str::to_owned),
        };
        let runs = waits.iter().map(|waits| waits.iter().enumerate().map(run).collect()).collect();
        Summary::of(&study, &points, &Results { runs, ..Results::default() })
    }

    fn example() -> Summary {
        summary([
            &[Ok(Some(10.0)), Ok(Some(20.0)), Ok(Some(30.0))],
            &[Ok(Some(5.0))],
            &[Ok(Some(9.0)), Err("no log"), Ok(Some(27.0))],
            &[Ok(None)],
        ])
    }

    #[test]
    fn a_summary_by_hand() {
        let text = example().csv();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "scheduler,workload.load,metric,mean,half_width,replications,method");
        // 10, 20, 30: s = 10, t(2) = 4.3027, half width 24.84.
        assert!(lines[1].starts_with("fcfs,0.5,wait,20,24.84"), "{}", lines[1]);
        assert!(lines[1].ends_with(",3,replications"));
        assert_eq!(lines[2], "fcfs,0.5,throughput,,,0,");
        // One run with batches 4 and 8: t(1) × 2 = 25.41.
        assert!(lines[3].starts_with("fcfs,1,wait,5,25.41"), "{}", lines[3]);
        assert!(lines[3].ends_with(",1,batch_means"));
        // 9, 27: mean 18, half width 12.706 × 9 = 114.36.
        assert!(
            lines[5].starts_with("\"{ name = \"\"sjf\"\" }\",0.5,wait,18,114.3"),
            "{}",
            lines[5]
        );
        assert!(lines[7].ends_with(",1,wait,,,0,"), "{}", lines[7]);
        assert_eq!(lines.len(), 9);
    }

    #[test]
    fn differences_are_paired_by_hand() {
        let summary = example();
        assert!(summary.rows[0].differences.is_empty(), "the baseline is not compared with itself");
        let difference = &summary.rows[2].differences[0];
        let (name, interval, relative) = &difference.metrics[0];
        // Replications 0 and 2 are in both: −1 and −3, mean −2, half width 12.706 × 1; the baseline
        // has 10 and 30 there.
        assert_eq!((name.as_str(), interval.mean, interval.replications), ("wait", Some(-2.0), 2));
        assert!((interval.half_width.unwrap() - 12.706_204_736).abs() < 1e-6);
        assert_eq!(*relative, Some(-0.1));
        let text = summary.comparison_csv().unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(
            lines[0],
            "scheduler,workload.load,compared,baseline,metric,difference,half_width,relative,replications,method"
        );
        assert!(lines[1].contains(",scheduler,fcfs,wait,-2,12.706"), "{}", lines[1]);
        assert!(lines[1].ends_with(",2,replications"), "{}", lines[1]);
        assert!(lines[3].ends_with(",1,scheduler,fcfs,wait,,,,0,"), "{}", lines[3]);
    }

    #[test]
    fn a_partner_differs_in_the_compared_key_alone() {
        let text = format!(
            "{}seed = [1, 2, 3]\n[compare]\n'workload.load' = 1.0\nscheduler = 'fcfs'\n",
            STUDY.split("[compare]").next().unwrap()
        );
        let study = Study::parse("a.toml", &text, Path::new(""), &[]).unwrap();
        let points = crate::study::expand::expand(&study).unwrap();
        for baseline in &study.compare {
            for (index, point) in points.iter().enumerate() {
                let fits = |other: &Point| {
                    other.swept.iter().zip(&point.swept).all(|((key, theirs), (_, ours))| {
                        let is_compared = *key == baseline.key;
                        let wanted = if is_compared { &baseline.value } else { ours };
                        same(theirs, wanted) && !(is_compared && same(ours, wanted))
                    })
                };
                let searched = points.iter().position(fits);
                assert_eq!(partner(&study, index, baseline), searched, "{index}");
            }
        }
    }

    #[test]
    fn sizes_are_gathered_over_replications() {
        let row = &example().rows[0].by_size[0];
        assert_eq!((row.size, row.jobs, row.metrics[0].1.mean), (16, 6, Some(20.0)));
        assert_eq!(row.metrics[0].1.replications, 3);
        assert!(example().by_size_csv().unwrap().starts_with(
            "scheduler,workload.load,size,jobs,metric,mean,half_width,replications\nfcfs,0.5,16,6,wait,20,"
        ));
    }

    #[test]
    fn users_are_gathered_over_replications_in_the_order_of_their_numbers() {
        let text = example().by_user_csv().unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(
            lines[0],
            "scheduler,workload.load,user,jobs,metric,mean,half_width,replications"
        );
        let begin =
            ["fcfs,0.5,9,3,wait,20,", "fcfs,0.5,10,9,wait,20,", "fcfs,0.5,unknown,6,wait,20,"];
        for (line, begin) in lines[1..].iter().zip(begin) {
            assert!(line.starts_with(begin), "{line}");
        }
        assert_eq!(example().by_group_csv(), None);
        assert_eq!(example().json()[0]["by_user"][0]["user"], json!("9"));
    }

    #[test]
    fn json_has_null_for_what_was_not_measured() {
        let json = example().json();
        assert_eq!(json[1]["scenario"], json!({ "scheduler": "fcfs", "workload.load": 1 }));
        assert_eq!(
            json[1]["metrics"]["throughput"],
            json!({ "mean": null, "half_width": null, "replications": 0, "method": null })
        );
        assert_eq!(json[1]["metrics"]["wait"]["mean"], json!(5.0));
        assert_eq!(json[2]["failures"], json!([{ "replication": 1, "message": "no log" }]));
        assert_eq!(json[2]["differences"][0]["metrics"]["wait"]["relative"], json!(-0.1));
        assert!(json[0].get("differences").is_none() && json[0].get("failures").is_none());
    }

    #[test]
    fn tables_are_written_whole() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("summary.csv"), "old").unwrap();
        example().write(folder.path()).unwrap();
        let text = std::fs::read_to_string(folder.path().join("summary.csv")).unwrap();
        assert_eq!(text, example().csv());
        let failures = std::fs::read_to_string(folder.path().join("failures.csv")).unwrap();
        assert_eq!(failures, example().failures_csv().unwrap());
        assert!(failures.ends_with(",1,no log\n"), "{failures}");
        let files = std::fs::read_dir(folder.path()).unwrap().count();
        assert_eq!(files, 5, "five tables, and nothing temporary");
    }
}
