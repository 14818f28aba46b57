//! Tests that every catalogue entry keeps the rules of `meshwork::conformance`.
//!
//! The checks of these rules are themselves tested, with entries that break a rule.

use crate::common;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use crate::common::{
    Promises, job, observed, random_jobs, run, scenario, schedulers_for_all_wirings, starts,
};
use meshwork::alloc::{
    ALLOCATORS, Allocator, AllocatorEntry, Ask, Claim, FAMILY, Holder, RecallError,
};
use meshwork::catalogue::Catalogue;
use meshwork::conformance::{
    Finding, Tried, check_allocator, check_metric, check_network, check_scheduler, check_selector,
    check_sizing, check_workload, every_machine, variants,
};
use meshwork::geometry::NodeSet;
use meshwork::geometry::orientation::{Rotation, orientations};
use meshwork::job::{Dims, Request, Time};
use meshwork::machine::{Block, Placement, Site};
use meshwork::network::NETWORKS;
use meshwork::registry::{Named, entry};
use meshwork::rng::Stream;
use meshwork::sched::{SCHEDULERS, SchedulerEntry};
use meshwork::select::SELECTORS;
use meshwork::sizing::SIZINGS;
use meshwork::topology::Topology;
use meshwork::workload::NoInputs;
use toml::{Table, Value};

