//! How runs went: how long each of their jobs waited, and what was held and waited over time. These plots are made of
//! the recordings that the map of the machine is made of, one line for each.

use super::axes::Axis;
use super::figures::{Choice, Figure, Key, Scale, Series, Style, View, is_wide, word};
use crate::recording::Recording;

/// The most lines of a plot: as many as there are colours.
const MOST_LINES: usize = 10;

/// The most steps of a line.
const MOST_STEPS: usize = 240;

/// One run, as it went.
struct Course {
    /// How long each job waited that started, shortest first.
    waits: Vec<f64>,
    /// Every instant, with the processors held and the jobs that wait from then on.
    instants: Vec<(f64, u64, u64)>,
    processors: u64,
}

impl Course {
    fn of(recording: &Recording) -> Course {
        let columns = &recording.columns;
        let shapes: Vec<u64> = recording
            .shapes
            .iter()
            .map(|sides| sides.iter().map(|&side| u64::from(side)).product())
            .collect();
        let mut submitted = vec![f64::NAN; columns.number.len()];
        let mut holds = vec![0_u64; columns.number.len()];
        let mut waits = Vec::new();
        let mut instants = Vec::with_capacity(columns.at.len());
        let (mut held, mut waiting) = (0_u64, 0_u64);
        let mut events = columns.kind.iter().zip(&columns.job);
        let mut placed = columns.blocks.iter();
        let mut shape = columns.shape.iter();
        let mut place = || -> u64 {
            let blocks = placed.next().copied().unwrap_or(0) as usize;
            shape.by_ref().take(blocks).map(|&shape| shapes[shape as usize]).sum()
        };
        for (&at, &count) in columns.at.iter().zip(&columns.count) {
            for (&kind, &job) in events.by_ref().take(count as usize) {
                let job = job as usize;
                match kind {
                    0 => {
                        submitted[job] = at;
                        waiting += 1;
                    }
                    2 => waiting -= 1,
                    3 => {
                        waits.push(at - submitted[job]);
                        waiting -= 1;
                        holds[job] = place();
                        held += holds[job];
                    }
                    4 => {
                        held -= holds[job];
                        holds[job] = place();
                        held += holds[job];
                    }
                    5 => held -= holds[job],
                    _ => {}
                }
            }
            instants.push((at, held, waiting));
        }
        waits.retain(|wait| wait.is_finite());
        waits.sort_by(f64::total_cmp);
        let nodes = |sides: &Vec<u32>| sides.iter().map(|&side| u64::from(side)).product::<u64>();
        let processors = recording.sites.iter().map(|site| nodes(&site.sides)).sum();
        Course { waits, instants, processors }
    }

    /// Waits, and the share of the jobs that waited no longer.
    fn shares(&self) -> (Vec<f64>, Vec<f64>) {
        let count = self.waits.len();
        let steps = count.min(MOST_STEPS);
        let mut shares: Vec<(f64, f64)> = (1..=steps)
            .map(|step| {
                let rank = (step * count).div_ceil(steps);
                (self.waits[rank - 1], rank as f64 / count as f64)
            })
            .collect();
        // Of equal waits the last: so many waited no longer.
        shares.reverse();
        shares.dedup_by(|a, b| a.0.total_cmp(&b.0).is_eq());
        shares.reverse();
        shares.into_iter().unzip()
    }

    /// The mean of a count over each of equal spans of time, where each begins.
    fn over_time(&self, from: f64, until: f64, of: impl Fn(u64, u64) -> f64) -> (Vec<f64>, Vec<f64>) {
        let end = self.instants.last().map_or(from, |last| last.0).min(until);
        let span = (until - from) / MOST_STEPS as f64;
        let (mut x, mut mean) = (Vec::new(), Vec::new());
        let mut next = self.instants.iter().peekable();
        let mut now = of(0, 0);
        for step in 0..MOST_STEPS {
            let begin = from + span * step as f64;
            if begin >= end {
                break;
            }
            let finish = (begin + span).min(end);
            let (mut area, mut time) = (0.0, begin);
            while let Some(&&(at, held, waiting)) = next.peek().filter(|instant| instant.0 <= finish) {
                area += (at - time).max(0.0) * now;
                time = at.max(time);
                now = of(held, waiting);
                next.next();
            }
            area += (finish - time) * now;
            x.push(begin);
            mean.push(area / (finish - begin));
        }
        (x, mean)
    }
}

