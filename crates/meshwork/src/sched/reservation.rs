//! Reservation scheduler: jobs overtake others, but not on nodes kept for overtaken jobs.

use std::collections::BTreeSet;

use super::window::{read_ahead, write_ahead};
use super::{Scheduler, SchedulerEntry};
use crate::cluster::{
    Cluster, Hold, MemoryReader, MemoryWriter, Place, RecallError, Reservation, StartOptions,
    Ticket,
};
use crate::machine::Placement;
use crate::registry::{About, Kind, Param};

/// Registry entry of the scheduler `reservation`: out-of-order starts with reservations.
pub static ENTRY: SchedulerEntry = SchedulerEntry::new(
    About::new(
        "reservation",
        "each job that fits starts, in order of arrival; for those that have been passed by, the \
         processors on which fewest others run are kept until they can start there",
    )
    .definition(
        "In order of arrival, a job starts on the processors that are kept for it \
             if all are free, or wherever the allocator finds room clear of what is \
             kept for others. A job that `bypass_limit` later jobs have passed by gets \
             a reservation: the place on which the fewest other jobs run. At most \
             `reservations` are kept at once. Estimates only break ties. Where jobs \
             share nodes, the parts of nodes are kept that the allocator chooses among \
             the fewest nodes, in the order of the jobs on them, on which the job would \
             fit if no other job ran.",
    )
    .complexity(
        "A question to the allocator for each waiting job that might fit, two and a copy of the \
         machine where it would meet a reservation; O(machine) for each reservation.",
    )
    .source("Das Sharma & Pradhan, Job scheduling in mesh multicomputers, TPDS 9(1), 1998")
    .params(&[
        Param::new("reservations", Kind::Integer(0, u32::MAX as u64))
            .is("1")
            .help("for how many jobs processors are kept at once"),
        Param::new("bypass_limit", Kind::Or(&["none"], &Kind::Integer(0, u32::MAX as u64)))
            .is("0")
            .help("how many later jobs may start before a job until processors are kept for it"),
    ]),
    |params, _| {
        Ok(Box::new(Reserving {
            most: params.integer("reservations") as usize,
            bypass_limit: params.get_integer("bypass_limit").unwrap_or(u64::MAX),
            reserved: Vec::new(),
            ahead: BTreeSet::new(),
        }))
    },
)
.shares(true);

/// Out-of-order scheduling with reservations. A reservation is a set of nodes that is
/// [kept](Cluster::least_busy) for a waiting job; it is chosen so that few of its nodes are in use.
/// A job starts on its kept nodes if all of them are free, and otherwise on nodes that are not kept
/// for others. If a job cannot start, it gets a reservation under two conditions: enough later jobs
/// have overtaken it, and every job before it has a reservation. The number of reservations is
/// limited.
struct Reserving {
    most: usize,
    bypass_limit: u64,
    reserved: Vec<(Ticket, Reservation)>,
    /// Started jobs that overtook the current head of the queue.
    ahead: BTreeSet<Ticket>,
}

impl Scheduler for Reserving {
    fn memory(&self, memory: &mut MemoryWriter) -> bool {
        memory.promises(self.reserved.iter().map(|(ticket, kept)| (*ticket, kept)));
        write_ahead(&self.ahead, memory);
        true
    }

    fn recall(&mut self, memory: &mut MemoryReader<'_>) -> Result<(), RecallError> {
        self.reserved = memory.promises()?;
        self.ahead = read_ahead(memory)?;
        Ok(())
    }

    fn reserves(&self) -> bool {
        true
    }

