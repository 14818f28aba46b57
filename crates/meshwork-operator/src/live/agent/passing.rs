//! Treatment of the parked jobs that the agent does not place.
//!
//! The agent moves them to another partition, or leaves them in the parking partition.

use serde_json::json;

use super::PlacementAgent;
use crate::live::SlurmCommands;
use crate::live::look::numbers_of;
use meshwork_slurm::hostlist;
use meshwork_slurm::live::{QueuedJob, move_line, shape};

impl PlacementAgent<'_> {
    /// Marks a job as one that the agent does not place. If it was marked before, its first reason
    /// stays.
    pub(super) fn leave(&mut self, job: &QueuedJob, why: String) {
        self.unsuited.entry(job.key()).or_insert(why);
    }

    /// Moves jobs that the agent does not place to another partition, if one is set for them.
    pub(super) fn pass_on(
        &mut self,
        commands: &mut dyn SlurmCommands,
        parked: &[&QueuedJob],
    ) -> Result<(), String> {
        let mut left = 0;
        for job in parked {
            if let Some(why) = self.beyond(job) {
                self.leave(job, why);
            }
            let key = job.key();
            let Some(why) = self.unsuited.get(&key).cloned() else { continue };
            left += 1;
            let is_new = !self.said.contains_key(&key);
            self.said.insert(key, Vec::new());
            let now = commands.now();
            let object = json!({ "job": job.id, "why": why });
            match self.settings.pass.clone() {
                Some(pass) if !self.settings.dry_run && job.priority > 0 => {
                    self.note("pass", now, object);
                    // A part of a heterogeneous job is addressed by its own job number.
                    let is_part = job.id.contains('+');
                    let id = if is_part { job.number.to_string() } else { job.id.clone() };
                    let says = commands.control(&move_line(&id, &pass)?)?;
                    if says.trim().is_empty() {
                        self.metrics.passed += 1;
                    } else {
                        self.metrics.refused += 1;
                        let says = json!({ "job": job.id, "says": says.trim() });
                        self.note("refused", now, says);
                    }
                }
                _ if is_new => self.note("left", now, object),
                _ => {}
            }
        }
        self.metrics.left = left;
        Ok(())
    }

    fn beyond(&self, job: &QueuedJob) -> Option<String> {
        let asks = |what: &str| Some(format!("it asks for {what}, which is left to Slurm"));
        let numbers = &self.policy.numbers;
        if job.id.contains('+') {
            return Some("it is a part of a heterogeneous job, which is left to Slurm".to_owned());
        } else if !job.features.is_empty() {
            return asks("features");
        } else if !job.gres.is_empty() {
            return asks("generic resources");
        } else if !job.reservation.is_empty() {
            return asks("a reservation");
        }
        if !job.requires.is_empty() {
            let count = hostlist::names(&job.requires).map_or(0, |names| names.len());
            let known = numbers_of(numbers, &job.requires).len();
            if count != known || count != job.nodes as usize {
                return asks("particular nodes beside others");
            }
        }
        if !job.excludes.is_empty() && hostlist::names(&job.excludes).is_err() {
            return asks("nodes by a list that cannot be read");
        }
        let sides = shape(&job.comment)?;
        let product = sides.iter().fold(1_u64, |all, &side| all.saturating_mul(side.into()));
        (product != u64::from(job.nodes)).then(|| {
            format!(
                "its comment asks for a block of {product} nodes, but it asks for {}",
                job.nodes
            )
        })
    }
}
