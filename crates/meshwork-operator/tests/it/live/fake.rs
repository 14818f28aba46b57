//! Fake of the commands `squeue`, `sinfo` and `scontrol` and of the clock, for tests of the agent.
//!
//! Faults happen at given times.

use std::collections::{BTreeMap, BTreeSet};
use std::panic::resume_unwind;

use meshwork_operator::live::SlurmCommands;
use meshwork_slurm::hostlist;

/// Panic payload that stands for a signal which kills the agent.
pub(super) struct Killed;

/// Fault of Slurm or other event that the agent must cope with.
#[derive(Clone, Debug)]
pub(super) enum Fault {
    Drain(usize),
    Resume(usize),
    /// The node fails, and the job on it is requeued.
    Down(usize),
    Requeue(usize),
    Cancel(usize),
    Hold(usize),
    Release(usize),
    /// Limits the user with this number to a number of nodes.
    Limit(u8, u32),
    /// Crash of the controller. After this number of seconds it returns with the last saved state.
    Crash(u8),
    /// Reservation of consecutive nodes. The fields are the first node, the number of nodes, the
    /// seconds until it begins, and its length in seconds.
    Reserve(usize, usize, u8, u8),
    /// A job of another partition takes the node, if it is idle, for the given number of seconds.
    Foreign(usize, u8),
    Submit(Wanted),
}

#[derive(Clone, Debug, Default)]
pub(super) struct Wanted {
    pub(super) user: u8,
    pub(super) least: u32,
    pub(super) most: u32,
    pub(super) seconds: u8,
    pub(super) limit: u16,
    pub(super) special: Special,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) enum Special {
    #[default]
    None,
    /// The job requires consecutive nodes, from the node with this number on.
    ///
    /// There are as many of them as the job requests.
    Own(usize),
    Exclude(usize),
    After(usize),
    Features,
    Heterogeneous,
    Begin(u8),
    /// The job requests tasks, from which Slurm derives the number of nodes.
    Tasks,
    /// The comment of the job contains text that looks like a job record of Slurm.
    Comment,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) enum Phase {
    #[default]
    Pending,
    Running,
    Completing,
    Done,
    Cancelled,
}

#[derive(Clone, Debug, Default)]
pub(super) struct FakeJob {
    pub(super) id: String,
    number: u64,
    pub(super) wanted: Wanted,
    pub(super) partition: &'static str,
    pub(super) phase: Phase,
    pub(super) submitted: i64,
    range: (u32, u32),
    priority: u64,
    is_held: bool,
    is_bad: bool,
    begin: f64,
    pub(super) requires: String,
    excludes: String,
    reason: String,
    has: Vec<usize>,
    start: f64,
    end: f64,
    note: String,
    /// Whether the job was requeued and the agent has not updated it since.
    is_requeued: bool,
}

impl FakeJob {
    /// Whether the agent leaves the job to Slurm.
    fn is_beyond(&self) -> bool {
        matches!(self.wanted.special, Special::Features | Special::Heterogeneous)
    }
}

/// Start of a job in the partition `run`, whose jobs Slurm starts.
#[derive(Clone, Debug)]
pub(super) struct Started {
    pub(super) key: (String, i64),
    pub(super) nodes: BTreeSet<String>,
}

#[derive(Clone, Debug, PartialEq)]
enum Health {
    Up,
    Drained,
    Down,
}

struct Reserved {
    nodes: BTreeSet<usize>,
    from: f64,
    until: f64,
}

#[derive(Default)]
pub(super) struct FakeSlurm {
    now: f64,
    pub(super) jobs: Vec<FakeJob>,
    saved: (f64, Vec<FakeJob>, u64),
    nodes: Vec<Health>,
    /// For each node that a job of another partition holds, the end of this job.
    foreign: BTreeMap<usize, f64>,
    reserved: Vec<Reserved>,
    limits: BTreeMap<u8, u32>,
    away_until: f64,
    unknown_until: f64,
    next: u64,
    faults: Vec<(f64, Fault)>,
    /// Future kills of the agent, the next one last.
    ///
    /// Each has the number of calls before it, and whether the interrupted call takes effect.
    kills: Vec<(u8, bool)>,
    calls: u64,
    pub(super) killed: usize,
    pub(super) starts: Vec<Started>,
    /// Number of starts of requeued jobs without a new decision of the agent.
    pub(super) undecided: usize,
    /// Jobs that a crash of the controller lost.
    pub(super) vanished: usize,
    /// Whether Slurm's state changed after the agent's last call of `squeue`.
    is_disturbed: bool,
    /// Descriptions of updates that claimed nodes of other jobs: the two jobs, and the nodes.
    pub(super) overlaps: Vec<String>,
}

