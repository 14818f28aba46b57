//! Jobs as fluids: a job alone takes a known time, and the load on its links can lower its rate.

use super::alone::{Alone, Estimate};
use super::messaging::Plan;
use super::{Network, NetworkError, RunKey, Work};
use crate::job::Time;
use crate::machine::Placement;
use crate::observe::Messages;
use crate::topology::Node;

/// Load, as an integer, that equals one flit per cycle. Loads are integers, so that the removal of
/// a job restores the loads of its links exactly.
const UNIT: f64 = (1_u64 << 40) as f64;

/// Jobs of a network in which messages are steady flows; single flits are not simulated.
pub(super) struct Flow {
    alone: Alone,
    /// For each link, the sum of the loads that jobs put on the link. Links are in order of site.
    /// `None` if jobs do not slow each other.
    loads: Option<Vec<u64>>,
    /// For each site, the index of its first link in the list of link loads.
    sites: Vec<usize>,
    runs: Vec<Option<Run>>,
}

struct Run {
    key: RunKey,
    plan: Plan,
    start: Time,
    /// Time that the job takes on its current nodes if no other job sends messages.
    ///
    /// `left` is how much of this time remains.
    time: f64,
    left: f64,
    rate: f64,
    since: Time,
    messages: Messages,
    /// Index of each link that the job uses, with the load that it puts on the link.
    loads: Vec<(usize, u64)>,
}

impl Run {
    fn ends(&self) -> Time {
        self.since + self.left / self.rate
    }

    fn go_to(&mut self, now: Time) {
        self.left = (self.left - (now - self.since) * self.rate).max(0.0);
        self.since = now;
    }
}

impl Flow {
    pub(super) fn new(alone: Alone, is_shared: bool) -> Flow {
        let mut sites = Vec::new();
        let mut places = 0;
        for lone in alone.lone() {
            sites.push(places);
            places += lone.places();
        }
        Flow { alone, loads: is_shared.then(|| vec![0; places]), sites, runs: Vec::new() }
    }

    /// The load that a job would put on each of its links if it were alone, in units of `UNIT`.
    fn loads(&self, site: usize, plan: &Plan, nodes: &[Node], time: f64) -> Vec<(usize, u64)> {
        let Some(loads) = &self.loads else { return Vec::new() };
        let lone = self.alone.lone().nth(site).expect("a job runs on one of the sites");
        let place = |rank: u32| nodes[rank as usize % nodes.len()];
        let mut messages = vec![0_u64; loads.len()];
        for &rank in &plan.senders {
            for index in 0..plan.messages(rank) {
                let (from, to) = (place(rank), place(plan.to(rank, index)));
                lone.for_each_link(from, to, plan.coins(rank, index), |link| {
                    messages[self.sites[site] + link] += 1;
                });
            }
        }
        let each = self.alone.flits as f64 / time * UNIT;
        let used = messages.into_iter().enumerate().filter(|&(_, messages)| messages > 0);
        used.map(|(link, messages)| (link, (messages as f64 * each) as u64)).collect()
    }

    fn load(&mut self, slot: u32, adds: bool) {
        let (Some(loads), Some(run)) = (&mut self.loads, &self.runs[slot as usize]) else { return };
        for &(link, load) in &run.loads {
            loads[link] = if adds { loads[link] + load } else { loads[link] - load };
        }
    }

    /// Sets the rate of every job to the rate that the most loaded of its links allows.
    fn settle(&mut self, now: Time) {
        let Some(loads) = &self.loads else { return };
        for run in self.runs.iter_mut().flatten() {
            let fullest = run.loads.iter().map(|&(link, _)| loads[link]).max().unwrap_or(0);
            let rate = 1.0 / (fullest as f64 / UNIT).max(1.0);
            if rate.to_bits() != run.rate.to_bits() {
                run.go_to(now);
                run.rate = rate;
            }
        }
    }
}

impl Network for Flow {
    fn start(
        &mut self,
        now: Time,
        key: RunKey,
        _work: Work,
        site: usize,
        at: &Placement,
    ) -> Result<(), NetworkError> {
        let (plan, nodes) = self.alone.plan(key, site, at)?;
        let Estimate { time, messages } = self.alone.estimate(site, &plan, &nodes);
        let loads = self.loads(site, &plan, &nodes, time);
        let slot = key.slot as usize;
        if slot >= self.runs.len() {
            self.runs.resize_with(slot + 1, || None);
        }
        let run =
            Run { key, plan, start: now, time, left: time, rate: 1.0, since: now, messages, loads };
        self.runs[slot] = Some(run);
        self.load(key.slot, true);
        self.settle(now);
        Ok(())
    }

    /// Moves a job to other nodes.
    ///
    /// The remaining fraction of its work stays the same, and `more` is added to the remaining
    /// time. The job's new rate of work is ignored, because it does not affect messages.
    fn change(
        &mut self,
        now: Time,
        key: RunKey,
        more: f64,
        _rate: f64,
        site: usize,
        at: &Placement,
    ) {
        self.load(key.slot, false);
        let slot = key.slot as usize;
        let mut run = self.runs[slot].take().expect("a job that is moved runs");
        let nodes = self.alone.nodes(site, at);
        run.go_to(now);
        let Estimate { time, messages } = self.alone.estimate(site, &run.plan, &nodes);
        run.loads = self.loads(site, &run.plan, &nodes, time);
        let share = if run.time > 0.0 { run.left / run.time } else { 0.0 };
        (run.left, run.time, run.messages) = (share * time + more, time, messages);
        self.runs[slot] = Some(run);
        self.load(key.slot, true);
        self.settle(now);
    }

    fn next_finish(&mut self, _by: Option<Time>) -> Result<Option<(Time, RunKey)>, NetworkError> {
        Ok(self.runs.iter().flatten().map(|run| (run.ends(), run.key)).min())
    }

    fn finish(&mut self, now: Time, key: RunKey) -> Option<Box<Messages>> {
        self.load(key.slot, false);
        let run = self.runs[key.slot as usize].take().expect("a job that finishes runs");
        self.settle(now);
        // The messages of the job were slowed by the same factor as the job.
        let Messages { packets, latency, network_latency, blocking, hops, link_flits } =
            run.messages;
        let slowed = if run.time > 0.0 { ((now - run.start) / run.time).max(1.0) } else { 1.0 };
        Some(Box::new(Messages {
            packets,
            latency: latency * slowed,
            network_latency: network_latency * slowed,
            blocking: blocking + latency * (slowed - 1.0),
            hops,
            link_flits,
        }))
    }

    fn links(&self) -> usize {
        self.alone.links()
    }
}
