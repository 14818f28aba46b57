//! Tests of `meshwork ops compare` against results worked out by hand, and with bad input.

use std::fs;
use std::path::Path;

use crate::common::backlog::{completed, slurm_machine};
use crate::common::{Said, Scratch, call, meshwork, put, read};
use meshwork_lab::slurm::folder::{Folder, SlurmMachine};
use meshwork_slurm::history::Beyond;
use meshwork_slurm::history::{History, JobRecord};
use serde_json::{Value as Json, json};

/// Topology file of eight nodes in a row, with blocks of several lengths.
///
/// Each item of `places` has the length of a block, and the distance between its allowed positions.
fn row(places: &[(u32, u32)]) -> String {
    let mut text = "- topology: row\n  torus3d:\n    toruses:\n      - name: row1\n        dims: {x: 8, y: 1, z: 1}\n        nodes: n[0-7]\n        placements:\n".to_owned();
    for (length, spacing) in places {
        text.push_str(&format!(
            "          - dims: {{x: {length}, y: 1, z: 1}}\n            anchor_spacing: {{x: {spacing}, y: 1, z: 1}}\n"
        ));
    }
    text
}

const CONF: &str = "NodeName=n[0-7] CPUs=8\nPartitionName=batch Nodes=ALL Default=YES Topology=row OverSubscribe=EXCLUSIVE\n";

/// Small site with a recorded history, in which job 5 waits from second 20 to second 60.
fn small(folder: &Path, change: impl FnOnce(&mut History)) {
    let stay = |id: &str, submit: i64, start: i64, end: i64, nodes: u32| JobRecord {
        id: id.to_owned(),
        attempt: 1,
        partition: "batch".to_owned(),
        state: "COMPLETED".to_owned(),
        submit: Some(submit),
        eligible: Some(submit),
        start: Some(start),
        end: Some(end),
        limit: Some(120),
        nodes,
        nodelist: "n0".to_owned(),
        exclusive: true,
        ..JobRecord::default()
    };
    let mut stays = vec![
        stay("1", 0, 0, 40, 2),
        stay("2", 5, 5, 30, 1),
        stay("3", 10, 10, 60, 1),
        stay("4", 15, 15, 100, 2),
        stay("5", 20, 60, 120, 4),
        stay("6", 22, 0, 22, 3),
    ];
    (stays[5].start, stays[5].state) = (None, "FAILED".to_owned());
    let mut history = History { stays };
    change(&mut history);
    let machine = slurm_machine(folder, &row(&[(1, 1), (2, 2), (4, 4)]), CONF);
    Folder::write(&folder.join("site"), &machine, &history, &json!({})).unwrap();
}

/// Command line without resampled copies: the recorded jobs keep their recorded times.
///
/// So the results can be found by hand.
const ONE_COPY: [&str; 5] = ["ops", "compare", "site", "--copies", "1"];

fn compared(folder: &Path, more: &[&str]) -> Json {
    let said: Said =
        meshwork(folder, &[&ONE_COPY[..], &["--anyway", "--json"], more].concat()).succeeded();
    said.json()
}

