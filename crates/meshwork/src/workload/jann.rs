//! Workload model of Jann et al.: classes of job sizes with arrivals and run times of their own.
//!
//! The times between arrivals (gaps) and the run times of each class have three measured moments.
//!
//! Source: J. Jann, P. Pattnaik, H. Franke, F. Wang, J. Skovira and J. Riodan, *Modeling of
//! workload in MPPs*, JSSPP 1997. The paper's tables of parameters are not reprinted here. The
//! classes below were measured anew by the paper's method, on the log and for the days that the
//! paper used.

use crate::job::{Job, Request, Time};
use crate::registry::{About, Kind, LARGEST, Param, Params, Problem, Range};
use crate::rng::Stream;
use crate::topology::MAX_NODES;

use super::distribution::{HyperErlang, MAX_ORDER, Moments};
use super::synthetic::stream;
use super::{BuildError, Submission, WorkloadContext, WorkloadEntry, WorkloadError};

/// Registry entry of the workload `jann`.
pub static ENTRY: WorkloadEntry = WorkloadEntry::new(
    About::new(
        "jann",
        "the model of Jann et al.: classes of sizes, each with gaps and run times \
             of three measured moments",
    )
    .aliases(&["jann97"])
    .definition(
        "Jobs come in classes by size, each with gaps and run times of its own. Either is \
         hyper-Erlang of common order: two Erlang distributions of the least order with which \
         mean, coefficient of variation (`gap_cv`, `run_cv`) and third moment (`gap_third`, \
         `run_third`: the third moment times the mean, over the square of the second) come out \
         exactly. Within a class, a job has its largest size with probability `p_largest`, else \
         any below, all alike. Without `classes` they are those of the CTC SP2, up to 1, 2, 4 … \
         256 and 322 processors. Classes that begin above `processors` are left out, and one that \
         ends above is cut. Estimates are exact.",
    )
    .complexity("O(c) for each job, with c classes, and in expectation; nothing is kept.")
    .source(
        "Jann, Pattnaik, Franke, Wang, Skovira & Riodan, JSSPP 1997; Johnson & \
             Taaffe, Stochastic Models 5(4), 1989. The figures of the classes are \
             measured: on CTC-SP2-1996-3.1-cln of the Parallel Workloads Archive (Dan \
             Dwyer and Steve Hotovy), June 26 to September 12, 1996",
    )
    .params(&[
        Param::new("jobs", Kind::Integer(1, 1_000_000_000_000_000))
            .is("10000")
            .help("how many jobs there are"),
        Param::new("processors", Kind::Integer(1, MAX_NODES as u64))
            .absent("those of the largest site")
            .help("the machine, above which there are no jobs"),
        Param::new("classes", Kind::Tables(CLASS))
            .absent("the ten classes of the CTC SP2")
            .help("the classes, by size"),
    ]),
    |params, setting| Ok(Box::new(Jann::new(params, setting)?)),
)
.in_seconds(true);

/// Parameters with which a study describes one class of job sizes.
const CLASS: &[Param] = &[
    Param::new("largest", Kind::Integer(1, MAX_NODES as u64))
        .help("its largest size; its smallest is one above the largest of the class before"),
    Param::new("p_largest", Kind::Number(Range::Share))
        .is("1.0")
        .help("the share of its jobs that have its largest size"),
    Param::new("gap_mean", Kind::Number(Range::Positive))
        .help("the mean time from one of its jobs to the next"),
    Param::new("gap_cv", Kind::Number(Range::Positive))
        .help("the coefficient of variation of these times"),
    Param::new("gap_third", Kind::Number(Range::AtLeastOne))
        .help("their third moment, times the mean, over the square of the second"),
    Param::new("run_mean", Kind::Number(Range::Positive)).help("the mean run time of its jobs"),
    Param::new("run_cv", Kind::Number(Range::Positive))
        .help("the coefficient of variation of run times"),
    Param::new("run_third", Kind::Number(Range::AtLeastOne))
        .help("their third moment, times the mean, over the square of the second"),
];

