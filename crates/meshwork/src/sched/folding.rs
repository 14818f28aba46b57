//! Folding: the largest partition is halved when a job arrives; halves are merged when a job ends.

use super::malleable::{self, Limits, Member, cut, lay_out, longest, whole};
use super::{Scheduler, SchedulerEntry};
use crate::cluster::{Cluster, JobId, MemoryReader, RecallError, RunKey, Ticket};
use crate::machine::Block;
use crate::registry::About;
use crate::topology::Grid;

/// Registry entry of `folding`: partitions are halved and merged.
pub static ENTRY: SchedulerEntry = SchedulerEntry::new(
    About::new(
        "folding",
        "a job that arrives gets half of the largest partition, whose job is folded onto the other \
         half; when a job ends, the one in the other half unfolds",
    )
    .definition(
        "A job that arrives gets the largest free partition, or half of the largest one that is \
         held: its job is folded onto the other half. When a job ends, the job in the other half \
         unfolds onto the whole; two free halves are one partition again. Only the two jobs \
         concerned are moved, at `migration_cost` each.",
    )
    .complexity(
        "O(J) for each arrival and each end with J jobs on the machine, besides \
             moving two of them.",
    )
    .source(
        "McCann & Zahorjan, Processor allocation policies for message-passing \
             parallel computers, SIGMETRICS 1994",
    )
    .params(malleable::PARAMS),
    |params, _| Ok(Box::new(Folding { limits: Limits::read(params), machine: None })),
)
.malleable(true);

struct Folding {
    limits: Limits,
    /// The whole machine, divided into partitions; `None` before the first pass.
    machine: Option<Part>,
}

struct Part {
    block: Block,
    state: State,
}

enum State {
    Free,
    Held(JobId),
    Halved(Box<[Part; 2]>),
}

impl Scheduler for Folding {
    fn recall(&mut self, memory: &mut MemoryReader<'_>) -> Result<(), RecallError> {
        let cluster = memory.cluster();
        let grid = cluster.site(0).grid();
        let held = cluster.running().map(|(_, ran)| match &ran.placement.blocks[..] {
            [block] => Some((ran.id, block.clone())),
            _ => None,
        });
        let whole = Part { block: whole(grid), state: State::Free };
        let machine = held.collect::<Option<_>>().and_then(|held| whole.held_by(held, grid));
        self.machine = Some(machine.ok_or_else(|| {
            let says =
                "the running jobs do not hold the halves into which folding divides a machine";
            RecallError::Other(says.to_owned())
        })?);
        Ok(())
    }

    fn schedule(&mut self, cluster: &mut Cluster<'_>) {
        let grid = cluster.site(0).grid().clone();
        let machine =
            self.machine.get_or_insert_with(|| Part { block: whole(&grid), state: State::Free });
        for departure in cluster.departures() {
            machine.leave(departure.ran.id);
        }
        let mut running: Vec<RunKey> = cluster.running().map(|(key, _)| key).collect();
        running.sort_unstable();
        let allowance = self.limits.max_jobs.saturating_sub(running.len());
        let admitted: Vec<Ticket> = cluster
            .waiting()
            .take(allowance)
            .take_while(|ticket| machine.enter(ticket.id, &grid))
            .collect();
        let mut blocks = Vec::new();
        machine.held(&mut blocks);
        blocks.sort_unstable_by_key(|(id, _)| *id);
        let members = running
            .into_iter()
            .map(Member::Running)
            .chain(admitted.into_iter().map(Member::Waiting));
        let members: Vec<(Member, Block)> =
            members.zip(blocks).map(|(member, (_, block))| (member, block)).collect();
        lay_out(cluster, &members, self.limits);
    }
}

impl Part {
    /// Halves a free partition, and its halves in turn, until each block of `jobs` is one part.
    ///
    /// Each job then holds its block. `None` if a block is no part that halving can make.
    fn held_by(self, jobs: Vec<(JobId, Block)>, grid: &Grid) -> Option<Part> {
        let state = match &jobs[..] {
            [] => State::Free,
            [(job, held)] if *held == self.block => State::Held(*job),
            _ if self.block.len() == 1 => return None,
            _ => {
                let [first, second] = self.halves(grid);
                let (of_first, of_second) =
                    jobs.into_iter().partition(|(_, held)| held.meets(&first.block, grid));
                let halves = [first.held_by(of_first, grid)?, second.held_by(of_second, grid)?];
                let mut whole = Part { state: State::Halved(Box::new(halves)), ..self };
                whole.merge();
                return Some(whole);
            }
        };
        Some(Part { state, ..self })
    }

    fn halves(&self, grid: &Grid) -> [Part; 2] {
        let dimension = longest(&self.block);
        let length = self.block.sides[dimension].div_ceil(2);
        let (first, second) = cut(&self.block, grid, dimension, length);
        [first, second].map(|block| Part { block, state: State::Free })
    }

