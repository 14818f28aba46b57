//! `meshwork place`, as the author of a scheduler uses it.

mod common;

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Seek, Write};
use std::path::Path;
use std::process::Stdio;

use common::{Said, command, said};

/// Asks these lines at once.
fn place(arguments: &[&str], lines: &[u8]) -> Said {
    let mut input = tempfile::tempfile().unwrap();
    input.write_all(lines).unwrap();
    input.rewind().unwrap();
    let arguments: Vec<&str> = ["place"].into_iter().chain(arguments.iter().copied()).collect();
    said(&command(Path::new("."), &arguments).stdin(input).output().unwrap())
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
{"id":"c","blocks":null,"never":true}
{"id":"d","blocks":null}
{"at":2.5,"free":41,"nodes":64,"held":[{"id":7,"letter":"B","blocks":[{"base":[3,0],"dims":[4,2]}]},{"id":"a","letter":"A","blocks":[{"base":[0,0],"dims":[3,5]}]}],"drawing":["AAABBBB.","AAABBBB.","AAA.....","AAA.....","AAA.....","........","........","........"]}
{"id":"b","error":"\"b\" is not held, so it cannot be released","line":7}
{"id":"a","error":"\"a\" is held already: release it first","line":8}
{"id":"a","error":"`at` is 1, but it is 2.5 already, and time does not go back","line":9}
{"id":"a","released":15}
{"error":"this is not JSON (column 2)","line":11}
{"id":"x","error":"`op` is \"relese\", but must be \"allocate\", \"release\" or \"show\"","line":12}
{"id":"x","error":"unknown key `blok` (known to `allocate`: op, id, at, block, nodes, subcube)","line":13}
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
        (r#"{"op":"release","id":"a"}"#, r#"{"id":"a","released":4}"#),
    ] {
        writeln!(questions, "{question}").unwrap();
        assert_eq!(answers.next().unwrap().unwrap(), answer);
    }
    drop(questions);
    assert!(answers.next().is_none());
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn the_session_of_the_readme_goes_as_it_says() {
    let readme = fs::read_to_string(common::examples().join("../README.md")).unwrap();
    let session =
        readme.split("```\n").find(|block| block.starts_with("$ meshwork place ")).unwrap();
    let (first, lines) = session.split_once('\n').unwrap();
    let arguments: Vec<&str> = first.split(' ').skip(3).collect();
    let (questions, answers): (Vec<&str>, Vec<&str>) =
        lines.lines().partition(|line| line.contains("\"op\""));
    assert!(questions.len() >= 4);
    let said = place(&arguments, questions.join("\n").as_bytes());
    assert_eq!(said.out.lines().collect::<Vec<&str>>(), answers);
}

#[test]
fn bytes_that_are_no_text_and_lines_without_end_are_refused_and_the_rest_goes_on() {
    let mut lines = vec![b'x'; (1 << 20) + 17];
    lines.extend(b"\n\xff\xfe\n{\"op\":\"allocate\",\"id\":1,\"nodes\":3}\n");
    let said = place(&["--machine", "flat:4"], &lines);
    assert_eq!(
        said.out,
        "{\"error\":\"a line has at most 1048576 bytes, this one has more\",\"line\":1}\n\
         {\"error\":\"this is not JSON (column 1)\",\"line\":2}\n\
         {\"id\":1,\"blocks\":[{\"base\":[0],\"dims\":[3]}]}\n"
    );
    assert_eq!(said.status, Some(1));
    let empty = place(&["--machine", "flat:4"], b"");
    assert_eq!((empty.status, empty.out.as_str()), (Some(0), ""));
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
             `rotation`? known: name, rotation)",
        ),
        (
            "{sites=[{topology='flat',processors=3}]}",
            "naive",
            "--machine {sites=[{topology='flat',processors=3}]}: `machine` has a list of sites (1), but a \
             pool is a single site: give its `topology`",
        ),
    ] {
        let said = place(&["--machine", machine, "--allocator", allocator], b"");
        assert_eq!(said.err, format!("error: {sentence}\n"));
        assert_eq!((said.status, said.out.as_str()), (Some(2), ""));
    }
    let unserved = place(&["--machine", "flat:4", "--allocator", "first_fit"], b"");
    assert!(
        unserved
            .err
            .starts_with("error: --allocator first_fit: the allocator `first_fit` serves mesh"),
        "{unserved:?}"
    );
}

#[test]
fn a_full_disk_is_told() {
    if !Path::new("/dev/full").exists() {
        common::skip("there is no /dev/full here");
        return;
    }
    let full = File::options().write(true).open("/dev/full").unwrap();
    let mut child = command(Path::new("."), &["place", "--machine", "flat:4"])
        .stdin(Stdio::piped())
        .stdout(full)
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // The program may have ended before all is written.
    let _ = writeln!(child.stdin.take().unwrap(), "{{\"op\":\"show\"}}");
    let said = said(&child.wait_with_output().unwrap());
    assert_eq!(said.err, "error: standard output cannot be written, the disk is full\n");
    assert_eq!(said.status, Some(1));
}
