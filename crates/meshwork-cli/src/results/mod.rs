//! Prints the results of a study as tables.

pub(crate) mod claims;
pub(crate) mod network;

use std::path::Path;

use meshwork::observe::recorder::OwnerAttribute;
use meshwork_lab::findings::columns::{Shown, value};
use meshwork_lab::findings::notes::{UNLIKE_JOBS, notes, warnings};
use meshwork_lab::findings::summary::{Difference, Means, OwnerRow, SizeRow, SummaryRow};
use meshwork_lab::findings::unlike::unlike;
use meshwork_lab::run::store::RUNS;
use meshwork_lab::run::watched;
use meshwork_lab::statistics::{Interval, Method};
use meshwork_lab::study::Replications;
use meshwork_lab::study::words::short;
use meshwork_lab::text::label;
use meshwork_lab::text::number::{Rounded, count, plural, significant};
use meshwork_lab::{Finished, Study};
use toml::Value;

use crate::number::{align, right, width};
use crate::output::{Output, Stop};
use crate::table::{Column, print as print_table};

pub(crate) fn print(out: &mut Output, study: &Study, finished: &Finished) -> Result<(), Stop> {
    let title = match &study.description {
        Some(description) => format!("{}: {description}", study.name),
        None => study.name.clone(),
    };
    out.title(&title)?;
    out.paragraph(&caption(study, finished))?;
    if let Some(unit) = finished.clock.unit {
        out.line(&format!("times in {unit}"))?;
    }
    network::print(out, &finished.points)?;
    let Finished { points, results, summary, .. } = finished;
    for warning in warnings(study, points, results, summary) {
        out.hanging(&format!("warning: {warning}"), "         ")?;
    }
    out.line("")?;
    print_means(out, study, finished)?;
    print_differences(out, study, finished)?;
    print_sizes(out, finished)?;
    for by in OwnerAttribute::ALL {
        print_owners(out, finished, by)?;
    }
    print_claims(out, finished)?;
    print_notes(out, study, finished)
}

fn print_claims(out: &mut Output, finished: &Finished) -> Result<(), Stop> {
    if finished.claims.is_empty() {
        return Ok(());
    }
    out.line("")?;
    out.headline("Claims")?;
    claims::print(out, &finished.claims)
}

pub(crate) fn print_files(
    out: &mut Output,
    study: &Study,
    finished: &Finished,
    folder: &Path,
) -> Result<(), Stop> {
    let rows = &finished.summary.rows;
    let mut files = vec![RUNS.to_owned(), "summary.csv".to_owned()];
    let mut add = |is_there: bool, file: &str| files.extend(is_there.then(|| file.to_owned()));
    add(rows.iter().any(|row| !row.differences.is_empty()), "comparison.csv");
    add(rows.iter().any(|row| !row.by_size.is_empty()), "by_size.csv");
    for by in OwnerAttribute::ALL {
        let is_there = rows.iter().any(|row| !row.owners(by).is_empty());
        add(is_there, &format!("{}.csv", by.key()));
    }
    add(rows.iter().any(|row| !row.speeds.is_empty()), "speeds.csv");
    add(!finished.claims.is_empty(), "claims.csv");
    add(!study.jobs.is_empty(), "jobs/");
    add(study.record == Some(true), "recordings/");
    out.line("")?;
    out.line(&format!("written to {}: {}", folder.display(), files.join(", ")))
}

/// Caption of the results: the numbers of scenarios and replications, and the meaning of `±`.
fn caption(study: &Study, finished: &Finished) -> String {
    let scenarios = finished.points.len();
    let replications: Vec<u64> =
        finished.results.runs.iter().map(|runs| runs.len() as u64).collect();
    let times = range(&replications);
    let is_windows = matches!(study.replications, Replications::Windows { .. });
    let what = if is_windows { "window" } else { "replication" };
    let mut text = format!(
        "{} × {}",
        plural(scenarios as u64, "scenario"),
        if times == "1" { format!("1 {what}") } else { format!("{times} {what}s") }
    );
    if is_windows {
        text += " of the log";
    }
    let methods = || finished.summary.rows.iter().flat_map(|row| &row.metrics);
    let has = |method| methods().any(|(_, interval)| interval.method == Some(method));
    let over = match (has(Method::Replications), has(Method::BatchMeans)) {
        _ if has(Method::Windows) => "from windows",
        (true, false) => "from replications",
        (false, true) => "from batches of one run",
        (true, true) => "from replications, or batches of a single run",
        (false, false) => "",
    };
    if !over.is_empty() {
        text += &format!("; ± is half the 95 % confidence interval, {over}");
    }
    text
}

