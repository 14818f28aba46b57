//! Availability profile: the number of free nodes over time.

use std::cell::Cell;

use crate::job::Time;

/// Step function of time: the number of nodes that are free if no other job starts.
///
/// Steps are stored in chunks. A search skips chunks by their minimum and maximum. Within a chunk,
/// the steps with enough nodes are the set bits of one word. A search takes **O(log s + s / c +
/// c)** for *s* steps in chunks of *c*.
#[derive(Clone, Debug)]
pub(crate) struct Profile {
    /// Chunks of the profile's steps, sorted by time; at least one. Numbers of free nodes may be
    /// negative, if a reservation waits for a job past its estimate.
    chunks: Vec<Chunk>,
    /// Index of the chunk of the last query. The next query usually needs the same chunk or a near
    /// one.
    near: Cell<usize>,
}

#[derive(Clone, Debug)]
struct Chunk {
    first: Time,
    times: Vec<Time>,
    /// Number of free nodes at each step, less the offset `raised`, which all steps share.
    levels: Vec<i64>,
    raised: i64,
    least: i64,
    most: i64,
}

/// Maximum number of steps in a chunk: few enough to scan, and to have one bit of a word for each.
const MAX_STEPS: usize = 32;

impl Chunk {
    fn new(times: Vec<Time>, levels: Vec<i64>, raised: i64) -> Chunk {
        let mut chunk = Chunk { first: times[0], times, levels, raised, least: 0, most: 0 };
        chunk.look_again();
        chunk
    }

    fn look_again(&mut self) {
        let (mut least, mut most) = (i64::MAX, i64::MIN);
        for &level in &self.levels {
            least = least.min(level);
            most = most.max(level);
        }
        (self.first, self.least, self.most) = (self.times[0], least, most);
    }

    /// Index of the last step that begins at or before `instant`. If there is none, index of the
    /// first step.
    fn step_at(&self, instant: Time) -> usize {
        self.first_after(instant).saturating_sub(1)
    }

    /// Index of the first step at or after `instant`.
    ///
    /// The steps of a chunk are so few that counting is faster than bisection.
    fn first_from(&self, instant: Time) -> usize {
        self.times.iter().map(|from| usize::from(*from < instant)).sum()
    }

    fn first_after(&self, instant: Time) -> usize {
        self.times.iter().map(|from| usize::from(*from <= instant)).sum()
    }

    /// Variant of [`Profile::change`] within one chunk, which must have space for two more steps.
    fn change(&mut self, from: Time, until: Time, count: i64) {
        let begin = self.first_from(from);
        let end = self.first_from(until);
        let (before, last) = (self.levels[begin - 1], self.levels[end - 1]);
        self.levels[begin..end].iter_mut().for_each(|level| *level += count);
        // At its two ends the change may remove an existing step or need a new one.
        if self.times[end] != until {
            self.times.insert(end, until);
            self.levels.insert(end, last);
        } else if self.levels[end] == last + count {
            self.times.remove(end);
            self.levels.remove(end);
        }
        if begin == end || self.times[begin] != from {
            self.times.insert(begin, from);
            self.levels.insert(begin, before + count);
        } else if self.levels[begin] == before {
            self.times.remove(begin);
            self.levels.remove(begin);
        }
        self.look_again();
    }

    fn last(&self) -> Time {
        self.times[self.times.len() - 1]
    }

    fn last_level(&self) -> i64 {
        self.raised + self.levels[self.levels.len() - 1]
    }

    /// Bit mask of the steps of this chunk that have at least `count` free nodes.
    fn enough(&self, count: i64) -> u64 {
        let level = count - self.raised;
        // From last to first, since one common shift is faster than a separate shift for each bit.
        self.levels.iter().rev().fold(0, |bits, here| bits << 1 | u64::from(*here >= level))
    }

    /// Whether each step of the chunk has at least `count` free nodes. `Some(false)` if none has,
    /// and `None` if only some have.
    fn throughout(&self, count: i64) -> Option<bool> {
        let level = count - self.raised;
        if self.least >= level {
            return Some(true);
        }
        (self.most < level).then_some(false)
    }
}

impl Profile {
    pub(crate) fn new(now: Time, free: u64) -> Profile {
        Profile { chunks: vec![Chunk::new(vec![now], vec![free as i64], 0)], near: Cell::new(0) }
    }

