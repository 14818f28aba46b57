//! Listed partitions, as on Blue Gene machines: a job gets the one that blocks the fewest larger
//! ones.

mod known;
mod list;

pub use list::List;

use std::sync::Arc;

use crate::alloc::{Allocator, AllocatorEntry, Ask, Claim};
use crate::form::Finds;
use crate::geometry::NodeSet;
use crate::geometry::ranked::in_order;
use crate::job::Request;
use crate::machine::{Placement, Site};
use crate::registry::{About, Kind, Param, Params, Problem};
use crate::topology::{Grid, Topology, Wiring};

/// Registry entry of the allocator `partitions`.
pub static ENTRY: AllocatorEntry = AllocatorEntry::new(
    About::new("partitions", "a partition of a list, the one that blocks the fewest larger ones")
        .aliases(&["cobalt"])
        .definition(
            "The machine has cards of nodes, and switches; a list says of which of them each \
             partition is. Two partitions conflict where they share one. A job gets a partition of \
             the least size that holds it, whole and alone: of those that conflict with none that \
             is held, the one with the fewest idle parents, the first in the list among equals. A \
             parent is a larger partition with all of its cards; it is idle if nothing of it is \
             held. Nodes are numbered card by card. `halves` is a list for any machine: the whole, \
             and the halves of what is there, down to single nodes. Nodes that somebody else \
             holds, as no partition, take their cards with them and no switch. With a scheduler \
             that makes reservations the partition that is promised drains: no other job that \
             would delay it is started in one that conflicts by a card.",
        )
        .complexity(
            "O(p · c / 64 + q) with p partitions of c cards and switches, and q \
             parents of those of one size, besides O(n / 64) to look at n nodes.",
        )
        .source(
            "Desai et al., Cobalt: its partition manager for Blue Gene, and for \
             `intrepid` the partitions of its simulator",
        )
        .params(&[Param::new("list", Kind::Text).is("\"halves\"").help(
            "`halves`, `intrepid`, `mira`, or the text of a list: a line `cards NODES NAMES` \
                 for cards of so many nodes, and a line `NAME: PARTS` for each partition, whose \
                 parts are cards and switches; `a[0-3]` stands for four names; a study may name a \
                 file with such a text",
        )]),
    |params, topology| Ok(Box::new(Partitions::new(params, topology)?)),
)
.serves(&[Wiring::Mesh, Wiring::Torus, Wiring::Flat])
.finds(Finds::SomeBlocks);

/// Maximum number of nodes of a machine for which the list `halves` may be used.
///
/// This list has about two partitions for each node, and all pairs of partitions are compared.
const MAX_HALVED: u32 = 4096;
const MAX_PARTITIONS: usize = 2 * MAX_HALVED as usize;

#[derive(Debug)]
struct Machine {
    list: List,
    /// For each partition, the indices of the larger partitions that contain all of its node cards.
    parents: Vec<Vec<u32>>,
}

#[derive(Clone)]
struct Partitions {
    machine: Arc<Machine>,
    held: Vec<Held>,
    /// Node cards of which at least one node is held.
    busy: NodeSet,
    /// Switches that held partitions occupy.
    wired: NodeSet,
}

/// Held partition, with those of its nodes that have not been released yet.
#[derive(Clone)]
struct Held {
    partition: usize,
    nodes: NodeSet,
}

impl Partitions {
    fn new(params: &Params, topology: &Topology) -> Result<Partitions, Problem> {
        let nodes = topology.grid().nodes();
        if params.text("list") == "halves" {
            crate::alloc::up_to_nodes(params, topology, MAX_HALVED)?;
        }
        let text = match params.text("list") {
            "halves" => known::halves(nodes),
            "intrepid" => known::intrepid(),
            "mira" => known::mira(),
            text => text.to_owned(),
        };
        let list = List::read(&text)
            .map_err(|what| params.refusal("list", format!("is no list of partitions: {what}")))?;
        let (has, count) = (list.nodes(), list.partitions.len());
        if has != nodes {
            let says = format!(
                "the cards of `{}.list` have {has} nodes together, but the machine has {nodes}",
                params.path()
            );
            return Err(params.problem("list", says));
        }
        if count > MAX_PARTITIONS {
            let says = format!(
                "has {count} partitions, but at most {MAX_PARTITIONS} can be compared with one \
                 another"
            );
            return Err(params.refusal("list", says));
        }
        let parents = |own: &list::Partition| {
            let contains = |other: &list::Partition| {
                other.nodes > own.nodes && own.cards.iter().all(|card| other.cards.contains(card))
            };
            let all = (0..list.partitions.len() as u32).zip(&list.partitions);
            all.filter(|(_, other)| contains(other)).map(|(index, _)| index).collect()
        };
        let parents = list.partitions.iter().map(parents).collect();
        let (cards, switches) = (list.cards.len() as u32, list.switches());
        Ok(Partitions {
            machine: Arc::new(Machine { list, parents }),
            held: Vec::new(),
            busy: NodeSet::empty(cards),
            wired: NodeSet::empty(switches),
        })
    }

