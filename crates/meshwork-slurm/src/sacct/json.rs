//! Converts the output of `sacct --json` to the table that `sacct -P` prints.

use std::fmt::Write;

use serde_json::Value as Json;

use crate::FileProblem;

const COLUMNS: &str = "JobIDRaw|JobID|User|Account|Partition|QOS|Submit|Eligible|Start|End|\
    State|TimelimitRaw|NNodes|ReqNodes|NodeList|Reason|AllocTRES|ReqTRES|Priority|Flags|\
    Suspended|Constraints|SubmitLine";

/// Text of the field at a path of keys. Newer versions of Slurm write numbers as objects.
pub fn field(own: &Json, path: &[&str]) -> String {
    let own = path.iter().try_fold(own, |own, key| own.get(key));
    match own {
        Some(Json::String(text)) => text.clone(),
        Some(Json::Number(number)) => number.to_string(),
        Some(Json::Array(all)) => {
            all.iter().map(|one| field(one, &[])).collect::<Vec<String>>().join(",")
        }
        Some(Json::Object(number)) => match (number.get("set"), number.get("infinite")) {
            (Some(Json::Bool(true)), infinite) if infinite != Some(&Json::Bool(true)) => {
                field(own.unwrap_or(&Json::Null), &["number"])
            }
            _ => String::new(),
        },
        _ => String::new(),
    }
}

pub fn jobs(file: &str, text: &str) -> Result<Vec<Json>, FileProblem> {
    let whole: Json = serde_json::from_str(text).map_err(|error| {
        FileProblem::at(file, error.line(), format!("this is no JSON: {error}"))
    })?;
    match whole.get("jobs") {
        Some(Json::Array(jobs)) => Ok(jobs.clone()),
        _ => Err(FileProblem::of(
            file,
            "there is no list `jobs`, in which `sacct --json` and `squeue --json` have all records",
        )),
    }
}

/// Text of a time or a count; empty for 0, which stands for no value.
fn positive(text: &str) -> &str {
    if text == "0" { "" } else { text }
}

/// Formats seconds as `sacct -P` does, because a plain number would mean minutes.
fn suspended(seconds: &str) -> String {
    let own: u64 = seconds.parse().unwrap_or(0);
    format!("{:02}:{:02}:{:02}", own / 3_600, own / 60 % 60, own % 60)
}

/// Converts records in JSON to a table with one line for each record, in the same order.
pub(super) fn table(file: &str, text: &str) -> Result<String, FileProblem> {
    let mut table = COLUMNS.to_owned();
    for job in jobs(file, text)? {
        let get = |path: &[&str]| field(&job, path);
        let id = get(&["job_id"]);
        let (array, task) = (get(&["array", "job_id"]), get(&["array", "task_id"]));
        let (group, offset) = (get(&["het", "job_id"]), get(&["het", "job_offset"]));
        let shown = match (positive(&array), positive(&group)) {
            (array, _) if !array.is_empty() && !task.is_empty() => format!("{array}_{task}"),
            (_, group) if !group.is_empty() && !offset.is_empty() => format!("{group}+{offset}"),
            _ => id.clone(),
        };
        let tres = |which: &str| {
            let all = job.get("tres").and_then(|own| own.get(which)).and_then(Json::as_array);
            let one = |own: &Json| {
                let (kind, name) = (field(own, &["type"]), field(own, &["name"]));
                let count = field(own, &["count"]);
                let name = if name.is_empty() { kind } else { format!("{kind}/{name}") };
                // Memory is given in megabytes.
                let unit = if name == "mem" { "M" } else { "" };
                (!count.is_empty()).then(|| format!("{name}={count}{unit}"))
            };
            all.into_iter().flatten().filter_map(one).collect::<Vec<String>>().join(",")
        };
        let requested = tres("requested");
        let nodes = requested.split(',').find_map(|own| own.strip_prefix("node="));
        let flags = get(&["flags"])
            .replace("STARTED_ON_SCHEDULE", "SchedMain")
            .replace("STARTED_ON_BACKFILL", "SchedBackfill")
            .replace("STARTED_ON_SUBMIT", "SchedSubmit");
        let limit = [get(&["time", "limit"]), get(&["time", "limit", "number"])].concat();
        let values = [
            id.clone(),
            shown,
            get(&["user"]),
            get(&["account"]),
            get(&["partition"]),
            get(&["qos"]),
            positive(&get(&["time", "submission"])).to_owned(),
            positive(&get(&["time", "eligible"])).to_owned(),
            positive(&get(&["time", "start"])).to_owned(),
            positive(&get(&["time", "end"])).to_owned(),
            get(&["state", "current"]),
            limit,
            get(&["allocation_nodes"]),
            nodes.unwrap_or_default().to_owned(),
            get(&["nodes"]),
            get(&["state", "reason"]),
            tres("allocated"),
            requested.clone(),
            get(&["priority"]),
            flags,
            suspended(&get(&["time", "suspended"])),
            get(&["constraints"]),
            get(&["submit_line"]),
        ];
        // A bar or a line break would end the field.
        let values = values.map(|value| value.replace(['|', '\n'], " "));
        let _ = write!(table, "\n{}", values.join("|"));
    }
    Ok(table)
}
