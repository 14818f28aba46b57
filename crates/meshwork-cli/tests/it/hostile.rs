//! Tests that control characters in names, keys and logs are escaped in all output.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use crate::common::{Said, Scratch, call, fed, line, meshwork, put, read};

/// Control characters: escape, 8-bit CSI, bell, carriage return, and a mark that reverses text.
const OBEYED: [char; 5] = ['\u{1b}', '\u{9b}', '\u{7}', '\r', '\u{202e}'];

/// Control characters, as an attacker may choose them.
const NAME: &str = "a\u{1b}[31m\u{9b}2J\u{7}\r\u{202e}\nINJECTED";

/// Hostile name, escaped as in a key or string of TOML.
const IN_TOML: &str = "a\\u001b[31m\\u009b2J\\u0007\\r\u{202e}\\nINJECTED";

/// Hostile name without line breaks, for files that have one name per line.
const WORD: &str = "a\u{1b}[31m\u{9b}2J\u{7}\u{202e}b";

fn is_clean(text: &str, what: &str) {
    if let Some(at) = text.find(OBEYED) {
        let around: String = text[at..].chars().take(60).collect();
        panic!("{what}: {around:?}");
    }
    assert!(!text.lines().any(|line| line.starts_with("INJECTED")), "{what}: {text}");
}

fn has_come_through(said: &Said, what: &str) {
    is_clean(&said.out, what);
    is_clean(&said.err, what);
    let both = format!("{}{}", said.out, said.err);
    assert!(both.contains("\\u001b[31m"), "{what}: the name is not shown at all: {both}");
}

fn tried(folder: &Path, arguments: &[&str]) -> Said {
    let said = meshwork(folder, arguments);
    has_come_through(&said, &format!("{arguments:?}"));
    said
}

fn folder() -> Scratch {
    let folder = Scratch::new();
    let write = |name: &str, text: &str| put(&folder, name, text);
    write(
        "study.toml",
        &format!(
            "name = \"{IN_TOML}\"\ndescription = \"{IN_TOML}\"\n\
             [machine]\ntopology = 'mesh'\ndims = [4, 4]\n\
             [workload]\nname = 'swf'\n\
             [measure]\nmetrics = ['wait', 'utilization']\n\
             [sweep]\n\"workload.path\" = [\"{word}.swf\", 'b.swf']\n\
             [[claim]]\ntext = \"{IN_TOML}\"\nsource = \"{IN_TOML}\"\nmetric = 'wait'\n\
             of = {{ \"workload.path\" = \"{word}.swf\" }}\nbelow = 2.0\n\
             to = {{ \"workload.path\" = 'b.swf' }}\n",
            word = WORD
                .replace('\u{1b}', "\\u001b")
                .replace('\u{7}', "\\u0007")
                .replace('\u{9b}', "\\u009b")
        ),
    );
    let log: String = (1..40).map(|i| line(i, 7 * i, 20, 1 + i % 8, 40)).collect();
    let log = format!("; Computer: {WORD}\n; Note: {WORD}\n{log}");
    write(&format!("{WORD}.swf"), &log);
    write("b.swf", &log);
    write("bad.swf", &format!("1 0 -1 {WORD} 4 -1 -1 4 20 -1 1 1 -1 -1 -1 -1 -1 -1\n"));
    write("bad.csv", &format!("submit,runtime,nodes\n0,{WORD},4\n"));
    write("key.toml", &format!("\"{IN_TOML}\" = 1\n"));
    write("text.toml", &format!("seed = \"{WORD}"));
    folder
}

