//! Tests of `meshwork place` in the role of an allocator for an external scheduler.

use crate::common;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::Stdio;

use crate::common::{Said, Scratch, command, fed, said};

fn place(arguments: &[&str], lines: &[u8]) -> Said {
    fed(".", &[&["place"], arguments].concat(), lines)
}

#[test]
fn every_line_is_answered_by_a_line() {
    let said = place(
        &["--machine", "mesh:8x8", "--allocator", "{name='first_fit', rotation='best'}"],
        br#"{"op":"allocate","id":"a","block":[3,5]}
{"op":"allocate","id":7,"nodes":7,"at":2.5}

{"op":"allocate","id":"c","block":[9,5]}
{"op":"allocate","id":"d","block":[8,4]}
{"op":"show"}
{"op":"release","id":"b"}
{"op":"allocate","id":"a","block":[3,5]}
{"op":"release","id":"a","at":1}
{"op":"release","id":"a","at":3}
nonsense
{"op":"relese","id":"x"}
{"op":"allocate","id":"x","blok":[3]}
{"op":"allocate","id":"x","block":[3,0]}
{"op":"allocate","id":"x","nodes":3,"subcube":2}
{"op":"allocate","nodes":3}
{"op":"allocate","id":[1],"nodes":3}
[1]
{"op":"show"}"#,
    );
    let expected = r#"{"id":"a","blocks":[{"base":[0,0],"dims":[3,5]}]}
{"id":7,"blocks":[{"base":[3,0],"dims":[4,2]}]}
{"error":"this line is empty, but must be an object, as in {\"op\":\"show\"}","line":3}
{"id":"c","blocks":null,"never":true}
{"id":"d","blocks":null}
{"at":2.5,"free":41,"nodes":64,"held":[{"id":7,"letter":"B","blocks":[{"base":[3,0],"dims":[4,2]}]},{"id":"a","letter":"A","blocks":[{"base":[0,0],"dims":[3,5]}]}],"drawing":["AAABBBB.","AAABBBB.","AAA.....","AAA.....","AAA.....","........","........","........"]}
{"id":"b","error":"\"b\" is not held, so it cannot be released","line":7}
{"id":"a","error":"\"a\" is held already: release it first","line":8}
{"id":"a","error":"`at` is 1, but it is 2.5 already, and time does not go back","line":9}
{"id":"a","released":15}
{"error":"this is not JSON (column 2)","line":11}
{"id":"x","error":"`op` is \"relese\", but must be \"allocate\", \"release\", \"can\", \"free\", \"show\", \"adopt\", \"hold_exactly\", \"snapshot\" or \"restore\" (did you mean \"release\"?)","line":12}
{"id":"x","error":"unknown key `blok` (did you mean `block`? known to `allocate`: op, id, at, block, nodes, subcube)","line":13}
{"id":"x","error":"`block` is [3,0], but must be a list of whole numbers from 1 to 4294967295","line":14}
{"id":"x","error":"give one of `block` ([3,5]), `nodes` (15) and `subcube` (4)","line":15}
{"error":"`id` is missing: a text or a whole number of your choice","line":16}
{"error":"`id` is [1], but must be a text or a whole number","line":17}
{"error":"a line must be an object, as in {\"op\":\"show\"}","line":18}
{"at":3.0,"free":56,"nodes":64,"held":[{"id":7,"letter":"B","blocks":[{"base":[3,0],"dims":[4,2]}]}],"drawing":["...BBBB.","...BBBB.","........","........","........","........","........","........"]}
"#;
    assert_eq!((said.out.as_str(), said.err.as_str()), (expected, ""));
    assert_eq!(said.status, Some(1), "some lines were refused");
}

