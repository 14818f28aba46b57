//! Reads jobs of Microsoft's Philly trace from JSON, as rows of a published trace.

use std::collections::BTreeMap;

use meshwork::workload::table::Cell;
use serde::Deserialize;

use super::Recognized;
use meshwork_slurm::date::unix_seconds;

#[derive(Deserialize)]
struct PhillyJob {
    status: Option<String>,
    vc: Option<String>,
    jobid: String,
    attempts: Vec<PhillyAttempt>,
    submitted_time: Option<String>,
    user: Option<String>,
}

#[derive(Deserialize)]
struct PhillyAttempt {
    start_time: Option<String>,
    end_time: Option<String>,
    #[serde(default)]
    detail: Vec<PhillyMachine>,
}

#[derive(Deserialize)]
struct PhillyMachine {
    gpus: Vec<String>,
}

/// Reads the job log of the Philly trace, which is a list of jobs.
pub(super) fn read(path: &str, text: &str) -> Result<Recognized, String> {
    let jobs: Vec<PhillyJob> = serde_json::from_str(text).map_err(|error| {
        format!("{path}: this is no list of jobs as in Philly's cluster_job_log ({error})")
    })?;
    Ok(Recognized::of_json("attempts", (1..).zip(&jobs), |job, column| job.cell(column)))
}

fn text(text: Option<&String>) -> Option<Cell<'static>> {
    text.map(|text| Cell::Text(text.clone().into()))
}

impl PhillyJob {
    /// Cell of a job in a column. Columns about machines and GPUs describe the job's last attempt,
    /// because only this attempt can be successful.
    fn cell(&self, column: &str) -> Option<Cell<'static>> {
        let last = self.attempts.last();
        let number = |number: usize| (number > 0).then_some(Cell::Number(number as f64));
        let unequal = last.and_then(PhillyAttempt::unequal);
        match column {
            "jobid" => Some(Cell::Text(self.jobid.clone().into())),
            "vc" => text(self.vc.as_ref()),
            "user" => text(self.user.as_ref()),
            "status" => text(self.status.as_ref()),
            "submitted_time" => text(self.submitted_time.as_ref()),
            "first start" => text(self.attempts.first()?.start_time.as_ref()),
            "seconds of all attempts" => {
                let lengths = self.attempts.iter().map(PhillyAttempt::seconds);
                let all: Option<f64> = lengths.sum();
                all.filter(|_| last.is_some()).map(Cell::Number)
            }
            "unequal machines" => unequal.map(|roles| Cell::Text(roles.into())),
            "machines" | "GPUs" if unequal.is_some() => None,
            "placement" | "machines" => number(last?.detail.len()),
            "GPUs" => number(last?.detail.iter().map(|machine| machine.gpus.len()).sum()),
            "further attempts" => number(self.attempts.len().saturating_sub(1)),
            _ => None,
        }
    }
}

impl PhillyAttempt {
    /// Roles of the attempt, one for each number of GPUs on a machine. `None` if the attempt has
    /// equally many GPUs on every machine.
    fn unequal(&self) -> Option<String> {
        let mut machines: BTreeMap<usize, usize> = BTreeMap::new();
        for machine in &self.detail {
            *machines.entry(machine.gpus.len()).or_default() += 1;
        }
        let role = |(gpus, count): (&usize, &usize)| match gpus {
            0 => format!("{count}*cpu=1"),
            _ => format!("{count}*gpu={gpus}"),
        };
        (machines.len() > 1).then(|| machines.iter().map(role).collect::<Vec<_>>().join("+"))
    }

    /// Duration of an attempt. `None` if its start or end is unknown, or if the end precedes the
    /// start.
    fn seconds(&self) -> Option<f64> {
        let instant = |text: &Option<String>| unix_seconds(text.as_deref()?);
        Some(instant(&self.end_time)? - instant(&self.start_time)?).filter(|length| *length >= 0.0)
    }
}
