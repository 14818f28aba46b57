//! Parameters of the scheduler `slurm`, with the names that they have in `slurm.conf`.

use std::collections::BTreeMap;

use crate::job::Job;
use crate::registry::{DefaultValue, Kind, Param, Params, Problem};
use crate::sched::shares::SHARES;

pub(super) static PARAMS: &[Param] = &[
    Param::new("bf_interval", Kind::Or(&["never"], &Kind::Integer(1, 10_800)))
        .is("30")
        .help("seconds from one backfill pass to the next; \"never\" is sched/builtin"),
    Param::new("bf_window", Kind::Integer(1, 43_200))
        .is("1440")
        .help("minutes that backfill looks ahead: later starts are not reserved"),
    Param::new("bf_resolution", Kind::Integer(1, 3600))
        .is("60")
        .help("seconds to which starts and ends of reservations are rounded"),
    Param::new("bf_rounding", Kind::Choice(&["down", "up"])).is("\"down\"").help(
        "how the end of a reservation is rounded: down as up to Slurm 22.05, or up as in Slurm \
             26.05",
    ),
    Param::new("bf_max_job_test", Kind::Integer(1, 1_000_000))
        .is("500")
        .help("the most jobs that a backfill pass plans"),
    Param::new("bf_max_job_user", Kind::Integer(0, 1_000_000))
        .is("0")
        .help("the most jobs of one user that a backfill pass considers; 0 for no limit"),
    Param::new("bf_max_job_part", Kind::Integer(0, 1_000_000))
        .is("0")
        .help("the most jobs of one partition that a backfill pass considers; 0 for no limit"),
    Param::new("bf_continue", Kind::Flag)
        .is("false")
        .help("accepted without effect: a simulated pass takes no time, so nothing interrupts it"),
    Param::new("bf_min_age_reserve", Kind::Integer(0, 2_592_000)).is("0").help(
        "seconds that a job has to wait before nodes are reserved for it, or it blocks others",
    ),
    Param::new("bf_min_prio_reserve", Kind::Integer(0, u32::MAX as u64))
        .is("0")
        .help("the priority from which on nodes are reserved for a job, and it blocks others"),
    Param::new("default_queue_depth", Kind::Integer(0, 1_000_000_000))
        .is("100")
        .help("the most jobs that a main pass after an event considers"),
    Param::new("partition_job_depth", Kind::Integer(0, 1_000_000_000))
        .is("0")
        .help("the most jobs of one partition that a main pass considers; 0 for no limit"),
    Param::new("sched_interval", Kind::Or(&["never"], &Kind::Integer(1, 86_400)))
        .is("60")
        .help("seconds from one main pass over the whole queue to the next"),
    Param::new("sched_min_interval", Kind::Integer(0, 1_000_000_000))
        .is("2")
        .help("microseconds that lie between two main passes at least"),
    Param::new("batch_sched_delay", Kind::Integer(0, 86_400))
        .is("3")
        .help("seconds that lie between a main pass and the next one after an event at least"),
    Param::new("defer", Kind::Flag).is("false").help(
        "accepted without effect: all jobs are batch jobs, which never start in their \
             submission",
    ),
    Param::new("max_rpc_cnt", Kind::Integer(0, 1_000))
        .is("0")
        .help("accepted without effect: a simulated controller is never busy with requests"),
    weight("PriorityWeightAge", "the weight of how long a job has waited"),
    weight("PriorityWeightFairshare", "the weight of its user's fair share (Fair Tree, one level)"),
    weight("PriorityWeightJobSize", "the weight of how large it is"),
    weight("PriorityWeightPartition", "the weight of its partition's PriorityJobFactor"),
    weight("PriorityWeightQOS", "the weight of its QOS's priority"),
    weight("PriorityWeightSite", "the weight of its own priority, which is from 0 to 1"),
    Param::new("PriorityMaxAge", Kind::Text).is("\"7-0\"").help(
        "the wait from which on the factor of age is 1: minutes, hours:minutes:seconds, \
             days-hours",
    ),
    Param::new("PriorityDecayHalfLife", Kind::Text)
        .is("\"7-0\"")
        .help("after how long half of a user's usage is forgotten; \"0\" never forgets"),
    Param::new("PriorityCalcPeriod", Kind::Text)
        .is("\"5\"")
        .help("how often priorities are computed anew, in minutes: between, they stay as they are"),
    Param::new("PriorityFavorSmall", Kind::Flag)
        .is("false")
        .help("whether small jobs have the larger factor of size"),
    SHARES,
    Param::new("partitions", Kind::Tables(PARTITION))
        .absent("all partitions are of tier 1 and have the factor 1")
        .help("how partitions stand to each other, by the names that jobs have for them"),
    Param::new("qos", Kind::Tables(QOS))
        .absent("every QOS has the priority 0")
        .help("priorities of QOS: that of a job is the queue that it was submitted to"),
];

