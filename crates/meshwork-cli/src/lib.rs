//! The command `meshwork`: a thin front end to the other crates of the project.
//!
//! The command simulates processor allocation and job scheduling on meshes, tori, hypercubes, fat
//! trees, dragonflies, pods of TPU slices, flat machines and several sites; `meshwork ops` is for
//! clusters under Slurm or Kueue.
//!
//! A program can add its own strategies to a catalogue, and run the command with this catalogue:
//!
//! ```no_run
//! use std::process::ExitCode;
//!
//! use meshwork::catalogue::Catalogue;
//!
//! fn main() -> ExitCode {
//!     // with Catalogue::standard().with(&mine::ENTRY) and so on
//!     meshwork_cli::main_with(Catalogue::standard())
//! }
//! ```

mod args;
mod command;
mod memory;
mod number;
mod output;
mod picture;
mod results;
mod serve;
mod table;
mod toml_text;
mod wrap;

use std::ffi::OsString;
use std::fmt::Display;
use std::panic::{self, AssertUnwindSafe, PanicHookInfo};
use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};

use clap::{FromArgMatches as _, Parser as _};
use meshwork::catalogue::Catalogue;

use args::{Arguments, Command};
use output::{Ended, Kept, Output, Stop, Verdict, answer, finish};

static LAST_PANIC: Mutex<String> = Mutex::new(String::new());

/// Runs the command line of this process with the strategies of a catalogue.
///
/// If the catalogue is invalid, the program ends with one sentence about the error.
pub fn main_with<C: TryInto<Catalogue, Error: Display>>(catalogue: C) -> ExitCode {
    ExitCode::from(match catalogue.try_into() {
        Ok(catalogue) => main_of(&catalogue, std::env::args_os()),
        Err(error) => finish(Err(Stop::Wrong(error.to_string()))),
    })
}

/// Runs the command line `words`, including the program name, and returns the exit status.
///
/// The function is for programs that are not started as the command, such as a Python interpreter.
pub fn main_of(catalogue: &Catalogue, words: impl IntoIterator<Item = OsString>) -> u8 {
    // A panic is a fault of the program and is reported in one sentence. A panic inside a run is
    // caught by `meshwork-lab` and makes only that run fail.
    panic::set_hook(Box::new(remember));
    let arguments = args::command()
        .try_get_matches_from(words)
        .and_then(|matches| Arguments::from_arg_matches(&matches));
    match arguments {
        Ok(arguments) => finish(caught(|| run(&mut Output::new(), arguments.command, catalogue))),
        Err(error) => match args::hint(&error) {
            Some(hint) => finish(Err(Stop::Wrong(hint))),
            None => answer(&error),
        },
    }
}

/// Result of a command that a program called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandOutput {
    /// Standard output as plain text.
    pub text: String,
    /// Whether the exit status would have been 0: no run failed, and no check found a difference.
    pub all_well: bool,
}

/// Reason, in one sentence, why a command failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The command line or an input was wrong.
    Wrong(String),
    /// An error occurred while the command ran.
    Failed(String),
}

