//! After which of their own jobs users submitted others: seen from a log that does not say it.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use crate::job::{After, Job, Time};

/// Users at work: a job that is submitted soon after the user's last one has ended was waiting for it.
pub(crate) struct Sessions {
    /// How long after an end a user is still there.
    longest: f64,
    users: BTreeMap<String, User>,
    /// How many jobs have been submitted.
    count: u64,
}

#[derive(Default)]
struct User {
    /// Jobs that have not ended yet, by end and order of submission, with their numbers.
    under_way: BinaryHeap<Reverse<(Time, u64, u64)>>,
    /// The end and the number of the last job that has.
    last: Option<(Time, u64)>,
}

impl Sessions {
    pub(super) fn new(longest: f64) -> Sessions {
        Sessions { longest, users: BTreeMap::new(), count: 0 }
    }

    /// After which job of the same user this one was submitted; it ended after it had waited for so long and run.
    /// Jobs come in order of submission.
    ///
    /// # Complexity
    /// **O(log j)** for *j* jobs of its user that have not ended, and O(log u) for *u* users.
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
