//! Limits of QOS and associations, and the running jobs that count against these limits.

use std::collections::BTreeMap;

use super::request::ControlledJob;
use super::rules::{KINDS, LimitOf, SiteRules};

/// Use of each limited resource by running jobs, in the order of [`LimitOf::all`].
type Sum = [u64; KINDS];

/// Set of jobs that count together against a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Scope {
    Qos(usize),
    QosUser(usize, usize),
    QosAccount(usize, usize),
    Association(usize),
}

#[derive(Clone, Debug, Default)]
pub(super) struct RunningSums {
    sums: BTreeMap<Scope, Sum>,
}

/// Stage of a scheduling attempt at which limits are tested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Test {
    /// Stage before the search for nodes, in which limits on numbers of jobs and on time limits are
    /// tested.
    Before,
    /// Stage after the search for nodes, for limits on nodes, processors, memory and GPUs.
    After,
}

/// Slurm's wait reasons for the limits of a QOS: on all its jobs, a user, an account, and one job.
const QOS_NAMES: [[&str; KINDS]; 4] = [
    ["QOSGrpJobsLimit", "QOSGrpNodeLimit", "QOSGrpCpuLimit", "QOSGrpMemLimit", "QOSGrpGRES"],
    [
        "QOSMaxJobsPerUserLimit",
        "QOSMaxNodePerUserLimit",
        "QOSMaxCpuPerUserLimit",
        "QOSMaxMemoryPerUser",
        "QOSMaxGRESPerUser",
    ],
    [
        "MaxJobsPerAccount",
        "MaxNodePerAccount",
        "MaxCpuPerAccount",
        "MaxMemoryPerAccount",
        "MaxGRESPerAccount",
    ],
    [
        "QOSMaxJobsPerUserLimit",
        "QOSMaxNodePerJobLimit",
        "QOSMaxCpuPerJobLimit",
        "QOSMaxMemoryPerJob",
        "QOSMaxGRESPerJob",
    ],
];

/// Slurm's wait reasons for exceeded limits of an association, by scope and by resource.
///
/// The scopes are all jobs of the association, all jobs of a user, and a single job.
const ASSOCIATION_NAMES: [[&str; KINDS]; 3] = [
    [
        "AssocGrpJobsLimit",
        "AssocGrpNodeLimit",
        "AssocGrpCpuLimit",
        "AssocGrpMemLimit",
        "AssocGrpGRES",
    ],
    ASSOCIATION_JOB_NAMES,
    ASSOCIATION_JOB_NAMES,
];

const ASSOCIATION_JOB_NAMES: [&str; KINDS] = [
    "AssocMaxJobsLimit",
    "AssocMaxNodePerJobLimit",
    "AssocMaxCpuPerJobLimit",
    "AssocMaxMemPerJob",
    "AssocMaxGRESPerJob",
];

pub(super) fn is_name(reason: &str) -> bool {
    QOS_NAMES.iter().chain(&ASSOCIATION_NAMES).flatten().any(|own| *own == reason)
}

fn scopes(job: &ControlledJob, partition_qos: Option<usize>) -> Vec<Scope> {
    let mut scopes = Vec::new();
    let mut all: Vec<usize> = job.qos.into_iter().chain(partition_qos).collect();
    all.dedup();
    for qos in all {
        scopes.extend([
            Scope::Qos(qos),
            Scope::QosUser(qos, job.user),
            Scope::QosAccount(qos, job.account),
        ]);
    }
    scopes.extend(job.chain.iter().map(|&own| Scope::Association(own)));
    scopes
}

impl RunningSums {
    pub(super) fn count(
        &mut self,
        job: &ControlledJob,
        partition_qos: Option<usize>,
        starts: bool,
    ) {
        for scope in scopes(job, partition_qos) {
            let sum = self.sums.entry(scope).or_default();
            for (own, by) in sum.iter_mut().zip(job.amounts()) {
                *own = if starts { *own + by } else { own.saturating_sub(by) };
            }
        }
    }

    pub(super) fn allow(
        &self,
        rules: &SiteRules,
        job: &ControlledJob,
        partition_qos: Option<usize>,
        test: Test,
    ) -> bool {
        self.exceeded(rules, job, partition_qos, test).is_none()
    }

    /// Slurm's wait reason for a limit that forbids the start of a job; `None` if no limit does. A
    /// limit of the partition's QOS takes precedence over the limit of the job's QOS. Both take
    /// precedence over limits of associations. The limits of the job's association and of all
    /// associations above it apply together.
    pub(super) fn exceeded(
        &self,
        rules: &SiteRules,
        job: &ControlledJob,
        partition_qos: Option<usize>,
        test: Test,
    ) -> Option<&'static str> {
        if !rules.enforces_limits {
            return None;
        }
        let mut all: Vec<usize> = partition_qos.into_iter().chain(job.qos).collect();
        all.dedup();
        let of = |scope: Scope| self.sums.get(&scope).copied().unwrap_or_default();
        let own = job.amounts();
        // Limits of this stage: only the first kind is a number of jobs.
        let part = |limit: &LimitOf| {
            let mut all = limit.all();
            match test {
                Test::Before => all[1..].fill(None),
                Test::After => all[0] = None,
            }
            all
        };
        let exceeds = |most: Option<u64>, sum: Sum, kind: usize| {
            most.is_some_and(|most| sum[kind] + own[kind] > most)
        };
        let [mut group, mut user, mut account, mut each] = [[false; KINDS]; 4];
        let mut wall = false;
        for &qos in &all {
            let limits = &rules.qos[qos].limits;
            for (limit, seen, sum, names) in [
                (&limits.group, &mut group, of(Scope::Qos(qos)), &QOS_NAMES[0]),
                (&limits.user, &mut user, of(Scope::QosUser(qos, job.user)), &QOS_NAMES[1]),
                (
                    &limits.account,
                    &mut account,
                    of(Scope::QosAccount(qos, job.account)),
                    &QOS_NAMES[2],
                ),
                (&limits.job, &mut each, Sum::default(), &QOS_NAMES[3]),
            ] {
                for (kind, most) in part(limit).into_iter().enumerate() {
                    if !seen[kind] && most.is_some() {
                        seen[kind] = true;
                        if exceeds(most, sum, kind) {
                            return Some(names[kind]);
                        }
                    }
                }
            }
            if test == Test::Before && !wall && limits.wall.is_some() {
                wall = true;
                if limits.wall.is_some_and(|most| job.limit > most) {
                    return Some("QOSMaxWallDurationPerJobLimit");
                }
            }
        }
        for (level, &place) in job.chain.iter().enumerate() {
            let limits = &rules.associations[place].limits;
            let sum = of(Scope::Association(place));
            let mut checked = vec![(&limits.group, group, sum, &ASSOCIATION_NAMES[0])];
            if level == 0 {
                checked.push((&limits.user, user, sum, &ASSOCIATION_NAMES[1]));
            }
            checked.push((&limits.job, each, Sum::default(), &ASSOCIATION_NAMES[2]));
            for (limit, seen, sum, names) in checked {
                for (kind, most) in part(limit).into_iter().enumerate() {
                    if !seen[kind] && exceeds(most, sum, kind) {
                        return Some(names[kind]);
                    }
                }
            }
            let longest = limits.wall.filter(|_| test == Test::Before && !wall);
            if longest.is_some_and(|most| job.limit > most) {
                return Some("AssocMaxWallDurationPerJobLimit");
            }
        }
        None
    }
}
