//! How many processors are free, from now on.

use crate::job::Time;

/// A step function of time: the processors that will be free, if nothing else is started.
///
/// # Complexity
/// With *s* steps, **O(s)** for each operation.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Profile {
    /// From each instant on so many are free; the first step begins now. May be negative where a
    /// promise is late because a job has outrun its estimate.
    steps: Vec<(Time, i64)>,
}

impl Profile {
    pub(super) fn new(now: Time, free: u64) -> Profile {
        Profile { steps: vec![(now, free as i64)] }
    }

    /// Adds `count` (which may be negative) from `from` up to `until`; what lies before now is
    /// now's.
    pub(super) fn add(&mut self, from: Time, until: Option<Time>, count: i64) {
        let first = self.cut(from);
        let last = until.map_or(self.steps.len(), |until| self.cut(until));
        for step in &mut self.steps[first..last.max(first)] {
            step.1 += count;
        }
    }

    /// The first step that begins after this instant.
    pub(super) fn next_step(&self, instant: Time) -> Option<Time> {
        let after = self.steps.partition_point(|&(from, _)| from <= instant);
        self.steps.get(after).map(|&(from, _)| from)
    }

    /// The earliest step, no earlier than `begin`, from which `count` processors stay free for
    /// `span`.
    pub(super) fn earliest(&self, begin: Time, count: u64, span: f64) -> Option<Time> {
        let mut start = None;
        let first = self.steps.partition_point(|&(from, _)| from < begin);
        for &(from, free) in &self.steps[first..] {
            if let Some(start) = start
                && from >= start + span
            {
                return Some(start);
            }
            if free < count as i64 {
                start = None;
            } else if start.is_none() {
                start = Some(from);
            }
        }
        start
    }

    /// The index of the step that begins at this instant, which is made if there is none.
    fn cut(&mut self, instant: Time) -> usize {
        match self.steps.binary_search_by_key(&instant, |&(from, _)| from) {
            Ok(index) => index,
            Err(0) => 0,
            Err(index) => {
                self.steps.insert(index, (instant, self.steps[index - 1].1));
                index
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Against an array with one entry for each unit of time.
        #[test]
        fn steps_agree_with_an_array(
            changes in prop::collection::vec((0_u32..30, prop::option::of(0_u32..30), -3_i64..4), 0..12),
            count in 0_u64..6,
            span in 0_u32..12,
            begin in 0_u32..20,
        ) {
            let mut profile = Profile::new(Time::new(5.0), 4);
            let mut array = [4_i64; 60];
            for (from, until, change) in changes {
                let until = until.map(|u| u.max(from));
                profile.add(
                    Time::new(f64::from(from)),
                    until.map(|u| Time::new(f64::from(u))),
                    change,
                );
                for (t, free) in array.iter_mut().enumerate() {
                    if t as u32 >= from && until.is_none_or(|u| (t as u32) < u) {
                        *free += change;
                    }
                }
            }
            let enough = |t: u32| (t..(t + span).max(t + 1)).all(|t| array[t as usize] >= count as i64);
            // It begins with a step, and steps are made where something changes.
            let is_step = |t: u32| profile.steps.iter().any(|&(from, _)| from == Time::new(f64::from(t)));
            let expected = (5.max(begin)..31).find(|&t| is_step(t) && enough(t));
            let found = profile.earliest(Time::new(f64::from(begin)), count, f64::from(span)).map(Time::units);
            prop_assert_eq!(found, expected.map(f64::from));
        }
    }
}
