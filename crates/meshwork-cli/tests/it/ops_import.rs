//! Tests of `meshwork ops import`, called as an operator calls it.

use std::fs;
use std::path::{Path, PathBuf};

use crate::common::{Said, Scratch, call, meshwork, put, read, skip};
use meshwork_lab::slurm::folder::Folder;
use meshwork_slurm::history::JobRecord;
use serde_json::{Value as Json, json};

/// Ring of eight nodes with blocks of one, two and four nodes.
const TOPOLOGY: &str = "- topology: row
  torus3d:
    toruses:
      - name: row
        dims: {x: 8, y: 1, z: 1}
        nodes: n[0-7]
        placements:
          - dims: {x: 1, y: 1, z: 1}
          - dims: {x: 2, y: 1, z: 1}
          - dims: {x: 4, y: 1, z: 1}
";
const CONF: &str =
    "NodeName=n[0-7] CPUs=2\nPartitionName=main Nodes=ALL Default=YES Topology=row\n";

/// Accounting records of two tasks of an array, and of six other jobs.
///
/// One of the six was requeued, one has a segment and steps, and one was refused. One was cancelled
/// while pending, one is pending, and one completed.
const SACCT: &str = "JobIDRaw|JobID|User|Partition|Submit|Eligible|Start|End|State|TimelimitRaw|NNodes|ReqNodes|NodeList|SegmentSize|Exclusive|AllocTRES|Priority|Flags|SubmitLine
101|100_0|ada|main|1000|1000|1001|1010|COMPLETED|1|2|2|n[0-1]||NODE|cpu=4,node=2|9|SchedMain|sbatch -N2 --array=0-1 a.sh
100|100_1|ada|main|1000|1000|1001|1012|COMPLETED|1|2|2|n[2-3]||NODE|cpu=4,node=2|9|SchedMain|sbatch -N2 --array=0-1 a.sh
102|102|bo|main|1002|1002|1003|1005|NODE_FAIL|1|4|4|n[4-7]||NODE|cpu=8,node=4|8|SchedMain|sbatch -N4 b.sh
102|102|bo|main|1005|1126|1127|1140|COMPLETED|1|4|4|n[0-3]||NODE|cpu=8,node=4|8|SchedBackfill|sbatch -N4 b.sh
103|103|cy|main|1006|1006|1006|1020|COMPLETED|1|4|4|n[4-5,0-1]|2|NODE|cpu=8,node=4|8|SchedMain|sbatch -N4 --segment=2 a|b.sh
103.batch|103.batch||||1006|1006|1020|COMPLETED||1||n4||||||
103.0|103.0||||1006|1006|1019|COMPLETED||4||n[4-5,0-1]||||||
104|104|cy|main|1007|1007|None|1007|FAILED|1|3|3|None assigned||NODE||8||sbatch -N3 c.sh
105|105|cy|main|1008|1008|None|1009|CANCELLED by 7|1|2|2|None assigned||NODE||8||sbatch -N2 c.sh
106|106|di|main|1130|1130|Unknown|Unknown|PENDING|1|4|4|None assigned||NODE||8||sbatch -N4 d.sh
107|107|di|main|1131|1131|1131|1139|COMPLETED|1|2|2|n[5-6]||NODE|cpu=4,node=2|8|SchedMain|sbatch -N2 d.sh
";

fn folder(sacct: &str) -> Scratch {
    let folder = Scratch::with("topology.yaml", TOPOLOGY);
    put(&folder, "slurm.conf", CONF);
    put(&folder, "sacct.txt", sacct);
    folder
}

fn import(folder: &Path, more: &[&str]) -> Said {
    let fixed = "ops import --sacct sacct.txt --topology topology.yaml --conf slurm.conf -o site";
    meshwork(folder, &[&fixed.split(' ').collect::<Vec<_>>(), more].concat())
}

fn quality(folder: &Path, more: &[&str]) -> Json {
    import(folder, &[&["--json"], more].concat()).ended(0).json()
}

fn turned(text: &str) -> String {
    let columns = text.lines().next().unwrap().split('|').count();
    let turned = text.lines().map(|line| {
        let fields: Vec<&str> = line
            .splitn(columns, '|')
            .map(|field| if field.contains('|') { "x" } else { field })
            .collect();
        fields.into_iter().rev().collect::<Vec<_>>().join("|")
    });
    turned.collect::<Vec<_>>().join("\n")
}

