//! Observes a running Slurm, and compares each start of a job with the choice of a policy.
//!
//! The observer queries `squeue` and `sinfo`, and changes nothing. Each decision of the policy is
//! for the real state before a start, so that differences do not accumulate. The observed jobs are
//! also recorded as a history.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use maud::{DOCTYPE, html};
use meshwork::topology::wires::{Manner, Router};
use serde_json::{Value as Json, json};

use super::SlurmCommands;
use super::ends::ExpectedEnds;
use super::look::{Claim, Ranges, SiteLook, claims, idle, numbers_of};
use super::metrics::AgentMetrics;
use super::policy::{Candidate, LivePolicy};
use meshwork_lab::text::number::{plural, significant};
use meshwork_report::html::{POLICY, STYLES, head};
use meshwork_slurm::history::{History, JobRecord};
use meshwork_slurm::hostlist;
use meshwork_slurm::live::QueuedJob;

/// Maximum number of waiting jobs that the policy considers, in order of priority.
const DEPTH: usize = 1_000;
/// Largest job, in nodes, whose links are found from the routes between all pairs of its nodes.
const ALL_PAIRS: usize = 64;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShadowVerdict {
    Equal,
    Other,
    Waits,
}

impl ShadowVerdict {
    pub fn word(self) -> &'static str {
        match self {
            ShadowVerdict::Equal => "equal",
            ShadowVerdict::Other => "other",
            ShadowVerdict::Waits => "waits",
        }
    }
}

/// Value of one measure, for the nodes that Slurm chose and for the nodes that the policy chose.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BothChoices {
    pub slurm: Option<f64>,
    pub policy: Option<f64>,
}

#[derive(Clone, Debug)]
pub struct ShadowedStart {
    pub id: String,
    /// Time of the start, in seconds since 1970.
    pub at: i64,
    pub free: String,
    pub slurm: String,
    pub policy: Option<String>,
    pub verdict: ShadowVerdict,
    /// Mean distance in links between two nodes of the job.
    pub distance: BothChoices,
    /// Number of links that messages of the job share with messages of running jobs.
    pub contention: BothChoices,
    /// Number of job sizes that fit on the free nodes before the start, but not after it.
    /// Only powers of two are tried as sizes.
    pub blocked: BothChoices,
    /// Number of jobs that Slurm left waiting although the policy found nodes for them.
    pub had_place: usize,
    pub state: Json,
    pub plan: Json,
}

impl ShadowedStart {
    pub fn json(&self) -> Json {
        let both = |own: BothChoices| json!({ "slurm": own.slurm, "policy": own.policy });
        json!({
            "event": "start", "t": self.at, "job": self.id, "free": self.free, "slurm": self.slurm,
            "policy": self.policy, "verdict": self.verdict.word(), "distance": both(self.distance),
            "contention": both(self.contention), "blocked": both(self.blocked), "had_place": self.had_place,
            "state": self.state, "plan": self.plan,
        })
    }

    pub fn sentence(&self) -> String {
        let choice = match (&self.policy, self.verdict) {
            (_, ShadowVerdict::Equal) => "so would the policy".to_owned(),
            (Some(nodes), _) => format!("the policy would have chosen {nodes}"),
            (None, _) => "the policy would have let it wait".to_owned(),
        };
        format!("job {} on {}: {choice}", self.id, self.slurm)
    }
}

#[derive(Clone, Debug, Default)]
pub struct ShadowSummary {
    pub starts: usize,
    pub equal: usize,
    pub other: usize,
    pub waits: usize,
    /// Number of starts at which Slurm passed over a job although the policy found nodes for it.
    pub had_place: usize,
    /// Number of queries that showed several new starts, whose order is uncertain.
    pub ambiguous: usize,
    /// Number of starts of multi-node jobs that both Slurm and the policy placed.
    ///
    /// Measures are summed over these starts.
    pub both: usize,
    distance: (f64, f64),
    contention: (f64, f64),
    blocked: (f64, f64),
}