/// Checks all entries of one kind on two threads. Returns how much was tried, and panics at the
/// first violated rule.
fn hold<E: Named + Sync>(
    entries: &[&'static E],
    check: fn(&Catalogue, &str) -> Result<Tried, Finding>,
) -> Tried {
    let catalogue = Catalogue::standard();
    let next = AtomicUsize::new(0);
    let some = || {
        let mut tried = Tried::default();
        while let Some(entry) = entries.get(next.fetch_add(1, Ordering::Relaxed)) {
            tried += check(&catalogue, entry.about().name).unwrap_or_else(|finding| {
                let drawing = match &finding {
                    Finding::Broken(broken) => broken.drawing.clone(),
                    _ => String::new(),
                };
                panic!("{finding}\n{drawing}")
            });
        }
        tried
    };
    thread::scope(|scope| {
        let mut tried = Tried::default();
        for worker in [scope.spawn(some), scope.spawn(some)] {
            tried += worker.join().unwrap_or_else(|panic| resume_unwind(panic));
        }
        tried
    })
}

#[test]
fn every_allocator_keeps_the_rules() {
    let tried = hold(ALLOCATORS, check_allocator);
    assert!(tried.machines > 500 && tried.questions > 200_000, "{tried:?}");
    assert!(tried.jobs > 50_000 && tried.promises > 1000, "{tried:?}");
}

#[test]
fn every_scheduler_keeps_the_rules() {
    let tried = hold(SCHEDULERS, check_scheduler);
    assert!(tried.jobs > 100_000 && tried.promises > 1000, "{tried:?}");
}

#[test]
fn every_sizing_keeps_the_rules() {
    let tried = hold(SIZINGS, check_sizing);
    assert!(tried.questions > 20_000 && tried.jobs > 10_000, "{tried:?}");
}

#[test]
fn every_selector_keeps_the_rules() {
    let tried = hold(SELECTORS, check_selector);
    assert!(tried.questions > 1000 && tried.jobs > 5000, "{tried:?}");
}

#[test]
fn every_network_keeps_the_rules() {
    let tried = hold(NETWORKS, check_network);
    assert!(tried.machines > 50 && tried.jobs > 2000, "{tried:?}");
}

fn sentence(found: Result<Tried, Finding>) -> String {
    found.expect_err("a rule is broken").to_string()
}

/// Allocator that breaks its contract: first fit with one deliberate fault.
struct Wrong {
    own: Box<dyn Allocator>,
    /// Nodes that the allocator believes to be held.
    held: Vec<u32>,
    fault: Fault,
}

#[derive(Clone, Copy, PartialEq)]
enum Fault {
    GivesHeldNodes,
    ForgetsReleases,
    /// The allocator proposes a block only if its base is the lowest free node.
    MissesBlocks,
    ChangesAsItIsAsked,
    /// The allocator decides by the number of releases, but declares that it has no memory.
    HasNoMemory,
    /// The allocator proposes nothing after a certain number of claims.
    Tires,
    /// The allocator decides by the number of outages, but declares that it has no memory.
    GoesByHolders,
}

impl Allocator for Wrong {
    fn choose(&mut self, ask: Ask<'_>) -> Option<Placement> {
        let Ask { request, site, now, rng, .. } = ask;
        let mut seen = Site::new(site.topology().clone(), 1.0);
        if self.fault != Fault::GivesHeldNodes {
            for node in 0..site.nodes() {
                if !site.free().contains(node) || self.held.contains(&node) {
                    let sides = Dims::from_elem(1, site.grid().dimensions());
                    seen.claim(&Block { base: node, sides }.into()).unwrap();
                }
            }
        }
        let found = self.own.choose(Ask::new(request, &seen, now, rng))?;
        match self.fault {
            Fault::MissesBlocks if Some(found.blocks[0].base) != site.free().first() => None,
            Fault::ChangesAsItIsAsked if !self.held.is_empty() => {
                self.held.clear();
                None
            }
            Fault::ChangesAsItIsAsked => {
                self.held.push(site.nodes());
                Some(found)
            }
            Fault::HasNoMemory if self.held.len() > 2 => None,
            Fault::Tires if self.held.len() > 40 => None,
            Fault::GoesByHolders if self.held.len() % 2 == 1 => None,
            _ => Some(found),
        }
    }

    fn claimed(&mut self, placement: &Placement, site: &Site, claim: Claim) {
        match self.fault {
            Fault::GoesByHolders if claim.by == Holder::Outage => self.held.push(u32::MAX),
            Fault::ForgetsReleases => self.held.extend(placement.nodes(site.grid())),
            Fault::Tires => self.held.push(u32::MAX),
            _ => {}
        }
    }

    fn released(&mut self, _placement: &Placement, _site: &Site) {
        if self.fault == Fault::HasNoMemory {
            self.held.push(u32::MAX);
        }
    }

    fn memory(&self) -> Vec<u64> {
        let counts = self.fault == Fault::Tires;
        if counts { vec![self.held.len() as u64] } else { Vec::new() }
    }

    fn recall(&mut self, memory: &[u64], _site: &Site) -> Result<(), RecallError> {
        if let [count] = memory {
            self.held = vec![u32::MAX; *count as usize];
        }
        Ok(())
    }

    fn fork(&self) -> Box<dyn Allocator> {
        Box::new(Wrong { own: self.own.fork(), held: self.held.clone(), fault: self.fault })
    }
}

/// Checks first fit with one deliberate fault, and returns the error message.
///
/// The checked entry declares the property `finds` with the value of the second argument. All its
/// other properties are those of first fit.
macro_rules! wrong {
    ($fault:ident, $finds:ident) => {{
        use meshwork::alloc::block::first_fit;
        static ENTRY: AllocatorEntry = first_fit::ENTRY
            .described(first_fit::ENTRY.about.renamed("wrong").params(&[]))
            .finds(meshwork::form::Finds::$finds)
            .build(|_, topology| {
                let params = FAMILY.resolve("allocator", &Value::String("first_fit".into()))?;
                let own = (first_fit::ENTRY.build)(&params, topology)?;
                Ok(Box::new(Wrong { own, held: Vec::new(), fault: Fault::$fault }))
            });
        let catalogue = Catalogue::standard().with(&ENTRY).unwrap();
        sentence(check_allocator(&catalogue, "wrong"))
    }};
}

#[test]
fn an_allocator_that_breaks_a_rule_is_told_which_and_where() {
    for (found, expected) in [
        (wrong!(GivesHeldNodes, EveryBlock), ", and that node is held"),
        (wrong!(ForgetsReleases, EveryBlock), " is free, and it declares to find room then"),
        (
            wrong!(Tires, SomeBlocks),
            "after all has been given back it answers otherwise than a new one",
        ),
        (wrong!(MissesBlocks, EveryBlock), " is free, and it declares to find room then"),
        (wrong!(ChangesAsItIsAsked, EveryBlock), " when it is asked again"),
        (wrong!(HasNoMemory, SomeBlocks), "what is made anew of its memory answers otherwise"),
    ] {
        assert!(found.contains(expected), "{found}\ndoes not say: {expected}");
        assert!(found.starts_with("the allocator `wrong`, on a 12 mesh, step "), "{found}");
        assert!(found.contains(" of seed 5: "), "{found}");
    }
    // Only the second history has outages.
    let found = wrong!(GoesByHolders, SomeBlocks);
    assert!(
        found.contains("of seed 6: what is made anew of its memory answers otherwise"),
        "{found}"
    );
}

#[test]
fn an_entry_that_there_is_not_is_named() {
    let catalogue = Catalogue::standard();
    for (found, expected) in [
        (
            check_allocator(&catalogue, "first_fitt"),
            "unknown allocator `first_fitt` (did you mean `first_fit`?",
        ),
        (check_scheduler(&catalogue, "esay"), "unknown scheduler `esay` (did you mean `easy`?"),
        (check_sizing(&catalogue, "exactly"), "unknown sizing `exactly` (did you mean `exact`?"),
        (check_selector(&catalogue, "randon"), "unknown selector `randon` (did you mean `random`?"),
        (check_network(&catalogue, "hop"), "unknown network `hop` (did you mean `hops`?"),
        (
            check_workload(&catalogue, "lublim", &NoInputs),
            "unknown workload `lublim` (did you mean `lublin`?",
        ),
        (check_metric(&catalogue, "wai"), "unknown metric `wai` (did you mean `wait`?"),
    ] {
        let found = sentence(found);
        assert!(found.starts_with(expected), "{found}");
    }
}

mod wrong_ones {
    //! Tests that the conformance checks find a scheduler, a sizing, a selector and a network with
    //! faults.

    use super::*;
    use meshwork::cluster::{Cluster, StartOptions, Ticket};
    use meshwork::machine::Placement;
    use meshwork::network::{Network, NetworkEntry, NetworkError, RunKey, Work};
    use meshwork::offer::{Offers, Proposal};
    use meshwork::sched::{Scheduler, fcfs};
    use meshwork::select::{Selector, SelectorEntry};
    use meshwork::sizing::{Demand, Size, Sizing, SizingEntry, exact};
    use meshwork::{network, select};
    use smallvec::{SmallVec, smallvec};

    /// Scheduler that breaks its contract: it never starts one of eight jobs.
    #[derive(Default)]
    struct Forgetful {
        seen: usize,
        waiting: Vec<Ticket>,
    }

    impl Scheduler for Forgetful {
        fn schedule(&mut self, cluster: &mut Cluster<'_>) {
            for &ticket in cluster.arrivals() {
                self.seen += 1;
                if !self.seen.is_multiple_of(8) {
                    self.waiting.push(ticket);
                }
            }
            self.waiting.retain(|&ticket| !cluster.start(ticket, StartOptions::default()));
        }
    }

    static FORGETFUL: SchedulerEntry = fcfs::ENTRY
        .described(fcfs::ENTRY.about.renamed("forgetful").params(&[]))
        .build(|_, _| Ok(Box::new(Forgetful::default())));

    #[test]
    fn a_scheduler_that_leaves_jobs_waiting() {
        let catalogue = Catalogue::standard().with(&FORGETFUL).unwrap();
        let found = sentence(check_scheduler(&catalogue, "forgetful"));
        assert!(
            found
                .starts_with("the scheduler `forgetful`, on a 12 mesh with `first_fit`, seed 11: "),
            "{found}"
        );
        let expected = ": a run stops: the scheduler `forgetful`, job 7 at ";
        assert!(found.contains(expected), "{found}");
        assert!(found.contains("it does not start it, though the machine is idle"), "{found}");
    }

    /// Scheduler that breaks its contract: it uses the ticket of a job that it has started.
    struct LooksBack;

    impl Scheduler for LooksBack {
        fn schedule(&mut self, cluster: &mut Cluster<'_>) {
            while let Some(head) = cluster.head()
                && cluster.start(head, StartOptions::default())
                && cluster.job(head).estimate >= 0.0
            {}
        }
    }

    static LOOKS_BACK: SchedulerEntry = fcfs::ENTRY
        .described(fcfs::ENTRY.about.renamed("looks_back").params(&[]))
        .build(|_, _| Ok(Box::new(LooksBack)));

    #[test]
    fn a_scheduler_that_uses_a_ticket_of_a_job_that_runs() {
        let catalogue = Catalogue::standard().with(&LOOKS_BACK).unwrap();
        let found = sentence(check_scheduler(&catalogue, "looks_back"));
        let expected = ": a run stops: the scheduler `looks_back`, job 0 at 0";
        assert!(found.contains(expected), "{found}");
        assert!(found.contains("it uses the ticket of a job that does not wait"), "{found}");
    }

    /// First come, first served, with a wake-up a fixed time after each pass.
    struct Woken(f64);

    impl Scheduler for Woken {
        fn schedule(&mut self, cluster: &mut Cluster<'_>) {
            while let Some(head) = cluster.head()
                && cluster.start(head, StartOptions::default())
            {}
        }

        fn wake_at(&self, now: Time) -> Option<Time> {
            Some(now + self.0)
        }
    }

    static RESTLESS: SchedulerEntry = fcfs::ENTRY
        .described(fcfs::ENTRY.about.renamed("restless").params(&[]))
        .build(|_, _| Ok(Box::new(Woken(0.0))));

    static ON_TIMER: SchedulerEntry = fcfs::ENTRY
        .described(fcfs::ENTRY.about.renamed("on_timer").params(&[]))
        .build(|_, _| Ok(Box::new(Woken(0.7))));

    #[test]
    fn a_scheduler_that_is_woken_keeps_the_rules_if_time_passes() {
        let catalogue = Catalogue::standard().with(&ON_TIMER).unwrap();
        let catalogue = catalogue.with(&RESTLESS).unwrap();
        assert!(check_scheduler(&catalogue, "on_timer").unwrap().jobs > 0);
        let found = sentence(check_scheduler(&catalogue, "restless"));
        let expected = ": a run stops: the scheduler `restless` at ";
        assert!(found.contains(expected), "{found}");
        assert!(found.contains("but must name a finite instant after"), "{found}");
    }

    /// Scheduler that breaks its contract: it looks at nodes although it declares that it does not.
    struct Peeks;

    impl Scheduler for Peeks {
        fn schedule(&mut self, cluster: &mut Cluster<'_>) {
            while cluster.site(0).free().contains(0)
                && let Some(head) = cluster.head()
                && cluster.start(head, StartOptions::default())
            {}
        }

        fn looks_at_nodes(&self) -> bool {
            false
        }
    }

    static PEEKS: SchedulerEntry = fcfs::ENTRY
        .described(fcfs::ENTRY.about.renamed("peeks").params(&[]))
        .build(|_, _| Ok(Box::new(Peeks)));

    #[test]
    fn a_scheduler_that_looks_at_nodes_and_says_that_it_does_not() {
        let catalogue = Catalogue::standard().with(&PEEKS).unwrap();
        let found = sentence(check_scheduler(&catalogue, "peeks"));
        assert!(
            found.starts_with("the scheduler `peeks`, on a flat machine of 20 processors"),
            "{found}"
        );
        assert!(found.contains("it declares not to look at which are free"), "{found}");
    }

    /// Sizing that breaks its contract: it gives each job twice the requested size.
    struct Doubling;

    impl Sizing for Doubling {
        fn sizes(&self, demand: &Demand<'_>) -> SmallVec<[Size; 1]> {
            let request = match demand.request {
                Request::Nodes(count) => Request::Nodes(2 * count),
                other => other.clone(),
            };
            smallvec![Size { request, stretch: 0.5 }]
        }

        fn fewest(&self, demand: &Demand<'_>) -> u64 {
            demand.request.nodes()
        }

        fn is_fixed(&self) -> bool {
            true
        }

        fn fork(&self) -> Box<dyn Sizing> {
            Box::new(Doubling)
        }
    }

    static DOUBLING: SizingEntry =
        SizingEntry::new(exact::ENTRY.about.renamed("doubling"), |_, _| Ok(Box::new(Doubling)));

    #[test]
    fn a_sizing_that_is_not_as_fixed_as_it_says() {
        let catalogue = Catalogue::standard().with(&DOUBLING).unwrap();
        let found = sentence(check_sizing(&catalogue, "doubling"));
        assert!(found.contains("it declares to be fixed, but makes "), "{found}");
        assert!(found.starts_with("the sizing `doubling`, on a 12 mesh, step "), "{found}");
    }

    /// Selector that breaks its contract: it uses only the first site.
    ///
    /// Jobs that only other sites can hold wait for ever.
    struct FirstOnly;

    impl Selector for FirstOnly {
        fn select(
            &mut self,
            job: &meshwork::job::Job,
            offers: &mut Offers<'_>,
            rng: &mut Stream,
        ) -> Option<Proposal> {
            let params = select::FAMILY.resolve("selector", &Value::String("first_fit".into()));
            let first = entry(SELECTORS, "first_fit");
            let mut first = (first.build)(&params.unwrap()).unwrap();
            first.select(job, offers, rng).filter(|proposal| proposal.site == 0)
        }

        fn fork(&self) -> Box<dyn Selector> {
            Box::new(FirstOnly)
        }
    }

    static FIRST_ONLY: SelectorEntry =
        SelectorEntry::new(select::first_fit::ENTRY.about.renamed("first_only"), |_| {
            Ok(Box::new(FirstOnly))
        });

    #[test]
    fn a_selector_that_leaves_a_site_unused() {
        let catalogue = Catalogue::standard().with(&FIRST_ONLY).unwrap();
        let found = sentence(check_selector(&catalogue, "first_only"));
        assert!(
            found.starts_with("the selector `first_only`, on five sites that differ under "),
            "{found}"
        );
        let expected = "it takes no site for it, though the machine is idle";
        assert!(found.contains(expected), "{found}");
    }

    /// Network that breaks its contract: it never reports a job as finished.
    struct Endless;

    impl Network for Endless {
        fn start(
            &mut self,
            _now: Time,
            _run: RunKey,
            _work: Work,
            _site: usize,
            _placement: &Placement,
        ) -> Result<(), NetworkError> {
            Ok(())
        }

        fn change(&mut self, _: Time, _: RunKey, _: f64, _: f64, _: usize, _: &Placement) {}

        fn next_finish(&mut self, _: Option<Time>) -> Result<Option<(Time, RunKey)>, NetworkError> {
            Ok(None)
        }

        fn finish(&mut self, _: Time, _: RunKey) -> Option<Box<meshwork::observe::Messages>> {
            unreachable!("nobody finishes")
        }
    }

    static ENDLESS: NetworkEntry = network::ideal::ENTRY
        .described(network::ideal::ENTRY.about.renamed("endless"))
        .build(|_, _| Ok(Box::new(Endless)));

    #[test]
    fn a_network_in_which_no_job_ends() {
        let catalogue = Catalogue::standard().with(&ENDLESS).unwrap();
        let found = sentence(check_network(&catalogue, "endless"));
        assert!(
            found.starts_with("the network `endless`, on a 12 mesh under `fcfs`, seed 11: "),
            "{found}"
        );
    }
}

fn build(entry: &AllocatorEntry, table: &Table, topology: &Topology) -> Box<dyn Allocator> {
    let params: Vec<_> = entry.about.params.iter().collect();
    let params = meshwork::registry::resolve("allocator", &params, table, &[]).unwrap();
    (entry.build)(&params, topology).unwrap()
}

fn rotation(table: &Table) -> Rotation {
    match table["rotation"].as_str() {
        Some("if_needed") => Rotation::IfNeeded,
        Some("best") => Rotation::Best,
        _ => Rotation::Never,
    }
}

/// Calls `check` in each state of long random histories, for each parameter set and machine.
fn in_random_histories(
    name: &str,
    mut check: impl FnMut(&Table, &Site, &mut Box<dyn Allocator>, &Request),
) {
    let entry = entry(ALLOCATORS, name);
    for (_, topology) in every_machine().iter().filter(|(_, topology)| entry.works_on(topology)) {
        for table in variants(entry.about.params) {
            let mut rng = Stream::new(5, 0, "history");
            let mut draws = Stream::new(5, 0, "allocator");
            let mut site = Site::new(topology.clone(), 1.0);
            let mut allocator = build(entry, &table, topology);
            let mut held: Vec<Placement> = Vec::new();
            for step in 0..200 {
                let now = Time::new(f64::from(step));
                let sides = site.grid().sides().iter();
                let request = Request::Block(
                    sides.map(|&side| 1 + rng.below(u64::from(side)) as u32).collect(),
                );
                check(&table, &site, &mut allocator, &request);
                if rng.below(5) < 3 {
                    if let Some(placement) =
                        allocator.choose(Ask::new(&request, &site, now, &mut draws))
                    {
                        site.claim(&placement).unwrap();
                        allocator.claimed(&placement, &site, now.into());
                        held.push(placement);
                    }
                } else if !held.is_empty() {
                    let placement = held.swap_remove(rng.below(held.len() as u64) as usize);
                    site.release(&placement);
                    allocator.released(&placement, &site);
                }
            }
        }
    }
}

#[test]
fn machines_that_are_too_large_for_a_strategy_are_refused_in_a_sentence() {
    let refused = |allocator: &str, topology: &Topology| {
        let value = Value::Table(format!("a = '{allocator}'").parse().unwrap());
        let params = FAMILY.resolve("allocator", &value["a"]).unwrap();
        let entry = ALLOCATORS.iter().find(|entry| entry.about.name == allocator).unwrap();
        (entry.build)(&params, topology).err().map(|problem| problem.message)
    };
    for (allocator, most) in
        [("prime_cube_graph", 17), ("maximal_subcubes", 20), ("multiple_gray_code", 20)]
    {
        let larger = Topology::hypercube(most + 1).unwrap();
        let sentence = refused(allocator, &larger).unwrap();
        assert!(sentence.contains(&format!("up to dimension {most}")), "{sentence}");
        assert!(sentence.contains(&format!("dimension {}", most + 1)), "{sentence}");
        if most < 20 {
            assert_eq!(refused(allocator, &Topology::hypercube(most).unwrap()), None);
        }
    }
    for allocator in ["mm", "mc1x1", "gen_alg"] {
        let sentence = refused(allocator, &Topology::mesh(&[300, 200]).unwrap()).unwrap();
        let end = "and this mesh has 60000";
        assert!(sentence.contains("up to 16384 nodes") && sentence.ends_with(end), "{sentence}");
        assert_eq!(refused(allocator, &Topology::torus(&[128, 128]).unwrap()), None);
    }
}

#[test]
fn rotation_has_one_default_but_where_a_definition_turns_blocks() {
    let turns = ["adaptive_scan", "quick_allocation", "greedy_available"];
    for allocator in ALLOCATORS {
        let about = &allocator.about;
        let Some(rotation) = about.params.iter().find(|param| param.name == "rotation") else {
            continue;
        };
        let expected = if turns.contains(&about.name) { "\"if_needed\"" } else { "\"never\"" };
        let meshwork::registry::DefaultValue::Is(default) = rotation.default else { panic!() };
        assert_eq!(default, expected, "{}", about.name);
    }
}

#[test]
fn first_fit_is_its_definition() {
    in_random_histories("first_fit", |table, site, allocator, request| {
        let Request::Block(sides) = request else { return };
        let grid = site.grid();
        let last_fastest = table["scan"].as_str() == Some("last_dimension");
        let mut bases: Vec<u32> = (0..grid.nodes()).collect();
        if last_fastest {
            bases.sort_by_key(|&base| grid.coordinates(base));
        }
        let place = |base: u32| bases.iter().position(|&other| other == base);
        let lowest = |sides: &Dims| {
            bases.iter().copied().find(|&base| {
                let corner = grid.coordinates(base);
                let block = Placement::from(Block { base, sides: sides.clone() });
                (0..sides.len()).all(|d| {
                    sides[d] <= grid.sides()[d]
                        && (grid.is_ring(d) || corner[d] + sides[d] <= grid.sides()[d])
                }) && block.nodes(grid).iter().all(|&node| site.free().contains(node))
            })
        };
        let mut places: Vec<(u32, Dims)> = orientations(sides, rotation(table))
            .filter_map(|sides| lowest(&sides).map(|base| (base, sides)))
            .collect();
        if rotation(table) == Rotation::Best {
            places.sort_by_key(|(base, _)| place(*base)); // stable: the requested orientation wins
        }
        let expected =
            places.into_iter().next().map(|(base, sides)| Placement::from(Block { base, sides }));
        let mut rng = Stream::new(1, 0, "draws");
        assert_eq!(allocator.choose(Ask::new(request, site, Time::ZERO, &mut rng)), expected);
    });
}

#[test]
fn frame_sliding_is_its_definition() {
    in_random_histories("frame_sliding", |table, site, allocator, request| {
        let Request::Block(sides) = request else { return };
        if rotation(table) == Rotation::Best {
            return; // what competes is the number of frames tried, which has no other definition
        }
        let grid = site.grid();
        let from_origin = table["start"].as_str() == Some("origin");
        let start = if from_origin { Some(0) } else { site.free().first() };
        let expected = start.and_then(|start| {
            orientations(sides, rotation(table)).find_map(|sides| {
                // First come all bases of the lattice that contains the start, then those at or
                // after the start.
                let corner = grid.coordinates(start);
                let offset = |base: u32, d: usize| {
                    let (at, side) = (grid.coordinate(base, d), grid.sides()[d]);
                    if grid.is_ring(d) { (at + side - corner[d]) % side } else { at }
                };
                let on_lattice = |base: u32| {
                    (0..sides.len()).all(|d| {
                        let (o, s, side) = (offset(base, d), sides[d], grid.sides()[d]);
                        if grid.is_ring(d) {
                            o % s == 0 && o / s < side / s
                        } else {
                            o % s == corner[d] % s && o + s <= side
                        }
                    })
                };
                // The order is row-major, and along a ring it begins at the start. Frames before
                // the frame that contains the start are not tried.
                let place = |base: u32| -> Vec<u32> {
                    (0..sides.len()).rev().map(|d| offset(base, d)).collect()
                };
                let first: Vec<u32> = (0..sides.len())
                    .rev()
                    .map(|d| if grid.is_ring(d) { 0 } else { corner[d] })
                    .collect();
                let mut frames: Vec<u32> = (0..grid.nodes())
                    .filter(|&base| on_lattice(base) && place(base) >= first)
                    .collect();
                frames.sort_by_key(|&base| place(base));
                frames.into_iter().find_map(|base| {
                    let placed = Placement::from(Block { base, sides: sides.clone() });
                    let free = placed.nodes(grid).iter().all(|&node| site.free().contains(node));
                    free.then_some(placed)
                })
            })
        });
        let mut rng = Stream::new(1, 0, "draws");
        let found = allocator.choose(Ask::new(request, site, Time::ZERO, &mut rng));
        assert_eq!(found, expected, "{table} {request} on\n{}", site.drawing());
    });
}

/// Frame sliding may miss a promised block when more nodes are free than expected.
///
/// A scheduler that kept only the time of a reservation, and not its block, would break dozens of
/// promises.
#[test]
fn promises_are_kept_by_an_allocator_that_misses_blocks() {
    for scheduler in ["easy", "conservative"] {
        let jobs = if scheduler == "easy" { 4000 } else { 400 };
        let study = scenario(&format!(
            "machine = {{ topology = 'mesh', dims = [16, 16] }}
             allocator = 'frame_sliding'
             scheduler = '{scheduler}'
             workload = {{ name = 'synthetic', load = 0.7, sizes = {{ name = 'uniform', max = 10 }},
                           runtimes = {{ name = 'exponential', mean = 5.0 }} }}
             measure = {{ jobs = {jobs} }}"
        ));
        let mut promises = Promises::renewed();
        study.run(0, &NoInputs, &mut promises).unwrap();
        assert!(promises.made > 300, "{scheduler}: {} promises", promises.made);
    }
}

#[test]
fn a_hypercube_is_the_mesh_of_twos() {
    let (mut pairs, mut finished) = (0, 0);
    for dimension in 1..=6 {
        let jobs = random_jobs(&Topology::hypercube(dimension).unwrap(), 120, 3.0, 3);
        for allocator in ALLOCATORS {
            let serves = |w| allocator.serves.contains(&w);
            use meshwork::topology::Wiring::{Hypercube, Mesh};
            if !(serves(Hypercube) && serves(Mesh)) {
                continue;
            }
            let on_both =
                |s: &&SchedulerEntry| s.serves.contains(&Hypercube) && s.serves.contains(&Mesh);
            for scheduler in SCHEDULERS.iter().copied().filter(on_both) {
                let on = |machine: &str| {
                    let text = format!(
                        "machine = {{ {machine} }}\nallocator = '{}'\nscheduler = '{}'",
                        allocator.about.name, scheduler.about.name
                    );
                    run(&scenario(&text), jobs.clone()).1
                };
                let cube = on(&format!("topology = 'hypercube', dimension = {dimension}"));
                let twos = vec![2; dimension as usize];
                assert_eq!(cube, on(&format!("topology = 'mesh', dims = {twos:?}")));
                pairs += 1;
                finished += cube.lines().filter(|line| line.contains(" finished ")).count();
            }
        }
    }
    assert!(finished > 50 * pairs, "{finished} jobs of {pairs} pairings");
    assert!(pairs >= 48);
}

#[test]
fn sites_and_the_first_that_fits() {
    let two = scenario(
        "machine = { sites = [ { topology = 'mesh', dims = [2, 2] },
                               { topology = 'flat', processors = 8, speed = 2.0 } ] }",
    );
    let jobs = vec![
        job(0.0, Request::Nodes(4), 10.0),
        job(1.0, Request::Nodes(4), 10.0),
        job(2.0, Request::Nodes(5), 10.0),
        job(3.0, Request::Nodes(9), 10.0),
    ];
    let (outcome, transcript) = run(&two, jobs.clone());
    assert_eq!(outcome.refused, 1, "no site has nine processors\n{transcript}");
    let started = starts(two.setup(0).unwrap(), jobs);
    // The second goes to the fast site and ends at 6, when the third fits there.
    assert_eq!(started, [Some(0.0), Some(1.0), Some(6.0), None]);
}

