//! Agent that places the jobs of a parking partition by a policy, and returns jobs that do not
//! start.
//!
//! Users submit jobs to the parking partition, which is closed. Jobs in it are called parked. To
//! place a parked job, the agent moves it to the run partition, and makes it require the chosen
//! nodes.
//!
//! Slurm holds all state that a restarted agent needs. A running or completing job holds its nodes.
//! A pending job in the run partition holds the nodes that it requires. A parked job holds no
//! nodes. The agent itself only remembers times: since when a placed job has looked stuck, and
//! until when a job that met a limit of Slurm is not placed again.

mod passing;
mod placing;
mod prepare;
mod returning;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value as Json, json};

use super::SlurmCommands;
use super::ends::ExpectedEnds;
use super::look::{Ranges, SiteLook, claims};
use super::metrics::AgentMetrics;
use super::policy::{Candidate, LivePolicy};
use meshwork_slurm::hostlist;
use meshwork_slurm::live::{QueuedJob, is_safe};

pub use prepare::{prepare, set_state};

#[derive(Clone, Debug)]
pub struct AgentSettings {
    /// Parking partition, to which users submit jobs. Its state is `DOWN`, so that no job starts in
    /// it.
    pub park: String,
    pub run: String,
    /// Partition for jobs that Slurm places itself; `None` if the agent leaves these jobs parked.
    pub pass: Option<String>,
    /// Whether the agent only logs its decisions, and changes nothing in Slurm.
    pub dry_run: bool,
    /// Largest number of waiting jobs that the policy considers, in order of priority.
    pub depth: usize,
    /// Seconds for which a placed job must look stuck before it returns to the parking partition.
    /// For example, a job looks stuck if one of its nodes is busy.
    pub settle: f64,
    /// Longest time in seconds that a placed job may wait on idle nodes before it looks stuck.
    pub patience: f64,
    /// First pause, in seconds, after a job met a limit of Slurm. During a pause, the agent does
    /// not place the job. Each further pause is twice as long, up to half an hour.
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

/// Key of a job: job id and submission time. It is unique even if Slurm reuses job ids.
type Key = (String, i64);

/// Pause in which a job is not placed: its end, and the length of the next pause in seconds.
#[derive(Clone, Copy, Debug)]
struct BackOff {
    until: f64,
    next: f64,
}

/// Agent that places jobs of a parking partition by a policy.
///
/// Each [`cycle`](PlacementAgent::cycle) reads Slurm's state once, and moves each job at most once.
pub struct PlacementAgent<'a> {
    policy: &'a LivePolicy,
    settings: AgentSettings,
    log: Box<dyn FnMut(&Json) + 'a>,
    pub ends: ExpectedEnds,
    pub metrics: AgentMetrics,
    ranges: Ranges,
    /// Placed jobs that look stuck, each with the time at which this was first seen.
    suspected: BTreeMap<Key, f64>,
    placed: BTreeMap<Key, f64>,
    backed_off: BTreeMap<Key, BackOff>,
    /// Jobs that the agent does not place, each with the reason.
    unsuited: BTreeMap<Key, String>,
    /// Running jobs whose nodes have been compared with the agent's choice.
    verified: BTreeSet<Key>,
    /// Decisions that are already in the log, by job.
    ///
    /// A decision is the list of nodes chosen in a dry run. The list is empty if the job is
    /// unsuitable.
    said: BTreeMap<Key, Vec<u32>>,
}

impl<'a> PlacementAgent<'a> {
    pub fn new(
        policy: &'a LivePolicy,
        settings: AgentSettings,
        log: Box<dyn FnMut(&Json) + 'a>,
    ) -> PlacementAgent<'a> {
        PlacementAgent {
            policy,
            settings,
            log,
            ends: ExpectedEnds::default(),
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

    /// Queries Slurm once, returns stuck jobs to the parking partition, and places jobs that may
    /// start. The result is the number of placed jobs.
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
        let claims = claims(&look, &self.policy.numbers, &self.ends, Some(&self.settings.run));
        let held: usize = claims.iter().map(|claim| claim.nodes.len()).sum();
        self.metrics.saw(&look, self.policy.names.len() - held, candidates.len());
        if candidates.is_empty() {
            self.metrics.looked(commands.now() - look.now);
            return Ok(0);
        }
        let (jobs, waiting): (Vec<&QueuedJob>, Vec<Candidate>) = candidates.into_iter().unzip();
        let kept = self.kept(&look, &jobs, &waiting);
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

    /// Compares the nodes of newly started jobs with the agent's choice: the nodes that the jobs
    /// require.
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
}

/// Returns a job id or partition name unchanged if it is safe within a line for `scontrol`.
fn checked(id: &str) -> Result<&str, String> {
    if is_safe(id) { Ok(id) } else { Err(format!("`{id}` is no id of a job")) }
}
