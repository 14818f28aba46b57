use std::collections::BTreeMap;
use std::sync::Arc;

use crate::job::{Owner, Request};
use crate::topology::Topology;
use crate::workload::Submission;
use crate::workload::testing::{context, only_jobs};
use toml::Value;

use super::*;

const WEEK: f64 = 604_800.0;

/// Eight weeks of jobs. User `l` submits jobs in every week, and each of the users `t0` to `t7` in
/// one week.
fn log() -> Vec<Job> {
    let mut jobs = Vec::new();
    let mut add = |user: &str, week: u64, hour: f64, nodes: u32| {
        let at = Time::new(500.0 + week as f64 * WEEK + hour * 3600.0);
        let owner = Owner { user: Some(user.to_owned()), ..Owner::default() };
        let mut job = Job::new(jobs.len() as u64 + 1, at, Request::Nodes(nodes), 100.0);
        job.estimate = 100.0 + f64::from(nodes);
        job.owner = Some(Arc::new(owner));
        jobs.push(job);
    };
    for week in 0..8 {
        add("l", week, 0.0, 1 + week as u32);
        add(&format!("t{week}"), week, 30.0, 100 + week as u32);
        add(&format!("t{week}"), week, 31.5, 200 + week as u32);
    }
    add("tail", 8, 1.0, 999);
    jobs
}

fn made(given: &str, replication: u64, jobs: Vec<Job>) -> Result<Vec<Job>, String> {
    let value: toml::Table = format!("resample = {given}").parse().unwrap();
    let value: &Value = &value["resample"];
    let params = RESAMPLES.resolve("resample", value).map_err(|problem| problem.message)?;
    let sites = [(Topology::flat(1000).unwrap(), 1.0)];
    let setting = WorkloadContext { seed: 3, replication, owners: true, ..context(&sites) };
    let jobs = Box::new(jobs.into_iter().map(|job| Ok(Submission::Job(job))));
    only_jobs(resampled(jobs, &params, &setting)).map_err(|error| error.0)
}

fn week_of(job: &Job) -> u64 {
    ((job.arrival.units() - 500.0) / WEEK) as u64
}

fn hour_of(job: &Job) -> f64 {
    (job.arrival.units() - 500.0) % WEEK / 3600.0
}

fn user(job: &Job) -> String {
    job.owner.as_ref().unwrap().user.clone().unwrap()
}

fn nodes(jobs: &[Job]) -> Vec<u64> {
    let mut nodes: Vec<u64> = jobs.iter().map(|job| job.request.nodes()).collect();
    nodes.sort_unstable();
    nodes
}

#[test]
fn users_keep_their_jobs_weekday_and_hour() {
    let original = log();
    let whole = nodes(&original[..24]);
    let mut shifts = std::collections::BTreeSet::new();
    for replication in 0..20 {
        let jobs = made("'users'", replication, log()).unwrap();
        assert_eq!(jobs, made("'users'", replication, log()).unwrap(), "the same bits again");
        assert!(jobs.is_sorted_by_key(|job| job.arrival));
        assert_eq!(nodes(&jobs), whole, "all jobs of whole weeks, and none of the tail");
        for job in &jobs {
            let before = original.iter().find(|other| other.request == job.request).unwrap();
            assert!((hour_of(job) - hour_of(before)).abs() < 1e-6);
            assert_eq!(user(job), user(before));
            assert!((job.runtime, job.estimate) == (before.runtime, before.estimate));
        }
        // Weeks of the long-term user are all shifted by the same number, cyclically.
        let by_week: Vec<u64> =
            jobs.iter().filter(|job| user(job) == "l").map(|job| job.request.nodes()).collect();
        assert!(by_week.windows(2).all(|pair| pair[1] == pair[0] % 8 + 1), "{by_week:?}");
        shifts.insert(by_week[0]);
        // The jobs of a temporary user stay in one week.
        let mut weeks: BTreeMap<String, Vec<u64>> = BTreeMap::new();
        jobs.iter().for_each(|job| weeks.entry(user(job)).or_default().push(week_of(job)));
        assert!(weeks.iter().all(|(user, weeks)| user == "l" || weeks[0] == weeks[1]));
    }
    assert!(shifts.len() > 4, "replications differ: {shifts:?}");
}

