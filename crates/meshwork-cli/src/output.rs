//! Output of commands to the terminal, and the kinds of success and failure of a command.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, IsTerminal, Read, StderrLock, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use meshwork_lab::files::FileError;
use meshwork_lab::text::visible::{visible, visible_text};
use meshwork_lab::trace::TraceError;

use crate::wrap::wrapped;

/// Width of the output in columns, if the width of the terminal is unknown.
const WIDTH: usize = 100;

#[derive(Debug)]
pub(crate) enum Stop {
    /// The command line or an input is wrong: exit status 2.
    Wrong(String),
    /// Failure while the command ran: exit status 1.
    Failed(String),
    /// The program that reads the output has exited, as `head` does. Nothing more is printed.
    Gone,
}

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

impl From<FileError> for Stop {
    fn from(error: FileError) -> Stop {
        Stop::Failed(error.to_string())
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

pub(crate) type Ended = Result<Verdict, Stop>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Success: exit status 0.
    Done,
    /// A run or a line of input failed, a check found a difference, or there is no solution.
    ///
    /// The exit status is 1.
    RunFailed,
    /// Unfinished runs of a sweep: exit status 3.
    Incomplete,
    /// The command stopped between two runs, and continues if it is run again: exit status 75.
    Stopped,
    /// Ctrl-C: exit status 130, as in a shell.
    Interrupted,
}

/// Buffered standard output, or the buffer of a calling program.
pub(crate) struct Output {
    sink: Box<dyn Write>,
    pub(crate) width: usize,
    pub(crate) bold: bool,
    /// Whether the output goes to a program that called the command and handles signals itself.
    pub(crate) is_kept: bool,
}

impl Output {
    pub(crate) fn new() -> Output {
        let stdout = io::stdout();
        let width = stdout
            .is_terminal()
            .then(|| terminal_size::terminal_size_of(&stdout))
            .flatten()
            .map_or(WIDTH, |(width, _)| usize::from(width.0).max(40));
        let bold = stdout.is_terminal() && colour_is_welcome();
        let sink = Box::new(io::BufWriter::with_capacity(1 << 16, stdout.lock()));
        Output { sink, width, bold, is_kept: false }
    }

    /// Output that is collected for a program that called the command.
    pub(crate) fn kept(text: &Kept) -> Output {
        Output { sink: Box::new(text.clone()), width: WIDTH, bold: false, is_kept: true }
    }

    /// Writes text of this program, such as a script or a page, without escaping it.
    pub(crate) fn raw(&mut self, text: &str) -> Result<(), Stop> {
        Ok(self.sink.write_all(text.as_bytes())?)
    }

    /// Escapes characters that control a terminal.
    pub(crate) fn text(&mut self, text: &str) -> Result<(), Stop> {
        self.raw(&visible_text(text))
    }

    pub(crate) fn line(&mut self, line: &str) -> Result<(), Stop> {
        self.raw(&visible(line))?;
        self.raw("\n")
    }

    /// Writes a line, in bold if the terminal supports it.
    pub(crate) fn headline(&mut self, line: &str) -> Result<(), Stop> {
        if !self.bold {
            return self.line(line);
        }
        self.raw(&format!("\u{1b}[1m{}\u{1b}[0m\n", visible(line)))
    }

    /// Writes a text, wrapped to the width of the output.
    pub(crate) fn paragraph(&mut self, text: &str) -> Result<(), Stop> {
        self.hanging(text, "")
    }

    /// Writes a text, wrapped. All lines but the first begin with `indent`.
    pub(crate) fn hanging(&mut self, text: &str, indent: &str) -> Result<(), Stop> {
        wrapped(text, self.width, indent).iter().try_for_each(|line| self.line(line))
    }

    /// Writes a text, wrapped, and in bold if the terminal supports it.
    pub(crate) fn title(&mut self, text: &str) -> Result<(), Stop> {
        wrapped(text, self.width, "").iter().try_for_each(|line| self.headline(line))
    }

    /// One line of JSON, in which control characters are escaped.
    pub(crate) fn json(&mut self, value: &serde_json::Value) -> Result<(), Stop> {
        self.line(&value.to_string())
    }

