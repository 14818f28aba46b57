//! Tests of the report page of a results folder, compared with the CSV tables in the folder.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use meshwork_lab::lab::leave_out;
use meshwork_lab::study::asked::ASKED;
use meshwork_lab::text::number::Rounded;
use meshwork_lab::{Finished, Options, Study, run};
use meshwork_report::{Figure, FigureView, Report, Style};
use quick_xml::events::Event;
use tempfile::TempDir;

const MODEL: &str = "
replications = 3
[machine]
topology = 'mesh'
dims = [8, 8]
[workload]
name = 'synthetic'
load = 0.4
sizes = { name = 'uniform', max = 6 }
runtimes = { name = 'exponential', mean = 5.0 }
[measure]
jobs = 200
";

fn run_in(folder: &Path, text: &str, settings: &[&str]) -> Finished {
    let settings: Vec<String> = settings.iter().map(|&text| text.to_owned()).collect();
    let study = Study::parse("small.toml", text, Path::new(""), &settings).unwrap();
    let options = Options { out: Some(folder.to_path_buf()), threads: 2, ..Options::default() };
    run(&study, &options).unwrap()
}

fn read(folder: &Path) -> Report {
    Report::read(folder).unwrap()
}

fn reported(text: &str, settings: &[&str]) -> (TempDir, Report) {
    let folder = tempfile::tempdir().unwrap();
    run_in(folder.path(), text, settings);
    let report = read(folder.path());
    (folder, report)
}

/// Cuts the store of a folder to its first `runs` runs. Returns the report of the folder.
fn cut(folder: &Path, runs: usize) -> Report {
    let file = folder.join("runs.jsonl");
    let all = fs::read_to_string(&file).unwrap();
    let kept: String = all.split_inclusive('\n').take(runs).collect();
    fs::write(&file, kept).unwrap();
    read(folder)
}

/// Data that the page embeds for its script.
fn embedded(html: &str) -> serde_json::Value {
    let begin = "<script id=\"report-data\" type=\"application/json\">";
    let text = html.split_once(begin).unwrap().1.split_once("</script>").unwrap().0;
    serde_json::from_str(text).unwrap()
}

/// Map from the key cells and the metric title of a row to mean, half-width and replications.
type Numbers = BTreeMap<(BTreeMap<String, String>, String), [String; 3]>;

/// Numbers in a CSV table. The array names the columns of mean, half-width and replications.
fn table(folder: &Path, name: &str, [mean, half, replications]: [&str; 3]) -> Numbers {
    let mut reader = csv::Reader::from_path(folder.join(name)).unwrap();
    let header: Vec<String> = reader.headers().unwrap().iter().map(str::to_owned).collect();
    let not_keys =
        [mean, half, replications, "metric", "method", "jobs", "compared", "baseline", "relative"];
    let mut numbers = Numbers::new();
    for row in reader.records() {
        let row: BTreeMap<&str, String> =
            header.iter().map(String::as_str).zip(row.unwrap().iter().map(str::to_owned)).collect();
        let keys = row.iter().filter(|(key, _)| !not_keys.contains(key));
        let keys = keys.map(|(key, value)| ((*key).to_owned(), value.clone())).collect();
        let found = [mean, half, replications].map(|column| row[column].clone());
        if !found[0].is_empty() {
            assert!(numbers.insert((keys, row["metric"].clone()), found).is_none());
        }
    }
    numbers
}

