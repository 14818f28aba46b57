//! Tests of `meshwork submit`, which writes scripts for batch systems.
//!
//! Small programs stand in for the commands of the batch systems.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use crate::common::{Said, call, said};

const STUDY: &str = "
name = 'tiny'
replications = 4
[machine]
topology = 'mesh'
dims = [4, 4]
[workload]
name = 'synthetic'
load = 0.3
sizes = 'uniform'
runtimes = { name = 'exponential', mean = 5.0 }
[measure]
jobs = 50
metrics = ['wait']
[sweep]
allocator = ['first_fit', 'frame_sliding']
";

/// Study, and a folder `bin` for programs that record their calls.
fn begin() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("study.toml"), STUDY).unwrap();
    fs::create_dir(folder.path().join("bin")).unwrap();
    folder
}

/// Program that runs the shell commands `answer`.
///
/// It records its arguments in `calls`, and its input in `calls.input`.
fn program(folder: &Path, name: &str, answer: &str) {
    let path = folder.join("bin").join(name);
    let calls = folder.join("calls");
    let text = format!(
        "#!/bin/bash\necho \"{name} $*\" >> {0}\nif [ ! -t 0 ]; then head -c 200 >> {0}.input; fi\n{answer}\n",
        calls.display()
    );
    fs::write(&path, text).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
}

fn meshwork(folder: &Path, arguments: &[&str]) -> Said {
    let mut command = Command::new(env!("CARGO_BIN_EXE_meshwork"));
    let path = format!("{}:/usr/bin:/bin", folder.join("bin").display());
    command.args(arguments).current_dir(folder).env("PATH", path);
    said(&command.output().unwrap())
}

fn calls(folder: &Path) -> String {
    fs::read_to_string(folder.join("calls")).unwrap_or_default()
}

#[test]
fn every_engine_is_given_a_script_that_runs() {
    for (engine, program_name, answer, variable, first, collect) in [
        (
            "slurm",
            "sbatch",
            "echo '77;cluster'",
            "SLURM_ARRAY_TASK_ID",
            0,
            "sbatch --parsable --dependency=afterany:77 --kill-on-invalid-dep=yes",
        ),
        (
            "pbs",
            "qsub",
            "echo '77[].server'",
            "PBS_ARRAY_INDEX",
            0,
            "qsub -W depend=afterany:77[].server",
        ),
        (
            "lsf",
            "bsub",
            "echo 'Job <77> is submitted to default queue <normal>.'",
            "LSB_JOBINDEX",
            1,
            "bsub -w ended(77)",
        ),
        ("hq", "hq", "echo 77", "HQ_TASK_ID", 0, ""),
    ] {
        let home = begin();
        let folder = home.path();
        program(folder, program_name, answer);
        let arguments = [
            "submit",
            "study.toml",
            "--out",
            "S",
            "--engine",
            engine,
            "--shards",
            "3",
            "--time",
            "10m",
            "--partition",
            "short",
            "--account",
            "a1",
        ];
        let dry = meshwork(folder, &[&arguments[..], &["--dry-run"]].concat());
        assert_eq!((dry.status, dry.err.as_str()), (Some(0), ""), "{engine}");
        dry.out_has("--time-budget 570s");
        assert!(
            !folder.join("S").exists() && calls(folder).is_empty(),
            "{engine}: nothing is done"
        );
        let submitted = meshwork(folder, &arguments);
        assert_eq!((submitted.status, submitted.err.as_str()), (Some(0), ""), "{engine}");
        submitted.out_begins("submitted: 3 shards of 8 parts as job 77");
        let script = folder.join("S/submit/1.sh");
        let text = fs::read_to_string(&script).unwrap();
        assert!(dry.out.starts_with(&text), "{engine}: what was shown is what is kept");
        let called = calls(folder);
        let input = fs::read_to_string(folder.join("calls.input")).unwrap_or_default();
        let is_given = called.contains(&script.display().to_string());
        assert!(
            is_given || input.starts_with("#!/bin/bash\n#BSUB -J \"tiny[1-3]%200\""),
            "{called}{input}"
        );
        assert!(called.contains(collect), "{called}");
        // Run the tasks in any order, and one of them twice, as a batch system may do.
        for index in [2, 0, 1, 0] {
            let task = Command::new("bash")
                .arg(&script)
                .env(variable, (index + first).to_string())
                .output();
            let task = said(&task.unwrap());
            assert_eq!(
                (task.status, task.err.as_str()),
                (Some(0), ""),
                "{engine} {index}: {}",
                task.out
            );
        }
        let collected =
            Command::new("bash").arg(folder.join("S/submit/1.collect.sh")).output().unwrap();
        assert_eq!(collected.status.code(), Some(0), "{engine}");
        call(folder, "run study.toml --out local --quiet").ended(0);
        for name in ["runs.jsonl", "summary.csv"] {
            assert!(
                fs::read(folder.join("S").join(name)).unwrap()
                    == fs::read(folder.join("local").join(name)).unwrap(),
                "{engine}: {name}"
            );
        }
        let again = meshwork(folder, &[&arguments[..], &["--missing"]].concat());
        again.out_begins("S: nothing is missing, so nothing is submitted");
    }
}

