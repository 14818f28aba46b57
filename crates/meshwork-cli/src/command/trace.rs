//! `meshwork trace`: generates, converts, resamples and describes logs of jobs.

use meshwork::workload::statistics::{ColumnStatistics, Statistics};
use meshwork_lab::files::{FileError, write_whole};
use meshwork_lab::inputs::start::LogStart;
use meshwork_lab::study::set::assignment;
use meshwork_lab::text::visible::visible;
use meshwork_lab::trace::{
    Converted, Distance, FitModel, Fitted, MAX_JOBS, Model, convert, fit, generate, info,
};
use meshwork_report::resampled::{ResampledStatistic, resampled};
use serde_json::{Value as Json, json};
use toml::{Table, Value};

use crate::args::trace::{Convert, Fit, Generate, Resample, Trace};
use crate::number::left;
use crate::output::{Ended, Output, Stop, Verdict, must_be_new};
use crate::table::{Column, print as print_table};
use crate::toml_text::document;
use crate::wrap::wrapped;
use meshwork_lab::text::number::{count, significant};

/// Bytes for each generated job, measured on 300,000 jobs.
///
/// All jobs are kept in memory to compute statistics.
const BYTES_PER_JOB: u64 = 270;

const DAY: f64 = 86_400.0;

/// Names of the header fields of a log that tell its origin.
const ORIGIN: [&str; 4] = ["Computer", "Installation", "StartTime", "EndTime"];

pub(crate) fn run(out: &mut Output, command: &Trace) -> Ended {
    match command {
        Trace::Info { log, json } => {
            let statistics = info(log)?;
            if *json {
                out.json(&as_json(&statistics))?;
            } else {
                out.headline(&log.display().to_string())?;
                print(out, &statistics)?;
            }
        }
        Trace::Convert(arguments) => converted(out, arguments)?,
        Trace::Generate(arguments) => generated(out, arguments)?,
        Trace::Fit(arguments) => fitted(out, arguments)?,
        Trace::Resample(arguments) => compared(out, arguments)?,
    }
    Ok(Verdict::Done)
}

fn converted(out: &mut Output, arguments: &Convert) -> Result<(), Stop> {
    must_be_new(&arguments.output, arguments.replace)?;
    let changes = changes(arguments)?;
    let random = (arguments.seed, arguments.replication);
    let done = convert(&arguments.input, &arguments.output, &changes, random)?;
    let (number, what) = if done.nodes > 0 { (done.nodes, "nodes") } else { (done.jobs, "jobs") };
    out.line(&format!("{}: {} {what} written", arguments.output.display(), count(number)))?;
    let Converted { no_run_time, no_processors, no_submit_time, out_of_order, cut, .. } = done;
    for (number, what) in [
        (no_run_time, "lines left out: the run time is not known"),
        (no_processors, "lines left out: no processors are known"),
        (no_submit_time, "lines left out: the time of submission is not known"),
        (cut, "jobs left out by the cut"),
        (out_of_order, "jobs stood below one submitted later: all are sorted now"),
    ] {
        if number > 0 {
            out.line(&format!("  {} {what}", count(number)))?;
        }
    }
    for what in &done.lost {
        out.line(&format!("  {}", visible(what)))?;
    }
    Ok(())
}

/// Parameters of the workload `swf` that correspond to the options of `trace convert`.
fn changes(arguments: &Convert) -> Result<Table, Stop> {
    let mut changes = Table::new();
    for (key, value) in [
        ("from", arguments.from.clone()),
        ("until", arguments.until.clone()),
        ("runtime_scale", arguments.runtime_scale.map(Value::Float)),
        ("arrival_scale", arguments.arrival_scale.map(Value::Float)),
    ] {
        changes.extend(value.map(|value| (key.to_owned(), value)));
    }
    let first = arguments.first_jobs.map(|jobs| i64::try_from(jobs).unwrap_or(i64::MAX));
    changes.extend(first.map(|jobs| ("first_jobs".to_owned(), Value::Integer(jobs))));
    for setting in &arguments.settings {
        let (key, value) = assignment(setting)?;
        changes.insert(key, value);
    }
    Ok(changes)
}

fn generated(out: &mut Output, arguments: &Generate) -> Result<(), Stop> {
    must_be_new(&arguments.output, arguments.replace)?;
    let model = Model {
        jobs: arguments.jobs,
        processors: arguments.processors,
        seed: arguments.seed,
        classes: arguments.classes.clone(),
        load: arguments.load,
    };
    let what = format!("--jobs {}: so many jobs take", arguments.jobs);
    // A number of jobs above `MAX_JOBS` is refused by `generate`, so its memory is not checked
    // here.
    let jobs = arguments.jobs.min(MAX_JOBS);
    arguments.memory.check(jobs.saturating_mul(BYTES_PER_JOB), &what)?;
    let statistics = generate(&arguments.output, &model)?;
    out.line(&format!("{}: {}", arguments.output.display(), gist(&statistics)))
}