pub(super) const NODES: usize = 16;

impl FakeSlurm {
    pub(super) fn new(mut faults: Vec<(f64, Fault)>, kills: Vec<(u8, bool)>) -> FakeSlurm {
        faults.sort_by(|a, b| b.0.total_cmp(&a.0));
        let now = 1_800_000_000.0;
        FakeSlurm {
            now,
            saved: (now, Vec::new(), 1),
            nodes: vec![Health::Up; NODES],
            next: 1,
            faults: faults.into_iter().map(|(at, fault)| (now + at, fault)).collect(),
            kills: kills.into_iter().rev().collect(),
            ..FakeSlurm::default()
        }
    }

    pub(super) fn has_faults(&self) -> bool {
        !self.faults.is_empty()
    }

    /// Ends everything that may keep jobs waiting for ever.
    ///
    /// Planned kills, lasting faults, limits, holds and reservations end. Parked jobs that the
    /// agent leaves to Slurm are cancelled.
    pub(super) fn calm(&mut self) {
        for job in self.jobs.iter_mut().filter(|job| job.is_beyond() && job.partition != "run") {
            job.phase = Phase::Cancelled;
        }
        self.kills.clear();
        self.limits.clear();
        self.nodes.fill(Health::Up);
        self.reserved.clear();
        for job in &mut self.jobs {
            job.is_held = false;
        }
    }

    pub(super) fn sleep(&mut self, seconds: f64) {
        let until = self.now + seconds;
        while self.now < until {
            self.now = (self.now + 0.5).min(until);
            self.turn();
        }
    }

    fn turn(&mut self) {
        while self.faults.last().is_some_and(|(at, _)| *at <= self.now) {
            if let Some((_, fault)) = self.faults.pop() {
                self.is_disturbed = true;
                self.happen(fault);
            }
        }
        if self.now < self.away_until {
            return;
        }
        let now = self.now;
        self.foreign.retain(|_, end| *end > now);
        self.reserved.retain(|own| own.until > now);
        for job in &mut self.jobs {
            if job.phase == Phase::Completing {
                (job.phase, job.has) = (Phase::Done, Vec::new());
            } else if job.phase == Phase::Running && job.end <= now {
                job.phase = Phase::Completing;
            }
        }
        self.schedule();
        if now - self.saved.0 >= 5.0 {
            self.saved = (now, self.jobs.clone(), self.next);
        }
    }

    /// Starts jobs like Slurm's main scheduler, without backfill. Jobs that do not start get a
    /// reason.
    fn schedule(&mut self) {
        let mut order: Vec<usize> = (0..self.jobs.len()).collect();
        order.sort_by_key(|&job| {
            (std::cmp::Reverse(self.jobs[job].priority), self.jobs[job].number)
        });
        for place in order {
            let job = &self.jobs[place];
            if job.phase != Phase::Pending {
                continue;
            }
            let reason =
                if job.partition == "run" { self.reason(place) } else { self.parked(place) };
            match reason {
                Some(reason) => {
                    let job = &mut self.jobs[place];
                    job.is_bad |= reason == "BadConstraints";
                    job.reason = reason;
                }
                None => self.start(place),
            }
        }
    }

    fn parked(&self, place: usize) -> Option<String> {
        let job = &self.jobs[place];
        let reason = if job.is_held {
            "JobHeldUser"
        } else if job.begin > self.now {
            "BeginTime"
        } else if self.depends(job).is_some() {
            "Dependency"
        } else {
            "PartitionDown"
        };
        Some(reason.to_owned())
    }

    fn depends(&self, job: &FakeJob) -> Option<String> {
        let Special::After(other) = job.wanted.special else { return None };
        let other = self.jobs.get(other)?;
        let waits = matches!(other.phase, Phase::Pending | Phase::Running | Phase::Completing);
        (waits && other.number < job.number).then(|| other.id.clone())
    }

