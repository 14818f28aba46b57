//! Tests of allocators that keep the nodes of a job close together.
//!
//! They are compared with slow reference implementations.

use std::collections::BTreeMap;

use crate::common::{job, metric, refusal, run, scenario};
use meshwork::alloc::{ALLOCATORS, Allocator, Ask};
use meshwork::job::{Request, Time};
use meshwork::machine::Site;
use meshwork::rng::Stream;
use meshwork::topology::{Node, Topology};

fn build(name: &str, topology: &Topology) -> Box<dyn Allocator> {
    let entry = ALLOCATORS.iter().find(|entry| entry.about.name == name).unwrap();
    assert!(entry.works_on(topology));
    let params = meshwork::registry::resolve("allocator", &[], &toml::Table::new(), &[]).unwrap();
    (entry.build)(&params, topology).unwrap()
}

fn machines() -> Vec<Topology> {
    vec![
        Topology::fat_tree(&[4, 5], 1.0).unwrap(),
        Topology::fat_tree(&[3, 2, 4], 1.0).unwrap(),
        Topology::fat_tree(&[2, 2, 2, 2], 1.0).unwrap(),
        Topology::dragonfly(2, 3, 1).unwrap(),
        Topology::dragonfly(3, 2, 2).unwrap(),
    ]
}

/// Groups nodes by leaf switch or group. Each leaf switch or group of the machine has `size` nodes.
fn by_part(nodes: &[Node], size: u32) -> BTreeMap<u32, Vec<Node>> {
    let mut parts = BTreeMap::<u32, Vec<Node>>::new();
    nodes.iter().for_each(|&node| parts.entry(node / size).or_default().push(node));
    parts
}

/// Numbers of nodes that a job takes from each part of the machine if it uses as few parts as
/// possible.
///
/// The next part is the one with the fewest free nodes that has enough for the rest of the job. If
/// there is none, it is the part with the most free nodes.
fn few(free: &[Node], size: u32, mut wanted: usize) -> BTreeMap<u32, usize> {
    let mut parts = by_part(free, size);
    let mut shares = BTreeMap::new();
    while wanted > 0 {
        let tight = parts.iter().filter(|(_, nodes)| nodes.len() >= wanted);
        let tight = tight.min_by_key(|(part, nodes)| (nodes.len(), **part)).map(|(part, _)| *part);
        let full = || {
            let most = parts.values().map(|nodes| nodes.len()).max().unwrap();
            *parts.iter().find(|(_, nodes)| nodes.len() == most).unwrap().0
        };
        let part = tight.unwrap_or_else(full);
        let taken = parts.remove(&part).unwrap().len().min(wanted);
        shares.insert(part, taken);
        wanted -= taken;
    }
    shares
}

/// Nodes that a job takes from each part of the machine if it spreads evenly.
///
/// Each node comes from the part that has given the fewest so far and has a free node left; the
/// first such part wins.
fn even(free: &[Node], size: u32, wanted: usize) -> BTreeMap<u32, usize> {
    let parts = by_part(free, size);
    let mut shares = BTreeMap::new();
    for _ in 0..wanted {
        let with_room = parts
            .iter()
            .filter(|(part, nodes)| shares.get(*part).copied().unwrap_or(0) < nodes.len());
        let part = with_room
            .map(|(part, _)| *part)
            .min_by_key(|part| (shares.get(part).copied().unwrap_or(0), *part));
        *shares.entry(part.unwrap()).or_default() += 1;
    }
    shares
}

fn on_leaves(free: &[Node], leaf: u32, wanted: usize) -> Vec<Node> {
    let shares = few(free, leaf, wanted);
    let parts = by_part(free, leaf);
    shares.into_iter().flat_map(|(part, share)| parts[&part][..share].to_vec()).collect()
}

fn in_groups(free: &[Node], topology: &Topology, shares: BTreeMap<u32, usize>) -> Vec<Node> {
    let tiers = topology.tiers().unwrap();
    let parts = by_part(free, tiers.group);
    let of = |(part, share): (u32, usize)| on_leaves(&parts[&part], tiers.leaf, share);
    shares.into_iter().flat_map(of).collect()
}

fn by_definition(name: &str, free: &[Node], topology: &Topology, wanted: usize) -> Vec<Node> {
    let tiers = topology.tiers().unwrap();
    match name {
        "fewest_leaves" => on_leaves(free, tiers.leaf, wanted),
        "fewest_groups" => in_groups(free, topology, few(free, tiers.group, wanted)),
        _ if by_part(free, tiers.group).values().any(|nodes| nodes.len() >= wanted) => {
            in_groups(free, topology, few(free, tiers.group, wanted))
        }
        _ => in_groups(free, topology, even(free, tiers.group, wanted)),
    }
}

