//! Resampling by weeks: each week of the new log is a week of the old one, drawn at random.

use crate::job::Job;
use crate::registry::About;
use crate::rng::Stream;
use crate::workload::WorkloadError;
use crate::workload::scale::{numbers_apart, renumber};

use super::{PERIOD, ResampleEntry, Resampling, WEEKS, Weeks};

pub(super) static ENTRY: ResampleEntry = ResampleEntry {
    about: About {
        name: "weeks",
        aliases: &["week"],
        summary: "whole weeks of the log in random order, with repetition",
        definition: "Each week of the result is a week of the log, drawn independently of all others. Within a week \
                     everything is as it was, the mix of users too; from one week to the next nothing is: users, \
                     projects and load that last longer are cut. The tail of the log after its last whole week is left \
                     out.",
        complexity: "O(n log n) for n jobs of the result, held in memory.",
        source: "Künsch, The jackknife and the bootstrap for general stationary observations, Annals of Statistics 17, 1989",
        params: &[WEEKS, PERIOD],
    },
    asks_for_owners: false,
    apply,
};

#[expect(clippy::needless_pass_by_value, reason = "all resamplings have one signature")]
fn apply(own: &Resampling, jobs: Vec<Job>, mut stream: Stream) -> Result<Vec<Job>, WorkloadError> {
    let weeks = Weeks::of(own, &jobs)?;
    let mut of_week: Vec<Vec<(usize, f64)>> = vec![Vec::new(); weeks.count as usize];
    for (place, job) in jobs.iter().enumerate() {
        if let Some((week, within)) = weeks.of_job(job) {
            of_week[week as usize].push((place, within));
        }
    }
    let numbers = numbers_apart(&jobs);
    let mut taken = Vec::new();
    for week in 0..weeks.wanted {
        let drawn = stream.below(weeks.count) as usize;
        taken.extend(of_week[drawn].iter().map(|&(place, within)| {
            let mut job = jobs[place].clone();
            job.move_to(weeks.at(week, within));
            renumber(&mut job, week * numbers);
            job
        }));
    }
    Ok(taken)
}
