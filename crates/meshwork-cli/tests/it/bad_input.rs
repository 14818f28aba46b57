//! Tests of the command with bad input.
//!
//! Each error is one clear sentence with the right exit status, and the results of other runs are
//! kept.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::common::{Said, Scratch, call, command, line, put, read, said, skip};
use flate2::Compression;
use flate2::write::GzEncoder;

const LOG: &str = "[machine]\ntopology = 'mesh'\ndims = [4, 4]\n\
                   [workload]\nname = 'swf'\npath = 'good.swf'\n\
                   [measure]\nmetrics = ['wait', 'finished', 'refused']\n";

const DRAWN: &str = "[machine]\ntopology = 'mesh'\ndims = [4, 4]\n\
                     [workload]\nname = 'synthetic'\nload = 0.5\nsizes = 'uniform'\n\
                     runtimes = { name = 'exponential', mean = 5.0 }\n\
                     [measure]\njobs = 50\nmetrics = ['wait']\n";

fn folder() -> Scratch {
    let folder = Scratch::new();
    let write = |name: &str, bytes: &[u8]| put(&folder, name, bytes);
    write("log.toml", LOG.as_bytes());
    write("drawn.toml", DRAWN.as_bytes());
    let good = line(1, 0, 10, 4, 20) + &line(2, 5, 10, 16, 20);
    write("good.swf", good.as_bytes());
    write(
        "letters.swf",
        format!("; a log\n{good}3 6 -1 ten 4 -1 -1 4 20 -1 1 1 -1 -1 -1 -1 -1 -1\n").as_bytes(),
    );
    write("three.swf", format!("{good}1 2 3\n").as_bytes());
    write("wide.swf", format!("{good}{}", line(3, 6, 10, 17, 20)).as_bytes());
    let long: String = (1..2000).map(|i| line(i, 97 * i, i * i % 89, 1 + i % 16, 100)).collect();
    let mut packed = GzEncoder::new(Vec::new(), Compression::default());
    packed.write_all(long.as_bytes()).unwrap();
    let packed = packed.finish().unwrap();
    write("cut.swf.gz", &packed[..packed.len() / 2]);
    fs::create_dir(folder.join("directory")).unwrap();
    folder
}

fn run(folder: &Path, arguments: &str) -> Said {
    call(folder, &format!("run {arguments}"))
}

fn sentence(said: &Said) -> &str {
    let line = said.err.strip_prefix("error: ").unwrap_or_else(|| panic!("{said:?}"));
    let line = line.strip_suffix('\n').unwrap();
    assert!(!line.contains('\n'), "{said:?}");
    line
}

