//! The command `meshwork`: words in, words out. All that it knows is in the laboratory and the model.
//!
//! A program with strategies of its own has the whole command with them:
//!
//! ```no_run
//! use std::process::ExitCode;
//!
//! use meshwork::catalogue::Catalogue;
//!
//! fn main() -> ExitCode {
//!     // Catalogue::standard().with_allocator(&mine::ENTRY) and so on
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

use std::panic::{self, AssertUnwindSafe, PanicHookInfo};
use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};

use clap::Parser;
use meshwork::catalogue::Catalogue;

use args::{Arguments, Command};
use output::{Ended, Output, Stop, answer, finish};

/// What the last panic said, and where.
static LAST_PANIC: Mutex<String> = Mutex::new(String::new());

/// The whole command, for what the command line of this process says: what it may name is in the
/// catalogue.
#[expect(clippy::needless_pass_by_value, reason = "the last thing that a `main` does with it")]
pub fn main_with(catalogue: Catalogue) -> ExitCode {
    // A panic is a fault of the program and never of its user, who is told so in one sentence. One
    // inside a run is caught by the laboratory and fails that run alone.
    panic::set_hook(Box::new(remember));
    let command = match Arguments::try_parse() {
        Ok(arguments) => arguments.command,
        Err(error) => return answer(&error),
    };
    let ended = panic::catch_unwind(AssertUnwindSafe(|| run(command, &catalogue)))
        .unwrap_or_else(|_| Err(Stop::Failed(fault())));
    finish(ended)
}

fn run(command: Command, catalogue: &Catalogue) -> Ended {
    let mut out = Output::new();
    let verdict = match command {
        Command::Run(arguments) => command::run::run(&mut out, catalogue, &arguments)?,
        Command::Submit(arguments) => command::submit::run(&mut out, catalogue, &arguments)?,
        Command::Collect(arguments) => command::collect::run(&mut out, catalogue, &arguments)?,
        Command::Status(arguments) => command::status::run(&mut out, catalogue, &arguments)?,
        Command::Reproduce(arguments) => command::reproduce::run(&mut out, catalogue, &arguments)?,
        Command::Report(arguments) => command::report::run(&mut out, catalogue, &arguments)?,
        Command::Show(arguments) => command::show::run(&mut out, catalogue, &arguments)?,
        Command::List(arguments) => command::list::run(&mut out, catalogue, &arguments)?,
        Command::Trace(arguments) => command::trace::run(&mut out, &arguments)?,
        Command::Watch(arguments) => command::watch::run(&mut out, catalogue, &arguments)?,
        Command::Place(arguments) => command::place::run(&mut out, catalogue, &arguments)?,
        Command::Traffic(arguments) => command::traffic::run(&mut out, &arguments)?,
        Command::Check(arguments) => command::check::run(&mut out, catalogue, &arguments)?,
        Command::Completions { shell } => command::pages::completions(&mut out, catalogue, shell)?,
        Command::Manual { dir } => command::manual::run(catalogue, &dir)?,
        Command::Man { dir } => command::pages::man(&mut out, dir.as_deref())?,
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
