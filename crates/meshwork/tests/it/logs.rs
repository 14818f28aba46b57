//! Compares logs of the Parallel Workloads Archive with the archive's own description of them.
//!
//! Without local copies of the logs the tests are skipped.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;

use flate2::read::MultiGzDecoder;
use meshwork::job::Job;
use meshwork::scenario::Scenario;
use meshwork::workload::distribution::Moments;
use meshwork::workload::statistics::Statistics;
use meshwork::workload::{Inputs, Rows, Submission, WorkloadError, swf};

/// Opens a log; prints a note and returns `None` if there is no copy of it.
fn open(name: &str) -> Option<Box<dyn BufRead + Send>> {
    let logs = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/traces");
    match File::open(logs.join(format!("{name}.swf.gz"))) {
        Ok(file) => Some(Box::new(BufReader::new(MultiGzDecoder::new(file)))),
        Err(error) => {
            #[expect(clippy::print_stderr, reason = "a test that is skipped says so")]
            {
                eprintln!("skipped: the log {name} cannot be opened: {error}");
            }
            None
        }
    }
}

struct Expected {
    name: &'static str,
    lines: u64,
    no_run_time: u64,
    no_processors: u64,
    zero_run_time: u64,
    no_request: u64,
    beyond_request: u64,
    machine: u64,
    largest: u64,
    days: f64,
    out_of_order: u64,
}

#[rustfmt::skip]
const LOGS: [Expected; 6] = [
    Expected { name: "SDSC-SP2-1998-4.2-recon-cln", lines: 54_523, no_run_time: 0, no_processors: 0,
        zero_run_time: 0, no_request: 0, beyond_request: 0, machine: 128, largest: 128,
        days: 729.4, out_of_order: 0 },
    Expected { name: "CTC-SP2-1996-3.1-cln", lines: 77_222, no_run_time: 0, no_processors: 0,
        zero_run_time: 17, no_request: 6, beyond_request: 7_174, machine: 338, largest: 336,
        days: 339.1, out_of_order: 0 },
    Expected { name: "NASA-iPSC-1993-3.1-cln", lines: 18_239, no_run_time: 0, no_processors: 0,
        zero_run_time: 173, no_request: 18_239, beyond_request: 0, machine: 128, largest: 128,
        days: 92.0, out_of_order: 0 },
    // Of the 2,248 lines without processors 1,190 have neither a run time nor a submit time.
    Expected { name: "LLNL-Thunder-2007-1.1-cln", lines: 121_039, no_run_time: 1_190,
        no_processors: 1_058, zero_run_time: 0, no_request: 0, beyond_request: 0, machine: 4_008,
        largest: 3_860, days: 150.2, out_of_order: 808 },
    Expected { name: "ANL-Intrepid-2009-1-first10k", lines: 10_000, no_run_time: 0,
        no_processors: 0, zero_run_time: 0, no_request: 0, beyond_request: 1_082,
        machine: 163_840, largest: 163_840, days: 41.4, out_of_order: 0 },
    Expected { name: "lublin_256", lines: 10_000, no_run_time: 0, no_processors: 0,
        zero_run_time: 0, no_request: 10_000, beyond_request: 0, machine: 256, largest: 256,
        days: 89.2, out_of_order: 0 },
];

#[test]
fn statistics_are_those_of_the_listing() {
    for expected in LOGS {
        let Some(reader) = open(expected.name) else { continue };
        let got = Statistics::of(reader, expected.name).unwrap();
        let name = expected.name;
        assert_eq!(got.lines, expected.lines, "{name}");
        assert_eq!(got.no_run_time, expected.no_run_time, "{name}");
        assert_eq!(got.no_processors, expected.no_processors, "{name}");
        assert_eq!(got.no_submit_time, 0, "{name}");
        assert_eq!(got.jobs, expected.lines - got.unusable(), "{name}");
        assert_eq!(got.out_of_order, expected.out_of_order, "{name}");
        assert_eq!(got.machine(), Some(expected.machine), "{name}");
        assert_eq!(got.largest_job, Some(expected.largest), "{name}");
        let last_end_is_later = got.span().unwrap() / 86_400.0 <= expected.days + 0.05;
        assert!(last_end_is_later, "{name}: {:?}", got.span());
        if got.unusable() == 0 {
            assert_eq!(got.zero_run_time, expected.zero_run_time, "{name}");
            assert_eq!(got.no_request, expected.no_request, "{name}");
            assert_eq!(got.beyond_request, expected.beyond_request, "{name}");
        }
    }
}

