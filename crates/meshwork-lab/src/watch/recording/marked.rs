//! Marks of nodes in a recording: in a partition, reserved, asleep, or with a failed GPU.

use std::collections::BTreeMap;

use meshwork::access::Area;
use meshwork::job::Time;
use meshwork::scenario::Scenario;
use meshwork::topology::Node;
use serde::Serialize;

use super::columns::Spans;

/// Consecutive nodes of a site that the page marks during an interval, such as reserved nodes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Marked {
    /// Kind of the mark: `partition`, `reserved`, or `gpu` for a GPU out of service.
    pub kind: &'static str,
    /// Name of the partition, or number of the GPU on its node. Empty for a reservation.
    pub name: String,
    pub site: usize,
    pub first: u32,
    pub count: u32,
    pub from: Option<f64>,
    pub until: Option<f64>,
}

pub(super) fn of(scenario: &Scenario) -> Vec<Marked> {
    let of = |area: Area| {
        let kind = if area.during.is_some() { "reserved" } else { "partition" };
        let [from, until] =
            [area.during.map(|(from, _)| from), area.during.map(|(_, until)| until)];
        let mark = |range: &[Node]| Marked {
            kind,
            name: area.name.clone(),
            site: area.site,
            first: range[0],
            count: range.len() as u32,
            from: from.map(Time::units),
            until: until.map(Time::units),
        };
        area.nodes.chunk_by(|a, b| a + 1 == *b).map(mark).collect::<Vec<Marked>>()
    };
    scenario.areas().into_iter().flat_map(of).collect()
}

const MAX_OUTAGES: usize = 20_000;

pub(super) fn gpu_down(marked: &mut Vec<Marked>, now: Time, (site, node): (usize, Node), gpu: u32) {
    if marked.len() < MAX_OUTAGES {
        let (from, name) = (Some(now.units()), gpu.to_string());
        marked.push(Marked { kind: "gpu", name, site, first: node, count: 1, from, until: None });
    }
}

pub(super) fn gpu_up(marked: &mut [Marked], now: Time, (site, node): (usize, Node), gpu: u32) {
    let name = gpu.to_string();
    let is_own = |own: &&mut Marked| {
        let is_open = own.kind == "gpu" && own.until.is_none();
        is_open && (own.site, own.first) == (site, node) && own.name == name
    };
    if let Some(own) = marked.iter_mut().rev().find(is_own) {
        own.until = Some(now.units());
    }
}

const MAX_SLEEPS: usize = 20_000;

#[derive(Default)]
pub(super) struct Sleep {
    pub(super) spans: Spans,
    /// Index of the current sleep interval of each sleeping node, by the node's site and number.
    open: BTreeMap<(usize, Node), usize>,
}

impl Sleep {
    pub(super) fn begin(&mut self, now: Time, site: usize, nodes: &[Node]) {
        for &node in nodes {
            if self.spans.node.len() == MAX_SLEEPS {
                return;
            }
            self.open.insert((site, node), self.spans.node.len());
            self.spans.node.push(node);
            self.spans.site.push(site as u32);
            self.spans.from.push(now.units());
            self.spans.until.push(f64::INFINITY);
        }
    }

    pub(super) fn end(&mut self, now: Time, site: usize, nodes: &[Node]) {
        for &node in nodes {
            if let Some(place) = self.open.remove(&(site, node)) {
                self.spans.until[place] = now.units();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gpu_is_marked_while_it_is_out_of_service() {
        let mut marked = Vec::new();
        gpu_down(&mut marked, Time::new(1.0), (0, 3), 5);
        gpu_down(&mut marked, Time::new(2.0), (0, 3), 6);
        gpu_up(&mut marked, Time::new(4.0), (0, 3), 5);
        gpu_down(&mut marked, Time::new(6.0), (0, 3), 5);
        let spans = marked.iter().map(|own| (own.name.as_str(), own.from, own.until));
        assert_eq!(
            spans.collect::<Vec<_>>(),
            [("5", Some(1.0), Some(4.0)), ("6", Some(2.0), None), ("5", Some(6.0), None)]
        );
    }

    #[test]
    fn a_node_sleeps_until_it_is_woken_or_until_the_end() {
        let mut sleep = Sleep::default();
        sleep.begin(Time::new(1.0), 0, &[3, 4]);
        sleep.end(Time::new(2.5), 0, &[4]);
        sleep.begin(Time::new(4.0), 1, &[4]);
        let Spans { node, site, from, until } = sleep.spans;
        assert_eq!((node, site), (vec![3, 4, 4], vec![0, 0, 1]));
        assert_eq!(from, [1.0, 1.0, 4.0]);
        assert_eq!(until, [f64::INFINITY, 2.5, f64::INFINITY]);
    }
}
