//! Fair share: jobs of the user with the least use, relative to the user's share, come first.

use std::collections::BTreeMap;

use super::ranked::{BACKFILL_PARAM, Rank, Ranked, backfills};
use super::shares::{HALF_LIFE, SHARES, Shares, half_life};
use super::usage::{Usage, User};
use super::{Scheduler, SchedulerEntry};
use crate::cluster::{Cluster, MemoryReader, MemoryWriter, RecallError, Ticket};
use crate::job::Job;
use crate::registry::About;

/// Registry entry of `fair_share`: jobs of users with the least use first.
pub static ENTRY: SchedulerEntry = SchedulerEntry::new(
    About::new(
        "fair_share",
        "jobs of the user who has had least of the machine for their share come \
             first, those of one user by arrival",
    )
    .definition(
        "What a user has had is processors times time, of which half is forgotten after every \
         `half_life`; what still runs counts as it runs. The waiting job whose user has had least, \
         over that user's share, is next, and among equals the one that arrived first. When it \
         cannot start, nothing else does or, as in `easy`, what does not delay it. Jobs without a \
         user are those of one.",
    )
    .complexity(
        "O(q + u) in each pass with q waiting jobs of u users, and a question to \
             the allocator for each that is small enough.",
    )
    .source("Kay & Lauder, A fair share scheduler, CACM 31(1), 1988, for a queue of jobs")
    .params(&[HALF_LIFE, SHARES, BACKFILL_PARAM]),
    |params, _| {
        Ok(Box::new(FairShare {
            usage: Usage::new(half_life(params), Shares::read(params)?),
            waiting: BTreeMap::new(),
            ranked: Ranked::new(backfills(params)),
        }))
    },
)
.shares(true)
.by_owner(true);

struct FairShare {
    usage: Usage,
    waiting: BTreeMap<Ticket, User>,
    ranked: Ranked,
}

impl FairShare {
    fn joins(&mut self, ticket: Ticket, job: &Job) {
        let user = self.usage.user(job);
        self.waiting.insert(ticket, user);
    }
}

impl Scheduler for FairShare {
    fn memory(&self, memory: &mut MemoryWriter) -> bool {
        self.usage.write(memory);
        self.ranked.write(memory);
        true
    }

    fn recall(&mut self, memory: &mut MemoryReader<'_>) -> Result<(), RecallError> {
        self.usage.read(memory)?;
        let cluster = memory.cluster();
        cluster.waiting().for_each(|ticket| self.joins(ticket, cluster.job(ticket)));
        self.ranked.read(memory)
    }

    fn reserves(&self) -> bool {
        self.ranked.reserves()
    }

    fn schedule(&mut self, cluster: &mut Cluster<'_>) {
        let now = cluster.now();
        for departure in cluster.departures() {
            self.usage.ends(departure, now);
        }
        for &ticket in cluster.arrivals() {
            self.joins(ticket, cluster.job(ticket));
        }
        let FairShare { usage, waiting, ranked } = self;
        let had: Vec<f64> = usage.all(now).map(|(had, share)| had / share).collect();
        let rank = |(&ticket, user): (&Ticket, &User)| Rank { by: -had[user.index()], ticket };
        let ranks: Vec<Rank> = waiting.iter().map(rank).collect();
        let mut started = |ticket: Ticket, asked: u64| {
            if let Some(user) = waiting.remove(&ticket) {
                usage.begins(user, asked, now);
            }
        };
        if let Some((head, behind)) = ranked.serve(cluster, ranks, &mut started) {
            ranked.backfill(cluster, head, behind, started);
        }
    }
}
