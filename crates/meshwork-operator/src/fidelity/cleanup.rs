//! Estimates the clean-up time of a site: the time from a job's end until its nodes are available.

use std::collections::BTreeMap;

use meshwork_slurm::history::{JobRecord, Second, StartedBy};

use crate::controller::rules::SchedulerParameters;
use meshwork::geometry::NodeSet;
use meshwork_lab::slurm::folder::SlurmMachine;
use meshwork_slurm::conf;

/// Largest clean-up time that is considered, in seconds.
const LONGEST: Second = 3_600;

/// Minimum share of all gaps that a gap length must have to count as the shortest gap.
const LEAST_SHARE: f64 = 0.03;

/// Gaps in seconds from the end of a job to the start of another job that waited for its nodes.
///
/// Each job that waited has at most one gap. If `by` is given, only starts by this scheduler count.
fn gaps(stays: &[JobRecord], nodes: &[Option<NodeSet>], by: Option<StartedBy>) -> Vec<Second> {
    // Last end of a job on each node so far.
    let mut last: BTreeMap<u32, Second> = BTreeMap::new();
    let mut events: Vec<(Second, bool, usize)> = Vec::new();
    for (place, stay) in stays.iter().enumerate().filter(|(place, _)| nodes[*place].is_some()) {
        events.extend(stay.start.map(|start| (start, true, place)));
        events.extend(stay.end.map(|end| (end, false, place)));
    }
    events.sort_unstable();
    let mut gaps = Vec::new();
    for (at, is_start, place) in events {
        let Some(nodes) = &nodes[place] else { continue };
        if !is_start {
            nodes.iter().for_each(|node| _ = last.insert(node, at));
            continue;
        }
        let stay: &JobRecord = &stays[place];
        let end = nodes.iter().filter_map(|node| last.get(&node).copied()).max();
        let Some(end) = end.filter(|&end| stay.queued().is_some_and(|queued| queued < end)) else {
            continue;
        };
        if at - end <= LONGEST && by.is_none_or(|by| stay.by == by) {
            gaps.push(at - end);
        }
    }
    gaps.sort_unstable();
    gaps
}

/// Estimates the clean-up time from gaps between the end of a job and the next start on its nodes.
/// Recorded times are truncated to whole seconds. Let the clean-up time be *g* + *f* seconds, with
/// *f* below 1. Then the gaps are *g*, *g* + 1 or *g* + 2 seconds. A fraction (1 − *f*)² / 2 of
/// them are *g* seconds, as for the difference of two uniform random numbers. If the scheduler runs
/// only every two seconds (`is_polled`), the weights of the three gaps are (1 − *f*)² / 2,
/// 1 − *f*² / 2 and 1. Other delays of the scheduler make the estimate too large, by
/// less than 1 second. If at least half of these gaps equal the shortest gap, times were not
/// truncated, and the shortest gap is the clean-up time.
fn of_gaps(gaps: &[Second], is_polled: bool) -> Option<f64> {
    let with = |gap: Second| gaps.iter().filter(|&&own| own == gap).count() as f64;
    let shortest =
        gaps.iter().copied().find(|&gap| with(gap) >= LEAST_SHARE * gaps.len() as f64)?;
    let near = with(shortest) + with(shortest + 1) + with(shortest + 2);
    let share = with(shortest) / near;
    let fraction = match is_polled {
        true => 1.0 - share - (share * share + 3.0 * share).sqrt(),
        false => 1.0 - (2.0 * share).sqrt(),
    };
    Some(shortest as f64 + if share >= 0.5 { 0.0 } else { fraction.max(0.0) })
}

/// Clean-up time in seconds, rounded to hundredths; `None` if no job waited for another job's
/// nodes.
pub(super) fn of(
    machine: &SlurmMachine,
    stays: &[JobRecord],
    nodes: &[Option<NodeSet>],
) -> Option<f64> {
    let lines = machine.conf_text().map(conf::lines).unwrap_or_default();
    let is_polled = SchedulerParameters::of(&lines).main_delay >= 2.0 && !lines.is_empty();
    let all = of_gaps(&gaps(stays, nodes, None), is_polled);
    let main = gaps(stays, nodes, Some(StartedBy::Main));
    // Both estimates tend to be too large, but less so for the main scheduler, which reacts sooner.
    let main = of_gaps(&main, is_polled).filter(|_| main.len() >= 20);
    let least = match (all, main) {
        (Some(all), Some(main)) => all.min(main),
        (all, main) => main.or(all)?,
    };
    Some((least * 100.0).round() / 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_between_seconds_is_found_in_whole_ones() {
        // Ends are at all hundredths of a second, and starts are `cleanup` seconds or more later.
        for cleanup in [0_u32, 2, 55, 155, 398, 700] {
            let mut gaps: Vec<Second> = (0..1000)
                .map(|job: u32| {
                    let end = job * 37;
                    let start = end + cleanup + u32::from(job.is_multiple_of(5)) * (job % 170);
                    i64::from(start / 100) - i64::from(end / 100)
                })
                .collect();
            gaps.sort_unstable();
            let found = of_gaps(&gaps, false).unwrap();
            let is = f64::from(cleanup) / 100.0;
            assert!((found - is).abs() < 0.6, "{found} for {is}");
            // The scheduler runs every 3.01 seconds.
            let polled = |job: u32| {
                let end = job * 1_237;
                let start = (end + cleanup).div_ceil(301) * 301;
                i64::from(start / 100) - i64::from(end / 100)
            };
            let mut gaps: Vec<Second> = (0..1000).map(polled).collect();
            gaps.sort_unstable();
            let found = of_gaps(&gaps, true).unwrap();
            assert!((found - is).abs() < 0.5, "{found} for {is}");
        }
        assert_eq!(of_gaps(&[7; 30], true), Some(7.0));
        assert_eq!(of_gaps(&[], true), None);
    }
}
