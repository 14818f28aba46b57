//! Random speeds for the sites of a machine, with a given variance.

use crate::registry::{Kind, Param, Params, Problem, Range};
use crate::rng::Stream;
use crate::workload::distribution::functions::standard_normal;

/// Keys of the table `machine.speeds`.
pub static PARAMS: &[Param] = &[
    Param::new("variance", Kind::Number(Range::NonNegative))
        .help("the variance of the speeds over the sites (with n - 1), whose mean is 1"),
    Param::new("capacity_conserving", Kind::Flag).is("false").help(
        "whether they are then scaled so that all processors together are as fast as if \
               nothing had been drawn",
    ),
];

/// Minimum speed of a site. The speeds of all sites are drawn again if one of them is lower.
const SLOWEST: f64 = 0.1;

/// Number of draws of all sites' speeds from which the maximum variance is estimated.
const TRIED: usize = 1000;
/// Minimum number of the [`TRIED`] draws in which no site is slow. The largest permitted variance
/// follows from it.
const GOOD: usize = 20;

/// Generator of random speeds for the sites of a machine, with a given variance.
///
/// A set of speeds is one standard normal variate for each site, shifted and scaled so that the
/// mean is 1 and the sample variance (with divisor n − 1) is exactly the requested variance. A set
/// with a speed below 0.1 is drawn again. Of several generators, this one agrees best with the
/// report of Shih, Huang & Chung. They report that the fastest of five sites is on average 1.8,
/// 2.3, 3 and 4.2 times as fast as the slowest, at variances of 0.05, 0.1, 0.15 and 0.2.
#[derive(Clone, Debug, PartialEq)]
pub struct Speeds {
    variance: f64,
    /// Processors of each site times the speed that the study gives.
    weights: Vec<f64>,
    capacity_conserving: bool,
}

impl Speeds {
    /// Reads the parameters of random speeds. `weights` has the computing capacity of each site.
    ///
    /// # Errors
    /// If there is only one site and the variance is not 0, or if nearly every set of speeds with
    /// the requested variance has a speed below 0.1. The error is one sentence.
    pub fn read(params: &Params, weights: Vec<f64>) -> Result<Speeds, Problem> {
        let (variance, sites) = (params.number("variance"), weights.len());
        let refuse =
            |says: String| Err(params.refusal("variance", format!("is {variance}, but {says}")));
        if variance > 0.0 {
            if sites == 1 {
                return refuse("a single site has a speed of 1, and a variance of 0".to_owned());
            }
            let most = most_variance(sites);
            if variance > most {
                return refuse(format!(
                    "the speeds of {sites} sites, with a mean of 1, can hardly vary by more than {most} \
                     without one below {SLOWEST}"
                ));
            }
        }
        let capacity_conserving = params.flag("capacity_conserving");
        Ok(Speeds { variance, weights, capacity_conserving })
    }

    /// Draws a set of speeds: for each site a factor, relative to the speed that the study gives.
    pub fn draw(&self, stream: &mut Stream) -> Vec<f64> {
        let sites = self.weights.len();
        if sites == 1 {
            return vec![1.0];
        }
        let deviation = self.variance.sqrt();
        // `most_variance` ensures that more than one set in a hundred is valid.
        let mut speeds = loop {
            let set = standardised(sites, stream);
            let speeds: Vec<f64> = set.iter().map(|z| 1.0 + z * deviation).collect();
            if speeds.iter().all(|&speed| speed > SLOWEST) {
                break speeds;
            }
        };
        if self.capacity_conserving {
            let capacity: f64 = self.weights.iter().sum();
            let drawn: f64 = speeds.iter().zip(&self.weights).map(|(v, w)| v * w).sum();
            speeds.iter_mut().for_each(|speed| *speed *= capacity / drawn);
        }
        speeds
    }
}

/// Draws at least two normal variates, scaled to mean 0 and variance 1 (with divisor n − 1).
fn standardised(count: usize, stream: &mut Stream) -> Vec<f64> {
    loop {
        let drawn: Vec<f64> = (0..count).map(|_| standard_normal(stream)).collect();
        let mean = drawn.iter().sum::<f64>() / count as f64;
        let squares: f64 = drawn.iter().map(|z| (z - mean) * (z - mean)).sum();
        let deviation = (squares / (count - 1) as f64).sqrt();
        if deviation > 0.0 {
            return drawn.iter().map(|z| (z - mean) / deviation).collect();
        }
    }
}

