//! Timeline of a run for plots: utilization, queue length and waits, as a fixed number of values.

use std::collections::BTreeMap;
use std::path::Path;

use meshwork::job::Time;
use meshwork::observe::JobId;
use serde::{Serialize, Serializer};

use super::{RecordedSite, RecordingError, Subject, scenario_as_it_was, sites};
use crate::run::kept::replay;
use crate::watch::{EventKind, RunEvent};

const SPANS: usize = 500;

/// Approximate number of waits that a distribution of waits keeps. With fewer jobs, it keeps all
/// waits.
const WAITS: usize = 1000;

/// Serialises with six significant digits, more than a plot can show.
fn brief<S: Serializer>(numbers: &[f64], serializer: S) -> Result<S::Ok, S::Error> {
    let brief = |number: &f64| format!("{number:.5e}").parse::<f64>().unwrap_or(*number);
    serializer.collect_seq(numbers.iter().map(brief))
}

/// Utilization, queue and waits of a run, for plots, in units of its clock.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Timeline {
    /// Number of the scenario, counted from 1.
    pub scenario: u64,
    /// Number of the replication, counted from 1.
    pub replication: u64,
    pub title: String,
    /// Swept keys of the scenario and their values, from which the text `title` is made.
    pub swept: Vec<(String, String)>,
    /// Number of nodes of all sites, or of cores where jobs share nodes.
    pub processors: u64,
    pub from: f64,
    pub until: f64,
    pub whole: bool,
    /// Mean share of processors that jobs held, in each interval.
    #[serde(serialize_with = "brief")]
    pub utilization: Vec<f64>,
    /// Mean number of jobs that waited, in each interval.
    #[serde(serialize_with = "brief")]
    pub queue: Vec<f64>,
    /// Largest number of jobs that waited at the same time, in each interval.
    pub longest: Vec<u64>,
    pub waits: WaitDistribution,
}

impl Timeline {
    /// Makes the timeline of a stored run from its recording file.
    pub fn of(subject: Subject<'_>, folder: &Path) -> Result<Timeline, RecordingError> {
        let record = subject.record;
        let scenario = scenario_as_it_was(subject.catalogue, record)?;
        let processors =
            sites(&scenario, record.replication)?.iter().map(RecordedSite::processors).sum();
        let mut counts = Counts::default();
        replay(folder, &record.key, &mut |happening| {
            counts.take(&happening);
            true
        })?;
        let timeline = counts.timeline(processors, record.findings.end, true);
        Ok(timeline.of_run(subject))
    }

    pub(super) fn of_run(self, subject: Subject<'_>) -> Timeline {
        Timeline {
            scenario: subject.scenario,
            replication: subject.record.replication + 1,
            title: subject.title.to_owned(),
            ..self
        }
    }
}

/// Cumulative distribution: for selected waits, the share of jobs that waited at most that long.
///
/// Shares are exact. With more than a thousand jobs, they are about a thousandth apart, and closer
/// among the longest waits, so that the tail is visible.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct WaitDistribution {
    pub jobs: usize,
    #[serde(serialize_with = "brief")]
    pub wait: Vec<f64>,
    /// For each selected waiting time, the share of jobs that waited no longer.
    #[serde(serialize_with = "brief")]
    pub share: Vec<f64>,
}

impl WaitDistribution {
    pub fn of(mut waits: Vec<f64>) -> WaitDistribution {
        waits.sort_by(f64::total_cmp);
        let jobs = waits.len();
        let even = (1..=WAITS).map(|i| (i * jobs).div_ceil(WAITS));
        let tail = std::iter::successors(Some(1), |n| Some(n * 2))
            .take_while(|&n| n < jobs)
            .map(|n| jobs - n);
        let mut ranks: Vec<usize> = even.chain(tail).filter(|&rank| rank > 0).collect();
        ranks.sort_unstable();
        let mut found = WaitDistribution { jobs, ..WaitDistribution::default() };
        for rank in ranks {
            let wait = waits[rank - 1];
            if found.wait.last().is_some_and(|last| last.total_cmp(&wait).is_ge()) {
                continue;
            }
            let below = waits.partition_point(|other| other.total_cmp(&wait).is_le());
            found.wait.push(wait);
            found.share.push(below as f64 / jobs as f64);
        }
        found
    }
}

/// Counts of held processors and queued jobs at each event of a run, from which a [`Timeline`] is
/// made. An event takes some 24 bytes.
#[derive(Clone, Debug, Default)]
pub(super) struct Counts {
    at: Vec<Time>,
    held: Vec<u64>,
    queued: Vec<u64>,
    waits: Vec<f64>,
    arrived: BTreeMap<JobId, Time>,
    holds: BTreeMap<JobId, u64>,
    now_held: u64,
}

