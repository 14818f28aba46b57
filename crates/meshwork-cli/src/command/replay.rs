//! `meshwork replay`: runs a log under several schedulers, without a study file.

use std::path::{Path, PathBuf};

use meshwork::catalogue::Catalogue;
use meshwork::registry::did_you_mean;
use meshwork::sched::SchedulerEntry;
use meshwork::workload::statistics::Statistics;
use meshwork_lab::run::memory::check_count;
use meshwork_lab::study::asked::StudyRequest;
use meshwork_lab::study::command_for;
use meshwork_lab::text::number::count;
use meshwork_lab::trace::info;
use meshwork_lab::{Refused, Study};
use meshwork_report::Maps;
use toml::{Table, Value};

use super::place::machine;
use super::stop::Stopper;
use super::{report, run};
use crate::args::Replay;
use crate::output::{Ended, Output, Stop, Verdict, say};
use crate::results;
use crate::toml_text::document;

pub(crate) fn run(out: &mut Output, catalogue: &Catalogue, arguments: &Replay) -> Ended {
    let log = arguments.log.display();
    if arguments.log.extension().is_some_and(|ending| ending == "toml") {
        let says = format!("{log}: this is no log, but a study: `meshwork run {log}`");
        return Err(Stop::Wrong(says));
    }
    if let Some(command @ "meshwork ops import --sacct") = command_for(&arguments.log) {
        let says = format!("{log}: this is what sacct prints: `{command} {log}`");
        return Err(Stop::Wrong(says));
    }
    let statistics = info(&arguments.log);
    if statistics.as_ref().is_ok_and(|statistics| statistics.jobs == 0) {
        return Err(Stop::Wrong(format!("{log}: the log has no jobs")));
    }
    let machine = match &arguments.machine {
        Some(text) => machine(catalogue, text)
            .map_err(|sentence| Stop::Wrong(format!("--machine {text}: {sentence}")))?,
        None => of_header(&arguments.log, &statistics?)?,
    };
    let entries = catalogue.list::<SchedulerEntry>();
    for (place, name) in arguments.schedulers.iter().enumerate() {
        if arguments.schedulers[..place].contains(name) {
            return Err(Stop::Wrong(format!(
                "--schedulers {}: `{name}` stands twice, but each scheduler is replayed once",
                arguments.schedulers.join(",")
            )));
        }
        if !entries
            .iter()
            .any(|entry| entry.about.name == name || entry.about.aliases.contains(&name.as_str()))
        {
            let known: Vec<&str> = entries.iter().map(|entry| entry.about.name).collect();
            let says = did_you_mean(name, &known);
            return Err(Stop::Wrong(format!(
                "--schedulers {name}: unknown scheduler `{name}` ({says})"
            )));
        }
    }
    let source = document(&study(arguments, machine)?);
    let path = absolute(&arguments.log)?;
    let restated = |refused: Refused| Refused(restated(&refused.0, &path, arguments));
    let study =
        Study::parse_in(catalogue, &log.to_string(), &source, Path::new(""), &arguments.settings)
            .map_err(restated)?;
    check_count(&study, arguments.memory.limit()).map_err(restated)?;
    let folder = folder(arguments);
    must_hold_no_other(&folder, &arguments.log)?;
    let limits = (arguments.threads, arguments.memory);
    let stopper = Stopper::of_command(out);
    let kept = (Some(folder.clone()), false);
    let finished =
        run::one(&study, kept, limits, arguments.json, None, stopper.as_ref()).map_err(restated)?;
    if let Some(stopper) = stopper.filter(|_| finished.results.stopped) {
        return Ok(stopper.verdict());
    }
    if arguments.json {
        for object in finished.summary.json() {
            out.json(&object)?;
        }
    } else {
        results::print(out, &study, &finished)?;
    }
    out.flush()?;
    run::tell(&finished, false);
    if !finished.failures.is_empty() {
        return Ok(Verdict::RunFailed);
    }
    let page = report::write(catalogue, &folder, None, &Maps::default())?;
    if !arguments.json {
        out.line("")?;
        out.line(&format!("page: {}", page.display()))?;
        out.line(&format!("study and runs: {}", folder.display()))?;
    }
    Ok(Verdict::Done)
}

/// Error message without the line number, which refers to a study that no user sees.
fn restated(says: &str, path: &str, arguments: &Replay) -> String {
    let log = arguments.log.display().to_string();
    let own = says.strip_prefix(&format!("{log}:")).and_then(|own| own.split_once(": "));
    let Some((_, own)) = own.filter(|(line, _)| line.parse::<usize>().is_ok()) else {
        return says.to_owned();
    };
    match (own.strip_prefix(path), &arguments.machine) {
        (Some(own), _) => log + own,
        (None, Some(machine)) if own.starts_with("`machine") => {
            format!("--machine {machine}: {own}")
        }
        _ => says.to_owned(),
    }
}