#[test]
fn a_request_that_is_wrong_is_refused_in_one_sentence() {
    let folder = folder();
    let write = |name: &str, text: &str| put(&folder, name, text);
    write("empty.toml", "");
    write("broken.toml", "seed = 1\nname = = 'a'\n");
    write("zero.toml", &DRAWN.replace("[4, 4]", "[0]"));
    write("key.toml", &format!("replication = 3\n{DRAWN}"));
    write("name.toml", &format!("scheduler = 'eazy'\n{DRAWN}"));
    write("metric.toml", &DRAWN.replace("'wait'", "'waits'"));
    write("list.toml", &format!("{DRAWN}[sweep]\nseed = []\n"));
    write("huge.toml", &DRAWN.replace("[4, 4]", "[1000000, 1000000]"));
    write("idle.toml", &DRAWN.replace("load = 0.5", "load = 0"));
    let thousand: Vec<String> = (1..=1000).map(|i| i.to_string()).collect();
    let thousand = thousand.join(", ");
    write(
        "billion.toml",
        &format!(
            "{DRAWN}[sweep]\nseed = [{thousand}]\n\"workload.load\" = [{thousand}]\n\"measure.jobs\" = [{thousand}]\n"
        ),
    );
    for (arguments, expected) in [
        ("absent.toml", "absent.toml: there is no such file"),
        ("directory", "directory: this is a directory, but must be a file"),
        (
            "log.toml --set workload.path=none.swf",
            "--set workload.path=none.swf: none.swf: there is no such file",
        ),
        (
            "log.toml --set workload.path=directory",
            "--set workload.path=directory: directory: this is a directory, but must be a file",
        ),
        (
            "empty.toml",
            "empty.toml: `machine` is missing: a table with `topology`, or with `sites`, a list of such \
             tables",
        ),
        (
            "broken.toml",
            "broken.toml:2: this is not TOML: extra `=`, expected nothing, at column 8 of `name = = 'a'`",
        ),
        (
            "zero.toml",
            "zero.toml:3: `machine.dims` is [0], but must be a list of whole numbers from 1 to 16777216",
        ),
        ("huge.toml", "huge.toml:3: a site has at most 16777216 processors, this one has more"),
        (
            "drawn.toml --set machine.topology=hypercube --set machine.dimension=40",
            "--set machine.topology=hypercube: unknown key `dims` in `machine` (known: topology, dimension, \
             processors_per_node, speed, allocator)",
        ),
        (
            "metric.toml",
            "metric.toml:11: unknown metric `waits` (did you mean `wait`? known: wait, wait_for_shape, \
             wait_for_reserved, wait_for_nodes, wait_for_priority, weighted_dispersal, tardiness, wake_ups, \
             unfairness, jain_slowdown and 73 more)",
        ),
        (
            "drawn.toml --set energy={idle=100,busy=300,cap=500}",
            "--set energy={idle=100,busy=300,cap=500}: `energy.cap` is 500, but the 16 processors take 1600 when all are idle",
        ),
        (
            "drawn.toml --set energy={idle=100,busy=300,sleep=5}",
            "--set energy={idle=100,busy=300,sleep=5}: `energy.sleep_after` is missing: after how long an idle time a \
             processor falls asleep",
        ),
        (
            "drawn.toml --set workload.scale={load=0.5}",
            "--set workload.scale={load=0.5}: `workload.scale` scales all jobs together, but the workload `synthetic` \
             never ends: give `workload.first_jobs` or `workload.until`",
        ),
        (
            "drawn.toml --set workload.estimates=tsafrir",
            "--set workload.estimates=tsafrir: `workload.estimates.max` is missing: the longest estimate that the site \
             allows, in seconds (a number from 1 to 1e15)",
        ),
        (
            "drawn.toml --set workload.first_jobs=9 --set workload.scale={load=0.5,by=\"users\"}",
            "--set workload.scale={load=0.5,by=\"users\"}: `workload.scale.by` is \"users\", but the workload \
             `synthetic` does not say whose its jobs are",
        ),
        (
            "drawn.toml --set load=0.7",
            "--set load=0.7: unknown key `load` (did you mean `workload.load`? known: claim, order, obtain, record, \
             compare, allocator, replications, name, seed, paper and 22 more)",
        ),
        (
            "drawn.toml --set mean=7",
            "--set mean=7: unknown key `mean` (did you mean `workload.runtimes.mean`? known: measure, machine, \
             time_unit, obtain, energy, compare, replications, precision_of, min_replications, \
             max_replications and 22 more)",
        ),
        (
            "drawn.toml --set metric=wait",
            "--set metric=wait: unknown key `metric` (did you mean `measure.metrics`? known: min_replications, \
             max_replications, network, measure, replications, name, description, quick, paper, obtain and 22 more)",
        ),
        (
            "drawn.toml --set workload.mean=7",
            "--set workload.mean=7: unknown key `mean` in `workload` (did you mean `workload.runtimes.mean`? known: \
             mean_interarrival, demand, deadlines, resample, estimates, dependencies, runtime_scale, name, load, \
             scale and 10 more)",
        ),
        (
            "drawn.toml --set time_unit=hour",
            "--set time_unit=hour: `time_unit` is \"hour\", but must be one of seconds, minutes, hours, days (did \
             you mean `hours`?)",
        ),
        ("list.toml", "list.toml:13: `sweep.seed` is [], but must be a list of at least one value"),
        (
            "billion.toml",
            "billion.toml:12: `[sweep]` makes 1000000000 scenarios, but at most 1000000 can be run",
        ),
        (
            "drawn.toml --set workload.laod=0.5",
            "--set workload.laod=0.5: unknown key `laod` in `workload` (did you mean `load`? known: load, demand, \
             name, from, scale, shape, resample, split_above, arrival_rate, dependencies and 10 more)",
        ),
        (
            "drawn.toml --set sizing={name='rsr',max_folds=-1}",
            "--set sizing={name='rsr',max_folds=-1}: `sizing.max_folds` is -1, but must be a whole number \
             from 0 to 4294967295",
        ),
        (
            "drawn.toml --set sizing={name='limit',dimension=5}",
            "--set sizing={name='limit',dimension=5}: `sizing.dimension` is 5, but no site has more than \
             16 processors: a limit from 0 to 4 would be right",
        ),
        (
            "drawn.toml --set scheduler={name='lazy',threshold=-2}",
            "--set scheduler={name='lazy',threshold=-2}: `scheduler.threshold` is -2, but must be dynamic, \
             none, or a number from 0 to 1e15",
        ),
        (
            "drawn.toml --set machine={topology='flat',processors=9} --set scheduler=static_partitioning",
            "--set scheduler=static_partitioning: the scheduler `static_partitioning` serves hypercube, but \
             the machine is a flat machine of 9 processors",
        ),
        (
            "drawn.toml --set scheduler={name='scan',width=2}",
            "--set scheduler={name='scan',width=2}: unknown key `width` in `scheduler` (known: name, \
             direction, gated, kill_at_estimate)",
        ),
        (
            "drawn.toml --set scheduler={name='window',width=0}",
            "--set scheduler={name='window',width=0}: `scheduler.width` is 0, but must be all, or a whole \
             number from 1 to 4294967295",
        ),
        ("drawn.toml --set seed", "`--set seed` has no `=`: write `--set KEY=VALUE`"),
        (
            "drawn.toml drawn.toml --out out",
            "drawn.toml: another of the studies has this name, and both would be kept in out/drawn: run \
             them one by one, each with an `--out` of its own",
        ),
        ("drawn.toml --out good.swf", "good.swf: this is a file, but must be a folder for results"),
        (
            "drawn.toml --out good.swf/results",
            "good.swf/results: this folder cannot be made, because a file stands where a folder must be",
        ),
    ] {
        assert_eq!(sentence(&run(&folder, arguments).refused()), expected, "{arguments}");
    }
    write("cut.toml", &LOG.replace("'good.swf'", "'good.swf'\nuntil = 0"));
    write("late.toml", &format!("{LOG}[sweep]\n'workload.from' = [1, 100]\n"));
    for (file, beginning) in [
        (
            "cut.toml",
            "cut.toml:7: `workload.until` is 0, which leaves no job: the first is submitted at 0, the last at 5",
        ),
        (
            "late.toml",
            "late.toml:10: `workload.from` is 100, which leaves no job: the first is submitted at 0, the last at 5",
        ),
        (
            "key.toml",
            "key.toml:1: unknown key `replication` (did you mean `replications`? known: replications, ",
        ),
        ("name.toml", "name.toml:1: unknown scheduler `eazy` (did you mean `easy`? known: easy, "),
        ("idle.toml", "idle.toml:6: `workload.load` is 0, but must be a number above 0"),
    ] {
        let said = run(&folder, file).ended(2);
        assert!(sentence(&said).starts_with(beginning), "{said:?}");
    }
}

