//! Inference of dependencies between the jobs of a user, for logs that do not state them.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use crate::job::{After, Job, Time};

/// Sessions of users, from which dependencies are inferred job by job.
///
/// A job that is submitted soon after the last end of a job of its user depends on that earlier
/// job. Both jobs are then in one session.
pub(crate) struct Sessions {
    /// Longest think time between two jobs of one session.
    longest: f64,
    users: BTreeMap<String, User>,
    count: u64,
}

#[derive(Default)]
struct User {
    /// Jobs of the user that have not ended. For each job: its end, its index in the order of
    /// submission, and its number.
    under_way: BinaryHeap<Reverse<(Time, u64, u64)>>,
    /// End and number of the user's job that ended last.
    last: Option<(Time, u64)>,
}

impl Sessions {
    pub(super) fn new(longest: f64) -> Sessions {
        Sessions { longest, users: BTreeMap::new(), count: 0 }
    }

    /// Returns the predecessor of a job among the jobs of its user, if there is one. This function
    /// must be called for all jobs in order of submission. `wait` is how long the job waited in the
    /// log. The job's end is its submission plus the wait and the run time. Time: **O(log j)** for
    /// *j* unfinished jobs of the user, and **O(log u)** for *u* users.
    pub(crate) fn after(&mut self, job: &Job, wait: f64) -> Option<After> {
        let user = job.owner.as_ref()?.user.as_ref()?;
        if !self.users.contains_key(user) {
            self.users.insert(user.clone(), User::default());
        }
        let user = self.users.get_mut(user)?;
        while let Some(&Reverse((end, _, number))) = user.under_way.peek()
            && end <= job.arrival
        {
            user.under_way.pop();
            user.last = Some((end, number));
        }
        user.under_way.push(Reverse((job.arrival + wait + job.runtime, self.count, job.number)));
        self.count += 1;
        let (end, number) = user.last?;
        let think = job.arrival - end;
        (think <= self.longest).then_some(After { number, think })
    }
}
