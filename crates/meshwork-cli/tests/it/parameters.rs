//! Tests of extreme values for every numeric parameter in the catalogue.
//!
//! The values are zero, negative, infinite or absurdly large. Each must be refused in a sentence,
//! or the study must run.

use std::process::{Command, Stdio};
use std::time::Duration;

use crate::common::{Said, Scratch, command, line, meshwork, put, said};
use meshwork::registry::{About, DefaultValue, Family, Kind, Param, Range};
use meshwork::scenario::{MEASURE, PARAMS, SITE_FAMILY};
use meshwork::speeds::PARAMS as SPEEDS;
use meshwork::workload::distribution::{RUNTIMES, SIZES};
use meshwork::workload::{DEPENDENCIES, ESTIMATES};
use toml::{Table, Value};

/// Values that no numeric parameter accepts.
const NEVER: [&str; 6] = ["-1", "-1.5", "nan", "inf", "-inf", "1e308"];

/// Values that some numeric parameters accept and others refuse.
const PERHAPS: [&str; 5] = ["0", "1e-308", "0.5", "1e15", "9223372036854775807"];

/// Error messages that are accepted when a study with an extreme but valid value fails.
const GIVEN_UP: [&str; 6] = [
    ", which leaves no job: ",
    "failed: more than 4000000 jobs wait at once: ",
    "failed: `workload.from` is 1000000000000000, but none of the first 10000000 jobs arrives that late",
    "failed: `workload.split_above` cuts counts of processors, but job ",
    "failed: log.swf: none of its 2 lines is of the users ",
    "failed: log.swf: none of its 2 lines is of the queues ",
];

fn sample(kind: &Kind) -> Value {
    match kind {
        Kind::Number(Range::Share | Range::Inside) => Value::Float(0.5),
        Kind::Number(_) => Value::Float(1.0),
        Kind::Integer(least, _) => Value::Integer(i64::try_from((*least).max(4)).unwrap()),
        Kind::Flag => Value::Boolean(false),
        Kind::Flags => Value::Array(vec![Value::Boolean(true)]),
        Kind::Choice(words) | Kind::Or(words, _) => words[0].into(),
        Kind::Text => "jobs.csv".into(),
        Kind::Texts => Value::Array(vec!["ann".into()]),
        Kind::Integers(..) => Value::Array(vec![Value::Integer(4), Value::Integer(4)]),
        Kind::Numbers(_) => Value::Array(vec![Value::Float(1.0)]),
        Kind::Component(family) => component(family, (family.entries)()[0]),
        Kind::Components(family) => Value::Array(vec![component(family, (family.entries)()[0])]),
        Kind::Names(family) => Value::Array(vec![(family.entries)()[0].name.into()]),
        Kind::Table(params) => Value::Table(required(&params.iter().collect::<Vec<_>>())),
        Kind::Tables(params) => {
            Value::Array(vec![Value::Table(required(&params.iter().collect::<Vec<_>>()))])
        }
    }
}

fn required(params: &[&Param]) -> Table {
    let is_required = |param: &&&Param| matches!(param.default, DefaultValue::Required);
    params.iter().filter(is_required).map(|p| (p.name.to_owned(), sample(&p.kind))).collect()
}

/// Catalogue entry as a study states it: its name, and all required parameters.
fn component(family: &Family, about: &About) -> Value {
    let mut table = Table::new();
    table.insert(family.key.to_owned(), about.name.into());
    table.extend(required(&about.params.iter().chain(family.common).collect::<Vec<_>>()));
    if about.name == "twisted_torus" {
        table.insert("dims".to_owned(), vec![2_i64, 4].into());
    }
    if ["synthetic", "slices", "deep_learning"].contains(&about.name) {
        table.insert("load".to_owned(), Value::Float(0.5));
    }
    if about.name == "slices" {
        // Slices must fit the small machine. If nearly all were refused, the queue would fill
        // slowly.
        table.insert("longest".to_owned(), Value::Integer(1));
    }
    if about.name == "swf" {
        table.insert("path".to_owned(), "log.swf".into());
    }
    Value::Table(table)
}

/// Valid scenario, to which tests add an entry with an extreme value.
fn base() -> Table {
    let text = "machine = { topology = 'mesh', dims = [4, 4] }\nmeasure = { jobs = 20 }\n\
                workload = { name = 'synthetic', load = 0.5, sizes = 'uniform', runtimes = { name = \
                'exponential', mean = 5.0 } }";
    text.parse().unwrap()
}

fn is_numeric(kind: &Kind) -> bool {
    match kind {
        Kind::Number(_) | Kind::Integer(..) | Kind::Numbers(_) | Kind::Integers(..) => true,
        Kind::Or(_, kind) => is_numeric(kind),
        _ => false,
    }
}

