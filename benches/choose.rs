//! A thousand races with known means, without a harness: prints a table.
//!
//! It says how often the choice is worse than the best by more than the indifference zone, and at
//! what cost.
#![allow(clippy::print_stdout, reason = "a benchmark prints")]

use meshwork::rng::Stream;
use meshwork_lab::choose::race::{Field, NoValue, Race, RaceRules};

/// Candidates with known means. Values of a replication share a part of their noise.
struct Known {
    means: Vec<f64>,
    shared: f64,
    own: f64,
    seed: u64,
    skewed: bool,
}

fn normal(stream: &mut Stream) -> f64 {
    let (a, b) = (stream.unit(), stream.unit());
    (-2.0 * a.ln()).sqrt() * (std::f64::consts::TAU * b).cos()
}

impl Field for Known {
    fn value(&self, candidate: usize, replication: u64) -> Result<f64, NoValue> {
        let shared = normal(&mut Stream::new(self.seed, replication, "shared"));
        let mut own = Stream::new(self.seed, replication, &format!("own{candidate}"));
        // Log of an exponential, with mean 0 and variance 1: skewed, as waits are on logarithms.
        let noise = if self.skewed {
            ((-own.unit().ln()).ln() + 0.577_215_664_9) / 1.282_549_830_2
        } else {
            normal(&mut own)
        };
        Ok(self.means[candidate] + self.shared * shared + self.own * noise)
    }

    fn excess(&self, _: usize, _: usize, _: u64) -> Result<f64, NoValue> {
        Ok(0.0)
    }

    fn is_growing(&self, _: usize) -> bool {
        false
    }
}

fn main() {
    let races = 1000;
    println!("{races} races each; at most 5 % may be wrong\n");
    println!("{:44} {:>6} {:>9} {:>9} {:>12}", "scenario", "wrong", "pairs", "runs", "Clark-Yang");
    let cases: [(&str, usize, f64, f64, bool); 5] = [
        ("20 candidates, spread, correlated 0.9", 20, 1.0, 0.25, false),
        ("20 candidates, near ties, correlated 0.9", 20, 0.3, 0.1, false),
        ("60 candidates, spread, correlated 0.9", 60, 1.0, 0.1, false),
        ("20 candidates, spread, skewed noise", 20, 1.0, 0.25, true),
        ("20 candidates, all equal", 20, 0.0, 0.25, false),
    ];
    for (name, count, spread, within, skewed) in cases {
        let (mut wrong, mut runs, mut pairs, mut two_stages) = (0, 0, 0, 0);
        for seed in 0..races {
            let mut draws = Stream::new(11, seed, name);
            let means: Vec<f64> = (0..count).map(|_| spread * normal(&mut draws).abs()).collect();
            let best = means.iter().copied().fold(f64::INFINITY, f64::min);
            let field = Known { means, shared: 0.9_f64.sqrt(), own: 0.1_f64.sqrt(), seed, skewed };
            let rules =
                RaceRules { alpha: 0.05, within, least: 20, screen_above: 3000, constraints: 0 };
            let mut race = Race::new(count, rules);
            while !race.is_decided() {
                race.advance(&field, race.seen() + 1);
            }
            let is_wrong = |own: &usize| field.means[*own] > best + within;
            wrong += u32::from(race.equals().iter().any(is_wrong));
            runs += (0..count).map(|own| race.values(own).len() as u64).sum::<u64>();
            pairs += race.pairs();
            two_stages += race.clark_yang().unwrap_or(0);
        }
        let mean = |sum: u64| sum / races;
        println!(
            "{name:44} {:>5.1}% {:>9} {:>9} {:>12}",
            100.0 * f64::from(wrong) / races as f64,
            mean(pairs),
            mean(runs),
            mean(two_stages)
        );
    }
}