const NAME: Param = Param::new("name", Kind::Text).help("its name, as the log or the table has it");

static PARTITION: &[Param] = &[
    NAME,
    Param::new("PriorityTier", Kind::Integer(0, 65_533))
        .is("1")
        .help("jobs of a higher tier come before all jobs of a lower one"),
    Param::new("PriorityJobFactor", Kind::Integer(0, 65_533))
        .is("1")
        .help("what PriorityWeightPartition counts, over the largest of a partition"),
];

static QOS: &[Param] = &[
    NAME,
    Param::new("Priority", Kind::Integer(0, u32::MAX as u64))
        .is("0")
        .help("what PriorityWeightQOS counts, over the largest of a QOS"),
];

const fn weight(name: &'static str, help: &'static str) -> Param {
    let kind = Kind::Integer(0, u32::MAX as u64);
    Param { name, kind, default: DefaultValue::Is("0"), help }
}

#[derive(Clone, Debug)]
pub(super) struct Settings {
    /// Seconds between backfill passes; `None` without backfill passes.
    pub(super) bf_interval: Option<f64>,
    /// Planning horizon in seconds.
    pub(super) bf_window: f64,
    pub(super) bf_resolution: f64,
    pub(super) rounds_up: bool,
    pub(super) bf_max_job_test: u64,
    pub(super) bf_max_job_user: u64,
    pub(super) bf_max_job_part: u64,
    /// Minimum age of a job, in seconds, at which nodes may be reserved for it.
    pub(super) bf_min_age_reserve: f64,
    pub(super) bf_min_prio_reserve: u64,
    pub(super) default_queue_depth: u64,
    pub(super) partition_job_depth: u64,
    /// Seconds between main passes over the whole queue; `None` if no main pass covers the whole
    /// queue.
    pub(super) sched_interval: Option<f64>,
    /// Minimum number of seconds between two main passes.
    pub(super) main_delay: f64,
}

impl Settings {
    pub(super) fn read(params: &Params) -> Settings {
        let number = |key: &str| params.integer(key) as f64;
        let limit = |key: &str| match params.integer(key) {
            0 => u64::MAX,
            limit => limit,
        };
        let interval = |key: &str| params.get_integer(key).map(|seconds| seconds as f64);
        Settings {
            bf_interval: interval("bf_interval"),
            bf_window: number("bf_window") * 60.0,
            bf_resolution: number("bf_resolution"),
            rounds_up: params.text("bf_rounding") == "up",
            bf_max_job_test: params.integer("bf_max_job_test"),
            bf_max_job_user: limit("bf_max_job_user"),
            bf_max_job_part: limit("bf_max_job_part"),
            bf_min_age_reserve: number("bf_min_age_reserve"),
            bf_min_prio_reserve: params.integer("bf_min_prio_reserve"),
            default_queue_depth: params.integer("default_queue_depth"),
            partition_job_depth: limit("partition_job_depth"),
            sched_interval: interval("sched_interval"),
            main_delay: number("batch_sched_delay").max(number("sched_min_interval") / 1e6),
        }
    }
}