#[test]
fn a_unit_or_a_date_in_place_of_a_number_gets_a_hint() {
    let folder = folder();
    let dates = "must be a number from 0 to 1e15, or a date such as 2003-05-01T12:30:00";
    for (arguments, end) in [
        ("drawn.toml --set workload.load=40%", "(did you mean 0.4?)".to_owned()),
        ("drawn.toml --set workload.runtimes.mean=5h", "(in seconds, 5h is 18000)".to_owned()),
        (
            "drawn.toml --set measure.jobs=2h",
            "`measure.jobs` is \"2h\", but must be a whole number from 1 to 9007199254740992"
                .to_owned(),
        ),
        (
            "drawn.toml --set machine.nodes=[{type='x',cpu=4,mem='2TiB'}]",
            "(in MiB, 2TiB is 2097152)".to_owned(),
        ),
        ("log.toml --set workload.until=2d", format!("{dates} (in seconds, 2d is 172800)")),
        ("log.toml --set workload.from=2023-13-01", format!("{dates} (there is no month 13)")),
        ("log.toml --set workload.from=2023-02-30", format!("{dates} (month 2 has no day 30)")),
    ] {
        let said = run(&folder, arguments).ended(2);
        assert!(sentence(&said).ends_with(&end), "{said:?}");
    }
}

#[test]
fn a_misspelt_word_of_the_command_line_gets_a_suggestion() {
    let folder = folder();
    for (arguments, sentence) in [
        ("rnu", "unknown command `rnu` (did you mean `meshwork run`?)"),
        ("help expalin", "unknown command `expalin` (did you mean `meshwork ops explain`?)"),
        ("ops expalin", "unknown command `expalin` (did you mean `meshwork ops explain`?)"),
        ("xyzzy", "unknown command `xyzzy` (`meshwork --help` lists the commands)"),
        ("run drawn.toml --ouput x", "unknown option `--ouput` (did you mean `--out`?)"),
        (
            "run drawn.toml --replications 3",
            "unknown option `--replications`: `replications` is a key of the study, which \
             `--set replications=VALUE` sets",
        ),
        (
            "run drawn.toml --xyzzy",
            "unknown option `--xyzzy` (`meshwork run --help` lists the options)",
        ),
        (
            "place",
            "`meshwork place`: the machine is missing: --machine, such as mesh:8x8, or --slurm with its \
             topology.yaml",
        ),
        (
            "ops explain site",
            "`meshwork ops explain`: what to explain is missing: the ID of a job, --all or --shape",
        ),
        (
            "ops when site",
            "`meshwork ops when`: what to estimate is missing: the ID of a job, or --all",
        ),
        ("list bondary", "unknown kind or name `bondary` (did you mean `boundary_search`?)"),
        (
            "list Boundary-Search",
            "unknown kind or name `Boundary-Search` (did you mean `boundary_search`?)",
        ),
    ] {
        call(&folder, arguments).ended(2).err_is(&format!("error: {sentence}\n"));
    }
}

#[test]
fn arguments_that_are_wrong_are_refused() {
    let folder = folder();
    for (arguments, beginning) in [
        (
            "drawn.toml --threads 0",
            "error: invalid value '0' for '--threads <N>': must be a whole number from 1 to 1024; leave \
             it out for one thread for each processor\n",
        ),
        ("drawn.toml --threads 2000000", "error: invalid value '2000000' for '--threads <N>': "),
        ("drawn.toml --thread 2", "error: unknown option `--thread` (did you mean `--threads`?)\n"),
        (
            "drawn.toml --quiet --json",
            "error: the argument '--quiet' cannot be used with '--json'\n",
        ),
    ] {
        run(&folder, arguments).refused().err_begins(beginning);
    }
}

