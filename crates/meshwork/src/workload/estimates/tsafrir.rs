//! Model of users' estimates by Tsafrir, Etsion and Feitelson: users choose few round values.
//!
//! The longest permitted value is the most frequent.
//!
//! Source: D. Tsafrir, Y. Etsion and D. Feitelson, *Modeling user runtime estimates*, JSSPP 2005.
//! The constants are taken from the authors' program in the Parallel Workloads Archive.

use std::collections::BTreeSet;

use crate::job::Job;
use crate::registry::{About, Kind, Param, Params, Problem, Range};
use crate::rng::Stream;
use crate::workload::held::Held;
use crate::workload::{Submissions, WorkloadError};

use super::EstimatesEntry;

pub(super) static TSAFRIR: EstimatesEntry = EstimatesEntry {
    about: About::new(
        "tsafrir",
        "few round values, 20 of which nearly nine jobs of ten have, and the \
             longest more than any other",
    )
    .aliases(&["modal"])
    .definition(
        "Estimates are a list of values, of which 20 are popular: `max`, the values that all the \
         logs of the paper share (5, 10, 15, 20 and 30 minutes; 1 to 6, 8, 10, 12 and 18 hours), \
         and round ones down from `max`. Of them, the share of the one of rank x from 2 on is \
         14.0491 · exp(−0.177531 x) + 0.462513 percent, and `max`, the first, has what is missing \
         to `head`. Which value has which rank is drawn from the ranks that it or a shorter one \
         has in four logs. The others, as many as the logs have for so many jobs, have relative \
         times (a − 1) x / (a − x) for relative ranks x, with a = 1 + 12.1039 k^−0.6026 for k \
         values, in whole minutes, and shares in proportion to the power −2.267 of their ranks, 21 \
         and on. The list is given to the jobs at random, so that none runs for longer than its \
         estimate: jobs that ran for longer than `max` are cut to it, as a site would.",
    )
    .complexity("O(n log n) for n jobs, which are held in memory.")
    .source("Tsafrir, Etsion & Feitelson, JSSPP 2005, and the authors' program")
    .params(&[
        Param::new("max", Kind::Number(Range::AtLeastOne))
            .help("the longest estimate that the site allows, in seconds"),
        Param::new("popular", Kind::Tables(POPULAR))
            .absent("those of the model")
            .help("popular values of one's own site, up to 20"),
        Param::new("head", Kind::Number(Range::Share))
            .is("0.89")
            .help("the share of jobs with one of the 20 popular values"),
        Param::new("values", Kind::Integer(1, 100_000))
            .absent("as many as logs of so many jobs have")
            .help("how many values there are"),
    ]),
    holds_all: true,
    build,
};

const POPULAR: &[Param] = &[
    Param::new("time", Kind::Number(Range::Positive)).help("the estimate, in seconds"),
    Param::new("share", Kind::Number(Range::Share)).help("the share of jobs with it"),
];

/// Number of popular values. Most jobs have one of these values as their estimate.
const HEAD: usize = 20;

const MINUTE: f64 = 60.0;

/// Estimates that are popular in all four logs of the paper of Tsafrir et al., in minutes.
const SHARED: [f64; 15] = [
    5.0, 10.0, 15.0, 20.0, 30.0, 60.0, 120.0, 180.0, 240.0, 300.0, 360.0, 480.0, 600.0, 720.0,
    1_080.0,
];

/// Steps in minutes. Multiples of a step are popular estimates. When popular estimates are listed,
/// multiples of larger steps come first. Of the multiples of one step, the longest comes first.
const ROUND: [f64; 10] = [12_000.0, 6_000.0, 3_000.0, 600.0, 300.0, 120.0, 60.0, 20.0, 10.0, 5.0];