/// Numbers that the figure `id` of the page shows, with the keys that `table` uses.
fn drawn(page: &serde_json::Value, id: &str) -> Numbers {
    let figures = page["sections"][0]["figures"].as_array().unwrap();
    let figure = figures.iter().find(|figure| figure["id"] == id).unwrap();
    let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
    let mut numbers = Numbers::new();
    for view in figure["views"].as_array().unwrap() {
        let mut fixed = BTreeMap::new();
        let choices = figure["choices"].as_array().unwrap();
        for (choice, at) in choices.iter().zip(view["at"].as_array().unwrap()) {
            let Some(at) = at.as_u64() else { continue };
            let value = &choice["values"][at as usize];
            if choice["key"] != "metric" && choice["key"] != "along" {
                fixed.insert(text(&choice["key"]), text(value));
            }
        }
        let metric = text(&view["y"]["key"]);
        for series in view["series"].as_array().unwrap() {
            let mut keys = fixed.clone();
            if let Some(key) = view["colour"]["key"].as_str() {
                keys.insert(key.to_owned(), text(&series["name"]));
            }
            if let Some(key) = view["panel"]["key"].as_str() {
                let panel = series["panel"].as_u64().unwrap() as usize;
                keys.insert(key.to_owned(), text(&view["panels"][panel]));
            }
            for (i, x) in series["x"].as_array().unwrap().iter().enumerate() {
                let x = x.as_f64().unwrap();
                let along = match view["x"]["names"].as_array() {
                    Some(names) => text(&names[x as usize]),
                    None => x.to_string(),
                };
                keys.insert(text(&view["x"]["key"]), along);
                let number = |column: &str| {
                    series[column][i].as_f64().map_or_else(String::new, |value| value.to_string())
                };
                let found = [number("mean"), number("half"), series["replications"][i].to_string()];
                // If another view of the figure has the same point, its numbers are equal.
                let before = numbers.insert((keys.clone(), metric.clone()), found.clone());
                assert!(before.is_none_or(|before| before == found));
            }
        }
    }
    numbers
}

/// Views whose x axis shows the initially selected key.
///
/// A view is the figure under one combination of the reader's choices.
fn unturned(figure: &Figure) -> Vec<&FigureView> {
    let along = figure.choices.iter().position(|choice| choice.key.key == "along");
    figure.views.iter().filter(|view| along.is_none_or(|i| view.at[i] == Some(0))).collect()
}

fn means(folder: &Path) -> Numbers {
    table(folder, "summary.csv", ["mean", "half_width", "replications"])
}

fn differences(folder: &Path) -> Numbers {
    table(folder, "comparison.csv", ["difference", "half_width", "replications"])
}

#[test]
fn every_number_is_that_of_the_tables() {
    let text = format!(
        "name = 'all'\n{MODEL}metrics = ['turnaround', 'wait', 'utilization']\nby_size = 'power_of_two'\n\
         [sweep]\nscheduler = ['fcfs', 'sjf']\n'workload.load' = [0.2, 0.3, 0.4]\n\
         allocator = ['first_fit', 'frame_sliding']\n'workload.sizes.max' = [4, 6]\n\
         [compare]\nscheduler = 'fcfs'\n"
    );
    let (folder, report) = reported(&text, &[]);
    let id = report.sections[0].id.clone();
    let page = embedded(&report.html());
    let means = means(folder.path());
    assert_eq!(means.len(), 24 * 3);
    assert_eq!(drawn(&page, &format!("{id}-means")), means);
    let sizes = table(folder.path(), "by_size.csv", ["mean", "half_width", "replications"]);
    assert!(sizes.len() > 24 * 2);
    assert_eq!(drawn(&page, &format!("{id}-sizes")), sizes);
    let differences = differences(folder.path());
    assert_eq!(differences.len(), 12 * 3);
    assert_eq!(drawn(&page, &format!("{id}-differences-0")), differences);
}

#[test]
fn cells_are_the_numbers_of_the_tables_in_fewer_digits() {
    let text = format!("{MODEL}metrics = ['wait']\n[sweep]\n'workload.load' = [0.2, 0.4]\n");
    let (folder, report) = reported(&text, &[]);
    let means = means(folder.path());
    let rows = &report.sections[0].tables[0].rows;
    for (row, [mean, half, _]) in rows.iter().zip(means.values()) {
        let rounded = Rounded::new(mean.parse().ok(), half.parse().ok());
        assert_eq!(row[1].text, format!("{} ± {}", rounded.mean, rounded.half_width.unwrap()));
        let shown = row[1].text.replace(" ± ", "\u{a0}±\u{a0}");
        assert!(report.html().contains(&format!("<td class=\"n\">{shown}</td>")));
    }
    assert_eq!(rows.len(), means.len());
}