    /// Adds `count`, which may be negative, to the free nodes from `from` to `until`.
    ///
    /// Without `until`, the change lasts for ever. A step of the profile begins at either instant,
    /// even if nothing changes there.
    pub(crate) fn add(&mut self, from: Time, until: Option<Time>, count: i64) {
        if let Some(until) = until {
            self.cut(until);
        }
        self.cut(from);
        self.raise(from, until, count);
    }

    /// Adds `count` in an interval, like [`add`](Profile::add).
    ///
    /// If the number of free nodes does not change at an end of the interval, no step is left
    /// there.
    pub(crate) fn change(&mut self, from: Time, until: Time, count: i64) {
        let index = self.chunk_of(from);
        let chunk = &mut self.chunks[index];
        let fits = chunk.times.len() + 2 <= MAX_STEPS;
        if fits && chunk.first < from && from < until && until <= chunk.last() {
            return chunk.change(from, until, count);
        }
        self.add(from, Some(until), count);
        self.join(until);
        self.join(from);
    }

    /// Splits the profile at `instant`, so that a step begins there. If `instant` lies before all
    /// steps, nothing is split.
    fn cut(&mut self, instant: Time) {
        let index = self.chunk_of(instant);
        let chunk = &mut self.chunks[index];
        let at = chunk.first_from(instant);
        if at == 0 || chunk.times.get(at) == Some(&instant) {
            return;
        }
        if chunk.times.len() < MAX_STEPS {
            chunk.times.insert(at, instant);
            chunk.levels.insert(at, chunk.levels[at - 1]);
            return;
        }
        let (times, levels) =
            (chunk.times.split_off(MAX_STEPS / 2), chunk.levels.split_off(MAX_STEPS / 2));
        chunk.look_again();
        let later = Chunk::new(times, levels, chunk.raised);
        self.chunks.insert(index + 1, later);
        self.cut(instant);
    }

    fn raise(&mut self, from: Time, until: Option<Time>, by: i64) {
        let begin = self.chunk_of(from);
        for chunk in &mut self.chunks[begin..] {
            if until.is_some_and(|until| chunk.first >= until) {
                break;
            }
            let begin = chunk.first_from(from);
            let end = match until {
                Some(until) if chunk.last() >= until => chunk.first_from(until),
                _ => chunk.times.len(),
            };
            if begin == 0 && end == chunk.times.len() {
                chunk.raised += by;
            } else if begin < end {
                chunk.levels[begin..end].iter_mut().for_each(|level| *level += by);
                chunk.look_again();
            }
        }
    }

    /// Removes the step that begins at `instant` if it equals the step before it. The first step is
    /// never removed.
    fn join(&mut self, instant: Time) {
        let index = self.chunk_of(instant);
        let at = self.chunks[index].first_from(instant);
        if self.chunks[index].times.get(at) != Some(&instant) {
            return;
        }
        let before = match (index, at) {
            (0, 0) => return,
            (_, 0) => self.chunks[index - 1].last_level(),
            _ => self.chunks[index].raised + self.chunks[index].levels[at - 1],
        };
        let chunk = &mut self.chunks[index];
        if chunk.raised + chunk.levels[at] != before {
            return;
        }
        chunk.times.remove(at);
        chunk.levels.remove(at);
        if chunk.times.is_empty() {
            self.chunks.remove(index);
        } else if at == 0 {
            chunk.look_again();
        }
        self.unite(index.saturating_sub(1));
    }

    fn unite(&mut self, index: usize) {
        let Some([chunk, next]) = self.chunks.get_mut(index..index + 2) else { return };
        if chunk.times.len() + next.times.len() > MAX_STEPS / 2 {
            return;
        }
        let by = next.raised - chunk.raised;
        chunk.times.append(&mut next.times);
        chunk.levels.extend(next.levels.iter().map(|level| level + by));
        chunk.look_again();
        self.chunks.remove(index + 1);
    }

    /// Drops the steps of the profile that end before `now`. The first remaining step begins at
    /// `now`.
    pub(crate) fn advance(&mut self, now: Time) {
        if now <= self.chunks[0].first {
            return;
        }
        let past = self.chunk_of(now);
        self.chunks.drain(..past);
        let chunk = &mut self.chunks[0];
        let past = chunk.step_at(now);
        if past > 0 {
            chunk.times.drain(..past);
            chunk.levels.drain(..past);
        }
        chunk.times[0] = now;
        chunk.look_again();
    }

