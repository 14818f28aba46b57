//! Search for the free block with the most contact with held nodes.

use std::cmp::Reverse;
use std::sync::{Arc, Mutex, PoisonError};

use super::contact::{Faces, corner_value};
use super::peaks::{Edges, Peaks};
use crate::geometry::FreeBases;
use crate::geometry::orientation::{Rotation, orientations};
use crate::job::Dims;
use crate::machine::{Block, Site};
use crate::topology::{Grid, Node};

/// Search for the free block that touches the most held nodes, with its settings and buffers.
#[derive(Clone, Debug)]
pub(super) struct BestBase {
    rotation: Rotation,
    corners: bool,
    scratch: Arc<Mutex<Scratch>>,
}

#[derive(Debug)]
struct Scratch {
    bases: FreeBases,
    edges: Edges,
    peaks: Peaks,
}

impl BestBase {
    pub(super) fn new(grid: &Grid, rotation: Rotation, corners: bool) -> BestBase {
        let (bases, edges, peaks) = (FreeBases::new(grid), Edges::new(grid), Peaks::new(grid));
        let scratch = Scratch { bases, edges, peaks };
        BestBase { rotation, corners, scratch: Arc::new(Mutex::new(scratch)) }
    }

    /// The free block with the greatest contact with held nodes, in any allowed orientation.
    ///
    /// `contact(corner, sides, blocked)` returns the contact of a block, where `blocked` has the
    /// faces that can touch held nodes. Each node of such a face contributes at most `most`.
    /// `outline` marks the edges of held blocks, and is called at most once.
    pub(super) fn search(
        &self,
        site: &Site,
        sides: &[u32],
        most: u64,
        outline: impl Fn(&mut Edges),
        contact: impl Fn(&[u32], &[u32], Faces) -> u64,
    ) -> Option<Block> {
        let (grid, free) = (site.grid(), site.free());
        let scratch = &mut *self.scratch.lock().unwrap_or_else(PoisonError::into_inner);
        let mut best: Option<(Rank, Dims)> = None;
        let mut outlined = false;
        let is_empty = site.free_nodes() == site.nodes();
        for (turn, sides) in orientations(sides, self.rotation).enumerate() {
            if is_empty {
                if !grid.holds(0, &sides) {
                    continue;
                }
            } else {
                let bases = scratch.bases.all(grid, free, &sides);
                if bases.is_empty() {
                    continue;
                }
                if !outlined {
                    outline(&mut scratch.edges);
                    outlined = true;
                }
                scratch.peaks.find(grid, bases, &sides, &scratch.edges, self.corners);
            }
            let mut weigh = |base, blocked: Faces| {
                let rank = |contact, value| (contact, value, Reverse(turn), Reverse(base));
                let beats = |rank| best.as_ref().is_none_or(|(best, _)| rank > *best);
                let any_value = if self.corners { u32::MAX } else { 0 };
                if !beats(rank(blocked.area(&sides) * most, any_value)) {
                    return;
                }
                let corner = grid.coordinates(base);
                let contact = contact(&corner, &sides, blocked);
                if !beats(rank(contact, any_value)) {
                    return;
                }
                let value =
                    if self.corners { corner_value(grid, free, &corner, &sides) } else { 0 };
                if beats(rank(contact, value)) {
                    best = Some((rank(contact, value), Dims::clone(&sides)));
                }
            };
            if is_empty {
                // The only contact is with walls, independently in each dimension, so the first
                // position is as good as any; the last position mirrors the first.
                weigh(0, Faces::all(sides.len()));
            } else {
                // Bases blocked on all sides come first: their contact rules out most others.
                scratch.peaks.for_each(true, &mut weigh);
                scratch.peaks.for_each(false, &mut weigh);
            }
            if self.rotation == Rotation::IfNeeded {
                break;
            }
        }
        best.map(|((.., Reverse(base)), sides)| Block { base, sides })
    }
}

/// Rank of a free block: first by contact, then by corner value, orientation and base.
type Rank = (u64, u32, Reverse<usize>, Reverse<Node>);
