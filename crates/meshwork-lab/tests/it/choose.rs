//! Tests of `choose`, which races candidates until the best one is known.
//!
//! A choice can be resumed after kills, divided into shards, and confirmed on held-out data. A
//! wrong request is refused in one sentence.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use meshwork::catalogue::Catalogue;
use meshwork::rng::Stream;
use meshwork_lab::Study;
use meshwork_lab::choose::outcome::{ChoiceOutcome, RaceEnd};
use meshwork_lab::choose::race::Fate;
use meshwork_lab::choose::request::ChoiceRequest;
use meshwork_lab::choose::{CHOICE, ChooseOptions, WINNER, choose, choose_shard};
use meshwork_lab::sweep::{Shard, collect};

use crate::candidates::CANDIDATES as STUDY;

fn study(text: &str) -> Study {
    Study::parse("study.toml", text, Path::new(""), &[]).unwrap()
}

fn request(change: impl FnOnce(&mut ChoiceRequest)) -> ChoiceRequest {
    let mut request = ChoiceRequest { within: "10%".to_owned(), ..ChoiceRequest::default() };
    request.baseline = vec!["scheduler=fcfs".to_owned(), "allocator=first_fit".to_owned()];
    change(&mut request);
    request
}

fn made(
    study: &Study,
    request: ChoiceRequest,
    folder: Option<&Path>,
) -> Result<ChoiceOutcome, String> {
    choose(study, &options(request, folder)).map_err(|refused| refused.0)
}

fn options(request: ChoiceRequest, folder: Option<&Path>) -> ChooseOptions<'static> {
    let out = folder.map(Path::to_owned);
    ChooseOptions { request, out, threads: 1, ..ChooseOptions::default() }
}

fn files(folder: &Path) -> Vec<Vec<u8>> {
    [CHOICE, WINNER, "runs.jsonl"].iter().map(|name| fs::read(folder.join(name)).unwrap()).collect()
}

#[test]
fn a_race_killed_and_resumed_gives_the_same_bytes() {
    let study = study(STUDY);
    let whole = tempfile::tempdir().unwrap();
    let choice = made(&study, request(|_| {}), Some(whole.path())).unwrap();
    assert_eq!(choice.stopped, RaceEnd::Decided);
    assert!(choice.gains.len() == 1 && choice.validation_runs == 40);
    let killed = tempfile::tempdir().unwrap();
    let (mut kills, mut draws) = (0, Stream::new(1, 0, "kills"));
    loop {
        // `stop` is also called for stored runs. So it must allow more calls than runs are stored,
        // or the choice would make no progress.
        let stored = fs::read_to_string(killed.path().join("runs.jsonl")).unwrap_or_default();
        let most = stored.lines().count() as u64 + 1 + draws.below(5);
        let begun = AtomicU64::new(0);
        let stop = || begun.fetch_add(1, Ordering::Relaxed) >= most;
        let options = ChooseOptions {
            threads: 1 + (kills % 3),
            stop: &stop,
            ..options(request(|_| {}), Some(killed.path()))
        };
        let ended = choose(&study, &options).unwrap();
        if !ended.is_stopped_early {
            break;
        }
        kills += 1;
        assert!(kills < 500, "it gets nowhere");
        // A kill may leave an incomplete last line.
        let runs = killed.path().join("runs.jsonl");
        let mut bytes = fs::read(&runs).unwrap();
        bytes.truncate(bytes.len() - draws.below(40).min(bytes.len() as u64) as usize);
        fs::write(&runs, bytes).unwrap();
    }
    assert!(kills >= 50, "{kills}");
    assert_eq!(files(whole.path()), files(killed.path()));
}

