//! Job priorities as Slurm's multifactor plugin computes them, with fair shares.

use super::request::ControlledJob;
use super::rules::{Association, SiteRules};
use meshwork_slurm::history::Second;

#[derive(Clone, Debug)]
pub(crate) struct FairTree {
    /// Processor-seconds used by each association, which decay with time.
    usage: Vec<f64>,
    /// Usage of each association by jobs that ended after the last computation of fair shares. The
    /// next computation adds it.
    ended: Vec<f64>,
    pub(super) factor: Vec<f64>,
    decay: f64,
}

impl FairTree {
    pub(super) fn new(rules: &SiteRules) -> FairTree {
        let count = rules.associations.len();
        let mut tree = FairTree {
            usage: vec![0.0; count],
            ended: vec![0.0; count],
            factor: vec![0.0; count],
            // Slurm uses ln 2 with three digits.
            decay: 1.0 - 0.693 / rules.weights.half_life,
        };
        tree.share(&rules.associations);
        tree
    }

    fn charge(&self, processors: f64, seconds: f64) -> f64 {
        processors * seconds * self.decay.powf(seconds)
    }

    /// Charges an ended job for its run time since the last computation of fair shares. If `sign`
    /// is −1, an earlier charge is undone.
    pub(super) fn end(&mut self, job: &ControlledJob, seconds: f64, sign: f64) {
        let charge = sign * self.charge(job.processors as f64, seconds.max(0.0));
        job.chain.iter().for_each(|&own| self.ended[own] += charge);
    }

    /// Decays the usage of all associations, adds the usage of running jobs, and computes fair
    /// shares.
    pub(super) fn tick<'j>(
        &mut self,
        associations: &[Association],
        period: f64,
        running: impl Iterator<Item = (&'j ControlledJob, f64)>,
    ) {
        let over = self.decay.powf(period);
        for (usage, ended) in self.usage.iter_mut().zip(&mut self.ended) {
            *usage = (*usage + std::mem::take(ended)) * over;
        }
        for (job, seconds) in running {
            let charge = self.charge(job.processors as f64, seconds.clamp(0.0, period));
            job.chain.iter().for_each(|&own| self.usage[own] += charge);
        }
        self.share(associations);
    }

    fn share(&mut self, associations: &[Association]) {
        let users = associations.iter().filter(|own| !own.user.is_empty()).count();
        let root = associations.iter().position(|own| own.parent.is_none());
        let Some(root) = root.filter(|_| users > 0) else { return };
        let mut rank = Rank { tree: self, associations, left: users, last: users, users };
        rank.level(&[root], false);
    }
}

struct Rank<'t> {
    tree: &'t mut FairTree,
    associations: &'t [Association],
    left: usize,
    last: usize,
    users: usize,
}

impl Rank<'_> {
    /// Ranks the sub-accounts and users of the accounts `parents`, which have equal fair-share
    /// levels. If `is_tied`, the first of these users gets the rank of the user that was ranked
    /// last before the call.
    fn level(&mut self, parents: &[usize], mut is_tied: bool) {
        let children = |parent: usize| {
            self.associations
                .iter()
                .enumerate()
                .filter(move |(_, own)| own.parent == Some(parent))
                .map(|(place, _)| place)
        };
        let mut all: Vec<(f64, usize)> = Vec::new();
        for &parent in parents {
            let own: Vec<usize> = children(parent).collect();
            let shares: f64 = own.iter().map(|&child| self.associations[child].shares).sum();
            let usage: f64 = own.iter().map(|&child| self.tree.usage[child]).sum();
            for child in own {
                let share = self.associations[child].shares / shares;
                let used = if usage > 0.0 { self.tree.usage[child] / usage } else { 0.0 };
                let fair = if used > 0.0 { share / used } else { f64::INFINITY };
                all.push((fair, child));
            }
        }
        let is_account = |place: usize| self.associations[place].user.is_empty();
        all.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| is_account(a.1).cmp(&is_account(b.1))));
        let groups: Vec<Vec<(f64, usize)>> = all
            .chunk_by(|a, b| a.0.total_cmp(&b.0).is_eq())
            .map(<[(f64, usize)]>::to_vec)
            .collect();
        for group in groups {
            let (accounts, users): (Vec<usize>, Vec<usize>) = group
                .iter()
                .map(|(_, child)| *child)
                .partition(|&child| self.associations[child].user.is_empty());
            for user in users {
                if !is_tied {
                    self.last = self.left;
                }
                is_tied = true;
                self.tree.factor[user] = self.last as f64 / self.users as f64;
                self.left -= 1;
            }
            if !accounts.is_empty() {
                self.level(&accounts, is_tied);
            }
            is_tied = false;
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct SeenBy {
    pub(super) any: bool,
    pub(super) backfill: bool,
}

/// Priority of a job in a partition; 0 if jobs are ordered by submission.
///
/// - `tick`: time of the last computation of priorities since the job's submission, if any.
/// - `seen`: which schedulers have considered the job. The age of the job counts once any scheduler
///   has. Once backfill has, all processors of its nodes count instead of the requested ones.
/// - `machine`: number of nodes and number of processors of the machine.
pub(super) fn priority(
    rules: &SiteRules,
    fair: &FairTree,
    job: &ControlledJob,
    partition: usize,
    tick: Option<Second>,
    seen: SeenBy,
    machine: (f64, f64),
) -> f64 {
    let weights = &rules.weights;
    if !weights.is_multifactor {
        return 0.0;
    }
    let age_at = |at: Second| ((at - job.eligible).max(0) as f64 / weights.max_age).min(1.0);
    let age = tick.filter(|_| seen.any).map_or(0.0, age_at);
    if let Some((last, at)) = job.last_priority.filter(|_| rules.lacks_priorities) {
        // All factors except the age are taken as constant since the last priority.
        let after = |origin: Second| (at - origin).rem_euclid(weights.period);
        let computed = at - rules.started.map_or(0, after);
        return (last - weights.age * (age_at(computed) - age)).max(1.0);
    }
    let is_known = tick.is_some() && seen.backfill;
    let processors = if is_known { job.processors } else { job.asked_processors };
    let size = (job.nodes as f64 / machine.0 + processors as f64 / machine.1) / 2.0;
    let size = if weights.favors_small { 1.0 - size } else { size };
    let largest = rules.partitions.iter().map(|own| own.job_factor).fold(0.0, f64::max);
    let of_largest = |own: f64, largest: f64| if largest > 0.0 { own / largest } else { 0.0 };
    let qos = job.qos.map_or(0.0, |own| rules.qos[own].priority);
    let largest_qos = rules.qos.iter().map(|own| own.priority).fold(0.0, f64::max);
    let share = job.chain.first().map_or(0.0, |&own| fair.factor[own]);
    let sum = weights.age * age
        + weights.fair_share * share
        + weights.size * size
        + weights.partition * of_largest(rules.partitions[partition].job_factor, largest)
        + weights.qos * of_largest(qos, largest_qos);
    (sum.trunc() - job.nice).max(1.0)
}