/// Smallest number of parts of a machine that together have enough free nodes.
///
/// It is found by trying all sets of parts.
fn fewest(free: &[Node], size: u32, wanted: usize) -> usize {
    let counts: Vec<usize> = by_part(free, size).into_values().map(|nodes| nodes.len()).collect();
    (0_u32..1 << counts.len())
        .filter(|set| {
            let held =
                (0..counts.len()).filter(|part| set >> part & 1 == 1).map(|part| counts[part]);
            held.sum::<usize>() >= wanted
        })
        .map(u32::count_ones)
        .min()
        .unwrap() as usize
}

#[test]
fn every_choice_is_that_of_the_definition() {
    let mut asked = 0;
    for topology in machines() {
        let tiers = topology.tiers().unwrap();
        for name in ["fewest_leaves", "fewest_groups", "group_or_spread"] {
            let mut rng = Stream::new(3, 0, "history");
            let mut allocator = build(name, &topology);
            let mut site = Site::new(topology.clone(), 1.0);
            let mut held = Vec::new();
            for _ in 0..400 {
                let free: Vec<Node> = site.free().iter().collect();
                let wanted = 1 + rng.below(u64::from(topology.nodes())) as u32;
                let request = Request::Nodes(wanted);
                let mut draws = Stream::new(1, 0, "draws");
                let chosen = allocator.choose(Ask::new(&request, &site, Time::ZERO, &mut draws));
                assert_eq!(chosen.is_some(), wanted as usize <= free.len());
                if let Some(chosen) = chosen {
                    let nodes = chosen.nodes(site.grid());
                    let wanted = wanted as usize;
                    assert_eq!(
                        nodes,
                        by_definition(name, &free, &topology, wanted),
                        "{name}, {wanted} of {free:?} on a {topology}"
                    );
                    let parts = |size| by_part(&nodes, size).len();
                    match name {
                        "fewest_leaves" if topology.nodes() / tiers.leaf < 17 => {
                            assert_eq!(parts(tiers.leaf), fewest(&free, tiers.leaf, wanted));
                        }
                        "fewest_groups" => {
                            assert_eq!(parts(tiers.group), fewest(&free, tiers.group, wanted));
                        }
                        _ => {}
                    }
                    asked += 1;
                    // Only smaller jobs are held, so that the machine is neither empty nor full for
                    // long.
                    if wanted * 3 < topology.nodes() as usize || held.is_empty() {
                        site.claim(&chosen).unwrap();
                        allocator.claimed(&chosen, &site, Time::ZERO.into());
                        held.push(chosen);
                    }
                }
                if rng.below(3) == 0 && !held.is_empty() {
                    let placement = held.swap_remove(rng.below(held.len() as u64) as usize);
                    site.release(&placement);
                    allocator.released(&placement, &site);
                }
            }
        }
    }
    assert!(asked > 1000, "{asked}");
}

#[test]
fn a_block_on_a_fat_tree_is_refused_in_a_sentence() {
    let text = "machine = { topology = 'fat_tree', arity = 4 }\nallocator = 'first_fit'";
    assert_eq!(
        refusal(text),
        "the allocator `first_fit` serves mesh, torus, hypercube, but the machine is a 4 × 4 × 4 fat tree (which \
         naive, random, fewest_leaves, fewest_groups, group_or_spread would serve)"
    );
}

/// One job that uses few leaf switches sends shorter messages, in each simulated network.
#[test]
fn fewer_leaves_are_shorter_ways() {
    let service = |allocator: &str, network: &str, machine: &str| {
        let study = scenario(&format!(
            "machine = {{ {machine} }}\nallocator = '{allocator}'\nnetwork = {{ {network} }}"
        ));
        let (outcome, _) = run(&study, vec![job(0.0, Request::Nodes(8), 1.0)]);
        metric(&outcome, "hops")
    };
    for machine in [
        "topology = 'fat_tree', arity = 4, levels = 3",
        "topology = 'dragonfly', p = 2, a = 4, h = 2",
    ] {
        for network in ["name = 'hops'", "name = 'link_load'", "name = 'wormhole'"] {
            let near = service("fewest_groups", network, machine);
            let far = service("random", network, machine);
            assert!(near < far, "{machine}, {network}: {near} and {far} links a packet");
        }
    }
}
