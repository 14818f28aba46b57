//! A real Slurm of three nodes on this computer, and all that may happen to a sweep on it.
//!
//! It needs the packages slurmctld, slurmd, slurm-client and munge, which the gate installs where it may, and root,
//! because munge and the daemons do; else it says that it was skipped. Everything listens on this computer alone, and
//! every process that is started here is ended here.
#![cfg(target_os = "linux")]

mod common;

use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use common::{Said, said, skip};

/// 60 runs of a good part of a second each, in the build of tests.
const STUDY: &str = "
name = 'on-slurm'
replications = 10
[machine]
topology = 'mesh'
dims = [32, 32]
[workload]
name = 'synthetic'
sizes = 'uniform'
runtimes = { name = 'exponential', mean = 5.0 }
[measure]
jobs = 16000
metrics = ['wait', 'utilization']
[sweep]
allocator = ['first_fit', 'frame_sliding']
'workload.load' = [0.3, 0.4, 0.5]
[compare]
allocator = 'first_fit'
";
const NODES: usize = 3;
const ALL: Duration = Duration::from_secs(170);

/// The daemons, until they are dropped.
struct Slurm {
    home: tempfile::TempDir,
    daemons: Vec<Child>,
    began: Instant,
}

fn find(program: &str) -> Option<PathBuf> {
    ["/usr/sbin", "/usr/bin", "/sbin", "/bin"]
        .into_iter()
        .map(|folder| Path::new(folder).join(program))
        .find(|path| path.is_file())
}

fn is_root() -> bool {
    let id = Command::new("id").arg("-u").output();
    id.is_ok_and(|output| output.stdout.trim_ascii() == b"0")
}

fn quiet(program: &str, arguments: &[&str]) -> bool {
    let status = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    status.is_ok_and(|status| status.success())
}

/// Munge, unless it answers already: what is started here is stopped here. `None` where it does not start.
fn munge() -> Option<Vec<Child>> {
    if quiet("munge", &["-n"]) {
        return Some(Vec::new());
    }
    let folder = ["-d", "-o", "munge", "-g", "munge", "-m", "755", "/run/munge"];
    if !quiet("install", &folder) {
        return None;
    }
    // In the foreground it is our child, and so no longer than we want.
    let words =
        ["--reuid=munge", "--regid=munge", "--init-groups", "/usr/sbin/munged", "--foreground"];
    let nothing = Stdio::null;
    let mut command = Command::new("setpriv");
    command.args(words).stdin(nothing()).stdout(nothing()).stderr(nothing());
    let mut child = command.spawn().ok()?;
    let answers = (0..100).any(|_| {
        sleep(Duration::from_millis(50));
        quiet("munge", &["-n"])
    });
    if !answers {
        end(&mut child);
    }
    answers.then(|| vec![child])
}

/// Ends a process of ours: by a word, and if that is not heard, without one.
fn end(child: &mut Child) {
    let began = Instant::now();
    quiet("kill", &[&child.id().to_string()]);
    while child.try_wait().is_ok_and(|ended| ended.is_none()) {
        if began.elapsed() > Duration::from_secs(5) {
            let _ = child.kill();
        }
        sleep(Duration::from_millis(50));
    }
}

