//! Windows of a log that serve as replications: their number and bounds.

use meshwork::catalogue::Catalogue;
use meshwork::registry::Problem;
use meshwork::scenario::Scenario;
use meshwork::workload::{Inputs, Submission};
use toml::Value;

use crate::study::asked::Span;
use crate::study::expand::{self, Point, Windows, window};
use crate::study::{MAX_REPLICATIONS, Refused, Replications, Study, table};
use crate::text::number::plural;

/// Determines the windows of every scenario's log, and returns the time span of each log.
pub(crate) fn open(
    study: &Study,
    points: &mut [Point],
    files: &dyn Inputs,
) -> Result<Vec<Span>, Refused> {
    let Replications::Windows { length, stride } = study.replications else {
        return Ok(Vec::new());
    };
    let mut spans: Vec<Span> = Vec::new();
    for (index, point) in points.iter_mut().enumerate() {
        let blame = |message: String| match study.setting("windows") {
            Some(setting) => Refused(format!("--set {}: {message}", setting.text)),
            None => study.refused(&Problem::new("windows", message)),
        };
        let Some(path) = point.scenario.input_path() else {
            let name = point.scenario.table()["workload"]["name"].as_str().unwrap_or_default();
            return Err(blame(format!(
                "`windows` are windows of a log, but the workload `{name}` reads none: give \
                 `replications`, each of which draws its own jobs"
            )));
        };
        let known = known(&spans, &point.scenario, path).cloned();
        let span = match known {
            Some(span) => span,
            None => {
                let arrivals = arrivals(&study.catalogue, &point.scenario, files);
                let arrivals = arrivals.map_err(|message| {
                    expand::refused(study, index, &Problem::new("workload.path", message))
                })?;
                let span = span(&point.scenario, path, &arrivals, length, stride);
                let span = span.map_err(blame)?;
                spans.push(span.clone());
                span
            }
        };
        point.windows = Some(Windows::of(&span, length, stride));
    }
    Ok(spans)
}

/// Sets the windows from stored time spans, without reading the logs.
pub(crate) fn remembered(study: &Study, points: &mut [Point], spans: &[Span]) {
    let Replications::Windows { length, stride } = study.replications else { return };
    for point in points {
        let path = point.scenario.input_path();
        let span = path.and_then(|path| known(spans, &point.scenario, path));
        point.windows = span.map(|span| Windows::of(span, length, stride));
    }
}

fn known<'a>(spans: &'a [Span], scenario: &Scenario, path: &str) -> Option<&'a Span> {
    let (from, until) = bounds(scenario);
    spans.iter().find(|span| span.path == path && span.from == from && span.until == until)
}

fn bounds(scenario: &Scenario) -> (Option<f64>, Option<f64>) {
    let bound = |key| scenario.table()["workload"].get(key).and_then(Value::as_float);
    (bound("from"), bound("until"))
}

/// Arrival times of jobs between the settings `from` and `until`, in ascending order. They are
/// times of the log's own clock.
pub(crate) fn arrivals(
    catalogue: &Catalogue,
    scenario: &Scenario,
    files: &dyn Inputs,
) -> Result<Vec<f64>, String> {
    let mut table = scenario.table().clone();
    if let Some(workload) = table.get_mut("workload").and_then(Value::as_table_mut) {
        workload.extend(self::table([("arrival_scale", 1.0.into()), ("shuffle", false.into())]));
        workload.remove("split_above");
        workload.remove("resample");
        workload.remove("scale");
        workload.remove("first_jobs");
    }
    let plain = Scenario::read_in(catalogue, &table).map_err(|problem| problem.message)?;
    let mut arrivals = Vec::new();
    for submission in plain.jobs(0, files).map_err(|error| error.to_string())? {
        let Submission::Job(job) = submission.map_err(|error| error.0)? else { continue };
        arrivals.push(job.arrival.units());
    }
    arrivals.sort_by(f64::total_cmp);
    Ok(arrivals)
}

/// Time span of a log from the first to the last arrival, and the windows in which no job arrives.
///
/// These windows are listed by index.
fn span(
    scenario: &Scenario,
    path: &str,
    arrivals: &[f64],
    length: f64,
    stride: f64,
) -> Result<Span, String> {
    let [first, .., last] = *arrivals else {
        let count = plural(arrivals.len() as u64, "job");
        return Err(format!("{path}: of {count} no windows can be made"));
    };
    let windows = Windows::between(first, last, length, stride);
    if windows < 2 {
        let fit = if windows == 0 { "none fits" } else { "only one fits" };
        return Err(format!(
            "`windows.length` is {length}, but the jobs of {path} arrive from {first} to {last}: of windows of \
             that length {fit}, and an interval needs two"
        ));
    }
    if windows > MAX_REPLICATIONS {
        return Err(format!(
            "`windows` makes {windows} windows of {path}, but at most {MAX_REPLICATIONS} can be run"
        ));
    }
    let is_empty = |index: &u64| {
        let (from, until) = window(first, length, stride, *index);
        let next = arrivals.partition_point(|&arrival| arrival < from);
        arrivals[next] >= until
    };
    let empty: Vec<u64> = (0..windows).filter(is_empty).collect();
    if windows - (empty.len() as u64) < 2 {
        return Err(format!(
            "`windows` makes {windows} windows of {path}, but jobs arrive in only one of them, and an interval needs two"
        ));
    }
    let (from, until) = bounds(scenario);
    Ok(Span { path: path.to_owned(), from, until, first, last, empty })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inputs::Files;
    use toml::Table;

    #[test]
    fn the_clock_of_a_scaled_log_is_that_of_the_log() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log.swf");
        let line =
            |job: u32| format!("{job} {} -1 50 4 -1 -1 4 50 -1 1 1 1 1 1 1 -1 -1\n", 100 * job);
        std::fs::write(&path, (1..=9).map(line).collect::<String>()).unwrap();
        let of = |more: &str| {
            let text = format!(
                "machine = {{ topology = 'flat', processors = 8 }}\n\
                 workload = {{ name = 'swf', path = '{}'{more} }}\n",
                path.display()
            );
            let scenario = Scenario::read(&text.parse::<Table>().unwrap()).unwrap();
            arrivals(&Catalogue::standard(), &scenario, &Files::default()).unwrap()
        };
        let plain = of("");
        assert_eq!((plain.len(), plain[8] - plain[0]), (9, 800.0));
        for more in [
            ", scale = { load = 0.9, by = 'interarrival' }",
            ", load = 0.1",
            ", arrival_scale = 3.0",
            ", resample = { by = 'shake' }",
            ", shuffle = true",
        ] {
            assert_eq!(of(more), plain, "{more}");
        }
    }
}
