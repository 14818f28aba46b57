//! Tests that a strategy which breaks its contract ends the run with an error. The error names the
//! entry, the job and the instant.

use crate::common::{job, random_jobs, submissions};
use meshwork::alloc::block::first_fit;
use meshwork::alloc::{Allocator, AllocatorEntry, Ask, Claim, Holder};
use meshwork::cluster::{Cluster, StartOptions, Ticket};
use meshwork::job::{Dims, Job, JobId, Request, Time};
use meshwork::machine::{Block, Placement, Site};
use meshwork::observe::Observer;
use meshwork::offer::{Offers, Proposal};
use meshwork::rng::Stream;
use meshwork::scenario::Scenario;
use meshwork::sched::{Scheduler, SchedulerEntry, fcfs};
use meshwork::select::{self, Selector, SelectorEntry};
use meshwork::topology::Topology;
use meshwork::workload::{Submission, WorkloadEntry, lublin};
use meshwork::{Catalogue, Component, NoInputs, RunError};

/// Turns a correct placement of first fit into a wrong one.
#[derive(Clone, Copy)]
struct Instead(fn(&Request, &Site, Placement) -> Option<Placement>);

struct Gives {
    own: Box<dyn Allocator>,
    instead: Instead,
}

impl Allocator for Gives {
    fn choose(&mut self, ask: Ask<'_>) -> Option<Placement> {
        let Ask { request, site, .. } = ask;
        let (request, site) = (request.clone(), site.clone());
        let own = self.own.choose(ask)?;
        (self.instead.0)(&request, &site, own)
    }

    fn claimed(&mut self, placement: &Placement, site: &Site, claim: Claim) {
        self.own.claimed(placement, site, claim);
    }

    fn fork(&self) -> Box<dyn Allocator> {
        Box::new(Gives { own: self.own.fork(), instead: self.instead })
    }
}

/// Catalogue with the allocator `mine`: first fit, with placements that `$instead` makes wrong.
macro_rules! giving {
    ($instead:expr) => {{
        static ENTRY: AllocatorEntry = first_fit::ENTRY
            .described(first_fit::ENTRY.about.renamed("mine").params(&[]))
            .build(|_, topology| {
                let params = meshwork::alloc::FAMILY.resolve("", &"first_fit".into())?;
                let own = (first_fit::ENTRY.build)(&params, topology)?;
                Ok(Box::new(Gives { own, instead: Instead($instead) }))
            });
        Catalogue::standard().with(&ENTRY).unwrap()
    }};
}

fn node(base: u32, dimensions: usize) -> Placement {
    Block { base, sides: Dims::from_elem(1, dimensions) }.into()
}

/// Mesh of 8 × 8 with 50 jobs of `lublin` and the given components.
fn scenario(catalogue: &Catalogue, parts: &[(&str, &str)]) -> Scenario {
    let workload = Component::new("lublin").with("jobs", 50);
    let builder = Scenario::builder().catalogue(catalogue).mesh([8, 8]).workload(workload);
    let with = parts.iter().fold(builder, |builder, (key, name)| builder.set(key, *name));
    with.build().unwrap()
}

fn error(catalogue: &Catalogue, parts: &[(&str, &str)]) -> RunError {
    scenario(catalogue, parts).run(0, &NoInputs, &mut ()).expect_err("the run ends with an error")
}

/// Facts of a strategy error: kind and name of the blamed strategy, the job, and the message.
fn culprit(error: RunError) -> (&'static str, &'static str, Option<JobId>, String) {
    let sentence = error.to_string();
    assert!(!sentence.contains("bug"), "{sentence}");
    let RunError::Strategy { kind, name, job, what, .. } = error else { panic!("{sentence}") };
    assert!(sentence.starts_with(&format!("the {kind} `{name}`, job ")), "{sentence}");
    (kind, name, job, what)
}

#[test]
fn an_allocator_that_gives_too_few_nodes() {
    let catalogue = giving!(|_, _, own| Some(node(own.blocks[0].base, 2)));
    for scheduler in ["fcfs", "easy", "conservative"] {
        let error = error(&catalogue, &[("allocator", "mine"), ("scheduler", scheduler)]);
        let (kind, name, job, what) = culprit(error);
        assert_eq!((kind, name), ("allocator", "mine"));
        assert!(job.is_some() && what.starts_with("it gives 1 nodes ("), "{what}");
        assert!(what.contains(" is asked for"), "{what}");
    }
}

