//! Race of the best placement lists against the site's present lists, on resampled histories.
//!
//! The race follows the method of `meshwork choose`. The best lists were chosen on the first half
//! of a single history, so they are compared with the present lists on other histories. Each of
//! these consists of stretches of the first half in random order, with repetition.

use meshwork::rng::Stream;
use rayon::prelude::*;

use super::search::{FEWEST_JOBS, SearchEnd, Trial};
use super::{CONFIDENCE, TopologyLists};
use meshwork_lab::choose::race::{Field, NoValue, Race, RaceRules};
use meshwork_lab::statistics::mean;
use meshwork_slurm::history::{JobRecord, Second};

/// Indifference zone: placement lists are equal if their mean waits differ by at most this
/// fraction.
pub const WITHIN: f64 = 0.05;

/// Minimum number of histories on which two placement lists are tried before one may be dropped.
const LEAST_PAIRS: u64 = 20;

/// Maximum number of resampled histories on which placement lists are compared.
///
/// Lists that have not been dropped after this number of histories differ little.
pub(super) const MOST_PAIRS: u64 = 100;

/// Factor by which resampled histories are shorter than the first half of a site's history.
///
/// A history that would have too few jobs is shortened less.
const SHORTER: usize = 4;

const STRETCHES: Second = 8;

/// Stretch lengths in seconds that keep the position of jobs in the week, the day or the hour.
///
/// Resampled histories are made of stretches of a history.
const CALENDAR: [Second; 3] = [604_800, 86_400, 3_600];

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ListRace {
    /// Number of placement lists in the race, including the site's own lists.
    pub finalists: usize,
    pub survivors: usize,
    pub histories: u64,
    pub stretch: Second,
    /// Upper bound of the excess wait under the chosen lists, with the confidence [`CONFIDENCE`].
    ///
    /// It is a fraction of the mean wait under the best lists. It is `None` if no bound is certain.
    pub bound: Option<f64>,
}

/// Stretches of a history, from which resampled histories are made.
struct Stretches<'a> {
    of: Vec<Vec<&'a JobRecord>>,
    first: Second,
    length: Second,
    wanted: usize,
}

impl<'a> Stretches<'a> {
    /// Cuts jobs into whole stretches of time. The jobs are in order of time. Jobs after the last
    /// whole stretch are dropped.
    fn of(stays: &'a [JobRecord]) -> Option<Stretches<'a>> {
        let queued = |stay: &JobRecord| stay.queued().unwrap_or_default();
        let (first, last) = (queued(stays.first()?), queued(stays.last()?));
        let span = last - first + 1;
        let length = CALENDAR.into_iter().find(|length| span / length >= STRETCHES);
        let length = length.unwrap_or((span / STRETCHES).max(1));
        let count = (span / length).max(1) as usize;
        let mut of = vec![Vec::new(); count];
        for stay in stays {
            if let Some(own) = of.get_mut(((queued(stay) - first) / length) as usize) {
                own.push(stay);
            }
        }
        let enough = (count * FEWEST_JOBS).div_ceil(stays.len());
        let wanted = count.div_ceil(SHORTER).max(enough).min(count);
        Some(Stretches { of, first, length, wanted })
    }

    /// Resampled history, which depends only on the seed and on the number of the history.
    fn history(&self, seed: u64, number: u64) -> Vec<JobRecord> {
        let mut stream = Stream::new(seed, number, "propose race");
        let mut stays = Vec::new();
        for place in 0..self.wanted as Second {
            let drawn = stream.below(self.of.len() as u64);
            let from = self.first + drawn as Second * self.length;
            let later = self.first + place * self.length - from;
            let moved = |time: Option<Second>| time.map(|time| time + later);
            stays.extend(self.of[drawn as usize].iter().map(|&stay| JobRecord {
                submit: moved(stay.submit),
                eligible: moved(stay.eligible),
                start: moved(stay.start),
                end: moved(stay.end),
                ..stay.clone()
            }));
        }
        stays
    }
}

/// Logarithms of mean waits, by history and then by proposed list of boxes; `None` if unknown.
struct WaitsByHistory(Vec<Vec<Option<f64>>>);

impl Field for WaitsByHistory {
    fn value(&self, candidate: usize, replication: u64) -> Result<f64, NoValue> {
        self.0[replication as usize][candidate]
            .ok_or_else(|| NoValue::Failed("a job never starts".to_owned()))
    }

