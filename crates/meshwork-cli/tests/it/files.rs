//! Tests of files whose names the user gives, as input or as output.
//!
//! They check which files are replaced, where files are looked up, and how much of a file is read.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::common::{Said, Scratch, call, examples, meshwork, put, read, skip};

const GENERATE: [&str; 6] = ["trace", "generate", "--jobs", "20", "--processors", "16"];

fn generate(folder: &Path, output: &str) -> Said {
    meshwork(folder, &[&GENERATE[..], &["--replace", output]].concat())
}

#[test]
fn no_file_is_replaced_unless_that_is_asked_for() {
    let folder = Scratch::new();
    generate(&folder, "log.swf").ended(0);
    put(&folder, "mine.swf", "mine");
    for arguments in [
        &[&GENERATE[..], &["mine.swf"]].concat()[..],
        &["trace", "convert", "log.swf", "mine.swf"],
        &["trace", "fit", "log.swf", "--output", "mine.swf"],
        &["ops", "propose", "nowhere", "--out", "mine.swf"],
    ] {
        meshwork(&folder, arguments).refused().err_is(
            "error: mine.swf: there is such a file already, and it stays as it is: name another, or \
             give `--replace`\n",
        );
        assert_eq!(read(&folder, "mine.swf"), "mine");
    }
    call(&folder, "trace convert log.swf mine.swf --replace").ended(0);
    put(&folder, "empty.swf", "");
    assert_eq!(generate(&folder, "empty.swf").status, Some(0), "nothing is lost");
}

