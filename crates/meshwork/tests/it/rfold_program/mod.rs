//! Event loop of RFold's program, rewritten to call the allocators of the model.
//!
//! It defines when each job is tried, the order of events within an instant, the shape of a job
//! after a fold that did not fit, and which jobs are dropped.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

use flate2::Crc;
use meshwork::alloc::optical::rfold::Rfold;
use meshwork::alloc::optical::{PathSearch, Ties, folded_for_cubes, folded_for_torus};
use meshwork::alloc::{ALLOCATORS, Allocator, Ask, FAMILY};
use meshwork::job::{Request, Time};
use meshwork::machine::{Block, Placement, Site};
use meshwork::registry::entry;
use meshwork::rng::Stream;
use meshwork::topology::Topology;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    FirstFit,
    Folding,
    Reconfigurable,
    Rfold,
    Hilbert,
}

impl Way {
    /// TOML keys that select the allocator for a placement method.
    pub(crate) fn allocator(self, side: u32, ties: &str) -> String {
        match self {
            Way::FirstFit => {
                "name = 'first_fit', rotation = 'if_needed', scan = 'last_dimension'".to_owned()
            }
            Way::Folding => format!("name = 'folding', ties = '{ties}'"),
            Way::Reconfigurable => {
                format!("name = 'reconfigurable_blocks', cube = {side}, ties = '{ties}'")
            }
            Way::Rfold => format!("name = 'rfold', cube = {side}, ties = '{ties}'"),
            Way::Hilbert => "name = 'curve', curve = 'hilbert', fit = 'first_fit'".to_owned(),
        }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Submitted {
    pub id: u64,
    pub arrival: u64,
    pub duration: u64,
    pub shape: [u32; 3],
}

/// Result of a job in RFold's program: its start and its waits.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub id: u64,
    pub duration: u64,
    /// Start of the job; `None` if the job was dropped.
    pub started: Option<Started>,
    /// How long the job waited for processors, and how long for a shape, since its first try.
    pub waits: [u64; 2],
    shape: [u32; 3],
    tried: bool,
    /// Time and reason of the last rejection.
    rejected: Option<(u64, usize)>,
}

#[derive(Clone, Debug)]
pub(crate) struct Started {
    pub start: u64,
    /// Sides of the job's block, in ascending order.
    pub shape: [u32; 3],
    /// Checksum of the job's nodes. The recorded runs have such checksums too.
    pub crc: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Waiter {
    /// Whether only an arrival wakes the waiter, because the queue was empty when it began to wait.
    ///
    /// A waiter is a process of RFold's program that waits for a signal. If `false`, the end of a
    /// job wakes it too.
    for_arrival: bool,
    job: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Event {
    Guard,
    Idle,
    Begin,
    Arrival(usize),
    /// The arrival or the end of a job, and the waiting process that this event wakes, if any.
    Signal(Option<Waiter>),
    Woken(Waiter),
    Try(usize),
    NewGuard,
    /// Event that follows the start of a job.
    ///
    /// The guard is a process of RFold's program that waits for the next end of a job. If the flag
    /// is `true`, the guard had no job to wait for when this event was queued.
    Running(bool),
    Timer(u64, usize),
}

pub(crate) struct Program {
    way: Way,
    ties: Ties,
    side: u32,
    shortest: u32,
    has_failed: bool,
    site: Site,
    allocator: Box<dyn Allocator>,
    rfold: Rfold,
    trace: Vec<Submitted>,
    rows: Vec<Row>,
    queue: BTreeSet<usize>,
    running: BTreeSet<(u64, usize)>,
    held: BTreeMap<usize, Placement>,
    events: BinaryHeap<Reverse<(u64, u8, u64, usize)>>,
    pushed: Vec<Event>,
    now: u64,
    next: u64,
    timer: Option<u64>,
    timers: u64,
    waiter: Option<(Waiter, bool)>,
}

impl Program {
    pub(crate) fn new(
        dims: [u32; 3],
        side: u32,
        way: Way,
        failed: &[[u32; 3]],
        ties: Ties,
        trace: Vec<Submitted>,
    ) -> Program {
        let topology = Topology::torus(&dims).unwrap();
        let mut site = Site::new(topology.clone(), 1.0);
        let word = if ties == Ties::Original { "original" } else { "listed" };
        let table = format!("a = {{ {} }}", way.allocator(side, word));
        let value = table.parse::<toml::Table>().unwrap().remove("a").unwrap();
        let params = FAMILY.resolve("allocator", &value).unwrap();
        let mut allocator = (entry(ALLOCATORS, params.name()).build)(&params, &topology).unwrap();
        for corner in failed {
            let base = site.grid().node(corner);
            let one = Placement::from(Block { base, sides: [1, 1, 1].as_slice().into() });
            site.claim(&one).unwrap();
            allocator.claimed(&one, &site, Time::ZERO.into());
        }
        let row = |job: &Submitted| Row {
            id: job.id,
            duration: job.duration,
            started: None,
            waits: [0, 0],
            shape: job.shape,
            tried: false,
            rejected: None,
        };
        Program {
            way,
            ties,
            side,
            shortest: *dims.iter().min().unwrap(),
            has_failed: !failed.is_empty(),
            rfold: Rfold::new(site.grid(), side, ties),
            site,
            allocator,
            rows: trace.iter().map(row).collect(),
            trace,
            queue: BTreeSet::new(),
            running: BTreeSet::new(),
            held: BTreeMap::new(),
            events: BinaryHeap::new(),
            pushed: Vec::new(),
            now: 0,
            next: 0,
            timer: None,
            timers: 0,
            waiter: None,
        }
    }

    pub(crate) fn run(mut self, budget: &mut dyn FnMut(PathSearch) -> u64) -> Vec<Row> {
        for event in [Event::Guard, Event::Idle, Event::Begin] {
            let first = if event == Event::Idle { Event::Idle } else { event };
            self.push(0, 0, first);
        }
        while let Some(Reverse((at, _, _, event))) = self.events.pop() {
            self.now = at;
            self.happen(self.pushed[event], budget);
        }
        self.rows
    }

    fn push(&mut self, at: u64, priority: u8, event: Event) {
        let order = self.pushed.len();
        self.pushed.push(event);
        self.events.push(Reverse((at, priority, order as u64, order)));
    }

    fn guard(&mut self) {
        let Some(&(end, job)) = self.running.first() else {
            self.timer = None;
            return;
        };
        self.next = end;
        self.timers += 1;
        self.timer = Some(self.timers);
        self.push(end, 1, Event::Timer(self.timers, job));
    }

    /// Waiting process that an arrival (`is_arrival`) or the end of a job wakes, if there is one.
    ///
    /// A [`Waiter`] is returned only once.
    fn wake(&mut self, is_arrival: bool) -> Option<Waiter> {
        let (waiter, used) = self.waiter.as_mut()?;
        if *used || waiter.for_arrival && !is_arrival {
            return None;
        }
        *used = true;
        Some(*waiter)
    }

    fn happen(&mut self, event: Event, budget: &mut dyn FnMut(PathSearch) -> u64) {
        let now = self.now;
        match event {
            Event::Guard | Event::NewGuard => self.guard(),
            Event::Begin => {
                if let Some(first) = self.trace.first() {
                    self.push(first.arrival, 1, Event::Arrival(0));
                }
            }
            Event::Arrival(job) => {
                self.queue.insert(job);
                let waiter = self.wake(true);
                self.push(now, 1, Event::Signal(waiter));
                if let Some(next) = self.trace.get(job + 1) {
                    self.push(next.arrival, 1, Event::Arrival(job + 1));
                }
            }
            Event::Signal(Some(waiter)) if waiter.for_arrival => {
                let head = *self.queue.first().expect("a job has arrived");
                self.push(now, 1, Event::Try(head));
                self.waiter = None;
            }
            Event::Signal(Some(waiter)) => self.push(now, 1, Event::Woken(waiter)),
            Event::Signal(None) => {}
            Event::Woken(waiter) => {
                self.waiter = None;
                self.push(now, 1, Event::Try(waiter.job));
            }
            Event::Idle => match self.queue.first().copied() {
                None => self.waiter = Some((Waiter { for_arrival: true, job: 0 }, false)),
                Some(job) if self.rows[job].tried => {
                    self.waiter = Some((Waiter { for_arrival: false, job }, false));
                }
                Some(head) => self.push(now, 1, Event::Try(head)),
            },
            Event::Try(job) => {
                self.attempt(job, budget);
                self.push(now, 0, Event::Idle);
            }
            Event::Running(guard_waited) => {
                if guard_waited && self.timer.is_none() {
                    self.guard();
                }
            }
            Event::Timer(timer, job) => {
                if self.timer != Some(timer) {
                    return;
                }
                self.running.remove(&(now, job));
                let placement = self.held.remove(&job).unwrap();
                self.site.release(&placement);
                self.allocator.released(&placement, &self.site);
                let waiter = self.wake(false);
                self.push(now, 1, Event::Signal(waiter));
                self.guard();
            }
        }
    }

    fn attempt(&mut self, job: usize, budget: &mut dyn FnMut(PathSearch) -> u64) {
        let now = self.now;
        self.rows[job].tried = true;
        let shape = self.rows[job].shape;
        let enough = shape.iter().product::<u32>() <= self.site.free_nodes();
        let placed = if enough { self.place(shape, budget) } else { None };
        if enough {
            self.rows[job].shape = match self.way {
                Way::Folding => folded_for_torus(shape, self.shortest, self.ties),
                Way::Rfold => folded_for_cubes(shape, self.side, self.ties),
                _ => shape,
            };
        }
        let reason = usize::from(enough);
        let row = &mut self.rows[job];
        if let Some((since, before)) = row.rejected {
            row.waits[before] += now - since;
        }
        let Some(placement) = placed else {
            row.rejected = Some((now, reason));
            let longest = *row.shape.iter().max().unwrap();
            let is_static = !matches!(self.way, Way::Reconfigurable | Way::Rfold);
            let idle = self.running.is_empty();
            if is_static && longest > self.shortest || idle && self.has_failed {
                self.queue.remove(&job);
                return;
            }
            assert!(!idle, "the machine is empty, but job {job} is rejected");
            return;
        };
        self.site.claim(&placement).unwrap();
        self.allocator.claimed(&placement, &self.site, Time::ZERO.into());
        let mut shape = row.shape;
        shape.sort_unstable();
        let crc = self.crc(&placement);
        self.rows[job].started = Some(Started { start: now, shape, crc });
        self.held.insert(job, placement);
        let end = now + self.rows[job].duration;
        self.queue.remove(&job);
        self.running.insert((end, job));
        if self.next > now && end < self.next {
            self.push(now, 0, Event::NewGuard);
        } else {
            self.push(now, 1, Event::Running(self.timer.is_none()));
        }
    }

    fn place(
        &mut self,
        shape: [u32; 3],
        budget: &mut dyn FnMut(PathSearch) -> u64,
    ) -> Option<Placement> {
        let request = match self.way {
            Way::Rfold => return self.rfold.place(shape, &self.site, budget),
            Way::Hilbert => Request::Nodes(shape.iter().product()),
            _ => Request::block(&shape),
        };
        let mut rng = Stream::new(1, 0, "draws");
        self.allocator.choose(Ask::new(&request, &self.site, Time::ZERO, &mut rng))
    }

    /// Checksum of a placement's nodes in ascending order, with the last dimension fastest.
    fn crc(&self, placement: &Placement) -> u64 {
        let grid = self.site.grid();
        let mut ids: Vec<u32> = placement
            .nodes(grid)
            .into_iter()
            .map(|node| {
                let at = grid.coordinates(node);
                (at[0] * grid.sides()[1] + at[1]) * grid.sides()[2] + at[2]
            })
            .collect();
        ids.sort_unstable();
        let text: Vec<String> = ids.iter().map(u32::to_string).collect();
        let mut crc = Crc::new();
        crc.update(text.join(",").as_bytes());
        u64::from(crc.sum())
    }
}
