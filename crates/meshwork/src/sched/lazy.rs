//! Lazy scheduling: a job takes over the nodes of an ended job of its size class. This keeps larger
//! free blocks whole.

use super::queues::Queues;
use super::{Scheduler, SchedulerEntry};
use crate::cluster::{
    Cluster, MemoryReader, MemoryWriter, Place, RecallError, StartOptions, Ticket,
};
use crate::job::{Job, Time};
use crate::machine::Placement;
use crate::registry::{About, Kind, Param, Params, Range, Words};

/// Registry entry of `lazy`: lazy scheduling by size classes.
pub static ENTRY: SchedulerEntry = SchedulerEntry::new(
    About::new(
        "lazy",
        "one queue for each size class; a job of a class starts on the processors \
             that one of its class gives back, and elsewhere only if more wait than run",
    )
    .definition(
        "There is one queue for each size class. A job rather waits for processors \
             that a running job of its class will give back: as many may wait as run. \
             Only one more than that asks the allocator. When the oldest job has \
             waited longer than the threshold, nothing else starts until it has.",
    )
    .complexity(
        "O(1) for each arrival and O(classes) for each end, and at most one question to the \
         allocator for either; with `retry` up to one for each class and each start more.",
    )
    .source(
        "Mohapatra, Yu, Das & Kim, A lazy scheduling scheme for improving \
             hypercube performance, section 3.2",
    )
    .params(&[
        Param::new("threshold", THRESHOLDS.or(&Kind::Number(Range::NonNegative)))
            .is("\"dynamic\"")
            .help(
                "how long the oldest job may wait before no other starts: the square of the mean \
                 delay so far times the rate of arrivals, for ever, or this long",
            ),
        Param::new("retry", Kind::Flag).is("false").help(
            "whether, when a job has ended, every class of which more wait than run is tried \
                 again: as published a job may wait beside an idle machine once arrivals end",
        ),
        Param::new("release_order", RELEASE_ORDERS.kind()).is("\"corrected\"").help(
            "whether a job that has waited too long is tried before or after the ended job's \
                 processors are given back: before, as printed, it cannot have them, and the \
                 machine may stand still for ever",
        ),
        Param::new("rate_from", RATE_FROM.kind()).is("\"first_arrival\"").help(
            "since when arrivals are counted for their rate in the dynamic threshold: since \
                 the first of them, or since the clock was 0",
        ),
    ]),
    |params, _| Ok(Box::new(Lazy::new(params))),
)
.shares(true)
.serves_all(false);

/// Lazy scheduling by size classes. If more jobs of a class wait than run, the allocator is asked
/// for a place for the first waiting job of the class. Otherwise the first job waits for the next
/// end of a job of its class. It then takes the nodes of the ended job or, if they do not suit,
/// asks the allocator. A job that waits longer than a threshold starts before all others.
struct Lazy {
    threshold: Threshold,
    retry: bool,
    literal: bool,
    /// Whether the rate of arrivals is measured from time 0, not from the first arrival.
    from_zero: bool,
    queues: Queues,
    /// Number of running jobs of each size class; N_k in the paper of Mohapatra, Yu, Das & Kim.
    running: Vec<usize>,
    /// Class of the oldest waiting job, if this job has waited longer than the threshold. No other
    /// job may then start before it.
    overdue: Option<usize>,
    delays: f64,
    started: u64,
    arrived: u64,
    first_arrival: Time,
}

/// Wait after which only the oldest job may start next.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Threshold {
    Dynamic,
    Endless,
    Fixed(f64),
}

static THRESHOLDS: Words<Threshold, 2> =
    Words::new([("dynamic", Threshold::Dynamic), ("none", Threshold::Endless)]);

/// Words that say whether an overdue job is tried before or after a release of nodes.
///
/// The nodes are those of an ended job. `literal`, as printed in the paper, is before their
/// release; `corrected` is after it.
static RELEASE_ORDERS: Words<bool, 2> = Words::new([("literal", true), ("corrected", false)]);

static RATE_FROM: Words<bool, 2> = Words::new([("first_arrival", false), ("zero", true)]);

impl Lazy {
    fn new(params: &Params) -> Lazy {
        let threshold = params
            .get_number("threshold")
            .map_or_else(|| params.meaning("threshold", &THRESHOLDS), Threshold::Fixed);
        Lazy {
            threshold,
            retry: params.flag("retry"),
            literal: params.meaning("release_order", &RELEASE_ORDERS),
            from_zero: params.meaning("rate_from", &RATE_FROM),
            queues: Queues::default(),
            running: Vec::new(),
            overdue: None,
            delays: 0.0,
            started: 0,
            arrived: 0,
            first_arrival: Time::ZERO,
        }
    }

