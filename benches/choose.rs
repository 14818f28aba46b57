//! Benchmark of `choose`, which finds the best candidate in a race. It prints a table.
//!
//! A race replicates all candidates, drops those that are certainly worse than another, and ends
//! when one is certainly good enough.
//!
//! A thousand races are run in each of several scenarios in which the means of all candidates are
//! known. The table says how often the chosen candidate is worse than the best by more than the
//! indifference zone, and how many runs a race takes. In the first scenarios, candidates are random
//! numbers with known means. The other scenarios are studies, raced by [`choose`]. The means of
//! their candidates are known from 2,000 replications of every candidate.
#![allow(clippy::print_stdout, reason = "a benchmark prints")]

use std::path::Path;

use meshwork::rng::Stream;
use meshwork_lab::Study;
use meshwork_lab::choose::race::{Field, NoValue, Race, RaceRules};
use meshwork_lab::choose::request::ChoiceRequest;
use meshwork_lab::choose::{ChooseOptions, choose};

/// Candidates of a race whose means are known, because their values are drawn from distributions.
///
/// The values of all candidates in one replication share a part of their noise.
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
        // Use the logarithm of an exponential, with mean 0 and variance 1: skewed, as the logarithm
        // of waits is.
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
    for (name, within, text) in STUDIES {
        of_study(name, within, text, races);
    }
}

/// Studies of the benchmark: the name, the indifference zone, and the TOML of each.
///
/// One run takes some tens of microseconds.
const STUDIES: [(&str, &str, &str); 3] = [
    (
        "study: 12 policies of a mesh, 10 %",
        "10%",
        "machine = { topology = 'mesh', dims = [4, 4] }\n\
         workload = { name = 'synthetic', load = 0.5, sizes = 'uniform', runtimes = { name = 'exponential', mean = 5.0 } }\n\
         measure = { jobs = 100, metrics = ['wait'] }\n\
         sweep = { scheduler = ['fcfs', 'easy', 'sjf', 'window'], allocator = ['first_fit', 'best_fit', 'random'] }\n",
    ),
    (
        "study: 6 windows of a queue, 2 %",
        "2%",
        "machine = { topology = 'flat', processors = 16 }\n\
         workload = { name = 'synthetic', load = 0.6, sizes = { name = 'uniform', max = 12 }, runtimes = { name = 'exponential', mean = 5.0 } }\n\
         measure = { jobs = 100, metrics = ['bounded_slowdown'] }\n\
         scheduler = 'window'\n\
         sweep = { 'scheduler.width' = [1, 2, 3, 4, 6, 8] }\n",
    ),
    (
        "study: 8 allocators of a torus, 5 %",
        "5%",
        "machine = { topology = 'torus', dims = [4, 4, 4] }\n\
         workload = { name = 'synthetic', load = 0.4, sizes = { name = 'uniform', max = 3 }, runtimes = { name = 'exponential', mean = 5.0 } }\n\
         measure = { jobs = 100, metrics = ['turnaround'] }\n\
         sweep = { allocator = ['first_fit', 'best_fit', 'frame_sliding', 'boundary_search'], scheduler = ['fcfs', 'easy'] }\n",
    ),
];

fn of_study(name: &str, within: &str, text: &str, races: u64) {
    let study = |seed: u64, more: &str| {
        let text = format!("seed = {seed}\n{more}{text}");
        Study::parse("study.toml", &text, Path::new(""), &[]).expect("a valid study")
    };
    let truth = study(1_000_000_000, "replications = 2000\n");
    let found = meshwork_lab::run(&truth, &meshwork_lab::Options::default()).expect("runs");
    let means: Vec<f64> = (found.results.runs.iter())
        .map(|runs| {
            let metric = &found.summary.rows[0].metrics[0].0;
            let logs: Vec<f64> = runs.measured(metric).map(|(_, value)| value.ln()).collect();
            logs.iter().sum::<f64>() / logs.len() as f64
        })
        .collect();
    let best = means.iter().copied().fold(f64::INFINITY, f64::min);
    let zone =
        within.trim_end_matches('%').parse::<f64>().map_or(f64::NAN, |percent| percent / 100.0);
    let (mut wrong, mut runs, mut pairs, mut two_stages) = (0, 0, 0, 0);
    for race in 0..races {
        let request = ChoiceRequest { within: within.to_owned(), ..ChoiceRequest::default() };
        // Only even seeds are used here, because the winner is measured again with the next seed.
        let options = ChooseOptions { request, ..ChooseOptions::default() };
        let choice = choose(&study(2 * race, ""), &options).expect("a choice");
        let is_wrong = |own: &usize| means[*own] > best + zone.ln_1p();
        wrong += u32::from(choice.equal.iter().any(is_wrong));
        runs += choice.runs;
        pairs += choice.pairs;
        two_stages += choice.clark_yang.unwrap_or(0);
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