/// Popularity ranks of the popular values in four logs. Rank 1 is the most popular.
///
/// A row has the ranks of one value in the logs SDSC-SP2, CTC-SP2, KTH-SP2 (up to 4 h) and
/// SDSC-BLUE. The first row is for the longest value. The other rows are for the other values, from
/// the shortest to the second longest.
const RANKS: [[usize; 4]; HEAD] = [
    [3, 1, 1, 1],
    [1, 3, 4, 6],
    [4, 4, 10, 5],
    [17, 2, 14, 3],
    [13, 12, 20, 7],
    [7, 9, 2, 2],
    [8, 8, 3, 18],
    [18, 18, 7, 19],
    [2, 6, 12, 4],
    [6, 7, 6, 11],
    [16, 11, 19, 20],
    [10, 20, 5, 9],
    [5, 16, 18, 10],
    [15, 5, 16, 14],
    [14, 14, 9, 13],
    [19, 13, 17, 16],
    [11, 10, 15, 15],
    [12, 15, 13, 17],
    [9, 17, 8, 8],
    [20, 19, 11, 12],
];

/// Number of different estimates in a log, as a function of the log's number of jobs. The first
/// number of a pair counts jobs, and the second counts different estimates. Between two pairs, the
/// number of estimates is interpolated linearly.
const VALUES: [(f64, f64); 7] = [
    (0.0, 0.0),
    (20.0, 10.0),
    (200.0, 20.0),
    (1_000.0, 35.0),
    (10_000.0, 90.0),
    (70_000.0, 340.0),
    (250_000.0, 565.0),
];

/// Percentage of jobs whose estimate is the popular value with a given rank, which is 2 or more.
fn popularity(rank: usize) -> f64 {
    14.0491 * libm::exp(-0.177_531 * rank as f64) + 0.462_513
}

fn build(jobs: Submissions, params: &Params, mut stream: Stream) -> Result<Submissions, Problem> {
    let model = Model::new(params)?;
    let key = model.path.clone();
    Ok(Box::new(Held::new(jobs, key, move |jobs| model.assign(jobs, &mut stream))))
}

struct Model {
    path: String,
    max: f64,
    /// Estimates known to be popular at the site, each with its share of jobs; the most popular
    /// first.
    popular: Vec<(f64, f64)>,
    head: f64,
    values: Option<usize>,
}

