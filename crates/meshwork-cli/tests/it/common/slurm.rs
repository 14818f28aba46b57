//! A real Slurm of a few nodes on this computer, for tests.
//!
//! It needs root for munge and the daemons, and the packages slurmctld, slurmd, slurm-client and
//! munge. Accounting also needs slurmdbd, slurm-wlm-mysql-plugin and mariadb-server. All daemons
//! listen on this computer alone, and every process started here is ended here.

use std::collections::BTreeSet;
use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::{Said, ran};

/// Running Slurm daemons, which end when this value is dropped.
pub(crate) struct Slurm {
    home: tempfile::TempDir,
    daemons: Vec<Child>,
    /// Daemon that authenticates Slurm's messages. It must be dropped after the daemons of Slurm.
    #[allow(dead_code, reason = "it is there to be dropped")]
    munge: Munge,
    nodes: usize,
    began: Instant,
}

/// Nodes, `slurm.conf`, topology and accounting of a Slurm for a test.
pub(crate) struct NodeRequest<'a> {
    /// Number of nodes. They have two processors each, and are named n1, n2 and so on.
    pub(crate) nodes: usize,
    /// Lines of `slurm.conf`; the last one defines the partition.
    pub(crate) conf: &'a str,
    /// Contents of the `topology.conf`; `None` if Slurm gets no such file.
    pub(crate) topology: Option<&'a str>,
    pub(crate) accounts: bool,
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

pub(crate) fn quiet(program: &str, arguments: &[&str]) -> bool {
    let status = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    status.is_ok_and(|status| status.success())
}

/// Lock that lets only one Slurm run at a time, because all share munge and the processors.
static ONE: Mutex<()> = Mutex::new(());

pub(crate) struct Munge {
    /// Daemon of munge; `None` if munge ran before this test.
    daemon: Option<Child>,
    _one: MutexGuard<'static, ()>,
}

impl Munge {
    /// Starts munge, unless it already answers. The error is a reason to skip the test.
    pub(crate) fn begin(programs: &[&str]) -> Result<Munge, String> {
        for program in programs.iter().chain(&["munge", "munged"]) {
            if find(program).is_none() {
                return Err(format!("{program} is not installed"));
            }
        }
        if !is_root() {
            return Err("a Slurm needs root".to_owned());
        }
        let one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
        let munge = |daemon| Munge { daemon, _one: one };
        if quiet("munge", &["-n"]) {
            return Ok(munge(None));
        }
        let unable = || "munge does not start".to_owned();
        let folder = ["-d", "-o", "munge", "-g", "munge", "-m", "755", "/run/munge"];
        if !quiet("install", &folder) {
            return Err(unable());
        }
        // In the foreground, munge is a child process, which can be ended.
        let words =
            ["--reuid=munge", "--regid=munge", "--init-groups", "/usr/sbin/munged", "--foreground"];
        let nothing = Stdio::null;
        let mut command = Command::new("setpriv");
        command.args(words).stdin(nothing()).stdout(nothing()).stderr(nothing());
        let munge = munge(Some(command.spawn().map_err(|_| unable())?));
        let answers = (0..100).any(|_| {
            sleep(Duration::from_millis(50));
            quiet("munge", &["-n"])
        });
        answers.then_some(munge).ok_or_else(unable)
    }
}

impl Drop for Munge {
    fn drop(&mut self) {
        self.daemon.iter_mut().for_each(end);
    }
}

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

/// Free TCP ports, released before the daemons of Slurm bind them.
pub(crate) fn ports(count: usize) -> Vec<u16> {
    let listen = |_| TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let all: Vec<TcpListener> = (0..count).map(listen).collect();
    all.iter().map(|one| one.local_addr().unwrap().port()).collect()
}

/// First of consecutive free ports, below those that the system assigns by itself.
pub(crate) fn consecutive_ports(count: u16) -> u16 {
    let first = std::process::id() as u16 % 1_000 * 20;
    let candidates = (0..1_000).map(|turn| 10_000 + (first + turn * 20) % 20_000);
    let are_free = |first: &u16| {
        (*first..*first + count).all(|port| TcpListener::bind(("127.0.0.1", port)).is_ok())
    };
    candidates.into_iter().find(are_free).expect("some ports are free")
}

