//! The race: replicates candidates on common random numbers until one is certainly good enough.
//!
//! Every ordered pair of candidates has a confidence sequence for the mean of its paired
//! differences, at level α / (k − 1) for *k* candidates. A candidate is dropped once any other is
//! certainly better. The race ends once no survivor can beat the leader by more than the
//! indifference zone.
//!
//! **Guarantee.** With probability at least 1 − α, all k − 1 confidence sequences of pairs with the
//! true best candidate hold at all times. Then the best candidate is never dropped, so that it is
//! among the survivors. The *bound* of a candidate is the largest upper end of its confidence
//! sequences against the survivors. So a candidate with bound *b* is within *b* of the best
//! candidate. This holds however the candidates' results are correlated, and whenever the race is
//! stopped.
//!
//! With constraints, half of α is spent on them, and only a candidate that certainly meets them may
//! drop others or has a finite bound. A screening by successive halving first chooses finalists of
//! many candidates. The race then uses fresh replications only, and the guarantee covers the
//! finalists.

use crate::statistics::quantile;
use crate::statistics::sequence::{RunningMoments, factor};

/// Number of replications after which candidates with growing queues are dropped. It is also the
/// number after which a screening first halves the number of candidates.
pub const FIRST_LOOK: u64 = 4;

pub const FINALISTS: usize = 64;

/// Largest number of replications of a candidate, after which the race ends undecided.
pub const MAX_REPLICATIONS: u64 = 10_000;

const MAX_TIES: usize = 8;

/// Minimum number of runs in a round. It keeps several threads busy even if few candidates are left
/// in the race.
const ROUND: usize = 16;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RaceRules {
    /// Largest permitted probability that the guarantee of the race does not hold.
    pub alpha: f64,
    /// Difference up to which candidates count as equally good, on the scale of the comparison.
    pub within: f64,
    /// Minimum number of pairs of runs before the race drops a candidate.
    pub least: u64,
    /// Number of candidates above which a screening precedes the race; at least [`FINALISTS`].
    pub screen_above: usize,
    pub constraints: usize,
}

/// Source from which a race reads the result of each candidate in each replication.
pub trait Field {
    /// Value of the metric in one run, on a scale on which smaller values are better.
    fn value(&self, candidate: usize, replication: u64) -> Result<f64, NoValue>;

    /// Amount by which one run breaks a constraint; 0 or negative if the run meets the constraint.
    fn excess(&self, candidate: usize, constraint: usize, replication: u64)
    -> Result<f64, NoValue>;

    fn is_growing(&self, candidate: usize) -> bool;
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoValue {
    Failed(String),
    /// The value cannot be converted to the scale of the comparison, such as 0 to a logarithm. The
    /// race ends.
    OffScale(String),
}

#[derive(Clone, Debug, PartialEq)]
pub enum Fate {
    Racing,
    Beaten {
        by: usize,
        /// Number of pairs of replications after which the candidate was dropped.
        pairs: u64,
        /// Mean difference from the candidate `by`, on the scale of the comparison (logarithmic or
        /// raw). `least` is the lower end of the confidence interval for this difference.
        difference: f64,
        least: f64,
    },
    Growing,
    /// The candidate certainly breaks a constraint, on average by `excess`.
    Unfit {
        constraint: usize,
        pairs: u64,
        excess: f64,
    },
    Failed(String),
    Screened(u64),
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Look {
    /// Number of replications that every survivor has run in the race itself, after any screening.
    pub pairs: u64,
    pub racing: usize,
    /// Index of the leader, which is the surviving candidate with the smallest bound.
    pub leader: usize,
    pub bound: f64,
}

/// Race in progress. Its state depends only on the rules and on the results that it has read.
#[derive(Clone, Debug)]
pub struct Race {
    rules: RaceRules,
    fates: Vec<Fate>,
    /// Values of each candidate that the race has read, in order of replications from 0 on.
    values: Vec<Vec<f64>>,
    /// Statistics of the amount by which a candidate breaks a constraint. The outer index is the
    /// candidate, the inner one the constraint.
    excesses: Vec<Vec<RunningMoments>>,
    /// Index of each candidate among the candidates that are compared in pairs. It is `usize::MAX`
    /// for a candidate that is not compared.
    places: Vec<usize>,
    /// For each compared pair of candidates, statistics of the first value minus the second.
    pairs: Vec<RunningMoments>,
    /// Number of replications in the screening before the race. They do not count as pairs.
    offset: u64,
    is_screening: bool,
    seen: u64,
    looks: Vec<Look>,
    clark_yang: Option<u64>,
    problem: Option<String>,
}

impl Race {
    pub fn new(count: usize, rules: RaceRules) -> Race {
        let is_screening = count > rules.screen_above.max(FINALISTS);
        let mut race = Race {
            rules,
            fates: vec![Fate::Racing; count],
            values: vec![Vec::new(); count],
            excesses: vec![vec![RunningMoments::default(); rules.constraints]; count],
            places: vec![usize::MAX; count],
            pairs: Vec::new(),
            offset: 0,
            is_screening,
            seen: 0,
            looks: Vec::new(),
            clark_yang: None,
            problem: None,
        };
        if !is_screening {
            race.begin_pairs();
        }
        race
    }

