//! Tests that a sweep which is killed and run again gives the results of an uninterrupted sweep.

use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use crate::common::{Scratch, call, command, meshwork, put, read, said};

/// 40 runs, each long enough that the command can be killed during it.
const STUDY: &str = "
replications = 10
[machine]
topology = 'mesh'
dims = [32, 32]
[workload]
name = 'synthetic'
sizes = 'uniform'
runtimes = { name = 'exponential', mean = 5.0 }
[measure]
jobs = 3000
[sweep]
allocator = ['first_fit', 'frame_sliding']
'workload.load' = [0.3, 0.5]
[compare]
allocator = 'first_fit'
";
const RUNS: usize = 40;

fn lines(folder: &Path) -> usize {
    fs::read(folder.join("runs.jsonl"))
        .map_or(0, |bytes| bytes.iter().filter(|&&byte| byte == b'\n').count())
}

fn tables(folder: &Path) -> [String; 2] {
    ["summary.csv", "comparison.csv"].map(|name| read(folder, name))
}

#[test]
fn a_killed_sweep_goes_on_where_it_stopped() {
    let folder = Scratch::with("study.toml", STUDY);
    let run = |out: &str, threads: &str| {
        let arguments = ["run", "study.toml", "--out", out, "--threads", threads];
        let said = meshwork(&folder, &arguments).succeeded();
        said.out.replace(out, "OUT")
    };
    let undisturbed = run("undisturbed", "2");
    assert_eq!(lines(&folder.join("undisturbed")), RUNS);
    let mut was_interrupted = false;
    for wanted in [1, 7, 20] {
        let name = format!("killed{wanted}");
        let out = folder.join(&name);
        let arguments = ["run", "study.toml", "--out", &name, "--threads", "2"];
        let mut child = command(&folder, &arguments).stdout(Stdio::null()).spawn().unwrap();
        while lines(&out) < wanted && child.try_wait().unwrap().is_none() {
            std::thread::sleep(Duration::from_millis(1));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        let kept = lines(&out);
        assert!(kept >= wanted, "{kept} runs are kept");
        was_interrupted |= kept < RUNS;
        // Append a torn line, as a kill may leave it.
        let torn = fs::OpenOptions::new().append(true).open(out.join("runs.jsonl"));
        std::io::Write::write_all(&mut torn.unwrap(), b"{\"key\":\"0a").unwrap();
        assert_eq!(run(&name, "1"), undisturbed, "after {kept} runs");
        assert_eq!(tables(&out), tables(&folder.join("undisturbed")), "after {kept} runs");
        assert_eq!(lines(&out), RUNS);
    }
    assert!(was_interrupted, "every sweep was done before it was killed");
}

#[cfg(unix)]
fn signal(child: &std::process::Child, signal: &str) {
    let arguments = [format!("-{signal}"), child.id().to_string()];
    assert!(std::process::Command::new("kill").args(arguments).status().unwrap().success());
}

#[test]
#[cfg(unix)]
fn a_signal_stops_between_two_runs_and_what_is_kept_is_said() {
    let folder = Scratch::with("study.toml", STUDY);
    for (name, status) in [("TERM", 75), ("INT", 130)] {
        let out = folder.join(name);
        let arguments = ["run", "study.toml", "--out", name, "--threads", "1"];
        let mut child = command(&folder, &arguments);
        let child = child.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        while lines(&out) < 2 {
            std::thread::sleep(Duration::from_millis(1));
        }
        signal(&child, name);
        let stopped = said(&child.wait_with_output().unwrap());
        let kept = lines(&out);
        assert_eq!((stopped.status, stopped.out.as_str()), (Some(status), ""), "{stopped:?}");
        let sentence =
            format!("stopped: {kept} of 40 runs are kept in {name}; the same command continues\n");
        assert_eq!(stopped.err, sentence);
        assert!(kept < RUNS, "it stopped before its end");
        meshwork(&folder, &["report", name]).out_has(&format!("{kept} of 40 runs"));
        meshwork(&folder, &arguments).succeeded();
        assert_eq!(lines(&out), RUNS);
    }
    for (name, status) in [("TERM", 75), ("INT", 130)] {
        // A signal that comes before the command handles it ends the command as usual.
        let stopped = [100, 1000, 10_000].into_iter().find_map(|wait| {
            let arguments = ["run", "study.toml", "--set", "replications=100000"];
            let mut child = command(&folder, &arguments);
            let child = child.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
            std::thread::sleep(Duration::from_millis(wait));
            signal(&child, name);
            Some(said(&child.wait_with_output().unwrap())).filter(|said| said.status.is_some())
        });
        let stopped = stopped.expect("a signal is handled in the end");
        assert_eq!((stopped.status, stopped.out.as_str()), (Some(status), ""));
        assert_eq!(stopped.err, "stopped: nothing is kept without `--out`\n");
    }
}

#[test]
fn a_garbled_line_is_set_aside_and_run_again() {
    let folder = Scratch::with("study.toml", STUDY.replace("3000", "100"));
    let run = || call(&folder, "run study.toml --out out");
    let first = run().ended(0);
    let out = folder.join("out");
    let before = tables(&out);
    let text = read(&out, "runs.jsonl");
    let mut lines: Vec<&str> = text.lines().collect();
    lines[2] = "no run at all";
    put(&out, "runs.jsonl", lines.join("\n") + "\n");
    let again = run().ended(0);
    assert_eq!(
        again.err,
        "warning: out/runs.jsonl:3: this line is garbled: it is kept in runs.garbled, and its run is \
         run again\n"
    );
    assert_eq!((again.out, tables(&out)), (first.out, before));
    assert_eq!(read(&out, "runs.garbled"), "no run at all\n");
    let said = call(&folder, "check out --sample 5").ended(0);
    said.out_is("out: 5 of 40 stored runs replayed, 5 the same, 0 different, 0 failed\n");
}

#[test]
fn a_check_finds_a_result_that_was_changed() {
    let folder = Scratch::new();
    let study = "[machine]\ntopology = 'flat'\nprocessors = 4\n[workload]\nname = 'synthetic'\n\
                 load = 0.5\nsizes = 'uniform'\nruntimes = { name = 'exponential', mean = 5.0 }\n\
                 [measure]\njobs = 100\nmetrics = ['finished']\n";
    put(&folder, "study.toml", study);
    call(&folder, "run study.toml --out out").ended(0);
    let runs = folder.join("out/runs.jsonl");
    let text = fs::read_to_string(&runs).unwrap();
    let changed = text.replace("\"finished\":100,", "\"finished\":101,");
    assert_ne!(text, changed, "{text}");
    fs::write(&runs, changed).unwrap();
    let said = call(&folder, "check out");
    assert_eq!((said.status, said.err.as_str()), (Some(1), ""));
    let lines: Vec<&str> = said.out.lines().collect();
    assert!(lines[0].starts_with("different: run "), "{}", lines[0]);
    assert!(
        lines[0].ends_with(", replication 1: finished is stored as 101, and is now 100"),
        "{}",
        lines[0]
    );
    assert_eq!(lines[1], "out: 1 of 1 stored runs replayed, 0 the same, 1 different, 0 failed");
    let json = call(&folder, "check out --json").ended(1);
    let object = json.json();
    assert_eq!(object["verdict"], "different");
}

/// Race of candidates that differ only in their random numbers, with some thousand runs.
const RACE: &str = "
[machine]
topology = 'flat'
processors = 16
[workload]
name = 'synthetic'
load = 0.6
sizes = { name = 'uniform', max = 12 }
runtimes = { name = 'exponential', mean = 5.0 }
[measure]
jobs = 1000
metrics = ['turnaround']
[sweep]
seed = [10, 20, 30, 40, 50, 60]
";

#[test]
fn a_race_killed_fifty_times_gives_the_same_bytes() {
    let folder = Scratch::with("race.toml", RACE);
    let arguments = |out: &'static str| {
        ["choose", "race.toml", "--within", "6%", "--threads", "2", "--quiet", "--out", out]
    };
    let undisturbed = meshwork(&folder, &arguments("undisturbed")).succeeded();
    let killed = folder.join("killed");
    let mut draws = meshwork::rng::Stream::new(1, 0, "kills");
    for kill in 0..50 {
        let mut child =
            command(&folder, &arguments("killed")).stdout(Stdio::null()).spawn().unwrap();
        // Some processes are killed before they add a run, or while they begin.
        let wanted = lines(&killed) + draws.below(4) as usize;
        while lines(&killed) < wanted && child.try_wait().unwrap().is_none() {
            std::thread::sleep(Duration::from_millis(1));
        }
        assert!(child.try_wait().unwrap().is_none(), "it was done before kill {kill}");
        child.kill().unwrap();
        child.wait().unwrap();
    }
    let kept = lines(&killed);
    let said = meshwork(&folder, &arguments("killed")).succeeded();
    assert!(kept > 0 && kept < lines(&killed), "{kept} of {}", lines(&killed));
    assert_eq!(said.out.replace("killed", "undisturbed"), undisturbed.out);
    for name in ["choice.json", "winner.toml", "runs.jsonl", "experiment.toml"] {
        let bytes = |out: &str| fs::read(folder.join(out).join(name)).unwrap();
        assert!(bytes("killed") == bytes("undisturbed"), "{name}");
    }
}
