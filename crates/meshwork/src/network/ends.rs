//! Sorted list of the end times of running jobs, for network models.

use crate::job::Time;

/// The end of a running job, as an entry of [`Ends`]. It may carry further data of a network model.
pub(crate) trait Ending: Copy + PartialEq {
    /// End time, and a number that breaks ties (for a job, its arrival index).
    fn order(&self) -> (Time, u64);

    #[inline(always)]
    fn is_before(&self, other: &Self) -> bool {
        let ((at, id), (other_at, other_id)) = (self.order(), other.order());
        // Evaluated without branches, because the outcome of the comparison is unpredictable.
        (at < other_at) | (at == other_at) & (id < other_id)
    }
}

/// Maximum number of jobs' end times in a chunk of the list, small enough for quick insertion.
const CHUNK: usize = 64;

/// End times of running jobs, in order of time. They are stored in chunks, on most machines in a
/// single one.
///
/// The earliest end time is read or removed in **O(1)**. Any other end time is inserted or removed
/// in **O(log r + c)** for *r* jobs in chunks of *c*. If a chunk is split or emptied, up to *r* /
/// *c* chunks move.
pub(crate) struct Ends<E> {
    soonest: Vec<E>,
    /// Chunks of the end times that are not in `soonest`, the chunk of the earliest end times. The
    /// latest chunk comes first. No chunk is empty.
    later: Vec<Vec<E>>,
}

impl<E> Default for Ends<E> {
    fn default() -> Ends<E> {
        Ends { soonest: Vec::new(), later: Vec::new() }
    }
}

impl<E: Ending> Ends<E> {
    /// Index in `later` of the chunk to which an end time belongs. `None` if it belongs to
    /// `soonest`, the chunk of the earliest end times.
    #[inline]
    fn later_chunk(&self, end: &E) -> Option<usize> {
        // On most machines the soonest chunk is the only one.
        self.later.last().filter(|chunk| !is_before_all(end, chunk))?;
        Some(self.later.partition_point(|chunk| is_before_all(end, chunk)))
    }

    // Inlined into callers, because an end just written in parts is slow to read as a whole.
    #[inline(always)]
    pub(crate) fn insert(&mut self, end: E) {
        let Some(at) = self.later_chunk(&end) else {
            put(&mut self.soonest, end);
            if self.soonest.len() == CHUNK {
                let sooner = self.soonest.split_off(CHUNK / 2);
                self.later.push(std::mem::replace(&mut self.soonest, sooner));
            }
            return;
        };
        let chunk = &mut self.later[at];
        put(chunk, end);
        if chunk.len() == CHUNK {
            let sooner = chunk.split_off(CHUNK / 2);
            self.later.insert(at + 1, sooner);
        }
    }

    #[inline]
    pub(crate) fn remove(&mut self, end: &E) {
        let Some(at) = self.later_chunk(end) else {
            take(&mut self.soonest, end);
            self.look_further();
            return;
        };
        take(&mut self.later[at], end);
        if self.later[at].is_empty() {
            self.later.remove(at);
        }
    }

    #[inline(always)]
    pub(crate) fn first(&self) -> Option<&E> {
        self.soonest.last()
    }

    #[inline(always)]
    pub(crate) fn take_first(&mut self) -> Option<E> {
        let first = self.soonest.pop();
        self.look_further();
        first
    }

    /// Moves on to the next chunk of end times if the chunk of the earliest ones is empty.
    #[inline(always)]
    fn look_further(&mut self) {
        if self.soonest.is_empty()
            && let Some(next) = self.later.pop()
        {
            self.soonest = next;
        }
    }

    /// The ends of all running jobs, the earliest first.
    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = &E> {
        let later = self.later.iter().rev().flat_map(|chunk| chunk.iter().rev());
        self.soonest.iter().rev().chain(later)
    }
}

#[inline(always)]
fn is_before_all<E: Ending>(end: &E, chunk: &[E]) -> bool {
    chunk.last().is_some_and(|soonest| end.is_before(soonest))
}

/// Inserts an end time into a chunk. Earlier end times move one by one, because there are few of
/// them.
#[inline(always)]
fn put<E: Ending>(chunk: &mut Vec<E>, end: E) {
    chunk.push(end);
    let all = chunk.as_mut_slice();
    let mut place = all.len() - 1;
    while let Some(above) = place.checked_sub(1)
        && all[above].is_before(&end)
    {
        all[place] = all[above];
        place = above;
    }
    all[place] = end;
}

/// Removes an end time from a chunk if it is there. Earlier end times move by one place during the
/// search.
#[inline(always)]
fn take<E: Ending>(chunk: &mut Vec<E>, end: &E) {
    let Some(mut taken) = chunk.pop() else { return };
    let mut above = chunk.iter_mut().rev();
    while taken != *end {
        let Some(next) = above.next() else {
            // The end was not found: all ends have moved by one place, and are moved back.
            chunk.insert(0, taken);
            return;
        };
        std::mem::swap(next, &mut taken);
    }
}

impl<E: Ending> FromIterator<E> for Ends<E> {
    fn from_iter<I: IntoIterator<Item = E>>(ends: I) -> Ends<E> {
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

    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    struct End {
        at: Time,
        id: u64,
        held: u32,
    }

    impl Ending for End {
        fn order(&self) -> (Time, u64) {
            (self.at, self.id)
        }
    }

    proptest! {
        #[test]
        fn they_are_a_sorted_set(
            ops in prop::collection::vec((0_u8..6, 0_u32..40, any::<prop::sample::Index>()), 1..1500),
        ) {
            let (mut ends, mut set) = (Ends::default(), BTreeSet::new());
            for (number, (op, at, which)) in ops.into_iter().enumerate() {
                if op > 2 || set.is_empty() {
                    let end = End { at: Time::new(at.into()), id: number as u64, held: at % 7 };
                    if op == 5 {
                        ends.remove(&end); // no effect
                    }
                    ends.insert(end);
                    set.insert(end);
                } else if op == 0 {
                    prop_assert_eq!(ends.take_first(), set.pop_first());
                } else {
                    let end = *set.iter().nth(which.index(set.len())).unwrap();
                    ends.remove(&end);
                    set.remove(&end);
                }
                prop_assert_eq!(ends.first(), set.first());
            }
            prop_assert!(ends.iter().eq(&set));
            prop_assert!(ends.iter().rev().eq(set.iter().rev()));
            let again: Ends<End> = set.iter().rev().copied().collect();
            prop_assert!(again.iter().eq(&set));
        }
    }
}
