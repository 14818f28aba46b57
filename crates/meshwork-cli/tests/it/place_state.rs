//! Tests of `meshwork place --state`.
//!
//! Only one process uses a state file at a time, and killed processes leave nothing behind.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};

use crate::common::{Said, Scratch, command, put, said};

const ARGUMENTS: [&str; 5] = ["place", "--machine", "flat:8", "--state", "state.json"];

fn ask(folder: &Path, state: &str, line: &str) -> Said {
    let arguments = [&ARGUMENTS[..4], &[state]].concat();
    let mut child = piped(&mut command(folder, &arguments));
    let _ = writeln!(child.stdin.take().unwrap(), "{line}");
    said(&child.wait_with_output().unwrap())
}

fn piped(command: &mut Command) -> Child {
    let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().unwrap()
}

/// Starts a process that keeps the state file locked. Returns it and its standard input.
///
/// The process has answered one line and waits for the next one.
fn holder(folder: &Path, line: &str) -> (Child, ChildStdin) {
    let mut child = piped(&mut command(folder, &ARGUMENTS));
    let mut questions = child.stdin.take().unwrap();
    writeln!(questions, "{line}").unwrap();
    let mut answer = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut answer).unwrap();
    assert!(answer.contains("blocks"), "{answer}");
    (child, questions)
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_state_has_one_writer_at_a_time_and_the_next_one_goes_on() {
    let folder = Scratch::new();
    let (mut first, questions) = holder(&folder, r#"{"op":"allocate","id":"a","nodes":3}"#);
    #[cfg(unix)]
    std::os::unix::fs::symlink("state.json", folder.join("link.json")).unwrap();
    for state in ["state.json", "./state.json", "link.json"] {
        if state == "link.json" && cfg!(not(unix)) {
            continue;
        }
        let second = ask(&folder, state, r#"{"op":"allocate","id":"b","nodes":3}"#).refused();
        let process = format!("process {} on ", first.id());
        assert!(
            second.err.starts_with(&format!("error: --state {state}: {process}"))
                && second.err.ends_with(" is writing to this file: wait for it to end\n"),
            "{second:?}"
        );
    }
    drop(questions);
    assert!(first.wait().unwrap().success());
    ask(&folder, "state.json", r#"{"op":"allocate","id":"b","nodes":3}"#)
        .out_is("{\"id\":\"b\",\"blocks\":[{\"base\":[3],\"dims\":[3]}]}\n");
    ask(&folder, "state.json", r#"{"op":"show"}"#).out_has("\"free\":2,");
    let expected = if cfg!(unix) { vec!["link.json", "state.json"] } else { vec!["state.json"] };
    assert_eq!(names(&folder), expected, "nothing is left beside it");
}

#[test]
fn what_killed_processes_left_is_no_hindrance_and_goes() {
    let folder = Scratch::new();
    let (mut first, _questions) = holder(&folder, r#"{"op":"allocate","id":"a","nodes":3}"#);
    first.kill().unwrap();
    first.wait().unwrap();
    assert_eq!(names(&folder), ["state.json", "state.json.lock"], "a lock is a name, and nobody's");
    put(&folder, "state.json.123456.tmp", "half");
    let others = ["other.json.123456.tmp", "state.json.tmp", "state.json.mine.tmp"];
    others.iter().for_each(|name| put(&folder, name, "not ours"));
    ask(&folder, "state.json", r#"{"op":"show"}"#).out_has("\"free\":5,");
    assert_eq!(
        names(&folder),
        ["other.json.123456.tmp", "state.json", "state.json.mine.tmp", "state.json.tmp"]
    );
}

#[test]
fn a_damaged_state_is_refused_and_left_as_it_is() {
    let folder = Scratch::new();
    let path = folder.join("state.json");
    ask(&folder, "state.json", r#"{"op":"allocate","id":"a","nodes":3}"#);
    let changed = fs::read_to_string(&path).unwrap().replace("\"base\":[0]", "\"base\":[1]");
    fs::write(&path, &changed).unwrap();
    ask(&folder, "state.json", r#"{"op":"show"}"#).refused().err_is(
        "error: --state state.json: this state is damaged, or was changed by hand: its digest is \
         another; go on from a \
         copy of it, or without the file from an empty machine\n",
    );
    assert_eq!(fs::read_to_string(&path).unwrap(), changed);
}
