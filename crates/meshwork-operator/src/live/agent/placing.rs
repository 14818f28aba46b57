//! Places the jobs that the policy starts, by one update of each job in Slurm.

use serde_json::json;

use super::{BackOff, PlacementAgent, checked};
use crate::live::SlurmCommands;
use crate::live::look::{FAR, SiteLook, idle, numbers_of};
use crate::live::policy::{Candidate, Kept, LiveDecision};
use meshwork_slurm::hostlist;
use meshwork_slurm::live::{OwnWishes, QueuedJob, place_line, read_job};

impl PlacementAgent<'_> {
    /// Jobs of the parking partition as candidates of the policy, in Slurm's order of priority.
    pub(super) fn candidates<'l>(
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
        let free = idle(look, &self.policy.numbers).count() as u32;
        let of = |job: &'l QueuedJob| {
            let nodes = free.max(self.ranges.least(job)).min(job.nodes);
            let candidate = self.policy.candidate(job, nodes, &self.ends);
            (job, candidate)
        };
        Ok(jobs.into_iter().map(of).collect())
    }

    /// Nodes of reservations, with the jobs that must not use them. Slurm starts a job on reserved
    /// nodes only if the job's time limit ends before the reservation begins. The expected end of
    /// the job does not count.
    pub(super) fn kept(
        &self,
        look: &SiteLook,
        jobs: &[&QueuedJob],
        waiting: &[Candidate],
    ) -> Vec<Kept> {
        let mut all = Vec::new();
        for own in &look.reservations {
            let nodes = numbers_of(&self.policy.numbers, &own.nodes);
            if nodes.is_empty() {
                continue;
            }
            let (from, until) = (own.start as f64, own.end as f64);
            let limit = |job: &QueuedJob| job.limit.map_or(FAR, |limit| limit as f64);
            let early = jobs.iter().zip(waiting).filter(|(job, candidate)| {
                candidate.estimate != job.limit && look.now + limit(job) > from
            });
            let jobs: Vec<String> = early.map(|(job, _)| job.id.clone()).collect();
            if !jobs.is_empty() && from > look.now {
                all.push(Kept { nodes: nodes.clone(), jobs, from: look.now, until });
            }
            all.push(Kept { nodes, jobs: Vec::new(), from, until });
        }
        all
    }

    /// Places the jobs that the policy's decision starts. Returns the number of placed jobs.
    pub(super) fn place_all(
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

    /// Places one job, unless it has changed since the query. Returns whether it was placed.
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
            // Some allocators round the number of nodes up, but Slurm would not accept more nodes.
            let why = format!("the policy gives it {} nodes, not {}", nodes.len(), wanted.nodes);
            self.leave(job, why);
            return Ok(false);
        }
        // A user may have changed the job, or the controller may have reused its number.
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
        // Without a range, the number of nodes is fixed, for example by the number of tasks.
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
        let own = self.backed_off.entry(job.key()).or_insert(soon);
        own.until = own.until.max(soon.until);
        Ok(false)
    }
}
