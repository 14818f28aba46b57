//! Helpers of the benchmarks, such as half-full machines and logs in memory.

use std::io::{BufRead, Cursor};
use std::sync::Arc;

use meshwork::alloc::{ALLOCATORS, Allocator, AllocatorEntry};
use meshwork::form::Asks;
use meshwork::job::{Dims, Request, Time};
use meshwork::machine::{Block, Placement, Site};
use meshwork::registry::{Params, entry, resolve};
use meshwork::rng::Stream;
use meshwork::scenario::Scenario;
use meshwork::shape::{ShapeRule, shaped};
use meshwork::topology::Topology;
use meshwork::workload::swf::{Record, write_record};
use meshwork::workload::{Inputs, NoInputs, Rows, Submission, WorkloadError};
use toml::Table;

/// Site of which at least half of the nodes are held, and the held blocks in order of their claims.
///
/// The blocks are at random free positions. A side is drawn from 1 to `share` times the machine's
/// side, or from 1 to 3 if `share` allows fewer. The result depends only on the arguments.
#[must_use]
pub fn half_full(topology: &Topology, share: f64) -> (Site, Vec<Placement>) {
    let mut site = Site::new(topology.clone(), 1.0);
    let mut held = Vec::new();
    let grid = site.grid().clone();
    let mut rng = Stream::new(1, 0, "half full");
    while site.free_nodes() * 2 > site.nodes() {
        let most = |side: u32| ((f64::from(side) * share) as u32).max(3).min(side);
        let sides: Dims =
            grid.sides().iter().map(|&side| 1 + rng.below(u64::from(most(side))) as u32).collect();
        let base = rng.below(u64::from(grid.nodes())) as u32;
        let placement = Placement::from(Block { base, sides });
        // A block that overlaps held nodes or exceeds an edge is drawn again.
        if site.claim(&placement).is_ok() {
            held.push(placement);
        }
    }
    (site, held)
}

/// Allocator with default parameters that has recorded the claims `held`, one per unit of time.
#[must_use]
pub fn allocator_of(name: &str, topology: &Topology, held: &[Placement]) -> Box<dyn Allocator> {
    let mut allocator = allocator(name, topology);
    let mut site = Site::new(topology.clone(), 1.0);
    for (i, placement) in held.iter().enumerate() {
        site.claim(placement).unwrap_or_else(|problem| panic!("it was claimed: {problem}"));
        allocator.claimed(placement, &site, Time::new(i as f64).into());
    }
    allocator
}

/// Random requests for blocks, with sides from 1 up to `share` times the machine's sides.
#[must_use]
pub fn requests(topology: &Topology, share: f64, count: usize) -> Vec<Request> {
    let mut rng = Stream::new(1, 0, "requests");
    let mut side = |&side: &u32| {
        let most = (f64::from(side) * share).max(1.0) as u64;
        1 + rng.below(most) as u32
    };
    let sides = topology.grid().sides();
    (0..count).map(|_| Request::Block(sides.iter().map(&mut side).collect())).collect()
}

/// Random requests as made by [`requests`], converted to the form that the named allocator accepts.
///
/// Requests that the allocator could never serve are left out.
#[must_use]
pub fn requests_to(name: &str, topology: &Topology, share: f64, count: usize) -> Vec<Request> {
    let blocks = requests(topology, share, count);
    let shape = |block| shaped(block, asks(name), topology, ShapeRule::Squarest);
    blocks.iter().filter_map(shape).collect()
}

/// Whether the allocator with the given name works on a machine.
#[must_use]
pub fn works_on(name: &str, topology: &Topology) -> bool {
    entry::<AllocatorEntry>(ALLOCATORS, name).works_on(topology)
}

/// Allocator described by a text such as `first_fit rotation='best'`.
///
/// The text is a name, optionally followed by a space and by parameters. Parameters are separated
/// by `; `.
#[must_use]
pub fn allocator(named: &str, topology: &Topology) -> Box<dyn Allocator> {
    let (name, given) = named.split_once(' ').unwrap_or((named, ""));
    let given: Table = given.replace("; ", "\n").parse().expect("the benchmark writes TOML");
    let entry: &AllocatorEntry = entry(ALLOCATORS, name);
    let declared: Vec<_> = entry.about.params.iter().collect();
    let params: Params = resolve("allocator", &declared, &given, &[])
        .unwrap_or_else(|problem| panic!("the benchmark gives what is right: {problem}"));
    (entry.build)(&params, topology)
        .unwrap_or_else(|problem| panic!("the benchmark gives what is right: {problem}"))
}