/// Runs one command for a program and returns its output.
///
/// `words` are the arguments after `meshwork`. Warnings go to standard error.
///
/// ```
/// use meshwork::catalogue::Catalogue;
/// use meshwork_cli::{Refusal, ask};
/// let catalogue = Catalogue::standard();
/// let answer = ask(&catalogue, ["list", "allocator", "first_fit", "--json"]).unwrap();
/// assert!(answer.all_well && answer.text.starts_with("{\"kind\":\"allocator\""));
/// let Err(Refusal::Wrong(sentence)) = ask(&catalogue, ["list", "allocater"]) else { panic!() };
/// assert!(sentence.starts_with("unknown kind `allocater` (did you mean `allocator`?"));
/// ```
///
/// # Errors
/// The message with which the command would have ended.
pub fn ask<W: Into<OsString>>(
    catalogue: &Catalogue,
    words: impl IntoIterator<Item = W>,
) -> Result<CommandOutput, Refusal> {
    let words = std::iter::once("meshwork".into()).chain(words.into_iter().map(Into::into));
    let arguments = Arguments::try_parse_from::<_, OsString>(words).map_err(|error| {
        if let Some(hint) = args::hint(&error) {
            return Refusal::Wrong(hint);
        }
        // The first paragraph of clap's error says what is wrong. Later paragraphs are help for a
        // shell.
        let text = error.render().to_string();
        let wrong = text.split("\n\n").next().unwrap_or_default().trim_start_matches("error: ");
        Refusal::Wrong(wrong.split_whitespace().collect::<Vec<_>>().join(" "))
    })?;
    let kept = Kept::default();
    match caught(|| run(&mut Output::kept(&kept), arguments.command, catalogue)) {
        Ok(verdict) => Ok(CommandOutput { text: kept.text(), all_well: verdict == Verdict::Done }),
        Err(Stop::Wrong(sentence)) => Err(Refusal::Wrong(sentence)),
        Err(Stop::Failed(sentence)) => Err(Refusal::Failed(sentence)),
        Err(Stop::Gone) => Err(Refusal::Failed("what was written could not be kept".to_owned())),
    }
}

fn caught(run: impl FnOnce() -> Ended) -> Ended {
    panic::catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|_| Err(Stop::Failed(fault())))
}

fn run(out: &mut Output, command: Command, catalogue: &Catalogue) -> Ended {
    let verdict = match command {
        Command::Run(arguments) => command::run::run(out, catalogue, &arguments)?,
        Command::Choose(arguments) => command::choose::run(out, catalogue, &arguments)?,
        Command::Replay(arguments) => command::replay::run(out, catalogue, &arguments)?,
        Command::New(arguments) => command::new::run(out, &arguments)?,
        Command::Schema => command::schema::run(out, catalogue)?,
        Command::Submit(arguments) => command::submit::run(out, catalogue, &arguments)?,
        Command::Collect(arguments) => command::collect::run(out, catalogue, &arguments)?,
        Command::Status(arguments) => command::status::run(out, catalogue, &arguments)?,
        Command::Reproduce(arguments) => command::reproduce::run(out, catalogue, &arguments)?,
        Command::Report(arguments) => command::report::run(out, catalogue, &arguments)?,
        Command::Show(arguments) => command::show::run(out, catalogue, &arguments)?,
        Command::List(arguments) => command::list::run(out, catalogue, &arguments)?,
        Command::Trace(arguments) => command::trace::run(out, &arguments)?,
        Command::Watch(arguments) => command::watch::run(out, catalogue, &arguments)?,
        Command::Plan(arguments) => command::plan::run(out, catalogue, &arguments)?,
        Command::Place(arguments) => command::place::run(out, catalogue, &arguments)?,
        Command::Traffic(arguments) => command::traffic::run(out, catalogue, &arguments)?,
        Command::Ops(asked) => command::ops::run(out, catalogue, &asked)?,
        Command::Check(arguments) => command::check::run(out, catalogue, &arguments)?,
        Command::Completions { shell } => command::pages::completions(out, catalogue, shell)?,
        Command::Manual { dir } => command::manual::run(catalogue, &dir)?,
        Command::Man { dir } => command::pages::man(out, dir.as_deref())?,
    };
    out.flush()?;
    Ok(verdict)
}

fn remember(info: &PanicHookInfo<'_>) {
    let what = info.payload_as_str().unwrap_or("without a word").replace('\n', "; ");
    let place = info.location().map_or_else(String::new, |at| format!(" ({at})"));
    *LAST_PANIC.lock().unwrap_or_else(PoisonError::into_inner) = format!("{what}{place}");
}

fn fault() -> String {
    let what = LAST_PANIC.lock().unwrap_or_else(PoisonError::into_inner).clone();
    format!("this is a bug in Meshwork, please report it: {what}")
}
