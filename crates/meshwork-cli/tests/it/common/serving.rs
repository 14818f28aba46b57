//! A study that runs while the command serves its page over HTTP.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value as Json;

use super::{command, examples};

/// Settings with which a study runs long enough for tests of its page.
pub(crate) const LONG: [&str; 2] = ["measure.jobs=60000", "replications=40"];
/// Settings that make a study end almost immediately.
pub(crate) const SHORT: [&str; 2] = ["measure.jobs=700", "replications=2"];

pub(crate) fn arguments<'a>(
    file: &'a str,
    settings: [&'a str; 2],
    more: &[&'a str],
) -> Vec<&'a str> {
    let mut arguments = vec!["run", file, "--set", settings[0], "--set", settings[1]];
    arguments.extend(more);
    arguments
}

pub(crate) fn study() -> String {
    examples().join("load.toml").display().to_string()
}

/// A running `meshwork` command that serves a page; it is killed when dropped.
pub(crate) struct Serving {
    child: Child,
    pub(crate) host: String,
}

impl Serving {
    pub(crate) fn start(folder: &Path, settings: [&str; 2], more: &[&str]) -> Serving {
        Serving::of(folder, &arguments(&study(), settings, more))
    }

    /// Starts `meshwork` with arguments that make it serve a page.
    pub(crate) fn of(folder: &Path, arguments: &[&str]) -> Serving {
        let mut child = command(folder, arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary starts");
        let mut line = String::new();
        BufReader::new(child.stderr.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.strip_prefix("Watch at http://").unwrap_or_else(|| panic!("{line:?}"));
        let host = address.trim_end().trim_end_matches('/').to_owned();
        assert!(host.starts_with("127.0.0.1:"), "{host}");
        Serving { child, host }
    }

    /// Requests a path with the header line `header`. Returns the head and the body of the answer.
    pub(crate) fn get(&self, path: &str, header: &str) -> (String, String) {
        let mut stream = TcpStream::connect(&self.host).expect("it listens");
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        write!(stream, "GET {path} HTTP/1.1\r\nHost: {}\r\n{header}\r\n", self.host).unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or_else(|| panic!("{text}"));
        (head.to_owned(), body.to_owned())
    }

    pub(crate) fn json(&self, path: &str) -> Json {
        serde_json::from_str(&self.get(path, "").1).unwrap()
    }

    /// JSON at a path, fetched until it satisfies a condition.
    pub(crate) fn once(&self, path: &str, is_so: impl Fn(&Json) -> bool) -> Json {
        let began = Instant::now();
        loop {
            let now = self.json(path);
            if is_so(&now) {
                return now;
            }
            assert!(began.elapsed() < Duration::from_secs(60), "{now}");
            std::thread::sleep(Duration::from_millis(100));
        }
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
