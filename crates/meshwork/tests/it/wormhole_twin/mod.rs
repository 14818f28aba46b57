//! Slow reference implementation of the wormhole network.
//!
//! Nothing is cached: flits are objects, and each cycle visits every buffer.

use std::collections::VecDeque;

use meshwork::network::wormhole::{Lanes, Preset, Routing, WormholeConfig};
use meshwork::topology::wires::{Manner, Wires};
use meshwork::topology::{Grid, Topology};

#[derive(Clone, Copy, Debug)]
pub(crate) struct Sent {
    pub created: u64,
    pub from: u32,
    pub to: u32,
    pub coins: u64,
}

#[derive(Clone, Copy, Debug)]
struct Flit {
    packet: usize,
    index: u32,
    arrives: u64,
}

/// A virtual channel of a link, and the input buffer that the channel has at the end of the link.
/// Only the packet to which the channel is granted may send flits into the buffer.
#[derive(Clone, Debug, Default)]
struct Buffer {
    flits: VecDeque<Flit>,
    /// Cycles in which flits left the buffer.
    left: Vec<u64>,
    entered: usize,
    last_tail_left: Option<u64>,
    owner: Option<usize>,
    /// Cycle in which the last tail flit was sent to the buffer. From the next cycle on, the buffer
    /// may be granted to another packet.
    last_tail_came: Option<u64>,
}

impl Buffer {
    /// Flits in the buffer, as far as the sender knows from credits.
    fn taken(&self, now: u64, credit: u64) -> usize {
        self.entered - self.left.iter().filter(|&&left| left + credit <= now).count()
    }

    fn is_free(&self, now: u64) -> bool {
        self.owner.is_none() && self.last_tail_came.is_none_or(|came| came < now)
    }
}

/// Hop of a packet: router, class of virtual channels, next router, and port at the next router.
#[derive(Clone, Copy, Debug)]
struct Hop {
    at: u32,
    class: usize,
    next: u32,
    there: usize,
}

pub(crate) struct Twin<'a> {
    topology: &'a Topology,
    wires: &'a dyn Wires,
    manner: Manner,
    /// Path of each packet on topologies that are no grids.
    ///
    /// A path is `None` until the packet is first in its queue. On grids, no path is stored.
    ways: Vec<Option<Vec<Hop>>>,
    setting: WormholeConfig,
    sent: &'a [Sent],
    /// Buffers of routers, by router, port and channel. A processor fills the buffer of its local
    /// port.
    buffers: Vec<Buffer>,
    /// Receiving buffers of processors, by node and channel.
    sinks: Vec<Buffer>,
    /// For each buffer, the number of the buffer that is granted to its first packet.
    ///
    /// Numbers beyond all router buffers are those of receiving processors.
    grants: Vec<Option<usize>>,
    queues: Vec<VecDeque<usize>>,
    /// Flits already sent, and virtual channel, of each processor's first queued packet.
    sending: Vec<(u32, usize)>,
    pub arrived: Vec<u64>,
    // Round-robin pointers.
    lane_of_output: Vec<usize>,
    output_of_lane: Vec<usize>,
    input_of_port: Vec<usize>,
    port_of_input: Vec<usize>,
    channel_of_input: Vec<usize>,
    now: u64,
}