impl Slurm {
    /// Begins one; says why where that cannot be.
    fn begin() -> Result<Slurm, String> {
        for program in ["slurmctld", "slurmd", "sbatch", "scontrol", "munge", "munged"] {
            if find(program).is_none() {
                return Err(format!("{program} is not installed"));
            }
        }
        if !is_root() {
            return Err("a Slurm needs root".to_owned());
        }
        let daemons = munge().ok_or("munge does not start")?;
        let home = tempfile::tempdir().unwrap();
        for name in ["state", "spool", "log"] {
            fs::create_dir(home.path().join(name)).unwrap();
        }
        // Free ones now; all are let go before the daemons take them.
        let ports: Vec<u16> = {
            let listen = |_| TcpListener::bind(("127.0.0.1", 0)).unwrap();
            let all: Vec<TcpListener> = (0..=NODES).map(listen).collect();
            all.iter().map(|one| one.local_addr().unwrap().port()).collect()
        };
        let host = Command::new("hostname").arg("-s").output().unwrap().stdout;
        let host = String::from_utf8(host).unwrap().trim().to_owned();
        let dir = home.path().display();
        let mut conf = format!(
            "ClusterName=gate\nSlurmctldHost={host}(127.0.0.1)\nSlurmUser=root\nSlurmdUser=root\n\
             AuthType=auth/munge\nCredType=cred/munge\nSlurmctldPort={}\nStateSaveLocation={dir}/state\n\
             SlurmdSpoolDir={dir}/spool/%n\nSlurmctldPidFile={dir}/slurmctld.pid\nSlurmdPidFile={dir}/%n.pid\n\
             SlurmctldLogFile={dir}/log/slurmctld.log\nSlurmdLogFile={dir}/log/%n.log\n\
             ProctrackType=proctrack/linuxproc\nTaskPlugin=task/none\nJobAcctGatherType=jobacct_gather/none\n\
             AccountingStorageType=accounting_storage/none\nJobCompType=jobcomp/none\nMpiDefault=none\n\
             SwitchType=switch/none\nReturnToService=2\nSchedulerType=sched/backfill\n\
             SchedulerParameters=sched_interval=1,sched_min_interval=0,batch_sched_delay=0\n\
             SelectType=select/cons_tres\nSelectTypeParameters=CR_Core\nSlurmdParameters=config_overrides\n\
             KillWait=2\nSlurmctldTimeout=30\nSlurmdTimeout=60\nMaxArraySize=6\n",
            ports[0]
        );
        for (node, port) in (1..=NODES).zip(&ports[1..]) {
            conf += &format!(
                "NodeName=n{node} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} CPUs=2 RealMemory=4000\n"
            );
        }
        conf += "PartitionName=main Nodes=n[1-3] Default=YES MaxTime=INFINITE State=UP\n";
        fs::write(home.path().join("slurm.conf"), conf).unwrap();
        let mut slurm = Slurm { home, daemons, began: Instant::now() };
        slurm.daemon("slurmctld", &["-D"]);
        for node in 1..=NODES {
            slurm.daemon("slurmd", &["-D", "-N", &format!("n{node}")]);
        }
        let is_up = |slurm: &Slurm| {
            let said = slurm.ask("sinfo", &["--noheader", "-N", "-o", "%T"]);
            said.out.lines().filter(|line| *line == "idle").count() == NODES
        };
        while !is_up(&slurm) {
            if slurm.began.elapsed() > Duration::from_secs(40) {
                let log = fs::read_to_string(slurm.home.path().join("log/slurmctld.log"));
                return Err(format!("its daemons do not come up: {}", log.unwrap_or_default()));
            }
            sleep(Duration::from_millis(100));
        }
        Ok(slurm)
    }

    fn daemon(&mut self, name: &str, arguments: &[&str]) {
        let child = self
            .command(find(name).unwrap().to_str().unwrap())
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        self.daemons.push(child.unwrap());
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command
            .env("SLURM_CONF", self.home.path().join("slurm.conf"))
            .current_dir(self.home.path());
        command
    }

    fn ask(&self, program: &str, arguments: &[&str]) -> Said {
        said(&self.command(program).args(arguments).output().unwrap())
    }

    fn meshwork(&self, arguments: &[&str]) -> Said {
        self.ask(env!("CARGO_BIN_EXE_meshwork"), arguments)
    }

    fn done(&self) -> u64 {
        let said = self.meshwork(&["status", "S", "--json"]);
        let object: serde_json::Value = serde_json::from_str(said.out.trim()).unwrap_or_default();
        object["done"].as_u64().unwrap_or(0)
    }

    /// The last lines of all segments.
    fn notes(&self) -> String {
        let found = fs::read_dir(self.home.path().join("S/runs")).into_iter().flatten().flatten();
        let last = |path: PathBuf| {
            let text = fs::read_to_string(path).ok()?;
            text.lines().last().map(str::to_owned)
        };
        found.filter_map(|entry| last(entry.path())).collect::<Vec<_>>().join("\n")
    }

    /// Waits until something is so.
    fn wait(&self, what: &str, is_so: impl Fn() -> bool) {
        while !is_so() {
            assert!(
                self.began.elapsed() < ALL,
                "{what}: not within the time: {}",
                self.ask("squeue", &["--array"]).out
            );
            sleep(Duration::from_millis(200));
        }
    }

    /// The tasks that run, as Slurm numbers them, and their nodes.
    fn running(&self) -> Vec<(String, String)> {
        let said = self.ask(
            "squeue",
            &["--noheader", "--array", "--states", "R", "--name", "on-slurm", "--format", "%i %N"],
        );
        let task = |line: &str| {
            let (task, node) = line.trim().split_once(' ')?;
            Some((task.to_owned(), node.to_owned()))
        };
        said.out.lines().filter_map(task).collect()
    }

    /// The processes that write segments now.
    fn writers(&self) -> Vec<u32> {
        let found = fs::read_dir(self.home.path().join("S/runs")).into_iter().flatten().flatten();
        let writer = |name: String| {
            let name = name.strip_suffix(".jsonl.part")?.to_owned();
            let process: u32 = name.rsplit('-').next()?.parse().ok()?;
            let command = fs::read(format!("/proc/{process}/cmdline")).ok()?;
            String::from_utf8_lossy(&command).contains("meshwork").then_some(process)
        };
        found.filter_map(|entry| writer(entry.file_name().to_string_lossy().into_owned())).collect()
    }

    /// No task is waiting or running; what waits after a failure need not wait long.
    fn is_idle(&self) -> bool {
        let said = self.ask("squeue", &["--noheader", "--array", "--format", "%i %T"]);
        for line in said.out.lines() {
            if let Some((task, state)) = line.trim().split_once(' ')
                && state == "PENDING"
            {
                self.ask("scontrol", &["update", &format!("jobid={task}"), "starttime=now"]);
            }
        }
        said.out.trim().is_empty()
    }
}