#[test]
fn jobs_come_in_order_and_none_is_lost() {
    for expected in LOGS {
        let Some(reader) = open(expected.name) else { continue };
        let (mut jobs, mut unusable) = (0, 0);
        let mut last = 0.0;
        for item in swf::jobs(reader, expected.name, swf::REORDER) {
            match item.unwrap() {
                Submission::Job(job) => {
                    assert!(job.arrival.units() >= last, "{}", expected.name);
                    last = job.arrival.units();
                    jobs += 1;
                }
                _ => unusable += 1,
            }
        }
        assert_eq!(unusable, expected.no_run_time + expected.no_processors, "{}", expected.name);
        assert_eq!(jobs + unusable, expected.lines, "{}", expected.name);
    }
}

#[test]
fn a_log_that_is_written_reads_as_the_same_records() {
    for expected in LOGS {
        let Some(reader) = open(expected.name) else { continue };
        let lines: Vec<swf::LogLine> =
            swf::records(reader, expected.name).map(Result::unwrap).collect();
        let mut text = Vec::new();
        let mut header = swf::Header::default();
        for line in &lines {
            if let swf::LogLine::Comment(comment) = line {
                header.add(comment);
            }
        }
        swf::write_header(&mut text, &header).unwrap();
        let records = |lines: Vec<swf::LogLine>| -> Vec<swf::Record> {
            lines
                .into_iter()
                .filter_map(|line| match line {
                    swf::LogLine::Record { record, .. } => Some(record),
                    swf::LogLine::Comment(_) => None,
                })
                .collect()
        };
        let before = records(lines);
        for record in &before {
            swf::write_record(&mut text, record).unwrap();
        }
        let reader = || Box::new(std::io::Cursor::new(text.clone()));
        let again: Vec<swf::LogLine> =
            swf::records(reader(), "again").map(Result::unwrap).collect();
        assert!(records(again) == before, "{}", expected.name);
        assert_eq!(swf::header(reader(), "again").unwrap(), header, "{}", expected.name);
    }
}

/// Opens local copies of logs by name.
struct Logs;

impl Inputs for Logs {
    fn text(&self, path: &str) -> Result<Box<dyn BufRead + Send>, WorkloadError> {
        open(path).ok_or_else(|| WorkloadError(format!("{path} is not at hand")))
    }

    fn rows(&self, path: &str) -> Result<Rows, WorkloadError> {
        Err(WorkloadError(format!("{path} is no table")))
    }
}

/// Compares the split jobs of a log with Table IV of Shih, Huang & Chung.
///
/// If jobs above 128, 96, 64 or 32 processors are split, that table has 54,041, 54,305, 54,534 or
/// 58,890 jobs. So 264 jobs request more than 96 processors, and 493 jobs more than 64.
///
/// The log of this test is a reconstruction. It agrees with these two numbers, but has 482 jobs
/// more in all. It has 4,252 jobs above 32 processors, while 4,092 follow from the table.
#[test]
fn the_sdsc_log_splits_as_the_paper_on_grids_says() {
    let name = "SDSC-SP2-1998-4.2-recon-cln";
    if open(name).is_none() {
        return;
    }
    let sizes = |share: f64| -> Vec<u64> {
        let study = format!(
            "workload = {{ name = 'swf', path = '{name}', split_above = {share:?} }}
             machine = {{ sites = [ {{ topology = 'flat', processors = 8 }},
                                    {{ topology = 'flat', processors = 128 }},
                                    {{ topology = 'flat', processors = 50 }} ] }}"
        );
        let jobs = Scenario::read(&study.parse().unwrap()).unwrap().jobs(0, &Logs).unwrap();
        jobs.filter_map(|item| match item.unwrap() {
            Submission::Job(job) => Some(job.request.nodes()),
            _ => None,
        })
        .collect()
    };
    let whole = sizes(1.0);
    assert_eq!(whole.iter().sum::<u64>(), 681_660);
    for (share, above, parts, published_mean) in [
        (1.0, 0, 54_523, 12.29),
        (0.75, 264, 54_523 + 264, 12.23),
        (0.5, 493, 54_523 + 493, 12.18),
        (0.25, 4_252, 59_532, 11.28),
    ] {
        let limit = (128.0 * share) as u64;
        assert_eq!(whole.iter().filter(|&&size| size > limit).count(), above, "{share}");
        let split = sizes(share);
        assert_eq!(split.len(), parts, "{share}");
        assert_eq!(split.iter().copied().max(), Some(limit), "{share}");
        assert_eq!(split.iter().sum::<u64>(), 681_660, "{share}: no processor is lost");
        let mean = 681_660.0 / parts as f64;
        assert!((mean / published_mean - 1.0).abs() < 0.02, "{share}: a mean of {mean}");
    }
}

const CTC: &str = "CTC-SP2-1996-3.1-cln";

