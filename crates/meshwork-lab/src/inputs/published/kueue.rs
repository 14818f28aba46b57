//! Reads the workloads of Kueue from JSON, as rows of a published trace.

use std::collections::BTreeMap;

use meshwork::workload::table::Cell;

use super::Recognized;
use meshwork_slurm::kueue::Snapshots;

/// Reads a snapshot of Kueue. Each admission of a workload becomes a row. The pod sets of an
/// admission become the roles of the job.
pub(super) fn read(path: &str, text: &str) -> Result<Recognized, String> {
    let snapshots = Snapshots::read(&[(path, text)]).map_err(|problem| problem.to_string())?;
    let history = snapshots.history().map_err(|problem| problem.to_string())?.history;
    let pods: BTreeMap<String, (String, Option<&str>)> = snapshots.pods().into_iter().collect();
    // A table of jobs has priorities from 0 to 1.
    let priorities = || history.stays.iter().filter_map(|stay| stay.priority);
    let (least, most) = (priorities().min().unwrap_or(0).min(0), priorities().max().unwrap_or(0));
    let scaled = |own: i64| (own - least) as f64 / (most - least).max(1) as f64;
    let rows = history.stays.iter().map(|stay| (stay.line as u64, stay));
    Ok(Recognized::of_json("podSets", rows, |stay, column| {
        let number = |second: Option<i64>| second.map(|second| Cell::Number(second as f64));
        let text = |text: &str| Some(Cell::Text(text.to_owned().into()));
        let (roles, inside) = pods.get(&stay.id).cloned().unwrap_or_default();
        match column {
            "creationTimestamp" => number(stay.submit),
            "Admitted" => number(stay.start),
            "Finished" => number(stay.end),
            "maximumExecutionTimeSeconds" => number(stay.limit),
            "namespace" => text(&stay.account),
            "queueName" => text(&stay.qos),
            "podSets" => text(&roles),
            "topologyRequest" => inside.and_then(text),
            "priority" => stay.priority.map(|own| Cell::Number(scaled(own))),
            _ => None,
        }
    }))
}
