//! Fuzz target that reads arbitrary bytes as a log.
//!
//! Nothing may panic, and the jobs read must be in order. Each line that was read must be equal
//! after it is written and read again.

#![no_main]

use std::io::Cursor;

use libfuzzer_sys::fuzz_target;
use meshwork::workload::Submission;
use meshwork::workload::statistics::Statistics;
use meshwork::workload::swf::{LogLine, Record, jobs, records, write_record};

fuzz_target!(|bytes: &[u8]| {
    let reader = || Box::new(Cursor::new(bytes.to_vec()));
    let mut failed = false;
    for line in records(reader(), "log.swf") {
        assert!(!failed, "the first error ends the log");
        match line {
            Ok(LogLine::Record { record, .. }) => round_trip(&record),
            Ok(LogLine::Comment(_)) => {}
            Err(error) => {
                failed = true;
                assert!(error.0.starts_with("log.swf"), "{error}");
            }
        }
    }
    // Small windows make jobs out of order more likely to be late.
    for reorder in [0, 2, 10_000] {
        let mut last = None;
        for item in jobs(reader(), "log.swf", reorder) {
            let Ok(Submission::Job(job)) = item else { continue };
            assert!(last.is_none_or(|last| last <= job.arrival), "jobs come in order of arrival");
            assert!(job.runtime >= 0.0 && job.runtime.is_finite());
            assert!(job.estimate >= 0.0 && job.estimate.is_finite());
            assert!(job.request.nodes() > 0);
            last = Some(job.arrival);
        }
    }
    let _ = Statistics::of(reader(), "log.swf");
});

fn round_trip(record: &Record) {
    let mut text = Vec::new();
    write_record(&mut text, record).expect("writing to memory cannot fail");
    let again = Record::parse(text.trim_ascii_end()).expect("what was written is a line of a log");
    assert_eq!(*record, again);
}
