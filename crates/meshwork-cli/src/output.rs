//! Everything that is written to the terminal, and how a command may end.

use std::borrow::Cow;
use std::io::{self, IsTerminal, StderrLock, Write};
use std::sync::{Arc, Mutex, PoisonError};

use meshwork_lab::trace::TraceError;
use meshwork_lab::visible::{visible, visible_text};

use crate::table::wrapped;

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
    /// Some runs of a sweep have not ended: exit status 3.
    Incomplete,
    /// It was stopped between two runs, and the same command goes on: exit status 75.
    Stopped,
}

/// Where a command writes: standard output, buffered, and what it can show; or the memory of a program that asked for it.
pub(crate) struct Output {
    sink: Box<dyn Write>,
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
        let sink = Box::new(io::BufWriter::with_capacity(1 << 16, stdout.lock()));
        Output { sink, width, bold }
    }

    /// What is written goes into this memory, as plain text.
    pub(crate) fn kept(text: &Kept) -> Output {
        Output { sink: Box::new(text.clone()), width: WIDTH, bold: false }
    }

    /// Writes a text of the program's own as it is: a script, a page, help.
    pub(crate) fn raw(&mut self, text: &str) -> Result<(), Stop> {
        Ok(self.sink.write_all(text.as_bytes())?)
    }

    /// Writes a text of several lines. What a terminal would obey instead of showing it is written
    /// out, here and in all that follows.
    pub(crate) fn text(&mut self, text: &str) -> Result<(), Stop> {
        self.raw(&visible_text(text))
    }

    /// Writes a line.
    pub(crate) fn line(&mut self, line: &str) -> Result<(), Stop> {
        self.raw(&visible(line))?;
        self.raw("\n")
    }

    /// Writes a line in bold where that can be seen.
    pub(crate) fn headline(&mut self, line: &str) -> Result<(), Stop> {
        if !self.bold {
            return self.line(line);
        }
        self.raw(&format!("\u{1b}[1m{}\u{1b}[0m\n", visible(line)))
    }

    /// Writes an object as one line of JSON, in which such characters are escaped and so stay what
    /// they are.
    pub(crate) fn json(&mut self, value: &serde_json::Value) -> Result<(), Stop> {
        self.line(&value.to_string())
    }

    /// Hands over all that was written.
    pub(crate) fn flush(&mut self) -> Result<(), Stop> {
        Ok(self.sink.flush()?)
    }
}

/// Text that a command has written for the program that asked it.
#[derive(Clone, Default)]
pub(crate) struct Kept(Arc<Mutex<Vec<u8>>>);

impl Kept {
    /// All of it.
    pub(crate) fn text(&self) -> String {
        let bytes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

impl Write for Kept {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Whether colour is wanted: `NO_COLOR` is not set, and the terminal is not a dumb one.
pub(crate) fn colour_is_welcome() -> bool {
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    !is_set("NO_COLOR") && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}

/// Writes one sentence to standard error, on a terminal in lines that break between words.
///
/// That nobody reads it is no reason to stop.
pub(crate) fn say(kind: &str, sentence: &str) {
    let sentence = format!("{kind}: {sentence}");
    let stderr = io::stderr();
    let size = stderr.is_terminal().then(|| terminal_size::terminal_size_of(&stderr)).flatten();
    match size {
        Some((width, _)) => {
            let room = usize::from(width.0).max(40);
            wrapped(&visible(&sentence), room, "  ").iter().for_each(|line| tell(line));
        }
        None => tell(&sentence),
    }
}

/// Writes a line to standard error.
pub(crate) fn tell(line: &str) {
    let mut stderr: StderrLock<'_> = io::stderr().lock();
    let _ = writeln!(stderr, "{}", visible(line));
}

/// Writes clap's own answer: help and version to standard output, all else to standard error.
pub(crate) fn answer(error: &clap::Error) -> u8 {
    let text = error.render();
    if error.use_stderr() {
        let mut stderr = io::stderr().lock();
        let plain = text.to_string();
        // Its colours cannot be told from those of an argument that it repeats.
        let is_plain = !stderr.is_terminal() || !colour_is_welcome() || repeats_what_is_obeyed();
        let _ = if is_plain {
            write!(stderr, "{}", visible_text(&plain))
        } else {
            write!(stderr, "{}", text.ansi())
        };
        return 2;
    }
    let mut output = Output::new();
    let text = if output.bold { text.ansi().to_string() } else { text.to_string() };
    finish(output.raw(&text).and_then(|()| output.flush()).map(|()| Verdict::Done))
}

/// Whether a word of the command line has what a terminal would obey.
fn repeats_what_is_obeyed() -> bool {
    std::env::args_os().any(|word| matches!(visible(&word.to_string_lossy()), Cow::Owned(_)))
}

/// The exit status of a command, after its last sentence.
pub(crate) fn finish(ended: Ended) -> u8 {
    match ended {
        Ok(Verdict::Done) | Err(Stop::Gone) => 0,
        Ok(Verdict::RunFailed) => 1,
        Ok(Verdict::Incomplete) => 3,
        Ok(Verdict::Stopped) => 75,
        Err(Stop::Failed(sentence)) => {
            say("error", &sentence);
            1
        }
        Err(Stop::Wrong(sentence)) => {
            say("error", &sentence);
            2
        }
    }
}