#[test]
fn what_another_list_changes_is_what_it_is_by_hand() {
    let folder = Scratch::new();
    small(&folder, |_| {});
    // If blocks of four nodes may begin at any node, nodes 6, 7, 0 and 1 are free for job 5 at
    // second 40.
    put(&folder, "fine.yaml", row(&[(1, 1), (2, 2), (4, 1)]));
    put(&folder, "same.yaml", row(&[(1, 1), (2, 2), (4, 4)]));
    let json = compared(&folder, &["fine.yaml", "same.yaml", "--cleanup", "0"]);
    let topology = |number: usize| &json["topologies"][number];
    assert_eq!((&json["jobs"], &json["common"]), (&json!(5), &json!(5)));
    assert_eq!(json["baseline"], json!("site/topology.yaml"));
    let value = |number: usize, key: &str| topology(number)["values"][key].as_f64().unwrap();
    for (key, own, fine) in [
        ("wait", 8.0, 4.0),
        ("wait_for_nodes", 4.0, 4.0),
        ("wait_for_shape", 4.0, 0.0),
        ("wait_for_priority", 0.0, 0.0),
        ("wait_for_reserved", 0.0, 0.0),
        // Slowdowns are 1, except for job 5, which runs for 60 s: (40 + 60) / 60 and (20 + 60) /
        // 60.
        ("bounded_slowdown", (4.0 + 100.0 / 60.0) / 5.0, (4.0 + 80.0 / 60.0) / 5.0),
        ("padding_node_hours", 0.0, 0.0),
        ("rejected_node_hours", 0.0, 0.0),
        ("never", 0.0, 0.0),
        // Use up to second 20: 2 nodes for 20 s, 1 node for 15 s, 1 node for 10 s, 2 nodes for 5 s.
        ("utilization", 75.0 / 160.0, 75.0 / 160.0),
    ] {
        assert!((value(0, key) - own).abs() < 1e-12, "{key}: {json:#}");
        assert!((value(1, key) - fine).abs() < 1e-12, "{key}: {json:#}");
        let difference = topology(1)["differences"][key]["mean"].as_f64().unwrap();
        assert!((difference - (fine - own)).abs() < 1e-12, "{key}: {json:#}");
        // Equal topologies have no difference and no uncertainty.
        let same = &topology(2)["differences"][key];
        let none = json!({
            "mean": 0.0, "half_width": 0.0, "excludes_zero": false, "weeks_to_decide": null
        });
        assert_eq!(*same, none, "{key}");
    }
    // Five jobs, one of which waits 20 s less: mean -4, s = √80, t(4) = 2.776.
    let half = topology(1)["differences"]["wait"]["half_width"].as_f64().unwrap();
    assert!((half - 2.776_445 * 80.0_f64.sqrt() / 5.0_f64.sqrt()).abs() < 1e-3, "{half}");
    // To decide the difference, the half width would have to shrink to 4. It shrinks with the
    // square root of the length of the history.
    let span = json["last"].as_f64().unwrap() - json["first"].as_f64().unwrap();
    let weeks = topology(1)["differences"]["wait"]["weeks_to_decide"].as_f64().unwrap();
    assert!((weeks - ((half / 4.0).powi(2) - 1.0) * span / 604_800.0).abs() < 1e-9, "{weeks}");
    let json =
        compared(&folder, &["fine.yaml", "same.yaml", "--cleanup", "0", "--baseline", "first"]);
    assert_eq!(json["baseline"], json!("fine.yaml"));
    assert_eq!(json["topologies"][1]["differences"]["wait"]["mean"], json!(4.0));
    // Check the text output.
    let said =
        meshwork(&folder, &[&ONE_COPY[..], &["fine.yaml", "--cleanup", "0", "--anyway"]].concat())
            .succeeded();
    said.out_has("from the site's own topology");
    said.out_ends("decide it: fine.yaml: 1 hour.\n");
    let line = said.out.lines().find(|line| line.starts_with("wait, s")).unwrap();
    let cells: Vec<&str> = line.split_whitespace().collect();
    assert_eq!(cells[2..], ["8", "4", "-4", "±", "11"], "{line}");
}

#[test]
fn sizes_that_are_not_listed_are_rounded_up_or_refused() {
    let folder = Scratch::new();
    small(&folder, |_| {});
    put(&folder, "few.yaml", row(&[(1, 1), (4, 4)]));
    let json = compared(&folder, &["few.yaml", "--cleanup", "0"]);
    let values = &json["topologies"][1]["values"];
    // Jobs 1 and 4 get two more nodes than they request. They run for 40 s and for 85 s.
    let padding = 2.0 * 125.0 / 3600.0;
    assert!((values["padding_node_hours"].as_f64().unwrap() - padding).abs() < 1e-12, "{json:#}");
    assert_eq!(values["never"], json!(0.0));
    let json = compared(&folder, &["few.yaml", "--cleanup", "0", "--unlisted", "refuse"]);
    let values = &json["topologies"][1]["values"];
    let rejected = values["rejected_node_hours"].as_f64().unwrap();
    assert!((rejected - padding).abs() < 1e-12, "{json:#}");
    assert_eq!(
        (&values["never"], &values["padding_node_hours"], &json["common"]),
        (&json!(2.0), &json!(0.0), &json!(3))
    );
    let differences = &json["topologies"][1]["differences"];
    assert_eq!(differences["never"]["mean"], json!(2.0));
    // Without jobs 1 and 4, jobs 2 and 3 run on n0 and n1, and job 5 starts at once.
    assert_eq!(values["wait"], json!(0.0));
}

