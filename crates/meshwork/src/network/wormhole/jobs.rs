//! Jobs on the wormhole network: a job runs until all its messages have arrived.

use smallvec::SmallVec;

use super::{Cycle, Delivery, Engine, Load, Message, Turn};
use crate::job::Time;
use crate::machine::Placement;
use crate::network::messaging::{Messaging, NextSend, Plan, process_nodes};
use crate::network::{Network, NetworkError, RunKey, Work};
use crate::observe::Messages;
use crate::topology::{Grid, Node};

/// Maximum number of processes of a job, and of jobs that run at one time. The rank (the index of a
/// process) and the slot (the number of a running job) then fit into the [`tag`] of a message.
const MOST: usize = 1 << 24;

/// The wormhole network with the jobs that send messages in it. A unit of time is a cycle.
pub(super) struct JobNetwork {
    engine: Engine,
    jobs: Jobs,
}

/// The jobs, with the messages that each of their processes still has to send.
struct Jobs {
    messaging: Messaging,
    grid: Grid,
    flits: u64,
    /// For each node, the slot of each job on the node, and the rank of one of the job's processes
    /// there.
    ///
    /// A slot is a small number that is unique among running jobs. If a job has more processes than
    /// nodes, the ranks of its further processes on the node are larger by multiples of the number
    /// of nodes in [`Run::nodes`].
    holders: Vec<SmallVec<[(u32, u32); 2]>>,
    runs: Vec<Option<Run>>,
    /// For each slot, the number of stopped runs that had the slot before, modulo 2¹⁶. The slot is
    /// a small number that a job has while it runs.
    stopped: Vec<u16>,
    /// Finished jobs that have not been reported yet.
    finished: Vec<(Time, RunKey)>,
    running: usize,
}

struct Run {
    key: RunKey,
    /// Number of stopped runs that had the slot of this run before it.
    ///
    /// The number tells late messages of a stopped run from messages of this run.
    number: u16,
    start: Cycle,
    plan: Plan,
    processes: Vec<Process>,
    /// Nodes of the processes: process *i* runs on the node with index *i* modulo the number of
    /// nodes.
    nodes: Vec<Node>,
    /// Number of the job's messages that have not arrived yet.
    left: u64,
    seen: Messages,
}

#[derive(Clone, Copy)]
struct Process {
    sent: u64,
    total: u64,
    /// Earliest cycle at which the process can send its next message.
    from: Cycle,
    /// Whether the process must wait until the last message that it sent has arrived. `is_leaving`
    /// says whether it must wait until this message has left the node.
    waits: bool,
    is_leaving: bool,
}

impl JobNetwork {
    pub(super) fn new(engine: Engine, grid: &Grid, flits: u32, messaging: Messaging) -> JobNetwork {
        let jobs = Jobs {
            messaging,
            grid: grid.clone(),
            flits: flits.into(),
            holders: vec![SmallVec::new(); grid.nodes() as usize],
            runs: Vec::new(),
            stopped: Vec::new(),
            finished: Vec::new(),
            running: 0,
        };
        JobNetwork { engine, jobs }
    }

    /// Runs the network to the first cycle at or after instant `to`; returns this cycle.
    fn advance(&mut self, to: Time) -> Result<Cycle, NetworkError> {
        let cycle = libm::ceil(to.units().max(0.0)) as Cycle;
        self.engine
            .run(cycle, &mut self.jobs)
            .map_err(|stuck| NetworkError::Other(stuck.to_string()))?;
        Ok(cycle)
    }
}

impl Jobs {
    fn run(&mut self, slot: u32) -> &mut Run {
        self.runs[slot as usize].as_mut().expect("a job that runs is in its slot")
    }

    fn place(&mut self, slot: u32, nodes: Vec<Node>) {
        for (place, &node) in nodes.iter().enumerate() {
            self.holders[node as usize].push((slot, place as u32));
        }
        self.run(slot).nodes = nodes;
    }

    fn clear(&mut self, slot: u32) {
        for node in std::mem::take(&mut self.run(slot).nodes) {
            self.holders[node as usize].retain(|own| own.0 != slot);
        }
    }
}

impl Load for Jobs {
    fn next(&mut self, node: Node, now: Cycle) -> Turn {
        let Messaging { think, send, .. } = self.messaging;
        // Of several processes on one node, the process that can send first is chosen. Ties go to
        // the process that has sent the fewest messages, and then to the job that came first.
        let mut next: Option<(Cycle, u64, usize, usize)> = None;
        for (order, &(slot, place)) in self.holders[node as usize].iter().enumerate() {
            let run = self.runs[slot as usize].as_mut().expect("a node is held by jobs that run");
            let (ranks, nodes) = (run.processes.len(), run.nodes.len());
            for rank in (place as usize..ranks).step_by(nodes) {
                let process = &mut run.processes[rank];
                if process.is_leaving {
                    process.is_leaving = false;
                    process.from = now + think;
                }
                if process.sent < process.total && !process.waits {
                    let turn = (process.from.max(now), process.sent, order, rank);
                    next = Some(next.map_or(turn, |first| first.min(turn)));
                }
            }
        }
        let Some((at, index, order, rank)) = next else { return Turn::Nothing };
        if at > now {
            return Turn::At(at);
        }
        let slot = self.holders[node as usize][order].0;
        let run = self.run(slot);
        let process = &mut run.processes[rank];
        // If nothing delays a process, all its messages are in its queue from the start of the job.
        let queues = send == NextSend::Injected && think == 0;
        let created = if queues { run.start } else { process.from };
        process.sent += 1;
        process.waits = send == NextSend::Delivered;
        process.is_leaving = send == NextSend::Injected && think > 0;
        let to = run.plan.to(rank as u32, index);
        Turn::Message(Message {
            to: run.nodes[to as usize % run.nodes.len()],
            created,
            coins: run.plan.coins(rank as u32, index),
            tag: tag(slot, run.number, rank),
        })
    }

