//! Warnings about configurations that Slurm accepts silently although they cannot be intended.

use std::collections::BTreeSet;

use meshwork::alloc::listed::anchors::{Anchors, Entry, Torus};
use meshwork::alloc::listed::{Decision, NodeRequest, decide};
use meshwork::geometry::NodeSet;

use crate::conf::Partition;
use crate::finding::LintFindings;
use crate::site::Reading;
use crate::topology::{
    self, ListedPlacement, NamedNodes, SlurmTopology, Structure, TopologyKind, by,
};

/// Largest number of nodes for which the lint tries every job size on the empty machine.
const MOST_TRIED: u32 = 4096;

pub(super) fn look(reading: &mut Reading) {
    let mut findings = std::mem::take(&mut reading.findings);
    for (topology, structure) in &reading.topologies {
        match (&topology.kind, structure) {
            (TopologyKind::Torus3d(listed), Structure::Torus3d(anchors, named)) => {
                toruses(listed, anchors, named, &mut findings);
            }
            (TopologyKind::Block(..), Structure::Block(..)) => {
                sizes(reading, topology, structure, &mut findings);
            }
            _ => {}
        }
    }
    for partition in reading.conf.iter().flat_map(|conf| &conf.partitions) {
        of_partition(reading, partition, &mut findings);
    }
    reading.findings = findings;
}

fn toruses(
    listed: &[topology::SlurmTorus],
    anchors: &Anchors,
    named: &[NamedNodes],
    findings: &mut LintFindings,
) {
    for ((torus, built), named) in listed.iter().zip(anchors.toruses()).zip(named) {
        let sides = torus.dims;
        for placement in &torus.placements {
            let dims = placement.dims;
            let given = |own: &ListedPlacement, axis: usize| own.spacing[axis] > 0;
            let step = |own: &ListedPlacement, axis: usize| {
                if given(own, axis) { own.spacing[axis] } else { own.dims[axis] }
            };
            for (axis, letter) in ['x', 'y', 'z'].into_iter().enumerate() {
                let (side, length, step) = (dims[axis], sides[axis], step(placement, axis));
                if side == length && step != length && step > 0 && gcd(step, length) < length {
                    let count = length / gcd(step, length);
                    let says = format!(
                        "placements of {} are as long as the torus along {letter}, so with a spacing of {step} \
                         {count} anchors are the same box, and each is counted",
                        by(dims)
                    );
                    findings.warn(placement.line, says);
                } else if !length.is_multiple_of(step) && gcd(step, length) < side {
                    let whose =
                        if given(placement, axis) { "a spacing" } else { "the default spacing" };
                    let says = format!(
                        "{whose} of {step} does not divide the {length} nodes of {} along {letter}, so boxes of {} \
                         overlap and wrap around",
                        named.name,
                        by(dims)
                    );
                    findings.warn(placement.line, says);
                }
            }
            let mut twins = torus.placements.iter().filter(|other| {
                other.line < placement.line
                    && other.dims == dims
                    && other.seed == placement.seed
                    && (0..3).all(|axis| step(other, axis) == step(placement, axis))
            });
            if let Some(twin) = twins.next_back() {
                let says =
                    format!("this placement of {} is that of line {} again", by(dims), twin.line);
                findings.warn(placement.line, says);
            }
        }
        rotations(torus, findings);
        for entry in built.entries() {
            of_holes(torus, built, entry, findings);
        }
    }
}

/// Warns of placements whose rotations would also fit, but are not listed.
fn rotations(torus: &topology::SlurmTorus, findings: &mut LintFindings) {
    let mut seen: Vec<[u32; 3]> = Vec::new();
    for placement in &torus.placements {
        let [x, y, z] = placement.dims;
        let mut sorted = placement.dims;
        sorted.sort_unstable();
        if seen.contains(&sorted) {
            continue;
        }
        seen.push(sorted);
        let turned =
            BTreeSet::from([[x, y, z], [x, z, y], [y, x, z], [y, z, x], [z, x, y], [z, y, x]]);
        let fits = |dims: &[u32; 3]| (0..3).all(|axis| dims[axis] <= torus.dims[axis]);
        let is_listed = |dims: &[u32; 3]| torus.placements.iter().any(|other| other.dims == *dims);
        let missing: Vec<String> = turned
            .iter()
            .filter(|dims| fits(dims) && !is_listed(dims))
            .map(|&dims| by(dims))
            .collect();
        if !missing.is_empty() {
            let says = format!(
                "shapes are never turned: {} is listed, but not {}, so no job gets the latter",
                by(placement.dims),
                missing.join(", ")
            );
            findings.warn(placement.line, says);
        }
    }
}

