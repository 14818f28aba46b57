//! Tests of the rights that the agent and users need in Slurm.
//!
//! The setup is that of docs/live.md, with Slurm accounts and a submit plugin in Lua.

use std::fs;
use std::net::UdpSocket;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Stdio;

use super::{Killable, POLICY};
use crate::common::slurm::{NodeRequest, Slurm, quiet};
use crate::common::{Said, Scratch, put, skip};

/// Two users that every Debian system has: `AGENT` runs the agent, and `USER` submits jobs.
const AGENT: &str = "daemon";
const USER: &str = "games";

fn run_as(slurm: &Slurm, user: &str, words: &[&str]) -> Said {
    let (uid, gid) = (format!("--reuid={user}"), format!("--regid={user}"));
    slurm.ask("setpriv", &[&[uid.as_str(), &gid, "--clear-groups"], words].concat())
}

#[test]
fn an_operator_is_enough_and_users_cannot_choose_nodes() {
    let hooks = Scratch::new();
    let open = |path: &Path| fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    let hook = hooks.join("hook.sh");
    let port = UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    fs::write(&hook, format!("#!/bin/bash\necho > /dev/udp/127.0.0.1/{port}\n")).unwrap();
    open(&hook);
    open(&hooks);
    let conf = format!(
        "JobSubmitPlugins=lua\nPrologSlurmctld={0}\nEpilogSlurmctld={0}\n\
         PartitionName=in Nodes=n[1-4] Default=YES MaxTime=INFINITE State=DOWN OverSubscribe=EXCLUSIVE\n\
         PartitionName=run Nodes=n[1-4] MaxTime=INFINITE State=UP OverSubscribe=EXCLUSIVE\n",
        hook.display()
    );
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/live.md");
    let page = fs::read_to_string(page).unwrap();
    let lua = page.split("```lua\n").nth(1).unwrap().split("```").next().unwrap();
    let lua = lua.replace("1004", "1");
    let wanted = NodeRequest { nodes: 4, conf: &conf, topology: None, accounts: true };
    let slurm = match Slurm::begin_with(&wanted, &[("job_submit.lua", &lua)]) {
        Ok(slurm) => slurm,
        Err(why) => return skip("slurm", &format!("an agent of an Operator: {why}")),
    };
    let home = slurm.home().to_owned();
    open(&home);
    let own = home.join("own");
    fs::create_dir(&own).unwrap();
    assert!(quiet("chown", &[AGENT, own.to_str().unwrap()]));
    put(&home, "policy.toml", POLICY.replace("torus:8x8", "mesh:2x2"));
    let meshwork = env!("CARGO_BIN_EXE_meshwork");
    let agent = |more: &[&str]| {
        let fixed = [meshwork, "ops", "agent", ".", "--policy", "policy.toml", "--state", "own"];
        run_as(&slurm, AGENT, &[&fixed[..], more].concat())
    };
    let job = |nodes: &str, more: &[&str]| {
        let fixed = [
            "sbatch",
            "--parsable",
            "-t",
            "5",
            "-o",
            "/dev/null",
            "--wrap",
            "sleep 1",
            "-N",
            nodes,
        ];
        run_as(&slurm, USER, &[&fixed[..], more].concat())
    };
    if agent(&["--looks", "1", "--dry-run"]).err.contains("Permission denied") {
        return skip("slurm", "an agent of an Operator: the user daemon cannot run this build");
    }

    // Users can submit jobs only to the parking partition, and cannot change a job's list of nodes.
    job("1", &["-p", "run"]).err_has("submit to the partition 'in'");
    let id = job("2", &[]).out.trim().to_owned();
    let number = format!("jobid={id}");
    for change in ["reqnodelist=n1", "partition=run"] {
        let said = run_as(&slurm, USER, &["scontrol", "update", &number, change]);
        assert_ne!(said.status, Some(0), "{change}: {}", said.out);
    }

    // Without rights the agent places nothing.
    agent(&["--looks", "2", "--poll", "200ms"]).out_has("Slurm refuses");
    let manage = |words: &[&str]| {
        slurm.ask("sacctmgr", &[&["--immediate"], words].concat()).ended(0);
    };
    manage(&["add", "account", "mw"]);
    manage(&["add", "user", AGENT, "account=mw", "adminlevel=Operator"]);
    slurm.wait(60, "an Operator places", || {
        let said = agent(&["--looks", "1"]);
        assert!(!said.err.contains("error"), "{}", said.err);
        said.out.contains(&format!("job {id} on "))
    });
    slurm
        .wait(60, "it runs", || slurm.ask("squeue", &["-h", "-t", "PD", "-j", &id]).out.is_empty());

    // The end of the first of two jobs that need all nodes wakes the agent, long before its next
    // query.
    let last = [job("4", &[]), job("4", &[])].map(|said| said.out.trim().to_owned());
    let (uid, gid, port) =
        (format!("--reuid={AGENT}"), format!("--regid={AGENT}"), port.to_string());
    let own = ["--poll", "10m", "--wake", &port];
    let woken = slurm
        .command("setpriv")
        .args([
            &uid,
            &gid,
            "--clear-groups",
            meshwork,
            "ops",
            "agent",
            ".",
            "--policy",
            "policy.toml",
        ])
        .args(["--state", "own"])
        .args(own)
        .stdout(Stdio::null())
        .spawn();
    let woken = Killable(woken.unwrap());
    slurm.wait(180, "both jobs run", || {
        slurm.ask("squeue", &["-h", "-t", "PD", "-j", &last.join(",")]).out.is_empty()
    });
    drop(woken);

    // Only administrators may change partitions, so only they can use the kill switch and the
    // watchdog.
    let open =
        || run_as(&slurm, AGENT, &[meshwork, "ops", "agent", ".", "--state", "own", "--open"]);
    let refused = open().ended(1);
    refused.err_has("an administrator of Slurm");
    // A refused command leaves no kill switch behind, so that agents go on.
    assert!(!home.join("own/off").exists());
    let state = || slurm.ask("scontrol", &["show", "partition", "in", "-o"]).out;
    assert!(state().contains("State=DOWN"), "{}", state());
    slurm.ask("scontrol", &["update", "partitionname=in", "state=up"]);
    let unready = agent(&["--looks", "1"]);
    unready.err_has("the agent does not begin");
    unready.err_has("an administrator of Slurm");
    manage(&["modify", "user", AGENT, "set", "adminlevel=Admin"]);
    slurm.wait(120, "an administrator may", || agent(&["--looks", "1"]).status == Some(0));
    assert!(state().contains("State=DOWN"), "{}", state());
    open().ended(0);
    assert!(state().contains("State=UP"), "{}", state());
}

#[test]
fn the_units_of_the_service_can_be_read() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../packaging");
    let Ok(output) = std::process::Command::new("systemd-analyze").arg("--version").output() else {
        return skip("systemd-analyze", "the units of the agent");
    };
    assert!(output.status.success());
    let scratch = Scratch::new();
    let mut names = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        if name.starts_with("meshwork-") {
            // The tested program is not at the path that the units name.
            let text = fs::read_to_string(&path).unwrap();
            let text = text.replace("/usr/local/bin/meshwork", env!("CARGO_BIN_EXE_meshwork"));
            put(&scratch, &name, text);
            names.push(scratch.join(name));
        }
    }
    assert_eq!(names.len(), 3);
    let output = std::process::Command::new("systemd-analyze")
        .args(["--man=no", "verify"])
        .args(&names)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    let own: Vec<&str> = said.lines().filter(|line| line.contains("meshwork-")).collect();
    assert!(own.is_empty(), "{said}");
}
