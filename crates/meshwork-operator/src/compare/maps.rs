//! Utilization of each node of a torus in a replay, for maps.

use std::ops::Range;

use super::TopologyReplay;
use super::measures::Shared;
use meshwork_lab::slurm::folder::SlurmMachine;
use meshwork_slurm::history::Second;
use meshwork_slurm::topology::Structure;

/// Layer of a torus: the cells (positions of nodes) with equal z coordinates.
#[derive(Clone, Debug, PartialEq)]
pub struct Layer {
    pub name: String,
    /// Number of cells along x. In `cells`, the x coordinate varies fastest.
    pub row: usize,
    /// For each cell, fraction of the time in which its node is in use; `None` if the cell has no
    /// node.
    pub cells: Vec<Option<f64>>,
}

/// Layers of all tori of a machine. If several partitions use a topology, it appears once.
pub(super) fn layers(
    machine: &SlurmMachine,
    course: &TopologyReplay,
    span: &Range<Second>,
) -> Vec<Layer> {
    let mut busy = vec![0_i64; machine.reading.hosts.count() as usize];
    let mut shared = Shared::default();
    for place in course.by_start() {
        let (stay, outcome) = (&course.submitted[place], &course.outcomes[place]);
        let (Some(start), Some(nodes)) = (outcome.start, &outcome.nodes) else { continue };
        let runs = (stay.end.unwrap_or(start) - stay.start.unwrap_or(start)).max(0);
        let until = (start + runs).min(span.end);
        shared.added(nodes, start.max(span.start), until, |node, from| {
            busy[node as usize] += until - from;
        });
    }
    let whole = (span.end - span.start).max(1) as f64;
    let mut layers = Vec::new();
    let mut seen: Vec<&str> = Vec::new();
    for site in machine.sites() {
        let Structure::Torus3d(anchors, named) = &site.structure else { continue };
        if seen.contains(&site.topology.as_str()) {
            continue;
        }
        seen.push(&site.topology);
        for (torus, own) in anchors.toruses().iter().zip(named) {
            let [x, y, _] = [0, 1, 2].map(|axis| torus.grid().sides()[axis] as usize);
            for (z, cells) in torus.cells().chunks(x * y).enumerate() {
                let share =
                    |node: &Option<u32>| node.map(|node| busy[node as usize] as f64 / whole);
                let cells = cells.iter().map(share).collect();
                layers.push(Layer { name: format!("{}, z = {z}", own.name), row: x, cells });
            }
        }
    }
    layers
}
