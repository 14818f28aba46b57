//! `meshwork collect`: merges the results of the shards of a study.

use meshwork::catalogue::Catalogue;
use meshwork_lab::run::Unit;
use meshwork_lab::study::expand::Point;
use meshwork_lab::sweep::progress::Missing;
use meshwork_lab::sweep::{Collected, collect, export};
use meshwork_lab::text::label;
use meshwork_lab::text::number::{count, plural};

use crate::args::{Collect, RunsFormat};
use crate::output::{Ended, Output, Verdict, warn};

const MAX_LISTED: usize = 20;

pub(crate) fn run(out: &mut Output, catalogue: &Catalogue, arguments: &Collect) -> Ended {
    let Collected { stored, missing, points, failures, warnings } =
        collect(catalogue, &arguments.dir)?;
    warn(&warnings);
    let shown = arguments.dir.display();
    out.line(&format!(
        "{shown}: {} of {} collected, {} missing, {} failed",
        count(missing.total - missing.runs - missing.failed),
        plural(missing.total, "run"),
        count(missing.runs),
        count(missing.failed)
    ))?;
    list(out, &points, &missing)?;
    if arguments.format == RunsFormat::Parquet {
        let path = export(catalogue, &arguments.dir)?;
        out.line(&format!("written to {} ({})", path.display(), plural(stored as u64, "run")))?;
    }
    out.flush()?;
    super::run::complain(&failures);
    Ok(if missing.runs > 0 {
        Verdict::Incomplete
    } else if failures.is_empty() {
        Verdict::Done
    } else {
        Verdict::RunFailed
    })
}

fn list(out: &mut Output, points: &[Point], missing: &Missing) -> Result<(), crate::output::Stop> {
    let scenarios = || missing.units.chunk_by(|a, b| a.scenario == b.scenario);
    for units in scenarios().take(MAX_LISTED) {
        let scenario = units[0].scenario;
        let swept = points.get(scenario).map_or_else(String::new, |point| label(&point.swept));
        let swept = if swept.is_empty() { String::new() } else { format!(" ({swept})") };
        out.line(&format!("missing: scenario {}{swept}: {}", scenario + 1, replications(units)))?;
    }
    let more = scenarios().count().saturating_sub(MAX_LISTED);
    if more > 0 {
        out.line(&format!(
            "missing: runs of {} more; `meshwork status --json` lists all",
            plural(more as u64, "scenario")
        ))?;
    }
    if missing.runs > 0 {
        out.line("run the shards again that have not ended, or `meshwork submit --missing`; then collect again")?;
    }
    Ok(())
}

/// Formats missing replications, counted from 1, as `replications 1-5, 8`.
///
/// Without known numbers, the text only says that more replications are needed.
pub(super) fn replications(units: &[Unit]) -> String {
    let mut ranges: Vec<(u64, u64)> = Vec::new();
    for number in units.iter().filter_map(|unit| Some(unit.replication? + 1)) {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == number => *last = number,
            _ => ranges.push((number, number)),
        }
    }
    let range = |(first, last): &(u64, u64)| {
        if first == last { first.to_string() } else { format!("{first}-{last}") }
    };
    let words: Vec<String> = ranges.iter().map(range).collect();
    match &ranges[..] {
        [] => "not as often yet as it must be".to_owned(),
        [(first, last)] if first == last => format!("replication {first}"),
        _ => format!("replications {}", words.join(", ")),
    }
}