    fn reason(&self, place: usize) -> Option<String> {
        let job = &self.jobs[place];
        let say = |text: &str| Some(text.to_owned());
        let listed = indices(&job.requires);
        let is_excluded = listed.iter().any(|node| indices(&job.excludes).contains(node));
        if job.is_bad || is_excluded || listed.len() > job.range.1 as usize {
            return say("BadConstraints");
        } else if job.is_held {
            return say("JobHeldUser");
        } else if job.begin > self.now {
            return say("BeginTime");
        } else if self.depends(job).is_some() {
            return say("Dependency");
        }
        let user = job.wanted.user;
        if let Some(&most) = self.limits.get(&user) {
            let runs = |own: &&FakeJob| own.wanted.user == user && own.phase == Phase::Running;
            let used: usize = self.jobs.iter().filter(runs).map(|own| own.has.len()).sum();
            if used as u32 + job.range.1 > most {
                return say("AssocGrpNodeLimit");
            }
        }
        if let Some(node) = listed.iter().find(|&&node| self.nodes[node] != Health::Up) {
            return Some(format!("ReqNodeNotAvail, UnavailableNodes:n{node}"));
        }
        if listed.iter().any(|&node| self.is_reserved(node, job.wanted.limit)) {
            return say("ReqNodeNotAvail, May be reserved for other job");
        }
        if self.now < self.unknown_until || listed.iter().any(|&node| self.is_busy(node)) {
            return say("Resources");
        }
        (self.chosen(place).len() < job.range.0 as usize).then(|| "Resources".to_owned())
    }

    fn is_reserved(&self, node: usize, limit: u16) -> bool {
        let until = self.now + f64::from(limit);
        self.reserved.iter().any(|own| own.nodes.contains(&node) && own.from < until)
    }

    fn is_busy(&self, node: usize) -> bool {
        let holds = |job: &FakeJob| job.has.contains(&node);
        self.foreign.contains_key(&node) || self.jobs.iter().any(holds)
    }

    /// Nodes that a job may get: its required nodes, and others up to the requested number.
    fn chosen(&self, place: usize) -> Vec<usize> {
        let job = &self.jobs[place];
        let mut nodes = indices(&job.requires);
        let usable = |node: &usize| {
            self.nodes[*node] == Health::Up
                && !self.is_busy(*node)
                && !self.is_reserved(*node, job.wanted.limit)
                && !indices(&job.excludes).contains(node)
        };
        let others: Vec<usize> =
            (0..NODES).filter(usable).filter(|node| !nodes.contains(node)).collect();
        let missing = (job.range.1 as usize).saturating_sub(nodes.len());
        nodes.extend(others.into_iter().take(missing));
        nodes
    }

    fn start(&mut self, place: usize) {
        let nodes = self.chosen(place);
        let now = self.now;
        let job = &mut self.jobs[place];
        self.undecided += usize::from(job.is_requeued);
        (job.phase, job.start) = (Phase::Running, now);
        job.end = now + f64::from(job.wanted.seconds);
        job.has.clone_from(&nodes);
        job.reason = "None".to_owned();
        let nodes = nodes.into_iter().map(|node| format!("n{node}")).collect();
        self.starts.push(Started { key: (job.id.clone(), job.submitted), nodes });
    }

    fn happen(&mut self, fault: Fault) {
        let count = self.jobs.len();
        let job = |place: usize| (count > 0).then(|| place % count);
        match fault {
            Fault::Drain(node) => self.nodes[node] = Health::Drained,
            Fault::Resume(node) => self.nodes[node] = Health::Up,
            Fault::Down(node) => {
                self.nodes[node] = Health::Down;
                let holds = |job: &FakeJob| job.phase == Phase::Running && job.has.contains(&node);
                if let Some(place) = self.jobs.iter().position(holds) {
                    self.requeue(place);
                }
            }
            Fault::Requeue(place) => {
                if let Some(place) =
                    job(place).filter(|&own| self.jobs[own].phase == Phase::Running)
                {
                    self.requeue(place);
                }
            }
            Fault::Cancel(place) => {
                if let Some(place) = job(place) {
                    let job = &mut self.jobs[place];
                    if !matches!(job.phase, Phase::Done) {
                        (job.phase, job.has) = (Phase::Cancelled, Vec::new());
                    }
                }
            }
            Fault::Hold(place) => self.hold(place, true),
            Fault::Release(place) => self.hold(place, false),
            Fault::Limit(user, most) => {
                self.limits.insert(user, most);
            }
            Fault::Crash(seconds) => self.crash(f64::from(seconds)),
            Fault::Reserve(first, length, after, seconds) => {
                let from = self.now + f64::from(after);
                let nodes = (first..(first + length).min(NODES)).collect();
                self.reserved.push(Reserved { nodes, from, until: from + f64::from(seconds) });
            }
            Fault::Foreign(node, seconds) => {
                if self.nodes[node] == Health::Up && !self.is_busy(node) {
                    self.foreign.insert(node, self.now + f64::from(seconds));
                }
            }
            Fault::Submit(wanted) => self.submit(wanted),
        }
    }

