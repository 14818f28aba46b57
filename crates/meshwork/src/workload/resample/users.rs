//! Resampling by users: users keep their own jobs, which move to weeks drawn at random.

use std::sync::Arc;

use crate::job::{Job, Owner};
use crate::registry::{About, Kind, Param, Range};
use crate::rng::Stream;
use crate::workload::WorkloadError;
use crate::workload::scale::{by_user, numbers_apart, renumber};

use super::{PERIOD, ResampleEntry, Resampling, WEEKS, Weeks};

pub(super) static ENTRY: ResampleEntry = ResampleEntry {
    about: About {
        name: "users",
        aliases: &["user"],
        summary: "users come in other weeks, each with their own jobs",
        definition: "Each user keeps their jobs with weekday and hour, and is moved by whole weeks, independently of all \
                     others. One who is active over at least `long_term` weeks, or half of the log, is a long-term user: \
                     their weeks begin at a random one and go around. Any other is temporary: they come once in a random \
                     week of every stretch as long as the log. The tail of the log after its last whole week is left out. \
                     `users` changes the load by the number of users: the whole part is how often each takes part, as a \
                     user of another name with another shift, and the rest the chance of once more. Jobs without a user \
                     are each a user of their own. What users do in response to each other is lost; sessions and think \
                     times stay, which `dependencies` replays in closed loop.",
        complexity: "O(n log n) for n jobs of the result, held in memory.",
        source: "Zakay & Feitelson, Workload resampling for performance evaluation of parallel job schedulers, Concurrency \
                 and Computation 26(12), 2014",
        params: &[
            WEEKS,
            Param::new("long_term", Kind::Integer(2, 10_000)).is("12").help(
                "from how many weeks between their first and last job on users are long-term \
                     ones",
            ),
            Param::new("users", Kind::Number(Range::Positive)).is("1.0").help(
                "the number of users in relation to the log: 1.2 adds a fifth, 0.8 leaves out \
                     a fifth",
            ),
            PERIOD,
        ],
    },
    asks_for_owners: true,
    apply,
};

#[expect(clippy::needless_pass_by_value, reason = "all resamplings have one signature")]
fn apply(own: &Resampling, jobs: Vec<Job>, mut stream: Stream) -> Result<Vec<Job>, WorkloadError> {
    let weeks = Weeks::of(own, &jobs)?;
    let long_term = own.params.integer("long_term").min(weeks.count.div_ceil(2));
    let share = own.params.number("users");
    let (whole, rest) = (libm::floor(share) as u64, share - libm::floor(share));
    let numbers = numbers_apart(&jobs);
    let stretches = weeks.wanted.div_ceil(weeks.count);
    let mut taken = Vec::new();
    let groups = by_user(&own.key, "by", &jobs).map_err(|WorkloadError(sentence)| {
        WorkloadError(format!("{sentence}: \"weeks\" and \"shake\" do without users"))
    })?;
    for group in groups {
        let placed: Vec<(usize, u64, f64)> = group
            .into_iter()
            .filter_map(|place| weeks.of_job(&jobs[place]).map(|(week, at)| (place, week, at)))
            .collect();
        let copies = whole + u64::from(stream.unit() < rest);
        let (Some(first), Some(last)) = (placed.first(), placed.last()) else { continue };
        let is_long_term = last.1 - first.1 + 1 >= long_term;
        for copy in 0..copies {
            let mut shift = stream.below(weeks.count);
            for stretch in 0..stretches {
                if stretch > 0 && !is_long_term {
                    shift = stream.below(weeks.count);
                }
                for &(place, week, within) in &placed {
                    let to = stretch * weeks.count + (week + shift) % weeks.count;
                    if to >= weeks.wanted {
                        continue;
                    }
                    let mut job = jobs[place].clone();
                    job.move_to(weeks.at(to, within));
                    renumber(&mut job, (copy * stretches + stretch) * numbers);
                    if copy > 0 {
                        rename(&mut job, copy);
                    }
                    taken.push(job);
                }
            }
        }
    }
    Ok(taken)
}

/// Changes the user of a job to a numbered copy of this user. Copies stand for users who are drawn
/// several times. The name of a copy is the user's name with a number appended.
fn rename(job: &mut Job, copy: u64) {
    if let Some(owner) = &job.owner
        && let Some(user) = &owner.user
    {
        let user = Some(format!("{user}~{}", copy + 1));
        job.owner = Some(Arc::new(Owner { user, ..Owner::clone(owner) }));
    }
}
