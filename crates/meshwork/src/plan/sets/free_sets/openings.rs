//! Openings: intervals in which a job may start on a placement that was not possible before.

use std::ops::Range;

use crate::job::Time;

/// Disjoint intervals in which a job may start, in order of time.
#[derive(Default)]
pub(in crate::plan::sets) struct Openings(Vec<Range<Time>>);

impl Openings {
    pub(in crate::plan::sets) fn begin(&mut self, at: Time) {
        self.0.clear();
        self.0.push(at..Time::new(f64::INFINITY));
    }

    /// Replaces all intervals by the given ones, which may be unordered, touching or empty.
    pub(in crate::plan::sets) fn assign(&mut self, openings: impl Iterator<Item = Range<Time>>) {
        self.0.clear();
        self.0.extend(openings.filter(|opening| !opening.is_empty()));
        self.0.sort_unstable_by_key(|opening| opening.start);
        self.0.dedup_by(|later, one| {
            let goes_on = later.start <= one.end;
            if goes_on {
                one.end = one.end.max(later.end);
            }
            goes_on
        });
    }

    pub(in crate::plan::sets) fn are_none(&self) -> bool {
        self.0.is_empty()
    }

    pub(in crate::plan::sets) fn have_begun_by(&self, now: Time) -> bool {
        self.0.first().is_some_and(|first| first.start <= now)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Range<Time>> {
        self.0.iter()
    }
}
