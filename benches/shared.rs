//! Benchmark of one decision, by Slurm's rules, about a job that requests parts of nodes.
//!
//! The machine is half full, and has 5,000 nodes of 8 GPUs in a tree.

use criterion::{Criterion, criterion_group, criterion_main};
use meshwork::alloc::listed::tree::{Below, Tree};
use meshwork::alloc::shared::{
    Domains, GpuCount, GpuRecord, SelectParams, SharedBook, SharedDecision, SharedGrant,
    SharedMachine, SharedRequest, SlurmNodeType, decide_shared,
};
use meshwork::geometry::NodeSet;
use meshwork::rng::Stream;

use std::hint::black_box;

const NODES: u32 = 5000;

/// A tree of nodes in three levels of switches.
///
/// A leaf switch has 8 nodes, a spine switch has 25 leaf switches, and one switch is above the
/// spines.
fn machine() -> SharedMachine {
    let mut list: Vec<Below> = (0..NODES / 8)
        .map(|leaf| {
            let mut nodes = NodeSet::empty(NODES);
            nodes.insert_range(leaf * 8, 8);
            Below::Nodes(nodes)
        })
        .collect();
    let leaves: Vec<usize> = (0..list.len()).collect();
    list.extend(leaves.chunks(25).map(|part| Below::Switches(part.to_vec())));
    let spines = (leaves.len()..list.len()).collect();
    list.push(Below::Switches(spines));
    let gpus = |first: u32, near| GpuRecord { model: Some(0), gpus: 0b1111 << first, near };
    let node = SlurmNodeType {
        sockets: 2,
        cores: 32,
        threads: 1,
        memory: 1_000_000,
        weight: 1,
        gpus: vec![gpus(0, Some(1)), gpus(4, Some(2))],
        ..SlurmNodeType::default()
    };
    SharedMachine {
        types: vec![node],
        type_of: vec![0; NODES as usize],
        models: vec!["h100".to_owned()],
        up: NodeSet::full(NODES),
        whole: NodeSet::full(NODES),
        domains: Domains::Tree(Tree::new(NODES, &list)),
        params: SelectParams {
            by_core: true,
            memory: true,
            mem_per_cpu: 4000,
            ..SelectParams::default()
        },
    }
}

fn per_node(nodes: Option<u32>, gpus: u64, cpus: u32) -> SharedRequest {
    SharedRequest {
        nodes: nodes.map(|nodes| (nodes, nodes)),
        tasks: nodes.is_none().then_some(1),
        cpus_per_task: Some(cpus),
        gpus_per_node: Some(GpuCount { count: gpus, model: None }),
        ..SharedRequest::default()
    }
}

/// Brings a machine into a half-full state. All GPUs are given to jobs of 1 to 8 GPUs; then random
/// jobs end until half of the GPUs are held.
fn half_full(machine: &SharedMachine) -> (SharedBook, Vec<Vec<SharedGrant>>) {
    let mut book = SharedBook::new(machine);
    let mut rng = Stream::new(11, 0, "jobs");
    let mut jobs = Vec::new();
    loop {
        let gpus = 1 << rng.below(4);
        let decision = book.decide(machine, &per_node(None, gpus, 4 * gpus as u32));
        let SharedDecision::Start { grants, .. } = decision else { break };
        grants.iter().for_each(|grant| book.take(grant));
        jobs.push(grants);
    }
    let mut held: u32 = jobs.iter().flatten().map(|grant| grant.gpus.count_ones()).sum();
    while held > NODES * 4 {
        let ended = jobs.swap_remove(rng.below(jobs.len() as u64) as usize);
        ended.iter().for_each(|grant| book.give_back(grant));
        held -= ended.iter().map(|grant| grant.gpus.count_ones()).sum::<u32>();
    }
    (book, jobs)
}

fn decisions(c: &mut Criterion) {
    let machine = machine();
    let (mut book, jobs) = half_full(&machine);
    let mut group = c.benchmark_group("shared_5000x8");
    let gang = |count, tasks| SharedRequest {
        tasks,
        gpus: Some(GpuCount { count, model: None }),
        ..SharedRequest::default()
    };
    let cpus = SharedRequest { tasks: Some(1), cpus_per_task: Some(4), ..SharedRequest::default() };
    let cases = [
        ("1 GPU", per_node(None, 1, 4)),
        ("4 GPUs", per_node(None, 4, 16)),
        ("8 GPUs", per_node(None, 8, 32)),
        ("4 CPUs", cpus),
        ("4 nodes of 8 GPUs", per_node(Some(4), 8, 32)),
        ("8 nodes of 8 GPUs", per_node(Some(8), 8, 32)),
        ("16 GPUs anywhere", gang(16, None)),
        ("64 GPUs anywhere", gang(64, None)),
    ];
    for (name, request) in &cases {
        group.bench_function(*name, |b| b.iter(|| book.decide(&machine, black_box(request))));
        group.bench_function(format!("{name}, examined anew"), |b| {
            b.iter(|| decide_shared(&machine, black_box(book.holdings()), request));
        });
    }
    let single = |rng: &mut Stream| {
        let gpus = 1 << rng.below(4);
        per_node(None, gpus, 4 * gpus as u32)
    };
    let several = |rng: &mut Stream| match rng.below(4) {
        0 => per_node(Some(2), 8, 32),
        1 => per_node(Some(4), 8, 32),
        2 => per_node(Some(8), 8, 32),
        _ => gang(16, None),
    };
    let both = |rng: &mut Stream| {
        if rng.below(5) == 0 { several(rng) } else { single(rng) }
    };
    let mixes: [(&str, &dyn Fn(&mut Stream) -> SharedRequest); 3] = [
        ("a job of 1 to 8 GPUs starts and others end", &single),
        ("a job of 16 to 64 GPUs starts and others end", &several),
        ("a job of 1 to 64 GPUs starts and others end", &both),
    ];
    for (name, draw) in mixes {
        let (mut book, mut jobs) = (book.clone(), jobs.clone());
        let mut rng = Stream::new(12, 0, "mix");
        let of = |grants: &[SharedGrant]| -> u32 {
            grants.iter().map(|grant| grant.gpus.count_ones()).sum()
        };
        let mut held: u32 = jobs.iter().map(|grants| of(grants)).sum();
        group.bench_function(name, |b| {
            b.iter(|| {
                let request = draw(&mut rng);
                if let SharedDecision::Start { grants, .. } = book.decide(&machine, &request) {
                    grants.iter().for_each(|grant| book.take(grant));
                    held += of(&grants);
                    jobs.push(grants);
                }
                while held > NODES * 4 {
                    let ended = jobs.swap_remove(rng.below(jobs.len() as u64) as usize);
                    ended.iter().for_each(|grant| book.give_back(grant));
                    held -= of(&ended);
                }
            });
        });
    }
    group.finish();
}

criterion_group!(benches, decisions);
criterion_main!(benches);