    fn threshold(&self, now: Time) -> f64 {
        match self.threshold {
            Threshold::Fixed(units) => units,
            Threshold::Endless => f64::INFINITY,
            // Zero until a job has waited, also at the instant of the first arrival.
            Threshold::Dynamic if self.delays == 0.0 => 0.0,
            Threshold::Dynamic => {
                let delay = self.delays / self.started as f64;
                let rate = self.arrived as f64 / (now - self.first_arrival);
                delay * delay * rate
            }
        }
    }

    /// Puts an arriving job into the queue of its class. If more jobs of the class wait than run,
    /// one of them is tried.
    fn request(&mut self, cluster: &mut Cluster<'_>, ticket: Ticket) {
        if self.arrived == 0 && !self.from_zero {
            self.first_arrival = cluster.now();
        }
        self.arrived += 1;
        let class = self.queues.push(ticket, cluster);
        if class >= self.running.len() {
            self.running.resize(class + 1, 0);
        }
        if self.overdue.is_none() && self.wants_more(class) {
            self.try_head(cluster, class, &[]);
        }
    }

    /// Handles the end of a job, whose index among the jobs that end at this instant is
    /// `departure`.
    fn release(&mut self, cluster: &mut Cluster<'_>, departure: usize) {
        let class = cluster.departures()[departure].ran.job.request.size_class() as usize;
        if self.overdue.is_none() {
            self.overdue = self.too_old(cluster);
        }
        self.running[class] -= 1;
        match self.overdue {
            None => {
                let Some(head) = self.queues.head(class) else { return };
                let waited = cluster.now() - cluster.job(head).arrival;
                if cluster.start(head, StartOptions::at(Place::LeftBy(departure))) {
                    self.has_started(class, waited);
                } else {
                    let later = not_yet(cluster, departure + 1);
                    self.try_head(cluster, class, &later);
                }
            }
            Some(overdue) => {
                // Jobs that end later in this instant keep their nodes until handled; in the order
                // printed in the paper, this job does too.
                let kept = not_yet(cluster, if self.literal { departure } else { departure + 1 });
                if self.try_head(cluster, overdue, &kept) {
                    self.overdue = None;
                }
            }
        }
    }

    fn too_old(&self, cluster: &Cluster<'_>) -> Option<usize> {
        let oldest = cluster.job(cluster.head()?);
        let waited = cluster.now() - oldest.arrival;
        let is_too_old = waited > self.threshold(cluster.now());
        is_too_old.then_some(oldest.request.size_class() as usize)
    }

    fn wants_more(&self, class: usize) -> bool {
        self.queues.len(class) > self.running[class]
    }

    /// Tries to start the first waiting job of a size class on nodes outside the placements `kept`.
    fn try_head(
        &mut self,
        cluster: &mut Cluster<'_>,
        class: usize,
        kept: &[(usize, Placement)],
    ) -> bool {
        let Some(head) = self.queues.head(class) else { return false };
        let waited = cluster.now() - cluster.job(head).arrival;
        let kept: Vec<(usize, &Placement)> = kept.iter().map(|(s, p)| (*s, p)).collect();
        let starts = cluster.start(head, StartOptions::clear_of(&kept));
        if starts {
            self.has_started(class, waited);
        }
        starts
    }

    fn has_started(&mut self, class: usize, waited: f64) {
        self.queues.pop(class);
        self.running[class] += 1;
        self.started += 1;
        self.delays += waited;
    }

    /// Tries the first job of each class that has more waiting than running jobs, the oldest job
    /// first. After each start, all such classes are tried again.
    fn try_all(&mut self, cluster: &mut Cluster<'_>) {
        loop {
            let mut heads: Vec<(Ticket, usize)> = self
                .queues
                .classes()
                .filter(|&class| self.wants_more(class))
                .filter_map(|class| Some((self.queues.head(class)?, class)))
                .collect();
            heads.sort_unstable();
            if !heads.iter().any(|&(_, class)| self.try_head(cluster, class, &[])) {
                return;
            }
        }
    }
}

/// Site and placement of each job that ends at this instant, except the first `from` such jobs.
fn not_yet(cluster: &Cluster<'_>, from: usize) -> Vec<(usize, Placement)> {
    let later = cluster.departures()[from..].iter();
    later.map(|other| (other.ran.site, other.ran.placement.clone())).collect()
}

impl Scheduler for Lazy {
    fn memory(&self, memory: &mut MemoryWriter) -> bool {
        memory.optional(self.overdue, |memory, class| memory.number(class as u64));
        memory.real(self.delays);
        memory.number(self.started);
        memory.number(self.arrived);
        memory.time(self.first_arrival);
        true
    }

