//! Tests of `meshwork place --slurm` for jobs that get parts of nodes: cores, memory and GPUs.
//!
//! The jobs are given by options of salloc.

use std::fmt::Write;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use crate::common::{Scratch, call, examples, fed, put, skip};
use flate2::read::GzDecoder;
use serde_json::{Value as Json, json};

/// Tree of eight nodes with binary switches.
const TREE: &str = "SwitchName=l0 Nodes=n[0-1]\n\
     SwitchName=l1 Nodes=n[2-3]\n\
     SwitchName=l2 Nodes=n[4-5]\n\
     SwitchName=l3 Nodes=n[6-7]\n\
     SwitchName=s0 Switches=l[0-1]\n\
     SwitchName=s1 Switches=l[2-3]\n\
     SwitchName=top Switches=s[0-1]\n";

fn conf(nodes: &str) -> String {
    format!(
        "SelectTypeParameters=CR_Core_Memory\nDefMemPerCPU=1000\nNodeName={nodes}\n\
         PartitionName=p Nodes=ALL Default=YES \n"
    )
}

/// `gres.conf` of nodes with two GPUs at each of two sockets.
fn gres(nodes: &str) -> String {
    format!(
        "NodeName={nodes} Name=gpu Type=a File=/dev/nvidia[0-1] Cores=0-7\n\
         NodeName={nodes} Name=gpu Type=a File=/dev/nvidia[2-3] Cores=8-15\n"
    )
}

/// `slurm.conf` and `gres.conf` of equal nodes with four GPUs.
fn gpus(nodes: &str) -> (String, String) {
    let kind = "Sockets=2 CoresPerSocket=8 RealMemory=64000 Gres=gpu:a:4 Feature=gpu";
    (conf(&format!("{nodes} {kind}")), gres(nodes))
}

fn site(conf: &str, gres: &str, topology: &str) -> Scratch {
    let folder = Scratch::with("slurm.conf", conf);
    put(&folder, "gres.conf", gres);
    put(&folder, "topology.conf", topology);
    folder
}

/// Answers of `meshwork place`, one for each line of input.
fn answers(folder: &Path, lines: &str) -> Vec<Json> {
    let arguments =
        ["place", "--slurm", "topology.conf", "--conf", "slurm.conf", "--gres", "gres.conf"];
    let said = fed(folder, &arguments, lines);
    assert_eq!(said.err, "");
    said.json_lines()
}

/// Short form of an answer, for comparisons.
///
/// It has the numbers of tasks and CPUs, and the cores, memory and GPUs on each group of nodes.
fn short(answer: &Json) -> String {
    if answer.get("released").is_some() {
        return "ends".to_owned();
    }
    if answer["wait"] == true {
        return "waits".to_owned();
    }
    if answer["never"] == true {
        return format!("never: {}", answer["reason"].as_str().unwrap());
    }
    let mut text = format!("{} tasks, {} cpus:", answer["tasks"], answer["cpus"]);
    for (place, part) in answer["on"].as_array().unwrap().iter().enumerate() {
        let word = |key: &str| part[key].as_str().unwrap();
        let comma = if place > 0 { ";" } else { "" };
        write!(text, "{comma} {} {} {}", word("nodes"), word("cores"), part["mem"]).unwrap();
        if !word("gres").is_empty() {
            write!(text, " {}", word("gres")).unwrap();
        }
    }
    text
}

/// Checks which parts of nodes jobs 1, 2, … get.
///
/// Each case has the options of a job and the expected answer. The options `!5` end job 5.
fn check(conf: &str, gres: &str, topology: &str, cases: &[(&str, &str)]) {
    let folder = site(conf, gres, topology);
    let mut lines = String::new();
    for (number, (options, _)) in (1..).zip(cases) {
        let line = match options.strip_prefix('!') {
            Some(ended) => json!({ "op": "release", "id": ended.parse::<u64>().unwrap() }),
            None => json!({ "op": "allocate", "id": number, "options": options }),
        };
        writeln!(lines, "{line}").unwrap();
    }
    let answers = answers(&folder, &lines);
    assert_eq!(answers.len(), cases.len());
    for ((options, expected), answer) in cases.iter().zip(&answers) {
        assert_eq!(short(answer), *expected, "{options}");
    }
}