#[test]
fn shards_of_rounds_decide_the_same_race() {
    let study = study(STUDY);
    let folder = tempfile::tempdir().unwrap();
    let mut rounds = 0;
    loop {
        let mut is_over = true;
        for index in 0..2 {
            let options = options(request(|_| {}), Some(folder.path()));
            let ended = choose_shard(&study, &options, Shard { index, of: 2 }).unwrap();
            assert_eq!(ended.failures, [""; 0]);
            is_over &= ended.is_over;
        }
        collect(&Catalogue::standard(), folder.path()).unwrap();
        if is_over {
            break;
        }
        rounds += 1;
        assert!(rounds < 40);
    }
    let alone = made(&study, request(|_| {}), None).unwrap();
    let shared = made(&study, request(|_| {}), Some(folder.path())).unwrap();
    assert_eq!((shared.recommended, &shared.looks), (alone.recommended, &alone.looks));
    let fates = |choice: &ChoiceOutcome| -> Vec<Fate> {
        choice.candidates.iter().map(|own| own.fate.clone()).collect()
    };
    assert_eq!(fates(&shared), fates(&alone));
    assert!(rounds >= 1);
}

/// A race must choose a candidate close to the best one.
///
/// The best one is known from many replications with another seed. A larger version of this test
/// is a benchmark.
#[test]
fn races_of_studies_choose_within_the_zone_of_the_best() {
    let truth = study(&format!("seed = 1000000\nreplications = 400\n{STUDY}"));
    let found = meshwork_lab::run(&truth, &meshwork_lab::Options::default()).unwrap();
    let means: Vec<f64> = found
        .results
        .runs
        .iter()
        .map(|runs| {
            let logs: Vec<f64> = runs.measured("wait").map(|(_, wait)| wait.ln()).collect();
            logs.iter().sum::<f64>() / logs.len() as f64
        })
        .collect();
    let best = means.iter().copied().fold(f64::INFINITY, f64::min);
    let mut wrong = 0;
    for seed in 1..=60 {
        let own = study(&format!("seed = {}\n{STUDY}", 10 * seed));
        let choice = made(&own, request(|own| own.baseline.clear()), None).unwrap();
        assert_eq!(choice.stopped, RaceEnd::Decided);
        let chosen = choice.recommended.unwrap();
        wrong += u32::from(means[chosen] > best + 0.1_f64.ln_1p());
    }
    // At most 5 % of the choices may be wrong: 3 of 60, plus three standard errors.
    assert!(wrong <= 8, "{wrong} of 60");
}

#[test]
fn budgets_and_constraints_are_kept() {
    let study = study(STUDY);
    let short = made(&study, request(|own| own.budget = Some("50".into())), None).unwrap();
    assert!(short.stopped == RaceEnd::Budget && short.runs <= 50 && short.bound.is_none());
    assert!(short.guarantee().starts_with("There is no guarantee yet: "), "{}", short.guarantee());
    // A limit on the mean wait decides which candidates may win.
    let free = made(&study, request(|_| {}), None).unwrap();
    let best = free.recommended.unwrap();
    let limit = free.candidates[best].mean.unwrap() * 1.5;
    let limit = request(|own| own.constraints = vec![format!("wait <= {limit}")]);
    let limited = made(&study, limit, None).unwrap();
    assert!(limited.equal.contains(&limited.recommended.unwrap()));
    assert!(
        limited.candidates.iter().any(|own| matches!(own.fate, Fate::Unfit { .. })),
        "fcfs waits longer"
    );
}

/// Effects are computed without combinations of values in which the queue grows.
///
/// Here, the queue grows in one of six combinations.
#[test]
fn effects_compare_complete_combinations() {
    let text = STUDY.replace("load = 0.5", "load = 0.6");
    let text = text.replace("['fcfs', 'easy', 'sjf']", "['fcfs', 'sjf']");
    let study =
        study(&text.replace("'first_fit', 'random'", "'frame_sliding', 'best_fit', 'random'"));
    let choice = made(&study, ChoiceRequest::default(), None).unwrap();
    let is_growing = |own: usize| choice.candidates[own].fate == Fate::Growing;
    let growing = (0..6).filter(|&own| is_growing(own)).count();
    assert_eq!(growing, 1, "frame sliding with fcfs");
    // The effects of a key's values sum to 0, because all values are compared in the same
    // combinations of the other keys.
    for key in ["scheduler", "allocator"] {
        let own: Vec<_> = choice.effects.iter().filter(|effect| effect.key == key).collect();
        assert!(!own.is_empty() && own.iter().all(|effect| effect.candidates == own[0].candidates));
        assert!(own.iter().map(|effect| effect.effect).sum::<f64>().abs() < 1e-9, "{own:?}");
    }
}

