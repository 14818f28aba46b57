//! Tests of `meshwork ops when`, which predicts starts of waiting jobs.
//!
//! They check the predicted interval, the keys of the JSON, and the errors.

use std::path::Path;

use crate::common::{Said, Scratch, call, put, read};
use serde_json::Value as Json;

const IMPORT: &str = "ops import --sacct sacct.txt --conf slurm.conf -o site";

/// Four nodes. Thirty jobs of 100 s have ended, one job runs, one waits and one is held.
fn site(folder: &Path) {
    let conf = "NodeName=n[0-3] CPUs=1\nPartitionName=p Nodes=ALL Default=YES\n\
                PartitionName=short Nodes=ALL MaxTime=5\n";
    put(folder, "slurm.conf", conf);
    let mut text = "JobIDRaw|JobID|User|Partition|Submit|Eligible|Start|End|State|TimelimitRaw|NNodes|ReqNodes|NodeList|Reason|Exclusive|AllocTRES\n".to_owned();
    let mut job = |id: u32, submit: u32, times: &str, nodes: &str, reason: &str| {
        text.push_str(&format!(
            "{id}|{id}|ada|p|{submit}|{submit}|{times}|10|4|4|{nodes}|{reason}|NODE|cpu=4,node=4\n"
        ));
    };
    for id in 1..=30 {
        let start = 100 * id;
        job(id, start, &format!("{start}|{}|COMPLETED", start + 100), "n[0-3]", "");
    }
    job(31, 3_100, "3100|3500|COMPLETED", "n[0-3]", "");
    job(32, 3_110, "3500|3600|COMPLETED", "n[0-3]", "");
    job(33, 3_120, "None|Unknown|PENDING", "None assigned", "JobHeldUser");
    put(folder, "sacct.txt", text);
    call(folder, IMPORT).ended(0);
}

fn when(folder: &Scratch, words: &str) -> Said {
    call(folder, &format!("ops when site {words}"))
}

#[test]
fn a_waiting_job_has_an_interval_and_a_held_one_a_reason() {
    let folder = Scratch::new();
    site(&folder);
    let said = when(&folder, "32 --at 3150 --json --cleanup 0").ended(0);
    let own = said.json();
    for key in ["earliest", "median", "latest"] {
        assert_eq!(own[key], 3_200, "{own}");
    }
    assert_eq!((&own["job"], &own["confidence"]), (&Json::from("32"), &Json::from(0.9)));
    let said = when(&folder, "--all --at 3150 --json");
    let all = said.json();
    let jobs = all["jobs"].as_array().unwrap();
    assert_eq!(jobs.len(), 2);
    let held = jobs.iter().find(|own| own["job"] == "33").unwrap();
    assert_eq!((&held["median"], &held["reason"]["kind"]), (&Json::Null, &Json::from("held")));
    when(&folder, "33 --at 3150").out_has("it is held, until somebody releases it");
    let [share, percent] = ["0.9", "90%"]
        .map(|asked| when(&folder, &format!("32 --at 3150 --confidence {asked}")).out);
    assert_eq!(share, percent);
    when(&folder, "--all --at 3150").out_has("1970-01-01 00:53:2");
}

/// Tests that `ops when` and `ops explain` give a partition's limit the name that Slurm's queue
/// uses.
///
/// Accounting records call the limit `PartitionConfig`, but the queue calls it
/// `PartitionTimeLimit`.
#[test]
fn a_limit_of_a_partition_has_the_word_of_the_queue() {
    let folder = Scratch::new();
    site(&folder);
    let mut text = read(&folder, "sacct.txt");
    text += "34|34|ada|short|3000|3000|None|Unknown|PENDING|10|4|4|None assigned|PartitionConfig|NODE|cpu=4,node=4\n";
    put(&folder, "sacct.txt", text);
    call(&folder, IMPORT).ended(0);
    let said = when(&folder, "34 --at 3150 --json");
    let own = said.json();
    assert_eq!(own["reason"], serde_json::json!({ "kind": "limit", "says": "PartitionTimeLimit" }));
    let queue = call(&folder, "ops explain site --all --at 3150 --json").json();
    let jobs = queue["jobs"].as_array().unwrap();
    let explained = jobs.iter().find(|own| own["job"] == "34").unwrap();
    assert_eq!(explained["slurm"], own["reason"]["says"], "{explained}");
}

#[test]
fn wrong_questions_get_one_sentence() {
    let folder = Scratch::new();
    site(&folder);
    for (asked, says) in [
        ("32 --at 3550", "job 32 does not wait at"),
        ("99 --at 3150", "job 99 does not wait at"),
        ("99", "there is no job 99"),
        ("32 --at 99999", "the history says nothing of"),
        ("32 --confidence 1.5", "a probability between 0 and 1 is needed"),
        (
            "32 --cleanup 4s",
            "'4s' for '--cleanup <SECONDS>': must be a whole number of seconds, as 4",
        ),
        (
            "32 --cleanup -3",
            "'-3' for '--cleanup <SECONDS>': must be a whole number of seconds, as 4",
        ),
        ("--all", "--at"),
    ] {
        let said = when(&folder, asked).ended(2);
        assert!(said.err.contains(says), "{asked}: {}", said.err);
    }
}

/// Tests the forecast of a job that starts long after the last submission in its sampled futures.
///
/// Four times as much work arrives as can be done, and all of it precedes job 92.
#[test]
fn a_late_start_is_forecast_and_an_impossible_one_is_not() {
    let folder = Scratch::new();
    let conf = "NodeName=n[0-3] CPUs=1\nPartitionName=high Nodes=ALL PriorityTier=9\n\
                PartitionName=p Nodes=ALL Default=YES\n";
    put(&folder, "slurm.conf", conf);
    let mut text = "JobIDRaw|JobID|User|Partition|Submit|Eligible|Start|End|State|TimelimitRaw|NNodes|ReqNodes|NodeList|Reason|Exclusive|AllocTRES|Priority\n".to_owned();
    for id in 1..=90 {
        let (submit, start) = (1_000 + 5 * id, 1_000 + 20 * id);
        let end = start + 20;
        text.push_str(&format!(
            "{id}|{id}|ada|high|{submit}|{submit}|{start}|{end}|COMPLETED|10|4|4|n[0-3]||NODE|cpu=4,node=4|100\n"
        ));
    }
    for (id, nodes) in [(92, 4), (93, 9)] {
        text.push_str(&format!(
            "{id}|{id}|bo|p|1200|1200|None|Unknown|PENDING|10|{nodes}|{nodes}|None assigned||NODE|cpu={nodes},node={nodes}|1\n"
        ));
    }
    put(&folder, "sacct.txt", text);
    call(&folder, IMPORT).ended(0).out_has("ended       90 completed\nnot ended   2 pending\n");
    let late = when(&folder, "92 --at 1250 --json --futures 50").json();
    for key in ["earliest", "median", "latest"] {
        assert!(late[key].as_i64().is_some_and(|start| start > 1_250), "{late:#}");
    }
    when(&folder, "93 --at 1250 --futures 20")
        .out_has("never starts: it would not fit the empty machine");
    let said = when(&folder, "93 --at 1250 --futures 20 --json");
    assert_eq!(said.json()["median"], Json::Null);
}