#[test]
fn what_is_missing_is_dealt_again_and_long_arrays_are_split() {
    let home = begin();
    let folder = home.path();
    program(folder, "sbatch", "echo 5");
    program(folder, "scontrol", "echo 'MaxArraySize            = 3'");
    let arguments = ["submit", "study.toml", "--out", "S", "--engine", "slurm"];
    meshwork(folder, &arguments).succeeded();
    let script = folder.join("S/submit/1.sh");
    let shown = script.display();
    let called = calls(folder);
    let arrays: Vec<&str> = called.lines().filter(|line| line.contains("--array")).collect();
    assert_eq!(
        arrays,
        [
            format!("sbatch --parsable --array=0-2%66 {shown} 0"),
            format!("sbatch --parsable --array=0-2%66 {shown} 3"),
            format!("sbatch --parsable --array=0-1%66 {shown} 6"),
        ]
    );
    assert!(called.contains("--dependency=afterany:5:5:5 "), "{called}");
    // Run task 1 of the array that begins with shard 3, and task 0 of the array that begins with
    // shard 6.
    for (first, index) in [("3", "1"), ("6", "0")] {
        let mut task = Command::new("bash");
        task.arg(&script).arg(first).env("SLURM_ARRAY_TASK_ID", index);
        assert_eq!(task.output().unwrap().status.code(), Some(0));
    }
    meshwork(folder, &arguments).ended(2).err_begins("error: S: this sweep was submitted before (");
    let missing =
        meshwork(folder, &[&arguments[..], &["--missing", "--shards", "2"]].concat()).succeeded();
    missing.out_begins("submitted: 2 shards of 6 parts");
    let deal = fs::read_to_string(folder.join("S/submit/2.deal.csv")).unwrap();
    let dealt: Vec<&str> = deal.lines().skip(1).collect();
    assert_eq!(dealt.len(), 2, "{deal}");
    for index in ["0", "1"] {
        let mut task = Command::new("bash");
        task.arg(folder.join("S/submit/2.sh")).env("SLURM_ARRAY_TASK_ID", index);
        assert_eq!(task.output().unwrap().status.code(), Some(0));
    }
    call(folder, "collect S").ended(0);
}

