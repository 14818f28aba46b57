//! The agent: parked jobs are placed by a policy, and what does not start is taken back.
//!
//! It keeps no state that a restart would miss: a job that runs or ends holds its nodes, a job that
//! waits in the run partition holds those that it requires, and a parked job holds none.
//! Memory between looks only delays: since when a placed job looks wrong, and until when a job that
//! met a limit is left alone.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value as Json, json};

use super::SlurmCommands;
use super::look::{Ranges, SiteLook, claims, idle, numbers_of};
use super::metrics::AgentMetrics;
use super::policy::{Candidate, Kept, LiveDecision, LivePolicy};
use crate::slurm::hostlist;
use crate::slurm::live::{
    OwnWishes, QueuedJob, ShownJob, move_line, place_line, read_job, read_partition, shape,
    state_line, take_back_line,
};

/// Names of partitions, and times in seconds.
#[derive(Clone, Debug)]
pub struct AgentSettings {
    /// The partition to which users submit, with `State=DOWN`.
    pub park: String,
    /// The partition in which jobs start.
    pub run: String,
    /// The partition for jobs that are left to Slurm; `None` if they stay parked.
    pub pass: Option<String>,
    /// Whether nothing is changed.
    pub dry_run: bool,
    /// The number of waiting jobs that are considered, in order of priority.
    pub depth: usize,
    /// How long a placed job must look wrong, in at least two looks, before it is taken back.
    pub settle: f64,
    /// How long a placed job may wait on idle nodes before it is taken back.
    pub patience: f64,
    /// How long a job is left alone after it has met a limit; doubled each time.
    pub back_off: f64,
}

impl Default for AgentSettings {
    fn default() -> AgentSettings {
        AgentSettings {
            park: "in".to_owned(),
            run: "run".to_owned(),
            pass: None,
            dry_run: false,
            depth: 1_000,
            settle: 3.0,
            patience: 60.0,
            back_off: 30.0,
        }
    }
}

/// The longest back-off, in seconds.
const LONGEST: f64 = 1_800.0;
/// Reasons of a placed job for which it does not start by itself, by their first letters.
const STUCK: [&str; 11] = [
    "BadConstraints",
    "BeginTime",
    "Dependency",
    "JobArrayTaskLimit",
    "JobHeld",
    "ReqNodeNotAvail",
    "Reservation",
    "Assoc",
    "QOS",
    "Licenses",
    "PartitionNodeLimit",
];

/// Identifies a job across restarts of the controller.
type Key = (String, i64);

/// Until when a job is left alone, and for how long the next time.
#[derive(Clone, Copy, Debug)]
struct BackOff {
    until: f64,
    next: f64,
}

/// Runs a policy: each [`cycle`](PlacementAgent::cycle) looks, takes back, and places.
pub struct PlacementAgent<'a> {
    policy: &'a LivePolicy,
    settings: AgentSettings,
    /// Takes each event before it happens.
    log: Box<dyn FnMut(&Json) + 'a>,
    pub metrics: AgentMetrics,
    ranges: Ranges,
    /// Since when a placed job looks wrong.
    suspected: BTreeMap<Key, f64>,
    placed: BTreeMap<Key, f64>,
    backed_off: BTreeMap<Key, BackOff>,
    /// Jobs that are not for the agent, with the reason.
    unsuited: BTreeMap<Key, String>,
    /// Running jobs whose nodes were compared with the chosen ones.
    verified: BTreeSet<Key>,
    /// Nodes that a dry run has named for each job; empty for jobs that are left.
    said: BTreeMap<Key, Vec<u32>>,
}

