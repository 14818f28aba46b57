//! Tests of `meshwork place --slurm` and `meshwork ops check`, used as an operator uses them.

use std::fs;
use std::io::Write;
use std::path::Path;

use crate::common::{Said, Scratch, call, examples, fed, meshwork, put, skip};
use serde_json::{Value as Json, json};

/// Two rings of four nodes, the second in an unusual order, and two nodes in no ring.
const RINGS: &str = "- topology: rings\n  ring:\n    rings:\n      - {ring: a, nodes: 'n[00-03]'}\n      - {ring: b, nodes: 'n[07,05,06,04]'}\n";
const CONF: &str =
    "NodeName=n[00-09] CPUs=4\nPartitionName=p Nodes=ALL Default=YES Topology=rings\n";

fn place(folder: &Path, more: &[&str], lines: &str) -> Said {
    let files = ["--slurm", "topology.yaml", "--conf", "slurm.conf"];
    place_with(folder, &[&files, more].concat(), lines)
}

fn place_with(folder: &Path, words: &[&str], lines: &str) -> Said {
    fed(folder, &[&["place"], words].concat(), lines)
}

fn site(topology: &str, conf: &str) -> Scratch {
    let folder = Scratch::with("topology.yaml", topology);
    put(&folder, "slurm.conf", conf);
    folder
}

#[test]
fn every_question_is_answered_by_a_line_with_names() {
    let folder = site(RINGS, CONF);
    let said = place(
        &folder,
        &[],
        r#"{"op":"allocate","id":"a","nodes":3}
{"op":"allocate","id":7,"nodes":2,"dry":true}
{"op":"allocate","id":7,"nodes":2}

nonsense
{"op":"allocate","id":"b","nodes":3}
{"op":"allocate","id":"b","nodes":5}
{"op":"allocate","id":"b","nodes":4,"segment":2}
{"op":"allocate","id":"b","nodes":11}
{"op":"allocate","id":"b","nodes":1,"exclude":"n[00-08]"}
{"op":"allocate","id":"c","nodes":2,"require":"n0x"}
{"op":"allocate","id":"c","nodes":2,"require":"n[0"}
{"op":"allocate","id":"a","nodes":2}
{"op":"allocate","id":"c","nodes":0}
{"op":"allocate","id":"c","nodes":2,"nodes_max":1}
{"op":"allocate","id":"c","nodes":2,"exclusive":true}
{"op":"allocate","id":"c","nodes":2,"contigous":true}
{"op":"allocate","nodes":2}
{"op":"release","id":"x"}
{"op":"release","id":"a"}
{"op":"allocate","id":"s","nodes":3,"share":2}
{"op":"allocate","id":"t","nodes":3,"share":2}
{"op":"allocate","id":"u","nodes":4,"share":5}
{"op":"show"}
[]"#,
    );
    let expected = r#"{"id":"a","nodes":"n[00-02]"}
{"id":7,"nodes":"n[05,07]"}
{"id":7,"nodes":"n[05,07]"}
{"error":"this line is empty, but must be an object, as in {\"op\":\"show\"}","line":4}
{"error":"this is not JSON (column 2)","line":5}
{"id":"b","wait":"shape","reason":"No suitable topology unit found"}
{"id":"b","never":"Requested node configuration is not available"}
{"id":"b","wait":"shape","reason":"No suitable topology unit found"}
{"id":"b","never":"Requested partition configuration not available now"}
{"id":"b","nodes":"n[09]"}
{"id":"c","never":"Invalid node name specified"}
{"id":"c","error":"`require`: the list `n[0` has a bracket that is not closed","line":12}
{"id":"a","error":"\"a\" is held already: release it first","line":13}
{"id":"c","error":"`nodes` is 0, but must be a whole number from 1 to 4294967295","line":14}
{"id":"c","error":"`nodes_max` is 1, but must be at least `nodes`, 2","line":15}
{"id":"c","error":"`exclusive` is true, but must be \"topo\", or be left out","line":16}
{"id":"c","error":"unknown key `contigous` (did you mean `contiguous`? known to `allocate`: op, id, nodes, nodes_max, segment, spread_segments, consolidate_segments, switches, contiguous, require, exclude, exclusive, share, dry, options)","line":17}
{"error":"`id` is missing: a text or a whole number of your choice","line":18}
{"id":"x","error":"\"x\" is not held, so it cannot be released","line":19}
{"id":"a","released":3}
{"id":"s","nodes":"n[00-02]"}
{"id":"t","nodes":"n[00-02]"}
{"id":"u","never":"Requested node configuration is not available"}
{"free":4,"nodes":10,"held":[{"id":7,"nodes":"n[05,07]"},{"id":"b","nodes":"n[09]"},{"id":"s","nodes":"n[00-02]"},{"id":"t","nodes":"n[00-02]"}]}
{"error":"a line must be an object, as in {\"op\":\"show\"}","line":25}
"#;
    assert_eq!((said.out.as_str(), said.err.as_str()), (expected, ""));
    assert_eq!(said.status, Some(1), "some lines were refused");
}