#[test]
fn a_log_that_breaks_off_fails_its_run_and_no_other() {
    let folder = folder();
    for (log, what) in [
        ("letters.swf", "letters.swf:4: field 4 (run time) is `ten`, but must be a number"),
        (
            "three.swf",
            "three.swf:3: a line of a log in the Standard Workload Format has 18 fields, this one has 3",
        ),
    ] {
        let said = run(&folder, &format!("log.toml --set workload.path={log}")).ended(1);
        assert_eq!(sentence(&said), format!("log.toml: the run of replication 1 failed: {what}"));
        said.out_ends("no run finished: there is nothing to show\n");
    }
    let said = run(&folder, "log.toml --set workload.path=cut.swf.gz").ended(1);
    let beginning = "log.toml: the run of replication 1 failed: cut.swf.gz: the compressed file is cut off or \
         damaged after line ";
    assert!(sentence(&said).starts_with(beginning), "{said:?}");

    let study = format!("{LOG}[sweep]\n\"workload.path\" = ['letters.swf', 'good.swf']\n");
    put(&folder, "both.toml", study);
    let said = run(&folder, "both.toml --out out").ended(1);
    assert_eq!(
        sentence(&said),
        "both.toml: the run of workload.path = letters.swf, replication 1 failed: letters.swf:4: field 4 \
         (run time) is `ten`, but must be a number"
    );
    let row = said.out.lines().find(|line| line.starts_with("good.swf")).expect("the other run");
    // One job waits for 0 units of time, the other for 5. Two waits are too few for an interval.
    assert_eq!(row.split_whitespace().collect::<Vec<_>>(), ["good.swf", "2.5", "2", "0"]);
    let stored = read(&folder, "out/runs.jsonl");
    assert_eq!(stored.lines().count(), 1);
}

#[test]
fn a_job_that_is_wider_than_the_machine_is_refused_and_counted() {
    let folder = folder();
    let means = |log: &str| -> serde_json::Value {
        run(&folder, &format!("log.toml --json --set workload.path={log}")).succeeded().json()
    };
    let (good, wide) = (means("good.swf"), means("wide.swf"));
    assert_eq!(wide["metrics"]["refused"]["mean"], 1.0);
    for same in ["wait", "finished"] {
        assert_eq!(wide["metrics"][same], good["metrics"][same]);
    }
    run(&folder, "log.toml --set workload.path=wide.swf").out_has(
        "\nwarning: 1 job was refused: it would not fit even the empty machine, or its scheduler \
             turned it away\n",
    );
}

const CUBE: &str = "allocator = 'buddy'\n\
                    [machine]\ntopology = 'hypercube'\ndimension = 4\n\
                    [workload]\nname = 'synthetic'\nload = 0.5\nsizes = 'uniform'\n\
                    runtimes = { name = 'exponential', mean = 5.0 }\n\
                    [measure]\njobs = 50\nmetrics = ['wait', 'finished', 'refused']\n";

#[test]
fn a_hypercube_that_cannot_be_or_an_allocator_on_another_machine_is_refused() {
    let folder = folder();
    let write = |name: &str, text: &str| put(&folder, name, text);
    write("cube.toml", CUBE);
    write("forty.toml", &CUBE.replace("dimension = 4", "dimension = 40"));
    write("mesh.toml", &CUBE.replace("'hypercube'\ndimension = 4", "'mesh'\ndims = [2, 2, 2, 2]"));
    write("flat.toml", &CUBE.replace("'hypercube'\ndimension = 4", "'flat'\nprocessors = 16"));
    write("gray.toml", &CUBE.replace("dimension = 4", "dimension = 21"));
    for (arguments, expected) in [
        ("forty.toml", "forty.toml:4: a hypercube has a dimension from 1 to 24, this one has 40"),
        (
            "gray.toml --set allocator=multiple_gray_code",
            "--set allocator=multiple_gray_code: `multiple_gray_code` has C(n, n/2) codes and works up to \
             dimension 20, this hypercube has dimension 21",
        ),
        (
            "cube.toml --set allocator=mss --set allocator.exact_up_to=6",
            "--set allocator.exact_up_to=6: `allocator.exact_up_to` is 6, but must be a whole number from 0 to 5",
        ),
        (
            "cube.toml --set allocator={name=\"paging\",page=5}",
            "--set allocator={name=\"paging\",page=5}: a page of dimension 5 is larger than the machine, a \
             hypercube of dimension 4: `page` is at most 4 here",
        ),
        (
            "cube.toml --set workload.sizes={name=\"constant\",value=5}",
            "--set workload.sizes={name=\"constant\",value=5}: the smallest size of `workload.sizes` is 5, \
             but the largest subcube of the machine has dimension 4",
        ),
    ] {
        assert_eq!(sentence(&run(&folder, arguments).refused()), expected, "{arguments}");
    }
    for (arguments, beginning) in [
        (
            "mesh.toml",
            "mesh.toml:1: the allocator `buddy` serves hypercube, but the machine is a 2 × 2 × 2 × 2 mesh \
             (which first_fit, ",
        ),
        (
            "flat.toml --set allocator=noncubic",
            "--set allocator=noncubic: the allocator `noncubic` serves hypercube, but the machine is a flat \
             machine of 16 processors (which naive",
        ),
    ] {
        let said = run(&folder, arguments).refused();
        assert!(sentence(&said).starts_with(beginning), "{said:?}");
    }
}