    fn hold(&mut self, place: usize, is_held: bool) {
        let count = self.jobs.len().max(1);
        if let Some(job) = self.jobs.get_mut(place % count) {
            job.is_held = is_held;
        }
    }

    /// Requeues a job. It keeps its partition and node list, and may start two minutes later.
    fn requeue(&mut self, place: usize) {
        let begin = self.now + 120.0;
        let job = &mut self.jobs[place];
        (job.phase, job.begin, job.has) = (Phase::Pending, begin, Vec::new());
        job.is_requeued = true;
        job.reason = "BeginTime".to_owned();
    }

    /// The controller loses all changes since it last saved its state, and reuses job numbers.
    fn crash(&mut self, seconds: f64) {
        let (_, jobs, next) = self.saved.clone();
        self.vanished += self.jobs.len() - jobs.len();
        let now = self.jobs.clone();
        self.jobs = jobs;
        for job in &mut self.jobs {
            let since = now.iter().find(|own| own.id == job.id && own.submitted == job.submitted);
            if let Some(since) = since
                && matches!(since.phase, Phase::Done | Phase::Completing | Phase::Cancelled)
                && job.phase == Phase::Running
            {
                job.end = self.now;
            }
        }
        self.next = next;
        self.away_until = self.now + seconds;
        self.unknown_until = self.away_until + 3.0;
    }

    pub(super) fn submit(&mut self, wanted: Wanted) {
        if self.now < self.away_until {
            // While the controller is down, no job can be submitted.
            return;
        }
        let number = self.next;
        self.next += 1;
        let is_part = wanted.special == Special::Heterogeneous;
        let list =
            |first: usize, count: usize| host_list((first..first + count).map(|node| node % NODES));
        let (mut requires, mut excludes) = (String::new(), String::new());
        let mut range = (wanted.least, wanted.most);
        match wanted.special {
            Special::Own(first) => {
                requires = list(first, wanted.least as usize);
                range = (wanted.least, wanted.least);
            }
            Special::Exclude(node) => excludes = list(node, 1),
            Special::Tasks => range = (wanted.most, wanted.most),
            _ => {}
        }
        let begin = match wanted.special {
            Special::Begin(seconds) => self.now + f64::from(seconds),
            _ => 0.0,
        };
        self.jobs.push(FakeJob {
            id: if is_part { format!("{number}+0") } else { number.to_string() },
            number,
            partition: "in",
            submitted: self.now as i64,
            range,
            priority: 1_000 - u64::from(wanted.user) * 10,
            begin,
            requires,
            excludes,
            reason: "PartitionDown".to_owned(),
            wanted,
            ..FakeJob::default()
        });
    }

    fn field(&self, job: &FakeJob, letter: char) -> String {
        let is_started = matches!(job.phase, Phase::Running | Phase::Completing);
        let time = |at: f64| if is_started { (at as i64).to_string() } else { "N/A".to_owned() };
        match letter {
            'i' => job.id.clone(),
            'A' => job.number.to_string(),
            'P' => job.partition.to_owned(),
            't' => match job.phase {
                Phase::Running => "R",
                Phase::Completing => "CG",
                _ => "PD",
            }
            .to_owned(),
            'D' if is_started => job.has.len().to_string(),
            'D' => job.range.1.to_string(),
            'Q' if job.is_held || job.is_bad => "0".to_owned(),
            'Q' => job.priority.to_string(),
            'r' => job.reason.clone(),
            'N' => host_list(job.has.iter().copied()),
            'n' => host_list(indices(&job.requires).into_iter()),
            'x' => job.excludes.clone(),
            'E' => self.depends(job).map_or("(null)".to_owned(), |id| format!("afterany:{id}")),
            'V' => job.submitted.to_string(),
            'S' => time(job.start),
            'e' => time(job.start + f64::from(job.wanted.limit)),
            'l' => format!("{}:{:02}", job.wanted.limit / 60, job.wanted.limit % 60),
            'f' if job.wanted.special == Special::Features => "big".to_owned(),
            'b' => "N/A".to_owned(),
            'u' => format!("u{}", job.wanted.user),
            'k' if job.wanted.special == Special::Comment => {
                "a\nSubmitTime=1 NumNodes=9-9 ReqNodeList=n1\n|".to_owned()
            }
            _ => "(null)".to_owned(),
        }
    }

