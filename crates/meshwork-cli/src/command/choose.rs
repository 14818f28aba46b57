//! `meshwork choose`: races the candidates of studies and prints the best of them.

use std::path::{Path, PathBuf};

use meshwork::catalogue::Catalogue;
use meshwork_lab::Study;
use meshwork_lab::choose::outcome::{ChoiceOutcome, RaceEnd};
use meshwork_lab::choose::request::Budget;
use meshwork_lab::choose::{CHOICE, ChooseOptions, ShardOfRound, WINNER, choose, choose_shard};
use meshwork_lab::run::memory::check_count;
use meshwork_lab::run::{RunProgress, build};
use meshwork_lab::sweep::Shard;
use meshwork_lab::text::number::count;

use super::meter::Meter;
use super::run::complain;
use super::stop::Stopper;
use crate::args::choose::Choose;
use crate::output::{Ended, Output, Stop, Verdict, say};
use crate::table::{Column, print};
use crate::wrap::wrapped;

const MAX_ROWS: usize = 30;

pub(crate) fn run(out: &mut Output, catalogue: &Catalogue, arguments: &Choose) -> Ended {
    let read = |file: &PathBuf| Study::read_in(catalogue, file, &arguments.settings);
    let studies = arguments.files.iter().map(read).collect::<Result<Vec<Study>, _>>()?;
    for (number, study) in studies.iter().enumerate() {
        check_count(study, arguments.memory.limit())?;
        if studies[..number].iter().any(|other| other.name == study.name) {
            return Err(Stop::Wrong(format!(
                "{}: two studies have the name {}: give each a `name` of its own",
                study.file, study.name
            )));
        }
    }
    if let [study] = &studies[..] {
        return one(out, study, arguments, arguments.out.as_deref()).map(|(verdict, _)| verdict);
    }
    if arguments.shard.is_some() {
        return Err(Stop::Wrong("--shard: give one study".to_owned()));
    }
    let (mut last, mut lines) = (Verdict::Done, Vec::new());
    for study in &studies {
        if !arguments.json {
            out.headline(&study.name)?;
        }
        let folder = arguments.out.as_ref().map(|out| out.join(&study.name));
        let (verdict, line) = one(out, study, arguments, folder.as_deref())?;
        lines.extend(line);
        if !arguments.json {
            out.line("")?;
        }
        if verdict != Verdict::Done {
            last = verdict;
        }
        if verdict == Verdict::Stopped {
            break;
        }
    }
    if !arguments.json {
        let column = |place: usize| -> Vec<String> {
            lines.iter().map(|line| line[place].clone()).collect()
        };
        let columns = [
            Column::words("choice", column(1)),
            Column::words("worse than the best", column(2)),
            Column::words("change", column(3)),
            Column::numbers("runs", right(column(4))),
        ];
        print(out, &[Column::words("study", column(0))], &columns, &[])?;
    }
    Ok(last)
}

/// Chooses the best candidate of one study.
///
/// Returns the verdict, and the study's row for the table of all studies.
fn one(
    out: &mut Output,
    study: &Study,
    arguments: &Choose,
    folder: Option<&Path>,
) -> Result<(Verdict, Option<[String; 5]>), Stop> {
    let request = arguments.request();
    let time = match request.budget()? {
        Some(Budget::Time(time)) => Some(time),
        _ => None,
    };
    let stopper = if out.is_kept { Stopper::new(time) } else { Stopper::of_user(time) };
    let meter = if arguments.quiet { Meter::silent() } else { Meter::new("run") };
    let show = |progress: RunProgress| meter.show(progress);
    let stop = || stopper.is_time();
    let options = ChooseOptions {
        request,
        out: folder.map(Path::to_owned),
        threads: arguments.threads.unwrap_or(0),
        max_memory: arguments.memory.limit(),
        progress: &show,
        build: build::of(&study.catalogue),
        stop: &stop,
        replace: arguments.replace,
    };
    if let Some(shard) = &arguments.shard {
        let shard = Shard::read(shard, |name| std::env::var(name).ok())
            .map_err(|sentence| Stop::Wrong(format!("--shard: {sentence}")))?;
        let ended = choose_shard(study, &options, shard);
        meter.end();
        return Ok((of_shard(out, &ended?, arguments.quiet)?, None));
    }
    let choice = choose(study, &options);
    meter.end();
    let choice = choice?;
    let verdict = printed(out, &choice, folder, arguments.json, arguments.quiet)?;
    let [label, bound, change, runs] = choice.line();
    Ok((verdict, Some([study.name.clone(), label, bound, change, runs])))
}