#[test]
fn a_subcube_that_is_larger_than_the_cube_is_refused_and_counted() {
    let folder = folder();
    let jobs = "submit,runtime,subcube\n0,5,2\n1,5,5\n2,5,4\n3,5,24\n";
    put(&folder, "jobs.csv", jobs);
    let (machine, _) = CUBE.split_once("[workload]").unwrap();
    let study = format!(
        "{machine}[workload]\nname = 'table'\npath = 'jobs.csv'\n\
         [measure]\nmetrics = ['finished', 'refused']\n"
    );
    put(&folder, "table.toml", study);
    for allocator in [
        "buddy",
        "modified_buddy",
        "gray_code",
        "multiple_gray_code",
        "free_list",
        "maximal_subcubes",
        "tree_collapsing",
        "prime_cube_graph",
        "noncubic",
    ] {
        let said =
            run(&folder, &format!("table.toml --json --set allocator={allocator}")).succeeded();
        let means = said.json();
        let mean = |metric: &str| means["metrics"][metric]["mean"].as_f64();
        assert_eq!((mean("finished"), mean("refused")), (Some(2.0), Some(2.0)), "{allocator}");
    }
}

#[test]
fn a_wrong_table_of_jobs_is_refused_before_the_first_run() {
    let folder = folder();
    let write = |name: &str, text: &str| put(&folder, name, text);
    write("jobs.csv", "submit,runtime,pieces,mem\n0,10,2,100\n5,10,2,100 GB\n");
    write("empty.csv", "");
    write("misspelt.csv", "submit,runtime,pieces,pernode\n0,10,2,1\n");
    let study = LOG.replace("name = 'swf'\npath = 'good.swf'", "name = 'table'\npath = 'jobs.csv'");
    write("table.toml", &study);
    for (arguments, begins) in [
        (
            "table.toml --out results",
            "table.toml:6: jobs.csv:3: `mem` is `100 GB`, but must be a number (in MiB, 100 GB is 102400)",
        ),
        (
            "table.toml --set workload.path=empty.csv",
            "--set workload.path=empty.csv: empty.csv: this file is empty, but must be a table of jobs",
        ),
        (
            "table.toml --set workload.path=misspelt.csv",
            "--set workload.path=misspelt.csv: misspelt.csv: unknown column `pernode` (did you mean \
             `per_node`?",
        ),
    ] {
        let said = run(&folder, arguments).refused();
        assert!(sentence(&said).starts_with(begins), "{said:?}");
    }
}

#[test]
fn a_block_that_is_wider_than_the_mesh_is_refused_and_counted() {
    let folder = folder();
    let write = |name: &str, text: &str| put(&folder, name, text);
    let good = "submit,runtime,block\n0,10,4x2\n1,10,4x3\n";
    write("good.csv", good);
    write("wide.csv", &format!("{good}2,10,5x1\n"));
    let study = LOG.replace("name = 'swf'\npath = 'good.swf'", "name = 'table'\npath = 'good.csv'");
    write("table.toml", &study);
    for allocator in ["first_fit", "boundary_search", "adaptive_scan", "busy_list", "buddy_2d"] {
        let means = |table: &str| -> serde_json::Value {
            let arguments = format!(
                "table.toml --json --set allocator={allocator} --set workload.path={table}"
            );
            let said = run(&folder, &arguments).succeeded();
            said.json()
        };
        let (good, wide) = (means("good.csv"), means("wide.csv"));
        assert_eq!(wide["metrics"]["refused"]["mean"], 1.0, "{allocator}");
        for same in ["wait", "finished"] {
            assert_eq!(wide["metrics"][same], good["metrics"][same], "{allocator}");
        }
    }
}

#[test]
fn an_allocator_that_does_not_suit_the_machine_is_refused_in_one_sentence() {
    let folder = folder();
    let study = DRAWN.replace("[4, 4]", "[4, 4, 4]");
    put(&folder, "deep.toml", study);
    for allocator in ["buddy_2d", "adaptive_scan", "quick_allocation"] {
        let said = run(&folder, &format!("deep.toml --set allocator={allocator}")).refused();
        let beginning = format!(
            "--set allocator={allocator}: the allocator `{allocator}` serves mesh of 2 dimensions, but \
             the machine is a 4 × 4 × 4 mesh (which first_fit, "
        );
        assert!(sentence(&said).starts_with(&beginning), "{said:?}");
        assert!(!sentence(&said).contains("quick_allocation,"), "it would not serve either");
    }
    for (setting, what) in [
        (
            "{name=\"weighted_boundary_search\",alpha=0}",
            "`allocator.alpha` is 0, but must be a number above 0",
        ),
        ("{name=\"wbsm\",alpha=-5}", "`allocator.alpha` is -5, but must be a number above 0"),
        (
            "{name=\"bsm\",rotation=\"sometimes\"}",
            "`allocator.rotation` is \"sometimes\", but must be one of never, if_needed, best",
        ),
        (
            "{name=\"tdb\",form=\"tree\"}",
            "`allocator.form` is \"tree\", but must be one of bitmap, lists",
        ),
    ] {
        let said = run(&folder, &format!("drawn.toml --set allocator={setting}")).refused();
        assert!(sentence(&said).contains(what), "{said:?}");
    }
}