#[test]
fn one_node_jobs_fill_the_lowest_nodes_and_pack_gpus_near_cores() {
    let (conf, gres) = gpus("n[0-2]");
    let cases = [
        ("-n1", "1 tasks, 1 cpus: n[0] 0 1000"),
        ("--gres=gpu:1", "1 tasks, 1 cpus: n[0] 8 1000 a:1(IDX:2)"),
        ("--gres=gpu:1", "1 tasks, 1 cpus: n[0] 1 1000 a:1(IDX:0)"),
        ("-n2 --gpus-per-task=1", "2 tasks, 2 cpus: n[0] 2,9 2000 a:2(IDX:1,3)"),
        ("-n3 -c4", "3 tasks, 12 cpus: n[1] 0-11 12000"),
        ("!5", "ends"),
        ("--gpus=4", "1 tasks, 1 cpus: n[1] 0 1000 a:4(IDX:0-3)"),
        ("-N2 --gres=gpu:3 --ntasks-per-node=2", "waits"),
        ("--gres=gpu:2 -c12", "1 tasks, 12 cpus: n[2] 0-11 12000 a:2(IDX:0-1)"),
        ("-N1 --exclusive", "waits"),
        ("-n20 -c1", "20 tasks, 20 cpus: n[0] 3-7,10-15 11000; n[1] 1-5,8-11 9000"),
        ("-N3 --gres=gpu:5", "never: Requested node configuration is not available"),
        ("-Cnone", "never: Requested node configuration is not available"),
        ("-n2 -c9", "waits"),
        ("--gpus=4 --gres-flags=enforce-binding", "waits"),
        ("-N1 --gpus=5", "waits"),
        (
            "--gpus-per-task=1",
            "never: --gpus-per-task needs a number of tasks: give -n, or -N alone",
        ),
        ("--gpus=2 -N4", "never: --gpus=2 is less than the 4 nodes of -N: each node needs a GPU"),
    ];
    check(&conf, &gres, "", &cases);
}

#[test]
fn gpus_of_nodes_that_failed_stay_counted() {
    let (conf, gres) = gpus("n[0-2]");
    let cases = [
        ("-N1 --gres=gpu:2", "1 tasks, 1 cpus: n[0] 0 1000 a:2(IDX:0-1)"),
        ("-N1 --gres=gpu:2 --exclusive", "1 tasks, 16 cpus: n[1] 0-15 16000 a:4(IDX:0-3)"),
        ("!2", "ends"),
        ("-xn0 -N1 --gres=gpu:2", "1 tasks, 1 cpus: n[1] 0 1000 a:2(IDX:0-1)"),
        ("-N1 --gpus=4", "waits"),
        ("-N1 --gres=gpu:4", "1 tasks, 1 cpus: n[2] 0 1000 a:4(IDX:0-3)"),
    ];
    check(&conf, &gres, "", &cases);
}

#[test]
fn counted_gpus_may_be_fewer() {
    let conf = conf("n[0-1] Sockets=2 CoresPerSocket=8 RealMemory=64000 Gres=gpu:4");
    let gres = "NodeName=n[0-1] Name=gpu File=/dev/nvidia[0-3]\n";
    let cases = [
        ("-N1 --gres=gpu:2", "1 tasks, 1 cpus: n[0] 0 1000 2(IDX:0-1)"),
        ("-xn0 -N1 --gres=gpu:2", "1 tasks, 1 cpus: n[1] 0 1000 2(IDX:0-1)"),
        ("-N1 --gpus=4", "1 tasks, 1 cpus: n[1] 1 1000 2(IDX:2-3)"),
        ("--gpus=2 -n2", "2 tasks, 2 cpus: n[0] 1,8 2000 2(IDX:2-3)"),
        ("--gres=gpu:1", "waits"),
    ];
    check(&conf, gres, "", &cases);
}