#[test]
fn jobs_steps_arrays_and_what_is_queued_again_are_told_apart() {
    let folder = folder(SACCT);
    let json = quality(&folder, &[]);
    for (key, value) in [
        ("rows", json!(11)),
        ("steps", json!(2)),
        ("jobs", json!(8)),
        ("stays", json!(9)),
        ("requeued", json!(1)),
        ("arrays", json!(1)),
        ("array_tasks", json!(2)),
        ("rejected", json!(1)),
        ("cancelled_waiting", json!(1)),
        ("placed", json!(6)),
        ("placements", json!(5)),
        ("single", json!(4)),
        ("unions", json!(1)),
        ("warnings", json!([])),
        ("first", json!(1000)),
        ("last", json!(1140)),
    ] {
        assert_eq!(json[key], value, "{key} of {json:#}");
    }
    assert_eq!(
        json["states"],
        json!({ "CANCELLED": 1, "COMPLETED": 5, "FAILED": 1, "NODE_FAIL": 1, "PENDING": 1 })
    );
    let jobs = read(&folder, "site/jobs.csv");
    assert_eq!(jobs.lines().count(), 10, "{jobs}");
    assert!(
        jobs.contains("\n102,2,bo,,main,,COMPLETED,1005,1126,1127,1140,60,4,n[0-3],8,node,,"),
        "{jobs}"
    );
    assert!(jobs.contains(",\"n[4-5,0-1]\",8,node,2,"), "{jobs}");
    for kept in ["topology.yaml", "slurm.conf", "quality.json"] {
        assert!(folder.join("site").join(kept).is_file(), "{kept}");
    }
    let said = import(&folder, &[]).succeeded();
    said.out_has("5 of 6 node lists are places of the lists (83.3 %)");
    said.out_has("sacct.txt, line 12: the nodes of job 107, n[5-6], are no place of the lists");
}

#[test]
fn columns_may_stand_in_any_order_and_times_in_both_forms() {
    let same = folder(SACCT);
    let (first, table) = (quality(&same, &[]), |folder: &Path| read(folder, "site/jobs.csv"));
    let other = folder(&turned(SACCT));
    assert_eq!(quality(&other, &[])["states"], first["states"]);
    assert_eq!(table(&other), table(&same));

    // 1000 s are 16 min 40 s.
    let date = |seconds: i64| {
        format!("1970-01-01T{:02}:{:02}:{:02}", 1 + seconds / 3600, seconds / 60 % 60, seconds % 60)
    };
    let as_dates: String = SACCT
        .lines()
        .map(|line| {
            let fields = line.split('|').map(|field| match field.parse::<i64>() {
                Ok(seconds) if (1000..2000).contains(&seconds) => date(seconds),
                _ => field.to_owned(),
            });
            fields.collect::<Vec<_>>().join("|") + "\n"
        })
        .collect();
    let dates = folder(&as_dates);
    let json = quality(&dates, &["--time-zone", "+01:00"]);
    assert_eq!((&json["warnings"], &json["zone_is_assumed"]), (&json!([]), &json!(false)));
    assert_eq!(table(&dates), table(&same));
    let json = quality(&dates, &[]);
    assert_eq!(json["first"], json!(4600), "taken to be in UTC");
    assert_eq!(json["warnings"][0]["line"], json!(2));
    let says = json["warnings"][0]["says"].as_str().unwrap();
    let beginning = "dates are written without a time zone, and taken to be in UTC";
    assert!(says.starts_with(beginning), "{says}");
}