#[test]
fn the_settings_of_the_command_line_are_part_of_what_was_asked() {
    let text = format!("{MODEL}metrics = ['wait']\n[sweep]\nscheduler = ['fcfs', 'easy']\n");
    let settings = ["measure.jobs=100", "seed=7", "sweep.'scheduler'=['sjf', 'fcfs', 'easy']"];
    let (folder, report) = reported(&text, &settings);
    let section = &report.sections[0];
    assert!(section.notes.is_empty(), "{:?}", section.notes);
    assert_eq!(section.tables[0].rows.len(), 3);
    let points = section.figures[0].views[0].series[0].x.len();
    assert_eq!(points, 3, "all is there, and nothing missing");
    let command = "/experiment.toml --set measure.jobs=100 --set seed=7 --set 'sweep.'\\''scheduler'\\''=['\\''sjf'\\'', \
         '\\''fcfs'\\'', '\\''easy'\\'']'";
    assert!(section.command.ends_with(command), "{}", section.command);
    // Without `asked.toml`, the settings are unknown. So the report expects other runs, none of
    // which exists.
    fs::remove_file(folder.path().join(ASKED)).unwrap();
    let section = &read(folder.path()).sections[0];
    assert!(section.notes[0].starts_with("No run has ended yet"), "{:?}", section.notes);
    assert!(section.figures.is_empty() && section.tables.is_empty());
}

#[test]
fn a_log_is_known_by_its_digest() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("a.csv");
    fs::write(&log, "submit,runtime,nodes\n0,5,2\n1,5,4\n").unwrap();
    let text =
        "[machine]\ntopology = 'flat'\nprocessors = 4\n[workload]\nname = 'table'\npath = 'a'\n";
    let setting = format!("workload.path={}", log.display());
    let out = folder.path().join("out");
    run_in(&out, text, &[&setting]);
    let wait = |report: &Report| report.sections[0].tables[0].rows[0][1].text.clone();
    let before = wait(&read(&out));
    // The report no longer needs the log.
    fs::remove_file(&log).unwrap();
    assert_eq!(wait(&read(&out)), before);
    // A folder of an older version has no digests of inputs, so they are taken from the runs.
    fs::write(out.join("experiment.toml"), text.replace("'a'", &format!("'{}'", log.display())))
        .unwrap();
    fs::remove_file(out.join(ASKED)).unwrap();
    assert_eq!(wait(&read(&out)), before);
}

#[test]
fn one_scenario_has_a_table_and_no_plot() {
    let (_folder, report) = reported(MODEL, &[]);
    let section = &report.sections[0];
    assert!(section.figures.is_empty());
    let [table] = &section.tables[..] else { panic!("one table") };
    let names: Vec<&str> = table.columns.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["metric", "mean", "unit"]);
    assert_eq!(table.rows[0][0].note, "time from arrival to start, mean over jobs");
    assert!(table.rows.iter().any(|row| row[0].text == "wait" && row[2].text == "time"));
    let facts =
        |name: &str| section.facts.iter().find(|fact| fact.name == name).unwrap().text.clone();
    assert_eq!(facts("Runs"), "3 of 3 runs, 1 scenario, 3 replications of each");
    assert_eq!(facts("Machine"), "mesh 8x8 (speed=1.0)");
    assert_eq!(facts("Measured"), "until 200 jobs have finished");
    assert!(section.facts.iter().all(|fact| fact.name != "Selector"), "there is one site");
}

