//! Expected ends of jobs: their time limits, or predictions from earlier jobs of the same user.
//!
//! Predictions depend on a recorded history alone, so a restarted agent predicts equal ends.

use std::collections::BTreeMap;

use super::look::FAR;
use meshwork_slurm::history::{History, JobRecord};
use meshwork_slurm::live::QueuedJob;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EndRule {
    /// Jobs are expected to end at their time limits.
    #[default]
    Limit,
    /// Jobs are expected to run for the mean of their user's last two run times.
    ///
    /// Source: Tsafrir, Etsion and Feitelson.
    UserMean,
    /// Jobs are expected to run for the 90 % quantile of their user's last [`REMEMBERED`] run
    /// times.
    UserQuantile,
}

pub const REMEMBERED: usize = 100;

impl EndRule {
    pub const ALL: [(&'static str, EndRule); 3] = [
        ("limit", EndRule::Limit),
        ("user_mean", EndRule::UserMean),
        ("user_p90", EndRule::UserQuantile),
    ];

    /// Predicted run time of a user's next job, in seconds. `seconds` has the run times of the
    /// user's earlier jobs, in order. The result is `None` if the rule uses the time limit, or if
    /// the user has no earlier jobs.
    fn expected(self, seconds: &[i64]) -> Option<i64> {
        let last = |count: usize| &seconds[seconds.len().saturating_sub(count)..];
        match self {
            EndRule::UserMean if !seconds.is_empty() => {
                let last = last(2);
                Some(last.iter().sum::<i64>() / last.len() as i64)
            }
            EndRule::UserQuantile if !seconds.is_empty() => {
                let mut sorted = last(REMEMBERED).to_vec();
                sorted.sort_unstable();
                Some(sorted[(9 * sorted.len()).div_ceil(10) - 1])
            }
            _ => None,
        }
    }
}

/// For each user with earlier jobs, the predicted run time of the user's next job.
///
/// For other users, the time limits of their jobs are used.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExpectedEnds {
    seconds: BTreeMap<String, i64>,
}

impl ExpectedEnds {
    /// Predicts run times from a history. A run does not count if it ended by a requeue, a node
    /// failure or a preemption.
    pub fn of(rule: EndRule, history: &History) -> ExpectedEnds {
        // A log without nodes shows a run by different times of start and end. A job that was
        // cancelled while it waited may have its end as its start.
        let ended = |stay: &&JobRecord| {
            (stay.ran() || stay.start < stay.end)
                && !["REQUEUED", "NODE_FAIL", "PREEMPTED"].contains(&stay.state.as_str())
        };
        let mut stays: Vec<&JobRecord> = history.stays.iter().filter(ended).collect();
        stays.sort_by_key(|stay| (stay.end, stay.start));
        let mut times: BTreeMap<&str, Vec<i64>> = BTreeMap::new();
        for stay in stays {
            if let (Some(start), Some(end)) = (stay.start, stay.end) {
                times.entry(&stay.user).or_default().push((end - start).max(1));
            }
        }
        let expected =
            |(user, own): (&str, Vec<i64>)| Some((user.to_owned(), rule.expected(&own)?));
        ExpectedEnds { seconds: times.into_iter().filter_map(expected).collect() }
    }

    /// Expected run time of a job in seconds: the prediction for its user, or else its time limit.
    pub(super) fn runtime(&self, job: &QueuedJob) -> Option<i64> {
        match self.seconds.get(&job.user) {
            Some(&own) => Some(job.limit.map_or(own, |limit| own.min(limit))),
            None => job.limit,
        }
    }

