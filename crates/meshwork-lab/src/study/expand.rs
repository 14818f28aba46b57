//! Expands a study to its scenarios, which are all combinations of its swept values.

use std::borrow::Cow;
use std::sync::Arc;

use meshwork::catalogue::Catalogue;
use meshwork::registry::{Problem, name_of};
use meshwork::scenario::Scenario;
use toml::{Table, Value};

use crate::inputs::Files;
use crate::inputs::form::{Form, on_the_clock_of};
use crate::study::asked::Span;
use crate::study::lists;
use crate::study::set::{depth, plain, set};
use crate::study::slurm::open_sites;
use crate::study::slurm::scenario::lay_out;
use crate::study::{Refused, Replications, SCENARIO_KEYS, Study, hint, is_within};

pub const MAX_SCENARIOS: u64 = 1_000_000;

#[derive(Clone, Debug)]
pub struct Point {
    pub swept: Vec<(String, Value)>,
    pub scenario: Scenario,
    /// Windows of the log that serve as replications. `None` if there are none, or until the log is
    /// read.
    pub windows: Option<Windows>,
}

/// Windows (periods of equal length) of a log. Times are by the clock of the log.
#[derive(Clone, Debug, PartialEq)]
pub struct Windows {
    pub first: f64,
    pub length: f64,
    pub stride: f64,
    /// Indices of the windows in which jobs arrive, counted from 0 over all windows.
    with_jobs: Arc<[u64]>,
    pub empty: u64,
}

impl Windows {
    /// Number of whole windows between two instants. Windows in which no job arrives count too.
    pub fn between(first: f64, last: f64, length: f64, stride: f64) -> u64 {
        let rest = (last - first - length) / stride;
        if rest < 0.0 { 0 } else { (rest.floor() as u64).saturating_add(1) }
    }

    /// Windows of a log, without those in which no job arrives. **O(w)** for *w* windows.
    pub fn of(span: &Span, length: f64, stride: f64) -> Windows {
        let all = 0..Windows::between(span.first, span.last, length, stride);
        let with_jobs = all.filter(|index| span.empty.binary_search(index).is_err()).collect();
        Windows { first: span.first, length, stride, with_jobs, empty: span.empty.len() as u64 }
    }

    pub fn count(&self) -> u64 {
        self.with_jobs.len() as u64
    }

    /// Start and end of the window of a replication, whose number must be below
    /// [`count`](Windows::count).
    pub fn at(&self, replication: u64) -> (f64, f64) {
        window(self.first, self.length, self.stride, self.with_jobs[replication as usize])
    }
}

/// Start and end of the window `index`, counted from 0 among all windows of a log.
pub(crate) fn window(first: f64, length: f64, stride: f64, index: u64) -> (f64, f64) {
    let from = first + index as f64 * stride;
    (from, from + length)
}

impl Point {
    /// Scenario for one replication. If it is a window of a log, `workload.from` and
    /// `workload.until` are the window's ends.
    pub fn scenario_of(
        &self,
        catalogue: &Catalogue,
        replication: u64,
    ) -> Result<Cow<'_, Scenario>, Problem> {
        let Some(windows) = &self.windows else { return Ok(Cow::Borrowed(&self.scenario)) };
        let (from, until) = windows.at(replication);
        let mut table = self.scenario.table().clone();
        for (key, value) in [("workload.from", from), ("workload.until", until)] {
            set(&mut table, key, Value::Float(value))?;
        }
        Scenario::read_in(catalogue, &table).map(Cow::Owned)
    }
}

/// Number of scenarios, the product of the numbers of swept values; at most [`MAX_SCENARIOS`].
pub fn count(study: &Study) -> Result<u64, Refused> {
    let product = study
        .sweep
        .iter()
        .try_fold(1_u128, |product, axis| product.checked_mul(axis.values.len() as u128));
    match product {
        Some(product) if product <= u128::from(MAX_SCENARIOS) => Ok(product as u64),
        _ => {
            let count = product.map_or_else(|| "more than 10^38".to_owned(), |n| n.to_string());
            let problem = Problem::new(
                "sweep",
                format!(
                    "`[sweep]` makes {count} scenarios, but at most {MAX_SCENARIOS} can be run"
                ),
            );
            Err(study.refused(&problem))
        }
    }
}

