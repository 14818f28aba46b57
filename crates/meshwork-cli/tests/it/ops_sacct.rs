//! Test that imports accounting records of a dozen jobs of a real Slurm.
//!
//! CI installs Slurm if it can; otherwise the test is skipped with a message.
#![cfg(target_os = "linux")]

use std::fs;

use crate::common::skip;
use crate::common::slurm::{NodeRequest, Slurm};
use serde_json::json;

/// Four nodes below two switches, on which jobs get whole nodes.
const MACHINE: NodeRequest<'static> = NodeRequest {
    nodes: 4,
    conf: "TopologyPlugin=topology/tree\n\
           PartitionName=main Nodes=n[1-4] Default=YES MaxTime=INFINITE State=UP OverSubscribe=EXCLUSIVE\n",
    topology: Some(
        "SwitchName=leaf0 Nodes=n[1-2]\nSwitchName=leaf1 Nodes=n[3-4]\nSwitchName=top Switches=leaf[0-1]\n",
    ),
    accounts: true,
};
/// Columns of Slurm 22.05 that an import can use.
const COLUMNS: &str = "JobIDRaw,JobID,User,Account,Partition,QOS,Submit,Eligible,Start,End,State,ElapsedRaw,\
                       TimelimitRaw,NNodes,ReqNodes,AllocNodes,NodeList,Reason,Constraints,ReqTRES,AllocTRES,\
                       Priority,Flags,SubmitLine";
const ALL: u64 = 120;

trait Accounts {
    fn submit(&self, arguments: &[&str]) -> String;
    fn state(&self, job: &str) -> String;
}

impl Accounts for Slurm {
    fn submit(&self, arguments: &[&str]) -> String {
        let always = ["--parsable", "--output=/dev/null", "--time=5"];
        let said = self.ask("sbatch", &[&always[..], arguments].concat()).ended(0);
        said.out.trim().to_owned()
    }

    fn state(&self, job: &str) -> String {
        self.ask("squeue", &["--noheader", "--jobs", job, "--format=%T"]).out.trim().to_owned()
    }
}

#[test]
fn what_a_real_slurm_remembers_is_imported_without_a_warning() {
    let slurm = match Slurm::begin(&MACHINE) {
        Ok(slurm) => slurm,
        Err(why) => return skip("slurm", &format!("the accounts of a real Slurm: {why}")),
    };

    let plain = slurm.submit(&["--nodes=2", "--wrap=sleep 1"]);
    let array = slurm.submit(&["--nodes=1", "--array=0-3%2", "--wrap=sleep 1"]);
    let steps = slurm.submit(&["--nodes=3", "--wrap=srun -N2 sleep 1; srun -N3 true"]);
    let again = slurm.submit(&["--nodes=2", "--requeue", "--wrap=sleep 4"]);
    let whole = slurm.submit(&["--nodes=4", "--wrap=sleep 1"]);
    let fails = slurm.submit(&["--nodes=1", "--wrap=exit 3"]);
    let later = slurm.submit(&["--nodes=2", "--begin=now+2", "--wrap=sleep 1"]);
    let ended = slurm.submit(&["--nodes=4", "--wrap=sleep 60"]);
    let never = slurm.submit(&["--nodes=4", "--wrap=true"]);

    slurm.wait(ALL, "the job to be queued again runs", || slurm.state(&again) == "RUNNING");
    slurm.ask("scontrol", &["requeue", &again]).ended(0);
    // Start the requeued job at once. By default Slurm would let it wait for two minutes.
    slurm.wait(ALL, "it waits again", || slurm.state(&again) == "PENDING");
    // Pause first: within the second of the kill, Slurm may count the new start as part of the old
    // one.
    std::thread::sleep(std::time::Duration::from_millis(1500));
    slurm.ask("scontrol", &["update", &format!("jobid={again}"), "starttime=now"]);
    slurm.ask("scancel", &[&never]).ended(0);
    slurm.wait(ALL, "the job to be cancelled runs", || slurm.state(&ended) == "RUNNING");
    slurm.ask("scancel", &[&ended]).ended(0);
    slurm
        .wait(ALL, "all have ended", || slurm.ask("squeue", &["--noheader"]).out.trim().is_empty());

    // The accounting records are written shortly after the end of a job.
    let records = || {
        let words = ["-a", "-D", "-P", "-S", "now-1hours", "-o", COLUMNS];
        let output = slurm.command("sacct").env("SLURM_TIME_FORMAT", "%s").args(words).output();
        String::from_utf8(output.unwrap().stdout).unwrap()
    };
    slurm.wait(ALL, "the accounts are written", || {
        let text = records();
        text.lines().count() > 20 && !["RUNNING", "PENDING"].iter().any(|word| text.contains(word))
    });
    let text = records();
    fs::write(slurm.home().join("sacct.txt"), &text).unwrap();

    let files = ["--sacct", "sacct.txt", "--topology", "topology.conf", "--conf", "slurm.conf"];
    let said = slurm.meshwork(&[&["ops", "import", "--json", "-o", "site"], &files[..]].concat());
    assert_eq!((said.status, said.err.as_str()), (Some(0), ""), "{text}");
    let found = said.json();
    for (key, value) in [
        ("rows", json!(text.lines().count() - 1)),
        ("jobs", json!(12)),
        ("stays", json!(13)),
        ("requeued", json!(1)),
        ("arrays", json!(1)),
        ("array_tasks", json!(4)),
        ("cancelled_waiting", json!(1)),
        ("placed", json!(12)),
        ("placements", json!(12)),
        ("missing_columns", json!([])),
        ("zone_is_assumed", json!(false)),
        ("warnings", json!([])),
        ("states", json!({ "CANCELLED": 2, "COMPLETED": 9, "FAILED": 1, "REQUEUED": 1 })),
    ] {
        assert_eq!(found[key], value, "{key} of {found:#}\n{text}");
    }
    // The table has the job IDs shown by Slurm.
    let jobs = fs::read_to_string(slurm.home().join("site/jobs.csv")).unwrap();
    let of = |id: &str| jobs.lines().filter(|line| line.starts_with(&format!("{id},"))).count();
    let task = format!("{array}_3");
    for (id, stays) in
        [(&plain, 1), (&task, 1), (&steps, 1), (&again, 2), (&whole, 1), (&fails, 1), (&later, 1)]
    {
        assert_eq!(of(id), stays, "{id} of {jobs}");
    }
}
