//! Assignment of runs to shards, called the deal.
//!
//! Runs are assigned by expected cost, longest first, each to the shard with the least cost so far.
//! The assignment depends only on the study, and on the file of the deal if there is one. So two
//! attempts at a shard have the same runs, and each run is in exactly one shard.
//!
//! The file of a deal is a table with the columns `scenario,seconds,replications`: the number of
//! the scenario (from 1), the expected duration of one run, and the numbers of the replications
//! (from 0), such as `0-4 7`. If the number of replications depends on results, `replications` is
//! `all`, and the duration is that of the whole scenario. If no duration was measured, `seconds`
//! has costs without a unit. `meshwork submit` writes the file once, before any shard begins,
//! without finished runs and with measured durations.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fmt::Write as _;
use std::path::Path;

use crate::files::{MAX_RECORDS, read_whole};
use crate::run::Unit;
use crate::run::has_same_jobs;
use crate::run::replications::first;
use crate::study::expand::Point;
use crate::study::{Refused, Replications};
use crate::sweep::cost::nominal;
use crate::sweep::name::Shard;

/// Runs or whole scenarios with their expected costs, to be assigned to shards.
#[derive(Clone, Debug, PartialEq)]
pub struct Deal {
    pub units: Vec<(Unit, f64)>,
}

/// Whether the scenario is a single unit of work for a shard. It is so if the number of its
/// replications depends on results.
pub fn is_whole(replications: &Replications, point: &Point) -> bool {
    match replications {
        Replications::Precision { .. } => true,
        // If the first two runs of a log are identical, no further replications are run.
        Replications::Fixed(count) => *count > 2 && has_same_jobs(&point.scenario),
        Replications::Windows { .. } => false,
    }
}

pub(crate) fn units_of(
    replications: &Replications,
    point: &Point,
    scenario: usize,
) -> impl Iterator<Item = Unit> {
    let is_whole = is_whole(replications, point);
    let count = if is_whole { 1 } else { first(replications, point) };
    (0..count).map(move |number| Unit { scenario, replication: (!is_whole).then_some(number) })
}

impl Deal {
    /// All units of work of a study. They have nominal costs, which are estimated without any
    /// measurement.
    pub fn of(replications: &Replications, points: &[Point]) -> Deal {
        let mut units = Vec::new();
        for (scenario, point) in points.iter().enumerate() {
            let cost = nominal(&point.scenario);
            let parts = units_of(replications, point, scenario);
            units.extend(parts.map(|unit| (unit, cost * unit.runs(replications, points) as f64)));
        }
        Deal { units }
    }

    /// Units of work of one shard, in the order in which it runs them. **O(n log n)** for *n* runs.
    pub fn hand(&self, shard: Shard) -> Vec<Unit> {
        let mut units: Vec<(u64, Unit)> =
            self.units.iter().map(|(unit, cost)| (whole(*cost), *unit)).collect();
        units.sort_unstable_by_key(|(cost, unit)| (Reverse(*cost), *unit));
        let mut loads: BinaryHeap<Reverse<(u128, u64)>> =
            (0..shard.of.min(units.len() as u64)).map(|index| Reverse((0, index))).collect();
        let mut own = Vec::new();
        for (cost, unit) in units {
            let Some(mut least) = loads.peek_mut() else { break };
            let Reverse((load, index)) = *least;
            *least = Reverse((load + u128::from(cost), index));
            drop(least);
            if index == shard.index {
                own.push(unit);
            }
        }
        own
    }

    pub fn cost(&self) -> f64 {
        self.units.iter().map(|(_, cost)| cost).sum()
    }

    pub fn text(&self) -> String {
        let mut text = "scenario,seconds,replications\n".to_owned();
        for units in self.units.chunk_by(|(a, _), (b, _)| a.scenario == b.scenario) {
            let (scenario, seconds) = (units[0].0.scenario + 1, units[0].1);
            let numbers: Vec<u64> = units.iter().filter_map(|(unit, _)| unit.replication).collect();
            let range = |range: &[u64]| match range {
                [only] => only.to_string(),
                range => format!("{}-{}", range[0], range[range.len() - 1]),
            };
            let ranges: Vec<String> = numbers.chunk_by(|a, b| a + 1 == *b).map(range).collect();
            let replications = if ranges.is_empty() { "all".to_owned() } else { ranges.join(" ") };
            writeln!(text, "{scenario},{seconds},{replications}").expect("a text takes all");
        }
        text
    }

