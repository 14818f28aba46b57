//! Input files of a run, with their digests.

use serde::{Deserialize, Serialize};

use crate::inputs::start::LogStart;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Input {
    /// Path of the workload file; empty if the run reads only an outage trace.
    pub path: String,
    /// Digest of the workload file. It is empty if there is no such file, or if the runs are not
    /// stored.
    pub blake3: String,
    /// Date at which the clock of the log begins, if the log's header gives it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<LogStart>,
    /// Outage trace, if the scenario takes its outages from one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<Trace>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trace {
    pub path: String,
    pub blake3: String,
}

impl Input {
    /// Combined digest of the input files, for the key of a run.
    ///
    /// It consists of the workload's digest and, after a colon, that of the outage trace, if any.
    pub fn digest(&self) -> String {
        digest_of(Some(&self.blake3), self.trace.as_ref().map(|trace| trace.blake3.as_str()))
            .unwrap_or_default()
    }
}

/// Combined digest of workload file and outage trace; `None` if there is neither.
pub fn digest_of(workload: Option<&str>, trace: Option<&str>) -> Option<String> {
    match (workload, trace) {
        (workload, Some(trace)) => Some(format!("{}:{trace}", workload.unwrap_or_default())),
        (workload, None) => workload.map(str::to_owned),
    }
}