fn fitted(out: &mut Output, arguments: &Fit) -> Result<(), Stop> {
    let Fit { log, model, output, replace } = arguments;
    if let Some(file) = output {
        must_be_new(file, *replace)?;
    }
    let chosen = FitModel::named(model)
        .ok_or_else(|| Stop::Wrong(format!("there is no model `{model}` that is fitted")))?;
    let fitted = fit(log, chosen)?;
    let study = study_text(&fitted, &log.display().to_string(), model);
    let Some(file) = output else { return out.raw(&study) };
    write_whole(file, study.as_bytes())?;
    out.line(&format!("{}: {model}, fitted to {} jobs", file.display(), count(fitted.jobs)))?;
    out.line("")?;
    let keys = [Column::words(
        "",
        fitted.distances.iter().map(|distance| distance.what.to_owned()).collect(),
    )];
    let numbers = |header, of: fn(&Distance) -> f64| {
        let cells = fitted.distances.iter().map(|distance| significant(of(distance), 3));
        Column::numbers(header, cells.collect())
    };
    let columns = [
        numbers("distance", |distance| distance.ks),
        numbers("mean of log", |distance| distance.log.mean),
        numbers("of model", |distance| distance.model.mean),
        numbers("cv of log", |distance| distance.log.cv),
        numbers("of model", |distance| distance.model.cv),
    ];
    print_table(out, &keys, &columns, &[])?;
    for note in &fitted.notes {
        out.line("")?;
        out.line(note)?;
    }
    Ok(())
}

fn compared(out: &mut Output, arguments: &Resample) -> Result<(), Stop> {
    let found = resampled(&arguments.log, &arguments.by, arguments.count)?;
    if let Some(folder) = &arguments.figures {
        let title = arguments.log.file_name().unwrap_or_default().to_string_lossy();
        for (name, svg) in found.figures(&title) {
            std::fs::create_dir_all(folder).map_err(|error| FileError::making(folder, &error))?;
            write_whole(&folder.join(name), svg.as_bytes())?;
        }
    }
    if arguments.json {
        return out.json(&serde_json::to_value(&found).unwrap_or_default());
    }
    out.headline(&format!(
        "{}: {} jobs, and 95 % of {} resamplings",
        arguments.log.display(),
        count(found.jobs),
        count(found.count)
    ))?;
    out.line("")?;
    let names = found.statistics.iter().map(|own| own.name.to_owned()).collect();
    let mut columns = vec![Column::numbers(
        "log",
        found.statistics.iter().map(|own| significant(own.log, 4)).collect(),
    )];
    for (way, name) in found.ways.iter().enumerate() {
        let cell = |own: &ResampledStatistic| {
            let [low, high] = own.bands[way];
            let star = if own.is_outside(way) { "*" } else { " " };
            format!("{} to {} {star}", significant(low, 4), significant(high, 4))
        };
        columns.push(Column::numbers(name, found.statistics.iter().map(cell).collect()));
    }
    print_table(out, &[Column::words("", names)], &columns, &[])?;
    out.line("")?;
    out.line("* the log lies outside of the range")
}

/// Study with a fitted model. Comments give its distances from the log.
fn study_text(fitted: &Fitted, log: &str, model: &str) -> String {
    let mut text = format!(
        "# The model {model}, fitted to the {} jobs of {} by meshwork trace fit.\n#\n# distance of Kolmogorov and \
         Smirnov, and mean and coefficient of variation of log and model:\n",
        count(fitted.jobs),
        visible(log)
    );
    for distance in &fitted.distances {
        let [ks, log, model, log_cv, model_cv] = [
            distance.ks,
            distance.log.mean,
            distance.model.mean,
            distance.log.cv,
            distance.model.cv,
        ]
        .map(|number| significant(number, 3));
        text += &format!(
            "#   {}  {ks}, mean {log} and {model}, cv {log_cv} and {model_cv}\n",
            left(distance.what, 27)
        );
    }
    for note in &fitted.notes {
        text += &format!("# {note}\n");
    }
    text + "\n" + &document(&fitted.study)
}

/// Summary of a log in one line.
fn gist(statistics: &Statistics) -> String {
    let mut text = format!("{} jobs", count(statistics.jobs));
    if let Some(span) = statistics.span() {
        text += &format!(" over {} days", significant(span / DAY, 3));
    }
    if let Some(machine) = statistics.machine() {
        text += &format!(" for {} processors", count(machine));
    }
    if let Some(load) = statistics.load {
        text += &format!(", load {}", significant(load, 3));
    }
    text
}

