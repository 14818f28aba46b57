//! Windows of a log as replications: how many fit, and where they lie.

use meshwork::catalogue::Catalogue;
use meshwork::registry::Problem;
use meshwork::scenario::Scenario;
use meshwork::workload::{Inputs, Submission};
use toml::{Table, Value};

use crate::study::asked::Span;
use crate::study::expand::{self, Point, Windows};
use crate::study::{MAX_REPLICATIONS, Refused, Replications, Study};

/// Looks at the log of every scenario, where windows of it are the replications, and says which time each log spans.
///
/// # Errors
/// If a scenario has no log, or fewer than two windows fit into it.
///
/// # Complexity
/// Each log is read once.
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
                let span = span(&study.catalogue, &point.scenario, path, files)
                    .map_err(|message| {
                        expand::refused(study, index, &Problem::new("workload.path", message))
                    })?
                    .ok_or_else(|| blame(format!("{path}: there is no job in this log")))?;
                spans.push(span.clone());
                span
            }
        };
        let windows = Windows::between(span.first, span.last, length, stride);
        if windows.count < 2 {
            let fit = if windows.count == 0 { "none fits" } else { "only one fits" };
            return Err(blame(format!(
                "`windows.length` is {length}, but the jobs of {path} arrive from {} to {}: of windows of \
                 that length {fit}, and an interval needs two",
                span.first, span.last
            )));
        }
        if windows.count > MAX_REPLICATIONS {
            return Err(blame(format!(
                "`windows` makes {} windows of {path}, but at most {MAX_REPLICATIONS} can be run",
                windows.count
            )));
        }
        point.windows = Some(windows);
    }
    Ok(spans)
}

/// The same, of logs that need not be there any more.
pub(crate) fn remembered(study: &Study, points: &mut [Point], spans: &[Span]) {
    let Replications::Windows { length, stride } = study.replications else { return };
    for point in points {
        let path = point.scenario.input_path();
        let span = path.and_then(|path| known(spans, &point.scenario, path));
        point.windows = span.map(|span| Windows::between(span.first, span.last, length, stride));
    }
}

fn known<'a>(spans: &'a [Span], scenario: &Scenario, path: &str) -> Option<&'a Span> {
    let (from, until) = bounds(scenario);
    spans.iter().find(|span| span.path == path && span.from == from && span.until == until)
}

/// The workload's own `from` and `until`.
fn bounds(scenario: &Scenario) -> (Option<f64>, Option<f64>) {
    let bound = |key| scenario.table()["workload"].get(key).and_then(Value::as_float);
    (bound("from"), bound("until"))
}

/// From when to when jobs arrive, by the log's own clock: nothing is scaled, split or left out but what is outside the
/// workload's own `from` and `until`.
fn span(
    catalogue: &Catalogue,
    scenario: &Scenario,
    path: &str,
    files: &dyn Inputs,
) -> Result<Option<Span>, String> {
    let mut table = scenario.table().clone();
    if let Some(workload) = table.get_mut("workload").and_then(Value::as_table_mut) {
        let clock = Table::from_iter([
            ("arrival_scale".to_owned(), Value::Float(1.0)),
            ("shuffle".to_owned(), Value::Boolean(false)),
        ]);
        workload.extend(clock);
        workload.remove("split_above");
        workload.remove("first_jobs");
    }
    let plain = Scenario::read_in(catalogue, &table).map_err(|problem| problem.message)?;
    let (from, until) = bounds(scenario);
    let mut span: Option<Span> = None;
    for submission in plain.jobs(0, files).map_err(|error| error.to_string())? {
        let Submission::Job(job) = submission.map_err(|error| error.0)? else { continue };
        let at = job.arrival.units();
        let span = span.get_or_insert_with(|| Span {
            path: path.to_owned(),
            from,
            until,
            first: at,
            last: at,
        });
        span.first = span.first.min(at);
        span.last = span.last.max(at);
    }
    Ok(span)
}
