//! Runs hand-made test cases, which are data in `tests/corpus` at the root of the repository.

use std::collections::BTreeMap;

use crate::common::{scenario, starts};
use meshwork::alloc::{ALLOCATORS, Allocator, AllocatorEntry, Ask};
use meshwork::form::{Asks, Finds};
use meshwork::job::{Dims, Job, Request, Terms, Time};
use meshwork::machine::{Block, Placement, Site};
use meshwork::registry::{Named, Param, entry, resolve};
use meshwork::rng::Stream;
use meshwork::sched::SCHEDULERS;
use meshwork::shape::{ShapeRule, shaped};
use meshwork::topology::Topology;
use toml::{Table, Value};

/// Allocators whose placements cannot be drawn as one block, because they fold or split blocks.
///
/// Their tests are in rfold.rs and reconfigurable.rs.
const REJOINED: [&str; 4] = ["folding", "reconfigurable_blocks", "rfold", "reconfigurable"];

fn cases(text: &str) -> Vec<Table> {
    let file: Table = text.parse().unwrap();
    file["case"].as_array().unwrap().iter().map(|case| case.as_table().unwrap().clone()).collect()
}

/// Machine and held placements of a test case's drawing.
struct Drawn {
    site: Site,
    marks: Vec<char>,
    held: Vec<(Placement, Time)>,
    now: Time,
}

fn drawn(case: &Table) -> Drawn {
    let text = case["machine"].as_str().unwrap().trim();
    let layers: Vec<Vec<&str>> = text.split("\n\n").map(|layer| layer.lines().collect()).collect();
    let mut sides = vec![layers[0][0].len(), layers[0].len(), layers.len()];
    while sides.len() > 1 && sides.last() == Some(&1) {
        sides.pop();
    }
    let sides: Dims = sides.into_iter().map(|side| side as u32).collect();
    let topology = match case.get("topology").and_then(Value::as_str) {
        Some("torus") => Topology::torus(&sides),
        _ => Topology::mesh(&sides),
    };
    let mut site = Site::new(topology.unwrap(), 1.0);
    let marks: Vec<char> = layers.concat().concat().chars().collect();
    assert_eq!(marks.len(), site.nodes() as usize, "all rows are equally long");
    let time = |value: &Value| {
        Time::new(value.as_float().unwrap_or_else(|| value.as_integer().unwrap() as f64))
    };
    let claimed = |mark: char| {
        case.get("claimed").and_then(|all| all.get(mark.to_string())).map_or(Time::ZERO, time)
    };
    let mut held = Vec::new();
    let mut letters: Vec<char> = marks.iter().copied().filter(char::is_ascii_lowercase).collect();
    letters.sort_unstable();
    letters.dedup();
    for letter in letters {
        let nodes: Vec<u32> =
            (0..site.nodes()).filter(|&node| marks[node as usize] == letter).collect();
        let (low, high) = (nodes[0], nodes[nodes.len() - 1]);
        let low_at = site.grid().coordinates(low);
        let high_at = site.grid().coordinates(high);
        let sides = low_at.iter().zip(&high_at).map(|(low, high)| high - low + 1).collect();
        let block = Placement::from(Block { base: low, sides });
        assert_eq!(block.nodes(site.grid()), nodes, "the letter {letter} marks a block");
        held.push((block, claimed(letter)));
    }
    for (node, _) in marks.iter().enumerate().filter(|(_, mark)| **mark == '#') {
        let sides = Dims::from_elem(1, site.grid().dimensions());
        held.push((Block { base: node as u32, sides }.into(), Time::ZERO));
    }
    for (placement, _) in &held {
        site.claim(placement).unwrap();
    }
    Drawn { site, marks, held, now: case.get("now").map_or(Time::ZERO, time) }
}

fn name_of(named: &str) -> &str {
    named.split(' ').next().unwrap()
}

/// Allocator from a text such as "first_fit rotation=best".
fn built(named: &str, topology: &Topology) -> Box<dyn Allocator> {
    let entry: &AllocatorEntry = entry(ALLOCATORS, name_of(named));
    let table: Table = named
        .split(' ')
        .skip(1)
        .map(|word| word.split_once('=').unwrap())
        .map(|(key, value)| {
            // A word that is not TOML is a text without its quotes.
            let value = value.parse().unwrap_or_else(|_| Value::String(value.to_owned()));
            (key.to_owned(), value)
        })
        .collect();
    let params: Vec<&Param> = entry.about.params.iter().collect();
    let params = resolve("allocator", &params, &table, &[]).unwrap();
    (entry.build)(&params, topology).unwrap()
}

