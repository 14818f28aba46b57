//! Tests of `meshwork ops explain` and `ops defrag`.
//!
//! The state of the machine is an instant of a simulated run, or was saved by `meshwork place`.

use std::path::Path;

use crate::common::{Said, Scratch, examples, fed, meshwork, put, read};
use serde_json::{Value as Json, json};

/// Saved mesh of 4 × 2 nodes without a free 2 × 2 block.
///
/// One job holds node (1, 0), and another job holds nodes (2, 1) and (3, 1).
fn saved() -> Scratch {
    let folder = Scratch::new();
    let lines = br#"{"op":"adopt","id":"a","blocks":[{"base":[1,0],"dims":[1,1]}]}
{"op":"adopt","id":"b","blocks":[{"base":[2,1],"dims":[2,1]}]}
{"op":"snapshot"}"#;
    let arguments = ["place", "--machine", "mesh:4x2", "--state", "state.json"];
    let said = fed(&folder, &arguments, lines).ended(0);
    put(&folder, "answers.txt", said.out);
    folder
}

/// Run of nine jobs. At time 2 the third waits for a block, and the fourth behind the third.
fn results() -> Scratch {
    let folder = Scratch::new();
    let study = examples().join("shapes.toml");
    meshwork(&folder, &["run", study.to_str().unwrap(), "--out", "results", "--quiet"]).ended(0);
    folder
}

fn ops(folder: &Path, words: &str) -> Said {
    let words: Vec<&str> = ["ops"].into_iter().chain(words.split(' ')).collect();
    meshwork(folder, &words)
}

fn told(folder: &Path, words: &str) -> Json {
    ops(folder, &format!("{words} --json")).json()
}

#[test]
fn what_a_pool_has_saved_says_why_a_shape_would_wait() {
    let folder = saved();
    let said = ops(&folder, "explain state.json --shape 2x2");
    let expected = "\
a job of 2x2 at time 0: 5 nodes are free, enough for its 2x2, but in no allowed shape
  near: 0,0:2x2; in the way: job a
  near: 2,0:2x2; in the way: job b
  could start now if job a or job b ended
  could start now after a move of job a to 2,0:1x1
";
    assert_eq!((said.status, said.out.as_str()), (Some(0), expected), "{said:?}");
    // A file with the answers to `snapshot` works like the file of --state.
    assert_eq!(ops(&folder, "explain answers.txt --shape 2x2").out, expected);
    let few = told(&folder, "explain state.json --shape 6");
    assert_eq!((&few["reason"], &few["free"]), (&json!("nodes"), &json!([5])));
    ops(&folder, "explain state.json --shape 5x1")
        .out_is("a job of 5x1 at time 0: it never starts: it would not fit the empty machine\n");
    ops(&folder, "explain state.json --shape 1x2")
        .out_is("a job of 1x2 at time 0: it can start now\n  there is room for it on 0,0:1x2\n");
}

#[test]
fn what_a_pool_has_saved_says_what_makes_room() {
    let folder = saved();
    let said = ops(&folder, "defrag state.json --shape 2x2");
    let expected = "\
0,0:2x2 becomes free at a cost of 1 move
  job a moves from 1,0:1x1 to 2,0:1x1
2,0:2x2 becomes free at a cost of 1 move
  job b moves from 2,1:2x1 to 0,1:2x1
";
    assert_eq!((said.status, said.out.as_str()), (Some(0), expected), "{said:?}");
    ops(&folder, "defrag state.json --shape 2x2 --exempt a --cost nodes")
        .out_begins("2,0:2x2 becomes free at a cost of 2 moved nodes\n  job b moves");
    ops(&folder, "defrag state.json --shape 1x2").ended(0).out_is("0,0:1x2 is free\n");
    ops(&folder, "defrag state.json --shape 3x2").ended(1).out_is("no moves make room for 3x2\n");
}

