//! How many processors are free, from now on.

use crate::job::Time;

/// A step function of time: the processors that will be free, if nothing else is started.
///
/// What is kept is by how much each step differs from the one before it, so that a change over a span of
/// time touches the two steps at its ends, however many lie between. Steps stand in chunks, each with the
/// least and the most that is free in it, so that a search passes over whole chunks in which too few, or
/// enough, are free.
///
/// # Complexity
/// With *s* steps in chunks of *c*: **O(log s + c)** for a change, **O(s / c + c)** for a search, and as
/// many steps again as lie in chunks in which both enough and too few are free.
#[derive(Clone, Debug)]
pub(crate) struct Profile {
    /// In order of time, none of them empty; the first step of the first begins now. May come to less
    /// than nothing where a promise is late because a job has outrun its estimate.
    chunks: Vec<Chunk>,
}

/// Steps in order of time: when each begins, and how many more are free than before it.
#[derive(Clone, Debug)]
struct Chunk {
    first: Time,
    times: Vec<Time>,
    changes: Vec<i64>,
    /// All changes together.
    sum: i64,
    /// The least and the most that is free at a step, beside what is free before the first.
    least: i64,
    most: i64,
}

/// As many steps as a chunk has before it is divided.
const MAX_STEPS: usize = 64;

impl Chunk {
    fn new(times: Vec<Time>, changes: Vec<i64>) -> Chunk {
        let mut chunk = Chunk { first: times[0], times, changes, sum: 0, least: 0, most: 0 };
        chunk.look_again();
        chunk
    }

    fn look_again(&mut self) {
        let (mut free, mut least, mut most) = (0, i64::MAX, i64::MIN);
        for change in &self.changes {
            free += change;
            least = least.min(free);
            most = most.max(free);
        }
        (self.first, self.sum, self.least, self.most) = (self.times[0], free, least, most);
    }

    /// How many of the steps begin at this instant or before.
    fn begun_at(&self, instant: Time) -> usize {
        self.times.partition_point(|from| *from <= instant)
    }

    /// The steps from the last on that begins at this instant or before, with what is free at each if so
    /// many are before the first of all.
    fn steps_from(&self, instant: Time, before: i64) -> impl Iterator<Item = (Time, i64)> {
        let begun = if self.first < instant { self.begun_at(instant) - 1 } else { 0 };
        let mut free = before + self.changes[..begun].iter().sum::<i64>();
        self.times[begun..].iter().zip(&self.changes[begun..]).map(move |(&from, change)| {
            free += change;
            (from, free)
        })
    }
}

/// What becomes of a step at which nothing changes any more.
#[derive(Clone, Copy, PartialEq)]
enum Level {
    Stays,
    Goes,
}

impl Profile {
    pub(crate) fn new(now: Time, free: u64) -> Profile {
        Profile { chunks: vec![Chunk::new(vec![now], vec![free as i64])] }
    }

    /// Adds `count` (which may be negative) from `from` up to `until`; what lies before the first step is
    /// the first step's. Both are steps from then on, even if as many are free as before them.
    pub(crate) fn add(&mut self, from: Time, until: Option<Time>, count: i64) {
        self.bend(from, count, Level::Stays);
        if let Some(until) = until {
            self.bend(until, -count, Level::Stays);
        }
    }

    /// As [`add`](Profile::add), but where as many are free as before there is no step.
    pub(crate) fn change(&mut self, from: Time, until: Time, count: i64) {
        self.bend(until, -count, Level::Goes);
        self.bend(from, count, Level::Goes);
    }

    /// So many more are free from this instant on than would be.
    fn bend(&mut self, instant: Time, by: i64, level: Level) {
        let index = self.chunk_of(instant);
        let chunk = &mut self.chunks[index];
        let at = chunk.times.partition_point(|from| *from < instant);
        if index == 0 && (at == 0 || at == 1 && chunk.times[0] >= instant) {
            chunk.changes[0] += by;
        } else if chunk.times.get(at) == Some(&instant) {
            chunk.changes[at] += by;
            if level == Level::Goes && chunk.changes[at] == 0 {
                chunk.times.remove(at);
                chunk.changes.remove(at);
                if chunk.times.is_empty() {
                    self.chunks.remove(index);
                    return;
                }
            }
        } else {
            chunk.times.insert(at, instant);
            chunk.changes.insert(at, by);
            if chunk.times.len() > MAX_STEPS {
                let times = chunk.times.split_off(MAX_STEPS / 2);
                let changes = chunk.changes.split_off(MAX_STEPS / 2);
                chunk.look_again();
                self.chunks.insert(index + 1, Chunk::new(times, changes));
                return;
            }
        }
        self.chunks[index].look_again();
    }

    /// The first step begins now: what lies before is forgotten.
    pub(crate) fn advance(&mut self, now: Time) {
        if now <= self.chunks[0].first {
            return;
        }
        let index = self.chunk_of(now);
        let mut free: i64 = self.chunks.drain(..index).map(|chunk| chunk.sum).sum();
        let chunk = &mut self.chunks[0];
        let past = chunk.begun_at(now) - 1;
        chunk.times.drain(..past);
        free += chunk.changes.drain(..past).sum::<i64>();
        chunk.times[0] = now;
        chunk.changes[0] += free;
        chunk.look_again();
    }

    /// The first step that begins after this instant.
    pub(crate) fn next_step(&self, instant: Time) -> Option<Time> {
        let index = self.chunk_of(instant);
        let chunk = &self.chunks[index];
        let next = || self.chunks.get(index + 1).map(|chunk| chunk.first);
        chunk.times.get(chunk.begun_at(instant)).copied().or_else(next)
    }

    /// Whether more is promised than there will be, at any time.
    pub(crate) fn is_overdrawn(&self) -> bool {
        self.from(0).any(|(chunk, before)| before + chunk.least < 0)
    }

