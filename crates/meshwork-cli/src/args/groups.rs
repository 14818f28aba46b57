//! The groups of commands listed by `meshwork --help`.

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::path::Path;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, Command, CommandFactory};
use meshwork::registry::similar;
use meshwork_lab::study::{PARAMS, SCENARIO_KEYS, command_for};

use super::Arguments;

/// Groups of commands, in the order of `--help`. A test checks that they name every command once.
const GROUPS: [(&str, &[&str]); 6] = [
    ("Begin", &["replay", "new", "reproduce"]),
    ("Studies", &["run", "choose", "report", "watch", "show", "list", "schema", "check"]),
    ("Many computers", &["submit", "status", "collect"]),
    ("Your machine", &["ops", "plan", "place", "trace"]),
    ("Network", &["traffic"]),
    ("This program", &["completions", "man", "help"]),
];

/// Description of the command `help`.
const HELP: &str = "Print this message, or the help of a command";

/// The command line, whose help lists the commands in groups.
pub(crate) fn command() -> Command {
    let command = Arguments::command();
    let mut text = String::from("{about-with-newline}\n{usage-heading} {usage}\n");
    for (title, names) in GROUPS {
        let _ = write!(text, "\n{title}:\n");
        for name in names {
            let about = command.find_subcommand(name).and_then(Command::get_about);
            // The command `help` is the only one that clap adds, when it reads the command line.
            let about = about.map_or_else(|| HELP.to_owned(), ToString::to_string);
            let _ = writeln!(text, "  {name:<12} {about}");
        }
    }
    text += "\nOptions:\n{options}{after-help}";
    command.help_template(text)
}

/// Missing arguments: the command, the argument, and the sentence that the user sees.
const MISSING: [(&str, &str, &str); 3] = [
    (
        "meshwork ops explain",
        "<JOB>",
        "what to explain is missing: the ID of a job, --all or --shape",
    ),
    ("meshwork ops when", "<JOB>", "what to estimate is missing: the ID of a job, or --all"),
    (
        "meshwork place",
        "--machine",
        "the machine is missing: --machine, such as mesh:8x8, or --slurm with its topology.yaml",
    ),
];

/// Clearer sentence than clap's error about a wrong command line.
///
/// `None` if the command line does not show what the user meant or left out.
pub(crate) fn hint(error: &clap::Error) -> Option<String> {
    let word = |kind| match error.get(kind) {
        Some(ContextValue::String(word)) => Some(word.as_str()),
        _ => None,
    };
    let usage = error.get(ContextKind::Usage).map(ToString::to_string).unwrap_or_default();
    match error.kind() {
        ErrorKind::InvalidSubcommand => {
            let word = word(ContextKind::InvalidSubcommand)?;
            Some(file_hint(word, &usage).unwrap_or_else(|| unknown_command(word, &usage)))
        }
        ErrorKind::UnknownArgument => {
            let word = word(ContextKind::InvalidArg)?;
            if used(&usage).1 == "meshwork replay" && !word.starts_with('-') {
                return Some(format!(
                    "unexpected argument `{word}`: one log is replayed, and `--schedulers` takes names \
                     between commas without spaces, as in --schedulers easy,conservative"
                ));
            }
            unknown_option(word, &usage)
        }
        ErrorKind::MissingRequiredArgument => {
            let Some(ContextValue::Strings(missing)) = error.get(ContextKind::InvalidArg) else {
                return None;
            };
            let is_missing = |argument| missing.iter().any(|own| own.starts_with(argument));
            let (_, name) = used(&usage);
            let found = MISSING.iter().find(|own| own.0 == name && is_missing(own.1));
            found.map(|(command, _, says)| format!("`{command}`: {says}"))
        }
        _ => None,
    }
}

/// Command named in a usage line, and its full name, such as `meshwork ops explain`.
fn used(usage: &str) -> (Command, String) {
    let (mut command, mut name) = (Arguments::command(), "meshwork".to_owned());
    for word in usage.split_whitespace().skip_while(|word| *word != "meshwork").skip(1) {
        let Some(next) = command.find_subcommand(word).cloned() else { break };
        command = next;
        let _ = write!(name, " {word}");
    }
    (command, name)
}

/// Names of visible commands below a command, each with the words before it.
fn names(command: &Command, before: &str) -> Vec<(String, String)> {
    let shown = || command.get_subcommands().filter(|command| !command.is_hide_set());
    let own = shown().map(|own| (own.get_name().to_owned(), before.to_owned()));
    let nested = shown().flat_map(|own| names(own, &format!("{before} {}", own.get_name())));
    own.chain(nested).collect()
}

fn unknown_command(word: &str, usage: &str) -> String {
    let (command, before) = used(usage);
    let names = names(&command, &before);
    let known: Vec<&str> = names.iter().map(|(name, _)| name.as_str()).collect();
    let meant = similar(word, &known).and_then(|meant| names.iter().find(|own| own.0 == meant));
    match meant {
        Some((name, before)) => {
            format!("unknown command `{word}` (did you mean `{before} {name}`?)")
        }
        None => format!("unknown command `{word}` (`{before} --help` lists the commands)"),
    }
}

/// Error sentence on an unknown option; `None` if the word does not begin with `--`.
fn unknown_option(word: &str, usage: &str) -> Option<String> {
    let given = word.strip_prefix("--").filter(|given| !given.is_empty())?;
    let (command, name) = used(usage);
    let shown = command.get_arguments().filter(|own| !own.is_hide_set());
    let known: Vec<&str> = shown.filter_map(Arg::get_long).collect();
    let is_key = || PARAMS.iter().any(|own| own.name == given) || SCENARIO_KEYS.contains(&given);
    Some(match similar(given, &known) {
        None if known.contains(&"set") && is_key() => format!(
            "unknown option `{word}`: `{given}` is a key of the study, which `--set {given}=VALUE` sets"
        ),
        Some(meant) => format!("unknown option `{word}` (did you mean `--{meant}`?)"),
        None => format!("unknown option `{word}` (`{name} --help` lists the options)"),
    })
}

/// Name of a command to suggest if a word in place of a command is a file or a folder.
fn file_hint(word: &str, usage: &str) -> Option<String> {
    let path = Path::new(word);
    let ending = path.extension().and_then(OsStr::to_str);
    let command = match ending {
        Some("toml") => "meshwork run",
        _ if path.join("experiment.toml").is_file() => "meshwork report",
        _ if !path.is_file() => return None,
        Some("yaml" | "conf") => "meshwork ops check",
        _ if usage.contains("meshwork trace") => "meshwork trace info",
        _ => command_for(path).unwrap_or("meshwork replay"),
    };
    let what = match path.is_dir() {
        true => "a folder of results",
        false if path.is_file() => "a file",
        false => "no command",
    };
    Some(format!("{word} is {what}: did you mean `{command} {word}`?"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_stands_in_one_group() {
        let mut command = Arguments::command();
        command.build();
        let mut known: Vec<String> = command
            .get_subcommands()
            .filter(|command| !command.is_hide_set())
            .map(|command| command.get_name().to_owned())
            .collect();
        let mut listed: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| *names).copied().collect();
        known.sort();
        listed.sort_unstable();
        assert_eq!(known, listed);
    }
}