#[test]
fn what_an_engine_does_not_do_is_said() {
    let home = begin();
    let folder = home.path();
    let arguments = ["submit", "study.toml", "--out", "S", "--engine", "slurm"];
    let path = folder.join("bin");
    let mut command = Command::new(env!("CARGO_BIN_EXE_meshwork"));
    command.args(arguments).current_dir(folder).env("PATH", path);
    let missing = said(&command.output().unwrap()).ended(1);
    missing.err_begins("error: sbatch: there is no such program on the path, so nothing was submitted; call this on a computer that \
             has it, such as the login node of the cluster, or give another `--engine`: the script is kept, ");
    program(folder, "scontrol", "echo 'MaxArraySize = 1'");
    program(folder, "sbatch", "echo 'sbatch: error: invalid partition' >&2; exit 1");
    let missing = [&arguments[..], &["--missing"]].concat();
    let no_array = meshwork(folder, &missing).ended(2);
    no_array.err_begins("error: this Slurm allows no arrays (MaxArraySize is 1), so 8 shards");
    let refused = meshwork(folder, &[&missing[..], &["--shards", "1"]].concat()).ended(1);
    refused.err_begins(
        "error: sbatch refused the script, and says: sbatch: error: invalid partition: ",
    );
    for (more, sentence) in [
        (&["--shards", "0"][..], "must be `auto`, or a whole number from 1"),
        (&["--time", "soon"], "must be a time such as 55m"),
        (&["--partition", "a b"], "must be a name of letters"),
        (&["--mem", "much"], "`much` is no size"),
        (&["--engine", "ray"], "[possible values: slurm, pbs, lsf, hq]"),
    ] {
        let said = meshwork(
            folder,
            &[
                &arguments[..4],
                &["--engine", "slurm"][..if more[0] == "--engine" { 0 } else { 2 }],
                more,
            ]
            .concat(),
        )
        .ended(2);
        said.err_has(sentence);
    }
    let said =
        meshwork(folder, &["submit", "study.toml", "--out", "my results", "--engine", "pbs"])
            .ended(2);
    said.err_has("my results: the script of an engine cannot name this path");
}

#[test]
fn a_race_goes_on_round_by_round_until_it_prints_the_result() {
    let home = begin();
    let folder = home.path();
    let race = STUDY.replace("replications = 4\n", "").replace("load = 0.3", "load = 0.5");
    fs::write(folder.join("study.toml"), race).unwrap();
    // This `sbatch` accepts any script and prints a job number; the tasks are run below.
    program(folder, "sbatch", "echo 77");
    let choice = ["--within", "5%", "--baseline", "allocator=frame_sliding"];
    let first = ["submit", "study.toml", "--out", "S", "--engine", "slurm", "--shards", "2"];
    let refused = meshwork(folder, &[&first[..], &choice].concat()).ended(2);
    refused.err_has("these are options of a race: give --choose too, or leave them out");
    let first = meshwork(folder, &[&first[..], &["--choose"], &choice].concat()).succeeded();
    first.out_begins("submitted: 2 shards of 40 parts as job 77");
    let bash = |script: &str, index: &str| {
        let mut command = Command::new("/bin/bash");
        let path = format!("{}:/usr/bin:/bin", folder.join("bin").display());
        command.arg(folder.join("S/submit").join(script)).env("PATH", path);
        let ended = command.current_dir(folder).env("SLURM_ARRAY_TASK_ID", index).output();
        said(&ended.unwrap())
    };
    let mut last = String::new();
    let mut rounds = 0;
    while !folder.join("S/choice.json").exists() {
        rounds += 1;
        assert!(rounds < 30, "{last}");
        for index in ["0", "1"] {
            bash(&format!("{rounds}.sh"), index).succeeded();
        }
        let collected = bash(&format!("{rounds}.collect.sh"), "").ended(0);
        last = collected.out;
    }
    assert!(last.contains("Choice: allocator = first_fit"), "{last}");
    assert!(folder.join("S/winner.toml").exists());
    // A choice that is made in one process has the same result.
    let words =
        [&["choose", "study.toml", "--out", "T", "--json", "--quiet"][..], &choice].concat();
    meshwork(folder, &words).ended(0);
    let read = |name: &str| fs::read(folder.join(name)).unwrap();
    // The first line has the path of the study.
    let winner = |name: &str| {
        let text = String::from_utf8(read(name)).unwrap();
        text.split_once('\n').unwrap().1.to_owned()
    };
    assert_eq!(winner("S/winner.toml"), winner("T/winner.toml"));
    let json = |name: &str| -> serde_json::Value { serde_json::from_slice(&read(name)).unwrap() };
    let (shared, own) = (json("S/choice.json"), json("T/choice.json"));
    for key in ["choice", "bound", "equal", "looks", "gains", "wins"] {
        assert_eq!(shared[key], own[key], "{key}");
    }
}
