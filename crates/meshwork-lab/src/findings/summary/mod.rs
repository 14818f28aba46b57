//! Means with intervals by scenario, differences from a baseline, and their tables.
//!
//! Files, with their columns after those of the swept keys:
//!
//! - `summary.csv`: `metric, mean, half_width, replications, method`
//! - `by_size.csv`: `size, jobs, metric, mean, half_width, replications`
//! - `by_user.csv`: `user, jobs, metric, mean, half_width, replications`
//! - `by_group.csv`: `group, jobs, metric, mean, half_width, replications`
//! - `by_application.csv`: `application, jobs, metric, mean, half_width, replications`
//! - `by_queue.csv`: `queue, jobs, metric, mean, half_width, replications`
//! - `by_partition.csv`: `partition, jobs, metric, mean, half_width, replications`
//! - `comparison.csv`: `compared, baseline, metric, difference, half_width, relative, replications,
//!   method`
//! - `speeds.csv`: `replication, site, speed`
//! - `failures.csv`: `replication, message`
//!
//! An empty cell means that nothing was measured. Half widths are those of 95 % intervals. The
//! column `method` says whether an interval is computed from `replications`, from `windows` of one
//! log, or by `batch_means` from batches of consecutive jobs of a single run. Differences are
//! paired by replication, by window, or by batch of the same jobs.

mod json;
mod tables;

use std::collections::BTreeMap;
use std::path::Path;

use meshwork::observe::recorder::OwnerAttribute;
use toml::Value;

use crate::files::write_whole;
use crate::findings::columns::Meanings;
use crate::findings::differences::{paired, partner, refuse_alike};
use crate::findings::means::{Rule, by_owner, by_size, means};
use crate::run::Results;
use crate::statistics::Interval;
use crate::statistics::trend::is_growing;
use crate::study::expand::{Point, measured};
use crate::study::{Baseline, Refused, Study};

pub type Means = Vec<(String, Interval)>;

#[derive(Clone, Debug, PartialEq)]
pub struct SummaryRow {
    pub swept: Vec<(String, Value)>,
    /// Metrics with their intervals. Metrics that the study names come first.
    pub metrics: Means,
    pub by_size: Vec<SizeRow>,
    /// Results for each owner of jobs. The key is a kind of owner that the study requests, such as
    /// user or group.
    pub by_owner: BTreeMap<OwnerAttribute, Vec<OwnerRow>>,
    pub speeds: Vec<(u64, Vec<f64>)>,
    pub differences: Vec<Difference>,
    pub failures: Vec<(u64, String)>,
    pub growing: bool,
    /// Whether all replications of the scenario are identical, so that only one of them is run.
    pub constant: bool,
}