#[test]
fn links_lead_away() {
    let conf = conf("n[0-1] Sockets=2 CoresPerSocket=8 RealMemory=64000 Gres=gpu:a:4 Feature=gpu");
    let gres = "NodeName=n[0-1] Name=gpu Type=a File=/dev/nvidia0 Cores=0-7 Links=-1,4,1,1\n\
         NodeName=n[0-1] Name=gpu Type=a File=/dev/nvidia1 Cores=0-7 Links=4,-1,1,1\n\
         NodeName=n[0-1] Name=gpu Type=a File=/dev/nvidia2 Cores=8-15 Links=1,1,-1,4\n\
         NodeName=n[0-1] Name=gpu Type=a File=/dev/nvidia3 Cores=8-15 Links=1,1,4,-1\n";
    let cases = [
        ("--gres=gpu:2", "1 tasks, 1 cpus: n[0] 0 1000 a:2(IDX:0-1)"),
        ("--gres=gpu:2", "1 tasks, 1 cpus: n[0] 8 1000 a:2(IDX:2-3)"),
        ("--gpus=3", "1 tasks, 1 cpus: n[1] 0 1000 a:3(IDX:0-2)"),
        ("!3", "ends"),
        ("-N1 --gpus=2", "1 tasks, 1 cpus: n[1] 0 1000 a:2(IDX:0-1)"),
        ("-n2 --gpus-per-task=1", "2 tasks, 2 cpus: n[1] 8-9 2000 a:2(IDX:2-3)"),
    ];
    check(&conf, gres, "", &cases);
}

#[test]
fn threads_share_cores() {
    let conf = conf("n[0-1] Sockets=2 CoresPerSocket=4 ThreadsPerCore=2 RealMemory=64000");
    let cases = [
        ("-n1", "1 tasks, 2 cpus: n[0] 0 2000"),
        ("-n1 -c3", "1 tasks, 4 cpus: n[0] 1-2 4000"),
        ("-n5", "5 tasks, 6 cpus: n[0] 3-5 6000"),
        ("-N1 --ntasks-per-node=4 -c2 --mem-per-cpu=3000", "4 tasks, 8 cpus: n[1] 0-3 24000"),
        ("-n12", "12 tasks, 12 cpus: n[0] 6-7 4000; n[1] 4-7 8000"),
        ("-n2 -c5 --mem=100", "waits"),
    ];
    check(&conf, "", "", &cases);
}

#[test]
fn single_cpus_are_given_without_cores() {
    let conf = conf("n[0-1] Sockets=2 CoresPerSocket=4 ThreadsPerCore=2 RealMemory=64000")
        .replace("CR_Core_Memory", "CR_CPU_Memory");
    let cases = [
        ("-n1", "1 tasks, 1 cpus: n[0] 0 1000"),
        ("-n1 -c3", "1 tasks, 3 cpus: n[0] 1-2 3000"),
        ("-n5", "5 tasks, 5 cpus: n[0] 4-6 5000"),
        ("-n7", "7 tasks, 7 cpus: n[1] 0-3 7000"),
    ];
    check(&conf, "", "", &cases);
}

#[test]
fn memory_limits_cpus() {
    let conf = conf(
        "n[0-2] Sockets=2 CoresPerSocket=8 RealMemory=20000\n\
         NodeName=n[3-3] Sockets=2 CoresPerSocket=8 RealMemory=90000 Weight=5",
    );
    let cases = [
        ("-n8 --mem-per-cpu=4000", "8 tasks, 8 cpus: n[0] 0-2,8-9 20000; n[1] 0-1,8 12000"),
        ("-n1 --mem=0", "1 tasks, 1 cpus: n[2] 0 20000"),
        ("-N1 --mem=15000", "1 tasks, 1 cpus: n[3] 0 15000"),
        ("-n2 -c4 --mem-per-cpu=3000", "2 tasks, 8 cpus: n[3] 1-4,8-11 24000"),
        ("-n1 --mem=95000", "never: Requested node configuration is not available"),
        ("--mem=60000 -n1", "waits"),
        ("-n30", "waits"),
    ];
    check(&conf, "", "", &cases);
}

#[test]
fn runs_are_chosen_by_cpus() {
    let conf = conf("n[0-5] Sockets=1 CoresPerSocket=8 RealMemory=64000");
    let cases = [
        ("-n6", "6 tasks, 6 cpus: n[0] 0-5 6000"),
        ("-xn0 -n3", "3 tasks, 3 cpus: n[1] 0-2 3000"),
        ("-xn[0-1] -N1 --exclusive", "1 tasks, 8 cpus: n[2] 0-7 8000"),
        ("-n7", "7 tasks, 7 cpus: n[0] 6-7 2000; n[1] 3-7 5000"),
        ("-n12", "12 tasks, 12 cpus: n[3] 0-7 8000; n[4] 0-3 4000"),
        ("-N2 -n4", "4 tasks, 4 cpus: n[4] 4-6 3000; n[5] 0 1000"),
        ("-n9", "waits"),
        ("-N2-3 -n3", "3 tasks, 3 cpus: n[4] 7 1000; n[5] 1-2 2000"),
    ];
    check(&conf, "", "", &cases);
}

