//! Study of a choice, for the tests of several crates.

/// Study with six candidates on a small machine, and with runs of some hundred microseconds.
pub(crate) const CANDIDATES: &str = "
[machine]
topology = 'mesh'
dims = [4, 4]
[workload]
name = 'synthetic'
load = 0.5
sizes = 'uniform'
runtimes = { name = 'exponential', mean = 5.0 }
[measure]
jobs = 150
metrics = ['wait', 'utilization']
[sweep]
scheduler = ['fcfs', 'easy', 'sjf']
allocator = ['first_fit', 'random']
";