impl Model {
    fn new(params: &Params) -> Result<Model, Problem> {
        let path = params.path().to_owned();
        let max = params.number("max");
        let tables = params.get_tables("popular").unwrap_or_default();
        let mut popular: Vec<(f64, f64)> =
            tables.iter().map(|table| (table.number("time"), table.number("share"))).collect();
        let refuse = |says: String| Err(params.refusal("popular", says));
        if popular.len() > HEAD {
            return refuse(format!("has {} values, but there are at most {HEAD}", popular.len()));
        }
        if let Some((time, _)) = popular.iter().find(|value| value.0 > max) {
            return refuse(format!("has a time of {time}, but `{path}.max` is {max}"));
        }
        let times: BTreeSet<u64> = popular.iter().map(|value| value.0.to_bits()).collect();
        if times.len() < popular.len() {
            return refuse("has a time twice".to_owned());
        }
        let sum: f64 = popular.iter().map(|value| value.1).sum();
        if sum > 1.0 + 1e-9 {
            return refuse(format!("has shares of {sum:.4} together, but must have at most 1"));
        }
        popular.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.total_cmp(&b.0)));
        let values = params.get_integer("values").map(|values| values as usize);
        Ok(Model { path, max, popular, head: params.number("head"), values })
    }

    /// Estimates that many users choose: the maximum first, then the others from the shortest on.
    fn popular_times(&self) -> Vec<f64> {
        let mut times = vec![self.max];
        let mut add = |time: f64| {
            let is_new = times.iter().all(|known| (known - time).abs() > 0.0);
            if times.len() < HEAD && time > 0.0 && time < self.max && is_new {
                times.push(time);
            }
        };
        self.popular.iter().for_each(|value| add(value.0));
        SHARED.iter().for_each(|minutes| add(minutes * MINUTE));
        for minutes in ROUND {
            let step = minutes * MINUTE;
            let most = libm::floor(self.max / step) as u64;
            // Multiples beyond the number of popular values cannot be used.
            (1..=most).rev().take(HEAD).for_each(|times| add(times as f64 * step));
        }
        times[1..].sort_by(f64::total_cmp);
        times
    }

    /// Popular estimates, each with its share of jobs.
    ///
    /// The shares sum to `head`, the share of all popular estimates, unless the shares that the
    /// study gives for the site already exceed it.
    fn popular_values(&self, stream: &mut Stream) -> Vec<(f64, f64)> {
        let times = self.popular_times();
        let known = |time: f64| self.popular.iter().find(|value| (value.0 - time).abs() <= 0.0);
        // Shares of jobs by rank. A value known for the site takes the rank with the nearest share.
        let mut shares: Vec<f64> = (2..=times.len()).map(popularity).collect();
        shares.insert(0, (100.0 * self.head - shares.iter().sum::<f64>()).max(popularity(1)));
        let mut reserved = [None; HEAD];
        for &(time, share) in &self.popular {
            let is_max = (time - self.max).abs() <= 0.0;
            let free =
                (0..times.len()).filter(|&rank| reserved[rank].is_none() && (rank > 0 || is_max));
            let off = |rank: usize| (shares[rank] - 100.0 * share).abs();
            let nearest = free.min_by(|&a, &b| off(a).total_cmp(&off(b)));
            if let Some(rank) = nearest {
                reserved[rank] = Some(time);
            }
        }
        let given: f64 = self.popular.iter().map(|value| value.1).sum();
        let rest: f64 =
            (0..times.len()).filter(|&r| reserved[r].is_none()).map(|r| shares[r]).sum();
        let left = (self.head - given).max(0.0);
        let place_of = |time: f64| {
            (0..times.len())
                .find(|&rank| reserved[rank].is_some_and(|t: f64| (t - time).abs() <= 0.0))
        };
        let own: Vec<Option<usize>> = times.iter().map(|&time| place_of(time)).collect();
        let ranks = ranks(&own, stream);
        let values = times.iter().zip(ranks).map(|(&time, rank)| match known(time) {
            Some(&(_, share)) => (time, share),
            None => (time, left * shares[rank] / rest),
        });
        values.collect()
    }

    /// All estimates with their shares of jobs, which sum to 1; the longest first.
    fn values(&self, jobs: usize, stream: &mut Stream) -> Vec<(f64, f64)> {
        let mut values = self.popular_values(stream);
        let count = self.values.unwrap_or_else(|| values_among(jobs)).max(1);
        let times = self.other_times(count, &values);
        let mut shares: Vec<f64> =
            (0..times.len()).map(|i| libm::pow((HEAD + 1 + i) as f64, -2.267)).collect();
        for last in (1..shares.len()).rev() {
            shares.swap(last, stream.below(last as u64 + 1) as usize);
        }
        let popular: f64 = values.iter().map(|value| value.1).sum();
        let sum: f64 = shares.iter().sum();
        // If there are no other values, all jobs have popular ones.
        let scale = if times.is_empty() && popular > 0.0 { 1.0 / popular } else { 1.0 };
        values.iter_mut().for_each(|value| value.1 *= scale);
        let left = (1.0 - popular).max(0.0);
        values
            .extend(times.into_iter().zip(shares).map(|(time, share)| (time, left * share / sum)));
        values.sort_by(|a, b| b.0.total_cmp(&a.0));
        values
    }

    /// Distinct estimates other than the popular ones, in whole minutes where possible. If a whole
    /// minute is already in use, a time up to 30 seconds away replaces it.
    fn other_times(&self, count: usize, popular: &[(f64, f64)]) -> Vec<f64> {
        const OFF: [f64; 7] = [0.0, 30.0, -30.0, 20.0, -20.0, 10.0, -10.0];
        let a = 1.0 + 12.1039 * libm::pow(count as f64, -0.6026);
        let others = count.saturating_sub(popular.len());
        let mut taken: BTreeSet<u64> = popular.iter().map(|value| value.0.to_bits()).collect();
        let mut times = Vec::new();
        for i in 1..=others {
            let x = i as f64 / others as f64;
            let time = libm::round((a - 1.0) * x / (a - x) * self.max / MINUTE) * MINUTE;
            let near = OFF.iter().map(|off| time + off);
            let free = near
                .filter(|&time| time > 0.0 && time < self.max)
                .find(|time| !taken.contains(&time.to_bits()));
            if let Some(time) = free {
                taken.insert(time.to_bits());
                times.push(time);
            }
        }
        times
    }

    /// Assigns the estimates to the jobs, after cutting run times to the maximum estimate.
    ///
    /// The longest job comes first. Each job receives a random one of the remaining estimates that
    /// are long enough for it.
    fn assign(&self, mut jobs: Vec<Job>, stream: &mut Stream) -> Result<Vec<Job>, WorkloadError> {
        let values = self.values(jobs.len(), stream);
        let mut estimates = rounded(&values, jobs.len());
        for job in &mut jobs {
            job.runtime = job.runtime.min(self.max);
        }
        let mut longest: Vec<usize> = (0..jobs.len()).collect();
        longest.sort_by(|&a, &b| jobs[b].runtime.total_cmp(&jobs[a].runtime));
        let short =
            longest.iter().zip(&estimates).filter(|&(&job, &time)| jobs[job].runtime > time);
        let short = short.count();
        if short > 0 {
            return Err(WorkloadError(format!(
                "`{0}` has no estimates for {short} of {1} jobs, which run for longer than those that are left: raise \
                 `{0}.max`, which is {2}, or give long `{0}.popular` values larger shares",
                self.path,
                jobs.len(),
                self.max
            )));
        }
        let mut end = 0;
        for (place, &job) in longest.iter().enumerate() {
            while end < estimates.len() && estimates[end] >= jobs[job].runtime {
                end += 1;
            }
            let chosen = place + stream.below((end - place) as u64) as usize;
            estimates.swap(place, chosen);
            jobs[job].estimate = estimates[place];
        }
        Ok(jobs)
    }
}

