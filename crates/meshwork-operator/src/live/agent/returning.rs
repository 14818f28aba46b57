//! Puts placed jobs that do not start back into the parking partition.

use std::collections::BTreeSet;

use serde_json::json;

use super::{BackOff, PlacementAgent, checked};
use crate::live::SlurmCommands;
use crate::live::look::SiteLook;
use meshwork_slurm::hostlist;
use meshwork_slurm::live::{OwnWishes, QueuedJob, ShownJob, read_job, take_back_line};

/// Longest delay, in seconds, before the agent again places a job that met a limit.
const LONGEST: f64 = 1_800.0;
const STUCK: [&str; 11] = [
    "BadConstraints",
    "BeginTime",
    "Dependency",
    "JobArrayTaskLimit",
    "JobHeld",
    "ReqNodeNotAvail",
    "Reservation",
    "Assoc",
    "QOS",
    "Licenses",
    "PartitionNodeLimit",
];

impl PlacementAgent<'_> {
    /// Reason to return a placed job; `None` unless the job has looked stuck for `settle` seconds.
    pub(super) fn suspicion(&mut self, look: &SiteLook, job: &QueuedJob) -> Option<String> {
        let idle: BTreeSet<&str> = {
            let nodes = look.nodes.iter().filter(|(_, state)| state == "idle");
            nodes.map(|(name, _)| name.as_str()).collect()
        };
        let names = hostlist::names(&job.requires).unwrap_or_default();
        let busy = names.iter().find(|name| !idle.contains(name.as_str()));
        let key = job.key();
        let since = *self.placed.entry(key.clone()).or_insert(look.now);
        let why = if names.is_empty() {
            Some("it requires no nodes".to_owned())
        } else if job.priority == 0 || STUCK.iter().any(|own| job.reason.starts_with(own)) {
            Some(if job.reason.is_empty() { "held".to_owned() } else { job.reason.clone() })
        } else if let Some(busy) = busy {
            Some(format!("{busy} is not idle"))
        } else if look.now - since > self.settings.patience {
            Some("it does not start".to_owned())
        } else {
            None
        };
        let Some(why) = why else {
            self.suspected.remove(&key);
            return None;
        };
        let first = *self.suspected.entry(key).or_insert(look.now);
        (look.now - first >= self.settings.settle).then_some(why)
    }

    /// Returns a placed job to the parking partition. Slurm refuses this if the job has started.
    pub(super) fn take_back(
        &mut self,
        commands: &mut dyn SlurmCommands,
        look: &SiteLook,
        job: &QueuedJob,
        why: &str,
    ) -> Result<(), String> {
        if self.settings.dry_run {
            return Ok(());
        }
        let text = commands.control(&format!("show job {}", checked(&job.id)?))?;
        if !text.starts_with("JobId=") {
            return Ok(());
        }
        let shown = match read_job(&text) {
            Ok(shown) => shown,
            Err(says) => {
                self.note("unread", look.now, json!({ "job": job.id, "says": says }));
                ShownJob { submitted: job.submitted.unwrap_or(0), ..ShownJob::default() }
            }
        };
        let key = job.key();
        if shown.submitted != key.1 {
            return Ok(());
        }
        let wishes = OwnWishes::read(&shown.note).unwrap_or_default();
        let line = take_back_line(&job.id, &self.settings.park, &wishes)?;
        let object = json!({ "job": job.id, "why": why, "nodes": job.requires });
        self.note("take_back", look.now, object);
        let says = commands.control(&line)?;
        self.suspected.remove(&key);
        self.placed.remove(&key);
        if !says.trim().is_empty() {
            self.metrics.refused += 1;
            self.note("refused", look.now, json!({ "job": job.id, "says": says.trim() }));
            return Ok(());
        }
        self.metrics.taken_back += 1;
        if why.starts_with("BadConstraints") {
            self.unsuited.insert(key, format!("Slurm says {why} of the nodes chosen for it"));
        } else if ["Assoc", "QOS", "Licenses", "JobArrayTaskLimit", "PartitionNodeLimit"]
            .iter()
            .any(|own| why.starts_with(own))
        {
            let first = BackOff { until: 0.0, next: self.settings.back_off };
            let own = self.backed_off.entry(key).or_insert(first);
            own.until = look.now + own.next;
            own.next = (2.0 * own.next).min(LONGEST);
        }
        Ok(())
    }
}