/// Drawing of a machine with the placement that the allocator proposes; `none` without one.
fn answer(mut allocator: Box<dyn Allocator>, drawn: &Drawn, request: &Request) -> String {
    // Claims are replayed one by one. The allocator is told of each claim while the site has only
    // the claims up to it.
    let mut site = Site::new(drawn.site.topology().clone(), 1.0);
    for (placement, at) in &drawn.held {
        site.claim(placement).unwrap();
        allocator.claimed(placement, &site, (*at).into());
    }
    let mut rng = Stream::new(1, 0, "corpus");
    let Some(placed) = allocator.choose(Ask::new(request, &site, drawn.now, &mut rng)) else {
        return "none".to_owned();
    };
    let mut marks = drawn.marks.clone();
    for node in placed.nodes(site.grid()) {
        assert_eq!(marks[node as usize], '.', "a node that is held is taken");
        marks[node as usize] = 'A';
    }
    let width = site.grid().sides()[0] as usize;
    let height = site.grid().sides().get(1).map_or(1, |&side| side as usize);
    let rows = |layer: &[char]| {
        layer.chunks(width).map(String::from_iter).collect::<Vec<String>>().join("\n")
    };
    marks.chunks(width * height).map(rows).collect::<Vec<String>>().join("\n\n")
}

#[test]
fn placements() {
    let mut checked = 0;
    for case in cases(include_str!("../../../../tests/corpus/placements.toml")) {
        let name = case["name"].as_str().unwrap();
        let drawn = drawn(&case);
        let asked = match (case.get("block"), case.get("nodes")) {
            (Some(sides), None) => Request::Block(
                sides.as_array().unwrap().iter().map(|s| s.as_integer().unwrap() as u32).collect(),
            ),
            (None, Some(nodes)) => Request::Nodes(nodes.as_integer().unwrap() as u32),
            _ => panic!("{name}: one of `block` and `nodes`"),
        };
        let no_answers = Table::new();
        let answers = case.get("answers").map_or(&no_answers, |a| a.as_table().unwrap());
        for (allocator, expected) in answers {
            let topology = drawn.site.topology();
            let asks = entry::<AllocatorEntry>(ALLOCATORS, name_of(allocator)).asks;
            let request = shaped(&asked, asks, topology, ShapeRule::Squarest).unwrap();
            let found = answer(built(allocator, topology), &drawn, &request);
            assert_eq!(found, expected.as_str().unwrap().trim(), "{name}: {allocator}");
            checked += 1;
        }
        let Some(only) = case.get("only").map(|only| only.as_str().unwrap().trim()) else {
            continue;
        };
        for allocator in ALLOCATORS {
            let topology = drawn.site.topology();
            let in_one_piece = !REJOINED.contains(&allocator.about().name);
            if !allocator.works_on(topology) || allocator.asks != Asks::Block || !in_one_piece {
                continue;
            }
            let found = answer(built(allocator.about().name, topology), &drawn, &asked);
            let may_miss = allocator.finds == Finds::SomeBlocks && found == "none";
            assert!(found == only || may_miss, "{name}: {}\n{found}", allocator.about.name);
            checked += 1;
        }
    }
    assert!(checked >= 25, "only {checked} answers were checked");
}

/// Request of a test case: a number of nodes, sides such as `2x3`, or a dimension after `^`.
fn request(value: &Value) -> Request {
    if let Some(count) = value.as_integer() {
        return Request::Nodes(count as u32);
    }
    let text = value.as_str().unwrap();
    match text.split_once('^') {
        Some((_, dimension)) => Request::Subcube(dimension.parse().unwrap()),
        None => Request::Block(text.split('x').map(|side| side.parse().unwrap()).collect()),
    }
}

/// Converts a text such as `window width=2` into an inline TOML table.
///
/// The first word becomes the value of `name`. Every other word is a key and its value, which is
/// quoted unless it is a number or a boolean.
fn inline(named: &str) -> String {
    let mut words = named.split(' ');
    let mut text = format!("name = '{}'", words.next().unwrap());
    for word in words {
        let (key, value) = word.split_once('=').unwrap();
        let is_word = value.parse::<f64>().is_err() && value.parse::<bool>().is_err();
        let quote = if is_word { "'" } else { "" };
        text += &format!(", {key} = {quote}{value}{quote}");
    }
    format!("{{ {text} }}")
}

