//! Tests of the output of `meshwork` commands that have no test file of their own.

use crate::common::{Scratch, call, examples, line, meshwork, put, read};
use serde_json::Value;

#[test]
fn a_study_that_is_shown_can_be_run_and_gives_the_same() {
    let folder = Scratch::new();
    let study = "description = 'shown'\nreplications = 2\nmachine = { topology = 'torus', dims = [4, 4] }\n\
                 measure = { jobs = 100 }\n[workload]\nname = 'synthetic'\nload = 0.4\nsizes = 'uniform'\n\
                 runtimes = { name = 'exponential', mean = 5.0 }\n";
    put(&folder, "study.toml", study);
    let shown = call(&folder, "show study.toml").succeeded();
    put(&folder, "shown.toml", &shown.out);
    let run = |file: &str| meshwork(&folder, &["run", file]).out;
    assert_eq!(run("shown.toml"), run("study.toml"));
    let again = call(&folder, "show shown.toml");
    assert_eq!(again.out, shown.out);
}

#[test]
fn every_scenario_of_a_sweep_is_shown_with_its_keys() {
    let folder = Scratch::new();
    let study = examples().join("load.toml");
    let study = study.to_str().unwrap();
    let shown = meshwork(&folder, &["show", study]).ended(0);
    let comments: Vec<&str> = shown.out.lines().filter(|line| line.starts_with('#')).collect();
    assert_eq!(comments.len(), 8);
    assert_eq!(comments[0], "# scenario 1 of 8: allocator = \"first_fit\", workload.load = 0.2");
    assert_eq!(
        comments[7],
        "# scenario 8 of 8: allocator = \"frame_sliding\", workload.load = 0.5"
    );
    let json = meshwork(&folder, &["show", study, "--json", "--set", "workload.load=0.3"]);
    let lines = json.json_lines();
    assert_eq!(lines.len(), 2);
    assert_eq!(lines[1]["scenario"]["workload.load"], 0.3);
    assert_eq!(lines[1]["resolved"]["allocator"]["name"], "frame_sliding");
}

#[test]
fn results_come_as_json_with_null_for_what_was_not_measured() {
    let folder = Scratch::with("log.swf", line(1, 0, 10, 4, 20));
    let study = "name = 'one'\nmachine = { topology = 'flat', processors = 4 }\n\
                 workload = { name = 'swf', path = 'log.swf' }\n[sweep]\nscheduler = ['fcfs', 'easy']\n";
    put(&folder, "study.toml", study);
    let said = call(&folder, "run study.toml --json").succeeded();
    let lines = said.json_lines();
    assert_eq!(lines.len(), 2);
    assert_eq!(lines[1]["study"], "one");
    assert_eq!(lines[1]["scenario"], serde_json::json!({ "scheduler": "easy" }));
    assert_eq!(
        lines[1]["metrics"]["turnaround"],
        serde_json::json!({ "mean": 10.0, "half_width": null, "replications": 1, "method": null })
    );
    let quiet = call(&folder, "run study.toml --quiet --out out");
    assert_eq!((quiet.status, quiet.out.as_str(), quiet.err.as_str()), (Some(0), "", ""));
    assert!(folder.join("out/summary.csv").is_file());
}