    fn delivered(&mut self, delivery: &Delivery) -> Option<Node> {
        let Delivery { message, started, at, hops, alone } = *delivery;
        let (slot, number, rank) = of_tag(message.tag);
        let (think, flits) = (self.messaging.think, self.flits);
        let run = self.runs[slot as usize].as_mut().filter(|run| run.number == number)?;
        run.seen.packets += 1;
        run.seen.latency += (at - message.created) as f64;
        run.seen.network_latency += (at - started) as f64;
        run.seen.blocking += (at - message.created - alone) as f64;
        run.seen.hops += u64::from(hops);
        run.seen.link_flits += (u64::from(hops) * flits) as f64;
        run.left -= 1;
        let process = &mut run.processes[rank];
        let waited = std::mem::take(&mut process.waits);
        if waited {
            // The process learns of the arrival in this cycle, and can send in the next.
            process.from = at + 1 + think;
        }
        let node = run.nodes[rank % run.nodes.len()];
        if run.left == 0 {
            let key = run.key;
            self.finished.push((Time::new(at as f64), key));
        }
        waited.then_some(node)
    }

    fn pauses(&self) -> bool {
        !self.finished.is_empty()
    }
}

impl Network for JobNetwork {
    fn start(
        &mut self,
        now: Time,
        key: RunKey,
        _work: Work,
        _site: usize,
        at: &Placement,
    ) -> Result<(), NetworkError> {
        let start = self.advance(now)?;
        let at = process_nodes(at, &self.jobs.grid);
        if at.len() > MOST || key.slot as usize >= MOST {
            return Err(NetworkError::Other(format!(
                "the network `wormhole` simulates at most {MOST} processes of a job, and as many \
                 running jobs"
            )));
        }
        let plan = self.jobs.messaging.plan(key.id, at.len() as u32)?;
        let process = |rank| {
            let total = plan.messages(rank);
            Process { sent: 0, total, from: start, waits: false, is_leaving: false }
        };
        let processes: Vec<Process> = (0..at.len() as u32).map(process).collect();
        let left = processes.iter().map(|process| process.total).sum();
        let slot = key.slot as usize;
        if slot >= self.jobs.runs.len() {
            self.jobs.runs.resize_with(slot + 1, || None);
        }
        let number = self.jobs.stopped.get(slot).copied().unwrap_or(0);
        let (nodes, seen) = (Vec::new(), Messages::default());
        let run = Run { key, number, start, plan, processes, nodes, left, seen };
        self.jobs.runs[slot] = Some(run);
        self.jobs.running += 1;
        self.jobs.place(key.slot, at);
        if left == 0 {
            self.jobs.finished.push((now, key));
        }
        for at in 0..self.jobs.run(key.slot).nodes.len() {
            let node = self.jobs.run(key.slot).nodes[at];
            self.engine.wake(node);
        }
        Ok(())
    }

    /// Moves a job to other nodes, where its processes send nothing for the first `more` cycles.
    ///
    /// Messages in flight still go to their old destinations. The job's rate of work has no effect
    /// on messages.
    fn change(
        &mut self,
        now: Time,
        key: RunKey,
        more: f64,
        _rate: f64,
        _site: usize,
        at: &Placement,
    ) {
        let from = libm::ceil(now.units() + more) as Cycle;
        self.jobs.clear(key.slot);
        self.jobs.place(key.slot, process_nodes(at, &self.jobs.grid));
        let run = self.jobs.run(key.slot);
        for process in &mut run.processes {
            process.from = process.from.max(from);
            process.is_leaving = false;
        }
        for at in 0..run.nodes.len() {
            let node = self.jobs.run(key.slot).nodes[at];
            self.engine.wake(node);
        }
    }

    fn next_finish(&mut self, by: Option<Time>) -> Result<Option<(Time, RunKey)>, NetworkError> {
        if self.jobs.finished.is_empty() && self.jobs.running > 0 {
            // An instant so far ahead that some message arrives before it.
            let far = Time::new(self.engine.now() as f64 + (1_u64 << 42) as f64);
            self.advance(by.unwrap_or(far).min(far))?;
        }
        Ok(self.jobs.finished.iter().min().copied())
    }

    fn finish(&mut self, _now: Time, key: RunKey) -> Option<Box<Messages>> {
        self.jobs.finished.retain(|&(_, finished)| finished != key);
        self.jobs.clear(key.slot);
        self.jobs.running -= 1;
        let run = self.jobs.runs[key.slot as usize].take();
        run.map(|run| Box::new(run.seen))
    }

    /// Stops a job from sending messages. Messages in flight still arrive, but are ignored.
    fn stop(&mut self, now: Time, key: RunKey) {
        self.finish(now, key);
        let slot = key.slot as usize;
        if slot >= self.jobs.stopped.len() {
            self.jobs.stopped.resize(slot + 1, 0);
        }
        self.jobs.stopped[slot] = self.jobs.stopped[slot].wrapping_add(1);
    }

    fn links(&self) -> usize {
        self.engine.links()
    }
}

/// The tag by which an arriving message is recognized. It consists of the slot of the job, the
/// number of its run, and the rank of the sender.
fn tag(slot: u32, number: u16, rank: usize) -> u64 {
    u64::from(slot) << 40 | u64::from(number) << 24 | rank as u64
}

fn of_tag(tag: u64) -> (u32, u16, usize) {
    ((tag >> 40) as u32, (tag >> 24) as u16, (tag & 0xff_ffff) as usize)
}
