//! Notes on results: warnings and explanations. The terminal and the HTML page show the same notes.

use meshwork::registry::name_of;

use crate::findings::columns::value;
use crate::findings::summary::Summary;
use crate::run::{Results, ScenarioRuns, has_same_jobs};
use crate::statistics::mean;
use crate::study::expand::Point;
use crate::study::words::{short, short_label};
use crate::study::{Axis, Replications, Study};
use crate::text::number::{count, plural};

pub const UNLIKE_JOBS: &str =
    "; without a mark where the two scenarios refused different numbers of jobs";

const MAX_NAMED: usize = 4;

/// Warnings without which the results would be misunderstood. Each is one sentence without a full
/// stop.
pub fn warnings(
    study: &Study,
    points: &[Point],
    results: &Results,
    summary: &Summary,
) -> Vec<String> {
    let mut warnings = Vec::new();
    let rows = summary.rows.iter().enumerate();
    let growing: Vec<usize> = rows.filter(|(_, row)| row.growing).map(|(index, _)| index).collect();
    if !growing.is_empty() {
        warnings.push(format!(
            "the machine is overloaded{}: the queue grows to the end, so mean waits depend on the length of the \
             run; compare `{}` instead, or lower the load",
            place(study, points, &growing),
            under_overload(growing.iter().filter_map(|&index| points.get(index)))
        ));
    }
    let by = by_value(study, results);
    warnings.extend(counted(
        results,
        ScenarioRuns::refused,
        &format!(
            "job was refused{by}: it would not fit even the empty machine, or its scheduler turned it away"
        ),
        &format!(
            "jobs were refused{by}: they would not fit even the empty machine, or their scheduler turned \
             them away"
        ),
    ));
    warnings
}

/// Metric that is meaningful while queues grow.
///
/// It is `throughput` if jobs send messages, and otherwise `carried_load`.
pub(crate) fn under_overload<'a>(points: impl IntoIterator<Item = &'a Point>) -> &'static str {
    let sends = points.into_iter().any(|point| point.scenario.sends());
    if sends { "throughput" } else { "carried_load" }
}

/// Text with the mean number of refused jobs for each value of a swept key. An example is `
/// (allocator = slurm refused 468, naive 0)`.
fn by_value(study: &Study, results: &Results) -> String {
    let mut most: Option<(f64, Vec<(f64, String)>, &str)> = None;
    let mut stride = 1;
    for axis in study.sweep.iter().rev() {
        let mut means: Vec<(f64, String)> = Vec::new();
        let labels = short(&axis.key, &axis.values.iter().collect::<Vec<_>>());
        for (place, label) in labels.into_iter().enumerate() {
            let runs = results.runs.iter().enumerate();
            let own = runs.filter(|(index, _)| index / stride % axis.values.len() == place);
            let counts: Vec<f64> =
                own.flat_map(|(_, runs)| runs.refused()).map(|&count| count as f64).collect();
            means.extend(mean(&counts).map(|mean| (mean.ceil(), label)));
        }
        stride *= axis.values.len();
        means.sort_by(|a, b| b.0.total_cmp(&a.0));
        let spread = means.first().zip(means.last()).map_or(0.0, |(first, last)| first.0 - last.0);
        if spread > most.as_ref().map_or(0.0, |(largest, ..)| *largest) {
            most = Some((spread, means, &axis.key));
        }
    }
    let Some((_, means, key)) = most else { return String::new() };
    let word = |(place, (mean, label)): (usize, &(f64, String))| {
        let verb = if place == 0 { format!("{key} = {label} refused") } else { label.clone() };
        format!("{verb} {}", count(*mean as u64))
    };
    let mut words: Vec<String> = means.iter().enumerate().take(MAX_NAMED).map(word).collect();
    if means.len() > MAX_NAMED {
        words.push("…".to_owned());
    }
    format!(" ({})", words.join(", "))
}

/// Note on a count of jobs, such as `in each run, 3 to 7 jobs were refused`. `None` if the count is
/// 0 in every run.
fn counted(
    results: &Results,
    of: fn(&ScenarioRuns) -> &[u64],
    one: &str,
    several: &str,
) -> Option<String> {
    let counts: Vec<u64> = results.runs.iter().flat_map(of).copied().collect();
    let (least, most) = (*counts.iter().min()?, *counts.iter().max()?);
    let number = match most {
        0 => return None,
        _ if least == most => count(most),
        _ => format!("{} to {}", count(least), count(most)),
    };
    let runs = if counts.len() > 1 { "in each run, " } else { "" };
    Some(format!("{runs}{number} {}", if most == 1 { one } else { several }))
}

/// Whether a scenario has an ideal network, so that run times do not depend on placement.
pub fn is_ideal(point: &Point) -> bool {
    point.scenario.table().get("network").is_none_or(|network| name_of(network) == Some("ideal"))
}

/// Note that contiguity gains nothing on ideal networks, where messages cost no time.
///
/// `None` unless the study compares contiguous and other allocators on such a network.
fn of_ideal_networks(study: &Study, points: &[Point]) -> Option<String> {
    let is_swept = |axis: &Axis| axis.key == "allocator" && axis.values.len() > 1;
    if !study.sweep.iter().any(is_swept) {
        return None;
    }
    let [mut blocks, mut pieces] = [false; 2];
    for point in points.iter().filter(|point| is_ideal(point)) {
        let name = point.scenario.table().get("allocator").and_then(name_of);
        let entries = study.catalogue.list::<meshwork::alloc::AllocatorEntry>();
        let entry = entries.iter().find(|entry| Some(entry.about.name) == name);
        match entry {
            Some(entry) if entry.contiguous => blocks = true,
            Some(_) => pieces = true,
            None => {}
        }
    }
    (blocks && pieces).then(|| {
        "contiguous allocators are compared with scattering ones on an ideal network, where messages cost nothing: \
         scattering can only win; `network` names models in which distance and contention have a price"
            .to_owned()
    })
}

