//! Tables of a report page: means, differences and jobs by size.

use serde::Serialize;

use super::MAX_ROWS;
use meshwork_lab::findings::columns::{Meanings, Shown, value};
use meshwork_lab::findings::notes::UNLIKE_JOBS;
use meshwork_lab::findings::summary::{SizeRow, Summary, SummaryRow};
use meshwork_lab::statistics::Interval;
use meshwork_lab::study::axes::{AxisKind, PlotAxis};
use meshwork_lab::study::clock::Clock;
use meshwork_lab::study::expand::Point;
use meshwork_lab::study::words::short;
use meshwork_lab::study::{Baseline, Replications, Study};
use meshwork_lab::text::number::{Rounded, count, plural, significant};

const MOST_ACROSS: usize = 6;

/// Number of metrics above which a table of few scenarios has a row, not a column, for each metric.
const MANY_METRICS: usize = 8;

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ReportTable {
    pub title: String,
    pub caption: String,
    /// Name of the CSV file, in the page's folder, that has all numbers of the table.
    pub file: &'static str,
    /// Names of columns with their descriptions. The description of a metric includes its unit.
    pub columns: Vec<(String, String)>,
    pub keys: usize,
    pub rows: Vec<Vec<TableCell>>,
    pub more: usize,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TableCell {
    pub text: String,
    /// Whether the text is a number. Numbers are right-aligned.
    pub number: bool,
    /// Whether the cell shows a difference whose interval excludes 0.
    pub marked: bool,
    /// Small print below the text of the cell; usually empty.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub note: String,
}

impl TableCell {
    pub(super) fn of(text: String, number: bool) -> TableCell {
        TableCell { text, number, marked: false, note: String::new() }
    }
}

pub(super) fn all(
    study: &Study,
    points: &[Point],
    summary: &Summary,
    clock: &Clock,
) -> Vec<ReportTable> {
    let rows = &summary.rows;
    let shown = Shown::of(summary, points.first().map(|point| &point.scenario));
    if shown.names.is_empty() {
        return Vec::new();
    }
    let axes = PlotAxis::all(study);
    let mut tables = vec![match &rows[..] {
        [row] => of_one(row, &shown.names, (&summary.meanings, clock)),
        _ => means(&axes, summary, &shown, &study.replications),
    }];
    let of = |baseline| differences(&axes, baseline, summary, &shown);
    tables.extend(study.compare.iter().filter_map(of));
    tables = tables.into_iter().map(|own| turned(own, (&summary.meanings, clock))).collect();
    tables.extend(sizes(&axes, summary));
    if let (Some(unit), true) = (clock.unit, rows.len() > 1) {
        for table in &mut tables {
            table.caption += &format!("; times in {unit}");
        }
    }
    tables
}

/// Table of a single scenario. Each metric has a row with its description.
fn of_one(
    row: &SummaryRow,
    names: &[String],
    (meanings, clock): (&Meanings, &Clock),
) -> ReportTable {
    let line = |name: &String| {
        vec![
            TableCell { note: meanings.summary(name).to_owned(), ..word(name) },
            number(&value(&row.metrics, name)),
            word(&clock.unit(meanings.unit(name))),
        ]
    };
    ReportTable {
        title: "The numbers".to_owned(),
        caption: "Every metric, with its 95 % interval".to_owned(),
        file: "summary.csv",
        columns: ["metric", "mean", "unit"].map(plain).to_vec(),
        keys: 1,
        rows: names.iter().map(line).collect(),
        more: 0,
    }
}

/// Transposes a table of few scenarios if its many metrics would not fit side by side.
fn turned(table: ReportTable, (meanings, clock): (&Meanings, &Clock)) -> ReportTable {
    let names = &table.columns[table.keys..];
    let is_few = (2..=MOST_ACROSS).contains(&table.rows.len()) && table.more == 0;
    if !is_few || names.len() <= MANY_METRICS {
        return table;
    }
    let scenario = |row: &Vec<TableCell>| {
        let (keys, notes) = (&row[..table.keys], row[..table.keys].iter().map(|key| &key.note));
        let words = keys.iter().zip(&table.columns).map(|(key, (name, _))| match key.number {
            true => format!("{} = {}", super::figures::word(name), key.text),
            false => key.text.clone(),
        });
        let notes = notes.filter(|note| !note.is_empty()).map(|note| format!(" ({note})"));
        plain(&(words.collect::<Vec<_>>().join(", ") + &notes.collect::<String>()))
    };
    let line = |(number, (name, _)): (usize, &(String, String))| {
        let own = |row: &Vec<TableCell>| row[table.keys + number].clone();
        let cells = table.rows.iter().map(own);
        let unit = word(&clock.unit(meanings.unit(name)));
        let metric = TableCell { note: meanings.summary(name).to_owned(), ..word(name) };
        std::iter::once(metric).chain(cells).chain([unit]).collect()
    };
    let rows = names.iter().enumerate().map(line).collect();
    let heads = table.rows.iter().map(scenario);
    let columns = std::iter::once(plain("metric")).chain(heads).chain([plain("unit")]).collect();
    ReportTable { columns, keys: 1, rows, ..table }
}

fn means(
    axes: &[PlotAxis],
    summary: &Summary,
    shown: &Shown,
    expected: &Replications,
) -> ReportTable {
    let rows = &summary.rows;
    let left_out = if shown.left_out.is_empty() {
        String::new()
    } else {
        format!("; left out: {}", shown.left_out.join(", "))
    };
    let line = |(index, row): (usize, &SummaryRow)| {
        let mut line = keys(axes, index);
        if let Some(cell) = line.last_mut().filter(|_| row.growing) {
            "the queue grows".clone_into(&mut cell.note);
        }
        line.extend(shown.names.iter().map(|name| number(&value(&row.metrics, name))));
        if let Some(last) = axes.len().checked_sub(1)
            && let Some(part) = partial(row, expected)
        {
            line[last].note = part;
        }
        line
    };
    ReportTable {
        title: "The numbers, by scenario".to_owned(),
        caption: format!("Means with 95 % intervals, by scenario{left_out}"),
        file: "summary.csv",
        columns: columns(axes, &shown.names, &summary.meanings),
        keys: axes.len(),
        rows: rows.iter().take(MAX_ROWS).enumerate().map(line).collect(),
        more: rows.len().saturating_sub(MAX_ROWS),
    }
}

fn differences(
    axes: &[PlotAxis],
    baseline: &Baseline,
    summary: &Summary,
    shown: &Shown,
) -> Option<ReportTable> {
    let rows = &summary.rows;
    let found = |(index, row): (usize, &'_ SummaryRow)| {
        let at = row.differences.iter().position(|found| found.baseline == *baseline)?;
        Some((index, at))
    };
    let all: Vec<(usize, usize)> = rows.iter().enumerate().filter_map(found).collect();
    let line =
        |&(index, at): &(usize, usize)| {
            let mut line = keys(axes, index);
            let own = &rows[index].differences[at];
            for name in &shown.names {
                let found = own.metrics.iter().find(|(own, ..)| own == name);
                line.push(found.map_or_else(
                    || word("-"),
                    |(_, i, share)| difference(i, *share, own.same_jobs),
                ));
            }
            line
        };
    let same_jobs = all.iter().all(|&(index, at)| rows[index].differences[at].same_jobs);
    let value = short(&baseline.key, &[&baseline.value]).concat();
    (!all.is_empty()).then(|| ReportTable {
        title: format!("The differences from {} = {value}", baseline.key),
        caption: format!(
            "Differences from {} = {value} {}, absolute and in percent; * = significant at 95 %{}",
            baseline.key,
            if same_jobs { "on the same jobs" } else { "on the jobs that each ran" },
            if same_jobs { "" } else { UNLIKE_JOBS }
        ),
        file: "comparison.csv",
        columns: columns(axes, &shown.names, &summary.meanings),
        keys: axes.len(),
        rows: all.iter().take(MAX_ROWS).map(line).collect(),
        more: all.len().saturating_sub(MAX_ROWS),
    })
}

fn sizes(axes: &[PlotAxis], summary: &Summary) -> Option<ReportTable> {
    let all: Vec<(usize, &SizeRow)> = summary
        .rows
        .iter()
        .enumerate()
        .flat_map(|(index, row)| row.by_size.iter().map(move |class| (index, class)))
        .collect();
    let names: Vec<String> = all.first()?.1.metrics.iter().map(|(name, _)| name.clone()).collect();
    let line = |&(index, class): &(usize, &SizeRow)| {
        let mut line = keys(axes, index);
        line.extend([class.size, class.jobs].map(|number| TableCell::of(count(number), true)));
        line.extend(names.iter().map(|name| number(&value(&class.metrics, name))));
        line
    };
    let mut columns = columns(axes, &names, &summary.meanings);
    columns.splice(axes.len()..axes.len(), ["size", "jobs"].map(plain));
    Some(ReportTable {
        title: "The numbers by size of the jobs".to_owned(),
        caption: "By size: means over the jobs that asked for so many processors".to_owned(),
        file: "by_size.csv",
        columns,
        keys: axes.len() + 1,
        rows: all.iter().take(MAX_ROWS).map(line).collect(),
        more: all.len().saturating_sub(MAX_ROWS),
    })
}

/// Text such as `3 of 10 replications so far`.
///
/// `None` if no replication is missing, or if the number of replications is not fixed.
fn partial(row: &SummaryRow, expected: &Replications) -> Option<String> {
    let Replications::Fixed(expected) = expected else { return None };
    if row.constant {
        return None;
    }
    let number = row.metrics.iter().map(|(_, interval)| interval.replications).max().unwrap_or(0);
    (number < *expected)
        .then(|| format!("{} of {} so far", count(number), plural(*expected, "replication")))
}

fn keys(axes: &[PlotAxis], index: usize) -> Vec<TableCell> {
    let mut rest = index;
    let mut cells: Vec<TableCell> = axes
        .iter()
        .rev()
        .map(|axis| {
            let text = axis.labels[rest % axis.count()].clone();
            rest /= axis.count();
            TableCell::of(text, matches!(axis.kind, AxisKind::Numbers(_)))
        })
        .collect();
    cells.reverse();
    cells
}

fn columns(axes: &[PlotAxis], metrics: &[String], meanings: &Meanings) -> Vec<(String, String)> {
    let metric = |name: &String| {
        let meaning = meanings.entry(name).map_or_else(String::new, |metric| {
            format!("{}, in {}", metric.about.summary, metric.unit)
        });
        (name.clone(), meaning)
    };
    axes.iter().map(|axis| plain(&axis.key)).chain(metrics.iter().map(metric)).collect()
}

fn plain(name: &str) -> (String, String) {
    (name.to_owned(), String::new())
}

fn word(text: &str) -> TableCell {
    TableCell::of(text.to_owned(), false)
}

fn number(interval: &Interval) -> TableCell {
    TableCell::of(written(&Rounded::new(interval.mean, interval.half_width)), true)
}

fn written(rounded: &Rounded) -> String {
    match &rounded.half_width {
        Some(half) => format!("{} ± {half}", rounded.mean),
        None => rounded.mean.clone(),
    }
}

fn difference(interval: &Interval, share: Option<f64>, same_jobs: bool) -> TableCell {
    let text = written(&Rounded::new(interval.mean, interval.half_width).signed());
    let marked = interval.excludes_zero() && same_jobs;
    let star = if marked { " *" } else { "" };
    let share = share.map_or_else(String::new, |share| {
        let sign = if share > 0.0 { "+" } else { "" };
        format!(" ({sign}{} %)", significant(100.0 * share, 2))
    });
    TableCell { marked, ..TableCell::of(format!("{text}{star}{share}"), true) }
}
