//! Equipartition: the machine is divided into nearly equal blocks, one for each job.

use super::malleable::{self, Limits, Member, cut, lay_out, longest, whole};
use super::{Scheduler, SchedulerEntry};
use crate::cluster::{Cluster, RunKey, Ticket};
use crate::machine::Block;
use crate::registry::About;
use crate::topology::Grid;

/// Registry entry of `equipartition`: equal parts for all jobs.
pub static ENTRY: SchedulerEntry = SchedulerEntry::new(
    About::new(
        "equipartition",
        "all jobs at once, each on an equal part of the machine: at every arrival \
             and end the machine is divided anew, and jobs are moved and resized",
    )
    .definition(
        "All jobs run at once, up to `max_jobs`. At each arrival and each end the machine is \
         divided anew into as many blocks as there are jobs, by cutting the longest side where the \
         shares of both halves of the jobs come nearest, and every job moves to its block. A job \
         has processors times run time of work, and does it at a rate in proportion to its \
         processors. Each move costs `migration_cost`.",
    )
    .complexity(
        "O(J) for each arrival and each end with J jobs on the machine, besides moving them.",
    )
    .source(
        "McCann & Zahorjan, Processor allocation policies for message-passing \
             parallel computers, SIGMETRICS 1994",
    )
    .params(malleable::PARAMS),
    |params, _| Ok(Box::new(Equipartition { limits: Limits::read(params) })),
)
.malleable(true);

struct Equipartition {
    limits: Limits,
}

impl Scheduler for Equipartition {
    fn schedule(&mut self, cluster: &mut Cluster<'_>) {
        let mut running: Vec<RunKey> = cluster.running().map(|(key, _)| key).collect();
        // Keys sort in order of arrival, and waiting jobs arrived after all running ones.
        running.sort_unstable();
        let grid = cluster.site(0).grid().clone();
        let most = self.limits.max_jobs.min(grid.nodes() as usize);
        let admitted: Vec<Ticket> =
            cluster.waiting().take(most.saturating_sub(running.len())).collect();
        let members = running
            .into_iter()
            .map(Member::Running)
            .chain(admitted.into_iter().map(Member::Waiting));
        let members: Vec<Member> = members.collect();
        let blocks = equal_parts(&grid, members.len());
        let members: Vec<(Member, Block)> = members.into_iter().zip(blocks).collect();
        lay_out(cluster, &members, self.limits);
    }
}

/// Divides the machine into nearly equal blocks, one for each job, with the oldest job's block
/// first. Each job's share is *N* / *J* nodes, rounded down, and one more for each of the *N* mod
/// *J* oldest. The longest side is cut as near as possible to the shares of the older and the
/// younger half of the jobs, and so on down to one job.
fn equal_parts(grid: &Grid, jobs: usize) -> Vec<Block> {
    let mut parts = Vec::with_capacity(jobs);
    let nodes = grid.nodes() as usize;
    let Some(share) = nodes.checked_div(jobs) else { return parts };
    let rest = nodes - share * jobs;
    let shares: Vec<u64> = (0..jobs).map(|job| (share + usize::from(job < rest)) as u64).collect();
    divide(grid, whole(grid), &shares, &mut parts);
    parts
}

fn divide(grid: &Grid, block: Block, shares: &[u64], parts: &mut Vec<Block>) {
    if shares.len() == 1 {
        return parts.push(block);
    }
    let dimension = longest(&block);
    let side = u64::from(block.sides[dimension]);
    let slice = u64::from(block.len()) / side;
    let older = shares.len().div_ceil(2);
    let (wanted, all): (u64, u64) = (shares[..older].iter().sum(), shares.iter().sum());
    // Rounded to the nearest cut, halves in favour of the older jobs.
    let length = ((2 * side * wanted + all) / (2 * all)).clamp(1, side - 1);
    // Each part must have a node for each of its jobs.
    let least = (shares.len() as u64).saturating_sub((side - length) * slice) as usize;
    let older = older.clamp(least, (length * slice) as usize);
    let (first, second) = cut(&block, grid, dimension, length as u32);
    divide(grid, first, &shares[..older], parts);
    divide(grid, second, &shares[older..], parts);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::NodeSet;
    use crate::machine::Placement;

    fn grid(sides: &[u32]) -> Grid {
        Grid::new(sides, false).unwrap()
    }

    fn sizes(sides: &[u32], jobs: usize) -> Vec<u32> {
        equal_parts(&grid(sides), jobs).iter().map(Block::len).collect()
    }

    #[test]
    fn along_one_dimension_the_shares_are_exact() {
        assert_eq!(sizes(&[16], 3), [6, 5, 5]);
        for nodes in 1..40 {
            for jobs in 1..=nodes {
                let exact = (0..jobs).map(|job| nodes / jobs + u32::from(job < nodes % jobs));
                assert!(sizes(&[nodes], jobs as usize).into_iter().eq(exact), "{nodes} {jobs}");
            }
        }
    }

    #[test]
    fn a_mesh_is_cut_across_its_longer_side() {
        let text = |sides: &[u32], jobs: usize| -> Vec<String> {
            let grid = grid(sides);
            equal_parts(&grid, jobs).into_iter().map(|b| Placement::from(b).text(&grid)).collect()
        };
        assert_eq!(text(&[8, 4], 2), ["0,0:4x4", "4,0:4x4"]);
        assert_eq!(text(&[8, 4], 3), ["0,0:3x4", "3,0:3x4", "6,0:2x4"]);
        assert_eq!(text(&[4, 4], 4), ["0,0:2x2", "0,2:2x2", "2,0:2x2", "2,2:2x2"]);
        assert_eq!(sizes(&[2, 2, 2, 2], 3), [4, 4, 8], "a hypercube has halves only");
        assert_eq!(sizes(&[3, 3], 9), [1; 9], "as many jobs as processors");
    }

    #[test]
    fn parts_cover_the_machine_and_do_not_overlap() {
        for sides in [&[7, 5][..], &[1, 9], &[4, 3, 3], &[2, 2, 2, 2], &[13], &[6, 1, 5]] {
            let grid = grid(sides);
            for jobs in 1..=grid.nodes() as usize {
                let mut free = NodeSet::full(grid.nodes());
                let parts = equal_parts(&grid, jobs);
                assert_eq!(parts.len(), jobs);
                for part in parts.into_iter().map(Placement::from) {
                    assert!(!part.is_empty() && part.is_within(&free, &grid), "{sides:?} {jobs}");
                    part.for_each_run(&grid, |start, count| free.remove_range(start, count));
                }
                assert!(free.is_empty(), "{sides:?} {jobs}");
            }
        }
    }
}