#[test]
fn more_load_than_the_machine_can_carry_runs() {
    let folder = folder();
    run(&folder, "drawn.toml --set workload.load=5").succeeded();
}

#[test]
fn traces_and_lists_are_refused_in_one_sentence_too() {
    let folder = folder();
    let unwritten = call(&folder, "trace convert good.swf nowhere/out.swf").ended(1);
    let says = "nowhere/out.swf: this file cannot be written, because its folder does not exist";
    assert_eq!((sentence(&unwritten), unwritten.out.as_str()), (says, ""));
    for (arguments, expected) in [
        (
            "trace info letters.swf",
            "letters.swf:4: field 4 (run time) is `ten`, but must be a number",
        ),
        ("trace info directory", "directory: this is a directory, but must be a file"),
        ("trace convert none.swf out.swf", "none.swf: there is no such file"),
        (
            "trace convert good.swf out.swf --from 100",
            "good.swf: `from` is 100, which leaves no job: the first is submitted at 0, the last at 5",
        ),
        (
            "trace generate out.swf --jobs 1000000000000",
            "1000000000000 jobs are asked for, but must be from 1 to 10000000",
        ),
        (
            "trace generate out.swf --processors 100000000",
            "`lublin.processors` is 100000000, but must be a whole number from 1 to 16777216",
        ),
        ("trace fit none.swf", "none.swf: there is no such file"),
        (
            "trace fit good.swf",
            "good.swf: a model is fitted to 100 jobs or more, but the log has 2",
        ),
        (
            "trace fit letters.swf -o fitted.toml",
            "letters.swf:4: field 4 (run time) is `ten`, but must be a number",
        ),
        (
            "trace convert good.swf out.swf --set scale={load=0}",
            "`scale.load` is 0, but must be a number above 0, from 1e-15 to 1e15",
        ),
        (
            "list alocator",
            "unknown kind `alocator` (did you mean `allocator`? known: allocator, selector, pattern, order, machine, \
             traffic, workload, scheduler, network, topology and 8 more)",
        ),
        (
            "list selector frist_fit",
            "unknown selector `frist_fit` (did you mean `first_fit`? known: first_fit, best_fit, \
             fastest_first, adaptive, intelligent, least_loaded, random)",
        ),
        (
            "trace convert good.swf out.swf --set split_above=2",
            "`split_above` is 2, but must be a number from 0 to 1",
        ),
        (
            "trace convert good.swf out.swf --set usres=3",
            "unknown key `usres` (did you mean `users`? known: users, queues, runtime_scale, scale, shape, reorder, \
             resample, arrival_scale, name, from and 8 more)",
        ),
        (
            "trace convert good.swf out.swf --set dependencies=log",
            "`dependencies` says how jobs are replayed, and changes nothing of a log",
        ),
        (
            "check directory",
            "directory: there are no stored runs in this folder: give one that `meshwork run --out` wrote",
        ),
        ("show absent.toml", "absent.toml: there is no such file"),
    ] {
        assert_eq!(sentence(&call(&folder, arguments).refused()), expected, "{arguments}");
    }
    for (arguments, reason) in [
        (
            "--runtime-scale 0",
            "'0' for '--runtime-scale <X>': must be a number above 0 and at most 1e15",
        ),
        (
            "--arrival-scale nan",
            "'nan' for '--arrival-scale <X>': must be a number above 0 and at most 1e15",
        ),
        ("--from inf", "'inf' for '--from <T>': must be a number from 0 to 1e15"),
        ("--until 1e308", "'1e308' for '--until <T>': must be a number from 0 to 1e15"),
    ] {
        let said = call(&folder, &format!("trace convert good.swf out.swf {arguments}")).ended(2);
        said.err_begins(&format!("error: invalid value {reason}"));
    }
    assert!(!folder.join("out.swf").exists());
}

#[cfg(target_os = "linux")]
#[test]
fn jobs_that_can_follow_nobody_or_wait_for_one_another() {
    let folder = folder();
    let follows = |number: u32, lead: u32| {
        format!("{number} {number} -1 5 4 -1 -1 4 9 -1 1 1 1 -1 1 1 {lead} 60\n")
    };
    let circle: String =
        [(1, 3), (2, 1), (3, 2), (4, 3)].map(|(job, lead)| follows(job, lead)).concat();
    put(&folder, "circle.swf", circle);
    let said =
        run(&folder, "log.toml --set workload.path=circle.swf --set workload.dependencies=log");
    let sentence =
        "`workload.dependencies` is given, but job 1 follows job 3 follows job 2 follows job 1";
    assert!(said.err.contains(sentence) && said.status == Some(1), "{said:?}");
    for (arguments, sentence) in [
        (
            "drawn.toml --set workload.first_jobs=9 --set workload.dependencies=user",
            "the workload `synthetic` does not say after which others its jobs come",
        ),
        (
            "log.toml --set workload.dependencies=users",
            "unknown source of dependencies `users` (did you mean `user`? known: none, log, user)",
        ),
        (
            "log.toml --set workload.dependencies=log --set measure.metrics=[\"unfairness\"]",
            "with `workload.dependencies` that depends on how others are served",
        ),
        (
            "drawn.toml --set measure.metrics=[\"jain_wait\"]",
            "the jobs of the workload `synthetic` are nobody's",
        ),
        ("log.toml --set workload.deadlines.factor=0", "must be a number above 0"),
    ] {
        let said = run(&folder, arguments).ended(2);
        assert!(self::sentence(&said).contains(sentence), "{arguments}: {said:?}");
    }
}