/// A better scheduler has a positive effect on the metric `carried_load`.
///
/// The lower end of an effect's interval is printed first.
#[test]
fn effects_are_changes_of_the_metric() {
    let text = STUDY.replace("load = 0.5", "load = 5.0").replace("'wait', ", "'carried_load', ");
    let choice = made(&study(&text), ChoiceRequest::default(), None).unwrap();
    let json = choice.json();
    let effect = |value: &str| {
        let all = json["effects"].as_array().unwrap();
        let own = all.iter().find(|own| own["value"] == value).unwrap();
        ["low", "effect", "high"].map(|name| own[name].as_f64().unwrap())
    };
    let carried = |scheduler: &str| -> f64 {
        let own = choice.candidates.iter().filter(|own| own.label.contains(scheduler));
        own.map(|own| own.mean.unwrap()).sum()
    };
    assert!(carried("easy") > carried("fcfs"));
    let (easy, fcfs) = (effect("easy"), effect("fcfs"));
    assert!(easy[1] > 0.0 && fcfs[1] < 0.0, "{easy:?} {fcfs:?}");
    assert!([easy, fcfs].iter().all(|own| own[0] < own[1] && own[1] < own[2]));
    assert!(json["effects"][0]["replications"].as_u64() >= Some(20));
}

#[test]
fn exact_ties_are_printed_as_equal() {
    let tied = STUDY.replace("['first_fit', 'random']", "['naive', 'random', 'paging']");
    let tied = tied.replace("['fcfs', 'easy', 'sjf']", "['fcfs', 'sjf']");
    let choice = made(&study(&tied), ChoiceRequest::default(), None).unwrap();
    let allocators: Vec<_> =
        choice.effects.iter().filter(|effect| effect.key == "allocator").collect();
    assert_eq!(allocators.len(), 3);
    for effect in allocators {
        assert_eq!((effect.effect, effect.half_width), (0.0, Some(0.0)), "{effect:?}");
    }
    let lines = choice.effect_lines();
    assert!(lines.contains(&"  allocator = naive: 0 % (0 % to 0 %)".to_owned()), "{lines:?}");
    let sentences = choice.sentences();
    assert!(sentences[0].starts_with("These 3 are equal: "), "{}", sentences[0]);
    let survivors = choice.rows();
    assert!(survivors[1][5] == "survives, and none is better", "{survivors:?}");
    assert!(!choice.json().to_string().contains("-0.0"));
    // Against a baseline with equal results, a gain is not confirmed.
    let few = tied.replace("['fcfs', 'sjf']", "['fcfs']");
    let request = ChoiceRequest { budget: Some("18".to_owned()), ..ChoiceRequest::default() };
    let request = ChoiceRequest { baseline: vec!["allocator=paging".to_owned()], ..request };
    let choice = made(&study(&few), request, None).unwrap();
    let said = choice.sentences();
    let equal = "(scheduler = fcfs, allocator = paging) is not confirmed: on fresh replications wait is equal.";
    assert!(said[0].ends_with(equal), "{said:?}");
    let wins = "Of the 6 replications in the race, it wins 0 and equals 6 (anytime-valid sign test: p = 1).";
    assert!(said.contains(&wins.to_owned()), "{said:?}");
}