/// Values that a parameter lists for partitions or QOS, and the value for names that are not
/// listed.
pub(super) struct Named {
    of: BTreeMap<String, u64>,
    otherwise: u64,
    largest: u64,
}

impl Named {
    /// Reads one number from each table of a list of named tables; no name may be listed twice.
    pub(super) fn read(
        params: &Params,
        list: &str,
        key: &str,
        otherwise: u64,
    ) -> Result<Named, Problem> {
        let mut named = Named { of: BTreeMap::new(), otherwise, largest: otherwise };
        for given in params.get_tables(list).unwrap_or_default() {
            let (name, number) = (given.text("name"), given.integer(key));
            named.largest = named.largest.max(number);
            if named.of.insert(name.to_owned(), number).is_some() {
                return Err(given.problem("name", format!("`{list}` lists {name:?} twice")));
            }
        }
        Ok(named)
    }

    pub(super) fn of(&self, name: Option<&str>) -> u64 {
        name.and_then(|name| self.of.get(name)).copied().unwrap_or(self.otherwise)
    }

    /// Priority factor of a name: its value divided by the largest value of any name; 0 if all are
    /// 0.
    pub(super) fn factor(&self, name: Option<&str>) -> f64 {
        if self.largest == 0 { 0.0 } else { self.of(name) as f64 / self.largest as f64 }
    }
}

pub(super) fn partition(job: &Job) -> Option<&str> {
    job.owner.as_ref()?.partition.as_deref()
}

pub(super) fn qos(job: &Job) -> Option<&str> {
    job.owner.as_ref()?.queue.as_deref()
}

/// Reads a duration in Slurm's notation, in seconds; 0 is accepted only if `zero` is set.
pub(super) fn span(params: &Params, key: &str, zero: bool) -> Result<f64, Problem> {
    let text = params.text(key);
    match parse_span(text).filter(|&seconds| zero || seconds > 0.0) {
        Some(seconds) => Ok(seconds),
        None => {
            let least = if zero { "" } else { " above 0" };
            let says = format!(
                "`{key}` is {text:?}, but must be a time{least} as in slurm.conf: minutes, \
                 minutes:seconds, hours:minutes:seconds, days-hours, days-hours:minutes or \
                 days-hours:minutes:seconds"
            );
            Err(params.problem(key, says))
        }
    }
}

/// Converts a duration in one of the six notations of `slurm.conf` to seconds.
fn parse_span(text: &str) -> Option<f64> {
    let (days, clock) = match text.split_once('-') {
        Some((days, clock)) => (Some(days.parse::<u32>().ok()?), clock),
        None => (None, text),
    };
    let parts: Vec<u32> =
        clock.split(':').map(|part| part.parse().ok()).collect::<Option<Vec<u32>>>()?;
    let (hours, minutes, seconds) = match (days, &parts[..]) {
        (None, &[minutes]) => (0, minutes, 0),
        (None, &[minutes, seconds]) => (0, minutes, seconds),
        (_, &[hours, minutes, seconds]) => (hours, minutes, seconds),
        (Some(_), &[hours]) => (hours, 0, 0),
        (Some(_), &[hours, minutes]) => (hours, minutes, 0),
        _ => return None,
    };
    let [days, hours, minutes, seconds] =
        [days.unwrap_or(0), hours, minutes, seconds].map(f64::from);
    Some(((days * 24.0 + hours) * 60.0 + minutes) * 60.0 + seconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_read_as_slurm_reads_them() {
        for (text, seconds) in [
            ("5", 300.0),
            ("5:30", 330.0),
            ("1:00:01", 3601.0),
            ("7-0", 604_800.0),
            ("1-2:30", 95_400.0),
            ("1-2:30:05", 95_405.0),
            ("0", 0.0),
        ] {
            assert_eq!(parse_span(text), Some(seconds), "{text}");
        }
        for text in ["", "-", "1-", "x", "1:2:3:4", "-5", "1.5", "1-2-3"] {
            assert_eq!(parse_span(text), None, "{text}");
        }
    }
}
