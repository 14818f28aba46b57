//! Tests of `meshwork plan`, which reads a state and prints decisions as JSON.

use serde_json::{Value as Json, json};

use crate::common::{Scratch, call, meshwork, put};

const STUDY: &str = "name = 'p'\nmachine = 'mesh:4x4'\nallocator = 'first_fit'\n\
                     scheduler = 'easy'\nworkload = { name = 'lublin', load = 0.5 }\n";

const STATE: &str = r#"{ "now": 1000, "names": "n[0-15]",
  "running": [{ "id": "a", "nodes": "n[0-7]", "since": 400, "until": 1600 }],
  "waiting": [{ "id": 1, "block": [4, 3], "estimate": 3600 }, { "id": 2, "nodes": 4, "estimate": 600, "user": "u" },
    { "id": 3, "nodes": 17, "estimate": 1 }] }"#;

#[test]
fn a_policy_decides_about_nodes_by_name() {
    let folder = Scratch::with("s.toml", STUDY);
    put(&folder, "state.json", STATE);
    let said = call(&folder, "plan state.json --study s.toml").succeeded();
    let expected = r#"{"now":1000.0,"starts":[{"id":2,"nodes":"n[8-9,12-13]"}],"reserved":[{"id":1,"nodes":"n[0-11]","at":1600.0}],"never":[3],"memory":"#;
    said.out_begins(expected);
    call(&folder, "plan state.json --study s.toml --set scheduler=fcfs")
        .out_has(r#""starts":[],"reserved":[]"#);
}

#[test]
fn a_memory_continues_a_plan() {
    let folder = Scratch::with("s.toml", STUDY);
    let ask = |state: &Json, more: &[&str]| {
        put(&folder, "state.json", state.to_string());
        let arguments = ["plan", "state.json", "--study", "s.toml"];
        meshwork(&folder, &[&arguments[..], more].concat())
    };
    let answer = |state: &Json, more: &[&str]| -> Json { ask(state, more).succeeded().json() };
    let fair = ["--set", "scheduler=fair_share"];
    let row = |id: &str, user: &str| json!({ "id": id, "nodes": 16, "estimate": 50, "user": user });
    let first = json!({ "now": 0, "waiting": [row("x", "ann")] });
    let first = answer(&first, &fair);
    assert_eq!(first["starts"][0]["id"], "x");
    // Ann has used the machine. Without a memory her job is next; with a memory, Ben's job is.
    let second = json!({ "now": 40, "waiting": [row("y", "ann"), row("z", "ben")] });
    assert_eq!(answer(&second, &fair)["starts"][0]["id"], "y");
    let mut second = second;
    second["memory"] = first["memory"].clone();
    assert_eq!(answer(&second, &fair)["starts"][0]["id"], "z");
    // The state gives only the nodes and times of a running job. Its other data is in the memory.
    let held = json!({ "id": "x", "nodes": first["starts"][0]["nodes"], "since": 0, "until": 50 });
    second["running"] = json!([held]);
    second["now"] = json!(20);
    let later = answer(&second, &fair);
    assert_eq!(later["starts"], json!([]));
    assert_eq!(later["memory"]["running"][0]["job"]["user"], "ann");
    assert_eq!(later["reserved"][0]["id"], "z");
    assert_eq!(later["reserved"][0]["nodes"].as_array().unwrap().len(), 16);
    // A value that is no memory of this policy is refused with a reason.
    for (key, value, words) in [
        ("at", json!(99), "the memory is of 99, later than 20"),
        ("scheduler", json!("1 2"), "the memory is not one of this policy"),
        ("scheduler", json!("x"), "memory: x is no hexadecimal number"),
        ("allocators", json!("5"), "the memory is not one of this policy"),
        ("waiting", json!([["y"]]), "this is no state"),
        ("waiting", json!([["y", 0, u64::MAX]]), "its number is 18446744073709551615, too large"),
    ] {
        let mut wrong = second.clone();
        wrong["memory"][key] = value;
        let said = ask(&wrong, &fair).ended(2);
        assert!(said.err.contains(words) && said.err.lines().count() == 1, "{key}: {}", said.err);
    }
    // The machine is divided anew, so that a running job is moved.
    let state = json!({ "now": 9, "running": [{ "id": "a", "nodes": (0..16).collect::<Vec<u32>>(), "since": 1, "until": 25,
        "job": { "nodes": 16, "estimate": 24 } }], "waiting": [row("b", "ben")] });
    let halves = answer(&state, &["--set", "scheduler=equipartition"]);
    assert_eq!(halves["starts"][0]["nodes"], json!([2, 3, 6, 7, 10, 11, 14, 15]));
    assert_eq!(halves["moved"][0]["nodes"], json!([0, 1, 4, 5, 8, 9, 12, 13]));
    assert_eq!(halves["moved"][0]["until"], json!(41.0));
}

/// Policy for a machine on which jobs share nodes of four GPUs in two islands.
const SHARED: &str = "name = 'p'\nworkload = 'lublin'\nscheduler = 'conservative'\norder = 'most_allocated'\n\
                      machine = { topology = 'flat', processors = 3, nodes = [\n\
                      { type = 'g', cpu = 8, mem = 100, gpu = 4, islands = 2 }] }\n";

#[test]
fn parts_of_nodes_are_planned() {
    let folder = Scratch::with("s.toml", SHARED);
    let ask = |state: &Json| {
        put(&folder, "state.json", state.to_string());
        call(&folder, "plan state.json --study s.toml")
    };
    let answer = |state: &Json| -> Json { ask(state).succeeded().json() };
    let a = json!({ "node": "n0", "cpu": 4, "islands": [4, 0], "mem": 20, "gpus": [0, 1] });
    let c = json!({ "node": "n2", "pieces": 2, "cpu": 2, "islands": [1, 1], "gpus": [0, 2], "share": [0.5, 0.25] });
    let running = |id: &str, until: u32, parts: &Json| json!({ "id": id, "since": 0, "until": until, "parts": [parts] });
    let state = json!({ "now": 100, "names": "n[0-2]",
        "running": [running("a", 150, &a), { "id": "b", "since": 0, "until": 200, "nodes": "n1" }, running("c", 180, &c)],
        "waiting": [{ "id": 1, "pieces": 1, "gpu": 4, "cpu": 2, "estimate": 50 },
            { "id": 2, "pieces": 2, "gpu": 1, "cpu": 2, "mem": 10, "estimate": 20 },
            { "id": 3, "pieces": 1, "gpu": 0.5, "estimate": 900 }, { "id": 4, "pieces": 1, "gpu": 5, "estimate": 1 }] });
    let first = answer(&state);
    assert_eq!(
        first["starts"],
        json!([
            { "id": 2, "nodes": "n[0]",
              "parts": [{ "node": "n0", "pieces": 2, "cpu": 4, "islands": [0, 4], "mem": 20, "gpus": [2, 3] }] },
            { "id": 3, "nodes": "n[2]",
              "parts": [{ "node": "n2", "pieces": 1, "cpu": 1, "islands": [1, 0], "mem": 0, "gpus": [0], "share": 0.5 }] }
        ])
    );
    let whole = json!([{ "node": "n0", "pieces": 1, "cpu": 2, "islands": [2, 0], "mem": 0, "gpus": [0, 1, 2, 3] }]);
    assert_eq!(
        (&first["reserved"][0]["at"], &first["reserved"][0]["parts"]),
        (&json!(150.0), &whole)
    );
    assert_eq!(first["never"], json!([4]));
    // At the reserved instant, the job starts on the parts that were reserved for it.
    let held = |id: Json, since: u32, until: u32, parts: &Json| json!({ "id": id, "since": since, "until": until, "parts": parts });
    let third = &first["starts"][1];
    let later = json!({ "now": 150, "names": "n[0-2]", "memory": first["memory"],
        "running": [{ "id": "b", "since": 0, "until": 200, "nodes": "n1" }, running("c", 180, &c),
            held(json!(3), 100, 1000, &third["parts"])],
        "waiting": [{ "id": 1, "pieces": 1, "gpu": 4, "cpu": 2, "estimate": 50 }] });
    let later = answer(&later);
    assert_eq!((&later["starts"][0]["id"], &later["starts"][0]["parts"]), (&json!(1), &whole));
    for (part, words) in [
        (json!({ "node": "n0", "cpu": 4 }), "part of node \"n0\": islands is missing"),
        (
            json!({ "node": 0, "cpu": 4, "islands": [1, 2] }),
            "islands is [1, 2], but must have the 4 cores",
        ),
        (
            json!({ "node": 0, "cpu": 1, "islands": [1, 0], "gpus": [4] }),
            "there is no GPU 4, the node has 4",
        ),
        (
            json!({ "node": 0, "cpu": 1, "islands": [1, 0], "gpus": [1], "share": 2 }),
            "share is 2, but must be above 0 and at most 1",
        ),
        (
            json!({ "node": 0, "cpu": 1, "islands": [1, 0], "gpus": [1], "share": [1, 1] }),
            "share is [1,1]",
        ),
        (json!({ "node": 3, "cpu": 1, "islands": [1, 0] }), "there is no node 3"),
        (json!({ "node": "n7", "cpu": 1, "islands": [1, 0] }), "the machine has no node n7"),
        (json!({ "node": 0, "cpu": 0, "islands": [0, 0], "pieces": 0 }), "pieces is 0"),
        (json!({ "node": 0, "cpu": 9, "islands": [9, 0] }), "running job"),
        (json!({ "node": 0, "cpus": 9 }), "unknown field `cpus`"),
    ] {
        let mut wrong = state.clone();
        wrong["running"] = json!([running("x", 150, &part)]);
        let said = ask(&wrong);
        assert_eq!((said.status, said.err.lines().count()), (Some(2), 1), "{part}: {}", said.err);
        said.err_has(words);
    }
    put(&folder, "s.toml", STUDY);
    ask(&json!({ "now": 100, "running": [running("a", 150, &json!({ "node": 0, "cpu": 1 }))] }))
        .err_has("the nodes of the machine have no types");
}

#[test]
fn what_is_wrong_with_a_state_is_said_in_one_sentence() {
    let folder = Scratch::with("s.toml", STUDY);
    let refused = |state: &str, more: &[&str], words: &str| {
        put(&folder, "state.json", state);
        let arguments = ["plan", "state.json", "--study", "s.toml"];
        let said = meshwork(&folder, &[&arguments[..], more].concat()).refused();
        said.err_has(words);
        assert_eq!(said.err.lines().count(), 1, "{}", said.err);
    };
    let swept = format!("{STUDY}[sweep]\nscheduler = ['easy', 'fcfs']\n");
    put(&folder, "s.toml", swept);
    refused(STATE, &[], "a plan is made by one policy, and this study has 2 scenarios");
    put(&folder, "s.toml", STUDY);
    let easy = ["--set", "scheduler=easy"];
    for (state, words) in [
        ("[]", "state.json: this is no state"),
        (r#"{"now":1,"runing":[]}"#, "unknown field `runing`"),
        (r#"{"now":1,"names":"n[0-3]"}"#, "names has 4 nodes, but the machine has 16"),
        (
            r#"{"now":9,"running":[{"id":"x","nodes":[16],"since":1,"until":2}]}"#,
            "running job \"x\": there is no node 16",
        ),
        (
            r#"{"now":9,"running":[{"id":"x","nodes":"n1","since":1,"until":2}]}"#,
            "nodes is \"n1\", but must be a list of numbers",
        ),
        (
            r#"{"now":9,"running":[{"id":"x","since":1,"until":2}]}"#,
            "it must have either nodes, blocks or parts",
        ),
        (
            r#"{"now":9,"running":[{"id":"x","nodes":[1],"since":10,"until":12}]}"#,
            "started at 10, after 9",
        ),
        (
            r#"{"now":9,"running":[{"id":"x","nodes":[1],"since":8,"until":12},{"id":"y","nodes":[1],"since":7,"until":12}]}"#,
            "another job holds one of them",
        ),
        (r#"{"now":9,"waiting":[{"nodes":1,"estimate":1}]}"#, "waiting job 1 has no id"),
        (r#"{"now":9,"waiting":[{"id":"w","nodes":1}]}"#, "waiting job \"w\": it has no estimate"),
        (
            r#"{"now":9,"waiting":[{"id":"w","node":1,"estimate":1}]}"#,
            "there is no column `node` (did you mean `nodes`?",
        ),
        (r#"{"now":9,"waiting":[{"id":"w","nodes":1,"estimate":-1}]}"#, "waiting job \"w\": "),
    ] {
        refused(state, &easy, words);
    }
}
