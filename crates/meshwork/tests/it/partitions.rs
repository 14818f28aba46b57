//! Tests of the allocator for listed partitions against its definition, and of the built-in lists.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::Read as _;
use std::path::Path;

use crate::common::{job, run, scenario};
use meshwork::alloc::partitions::List;
use meshwork::job::Request;
use meshwork::machine::Placement;
use meshwork::pool::Pool;
use meshwork::rng::Stream;

/// Pool of a machine with two nodes on each node card.
fn pool(nodes: u32, list: &str) -> Pool {
    let table = format!(
        "machine = {{ topology = 'flat', processors = {nodes} }}\n[allocator]\nname = 'partitions'\nlist = '''\n{list}'''"
    );
    Pool::read(&table.parse().unwrap()).unwrap_or_else(|problem| panic!("{problem}"))
}

struct Plain {
    cards: BTreeSet<u32>,
    switches: BTreeSet<u32>,
}

fn random_list(cards: u32, rng: &mut Stream) -> (String, Vec<Plain>) {
    let mut text = format!("cards 2 c[0-{}]\n", cards - 1);
    let mut all = Vec::new();
    for index in 0..25 {
        let count = [1, 2, 4, 8][rng.below(4) as usize];
        let own: BTreeSet<u32> = (0..count).map(|_| rng.below(u64::from(cards)) as u32).collect();
        let switches: BTreeSet<u32> = (0..rng.below(3)).map(|_| rng.below(5) as u32).collect();
        let _ = write!(text, "p{index}:");
        own.iter().for_each(|card| write!(text, " c{card}").unwrap());
        switches.iter().for_each(|switch| write!(text, " s{switch}").unwrap());
        text.push('\n');
        all.push(Plain { cards: own, switches });
    }
    (text, all)
}

#[test]
fn the_partition_is_the_one_that_blocks_the_fewest_larger_ones() {
    let mut rng = Stream::new(9, 0, "partitions");
    let mut placed = 0;
    for _ in 0..40 {
        let (text, all) = random_list(12, &mut rng);
        let mut pool = pool(24, &text);
        let mut held: Vec<(Placement, usize)> = Vec::new();
        for _ in 0..40 {
            let idle = |own: &Plain| {
                held.iter().all(|(_, other)| {
                    all[*other].cards.is_disjoint(&own.cards)
                        && all[*other].switches.is_disjoint(&own.switches)
                })
            };
            let wanted = 1 + rng.below(16) as u32;
            let size = |own: &Plain| 2 * own.cards.len() as u32;
            let least = all.iter().map(size).filter(|&size| size >= wanted).min();
            let blocked = |own: &Plain| {
                let parent =
                    |other: &&Plain| size(other) > size(own) && other.cards.is_superset(&own.cards);
                all.iter().filter(parent).filter(|other| idle(other)).count()
            };
            let fitting =
                all.iter().enumerate().filter(|(_, own)| Some(size(own)) == least && idle(own));
            let expected = fitting.min_by_key(|(_, own)| blocked(own)).map(|(index, _)| index);
            let found = pool.can(&Request::Nodes(wanted));
            let nodes = found.map(|placed| placed.nodes(pool.site().grid()));
            let of = |index: usize| -> Vec<u32> {
                all[index].cards.iter().flat_map(|card| [2 * card, 2 * card + 1]).collect()
            };
            assert_eq!(nodes, expected.map(of), "{wanted} of\n{text}");
            if rng.below(5) < 3 {
                if let Some(index) = expected {
                    held.push((pool.allocate(&Request::Nodes(wanted)).unwrap(), index));
                    placed += 1;
                }
            } else if !held.is_empty() {
                let (gone, _) = held.swap_remove(rng.below(held.len() as u64) as usize);
                pool.release(&gone).unwrap();
            }
        }
    }
    assert!(placed > 300, "{placed}");
}

