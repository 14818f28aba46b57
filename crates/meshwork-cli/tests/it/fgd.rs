//! Tests of `meshwork reproduce fgd`, a published experiment on fragmented GPUs.

use std::fmt::Write;
use std::path::Path;

use crate::common::{Numbers, Scratch, meshwork, put};
use crate::skip::skip;

/// Writes traces of tasks and of eleven nodes: ten have four GPUs, one has none.
///
/// About two of three tasks request a share of a GPU.
fn traces(folder: &Path) {
    let mut nodes = "sn,cpu_milli,memory_mib,gpu,model\nplain,64000,9999,0,\n".to_owned();
    for node in 0..10 {
        writeln!(nodes, "n{node},64000,9999,4,{}", ["A", "B"][node % 2]).unwrap();
    }
    put(folder, "nodes.csv", nodes);
    let mut numbers = Numbers(5);
    let mut tasks = "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec\n".to_owned();
    for task in 0..60 {
        match numbers.below(3) {
            0 => writeln!(tasks, "t{task:02},8000,1,{},1000,A|B", 1 + numbers.below(2)).unwrap(),
            _ => writeln!(tasks, "t{task:02},2000,1,1,{},", 100 * (1 + numbers.below(7))).unwrap(),
        }
    }
    put(folder, "tasks.csv", tasks);
}

const FILES: [&str; 6] = ["reproduce", "fgd", "--nodes", "nodes.csv", "--tasks", "tasks.csv"];

#[test]
fn each_rule_has_a_mean_at_each_load() {
    let folder = Scratch::new();
    traces(&folder);
    let said = meshwork(&folder, &[&FILES[..], &["--seeds", "3", "--json"]].concat()).succeeded();
    let points = said.json_lines();
    let allocation = |rule: &str, arrived: u64| {
        let point =
            points.iter().find(|point| point["rule"] == rule && point["arrived"] == arrived);
        point.expect("a point")["allocation"].as_f64().unwrap()
    };
    for rule in
        ["01-Random", "02-DotProd", "03-GpuClustering", "04-GpuPacking", "05-BestFit", "06-FGD"]
    {
        assert!((allocation(rule, 40) - 40.0).abs() < 1.0, "{rule}: all fits at first");
        assert!((80.0..=100.0).contains(&allocation(rule, 130)), "{rule}");
    }
    assert!(allocation("06-FGD", 130) > allocation("01-Random", 130));
    assert!(points.iter().any(|point| point["se"].as_f64().is_some_and(|se| se > 0.0)));

    let table = meshwork(&folder, &[&FILES[..], &["--seeds", "1"]].concat());
    table.out_begins("10 nodes, 60 tasks: ");
    table.out_has("06-FGD");
}

#[test]
fn what_is_wrong_with_a_trace_is_said_in_one_sentence() {
    let folder = Scratch::new();
    traces(&folder);
    let refused = |arguments: &[&str], words: &str| {
        meshwork(&folder, arguments).refused().err_has(words);
    };
    refused(&["reproduce", "fgd"], "needs --nodes FILE and --tasks FILE");
    refused(&["reproduce", "rsr", "--seeds", "3"], "are for `meshwork reproduce fgd`, not for rsr");
    refused(&[&FILES[..], &["--seeds", "0"]].concat(), "--seeds");
    let with = |tasks: &str| put(&folder, "tasks.csv", tasks);
    with("name,cpu_milli,memory_mib,num_gpu\nt,1,1,1\n");
    refused(&FILES, "tasks.csv has no column `gpu_milli`; needed are name, cpu_milli");
    with("name,cpu_milli,memory_mib,num_gpu,gpu_milli\nt,1,1,2,500\n");
    refused(&FILES, "tasks.csv:2: a task of 2 GPUs has gpu_milli = 500; only a task of one GPU");
    with("name,cpu_milli,memory_mib,num_gpu,gpu_milli\nt,1.5,1,1,500\n");
    refused(&FILES, "tasks.csv:2: cpu_milli is `1.5`; it must be a whole number from 0 to");
    with("name,cpu_milli,memory_mib,num_gpu,gpu_milli\nt,1,1,0,0\n");
    refused(&FILES, "tasks.csv has no task with a GPU");
}

/// Compares mean allocations with published means.
///
/// They may differ by 0.15, or by 1.5 published standard deviations if that is more.
#[test]
fn published_means_are_reached() {
    let shared = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/gpu");
    let Ok(published) = std::fs::read_to_string(shared.join("expected_visible.csv")) else {
        return skip("logs", "there is no trace of a GPU cluster beside the project");
    };
    let nodes = shared.join("openb_node_list_gpu_node.csv.gz").display().to_string();
    for workload in ["openb_pod_list_default", "openb_pod_list_multigpu20"] {
        let tasks = shared.join(format!("{workload}.csv.gz")).display().to_string();
        let arguments = ["reproduce", "fgd", "--nodes", &nodes, "--tasks", &tasks, "--json"];
        let said = meshwork(&shared, &arguments).ended(0);
        let points = said.json_lines();
        let mut compared = 0;
        for row in published.lines().filter(|row| row.starts_with(&format!("{workload},"))) {
            let cells: Vec<&str> = row.split(',').collect();
            let (mean, sd): (f64, f64) = (cells[4].parse().unwrap(), cells[5].parse().unwrap());
            let ours = points.iter().find(|point| {
                point["rule"] == cells[1] && point["arrived"].as_u64() == cells[2].parse().ok()
            });
            let ours = ours.expect(row)["allocation"].as_f64().unwrap();
            assert!((ours - mean).abs() <= (1.5 * sd).max(0.15), "{ours}: {row}");
            compared += 1;
        }
        assert_eq!(compared, 42);
    }
}