/// Usual number of different estimates in a log with a given number of jobs.
fn values_among(jobs: usize) -> usize {
    let jobs = jobs as f64;
    let above = VALUES.partition_point(|&(known, _)| known < jobs);
    let Some(&(to, high)) = VALUES.get(above) else {
        return VALUES[VALUES.len() - 1].1 as usize;
    };
    let (from, low) = VALUES[above.saturating_sub(1)];
    let into = if to > from { (jobs - from) / (to - from) } else { 0.0 };
    libm::round(low + into * (high - low)) as usize
}

/// Draws a popularity rank, from 0, for each popular value.
///
/// The values are in the order of [`Model::popular_times`]. `own` has the ranks that are already
/// known. The maximum gets rank 0, unless another value is known to have this rank. All other
/// values get their ranks one after another. For each value, the ranks that it has in the four logs
/// are first added to a pool of ranks. Then one of three rules applies:
///
/// - If some free rank belongs to no later value in any log, the value gets this rank.
/// - Otherwise, if the pool is empty, the value gets the best free rank.
/// - Otherwise, two ranks are drawn from the pool, and the value gets the better one.
fn ranks(own: &[Option<usize>], stream: &mut Stream) -> Vec<usize> {
    let count = own.len();
    let mut is_free = vec![true; count];
    own.iter().flatten().for_each(|&rank| is_free[rank] = false);
    let last_place = |rank: usize| RANKS.iter().rposition(|row| row.contains(&(rank + 1)));
    let mut pool: Vec<usize> = Vec::new();
    let mut ranks = Vec::with_capacity(count);
    for (place, own) in own.iter().enumerate() {
        pool.extend(RANKS[place].iter().map(|rank| rank - 1).filter(|&rank| rank < count));
        pool.retain(|&rank| is_free[rank]);
        let due = (0..count).find(|&rank| is_free[rank] && last_place(rank) <= Some(place));
        // The maximum is the most popular value, unless the popular values of the site say
        // otherwise.
        let known = own.or((place == 0 && is_free[0]).then_some(0)).or(due);
        let rank = match known {
            Some(rank) => rank,
            None if pool.is_empty() => {
                is_free.iter().position(|&free| free).expect("as many ranks as values")
            }
            None => {
                let mut draw = || pool[stream.below(pool.len() as u64) as usize];
                draw().min(draw())
            }
        };
        is_free[rank] = false;
        ranks.push(rank);
    }
    ranks
}