#[test]
fn a_study_with_a_hostile_name_is_run_shown_watched_and_reported() {
    let folder = folder();
    tried(&folder, &["run", "study.toml", "--out", "out"]).ended(0);
    tried(&folder, &["run", "study.toml", "--json"]);
    tried(&folder, &["watch", "study.toml", "--max-frames", "3"]).ended(0);
    let shown = call(&folder, "show study.toml");
    assert!(!shown.out.contains(OBEYED) && shown.err.is_empty(), "{shown:?}");
    tried(&folder, &["show", "study.toml", "--json"]);
    let page = call(&folder, "report out --out page.html");
    is_clean(&page.err, "report");
    is_clean(&page.out, "report");
    let checked = call(&folder, "check out");
    is_clean(&format!("{}{}", checked.out, checked.err), "check");
    let page = read(&folder, "page.html");
    assert!(page.contains("a\\u001b[31m"), "the page has the name");
    for c in ['\u{1b}', '\u{9b}', '\u{7}', '\u{202e}'] {
        assert!(!page.contains(c), "{c:?} is on the page");
    }
    for name in ["summary.csv", "claims.csv"] {
        let table = fs::read_to_string(folder.join("out").join(name)).unwrap();
        assert!(table.contains("a\\u001b[31m"), "{table}");
        is_clean(&table, name);
    }
}

#[test]
fn what_is_wrong_is_said_without_obeying_it() {
    let folder = folder();
    let set = |value: &str| format!("machine={value}");
    // Text that is no TOML is not repeated.
    is_clean(&call(&folder, "run text.toml").err, "text.toml");
    // Unknown options are repeated in escaped form.
    for arguments in [
        &["run", "study.toml", "--threads", WORD][..],
        &["run", "study.toml", &format!("--{WORD}")],
        &[WORD],
    ] {
        is_clean(&meshwork(&folder, arguments).err, &format!("{arguments:?}"));
    }
    for arguments in [
        &["run", "key.toml"][..],
        &["run", NAME],
        &["run", "study.toml", "--set", &format!("{WORD}=1")],
        &["run", "study.toml", "--set", &format!("scheduler={WORD}")],
        &["run", "study.toml", "--set", &format!("scheduler='{WORD}'")],
        &["run", "study.toml", "--set", &set(NAME)],
        &["run", "study.toml", "--set", &format!("allocator={{name='first_fit',{WORD}=1}}")],
        &["list", NAME],
        &["list", "allocator", NAME],
        &["reproduce", NAME],
        &["reproduce", "rsr", NAME],
        &["report", NAME],
        &["check", NAME],
        &["watch", NAME],
        &["trace", "info", NAME],
        &["trace", "info", "bad.swf"],
        &["trace", "info", &format!("{WORD}.swf")],
        &["trace", "info", &format!("{WORD}.swf"), "--json"],
        &["trace", "convert", "b.swf", &format!("{WORD}.csv")],
        &["trace", "convert", "b.swf", "out.swf", "--set", &format!("{WORD}=1")],
        &["trace", "generate", &format!("{WORD}/x.swf")],
        &["place", "--machine", NAME],
        &["place", "--machine", "mesh:4x4", "--allocator", NAME],
        &["traffic", "--dims", "4,4", "--traffic", NAME],
    ] {
        // Some messages repeat the argument, others only say what would be right.
        let said = meshwork(&folder, arguments);
        is_clean(&said.out, &format!("{arguments:?}"));
        is_clean(&said.err, &format!("{arguments:?}"));
    }
    let study = "machine = { topology = 'flat', processors = 8 }\n\
                 workload = { name = 'table', path = 'bad.csv' }\n";
    put(&folder, "table.toml", study);
    tried(&folder, &["run", "table.toml"]);
}

#[test]
fn a_co_process_has_its_own_names_back_and_none_is_obeyed() {
    let mut input = String::new();
    for op in ["allocate", "sow", "release", "release"] {
        let line = serde_json::json!({ "op": op, "id": NAME, "nodes": 2 });
        let line = if op == "release" { serde_json::json!({ "op": op, "id": NAME }) } else { line };
        // The line has the characters unescaped, as far as JSON allows.
        writeln!(input, "{}", line.to_string().replace("\\u009b", "\u{9b}")).unwrap();
    }
    writeln!(input, "{{\"op\":\"{}\"}}", WORD.replace(['\u{1b}', '\u{7}'], "")).unwrap();
    writeln!(input, "{WORD}").unwrap();
    let said = fed(".", &["place", "--machine", "mesh:4x4"], input);
    is_clean(&said.out, "place");
    let answers = said.json_lines();
    assert_eq!(answers.len(), 6);
    assert!(answers[..4].iter().all(|answer| answer["id"] == NAME), "{answers:?}");
}