#[test]
fn schedules() {
    let mut checked: BTreeMap<String, u32> = BTreeMap::new();
    for case in cases(include_str!("../../../../tests/corpus/schedules.toml")) {
        let name = case["name"].as_str().unwrap();
        let number = |v: &Value| v.as_integer().unwrap() as f64;
        let jobs: Vec<Job> = case["jobs"]
            .as_array()
            .unwrap()
            .iter()
            .map(|job| {
                let job = job.as_array().unwrap();
                let (request, arrival) = (request(&job[0]), Time::new(number(&job[1])));
                let (runtime, estimate) = (number(&job[2]), number(job.get(3).unwrap_or(&job[2])));
                let deadline = job.get(4).map(|deadline| Time::new(number(deadline)));
                let terms = deadline.map(|_| Box::new(Terms { deadline, ..Terms::default() }));
                Job { estimate, terms, ..Job::new(0, arrival, request, runtime) }
            })
            .collect();
        let machine = match case.get("machine") {
            Some(machine) => machine.as_str().unwrap().to_owned(),
            None => format!("topology = 'flat', processors = {}", case["processors"]),
        };
        let mut common = format!("machine = {{ {machine} }}\n");
        for key in ["allocator", "sizing"] {
            if let Some(named) = case.get(key) {
                common += &format!("{key} = {}\n", inline(named.as_str().unwrap()));
            }
        }
        for (scheduler, expected) in case["starts"].as_table().unwrap() {
            let expected: Vec<Option<f64>> = expected
                .as_array()
                .unwrap()
                .iter()
                .map(|v| Some(number(v)).filter(|start| *start >= 0.0))
                .collect();
            let study = scenario(&format!("{common}scheduler = {}", inline(scheduler)));
            let found = starts(study.setup(0).unwrap(), jobs.clone());
            assert_eq!(found, expected, "{name}: {scheduler}");
            let name = scheduler.split(' ').next().unwrap();
            *checked.entry(name.to_owned()).or_default() += 1;
        }
    }
    assert!(checked.values().sum::<u32>() >= 50, "{checked:?}");
    // Malleable schedulers have their own cases: see tests/malleable.rs.
    for scheduler in SCHEDULERS.iter().filter(|s| !s.malleable) {
        assert!(
            checked.contains_key(scheduler.about().name),
            "no case for {}",
            scheduler.about.name
        );
    }
}

/// Starts of the jobs of a test case under first come, first served.
///
/// At first, blocks that the case draws are held. Each is released at the time that the case
/// states.
fn starts_as_blocks_end(case: &Table, drawn: &Drawn, named: &str) -> Vec<f64> {
    let number = |v: &Value| v.as_float().unwrap_or_else(|| v.as_integer().unwrap() as f64);
    let mut allocator = built(named, drawn.site.topology());
    let mut site = Site::new(drawn.site.topology().clone(), 1.0);
    let mut running: Vec<(f64, Placement)> = Vec::new();
    for (placement, at) in &drawn.held {
        site.claim(placement).unwrap();
        allocator.claimed(placement, &site, (*at).into());
        let mark = drawn.marks[placement.blocks[0].base as usize].to_string();
        running.push((number(&case["ends"][&mark]), placement.clone()));
    }
    let (mut now, mut starts) = (drawn.now.units(), Vec::new());
    let mut rng = Stream::new(1, 0, "corpus");
    for job in case["queue"].as_array().unwrap() {
        let job: Vec<f64> = job.as_array().unwrap().iter().map(number).collect();
        let request = Request::block(&[job[0] as u32, job[1] as u32]);
        let placed = loop {
            if let Some(placed) =
                allocator.choose(Ask::new(&request, &site, Time::new(now), &mut rng))
            {
                break placed;
            }
            now = running.iter().map(|(end, _)| *end).fold(f64::INFINITY, f64::min);
            for (_, ended) in running.extract_if(.., |(end, _)| *end <= now) {
                site.release(&ended);
                allocator.released(&ended, &site);
            }
        };
        site.claim(&placed).unwrap();
        allocator.claimed(&placed, &site, Time::new(now).into());
        running.push((now + job[2], placed));
        starts.push(now);
    }
    starts
}

#[test]
fn queues() {
    let mut checked = 0;
    for case in cases(include_str!("../../../../tests/corpus/queues.toml")) {
        let name = case["name"].as_str().unwrap();
        for (allocator, expected) in case["starts"].as_table().unwrap() {
            let times = expected.as_array().unwrap().iter();
            let expected: Vec<f64> = times.map(|v| v.as_integer().unwrap() as f64).collect();
            let found = starts_as_blocks_end(&case, &drawn(&case), allocator);
            assert_eq!(found, expected, "{name}: {allocator}");
            checked += 1;
        }
    }
    assert!(checked >= 5, "{checked}");
}
