//! JSON form of the summary of a study's results.

use serde_json::{Map, Value as Json, json};

use super::{Difference, Means, OwnerRow, SizeRow, Summary, SummaryRow};
use crate::statistics::{Interval, Method};
use crate::text::swept_json;

impl Summary {
    /// Converts the summary to one JSON object per scenario, with `null` for missing values.
    pub fn json(&self) -> Vec<Json> {
        self.rows.iter().map(SummaryRow::json).collect()
    }
}

impl SummaryRow {
    fn json(&self) -> Json {
        let mut object = Map::new();
        object.insert("scenario".to_owned(), swept_json(&self.swept));
        object.insert("metrics".to_owned(), means_json(&self.metrics));
        object.insert("growing".to_owned(), Json::Bool(self.growing));
        if !self.by_size.is_empty() {
            let class = |own: &SizeRow| json!({ "size": own.size, "jobs": own.jobs, "metrics": means_json(&own.metrics) });
            object.insert("by_size".to_owned(), self.by_size.iter().map(class).collect());
        }
        for (by, classes) in &self.by_owner {
            let class = |own: &OwnerRow| json!({ by.name(): own.name, "jobs": own.jobs, "metrics": means_json(&own.metrics) });
            object.insert(by.key().to_owned(), classes.iter().map(class).collect());
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