    pub fn read(
        path: &Path,
        replications: &Replications,
        points: &[Point],
    ) -> Result<Deal, Refused> {
        let name = path.display().to_string();
        let bytes = read_whole(&name, path, MAX_RECORDS)?;
        let text = String::from_utf8_lossy(&bytes);
        let mut units = Vec::new();
        for (number, line) in text.lines().enumerate().skip(1) {
            let row = row(line, replications, points).ok_or_else(|| {
                Refused(format!(
                    "{name}:{}: this is no line of a deal of this study: give one that `meshwork submit` wrote \
                     for it",
                    number + 1
                ))
            })?;
            units.extend(row);
        }
        if units.windows(2).any(|pair| pair[0].0 >= pair[1].0) {
            return Err(Refused(format!(
                "{name}: a run is dealt twice: give a deal that `meshwork submit` wrote"
            )));
        }
        Ok(Deal { units })
    }
}

fn row(line: &str, replications: &Replications, points: &[Point]) -> Option<Vec<(Unit, f64)>> {
    let cells: Vec<&str> = line.split(',').collect();
    let [scenario, seconds, numbers] = cells[..] else { return None };
    let scenario = scenario.parse::<usize>().ok()?.checked_sub(1)?;
    let point = points.get(scenario)?;
    let seconds = seconds.parse::<f64>().ok().filter(|s| s.is_finite() && *s >= 0.0)?;
    if is_whole(replications, point) {
        return (numbers == "all").then(|| vec![(Unit { scenario, replication: None }, seconds)]);
    }
    let most = first(replications, point);
    let mut units = Vec::new();
    for range in numbers.split(' ') {
        let (begin, end) = range.split_once('-').unwrap_or((range, range));
        let (begin, end) = (begin.parse::<u64>().ok()?, end.parse::<u64>().ok()?);
        if begin > end || end >= most {
            return None;
        }
        let unit = |number| (Unit { scenario, replication: Some(number) }, seconds);
        units.extend((begin..=end).map(unit));
    }
    Some(units)
}

/// Converts a cost to a whole number of millionths. The sum of whole numbers is the same in any
/// order.
fn whole(cost: f64) -> u64 {
    (cost * 1e6).min(1e18) as u64
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn unit(scenario: usize, number: u64) -> Unit {
        Unit { scenario, replication: Some(number) }
    }

    proptest! {
        #[test]
        fn every_run_is_dealt_once_and_nobody_has_much_more(
            costs in prop::collection::vec((1_u64..4, 0.0_f64..100.0), 1..12), of in 1_u64..9,
        ) {
            let units: Vec<(Unit, f64)> = costs
                .iter()
                .enumerate()
                .flat_map(|(scenario, (count, cost))| (0..*count).map(move |n| (unit(scenario, n), *cost)))
                .collect();
            let deal = Deal { units: units.clone() };
            let hands: Vec<Vec<Unit>> =
                (0..of).map(|index| deal.hand(Shard { index, of })).collect();
            let mut all: Vec<Unit> = hands.concat();
            all.sort();
            let expected: Vec<Unit> = units.iter().map(|(unit, _)| *unit).collect();
            prop_assert_eq!(all, expected);
            let cost = |unit: &Unit| costs[unit.scenario].1;
            let loads: Vec<f64> = hands.iter().map(|hand| hand.iter().map(cost).sum()).collect();
            // Before its last unit, the shard with the most work had at most the mean.
            let longest = units.iter().map(|(_, cost)| *cost).fold(0.0, f64::max);
            let mean = deal.cost() / of as f64;
            prop_assert!(loads.iter().all(|load| *load <= mean + longest + 1e-3));
            for hand in &hands {
                prop_assert!(hand.windows(2).all(|pair| cost(&pair[0]) >= cost(&pair[1]) - 1e-6));
            }
        }
    }

    #[test]
    fn the_longest_first_by_hand() {
        let units = [5.0, 4.0, 3.0, 3.0, 3.0];
        let units = units.iter().enumerate().map(|(n, cost)| (unit(n, 0), *cost)).collect();
        let deal = Deal { units };
        let of = |index| -> Vec<usize> {
            deal.hand(Shard { index, of: 2 }).iter().map(|unit| unit.scenario).collect()
        };
        // Costs 5 and 4 go to shards 0 and 1. Of the costs 3, the first goes to shard 1 (sum 7),
        // the second to shard 0 (sum 8), the third to shard 1 (sum 10).
        assert_eq!((of(0), of(1)), (vec![0, 3], vec![1, 2, 4]));
    }
}
