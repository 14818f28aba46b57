//! Tests of `meshwork ops fidelity` on histories that the model itself generated, and on real ones.

use std::fs;
use std::path::Path;

use crate::common::backlog::{completed, replay, slurm_machine};
use crate::common::{Numbers, Said, Scratch, TORUS, call, meshwork, skip};
use meshwork_lab::slurm::folder::Folder;
use meshwork_lab::text::number::significant;
use meshwork_slurm::history::{History, JobRecord};
use serde_json::{Value as Json, json};

const BLOCKS: &str = "- topology: t
  block:
    block_sizes: [8, 16, 32]
    blocks:
      - {block: a, nodes: 'n[00-07]'}
      - {block: b, nodes: 'n[08-15]'}
      - {block: c, nodes: 'n[16-23]'}
      - {block: d, nodes: 'n[24-31]'}
      - {block: e, nodes: 'n[32-39]'}
      - {block: f, nodes: 'n[40-47]'}
      - {block: g, nodes: 'n[48-55]'}
      - {block: h, nodes: 'n[56-63]'}
";
const CONF: &str = "SchedulerParameters=bf_interval=10\nNodeName=n[00-63] CPUs=2\nPartitionName=p Nodes=ALL Default=YES Topology=t OverSubscribe=EXCLUSIVE\n";

/// History that the model of the site has generated.
///
/// After each job, `cleanup` seconds pass until its nodes are free.
fn made(folder: &Path, topology: &str, cleanup: i64, change: impl FnOnce(&mut History)) {
    let machine = slurm_machine(folder, topology, CONF);
    let mut numbers = Numbers(7);
    let mut at = 1_000_000;
    let mut stays: Vec<JobRecord> = (0..400)
        .map(|job| {
            at += numbers.below(14) as i64;
            let runs = 5 + numbers.below(90) as i64;
            let limit = (runs / 60 + 1 + numbers.below(2) as i64) * 60;
            let nodes = [1, 4, 4, 8, 8, 16, 32, 64][numbers.below(8) as usize];
            JobRecord { line: job + 2, ..completed(job, at, runs, limit, nodes) }
        })
        .collect();
    replay(&machine, &mut stays, cleanup as f64);
    let mut history = History { stays };
    change(&mut history);
    Folder::write(&folder.join("site"), &machine, &history, &json!({})).unwrap();
}

fn fidelity(folder: &Path) -> (Said, Json) {
    let said = call(folder, "ops fidelity site --json");
    let json = said.json();
    (said, json)
}

#[test]
fn the_rule_and_the_clean_up_of_a_known_history_are_found() {
    for (topology, cleanup) in [(TORUS, 0), (TORUS, 7), (BLOCKS, 3)] {
        let folder = Scratch::new();
        made(&folder, topology, cleanup, |_| {});
        let (said, json) = fidelity(&folder);
        assert_eq!(said.status, Some(0), "{json:#}");
        for (key, value) in [
            ("jobs", 400),
            ("placed", 400),
            ("placements", 400),
            ("decisions", 400),
            ("match", 400),
        ] {
            assert_eq!(json[key], json!(value), "{key} with {cleanup} s: {json:#}");
        }
        assert_eq!(json["cleanup_seconds"], json!(cleanup as f64));
        assert!(json["by"]["backfill"]["decisions"].as_u64() > Some(20), "{json:#}");
        // Replays with other random fractions of seconds have nearly the same waits.
        let wait = |key: &str| json["wait"][key].as_f64().unwrap();
        let (lowest, highest) = (wait("lowest"), wait("highest"));
        assert!(lowest < wait("predicted") && wait("predicted") < highest, "{json:#}");
        for own in json["waits"].as_array().unwrap() {
            let value = |key: &str| own[key].as_f64().unwrap();
            let difference = (value("real") - value("predicted")).abs();
            let half_width = own["half_width"].as_f64().unwrap_or(0.0);
            assert!(difference <= 3.0 + half_width.max(0.1 * value("real")), "{own}");
        }
    }
}

#[test]
fn the_one_decision_that_is_not_the_rules_is_named() {
    let folder = Scratch::new();
    let mut altered = String::new();
    made(&folder, TORUS, 2, |history| {
        // Find a single node that no other job holds while this job runs.
        let stays = history.stays.clone();
        let during = |a: &JobRecord, b: &JobRecord| {
            a.start < b.end.map(|end| end + 2) && b.start < a.end.map(|end| end + 2)
        };
        let free = |stay: &JobRecord| {
            let own = |node: u32| {
                let name = format!("n{node:02}");
                let others =
                    stays.iter().filter(|other| other.id != stay.id && during(stay, other));
                let lists =
                    others.map(|other| meshwork_slurm::hostlist::names(&other.nodelist).unwrap());
                (lists.flatten().all(|used| used != name) && stay.nodelist != name).then_some(name)
            };
            (0..64).rev().find_map(own)
        };
        let single = history.stays.iter_mut().skip(150).filter(|stay| stay.nodes == 1);
        let (stay, name) = single
            .filter_map(|stay| free(stay).map(|name| (stay, name)))
            .next()
            .expect("there is one");
        altered.clone_from(&stay.id);
        stay.nodelist = name;
    });
    let (said, json) = fidelity(&folder);
    assert_eq!(said.status, Some(0));
    assert_eq!((&json["decisions"], &json["match"]), (&json!(400), &json!(399)), "{json:#}");
    assert_eq!(json["differing"][0]["job"], json!(altered));
    let said = call(&folder, "ops fidelity site");
    said.out_has(&format!("differs     job {altered} (line "));
    let number = |key: &str| significant(json["wait"][key].as_f64().unwrap(), 3);
    said.out_has(&format!("Jobs wait {} to {} s on ", number("lowest"), number("highest")));
    said.out_has("399 of 400 are those of the rule");
}

