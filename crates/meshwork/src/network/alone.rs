//! Simulation of a job that is alone in the network, packet by packet.
//!
//! The networks `hops` and `link_load` use this simulation.

use super::messaging::{Messaging, NextSend, Plan, process_nodes};
use super::wormhole::{Cycle, Lone, WormholeConfig};
use super::{NetworkContext, NetworkError, RunKey, messaging, wormhole};
use crate::machine::Placement;
use crate::observe::Messages;
use crate::registry::{Param, Params, Problem};
use crate::topology::{Grid, Node};

pub(super) static PARAMS: &[Param] = &[
    messaging::PATTERN,
    messaging::NUM_MESSAGES,
    messaging::QUOTA,
    messaging::ITERATIONS,
    messaging::THINK_TIME,
    messaging::SEND,
    messaging::DESTINATIONS,
    wormhole::TIMING,
    wormhole::ROUTER_DELAY,
    wormhole::PACKET_LENGTH,
    wormhole::BUFFER,
    wormhole::UPWARD,
    wormhole::OBLIVIOUS_ROUTING,
    wormhole::LOCAL_LATENCY,
    wormhole::GLOBAL_LATENCY,
];

/// Simulates a job as if it were alone in the network.
pub(super) struct Alone {
    sites: Vec<(Lone, Grid)>,
    messaging: Messaging,
    pub(super) flits: u64,
}

/// Estimated time and message statistics of a job that has the network to itself.
pub(super) struct Estimate {
    /// Cycles from the job's start to the arrival of its last message.
    pub(super) time: f64,
    pub(super) messages: Messages,
}

/// Approximate memory of the routes in bytes, with `each_link` more bytes for each link. Fails if
/// the network cannot be built.
pub(super) fn memory(
    params: &Params,
    machine: &NetworkContext<'_>,
    each_link: u64,
) -> Result<u64, Problem> {
    let site = |topology| {
        wormhole::wires_memory(topology, &WormholeConfig::read(params, topology), each_link)
            .map_err(|problem| wormhole::of_network(params, problem))
    };
    machine.topologies.iter().map(site).sum()
}

impl Alone {
    pub(super) fn new(params: &Params, machine: &NetworkContext<'_>) -> Result<Alone, Problem> {
        let sites = machine.topologies.iter().map(|topology| {
            let lone = Lone::new(topology, &WormholeConfig::read(params, topology))
                .map_err(|problem| wormhole::of_network(params, problem))?;
            Ok((lone, topology.grid().clone()))
        });
        Ok(Alone {
            sites: sites.collect::<Result<_, Problem>>()?,
            messaging: Messaging::new(params, machine.seed, machine.replication),
            flits: params.integer("packet_length"),
        })
    }

    pub(super) fn lone(&self) -> impl Iterator<Item = &Lone> {
        self.sites.iter().map(|(lone, _)| lone)
    }

    /// The node of each process of a job, by rank.
    pub(super) fn nodes(&self, site: usize, at: &Placement) -> Vec<Node> {
        process_nodes(at, &self.sites[site].1)
    }

    /// Number of directed links of all sites together.
    pub(super) fn links(&self) -> usize {
        self.sites.iter().map(|(lone, _)| lone.links()).sum()
    }

    /// The message plan of a job, and the node of each of its processes. Fails if the pattern is
    /// not defined for the job's number of processes.
    pub(super) fn plan(
        &self,
        run: RunKey,
        site: usize,
        at: &Placement,
    ) -> Result<(Plan, Vec<Node>), NetworkError> {
        let nodes = self.nodes(site, at);
        Ok((self.messaging.plan(run.id, nodes.len() as u32)?, nodes))
    }

    /// Estimates the time and messages of a job that has the network to itself. If there are fewer
    /// nodes than processes, processes share nodes. The processes of a node then send one after
    /// another: each begins when the one before it has sent all of its messages. Time: **O(m d)**
    /// for *m* messages on a machine of *d* dimensions.
    pub(super) fn estimate(&mut self, site: usize, plan: &Plan, nodes: &[Node]) -> Estimate {
        let Messaging { send, think, .. } = self.messaging;
        let lone = &mut self.sites[site].0;
        let mut messages = Messages::default();
        let mut last = 0;
        let place = |rank: u32| nodes[rank as usize % nodes.len()];
        // A process that shares a node begins when the process before it on that node has sent
        // everything.
        let mut begins = vec![0; nodes.len()];
        for &rank in &plan.senders {
            let node = &mut begins[rank as usize % nodes.len()];
            let mut from: Cycle = *node;
            for index in 0..plan.messages(rank) {
                let to = place(plan.to(rank, index));
                let way = lone.way(place(rank), to, || plan.coins(rank, index));
                let time = lone.arrives(way);
                let arrives = from + time;
                let queues = send == NextSend::Injected && think == 0;
                let latency = if queues { arrives } else { time };
                messages.packets += 1;
                messages.latency += latency as f64;
                messages.network_latency += time as f64;
                messages.blocking += (latency - time) as f64;
                messages.hops += u64::from(way.links);
                messages.link_flits += (u64::from(way.links) * self.flits) as f64;
                last = last.max(arrives);
                from = think
                    + match send {
                        NextSend::Injected => from + lone.leaves(way),
                        NextSend::Delivered => arrives + 1,
                    };
            }
            *node = from;
        }
        Estimate { time: last as f64, messages }
    }
}