#[test]
fn partitions_and_reservations_that_no_machine_can_have() {
    let folder = folder();
    for (arguments, sentence) in [
        (
            "log.toml --set machine.partitions=[{name='a',nodes='20-30'}]",
            "`machine.partitions[0].nodes` names node 30, but the machine has the nodes 0 to 15",
        ),
        (
            "log.toml --set machine.partitions=[{name='a',nodes='4,4:2x2'}]",
            "`machine.partitions[0].nodes` names the block 4,4:2x2, which does not lie on the 4 × 4 mesh",
        ),
        (
            "log.toml --set machine.partitions=[{name='a'},{name='a'}]",
            "there are two partitions \"a\"",
        ),
        (
            "log.toml --set machine.partitions=[{name='a',default=true},{name='b',default=true}]",
            "`machine.partitions[1].default` is true, but another partition is the default already",
        ),
        (
            "drawn.toml --set machine.partitions=[{name='a',nodes='0-3'}]",
            "no partition of `machine.partitions` has `default = true`, and the jobs of the workload `synthetic` \
             name none: all would go anywhere",
        ),
        (
            "log.toml --set machine.reservations=[{from=10,until=5,nodes='0-3',users=['1']}]",
            "`machine.reservations[0].until` is 5, but must be after 10, when it begins",
        ),
        (
            "log.toml --set machine.reservations=[{from=5,until=10,nodes='0-3'}]",
            "`machine.reservations[0].users` is missing: for whom the nodes are reserved, by the names that the \
             workload has for them (a list of texts in quotes)",
        ),
    ] {
        let said = run(&folder, arguments).ended(2);
        let found = self::sentence(&said);
        assert!(found.ends_with(sentence), "{arguments}: {found}");
    }
    // Empty lists leave the machine unchanged.
    let plain = run(&folder, "log.toml");
    let none = run(&folder, "log.toml --set machine.partitions=[] --set machine.reservations=[]");
    assert_eq!((none.status, &none.out), (Some(0), &plain.out));
}

#[test]
fn a_full_disk_under_standard_output_is_told() {
    let folder = folder();
    for arguments in [["run", "drawn.toml"], ["show", "drawn.toml"], ["list", "metric"]] {
        let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let output = command(&folder, &arguments).stdout(full).output().unwrap();
        let said = said(&output).ended(1);
        assert_eq!(sentence(&said), "standard output cannot be written, the disk is full");
    }
}