impl SummaryRow {
    pub fn owners(&self, by: OwnerAttribute) -> &[OwnerRow] {
        self.by_owner.get(&by).map_or(&[], |owners| owners)
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct SizeRow {
    pub size: u64,
    pub jobs: u64,
    pub metrics: Means,
}

#[derive(Clone, Debug, PartialEq)]
pub struct OwnerRow {
    /// Name of the owner in the workload; `unknown` for jobs whose owner is unknown.
    pub name: String,
    pub jobs: u64,
    pub metrics: Means,
}

/// Differences of a scenario from the baseline scenario, which differs only in the compared key.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    pub baseline: Baseline,
    /// For each metric, its name, its difference from the baseline, and the relative difference.
    /// The latter is a fraction of the baseline's mean.
    pub metrics: Vec<(String, Interval, Option<f64>)>,
    /// Whether both scenarios refused equally many jobs in every run. If they did not, no
    /// difference is called significant.
    pub same_jobs: bool,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Summary {
    pub rows: Vec<SummaryRow>,
    pub meanings: Meanings,
}

impl Summary {
    pub fn of(study: &Study, points: &[Point], results: &Results) -> Summary {
        let rule = Rule::of(study);
        let order = |index: usize| measured(&points[index].scenario).unwrap_or_default();
        let runs = |index: usize| &results.runs[index];
        let rows = points.iter().enumerate().map(|(index, point)| SummaryRow {
            swept: point.swept.clone(),
            metrics: in_order(means(runs(index), rule), &order(index), |(name, _)| name),
            by_size: by_size(runs(index), rule)
                .into_iter()
                .map(|row| SizeRow {
                    metrics: in_order(row.metrics, &order(index), |(name, _)| name),
                    ..row
                })
                .collect(),
            by_owner: runs(index)
                .owners()
                .map(|(by, classes)| (by, by_owner(classes, rule)))
                .collect(),
            speeds: runs(index).speeds().map(|(at, speeds)| (at, speeds.to_vec())).collect(),
            differences: study
                .compare
                .iter()
                .filter_map(|baseline| {
                    let against = partner(study, index, baseline)?;
                    Some(Difference {
                        baseline: baseline.clone(),
                        same_jobs: refuse_alike(results, index, against),
                        metrics: in_order(
                            paired(study, results, index, against),
                            &order(index),
                            |(name, ..)| name,
                        ),
                    })
                })
                .collect(),
            failures: runs(index).failures().map(|(at, why)| (at, why.to_owned())).collect(),
            constant: results.is_constant(index),
            growing: is_growing(&runs(index).trends()),
        });
        Summary { rows: rows.collect(), meanings: Meanings::of(&study.catalogue) }
    }

    /// Writes the tables of the study, each atomically.
    ///
    /// Tables of an earlier study that this study does not have are removed.
    pub fn write(&self, folder: &Path) -> Result<(), Refused> {
        let by_owner =
            OwnerAttribute::ALL.map(|by| (format!("{}.csv", by.key()), self.by_owner_csv(by)));
        let tables = [
            ("summary.csv", Some(self.csv())),
            ("by_size.csv", self.by_size_csv()),
            ("comparison.csv", self.comparison_csv()),
            ("speeds.csv", self.speeds_csv()),
            ("failures.csv", self.failures_csv()),
        ];
        let tables = tables.map(|(name, table)| (name.to_owned(), table));
        for (name, table) in tables.into_iter().chain(by_owner) {
            let path = folder.join(name);
            match table {
                Some(text) => write_whole(&path, text.as_bytes())?,
                None => drop(std::fs::remove_file(path)),
            }
        }
        Ok(())
    }
}

/// Sorts metrics into the order in which the study names them. All other metrics follow in their
/// present order.
fn in_order<T>(mut metrics: Vec<T>, order: &[&str], name: impl Fn(&T) -> &String) -> Vec<T> {
    let place = |metric: &T| order.iter().position(|own| own == name(metric));
    metrics.sort_by_key(|metric| place(metric).unwrap_or(order.len()));
    metrics
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::run::Run;
    use crate::run::store::{OwnerFindings, RunFindings, RunMetric, SizeFindings};
    use crate::study::same;

    const STUDY: &str = "[machine]\ntopology = 'flat'\nprocessors = 4\n\
        [workload]\nname = 'synthetic'\nsizes = 'uniform'\n\
        runtimes = { name = 'exponential', mean = 5.0 }\n[measure]\njobs = 10\n\
        [sweep]\nscheduler = ['fcfs', { name = 'sjf' }]\n'workload.load' = [0.5, 1]\n\
        [compare]\nscheduler = 'fcfs'\n";

    fn findings(wait: Option<f64>) -> RunFindings {
        let waits = |batches| RunMetric::new("wait", wait, batches);
        RunFindings {
            metrics: vec![waits(vec![4.0, 8.0]), RunMetric::new("throughput", None, vec![])],
            by_size: vec![SizeFindings { size: 16, jobs: 2, metrics: vec![waits(vec![])] }],
            by_owner: BTreeMap::from([(
                OwnerAttribute::User,
                [(Some("10"), 3), (Some("9"), 1), (None, 2)]
                    .map(|(name, jobs)| OwnerFindings {
                        name: name.map(str::to_owned),
                        jobs,
                        metrics: vec![("wait".to_owned(), wait)],
                    })
                    .to_vec(),
            )]),
            finished: 1,
            end: 1.0,
            ..RunFindings::default()
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
        // Values 10, 20 and 30: s = 10, t(2) = 4.3027, half width 24.84.
        assert!(lines[1].starts_with("fcfs,0.5,wait,20,24.84"), "{}", lines[1]);
        assert!(lines[1].ends_with(",3,replications"));
        assert_eq!(lines[2], "fcfs,0.5,throughput,,,0,");
        // One run with the batches 4 and 8: t(1) × 2 = 25.41.
        assert!(lines[3].starts_with("fcfs,1,wait,5,25.41"), "{}", lines[3]);
        assert!(lines[3].ends_with(",1,batch_means"));
        // Values 9 and 27: mean 18, half width 12.706 × 9 = 114.36.
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
        // Replications 0 and 2 are in both: −1 and −3, with the half width 12.706 × 1.
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
        let text = example().by_owner_csv(OwnerAttribute::User).unwrap();
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
        assert_eq!(example().by_owner_csv(OwnerAttribute::Group), None);
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