    fn begin_pairs(&mut self) {
        self.offset = self.seen;
        let racing = self.racing();
        self.pairs =
            vec![RunningMoments::default(); racing.len() * racing.len().saturating_sub(1) / 2];
        for (place, candidate) in racing.into_iter().enumerate() {
            self.places[candidate] = place;
        }
        self.excesses =
            vec![vec![RunningMoments::default(); self.rules.constraints]; self.fates.len()];
    }

    /// Indices of the candidates that are still in the race, in ascending order.
    pub fn racing(&self) -> Vec<usize> {
        (0..self.fates.len()).filter(|&own| self.fates[own] == Fate::Racing).collect()
    }

    pub fn fates(&self) -> &[Fate] {
        &self.fates
    }

    /// Values of a candidate by replication, on the scale on which candidates are compared.
    pub fn values(&self, candidate: usize) -> &[f64] {
        &self.values[candidate]
    }

    pub fn looks(&self) -> &[Look] {
        &self.looks
    }

    pub fn seen(&self) -> u64 {
        self.seen
    }

    pub fn pairs(&self) -> u64 {
        self.seen - self.offset
    }

    pub fn is_screening(&self) -> bool {
        self.is_screening
    }

    /// Number of replications that the screening has used. 0 if there is no screening.
    pub fn screening(&self) -> u64 {
        if self.is_screening { self.seen } else { self.offset }
    }

    /// Estimated number of runs that Clark and Yang's procedure needs for the same guarantee.
    pub fn clark_yang(&self) -> Option<u64> {
        self.clark_yang
    }

    /// Error that ended the race because a result has no value on the scale of the comparison.
    pub fn problem(&self) -> Option<&str> {
        self.problem.as_deref()
    }

    pub fn least(&self) -> u64 {
        self.rules.least
    }

    /// Indifference zone, on the scale on which candidates are compared. It is NaN until
    /// [`fix_within`](Self::fix_within) is called.
    pub fn within(&self) -> f64 {
        self.rules.within
    }

    /// Sets the indifference zone: the difference up to which candidates count as equally good.
    ///
    /// If raw values are compared, the zone may be known only after the first results.
    pub fn fix_within(&mut self, within: f64) {
        self.rules.within = within;
    }

    pub(super) fn level(&self) -> f64 {
        let count = self.places.iter().filter(|&&place| place != usize::MAX).count();
        let share = if self.rules.constraints > 0 { 0.5 } else { 1.0 };
        share * self.rules.alpha / (count.max(2) - 1) as f64
    }

    /// Error probability of a confidence sequence for one candidate and one constraint.
    fn level_of_constraints(&self) -> f64 {
        let count = self.places.iter().filter(|&&place| place != usize::MAX).count();
        0.5 * self.rules.alpha / (count.max(1) * self.rules.constraints.max(1)) as f64
    }

    /// Index of the stored differences of two candidates, and whether their sign must be changed.
    ///
    /// The flag is true if `other` minus `one` is stored.
    fn pair(&self, one: usize, other: usize) -> (usize, bool) {
        let (a, b) = (self.places[one], self.places[other]);
        let (low, high) = (a.min(b), a.max(b));
        (high * (high - 1) / 2 + low, a > b)
    }

    /// Mean difference between two candidates (`one` minus `other`) over all pairs of replications.
    /// The second number is the half width of its interval.
    pub fn difference(&self, one: usize, other: usize) -> (f64, f64) {
        let factor = factor(self.pairs() as f64, self.level());
        self.difference_by(one, other, factor)
    }

    fn difference_by(&self, one: usize, other: usize, factor: f64) -> (f64, f64) {
        let (index, is_turned) = self.pair(one, other);
        let moments = &self.pairs[index];
        let mean = if is_turned { -moments.mean() } else { moments.mean() };
        (mean, moments.half_width_by(factor))
    }