#[test]
fn lengths_and_loads_are_those_asked_for() {
    let mean = |given: &str| {
        let counts = (0..300).map(|replication| {
            let jobs = made(given, replication, log()).unwrap();
            jobs.len() as f64
        });
        counts.sum::<f64>() / 300.0
    };
    // The log has three jobs a week, and each week of a user comes with probability weeks / 8.
    for (given, jobs) in [
        ("{ by = 'users', weeks = 4 }", 12.0),
        ("{ by = 'users', weeks = 20 }", 60.0),
        ("{ by = 'users', users = 1.5 }", 36.0),
        ("{ by = 'users', users = 0.5 }", 12.0),
        ("{ by = 'weeks', weeks = 4 }", 12.0),
    ] {
        let mean = mean(given);
        assert!((mean - jobs).abs() < 0.06 * jobs, "{given}: {mean}");
    }
    let longer = made("{ by = 'users', weeks = 20 }", 1, log()).unwrap();
    assert!(longer.iter().map(week_of).max() > Some(16));
    let twice = made("{ by = 'users', users = 2 }", 1, log()).unwrap();
    assert_eq!(twice.iter().filter(|job| user(job).ends_with("~2")).count(), 24);
}

#[test]
fn weeks_stay_whole() {
    let mut seen = std::collections::BTreeSet::new();
    for replication in 0..40 {
        let jobs = made("'weeks'", replication, log()).unwrap();
        assert_eq!(jobs.len(), 24);
        for week in jobs.chunks(3) {
            let from = week[0].request.nodes() - 1;
            assert_eq!(nodes(week), [1 + from, 100 + from, 200 + from]);
            seen.insert(from);
        }
    }
    assert_eq!(seen.len(), 8, "every week is drawn");
}

#[test]
fn shaken_jobs_are_nearly_the_same() {
    let original = log();
    let jobs = made("{ by = 'shake', estimates = 0.5 }", 0, log()).unwrap();
    assert_eq!(jobs.len(), original.len());
    let mut moved = 0;
    for job in &jobs {
        let before = original.iter().find(|other| other.number == job.number).unwrap();
        assert!((job.arrival.units() - before.arrival.units()).abs() <= 60.0);
        assert!((job.runtime / before.runtime - 1.0).abs() <= 0.02);
        assert!(job.estimate >= job.runtime && job.estimate <= 1.5 * before.estimate);
        moved += usize::from(job.arrival != before.arrival);
    }
    assert_eq!(moved, jobs.len());
    let still = made("{ by = 'shake', arrivals = 0, runtimes = 0 }", 0, log()).unwrap();
    assert_eq!(still, original);
}

#[test]
fn followers_follow_within_their_copy() {
    let mut jobs = log();
    // The second job of each temporary user follows this user's first job.
    for place in 0..24 {
        if place % 3 == 2 {
            let number = jobs[place - 1].number;
            let after = Some(crate::job::After { number, think: 5.0 });
            jobs[place].terms = Some(Box::new(crate::job::Terms { after, ..Default::default() }));
        }
    }
    for given in ["{ by = 'users', users = 3, weeks = 20 }", "{ by = 'weeks', weeks = 20 }"] {
        let made = made(given, 2, jobs.clone()).unwrap();
        let mut followers = 0;
        for job in made.iter().filter(|job| job.after().is_some()) {
            let leads: Vec<&Job> =
                made.iter().filter(|lead| lead.number == job.after().unwrap().number).collect();
            assert_eq!(leads.len(), 1, "{given}");
            assert!(user(leads[0]) == user(job) && week_of(leads[0]) == week_of(job));
            followers += 1;
        }
        assert!(followers > 10, "{given}: {followers}");
    }
}

#[test]
fn short_and_anonymous_logs_are_refused() {
    let mut short = log();
    short.truncate(4);
    assert_eq!(
        made("'users'", 0, short).unwrap_err(),
        "`resample` moves jobs by whole weeks, and must have at least two, but these 4 jobs arrive within 1 of a week \
         (`period`, 604800 units of their clock): \"shake\" resamples logs of any length"
    );
    let nobody = log().into_iter().map(|job| Job { owner: None, ..job }).collect();
    assert_eq!(
        made("'users'", 0, nobody).unwrap_err(),
        "`resample.by` is \"users\", but of none of these 25 jobs it is known whose it is: \"weeks\" and \"shake\" do \
         without users"
    );
}
