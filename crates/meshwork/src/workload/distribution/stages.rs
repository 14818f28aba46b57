//! Two-stage distribution of job sizes: serial jobs, then parallel jobs with two ranges of sizes.

use crate::rng::Stream;

/// Job sizes in two stages: serial jobs, then parallel jobs, many small and few large.
///
/// The base-2 logarithm of a parallel size is uniform among the small sizes, and uniform among the
/// large ones.
///
/// Source: Lublin & Feitelson, JPDC 63(11), 2003; uniform logarithms as in Downey (1997).
#[derive(Clone, Debug, PartialEq)]
pub struct Stages {
    /// Share of jobs with one processor.
    pub p_serial: f64,
    /// Share of jobs whose size is rounded to a power of two.
    pub p_pow2: f64,
    /// Base-2 logarithm of the size of the smallest parallel job.
    pub u_low: f64,
    /// Base-2 logarithm of the size that separates small from large parallel jobs.
    pub u_med: f64,
    /// Base-2 logarithm of the size of the largest parallel job.
    pub u_hi: f64,
    /// Share of small jobs among the parallel jobs.
    pub u_prob: f64,
}

impl Stages {
    /// Draws the number of processors of a job.
    pub fn draw(&self, stream: &mut Stream) -> u32 {
        let kind = stream.unit();
        if kind <= self.p_serial {
            return 1;
        }
        let (low, high) = if stream.unit() <= self.u_prob {
            (self.u_low, self.u_med)
        } else {
            (self.u_med, self.u_hi)
        };
        let mut exponent = low + (high - low) * stream.unit();
        if kind <= self.p_serial + self.p_pow2 {
            // Rounding up must not exceed a machine whose size is not a power of two.
            exponent = libm::round(exponent).min(libm::floor(self.u_hi));
        }
        libm::round(libm::exp2(exponent)) as u32
    }

    /// Fits the distribution to given sizes of jobs.
    ///
    /// 400 borders between small and large jobs are tried. The best one has the smallest maximum
    /// distance between two distribution functions of parallel jobs: that of the model's rounded
    /// sizes, and that of the given sizes. The shares of serial jobs and of powers of two are taken
    /// from the given sizes.
    ///
    /// ```
    /// use meshwork::workload::distribution::Stages;
    /// let stages = Stages::fitted(&[1, 1, 2, 4, 4, 8, 16, 64]);
    /// assert_eq!((stages.p_serial, stages.u_hi), (0.25, 6.0));
    /// assert!(stages.p_serial + stages.p_pow2 > 0.99, "all are powers of two");
    /// ```
    ///
    /// # Complexity
    /// **O(n log n + 400 d)** for *n* sizes of which *d* are different.
    #[must_use]
    pub fn fitted(sizes: &[u64]) -> Stages {
        /// Base-2 logarithm of 1.5. A size whose logarithm is above this is rounded to 2 or more.
        const LOW: f64 = 0.584_962_500_721_156_2;
        const PLACES: u32 = 400;
        let mut parallel: Vec<u64> = sizes.iter().copied().filter(|&size| size > 1).collect();
        parallel.sort_unstable();
        let (all, some) = (sizes.len().max(1) as f64, parallel.len() as f64);
        let p_serial = 1.0 - some / all;
        let Some(&largest) = parallel.last() else {
            let u = LOW;
            return Stages { p_serial: 1.0, p_pow2: 0.0, u_low: u, u_med: u, u_hi: u, u_prob: 1.0 };
        };
        let high = libm::log2(largest as f64);
        // For each size, the logarithms between which it is the rounded size, and the shares of
        // parallel jobs that are smaller, and at most as large.
        let mut steps: Vec<[f64; 4]> = Vec::new();
        for (i, &size) in parallel.iter().enumerate() {
            let (place, size) = (i as f64, size as f64);
            let edges = [libm::log2(size - 0.5).max(LOW), libm::log2(size + 0.5).min(high)];
            match steps.last_mut().filter(|last| last[0] >= edges[0]) {
                Some(last) => last[3] = (place + 1.0) / some,
                None => steps.push([edges[0], edges[1], place / some, (place + 1.0) / some]),
            }
        }
        let up_to = |log: f64| match steps.partition_point(|step| step[1] <= log) {
            0 => 0.0,
            passed => steps[passed - 1][3],
        };
        let mut best = (f64::INFINITY, high, 1.0);
        for place in 1..=PLACES {
            let med = LOW + (high - LOW) * f64::from(place) / f64::from(PLACES);
            let share = if place == PLACES { 1.0 } else { up_to(med) };
            let off = |log: f64, known: f64| (piecewise(LOW, med, high, share, log) - known).abs();
            let distance = steps
                .iter()
                .map(|&[from, to, below, up_to]| off(from, below).max(off(to, up_to)))
                .fold(0.0, f64::max);
            if distance < best.0 {
                best = (distance, med, share);
            }
        }
        let (_, u_med, u_prob) = best;
        let powers = parallel.iter().filter(|size| size.is_power_of_two()).count() as f64 / some;
        // Some sizes are powers of two without having been rounded to one.
        let law = |log: f64| piecewise(LOW, u_med, high, u_prob, log);
        let by_chance: f64 = (1..=libm::floor(high) as i32)
            .map(f64::from)
            .map(|exponent| {
                let size = libm::exp2(exponent);
                law(libm::log2(size + 0.5).min(high)) - law(libm::log2(size - 0.5).max(LOW))
            })
            .sum();
        let rounded = ((powers - by_chance) / (1.0 - by_chance)).clamp(0.0, 1.0);
        let rounded = if rounded.is_nan() { 1.0 } else { rounded };
        let p_pow2 = rounded * (1.0 - p_serial);
        Stages { p_serial, p_pow2, u_low: LOW, u_med, u_hi: high, u_prob }
    }
}