impl ShadowSummary {
    fn add(&mut self, start: &ShadowedStart) {
        self.starts += 1;
        match start.verdict {
            ShadowVerdict::Equal => self.equal += 1,
            ShadowVerdict::Other => self.other += 1,
            ShadowVerdict::Waits => self.waits += 1,
        }
        self.had_place += usize::from(start.had_place > 0);
        let pair = |own: BothChoices| own.slurm.zip(own.policy);
        if let Some(distance) = pair(start.distance) {
            self.both += 1;
            let add = |sum: &mut (f64, f64), own: (f64, f64)| {
                (sum.0, sum.1) = (sum.0 + own.0, sum.1 + own.1);
            };
            add(&mut self.distance, distance);
            add(&mut self.contention, pair(start.contention).unwrap_or_default());
            add(&mut self.blocked, pair(start.blocked).unwrap_or_default());
        }
    }

    pub fn rows(&self) -> Vec<(&'static str, String)> {
        let share = |count: usize| {
            if self.starts == 0 {
                return "0".to_owned();
            }
            let percent = 100.0 * count as f64 / self.starts as f64;
            format!("{count} ({} %)", significant(percent, 3))
        };
        let mut rows = vec![
            ("starts", self.starts.to_string()),
            ("equal nodes", share(self.equal)),
            ("other nodes", share(self.other)),
            ("the policy would have waited", share(self.waits)),
            ("the policy had a place for a job that waited", share(self.had_place)),
            ("looks with several starts", self.ambiguous.to_string()),
        ];
        let mean = |(slurm, policy): (f64, f64)| {
            let count = self.both.max(1) as f64;
            let own = [slurm, policy].map(|sum| significant(sum / count, 3));
            format!("Slurm {}, policy {}", own[0], own[1])
        };
        if self.both > 0 {
            rows.push(("jobs of several nodes that both place", self.both.to_string()));
            rows.push(("mean links between two nodes", mean(self.distance)));
            rows.push(("mean links shared with other jobs", mean(self.contention)));
            rows.push(("mean sizes without a place after the start", mean(self.blocked)));
        }
        rows
    }

    pub fn line(&self) -> String {
        format!(
            "{}: {} equal, {} on other nodes, {} would have waited",
            plural(self.starts as u64, "start"),
            self.equal,
            self.other,
            self.waits
        )
    }
}

/// Observer of one partition, which compares Slurm's starts with the choices of a policy.
pub struct SiteShadow<'a> {
    policy: &'a LivePolicy,
    partition: String,
    is_exclusive: bool,
    ranges: Ranges,
    running: BTreeSet<(String, i64)>,
    has_looked: bool,
    records: BTreeMap<(String, i64, u32), JobRecord>,
    attempts: BTreeMap<(String, i64), u32>,
    open: BTreeSet<(String, i64, u32)>,
    pub ends: ExpectedEnds,
    pub summary: ShadowSummary,
    pub metrics: AgentMetrics,
}

