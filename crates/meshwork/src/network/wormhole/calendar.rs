//! A calendar of events: a timing wheel for the near future, a map for later events.

use std::collections::BTreeMap;

use super::Cycle;

/// Number of cycles ahead that the timing wheel covers. Nearly all events lie within this range,
/// and the lists still fit in the processor's cache.
const SLOTS: usize = 256;

/// Events sorted by cycle. Events of one cycle are in the order in which they were added.
#[derive(Clone, Debug)]
pub(super) struct Calendar {
    slots: Vec<Vec<u32>>,
    /// Bit set of the slots of the timing wheel that have events.
    filled: [u64; SLOTS / 64],
    far: BTreeMap<Cycle, Vec<u32>>,
    /// The last cycle whose events were taken. Events may be added at this cycle and at later ones.
    from: Cycle,
}

impl Calendar {
    pub(super) fn new() -> Calendar {
        Calendar {
            slots: vec![Vec::new(); SLOTS],
            filled: [0; SLOTS / 64],
            far: BTreeMap::new(),
            from: 0,
        }
    }

    /// Adds an event at cycle `at`. If events of a cycle have been taken, `at` must not be before
    /// this cycle.
    pub(super) fn push(&mut self, at: Cycle, event: u32) {
        debug_assert!(at >= self.from);
        if at - self.from < SLOTS as Cycle {
            let slot = at as usize % SLOTS;
            self.slots[slot].push(event);
            self.filled[slot / 64] |= 1 << (slot % 64);
        } else {
            self.far.entry(at).or_default().push(event);
        }
    }

    /// Appends the events of cycle `now` to a list, and removes them from the calendar. There must
    /// be no events in earlier cycles.
    pub(super) fn take(&mut self, now: Cycle, into: &mut Vec<u32>) {
        self.from = now;
        let slot = now as usize % SLOTS;
        if self.filled[slot / 64] >> (slot % 64) & 1 != 0 {
            self.filled[slot / 64] &= !(1 << (slot % 64));
            into.append(&mut self.slots[slot]);
        }
        if self.far.first_key_value().is_some_and(|(&at, _)| at == now) {
            into.extend(self.far.pop_first().into_iter().flat_map(|(_, events)| events));
        }
    }

    pub(super) fn next(&self) -> Option<Cycle> {
        let far = self.far.first_key_value().map(|(&at, _)| at);
        let first = self.from as usize % SLOTS;
        let words = self.filled.len();
        // The word that contains the first slot is visited twice: at first its upper part, at last
        // its lower part.
        let near = (0..=words).find_map(|i| {
            let word = (first / 64 + i) % words;
            let upper = u64::MAX << (first % 64);
            let part = match i {
                0 => upper,
                _ if i == words => !upper,
                _ => u64::MAX,
            };
            let bits = self.filled[word] & part;
            (bits != 0).then(|| {
                let slot = word * 64 + bits.trailing_zeros() as usize;
                self.from + ((slot + SLOTS - first) % SLOTS) as Cycle
            })
        });
        near.into_iter().chain(far).min()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_calendar_is_a_map(delays in prop::collection::vec((0_u64..700, 0_usize..4), 1..200)) {
            let (mut calendar, mut map) = (Calendar::new(), BTreeMap::<Cycle, Vec<u32>>::new());
            let (mut now, mut taken) = (0, Vec::new());
            for (event, (delay, takes)) in delays.into_iter().enumerate() {
                calendar.push(now + delay, event as u32);
                map.entry(now + delay).or_default().push(event as u32);
                for _ in 0..takes {
                    let next = map.keys().next().copied();
                    prop_assert_eq!(calendar.next(), next);
                    let Some(next) = next else { break };
                    now = next;
                    taken.clear();
                    calendar.take(now, &mut taken);
                    taken.sort_unstable();
                    prop_assert_eq!(&taken, &map.remove(&now).unwrap());
                }
            }
        }
    }
}
