//! A timing wheel for events with short delays.

use super::Cycle;

/// A ring with a list of events for each of the next cycles.
#[derive(Clone, Debug)]
pub(super) struct Wheel<T> {
    slots: Vec<Vec<T>>,
    len: usize,
}

impl<T> Wheel<T> {
    pub(super) fn new(longest: Cycle) -> Wheel<T> {
        let slots = (longest as usize + 1).next_power_of_two();
        Wheel { slots: (0..slots).map(|_| Vec::new()).collect(), len: 0 }
    }

    fn slot(&self, at: Cycle) -> usize {
        at as usize & (self.slots.len() - 1)
    }

    pub(super) fn push(&mut self, at: Cycle, item: T) {
        let slot = self.slot(at);
        self.slots[slot].push(item);
        self.len += 1;
    }

    /// Moves the events of cycle `now` into the empty list `into`. The two lists are swapped, so
    /// that neither is reallocated.
    pub(super) fn take(&mut self, now: Cycle, into: &mut Vec<T>) {
        debug_assert!(into.is_empty());
        let slot = self.slot(now);
        std::mem::swap(&mut self.slots[slot], into);
        self.len -= into.len();
    }

    /// The first cycle from `now` on that has an event.
    pub(super) fn next(&self, now: Cycle) -> Option<Cycle> {
        if self.len == 0 {
            return None;
        }
        (now..now + self.slots.len() as Cycle).find(|&at| !self.slots[self.slot(at)].is_empty())
    }

    /// All pending events, in no particular order.
    #[cfg(test)]
    pub(super) fn all(&self) -> impl Iterator<Item = &T> {
        self.slots.iter().flatten()
    }
}
