//! Growth of the cost per event with the queue, the machine, and the number of requested shapes.
//!
//! ```text
//! cargo run --release -p meshwork-benches --bin growth
//! ```
//!
//! The program prints a table in which each row varies one of these quantities. A point of a row is
//! the CPU time per event in a run with a queue of constant length: the queue is full from the
//! beginning, and jobs arrive as fast as jobs end. The run is made twice, up to the 2000th and up
//! to the 4000th end of a job. The difference of the CPU times is divided by the arrivals and ends
//! in between. The exponent of a row is the slope through its points on logarithmic axes.

#![allow(clippy::print_stdout, reason = "a program says what it found")]

use std::fs;
use std::time::Instant;

use meshwork_benches::{Log, scenario};

/// Number of job ends in the first of the two runs for each measured point.
///
/// The second run has twice as many.
const ENDS: u64 = 2_000;

/// Smallest difference between the CPU times of two runs that does not count as noise.
///
/// The two runs belong to one measurement. The difference is a fraction of the sum of both times.
const LEAST_SHARE: f64 = 0.03;

/// Maximum CPU time of one measurement, in seconds. After a longer measurement, its table row ends.
const MOST_SECONDS: f64 = 5.0;

/// CPU seconds of this process, or wall-clock seconds if the system does not report CPU time.
fn cpu_seconds(since: Instant) -> f64 {
    let stat = fs::read_to_string("/proc/self/schedstat").unwrap_or_default();
    let nanoseconds = stat.split_whitespace().next().and_then(|first| first.parse::<f64>().ok());
    nanoseconds.map_or_else(|| since.elapsed().as_secs_f64(), |nanoseconds| nanoseconds / 1e9)
}

/// Queue length, machine and requests of the two runs that make one point of the table.
struct Point<'p> {
    scheduler: &'p str,
    machine: String,
    nodes: u32,
    queue: u64,
    shapes: u32,
}

impl Point<'_> {
    /// CPU seconds per event, from two runs of different length, and the sum of their CPU seconds.
    ///
    /// The first value is `None` if the CPU times of the runs differ by no more than noise.
    fn measure(&self) -> (Option<f64>, f64) {
        let log = Log::waiting(self.queue, 3 * ENDS, self.nodes, self.shapes);
        let mut looks = [0.0; 2];
        for (ends, seconds) in (1..).zip(&mut looks) {
            let scenario = scenario(&format!(
                "machine = {{ {} }}
                 scheduler = '{}'
                 workload = {{ name = 'swf', path = 'log.swf' }}
                 measure = {{ jobs = {}, metrics = ['wait'] }}",
                self.machine,
                self.scheduler,
                ends * ENDS,
            ));
            let clock = Instant::now();
            let began = cpu_seconds(clock);
            scenario.run(0, &log, &mut ()).expect("the log is right");
            *seconds = cpu_seconds(clock) - began;
        }
        let events = 2 * ENDS; // one job arrives for each job that ends
        let (between, both) = (looks[1] - looks[0], looks[0] + looks[1]);
        ((between > LEAST_SHARE * both).then_some(between / events as f64), both)
    }
}

/// Exponent of the growth: the slope of a line through `points`, as (x, y), on logarithmic axes.
fn exponent(points: &[(f64, f64)]) -> f64 {
    let logs: Vec<(f64, f64)> = points.iter().map(|(x, y)| (x.ln(), y.ln())).collect();
    let count = logs.len() as f64;
    let mean = |of: fn(&(f64, f64)) -> f64| logs.iter().map(of).sum::<f64>() / count;
    let (x, y) = (mean(|p| p.0), mean(|p| p.1));
    let both: f64 = logs.iter().map(|p| (p.0 - x) * (p.1 - y)).sum();
    both / logs.iter().map(|p| (p.0 - x).powi(2)).sum::<f64>()
}

/// Prints a row of the table: the cost per event for each value of the varied quantity.
///
/// The row ends early after a point that took longer than the limit of CPU time.
fn row(name: &str, values: &[u64], point: impl Fn(u64) -> Point<'static>) {
    let (mut points, mut cells) = (Vec::new(), Vec::new());
    for &value in values {
        let (cost, seconds) = point(value).measure();
        points.extend(cost.map(|cost| (value as f64, cost)));
        cells.push(cost.map_or_else(String::new, |cost| format!("{:.2} µs", cost * 1e6)));
        if seconds > MOST_SECONDS {
            break;
        }
    }
    cells.resize(values.len(), String::new());
    let cells = cells.join(" | ");
    println!("| {name} | {cells} | {:.2} |", exponent(&points));
}

fn heading(what: &str, values: &[u64]) {
    let values: Vec<String> = values.iter().map(u64::to_string).collect();
    println!(
        "\n| {what} | {} | exponent |\n|{}",
        values.join(" | "),
        "---|".repeat(values.len() + 2)
    );
}

/// TOML of a three-dimensional torus with about `nodes` nodes, and its exact number of nodes.
fn torus(nodes: u64) -> (String, u32) {
    let side = (nodes as f64).cbrt().round() as u32;
    (format!("topology = 'torus', dims = [{side}, {side}, {side}]"), side.pow(3))
}

fn flat(nodes: u64) -> (String, u32) {
    (format!("topology = 'flat', processors = {nodes}"), nodes as u32)
}

fn main() {
    type Machine = fn(u64) -> (String, u32);
    let cases: [(&str, &str, Machine); 6] = [
        ("`fcfs`, flat", "fcfs", flat),
        ("`easy`, flat", "easy", flat),
        ("`conservative`, flat", "conservative", flat),
        ("`fcfs`, torus", "fcfs", torus),
        ("`easy`, torus", "easy", torus),
        ("`conservative`, torus", "conservative", torus),
    ];
    let only = std::env::args().nth(1);
    let wanted = |name: &str| only.as_deref().is_none_or(|only| only == name);
    if wanted("queue") {
        let queues = [100, 1_000, 10_000, 100_000, 1_000_000];
        heading("jobs that wait, on 1000 nodes, 30 shapes", &queues);
        for (name, scheduler, machine) in cases {
            row(name, &queues, |queue| {
                let (machine, nodes) = machine(1_000);
                Point { scheduler, machine, nodes, queue, shapes: 30 }
            });
        }
    }
    if wanted("machine") {
        let sizes = [100, 1_000, 10_000, 100_000, 1_000_000];
        heading("nodes, with 100 jobs that wait, 30 shapes", &sizes);
        for (name, scheduler, machine) in cases {
            row(name, &sizes, |nodes| {
                let (machine, nodes) = machine(nodes);
                Point { scheduler, machine, nodes, queue: 100, shapes: 30 }
            });
        }
    }
    if wanted("shapes") {
        let shapes = [1, 10, 100, 1_000];
        heading("shapes, with 3000 jobs that wait, on 10,000 nodes", &shapes);
        for (name, scheduler, machine) in cases {
            row(name, &shapes, |shapes| {
                let (machine, nodes) = machine(10_000);
                Point { scheduler, machine, nodes, queue: 3_000, shapes: shapes as u32 }
            });
        }
    }
}
