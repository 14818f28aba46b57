//! Benchmarks of drawing random jobs and of reading lines of a log, without a simulation.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use meshwork::workload::{Inputs, NoInputs, swf};
use meshwork_benches::{Log, scenario};

const JOBS: u64 = 10_000;

fn drawn(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("drawn");
    group.throughput(Throughput::Elements(JOBS));
    for (name, workload) in [
        (
            "synthetic",
            "name = 'synthetic', load = 0.5, sizes = 'uniform', first_jobs = 10000, \
             runtimes = { name = 'exponential', mean = 5.0 }",
        ),
        ("lublin", "name = 'lublin', jobs = 10000"),
        ("jann", "name = 'jann', jobs = 10000"),
        ("cirne_berman", "name = 'cirne_berman', jobs = 10000"),
        ("deep_learning", "name = 'deep_learning', load = 0.5, first_jobs = 10000"),
        (
            "deep_learning with modal estimates",
            "name = 'deep_learning', load = 0.5, first_jobs = 10000, \
             estimates = { name = 'tsafrir', max = 2000000 }",
        ),
        (
            "deep_learning scaled by sizes",
            "name = 'deep_learning', load = 0.5, first_jobs = 10000, scale = { load = 0.8, by = 'size' }",
        ),
    ] {
        let scenario = scenario(&format!(
            "machine = {{ topology = 'mesh', dims = [32, 32] }}
             measure = {{ jobs = {JOBS} }}
             workload = {{ {workload} }}"
        ));
        group.bench_function(name, |b| {
            b.iter(|| {
                let jobs = scenario.jobs(0, &NoInputs).expect("nothing is read");
                assert_eq!(jobs.count() as u64, JOBS);
            });
        });
    }
    group.finish();
}

fn read(criterion: &mut Criterion) {
    let log = Log::lublin(JOBS, 1.0);
    let mut group = criterion.benchmark_group("read");
    group.throughput(Throughput::Elements(JOBS));
    group.bench_function("swf/lines to records", |b| {
        b.iter(|| {
            let text = log.text("log.swf").expect("it is in memory");
            assert_eq!(swf::records(text, "log.swf").count() as u64, JOBS);
        });
    });
    group.bench_function("swf/lines to jobs in order", |b| {
        b.iter(|| {
            let text = log.text("log.swf").expect("it is in memory");
            assert_eq!(swf::jobs(text, "log.swf", swf::REORDER).count() as u64, JOBS);
        });
    });
    group.finish();
}

criterion_group!(benches, drawn, read);
criterion_main!(benches);
