//! Metrics of an agent, or of a shadow (an observer), in the text format of Prometheus.

use std::fmt::Write;

use super::look::SiteLook;

/// Counters and gauges of an agent. Job ids are included only if `names_jobs` is true.
#[derive(Clone, Debug, Default)]
pub struct AgentMetrics {
    pub names_jobs: bool,
    pub parked: usize,
    pub left: usize,
    pub decisions: u64,
    pub started: u64,
    pub wrong: u64,
    pub foreign: u64,
    pub refused: u64,
    pub taken_back: u64,
    pub passed: u64,
    candidates: usize,
    running: usize,
    free: usize,
    looks: u64,
    failed: u64,
    last_look: f64,
    last_seconds: f64,
    placements: u64,
    /// Sum over placed jobs of the times from submission to placement, in seconds.
    waited: f64,
    waiting: Vec<(String, f64)>,
}

impl AgentMetrics {
    pub(super) fn saw(&mut self, look: &SiteLook, free: usize, candidates: usize) {
        (self.free, self.candidates, self.last_look) = (free, candidates, look.now);
        self.running = look.jobs.iter().filter(|job| !job.is_pending()).count();
        self.waiting.clear();
        if self.names_jobs {
            let waiting = look.jobs.iter().filter(|job| job.is_pending());
            self.waiting.extend(waiting.map(|job| {
                (job.id.clone(), look.now - job.submitted.map_or(look.now, |at| at as f64))
            }));
        }
    }

    pub(super) fn looked(&mut self, seconds: f64) {
        self.looks += 1;
        self.last_seconds = seconds;
    }

    pub(super) fn placed(&mut self, waited: f64) {
        self.placements += 1;
        self.waited += waited.max(0.0);
    }

    pub fn missed(&mut self) {
        self.failed += 1;
    }

    pub fn looks(&self) -> u64 {
        self.looks
    }

    pub fn text(&self) -> String {
        let mut text = String::new();
        let mut add = |kind: &str, name: &str, help: &str, value: f64| {
            let _ = writeln!(
                text,
                "# HELP meshwork_{name} {help}\n# TYPE meshwork_{name} {kind}\nmeshwork_{name} {value}"
            );
        };
        for (name, help, value) in [
            ("parked_jobs", "Jobs in the parking partition.", self.parked as f64),
            ("candidate_jobs", "Parked jobs that may start.", self.candidates as f64),
            ("left_jobs", "Parked jobs that are not for the agent.", self.left as f64),
            ("running_jobs", "Jobs that run or end.", self.running as f64),
            ("free_nodes", "Nodes that are idle and claimed by no job.", self.free as f64),
            (
                "last_look_timestamp_seconds",
                "Time of the last look: the heartbeat.",
                self.last_look,
            ),
            (
                "last_look_seconds",
                "Duration of the last look and its decisions.",
                self.last_seconds,
            ),
        ] {
            add("gauge", name, help, value);
        }
        for (name, help, value) in [
            ("looks_total", "Looks.", self.looks as f64),
            ("failed_looks_total", "Looks to which Slurm did not answer.", self.failed as f64),
            ("decisions_total", "Plans that started jobs.", self.decisions as f64),
            ("placements_total", "Jobs placed.", self.placements as f64),
            ("placement_wait_seconds_total", "Seconds from submission to placement.", self.waited),
            ("started_total", "Jobs that started on the chosen nodes.", self.started as f64),
            ("wrong_total", "Jobs that started on other nodes.", self.wrong as f64),
            ("foreign_total", "Jobs of the run partition that nobody placed.", self.foreign as f64),
            ("refused_total", "Updates that Slurm refused.", self.refused as f64),
            ("taken_back_total", "Placed jobs taken back.", self.taken_back as f64),
            ("passed_total", "Jobs passed on to Slurm.", self.passed as f64),
        ] {
            add("counter", name, help, value);
        }
        for (id, seconds) in &self.waiting {
            let id: String = id
                .chars()
                .filter(|own| own.is_ascii_alphanumeric() || "_+".contains(*own))
                .collect();
            let _ = writeln!(text, "meshwork_waiting_seconds{{job=\"{id}\"}} {seconds}");
        }
        text
    }
}
