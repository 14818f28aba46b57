//! Tests of a study whose runs are divided into shards, which several processes run.
//!
//! The collected results have the same bytes as those of a single process.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use crate::common::{Said, Scratch, call, command, meshwork, put, read};
use meshwork::rng::Stream;

/// 36 runs of a few milliseconds each, some much longer than others.
const STUDY: &str = "
name = 'shared'
replications = 3
[machine]
topology = 'mesh'
dims = [8, 8]
[workload]
name = 'synthetic'
sizes = 'uniform'
runtimes = { name = 'exponential', mean = 5.0 }
[measure]
jobs = 200
metrics = ['wait', 'utilization', 'turnaround']
[sweep]
allocator = ['first_fit', 'frame_sliding']
'workload.load' = [0.2, 0.5]
'measure.jobs' = [50, 400, 1000]
[compare]
allocator = 'first_fit'
";
const RUNS: usize = 36;

/// Study that stops at a given precision, so its number of replications is not known in advance.
const PRECISE: &str = "
precision = 0.1
min_replications = 3
max_replications = 30
[machine]
topology = 'mesh'
dims = [8, 8]
[workload]
name = 'synthetic'
sizes = 'uniform'
runtimes = { name = 'exponential', mean = 5.0 }
[measure]
jobs = 300
metrics = ['wait', 'turnaround']
[sweep]
'workload.load' = [0.1, 0.3, 0.5, 0.6]
";

fn begin(text: &str) -> Scratch {
    Scratch::with("study.toml", text)
}

fn local(folder: &Path) {
    call(folder, "run study.toml --out local --threads 2 --quiet").succeeded();
}

fn shard(folder: &Path, shard: &str) -> Said {
    meshwork(folder, &["run", "study.toml", "--out", "shared", "--shard", shard, "--threads", "1"])
}

fn results(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if entry.path().is_file() {
            files.insert(name, fs::read(entry.path()).unwrap());
        }
    }
    files
}

/// Compares two results folders. A failure names the file, and does not print its contents.
fn assert_same(shared: &Path, local: &Path) {
    let (shared, local) = (results(shared), results(local));
    assert_eq!(shared.keys().collect::<Vec<_>>(), local.keys().collect::<Vec<_>>());
    for (name, bytes) in &local {
        assert!(*bytes == shared[name], "{name} has other bytes");
    }
}

fn collected(folder: &Path) -> Said {
    call(folder, "collect shared")
}

#[test]
fn shards_give_the_bytes_of_one_process() {
    for (text, of) in [(STUDY, 4), (PRECISE, 3)] {
        let folder = begin(text);
        local(&folder);
        for index in (0..of).rev() {
            let said = shard(&folder, &format!("{index}/{of}")).succeeded();
            said.out_begins(&format!("shard {index}/{of}: "));
        }
        let said = collected(&folder).succeeded();
        said.out_ends(" collected, 0 missing, 0 failed\n");
        assert_same(&folder.join("shared"), &folder.join("local"));
        assert!(!folder.join("shared/runs").exists(), "segments are not needed any more");
        // Collecting again is harmless, and a shard that is started again has nothing to do.
        assert_eq!(collected(&folder).out, said.out);
        shard(&folder, &format!("0/{of}")).ended(0).out_has(" of them before");
        assert_eq!(collected(&folder).out, said.out);
        assert_same(&folder.join("shared"), &folder.join("local"));
    }
}

#[test]
fn a_folder_that_is_still_filling_is_reported_and_finished_by_anyone() {
    let folder = begin(STUDY);
    local(&folder);
    shard(&folder, "1/3");
    let said = call(&folder, "status shared --json");
    assert_eq!((said.status, said.err.as_str()), (Some(3), ""));
    let object = said.json();
    let number = |key: &str| object[key].as_u64().unwrap();
    assert_eq!((number("total"), number("running"), number("failed")), (RUNS as u64, 0, 0));
    assert!(number("done") > 0 && number("missing") == RUNS as u64 - number("done"), "{object}");
    let said = call(&folder, "status shared");
    let begin = format!("shared: {} of 36 runs done, 0 running, ", number("done"));
    said.out_begins(&begin);
    // Write the report before the shards are collected, and again after that.
    for _ in 0..2 {
        call(&folder, "report shared --jobs 0").succeeded();
        let page = read(&folder, "shared/report.html");
        let missing = number("missing");
        assert!(
            page.contains(&format!("{missing} of")) || page.contains(&format!("{missing} runs"))
        );
        fs::remove_file(folder.join("shared/report.html")).unwrap();
        collected(&folder).ended(3).out_has("\nmissing: scenario ");
        assert!(!folder.join("shared/summary.csv").exists(), "no table of what is not whole");
    }
    // One process does the rest without repeating completed runs, and the bytes are the same.
    call(&folder, "run study.toml --out shared --quiet").succeeded();
    assert_same(&folder.join("shared"), &folder.join("local"));
    assert!(!folder.join("shared/runs").exists());
}

