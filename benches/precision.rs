//! Benchmark of the stopping rule of `precision` on values with known means. It prints a table.
//!
//! The rule adds replications of a scenario until an interval of the mean is narrow enough. Two
//! variants of the rule are compared: one stops by Meshwork's confidence sequence, the other by an
//! ordinary confidence interval. A thousand scenarios are replicated by each variant. The table
//! says how often the interval by which a variant stops misses the mean, how many replications a
//! scenario takes, and how often the mean is missed by the ordinary interval of all replications
//! (printed as ± in tables).
#![allow(clippy::print_stdout, reason = "a benchmark prints")]

use meshwork::observe::recorder::Measured;
use meshwork::rng::Stream;
use meshwork::scenario::Outcome;
use meshwork_lab::run::store::RunFindings;
use meshwork_lab::run::{Run, ScenarioRuns, more, watched};
use meshwork_lab::statistics::{half_width, mean};
use meshwork_lab::study::Replications;

const SCENARIOS: u64 = 1000;
const LEAST: u64 = 5;
const MOST: u64 = 5_000;

fn normal(stream: &mut Stream) -> f64 {
    let (a, b) = (stream.unit(), stream.unit());
    (-2.0 * a.ln()).sqrt() * (std::f64::consts::TAU * b).cos()
}

/// Function that draws the result of one replication, a random value with mean 1.
type Draw = fn(&mut Stream) -> f64;

/// Stopping rule, as a function that replicates a scenario until an interval is narrow enough.
///
/// The half-width of the interval must be at most the given share of the mean.
type Rule = fn(f64, &mut Stream, Draw) -> Stopped;

/// Outcome of a stopping rule in one scenario.
struct Stopped {
    values: Vec<f64>,
    /// Whether the last interval that the stopping rule computed does not contain the true mean.
    is_missed: bool,
}

/// The stopping rule that Meshwork uses, based on a confidence sequence.
fn by_sequence(target: f64, stream: &mut Stream, draw: Draw) -> Stopped {
    let of = "wait".to_owned();
    let rule = Replications::Precision { target, least: LEAST, most: MOST, of };
    let mut runs = ScenarioRuns::default();
    let mut outcome = Outcome::default();
    outcome.metrics = vec![Measured { name: "wait", value: None, batches: Vec::new() }];
    loop {
        let wanted = more(&rule, &runs);
        if wanted == runs.len() as u64 {
            break;
        }
        for replication in runs.len() as u64..wanted {
            outcome.metrics[0].value = Some(draw(stream));
            let (key, result) = (String::new(), Ok(RunFindings::of(&outcome)));
            runs.push(Run { key, replication, result });
        }
    }
    let [mean, half_width] = watched("wait", &runs).expect("values");
    let values = runs.measured("wait").map(|(_, value)| value).collect();
    Stopped { values, is_missed: (mean - 1.0).abs() > half_width }
}

/// A stopping rule based on an ordinary confidence interval.
fn by_ordinary(target: f64, stream: &mut Stream, draw: Draw) -> Stopped {
    let (mut values, mut wanted) = (Vec::new(), LEAST);
    loop {
        values.extend((values.len() as u64..wanted).map(|_| draw(stream)));
        let half_width = half_width(&values).expect("values");
        let mean = mean(&values).expect("values");
        let ratio = half_width / (target * mean.abs());
        if ratio <= 1.0 || wanted == MOST {
            return Stopped { values, is_missed: (mean - 1.0).abs() > half_width };
        }
        let guess = (wanted as f64 * ratio * ratio).ceil().min(2.0 * wanted as f64) as u64;
        wanted = guess.max(wanted + 1).min(MOST);
    }
}

fn main() {
    let draws: [(&str, Draw); 4] = [
        ("normal, deviation 0.3", |stream| 1.0 + 0.3 * normal(stream)),
        ("lognormal, deviation 0.5 of logarithms", |stream| (0.5 * normal(stream) - 0.125).exp()),
        ("exponential", |stream| -stream.unit().ln()),
        ("lognormal, deviation 1 of logarithms", |stream| (normal(stream) - 0.5).exp()),
    ];
    println!("{SCENARIOS} scenarios each; level 5 %\n");
    println!(
        "{:40} {:>6}  {:9} {:>7} {:>7} {:>7} {:>7}",
        "", "within", "by", "runs", "missed", "off", "±"
    );
    for (name, draw) in draws {
        for target in [0.1, 0.2] {
            let rules: [(&str, Rule); 2] = [("ordinary", by_ordinary), ("sequence", by_sequence)];
            for (by, rule) in rules {
                let (mut runs, mut missed, mut off, mut shown) = (0, 0, 0, 0);
                for seed in 0..SCENARIOS {
                    let Stopped { values, is_missed } =
                        rule(target, &mut Stream::new(seed, 0, name), draw);
                    let error = (mean(&values).expect("values") - 1.0).abs();
                    runs += values.len() as u64;
                    missed += u64::from(is_missed);
                    off += u64::from(error > target);
                    shown += u64::from(error > half_width(&values).expect("values"));
                }
                let share =
                    |count: u64| format!("{:.1} %", 100.0 * count as f64 / SCENARIOS as f64);
                println!(
                    "{name:40} {:>4} %  {by:9} {:>7} {:>7} {:>7} {:>7}",
                    100.0 * target,
                    runs / SCENARIOS,
                    share(missed),
                    share(off),
                    share(shown)
                );
            }
        }
    }
}