impl Slurm {
    /// Starts a Slurm. If it cannot start, the error is a reason to skip the test.
    pub(crate) fn begin(wanted: &NodeRequest<'_>) -> Result<Slurm, String> {
        Slurm::begin_with(wanted, &[])
    }

    /// Puts further files into the folder of `slurm.conf`.
    pub(crate) fn begin_with(
        wanted: &NodeRequest<'_>,
        files: &[(&str, &str)],
    ) -> Result<Slurm, String> {
        let mut programs = vec!["slurmctld", "slurmd", "sbatch", "scontrol"];
        if wanted.accounts {
            programs.extend(["slurmdbd", "sacct", "sacctmgr", "mariadbd", "mariadb-install-db"]);
        }
        let munge = Munge::begin(&programs)?;
        let home = tempfile::tempdir().unwrap();
        for name in ["state", "spool", "log"] {
            fs::create_dir(home.path().join(name)).unwrap();
        }
        let ports = ports(wanted.nodes + 3);
        let host = Command::new("hostname").arg("-s").output().unwrap().stdout;
        let host = String::from_utf8(host).unwrap().trim().to_owned();
        let dir = home.path().display();
        let mut conf = format!(
            "ClusterName=gate\nSlurmctldHost={host}(127.0.0.1)\nSlurmUser=root\nSlurmdUser=root\n\
             AuthType=auth/munge\nCredType=cred/munge\nSlurmctldPort={}\nStateSaveLocation={dir}/state\n\
             SlurmdSpoolDir={dir}/spool/%n\nSlurmctldPidFile={dir}/slurmctld.pid\nSlurmdPidFile={dir}/%n.pid\n\
             SlurmctldLogFile={dir}/log/slurmctld.log\nSlurmdLogFile={dir}/log/%n.log\n\
             ProctrackType=proctrack/linuxproc\nTaskPlugin=task/none\nJobAcctGatherType=jobacct_gather/none\n\
             JobCompType=jobcomp/none\nMpiDefault=none\nSwitchType=switch/none\nReturnToService=2\n\
             SchedulerType=sched/backfill\n\
             SchedulerParameters=sched_interval=1,sched_min_interval=0,batch_sched_delay=0\n\
             SelectType=select/cons_tres\nSelectTypeParameters=CR_Core\nSlurmdParameters=config_overrides\n\
             KillWait=2\nSlurmctldTimeout=30\nSlurmdTimeout=60\nMaxArraySize=6\n",
            ports[0]
        );
        conf += &if wanted.accounts {
            let port = ports[1];
            format!(
                "AccountingStorageType=accounting_storage/slurmdbd\n\
                 AccountingStorageHost=127.0.0.1\nAccountingStoragePort={port}\n"
            )
        } else {
            "AccountingStorageType=accounting_storage/none\n".to_owned()
        };
        for (node, port) in (1..=wanted.nodes).zip(&ports[3..]) {
            conf += &format!(
                "NodeName=n{node} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} CPUs=2 RealMemory=4000\n"
            );
        }
        fs::write(home.path().join("slurm.conf"), conf + wanted.conf).unwrap();
        for (name, text) in files {
            fs::write(home.path().join(name), text).unwrap();
        }
        if let Some(topology) = wanted.topology {
            fs::write(home.path().join("topology.conf"), topology).unwrap();
        }
        let nodes = wanted.nodes;
        let mut slurm = Slurm { home, daemons: Vec::new(), munge, nodes, began: Instant::now() };
        if wanted.accounts {
            slurm.keep_accounts(ports[1], ports[2])?;
        }
        slurm.daemon("slurmctld", &["-D"]);
        for node in 1..=wanted.nodes {
            slurm.daemon("slurmd", &["-D", "-N", &format!("n{node}")]);
        }
        slurm.until_up("slurmctld", |slurm| {
            // `sinfo` prints a node once for each of its partitions.
            let said = slurm.ask("sinfo", &["--noheader", "-N", "-o", "%N %T"]);
            let idle = said.out.lines().filter(|line| line.ends_with(" idle"));
            idle.collect::<BTreeSet<&str>>().len() == wanted.nodes
        })?;
        Ok(slurm)
    }

