//! Tests of `meshwork ops import --kueue`. The command reads workloads and nodes of Kubernetes from
//! several snapshots.

use std::fs;
use std::path::Path;

use crate::common::{Said, Scratch, call, meshwork, put, read};
use serde_json::{Value as Json, json};

/// Two blocks of two racks of two nodes with eight accelerators each.
fn nodes() -> Vec<Json> {
    let mut nodes = Vec::new();
    for node in 0..8 {
        let (block, rack) = (node / 4, node / 2 % 2);
        nodes.push(json!({
            "kind": "Node",
            "metadata": { "name": format!("n{node}"), "uid": format!("node-{node}"), "labels": {
                "kubernetes.io/hostname": format!("n{node}"),
                "example.org/block": format!("b{block}"),
                "example.org/rack": format!("r{rack}"),
                "unrelated": "x",
            } },
            "spec": {},
            "status": { "allocatable": { "cpu": "96", "memory": "512Gi", "example.org/gpu": "8" } },
        }));
    }
    nodes
}

fn condition(kind: &str, status: bool, at: &str, reason: &str) -> Json {
    let status = if status { "True" } else { "False" };
    json!({ "type": kind, "status": status, "lastTransitionTime": time(at), "reason": reason })
}

fn time(at: &str) -> String {
    format!("2026-05-01T{at}Z")
}

/// Workload of Kueue as JSON.
///
/// `pods` gives the number of pods, and the number of accelerators for each pod. `given` names the
/// nodes that were assigned to the workload.
fn workload(
    name: &str,
    created: &str,
    pods: (u32, u32),
    given: &[&str],
    conditions: &[Json],
) -> Json {
    let values: Vec<Json> =
        given.iter().map(|&host| json!({ "values": [host], "count": 1 })).collect();
    let admission = (!given.is_empty()).then(|| {
        let assignment = json!({ "levels": ["kubernetes.io/hostname"], "domains": values });
        json!({ "podSetAssignments": [{ "name": "main", "topologyAssignment": assignment }] })
    });
    json!({
        "apiVersion": "kueue.x-k8s.io/v1beta1", "kind": "Workload",
        "metadata": { "namespace": "ml", "name": name, "uid": format!("uid-{name}"), "creationTimestamp": time(created) },
        "spec": {
            "queueName": "main", "priority": 7, "maximumExecutionTimeSeconds": 3600,
            "podSets": [{
                "name": "main", "count": pods.0,
                "topologyRequest": { "required": "example.org/rack", "preferred": "example.org/block" },
                "template": { "spec": { "containers": [{
                    "resources": { "requests": { "cpu": "4", "example.org/gpu": pods.1.to_string() } },
                }] } },
            }],
        },
        "status": { "admission": admission, "conditions": conditions },
    })
}

fn snapshot(folder: &Path, name: &str, items: &[Json]) {
    let list = json!({ "apiVersion": "v1", "kind": "List", "items": items });
    put(folder, name, format!("{list:#}"));
}

/// Writes two snapshots. The second lacks the workload `done` and the first assignment of the
/// workload `evicted`.
fn snapshots(folder: &Path) {
    let admitted = |at: &str| condition("Admitted", true, at, "Admitted");
    let first = vec![
        workload(
            "done",
            "12:00:00",
            (2, 8),
            &["n0", "n1"],
            &[admitted("12:00:05"), condition("Finished", true, "12:10:05", "Succeeded")],
        ),
        workload("evicted", "12:00:10", (2, 8), &["n2", "n3"], &[admitted("12:00:20")]),
        workload("half", "12:00:30", (1, 4), &["n4"], &[admitted("12:00:30")]),
    ];
    snapshot(folder, "first.json", &[nodes(), first].concat());
    let second = vec![
        workload(
            "evicted",
            "12:00:10",
            (2, 8),
            &["n6", "n7"],
            &[admitted("12:20:00"), condition("Evicted", false, "12:20:00", "QuotaReserved")],
        ),
        workload(
            "half",
            "12:00:30",
            (1, 4),
            &["n4"],
            &[admitted("12:00:30"), condition("Finished", true, "12:05:00", "Failed")],
        ),
        workload(
            "waits",
            "12:21:00",
            (4, 8),
            &[],
            &[condition("QuotaReserved", false, "12:21:01", "Pending")],
        ),
    ];
    snapshot(folder, "second.json", &[nodes(), second].concat());
}