#[test]
fn what_is_wrong_with_a_history_is_said_in_one_sentence_with_its_line() {
    let header = SACCT.lines().next().unwrap();
    let few = "JobID|Submit|Start|End|NNodes|NodeList";
    for (sacct, status, says) in [
        (String::new(), 2, "error: sacct.txt: this file is empty"),
        (format!("{header}\n"), 2, "error: sacct.txt, line 1: there is no job in this history"),
        (
            format!("{few}\n1.batch|1|2|3|1|n0\n"),
            2,
            "error: sacct.txt, line 1: there is no job in this history",
        ),
        (
            "JobID|Submit|Start|NNodes\n".to_owned(),
            2,
            "error: sacct.txt, line 1: the column End is missing: nothing can be replayed",
        ),
        ("1|2|3\n".to_owned(), 2, "error: sacct.txt, line 1: `1|2|3` names no column JobID"),
        (
            format!("{few}\n1|1|2|3|1\n"),
            2,
            "error: sacct.txt, line 2: this record has 5 fields, but the header names 6",
        ),
        (
            format!("{few}\n1|1|soon|3|1|n0\n"),
            2,
            "error: sacct.txt, line 2: Start is `soon`, but must be seconds since 1970 or a date",
        ),
        (
            format!("{few}\n1|1|2|3|1|n[0\n"),
            2,
            "error: sacct.txt, line 2: the list `n[0` has a bracket that is not closed",
        ),
        (
            format!("{few}\n1|1|2|3|1|n0\n2|5|9|7|1|n0\n"),
            0,
            "warning: sacct.txt, line 3: the times of job 2 run backwards: it starts at 9 and ends at 7; it is left out",
        ),
        (
            format!("{few}\n1|1|2|3|1|n0\n2|5|4|7|1|n0\n"),
            0,
            "warning: sacct.txt, line 3: the times of job 2 run backwards: it is submitted at 5 and starts at 4",
        ),
        (
            format!("{few}\n1|1|2|3|1|n0\n2|2|4|7|1|n0\n3|1|4|9999|1|n1\n"),
            0,
            "warning: sacct.txt, line 4: job 3 runs for 9995 s, longer than the rest of the history, 6 s",
        ),
        (
            format!("{few}\n1|1|2|3|1|x9\n"),
            0,
            "warning: sacct.txt, line 2: the machine has no node x9",
        ),
        (
            format!("{few}\n1|1|2|3|1|n0\n"),
            0,
            "warning: sacct.txt, line 1: the columns TimelimitRaw and Timelimit are both missing: it cannot be said what backfill might plan",
        ),
        (
            "JobID|Submit|Start|End|NNodes\n1|1|2|3|1\n".to_owned(),
            0,
            "warning: sacct.txt, line 1: the column NodeList is missing: it cannot be said which nodes a job had",
        ),
    ] {
        let folder = folder(&sacct);
        let said = import(&folder, &[]).ended(status);
        assert!(
            said.err.lines().any(|line| line.starts_with(says)),
            "{sacct}\n{says}\n{}",
            said.err
        );
    }
}

#[test]
fn a_bar_in_a_text_of_a_user_costs_no_more_than_its_record() {
    let header = "JobIDRaw|JobID|JobName|User|Submit|Start|End|State|NNodes|NodeList|SubmitLine";
    let record = |id: u32, name: &str, line: &str| {
        format!("{id}|{id}|{name}|ada|1000|1001|1010|COMPLETED|2|n[0-1]|{line}\n")
    };
    let whole: String = (1..20).map(|id| record(id, "a", "sbatch -N2 a.sh")).collect();
    // One or both of the texts contain bars, the separator of the columns. The columns of times
    // between the two texts tell where each text ends.
    let barred = [("x|y", "b"), ("x", "b|c"), ("x|y", "-J x|y b"), ("||x||", "-J ||x|| b|c")];
    let barred: String =
        (20..).zip(barred).map(|(id, (name, line))| record(id, name, line)).collect();
    let own = folder(&format!("{header}\n{whole}{barred}"));
    let json = quality(&own, &[]);
    assert_eq!(
        [&json["jobs"], &json["repaired"], &json["skipped"]],
        [23, 3, 0].map(Json::from).each_ref(),
        "{json:#}"
    );
    let jobs = read(&own, "site/jobs.csv");
    assert_eq!(jobs.lines().filter(|line| line.contains(",1,ada,,")).count(), 23, "{jobs}");
    // A record with too many cells is skipped if no text column may hold a bar, and so is a
    // truncated record. The first five skipped records are named.
    let few = "JobID|Submit|Start|End|NNodes|NodeList";
    let torn: String = (2..9).map(|id| format!("{id}|1|x|2|3|1|n0|n1\n")).collect();
    let own = folder(&format!("{few}\n1|1|2|3|1|n0\n{torn}9|1|2|3|1\n"));
    let said = import(&own, &["--json"]).ended(0);
    let json = said.json();
    assert_eq!((&json["jobs"], &json["skipped"]), (&json!(1), &json!(8)), "{json:#}");
    let named: Vec<&str> =
        said.err.lines().filter(|line| line.contains("this record has 8 fields")).collect();
    assert_eq!(named.len(), 5, "{}", said.err);
    assert!(
        named[0].starts_with("warning: sacct.txt, line 3: ")
            && named[0].ends_with("it is left out")
    );
    assert!(named[4].ends_with("it is left out, and 3 more like these"), "{}", named[4]);
}

