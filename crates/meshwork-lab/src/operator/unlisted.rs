//! Treatment of jobs whose number of nodes is a size that the topology does not list.

use std::borrow::Cow;

use super::folder::SlurmMachine;
use super::history::JobRecord;
use crate::slurm::site::SlurmSite;
use crate::slurm::topology::Structure;

/// Treatment of jobs whose number of nodes is a size that the topology does not list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unlisted {
    /// The job requests the next larger listed size. Slurm refuses the job if there is none.
    #[default]
    RoundUp,
    /// The job requests its own size, and Slurm refuses it.
    Refuse,
}

/// Number of nodes that a job requests if sizes are rounded up to listed ones.
///
/// It is the job's own number if this size is listed, if the topology lists no boxes, or if no
/// larger size is listed. The number of a job with segments is not changed.
///
/// # Complexity
/// **O(p)** for *p* placements that the topology lists.
#[must_use]
pub fn rounded_up(site: &SlurmSite, stay: &JobRecord) -> u32 {
    let Structure::Torus3d(anchors, _) = &site.structure else { return stay.nodes };
    if stay.segment.is_some_and(|segment| segment < stay.nodes) {
        return stay.nodes;
    }
    let entries = anchors.toruses().iter().flat_map(|torus| torus.entries());
    let sizes = entries.filter(|entry| entry.complete_anchors() > 0).map(|entry| entry.size());
    sizes.filter(|&size| size >= stay.nodes).min().unwrap_or(stay.nodes)
}

/// Job records with the requests that the jobs would make on a machine, where sizes may be rounded
/// up.
#[must_use]
pub fn submitted<'a>(
    machine: &SlurmMachine,
    stays: &'a [JobRecord],
    unlisted: Unlisted,
) -> Cow<'a, [JobRecord]> {
    let changes = |stay: &JobRecord| rounded_up(machine.site(&stay.partition), stay) != stay.nodes;
    if unlisted == Unlisted::Refuse || !stays.iter().any(changes) {
        return Cow::Borrowed(stays);
    }
    let submit = |stay: &JobRecord| {
        let nodes = rounded_up(machine.site(&stay.partition), stay);
        // On shared nodes, the job takes the same number of processors of each node as before.
        let processors = match stay.nodes {
            0 => stay.processors,
            own => stay.processors.div_ceil(own) * nodes,
        };
        if nodes == stay.nodes {
            stay.clone()
        } else {
            JobRecord { nodes, processors, ..stay.clone() }
        }
    };
    Cow::Owned(stays.iter().map(submit).collect())
}
