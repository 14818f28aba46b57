//! State of a scheduler, saved as numbers, from which a later decision continues.

use std::collections::BTreeMap;

use super::queue::Ticket;
use super::reservation::{Hold, Reservation};
use super::{Cluster, RecallError};
use crate::job::{Dims, Time};
use crate::machine::{Block, NodePart, Parts, Placement};
use crate::topology::Node;
use crate::topology::types::NodeTypes;

/// Writer of the state that a scheduler keeps from one decision to a later one.
///
/// A waiting job is written by its index in the queue, because its ticket and its identifier are
/// different when the state is read.
pub struct MemoryWriter {
    waiting: BTreeMap<Ticket, u64>,
    shares_nodes: bool,
    numbers: Vec<u64>,
    promises: Vec<(Ticket, Reservation)>,
}

/// Reader of the state that a [`MemoryWriter`] wrote.
///
/// Jobs that have left the queue in the meantime are left out. A method fails if the next numbers
/// do not encode a value of the kind that the method reads.
pub struct MemoryReader<'c> {
    cluster: &'c Cluster<'c>,
    /// The jobs that waited when the state was written, in queue order. `None` for a job that has
    /// left the queue.
    waiting: &'c [Option<Ticket>],
    numbers: &'c [u64],
    is_new: bool,
}

const GONE: u64 = u64::MAX;

impl MemoryWriter {
    pub(crate) fn new(cluster: &Cluster<'_>) -> MemoryWriter {
        let waiting = cluster.waiting().zip(0..).collect();
        let shares_nodes = cluster.facility().shares_nodes();
        MemoryWriter { waiting, shares_nodes, numbers: Vec::new(), promises: Vec::new() }
    }

    pub(crate) fn into_parts(self) -> (Vec<u64>, Vec<(Ticket, Reservation)>) {
        (self.numbers, self.promises)
    }

    /// Writes an integer.
    pub fn number(&mut self, number: u64) {
        self.numbers.push(number);
    }

    /// Writes a floating-point number.
    pub fn real(&mut self, real: f64) {
        self.number(real.to_bits());
    }

    /// Writes an instant.
    pub fn time(&mut self, time: Time) {
        self.real(time.units());
    }

    /// Writes a string.
    pub fn text(&mut self, text: &str) {
        self.number(text.len() as u64);
        for bytes in text.as_bytes().chunks(8) {
            self.number(bytes.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte)));
        }
    }

    /// Writes an optional value: first whether it is present, then the value.
    pub fn optional<T>(&mut self, value: Option<T>, write: impl FnOnce(&mut MemoryWriter, T)) {
        self.number(u64::from(value.is_some()));
        if let Some(value) = value {
            write(self, value);
        }
    }

    /// Writes a waiting job.
    pub fn job(&mut self, ticket: Ticket) {
        self.number(self.waiting.get(&ticket).copied().unwrap_or(GONE));
    }

    /// Writes the queue position of a job that has started: the index of the waiting job before it.
    ///
    /// The value is `GONE` if no waiting job was before it.
    pub(crate) fn started(&mut self, ticket: Ticket) {
        let before = self.waiting.range(..ticket).next_back();
        self.number(before.map_or(GONE, |(_, place)| *place));
    }

    /// Writes the reservations of some waiting jobs.
    pub fn promises<'r>(&mut self, all: impl Iterator<Item = (Ticket, &'r Reservation)>) {
        let place = self.numbers.len();
        self.number(0);
        for (ticket, reservation) in all {
            self.promise(ticket, reservation);
            self.numbers[place] += 1;
        }
    }

    /// Writes the reservation of a waiting job.
    pub fn promise(&mut self, ticket: Ticket, reservation: &Reservation) {
        let Reservation { at, span, stretch, site, ref hold } = *reservation;
        let place = self.waiting.get(&ticket).copied();
        self.number(place.unwrap_or(GONE));
        self.time(at);
        self.real(span);
        self.real(stretch);
        self.number(site as u64);
        match hold {
            Hold::Count(request) => {
                self.number(0);
                self.number(request.nodes());
            }
            Hold::Nodes(placement) => {
                self.number(placement.blocks.len() as u64);
                for block in &placement.blocks {
                    self.number(u64::from(block.base));
                    self.number(block.sides.len() as u64);
                    block.sides.iter().for_each(|side| self.number(u64::from(*side)));
                }
                if self.shares_nodes {
                    let parts = placement.parts.as_ref().map_or(&[][..], |parts| &parts.parts);
                    self.parts(parts);
                }
            }
        }
        if place.is_some() {
            self.promises.push((ticket, reservation.clone()));
        }
    }

    fn parts(&mut self, parts: &[NodePart]) {
        self.number(parts.len() as u64);
        for part in parts {
            self.number(u64::from(part.node));
            self.number(u64::from(part.pieces));
            self.number(part.cells.len() as u64);
            for (cell, amount) in &part.cells {
                self.number(u64::from(*cell));
                self.number(u64::from(*amount));
            }
        }
    }
}