    /// The most that is free at any step before `limit`.
    pub(crate) fn most_before(&self, limit: Time) -> i64 {
        let before = self.from(0).take_while(|(chunk, _)| chunk.first < limit);
        before.map(|(chunk, before)| before + chunk.most).max().unwrap_or(0)
    }

    /// The first instant from `begin` on, and before `limit` if there is one, from which `count` are free for as long as
    /// `needed` says of it.
    pub(crate) fn first_room(
        &self,
        begin: Time,
        limit: Option<Time>,
        count: u64,
        needed: impl Fn(Time) -> Time,
    ) -> Option<Time> {
        let count = count as i64;
        let is_past = |instant: Time| limit.is_some_and(|limit| instant >= limit);
        // From when on enough have been free, and up to when they have to be.
        let mut room: Option<(Time, Time)> = None;
        for (chunk, before) in self.from(self.chunk_of(begin)) {
            let (least, most) = (before + chunk.least, before + chunk.most);
            match room {
                Some((at, until)) if chunk.first >= until => return Some(at),
                None if is_past(chunk.first) => return None,
                Some(_) if least >= count => continue,
                None if most < count => continue,
                _ => {}
            }
            // The step in which the search begins began before it.
            for (from, free) in chunk.steps_from(begin, before) {
                if let Some((at, until)) = room {
                    if from >= until {
                        return Some(at);
                    }
                    if free < count {
                        room = None;
                    }
                } else if free >= count {
                    let from = from.max(begin);
                    if is_past(from) {
                        return None;
                    }
                    room = Some((from, needed(from)));
                }
            }
        }
        room.map(|(at, _)| at)
    }

    /// The first instant from `begin` on at which fewer are free.
    pub(crate) fn first_without(&self, begin: Time, count: u64) -> Option<Time> {
        let count = count as i64;
        let chunks = self.from(self.chunk_of(begin));
        let mut without = chunks.filter(|(chunk, before)| before + chunk.least < count);
        let found = without.find_map(|(chunk, before)| {
            chunk.steps_from(begin, before).find(|&(_, free)| free < count)
        });
        found.map(|(from, _)| from.max(begin))
    }

    /// The first instant from `begin` on from which `count` processors stay free for `span`.
    pub(crate) fn earliest(&self, begin: Time, count: u64, span: f64) -> Option<Time> {
        self.first_room(begin, None, count, |at| at + span)
    }

    /// The chunk in which the last step begins that does so at this instant or before; the first if none does.
    fn chunk_of(&self, instant: Time) -> usize {
        self.chunks.partition_point(|chunk| chunk.first <= instant).saturating_sub(1)
    }

    /// The chunks from this one on, each with what is free before its first step.
    fn from(&self, index: usize) -> impl Iterator<Item = (&Chunk, i64)> {
        let mut free: i64 = self.chunks[..index].iter().map(|chunk| chunk.sum).sum();
        self.chunks[index..].iter().map(move |chunk| {
            let before = free;
            free += chunk.sum;
            (chunk, before)
        })
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
            // What changes nothing may go.
            for instant in joined {
                let (before, here) = (array.get(instant as usize - 1), array.get(instant as usize));
                let goes = is_step(&profile, instant) && instant > start && before == here;
                let stays = is_step(&profile, instant) && !goes;
                let later = instant + 7;
                profile.change(time(instant), time(later), 1);
                profile.change(time(instant), time(later), -1);
                prop_assert_eq!(is_step(&profile, instant), stays);
            }
            let all = || profile.from(0).flat_map(|(c, before)| c.steps_from(c.first, before));
            for (from, free) in all() {
                prop_assert_eq!(free, array[from.units() as usize]);
            }
            for chunk in &profile.chunks {
                prop_assert!(chunk.times.len() <= MAX_STEPS && !chunk.times.is_empty());
                prop_assert_eq!(chunk.times.len(), chunk.changes.len());
                let mut again = chunk.clone();
                again.look_again();
                prop_assert_eq!(
                    (again.first, again.sum, again.least, again.most),
                    (chunk.first, chunk.sum, chunk.least, chunk.most)
                );
            }
            let enough = |t: u32, end: u32| (t..end.max(t + 1)).all(|t| array[(t as usize).min(399)] >= count as i64);
            let expected = (start.max(begin)..400).find(|&t| enough(t, t + span));
            let found = profile.earliest(time(begin.max(start)), count, f64::from(span));
            prop_assert_eq!(found.map(Time::units), expected.map(f64::from));
            let most = (start..limit.max(start + 1)).map(|t| array[t as usize]).max();
            let most = if limit > start { most.unwrap() } else { 0 };
            // A chunk counts as a whole.
            prop_assert!(profile.most_before(time(limit)) >= most);
            let begin = begin.max(start);
            // For as long as is asked, or up to an instant at which something else is given back.
            for other in [begin + 1, begin + 20, 1_000] {
                let until = |t: u32| if t < other { (t + span.max(1)).min(other) } else { t + span.max(1) };
                let with = (begin..limit).find(|&t| enough(t, until(t))).map(f64::from);
                let needed = |at: Time| time(until(at.units() as u32));
                let found = profile.first_room(time(begin), Some(time(limit)), count, needed);
                prop_assert_eq!(found.map(Time::units), with);
            }
            let without = (begin..400).find(|&t| !enough(t, t + 1)).map(f64::from);
            prop_assert_eq!(profile.first_without(time(begin), count).map(Time::units), without);
            let next = (begin + 1..301).find(|&t| t >= start && is_step(&profile, t)).map(f64::from);
            prop_assert_eq!(profile.next_step(time(begin)).map(Time::units), next);
        }
    }
}