/// Expands values with shares to a list of `jobs` values, in the order of `values`. Each value is
/// repeated in proportion to its share. The numbers of repetitions are rounded so that they sum to
/// `jobs`. Numbers with the largest fractions are rounded up, and all others down.
fn rounded(values: &[(f64, f64)], jobs: usize) -> Vec<f64> {
    let exact = |share: f64| share * jobs as f64;
    let mut counts: Vec<usize> =
        values.iter().map(|&(_, share)| libm::floor(exact(share)) as usize).collect();
    let remainder = |i: usize| exact(values[i].1) - libm::floor(exact(values[i].1));
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| remainder(b).total_cmp(&remainder(a)).then(a.cmp(&b)));
    let left = jobs.saturating_sub(counts.iter().sum());
    for &i in order.iter().cycle().take(left) {
        counts[i] += 1;
    }
    let times = values.iter().zip(counts);
    let mut times: Vec<f64> =
        times.flat_map(|(&(time, _), count)| std::iter::repeat_n(time, count)).collect();
    times.truncate(jobs);
    times
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::super::tests::built;
    use super::*;

    const LUBLIN: &str = "name = 'lublin'\njobs = 20000\n";

    /// The jobs' different estimates, each with its share of jobs; the most popular first.
    fn shares(jobs: &[Job]) -> Vec<(f64, f64)> {
        let mut counts: BTreeMap<u64, f64> = BTreeMap::new();
        for job in jobs {
            *counts.entry(job.estimate.to_bits()).or_default() += 1.0;
        }
        let mut shares: Vec<(f64, f64)> = counts
            .into_iter()
            .map(|(time, count)| (f64::from_bits(time), count / jobs.len() as f64))
            .collect();
        shares.sort_by(|a, b| b.1.total_cmp(&a.1));
        shares
    }

    /// Checks generated estimates against the paper's findings on four logs. 89 % of the jobs have
    /// one of 20 values. No value has more jobs than the maximum estimate. If the values are
    /// ordered by their shares of jobs, these shares are those of the paper's fit.
    #[test]
    fn twenty_values_have_nearly_nine_jobs_of_ten_and_the_longest_most() {
        let given = format!("{LUBLIN}estimates = {{ name = 'tsafrir', max = 200000 }}");
        let jobs = built(&given).unwrap();
        let shares = shares(&jobs);
        let head: f64 = shares[..HEAD].iter().map(|value| value.1).sum();
        assert!((head - 0.89).abs() < 1e-3, "{head}");
        assert!(
            (shares[0].0 - 200_000.0).abs() < 1e-9 && (shares[0].1 - 0.2175).abs() < 1e-3,
            "{:?}",
            shares[0]
        );
        for (i, (_, share)) in shares[1..HEAD].iter().enumerate() {
            assert!((100.0 * share - popularity(i + 2)).abs() < 0.011, "{}: {share}", i + 2);
        }
        // The published table gives 90 values for 10,000 jobs and 340 for 70,000. The rarest
        // values, whose share is less than half a job, may be missing.
        assert_eq!(values_among(20_000), 132);
        assert!((100..=132).contains(&shares.len()), "{}", shares.len());
        let shared = SHARED.iter().filter(|&&minutes| {
            shares[..HEAD].iter().any(|value| (value.0 - minutes * MINUTE).abs() < 1e-9)
        });
        assert_eq!(shared.count(), 15);
        assert!(jobs.iter().all(|job| job.runtime <= job.estimate));
    }

    /// Checks models of four sites. The first has the CTC SP2's maximum estimate and number of
    /// jobs.
    #[test]
    fn the_sum_of_shares_is_one_for_any_site() {
        for (max, values, jobs) in
            [(64_800.0, None, 77_222), (300.0, None, 50), (60.0, Some(3), 10), (1e7, Some(5), 1000)]
        {
            let model = Model { path: "x".to_owned(), max, popular: vec![], head: 0.89, values };
            let mut stream = Stream::new(2, 0, "estimates");
            let list = model.values(jobs, &mut stream);
            let sum: f64 = list.iter().map(|value| value.1).sum();
            assert!((sum - 1.0).abs() < 1e-9, "{max}: {sum}");
            assert!(list.windows(2).all(|pair| pair[0].0 > pair[1].0), "times differ");
            assert!(list[0].0 <= max && list[list.len() - 1].0 > 0.0);
            assert_eq!(rounded(&list, jobs).len(), jobs);
        }
        assert_eq!([0, 20, 110, 1_000_000].map(values_among), [0, 10, 15, 565]);
    }

    #[test]
    fn ranks_are_a_permutation() {
        for replication in 0..200 {
            let mut stream = Stream::new(1, replication, "ranks");
            let count = 1 + stream.below(HEAD as u64) as usize;
            let mut own = vec![None; count];
            if replication % 2 == 1 {
                own[count - 1] = Some(stream.below(count as u64) as usize);
            }
            let mut drawn = ranks(&own, &mut stream);
            assert!(replication % 2 == 1 || drawn[0] == 0);
            drawn.sort_unstable();
            assert!(drawn.into_iter().eq(0..count));
        }
        // Without known ranks, every value has a rank that it or a shorter value has in some log.
        let drawn = ranks(&[None; HEAD], &mut Stream::new(9, 0, "ranks"));
        for (place, rank) in drawn.iter().enumerate() {
            assert!(RANKS[..=place].iter().any(|row| row.contains(&(rank + 1))), "{place} {rank}");
        }
    }

    /// Compares the assignment of estimates with a slow implementation of its definition. For each
    /// job, the slow implementation draws among the remaining estimates that are long enough.
    #[test]
    fn estimates_are_given_as_the_definition_says() {
        let times = [900.0_f64, 900.0, 600.0, 300.0, 300.0, 60.0];
        let run_times = [10.0_f64, 290.0, 700.0, 20.0, 590.0, 100.0];
        let mut counts: BTreeMap<Vec<u64>, u32> = BTreeMap::new();
        let (mut slow, mut fast) = (counts.clone(), counts.clone());
        for replication in 0..4_000 {
            let mut stream = Stream::new(1, replication, "slow");
            let mut left = times.to_vec();
            let mut order: Vec<usize> = (0..6).collect();
            order.sort_by(|&a, &b| run_times[b].total_cmp(&run_times[a]));
            let mut given = vec![0; 6];
            for job in order {
                let fit: Vec<usize> =
                    (0..left.len()).filter(|&i| left[i] >= run_times[job]).collect();
                let chosen = fit[stream.below(fit.len() as u64) as usize];
                given[job] = left.remove(chosen) as u64;
            }
            *slow.entry(given).or_default() += 1;
            let jobs: Vec<Job> = run_times.iter().map(|&runtime| job(runtime)).collect();
            let popular =
                vec![(900.0, 2.0 / 6.0), (300.0, 2.0 / 6.0), (600.0, 1.0 / 6.0), (60.0, 1.0 / 6.0)];
            let model =
                Model { path: "x".to_owned(), max: 900.0, popular, head: 1.0, values: Some(1) };
            let mut stream = Stream::new(1, replication, "fast");
            let given = model.assign(jobs, &mut stream).unwrap();
            *fast.entry(given.iter().map(|job| job.estimate as u64).collect()).or_default() += 1;
        }
        counts.extend(slow.clone());
        assert!(fast.keys().all(|given| counts.contains_key(given)));
        for (given, &count) in &slow {
            let other = fast.get(given).copied().unwrap_or_default();
            let slack = 5.0 * f64::from(count + other + 1).sqrt();
            assert!(
                (f64::from(count) - f64::from(other)).abs() < slack,
                "{given:?}: {count} {other}"
            );
        }
    }

    fn job(runtime: f64) -> Job {
        Job::new(1, crate::job::Time::ZERO, crate::job::Request::Nodes(1), runtime)
    }

    #[test]
    fn what_is_known_of_a_site_is_kept() {
        let given = format!(
            "{LUBLIN}estimates = {{ name = 'tsafrir', max = 172800, popular = [{{ time = 172800, share = 0.4 }}, {{ time \
             = 7000, share = 0.05 }}] }}"
        );
        let shares = shares(&built(&given).unwrap());
        let of = |time: f64| shares.iter().find(|value| (value.0 - time).abs() < 1e-9).unwrap().1;
        assert!((of(172_800.0) - 0.4).abs() < 1e-3 && (of(7_000.0) - 0.05).abs() < 1e-3);
        let head: f64 = shares[..HEAD].iter().map(|value| value.1).sum();
        assert!((head - 0.89).abs() < 2e-3, "{head}");
    }

    #[test]
    fn what_cannot_be_is_refused() {
        let sentence = |given: &str| {
            built(&format!("{LUBLIN}estimates = {{ name = 'tsafrir', {given} }}")).unwrap_err()
        };
        let at = "`workload.estimates";
        let few = sentence("max = 3600, popular = [{ time = 3600, share = 0.01 }]");
        assert!(few.starts_with(&format!("{at}` has no estimates for ")), "{few}");
        assert!(
            few.ends_with(&format!(
                "of 20000 jobs, which run for longer than those that are left: raise {at}.max`, which is 3600, or give \
                 long {at}.popular` values larger shares"
            )),
            "{few}"
        );
        assert_eq!(
            sentence("max = 3600, popular = [{ time = 7200, share = 0.1 }]"),
            format!("{at}.popular` has a time of 7200, but {at}.max` is 3600")
        );
        assert_eq!(
            sentence(
                "max = 3600, popular = [{ time = 60, share = 0.7 }, { time = 120, share = 0.7 }]"
            ),
            format!("{at}.popular` has shares of 1.4000 together, but must have at most 1")
        );
        assert_eq!(
            sentence(
                "max = 3600, popular = [{ time = 60, share = 0.1 }, { time = 60, share = 0.1 }]"
            ),
            format!("{at}.popular` has a time twice")
        );
        let synthetic = "name = 'synthetic'\nload = 0.5\nsizes = 'uniform'\nruntimes = { name = 'constant', value = 5 \
                         }\nestimates = { name = 'tsafrir', max = 3600 }";
        assert_eq!(
            built(synthetic).unwrap_err(),
            "`workload.estimates` gives estimates to all jobs together, but the workload `synthetic` never ends: give \
             `workload.first_jobs` or `workload.until`"
        );
        assert_eq!(built(&format!("{synthetic}\nfirst_jobs = 40")).unwrap().len(), 40);
    }
}
