//! Tests of the agent and the shadow on a real Slurm of 64 nodes on this computer.
//!
//! The agent places the jobs of the Slurm, and the shadow only observes them. The tests submit jobs
//! with `sbatch`, kill the agent and the controller, drain a node and requeue a job.
#![cfg(target_os = "linux")]

mod chapter;
mod figures;
mod limits;
mod rights;
mod runs;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::thread::sleep;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use meshwork_slurm::hostlist;
use serde_json::Value as Json;

use crate::common::slurm::{NodeRequest, Slurm, quiet};
use crate::common::{meshwork, skip};

const NODES: usize = 64;
const JOBS: usize = 100;
/// Time limit of the whole test in seconds.
const ALL: u64 = 420;

const POLICY: &str = "
name = 'policy'
machine = 'torus:8x8'
allocator = 'first_fit'
scheduler = 'easy'
workload = { name = 'lublin', load = 0.5 }
measure = { jobs = 10 }
";

/// Child process that is killed when dropped.
struct Killable(Child);

impl Drop for Killable {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts an agent with the policy of `policy.toml` and further arguments.
fn agent(slurm: &Slurm, more: &[&str]) -> Killable {
    let child = slurm
        .command(env!("CARGO_BIN_EXE_meshwork"))
        .args(["ops", "agent", ".", "--policy", "policy.toml", "--poll", "300ms"])
        .args(more)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    Killable(child.unwrap())
}

/// Slurm with a parking partition. Its controller and the jobs themselves record runs.
struct Parked {
    slurm: Slurm,
    ends: PathBuf,
    own: PathBuf,
    /// Begin and end of each period in which no controller ran, in seconds since 1970.
    crashes: RefCell<Vec<(f64, f64)>>,
    _records: tempfile::TempDir,
}

fn now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs_f64()
}

impl Parked {
    fn begin(nodes: usize, more: &str) -> Result<Parked, String> {
        let records = tempfile::tempdir().unwrap();
        let ends = records.path().join("ends.txt");
        let conf = format!(
            "{more}JobCompType=jobcomp/filetxt\nJobCompLoc={}\n\
             PartitionName=in Nodes=n[1-{nodes}] Default=YES MaxTime=INFINITE State=DOWN OverSubscribe=EXCLUSIVE\n\
             PartitionName=run Nodes=n[1-{nodes}] MaxTime=INFINITE State=UP OverSubscribe=EXCLUSIVE\n",
            ends.display()
        );
        let wanted = NodeRequest { nodes, conf: &conf, topology: None, accounts: false };
        let slurm = Slurm::begin(&wanted)?;
        fs::write(slurm.home().join("policy.toml"), POLICY).unwrap();
        let own = records.path().join("own.txt");
        Ok(Parked { slurm, ends, own, crashes: RefCell::default(), _records: records })
    }

    /// Kills the controller of Slurm, and starts a new one that is killed when the result is
    /// dropped.
    fn restart(&self) -> Killable {
        let pid = fs::read_to_string(self.slurm.home().join("slurmctld.pid")).unwrap();
        let before = now();
        assert!(quiet("kill", &["-9", pid.trim()]));
        self.crashes.borrow_mut().push((before, now()));
        sleep(Duration::from_millis(300));
        let mut command = self.slurm.command("/usr/sbin/slurmctld");
        let child = command.arg("-D").stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        Killable(child.unwrap())
    }

    fn submit(&self, nodes: usize, sleeps: &str, more: &[&str]) -> String {
        let own = self.own.display();
        let wrap = format!(
            "echo $SLURM_JOB_ID $$ $SLURM_JOB_NODELIST $(date +%s.%N) >> {own}; sleep {sleeps}; \
             echo $SLURM_JOB_ID $$ end $(date +%s.%N) >> {own}"
        );
        let nodes = nodes.to_string();
        let fixed = ["--parsable", "-N", &nodes, "-t", "5", "-o", "/dev/null", "--wrap", &wrap];
        let said = self.slurm.ask("sbatch", &[&fixed[..], more].concat()).ended(0);
        said.out.trim().to_owned()
    }