/// Probability that the logarithm of a parallel job's size is at most `log`. The logarithm is
/// uniform from `low` to `med` and from `med` to `high`; `share` is the probability of the first
/// range.
fn piecewise(low: f64, med: f64, high: f64, share: f64, log: f64) -> f64 {
    if log <= low {
        return 0.0;
    }
    if log <= med {
        return share * (log - low) / (med - low);
    }
    if log >= high {
        return 1.0;
    }
    share + (1.0 - share) * (log - med) / (high - med)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fit_finds_what_was_drawn() {
        let stages =
            Stages { p_serial: 0.3, p_pow2: 0.4, u_low: 0.6, u_med: 4.0, u_hi: 8.0, u_prob: 0.8 };
        let mut stream = Stream::new(1, 0, "stages");
        let sizes: Vec<u64> = (0..50_000).map(|_| u64::from(stages.draw(&mut stream))).collect();
        let fitted = Stages::fitted(&sizes);
        assert!((fitted.p_serial - 0.3).abs() < 0.01, "{fitted:?}");
        assert!((fitted.p_pow2 - 0.4).abs() < 0.03, "{fitted:?}");
        assert!((fitted.u_hi - 8.0).abs() < 0.01, "{fitted:?}");
        assert!(
            (fitted.u_prob - 0.8).abs() < 0.06 && (fitted.u_med - 4.0).abs() < 0.6,
            "{fitted:?}"
        );
        let again: Vec<u64> = (0..50_000).map(|_| u64::from(fitted.draw(&mut stream))).collect();
        let share = |sizes: &[u64], of: &dyn Fn(u64) -> bool| {
            sizes.iter().filter(|&&size| of(size)).count() as f64 / sizes.len() as f64
        };
        let powers = |sizes: &[u64]| share(sizes, &u64::is_power_of_two);
        assert!((powers(&sizes) - powers(&again)).abs() < 0.02);
        for bound in [2, 4, 10, 30, 100] {
            let (a, b) = (share(&sizes, &|s| s <= bound), share(&again, &|s| s <= bound));
            assert!((a - b).abs() < 0.05, "{bound}: {a} {b}");
        }
    }

    #[test]
    fn few_sizes_have_a_fit_too() {
        let mut stream = Stream::new(1, 0, "stages");
        for sizes in [&[1_u64, 1][..], &[2], &[7, 7, 7], &[1, 100_000]] {
            let fitted = Stages::fitted(sizes);
            for _ in 0..100 {
                let size = u64::from(fitted.draw(&mut stream));
                assert!((1..=*sizes.iter().max().unwrap()).contains(&size), "{sizes:?} {size}");
            }
        }
        assert_eq!(Stages::fitted(&[]).draw(&mut stream), 1);
    }
}