#[test]
fn a_page_shows_the_table_the_differences_and_the_machine() {
    let folder = Scratch::new();
    small(&folder, |_| {});
    let fine = row(&[(1, 1), (2, 2), (4, 1)]);
    put(&folder, "<fine>.yaml", &fine);
    call(&folder, "ops compare --copies 1 site <fine>.yaml --cleanup 0 --report a.html --anyway")
        .succeeded();
    let page = read(&folder, "a.html");
    assert!(page.contains("&lt;fine&gt;.yaml") && !page.contains("<fine>"), "names are no markup");
    let tables: Vec<&str> = page.split("<table").skip(1).collect();
    assert_eq!(tables[0].matches("<tr").count(), 1 + 11, "a row for each measure");
    assert!(tables[0].contains("span, hops"), "{}", tables[0]);
    // The wait, the wait for shape and the slowdown differ, and are drawn on one scale.
    let plots: Vec<&str> = page.split("<svg").filter(|svg| svg.contains("role=\"img\"")).collect();
    assert!(plots.iter().all(|svg| svg.contains("aria-label=\"")), "each says what it shows");
    let differences = plots.iter().find(|svg| svg.contains("Difference (%)")).unwrap();
    assert_eq!(differences.matches("<circle").count(), 3);
    // The bars are the wait for nodes under both topologies and the wait for shape under the site's
    // own topology. Each node is drawn once for each topology.
    let waits = plots.iter().find(|svg| svg.contains("Mean wait (seconds)")).unwrap();
    assert_eq!(waits.matches("<rect").count(), 3, "{waits}");
    let maps: Vec<_> = plots.iter().filter(|svg| svg.contains("of the time")).collect();
    assert_eq!(maps.iter().map(|svg| svg.matches("<rect").count()).sum::<usize>(), 2 * 8);
    // The finding and the jobs it applies to are at the top.
    let says = "No significant difference in the mean wait: 4 seconds with &lt;fine&gt;.yaml, 8 seconds with \
                site (difference: -4 ± 11 seconds).";
    assert!(page.contains(says), "{page}");
    assert!(tables.iter().any(|table| table.contains("nodes asked for")));
    assert!(page.contains("differs from"));
    // Before the last submission, node 0 is always held by job 1, and node 7 is always free.
    assert_eq!(page.matches(r#"fill-opacity="1""#).count(), 2 * 2, "two nodes of job 1");
    assert!(page.contains(r#"fill-opacity="0""#));
    assert!(!page.contains("http:") && !page.contains("https:"), "nothing is fetched");
    // The page contains all numbers as JSON.
    let data = page.split_once(r#"type="application/json">"#).unwrap().1;
    let json: Json = serde_json::from_str(data.split_once("</script>").unwrap().0).unwrap();
    assert_eq!(json["topologies"][1]["values"]["wait"], json!(4.0));
}

#[test]
fn a_site_that_is_not_modelled_well_is_compared_only_if_that_is_wanted() {
    let folder = Scratch::new();
    small(&folder, |_| {});
    put(&folder, "fine.yaml", row(&[(1, 1), (2, 2), (4, 1)]));
    // The recorded history has all jobs on the same node, which the model does not reproduce.
    let said = call(&folder, "ops compare site fine.yaml");
    assert_eq!((said.status, said.out.as_str()), (Some(1), ""));
    let says = "error: site: the site is not modelled well enough to go on: 0.0 % of the decisions are those of the rule";
    assert!(said.err.starts_with(says) && said.err.contains("--anyway"), "{}", said.err);
    let said = call(&folder, "ops compare site fine.yaml --anyway --report a.html").succeeded();
    let says = "The site is not modelled well enough to go on: 0.0 % of the decisions";
    said.out_begins(says);
    assert!(read(&folder, "a.html").contains(says));
    let json = compared(&folder, &["fine.yaml"]);
    assert!(!json["doubts"].as_array().unwrap().is_empty(), "{json:#}");
    // A site that is modelled well needs no option.
    small(&folder, |history| {
        let lists = ["n[0-1]", "n2", "n3", "n[4-5]", "n[0-3]", ""];
        for (stay, list) in history.stays.iter_mut().zip(lists) {
            list.clone_into(&mut stay.nodelist);
        }
    });
    call(&folder, "ops compare site fine.yaml").succeeded().out_begins("5 jobs happen again");
}

#[test]
fn nodes_that_jobs_share_are_used_once() {
    let folder = Scratch::new();
    // Eight jobs use one processor each of a node with eight processors. Two jobs hold whole nodes.
    small(&folder, |history| {
        let stay = history.stays[0].clone();
        let own = |number: usize, start: i64, end: i64, nodes: u32, exclusive: bool| JobRecord {
            id: number.to_string(),
            submit: Some(start),
            eligible: Some(start),
            start: Some(start),
            end: Some(end),
            nodes,
            processors: 1,
            exclusive,
            beyond: if number == 3 { vec![Beyond::Gres] } else { Vec::new() },
            ..stay.clone()
        };
        history.stays = (0..8).map(|number| own(number, 0, 50 + number as i64, 1, false)).collect();
        history.stays.extend([own(8, 10, 60, 2, true), own(9, 100, 150, 1, true)]);
    });
    let conf = CONF.replace("OverSubscribe=EXCLUSIVE", "OverSubscribe=NO");
    put(&folder, "site/slurm.conf", conf);
    put(&folder, "same.yaml", row(&[(1, 1), (2, 2), (4, 4)]));
    let json = compared(&folder, &["same.yaml", "--cleanup", "0", "--baseline", "site"]);
    let used = json["topologies"][0]["values"]["utilization"].as_f64().unwrap();
    // Use up to second 100: one node, shared by eight jobs, for 57 s, and two nodes for 50 s.
    assert!((used - (57.0 + 100.0) / 800.0).abs() < 1e-12, "{json:#}");
    let found = json["not_modelled"].as_array().unwrap();
    let keys: Vec<&str> = found.iter().map(|own| own["key"].as_str().unwrap()).collect();
    assert_eq!(keys, ["shared_nodes", "gres"], "{json:#}");
    assert_eq!((&found[0]["stays"], &found[1]["stays"]), (&json!(8), &json!(1)));
    // The eight jobs run for 50 to 57 s on one node. The two other jobs use 100 and 50
    // node-seconds.
    let share = found[0]["node_seconds_share"].as_f64().unwrap();
    assert!((share - 428.0 / 578.0).abs() < 1e-12, "{json:#}");
}

#[test]
fn what_cannot_be_compared_is_said_in_one_sentence() {
    let folder = Scratch::new();
    small(&folder, |_| {});
    let says = |arguments: &[&str], sentence: &str| {
        let said = meshwork(&folder, &[&["ops", "compare"], arguments].concat()).refused();
        said.err_is(&format!("error: {sentence}\n"));
    };
    let file = |name: &str, text: &str| put(&folder, name, text);
    let own = row(&[(1, 1), (2, 2), (4, 4)]);
    file(
        "large.yaml",
        &own.replace(
            "x: 4, y: 1, z: 1}\n            anchor_spacing: {x: 4",
            "x: 9, y: 1, z: 1}\n            anchor_spacing: {x: 4",
        ),
    );
    let said = call(&folder, "ops compare site large.yaml").ended(2);
    let start =
        "error: large.yaml, line 12: a placement of 9x1x1 is larger than the torus of 8x1x1";
    said.err_begins(start);
    file("other.yaml", &own.replace("n[0-7]", "m[0-7]"));
    says(
        &["site", "other.yaml"],
        "other.yaml, line 6: this names the node m0, which the site does not have: it is the topology of another machine",
    );
    file("part.yaml", &own.replace("n[0-7]", "n[0-5]").replace("x: 8", "x: 6"));
    says(
        &["site", "part.yaml"],
        "part.yaml, line 1: this topology does not name n6, which the site's own does: it is that of another machine",
    );
    says(&["site", "none.yaml"], "none.yaml: there is no such file");
    file("same.yaml", &own);
    says(
        &["site", "same.yaml", "--baseline", "first"],
        "--baseline first: there is one file, and nothing to compare it with",
    );
    small(&folder, |history| history.stays.clear());
    says(
        &["site", "same.yaml"],
        "site/jobs.csv, line 1: no job in this history has nodes, a start and an end, so none can happen again",
    );
}

/// One job holds three of four nodes, a second one waits for all four, and a short job fits on one.
///
/// If `limited`, each user may run only one job at a time.
fn beside(folder: &Path, limited: bool) {
    let stay = |id: usize, user: &str, submit: i64, runs: i64, nodes: u32| JobRecord {
        user: user.to_owned(),
        account: "a".to_owned(),
        qos: "q".to_owned(),
        nodelist: "n0".to_owned(),
        ..completed(id, submit, runs, runs + 60, nodes)
    };
    let stays = vec![
        stay(1, "ada", 1_000, 600, 3),
        stay(2, "bo", 1_010, 60, 4),
        stay(3, "ada", 1_020, 60, 1),
    ];
    let conf = |more: &str| {
        format!(
            "AccountingStorageEnforce=limits\n{more}NodeName=n[0-3] CPUs=1\nPartitionName=p Nodes=ALL Default=YES\n"
        )
    };
    put(folder, "slurm.conf", conf(""));
    put(folder, "builtin.conf", conf("SchedulerType=sched/builtin\n"));
    let machine = SlurmMachine::flat(&folder.join("slurm.conf")).unwrap();
    let qos = "Name|Priority|MaxJobsPU\nq|0|1\n".to_owned();
    let tables = limited.then_some(("qos.txt", qos));
    let machine = machine.with_tables(tables);
    Folder::write(&folder.join("site"), &machine, &History { stays }, &json!({})).unwrap();
}

#[test]
fn another_conf_changes_what_it_names() {
    let folder = Scratch::new();
    beside(&folder, false);
    let confs = ["--conf", "builtin.conf", "--conf", "slurm.conf"];
    let json = compared(&folder, &[&confs[..], &["--cleanup", "0"]].concat());
    let wait = |number: usize| &json["topologies"][number]["values"]["wait"];
    // Without backfill, the short job waits for both other jobs. With backfill, its time limit lets
    // it start before the wide job.
    assert!(wait(0).as_f64().unwrap() + 100.0 < wait(1).as_f64().unwrap(), "{json:#}");
    assert_eq!(wait(2), wait(0));
    assert_eq!(json["topologies"][1]["name"], "builtin.conf");
    let said =
        call(&folder, "ops compare site --conf builtin.conf --anyway --report r.html").succeeded();
    said.out_has("Differences are from the site as it is");
    // The page shows the lines of `slurm.conf` that differ.
    let page = read(&folder, "r.html");
    assert!(page.contains("SchedulerType=sched/builtin"), "{page}");
    assert!(page.contains("--- site/slurm.conf\n+++ builtin.conf\n"), "{page}");
    assert!(!page.contains("--- site/topology.yaml"), "{page}");
    let note = "a difference in bold is significant at 95 % by itself, without a correction for the number of rows";
    assert_eq!(page.matches(note).count(), 2, "by nodes and by user");
    // Columns have the shortest names that differ.
    fs::create_dir(folder.join("deep")).unwrap();
    fs::copy(folder.join("builtin.conf"), folder.join("deep/other.conf")).unwrap();
    let said = call(&folder, "ops compare site --conf deep/other.conf --anyway");
    assert!(said.out.contains(" other.conf ") && !said.out.contains("deep"), "{}", said.out);
}

#[test]
fn values_that_slurm_refuses_or_replaces_are_not_compared_silently() {
    let folder = Scratch::new();
    beside(&folder, false);
    let own = read(&folder, "slurm.conf");
    let run = |line: &str, more: &[&str]| {
        put(&folder, "o.conf", format!("{line}\n{own}"));
        meshwork(&folder, &[&ONE_COPY[..], &["--conf", "o.conf", "--anyway"], more].concat())
    };
    for line in ["PriorityWeightQOS=abc", "PriorityWeigthQOS=9000"] {
        run(line, &[]).refused().err_begins("error: o.conf, line 1: ");
    }
    // Slurm takes its default, so nothing differs.
    let said = run("SchedulerParameters=bf_window=-4", &["--json"]).ended(0);
    let says = "warning: o.conf, line 1: `bf_window=-4` must be a whole number from 1 to 43200: \
                Slurm takes its default of 1440\n";
    assert_eq!(said.err, says);
    let json = said.json();
    let wait = |number: usize| &json["topologies"][number]["values"]["wait"];
    assert_eq!(wait(0), wait(1));
    // The site's own file is checked too, but Slurm has run with it.
    put(&folder, "site/slurm.conf", format!("PriorityMaxAge=foo\n{own}"));
    let said = call(&folder, "ops fidelity site").ended(1);
    let says = "warning: site/slurm.conf, line 1: PriorityMaxAge is foo, but must be a time";
    said.err_begins(says);
}

/// Two jobs that wait for all nodes: the later one has the higher recorded priority.
fn ranked(folder: &Path) {
    let stay = |id: usize, submit: i64, start: i64, end: i64, priority: i64| JobRecord {
        nodelist: "n[0-3]".to_owned(),
        priority: Some(priority),
        ..completed(id, submit, start, end, 4)
    };
    let stays = vec![
        stay(1, 1_000, 1_000, 2_000, 9),
        stay(2, 1_010, 2_100, 3_000, 100),
        stay(3, 1_400, 2_000, 2_100, 2_000),
    ];
    for (file, weight) in [("slurm.conf", 2_000), ("zero.conf", 0), ("ten.conf", 20_000)] {
        let conf = format!(
            "PriorityWeightQOS={weight}\nNodeName=n[0-3] CPUs=1\nPartitionName=p Nodes=ALL Default=YES\n"
        );
        put(folder, file, conf);
    }
    let machine = SlurmMachine::flat(&folder.join("slurm.conf")).unwrap();
    Folder::write(&folder.join("site"), &machine, &History { stays }, &json!({})).unwrap();
}

#[test]
fn recorded_priorities_hold_under_every_weight_of_qos() {
    let folder = Scratch::new();
    ranked(&folder);
    let confs = ["--conf", "zero.conf", "--conf", "ten.conf", "--anyway", "--cleanup", "0"];
    let said = meshwork(&folder, &[&ONE_COPY[..], &confs, &["--json"]].concat());
    let json = said.json();
    let wait = |number: usize| json["topologies"][number]["values"]["wait"].as_f64().unwrap();
    assert_eq!((wait(1), wait(2)), (wait(0), wait(0)), "{json:#}");
    let said = meshwork(&folder, &[&ONE_COPY[..], &confs].concat());
    let text = said.out.split_whitespace().collect::<Vec<&str>>().join(" ");
    assert!(text.contains("only the weight of age has an effect"), "{}", said.out);
}

#[test]
fn limits_of_a_site_hold_under_every_file() {
    let folder = Scratch::new();
    beside(&folder, true);
    let others = ["site/topology.yaml", "--conf", "slurm.conf", "--cleanup", "0"];
    let json = compared(&folder, &others);
    let wait = |number: usize| json["topologies"][number]["values"]["wait"].as_f64().unwrap();
    // The third job waits for the first job, which has the same user.
    assert!(wait(0) > 300.0, "{json:#}");
    assert_eq!((wait(1), wait(2)), (wait(0), wait(0)));
}

#[test]
fn a_conf_of_another_machine_is_refused_in_one_sentence() {
    let folder = Scratch::new();
    beside(&folder, false);
    let own = read(&folder, "slurm.conf");
    for (from, to, says) in [
        (
            "n[0-3]",
            "n[0-2]",
            "this does not name the node n3, which the site has: it is the slurm.conf of another machine",
        ),
        (
            "n[0-3]",
            "n[0-4]",
            "this names the node n4, which the site does not have: it is the slurm.conf of another machine",
        ),
        (
            "PartitionName=p",
            "PartitionName=q",
            "this has no partition p, in which job 1 ran or waited",
        ),
    ] {
        put(&folder, "o.conf", own.replace(from, to));
        let said = call(&folder, "ops compare site --conf o.conf").refused();
        said.err_is(&format!("error: o.conf: {says}\n"));
    }
}

#[test]
fn differences_have_intervals_with_one_copy_and_with_twenty() {
    let folder = Scratch::new();
    small(&folder, |_| {});
    put(&folder, "fine.yaml", row(&[(1, 1), (2, 2), (4, 1)]));
    let words = ["ops", "compare", "site", "fine.yaml", "--anyway"];
    let json = |copies: &str| -> Json {
        meshwork(&folder, &[&words[..], &["--json", "--copies", copies]].concat()).json()
    };
    let half =
        |json: &Json| json["topologies"][1]["differences"]["wait"]["half_width"].as_f64().unwrap();
    let (one, many) = (json("1"), json("20"));
    assert_eq!((&one["copies"], &many["copies"]), (&json!(1), &json!(20)));
    assert!(half(&many) > 0.0 && half(&one) > 0.0);
    let said = meshwork(&folder, &words);
    let text = said.out.split_whitespace().collect::<Vec<&str>>().join(" ");
    assert!(text.contains("in 20 copies"), "{text}");
    meshwork(&folder, &[&words[..], &["--copies", "0"]].concat()).err_has("0 is not in 1..=1000");
}
