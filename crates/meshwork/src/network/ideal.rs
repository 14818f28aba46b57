//! A network without message costs: a job takes its work divided by its rate.

use super::{Ending, Ends, Network, NetworkEntry, NetworkError, RunKey, Work};
use crate::job::Time;
use crate::machine::Placement;
use crate::observe::Messages;
use crate::registry::About;

/// Registry entry of the network `ideal`.
pub static ENTRY: NetworkEntry = NetworkEntry::new(
    About::new("ideal", "messages cost nothing: a job takes its run time wherever it is placed")
        .definition(
            "A job takes its run time, divided by the speed of its site and stretched \
             by its sizing, wherever it is placed.",
        )
        .complexity(
            "O(log r + c) for each start and each end with r running jobs, which stand \
             in chunks of c; memory O(r).",
        )
        .source("the assumption of all papers that do not simulate messages"),
    |_, _| Ok(Box::new(Ideal::default())),
)
.memory(|_, _| Ok(0));

/// The ideal network: the finish times of running jobs, and a slot for each of them. A slot has the
/// remaining work of a job at its last change, from which its finish time follows.
#[derive(Default)]
pub(super) struct Ideal {
    finishes: Ends<Finish>,
    slots: Vec<Slot>,
}

/// A running job, and the instant at which it finishes if its rate does not change.
#[derive(Clone, Copy, PartialEq)]
struct Finish {
    at: Time,
    run: RunKey,
}

impl Ending for Finish {
    #[inline(always)]
    fn order(&self) -> (Time, u64) {
        (self.at, self.run.id.0)
    }
}

#[derive(Clone, Copy)]
struct Slot {
    work: Work,
    since: Time,
}

impl Slot {
    #[inline(always)]
    fn finish(&self, run: RunKey) -> Finish {
        Finish { at: self.since + self.work.left / self.work.rate, run }
    }
}

impl Network for Ideal {
    fn start(
        &mut self,
        now: Time,
        run: RunKey,
        work: Work,
        _site: usize,
        _at: &Placement,
    ) -> Result<(), NetworkError> {
        let slot = run.slot as usize;
        let fresh = Slot { work, since: now };
        if slot >= self.slots.len() {
            self.slots.resize(slot + 1, fresh);
        }
        self.slots[slot] = fresh;
        self.finishes.insert(fresh.finish(run));
        Ok(())
    }

    fn change(
        &mut self,
        now: Time,
        run: RunKey,
        more: f64,
        rate: f64,
        _site: usize,
        _at: &Placement,
    ) {
        let slot = &mut self.slots[run.slot as usize];
        self.finishes.remove(&slot.finish(run));
        let done = (now - slot.since) * slot.work.rate;
        slot.work = Work { left: (slot.work.left - done).max(0.0) + more, rate };
        slot.since = now;
        self.finishes.insert(slot.finish(run));
    }

    fn next_finish(&mut self, _by: Option<Time>) -> Result<Option<(Time, RunKey)>, NetworkError> {
        // Fields are read one by one: reading a value as a whole just after writing it in parts is
        // slow.
        match self.finishes.first() {
            Some(&Finish { at, run: RunKey { id, slot } }) => Ok(Some((at, RunKey { id, slot }))),
            None => Ok(None),
        }
    }

    fn goes_by_nodes(&self) -> bool {
        false
    }

    fn finish(&mut self, _now: Time, run: RunKey) -> Option<Box<Messages>> {
        if self.finishes.first().is_some_and(|first| first.run == run) {
            self.finishes.take_first();
        } else {
            self.finishes.remove(&self.slots[run.slot as usize].finish(run)); // stopped early
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::observe::JobId;

    #[derive(Clone, Copy, Debug)]
    enum Op {
        Start(u32),
        Change(usize, u32, u32),
        Finish,
    }

    fn ops() -> impl Strategy<Value = Op> {
        prop_oneof![
            (1_u32..50).prop_map(Op::Start),
            // Rates that are powers of two keep all times exact, so that ends that are simultaneous
            // in one implementation are simultaneous in the other.
            (any::<usize>(), 0_u32..5, 0_u32..3).prop_map(|(i, m, r)| Op::Change(i, m, 1 << r)),
            Just(Op::Finish),
        ]
    }

    proptest! {
        #[test]
        fn the_heap_agrees_with_a_list(ops in prop::collection::vec(ops(), 1..80)) {
            let nowhere = Placement::default();
            let (mut ideal, mut list) = (Ideal::default(), Vec::<(RunKey, f64, f64)>::new());
            let (mut now, mut next_id) = (Time::ZERO, 0);
            for op in ops {
                match op {
                    Op::Start(work) => {
                        let slot = (0..).find(|s| list.iter().all(|(k, ..)| k.slot != *s)).unwrap();
                        let run = RunKey { id: JobId(next_id), slot };
                        next_id += 1;
                        let left = f64::from(work);
                        ideal.start(now, run, Work { left, rate: 1.0 }, 0, &nowhere).unwrap();
                        list.push((run, left, 1.0));
                    }
                    Op::Change(i, more, rate) if !list.is_empty() => {
                        let i = i % list.len();
                        list[i].1 += f64::from(more);
                        list[i].2 = f64::from(rate);
                        ideal.change(now, list[i].0, f64::from(more), f64::from(rate), 0, &nowhere);
                    }
                    Op::Change(..) => {}
                    Op::Finish => {
                        let next = list
                            .iter()
                            .map(|(run, left, rate)| (now + left / rate, *run))
                            .min();
                        let found = ideal.next_finish(None).unwrap();
                        prop_assert_eq!(found.map(|(_, run)| run.id), next.map(|(_, run)| run.id));
                        if let (Some((at, run)), Some((expected, _))) = (found, next) {
                            prop_assert!((at - expected).abs() < 1e-9);
                            for (_, left, rate) in &mut list {
                                *left -= (at - now) * *rate;
                            }
                            now = at;
                            ideal.finish(now, run);
                            list.retain(|(k, ..)| *k != run);
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn a_job_that_is_resized_keeps_the_work_it_has_left() {
        let (mut ideal, nowhere) = (Ideal::default(), Placement::default());
        let run = RunKey { id: JobId(0), slot: 0 };
        ideal.start(Time::ZERO, run, Work { left: 10.0, rate: 1.0 }, 0, &nowhere).unwrap();
        ideal.change(Time::new(4.0), run, 0.0, 2.0, 0, &nowhere);
        assert_eq!(ideal.next_finish(None).unwrap(), Some((Time::new(7.0), run)));
        ideal.change(Time::new(5.0), run, 1.0, 0.5, 0, &nowhere);
        assert_eq!(
            ideal.next_finish(None).unwrap(),
            Some((Time::new(15.0), run)),
            "4 left and 1 more, at ½"
        );
    }
}