#[test]
fn an_allocator_that_gives_another_shape_than_its_entry_declares() {
    // The placement has the right number of nodes, but in one row.
    let catalogue = giving!(|request, site, own| {
        let count = request.nodes() as u32;
        let fits = count <= 8 && (0..count).all(|x| site.free().contains(x));
        let row = Block { base: 0, sides: Dims::from_slice(&[count.min(8), 1]) };
        Some(if fits { row.into() } else { own })
    });
    let (kind, name, _, what) = culprit(error(&catalogue, &[("allocator", "mine")]));
    assert_eq!((kind, name), ("allocator", "mine"));
    assert!(what.contains("x1) where "), "{what}");
}

#[test]
fn an_allocator_that_gives_nodes_that_are_held() {
    let catalogue = giving!(|_, _, own| {
        let sides = own.blocks[0].sides.clone();
        Some(Block { base: 0, sides }.into())
    });
    let (kind, name, job, what) = culprit(error(&catalogue, &[("allocator", "mine")]));
    assert_eq!((kind, name), ("allocator", "mine"));
    assert!(job > Some(JobId(0)), "the first job finds the machine empty");
    assert!(what.starts_with("it gives what cannot be claimed: the placement "), "{what}");
}

#[test]
fn an_allocator_that_finds_no_room_on_an_idle_machine() {
    // The allocator places its first request, and none afterwards.
    let catalogue = giving!(|request, site, own| {
        (request.nodes() == u64::from(site.nodes())).then_some(own)
    });
    let scenario = scenario(&catalogue, &[("allocator", "mine")]);
    let jobs = vec![job(0.0, Request::Nodes(64), 5.0), job(1.0, Request::Nodes(3), 5.0)];
    let setup = scenario.setup(0).unwrap();
    let done = scenario.run_on(setup, submissions(jobs), &mut ()).unwrap();
    assert_eq!((done.finished, done.refused), (1, 1), "what never fits is refused");

    use std::sync::atomic::{AtomicU32, Ordering};
    static ASKED: AtomicU32 = AtomicU32::new(0);
    // The job fits the empty machine on the first request, and is not placed afterwards.
    let catalogue =
        giving!(|_, _, own| (ASKED.fetch_add(1, Ordering::Relaxed) == 0).then_some(own));
    let scenario = self::scenario(&catalogue, &[("allocator", "mine")]);
    let setup = scenario.setup(0).unwrap();
    let jobs = submissions(vec![job(1.0, Request::Nodes(3), 5.0)]);
    let (kind, name, job, what) = culprit(scenario.run_on(setup, jobs, &mut ()).unwrap_err());
    assert_eq!((kind, name, job), ("allocator", "mine", Some(JobId(0))));
    assert!(what.starts_with("it finds no room for it, though the machine is idle"), "{what}");
}