    /// Starts a database and slurmdbd, at two ports.
    fn keep_accounts(&mut self, port: u16, database: u16) -> Result<(), String> {
        let dir = self.home.path().display().to_string();
        let data = format!("--datadir={dir}/database");
        let new = ["--no-defaults", "--user=root", "--basedir=/usr", "--skip-test-db", &data];
        if !quiet("mariadb-install-db", &new) {
            return Err("mariadb-install-db makes no database".to_owned());
        }
        let (socket, at) = (format!("--socket={dir}/database.sock"), format!("--port={database}"));
        let own = ["--no-defaults", "--user=root", &data, &socket, &at];
        let open = ["--bind-address=127.0.0.1", "--skip-grant-tables"];
        self.daemon("mariadbd", &[&own[..], &open].concat());
        let conf = format!(
            "AuthType=auth/munge\nDbdHost=localhost\nDbdAddr=127.0.0.1\nDbdPort={port}\nSlurmUser=root\n\
             StorageType=accounting_storage/mysql\nStorageHost=127.0.0.1\nStoragePort={database}\n\
             StorageUser=root\nStorageLoc=accounts\nLogFile={dir}/log/slurmdbd.log\nPidFile={dir}/slurmdbd.pid\n"
        );
        fs::write(self.home.path().join("slurmdbd.conf"), conf).unwrap();
        // slurmdbd requires a file that only its owner can read.
        quiet("chmod", &["600", &format!("{dir}/slurmdbd.conf")]);
        self.until_up("mariadbd", |slurm| {
            let ask = ["--no-defaults", &socket, "--user=root", "--execute=select 1"];
            slurm.ask("mariadb", &ask).status == Some(0)
        })?;
        self.daemon("slurmdbd", &["-D"]);
        self.until_up("slurmdbd", |slurm| {
            slurm.ask("sacctmgr", &["--immediate", "add", "cluster", "gate"]).status == Some(0)
        })
    }

    /// Waits until a daemon answers. The error has the daemon's log.
    fn until_up(&self, daemon: &str, is_up: impl Fn(&Slurm) -> bool) -> Result<(), String> {
        while !is_up(self) {
            // A Slurm of hundreds of nodes needs more time to start.
            if self.began.elapsed() > Duration::from_secs(60 + self.nodes as u64 / 2) {
                let log = fs::read_to_string(self.home.path().join(format!("log/{daemon}.log")));
                return Err(format!("{daemon} does not come up: {}", log.unwrap_or_default()));
            }
            sleep(Duration::from_millis(100));
        }
        Ok(())
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

    /// Folder of Slurm's files, and working directory of its commands.
    pub(crate) fn home(&self) -> &Path {
        self.home.path()
    }

    /// Creates a command that runs `program` (of Slurm, or `meshwork`) with the files of this
    /// Slurm.
    pub(crate) fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command
            .env("SLURM_CONF", self.home.path().join("slurm.conf"))
            .current_dir(self.home.path());
        command
    }

    pub(crate) fn ask(&self, program: &str, arguments: &[&str]) -> Said {
        ran(self.command(program).args(arguments))
    }

    pub(crate) fn meshwork(&self, arguments: &[&str]) -> Said {
        self.ask(env!("CARGO_BIN_EXE_meshwork"), arguments)
    }

    pub(crate) fn wait(&self, seconds: u64, what: &str, is_so: impl Fn() -> bool) {
        while !is_so() {
            assert!(
                self.began.elapsed() < Duration::from_secs(seconds),
                "{what}: not within the time: {}",
                self.ask("squeue", &["--array"]).out
            );
            sleep(Duration::from_millis(200));
        }
    }
}

impl Drop for Slurm {
    fn drop(&mut self) {
        self.ask("scancel", &["--user=root"]);
        self.ask("scontrol", &["shutdown"]);
        self.daemons.iter_mut().rev().for_each(end);
    }
}