/// `slurm.conf` and two topology files of a torus with different boxes.
fn slurm_files(folder: &Path) {
    let yaml = |boxes: &str| {
        format!(
            "- topology: pod\n  cluster_default: true\n  torus3d:\n    toruses:\n      - name: pod1\n        \
             dims: {{x: 4, y: 4, z: 4}}\n        nodes: n[01-64]\n        placements:\n          \
             - dims: {{x: 1, y: 1, z: 1}}\n          - dims: {{x: 2, y: 1, z: 1}}\n          \
             - dims: {{x: 2, y: 2, z: 1}}\n{boxes}          - dims: {{x: 4, y: 4, z: 4}}\n"
        )
    };
    let eight = "          - dims: {x: 2, y: 2, z: 2}\n";
    fs::write(folder.join("few.yaml"), yaml("          - dims: {x: 4, y: 2, z: 1}\n")).unwrap();
    fs::write(folder.join("many.yaml"), yaml(eight)).unwrap();
    let conf = "ClusterName=pod\nSchedulerType=sched/backfill\n\
                SchedulerParameters=bf_interval=30,defer,bf_window=1440\n\
                NodeName=n[01-64] CPUs=8\n\
                PartitionName=batch Nodes=ALL Default=YES Topology=pod OverSubscribe=EXCLUSIVE\n";
    fs::write(folder.join("slurm.conf"), conf).unwrap();
}

/// Study of jobs with a mean run time of 600 s, on a machine described by Slurm files.
fn of_slurm(folder: &Path, machine: &str, more: &str) -> Study {
    let text = format!(
        "machine = {{ {machine} }}\nworkload = {{ name = 'synthetic', load = 0.85, \
         runtimes = {{ name = 'exponential', mean = 600.0 }}, \
         sizes = {{ name = 'uniform', form = 'subcube', min = 0, max = 3 }} }}\n\
         measure = {{ jobs = 150, metrics = ['wait'] }}\n{more}"
    );
    Study::parse("study.toml", &text, folder, &[]).unwrap()
}

/// Configuration lines for Slurm that the best candidate needs, on a machine read from Slurm files.
fn lines(folder: &Path, machine: &str, more: &str) -> Vec<String> {
    let choice = made(&of_slurm(folder, machine, more), ChoiceRequest::default(), None).unwrap();
    let text = choice.json()["slurm"].clone();
    assert_eq!(serde_json::from_value::<Vec<String>>(text).unwrap(), choice.slurm);
    choice.slurm
}

/// The patch of `slurm.conf` changes only the parameters that the best candidate sets.
#[test]
fn the_winner_has_lines_for_slurm_conf() {
    let folder = tempfile::tempdir().unwrap();
    slurm_files(folder.path());
    let sweep = "scheduler = 'slurm'\n[sweep]\n'scheduler.bf_interval' = [600, 10]\n";
    // If there is a `slurm.conf`, the change is printed as a patch of this file.
    assert_eq!(
        lines(folder.path(), "slurm = 'few.yaml', conf = 'slurm.conf'", sweep),
        [
            "--- slurm.conf",
            "+++ slurm.conf",
            "@@ -1,5 +1,5 @@",
            " ClusterName=pod",
            " SchedulerType=sched/backfill",
            "-SchedulerParameters=bf_interval=30,defer,bf_window=1440",
            "+SchedulerParameters=bf_interval=10,defer,bf_window=1440",
            " NodeName=n[01-64] CPUs=8",
            " PartitionName=batch Nodes=ALL Default=YES Topology=pod OverSubscribe=EXCLUSIVE",
        ]
    );
    // Without a `slurm.conf`, the lines of both candidates are compared.
    assert_eq!(
        lines(folder.path(), "slurm = 'few.yaml'", sweep),
        [
            "slurm.conf:",
            " SchedulerType=sched/backfill",
            "-SchedulerParameters=bf_interval=600",
            "+SchedulerParameters=bf_interval=10",
        ]
    );
    // If the scheduler changes, the other parameters of the new scheduler are printed too.
    let sweep = "[sweep]\nscheduler = ['fcfs', { name = 'slurm', bf_interval = 10, bf_continue = true, \
                 PriorityWeightAge = 1000, bf_rounding = 'up' }]\n";
    assert_eq!(
        lines(folder.path(), "slurm = 'few.yaml'", sweep),
        [
            "slurm.conf:",
            "-SchedulerType=sched/builtin",
            "+SchedulerType=sched/backfill",
            "+PriorityType=priority/multifactor",
            "+PriorityWeightAge=1000",
            "+SchedulerParameters=bf_continue,bf_interval=10",
            "scheduler.bf_rounding: the version of Slurm decides",
        ]
    );
    // A scheduler that Slurm does not have is not a line of `slurm.conf`.
    let sweep = "[sweep]\nscheduler = ['fcfs', 'sjf']\n";
    let said = lines(folder.path(), "slurm = 'few.yaml'", sweep);
    assert_eq!(said, ["no line of Slurm sets: scheduler"]);
}

