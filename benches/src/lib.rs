//! What the benchmarks share: machines that are half full, and logs in memory.

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

/// A site of which at least half the nodes are held, by blocks with sides of up to a share of the
/// machine's and at least 3, wherever they fell free, and those blocks in order. The same for the
/// same topology and share.
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
        // A block that lies on held nodes or over an edge is drawn again.
        if site.claim(&placement).is_ok() {
            held.push(placement);
        }
    }
    (site, held)
}

/// An allocator with default parameters that has been told of these claims, one each unit of time.
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

/// Blocks with sides uniform from 1 to this share of the machine's sides, at least 1.
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

/// The same, in the form that an allocator asks for; those that it could never hold are left out.
#[must_use]
pub fn requests_to(name: &str, topology: &Topology, share: f64, count: usize) -> Vec<Request> {
    let blocks = requests(topology, share, count);
    let shape = |block| shaped(block, asks(name), topology, ShapeRule::Squarest);
    blocks.iter().filter_map(shape).collect()
}

/// Whether an allocator works on a machine.
#[must_use]
pub fn works_on(name: &str, topology: &Topology) -> bool {
    entry::<AllocatorEntry>(ALLOCATORS, name).works_on(topology)
}

/// An allocator and its parameters, as in `first_fit rotation='best'`; `; ` between two of them.
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

/// The form in which an allocator, given as above, asks.
#[must_use]
pub fn asks(named: &str) -> Asks {
    let name = named.split(' ').next().unwrap_or(named);
    entry(ALLOCATORS, name).asks
}

/// A log in memory, under whatever path it is asked for.
#[derive(Clone)]
pub struct Log(Arc<[u8]>);

impl Log {
    /// So many jobs of the Lublin–Feitelson model for 128 processors, as a log, with gaps between
    /// arrivals scaled. They are of 61 users.
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

    /// So many jobs that wait from the beginning, and so many more, of which one comes whenever one should end on
    /// a machine of so many nodes. They ask for up to an eighth of it, in so many different counts if that
    /// many there are, and for up to five times as long as they run.
    #[must_use]
    pub fn waiting(queue: u64, more: u64, nodes: u32, counts: u32) -> Log {
        let (mut text, mut rng) = (Vec::new(), Stream::new(1, 0, "waiting"));
        let most = u64::from((nodes / 8).max(1));
        let counts = u64::from(counts).min(most);
        // Mean nodes and mean run time; not quite all of a machine is ever held.
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

    /// Its bytes.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }
}

/// How many users a log has.
const USERS: u64 = 61;

/// Appends a job to a log: its number, its processors, when it comes, how long it runs and is said to run, and whose it is.
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

/// A scenario from TOML.
#[must_use]
pub fn scenario(text: &str) -> Scenario {
    let table: Table = text.parse().expect("the benchmark writes TOML");
    Scenario::read(&table).unwrap_or_else(|problem| panic!("{problem}"))
}