fn shown(finished: &Finished) -> Shown {
    Shown::of(&finished.summary, finished.points.first().map(|point| &point.scenario))
}

fn print_means(out: &mut Output, study: &Study, finished: &Finished) -> Result<(), Stop> {
    let rows = &finished.summary.rows;
    let Shown { names, left_out } = shown(finished);
    if names.is_empty() {
        return out.line("no run finished: there is nothing to show");
    }
    match &rows[..] {
        [row] if row.swept.is_empty() => print_one(out, finished, row, &names)?,
        _ => {
            let metrics: Vec<&Means> = rows.iter().map(|row| &row.metrics).collect();
            let columns: Vec<Column> =
                names.iter().map(|name| mean(finished, name, &metrics)).collect();
            print_table(out, &keys(rows.iter()), &columns, &[])?;
        }
    }
    let left_out = (!left_out.is_empty()).then(|| format!("not shown: {}", left_out.join(", ")));
    let differing = unlike(&study.catalogue, &finished.points)
        .into_iter()
        .map(|differing| differing.to_string());
    for note in left_out.into_iter().chain(differing) {
        out.paragraph(&note)?;
    }
    Ok(())
}

/// Prints the results of a single scenario: one line for each metric, with its meaning.
fn print_one(
    out: &mut Output,
    finished: &Finished,
    row: &SummaryRow,
    names: &[String],
) -> Result<(), Stop> {
    let figures: Vec<Rounded> =
        names.iter().map(|name| measured(finished, &row.metrics, name)).collect();
    let words = |of: &dyn Fn(&str) -> String| names.iter().map(|name| of(name)).collect();
    // The metrics have different units, so their decimal points are not aligned.
    let most = figures.iter().map(|figure| width(&figure.mean)).max().unwrap_or(0);
    let text = |figure: &Rounded| match &figure.half_width {
        Some(half) => format!("{} ± {half}", right(&figure.mean, most)),
        None => right(&figure.mean, most),
    };
    let keys = [
        Column::words("metric", words(&str::to_owned)),
        Column::words(&right("mean", most), figures.iter().map(text).collect()),
    ];
    let mut columns = Vec::new();
    let meanings = &finished.summary.meanings;
    let unit = |name: &str| finished.clock.unit(meanings.unit(name));
    columns.push(Column::words("unit", words(&unit)));
    let taken: usize = keys.iter().chain(&columns).map(|column| column.width() + 2).sum();
    let available = out.width.saturating_sub(taken);
    if available >= 24 {
        let meaning = |name: &str| cut(meanings.summary(name), available);
        columns.push(Column::words("meaning", words(&meaning)));
    }
    print_table(out, &keys, &columns, &[])
}

/// Cuts a text to `columns` characters: before a comma if it has one, otherwise with an ellipsis.
fn cut(text: &str, columns: usize) -> String {
    if text.chars().count() <= columns {
        return text.to_owned();
    }
    match text.rsplit_once(',') {
        Some((before, _)) => cut(before, columns),
        None => text.chars().take(columns.saturating_sub(1)).chain(['…']).collect(),
    }
}

/// Value of a metric, converted to the unit in which it is shown.
fn measured(finished: &Finished, metrics: &Means, name: &str) -> Rounded {
    figure(&finished.clock.shown(value(metrics, name), finished.summary.meanings.unit(name)))
}

fn figure(interval: &Interval) -> Rounded {
    Rounded::new(interval.mean, interval.half_width)
}