    /// Gives a job the first of the largest free partitions. If none is free, halves the largest
    /// held partition and gives the job one half. Ties go to the partition of the oldest job.
    /// Returns `false` if no partition can be halved.
    fn enter(&mut self, job: JobId, grid: &Grid) -> bool {
        if let Some(free) = self.largest(|part| matches!(part.state, State::Free)) {
            free.state = State::Held(job);
            return true;
        }
        let Some(part) = self.largest(|part| matches!(part.state, State::Held(_))) else {
            return false;
        };
        let State::Held(folded) = part.state else { return false };
        if part.block.len() == 1 {
            return false;
        }
        let [first, second] = part.halves(grid);
        part.state = State::Halved(Box::new([
            Part { state: State::Held(folded), ..first },
            Part { state: State::Held(job), ..second },
        ]));
        true
    }

    /// Largest undivided partition for which `is_kind` holds.
    ///
    /// Ties go to the partition of the oldest job, or else to the first partition.
    fn largest(&mut self, is_kind: impl Fn(&Part) -> bool + Copy) -> Option<&mut Part> {
        let rank = |part: &Part| {
            let age = if let State::Held(job) = part.state { job } else { JobId(0) };
            (std::cmp::Reverse(part.block.len()), age)
        };
        match self.state {
            State::Halved(_) => {
                let State::Halved(halves) = &mut self.state else { return None };
                let [first, second] = halves.as_mut();
                let (a, b) = (first.largest(is_kind), second.largest(is_kind));
                match (a, b) {
                    (Some(a), Some(b)) => Some(if rank(b) < rank(a) { b } else { a }),
                    (a, b) => a.or(b),
                }
            }
            _ => is_kind(self).then_some(self),
        }
    }

    fn leave(&mut self, job: JobId) {
        match &mut self.state {
            State::Held(holder) if *holder == job => self.state = State::Free,
            State::Free | State::Held(_) => {}
            State::Halved(halves) => {
                halves.iter_mut().for_each(|half| half.leave(job));
                self.merge();
            }
        }
    }

    /// Merges the two halves of a partition if one is free and the other is not divided.
    ///
    /// A job that holds one of the halves gets both.
    fn merge(&mut self) {
        let State::Halved(halves) = &self.state else { return };
        match (&halves[0].state, &halves[1].state) {
            (State::Free, State::Free) => self.state = State::Free,
            (State::Held(other), State::Free) | (State::Free, State::Held(other)) => {
                self.state = State::Held(*other);
            }
            _ => {}
        }
    }

    fn held(&self, all: &mut Vec<(JobId, Block)>) {
        match &self.state {
            State::Free => {}
            State::Held(job) => all.push((*job, self.block.clone())),
            State::Halved(halves) => halves.iter().for_each(|half| half.held(all)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine(sides: &[u32]) -> (Part, Grid) {
        let grid = Grid::new(sides, false).unwrap();
        (Part { block: whole(&grid), state: State::Free }, grid)
    }

    fn held(machine: &Part) -> Vec<(u64, u32)> {
        let mut all = Vec::new();
        machine.held(&mut all);
        all.sort_unstable_by_key(|(id, _)| *id);
        all.into_iter().map(|(id, block)| (id.0, block.len())).collect()
    }

    #[test]
    fn the_largest_is_halved_and_of_equal_ones_that_of_the_oldest() {
        let (mut part, grid) = machine(&[16]);
        let mut seen = Vec::new();
        for job in 1..=4 {
            assert!(part.enter(JobId(job), &grid));
            seen.push(held(&part));
        }
        assert_eq!(
            seen,
            [
                vec![(1, 16)],
                vec![(1, 8), (2, 8)],
                vec![(1, 4), (2, 8), (3, 4)],
                vec![(1, 4), (2, 4), (3, 4), (4, 4)]
            ]
        );
    }

    #[test]
    fn a_job_unfolds_when_the_other_half_is_left() {
        let (mut part, grid) = machine(&[16]);
        (1..=3).for_each(|job| assert!(part.enter(JobId(job), &grid)));
        part.leave(JobId(3));
        assert_eq!(held(&part), [(1, 8), (2, 8)]);
        part.leave(JobId(2));
        assert_eq!(held(&part), [(1, 16)]);
        // The buddy of a divided part stays free, and the next job gets it.
        (4..=5).for_each(|job| assert!(part.enter(JobId(job), &grid)));
        assert_eq!(held(&part), [(1, 4), (4, 8), (5, 4)]);
        part.leave(JobId(4));
        assert_eq!(held(&part), [(1, 4), (5, 4)]);
        assert!(part.enter(JobId(6), &grid));
        assert_eq!(held(&part), [(1, 4), (5, 4), (6, 8)]);
        // Once the divided half belongs to one job, that job also gets the free half.
        part.leave(JobId(6));
        part.leave(JobId(1));
        assert_eq!(held(&part), [(5, 16)]);
    }

    #[test]
    fn single_processors_are_not_halved() {
        let (mut part, grid) = machine(&[3, 1]);
        (1..=3).for_each(|job| assert!(part.enter(JobId(job), &grid)));
        assert_eq!(held(&part), [(1, 1), (2, 1), (3, 1)]);
        assert!(!part.enter(JobId(4), &grid));
        part.leave(JobId(2));
        assert!(part.enter(JobId(4), &grid));
    }
}