#[test]
fn drawn_speeds_are_shown_and_printed_with_the_results() {
    let folder = Scratch::new();
    let study = "replications = 3\nmeasure = { jobs = 50, metrics = ['wait'] }\n[machine]\n\
                 sites = [{ topology = 'flat', processors = 4 }, { topology = 'flat', processors = 8, \
                 speed = 2 }]\nspeeds = { variance = 0.02 }\n[workload]\nname = 'lublin'\n\
                 processors = 8\n[sweep]\n'machine.speeds.variance' = [0.0, 0.02]\n";
    put(&folder, "study.toml", study);
    let said = call(&folder, "run study.toml --json --out out").succeeded();
    let lines = said.json_lines();
    assert_eq!(lines[0]["speeds"], serde_json::json!([[1.0, 2.0], [1.0, 2.0], [1.0, 2.0]]));
    let shown = call(&folder, "show study.toml --json");
    let shown: Value = serde_json::from_str(shown.out.lines().nth(1).unwrap()).unwrap();
    assert_eq!(shown["speeds"], lines[1]["speeds"]);
    // With a variance of 0.02, one of the two relative speeds is 0.1 above 1, the other 0.1 below.
    for speeds in shown["speeds"].as_array().unwrap() {
        let (first, second) = (speeds[0].as_f64().unwrap(), speeds[1].as_f64().unwrap());
        assert!(((first - 1.0).abs() - 0.1).abs() < 1e-12, "{speeds}");
        assert!((first + second / 2.0 - 2.0).abs() < 1e-12, "{speeds}");
    }
    let csv = read(&folder, "out/speeds.csv");
    assert!(
        csv.starts_with("machine.speeds.variance,replication,site,speed\n0.0,0,0,1\n0.0,0,1,2\n")
    );
    assert_eq!(csv.lines().count(), 1 + 2 * 3 * 2);
    let text = call(&folder, "show study.toml").out;
    assert!(text.contains("\n# speeds in replication 3: 1, 2\n"), "{text}");
    let table = call(&folder, "run study.toml --out out").out;
    assert!(table.contains("note: the speeds of the sites are drawn anew"), "{table}");
    call(&folder, "check out").ended(0);
}

#[test]
fn several_studies_have_a_folder_each() {
    let folder = Scratch::new();
    let log = line(1, 0, 10, 4, 20);
    put(&folder, "log.swf", log);
    let study = "machine = { topology = 'flat', processors = 4 }\nworkload = { name = 'swf', path = \
                 'log.swf' }\n";
    put(&folder, "a.toml", study);
    put(&folder, "b.toml", study);
    let said = call(&folder, "run a.toml b.toml --out out").succeeded();
    for name in ["a", "b"] {
        assert!(folder.join("out").join(name).join("summary.csv").is_file());
        said.out_has(&format!("written to out/{name}: runs.jsonl, summary.csv\n"));
    }
    // If one study is invalid, no run is started.
    put(&folder, "b.toml", "scheduler = 'none'\n".to_owned() + study);
    call(&folder, "run a.toml b.toml --out other").refused();
    assert!(!folder.join("other").exists());
}

#[test]
fn everything_is_listed_and_can_be_looked_up() {
    let folder = Scratch::new();
    let json = call(&folder, "list --json").ended(0);
    let text = call(&folder, "list").out;
    let mut kinds = Vec::new();
    for line in json.out.lines() {
        let entry: Value = serde_json::from_str(line).unwrap();
        let (kind, name) = (entry["kind"].as_str().unwrap(), entry["name"].as_str().unwrap());
        kinds.push(kind.to_owned());
        assert!(text.lines().any(|line| line.trim_start().starts_with(name)), "{name}");
        let one = meshwork(&folder, &["list", kind, name]).ended(0);
        one.out_begins(&format!("{name}: a"));
        for alias in entry["aliases"].as_array().unwrap() {
            let by_alias = meshwork(&folder, &["list", kind, alias.as_str().unwrap()]);
            assert_eq!(by_alias.out, one.out);
        }
        for param in entry["parameters"].as_array().unwrap() {
            one.out_has(param["name"].as_str().unwrap());
        }
        for line in text.lines().chain(one.out.lines()) {
            assert!(line.chars().count() <= 100, "{line}");
        }
    }
    kinds.dedup();
    assert_eq!(kinds.len(), 18);
    let plural = call(&folder, "list allocators").out;
    assert_eq!(plural, call(&folder, "list allocator").out);
    assert!(plural.starts_with("allocators\n  first_fit"), "{plural}");
    // A name alone is searched for in every kind.
    let of = |words: &[&str]| meshwork(&folder, &[&["list"], words].concat()).out;
    let (selector, allocator) = (of(&["selector", "first_fit"]), of(&["allocator", "first_fit"]));
    assert_eq!(of(&["first_fit"]), format!("{selector}\n{allocator}"));
    assert_eq!(of(&["FCFS"]), of(&["scheduler", "fcfs"]));
    let named = of(&["--grep", "Compaction"]);
    assert!(named.lines().count() < text.lines().count() / 4, "{named}");
    assert!(of(&["allocator", "--grep", "first free block"]).contains("\n  first_fit "));
    let said = meshwork(&folder, &["list", "--grep", "no such words"]).ended(2);
    said.err_has("--grep no such words: no entry has this text");
    call(&folder, "show first_fit").err_has("`meshwork list first_fit`");
}