    /// Waits for all jobs except those in `but`.
    ///
    /// Meanwhile it releases jobs that Slurm holds, e.g. after a crash of its controller.
    fn until_all_end(&self, seconds: u64, but: &[&str]) {
        self.slurm.wait(seconds, "all jobs end", || {
            let said = self.slurm.ask("squeue", &["-h", "-r", "-o", "%i %P %M %r"]);
            let mut left = 0;
            for line in said.out.lines() {
                let words: Vec<&str> = line.splitn(4, ' ').collect();
                left += usize::from(!but.contains(&words[0]));
                match words[..] {
                    // A crash of the controller interrupts launches: Slurm holds such a job for
                    // operators.
                    [id, "in", _, why] if why.contains("requeued held") => {
                        self.slurm.ask("scontrol", &["release", id]);
                    }
                    // A requeued job that the agent has taken back would start only after two
                    // minutes.
                    [id, "in", _, "BeginTime"] => {
                        let id = format!("jobid={id}");
                        self.slurm.ask("scontrol", &["update", &id, "starttime=now"]);
                    }
                    // Slurm loses an end that the controller had not saved before its crash, and
                    // notices it only minutes later. No job here runs for twenty seconds.
                    [id, "run" | "other", time, _]
                        if !time.starts_with("0:0") && !time.starts_with("0:1") =>
                    {
                        self.slurm.ask("scancel", &[id]);
                    }
                    _ => {}
                }
            }
            said.status == Some(0) && left == 0
        });
    }

    fn log(&self) -> String {
        fs::read_to_string(self.slurm.home().join("agent/log.jsonl")).unwrap_or_default()
    }

    /// Checks the starts of all jobs, and returns the number of recorded ends.
    ///
    /// Each job must have run on the nodes chosen for it, and alone on them. A decision in the log
    /// of the agent must come out the same if it is made again.
    ///
    /// The checked times are those that each job itself writes when it begins and ends. The
    /// controller's records are less reliable: a new controller goes back to a state that is some
    /// seconds old, and may record an end a second time and later. Jobs that run while the
    /// controller is killed are exempt, because the next controller may not know of them.
    fn check(&self) -> usize {
        let log = self.log();
        assert!(!log.contains("\"wrong\""), "a job ran on other nodes: {log}");
        let chosen = chosen(&log);
        let is_chosen = |id: &str, nodes: &BTreeSet<String>| match chosen.get(id) {
            Some(lists) => lists.contains(nodes),
            // In these records each task of an array has its own job number.
            None => chosen.values().flatten().any(|own| own == nodes),
        };
        let records = fs::read_to_string(&self.ends).unwrap();
        let ended = ended(&records);
        let own = fs::read_to_string(&self.own).unwrap();
        let runs = runs(&own);
        let recorded = ended.iter().map(|(id, nodes)| (id, nodes));
        for (id, nodes) in recorded.chain(runs.iter().map(|run| (&run.id, &run.nodes))) {
            assert!(is_chosen(id, nodes), "job {id} ran on {nodes:?}, not chosen: {log}");
        }
        let crashes = self.crashes.borrow();
        let is_known = |run: &&Run| {
            let end = run.end.unwrap_or(f64::INFINITY);
            !crashes.iter().any(|&(from, until)| run.begin <= until && from <= end)
        };
        let known: Vec<&Run> = runs.iter().filter(is_known).collect();
        for (place, run) in known.iter().enumerate() {
            for other in &known[..place] {
                // A killed run has no recorded end, but it held its nodes when it began.
                let end = |run: &Run| run.end.unwrap_or(run.begin);
                let together = run.begin.max(other.begin) < end(run).min(end(other));
                assert!(
                    !together || run.nodes.is_disjoint(&other.nodes),
                    "jobs {} and {} share nodes:\n{records}\n{own}\n{log}",
                    run.id,
                    other.id,
                );
            }
        }
        let again = ["ops", "agent", ".", "--policy", "policy.toml", "--replay", "agent/log.jsonl"];
        self.slurm.meshwork(&again).succeeded().out_has(" 0 of them another now");
        ended.len()
    }
}

/// Begin, end and nodes of a run, written by the job itself. Times are in seconds since 1970.
struct Run {
    id: String,
    nodes: BTreeSet<String>,
    begin: f64,
    /// Time at which the job ended; `None` if it was killed.
    end: Option<f64>,
}