/// Form of request, such as a block or a count, that an allocator accepts.
#[must_use]
pub fn asks(named: &str) -> Asks {
    let name = named.split(' ').next().unwrap_or(named);
    entry(ALLOCATORS, name).asks
}

/// Log in memory. A study that opens an input file gets this log, whatever the path.
#[derive(Clone)]
pub struct Log(Arc<[u8]>);

impl Log {
    /// A log of `jobs` jobs of 61 users, drawn from the Lublin–Feitelson model for 128 processors.
    ///
    /// Interarrival times are multiplied by `arrival_scale`.
    #[must_use]
    pub fn lublin(jobs: u64, arrival_scale: f64) -> Log {
        let table = format!(
            "machine = {{ topology = 'flat', processors = 128 }}
             workload = {{ name = 'lublin', jobs = {jobs}, arrival_scale = {arrival_scale} }}"
        );
        let mut text = Vec::new();
        for item in scenario(&table).jobs(0, &NoInputs).expect("the model reads nothing") {
            let Ok(Submission::Job(job)) = item else { continue };
            let times = [job.arrival.units(), job.runtime, job.estimate];
            let user = job.number * 7 % USERS;
            append(&mut text, job.number, job.request.nodes(), times, Some(user));
        }
        Log(text.into())
    }

    /// Log for a run with a queue of constant length.
    ///
    /// `queue` jobs wait from the beginning, and `more` jobs arrive as fast as jobs end. A job
    /// requests up to an eighth of the machine's nodes. Requests have `counts` different counts of
    /// nodes, or fewer if an eighth of the machine has fewer nodes. Estimates are up to five times
    /// the run time.
    #[must_use]
    pub fn waiting(queue: u64, more: u64, nodes: u32, counts: u32) -> Log {
        let (mut text, mut rng) = (Vec::new(), Stream::new(1, 0, "waiting"));
        let most = u64::from((nodes / 8).max(1));
        let counts = u64::from(counts).min(most);
        // Mean work of a job, divided by the nodes that are in use on average: 90 % of the machine.
        let gap = (most as f64 / 2.0) * 500.0 / (0.9 * f64::from(nodes));
        for job in 0..queue + more {
            let arrival = job.saturating_sub(queue) as f64 * gap;
            let count = (1 + rng.below(counts)) * most / counts;
            let runtime = (1 + rng.below(1_000)) as f64;
            let estimate = runtime * (1.0 + 4.0 * rng.unit());
            append(
                &mut text,
                job + 1,
                count.max(1),
                [arrival.floor(), runtime, estimate.ceil()],
                None,
            );
        }
        Log(text.into())
    }

    /// Text of the log as bytes.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }
}

const USERS: u64 = 61;

/// Appends a job to a log. `times` are its submission, run time and estimate.
fn append(text: &mut Vec<u8>, number: u64, processors: u64, times: [f64; 3], user: Option<u64>) {
    let mut record = Record { fields: [-1.0; 18] };
    record.fields[0] = number as f64;
    [record.fields[1], record.fields[3], record.fields[8]] = times;
    [record.fields[4], record.fields[7]] = [processors as f64; 2];
    record.fields[11] = user.map_or(-1.0, |user| user as f64);
    write_record(text, &record).expect("writing to memory cannot fail");
}

impl Inputs for Log {
    fn text(&self, _path: &str) -> Result<Box<dyn BufRead + Send>, WorkloadError> {
        Ok(Box::new(Cursor::new(Arc::clone(&self.0))))
    }

    fn rows(&self, path: &str) -> Result<Rows, WorkloadError> {
        NoInputs.rows(path)
    }
}

/// A scenario read from TOML.
#[must_use]
pub fn scenario(text: &str) -> Scenario {
    let table: Table = text.parse().expect("the benchmark writes TOML");
    Scenario::read(&table).unwrap_or_else(|problem| panic!("{problem}"))
}