impl<'a> Twin<'a> {
    pub(crate) fn new(
        topology: &'a Topology,
        setting: WormholeConfig,
        sent: &'a [Sent],
    ) -> Twin<'a> {
        let nodes = topology.nodes() as usize;
        let channels = setting.virtual_channels as usize;
        let wires = topology.wires().expect("a machine with links").as_ref();
        let manner =
            Manner { rings: setting.class_rule, upward: setting.upward, routing: setting.routing };
        let mut twin = Twin {
            topology,
            wires,
            manner,
            ways: vec![None; sent.len()],
            setting,
            sent,
            buffers: Vec::new(),
            sinks: vec![Buffer::default(); nodes * channels],
            grants: Vec::new(),
            queues: vec![VecDeque::new(); nodes],
            sending: vec![(0, channels - 1); nodes],
            arrived: vec![0; sent.len()],
            lane_of_output: Vec::new(),
            output_of_lane: Vec::new(),
            input_of_port: Vec::new(),
            port_of_input: Vec::new(),
            channel_of_input: Vec::new(),
            now: 0,
        };
        let routers = twin.routers();
        let lanes = routers * twin.ports() * channels;
        twin.buffers = vec![Buffer::default(); lanes];
        twin.grants = vec![None; lanes];
        twin.lane_of_output = vec![0; lanes];
        twin.output_of_lane = vec![0; lanes];
        twin.input_of_port = vec![0; routers * twin.ports()];
        twin.port_of_input = vec![0; routers * twin.ports()];
        twin.channel_of_input = vec![0; routers * twin.ports()];
        twin
    }

    fn is_booksim(&self) -> bool {
        self.setting.preset == Preset::Booksim
    }

    fn grid(&self) -> Option<&'a Grid> {
        self.topology.wiring().is_grid().then(|| self.topology.grid())
    }

    fn routers(&self) -> usize {
        self.wires.routers() as usize
    }

    /// Number of processors at each router that has processors.
    fn each(&self) -> usize {
        self.wires.nodes_each() as usize
    }

    fn local(&self) -> usize {
        self.wires.ports_beside_nodes()
    }

    /// Router to which a processor is attached, and the router's port to this processor.
    fn home(&self, node: usize) -> (usize, usize) {
        (node / self.each(), self.local() + node % self.each())
    }

    /// Cycles by which the link to a buffer is slower than the shortest link.
    fn length(&self, target: usize) -> u64 {
        if target >= self.buffers.len() {
            return 0;
        }
        let (each, number) =
            (self.ports() * self.channels(), target % (self.ports() * self.channels()));
        let port = number / self.channels();
        let is_source = target / each * self.each() < self.topology.nodes() as usize
            && (self.local()..self.local() + self.each()).contains(&port);
        let cycles = match is_source {
            true => 1,
            false if self.wires.is_global(port) => self.setting.global_latency,
            false => self.setting.local_latency,
        };
        u64::from(cycles) - 1
    }

    /// Delays in cycles: routing of a head flit, transfer of a flit, and return of a credit.
    fn delays(&self) -> (u64, u64, u64) {
        if self.is_booksim() { (0, 3, 2) } else { (u64::from(self.setting.router_delay), 1, 1) }
    }

    fn ports(&self) -> usize {
        match self.grid() {
            Some(grid) => 1 + (0..grid.dimensions()).map(|d| ports_of(grid, d)).sum::<usize>(),
            None => self.wires.ports().max(self.local() + self.each()),
        }
    }

    fn channels(&self) -> usize {
        self.setting.virtual_channels as usize
    }

    fn classes(&self) -> usize {
        match self.grid() {
            Some(grid) => {
                let is_ring = |d: usize| grid.is_ring(d) && grid.sides()[d] > 2;
                if (0..grid.dimensions()).any(is_ring) { 2 } else { 1 }
            }
            None => self.wires.classes(&self.manner).unwrap(),
        }
    }

    /// Next link of a packet at a router; `None` at its destination.
    fn hop(&self, packet: usize, at: u32) -> Option<Hop> {
        match self.grid() {
            Some(grid) => self.hop_on_a_grid(grid, packet, at),
            None => self.ways[packet].as_ref().unwrap().iter().find(|hop| hop.at == at).copied(),
        }
    }

    /// Chooses the path of a queue's first packet, on machines that are no grids.
    fn set_out(&mut self, packet: usize) {
        if self.grid().is_some() || self.ways[packet].is_some() {
            return;
        }
        let Sent { from, to, coins, .. } = self.sent[packet];
        let way = |detour| {
            let mut hops = Vec::new();
            let mut at = self.home(from as usize).0 as u32;
            for leg in self.wires.route(from, to, coins, &self.manner, detour) {
                for _ in 0..leg.hops {
                    let (port, class) = (usize::from(leg.port), usize::from(leg.class));
                    let end = self.wires.link(at, port).unwrap();
                    hops.push(Hop { at, class, next: end.router, there: end.port });
                    at = end.router;
                }
            }
            assert_eq!(at as usize, self.home(to as usize).0);
            hops
        };
        // Number of flits that, as far as the sender knows, are still in the buffers behind a link.
        let held = |hop: &Hop| -> usize {
            let first = (hop.next as usize * self.ports() + hop.there) * self.channels();
            let lanes = first..first + self.channels();
            let credit = self.delays().2;
            lanes.map(|lane| self.target(lane).taken(self.now, credit + self.length(lane))).sum()
        };
        let goes_around = match self.setting.routing {
            Routing::Minimal => false,
            Routing::Valiant => true,
            Routing::Ugal => {
                let threshold = if self.is_booksim() { 30 } else { 0 };
                let threshold =
                    self.setting.ugal_threshold.map_or(threshold, |given| given as usize);
                way(false).first().is_some_and(|direct| {
                    held(direct) > 2 * way(true).first().map_or(0, held) + threshold
                })
            }
        };
        self.ways[packet] = Some(way(goes_around));
    }

    fn hop_on_a_grid(&self, grid: &Grid, packet: usize, at: u32) -> Option<Hop> {
        let Sent { from, to, coins, .. } = self.sent[packet];
        let (mut port, mut coin) = (0, 0);
        for d in 0..grid.dimensions() {
            let side = grid.sides()[d];
            let coordinate = |node| grid.coordinate(node, d);
            let (x, y, first) = (coordinate(at), coordinate(to), coordinate(from));
            if x == y {
                port += ports_of(grid, d);
                coin += u32::from(side > 1);
                continue;
            }
            let is_ring = grid.is_ring(d) && side > 2;
            let around = (y + side - first) % side;
            let is_up = if !is_ring {
                y > first
            } else if 2 * around == side {
                coins >> coin & 1 == 0
            } else {
                2 * around < side
            };
            let wraps = is_ring && if is_up { first > y } else { first < y };
            let next = if is_up { (x + 1) % side } else { (x + side - 1) % side };
            let mut coordinates = grid.coordinates(at);
            coordinates[d] = next;
            let port = if is_up || side == 2 { port } else { port + 1 };
            let (next, class) = (grid.node(&coordinates), usize::from(wraps));
            return Some(Hop { at, class, next, there: port });
        }
        None
    }

    /// Buffers behind the permitted channels of a packet's next link.
    fn group(&self, packet: usize, at: u32) -> Vec<usize> {
        let channels = self.channels();
        match self.hop(packet, at) {
            None => {
                // A processor takes one flit per cycle, whether or not virtual channels share a
                // link.
                let lanes = if self.setting.lanes == Lanes::Shared { channels } else { 1 };
                let node = self.sent[packet].to as usize;
                let keeps = self.wires.class_at_home(&self.manner).filter(|_| lanes == channels);
                let last = self.ways[packet].as_ref().and_then(|way| way.last());
                match keeps.map(|at_home| last.map_or(usize::from(at_home), |hop| hop.class)) {
                    None => (0..lanes).map(|c| self.sink(node, c)).collect(),
                    Some(class) => {
                        let each = channels / self.classes();
                        (class * each..(class + 1) * each).map(|c| self.sink(node, c)).collect()
                    }
                }
            }
            Some(Hop { class, next, there, .. }) => {
                let each = channels / self.classes();
                (class * each..(class + 1) * each)
                    .map(|c| (next as usize * self.ports() + there) * channels + c)
                    .collect()
            }
        }
    }

    fn sink(&self, node: usize, channel: usize) -> usize {
        self.buffers.len() + node * self.channels() + channel
    }

    fn target(&self, number: usize) -> &Buffer {
        self.buffers.get(number).unwrap_or_else(|| &self.sinks[number - self.buffers.len()])
    }

    fn target_mut(&mut self, number: usize) -> &mut Buffer {
        let lanes = self.buffers.len();
        if number < lanes { &mut self.buffers[number] } else { &mut self.sinks[number - lanes] }
    }

    /// Index of a buffer among all buffers to which a router sends. Round robin uses this order.
    fn output_number(&self, router: usize, target: usize) -> usize {
        let (channels, ports) = (self.channels(), self.ports());
        if target >= self.buffers.len() {
            let node = (target - self.buffers.len()) / channels;
            return self.home(node).1 * channels + (target - self.buffers.len()) % channels;
        }
        if self.grid().is_some() {
            return target % (ports * channels);
        }
        let (next, there) = (target / (ports * channels), target / channels % ports);
        let leads_there = |&port: &usize| {
            self.wires
                .link(router as u32, port)
                .is_some_and(|end| (end.router as usize, end.port) == (next, there))
        };
        let port = (0..self.wires.ports()).find(leads_there).unwrap();
        port * channels + target % channels
    }

    fn has_room(&self, target: usize) -> bool {
        let (_, _, credit) = self.delays();
        let unlimited = target >= self.buffers.len() && !self.is_booksim();
        let credit = credit + self.length(target);
        unlimited || self.target(target).taken(self.now, credit) < self.setting.buffer as usize
    }

    /// Packet whose head waits in a buffer for a grant, and the cycle of its request.
    fn waiting(&self, lane: usize) -> Option<(usize, u64)> {
        let buffer = &self.buffers[lane];
        let first = buffer.flits.front()?;
        if first.index > 0 || self.grants[lane].is_some() {
            return None;
        }
        let front = first.arrives.max(buffer.last_tail_left.map_or(0, |left| left + 1));
        let asks = front + self.delays().0;
        (asks <= self.now).then_some((first.packet, asks))
    }

    pub(crate) fn run(&mut self) {
        let mut created = 0;
        while self.arrived.contains(&0) {
            while created < self.sent.len() && self.sent[created].created == self.now {
                self.queues[self.sent[created].from as usize].push_back(created);
                created += 1;
            }
            self.inject();
            if self.is_booksim() {
                self.switch();
                self.round_robin();
            } else {
                self.first_come();
                self.switch();
            }
            self.now += 1;
            assert!(self.now < 1_000_000, "the twin is stuck");
        }
    }

    fn inject(&mut self) {
        let (now, length) = (self.now, self.setting.packet_length);
        for node in 0..self.queues.len() {
            let Some(&packet) = self.queues[node].front() else { continue };
            let (router, port) = self.home(node);
            let base = (router * self.ports() + port) * self.channels();
            if !self.is_booksim() {
                // The packet enters the router as a whole, once the one before it has gone.
                if self.buffers[base].flits.is_empty() {
                    let free = self.buffers[base].last_tail_left.is_none_or(|left| left < now);
                    if free {
                        self.set_out(packet);
                        let flit = |index| Flit { packet, index, arrives: now };
                        self.buffers[base].flits.extend((0..length).map(flit));
                        self.queues[node].pop_front();
                    }
                }
                continue;
            }
            self.set_out(packet);
            let (index, channel) = self.sending[node];
            let channels = self.channels();
            let choice = if index == 0 {
                (1..=channels).map(|i| (channel + i) % channels).find(|c| self.has_room(base + c))
            } else {
                Some(channel).filter(|c| self.has_room(base + c))
            };
            let Some(channel) = choice else { continue };
            let buffer = &mut self.buffers[base + channel];
            buffer.entered += 1;
            buffer.flits.push_back(Flit { packet, index, arrives: now + 2 });
            self.sending[node] = ((index + 1) % length, channel);
            if index + 1 == length {
                self.queues[node].pop_front();
            }
        }
    }

    fn first_come(&mut self) {
        loop {
            // The head that has waited longest, among those for which a lane is available.
            let lanes = (0..self.buffers.len()).filter_map(|lane| {
                let (packet, asks) = self.waiting(lane)?;
                let router = lane / (self.ports() * self.channels());
                let group = self.group(packet, router as u32);
                let free =
                    group.into_iter().find(|&target| self.target(target).is_free(self.now))?;
                Some((asks, lane, free))
            });
            let Some((_, lane, target)) = lanes.min() else { return };
            self.grant(lane, target);
        }
    }

    fn grant(&mut self, lane: usize, target: usize) {
        self.grants[lane] = Some(target);
        self.target_mut(target).owner = Some(lane);
    }

    fn round_robin(&mut self) {
        let each = self.ports() * self.channels();
        for router in 0..self.routers() {
            let lanes: Vec<usize> = (router * each..(router + 1) * each).collect();
            let asks: Vec<(usize, Vec<usize>)> = lanes
                .iter()
                .filter_map(|&lane| {
                    let (packet, _) = self.waiting(lane)?;
                    let mut group = self.group(packet, router as u32);
                    group.retain(|&target| self.target(target).is_free(self.now));
                    Some((lane, group))
                })
                .collect();
            let mut targets: Vec<usize> =
                asks.iter().flat_map(|(_, group)| group.clone()).collect();
            targets.sort_unstable();
            targets.dedup();
            // Every free lane offers itself to one of the heads that request it …
            let mut offers: Vec<(usize, usize)> = Vec::new();
            for target in targets {
                let output = self.output_number(router, target);
                let from = self.lane_of_output[router * each + output];
                let lane = asks
                    .iter()
                    .filter(|(_, group)| group.contains(&target))
                    .map(|&(lane, _)| lane)
                    .min_by_key(|lane| (lane % each + 64 - from) % 64)
                    .unwrap();
                offers.push((lane, target));
            }
            // … and every head takes one of its offers.
            for lane in lanes {
                let from = self.output_of_lane[lane];
                let taken = offers
                    .iter()
                    .filter(|&&(offered, _)| offered == lane)
                    .map(|&(_, target)| target)
                    .min_by_key(|&target| (self.output_number(router, target) + 64 - from) % 64);
                if let Some(target) = taken {
                    let output = self.output_number(router, target);
                    self.lane_of_output[router * each + output] = lane % each + 1;
                    self.output_of_lane[lane] = output + 1;
                    self.grant(lane, target);
                }
            }
        }
    }

    fn switch(&mut self) {
        let (ports, channels) = (self.ports(), self.channels());
        let each = ports * channels;
        let shares = self.setting.lanes == Lanes::Shared;
        for router in 0..self.routers() {
            let ready: Vec<(usize, usize, usize)> = (router * each..(router + 1) * each)
                .filter_map(|lane| {
                    let target = self.grants[lane]?;
                    let first = self.buffers[lane].flits.front()?;
                    let is_there = first.arrives <= self.now && self.has_room(target);
                    is_there.then(|| {
                        (
                            lane,
                            lane % each / channels,
                            self.output_number(router, target) / channels,
                        )
                    })
                })
                .collect();
            if !shares {
                for (lane, ..) in ready {
                    self.send(router, lane);
                }
                continue;
            }
            let mut offers: Vec<(usize, usize)> = Vec::new();
            for output in 0..ports {
                let from = self.input_of_port[router * ports + output];
                let asks = ready.iter().filter(|&&(_, _, wanted)| wanted == output);
                let input =
                    asks.map(|&(_, input, _)| input).min_by_key(|i| (i + ports - from) % ports);
                offers.extend(input.map(|input| (input, output)));
            }
            for input in 0..ports {
                let from = self.port_of_input[router * ports + input];
                let mine = offers.iter().filter(|&&(offered, _)| offered == input);
                let output =
                    mine.map(|&(_, output)| output).min_by_key(|o| (o + ports - from) % ports);
                let Some(output) = output else { continue };
                let from = self.channel_of_input[router * ports + input];
                let lane = ready
                    .iter()
                    .filter(|&&(_, i, o)| i == input && o == output)
                    .map(|&(lane, ..)| lane)
                    .min_by_key(|lane| (lane % channels + channels - from) % channels)
                    .unwrap();
                self.input_of_port[router * ports + output] = (input + 1) % ports;
                self.port_of_input[router * ports + input] = (output + 1) % ports;
                self.channel_of_input[router * ports + input] = (lane % channels + 1) % channels;
                self.send(router, lane);
            }
        }
    }

    fn send(&mut self, router: usize, lane: usize) {
        let (now, (_, transfer, _)) = (self.now, self.delays());
        let target = self.grants[lane].unwrap();
        let mut flit = self.buffers[lane].flits.pop_front().unwrap();
        self.buffers[lane].left.push(now);
        flit.arrives = now + transfer + self.length(target);
        let is_tail = flit.index + 1 == self.setting.packet_length;
        let is_sink = target >= self.buffers.len();
        let to = self.target_mut(target);
        assert_eq!(to.owner, Some(lane));
        to.entered += 1;
        if is_sink {
            to.left.push(flit.arrives);
        } else {
            // Flits of different packets do not mix in a buffer.
            assert!(to.flits.back().is_none_or(|last| {
                if flit.index == 0 {
                    last.packet != flit.packet
                } else {
                    last.packet == flit.packet
                }
            }));
            to.flits.push_back(flit);
        }
        if is_tail {
            to.owner = None;
            to.last_tail_came = Some(now);
            self.grants[lane] = None;
            self.buffers[lane].last_tail_left = Some(now);
            if is_sink {
                assert_eq!(self.home(self.sent[flit.packet].to as usize).0, router);
                self.arrived[flit.packet] = flit.arrives;
            }
        }
    }
}

fn ports_of(grid: &Grid, dimension: usize) -> usize {
    match grid.sides()[dimension] {
        1 => 0,
        2 => 1,
        _ => 2,
    }
}