pub(super) fn printed(
    out: &mut Output,
    choice: &ChoiceOutcome,
    folder: Option<&Path>,
    is_json: bool,
    quiet: bool,
) -> Ended {
    if is_json {
        out.json(&choice.json())?;
    } else {
        text(out, choice)?;
        if let Some(folder) = folder {
            out.line("")?;
            let written = if choice.recommended.is_some() {
                [CHOICE, WINNER].join(", ")
            } else {
                CHOICE.to_owned()
            };
            out.line(&format!("in {}: {written}", folder.display()))?;
        }
    }
    out.flush()?;
    if !quiet {
        choice.warnings.iter().for_each(|warning| say("warning", warning));
    }
    complain(&choice.failures);
    Ok(match choice.stopped {
        _ if !choice.failures.is_empty() => Verdict::RunFailed,
        RaceEnd::Interrupted => Verdict::Stopped,
        _ if choice.is_stopped_early => Verdict::Stopped,
        _ => Verdict::Done,
    })
}

fn of_shard(out: &mut Output, ended: &ShardOfRound, quiet: bool) -> Ended {
    if !quiet {
        out.line(&if ended.is_over {
            "the race is decided: `meshwork choose` without --shard prints the result".to_owned()
        } else {
            format!(
                "shard {}: {} of the {} runs of this round ended here",
                ended.shard,
                count(ended.done),
                count(ended.round)
            )
        })?;
        out.flush()?;
        ended.warnings.iter().for_each(|warning| say("warning", warning));
    }
    complain(&ended.failures);
    Ok(match () {
        () if ended.stopped => Verdict::Stopped,
        () if !ended.failures.is_empty() => Verdict::RunFailed,
        () => Verdict::Done,
    })
}

fn text(out: &mut Output, choice: &ChoiceOutcome) -> Result<(), Stop> {
    for sentence in choice.sentences() {
        out.hanging(&sentence, "  ")?;
    }
    let rows = choice.rows();
    let cell = |column: usize| -> Vec<String> {
        rows.iter().take(MAX_ROWS).map(|row| row[column].clone()).collect()
    };
    out.line("")?;
    let keys = [Column::numbers("", right(cell(0)))];
    let columns = [
        Column::words("candidate", cell(1)),
        Column::numbers("runs", right(cell(2))),
        Column::numbers(&choice.header(&choice.metric), right(cell(3))),
    ];
    let mut columns = Vec::from(columns);
    if let Some(second) = &choice.second {
        columns.push(Column::numbers(&choice.header(second), right(cell(4))));
    }
    columns.push(Column::words("fate", cell(5)));
    print(out, &keys, &columns, &[])?;
    if rows.len() > MAX_ROWS {
        out.line(&format!("and {} more candidates: --json has all", rows.len() - MAX_ROWS))?;
    }
    if !choice.effects.is_empty() {
        out.line("")?;
        for line in choice.effect_lines() {
            let indent = if line.starts_with(' ') { "  " } else { "" };
            for line in wrapped(&line, out.width - indent.len(), "  ") {
                out.line(&format!("{indent}{line}"))?;
            }
        }
    }
    if !choice.slurm.is_empty() {
        out.line("")?;
        out.line("changed lines of the configuration:")?;
        for line in &choice.slurm {
            out.line(line)?;
        }
    }
    Ok(())
}

/// Right-aligns texts by spaces on their left, so that all are as wide as the widest.
fn right(cells: Vec<String>) -> Vec<String> {
    let width = cells.iter().map(String::len).max().unwrap_or(0);
    cells.into_iter().map(|cell| format!("{cell:>width$}")).collect()
}