    pub fn is_fit(&self, candidate: usize) -> bool {
        let level = self.level_of_constraints();
        self.pairs() >= self.rules.least
            && self.excesses[candidate].iter().all(|excess| excess.ends(level)[1] <= 0.0)
            || self.rules.constraints == 0
    }

    /// Mean amount by which a candidate breaks a constraint, and the half width of the mean's
    /// interval.
    pub fn excess(&self, candidate: usize, constraint: usize) -> (f64, f64) {
        let moments = &self.excesses[candidate][constraint];
        (moments.mean(), moments.half_width(self.level_of_constraints()))
    }

    /// Upper bound on how much worse a surviving candidate is than the best one.
    pub fn bound(&self, candidate: usize) -> f64 {
        self.bound_by(candidate, &self.racing(), factor(self.pairs() as f64, self.level()))
    }

    fn bound_by(&self, candidate: usize, racing: &[usize], factor: f64) -> f64 {
        if self.is_screening || self.pairs() < self.rules.least || !self.is_fit(candidate) {
            return f64::INFINITY;
        }
        let others = racing.iter().filter(|&&other| other != candidate);
        let bounds = others.map(|&other| {
            let (mean, half) = self.difference_by(candidate, other, factor);
            mean + half
        });
        bounds.fold(0.0, f64::max)
    }

    pub fn equals(&self) -> Vec<usize> {
        let racing = self.racing();
        let factor = factor(self.pairs() as f64, self.level());
        let is_good = |&own: &usize| self.bound_by(own, &racing, factor) <= self.rules.within;
        racing.iter().copied().filter(is_good).collect()
    }

    /// Whether the race is over.
    ///
    /// A survivor is *certain* if its bound is within the indifference zone. Once the leader is
    /// certain, the race goes on until all survivors are certain. There are two exceptions. It ends
    /// early if there are too many survivors, and it ends when twice as many pairs have been run as
    /// when the leader first was certain.
    pub fn is_decided(&self) -> bool {
        let is_certain = |look: &&Look| look.bound <= self.rules.within;
        let is_settled = || {
            let Some(first) = self.looks.iter().find(is_certain) else { return false };
            let Some(last) = self.looks.last().filter(is_certain) else { return false };
            last.racing > MAX_TIES
                || last.pairs >= 2 * first.pairs
                || self.equals().len() == last.racing
        };
        self.problem.is_some()
            || self.racing().is_empty()
            || self.seen >= MAX_REPLICATIONS
            || is_settled()
    }

    pub fn wanted(&self) -> Vec<u64> {
        let racing = self.racing().len().max(1);
        let more = ROUND.div_ceil(racing) as u64;
        let mut next = if self.is_decided() { self.seen } else { self.seen + more };
        if self.pairs() < self.rules.least {
            // Do not go beyond the first decision, which may already end the race.
            next = next.min(self.offset + self.rules.least);
        }
        let of = |(fate, values): (&Fate, &Vec<f64>)| match fate {
            Fate::Racing => next.min(MAX_REPLICATIONS),
            _ => values.len() as u64,
        };
        self.fates.iter().zip(&self.values).map(of).collect()
    }

    /// Reads results of the surviving candidates, replication by replication.
    ///
    /// Stops after `have` replications or when the race is decided. After each replication,
    /// candidates may be dropped.
    pub fn advance(&mut self, field: &dyn Field, have: u64) {
        while self.seen < have && !self.is_decided() {
            self.read(field);
            self.seen += 1;
            if self.seen == FIRST_LOOK {
                for own in self.racing() {
                    if field.is_growing(own) {
                        self.fates[own] = Fate::Growing;
                    }
                }
            }
            if self.is_screening {
                self.screen();
            } else {
                self.judge();
            }
        }
    }

    fn read(&mut self, field: &dyn Field) {
        for own in self.racing() {
            let value = field.value(own, self.seen);
            let excesses: Result<Vec<f64>, NoValue> = (0..self.rules.constraints)
                .map(|constraint| field.excess(own, constraint, self.seen))
                .collect();
            match value.and_then(|value| Ok((value, excesses?))) {
                Ok((value, excesses)) => {
                    self.values[own].push(value);
                    let moments = self.excesses[own].iter_mut().zip(excesses);
                    moments.for_each(|(moments, excess)| moments.push(excess));
                }
                Err(NoValue::Failed(message)) => self.fates[own] = Fate::Failed(message),
                Err(NoValue::OffScale(sentence)) => {
                    self.problem.get_or_insert(sentence);
                }
            }
        }
        if self.is_screening || self.problem.is_some() {
            return;
        }
        let racing = self.racing();
        let last = |own: usize| self.values[own].last().copied().unwrap_or(f64::NAN);
        let latest: Vec<f64> = racing.iter().map(|&own| last(own)).collect();
        for (b, &other) in racing.iter().enumerate() {
            for (a, &one) in racing[..b].iter().enumerate() {
                let (index, _) = self.pair(one, other);
                self.pairs[index].push(latest[a] - latest[b]);
            }
        }
    }

