//! Runs Slurm's commands as processes, without a shell.

use std::hash::BuildHasher;
use std::io::{BufRead, BufReader, PipeReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::SlurmCommands;

const PATIENCE: Duration = Duration::from_secs(60);

/// Commands of the Slurm that is installed on this computer.
#[derive(Debug, Default)]
pub struct ProcessCommands {
    folder: Option<PathBuf>,
    control: Option<Controlling>,
    /// Number of lines sent to `scontrol`. It makes the end marker of each answer unique.
    lines: u64,
}

#[derive(Debug)]
struct Controlling {
    child: Child,
    input: ChildStdin,
    output: Receiver<String>,
}

impl Drop for Controlling {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl ProcessCommands {
    pub fn new(folder: Option<PathBuf>) -> ProcessCommands {
        ProcessCommands { folder, control: None, lines: 0 }
    }

    fn command(&self, program: &str) -> Command {
        let path = self.folder.as_ref().map_or_else(|| program.into(), |own| own.join(program));
        let mut command = Command::new(path);
        for (name, _) in std::env::vars_os() {
            let text = name.to_string_lossy();
            if ["SQUEUE_", "SINFO_", "SCONTROL_"].iter().any(|own| text.starts_with(own)) {
                command.env_remove(&name);
            }
        }
        command.env("SLURM_TIME_FORMAT", "%s").env("LC_ALL", "C.UTF-8");
        command
    }

    fn start(&self) -> Result<Controlling, String> {
        let failed = |error: std::io::Error| format!("scontrol cannot be started ({error})");
        let (reader, writer) = std::io::pipe().map_err(failed)?;
        let errors = writer.try_clone().map_err(failed)?;
        let mut command = self.command("scontrol");
        // A shared pipe, so that an error is read before the next answer.
        command.arg("--oneliner").stdin(Stdio::piped()).stdout(writer).stderr(errors);
        let mut child = command.spawn().map_err(failed)?;
        // The command holds the writing ends, which would keep the pipe open.
        drop(command);
        let Some(input) = child.stdin.take() else {
            return Err("scontrol has no input".to_owned());
        };
        Ok(Controlling { child, input, output: lines(reader) })
    }

    fn exchange(&mut self, line: &str, mark: &str) -> Result<String, String> {
        if self.control.is_none() {
            self.control = Some(self.start()?);
        }
        let Some(own) = &mut self.control else { return Err("scontrol is not there".to_owned()) };
        let ask = format!("show hostnames {mark}");
        // If this fails, the output of the ended process tells the reason.
        let _ = write!(own.input, "{line}\n{ask}\n").and_then(|()| own.input.flush());
        let mut answer = String::new();
        loop {
            let said = own.output.recv_timeout(PATIENCE).map_err(|error| match error {
                RecvTimeoutError::Timeout => "scontrol does not answer".to_owned(),
                RecvTimeoutError::Disconnected => {
                    let why = answer.lines().last().map(|why| format!(": {why}"));
                    format!("scontrol has ended{}", why.unwrap_or_default())
                }
            })?;
            let mut text = said.as_str();
            while let Some(rest) = text.strip_prefix("scontrol: ") {
                text = rest;
            }
            if text == mark {
                return Ok(answer);
            }
            if text != line && text != ask && !text.trim().is_empty() {
                answer += text;
                answer.push('\n');
            }
        }
    }
}

/// Reads the lines of a pipe in a thread. The thread ends when the pipe is closed.
fn lines(reader: PipeReader) -> Receiver<String> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        let mut reader = BufReader::new(reader);
        let mut bytes = Vec::new();
        while reader.read_until(b'\n', &mut bytes).is_ok_and(|count| count > 0) {
            let line = String::from_utf8_lossy(&bytes).trim_end_matches('\n').to_owned();
            if sender.send(line).is_err() {
                return;
            }
            bytes.clear();
        }
    });
    receiver
}

impl SlurmCommands for ProcessCommands {
    fn ask(&mut self, program: &str, arguments: &[String]) -> Result<String, String> {
        let output = self.command(program).args(arguments).stdin(Stdio::null()).output();
        let output = output.map_err(|error| format!("{program} cannot be run ({error})"))?;
        if !output.status.success() {
            let says = String::from_utf8_lossy(&output.stderr);
            let says = says.lines().next().unwrap_or("it gives no reason").to_owned();
            return Err(format!("{program} fails: {says}"));
        }
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    fn control(&mut self, line: &str) -> Result<String, String> {
        if line.contains(['\n', '\r', '\0']) {
            return Err("a line for scontrol has a line break".to_owned());
        }
        self.lines += 1;
        let mark = format!("{}{}", self.token(), self.lines);
        let answer = self.exchange(line, &mark);
        if answer.is_err() {
            self.control = None;
        }
        answer
    }

    fn now(&mut self) -> f64 {
        SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |time| time.as_secs_f64())
    }

    fn token(&mut self) -> String {
        // The keys of this hash are random numbers from the operating system.
        let random = || std::collections::hash_map::RandomState::new().hash_one(self.lines);
        let clock = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_nanos());
        let second = std::collections::hash_map::RandomState::new().hash_one(clock);
        format!("mw{:016x}{second:016x}", random())
    }
}
