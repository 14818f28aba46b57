//! The agent and the shadow on a real Slurm of 64 nodes on this computer: jobs of `sbatch`, kills
//! of the agent and of the controller, a drained node and a requeue.
#![cfg(target_os = "linux")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Stdio};
use std::thread::sleep;
use std::time::Duration;

use meshwork_lab::date::unix_seconds;
use meshwork_lab::slurm::hostlist;
use serde_json::Value as Json;

use crate::common::slurm::{NodeRequest, Slurm, quiet};
use crate::common::{meshwork, skip};

const NODES: usize = 64;
const JOBS: usize = 100;
/// The time limit of the whole test in seconds.
const ALL: u64 = 420;

const POLICY: &str = "
name = 'policy'
machine = 'torus:8x8'
allocator = 'first_fit'
scheduler = 'easy'
workload = { name = 'lublin', load = 0.5 }
measure = { jobs = 10 }
";

/// An agent, ended when dropped.
struct Agent(Child);

impl Agent {
    fn begin(slurm: &Slurm) -> Agent {
        let child = slurm
            .command(env!("CARGO_BIN_EXE_meshwork"))
            .args(["ops", "agent", ".", "--policy", "policy.toml", "--poll", "300ms"])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        Agent(child.unwrap())
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Ends a controller that the test has started, which the fixture does not know.
struct Controller(Child);

impl Drop for Controller {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn conf(records: &Path) -> String {
    format!(
        "JobCompType=jobcomp/filetxt\nJobCompLoc={}\n\
         PartitionName=in Nodes=n[1-{NODES}] Default=YES MaxTime=INFINITE State=DOWN OverSubscribe=EXCLUSIVE\n\
         PartitionName=run Nodes=n[1-{NODES}] MaxTime=INFINITE State=UP OverSubscribe=EXCLUSIVE\n",
        records.display()
    )
}

/// The ends of jobs as the controller records them: id, nodes, start and end.
fn ends(text: &str) -> Vec<(String, BTreeSet<String>, f64, f64)> {
    let of = |line: &str| {
        let value = |key: &str| {
            line.split_whitespace().find_map(|word| word.strip_prefix(key)?.strip_prefix('='))
        };
        let time = |key: &str| value(key).and_then(unix_seconds);
        let nodes = value("NodeList").filter(|list| *list != "(null)")?;
        let nodes = hostlist::names(nodes).unwrap().into_iter().collect();
        (value("Partition")? == "run").then_some(())?;
        Some((value("JobId")?.to_owned(), nodes, time("StartTime")?, time("EndTime")?))
    };
    text.lines().filter_map(of).collect()
}

/// The lists chosen for each job, by its id, from the log.
fn chosen(log: &str) -> BTreeMap<String, Vec<BTreeSet<String>>> {
    let mut all: BTreeMap<String, Vec<BTreeSet<String>>> = BTreeMap::new();
    for line in log.lines() {
        let event: Json = serde_json::from_str(line).unwrap();
        if event["event"] == "place" {
            let nodes = hostlist::names(event["nodes"].as_str().unwrap()).unwrap();
            let id = event["job"].as_str().unwrap().to_owned();
            all.entry(id).or_default().push(nodes.into_iter().collect());
        }
    }
    all
}

#[test]
fn a_real_slurm_starts_what_the_policy_chose_whatever_is_killed() {
    let records = tempfile::tempdir().unwrap();
    let file = records.path().join("ends.txt");
    let (conf, accounts) = (conf(&file), false);
    let wanted = NodeRequest { nodes: NODES, conf: &conf, topology: None, accounts };
    let slurm = match Slurm::begin(&wanted) {
        Ok(slurm) => slurm,
        Err(why) => return skip("slurm", &format!("an agent beside a real Slurm: {why}")),
    };
    let home = slurm.home().to_owned();
    fs::write(home.join("policy.toml"), POLICY).unwrap();
    let submit = |nodes: usize, more: &[&str]| {
        let (nodes, wrap) = (nodes.to_string(), format!("sleep {}", 1 + nodes % 3));
        let fixed = ["--parsable", "-N", &nodes, "-t", "5", "-o", "/dev/null", "--wrap", &wrap];
        let said = slurm.ask("sbatch", &[&fixed[..], more].concat());
        assert_eq!(said.status, Some(0), "{}", said.err);
        said.out.trim().to_owned()
    };
    // A name of one job and a comment of another look like something else.
    submit(2, &["-J", "x SubmitTime=1 Partition=in\nJobId=9"]);
    submit(4, &["--comment", "block=2x2\n9|run|R"]);
    submit(1, &["-x", "n1,n2"]);
    submit(1, &["-w", "n7"]);
    submit(2, &["--array", "1-4"]);
    let sizes = [1, 2, 4, 8, 16, 3, 6, 12, 1, 2];
    for job in 0..JOBS - 8 {
        submit(sizes[job % sizes.len()], &[]);
    }
    let mut controller = None;
    for kill in 0..10_u64 {
        let agent = Agent::begin(&slurm);
        sleep(Duration::from_millis(600 + 170 * kill));
        match kill {
            3 => {
                slurm.ask("scontrol", &["update", "nodename=n20", "state=drain", "reason=test"]);
            }
            5 => {
                let running = slurm.ask("squeue", &["-h", "-t", "R", "-o", "%A"]).out;
                if let Some(job) = running.lines().next() {
                    slurm.ask("scontrol", &["requeue", job]);
                }
            }
            7 => {
                let pid = fs::read_to_string(home.join("slurmctld.pid")).unwrap();
                assert!(quiet("kill", &["-9", pid.trim()]));
                sleep(Duration::from_millis(500));
                let child = slurm
                    .command("/usr/sbin/slurmctld")
                    .arg("-D")
                    .stdout(Stdio::null())
                    .stderr(Stdio::null())
                    .spawn();
                controller = Some(Controller(child.unwrap()));
            }
            _ => {}
        }
        // Dropping it is `kill -9`.
        drop(agent);
    }
    slurm.ask("scontrol", &["update", "nodename=n20", "state=resume"]);
    let begins = || {
        let log = fs::read_to_string(home.join("agent/log.jsonl")).unwrap_or_default();
        log.matches("\"event\":\"begin\"").count()
    };
    let before = begins();
    let agent = Agent::begin(&slurm);
    // A second agent is refused while the first runs.
    slurm.wait(ALL, "the last agent begins", || begins() > before);
    let second = slurm.meshwork(&["ops", "agent", ".", "--policy", "policy.toml", "--looks", "1"]);
    assert_eq!(second.status, Some(1), "{}", second.out);
    assert!(second.err.contains("one agent at a time"), "{}", second.err);
    slurm.wait(ALL, "all jobs end but the first", || {
        let said = slurm.ask("squeue", &["-h", "-r", "-o", "%i %P %r"]);
        for line in said.out.lines() {
            let words: Vec<&str> = line.splitn(3, ' ').collect();
            match words[..] {
                // A crash of the controller interrupts launches: Slurm holds such a job for
                // operators.
                [id, "in", why] if why.contains("requeued held") => {
                    slurm.ask("scontrol", &["release", id]);
                }
                // A requeued job, which the agent has taken back, would begin in two minutes.
                [id, "in", "BeginTime"] => {
                    let id = format!("jobid={id}");
                    slurm.ask("scontrol", &["update", &id, "starttime=now"]);
                }
                _ => {}
            }
        }
        said.status == Some(0) && said.out.lines().all(|line| line.starts_with("1 in "))
    });
    // Its name looks like the fields that the agent reads, so that it stays parked.
    let left = slurm.ask("squeue", &["-h"]).out;
    slurm.ask("scancel", &["1"]);
    drop(agent);

    let log = fs::read_to_string(home.join("agent/log.jsonl")).unwrap();
    assert!(!log.contains("\"wrong\""), "a job ran on other nodes: {log}");
    let (chosen, ends) = (chosen(&log), ends(&fs::read_to_string(&file).unwrap()));
    for (id, nodes, ..) in &ends {
        // Tasks of an array have a number of their own in these records.
        let lists = chosen.get(id);
        let is_chosen = lists.is_some_and(|lists| lists.contains(nodes))
            || lists.is_none() && chosen.values().flatten().any(|own| own == nodes);
        assert!(is_chosen, "job {id} ran on {nodes:?}, but {lists:?} was chosen");
    }
    assert!(ends.len() >= JOBS - 4, "{} of {JOBS} jobs ended: {left}", ends.len());
    for (place, (id, nodes, start, end)) in ends.iter().enumerate() {
        // A job that a crash of the controller interrupts has two records.
        let others = ends[..place].iter().filter(|(other, ..)| other != id);
        for (other, theirs, begin, until) in others {
            let together = start.max(*begin) < end.min(*until);
            assert!(!together || nodes.is_disjoint(theirs), "jobs {id} and {other} share nodes");
        }
    }
    let again = ["ops", "agent", ".", "--policy", "policy.toml", "--replay", "agent/log.jsonl"];
    let again = slurm.meshwork(&again);
    assert_eq!((again.status, again.err.as_str()), (Some(0), ""), "{}", again.out);
    assert!(again.out.contains(" 0 of them another now"), "{}", again.out);

    the_way_back(&slurm, &submit);
    a_shadow(&slurm, &submit);
    the_chapter(&slurm);
    drop(controller);
}

/// The kill switch and the watchdog open the parking partition.
fn the_way_back(slurm: &Slurm, submit: &dyn Fn(usize, &[&str]) -> String) {
    let ops = |more: &[&str]| slurm.meshwork(&[&["ops", "agent", "."], more].concat());
    let id = submit(2, &[]);
    let is_running = || slurm.ask("squeue", &["-h", "-t", "R,CG", "-j", &id]).out.contains(&id);
    let opened = ops(&["--open"]);
    assert_eq!((opened.status, opened.err.as_str()), (Some(0), ""));
    slurm.wait(ALL, "Slurm starts a parked job", || {
        is_running() || slurm.ask("squeue", &["-h", "-j", &id]).out.is_empty()
    });
    let off = ops(&["--policy", "policy.toml", "--looks", "1"]);
    assert!(off.err.contains("the kill switch is set"), "{}{}", off.out, off.err);
    assert_eq!(ops(&["--close"]).status, Some(0));
    let state = || slurm.ask("scontrol", &["show", "partition", "in", "-o"]).out;
    assert!(state().contains("State=DOWN"), "{}", state());
    assert_eq!(ops(&["--watchdog", "10m"]).status, Some(0));
    let old = ["-d", "2 hours ago", "agent/heartbeat"];
    assert_eq!(slurm.ask("touch", &old).status, Some(0));
    let watched = ops(&["--watchdog", "10m"]);
    assert_eq!(watched.status, Some(1), "{}", watched.err);
    assert!(state().contains("State=UP"), "{}", state());
}

/// A shadow of the same partition sees starts, and its folder is a site.
fn a_shadow(slurm: &Slurm, submit: &dyn Fn(usize, &[&str]) -> String) {
    let port = TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap().port();
    let child = slurm
        .command(env!("CARGO_BIN_EXE_meshwork"))
        .args(["ops", "shadow", ".", "--policy", "policy.toml", "--partition", "in"])
        .args(["--poll", "300ms", "-o", "seen", "--looks", "40", "--metrics", &port.to_string()])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    sleep(Duration::from_millis(1_500));
    for nodes in [1, 4, 8, 2, 16] {
        submit(nodes, &[]);
    }
    sleep(Duration::from_millis(2_000));
    let ask = |path: &str| {
        let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        write!(stream, "GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    };
    let metrics = ask("/metrics");
    assert!(metrics.starts_with("HTTP/1.1 200 OK"), "{metrics}");
    assert!(metrics.contains("\nmeshwork_looks_total ") && !metrics.contains("job="), "{metrics}");
    assert!(ask("/etc/passwd").starts_with("HTTP/1.1 404"));
    let output = child.wait_with_output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.contains("starts"), "{text}");
    let starts = fs::read_to_string(slurm.home().join("seen/starts.jsonl")).unwrap();
    assert!(starts.lines().count() >= 5, "{starts}\n{text}");
    for line in starts.lines() {
        let start: Json = serde_json::from_str(line).unwrap();
        assert!(start["free"].is_string() && start["slurm"].is_string(), "{line}");
    }
    let fidelity = slurm.meshwork(&["ops", "fidelity", "seen", "--json"]);
    assert!(fidelity.status.is_some_and(|status| status < 2), "{}", fidelity.err);
}

/// The commands of the chapter, which has another folder of Slurm's files.
fn the_chapter(slurm: &Slurm) {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/live.md");
    let page = fs::read_to_string(page).unwrap();
    let mut count = 0;
    for block in page.split("```sh slurm\n").skip(1) {
        let text = block.split("```").next().unwrap().replace("/etc/slurm", ".");
        let folder = Path::new(env!("CARGO_BIN_EXE_meshwork")).parent().unwrap();
        let path = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap_or_default());
        let said =
            slurm.command("bash").args(["-e", "-c", &text]).env("PATH", path).output().unwrap();
        let err = String::from_utf8_lossy(&said.stderr);
        assert!(said.status.success(), "{text}{err}{}", String::from_utf8_lossy(&said.stdout));
        count += 1;
    }
    assert!(count >= 7, "{count} blocks");
}

/// Prints what docs/performance.md says: `cargo test -p meshwork-cli --test it ops_agent:: --
/// --ignored --nocapture`.
#[test]
#[ignore = "it measures"]
#[allow(clippy::print_stdout, reason = "figures of a page")]
fn figures_of_the_agent() {
    let conf = "MaxArraySize=10001\nMaxJobCount=30000\n\
        PartitionName=plain Nodes=n[1-16] State=UP OverSubscribe=EXCLUSIVE\n\
        PartitionName=in Nodes=n[1-16] Default=YES MaxTime=INFINITE State=DOWN OverSubscribe=EXCLUSIVE\n\
        PartitionName=run Nodes=n[1-16] MaxTime=INFINITE State=UP OverSubscribe=EXCLUSIVE\n";
    let accounts = false;
    let slurm = Slurm::begin(&NodeRequest { nodes: 16, conf, topology: None, accounts }).unwrap();
    let home = slurm.home().to_owned();
    fs::write(home.join("policy.toml"), POLICY.replace("8x8", "4x4")).unwrap();
    // One job after the other, from submission to running.
    let latency = |partition: &str| {
        let mut all: Vec<f64> = Vec::new();
        for _ in 0..40 {
            let began = std::time::Instant::now();
            let fixed = ["--parsable", "-N2", "-t5", "-o", "/dev/null", "--wrap", "sleep 1"];
            let id = slurm.ask("sbatch", &[&fixed[..], &["-p", partition]].concat()).out;
            while slurm.ask("squeue", &["-h", "-o", "%t", "-j", id.trim()]).out.trim() == "PD" {
                sleep(Duration::from_millis(20));
            }
            all.push(began.elapsed().as_secs_f64());
            sleep(Duration::from_millis(1_300));
        }
        all.sort_by(f64::total_cmp);
        (all[20], all[36])
    };
    let plain = latency("plain");
    println!("plain: median {:.2} s, p90 {:.2} s", plain.0, plain.1);
    let agent = Agent::begin(&slurm);
    sleep(Duration::from_secs(2));
    let placed = latency("in");
    println!("agent, poll 0.3 s: median {:.2} s, p90 {:.2} s", placed.0, placed.1);
    println!("added: median {:.2} s", placed.0 - plain.0);
    drop(agent);
    // A look with 10,000 pending jobs, all but a few too large to start.
    let fixed = ["-N16", "-t5", "-o", "/dev/null", "--wrap", "sleep 600", "--array", "1-10000"];
    let said = slurm.ask("sbatch", &[&fixed[..], &["-p", "in"]].concat());
    assert_eq!(said.status, Some(0), "{}", said.err);
    let looks = ["ops", "agent", ".", "--policy", "policy.toml", "--poll", "50ms", "--dry-run"];
    let time = |count: &str| {
        let began = std::time::Instant::now();
        let said = slurm.meshwork(&[&looks[..], &["--looks", count]].concat());
        assert_eq!(said.status, Some(0), "{}", said.err);
        began.elapsed().as_secs_f64()
    };
    let (few, many) = (time("1"), time("11"));
    println!("a look with 10,000 pending jobs: {:.3} s", (many - few) / 10.0 - 0.001);
}

#[test]
fn what_an_agent_cannot_do_is_said() {
    let home = tempfile::tempdir().unwrap();
    let site = home.path().display().to_string();
    let ask = |more: &[&str]| meshwork(home.path(), &[&["ops", "agent", &site], more].concat());
    let none = ask(&["--policy", "none.toml"]);
    assert_eq!(none.status, Some(2));
    assert!(none.err.contains("there is no slurm.conf"), "{}", none.err);
    fs::write(
        home.path().join("slurm.conf"),
        "NodeName=n[1-4]\nPartitionName=run Nodes=n[1-4]\nPartitionName=in Nodes=n[1-4] State=DOWN\n",
    )
    .unwrap();
    let policy = home.path().join("policy.toml");
    fs::write(&policy, POLICY).unwrap();
    let policy = policy.display().to_string();
    let other = ask(&["--policy", &policy]);
    assert_eq!(other.status, Some(2));
    assert!(other.err.contains("64 nodes, but 4 have names"), "{}", other.err);
    let unknown = ask(&["--policy", &policy, "--run", "fast"]);
    assert!(unknown.err.contains("has no partition fast"), "{}", unknown.err);
    let none = ask(&[]);
    assert!(none.err.contains("--policy STUDY"), "{}", none.err);
    let gone = ask(&["--policy", &policy, "--set", "machine=mesh:2x2", "--commands", "/nowhere"]);
    assert_eq!(gone.status, Some(1));
    assert!(gone.err.contains("scontrol cannot be started"), "{}", gone.err);
    let poll = ask(&["--policy", &policy, "--poll", "1ms"]);
    assert!(poll.status == Some(2) && poll.err.contains("at least 50ms"), "{}", poll.err);
    let address = ask(&["--policy", &policy, "--metrics", "nowhere"]);
    assert!(address.err.contains("an address and a port are needed"), "{}", address.err);
}
