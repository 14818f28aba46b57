//! Gaps of the profile: maximal intervals in which one class's number of processors is free.
//!
//! The known gaps contain all real ones. Intervals in which processors became free are searched
//! again, with the gaps that they touch; processors taken since are not subtracted. If more than a
//! quarter as many intervals became free as gaps are known, all gaps are searched anew.

use std::ops::Range;

use super::classes::Freed;
use super::row::Row;
use crate::cluster::Profile;
use crate::job::Time;

/// When as many processors as one class wants are free without a break; more may have been taken since.
#[derive(Default)]
pub(super) struct Rooms {
    /// In order of time, each from when to when: all that begin before `end`.
    rooms: Vec<(Time, Time)>,
    end: Time,
    /// None of them that has an end is longer.
    longest: f64,
}

/// As large a share of them is looked at again one by one: to look for all of them anew is no more work than for more.
const SHARE: usize = 4;

impl Rooms {
    /// None is known, from now on.
    pub(super) fn forget(&mut self, now: Time) {
        self.rooms.clear();
        (self.end, self.longest) = (now, 0.0);
    }

    /// Those that begin before an instant are known as well.
    pub(super) fn extend(&mut self, end: Time, count: u64, profile: &Profile) {
        if self.end < end {
            // The last of them may reach further than those that are looked for.
            let last = self.rooms.pop_if(|(_, until)| *until >= self.end);
            let begin = last.map_or(self.end, |(from, _)| from);
            self.look(self.rooms.len()..self.rooms.len(), begin, end, count, profile);
            self.end = end;
        }
    }

    /// Looks again where more has become free. Wherever nothing has, those known reach at least as far as there is room: so no
    /// more is looked through than what is new and those that it touches.
    pub(super) fn renew(&mut self, freed: &[Freed], now: Time, count: u64, profile: &Profile) {
        let freed = freed.iter().filter(|freed| freed.most >= count as i64);
        if freed.clone().count() > self.rooms.len() / SHARE {
            self.forget(now);
            return;
        }
        for &Freed { from, until, .. } in freed {
            let first = self.rooms.partition_point(|(_, end)| *end < from);
            let touched = self.rooms[first..].iter().take_while(|(begin, _)| *begin <= until);
            let touched = first..first + touched.count();
            let (begin, end) = match self.rooms[touched.clone()] {
                [] => (from, until),
                [(begin, _), .., (_, end)] | [(begin, end)] => (from.min(begin), until.max(end)),
            };
            self.look(touched, begin, end.min(self.end), count, profile);
        }
    }

    /// Puts those that begin between two instants in the place of some.
    fn look(&mut self, range: Range<usize>, begin: Time, end: Time, count: u64, profile: &Profile) {
        let Rooms { rooms, longest, .. } = self;
        let known = rooms.len();
        for (from, until) in profile.rooms(begin, end, count) {
            if let Some(until) = until {
                *longest = longest.max(until.units() - from.units());
            }
            rooms.push((from, until.unwrap_or(Time::new(f64::INFINITY))));
        }
        let found = rooms.len() - known;
        rooms[range.start..].rotate_right(found);
        rooms.drain(range.start + found..range.end + found);
    }

    /// The first that one of a row may have a use for begins then.
    pub(super) fn first_for(&self, row: &Row) -> Option<Time> {
        // Sums and differences of instants are rounded, the latest of which is no later than both.
        let rounding = 4.0 * f64::EPSILON * (self.longest + row.last.units());
        let first = match self.longest + rounding < row.span {
            // None is as long as one of them runs, so it has to reach up to where one of them starts.
            true => self.rooms.partition_point(|(_, until)| *until < row.first),
            false => 0,
        };
        let (earliest, _) = self.rooms.get(first)?;
        // Both are in order of time.
        let mut starts = row.starts_after(*earliest);
        let mut next = starts.next()?;
        for &(from, until) in &self.rooms[first..] {
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
        /// Where there is room a known one is, however much was taken and became free in between.
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
            let mut rooms = Rooms::default();
            let (first, more) = ends;
            rooms.forget(time(0));
            rooms.extend(time(first), count, &profile);
            let mut freed = Vec::new();
            for (i, (from, span, by, looked)) in changes.into_iter().enumerate() {
                let (from, until) = (time(from), time(from + span));
                profile.change(from, until, by);
                if by > 0 {
                    freed.push(Freed::new(from, until, 0, &profile));
                }
                let end = time(first + if i % 2 == 1 { more } else { 0 });
                if looked {
                    rooms.renew(&freed, time(0), count, &profile);
                    freed.clear();
                    rooms.extend(end, count, &profile);
                }
                if freed.is_empty() {
                    for (from, until) in profile.rooms(time(0), rooms.end, count) {
                        let until = until.unwrap_or(Time::new(f64::INFINITY));
                        let is_in = |&(begin, end): &(Time, Time)| begin <= from && until <= end;
                        prop_assert!(rooms.rooms.iter().any(is_in));
                    }
                    for (from, until) in &rooms.rooms {
                        let length = until.units() - from.units();
                        prop_assert!(length <= rooms.longest || length == f64::INFINITY);
                    }
                    prop_assert!(rooms.rooms.is_sorted());
                    prop_assert!(rooms.rooms.is_sorted_by_key(|(_, until)| *until));
                }
            }
        }
    }
}