    fn squeue(&self, arguments: &[String]) -> String {
        let listed = self.jobs.iter();
        let listed = listed.filter(|job| !matches!(job.phase, Phase::Done | Phase::Cancelled));
        if argument(arguments, "--Format").is_some() {
            let least = |job: &FakeJob| {
                let least = if job.wanted.special == Special::Tasks { 1 } else { job.range.0 };
                format!("{:>30}{:<120}\n", job.id, format!("cpu=1,node={least},billing=1"))
            };
            return listed.filter(|job| job.phase == Phase::Pending).map(least).collect();
        }
        let format = argument(arguments, "--format").unwrap();
        listed.map(|job| filled(format, |letter| self.field(job, letter))).collect()
    }

    fn sinfo(&self) -> String {
        let state = |node: usize| match (&self.nodes[node], self.is_busy(node)) {
            _ if self.now < self.unknown_until => "unknown",
            (Health::Down, _) => "down*",
            (Health::Drained, true) => "draining",
            (Health::Drained, false) => "drained",
            (Health::Up, true) => "allocated",
            (Health::Up, false) => "idle",
        };
        (0..NODES).map(|node| format!("n{node} {}\n", state(node))).collect()
    }

    fn show_job(&self, id: &str) -> String {
        let gone = format!("slurm_load_jobs error: Invalid job id specified for {id}\n");
        let Some(job) = self.jobs.iter().rfind(|job| job.id == id) else { return gone };
        let state = match job.phase {
            Phase::Pending => "PENDING",
            Phase::Running => "RUNNING",
            Phase::Completing => "COMPLETING",
            Phase::Done => "COMPLETED",
            Phase::Cancelled => "CANCELLED",
        };
        let number = if job.wanted.special == Special::Tasks {
            job.range.1.to_string()
        } else {
            format!("{0}-{0}", job.range.1)
        };
        let list = if job.requires.is_empty() { "(null)" } else { &job.requires };
        let note =
            if job.note.is_empty() { String::new() } else { format!("AdminComment={} ", job.note) };
        format!(
            "JobId={id} JobName=x y JobState={state} Reason=None SubmitTime={} Partition={} ReqNodeList={list} \
             NumNodes={number} NumCPUs=1 {note}\n",
            job.submitted, job.partition
        )
    }

    fn update(&mut self, line: &str) -> String {
        let value = |key: &str| value(line, key);
        let id = value("JobId").unwrap();
        let found = self.jobs.iter().rposition(|job| job.id == id || job.number.to_string() == id);
        let Some(place) = found else {
            return format!("Invalid job id specified for job {id}\n");
        };
        match self.jobs[place].phase {
            Phase::Pending => {}
            Phase::Running | Phase::Completing => {
                return format!("Job is no longer pending execution for job {id}\n");
            }
            Phase::Done | Phase::Cancelled => {
                return format!("Job has already finished for job {id}\n");
            }
        }
        let list = value("ReqNodeList");
        let names = list.map(|list| hostlist::names(list).unwrap()).unwrap_or_default();
        let is_node = |name: &String| {
            name.strip_prefix('n')
                .and_then(|own| own.parse::<usize>().ok())
                .is_some_and(|own| own < NODES)
        };
        if !names.iter().all(is_node) {
            return format!("Invalid node name specified for job {id}\n");
        }
        let partition = match value("Partition") {
            Some("run") => "run",
            Some("pass") => "pass",
            _ => "in",
        };
        if partition == "run" && !self.is_disturbed {
            let own: BTreeSet<usize> = indices(list.unwrap_or_default()).into_iter().collect();
            for (other, job) in self.jobs.iter().enumerate().filter(|(other, _)| *other != place) {
                let claims = match job.phase {
                    Phase::Pending if job.partition == "run" => indices(&job.requires),
                    Phase::Running | Phase::Completing => job.has.clone(),
                    _ => Vec::new(),
                };
                if claims.iter().any(|node| own.contains(node)) {
                    self.overlaps.push(format!("job {id} and job {other}: {own:?}"));
                }
            }
        }
        let job = &mut self.jobs[place];
        job.partition = partition;
        job.is_requeued = false;
        // If the partition of a job changes, Slurm checks the job's constraints again.
        job.is_bad = false;
        if let Some(list) = list {
            list.clone_into(&mut job.requires);
        }
        if let Some(range) = value("NumNodes") {
            let (least, most) = range.split_once('-').unwrap();
            job.range = (least.parse().unwrap(), most.parse().unwrap());
        }
        if let Some(note) = value("AdminComment") {
            note.clone_into(&mut job.note);
        }
        String::new()
    }