impl<'c> MemoryReader<'c> {
    pub(crate) fn new(
        cluster: &'c Cluster<'c>,
        waiting: &'c [Option<Ticket>],
        numbers: Option<&'c [u64]>,
    ) -> MemoryReader<'c> {
        MemoryReader {
            cluster,
            waiting,
            numbers: numbers.unwrap_or_default(),
            is_new: numbers.is_none(),
        }
    }

    /// Whether no state was stored. If so, the past is known only from the running and waiting
    /// jobs.
    #[must_use]
    pub fn is_new(&self) -> bool {
        self.is_new
    }

    /// The machine at the instant of the stored state, with the jobs that ran and waited at that
    /// time.
    #[must_use]
    pub fn cluster(&self) -> &'c Cluster<'c> {
        self.cluster
    }

    /// Returns all numbers that have not been read yet. After this, nothing is left to read.
    pub fn rest(&mut self) -> &'c [u64] {
        std::mem::take(&mut self.numbers)
    }

    pub(crate) fn end(&self) -> Result<(), RecallError> {
        if self.numbers.is_empty() { Ok(()) } else { Err(wrong()) }
    }

    /// Reads an integer.
    pub fn number(&mut self) -> Result<u64, RecallError> {
        let (first, rest) = self.numbers.split_first().ok_or_else(wrong)?;
        self.numbers = rest;
        Ok(*first)
    }

    /// Reads an integer. Fails if it exceeds `most`.
    pub fn up_to(&mut self, most: usize) -> Result<usize, RecallError> {
        usize::try_from(self.number()?).ok().filter(|number| *number <= most).ok_or_else(wrong)
    }

    /// Reads the number of values that follow. Fails if it exceeds the count of numbers left to
    /// read.
    pub fn count(&mut self) -> Result<usize, RecallError> {
        let most = self.numbers.len();
        self.up_to(most)
    }

    /// Reads a truth value, written as 1 or 0.
    pub fn flag(&mut self) -> Result<bool, RecallError> {
        Ok(self.up_to(1)? == 1)
    }

    /// Reads a floating-point number, which may be infinite but is never NaN.
    pub fn real(&mut self) -> Result<f64, RecallError> {
        let real = f64::from_bits(self.number()?);
        if real.is_nan() { Err(wrong()) } else { Ok(real) }
    }

    /// Reads an instant.
    pub fn time(&mut self) -> Result<Time, RecallError> {
        Ok(Time::new(self.real()?))
    }

    /// Reads a string.
    pub fn text(&mut self) -> Result<String, RecallError> {
        let length = usize::try_from(self.number()?).map_err(|_| wrong())?;
        let words = length.div_ceil(8);
        if words > self.numbers.len() {
            return Err(wrong());
        }
        let (text, rest) = self.numbers.split_at(words);
        self.numbers = rest;
        let mut bytes: Vec<u8> = text.iter().flat_map(|word| word.to_le_bytes()).collect();
        bytes.truncate(length);
        String::from_utf8(bytes).map_err(|_| wrong())
    }

    /// Reads an optional value, whose presence is written before it.
    pub fn optional<T>(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<T, RecallError>,
    ) -> Result<Option<T>, RecallError> {
        if self.flag()? { read(self).map(Some) } else { Ok(None) }
    }

    /// Reads a waiting job; `None` if it no longer waits.
    pub fn job(&mut self) -> Result<Option<Ticket>, RecallError> {
        match self.number()? {
            GONE => Ok(None),
            place => {
                let place = usize::try_from(place).map_err(|_| wrong())?;
                self.waiting.get(place).copied().ok_or_else(wrong)
            }
        }
    }

    /// Reads the former queue position of a started job, as a ticket that belongs to no waiting
    /// job.
    ///
    /// The ticket lies directly behind the last job that was ahead of the started job and still
    /// waits. `None` if no such job waits. All tickets read from one state need different values of
    /// `index`.
    pub(crate) fn started(&mut self, index: usize) -> Result<Option<Ticket>, RecallError> {
        let place = self.number()?;
        if place == GONE {
            return Ok(None);
        }
        let place = usize::try_from(place).ok().filter(|place| *place < self.waiting.len());
        let before = &self.waiting[..=place.ok_or_else(wrong)?];
        Ok(before.iter().rev().find_map(|ticket| *ticket).map(|ticket| ticket.behind(index)))
    }

    /// Reads the stored reservations of jobs that still wait. Empty if no state was stored.
    pub fn promises(&mut self) -> Result<Vec<(Ticket, Reservation)>, RecallError> {
        let all = if self.is_new { 0 } else { self.count()? };
        let read = (0..all).map(|_| self.promise().transpose());
        read.flatten().collect()
    }

    /// Reads the reservation of a waiting job. `None` if the job has left the queue, or if it may
    /// no longer have the reserved size.
    pub fn promise(&mut self) -> Result<Option<(Ticket, Reservation)>, RecallError> {
        let ticket = self.job()?;
        let (at, span, stretch) = (self.time()?, self.real()?, self.real()?);
        let sites = self.cluster.facility().sites();
        let site = self.up_to(sites.len() - 1)?;
        let hold = match self.count()? {
            0 => {
                let nodes = self.number()?;
                let Some(ticket) = ticket else { return Ok(None) };
                let cluster = self.cluster;
                let job = cluster.job(ticket);
                let sizes = cluster.facility().sizes(site, job, cluster.now());
                let size = sizes.into_iter().find(|size| size.request.nodes() == nodes);
                let Some(size) = size else { return Ok(None) };
                Hold::Count(size.request)
            }
            blocks => {
                let grid = sites[site].site().grid();
                let mut placement = Placement::default();
                for _ in 0..blocks {
                    let base = u32::try_from(self.number()?).map_err(|_| wrong())?;
                    let mut sides = Vec::new();
                    for _ in 0..self.count()? {
                        sides.push(u32::try_from(self.number()?).map_err(|_| wrong())?);
                    }
                    let sides = Dims::from_slice(&sides);
                    if !grid.holds(base, &sides) {
                        return Err(wrong());
                    }
                    placement.blocks.push(Block { base, sides });
                }
                if let Some(types) = sites[site].site().topology().types() {
                    placement.parts = self.parts(types)?.map(Box::new);
                }
                Hold::Nodes(placement)
            }
        };
        let is_right = span >= 0.0 && span.is_finite() && stretch > 0.0 && stretch.is_finite();
        if !is_right || at.units().is_infinite() {
            return Err(wrong());
        }
        Ok(ticket.map(|ticket| (ticket, Reservation { at, span, stretch, site, hold })))
    }
}

impl MemoryReader<'_> {
    fn parts(&mut self, types: &NodeTypes) -> Result<Option<Parts>, RecallError> {
        let mut all = Parts::default();
        for _ in 0..self.count()? {
            let node = self.up_to(types.nodes() as usize - 1)? as Node;
            let idle = types.of(node).idle();
            let pieces = u32::try_from(self.number()?).map_err(|_| wrong())?;
            let mut part = NodePart { node, pieces, ..NodePart::default() };
            for _ in 0..self.count()? {
                let cell = self.up_to(idle.len() - 1)?;
                part.cells.push((cell as u16, self.up_to(idle[cell] as usize)? as u32));
            }
            all.cores += part.amounts(types.of(node)).cores.iter().sum::<u32>();
            all.parts.push(part);
        }
        Ok((!all.parts.is_empty()).then_some(all))
    }
}

fn wrong() -> RecallError {
    RecallError::Other("it is not what this scheduler wrote".to_owned())
}
