//! Static partitioning: each size of job has processors of its own.

use super::queues::Queues;
use super::{Scheduler, SchedulerEntry};
use crate::cluster::{Cluster, Place, StartOptions};
use crate::job::Dims;
use crate::machine::{Block, Placement};
use crate::registry::About;
use crate::topology::{Topology, Wiring};

/// The entry of `static_partitioning`.
pub static ENTRY: SchedulerEntry = SchedulerEntry {
    about: About {
        name: "static_partitioning",
        aliases: &["static"],
        summary: "a hypercube is divided into one subcube of each dimension, the lowest twice, and \
                  each has a queue of its own; jobs of the whole cube are turned away",
        definition: "An n-cube is divided for good into one subcube of each dimension below n, \
                     and a second one of dimension 0. Each class of jobs has a queue, first \
                     come, first served, for its own partition. The allocator is not asked. Jobs \
                     of the whole cube are turned away.",
        complexity: "O(1) for each arrival and each end, besides O(n) for a pass over the \
                     partitions.",
        source: "Mohapatra, Yu, Das & Kim, A lazy scheduling scheme for improving hypercube \
                 performance, section 3.1",
        params: &[],
    },
    serves: &[Wiring::Hypercube],
    plans: false,
    serves_all: false,
    malleable: false,
    by_owner: false,
    build: |_, sites| Ok(Box::new(StaticPartitioning::new(sites))),
};

/// Partitions of hypercubes, each with the jobs of its size class, first come, first served. The
/// allocator is not asked, and jobs are not folded.
struct StaticPartitioning {
    partitions: Vec<Partition>,
    /// For each class, the indices of its partitions that are idle, the highest first: the lowest is used first, and
    /// taken from the end.
    idle: Vec<Vec<usize>>,
    queues: Queues,
}

struct Partition {
    class: usize,
    site: usize,
    nodes: Placement,
}

impl StaticPartitioning {
    fn new(sites: &[Topology]) -> StaticPartitioning {
        let mut partitions = Vec::new();
        for (site, topology) in sites.iter().enumerate() {
            let dimension = topology.grid().dimensions();
            let nodes = topology.grid().nodes();
            // From node 0 on, each as large as all that follow; the last two are of one processor.
            for class in (0..dimension).rev() {
                let base = nodes - (2 << class);
                partitions.push(Partition { class, site, nodes: subcube(base, class, dimension) });
            }
            let nodes = subcube(nodes - 1, 0, dimension);
            partitions.push(Partition { class: 0, site, nodes });
        }
        let classes = partitions.iter().map(|p| p.class + 1).max().unwrap_or(0);
        let mut idle = vec![Vec::new(); classes];
        for (index, partition) in partitions.iter().enumerate().rev() {
            idle[partition.class].push(index);
        }
        StaticPartitioning { partitions, idle, queues: Queues::default() }
    }
}

/// The subcube of the first so many dimensions at a base.
fn subcube(base: u32, free: usize, dimension: usize) -> Placement {
    Block { base, sides: Dims::aligned(free, dimension) }.into()
}

impl Scheduler for StaticPartitioning {
    fn schedule(&mut self, cluster: &mut Cluster<'_>) {
        for departure in cluster.departures() {
            let ran = &departure.ran;
            // Most are ruled out by where they begin.
            let base = |nodes: &Placement| nodes.blocks.first().map(|block| block.base);
            let begins = base(&ran.placement);
            let held = |p: &Partition| {
                base(&p.nodes) == begins && p.site == ran.site && p.nodes == ran.placement
            };
            let index = self.partitions.iter().position(held);
            let index = index.expect("a job runs in a partition");
            let idle = &mut self.idle[self.partitions[index].class];
            idle.insert(idle.partition_point(|&other| other > index), index);
        }
        for arrival in 0..cluster.arrivals().len() {
            let ticket = cluster.arrivals()[arrival];
            if cluster.job(ticket).request.size_class() as usize >= self.idle.len() {
                cluster.turn_away(ticket);
            } else {
                self.queues.push(ticket, cluster);
            }
        }
        for class in self.queues.classes() {
            while let Some(&index) = self.idle[class].last()
                && let Some(head) = self.queues.head(class)
            {
                let Partition { site, nodes, .. } = &self.partitions[index];
                if !cluster.start(head, StartOptions::at(Place::These(*site, nodes))) {
                    break;
                }
                self.queues.pop(class);
                self.idle[class].pop();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_partitions_are_the_whole_cube() {
        for dimension in 1..=6 {
            let cube = Topology::hypercube(dimension).unwrap();
            let parts = StaticPartitioning::new(std::slice::from_ref(&cube)).partitions;
            let mut nodes: Vec<u32> = Vec::new();
            parts.iter().for_each(|part| nodes.extend(part.nodes.nodes(cube.grid())));
            assert_eq!(nodes, (0..1 << dimension).collect::<Vec<u32>>(), "{dimension}");
            let classes: Vec<usize> = parts.iter().map(|part| part.class).collect();
            let expected: Vec<usize> = (0..dimension as usize).rev().chain([0]).collect();
            assert_eq!(classes, expected);
        }
    }
}
