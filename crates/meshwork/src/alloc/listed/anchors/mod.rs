//! Anchors: boxes of listed shapes at listed positions of three-dimensional tori.

mod overlap;
mod parameters;
mod torus;

pub use torus::{Entry, Shape, Torus};

use super::adapter::{HOSTS, PARTITIONS, SEGMENT, WEIGHTS};
use super::criteria::Criterion;
use super::decide::{Action, Failure, Rule, RuleResult, SlurmMessage};
use super::{Ends, NodeRequest, Nodes};
use crate::alloc::AllocatorEntry;
use crate::form::{Asks, Finds};
use crate::geometry::NodeSet;
use crate::registry::{About, Kind, Param};
use crate::topology::Wiring;
use parameters::{PLACEMENT, TORUS};
use torus::View;

/// Registry entry of the allocator `anchors`.
pub static ENTRY: AllocatorEntry = AllocatorEntry::new(
    About::new("anchors", "boxes of listed shapes at listed places of a torus of three dimensions")
        .definition(
            "A list of placements says which boxes a job may get: each has sides, a \
            spacing from one box to the next along each axis, and a seed, where the first stands; \
            boxes wrap around. Shapes are never turned. A job of as many nodes as a placement has \
            gets one of its free boxes, and `criteria` decides which: each leaves the best of what \
            those before it have left. As Slurm has them, that is the box whose heaviest node is \
            lightest, then the one that breaks the fewest free boxes of the next larger size \
            (compared only within one placement), then the one in the torus with the fewest free \
            nodes, then the earliest: toruses and equal sizes in the order of the list, boxes \
            along z first and x last. A job of several segments gets one box after the other, and \
            where boxes overlap other choices of the first are tried. A box with a hole is never \
            given. While no node of any torus is free, jobs get runs of the other nodes, as with \
            `runs`.",
        )
        .complexity(
            "O(p log s n / 64 + n) for p placements of the size with sides up to s on \
             n nodes, whatever is free.",
        )
        .source("Slurm 26.05, topology/torus3d, checked against its decisions")
        .params(&[
            Param::new("placements", Kind::Tables(PLACEMENT))
                .absent(
                    "boxes of 1, 2, 4, 8 … nodes, each twice the one before along one axis after \
                     the other, up to the whole torus",
                )
                .help("the boxes that jobs may get, on every torus that has no list of its own"),
            Param::new("toruses", Kind::Tables(TORUS))
                .absent("the machine itself, further dimensions as layers of z")
                .help("the toruses, in the order in which they are tried"),
            Param::new("criteria", Kind::Names(&super::criteria::FAMILY))
                .is("[\"weight\", \"next_size_destroyed\", \"fewest_idle_torus\", \"order\"]")
                .help("what decides between free boxes, the first criterion first"),
            Param::new("unlisted", Kind::Choice(&["round_up", "refuse"])).is("\"round_up\"").help(
                "whether a job of a size that no placement has gets the next larger one, or \
                     never starts",
            ),
            SEGMENT,
            WEIGHTS,
            HOSTS,
            PARTITIONS,
        ]),
    |params, topology| Ok(Box::new(parameters::build(params, topology)?)),
)
.serves(&[Wiring::Torus, Wiring::Flat])
.asks(Asks::Constrained)
.finds(Finds::SomeBlocks);

/// Placement rule of the allocator `anchors`: tori with listed boxes, and criteria to select a box.
#[derive(Clone, Debug)]
pub struct Anchors {
    toruses: Vec<Torus>,
    criteria: Vec<Criterion>,
    covered: NodeSet,
}

/// Free boxes of one listed shape that have not been rejected by any criterion so far.
struct Found {
    torus: usize,
    entry: usize,
    bases: NodeSet,
    /// Costs of the boxes by the criteria that compare boxes of different shapes; lower costs are
    /// better.
    key: Vec<i64>,
}

impl Anchors {
    /// Creates the rule for a machine of `count` nodes, from tori in their listed order.
    #[must_use]
    pub fn new(count: u32, toruses: Vec<Torus>, criteria: &[Criterion]) -> Anchors {
        let mut covered = NodeSet::empty(count);
        for torus in toruses.iter().filter(|torus| !torus.entries().is_empty()) {
            torus.nodes().for_each(|node| covered.insert(node));
        }
        Anchors { toruses, criteria: criteria.to_vec(), covered }
    }

    /// Tori of the machine, in the order in which they are searched for a placement.
    #[must_use]
    pub fn toruses(&self) -> &[Torus] {
        &self.toruses
    }

