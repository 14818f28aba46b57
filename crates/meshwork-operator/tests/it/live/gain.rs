//! Measures how much waits shorten if the agent predicts ends of jobs.
//!
//! The agent places the jobs of a recorded site by each rule for expected ends.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Instant;

use meshwork::scenario::Scenario;
use meshwork_lab::slurm::folder::Folder;
use meshwork_operator::live::SlurmCommands;
use meshwork_operator::live::agent::{AgentSettings, PlacementAgent};
use meshwork_operator::live::ends::{EndRule, ExpectedEnds};
use meshwork_operator::live::policy::LivePolicy;
use meshwork_operator::paired;
use meshwork_slurm::history::{History, JobRecord};
use serde_json::Value as Json;

use super::fake::{NO_RESERVATIONS, argument, filled, indices, pending, value};

/// Seconds after which the agent predicts the ends of jobs again.
const RENEWED: i64 = 60;

/// Fake of a Slurm without faults. A recorded job starts as soon as the agent has placed it.
#[derive(Default)]
struct Replayed<'a> {
    now: i64,
    jobs: &'a [JobRecord],
    submitted: usize,
    waiting: Vec<usize>,
    /// Nodes and start of running jobs, by end and job number.
    running: BTreeMap<(i64, usize), (String, i64)>,
    busy: Vec<bool>,
    starts: Vec<i64>,
}

/// Run time in seconds, up to the time limit.
fn seconds(job: &JobRecord) -> i64 {
    let ran = (job.end.unwrap() - job.start.unwrap()).max(1);
    job.limit.map_or(ran, |limit| ran.min(limit.max(1)))
}

impl Replayed<'_> {
    /// Moves to the next submission or end, and returns the ended jobs; `None` after the last one.
    fn next(&mut self) -> Option<Vec<usize>> {
        let submission = self.jobs.get(self.submitted).and_then(|job| job.submit);
        let end = self.running.keys().next().map(|(end, _)| *end);
        self.now = submission.into_iter().chain(end).min()?;
        let mut ended = Vec::new();
        while let Some(entry) = self.running.first_entry().filter(|own| own.key().0 <= self.now) {
            let ((_, job), (nodes, _)) = entry.remove_entry();
            indices(&nodes).into_iter().for_each(|node| self.busy[node] = false);
            ended.push(job);
        }
        while self.jobs.get(self.submitted).is_some_and(|job| job.submit <= Some(self.now)) {
            self.waiting.push(self.submitted);
            self.submitted += 1;
        }
        Some(ended)
    }

    fn record(&self, format: &str, job: usize, running: Option<(&str, i64)>) -> String {
        let own = &self.jobs[job];
        let (state, partition) = if running.is_some() { ("R", "run") } else { ("PD", "in") };
        let (nodes, start) = running.unwrap_or(("(null)", 0));
        let time = |at: i64| running.map_or("N/A".to_owned(), |_| at.to_string());
        let limit = own.limit.map(|limit| limit.max(1));
        filled(format, |letter| match letter {
            'i' | 'A' => (job + 1).to_string(),
            'P' => partition.to_owned(),
            't' => state.to_owned(),
            'D' => own.nodes.to_string(),
            'Q' => "1".to_owned(),
            'r' if running.is_none() => "PartitionDown".to_owned(),
            'N' | 'n' => nodes.to_owned(),
            'V' => own.submit.unwrap().to_string(),
            'S' => time(start),
            'e' => limit.map_or("N/A".to_owned(), |limit| time(start + limit)),
            'l' => {
                limit.map_or("UNLIMITED".to_owned(), |own| format!("{}:{:02}", own / 60, own % 60))
            }
            'u' => own.user.clone(),
            _ => "(null)".to_owned(),
        })
    }
}

impl SlurmCommands for Replayed<'_> {
    fn ask(&mut self, program: &str, arguments: &[String]) -> Result<String, String> {
        if program == "sinfo" {
            let state = |(node, busy): (usize, &bool)| {
                format!("n{node} {}\n", if *busy { "allocated" } else { "idle" })
            };
            return Ok(self.busy.iter().enumerate().map(state).collect());
        }
        let Some(format) = argument(arguments, "--format") else {
            let least = |&job: &usize| format!("{} cpu=1,node={}\n", job + 1, self.jobs[job].nodes);
            return Ok(self.waiting.iter().map(least).collect());
        };
        let waiting = self.waiting.iter().map(|&job| self.record(format, job, None));
        let running = self
            .running
            .iter()
            .map(|((_, job), (nodes, start))| self.record(format, *job, Some((nodes, *start))));
        Ok(waiting.chain(running).collect())
    }

    fn control(&mut self, line: &str) -> Result<String, String> {
        Ok(if line == "show reservation" {
            NO_RESERVATIONS.to_owned()
        } else if let Some(id) = line.strip_prefix("show job ") {
            let job = &self.jobs[id.parse::<usize>().unwrap() - 1];
            pending(id, job.submit.unwrap(), job.nodes)
        } else {
            let job = value(line, "JobId").unwrap().parse::<usize>().unwrap() - 1;
            let nodes = value(line, "ReqNodeList").unwrap();
            for node in indices(nodes) {
                assert!(!std::mem::replace(&mut self.busy[node], true), "{line}");
            }
            self.waiting.retain(|own| *own != job);
            self.starts[job] = self.now;
            let end = self.now + seconds(&self.jobs[job]);
            self.running.insert((end, job), (nodes.to_owned(), self.now));
            String::new()
        })
    }

    fn now(&mut self) -> f64 {
        self.now as f64
    }

    fn token(&mut self) -> String {
        "<token>".to_owned()
    }
}

