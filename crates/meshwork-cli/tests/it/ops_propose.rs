//! Tests of `meshwork ops propose`, which searches for better placement lists.
//!
//! It must find a better list that the test has planted, and propose nothing if no list is better.

use std::fmt::Write;
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::Stdio;

use crate::common::backlog::{completed, slurm_machine};
use crate::common::{Numbers, Said, Scratch, call, command, examples, meshwork, put, read};
use meshwork_lab::slurm::folder::Folder;
use meshwork_operator::controller::rules::SiteRules;
use meshwork_operator::controller::{ControllerReplay, JobOutcome};
use meshwork_slurm::history::{History, JobRecord, StartedBy};
use serde_json::{Value as Json, json};

/// Topology file of a torus of 4 × 4 × 4 nodes with boxes of the given sides.
fn torus(boxes: &[[u32; 3]]) -> String {
    let mut text = "- topology: t\n  torus3d:\n    toruses:\n      - name: t  # the only one\n        dims: {x: 4, y: 4, z: 4}\n        nodes: n[00-63]\n        placements:\n".to_owned();
    for [x, y, z] in boxes {
        text.push_str(&format!("          - dims: {{x: {x}, y: {y}, z: {z}}}\n"));
    }
    text
}

/// Good placement list: each box consists of whole smaller boxes.
///
/// In the bad list `ACROSS`, some boxes contain parts of boxes of the next smaller size.
const NESTED: [[u32; 3]; 5] = [[1, 1, 1], [2, 2, 1], [2, 2, 2], [2, 2, 4], [4, 4, 2]];
const ACROSS: [[u32; 3]; 5] = [[1, 1, 1], [1, 1, 4], [4, 2, 1], [2, 4, 2], [4, 4, 2]];

/// Sizes in nodes, each as frequent as it is listed.
const SIZES: [u32; 6] = [4, 8, 8, 8, 16, 16];

const CONF: &str = "NodeName=n[00-63] CPUs=2\nPartitionName=p Nodes=ALL Default=YES Topology=t OverSubscribe=EXCLUSIVE\n";

