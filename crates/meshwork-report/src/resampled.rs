//! Compares a log with many resampled logs, which shows what resampling preserves.

use std::collections::BTreeMap;
use std::path::Path;

use meshwork::job::Job;
use meshwork::workload::swf::{Choice, Record};
use rayon::prelude::*;
use serde::Serialize;
use toml::{Table, Value};

use crate::{FigureView, Key, Scale, Series, Style, figure};
use meshwork_lab::trace::TraceError;
use meshwork_lab::trace::convert::{Log, changed, parameters};

/// Names of the methods of resampling that are compared, in the order of the manual.
pub const WAYS: [&str; 3] = ["users", "weeks", "shake"];

const HOUR: f64 = 3_600.0;
const DAY: f64 = 24.0 * HOUR;
const WEEK: f64 = 7.0 * DAY;

const LAGS: usize = 14;

const WIDTH: f64 = 720.0;

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ResampledStatistic {
    pub name: &'static str,
    pub log: f64,
    /// Ends of the range that holds 95 % of the resampled values, for each method of resampling.
    pub bands: Vec<[f64; 2]>,
}

impl ResampledStatistic {
    /// Whether the log's value is outside the range of the resampling method `way`.
    pub fn is_outside(&self, way: usize) -> bool {
        let [low, high] = self.bands[way];
        // Equal values may differ by rounding.
        let slack = 1e-9 * self.log.abs();
        self.log < low - slack || self.log > high + slack
    }
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ResampledLog {
    pub ways: Vec<String>,
    pub count: u64,
    pub jobs: u64,
    pub statistics: Vec<ResampledStatistic>,
    #[serde(skip)]
    curves: Vec<Curves>,
}

/// Curve that is drawn as a plot: its values for the log, and their ranges for resampled logs.
#[derive(Clone, Debug, PartialEq)]
struct Curves {
    name: &'static str,
    along: &'static str,
    what: &'static str,
    x: Vec<f64>,
    log: Vec<f64>,
    /// For each resampling method, the range of 95 % of the values at each point of the curve.
    bands: Vec<Vec<[f64; 2]>>,
}

struct Measured {
    scalars: Vec<f64>,
    curves: [Vec<f64>; 4],
}

/// Names of the statistics, in the order of [`measured`].
const SCALARS: [&str; 12] = [
    "jobs per week",
    "offered load, processors",
    "deviation of weekly load / mean",
    "busiest / quietest hour, jobs",
    "busiest / quietest weekday, jobs",
    "correlation of load, next day",
    "correlation of load, next week",
    "jobs on one processor, share",
    "mean run time, s",
    "users active in a week",
    "same user as the job before, share",
    "same size as the user's job before, share",
];

/// Name and axis labels of each curve that is plotted, in the order of [`measured`].
const CURVES: [(&str, &str, &str); 4] = [
    ("hours", "Hour of the day, by the clock of the log", "Share of the jobs submitted (%)"),
    ("weekdays", "Day of the week, from the first of the log", "Share of the jobs submitted (%)"),
    ("correlation", "Days between", "Correlation of the load of two days"),
    ("sizes", "Size class: up to 2ⁿ processors", "Share of the jobs (%)"),
];

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// Correlation of numbers with the numbers `lag` positions later; 0 if the numbers do not vary.
fn correlation(values: &[f64], lag: usize) -> f64 {
    let centre = mean(values);
    let square: f64 = values.iter().map(|x| (x - centre).powi(2)).sum();
    let product: f64 =
        values.iter().zip(values.iter().skip(lag)).map(|(a, b)| (a - centre) * (b - centre)).sum();
    if square > 0.0 { product / square } else { 0.0 }
}

/// Statistics and curves over a number of whole weeks from the time `first` on.
fn measured(jobs: &[(Option<usize>, &Job)], first: f64, weeks: usize) -> Measured {
    let span = weeks as f64 * WEEK;
    let (mut hours, mut weekdays) = (vec![0.0; 24], vec![0.0; 7]);
    let (mut days, mut of_weeks) = (vec![0.0; 7 * weeks], vec![0.0; weeks]);
    let mut users: Vec<Vec<usize>> = vec![Vec::new(); weeks];
    let mut sizes: Vec<f64> = Vec::new();
    let (mut count, mut work, mut serial, mut runtime) = (0.0, 0.0, 0.0, 0.0);
    let (mut known, mut same_user, mut same_size, mut followed) = (0.0, 0.0, 0.0, 0.0);
    let mut before = None;
    let mut last_size: BTreeMap<usize, u64> = BTreeMap::new();
    for &(user, job) in jobs {
        let at = job.arrival.units();
        let since = at - first;
        if since >= span {
            break;
        }
        let nodes = job.request.nodes();
        let own = nodes as f64 * job.runtime;
        count += 1.0;
        work += own;
        runtime += job.runtime;
        serial += f64::from(u8::from(nodes == 1));
        hours[((at / HOUR).floor() as i64).rem_euclid(24) as usize] += 1.0;
        weekdays[((since / DAY) as usize) % 7] += 1.0;
        days[(since / DAY) as usize] += own;
        of_weeks[(since / WEEK) as usize] += own;
        let class = job.request.size_class() as usize;
        if sizes.len() <= class {
            sizes.resize(class + 1, 0.0);
        }
        sizes[class] += 1.0;
        if let Some(user) = user {
            users[(since / WEEK) as usize].push(user);
            known += 1.0;
            same_user += f64::from(u8::from(before == Some(user)));
            before = Some(user);
            if let Some(size) = last_size.insert(user, nodes) {
                followed += 1.0;
                same_size += f64::from(u8::from(size == nodes));
            }
        }
    }
    let active: Vec<f64> = users
        .into_iter()
        .map(|mut users| {
            users.sort_unstable();
            users.dedup();
            users.len() as f64
        })
        .collect();
    let share = |part: f64, of: f64| if of > 0.0 { part / of } else { 0.0 };
    let extremes = |values: &[f64]| {
        let most = values.iter().copied().fold(0.0, f64::max);
        share(most, values.iter().copied().fold(f64::INFINITY, f64::min).max(1.0))
    };
    let week = mean(&of_weeks);
    let deviation = of_weeks.iter().map(|x| (x - week).powi(2)).sum::<f64>();
    let deviation = (deviation / (weeks.max(2) - 1) as f64).sqrt();
    let percent = |values: &[f64]| values.iter().map(|x| 100.0 * share(*x, count)).collect();
    Measured {
        scalars: vec![
            count / weeks as f64,
            work / span,
            share(deviation, week),
            extremes(&hours),
            extremes(&weekdays),
            correlation(&days, 1),
            correlation(&days, 7),
            share(serial, count),
            share(runtime, count),
            mean(&active),
            share(same_user, known),
            share(same_size, followed),
        ],
        curves: [
            percent(&hours),
            percent(&weekdays),
            (1..=LAGS.min(7 * weeks - 1)).map(|lag| correlation(&days, lag)).collect(),
            percent(&sizes),
        ],
    }
}

fn band(mut values: Vec<f64>) -> [f64; 2] {
    values.sort_by(f64::total_cmp);
    let last = values.len().saturating_sub(1) as f64;
    let at = |share: f64| values.get((share * last).round() as usize).copied().unwrap_or(f64::NAN);
    [at(0.025), at(0.975)]
}

/// Number of the user of each job; `None` if a job has no user.
///
/// Users are told apart by their names in a table, or by their numbers in a log.
fn numbered_users(jobs: &[(Record, Job)]) -> Vec<Option<usize>> {
    let mut numbers: BTreeMap<String, usize> = BTreeMap::new();
    let mut number = |(record, job): &(Record, Job)| {
        let name = job.owner.as_ref().and_then(|owner| owner.user.clone());
        let name = name.or_else(|| record.user().map(|user| user.to_string()))?;
        let next = numbers.len();
        Some(*numbers.entry(name).or_insert(next))
    };
    jobs.iter().map(&mut number).collect()
}

/// Resamples a log `count` times by each of the given methods, on all processors of the computer.
pub fn resampled(log: &Path, ways: &[String], count: u64) -> Result<ResampledLog, TraceError> {
    let shown = log.display().to_string();
    let plain = parameters(&shown, &Table::new())?;
    let read = Log::read(&shown, &Choice::of(&plain))?;
    if read.kept.is_empty() {
        return Err(TraceError::Wrong(format!("{shown}: no line is a job")));
    }
    let [first, last] = [read.kept.first(), read.kept.last()]
        .map(|kept| kept.map_or(0.0, |(_, job)| job.arrival.units()));
    let weeks = ((last - first) / WEEK).floor().max(1.0) as usize;
    let users = numbered_users(&read.kept);
    let kept = users.iter().zip(&read.kept).map(|(&user, (_, job))| (user, job));
    let own = measured(&kept.collect::<Vec<_>>(), first, weeks);
    let mut all: Vec<Vec<Measured>> = Vec::new();
    for way in ways {
        let mut by = Table::new();
        by.insert("by".to_owned(), Value::String(way.clone()));
        let mut changes = Table::new();
        changes.insert("resample".to_owned(), Value::Table(by));
        let params = parameters(&shown, &changes)?;
        let one = |replication: u64| -> Result<Measured, TraceError> {
            let jobs =
                changed(&read, &params, (1, replication)).map_err(|error| error.about(&shown))?;
            let jobs: Vec<(Option<usize>, &Job)> =
                jobs.iter().map(|(index, _, job)| (users[*index], job)).collect();
            Ok(measured(&jobs, first, weeks))
        };
        let made: Result<Vec<Measured>, TraceError> = (0..count).into_par_iter().map(one).collect();
        all.push(made?);
    }
    let statistic = |(number, name): (usize, &&'static str)| ResampledStatistic {
        name,
        log: own.scalars[number],
        bands: all
            .iter()
            .map(|made| band(made.iter().map(|one| one.scalars[number]).collect()))
            .collect(),
    };
    let curve =
        |(number, (name, along, what)): (usize, &(&'static str, &'static str, &'static str))| {
            let log = own.curves[number].clone();
            let at = |made: &Vec<Measured>, place: usize| {
                band(
                    made.iter()
                        .map(|one| one.curves[number].get(place).copied().unwrap_or(0.0))
                        .collect(),
                )
            };
            let first = match *name {
                "correlation" | "weekdays" => 1.0,
                _ => 0.0,
            };
            Curves {
                name,
                along,
                what,
                x: (0..log.len()).map(|place| first + place as f64).collect(),
                bands: all
                    .iter()
                    .map(|made| (0..log.len()).map(|place| at(made, place)).collect())
                    .collect(),
                log,
            }
        };
    Ok(ResampledLog {
        ways: ways.to_vec(),
        count,
        jobs: read.kept.len() as u64,
        statistics: SCALARS.iter().enumerate().map(statistic).collect(),
        curves: CURVES.iter().enumerate().map(curve).collect(),
    })
}

impl ResampledLog {
    /// SVG files, each with its name and content. A file has a panel for each method of resampling.
    pub fn figures(&self, title: &str) -> Vec<(String, String)> {
        let drawn = |curves: &Curves| {
            let mut series = Vec::new();
            for (panel, band) in curves.bands.iter().enumerate() {
                let middle = band.iter().map(|[low, high]| (low + high) / 2.0).collect();
                let half = band.iter().map(|[low, high]| Some((high - low) / 2.0)).collect();
                let resampled = Series {
                    name: format!("95 % of {} resamplings", self.count),
                    colour: 0,
                    panel,
                    x: curves.x.clone(),
                    mean: middle,
                    half,
                    ..Series::default()
                };
                let log = Series {
                    name: "the log".to_owned(),
                    colour: 1,
                    mean: curves.log.clone(),
                    half: Vec::new(),
                    ..resampled.clone()
                };
                series.extend([resampled, log]);
            }
            let view = FigureView {
                title: format!("{title}: {}", curves.what.trim_end_matches(" (%)")),
                sentence: format!(
                    "{} against {}: of the log, and the range of 95 % of {} resamplings, a panel for each way.",
                    curves.what, curves.along, self.count
                ),
                style: Style::Lines,
                fixed: true,
                x: Scale {
                    label: curves.along.to_owned(),
                    grid: curves.x.clone(),
                    ..Scale::default()
                },
                y: Scale { label: curves.what.to_owned(), ..Scale::default() },
                colour: Some(Key::of("jobs")),
                panel: Some(Key::of("resample")),
                panels: self.ways.clone(),
                series,
                ..FigureView::default()
            };
            (format!("{}.svg", curves.name), figure(&view, false, WIDTH))
        };
        self.curves.iter().map(drawn).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use meshwork_lab::trace::convert::convert;

    #[test]
    fn bands_and_correlations_by_hand() {
        let close = |a: f64, b: f64| (a - b).abs() < 1e-9;
        let [low, high] = band((1..=41).map(f64::from).collect());
        assert!(close(low, 2.0) && close(high, 40.0));
        let waves = [1.0, -1.0, 1.0, -1.0];
        assert!(close(correlation(&waves, 1), -0.75) && close(correlation(&[2.0; 3], 1), 0.0));
    }

    #[test]
    fn a_log_lies_where_its_statistics_are_preserved() {
        // Four weeks of two users: one comes every day, the other only in the second week.
        let folder = tempfile::tempdir().unwrap();
        let mut text = "; MaxProcs: 16\n".to_owned();
        let mut number = 0;
        for hour in 0..4 * 7 * 24 + 1 {
            for user in [1, 2] {
                if user == 2 && (hour / 168 != 1 || hour % 4 > 0) {
                    continue;
                }
                number += 1;
                let (at, nodes) = (3_600 * hour, 4 * user);
                text += &format!(
                    "{number} {at} -1 600 {nodes} -1 -1 {nodes} 900 -1 1 {user} 1 1 1 1 -1 -1\n"
                );
            }
        }
        let path = folder.path().join("log.swf");
        std::fs::write(&path, text).unwrap();
        let ways = WAYS.map(str::to_owned);
        let found = resampled(&path, &ways, 40).unwrap();
        let of =
            |name: &str| found.statistics.iter().find(|own| own.name.starts_with(name)).unwrap();
        // Resampling by users keeps each user once; by weeks it can lose or repeat the second one.
        let jobs = of("jobs per week");
        assert!((0..3).all(|way| !jobs.is_outside(way)), "{jobs:?}");
        let is_same = jobs.bands[0].iter().all(|end| (end - jobs.log).abs() < 1e-9);
        assert!(is_same, "each user comes once: {jobs:?}");
        assert!(jobs.bands[1][1] > jobs.log + 20.0, "{jobs:?}");
        assert!((of("same size").log - 1.0).abs() < 1e-9);
        assert_eq!(found.figures("log").len(), 4);
        // A table has the same statistics, also if its users have names.
        let table = folder.path().join("log.csv");
        convert(&path, &table, &Table::new(), (1, 0)).unwrap();
        let rows = std::fs::read_to_string(&table).unwrap();
        let named = rows.lines().map(|row| {
            let mut cells: Vec<&str> = row.split(',').collect();
            let user = cells.len() - 2;
            cells[user] = match cells[user] {
                "1" => "ann",
                "2" => "ben",
                other => other,
            };
            cells.join(",") + "\n"
        });
        std::fs::write(&table, named.collect::<String>()).unwrap();
        let of_table = resampled(&table, &ways, 40).unwrap();
        assert_eq!(of_table.statistics, found.statistics);
        assert!(found.figures("log").iter().all(|(_, svg)| svg.contains("resample = shake")));
    }
}