#[test]
fn failed_runs_are_told_and_the_others_shown() {
    let folder = tempfile::tempdir().unwrap();
    for (name, nodes) in [("good", "2"), ("bad", "two")] {
        let text = format!("submit,runtime,nodes\n0,5,{nodes}\n");
        fs::write(folder.path().join(format!("{name}.csv")), text).unwrap();
    }
    let at = |name: &str| folder.path().join(format!("{name}.csv")).display().to_string();
    let text = format!(
        "[machine]\ntopology = 'flat'\nprocessors = 4\n[workload]\nname = 'table'\npath = ''\n\
         [sweep]\n'workload.path' = ['{}', '{}']\n",
        at("bad"),
        at("good")
    );
    let out = folder.path().join("out");
    assert_eq!(run_in(&out, &text, &[]).failures.len(), 1);
    let report = read(&out);
    let section = &report.sections[0];
    let sentence = format!(
        "workload.path = {0}, replication 1: {0}:2: `nodes` is `two`, but must be a number",
        at("bad")
    );
    assert_eq!(section.failures, std::slice::from_ref(&sentence));
    let html = report.html();
    // Backticks in a message become code in the page.
    let shown =
        sentence.replace("`nodes`", "<code>nodes</code>").replace("`two`", "<code>two</code>");
    assert!(html.contains("Runs that failed (1)") && html.contains(&shown));
    let table = &section.tables[0];
    // With few scenarios and many metrics, a row has a metric and a column a scenario.
    let heads: Vec<&str> = table.columns.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(heads, ["metric", "bad.csv (0 of 1 replication so far)", "good.csv", "unit"]);
    assert_eq!(table.rows[0][1].text, "-", "{:?}", table.rows[0]);
    assert_ne!(table.rows[0][2].text, "-");
    let runs = "1 of 2 runs, 2 scenarios, one replication of each; 1 failed";
    assert_eq!(section.facts[0].text, runs);
    // After the log is repaired and the study is run again, the failure is gone.
    fs::copy(at("good"), at("bad")).unwrap();
    assert!(run_in(&out, &text, &[]).failures.is_empty());
    assert!(read(&out).sections[0].failures.is_empty());
}

#[test]
fn a_study_without_runs_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let study = Study::parse("small.toml", MODEL, Path::new(""), &[]).unwrap();
    leave_out(&study, folder.path(), "there is no log").unwrap();
    let page = read(folder.path()).html();
    assert!(page.contains("This study was left out: there is no log"));
    assert!(!page.contains("<table"));
    // A study that was stopped before its first run ended.
    let out = folder.path().join("stopped");
    run_in(&out, MODEL, &[]);
    let all = fs::read_to_string(out.join("runs.jsonl")).unwrap();
    assert!(cut(&out, 0).html().contains("No run has ended yet"));
    // A study that was stopped after its first run.
    fs::write(out.join("runs.jsonl"), all).unwrap();
    let section = &cut(&out, 1).sections[0];
    let note = "2 runs are not here yet: the numbers below are of those that are.";
    assert_eq!(section.notes, [note]);
    assert_eq!((section.tables.len(), section.missing), (1, 2));
    let runs = "1 of 3 runs, 1 scenario, 3 replications of each; 2 not run yet";
    assert_eq!(section.facts[0].text, runs);
    // Stored runs are kept even if they cannot be run again.
    leave_out(&study, &out, "there is no log").unwrap();
    assert_eq!(&read(&out).sections[0], section);
}