/// The plots of some runs; none where nothing was recorded.
pub(super) fn figures(recordings: &[Recording], axes: &[Axis], section: &str, name: &str) -> Vec<Figure> {
    let recordings = &recordings[..recordings.len().min(MOST_LINES)];
    let courses: Vec<Course> = recordings.iter().map(Course::of).collect();
    let (key, names, colours) = lines(recordings, axes);
    let key = (recordings.len() > 1).then_some(key);
    let line = |number: usize, (x, mean): (Vec<f64>, Vec<f64>)| Series {
        name: names[number].clone(),
        colour: colours[number],
        panel: 0,
        x,
        mean,
        half: Vec::new(),
        replications: Vec::new(),
    };
    let view = |at: Vec<usize>, words: &str, x: Scale, y: Scale, series: Vec<Series>| {
        let each = key.as_ref().map_or_else(String::new, |key| format!(", a line for each {}", key.label));
        View {
            at,
            title: format!("{name}: {}", if x.log || y.key.is_empty() { &x.label } else { &y.label }),
            sentence: format!("{words}{each}. Each line is one run."),
            style: Style::Steps,
            differences: false,
            sorted: false,
            fixed: y.key != "share",
            expected: None,
            x,
            y,
            colour: key.clone(),
            panel: None,
            panels: Vec::new(),
            series: series.into_iter().filter(|series| !series.x.is_empty()).collect(),
        }
    };
    let mut figures = Vec::new();
    let shares: Vec<Series> =
        courses.iter().enumerate().map(|(i, course)| line(i, course.shares())).collect();
    if shares.iter().any(|series| !series.x.is_empty()) {
        // Waits of 0 have no place on a logarithmic scale: the line begins with them.
        let log = is_wide(shares.iter().flat_map(|series| &series.x).filter(|wait| **wait > 0.0));
        let x = Scale { label: "Wait".to_owned(), unit: "time".to_owned(), log, ..Scale::default() };
        let y = Scale {
            label: "Share of the jobs that started".to_owned(),
            key: "share".to_owned(),
            ..Scale::default()
        };
        let words = "Of the jobs that started, the share that waited no longer than this";
        let view = view(Vec::new(), words, x, y, shares);
        let heading = "How long jobs wait".to_owned();
        figures.push(Figure {
            id: format!("{section}-waits"),
            heading,
            choices: Vec::new(),
            views: vec![view],
        });
    }
    let from = recordings.iter().map(|recording| recording.from).fold(f64::INFINITY, f64::min);
    let until = recordings.iter().map(|recording| recording.until).fold(0.0, f64::max);
    if from < until {
        let time = || Scale { label: "Time".to_owned(), ..Scale::default() };
        let of = |course: &Course, which: usize| {
            let processors = course.processors.max(1) as f64;
            course.over_time(from, until, |held, waiting| {
                if which == 0 { held as f64 / processors } else { waiting as f64 }
            })
        };
        let both = [
            ("Utilization", "utilization", "share", "The share of the processors that is held, over time"),
            ("Jobs that wait", "queue", "", "How many jobs wait, over time"),
        ];
        let views = both.iter().enumerate().map(|(which, (label, metric, unit, words))| {
            let series =
                courses.iter().enumerate().map(|(i, course)| line(i, of(course, which))).collect();
            let y = Scale {
                label: (*label).to_owned(),
                key: (*metric).to_owned(),
                unit: (*unit).to_owned(),
                ..Scale::default()
            };
            view(vec![which], words, time(), y, series)
        });
        let metric = Key { label: "metric".to_owned(), key: "metric".to_owned() };
        figures.push(Figure {
            id: format!("{section}-course"),
            heading: "Over time".to_owned(),
            views: views.collect(),
            choices: vec![Choice {
                key: metric,
                values: both.iter().map(|(label, ..)| (*label).to_owned()).collect(),
            }],
        });
    }
    figures
}

/// What tells the runs apart: a swept key where there is only one, and of each its name and colour.
fn lines(recordings: &[Recording], axes: &[Axis]) -> (Key, Vec<String>, Vec<usize>) {
    let several: Vec<usize> = (0..axes.len()).filter(|&i| axes[i].count() > 1).collect();
    let is_once = |recording: &Recording| {
        recordings.iter().filter(|other| other.scenario == recording.scenario).count() == 1
    };
    if let ([axis], true) = (&several[..], recordings.iter().all(is_once)) {
        let own = &axes[*axis];
        let value = |recording: &Recording| (recording.scenario as usize - 1) % own.count();
        let names = recordings.iter().map(|recording| own.labels[value(recording)].clone());
        let colours = recordings.iter().map(|recording| value(recording) % MOST_LINES);
        let key = Key { label: word(&own.key), key: own.key.clone() };
        return (key, names.collect(), colours.collect());
    }
    let name = |recording: &Recording| {
        let title = if recording.title.is_empty() { "the only scenario" } else { &recording.title };
        if is_once(recording) {
            title.to_owned()
        } else {
            format!("{title}, replication {}", recording.replication)
        }
    };
    let key = Key { label: "run".to_owned(), key: "run".to_owned() };
    (key, recordings.iter().map(name).collect(), (0..recordings.len()).collect())
}
