//! Static partitioning: the machine is divided permanently, and each size class has its own nodes.

use super::queues::Queues;
use super::{Scheduler, SchedulerEntry};
use crate::cluster::{Cluster, Departure, MemoryReader, Place, RecallError, StartOptions};
use crate::job::Dims;
use crate::machine::{Block, Placement};
use crate::registry::About;
use crate::topology::{Topology, Wiring};

/// Registry entry of `static_partitioning`: one subcube for each size class.
pub static ENTRY: SchedulerEntry = SchedulerEntry::new(
    About::new(
        "static_partitioning",
        "a hypercube is divided into one subcube of each dimension, the lowest twice, and each has \
         a queue of its own; jobs of the whole cube are turned away",
    )
    .aliases(&["static"])
    .definition(
        "An n-cube is divided for good into one subcube of each dimension below n, and a second \
         one of dimension 0. Each class of jobs has a queue, first come, first served, for its own \
         partition. The allocator is not asked. Jobs of the whole cube are turned away.",
    )
    .complexity("O(1) for each arrival and each end, besides O(n) for a pass over the partitions.")
    .source(
        "Mohapatra, Yu, Das & Kim, A lazy scheduling scheme for improving \
             hypercube performance, section 3.1",
    ),
    |_, sites| Ok(Box::new(StaticPartitioning::new(sites))),
)
.serves(&[Wiring::Hypercube])
.serves_all(false);

struct StaticPartitioning {
    partitions: Vec<Partition>,
    /// Idle partitions of each class. The list is descending, so that `pop` returns the lowest
    /// index.
    idle: Vec<Vec<usize>>,
    queues: Queues,
    /// Bit set of the classes that the next pass must examine. It has the classes of arrivals and
    /// departures, and the classes in which a start on an idle partition failed.
    open: u32,
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
            // From node 0 on, each is as large as all that follow; the last two have one node.
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
        StaticPartitioning { partitions, idle, queues: Queues::default(), open: 0 }
    }

    fn partition_of(&self, Departure { ran }: &Departure) -> usize {
        let begins = (ran.site, ran.placement.blocks[0].base);
        let index = self.partitions.partition_point(|p| (p.site, p.nodes.blocks[0].base) < begins);
        assert!(self.partitions[index].nodes == ran.placement, "a job runs in a partition");
        index
    }
}

/// Subcube that begins at node `base` and extends along the first `free` dimensions.
fn subcube(base: u32, free: usize, dimension: usize) -> Placement {
    Block { base, sides: Dims::aligned(free, dimension) }.into()
}

impl Scheduler for StaticPartitioning {
    fn recall(&mut self, memory: &mut MemoryReader<'_>) -> Result<(), RecallError> {
        let (cluster, partitions) = (memory.cluster(), &self.partitions);
        let is_free = |index: &usize| {
            let Partition { site, nodes, .. } = &partitions[*index];
            cluster.site(*site).has_free(nodes)
        };
        self.idle.iter_mut().for_each(|idle| idle.retain(is_free));
        Ok(())
    }

    fn schedule(&mut self, cluster: &mut Cluster<'_>) {
        for departure in cluster.departures() {
            let index = self.partition_of(departure);
            let class = self.partitions[index].class;
            self.open |= 1 << class;
            let idle = &mut self.idle[class];
            idle.insert(idle.partition_point(|&other| other > index), index);
        }
        for arrival in 0..cluster.arrivals().len() {
            let ticket = cluster.arrivals()[arrival];
            if cluster.job(ticket).request.size_class() as usize >= self.idle.len() {
                cluster.turn_away(ticket);
            } else {
                self.open |= 1 << self.queues.push(ticket, cluster);
            }
        }
        let mut open = std::mem::take(&mut self.open);
        while open != 0 {
            let class = open.trailing_zeros() as usize;
            open &= open - 1;
            while let Some(&index) = self.idle[class].last()
                && let Some(head) = self.queues.head(class)
            {
                let Partition { site, nodes, .. } = &self.partitions[index];
                if !cluster.start(head, StartOptions::at(Place::These(*site, nodes))) {
                    self.open |= 1 << class;
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
    use crate::engine::{Setup, simulate};
    use crate::job::{Job, Request, Time};
    use crate::observe::{Event, Observer};
    use crate::rng::Stream;
    use crate::scenario::Scenario;
    use crate::workload::Submission;

    struct LooksAtAll(StaticPartitioning);

    impl Scheduler for LooksAtAll {
        fn schedule(&mut self, cluster: &mut Cluster<'_>) {
            self.0.open = (1 << self.0.idle.len()) - 1;
            self.0.schedule(cluster);
        }
    }

    #[derive(Default)]
    struct Told(Vec<String>, usize);

    impl Observer for Told {
        fn observe(&mut self, now: Time, event: &Event<'_>) {
            self.1 += usize::from(matches!(event, Event::Interrupted(_)));
            self.0.push(format!("{now} {event:?}"));
        }
    }

    #[test]
    fn only_open_classes_have_anything_to_start() {
        let mut interrupted = 0;
        for seed in 0..12 {
            let failures = "{ mtbf = 200, repair = 4 }";
            let text = format!(
                "machine = {{ topology = 'hypercube', dimension = 4 }}\nworkload = 'lublin'\nseed = {seed}\n{}",
                if seed % 2 == 0 { String::new() } else { format!("failures = {failures}") }
            );
            let scenario = Scenario::read(&text.parse().unwrap()).unwrap();
            let mut rng = Stream::new(seed, 0, "jobs");
            let mut arrival = Time::ZERO;
            let jobs: Vec<Job> = (0..300)
                .map(|number| {
                    arrival = arrival + rng.below(4) as f64;
                    let request = Request::Nodes(1 + rng.below(16) as u32);
                    Job::new(number, arrival, request, rng.below(9) as f64)
                })
                .collect();
            let told = [false, true].map(|looks_at_all| {
                let setup = scenario.setup(0).unwrap();
                let ours = StaticPartitioning::new(&[scenario.topologies()[0].clone()]);
                let scheduler: Box<dyn Scheduler> =
                    if looks_at_all { Box::new(LooksAtAll(ours)) } else { Box::new(ours) };
                let jobs = jobs.clone().into_iter().map(|job| Ok(Submission::Job(job)));
                let mut told = Told::default();
                simulate(Setup { scheduler, ..setup }, Box::new(jobs), &mut told).unwrap();
                told
            });
            assert!(told[0].0 == told[1].0, "{text}");
            interrupted += told[0].1;
        }
        assert!(interrupted > 20, "only {interrupted} jobs were interrupted");
    }

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