/// The change of `placements` is printed as a patch with the indentation of the file.
#[test]
fn the_winner_has_lines_for_topology_yaml() {
    let folder = tempfile::tempdir().unwrap();
    slurm_files(folder.path());
    let sweep = "scheduler = 'easy'\n[sweep]\n'machine.slurm' = ['few.yaml', 'many.yaml']\n";
    assert_eq!(
        lines(folder.path(), "slurm = 'few.yaml', conf = 'slurm.conf'", sweep),
        [
            "--- few.yaml",
            "+++ many.yaml",
            "@@ -9,5 +9,5 @@",
            "           - dims: {x: 1, y: 1, z: 1}",
            "           - dims: {x: 2, y: 1, z: 1}",
            "           - dims: {x: 2, y: 2, z: 1}",
            "-          - dims: {x: 4, y: 2, z: 1}",
            "+          - dims: {x: 2, y: 2, z: 2}",
            "           - dims: {x: 4, y: 4, z: 4}",
        ]
    );
}

fn log(folder: &Path, weeks: u64) -> String {
    let mut text = "; MaxProcs: 16\n".to_owned();
    let mut draws = Stream::new(4, 0, "log");
    let (mut at, mut number) = (0.0, 0);
    while at < weeks as f64 * 604_800.0 {
        number += 1;
        let (size, run) = (1 + draws.below(12), 1 + draws.below(30_000));
        let user = draws.below(9);
        let _ = writeln!(
            text,
            "{number} {at} -1 {run} {size} -1 -1 {size} {run} -1 1 {user} 1 1 1 1 -1 -1"
        );
        at += (draws.below(36_000)).max(1) as f64;
    }
    let path = folder.join("log.swf");
    fs::write(&path, text).unwrap();
    path.display().to_string()
}

fn of_log(path: &str, more: &str) -> Study {
    study(&format!(
        "machine = {{ topology = 'flat', processors = 16 }}\n\
         workload = {{ name = 'swf', path = '{path}'{more} }}\n\
         measure = {{ metrics = ['wait', 'utilization'] }}\n\
         [sweep]\nscheduler = ['fcfs', 'easy', 'sjf']\n"
    ))
}

#[test]
fn a_log_becomes_a_distribution_and_its_end_a_test() {
    let folder = tempfile::tempdir().unwrap();
    let path = log(folder.path(), 16);
    let study = of_log(&path, ", resample = { by = 'users', weeks = 2 }");
    let request = ChoiceRequest {
        within: "5%".to_owned(),
        hold_out: Some("4w".to_owned()),
        baseline: vec!["scheduler=fcfs".to_owned()],
        ..ChoiceRequest::default()
    };
    let choice = made(&study, request, None).unwrap();
    let names: Vec<&str> = choice.gains.iter().map(|gain| gain.on).collect();
    assert_eq!(names, ["fresh replications", "held-out weeks"]);
    assert!(choice.gains.iter().all(|gain| gain.change < 0.0), "{:?}", choice.gains);
    let classes = &choice.gains[0].classes;
    let sizes: Vec<[u64; 2]> = classes.iter().map(|class| class.sizes).collect();
    assert_eq!(sizes, [[1, 1], [2, 2], [3, 4], [5, 8], [9, 16]]);
    let words: Vec<String> = classes.iter().map(|class| class.words()).collect();
    assert_eq!(
        [&words[0], &words[1], &words[4]],
        ["jobs of 1 processor", "jobs of 2 processors", "jobs of 9 to 16 processors"]
    );
    if choice.is_confirmed() == Some(false) {
        assert!(choice.sentences()[0].contains("is not confirmed"));
    }
}