#[test]
fn partitions_conflict_through_switches_and_a_job_is_rounded_up() {
    let list = "cards 4 a[0-3]\nleft: a[0-1] x\nright: a[2-3] x\nthird: a2\nall: a[0-3] x";
    let mut pool = pool(16, list);
    let left = pool.allocate(&Request::Nodes(5)).unwrap();
    assert_eq!(left.text(pool.site().grid()), "0:8", "8 nodes for 5");
    assert_eq!(pool.allocate(&Request::Nodes(8)), None, "the switch is taken, though 8 are free");
    let third = pool.allocate(&Request::Nodes(1)).unwrap();
    assert_eq!(third.text(pool.site().grid()), "8:4");
    pool.release(&left).unwrap();
    pool.release(&third).unwrap();
    assert!(pool.allocate(&Request::Nodes(16)).is_some());
    assert_eq!(pool.never(&Request::Nodes(16)), None);
}

#[test]
fn with_reservations_the_promised_partition_drains() {
    // Two halves and the whole: a small job that ends too late is not started before the large one.
    let text = "machine = { topology = 'flat', processors = 8 }\nscheduler = 'easy'\n\
                allocator = { name = 'partitions', list = \"cards 4 a[0-1]\\nl: a0\\nr: a1\\nall: a[0-1]\" }";
    let jobs = vec![
        job(0.0, Request::Nodes(4), 10.0),
        job(1.0, Request::Nodes(8), 10.0),
        job(2.0, Request::Nodes(3), 9.0),
        job(3.0, Request::Nodes(3), 7.0),
    ];
    let (_, transcript) = run(&scenario(text), jobs);
    let started: Vec<String> = transcript
        .lines()
        .filter(|line| line.contains("started"))
        .map(|line| line.split(" site").next().unwrap().to_owned())
        .collect();
    assert_eq!(
        started,
        ["0 started 0", "3 started 3", "10 started 1", "20 started 2"],
        "{transcript}"
    );
}

#[test]
fn lists_that_do_not_suit_the_machine_are_one_sentence() {
    let refused = |nodes: u32, list: &str| {
        let table = format!(
            "machine = {{ topology = 'flat', processors = {nodes} }}\nallocator = {{ name = 'partitions', list = {list} }}"
        );
        Pool::read(&table.parse().unwrap()).err().unwrap().message
    };
    assert_eq!(
        refused(8, "'intrepid'"),
        "the cards of `allocator.list` have 40960 nodes together, but the machine has 8"
    );
    assert_eq!(
        refused(8, "'half'"),
        "`allocator.list` is no list of partitions: line 1: `half` is neither `cards NODES NAMES` nor a partition \
         `NAME: PARTS`"
    );
    assert!(refused(5000, "'halves'").contains("works up to 4096 nodes"));
}

/// Compares names, cards and switches of Intrepid's partitions with its operators' list.
#[test]
fn the_partitions_of_intrepid_are_those_of_its_list() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../../shared/placement/intrepid-partitions.csv.gz");
    let Ok(file) = std::fs::File::open(path) else {
        crate::skip::skip("logs", "the list of Intrepid's partitions is not here");
        return;
    };
    let mut csv = String::new();
    flate2::read::GzDecoder::new(file).read_to_string(&mut csv).unwrap();
    let own = List::intrepid();
    let own: Vec<(String, BTreeSet<String>, BTreeSet<String>)> = own.spelled_out();
    let rows: Vec<&str> = csv.lines().skip(1).collect();
    assert_eq!(own.len(), rows.len());
    for (row, (name, cards, switches)) in rows.iter().zip(own) {
        let fields: Vec<&str> = row.split(',').collect();
        let set =
            |text: &str| text.split_whitespace().map(str::to_owned).collect::<BTreeSet<String>>();
        assert_eq!(fields[0], name);
        assert_eq!(set(fields[2]), cards, "{name}");
        assert_eq!(set(fields[3]), switches, "{name}");
        assert_eq!(fields[1].parse::<usize>().unwrap(), 32 * cards.len(), "{name}");
    }
}

#[test]
fn intrepid_has_as_many_partitions_of_each_size_as_in_production() {
    let list = List::intrepid();
    let count = |nodes: u32| list.partitions().filter(|&(_, own, _)| own == nodes).count();
    let sizes: Vec<(u32, usize)> = list.sizes().map(|size| (size, count(size))).collect();
    assert_eq!(
        sizes,
        [
            (64, 640),
            (128, 320),
            (256, 160),
            (512, 82),
            (1024, 81),
            (2048, 21),
            (4096, 27),
            (8192, 8),
            (16384, 4),
            (24576, 1),
            (32768, 2),
            (40960, 1)
        ]
    );
    assert_eq!(list.nodes(), 40960);
}
