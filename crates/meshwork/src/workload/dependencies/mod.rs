//! Dependencies: replay of a log in which a job is submitted after an earlier job has ended.
//!
//! Zakay and Feitelson (*Preserving user behavior characteristics in trace-based simulation of
//! parallel job scheduling*, MASCOTS 2014): users wait for a job to end, think, and submit the next
//! one. A replay at the recorded submission times ignores this, although those times depend on the
//! recorded machine and scheduler.

mod sessions;

use std::collections::{BTreeMap, BTreeSet};

use crate::job::{After, Job, Time};
use crate::registry::{About, Family, Kind, Param, Params, Range, Words, abouts, named};

use super::held::Held;
use super::{Following, Submission, Submissions, WorkloadError};

pub(crate) use sessions::Sessions;
struct DependenciesEntry {
    about: About,
    source: fn(&Params) -> Option<Source>,
}

named!(DependenciesEntry);

/// The family of sources of dependencies between jobs, from which a study selects one by name.
pub static DEPENDENCIES: Family = Family {
    kind: "source of dependencies",
    key: "of",
    entries: || abouts(ENTRIES),
    common: &[Param::new("replay", REPLAYS.kind()).is("\"closed\"").help(
        "closed: a job that follows another is submitted at its end and the think time, \
             whenever it was submitted in the log; held: not before it was submitted in the log \
             either",
    )],
};

static ENTRIES: &[&DependenciesEntry] = &[&NONE, &LOG, &USER];

static NONE: DependenciesEntry = DependenciesEntry {
    about: About::new("none", "none: jobs arrive when they arrive, whatever becomes of others")
        .aliases(&["open"])
        .definition(
            "An open loop, as without the key: for a sweep that compares it with the others.",
        )
        .complexity("O(1) for each job.")
        .source("general"),
    source: |_| None,
};

static LOG: DependenciesEntry = DependenciesEntry {
    about: About::new("log", "the jobs that the log names")
        .definition(
            "A job follows the one that its log names in field 17, by the think time \
             of field 18, or its table in the columns `after` and `think`. A think \
             time below 0, with which logs say that it is not known, is 0.",
        )
        .complexity("O(log j) for each of j jobs, all of which are held in memory.")
        .source(
            "Chapin et al., Benchmarks and standards for the evaluation of parallel \
             job schedulers, JSSPP 1999",
        ),
    source: |_| Some(Source::Log),
};

static USER: DependenciesEntry = DependenciesEntry {
    about: About::new(
        "user",
        "the last job of the same user that had ended, if that was not long before",
    )
    .definition(
        "A job follows the last of its user's jobs that had ended in the log when it was \
         submitted, by the time between, if that is at most `session`; after a longer one its user \
         has come back for other reasons. A job ended in the log after the wait of field 3, or of \
         the column `wait`, and its run time; where no wait is known, after its run time. Jobs of \
         which no user is known follow none.",
    )
    .complexity("O(log j) for each of j jobs, all of which are held in memory.")
    .source(
        "Zakay & Feitelson, Preserving user behavior characteristics in \
             trace-based simulation of parallel job scheduling, MASCOTS 2014",
    )
    .params(&[Param::new("session", Kind::Number(Range::NonNegative))
        .is("1200.0")
        .help("how long after the end of a job its user is still waiting for it")]),
    source: |params| Some(Source::User { session: params.number("session") }),
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Replay {
    Closed,
    Held,
}

static REPLAYS: Words<Replay, 2> = Words::new([("closed", Replay::Closed), ("held", Replay::Held)]);

/// Where the dependencies between the jobs of a log come from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Source {
    /// The log states the predecessor of each job. A job was submitted after its predecessor's end.
    Log,
    /// Predecessors are inferred from the submission times of each user's jobs.
    User {
        /// Longest think time between two jobs of one session.
        session: f64,
    },
}

impl Source {
    /// Reads the source of dependencies from a workload's parameters; `None` if none is given.
    pub(super) fn of(workload: &Params) -> Option<Source> {
        let params = workload.get_component("dependencies", &DEPENDENCIES)?;
        let is_named = |entry: &&&DependenciesEntry| entry.about.name == params.name();
        ENTRIES.iter().find(is_named).and_then(|entry| (entry.source)(&params))
    }

    pub(super) fn asks_for_owners(self) -> bool {
        matches!(self, Source::User { .. })
    }

    /// Sessions of users, from which dependencies are inferred; `None` if the log states
    /// dependencies.
    pub(super) fn sessions(self) -> Option<Sessions> {
        match self {
            Source::Log => None,
            Source::User { session } => Some(Sessions::new(session)),
        }
    }
}

