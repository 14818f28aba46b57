//! The partitions of a machine while its history happens: who holds which nodes, in all of them at once.

use std::collections::BTreeMap;

use meshwork::geometry::NodeSet;

use super::folder::SlurmMachine;
use super::history::JobRecord;
use crate::slurm::desk::{SlurmAllocator, SlurmRequest};

/// A desk for each partition that a history names. Partitions may share nodes, so what is held is held at all of them.
/// A stay is named by its place in the history.
#[derive(Clone, Debug)]
pub(super) struct SlurmAllocators<'a> {
    of: BTreeMap<&'a str, SlurmAllocator<usize>>,
}

impl<'a> SlurmAllocators<'a> {
    /// The desks of an empty machine, for these stays.
    pub(super) fn new(machine: &SlurmMachine, stays: &'a [JobRecord]) -> SlurmAllocators<'a> {
        let mut of: BTreeMap<&str, SlurmAllocator<usize>> = BTreeMap::new();
        for stay in stays {
            let desk = || SlurmAllocator::new(machine.site(&stay.partition).clone());
            of.entry(&stay.partition).or_insert_with(desk);
        }
        SlurmAllocators { of }
    }

    /// That at which a stay asks.
    pub(super) fn desk(&self, stay: &JobRecord) -> &SlurmAllocator<usize> {
        &self.of[stay.partition.as_str()]
    }

    /// The partitions that the history names.
    pub(super) fn partitions(&self) -> impl Iterator<Item = &'a str> {
        self.of.keys().copied()
    }

    /// Gives a stay these nodes.
    pub(super) fn hold(&mut self, place: usize, asked: &SlurmRequest, nodes: &NodeSet) {
        self.of.values_mut().for_each(|desk| desk.hold(&place, asked, nodes.clone()));
    }

    /// Takes back whatever a stay holds.
    pub(super) fn release(&mut self, place: usize) {
        for desk in self.of.values_mut() {
            desk.release(&place);
        }
    }
}
