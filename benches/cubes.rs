//! Benchmarks of the hypercube allocators: searches for subcubes, and claims paired with releases.

use std::hint::black_box;
use std::time::Duration;

use criterion::{Criterion, criterion_group, criterion_main};
use meshwork::alloc::{Allocator, Ask};
use meshwork::form::Asks;
use meshwork::job::{Dims, Pieces, Request, Time};
use meshwork::machine::{Block, Placement, Site};
use meshwork::rng::Stream;
use meshwork::topology::Topology;
use meshwork_benches::{allocator, asks};

const DIMENSIONS: [u32; 6] = [4, 6, 8, 10, 13, 16];

const ALLOCATORS: [&str; 12] = [
    "buddy",
    "buddy form='bitmap'",
    "modified_buddy",
    "gray_code",
    "multiple_gray_code",
    "free_list",
    "tree_collapsing",
    "first_fit",
    "first_fit rotation='if_needed'",
    "maximal_subcubes",
    "prime_cube_graph",
    "noncubic",
];

/// A half-full hypercube, and an allocator that has recorded all claims on it.
///
/// The held subcubes are at random free places and have up to half as many dimensions as the
/// hypercube. The result depends only on the arguments.
fn half_full(named: &str, dimension: u32) -> (Site, Box<dyn Allocator>) {
    let topology = Topology::hypercube(dimension).expect("these dimensions are right");
    let mut allocator = allocator(named, &topology);
    let mut site = Site::new(topology, 1.0);
    let mut rng = Stream::new(1, 0, "half full");
    let mut held = Placement::default();
    while site.free_nodes() * 2 > site.nodes() {
        let most = rng.below(u64::from(dimension) / 2 + 1) as usize;
        let mut sides = Dims::from_elem(1, dimension as usize);
        for _ in 0..most {
            sides[rng.below(u64::from(dimension)) as usize] = 2;
        }
        let base = (0..dimension)
            .filter(|&d| sides[d as usize] == 1)
            .map(|d| (rng.below(2) as u32) << d)
            .sum();
        let placement = Placement::from(Block { base, sides });
        // A subcube that overlaps held nodes is drawn again.
        if site.claim(&placement).is_ok() {
            held.blocks.extend(placement.blocks);
        }
    }
    allocator.claimed(&held, &site, Time::ZERO.into());
    (site, allocator)
}

/// Requests for subcubes of every dimension from 0 up to one less than that of the hypercube.
///
/// Each has the form that the allocator accepts, such as a subcube, a block, or a count of nodes.
fn requests(asks: Asks, dimension: u32) -> Vec<Request> {
    let side = |k: u32| move |d| if d < k { 2 } else { 1 };
    let request = |k: u32| match asks {
        Asks::Nodes | Asks::Constrained | Asks::BlockOrNodes => Request::Nodes(1 << k),
        Asks::Subcube => Request::Subcube(k),
        Asks::Pieces => Request::pieces(Pieces::whole_nodes(1 << k)),
        Asks::Block | Asks::Square => Request::Block((0..dimension).map(side(k)).collect()),
    };
    (0..dimension).map(request).collect()
}

/// Measures searches for a free subcube on a half-full hypercube, cycling through all dimensions.
///
/// Small free subcubes exist and are found. Large free subcubes do not exist, so that the search
/// for them fails.
fn search(criterion: &mut Criterion) {
    for dimension in DIMENSIONS {
        for named in ALLOCATORS {
            let (site, mut allocator) = half_full(named, dimension);
            let requests = requests(asks(named), dimension);
            let mut turn = requests.iter().cycle();
            let mut rng = Stream::new(1, 0, "search");
            criterion.bench_function(&format!("search/{named}/{dimension}"), |b| {
                b.iter(|| {
                    let request = turn.next().expect("a cycle never ends");
                    allocator.choose(Ask::new(black_box(request), &site, Time::ZERO, &mut rng))
                });
            });
        }
    }
}

/// Measures how fast an allocator handles jobs that come and go.
///
/// One step is a search for a subcube, its claim, and the release of the subcube claimed before.
/// The steps cycle through all dimensions in which the half-full hypercube has a free subcube. For
/// `buddy`, which does not read the state of the site, the step is also measured without updates of
/// the site.
fn come_and_go(criterion: &mut Criterion) {
    for dimension in DIMENSIONS {
        for named in ALLOCATORS {
            for with_site in [true, false] {
                if !with_site && named != "buddy" {
                    continue; // other allocators look at the site
                }
                let (mut site, mut allocator) = half_full(named, dimension);
                let mut rng = Stream::new(1, 0, "search");
                let mut requests = requests(asks(named), dimension);
                requests.retain(|request| {
                    allocator.choose(Ask::new(request, &site, Time::ZERO, &mut rng)).is_some()
                });
                let mut turn = requests.iter().cycle();
                let mut last: Option<Placement> = None;
                let of = if with_site { "with the site" } else { "alone" };
                criterion.bench_function(&format!("come and go/{of}/{named}/{dimension}"), |b| {
                    b.iter(|| {
                        let request = black_box(turn.next().expect("a cycle never ends"));
                        let next = allocator.choose(Ask::new(request, &site, Time::ZERO, &mut rng));
                        if let Some(placement) = &next {
                            if with_site {
                                site.claim(placement).expect("it is free");
                            }
                            allocator.claimed(placement, &site, Time::ZERO.into());
                        }
                        if let Some(placement) = std::mem::replace(&mut last, next) {
                            if with_site {
                                site.release(&placement);
                            }
                            allocator.released(&placement, &site);
                        }
                    });
                });
            }
        }
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .warm_up_time(Duration::from_millis(100))
        .measurement_time(Duration::from_millis(400))
        .sample_size(20);
    targets = search, come_and_go
}
criterion_main!(benches);
