//! The race: candidates are replicated on common random numbers until one is certainly good.
//!
//! Every ordered pair of candidates has a confidence sequence for the mean of its paired
//! differences, at level α / (k − 1). A candidate is dropped once any other is certainly better,
//! and the race ends once no survivor can beat the leader by more than the indifference zone.
//!
//! **Guarantee.** With probability at least 1 − α, all k − 1 sequences of pairs with the true best
//! hold at all times. Then the best is never dropped, and a candidate reported as within a bound of
//! the survivors is within that bound of the best: under any correlation, at any time of stopping.
//!
//! With constraints, half of α is spent on them, and only candidates that certainly meet them may
//! drop others or lead. Above a limit, a screening by successive halving chooses finalists first;
//! the race then uses fresh replications only, and its guarantee covers the finalists.

use crate::findings::sequence::{RunningMoments, factor};
use crate::findings::statistics::quantile;

/// Replications after which growing queues are looked for, and screening halves first.
pub const FIRST_LOOK: u64 = 4;

/// Maximum number of candidates left by a screening.
pub const FINALISTS: usize = 64;

/// Maximum number of replications of a candidate; beyond it the race is given up.
pub const MAX_REPLICATIONS: u64 = 10_000;

/// Maximum number of survivors that are compared further once the leader is certain.
const MAX_TIES: usize = 8;

/// Minimum number of runs in a round, so that few survivors keep several threads busy.
const ROUND: usize = 16;

/// Rules of a race.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RaceRules {
    /// Probability that the guarantee may fail.
    pub alpha: f64,
    /// Indifference zone, on the scale of the race.
    pub within: f64,
    /// Pairs before anything is dropped.
    pub least: u64,
    /// Number of candidates above which a screening comes first.
    pub screen_above: usize,
    /// Number of constraints.
    pub constraints: usize,
}

/// Results that a race reads, by candidate and replication.
pub trait Field {
    /// Value on the scale of the race, of which less is better.
    ///
    /// # Errors
    /// If the run has no such value.
    fn value(&self, candidate: usize, replication: u64) -> Result<f64, NoValue>;

    /// Excess over a constraint's limit, met where it is at most 0.
    ///
    /// # Errors
    /// If the run has no such value.
    fn excess(&self, candidate: usize, constraint: usize, replication: u64)
    -> Result<f64, NoValue>;

    /// Whether the queue of a candidate grows over its runs so far.
    fn is_growing(&self, candidate: usize) -> bool;
}

/// Reason for which a run has no value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoValue {
    /// The run failed: its candidate leaves the race.
    Failed(String),
    /// The value has no place on the scale, which ends the race.
    OffScale(String),
}

/// State of a candidate.
#[derive(Clone, Debug, PartialEq)]
pub enum Fate {
    /// Still in the race.
    Racing,
    /// Another is certainly better.
    Beaten {
        /// The better candidate.
        by: usize,
        /// Pairs at that time.
        pairs: u64,
        /// Mean difference, and the least that is certain.
        difference: f64,
        least: f64,
    },
    /// Its queue grows to the end, so it has no mean.
    Growing,
    /// It certainly breaks a constraint, by this mean excess.
    Unfit { constraint: usize, pairs: u64, excess: f64 },
    /// A run failed.
    Failed(String),
    /// The screening left it out after this many replications.
    Screened(u64),
}

/// State of a race after a replication.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Look {
    /// Pairs of each survivor.
    pub pairs: u64,
    /// Candidates that are still in the race.
    pub racing: usize,
    /// The leader.
    pub leader: usize,
    /// Least certain bound on its distance from the best.
    pub bound: f64,
}

/// A race in progress; a function of the results alone.
#[derive(Clone, Debug)]
pub struct Race {
    rules: RaceRules,
    fates: Vec<Fate>,
    /// Values of each candidate from replication 0, as far as they were read.
    values: Vec<Vec<f64>>,
    /// Excess of each candidate over each constraint.
    excesses: Vec<Vec<RunningMoments>>,
    /// Position of each candidate among those whose pairs are counted.
    places: Vec<usize>,
    /// Differences of each pair of them, the first minus the second, in the upper triangle.
    pairs: Vec<RunningMoments>,
    /// Replications used for the screening, which do not count as evidence.
    offset: u64,
    is_screening: bool,
    seen: u64,
    looks: Vec<Look>,
    clark_yang: Option<u64>,
    problem: Option<String>,
}

impl Race {
    #[must_use]
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

    /// Candidates that are still in the race, in order.
    #[must_use]
    pub fn racing(&self) -> Vec<usize> {
        (0..self.fates.len()).filter(|&own| self.fates[own] == Fate::Racing).collect()
    }

    /// State of each candidate.
    #[must_use]
    pub fn fates(&self) -> &[Fate] {
        &self.fates
    }

    /// Values of a candidate from replication 0, on the scale of the race.
    #[must_use]
    pub fn values(&self, candidate: usize) -> &[f64] {
        &self.values[candidate]
    }

    /// States after each replication, in order.
    #[must_use]
    pub fn looks(&self) -> &[Look] {
        &self.looks
    }

    /// Replications read so far.
    #[must_use]
    pub fn seen(&self) -> u64 {
        self.seen
    }

