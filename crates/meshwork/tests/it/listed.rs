//! Compares decisions of the rules for blocks, rings, trees and runs with a recorded file.
//!
//! The decisions are for long sequences of random jobs. When they were recorded, the rules
//! reproduced every decision of a real scheduler. A changed rule changes some decisions.
//! `UPDATE_EXPECTED=1` rewrites the file.

use std::fmt::Write;
use std::path::Path;

use crate::common::set;
use meshwork::alloc::listed::blocks::Blocks;
use meshwork::alloc::listed::ring::Rings;
use meshwork::alloc::listed::runs::Runs;
use meshwork::alloc::listed::tree::{Below, Tree};
use meshwork::alloc::listed::{Decision, NodeRequest, Nodes, Rule, decide};
use meshwork::geometry::NodeSet;
use meshwork::pool::Pool;
use meshwork::rng::Stream;

/// Number of decisions per machine that the recorded file stores in full.
///
/// Further decisions are stored as hashes.
const WRITTEN: usize = 40;

const DECISIONS: usize = 1600;

/// Number of all nodes, and consecutive sets of nodes with the sizes `counts`.
fn cut(counts: &[u32]) -> (u32, Vec<Vec<u32>>) {
    let mut next = 0;
    let part = |&count: &u32| {
        next += count;
        (next - count..next).collect()
    };
    let parts: Vec<Vec<u32>> = counts.iter().map(part).collect();
    (next, parts)
}

fn blocks(base: u32, levels: &[u32], counts: &[u32]) -> (u32, Box<dyn Rule>) {
    let (count, parts) = cut(counts);
    let sets = parts.into_iter().map(|nodes| set(count, nodes)).collect();
    (count, Box::new(Blocks::new(count, base, levels, sets)))
}

fn rings(counts: &[u32], step: u32) -> (u32, Box<dyn Rule>) {
    let (count, mut parts) = cut(counts);
    // The nodes of each ring in an order unlike that of their numbers.
    for part in &mut parts {
        part.sort_unstable_by_key(|&node| (node * step % 7, node));
    }
    (count, Box::new(Rings::new(count, parts)))
}

/// Tree of switches. Each item of `joins` lists the switches that one further switch joins.
fn tree(leaves: &[u32], joins: &[&[usize]]) -> (u32, Box<dyn Rule>) {
    let (count, parts) = cut(leaves);
    let mut list: Vec<Below> =
        parts.into_iter().map(|nodes| Below::Nodes(set(count, nodes))).collect();
    list.extend(joins.iter().map(|join| Below::Switches(join.to_vec())));
    (count, Box::new(Tree::new(count, &list)))
}

fn machines() -> Vec<(&'static str, u32, Box<dyn Rule>)> {
    let named = |name, (count, rule): (u32, Box<dyn Rule>)| (name, count, rule);
    vec![
        named("blocks of 6, three levels", blocks(6, &[0, 1, 2], &[6; 10])),
        named("blocks of 5, one level left out", blocks(5, &[0, 2, 3], &[5; 16])),
        named("uneven blocks", blocks(4, &[0, 1, 3], &[4, 4, 3, 5, 4, 4, 2, 4, 6, 4, 1])),
        named("blocks larger than the base", blocks(8, &[0, 1, 2], &[9; 8])),
        named("blocks of one level", blocks(7, &[0], &[7; 6])),
        named("rings", rings(&[10, 7, 7, 12, 4, 9, 1, 8], 3)),
        named("equal rings", rings(&[6; 9], 5)),
        named(
            "a tree of three levels",
            tree(&[5, 5, 7, 4, 6, 6, 6, 3, 8], &[&[0, 1, 2], &[3, 4, 5, 6], &[7, 8], &[9, 10, 11]]),
        ),
        named("two trees", tree(&[6, 4, 8, 6, 6], &[&[0, 1], &[2, 3, 4]])),
        named(
            "a deep tree",
            tree(
                &[3; 12],
                &[
                    &[0, 1],
                    &[2, 3],
                    &[4, 5],
                    &[6, 7, 8],
                    &[12, 13],
                    &[14, 15, 9],
                    &[16, 17, 10, 11],
                ],
            ),
        ),
        named("runs", (50, Box::new(Runs))),
    ]
}

fn random_job(count: u32, rng: &mut Stream) -> (NodeRequest, String) {
    let mut pick = |most: u64| rng.below(most) as u32;
    let nodes = match pick(8) {
        0 => 1,
        1 => 1 + pick(u64::from(count)),
        _ => 1 + pick(u64::from(count) / 3 + 1),
    };
    let mut wanted = NodeRequest::of(nodes);
    let mut text = format!("{nodes}");
    let mut say = |word: String| {
        let _ = write!(text, " {word}");
    };
    match pick(10) {
        0 | 1 => {
            let divisors: Vec<u32> =
                (1..=nodes).filter(|&size| nodes.is_multiple_of(size)).collect();
            let size = divisors[pick(divisors.len() as u64) as usize];
            wanted.segment = Some(size);
            wanted.spread = pick(3) == 0;
            wanted.consolidate = pick(3) == 0;
            say(format!(
                "segment={size} spread={} consolidate={}",
                wanted.spread, wanted.consolidate
            ));
        }
        2 => {
            wanted.most = nodes + pick(10);
            say(format!("most={}", wanted.most));
        }
        3 => {
            wanted.switches = Some(1 + pick(3));
            say(format!("switches={:?}", wanted.switches));
        }
        4 => {
            wanted.contiguous = true;
            say("contiguous".to_owned());
        }
        5 | 6 => {
            let first = pick(u64::from(count));
            let many =
                if pick(3) == 0 { nodes + pick(4) } else { 1 + pick(u64::from(nodes.min(4))) };
            let near = |i: u32| (first + i * (1 + i % 2)) % count;
            let list = set(count, (0..many).map(near));
            say(format!("listed={:?}", list.iter().collect::<Vec<_>>()));
            wanted.listed = Some(list);
        }
        _ => {}
    }
    (wanted, text)
}

