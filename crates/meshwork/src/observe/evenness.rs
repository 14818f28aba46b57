//! Fairness between users: Jain's index of the users' mean values of some quantity.

use std::collections::BTreeMap;

#[derive(Default)]
pub(super) struct Evenness {
    /// For each user, the sum and the number of the values of the user's jobs.
    users: BTreeMap<String, (f64, u64)>,
}

impl Evenness {
    pub(super) fn add(&mut self, user: &str, value: f64) {
        match self.users.get_mut(user) {
            Some((sum, count)) => {
                *sum += value;
                *count += 1;
            }
            None => drop(self.users.insert(user.to_owned(), (value, 1))),
        }
    }

    /// Jain's index of the users' mean values; `None` without users. If all means are 0, the index
    /// is 1.
    pub(super) fn index(&self) -> Option<f64> {
        let means = self.users.values().map(|&(sum, count)| sum / count as f64);
        let (sum, squares) =
            means.fold((0.0, 0.0), |(sum, squares), mean| (sum + mean, squares + mean * mean));
        match self.users.len() {
            0 => None,
            _ if squares <= 0.0 => Some(1.0),
            users => Some(sum * sum / (users as f64 * squares)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn index(values: &[(&str, f64)]) -> Option<f64> {
        let mut evenness = Evenness::default();
        values.iter().for_each(|&(user, value)| evenness.add(user, value));
        evenness.index()
    }

    #[test]
    fn the_index_by_hand() {
        assert_eq!(index(&[]), None);
        assert_eq!(index(&[("a", 0.0), ("b", 0.0)]), Some(1.0));
        assert_eq!(index(&[("a", 3.0), ("b", 3.0), ("c", 3.0)]), Some(1.0));
        assert_eq!(index(&[("a", 8.0), ("b", 0.0), ("c", 0.0), ("d", 0.0)]), Some(0.25));
        // Means of 2 and 4 give 36 / (2 · 20), whatever the number of jobs.
        assert_eq!(index(&[("a", 1.0), ("a", 3.0), ("b", 4.0)]), Some(0.9));
        assert_eq!(index(&[("a", 2.0), ("b", 4.0), ("b", 4.0), ("b", 4.0)]), Some(0.9));
    }
}
