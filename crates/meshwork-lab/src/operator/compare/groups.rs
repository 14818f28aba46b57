//! Who gains and who loses: the waits of jobs by size, and by user.

use std::collections::BTreeMap;

use super::measures::Ground;
use super::{Course, Measure};
use crate::findings::statistics::{Interval, mean};
use crate::operator::paired;

/// The most users that are told apart: those of the most jobs.
const MAX_USERS: usize = 12;

/// Jobs that have something in common.
#[derive(Clone, Debug)]
pub struct Group {
    /// What they have in common: `nodes` or `user`.
    pub by: &'static str,
    /// Which it is: `5 to 8`, or a name.
    pub name: String,
    /// How many of them start under every topology.
    pub jobs: usize,
    /// Their mean wait under each topology, in seconds.
    pub waits: Vec<f64>,
    /// For each topology but the first, by how much it is longer than under the first.
    pub differences: Vec<Interval>,
}

/// The groups of the jobs that start in every course, those of one user only where there are several.
///
/// # Complexity
/// **O(n log n)** for *n* jobs.
pub(super) fn groups(ground: &Ground<'_>, courses: &[Course]) -> Vec<Group> {
    let waits: Vec<Vec<f64>> =
        courses.iter().map(|own| ground.values(Measure::Wait, own)).collect();
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
        Group {
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