    fn recall(&mut self, memory: &mut MemoryReader<'_>) -> Result<(), RecallError> {
        let cluster = memory.cluster();
        let class = |job: &Job| job.request.size_class() as usize;
        let running = cluster.running().map(|(_, ran)| class(&ran.job));
        let waiting = cluster.waiting().map(|ticket| class(cluster.job(ticket)));
        let classes = running.chain(waiting).max().map_or(0, |most| most + 1);
        self.running = vec![0; classes];
        cluster.running().for_each(|(_, ran)| self.running[class(&ran.job)] += 1);
        self.queues.fill(classes, cluster);
        if !memory.is_new() {
            let most = classes.saturating_sub(1);
            self.overdue = memory.optional(|memory| memory.up_to(most))?;
            self.delays = memory.real()?;
            (self.started, self.arrived) = (memory.number()?, memory.number()?);
            self.first_arrival = memory.time()?;
            // The job that has waited too long may have left the queue.
            self.overdue = self.overdue.filter(|&class| self.queues.len(class) > 0);
        }
        Ok(())
    }

    fn schedule(&mut self, cluster: &mut Cluster<'_>) {
        let ended = cluster.departures().len();
        for departure in 0..ended {
            self.release(cluster, departure);
        }
        if self.retry && ended > 0 && self.overdue.is_none() {
            self.try_all(cluster);
        }
        for arrival in 0..cluster.arrivals().len() {
            self.request(cluster, cluster.arrivals()[arrival]);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;
    use crate::engine::{Setup, simulate};
    use crate::job::Request;
    use crate::registry::resolve;
    use crate::rng::Stream;
    use crate::scenario::Scenario;
    use crate::workload::Submission;

    struct Watched {
        lazy: Lazy,
        overdue: u64,
    }

    impl Scheduler for Watched {
        fn schedule(&mut self, cluster: &mut Cluster<'_>) {
            let (before, started) = (self.lazy.overdue, self.lazy.started);
            self.lazy.schedule(cluster);
            let mut running = vec![0; self.lazy.running.len()];
            for (_, run) in cluster.running() {
                running[run.job.request.size_class() as usize] += 1;
            }
            assert_eq!(self.lazy.running, running, "N_k is how many jobs of class k run");
            let waiting: usize = self.lazy.queues.classes().map(|k| self.lazy.queues.len(k)).sum();
            assert_eq!(waiting, cluster.waiting_jobs());
            if before.is_some() && before == self.lazy.overdue && cluster.departures().len() < 2 {
                self.overdue += 1;
                assert_eq!(self.lazy.started, started, "nothing starts before the overdue job");
            }
        }
    }

    impl Scheduler for Arc<Mutex<Watched>> {
        fn schedule(&mut self, cluster: &mut Cluster<'_>) {
            self.lock().unwrap().schedule(cluster);
        }
    }

    #[test]
    fn its_books_are_those_of_the_machine() {
        let mut overdue = 0;
        for machine in ["topology = 'hypercube', dimension = 4", "topology = 'mesh', dims = [4, 4]"]
        {
            for more in ["", "retry = true", "threshold = 5", "release_order = 'literal'"] {
                let text = format!("machine = {{ {machine} }}\nworkload = 'lublin'");
                let study = Scenario::read(&text.parse().unwrap()).unwrap();
                let params: Vec<&Param> = ENTRY.about.params.iter().collect();
                let params = resolve("", &params, &more.parse().unwrap(), &[]).unwrap();
                let mut rng = Stream::new(3, 0, "jobs");
                let mut arrival = Time::ZERO;
                let jobs: Vec<Job> = (0..600)
                    .map(|number| {
                        arrival = arrival + rng.below(8) as f64 * 0.5;
                        let request = Request::Nodes(1 + rng.below(16) as u32);
                        let runtime = rng.below(9) as f64 * 0.5;
                        Job::new(number, arrival, request, runtime)
                    })
                    .collect();
                let lazy = Lazy::new(&params);
                let watched = Arc::new(Mutex::new(Watched { lazy, overdue: 0 }));
                let setup =
                    Setup { scheduler: Box::new(Arc::clone(&watched)), ..study.setup(0).unwrap() };
                let jobs = jobs.into_iter().map(|job| Ok(Submission::Job(job)));
                simulate(setup, Box::new(jobs), &mut ()).unwrap();
                let watched = watched.lock().unwrap();
                overdue += watched.overdue;
                let started = watched.lazy.started;
                assert!(more.contains("literal") || started > 200, "{more}: {started} started");
            }
        }
        assert!(overdue > 20, "only in {overdue} passes was a job overdue");
    }
}
