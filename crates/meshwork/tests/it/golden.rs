//! Compares the transcripts of small runs with the hashes in `golden.txt`.
//!
//! A small scenario is run with every allocator and every selector, each under every scheduler, and
//! with every network. The hashes are part of a version's contract: a change that alters one needs
//! a new `MODEL_VERSION` and a line under "Value-changing" in CHANGELOG.md. The test prints new
//! lines, and `UPDATE_EXPECTED=1 cargo test -p meshwork --test it golden::` writes them into
//! `golden.txt`.

use std::fmt::Write as _;

use crate::common::{
    SITES, every_selector, machines, random_jobs, run, scenario, schedulers_for_all_wirings,
};
use meshwork::alloc::ALLOCATORS;
use meshwork::network::NETWORKS;
use meshwork::sched::SCHEDULERS;
use meshwork::topology::{Topology, Wiring};

#[test]
#[expect(clippy::disallowed_methods, reason = "it is asked to write the file")]
fn transcripts_are_those_of_this_model_version() {
    let mut table = format!("model version {}\n", meshwork::scenario::MODEL_VERSION);
    for (machine, topology) in machines() {
        for allocator in ALLOCATORS.iter().filter(|a| a.works_on(&topology)) {
            for scheduler in SCHEDULERS.iter().filter(|s| s.serves.contains(&topology.wiring())) {
                let text = format!(
                    "machine = {{ {machine} }}\nallocator = '{}'\nscheduler = '{}'",
                    allocator.about.name, scheduler.about.name
                );
                let (_, transcript) = run(&scenario(&text), random_jobs(&topology, 80, 3.0, 1));
                let hash = hash(&transcript);
                let (allocator, scheduler) = (allocator.about.name, scheduler.about.name);
                writeln!(table, "{hash:016x} {allocator} {scheduler} {topology}").unwrap();
            }
        }
    }
    let jobs = random_jobs(&Topology::flat(14).unwrap(), 150, 15.0, 1);
    for (_, selector) in every_selector() {
        for scheduler in schedulers_for_all_wirings() {
            let scheduler = scheduler.about.name;
            let text = format!("{SITES}\n{selector}\nscheduler = '{scheduler}'");
            let (_, transcript) = run(&scenario(&text), jobs.clone());
            writeln!(table, "{:016x} {selector} {scheduler} on sites", hash(&transcript)).unwrap();
        }
    }
    for (machine, topology) in machines() {
        for network in NETWORKS.iter().filter(|network| network.sends) {
            if topology.wiring() == Wiring::Flat || topology.grid().dimensions() == 1 {
                continue;
            }
            let network = network.about.name;
            let text = format!(
                "machine = {{ {machine} }}\nallocator = 'naive'\nnetwork = '{network}'\nscheduler = 'easy'"
            );
            let (_, transcript) = run(&scenario(&text), random_jobs(&topology, 30, 1.0, 1));
            writeln!(table, "{:016x} naive easy {network} {topology}", hash(&transcript)).unwrap();
        }
    }
    let golden = include_str!("../golden.txt");
    if std::env::var_os("UPDATE_EXPECTED").is_some() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden.txt");
        std::fs::write(path, &table).unwrap();
    } else {
        assert!(table == golden, "{}", differences(golden, &table));
    }
}

/// Lines that only one of the two tables of hashes has.
fn differences(golden: &str, table: &str) -> String {
    let missing = |from: &str, sign: &str, other: &str| -> String {
        let other: std::collections::BTreeSet<&str> = other.lines().collect();
        let lines = from.lines().filter(|line| !other.contains(line));
        lines.map(|line| format!("{sign} {line}\n")).collect()
    };
    format!(
        "golden.txt would have these lines more (+) and these less (-); UPDATE_EXPECTED=1 writes it:\n{}{}",
        missing(table, "+", golden),
        missing(golden, "-", table)
    )
}

#[test]
fn only_what_is_new_is_printed() {
    let text = differences("model\nab one\ncd two\n", "model\nab one\nff two\n00 three\n");
    let lines: Vec<&str> = text.lines().skip(1).collect();
    assert_eq!(lines, ["+ ff two", "+ 00 three", "- cd two"]);
}

fn hash(transcript: &str) -> u64 {
    transcript.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}
