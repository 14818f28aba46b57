//! Resampling: makes from one log many other logs, a new one for each replication.
//!
//! A log is a single observation. With resampling, each replication uses a different log that could
//! have been recorded at the site. This gives confidence intervals for results.

mod shake;
mod users;
mod weeks;

use crate::job::{Job, Time};
use crate::registry::{About, Family, Kind, Param, Params, Range, abouts, entry, named};
use crate::rng::Stream;

use super::held::Held;
use super::{Submissions, WorkloadContext, WorkloadError};

struct ResampleEntry {
    about: About,
    asks_for_owners: bool,
    /// Makes the jobs of a resampled log from the jobs of the original log, given in order of
    /// arrival.
    apply: fn(&Resampling, Vec<Job>, Stream) -> Result<Vec<Job>, WorkloadError>,
}

named!(ResampleEntry);

/// The family of methods of resampling, from which a study selects one by name.
pub static RESAMPLES: Family =
    Family { kind: "way of resampling", key: "by", entries: || abouts(ENTRIES), common: &[] };

static ENTRIES: &[&ResampleEntry] = &[&users::ENTRY, &weeks::ENTRY, &shake::ENTRY];

const WEEKS: Param = Param::new("weeks", Kind::Integer(1, 10_000))
    .absent("as many as the log has")
    .help("how many weeks the result has, fewer or more than the log");

const PERIOD: Param = Param::new("period", Kind::Number(Range::Positive)).is("604800.0").help(
    "the length of a week by the clock of the jobs; jobs are moved by whole weeks, so weekday \
         and hour stay",
);

struct Resampling {
    key: String,
    params: Params,
}

pub(super) fn asks_for_owners(params: &Params) -> bool {
    entry(ENTRIES, params.name()).asks_for_owners
}

/// Resamples a log with the method that the study names. All jobs of the log are held in memory.
pub(super) fn resampled(
    jobs: Submissions,
    params: &Params,
    setting: &WorkloadContext<'_>,
) -> Submissions {
    let (key, keeps_owners) = (params.path().to_owned(), setting.owners);
    let own = Resampling { key: key.clone(), params: params.clone() };
    let stream = Stream::new(setting.seed, setting.replication, "resample");
    let entry = entry(ENTRIES, params.name());
    Box::new(Held::new(jobs, key, move |jobs| {
        if jobs.is_empty() {
            return Ok(jobs);
        }
        let mut jobs = (entry.apply)(&own, jobs, stream)?;
        if jobs.is_empty() {
            return Err(WorkloadError(format!("`{}` leaves no job", own.key)));
        }
        if entry.asks_for_owners && !keeps_owners {
            jobs.iter_mut().for_each(|job| job.owner = None);
        }
        jobs.sort_by_key(|job: &Job| job.arrival);
        Ok(jobs)
    }))
}

/// The whole weeks of a log, and the number of weeks that the resampled log will have.
struct Weeks {
    first: Time,
    period: f64,
    /// Number of whole weeks since the first arrival. Jobs that arrive after these weeks are left
    /// out.
    count: u64,
    /// Number of weeks of the resampled log.
    wanted: u64,
}

impl Weeks {
    /// Finds the whole weeks in which jobs of a log arrive, and the length of the resampled log in
    /// weeks. Fails if the log has fewer than two weeks.
    fn of(own: &Resampling, jobs: &[Job]) -> Result<Weeks, WorkloadError> {
        let period = own.params.number("period");
        let first = jobs[0].arrival;
        let span = jobs.last().map_or(0.0, |last| last.arrival - first);
        let count = libm::floor(span / period);
        if count < 2.0 {
            return Err(WorkloadError(format!(
                "`{}` moves jobs by whole weeks, and must have at least two, but these {} jobs arrive within {} of a \
                 week (`period`, {period} units of their clock): \"shake\" resamples logs of any length",
                own.key,
                jobs.len(),
                (span / period * 100.0).round() / 100.0
            )));
        }
        let count = count as u64;
        Ok(Weeks { first, period, count, wanted: own.params.get_integer("weeks").unwrap_or(count) })
    }

    /// Index of the week in which a job arrives, and the time from the start of this week to the
    /// arrival. `None` if the job arrives after the last whole week of the log.
    fn of_job(&self, job: &Job) -> Option<(u64, f64)> {
        let since = job.arrival - self.first;
        let week = libm::floor(since / self.period);
        let within = since - week * self.period;
        ((week as u64) < self.count).then_some((week as u64, within))
    }

    /// Instant in the resampled log that is the time `within` after the start of week number
    /// `week`.
    fn at(&self, week: u64, within: f64) -> Time {
        self.first + (week as f64 * self.period + within)
    }
}

#[cfg(test)]
mod tests;