#[test]
fn candidates_with_different_jobs_are_warned_of() {
    let warned = |swept: &str| {
        let start = &STUDY[..STUDY.find("[sweep]").unwrap()];
        let study = study(&format!("{start}[sweep]\nscheduler = ['fcfs', 'easy']\n{swept}\n"));
        let choice = made(&study, request(|own| own.baseline.clear()), None).unwrap();
        choice.warnings.into_iter().find(|own| own.contains("the lightest jobs win"))
    };
    let says = warned("'workload.load' = [0.3, 0.5]").unwrap();
    assert!(says.starts_with("candidates differ in `workload.load`"), "{says}");
    assert!(says.contains("as with --set 'workload.load=0.3'"), "{says}");
    let estimates = "'workload.estimates' = ['exact', { name = 'factor', f = 2 }]";
    for same in ["'workload.load' = [0.3]", "seed = [1, 2]", estimates] {
        assert_eq!(warned(same), None, "{same}");
    }
}

#[test]
fn a_stopped_choice_says_whether_it_can_be_continued() {
    let study = study(STUDY);
    let said = |out: Option<&Path>| {
        let begun = AtomicU64::new(0);
        let stop = || begun.fetch_add(1, Ordering::Relaxed) >= 30;
        let request = request(|own| own.baseline.clear());
        let options = ChooseOptions { stop: &stop, ..options(request, out) };
        let choice = choose(&study, &options).unwrap();
        assert!(choice.is_stopped_early);
        choice.sentences().join(" ")
    };
    let folder = tempfile::tempdir().unwrap();
    let (kept, lost) = (said(Some(folder.path())), said(None));
    assert!(kept.contains("yet: the same command continues."), "{kept}");
    assert!(lost.contains("on fresh replications: nothing is kept without `--out`."), "{lost}");
}

#[test]
fn settings_that_messages_make_meaningless_are_warned_of() {
    let sending = STUDY
        .replace("[workload]", "[network]\nname = 'hops'\nnum_messages = 1\n[workload]")
        .replace("load = 0.5", "load = 0.1");
    let choice = made(&study(&sending), request(|own| own.baseline.clear()), None).unwrap();
    let warnings = choice.warnings;
    assert!(warnings.iter().any(|own| own.starts_with("`workload.load` is not the load: ")));
    let easy = "the scheduler plans with estimates that may be far off with scheduler = easy, ";
    assert!(warnings.iter().any(|own| own.starts_with(easy)), "{warnings:?}");
}

/// Small version of the measurement of 500 policies in docs/performance.md.
#[test]
fn a_race_takes_a_tenth_of_the_runs_of_two_stages() {
    let folder = tempfile::tempdir().unwrap();
    let path = log(folder.path(), 16);
    let study = study(&format!(
        "machine = {{ topology = 'mesh', dims = [4, 4] }}\n\
         workload = {{ name = 'swf', path = '{path}', resample = {{ by = 'weeks', weeks = 4 }} }}\n\
         measure = {{ metrics = ['bounded_slowdown'] }}\n\
         [sweep]\nscheduler = ['fcfs', 'easy', 'sjf', 'window']\n\
         allocator = ['first_fit', 'best_fit', 'frame_sliding', 'boundary_search', 'naive']\n"
    ));
    let request = ChoiceRequest { within: "5%".to_owned(), ..ChoiceRequest::default() };
    let choice = made(&study, request, None).unwrap();
    assert_eq!(choice.stopped, RaceEnd::Decided);
    let two_stages = choice.clark_yang.unwrap();
    assert!(10 * choice.runs <= two_stages, "{} of {two_stages}", choice.runs);
    assert!(choice.runs < choice.full_grid);
}

/// Study, wrong change to the request, and beginning and end of the error message.
type Refusal<'a> = (&'a Study, fn(&mut ChoiceRequest), &'a str, &'a str);