fn import(folder: &Path, more: &[&str]) -> Said {
    meshwork(folder, &[&["ops", "import", "-o", "site"], more].concat())
}

#[test]
fn snapshots_are_merged_and_labels_become_a_tree() {
    let folder = Scratch::new();
    snapshots(&folder);
    let said = import(&folder, &["--kueue", "second.json", "first.json", "--json"]).ended(0);
    let found = said.json();
    for (key, value) in [
        ("rows", json!(6)),
        ("jobs", json!(4)),
        ("stays", json!(5)),
        ("requeued", json!(1)),
        ("placed", json!(4)),
        ("placements", json!(4)),
        (
            "states",
            json!({ "COMPLETED": 1, "FAILED": 1, "PENDING": 1, "REQUEUED": 1, "RUNNING": 1 }),
        ),
        ("times", json!("dates with a time zone")),
    ] {
        assert_eq!(found[key], value, "{key} of {found:#}");
    }
    // The end of the evicted attempt is in no snapshot.
    let says: Vec<&str> = found["warnings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|own| own["says"].as_str().unwrap())
        .collect();
    assert_eq!(
        says,
        [
            "1 stay ended between two snapshots, and none says when: each is taken to have lasted until its workload was admitted again"
        ]
    );
    let topology = read(&folder, "site/topology.yaml");
    assert_eq!(
        topology,
        "- topology: kueue\n  cluster_default: true\n  tree:\n    switches:\n\
         \u{20}     - {switch: \"b0.r0\", nodes: \"n[0-1]\"}\n\
         \u{20}     - {switch: \"b0.r1\", nodes: \"n[2-3]\"}\n\
         \u{20}     - {switch: \"b1.r0\", nodes: \"n[4-5]\"}\n\
         \u{20}     - {switch: \"b1.r1\", nodes: \"n[6-7]\"}\n\
         \u{20}     - {switch: \"b0\", children: \"b0.r[0-1]\"}\n\
         \u{20}     - {switch: \"b1\", children: \"b1.r[0-1]\"}\n\
         \u{20}     - {switch: \"top\", children: \"b[0-1]\"}\n"
    );
    let conf = read(&folder, "site/slurm.conf");
    assert!(conf.contains("\nNodeName=n[0-7] CPUs=8\n"), "{conf}");
    let jobs = read(&folder, "site/jobs.csv");
    let row = |id: &str| jobs.lines().filter(|line| line.starts_with(id)).collect::<Vec<_>>();
    let zero = 1_777_636_800;
    let at = |seconds: i64| zero + seconds;
    let done = format!(
        "ml/done,1,,ml,,main,COMPLETED,{},,{},{},3600,2,n[0-1],16,node,,,,1,,,,7,,,",
        at(0),
        at(5),
        at(605)
    );
    assert!(row("ml/done,")[0].starts_with(&done), "{jobs}");
    let evicted = row("ml/evicted,");
    assert!(
        evicted[0].contains(&format!(
            ",REQUEUED,{},,{},{},3600,2,n[2-3],",
            at(10),
            at(20),
            at(1200)
        )),
        "{jobs}"
    );
    assert!(
        evicted[1].contains(&format!(",RUNNING,{},,{},,3600,2,n[6-7],", at(1200), at(1200))),
        "{jobs}"
    );
    assert!(row("ml/half,")[0].contains(",1,n4,4,,"), "half of a node is not all of it: {jobs}");
    assert!(
        row("ml/waits,")[0].contains(&format!(",PENDING,{},,,,3600,4,,32,node,", at(1260))),
        "{jobs}"
    );

    // The order of files does not matter, and the site works in the other commands.
    let before = fs::read(folder.join("site/jobs.csv")).unwrap();
    import(&folder, &["--kueue", "first.json", "second.json"]).ended(0);
    let lines = |bytes: &[u8]| {
        // Lines without the column of line numbers, which depend on the order of the files.
        String::from_utf8(bytes.to_vec())
            .unwrap()
            .lines()
            .map(|line| {
                let mut cells: Vec<&str> = line.split(',').collect();
                cells.remove(cells.len() - 9);
                cells.join(",")
            })
            .collect::<Vec<_>>()
    };
    assert_eq!(lines(&before), lines(&fs::read(folder.join("site/jobs.csv")).unwrap()));
    let said = call(&folder, "ops fidelity site --json");
    assert!(matches!(said.status, Some(0 | 1)), "{}", said.err);
    let found = said.json();
    assert_eq!((&found["placed"], &found["placements"]), (&json!(4), &json!(4)), "{found:#}");
}

#[test]
fn an_eviction_that_a_snapshot_shows_ends_the_stay() {
    let folder = Scratch::new();
    snapshots(&folder);
    let between = workload(
        "evicted",
        "12:00:10",
        (2, 8),
        &[],
        &[
            condition("Admitted", false, "12:08:00", "NoReservation"),
            condition("Evicted", true, "12:08:00", "NodeFailures"),
        ],
    );
    snapshot(&folder, "between.json", &[between]);
    let said = import(&folder, &["--json", "--kueue", "first.json", "between.json", "second.json"]);
    let found = said.json();
    assert_eq!((said.status, &found["warnings"]), (Some(0), &json!([])), "{found:#}");
    assert_eq!(found["states"]["NODE_FAIL"], 1);
    let jobs = read(&folder, "site/jobs.csv");
    assert!(jobs.contains(",NODE_FAIL,1777636810,,1777636820,1777637280,"), "{jobs}");
    assert!(jobs.contains(",RUNNING,1777637280,,1777638000,,"), "it is queued since then: {jobs}");
}

#[test]
fn each_set_of_pods_may_have_a_domain_of_its_own() {
    let folder = Scratch::new();
    let mut two = workload("two", "12:00:00", (1, 8), &[], &[]);
    let sets = two["spec"]["podSets"].as_array_mut().unwrap();
    sets.push(sets[0].clone());
    let mut higher = two.clone();
    higher["metadata"]["name"] = json!("higher");
    higher["metadata"]["uid"] = json!("uid-higher");
    higher["spec"]["podSets"][1]["topologyRequest"]["required"] = json!("example.org/block");
    snapshot(&folder, "a.json", &[nodes(), vec![two, higher]].concat());
    let said = import(&folder, &["--kueue", "a.json"]).ended(0);
    said.err_has("1 workload must be together on a level above");
    let jobs = read(&folder, "site/jobs.csv");
    let switches = |id: &str| {
        let place = jobs.lines().next().unwrap().split(',').position(|own| own == "switches");
        let row = jobs.lines().find(|line| line.starts_with(id)).unwrap();
        row.split(',').nth(place.unwrap()).unwrap().to_owned()
    };
    assert_eq!(
        (switches("ml/two,"), switches("ml/higher,")),
        ("2".to_owned(), String::new()),
        "{jobs}"
    );
}

#[test]
fn what_is_no_snapshot_is_refused_in_one_sentence() {
    let folder = Scratch::new();
    snapshots(&folder);
    put(&folder, "no.json", "{\n  \"items\": [\n  nothing");
    put(&folder, "other.json", "{\"kind\": \"Pod\"}");
    snapshot(&folder, "nodes.json", &nodes());
    snapshot(&folder, "alone.json", &[workload("a", "12:00:00", (1, 8), &[], &[])]);
    let late = workload(
        "late",
        "12:00:00",
        (1, 8),
        &["n0"],
        &[condition("Admitted", true, "25:00:00", "")],
    );
    snapshot(&folder, "late.json", &[nodes(), vec![late]].concat());
    for (file, says) in [
        ("no.json", "no.json, line 3: this is no JSON ("),
        ("other.json", "other.json: there is no list `items` here"),
        ("nodes.json", "nodes.json: there is no object of the kind Workload here"),
        ("alone.json", "alone.json: no snapshot has an object of the kind Node"),
        (
            "late.json",
            "`2026-05-01T25:00:00Z` is no time, such as 2026-05-01T12:30:15Z, in a condition of the workload ml/late",
        ),
        ("none.json", "none.json: there is no such file"),
    ] {
        let said = import(&folder, &["--kueue", file]).ended(2);
        assert!(said.err.contains(says), "{file}: {}", said.err);
        assert_eq!(said.err.lines().count(), 1, "{}", said.err);
    }
    assert!(!folder.join("site").exists());
}