impl<'a> SiteShadow<'a> {
    /// Observer of a partition. If `is_exclusive`, jobs of the partition hold whole nodes.
    pub fn new(policy: &'a LivePolicy, partition: &str, is_exclusive: bool) -> SiteShadow<'a> {
        SiteShadow {
            policy,
            partition: partition.to_owned(),
            is_exclusive,
            ranges: Ranges::default(),
            running: BTreeSet::new(),
            has_looked: false,
            records: BTreeMap::new(),
            attempts: BTreeMap::new(),
            open: BTreeSet::new(),
            ends: ExpectedEnds::default(),
            summary: ShadowSummary::default(),
            metrics: AgentMetrics::default(),
        }
    }

    /// Queries Slurm once, and compares starts since the last query with the policy's choices.
    pub fn look(&mut self, commands: &mut dyn SlurmCommands) -> Result<Vec<ShadowedStart>, String> {
        let look = SiteLook::take(commands, &self.partition, false)?;
        let is_own = |job: &&QueuedJob| job.partition == self.partition;
        let pending: Vec<&QueuedJob> =
            look.jobs.iter().filter(is_own).filter(|job| job.is_pending()).collect();
        self.ranges.learn(commands, &self.partition, &pending)?;
        let mut new: Vec<&QueuedJob> = look
            .jobs
            .iter()
            .filter(is_own)
            .filter(|job| !job.is_pending() && !self.running.contains(&run_key(job)))
            .collect();
        new.sort_by_key(|job| (job.start, job.number, job.id.clone()));
        let mut found = Vec::new();
        if self.has_looked {
            self.summary.ambiguous += usize::from(new.len() > 1);
            let mut before = self.before(&look, &new);
            let mut queue: Vec<&QueuedJob> = pending.iter().chain(&new).copied().collect();
            queue.sort_by_cached_key(|job| {
                (std::cmp::Reverse(job.priority), job.number, job.id.clone())
            });
            let mut left: BTreeSet<(String, i64)> = new.iter().map(|job| job.key()).collect();
            for job in &new {
                let start = self.compare(&look, &before, &queue, &left, job)?;
                self.summary.add(&start);
                found.push(start);
                // The starts are compared one after the other: this job no longer waits.
                left.remove(&job.key());
                queue.retain(|own| own.key() != job.key());
                before.push(Claim {
                    id: job.id.clone(),
                    nodes: numbers_of(&self.policy.numbers, &job.has),
                    since: look.now - 0.001,
                    until: self.ends.end(job, look.now),
                });
            }
        }
        self.record(&look);
        self.running = look.jobs.iter().filter(|job| !job.is_pending()).map(run_key).collect();
        self.has_looked = true;
        let free = idle(&look, &self.policy.numbers).count();
        self.metrics.parked = pending.len();
        self.metrics.started = self.summary.starts as u64;
        self.metrics.saw(&look, free, pending.len());
        self.metrics.looked(commands.now() - look.now);
        Ok(found)
    }

    /// Occupied nodes, by job, just before the newly started jobs began.
    fn before(&self, look: &SiteLook, new: &[&QueuedJob]) -> Vec<Claim> {
        let keys: BTreeSet<(String, i64)> = new.iter().map(|job| run_key(job)).collect();
        let taken: BTreeSet<String> =
            new.iter().flat_map(|job| hostlist::names(&job.has).unwrap_or_default()).collect();
        let mut earlier = look.clone();
        earlier.jobs.retain(|job| job.is_pending() || !keys.contains(&run_key(job)));
        for (name, state) in &mut earlier.nodes {
            let is_used = ["allocated", "mixed", "completing"].contains(&state.as_str());
            if taken.contains(name) && is_used {
                "idle".clone_into(state);
            }
        }
        claims(&earlier, &self.policy.numbers, &self.ends, None)
    }

    fn compare(
        &self,
        look: &SiteLook,
        before: &[Claim],
        queue: &[&QueuedJob],
        started: &BTreeSet<(String, i64)>,
        job: &QueuedJob,
    ) -> Result<ShadowedStart, String> {
        let numbers = &self.policy.numbers;
        let may_wait = |own: &&&QueuedJob| {
            let waits_for =
                ["BeginTime", "Dependency", "JobArrayTaskLimit", "JobHeld", "Assoc", "QOS"];
            let is_ready = own.priority > 0
                && own.dependency.is_empty()
                && !waits_for.iter().any(|reason| own.reason.starts_with(reason));
            started.contains(&own.key()) || is_ready
        };
        let asked: Vec<&QueuedJob> = queue.iter().filter(may_wait).take(DEPTH).copied().collect();
        let waiting: Vec<Candidate> = asked
            .iter()
            .map(|own| self.policy.candidate(own, own.nodes.max(1), &self.ends))
            .collect();
        let decision = self.policy.decide(look.now, before, &waiting, &[])?;
        let own = decision.starts.iter().find(|(place, _)| asked[*place].key() == job.key());
        let mut slurm = numbers_of(numbers, &job.has);
        slurm.sort_unstable();
        let mut chosen = own.map(|(_, nodes)| nodes.clone());
        chosen.iter_mut().for_each(|nodes| nodes.sort_unstable());
        let verdict = match &chosen {
            Some(nodes) if *nodes == slurm => ShadowVerdict::Equal,
            Some(_) => ShadowVerdict::Other,
            None => ShadowVerdict::Waits,
        };
        let is_other = |own: &&(usize, Vec<u32>)| !started.contains(&asked[own.0].key());
        let had_place = decision.starts.iter().filter(is_other).count();
        let held: BTreeSet<u32> = before.iter().flat_map(|claim| claim.nodes.clone()).collect();
        let free: Vec<u32> =
            (0..numbers.len() as u32).filter(|node| !held.contains(node)).collect();
        let names = |nodes: &[u32]| hostlist::compressed(self.policy.names_of(nodes));
        let both = |measure: &dyn Fn(&[u32]) -> Option<f64>| BothChoices {
            slurm: measure(&slurm),
            policy: chosen.as_ref().and_then(|nodes| measure(nodes)),
        };
        let others = self.links_of_all(before);
        let fits = self.sizes(look.now, before, &[])?;
        let blocked = |nodes: &[u32]| {
            let after = self.sizes(look.now, before, nodes).ok()?;
            Some(fits.difference(&after).count() as f64)
        };
        Ok(ShadowedStart {
            id: job.id.clone(),
            at: job.start.unwrap_or(look.now as i64),
            free: names(&free),
            slurm: names(&slurm),
            policy: chosen.as_ref().map(|nodes| names(nodes)),
            verdict,
            distance: both(&|nodes| self.policy.distance(nodes)),
            contention: both(&|nodes| {
                Some(self.policy.links(nodes).intersection(&others).count() as f64)
            }),
            blocked: both(&blocked),
            had_place,
            state: decision.state,
            plan: decision.answer,
        })
    }

    fn links_of_all(&self, claims: &[Claim]) -> BTreeSet<(Router, u16)> {
        let known = claims.iter().filter(|claim| claim.id != "unusable");
        known.flat_map(|claim| self.policy.links(&claim.nodes)).collect()
    }

    /// Finds the job sizes, among the powers of two, that the policy could place now.
    ///
    /// Nodes of the `claims` and nodes in `nodes` count as taken.
    fn sizes(&self, now: f64, claims: &[Claim], nodes: &[u32]) -> Result<BTreeSet<u32>, String> {
        let mut all = claims.to_vec();
        if !nodes.is_empty() {
            let (since, until) = (now - 0.001, now + 1.0);
            all.push(Claim { id: "chosen".to_owned(), nodes: nodes.to_vec(), since, until });
        }
        let mut found = BTreeSet::new();
        let most = self.policy.names.len() as u32;
        for size in (0..).map(|power| 1_u32 << power).take_while(|&size| size <= most) {
            let alone = Candidate {
                id: "size".to_owned(),
                nodes: size,
                block: None,
                estimate: Some(1),
                user: String::new(),
                queue: String::new(),
                without: Vec::new(),
            };
            if !self.policy.decide(now, &all, &[alone], &[])?.starts.is_empty() {
                found.insert(size);
            }
        }
        Ok(found)
    }

    fn record(&mut self, look: &SiteLook) {
        let mut seen = BTreeSet::new();
        let partition = self.partition.clone();
        for job in look.jobs.iter().filter(|job| job.partition == partition) {
            let key = job.key();
            let attempt = *self.attempts.entry(key.clone()).or_insert(1);
            let mut full = (key.0.clone(), key.1, attempt);
            // A job that waits again, or starts again, is in its next attempt.
            let known = self.records.get(&full).and_then(|own| own.start);
            let is_again = match (known, job.is_pending()) {
                (Some(_), true) => true,
                (Some(start), false) => job.start.is_some_and(|own| own > start),
                (None, _) => false,
            };
            if is_again {
                self.close(&full, look.now, "REQUEUED");
                full.2 += 1;
                self.attempts.insert(key, full.2);
            }
            let record = self.records.entry(full.clone()).or_insert_with(|| JobRecord {
                id: job.id.clone(),
                attempt: full.2,
                user: job.user.clone(),
                account: job.account.clone(),
                partition: job.partition.clone(),
                qos: job.qos.clone(),
                submit: job.submitted,
                eligible: job.submitted,
                limit: job.limit,
                nodes: job.nodes,
                exclusive: self.is_exclusive,
                require: job.requires.clone(),
                exclude: job.excludes.clone(),
                ..JobRecord::default()
            });
            if job.priority > 0 {
                record.priority = i64::try_from(job.priority).ok();
            }
            if job.is_pending() {
                "PENDING".clone_into(&mut record.state);
                record.reason.clone_from(&job.reason);
            } else if record.start.is_none() || job.state == "R" {
                "RUNNING".clone_into(&mut record.state);
                record.start = job.start;
                // A job that is ending releases its nodes one by one: keep those of the running
                // state.
                record.nodelist.clone_from(&job.has);
                record.nodes = hostlist::names(&job.has).map_or(job.nodes, |own| own.len() as u32);
            }
            self.open.insert(full.clone());
            seen.insert(full);
        }
        let gone: Vec<_> = self.open.difference(&seen).cloned().collect();
        for full in gone {
            self.close(&full, look.now, "COMPLETED");
        }
    }

    /// Ends a record at `now` with a final state. If the job never started, this state is
    /// `CANCELLED`.
    fn close(&mut self, full: &(String, i64, u32), now: f64, state: &str) {
        self.open.remove(full);
        let Some(record) = self.records.get_mut(full) else { return };
        let state = if record.start.is_some() { state } else { "CANCELLED" };
        state.clone_into(&mut record.state);
        record.end = Some(now as i64);
    }

    /// History of all observed jobs, by submission. A job ends at the first query that does not
    /// show it.
    pub fn history(&self) -> History {
        let mut stays: Vec<JobRecord> = self.records.values().cloned().collect();
        stays.sort_by(|a, b| (a.submit, &a.id, a.attempt).cmp(&(b.submit, &b.id, b.attempt)));
        History { stays }
    }

    pub fn page(&self, title: &str) -> String {
        let markup = html! {
            (DOCTYPE)
            html lang="en" {
                (head(title, POLICY, &STYLES[..1]))
                body {
                    header {
                        h1 { (title) }
                        p.lead { (self.summary.line()) }
                    }
                    main #results {
                        table {
                            tbody {
                                @for (name, value) in self.summary.rows() {
                                    tr { th scope="row" { (name) } td { (value) } }
                                }
                            }
                        }
                    }
                }
            }
        };
        markup.into_string()
    }

    pub fn text(&self) -> String {
        let rows = self.summary.rows();
        let width = rows.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
        let mut text = String::new();
        for (name, value) in rows {
            let _ = writeln!(text, "{name:<width$}  {value}");
        }
        text
    }
}

fn run_key(job: &QueuedJob) -> (String, i64) {
    (job.id.clone(), job.start.unwrap_or(0))
}

impl LivePolicy {
    /// Links on the routes between a job's nodes. From each node, at most `ALL_PAIRS - 1` routes
    /// count.
    fn links(&self, nodes: &[u32]) -> BTreeSet<(Router, u16)> {
        let mut links = BTreeSet::new();
        let Some(wires) = self.topology.wires() else { return links };
        let manner = Manner::default();
        for (place, &from) in nodes.iter().enumerate() {
            let others = nodes.iter().cycle().skip(place + 1).take(nodes.len().min(ALL_PAIRS) - 1);
            for &to in others {
                let mut router = from / wires.nodes_each();
                for leg in wires.route(from, to, 0, &manner, false) {
                    for _ in 0..leg.hops {
                        links.insert((router, leg.port));
                        let Some(end) = wires.link(router, leg.port.into()) else { break };
                        router = end.router;
                    }
                }
            }
        }
        links
    }
}