pub(crate) fn are_asked_for(workload: &Params) -> bool {
    Source::of(workload).is_some()
}

/// Links jobs to their predecessors. In the result, jobs with a predecessor come first.
pub(super) fn linked(jobs: Submissions, params: &Params) -> Submissions {
    let replay = params.meaning("replay", &REPLAYS);
    let key = params.path().to_owned();
    let said = key.clone();
    Box::new(Held::handing_out(jobs, key, move |jobs| {
        let followed = Followed::among(&jobs);
        if let Some(cycle) = followed.cycle(&jobs) {
            return Err(WorkloadError(format!("`{said}` is given, but {cycle}")));
        }
        Ok(followed.hand_out(jobs, replay))
    }))
}

/// Job numbers that other jobs name as predecessors, each with the count of jobs that bear it.
/// Several jobs can share a number: the parts of a split job, and in some logs the lines of one
/// job.
struct Followed(BTreeMap<u64, u32>);

impl Followed {
    fn among(jobs: &[Job]) -> Followed {
        let numbers: BTreeSet<u64> =
            jobs.iter().filter_map(|job| job.after().map(|after| after.number)).collect();
        let mut followed = BTreeMap::new();
        for job in jobs.iter().filter(|job| numbers.contains(&job.number)) {
            *followed.entry(job.number).or_default() += 1;
        }
        Followed(followed)
    }

    /// Predecessor of a job, and the number of jobs that have the predecessor's number. `None` if
    /// the job has no predecessor, or no job of the workload has the predecessor's number.
    fn after(&self, job: &Job) -> Option<(After, u32)> {
        let after = job.after()?;
        self.0.get(&after.number).map(|&ends| (after, ends))
    }

    /// Describes a cycle of jobs that wait for each other, and would never be submitted.
    fn cycle(&self, jobs: &[Job]) -> Option<String> {
        // For each number, how many of its jobs are not reached yet, and the numbers of its
        // followers.
        let mut left = self.0.clone();
        let mut followers: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
        let mut reached: Vec<u64> = Vec::new();
        for job in jobs {
            match self.after(job) {
                Some((after, _)) => followers.entry(after.number).or_default().push(job.number),
                None => reached.push(job.number),
            }
        }
        while let Some(number) = reached.pop() {
            let Some(count) = left.get_mut(&number) else { continue };
            *count -= 1;
            if *count == 0 {
                left.remove(&number);
                reached.extend(followers.remove(&number).unwrap_or_default());
            }
        }
        // Each job that was not reached follows another such job, so following predecessors leads
        // into a cycle.
        let leads: BTreeMap<u64, u64> = jobs
            .iter()
            .filter_map(|job| Some((job.number, self.after(job)?.0.number)))
            .filter(|(number, lead)| left.contains_key(number) && left.contains_key(lead))
            .collect();
        let (mut way, mut places) = (Vec::new(), BTreeMap::new());
        let mut number = *left.keys().next()?;
        loop {
            if let Some(begin) = places.insert(number, way.len()) {
                return Some(said(&way[begin..]));
            }
            way.push(number);
            number = *leads.get(&number)?;
        }
    }

    fn hand_out(&self, jobs: Vec<Job>, replay: Replay) -> Vec<Submission> {
        let (mut following, mut others) = (Vec::new(), Vec::new());
        for job in jobs {
            match self.after(&job) {
                Some((after, ends)) => {
                    let mut job = job;
                    if replay == Replay::Closed {
                        job.move_to(Time::ZERO);
                    }
                    let follower = Following { job, after, ends };
                    following.push(Submission::Following(Box::new(follower)));
                }
                None => others.push(Submission::Job(job)),
            }
        }
        following.append(&mut others);
        following
    }
}

/// Formats a cycle of jobs that wait for each other, beginning at the job with the lowest number.
fn said(cycle: &[u64]) -> String {
    let least = (0..cycle.len()).min_by_key(|&at| cycle[at]).unwrap_or(0);
    let mut way: Vec<String> = cycle[least..]
        .iter()
        .chain(&cycle[..least])
        .map(|number| format!("job {number}"))
        .collect();
    match &way[..] {
        [itself] => format!("{itself} follows itself"),
        _ if way.len() <= 6 => {
            way.push(way[0].clone());
            way.join(" follows ")
        }
        _ => format!(
            "{} and so on: {} jobs follow one another in a circle",
            way[..3].join(" follows "),
            way.len()
        ),
    }
}

#[cfg(test)]
mod tests;