#[test]
fn what_cannot_be_chosen_is_refused_in_one_sentence() {
    let folder = tempfile::tempdir().unwrap();
    let path = log(folder.path(), 16);
    let plain = study(STUDY);
    let without = study(&STUDY[..STUDY.find("[sweep]").unwrap()]);
    let one = STUDY.replace("['fcfs', 'easy', 'sjf']", "['fcfs']");
    let one = study(&one.replace("['first_fit', 'random']", "['random']"));
    let quiet = study(&STUDY.replace("load = 0.5", "load = 0.001"));
    let overloaded = study(&STUDY.replace("load = 0.5", "load = 5.0"));
    let (whole, resampled) = (of_log(&path, ""), of_log(&path, ", resample = 'users'"));
    let refusals: [Refusal<'_>; 15] = [
        (
            &plain,
            |own| own.metric = Some("waits".into()),
            "--metric waits: unknown metric `waits` (did you mean `wait`?",
            ")",
        ),
        (
            &plain,
            |own| own.second = Some("waits".into()),
            "--second waits: unknown metric `waits` (did you mean `wait`?",
            ")",
        ),
        (
            &plain,
            |own| own.metric = Some("turnaround".into()),
            "--metric turnaround: the study does not measure turnaround: ",
            "add it to `measure.metrics`, which has wait, utilization",
        ),
        (
            &without,
            |_| {},
            "study.toml: there is nothing to choose from, because the study has no `[sweep]`: ",
            "sweep a key, such as scheduler = [\"fcfs\", \"easy\"]",
        ),
        (
            &one,
            |_| {},
            "study.toml:13: `[sweep]` makes one candidate, and a choice needs two: ",
            "give a key another value",
        ),
        (
            &plain,
            |own| own.constraints = vec!["utilization >= 99 %".into()],
            "study.toml: no candidate meets `utilization >= 99 %`: the nearest is scheduler = ",
            " %",
        ),
        (
            &plain,
            |own| own.constraints = vec!["utilization >= 1 %".into(), "wait <= 1e-9".into()],
            "study.toml: no candidate meets `utilization >= 1 %` and `wait <= 1e-9`: the nearest is scheduler = ",
            "",
        ),
        (
            &plain,
            |own| own.constraints = vec!["wait <= 4 h".into()],
            "--constraint 'wait <= 4 h': the unit of the study's clock is not known: ",
            "give `time_unit`, or the limit without `h`",
        ),
        (
            &resampled,
            |own| own.hold_out = Some("20w".into()),
            "--hold-out 20w: the log has only 112 days, so nothing is left to choose by: ",
            "hold out less",
        ),
        (
            &plain,
            |own| own.hold_out = Some("1w".into()),
            "--hold-out 1w: the end of a log can be kept back, but the workload `synthetic` reads none: ",
            "leave the option out",
        ),
        (
            &quiet,
            |_| {},
            "study.toml: wait is 0 in replication 1 of scheduler = fcfs, allocator = first_fit, and has no logarithm \
             there: ",
            "race on its differences with `--raw` (from Python `raw=True`), or on another metric",
        ),
        (
            &overloaded,
            |_| {},
            "study.toml: the queue of every candidate grows to the end, so none has a mean: ",
            "lower the load, or race on `--metric carried_load`",
        ),
        (
            &plain,
            |own| own.baseline = vec!["scheduler=easy".into()],
            "--baseline scheduler=easy: 2 candidates have it, but the baseline must be one: ",
            "give a value of every swept key, such as scheduler = easy, allocator = first_fit",
        ),
        (
            &whole,
            |_| {},
            "study.toml:",
            "one log is one observation: give `windows`, or `workload.resample`, which is \"users\" or \"weeks\" for a log \
             of two weeks or more, and \"shake\" for any",
        ),
        (
            &plain,
            |own| own.budget = Some("5".into()),
            "--budget 5: the first round of 6 candidates takes 18 runs",
            "",
        ),
    ];
    for (study, change, begins, ends) in refusals {
        let mut request = ChoiceRequest::default();
        change(&mut request);
        let said = made(study, request, None).unwrap_err();
        assert!(said.starts_with(begins) && said.ends_with(ends), "{begins}: {said}");
        assert!(!said.contains('\n') && !said.contains(". "), "one sentence: {said}");
    }
    // Candidates are compared by differences, for which means of 0 are allowed.
    let request = ChoiceRequest { raw: true, within: "1".into(), ..ChoiceRequest::default() };
    assert!(made(&quiet, request, None).is_ok());
}