#[test]
fn what_a_site_has_that_is_not_modelled_is_listed() {
    let header = "JobID|User|Partition|QOS|Submit|Start|End|State|NNodes|NodeList|Reason|Constraints|AllocTRES|SubmitLine";
    let text = format!(
        "{header}\n\
         1|ada|main|normal|1000|1000|1010|COMPLETED|1|n0|None||cpu=2,node=1|sbatch --exclusive a.sh\n\
         2|ada|main|high|1000|1000|1010|COMPLETED|1|n1|None||cpu=2,gres/gpu=1,node=1|sbatch --exclusive --gres=gpu:1 a.sh\n\
         3|ada|main|normal|1000|1000|1020|COMPLETED|1|n2|None|ib|cpu=1,node=1|sbatch -C ib -L matlab a.sh\n\
         4+0|ada|main,other|normal|1000|1000|1010|PREEMPTED|2|n[4-5]|None||cpu=4,node=2|sbatch --exclusive --reservation=r a.sh\n\
         5|ada|main|normal|1000|Unknown|Unknown|PENDING|1|None assigned|AssocGrpNodeLimit||cpu=2|sbatch --exclusive a.sh\n"
    );
    let own = folder(&text);
    let conf = format!(
        "PreemptType=preempt/qos\nPriorityWeightFairshare=1000\nSelectTypeParameters=CR_Core_Memory\n{CONF}"
    );
    put(&own, "slurm.conf", conf);
    let json = quality(&own, &[]);
    let found: Vec<(&str, Option<u64>)> = json["not_modelled"]
        .as_array()
        .unwrap()
        .iter()
        .map(|own| (own["key"].as_str().unwrap(), own["stays"].as_u64()))
        .collect();
    let expected = [
        ("shared_nodes", Some(1)),
        ("gres", Some(1)),
        ("features", Some(1)),
        ("licences", Some(1)),
        ("reservation", Some(1)),
        ("qos", Some(1)),
        ("limits_hit", Some(1)),
        ("preempted", Some(1)),
        ("preemption", None),
        ("fair_share", None),
        ("memory", None),
    ];
    assert_eq!(found, expected, "{json:#}");
    // Job 3, which shares its node, uses 20 of the 60 node-seconds of all jobs.
    let share = json["not_modelled"][0]["node_seconds_share"].as_f64().unwrap();
    assert!((share - 1.0 / 3.0).abs() < 1e-12, "{share}");
    import(&own, &[])
        .out_has("unmodelled  nodes shared by several jobs: 1 stay, 33.3 % of the node-seconds\n");
    // The site stores which features are not modelled.
    let kept = read(&own, "site/quality.json");
    let kept: Json = serde_json::from_str(&kept).unwrap();
    assert_eq!(kept["not_modelled"], json["not_modelled"]);
    // The controller model follows the tables of QOS, users, accounts and reservations.
    let tables = [
        ("qos.txt", "Name|Priority\nhigh|5\n"),
        ("assoc.txt", "Account|User|Share\nroot||1\n"),
        ("reservations.txt", "ReservationName=r StartTime=0 EndTime=6000 Nodes=n0\n"),
    ];
    for (name, text) in tables {
        put(&own, name, text);
    }
    let given = ["--qos", "qos.txt", "--assoc", "assoc.txt", "--reservations", "reservations.txt"];
    let json = quality(&own, &given);
    let keys: Vec<&str> = json["not_modelled"]
        .as_array()
        .unwrap()
        .iter()
        .map(|own| own["key"].as_str().unwrap())
        .collect();
    let left =
        ["shared_nodes", "gres", "features", "licences", "preempted", "preemption", "memory"];
    assert_eq!(keys, left, "{json:#}");
}

#[test]
fn a_site_is_not_written_over_something_else() {
    let folder = folder(SACCT);
    fs::create_dir(folder.join("site")).unwrap();
    put(&folder, "site/thesis.tex", "");
    import(&folder, &[]).ended(2).err_is(
        "error: site: this folder has something else in it: a site goes into a folder of its own\n",
    );
    let said = import(&folder, &["--time-zone", "Berlin"]).ended(2);
    said.err_begins("error: --time-zone: `Berlin` is no time zone");
}