/// Makes all scenarios of a study, in the order of the keys in `[sweep]`.
///
/// The value of the last key changes fastest. `--set` options are applied after the sweep, to every
/// swept component.
pub fn expand(study: &Study) -> Result<Vec<Point>, Refused> {
    let points = points(study)?.collect::<Result<Vec<Point>, Refused>>()?;
    if let (Replications::Precision { of, .. }, Some(point)) = (&study.replications, points.first())
    {
        check_metric(study, of, point)?;
    }
    Ok(points)
}

/// Iterator over the scenarios that [`expand`] makes, for callers that only inspect them.
pub fn points(study: &Study) -> Result<impl Iterator<Item = Result<Point, Refused>>, Refused> {
    Ok((0..count(study)?).map(|index| point(study, index)))
}

/// Scenario with the index `index`, counted from 0, in the order of [`points`].
pub fn point_at(study: &Study, index: u64) -> Result<Point, Refused> {
    let count = count(study)?;
    if index >= count {
        let (file, number) = (&study.file, index.saturating_add(1));
        let has = if count == 1 { "one".to_owned() } else { format!("{count} of them") };
        return Err(Refused(format!("{file}: there is no scenario {number}, the study has {has}")));
    }
    point(study, index)
}

/// Place at which a value of a scenario was written: in the sweep, or in a `--set` option.
enum Origin<'a> {
    Sweep { axis: usize, element: usize },
    Setting(&'a str),
}

/// Path of a key, its value, and the place (sweep or setting) at which the value was written.
type Laid<'a> = (String, &'a Value, Origin<'a>);

fn point(study: &Study, index: u64) -> Result<Point, Refused> {
    let (swept, laid) = layers(study, index);
    let mut table: Table = study.scenario.clone();
    for (key, value, origin) in &laid {
        set(&mut table, key, (*value).clone())
            .map_err(|problem| blame(study, &problem, Some(origin)))?;
    }
    let files = Files::of(study);
    let list = |path: &str| files.companion(path, &files.locate_companion(path));
    let scenario = lists::read_in(&list, &mut table)
        .and_then(|()| open_sites(&mut table, &files))
        .and_then(|()| on_the_clock_of_its_log(study, &mut table))
        .and_then(|()| lay_out(&mut table, &files))
        .and_then(|()| Scenario::read_in(&study.catalogue, &table))
        .map_err(|problem| refused_at(study, &laid, &problem))?;
    Ok(Point { swept, scenario, windows: None })
}

fn on_the_clock_of_its_log(study: &Study, table: &mut Table) -> Result<(), Problem> {
    let Some(Value::Table(workload)) = table.get_mut("workload") else { return Ok(()) };
    let Some(path) = workload.get("path").and_then(Value::as_str).map(str::to_owned) else {
        return Ok(());
    };
    let form = match workload.get("name").and_then(Value::as_str) {
        Some("table") => Form::Csv { is_compressed: false },
        _ => Form::Log { is_compressed: false },
    };
    let files = Files::of(study);
    on_the_clock_of(&files, &path, form, workload)
        .map_err(|sentence| Problem::new("workload", sentence))
}

/// Converts a problem of a scenario into a sentence that begins with the place of the mistake.
pub(crate) fn refused(study: &Study, index: usize, problem: &Problem) -> Refused {
    refused_at(study, &layers(study, index as u64).1, problem)
}