#[test]
fn a_thousand_scenarios_make_one_page_and_not_a_wall_of_plots() {
    let text = format!(
        "{MODEL}[sweep]\nscheduler = ['fcfs', 'sjf', 'easy', 'scan']\n\
         allocator = ['first_fit', 'frame_sliding', 'best_fit', 'naive', 'boundary_search']\n\
         'workload.load' = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0]\n\
         'workload.sizes.max' = [2, 4, 6, 7, 8]\n"
    );
    let (_folder, report) = reported(&text, &["measure.jobs=20", "replications=2"]);
    let section = &report.sections[0];
    assert_eq!(section.tables[0].rows.len(), 1000);
    let [figure] = &section.figures[..] else { panic!("one figure, with choosers") };
    let keys: Vec<&str> = figure.choices.iter().map(|choice| choice.key.key.as_str()).collect();
    // The last choice applies only to views whose x axis shows another key than initially.
    assert_eq!(keys, ["metric", "along", "scheduler", "workload.sizes.max"]);
    assert!(unturned(figure).iter().all(|view| view.at[2].is_some() && view.at[3].is_none()));
    let points = |view: &FigureView| view.series.iter().map(|series| series.x.len()).sum::<usize>();
    let metrics = figure.choices[0].values.len();
    assert_eq!(unturned(figure).into_iter().map(points).sum::<usize>(), 1000 * metrics);
    let turned = figure.views.iter().map(points).sum::<usize>() - 1000 * metrics;
    assert_eq!(turned, 3000, "the first metric, along each of three other keys");
    let bytes = report.html().len();
    assert!(bytes < 10_000_000, "{bytes}");
}

#[test]
fn scales_are_logarithmic_where_the_spread_asks_for_it() {
    let text = format!(
        "{MODEL}metrics = ['wait', 'utilization']\n[sweep]\nscheduler = ['fcfs', 'sjf']\n\
         'workload.load' = [0.05, 0.5, 1.5]\n"
    );
    let (_folder, report) = reported(&text, &[]);
    let figure = &report.sections[0].figures[0];
    let [wait, utilization] = unturned(figure)[..] else { panic!("a view for each metric") };
    assert!(wait.y.log && wait.x.log && !utilization.y.log);
    assert_eq!((wait.style, wait.x.label.as_str()), (Style::Lines, "load"));
    assert_eq!(
        wait.sentence,
        "Wait: time from arrival to start, mean over jobs, against load, a line for each scheduler. \
         Whiskers are 95 % intervals. The scale is logarithmic."
    );
}

#[test]
fn what_is_claimed_is_drawn_first() {
    let text = format!(
        "{MODEL}metrics = ['wait', 'utilization', 'turnaround']\nby_size = 'power_of_two'\n\
         [sweep]\nscheduler = ['fcfs', 'sjf']\n\
         [[claim]]\ntext = 'It is faster.'\nmetric = 'turnaround'\nof = {{ scheduler = 'sjf' }}\nbelow = 9.0\n"
    );
    let (_folder, report) = reported(&text, &[]);
    let figures = &report.sections[0].figures;
    let headings: Vec<&str> = figures.iter().map(|figure| figure.heading.as_str()).collect();
    assert_eq!(headings, ["Turnaround", "Other metrics", "By size of the jobs"]);
    assert_eq!(figures[1].choices[0].values, ["Wait", "Utilization"]);
    assert_eq!(figures[2].choices[0].values[0], "Turnaround");
}

#[test]
fn no_word_of_a_study_becomes_part_of_the_page() {
    let nasty = "</script><script>alert(1)</script><!-- \" & </style>";
    let text = format!("name = '{nasty}'\ndescription = '{nasty}'\n{MODEL}");
    let (_folder, report) = reported(&text, &[]);
    let page = report.html();
    assert!(!page.contains("alert(1)</script>") && page.contains("alert(1)&lt;/script&gt;"));
    for (begin, end) in
        [("<script", "</script>"), ("<style>", "</style>"), ("<details", "</details>")]
    {
        assert_eq!(page.matches(begin).count(), page.matches(end).count(), "{begin}");
    }
    // Nothing is fetched: the only address in the page is the namespace of SVG.
    assert!(page.contains("default-src 'none'"));
    for fetch in ["src=\"", "<link rel=\"stylesheet\"", "@import", "url(h", "url(/", "url(\""] {
        assert!(!page.contains(fetch), "{fetch}");
    }
    let addresses = page.matches("://").count();
    assert_eq!(addresses, page.matches("http://www.w3.org/2000/svg").count());
}