    fn schedule(&mut self, cluster: &mut Cluster<'_>) {
        if cluster.is_disturbed() {
            // Reservations are made again, and requeued jobs no longer count as started.
            self.reserved.clear();
            let again: Vec<_> = cluster.arrivals().iter().map(|ticket| ticket.id).collect();
            self.ahead.retain(|ticket| !again.contains(&ticket.id));
        }
        let (mut next, mut place) = (cluster.head(), 0);
        let mut startable = None;
        // Number of free nodes that are not kept; cached until something changes.
        let mut clear = None;
        while let Some(ticket) = next {
            // Behind the jobs that have or may get reservations, only jobs that may be startable
            // matter.
            let following = if place < self.most {
                cluster.after(ticket)
            } else {
                startable.get_or_insert_with(|| cluster.startable(ticket)).next(cluster)
            };
            place += 1;
            let own = self.reserved.iter().position(|(owner, _)| *owner == ticket);
            if self.starts(cluster, ticket, own, &mut clear) {
                clear = None;
                own.map(|own| self.reserved.remove(own));
                self.ahead.insert(ticket);
                if let Some(head) = cluster.head() {
                    self.ahead = self.ahead.split_off(&head);
                }
            } else if own.is_none() && self.may_reserve(cluster, ticket) {
                let kept = kept_for(&self.reserved, None);
                if let Some(reservation) = cluster.least_busy(ticket, &kept) {
                    self.reserved.push((ticket, reservation));
                    clear = None;
                }
            }
            next = following;
        }
    }
}

impl Reserving {
    fn starts(
        &self,
        cluster: &mut Cluster<'_>,
        ticket: Ticket,
        own: Option<usize>,
        clear: &mut Option<u64>,
    ) -> bool {
        if let Some(own) = own {
            let (before, promised) = (&self.reserved[..own], &self.reserved[own].1);
            let mut kept = kept_for(before, None);
            kept.retain(|(site, kept)| *site == promised.site && meets(cluster, promised, kept));
            let place = Place::Promised(promised);
            let options = StartOptions { clear_of: &kept, ..StartOptions::at(place) };
            if cluster.start(ticket, options) {
                return true;
            }
        }
        let kept = kept_for(&self.reserved, Some(ticket));
        // Where only counts matter, no request on a fork of the machine is needed.
        if own.is_none()
            && cluster.counts_alone()
            && let Some(Hold::Count(wanted)) = cluster.count_now(ticket).map(|wanted| wanted.hold)
            && wanted.nodes() > *clear.get_or_insert_with(|| free_beside(cluster, &kept))
        {
            return false;
        }
        cluster.start(ticket, StartOptions::clear_of(&kept))
    }

    fn may_reserve(&self, cluster: &Cluster<'_>, ticket: Ticket) -> bool {
        let held = self.reserved.len();
        held < self.most
            && cluster.waiting().nth(held) == Some(ticket)
            && self.has_been_passed(ticket)
    }

    fn has_been_passed(&self, ticket: Ticket) -> bool {
        let limit = usize::try_from(self.bypass_limit).unwrap_or(usize::MAX);
        self.ahead.range(ticket..).take(limit).count() >= limit
    }
}

/// Number of free nodes of the first site that are in none of the placements `kept`.
/// The placements must be disjoint.
fn free_beside(cluster: &Cluster<'_>, kept: &[(usize, &Placement)]) -> u64 {
    let site = cluster.site(0);
    let mut free = site.free_nodes();
    for (_, placement) in kept {
        placement.for_each_run(site.grid(), |start, count| {
            free -= site.free().count_range(start, count);
        });
    }
    u64::from(free)
}

/// Whether a reservation of parts of nodes shares a node with `kept`, a placement for another job.
///
/// Whole nodes are never kept twice.
fn meets(cluster: &Cluster<'_>, reservation: &Reservation, kept: &Placement) -> bool {
    let Hold::Nodes(own) = &reservation.hold else { return false };
    if own.parts.is_none() {
        return false;
    }
    let grid = cluster.site(reservation.site).grid();
    let mut nodes = own.nodes(grid);
    nodes.sort_unstable();
    kept.nodes(grid).iter().any(|node| nodes.binary_search(node).is_ok())
}

/// Reserved placements of all waiting jobs except one, each with the index of its site.
fn kept_for(reserved: &[(Ticket, Reservation)], owner: Option<Ticket>) -> Vec<(usize, &Placement)> {
    let others = reserved.iter().filter(|(ticket, _)| Some(*ticket) != owner);
    others
        .filter_map(|(_, reservation)| match &reservation.hold {
            Hold::Nodes(placement) => Some((reservation.site, placement)),
            Hold::Count(_) => None,
        })
        .collect()
}
