//! Tests of `meshwork submit`, which writes scripts for batch systems.
//!
//! Small programs stand in for the commands of the batch systems.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use crate::common::{Said, Scratch, call, command, put, ran, read};

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
fn begin() -> Scratch {
    let folder = Scratch::with("study.toml", STUDY);
    fs::create_dir(folder.join("bin")).unwrap();
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

/// Search path with the programs of the test and those of the system.
fn path(folder: &Path) -> String {
    format!("{}:/usr/bin:/bin", folder.join("bin").display())
}

fn meshwork(folder: &Path, arguments: &[&str]) -> Said {
    ran(command(folder, arguments).env("PATH", path(folder)))
}

fn submit(folder: &Path, more: &str) -> Said {
    let words = format!("submit study.toml --out S {more}");
    meshwork(folder, &words.split(' ').collect::<Vec<&str>>())
}

/// Runs a task of a Slurm array by a script and its arguments.
fn task(folder: &Path, script: &[&str], index: &str) -> Said {
    let mut bash = Command::new("/bin/bash");
    bash.args(script).current_dir(folder.join("S/submit")).env("PATH", path(folder));
    ran(bash.env("SLURM_ARRAY_TASK_ID", index))
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
        let folder = begin();
        program(&folder, program_name, answer);
        let words =
            format!("--engine {engine} --shards 3 --time 10m --partition short --account a1");
        let dry = submit(&folder, &format!("{words} --dry-run")).succeeded();
        dry.out_has("--time-budget 570s");
        assert!(
            !folder.join("S").exists() && calls(&folder).is_empty(),
            "{engine}: nothing is done"
        );
        let submitted = submit(&folder, &words).succeeded();
        submitted.out_begins("submitted: 3 shards of 8 parts as job 77");
        let script = folder.join("S/submit/1.sh");
        let text = fs::read_to_string(&script).unwrap();
        assert!(dry.out.starts_with(&text), "{engine}: what was shown is what is kept");
        let called = calls(&folder);
        let input = fs::read_to_string(folder.join("calls.input")).unwrap_or_default();
        let is_given = called.contains(&script.display().to_string());
        assert!(
            is_given || input.starts_with("#!/bin/bash\n#BSUB -J \"tiny[1-3]%200\""),
            "{called}{input}"
        );
        assert!(called.contains(collect), "{called}");
        // Run the tasks in any order, and one of them twice, as a batch system may do.
        for index in [2, 0, 1, 0] {
            let index = (index + first).to_string();
            ran(Command::new("bash").arg(&script).env(variable, index)).succeeded();
        }
        ran(Command::new("bash").arg(folder.join("S/submit/1.collect.sh"))).ended(0);
        call(&folder, "run study.toml --out local --quiet").ended(0);
        for name in ["runs.jsonl", "summary.csv"] {
            assert!(
                fs::read(folder.join("S").join(name)).unwrap()
                    == fs::read(folder.join("local").join(name)).unwrap(),
                "{engine}: {name}"
            );
        }
        submit(&folder, &format!("{words} --missing"))
            .out_begins("S: nothing is missing, so nothing is submitted");
    }
}

#[test]
fn what_is_missing_is_dealt_again_and_long_arrays_are_split() {
    let folder = begin();
    program(&folder, "sbatch", "echo 5");
    program(&folder, "scontrol", "echo 'MaxArraySize            = 3'");
    submit(&folder, "--engine slurm").succeeded();
    let script = folder.join("S/submit/1.sh");
    let shown = script.display();
    let called = calls(&folder);
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
        task(&folder, &["1.sh", first], index).ended(0);
    }
    let said = submit(&folder, "--engine slurm").ended(2);
    said.err_begins("error: S: this sweep was submitted before (");
    let missing = submit(&folder, "--engine slurm --missing --shards 2").succeeded();
    missing.out_begins("submitted: 2 shards of 6 parts");
    let deal = read(&folder, "S/submit/2.deal.csv");
    let dealt: Vec<&str> = deal.lines().skip(1).collect();
    assert_eq!(dealt.len(), 2, "{deal}");
    for index in ["0", "1"] {
        task(&folder, &["2.sh"], index).ended(0);
    }
    call(&folder, "collect S").ended(0);
}

#[test]
fn what_an_engine_does_not_do_is_said() {
    let folder = begin();
    let arguments = ["submit", "study.toml", "--out", "S", "--engine", "slurm"];
    let missing = ran(command(&folder, &arguments).env("PATH", folder.join("bin"))).ended(1);
    missing.err_begins(
        "error: sbatch: there is no such program on the path, so nothing was submitted; call this on a computer that \
         has it, such as the login node of the cluster, or give another `--engine`: the script is kept, ",
    );
    program(&folder, "scontrol", "echo 'MaxArraySize = 1'");
    program(&folder, "sbatch", "echo 'sbatch: error: invalid partition' >&2; exit 1");
    let said = submit(&folder, "--engine slurm --missing").ended(2);
    said.err_begins("error: this Slurm allows no arrays (MaxArraySize is 1), so 8 shards");
    let refused = submit(&folder, "--engine slurm --missing --shards 1").ended(1);
    refused.err_begins(
        "error: sbatch refused the script, and says: sbatch: error: invalid partition: ",
    );
    for (more, sentence) in [
        (["--shards", "0"], "must be `auto`, or a whole number from 1"),
        (["--time", "soon"], "must be a time such as 55m"),
        (["--partition", "a b"], "must be a name of letters"),
        (["--mem", "much"], "`much` is no size"),
    ] {
        meshwork(&folder, &[&arguments[..], &more].concat()).ended(2).err_has(sentence);
    }
    let said = submit(&folder, "--engine ray").ended(2);
    said.err_has("[possible values: slurm, pbs, lsf, hq]");
    let said =
        meshwork(&folder, &["submit", "study.toml", "--out", "my results", "--engine", "pbs"])
            .ended(2);
    said.err_has("my results: the script of an engine cannot name this path");
}

#[test]
fn a_race_goes_on_round_by_round_until_it_prints_the_result() {
    let folder = begin();
    let race = STUDY.replace("replications = 4\n", "").replace("load = 0.3", "load = 0.5");
    put(&folder, "study.toml", race);
    // This `sbatch` accepts any script and prints a job number; the tasks are run below.
    program(&folder, "sbatch", "echo 77");
    let choice = "--within 5% --baseline allocator=frame_sliding";
    let first = format!("--engine slurm --shards 2 {choice}");
    let said = submit(&folder, &first).ended(2);
    said.err_has("these are options of a race: give --choose too, or leave them out");
    let first = submit(&folder, &format!("{first} --choose")).succeeded();
    first.out_begins("submitted: 2 shards of 40 parts as job 77");
    let mut last = String::new();
    let mut rounds = 0;
    while !folder.join("S/choice.json").exists() {
        rounds += 1;
        assert!(rounds < 30, "{last}");
        for index in ["0", "1"] {
            task(&folder, &[&format!("{rounds}.sh")], index).succeeded();
        }
        let collected = task(&folder, &[&format!("{rounds}.collect.sh")], "").ended(0);
        last = collected.out;
    }
    assert!(last.contains("Choice: allocator = first_fit"), "{last}");
    assert!(folder.join("S/winner.toml").exists());
    // A choice that is made in one process has the same result.
    call(&folder, &format!("choose study.toml --out T --json --quiet {choice}")).ended(0);
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