/// Figures are also written as files, which have the texts and plot marks of the page.
#[test]
fn figures_are_files_of_their_own() {
    let text = format!(
        "{}\n[sweep]\n'workload.load' = [0.2, 0.3, 0.4]\nallocator = ['first_fit', 'best_fit']",
        MODEL.replace("load = 0.4\n", "")
    );
    let (folder, report) = reported(&text, &[]);
    let files = report.figure_files();
    let names: BTreeMap<&str, &str> =
        files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    assert_eq!(names.len(), files.len(), "no two have one name");
    for (name, text) in &files {
        assert!(name.ends_with(".svg") && !name.contains('/'), "{name}");
        let mut reader = quick_xml::Reader::from_str(text);
        let mut elements: BTreeMap<String, usize> = BTreeMap::new();
        loop {
            match reader.read_event().unwrap_or_else(|error| panic!("{name}: {error}")) {
                Event::Eof => break,
                Event::Start(tag) | Event::Empty(tag) => {
                    let tag = String::from_utf8(tag.name().0.to_vec()).unwrap();
                    *elements.entry(tag).or_default() += 1;
                }
                _ => {}
            }
        }
        assert_eq!((elements["svg"], elements["title"], elements["desc"]), (1, 1, 1), "{name}");
    }
    let waits = names.iter().find(|(name, _)| name.ends_with("means-wait.svg")).unwrap().1;
    for word in ["Wait", "load", "first_fit", "best_fit"] {
        assert!(waits.contains(word), "{word}: {waits}");
    }
    // The first allocator has a mark for each load, and one in the legend.
    assert_eq!(waits.matches("<circle").count(), 4, "{waits}");
    assert_eq!(read(folder.path()).figure_files(), files, "the same folder gives the same bytes");
}

#[test]
fn a_folder_of_folders_is_one_page_by_paper() {
    let folder = tempfile::tempdir().unwrap();
    let claim = |verdict: &str| {
        format!(
            "[[claim]]\ntext = 'It is used.'\nmetric = 'utilization'\nof = {{ scheduler = 'sjf' }}\n{verdict}\n"
        )
    };
    let unmeasured = claim("above = 0.0").replace("utilization", "hops");
    for (name, paper, claims) in [
        (
            "b_study",
            "paper = 'rsr'\nfigure = '1'\n",
            unmeasured + &claim("above = 0.0") + &claim("below = 0.0"),
        ),
        ("a_study", "paper = 'lazy'\nfigure = '1'\n", claim("above = 0.0")),
        ("z_study", "", String::new()),
    ] {
        let text = format!(
            "{paper}name = '{name}'\n{MODEL}[sweep]\nscheduler = ['fcfs', 'sjf']\n{claims}"
        );
        run_in(&folder.path().join(name), &text, &[]);
    }
    let text = format!(
        "paper = 'wbsm'\nfigure = '9'\n{MODEL}[sweep]\nscheduler = ['fcfs', 'sjf']\n{}",
        claim("above = 0.0")
    );
    let study = Study::parse("c.toml", &text, Path::new(""), &[]).unwrap();
    leave_out(&study, &folder.path().join("c_study"), "the log is missing").unwrap();
    fs::create_dir(folder.path().join("empty")).unwrap();
    fs::create_dir(folder.path().join("broken")).unwrap();
    fs::write(folder.path().join("broken/experiment.toml"), "seed = ").unwrap();

    let report = read(folder.path());
    assert_eq!(report.title, "Papers, reproduced");
    assert_eq!(report.warnings.len(), 1, "{:?}", report.warnings);
    let overview = report.overview.as_ref().unwrap();
    let counts: Vec<(&str, &[usize])> =
        overview.papers.iter().map(|paper| (paper.key.as_str(), &paper.counts[..])).collect();
    assert_eq!(
        counts,
        [("rsr", &[1, 1, 0, 1][..]), ("wbsm", &[0, 0, 0, 1]), ("lazy", &[1, 0, 0, 0])]
    );
    let verdicts: Vec<&str> =
        overview.papers[0].claims.iter().map(|(_, _, verdict)| verdict.as_str()).collect();
    assert_eq!(verdicts, ["borne out", "not borne out", "not checkable"]);
    let html = report.html();
    // The count of each verdict links to the first claim with this verdict. Section titles are
    // unique.
    let rsr = &overview.papers[0];
    for (section, claim, verdict) in &rsr.claims {
        let id = format!("{}-claim-{}", report.sections[*section].id, claim + 1);
        assert!(html.contains(&format!("href=\"#{id}\"")), "{verdict}");
        assert!(html.contains(&format!("<li id=\"{id}\">")), "{verdict}");
    }
    // The contents list has the verdicts of each section.
    let contents =
        html.split_once("<nav class=\"contents\"").unwrap().1.split_once("</nav>").unwrap().0;
    assert_eq!(contents.matches("class=\"verdict not-checkable\"").count(), 2);
    assert_eq!(contents.matches(">Figure 1</a>").count(), 2, "authors stand above: {contents}");
    let titles: Vec<&str> = report.sections.iter().map(|section| &*section.title).collect();
    assert_eq!(
        titles,
        [
            "Mohapatra, Yu, Das & Kim, figure 1",
            "Chang & Mohapatra, figure 1",
            "Zhu & Lin, figure 9",
            "z_study"
        ]
    );
    assert!(html.contains("The log is missing."));
    assert!(html.contains("Other studies"));
}

