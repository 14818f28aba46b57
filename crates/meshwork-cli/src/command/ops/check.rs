//! `meshwork ops check`: prints the problems in the configuration files of a Slurm machine.

use meshwork_lab::slurm;
use meshwork_slurm::check::{self, PlacementTable};
use meshwork_slurm::finding::Level;
use serde_json::Value as Json;

use crate::args::ops;
use crate::output::{Ended, Output, Stop, Verdict};
use crate::table::{Column, print};

pub(super) fn run(out: &mut Output, arguments: &ops::Check) -> Ended {
    let checked = check::check(
        arguments.file.as_deref(),
        arguments.conf.as_deref(),
        arguments.gres.as_deref(),
        &slurm::read_file,
    )
    .map_err(Stop::Wrong)?;
    let verdict = if checked.starts() { Verdict::Done } else { Verdict::RunFailed };
    if arguments.json {
        out.json(&checked.json())?;
        return Ok(verdict);
    }
    let files = &checked.reading.files;
    let findings = checked.findings();
    for finding in &findings {
        let word = match finding.level {
            Level::Fatal => "refused",
            Level::Warning => "warning",
        };
        out.line(&format!("{word}: {}", files.place(finding)))?;
        for line in &finding.slurm {
            out.line(&format!("    Slurm logs: {line}"))?;
        }
    }
    let topologies = checked.reading.topologies.iter();
    for ((topology, _), (table, drawing)) in
        topologies.zip(checked.tables.iter().zip(&checked.drawings))
    {
        if !findings.is_empty() || !table.rows.is_empty() {
            out.line("")?;
        }
        let name = if topology.name.is_empty() { "(without a name)" } else { &topology.name };
        out.headline(&format!("{name}: {}", topology.kind.name()))?;
        print_table(out, table)?;
        if !drawing.is_empty() {
            out.line("")?;
        }
        drawing.iter().try_for_each(|line| out.line(line))?;
    }
    let warnings = findings.iter().filter(|finding| finding.level == Level::Warning).count();
    let noun = if warnings == 1 { "warning" } else { "warnings" };
    if !findings.is_empty() || !checked.tables.is_empty() {
        out.line("")?;
    }
    let names = files.names();
    let verdict_in_words = match (checked.starts(), checked.reading.is_model, &files.conf) {
        (true, false, _) => {
            format!("as far as was checked, Slurm starts with {names}")
        }
        (true, true, _) => format!("Slurm would start with the topologies of {names}"),
        (false, _, Some(_)) => format!("Slurm would not start with {names}"),
        (false, _, None) => format!("Slurm would not start with {names} as its topology file"),
    };
    out.line(&format!("{verdict_in_words}: {warnings} {noun}"))?;
    Ok(verdict)
}

fn print_table(out: &mut Output, table: &PlacementTable) -> Result<(), Stop> {
    let cell = |value: &Json| match value {
        Json::Null => "-".to_owned(),
        Json::Bool(true) => "yes".to_owned(),
        Json::Bool(false) => "no".to_owned(),
        Json::String(text) => text.clone(),
        other => other.to_string(),
    };
    let mut columns = Vec::new();
    for (place, name) in table.columns.iter().enumerate() {
        let cells: Vec<String> = table.rows.iter().map(|row| cell(&row[place])).collect();
        let is_number = table.rows.iter().all(|row| row[place].is_number() || row[place].is_null());
        let widest = cells.iter().map(String::len).max().unwrap_or(0);
        columns.push(if is_number {
            Column::numbers(name, cells.iter().map(|cell| format!("{cell:>widest$}")).collect())
        } else {
            Column::words(name, cells)
        });
    }
    if columns.is_empty() {
        return Ok(());
    }
    let rest = columns.split_off(1);
    print(out, &columns, &rest, &[])
}