    /// Total size, in nodes, of all listed boxes with at least one node that is not in `available`.
    ///
    /// # Complexity
    /// **O(p · log s · n / 64)** for *p* listed shapes with sides up to *s* on *n* nodes.
    #[must_use]
    pub fn fragmentation(&self, available: &NodeSet) -> u64 {
        self.toruses.iter().map(|torus| torus.fragmentation(available)).sum()
    }

    /// Whether at least one torus has a listed shape whose boxes have `size` nodes.
    #[must_use]
    pub fn lists(&self, size: u32) -> bool {
        self.toruses.iter().any(|torus| torus.entries().iter().any(|entry| entry.size() == size))
    }

    /// The best free box of `size` nodes, and whether boxes of its shape overlap others of this
    /// size.
    fn best(
        &self,
        nodes: &Nodes,
        available: &NodeSet,
        size: u32,
        required: Option<&NodeSet>,
        ends: Option<&Ends>,
    ) -> Option<(NodeSet, bool)> {
        // Criteria that compare shapes are evaluated for each, others for the chosen shape only.
        let decides_entries = |c: &Criterion| c.compares_entries() && c.tells_places_apart();
        let early = self.criteria.iter().rposition(decides_entries).map_or(0, |last| last + 1);
        let mut best: Option<(Found, View)> = None;
        for (index, torus) in self.toruses.iter().enumerate() {
            if !torus.entries().iter().any(|entry| entry.size() == size) {
                continue;
            }
            let view = torus.view(nodes, available, required, ends);
            let idle = i64::from(view.idle());
            for entry in 0..torus.entries().len() {
                if torus.entries()[entry].size() != size {
                    continue;
                }
                let Some(mut bases) = torus.free_bases(&view, entry) else { continue };
                let mut key = Vec::with_capacity(self.criteria.len());
                for (place, &criterion) in self.criteria.iter().enumerate() {
                    let value = match criterion {
                        Criterion::FewestIdleTorus => idle,
                        Criterion::MostIdleTorus => -idle,
                        _ if place < early => torus.narrow(&view, entry, criterion, &mut bases),
                        _ => continue,
                    };
                    if criterion.compares_entries() {
                        key.push(value);
                    }
                }
                let found = Found { torus: index, entry, bases, key };
                if best.as_ref().is_none_or(|(best, _)| found.key < best.key) {
                    best = Some((found, view.clone()));
                }
            }
        }
        let (mut found, view) = best?;
        let torus = &self.toruses[found.torus];
        for &criterion in &self.criteria[early..] {
            torus.narrow(&view, found.entry, criterion, &mut found.bases);
        }
        let base = torus.first_in_order(found.entry, &found.bases)?;
        let overlaps = torus.entries()[found.entry].overlaps_others();
        Some((torus.box_at(found.entry, base, available.universe()), overlaps))
    }
}

impl Rule for Anchors {
    fn attempt(
        &self,
        nodes: &Nodes,
        request: &NodeRequest,
        required: Option<&NodeSet>,
        available: &NodeSet,
    ) -> RuleResult {
        let never = || Failure::Never(SlurmMessage::TopologyConfiguration);
        let (count, size) = request.segments().ok_or_else(never)?;
        if !self.lists(size) {
            return Err(never());
        }
        if required.is_some_and(|list| !list.is_within(&self.covered)) {
            return Err(Failure::of(SlurmMessage::NoUnit));
        }
        let mut free = available.clone();
        let mut required = required;
        if count > 1
            && let Some(list) = required.take()
        {
            if list.count() < request.nodes {
                return Err(never());
            }
            free.intersect(list);
        }
        let mut all = NodeSet::empty(nodes.count());
        let mut others_overlap = false;
        for _ in 0..count {
            let Some((chosen, overlaps)) =
                self.best(nodes, &free, size, required, request.ends.as_ref())
            else {
                // If boxes overlap, another choice for an earlier segment may help.
                return Err(match others_overlap {
                    true => Failure::now(SlurmMessage::NoUnitForSegment, Action::WithoutOneOf(all)),
                    false => Failure::of(SlurmMessage::NoUnit),
                });
            };
            free.subtract(&chosen);
            all.unite(&chosen);
            others_overlap |= overlaps;
        }
        Ok(all)
    }

    fn covered(&self) -> Option<&NodeSet> {
        Some(&self.covered)
    }

    fn places_single_nodes(&self) -> bool {
        true
    }

    /// A job in segments waits even if it can never start.
    ///
    /// The reason is that Slurm checks the size of the job's boxes, but not their number.
    fn waits_in_vain(&self, request: &NodeRequest) -> bool {
        request.is_cut()
    }
}
