//! Tests of the chapter docs/live.md.
//!
//! The commands of the chapter run one by one on the Slurm that the chapter starts.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::common::slurm::{Munge, consecutive_ports, quiet};
use crate::common::{Scratch, put, read, skip};

/// Slurm daemons in a folder, started as a chapter of the manual says; they end when this is
/// dropped.
struct Started<'a>(&'a Path);

impl Drop for Started<'_> {
    fn drop(&mut self) {
        for entry in fs::read_dir(self.0.join("slurm")).into_iter().flatten().flatten() {
            if entry.path().extension().is_some_and(|end| end == "pid") {
                let pid = fs::read_to_string(entry.path()).unwrap_or_default();
                quiet("kill", &["-9", pid.trim()]);
            }
        }
    }
}

/// Name and text of each file in a page of the manual.
///
/// A file is a fenced block after a line that ends with the file's name and a colon.
fn files(page: &str) -> Vec<(&str, &str)> {
    let mut all = Vec::new();
    let mut rest = page;
    while let Some(at) = rest.find("`:\n\n```") {
        let name = rest[..at].rsplit('`').next().unwrap();
        let block = &rest[at + "`:\n\n```".len()..];
        let (text, after) = block.split_once('\n').unwrap().1.split_once("```").unwrap();
        if name.contains('.') {
            all.push((name, text));
        }
        rest = after;
    }
    all
}

#[test]
fn the_chapter_tells_one_story() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = read(&root, "docs/live.md");
    // Without accounting, only these programs are needed.
    let munge = match Munge::begin(&["slurmctld", "slurmd", "sbatch", "scontrol"]) {
        Ok(munge) => munge,
        Err(why) => return skip("slurm", &format!("the chapter docs/live.md: {why}")),
    };
    let home = Scratch::new();
    fs::create_dir(home.join("examples")).unwrap();
    fs::copy(root.join("examples/slurm.sh"), home.join("examples/slurm.sh")).unwrap();
    let named = files(&page);
    let names: Vec<&str> = named.iter().map(|(name, _)| *name).collect();
    assert_eq!(names, ["policy.toml", "tree.yaml", "policies.toml"]);
    for (name, text) in named {
        put(&home, name, text);
    }
    let blocks: Vec<&str> = page
        .split("```sh slurm\n")
        .skip(1)
        .map(|block| block.split("```").next().unwrap())
        .collect();
    assert!(blocks.len() >= 7, "{} blocks", blocks.len());
    let script = blocks.join("");
    let folder = Path::new(env!("CARGO_BIN_EXE_meshwork")).parent().unwrap();
    let path = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap_or_default());
    let started = Started(&home);
    let port = consecutive_ports(17).to_string();
    let output = Command::new("bash")
        .args(["-e", "-x", "-c", &script])
        .current_dir(&home)
        .env("PATH", path)
        .env("PORT", port)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let (out, err) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{out}\n{err}");
    // The output has each part of the chapter: recorded starts, the chosen policy, placed jobs,
    // decisions that are repeated, and the opened parking partition.
    for part in ["starts", "Choice: ", "job ", " 0 of them another now", "is open"] {
        assert!(out.contains(part), "{part}: {out}\n{err}");
    }
    let log = read(&home, "state/log.jsonl");
    assert!(log.matches("\"event\":\"started\"").count() >= 3, "{log}");
    assert!(!log.contains("\"wrong\""), "{log}");
    drop(started);
    drop(munge);
}
