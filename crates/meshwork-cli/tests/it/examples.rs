//! Tests that each example prints exactly the output stored with it, on one thread and on two.
//!
//! The command that runs an example is in the comments of its study file. After a change that is
//! meant to change results, `UPDATE_EXPECTED=1 cargo test -p meshwork-cli --test it examples::`
//! rewrites the stored outputs; review the difference before committing it.

use std::fs;
use std::io::Read;
use std::path::Path;

use crate::common::{Scratch, call, examples, meshwork, read};
use flate2::read::GzDecoder;

/// Examples by name, with the arguments of the command that runs them.
fn listed() -> Vec<(String, Vec<String>)> {
    let mut listed = Vec::new();
    for entry in fs::read_dir(examples()).expect("there are examples") {
        let path = entry.expect("a folder can be read").path();
        if path.extension().is_none_or(|ending| ending != "toml") {
            continue;
        }
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let text = fs::read_to_string(&path).unwrap();
        let command = text
            .lines()
            .find_map(|line| line.strip_prefix("#   meshwork "))
            .unwrap_or_else(|| panic!("{name} does not say how it is run"));
        listed.push((name, command.split(' ').map(str::to_owned).collect()));
    }
    listed.sort();
    listed
}

/// Copies the examples into a folder, so that runs write no results into the project.
pub(crate) fn copied(folder: &Path) {
    let to = folder.join("examples");
    fs::create_dir(&to).unwrap();
    for entry in fs::read_dir(examples()).unwrap() {
        let path = entry.unwrap().path();
        if path.is_file() {
            fs::copy(&path, to.join(path.file_name().unwrap())).unwrap();
        }
    }
}

/// Output of an example, and the jobs of its first run if there are per-job files.
fn results(command: &[String], threads: &str) -> String {
    let folder = Scratch::new();
    copied(&folder);
    let mut arguments: Vec<&str> = command.iter().map(String::as_str).collect();
    arguments.extend(["--threads", threads]);
    let said = meshwork(&folder, &arguments).succeeded();
    let mut text = said.out;
    let jobs = folder.join("results/jobs");
    if let Ok(index) = fs::read_to_string(jobs.join("index.csv")) {
        // The file of a run is named after the key of the run, which changes with the source of the
        // model. In the compared text, the name is made of scenario and replication instead.
        let mut shown = index.clone();
        for line in index.lines().skip(1) {
            let cells: Vec<&str> = line.split(',').collect();
            let name = format!("scenario-{}-{}.{}", cells[2], cells[3], cells[1]);
            let run = read(&jobs, cells[0]);
            text += &format!("\nresults/jobs/{name}:\n{run}");
            shown = shown.replace(cells[0], &name);
        }
        text += &format!("\nresults/jobs/index.csv:\n{shown}");
    }
    text
}

#[test]
fn every_example_gives_its_output_on_one_thread_and_two() {
    let listed = listed();
    assert!(listed.len() >= 8, "{} examples", listed.len());
    for (name, command) in listed {
        let file = examples().join(format!("{name}.out"));
        let one = results(&command, "1");
        if std::env::var_os("UPDATE_EXPECTED").is_some() {
            fs::write(&file, &one).unwrap();
        }
        let expected = fs::read_to_string(&file).unwrap_or_default();
        assert!(one == expected, "{name} gives\n{one}\nand not\n{expected}");
        assert!(one == results(&command, "2"), "{name} differs on two threads");
    }
}

#[test]
fn what_every_example_stores_it_gives_again() {
    for (_, command) in listed() {
        let folder = Scratch::new();
        copied(&folder);
        meshwork(&folder, &[&command[0], &command[1], "--out", "kept"]).succeeded();
        call(&folder, "check kept").ended(0);
    }
}

#[test]
fn the_log_of_the_examples_is_made_by_the_command_that_one_names() {
    let text = fs::read_to_string(examples().join("log.toml")).unwrap();
    let command = text.lines().find_map(|line| line.strip_prefix("#   meshwork trace ")).unwrap();
    let arguments: Vec<&str> = ["trace"].into_iter().chain(command.split(' ')).collect();
    let folder = Scratch::new();
    fs::create_dir(folder.join("examples")).unwrap();
    meshwork(&folder, &arguments).succeeded();
    // Compare the files uncompressed, as the compressed form depends on the compressor's version.
    let unpacked = |path: &Path| {
        let mut text = String::new();
        GzDecoder::new(fs::File::open(path).unwrap()).read_to_string(&mut text).unwrap();
        text
    };
    let made = folder.join("examples/lublin.swf.gz");
    assert!(unpacked(&made) == unpacked(&examples().join("lublin.swf.gz")));
}
