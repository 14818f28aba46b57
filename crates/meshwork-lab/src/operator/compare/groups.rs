//! Mean waits of jobs by size and by user, under each topology.

use std::collections::BTreeMap;

use super::measures::Ground;
use super::{ReplayMeasure, TopologyReplay};
use crate::findings::statistics::{Interval, mean};
use crate::operator::paired;

/// The maximum number of users shown, those with the most jobs.
const MAX_USERS: usize = 12;

/// Jobs of one size class or one user.
#[derive(Clone, Debug)]
pub struct JobGroup {
    /// The grouping key: `nodes` or `user`.
    pub by: &'static str,
    /// The value of the key: `5 to 8`, or a name.
    pub name: String,
    /// The number of its jobs that start under every topology.
    pub jobs: usize,
    /// The mean wait under each topology, in seconds.
    pub waits: Vec<f64>,
    /// The increase of the mean wait over the first topology, for each other topology.
    pub differences: Vec<Interval>,
}

/// The groups of the jobs that start in every replay: by size, and by user if there are several.
///
/// # Complexity
/// **O(n log n)** for *n* jobs.
pub(super) fn groups(ground: &Ground<'_>, courses: &[TopologyReplay]) -> Vec<JobGroup> {
    let waits: Vec<Vec<f64>> =
        courses.iter().map(|own| ground.values(ReplayMeasure::Wait, own)).collect();
    let mut by_size: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    let mut by_user: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (index, &place) in ground.common.iter().enumerate() {
        let stay = &ground.history[place];
        by_size.entry(stay.nodes.next_power_of_two()).or_default().push(index);
        by_user.entry(&stay.user).or_default().push(index);
    }
    let group = |by: &'static str, name: String, own: &[usize]| {
        let of =
            |course: usize| -> Vec<f64> { own.iter().map(|&index| waits[course][index]).collect() };
        let difference = |course: usize| -> Interval {
            let longer: Vec<f64> =
                of(course).iter().zip(of(0)).map(|(one, other)| one - other).collect();
            paired::interval(&longer)
        };
        JobGroup {
            by,
            name,
            jobs: own.len(),
            waits: (0..courses.len()).map(|course| mean(&of(course)).unwrap_or(0.0)).collect(),
            differences: (1..courses.len()).map(difference).collect(),
        }
    };
    let sizes = by_size.iter().map(|(&most, own)| {
        let name = if most > 2 { format!("{} to {most}", most / 2 + 1) } else { most.to_string() };
        group("nodes", name, own)
    });
    let mut users: Vec<(&str, Vec<usize>)> = by_user.into_iter().collect();
    users.retain(|(name, _)| !name.is_empty());
    users.sort_by_key(|(_, own)| std::cmp::Reverse(own.len()));
    if users.len() < 2 {
        users.clear();
    }
    let users = users.iter().take(MAX_USERS);
    sizes.chain(users.map(|(name, own)| group("user", (*name).to_owned(), own))).collect()
}
