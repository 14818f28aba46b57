use meshwork::rng::Stream;

use super::*;
use crate::tests::normal;

/// Made-up candidates with known means. Part of their random noise is common to all of them.
struct Known {
    means: Vec<f64>,
    shared: f64,
    own: f64,
    seed: u64,
    excesses: Vec<f64>,
    growing: Vec<usize>,
}

impl Field for Known {
    fn value(&self, candidate: usize, replication: u64) -> Result<f64, NoValue> {
        let shared = normal(&mut Stream::new(self.seed, replication, "shared"));
        let name = format!("own{candidate}");
        let own = normal(&mut Stream::new(self.seed, replication, &name));
        Ok(self.means[candidate] + self.shared * shared + self.own * own)
    }

    fn excess(&self, candidate: usize, _: usize, replication: u64) -> Result<f64, NoValue> {
        let name = format!("excess{candidate}");
        let noise = 0.2 * normal(&mut Stream::new(self.seed, replication, &name));
        Ok(self.excesses[candidate] + noise)
    }

    fn is_growing(&self, candidate: usize) -> bool {
        self.growing.contains(&candidate)
    }
}

fn known(means: &[f64], seed: u64) -> Known {
    let (means, growing) = (means.to_vec(), Vec::new());
    Known { excesses: vec![0.0; means.len()], means, shared: 1.0, own: 0.3, seed, growing }
}

fn rules(within: f64) -> RaceRules {
    RaceRules { alpha: 0.05, within, least: 20, screen_above: 300, constraints: 0 }
}

fn raced(field: &Known, rules: RaceRules) -> Race {
    let mut race = Race::new(field.means.len(), rules);
    while !race.is_decided() {
        let wanted = race.wanted();
        race.advance(field, wanted.into_iter().max().unwrap());
    }
    race
}

#[test]
fn the_chosen_is_within_the_zone_of_the_best() {
    // At most 5 % of 200 races may go wrong, plus three standard errors.
    let mut wrong = 0;
    for seed in 0..200 {
        let mut draws = Stream::new(9, seed, "means");
        let means: Vec<f64> = (0..8).map(|_| 0.3 * normal(&mut draws).abs()).collect();
        let race = raced(&known(&means, seed), rules(0.1));
        let best = means.iter().copied().fold(f64::INFINITY, f64::min);
        let leader = race.looks().last().unwrap().leader;
        assert!(race.equals().contains(&leader));
        let is_wrong = |own: &usize| means[*own] > best + 0.1;
        wrong += u32::from(race.equals().iter().any(is_wrong));
    }
    assert!(wrong <= 19, "{wrong} of 200");
}

#[test]
fn nothing_depends_on_how_many_replications_come_at_once() {
    let field = known(&[0.0, 0.05, 0.2, 0.4, 0.02], 3);
    let one = raced(&field, rules(0.03));
    let mut other = Race::new(5, rules(0.03));
    other.advance(&field, 7);
    other.advance(&field, 5_000);
    assert_eq!((one.fates(), one.looks()), (other.fates(), other.looks()));
    assert!(one.pairs() > 20 && other.seen() == one.seen());
}

#[test]
fn a_race_agrees_with_intervals_computed_anew() {
    let field = known(&[0.0, 0.3, 0.02], 4);
    let race = raced(&field, rules(0.05));
    for one in 0..3 {
        let Fate::Beaten { by, pairs, difference, least } = race.fates()[one] else { continue };
        let moments: RunningMoments = (0..pairs)
            .map(|r| field.value(one, r).unwrap() - field.value(by, r).unwrap())
            .collect();
        let [low, _] = moments.ends(0.05 / 2.0);
        assert!((low - least).abs() < 1e-9 && (moments.mean() - difference).abs() < 1e-9);
        assert!(low > 0.0 && pairs >= 20);
    }
    assert!(matches!(race.fates()[1], Fate::Beaten { .. }));
}

#[test]
fn equal_candidates_end_the_race_as_equals() {
    let race = raced(&known(&[0.0, 0.0, 0.0, 2.0], 1), rules(0.2));
    assert_eq!(race.equals(), [0, 1, 2]);
    let copies = Known { own: 0.0, ..known(&[1.0, 1.0], 1) };
    let race = raced(&copies, rules(0.2));
    assert_eq!((race.equals(), race.pairs()), (vec![0, 1], 20), "the same runs are equal");
}

#[test]
fn growing_queues_leave_first() {
    let field = Known { growing: vec![0], ..known(&[0.0, 1.0, 2.0], 2) };
    let race = raced(&field, rules(0.1));
    assert_eq!(race.fates()[0], Fate::Growing);
    assert_eq!((race.values(0).len() as u64, race.equals()), (FIRST_LOOK, vec![1]));
}

#[test]
fn who_breaks_a_constraint_neither_wins_nor_drops_others() {
    let mut field = known(&[0.0, 0.5, 1.0], 5);
    field.excesses = vec![0.5, -0.5, -0.5];
    let race = raced(&field, RaceRules { constraints: 1, ..rules(0.1) });
    assert!(matches!(race.fates()[0], Fate::Unfit { constraint: 0, .. }));
    assert_eq!(race.equals(), [1]);
    field.excesses = vec![0.5; 3];
    let race = raced(&field, RaceRules { constraints: 1, ..rules(0.1) });
    assert!(race.racing().is_empty() && race.equals().is_empty());
}

#[test]
fn a_screening_leaves_finalists_that_race_on_fresh_replications() {
    let mut draws = Stream::new(1, 0, "many");
    let means: Vec<f64> = (0..400).map(|_| normal(&mut draws).abs()).collect();
    let field = known(&means, 6);
    let race = raced(&field, rules(0.1));
    let screened = race.fates().iter().filter(|fate| matches!(fate, Fate::Screened(_)));
    assert_eq!(screened.count(), 400 - FINALISTS);
    assert_eq!((race.screening(), race.pairs()), (16, race.seen() - 16));
    let best = means.iter().copied().fold(f64::INFINITY, f64::min);
    assert!(race.equals().iter().all(|&own| means[own] <= best + 0.1));
}

#[test]
fn the_cost_of_two_stages_is_that_of_their_formula() {
    let field = Known { shared: 0.0, own: 1.0, ..known(&[0.0, 0.0], 8) };
    let race = raced(&field, rules(0.25));
    let moments: RunningMoments =
        (0..20).map(|r| field.value(0, r).unwrap() - field.value(1, r).unwrap()).collect();
    // Tables of Student's t give t(0.95; 19) = 1.729.
    let each = (1.729_133 * 1.729_133 * moments.variance() / 0.0625).ceil() as u64;
    assert_eq!(race.clark_yang(), Some(2 * each));
}

#[test]
fn a_value_off_the_scale_ends_the_race_and_a_failure_only_its_candidate() {
    struct Odd;
    impl Field for Odd {
        fn value(&self, candidate: usize, replication: u64) -> Result<f64, NoValue> {
            match (candidate, replication) {
                (0, 3) => Err(NoValue::Failed("no".to_owned())),
                (1, 9) => Err(NoValue::OffScale("zero".to_owned())),
                _ => Ok(replication as f64),
            }
        }
        fn excess(&self, _: usize, _: usize, _: u64) -> Result<f64, NoValue> {
            Ok(0.0)
        }
        fn is_growing(&self, _: usize) -> bool {
            false
        }
    }
    let mut race = Race::new(3, rules(0.1));
    race.advance(&Odd, 100);
    assert_eq!((&race.fates()[0], race.problem()), (&Fate::Failed("no".into()), Some("zero")));
    assert!(race.is_decided() && race.seen() == 10);
}