fn print(out: &mut Output, statistics: &Statistics) -> Result<(), Stop> {
    let start = LogStart::of(&statistics.header);
    for (name, instant) in
        [("first submit", statistics.first_submit), ("last submit", statistics.last_submit)]
    {
        if let Some(instant) = instant {
            let date = start.as_ref().map(|start| format!("  {}", start.date(instant)));
            let date = date.unwrap_or_default();
            out.line(&format!("{}  {} s{date}", left(name, 12), significant(instant, 15)))?;
        }
    }
    out.line(&gist(statistics))?;
    for label in ORIGIN {
        if let Some(value) = statistics.header.get(label) {
            for (i, line) in wrapped(value, out.width - 14, "").iter().enumerate() {
                out.line(&format!("{}  {line}", left(if i == 0 { label } else { "" }, 12)))?;
            }
        }
    }
    out.line("")?;
    let rows: Vec<(&str, ColumnStatistics)> = [
        ("run time, s", statistics.run_time),
        ("processors", statistics.processors),
        ("time between submissions, s", statistics.interarrival),
        ("run time / requested time", statistics.accuracy),
    ]
    .into_iter()
    .filter_map(|(name, column)| Some((name, column?)))
    .collect();
    if !rows.is_empty() {
        let numbers = |header, of: fn(&ColumnStatistics) -> f64| {
            let cells = rows.iter().map(|(_, column)| significant(of(column), 4));
            Column::numbers(header, cells.collect())
        };
        let keys = [
            Column::words("", rows.iter().map(|(name, _)| (*name).to_owned()).collect()),
            Column::numbers("jobs", rows.iter().map(|(_, column)| count(column.count)).collect()),
        ];
        let columns = [
            numbers("mean", |column| column.mean),
            numbers("median", |column| column.median),
            numbers("min", |column| column.min),
            numbers("max", |column| column.max),
        ];
        print_table(out, &keys, &columns, &[])?;
        out.line("")?;
    }
    let share = |share: Option<f64>| match share {
        Some(share) => format!("{} %", significant(100.0 * share, 3)),
        None => "-".to_owned(),
    };
    let machine = match (statistics.processors_by_header, statistics.largest_job) {
        (Some(processors), _) => format!("{} processors, by the header", count(processors)),
        (None, Some(processors)) => {
            format!("{} processors, those of the largest job", count(processors))
        }
        (None, None) => "-".to_owned(),
    };
    let largest = statistics.largest_job.map_or_else(|| "-".to_owned(), count);
    for (name, value) in [
        ("machine", machine),
        ("largest job", format!("{largest} processors")),
        ("jobs on one processor", share(statistics.serial)),
        ("jobs on a power of two", share(statistics.power_of_two)),
        ("users", count(statistics.users)),
    ] {
        out.line(&format!("{}  {value}", left(name, 27)))?;
    }
    for (name, number) in [
        ("jobs with a run time of 0", statistics.zero_run_time),
        ("jobs without a request", statistics.no_request),
        ("jobs beyond their request", statistics.beyond_request),
        ("lines out of order", statistics.out_of_order),
        ("lines without a run time", statistics.no_run_time),
        ("lines without processors", statistics.no_processors),
        ("lines without a submit time", statistics.no_submit_time),
    ] {
        if number > 0 {
            out.line(&format!("{}  {}", left(name, 27), count(number)))?;
        }
    }
    Ok(())
}

fn as_json(statistics: &Statistics) -> Json {
    let distribution = |column: Option<ColumnStatistics>| {
        column.map(|column| {
            json!({
                "count": column.count, "mean": column.mean, "median": column.median,
                "min": column.min, "max": column.max,
            })
        })
    };
    json!({
        "lines": statistics.lines,
        "jobs": statistics.jobs,
        "unusable": statistics.unusable(),
        "no_run_time": statistics.no_run_time,
        "no_processors": statistics.no_processors,
        "no_submit_time": statistics.no_submit_time,
        "out_of_order": statistics.out_of_order,
        "first_submit": statistics.first_submit,
        "last_submit": statistics.last_submit,
        "span": statistics.span(),
        "processors_by_header": statistics.processors_by_header,
        "largest_job": statistics.largest_job,
        "machine": statistics.machine(),
        "load": statistics.load,
        "run_time": distribution(statistics.run_time),
        "processors": distribution(statistics.processors),
        "interarrival": distribution(statistics.interarrival),
        "accuracy": distribution(statistics.accuracy),
        "no_request": statistics.no_request,
        "beyond_request": statistics.beyond_request,
        "zero_run_time": statistics.zero_run_time,
        "serial": statistics.serial,
        "power_of_two": statistics.power_of_two,
        "users": statistics.users,
        "header": statistics.header.entries,
    })
}