    /// Pairs of each survivor: replications without those of the screening.
    #[must_use]
    pub fn pairs(&self) -> u64 {
        self.seen - self.offset
    }

    /// Whether candidates are still being screened.
    #[must_use]
    pub fn is_screening(&self) -> bool {
        self.is_screening
    }

    /// Replications of the screening; 0 without one.
    #[must_use]
    pub fn screening(&self) -> u64 {
        if self.is_screening { self.seen } else { self.offset }
    }

    /// Runs of the two-stage procedure of Clark and Yang with the same guarantee. It is estimated
    /// from the least number of pairs of all candidates; `None` with a screening or before.
    #[must_use]
    pub fn clark_yang(&self) -> Option<u64> {
        self.clark_yang
    }

    /// The sentence that ended the race, if a value has no place on its scale.
    #[must_use]
    pub fn problem(&self) -> Option<&str> {
        self.problem.as_deref()
    }

    /// Pairs before anything is dropped.
    #[must_use]
    pub fn least(&self) -> u64 {
        self.rules.least
    }

    /// Indifference zone on the scale of the race; NaN before [`fix_within`](Self::fix_within).
    #[must_use]
    pub fn within(&self) -> f64 {
        self.rules.within
    }

    /// Sets an indifference zone that was not known at the start.
    pub fn fix_within(&mut self, within: f64) {
        self.rules.within = within;
    }

    /// Level of each interval between two candidates.
    pub(super) fn level(&self) -> f64 {
        let count = self.places.iter().filter(|&&place| place != usize::MAX).count();
        let share = if self.rules.constraints > 0 { 0.5 } else { 1.0 };
        share * self.rules.alpha / (count.max(2) - 1) as f64
    }

    /// Level of each interval of a constraint.
    fn level_of_constraints(&self) -> f64 {
        let count = self.places.iter().filter(|&&place| place != usize::MAX).count();
        0.5 * self.rules.alpha / (count.max(1) * self.rules.constraints.max(1)) as f64
    }

    /// Index of a pair, and whether it is counted in the other direction.
    fn pair(&self, one: usize, other: usize) -> (usize, bool) {
        let (a, b) = (self.places[one], self.places[other]);
        let (low, high) = (a.min(b), a.max(b));
        (high * (high - 1) / 2 + low, a > b)
    }

    /// Mean difference of a pair, the first minus the second, and the half width of its interval.
    #[must_use]
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

    /// Whether a candidate certainly meets all constraints.
    #[must_use]
    pub fn is_fit(&self, candidate: usize) -> bool {
        let level = self.level_of_constraints();
        self.pairs() >= self.rules.least
            && self.excesses[candidate].iter().all(|excess| excess.ends(level)[1] <= 0.0)
            || self.rules.constraints == 0
    }

    /// Excess of a candidate over a constraint: the mean, and the half width of its interval.
    #[must_use]
    pub fn excess(&self, candidate: usize, constraint: usize) -> (f64, f64) {
        let moments = &self.excesses[candidate][constraint];
        (moments.mean(), moments.half_width(self.level_of_constraints()))
    }

    /// Certain bound on the distance of a survivor from the best; infinite before there is one.
    #[must_use]
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

    /// Survivors that are certainly within the indifference zone of the best.
    #[must_use]
    pub fn equals(&self) -> Vec<usize> {
        let racing = self.racing();
        let factor = factor(self.pairs() as f64, self.level());
        let is_good = |&own: &usize| self.bound_by(own, &racing, factor) <= self.rules.within;
        racing.iter().copied().filter(is_good).collect()
    }

    /// Whether the race is over.
    ///
    /// It is over once the leader is certain, and each of few other survivors is either certain
    /// too, or still undecided after twice the number of pairs that the leader needed.
    #[must_use]
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

    /// Number of replications of each candidate that the race needs next.
    #[must_use]
    pub fn wanted(&self) -> Vec<u64> {
        let racing = self.racing().len().max(1);
        let more = ROUND.div_ceil(racing) as u64;
        let mut next = if self.is_decided() { self.seen } else { self.seen + more };
        if self.pairs() < self.rules.least {
            // The first decision may be the last.
            next = next.min(self.offset + self.rules.least);
        }
        let of = |(fate, values): (&Fate, &Vec<f64>)| match fate {
            Fate::Racing => next.min(MAX_REPLICATIONS),
            _ => values.len() as u64,
        };
        self.fates.iter().zip(&self.values).map(of).collect()
    }

    /// Reads the results of all survivors up to `have` replications, and decides after each.
    ///
    /// The decisions do not depend on how many are read at once.
    ///
    /// # Complexity
    /// O(k²) for each replication of *k* survivors.
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

    /// Reads one replication.
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
                // `racing` is in the order of the places, so no pair is turned.
                let (index, _) = self.pair(one, other);
                self.pairs[index].push(latest[a] - latest[b]);
            }
        }
    }

    /// Halves the candidates after 4, 8, 16 … replications, until few enough are left.
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

    /// Drops candidates that are certainly worse, and notes the leader.
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

    /// Runs of Clark and Yang's procedure. Each candidate runs as often as the pair with the widest
    /// differences demands.
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