    pub(crate) fn next_step(&self, instant: Time) -> Option<Time> {
        let index = self.chunk_of(instant);
        let next = || self.chunks.get(index + 1).map(|chunk| chunk.first);
        let times = &self.chunks[index].times;
        times.get(self.chunks[index].first_after(instant)).copied().or_else(next)
    }

    /// First instant from which on the number of free nodes is never negative.
    pub(crate) fn overdrawn_until(&self) -> Time {
        let overdrawn = self.chunks.iter().rposition(|chunk| chunk.raised + chunk.least < 0);
        let Some(index) = overdrawn else { return self.chunks[0].first };
        let chunk = &self.chunks[index];
        let last = chunk.levels.iter().rposition(|level| chunk.raised + level < 0);
        let next = self.chunks.get(index + 1).map_or(Time::new(f64::INFINITY), |c| c.first);
        last.and_then(|last| chunk.times.get(last + 1)).copied().unwrap_or(next)
    }

    /// The first interval between `from` and `until` in which the number of free nodes is negative.
    pub(crate) fn overdrawn_in(&self, from: Time, until: Time) -> Option<(Time, Time)> {
        if from >= until {
            return None;
        }
        let mut walk = self.walk(from, 0);
        let begin = walk.seek_too_few(Some(until))?;
        Some((begin, walk.seek_enough(Some(until)).unwrap_or(until)))
    }

    /// Minimum and maximum number of free nodes from `from` to `until`.
    pub(crate) fn range(&self, from: Time, until: Time) -> (i64, i64) {
        let (mut least, mut most) = (i64::MAX, i64::MIN);
        for chunk in &self.chunks[self.chunk_of(from)..] {
            if chunk.first >= until && most > i64::MIN {
                break;
            }
            let whole = chunk.first >= from && chunk.last() < until;
            let (low, high) = if whole {
                (chunk.least, chunk.most)
            } else {
                let begin = chunk.step_at(from);
                let end = chunk.first_from(until).max(begin + 1);
                let levels = chunk.levels[begin..end].iter();
                levels.fold((i64::MAX, i64::MIN), |(low, high), &l| (low.min(l), high.max(l)))
            };
            least = least.min(chunk.raised + low);
            most = most.max(chunk.raised + high);
        }
        (least, most)
    }

    /// Number of free nodes right before an instant, and number of free nodes at this instant.
    pub(crate) fn around(&self, instant: Time) -> (i64, i64) {
        let index = self.chunk_of(instant);
        let chunk = &self.chunks[index];
        let at = chunk.step_at(instant);
        let free = chunk.raised + chunk.levels[at];
        let begins_here = chunk.times[at] == instant;
        let before = match (at.checked_sub(1), index.checked_sub(1)) {
            _ if !begins_here => free,
            (Some(before), _) => chunk.raised + chunk.levels[before],
            (None, Some(before)) => self.chunks[before].last_level(),
            (None, None) => free,
        };
        (before, free)
    }

    /// First instant between `begin` and `limit` from which `count` nodes stay free long enough.
    /// For each such instant, `needed` returns the instant up to which they must stay free.
    pub(crate) fn first_gap(
        &self,
        begin: Time,
        limit: Option<Time>,
        count: u64,
        needed: impl Fn(Time) -> Time,
    ) -> Option<Time> {
        let mut walk = self.walk(begin, count);
        loop {
            let from = walk.seek_enough(limit)?;
            if walk.seek_too_few(Some(needed(from))).is_none() {
                return Some(from);
            }
        }
    }

    /// Intervals in which at least `count` nodes are free. An interval that began before `begin` is
    /// returned as beginning at `begin`. Only intervals that begin before `limit` are returned.
    pub(crate) fn gaps(
        &self,
        begin: Time,
        limit: Time,
        count: u64,
    ) -> impl Iterator<Item = (Time, Option<Time>)> {
        let mut walk = self.walk(begin, count);
        let mut is_over = false;
        std::iter::from_fn(move || {
            let from = if is_over { None } else { walk.seek_enough(Some(limit)) }?;
            let until = walk.seek_too_few(None);
            is_over = until.is_none();
            Some((from, until))
        })
    }

