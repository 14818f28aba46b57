//! Sizes that a topology does not list, and what becomes of jobs that ask for them.

use std::borrow::Cow;

use super::folder::Machine;
use super::history::Stay;
use crate::slurm::site::Site;
use crate::slurm::topology::Structure;

/// What a user does whose job has a size that is not listed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unlisted {
    /// Asks for the next larger size that is; Slurm refuses the job if there is none.
    #[default]
    RoundUp,
    /// Asks for it all the same, and is refused.
    Refuse,
}

/// The number of nodes for which a stay asks if sizes are rounded up: its own where that is listed, where nothing is
/// listed, and where no larger size is. The size of a segment is never changed.
///
/// # Complexity
/// **O(p)** for *p* placements.
#[must_use]
pub fn rounded_up(site: &Site, stay: &Stay) -> u32 {
    let Structure::Torus3d(anchors, _) = &site.structure else { return stay.nodes };
    if stay.segment.is_some_and(|segment| segment < stay.nodes) {
        return stay.nodes;
    }
    let entries = anchors.toruses().iter().flat_map(|torus| torus.entries());
    let sizes = entries.filter(|entry| entry.complete_anchors() > 0).map(|entry| entry.size());
    sizes.filter(|&size| size >= stay.nodes).min().unwrap_or(stay.nodes)
}

/// The stays of a history as their users would submit them on a machine.
#[must_use]
pub fn submitted<'a>(machine: &Machine, stays: &'a [Stay], unlisted: Unlisted) -> Cow<'a, [Stay]> {
    let changes = |stay: &Stay| rounded_up(machine.site(&stay.partition), stay) != stay.nodes;
    if unlisted == Unlisted::Refuse || !stays.iter().any(changes) {
        return Cow::Borrowed(stays);
    }
    let submit = |stay: &Stay| {
        let nodes = rounded_up(machine.site(&stay.partition), stay);
        // A job that shares nodes takes as many processors of each as before.
        let processors = match stay.nodes {
            0 => stay.processors,
            own => stay.processors.div_ceil(own) * nodes,
        };
        if nodes == stay.nodes { stay.clone() } else { Stay { nodes, processors, ..stay.clone() } }
    };
    Cow::Owned(stays.iter().map(submit).collect())
}
