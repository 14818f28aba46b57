use std::collections::BTreeMap;

use meshwork::workload::distribution::{HyperErlang, Moments, Stages};
use toml::{Table, Value};

use super::{Sample, drawn, gaps};
use crate::study::table;
use crate::trace::TraceError;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FitModel {
    /// Model that divides jobs into classes by size. Each class has three moments of interarrival
    /// times, and three of run times.
    Jann,
    /// Model with a daily cycle of arrivals. A job runs for a random share of its requested time.
    CirneBerman,
    /// Model of Lublin and Feitelson with the log's sizes, mean run time and mean arrival rate.
    Lublin,
}

impl FitModel {
    pub const ALL: [(&'static str, FitModel); 3] = [
        ("jann", FitModel::Jann),
        ("cirne_berman", FitModel::CirneBerman),
        ("lublin", FitModel::Lublin),
    ];

    pub fn named(name: &str) -> Option<FitModel> {
        FitModel::ALL.iter().find(|model| model.0 == name).map(|model| model.1)
    }

    pub(super) fn has_requests(self) -> bool {
        self == FitModel::CirneBerman
    }

    pub(super) fn fitted(
        self,
        sample: &Sample,
        shown: &str,
        notes: &mut Vec<String>,
    ) -> Result<Table, TraceError> {
        let name = FitModel::ALL.iter().find(|model| model.1 == self).map_or("", |model| model.0);
        let jobs = i64::try_from(sample.sizes.len()).unwrap_or(i64::MAX);
        let mut workload = table([
            ("name", name.into()),
            ("jobs", jobs.into()),
            ("processors", i64::from(sample.processors).into()),
        ]);
        match self {
            FitModel::Jann => jann(sample, &mut workload, notes),
            FitModel::CirneBerman => cirne_berman(sample, shown, &mut workload, notes)?,
            FitModel::Lublin => lublin(sample, &mut workload)?,
        }
        Ok(workload)
    }
}

/// Rounds a parameter to six significant digits, which is more than any sample determines.
fn rounded(number: f64) -> Value {
    Value::Float(format!("{number:.5e}").parse().unwrap_or(number))
}

/// Minimum number of jobs in a class of job sizes. A smaller class is merged with another one.
const MIN_CLASS: usize = 30;

fn jann(sample: &Sample, workload: &mut Table, notes: &mut Vec<String>) {
    let largest = sample.sizes.iter().copied().max().unwrap_or(1);
    let mut borders: Vec<u64> =
        (0..63).map(|exponent| 1_u64 << exponent).take_while(|&border| border < largest).collect();
    borders.push(largest);
    let of_class = |from: u64, to: u64| -> Vec<usize> {
        let is_in = |&place: &usize| (from..=to).contains(&sample.sizes[place]);
        (0..sample.sizes.len()).filter(is_in).collect()
    };
    // A class with too few jobs is merged into the next larger sizes, or else into those before it.
    let mut classes: Vec<(u64, Vec<usize>)> = Vec::new();
    let mut from = 1;
    for (i, &to) in borders.iter().enumerate() {
        let places = of_class(from, to);
        let is_last = i + 1 == borders.len();
        if places.len() < MIN_CLASS && !is_last {
            continue;
        }
        match classes.last_mut().filter(|_| places.len() < MIN_CLASS) {
            Some(last) => {
                last.0 = to;
                last.1.extend(places);
                last.1.sort_unstable();
            }
            None => classes.push((to, places)),
        }
        from = to + 1;
    }
    let mut was_widened = false;
    let tables = classes.iter().map(|(to, places)| {
        let largest = i64::try_from(*to).unwrap_or(i64::MAX);
        let top = places.iter().filter(|&&place| sample.sizes[place] == *to).count();
        let share = rounded(top as f64 / places.len() as f64);
        let mut class = table([("largest", largest.into()), ("p_largest", share)]);
        let gaps = gaps(places.iter().map(|&place| sample.arrivals[place]));
        let run_times: Vec<f64> = places.iter().map(|&place| sample.run_times[place]).collect();
        // The jobs of a class may all be in one part of the log, so the gap is over the whole log.
        let every = sample.span() / places.len() as f64;
        for (of, values, mean) in [("gap", gaps, Some(every)), ("run", run_times, None)] {
            let (moments, widened) = possible(&values);
            was_widened |= widened;
            let mean = mean.unwrap_or(moments.mean);
            class.insert(format!("{of}_mean"), rounded(mean));
            class.insert(format!("{of}_cv"), rounded(moments.cv));
            class.insert(format!("{of}_third"), rounded(moments.third));
        }
        Value::Table(class)
    });
    let tables: Vec<Value> = tables.collect();
    if was_widened {
        notes.push(
            "some gaps or run times vary so little that they are made to vary more".to_owned(),
        );
    }
    workload.insert("classes".to_owned(), Value::Array(tables));
}

/// Moments of a sample, or similar moments if no hyper-Erlang distribution has the exact ones.
///
/// The flag says whether the moments were changed.
fn possible(values: &[f64]) -> (Moments, bool) {
    let moments = Moments::of(values).unwrap_or(Moments { mean: 1e-3, cv: 1.0, third: 1.5 });
    // A distance from the limit of possible moments survives the rounding of parameters.
    let safe = Moments { cv: moments.cv.max(0.04), third: moments.third.max(1.003), ..moments };
    let fits = HyperErlang::fitted(moments).is_some() && moments == safe;
    if fits { (moments, false) } else { (safe, true) }
}

fn cirne_berman(
    sample: &Sample,
    shown: &str,
    workload: &mut Table,
    notes: &mut Vec<String>,
) -> Result<(), TraceError> {
    if 2 * sample.requests.len() < sample.sizes.len() {
        return Err(TraceError::Wrong(format!(
            "{shown}: the model cirne_berman is one of requested times, which {} of {} jobs have: fit jann or lublin",
            sample.requests.len(),
            sample.sizes.len()
        )));
    }
    let sizes = Stages::fitted(&sample.sizes);
    let largest = sample.sizes.iter().copied().max().unwrap_or(1);
    workload.insert("processors".to_owned(), i64::try_from(largest).unwrap_or(i64::MAX).into());
    let mut insert = |key: &str, number: f64| workload.insert(key.to_owned(), rounded(number));
    insert("p_serial", sizes.p_serial);
    insert("p_pow2", sizes.p_pow2);
    if largest > 1 {
        insert("u_low", sizes.u_low);
        // The rounded `u_med` must not exceed the largest size `u_hi`.
        let u_med = sizes.u_med.min(sizes.u_hi - 1e-4).max(sizes.u_low);
        insert("u_med", u_med);
        insert("u_prob", sizes.u_prob);
    }
    let times = sample.requests.iter().map(|request| request.1);
    insert("shortest", times.clone().fold(f64::INFINITY, f64::min));
    insert("longest", times.fold(0.0, f64::max));
    let part = |&(place, request): &(usize, f64)| (sample.run_times[place] / request).min(1.0);
    let accuracies: Vec<f64> = sample.requests.iter().map(part).collect();
    let n = accuracies.len() as f64;
    let mean = accuracies.iter().sum::<f64>() / n;
    let variance = accuracies.iter().map(|a| (a - mean) * (a - mean)).sum::<f64>() / n;
    insert("accuracy_mean", mean.max(1e-6));
    insert("accuracy_cv", (variance.sqrt() / mean.max(1e-6)).max(1e-3));
    insert("mean_interarrival", sample.span() / (sample.arrivals.len() - 1) as f64);
    if sample.time_of_day.is_none() {
        notes.push(
            "the log does not say when it begins: its clock is taken to begin at midnight"
                .to_owned(),
        );
    }
    let begin = sample.time_of_day.unwrap_or(0.0);
    let mut hours = [0_u32; 24];
    for arrival in &sample.arrivals {
        hours[((begin + arrival) / 3_600.0) as usize % 24] += 1;
    }
    let hours = hours.map(|count| rounded(24.0 * f64::from(count) / sample.arrivals.len() as f64));
    workload.insert("hours".to_owned(), Value::Array(hours.to_vec()));
    Ok(())
}

fn lublin(sample: &Sample, workload: &mut Table) -> Result<(), TraceError> {
    let sizes = Stages::fitted(&sample.sizes);
    workload.extend(table([
        ("p_serial", rounded(sizes.p_serial)),
        ("p_pow2", rounded(sizes.p_pow2)),
        ("u_low", rounded(sizes.u_low)),
        ("u_med", rounded(sizes.u_med)),
        ("u_hi", rounded(sizes.u_hi)),
        ("u_prob", rounded(sizes.u_prob)),
    ]));
    // The daily cycle and the two kinds of run times are kept; the other parameters are scaled.
    let jobs = drawn(workload, sample.processors).map_err(TraceError::Wrong)?;
    let n = jobs.len() as f64;
    let mean_run = jobs.iter().map(|job| job.runtime).sum::<f64>() / n;
    let log_run = sample.run_times.iter().sum::<f64>() / n;
    let span = jobs[jobs.len() - 1].arrival - jobs[0].arrival;
    workload.insert("runtime_scale".to_owned(), rounded(log_run / mean_run.max(1e-9)));
    workload.insert("arrival_scale".to_owned(), rounded(sample.span() / span.max(1e-9)));
    Ok(())
}

/// Parameters of the model `tsafrir` of requested times. They are computed from the 20 most
/// frequent requested times of a log.
pub(super) fn estimates(sample: &Sample) -> Table {
    const HEAD: usize = 20;
    let mut counts: BTreeMap<u64, u64> = BTreeMap::new();
    for &(_, time) in &sample.requests {
        *counts.entry(time.to_bits()).or_default() += 1;
    }
    let max = sample.requests.iter().map(|request| request.1).fold(1.0, f64::max);
    let mut popular: Vec<(u64, f64)> =
        counts.into_iter().map(|(time, count)| (count, f64::from_bits(time))).collect();
    popular.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.total_cmp(&b.1)));
    let all = sample.requests.len() as f64;
    let (mut head, mut tables) = (0, Vec::new());
    let values = popular.len();
    for &(count, time) in popular.iter().take(HEAD) {
        head += count;
        // Rounded down, so that the shares never sum to more than 1.
        let share = (1e5 * count as f64 / all).floor() / 1e5;
        tables.push(Value::Table(table([("time", time.into()), ("share", share.into())])));
    }
    table([
        ("name", "tsafrir".into()),
        ("max", max.into()),
        ("head", rounded((head as f64 / all).min(1.0))),
        ("values", i64::try_from(values.clamp(1, 100_000)).unwrap_or(1).into()),
        ("popular", tables.into()),
    ])
}
