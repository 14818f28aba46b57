//! How many processors are free, from now on.

use crate::job::Time;

/// A step function of time: the processors that will be free, if nothing else is started.
///
/// Steps stand in chunks, each with the least and the most that is free in it, so that a search passes
/// over whole chunks in which too few, or enough, are free, and a change touches two of them and a
/// number in each of the others.
///
/// # Complexity
/// With *s* steps in chunks of *c*: **O(log s + s / c + c)** for each operation.
#[derive(Clone, Debug)]
pub(crate) struct Profile {
    /// In order of time, none of them empty. May be negative where a promise is late because a job has
    /// outrun its estimate.
    chunks: Vec<Chunk>,
}

/// From each instant on so many are free, `more` not counted.
#[derive(Clone, Debug)]
struct Chunk {
    steps: Vec<(Time, i64)>,
    /// So many are free beside those at each step.
    more: i64,
    least: i64,
    most: i64,
}

/// As many steps as a chunk has before it is divided.
const MAX_STEPS: usize = 64;

impl Chunk {
    fn new(steps: Vec<(Time, i64)>, more: i64) -> Chunk {
        let mut chunk = Chunk { steps, more, least: 0, most: 0 };
        chunk.look_again();
        chunk
    }

    fn first(&self) -> Time {
        self.steps[0].0
    }

    fn look_again(&mut self) {
        let free = self.steps.iter().map(|&(_, free)| free);
        self.least = free.clone().min().unwrap_or(0);
        self.most = free.max().unwrap_or(0);
    }

    fn add(&mut self, first: usize, last: usize, count: i64) {
        if first == 0 && last == self.steps.len() {
            self.more += count;
        } else if first < last {
            self.steps[first..last].iter_mut().for_each(|step| step.1 += count);
            self.look_again();
        }
    }
}

impl Profile {
    pub(crate) fn new(now: Time, free: u64) -> Profile {
        Profile { chunks: vec![Chunk::new(vec![(now, free as i64)], 0)] }
    }

    /// Adds `count` (which may be negative) from `from` up to `until`; what lies before the first step is
    /// the first step's.
    pub(crate) fn add(&mut self, from: Time, until: Option<Time>, count: i64) {
        self.cut(from);
        if let Some(until) = until {
            self.cut(until);
        }
        let (first, at) = self.from(from);
        let (last, end) = until.map_or((self.chunks.len(), 0), |until| self.from(until));
        if (last, end) <= (first, at) {
            return;
        }
        for chunk in first..=last.min(self.chunks.len() - 1) {
            let begin = if chunk == first { at } else { 0 };
            let end = if chunk == last { end } else { self.chunks[chunk].steps.len() };
            self.chunks[chunk].add(begin, end, count);
        }
    }

    /// Takes out the step that begins at this instant, if nothing changes with it.
    pub(crate) fn join(&mut self, instant: Time) {
        let (index, at) = self.from(instant);
        let Some(chunk) = self.chunks.get(index) else { return };
        let (from, free) = chunk.steps[at];
        let before = match (at, index) {
            (0, 0) => return,
            (0, _) => {
                let before = &self.chunks[index - 1];
                before.steps[before.steps.len() - 1].1 + before.more - chunk.more
            }
            _ => chunk.steps[at - 1].1,
        };
        if from != instant || before != free {
            return;
        }
        let chunk = &mut self.chunks[index];
        chunk.steps.remove(at);
        if chunk.steps.is_empty() {
            self.chunks.remove(index);
        } else if at == 0 {
            // Elsewhere the step before it has the same.
            chunk.look_again();
        }
    }

    /// The first step begins now: what lies before is forgotten.
    pub(crate) fn advance(&mut self, now: Time) {
        let chunk = self.chunks.partition_point(|chunk| chunk.first() <= now).saturating_sub(1);
        self.chunks.drain(..chunk);
        let first = &mut self.chunks[0];
        let past = first.steps.partition_point(|&(from, _)| from <= now).saturating_sub(1);
        first.steps.drain(..past);
        first.steps[0].0 = first.steps[0].0.max(now);
        if past > 0 {
            first.look_again();
        }
    }

    /// The first step that begins after this instant.
    pub(crate) fn next_step(&self, instant: Time) -> Option<Time> {
        let (chunk, at) = self.from(instant.next());
        self.chunks.get(chunk).map(|chunk| chunk.steps[at].0)
    }

    /// Whether more is promised than there will be, at any time.
    pub(crate) fn is_overdrawn(&self) -> bool {
        self.chunks.iter().any(|chunk| chunk.least + chunk.more < 0)
    }

    /// The most that is free at any step before `limit`.
    pub(crate) fn most_before(&self, limit: Time) -> i64 {
        let before = self.chunks.iter().take_while(|chunk| chunk.first() < limit);
        before.map(|chunk| chunk.most + chunk.more).max().unwrap_or(0)
    }