impl Counts {
    pub(super) fn take(&mut self, happening: &RunEvent) {
        let RunEvent { at, id, what } = happening;
        match what {
            EventKind::Arrived(_) => {
                self.arrived.insert(*id, *at);
            }
            EventKind::Refused(_) => {}
            EventKind::TurnedAway => {
                self.arrived.remove(id);
            }
            EventKind::Started { placement, .. } => {
                if let Some(arrived) = self.arrived.remove(id) {
                    self.waits.push(*at - arrived);
                }
                self.hold(*id, u64::from(placement.len()));
            }
            EventKind::Moved { placement } => self.hold(*id, u64::from(placement.len())),
            EventKind::Finished => self.hold(*id, 0),
            EventKind::Interrupted => {
                self.hold(*id, 0);
                self.arrived.insert(*id, *at);
            }
            EventKind::Down { .. } | EventKind::Up { .. } => return,
        }
        if self.at.last() != Some(at) {
            self.at.push(*at);
            self.held.push(0);
            self.queued.push(0);
        }
        if let (Some(held), Some(queued)) = (self.held.last_mut(), self.queued.last_mut()) {
            *held = self.now_held;
            *queued = self.arrived.len() as u64;
        }
    }

    fn hold(&mut self, id: JobId, nodes: u64) {
        let before = if nodes > 0 { self.holds.insert(id, nodes) } else { self.holds.remove(&id) };
        self.now_held = self.now_held - before.unwrap_or(0) + nodes;
    }

    pub(super) fn timeline(self, processors: u64, until: f64, whole: bool) -> Timeline {
        let from = self.at.first().map_or(0.0, |at| at.units());
        let until = until.max(from);
        let (held, _) = self.spans(&self.held, from, until);
        let (queue, longest) = self.spans(&self.queued, from, until);
        let share = |held: f64| held / processors.max(1) as f64;
        Timeline {
            scenario: 1,
            replication: 1,
            title: String::new(),
            swept: Vec::new(),
            processors,
            from,
            until,
            whole,
            utilization: held.into_iter().map(share).collect(),
            queue,
            longest,
            waits: WaitDistribution::of(self.waits),
        }
    }

    /// Time-weighted means and maxima of a changing count in equal intervals of a time span.
    fn spans(&self, counts: &[u64], from: f64, until: f64) -> (Vec<f64>, Vec<u64>) {
        if until <= from {
            return (Vec::new(), Vec::new());
        }
        let length = (until - from) / SPANS as f64;
        let (mut means, mut longest) = (Vec::new(), Vec::new());
        let (mut next, mut value) = (0, 0);
        for span in 0..SPANS {
            let mut time = from + span as f64 * length;
            let end = if span + 1 == SPANS { until } else { from + (span + 1) as f64 * length };
            let (mut area, mut most) = (0.0, value);
            while next < counts.len() && self.at[next].units() <= end {
                let at = self.at[next].units();
                area += (at - time) * value as f64;
                (time, value) = (at, counts[next]);
                most = most.max(value);
                next += 1;
            }
            area += (end - time) * value as f64;
            means.push(area / (end - (from + span as f64 * length)));
            longest.push(most);
        }
        (means, longest)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        #[test]
        fn every_share_is_that_of_the_jobs_that_waited_no_longer(
            waits in prop::collection::vec(prop_oneof![Just(0.0), 0.0..5.0, (0..9_u32).prop_map(f64::from)], 1..4000),
        ) {
            let found = WaitDistribution::of(waits.clone());
            prop_assert_eq!(found.jobs, waits.len());
            prop_assert!(found.wait.len() <= WAITS + 12);
            prop_assert!(found.wait.windows(2).all(|pair| pair[0] < pair[1]));
            for (wait, share) in found.wait.iter().zip(&found.share) {
                let count = waits.iter().filter(|other| *other <= wait).count();
                prop_assert!((count as f64 / waits.len() as f64 - share).abs() < 1e-12);
            }
            prop_assert!((found.share.last().unwrap() - 1.0).abs() < 1e-12);
            // Neighbouring waits are at most a thousandth of the jobs, plus one job, apart.
            let mut below = 0;
            for wait in &found.wait {
                let between = waits.iter().filter(|other| *other < wait).count() - below;
                prop_assert!(between <= waits.len() / WAITS + 1, "{} jobs lie below {}", between, wait);
                below = waits.iter().filter(|other| *other <= wait).count();
            }
        }

        #[test]
        fn spans_have_the_area_and_the_most_of_what_they_are_made_of(
            steps in prop::collection::vec((0.0..3.0_f64, 0..50_u64), 1..200),
            rest in 0.1..4.0_f64,
        ) {
            let mut counts = Counts::default();
            let mut now = 1.0;
            for (gap, value) in &steps {
                now += gap;
                if counts.at.last() == Some(&Time::new(now)) {
                    continue;
                }
                counts.at.push(Time::new(now));
                counts.queued.push(*value);
            }
            let (from, until) = (counts.at[0].units(), now + rest);
            let (means, longest) = counts.spans(&counts.queued, from, until);
            prop_assert_eq!((means.len(), longest.len()), (SPANS, SPANS));
            let ends = counts.at.iter().skip(1).map(|at| at.units()).chain([until]);
            let begins = counts.at.iter().map(|at| at.units());
            let area: f64 = begins.zip(ends).zip(&counts.queued).map(|((a, b), &v)| (b - a) * v as f64).sum();
            let found = means.iter().sum::<f64>() * (until - from) / SPANS as f64;
            prop_assert!((area - found).abs() < 1e-6 * (1.0 + area), "{} is not {}", found, area);
            prop_assert_eq!(longest.iter().max(), counts.queued.iter().max());
        }
    }

    #[test]
    fn nothing_has_no_distribution() {
        assert_eq!(WaitDistribution::of(Vec::new()), WaitDistribution::default());
    }
}
