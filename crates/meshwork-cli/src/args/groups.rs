//! The groups of commands listed by `meshwork --help`.

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::path::Path;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Command, CommandFactory};
use meshwork_lab::study::command_for;

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

/// Description of the command `help`, in the words of clap.
const HELP: &str = "Print this message or the help of the given subcommand(s)";

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

/// The command to suggest if a file or a folder was given in place of a command.
pub(crate) fn hint(error: &clap::Error) -> Option<String> {
    if error.kind() != ErrorKind::InvalidSubcommand {
        return None;
    }
    let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidSubcommand) else {
        return None;
    };
    let path = Path::new(word);
    let ending = path.extension().and_then(OsStr::to_str);
    let usage = error.get(ContextKind::Usage).map(ToString::to_string).unwrap_or_default();
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
        let help = command.find_subcommand("help").and_then(Command::get_about).unwrap();
        assert_eq!(help.to_string(), HELP);
        known.sort();
        listed.sort_unstable();
        assert_eq!(known, listed);
    }
}
