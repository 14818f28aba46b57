//! Tests of an example program outside the workspace that adds strategies to the command.
//!
//! It adds an allocator and a scheduler.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::{Said, Scratch, put, ran, read};

/// Builds and tests the example `own-strategy` offline, with its own lock file.
///
/// The build uses the target folder of the workspace.
fn built() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let target = root.join("target");
    for arguments in [&["build", "--bins", "--tests"][..], &["test"]] {
        let status = Command::new(env!("CARGO"))
            .current_dir(root.join("examples/own-strategy"))
            .args(arguments)
            .args(["--features", "command", "--quiet", "--offline"])
            .args(["--config", "../../Cargo.toml", "--target-dir"])
            .arg(&target)
            .status()
            .expect("cargo starts");
        assert!(status.success(), "examples/own-strategy: cargo {arguments:?} fails");
    }
    target.join("debug/own-strategy")
}

#[test]
fn the_library_depends_on_the_model_alone() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/own-strategy");
    let tree = Command::new(env!("CARGO"))
        .current_dir(root)
        .args(["tree", "--offline", "--locked", "--prefix", "none", "--edges", "normal,dev"])
        .output()
        .expect("cargo starts");
    let tree = String::from_utf8(tree.stdout).unwrap();
    let is_there = |name: &str| tree.lines().any(|line| line.starts_with(&format!("{name} v")));
    assert!(is_there("own-strategy") && is_there("meshwork"), "{tree}");
    assert!(!is_there("meshwork-lab") && !is_there("meshwork-cli") && !is_there("serde_json"));
}

#[test]
fn a_program_with_strategies_of_its_own_has_the_whole_command() {
    let program = built();
    let folder = Scratch::new();
    let study =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/own-strategy/study.toml");
    let run = |arguments: &[&str]| -> Said {
        ran(Command::new(&program).args(arguments).current_dir(&folder))
    };
    let ran = run(&["run", study.to_str().unwrap(), "--set", "measure.jobs=200", "--out", "out"])
        .ended(0);
    assert!(ran.out.contains("two_ends") && ran.out.contains("shortest_first"), "{}", ran.out);
    for (arguments, expected) in [
        (&["list", "allocator"][..], "two_ends"),
        (&["list", "scheduler", "shortest_first"], "shortest estimate"),
        (&["show", study.to_str().unwrap()], "two_ends"),
        (&["check", "out"], "12 the same"),
        (&["report", "out"], "written to"),
        (&["completions", "bash"], "_own__strategy()"),
    ] {
        let answer = run(arguments).ended(0);
        assert!(answer.out.contains(expected), "{arguments:?}: {}", answer.out);
    }
    let page = read(&folder, "out/report.html");
    assert!(page.contains("two_ends"));
    // Both strategies also decide for a state that a user has written by hand.
    let state = r#"{ "now": 10, "waiting": [{ "id": "long", "nodes": 9, "estimate": 90 },
        { "id": "short", "nodes": 4, "estimate": 5 }] }"#;
    put(&folder, "state.json", state);
    let own = ["--set", "scheduler=shortest_first", "--set", "allocator=two_ends"];
    let plan = ["plan", "state.json", "--study", study.to_str().unwrap()];
    let planned = run(&[&plan[..], &own[..]].concat()).ended(0);
    let at = |id: &str| planned.out.find(&format!(r#"{{"id":"{id}","nodes""#)).unwrap();
    assert!(at("short") < at("long"), "{}", planned.out);
    // No request is sent: the query is only whether the allocator is found.
    let place = |name: &str| run(&["place", "--machine", "mesh:8x8", "--allocator", name]);
    assert_eq!(place("two_ends").status, Some(0), "{}", place("two_ends").err);
    assert!(place("two_end").err.contains("did you mean `two_ends`?"), "{}", place("two_end").err);
}
