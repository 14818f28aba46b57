//! `meshwork completions` and `meshwork man`: print a completion script, and manual pages.

use std::collections::BTreeSet;
use std::path::Path;

use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Arg, Command, CommandFactory};
use clap_complete::Shell;
use meshwork::catalogue::Catalogue;
use meshwork::registry::{About, EntrySource};
use meshwork::scenario::SITE_FAMILY;
use meshwork_lab::Study;
use meshwork_lab::study::papers::{PAPERS, Paper, studies};

use super::list::KINDS;
use crate::args::Arguments;
use crate::output::{Ended, Output, Stop, Verdict};

/// Prints a completion script with the names of kinds, entries and papers.
pub(crate) fn completions(out: &mut Output, catalogue: &Catalogue, shell: Shell) -> Ended {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut with_values(catalogue), program(), &mut script);
    out.raw(&String::from_utf8_lossy(&script))?;
    Ok(Verdict::Done)
}

/// Name of the running program, which may add its own strategies to `meshwork`.
fn program() -> String {
    let own = std::env::current_exe().ok();
    let own =
        own.as_deref().and_then(Path::file_stem).map(|name| name.to_string_lossy().into_owned());
    own.unwrap_or_else(|| "meshwork".to_owned())
}

/// Definition of the command line that lists the accepted values, for shell completion.
///
/// It is not used to parse arguments: the parser accepts more spellings and has its own error
/// messages.
fn with_values(catalogue: &Catalogue) -> Command {
    let offer = |arg: Arg, values: Vec<PossibleValue>| {
        // Entries of different kinds may share a name.
        let mut seen = BTreeSet::new();
        let once = values.into_iter().filter(|value| seen.insert(value.get_name().to_owned()));
        arg.value_parser(PossibleValuesParser::new(once.collect::<Vec<_>>()))
            .hide_possible_values(true)
    };
    let named = |about: &About| PossibleValue::new(about.name).help(about.summary);
    let entries = |word: &str| -> Vec<PossibleValue> {
        let kinds = KINDS.iter().filter(|kind| word.is_empty() || kind.word() == word);
        kinds.flat_map(|kind| catalogue.entries(kind.family)).map(named).collect()
    };
    let kinds = || KINDS.iter().map(|kind| PossibleValue::new(kind.word())).collect();
    let papers = || {
        let paper = |paper: &Paper| PossibleValue::new(paper.key).help(paper.authors);
        PAPERS.iter().map(paper).collect()
    };
    let figures = || {
        let of = |paper: &Paper| studies(catalogue, paper, None, false, &[]).ok();
        let studies = PAPERS.iter().filter_map(of);
        let figures = |study: Study| study.figures().map(str::to_owned).collect::<Vec<_>>();
        studies.flatten().flat_map(figures).map(PossibleValue::new).collect()
    };
    let machines = || {
        let machine =
            |about: &About| PossibleValue::new(format!("{}:", about.name)).help(about.summary);
        let mut all: Vec<PossibleValue> =
            catalogue.entries(&SITE_FAMILY).into_iter().map(machine).collect();
        all.extend(entries("machine"));
        all
    };
    let settings = || -> Vec<PossibleValue> {
        let of = |word: &'static str| {
            entries(word)
                .into_iter()
                .map(move |value| PossibleValue::new(format!("{word}={}", value.get_name())))
        };
        ["machine", "scheduler", "allocator", "selector", "sizing", "network"]
            .into_iter()
            .flat_map(of)
            .collect()
    };
    let mut command = Arguments::command();
    for name in ["run", "show", "watch", "reproduce"] {
        command = command.mut_subcommand(name, |command| {
            command.mut_arg("settings", |arg| offer(arg, settings()))
        });
    }
    command
        .mut_subcommand("list", |command| {
            command
                .mut_arg("kind", |arg| offer(arg, kinds()))
                .mut_arg("name", |arg| offer(arg, entries("")))
        })
        .mut_subcommand("reproduce", |command| {
            command
                .mut_arg("paper", |arg| offer(arg, papers()))
                .mut_arg("figure", |arg| offer(arg, figures()))
        })
        .mut_subcommand("place", |command| {
            command
                .mut_arg("machine", |arg| offer(arg, machines()))
                .mut_arg("allocator", |arg| offer(arg, entries("allocator")))
        })
        .mut_subcommand("traffic", |command| {
            command.mut_arg("traffic", |arg| offer(arg, entries("traffic")))
        })
}

/// Prints the main page, or writes a page for every command into a folder.
pub(crate) fn man(out: &mut Output, folder: Option<&Path>) -> Ended {
    let Some(folder) = folder else {
        let mut page = Vec::new();
        clap_mangen::Man::new(Arguments::command()).render(&mut page)?;
        out.raw(&String::from_utf8_lossy(&page))?;
        return Ok(Verdict::Done);
    };
    let shown = folder.display();
    if folder.exists() && !folder.is_dir() {
        return Err(Stop::Wrong(format!("{shown}: this is a file, but must be a folder")));
    }
    std::fs::create_dir_all(folder)
        .and_then(|()| clap_mangen::generate_to(Arguments::command(), folder))
        .map_err(|error| Stop::Failed(format!("{shown}: pages cannot be written ({error})")))?;
    Ok(Verdict::Done)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_offers_the_names_of_everything() {
        with_values(&Catalogue::standard()).debug_assert();
        for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
            let mut script = Vec::new();
            clap_complete::generate(
                shell,
                &mut with_values(&Catalogue::standard()),
                "meshwork",
                &mut script,
            );
            let script = String::from_utf8(script).unwrap();
            assert!(script.contains("scheduler=easy") && script.contains("first_fit"), "{shell}");
            if shell == Shell::Fish {
                continue; // The script for fish completes only values of options.
            }
            let names =
                KINDS.iter().flat_map(|kind| (kind.family.entries)()).map(|about| about.name);
            let papers = PAPERS.iter().map(|paper| paper.key);
            for name in names.chain(KINDS.iter().map(|kind| kind.word())).chain(papers) {
                assert!(script.contains(name), "{shell} does not know {name}");
            }
        }
    }
}
