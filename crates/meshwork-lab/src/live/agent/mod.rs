//! The agent: parked jobs are placed by a policy, and what does not start is taken back.
//!
//! It keeps no state that a restart would miss: a job that runs or ends holds its nodes, a job that
//! waits in the run partition holds those that it requires, and a parked job holds none.
//! Memory between looks only delays: since when a placed job looks wrong, and until when a job that
//! met a limit is left alone.

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
use crate::slurm::hostlist;
use crate::slurm::live::{QueuedJob, is_safe};

pub use prepare::{prepare, set_state};

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
    /// The ends that the policy expects.
    pub ends: ExpectedEnds,
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
}

/// An id that a line for `scontrol` may have.
fn checked(id: &str) -> Result<&str, String> {
    if is_safe(id) { Ok(id) } else { Err(format!("`{id}` is no id of a job")) }
}