#[test]
fn least_loaded_nodes_for_several() {
    let conf = conf("n[0-2] Sockets=1 CoresPerSocket=8 RealMemory=64000")
        .replace("CR_Core_Memory", "CR_Core_Memory,CR_LLN");
    let cases = [
        ("-n1 -c4", "1 tasks, 4 cpus: n[0] 0-3 4000"),
        ("-n1 -c2", "1 tasks, 2 cpus: n[0] 4-5 2000"),
        ("-n3 -c2", "3 tasks, 6 cpus: n[1] 0-5 6000"),
        ("-N2 -n2", "2 tasks, 2 cpus: n[0] 6 1000; n[2] 0 1000"),
        ("-n2", "2 tasks, 2 cpus: n[2] 1-2 2000"),
    ];
    check(&conf, "", "", &cases);
}

#[test]
fn cores_by_socket() {
    let (conf, gres) = gpus("n[0-1]");
    let conf = conf.replace("CR_Core_Memory", "CR_Core_Memory,CR_CORE_DEFAULT_DIST_BLOCK");
    let cases = [
        ("-n3", "3 tasks, 3 cpus: n[0] 0-2 3000"),
        ("-n9", "9 tasks, 9 cpus: n[0] 3,8-15 9000"),
        ("-n6 -m block:cyclic", "6 tasks, 6 cpus: n[1] 0-2,8-10 6000"),
        ("-n4 -c2", "4 tasks, 8 cpus: n[1] 3-7,11-13 8000"),
        ("--gpus=2 -n4", "4 tasks, 4 cpus: n[0] 4-7 4000 a:2(IDX:0-1)"),
    ];
    check(&conf, &gres, "", &cases);
}

#[test]
fn a_tree_joins_near_leaves() {
    let (conf, gres) = gpus("n[0-7]");
    let cases = [
        ("-n1", "1 tasks, 1 cpus: n[0] 0 1000"),
        ("-N2 --gres=gpu:4", "2 tasks, 2 cpus: n[0] 1 1000 a:4(IDX:0-3); n[1] 0 1000 a:4(IDX:0-3)"),
        ("-N2 -n20", "20 tasks, 20 cpus: n[0] 2-15 14000; n[1] 1-3,8-10 6000"),
        ("-N3 --gpus=9", "3 tasks, 3 cpus: n[4-5] 0 1000 a:4(IDX:0-3); n[6] 0 1000 a:1(IDX:0)"),
        ("-n40", "40 tasks, 40 cpus: n[1] 4-7,11-14 8000; n[2-3] 0-15 16000"),
        ("-N4 --exclusive", "waits"),
        ("--gpus=10", "waits"),
        ("-N2-5 --gres=gpu:1", "2 tasks, 2 cpus: n[6] 8 1000 a:1(IDX:2); n[7] 0 1000 a:1(IDX:0)"),
        ("-n24 -c2", "24 tasks, 48 cpus: n[4-5] 1-14 14000; n[6] 1-7,9-15 14000; n[7] 1-6 6000"),
        ("!2", "ends"),
        ("-N5 --gres=gpu:2", "waits"),
    ];
    check(&conf, &gres, TREE, &cases);
}

#[test]
fn blocks_hold_whole_jobs() {
    let (conf, gres) = gpus("n[0-7]");
    let topology = "BlockName=b0 Nodes=n[0-1]\n\
         BlockName=b1 Nodes=n[2-3]\n\
         BlockName=b2 Nodes=n[4-5]\n\
         BlockName=b3 Nodes=n[6-7]\n\
         BlockSizes=2,4\n";
    let cases = [
        ("-n1", "1 tasks, 1 cpus: n[0] 0 1000"),
        ("-N2 --gres=gpu:4", "2 tasks, 2 cpus: n[6-7] 0 1000 a:4(IDX:0-3)"),
        (
            "-N4 --gres=gpu:2 -c2",
            "4 tasks, 8 cpus: n[0] 8-9 2000 a:2(IDX:2-3); n[1-3] 0-1 2000 a:2(IDX:0-1)",
        ),
        ("-n24", "24 tasks, 24 cpus: n[6] 1-15 15000; n[7] 1-5,8-11 9000"),
        ("-n40", "never: Requested node configuration is not available"),
        ("-N3 --gpus=7", "waits"),
        ("-N2 --exclusive", "2 tasks, 32 cpus: n[4-5] 0-15 16000 a:4(IDX:0-3)"),
        ("-N9", "never: Requested partition configuration not available now"),
        ("!3", "ends"),
        ("-N8 --gres=gpu:1", "waits"),
    ];
    check(&conf, &gres, topology, &cases);
}