    pub(crate) fn flush(&mut self) -> Result<(), Stop> {
        Ok(self.sink.flush()?)
    }
}

/// Buffer that collects the output of a command for the program that called it.
#[derive(Clone, Default)]
pub(crate) struct Kept(Arc<Mutex<Vec<u8>>>);

impl Kept {
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

/// Whether to use colours: the variable `NO_COLOR` is not set, and the terminal is not `dumb`.
pub(crate) fn colour_is_welcome() -> bool {
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    !is_set("NO_COLOR") && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}

/// Writes to standard error, wrapped on a terminal. Write errors are ignored.
pub(crate) fn say(kind: &str, sentence: &str) {
    let sentence = format!("{kind}: {sentence}");
    let stderr = io::stderr();
    let size = stderr.is_terminal().then(|| terminal_size::terminal_size_of(&stderr)).flatten();
    match size {
        Some((width, _)) => {
            let available = usize::from(width.0).max(40);
            wrapped(&visible(&sentence), available, "  ").iter().for_each(|line| tell(line));
        }
        None => tell(&sentence),
    }
}

pub(crate) fn warn(warnings: &[String]) {
    warnings.iter().for_each(|warning| say("warning", warning));
}

pub(crate) fn tell(line: &str) {
    let mut stderr: StderrLock<'_> = io::stderr().lock();
    let _ = writeln!(stderr, "{}", visible(line));
}

/// Returns an error if a file has content, unless `replace` is true.
pub(crate) fn must_be_new(file: &Path, replace: bool) -> Result<(), Stop> {
    if replace || beginning(file).is_none() {
        return Ok(());
    }
    Err(Stop::Wrong(format!(
        "{}: there is such a file already, and it stays as it is: name another, or give `--replace`",
        file.display()
    )))
}

pub(crate) fn must_have_folder(file: &Path) -> Result<(), Stop> {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
    if folder.is_none_or(Path::exists) {
        return Ok(());
    }
    Err(Stop::Wrong(format!(
        "{}: this file cannot be written, because its folder does not exist",
        file.display()
    )))
}

/// Text near the beginning of each HTML page that Meshwork writes, by which it is recognised.
pub(crate) const PAGE_MARK: &str = " · Meshwork</title>";

/// Returns an error if a file has content, but not the text `mark` near its beginning.
///
/// Without `mark`, the file was not written by this command, and must not be replaced.
pub(crate) fn must_be_ours(file: &Path, mark: &str) -> Result<(), Stop> {
    if beginning(file).is_none_or(|text| text.contains(mark)) {
        return Ok(());
    }
    Err(Stop::Wrong(format!(
        "{}: there is such a file already, which this command did not write, and it stays as it is: name another",
        file.display()
    )))
}

/// First bytes of a file as text, which is empty if they cannot be read.
///
/// `None` if overwriting the file loses nothing: it is empty or missing, or a pipe or device.
fn beginning(file: &Path) -> Option<String> {
    if file.metadata().map_or(true, |own| !own.is_file() || own.len() == 0) {
        return None;
    }
    let mut begins = Vec::new();
    let read = File::open(file).and_then(|file| file.take(4096).read_to_end(&mut begins));
    Some(read.map(|_| String::from_utf8_lossy(&begins).into_owned()).unwrap_or_default())
}

/// Removes a progress bar, if standard error is a terminal.
pub(crate) fn clear_line() {
    let mut stderr = io::stderr().lock();
    if stderr.is_terminal() {
        let _ = write!(stderr, "\r\u{1b}[K");
    }
}

/// Prints help and version to standard output, errors to standard error.
pub(crate) fn answer(error: &clap::Error) -> u8 {
    let text = error.render();
    if error.use_stderr() {
        let mut stderr = io::stderr().lock();
        let plain = text.to_string();
        // If an argument in the message has control sequences, these cannot be told from clap's
        // colours.
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

/// Whether arguments have characters that control a terminal.
fn repeats_what_is_obeyed() -> bool {
    std::env::args_os().any(|word| matches!(visible(&word.to_string_lossy()), Cow::Owned(_)))
}

/// Prints the error, if any, and returns the exit status.
pub(crate) fn finish(ended: Ended) -> u8 {
    match ended {
        Ok(Verdict::Done) | Err(Stop::Gone) => 0,
        Ok(Verdict::RunFailed) => 1,
        Ok(Verdict::Incomplete) => 3,
        Ok(Verdict::Stopped) => 75,
        Ok(Verdict::Interrupted) => 130,
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
