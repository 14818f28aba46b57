//! Gaps of the profile: maximal intervals in which enough processors are free for a class of jobs.
//!
//! All waiting jobs that ask for the same number of processors form a class. If processors become
//! free in an interval, this interval is searched again, with the gaps that it touches. If
//! processors are taken, known gaps are not shortened, and may be too long. If more intervals
//! become free than a quarter of the number of known gaps, all gaps are searched anew.

use std::ops::Range;

use super::classes::Freed;
use super::row::Row;
use crate::cluster::Profile;
use crate::job::Time;

/// Maximal intervals with enough free nodes for a class of jobs. A stored interval may be too long,
/// because nodes may have been taken since it was found.
#[derive(Default)]
pub(super) struct Gaps {
    /// Start and end of every known gap that begins before `end`, in order of time.
    gaps: Vec<(Time, Time)>,
    end: Time,
    longest: f64,
}

/// Minimum ratio of known gaps to freed intervals at which the known gaps are updated.
///
/// Below this ratio, a new search for all gaps is no slower.
const SHARE: usize = 4;

impl Gaps {
    pub(super) fn forget(&mut self, now: Time) {
        self.gaps.clear();
        (self.end, self.longest) = (now, 0.0);
    }

    /// Extends the list of gaps to all gaps that begin before `end`.
    ///
    /// A gap is an interval in which at least `count` nodes are free.
    pub(super) fn extend(&mut self, end: Time, count: u64, profile: &Profile) {
        if self.end < end {
            // The last known gap may extend beyond the searched part, so it is searched again.
            let last = self.gaps.pop_if(|(_, until)| *until >= self.end);
            let begin = last.map_or(self.end, |(from, _)| from);
            self.look(self.gaps.len()..self.gaps.len(), begin, end, count, profile);
            self.end = end;
        }
    }

    /// Updates the gaps of a plan after nodes became free in the intervals `freed`.
    ///
    /// The caller guarantees that no gap has grown outside of these intervals.
    pub(super) fn renew(&mut self, freed: &[Freed], now: Time, count: u64, profile: &Profile) {
        let freed = freed.iter().filter(|freed| freed.most >= count as i64);
        if freed.clone().count() > self.gaps.len() / SHARE {
            self.forget(now);
            return;
        }
        for &Freed { from, until, .. } in freed {
            let first = self.gaps.partition_point(|(_, end)| *end < from);
            let touched = self.gaps[first..].iter().take_while(|(begin, _)| *begin <= until);
            let touched = first..first + touched.count();
            let (begin, end) = match self.gaps[touched.clone()] {
                [] => (from, until),
                [(begin, _), .., (_, end)] | [(begin, end)] => (from.min(begin), until.max(end)),
            };
            self.look(touched, begin, end.min(self.end), count, profile);
        }
    }

    /// Replaces the known intervals in `range` by the profile's intervals from `begin` to `end`.
    /// All of them have at least `count` free nodes.
    fn look(&mut self, range: Range<usize>, begin: Time, end: Time, count: u64, profile: &Profile) {
        let Gaps { gaps, longest, .. } = self;
        let known = gaps.len();
        for (from, until) in profile.gaps(begin, end, count) {
            if let Some(until) = until {
                *longest = longest.max(until.units() - from.units());
            }
            gaps.push((from, until.unwrap_or(Time::new(f64::INFINITY))));
        }
        let found = gaps.len() - known;
        gaps[range.start..].rotate_right(found);
        gaps.drain(range.start + found..range.end + found);
    }

    /// Start of the first gap that may let a job of `row` start sooner. A gap is an interval in
    /// which enough processors are free.
    pub(super) fn first_for(&self, row: &Row) -> Option<Time> {
        // Bound on the rounding error of sums and differences of instants up to the latest.
        let rounding = 4.0 * f64::EPSILON * (self.longest + row.last.units());
        let first = match self.longest + rounding < row.span {
            // No gap is as long as a run, so the gap must reach one of the row's starts.
            true => self.gaps.partition_point(|(_, until)| *until < row.first),
            false => 0,
        };
        let (earliest, _) = self.gaps.get(first)?;
        // Gaps and starts are both in order of time.
        let mut starts = row.starts_after(*earliest);
        let mut next = starts.next()?;
        for &(from, until) in &self.gaps[first..] {
            while next <= from {
                next = starts.next()?;
            }
            if next <= until || from + row.span <= until {
                return Some(from);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn all_room_is_known(
            taken in prop::collection::vec((0_u32..200, 1_u32..80, 1_i64..6), 0..60),
            changes in prop::collection::vec((0_u32..200, 1_u32..80, prop_oneof![Just(-1_i64), 1_i64..4], prop::bool::weighted(0.3)), 1..60),
            ends in (20_u32..150, 0_u32..100),
            count in 1_u64..8,
        ) {
            let time = |t: u32| Time::new(f64::from(t));
            let mut profile = Profile::new(time(0), 12);
            for (from, span, by) in taken {
                profile.change(time(from), time(from + span), -by);
            }
            let mut gaps = Gaps::default();
            let (first, more) = ends;
            gaps.forget(time(0));
            gaps.extend(time(first), count, &profile);
            let mut freed = Vec::new();
            for (i, (from, span, by, looked)) in changes.into_iter().enumerate() {
                let (from, until) = (time(from), time(from + span));
                profile.change(from, until, by);
                if by > 0 {
                    freed.push(Freed::new(from, until, 0, &profile));
                }
                let end = time(first + if i % 2 == 1 { more } else { 0 });
                if looked {
                    gaps.renew(&freed, time(0), count, &profile);
                    freed.clear();
                    gaps.extend(end, count, &profile);
                }
                if freed.is_empty() {
                    for (from, until) in profile.gaps(time(0), gaps.end, count) {
                        let until = until.unwrap_or(Time::new(f64::INFINITY));
                        let is_in = |&(begin, end): &(Time, Time)| begin <= from && until <= end;
                        prop_assert!(gaps.gaps.iter().any(is_in));
                    }
                    for (from, until) in &gaps.gaps {
                        let length = until.units() - from.units();
                        prop_assert!(length <= gaps.longest || length == f64::INFINITY);
                    }
                    prop_assert!(gaps.gaps.is_sorted());
                    prop_assert!(gaps.gaps.is_sorted_by_key(|(_, until)| *until));
                }
            }
        }
    }
}
