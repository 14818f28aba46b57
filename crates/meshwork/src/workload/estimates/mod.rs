//! Models of users' run time estimates, which replace the estimates of a workload.
//!
//! Schedulers plan with estimates, not with run times. So the benefit of backfilling depends on the
//! estimates.

mod tsafrir;

use crate::job::Job;
use crate::registry::{
    About, Family, Kind, LARGEST, Param, Params, Problem, Range, abouts, entry, named,
};
use crate::rng::Stream;

use super::{Submission, Submissions, WorkloadContext};
struct EstimatesEntry {
    about: About,
    /// Whether the model needs all jobs before it can give the first of them an estimate.
    holds_all: bool,
    /// Replaces the estimates of the jobs. Random numbers are taken from the stream.
    build: fn(Submissions, &Params, Stream) -> Result<Submissions, Problem>,
}

named!(EstimatesEntry);

/// The family of models of estimates, from which a study selects one by name.
pub static ESTIMATES: Family =
    Family { kind: "model of estimates", key: "name", entries: || abouts(ENTRIES), common: &[] };

static ENTRIES: &[&EstimatesEntry] = &[&EXACT, &FACTOR, &tsafrir::TSAFRIR];

/// Whether the requested model needs all jobs in memory, so that the workload must end by itself.
pub(super) fn holds_all(params: &Params) -> bool {
    entry(ENTRIES, params.name()).holds_all
}

pub(super) fn given(
    jobs: Submissions,
    params: &Params,
    setting: &WorkloadContext<'_>,
) -> Result<Submissions, Problem> {
    let stream = Stream::new(setting.seed, setting.replication, "estimates");
    (entry(ENTRIES, params.name()).build)(jobs, params, stream)
}

fn each(jobs: Submissions, mut estimate: impl FnMut(&Job) -> f64 + Send + 'static) -> Submissions {
    Box::new(jobs.map(move |item| {
        item.map(|submission| match submission {
            Submission::Job(mut job) => {
                job.estimate = estimate(&job).min(LARGEST);
                Submission::Job(job)
            }
            other => other,
        })
    }))
}

static EXACT: EstimatesEntry = EstimatesEntry {
    about: About::new("exact", "every estimate is the run time")
        .definition(
            "Users know how long their jobs run: whatever the workload says, an \
             estimate is the run time.",
        )
        .complexity("O(1) for each job.")
        .source("general"),
    holds_all: false,
    build: |jobs, _, _| Ok(each(jobs, |job| job.runtime)),
};

static FACTOR: EstimatesEntry = EstimatesEntry {
    about: About::new("factor", "estimates are uniform between the run time and a multiple of it")
        .aliases(&["f_model"])
        .definition(
            "An estimate is uniform between the run time and (`f` + 1) times the run \
             time. With `f` = 0 it is exact. Estimates of users are nothing like it: \
             they are few round values, however long a job runs, so that results with \
             this model are kinder to backfilling than a site is.",
        )
        .complexity("O(1) for each job.")
        .source("Mu'alem & Feitelson, IEEE TPDS 12(6), 2001")
        .params(&[Param::new("f", Kind::Number(Range::NonNegative))
            .help("how many run times an estimate is too long at most")]),
    holds_all: false,
    build: |jobs, params, mut stream| {
        let f = params.number("f");
        Ok(each(jobs, move |job| job.runtime * (1.0 + f * stream.unit())))
    },
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::testing::built_flat;

    pub(super) fn built(given: &str) -> Result<Vec<Job>, String> {
        built_flat(given, 128).map_err(|error| error.to_string())
    }

    #[test]
    fn exact_estimates_and_factors() {
        let lublin = "name = 'lublin'\njobs = 20000\n";
        let exact = built(&format!("{lublin}estimates = 'exact'")).unwrap();
        assert_eq!(exact, built(lublin).unwrap());
        let twice = built(&format!("{lublin}estimates = {{ name = 'factor', f = 2 }}")).unwrap();
        let mut sum = 0.0;
        for (a, b) in exact.iter().zip(&twice) {
            assert_eq!(Job { estimate: a.estimate, ..b.clone() }, *a);
            assert!((b.runtime..=3.0 * b.runtime).contains(&b.estimate));
            sum += if b.runtime > 0.0 { b.estimate / b.runtime } else { 2.0 };
        }
        let mean = sum / 20_000.0;
        // The factor is uniform from 1 to 3; four standard errors of its mean.
        assert!((mean - 2.0).abs() < 4.0 * 0.577 / 20_000_f64.sqrt(), "{mean}");
        let cirne = "name = 'cirne_berman'\njobs = 100\nestimates = 'exact'";
        assert!(
            built(cirne).unwrap().iter().all(|job| job.estimate.total_cmp(&job.runtime).is_eq())
        );
    }
}