/// Process that runs a shard.
fn started(folder: &Path, shard: &str) -> Child {
    let arguments =
        ["run", "study.toml", "--out", "shared", "--shard", shard, "--threads", "1", "--quiet"];
    command(folder, &arguments).stdout(Stdio::null()).spawn().unwrap()
}

/// Kills a shard after `after` completed runs. Returns the number of runs that it completed.
fn killed(folder: &Path, shard: &str, after: usize) -> usize {
    let mut child = started(folder, shard);
    let segment = || {
        let found = fs::read_dir(folder.join("shared/runs")).ok()?;
        let own = format!("-{}.jsonl", child.id());
        let found = found.flatten().find(|e| e.file_name().to_string_lossy().contains(&own))?;
        fs::read_to_string(found.path()).ok()
    };
    let began = Instant::now();
    let mut ended = 0;
    while ended < after && began.elapsed() < Duration::from_secs(60) {
        ended = segment().map_or(0, |text| text.matches("{\"ended\"").count());
        std::thread::sleep(Duration::from_millis(1));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    ended
}

#[test]
fn killed_shards_lose_nothing_that_ended() {
    let folder = begin(STUDY);
    local(&folder);
    let ended = killed(&folder, "0/2", 2) + killed(&folder, "0/2", 1);
    assert!(ended >= 3, "{ended}");
    // A torn line and an empty segment (file with the runs of one process), as kills may leave
    // them.
    let runs = folder.join("shared/runs");
    let torn = fs::read_dir(&runs).unwrap().flatten().next().unwrap().path();
    let mut text = fs::read(&torn).unwrap();
    text.extend_from_slice(b"{\"key\":\"0a");
    fs::write(&torn, text).unwrap();
    put(&runs, "1of2.elsewhere-1.jsonl.part", "");
    let said = shard(&folder, "0/2").succeeded();
    let reused: usize =
        said.out.split(" ended, ").nth(1).unwrap().split(' ').next().unwrap().parse().unwrap();
    assert!(reused >= ended, "{}", said.out);
    collected(&folder).ended(3);
    shard(&folder, "1/2").ended(0);
    collected(&folder).ended(0);
    assert_same(&folder.join("shared"), &folder.join("local"));
    assert!(!runs.exists(), "what was torn is of no use either");
}

/// Keys of complete runs in the file of one process.
fn ended_in(segment: &Path) -> Vec<String> {
    // The process that writes the segment may have renamed it in the meantime.
    let Ok(bytes) = fs::read(segment) else { return Vec::new() };
    let whole = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
    let text = String::from_utf8(bytes[..whole].to_vec()).unwrap();
    let lines = text.lines().filter(|line| line.starts_with("{\"key\":\""));
    lines.map(|line| line[8..40].to_owned()).collect()
}

/// Segments (files of results) that the processes `copies` write, with the keys of completed runs.
fn segments_of(folder: &Path, copies: &[Child]) -> Vec<(String, Vec<String>)> {
    let found = fs::read_dir(folder.join("shared/runs")).into_iter().flatten().flatten();
    let named = found.map(|segment| (segment.file_name().to_string_lossy().into_owned(), segment));
    let is_theirs =
        |name: &str| copies.iter().any(|copy| name.contains(&format!("-{}.jsonl", copy.id())));
    named
        .filter(|(name, _)| is_theirs(name))
        .map(|(name, segment)| (name, ended_in(&segment.path())))
        .collect()
}

/// Waits until the processes `copies` have completed more than `runs` runs.
///
/// It also returns at the time `latest`, or if a process has exited. So some runs are completed and
/// many are left, whatever the speed of the machine.
fn wait_for(folder: &Path, copies: &mut [Child], runs: usize, latest: Option<Instant>) {
    loop {
        let ended: usize = segments_of(folder, copies).iter().map(|(_, keys)| keys.len()).sum();
        let is_over = copies.iter_mut().any(|copy| copy.try_wait().unwrap().is_some());
        if ended > runs || is_over || latest.is_some_and(|latest| Instant::now() >= latest) {
            return;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Kills processes of three shards, some of which are run by two processes at once.
fn random_kills(kills: u64, replications: u64) {
    let text = STUDY.replace("replications = 3", &format!("replications = {replications}"));
    let text = text.replace("[50, 400, 1000]", "[50, 100, 200]");
    let folder = begin(&text);
    let mut chance = Stream::new(7, kills, "kills");
    let mut seen: BTreeMap<String, String> = BTreeMap::new();
    // Estimated time from the start of a process to its first write. Kills fall before, at and
    // after it.
    let mut first_word = Duration::from_millis(50);
    for kill in 0..kills {
        let shard = format!("{}/3", (chance.unit() * 3.0) as u64);
        let mut copies = vec![started(&folder, &shard)];
        if chance.unit() < 0.1 {
            copies.push(started(&folder, &shard));
        }
        // Every second kill comes at a random instant, or earlier if enough runs are completed. The
        // other kills wait for completed runs.
        let wait = first_word.mul_f64(2.0 * chance.unit());
        let latest = (kill % 2 == 1).then(|| Instant::now() + wait);
        wait_for(&folder, &mut copies, (chance.unit() * 4.0) as usize, latest);
        for copy in &mut copies {
            copy.kill().unwrap();
            copy.wait().unwrap();
        }
        let is_doubled = copies.len() > 1;
        let mut wrote = false;
        for (name, keys) in segments_of(&folder, &copies) {
            for key in keys {
                wrote = true;
                let before = seen.insert(key, name.clone());
                assert!(before.is_none() || is_doubled, "run again by its own shard: {before:?}");
            }
        }
        let factor = if wrote { 0.97 } else { 1.03 };
        first_word = first_word.mul_f64(factor).min(Duration::from_secs(2));
        if kill % 100 == 99 {
            assert_eq!(collected(&folder).status, Some(3), "after {kill} kills");
        }
    }
    let total = 12 * replications as usize;
    assert!(!seen.is_empty() && seen.len() < total, "{} of {total}: all in the middle", seen.len());
    for index in 0..3 {
        shard(&folder, &format!("{index}/3")).ended(0);
    }
    collected(&folder).ended(0);
    local(&folder);
    assert_same(&folder.join("shared"), &folder.join("local"));
}

#[test]
fn random_kills_lose_and_double_nothing() {
    random_kills(25, 20);
}

#[test]
#[ignore = "a thousand processes: minutes"]
fn a_thousand_random_kills_lose_and_double_nothing() {
    random_kills(1000, 700);
}

#[test]
fn two_copies_of_a_shard_at_once_give_the_same() {
    let folder = begin(STUDY);
    local(&folder);
    let mut copies = ["0/2", "0/2", "1/2", "0/1"].map(|shard| started(&folder, shard));
    // Collect the results repeatedly while the processes run.
    while copies.iter_mut().any(|copy| copy.try_wait().unwrap().is_none()) {
        if folder.join("shared/experiment.toml").exists() {
            let said = collected(&folder);
            assert!(matches!(said.status, Some(0 | 3)), "{}", said.err);
        }
    }
    assert!(copies.iter_mut().all(|copy| copy.wait().unwrap().success()));
    collected(&folder).ended(0);
    assert_same(&folder.join("shared"), &folder.join("local"));
}

#[test]
fn a_budget_or_a_signal_ends_a_shard_between_two_runs() {
    let text = STUDY.replace("[50, 400, 1000]", "[3000, 4000, 5000]").replace("[8, 8]", "[16, 16]");
    let folder = begin(&text);
    local(&folder);
    let arguments = ["run", "study.toml", "--out", "shared", "--shard", "0/1", "--threads", "1"];
    let budget = [&arguments[..], &["--time-budget", "1s"]].concat();
    let mut statuses = Vec::new();
    for _ in 0..200 {
        statuses.push(meshwork(&folder, &budget).status);
        if statuses.last() == Some(&Some(0)) {
            break;
        }
    }
    assert_eq!(statuses.pop(), Some(Some(0)));
    assert!(statuses.iter().all(|status| *status == Some(75)), "{statuses:?}");
    collected(&folder).ended(0);
    assert_same(&folder.join("shared"), &folder.join("local"));
    #[cfg(unix)]
    {
        fs::remove_dir_all(folder.join("shared")).unwrap();
        let mut child = command(&folder, &arguments).stdout(Stdio::null()).spawn().unwrap();
        while !folder.join("shared/runs").exists() {
            std::thread::sleep(Duration::from_millis(1));
        }
        let term =
            std::process::Command::new("kill").args(["-TERM", &child.id().to_string()]).status();
        assert!(term.unwrap().success());
        assert_eq!(child.wait().unwrap().code(), Some(75));
        let names: Vec<String> = fs::read_dir(folder.join("shared/runs"))
            .unwrap()
            .flatten()
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            .collect();
        assert!(names.len() == 1 && names[0].ends_with(".jsonl"), "it has ended: {names:?}");
        collected(&folder).ended(3);
    }
}

#[test]
fn a_local_run_stops_after_its_budget_and_goes_on() {
    let folder = begin(
        &STUDY.replace("[50, 400, 1000]", "[3000, 4000, 5000]").replace("[8, 8]", "[16, 16]"),
    );
    local(&folder);
    let mut status = Some(75);
    let mut stops = 0;
    while status == Some(75) && stops < 200 {
        status = call(&folder, "run study.toml --out shared --time-budget 1s --quiet --threads 1")
            .status;
        stops += 1;
    }
    assert_eq!(status, Some(0));
    assert_same(&folder.join("shared"), &folder.join("local"));
}

#[test]
fn two_results_for_one_run_are_named_both() {
    let folder = begin(STUDY);
    for index in 0..2 {
        shard(&folder, &format!("{index}/2"));
    }
    let runs = folder.join("shared/runs");
    let segment = fs::read_dir(&runs).unwrap().flatten().next().unwrap().path();
    let text = fs::read_to_string(&segment).unwrap();
    let line = text.lines().find(|line| line.starts_with("{\"key\"")).unwrap();
    let number = 1 + text.lines().position(|own| own == line).unwrap();
    let changed = line.replacen("\"end\":", "\"end\":1", 1);
    put(&runs, "9of9.other.jsonl", format!("{changed}\n"));
    let said = collected(&folder).ended(2);
    let key = &line[8..40];
    let name = segment.file_name().unwrap().to_string_lossy();
    said.err_begins(&format!(
            "error: shared/runs/{name}:{number} and shared/runs/9of9.other.jsonl:1: these two lines have the same key {key}, but other results"
        ));
    assert!(!folder.join("shared/summary.csv").exists());
}

#[test]
fn a_run_that_fails_stops_no_other_and_is_told() {
    let folder = begin(STUDY);
    shard(&folder, "0/1");
    // The record of a failed run in a segment.
    let failed =
        "{\"failed\":{\"scenario\":0,\"replication\":1,\"message\":\"no disk\",\"at\":1.0}}\n";
    let runs = folder.join("shared/runs");
    let segment = fs::read_dir(&runs).unwrap().flatten().next().unwrap().path();
    let text = fs::read_to_string(&segment).unwrap();
    let mut lines: Vec<&str> = text.lines().collect();
    let of_first =
        ["\"jobs\":50,", "\"load\":0.2,", "\"name\":\"first_fit\"", "\"replication\":1,"];
    let at = lines.iter().position(|line| of_first.iter().all(|part| line.contains(part))).unwrap();
    lines.remove(at);
    fs::write(&segment, format!("{}\n{failed}", lines.join("\n"))).unwrap();
    let said = collected(&folder).ended(1);
    said.out_has("0 missing, 1 failed");
    said.err_has("replication 2 failed: no disk");
    // A failed run is neither completed nor missing.
    let status = call(&folder, "status shared").ended(1);
    status.out_begins("shared: 35 of 36 runs done, 0 running, 0 missing, 1 failed");
    // The failed run stays reported, and is run again on request.
    assert_eq!(collected(&folder).err, said.err);
    shard(&folder, "0/1").ended(0);
    collected(&folder).ended(0);
}

#[test]
fn wrong_requests_get_a_sentence() {
    let folder = begin(STUDY);
    put(&folder, "other.toml", STUDY.replace("0.2", "0.3"));
    shard(&folder, "0/4");
    for (arguments, sentence) in [
        (
            "run study.toml --out shared --shard 5/4",
            "--shard: 5/4: there is no shard 5 of 4: 4 shards are numbered from 0 to 3",
        ),
        (
            "run study.toml --out shared --shard x",
            "--shard: `x` is no shard: give I/N, such as 0/4",
        ),
        (
            "run study.toml --out shared --shard /4",
            "--shard: --shard /N takes I from the task of an array, but none of HQ_TASK_ID",
        ),
        (
            "run other.toml --out shared --shard 0/4",
            "shared: this folder holds another study, or an earlier form of this one",
        ),
        (
            "run study.toml --out shared --shard 0/4 --set seed=2",
            "shared: this sweep was begun with no --set, and is now asked for with --set seed=2",
        ),
        (
            "run study.toml other.toml --out shared --shard 0/4",
            "--shard 0/4: 2 studies are given, but a shard is a part of one",
        ),
        ("collect nowhere", "nowhere: there is no such folder"),
        ("status .", ".: there is no study in this folder: give one that `meshwork run --out`"),
        (
            "run study.toml --out shared --shard 0/4 --deal study.toml",
            "study.toml:2: this is no line of a deal of this study",
        ),
    ] {
        let said = call(&folder, arguments).ended(2);
        assert!(said.err.starts_with(&format!("error: {sentence}")), "{arguments}: {}", said.err);
    }
    // Pretend that another build of the program started the sweep.
    let asked = folder.join("shared/asked.toml");
    let text = fs::read_to_string(&asked).unwrap();
    let build = text.lines().find(|line| line.starts_with("build = ")).unwrap();
    fs::write(&asked, text.replace(build, "build = \"0123456789abcdef0123456789abcdef\"")).unwrap();
    shard(&folder, "1/4").ended(2).err_begins(
        "error: shared: another build of the program began this sweep (01234567, and this is ",
    );
    fs::write(&asked, &text).unwrap();
    // Tear a line in the middle of a segment.
    let segment =
        fs::read_dir(folder.join("shared/runs")).unwrap().flatten().next().unwrap().path();
    let text = fs::read_to_string(&segment).unwrap();
    let cut = text.lines().position(|line| line.starts_with("{\"key\"")).unwrap();
    let half = |(number, line): (usize, &str)| {
        let line = if number == cut { &line[..line.len() / 2] } else { line };
        format!("{line}\n")
    };
    fs::write(&segment, text.lines().enumerate().map(half).collect::<String>()).unwrap();
    let said = collected(&folder).ended(3);
    let name = segment.file_name().unwrap().to_string_lossy().into_owned();
    assert_eq!(
        said.err,
        format!(
            "warning: shared/runs/{name}:{}: this line is garbled: its run is run again\n",
            cut + 1
        )
    );
    for index in 0..4 {
        let arguments =
            ["run", "study.toml", "--out", "shared", "--shard", &format!("{index}/4"), "--quiet"];
        meshwork(&folder, &arguments).ended(0);
    }
    collected(&folder).ended(0);
}

#[cfg(target_os = "linux")]
#[test]
fn clocks_that_differ_are_told() {
    let folder = begin(STUDY);
    shard(&folder, "0/4");
    let segment = folder.join("shared/runs/1of4.elsewhere-7.jsonl.part");
    fs::write(
        &segment,
        "{\"segment\":{\"shard\":1,\"of\":4,\"host\":\"elsewhere\",\"threads\":1,\"runs\":9}}\n",
    )
    .unwrap();
    let file = fs::File::options().append(true).open(&segment).unwrap();
    file.set_modified(std::time::SystemTime::now() + Duration::from_secs(3600)).unwrap();
    let said = call(&folder, "status shared");
    said.err_has("in the future, so the clocks of two computers differ");
    said.out_has("1 running");
    file.set_modified(std::time::SystemTime::now() - Duration::from_secs(3600)).unwrap();
    let said = call(&folder, "status shared");
    said.out_has("0 running");
    said.out_has("1 ended without a word, killed or cut off");
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_keeps_what_ended() {
    // A limit on file size, in kilobytes, stands in for a full disk.
    let folder = begin(STUDY);
    let program = env!("CARGO_BIN_EXE_meshwork");
    let text = format!(
        "trap '' XFSZ; ulimit -f 8; exec {program} run study.toml --out shared --shard 0/1 --threads 1"
    );
    let output = std::process::Command::new("bash")
        .args(["-c", &text])
        .current_dir(&folder)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    let err = String::from_utf8_lossy(&output.stderr);
    assert!(err.contains("what had ended before is kept, and the rest is run again"), "{err}");
    let said = collected(&folder).ended(3);
    assert!(!said.out.contains(": 0 of 36"), "{}", said.out);
    shard(&folder, "0/1").ended(0);
    collected(&folder).ended(0);
    local(&folder);
    assert_same(&folder.join("shared"), &folder.join("local"));
}