#[test]
fn weights_come_before_the_topology() {
    let conf = conf(
        "n[0-3] Sockets=2 CoresPerSocket=8 RealMemory=64000 Gres=gpu:a:4 Feature=gpu Weight=5\n\
         NodeName=n[4-7] Sockets=2 CoresPerSocket=8 RealMemory=64000 Weight=1",
    );
    let gres = gres("n[0-3]");
    let cases = [
        ("-n1", "1 tasks, 1 cpus: n[4] 0 1000"),
        ("-N5 -n5", "5 tasks, 5 cpus: n[0,5-7] 0 1000; n[4] 1 1000"),
        ("--gpus=6", "2 tasks, 2 cpus: n[0] 1 1000 a:4(IDX:0-3); n[1] 0 1000 a:2(IDX:0-1)"),
        ("-N2 --exclusive", "2 tasks, 32 cpus: n[2-3] 0-15 16000 a:4(IDX:0-3)"),
        ("-N3 --gres=gpu:1", "waits"),
        ("-N1 --gpus-per-node=3 -n2", "waits"),
    ];
    check(&conf, &gres, TREE, &cases);
}

#[test]
fn defaults_of_gpus() {
    let (conf, gres) = gpus("n[0-1]");
    let conf = conf.replace("YES ", "YES DefCpuPerGPU=3 DefMemPerGPU=10000");
    let cases = [
        ("--gres=gpu:1", "1 tasks, 3 cpus: n[0] 0-2 10000 a:1(IDX:0)"),
        ("--gpus=2 -c2", "1 tasks, 2 cpus: n[0] 8-9 20000 a:2(IDX:2-3)"),
        ("-n2 --gpus-per-task=1", "2 tasks, 6 cpus: n[1] 0-5 20000 a:2(IDX:0-1)"),
        (
            "--gpus=3 --mem=1000",
            "2 tasks, 9 cpus: n[0] 3-5 1000 a:1(IDX:1); n[1] 8-13 1000 a:2(IDX:2-3)",
        ),
        ("-n1 --mem-per-cpu=500", "1 tasks, 1 cpus: n[0] 6 500"),
    ];
    check(&conf, &gres, "", &cases);
}

#[test]
fn gpus_bring_cpus_and_memory() {
    let (conf, gres) = gpus("n[0-1]");
    let cases = [
        ("--gpus=2 --cpus-per-gpu=4", "1 tasks, 8 cpus: n[0] 0-7 8000 a:2(IDX:0-1)"),
        (
            "--gpus=3 --cpus-per-gpu=4 --mem-per-gpu=9000",
            "1 tasks, 12 cpus: n[1] 0-5,8-13 27000 a:3(IDX:0-2)",
        ),
        ("-n2 --gpus-per-task=1 --cpus-per-gpu=3", "2 tasks, 6 cpus: n[0] 8-13 6000 a:2(IDX:2-3)"),
        (
            "-n1 --gpus-per-task=a:1 --cpus-per-gpu=3",
            "1 tasks, 3 cpus: n[1] 6,14-15 3000 a:1(IDX:3)",
        ),
        (
            "--gpus=1 --cpus-per-gpu=2 -c2",
            "never: --cpus-per-gpu and -c exclude each other: give one of them",
        ),
        (
            "--mem-per-gpu=10",
            "never: --cpus-per-gpu and --mem-per-gpu need a number of GPUs: give --gpus, --gpus-per-node or --gpus-per-task",
        ),
    ];
    check(&conf, &gres, "", &cases);
}

#[test]
fn every_job_gets_whole_nodes() {
    let (conf, gres) = gpus("n[0-2]");
    let conf = conf.replace("YES ", "YES OverSubscribe=EXCLUSIVE");
    let cases = [
        ("-n1", "1 tasks, 16 cpus: n[0] 0-15 16000 a:4(IDX:0-3)"),
        ("--gpus=3 --mem=100", "1 tasks, 16 cpus: n[1] 0-15 100 a:4(IDX:0-3)"),
        ("-N2", "waits"),
    ];
    check(&conf, &gres, "", &cases);
}

