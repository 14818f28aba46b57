//! Everything that is written to the terminal, and how a command may end.

use std::io::{self, IsTerminal, StderrLock, StdoutLock, Write};
use std::process::ExitCode;

use meshwork_lab::trace::TraceError;

/// The width of tables where nothing says how wide they may be.
const WIDTH: usize = 100;

/// Why a command ends early.
#[derive(Debug)]
pub(crate) enum Stop {
    /// The request was wrong: exit status 2.
    Wrong(String),
    /// Something failed on the way: exit status 1.
    Failed(String),
    /// Whoever read the output has gone, as `head` does: nothing is left to say.
    Gone,
}

/// What is written to standard output: the only way there.
impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Stop {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Stop::Gone,
            io::ErrorKind::StorageFull => {
                Stop::Failed("standard output cannot be written, the disk is full".to_owned())
            }
            _ => Stop::Failed(format!("standard output cannot be written ({error})")),
        }
    }
}

impl From<meshwork_lab::Refused> for Stop {
    fn from(refused: meshwork_lab::Refused) -> Stop {
        Stop::Wrong(refused.0)
    }
}

impl From<TraceError> for Stop {
    fn from(error: TraceError) -> Stop {
        match error {
            TraceError::Wrong(sentence) => Stop::Wrong(sentence),
            TraceError::Unwritten(sentence) => Stop::Failed(sentence),
        }
    }
}

/// How a command ended.
pub(crate) type Ended = Result<Verdict, Stop>;

/// How a command that came to its end went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// All is well: exit status 0.
    Done,
    /// A run failed, or a check found a difference: exit status 1.
    RunFailed,
}

/// Standard output, buffered, and what it can show.
pub(crate) struct Output {
    sink: io::BufWriter<StdoutLock<'static>>,
    /// Columns that tables may take.
    pub(crate) width: usize,
    /// Whether headers are set in bold.
    pub(crate) bold: bool,
}

impl Output {
    /// Standard output as it is.
    pub(crate) fn new() -> Output {
        let stdout = io::stdout();
        let width = stdout
            .is_terminal()
            .then(|| terminal_size::terminal_size_of(&stdout))
            .flatten()
            .map_or(WIDTH, |(width, _)| usize::from(width.0).max(40));
        let bold = stdout.is_terminal() && colour_is_welcome();
        Output { sink: io::BufWriter::with_capacity(1 << 16, stdout.lock()), width, bold }
    }

    /// Writes a text as it is.
    pub(crate) fn text(&mut self, text: &str) -> Result<(), Stop> {
        Ok(self.sink.write_all(text.as_bytes())?)
    }

    /// Writes a line.
    pub(crate) fn line(&mut self, line: &str) -> Result<(), Stop> {
        self.text(line)?;
        self.text("\n")
    }

    /// Writes a line in bold where that can be seen.
    pub(crate) fn headline(&mut self, line: &str) -> Result<(), Stop> {
        if self.bold { self.line(&format!("\u{1b}[1m{line}\u{1b}[0m")) } else { self.line(line) }
    }

    /// Writes an object as one line of JSON.
    pub(crate) fn json(&mut self, value: &serde_json::Value) -> Result<(), Stop> {
        self.line(&value.to_string())
    }

    /// Hands over all that was written.
    pub(crate) fn flush(&mut self) -> Result<(), Stop> {
        Ok(self.sink.flush()?)
    }
}

/// Whether colour is wanted: `NO_COLOR` is not set, and the terminal is not a dumb one.
pub(crate) fn colour_is_welcome() -> bool {
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    !is_set("NO_COLOR") && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}

/// Writes one line to standard error. That nobody reads it is no reason to stop.
pub(crate) fn say(kind: &str, sentence: &str) {
    tell(&format!("{kind}: {sentence}"));
}

/// Writes a line to standard error.
pub(crate) fn tell(line: &str) {
    let mut stderr: StderrLock<'_> = io::stderr().lock();
    let _ = writeln!(stderr, "{line}");
}

/// Writes clap's own answer: help and version to standard output, all else to standard error.
pub(crate) fn answer(error: &clap::Error) -> ExitCode {
    let text = error.render();
    if error.use_stderr() {
        let mut stderr = io::stderr().lock();
        let is_plain = !stderr.is_terminal() || !colour_is_welcome();
        let _ = if is_plain { write!(stderr, "{text}") } else { write!(stderr, "{}", text.ansi()) };
        return ExitCode::from(2);
    }
    let mut output = Output::new();
    let text = if output.bold { text.ansi().to_string() } else { text.to_string() };
    finish(output.text(&text).and_then(|()| output.flush()).map(|()| Verdict::Done))
}

/// The exit status of a command, after its last sentence.
pub(crate) fn finish(ended: Ended) -> ExitCode {
    match ended {
        Ok(Verdict::Done) | Err(Stop::Gone) => ExitCode::SUCCESS,
        Ok(Verdict::RunFailed) => ExitCode::from(1),
        Err(Stop::Failed(sentence)) => {
            say("error", &sentence);
            ExitCode::from(1)
        }
        Err(Stop::Wrong(sentence)) => {
            say("error", &sentence);
            ExitCode::from(2)
        }
    }
}