    /// Calls a command of the fake Slurm. Time passes, and the agent may be killed.
    ///
    /// A kill may come before or after the command takes effect.
    fn called<T>(&mut self, what: impl FnOnce(&mut FakeSlurm) -> T) -> T {
        self.sleep(0.05);
        self.calls += 1;
        let dies = self.kills.last().is_some_and(|(gap, _)| self.calls > u64::from(*gap));
        let takes_effect = self.kills.last().is_some_and(|(_, after)| *after);
        if dies {
            self.calls = 0;
            self.kills.pop();
            self.killed += 1;
            if takes_effect {
                what(self);
            }
            resume_unwind(Box::new(Killed));
        }
        what(self)
    }
}

impl SlurmCommands for FakeSlurm {
    fn ask(&mut self, program: &str, arguments: &[String]) -> Result<String, String> {
        self.called(|own| {
            if own.now < own.away_until {
                own.sleep(9.0);
                return Err("Unable to contact slurm controller (connect failure)".to_owned());
            }
            Ok(match program {
                "squeue" => {
                    own.is_disturbed = false;
                    own.squeue(arguments)
                }
                "sinfo" => own.sinfo(),
                _ => panic!("{program}"),
            })
        })
    }

    fn control(&mut self, line: &str) -> Result<String, String> {
        self.called(|own| {
            if own.now < own.away_until {
                own.sleep(9.0);
                return Ok("Unable to contact slurm controller (connect failure)\n".to_owned());
            }
            let words: Vec<&str> = line.split(' ').collect();
            Ok(match words[..] {
                ["show", "reservation"] if own.reserved.is_empty() => NO_RESERVATIONS.to_owned(),
                ["show", "reservation"] => {
                    let of = |(number, one): (usize, &Reserved)| {
                        format!(
                            "ReservationName=r{number} StartTime={} EndTime={} Nodes={} Users=root\n",
                            one.from as i64,
                            one.until as i64,
                            host_list(one.nodes.iter().copied())
                        )
                    };
                    own.reserved.iter().enumerate().map(of).collect()
                }
                ["show", "job", id] => own.show_job(id),
                ["update", ..] => own.update(line),
                _ => panic!("{line}"),
            })
        })
    }

    fn now(&mut self) -> f64 {
        self.now
    }

    fn token(&mut self) -> String {
        format!("<{}>", self.now.to_bits())
    }
}

/// Answer to `show reservation` without reservations.
pub(super) const NO_RESERVATIONS: &str = "No reservations in the system\n";

/// Numbers of the nodes in a host list: 1 and 2 for `n[1-2]`.
pub(super) fn indices(list: &str) -> Vec<usize> {
    let names = hostlist::names(list).unwrap();
    names.iter().map(|name| name[1..].parse().unwrap()).collect()
}

fn host_list(nodes: impl Iterator<Item = usize>) -> String {
    let names: Vec<String> = nodes.map(|node| format!("n{node}")).collect();
    hostlist::compressed(names.iter().map(String::as_str))
}

/// Argument that follows the option `name` in a command of `squeue`; `None` without this option.
pub(super) fn argument<'a>(arguments: &'a [String], name: &str) -> Option<&'a String> {
    let place = arguments.iter().position(|own| own == name)?;
    arguments.get(place + 1)
}

/// Formats one line of the output of `squeue`.
///
/// Each `%` in `format`, with the letter after it, is replaced by the text that `field` returns for
/// this letter.
pub(super) fn filled(format: &str, field: impl Fn(char) -> String) -> String {
    let mut letters = format.chars();
    let mut text = String::new();
    while let Some(letter) = letters.next() {
        match letter {
            '%' => text += &field(letters.next().unwrap()),
            other => text.push(other),
        }
    }
    text + "\n"
}

/// Value of a `key=value` word in a line of `scontrol`.
pub(super) fn value<'a>(line: &'a str, key: &str) -> Option<&'a str> {
    line.split(' ').find_map(|word| word.strip_prefix(key)?.strip_prefix('='))
}

/// Answer to `show job` for a pending job that requests a fixed number of nodes.
pub(super) fn pending(id: &str, submitted: i64, nodes: u32) -> String {
    format!(
        "JobId={id} JobState=PENDING SubmitTime={submitted} Partition=in ReqNodeList=(null) \
         NumNodes={nodes}-{nodes}\n"
    )
}