    fn excess(&self, _: usize, _: usize, _: u64) -> Result<f64, NoValue> {
        Ok(0.0)
    }

    fn is_growing(&self, _: usize) -> bool {
        false
    }
}

/// Compares placement lists in a race on resampled histories, and returns the index of the list to
/// use.
///
/// The first list is the site's own. The compared values are logarithms of the mean wait plus one
/// second. The result is `None` if time ran out before the first comparison.
pub(super) fn race(
    trial: &Trial<'_>,
    lists: &[&TopologyLists],
    seed: u64,
    ends: SearchEnd<'_>,
) -> Option<(usize, ListRace)> {
    let stretches = Stretches::of(trial.stays)?;
    let rules = RaceRules {
        alpha: 1.0 - CONFIDENCE,
        within: libm::log1p(WITHIN),
        least: LEAST_PAIRS,
        screen_above: usize::MAX,
        constraints: 0,
    };
    let mut race = Race::new(lists.len(), rules);
    let mut results = WaitsByHistory(Vec::new());
    while !race.is_decided() && race.seen() < MOST_PAIRS && !ends.is_over() {
        let stays = stretches.history(seed, race.seen());
        let other = Trial { stays: &stays, given: None, ..*trial };
        let racing = race.racing();
        let value = |own: usize| -> Option<f64> {
            let waits = other.waits(lists[own], 0..stays.len(), f64::MAX)?;
            Some(libm::log1p(mean(&waits).unwrap_or(0.0)))
        };
        let row = (0..lists.len()).into_par_iter();
        results.0.push(row.map(|own| racing.contains(&own).then(|| value(own))?).collect());
        race.advance(&results, race.seen() + 1);
    }
    let last = race.looks().last()?;
    let outcome = ListRace {
        finalists: lists.len(),
        survivors: race.racing().len(),
        histories: race.seen(),
        stretch: stretches.length,
        bound: Some(last.bound).filter(|bound| bound.is_finite()).map(libm::expm1),
    };
    Some((if race.equals().contains(&0) { 0 } else { last.leader }, outcome))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn histories_are_stretches_moved_as_they_are() {
        let stay = |number: i64| JobRecord {
            id: number.to_string(),
            submit: Some(1_000 + 1_800 * number),
            end: Some(1_000 + 1_800 * number + 7),
            ..JobRecord::default()
        };
        // Twenty whole hours with two jobs each, and one later job.
        let stays: Vec<JobRecord> = (0..41).map(stay).collect();
        let own = Stretches::of(&stays).unwrap();
        assert_eq!((own.of.len(), own.length), (20, 3_600));
        assert_eq!(own.wanted, 20, "fewer would have less than a hundred jobs");
        let history = own.history(1, 0);
        assert_eq!(history.len(), 40);
        assert_ne!(own.history(1, 1), history);
        assert_eq!(own.history(1, 0), history);
        for (place, pair) in history.chunks(2).enumerate() {
            let begins = 1_000 + 3_600 * place as i64;
            assert_eq!(pair[0].submit, Some(begins));
            assert_eq!((pair[1].submit, pair[1].end), (Some(begins + 1_800), Some(begins + 1_807)));
            let number: i64 = pair[0].id.parse().unwrap();
            assert_eq!((number % 2, &pair[1].id), (0, &(number + 1).to_string()));
        }
        assert!(Stretches::of(&[]).is_none());
    }
}