#[test]
fn a_folder_without_a_study_is_refused_in_a_sentence() {
    let folder = tempfile::tempdir().unwrap();
    let refusal = |folder: &Path| Report::read(folder).unwrap_err().0;
    let shown = folder.path().display();
    assert_eq!(
        refusal(folder.path()),
        format!(
            "{shown}: there is no experiment.toml in this folder, nor in a folder in it: give one that \
             `meshwork run --out` or `meshwork reproduce` wrote"
        )
    );
    let deep = folder.path().join("quick/study");
    fs::create_dir_all(&deep).unwrap();
    fs::write(deep.join("experiment.toml"), MODEL).unwrap();
    assert_eq!(
        refusal(folder.path()),
        format!(
            "{shown}: there is no study in this folder, but there are some in {shown}/quick: give that one"
        )
    );
    let missing = folder.path().join("no");
    assert!(
        refusal(&missing).starts_with(&format!("{}: there is no such folder: ", missing.display()))
    );
    assert!(refusal(&deep.join("experiment.toml")).contains(": this is no folder: "));
}

#[test]
fn which_is_lowest_and_by_how_much_stands_at_the_top() {
    let text = format!(
        "{MODEL}metrics = ['wait']\n[sweep]\nscheduler = ['fcfs', 'sjf']\n[compare]\nscheduler = 'fcfs'\n"
    );
    let (folder, report) =
        reported(&text, &["workload.load=0.5", "replications=8", "measure.jobs=500"]);
    let finding = &report.sections[0].findings[0];
    // Expected: the difference in `comparison.csv` as a share of the baseline's mean in
    // `summary.csv`.
    let one = |table: Numbers, scheduler: &str| -> [f64; 2] {
        let keys = BTreeMap::from([("scheduler".to_owned(), scheduler.to_owned())]);
        let [mean, half, _] = &table[&(keys, "wait".to_owned())];
        [mean, half].map(|number| number.parse().unwrap())
    };
    let [base, _] = one(means(folder.path()), "fcfs");
    let [difference, half] = one(differences(folder.path()), "sjf");
    assert!(difference < -half, "sjf is clearly below fcfs at this load");
    let expected = format!(
        "sjf has the lowest wait: {:.0} % below fcfs (95 % interval: ",
        -100.0 * difference / base
    );
    assert!(finding.is_clear && finding.text.starts_with(&expected), "{}", finding.text);
    assert!(report.html().contains(&finding.text));
    // Waits on an overloaded machine depend on the length of the run, so no lead is clear.
    let out = folder.path().join("overloaded");
    run_in(&out, &text, &["workload.load=0.9", "replications=8", "measure.jobs=500"]);
    let finding = read(&out).sections.remove(0).findings.remove(0);
    let says = "The machine is overloaded: the queue grows to the end, so waits depend on the length of the run.";
    assert!(!finding.is_clear && finding.text.ends_with(says), "{}", finding.text);
    // Two replications with few jobs do not show which scheduler has the lower wait.
    let out = folder.path().join("two");
    run_in(&out, &text, &["workload.load=0.05", "replications=2", "measure.jobs=30"]);
    for finding in read(&out).sections.remove(0).findings {
        let is_doubted = !finding.is_clear && finding.text.contains("o significant difference");
        assert!(is_doubted || finding.text.contains("qual wait"), "{}", finding.text);
    }
}

