//! Reservations of a site: which nodes they keep from which jobs, and when.

use meshwork::geometry::NodeSet;

use super::rules::{SiteReservation, SiteRules};
use crate::operator::folder::SlurmMachine;
use crate::operator::history::{JobRecord, Second};

/// Reserved nodes.
#[derive(Clone, Debug)]
pub(super) struct Reserved {
    name: String,
    span: (Second, Second),
    /// When it was to end, as far as that is known.
    planned_end: Second,
    nodes: NodeSet,
    /// When it was made at the earliest.
    since: Second,
}

/// The reservations of a site, whose nodes are found in its history where no table names them.
///
/// # Complexity
/// **O(r n)** for *r* reservations and *n* records.
pub(super) fn of(machine: &SlurmMachine, rules: &SiteRules, stays: &[JobRecord]) -> Vec<Reserved> {
    let reserved = |own: &SiteReservation| {
        let nodes = own.nodes.clone().or_else(|| found(machine, own, stays))?;
        let since = since(machine, own, &nodes, stays);
        // One that does not last for whole minutes was ended before its time.
        let is_cut = (own.span.1 - own.span.0) % 60 != 0;
        let planned_end = if is_cut { Second::MAX } else { own.span.1 };
        Some(Reserved { name: own.name.clone(), span: own.span, planned_end, nodes, since })
    };
    rules.reservations.iter().filter_map(reserved).collect()
}

/// The second from which a reservation may have been known: until then jobs started on its nodes
/// that might have run into it.
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

/// The nodes of a reservation: those on which its own jobs ran, and the first of those on which no
/// other job started meanwhile.
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

/// The nodes that are kept `now` from a job that would run over a time, and when the first of these
/// reservations ends.
pub(super) fn kept(
    reserved: &[Reserved],
    now: Second,
    reservation: &str,
    (from, until): (Second, Second),
    kept: &mut NodeSet,
) -> Option<Second> {
    let mut end: Option<Second> = None;
    let is_near = |own: &&Reserved| {
        // It is ended some time within the last of its seconds.
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
    // A job of a reservation runs on its nodes, and only while it lasts.
    let open = reserved
        .iter()
        .find(|own| own.name == reservation && own.span.0 <= from && from < own.planned_end);
    let mut closed = NodeSet::full(kept.universe());
    open.iter().for_each(|own| closed.subtract(&own.nodes));
    kept.unite(&closed);
    end
}