#[test]
fn every_scheduler_works_on_sites_that_differ() {
    for scheduler in schedulers_for_all_wirings() {
        let study = scenario(&format!(
            "scheduler = '{}'
             machine = {{ sites = [ {{ topology = 'mesh', dims = [4, 3] }},
                                    {{ topology = 'flat', processors = 8, speed = 2.0 }},
                                    {{ topology = 'torus', dims = [5], allocator = 'frame_sliding',
                                       speed = 0.5 }} ] }}",
            scheduler.about.name
        ));
        for seed in 0..5 {
            let mut jobs = random_jobs(&Topology::flat(14).unwrap(), 120, 6.0, seed);
            jobs.iter_mut().for_each(|job| job.estimate = job.runtime);
            let (outcome, (_, transcript)) =
                observed(&study, jobs, (Promises::renewed(), common::Transcript::default()));
            let ended = outcome.finished + outcome.refused;
            assert!(ended == 120 || !scheduler.serves_all, "{}", scheduler.about.name);
            for site in 0..3 {
                assert!(transcript.text.contains(&format!("site {site}")), "site {site} is used");
            }
        }
    }
}

#[test]
fn the_naive_set_of_free_nodes_is_kept_by_every_run() {
    // The engine checks every claim by itself. This test compares the events of a whole run with a
    // set.
    let mesh = Topology::mesh(&[6, 5]).unwrap();
    let text = "machine = { topology = 'mesh', dims = [6, 5] }\nscheduler = 'easy'";
    let (_, transcript) = run(&scenario(text), random_jobs(&mesh, 300, 4.0, 8));
    let mut free = NodeSet::full(30);
    let mut held = std::collections::BTreeMap::new();
    for line in transcript.lines() {
        let words: Vec<&str> = line.splitn(6, ' ').collect();
        match words[1] {
            "started" => {
                let numbers: Vec<u32> = words[5]
                    .split(|c: char| !c.is_ascii_digit())
                    .filter_map(|n| n.parse().ok())
                    .collect();
                let sides = Dims::from_slice(&numbers[1..]);
                let placed = Placement::from(Block { base: numbers[0], sides });
                assert!(placed.is_within(&free, mesh.grid()), "{line}");
                placed.for_each_run(mesh.grid(), |start, count| free.remove_range(start, count));
                held.insert(words[2].to_owned(), placed);
            }
            "finished" => held[words[2]].add_to(&mut free, mesh.grid()),
            _ => {}
        }
    }
    assert_eq!(free.count(), 30);
}