#[test]
fn the_headline_of_an_unfinished_study_counts_its_runs() {
    let folder = tempfile::tempdir().unwrap();
    run_in(folder.path(), &format!("{MODEL}[sweep]\nscheduler = ['fcfs', 'sjf']\n"), &[]);
    let report = cut(folder.path(), 5);
    let finding = &report.sections[0].findings[0];
    assert!(finding.text.starts_with("After 5 of 6 runs: "), "{}", finding.text);
    assert!(report.html().contains(&finding.text));
}

#[test]
fn any_number_of_allocators_stands_in_rows() {
    let text = format!(
        "{MODEL}metrics = ['wait', 'utilization']\n[sweep]\n\
         allocator = ['first_fit', 'best_fit', 'frame_sliding', 'naive', 'boundary_search', 'corner_boundary_search', \
         'weighted_boundary_search', 'adaptive_scan', 'busy_list', 'turning_busy_list', 'quick_allocation']\n\
         scheduler = ['fcfs', 'sjf']\n'workload.load' = [0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8]\n\
         [compare]\n'workload.load' = 0.2\n"
    );
    let (_folder, report) = reported(&text, &["measure.jobs=20", "replications=2"]);
    let [means, differences] = &report.sections[0].figures[..] else { panic!("two figures") };
    let view = &means.views[0];
    assert_eq!((view.style, view.sorted, view.x.names.len()), (Style::Rows, true, 11));
    assert!(view.colour.is_none() && view.panel.as_ref().unwrap().key == "scheduler");
    // The baseline 0.2 cannot be selected in the figure of differences, because it has no
    // difference.
    let load = differences.choices.iter().find(|choice| choice.key.label == "load").unwrap();
    assert_eq!((load.key.label.as_str(), load.key.key.as_str()), ("load", "workload.load"));
    assert_eq!(load.values, ["0.3", "0.4", "0.5", "0.6", "0.7", "0.8"]);
    for figure in [means, differences] {
        assert!(
            figure.views.iter().any(|view| view.at.iter().all(|&at| at.is_none_or(|at| at == 0)))
        );
    }
}

#[test]
fn what_is_of_fewer_replications_says_so() {
    let text = format!("{MODEL}metrics = ['wait']\n[sweep]\nscheduler = ['fcfs', 'sjf']\n");
    let (folder, report) = reported(&text, &[]);
    let sentence = |report: &Report| report.sections[0].figures[0].views[0].sentence.clone();
    assert!(!sentence(&report).contains("fewer"));
    let report = cut(folder.path(), 5);
    let told = sentence(&report);
    let words = "1 mean is of fewer than the 3 replications asked for so far: the faint mark.";
    assert!(told.contains(words), "{told}");
    let notes: Vec<&str> =
        report.sections[0].tables[0].rows.iter().map(|row| row[0].note.as_str()).collect();
    assert!(notes.contains(&"2 of 3 replications so far") && notes.contains(&""), "{notes:?}");
}