/// Node numbers in short form, such as `0-3,7`.
fn shown(set: &NodeSet) -> String {
    let mut text = String::new();
    let mut start = set.first();
    while let Some(first) = start {
        let last = first + set.run_length(first) - 1;
        let comma = if text.is_empty() { "" } else { "," };
        let _ = match last - first {
            0 => write!(text, "{comma}{first}"),
            _ => write!(text, "{comma}{first}-{last}"),
        };
        start = if last + 1 < set.universe() { set.first_from(last + 1) } else { None };
    }
    text
}

fn transcript(name: &str, count: u32, rule: &dyn Rule) -> Vec<String> {
    let mut rng = Stream::new(17, 0, name);
    let mut lines = Vec::new();
    let mut held: Vec<NodeSet> = Vec::new();
    let mut nodes = Nodes::alike(count);
    while lines.len() < DECISIONS {
        if lines.len() % 400 == 200 {
            let weights = (0..count).map(|_| [1, 1, 1, 5, 9][rng.below(5) as usize]).collect();
            nodes = Nodes::new(weights, vec![2; count as usize]);
        } else if lines.len() % 400 == 0 {
            nodes = Nodes::alike(count);
        }
        while !held.is_empty() && rng.below(5) < 2 {
            held.swap_remove(rng.below(held.len() as u64) as usize);
        }
        let mut available = NodeSet::full(count);
        held.iter().for_each(|nodes| available.subtract(nodes));
        let (wanted, text) = random_job(count, &mut rng);
        let decision = decide(rule, &nodes, &wanted, &available, &NodeSet::full(count));
        lines.push(match decision {
            Decision::Start(nodes) => {
                let line = format!("{text}: {}", shown(&nodes));
                held.push(nodes);
                line
            }
            Decision::Wait(wait, cause) => format!("{text}: wait {wait:?}, {cause}"),
            Decision::Never(cause) => format!("{text}: never, {cause}"),
        });
    }
    lines
}

/// FNV-1a hash of lines, which is the same on every platform and in every version.
fn digest(lines: &[String]) -> u64 {
    let bytes = lines.iter().flat_map(|line| line.bytes().chain([b'\n']));
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[test]
#[expect(clippy::disallowed_methods, reason = "it is asked to write the file")]
fn decisions_are_what_they_were() {
    let mut all = String::new();
    for (name, count, rule) in machines() {
        let lines = transcript(name, count, &*rule);
        let starts =
            lines.iter().filter(|line| !line.contains("never") && !line.contains("wait")).count();
        assert!(starts > DECISIONS / 3, "{name}: {starts} of {DECISIONS}");
        let _ = writeln!(all, "# {name}");
        lines[..WRITTEN].iter().for_each(|line| {
            let _ = writeln!(all, "{line}");
        });
        for (part, lines) in lines.chunks(100).enumerate() {
            let _ = writeln!(all, "{:5} {:016x}", part * 100, digest(lines));
        }
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/corpus/listed.txt");
    if std::env::var_os("UPDATE_EXPECTED").is_some() {
        std::fs::write(&path, &all).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap();
    for (own, expected) in all.lines().zip(expected.lines()) {
        assert_eq!(own, expected);
    }
    assert_eq!(all.lines().count(), expected.lines().count());
}

#[test]
fn whatever_is_given_is_free_and_as_much_as_was_asked_for() {
    for (name, count, rule) in machines() {
        let mut rng = Stream::new(18, 0, name);
        for _ in 0..400 {
            let nodes = Nodes::alike(count);
            let available = set(count, (0..count).filter(|_| rng.below(3) > 0).collect::<Vec<_>>());
            let (wanted, text) = random_job(count, &mut rng);
            let told = decide(&*rule, &nodes, &wanted, &available, &NodeSet::full(count));
            if let Decision::Start(given) = told {
                assert!(given.is_within(&available), "{name}: {text}");
                assert!((wanted.nodes..=wanted.most).contains(&given.count()), "{name}: {text}");
                let listed = wanted.listed.filter(|list| list.count() <= wanted.most);
                assert!(listed.is_none_or(|list| list.is_within(&given)), "{name}: {text}");
            }
        }
    }
}

#[test]
fn a_switch_that_is_below_itself_is_named() {
    // Switch 0 is above the cycle of the switches 2 and 3, but on no cycle itself.
    let text = "machine = 'flat:4'\nallocator = { name = 'tree', switches = [{ children = [1, 2] }, \
                { nodes = [0, 1] }, { children = [3] }, { children = [1, 2] }] }";
    let Err(refused) = Pool::read(&text.parse().unwrap()) else { panic!("a cycle is accepted") };
    let is_named = |place: &str| refused.path.contains(place);
    assert!(is_named("switches[2]") || is_named("switches[3]"), "{}", refused.path);
    assert_eq!(refused.message, "this switch is below itself");
}