impl Drop for Slurm {
    fn drop(&mut self) {
        self.ask("scancel", &["--user=root"]);
        self.ask("scontrol", &["shutdown"]);
        // They have been told to end; munge, which they need, is the first of the list and ends last.
        self.daemons.iter_mut().rev().for_each(end);
    }
}

#[test]
fn nothing_that_slurm_does_changes_a_byte() {
    let slurm = match Slurm::begin() {
        Ok(slurm) => slurm,
        Err(why) => return skip(&format!("a sweep on a real Slurm: {why}")),
    };
    let home = slurm.home.path();
    fs::write(home.join("study.toml"), STUDY).unwrap();
    let arguments = [
        "submit",
        "study.toml",
        "--out",
        "S",
        "--engine",
        "slurm",
        "--shards",
        "8",
        "--mem",
        "200M",
        // The shortest limit that Slurm knows: a task is told to end in the middle of its runs.
        "--time",
        "1m",
    ];
    let submitted = slurm.meshwork(&arguments);
    assert_eq!((submitted.status, submitted.err.as_str()), (Some(0), ""), "{}", submitted.out);
    assert!(submitted.out.contains("8 shards of 60 parts as jobs "), "split: {}", submitted.out);

    // A task is killed, and another one, while they run.
    slurm.wait("runs end", || slurm.done() >= 3);
    for _ in 0..2 {
        slurm.wait("a task writes", || !slurm.writers().is_empty());
        let writer = slurm.writers()[0];
        assert!(quiet("kill", &["-9", &writer.to_string()]));
        sleep(Duration::from_millis(300));
    }
    // It is collected before its end.
    let early = slurm.meshwork(&["collect", "S"]);
    assert_eq!(early.status, Some(3), "{}{}", early.out, early.err);

    // A node goes down while its tasks run: they start elsewhere, or again, while the first copies may still write.
    slurm.wait("a task runs", || !slurm.running().is_empty() || slurm.is_idle());
    if let Some((_, node)) = slurm.running().first() {
        let name = format!("nodename={node}");
        slurm.ask("scontrol", &["update", &name, "state=down", "reason=test"]);
        sleep(Duration::from_secs(1));
        slurm.ask("scontrol", &["update", &name, "state=resume"]);
    }
    // A task is put back into the queue, and starts again at once; a copy of its first run goes on beside it.
    if let Some((task, _)) = slurm.running().last() {
        let index: u64 = task.rsplit('_').next().unwrap().parse().unwrap_or(0);
        let copy = ["run", "S/experiment.toml", "--out", "S", "--deal", "S/submit/1.deal.csv"];
        let shard =
            ["--shard", &format!("{index}/8"), "--threads", "1", "--time-budget", "5s", "--quiet"];
        let mut copy = slurm
            .command(env!("CARGO_BIN_EXE_meshwork"))
            .args([&copy[..], &shard[..]].concat())
            .spawn()
            .unwrap();
        slurm.ask("scontrol", &["requeue", task]);
        let ended = copy.wait().unwrap().code();
        assert!(matches!(ended, Some(0 | 75)), "{ended:?}");
    }
    slurm.wait("the first submission ends", || slurm.is_idle());
    let notes = slurm.notes();
    assert!(
        notes.contains("\"stopped\":true"),
        "a task was told to end in the middle of its runs: {notes}"
    );
    let parts = fs::read_dir(home.join("S/runs")).unwrap().flatten();
    let is_part = |entry: &fs::DirEntry| entry.path().to_string_lossy().ends_with(".part");
    assert!(
        parts.filter(is_part).count() >= 2,
        "what was killed keeps the name of what is not whole"
    );
    let collected = slurm.meshwork(&["collect", "S"]);
    assert_eq!(collected.status, Some(3), "{}{}", collected.out, collected.err);

    // What has not ended is submitted again, until nothing is left.
    for _ in 0..4 {
        let again = slurm.meshwork(&[&arguments[..], &["--missing"]].concat());
        assert_eq!(again.status, Some(0), "{}", again.err);
        if again.out.contains("nothing is missing") {
            break;
        }
        slurm.wait("what was missing ends", || slurm.is_idle());
    }
    let local = slurm.meshwork(&["run", "study.toml", "--out", "local", "--quiet"]);
    assert_eq!((local.status, local.err.as_str()), (Some(0), ""));
    let last = slurm.meshwork(&["collect", "S"]);
    assert_eq!((last.status, last.err.as_str()), (Some(0), ""), "{}", last.out);
    for name in ["runs.jsonl", "summary.csv", "comparison.csv", "experiment.toml"] {
        let (ours, theirs) =
            (fs::read(home.join("S").join(name)), fs::read(home.join("local").join(name)));
        assert!(ours.unwrap() == theirs.unwrap(), "{name} has other bytes");
    }
    assert!(!home.join("S/runs").exists(), "all segments were taken in");
}