impl<'a> PlacementAgent<'a> {
    /// Creates an agent that has not looked yet.
    #[must_use]
    pub fn new(
        policy: &'a LivePolicy,
        settings: AgentSettings,
        log: Box<dyn FnMut(&Json) + 'a>,
    ) -> PlacementAgent<'a> {
        PlacementAgent {
            policy,
            settings,
            log,
            metrics: AgentMetrics::default(),
            ranges: Ranges::default(),
            suspected: BTreeMap::new(),
            placed: BTreeMap::new(),
            backed_off: BTreeMap::new(),
            unsuited: BTreeMap::new(),
            verified: BTreeSet::new(),
            said: BTreeMap::new(),
        }
    }

    /// Looks once, takes back what does not start, and places what the policy starts. Returns the
    /// number of placed jobs.
    ///
    /// # Errors
    /// One sentence, if a command does not answer; nothing is decided then.
    pub fn cycle(&mut self, commands: &mut dyn SlurmCommands) -> Result<usize, String> {
        let look = SiteLook::take(commands, &self.settings.run, true)?;
        self.forget(&look);
        self.verify(&look);
        let mut back = BTreeSet::new();
        for job in look.jobs.iter().filter(|job| job.is_pending()) {
            if job.partition == self.settings.run
                && let Some(why) = self.suspicion(&look, job)
            {
                self.take_back(commands, &look, job, &why)?;
                back.insert(job.key());
            }
        }
        let parked: Vec<&QueuedJob> = look.jobs.iter().filter(|job| self.is_parked(job)).collect();
        self.metrics.parked = parked.len();
        self.pass_on(commands, &parked)?;
        let candidates = self.candidates(commands, &look, &parked)?;
        let claims = claims(&look, &self.policy.numbers, Some(&self.settings.run));
        let held: usize = claims.iter().map(|claim| claim.nodes.len()).sum();
        self.metrics.saw(&look, self.policy.names.len() - held, candidates.len());
        if candidates.is_empty() {
            self.metrics.looked(commands.now() - look.now);
            return Ok(0);
        }
        let (jobs, waiting): (Vec<&QueuedJob>, Vec<Candidate>) = candidates.into_iter().unzip();
        let reserved = look.reservations.iter().map(|own| Kept {
            nodes: numbers_of(&self.policy.numbers, &own.nodes),
            from: own.start as f64,
            until: own.end as f64,
        });
        let kept: Vec<Kept> = reserved.filter(|own| !own.nodes.is_empty()).collect();
        let decision = self.policy.decide(look.now, &claims, &waiting, &kept)?;
        for &job in &decision.never {
            let why = "the machine of the policy could not run it if it were empty".to_owned();
            self.leave(jobs[job], why);
        }
        let placed = self.place_all(commands, &look, &jobs, &waiting, &decision)?;
        self.metrics.looked(commands.now() - look.now);
        Ok(placed)
    }

    fn note(&mut self, event: &str, at: f64, mut object: Json) {
        object["event"] = json!(event);
        object["t"] = json!(at);
        (self.log)(&object);
    }

    /// Forgets jobs that are gone.
    fn forget(&mut self, look: &SiteLook) {
        let keys: BTreeSet<Key> = look.jobs.iter().map(QueuedJob::key).collect();
        self.suspected.retain(|key, _| keys.contains(key));
        self.placed.retain(|key, _| keys.contains(key));
        self.backed_off.retain(|key, _| keys.contains(key));
        self.unsuited.retain(|key, _| keys.contains(key));
        self.said.retain(|key, _| keys.contains(key));
        let started = look.jobs.iter().filter(|job| !job.is_pending()).map(QueuedJob::key);
        let started: BTreeSet<Key> = started.collect();
        self.verified.retain(|key| started.contains(key));
    }

    fn is_parked(&self, job: &QueuedJob) -> bool {
        job.is_pending() && job.partition == self.settings.park
    }

    /// Compares the nodes of jobs that have started with those that were chosen, which Slurm keeps.
    fn verify(&mut self, look: &SiteLook) {
        for job in &look.jobs {
            let is_new = job.state == "R" && job.partition == self.settings.run;
            if !is_new || !self.verified.insert(job.key()) {
                continue;
            }
            let sorted = |list: &str| {
                let mut names = hostlist::names(list).unwrap_or_default();
                names.sort();
                names
            };
            let (has, chosen) = (sorted(&job.has), sorted(&job.requires));
            let started = json!({ "job": job.id, "nodes": job.has });
            if chosen.is_empty() {
                self.metrics.foreign += 1;
                self.note("foreign", look.now, started);
            } else if has == chosen {
                self.metrics.started += 1;
                self.note("started", look.now, started);
            } else {
                self.metrics.wrong += 1;
                let wrong = json!({ "job": job.id, "nodes": job.has, "chosen": job.requires });
                self.note("wrong", look.now, wrong);
            }
        }
    }

    /// Why a placed job is to be taken back now, if it has looked wrong for long enough.
    fn suspicion(&mut self, look: &SiteLook, job: &QueuedJob) -> Option<String> {
        let idle: BTreeSet<&str> = {
            let nodes = look.nodes.iter().filter(|(_, state)| state == "idle");
            nodes.map(|(name, _)| name.as_str()).collect()
        };
        let names = hostlist::names(&job.requires).unwrap_or_default();
        let busy = names.iter().find(|name| !idle.contains(name.as_str()));
        let key = job.key();
        let since = *self.placed.entry(key.clone()).or_insert(look.now);
        let why = if names.is_empty() {
            Some("it requires no nodes".to_owned())
        } else if job.priority == 0 || STUCK.iter().any(|own| job.reason.starts_with(own)) {
            Some(if job.reason.is_empty() { "held".to_owned() } else { job.reason.clone() })
        } else if let Some(busy) = busy {
            Some(format!("{busy} is not idle"))
        } else if look.now - since > self.settings.patience {
            Some("it does not start".to_owned())
        } else {
            None
        };
        let Some(why) = why else {
            self.suspected.remove(&key);
            return None;
        };
        let first = *self.suspected.entry(key).or_insert(look.now);
        (look.now - first >= self.settings.settle).then_some(why)
    }

    /// Takes a placed job back. Slurm refuses it if the job has started meanwhile.
    fn take_back(
        &mut self,
        commands: &mut dyn SlurmCommands,
        look: &SiteLook,
        job: &QueuedJob,
        why: &str,
    ) -> Result<(), String> {
        if self.settings.dry_run {
            return Ok(());
        }
        let text = commands.control(&format!("show job {}", checked(&job.id)?))?;
        if !text.starts_with("JobId=") {
            return Ok(());
        }
        let shown = match read_job(&text) {
            Ok(shown) => shown,
            Err(says) => {
                self.note("unread", look.now, json!({ "job": job.id, "says": says }));
                ShownJob { submitted: job.submitted.unwrap_or(0), ..ShownJob::default() }
            }
        };
        let key = job.key();
        if shown.submitted != key.1 {
            // Another job has this number now.
            return Ok(());
        }
        let wishes = OwnWishes::read(&shown.note).unwrap_or_default();
        let line = take_back_line(&job.id, &self.settings.park, &wishes)?;
        let object = json!({ "job": job.id, "why": why, "nodes": job.requires });
        self.note("take_back", look.now, object);
        let says = commands.control(&line)?;
        self.suspected.remove(&key);
        self.placed.remove(&key);
        if !says.trim().is_empty() {
            self.metrics.refused += 1;
            self.note("refused", look.now, json!({ "job": job.id, "says": says.trim() }));
            return Ok(());
        }
        self.metrics.taken_back += 1;
        if why.starts_with("BadConstraints") {
            self.unsuited.insert(key, format!("Slurm says {why} of the nodes chosen for it"));
        } else if ["Assoc", "QOS", "Licenses", "JobArrayTaskLimit", "PartitionNodeLimit"]
            .iter()
            .any(|own| why.starts_with(own))
        {
            let first = BackOff { until: 0.0, next: self.settings.back_off };
            let own = self.backed_off.entry(key).or_insert(first);
            own.until = look.now + own.next;
            own.next = (2.0 * own.next).min(LONGEST);
        }
        Ok(())
    }

    /// Marks a job as not for the agent, and says so once.
    fn leave(&mut self, job: &QueuedJob, why: String) {
        self.unsuited.entry(job.key()).or_insert(why);
    }

    /// Moves jobs that are not for the agent to their partition, or logs once that they stay.
    fn pass_on(
        &mut self,
        commands: &mut dyn SlurmCommands,
        parked: &[&QueuedJob],
    ) -> Result<(), String> {
        let mut left = 0;
        for job in parked {
            if let Some(why) = self.beyond(job) {
                self.leave(job, why);
            }
            let key = job.key();
            let Some(why) = self.unsuited.get(&key).cloned() else { continue };
            left += 1;
            let is_new = !self.said.contains_key(&key);
            self.said.insert(key, Vec::new());
            let now = commands.now();
            let object = json!({ "job": job.id, "why": why });
            match self.settings.pass.clone() {
                Some(pass) if !self.settings.dry_run && job.priority > 0 => {
                    self.note("pass", now, object);
                    // Parts of heterogeneous jobs are known by their own numbers alone.
                    let is_part = job.id.contains('+');
                    let id = if is_part { job.number.to_string() } else { job.id.clone() };
                    let says = commands.control(&move_line(&id, &pass)?)?;
                    if says.trim().is_empty() {
                        self.metrics.passed += 1;
                    } else {
                        self.metrics.refused += 1;
                        let says = json!({ "job": job.id, "says": says.trim() });
                        self.note("refused", now, says);
                    }
                }
                _ if is_new => self.note("left", now, object),
                _ => {}
            }
        }
        self.metrics.left = left;
        Ok(())
    }

    /// The property of a parked job that the agent does not understand.
    fn beyond(&self, job: &QueuedJob) -> Option<String> {
        let asks = |what: &str| Some(format!("it asks for {what}, which is left to Slurm"));
        let numbers = &self.policy.numbers;
        if job.id.contains('+') {
            return Some("it is a part of a heterogeneous job, which is left to Slurm".to_owned());
        } else if !job.features.is_empty() {
            return asks("features");
        } else if !job.gres.is_empty() {
            return asks("generic resources");
        } else if !job.reservation.is_empty() {
            return asks("a reservation");
        }
        if !job.requires.is_empty() {
            let count = hostlist::names(&job.requires).map_or(0, |names| names.len());
            let known = numbers_of(numbers, &job.requires).len();
            if count != known || count != job.nodes as usize {
                return asks("particular nodes beside others");
            }
        }
        if !job.excludes.is_empty() && hostlist::names(&job.excludes).is_err() {
            return asks("nodes by a list that cannot be read");
        }
        let sides = shape(&job.comment)?;
        let product = sides.iter().fold(1_u64, |all, &side| all.saturating_mul(side.into()));
        (product != u64::from(job.nodes)).then(|| {
            format!(
                "its comment asks for a block of {product} nodes, but it asks for {}",
                job.nodes
            )
        })
    }

    /// The jobs that may start, in Slurm's order.
    fn candidates<'l>(
        &mut self,
        commands: &mut dyn SlurmCommands,
        look: &SiteLook,
        parked: &[&'l QueuedJob],
    ) -> Result<Vec<(&'l QueuedJob, Candidate)>, String> {
        let waits_for = ["BeginTime", "Dependency", "JobArrayTaskLimit", "JobHeld"];
        let may_start = |job: &&&QueuedJob| {
            let key = job.key();
            job.priority > 0
                && job.dependency.is_empty()
                && !waits_for.iter().any(|own| job.reason.starts_with(own))
                && !self.unsuited.contains_key(&key)
                && self.backed_off.get(&key).is_none_or(|own| own.until <= look.now)
        };
        let mut jobs: Vec<&QueuedJob> = parked.iter().filter(may_start).copied().collect();
        jobs.sort_by_cached_key(|job| {
            (std::cmp::Reverse(job.priority), job.number, job.id.clone())
        });
        jobs.truncate(self.settings.depth);
        self.ranges.learn(commands, &self.settings.park, &jobs)?;
        let numbers = &self.policy.numbers;
        let free = idle(look, numbers).count() as u32;
        let of = |job: &'l QueuedJob| {
            // Slurm gives a range as many nodes as are free, and no more than the largest.
            let nodes = free.max(self.ranges.least(job)).min(job.nodes);
            let without = if job.requires.is_empty() {
                numbers_of(numbers, &job.excludes)
            } else {
                let own: BTreeSet<u32> = numbers_of(numbers, &job.requires).into_iter().collect();
                (0..numbers.len() as u32).filter(|node| !own.contains(node)).collect()
            };
            let candidate = Candidate {
                id: job.id.clone(),
                nodes,
                block: shape(&job.comment).filter(|_| nodes == job.nodes),
                limit: job.limit,
                user: job.user.clone(),
                queue: job.qos.clone(),
                without,
            };
            (job, candidate)
        };
        Ok(jobs.into_iter().map(of).collect())
    }

    /// Places the jobs that the policy starts.
    fn place_all(
        &mut self,
        commands: &mut dyn SlurmCommands,
        look: &SiteLook,
        jobs: &[&QueuedJob],
        waiting: &[Candidate],
        decision: &LiveDecision,
    ) -> Result<usize, String> {
        if decision.starts.is_empty() {
            return Ok(0);
        }
        if self.settings.dry_run {
            let new = |(job, nodes): &&(usize, Vec<u32>)| {
                self.said.get(&jobs[*job].key()).is_none_or(|said| said != nodes)
            };
            if decision.starts.iter().any(|start| new(&start)) {
                for (job, nodes) in &decision.starts {
                    self.said.insert(jobs[*job].key(), nodes.clone());
                }
                self.metrics.decisions += 1;
                let object = json!({ "state": decision.state, "plan": decision.answer });
                self.note("would", look.now, object);
            }
            return Ok(0);
        }
        self.metrics.decisions += 1;
        let object = json!({ "state": decision.state, "plan": decision.answer });
        self.note("decision", look.now, object);
        let mut placed = 0;
        for (index, nodes) in &decision.starts {
            let (job, wanted) = (jobs[*index], &waiting[*index]);
            placed += usize::from(self.place(commands, look, job, wanted, nodes)?);
        }
        Ok(placed)
    }

    /// Places one job, if it still is what was looked at.
    fn place(
        &mut self,
        commands: &mut dyn SlurmCommands,
        look: &SiteLook,
        job: &QueuedJob,
        wanted: &Candidate,
        nodes: &[u32],
    ) -> Result<bool, String> {
        let id = checked(&job.id)?;
        if nodes.len() != wanted.nodes as usize {
            // An allocator that rounds up would give a job more nodes than Slurm lets it have.
            let why = format!("the policy gives it {} nodes, not {}", nodes.len(), wanted.nodes);
            self.leave(job, why);
            return Ok(false);
        }
        // Numbers are reused after a crash of the controller, and users change their jobs.
        let text = commands.control(&format!("show job {id}"))?;
        if !text.starts_with("JobId=") {
            return Ok(false);
        }
        let shown = match read_job(&text) {
            Ok(shown) => shown,
            Err(says) => {
                self.leave(job, says);
                return Ok(false);
            }
        };
        let most = shown.num_nodes.split('-').next_back().and_then(|own| own.parse::<u32>().ok());
        let list = |text: &str| numbers_of(&self.policy.numbers, text);
        let is_same = shown.state == "PENDING"
            && shown.partition == self.settings.park
            && shown.submitted == job.key().1
            && most == Some(job.nodes)
            && list(&shown.requires).len() == list(&job.requires).len();
        if !is_same {
            return Ok(false);
        }
        // A number of nodes that follows from tasks is written without a range.
        let is_range = shown.num_nodes.contains('-');
        if !is_range && nodes.len() != job.nodes as usize {
            self.ranges.has_none(job);
            return Ok(false);
        }
        let least = self.ranges.least(job);
        let wishes = OwnWishes {
            range: (is_range && least < job.nodes).then_some((least, job.nodes)),
            requires: Some(job.requires.clone()).filter(|own| !own.is_empty()),
        };
        let is_ours = shown.note.is_empty() || OwnWishes::read(&shown.note).is_some();
        let keeps = wishes != OwnWishes::default();
        if keeps && !is_ours {
            self.leave(job, "its note is an operator's, and would be lost".to_owned());
            return Ok(false);
        }
        let keeps = keeps || is_ours && !shown.note.is_empty();
        let names = self.policy.names_of(nodes);
        let kept = keeps.then_some(&wishes);
        let line = place_line(id, &self.settings.run, &names, wishes.range.is_some(), kept)?;
        let object = json!({
            "job": job.id,
            "submitted": job.submitted,
            "nodes": hostlist::in_order(names.iter().copied()),
        });
        self.note("place", commands.now(), object);
        let says = commands.control(&line)?;
        if says.trim().is_empty() {
            self.metrics.placed(commands.now() - job.submitted.map_or(look.now, |at| at as f64));
            self.placed.insert(job.key(), look.now);
            return Ok(true);
        }
        self.metrics.refused += 1;
        self.note("refused", look.now, json!({ "job": job.id, "says": says.trim() }));
        let soon = BackOff { until: look.now + self.settings.settle, next: self.settings.back_off };
        self.backed_off.entry(job.key()).or_insert(soon);
        Ok(false)
    }
}