#[test]
fn a_log_without_nodes_is_imported_too() {
    let folder = folder("");
    // The import counts two processors as a node.
    let log = "; UnixStartTime: 1000\n1 5 10 60 8 -1 -1 8 90 -1 1 7 -1 -1 -1 -1 -1 -1\n2 6 30 -1 -1 -1 -1 3 90 -1 5 7 -1 -1 -1 -1 -1 -1\n";
    put(&folder, "log.swf", log);
    let words = "ops import --swf log.swf --topology topology.yaml --conf slurm.conf -o site";
    let said = call(&folder, words).ended(0);
    said.err_begins("warning: log.swf: a log in the Standard Workload Format names no nodes");
    let jobs = read(&folder, "site/jobs.csv");
    assert!(jobs.contains("\n1,1,7,,,,COMPLETED,1005,,1015,1075,90,4,,0,node,"), "{jobs}");
    // Nothing can be judged, so nothing is replayed.
    let judged = call(&folder, "ops fidelity site --json").ended(1);
    assert_eq!(judged.json()["waits"], json!([]));
    let says = "no job has both a start and a list of nodes, so no decision can be looked at";
    assert_eq!(judged.json()["doubts"], json!([says]));
    assert!(jobs.contains("\n2,1,7,,,,CANCELLED,1006,,,1036,90,2,,0,node,"), "{jobs}");
    put(&folder, "log.swf", "; nothing\n1 2 3\n");
    let said = call(&folder, words).ended(2);
    said.err_begins("error: log.swf, line 2: this line has not 18 numbers");
}

/// Real histories: site, file, numbers of rows, jobs and placed attempts, and two optional numbers.
///
/// An attempt of a job ends when the job ends or is requeued. It is placed if it got nodes. The
/// first optional number counts attempts on one set of nodes that the topology allows. The second
/// counts attempts on several such sets, one for each segment of the job.
const REAL: [(&str, &str, usize, usize, usize, Option<[usize; 2]>); 8] = [
    ("site1", "sacct-epoch.txt.gz", 306, 306, 295, None),
    ("site1", "sacct-local.txt.gz", 306, 306, 295, None),
    ("site1", "sacct-duplicates-epoch.txt.gz", 308, 306, 297, Some([292, 5])),
    ("site1", "sacct-steps-other-order.txt.gz", 610, 306, 295, None),
    ("site3", "sacct-epoch.txt.gz", 297, 297, 291, None),
    ("site3", "sacct-local.txt.gz", 297, 297, 291, None),
    ("site3", "sacct-duplicates-epoch.txt.gz", 299, 297, 293, None),
    ("site3", "sacct-steps-other-order.txt.gz", 600, 297, 291, None),
];

#[test]
fn real_histories_have_the_counts_that_are_known_of_them() {
    let sites = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/placement/sites");
    if !sites.is_dir() {
        return skip("logs", "there are no real histories beside the project");
    }
    let text = |path: PathBuf| path.display().to_string();
    for (site, file, rows, jobs, placed, places) in REAL {
        let folder = Scratch::new();
        let from = sites.join(site);
        let said = meshwork(
            &folder,
            &[
                "ops",
                "import",
                "--sacct",
                &text(from.join(file)),
                "--topology",
                &text(from.join("topology.yaml")),
                "--conf",
                &text(from.join("slurm.conf")),
                "-o",
                "site",
                "--json",
            ],
        )
        .ended(0);
        let json = said.json();
        assert_eq!(
            [&json["rows"], &json["jobs"], &json["placed"], &json["placements"]],
            [rows, jobs, placed, placed].map(Json::from).each_ref(),
            "{site} {file}"
        );
        if let Some([single, unions]) = places {
            assert_eq!(
                [&json["single"], &json["unions"]],
                [single, unions].map(Json::from).each_ref()
            );
        }
        let states = &json["states"];
        let completed = if site == "site1" { 283 } else { 277 };
        assert_eq!(states["COMPLETED"], json!(completed));
    }
}