/// Measurements of one class of job sizes in a log: two numbers and two lists of moments.
///
/// The first number is the largest size of the class, and the second is the share of the class's
/// jobs that have this size. The first list has the moments of the times between arrivals, and the
/// second list has those of the run times. Moments are the mean, the coefficient of variation and
/// the normalized third moment.
type Measured = (u32, f64, [f64; 3], [f64; 3]);

/// The CTC SP2 from June 26 to September 12, 1996: 17,826 jobs of up to 322 processors. The paper
/// of Jann et al. counts 17,440 jobs from June 25 on, for a partition of 322 nodes.
const CTC: &[Measured] = &[
    (1, 1.0, [869.5771, 2.787_555, 2.520_237], [13_460.5, 1.431_489, 1.231_756]),
    (2, 1.0, [3679.187, 3.155_46, 2.023_324], [14_180.92, 1.604_605, 1.121_863]),
    (4, 0.841_458_2, [2724.607, 2.844_666, 1.917_091], [7378.592, 2.144_658, 1.186_335]),
    (8, 0.609_570_4, [3479.662, 2.437_365, 1.717_871], [5166.73, 2.114_939, 1.469_554]),
    (16, 0.630_769_2, [2833.086, 2.304_771, 2.341_703], [8519.625, 1.766_152, 1.263_814]),
    (32, 0.561_930_8, [6005.34, 2.323_707, 2.198_17], [9225.671, 1.760_739, 1.264_015]),
    (64, 0.597_938_1, [8321.632, 1.773_319, 1.564_14], [12_556.33, 1.448_328, 1.269_497]),
    (128, 0.635, [32_217.19, 1.269_587, 1.414_347], [13_319.83, 1.643_648, 1.169_13]),
    (256, 0.202_020_2, [64_435.46, 2.513_654, 1.463_178], [1279.061, 1.998_487, 1.598_333]),
    (322, 0.02, [136_854.5, 2.225_362, 2.106_425], [8745.48, 2.113_545, 1.162_736]),
];

/// A class of job sizes with its random streams and the arrival of its next job.
struct Class {
    smallest: u32,
    largest: u32,
    p_largest: f64,
    gaps: HyperErlang,
    run_times: HyperErlang,
    next: f64,
    gap_stream: Stream,
    run_stream: Stream,
    size_stream: Stream,
}

impl Class {
    fn nodes(&mut self) -> u32 {
        let below = self.largest - self.smallest;
        if self.size_stream.unit() < self.p_largest || below == 0 {
            return self.largest;
        }
        self.smallest + self.size_stream.below(u64::from(below)) as u32
    }
}

struct Jann {
    classes: Vec<Class>,
    jobs: u64,
    number: u64,
}

impl Jann {
    fn new(params: &Params, setting: &WorkloadContext<'_>) -> Result<Jann, BuildError> {
        let machine = setting.largest().grid().nodes();
        let processors = params.get_integer("processors").map_or(machine, |given| given as u32);
        let described: Vec<Described> = match params.get_tables("classes") {
            None => CTC.iter().map(Described::measured).collect(),
            Some(classes) => classes.iter().map(Described::read).collect::<Result<_, _>>()?,
        };
        let mut classes = Vec::new();
        let mut before = 0;
        for (i, described) in described.into_iter().enumerate() {
            let Described { largest, p_largest, gaps, run_times } = described;
            if largest <= before {
                let says = format!(
                    "`{}.classes[{i}].largest` is {largest}, but must be above {before}, that of \
                     the class before",
                    params.path()
                );
                return Err(params.problem("classes", says).into());
            }
            if before >= processors {
                break;
            }
            let of = |purpose: &str| stream(setting, &format!("{purpose}.class.{i}"));
            let mut class = Class {
                smallest: before + 1,
                largest: largest.min(processors),
                p_largest,
                gaps,
                run_times,
                next: 0.0,
                gap_stream: of("arrivals"),
                run_stream: of("runtimes"),
                size_stream: of("sizes"),
            };
            class.next = class.gaps.draw(&mut class.gap_stream);
            classes.push(class);
            before = largest;
        }
        Ok(Jann { classes, jobs: params.integer("jobs"), number: 0 })
    }
}