    pub(crate) fn first_without(&self, begin: Time, count: u64) -> Option<Time> {
        self.walk(begin, count).seek_too_few(None)
    }

    pub(crate) fn earliest(&self, begin: Time, count: u64, span: f64) -> Option<Time> {
        self.first_gap(begin, None, count, |at| at + span)
    }

    fn walk(&self, begin: Time, count: u64) -> Walk<'_> {
        let chunks = &self.chunks[self.chunk_of(begin)..];
        let count = count as i64;
        Walk { begin, count, chunks, at: chunks[0].step_at(begin), enough: chunks[0].enough(count) }
    }

    fn chunk_of(&self, instant: Time) -> usize {
        // Consecutive queries are usually close in time.
        let near = self.near.get();
        let begins = |index: usize| self.chunks.get(index).is_some_and(|c| c.first <= instant);
        if begins(near) && !begins(near + 1) {
            return near;
        }
        let found = self.chunks.partition_point(|chunk| chunk.first <= instant).saturating_sub(1);
        self.near.set(found);
        found
    }
}

/// Cursor over the steps of a profile. It alternates between steps with enough and with too few
/// nodes.
struct Walk<'a> {
    /// Instant at which the search began; no earlier instant is returned.
    begin: Time,
    count: i64,
    chunks: &'a [Chunk],
    at: usize,
    /// Bits for the steps of the current chunk: a bit is set if enough nodes are free in its step.
    enough: u64,
}

