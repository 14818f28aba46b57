//! The allocators of all partitions of a machine during a replay.

use std::collections::BTreeMap;

use meshwork::geometry::NodeSet;

use super::folder::SlurmMachine;
use super::history::JobRecord;
use crate::slurm::desk::{SlurmAllocator, SlurmRequest};

/// One allocator for each partition in a history. Partitions may share nodes, so an allocation is
/// entered in all of them, under the index of its job record.
#[derive(Clone, Debug)]
pub(super) struct SlurmAllocators<'a> {
    of: BTreeMap<&'a str, SlurmAllocator<usize>>,
}

impl<'a> SlurmAllocators<'a> {
    /// The allocators of an empty machine, for the partitions of these records.
    pub(super) fn new(machine: &SlurmMachine, stays: &'a [JobRecord]) -> SlurmAllocators<'a> {
        let mut of: BTreeMap<&str, SlurmAllocator<usize>> = BTreeMap::new();
        for stay in stays {
            let desk = || SlurmAllocator::new(machine.site(&stay.partition).clone());
            of.entry(&stay.partition).or_insert_with(desk);
        }
        SlurmAllocators { of }
    }

    /// The allocator of a job's partition.
    pub(super) fn desk(&self, stay: &JobRecord) -> &SlurmAllocator<usize> {
        &self.of[stay.partition.as_str()]
    }

    /// The partitions in the history.
    pub(super) fn partitions(&self) -> impl Iterator<Item = &'a str> {
        self.of.keys().copied()
    }

    /// Allocates nodes to a job, in all partitions.
    pub(super) fn hold(&mut self, place: usize, asked: &SlurmRequest, nodes: &NodeSet) {
        self.of.values_mut().for_each(|desk| desk.hold(&place, asked, nodes.clone()));
    }

    /// Releases the nodes of a job, in all partitions.
    pub(super) fn release(&mut self, place: usize) {
        for desk in self.of.values_mut() {
            desk.release(&place);
        }
    }
}