/// Largest variance at which at least 2 % of random sets of speeds have no speed below 0.1.
///
/// It is rounded down to a multiple of 0.001. It is estimated on fixed sets, so that the validity
/// of a study does not depend on its seed.
fn most_variance(sites: usize) -> f64 {
    let mut stream = Stream::new(0, 0, "speeds.most_variance");
    let mut most: Vec<f64> = (0..TRIED)
        .map(|_| {
            let set = standardised(sites, &mut stream);
            let lowest = set.iter().copied().fold(f64::INFINITY, f64::min);
            let deviation = (SLOWEST - 1.0) / lowest;
            deviation * deviation
        })
        .collect();
    most.sort_unstable_by(f64::total_cmp);
    libm::floor(most[TRIED - GOOD] * 1000.0) / 1000.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::resolve;

    fn speeds(variance: f64, weights: &[f64], conserving: bool) -> Result<Speeds, Problem> {
        let given = format!("variance = {variance:?}\ncapacity_conserving = {conserving}");
        let params: Vec<&Param> = PARAMS.iter().collect();
        let params = resolve("machine.speeds", &params, &given.parse().unwrap(), &[])?;
        Speeds::read(&params, weights.to_vec())
    }

    /// Capacities of the five sites in the paper by Shih, Huang & Chung.
    const WEIGHTS: [f64; 5] = [8.0, 128.0, 128.0, 128.0, 50.0];

    fn sets(variance: f64, conserving: bool, count: u64) -> Vec<Vec<f64>> {
        let speeds = speeds(variance, &WEIGHTS, conserving).unwrap();
        (0..count).map(|i| speeds.draw(&mut Stream::new(1, i, "speeds"))).collect()
    }

    #[test]
    fn mean_and_variance_are_exact() {
        for variance in [0.0, 0.05, 0.1, 0.15, 0.2, 0.4] {
            for set in sets(variance, false, 200) {
                let mean = set.iter().sum::<f64>() / 5.0;
                let squares: f64 = set.iter().map(|v| (v - mean) * (v - mean)).sum();
                assert!((mean - 1.0).abs() < 1e-12);
                assert!((squares / 4.0 - variance).abs() < 1e-12, "{set:?}");
                assert!(set.iter().all(|&v| v > 0.1), "{set:?}");
            }
        }
        assert_eq!(sets(0.0, false, 1), [[1.0; 5]]);
        assert_eq!(sets(0.0, true, 1), [[1.0; 5]]);
    }

    #[test]
    fn capacity_is_conserved_where_that_is_asked_for() {
        for set in sets(0.2, true, 200) {
            let capacity: f64 = set.iter().zip(WEIGHTS).map(|(v, w)| v * w).sum();
            assert!((capacity - 442.0).abs() < 1e-9);
        }
    }

    /// Compares mean ratios of the largest to the smallest speed with 400,000 draws of another
    /// program. The paper of Shih, Huang & Chung reports 1.8, 2.3, 3 and 4.2 over ten draws.
    #[test]
    fn the_fastest_is_as_much_faster_as_is_known_of_this_generator() {
        for (variance, expected) in [(0.05, 1.77), (0.1, 2.31), (0.15, 2.93), (0.2, 3.70)] {
            let ratios = sets(variance, false, 20_000).into_iter().map(|set| {
                let fastest = set.iter().copied().fold(0.0, f64::max);
                fastest / set.iter().copied().fold(f64::INFINITY, f64::min)
            });
            let mean = ratios.sum::<f64>() / 20_000.0;
            assert!((mean - expected).abs() < 0.02, "{variance}: {mean}");
        }
    }

    #[test]
    fn the_same_luck_gives_the_same_order_at_any_variance() {
        let order = |set: &Vec<f64>| {
            let mut order: Vec<usize> = (0..5).collect();
            order.sort_by(|&a, &b| set[a].total_cmp(&set[b]));
            order
        };
        for (low, high) in sets(0.05, false, 50).iter().zip(&sets(0.2, false, 50)) {
            assert_eq!(order(low), order(high));
        }
    }

    #[test]
    fn a_variance_that_would_need_negative_speeds_is_refused() {
        let sentence = |variance, weights: &[f64]| speeds(variance, weights, false).unwrap_err();
        let five = sentence(3.0, &WEIGHTS);
        assert_eq!(five.path, "machine.speeds.variance");
        let beginning = "`machine.speeds.variance` is 3, but the speeds of 5 sites, with a mean of 1, \
                         can hardly vary by more than ";
        assert!(five.message.starts_with(beginning), "{}", five.message);
        // The variance determines the difference of two speeds: at most 2 × 0.9².
        assert!(speeds(1.61, &WEIGHTS[..2], false).is_ok());
        assert!(sentence(1.63, &WEIGHTS[..2]).message.contains("than 1.62 without one below 0.1"));
        assert_eq!(
            sentence(0.1, &WEIGHTS[..1]).message,
            "`machine.speeds.variance` is 0.1, but a single site has a speed of 1, and a variance of 0"
        );
        assert_eq!(
            sentence(-0.1, &WEIGHTS).message,
            "`machine.speeds.variance` is -0.1, but must be a number from 0 to 1e15"
        );
        // At the limit sets are still found, for few sites and for many.
        for sites in [2, 3, 5, 40] {
            let most = most_variance(sites);
            let weights = vec![1.0; sites];
            let set = speeds(most, &weights, false).unwrap().draw(&mut Stream::new(1, 0, "speeds"));
            assert!(set.iter().all(|&v| v > 0.1), "{most} for {sites} sites");
        }
    }
}