/// Waits of jobs in seconds, if the agent predicts the ends of jobs by `rule`.
fn waits(policy: &LivePolicy, jobs: &[JobRecord], rule: EndRule) -> Vec<f64> {
    let nodes = policy.names.len();
    let (busy, starts) = (vec![false; nodes], vec![0; jobs.len()]);
    let mut slurm = Replayed { jobs, busy, starts, ..Replayed::default() };
    let mut agent = PlacementAgent::new(policy, AgentSettings::default(), Box::new(|_: &Json| {}));
    let mut seen = History::default();
    let (mut is_old, mut read) = (false, 0);
    while let Some(ended) = slurm.next() {
        for job in ended {
            let (start, own) = (slurm.starts[job], &jobs[job]);
            let end = start + seconds(own);
            is_old = true;
            seen.stays.push(JobRecord { start: Some(start), end: Some(end), ..own.clone() });
        }
        if is_old && slurm.now - read >= RENEWED {
            agent.ends = ExpectedEnds::of(rule, &seen);
            (is_old, read) = (false, slurm.now);
        }
        agent.cycle(&mut slurm).unwrap();
    }
    assert_eq!((slurm.waiting.len(), agent.metrics.wrong), (0, 0));
    let wait = |(start, job): (&i64, &JobRecord)| (start - job.submit.unwrap()) as f64;
    slurm.starts.iter().zip(jobs).map(wait).collect()
}

/// Prints the waits that docs/live.md quotes for `--ends`. Run it for the first `MESHWORK_JOBS`
/// jobs of a site with `MESHWORK_SITE=site cargo test --release -p meshwork-operator --test it
/// live::gain -- --ignored --nocapture`.
#[test]
#[ignore = "it measures"]
#[allow(clippy::print_stdout, reason = "figures of a page")]
fn gain_of_predicted_ends() {
    let site = std::env::var("MESHWORK_SITE").expect("MESHWORK_SITE is the folder of a site");
    let most = std::env::var("MESHWORK_JOBS").map_or(usize::MAX, |own| own.parse().unwrap());
    let folder = Folder::read(Path::new(&site)).unwrap();
    let nodes = folder.machine.nodes_up();
    let runs = |job: &&JobRecord| {
        job.start.is_some_and(|start| job.submit.is_some() && Some(start) < job.end)
            && (1..=nodes).contains(&job.nodes)
    };
    let jobs: Vec<JobRecord> =
        folder.history.stays.iter().filter(runs).take(most).cloned().collect();
    println!("{} jobs on {nodes} nodes", jobs.len());
    for scheduler in ["easy", "conservative"] {
        let text = format!(
            "machine = 'flat:{nodes}'\nscheduler = '{scheduler}'\nworkload = {{ name = 'lublin', load = 0.5 }}"
        );
        let scenario = Scenario::read(&text.parse().unwrap()).unwrap();
        let names = (0..nodes).map(|node| format!("n{node}")).collect();
        let policy = LivePolicy::named(scenario, names).unwrap();
        let mut by_limits: Option<Vec<f64>> = None;
        for (name, rule) in EndRule::ALL {
            let began = Instant::now();
            let waits = waits(&policy, &jobs, rule);
            // Bounded slowdown, with a threshold of ten seconds.
            let slowdown = |(wait, job): (&f64, &JobRecord)| {
                let runs = seconds(job) as f64;
                ((wait + runs) / runs.max(10.0)).max(1.0)
            };
            let slowdowns: Vec<f64> = waits.iter().zip(&jobs).map(slowdown).collect();
            let both: Vec<f64> = waits.iter().chain(&slowdowns).copied().collect();
            let base = by_limits.get_or_insert_with(|| both.clone());
            let less: Vec<f64> = both.iter().zip(base.iter()).map(|(own, by)| own - by).collect();
            for (what, range) in [("wait", 0..jobs.len()), ("slowdown", jobs.len()..both.len())] {
                let all = paired::interval(&both[range.clone()]);
                let change = paired::interval(&less[range]);
                println!(
                    "{scheduler} {name}: mean {what} {:.1}, change {:.1} ± {:.1} ({:.0} s)",
                    all.mean.unwrap(),
                    change.mean.unwrap(),
                    change.half_width.unwrap_or(f64::NAN),
                    began.elapsed().as_secs_f64()
                );
            }
        }
    }
}