/// Random jobs, submitted at a rate that keeps about `busy` nodes busy.
fn jobs(count: usize, seed: u64, sizes: &[u32], busy: f64) -> Vec<JobRecord> {
    let mut numbers = Numbers(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let mean = f64::from(sizes.iter().sum::<u32>()) / sizes.len() as f64;
    // Run times are from one to fifteen minutes.
    let gap = (mean * 480.0 / busy) as u64;
    let mut at = 1_767_225_600;
    let job = |job| {
        at += numbers.below(2 * gap + 1) as i64;
        let runs = 60 + numbers.below(840) as i64;
        let limit = (runs / 60 + 1 + numbers.below(10) as i64) * 60;
        completed(job + 1, at, runs, limit, sizes[numbers.below(sizes.len() as u64) as usize])
    };
    (0..count).map(job).collect()
}

fn site(folder: &Path, topology: &str, stays: Vec<JobRecord>) {
    let machine = slurm_machine(folder, topology, CONF);
    Folder::write(&folder.join("site"), &machine, &History { stays }, &json!({})).unwrap();
}

fn proposed(folder: &Path, more: &[&str]) -> (Said, Json) {
    let fixed = ["ops", "propose", "site", "--cleanup", "0", "--json", "--anyway"];
    let said = meshwork(folder, &[&fixed[..], more].concat());
    let json = said.json();
    (said, json)
}

#[test]
fn a_better_list_that_was_planted_is_found() {
    let folder = Scratch::new();
    site(&folder, &torus(&ACROSS), jobs(2_400, 1, &SIZES, 38.0));
    put(&folder, "planted.yaml", torus(&NESTED));
    let (said, json) =
        proposed(&folder, &["--lists", "192", "-o", "proposed.yaml", "--threads", "2"]);
    assert_eq!((said.status, said.err.as_str()), (Some(0), ""), "{json:#}");
    assert_eq!((&json["is_better"], &json["jobs"]), (&json!(true), &json!([1200, 1200])));
    assert!(json["tried"].as_u64() >= Some(150), "{json:#}");
    // The best lists and the site's own list are compared in a race, which rules out at least one
    // list.
    let race = &json["race"];
    assert!(
        race["finalists"].as_u64() > Some(2) && race["histories"].as_u64() >= Some(20),
        "{race}"
    );
    assert!(race["survivors"].as_u64() < race["finalists"].as_u64(), "{race}");
    assert!(race["bound"].as_f64().is_some_and(|bound| bound < 0.5), "{race}");
    // In a replay of all jobs, the planted list shortens the mean wait. The proposed list shortens
    // it by more than 90 % of this time.
    let said =
        call(&folder, "ops compare site planted.yaml proposed.yaml --cleanup 0 --json --anyway");
    let compared = said.json();
    let wait = |number: usize| compared["topologies"][number]["values"]["wait"].as_f64().unwrap();
    let (own, planted, found) = (wait(0), wait(1), wait(2));
    assert!(planted < 0.5 * own, "there is something to find: {planted} against {own}");
    assert!(own - found > 0.9 * (own - planted), "{own}, planted {planted}, found {found}");
    // The result does not depend on the number of threads, and the written file has the printed
    // text.
    let (_, again) = proposed(&folder, &["--lists", "192", "--threads", "1"]);
    let text = read(&folder, "proposed.yaml");
    assert_eq!((&again, again["topology_yaml"].as_str()), (&json, Some(text.as_str())));
    // The written file differs from the site's own only in the lists.
    assert!(text.starts_with(&torus(&[])), "{text}");
    // The text output shows the change of the file.
    let words = ["ops", "propose", "site", "--cleanup", "0", "--lists", "192"];
    let said = meshwork(&folder, &words);
    assert_eq!((said.status, said.out.as_str()), (Some(1), ""));
    said.err_has("the site is not modelled well enough to go on: ");
    let said = meshwork(&folder, &[&words[..], &["--anyway"]].concat()).ended(0);
    said.out_begins("The site is not modelled well enough to go on: ");
    said.out_has("--- site/topology.yaml\n+++ proposed topology.yaml\n@@ ");
    said.out_has("\n-          - dims: {x: 4, y: 2, z: 1}\n");
}

#[test]
#[cfg(unix)]
fn a_search_that_is_interrupted_judges_its_best_list() {
    let folder = Scratch::new();
    site(&folder, &torus(&ACROSS), jobs(800, 1, &SIZES, 38.0));
    let words =
        ["ops", "propose", "site", "--cleanup", "0", "--json", "--anyway", "--budget", "1h"];
    let mut child = command(&folder, &words);
    let mut child = child.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
    assert!(lines.any(|line| line.starts_with("progress: ") && line.contains("tried")));
    let arguments = ["-INT".to_owned(), child.id().to_string()];
    assert!(std::process::Command::new("kill").args(arguments).status().unwrap().success());
    let sentence = "stopped: the best list so far is judged; Ctrl-C again ends at once";
    assert!(lines.any(|line| line == sentence));
    let output = child.wait_with_output().unwrap();
    assert!(matches!(output.status.code(), Some(0 | 1)), "{output:?}");
    let json: Json = serde_json::from_slice(&output.stdout).unwrap();
    assert!(json["tried"].as_u64() > Some(1), "{json:#}");
    assert_eq!(json["race"], Json::Null, "the search was stopped before the race");
}

#[test]
fn the_second_half_begins_with_who_runs_and_waits_at_the_cut() {
    let folder = Scratch::new();
    // The machine is overloaded. So the queue is long where the history is cut into two halves.
    site(&folder, &torus(&ACROSS), jobs(400, 3, &SIZES, 60.0));
    let (_, json) = proposed(&folder, &["--lists", "64"]);
    let Folder { machine, history, .. } = Folder::read(&folder.join("site")).unwrap();
    let mut stays = history.stays;
    stays.sort_by_key(JobRecord::queued);
    let (machine, rules) = (&machine, &SiteRules::of(&machine));
    let replayed = |stays: &[JobRecord]| {
        let (cleanup, copy, report) = (0.0, None, &|_: usize| {});
        ControllerReplay { machine, rules, stays, cleanup, copy, report }.run().unwrap()
    };
    let outcomes = replayed(&stays);
    let waits = |stays: &[JobRecord], outcomes: &[JobOutcome]| {
        let wait =
            |(stay, own): (&JobRecord, &JobOutcome)| own.start.unwrap() - stay.queued().unwrap();
        stays.iter().zip(outcomes).map(wait).sum::<i64>() as f64 / stays.len() as f64
    };
    // Under the site's own list, the jobs of the second half wait as in a replay of all jobs.
    let whole = waits(&stays[200..], &outcomes[200..]);
    assert_eq!(json["wait"].as_f64(), Some(whole), "{json:#}");
    let alone = replayed(&stays[200..]);
    assert!(waits(&stays[200..], &alone) < 0.8 * whole, "it would wait less on an empty machine");
}

/// Proposals for random sites whose placement list is already good.
///
/// A proposed list seems better only by chance.
fn false_alarms(sites: u64, count: usize, lists: &str) -> Vec<String> {
    let mut alarms = Vec::new();
    for seed in 0..sites {
        let folder = Scratch::new();
        site(&folder, &torus(&NESTED), jobs(count, 100 + seed, &SIZES, 40.0));
        let (_, json) = proposed(&folder, &["--lists", lists]);
        if json["is_better"] == json!(true) {
            alarms.push(format!("site {seed}: {}", json["gain"]));
        }
    }
    alarms
}

#[test]
fn nothing_is_found_where_there_is_nothing() {
    assert_eq!(false_alarms(4, 300, "64"), Vec::<String>::new());
}

#[test]
#[ignore = "a hundred searches take minutes"]
fn among_a_hundred_sites_few_alarms_are_false() {
    let alarms = false_alarms(100, 600, "128");
    assert!(alarms.len() <= 5, "{alarms:?}");
}

#[test]
fn sizes_of_blocks_are_proposed() {
    let folder = Scratch::new();
    let mut blocks = "- topology: t\n  block:\n    block_sizes: [8, 64]\n    blocks:\n".to_owned();
    for block in 0..8 {
        let (first, last) = (8 * block, 8 * block + 7);
        blocks
            .push_str(&format!("      - {{block: b{block}, nodes: 'n[{first:02}-{last:02}]'}}\n"));
    }
    site(&folder, &blocks, jobs(200, 5, &[4, 8, 16], 40.0));
    let (said, json) = proposed(&folder, &["--lists", "64"]);
    // All eight possible choices of block sizes are tried.
    assert_eq!(json["tried"], json!(8), "{} {json:#}", said.err);
    assert!(matches!(said.status, Some(0 | 1)));
}

#[test]
fn what_cannot_be_searched_is_said_in_one_sentence() {
    let folder = Scratch::new();
    let says = |sentence: &str| {
        let said = call(&folder, "ops propose site --lists 8").refused();
        said.err_is(&format!("error: {sentence}\n"));
    };
    site(
        &folder,
        "- topology: t\n  tree:\n    switches:\n      - {switch: s, nodes: 'n[00-63]'}\n",
        jobs(100, 1, &[4], 9.0),
    );
    says(
        "site/topology.yaml, line 1: the topology t is of the kind tree, which lists no places, so no other list can be proposed",
    );
    site(&folder, &torus(&NESTED), jobs(20, 1, &[4], 9.0));
    says(
        "site/jobs.csv: 20 jobs ran, and 80 would be the fewest on which lists can be chosen and judged",
    );
}

#[test]
fn the_history_of_the_examples_is_what_its_list_makes_of_its_jobs() {
    let folder = Scratch::new();
    let machine = slurm_machine(&folder, &torus(&ACROSS), CONF);
    let stays = jobs(1_500, 1, &SIZES, 38.0);
    let rules = &SiteRules::of(&machine);
    let (machine, stays) = (&machine, &stays[..]);
    let replay =
        ControllerReplay { machine, rules, stays, cleanup: 4.0, copy: None, report: &|_| {} };
    let outcomes = replay.run().unwrap();
    let mut text = "JobID|User|Partition|Submit|Eligible|Start|End|State|TimelimitRaw|ReqNodes|NodeList|Priority|Flags|SubmitLine\n".to_owned();
    for (stay, outcome) in stays.iter().zip(outcomes) {
        let (queued, start) = (stay.submit.unwrap(), outcome.start.unwrap());
        let (end, limit) = (start + stay.end.unwrap() - queued, stay.limit.unwrap() / 60);
        let (id, nodes) = (&stay.id, stay.nodes);
        let list = machine.reading.hosts.listed(&outcome.nodes.unwrap());
        let by = if outcome.by == StartedBy::Main { "SchedMain" } else { "SchedBackfill" };
        writeln!(
            text,
            "{id}|ada|p|{queued}|{queued}|{start}|{end}|COMPLETED|{limit}|{nodes}|{list}|1000|{by}|sbatch -N{nodes} a.sh"
        )
        .unwrap();
    }
    let (file, conf) = (examples().join("lists.sacct.txt.gz"), examples().join("lists.slurm.conf"));
    if std::env::var_os("UPDATE_EXPECTED").is_some() {
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        std::io::Write::write_all(&mut packed, text.as_bytes()).unwrap();
        fs::write(&file, packed.finish().unwrap()).unwrap();
        fs::write(&conf, CONF).unwrap();
    }
    let mut kept = String::new();
    let packed = fs::File::open(file).unwrap();
    flate2::read::GzDecoder::new(packed).read_to_string(&mut kept).unwrap();
    assert!(kept == text, "write it anew with UPDATE_EXPECTED=1");
    assert_eq!(fs::read_to_string(conf).unwrap(), CONF);
}