/// Scheduler that calls a closure in every pass, with the tickets of all jobs that have arrived.
struct Does {
    seen: Vec<Ticket>,
    act: fn(&mut Cluster<'_>, &[Ticket]),
}

impl Scheduler for Does {
    fn schedule(&mut self, cluster: &mut Cluster<'_>) {
        self.seen.extend(cluster.arrivals());
        (self.act)(cluster, &self.seen);
    }
}

macro_rules! doing {
    ($act:expr) => {{
        static ENTRY: SchedulerEntry = fcfs::ENTRY
            .described(fcfs::ENTRY.about.renamed("own").params(&[]))
            .build(|_, _| Ok(Box::new(Does { seen: Vec::new(), act: $act })));
        Catalogue::standard().with(&ENTRY).unwrap()
    }};
}

#[test]
fn a_ticket_that_is_used_after_its_job_has_left_the_queue() {
    let twice = doing!(|cluster, seen| {
        for &ticket in seen {
            cluster.start(ticket, StartOptions::default());
        }
    });
    let looked_at = doing!(|cluster, seen| {
        while let Some(head) = cluster.head()
            && cluster.start(head, StartOptions::default())
        {}
        let asked = seen.iter().map(|&ticket| cluster.job(ticket).request.nodes());
        assert!(asked.sum::<u64>() > 0);
    });
    let turned_away = doing!(|cluster, seen| {
        cluster.turn_away(seen[0]);
        cluster.turn_away(seen[0]);
    });
    let promised = doing!(|cluster, seen| {
        cluster.turn_away(seen[0]);
        cluster.promise(seen[0], Time::new(1e9));
        let _ = cluster.earliest(seen[0]);
    });
    for catalogue in [twice, looked_at, turned_away, promised] {
        let (kind, name, job, what) = culprit(error(&catalogue, &[("scheduler", "own")]));
        assert_eq!((kind, name, job), ("scheduler", "own", Some(JobId(0))));
        assert!(what.starts_with("it uses the ticket of a job that does not wait"), "{what}");
    }
}

#[test]
fn a_scheduler_that_starts_nothing_on_an_idle_machine() {
    let nothing = doing!(|_, _| {});
    let synthetic = || {
        let runtimes = Component::new("exponential").with("mean", 5.0);
        let workload = Component::new("synthetic").with("load", 0.4).with("sizes", "uniform");
        let builder = Scenario::builder().catalogue(&nothing).mesh([8, 8]).scheduler("own");
        builder.workload(workload.with("runtimes", runtimes))
    };
    let runs = [
        scenario(&nothing, &[("scheduler", "own")]),
        synthetic().jobs(100).build().unwrap(),
        synthetic().time(1000.0).build().unwrap(),
    ];
    for scenario in runs {
        let error = scenario.run(0, &NoInputs, &mut ()).unwrap_err();
        let (kind, name, job, what) = culprit(error);
        assert_eq!((kind, name, job), ("scheduler", "own", Some(JobId(0))));
        assert!(what.starts_with("it does not start it, though the machine is idle; "), "{what}");
        assert!(what.ends_with(" jobs wait, and none will ever start"), "{what}");
    }
}

#[test]
fn a_scheduler_that_declares_less_may_leave_jobs_waiting() {
    static ENTRY: SchedulerEntry = fcfs::ENTRY
        .described(fcfs::ENTRY.about.renamed("pairs").params(&[]))
        .serves_all(false)
        .build(|_, _| {
            // Jobs start in pairs, so the last of an odd number of jobs waits for ever.
            let act: fn(&mut Cluster<'_>, &[Ticket]) = |cluster, _| {
                if cluster.waiting_jobs() > 1 {
                    while let Some(head) = cluster.head()
                        && cluster.start(head, StartOptions::default())
                    {}
                }
            };
            Ok(Box::new(Does { seen: Vec::new(), act }))
        });
    let catalogue = Catalogue::standard().with(&ENTRY).unwrap();
    let workload = Component::new("lublin").with("jobs", 3);
    let builder = Scenario::builder().catalogue(&catalogue).flat(4096).scheduler("pairs");
    let outcome = builder.workload(workload).build().unwrap().run(0, &NoInputs, &mut ()).unwrap();
    assert_eq!(outcome.finished, 2);
}

/// Selector that breaks its contract: it moves the proposed block to the site's first node.
struct Shifts;

impl Selector for Shifts {
    fn select(&mut self, _: &Job, offers: &mut Offers<'_>, _: &mut Stream) -> Option<Proposal> {
        let mut proposal = (0..offers.sites()).find_map(|site| offers.at(site))?;
        proposal.placement.blocks[0].base = 0;
        Some(proposal)
    }

    fn fork(&self) -> Box<dyn Selector> {
        Box::new(Shifts)
    }
}

#[test]
fn a_selector_that_takes_what_no_allocator_gave() {
    static ENTRY: SelectorEntry =
        SelectorEntry::new(select::first_fit::ENTRY.about.renamed("shifts").params(&[]), |_| {
            Ok(Box::new(Shifts))
        });
    let catalogue = Catalogue::standard().with(&ENTRY).unwrap();
    let sites = "machine = { sites = [ { topology = 'mesh', dims = [8, 8] },
                                       { topology = 'mesh', dims = [4, 4] } ] }
                 selector = 'shifts'
                 workload = { name = 'lublin', jobs = 50 }";
    let scenario = Scenario::read_in(&catalogue, &sites.parse().unwrap()).unwrap();
    let (kind, name, _, what) = culprit(scenario.run(0, &NoInputs, &mut ()).unwrap_err());
    assert_eq!((kind, name), ("selector", "shifts"));
    assert!(what.contains("cannot be claimed"), "{what}");
}