/// Job runs, read from lines that the jobs wrote.
///
/// A line has the job, its process, the names of its nodes (or `end`), and the time.
fn runs(own: &str) -> Vec<Run> {
    let mut runs: BTreeMap<(&str, &str), Run> = BTreeMap::new();
    for line in own.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        let [id, process, nodes, at] = words[..] else { panic!("{line}") };
        let at = at.parse().unwrap();
        if nodes == "end" {
            runs.get_mut(&(id, process)).unwrap().end = Some(at);
        } else {
            let nodes = hostlist::names(nodes).unwrap().into_iter().collect();
            runs.insert((id, process), Run { id: id.to_owned(), nodes, begin: at, end: None });
        }
    }
    runs.into_values().collect()
}

/// Jobs that the controller recorded as ended, with their nodes.
fn ended(text: &str) -> Vec<(String, BTreeSet<String>)> {
    let of = |line: &str| {
        let value = |key: &str| {
            line.split_whitespace().find_map(|word| word.strip_prefix(key)?.strip_prefix('='))
        };
        let nodes = value("NodeList").filter(|list| *list != "(null)")?;
        let nodes = hostlist::names(nodes).unwrap().into_iter().collect();
        (value("Partition")? == "run").then_some((value("JobId")?.to_owned(), nodes))
    };
    text.lines().filter_map(of).collect()
}

/// Node sets that the agent chose according to its log, for each job ID in the order of the log.
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
    let parked = match Parked::begin(NODES, "") {
        Ok(parked) => parked,
        Err(why) => return skip("slurm", &format!("an agent beside a real Slurm: {why}")),
    };
    let slurm = &parked.slurm;
    // The name of the first job and the comment of the second look like output of Slurm on other
    // jobs.
    let odd = parked.submit(2, "0.5", &["-J", "x SubmitTime=1 Partition=in\nJobId=9"]);
    parked.submit(4, "0.5", &["--comment", "block=2x2\n9|run|R"]);
    parked.submit(1, "0.5", &["-x", "n1,n2"]);
    parked.submit(1, "0.5", &["-w", "n7"]);
    parked.submit(2, "0.5", &["--array", "1-4"]);
    let sizes = [1, 2, 4, 8, 16, 3, 6, 12, 1, 2];
    for job in 0..JOBS - 8 {
        parked.submit(sizes[job % sizes.len()], ["0.3", "1", "0.5"][job % 3], &[]);
    }
    let mut controller = None;
    for kill in 0..10_u64 {
        let agent = agent(slurm, &[]);
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
                controller = Some(parked.restart());
            }
            _ => {}
        }
        // To drop the agent is to kill it, as by `kill -9`.
        drop(agent);
    }
    slurm.ask("scontrol", &["update", "nodename=n20", "state=resume"]);
    let begins = || parked.log().matches("\"event\":\"begin\"").count();
    let before = begins();
    let agent = agent(slurm, &[]);
    // A second agent is refused while the first runs.
    slurm.wait(ALL, "the last agent begins", || begins() > before);
    let second =
        slurm.meshwork(&["ops", "agent", ".", "--policy", "policy.toml", "--looks", "1"]).ended(1);
    second.err_has("one agent at a time");
    // The first job stays parked, because its name looks like fields that the agent reads.
    parked.until_all_end(ALL, &[&odd]);
    slurm.ask("scancel", &[&odd]);
    drop(agent);
    let ended = parked.check();
    assert!(ended >= JOBS - 4, "{ended} of {JOBS} jobs ended");

    the_way_back(&parked);
    a_shadow(&parked);
    drop(controller);
}

/// Tests that Slurm itself starts parked jobs once the kill switch opens their partition.
///
/// An overdue heartbeat of the agent must make the watchdog open this partition too.
fn the_way_back(parked: &Parked) {
    let slurm = &parked.slurm;
    let ops = |more: &[&str]| slurm.meshwork(&[&["ops", "agent", "."], more].concat());
    let id = parked.submit(2, "0.5", &[]);
    let is_running = || slurm.ask("squeue", &["-h", "-t", "R,CG", "-j", &id]).out.contains(&id);
    ops(&["--open"]).succeeded();
    slurm.wait(ALL, "Slurm starts a parked job", || {
        is_running() || slurm.ask("squeue", &["-h", "-j", &id]).out.is_empty()
    });
    ops(&["--policy", "policy.toml", "--looks", "1"]).err_has("the kill switch is set");
    ops(&["--close"]).ended(0);
    let state = || slurm.ask("scontrol", &["show", "partition", "in", "-o"]).out;
    assert!(state().contains("State=DOWN"), "{}", state());
    ops(&["--watchdog", "10m"]).ended(0);
    let old = ["-d", "2 hours ago", "agent/heartbeat"];
    slurm.ask("touch", &old).ended(0);
    ops(&["--watchdog", "10m"]).ended(1);
    assert!(state().contains("State=UP"), "{}", state());
}

