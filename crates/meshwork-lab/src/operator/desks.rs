//! The partitions of a machine while its history happens: who holds which nodes, in all of them at once.

use std::collections::BTreeMap;

use meshwork::geometry::NodeSet;

use super::folder::Machine;
use super::history::Stay;
use crate::slurm::desk::{Asked, Desk};

/// A desk for each partition that a history names. Partitions may share nodes, so what is held is held at all of them.
/// A stay is named by its place in the history.
#[derive(Clone, Debug)]
pub(super) struct Desks<'a> {
    of: BTreeMap<&'a str, Desk<usize>>,
}

impl<'a> Desks<'a> {
    /// The desks of an empty machine, for these stays.
    pub(super) fn new(machine: &Machine, stays: &'a [Stay]) -> Desks<'a> {
        let mut of: BTreeMap<&str, Desk<usize>> = BTreeMap::new();
        for stay in stays {
            let desk = || Desk::new(machine.site(&stay.partition).clone());
            of.entry(&stay.partition).or_insert_with(desk);
        }
        Desks { of }
    }

    /// That at which a stay asks.
    pub(super) fn desk(&self, stay: &Stay) -> &Desk<usize> {
        &self.of[stay.partition.as_str()]
    }

    /// The partitions that the history names.
    pub(super) fn partitions(&self) -> impl Iterator<Item = &'a str> {
        self.of.keys().copied()
    }

    /// Gives a stay these nodes.
    pub(super) fn hold(&mut self, place: usize, asked: &Asked, nodes: &NodeSet) {
        self.of.values_mut().for_each(|desk| desk.hold(&place, asked, nodes.clone()));
    }

    /// Takes back whatever a stay holds.
    pub(super) fn release(&mut self, place: usize) {
        for desk in self.of.values_mut() {
            desk.release(&place);
        }
    }
}
