//! Tests of job tables converted between file formats, and of the unit in which times are shown.

use std::fs;
use std::path::Path;

use crate::common::{Scratch, call, examples, meshwork, put};
use serde_json::Value;

/// Jobs with constraints, owners, deadlines and predecessors; the allocator respects constraints.
const STUDY: &str = "machine = { topology = 'flat', processors = 8 }\nallocator = { name = 'runs', wants = true }\n\
    scheduler = 'edf'\nmeasure = { metrics = ['wait', 'missed_deadlines'], by_user = true }\n\
    workload = { name = 'table', path = 'jobs.csv' }\n[output]\njobs = ['csv', 'parquet', 'batsim']\n";

const JOBS: &str = "submit,runtime,nodes,user,deadline,priority,after,think,contiguous,nodes_max,queue\n\
    0,10,3,ada,90,,,,,,a\n1,10,2,ben,,,,,,,a\n2,4,6,ada,30,0.5,,,true,8,b\n3,9,3,ben,25,,,,true,,\n\
    4,20,2,eve,,,1,3.5,,4,b\n5,3,8,,,,,,,,\n40,5,4,eve,46,,5,2,true,,a\n";

/// Path of a file of jobs in a results folder. The name of the file ends in `ending`.
fn jobs(folder: &Path, ending: &str) -> String {
    let files = fs::read_dir(folder.join("jobs")).unwrap().map(|file| file.unwrap().path());
    let mut files = files.filter(|file| {
        let name = file.file_name().unwrap().to_str().unwrap();
        // Batsim's tables end in `.csv` too.
        let is_other = name.ends_with(".batsim.csv") && ending != ".batsim.csv";
        name != "index.csv" && name.ends_with(ending) && !is_other
    });
    files.next().unwrap().display().to_string()
}

#[test]
fn the_jobs_of_a_run_are_a_table_that_gives_the_same_schedule() {
    let folder = Scratch::with("study.toml", STUDY);
    put(&folder, "jobs.csv", JOBS);
    call(&folder, "run study.toml --out first").ended(0);
    let of_first = jobs(&folder.join("first"), ".csv");
    let text = fs::read_to_string(&of_first).unwrap();
    let header = text.lines().next().unwrap();
    assert_eq!(
        header,
        "job,submit,start,finish,requested,held,site,blocks,runtime,estimate,nodes,block,subcube,\
         user,queue,priority,deadline,after,think,nodes_max,contiguous"
    );
    for (ending, out) in [(".csv", "again"), (".parquet", "of_parquet")] {
        let path = format!("workload.path={}", jobs(&folder.join("first"), ending));
        meshwork(&folder, &["run", "study.toml", "--set", &path, "--out", out]).ended(0);
        let of_again = jobs(&folder.join(out), ".csv");
        assert_eq!(fs::read_to_string(of_again).unwrap(), text);
    }
    let batsim = fs::read_to_string(jobs(&folder.join("first"), ".batsim.csv")).unwrap();
    assert!(
        batsim.contains("user=ada queue=b priority=0.5 deadline=30 nodes_max=8 contiguous=true")
    );
}

#[test]
fn what_is_converted_says_what_it_cannot_hold() {
    let folder = Scratch::with("jobs.csv", JOBS);
    call(&folder, "trace convert jobs.csv jobs.swf").out_is(
        "jobs.swf: 7 jobs written\n  \
         left out, because a log has no place for it: priority, deadline, nodes_max, contiguous\n  \
         names became numbers, from 1 in the order of the log: user, queue\n",
    );
    call(&folder, "trace convert jobs.csv again.csv").out_is("again.csv: 7 jobs written\n");
    put(&folder, "jobs.csv", JOBS.replace("contiguous", "contigous"));
    let said = call(&folder, "trace convert jobs.csv third.csv");
    let begins = "error: jobs.csv: unknown column `contigous` (did you mean `contiguous`? known: contiguous, ";
    said.err_begins(begins);
}

#[test]
fn hours_of_a_model_are_hours_and_those_of_an_abstract_clock_its_unit() {
    let folder = Scratch::new();
    let wait = |workload: &str, unit: &str| -> (String, f64, f64) {
        let study = format!(
            "machine = {{ topology = 'mesh', dims = [16, 8] }}\nworkload = {workload}\nreplications = 2\n\
             measure = {{ jobs = 60, metrics = ['turnaround'] }}\n"
        );
        put(&folder, "study.toml", study);
        let unit = format!("time_unit={unit}");
        let said = meshwork(&folder, &["run", "study.toml", "--set", &unit]).out;
        let json = meshwork(&folder, &["run", "study.toml", "--set", &unit, "--json"]).out;
        let json: Value = serde_json::from_str(json.lines().next().unwrap()).unwrap();
        let line = said.lines().find(|line| line.starts_with("times in ")).unwrap().to_owned();
        let row = said.lines().find(|line| line.starts_with("turnaround")).unwrap();
        let shown = row.split_whitespace().nth(1).unwrap().replace(',', "").parse().unwrap();
        (line, shown, json["metrics"]["turnaround"]["mean"].as_f64().unwrap())
    };
    for model in ["{ name = 'lublin' }", "{ name = 'deep_learning', load = 0.5 }"] {
        let (line, shown, of_clock) = wait(model, "hours");
        assert_eq!(line, "times in hours");
        assert!((shown * 3600.0 / of_clock - 1.0).abs() < 0.1, "{shown} h, {of_clock} s");
        let (line, shown, same) = wait(model, "seconds");
        assert_eq!((line.as_str(), same), ("times in seconds", of_clock), "files keep the clock's");
        assert!((shown / of_clock - 1.0).abs() < 0.1, "{shown} s, {of_clock} s");
    }
    let (line, shown, of_clock) = wait(
        "{ name = 'synthetic', load = 0.5, sizes = 'uniform', runtimes = { name = 'constant', value = 5.0 } }",
        "hours",
    );
    assert_eq!(line, "times in hours");
    assert!((shown / of_clock - 1.0).abs() < 0.1, "{shown}, {of_clock}");
}

#[test]
fn the_example_of_every_help_works_on_the_first_study() {
    let folder = Scratch::new();
    let study = examples().join("first.toml").display().to_string();
    let help = call(&folder, "run --help").out;
    assert!(help.contains("workload.load=0.7"));
    let show = |setting: &str| meshwork(&folder, &["show", &study, "--set", setting]);
    let (short, long) = (show("workload.load=0.7"), show("workload.scale={ load = 0.7 }"));
    assert_eq!((short.status, &short.out), (Some(0), &long.out));
}

#[test]
fn names_are_suggested_whatever_their_case_and_wherever_they_are() {
    let folder = Scratch::new();
    for (words, begins) in [
        (
            &["list", "scheduler", "FCFS"][..],
            "error: unknown scheduler `FCFS` (did you mean `fcfs`?",
        ),
        (&["list", "Allocater"], "error: unknown kind `Allocater` (did you mean `allocator`?"),
    ] {
        meshwork(&folder, words).ended(2).err_begins(begins);
    }
}