    fn look_at(&mut self, free: &NodeSet) {
        self.busy.clear();
        for (index, card) in (0..).zip(&self.machine.list.cards) {
            if !free.contains_range(card.first, card.nodes) {
                self.busy.insert(index);
            }
        }
        self.wired.clear();
        for held in &self.held {
            self.wired.unite(&self.machine.list.partitions[held.partition].switches);
        }
    }

    fn is_idle(&self, partition: &list::Partition) -> bool {
        !partition.cards.meets(&self.busy) && !partition.switches.meets(&self.wired)
    }

    fn nodes(&self, partition: usize) -> impl Iterator<Item = u32> + '_ {
        let list = &self.machine.list;
        list.partitions[partition].cards.iter().flat_map(|card| {
            let card = list.cards[card as usize];
            card.first..card.first + card.nodes
        })
    }

    /// Index of the first partition with exactly the nodes of the set `nodes` and only free
    /// switches.
    fn of(&self, nodes: &NodeSet) -> Option<usize> {
        let count = nodes.count();
        let is_it = |(index, own): &(usize, &list::Partition)| {
            own.nodes == count
                && own.switches.iter().all(|switch| !self.wired.contains(switch))
                && self.nodes(*index).all(|node| nodes.contains(node))
        };
        self.machine.list.partitions.iter().enumerate().find(is_it).map(|(index, _)| index)
    }
}

fn set_of(placement: &Placement, grid: &Grid) -> NodeSet {
    let mut nodes = NodeSet::empty(grid.nodes());
    placement.add_to(&mut nodes, grid);
    nodes
}

impl Allocator for Partitions {
    fn choose(&mut self, ask: Ask<'_>) -> Option<Placement> {
        let Ask { request, site, .. } = ask;
        let wanted = u32::try_from(request.nodes()).ok()?;
        self.look_at(site.free());
        let machine = Arc::clone(&self.machine);
        let list = &machine.list;
        let size =
            list.partitions.iter().map(|own| own.nodes).filter(|&own| own >= wanted).min()?;
        let idle: Vec<bool> = list.partitions.iter().map(|own| self.is_idle(own)).collect();
        let mut best: Option<(usize, usize)> = None;
        for (index, own) in list.partitions.iter().enumerate() {
            if own.nodes != size || !idle[index] {
                continue;
            }
            let parents = &machine.parents[index];
            let blocked = parents.iter().filter(|&&parent| idle[parent as usize]).count();
            if best.is_none_or(|(least, _)| blocked < least) {
                best = Some((blocked, index));
            }
        }
        let (_, chosen) = best?;
        Some(in_order(site.grid(), self.nodes(chosen)))
    }

    fn claimed(&mut self, placement: &Placement, site: &Site, _claim: Claim) {
        let nodes = set_of(placement, site.grid());
        self.look_at(site.free());
        if let Some(partition) = self.of(&nodes) {
            self.held.push(Held { partition, nodes });
        }
    }

    fn released(&mut self, placement: &Placement, site: &Site) {
        let nodes = set_of(placement, site.grid());
        for held in &mut self.held {
            held.nodes.subtract(&nodes);
        }
        self.held.retain(|held| !held.nodes.is_empty());
    }

    fn never(&self, request: &Request) -> Option<String> {
        let sizes = self.machine.list.sizes();
        let largest = sizes.last()?;
        let asked = request.nodes();
        (asked > u64::from(largest)).then(|| {
            format!("{asked} nodes are more than the largest partition has, which is {largest}")
        })
    }

    fn fork(&self) -> Box<dyn Allocator> {
        Box::new(self.clone())
    }
}
