//! When running jobs end, by their estimates.

use crate::job::Time;
use crate::network::RunKey;
use crate::observe::Running;

/// The end of a running job that its estimate promises, and what is given back then. Whoever counts processors along
/// these looks at no job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct End {
    pub(super) at: Time,
    pub(super) key: RunKey,
    pub(super) site: u32,
    pub(super) held: u32,
}

impl End {
    /// That of the job in this slot.
    pub(super) fn of(slot: usize, ran: &Running) -> End {
        let key = RunKey { id: ran.id, slot: slot as u32 };
        End { at: ran.expected_end, key, site: ran.site as u32, held: ran.held }
    }

    #[inline(always)]
    fn is_before(&self, other: &End) -> bool {
        // Without branches: which of two comes first cannot be foretold.
        (self.at < other.at) | (self.at == other.at) & (self.key.id < other.key.id)
    }
}

/// How many stand together: few enough to put one among them quickly.
const CHUNK: usize = 128;

/// The ends of all running jobs, in order of time. They lie side by side in chunks, none of which is empty: they are walked along
/// in every pass, and on most machines one chunk holds them all.
///
/// # Complexity
/// **O(log r + c)** for *r* jobs in chunks of *c* to add one or to take one away, and one more for each of the *r* / *c* chunks
/// when one is split or emptied.
#[derive(Default)]
pub(super) struct Ends {
    chunks: Vec<Vec<End>>,
}

impl Ends {
    /// The chunk in which an end stands, or belongs.
    #[inline]
    fn chunk_of(&self, end: &End) -> usize {
        match self.chunks.as_slice() {
            [] | [_] => 0,
            chunks => {
                let is_behind =
                    |chunk: &Vec<End>| chunk.last().is_some_and(|last| last.is_before(end));
                chunks.partition_point(is_behind).min(chunks.len() - 1)
            }
        }
    }

    pub(super) fn insert(&mut self, end: End) {
        let at = self.chunk_of(&end);
        let Some(chunk) = self.chunks.get_mut(at) else {
            self.chunks.push(vec![end]);
            return;
        };
        let place = place_in(chunk, &end);
        chunk.insert(place, end);
        if chunk.len() == CHUNK {
            let later = chunk.split_off(CHUNK / 2);
            self.chunks.insert(at + 1, later);
        }
    }

    pub(super) fn remove(&mut self, end: &End) {
        let at = self.chunk_of(end);
        let Some(chunk) = self.chunks.get_mut(at) else { return };
        let place = place_in(chunk, end);
        if chunk.get(place) == Some(end) {
            chunk.remove(place);
            // The last one keeps its room.
            if chunk.is_empty() && self.chunks.len() > 1 {
                self.chunks.remove(at);
            }
        }
    }

    pub(super) fn first(&self) -> Option<&End> {
        self.chunks.first()?.first()
    }

    pub(super) fn iter(&self) -> impl DoubleEndedIterator<Item = &End> {
        self.chunks.iter().flatten()
    }
}

/// How many of a chunk come before an end.
///
/// All of them are counted that do by time, and then those at its own instant: a count waits for nothing, where each step of a search
/// waits for the one before it. Of so few it is quicker.
#[inline]
fn place_in(chunk: &[End], end: &End) -> usize {
    let sooner: usize = chunk.iter().map(|other| usize::from(other.at < end.at)).sum();
    sooner + chunk[sooner..].iter().take_while(|other| other.is_before(end)).count()
}

impl FromIterator<End> for Ends {
    fn from_iter<I: IntoIterator<Item = End>>(ends: I) -> Ends {
        let mut all = Ends::default();
        ends.into_iter().for_each(|end| all.insert(end));
        all
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;
    use crate::observe::JobId;

    proptest! {
        #[test]
        fn they_are_a_sorted_set(
            ops in prop::collection::vec((0_u8..5, 0_u32..40, any::<prop::sample::Index>()), 1..1500),
        ) {
            let (mut ends, mut set) = (Ends::default(), BTreeSet::new());
            for (number, (op, at, which)) in ops.into_iter().enumerate() {
                if op > 1 || set.is_empty() {
                    let key = RunKey { id: JobId(number as u64), slot: at % 7 };
                    let end = End { at: Time::new(at.into()), key, site: 0, held: at };
                    ends.insert(end);
                    set.insert(end);
                } else {
                    let end = *set.iter().nth(which.index(set.len())).unwrap();
                    ends.remove(&end);
                    set.remove(&end);
                }
                prop_assert_eq!(ends.first(), set.first());
            }
            prop_assert!(ends.iter().eq(&set));
            prop_assert!(ends.iter().rev().eq(set.iter().rev()));
            let again: Ends = set.iter().rev().copied().collect();
            prop_assert!(again.iter().eq(&set));
        }
    }
}
