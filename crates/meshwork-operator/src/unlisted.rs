//! Treatment of jobs whose number of nodes is a size that the topology does not list.

use std::borrow::Cow;

use meshwork_lab::slurm::folder::SlurmMachine;
use meshwork_slurm::history::JobRecord;
use meshwork_slurm::site::SlurmSite;
use meshwork_slurm::topology::Structure;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unlisted {
    /// The job requests the next larger size for which boxes are listed, if there is one.
    #[default]
    RoundUp,
    Refuse,
}

/// Number of nodes that a job requests if its size is rounded up to the next listed size.
///
/// A job with segments, or without a larger listed size, keeps its own number of nodes.
pub fn rounded_up(site: &SlurmSite, stay: &JobRecord) -> u32 {
    let Structure::Torus3d(anchors, _) = &site.structure else { return stay.nodes };
    if stay.segment.is_some_and(|segment| segment < stay.nodes) {
        return stay.nodes;
    }
    let entries = anchors.toruses().iter().flat_map(|torus| torus.entries());
    let sizes = entries.filter(|entry| entry.complete_anchors() > 0).map(|entry| entry.size());
    sizes.filter(|&size| size >= stay.nodes).min().unwrap_or(stay.nodes)
}

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
        // On shared nodes, the job takes equally many processors of each node.
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