#[test]
fn two_types_of_gpus() {
    let conf = conf("n[0-1] Sockets=2 CoresPerSocket=8 RealMemory=64000 Gres=gpu:a:2,gpu:b:2");
    let gres = "NodeName=n[0-1] Name=gpu Type=a File=/dev/nvidia[0-1] Cores=0-7\n\
         NodeName=n[0-1] Name=gpu Type=b File=/dev/nvidia[2-3] Cores=8-15\n";
    let cases = [
        ("--gpus=3", "1 tasks, 1 cpus: n[0] 0 1000 a:2(IDX:0-1),b:1(IDX:2)"),
        ("--gres=gpu:b:1", "1 tasks, 1 cpus: n[0] 8 1000 b:1(IDX:3)"),
        ("--gres=gpu:b:2", "1 tasks, 1 cpus: n[1] 8 1000 b:2(IDX:2-3)"),
        ("--gpus=a:2", "1 tasks, 1 cpus: n[1] 0 1000 a:2(IDX:0-1)"),
        ("--gres=gpu:c:1", "never: Requested node configuration is not available"),
        ("-N1 --exclusive", "waits"),
        ("!4", "ends"),
        ("-N1 --exclusive --gpus=b:1", "waits"),
    ];
    check(&conf, gres, "", &cases);
}

#[test]
fn wrong_questions_are_refused_with_one_sentence() {
    let conf = "NodeName=n[0-1] Sockets=1 CoresPerSocket=4 RealMemory=4000 Gres=gpu:2\n\
                PartitionName=p Nodes=ALL Default=YES\n";
    let folder =
        site(conf, "NodeName=n[0-1] Name=gpu Type=a File=/dev/nvidia[0-1] Cores=0-3\n", "");
    let cases = [
        ("-n0", "--ntasks is 0, but must be a whole number from 1 to 16777216"),
        ("-n 2 -N 3-2", "-N is 3-2, but must be a number of nodes, or a range of them, as in 2-4"),
        ("--gres=gpu:a:x", "--gres is a:x"),
        ("--gres=fpga:1", "--gres is fpga:1, but only one kind of GPUs is modelled"),
        ("-C a&b", "-C a&b: only one feature is modelled"),
        ("-x n9", "-x: there is no node n9"),
        ("--mem=1.5G", "--mem is 1.5G, but must be whole megabytes"),
        ("--nodelist=n0", "`--nodelist` is no option that is read here"),
        ("-c", "-c has no value"),
        ("--exclusiv", "`--exclusiv` is no option that is read here (did you mean --exclusive?)"),
        ("--bogus", "`--bogus` is no option that is read here: -n,"),
        ("-m plane=2", "-m is plane=2, but only block and cyclic are modelled"),
        ("--exclusive=user", "--exclusive=user is not modelled"),
    ];
    let mut lines = String::new();
    for (options, _) in &cases {
        let line = json!({ "op": "allocate", "id": "j", "options": options });
        writeln!(lines, "{line}").unwrap();
    }
    writeln!(lines, "{}", json!({ "op": "allocate", "id": "j", "options": 3 })).unwrap();
    writeln!(lines, "{}", json!({ "op": "allocate", "id": "j", "options": "-n1" })).unwrap();
    writeln!(lines, "{}", json!({ "op": "allocate", "id": "k", "nodes": 1 })).unwrap();
    writeln!(lines, "{}", json!({ "op": "show" })).unwrap();
    let answers = answers(&folder, &lines);
    for ((options, says), answer) in cases.iter().zip(&answers) {
        let error = answer["error"].as_str().unwrap_or_default();
        assert!(error.contains(says), "{options}: {answer}");
    }
    let rest = &answers[cases.len()..];
    assert!(rest[0]["error"].as_str().unwrap().contains("`options` is 3, but must be text"));
    assert_eq!(rest[1]["nodes"], "n[0]");
    assert!(rest[2]["error"].as_str().unwrap().contains("do not mix"));
    assert_eq!(rest[3], json!({ "free": 1, "nodes": 2, "held": [{ "id": "j", "nodes": "n[0]" }] }));
}

