//! Cases by hand, as data: see `tests/corpus` at the root of the repository.

mod common;

use std::collections::BTreeMap;

use common::{scenario, starts};
use meshwork::alloc::{ALLOCATORS, AllocatorEntry, Asks, Finds};
use meshwork::job::{Dims, Job, Request, Time};
use meshwork::machine::{Block, Placement, Site};
use meshwork::registry::{Named, Param, entry, resolve};
use meshwork::rng::Stream;
use meshwork::sched::SCHEDULERS;
use meshwork::topology::Topology;
use toml::{Table, Value};

fn cases(text: &str) -> Vec<Table> {
    let file: Table = text.parse().unwrap();
    file["case"].as_array().unwrap().iter().map(|case| case.as_table().unwrap().clone()).collect()
}

/// A machine as drawn.
fn drawn(case: &Table) -> Site {
    let rows: Vec<&str> = case["machine"].as_str().unwrap().trim().lines().collect();
    let sides = match rows.len() {
        1 => vec![rows[0].len() as u32],
        _ => vec![rows[0].len() as u32, rows.len() as u32],
    };
    let topology = match case.get("topology").and_then(Value::as_str) {
        Some("torus") => Topology::torus(&sides),
        _ => Topology::mesh(&sides),
    };
    let mut site = Site::new(topology.unwrap(), 1.0);
    for (node, mark) in rows.concat().chars().enumerate() {
        if mark == '#' {
            let sides = Dims::from_elem(1, sides.len());
            site.claim(&Placement::from(Block { base: node as u32, sides })).unwrap();
        }
    }
    site
}

/// What an allocator, with parameters as in "first_fit rotation=best", answers, as a drawing.
fn answer(named: &str, site: &Site, request: &Request) -> String {
    let mut words = named.split(' ');
    let entry: &AllocatorEntry = entry(ALLOCATORS, words.next().unwrap());
    let table: Table = words
        .map(|word| word.split_once('=').unwrap())
        .map(|(key, value)| (key.to_owned(), Value::String(value.to_owned())))
        .collect();
    let params: Vec<&Param> = entry.about.params.iter().collect();
    let params = resolve("allocator", &params, &table, &[]).unwrap();
    let mut allocator = (entry.build)(&params, site.topology()).unwrap();
    let mut rng = Stream::new(1, 0, "corpus");
    let Some(placed) = allocator.choose(request, site, Time::ZERO, &mut rng) else {
        return "none".to_owned();
    };
    let mut marks: Vec<char> = site.drawing().chars().filter(|c| *c != '\n').collect();
    for node in placed.nodes(site.grid()) {
        assert_eq!(marks[node as usize], '.', "{named} takes a node that is held");
        marks[node as usize] = 'A';
    }
    let rows = marks.chunks(site.grid().sides()[0] as usize);
    rows.map(String::from_iter).collect::<Vec<String>>().join("\n")
}

#[test]
fn placements() {
    let mut checked = 0;
    for case in cases(include_str!("../../../tests/corpus/placements.toml")) {
        let name = case["name"].as_str().unwrap();
        let site = drawn(&case);
        let request = match (case.get("block"), case.get("nodes")) {
            (Some(sides), None) => Request::Block(
                sides.as_array().unwrap().iter().map(|s| s.as_integer().unwrap() as u32).collect(),
            ),
            (None, Some(nodes)) => Request::Nodes(nodes.as_integer().unwrap() as u32),
            _ => panic!("{name}: one of `block` and `nodes`"),
        };
        let no_answers = Table::new();
        let answers = case.get("answers").map_or(&no_answers, |a| a.as_table().unwrap());
        for (allocator, expected) in answers {
            let found = answer(allocator, &site, &request);
            assert_eq!(found, expected.as_str().unwrap().trim(), "{name}: {allocator}");
            checked += 1;
        }
        let Some(only) = case.get("only").map(|only| only.as_str().unwrap().trim()) else {
            continue;
        };
        for allocator in ALLOCATORS {
            let serves = allocator.serves.contains(&site.topology().wiring());
            if !serves || allocator.asks != Asks::Block {
                continue;
            }
            let found = answer(allocator.about().name, &site, &request);
            let may_miss = allocator.finds == Finds::SomeBlocks && found == "none";
            assert!(found == only || may_miss, "{name}: {}\n{found}", allocator.about.name);
            checked += 1;
        }
    }
    assert!(checked >= 25, "only {checked} answers were checked");
}

#[test]
fn schedules() {
    let mut checked: BTreeMap<&str, u32> = BTreeMap::new();
    for case in cases(include_str!("../../../tests/corpus/schedules.toml")) {
        let name = case["name"].as_str().unwrap();
        let number = |v: &Value| v.as_integer().unwrap() as f64;
        let jobs: Vec<Job> = case["jobs"]
            .as_array()
            .unwrap()
            .iter()
            .map(|job| {
                let job: Vec<f64> = job.as_array().unwrap().iter().map(number).collect();
                let (request, arrival) = (Request::Nodes(job[0] as u32), Time::new(job[1]));
                let (runtime, estimate) = (job[2], *job.get(3).unwrap_or(&job[2]));
                Job { number: 0, arrival, request, runtime, estimate }
            })
            .collect();
        for scheduler in SCHEDULERS {
            let scheduler = scheduler.about().name;
            let Some(expected) = case["starts"].get(scheduler) else { continue };
            let expected: Vec<Option<f64>> = expected
                .as_array()
                .unwrap()
                .iter()
                .map(|v| Some(number(v)).filter(|start| *start >= 0.0))
                .collect();
            let flat = scenario(&format!(
                "machine = {{ topology = 'flat', processors = {} }}\nscheduler = '{scheduler}'",
                case["processors"]
            ));
            let found = starts(flat.setup(0).unwrap(), jobs.clone());
            assert_eq!(found, expected, "{name}: {scheduler}");
            *checked.entry(scheduler).or_default() += 1;
        }
    }
    assert!(checked.values().sum::<u32>() >= 29, "{checked:?}");
}