/// Columns for the swept keys, with the values that they have in the given rows.
fn keys<'a>(rows: impl Iterator<Item = &'a SummaryRow>) -> Vec<Column> {
    let rows: Vec<&SummaryRow> = rows.collect();
    let Some(first) = rows.first() else { return Vec::new() };
    let column = |(axis, (key, _)): (usize, &(String, Value))| {
        let values: Vec<&Value> = rows.iter().map(|row| &row.swept[axis].1).collect();
        let is_number = |value: &&Value| value.is_integer() || value.is_float();
        if values.iter().all(is_number) {
            let figures: Vec<Rounded> = values
                .iter()
                .map(|value| Rounded { mean: value.to_string(), ..Rounded::default() })
                .collect();
            Column::numbers(key, align(&figures))
        } else {
            Column::words(key, short(key, &values))
        }
    };
    first.swept.iter().enumerate().map(column).collect()
}

fn print_differences(out: &mut Output, study: &Study, finished: &Finished) -> Result<(), Stop> {
    let names = shown(finished).names;
    for baseline in &study.compare {
        let compared = |row: &'_ SummaryRow| {
            row.differences.iter().find(|difference| difference.baseline == *baseline).cloned()
        };
        let rows: Vec<_> =
            finished.summary.rows.iter().filter_map(|row| Some((row, compared(row)?))).collect();
        if rows.is_empty() || names.is_empty() {
            continue;
        }
        let found = |name: &str| -> Vec<FoundDifference> {
            let unit = finished.summary.meanings.unit(name);
            let of = |(_, difference): &(&SummaryRow, Difference)| {
                let found = difference.metrics.iter().find(|(own, ..)| own == name);
                let (interval, relative) = found
                    .map_or((value(&Vec::new(), name), None), |(_, interval, r)| (*interval, *r));
                let interval = finished.clock.shown(interval, unit);
                FoundDifference { interval, relative, same_jobs: difference.same_jobs }
            };
            rows.iter().map(of).collect()
        };
        let mut same = Vec::new();
        let mut columns = Vec::new();
        let mut any_interval = false;
        for name in &names {
            let found = found(name);
            let is_zero =
                |found: &FoundDifference| found.interval.mean.is_none_or(|mean| mean.abs() <= 0.0);
            if found.iter().all(is_zero) {
                same.push(name.clone());
                continue;
            }
            any_interval |= found.iter().any(|found| found.interval.half_width.is_some());
            columns.push(Column::numbers(name, align(&differences(&found))));
        }
        let value = short(&baseline.key, &[&baseline.value]).concat();
        out.line("")?;
        out.headline(&format!("Differences from {} = {value}", baseline.key))?;
        let mark = "; * = significant at 95 %";
        let by_batches = rows.iter().flat_map(|(_, difference)| &difference.metrics);
        let by_batches =
            by_batches.into_iter().any(|(_, i, _)| i.method == Some(Method::BatchMeans));
        let same_jobs = rows.iter().all(|(_, difference)| difference.same_jobs);
        let text = format!(
            "{}{}, absolute and in percent{}{}",
            if same_jobs { "on the same jobs" } else { "on the jobs that each ran" },
            if by_batches { ", batch by batch" } else { "" },
            if any_interval { mark } else { "" },
            if same_jobs || !any_interval { "" } else { UNLIKE_JOBS }
        );
        out.paragraph(&text)?;
        out.line("")?;
        if !columns.is_empty() {
            print_table(out, &keys(rows.iter().map(|(row, _)| *row)), &columns, &[])?;
        }
        if !same.is_empty() {
            out.paragraph(&format!("no difference: {}", same.join(", ")))?;
        }
    }
    Ok(())
}

/// Difference between a scenario and the baseline, as the terminal shows it.
struct FoundDifference {
    interval: Interval,
    /// Difference divided by the value of the baseline.
    relative: Option<f64>,
    same_jobs: bool,
}

impl FoundDifference {
    fn is_marked(&self) -> bool {
        self.same_jobs && self.interval.excludes_zero()
    }
}

/// Texts of differences from the baseline, each in absolute numbers and in percent.
///
/// A star marks a difference whose interval excludes 0, if both scenarios have the same jobs.
fn differences(found: &[FoundDifference]) -> Vec<Rounded> {
    let any_interval = found.iter().any(|found| found.interval.half_width.is_some());
    let share = |found: &FoundDifference| {
        let share = found.relative.map(|share| percent(share, found.is_marked()));
        share.unwrap_or_default()
    };
    let shares: Vec<String> = found.iter().map(share).collect();
    let most = shares.iter().map(|share| width(share)).max().unwrap_or(0).max(6);
    let figures = found.iter().zip(&shares).map(|(found, share)| {
        let mut figure = figure(&found.interval).signed();
        let mark = match (any_interval, found.is_marked()) {
            (false, _) => "",
            (true, false) => "  ",
            (true, true) => "* ",
        };
        figure.suffix = format!("{mark}{share:>most$}");
        figure
    });
    figures.collect()
}

