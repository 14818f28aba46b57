//! Whole runs of a log of 50,000 jobs, read from memory.

use criterion::{Criterion, SamplingMode, Throughput, criterion_group, criterion_main};
use meshwork_benches::{Log, scenario};

const JOBS: u64 = 50_000;

fn replay(criterion: &mut Criterion) {
    // At this scale FCFS keeps up with the arrivals, and EASY has a queue to work on.
    let log = Log::lublin(JOBS, 1.0);
    let mut group = criterion.benchmark_group("replay");
    group.throughput(Throughput::Elements(JOBS)).sampling_mode(SamplingMode::Flat).sample_size(10);
    for (name, machine) in [
        ("flat 128", "topology = 'flat', processors = 128"),
        ("mesh 16x8", "topology = 'mesh', dims = [16, 8]"),
    ] {
        for scheduler in ["fcfs", "easy", "conservative"] {
            let scenario = scenario(&format!(
                "machine = {{ {machine} }}
                 scheduler = '{scheduler}'
                 workload = {{ name = 'swf', path = 'log.swf' }}"
            ));
            group.bench_function(format!("{scheduler}/{name}"), |b| {
                b.iter(|| {
                    let outcome = scenario.run(0, &log, &mut ()).expect("the log is right");
                    assert_eq!(outcome.finished, JOBS);
                });
            });
        }
    }
    group.finish();
}

criterion_group!(benches, replay);
criterion_main!(benches);