#[test]
fn a_stored_run_says_why_a_job_waits() {
    let folder = results();
    let said = ops(&folder, "explain results 3 --run 1 --at 2");
    let expected = "\
job 3 waits at 2: 15 nodes are free, enough for its 4x3, but in no allowed shape
  near: 3,0:4x3; in the way: job 2 until 6
  earliest start by the estimates: 6 on 3,0:4x3 if all start in order of arrival; if it were first: 6 on 3,0:4x3
  could start now if job 2 ended
  could start now under an allocator or in an orientation that takes 5,0:3x4, which is free
";
    assert_eq!((said.status, said.out.as_str()), (Some(0), expected), "{said:?}");
    let said = ops(&folder, "explain results 4 --run 1/1 --at 2");
    let expected = "\
job 4 waits at 2: it could start, but others come before it
  there is room for it on 5,0:2x2
  earliest start by the estimates: 12 on 0,0:2x2 if all start in order of arrival; if it were first: 2 on 5,0:2x2
";
    assert_eq!((said.status, said.out.as_str()), (Some(0), expected), "{said:?}");
    // Under `easy` the fourth job has started before the third, for which nodes are reserved.
    let third = told(&folder, "explain results 3 --run 2 --at 2");
    assert_eq!((&third["reason"], &third["promised"]), (&json!("nodes"), &json!(6.0)));
    assert_eq!(
        third["nearest"][0]["jobs"],
        json!([{ "job": "2", "until": 6.0 }, { "job": "4", "until": 5.0 }])
    );
    ops(&folder, "explain results 4 --run 2 --at 2").err_has("job 4 runs, and does not wait");
    ops(&folder, "defrag results --run 1 --at 2 --shape 3x4").ended(0).out_is("5,0:3x4 is free\n");
    let said = ops(&folder, "defrag results --run 1 --at 2 --shape 4x3").ended(1);
    said.out_is("no moves make room for 4x3\n");
}

#[test]
fn what_is_wrong_is_one_sentence() {
    let (pool, run) = (saved(), results());
    let sealed = read(&pool, "state.json");
    // This is a state in the format of the first release.
    let state = format!("{}}}\n", sealed.split_once(",\"blake3\"").unwrap().0);
    let write = |name: &str, text: String| put(&pool, name, text);
    write("old.json", state.replace("\"model_version\":", "\"model_version\":9"));
    write("changed.json", sealed.replace("\"held\":", "\"helt\":"));
    write("format.json", state.replace("\"format\":1", "\"format\":7"));
    write("damaged.json", state.replace("\"held\":", "\"helt\":"));
    for (folder, words, sentence) in [
        (&pool, "explain state.json a", "job a runs, and does not wait"),
        (&pool, "explain state.json x", "no job x waits: `meshwork place` has no queue"),
        (&pool, "explain state.json --shape 2x", "--shape: `2x` is no shape"),
        (
            &pool,
            "explain old.json --shape 2",
            "old.json, line 1: the snapshot is of model version 9",
        ),
        (
            &pool,
            "explain changed.json --shape 2",
            "changed.json: this state is damaged, or was changed by hand: its digest is another",
        ),
        (&pool, "explain format.json --shape 2", "the snapshot is of format 7"),
        (&pool, "explain damaged.json --shape 2", "damaged.json, line 1: the snapshot is damaged"),
        (
            &pool,
            "explain state.json --shape 2 --max-memory 100",
            "state.json, line 1: its machine takes",
        ),
        (
            &pool,
            "defrag state.json --shape 5x5",
            "there is never room for 5x5: it would not fit 4 × 2 mesh",
        ),
        (
            &pool,
            "defrag state.json --shape 2x2 --exempt a,b",
            "no job may be moved: all are exempt",
        ),
        (
            &pool,
            "defrag state.json --shape 2x2 --exempt c",
            "--exempt: no job c runs in this state",
        ),
        (
            &pool,
            "defrag state.json --shape 2x2 --site 2",
            "--site 2: the sites of this machine are 1 to 1",
        ),
        (
            &pool,
            "defrag state.json --shape 2x2 --partition p",
            "--partition: this machine has none",
        ),
        (&run, "explain results 3", "the run and the instant are needed: --run 3 --at 86400"),
        (&run, "explain results 3 --run 9 --at 2", "there is no scenario 9: the study has 3"),
        (&run, "explain results 3 --run 1/5 --at 2", "scenario 1 has no replication 5"),
        (&run, "explain results 3 --run a --at 2", "as in 3/2"),
        (&run, "explain results 3 --run 1 --at 999", "says nothing of 999: it goes from 0 to"),
        (&run, "explain results 77 --run 1 --at 2", "no job 77 waits at 2"),
        (&run, "explain nowhere 3 --run 1 --at 2", "there is no such folder"),
    ] {
        let said = ops(folder, words).refused();
        assert!(said.err.contains(sentence), "{words}: {said:?}");
    }
}