/// Notes on networks that cost no time, and on settings that mean little if jobs send messages.
pub fn of_networks(study: &Study, points: &[Point]) -> Vec<String> {
    let with = |is_one: &dyn Fn(&Point) -> bool| -> Option<String> {
        let found: Vec<usize> = (0..points.len())
            .filter(|&index| points[index].scenario.sends() && is_one(&points[index]))
            .collect();
        (!found.is_empty()).then(|| place(study, points, &found))
    };
    let mut notes = Vec::from_iter(of_ideal_networks(study, points));
    for key in ["load", "scale.load"] {
        notes.extend(with(&|point| has_in_workload(point, key)).map(|place| {
            format!(
                "`workload.{key}` is not the load{place}: it is computed from run times, and a job that sends messages \
                 stays until they have arrived; it only sets how much arrives, and `utilization` tells the load"
            )
        }));
    }
    let is_of_log = |point: &Point| point.scenario.input_path().is_some();
    notes.extend(with(&is_of_log).map(|place| {
        format!(
            "the run times of the log or table are not used{place}: a job that sends messages stays until they have \
             arrived"
        )
    }));
    notes.extend(with(&|point| uses_estimates(study, point)).map(|place| {
        format!(
            "the scheduler plans with estimates that may be far off{place}: they come from the run times of the workload, \
             and a job that sends messages stays until they have arrived; give run times near the \
             `service` that is measured"
        )
    }));
    notes.extend(with(&kills_at_estimate).map(|place| {
        format!(
            "`scheduler.kill_at_estimate` has no effect{place}: a job that sends messages stays until they have arrived"
        )
    }));
    notes
}

fn has_in_workload(point: &Point, key: &str) -> bool {
    let workload = point.scenario.table().get("workload");
    workload.and_then(|own| key.split('.').try_fold(own, |own, key| own.get(key))).is_some()
}

fn uses_estimates(study: &Study, point: &Point) -> bool {
    let name = point.scenario.table().get("scheduler").and_then(name_of);
    let entries = study.catalogue.list::<meshwork::sched::SchedulerEntry>();
    let entry = entries.iter().find(|entry| Some(entry.about.name) == name);
    // The backfill of `slurm` goes by limits, though it keeps no plan from pass to pass.
    entry.is_some_and(|entry| entry.plans || entry.about.name == "slurm")
}

fn kills_at_estimate(point: &Point) -> bool {
    let scheduler = point.scenario.table().get("scheduler");
    scheduler.and_then(|own| own.get("kill_at_estimate")?.as_bool()) == Some(true)
}

/// Note that the first metric's half width exceeds its mean, in scenarios that replay a log. It is
/// made only if the study has a single replication.
fn of_wide_intervals(study: &Study, points: &[Point], summary: &Summary) -> Option<String> {
    if study.replications != Replications::Fixed(1) {
        return None;
    }
    let metric = &summary.rows.first()?.metrics.first()?.0;
    let is_wide = |&index: &usize| {
        let found = value(&summary.rows[index].metrics, metric);
        let is_of_log = points[index].scenario.input_path().is_some();
        is_of_log && found.mean.zip(found.half_width).is_some_and(|(mean, half)| half > mean.abs())
    };
    let wide: Vec<usize> = (0..points.len().min(summary.rows.len())).filter(is_wide).collect();
    (!wide.is_empty()).then(|| {
        format!(
            "± of {metric} is larger than its mean{}: batches of one run of this log do not tell more; \
             with `workload.resample`, `replications` run logs like this one",
            place(study, points, &wide)
        )
    })
}

/// Explanations of the results, which are shown after the numbers. Each is one sentence without a
/// full stop.
pub fn notes(study: &Study, points: &[Point], results: &Results, summary: &Summary) -> Vec<String> {
    let mut notes: Vec<String> = counted(
        results,
        ScenarioRuns::unusable,
        "line of the log was no job, and was passed over",
        "lines of the log were no jobs, and were passed over",
    )
    .into_iter()
    .collect();
    notes.extend(of_networks(study, points));
    notes.extend(of_wide_intervals(study, points, summary));
    let chosen = |is_one: &dyn Fn(usize) -> bool| -> Vec<usize> {
        (0..points.len()).filter(|&index| is_one(index)).collect()
    };
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
            place(study, points, &constant)
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
            place(study, points, &same_jobs)
        ));
    }
    notes
}

/// Text that says in which scenarios a note holds, such as ` in 9 of 12 scenarios`. It is empty if
/// the note holds in all of them.
fn place(study: &Study, points: &[Point], chosen: &[usize]) -> String {
    if chosen.len() == points.len() {
        return String::new();
    }
    if chosen.len() > MAX_NAMED {
        return format!(" in {} of {}", chosen.len(), plural(points.len() as u64, "scenario"));
    }
    let labels: Vec<String> =
        chosen.iter().map(|&index| short_label(study, &points[index].swept)).collect();
    format!(" with {}", labels.join("; "))
}
