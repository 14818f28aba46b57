//! What every entry of every list has to do, with no line of its own.

mod common;

use common::{all_machines, job, random_jobs, run, scenario, schedulers_for_all_wirings, starts};
use meshwork::alloc::{ALLOCATORS, Allocator, AllocatorEntry, Ask, FAMILY};
use meshwork::form::{Asks, Finds};
use meshwork::geometry::NodeSet;
use meshwork::geometry::orientation::{Rotation, orientations};
use meshwork::job::{Dims, Request, Time};
use meshwork::machine::{Block, Placement, Site};
use meshwork::observe::{Event, JobId, Observer};
use meshwork::registry::{Kind, Named};
use meshwork::rng::Stream;
use meshwork::sched::{SCHEDULERS, SchedulerEntry};
use meshwork::shape::{ShapeRule, shaped};
use meshwork::topology::Topology;
use toml::{Table, Value};

/// Every entry with every choice of its choice parameters and flags, on every machine it serves.
fn every_allocator() -> Vec<(&'static AllocatorEntry, Table, Topology)> {
    let mut all = Vec::new();
    for entry in ALLOCATORS {
        for (_, topology) in all_machines() {
            if entry.works_on(&topology) {
                for table in variants(entry) {
                    all.push((*entry, table, topology.clone()));
                }
            }
        }
    }
    assert!(all.len() > 20, "the lists are not empty");
    all
}

/// The cross product of all choices of all choice parameters and flags.
fn variants(entry: &AllocatorEntry) -> Vec<Table> {
    let mut tables = vec![Table::new()];
    for param in entry.about.params {
        let choices: Vec<Value> = match param.kind {
            Kind::Choice(words) => {
                words.iter().map(|word| Value::String((*word).to_owned())).collect()
            }
            Kind::Flag => vec![Value::Boolean(false), Value::Boolean(true)],
            _ => continue,
        };
        let with = |table: &Table, choice: &Value| {
            let mut table = table.clone();
            table.insert(param.name.to_owned(), choice.clone());
            table
        };
        tables = tables.iter().flat_map(|t| choices.iter().map(move |c| with(t, c))).collect();
    }
    tables
}

fn build(entry: &AllocatorEntry, table: &Table, topology: &Topology) -> Box<dyn Allocator> {
    let params: Vec<_> = entry.about.params.iter().collect();
    let params = meshwork::registry::resolve("allocator", &params, table, &[]).unwrap();
    (entry.build)(&params, topology).unwrap()
}

fn is_true(value: &Value) -> bool {
    value.as_bool() == Some(true)
}

/// The parameter `rotation`, or for an entry without one what it always does.
fn rotation(entry: &AllocatorEntry, table: &Table) -> Rotation {
    match table.get("rotation").and_then(Value::as_str) {
        Some("if_needed") => Rotation::IfNeeded,
        Some("best") => Rotation::Best,
        None if entry.about.name == "turning_busy_list" => Rotation::IfNeeded,
        _ => Rotation::Never,
    }
}

/// Whether a block of these sides is free anywhere: the definition, every base and every node.
fn a_block_is_free(site: &Site, sides: &[u32]) -> bool {
    let grid = site.grid();
    (0..grid.nodes()).any(|base| {
        let corner = grid.coordinates(base);
        let reach = |d: usize| if grid.is_ring(d) { 0 } else { corner[d] } + sides[d];
        let inside = (0..sides.len()).all(|d| reach(d) <= grid.sides()[d]);
        let block = Block { base, sides: Dims::from_slice(sides) };
        inside
            && Placement::from(block).nodes(grid).into_iter().all(|node| site.free().contains(node))
    })
}

/// The form in which the allocator asks, with these parameters.
fn asks(entry: &AllocatorEntry, allocator: &dyn Allocator) -> Asks {
    allocator.asks().unwrap_or(entry.asks)
}

/// A request in this form.
fn random_request(asks: Asks, topology: &Topology, rng: &mut Stream) -> Request {
    let grid = topology.grid();
    match asks {
        Asks::BlockOrNodes if rng.below(2) == 0 => random_request(Asks::Block, topology, rng),
        Asks::Nodes | Asks::BlockOrNodes => {
            Request::Nodes(1 + rng.below(u64::from(grid.nodes()) / 2) as u32)
        }
        Asks::Subcube => Request::Subcube(rng.below(grid.dimensions() as u64 + 1) as u32),
        Asks::Block => Request::Block(
            grid.sides().iter().map(|&side| 1 + rng.below(u64::from(side)) as u32).collect(),
        ),
        Asks::Square => {
            let shorter = grid.sides().iter().min().unwrap();
            let side = 1 << rng.below(u64::from(shorter.ilog2()) + 1);
            Request::Block(Dims::from_elem(side, grid.dimensions()))
        }
    }
}