#[test]
fn a_reader_that_has_gone_is_no_error() {
    let folder = folder();
    let mut child = command(&folder, &["list", "--json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    said(&child.wait_with_output().unwrap()).succeeded();
}

/// If a disk is full, neither results nor finished runs are lost.
///
/// The disk of the test is a small tmpfs. Only root can mount it; without root the test is skipped.
#[cfg(target_os = "linux")]
#[test]
fn a_disk_that_fills_up_loses_no_result_and_no_finished_run() {
    let folder = folder();
    let study = DRAWN.replace("jobs = 50", "jobs = 500") + "[sweep]\nseed = [1, 2, 3, 4]\n";
    put(&folder, "many.toml", format!("replications = 50\n{study}"));
    let elsewhere = run(&folder, "many.toml --out elsewhere").ended(0);
    fs::create_dir(folder.join("small")).unwrap();
    // The script runs in a new mount namespace, so that the mount ends with its last process.
    let script = "mount -t tmpfs -o size=64k none small || exit 99
        \"$0\" run many.toml --out small/out; echo \"status $?\"
        rm -f small/out/experiment.toml; wc -l < small/out/runs.jsonl; tail -c 1 small/out/runs.jsonl | wc -l";
    let output = Command::new("unshare")
        .args(["--mount", "--map-root-user", "sh", "-c", script, env!("CARGO_BIN_EXE_meshwork")])
        .current_dir(&folder)
        .output();
    let Ok(output) = output else { return skip("tools", "there is no `unshare` here") };
    if output.status.code() != Some(0) {
        return skip("tools", "a small disk cannot be mounted here");
    }
    let said = said(&output);
    let lines: Vec<&str> = said.out.lines().collect();
    let at = lines.iter().position(|line| *line == "status 1").expect("it fails");
    // The printed results are complete, even if the disk is too small to store them.
    let table = |text: &str| text.split("\nwritten to").next().unwrap().to_owned();
    assert_eq!(table(&said.out), table(&elsewhere.out));
    let errors: Vec<&str> = said.err.lines().collect();
    assert_eq!(
        errors[0],
        "error: small/out/runs.jsonl: this file cannot be written, the disk is full"
    );
    let kept: usize = lines[at + 1].trim().parse().unwrap();
    assert!((1..200).contains(&kept), "{kept} runs are kept");
}

#[test]
fn what_takes_too_much_memory_is_refused_with_the_estimate_before_it_is_taken() {
    let folder = Scratch::new();
    let study = "machine = { topology = 'torus', dims = [256, 256, 128] }
        network = 'wormhole'
        workload = { name = 'lublin' }
        measure = { jobs = 5 }";
    put(&folder, "large.toml", study);
    for arguments in [
        "run large.toml --max-memory 2G",
        "watch large.toml --max-memory 2G --max-frames 1",
        "place --machine mesh:4096x4096 --max-memory 500M",
        "trace generate a.swf --jobs 10000000 --max-memory 1G",
    ] {
        let said = call(&folder, arguments).refused();
        let limit = format!(
            "more than the {}",
            if arguments.starts_with("place") { "500 MiB" } else { "" }
        );
        assert!(said.err.contains("about ") && said.err.contains(&limit), "{}", said.err);
        said.err_has("of `--max-memory`");
    }
    let seeds: Vec<String> = (0..1000).map(|seed| seed.to_string()).collect();
    let seeds = seeds.join(",");
    let many = format!("[sweep]\nseed = [{seeds}]\n'workload.jobs' = [{seeds}]");
    put(&folder, "many.toml", many);
    let said = call(&folder, "run many.toml --max-memory 1G").ended(2);
    said.err_has("the 1000000 scenarios of `[sweep]` take about 13 GiB");
    // The limit also covers the memory for logs and tables, and for the results of many runs.
    let rows: String = (0..50_000).map(|i| format!("{i},5,1\n")).collect();
    put(&folder, "jobs.csv", format!("submit,runtime,nodes\n{rows}"));
    let log: String = (1..50_000).map(|i| line(i, i, 5, 1, 5)).collect();
    put(&folder, "log.swf", log);
    let of = |workload: &str| {
        format!(
            "machine = {{ topology = 'flat', processors = 4 }}\n\
             workload = {{ {workload} }}\nmeasure = {{ jobs = 5, metrics = ['wait'] }}"
        )
    };
    let drawn = "name = 'synthetic', load = 0.5, sizes = 'uniform', \
                 runtimes = { name = 'exponential', mean = 1.0 }";
    for (text, sentence) in [
        (
            of("name = 'table', path = 'jobs.csv'"),
            "the 50001 rows of jobs.csv, which are held at once, take",
        ),
        (
            of("name = 'swf', path = 'log.swf', shuffle = true"),
            "the 49999 rows of log.swf, which are held",
        ),
        (
            format!("replications = 100000\n{}", of(drawn)),
            "the results of 100000 runs take about 11 MiB",
        ),
        (
            format!("precision = 1e-300\nmax_replications = 100000\n{}", of(drawn)),
            "the results of 100000 runs take about 11 MiB",
        ),
    ] {
        put(&folder, "held.toml", text);
        call(&folder, "run held.toml --max-memory 5M").refused().err_has(sentence);
    }
    put(&folder, "held.toml", of("name = 'swf', path = 'log.swf'"));
    let said = call(&folder, "run held.toml --max-memory 5M");
    assert_eq!(said.status, Some(0), "a log is read as it goes: {}", said.err);
    call(&folder, "run large.toml --max-memory much").ended(2).err_has("such as 4G");
}

#[test]
fn a_negative_number_is_refused_with_the_option_and_its_range() {
    let folder = folder();
    for (arguments, says) in [
        (
            "trace generate out.swf --jobs -3",
            "'-3' for '--jobs <N>': must be a whole number from 1",
        ),
        ("trace generate out.swf --load -0.5", "'-0.5' for '--load <X>': must be a number above 0"),
        (
            "trace convert good.swf out.swf --arrival-scale -1",
            "'-1' for '--arrival-scale <X>': must be a number above 0",
        ),
        ("ops compare site x.yaml --cleanup -3", "'-3' for '--cleanup <SECONDS>': must be a whole"),
    ] {
        call(&folder, arguments).ended(2).err_has(says);
    }
}

#[test]
fn a_wrong_path_of_a_site_or_of_an_output_is_found_before_any_work() {
    let folder = folder();
    for (arguments, expected) in [
        (
            "ops fidelity good.swf",
            "good.swf: this is a file, but the folder of a site is needed, as `meshwork ops import` writes it",
        ),
        (
            "ops compare site x.yaml --report nowhere/x.html",
            "nowhere/x.html: this file cannot be written, because its folder does not exist",
        ),
        (
            "ops fidelity site --starts nowhere/starts.csv",
            "nowhere/starts.csv: this file cannot be written, because its folder does not exist",
        ),
        (
            "ops propose site -o nowhere/x.yaml",
            "nowhere/x.yaml: this file cannot be written, because its folder does not exist",
        ),
    ] {
        assert_eq!(sentence(&call(&folder, arguments).ended(2)), expected, "{arguments}");
    }
}