/// Parameters of a class of job sizes, before its random streams are created.
struct Described {
    largest: u32,
    p_largest: f64,
    gaps: HyperErlang,
    run_times: HyperErlang,
}

impl Described {
    fn measured(&(largest, p_largest, gap, run): &Measured) -> Described {
        let law = |[mean, cv, third]: [f64; 3]| {
            HyperErlang::fitted(Moments { mean, cv, third }).expect("measured moments have a fit")
        };
        Described { largest, p_largest, gaps: law(gap), run_times: law(run) }
    }

    fn read(class: &Params) -> Result<Described, Problem> {
        let law = |of: &str| {
            let [mean, cv, third] =
                ["mean", "cv", "third"].map(|what| class.number(&format!("{of}_{what}")));
            HyperErlang::fitted(Moments { mean, cv, third }).ok_or_else(|| {
                let says = format!(
                    "`{}` has `{of}_cv` = {cv} and `{of}_third` = {third}, but no hyper-Erlang \
                     distribution of an order up to {MAX_ORDER} has these moments: `{of}_cv` must be \
                     above 0.0317 and `{of}_third` above 1.001",
                    class.path()
                );
                class.problem(&format!("{of}_cv"), says)
            })
        };
        Ok(Described {
            largest: class.integer("largest") as u32,
            p_largest: class.number("p_largest"),
            gaps: law("gap")?,
            run_times: law("run")?,
        })
    }
}