/// Imported tables are kept; without a topology file the machine is flat.
#[test]
fn tables_are_kept_with_the_site() {
    let folder = Scratch::new();
    let put = |name: &str, text: &str| put(&folder, name, text);
    put("slurm.conf", "NodeName=n[0-3] CPUs=4\nPartitionName=all Nodes=ALL Default=YES\n");
    put(
        "sacct.txt",
        "JobIDRaw|Submit|Start|End|State|NNodes|NodeList|TimelimitRaw\n\
         1|100|101|109|COMPLETED|2|n[0-1]|5\n",
    );
    put("q", "Name|Priority|MaxJobsPU\nnormal|0|\nfew|10|2\n");
    put("a", "Cluster|Account|User|Share\nc|root||1\n");
    put("e", "NodeName|TimeStart|TimeEnd|State\nn2|50|60|DOWN\n");
    put("r", "No reservations in the system\n");
    let import = |more: &[&str]| {
        let arguments = ["ops", "import", "--sacct", "sacct.txt", "--conf", "slurm.conf"];
        meshwork(&folder, &[&arguments[..], &["-o", "site"], more].concat())
    };
    let tables = ["--qos", "q", "--assoc", "a", "--events", "e", "--reservations", "r"];
    import(&tables).ended(0);
    let kept = |name: &str| fs::read_to_string(folder.join("site").join(name));
    assert!(kept("topology.yaml").unwrap().contains("flat: true"));
    for (name, text) in [
        ("qos.txt", "few|10|2"),
        ("assoc.txt", "c|root"),
        ("events.txt", "n2|50"),
        ("reservations.txt", "No reservations"),
    ] {
        assert!(kept(name).unwrap().contains(text), "{name}");
    }
    import(&[]).ended(0);
    assert!(kept("qos.txt").is_err(), "a table that is no longer given is gone");

    let refused = |arguments: &[&str], words: &str| {
        import(arguments).ended(2).err_has(words);
    };
    refused(&["--qos", "a"], "a: the first line has no column `Name`; this must be what `sacctmgr");
    refused(&["--assoc", "e"], "e: the first line has no column `Account`");
    refused(&["--events", "q"], "q: the first line has no column `NodeName`");
    refused(&["--reservations", "sacct.txt"], "sacct.txt: the first line has no column `Name`");
    refused(&["--reservations", "slurm.conf"], "a line begins with `NodeName=n[0-3] CPUs=4`");
}

#[test]
fn accounting_in_json_is_that_in_text() {
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/histories");
    if !from.is_dir() {
        return skip("logs", "there are no real histories beside the project");
    }
    for history in ["A", "C", "F"] {
        let from = from.join(history);
        let file = |name: &str| from.join(name).display().to_string();
        let folder = Scratch::new();
        let stays = |name: &str| -> Vec<JobRecord> {
            let (conf, sacct) = (file("slurm.conf"), file(name));
            let words = ["ops", "import", "--sacct", &sacct, "--conf", &conf, "-o", "site"];
            meshwork(&folder, &words).ended(0);
            let read = Folder::read(&folder.join("site")).unwrap();
            // In this version of Slurm, JSON lacks the command lines of jobs. Do not compare fields
            // that are read from command lines, or that depend on the format of the file.
            let told = |own: JobRecord| JobRecord {
                partitions: String::new(),
                options: String::new(),
                require: String::new(),
                exclude: String::new(),
                reservation: String::new(),
                beyond: Vec::new(),
                nice: 0,
                throttle: None,
                least: None,
                exclusive: true,
                nodes: 0,
                line: 0,
                processors: own.start.map_or(0, |_| own.processors),
                ..own
            };
            let mut stays: Vec<JobRecord> = read.history.stays.into_iter().map(told).collect();
            stays.sort_by_key(|own| (own.id.clone(), own.submit, own.start));
            stays
        };
        let (text, json) = (stays("sacct-duplicates-epoch.txt.gz"), stays("sacct.json.gz"));
        assert_eq!(json.len(), text.len(), "{history}");
        for (own, other) in text.iter().zip(&json) {
            assert_eq!(own, other, "{history}");
        }
    }
}

#[test]
fn json_that_is_none_of_slurms_is_refused_in_one_sentence() {
    for (text, says) in [
        ("{\"jobs\": [\n", "sacct.txt, line 2: this is no JSON: "),
        ("{\"nodes\": []}", "sacct.txt: there is no list `jobs`, in which `sacct --json`"),
    ] {
        let folder = folder(text);
        import(&folder, &[]).refused().err_begins(&format!("error: {says}"));
    }
}