/// `ops shadow` records starts, and its folder is a valid site.
fn a_shadow(parked: &Parked) {
    let slurm = &parked.slurm;
    let port = TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap().port();
    let child = slurm
        .command(env!("CARGO_BIN_EXE_meshwork"))
        .args(["ops", "shadow", ".", "--policy", "policy.toml", "--partition", "in"])
        .args(["--poll", "300ms", "-o", "seen", "--looks", "25", "--metrics", &port.to_string()])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    sleep(Duration::from_millis(1_500));
    for nodes in [1, 4, 8, 2, 16] {
        parked.submit(nodes, "1.5", &[]);
    }
    sleep(Duration::from_millis(1_500));
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
        let names = |key: &str| -> BTreeSet<String> {
            hostlist::names(start[key].as_str().unwrap()).unwrap().into_iter().collect()
        };
        assert!(names("slurm").is_subset(&names("free")), "{line}");
    }
    let again = ["ops", "agent", ".", "--policy", "policy.toml", "--replay", "seen/starts.jsonl"];
    slurm.meshwork(&again).out_has(" 0 of them another now");
    // With `--ends user_mean` the agent predicts run times from the recorded jobs of each user.
    let told = ["--ends", "user_mean", "--history", "seen", "--dry-run", "--looks", "1"];
    parked.submit(1, "1", &[]);
    slurm
        .meshwork(&[&["ops", "agent", ".", "--policy", "policy.toml"], &told[..]].concat())
        .succeeded();
    let fidelity = slurm.meshwork(&["ops", "fidelity", "seen", "--json"]);
    assert!(fidelity.status.is_some_and(|status| status < 2), "{}", fidelity.err);
}

#[test]
fn what_an_agent_cannot_do_is_said() {
    let home = tempfile::tempdir().unwrap();
    let site = home.path().display().to_string();
    let ask = |more: &[&str]| meshwork(&home, &[&["ops", "agent", &site], more].concat());
    ask(&["--policy", "none.toml"]).ended(2).err_has("there is no slurm.conf");
    fs::write(
        home.path().join("slurm.conf"),
        "NodeName=n[1-4]\nPartitionName=run Nodes=n[1-4]\nPartitionName=in Nodes=n[1-4] State=DOWN\n",
    )
    .unwrap();
    let policy = home.path().join("policy.toml");
    fs::write(&policy, POLICY).unwrap();
    let policy = policy.display().to_string();
    ask(&["--policy", &policy]).ended(2).err_has("64 nodes, but 4 have names");
    ask(&["--policy", &policy, "--run", "fast"]).err_has("has no partition fast");
    ask(&[]).err_has("--policy STUDY");
    let gone =
        ask(&["--policy", &policy, "--set", "machine=mesh:2x2", "--commands", "/nowhere"]).ended(1);
    gone.err_has("scontrol cannot be started");
    let small = ["--policy", &policy, "--set", "machine=mesh:2x2"];
    for twice in [["--park", "run"], ["--pass", "in"], ["--pass", "run"]] {
        ask(&[&small[..], &twice[..]].concat()).ended(1).err_has("must be different partitions");
    }
    // The error message repeats the error that `scontrol` printed before it ended.
    let folder = home.path().join("commands");
    fs::create_dir(&folder).unwrap();
    let text = "#!/bin/sh\necho 'scontrol: fatal: no configuration' >&2\nexit 1\n";
    fs::write(folder.join("scontrol"), text).unwrap();
    fs::set_permissions(folder.join("scontrol"), fs::Permissions::from_mode(0o755)).unwrap();
    let ended = ask(&[&small[..], &["--commands", folder.to_str().unwrap()]].concat());
    let says = "scontrol has ended: fatal: no configuration";
    assert!(ended.status == Some(1) && ended.err.contains(says), "{}", ended.err);
    let poll = ask(&["--policy", &policy, "--poll", "1ms"]);
    assert!(poll.status == Some(2) && poll.err.contains("at least 50ms"), "{}", poll.err);
    ask(&["--policy", &policy, "--metrics", "nowhere"]).err_has("an address and a port are needed");
}