/// Calls `check` in each state of a long random history of claims and releases.
fn in_random_histories(
    mut check: impl FnMut(&AllocatorEntry, &Table, &Site, &mut Box<dyn Allocator>, &Request),
) {
    for (entry, table, topology) in every_allocator() {
        let mut rng = Stream::new(5, 0, "history");
        let mut draws = Stream::new(5, 0, "allocator");
        let mut site = Site::new(topology.clone(), 1.0);
        let mut allocator = build(entry, &table, &topology);
        let asks = asks(entry, allocator.as_ref());
        let mut held: Vec<Placement> = Vec::new();
        for step in 0..200 {
            let now = Time::new(f64::from(step));
            let request = random_request(asks, &topology, &mut rng);
            check(entry, &table, &site, &mut allocator, &request);
            if rng.below(5) < 3 {
                if let Some(placement) =
                    allocator.choose(Ask::new(&request, &site, now, &mut draws))
                {
                    site.claim(&placement).unwrap();
                    allocator.claimed(&placement, &site, now);
                    held.push(placement);
                }
            } else if !held.is_empty() {
                let placement = held.swap_remove(rng.below(held.len() as u64) as usize);
                site.release(&placement);
                allocator.released(&placement, &site);
            }
        }
        for placement in held {
            site.release(&placement);
            allocator.released(&placement, &site);
        }
        // After everything is released it answers as a new one would.
        let mut fresh = build(entry, &table, &topology);
        for _ in 0..20 {
            let request = random_request(asks, &topology, &mut rng);
            let mut again = draws.clone();
            assert_eq!(
                allocator.choose(Ask::new(&request, &site, Time::ZERO, &mut draws.clone())),
                fresh.choose(Ask::new(&request, &site, Time::ZERO, &mut again)),
                "{} on a {topology} remembers",
                entry.about.name
            );
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
fn a_placement_is_free_distinct_and_of_the_right_shape() {
    in_random_histories(|entry, table, site, allocator, request| {
        let mut rng = Stream::new(1, 0, "draws");
        let Some(placed) = allocator.choose(Ask::new(request, site, Time::ZERO, &mut rng)) else {
            return;
        };
        let nodes = placed.nodes(site.grid());
        let mut distinct = nodes.clone();
        distinct.sort_unstable();
        distinct.dedup();
        assert_eq!(distinct.len(), nodes.len(), "{}: nodes twice", entry.about.name);
        assert!(nodes.iter().all(|&node| site.free().contains(node)));
        assert!(nodes.len() as u64 >= request.nodes(), "{}: too few", entry.about.name);
        if allocator.finds().unwrap_or(entry.finds) == Finds::AnyNodes {
            assert_eq!(nodes.len() as u64, request.nodes(), "{}: too many", entry.about.name);
        }
        // A parameter that changes the form changes what may be given, too.
        if entry.contiguous && allocator.asks().is_none() {
            assert_eq!(placed.blocks.len(), 1);
            let is_as_requested = match request {
                Request::Nodes(count) => placed.len() == *count,
                Request::Subcube(dimension) => placed.len() == 1 << dimension,
                Request::Block(sides) => {
                    orientations(sides, rotation(entry, table)).any(|s| s == placed.blocks[0].sides)
                }
            };
            assert!(is_as_requested, "{}: {placed:?} is no {request}", entry.about.name);
        }
        assert!(site.clone().claim(&placed).is_ok());
    });
}

#[test]
fn it_finds_room_whenever_it_says_it_does() {
    in_random_histories(|entry, table, site, allocator, request| {
        let mut rng = Stream::new(1, 0, "draws");
        let found = allocator.choose(Ask::new(request, site, Time::ZERO, &mut rng)).is_some();
        let there_is = match (allocator.finds().unwrap_or(entry.finds), request) {
            (Finds::AnyNodes, _) => request.nodes() <= u64::from(site.free_nodes()),
            (Finds::EveryBlock, Request::Block(sides)) => {
                orientations(sides, rotation(entry, table))
                    .any(|sides| a_block_is_free(site, &sides))
            }
            // The parameter says that it may miss some.
            (_, Request::Subcube(_)) if table.get("strict_lists").is_some_and(is_true) => return,
            (Finds::EveryBlock, &Request::Subcube(dimension)) => {
                let all = 0..1_u32 << site.grid().dimensions();
                all.filter(|mask| mask.count_ones() == dimension).any(|mask| {
                    let sides: Dims =
                        (0..site.grid().dimensions()).map(|d| 1 + (mask >> d & 1)).collect();
                    a_block_is_free(site, &sides)
                })
            }
            _ => return,
        };
        assert_eq!(found, there_is, "{} {table} {request}\n{}", entry.about.name, site.drawing());
    });
}

#[test]
fn choosing_changes_nothing_and_forks_are_independent() {
    in_random_histories(|entry, _, site, allocator, request| {
        let rng = Stream::new(1, 0, "draws");
        let ask = |allocator: &mut Box<dyn Allocator>| {
            allocator.choose(Ask::new(request, site, Time::ZERO, &mut rng.clone()))
        };
        let first = ask(allocator);
        assert_eq!(first, ask(allocator), "{}: asked twice", entry.about.name);
        let mut fork = allocator.fork();
        assert_eq!(first, ask(&mut fork), "{}: a fork", entry.about.name);
        if let Some(placement) = &first {
            let mut site = site.clone();
            site.claim(placement).unwrap();
            fork.claimed(placement, &site, Time::ZERO);
        }
        assert_eq!(first, ask(allocator), "{}: after its fork changed", entry.about.name);
    });
}

#[test]
fn first_fit_is_its_definition() {
    in_random_histories(|entry, table, site, allocator, request| {
        let ("first_fit", Request::Block(sides)) = (entry.about.name, request) else { return };
        let grid = site.grid();
        let lowest = |sides: &Dims| {
            (0..grid.nodes()).find(|&base| {
                let corner = grid.coordinates(base);
                let block = Placement::from(Block { base, sides: sides.clone() });
                (0..sides.len()).all(|d| {
                    sides[d] <= grid.sides()[d]
                        && (grid.is_ring(d) || corner[d] + sides[d] <= grid.sides()[d])
                }) && block.nodes(grid).iter().all(|&node| site.free().contains(node))
            })
        };
        let mut places: Vec<(u32, Dims)> = orientations(sides, rotation(entry, table))
            .filter_map(|sides| lowest(&sides).map(|base| (base, sides)))
            .collect();
        if rotation(entry, table) == Rotation::Best {
            places.sort_by_key(|(base, _)| *base); // stable: the requested orientation wins ties
        }
        let expected =
            places.into_iter().next().map(|(base, sides)| Placement::from(Block { base, sides }));
        let mut rng = Stream::new(1, 0, "draws");
        assert_eq!(allocator.choose(Ask::new(request, site, Time::ZERO, &mut rng)), expected);
    });
}

#[test]
fn frame_sliding_is_its_definition() {
    in_random_histories(|entry, table, site, allocator, request| {
        let ("frame_sliding", Request::Block(sides)) = (entry.about.name, request) else { return };
        if rotation(entry, table) == Rotation::Best {
            return; // what competes is the number of frames tried, which has no other definition
        }
        let grid = site.grid();
        let from_origin = table["start"].as_str() == Some("origin");
        let start = if from_origin { Some(0) } else { site.free().first() };
        let expected = start.and_then(|start| {
            orientations(sides, rotation(entry, table)).find_map(|sides| {
                // Every base of the lattice through the start, and then only those from it on.
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
                // In row-major order, which along a ring begins at the start: frames before the one that holds
                // the start are not tried.
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

#[test]
fn a_job_of_the_whole_machine_fits_the_empty_machine() {
    for (entry, table, topology) in every_allocator() {
        let whole = Request::Nodes(topology.grid().nodes());
        let mut allocator = build(entry, &table, &topology);
        let asks = asks(entry, allocator.as_ref());
        let Some(request) = shaped(&whole, asks, &topology, ShapeRule::Squarest) else {
            assert_eq!(asks, Asks::Square, "only a square may be too large");
            continue;
        };
        let site = Site::new(topology.clone(), 1.0);
        let placed = allocator.choose(Ask::new(
            &request,
            &site,
            Time::ZERO,
            &mut Stream::new(1, 0, "draws"),
        ));
        assert_eq!(placed.map(|p| p.len()), Some(topology.grid().nodes()), "{}", entry.about.name);
    }
}

/// Every scheduler with every allocator on every machine it serves.
fn every_pair() -> Vec<(String, String, &'static str, Topology)> {
    let mut all = Vec::new();
    for (machine, topology) in all_machines() {
        for allocator in ALLOCATORS {
            if !allocator.works_on(&topology) {
                continue;
            }
            for scheduler in SCHEDULERS.iter().filter(|s| s.serves.contains(&topology.wiring())) {
                let text = format!(
                    "machine = {{ {machine} }}\nallocator = '{}'\nscheduler = '{}'",
                    allocator.about.name,
                    scheduler.about().name
                );
                let name =
                    format!("{} + {} on a {topology}", allocator.about.name, scheduler.about.name);
                all.push((name, text, scheduler.about.name, topology.clone()));
            }
        }
    }
    all
}

#[test]
fn every_job_starts_once_and_ends_once_and_the_same_seed_gives_the_same_transcript() {
    for (name, text, scheduler, topology) in every_pair() {
        let jobs = random_jobs(&topology, 100, 3.0, 11);
        let (outcome, transcript) = run(&scenario(&text), jobs.clone());
        let count = |word: &str| {
            transcript.lines().filter(|line| line.split(' ').nth(1) == Some(word)).count()
        };
        assert_eq!(count("arrived") + count("refused"), 100, "{name}");
        let left = count("arrived") - count("started");
        let serves_all = SCHEDULERS.iter().any(|s| s.about.name == scheduler && s.serves_all);
        assert!(left == 0 || !serves_all && count("started") > 10, "{name} leaves {left} jobs");
        assert_eq!(count("finished"), count("started"), "{name}");
        assert_eq!(outcome.finished as usize, count("finished"));
        assert_eq!(transcript, run(&scenario(&text), jobs).1, "{name}");
    }
}

#[test]
fn with_exact_estimates_no_promise_is_broken() {
    let mut promises = 0;
    for (name, text, _, topology) in every_pair() {
        for seed in 0..2 {
            let mut jobs = random_jobs(&topology, 90, 4.0, seed);
            jobs.iter_mut().for_each(|job| job.estimate = job.runtime);
            let (_, transcript) = run(&scenario(&text), jobs.clone());
            let started = starts(scenario(&text).setup(0).unwrap(), jobs);
            for line in transcript.lines() {
                let words: Vec<&str> = line.split(' ').collect();
                if words[1] == "promised" {
                    let (id, by): (usize, f64) =
                        (words[2].parse().unwrap(), words[3].parse().unwrap());
                    let start = started[id].unwrap();
                    // Ends are sums of tenths: a start may differ in the last bit of one.
                    assert!(start <= by + 1e-9, "{name}: job {id} starts at {start}, not by {by}");
                    promises += 1;
                }
            }
        }
    }
    assert!(promises > 1000, "only {promises} promises were tried");
}

/// Counts the promises that were made and those that were broken.
#[derive(Default)]
struct Promises {
    promised: std::collections::BTreeMap<JobId, Time>,
    made: u32,
    broken: u32,
}

impl Observer for Promises {
    fn observe(&mut self, now: Time, event: &Event<'_>) {
        match event {
            Event::Promised(id, by) => {
                self.promised.insert(*id, *by);
                self.made += 1;
            }
            Event::Started(run) => {
                let late = self.promised.get(&run.id).is_some_and(|&by| now > by + 1e-6);
                self.broken += u32::from(late);
            }
            _ => {}
        }
    }
}

/// With more free, frame sliding may miss the very block that was promised: a scheduler that kept
/// only the time of a promise would break dozens of these.
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
        let mut promises = Promises::default();
        study.run(0, &meshwork::workload::NoInputs, &mut promises).unwrap();
        assert!(promises.made > 300, "{scheduler}: {} promises", promises.made);
        assert_eq!(promises.broken, 0, "{scheduler}: of {}", promises.made);
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
    // The second goes to the fast site and is done at 6, when the third has room there.
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
            let mut promises = Promises::default();
            let mut transcript = common::Transcript::default();
            let outcome = study
                .run_on(
                    study.setup(0).unwrap(),
                    common::submissions(jobs),
                    &mut (&mut promises, &mut transcript),
                )
                .unwrap();
            let ended = outcome.finished + outcome.refused;
            assert!(ended == 120 || !scheduler.serves_all, "{}", scheduler.about.name);
            assert_eq!(promises.broken, 0, "{}: of {}", scheduler.about.name, promises.made);
            for site in 0..3 {
                assert!(transcript.text.contains(&format!("site {site}")), "site {site} is used");
            }
        }
    }
}

#[test]
fn the_naive_set_of_free_nodes_is_kept_by_every_run() {
    // The engine checks every claim; here the books of a whole run are compared with a set.
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