    /// Expected end of a running job. If it has run longer than predicted, this is its time limit.
    pub(super) fn end(&self, job: &QueuedJob, now: f64) -> f64 {
        let predicted = job.start.zip(self.seconds.get(&job.user)).map(|(start, own)| start + own);
        let limit = job.end.map_or(now + FAR, |end| end as f64);
        predicted.map(|end| end as f64).filter(|end| *end > now).map_or(limit, |end| end.min(limit))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn history(times: &[(&str, i64, i64, &str)]) -> History {
        let stay = |&(user, start, end, state): &(&str, i64, i64, &str)| JobRecord {
            user: user.to_owned(),
            start: Some(start),
            end: (end > 0).then_some(end),
            state: state.to_owned(),
            nodelist: "n1".to_owned(),
            ..JobRecord::default()
        };
        History { stays: times.iter().map(stay).collect() }
    }

    fn job(user: &str, limit: Option<i64>) -> QueuedJob {
        let end = limit.map(|limit| 1_000 + limit);
        QueuedJob { user: user.to_owned(), limit, start: Some(1_000), end, ..QueuedJob::default() }
    }

    #[test]
    fn a_user_is_expected_to_do_what_they_did_last() {
        let seen = history(&[
            ("ann", 500, 700, "COMPLETED"),
            ("ann", 0, 1_000, "COMPLETED"),
            ("ann", 600, 640, "FAILED"),
            ("ann", 900, 901, "REQUEUED"),
            ("ann", 950, 0, "RUNNING"),
        ]);
        let mean = ExpectedEnds::of(EndRule::UserMean, &seen);
        assert_eq!(mean.runtime(&job("ann", Some(7_200))), Some(600));
        assert_eq!(mean.runtime(&job("ann", Some(300))), Some(300));
        assert_eq!(mean.runtime(&job("ann", None)), Some(600));
        assert_eq!(mean.runtime(&job("bob", Some(7_200))), Some(7_200));
        assert_eq!(mean.runtime(&job("bob", None)), None);
        let limits = ExpectedEnds::of(EndRule::Limit, &seen);
        assert_eq!(limits, ExpectedEnds::default());
        assert_eq!(limits.runtime(&job("ann", Some(7_200))), Some(7_200));
    }

    #[test]
    fn a_history_without_names_of_nodes_predicts_too() {
        let mut seen = history(&[
            ("ann", 0, 60, "COMPLETED"),
            ("ann", 80, 80, "CANCELLED"),
            ("bob", 9, 9, ""),
        ]);
        seen.stays.iter_mut().for_each(|stay| stay.nodelist.clear());
        let ends = ExpectedEnds::of(EndRule::UserMean, &seen);
        assert_eq!(ends.runtime(&job("ann", Some(7_200))), Some(60));
        assert_eq!(ends.runtime(&job("bob", Some(7_200))), Some(7_200));
    }

    #[test]
    fn nine_of_ten_jobs_end_by_the_quantile() {
        let times: Vec<(&str, i64, i64, &str)> =
            (0..120).map(|own| ("ann", own, own + 1 + own, "COMPLETED")).collect();
        let ends = ExpectedEnds::of(EndRule::UserQuantile, &history(&times));
        assert_eq!(ends.runtime(&job("ann", Some(7_200))), Some(110));
        let one = ExpectedEnds::of(EndRule::UserQuantile, &history(&times[..1]));
        assert_eq!(one.runtime(&job("ann", Some(7_200))), Some(1));
    }

    #[test]
    fn a_job_that_outlives_its_prediction_ends_at_its_limit() {
        let ends = ExpectedEnds::of(EndRule::UserMean, &history(&[("ann", 0, 60, "COMPLETED")]));
        let end = |job: &QueuedJob, now: f64| ends.end(job, now) as i64;
        let ann = job("ann", Some(7_200));
        assert_eq!(end(&ann, 1_059.0), 1_060);
        assert_eq!(end(&ann, 1_060.0), 8_200);
        assert_eq!(end(&job("ann", Some(30)), 1_001.0), 1_030);
        assert_eq!(end(&job("bob", Some(30)), 1_001.0), 1_030);
        assert_eq!(end(&job("bob", None), 2_000.0), 2_000 + FAR as i64);
    }
}
