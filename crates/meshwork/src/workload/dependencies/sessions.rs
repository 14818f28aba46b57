//! Inference of dependencies between a user's jobs for logs that do not state them.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use crate::job::{After, Job, Time};

/// Session tracker: a job submitted soon after the user's last one ended depended on it.
pub(crate) struct Sessions {
    /// Longest think time within a session.
    longest: f64,
    users: BTreeMap<String, User>,
    /// Number of submitted jobs.
    count: u64,
}

#[derive(Default)]
struct User {
    /// Jobs that have not ended, as end, order of submission and number.
    under_way: BinaryHeap<Reverse<(Time, u64, u64)>>,
    /// End and number of the last ended job.
    last: Option<(Time, u64)>,
}

impl Sessions {
    pub(super) fn new(longest: f64) -> Sessions {
        Sessions { longest, users: BTreeMap::new(), count: 0 }
    }

    /// Returns the predecessor of a job among those of its user. `wait` is the job's own wait,
    /// which with its run time gives its end. Jobs must come in order of submission.
    ///
    /// # Complexity
    /// **O(log j)** for *j* unfinished jobs of its user, and O(log u) for *u* users.
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
