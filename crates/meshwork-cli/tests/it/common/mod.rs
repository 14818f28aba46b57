//! Helpers that run the real `meshwork` binary in tests.

pub(crate) mod backlog;
pub(crate) mod serving;
pub(crate) mod slurm;

use std::fs;
use std::io::{Seek, Write};
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value as Json;

pub(crate) use crate::skip::skip;

/// Torus of 64 nodes with allowed boxes of 1 to 64 nodes.
pub(crate) const TORUS: &str = "- topology: t
  torus3d:
    toruses:
      - name: t
        dims: {x: 4, y: 4, z: 4}
        nodes: n[00-63]
        placements:
          - dims: {x: 1, y: 1, z: 1}
          - dims: {x: 2, y: 2, z: 1}
          - dims: {x: 2, y: 2, z: 2}
            anchor_spacing: {x: 1, y: 2, z: 1}
          - dims: {x: 4, y: 2, z: 2}
          - dims: {x: 4, y: 4, z: 2}
          - dims: {x: 4, y: 4, z: 4}
";

/// Pseudorandom numbers, the same in every run.
pub(crate) struct Numbers(pub(crate) u64);

impl Numbers {
    pub(crate) fn below(&mut self, most: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % most
    }
}

/// Temporary folder of a test, removed when dropped.
pub(crate) struct Scratch(tempfile::TempDir);

impl Scratch {
    pub(crate) fn new() -> Scratch {
        Scratch(tempfile::tempdir().unwrap())
    }

    /// Creates a temporary folder with one file.
    pub(crate) fn with(name: &str, text: impl AsRef<[u8]>) -> Scratch {
        let folder = Scratch::new();
        put(&folder, name, text);
        folder
    }
}

impl Deref for Scratch {
    type Target = Path;

    fn deref(&self) -> &Path {
        self.0.path()
    }
}

impl AsRef<Path> for Scratch {
    fn as_ref(&self) -> &Path {
        self
    }
}

/// Writes a file into a folder.
pub(crate) fn put(
    folder: &(impl AsRef<Path> + ?Sized),
    name: impl AsRef<Path>,
    text: impl AsRef<[u8]>,
) {
    fs::write(folder.as_ref().join(name), text).unwrap();
}

/// Text of a file in a folder.
pub(crate) fn read(folder: &(impl AsRef<Path> + ?Sized), name: impl AsRef<Path>) -> String {
    fs::read_to_string(folder.as_ref().join(name)).unwrap()
}

#[derive(Debug)]
pub(crate) struct Said {
    /// Text of the command with its arguments; empty if the test itself ran the command.
    #[expect(dead_code, reason = "messages of failed tests print it")]
    asked: String,
    /// Exit status; `None` if a signal ended the command.
    pub(crate) status: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Said {
    /// Fails the test unless the exit status is `status`.
    #[track_caller]
    pub(crate) fn ended(self, status: i32) -> Said {
        assert_eq!(self.status, Some(status), "{self:?}");
        self
    }

    /// Fails the test unless the exit status is 0 and standard error is empty.
    #[track_caller]
    pub(crate) fn succeeded(self) -> Said {
        assert_eq!((self.status, self.err.as_str()), (Some(0), ""), "{self:?}");
        self
    }

    /// Fails the test unless the exit status is 2 and standard output is empty.
    #[track_caller]
    pub(crate) fn refused(self) -> Said {
        assert_eq!((self.status, self.out.as_str()), (Some(2), ""), "{self:?}");
        self
    }

    #[track_caller]
    pub(crate) fn out_has(&self, text: &str) {
        assert!(self.out.contains(text), "no {text:?} in {self:?}");
    }

    #[track_caller]
    pub(crate) fn out_begins(&self, text: &str) {
        assert!(self.out.starts_with(text), "no {text:?} at the start of {self:?}");
    }

    #[track_caller]
    pub(crate) fn out_ends(&self, text: &str) {
        assert!(self.out.ends_with(text), "no {text:?} at the end of {self:?}");
    }

    #[track_caller]
    pub(crate) fn err_has(&self, text: &str) {
        assert!(self.err.contains(text), "no {text:?} in {self:?}");
    }

    #[track_caller]
    pub(crate) fn err_begins(&self, text: &str) {
        assert!(self.err.starts_with(text), "no {text:?} at the start of {self:?}");
    }

    #[track_caller]
    pub(crate) fn out_is(&self, text: &str) {
        assert_eq!(self.out, text, "{self:?}");
    }

    #[track_caller]
    pub(crate) fn err_is(&self, text: &str) {
        assert_eq!(self.err, text, "{self:?}");
    }

    pub(crate) fn json(&self) -> Json {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    pub(crate) fn json_lines(&self) -> Vec<Json> {
        self.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

pub(crate) fn command(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_meshwork"));
    command.args(arguments).current_dir(folder);
    command
}

pub(crate) fn meshwork(folder: &(impl AsRef<Path> + ?Sized), arguments: &[&str]) -> Said {
    ran(&mut command(folder.as_ref(), arguments))
}

pub(crate) fn ran(command: &mut Command) -> Said {
    let output = command.output().expect("the program starts");
    Said { asked: format!("{command:?}"), ..said(&output) }
}

/// Runs the command with a text as standard input.
pub(crate) fn fed(
    folder: &(impl AsRef<Path> + ?Sized),
    arguments: &[&str],
    input: impl AsRef<[u8]>,
) -> Said {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(input.as_ref()).unwrap();
    file.rewind().unwrap();
    ran(command(folder.as_ref(), arguments).stdin(file))
}

/// Runs the command with words that spaces separate.
pub(crate) fn call(folder: &(impl AsRef<Path> + ?Sized), words: &str) -> Said {
    meshwork(folder, &words.split(' ').collect::<Vec<&str>>())
}

/// Output without progress lines, which depend on the speed of the machine.
pub(crate) fn said(output: &Output) -> Said {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("output is text");
    let err = without_progress(&text(&output.stderr));
    Said { asked: String::new(), status: output.status.code(), out: text(&output.stdout), err }
}

pub(crate) fn without_progress(text: &str) -> String {
    text.split_inclusive('\n').filter(|line| !line.starts_with("progress: ")).collect()
}

pub(crate) fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples")
}

/// SWF line with the given job number, submit time, run time, processors and requested time.
pub(crate) fn line(
    number: i64,
    submit: i64,
    run_time: i64,
    processors: i64,
    requested: i64,
) -> String {
    format!(
        "{number} {submit} -1 {run_time} {processors} -1 -1 {processors} {requested} -1 1 1 -1 -1 -1 -1 -1 -1\n"
    )
}