#[test]
fn a_page_or_table_replaces_only_one_of_its_kind() {
    let folder = two_studies();
    put(&folder, "mine.html", "mine");
    for arguments in [
        &["report", "results", "-o", "mine.html"][..],
        &["ops", "compare", "nowhere", "a.yaml", "--report", "mine.html"],
        &["ops", "fidelity", "nowhere", "--starts", "mine.html"],
    ] {
        meshwork(&folder, arguments).refused().err_is(
            "error: mine.html: there is such a file already, which this command did not write, and it \
             stays as it is: name another\n",
        );
        assert_eq!(read(&folder, "mine.html"), "mine");
    }
    for _ in 0..2 {
        done(&folder, &["report", "results", "-o", "page.html"]);
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_folder_that_takes_nothing_is_named() {
    let folder = two_studies();
    let said = call(&folder, "run one.toml --out /proc/results");
    assert_eq!(
        (said.status, said.err.as_str()),
        (
            Some(2),
            "error: /proc/results: this folder cannot be written (nothing new can be made in /proc)\n"
        )
    );
}

#[test]
#[cfg(unix)]
fn a_device_stays_a_device() {
    use std::os::unix::fs::FileTypeExt as _;
    let folder = Scratch::new();
    let path = folder.join("null");
    // The device gets the device number of /dev/null.
    let made = Command::new("mknod").arg(&path).args(["c", "1", "3"]).output();
    if !made.is_ok_and(|made| made.status.success()) || fs::write(&path, "x").is_err() {
        skip("tools", "no device can be made here: that takes the rights of root");
        return;
    }
    generate(&folder, "null").succeeded();
    assert!(fs::metadata(&path).unwrap().file_type().is_char_device());
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 1, "nothing is left beside it");
}

#[test]
#[cfg(unix)]
fn a_pipe_is_written_to() {
    use std::os::unix::fs::FileTypeExt as _;
    let folder = Scratch::new();
    let path = folder.join("pipe");
    assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
    let reader = std::thread::spawn({
        let path = path.clone();
        move || fs::read_to_string(path).unwrap()
    });
    generate(&folder, "pipe").succeeded();
    assert!(generate(&folder, "log.swf").status == Some(0));
    assert_eq!(reader.join().unwrap(), read(&folder, "log.swf"));
    assert!(fs::metadata(&path).unwrap().file_type().is_fifo());
}

#[test]
#[cfg(unix)]
fn of_a_link_the_target_is_replaced_whether_it_is_there_or_not() {
    use std::os::unix::fs::symlink;
    let folder = Scratch::new();
    fs::create_dir(folder.join("far")).unwrap();
    put(&folder, "far/old.swf", "old");
    symlink("far/old.swf", folder.join("one.swf")).unwrap();
    symlink("one.swf", folder.join("two.swf")).unwrap();
    symlink("far/new.swf", folder.join("new.swf")).unwrap();
    symlink("nowhere/new.swf", folder.join("lost.swf")).unwrap();
    symlink("circle.swf", folder.join("circle.swf")).unwrap();
    for link in ["two.swf", "new.swf"] {
        generate(&folder, link).succeeded();
        assert!(fs::symlink_metadata(folder.join(link)).unwrap().is_symlink(), "{link}");
        assert!(read(&folder, link).lines().count() > 20, "{link}");
    }
    assert!(fs::symlink_metadata(folder.join("one.swf")).unwrap().is_symlink());
    assert_eq!(fs::read_dir(folder.join("far")).unwrap().count(), 2, "and nothing else");
    for (link, sentence) in [
        ("lost.swf", "this file cannot be written, because its folder does not exist"),
        ("circle.swf", "this file cannot be written (its links lead in a circle)"),
    ] {
        generate(&folder, link).ended(1).err_is(&format!("error: {link}: {sentence}\n"));
        assert!(fs::symlink_metadata(folder.join(link)).unwrap().is_symlink());
    }
}

const STUDY: &str = "[machine]\ntopology = 'mesh'\ndims = [4, 4]\n\
                     [workload]\nname = 'synthetic'\nload = 0.5\nsizes = 'uniform'\n\
                     runtimes = { name = 'exponential', mean = 5.0 }\n\
                     [measure]\njobs = 50\nmetrics = ['wait']\n";

fn two_studies() -> Scratch {
    let folder = Scratch::with("one.toml", STUDY);
    put(&folder, "other.toml", format!("# Another.\n{STUDY}"));
    put(&folder, "named.toml", format!("name = 'one'\n{STUDY}"));
    call(&folder, "run one.toml --out results").succeeded();
    folder
}

#[test]
fn the_results_of_another_study_are_not_replaced_unless_that_is_asked_for() {
    let folder = two_studies();
    let results = folder.join("results");
    let read = |name: &str| fs::read(results.join(name)).unwrap();
    let kept = ["experiment.toml", "asked.toml", "runs.jsonl", "summary.csv"];
    let before = kept.map(read);
    for (more, way) in [
        (
            &[][..],
            "folder, or `--replace` (from Python `replace=True`) to have the tables of this one there and keep all runs",
        ),
        (&["--shard", "0/1"], "`--out`"),
    ] {
        let said = meshwork(&folder, &[&["run", "other.toml", "--out", "results"], more].concat())
            .refused();
        said.err_is(&format!(
            "error: results: this folder holds the study `one`, and this one is `other`: give \
                 another {way}\n"
        ));
        assert_eq!(kept.map(read), before);
    }
    call(&folder, "submit other.toml --out results --engine slurm")
        .err_has("this folder holds the study `one`");
    assert_eq!(kept.map(read), before);
    // Four ways to continue the study `one` in its folder: from a file of another name, with more
    // replications, from the results folder itself, and with a sweep.
    for study in [
        &["named.toml", "--set", "replications=2"][..],
        &["one.toml", "--set", "replications=3"],
        &["results/experiment.toml"],
        &["one.toml", "--set", "sweep.scheduler=['fcfs', 'easy']"],
    ] {
        meshwork(&folder, &[&["run", "--out", "results"], study].concat()).ended(0);
    }
    let runs = || fs::read_to_string(results.join("runs.jsonl")).unwrap().lines().count();
    let all = runs();
    call(&folder, "run other.toml --out results --replace").ended(0).err_has("its runs are kept");
    assert_eq!(runs(), all, "its only run is one of those, and the others are kept");
    call(&folder, "run one.toml --out results").err_has("this folder holds the study `other`");
}

#[test]
fn a_table_that_no_study_wrote_is_not_replaced() {
    let folder = two_studies();
    fs::create_dir(folder.join("mine")).unwrap();
    put(&folder, "mine/summary.csv", "mine");
    call(&folder, "run one.toml --out mine").ended(2).err_is(
        "error: mine: the file summary.csv in this folder is of no study: give another folder, \
         or `--replace` (from Python `replace=True`) to lose it\n",
    );
    assert_eq!(fs::read_dir(folder.join("mine")).unwrap().count(), 1);
    call(&folder, "run one.toml --out mine --replace").ended(0);
}

/// Folder with two subfolders: `home`, with all files of a Slurm machine's study, and `elsewhere`.
fn production() -> Scratch {
    let folder = Scratch::new();
    let home = folder.join("home");
    fs::create_dir_all(home.join("site")).unwrap();
    fs::create_dir(folder.join("elsewhere")).unwrap();
    let read = |name: &str| fs::read_to_string(examples().join(name)).unwrap();
    let study = read("production.toml")
        .replace("\"topology.yaml\"", "\"site/topology.yaml\"")
        .replace("\"slurm.conf\"", "\"site/slurm.conf\"")
        .replace("jobs = 2200", "jobs = 60")
        .replace("warmup_jobs = 200", "warmup_jobs = 10");
    put(&home, "production.toml", study);
    put(&home, "site/topology.yaml", read("topology.yaml"));
    // All of `slurm.conf` comes from an included file.
    put(&home, "site/nodes.conf", read("slurm.conf"));
    put(&home, "site/slurm.conf", "Include nodes.conf\n");
    folder
}

fn done(folder: &Path, arguments: &[&str]) -> Said {
    meshwork(folder, arguments).ended(0)
}

#[test]
fn a_study_of_a_slurm_machine_has_what_it_needs_in_its_folder() {
    let folder = production();
    let (home, elsewhere) = (folder.join("home"), folder.join("elsewhere"));
    let whole = done(&home, &["run", "production.toml", "--out", "../results"]).out;
    // The first two of three shards run while the files exist, the third without them.
    let shard = |folder: &Path, study: &str, shard: &str| {
        done(folder, &["run", study, "--out", "../shared", "--shard", shard]);
    };
    shard(&home, "production.toml", "0/3");
    shard(&elsewhere, "../shared/experiment.toml", "1/3");
    fs::rename(home.join("site"), home.join("gone")).unwrap();
    shard(&elsewhere, "../shared/experiment.toml", "2/3");
    done(&elsewhere, &["collect", "../shared"]);
    done(&elsewhere, &["status", "../shared"]);
    let summary = |name: &str| fs::read_to_string(folder.join(name).join("summary.csv"));
    assert_eq!(summary("shared").unwrap(), summary("results").unwrap());
    done(&elsewhere, &["report", "../results", "-o", "page.html"]);
    done(
        &elsewhere,
        &["ops", "explain", "../results", "--run", "1", "--at", "300", "--shape", "1"],
    );
    done(&elsewhere, &["check", "../results"]);
    let again = done(&elsewhere, &["run", "../results/experiment.toml", "--out", "../again"]);
    assert_eq!(again.out.replace("../again", "../results"), whole);
    done(&elsewhere, &["report", "../again"]);
    // Run from its original file, the study reads the files of its machine again, even if all runs
    // are stored.
    call(&home, "run production.toml --out ../results")
        .err_has("site/topology.yaml: there is no such file");
}

#[test]
fn a_study_with_a_list_of_partitions_has_it_in_its_folder() {
    let folder = Scratch::new();
    let home = folder.join("home");
    fs::create_dir(&home).unwrap();
    let study = STUDY
        .replace(
            "[machine]\ntopology = 'mesh'\ndims = [4, 4]\n",
            "[machine]\ntopology = 'flat'\nprocessors = 8\n",
        )
        .replace("[workload]", "[allocator]\nname = 'partitions'\nlist = 'places.txt'\n[workload]");
    put(&home, "study.toml", study);
    put(&home, "places.txt", "cards 4 a b\nleft: a\nright: b\nall: a b\n");
    done(&home, &["run", "study.toml", "--out", "../results"]);
    fs::remove_file(home.join("places.txt")).unwrap();
    done(&folder, &["report", "results"]);
    done(&folder, &["run", "results/experiment.toml", "--out", "again"]);
}

#[test]
fn an_import_replaces_only_what_an_import_wrote() {
    let folder = Scratch::new();
    let copy = |name: &str, to: &str| fs::copy(examples().join(name), folder.join(to)).unwrap();
    copy("topology.yaml", "topology.yaml");
    copy("slurm.conf", "slurm.conf");
    put(
        &folder,
        "sacct.txt",
        "JobIDRaw|JobID|User|Submit|Start|End|State|NNodes|NodeList\n\
         1|1|=1+2|1000|1001|1010|COMPLETED|1|\n",
    );
    let files = ["--sacct", "sacct.txt", "--topology", "topology.yaml", "--conf", "slurm.conf"];
    let import = || meshwork(&folder, &[&["ops", "import", "-o", "site"], &files[..]].concat());
    fs::create_dir(folder.join("site")).unwrap();
    put(&folder, "site/jobs.csv", "submit,runtime,nodes\n0,5,2\n");
    import().ended(2).err_is(
        "error: site: this folder has something else in it: a site goes into a folder of its own\n",
    );
    assert_eq!(fs::read_dir(folder.join("site")).unwrap().count(), 1);
    fs::remove_file(folder.join("site/jobs.csv")).unwrap();
    for _ in 0..2 {
        import().ended(0);
    }
    let jobs = read(&folder, "site/jobs.csv");
    assert!(jobs.contains(",'=1+2,"), "a spreadsheet must not compute it: {jobs}");
    put(&folder, "site/jobs.csv", jobs.replace("1010", "1011"));
    import().ended(2).err_is(
        "error: site: jobs.csv in this folder is not as an import wrote it, and would be lost: \
         give another folder, or \
         move it away\n",
    );
    assert!(read(&folder, "site/jobs.csv").contains("1011"));
    // A site of an earlier version has no digests of its files. So an import replaces it unchecked.
    put(&folder, "site/quality.json", "{\"stays\": 1}");
    import().ended(0);
}

#[test]
#[cfg(unix)]
fn no_file_is_read_without_end() {
    let folder = Scratch::new();
    let vast = fs::File::create(folder.join("vast")).unwrap();
    vast.set_len(3 << 30).unwrap();
    fs::copy(examples().join("topology.yaml"), folder.join("topology.yaml")).unwrap();
    let study = |name: &str, machine: &str, more: &str| {
        let text = STUDY.replace("topology = 'mesh'\ndims = [4, 4]", machine);
        put(&folder, name, format!("{text}{more}"));
    };
    study("slurm.toml", "slurm = 'vast'", "");
    study("device.toml", "slurm = '/dev/zero'", "");
    study("conf.toml", "slurm = 'topology.yaml'\nconf = 'vast'", "");
    study(
        "list.toml",
        "topology = 'flat'\nprocessors = 8",
        "[allocator]\nname = 'partitions'\nlist = './vast'\n",
    );
    study("trace.toml", "topology = 'mesh'\ndims = [4, 4]", "[failures]\ntrace = 'vast'\n");
    let table = "[workload]\nname = 'table'\npath = 'vast'\n[measure]\nmetrics = ['wait']\n";
    put(
        &folder,
        "table.toml",
        format!("machine = {{ topology = 'flat', processors = 8 }}\n{table}"),
    );
    let machine = ["place", "--machine", "flat:8"];
    let import = ["ops", "import", "-o", "site", "--topology", "topology.yaml"];
    let too_long = "vast: this file is too long: at most 64 MiB are read of it";
    let too_many = "vast: this file is too long: at most 1024 MiB are read of it";
    for (arguments, sentence) in [
        (&["run", "vast"][..], too_long),
        (&["run", "/dev/zero"], "/dev/zero: this is a device, but must be a file"),
        (&["run", "slurm.toml"], too_long),
        (
            &["run", "device.toml"],
            "/dev/zero: this is not a regular file, and every run reads it anew",
        ),
        (&["run", "conf.toml"], too_long),
        (&["run", "list.toml"], too_long),
        (&["run", "trace.toml"], "a line has more than a million bytes"),
        (&["run", "table.toml"], "a line has more than a million bytes"),
        (&["place", "--slurm", "vast"], too_long),
        (&["place", "--slurm", "/dev/zero"], "/dev/zero: this is a device, but must be a file"),
        (&["place", "--slurm", "topology.yaml", "--conf", "vast"], too_long),
        (&[&machine[..], &["--state", "vast"]].concat(), too_many),
        (&["ops", "check", "vast"], too_long),
        (&[&import[..], &["--sacct", "vast"]].concat(), too_many),
        (
            &[&import[..], &["--sacct", "/dev/zero"]].concat(),
            "/dev/zero: this is a device, but must be a file",
        ),
        (&[&import[..], &["--swf", "vast"]].concat(), too_many),
        (&["ops", "import", "-o", "site", "--kueue", "vast"], too_many),
        (&["ops", "explain", "vast", "1", "--topology", "topology.yaml"], too_many),
    ] {
        let said = meshwork(&folder, arguments);
        assert!(
            said.err.starts_with("error: ")
                && said.err.contains(sentence)
                && said.err.lines().count() == 1,
            "{arguments:?}: {said:?}"
        );
        assert!(matches!(said.status, Some(1 | 2)), "{arguments:?}: {said:?}");
    }
}

#[test]
fn names_that_a_spreadsheet_would_compute_are_text_in_tables_and_themselves_when_read_again() {
    let folder = Scratch::new();
    let user = "=HYPERLINK(\"x\")";
    put(
        &folder,
        "jobs.csv",
        format!(
            "submit,runtime,nodes,user\n0,5,2,\"'{}\"\n1,5,2,-7\n2,5,2,@bo\n",
            user.replace('"', "\"\"")
        ),
    );
    put(
        &folder,
        "study.toml",
        "machine = { topology = 'flat', processors = 8 }\n[workload]\nname = 'table'\npath = \
         'jobs.csv'\n\
         [measure]\nmetrics = ['wait']\nby_user = true\n",
    );
    let said = done(&folder, &["run", "study.toml", "--out", "results"]);
    assert!(said.out.contains(&format!("{user} ")) && !said.out.contains("'="), "{}", said.out);
    let table = read(&folder, "results/by_user.csv");
    assert!(table.contains("\n\"'=HYPERLINK(\"\"x\"\")\","), "{table}");
    assert!(table.contains("\n-7,") && table.contains("\n'@bo,"), "{table}");
}
