//! Statistics of a log: counts, spans and distributions, from one pass over its lines.

use std::collections::BTreeSet;
use std::io::BufRead;

use crate::job::Job;

use super::swf::{Header, LogLine, Record, RecordError, job, records};
use super::table::Listed;
use super::{Rows, WorkloadError};

/// Distribution of the values in one column of a log. Jobs whose value is unknown are left out.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ColumnStatistics {
    /// Number of jobs for which the column is known.
    pub count: u64,
    /// Arithmetic mean of the column's values.
    pub mean: f64,
    /// Median: the middle value, or the mean of the two values in the middle.
    pub median: f64,
    /// Smallest value of the column.
    pub min: f64,
    /// Largest value of the column.
    pub max: f64,
}

impl ColumnStatistics {
    /// Computes the distribution of a list of values; `None` if the list is empty.
    fn of(mut values: Vec<f64>) -> Option<ColumnStatistics> {
        let count = values.len();
        if count == 0 {
            return None;
        }
        // The sum is taken in file order, before sorting, so that a sum of whole seconds is exact
        // and any other sum does not depend on how the sort treats ties.
        let mean = values.iter().sum::<f64>() / count as f64;
        values.sort_unstable_by(f64::total_cmp);
        Some(ColumnStatistics {
            count: count as u64,
            mean,
            median: 0.5 * (values[(count - 1) / 2] + values[count / 2]),
            min: values[0],
            max: values[count - 1],
        })
    }
}

/// Statistics of a log. Shares and columns count only lines that are jobs.
///
/// `None` means that the log lacks the information.
///
/// ```
/// use meshwork::workload::statistics::Statistics;
/// let log = "; MaxProcs: 8\n\
///            1 0 -1 100 4 -1 -1 4 200 -1 1 1 -1 -1 -1 -1 -1 -1\n\
///            2 50 -1 300 1 -1 -1 1 -1 -1 1 2 -1 -1 -1 -1 -1 -1\n\
///            3 90 -1 -1 1 -1 -1 1 -1 -1 5 2 -1 -1 -1 -1 -1 -1\n";
/// let statistics = Statistics::of(Box::new(log.as_bytes()), "log.swf").unwrap();
/// assert_eq!((statistics.lines, statistics.jobs, statistics.no_run_time), (3, 2, 1));
/// assert_eq!(statistics.run_time.unwrap().median, 200.0);
/// assert_eq!(statistics.load, Some((100.0 * 4.0 + 300.0) / (8.0 * 50.0)));
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Statistics {
    /// Comments of the log, from anywhere in the file.
    pub header: Header,
    /// Number of lines that are not comments.
    pub lines: u64,
    /// Number of lines that are jobs.
    pub jobs: u64,
    /// Number of lines skipped because the run time is unknown.
    pub no_run_time: u64,
    /// Number of lines with a run time, skipped because no processors are known.
    pub no_processors: u64,
    /// Number of lines with run time and processors, skipped because their submission time is
    /// unknown.
    pub no_submit_time: u64,
    /// Number of lines whose submission time is before that of the previous line.
    pub out_of_order: u64,
    /// Submission of the first job, in seconds of the log's clock.
    pub first_submit: Option<f64>,
    /// Submission of the last job, in seconds of the log's clock.
    pub last_submit: Option<f64>,
    /// Processors of the machine according to the log's header: `MaxProcs` or, if it is missing,
    /// `MaxNodes`.
    pub processors_by_header: Option<u64>,
    /// Processors of the largest job.
    pub largest_job: Option<u64>,
    /// Distribution of run times in seconds.
    pub run_time: Option<ColumnStatistics>,
    /// Distribution of requested processors.
    pub processors: Option<ColumnStatistics>,
    /// Distribution of the seconds between consecutive submissions.
    pub interarrival: Option<ColumnStatistics>,
    /// Distribution of run time divided by requested time, for jobs with a requested time.
    pub accuracy: Option<ColumnStatistics>,
    /// Number of jobs without a requested time.
    pub no_request: u64,
    /// Number of jobs that ran longer than requested.
    pub beyond_request: u64,
    /// Number of jobs with a run time of 0.
    pub zero_run_time: u64,
    /// Share of jobs on one processor.
    pub serial: Option<f64>,
    /// Share of jobs whose number of processors is a power of two; one processor counts too.
    pub power_of_two: Option<f64>,
    /// Offered load: requested work divided by the machine's capacity between first and last
    /// submission. The work of a job is its processors times its run time. The capacity is the
    /// machine's processors times the time between the two submissions. The log's header states the
    /// number of the machine's processors. If it does not, the number of processors of the largest
    /// job is used.
    pub load: Option<f64>,
    /// Number of distinct users.
    pub users: u64,
}

