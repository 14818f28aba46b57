//! Load sweeps of a network without jobs, run in parallel.

use std::fs;
use std::time::Instant;

use meshwork::network::traffic::{Carried, Offered, carry};
use meshwork::registry::Problem;
use rayon::prelude::*;

#[derive(Clone, Copy, Debug)]
pub struct LoadPoint {
    pub carried: Carried,
    /// CPU time of the simulation in seconds. If it is unknown, the wall-clock time.
    pub cpu_seconds: f64,
}

/// Simulates every load on its network, on `threads` threads; 0 uses one per processor.
pub fn sweep(loads: &[Offered], threads: usize) -> Result<Vec<LoadPoint>, Problem> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().map_err(|error| {
        Problem::new("threads", format!("{threads} threads cannot be started ({error})"))
    })?;
    let point = |offered: &Offered| {
        let begin = cpu_seconds();
        let wall = Instant::now();
        let carried = carry(offered)?;
        let cpu_seconds = match (begin, cpu_seconds()) {
            (Some(begin), Some(end)) => end - begin,
            _ => wall.elapsed().as_secs_f64(),
        };
        Ok(LoadPoint { carried, cpu_seconds })
    };
    pool.install(|| loads.par_iter().map(point).collect())
}

/// CPU time of this thread in seconds; `None` if the system does not report it.
fn cpu_seconds() -> Option<f64> {
    let text = fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let nanoseconds: f64 = text.split(' ').next()?.parse().ok()?;
    Some(nanoseconds / 1e9)
}

#[cfg(test)]
mod tests {
    use meshwork::network::traffic::TRAFFIC;
    use meshwork::network::wormhole::WormholeConfig;
    use meshwork::topology::Topology;

    use super::*;

    fn offered(sides: &[u32; 2], load: f64) -> Offered {
        Offered {
            topology: Topology::torus(sides).unwrap(),
            setting: WormholeConfig::default(),
            traffic: TRAFFIC[0],
            load,
            warmup: 500,
            cycles: 2_000,
            seed: 1,
        }
    }

    #[test]
    fn a_sweep_is_the_same_on_any_number_of_threads() {
        let loads: Vec<Offered> =
            (1..6_u8).map(|i| offered(&[4, 4], f64::from(i) * 0.05)).collect();
        let on = |threads| -> Vec<Carried> {
            sweep(&loads, threads).unwrap().iter().map(|point| point.carried).collect()
        };
        let one = on(1);
        assert_eq!(one, on(3));
        assert!(one.windows(2).all(|pair| pair[0].latency < pair[1].latency));
    }

    #[test]
    fn what_is_wrong_with_a_load_is_told() {
        let traffic = TRAFFIC.iter().find(|t| t.about.name == "bit_complement").unwrap();
        let bad = Offered { traffic, ..offered(&[6, 6], 0.1) };
        let problem = sweep(&[bad], 1).unwrap_err();
        assert_eq!(
            problem.message,
            "`bit_complement` needs a number of nodes that is a power of two, and the machine has 36"
        );
    }
}