#[test]
fn a_site_that_goes_by_another_rule_is_not_gone_on_with() {
    let folder = Scratch::new();
    made(&folder, BLOCKS, 0, |_| {});
    let topology = folder.join("site/topology.yaml");
    fs::write(topology, TORUS).unwrap();
    let said = call(&folder, "ops fidelity site").ended(1);
    said.out_has("The site is not modelled well enough to go on: ");
    call(&folder, "ops fidelity nowhere").ended(2).err_is(
        "error: nowhere: there is no such folder: `meshwork ops import` makes the folder of a site\n",
    );
}

#[test]
fn real_histories_follow_the_rule() {
    let sites = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/placement/sites");
    if !sites.is_dir() {
        return skip("logs", "there are no real histories beside the project");
    }
    for (site, stays, jobs, least_main) in [("site1", 297, 306, 92), ("site3", 293, 297, 142)] {
        let folder = Scratch::new();
        let file = |name: &str| sites.join(site).join(name).display().to_string();
        meshwork(
            &folder,
            &[
                "ops",
                "import",
                "--sacct",
                &file("sacct-duplicates-epoch.txt.gz"),
                "--topology",
                &file("topology.yaml"),
                "--conf",
                &file("slurm.conf"),
                "-o",
                "site",
            ],
        )
        .succeeded();
        let (said, json) = fidelity(&folder);
        // These sites order jobs by QOS and fair share, but the recordings lack both tables.
        assert_eq!((said.status, &json["modelled"]), (Some(1), &json!(false)), "{json:#}");
        let doubts = json["doubts"].as_array().unwrap();
        assert!(
            doubts.len() == 1 && doubts[0].as_str().unwrap().contains("priorities"),
            "{json:#}"
        );
        for (key, value) in
            [("jobs", jobs), ("placed", stays), ("placements", stays), ("decisions", stays)]
        {
            assert_eq!(json[key], json!(value), "{key} of {site}");
        }
        let matching = json["match"].as_f64().unwrap() / f64::from(stays);
        assert!(matching >= 0.85, "{site}: {matching}");
        assert!(
            json["by"]["main"]["match"].as_u64() >= Some(least_main),
            "{site}: {:#}",
            json["by"]
        );
        // The logs of both sites show clean-up times below 0.2 s.
        assert!(
            json["cleanup_seconds"].as_f64().unwrap() < 0.6,
            "{site}: {}",
            json["cleanup_seconds"]
        );
    }
}

/// Job 2 is in the partition of the higher tier, so it takes two cores of n0 first.
///
/// Then job 1 takes two cores of n0 and three of n1. Job 3 waits for the end of job 2.
#[test]
fn starts_of_one_second_take_their_parts_in_the_order_of_the_queue() {
    let folder = Scratch::new();
    let conf = "SelectType=select/cons_tres\nSelectTypeParameters=CR_Core\nNodeName=n[0-1] CPUs=4\n\
                PartitionName=p Nodes=ALL Default=YES\nPartitionName=h Nodes=ALL PriorityTier=9\n";
    let jobs = "id,attempt,submit,eligible,start,end,limit,nodes,nodelist,processors,by,user,partition,options\n\
                0,1,90,90,91,100,60,2,n[0-1],8,main,a,p,-n8\n\
                1,1,92,92,101,400,600,2,n[0-1],5,main,a,p,-n5\n\
                2,1,93,93,101,200,600,1,n0,2,main,a,h,-n2\n\
                3,1,110,110,201,300,600,2,n[0-1],3,main,a,p,-n3\n";
    for (name, text) in [
        ("slurm.conf", conf),
        ("topology.yaml", "- topology: t\n  cluster_default: true\n  flat: true\n"),
        ("jobs.csv", jobs),
    ] {
        fs::create_dir_all(folder.join("site")).unwrap();
        fs::write(folder.join("site").join(name), text).unwrap();
    }
    let (_, json) = fidelity(&folder);
    let starts = &json["starts"];
    assert_eq!(
        (&starts["total"], &starts["place"], &starts["early"]),
        (&4.into(), &4.into(), &0.into()),
        "{json}"
    );
}
