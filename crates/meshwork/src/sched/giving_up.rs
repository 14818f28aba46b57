//! First come, first served, but long jobs that find the machine too full are rejected.

use super::{Scheduler, SchedulerEntry};
use crate::cluster::{Cluster, MemoryReader, MemoryWriter, RecallError, StartOptions, Ticket};
use crate::job::Request;
use crate::registry::About;
use crate::topology::Topology;

/// Registry entry of `giving_up`: FCFS that rejects long jobs when the machine is too full.
pub static ENTRY: SchedulerEntry = SchedulerEntry::new(
    About::new(
        "giving_up",
        "first come, first served, but a job longer than the machine that finds it \
             too full is turned away",
    )
    .aliases(&["rfold_drops"])
    .definition(
        "As `fcfs`, but a head of the queue that asks for a block with a side longer than the \
         shortest side of every site is tried once: if it cannot start then because too few \
         processors are free, it is turned away, though it may have fitted later, and counts as \
         refused. If as many are free, and only the shape is missing, it waits like any other.",
    )
    .complexity("As `fcfs`.")
    .source(
        "Chen et al., RFold, arXiv 2510.03891, 2025: the rule by which its program \
             drops jobs of ways that cannot reconfigure the machine",
    ),
    |_, sites| {
        let shortest = |site: &Topology| site.grid().sides().iter().copied().min();
        let shortest = sites.iter().filter_map(shortest).max().unwrap_or(0);
        Ok(Box::new(GivingUp { shortest, sites: sites.len(), tried: None }))
    },
)
.shares(true)
.serves_all(false);

struct GivingUp {
    /// Largest of the sites' shortest sides; a job with a longer side is long.
    shortest: u32,
    sites: usize,
    /// Last job that the scheduler failed to start from the head of the queue.
    ///
    /// A job is rejected only when the scheduler tries to start it for the first time.
    tried: Option<Ticket>,
}

impl GivingUp {
    fn is_long(&self, request: &Request) -> bool {
        matches!(request, Request::Block(sides) if sides.iter().any(|&side| side > self.shortest))
    }
}

impl Scheduler for GivingUp {
    fn memory(&self, memory: &mut MemoryWriter) -> bool {
        memory.optional(self.tried, MemoryWriter::job);
        true
    }

    fn recall(&mut self, memory: &mut MemoryReader<'_>) -> Result<(), RecallError> {
        if !memory.is_new() {
            self.tried = memory.optional(MemoryReader::job)?.flatten();
        }
        Ok(())
    }

    fn schedule(&mut self, cluster: &mut Cluster<'_>) {
        while let Some(head) = cluster.head() {
            if cluster.start(head, StartOptions::default()) {
                continue;
            }
            let is_first_try = self.tried.replace(head) != Some(head);
            let request = &cluster.job(head).request;
            let is_full = (0..self.sites)
                .all(|site| u64::from(cluster.site(site).free_nodes()) < request.nodes());
            if !(is_first_try && is_full && self.is_long(request)) {
                return;
            }
            cluster.turn_away(head);
        }
    }
}