fn refused_at(study: &Study, laid: &[Laid<'_>], problem: &Problem) -> Refused {
    let origin = laid.iter().rev().find(|(key, _, _)| is_within(&problem.path, key));
    let origin = origin.or_else(|| setting_to_blame(study, laid, problem));
    blame(study, problem, origin.map(|(_, _, origin)| origin))
}

/// The `--set` option that causes a problem. `None` if the problem remains without such options.
fn setting_to_blame<'l, 's>(
    study: &Study,
    laid: &'l [Laid<'s>],
    problem: &Problem,
) -> Option<&'l Laid<'s>> {
    let is_setting = |laid: &&Laid<'_>| matches!(laid.2, Origin::Setting(_));
    laid.iter().find(is_setting)?;
    // Read the study again, since `study` already has the settings applied.
    let Study { catalogue, file, source, folder, .. } = study;
    let own = Study::parse_in(catalogue, file, source, folder, &[]).ok()?.scenario;
    let has_it = |kept: &dyn Fn(&Laid<'_>) -> bool| {
        let mut table = own.clone();
        let laid = laid.iter().filter(|laid| kept(laid));
        laid.for_each(|(key, value, _)| drop(set(&mut table, key, (*value).clone())));
        Scenario::read_in(catalogue, &table).err().is_some_and(|own| own == *problem)
    };
    if has_it(&|laid| !is_setting(&laid)) {
        return None;
    }
    let first = |path: &str| path.split(['.', '[']).next().unwrap_or_default().to_owned();
    let beside = |laid: &&Laid<'_>| first(&laid.0) == first(&problem.path);
    let settings = || laid.iter().rev().filter(is_setting);
    // Prefer the setting without which the problem disappears.
    let decides = |laid: &&Laid<'_>| !has_it(&|other| !std::ptr::eq(other, *laid));
    settings()
        .find(|laid| beside(laid) && decides(laid))
        .or_else(|| settings().find(beside))
        .or_else(|| settings().next())
}

/// Values of the swept keys in scenario `index`, and all values that are applied to the study.
///
/// The applied values come from the sweep and from `--set` options, in the order of application.
fn layers(study: &Study, index: u64) -> (Vec<(String, Value)>, Vec<Laid<'_>>) {
    let mut rest = index;
    let mut swept = Vec::with_capacity(study.sweep.len());
    let mut laid: Vec<Laid<'_>> = Vec::new();
    for (axis, key) in study.sweep.iter().enumerate().rev() {
        let element = (rest % key.values.len() as u64) as usize;
        rest /= key.values.len() as u64;
        swept.push((key.key.clone(), key.values[element].clone()));
        laid.push((key.key.clone(), &key.values[element], Origin::Sweep { axis, element }));
    }
    swept.reverse();
    laid.reverse();
    for setting in &study.settings {
        let key = plain(&setting.key);
        let first = key.split(['.', '[']).next().unwrap_or_default();
        if SCENARIO_KEYS.contains(&first) {
            laid.push((key, &setting.value, Origin::Setting(&setting.text)));
        }
    }
    laid.sort_by_key(|(key, _, _)| depth(key));
    (swept, laid)
}

fn blame(study: &Study, problem: &Problem, origin: Option<&Origin<'_>>) -> Refused {
    match origin {
        Some(Origin::Setting(text)) => Refused(format!("--set {text}: {problem}{}", hint(problem))),
        Some(Origin::Sweep { axis, element }) => {
            let key = &study.sweep[*axis].key;
            // The setting has fixed the axis to one value, or has written `[sweep]` itself.
            match study.setting(key).or_else(|| study.setting(&format!("sweep.{key}"))) {
                Some(setting) => Refused(format!("--set {}: {problem}", setting.text)),
                None => Refused(study.at_line(&format!("sweep.{key}[{element}]"), problem)),
            }
        }
        None => study.refused(problem),
    }
}

/// Metrics that the key `measure.metrics` of a scenario names, in its order. `None` if the key is
/// not set.
pub(crate) fn measured(scenario: &Scenario) -> Option<Vec<&str>> {
    let metrics = scenario.table().get("measure").and_then(|measure| measure.get("metrics"));
    Some(metrics.and_then(Value::as_array)?.iter().filter_map(name_of).collect())
}

fn check_metric(study: &Study, of: &str, point: &Point) -> Result<(), Refused> {
    let names = measured(&point.scenario).unwrap_or_default();
    if names.is_empty() || names.contains(&of) {
        return Ok(());
    }
    Err(study.refused(&Problem::new(
        "precision_of",
        format!(
            "`precision` watches {of}, which is not measured: set `precision_of` to one of {}",
            names.join(", ")
        ),
    )))
}

/// Error for an outage trace that cannot be opened. The error also names the place in the study
/// that gives the trace's path.
pub(crate) fn missing_trace(study: &Study, index: usize, message: String) -> Refused {
    refused(study, index, &Problem::new("failures.trace", message))
}