#[test]
fn enormous_numbers_never_panic() {
    let conf = "DefMemPerCPU=10\nNodeName=n[0-1] Sockets=2 CoresPerSocket=4 RealMemory=4000 Gres=gpu:a:2\n\
                PartitionName=p Nodes=ALL Default=YES DefCpuPerGPU=1000000\n";
    let folder =
        site(conf, "NodeName=n[0-1] Name=gpu Type=a File=/dev/nvidia[0-1] Cores=0-7\n", "");
    let most = 16_777_216;
    let mut lines = String::new();
    let parts = [
        "-n",
        "-c",
        "--ntasks-per-node=",
        "--mem-per-cpu=",
        "--gpus=",
        "--gpus-per-task=",
        "--gpus-per-node=",
    ];
    for first in parts {
        for second in parts.iter().filter(|second| **second != first) {
            for options in
                [format!("{first}{most} {second}{most}"), format!("{first}1 {second}{most}")]
            {
                let line = json!({ "op": "allocate", "id": "j", "options": options, "dry": true });
                writeln!(lines, "{line}").unwrap();
            }
        }
    }
    let count = lines.lines().count();
    assert_eq!(answers(&folder, &lines).len(), count);
}

/// Tests that a study reads the types of nodes of all partitions from Slurm's files.
#[test]
fn a_study_reads_types_of_nodes_from_the_files() {
    let conf = "NodeName=c[0-1] Sockets=2 CoresPerSocket=8 RealMemory=9000 Features=big Weight=5\n\
                NodeName=g[0-1] Sockets=2 CoresPerSocket=4 RealMemory=4000 Gres=gpu:a:2\n\
                PartitionName=p Nodes=g[0-1] Default=YES\nPartitionName=q Nodes=c[0-1]\n";
    let gres = "Name=gpu Type=a File=/dev/nvidia0 Cores=0-3\nName=gpu Type=a File=/dev/nvidia1 Cores=4-7\n";
    let folder = site(conf, gres, "");
    let show = |machine: &str| {
        let study = format!("machine = {machine}\nworkload = {{ name = 'lublin', jobs = 1 }}\n");
        put(&folder, "study.toml", study);
        call(&folder, "show study.toml")
    };
    let shown = show("{ conf = 'slurm.conf', gres = 'gres.conf', partition = '*' }");
    let study: toml::Table = shown.out.parse().unwrap_or_else(|_| panic!("{}", shown.err));
    let types: toml::Table = "nodes = [\
        { type = 'nodes1', cpu = 16, mem = 9000, gpu = 0, islands = 2, weight = 5, features = ['big'], on = '0,1' }, \
        { type = 'a', cpu = 8, mem = 4000, gpu = 2, islands = 2, weight = 1, on = '2,3' }]"
        .parse()
        .unwrap();
    let nodes = study["machine"]["nodes"].as_array().unwrap();
    for (own, expected) in nodes.iter().zip(types["nodes"].as_array().unwrap()) {
        for (key, value) in expected.as_table().unwrap() {
            assert_eq!(own.get(key), Some(value), "{key} of {own}");
        }
    }
    assert_eq!(nodes.len(), 2);
    let alone = show("{ conf = 'slurm.conf', gres = 'gres.conf' }");
    assert!(alone.out.contains("on = \"0,1\"") && !alone.out.contains("nodes1"), "{}", alone.out);
    put(&folder, "topology.yaml", "- topology: t\n  flat: true\n");
    show("{ slurm = 'topology.yaml', gres = 'gres.conf' }").err_has("give `machine.conf`");
    let mixed = "Name=gpu Type=a File=/dev/nvidia0\nName=gpu Type=b File=/dev/nvidia1\n";
    put(&folder, "gres.conf", mixed);
    put(&folder, "slurm.conf", conf.replace("gpu:a:2", "gpu:a:1,gpu:b:1"));
    show("{ conf = 'slurm.conf', gres = 'gres.conf' }").err_has("GPUs of several types");
}

