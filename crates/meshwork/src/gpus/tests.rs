//! Tests of placement rules for GPUs and of fragmentation.
//!
//! The expected values are computed by hand or from the definitions.

use std::sync::Arc;

use super::arrivals::arrivals;
use super::curve::LoadCurve;
use super::*;
use crate::rng::Stream;

fn task(cpu: u32, gpus: u32, share: u32) -> GpuTask {
    GpuTask {
        name: format!("{cpu}-{gpus}-{share}"),
        cpu,
        memory: 0,
        gpus,
        share,
        models: "".into(),
    }
}

fn node(gpus: &[u32], cpu: u32) -> GpuNode {
    let mut node = GpuNode::new("n", cpu, 1000, gpus.len() as u32, "A");
    node.gpus = gpus.to_vec();
    node
}

fn rule(name: &str, typical: &[GpuTask]) -> Box<dyn GpuRule> {
    let entry = GPU_RULES.iter().find(|entry| entry.name == name).expect("a rule");
    (entry.build)(Arc::new(TypicalTasks::of(typical)), Stream::new(1, 0, "rule"))
}

#[test]
fn fragmentation_is_what_typical_tasks_cannot_use() {
    let tasks = [vec![task(8, 1, 500); 6], vec![task(8, 2, 1000); 3], vec![task(8, 0, 0)]].concat();
    let typical = TypicalTasks::of(&tasks);
    assert_eq!(typical.len(), 3);
    // Tasks of half a GPU cannot use the 200 thousandths of the third GPU. Tasks of two GPUs and
    // tasks without a GPU can use nothing.
    let wasted = typical.fragmentation(&node(&[1000, 600, 200], 100));
    assert!((wasted - (0.6 * 200.0 + 0.3 * 1800.0 + 0.1 * 1800.0)).abs() < 1e-9, "{wasted}");
    // Without enough processors no GPU can be used, and neither can GPUs of a type that is not
    // allowed.
    assert!((typical.fragmentation(&node(&[1000, 1000], 4)) - 2000.0).abs() < 1e-9);
    let picky = GpuTask { models: "B|C".into(), ..task(8, 1, 500) };
    assert!((TypicalTasks::of(&[picky]).fragmentation(&node(&[700], 9)) - 700.0).abs() < 1e-9);
}

#[test]
fn rare_requests_are_not_typical() {
    let tasks = [vec![task(1, 1, 1000); 96], vec![task(2, 1, 1000); 4]].concat();
    assert_eq!(TypicalTasks::of(&tasks).len(), 1);
    let tasks = [vec![task(1, 1, 1000); 94], vec![task(2, 1, 1000); 6]].concat();
    assert_eq!(TypicalTasks::of(&tasks).len(), 2);
}

#[test]
fn each_rule_takes_the_node_of_its_definition() {
    let nodes = || {
        let used = GpuNode { held: vec![1, 0, 0], ..node(&[400, 1000], 50_000) };
        vec![node(&[1000, 1000], 100_000), used, node(&[1000], 20_000)]
    };
    let half = task(10_000, 1, 300);
    let typical = vec![task(10_000, 1, 600); 9];
    for (name, expected, gpu) in [
        ("02-DotProd", 2, 0),
        ("03-GpuClustering", 1, 0),
        ("04-GpuPacking", 1, 0),
        ("05-BestFit", 2, 0),
        // Typical tasks, of 600 thousandths, cannot use the rest of the partly used GPU anyway.
        ("06-FGD", 1, 0),
    ] {
        let mut cluster = GpuCluster::new(nodes());
        let placement = cluster.place(&half, rule(name, &typical).as_mut());
        assert_eq!(placement, Some(GpuPlacement { node: expected, gpus: vec![gpu] }), "{name}");
    }
}

#[test]
fn kept_scores_are_those_made_anew() {
    let mut draws = Stream::new(7, 0, "tasks");
    let tasks: Vec<GpuTask> = (0..400)
        .map(|_| match draws.below(4) {
            0 => task(1000 * (1 + draws.below(8) as u32), 0, 0),
            1 => task(4000, 1 << draws.below(3), 1000),
            _ => task(2000, 1, 100 * (1 + draws.below(9) as u32)),
        })
        .collect();
    for entry in &GPU_RULES[1..] {
        let nodes = || (0..30).map(|at| node(&[1000; 8][..1 << (at % 4)], 60_000)).collect();
        let (mut kept, mut anew) = (GpuCluster::new(nodes()), GpuCluster::new(nodes()));
        let mut keeping = rule(entry.name, &tasks);
        let mut running = Vec::new();
        for (at, task) in tasks.iter().enumerate() {
            let placement = kept.place(task, keeping.as_mut());
            assert_eq!(placement, anew.place(task, rule(entry.name, &tasks).as_mut()));
            running.extend(placement.map(|placement| (task, placement)));
            if at % 3 == 0 && !running.is_empty() {
                let (task, placement) = running.swap_remove(at % running.len());
                kept.release(task, &placement);
                anew.release(task, &placement);
            }
        }
        assert_eq!(kept.nodes(), anew.nodes());
        for (task, placement) in running {
            kept.release(task, &placement);
        }
        let idle: Vec<GpuNode> = nodes();
        assert_eq!(kept.nodes(), idle, "{}: what is released is free again", entry.name);
    }
}

#[test]
fn arrivals_reach_the_load_and_not_more() {
    let trace: Vec<GpuTask> =
        (0..50).map(|at| GpuTask { name: format!("{at:03}"), ..task(1, 1, 500) }).collect();
    let mut stream = Stream::new(3, 0, "arrivals");
    let more = arrivals(&trace, 50_000, 1.3, &mut stream);
    assert_eq!(more.iter().map(GpuTask::demand).sum::<u64>(), 65_000);
    let mut first: Vec<&str> = more[..50].iter().map(|task| task.name.as_str()).collect();
    assert!(!first.is_sorted(), "the trace is shuffled");
    first.sort_unstable();
    assert_eq!(first, trace.iter().map(|task| task.name.as_str()).collect::<Vec<_>>());
    let fewer = arrivals(&trace, 10_000, 1.3, &mut stream);
    assert_eq!(fewer.iter().map(GpuTask::demand).sum::<u64>(), 13_000);
}

#[test]
fn a_curve_follows_the_load_until_the_cluster_is_full() {
    let tasks = vec![task(1, 1, 1000); 13];
    let cluster = GpuCluster::new((0..5).map(|_| node(&[1000, 1000], 100)).collect());
    let typical = TypicalTasks::of(&tasks);
    let curve =
        LoadCurve::measure(cluster, &tasks, rule("05-BestFit", &tasks).as_mut(), &typical, 130);
    assert_eq!(curve.allocation[50], Some(50.0));
    assert_eq!(curve.allocation[51], Some(50.0), "the nearest loads stand for one that is skipped");
    assert_eq!(curve.allocation[55], None);
    assert_eq!(curve.allocation[130], Some(100.0));
    assert_eq!(curve.fragmentation[50], Some(0.0));
}