impl Statistics {
    /// Computes the statistics of a log in the Standard Workload Format. Four numbers of every job
    /// are held in memory, because medians need all values.
    ///
    /// # Errors
    /// The first line that cannot be read.
    pub fn of(reader: Box<dyn BufRead + Send>, path: &str) -> Result<Statistics, WorkloadError> {
        let mut collected = Collected::default();
        for line in records(reader, path) {
            match line? {
                LogLine::Comment(comment) => collected.statistics.header.add(&comment),
                LogLine::Record { line, record } => collected
                    .add(&record)
                    .map_err(|what| WorkloadError(format!("{path}:{line}: {what}")))?,
            }
        }
        Ok(collected.finish())
    }

    /// Computes the statistics of the rows of a table of jobs.
    ///
    /// # Errors
    /// The first row that is not a job, or a table without rows.
    pub fn of_table(rows: Rows, path: &str) -> Result<Statistics, WorkloadError> {
        let Listed { jobs, origin, .. } = Listed::read(rows, path)?;
        let mut collected = Collected::default();
        if let Some(origin) = origin {
            let entry = ("UnixStartTime".to_owned(), origin.to_string());
            collected.statistics.header.entries.push(entry);
        }
        let user = |job: &Job| job.owner.as_ref()?.user.clone();
        let users: BTreeSet<String> = jobs.iter().filter_map(|(job, _)| user(job)).collect();
        for (job, has_estimate) in jobs {
            let mut record = Record::of(&job);
            if !has_estimate {
                record.fields[8] = -1.0;
            }
            collected.count(&record);
            collected.add_job(&job, &record);
        }
        // A table has names of users, of which a line of a log would keep only numbers.
        Ok(Statistics { users: users.len() as u64, ..collected.finish() })
    }

    /// Seconds from the submission of the first job to that of the last one.
    #[must_use]
    pub fn span(&self) -> Option<f64> {
        Some(self.last_submit? - self.first_submit?)
    }

    /// Number of lines that are not jobs.
    #[must_use]
    pub fn unusable(&self) -> u64 {
        self.no_run_time + self.no_processors + self.no_submit_time
    }

    /// Number of the machine's processors by the log's header. If the header does not give it, the
    /// number of processors of the largest job.
    #[must_use]
    pub fn machine(&self) -> Option<u64> {
        self.processors_by_header.or(self.largest_job)
    }
}

#[derive(Default)]
struct Collected {
    statistics: Statistics,
    run_times: Vec<f64>,
    processors: Vec<f64>,
    submits: Vec<f64>,
    accuracies: Vec<f64>,
    work: f64,
    serial: u64,
    powers_of_two: u64,
    users: BTreeSet<u64>,
    submit_above: Option<f64>,
}

impl Collected {
    fn count(&mut self, record: &Record) {
        self.statistics.lines += 1;
        let below_the_line_above = self.submit_above.is_some_and(|above| record.submit() < above);
        self.statistics.out_of_order += u64::from(below_the_line_above);
        self.submit_above = Some(record.submit());
    }

    fn add(&mut self, record: &Record) -> Result<(), RecordError> {
        self.count(record);
        let statistics = &mut self.statistics;
        match job(record, statistics.lines)? {
            Ok(job) => self.add_job(&job, record),
            Err("no run time") => statistics.no_run_time += 1,
            Err("no processors") => statistics.no_processors += 1,
            Err(_) => statistics.no_submit_time += 1,
        }
        Ok(())
    }

    fn add_job(&mut self, job: &Job, record: &Record) {
        let nodes = job.request.nodes();
        self.statistics.jobs += 1;
        self.run_times.push(job.runtime);
        self.processors.push(nodes as f64);
        self.submits.push(job.arrival.units());
        self.work += job.runtime * nodes as f64;
        self.serial += u64::from(nodes == 1);
        self.powers_of_two += u64::from(nodes.is_power_of_two());
        self.statistics.zero_run_time += u64::from(job.runtime == 0.0);
        match record.requested_time() {
            Some(requested) => {
                self.accuracies.push(job.runtime / requested);
                self.statistics.beyond_request += u64::from(job.runtime > requested);
            }
            None => self.statistics.no_request += 1,
        }
        self.users.extend(record.user().map(f64::to_bits));
    }

