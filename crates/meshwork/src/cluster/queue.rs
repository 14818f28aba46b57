//! The jobs that wait, in order of arrival.

use slab::Slab;

use crate::job::Job;
use crate::observe::JobId;

/// A waiting job, as schedulers name it. It is good until the job starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ticket {
    /// Its place in the order of arrival.
    pub id: JobId,
    slot: u32,
}

/// A list of waiting jobs from which any one can be taken.
///
/// A linked list in a slab: every operation is **O(1)**, since a queue may be thousands long at
/// every event, and memory grows with the jobs that wait now.
#[derive(Default)]
pub(crate) struct Queue {
    slots: Slab<Slot>,
    first: Option<u32>,
    last: Option<u32>,
}

struct Slot {
    id: JobId,
    job: Job,
    fewest: u64,
    before: Option<u32>,
    after: Option<u32>,
}

impl Queue {
    pub(crate) fn len(&self) -> usize {
        self.slots.len()
    }

    /// Appends a job, which arrived after all others. `fewest` is a bound on the processors that it
    /// needs to start, kept beside it because every pass asks for it.
    pub(crate) fn push(&mut self, id: JobId, job: Job, fewest: u64) -> Ticket {
        let slot = Slot { id, job, fewest, before: self.last, after: None };
        let slot = self.slots.insert(slot) as u32;
        match self.last {
            Some(last) => self.slots[last as usize].after = Some(slot),
            None => self.first = Some(slot),
        }
        self.last = Some(slot);
        Ticket { id, slot }
    }

    pub(crate) fn first(&self) -> Option<Ticket> {
        self.first.map(|slot| self.ticket(slot))
    }

    /// The job that arrived next after this one, of those that wait.
    pub(crate) fn after(&self, ticket: Ticket) -> Option<Ticket> {
        self.slot(ticket).after.map(|slot| self.ticket(slot))
    }

    /// The next job after this one whose bound on processors is at most `most`.
    pub(crate) fn next_within(&self, ticket: Ticket, most: u64) -> Option<Ticket> {
        if most == 0 {
            return None; // a full machine is the commonest case of all, and needs no walk
        }
        let mut next = self.slot(ticket).after;
        while let Some(slot) = next {
            let waiting = &self.slots[slot as usize];
            if waiting.fewest <= most {
                return Some(Ticket { id: waiting.id, slot });
            }
            next = waiting.after;
        }
        None
    }

    pub(crate) fn job(&self, ticket: Ticket) -> &Job {
        &self.slot(ticket).job
    }

    pub(crate) fn fewest(&self, ticket: Ticket) -> u64 {
        self.slot(ticket).fewest
    }

    pub(crate) fn remove(&mut self, ticket: Ticket) -> Job {
        let _ = self.slot(ticket);
        let slot = self.slots.remove(ticket.slot as usize);
        match slot.before {
            Some(before) => self.slots[before as usize].after = slot.after,
            None => self.first = slot.after,
        }
        match slot.after {
            Some(after) => self.slots[after as usize].before = slot.before,
            None => self.last = slot.before,
        }
        slot.job
    }

    fn ticket(&self, slot: u32) -> Ticket {
        Ticket { id: self.slots[slot as usize].id, slot }
    }

    fn slot(&self, ticket: Ticket) -> &Slot {
        let slot = self.slots.get(ticket.slot as usize).filter(|slot| slot.id == ticket.id);
        slot.expect("a ticket is good until its job starts")
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::job::{Request, Time};

    fn job() -> Job {
        let request = Request::Nodes(1);
        Job { number: 1, arrival: Time::ZERO, request, runtime: 1.0, estimate: 1.0 }
    }

    proptest! {
        #[test]
        fn the_queue_agrees_with_a_vector(
            ops in prop::collection::vec(prop::option::of(any::<prop::sample::Index>()), 1..100)
        ) {
            let (mut queue, mut vector, mut next) = (Queue::default(), Vec::new(), 0);
            for op in ops {
                match op {
                    None => {
                        vector.push(queue.push(JobId(next), job(), 1));
                        next += 1;
                    }
                    Some(at) if !vector.is_empty() => {
                        queue.remove(vector.remove(at.index(vector.len())));
                    }
                    Some(_) => {}
                }
                let walked: Vec<Ticket> =
                    std::iter::successors(queue.first(), |&ticket| queue.after(ticket)).collect();
                prop_assert_eq!(&walked, &vector);
                prop_assert_eq!(queue.len(), vector.len());
            }
        }
    }
}