/// Catalogue with the workload `mine`, which consists of the given jobs.
macro_rules! handing_out {
    ($jobs:expr) => {{
        static ENTRY: WorkloadEntry = lublin::ENTRY
            .described(lublin::ENTRY.about.renamed("mine").params(&[]))
            .build(|_, _| {
                let jobs: Vec<Job> = $jobs;
                Ok(Box::new(jobs.into_iter().map(|job| Ok(Submission::Job(job)))))
            });
        Catalogue::standard().with(&ENTRY).unwrap()
    }};
}

#[test]
fn jobs_that_no_run_can_have_are_named_with_their_workload() {
    let back =
        handing_out!(vec![job(5.0, Request::Nodes(3), 1.0), job(3.0, Request::Nodes(3), 1.0)]);
    let endless = handing_out!(vec![
        job(5.0, Request::Nodes(3), 1.0),
        job(6.0, Request::Nodes(3), f64::INFINITY)
    ]);
    let negative = handing_out!(vec![
        job(5.0, Request::Nodes(3), 1.0),
        Job { runtime: -1.0, ..job(6.0, Request::Nodes(3), 1.0) }
    ]);
    let unknown = handing_out!(vec![
        job(5.0, Request::Nodes(3), 1.0),
        Job { estimate: f64::NAN, ..job(6.0, Request::Nodes(3), 1.0) }
    ]);
    let never = handing_out!(vec![
        job(5.0, Request::Nodes(3), 1.0),
        job(f64::INFINITY, Request::Nodes(3), 1.0)
    ]);
    for (catalogue, expected) in [
        (
            back,
            "it hands out a job that arrives at 3, but jobs come in the order of their arrivals",
        ),
        (endless, "the run time of the job is inf, but must be a finite number from 0 on"),
        (negative, "the run time of the job is -1, but must be a finite number from 0 on"),
        (unknown, "the estimate of the job is NaN, but must be a number from 0 on"),
        (never, "it hands out a job that arrives at inf, but jobs come in the order"),
    ] {
        let builder = Scenario::builder().catalogue(&catalogue).mesh([8, 8]).workload("mine");
        let error = builder.build().unwrap().run(0, &NoInputs, &mut ()).unwrap_err();
        let (kind, name, job, what) = culprit(error);
        assert_eq!((kind, name, job), ("workload", "mine", Some(JobId(1))));
        assert!(what.starts_with(expected), "{what}");
    }
    // Jobs that come from no entry are attributed to none.
    let scenario = scenario(&Catalogue::standard(), &[]);
    let jobs = submissions(vec![job(5.0, Request::Nodes(3), f64::INFINITY)]);
    let error = scenario.run_on(scenario.setup(0).unwrap(), jobs, &mut ()).unwrap_err();
    assert!(error.to_string().starts_with("the workload, job 0 at 0: the run time "), "{error}");
}

