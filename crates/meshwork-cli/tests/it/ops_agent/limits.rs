//! Test of a limit of an account on a real Slurm.

use std::fs;

use serde_json::Value as Json;

use super::{POLICY, agent};
use crate::common::skip;
use crate::common::slurm::{NodeRequest, Slurm};

#[test]
fn a_job_at_a_limit_returns_and_starts_later() {
    let wanted = NodeRequest {
        nodes: 4,
        conf: "AccountingStorageEnforce=limits\n\
               PartitionName=in Nodes=n[1-4] Default=YES MaxTime=INFINITE State=DOWN OverSubscribe=EXCLUSIVE\n\
               PartitionName=run Nodes=n[1-4] MaxTime=INFINITE State=UP OverSubscribe=EXCLUSIVE\n",
        topology: None,
        accounts: true,
    };
    let slurm = match Slurm::begin(&wanted) {
        Ok(slurm) => slurm,
        Err(why) => return skip("slurm", &format!("an agent at a limit: {why}")),
    };
    fs::write(slurm.home().join("policy.toml"), POLICY.replace("torus:8x8", "mesh:2x2")).unwrap();
    for words in [
        &["add", "account", "limited,open"][..],
        &["add", "user", "root", "account=limited,open"],
        &["modify", "account", "limited", "set", "GrpTRES=node=2"],
    ] {
        let said = slurm.ask("sacctmgr", &[&["--immediate"], words].concat());
        assert!(said.err.is_empty(), "{words:?}: {}{}", said.out, said.err);
    }
    let submit = |account: &str, seconds: &str| {
        let script = format!("sleep {seconds}");
        let fixed = ["--parsable", "-t", "5", "-N", "2", "-o", "/dev/null", "--wrap", &script];
        let said = slurm.ask("sbatch", &[&fixed[..], &["-A", account]].concat()).ended(0);
        said.out.trim().to_owned()
    };
    let [first, second] = [submit("limited", "20"), submit("limited", "1")];
    let running = agent(&slurm, &[]);
    // Events of a kind in the agent's log.
    let events = |kind: &str| -> Vec<Json> {
        let log = fs::read_to_string(slurm.home().join("agent/log.jsonl")).unwrap_or_default();
        let events = log.lines().filter_map(|line| serde_json::from_str::<Json>(line).ok());
        events.filter(|event| event["event"] == kind).collect()
    };
    let has = |kind: &str, job: &str| events(kind).iter().any(|event| event["job"] == job);
    slurm.wait(60, "the job at the limit returns", || has("take_back", &second));
    let why = events("take_back")[0]["why"].as_str().unwrap().to_owned();
    assert!(why.starts_with("AssocGrpNode"), "{why}");
    let state = slurm.ask("squeue", &["-h", "-o", "%P %T", "-j", &second]).out;
    assert_eq!(state.trim(), "in PENDING");

    let third = submit("open", "1");
    slurm.wait(60, "a job of another account starts", || has("started", &third));
    assert!(!has("started", &second));
    slurm.wait(120, "the job at the limit starts", || has("started", &second));
    drop(running);
    let at = |kind: &str| {
        let of = |event: &&Json| event["job"] == second.as_str();
        events(kind).iter().rfind(of).unwrap()["t"].as_f64().unwrap()
    };
    assert!(at("place") - at("take_back") >= 30.0, "{} {}", at("take_back"), at("place"));
    assert!(has("started", &first));
}