    fn finish(mut self) -> Statistics {
        let mut statistics = self.statistics;
        self.submits.sort_by(f64::total_cmp);
        statistics.first_submit = self.submits.first().copied();
        statistics.last_submit = self.submits.last().copied();
        statistics.processors_by_header = statistics.header.processors();
        statistics.interarrival =
            ColumnStatistics::of(self.submits.windows(2).map(|pair| pair[1] - pair[0]).collect());
        statistics.run_time = ColumnStatistics::of(self.run_times);
        statistics.processors = ColumnStatistics::of(self.processors);
        statistics.accuracy = ColumnStatistics::of(self.accuracies);
        statistics.largest_job = statistics.processors.map(|column| column.max as u64);
        let jobs = statistics.jobs as f64;
        if statistics.jobs > 0 {
            statistics.serial = Some(self.serial as f64 / jobs);
            statistics.power_of_two = Some(self.powers_of_two as f64 / jobs);
        }
        statistics.users = self.users.len() as u64;
        let possible = statistics
            .machine()
            .zip(statistics.span())
            .map(|(processors, span)| processors as f64 * span)
            .filter(|&possible| possible > 0.0);
        statistics.load = possible.map(|possible| self.work / possible);
        statistics
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &'static str) -> Result<Statistics, WorkloadError> {
        Statistics::of(Box::new(text.as_bytes()), "log.swf")
    }

    const LOG: &str = "\
        ; MaxNodes: 16\n\
        1 100 -1 10 1 -1 -1 -1 20 -1 1 5 -1 -1 -1 -1 -1 -1\n\
        2 130 -1 30 3 -1 -1 4 20 -1 1 5 -1 -1 -1 -1 -1 -1\n\
        3 -1 -1 -1 0 -1 -1 0 20 -1 5 6 -1 -1 -1 -1 -1 -1\n\
        4 110 -1 0 6 -1 -1 -1 -1 -1 1 7 -1 -1 -1 -1 -1 -1\n\
        5 -1 -1 4 6 -1 -1 -1 -1 -1 1 8 -1 -1 -1 -1 -1 -1\n\
        6 140 -1 4 0 -1 -1 -1 -1 -1 1 8 -1 -1 -1 -1 -1 -1\n\
        ; Note: comments may stand anywhere\n\
        7 150 -1 20 8 -1 -1 -1 10 -1 1 -1 -1 -1 -1 -1 -1 -1\n";

    #[test]
    fn a_small_log_by_hand() {
        let statistics = of(LOG).unwrap();
        let column = |count, mean, median, min, max| {
            Some(ColumnStatistics { count, mean, median, min, max })
        };
        let expected = Statistics {
            header: statistics.header.clone(),
            lines: 7,
            jobs: 4,
            no_run_time: 1,
            no_processors: 1,
            no_submit_time: 1,
            out_of_order: 2, // lines 3 and 5 come after a later submission; line 4 after −1
            first_submit: Some(100.0),
            last_submit: Some(150.0),
            processors_by_header: Some(16),
            largest_job: Some(8),
            run_time: column(4, 15.0, 15.0, 0.0, 30.0),
            processors: column(4, 4.75, 5.0, 1.0, 8.0),
            interarrival: column(3, 50.0 / 3.0, 20.0, 10.0, 20.0),
            accuracy: column(3, (0.5 + 1.5 + 2.0) / 3.0, 1.5, 0.5, 2.0),
            no_request: 1,
            beyond_request: 2,
            zero_run_time: 1,
            serial: Some(0.25),
            power_of_two: Some(0.75),
            load: Some((10.0 + 120.0 + 160.0) / (16.0 * 50.0)),
            users: 2,
        };
        assert_eq!(statistics, expected);
        assert_eq!(statistics.header.entries.len(), 2);
        assert_eq!((statistics.unusable(), statistics.span()), (3, Some(50.0)));
    }

    #[test]
    fn what_a_log_does_not_tell_is_none() {
        let nothing = of("; MaxNodes: 16\n").unwrap();
        assert_eq!((nothing.jobs, nothing.span(), nothing.load), (0, None, None));
        assert_eq!(nothing.serial, None);
        let one = of("1 7 -1 10 4 -1 -1 -1 20 -1 1 5 -1 -1 -1 -1 -1 -1\n").unwrap();
        assert_eq!((one.machine(), one.interarrival, one.load), (Some(4), None, None));
    }

    #[test]
    fn an_error_is_passed_on() {
        let error = of("1 7 -1 10 4.5 -1 -1 -1 20 -1 1 5 -1 -1 -1 -1 -1 -1\n").unwrap_err();
        assert!(error.0.contains("field 5 (processors) is `4.5`"), "{error}");
        assert!(error.0.starts_with("log.swf:1: "), "{error}");
    }
}