/// Jobs of a workload in TOML, on a machine of 338 processors.
fn jobs_of(workload: &str) -> Vec<Job> {
    let study =
        format!("workload = {{ {workload} }}\nmachine = {{ topology = 'flat', processors = 338 }}");
    let jobs = Scenario::read(&study.parse().unwrap()).unwrap().jobs(0, &Logs).unwrap();
    jobs.filter_map(|item| match item.unwrap() {
        Submission::Job(job) => Some(job),
        _ => None,
    })
    .collect()
}

/// Tests that `jann` draws nearly its default jobs from size classes measured on the log.
///
/// The default classes were measured in the same way. The measured jobs are those from June 26,
/// 17:06, to September 12, 1996.
#[test]
fn the_classes_of_jann_are_measured_on_the_log() {
    if open(CTC).is_none() {
        return;
    }
    let end = 79 * 86_400 - (17 * 3_600 + 6 * 60);
    let mut log = jobs_of(&format!("name = 'swf', path = '{CTC}', until = {end}"));
    log.retain(|job| job.request.nodes() <= 322);
    // The paper counts 17,440, from the day before on.
    assert_eq!(log.len(), 17_826);
    let mut classes = Vec::new();
    let mut from = 1;
    for to in [1, 2, 4, 8, 16, 32, 64, 128, 256, 322] {
        let class: Vec<&Job> =
            log.iter().filter(|job| (from..=to).contains(&job.request.nodes())).collect();
        let gaps: Vec<f64> =
            class.windows(2).map(|pair| pair[1].arrival - pair[0].arrival).collect();
        let run_times: Vec<f64> = class.iter().map(|job| job.runtime).collect();
        let (gap, run) = (Moments::of(&gaps).unwrap(), Moments::of(&run_times).unwrap());
        let largest = class.iter().filter(|job| job.request.nodes() == to).count();
        classes.push(format!(
            "{{ largest = {to}, p_largest = {:?}, gap_mean = {:?}, gap_cv = {:?}, gap_third = {:?}, run_mean = {:?}, run_cv = \
             {:?}, run_third = {:?} }}",
            largest as f64 / class.len() as f64,
            gap.mean,
            gap.cv,
            gap.third,
            run.mean,
            run.cv,
            run.third
        ));
        from = to + 1;
    }
    let of_class = |jobs: &[Job], class: u32| -> Vec<(u64, f64)> {
        let jobs = jobs.iter().filter(|job| job.request.size_class() == class);
        jobs.map(|job| (job.request.nodes(), job.runtime)).collect()
    };
    let measured = jobs_of(&format!("name = 'jann', classes = [{}]", classes.join(", ")));
    let declared = jobs_of("name = 'jann'");
    let (mut same, mut all) = (0, 0);
    for class in 0..10 {
        for (a, b) in of_class(&measured, class).iter().zip(of_class(&declared, class)) {
            // The declared digits are few: a job in a thousand falls on the other side of a share.
            same += usize::from(a.0 == b.0 && (a.1 / b.1 - 1.0).abs() < 0.01);
            all += 1;
        }
    }
    assert!(all > 9_900 && same as f64 > 0.98 * all as f64, "{same} of {all}");
}

/// In a log and in a model of it, the 20 most frequent requested times cover 89 of 100 jobs.
///
/// The longest requested time is also the most frequent one. The model was made from this log and
/// three others.
#[test]
fn requested_times_are_as_modal_as_the_model_of_tsafrir() {
    if open(CTC).is_none() {
        return;
    }
    let log = jobs_of(&format!("name = 'swf', path = '{CTC}'"));
    let model = jobs_of(&format!(
        "name = 'swf', path = '{CTC}', estimates = {{ name = 'tsafrir', max = 64800 }}"
    ));
    let popular = |jobs: &[Job]| -> (f64, f64, f64) {
        let mut counts: BTreeMap<u64, u64> = BTreeMap::new();
        for job in jobs {
            *counts.entry(job.estimate.to_bits()).or_default() += 1;
        }
        let max = jobs.iter().map(|job| job.estimate).fold(0.0, f64::max);
        let mut shares: Vec<f64> =
            counts.values().map(|&count| count as f64 / jobs.len() as f64).collect();
        shares.sort_by(|a, b| b.total_cmp(a));
        let head = shares[..20].iter().sum();
        let longest = counts[&max.to_bits()] as f64 / jobs.len() as f64;
        assert!((longest - shares[0]).abs() < 1e-12, "the longest is the most popular");
        (head, max, longest)
    };
    let (of_log, of_model) = (popular(&log), popular(&model));
    assert!((of_log.1 - of_model.1).abs() < 1e-9, "18 hours at most");
    assert!((of_log.0 - of_model.0).abs() < 0.01, "{of_log:?} {of_model:?}");
    assert!((of_log.2 - of_model.2).abs() < 0.03, "{of_log:?} {of_model:?}");
    assert!(model.iter().all(|job| job.runtime <= job.estimate));
}