#[test]
fn a_lint_of_gres_conf_warns_of_surprises() {
    let node = "NodeName=n[0-1] Sockets=2 CoresPerSocket=4 RealMemory=4000";
    let lint = |conf: &str, gres: &str| {
        let folder = site(&conf.replace("NODES", node), gres, "");
        let words = "ops check topology.conf --conf slurm.conf --gres gres.conf --json";
        call(&folder, words).succeeded().out
    };
    let part = "PartitionName=p Nodes=ALL Default=YES";
    let counted = lint(&format!("NODES Gres=gpu:2\n{part}\n"), "Name=gpu File=/dev/nvidia[0-1]\n");
    assert!(counted.contains("may start with fewer GPUs than it asked for"), "{counted}");
    let conf = format!("NODES Gres=gpu:a:2\n{part} LLN=YES DefMemPerGPU=100\n");
    let links = "Name=gpu Type=a File=/dev/nvidia0 Cores=0-7 Links=-1,1\n\
                 Name=gpu Type=a File=/dev/nvidia1 Cores=0-3 Links=1,-1\nNodeName=x Name=gpu\n";
    let linked = lint(&conf, links);
    for says in [
        "gets the worst",
        "has cores of every socket",
        "can wait although a node has its GPUs",
        "least loaded nodes of p",
        "DefMemPerGPU limits the GPUs",
        "gpus-per-task with a type",
        "the node x is in no NodeName line",
    ] {
        assert!(linked.contains(says), "{says}: {linked}");
    }
    let sockets = "Name=gpu Type=a File=/dev/nvidia0 Cores=0-3\nName=gpu Type=a File=/dev/nvidia1 Cores=4-7\n";
    let conf = format!("NODES Gres=gpu:a:2\n{part}\n");
    assert!(lint(&conf, sockets).contains("of the socket with most free cores"));
    assert!(!lint(&conf, sockets).contains("more than K GPUs"), "two nodes are too few");
    let three = conf.replace("NODES", "NodeName=n[0-2] Sockets=2 CoresPerSocket=4 RealMemory=4000");
    assert!(lint(&three, sockets).contains("more than K GPUs"));
    let plain = lint(&format!("NODES\n{part}\n"), "");
    assert!(plain.contains("\"findings\":[]"), "{plain}");
    let wrong =
        lint(&format!("NODES Gres=gpu:a:2\n{part}\n"), "Name=gpu Type=a File=/dev/nvidia[0-2]\n");
    assert!(wrong.contains("2 GPUs by Gres, but 3 by gres.conf"), "{wrong}");
}

/// Tests that `meshwork place` repeats all recorded decisions of a real Slurm on shared nodes.
#[test]
fn recorded_decisions_on_shared_nodes_come_out_of_the_command() {
    let path = examples().join("../../shared/shared-nodes/slurm-shared-cases.json.gz");
    let Ok(file) = File::open(&path) else {
        skip("logs", &format!("no recorded decisions in {}", path.display()));
        return;
    };
    let mut text = String::new();
    GzDecoder::new(file).read_to_string(&mut text).unwrap();
    let cases: Json = serde_json::from_str(&text).unwrap();
    let mut decisions = 0;
    for run in cases["runs"].as_array().unwrap() {
        let machine = &cases["machines"][run["machine"].as_str().unwrap()];
        let file = |key: &str| machine[key].as_str().unwrap();
        let folder = site(file("slurm_conf"), file("gres_conf"), file("topology_conf"));
        let steps = run["steps"].as_array().unwrap();
        let mut lines = String::new();
        for step in steps {
            let line = match step.get("end") {
                Some(end) => json!({ "op": "release", "id": end }),
                None => json!({ "op": "allocate", "id": step["sub"], "options": step["opt"] }),
            };
            writeln!(lines, "{line}").unwrap();
        }
        let answers = answers(&folder, &lines);
        assert_eq!(answers.len(), steps.len());
        for (step, answer) in
            steps.iter().zip(&answers).filter(|(step, _)| step.get("end").is_none())
        {
            decisions += 1;
            let whose = format!("{} {step}: {answer}", run["machine"]);
            if step["got"] == "no" {
                let is_never = [2014, 2015].contains(&step["errno"].as_u64().unwrap());
                assert_eq!(answer[if is_never { "never" } else { "wait" }], true, "{whose}");
                continue;
            }
            let on = answer["on"].as_array().unwrap().iter();
            let on: Json = on
                .map(|part| json!([part["nodes"], part["cores"], part["mem"], part["gres"]]))
                .collect();
            let told = json!([answer["nodes"], answer["tasks"], answer["cpus"], on]);
            assert_eq!(
                told,
                json!([step["got"], step["tasks"], step["cpus"], step["on"]]),
                "{whose}"
            );
        }
    }
    assert_eq!(decisions, 5520);
}
