//! Resampling by small random changes of each job.

use crate::job::{Job, Time};
use crate::registry::{About, Kind, Param, Range};
use crate::rng::Stream;
use crate::workload::WorkloadError;

use super::{ResampleEntry, Resampling};

pub(super) static ENTRY: ResampleEntry = ResampleEntry {
    about: About {
        name: "shake",
        aliases: &[],
        summary: "small random changes of arrivals, run times and estimates",
        definition: "Every job arrives up to `arrivals` earlier or later, and its run time and estimate are up to a share \
                     `runtimes` and `estimates` shorter or longer, each uniform and independent. A job that ended within \
                     its estimate still does. Results that change much hang on coincidences of the log; intervals over \
                     shaken logs do not tell how another month would be.",
        complexity: "O(n log n) for n jobs, held in memory.",
        source: "Tsafrir, Ouaknine & Feitelson, Reducing performance evaluation sensitivity and variability by input \
                 shaking, MASCOTS 2007",
        params: &[
            Param::new("arrivals", Kind::Number(Range::NonNegative))
                .is("60.0")
                .help("how much earlier or later a job arrives, at most"),
            Param::new("runtimes", Kind::Number(Range::Share))
                .is("0.02")
                .help("the share by which a run time is shorter or longer, at most"),
            Param::new("estimates", Kind::Number(Range::Share))
                .absent("estimates stay, except those that a run time reaches")
                .help("the share by which an estimate is shorter or longer, at most"),
        ],
    },
    asks_for_owners: false,
    apply,
};

fn apply(
    own: &Resampling,
    mut jobs: Vec<Job>,
    mut stream: Stream,
) -> Result<Vec<Job>, WorkloadError> {
    let arrivals = own.params.number("arrivals");
    let runtimes = own.params.number("runtimes");
    let estimates = own.params.get_number("estimates").unwrap_or(0.0);
    let mut around = |most: f64| most * (2.0 * stream.unit() - 1.0);
    for job in &mut jobs {
        let (later, longer, estimate) = (around(arrivals), around(runtimes), around(estimates));
        job.move_to(Time::new((job.arrival.units() + later).max(0.0)));
        let is_within = job.runtime <= job.estimate;
        let is_exact = job.runtime.total_cmp(&job.estimate).is_eq();
        job.runtime *= 1.0 + longer;
        job.estimate *= 1.0 + estimate;
        if is_exact || is_within && job.estimate < job.runtime {
            job.estimate = job.runtime;
        }
    }
    Ok(jobs)
}