#[test]
fn an_answer_comes_before_the_next_question() {
    let mut child = command(Path::new("."), &["place", "--machine", "hypercube:4"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut questions = child.stdin.take().unwrap();
    let mut answers = BufReader::new(child.stdout.take().unwrap()).lines();
    for (question, answer) in [
        (
            r#"{"op":"allocate","id":"a","subcube":2}"#,
            r#"{"id":"a","blocks":[{"base":[0,0,0,0],"dims":[2,2,1,1]}]}"#,
        ),
        (r#"{"op":"allocate","id":"b","subcube":4}"#, r#"{"id":"b","blocks":null}"#),
        (
            "",
            r#"{"error":"this line is empty, but must be an object, as in {\"op\":\"show\"}","line":3}"#,
        ),
        (
            " \t\r",
            r#"{"error":"this line is empty, but must be an object, as in {\"op\":\"show\"}","line":4}"#,
        ),
        (r#"{"op":"release","id":"a"}"#, r#"{"id":"a","released":4}"#),
    ] {
        writeln!(questions, "{question}").unwrap();
        assert_eq!(answers.next().unwrap().unwrap(), answer);
    }
    drop(questions);
    assert!(answers.next().is_none());
    assert_eq!(child.wait().unwrap().code(), Some(1), "two lines were empty");
}

#[test]
fn bytes_that_are_no_text_and_lines_without_end_are_refused_and_the_rest_goes_on() {
    let mut lines = vec![b'x'; (1 << 24) + 17];
    // The last line has no line break.
    lines.extend(b"\n\xff\xfe\n\n{\"op\":\"allocate\",\"id\":1,\"nodes\":3}");
    place(&["--machine", "flat:4"], &lines).ended(1).out_is(
        "{\"error\":\"a line has at most 16777216 bytes, this one has more\",\"line\":1}\n\
         {\"error\":\"this is not JSON (column 1)\",\"line\":2}\n\
         {\"error\":\"this line is empty, but must be an object, as in {\\\"op\\\":\\\"show\\\"}\",\"line\":3}\n\
         {\"id\":1,\"blocks\":[{\"base\":[0],\"dims\":[3]}]}\n",
    );
    place(&["--machine", "flat:4"], b"").ended(0).out_is("");
}

#[test]
fn a_wrong_machine_or_allocator_is_one_sentence() {
    for (machine, allocator, sentence) in [
        (
            "mesh",
            "ff",
            "--machine mesh: `` is no size of a mesh: write `mesh:8x8`, or a table as in a study",
        ),
        (
            "mesh:0x3",
            "ff",
            "--machine mesh:0x3: `machine.dims` is [0, 3], but must be a list of whole numbers from 1 to \
             16777216",
        ),
        (
            "mesh:4x4",
            "{name='ff', rotaton='best'}",
            "--allocator {name='ff', rotaton='best'}: unknown key `rotaton` in `allocator` (did you mean \
             `rotation`? known: name, rotation, scan)",
        ),
        (
            "{sites=[{topology='flat',processors=3}]}",
            "naive",
            "--machine {sites=[{topology='flat',processors=3}]}: `machine` has a list of sites (1), but a \
             pool is a single site: give its `topology`",
        ),
    ] {
        let said = place(&["--machine", machine, "--allocator", allocator], b"").refused();
        said.err_is(&format!("error: {sentence}\n"));
    }
    place(&["--machine", "flat:4", "--allocator", "first_fit"], b"")
        .err_begins("error: --allocator first_fit: the allocator `first_fit` serves mesh");
}

#[test]
fn a_full_disk_is_told() {
    if !Path::new("/dev/full").exists() {
        common::skip("tools", "there is no /dev/full here");
        return;
    }
    let full = File::options().write(true).open("/dev/full").unwrap();
    let mut child = command(Path::new("."), &["place", "--machine", "flat:4"])
        .stdin(Stdio::piped())
        .stdout(full)
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // The program may end before the whole input is written to it.
    let _ = writeln!(child.stdin.take().unwrap(), "{{\"op\":\"show\"}}");
    let said = said(&child.wait_with_output().unwrap()).ended(1);
    said.err_is("error: standard output cannot be written, the disk is full\n");
}

const TORUS: [&str; 2] = ["--machine", "torus:8x8x8"];

#[test]
fn what_would_be_given_and_what_is_free_can_be_asked_without_taking_anything() {
    let said = place(
        &["--machine", "mesh:8x4"],
        br#"{"op":"can","block":[2,2]}
{"op":"can","id":"who","block":[9,1]}
{"op":"adopt","id":"x","blocks":[{"base":[0,0],"dims":[2,2]},{"base":[7,3],"dims":[1,1]}]}
{"op":"can","nodes":4}
{"op":"free"}
{"op":"free","ratio":[2,1],"at":3}
{"op":"free","ratio":[4,2],"id":5}
{"op":"free","ratio":[1]}
{"op":"free","ratio":[0,1]}
{"op":"adopt","id":"y","blocks":[{"base":[1,1],"dims":[2,2]}],"at":9}
{"op":"adopt","id":"y","blocks":[{"base":[7,0],"dims":[2,2]}]}
{"op":"adopt","id":"y","blocks":[{"base":[3,0],"dims":[2,2]},{"base":[4,0],"dims":[2,2]}]}
{"op":"adopt","id":"y","blocks":[]}
{"op":"adopt","id":"y","blocks":[{"base":[0]}]}
{"op":"adopt","id":"x","blocks":[{"base":[4,0],"dims":[1,1]}]}
{"op":"show"}
{"op":"release","id":"x"}
"#,
    );
    let example = r#"a list of blocks, as in [{\"base\":[0,0],\"dims\":[3,5]}]"#;
    let expected = r#"{"blocks":[{"base":[0,0],"dims":[2,2]}]}
{"id":"who","blocks":null,"never":true}
{"id":"x","blocks":[{"base":[0,0],"dims":[2,2]},{"base":[7,3],"dims":[1,1]}]}
{"blocks":[{"base":[2,0],"dims":[2,2]}]}
{"at":0.0,"free":27,"nodes":32,"largest":{"base":[2,0],"dims":[4,4]}}
{"at":3.0,"free":27,"nodes":32,"largest":{"base":[2,0],"dims":[6,3]}}
{"id":5,"at":3.0,"free":27,"nodes":32,"largest":{"base":[2,0],"dims":[6,3]}}
{"error":"the ratio is [1], but must have a whole number above 0 for each of the 2 dimensions","line":8}
{"error":"`ratio` is [0,1], but must be a list of whole numbers from 1, as in [2,1]","line":9}
{"id":"y","error":"the placement 1,1:2x2 is not free","line":10}
{"id":"y","error":"a block with base [7, 0] and dims [2, 2] does not lie on an 8 × 4 mesh","line":11}
{"id":"y","error":"the placement 3,0:2x2;4,0:2x2 is not free","line":12}
{"id":"y","error":"a placement has at least one block, and this one has none","line":13}
{"id":"y","error":"`blocks` is [{\"base\":[0]}], but must be EXAMPLE","line":14}
{"id":"x","error":"\"x\" is held already: release it first","line":15}
{"at":3.0,"free":27,"nodes":32,"held":[{"id":"x","letter":"A","blocks":[{"base":[0,0],"dims":[2,2]},{"base":[7,3],"dims":[1,1]}]}],"drawing":["AA......","AA......","........",".......A"]}
{"id":"x","released":5}
"#;
    assert_eq!(said.out, expected.replace("EXAMPLE", example));
    for (machine, largest) in [
        ("hypercube:3", r#""largest":{"base":[0,0,0],"dims":[2,2,2]}"#),
        ("flat:7", r#""largest":null"#),
    ] {
        let said =
            place(&["--machine", machine], b"{\"op\":\"free\"}\n{\"op\":\"free\",\"ratio\":[1]}");
        said.out_has(largest);
        said.out_has("a ratio is that of the sides of a block on a mesh or torus");
    }
}

#[test]
fn a_snapshot_is_gone_on_from_and_another_one_is_refused_without_a_change() {
    let questions =
        b"{\"op\":\"allocate\",\"id\":\"a\",\"nodes\":7,\"at\":2.5}\n{\"op\":\"snapshot\"}\n\
                      {\"op\":\"allocate\",\"id\":\"b\",\"nodes\":5}\n{\"op\":\"show\"}\n";
    let random = [TORUS[0], TORUS[1], "--allocator", "random"];
    let first = place(&random, questions);
    let lines: Vec<&str> = first.out.lines().collect();
    let snapshot = lines[1].strip_prefix('{').unwrap();
    let again = format!(
        "{{\"op\":\"allocate\",\"id\":\"z\",\"nodes\":3}}\n{{\"op\":\"restore\",{snapshot}\n\
         {{\"op\":\"allocate\",\"id\":\"b\",\"nodes\":5}}\n{{\"op\":\"show\"}}\n"
    );
    let second = place(&random, again.as_bytes());
    let answers: Vec<&str> = second.out.lines().collect();
    assert_eq!(answers[1], r#"{"restored":1,"at":2.5,"free":505,"nodes":512}"#);
    assert_eq!(answers[2..], lines[2..], "it goes on as the first one did");
    for (machine, allocator, snapshot, sentence) in [
        (
            "torus:8x8x4",
            "random",
            snapshot.to_owned(),
            "the snapshot is of another pool: its `machine.dims` is [8, 8, 8], and here [8, 8, 4]",
        ),
        (
            "torus:8x8x8",
            "first_fit",
            snapshot.to_owned(),
            "the snapshot is of another pool: its `allocator.name` is \"random\", and here \"first_fit\"",
        ),
        (
            "torus:8x8x8",
            "random",
            snapshot.replace("\"model_version\":", "\"model_version\":10"),
            "the snapshot is of model version 10",
        ),
        (
            "torus:8x8x8",
            "random",
            snapshot.replace("\"format\":1", "\"format\":7"),
            "`snapshot` is of format 7, and this program reads format 1",
        ),
        (
            "torus:8x8x8",
            "random",
            snapshot.replace("\"now\":2.5", "\"now\":1.5"),
            "the snapshot is damaged: it goes from the instant 2.5 to 1.5",
        ),
        (
            "torus:8x8x8",
            "random",
            snapshot.replace("\"memory\":[]", "\"memory\":[3]"),
            "the snapshot is damaged: this allocator remembers nothing, but 1 numbers are given",
        ),
        (
            "torus:8x8x8",
            "random",
            snapshot.replace("\"names\":[\"a\"]", "\"names\":[]"),
            "the snapshot is damaged: ",
        ),
        (
            "torus:8x8x8",
            "random",
            "\"snapshot\":{\"format\":1}}".to_owned(),
            "`snapshot` is none that this command has given: missing field `letters`",
        ),
        (
            "torus:8x8x8",
            "random",
            "\"snapshot\":[]}".to_owned(),
            "`snapshot` is none that this command has given: ",
        ),
    ] {
        let lines = format!(
            "{{\"op\":\"allocate\",\"id\":\"z\",\"block\":[1,2,3]}}\n{{\"op\":\"show\"}}\n{{\"op\":\"restore\",{snapshot}\n\
             {{\"op\":\"show\"}}\n"
        );
        let said = place(&["--machine", machine, "--allocator", allocator], lines.as_bytes());
        let answers: Vec<&str> = said.out.lines().collect();
        let error: serde_json::Value = serde_json::from_str(answers[2]).unwrap();
        let error = error["error"].as_str().unwrap();
        assert!(error.starts_with(sentence), "{error}");
        assert_eq!(answers[1], answers[3], "nothing is changed");
    }
}

#[test]
fn a_file_of_state_is_gone_on_from() {
    let folder = Scratch::new();
    let path = folder.join("state.json");
    let file = path.to_str().unwrap();
    let arguments = |machine| ["--machine", machine, "--allocator", "best_fit", "--state", file];
    let ask = |machine, lines: &str| place(&arguments(machine), lines.as_bytes());
    ask("mesh:8x8", "{\"op\":\"allocate\",\"id\":\"a\",\"block\":[3,5]}\n").succeeded();
    let two =
        ask("mesh:8x8", "{\"op\":\"allocate\",\"id\":\"b\",\"block\":[2,2]}\n{\"op\":\"show\"}\n");
    assert!(
        two.out.contains("\"letter\":\"A\"") && two.out.contains("\"letter\":\"B\""),
        "{}",
        two.out
    );
    let before = fs::read(&path).unwrap();
    ask("mesh:8x8", "{\"op\":\"allocate\",\"id\":\"a\",\"block\":[3,5]}\n").out_has("held already");
    assert_eq!(fs::read(&path).unwrap(), before);
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 1, "nothing is left beside it");
    ask("mesh:8x9", "").ended(2).err_is(&format!(
            "error: --state {file}: the snapshot is of another pool: its `machine.dims` is [8, 8], and here [8, 9]\n"
        ));
    fs::write(&path, "{").unwrap();
    ask("mesh:8x8", "")
        .err_is(&format!("error: --state {file}: this is not JSON (line 1, column 1)\n"));
    let nowhere = place(
        &["--machine", "flat:4", "--state", "none/state.json"],
        b"{\"op\":\"allocate\",\"id\":1,\"nodes\":2}\n",
    );
    assert_eq!(
        (nowhere.status, nowhere.out.as_str()),
        (Some(1), ""),
        "what is not saved is not said"
    );
    nowhere.err_begins("error: --state none/state.json: ");
}

#[test]
fn jobs_on_halves_of_one_gpu_keep_their_names() {
    let folder = Scratch::new();
    let path = folder.join("state.json");
    let file = path.to_str().unwrap();
    let machine = "{topology='flat',processors=1,nodes=[{type='a',cpu=4,gpu=2}]}";
    let ask = |lines: &str| place(&["--machine", machine, "--state", file], lines.as_bytes());
    let half =
        |id: &str| format!("{{\"op\":\"allocate\",\"id\":\"{id}\",\"gpu\":0.5,\"cpu\":1}}\n");
    ask(&(half("a") + &half("b"))).succeeded();
    let words = ["ops", "explain", file, "--shape", "gpu=2 cpu=1"];
    common::meshwork(Path::new("."), &words).out_has("in the way: job a, job b\n");
    let gone = ask("{\"op\":\"release\",\"id\":\"a\"}\n{\"op\":\"release\",\"id\":\"b\"}\n");
    assert!(!gone.out.contains("error"), "{}", gone.out);
}

#[test]
fn many_questions_at_once_are_answered_in_few_writes_and_each_has_its_line() {
    let mut lines = String::new();
    for i in 0..3000 {
        lines.push_str(&format!("{{\"op\":\"allocate\",\"id\":{i},\"block\":[2,2,1]}}\n"));
        if i >= 100 {
            lines.push_str(&format!("{{\"op\":\"release\",\"id\":{}}}\n", i - 100));
        }
    }
    let said = place(&TORUS, lines.as_bytes()).succeeded();
    assert_eq!(said.out.lines().count(), lines.lines().count());
    let one_by_one: String = said.out.lines().take(150).map(|line| format!("{line}\n")).collect();
    let first: String = lines.lines().take(150).map(|line| format!("{line}\n")).collect();
    assert_eq!(place(&TORUS, first.as_bytes()).out, one_by_one);
}

/// The operation `hold_exactly` replaces the held nodes by a list that another program sends.
///
/// An invalid list changes nothing.
#[test]
fn what_is_held_follows_another_program() {
    let said = place(
        &["--machine", "mesh:4x4"],
        br#"{"op":"allocate","id":"a","block":[2,2]}
{"op":"hold_exactly","held":[{"id":"a","nodes":[5,4,1,0]},{"id":7,"nodes":[3]}]}
{"op":"hold_exactly","held":[{"id":7,"nodes":[2]},{"id":"b","nodes":[8,9,12,13]}]}
{"op":"hold_exactly","held":[{"id":7,"nodes":[2]},{"id":"c","nodes":[2,3]}]}
{"op":"hold_exactly","held":[{"id":7,"nodes":[16]}]}
{"op":"hold_exactly","held":[{"id":7,"nodes":[1]},{"id":7,"nodes":[2]}]}
{"op":"hold_exactly","held":{"a":[1]}}
{"op":"show"}
{"op":"hold_exactly","held":[]}
"#,
    );
    let lines: Vec<&str> = said.out.lines().collect();
    assert_eq!(lines[1], r#"{"kept":1,"adopted":1,"released":0}"#);
    assert_eq!(lines[2], r#"{"kept":0,"adopted":2,"released":2}"#);
    assert!(lines[3].contains("error"), "node 2 is held twice: {}", lines[3]);
    assert_eq!(lines[4], r#"{"error":"there is no node 16, they count from 0 to 15","line":5}"#);
    assert_eq!(lines[5], r#"{"error":"7 is in `held` twice","line":6}"#);
    assert!(lines[6].contains("must be a list of what is held, as in [{"), "{}", lines[6]);
    assert!(
        lines[7]
            .contains(r#"[{"id":7,"letter":"B","blocks":[{"base":[2,0],"dims":[1,1]}]},{"id":"b""#),
        "{}",
        lines[7]
    );
    assert_eq!(lines[8], r#"{"kept":0,"adopted":0,"released":2}"#);
}

#[test]
fn where_jobs_share_nodes_cores_are_counted_and_keys_have_units() {
    let machine = "{topology='flat',processors=8,nodes=[{type='dgx'}]}";
    let said = place(
        &["--machine", machine],
        br#"{"op":"allocate","id":"a","gpu":1,"cpu":8,"mem":60000}
{"op":"free"}
{"op":"allocate","id":"b","cpu":900}
{"op":"can","gpu":9}
{"op":"allocate","id":"b","gpus":1}
{"op":"allocate","id":"b","mem":"60G"}
{"op":"allocate","id":"b","inside":"nod"}
{"op":"alocate","id":"b"}"#,
    );
    let lines: Vec<&str> = said.out.lines().collect();
    assert_eq!(
        lines[1..4],
        [
            r#"{"at":0.0,"free":888,"nodes":8,"cores":896,"largest":null,"cpu":888,"mem":16717216,"gpu":63,"other":0}"#,
            r#"{"id":"b","blocks":null,"never":true,"reason":"no node has 900 cores: the nearest type, `dgx`, has 112 cores, 2097152 MiB and 8 GPUs"}"#,
            r#"{"blocks":null,"never":true,"reason":"no node has 1 core and 9 GPUs: the nearest type, `dgx`, has 112 cores, 2097152 MiB and 8 GPUs"}"#,
        ]
    );
    for (line, part) in [
        (4, "unknown key `gpus` (did you mean `gpu`? known to `allocate`: op, "),
        (5, r#"`mem` is \"60G\", but must be a number of MiB, such as 60000"#),
        (6, "`inside` is \\\"nod\\\", but must be one of island, node, leaf, block"),
        (7, r#"or \"restore\" (did you mean \"allocate\"?)"#),
    ] {
        assert!(lines[line].contains(part), "{}", lines[line]);
    }
    assert_eq!(said.status, Some(1));
}
