//! Reservations of a site: withheld nodes and their times.

use meshwork::geometry::NodeSet;

use super::rules::{SiteReservation, SiteRules};
use meshwork_lab::slurm::folder::SlurmMachine;
use meshwork_slurm::history::{JobRecord, Second};

#[derive(Clone, Debug)]
pub(super) struct Reserved {
    name: String,
    span: (Second, Second),
    /// Planned end of the reservation. If the reservation was ended early, the planned end is
    /// unknown, and the value is `Second::MAX`.
    planned_end: Second,
    nodes: NodeSet,
    since: Second,
}

/// Reservations of a site. If the nodes of a reservation are not recorded, they are found from the
/// job history.
pub(super) fn of(machine: &SlurmMachine, rules: &SiteRules, stays: &[JobRecord]) -> Vec<Reserved> {
    let reserved = |own: &SiteReservation| {
        let nodes = own.nodes.clone().or_else(|| found(machine, own, stays))?;
        let since = since(machine, own, &nodes, stays);
        // A reservation whose length is not in whole minutes was ended early.
        let is_cut = (own.span.1 - own.span.0) % 60 != 0;
        let planned_end = if is_cut { Second::MAX } else { own.span.1 };
        Some(Reserved { name: own.name.clone(), span: own.span, planned_end, nodes, since })
    };
    rules.reservations.iter().filter_map(reserved).collect()
}

/// Earliest second in which a reservation can have existed. While it exists, other jobs start on
/// its nodes only if their time limits end before it begins. So it was created after the last start
/// of another job on these nodes whose time limit ends after the reservation begins.
fn since(
    machine: &SlurmMachine,
    reservation: &SiteReservation,
    nodes: &NodeSet,
    stays: &[JobRecord],
) -> Second {
    let begin = reservation.span.0;
    let runs_into = |stay: &&JobRecord| {
        let until = stay.start.zip(stay.limit).map(|(start, limit)| start + limit);
        stay.start.is_some_and(|start| start < begin)
            && until.is_some_and(|until| until > begin)
            && stay.reservation != reservation.name
            && machine.nodes(&stay.nodelist).is_ok_and(|own| own.meets(nodes))
    };
    let last = stays.iter().filter(runs_into).filter_map(|stay| stay.start).max();
    last.map_or(Second::MIN, |start| start + 1)
}

/// Nodes of a reservation, found from the history: the nodes on which its own jobs ran. If they
/// have too few processors, nodes are added on which no other job started during the reservation.
/// The result is `None` if all these nodes together have too few processors.
fn found(
    machine: &SlurmMachine,
    reservation: &SiteReservation,
    stays: &[JobRecord],
) -> Option<NodeSet> {
    let site = machine.sites().next()?;
    let (from, until) = reservation.span;
    let mut nodes = NodeSet::empty(machine.reading.hosts.count());
    let mut others = nodes.clone();
    for stay in stays.iter().filter(|own| own.start.is_some_and(|at| (from..until).contains(&at))) {
        let Ok(own) = machine.nodes(&stay.nodelist) else { continue };
        if stay.reservation == reservation.name { &mut nodes } else { &mut others }.unite(&own);
    }
    let processors = |node| u64::from(site.nodes.processors(node));
    let mut left = reservation.processors;
    nodes.iter().for_each(|node| left = left.saturating_sub(processors(node)));
    for node in site.whole.iter() {
        if left > 0 && !nodes.contains(node) && !others.contains(node) {
            left = left.saturating_sub(processors(node));
            nodes.insert(node);
        }
    }
    (left == 0 && nodes.count() > 0).then_some(nodes)
}

/// Adds to the set `kept` the nodes that reservations withhold from a job between two times. Only
/// reservations known at `now` count. If the job has a reservation, all nodes outside of it are
/// withheld. Returns the earliest planned end of the other reservations; `None` if there are none.
pub(super) fn kept(
    reserved: &[Reserved],
    now: Second,
    reservation: &str,
    (from, until): (Second, Second),
    kept: &mut NodeSet,
) -> Option<Second> {
    let mut end: Option<Second> = None;
    let is_near = |own: &&Reserved| {
        // The recorded end is in whole seconds: the reservation may still exist in that second.
        let is_known = own.since <= now && now <= own.span.1;
        is_known && own.span.0 < until && from < own.planned_end
    };
    for own in reserved.iter().filter(is_near) {
        if own.name != reservation {
            kept.unite(&own.nodes);
            end = Some(end.map_or(own.planned_end, |end| end.min(own.planned_end)));
        }
    }
    if reservation.is_empty() {
        return end;
    }
    // Such a job runs only on reserved nodes, while the reservation lasts.
    let open = reserved
        .iter()
        .find(|own| own.name == reservation && own.span.0 <= from && from < own.planned_end);
    let mut closed = NodeSet::full(kept.universe());
    open.iter().for_each(|own| closed.subtract(&own.nodes));
    kept.unite(&closed);
    end
}