    /// The first instant from `begin` on, and before `limit`, from which `count` are free for as long as
    /// `needed` says of it.
    pub(crate) fn first_room(
        &self,
        begin: Time,
        limit: Time,
        count: u64,
        needed: impl Fn(Time) -> Time,
    ) -> Option<Time> {
        let count = count as i64;
        // From when on enough have been free, and up to when they have to be.
        let mut room: Option<(Time, Time)> = None;
        let first = self.chunks.partition_point(|chunk| chunk.first() <= begin).saturating_sub(1);
        for chunk in &self.chunks[first..] {
            let (least, most) = (chunk.least + chunk.more, chunk.most + chunk.more);
            match room {
                Some((at, until)) if chunk.first() >= until => return Some(at),
                None if chunk.first() >= limit => return None,
                Some(_) if least >= count => continue,
                None if most < count => continue,
                _ => {}
            }
            // The step in which the search begins began before it.
            let skip = chunk.steps.partition_point(|&(from, _)| from <= begin).saturating_sub(1);
            for &(from, free) in &chunk.steps[skip..] {
                if let Some((at, until)) = room {
                    if from >= until {
                        return Some(at);
                    }
                    if free + chunk.more < count {
                        room = None;
                    }
                } else if free + chunk.more >= count {
                    let from = from.max(begin);
                    if from >= limit {
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
        let first = self.chunks.partition_point(|chunk| chunk.first() <= begin).saturating_sub(1);
        let chunks = self.chunks[first..].iter().filter(|chunk| chunk.least + chunk.more < count);
        let mut found = chunks.filter_map(|chunk| {
            // The step in which the search begins began before it.
            let skip = chunk.steps.partition_point(|&(from, _)| from <= begin).saturating_sub(1);
            chunk.steps[skip..].iter().find(|(_, free)| free + chunk.more < count)
        });
        found.next().map(|&(from, _)| from.max(begin))
    }

    /// The earliest step, no earlier than `begin`, from which `count` processors stay free for
    /// `span`.
    pub(crate) fn earliest(&self, begin: Time, count: u64, span: f64) -> Option<Time> {
        let count = count as i64;
        let mut start = None;
        let (first, at) = self.from(begin);
        for (i, chunk) in self.chunks.iter().enumerate().skip(first) {
            if start.is_some_and(|start: Time| chunk.first() >= start + span) {
                return start;
            }
            let (least, most) = (chunk.least + chunk.more, chunk.most + chunk.more);
            if start.is_none() && most < count || start.is_some() && least >= count {
                continue;
            }
            for &(from, free) in &chunk.steps[if i == first { at } else { 0 }..] {
                if start.is_some_and(|start: Time| from >= start + span) {
                    return start;
                }
                if free + chunk.more < count {
                    start = None;
                } else if start.is_none() {
                    start = Some(from);
                }
            }
        }
        start
    }

    /// The chunk and the place in it of the first step that begins at this instant or later.
    fn from(&self, instant: Time) -> (usize, usize) {
        let chunk = self.chunks.partition_point(|chunk| chunk.first() < instant).saturating_sub(1);
        let steps = &self.chunks[chunk].steps;
        let at = steps.partition_point(|&(from, _)| from < instant);
        if at == steps.len() { (chunk + 1, 0) } else { (chunk, at) }
    }

    /// Makes a step begin at this instant, unless it lies before the first.
    fn cut(&mut self, instant: Time) {
        let after = self.chunks.partition_point(|chunk| chunk.first() <= instant);
        let Some(index) = after.checked_sub(1) else { return };
        let chunk = &mut self.chunks[index];
        let Err(at) = chunk.steps.binary_search_by_key(&instant, |&(from, _)| from) else { return };
        // As many are free as at the step before: neither the least nor the most changes.
        chunk.steps.insert(at, (instant, chunk.steps[at - 1].1));
        if chunk.steps.len() > MAX_STEPS {
            let upper = chunk.steps.split_off(MAX_STEPS / 2);
            let more = chunk.more;
            chunk.look_again();
            self.chunks.insert(index + 1, Chunk::new(upper, more));
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
                profile.chunks.iter().any(|c| c.steps.iter().any(|s| s.0 == time(t)))
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
                profile.join(time(instant));
                prop_assert_eq!(is_step(&profile, instant), stays);
            }
            let all = || profile.chunks.iter().flat_map(|c| c.steps.iter().map(|s| (s.0, s.1 + c.more)));
            for (from, free) in all() {
                prop_assert_eq!(free, array[from.units() as usize]);
            }
            for chunk in &profile.chunks {
                prop_assert!(chunk.steps.len() <= MAX_STEPS && !chunk.steps.is_empty());
                prop_assert_eq!(Some(chunk.least), chunk.steps.iter().map(|s| s.1).min());
                prop_assert_eq!(Some(chunk.most), chunk.steps.iter().map(|s| s.1).max());
            }
            let enough = |t: u32, end: u32| (t..end.max(t + 1)).all(|t| array[t as usize] >= count as i64);
            // It begins with a step, and steps are made where something changes.
            let is_step = |t: u32| is_step(&profile, t);
            let expected =
                (start.max(begin)..301).find(|&t| is_step(t) && enough(t, t + span));
            let found = profile.earliest(time(begin), count, f64::from(span)).map(Time::units);
            prop_assert_eq!(found, expected.map(f64::from));
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
                let found = profile.first_room(time(begin), time(limit), count, needed);
                prop_assert_eq!(found.map(Time::units), with);
            }
            let without = (begin..400).find(|&t| !enough(t, t + 1)).map(f64::from);
            prop_assert_eq!(profile.first_without(time(begin), count).map(Time::units), without);
            let next = (begin + 1..301).find(|&t| t >= start && is_step(t)).map(f64::from);
            prop_assert_eq!(profile.next_step(time(begin)).map(Time::units), next);
        }
    }
}
