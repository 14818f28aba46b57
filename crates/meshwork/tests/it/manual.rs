//! Tests of the strategies whose code the manual prints.
//!
//! The printed code is compiled, run and checked. It is written for a file of the crate `meshwork`,
//! with paths from `crate` and `super`; imports in this module make these paths valid.

use std::fs;
use std::path::Path;

use crate::{alloc, sched};
use meshwork::alloc::Ask;
use meshwork::conformance::{check_allocator, check_scheduler};
use meshwork::registry;
use meshwork::registry::{Params, resolve};
use meshwork::{Catalogue, Component, NoInputs, Scenario};

use meshwork::job::{Request, Time};
use meshwork::machine::{Block, Placement, Site};
use meshwork::rng::Stream;
use meshwork::topology::Topology;

fn params(entry: &registry::About, given: &str) -> Params {
    let params: Vec<&registry::Param> = entry.params.iter().collect();
    resolve("", &params, &given.parse().unwrap(), &[]).unwrap()
}

fn allocator(given: &str, topology: &Topology) -> Box<dyn alloc::Allocator> {
    let entry = &alloc::block::two_ends::ENTRY;
    (entry.build)(&params(&entry.about, given), topology).unwrap()
}

#[test]
fn the_chapters_show_the_files_that_are_compiled() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let read = |file: &str| fs::read_to_string(root.join(file)).unwrap();
    for (page, file) in
        [("add-an-allocator", "alloc/block/two_ends"), ("add-a-scheduler", "sched/shortest_first")]
    {
        let source = read(&format!("crates/meshwork/tests/it/{file}.rs"));
        let page = read(&format!("docs/{page}.md"));
        assert!(page.contains(&format!("```rust\n{source}```\n")), "{file} is not in the page");
    }
    let test = read("crates/meshwork/tests/it/manual.rs");
    let twin = test.split("// twin\n").nth(1).unwrap();
    let page = read("docs/add-an-allocator.md");
    assert!(page.contains(&format!("```rust\n{twin}```\n")), "the test is not in the page");
}

// twin
#[test]
fn two_ends_is_its_definition() {
    let topologies = [Topology::mesh(&[9, 7]), Topology::torus(&[4, 4, 3]), Topology::hypercube(5)];
    for topology in topologies.map(Result::unwrap) {
        let (mut allocator, mut site) =
            (allocator("large = 0.2", &topology), Site::new(topology, 1.0));
        let (mut rng, mut held) = (Stream::new(1, 0, "history"), Vec::<Placement>::new());
        for _ in 0..300 {
            let grid = site.grid().clone();
            let sides: Vec<u32> =
                grid.sides().iter().map(|&s| 1 + rng.below(u64::from(s)) as u32).collect();
            // The definition without optimization: every base, every node.
            let block = |base| Placement::from(Block { base, sides: sides.as_slice().into() });
            let fits = |base: u32| {
                let corner = grid.coordinates(base);
                let inside = |d: usize| corner[d] + sides[d] <= grid.sides()[d];
                (grid.is_wrapped() || (0..sides.len()).all(inside))
                    && block(base).nodes(&grid).iter().all(|&node| site.free().contains(node))
            };
            let mut free = (0..grid.nodes()).filter(|&base| fits(base));
            let is_large =
                f64::from(sides.iter().product::<u32>()) >= 0.2 * f64::from(grid.nodes());
            let expected = if is_large { free.next_back() } else { free.next() }.map(block);
            let found =
                allocator.choose(Ask::new(&Request::block(&sides), &site, Time::ZERO, &mut rng));
            assert_eq!(found, expected, "{sides:?}");
            // A random history: found blocks are claimed, and some are released later.
            if let Some(placement) = found {
                site.claim(&placement).unwrap();
                held.push(placement);
            }
            if rng.below(3) > 0 && !held.is_empty() {
                site.release(&held.swap_remove(rng.below(held.len() as u64) as usize));
            }
        }
    }
}
// twin

fn catalogue() -> Catalogue {
    let catalogue = Catalogue::standard().with(&alloc::block::two_ends::ENTRY).unwrap();
    catalogue.with(&sched::shortest_first::ENTRY).unwrap()
}

fn wait(allocator: impl Into<Component>, scheduler: &str) -> f64 {
    let runtimes = Component::new("exponential").with("mean", 5.0);
    let workload = Component::new("synthetic").with("load", 0.4).with("sizes", "uniform");
    let scenario = Scenario::builder()
        .catalogue(&catalogue())
        .mesh([16, 16])
        .allocator(allocator)
        .scheduler(scheduler)
        .workload(workload.with("runtimes", runtimes))
        .warmup_jobs(100)
        .jobs(1100)
        .metrics(["wait"]);
    scenario.build().unwrap().run(0, &NoInputs, &mut ()).unwrap().metrics[0].value.unwrap()
}

#[test]
fn both_run_as_part_of_a_catalogue() {
    let first_fit = wait("first_fit", "fcfs");
    let two_ends = |large: f64| wait(Component::new("two_ends").with("large", large), "fcfs");
    // No job exceeds the machine and nearly all are small, which makes it first fit.
    assert!((two_ends(1.0) - first_fit).abs() < 1e-9 * first_fit.max(1.0));
    assert!((two_ends(0.1) - first_fit).abs() > 1e-3, "and else it is not");
    let shortest = wait("first_fit", "shortest_first");
    assert!(shortest < 0.9 * first_fit, "{shortest} is no less than {first_fit}");
}

#[test]
fn both_keep_the_rules_of_their_lists() {
    check_allocator(&catalogue(), "two_ends").unwrap();
    check_scheduler(&catalogue(), "shortest_first").unwrap();
}
