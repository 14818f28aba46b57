//! What is to be submitted.

use std::path::Path;
use std::time::Duration;

use crate::lab::prepare;
use crate::study::asked::EXPERIMENT;
use crate::study::{Refused, Study};
use crate::sweep::deal::Deal;
use crate::sweep::progress::{Known, progress};
use crate::sweep::shard::begin;

/// What is to be submitted of a study.
pub struct Plan {
    /// What has not ended, and what it is expected to cost.
    pub deal: Deal,
    /// Whether its costs are seconds, because some runs have ended; else only their ratio means anything.
    pub is_measured: bool,
    /// How many processes still write in the folder.
    pub at_work: u64,
}

/// Looks at a study, and at what of it has ended in a folder. The folder is begun, unless nothing is to be written.
///
/// # Errors
/// If the study or its inputs are wrong, the folder holds another sweep, or it cannot be read or written.
pub fn plan(
    study: &Study,
    folder: &Path,
    build: &str,
    max_memory: Option<u64>,
    writes: bool,
) -> Result<Plan, Refused> {
    let prepared = prepare(study, 1, max_memory, true)?;
    let is_begun = folder.join(EXPERIMENT).is_file();
    if writes || is_begun {
        begin(study, folder, &prepared, build)?;
    }
    if !is_begun {
        let deal = Deal::of(&study.replications, &prepared.points);
        return Ok(Plan { deal, is_measured: false, at_work: 0 });
    }
    drop(prepared);
    let known = Known::read(&study.catalogue, folder)?;
    let deal = known.deal(&known.missing().units);
    let is_measured = known.is_measured();
    drop(known);
    let (now, _) = progress(&study.catalogue, folder)?;
    Ok(Plan { deal, is_measured, at_work: now.attempts.0 })
}

/// A task of about this length is worth its start, and short enough to find room.
const TASK: Duration = Duration::from_secs(1800);

impl Plan {
    /// How many shards fit: each takes half an hour, or half of the time that it has; where nobody knows how long runs
    /// take, one for each, up to a limit.
    #[must_use]
    pub fn shards(&self, time: Duration, limit: u64) -> u64 {
        let parts = (self.deal.units.len() as u64).max(1);
        if !self.is_measured {
            return parts.min(limit);
        }
        let task = TASK.min(time / 2).as_secs_f64();
        ((self.deal.cost() / task).ceil() as u64).clamp(1, parts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::Unit;

    #[test]
    fn shards_take_half_an_hour_by_hand() {
        let unit = |scenario| (Unit { scenario, replication: Some(0) }, 600.0);
        let deal = Deal { units: (0..60).map(unit).collect() };
        let mut plan = Plan { deal, is_measured: true, at_work: 0 };
        // 36,000 s: 20 tasks of half an hour, 60 of ten minutes.
        assert_eq!(plan.shards(Duration::from_secs(3600), 8), 20);
        assert_eq!(plan.shards(Duration::from_secs(600), 8), 60, "no more than there are runs");
        plan.is_measured = false;
        assert_eq!(plan.shards(Duration::from_secs(3600), 8), 8);
        plan.deal.units.truncate(3);
        assert_eq!(plan.shards(Duration::from_secs(3600), 8), 3);
    }
}
