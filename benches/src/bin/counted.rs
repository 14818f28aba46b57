//! Program that runs one scenario, and prints the number of finished jobs and the end of the last.
//!
//! It is for counting instructions, independently of the computer's load. Its argument is TOML:
//!
//! ```text
//! cargo build --release -p meshwork-benches --bin counted
//! valgrind --tool=callgrind target/release/counted "machine = { topology = 'flat', processors = 128 } …"
//! ```

#![allow(clippy::print_stdout, reason = "a program says what it found")]

use std::fs::File;
use std::io::{BufRead, BufReader};

use meshwork::workload::{Inputs, NoInputs, Rows, WorkloadError};
use meshwork_benches::scenario;

/// Opens a study's input files: every log is a file, opened by its path.
struct Files;

impl Inputs for Files {
    fn text(&self, path: &str) -> Result<Box<dyn BufRead + Send>, WorkloadError> {
        let file = File::open(path).unwrap_or_else(|problem| panic!("`{path}`: {problem}"));
        Ok(Box::new(BufReader::with_capacity(1 << 16, file)))
    }

    fn rows(&self, path: &str) -> Result<Rows, WorkloadError> {
        NoInputs.rows(path)
    }
}

fn main() {
    let text = std::env::args().nth(1).expect("its argument is a scenario, in TOML");
    let outcome = scenario(&text).run(0, &Files, &mut ()).unwrap_or_else(|e| panic!("{e}"));
    println!("{} jobs, the last at {}", outcome.finished, outcome.end);
}
