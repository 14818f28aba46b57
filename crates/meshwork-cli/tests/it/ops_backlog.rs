//! Test of a rule that backfill relies on, and a generator of a site with a long queue.
//!
//! The rule is that a request which fits on some free nodes also fits if more nodes are free. The
//! generated site is used to measure run times.

use crate::common;
use std::path::PathBuf;

use crate::common::backlog::{jobs, machine, replay, slurm_machine};
use crate::common::{Numbers, Scratch};
use meshwork::alloc::listed::find;
use meshwork::geometry::NodeSet;
use meshwork_lab::slurm::folder::{Folder, asked};
use meshwork_slurm::history::{History, JobRecord};
use serde_json::json;

#[test]
#[ignore = "it writes a site of a hundred thousand jobs, to measure with: see docs/performance.md"]
fn a_site_with_a_long_queue_is_written() {
    let to = std::env::var_os("MESHWORK_SITE").map(PathBuf::from);
    let to = to.expect("MESHWORK_SITE says where the site goes");
    let folder = Scratch::new();
    let machine = machine(&folder, 16, "");
    let mut stays = jobs(100_000, 2_000, 512, 1);
    replay(&machine, &mut stays, 0.0);
    Folder::write(&to, &machine, &History { stays }, &json!({})).unwrap();
}

#[test]
fn who_finds_nodes_among_fewer_finds_some_among_more() {
    let leaf = |n: u32| format!("n[{:02}-{:02}]", 8 * n, 8 * n + 7);
    let lists = |line: &dyn Fn(u32) -> String| (0..8).map(line).collect::<String>();
    let tree = format!(
        "- topology: t\n  tree:\n    switches:\n{}      - {{switch: a, children: 's[0-3]'}}\n      - {{switch: b, children: 's[4-7]'}}\n      - {{switch: top, children: 'a,b'}}\n",
        lists(&|n| format!("      - {{switch: s{n}, nodes: '{}'}}\n", leaf(n)))
    );
    let blocks = format!(
        "- topology: t\n  block:\n    block_sizes: [8, 16, 32]\n    blocks:\n{}",
        lists(&|n| format!("      - {{block: b{n}, nodes: '{}'}}\n", leaf(n)))
    );
    let rings = format!(
        "- topology: t\n  ring:\n    rings:\n{}",
        lists(&|n| format!("      - {{ring: r{n}, nodes: '{}'}}\n", leaf(n)))
    );
    let flat = "- topology: t\n  flat: true\n".to_owned();
    let (mut asked_for, mut by_count, mut lost) = (0, 0, Vec::new());
    for topology in [common::TORUS.to_owned(), tree, blocks, rings, flat] {
        for weights in ["Weight=1", "Weight=9"] {
            let folder = Scratch::new();
            let conf = format!(
                "NodeName=n[00-31] CPUs=2\nNodeName=n[32-63] CPUs=2 {weights}\nPartitionName=p Nodes=ALL Default=YES Topology=t\n"
            );
            let machine = slurm_machine(&folder, &topology, &conf);
            let site = machine.site("p");
            let mut numbers = Numbers(5);
            for _ in 0..3_000 {
                let mut fewer = site.up.clone();
                let gone = numbers.below(5);
                (0..64).filter(|_| numbers.below(6) < gone).for_each(|node| fewer.remove(node));
                let mut more = fewer.clone();
                (0..64).filter(|_| numbers.below(8) == 0).for_each(|node| more.insert(node));
                let nodes = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32][numbers.below(10) as usize];
                let stay = JobRecord {
                    nodes,
                    exclusive: true,
                    partition: "p".to_owned(),
                    segment: Some(nodes / 2)
                        .filter(|&half| half > 0 && nodes % 2 == 0 && numbers.below(4) == 0),
                    switches: Some(1 + numbers.below(3) as u32).filter(|_| numbers.below(4) == 0),
                    contiguous: numbers.below(6) == 0,
                    ..JobRecord::default()
                };
                let wanted = asked(&stay).wanted;
                let rule = site.structure.rule();
                let among = |free: &NodeSet| find(rule, &site.nodes, &wanted, free);
                asked_for += 1;
                if rule.needs_only_count(&site.nodes, &wanted, &site.whole) {
                    by_count += 1;
                    assert_eq!(among(&fewer).is_some(), fewer.count() >= wanted.nodes);
                }
                if among(&fewer).is_some() && among(&more).is_none() {
                    lost.push(format!("{} {wanted:?}", site.structure.rule().covered().is_some()));
                }
            }
        }
    }
    assert_eq!(lost, Vec::<String>::new(), "of {asked_for}");
    assert!(by_count > 1_000, "{by_count}");
}