/// Checks both partitions, and closes the parking partition.
///
/// It is open after a watchdog had to open it; a kill switch keeps it open.
///
/// # Errors
/// One sentence: what is not so.
pub fn prepare(
    commands: &mut dyn SlurmCommands,
    settings: &AgentSettings,
    policy: &LivePolicy,
    is_off: bool,
) -> Result<(), String> {
    let mut shown = |name: &str| {
        let says = commands.control(&format!("show partition {}", checked(name)?))?;
        read_partition(&says).ok_or_else(|| format!("partition {name}: {}", says.trim()))
    };
    let (park, run) = (shown(&settings.park)?, shown(&settings.run)?);
    if let Some(pass) = &settings.pass {
        shown(pass)?;
    }
    for (name, partition) in [(&settings.park, &park), (&settings.run, &run)] {
        if !partition.is_exclusive {
            return Err(format!(
                "partition {name} shares nodes, but must have OverSubscribe=EXCLUSIVE"
            ));
        }
    }
    if park.nodes != run.nodes {
        return Err(format!(
            "partition {} has the nodes {}, and partition {} has {}: they must be the same",
            settings.park, park.nodes, settings.run, run.nodes
        ));
    }
    let names = hostlist::names(&run.nodes)?;
    if let Some(unknown) = names.iter().find(|name| !policy.numbers.contains_key(*name)) {
        return Err(format!(
            "node {unknown} of partition {} has no number in the study",
            settings.run
        ));
    }
    if run.state != "UP" {
        return Err(format!("partition {} is {}, but must be UP", settings.run, run.state));
    }
    if park.state != "DOWN" && !settings.dry_run && !is_off {
        let says = commands.control(&state_line(&settings.park, false)?)?;
        if !says.trim().is_empty() {
            return Err(format!("partition {} cannot be closed: {}", settings.park, says.trim()));
        }
    }
    Ok(())
}

/// An id that a line for `scontrol` may have.
fn checked(id: &str) -> Result<&str, String> {
    if crate::slurm::live::is_safe(id) { Ok(id) } else { Err(format!("`{id}` is no id of a job")) }
}