impl Walk<'_> {
    /// Advances to the first step with enough free nodes, beginning with the current step. `None`
    /// if there is none before `limit`.
    fn seek_enough(&mut self, limit: Option<Time>) -> Option<Time> {
        loop {
            let ahead = self.enough >> self.at;
            if ahead != 0 {
                self.at += ahead.trailing_zeros() as usize;
                let from = self.chunks[0].times[self.at].max(self.begin);
                return Some(from).filter(|from| limit.is_none_or(|limit| *from < limit));
            }
            self.skip_chunks(false, limit)?;
        }
    }

    /// Advances to the first step of the profile with too few free nodes, from the current step on.
    ///
    /// `None` if there is no such step before `limit`.
    fn seek_too_few(&mut self, limit: Option<Time>) -> Option<Time> {
        loop {
            let ahead = !self.enough >> self.at;
            let at = self.at + ahead.trailing_zeros() as usize;
            if ahead != 0 && at < self.chunks[0].times.len() {
                self.at = at;
                let from = self.chunks[0].times[at].max(self.begin);
                return Some(from).filter(|from| limit.is_none_or(|limit| *from < limit));
            }
            self.skip_chunks(true, limit)?;
        }
    }

    /// Advances to the next chunk that has a step with too few nodes.
    ///
    /// If `so` is false, a step with enough nodes is sought instead. `None` if no such chunk begins
    /// before `limit`.
    fn skip_chunks(&mut self, so: bool, limit: Option<Time>) -> Option<()> {
        let (count, ahead) = (self.count, &self.chunks[1..]);
        let next = ahead.iter().position(|chunk| {
            chunk.throughout(count) != Some(so) || limit.is_some_and(|limit| chunk.first >= limit)
        })?;
        self.chunks = &ahead[next..];
        let chunk = &self.chunks[0];
        if limit.is_some_and(|limit| chunk.first >= limit) {
            return None;
        }
        (self.at, self.enough) = (0, chunk.enough(count));
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn steps_agree_with_an_array(
            changes in prop::collection::vec(
                (0_u32..300, prop::option::of(0_u32..300), -3_i64..4), 0..200,
            ),
            count in 0_u64..6,
            span in 0_u32..50,
            begin in 0_u32..200,
            limit in 6_u32..300,
            advance in prop::option::of(5_u32..200),
            joined in prop::collection::vec(1_u32..300, 0..100),
        ) {
            let time = |t: u32| Time::new(f64::from(t));
            let is_step = |profile: &Profile, t: u32| {
                profile.chunks.iter().any(|c| c.times.contains(&time(t)))
            };
            let mut profile = Profile::new(time(5), 4);
            let mut array = [4_i64; 400];
            let half = changes.len() / 2;
            let mut start = 5;
            for (i, (from, until, change)) in changes.into_iter().enumerate() {
                if i == half && let Some(now) = advance {
                    profile.advance(time(now));
                    start = now;
                }
                let until = until.map(|u| u.max(from));
                profile.add(time(from), until.map(time), change);
                for (t, free) in array.iter_mut().enumerate() {
                    if t as u32 >= from && until.is_none_or(|u| (t as u32) < u) {
                        *free += change;
                    }
                }
            }
            // Steps at which nothing changes may be removed.
            for instant in joined {
                let (before, here) = (array.get(instant as usize - 1), array.get(instant as usize));
                let goes = is_step(&profile, instant) && instant > start && before == here;
                let stays = is_step(&profile, instant) && !goes;
                let later = instant + 7;
                profile.change(time(instant), time(later), 1);
                profile.change(time(instant), time(later), -1);
                prop_assert_eq!(is_step(&profile, instant), stays);
            }
            for chunk in &profile.chunks {
                prop_assert!(chunk.times.len() <= MAX_STEPS && !chunk.times.is_empty());
                prop_assert_eq!(chunk.times.len(), chunk.levels.len());
                let mut again = chunk.clone();
                again.look_again();
                prop_assert_eq!(
                    (again.first, again.least, again.most),
                    (chunk.first, chunk.least, chunk.most)
                );
                for (from, level) in chunk.times.iter().zip(&chunk.levels) {
                    prop_assert_eq!(level + chunk.raised, array[from.units() as usize]);
                }
            }
            let enough = |t: u32, end: u32| (t..end.max(t + 1)).all(|t| array[(t as usize).min(399)] >= count as i64);
            let expected = (start.max(begin)..400).find(|&t| enough(t, t + span));
            let found = profile.earliest(time(begin.max(start)), count, f64::from(span));
            prop_assert_eq!(found.map(Time::units), expected.map(f64::from));
            let begin = begin.max(start);
            let here = &array[begin as usize..limit.max(begin + 1) as usize];
            let range = profile.range(time(begin), time(limit));
            prop_assert_eq!(range, (*here.iter().min().unwrap(), *here.iter().max().unwrap()));
            let overdrawn = array[start as usize..].iter().rposition(|free| *free < 0);
            let until = overdrawn.map_or(start, |last| start + last as u32 + 1);
            let until = if until < 400 { f64::from(until) } else { f64::INFINITY };
            prop_assert_eq!(profile.overdrawn_until(), Time::new(until));
            let before = if begin > start { begin - 1 } else { begin };
            let around = (array[before as usize], array[begin as usize]);
            prop_assert_eq!(profile.around(time(begin)), around);
            let found = profile.overdrawn_in(time(begin), time(limit));
            let from = (begin..limit).find(|&t| array[t as usize] < 0);
            let stretch = from.map(|from| (from, (from..limit).find(|&t| array[t as usize] >= 0)));
            let stretch = stretch.map(|(from, until)| (time(from), time(until.unwrap_or(limit))));
            prop_assert_eq!(found, stretch);
            // All gaps, by their definition.
            let begins = (begin..limit).filter(|&t| enough(t, t + 1) && (t == begin || !enough(t - 1, t)));
            let gaps = begins.map(|t| (time(t), (t..400).find(|&t| !enough(t, t + 1)).map(time)));
            prop_assert!(profile.gaps(time(begin), time(limit), count).eq(gaps));
            // The first gap for a fixed length, which is cut short at `other` if it begins before.
            for other in [begin + 1, begin + 20, 1_000] {
                let until = |t: u32| if t < other { (t + span.max(1)).min(other) } else { t + span.max(1) };
                let with = (begin..limit).find(|&t| enough(t, until(t))).map(f64::from);
                let needed = |at: Time| time(until(at.units() as u32));
                let found = profile.first_gap(time(begin), Some(time(limit)), count, needed);
                prop_assert_eq!(found.map(Time::units), with);
            }
            let without = (begin..400).find(|&t| !enough(t, t + 1)).map(f64::from);
            prop_assert_eq!(profile.first_without(time(begin), count).map(Time::units), without);
            let next = (begin + 1..301).find(|&t| t >= start && is_step(&profile, t)).map(f64::from);
            prop_assert_eq!(profile.next_step(time(begin)).map(Time::units), next);
        }
    }
}
