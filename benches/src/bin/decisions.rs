//! Times of decisions about jobs of 1 to 64 GPUs, on 5,000 half-full nodes of 8 GPUs in a tree.
//!
//! Decisions are timed for each order in which nodes are filled (key `order`), and for two
//! allocators. Other jobs end between decisions, so that the machine stays half full. CPU time is
//! measured if the system reports it, so that other programs hardly affect the times. Names of
//! orders after `--` limit the run to these orders.
//!
//! ```text
//! cargo run --release -p meshwork-benches --bin decisions -- first fgd
//! ```

#![allow(clippy::print_stdout, reason = "a program says what it found")]

use std::time::Instant;

use meshwork::alloc::parts::orders::NODE_ORDERS;
use meshwork::facility::Facility;
use meshwork::job::{Job, Piece, Pieces, Request, Time};
use meshwork::machine::Placement;
use meshwork::rng::Stream;
use meshwork_benches::scenario;

const DECISIONS: u32 = 200_000;

/// Random job of 1 to 64 GPUs.
///
/// A job of up to 8 GPUs gets them on one node. A larger job consists of pieces of 8 GPUs.
fn job(rng: &mut Stream) -> Job {
    let gpus = 1 << rng.below(7);
    let on_a_node = gpus.min(8);
    let piece = Piece {
        count: gpus / on_a_node,
        gpu: on_a_node,
        cpu: 12 * on_a_node,
        mem: 200_000 * on_a_node,
        ..Piece::default()
    };
    Job::new(1, Time::ZERO, Request::pieces(Pieces::of(piece)), 1.0)
}

/// CPU seconds of this process so far, or wall-clock seconds if the system reports no CPU time.
fn seconds(begun: Instant) -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The name of the program, in brackets, may have spaces. The 12th field after the name is the
    // CPU time in 1/100 s.
    let ticks = stat.rsplit(')').next().and_then(|rest| rest.split_whitespace().nth(11));
    let ticks = ticks.and_then(|ticks| ticks.parse::<f64>().ok());
    ticks.map_or_else(|| begun.elapsed().as_secs_f64(), |ticks| ticks / 100.0)
}

fn start(facility: &mut Facility, rng: &mut Stream) -> Option<Placement> {
    let proposal = facility.propose_at(0, &job(rng), Time::ZERO)?;
    facility.claim(0, &proposal.placement, Time::ZERO).expect("it is free");
    Some(proposal.placement)
}

fn main() {
    let selected: Vec<String> = std::env::args().skip(1).collect();
    let begun = Instant::now();
    let vectors = "{ name = 'vectors', of = [{ gpu = 1, cpu = 12 }, { gpu = 8, cpu = 96 }] }";
    for domain in ["naive", "fewest_leaves"] {
        for order in NODE_ORDERS {
            let name = order.about.name;
            if !selected.is_empty() && !selected.iter().any(|own| own == name) {
                continue;
            }
            let scenario = scenario(&format!(
                "allocator = '{domain}'\norder = '{name}'\nmeasure = {{ jobs = 1 }}\n\
                 machine = {{ topology = 'fat_tree', arity = [8, 25, 25], nodes = [{{ type = 'dgx' }}] }}\n\
                 workload = {{ name = 'synthetic', load = 0.5, sizes = {vectors}, \
                 runtimes = {{ name = 'constant', value = 1.0 }} }}"
            ));
            let mut facility = scenario.setup(0).expect("a setup").facility;
            let mut rng = Stream::new(11, 0, "jobs");
            let mut running = Vec::new();
            let half = facility.sites()[0].site().free_nodes() / 2;
            while facility.sites()[0].site().free_nodes() > half {
                running.extend(start(&mut facility, &mut rng));
            }
            let began = seconds(begun);
            for _ in 0..DECISIONS {
                running.extend(start(&mut facility, &mut rng));
                while facility.sites()[0].site().free_nodes() < half {
                    let ended = running.swap_remove(rng.below(running.len() as u64) as usize);
                    facility.release(0, &ended);
                }
            }
            let each = (seconds(begun) - began) * 1e6 / f64::from(DECISIONS);
            println!("{domain}, {name}: {each:.2} µs");
        }
    }
}