#[test]
fn a_log_is_cleaned_and_its_table_gives_the_same_results() {
    let folder = Scratch::new();
    let log = [
        "; MaxProcs: 16\n".to_owned(),
        line(1, 100, 10, 4, 20),
        line(2, 50, 30, 12, -1),
        line(3, 60, -1, 3, -1),
        line(4, 150, 8, 1, 5),
    ];
    put(&folder, "log.swf", log.concat());
    call(&folder, "trace convert log.swf clean.swf.gz").succeeded().out_is(
        "clean.swf.gz: 3 jobs written\n  1 lines left out: the run time is not known\n  1 jobs stood \
         below one submitted later: all are sorted now\n",
    );
    assert_eq!(call(&folder, "trace convert log.swf log.csv").status, Some(0));
    let study = "machine = { topology = 'flat', processors = 16 }\nworkload = { name = 'swf', path = \
                 'log.swf' }\nmeasure = { metrics = ['wait', 'turnaround', 'makespan'] }\n";
    put(&folder, "study.toml", study);
    let run = |settings: &[&str]| {
        let settings = settings.iter().flat_map(|setting| ["--set", setting]);
        let arguments: Vec<&str> =
            ["run", "study.toml", "--json"].into_iter().chain(settings).collect();
        meshwork(&folder, &arguments).out
    };
    let whole = run(&[]);
    assert!(whole.starts_with("{\"study\":\"study\""), "{whole}");
    assert_eq!(run(&["workload.path=clean.swf.gz"]), whole);
    assert_eq!(run(&["workload={ name = 'table', path = 'log.csv' }"]), whole);
    let info = call(&folder, "trace info log.swf --json");
    let info = info.json();
    assert_eq!(
        (&info["jobs"], &info["unusable"], &info["load"]),
        (&3.into(), &1.into(), &Value::from((40.0 + 360.0 + 8.0) / 1600.0))
    );
    let text = call(&folder, "trace info log.swf").out;
    assert!(
        text.starts_with("log.swf\nfirst submit  50 s\nlast submit   150 s\n3 jobs over 0.00116 days for 16 processors, load 0.255\n"),
        "{text}"
    );
}

#[test]
fn pages_and_completions_are_written() {
    let folder = Scratch::new();
    let page = call(&folder, "man");
    assert!(page.status == Some(0) && page.out.contains(".TH meshwork 1"), "{page:?}");
    call(&folder, "man pages").ended(0);
    for name in ["meshwork.1", "meshwork-run.1", "meshwork-trace-convert.1"] {
        assert!(folder.join("pages").join(name).is_file(), "{name}");
    }
    for shell in ["bash", "zsh", "fish"] {
        let script = meshwork(&folder, &["completions", shell]);
        assert!(script.status == Some(0) && script.out.contains("meshwork"), "{shell}");
    }
    let nothing = meshwork(&folder, &[]);
    assert!(nothing.status == Some(2) && nothing.err.contains("Usage: meshwork"), "{nothing:?}");
    let help = call(&folder, "run --help");
    assert!(help.status == Some(0) && help.out.contains("Example"), "{help:?}");
}

#[test]
fn a_run_of_a_report_is_named_by_its_numbers() {
    let folder = Scratch::new();
    for wrong in ["x", "0", "1/0", "1/2/3", ""] {
        let said = meshwork(&folder, &["report", "out", "--run", wrong]);
        let sentence =
            "a run is the number of a scenario, or that and the number of a replication, as in 3/2";
        assert!(said.status != Some(0) && said.err.contains(sentence), "{wrong}: {said:?}");
    }
}
