//! What must be said of results so that nobody takes them for more than they are: the same sentences on the terminal
//! and on the page.

use crate::findings::number::plural;
use crate::findings::summary::Summary;
use crate::findings::words::short;
use crate::run::{Results, has_same_jobs};
use crate::study::expand::Point;
use crate::study::{Replications, Study};
use toml::Value;

/// How many scenarios are named one by one.
const MAX_NAMED: usize = 4;

/// One sentence for each thing, without a full stop.
#[must_use]
pub fn notes(study: &Study, points: &[Point], results: &Results, summary: &Summary) -> Vec<String> {
    let mut notes = Vec::new();
    let all = summary.rows.len();
    let chosen = |is_one: &dyn Fn(usize) -> bool| -> Vec<usize> {
        (0..all).filter(|&index| is_one(index)).collect()
    };
    let growing = chosen(&|index| summary.rows[index].growing);
    if !growing.is_empty() {
        notes.push(format!(
            "the machine is overloaded{}: the queue grows to the end, so mean waits depend on the length of the \
             run; compare `carried_load` instead, or lower the load",
            place(points, &growing)
        ));
    }
    let mut left_out: Vec<(&str, u64, u64)> = Vec::new();
    for point in points {
        let (Some(windows), Some(path)) = (&point.windows, point.scenario.input_path()) else {
            continue;
        };
        let one = (path, windows.empty, windows.empty + windows.count());
        if windows.empty > 0 && !left_out.contains(&one) {
            left_out.push(one);
        }
    }
    notes.extend(left_out.iter().map(|(path, empty, all)| {
        let verb = if *empty == 1 { "is" } else { "are" };
        format!("in {empty} of {all} windows of {path} no job arrives: they {verb} left out")
    }));
    let asked = match &study.replications {
        Replications::Fixed(1) | Replications::Windows { .. } => return notes,
        Replications::Fixed(count) => format!("`replications` is {count}"),
        Replications::Precision { .. } => "`precision` asks for replications".to_owned(),
    };
    let constant = chosen(&|index| results.is_constant(index));
    if !constant.is_empty() {
        notes.push(format!(
            "{asked}, but nothing random differs between them{}: the jobs are those of a log and no strategy draws \
             random numbers, so one run counts, and ± comes from batches of it; `workload.shuffle` or `windows` give replications that \
             differ",
            place(points, &constant)
        ));
    }
    let same_jobs = chosen(&|index| {
        let runs = &results.runs[index];
        runs.len() - runs.failures().len() > 1 && has_same_jobs(&points[index].scenario)
    });
    if !same_jobs.is_empty() {
        notes.push(format!(
            "all replications have the same jobs, those of the log, and differ only in the random choices of \
             strategies{}: ± does not cover other jobs; `windows` would",
            place(points, &same_jobs)
        ));
    }
    notes
}

/// Of which scenarios something is said: nothing where it is said of all.
fn place(points: &[Point], chosen: &[usize]) -> String {
    if chosen.len() == points.len() {
        return String::new();
    }
    if chosen.len() > MAX_NAMED {
        return format!(" in {} of {}", chosen.len(), plural(points.len() as u64, "scenario"));
    }
    let words =
        |(key, value): &(String, Value)| format!("{key} = {}", short(key, &[value]).concat());
    let label =
        |&index: &usize| points[index].swept.iter().map(words).collect::<Vec<_>>().join(", ");
    let labels: Vec<String> = chosen.iter().map(label).collect();
    format!(" with {}", labels.join("; "))
}