impl Iterator for Jann {
    type Item = Result<Submission, WorkloadError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.number == self.jobs {
            return None;
        }
        self.number += 1;
        let class =
            self.classes.iter_mut().min_by(|a, b| a.next.total_cmp(&b.next)).expect("a class");
        let arrival = class.next;
        class.next += class.gaps.draw(&mut class.gap_stream);
        let nodes = class.nodes();
        let runtime = class.run_times.draw(&mut class.run_stream).min(LARGEST);
        Some(Ok(Submission::Job(Job::new(
            self.number,
            Time::new(arrival),
            Request::Nodes(nodes),
            runtime,
        ))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::testing::built_flat;

    fn built(given: &str, processors: u32) -> Result<Vec<Job>, BuildError> {
        built_flat(&format!("name = 'jann'\n{given}"), processors)
    }

    /// Checks the moments of generated jobs. A mean may differ from its expected value by four
    /// standard errors. In a class with many jobs, the coefficient of variation may differ by 5 %,
    /// and the third moment by 15 %.
    #[test]
    fn every_class_has_the_moments_that_were_measured() {
        let jobs = built("jobs = 600000", 338).unwrap();
        assert!(jobs.is_sorted_by_key(|job| job.arrival));
        let mut before = 0;
        for &(largest, p_largest, gap, run) in CTC {
            let of_class: Vec<&Job> = jobs
                .iter()
                .filter(|job| (before + 1..=u64::from(largest)).contains(&job.request.nodes()))
                .collect();
            let gaps: Vec<f64> =
                of_class.windows(2).map(|pair| pair[1].arrival - pair[0].arrival).collect();
            let run_times: Vec<f64> = of_class.iter().map(|job| job.runtime).collect();
            let n = run_times.len() as f64;
            for (what, values, [mean, cv, third]) in
                [("gap", gaps, gap), ("run time", run_times, run)]
            {
                let drawn = Moments::of(&values).unwrap();
                let slack = 4.0 * cv / n.sqrt();
                assert!(
                    (drawn.mean / mean - 1.0).abs() < slack,
                    "{largest} {what}: {drawn:?} {mean}"
                );
                if n > 20_000.0 {
                    assert!((drawn.cv / cv - 1.0).abs() < 0.05, "{largest} {what}: {drawn:?} {cv}");
                    assert!(
                        (drawn.third / third - 1.0).abs() < 0.15,
                        "{largest} {what}: {drawn:?} {third}"
                    );
                }
            }
            let top = of_class.iter().filter(|job| job.request.nodes() == u64::from(largest));
            let share = top.count() as f64 / n;
            let slack = 4.0 * (p_largest * (1.0 - p_largest) / n).sqrt() + 1e-9;
            assert!((share - p_largest).abs() < slack, "{largest}: {share} {p_largest}");
            before = u64::from(largest);
        }
        // Together, ten streams of arrivals have the sum of their rates.
        let rate: f64 = CTC.iter().map(|class| 1.0 / class.2[0]).sum();
        let gap = jobs.last().unwrap().arrival.units() / jobs.len() as f64;
        assert!((gap * rate - 1.0).abs() < 0.02, "{gap} {}", 1.0 / rate);
    }

    /// Checks a finding of the paper of Jann et al. about the number of exponential stages. Most
    /// distributions of times between arrivals need a single stage. Some distributions of run times
    /// need several, at most 7. On the current version of the log that the paper used, one class
    /// needs 8.
    #[test]
    fn most_gaps_need_one_stage() {
        let orders = |of: fn(&Measured) -> [f64; 3]| {
            let laws = CTC.iter().map(|class| {
                let [mean, cv, third] = of(class);
                HyperErlang::fitted(Moments { mean, cv, third }).unwrap().order()
            });
            laws.collect::<Vec<u32>>()
        };
        assert_eq!(orders(|class| class.2), [1, 1, 1, 1, 1, 1, 1, 2, 2, 1]);
        assert_eq!(orders(|class| class.3), [4, 8, 5, 2, 3, 3, 3, 5, 1, 6]);
    }

    #[test]
    fn the_first_jobs_are_the_same_for_ever() {
        let jobs = built("jobs = 3", 338).unwrap();
        let text: Vec<String> = jobs
            .iter()
            .map(|job| format!("{:.3} {} {:.3}", job.arrival.units(), job.request, job.runtime))
            .collect();
        // A change of these lines changes every result of the model: increase `MODEL_VERSION` too.
        assert_eq!(text, EXPECTED);
    }

    const EXPECTED: [&str; 3] = ["81.135 1 889.425", "192.693 1 13962.471", "216.260 4 97.064"];

    #[test]
    fn classes_are_cut_to_the_machine() {
        for processors in [1, 3, 64, 100, 322, 1000] {
            let jobs = built("jobs = 20000", processors).unwrap();
            let largest = jobs.iter().map(|job| job.request.nodes()).max().unwrap();
            assert!(largest <= u64::from(processors.min(322)), "{processors}: {largest}");
            assert!(
                processors > 100 || largest * 2 > u64::from(processors),
                "{processors}: {largest}"
            );
        }
        assert_eq!(
            built("jobs = 50\nprocessors = 64", 1000).unwrap(),
            built("jobs = 50", 64).unwrap()
        );
    }

    #[test]
    fn what_is_wrong_with_a_class_is_said() {
        let sentence =
            |classes: &str| built(&format!("classes = [{classes}]"), 64).unwrap_err().to_string();
        let class = |largest: u32, cv: f64| {
            format!(
                "{{ largest = {largest}, gap_mean = 10, gap_cv = {cv}, gap_third = 2, run_mean = 5, run_cv = 1, \
                 run_third = 1.5 }}"
            )
        };
        assert_eq!(
            sentence(&format!("{}, {}", class(4, 1.0), class(4, 1.0))),
            "`workload.classes[1].largest` is 4, but must be above 4, that of the class before"
        );
        assert_eq!(
            sentence(&class(4, 0.01)),
            "`workload.classes[0]` has `gap_cv` = 0.01 and `gap_third` = 2, but no hyper-Erlang distribution of an \
             order up to 1000 has these moments: `gap_cv` must be above 0.0317 and `gap_third` above 1.001"
        );
        let given = format!("jobs = 40\nclasses = [{}, {}]", class(4, 1.0), class(9, 2.0));
        assert!(built(&given, 64).unwrap().iter().all(|job| [4, 9].contains(&job.request.nodes())));
    }
}
