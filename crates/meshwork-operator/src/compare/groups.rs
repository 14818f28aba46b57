//! Mean waits of jobs by size and by user, under each compared topology.

use std::collections::BTreeMap;

use super::measures::Ground;
use super::{ReplayMeasure, TopologyReplay};
use crate::paired;
use meshwork_lab::statistics::{Interval, mean};

const MAX_USERS: usize = 12;

#[derive(Clone, Debug)]
pub struct JobGroup {
    pub by: &'static str,
    /// Range of node counts, such as `5 to 8`, or name of a user.
    pub name: String,
    /// Number of jobs in the group that start under every topology.
    pub jobs: usize,
    /// Mean wait of the group's jobs under each topology, in seconds.
    pub waits: Vec<f64>,
    /// Increase of the mean wait relative to the first topology, for each further topology.
    pub differences: Vec<Interval>,
}

/// Groups of the jobs that start in every replay: by number of nodes, and by user.
///
/// Without a second user, there are no groups by user.
pub(super) fn groups(ground: &Ground<'_>, courses: &[Vec<TopologyReplay>]) -> Vec<JobGroup> {
    let copy = |own: &TopologyReplay| ground.values(ReplayMeasure::Wait, own);
    let waits: Vec<Vec<Vec<f64>>> =
        courses.iter().map(|copies| copies.iter().map(copy).collect()).collect();
    let mut by_size: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    let mut by_user: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (index, &place) in ground.common.iter().enumerate() {
        let stay = &ground.history[place];
        by_size.entry(stay.nodes.next_power_of_two()).or_default().push(index);
        by_user.entry(&stay.user).or_default().push(index);
    }
    let group = |by: &'static str, name: String, own: &[usize]| {
        let mean_wait = |course: usize| {
            let of = |copy: &Vec<f64>| own.iter().map(|&index| copy[index]).collect();
            let copies: Vec<Vec<f64>> = waits[course].iter().map(of).collect();
            mean(&paired::mean_of_copies(&copies)).unwrap_or(0.0)
        };
        let difference = |course: usize| -> Interval {
            let longer = |(one, other): (&Vec<f64>, &Vec<f64>)| {
                own.iter().map(|&index| one[index] - other[index]).collect()
            };
            let copies: Vec<Vec<f64>> = waits[course].iter().zip(&waits[0]).map(longer).collect();
            paired::interval_of_copies(&copies)
        };
        JobGroup {
            by,
            name,
            jobs: own.len(),
            waits: (0..courses.len()).map(mean_wait).collect(),
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