#[test]
fn a_job_that_shares_no_block_has_all_of_its_own() {
    let topology = "- topology: racks\n  block:\n    block_sizes: [4]\n    blocks:\n      - {block: a, nodes: 'n[00-03]'}\n      \
                    - {block: b, nodes: 'n[04-07]'}\n      - {block: c, nodes: 'n[08-11]'}\n";
    let conf = "NodeName=n[00-11] CPUs=4\nPartitionName=p Nodes=ALL Default=YES Topology=racks\n";
    let folder = site(topology, conf);
    let said = place(
        &folder,
        &[],
        r#"{"op":"allocate","id":"a","nodes":2}
{"op":"allocate","id":"x","nodes":1,"exclusive":"topo"}
{"op":"allocate","id":"b","nodes":2}
{"op":"allocate","id":"c","nodes":3}
{"op":"allocate","id":"y","nodes":1,"exclusive":"topo"}
{"op":"allocate","id":"d","nodes":1}
{"op":"allocate","id":"e","nodes":1}
{"op":"release","id":"a"}
{"op":"allocate","id":"y","nodes":1,"exclusive":"topo"}
{"op":"release","id":"b"}
{"op":"allocate","id":"y","nodes":2,"exclusive":"topo"}
{"op":"allocate","id":"e","nodes":1,"share":1}
{"op":"allocate","id":"e","nodes":5,"exclusive":"topo"}
{"op":"release","id":"x"}
{"op":"allocate","id":"e","nodes":1,"share":1}
"#,
    );
    let busy = r#""wait":"nodes","reason":"Requested nodes are busy""#;
    let expected = [
        r#"{"id":"a","nodes":"n[08-09]"}"#.to_owned(),
        r#"{"id":"x","nodes":"n[00]"}"#.to_owned(),
        r#"{"id":"b","nodes":"n[10-11]"}"#.to_owned(),
        r#"{"id":"c","nodes":"n[04-06]"}"#.to_owned(),
        format!(r#"{{"id":"y",{busy}}}"#),
        r#"{"id":"d","nodes":"n[07]"}"#.to_owned(),
        format!(r#"{{"id":"e",{busy}}}"#),
        r#"{"id":"a","released":2}"#.to_owned(),
        format!(r#"{{"id":"y",{busy}}}"#),
        r#"{"id":"b","released":2}"#.to_owned(),
        r#"{"id":"y","nodes":"n[08-09]"}"#.to_owned(),
        format!(r#"{{"id":"e",{busy}}}"#),
        format!(r#"{{"id":"e",{busy}}}"#),
        r#"{"id":"x","released":1}"#.to_owned(),
        r#"{"id":"e","nodes":"n[00]"}"#.to_owned(),
    ];
    let lines: Vec<&str> = said.out.lines().collect();
    assert_eq!(lines, expected, "{}", said.err);
}

#[test]
fn the_edges_of_the_rules_are_those_of_slurm() {
    let conf = |nodes: &str| format!("{nodes}\nPartitionName=p Nodes=ALL Default=YES\n");
    let sixteen_blocks: Vec<String> = (0..16)
        .map(|i| format!("{{block: b{i}, nodes: 'n[{:02}-{:02}]'}}", 4 * i, 4 * i + 3))
        .collect();
    let blocks = format!(
        "- topology: t\n  block: {{block_sizes: [4, 16], blocks: [{}]}}\n",
        sixteen_blocks.join(", ")
    );
    let toruses = "- topology: t\n  torus3d:\n    toruses:\n      - {name: a, dims: {x: 4, y: 2, z: 1}, nodes: 'n[0-7]', \
                   placements: [{dims: {x: 4, y: 1, z: 1}}]}\n      - {name: b, dims: {x: 4, y: 2, z: 1}, regions: [{dims: \
                   {x: 4, y: 1, z: 1}, nodes: 'n[8-11]'}, {anchor: {y: 1}, dims: {x: 2, y: 1, z: 1}, nodes: 'n[12-13]'}], \
                   placements: [{dims: {x: 2, y: 1, z: 1}}]}\n";
    let tree = "- topology: t\n  tree: {switches: [{switch: a, nodes: 'n[0-4]'}, {switch: b, nodes: 'n[5-9]'}, \
                {switch: c, children: 'a,b'}]}\n";
    let cases = [
        (
            "there are three boxes of 2, all in the second torus: four segments wait for ever",
            toruses,
            conf("NodeName=n[0-13]"),
            r#"{"op":"allocate","id":"a","nodes":6,"segment":2,"dry":true}
{"op":"allocate","id":"a","nodes":8,"segment":2}
{"op":"allocate","id":"a","nodes":9,"segment":3}"#,
            r#"{"id":"a","nodes":"n[8-13]"}
{"id":"a","wait":"shape","reason":"No suitable topology unit found"}
{"id":"a","never":"Requested topology configuration is not available"}"#,
        ),
        (
            "a base block that is full is picked before one of another sixteen, and gives nothing",
            blocks.as_str(),
            conf("NodeName=n[00-63]"),
            r#"{"op":"allocate","id":"a","nodes":4,"require":"n[04-07]"}
{"op":"allocate","id":"b","nodes":28,"require":"n[00,16]","dry":true}
{"op":"allocate","id":"b","nodes":36,"require":"n[00,16]"}
{"op":"release","id":"a"}
{"op":"allocate","id":"b","nodes":36,"require":"n[00,16]"}"#,
            r#"{"id":"a","nodes":"n[04-07]"}
{"id":"b","nodes":"n[00-03,08-31]"}
{"id":"b","wait":"shape","reason":"Insufficient resources in topology unit"}
{"id":"a","released":4}
{"id":"b","nodes":"n[00-31,60-63]"}"#,
        ),
        (
            "a contiguous job goes on beyond its run, up to its most",
            tree,
            conf("NodeName=n[0-9]"),
            r#"{"op":"allocate","id":"a","nodes":1,"require":"n3"}
{"op":"allocate","id":"b","nodes":2,"nodes_max":7,"contiguous":true}"#,
            r#"{"id":"a","nodes":"n[3]"}
{"id":"b","nodes":"n[0-2,4-7]"}"#,
        ),
        (
            "a required node has no weight: the run behind it is of its own",
            "- {topology: t, flat: true}\n",
            conf("NodeName=n[0-2]\nNodeName=n3 Weight=9\nNodeName=n[4-7]"),
            r#"{"op":"allocate","id":"a","nodes":1,"require":"n2"}
{"op":"allocate","id":"b","nodes":3,"require":"n3","dry":true}
{"op":"release","id":"a"}
{"op":"allocate","id":"b","nodes":3,"require":"n3"}"#,
            r#"{"id":"a","nodes":"n[2]"}
{"id":"b","nodes":"n[3-5]"}
{"id":"a","released":1}
{"id":"b","nodes":"n[0-1,3]"}"#,
        ),
    ];
    for (name, topology, conf, questions, answers) in cases {
        let folder = site(topology, &conf);
        let said = place(&folder, &[], questions);
        assert_eq!(said.out.trim_end(), answers, "{name}\n{}", said.err);
    }
}

#[test]
fn a_wrong_file_or_partition_is_one_sentence() {
    let folder = site(RINGS, CONF);
    let refused = |more: &[&str]| place(&folder, more, "").refused().err;
    assert_eq!(
        refused(&["--partition", "q"]),
        "error: --slurm slurm.conf: there is no partition q (there are: p)\n"
    );
    put(&folder, "topology.yaml", "- topology: t\n  dragonfly: {}\n");
    assert_eq!(
        refused(&[]),
        "error: --slurm topology.yaml, line 1: this topology has none of block, flat, ring, torus3d, tree, one of which \
         says what it is (Slurm says: fatal: Failed to initialize topology plugin)\n"
    );
    fs::remove_file(folder.join("topology.yaml")).unwrap();
    assert!(refused(&[]).contains("topology.yaml: there is no such file"));
    call(&folder, "place --slurm t --machine mesh:2x2").ended(2);
    call(&folder, "place").ended(2);
}

#[test]
fn a_check_says_whether_slurm_starts() {
    let folder = site(RINGS, CONF);
    let check = |arguments: &[&str]| {
        let all: Vec<&str> =
            ["ops", "check", "topology.yaml"].iter().chain(arguments).copied().collect();
        meshwork(&folder, &all)
    };
    let sound = check(&["--conf", "slurm.conf"]).succeeded();
    sound.out_has("warning: topology.yaml, line 1: no ring has the nodes n[08-09]");
    sound.out_ends("Slurm starts with topology.yaml and slurm.conf: 2 warnings\n");
    put(&folder, "topology.yaml", RINGS.replace("ring: b", "ring: a"));
    let refused = check(&["--json"]);
    assert_eq!((refused.status, refused.err.as_str()), (Some(1), ""));
    let answer = refused.json();
    assert_eq!(answer["starts"], false);
    assert_eq!(
        answer["findings"][0],
        json!({
            "level": "fatal", "file": "topology.yaml", "line": 5,
            "says": "a ring is named a here and in line 4",
            "slurm": ["fatal: Ring (a) has already been defined"]
        })
    );
    fs::remove_file(folder.join("topology.yaml")).unwrap();
    check(&[]).refused();
}

#[test]
fn a_flat_machine_needs_its_slurm_conf_only() {
    let folder = site(RINGS, "NodeName=n[0-3] CPUs=2\nPartitionName=p Nodes=ALL Default=YES\n");
    let check = |arguments: &[&str]| {
        let all: Vec<&str> = ["ops", "check"].iter().chain(arguments).copied().collect();
        meshwork(&folder, &all)
    };
    let sound = check(&["--conf", "slurm.conf"]).succeeded();
    let ending = "as far as was checked, Slurm starts with slurm.conf: 0 warnings\n";
    sound.out_ends(ending);
    assert_eq!(check(&["--conf", "slurm.conf", "--json"]).json()["file"], Json::Null);
    place_with(
        &folder,
        &["--conf", "slurm.conf"],
        "{\"op\":\"allocate\",\"id\":\"a\",\"nodes\":3}\n{\"op\":\"show\"\n",
    ).out_is(
        "{\"id\":\"a\",\"nodes\":\"n[0-2]\"}\n\
         {\"error\":\"this is not JSON: the line ends before a brace or a quote is closed\",\"line\":2}\n",
    );
    check(&["slurm.conf"]).ended(1).out_is(
        "refused: slurm.conf, line 1: this is a slurm.conf, and no topology file: give it with --conf\n\n\
         Slurm would not start with slurm.conf as its topology file: 0 warnings\n",
    );
    let tree = "TopologyPlugin=topology/tree\nNodeName=n[0-3]\nPartitionName=p Nodes=ALL\n";
    put(&folder, "slurm.conf", tree);
    let lacking = check(&["--conf", "slurm.conf"]).ended(1);
    let says = "line 1: TopologyPlugin is topology/tree, so give its topology file too";
    lacking.out_has(says);
}

#[test]
fn recorded_decisions_come_out_of_the_command() {
    for kind in ["torus3d", "block", "ring", "tree"] {
        let path = examples().join(format!("../../shared/placement/slurm-{kind}-cases.json"));
        let Ok(bytes) = fs::read(&path) else {
            skip("logs", &format!("no recorded decisions in {}", path.display()));
            continue;
        };
        let case: Json = serde_json::from_slice(&bytes).unwrap();
        let run = &case["runs"][0];
        let machine = &case["machines"][run["machine"].as_str().unwrap()];
        let list = machine["nodes"].as_str().unwrap();
        let conf = format!("NodeName={list} CPUs=2\nPartitionName=p Nodes={list} Default=YES\n");
        let folder = site(machine["topology_yaml"].as_str().unwrap(), &conf);
        let keys = [
            ("n", "nodes"),
            ("nmax", "nodes_max"),
            ("segment", "segment"),
            ("w", "require"),
            ("x", "exclude"),
            ("switches", "switches"),
        ];
        let flags = [
            ("spread", "spread_segments"),
            ("consolidate", "consolidate_segments"),
            ("contiguous", "contiguous"),
        ];
        let (mut lines, mut expected) = (Vec::new(), Vec::new());
        for step in run["steps"].as_array().unwrap() {
            if let Some(end) = step.get("end") {
                writeln!(lines, "{}", json!({ "op": "release", "id": end })).unwrap();
                expected.push(None);
                continue;
            }
            let mut question = json!({ "op": "allocate", "id": step["sub"] });
            for (from, to) in keys.into_iter().filter(|(from, _)| step.get(from).is_some()) {
                question[to] = step[from].clone();
            }
            for (_, to) in flags.into_iter().filter(|(from, _)| step.get(from).is_some()) {
                question[to] = true.into();
            }
            writeln!(lines, "{question}").unwrap();
            expected.push(Some(step["got"].as_str().unwrap().to_owned()));
        }
        let said = place(&folder, &[], &String::from_utf8(lines).unwrap());
        for (answer, expected) in said.out.lines().zip(&expected) {
            let Some(expected) = expected else { continue };
            let answer: Json = serde_json::from_str(answer).unwrap();
            match expected.as_str() {
                "wait" => assert!(answer["wait"].is_string(), "{answer}"),
                "reject" => assert!(answer["never"].is_string(), "{answer}"),
                nodes => assert_eq!(answer["nodes"].as_str(), Some(nodes), "{answer}"),
            }
        }
        assert_eq!(said.out.lines().count(), expected.len());
    }
}
