use std::borrow::Cow;

use meshwork::observe::recorder::OwnerAttribute;
use toml::Value;

use super::{Means, OwnerRow, Summary, SummaryRow};
use crate::statistics::{Interval, Method};
use crate::text::shown;
use crate::text::visible::visible;
use meshwork_slurm::cell::written;

/// Results of a class of jobs, such as all jobs of one user: its name, number of jobs and metrics.
type Class<'a> = (String, u64, &'a Means);

fn owners(rows: &[OwnerRow]) -> Vec<Class<'_>> {
    rows.iter().map(|one| (one.name.clone(), one.jobs, &one.metrics)).collect()
}

impl Summary {
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

    pub fn by_size_csv(&self) -> Option<String> {
        self.by_class_csv("size", |row| {
            row.by_size.iter().map(|one| (one.size.to_string(), one.jobs, &one.metrics)).collect()
        })
    }

    pub fn by_owner_csv(&self, by: OwnerAttribute) -> Option<String> {
        self.by_class_csv(by.name(), |row| owners(row.owners(by)))
    }

    fn by_class_csv(
        &self,
        class: &str,
        of: impl Fn(&SummaryRow) -> Vec<Class<'_>>,
    ) -> Option<String> {
        if self.rows.iter().all(|row| of(row).is_empty()) {
            return None;
        }
        let columns = [class, "jobs", "metric", "mean", "half_width", "replications"];
        Some(self.table(&columns, |row, add| {
            for (class, jobs, metrics) in of(row) {
                for (name, interval) in metrics {
                    add(vec![
                        class.clone(),
                        jobs.to_string(),
                        name.clone(),
                        number(interval.mean),
                        number(interval.half_width),
                        interval.replications.to_string(),
                    ]);
                }
            }
        }))
    }

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

    fn table(
        &self,
        columns: &[&str],
        fill: impl Fn(&SummaryRow, &mut dyn FnMut(Vec<String>)),
    ) -> String {
        let mut writer = csv::Writer::from_writer(Vec::new());
        let keys = self.rows.first().map_or(&[][..], |row| &row.swept[..]);
        let header = keys.iter().map(|(key, _)| visible(key));
        let header = header.chain(columns.iter().copied().map(Cow::Borrowed));
        let to_memory = "a table in memory can always be written";
        writer.write_record(header.map(|name| written(&name).into_owned())).expect(to_memory);
        for row in &self.rows {
            let shown = |(_, value): &(String, Value)| visible(&shown(value)).into_owned();
            let swept: Vec<String> = row.swept.iter().map(shown).collect();
            fill(row, &mut |cells| {
                let cells = swept.iter().chain(&cells).map(|cell| written(cell).into_owned());
                writer.write_record(cells).expect(to_memory);
            });
        }
        String::from_utf8(writer.into_inner().expect(to_memory)).expect("cells are text")
    }
}

fn number(value: Option<f64>) -> String {
    value.map_or_else(String::new, |value| value.to_string())
}

fn method(interval: &Interval) -> &'static str {
    interval.method.map_or("", Method::name)
}