#[test]
fn what_is_ours_is_called_a_bug_and_what_is_not_is_not() {
    /// Scheduler that breaks its contract: it rejects the same job in every pass.
    static ENTRY: SchedulerEntry =
        fcfs::ENTRY.described(fcfs::ENTRY.about.renamed("own").params(&[])).build(|_, _| {
            let act: fn(&mut Cluster<'_>, &[Ticket]) = |cluster, seen| cluster.turn_away(seen[0]);
            Ok(Box::new(Does { seen: Vec::new(), act }))
        });
    let plain = scenario(&Catalogue::standard(), &[]);
    let own = scenario(&Catalogue::standard().with(&ENTRY).unwrap(), &[("scheduler", "own")]);
    let run = |ours: bool| {
        let mut setup = own.setup(0).unwrap();
        if ours {
            setup.names.scheduler = meshwork::sched::FAMILY.origin("fcfs");
        }
        let jobs = plain.jobs(0, &NoInputs).unwrap();
        plain.run_on(setup, jobs, &mut ()).unwrap_err().to_string()
    };
    let (ours, nobodys) = (run(true), run(false));
    assert!(
        ours.starts_with("a bug in Meshwork, please report it: the scheduler `fcfs`, job 0 at ")
    );
    assert!(nobodys.starts_with("the scheduler, job 0 at "), "{nobodys}");
}

/// First fit that counts the claims reported to it, by the kind of holder.
struct Told {
    own: Box<dyn Allocator>,
    counts: [u32; 4],
}

impl Allocator for Told {
    fn choose(&mut self, ask: Ask<'_>) -> Option<Placement> {
        self.own.choose(ask)
    }

    fn claimed(&mut self, _: &Placement, _: &Site, claim: Claim) {
        let place = match claim.by {
            Holder::Job(_) => 0,
            Holder::Reservation => 1,
            Holder::Outage => 2,
            Holder::Adoption => 3,
            _ => panic!("{claim:?}"),
        };
        self.counts[place] += 1;
        TOLD.lock().unwrap()[place] += 1;
    }

    fn fork(&self) -> Box<dyn Allocator> {
        Box::new(Told { own: self.own.fork(), counts: self.counts })
    }
}

static TOLD: std::sync::Mutex<[u32; 4]> = std::sync::Mutex::new([0; 4]);

#[test]
fn an_allocator_is_told_for_whom_nodes_are_claimed() {
    static ENTRY: AllocatorEntry = first_fit::ENTRY
        .described(first_fit::ENTRY.about.renamed("told").params(&[]))
        .build(|_, topology| {
            let params = meshwork::alloc::FAMILY.resolve("", &"first_fit".into())?;
            let own = (first_fit::ENTRY.build)(&params, topology)?;
            Ok(Box::new(Told { own, counts: [0; 4] }))
        });
    let catalogue = Catalogue::standard().with(&ENTRY).unwrap();
    let text = "machine = { topology = 'mesh', dims = [8, 8] }
                allocator = 'told'
                scheduler = 'easy'
                failures = { mtbf = 500.0, repair = { name = 'constant', value = 5.0 } }
                workload = { name = 'synthetic', load = 0.8, sizes = 'uniform',
                             runtimes = { name = 'exponential', mean = 5.0 } }
                measure = { jobs = 300 }";
    let scenario = Scenario::read_in(&catalogue, &text.parse().unwrap()).unwrap();
    scenario.run(0, &NoInputs, &mut ()).unwrap();
    let [jobs, kept, outages, adopted] = *TOLD.lock().unwrap();
    assert!(jobs >= 300 && kept > 0 && outages > 0 && adopted == 0, "{jobs} {kept} {outages}");
    let pool = meshwork::Pool::builder().catalogue(&catalogue).mesh([8, 8]).allocator("told");
    let mut pool = pool.build().unwrap();
    pool.adopt(&node(5, 2)).unwrap();
    assert_eq!(TOLD.lock().unwrap()[3], 1);
    assert!(pool.allocate(&Request::Nodes(3)).is_some());
    assert_eq!(TOLD.lock().unwrap()[0], jobs + 1);
}

#[test]
fn an_allocator_of_two_or_three_dimensions() {
    static ENTRY: AllocatorEntry = first_fit::ENTRY
        .described(first_fit::ENTRY.about.renamed("flat_or_deep"))
        .dimensions(Some(&[2, 3]));
    let catalogue = Catalogue::standard().with(&ENTRY).unwrap();
    let on = |sides: &[u32]| {
        let builder = Scenario::builder().catalogue(&catalogue).mesh(sides);
        builder.allocator("flat_or_deep").workload("lublin").build()
    };
    assert!(on(&[4, 4]).is_ok() && on(&[4, 4, 4]).is_ok());
    let refused = on(&[4, 4, 2, 2]).unwrap_err().to_string();
    let expected =
        "the allocator `flat_or_deep` serves mesh, torus, hypercube of 2 or 3 dimensions, but";
    assert!(refused.starts_with(expected), "{refused}");
}

#[test]
fn sound_strategies_are_let_alone() {
    struct Quiet;
    impl Observer for Quiet {}
    let catalogue = giving!(|_, _, own| Some(own));
    let scenario = scenario(&catalogue, &[("allocator", "mine"), ("scheduler", "easy")]);
    let jobs = random_jobs(&Topology::mesh(&[8, 8]).unwrap(), 300, 4.0, 5);
    let setup = scenario.setup(0).unwrap();
    scenario.run_on(setup, submissions(jobs), &mut Quiet).unwrap();
}