/// Error for an input file that cannot be opened. The error also names the place in the study that
/// gives the file's path.
pub(crate) fn missing_input(study: &Study, index: usize, mut message: String) -> Refused {
    if let Some(obtain) = &study.obtain {
        message = format!("{message}; {obtain}");
    }
    let problem = Problem::new("workload.path", message);
    let laid = layers(study, index as u64).1;
    let origin = laid.iter().rev().find(|(key, _, _)| is_within(&problem.path, key));
    blame(study, &problem, origin.map(|(_, _, origin)| origin))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::study::Axis;
    use crate::tests::study_with;

    pub(crate) const BASE: &str = "scheduler = 'fcfs'\nallocator = 'first_fit'\n\
        [machine]\ntopology = 'mesh'\ndims = [4, 4]\n\
        [workload]\nname = 'synthetic'\nload = 0.5\nsizes = { name = 'uniform' }\n\
        runtimes = { name = 'exponential', mean = 5.0 }\n\
        [measure]\njobs = 50\nmetrics = ['turnaround', 'wait']\n";

    fn study(text: &str, settings: &[&str]) -> Study {
        study_with(text, settings).unwrap()
    }

    fn swept(point: &Point) -> Vec<String> {
        point.swept.iter().map(|(_, value)| value.to_string()).collect()
    }

    #[test]
    fn the_last_axis_runs_fastest() {
        let text = format!(
            "{BASE}[sweep]\nscheduler = ['fcfs', 'easy']\n'workload.load' = [0.1, 0.2, 0.3]\n"
        );
        let points = expand(&study(&text, &[])).unwrap();
        let seen: Vec<Vec<String>> = points.iter().map(swept).collect();
        assert_eq!(
            seen,
            [
                ["\"fcfs\"", "0.1"],
                ["\"fcfs\"", "0.2"],
                ["\"fcfs\"", "0.3"],
                ["\"easy\"", "0.1"],
                ["\"easy\"", "0.2"],
                ["\"easy\"", "0.3"]
            ]
        );
        assert_eq!(points[5].scenario.table()["workload"]["load"].as_float(), Some(0.3));
    }

    #[test]
    fn without_a_sweep_there_is_one_scenario() {
        let points = expand(&study(BASE, &[])).unwrap();
        assert_eq!((points.len(), points[0].swept.len()), (1, 0));
    }

    #[test]
    fn a_setting_of_a_parameter_holds_for_every_swept_component() {
        let text = format!("{BASE}[sweep]\nallocator = ['first_fit', 'ff']\n");
        let points = expand(&study(&text, &["allocator.rotation=never"])).unwrap();
        for point in &points {
            let allocator = &point.scenario.table()["allocator"];
            assert_eq!(allocator["rotation"].as_str(), Some("never"));
            assert_eq!(allocator["name"].as_str(), Some("first_fit"));
        }
        let pinned = expand(&study(&text, &["allocator=first_fit"])).unwrap();
        assert_eq!(pinned.len(), 1);
        assert_eq!(pinned[0].swept[0].1.as_str(), Some("first_fit"));
    }

    #[test]
    fn an_inner_key_swept_before_its_component_is_not_lost() {
        let text = format!(
            "{BASE}[sweep]\n'allocator.rotation' = ['never', 'best']\nallocator = ['ff']\n"
        );
        let points = expand(&study(&text, &[])).unwrap();
        assert_eq!(points[1].scenario.table()["allocator"]["rotation"].as_str(), Some("best"));
    }

    #[test]
    fn a_problem_is_blamed_on_the_line_or_the_setting_that_wrote_it() {
        let refusal = |text: &str, settings: &[&str]| {
            expand(&study(text, settings)).expect_err("this must be refused").0
        };
        let load = "`workload.load` is -1, but must be a number above 0, from 1e-15 to 1e15";
        let in_file = BASE.replace("load = 0.5", "load = -1");
        assert_eq!(refusal(&in_file, &[]), format!("a.toml:8: {load}"));
        let in_sweep = format!("{BASE}[sweep]\n'workload.load' = [\n0.5,\n-1]\n");
        assert_eq!(refusal(&in_sweep, &[]), format!("a.toml:17: {load}"));
        assert_eq!(refusal(BASE, &["workload.load=-1"]), format!("--set workload.load=-1: {load}"));
        let pinned = refusal(&in_sweep, &["workload.load=-1"]);
        assert_eq!(pinned, format!("--set workload.load=-1: {load}"));
        for (setting, sentence) in [
            ("machine.topology=tours", "unknown topology `tours` (did you mean `torus`?"),
            ("machine.topology=hypercube", "unknown key `dims` in `machine`"),
            ("machine={topology='flat'}", "`machine.processors` is missing"),
            ("scheduler=backfill", "unknown scheduler `backfill` (did you mean `easy`?"),
            (
                "scheduler={name='easy_backfilling'}",
                "unknown scheduler `easy_backfilling` (did you mean `easy`?",
            ),
            (
                "machine.dims=8x8",
                "`machine.dims` is \"8x8\", but must be a list of whole numbers from 1 to 16777216 (did you mean \
                 `[8, 8]`?)",
            ),
        ] {
            let refused = refusal(BASE, &[setting]);
            assert!(refused.starts_with(&format!("--set {setting}: {sentence}")), "{refused}");
        }
        let hint = "; lists of values to compare belong below `[sweep]`";
        let listed = BASE.replace("'first_fit'", "['first_fit', 'random']");
        assert!(refusal(&listed, &[]).ends_with(hint), "{}", refusal(&listed, &[]));
        assert!(refusal(BASE, &["workload.load=[0.5, 0.7]"]).ends_with(hint));
        assert!(!refusal(BASE, &["machine.dims=[0, 8]"]).ends_with(hint));
        let own = refusal(&BASE.replace("'mesh'", "'flat'"), &["seed=3"]);
        assert!(own.starts_with("a.toml:"), "the file alone has it too: {own}");
        let unknown = refusal(&BASE.replace("'first_fit'", "'firstfit'"), &[]);
        assert!(unknown.starts_with("a.toml:2: unknown allocator `firstfit`"), "{unknown}");
        let key = refusal(&format!("{BASE}[sweep]\nreplications = [1, 2]\n"), &[]);
        assert!(key.starts_with("a.toml:15: unknown key `replications`"), "{key}");
        let watched = refusal(&format!("precision = 0.1\nprecision_of = 'speed'\n{BASE}"), &[]);
        assert_eq!(
            watched,
            "a.toml:2: `precision` watches speed, which is not measured: set `precision_of` to one of \
             turnaround, wait"
        );
    }

    #[test]
    fn a_sweep_of_a_billion_is_refused_before_it_is_made() {
        let thousand: Vec<String> = (1..=1000).map(|n| n.to_string()).collect();
        let list = thousand.join(", ");
        let text = format!(
            "{BASE}[sweep]\nseed = [{list}]\n'workload.load' = [{list}]\n'measure.jobs' = [{list}]\n"
        );
        let refused = count(&study(&text, &[])).unwrap_err();
        assert_eq!(
            refused.0,
            "a.toml:14: `[sweep]` makes 1000000000 scenarios, but at most 1000000 can be run"
        );
        let mut wide = study(BASE, &[]);
        wide.sweep = (0..50)
            .map(|i| Axis { key: format!("k{i}"), values: vec![Value::Integer(1); 1000] })
            .collect();
        assert_eq!(
            count(&wide).unwrap_err().0,
            "a.toml: `[sweep]` makes more than 10^38 scenarios, but at most 1000000 can be run"
        );
    }

    proptest! {
        #[test]
        fn the_cross_product_is_nested_loops(a in 1_usize..4, b in 1_usize..4, c in 1_usize..4) {
            let list = |n: usize| (1..=n).map(|i| i.to_string()).collect::<Vec<_>>().join(", ");
            let text = format!(
                "{BASE}[sweep]\nseed = [{}]\n'workload.load' = [{}]\n'measure.jobs' = [{}]\n",
                list(a), list(b), list(c)
            );
            let seen: Vec<Vec<String>> = expand(&study(&text, &[])).unwrap().iter().map(swept).collect();
            let mut expected = Vec::new();
            for i in 1..=a { for j in 1..=b { for k in 1..=c {
                expected.push(vec![i.to_string(), j.to_string(), k.to_string()]);
            } } }
            prop_assert_eq!(seen, expected);
        }
    }
}