/// Share as a text in percent. A significant share is never shown as 0.
fn percent(share: f64, is_marked: bool) -> String {
    let percent = 100.0 * share;
    if percent.abs() < 0.05 && is_marked {
        let sign = if percent > 0.0 { "+" } else { "" };
        format!("{sign}{} %", significant(percent, 1))
    } else if percent.abs() < 0.05 {
        "0.0 %".to_owned()
    } else if percent.abs() < 9.95 {
        format!("{percent:+.1} %")
    } else if percent.abs() < 99_999.0 {
        format!("{percent:+.0} %")
    } else {
        format!("{percent:+.0e} %")
    }
}

fn print_sizes(out: &mut Output, finished: &Finished) -> Result<(), Stop> {
    let rows = &finished.summary.rows;
    let classes: Vec<(&SummaryRow, &SizeRow)> =
        rows.iter().flat_map(|row| row.by_size.iter().map(move |class| (row, class))).collect();
    if classes.is_empty() {
        return Ok(());
    }
    let mut keys = keys(classes.iter().map(|(row, _)| *row));
    keys.push(counts("size", classes.iter().map(|(_, class)| class.size)));
    keys.push(counts("jobs", classes.iter().map(|(_, class)| class.jobs)));
    out.line("")?;
    out.headline("By size: means over the jobs that asked for so many processors")?;
    out.line("")?;
    let metrics: Vec<&Means> = classes.iter().map(|(_, class)| &class.metrics).collect();
    print_table(
        out,
        &keys,
        &means(finished, &metrics),
        &ends(rows.iter().map(|row| row.by_size.len())),
    )
}

/// Maximum number of users or groups in a printed table. The file of results has all of them.
const MAX_OWNERS: usize = 100;

fn print_owners(out: &mut Output, finished: &Finished, by: OwnerAttribute) -> Result<(), Stop> {
    let owner = by.name();
    let rows = &finished.summary.rows;
    let classes: Vec<(&SummaryRow, &OwnerRow)> =
        rows.iter().flat_map(|row| row.owners(by).iter().map(move |class| (row, class))).collect();
    if classes.is_empty() {
        return Ok(());
    }
    out.line("")?;
    out.headline(&format!("By {owner}: means over the jobs of each"))?;
    if classes.len() > MAX_OWNERS {
        let text = format!(
            "{}: too many to be printed, with `--out DIR` they are written to by_{owner}.csv",
            plural(classes.len() as u64, "row")
        );
        return out.line(&text);
    }
    let mut keys = keys(classes.iter().map(|(row, _)| *row));
    keys.push(Column::words(owner, classes.iter().map(|(_, class)| class.name.clone()).collect()));
    keys.push(counts("jobs", classes.iter().map(|(_, class)| class.jobs)));
    out.line("")?;
    let metrics: Vec<&Means> = classes.iter().map(|(_, class)| &class.metrics).collect();
    print_table(
        out,
        &keys,
        &means(finished, &metrics),
        &ends(rows.iter().map(|row| row.owners(by).len())),
    )
}

/// Column of whole numbers.
fn counts(title: &str, numbers: impl Iterator<Item = u64>) -> Column {
    let figures = numbers.map(|number| Rounded { mean: count(number), ..Rounded::default() });
    Column::numbers(title, align(&figures.collect::<Vec<_>>()))
}

/// Columns of all metrics of the first row.
fn means(finished: &Finished, rows: &[&Means]) -> Vec<Column> {
    rows[0].iter().map(|(name, _)| mean(finished, name, rows)).collect()
}

/// Column of one metric.
fn mean(finished: &Finished, name: &str, rows: &[&Means]) -> Column {
    let figures = rows.iter().map(|metrics| measured(finished, metrics, name));
    Column::numbers(name, align(&figures.collect::<Vec<_>>()))
}