fn of_holes(
    torus: &topology::SlurmTorus,
    built: &Torus,
    entry: &Entry,
    findings: &mut LintFindings,
) {
    let missing = entry.anchors() - entry.complete_anchors();
    let has_nodes = built.nodes().next().is_some();
    let shape = entry.shape();
    let line =
        torus.placements.iter().find(|own| own.dims == shape.sides && own.seed == shape.seed);
    let line = line.map_or(torus.line, |own| own.line);
    if entry.complete_anchors() == 0 && has_nodes {
        let says =
            format!("no box of {} has a node in every cell: none is ever given", by(shape.sides));
        findings.warn(line, says);
    } else if missing > 0 && has_nodes {
        let says = format!(
            "{missing} of the {} boxes of {} have holes and are never given, but count as broken all the same",
            entry.anchors(),
            by(shape.sides)
        );
        findings.warn(line, says);
    }
}

/// Warns of job sizes that Slurm would refuse even on the empty machine.
fn sizes(
    reading: &Reading,
    topology: &SlurmTopology,
    structure: &Structure,
    findings: &mut LintFindings,
) {
    let mut whole = NodeSet::empty(reading.hosts.count());
    structure.named().iter().for_each(|block| whole.unite(&block.nodes));
    let count = whole.count();
    if count > MOST_TRIED {
        return;
    }
    let nodes = reading.nodes_of(reading.conf.as_ref().map_or(&[], |conf| &conf.nodes));
    let is_refused = |&size: &u32| {
        let decision = decide(structure.rule(), &nodes, &NodeRequest::of(size), &whole, &whole);
        matches!(decision, Decision::Never(_))
    };
    let refused: Vec<u32> = (1..=count).filter(is_refused).collect();
    if let Some(first) = refused.first() {
        let says = format!(
            "jobs of {} of the sizes from 1 to {count} are refused though the machine is empty, the smallest of {first} nodes",
            refused.len()
        );
        findings.warn(topology.line, says);
    }
}

fn of_partition(reading: &Reading, partition: &Partition, findings: &mut LintFindings) {
    let mut topologies = reading.topologies.iter();
    let found = match &partition.topology {
        Some(name) => topologies.find(|(topology, _)| topology.name == *name),
        None => topologies.next(),
    };
    let Some((topology, structure)) = found else { return };
    let own = &partition.nodes;
    let warn =
        |findings: &mut LintFindings, says: String| findings.warn_conf(Some(partition.line), says);
    if let Some(covered) = structure.rule().covered() {
        let mut outside = own.clone();
        outside.subtract(covered);
        if own.meets(covered) && !outside.is_empty() {
            let says = format!(
                "the partition {} has {} of {} nodes outside of the topology {}: they are given only while none inside \
                 of it is free, so whether a job is taken depends on the moment",
                partition.name,
                outside.count(),
                own.count(),
                topology.name
            );
            warn(findings, says);
        }
    }
    let Structure::Torus3d(anchors, named) = structure else { return };
    for torus in named.iter().filter(|torus| torus.nodes.meets(own) && !torus.nodes.is_within(own))
    {
        let says = format!(
            "the partition {} has a part of the torus {}: boxes with other nodes are never given to its jobs",
            partition.name, torus.name
        );
        warn(findings, says);
    }
    let unasked: BTreeSet<u32> = anchors
        .toruses()
        .iter()
        .flat_map(|torus| torus.entries().iter().map(Entry::size))
        .filter(|&size| size > partition.most.min(own.count()) || size < partition.least)
        .collect();
    if !unasked.is_empty() && own.meets(structure.rule().covered().unwrap_or(own)) {
        let list: Vec<String> = unasked.iter().map(u32::to_string).collect();
        let says = format!(
            "no job of the partition {} asks for {} nodes: it has {} and takes jobs of {} to {}",
            partition.name,
            list.join(", "),
            own.count(),
            partition.least,
            partition.most.min(own.count())
        );
        warn(findings, says);
    }
}

fn gcd(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { gcd(b, a % b) }
}