/// Numeric parameters by their path in a study, with a valid scenario that uses them.
fn everywhere() -> Vec<(String, Table)> {
    let mut all = Vec::new();
    let mut add = |at: &str, params: &[&Param], scenario: &Table| {
        for param in params.iter().filter(|param| is_numeric(&param.kind)) {
            let path =
                if at.is_empty() { param.name.to_owned() } else { format!("{at}.{}", param.name) };
            all.push((path, scenario.clone()));
        }
    };
    add("", &PARAMS.iter().collect::<Vec<_>>(), &base());
    add("measure", &MEASURE.iter().collect::<Vec<_>>(), &base());
    let mut sites = base();
    let speeds =
        "sites = [{ topology = 'mesh', dims = [4, 4] }, { topology = 'flat', processors = 16 }]
                  speeds = { variance = 0.1 }";
    sites.insert("machine".to_owned(), Value::Table(speeds.parse().unwrap()));
    add("machine.speeds", &SPEEDS.iter().collect::<Vec<_>>(), &sites);
    let families: [(&str, &Family); 11] = [
        ("machine", &SITE_FAMILY),
        ("workload", &meshwork::workload::FAMILY),
        ("workload.sizes", &SIZES),
        ("workload.runtimes", &RUNTIMES),
        ("workload.estimates", &ESTIMATES),
        ("workload.dependencies", &DEPENDENCIES),
        ("scheduler", &meshwork::sched::FAMILY),
        ("selector", &meshwork::select::FAMILY),
        ("sizing", &meshwork::sizing::FAMILY),
        ("allocator", &meshwork::alloc::FAMILY),
        ("network", &meshwork::network::FAMILY),
    ];
    for (at, family) in families {
        for about in (family.entries)() {
            let mut scenario = base();
            let component = component(family, about);
            match at.split_once('.') {
                None => drop(scenario.insert(at.to_owned(), component)),
                Some((outer, inner)) => {
                    let outer = scenario[outer].as_table_mut().unwrap();
                    if inner == "estimates" {
                        // Some estimators hold all jobs of the workload, so the number of jobs must
                        // be limited.
                        outer.insert("first_jobs".to_owned(), Value::Integer(40));
                    }
                    if inner == "dependencies" {
                        outer.clear();
                        outer.insert("name".to_owned(), "table".into());
                        outer.insert("path".to_owned(), "jobs.csv".into());
                    }
                    outer.insert(inner.to_owned(), component);
                }
            }
            let entry = meshwork::alloc::ALLOCATORS
                .iter()
                .find(|entry| at == "allocator" && entry.about.name == about.name);
            if let Some(entry) = entry {
                let entries = (SITE_FAMILY.entries)();
                let site = entries.iter().find(|site| site.name == entry.serves[0].name()).unwrap();
                let mut machine = self::component(&SITE_FAMILY, site);
                if let Some(&[dimensions, ..]) = entry.dimensions {
                    let dims = Value::Array(vec![Value::Integer(4); dimensions]);
                    machine.as_table_mut().unwrap().insert("dims".to_owned(), dims);
                }
                scenario.insert("machine".to_owned(), machine);
            }
            let params: Vec<&Param> = about.params.iter().chain(family.common).collect();
            add(at, &params, &scenario);
        }
    }
    all
}

/// Kills a command that does not end within a minute.
fn within_a_minute(mut command: Command, what: &str) -> Said {
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut waits = 0;
    while child.try_wait().unwrap().is_none() {
        waits += 1;
        if waits > 30_000 {
            child.kill().unwrap();
            panic!("{what} does not come to an end");
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    said(&child.wait_with_output().unwrap())
}

#[test]
fn no_number_anywhere_makes_it_panic() {
    let folder = Scratch::new();
    let write = |name: &str, text: &str| put(&folder, name, text);
    write("jobs.csv", "submit,runtime,nodes\n0,5,2\n1,5,3\n");
    write("log.swf", &(line(1, 0, 10, 4, 20) + &line(2, 5, 10, 16, 20)));
    let all = everywhere();
    assert!(all.len() > 60, "{} numbers", all.len());
    let mut refused = 0;
    for (path, scenario) in &all {
        let text = toml::to_string(scenario).unwrap();
        write("study.toml", &text);
        let run = |value: &str| {
            let setting = format!("{path}={value}");
            let arguments = ["run", "study.toml", "--threads", "1", "--set", &setting];
            within_a_minute(command(&folder, &arguments), &setting)
        };
        let key = path.rsplit('.').next().unwrap();
        for value in NEVER.iter().chain(&PERHAPS) {
            let said = run(value);
            let context = || format!("{path} = {value}: {said:?}\n{text}");
            match said.status {
                Some(0) => assert!(!NEVER.contains(value) && said.err.is_empty(), "{}", context()),
                Some(2) => {
                    refused += 1;
                    assert!(
                        said.err.starts_with("error: ") && said.out.is_empty(),
                        "{}",
                        context()
                    );
                    assert!(said.err.contains(key), "{}", context());
                    assert_eq!(said.err.lines().count(), 1, "{}", context());
                }
                // A run that would go on forever fails, and some errors show only once a job
                // arrives.
                Some(1) => {
                    let is_told = GIVEN_UP.iter().any(|reason| said.err.contains(reason));
                    assert!(is_told && !NEVER.contains(value), "{}", context());
                }
                _ => panic!("{}", context()),
            }
        }
        for list in ["[]", "[nan]", "[-1, 1]", "[1e308]"] {
            let said = run(list);
            assert_eq!(said.status, Some(2), "{path} = {list}: {said:?}");
        }
    }
    assert!(refused >= all.len() * NEVER.len(), "{refused}");
}

#[test]
fn no_number_of_a_study_makes_it_panic() {
    let folder = Scratch::with("study.toml", toml::to_string(&base()).unwrap());
    for key in ["replications", "precision", "min_replications", "max_replications"] {
        for value in NEVER {
            let mut settings = vec![format!("{key}={value}")];
            if key.ends_with("_replications") {
                settings.insert(0, "precision=0.1".to_owned());
            }
            let mut arguments = vec!["run", "study.toml"];
            for setting in &settings {
                arguments.extend(["--set", setting]);
            }
            let said = meshwork(&folder, &arguments).ended(2);
            let beginning = format!("error: --set {key}={value}: `{key}` is ");
            said.err_begins(&beginning);
        }
    }
}
