//! Window scheduler: starts any of the first few waiting jobs that fits.

use std::collections::BTreeSet;

use super::{Scheduler, SchedulerEntry};
use crate::cluster::{Cluster, MemoryReader, MemoryWriter, RecallError, StartOptions, Ticket};
use crate::registry::{About, Kind, Param};

/// Registry entry of `window`: starts any of the first `width` waiting jobs that fits.
pub static ENTRY: SchedulerEntry = SchedulerEntry::new(
    About::new(
        "window",
        "of the first few waiting jobs each that fits starts, in order of arrival",
    )
    .aliases(&["out_of_order"])
    .definition(
        "The first `width` waiting jobs are tried in order of arrival; the first that fits starts, \
         and then the front is tried again. When `skip_limit` later jobs have started before the \
         head of the queue, nothing else starts until it has. No estimate is used.",
    )
    .complexity("Up to one question to the allocator for each job of the window and each start.")
    .source("out-of-order scheduling, as Chang & Mohapatra name it in section 2.3")
    .params(&[
        Param::new("width", Kind::Or(&["all"], &Kind::Integer(1, u32::MAX as u64)))
            .is("\"all\"")
            .help("how many waiting jobs are looked at; 1 is first come, first served"),
        Param::new("skip_limit", Kind::Or(&["none"], &Kind::Integer(0, u32::MAX as u64)))
            .is("\"none\"")
            .help("how many later jobs may start before a job; then none may until it has"),
    ]),
    |params, _| {
        Ok(Box::new(Window {
            width: params.get_integer("width").unwrap_or(u64::MAX),
            skip_limit: params.get_integer("skip_limit").unwrap_or(u64::MAX),
            ahead: BTreeSet::new(),
        }))
    },
)
.shares(true);

/// Writes started jobs, each with the queue position of the last waiting job before it.
pub(super) fn write_ahead(ahead: &BTreeSet<Ticket>, memory: &mut MemoryWriter) {
    memory.number(ahead.len() as u64);
    ahead.iter().for_each(|ticket| memory.started(*ticket));
}

/// Reads saved tickets of started jobs.
///
/// Each ticket is the job's former position in the queue, and differs from the tickets of all
/// waiting jobs.
pub(super) fn read_ahead(memory: &mut MemoryReader<'_>) -> Result<BTreeSet<Ticket>, RecallError> {
    let started = if memory.is_new() { 0 } else { memory.count()? };
    let read = (0..started).map(|index| memory.started(index).transpose());
    read.flatten().collect()
}

/// Tries jobs from the head of the queue on, and begins again after each start. No waiting job has
/// been overtaken more often than the head. So only the jobs that overtook the head count for the
/// limit.
struct Window {
    width: u64,
    skip_limit: u64,
    /// Started jobs that overtook the current head of the queue.
    ahead: BTreeSet<Ticket>,
}

impl Scheduler for Window {
    fn memory(&self, memory: &mut MemoryWriter) -> bool {
        write_ahead(&self.ahead, memory);
        true
    }

    fn recall(&mut self, memory: &mut MemoryReader<'_>) -> Result<(), RecallError> {
        self.ahead = read_ahead(memory)?;
        Ok(())
    }

    fn schedule(&mut self, cluster: &mut Cluster<'_>) {
        if cluster.is_disturbed() {
            // Requeued jobs no longer count as started.
            let again: Vec<_> = cluster.arrivals().iter().map(|ticket| ticket.id).collect();
            self.ahead.retain(|ticket| !again.contains(&ticket.id));
        }
        while self.start_one(cluster) {}
    }
}

impl Window {
    fn start_one(&mut self, cluster: &mut Cluster<'_>) -> bool {
        let Some(head) = cluster.head() else { return false };
        self.ahead = self.ahead.split_off(&head);
        if cluster.start(head, StartOptions::default()) {
            return true;
        }
        if self.ahead.len() as u64 >= self.skip_limit {
            return false;
        }
        let is_whole_queue = self.width >= cluster.waiting_jobs() as u64;
        let mut startable = is_whole_queue.then(|| cluster.startable(head));
        let (mut last, mut seen) = (head, 1);
        while seen < self.width {
            // In a narrow window every job counts towards the width, whether it may start or not.
            let next = match &mut startable {
                Some(startable) => startable.next(cluster),
                None => cluster.after(last),
            };
            let Some(candidate) = next else { return false };
            if cluster.start(candidate, StartOptions::default()) {
                self.ahead.insert(candidate);
                return true;
            }
            (last, seen) = (candidate, seen + 1);
        }
        false
    }
}
