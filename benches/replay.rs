//! Benchmarks of whole runs, with jobs from a log that is read from memory.

use criterion::{Criterion, SamplingMode, Throughput, criterion_group, criterion_main};
use meshwork_benches::{Log, scenario};

const FLAT: &str = "topology = 'flat', processors = 128";
const MESH: &str = "topology = 'mesh', dims = [16, 8]";

const FAIL: &str = "failures = { mtbf = 2592000, repair = 7200 }";
const PARTS: &str =
    "topology = 'flat', processors = 128, partitions = [{ name = 'a', default = true }]";
const SLEEP: &str = "energy = { idle = 120, busy = 350, sleep = 15, sleep_after = 300, wake = 60, wake_energy = 2e4 }";

/// Cases of the benchmark.
///
/// A case consists of a scheduler, a name for the machine, the machine, further settings of the
/// scenario and of the workload, and the number of jobs. A case whose jobs take longer to simulate
/// has fewer jobs.
const CASES: &[(&str, &str, &str, [&str; 2], u64)] = &[
    ("fcfs", "flat 128", FLAT, ["", ""], 50_000),
    ("easy", "flat 128", FLAT, ["", ""], 50_000),
    ("conservative", "flat 128", FLAT, ["", ""], 50_000),
    ("fcfs", "mesh 16x8", MESH, ["", ""], 50_000),
    ("easy", "mesh 16x8", MESH, ["", ""], 50_000),
    ("conservative", "mesh 16x8", MESH, ["", ""], 2_000),
    ("easy", "flat 128 that sleeps", FLAT, [SLEEP, ""], 50_000),
    ("easy", "flat 128 that fails", FLAT, [FAIL, ""], 50_000),
    ("easy", "flat 128, a partition", PARTS, ["", ""], 50_000),
    ("priority", "flat 128", FLAT, ["", ""], 50_000),
    ("fair_share", "flat 128", FLAT, ["", ""], 50_000),
    ("edf", "flat 128", FLAT, ["", "deadlines = { factor = 4 },"], 50_000),
    ("easy", "flat 128, closed loop", FLAT, ["", "dependencies = 'user',"], 50_000),
];

fn replay(criterion: &mut Criterion) {
    let log = Log::lublin(50_000, 1.0);
    let mut group = criterion.benchmark_group("replay");
    group.sampling_mode(SamplingMode::Flat).sample_size(10);
    for &(scheduler, machine, table, [more, of_jobs], jobs) in CASES {
        let scenario = scenario(&format!(
            "machine = {{ {table} }}
             scheduler = '{scheduler}'
             {more}
             workload = {{ name = 'swf', path = 'log.swf', {of_jobs} first_jobs = {jobs} }}"
        ));
        group.throughput(Throughput::Elements(jobs));
        group.bench_function(format!("{scheduler}/{machine}/{jobs} jobs"), |b| {
            b.iter(|| {
                let outcome = scenario.run(0, &log, &mut ()).expect("the log is right");
                assert_eq!(outcome.finished, jobs);
            });
        });
    }
    group.finish();
}

criterion_group!(benches, replay);
criterion_main!(benches);