    /// Drops the worse half of the candidates, judged by their means, after 4, 8, 16 …
    /// replications.
    fn screen(&mut self) {
        if !(self.seen >= FIRST_LOOK && self.seen.is_power_of_two()) {
            return;
        }
        let mut racing = self.racing();
        let sum = |own: &usize| self.values[*own].iter().sum::<f64>();
        racing.sort_by(|a, b| sum(a).total_cmp(&sum(b)).then(a.cmp(b)));
        let kept = racing.len().div_ceil(2).max(FINALISTS);
        for &own in racing.iter().skip(kept) {
            self.fates[own] = Fate::Screened(self.seen);
        }
        if kept <= FINALISTS {
            self.is_screening = false;
            self.begin_pairs();
        }
    }

    /// Drops candidates that are certainly worse than another one, and notes the current leader.
    fn judge(&mut self) {
        if self.pairs() >= self.rules.least {
            if self.pairs() == self.rules.least && self.offset == 0 {
                self.clark_yang = Some(self.two_stages());
            }
            self.drop_unfit();
            self.drop_beaten();
        }
        let racing = self.racing();
        let factor = factor(self.pairs() as f64, self.level());
        let mean = |own: usize| self.values[own].iter().sum::<f64>();
        let fitness = |own: usize| (0..self.rules.constraints).any(|k| self.excess(own, k).0 > 0.0);
        let best = racing.iter().map(|&own| (own, self.bound_by(own, &racing, factor)));
        let best = best.min_by(|a, b| {
            (a.1.total_cmp(&b.1))
                .then_with(|| fitness(a.0).cmp(&fitness(b.0)))
                .then_with(|| mean(a.0).total_cmp(&mean(b.0)))
        });
        if let Some((leader, bound)) = best {
            let look = Look { pairs: self.pairs(), racing: racing.len(), leader, bound };
            self.looks.push(look);
        }
    }

    fn drop_unfit(&mut self) {
        let level = self.level_of_constraints();
        for own in self.racing() {
            let broken = self.excesses[own].iter().position(|excess| excess.ends(level)[0] > 0.0);
            if let Some(constraint) = broken {
                let excess = self.excesses[own][constraint].mean();
                self.fates[own] = Fate::Unfit { constraint, pairs: self.pairs(), excess };
            }
        }
    }

    fn drop_beaten(&mut self) {
        let racing = self.racing();
        let judges: Vec<usize> = racing.iter().copied().filter(|&own| self.is_fit(own)).collect();
        let factor = factor(self.pairs() as f64, self.level());
        let beaten = |&own: &usize| {
            let worse = judges.iter().filter(|&&by| by != own).map(|&by| {
                let (mean, half) = self.difference_by(own, by, factor);
                (by, mean, mean - half)
            });
            let (by, difference, least) = worse.max_by(|a, b| a.2.total_cmp(&b.2))?;
            let fate = Fate::Beaten { by, pairs: self.pairs(), difference, least };
            (least > 0.0).then_some((own, fate))
        };
        let beaten: Vec<(usize, Fate)> = racing.iter().filter_map(beaten).collect();
        for (own, fate) in beaten {
            self.fates[own] = fate;
        }
    }

    /// Estimated number of runs that Clark and Yang's two-stage procedure would need.
    fn two_stages(&self) -> u64 {
        let racing = self.racing();
        let (count, first) = (racing.len() as f64, self.pairs());
        if count < 2.0 {
            return first;
        }
        let t = quantile(first - 1, 1.0 - 2.0 * self.rules.alpha / (count - 1.0));
        let pairs = racing.iter().enumerate().flat_map(|(place, &one)| {
            racing[..place].iter().map(move |&other| self.pair(one, other).0)
        });
        let widest = pairs.map(|pair| self.pairs[pair].variance()).fold(0.0, f64::max);
        let each = (t * t * widest / (self.rules.within * self.rules.within)).ceil();
        count as u64 * (each as u64).max(first)
    }
}

#[cfg(test)]
mod tests;