/// Flat machine with as many processors as the header of a log gives.
fn of_header(log: &Path, statistics: &Statistics) -> Result<Value, Stop> {
    let Some(processors) = statistics.processors_by_header else {
        let largest = statistics.largest_job.unwrap_or(1);
        return Err(Stop::Wrong(format!(
            "{}: this log does not say how many processors its machine had; its largest job asks for {}: \
             name the machine, as in `--machine flat:{largest}`",
            log.display(),
            count(largest)
        )));
    };
    say(
        "note",
        &format!(
            "the machine is flat, with the {} processors of the header; {} gives it a shape",
            count(processors),
            torus_of(processors).map_or_else(
                || "`--machine`".to_owned(),
                |torus| format!("`--machine {torus}` or the like")
            )
        ),
    );
    meshwork::scenario::machine_in_words(&format!("flat:{processors}"))
        .map_err(|problem| Stop::Wrong(problem.message))
}

/// Torus of exactly `processors` nodes, with sides of similar length; `None` if there is none.
///
/// Three dimensions are preferred to two.
fn torus_of(processors: u64) -> Option<String> {
    let sides = |count: u64| {
        (2..)
            .take_while(move |side| side * side <= count)
            .filter(move |side| count.is_multiple_of(*side))
    };
    let is_near = |long: u64, short: u64| long <= 4 * short;
    let solids = sides(processors).flat_map(|least| {
        let rest = processors / least;
        sides(rest).filter(move |&side| side >= least).map(move |side| [rest / side, side, least])
    });
    let solid =
        solids.filter(|[long, _, short]| is_near(*long, *short)).min_by_key(|[a, b, c]| a + b + c);
    if let Some([a, b, c]) = solid {
        return Some(format!("torus:{a}x{b}x{c}"));
    }
    let short = sides(processors).last()?;
    let long = processors / short;
    is_near(long, short).then(|| format!("torus:{long}x{short}"))
}

/// Returns an error if the folder already has results other than replays of the log.
fn must_hold_no_other(folder: &Path, log: &Path) -> Result<(), Stop> {
    let path = absolute(log)?;
    let before = if folder.is_dir() { StudyRequest::read(folder)? } else { None };
    if before.is_none_or(|before| before.inputs.iter().any(|input| input.path == path)) {
        return Ok(());
    }
    Err(Stop::Wrong(format!(
        "{}: this folder holds other results than those of {}: give another folder with `--out`",
        folder.display(),
        log.display()
    )))
}

fn absolute(log: &Path) -> Result<String, Stop> {
    let path = std::path::absolute(log);
    let path = path.map_err(|error| Stop::Wrong(format!("{}: {error}", log.display())))?;
    Ok(path.to_string_lossy().into_owned())
}

fn study(arguments: &Replay, machine: Value) -> Result<Table, Stop> {
    let text = absolute(&arguments.log)?;
    let plain = text.strip_suffix(".gz").unwrap_or(&text);
    let is_table = [".csv", ".parquet"].iter().any(|ending| plain.ends_with(ending));
    let schedulers: Vec<Value> = arguments.schedulers.iter().map(|s| s.as_str().into()).collect();
    let mut workload = Table::new();
    workload.insert("name".to_owned(), if is_table { "table" } else { "swf" }.into());
    workload.insert("path".to_owned(), text.into());
    let mut study = Table::new();
    study.insert("name".to_owned(), stem(&arguments.log).into());
    study.insert("machine".to_owned(), machine);
    study.insert("workload".to_owned(), workload.into());
    if let [first, _, ..] = &schedulers[..] {
        let baseline = Table::from_iter([("scheduler".to_owned(), first.clone())]);
        study.insert("compare".to_owned(), baseline.into());
    }
    let sweep = Table::from_iter([("scheduler".to_owned(), Value::Array(schedulers))]);
    study.insert("sweep".to_owned(), sweep.into());
    Ok(study)
}

/// Folder for results: by default in the working directory and named after the log.
fn folder(arguments: &Replay) -> PathBuf {
    arguments.out.clone().unwrap_or_else(|| format!("{}-replay", stem(&arguments.log)).into())
}

/// Name of a log without its endings, such as `log` for `log.swf.gz`.
fn stem(log: &Path) -> String {
    let name = log.file_name().unwrap_or_default().to_string_lossy();
    let name = name.strip_suffix(".gz").unwrap_or(&name);
    name.rsplit_once('.').map_or(name, |(stem, _)| stem).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suggested_machines_have_the_size_of_the_log() {
        for (processors, torus) in [
            (64, Some("torus:4x4x4")),
            (128, Some("torus:8x4x4")),
            (10, Some("torus:5x2")),
            (4, Some("torus:2x2")),
            (1, None),
            (22, None),
            (430, None),
            (1009, None),
        ] {
            assert_eq!(torus_of(processors).as_deref(), torus, "{processors}");
        }
    }
}