/// Rows of a table after which another scenario begins.
fn ends(lengths: impl Iterator<Item = usize>) -> Vec<usize> {
    let sum = |row: &mut usize, length| {
        *row += length;
        Some(*row)
    };
    lengths.scan(0, sum).collect()
}

fn print_notes(out: &mut Output, study: &Study, finished: &Finished) -> Result<(), Stop> {
    let mut lines = Vec::new();
    if finished.summary.rows.iter().any(|row| !row.speeds.is_empty()) {
        lines.push(
            "note: the speeds of the sites are drawn anew in each replication: `meshwork show` prints \
             them, and so does `--json`"
                .to_owned(),
        );
    }
    let doubts = notes(study, &finished.points, &finished.results, &finished.summary);
    lines.extend(doubts.into_iter().map(|note| format!("note: {note}")));
    lines.extend(missed_precision(study, finished));
    if !lines.is_empty() {
        out.line("")?;
    }
    for note in lines {
        out.hanging(&note, "      ")?;
    }
    Ok(())
}

/// Sentence on scenarios whose confidence interval is wider than the study requests, if any.
fn missed_precision(study: &Study, finished: &Finished) -> Option<String> {
    let Replications::Precision { target, most, of, .. } = &study.replications else { return None };
    let is_too_wide = |index: usize| {
        watched(of, &finished.results.runs[index])
            .is_none_or(|[mean, half_width]| half_width > target * mean.abs())
    };
    // A run without random draws would give the same values in further replications.
    let is_missed = |index: &usize| !finished.results.is_constant(*index) && is_too_wide(*index);
    let rows = &finished.summary.rows;
    let missed: Vec<&SummaryRow> =
        (0..rows.len()).filter(is_missed).map(|index| &rows[index]).collect();
    let wanted = format!("{} % of the mean of {of}", significant(100.0 * target, 3));
    match missed[..] {
        [] => None,
        [row] if !row.swept.is_empty() => Some(format!(
            "note: {most} replications were not enough for an interval within {wanted} with {}",
            label(&row.swept)
        )),
        _ => Some(format!(
            "note: {most} replications were not enough for an interval within {wanted} in {} of {}",
            missed.len(),
            plural(finished.points.len() as u64, "scenario")
        )),
    }
}

/// Range of counts as text, such as `7` or `3 to 7`.
fn range(counts: &[u64]) -> String {
    let least = counts.iter().min().copied().unwrap_or(0);
    let most = counts.iter().max().copied().unwrap_or(0);
    if least == most { count(least) } else { format!("{} to {}", count(least), count(most)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_percentages_with_a_sign() {
        for (share, text) in [
            (-0.3412, "-34 %"),
            (0.05, "+5.0 %"),
            (-0.000_01, "0.0 %"),
            (12.0, "+1200 %"),
            (1e7, "+1e9 %"),
        ] {
            assert_eq!(percent(share, false), text);
        }
        assert_eq!(percent(-0.000_12, true), "-0.01 %");
        assert_eq!(percent(0.000_4, true), "+0.04 %");
    }

    #[test]
    fn a_clear_difference_is_marked() {
        let interval = |mean, half_width| Interval {
            mean: Some(mean),
            half_width: Some(half_width),
            replications: 3,
            method: Some(Method::Replications),
        };
        let found = |interval, relative| FoundDifference { interval, relative, same_jobs: true };
        let mut both = [found(interval(-2.0, 1.0), Some(-0.5)), found(interval(2.0, 3.0), None)];
        assert_eq!(align(&differences(&both)), ["-2.0 ± 1.0 *  -50 %", "+2.0 ± 3.0         "]);
        both[0].same_jobs = false;
        assert_eq!(align(&differences(&both)), ["-2.0 ± 1.0    -50 %", "+2.0 ± 3.0         "]);
    }

    #[test]
    fn long_meanings_are_cut_at_a_comma() {
        assert_eq!(cut("waiting jobs, mean over time", 28), "waiting jobs, mean over time");
        assert_eq!(cut("waiting jobs, mean over time", 20), "waiting jobs");
        assert_eq!(cut("waiting jobs", 8), "waiting…");
    }
}
