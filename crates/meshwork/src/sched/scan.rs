//! Scan: serves all waiting jobs of one size class, then all of the next class.

use super::queues::Queues;
use super::{Scheduler, SchedulerEntry};
use crate::cluster::{Cluster, MemoryReader, MemoryWriter, RecallError, StartOptions};
use crate::registry::{About, Kind, Param, Words};

/// Registry entry of the scheduler `scan`, which serves one size class after the other.
pub static ENTRY: SchedulerEntry = SchedulerEntry::new(
    About::new(
        "scan",
        "one queue for each size class, and each is served until it is empty before the next",
    )
    .definition(
        "There is one queue for each size class: jobs of 2ᵏ⁻¹ + 1 to 2ᵏ processors. One queue is \
         served, first come, first served, until it is empty, then the next larger or smaller one, \
         around the end. A head that cannot start blocks all classes. With `gated` only jobs that \
         were there when the turn of their class began are served in it.",
    )
    .complexity("O(1) for each arrival and each start, and O(classes) to find the next queue.")
    .source(
        "Krueger, Lai & Dixit-Radiya, Job scheduling is more important than processor allocation \
         for hypercube computers, TPDS 5(5), 1994; Mohapatra, Yu, Das & Kim, section 2.3",
    )
    .params(&[
        Param::new("direction", DIRECTIONS.kind()).is("\"up\"").help(
            "whether the next larger or the next smaller jobs follow; after the last come the \
                 first again",
        ),
        Param::new("gated", Kind::Flag).is("false").help(
            "whether jobs that join the queue while it is being served wait for the next round",
        ),
    ]),
    |params, _| {
        Ok(Box::new(Scan {
            down: params.meaning("direction", &DIRECTIONS),
            gated: params.flag("gated"),
            queues: Queues::default(),
            current: 0,
            admitted: 0,
            idle: true,
        }))
    },
)
.shares(true);

static DIRECTIONS: Words<bool, 2> = Words::new([("up", false), ("down", true)]);

const MAX_CLASSES: usize = 64;

/// Scan over the size classes, from the smallest on. It does not move while no job waits. If the
/// first job of the current class cannot start, no job starts.
struct Scan {
    down: bool,
    gated: bool,
    queues: Queues,
    current: usize,
    /// Number of jobs of the current class that may still start before the scan moves on.
    ///
    /// In a gated scan, only jobs that waited when the scan reached the class may start. In a scan
    /// that is not gated, the number is `usize::MAX`.
    admitted: usize,
    /// Whether no job was waiting after the last pass. If so, the next pass begins at the current
    /// class.
    idle: bool,
}

impl Scheduler for Scan {
    fn memory(&self, memory: &mut MemoryWriter) -> bool {
        memory.number(self.queues.classes().len() as u64);
        memory.number(self.current as u64);
        memory.number(self.admitted as u64);
        memory.number(u64::from(self.idle));
        true
    }

    fn recall(&mut self, memory: &mut MemoryReader<'_>) -> Result<(), RecallError> {
        if !memory.is_new() {
            self.queues.fill(memory.up_to(MAX_CLASSES)?, memory.cluster());
            self.current = memory.up_to(MAX_CLASSES)?;
            self.admitted = memory.up_to(usize::MAX)?;
            self.idle = memory.flag()?;
        }
        Ok(())
    }

    fn schedule(&mut self, cluster: &mut Cluster<'_>) {
        for &ticket in cluster.arrivals() {
            self.queues.push(ticket, cluster);
        }
        if std::mem::take(&mut self.idle) {
            self.reach(self.current);
        }
        loop {
            let head = self.queues.head(self.current).filter(|_| self.admitted > 0);
            match head {
                Some(head) if cluster.start(head, StartOptions::default()) => {
                    self.queues.pop(self.current);
                    self.admitted -= 1;
                }
                Some(_) => return,
                None => {
                    let Some(next) = self.next() else {
                        self.idle = true;
                        return;
                    };
                    self.reach(next);
                }
            }
        }
    }
}

impl Scan {
    /// Next class with waiting jobs in the direction of the scan; the current class comes last.
    fn next(&self) -> Option<usize> {
        let classes = self.queues.classes().len();
        let turn = |step| {
            let step = if self.down { classes - step } else { step };
            (self.current + step) % classes
        };
        (1..=classes).map(turn).find(|&class| self.queues.len(class) > 0)
    }

    fn reach(&mut self, class: usize) {
        self.current = class;
        self.admitted = if self.gated { self.queues.len(class) } else { usize::MAX };
    }
}
